"""Who calls a symbol, and whom it calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from indexer.errors import UsageError
from indexer.model import Evidence, Via
from query.answers.envelope import Answer, Completeness, Reason, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count, headline
from query.context import Context, Workspace
from query.facts import constructors, overloads
from query.facts.calls import DIRECTIONS, Reached, Selection, walk
from query.facts.calls import Site as Place
from query.facts.completeness import DEFINITION
from query.facts.documents import documents
from query.facts.gaps import escapes
from query.facts.hierarchy import OVERRIDE
from query.facts.index import Index
from query.facts.names import callable_of, unambiguous
from query.facts.parameters import Live, Named
from query.facts.sources import Sources
from query.facts.symbols import TYPES, Symbol, symbols_by_id
from query.facts.value_uses import value_uses
from query.surface.registry import tool

if TYPE_CHECKING:
    from query.live.navigation import Asked

Direction = Literal["incoming", "outgoing", "both"]
How = Literal["call", "dispatch", "value"]

CERTAIN = (
    "syntax", "definition", "same_binding", "callee_type", "constructor", "property", "decorator", "inferred", "inherited", "operator",
    "protocol", "string", "entry_point", "flow", "second_server",
)  # fmt: skip
"""Evidence that counts unless the caller chooses: the call is in the text, or in that of what it is given to, and its target is known."""

VALUE = "value"
"""In place of evidence: the symbol is used as a value, and whoever gets it may call it."""

MAX_NODES = 5_000

_AS_VALUE = -1
_CALLED = ("function", "method", "constructor", *TYPES)
"""In place of the number of an evidence: `VALUE`."""

IN_WORDS = {
    "definition": "",
    "same_binding": "",
    "syntax": "",
    "live": "",
    "callee_type": "by the type of what is called",
    "constructor": "constructor that the call runs",
    "property": "accessor that runs here",
    "decorator": "called as decorator",
    "inferred": "handed over here, and called",
    "inherited": "by name in a base class",
    "operator": "by the operator here",
    "protocol": "by the statement here",
    "string": "named by a string",
    "entry_point": "entry point of a manifest",
    "flow": "by following values to here",
    "possible_flow": "perhaps, by following values to here",
    "second_server": "by another server than the first",
    OVERRIDE: "dispatch: names what it overrides, and may end in it",
    VALUE: "",
}
"""Evidence, for people; nothing where the call stands in the text with its callee's name."""


class FindCallers(Named, kw_only=True):
    direction: Annotated[Direction, msgspec.Meta(description="incoming: callers; outgoing: callees")] = "both"
    depth: Annotated[int, msgspec.Meta(ge=1, le=100, description="1: direct calls only")] = 1
    evidence: Annotated[list[str], msgspec.Meta(description=f"only these kinds of evidence of a call; default {', '.join(CERTAIN)}")] = []
    dispatch: Annotated[
        bool,
        msgspec.Meta(
            description="also calls of what it overrides, through a base, interface or protocol, which may end in it; "
            "as callees also what overrides the called ones"
        ),
    ] = True
    values: Annotated[
        bool, msgspec.Meta(description="also where it is used as a value: handed over, stored, returned; who gets it may call it")
    ] = True
    external: Annotated[bool, msgspec.Meta(description="callees outside the workspace too")] = True
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="call sites in test files")] = "include"
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="callers or callees shown")] = 200
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""
    live: Live = False


