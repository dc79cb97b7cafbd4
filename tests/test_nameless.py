"""Calls that have no name where they stand: the member that runs has an edge where the type is known, and a gap where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import VIEWS, crawl_with_ty, rows, write_tree

from indexer.languages import LANGUAGES
from indexer.model import Operation
from query import api
from query.facts.index import Index, open_index

LIB = """
import contextlib
from dataclasses import dataclass
from typing import NamedTuple


class Lazy:
    def __getattr__(self, name):
        return 1


settings = Lazy()


class Box:
    def __init__(self):
        self.items = []

    def __enter__(self):
        return self

    def __exit__(self, *a):
        return None

    def __iter__(self):
        return self

    def __next__(self):
        return 1

    def __getitem__(self, k):
        return k

    def __setitem__(self, k, v):
        pass

    def __delitem__(self, k):
        pass

    def __contains__(self, k):
        return True

    def __len__(self):
        return 1

    def __bool__(self):
        return True

    def __str__(self):
        return ""

    def __format__(self, s):
        return ""

    def __eq__(self, o):
        return True

    def __hash__(self):
        return 1

    def __iadd__(self, o):
        return self

    def __call__(self):
        return 1

    def __del__(self):
        pass

    def __setattr__(self, k, v):
        pass


class Sub(Box):
    def __getitem__(self, k):
        return 2


class Descr:
    def __get__(self, o, t=None):
        return 1

    def __set__(self, o, v):
        pass

    def __set_name__(self, o, n):
        pass


class Owner:
    field = Descr()

    def _get_x(self):
        return 1

    def _set_x(self, v):
        pass

    x = property(_get_x, _set_x)


class Oops(Exception):
    def __init__(self):
        super().__init__("x")


@dataclass
class Point:
    x: int

    def __post_init__(self):
        pass


class Base:
    def __init_subclass__(cls):
        pass


class Child(Base):
    pass


class AIter:
    def __aiter__(self):
        return self

    async def __anext__(self):
        return 1

    async def __aenter__(self):
        return self

    async def __aexit__(self, *a):
        pass

    def __await__(self):
        yield


class Gen:
    def __class_getitem__(cls, k):
        return cls


def make():
    return Box()


def maybe(flag):
    if flag:
        return None
    box = make()
    return box


class Shelf:
    def __init__(self):
        self.box = make()

    @property
    def top(self):
        return self.box
"""

USE = """
import lib
from lib import AIter, Box, Child, Gen, Oops, Owner, Point, Shelf, make, maybe, settings


def direct():
    with Box() as b:
        pass
    for i in Box():
        pass
    b = Box()
    b[1]
    b[1] = 2
    del b[1]
    1 in b
    len(b)
    not b
    f"{b}"
    "%s" % b
    "{}".format(b)
    b == 1
    b += 1
    b()
    b.attr = 1


def through_results():
    with make() as m:
        pass
    make()[1]
    box = make()
    box[2]
    maybe(1)[3]
    Shelf().box[4]
    s = Shelf()
    s.top[5]
    s.box[6]


def fields(o: Owner):
    o.field
    o.field = 1
    o.x
    o.x = 2


def raising():
    raise Oops


def raising2():
    raise lib.Oops from None


def building():
    return Point(1)


async def asyncs(a: AIter):
    async for x in a:
        pass
    async with a:
        pass
    await a


def unknown(q):
    q["k"]
    for i in q:
        pass


def classes():
    Gen[int]
    settings.DEBUG


def star(b: Box):
    x, y = b
    [*b]
    print(*b)
    yield from b


def narrowed(q):
    if isinstance(q, list):
        for x in q:
            pass
    elif isinstance(q, Box):
        q[1]
    else:
        q[2]


def many(boxes: list[Box]):
    for box in boxes:
        box[7]
    boxes[0][8]
    [b[9] for b in boxes]
    {k: v[10] for k, v in {1: Box()}.items()}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write_tree(tmp_path_factory.mktemp("nameless") / "work", {"lib.py": LIB, "use.py": USE})
    crawl_with_ty(root)
    with open_index(root) as opened:
        yield opened


def callers(index: Index, name: str) -> set[str]:
    """`function: text` of each call."""
    answer = api.find_callers(index, name, direction="incoming")
    return {f"{edge.symbol.name}: {site.text.strip()}" for edge in answer.result for site in edge.sites}


def gap(index: Index, name: str) -> int:
    """How many operations may run it too."""
    reasons = api.find_callers(index, name, direction="incoming").completeness.reasons
    return sum(reason.count for reason in reasons if reason.code == "nameless_calls" and reason.paths)


@pytest.mark.parametrize(
    ("member", "written"),
    [
        ("Box.__enter__", "with Box() as b:"),
        ("Box.__exit__", "with Box() as b:"),
        ("Box.__iter__", "for i in Box():"),
        ("Box.__next__", "for i in Box():"),
        ("Box.__getitem__", "b[1]"),
        ("Box.__setitem__", "b[1] = 2"),
        ("Box.__delitem__", "del b[1]"),
        ("Box.__contains__", "1 in b"),
        ("Box.__len__", "len(b)"),
        ("Box.__bool__", "not b"),
        ("Box.__format__", 'f"{b}"'),
        ("Box.__format__", '"{}".format(b)'),
        ("Box.__str__", '"%s" % b'),
        ("Box.__eq__", "b == 1"),
        ("Box.__iadd__", "b += 1"),
        ("Box.__setattr__", "b.attr = 1"),
    ],
)
def test_an_operation_on_a_value_of_known_type_is_a_call_of_the_member(index: Index, member: str, written: str) -> None:
    assert f"direct: {written}" in callers(index, f"lib.{member}")


