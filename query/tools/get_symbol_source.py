"""The text of a symbol."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer, SymbolRecord
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context
from query.facts import names
from query.facts.parameters import Named, Sources
from query.facts.symbols import Symbol
from query.surface.registry import tool


class GetSymbolSource(Named, kw_only=True):
    pass


class Source(msgspec.Struct, kw_only=True):
    """Whole lines of one definition, 1-based, last line included. `source` is empty where the file has changed since."""

    symbol: SymbolRecord
    path: str
    start_line: int
    end_line: int
    source: str


def _text(answer: Answer[list[Source]], style: Style) -> Iterator[str]:
    for item in answer.result:
        yield style.path(f"{item.path}:{item.start_line}-{item.end_line}")
        if item.source:
            yield from style.source(item.source, item.start_line)
        else:
            yield "  (the file has changed since the index was made; to bring it up to date: lspidx index)"
    if not answer.result:
        yield "  (outside the workspace: its source is not in the index)"


@tool(
    "get_symbol_source",
    parameters=GetSymbolSource,
    result=list[Source],
    positional="symbol",
    example="source resolve_url",
    task="read",
    hint="code body text show implementation of a function",
    text=_text,
)
def TOOL(context: Context, ask: GetSymbolSource) -> Answer[list[Source]]:
    """The source text of a symbol, or of the innermost definition around a position."""
    index = context.index
    symbol = _meant(context, ask)
    rows = index.rows(
        """
        SELECT doc_id, start_line, end_line, end_col FROM symbol WHERE sym_id = $id
        UNION ALL SELECT doc_id, start_line, end_line, end_col FROM extra_definition WHERE sym_id = $id
        ORDER BY doc_id, start_line, end_line
        """,
        {"id": symbol.sym_id},
    )
    documents = index.documents({row[0] for row in rows})
    places = [(documents[doc_id][0], *place) for doc_id, *place in rows if not symbol.record.external]
    places.sort(key=lambda place: place[0] != symbol.record.path)
    sources = Sources(index)
    found: list[Source] = []
    for path, start, end, end_col in places:
        lines = sources.lines(path)
        last = end if end_col else max(start, end - 1)
        text = b"\n".join(lines[start : last + 1]).decode("utf-8", "replace") if lines is not None else ""
        found.append(Source(symbol=symbol.record, path=path, start_line=start + 1, end_line=last + 1, source=text))
    return context.answer(
        ask,
        found,
        all_of(len(found)),
        context.certificate.of_documents([symbol.record.path, *ask.document(index)], ["syntax"]),
        meant=symbol,
        about=symbol.record.path,
    )


def _meant(context: Context, ask: GetSymbolSource) -> Symbol:
    """At a position the innermost definition around it is meant, not what the identifier there refers to."""
    index = context.index
    position = ask.position(index)
    if position is not None:
        around = names.enclosing(index, *position)
        if around is not None:
            return around
    return ask.resolve(index)
