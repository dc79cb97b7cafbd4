"""Where symbols are defined and declared, for the tools that go somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from query.answers.envelope import Answer, Place, SymbolRecord
from query.answers.style import Style
from query.facts import names
from query.facts.index import Index
from query.facts.parameters import Named
from query.facts.sources import Quote, Sources
from query.facts.symbols import Symbol


class Definition(msgspec.Struct, kw_only=True):
    """A symbol and all places that define it: overloads, setters and the arms of an `if` are several."""

    symbol: SymbolRecord
    places: list[Place]


class Bound(NamedTuple):
    """A place that names a symbol as its definition; `own`: its body or value is there, else it is only declared."""

    place: Place
    own: bool


_BOUND = """
    SELECT DISTINCT r.doc_id, r.line, r.col, r.end_col,
           EXISTS (SELECT 1 FROM (
               SELECT doc_id, start_line, end_line FROM symbol WHERE sym_id = $id
               UNION ALL SELECT doc_id, start_line, end_line FROM extra_definition WHERE sym_id = $id
           ) x WHERE x.doc_id = r.doc_id AND r.line BETWEEN x.start_line AND x.end_line) AS own
    FROM refs r WHERE r.sym_id = $id AND has_role(r.roles, 'definition')
"""


def bound(index: Index, symbol: Symbol, sources: Sources | None = None) -> list[Bound]:
    """All places that define or declare a symbol, by path and position; none of one outside the workspace.

    Args:
        sources: for the text of the lines; without it places have none.
    """
    record = symbol.record
    if record.external:
        return []
    rows = index.rows(_BOUND, {"id": symbol.sym_id})
    if not rows:  # a module: its file
        return [Bound(Place(path=record.path, line=record.line, col=record.col), own=True)]
    documents = index.documents({row[0] for row in rows})
    placed: list[tuple[Any, ...]] = sorted((documents[doc_id][0], line, col, end, own) for doc_id, line, col, end, own in rows)
    return [
        Bound(
            Place(path=path, line=line + 1, col=col + 1, end_col=end + 1, **(sources.quote(path, line) if sources else Quote(text=""))),
            bool(own),
        )
        for path, line, col, end, own in placed
    ]


def definition(index: Index, symbol: Symbol, sources: Sources | None = None) -> Definition:
    """A symbol with its places, as the answers have them."""
    return Definition(symbol=symbol.record, places=[item.place for item in bound(index, symbol, sources)])


def meanings(index: Index, ask: Named) -> list[Symbol]:
    """What is asked about: at a position an identifier may have several meanings, and all are an answer."""
    position = ask.position(index)
    return names.symbols_at(index, position) if position is not None and position.col else [ask.resolve(index)]


def text_of_definitions(answer: Answer[list[Definition]], style: Style) -> Iterator[str]:
    for item in answer.result:
        yield style.symbol(item.symbol)
        yield from style.places(item.places)
