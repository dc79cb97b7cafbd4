"""What differs between two indexes of one workspace: symbols, calls, references and hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count
from query.changes.generations import called, previous, title
from query.changes.index_difference import Edge, IndexTotals, SymbolChange, Texts, compare, is_asked, totals_of
from query.context import Context
from query.facts.completeness import DEFINITION, provenance
from query.facts.index import Index
from query.surface.registry import tool


class DiffIndex(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    old: Annotated[
        str, msgspec.Meta(description="generation number, commit, or path of another index's workspace; default: the previous generation")
    ] = ""
    new: Annotated[str, msgspec.Meta(description="the same; default: the present generation")] = ""
    what: Annotated[
        Literal["all", "api", "added", "removed", "moved", "signature", "body", "docs"],
        msgspec.Meta(description="only symbols of this kind of change; api: exported ones that are gone or declared otherwise"),
    ] = "all"
    path: Annotated[str, msgspec.Meta(description="only below this path")] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="symbols and edges shown")] = 100
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class IndexDifference(msgspec.Struct, kw_only=True):
    """Old and new as `generation (commit)`. Edges are those between symbols that both indexes know, or that one of them has."""

    old: str
    new: str
    totals: IndexTotals
    symbols: list[SymbolChange]
    edges: list[Edge]


def _text(answer: Answer[IndexDifference], style: Style) -> Iterator[str]:
    found = answer.result
    totals = found.totals
    yield f"{style.strong(found.old)} → {style.strong(found.new)}"
    told = ", ".join(f"{number} {what}" for what, number in totals.symbols.items())
    yield f"{told or 'no symbol differs'}; public API: {count(totals.public_api, 'change')}"
    yield (
        f"calls +{totals.calls_gained} −{totals.calls_lost}, references +{totals.references_gained} −{totals.references_lost}, "
        f"supertypes +{totals.supertypes_gained} −{totals.supertypes_lost}"
    )
    yield f"lost their last caller: {totals.last_caller_lost}; newly recursive: {totals.newly_recursive}"
    for item in found.symbols:
        marks = [
            *(["exported"] if item.exported else []),
            *(["lost its last caller"] if item.lost_last_caller else []),
            *(["newly recursive"] if item.newly_recursive else []),
            *([f"was {item.old_symbol}"] if item.old_symbol else []),
        ]
        named = f"{style.kind(item.kind)} {style.strong(item.name)}"
        yield f"{style.place(item.path, item.line)}  {item.what} {named}  {style.dim(', '.join(marks))}"
        if item.old_signature:
            yield f"    {style.dim(f'− {item.old_signature}')}"
            yield f"    {style.dim(f'+ {item.signature}')}"
    for edge in found.edges:
        yield f"{'+' if edge.gained else '−'} {edge.kind} {style.dim(edge.source)} → {style.dim(edge.target)}"


@tool(
    "diff_index",
    parameters=DiffIndex,
    result=IndexDifference,
    positional="",
    example="diff_index --what api",
    task="impact",
    hint="semantic diff compare two indexes generations commits api changed calls gained lost recursive",
    text=_text,
)
def TOOL(context: Context, ask: DiffIndex) -> Answer[IndexDifference]:
    """What differs between two indexes: symbols, declarations, calls and references gained and lost, public API, last callers."""
    new = called(context.index, ask.new) if ask.new else context.index
    old = called(new, ask.old) if ask.old else previous(new)
    if old is new:
        raise UsageError("both are the same index; name another one by generation, commit or path")
    texts = Texts(old, new, ask.path)
    symbols, edges = compare(old, new, ask.path, texts)
    totals = totals_of(symbols, edges)
    wanted = [item for item in symbols if is_asked(item, ask.what)]
    offset = offset_of(ask.cursor)
    shown = wanted[offset : offset + ask.limit]
    whole = context.certificate.of_workspace(DEFINITION, [*_doubts(old, new), *texts.doubts()])
    return context.on(new).answer(
        ask,
        IndexDifference(old=title(old), new=title(new), totals=totals, symbols=shown, edges=edges[offset : offset + ask.limit]),
        page_of(offset, ask.limit, max(len(wanted), len(edges))).within(len(wanted)),
        whole,
    )


def _doubts(old: Index, new: Index) -> list[Reason]:
    """Two servers see two things."""
    servers = [sorted(provenance(index).servers) for index in (old, new)]
    if servers[0] == servers[1]:
        return []
    detail = f"made by different servers ({', '.join(servers[0])}; {', '.join(servers[1])}): some differences are theirs"
    return [Reason(code="different_servers", detail=detail)]