@pytest.mark.parametrize("written", ["make()[1]", "box[2]", "maybe(1)[3]", "Shelf().box[4]", "s.top[5]", "s.box[6]"])
def test_the_type_is_known_through_functions_without_annotations_variables_and_properties(index: Index, written: str) -> None:
    assert f"through_results: {written}" in callers(index, "lib.Box.__getitem__")


@pytest.mark.parametrize("written", ["box[7]", "boxes[0][8]", "[b[9] for b in boxes]", "{k: v[10] for k, v in {1: Box()}.items()}"])
def test_the_type_is_known_of_items(index: Index, written: str) -> None:
    assert f"many: {written}" in callers(index, "lib.Box.__getitem__")


@pytest.mark.parametrize(
    ("member", "call"),
    [
        ("Descr.__get__", "fields: o.field"),
        ("Descr.__set__", "fields: o.field = 1"),
        ("Descr.__set_name__", "Owner: field = Descr()"),
        ("Owner._get_x", "fields: o.x"),
        ("Owner._set_x", "fields: o.x = 2"),
        ("Oops.__init__", "raising: raise Oops"),
        ("Oops.__init__", "raising2: raise lib.Oops from None"),
        ("Point.__post_init__", "building: return Point(1)"),
        ("Base.__init_subclass__", "lib: class Child(Base):"),
        ("AIter.__aiter__", "asyncs: async for x in a:"),
        ("AIter.__anext__", "asyncs: async for x in a:"),
        ("AIter.__aenter__", "asyncs: async with a:"),
        ("AIter.__await__", "asyncs: await a"),
        ("Gen.__class_getitem__", "classes: Gen[int]"),
        ("Lazy.__getattr__", "classes: settings.DEBUG"),
        ("Box.__iter__", "star: x, y = b"),
        ("Box.__iter__", "star: [*b]"),
        ("Box.__iter__", "star: print(*b)"),
        ("Box.__iter__", "star: yield from b"),
    ],
)
def test_protocols_of_the_language_are_calls(index: Index, member: str, call: str) -> None:
    assert call in callers(index, f"lib.{member}")


def test_a_value_of_unknown_type_is_a_gap_for_the_members_that_the_operation_could_run(index: Index) -> None:
    assert gap(index, "lib.Box.__getitem__") == 2, "q['k'] and the last arm of `narrowed`"
    assert gap(index, "lib.Box.__iter__") >= 1
    assert gap(index, "lib.Box.__enter__") == 0, "every `with` is of a known type"
    assert gap(index, "lib.make") == 0, "no operation runs it"


def test_a_test_of_the_type_tells_the_one_branch_and_leaves_the_other(index: Index) -> None:
    assert "narrowed: q[1]" in callers(index, "lib.Box.__getitem__")
    assert "narrowed: q[2]" not in callers(index, "lib.Box.__getitem__")


def test_what_the_language_runs_by_itself_is_said(index: Index) -> None:
    for member in ("__del__", "__hash__", "__eq__"):
        answer = api.find_callers(index, f"lib.Box.{member}", direction="incoming")
        assert any("by the language" in reason.detail for reason in answer.completeness.reasons), member


def test_builtin_values_are_no_gap(tmp_path: Path) -> None:
    """Lists, texts, results of the standard library: none of them runs a member of the workspace."""
    source = """
import os


class Own:
    def __getitem__(self, key):
        return key

    def __iter__(self):
        return iter(())


def local(path: str, *args, **kwargs):
    names = []
    for name in os.listdir(path):
        names[0] = name
    for text in path.split("/"):
        text[0]
    kwargs["a"]
    args[0]
    "abc"[0]
    {}["x"]
    sorted(names)[0]
"""
    root = write_tree(tmp_path / "work", {"a.py": source})
    crawl_with_ty(root)
    with open_index(root) as opened:
        assert api.find_callers(opened, "Own.__getitem__", direction="incoming").completeness.status == "complete"
        assert api.find_callers(opened, "Own.__iter__", direction="incoming").completeness.status == "complete"


def test_a_type_variable_and_an_abstract_type_of_the_library_are_of_no_known_type(tmp_path: Path) -> None:
    source = """
from contextlib import AbstractContextManager
from typing import Any, TypeVar

T = TypeVar("T")


class Own(AbstractContextManager):
    def __getitem__(self, key):
        return key

    def __enter__(self):
        return self

    def __exit__(self, *told):
        return None


def variable(x: T, y: Any, z: object, w: "AbstractContextManager[int]") -> T:
    x[0]
    y[0]
    z[0]
    with w:
        pass
    return x
"""
    root = write_tree(tmp_path / "work", {"a.py": source})
    crawl_with_ty(root)
    with open_index(root) as opened:
        assert gap(opened, "Own.__getitem__") == 3
        assert gap(opened, "Own.__enter__") == 1


def test_a_function_that_gives_another_type_now_moves_the_edge_as_a_crawl_of_everything_does(tmp_path: Path) -> None:
    files = {"lib.py": LIB, "use.py": USE}
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root)
    changed = {**files, "lib.py": LIB.replace("    return Box()\n", "    return Sub()\n", 1)}
    write_tree(root, changed)
    refreshed = crawl_with_ty(root)
    with open_index(root) as opened:
        assert "through_results: make()[1]" in callers(opened, "lib.Sub.__getitem__")
    clean = crawl_with_ty(write_tree(tmp_path / "clean" / "work", changed))
    for view in VIEWS:
        statement = f"SELECT * FROM {view} ORDER BY ALL"
        assert rows(refreshed.generation, statement) == rows(clean.generation, statement), view


def test_languages_name_operations_that_there_are() -> None:
    for language in LANGUAGES:
        assert {word for word, _ in language.operations} <= {operation.label for operation in Operation}
