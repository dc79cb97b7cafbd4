"""What happens when a function is called: the calls that follow, in the order of the text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated

import msgspec

from indexer.errors import UsageError
from indexer.model import Evidence, Via
from query.answers.envelope import Answer, Completeness, Reason, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count, headline, one_line, printable
from query.context import Context
from query.facts import flow
from query.facts.call_order import in_its_place
from query.facts.documents import Document, documents
from query.facts.names import callable_of
from query.facts.parameters import Named
from query.facts.sources import Sources
from query.facts.symbols import TYPES, Symbol, symbols_by_id
from query.surface.registry import tool

_SHOWN_OTHERS = 3
_MEMBERS = ("method", "constructor", "property", "field", "enum member")

_CALLED = ("function", "method", "constructor", *TYPES)
"""What a name means that fits other symbols too."""

_VALUES = ("variable", "constant", "field", "enum member")

_IN_WORDS: Mapping[Evidence, str] = {
    Evidence.CALLEE_TYPE: "by the type of what is called",
    Evidence.PROPERTY: "accessor",
    Evidence.DECORATOR: "as decorator",
    Evidence.INFERRED: "handed over here, and called",
    Evidence.INHERITED: "by name in a base class",
    Evidence.OPERATOR: "by the operator here",
    Evidence.PROTOCOL: "by the statement here",
    Evidence.STRING: "named by a string",
    Evidence.FLOW: "by following values",
    Evidence.POSSIBLE_FLOW: "by following values",
    Evidence.SECOND_SERVER: "by another server",
}
"""Evidence, for people; nothing where the call stands in the text with its callee's name."""


class CallFlow(Named, kw_only=True):
    depth: Annotated[int, msgspec.Meta(ge=1, le=20, description="1: its own calls only; 2: also those of what it calls")] = 3
    external: Annotated[bool, msgspec.Meta(description="also calls of what lies outside the workspace")] = True
    limit: Annotated[int, msgspec.Meta(ge=1, le=2_000, description="steps; its own calls first, then what is nearest to them")] = 100
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class Candidate(msgspec.Struct, kw_only=True):
    """What may run in place of what is called: a member that overrides it, or what a value may be."""

    symbol: str
    qualified_name: str
    path: str
    line: int


