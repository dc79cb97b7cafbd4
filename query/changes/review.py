"""A change as reviewers need it: what became of each symbol, who is affected, which tests reach it, how risky it is.

One model (`Review`) that `detect_changes` and every report is made of; nothing else decides.
"""

from __future__ import annotations

import gc
import shlex
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from indexer.languages import record_of
from indexer.model import TYPE_KINDS, SymbolKind
from query.answers.envelope import Completeness, Reason
from query.answers.paths import of_paths
from query.changes import junit, phpunit, selectors
from query.changes.compare import Changed, compare, match_moved
from query.changes.diff import Diff, Sides, diff
from query.changes.effects import Bound, Files, bind
from query.changes.findings import Findings
from query.changes.model import Affected, AffectedTest, ChangedFile, ChangedSymbol, Review, Totals
from query.changes.reach import Reach, TestReach, inherited, tests_reaching
from query.changes.rules import LEVELS, worst
from query.changes.selection import with_likely
from query.changes.suites import cargo_tests, suites
from query.changes.trees import Part, SideCertificate, base_of, language, parts
from query.facts.blast_radius import overrides_bound
from query.facts.completeness import DEFINITION, Certificate, provenance
from query.facts.documents import Document, documents
from query.facts.index import Index
from query.facts.scopes import Scope, Scopes, around, scopes
from query.facts.symbols import ids_of_monikers, symbols_by_id
from query.facts.test_functions import phpunit_tests

__all__ = ["TEST_DEPTH", "Affected", "AffectedTest", "Ask", "ChangedFile", "ChangedSymbol", "Review", "Totals", "review"]

Progress = Callable[[int, int, str], None]

TEST_DEPTH = 12
_LARGE_FILES = 100
"""A change of more files is worth all processors."""


class Ask(NamedTuple):
    """What to compare and how far to look. `make_base`: crawl the old side where no index of it is here."""

    sides: Sides
    make_base: bool = False
    test_depth: int = TEST_DEPTH
    with_churn: bool = False


def review(index: Index, certificate: Certificate, ask: Ask, *, progress: Progress = lambda done, total, what: None) -> Review:
    """Compares two trees of the repository around the index's root.

    Raises:
        UsageError: git cannot compare them. Whatever a crawl of the base raises, where one was asked for.
    """
    del certificate  # of the work tree; what is asked about may be another tree
    found = diff(index.root, ask.sides)
    base, base_from = base_of(index, ask.sides, found, make=ask.make_base, progress=progress)
    with ExitStack() as effort:
        if len(found.files) > _LARGE_FILES:
            effort.enter_context(_no_collection())
            for either in {id(item): item for item in (index, base) if item is not None}.values():
                effort.enter_context(either.many_threads())
        return _review(index, base, base_from, ask, found)


