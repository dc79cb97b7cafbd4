"""What a change of the work tree, or between two commits, may break."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count, printable
from query.changes.diff import left_aside, sides, without_installed
from query.changes.review import TEST_DEPTH, AffectedTest, Ask, ChangedFile, ChangedSymbol, Review, Totals, review
from query.context import Context
from query.facts.folders import WorkspaceRoot, require_root
from query.surface.registry import tool

_SHOWN_SITES = 5
_SHOWN_TESTS = 10
_MANY_TESTS = 30


class DetectChanges(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    scope: Annotated[
        Literal["unstaged", "staged", "uncommitted", "committed"],
        msgspec.Meta(
            description="unstaged: work tree against staged; staged: staged against HEAD; uncommitted: both, as git mv and edits after it "
            "take; committed: see range, with which it is taken for said"
        ),
    ] = "unstaged"
    range: Annotated[
        str, msgspec.Meta(description="for committed: A..B, A...B (from their merge base), or one commit against its parent; default HEAD")
    ] = ""
    base: Annotated[str, msgspec.Meta(description="branch or commit: compares its merge base with head; goes before scope and range")] = ""
    head: Annotated[str, msgspec.Meta(description="with base: default HEAD; '.' for the work tree")] = ""
    workspace_root: WorkspaceRoot = ""
    make_base: Annotated[bool, msgspec.Meta(description="crawl the old side where no index of it is here, for callers of what is gone")] = (
        False
    )
    test_depth: Annotated[int, msgspec.Meta(ge=1, le=20, description="how many calls away a test may be")] = TEST_DEPTH
    tests: Annotated[Literal["likely", "all"], msgspec.Meta(description="likely: of many tests those to run where not all are")] = "likely"
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="entries shown of each list")] = 100
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer; it continues every list")] = ""


class NonTestCaller(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A place outside tests that uses a changed symbol. `name` is the caller's; `updated`: the change touches it too."""

    name: str
    file: str
    line: int
    uses: str
    relation: str
    updated: bool = False


class Changes(msgspec.Struct, kw_only=True):
    """What changed, ranked: the first symbols are those to read. `level` is the worst; `base` says where the old side's facts are from.

    tests: of more than 30 the likely ones, unless all are asked for; `totals` counts all.
    """

    compared: str
    scope: str
    level: str
    changed_files: list[str]
    changed_symbols: list[ChangedSymbol]
    non_test_callers: list[NonTestCaller]
    tests: list[AffectedTest]
    files: list[ChangedFile]
    totals: Totals
    base: str


def _text(answer: Answer[Changes], style: Style) -> Iterator[str]:
    found = answer.result
    totals = found.totals
    yield (
        f"{style.strong(found.compared)}: {count(totals.files, 'file')} (+{totals.lines_added} −{totals.lines_removed}), "
        f"{count(totals.symbols, 'symbol')}, level {style.warning(found.level) if found.level in ('critical', 'high') else found.level}"
    )
    for item in found.changed_symbols:
        renamed = f" (was {item.old_name or item.old_file})" if item.old_name or item.old_file else ""
        name = style.strong(style.name(item.qualified_name, item.file))
        place = style.place(item.file, item.line)
        test = f"  {style.dim('[test]')}" if item.is_test else ""
        yield f"{place}  {item.level}  {item.what} {style.kind(item.kind)} {name}{printable(renamed)}  risk={item.risk}{test}"
        for text in item.says if item.says != ["code of tests"] else []:
            yield f"    {style.dim(text)}"
        stale = list(item.stale())
        listed = stale if style.compact else stale[:_SHOWN_SITES]
        for site in listed:
            side = " as it was" if site.side == "old" and site.path in found.changed_files else ""
            where = f"not touched, {'test ' if site.is_test else ''}in {style.name(site.caller, site.path)}{side}"
            yield f"    {style.place(site.path, site.line)}  {printable(site.text)}  {style.dim(where)}"
        if item.stale_sites + item.stale_tests > len(listed):
            yield f"    {style.dim(f'… and {item.stale_sites + item.stale_tests - len(listed)} more')}"
    if found.tests:
        few = f", {totals.likely_tests} of them likely to notice" if totals.likely_tests < totals.tests else ""
        yield f"tests that reach it, likeliest first ({totals.tests}{few}):"
        only = found.changed_symbols[0].qualified_name if style.compact and totals.symbols == 1 and found.changed_symbols else ""
        for test in found.tests if style.compact else found.tests[:_SHOWN_TESTS]:
            via = "" if test.via == only else f", via {test.via}"
            yield f"  {style.path(test.selector)}  {style.dim(f'distance {test.distance}{via}')}"
        if not style.compact and len(found.tests) > _SHOWN_TESTS:
            listed = totals.likely_tests if answer.query.get("tests_left_out") else totals.tests
            yield f"  {style.dim(f'… and {listed - _SHOWN_TESTS} more; all of them: --json --limit {listed}')}"
        if answer.query.get("tests_left_out"):
            others = totals.tests - totals.likely_tests
            yield f"  {style.dim(f'and {others} that are less likely to: --tests all')}"


