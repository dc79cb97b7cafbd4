"""The blast radius of a set of symbols: who depends on them outside tests, which tests reach them, how risky a change of each is.

`blast_radius` and `detect_changes` answer with it. Set by set: as many statements for a thousand symbols as for one.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec

from indexer.model import SymbolKind
from query.answers.envelope import Reason, SymbolRecord
from query.answers.style import Style, count
from query.facts import hierarchy
from query.facts.completeness import Certificate
from query.facts.documents import Document, documents
from query.facts.index import Index
from query.facts.risk import Level, Risk, risks
from query.facts.scopes import around, scopes
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.sync_guards import guarded
from query.facts.uses import Relation, Use, uses_of

MAX_CALLERS = 20_000
"""Callers and tests that a transitive search collects before it ends."""

_LEVELS: dict[Level, int] = {"high": 0, "unknown": 1, "medium": 2, "low": 3}
_MAX_USED = 10


class Changed(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol that is asked about. Counts are of direct uses; callers are functions, methods and modules outside tests."""

    name: str
    qualified_name: str
    symbol: str
    kind: str
    file: str
    line: int
    risk: Level
    reasons: Annotated[list[str], msgspec.Meta(description="codes that explain the risk")]
    callers: int = 0
    calls: int = 0
    references: int = 0
    imports: int = 0
    test_references: int = 0
    packages: Annotated[list[str], msgspec.Meta(description="packages of the callers outside tests")] = []
    sync_guarded: Annotated[bool, msgspec.Meta(description="a member of a type that holds a lock, or that type")] = False