@contextmanager
def _no_collection() -> Generator[None]:
    """Millions of records without one cycle: looking for cycles among them costs a quarter of the time of a large change."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _review(index: Index, base: Index | None, base_from: str, ask: Ask, found: Diff) -> Review:
    read = parts(index, base, found)
    changed = changes_of(read)
    old = base or index
    bound = bind(changed, old, index)
    of_new_side = SideCertificate(index, ask.sides)
    files = Files(read)
    reach = tests_reaching(index, {item.new_id for item in bound}, depth=ask.test_depth)
    former = {item.old_id for item in bound if item.new_id < 0 or (_has_left(item) and not item.changed.side.outline.is_test)}
    of_old = tests_reaching(old, former, depth=ask.test_depth)
    of_old = of_old._replace(tests=_still_there(index, old, of_old, files))
    symbols = Findings(index, old, of_new_side, bound, files).make(reach, of_old, with_churn=ask.with_churn)
    gone = {item.old_path for item in found.files if item.status in ("deleted", "renamed")} - {item.new_path for item in found.files}
    tests = with_likely(affected_tests([(index, reach), (old, of_old)], gone))
    listed = _files(read, symbols)
    return Review(
        compared=found.sides.described,
        old=found.sides.old,
        new=found.sides.new,
        level=worst(item.level for item in symbols),
        files=listed,
        symbols=symbols,
        tests=tests,
        totals=_totals(listed, symbols, tests),
        completeness=_completeness(
            index,
            of_new_side,
            bound,
            read,
            has_old=base is not None,
            capped=reach.capped or of_old.capped,
            more=overrides_bound(index, [item.new_id for item in bound if item.new_id >= 0]),
        ),
        provenance=provenance(index),
        base=base_from,
    )


def _still_there(index: Index, old: Index, reach: Reach, files: Files) -> list[TestReach]:
    """Tests that the old side has, without those that the new one is known not to have any more."""
    if old is index:
        return reach.tests
    records = symbols_by_id(old, sorted({item.holder for item in reach.tests}))
    names = {item.holder: records[item.holder].record.symbol for item in reach.tests}
    present = ids_of_monikers(index, names.values())
    return [item for item in reach.tests if names[item.holder] in present or not files.is_new_in(index, item.path)]


def _has_left(item: Bound) -> bool:
    """Whether tests that name it as it was are known to the index of the old side only."""
    return item.changed.is_gone and item.changed.what != "removed"


def changes_of(read: Sequence[Part]) -> list[Changed]:
    """What became of every symbol of the files of a change."""
    return match_moved([item for part in read if part.old or part.new for item in compare(part.change, part.old, part.new)])


# ---- files and numbers


def _files(read: Sequence[Part], symbols: Sequence[ChangedSymbol]) -> list[ChangedFile]:
    counts: dict[str, int] = {}
    for symbol in symbols:
        counts[symbol.file] = counts.get(symbol.file, 0) + 1
    return [
        ChangedFile(
            path=item.path,
            status=item.status,
            old_path=item.old_path if item.old_path != item.path else "",
            language=language(item.path),
            added=sum(hunk.new_end - hunk.new_start for hunk in item.hunks),
            removed=sum(hunk.old_end - hunk.old_start for hunk in item.hunks),
            old_read="" if old is None else "index" if old.outline.held_by is not None else "text",
            new_read="" if new is None else "index" if new.outline.held_by is not None else "text",
            special=item.special,
            symbols=counts.get(item.path, 0),
        )
        for item, old, new in read
    ]


def _totals(files: Sequence[ChangedFile], symbols: Sequence[ChangedSymbol], tests: Sequence[AffectedTest]) -> Totals:
    by_what: dict[str, int] = {}
    by_level: dict[str, int] = dict.fromkeys(LEVELS, 0)
    for item in symbols:
        by_what[item.what] = by_what.get(item.what, 0) + 1
        by_level[item.level] += 1
    return Totals(
        files=len(files),
        symbols=len(symbols),
        by_what=by_what,
        by_level=by_level,
        non_test_callers=len(
            {place.symbol for item in symbols for place in item.affected if not place.is_test and place.relation != "import"}
        ),
        stale_sites=sum(item.stale_sites for item in symbols),
        tests=len(tests),
        likely_tests=sum(item.likely for item in tests),
        lines_added=sum(item.added for item in files),
        lines_removed=sum(item.removed for item in files),
    )


# ---- tests


def affected_tests(reached: Sequence[tuple[Index, Reach]], gone: Collection[str]) -> list[AffectedTest]:
    """The likeliest first; those in files that are gone are left out."""
    told: dict[str, AffectedTest] = {}
    for index, reach in reached:
        for made in _records(index, reach):
            earlier = told.get(f"{made.path} {made.selector}")
            if made.path not in gone and (earlier is None or _first(made) < _first(earlier)):
                told[f"{made.path} {made.selector}"] = made
    return sorted(told.values(), key=_first)


def _first(item: AffectedTest) -> tuple[bool, bool, float, int, str, int, str]:
    return (item.distance > 0, item.import_only, -item.score, item.distance, item.path, item.line, item.selector)


def _records(index: Index, reach: Reach) -> Iterator[AffectedTest]:
    """Each test under its own name, a method of a test class under those of the classes that inherit it, a suite's by who runs it."""
    heirs: dict[int, list[int]] = {}
    for test, heir in inherited(index, [item.holder for item in reach.tests]):
        heirs.setdefault(test, []).append(heir)
    run_by = suites(index).tests
    wanted = {item.holder for item in reach.tests} | {item.via for item in reach.tests}
    wanted |= {sym_id for item in reach.tests for sym_id in (*heirs.get(item.holder, ()), *run_by.get(item.holder, ()))}
    records = symbols_by_id(index, sorted(wanted))
    known = scopes(index, wanted)
    docs = documents(index, {known[sym_id].doc_id for sym_id in wanted})
    cases = cargo_tests(index)
    for item in reach.tests:
        own = docs[known[item.holder].doc_id]
        named: list[tuple[str, int]]  # a selector and the symbol that stands where it is run
        if item.holder in run_by:
            names = [(known[function].name, function) for function in run_by[item.holder]]
            named = [(selectors.of_suite(function, known[item.holder].name), sym_id) for function, sym_id in names]
        elif record_of(own.language).runner == "pytest" and known[item.holder].kind != SymbolKind.MODULE:
            owners = (known[item.holder].container, *heirs.get(item.holder, ()))
            named = [_of_pytest(index, item.holder, owner, known, docs) for owner in owners]
        elif record_of(own.language).runner == "cargo":
            modules = [known[step].name for step in around(index, item.holder) if _is_module_within(known[step])]
            named = [(selectors.of_cargo(index.root, own.path, modules[::-1], known[item.holder].name), item.holder)]
        elif record_of(own.language).runner == "junit":
            named = _of_junit(index, item.holder, heirs.get(item.holder, ()), known)
        elif record_of(own.language).runner == "phpunit" and item.holder in phpunit_tests(index):
            named = phpunit.selectors_of(index, item.holder, heirs.get(item.holder, ()))
        else:
            named = [(known[item.holder].name if record_of(own.language).tests_named_alone else own.path, item.holder)]
        for selector, at in named:
            there = docs[known[at].doc_id]
            beside = there.path.rpartition("/")[0] == own.path.rpartition("/")[0] and record_of(own.language).spreads
            yield AffectedTest(
                selector=selector,
                path=own.path if beside else there.path,
                line=records[item.holder if beside or there is own else at].record.line,
                name=records[item.holder].record.name,
                distance=item.distance,
                via=records[item.via].record.qualified_name,
                runner=record_of(there.language).runner,
                import_only=item.import_only,
                cases=cases.get(item.holder, False),
                score=round(item.score, 5),
            )


