"""Functions as values, dispatch and registration: what `callers` lists of them, and when an answer is not complete for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support import crawl_with_ty, write_tree

from indexer.model import Role
from indexer.syntax import parse
from query.answers.envelope import Answer
from query.facts.index import Index, open_index
from query.surface.registry import call
from query.surface.render import to_text

LIB = """\
import functools
import json
import threading
from ast import NodeVisitor
from typing import Protocol

HOOKS = []


def register(fn):
    HOOKS.append(fn)
    return fn


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args)

    return wrapper


def named(name):
    def deco(fn):
        HOOKS.append(fn)
        return fn

    return deco


@register
def kept(): ...


@named("x")
def kept_by_name(): ...


@logged
def wrapped(): ...


@functools.cache
def cached(): ...


def in_dict(): ...
def in_attribute(): ...
def by_default(): ...
def returned(): ...
def yielded(): ...
def chosen(): ...
def partly(): ...
def sort_key(x): return x
def threaded(): ...
def compared(): ...


class Held: ...
class Checked: ...


class Made:
    def __init__(self): ...


class BelowMade(Made): ...


class Holder:
    klass = Held
    method = in_attribute

    def run(self): ...
    def bound(self): return self.run


TABLE = {"a": in_dict}


def use(fn=by_default):
    x = chosen if fn else None
    if fn is compared or isinstance(fn, Checked):
        pass
    threading.Thread(target=threaded).start()
    sorted([], key=sort_key)
    functools.partial(partly, 1)
    wrapped()
    cached()
    HOOKS.append(BelowMade)
    return returned


def produce():
    yield yielded


class Visitor(NodeVisitor):
    def visit_Name(self, node): ...
    def helper(self, node): ...


class Encoder(json.JSONEncoder):
    def default(self, o): ...


class Shape(Protocol):
    def area(self) -> float: ...
    def name(self) -> str: ...


class Square:
    def area(self) -> float: return 1.0
    def name(self) -> str: return ""


class Pond:
    def area(self) -> float: return 1.0


def total(s: Shape): return s.area()


class Base:
    def go(self): ...


class Sub(Base):
    def go(self): super().go()


class Other(Base):
    def go(self): super().go()


def drive(b: Base): b.go()
def exact(): Base.go(Sub())
def far(b: Base): drive(b)


def calls_far(): ...
def handed_over(): calls_far()


HOOKS.append(handed_over)
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write_tree(tmp_path_factory.mktemp("escapes") / "lib", {"lib.py": LIB})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as opened:
        yield opened


def callers(index: Index, name: str, **more: Any) -> Answer[Any]:
    return call(index, "find_callers", {"symbol": f"lib.{name}", "direction": "incoming", **more})


def codes(answer: Answer[Any]) -> set[str]:
    return {reason.code for reason in answer.completeness.reasons}


@pytest.mark.parametrize(
    "name", ["in_dict", "in_attribute", "by_default", "returned", "yielded", "chosen", "partly", "Held", "Holder.run", "Made.__init__"]
)
def test_what_is_used_as_a_value_is_listed_and_may_have_more_callers(index: Index, name: str):
    answer = callers(index, name)
    assert [(edge.how, [site.evidence for site in edge.sites]) for edge in answer.result] == [("value", ["value"])]
    assert codes(answer) == {"escapes"}
    assert callers(index, name, values=False).result == []
    assert codes(callers(index, name, values=False)) == {"escapes"}


@pytest.mark.parametrize("name", ["compared", "Checked"])
def test_a_value_that_goes_nowhere_does_not_escape(index: Index, name: str):
    answer = callers(index, name)
    assert (answer.result, answer.completeness.status) == ([], "complete")


@pytest.mark.parametrize("name", ["sort_key", "threaded"])
def test_what_the_language_calls_at_once_is_called_where_it_is_handed_over(index: Index, name: str):
    answer = callers(index, name)
    assert [(edge.symbol.name, edge.how, edge.sites[0].evidence) for edge in answer.result] == [("use", "call", "inferred")]
    assert answer.completeness.status == "complete"


def test_a_list_of_references_lacks_nothing_for_a_value(index: Index):
    answer = call(index, "find_references", {"symbol": "lib.in_dict"})
    assert (answer.total, answer.completeness.status) == (1, "complete")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Sub.go", "it overrides lib.Base.go, 4 references"),
        ("Encoder.default", "its base 'json.encoder.JSONEncoder' outside the workspace calls 'default'"),
        ("Visitor.visit_Name", "it may be called without being named"),
        ("calls_far", ""),
        ("Base.go", ""),
    ],
)
def test_references_say_what_may_mean_a_symbol_without_naming_it(index: Index, name: str, words: str):
    """It is no part of the list, and an empty list of a hook reads as if nothing used it."""
    answer = call(index, "references", {"symbol": name})
    assert answer.completeness.status == "complete"
    assert [words in said for said in answer.beside or []] == ([True] if words else [])
    assert ("beside" in to_text(answer)) == bool(words) == ("beside" in (answer.quoted or []))  # names are the repository's words