class Caller(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A function, method or module outside tests that uses what changed. `line` is its first use; `uses` are at most 10 names used."""

    name: str
    qualified_name: str
    symbol: str
    kind: str
    file: str
    line: int
    package: str
    depth: Annotated[int, msgspec.Meta(description="1: uses a changed symbol itself; 2: uses one that does; ...")]
    relation: Annotated[Relation, msgspec.Meta(description="call before reference")]
    uses: list[str]
    sites: Annotated[int, msgspec.Meta(description="how many places in it use them")]
    dispatch: Annotated[bool, msgspec.Meta(description="only by members that the changed ones override")] = False
    sync_guarded: bool = False


class TestFunction(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The innermost function or method of a test that uses what changed; `line` is its first use."""

    __test__ = False  # no test case for pytest

    name: str
    qualified_name: str
    symbol: str
    file: str
    line: int
    depth: int
    sites: int
    test: Annotated[str, msgspec.Meta(description="the test function around it, where it is a function within a test")] = ""


class Totals(msgspec.Struct, kw_only=True):
    """Exact numbers over everything that was found, whatever part is shown."""

    changed_symbols: int
    test_references: int
    test_functions: int
    test_files: int
    non_test_references: int
    non_test_callers: int
    files: Annotated[int, msgspec.Meta(description="of the callers outside tests")]
    packages: int


class Radius(NamedTuple):
    """The wanted part of each ranked list.

    walked: all symbols whose users were asked for. doubts: reasons for the certificate beside those of their uses. capped: the transitive
    search was cut.
    """

    changed: list[Changed]
    callers: list[Caller]
    test_functions: list[TestFunction]
    test_files: list[str]
    packages: list[str]
    totals: Totals
    walked: list[int]
    doubts: list[Reason]
    capped: bool

    def summary(self) -> str:
        """The seed's sentence, and the callers."""
        total = self.totals
        return (
            f"Found {count(total.changed_symbols, 'changed symbol')} with {count(total.test_references, 'test reference')} across "
            f"{count(total.test_files, 'test file')}, and {count(total.non_test_callers, 'non-test caller')} in "
            f"{count(total.files, 'file')} of {count(total.packages, 'package')}."
        )


class Holder:
    """A function, method or module, and its uses of what is one step nearer."""

    __slots__ = ("depth", "dispatch", "doc_id", "holder", "line", "most_used", "sites", "used", "uses")

    def __init__(self, depth: int, holder: int, uses: list[Use]) -> None:
        number: dict[int, int] = {}
        for use in uses:
            number[use.sym_id] = number.get(use.sym_id, 0) + 1
        self.depth = depth
        self.holder = holder
        self.uses = uses
        self.doc_id = uses[0].doc_id
        self.line = min(use.line for use in uses if use.doc_id == self.doc_id)
        self.used = len(number)
        self.most_used = heapq.nsmallest(_MAX_USED, number, key=lambda sym_id: (-number[sym_id], sym_id))
        self.sites = len({(use.doc_id, use.line, use.col) for use in uses})
        self.dispatch = all(use.dispatch for use in uses)


class _Tally:
    """Numbers of the direct uses of one symbol."""

    __slots__ = ("calls", "holders", "imports", "references", "tests")

    def __init__(self) -> None:
        self.holders: set[int] = set()
        self.calls = self.references = self.imports = self.tests = 0


def measure(
    index: Index,
    certificate: Certificate,
    ids: Sequence[int],
    *,
    depth: int = 1,
    tests: str = "include",
    offset: int = 0,
    limit: int = 1_000_000,
) -> Radius:
    """The radius of these symbols.

    Args:
        ids: of the changed symbols. depth: 1 for direct uses; more follows callers of callers.
        tests: `exclude` leaves tests out, `only` leaves callers outside tests out.
        offset, limit: the part of each list that is wanted; numbers are over everything.
    """
    changed = list(dict.fromkeys(ids))
    direct = uses_of(index, changed, dispatch=True)
    graded = risks(index, certificate, changed, direct)
    held, capped = walk(index, set(changed), direct, depth)
    docs = documents(index, {use.doc_id for use in direct} | {use.doc_id for item in held for use in item.uses})
    scope = scopes(index, [*changed, *(item.holder for item in held)])
    callers = [item for item in held if tests != "only" and not item.uses[0].is_test]
    in_tests = [item for item in held if tests != "exclude" and item.uses[0].is_test]
    functions = [item for item in in_tests if scope[item.holder].kind != SymbolKind.MODULE]
    callers.sort(key=lambda item: (item.depth, item.dispatch, -item.used, -item.sites, docs[item.doc_id].path, item.line, item.holder))
    functions.sort(key=lambda item: (item.depth, -item.sites, docs[item.doc_id].path, item.line, item.holder))
    of_tests = [use for use in direct if use.is_test and tests != "exclude"]
    test_files = _test_files(of_tests, in_tests, docs)
    packages: dict[str, int] = {}
    for item in callers:
        name = docs[item.doc_id].package
        packages[name] = packages.get(name, 0) + 1
    tallies = _tallies(changed, direct)
    changed.sort(key=lambda sym_id: (*_rank(graded[sym_id], tallies[sym_id]), scope[sym_id].doc_id, sym_id))
    part = slice(offset, offset + limit)
    changed_part, callers_part, functions_part = changed[part], callers[part], functions[part]
    shown = {*changed_part, *(item.holder for item in (*callers_part, *functions_part))}
    shown |= {sym_id for item in callers_part for sym_id in item.most_used}
    known = symbols_by_id(index, sorted(shown))
    locked = guarded(index, {*changed_part, *(item.holder for item in callers_part)})
    return Radius(
        changed=[_changed(known[sym_id].record, tallies[sym_id], graded[sym_id], sym_id in locked) for sym_id in changed_part],
        callers=[_caller(item, known, docs, item.holder in locked) for item in callers_part],
        test_functions=[test_function(index, item, known, docs) for item in functions_part],
        test_files=test_files[part],
        packages=sorted(packages, key=lambda name: (-packages[name], name)),
        totals=Totals(
            changed_symbols=len(changed),
            test_references=len(of_tests),
            test_functions=len(functions),
            test_files=len(test_files),
            non_test_references=0 if tests == "only" else sum(not use.is_test for use in direct),
            non_test_callers=len(callers),
            files=len({item.doc_id for item in callers}),
            packages=len(packages),
        ),
        walked=sorted({*changed, *(item.holder for item in held if item.depth < depth and scope[item.holder].runs)}),
        doubts=overrides_bound(index, changed),
        capped=capped,
    )


def walk(index: Index, changed: set[int], direct: Sequence[Use], depth: int) -> tuple[list[Holder], bool]:
    """Who uses them, by depth: each caller once, at its smallest depth, in tests too, as tests have helpers. Modules are not followed."""
    held: list[Holder] = []
    seen: set[tuple[int, bool]] = set()
    step = direct
    for level in range(1, depth + 1):
        found: dict[tuple[int, bool], list[Use]] = {}
        for use in step:
            key = (use.holder, use.is_test)
            if use.relation != "import" and use.holder >= 0 and key not in seen and (level == 1 or use.holder not in changed):
                found.setdefault(key, []).append(use)
        seen.update(found)
        held += [Holder(level, holder, uses) for (holder, _), uses in found.items()]
        if len(held) > MAX_CALLERS:
            return held[:MAX_CALLERS], True
        if level == depth:
            break
        frontier = {holder for holder, _ in found} - changed
        step = uses_of(index, _callables(index, frontier), dispatch=True)
        if not step:
            break
    return held, False


def _callables(index: Index, ids: Collection[int]) -> list[int]:
    known = scopes(index, ids)
    return sorted(sym_id for sym_id in ids if known[sym_id].runs)


def _tallies(ids: Sequence[int], uses: Sequence[Use]) -> dict[int, _Tally]:
    tallies = {sym_id: _Tally() for sym_id in ids}
    for use in uses:
        tally = tallies[use.sym_id]
        if use.is_test:
            tally.tests += 1
        elif use.relation == "import":
            tally.imports += 1
        else:
            tally.holders.add(use.holder)
            if use.relation == "call":
                tally.calls += 1
            else:
                tally.references += 1
    return tallies


def _rank(risk: Risk, tally: _Tally) -> tuple[int, int, int, int]:
    return (_LEVELS[risk.level], -len(risk.packages), -len(tally.holders), -tally.tests)


def _changed(record: SymbolRecord, tally: _Tally, risk: Risk, locked: bool) -> Changed:
    return Changed(
        name=record.name,
        qualified_name=record.qualified_name,
        symbol=record.symbol,
        kind=record.kind,
        file=record.path,
        line=record.line,
        risk=risk.level,
        reasons=list(risk.reasons),
        callers=len(tally.holders),
        calls=tally.calls,
        references=tally.references,
        imports=tally.imports,
        test_references=tally.tests,
        packages=list(risk.packages),
        sync_guarded=locked,
    )


def _caller(item: Holder, known: dict[int, Symbol], docs: Mapping[int, Document], locked: bool) -> Caller:
    record = known[item.holder].record
    return Caller(
        name=record.name,
        qualified_name=record.qualified_name,
        symbol=record.symbol,
        kind=record.kind,
        file=docs[item.doc_id].path,
        line=item.line + 1,
        package=docs[item.doc_id].package,
        depth=item.depth,
        relation="call" if any(use.relation == "call" for use in item.uses) else "reference",
        uses=[known[sym_id].record.name for sym_id in item.most_used],
        sites=item.sites,
        dispatch=item.dispatch,
        sync_guarded=locked,
    )


def test_function(index: Index, item: Holder, known: dict[int, Symbol], docs: Mapping[int, Document]) -> TestFunction:
    record = known[item.holder].record
    return TestFunction(
        name=record.name,
        qualified_name=record.qualified_name,
        symbol=record.symbol,
        file=docs[item.doc_id].path,
        line=item.line + 1,
        depth=item.depth,
        sites=item.sites,
        test=outermost(index, item.holder),
    )


def outermost(index: Index, sym_id: int) -> str:
    """The name of the outermost function around a function that lies in another one; empty for any other."""
    known = scopes(index, [sym_id])
    outer = [step for step in around(index, sym_id) if known[step].runs]
    return known[outer[-1]].name if outer and outer[-1] != sym_id else ""


def _test_files(uses: Sequence[Use], held: Sequence[Holder], docs: Mapping[int, Document]) -> list[str]:
    """Files that use what changed directly first, by how often; then the others by depth."""
    number: dict[str, int] = {}
    for use in uses:
        path = docs[use.doc_id].path
        number[path] = number.get(path, 0) + 1
    depth: dict[str, int] = {}
    for item in held:
        for use in item.uses:
            path = docs[use.doc_id].path
            depth[path] = min(depth.get(path, item.depth), item.depth)
    paths = number.keys() | depth.keys()
    return sorted(paths, key=lambda path: (path not in number, depth.get(path, 1), -number.get(path, 0), path))


# ---- text


def changed_line(row: Changed, style: Style) -> str:
    """One line of text for a changed symbol."""
    level = style.warning(row.risk) if row.risk in ("high", "unknown") else row.risk
    parts = [f"{count(row.callers, 'caller')} in {count(len(row.packages), 'package')}", count(row.test_references, "test reference")]
    lock = f" {style.warning('sync_guarded')}" if row.sync_guarded else ""
    why = style.dim(f"({', '.join(row.reasons)}; {', '.join(parts)})")
    return f"{style.place(row.file, row.line)}  {style.kind(row.kind)} {style.strong(row.qualified_name)}  {level}{lock} {why}"


def caller_lines(rows: Sequence[Caller], style: Style) -> Iterator[str]:
    for row in rows:
        notes = [
            "" if row.relation == "call" else row.relation,
            "dispatch" if row.dispatch else "",
            f"depth {row.depth}" if row.depth > 1 else "",
            "sync_guarded" if row.sync_guarded else "",
            count(row.sites, "site") if row.sites > 1 else "",
        ]
        note = style.dim(f"[{', '.join(filter(None, notes))}]") if any(notes) else ""
        name = f"{style.kind(row.kind)} {style.strong(row.qualified_name)}"
        yield f"  {style.place(row.file, row.line)}  {name}  uses {', '.join(row.uses)}  {note}".rstrip()


def test_lines(rows: Sequence[TestFunction], style: Style) -> Iterator[str]:
    for row in rows:
        notes = [f"in {row.test}" if row.test else "", f"depth {row.depth}" if row.depth > 1 else ""]
        note = style.dim(f"[{', '.join(filter(None, notes))}]") if any(notes) else ""
        yield f"  {style.place(row.file, row.line)}  {style.strong(style.name(row.qualified_name, row.file))}  {note}".rstrip()


def overrides_bound(index: Index, changed: Sequence[int]) -> list[Reason]:
    """Whether a bound has cut what these members override, and with it uses of them through a supertype."""
    if len(hierarchy.overridden(index, changed)) < hierarchy.MAX_OVERRIDDEN:
        return []
    return [Reason(code="overrides_bound", detail=f"of what these members override only {hierarchy.MAX_OVERRIDDEN} were looked at")]