class Site(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A call site in the caller's file; 1-based.

    via: of evidence `flow` and `possible_flow`, how the callee came to the place: as an argument, returned, stored in a variable, out of a
    container, made by a decorator, out of an attribute, or as a member of what the values there are (`inferred_type`).
    """

    path: str
    line: int
    col: int
    evidence: str
    via: str = ""
    text: str = ""
    old: bool = False


class Edge(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One caller or callee with all its sites. `depth` 1 is direct; `of` is the symbol one step nearer to the question.

    how: `call`; `dispatch`, where all its sites call what the symbol overrides and may end in it; `value`, where it calls nothing but uses
    the symbol as a value, which whoever gets it may call. These come last, and nobody's callers are looked for through them.
    """

    direction: Literal["incoming", "outgoing"]
    symbol: SymbolRecord
    sites: list[Site]
    depth: int
    of: str
    how: How = "call"


_TITLES = {"incoming": "callers:", "outgoing": "callees:"}


def _text(answer: Answer[list[Edge]], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    wanted = {"incoming": ["incoming"], "outgoing": ["outgoing"]}.get(answer.query.get("direction", "both"), ["incoming", "outgoing"])
    for direction in wanted if "cursor" not in answer.query else []:
        if any(edge.direction == direction and edge.how != "value" for edge in answer.result):
            continue
        if direction == "outgoing" and (answer.truncated or answer.shortened):  # they come last, and the answer ends before
            yield "callees: below what is shown here; to see them: direction outgoing"
        else:
            yield f"{'callers' if direction == 'incoming' else 'callees'}: none"
    for (direction, is_value), edges in groupby(answer.result, key=lambda edge: (edge.direction, edge.how == "value")):
        yield ""
        yield "used as a value, which may be called from elsewhere:" if is_value else _TITLES[direction]
        for edge in edges:
            indent = "  " * edge.depth
            yield f"{indent}{style.symbol(edge.symbol)}"
            for site in edge.sites:
                words = IN_WORDS.get(site.evidence, site.evidence) + (f": {site.via.replace('_', ' ')}" if site.via else "")
                note = f"  {style.dim(f'[{words}]')}" if words else ""
                yield f"{indent}    {style.below(site.path, site.line, site.col)}  {style.quote(site.text, old=site.old)}{note}"


def _counted(answer: Answer[list[Edge]]) -> str:
    """Callers (callees), and at how many sites they call; without the sites where not all are in the answer."""
    direction = answer.query.get("direction", "both")
    what = {"incoming": "caller", "outgoing": "callee"}.get(direction, "")
    values = [edge for edge in answer.result if edge.how == "value"]
    if answer.truncated or answer.shortened or "cursor" in answer.query:
        return (count(answer.total, what) if what else f"{answer.total} callers and callees") + (", uses as a value too" if values else "")
    calls = [edge for edge in answer.result if edge.how != "value"]
    said = count(len(calls), what) if what else f"{len(calls)} callers and callees"
    if calls:
        said += f" at {count(len({(site.path, site.line, site.col) for edge in calls for site in edge.sites}), 'site')}"
    return f"{said}, used as a value at {count(sum(len(edge.sites) for edge in values), 'place')}" if values else said


def _live(workspace: Workspace, ask: FindCallers) -> Answer[list[Edge]]:
    from indexer.lsp import methods
    from query.live.navigation import ask_server, calls, is_test_file

    if ask.evidence:
        raise UsageError("a running server tells no evidence: ask the index for that, without live")
    edges: list[Edge] = []
    replies: list[Any] = []
    reasons: list[Reason] = []
    by_words = _by_words(workspace, ask)
    if by_words is not None:
        edges, reasons = by_words[1:]
    if by_words is not None and ask.direction == "incoming":
        question = by_words[0]
    else:
        question = ask_server(workspace, ask, methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    for direction in ("incoming", "outgoing"):
        if ask.direction not in (direction, "both") or (by_words is not None and direction == "incoming"):
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
    shown = edges[offset : offset + ask.limit]
    return question.answer(ask, shown, page_of(offset, len(shown), len(edges)), more=replies, reasons=reasons)


def _by_words(workspace: Workspace, ask: FindCallers) -> tuple[Asked, list[Edge], list[Reason]] | None:
    """Callers while the first index is made: what the time allows.

    None where none are wanted, where the server does not tell what is meant, or where its own are wanted.
    """
    from query.live import by_words
    from query.live.navigation import is_test_file

    if not workspace.is_indexing or ask.live or ask.direction == "outgoing":
        return None
    question, uses = by_words.asked(workspace, ask, declarations=False)
    if uses is None:
        return None
    called = [
        place
        for place in by_words.calls(workspace, question, uses)
        if ask.tests == "include" or is_test_file(place.path) == (ask.tests == "only")
    ]
    callers = by_words.around(workspace, question, [(place.path, place.line - 1, place.col - 1) for place in called], uses.until)
    edges: dict[str, Edge] = {}
    for place, caller in zip(called, callers, strict=True):
        symbol = by_words.record(place, caller)
        edge = edges.setdefault(symbol.symbol, Edge(direction="incoming", symbol=symbol, sites=[], depth=1, of=question.record.symbol))
        edge.sites.append(Site(path=place.path, line=place.line, col=place.col, evidence="live", text=place.text))
    reasons = [uses.reason]
    if ask.depth > 1:
        reasons.append(Reason(code="calls_cut", detail="until there is an index only direct callers are looked for, not those of callers"))
    return question, [*edges.values()], reasons


@tool(
    "find_callers",
    parameters=FindCallers,
    result=list[Edge],
    positional="symbol",
    seldom="evidence dispatch values external live",
    example="callers formset_factory",
    task="impact",
    hint="call graph hierarchy incoming outgoing who calls callees",
    text=_text,
    counted=_counted,
    live=_live,
)
def TOOL(context: Context, ask: FindCallers) -> Answer[list[Edge]]:
    """Callers and callees of a symbol with every call site, to any depth."""
    index = context.index
    symbol = ask.resolve(index, _CALLED)
    if ask.direction == "incoming":
        symbol = callable_of(index, symbol)
    selection = Selection(evidence=_evidence(ask.evidence), tests=ask.tests, external=ask.external, dispatch=ask.dispatch)
    edges: list[Reached] = []
    capped = False
    for direction in DIRECTIONS:
        if ask.direction in (direction, "both"):
            found, ended = walk(index, symbol.sym_id, direction, ask.depth, selection, most=MAX_NODES - len(edges))
            edges += found
            capped |= ended
            if direction == "incoming" and ask.values and not ask.evidence:
                edges += _values(index, symbol.sym_id, ask.tests)
    offset = offset_of(ask.cursor)
    shown = edges[offset : offset + ask.limit]
    known = symbols_by_id(index, sorted({edge.sym_id for edge in shown} | {edge.of for edge in shown}))
    sources = Sources(index)
    result = [
        Edge(
            direction=edge.direction,
            symbol=known[edge.sym_id].record,
            depth=edge.depth,
            of=known[edge.of].record.symbol,
            how=_how(edge),
            sites=[
                Site(
                    path=site.path,
                    line=site.line + 1,
                    col=site.col + 1,
                    evidence=_label(site),
                    via=Via(site.via).label if site.via else "",
                    **sources.quote(site.path, site.line),
                )
                for site in edge.sites
            ],
        )
        for edge in shown
    ]
    page = page_of(offset, len(shown), len(edges), cut_short=capped)
    completeness, beside = _completeness(context, ask, symbol, edges), overloads.beside(index, symbol)
    if ask.direction != "outgoing":
        beside += constructors.beside(index, symbol)
    return context.answer(ask, result, page, completeness, meant=symbol, about=symbol.record.path, beside=beside)


def _completeness(context: Context, ask: FindCallers, symbol: Symbol, edges: Sequence[Reached]) -> Completeness:
    """What may be missing of the callers, and of what the texts call that were opened."""
    index, certificate = context.index, context.certificate
    about = symbol.record.path
    callers = _expanded(ask, edges, "incoming")
    more = certificate.unresolved_callers(callers, about=about) + escapes.of_symbols(index, callers) if callers else []
    if ask.direction == "incoming":
        return certificate.of_uses([symbol], "callers", DEFINITION, more, typed=lambda: unambiguous(index, symbol))
    opened = [symbol.sym_id, *_expanded(ask, edges, "outgoing")]
    called = {edge.sym_id for edge in edges if edge.direction == "outgoing"} if ask.dispatch else set()
    callees = certificate.of_callees(opened, called, [about, *ask.document(index)], [])
    if ask.direction == "outgoing":
        return certificate.of_workspace(DEFINITION, callees.reasons, about=about) if symbol.record.external else callees
    return certificate.of_uses([symbol], "callers", DEFINITION, [*more, *callees.reasons], typed=lambda: unambiguous(index, symbol))


def _values(index: Index, sym_id: int, tests: Literal["include", "exclude", "only"]) -> list[Reached]:
    """Who uses the symbol as a value, by place."""
    found = value_uses(index, [sym_id])
    docs = documents(index, {use.doc_id for use in found})
    sites: dict[int, list[Place]] = {}
    for use in sorted(found, key=lambda use: (docs[use.doc_id].path, use.line, use.col)):
        if tests == "include" or docs[use.doc_id].is_test == (tests == "only"):
            sites.setdefault(use.holder, []).append(Place(docs[use.doc_id].path, use.line, use.col, _AS_VALUE, dispatch=False))
    return [Reached("incoming", holder, 1, sym_id, places) for holder, places in sites.items()]


def _label(site: Place) -> str:
    return VALUE if site.evidence == _AS_VALUE else OVERRIDE if site.dispatch else Evidence(site.evidence).label


def _how(edge: Reached) -> How:
    if all(site.evidence == _AS_VALUE for site in edge.sites):
        return "value"
    return "dispatch" if all(site.dispatch for site in edge.sites) else "call"


def _expanded(ask: FindCallers, edges: Sequence[Reached], direction: str) -> list[int]:
    """Callers (callees) whose own callers (callees) are part of the answer too."""
    return sorted({edge.sym_id for edge in edges if edge.direction == direction and edge.depth < ask.depth and _how(edge) != "value"})


def _evidence(chosen: Sequence[str]) -> frozenset[int]:
    known = {kind.label: int(kind) for kind in Evidence}
    for name in chosen:
        if name not in known and name != "all":
            raise UsageError(f"no evidence is called '{name}'; known: all, {', '.join(known)}")
    names = list(known) if "all" in chosen else chosen or list(CERTAIN)
    return frozenset(known[name] for name in names if name in known)