def _of_pytest(index: Index, test: int, owner: int | None, known: Scopes, docs: Mapping[int, Document]) -> tuple[str, int]:
    """The name of a test as the owner has it, its own class or module or a class that inherits it, and where that stands."""
    at = test if owner is None or owner == known[test].container else owner
    classes = [known[step].name for step in around(index, owner) if known[step].kind in TYPE_KINDS] if owner is not None else []
    return selectors.of_pytest(docs[known[at].doc_id].path, classes[::-1], known[test].name), at


def _of_junit(index: Index, test: int, heirs: Sequence[int], known: Scopes) -> list[tuple[str, int]]:
    """A test as each class that runs it has it, and where that stands; the first is its own class, if that runs it."""
    container = known[test].container
    if known[test].kind in TYPE_KINDS or container is None:
        return [(junit.selector(index, test), test)]
    idle = junit.runs_nothing(index, (container, *heirs))
    owners = [owner for owner in (container, *heirs) if owner not in idle] or [container]
    return [(junit.selector(index, owner, known[test].name), test if owner == container else owner) for owner in owners]


def _is_module_within(scope: Scope) -> bool:
    return scope.kind == SymbolKind.MODULE and scope.container is not None


# ---- completeness


def _completeness(
    index: Index,
    certificate: Certificate,
    bound: Sequence[Bound],
    read: Sequence[Part],
    *,
    has_old: bool,
    capped: bool,
    more: Sequence[Reason],
) -> Completeness:
    present = symbols_by_id(index, sorted({item.new_id for item in bound} - {-1}))
    whole = certificate.of_uses(list(present.values()), "callers", DEFINITION)
    reasons = [*whole.reasons, *more]
    former = [item for item in bound if item.changed.is_gone and item.old_id < 0]
    if former:
        detail = (
            f"{len(former)} symbols are no longer where they were, and who used them there is not known, since no index of the old side "
            "is here; to make one: --make-base"
        )
        reasons.append(_reason("base_not_indexed", detail, [item.changed.side.outline.path for item in former], count=len(former)))
    methods = [item.changed for item in bound if not has_old and item.changed.what == "signature" and _is_of_go_type(item.changed)]
    if methods:
        detail = (
            f"{len(methods)} methods are declared otherwise, and which interfaces their types satisfied before is not known, since no "
            "index of the old side is here; to make one: --make-base"
        )
        reasons.append(_reason("base_not_indexed", detail, [item.side.outline.path for item in methods], count=len(methods)))
    fresh = [item for item in bound if item.changed.new is not None and item.new_id < 0 and item.old_id < 0]
    if fresh:
        detail = f"{len(fresh)} new symbols are not in the index yet, so nothing is known of who uses them; to refresh it: lspidx index"
        reasons.append(_reason("not_indexed_yet", detail, [item.changed.side.outline.path for item in fresh], count=len(fresh)))
    unread = [item for item, old, new in read if language(item.path) and old is None and new is None and _should_be_read(item.special)]
    filtered = [item for item in unread if item.special == "filter"]
    if filtered:
        detail = (
            f"{len(filtered)} changed files pass through a filter of git's (.gitattributes: git-lfs or another), and lspidx runs none: "
            "what changed in them is not known"
        )
        reasons.append(_reason("not_read", detail, [item.path for item in filtered], count=len(filtered)))
    hidden = [item for item in unread if item.special == "hidden"]
    if hidden:
        detail = (
            f"{len(hidden)} changed files are marked for git as unchanged, and what changed in them is not known; to have them compared: "
            f"git update-index --no-assume-unchanged {shlex.quote(hidden[0].path)}, or --no-skip-worktree"
        )
        reasons.append(_reason("not_read", detail, [item.path for item in hidden], count=len(hidden)))
    unread = [item for item in unread if item.special not in ("filter", "hidden")]
    if unread:
        detail = f"{len(unread)} changed files could not be read as text of their language, so their symbols are not among these"
        reasons.append(_reason("not_read", detail, [item.path for item in unread], count=len(unread)))
    submodules = [item for item, _, _ in read if item.special == "submodule"]
    if submodules:
        detail = (
            f"{len(submodules)} submodules have changed, and what changed inside of them is not compared; in each: "
            f"lspidx -C {shlex.quote(submodules[0].path)} query changes"
        )
        reasons.append(_reason("not_read", detail, [item.path for item in submodules], count=len(submodules)))
    if capped:
        reasons.append(Reason(code="search_cut", detail="the search for tests ended early: more than can be visited depends on the change"))
    status = whole.status if whole.status == "unknown" else "partial" if reasons else "complete"
    return Completeness(status=status, reasons=reasons)


def _is_of_go_type(changed: Changed) -> bool:
    """A method of Go: what its type satisfies is written nowhere."""
    return record_of(changed.side.outline.language).satisfies == "unsaid" and changed.entity.kind == SymbolKind.METHOD


def _should_be_read(special: str) -> bool:
    """A link or a submodule has no symbols of its own; a conflict and what git calls binary may have."""
    return special not in ("symlink", "submodule")


def _reason(code: str, detail: str, paths: Sequence[str], *, count: int) -> Reason:
    return of_paths(code, detail, sorted(set(paths)), count)
