"""Which tests exercise a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from indexer.languages import record_of
from indexer.model import Evidence, SymbolKind
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.paths import of_paths
from query.answers.style import Style, count
from query.changes.reach import inherited, tests_reaching
from query.context import Context
from query.facts.blast_radius import Holder, TestFunction, overrides_bound, test_function, test_lines, walk
from query.facts.completeness import DEFINITION
from query.facts.documents import contents, documents, documents_of_tests
from query.facts.extents import symbols_of
from query.facts.families import languages_of
from query.facts.index import Index
from query.facts.inline_tests import no_tests, test_symbols
from query.facts.names import document_path
from query.facts.scopes import modules_of, scopes
from query.facts.symbols import symbols_by_id
from query.facts.uses import Use, uses_of
from query.surface.registry import tool

Why = Literal["itself", "inline", "calls", "references", "imports", "transitive", "name", "sibling"]

_ORDER: dict[Why, int] = {"itself": 0, "inline": 0, "calls": 1, "references": 2, "imports": 3, "transitive": 4, "name": 5, "sibling": 6}


_DEEPEST = 10
_FEW = 5


class GetTestsForFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, msgspec.Meta(description="the source file")] = ""
    depth: Annotated[
        int, msgspec.Meta(ge=1, le=_DEEPEST, description="1: tests that use its symbols themselves; more: through other code")
    ] = 3
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="test files shown")] = 50
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class TestFile(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A file of tests and what speaks for it, strongest first. `functions`: nearest first.

    calls, references, imports: of the file's symbols. transitive: it uses code that uses them, `distance` steps away. name: it is
    called like the file by convention. sibling: it is in the folder where such tests are. inline: tests within the file.
    itself: the file is a test.
    """

    __test__ = False  # no test case for pytest

    path: str
    why: list[Why]
    distance: Annotated[int, msgspec.Meta(description="steps to the file's symbols; 0 where only names speak for it")] = 0
    calls: int = 0
    references: int = 0
    imports: int = 0
    functions: list[TestFunction] = []
    total_functions: int = 0


class TestsForFile(msgspec.Struct, kw_only=True):
    """`test_files` are the paths of `tests`, in their order."""

    __test__ = False

    source_file: str
    test_files: list[str]
    tests: list[TestFile]


def _text(answer: Answer[TestsForFile], style: Style) -> Iterator[str]:
    yield style.heading(answer.result.source_file)
    for test in answer.result.tests:
        numbers = [
            count(number, word)
            for number, word in ((test.calls, "call"), (test.references, "reference"), (test.imports, "import"))
            if number
        ]
        if test.distance > 1:
            numbers.append(f"{test.distance} steps away")
        is_far = style.compact and test.distance > 1 and bool(test.functions)  # an agent runs the file
        if is_far:
            numbers.append(f"{count(test.total_functions, 'function')} there")
        if not style.compact:
            yield ""
        why = style.dim(f"[{', '.join(test.why)}]")
        yield f"{style.path(test.path)}  {why} {', '.join(numbers)}".rstrip()
        if is_far:
            continue
        listed = test.functions if not style.compact else [item for item in test.functions if item.depth <= 1] or test.functions[:_FEW]
        yield from test_lines(listed, style)
        if test.total_functions > len(listed):
            further = " by way of other code" if style.compact and len(listed) < len(test.functions) else ""
            yield f"  … and {test.total_functions - len(listed)} more{further}"


