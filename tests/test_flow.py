"""Where functions and types flow: what the index says who calls whom against what ran, case by case (tests/corpora/flow)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from damage_support import other_content
from ecmascript_cases import cases_of
from flow_differs import FRESH, ODD, PROGRAMS, UNSEEN
from support import CORPORA, crawl_with_ty, write_tree
from traced import Differs, Edges, cases_in, python_edges

from indexer.model import Flow
from indexer.store import flow
from indexer.store.flow.found.kept import SCHEMA, Keeper
from indexer.store.flow.text.program import Program
from indexer.store.flow.values.solver import Solver
from indexer.syntax import parse
from query.facts.index import Index, open_index
from query.surface.registry import call

_BY_NAME = "the text calls the function by its name, which is told as such; what its decorator made of it runs, which is told beside it"
_COPIED = "the text names the member that is copied, which is told; in what wraps all members nobody knows which of them it is"
EXPECTED: dict[str, Differs] = {
    **PROGRAMS,
    **UNSEEN,
    **FRESH,
    **ODD,
    **{
        f"decorators_{case}": Differs(_BY_NAME, wrong={("", "a")})
        for case in (
            *("wrapper", "wrapper_with_arguments", "wraps", "with_parameters", "class_as_decorator", "two"),
            "bare_or_with_parameters",
        )
    },
    "decorators_bare_or_with_parameters_gives_an_object": Differs(_BY_NAME, wrong={("", "a"), ("", "b")}),
    "decorators_argument_of_what_many_are_put_on": Differs(
        "what a decorator is put on too often is the gap megamorphic where it is called",
        missing={("pass_context.given", "last")},
        wrong={("", "last")},
    ),
    "named_members_copied": Differs(
        _COPIED, missing={("Manager.copied.create.manager_method", "Query.first")}, wrong={("run", "Query.first")}
    ),
    "named_members_copied_by_setattr": Differs(_COPIED, missing={("handed_on.wrapper", "Query.first")}, wrong={("run", "Query.first")}),
    **{
        f"named_{case}": Differs("the server finds no attribute of that name", wrong={("Proxy.__getattr__", "Proxy.__getattr__")})
        for case in ("local_proxy", "object_setattr")
    },
    "making_set_name": Differs("told of the class, in the statement of which it runs, too", wrong={("Box", "Field.__set_name__")}),
    "making_constructor_that_a_decorator_sets": Differs(
        "a function within another that is named as a constructor is taken for one of what is decorated", wrong={("", "remember.__new__")}
    ),
}


PACKAGES = {case.name: case.files for case in cases_of(CORPORA / "flow" / "packages.cases", "python")}
CASES: dict[str, str | Mapping[str, str]] = {**cases_in(CORPORA / "flow"), **PACKAGES}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Edges]:
    """By case: who called whom when it ran."""
    return python_edges(CASES, tmp_path_factory.mktemp("flow"))


@pytest.fixture(scope="module")
def flow_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {f"{name}.py": source for name, source in CASES.items() if isinstance(source, str)}
    files |= {f"{name}/{path}": source for name, package in PACKAGES.items() for path, source in package.items()}
    root = write_tree(tmp_path_factory.mktemp("flow") / "cases", files)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="module")
def flow_index(flow_root: Path) -> Iterator[Index]:
    with open_index(flow_root) as index:
        yield index


@pytest.fixture(scope="module")
def told(flow_index: Index) -> dict[str, Edges]:
    """By case: who calls whom by the index."""
    return _told(flow_index)


def _told(index: Index) -> dict[str, Edges]:
    rows = index.rows("""
        SELECT split_part(d.module, '.', 1), a.qualified_name, b.qualified_name
        FROM call_in c JOIN symbol a ON a.sym_id = c.caller JOIN symbol b ON b.sym_id = c.callee JOIN document d ON d.doc_id = c.doc_id
        WHERE NOT has_flag(b.flags, 'external') AND (is_callable(b.kind) OR is_kind(b.kind, 'property'))
    """)
    found: dict[str, Edges] = {}
    for case, caller, callee in rows:
        found.setdefault(case, set()).add((_within(case, caller), _within(case, callee)))
    return found


def _within(case: str, name: str) -> str:
    """A qualified name as the run has it: of a package what stands in `main` has no name of that."""
    own = name.removeprefix(case).lstrip(".")
    return own.removeprefix("main").lstrip(".") if case in PACKAGES and own.partition(".")[0] == "main" else own


@pytest.mark.parametrize("case", CASES)
def test_what_ran_is_what_the_index_says(told: dict[str, Edges], ran: dict[str, Edges], case: str) -> None:
    assert ran[case], "a case that calls nothing tells nothing"
    expected = EXPECTED.get(case, Differs(""))
    edges = told.get(case, set())
    assert ran[case] - edges == expected.missing
    assert edges - ran[case] == expected.wrong


def test_what_differs_is_a_case(flow_index: Index) -> None:
    assert EXPECTED.keys() <= CASES.keys()
    assert len(CASES) >= 60


def test_what_is_only_possible_is_told_when_it_is_asked_for(flow_index: Index) -> None:
    """It is no caller by default."""
    asked = {"symbol": "idioms_operators_on_what_may_be_of_two_types.A.__str__", "direction": "incoming"}
    assert call(flow_index, "callers", asked).result == []
    edges = call(flow_index, "callers", {**asked, "evidence": ["possible_flow"]}).result
    assert [(edge.symbol.name, site.evidence, site.via) for edge in edges for site in edge.sites] == [
        ("shown", "possible_flow", "inferred_type")
    ]


@pytest.mark.parametrize(
    ("symbol", "caller", "via"),
    [
        ("functions_argument_by_place.a", "run", "argument"),
        ("functions_returned_function.a", "functions_returned_function", "returned"),
        ("functions_stored_global.a", "fire", "stored"),
        ("containers_dict_by_constant.b", "run", "container"),
        ("decorators_wrapper.deco.wrapper", "decorators_wrapper", "decorated"),
        ("classes_attribute_callback.a", "fire", "attribute"),
        ("classes_receiver_by_argument.A.go", "run", "inferred_type"),
    ],
)
def test_a_caller_says_how_the_function_came_there(flow_index: Index, symbol: str, caller: str, via: str) -> None:
    edges = call(flow_index, "callers", {"symbol": symbol, "direction": "incoming", "values": False}).result
    assert (caller, "flow", via) in {(edge.symbol.name, site.evidence, site.via) for edge in edges for site in edge.sites}


def test_a_site_that_was_followed_to_is_still_a_gap(flow_index: Index) -> None:
    """Flow adds rows and takes no doubt away: something else may come there by ways that have no rows."""
    answer = call(flow_index, "callers", {"symbol": "classes_receiver_by_argument.A.go", "direction": "incoming"})
    assert [edge.symbol.name for edge in answer.result] == ["run"]
    assert "unresolved_same_name" in {reason.code for reason in answer.completeness.reasons}
    references = call(flow_index, "references", {"symbol": "classes_receiver_by_argument.A.go", "possible": True}).result
    places = [(item.path, item.line, item.col) for item in references if item.evidence in ("flow", "possible")]
    assert len(places) == len(set(places))
    assert ("classes_receiver_by_argument.py", 5) in {place[:2] for place in places}


def test_what_classes_below_a_test_set_each_runs_in_it(tmp_path: Path) -> None:
    """Sure of all, where the class leaves the attribute empty. Elsewhere, and in what is no test, classes below are not asked."""
    mixin = """\
