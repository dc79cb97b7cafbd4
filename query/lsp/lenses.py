"""A line above each definition: how many callers it has, how many of them are tests, and whether that is all."""

from __future__ import annotations

from typing import Any

from indexer.errors import LspidxError
from indexer.lsp.enums import ErrorCodes, MessageType
from query.answers.envelope import Answer
from query.answers.style import count
from query.facts.symbols import TYPES
from query.lsp.asking import Ask
from query.lsp.handlers import WHY
from query.lsp.params import Command, InDocument, Lens, LensData
from query.lsp.rooms import path_of
from query.lsp.symbols import flattened
from query.lsp.views import Views
from query.lsp.wire import Refused

_COUNTED = frozenset({"function", "method", "constructor", *TYPES})
_MOST = 5_000


def lenses(ask: Ask, params: InDocument) -> list[dict[str, Any]] | None:
    """Where they stand. What they say is asked for one by one, when they are seen."""
    found = ask.document(params.text_document.uri)
    if found is None or found[1].index is None:
        return None
    room, views, view = found
    answer = ask.ask(room, views, "list_symbols", file_path=view.path, depth=50)
    ask.certify(view.uri, [answer], views)
    made: list[dict[str, Any]] = []
    for item in flattened(answer.result):
        where = views.range(view.path, item.line - 1, item.col - 1, item.col - 1)
        if item.kind in _COUNTED and not item.declared and where is not None:
            made.append({"range": where, "data": {"uri": view.uri, "symbol": item.symbol}})
    return made


def resolved(ask: Ask, params: Lens) -> dict[str, Any]:
    data = params.data
    lens: dict[str, Any] = {"range": params.range, "data": data}
    room = ask.desk.rooms.of(path_of(data.uri))
    if room is None or not data.symbol:
        return lens
    views = ask.views(room)
    answers = _asked(ask, views, data)
    title = f"{_counted(answers)} · {answers[0].completeness.status}"
    ask.certify(data.uri, answers, views, of_uses=True)
    return {**lens, "command": {"title": title, "command": WHY, "arguments": [data.uri, data.symbol]}}


def _asked(ask: Ask, views: Views, data: LensData) -> list[Answer[Any]]:
    return [ask.ask_now(views.room, views, "find_callers", symbol=data.symbol, direction="incoming", limit=_MOST)]


def _counted(answers: list[Answer[Any]]) -> str:
    edges = answers[0].result
    callers = [edge for edge in edges if edge.how != "value"]
    tests = sum(edge.symbol.is_test for edge in callers)
    said = [count(len(callers), "caller") if callers else "no callers"]
    if tests:
        said.append(count(tests, "test"))
    if values := len(edges) - len(callers):
        said.append(f"{count(values, 'use')} as a value")
    return " · ".join(said)


def command(ask: Ask, params: Command) -> None:
    """What a lens does: shows what is known of the answer about a lens's symbol, and why it lacks what it lacks."""
    if params.command != WHY:
        raise Refused(ErrorCodes.INVALID_PARAMS, f"no command is called '{params.command}'")
    match params.arguments:
        case [str(uri), str(symbol)]:
            data = LensData(uri=uri, symbol=symbol)
        case _:
            raise Refused(ErrorCodes.INVALID_PARAMS, f"{WHY} takes a URI and a symbol")
    room = ask.desk.rooms.of(path_of(data.uri))
    if room is None:
        return
    try:
        answers = _asked(ask, ask.views(room), data)
    except LspidxError as error:
        ask.desk.notices.show(str(error), MessageType.WARNING)
        return
    completeness = answers[0].completeness
    reasons = "; ".join(reason.detail for reason in completeness.reasons)
    said = f"{_counted(answers)} · {completeness.status}" + (f": {reasons}" if reasons else "")
    ask.desk.notices.show(said, MessageType.INFO)
