"""`call_flow`: the calls in the order of the text, each with what is below it, and nothing dropped that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_support import Ask
from support import Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import AmbiguousName, UsageError
from query.answers.envelope import Answer
from query.answers.style import Style
from query.facts.index import Index, open_index
from query.surface.registry import call, load
from query.tools.call_flow import Step

pytest_plugins = ["query_fixtures"]

FILES = {
    "flow.py": """import os
from shapes import Shape, make


def first() -> int:
    return leaf()


def leaf() -> int:
    return 1


def ping(count: int) -> int:
    return pong(count)


def pong(count: int) -> int:
    return ping(count - 1)


def main(thing) -> int:
    leaf(first())
    thing.render()
    shape = make()
    shape.area()
    if os.getcwd():
        first()
    return ping(2)


def held(function) -> int:
    return function()


def indexed(thing) -> int:
    leaf()
    return thing[0]


class Keyed:
    def __getitem__(self, key: int) -> int:
        return leaf()


LIMIT = 3


def nothing() -> None:
    pass
""",
    "shapes.py": """class Shape:
    def __init__(self) -> None:
        self.setup()

    def setup(self) -> None:
        pass

    def area(self) -> int:
        raise NotImplementedError


class Square(Shape):
    def area(self) -> int:
        return 4


class Circle(Shape):
    def area(self) -> int:
        return 3


def make() -> Shape:
    return Shape()
