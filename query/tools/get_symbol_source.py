"""The text of a symbol."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer, SymbolRecord
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context
from query.facts import names
from query.facts.parameters import Named
from query.facts.sources import Sources
from query.facts.symbols import Symbol
from query.facts.texts import all_definition_lines, source_of
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
    hint="code body text show print read implementation of a function or method",
    text=_text,
)
def TOOL(context: Context, ask: GetSymbolSource) -> Answer[list[Source]]:
    """The source text of a symbol, or of the innermost definition around a position."""
    index = context.index
    symbol = _meant(context, ask)
    sources = Sources(index)
    found = [
        Source(
            symbol=symbol.record,
            path=lines.path,
            start_line=lines.first + 1,
            end_line=lines.last + 1,
            source=source_of(sources, lines),
        )
        for lines in all_definition_lines(index, symbol)
    ]
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
