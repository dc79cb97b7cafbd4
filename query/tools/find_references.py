"""Where a symbol is used."""

from __future__ import annotations

from collections.abc import Iterator

from query.answer import Answer
from query.completeness import DEFINITION, provenance
from query.page import asked, next_cursor, offset_of
from query.references import Filtered, Reference, search
from query.registry import Context, tool
from query.style import Style, headline


class FindReferences(Filtered, kw_only=True):
    pass


def _text(answer: Answer[list[Reference]], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    yield from style.references(answer.result)


@tool(
    "find_references",
    parameters=FindReferences,
    result=list[Reference],
    positional="symbol",
    example="references Flask.route",
    task="impact",
    hint="usages uses where used occurrences",
    text=_text,
)
def TOOL(context: Context, ask: FindReferences) -> Answer[list[Reference]]:
    """All uses of a symbol in the workspace, definitions first, then by path and position."""
    index = context.index
    symbol = ask.resolve(index)
    found = search(index, symbol, ask)
    offset, shown = offset_of(ask.cursor), len(found.page)
    name = "" if symbol.is_local else symbol.record.name
    return Answer(
        tool="find_references",
        query=asked(ask, symbol),
        result=[reference for _, reference in found.page],
        total=found.total,
        truncated=offset + shown < found.total,
        completeness=context.certificate.of_workspace(DEFINITION, name, about=symbol.record.path),
        provenance=provenance(index, symbol.record.path),
        next_cursor=next_cursor(offset, shown, found.total),
    )