def _part(answer: Answer[Changes]) -> str:
    """Which of its lists go on."""
    found, totals = answer.result, answer.result.totals
    tests = totals.likely_tests if answer.query.get("tests_left_out") else totals.tests
    lists = (
        (len(found.changed_symbols), totals.symbols, "changed symbol"),
        (len(found.files), totals.files, "file"),
        (len(found.tests), tests, "test that reaches them" if tests == 1 else "tests that reach them"),
    )
    cut = [f"{shown} of {total} {what}" for shown, total, what in lists if shown < total]
    return f"{count(totals.symbols, 'changed symbol')}; here are {', '.join(cut) or 'some of the callers'}"


@tool(
    "detect_changes",
    parameters=DetectChanges,
    result=Changes,
    positional="",
    seldom="head workspace_root make_base test_depth tests",
    example="changes --base main",
    task="impact",
    hint="git diff what did I break pull request review risk affected tests commit staged",
    text=_text,
    part=_part,
)
def TOOL(context: Context, ask: DetectChanges) -> Answer[Changes]:
    """What a git diff changes semantically, who is affected, which callers it leaves alone, which tests reach it, and how risky it is."""
    index = context.index
    require_root(index.root, ask.workspace_root)
    if ask.range and ask.scope in ("staged", "uncommitted") and not ask.base:
        raise UsageError(f"range is for committed changes, and scope is '{ask.scope}'; to compare commits, leave scope out")
    scope = "committed" if ask.range else ask.scope
    between = sides(index.root, scope=scope, range_=ask.range, base=ask.base, head=ask.head)
    wanted = Ask(between, make_base=ask.make_base, test_depth=ask.test_depth)
    found = review(index, context.certificate, wanted, progress=context.progress)
    offset = offset_of(ask.cursor)
    page = slice(offset, offset + ask.limit)
    callers = _callers(found)
    likely = [test for test in found.tests if test.likely]
    only_likely = ask.tests == "likely" and len(found.tests) > _MANY_TESTS and 0 < len(likely) < len(found.tests)
    tests = likely if only_likely else found.tests
    longest = max(map(len, (found.symbols, callers, tests, found.files)))
    return context.answer(
        ask,
        Changes(
            compared=found.compared,
            scope="committed" if ask.base else scope,
            level=found.level,
            changed_files=[item.path for item in found.files[page]],
            changed_symbols=found.symbols[page],
            non_test_callers=callers[page],
            tests=tests[page],
            files=found.files[page],
            totals=found.totals,
            base=found.base,
        ),
        page_of(offset, ask.limit, longest).within(len(found.symbols)),
        found.completeness,
        more={"tests_left_out": len(found.tests) - len(likely)} if only_likely else {},
        beside=(without_installed if found.files else left_aside)(index.root, found.compared),
    )


def _callers(found: Review) -> list[NonTestCaller]:
    """Each caller once for each symbol that it uses; those of the worst symbols first."""
    told: dict[tuple[str, str], NonTestCaller] = {}
    for item in found.symbols:
        for site in item.affected:
            if not site.is_test and site.relation != "import":
                made = NonTestCaller(
                    name=site.caller, file=site.path, line=site.line, uses=item.qualified_name, relation=site.relation, updated=site.updated
                )
                told.setdefault((site.symbol, item.symbol), made)
    return list(told.values())
