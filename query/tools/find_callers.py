"""Who calls a symbol, and whom it calls."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Any, Literal

import msgspec

from indexer.errors import UsageError
from indexer.model import Evidence
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.style import Style, count, headline, printable
from query.context import Context, Workspace
from query.facts.completeness import DEFINITION, provenance
from query.facts.index import Index
from query.facts.names import unambiguous
from query.facts.parameters import Live, Named, Sources, asked, next_cursor, offset_of
from query.facts.symbols import Symbol, symbols_by_id
from query.surface.registry import tool

Direction = Literal["incoming", "outgoing", "both"]

CERTAIN = ("syntax", "definition", "same_binding", "callee_type", "constructor", "property", "inherited")
"""Evidence that counts unless the caller chooses: the call is in the text and its target is known."""

MAX_NODES = 5_000

_OVERRIDE = 255
"""In place of evidence: the call names a member that this one overrides."""


IN_WORDS = {
    "definition": "",
    "same_binding": "",
    "syntax": "",
    "live": "",
    "callee_type": "by the type of what is called",
    "constructor": "constructor that the call runs",
    "property": "getter that the read runs",
    "decorator": "called as decorator",
    "inferred": "handed over here, probably called",
    "inherited": "by name in a base class",
    "override": "may end here, by override",
}
"""Evidence, for people; nothing where the call stands in the text with its callee's name."""


class FindCallers(Named, kw_only=True):
    direction: Annotated[Direction, msgspec.Meta(description="incoming: callers; outgoing: callees")] = "both"
    depth: Annotated[int, msgspec.Meta(ge=1, le=100, description="1: direct calls only")] = 1
    evidence: Annotated[
        list[str], msgspec.Meta(description=f"kinds of evidence; default {', '.join(CERTAIN)}; others: decorator, inferred")
    ] = []
    dispatch: Annotated[bool, msgspec.Meta(description="also calls of what this overrides, which may end here; evidence: override")] = False
    external: Annotated[bool, msgspec.Meta(description="callees outside the workspace too")] = True
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="call sites in test files")] = "include"
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="callers or callees shown")] = 200
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""
    live: Live = False


