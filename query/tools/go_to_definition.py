"""Where a symbol is defined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from query import names
from query.answer import Answer, Place, SymbolRecord
from query.completeness import provenance
from query.page import Named, Sources, asked
from query.registry import Context, tool
from query.style import Style
from query.symbols import Symbol


class GoToDefinition(Named, kw_only=True):
    show_source: Annotated[bool, msgspec.Meta(description="with the line of each definition")] = True


class Definition(msgspec.Struct, kw_only=True):
    """A symbol and all places that define it: overloads, setters and the arms of an `if` are several."""

    symbol: SymbolRecord
    places: list[Place]


def _text(answer: Answer[list[Definition]], style: Style) -> Iterator[str]:
    for definition in answer.result:
        yield style.symbol(definition.symbol)
        yield from style.places(definition.places)


@tool(
    "go_to_definition",
    parameters=GoToDefinition,
    result=list[Definition],
    positional="symbol",
    example="definition Flask.route",
    task="find",
    hint="jump where defined declaration",
    text=_text,
)
def TOOL(context: Context, ask: GoToDefinition) -> Answer[list[Definition]]:
    """Where a symbol, or the identifier at a position, is defined."""
    index = context.index
    meant = _meant(context, ask)
    sources = Sources(index)
    result = [Definition(symbol=symbol.record, places=_places(context, symbol, sources if ask.show_source else None)) for symbol in meant]
    paths = [symbol.record.path for symbol in meant]
    return Answer(
        tool="go_to_definition",
        query=asked(ask, meant[0] if len(meant) == 1 else None),
        result=result,
        total=sum(len(item.places) for item in result),
        truncated=False,
        completeness=context.certificate.of_documents([*paths, *ask.document(index)], ["syntax"]),
        provenance=provenance(index, paths[0] if paths else ""),
    )


def _meant(context: Context, ask: GoToDefinition) -> list[Symbol]:
    """At a position an identifier may have several meanings, and all are an answer."""
    index = context.index
    position = ask.position(index)
    return names.symbols_at(index, position) if position is not None and position.col else [ask.resolve(index)]


def _places(context: Context, symbol: Symbol, sources: Sources | None) -> list[Place]:
    if symbol.record.external:
        return []
    rows = context.index.rows(
        """
        SELECT DISTINCT d.path, r.line, r.col, r.end_col FROM refs r JOIN document d USING (doc_id)
        WHERE r.sym_id = $id AND r.roles & 1 <> 0 ORDER BY ALL
        """,
        {"id": symbol.sym_id},
    )
    if not rows:  # a module: its file
        return [Place(path=symbol.record.path, line=symbol.record.line, col=symbol.record.col)]
    return [
        Place(path=path, line=line + 1, col=col + 1, end_col=end + 1, text=sources.line(path, line) if sources else "")
        for path, line, col, end in rows
    ]