""",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("flow") / "flow", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="module")
def index(root: Path) -> Iterator[Index]:
    with open_index(root) as index:
        yield index


def name(step: Step) -> str:
    return step.symbol.qualified_name.rpartition(".")[2] if step.symbol else f"{step.name}?"


def tree(answer: Answer[list[Step]]) -> list[tuple[int, str]]:
    return [(step.depth, name(step)) for step in answer.result]


def text(answer: Answer[list[Step]]) -> str:
    return "\n".join(load("call_flow")[0].text(answer, Style(compact=True)))


def codes(answer: Answer[list[Step]]) -> set[str]:
    return {reason.code for reason in answer.completeness.reasons}


def test_calls_stand_in_the_order_of_the_text_with_what_they_call_below(index: Index) -> None:
    assert tree(call(index, "call_flow", {"symbol": "flow.main", "external": False})) == [
        (1, "leaf"),
        (1, "first"), (2, "leaf"),
        (1, "render?"),
        (1, "make"), (2, "__init__"), (3, "setup"),
        (1, "area"),
        (1, "first"),
        (1, "ping"), (2, "pong"), (3, "ping"),
    ]  # fmt: skip


def test_each_step_has_the_place_of_its_call(index: Index) -> None:
    steps = call(index, "call_flow", {"symbol": "flow.main"}).result
    [render] = [step for step in steps if step.name == "render"]
    assert (render.path, render.line, render.col, render.text, render.evidence) == ("flow.py", 23, 11, "thing.render()", "unresolved")
    [made] = [step for step in steps if name(step) == "__init__"]
    assert (made.path, made.line, made.symbol and made.symbol.path) == ("shapes.py", 23, "shapes.py")
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))


def test_what_was_shown_before_is_not_shown_again(index: Index) -> None:
    steps = call(index, "call_flow", {"symbol": "flow.main", "external": False}).result
    one, again = [step for step in steps if name(step) == "first"]
    assert (one.mark, again.mark, again.same_as, again.calls) == ("", "repeated", one.number, 1)
    assert f"[as #{one.number}]" in text(call(index, "call_flow", {"symbol": "flow.main", "external": False}))


def test_recursion_ends_and_is_said(index: Index) -> None:
    steps = call(index, "call_flow", {"symbol": "flow.ping", "depth": 20}).result
    assert [(name(step), step.mark) for step in steps] == [("pong", ""), ("ping", "recursive")]


def test_members_that_override_the_called_one_are_candidates(index: Index) -> None:
    answer = call(index, "call_flow", {"symbol": "flow.main"})
    [area] = [step for step in answer.result if name(step) == "area"]
    assert [other.qualified_name for other in area.candidates] == ["shapes.Square.area", "shapes.Circle.area"]
    assert "or Square.area, Circle.area" in text(answer)


def test_what_lies_outside_is_said_and_may_be_left_out(index: Index) -> None:
    answer = call(index, "call_flow", {"symbol": "flow.main"})
    assert [(name(step), step.mark) for step in answer.result if step.line == 26 and step.depth == 1] == [("getcwd", "outside")]
    assert "getcwd" not in text(call(index, "call_flow", {"symbol": "flow.main", "external": False}))


def test_a_class_is_called_by_its_constructor(index: Index) -> None:
    assert tree(call(index, "call_flow", {"symbol": "shapes.Square"})) == [(1, "__init__"), (2, "setup")]


def test_a_missing_callee_makes_it_partial(index: Index) -> None:
    """A member of a value without a type, one that a value holds, one that a sign runs: and none where each call is known."""
    assert "unresolved_calls" in codes(call(index, "call_flow", {"symbol": "flow.main"}))
    assert "called_values" in codes(call(index, "call_flow", {"symbol": "flow.held"}))
    assert "nameless_calls" in codes(call(index, "call_flow", {"symbol": "flow.indexed"}))
    assert call(index, "call_flow", {"symbol": "flow.ping"}).completeness.status == "complete"
    assert call(index, "call_flow", {"symbol": "flow.nothing"}).completeness.status == "complete"
    assert call(index, "call_flow", {"symbol": "flow.nothing"}).result == []


def test_a_name_that_may_be_an_accessor_makes_it_partial(tmp_path: Path) -> None:
    text = "class Item:\n    @property\n    def gross(self) -> int:\n        return 1\n\n\ndef f(thing) -> int:\n    return thing.gross\n"
    root = write_tree(tmp_path / "accessor", {"m.py": text + "\n\ndef g(item: Item) -> int:\n    return item.gross\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        assert codes(call(index, "call_flow", {"symbol": "m.f"})) == {"unresolved_accessors"}
        known = call(index, "call_flow", {"symbol": "m.g"})
    assert (tree(known), known.completeness.status) == ([(1, "gross")], "complete")


def test_a_member_that_others_override_names_them_first(index: Index) -> None:
    assert text(call(index, "call_flow", {"symbol": "Shape.area"})).startswith(
        "shapes.Shape.area  shapes.py  [or Square.area, Circle.area]"
    )


def test_what_has_no_text_to_read_is_refused(index: Index) -> None:
    with pytest.raises(UsageError, match="outside the workspace"):
        call(index, "call_flow", {"symbol": "os.getcwd"})
    with pytest.raises(UsageError, match="name a function"):
        call(index, "call_flow", {"symbol": "flow.LIMIT"})


def test_a_missing_callee_below_makes_it_partial_as_far_as_it_is_shown(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "deep", {"m.py": "def low(x):\n    x.go()\n\n\ndef high(x) -> None:\n    low(x)\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        assert call(index, "call_flow", {"symbol": "m.high", "depth": 1}).completeness.status == "complete"
        assert codes(call(index, "call_flow", {"symbol": "m.high", "depth": 2})) == {"unresolved_calls"}


def test_a_changed_file_makes_it_partial(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "stale", {"a.py": "from b import g\n\n\ndef f() -> int:\n    return g()\n", "b.py": "def g() -> int:\n    return 1\n"}
    )
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        assert call(index, "call_flow", {"symbol": "a.f"}).completeness.status == "complete"
    (root / "b.py").write_text("def h() -> int:\n    return 2\n\n\ndef g() -> int:\n    return h()\n", encoding="utf-8")
    with open_index(root) as index:
        assert call(index, "call_flow", {"symbol": "a.f"}).completeness.status == "partial"


@given(limit=st.integers(1, 30), depth=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_the_limit_takes_depth_and_never_a_call_of_the_function_itself(index: Index, limit: int, depth: int) -> None:
    whole = call(index, "call_flow", {"symbol": "flow.main", "depth": 1, "limit": 2_000}).result
    answer = call(index, "call_flow", {"symbol": "flow.main", "depth": depth, "limit": limit})
    assert len(answer.result) <= limit
    assert answer == call(index, "call_flow", {"symbol": "flow.main", "depth": depth, "limit": limit})
    own = [(step.line, step.col) for step in answer.result if step.depth == 1]
    assert own == [(step.line, step.col) for step in whole][: len(own)]
    assert len(own) == min(limit, len(whole))
    if any(step.mark == "limit" for step in answer.result) and answer.next_cursor is None:
        assert answer.truncated
        assert "search_bound" in codes(answer)


def test_own_calls_beyond_the_limit_are_on_the_next_page(index: Index) -> None:
    first = call(index, "call_flow", {"symbol": "flow.main", "limit": 3})
    second = call(index, "call_flow", {"symbol": "flow.main", "limit": 3, "cursor": first.next_cursor})
    assert [step.number for step in (*first.result, *second.result)] == [1, 2, 3, 4, 5, 6]


def test_an_ambiguous_name_gives_candidates(shop: Index) -> None:
    with pytest.raises(AmbiguousName) as caught:
        call(shop, "call_flow", {"symbol": "helper"})
    assert len(caught.value.candidates) == 2


def test_the_shop_reads_like_its_code(ask: Ask) -> None:
    assert [line.split("  [")[0].rstrip() for line in text(ask("flow", symbol="shop.service.stock", external=False)).split("\n")] == [
        "shop.service.stock  shop/service.py",
        "  36  Item.__init__  → shop/models.py:28",
        "  37  Plain  → shop/models.py:45",
        "  37  Plain.run  → shop/models.py:46",
        "  38  Base.save  → shop/models.py:12",
        "    13  Base.describe  → shop/models.py:9",
        "    13  Priced.describe  → shop/models.py:17",
        "  39  show  → shop/service.py:31",
        "    32  Base.describe  → shop/models.py:9",
        "    32  Priced.describe  → shop/models.py:17",
    ]


# ---- other languages

OTHERS = {
    "tsconfig.json": '{"compilerOptions": {"strict": true}, "include": ["*.ts"]}\n',
    "a.ts": """interface Shape { area(): number }