from caches import A, B
class Mixin:
    Cache = None
    Other = A
    def test_it(self):
        cache = self.Cache()
        cache.go()
        cache[1]
        self.Other()
class TestA(Mixin):
    Cache = A
class TestB(Mixin):
    Cache = Other = B
"""
    classes = "".join(f"class {name}:\n    def go(self): pass\n    def __getitem__(self, key): pass\n" for name in "AB")
    root = write_tree(tmp_path / "tree", {"caches.py": classes, "test_caches.py": mixin, "plain.py": mixin.replace("test_it", "run")})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        found = index.rows("SELECT path, line, regexp_extract(callee, '/([^/]+)$', 1) FROM calls WHERE evidence = 'flow' ORDER BY ALL")
        possible = index.rows("SELECT path, line, callee FROM possible_calls WHERE evidence = 'possible_flow' ORDER BY ALL")
    assert [row for row in found if row[0] == "test_caches.py"] == [
        ("test_caches.py", line, f"{name}#{member}") for line, member in ((5, ""), (6, "go()."), (7, "__getitem__().")) for name in "AB"
    ] + [("test_caches.py", 8, "A#")]
    assert [row for row in found if row[0] == "plain.py"] == [("plain.py", 8, "A#")]
    assert possible == []


def test_a_table_of_many_functions_gives_each_of_them_what_it_is_called_with(tmp_path: Path) -> None:
    """Who is called there is a gap; what the parameters are is none. Also by way of a copy, and where it holds itself."""
    functions = "".join(f"def f{number}(x, y):\n    x.go()\n    return y\n" for number in range(40))
    table = ", ".join(f"'{number}': f{number}" for number in range(40))
    files = {
        "by_get.py": f"class A:\n    def go(self): pass\n{functions}table = {{{table}}}\n"
        "class Box:\n    def __init__(self, given): self.given = dict(given)\n"
        "    def run(self, key, y): return self.given.get(key)(A(), y)\n"
        "Box(table).run(input(), 1)\n",
        "by_loop.py": f"class A:\n    def go(self): pass\n{functions}"
        f"table = [{', '.join(f'f{number}' for number in range(40))}]\n"
        "table.append(table)\nother = [table, *table]\ntable[0] = other\nfor f in other: f(A(), 1)\n",
    }
    root = write_tree(tmp_path / "tree", files)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        found = index.rows("SELECT path, count(DISTINCT caller) FROM calls WHERE callee LIKE '%A#go().' GROUP BY path ORDER BY path")
        gaps = index.rows("SELECT DISTINCT path FROM flow_gaps WHERE reason = 'megamorphic' ORDER BY path")
    assert found == [("by_get.py", 40), ("by_loop.py", 40)]
    assert gaps == [("by_get.py",), ("by_loop.py",)]


HANDLERS = """\
def one(): pass
def two(): pass
def make(): return Part()
class Part:
    def go(self): pass