class Site(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A call site in the caller's file; 1-based."""

    path: str
    line: int
    col: int
    evidence: str
    text: str = ""


class Edge(msgspec.Struct, kw_only=True):
    """One caller or callee with all its sites. `depth` 1 is direct; `of` is the symbol one step nearer to the question."""

    direction: Literal["incoming", "outgoing"]
    symbol: SymbolRecord
    sites: list[Site]
    depth: int
    of: str


def _text(answer: Answer[list[Edge]], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    wanted = {"incoming": ["incoming"], "outgoing": ["outgoing"]}.get(answer.query.get("direction", "both"), ["incoming", "outgoing"])
    for direction in wanted if "cursor" not in answer.query else []:
        if not any(edge.direction == direction for edge in answer.result):
            yield f"{'callers' if direction == 'incoming' else 'callees'}: none"
    for direction, edges in groupby(answer.result, key=lambda edge: edge.direction):
        yield ""
        yield "callers:" if direction == "incoming" else "callees:"
        for edge in edges:
            indent = "  " * edge.depth
            yield f"{indent}{style.symbol(edge.symbol)}"
            for site in edge.sites:
                words = IN_WORDS.get(site.evidence, site.evidence)
                note = f"  {style.dim(f'[{words}]')}" if words else ""
                yield f"{indent}    {style.below(site.path, site.line, site.col)}  {printable(site.text)}{note}"


def _counted(answer: Answer[list[Edge]]) -> str:
    """Callers (callees), and at how many sites they call; without the sites where not all are in the answer."""
    total = answer.total
    direction = answer.query.get("direction", "both")
    what = {"incoming": "caller", "outgoing": "callee"}.get(direction, "")
    said = count(total, what) if what else f"{total} callers and callees"
    if answer.truncated or answer.shortened or not answer.result:
        return said
    return f"{said} at {count(sum(len(edge.sites) for edge in answer.result), 'site')}"


def _live(workspace: Workspace, ask: FindCallers) -> Answer[list[Edge]]:
    from indexer.lsp import methods
    from query.live.navigation import calls, is_test_file, paged, put

    if ask.evidence or ask.dispatch:
        raise UsageError("a running server tells no evidence: ask the index for that, without live")
    question = put(workspace, ask, methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    edges: list[Edge] = []
    replies: list[Any] = []
    reasons: list[Reason] = []
    for direction in ("incoming", "outgoing"):
        if ask.direction not in (direction, "both"):
            continue
        found = calls(workspace, question, direction, ask.depth)
        replies += found.replies
        reasons += found.reasons
        for call in found.calls:
            sites = [
                Site(path=site.path, line=site.line, col=site.col, evidence="live", text=site.text)
                for site in call.sites
                if ask.tests == "include" or is_test_file(site.path) == (ask.tests == "only")
            ]
            if sites and (ask.external or not call.symbol.external):
                edges.append(Edge(direction=direction, symbol=call.symbol, sites=sites, depth=call.depth, of=call.of))
    offset = offset_of(ask.cursor)
    answer = question.answer("find_callers", ask, edges[offset : offset + ask.limit], len(edges), more=replies, reasons=reasons)
    return paged(answer, offset)


@tool(
    "find_callers",
    parameters=FindCallers,
    result=list[Edge],
    positional="symbol",
    example="callers formset_factory",
    task="impact",
    hint="call graph hierarchy incoming outgoing who calls callees",
    text=_text,
    counted=_counted,
    live=_live,
)
def TOOL(context: Context, ask: FindCallers) -> Answer[list[Edge]]:
    """Callers and callees of a symbol with every call site, to any depth."""
    index, certificate = context.index, context.certificate
    symbol = ask.resolve(index)
    kinds = _evidence(ask.evidence)
    edges: list[tuple[str, int, int, int]] = []  # direction, symbol, depth, of
    capped = False
    sites: dict[tuple[str, int, int], list[tuple[Any, ...]]] = {}
    for direction in ("incoming", "outgoing"):
        if ask.direction in (direction, "both"):
            capped |= _walk(context, ask, symbol, direction, kinds, edges, sites)
    offset = offset_of(ask.cursor)
    shown = edges[offset : offset + ask.limit]
    known = symbols_by_id(index, sorted({edge[1] for edge in shown} | {edge[3] for edge in shown}))
    sources = Sources(index)
    result = [
        Edge(
            direction="incoming" if direction == "incoming" else "outgoing",
            symbol=known[sym_id].record,
            depth=depth,
            of=known[of].record.symbol,
            sites=[
                Site(
                    path=path,
                    line=line + 1,
                    col=col + 1,
                    evidence="override" if evidence == _OVERRIDE else Evidence(evidence).label,
                    text=sources.line(path, line),
                )
                for path, line, col, evidence in sites[direction, sym_id, of]
            ],
        )
        for direction, sym_id, depth, of in shown
    ]
    about = symbol.record.path
    more = certificate.unresolved_callers(_expanded(ask, edges, "incoming"), about=about) if ask.depth > 1 else []
    if ask.direction != "incoming":
        more += certificate.unresolved_calls([symbol.sym_id, *_expanded(ask, edges, "outgoing")])
    name = symbol.record.name if ask.direction != "outgoing" and not symbol.is_local else ""
    only_own = ask.direction == "outgoing" and ask.depth == 1 and not symbol.record.external
    if only_own:
        completeness = certificate.of_documents([about, *ask.document(index)], DEFINITION, more)
    else:
        completeness = certificate.of_workspace(DEFINITION, name, more, about=about, typed=lambda: unambiguous(index, symbol))
    return Answer(
        tool="find_callers",
        query=asked(ask, symbol),
        result=result,
        total=len(edges),
        truncated=capped or offset + len(shown) < len(edges),
        completeness=completeness,
        provenance=provenance(index, about),
        next_cursor=next_cursor(offset, len(shown), len(edges)),
    )


def _expanded(ask: FindCallers, edges: list[tuple[str, int, int, int]], direction: str) -> list[int]:
    """Callers (callees) whose own callers (callees) are part of the answer too."""
    return sorted({sym_id for way, sym_id, depth, _ in edges if way == direction and depth < ask.depth})


def _evidence(chosen: list[str]) -> list[int]:
    known = {kind.label: int(kind) for kind in Evidence}
    for name in chosen:
        if name not in known and name != "all":
            raise UsageError(f"no evidence is called '{name}'; known: all, {', '.join(known)}")
    names = list(known) if "all" in chosen else chosen or list(CERTAIN)
    return [known[name] for name in names if name in known]


def _walk(
    context: Context,
    ask: FindCallers,
    start: Symbol,
    direction: str,
    kinds: list[int],
    edges: list[tuple[str, int, int, int]],
    sites: dict[tuple[str, int, int], list[tuple[Any, ...]]],
) -> bool:
    """Breadth first from `start`; True where MAX_NODES ended it."""
    seen = {start.sym_id}
    frontier = [start.sym_id]
    for depth in range(1, ask.depth + 1):
        if not frontier:
            break
        reached: dict[tuple[int, int], None] = {}
        for of, sym_id, path, line, col, evidence in _step(context, ask, frontier, direction, kinds, depth == 1 and ask.dispatch):
            key = (direction, sym_id, of)
            if sym_id in seen and (sym_id, of) not in reached and sym_id != start.sym_id:
                continue
            if sym_id == start.sym_id and depth > 1:
                continue
            if key not in sites:
                if len(edges) >= MAX_NODES:
                    return True
                sites[key] = []
                edges.append((direction, sym_id, depth, of))
                reached[sym_id, of] = None
            sites[key].append((path, line, col, evidence))
        frontier = [sym_id for sym_id, _ in reached if sym_id not in seen]
        frontier = list(dict.fromkeys(frontier))
        seen.update(frontier)
    return False


# A single symbol is given as a constant, which reads one segment of a sorted table; a join builds a hash table first.
_ONE = {
    "incoming": "SELECT callee, caller, doc_id, line, col, evidence FROM call_in WHERE callee = $id",
    "outgoing": "SELECT caller, callee, doc_id, line, col, evidence FROM call_out WHERE caller = $id",
}
_MANY = {
    "incoming": """
        SELECT c.callee, c.caller, c.doc_id, c.line, c.col, c.evidence
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id
    """,
    "outgoing": """
        SELECT c.caller, c.callee, c.doc_id, c.line, c.col, c.evidence
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_out c ON c.caller = u.id
    """,
}
_DISPATCH = """
    WITH RECURSIVE up(super_id) AS (
        SELECT super_id FROM override WHERE sub_id = $id
        UNION SELECT o.super_id FROM up JOIN override o ON o.sub_id = up.super_id
    )
    SELECT $id::INTEGER, c.caller, c.doc_id, c.line, c.col, c.evidence FROM up JOIN call_in c ON c.callee = up.super_id
"""


def _step(
    context: Context, ask: FindCallers, frontier: list[int], direction: str, kinds: list[int], dispatch: bool
) -> list[tuple[Any, ...]]:
    """Rows (of, symbol, path, line, col, evidence): callers by place, callees in the order of the text, dependencies last."""
    index = context.index
    if len(frontier) == 1:
        rows = index.rows(_ONE[direction], {"id": frontier[0]})
    else:
        rows = index.rows(_MANY[direction], {"ids": frontier})
    wanted = set(kinds)
    rows = [row for row in rows if row[5] in wanted]
    if direction == "incoming" and dispatch:
        found = index.rows(_DISPATCH, {"id": frontier[0]})
        rows += [(*row[:5], _OVERRIDE) for row in found if row[5] in wanted]
    documents = index.documents({row[2] for row in rows})
    if ask.tests != "include":
        rows = [row for row in rows if documents[row[2]][1] == (ask.tests == "only")]
    placed = [(of, sym_id, documents[doc_id][0], line, col, evidence) for of, sym_id, doc_id, line, col, evidence in rows]
    if direction == "incoming":
        return sorted(placed, key=lambda row: (row[5] == _OVERRIDE, row))
    outside = _outside(index, {row[1] for row in placed})
    if not ask.external:
        placed = [row for row in placed if row[1] not in outside]
    return sorted(placed, key=lambda row: (row[1] in outside, row[0], row[3], row[4], row[1]))


def _outside(index: Index, ids: set[int]) -> set[int]:
    """Those of the symbols that lie outside the workspace: they come after all others in the order of ids."""
    first = index.keep("first external", lambda: index.row("SELECT min(sym_id) FROM symbol WHERE flags & 2048 <> 0"))
    return {sym_id for sym_id in ids if first is not None and first[0] is not None and sym_id >= first[0]}