@tool(
    "get_tests_for_file",
    parameters=GetTestsForFile,
    result=TestsForFile,
    positional="file_path",
    example="tests_for shortcuts.py",
    task="tests",
    hint="which tests cover exercise to run after editing a source file test mapping suite fail break",
    text=_text,
)
def TOOL(context: Context, ask: GetTestsForFile) -> Answer[TestsForFile]:
    """Test files that exercise a source file, by who really calls or imports it, then by name, each with why and its test functions."""
    index, certificate = context.index, context.certificate
    if not ask.file_path:
        raise UsageError("name the source file: file_path")
    path = document_path(index, ask.file_path)
    doc_id = contents(index, [path])[path].doc_id
    symbols = symbols_of(index, [doc_id], "all")
    modules = list(modules_of(index, [doc_id]).values())  # of a file that defines nothing, whoever imports it counts
    uses = uses_of(index, [*symbols, *modules])
    found = _by_use(index, uses)
    held, capped = walk(index, set(symbols), uses, ask.depth)
    in_tests = [item for item in held if item.uses[0].is_test]
    in_tests += _run_with(index, in_tests, ask.depth)
    _add_transitive(index, found, in_tests)
    _add_named(index, found, path)
    _add_itself(index, found, doc_id, symbols)
    if path in found and "itself" not in found[path].why and "inline" not in found[path].why:
        del found[path]
    ranked = sorted(
        found.values(), key=lambda test: (_ORDER[test.why[0]], test.distance, -test.calls, -test.references, -test.imports, test.path)
    )
    offset = offset_of(ask.cursor)
    shown = _with_functions(index, ranked[offset : offset + ask.limit], in_tests)
    on_the_way = {item.holder for item in held if not item.uses[0].is_test} - {*symbols}
    more = [
        *no_tests(index),
        *overrides_bound(index, symbols),
        *_beyond(index, symbols, uses, ask.depth, set(found), capped=capped),
        *certificate.run_from_elsewhere(on_the_way),
    ]

    def may_matter(other: str) -> bool:
        """What the file itself uses of its own leads to no other test, unless it is no longer what was read."""
        return other != path or path in certificate.drift.paths

    return context.answer(
        ask,
        TestsForFile(source_file=path, test_files=[test.path for test in shown], tests=shown),
        page_of(offset, len(shown), len(ranked)),
        certificate.of_uses(list(symbols_by_id(index, symbols or modules).values()), "callers", DEFINITION, more, within=may_matter),
        about=path,
    )


def _run_with(index: Index, held: Sequence[Holder], depth: int) -> list[Holder]:
    """Tests that run what these hold without using it: what prepares them runs before, and a class below a test's own runs the test."""
    steps = {item.holder: item.depth for item in reversed(held)}
    held_in = scopes(index, steps)
    around = {held_in[sym_id].container for sym_id in steps}  # of a function within a test it is told beside it
    further = [test for test in tests_reaching(index, steps, depth=depth).tests if not test.import_only and test.holder not in around]
    at = {test.holder: max(steps[test.via], 1) + test.distance for test in further}
    at |= {class_id: at[test] + 1 for test, class_id in inherited(index, list(at)) if class_id not in at}
    known = scopes(index, at)
    found: list[Holder] = []
    for holder, distance in sorted(at.items(), key=lambda item: (item[1], item[0])):
        scope = known[holder]
        if holder not in steps:
            place = (scope.doc_id, scope.line, scope.col, scope.col, 0)
            use = Use(holder, *place, holder, int(Evidence.INFERRED), "reference", is_test=True, dispatch=False)
            found.append(Holder(distance, holder, [use]))
    return found


def _beyond(
    index: Index, symbols: Collection[int], uses: Sequence[Use], depth: int, told: Collection[str], *, capped: bool
) -> list[Reason]:
    """Why tests may be left out that are further away than was asked for, or than can be visited."""
    if depth < _DEEPEST and not capped:
        held, capped = walk(index, set(symbols), uses, _DEEPEST)
        far = {item.uses[0].doc_id: item.depth for item in reversed(held) if item.uses[0].is_test and item.depth > depth}
        docs = documents(index, set(far))
        paths = {docs[doc_id].path: steps for doc_id, steps in far.items() if docs[doc_id].path not in told}
        if paths:
            detail = f"{count(len(paths), 'test file')} beyond {depth} steps; to see them: --depth {max(paths.values())}"
            return [of_paths("depth", detail, sorted(paths), len(paths))]
    return [Reason(code="search_cut", detail="more depends on it than can be visited: tests further away may be missing")] if capped else []