@pytest.mark.parametrize("name", ["kept", "kept_by_name", "Visitor.visit_Name", "Encoder.default"])
def test_what_is_registered_or_a_hook_is_never_without_callers_for_certain(index: Index, name: str):
    assert codes(callers(index, name)) == {"registered"}


@pytest.mark.parametrize("name", ["wrapped", "cached", "Visitor.helper"])
def test_a_decorator_that_keeps_nothing_and_a_member_that_no_base_calls_change_nothing(index: Index, name: str):
    assert callers(index, name).completeness.status == "complete"


def test_what_is_registered_is_not_unreferenced(index: Index):
    listed = {row.symbol.name for row in call(index, "unreferenced", {"include_exported": True}).result}
    assert not listed & {"kept", "kept_by_name", "visit_Name", "default", "in_dict"}
    assert {"far", "exact"} <= listed


def test_dispatch_leaves_out_calls_that_name_the_very_member(index: Index):
    answer = callers(index, "Sub.go")
    assert [(edge.symbol.name, edge.how) for edge in answer.result] == [("drive", "dispatch")]  # no `super().go()`, no `Base.go(…)`


def test_dispatch_is_followed_at_every_step(index: Index):
    assert [(edge.symbol.name, edge.depth) for edge in callers(index, "Sub.go", depth=2).result] == [("drive", 1), ("far", 2)]
    answer = call(index, "why", {"source": "lib.far", "target": "lib.Sub.go"})
    assert [(step.target.name, step.evidence) for step in answer.result.steps] == [("drive", "syntax"), ("go", "override")]


def test_a_class_with_all_names_of_a_protocol_may_be_called_through_it(index: Index):
    assert [(edge.symbol.name, edge.how) for edge in callers(index, "Square.area").result] == [("total", "dispatch")]
    assert callers(index, "Pond.area").result == []
    assert call(index, "why", {"source": "lib.total", "target": "lib.Square.area"}).result.direction == "forward"


def test_uses_as_values_are_a_section_of_the_text_and_counted_apart(index: Index):
    text = to_text(callers(index, "in_dict"))
    assert text.index("callers: none") < text.index("used as a value, which may be called from elsewhere:") < text.index("TABLE =")
    assert "0 callers, used as a value at 1 place" in text


def test_pages_hold_uses_as_values_too(index: Index):
    whole = callers(index, "register", limit=5_000)
    shown, cursor = [], ""
    while True:
        page = callers(index, "register", limit=1, cursor=cursor)
        shown += page.result
        if not page.next_cursor:
            break
        cursor = page.next_cursor
    assert shown == whole.result


def test_callers_of_callers_that_escape_are_a_gap(index: Index):
    assert codes(callers(index, "calls_far")) == set()
    assert codes(callers(index, "calls_far", depth=2)) == {"escapes"}  # its caller is handed over


# ---- the role, language by language


def confined(language: str, path: str, source: str, name: str) -> list[bool]:
    """Of each use of the name that reads its value without a call: whether the value goes nowhere."""
    tokens = parse(language, path, source.encode(), "m").tokens
    skipped = Role.DEFINITION | Role.CALL | Role.IMPORT
    return [
        bool(roles & Role.CONFINED) for found, roles in zip(tokens.name, tokens.roles, strict=True) if found == name and not roles & skipped
    ]


PLACES = {
    ("python", "m.py"): """\
from x import f
f.a  # 1
f is g  # 1
if f: pass  # 1
f  # 1
len(f)  # 1
a = f  # 0
[f]  # 0
g(f)  # 0
f.__call__()  # 0
""",
    ("typescript", "m.ts"): """\
import { f } from "x";
f.a;  // 1
if (f) {}  // 1
f === g;  // 1
setTimeout(f);  // 1
h(f);  // 0
const o = { a: f };  // 0
f.bind(o);  // 0
""",
    ("go", "m.go"): """\
package m
var _ = f  // 1
var a = f  // 0
func g() {
    if f == nil { return }  // 1
    _ = f  // 1
    h(f)  // 0
}
""",
    ("rust", "m.rs"): """\
use a::f;
fn m() {
    i.map(f);  // 1
    if f == g {}  // 1
    let x = f;  // 0
    g(f);  // 0
    vec![f];  // 0
}
""",
    ("cpp", "m.cpp"): """\
void f();
auto a = &f;  // 0
void m() {
    g(f);  // 0
    (void)f;  // 1
    if (f == a) {}  // 1
    qsort(p, 1, 1, f);  // 1
}
""",
}


@pytest.mark.parametrize(("language", "path"), PLACES)
def test_syntax_knows_which_values_go_nowhere(language: str, path: str):
    source = PLACES[language, path]
    marked = [line.rstrip().endswith("1") for line in source.splitlines() if line.rstrip().endswith(("// 0", "// 1", "# 0", "# 1"))]
    assert confined(language, path, source, "f") == marked


def test_a_name_in_a_macro_of_rust_is_called_where_brackets_follow():
    tokens = parse("rust", "m.rs", b"fn m() { assert_eq!(f(1), (g, (1, 2))); }\n", "m").tokens
    roles = dict(zip(tokens.name, tokens.roles, strict=True))
    assert (bool(roles["f"] & Role.CALL), bool(roles["g"] & Role.CALL)) == (True, False)
