"""A removal that would give what stands behind another number, value or field is refused, though nothing names what is removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import crawl_with_ty, write_tree
from toolchains import requires

from indexer.errors import EditRefused
from indexer.languages import JAVA, TYPESCRIPT
from query.refactor import by_place
from query.surface.service import Service

GO = {
    "go.mod": "module example.com/w\n\ngo 1.21\n",
    "main.go": "package main\n"
    "\nconst (\n\tfirst = iota\n\tunused\n\tthird\n\tlast\n)\n\nconst (\n\tone   = 1\n\ttwo   = 2\n\tthree = 3\n)\n"
    "\nconst (\n\tbig = 7\n\tsame\n)\n\ntype pair struct {\n\tx, y int\n}\n\ntype named struct {\n\tleft  int\n\tright int\n}\n\n"
    "func main() {\n\tprintln(first, third, one, three, same)\n\tp := pair{1, 2}\n\tq := named{left: 1}\n\tprintln(p, q.left)\n}\n",
}
C = {
    "compile_commands.json": "[]",
    "main.c": "enum color { RED, GREEN, BLUE = 7, LAST };\nstruct point { int px; int py; };\nstruct kept { int ka; int kb; };\n"
    "static struct point start = {1, 2};\nstatic struct kept k = {.ka = 1};\n"
    "int main(void) { return RED + BLUE + start.px + k.ka; }\n",
}


@pytest.fixture
def ask(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Service]:
    root = write_tree(tmp_path / "work", request.param)
    crawl_with_ty(root)
    service = Service(root)
    yield service
    service.close()


@pytest.mark.parametrize("ask", [GO], indirect=True, ids=["go"])
def test_a_constant_that_counts_and_a_field_that_is_given_by_its_place_stay(ask: Service) -> None:
    requires("gopls")
    for name, why in (("unused", "'third' stands behind it"), ("big", "'same' stands behind it|reference"), ("pair.y", "main.go:32")):
        with pytest.raises(EditRefused, match=why):
            ask.ask("safe_delete_symbol", {"file_path": "main.go", "symbol_path": name})
    for name in ("last", "two", "named.right"):
        done = ask.ask("safe_delete_symbol", {"file_path": "main.go", "symbol_path": name})
        assert done.completeness.status == "complete", name


@pytest.mark.parametrize("ask", [C], indirect=True, ids=["c"])
def test_a_number_of_an_enum_and_a_field_of_an_initializer_stay(ask: Service) -> None:
    requires("clangd")
    for name, why in (("color.RED", "reference|'GREEN' stands"), ("point.py", "main.c:4"), ("color.BLUE", "'LAST' stands|reference")):
        with pytest.raises(EditRefused, match=why):
            ask.ask("safe_delete_symbol", {"file_path": "main.c", "symbol_path": name})
    for name in ("kept.kb",):
        done = ask.ask("safe_delete_symbol", {"file_path": "main.c", "symbol_path": name})
        assert done.completeness.status == "complete", name


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("enum E { A, B }", "A", "B"), ("enum E { A, B }", "B", ""), ("enum E { A = 1, B = 2 }", "A", ""),
        ("enum E { A, B = f(1, 2) }", "A", ""),
        ("enum E { A, /* B, */ }", "A", ""), ("enum E { A = g(1, 2), B }", "A", "B"), ("enum E { A,\n  // one\n  B, C }", "A", "B"),
        ("enum E { A", "A", ""),
    ],
)  # fmt: skip
def test_members_of_an_enum_are_told_apart_by_the_text(text: str, name: str, expected: str) -> None:
    start = text.index(name, 6)
    found = by_place.renumbers(text, start, start + 1, "enum_member", TYPESCRIPT)
    assert (f"'{expected}'" in found) if expected else found == ""
    assert by_place.renumbers(text, start, start + 1, "enum_member", JAVA) == ""


def test_a_constructor_that_keeps_others_from_making_objects_stays():
    text = "class A {\n  private A() {}\n  B() {}\n}\n"
    assert "everybody" in by_place.renumbers(text, text.index("A()"), text.index("A()") + 1, "constructor", JAVA)
    assert by_place.renumbers(text, text.index("B()"), text.index("B()") + 1, "constructor", JAVA) == ""
    assert by_place.renumbers(text, text.index("A()"), text.index("A()") + 1, "constructor", TYPESCRIPT) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P p = {1, 2};", True), ("P{1, 2}", True), ("P p[2] = { {1, 2}, {3, 4} };", True), ("(P){1, 2}", True), ("P{\n\t1,\n}", True),
        ("P p = {.x = 1};", False), ("P{x: 1}", False), ("P p;", False), ("P{}", False), ("P f(void) {\n return q; }", False),
        ("P q = f();\nauto [a, b] = q;", True),
    ],
)  # fmt: skip
def test_initializers_by_place_are_told_by_the_text(text: str, expected: bool) -> None:
    lines = text.encode().split(b"\n")
    assert (by_place.sets_by_place([(lines, [(0, text.index("P"))])]) is not None) == expected
