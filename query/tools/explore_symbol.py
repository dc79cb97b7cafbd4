"""All about one symbol in one answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from query.answers.envelope import Answer, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, printable
from query.context import Context
from query.facts import sync_guards
from query.facts.calls import callees_of
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.documents import documents
from query.facts.hierarchy import Kin, kin
from query.facts.index import Index
from query.facts.names import unambiguous
from query.facts.parameters import Named
from query.facts.references import references_by_file
from query.facts.risk import risks
from query.facts.sources import Sources
from query.facts.symbols import TYPES, Symbol, symbols_by_id
from query.facts.texts import definition_lines, source_of, text_of
from query.facts.uses import Use, uses_of
from query.surface.registry import tool

_FILES = 5


class ExploreSymbol(Named, kw_only=True):
    limit: Annotated[
        int, msgspec.Meta(ge=1, le=1_000, description="callers, callees, types and overrides shown of each; totals are exact")
    ] = 10
    source_lines: Annotated[int, msgspec.Meta(ge=0, le=10_000, description="lines of source shown; 0 for none")] = 80
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer; it continues every list")] = ""


class ExploredCaller(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A function or module that uses the symbol; `line` is its first use there, `how`: call, reference, or override."""

    symbol: SymbolRecord
    path: str
    line: int
    uses: int
    how: str
    text: str = ""
    old: bool = False


class ExploredCallee(msgspec.Struct, kw_only=True):
    symbol: SymbolRecord
    calls: int


class FileCount(msgspec.Struct, kw_only=True):
    path: str
    count: int
    is_test: bool


class References(msgspec.Struct, kw_only=True):
    """Exact numbers without definitions; the files with most references first."""

    total: int
    in_tests: int
    files: int
    top_files: list[FileCount]


class Related(msgspec.Struct, kw_only=True):
    """One of the nearest `total`; `evidence` says who knows of the relation."""

    symbol: SymbolRecord
    evidence: list[str]


class RelatedList(msgspec.Struct, kw_only=True):
    total: int
    shown: list[Related]


class Explored(msgspec.Struct, kw_only=True):
    """A symbol with what is known of it. Lists are ranked and cut to `limit`; every total is exact.

    source: from `source_line` on, at most `source_lines` of `source_total_lines` lines; empty where the file has changed since the
    index was made, or outside the workspace. supertypes, subtypes: direct ones, of types. implementations: everything below a type,
    or the members that override a member; overridden: the members that it overrides. callers: outside tests first, calls first.
    """

    symbol: SymbolRecord
    signature: str
    documentation: str
    hover: str
    source: str
    source_line: int
    source_total_lines: int
    risk: str
    risk_reasons: list[str]
    packages: list[str]
    sync_guarded: bool
    references: References
    caller_count: int
    test_caller_count: int
    callers: list[ExploredCaller]
    callee_count: int
    callees: list[ExploredCallee]
    supertypes: RelatedList
    subtypes: RelatedList
    implementations: RelatedList
    overridden: RelatedList


def _text(answer: Answer[Explored], style: Style) -> Iterator[str]:
    item = answer.result
    yield style.symbol(item.symbol)
    if item.signature:
        yield f"  {style.signature(item.signature)}"
    risk = f"risk {item.risk}: {', '.join(item.risk_reasons)}" + (f" ({', '.join(item.packages[:5])})" if item.packages else "")
    yield f"  {style.warning(risk) if item.risk in ('high', 'unknown') else risk}{'; sync guarded' if item.sync_guarded else ''}"
    texts = (item.documentation, "" if item.documentation else item.hover)
    for line in (line for text in texts if text for line in text.split("\n")):
        yield f"  {printable(line)}"
    if item.source:
        yield ""
        yield from style.source(item.source, item.source_line)
        more = item.source_total_lines - item.source.count("\n") - 1
        if more > 0:
            yield style.dim(f"… {more} more lines")
    yield ""
    yield f"references: {item.references.total} in {item.references.files} files, {item.references.in_tests} in tests"
    for file in item.references.top_files:
        yield f"  {style.path(file.path)}  {file.count}{'  [test]' if file.is_test else ''}"
    yield f"callers: {item.caller_count}, {item.test_caller_count} of them in tests"
    for caller in item.callers:
        notes = " ".join([*([f"×{caller.uses}"] if caller.uses > 1 else []), *([caller.how] if caller.how != "call" else [])])
        test = "  [test]" if caller.symbol.is_test else ""
        within = style.name(caller.symbol.qualified_name, caller.symbol.path)
        name = f"{style.kind(caller.symbol.kind)} {style.strong(within)}{test}"
        yield f"  {style.place(caller.path, caller.line)}  {name}  {style.quote(caller.text, old=caller.old)}  {style.dim(notes)}".rstrip()
    if item.callee_count:
        yield f"callees: {item.callee_count}"
    for callee in item.callees:
        yield f"  {style.symbol(callee.symbol)}{f' ×{callee.calls}' if callee.calls > 1 else ''}"
    for title, related in (
        ("supertypes", item.supertypes),
        ("subtypes", item.subtypes),
        ("implementations", item.implementations),
        ("overrides", item.overridden),
    ):
        if related.total:
            yield f"{title}: {related.total}"
        for other in related.shown:
            yield f"  {style.symbol(other.symbol)}  {style.dim('[' + ', '.join(other.evidence) + ']')}"