"""
USES = """\
from handlers import make, one
def run(f): f()
run(one)
def main(): make().go()
"""


def _flow_of(root: Path) -> list[tuple[object, ...]]:
    with open_index(root) as index:
        return [
            *index.rows("SELECT * FROM calls ORDER BY ALL"),
            *index.rows("SELECT * FROM possible_calls ORDER BY ALL"),
            *index.rows("SELECT * FROM flow_gaps ORDER BY ALL"),
            *index.rows("SELECT * FROM occurrences ORDER BY ALL"),
        ]


def test_an_edit_leads_to_the_rows_of_a_crawl_from_nothing(tmp_path: Path) -> None:
    """The file that uses is not read anew: its rows are its own, and what they lead to is found out in each merge."""
    root = write_tree(tmp_path / "tree", {"handlers.py": HANDLERS, "uses.py": USES})
    crawl_with_ty(root, jobs=1)
    before = _flow_of(root)
    edited = HANDLERS.replace("return Part()", "return Other()") + "class Other:\n    def go(self): pass\n"
    (root / "handlers.py").write_text(edited)
    crawl_with_ty(root, jobs=1)
    clean = write_tree(tmp_path / "clean" / "tree", {"handlers.py": edited, "uses.py": USES})
    crawl_with_ty(clean, jobs=2)
    after = _flow_of(root)
    assert after == _flow_of(clean)
    assert any("Other#go" in str(row) and "flow" in row for row in after)
    assert not any("Other#go" in str(row) for row in before)


def _edit_and_count(root: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often values are followed in the crawl after an edit."""
    count = 0
    solve = flow.solve

    def counting(program: Program) -> Solver:
        nonlocal count
        count += 1
        return solve(program)

    with monkeypatch.context() as patch:
        patch.setattr(flow, "solve", counting)
        (root / name).write_text(text)
        crawl_with_ty(root, jobs=1)
    return count


