"""Definitions, references, hovers and highlights: tools' answers as the protocol writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from indexer.lsp import methods
from indexer.quoting import visible
from query.answers.envelope import Answer
from query.lsp.asking import Ask, Spot
from query.lsp.params import AtPosition, References
from query.lsp.views import Views

_MOST = 10_000

Span = tuple[str, int, int, int]
"""Path, line, column and end of the column, 0-based."""


def definition(ask: Ask, params: AtPosition) -> list[dict[str, Any]] | None:
    return _defined(ask, params, "go_to_definition", methods.TEXT_DOCUMENT_DEFINITION, {"show_source": False})


def declaration(ask: Ask, params: AtPosition) -> list[dict[str, Any]] | None:
    return _defined(ask, params, "go_to_declaration", methods.TEXT_DOCUMENT_DECLARATION)


def type_definition(ask: Ask, params: AtPosition) -> list[dict[str, Any]] | None:
    return _defined(ask, params, "go_to_type_definition", methods.TEXT_DOCUMENT_TYPE_DEFINITION)


def _defined(ask: Ask, params: AtPosition, tool: str, method: str, more: Mapping[str, Any] = {}) -> list[dict[str, Any]] | None:
    """Places of an answer that has some for each symbol. Where none of them lies in the workspace a running server is asked, which knows
    where on this machine the others lie.
    """
    spot = ask.spot(params)
    if spot is None:
        return None
    if spot.at is None:
        return _places(ask, spot, method)
    answers = ask.at(spot, tool, **more)
    found = [place for answer in answers for item in answer.result for place in item.places]
    is_beyond = not found and any(item.symbol.external for answer in answers for item in answer.result)
    if is_beyond and (places := _places(ask, spot, method)):
        return places
    return _told(ask, spot, answers, [_span(place) for place in found])


def implementation(ask: Ask, params: AtPosition) -> list[dict[str, Any]] | None:
    spot = ask.spot(params)
    if spot is None:
        return None
    if spot.at is None:
        return _places(ask, spot, methods.TEXT_DOCUMENT_IMPLEMENTATION)
    answers = ask.at(spot, "go_to_implementation", limit=5_000)
    symbols = [item.symbol for answer in answers for item in answer.result if not item.symbol.external and item.symbol.line]
    spans = [(symbol.path, symbol.line - 1, symbol.col - 1, symbol.col - 1 + _units(symbol.name)) for symbol in symbols]
    return _told(ask, spot, answers, spans)


def references(ask: Ask, params: References) -> list[dict[str, Any]] | None:
    """All uses that the index knows, however many there are."""
    spot = ask.spot(params)
    if spot is None:
        return None
    more = {"context": {"includeDeclaration": params.context.include_declaration}}
    if spot.at is None:
        return _places(ask, spot, methods.TEXT_DOCUMENT_REFERENCES, more)
    asked: dict[str, Any] = {"include_declaration": params.context.include_declaration, "limit": _MOST}
    answers = ask.at(spot, "find_references", **asked)
    for answer in list(answers):
        while answer.next_cursor is not None:
            answer = ask.at(spot, "find_references", **asked, cursor=answer.next_cursor)[0]
            answers.append(answer)
    return _told(ask, spot, answers, [_span(item) for answer in answers for item in answer.result], of_uses=True)


def highlights(ask: Ask, params: AtPosition) -> list[dict[str, Any]] | None:
    """Nothing where the place has no counterpart: a highlight is worth no start of a server."""
    spot = ask.spot(params)
    if spot is None or spot.at is None or spot.views.index is None:
        return None
    answers = ask.at(spot, "get_document_highlights", limit=_MOST)
    found: list[dict[str, Any]] = []
    lost = 0
    for item in (item for answer in answers for item in answer.result.highlights):
        where = spot.views.range(spot.view.path, item.line - 1, item.col - 1, item.end_col - 1)
        if where is None:
            lost += 1
        else:
            found.append({"range": where, "kind": item.number})
    ask.certify(spot.uri, answers, spot.views, lost=lost)
    return found


def hover(ask: Ask, params: AtPosition) -> dict[str, Any] | None:
    spot = ask.spot(params)
    if spot is None:
        return None
    if spot.at is None:
        text = _hover(ask, spot)
    else:
        answers = ask.at(spot, "inspect_symbol", offline=spot.is_carried)
        ask.certify(spot.uri, answers, spot.views)
        text = "\n\n---\n\n".join(filter(None, (_inspected(answer, is_markdown=ask.desk.is_markdown) for answer in answers)))
    if not text:
        return None
    return {"contents": {"kind": "markdown" if ask.desk.is_markdown else "plaintext", "value": visible(text)}}


def _places(ask: Ask, spot: Spot, method: str, more: Mapping[str, Any] = {}) -> list[dict[str, Any]] | None:
    from query.lsp import live

    return live.places(ask, spot, method, more)


def _hover(ask: Ask, spot: Spot) -> str:
    from query.lsp import live

    return live.hover(ask, spot)


def _inspected(answer: Answer[Any], *, is_markdown: bool) -> str:
    item = answer.result
    if item.hover:
        return item.hover
    signature = f"```\n{item.signature}\n```" if item.signature and is_markdown else item.signature
    return "\n\n".join(filter(None, (signature, item.documentation)))


# ---- places of answers


def _span(place: Any) -> Span:
    return place.path, place.line - 1, place.col - 1, max(place.end_col, place.col) - 1


def _units(name: str) -> int:
    return len(name.encode("utf-16-le", "surrogatepass")) // 2


def located(views: Views, spans: Iterable[Span]) -> tuple[list[dict[str, Any]], int]:
    """Locations in the client's texts, each once, and how many have no counterpart there."""
    found: list[dict[str, Any]] = []
    lost = 0
    for path, line, col, end_col in dict.fromkeys(spans):
        where = views.location(path, max(line, 0), max(col, 0), max(end_col, 0))
        if where is None:
            lost += 1
        else:
            found.append(where)
    return found, lost


def _told(ask: Ask, spot: Spot, answers: list[Answer[Any]], spans: list[Span], *, of_uses: bool = False) -> list[dict[str, Any]]:
    found, lost = located(spot.views, spans)
    ask.certify(spot.uri, answers, spot.views, lost=lost, of_uses=of_uses)
    return found