class Step(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A call, with the place where it stands; 1-based. What follows with a larger `depth` happens within it.

    number: from 1 on, in the whole flow. symbol: what is called; absent where nobody knows, then `name` says what stands there, or nothing
    for an expression. evidence, via: as `find_callers` has them. open: a value is called, and others than those that are known may be it.
    candidates: with a symbol, the members that override it, in which the call may end; without, what the value may be.
    mark: why its own `calls` are not below it: `repeated` (they are below step `same_as`), `recursive`, `outside` of the workspace,
    `depth` (as deep as was asked), `limit` (no room). Whether a call is in a branch or a loop, no index tells.
    """

    number: int
    depth: int
    path: str
    line: int
    col: int
    text: str = ""
    old: bool = False
    symbol: SymbolRecord | None = None
    name: str = ""
    evidence: str = "unresolved"
    via: str = ""
    open: bool = False
    candidates: list[Candidate] = []
    mark: flow.Mark = ""
    calls: int = 0
    same_as: int = 0


# ---- as text


def _text(answer: Answer[list[Step]], style: Style) -> Iterator[str]:
    where = next((f"  {style.path(step.path)}" for step in answer.result if step.depth == 1), "")
    others: list[str] = answer.query.get("overridden_by", [])
    more = style.dim(f"  [or {_first([_short(other, 2) for other in others])}]") if others else ""
    yield f"{headline(style, answer.query)}{where}{more}"
    named = {step.same_as for step in answer.result if step.mark == "repeated"}
    for (is_outside, _, _), group in groupby(answer.result, key=lambda step: _alike(step)):
        steps = list(group)
        if is_outside and len(steps) > 1:
            names = list(dict.fromkeys(_name(step) for step in steps))
            lines = f"{steps[0].line}-{steps[-1].line}" if steps[0].line != steps[-1].line else f"{steps[0].line}"
            place = lines if style.compact else style.place(steps[0].path, steps[0].line, steps[0].col)
            yield f"{'  ' * steps[0].depth}{place}  {style.dim('outside:')} {', '.join(map(printable, names))}"
            continue
        for step in steps:
            yield _line(step, style, named)
    if any(step.mark in ("depth", "limit") for step in answer.result):
        yield style.dim("+N: so many calls of its own are not followed; ask about it, or give more depth or limit")


def _alike(step: Step) -> tuple[bool, int, int]:
    """What stands on one line: calls out of the workspace that follow one another. All others are alone."""
    return (True, step.depth, 0) if step.mark == "outside" and not step.open else (False, step.depth, step.number)


def _line(step: Step, style: Style, named: Collection[int]) -> str:
    place = f"{step.line}" if style.compact else style.place(step.path, step.line, step.col)
    if step.symbol is None:
        what = printable(step.name) or "what an expression gives"
        known = f"perhaps {_listed(step)}" if step.candidates else "whatever it holds" if step.open else "unknown"
        stands = style.quote(step.text, old=step.old)
        return f"{'  ' * step.depth}{place}  {style.warning(what + ' ?')}  {style.dim(f'[{known}]')}  {stands}".rstrip()
    number = f" #{step.number}" if step.number in named else ""
    at = "" if step.symbol.external else f"  → {style.place(step.symbol.path, step.symbol.line)}"
    notes = "; ".join(_notes(step))
    noted = f"  {style.dim(f'[{one_line(notes)}]')}" if notes else ""
    return f"{'  ' * step.depth}{place}  {style.strong(_name(step))}{number}{at}{noted}"


def _notes(step: Step) -> Iterator[str]:
    yield from filter(None, [_IN_WORDS.get(Evidence[step.evidence.upper()], "") + (f": {step.via.replace('_', ' ')}" if step.via else "")])
    if step.candidates:
        yield f"or {_listed(step)}"
    if step.open:
        yield "or another"
    if step.mark == "repeated":
        yield f"as #{step.same_as}"
    elif step.mark in ("recursive", "outside"):
        yield step.mark
    elif step.mark:
        yield f"+{step.calls}"


def _listed(step: Step) -> str:
    return _first([_short(other.qualified_name, 2) for other in step.candidates])


def _first(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_OTHERS
    return f"{', '.join(names[:_SHOWN_OTHERS])}{f' and {more} more' if more > 0 else ''}"


def _name(step: Step) -> str:
    if step.symbol is None:
        return step.name
    return _short(step.symbol.qualified_name, 2 if step.symbol.kind in _MEMBERS else 1, step.symbol.name)


def _short(qualified: str, parts: int, name: str = "") -> str:
    """The name, with that of its type where it is a member."""
    last = name or qualified.rpartition(".")[2]
    around = qualified.removesuffix(last).rstrip(".").rpartition(".")[2]
    return f"{around}.{last}" if parts > 1 and around else last


def _counted(answer: Answer[list[Step]]) -> str:
    return count(answer.total, "step")


@tool(
    "call_flow",
    parameters=CallFlow,
    result=list[Step],
    positional="symbol",
    example="flow django.shortcuts.redirect",
    task="read",
    hint="what happens when it is run step by step execution order sequence walk through trace into process view",
    text=_text,
    counted=_counted,
)
def TOOL(context: Context, ask: CallFlow) -> Answer[list[Step]]:
    """What happens when a function is called: its calls in the order of the text, and theirs below them, as a tree."""
    index = context.index
    symbol = callable_of(index, ask.resolve(index, _CALLED))
    name = symbol.record.qualified_name
    if symbol.record.external:
        raise UsageError(f"'{name}' lies outside the workspace, and what it calls was not read")
    found = flow.flow(index, symbol, ask.depth, ask.limit, external=ask.external)
    steps = list(flow.in_order(found.first))
    if not steps and symbol.record.kind in _VALUES:
        raise UsageError(f"'{name}' is a {symbol.record.kind}, in whose text nothing is called; name a function, a method or a class")
    others = [other.record for _, other in sorted(symbols_by_id(index, in_its_place(index, symbol.sym_id)).items())]
    offset = offset_of(ask.cursor)
    shown = steps[offset : offset + ask.limit]
    numbers = {id(step): number for number, step in enumerate(steps, 1)}
    wanted = {sym_id for step in shown for sym_id in (step.site.callee, *step.site.candidates) if sym_id is not None}
    known, docs = symbols_by_id(index, sorted(wanted)), documents(index, {step.site.doc_id for step in shown})
    sources = Sources(index)
    result = [_step(step, numbers, known, docs, sources) for step in shown]
    return context.answer(
        ask,
        result,
        page_of(offset, len(shown), len(steps), cut_short=bool(found.left)),
        _completeness(context, ask, symbol, found, steps),
        meant=symbol,
        more={"overridden_by": [other.qualified_name for other in others]} if others else {},
        about=symbol.record.path,
    )


def _step(step: flow.Step, numbers: Mapping[int, int], known: Mapping[int, Symbol], docs: Mapping[int, Document], sources: Sources) -> Step:
    site = step.site
    path = docs[site.doc_id].path
    made = Step(
        number=numbers[id(step)],
        depth=step.depth,
        path=path,
        line=site.line + 1,
        col=site.col + 1,
        **sources.quote(path, site.line),
        name=site.name,
        open=site.of_value,
        mark=step.mark,
        calls=step.calls if step.mark != "outside" else 0,
        same_as=numbers[id(step.same)] if step.same is not None else 0,
    )
    others = [known[other].record for other in site.candidates]
    made.candidates = [Candidate(symbol=one.symbol, qualified_name=one.qualified_name, path=one.path, line=one.line) for one in others]
    if site.callee is None:
        return made
    return msgspec.structs.replace(
        made,
        symbol=known[site.callee].record,
        name="",
        evidence=Evidence(site.evidence).label,
        via=Via(site.via).label if site.via else "",
    )


def _completeness(context: Context, ask: CallFlow, symbol: Symbol, found: flow.Flow, steps: Sequence[flow.Step]) -> Completeness:
    """What is missing of the calls in the texts that are shown, and of the members that the called ones are overridden by."""
    more: list[Reason] = []
    if found.left:
        detail = f"{count(found.left, 'step')} not followed, as there is room for {ask.limit}; ask about them, or give a larger limit"
        more.append(Reason(code="search_bound", detail=detail, count=found.left))
    called = {symbol.sym_id} | {step.site.callee for step in steps if step.site.callee is not None}
    known = symbols_by_id(context.index, sorted(called))
    read = {known[sym_id].record.path for sym_id in called if not known[sym_id].record.external}  # also of what calls nothing
    return context.certificate.of_callees(found.opened, called, [*read, *ask.document(context.index)], more)