def test_an_edit_that_changes_nothing_for_values_takes_what_was_found_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines move, constants change, and a local variable of nothing that flows comes in: rows are still those of a crawl from nothing."""
    root = write_tree(tmp_path / "tree", {"handlers.py": HANDLERS, "uses.py": USES})
    crawl_with_ty(root, jobs=1)
    edited = "# a line more\n" + HANDLERS.replace("def two(): pass", "def two():\n    number = 3\n    return 4")
    assert _edit_and_count(root, "handlers.py", edited, monkeypatch) == 0
    clean = write_tree(tmp_path / "clean" / "tree", {"handlers.py": edited, "uses.py": USES})
    crawl_with_ty(clean, jobs=2)
    assert _flow_of(root) == _flow_of(clean)
    changed = edited.replace("return Part()", "return one")
    assert _edit_and_count(root, "handlers.py", changed, monkeypatch) == 1


@pytest.mark.parametrize("damage", [b"", b"nothing of ours", b"0" * 64 + b"rows"])
def test_a_kept_result_that_is_not_what_was_written_is_made_anew(tmp_path: Path, damage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_tree(tmp_path / "tree", {"handlers.py": HANDLERS, "uses.py": USES})
    crawl_with_ty(root, jobs=1)
    (root / ".lspidx" / "flow.arrow").write_bytes(damage)
    assert _edit_and_count(root, "handlers.py", HANDLERS + "# a line more\n", monkeypatch) == 1
    assert any("flow" in row for row in _flow_of(root))


def test_no_damage_of_a_kept_result_passes_for_whole(tmp_path: Path) -> None:
    """Nor one about other inputs; and what is not this user's never reaches Arrow's reader, whatever types it holds."""
    keeper = Keeper(tmp_path / "flow.arrow", "recipe")
    table = pa.table({name: pa.array([None] * 50, field.type) for name, field in zip(SCHEMA.names, SCHEMA, strict=True)}, schema=SCHEMA)
    keeper.write("digest", table)
    content = keeper.path.read_bytes()
    assert keeper.read("digest") == table
    assert keeper.read("another digest") is None
    for number in range(400):
        made, _ = other_content(content, [content[:64], content[64:], b"{}"], random.Random(number))
        keeper.path.write_bytes(made)
        assert (keeper.read("digest") is None) == (made != content), number


def test_a_kept_result_of_a_stranger_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sealed with another secret, of extension types and of too many rows: it is not even opened."""
    keeper = Keeper(tmp_path / "flow.arrow", "recipe")
    with monkeypatch.context() as patch:
        patch.setenv("LSPIDX_STATE_DIR", str(tmp_path / "stranger"))
        keeper.write("digest", pa.table({"what": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))}))
    assert keeper.path.stat().st_size > 64
    monkeypatch.setattr(pa.ipc, "open_stream", lambda rows: pytest.fail("a stranger's rows were read"))
    assert keeper.read("digest") is None


def test_a_long_literal_has_few_rows() -> None:
    source = "def f(): pass\ntable = {" + ", ".join(f"{number}: f" for number in range(100_000)) + "}\n"
    rows = parse("python", "a.py", source.encode(), "a").flows
    assert rows.kind[-1] == Flow.CUT
    assert len(rows) < 1_100


def test_what_is_too_much_is_a_gap_with_its_name(tmp_path: Path) -> None:
    """Many targets, a long literal, deep nesting, and what inherits or calls itself: none keeps the index from being made."""
    many = "".join(f"def f{number}(): pass\n" for number in range(20))
    names = ", ".join(f"f{number}" for number in range(20))
    nested = "x = " + "g(" * 300 + "1" + ")" * 300 + "\n"
    files = {
        "many.py": f"{many}def run(fs):\n    for f in fs: f()\nrun([{names}])\n",
        "long.py": "def f(): pass\ntable = {" + ", ".join(f"{number}: f" for number in range(1_500)) + "}\n",
        "deep.py": f"def g(x): return x\n{nested}",
        "turning.py": """\
class A:
    def __init__(self): self.__call__ = self
    def __iter__(self): return self
    def __next__(self): return self
class A(A): pass
def deco(f): return deco(deco)
@deco
def a(x): return a(a)
f = a
for f in A(): f = f(f)
def twice(f):
    from functools import partial
    while True: f = partial(f, f)
twice(a)(a)
A()()()
""",
    }
    root = write_tree(tmp_path / "tree", files)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        gaps = set(index.rows("SELECT path, reason FROM flow_gaps"))
        called = index.rows("SELECT callee FROM calls WHERE path = 'many.py' AND evidence = 'flow' AND caller LIKE '%/run().'")
    assert gaps >= {("many.py", "megamorphic"), ("long.py", "cut"), ("deep.py", "cut")}
    assert called == []