def _by_use(index: Index, uses: Sequence[Use]) -> dict[str, TestFile]:
    """Test documents that use the file's symbols themselves."""
    docs = documents(index, {use.doc_id for use in uses})
    found: dict[str, TestFile] = {}
    for use in uses:
        if use.is_test:
            test = found.setdefault(docs[use.doc_id].path, TestFile(path=docs[use.doc_id].path, why=[], distance=1))
            if use.relation == "call":
                test.calls += 1
            elif use.relation == "reference":
                test.references += 1
            else:
                test.imports += 1
    for test in found.values():
        reasons: list[tuple[Why, int]] = [("calls", test.calls), ("references", test.references), ("imports", test.imports)]
        test.why = [why for why, number in reasons if number]
    return found


def _add_transitive(index: Index, found: dict[str, TestFile], held: Sequence[Holder]) -> None:
    docs = documents(index, {item.doc_id for item in held})
    for item in held:  # nearest first
        path = docs[item.doc_id].path
        if item.depth > 1 and path not in found:
            found[path] = TestFile(path=path, why=["transitive"], distance=item.depth)


def _add_itself(index: Index, found: dict[str, TestFile], doc_id: int, symbols: Sequence[int]) -> None:
    document = documents(index, [doc_id])[doc_id]
    if document.is_test:
        found[document.path] = TestFile(path=document.path, why=["itself"])
    elif test_symbols(index, symbols) or record_of(document.language).tests_inside:
        known = found.get(document.path, TestFile(path=document.path, why=[]))
        found[document.path] = msgspec.structs.replace(known, why=["inline", *known.why])


def _with_functions(index: Index, tests: Sequence[TestFile], held: Sequence[Holder]) -> list[TestFile]:
    """These files with the functions in them that use the file's symbols, nearest first."""
    docs = documents(index, {item.doc_id for item in held})
    kinds = scopes(index, {item.holder for item in held})
    by_path: dict[str, list[Holder]] = {test.path: [] for test in tests}
    for item in held:
        path = docs[item.doc_id].path
        if path in by_path and kinds[item.holder].kind != SymbolKind.MODULE:
            by_path[path].append(item)
    for items in by_path.values():
        items.sort(key=lambda item: (item.depth, -item.sites, item.line, item.holder))
    known = symbols_by_id(index, sorted({item.holder for items in by_path.values() for item in items}))
    return [
        msgspec.structs.replace(
            test,
            functions=[test_function(index, item, known, docs) for item in by_path[test.path]],
            total_functions=len(by_path[test.path]),
        )
        for test in tests
    ]


# ---- by name


def _add_named(index: Index, found: dict[str, TestFile], path: str) -> None:
    """Tests that are called like the file, and those in the folders where the file's tests are, by the conventions of its language."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    like = re.compile(
        rf"(?:test_{re.escape(stem)}|tests_{re.escape(stem)}|{re.escape(stem)}(?:[._-](?:test|tests|spec|unittest))|{re.escape(stem)}(?:Test|Tests|Spec|IT))"
        r"(?:\.[\w.]+)?",
        re.IGNORECASE,
    )
    beside = {folder, f"{folder}/__tests__".lstrip("/")}
    tests_folders = {f"{folder}/{name}".lstrip("/") for name in ("tests", "test")}
    language = languages_of(index).get(path, "")
    rules = record_of(language)
    for other, spoken in documents_of_tests(index):
        if other == path or record_of(spoken).family != rules.family:
            continue
        where, _, called = other.rpartition("/")
        test = found.get(other)
        if like.fullmatch(called) or (called.partition(".")[0] == stem and where in {*beside, *tests_folders}):
            why: Why = "name"
        elif where in tests_folders or (where == folder and rules.tests_beside and called not in ("__init__.py", "conftest.py")):
            why = "sibling"
        else:
            continue
        if test is None:
            found[other] = TestFile(path=other, why=[why])
        elif why == "name":
            test.why.append(why)