class Square implements Shape { constructor(private side: number) { check(side) } area(): number { return this.side } }
class Circle implements Shape { area(): number { return 3 } }
function check(side: number): void {}
function second(x: number): number { return x }
export function main(shape: Shape): number {
    const made = new Square(second(2))
    check(1)
    return shape.area() + made.area()
}
""",
    "go.mod": "module example.org/flow\n\ngo 1.22\n",
    "b.go": """package flow

type Runner interface{ Run() int }
type One struct{}

func (o One) Run() int { return helper() }

func helper() int { return 1 }

func Main(r Runner) int {
	defer helper()
	x := r.Run()
	return x + One{}.Run()
}
""",
}


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    requires("ts7", "gopls")
    root = write_tree(tmp_path_factory.mktemp("others") / "others", OTHERS)
    crawl(root, Config(jobs=1), Watcher(), environment={})
    with open_index(root) as index:
        yield index


def test_typescript_in_order_with_constructors_and_candidates(others: Index) -> None:
    answer = call(others, "call_flow", {"symbol": "a.main"})
    assert [(step.depth, name(step)) for step in answer.result if step.mark != "outside"] == [
        (1, "constructor"), (2, "check"), (1, "second"), (1, "check"), (1, "area"), (1, "area"),
    ]  # fmt: skip
    [through, _] = [step for step in answer.result if name(step) == "area"]
    assert {other.qualified_name for other in through.candidates} == {"a.Square.area", "a.Circle.area"}


def test_go_in_order_with_what_fits_an_interface(others: Index) -> None:
    answer = call(others, "call_flow", {"symbol": "b.Main"})
    assert tree(answer) == [(1, "helper"), (1, "Run"), (1, "Run"), (2, "helper")]
    assert [[other.qualified_name for other in step.candidates] for step in answer.result if step.depth == 1] == [[], ["b.One.Run"], []]