@tool(
    "explore_symbol",
    parameters=ExploreSymbol,
    result=Explored,
    positional="symbol",
    seldom="source_lines",
    example="explore get_object_or_404",
    task="read",
    hint="everything about a symbol source callers references tests types overview context explain who uses",
    text=_text,
)
def TOOL(context: Context, ask: ExploreSymbol) -> Answer[Explored]:
    """A symbol in one answer: type, documentation, source, callers, references, tests, callees, types around it, risk."""
    index = context.index
    symbol = ask.resolve(index)
    sym_id, record = symbol.sym_id, symbol.record
    uses = uses_of(index, [sym_id], dispatch=True)
    callers = _callers(uses)
    callees = callees_of(index, [sym_id]).get(sym_id, {})
    of_type = record.kind in TYPES
    related = {way: kin(index, sym_id, way, depth=1) if of_type else [] for way in ("supertypes", "subtypes")}
    related["implementations"] = kin(index, sym_id, "subtypes" if of_type else "overriding")
    related["overridden"] = [] if of_type else kin(index, sym_id, "overridden")
    ranked = sorted(callers.values(), key=lambda found: (found[0].is_test, found[2] != "call", -found[1], found[0].doc_id, found[0].line))
    offset = offset_of(ask.cursor)
    page = slice(offset, offset + ask.limit)
    below = [item for listed in related.values() for item in listed[page]]
    known = symbols_by_id(index, sorted({*callees, *(use.holder for use, _, _ in ranked[page]), *(item.sym_id for item in below)}))
    risk = risks(index, context.certificate, [sym_id], uses)[sym_id]
    sources = Sources(index)
    docs = documents(index, {use.doc_id for use in uses})
    text = text_of(index, sym_id)
    lines = definition_lines(index, symbol)
    ranked_callees = sorted(
        callees, key=lambda callee: (known[callee].record.external, -callees[callee], known[callee].record.path, callee)
    )
    result = Explored(
        symbol=record,
        signature=text.signature,
        documentation=text.documentation,
        hover=text.hover,
        source=source_of(sources, lines, ask.source_lines) if lines else "",
        source_line=lines.first + 1 if lines else 0,
        source_total_lines=lines.last - lines.first + 1 if lines else 0,
        risk=risk.level,
        risk_reasons=list(risk.reasons),
        packages=list(risk.packages),
        sync_guarded=sym_id in sync_guards.guarded(index, [sym_id]),
        references=_references(index, symbol),
        caller_count=len(ranked),
        test_caller_count=sum(use.is_test for use, _, _ in ranked),
        callers=[
            ExploredCaller(
                symbol=known[use.holder].record,
                path=docs[use.doc_id].path,
                line=use.line + 1,
                uses=number,
                how=how,
                **sources.quote(docs[use.doc_id].path, use.line),
            )
            for use, number, how in ranked[page]
            if use.holder in known
        ],
        callee_count=len(callees),
        callees=[ExploredCallee(symbol=known[callee].record, calls=callees[callee]) for callee in ranked_callees[page]],
        **{way: _list(listed, known, page) for way, listed in related.items()},
    )
    more = context.certificate.unresolved_callees([sym_id]) if record.kind in ("function", "method", "constructor") else []
    if of_type:
        more += context.certificate.unresolved_supertypes([sym_id])
        more += context.certificate.unresolved_subtypes({record.name}, about=record.path)
    return context.answer(
        ask,
        result,
        page_of(offset, ask.limit, max(map(len, (ranked, callees, *related.values())))).within(1),
        context.certificate.of_uses(
            [symbol], "callers", [*DEFINITION, *([SUPERTYPES] if of_type else [])], more, typed=lambda: unambiguous(index, symbol)
        ),
        meant=symbol,
        about=record.path,
    )


def _callers(uses: Sequence[Use]) -> dict[int, tuple[Use, int, str]]:
    """By holder: its first use, how many it has, and how it uses the symbol. An import alone makes no caller."""
    found: dict[int, tuple[Use, int, str]] = {}
    for use in uses:
        if use.relation == "import":
            continue
        how = "reference" if use.relation == "reference" else "override" if use.dispatch else "call"
        first, number, before = found.get(use.holder, (use, 0, how))
        found[use.holder] = (first, number + 1, "call" if "call" in (how, before) else before)
    return found


def _references(index: Index, symbol: Symbol) -> References:
    files = references_by_file(index, symbol.sym_id)
    return References(
        total=sum(file.references for file in files),
        in_tests=sum(file.references for file in files if file.is_test),
        files=len(files),
        top_files=[FileCount(path=file.path, count=file.references, is_test=file.is_test) for file in files[:_FILES]],
    )


def _list(found: list[Kin], known: dict[int, Symbol], page: slice) -> RelatedList:
    return RelatedList(
        total=len(found), shown=[Related(symbol=known[item.sym_id].record, evidence=list(item.evidence)) for item in found[page]]
    )
