"""Parameters of a function changed, with all calls: the program runs as before, or nothing is written and the answer says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from inspect import Parameter as Kinds
from inspect import Signature as Bound
from itertools import combinations, permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from query_support import results_of
from support import crawl_with_ty, printed, write_tree

from indexer.errors import EditRefused, UsageError
from query.answers.envelope import SymbolRecord
from query.answers.style import Style
from query.edits.text import Document
from query.facts.symbols import Symbol
from query.refactor.parameters.changed_definition import added, signature_of
from query.refactor.parameters.signature import Argument, Change, Rewritten, Signature, Wish, changed, is_compatible, rewritten
from query.refactor.parameters.signature_uses import special_names, target_of
from query.refactor.python_module import Module
from query.surface.render import to_text
from query.surface.service import Service

if TYPE_CHECKING:
    from query.facts.index import Index

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop/__init__.py": "",
    "shop/util.py": '''"""Utilities."""


def plain(a, b=2, *, c=3):
    """Does it.

    Args:
        a: the first
        b: the second,
            which goes on
    """

    def inner():
        nonlocal b
        b = b + 1
        return a

    return [a, inner(), b, c, f"{a} {b!r:>{a}}", [a for _ in range(2)], (lambda a: a)(9), (lambda z=a: z)()]


def commented(
    first,  # the first
    # the second
    second,
    third=3,
):
    return first, second, third


def more(a, b, *args, **kwargs):
    return a, b, args, kwargs


def unused(a, b, c=3):
    """:param a: one
    :param b: two
    :param c: three"""
    return a, c
''',
    "shop/shapes.py": '''from __future__ import annotations

from functools import partial


class Shape:
    """A shape.

    :param name: how it is called
    """

    def __init__(self, name, size=1):
        self.name, self.size = name, size

    def area(self, factor, plus=0):
        return self.size * factor + plus

    def twice(self):
        return self.area(2, plus=1)

    @classmethod
    def of(cls, size, name="of"):
        return Shape(name, size=size)

    @staticmethod
    def add(one, two):
        return (one, two)

    def __call__(self, key, other=0):
        return key, other


class Square(Shape):
    def area(self, factor, plus=0):
        return super().area(factor * self.size, plus)


class Named(Shape):
    def __init__(self, name):
        super().__init__(name, size=4)
        Shape.__init__(self, name, 4)


class Apart:
    def area(self, factor, plus=0):
        return "apart", factor, plus
''',
    "main.py": '''from shop import util
from shop.shapes import Apart, Named, Shape, Square
from shop.util import commented, more
from shop.util import plain as renamed

print(renamed(1), renamed(1, 3), renamed(b=4, a=5), util.plain(6, c=7), f"{util.plain(8, 9)[0]} {util.plain(b=8, a=9)[1]}")
print(commented(
    1,  # one
    [2, 3],
    third=(4, 5),
), commented(1, 2), commented(commented(1, second=2), commented(3, 4, 5)))
print(more(1, 2), more(1, 2, 3, x=4), more(b=1, a=2), util.unused(1, (2), 3), util.unused(b=1, a=2), util.unused(1, b=2))
print(Shape("s", 2).area(3), Square("q", size=3).area(3, plus=1), Shape.area(Square("r", 3), 2), Shape.of(2).twice())
called = Shape("s")
print(Named("n").size, Shape.add(1, two=2), Square.add(1, 2), called(1, other=2), Apart().area(1, plus=2))
print(*(shape.area(1, 2) for shape in (Shape("a"), Square("b"))), [x for x in map(lambda one: one.area(3), [Shape("c")])])
''',
}  # fmt: skip

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("change") / "work", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def root(shop: Path) -> Iterator[Path]:
    yield shop
    write_tree(shop, FILES)


@pytest.fixture
def ask(root: Path) -> Iterator[Ask]:
    with results_of("change_signature", root) as given:
        yield given


@pytest.mark.parametrize(
    ("symbol", "wish"),
    [
        ("shop.util.plain", {"rename": ["a=first", "b=rest", "c=last"]}),
        ("shop.util.plain", {"order": ["a", "*", "c", "b"]}),
        ("shop.util.plain", {"order": ["a", "b", "c"]}),
        ("shop.util.plain", {"order": ["a", "/", "*", "b", "c"]}),
        ("shop.util.plain", {"add": ["t: int = 5"]}),
        ("shop.util.plain", {"add": ["t: int"], "call_with": ["t=[1, 2]"], "after": "a"}),
        ("shop.util.commented", {"order": ["second", "first", "third"]}),
        ("shop.util.commented", {"add": ["*, key=lambda a, b: a"], "rename": ["third=last"]}),
        ("shop.util.more", {"order": ["b", "a"]}),
        ("shop.util.more", {"add": ["key=1"]}),
        ("shop.util.unused", {"remove": ["b"]}),
        ("shop.util.unused", {"remove": ["b"], "rename": ["c=b"]}),
        ("shop.shapes.Shape", {"rename": ["size=width"], "order": ["name", "*", "width"]}),
        ("shop.shapes.Shape", {"rename": ["name=label"]}),
        ("shop.shapes.Shape.area", {"rename": ["plus=more", "factor=times"]}),
        ("shop.shapes.Square.area", {"add": ["unit: str = 'm'"], "after": "factor", "order": ["factor", "unit", "plus"]}),
        ("shop.shapes.Shape.of", {"order": ["size", "extra", "name"], "add": ["extra='x'"]}),
        ("shop.shapes.Shape.add", {"order": ["two", "one"]}),
        ("shop.shapes.Shape.__call__", {"rename": ["other=rest"]}),
    ],
)
def test_the_program_runs_as_before(root: Path, ask: Ask, symbol: str, wish: dict[str, Any]) -> None:
    before = printed(root)
    shown = ask(symbol, **wish)
    assert printed(root) == before, "shown, not written"
    anyway = symbol.endswith("__call__")  # the call of a lambda may run it, as far as is known
    assert shown.edited.needs == [{"anyway": True}] * anyway
    done = ask(symbol, **wish, apply=True, plan=shown.edited.plan, anyway=anyway)
    assert (done.edited.applied, done.left, done.doubts) == (True, [], [])
    assert printed(root) == before


def _lines(root: Path, path: str) -> list[str]:
    return (root / path).read_text(encoding="utf-8").splitlines()


def test_comments_and_lines_of_a_list_go_with_their_elements(root: Path, ask: Ask):
    ask("shop.util.commented", order=["second", "first", "*", "third", "more"], add=["more=4"], apply=True)
    text = "\n".join(_lines(root, "shop/util.py"))
    assert (
        """def commented(
    # the second
    second,
    first,  # the first
    *,
    third=3,
    more=4,
):
"""
        in text
    )
    assert """print(commented(
    [2, 3],
    1,  # one
    third=(4, 5),
), commented(2, 1), commented(""" in "\n".join(_lines(root, "main.py"))


def test_documentation_has_the_names_that_the_parameters_have(root: Path, ask: Ask):
    ask("shop.util.plain", rename=["b=rest"], apply=True)
    ask("shop.util.unused", remove=["b"], rename=["c=last"], apply=True)
    ask("shop.shapes.Shape", rename=["name=label"], apply=True)
    text = (root / "shop/util.py").read_text(encoding="utf-8")
    assert "        rest: the second,\n            which goes on\n" in text
    assert '    """:param a: one\n    :param last: three"""\n' in text
    assert "    :param label: how it is called\n" in (root / "shop/shapes.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("symbol", "wish", "why"),
    [
        ("shop.util.plain", {}, "say what to change"),
        ("shop.util.plain", {"remove": ["d"]}, "it has no parameter 'd'; it has: a, b, c"),
        ("shop.util.plain", {"remove": ["b"]}, r"'b' is used in the body .* on line"),
        ("shop.util.plain", {"rename": ["a=inner"]}, "has a 'inner' already"),
        ("shop.util.plain", {"rename": ["a=b"]}, "two parameters would be called 'b'"),
        ("shop.util.plain", {"rename": ["a"]}, "is not of the form old=new"),
        ("shop.util.plain", {"rename": ["a=class"]}, "keyword of Python"),
        ("shop.util.plain", {"add": ["t"]}, r"call_with 't=…'"),
        ("shop.util.plain", {"add": ["t=1"], "call_with": ["u=1"]}, "'u' is not added"),
        ("shop.util.plain", {"add": ["t"], "call_with": ["t=*x"]}, "is no expression"),
        ("shop.util.plain", {"add": ["t=1, u=2"]}, "is not one parameter"),
        ("shop.util.plain", {"add": ["t=1"], "after": "nothing"}, "no parameter 'nothing' to add one after"),
        ("shop.util.plain", {"order": ["b", "a", "c"]}, "'a' has no default and would stand after 'b'"),
        ("shop.util.plain", {"order": ["a", "c"]}, "the order leaves out b"),
        ("shop.util.plain", {"order": ["a", "c", "b"]}, "cannot stand there"),
        ("shop.util.plain", {"order": ["a", "x", "b", "c"]}, "names 'x', which is no parameter"),
        ("shop.shapes.Shape.area", {"remove": ["self"]}, "is the object or the class"),
        ("shop.shapes.Square", {"rename": ["size=width"]}, "has no __init__ of its own"),
        ("shop.shapes", {"rename": ["size=width"]}, "is a module"),
    ],
)
def test_what_cannot_be_done_is_refused(ask: Ask, symbol: str, wish: dict[str, Any], why: str) -> None:
    with pytest.raises((EditRefused, UsageError), match=why):
        ask(symbol, **wish)


DOUBTFUL = {
    "lib.py": """import enum
from functools import partial, wraps, lru_cache


def keep(function):
    return function


def handed(a, b):
    return a, b


def part(a, b):
    return a, b


def splat(a, b):
    return a, b


@keep
def decorated(a, b):
    return a, b


@lru_cache
def cached(a, b):
    return a, b


def swapped(a, b):
    return a, b


def sees(a, b):
    return locals()


def prints(a):
    return f"{a=}"


class Base:
    def __init__(self, x, y=2):
        self.x = x

    def m(self, a, b=1):
        return a, b

    @classmethod
    def make(cls):
        return cls(1, y=2)

    @property
    def p(self):
        return 1

    def __call__(self, b):
        return b

    def __eq__(self, other):
        return True


class Other(Base):
    def __init__(self):
        super().__init__(1, 2)

    def m(self, different, b=1):
        return different, b


class Color(enum.Enum):
    RED = (1, 2)

    def __init__(self, x, y):
        self.x = x


def written(a, b):
    '''As in written(1, 2).'''
    return a, b


def again(a, b=3, *, c=None):
    return again(b, a, c=again(1, 2)) if c else (a, b)


class Error(Exception):
    def __init__(self, text, code=1):
        super().__init__(text)
""",
    "use.py": """import lib
from lib import *

print(list(map(handed, [1], [2])), partial(part, 1)(b=2), splat(*[1, 2]), splat(**{"a": 1, "b": 2}), decorated(1, b=2), Base(1)(b=2))
print(cached(1, b=2), cached.cache_info(), swapped(input(), input()), swapped(print(), 1), lib.sees(1, b=2), prints(a=1))


def unknown(thing):
    return thing.m(1, b=2), thing.m(1), thing.m(b=1)


code = f"lib.written({1}, b=2)"


def test_it(m):
    try:
        raise Error("x")
    except Error:
        pass
""",
    "other.py": "import lib\n\nlib.splat = print\nlib.splat(1, b=2)\n",
    "special.py": """class Plugin:
    def __mything__(self, a, b):
        return a, b


print(Plugin().__mything__(1, b=2))
""",
}


@pytest.fixture(scope="module")
def doubtful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("change") / "doubtful", DOUBTFUL)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.mark.parametrize(
    ("symbol", "wish", "told"),
    [
        ("lib.handed", {"order": ["b", "a"]}, "handed over"),
        ("lib.handed", {"add": ["c=1"]}, ""),
        ("lib.part", {"rename": ["b=z"]}, "handed over"),
        ("lib.part", {"add": ["c=1"]}, ""),
        ("lib.splat", {"order": ["b", "a"]}, "what '*' holds would be taken for other parameters"),
        ("lib.splat", {"rename": ["b=z"]}, "what '**' holds may have 'b' in it"),
        ("lib.splat", {"order": ["b", "a"]}, "something else is put in its place"),
        ("lib.decorated", {"rename": ["b=z"]}, "'decorated' stands under @keep"),
        ("lib.decorated", {"add": ["c=1"]}, ""),
        ("lib.cached", {"rename": ["b=z"]}, ""),
        ("lib.sees", {"rename": ["b=z"]}, "looks at its variables by their names (locals)"),
        ("lib.prints", {"rename": ["a=z"]}, "prints 'a' by its name"),
        ("lib.Base", {"rename": ["y=z"]}, "which class is meant there is known when it runs only"),
        ("lib.Base.m", {"rename": ["a=z"]}, "lib.Other.m (lib.py"),
        ("lib.Base.m", {"rename": ["b=z"]}, "lib.Other.m (lib.py"),
        ("lib.Base.m", {"rename": ["b=z"]}, "what it is there is not known"),
        ("lib.Base.__call__", {"rename": ["b=z"]}, "a parameter is passed by its name at use.py:4, where no call is known"),
        ("lib.written", {"rename": ["b=z"]}, "a string may hold a call of it, which stays as it is: use.py:"),
        ("lib.written", {"add": ["c=1"]}, ""),
        ("special.Plugin.__mything__", {"rename": ["b=z"]}, "has the form of a special method"),
        ("lib.Color", {"order": ["y", "x"]}, "enum.Enum is a base outside the workspace"),
        ("lib.Error", {"rename": ["code=number"]}, ""),
    ],
)
def test_what_is_not_certain_is_said_and_not_written(
    doubtful: Path, monkeypatch: pytest.MonkeyPatch, symbol: str, wish: dict[str, Any], told: str
) -> None:
    monkeypatch.chdir(doubtful)
    service = Service(doubtful)
    try:
        found = service.ask("change_signature", {"symbol": symbol, **wish}).result
        said = [*found.doubts, *(item.why for item in found.left)]
        if not told:
            assert said == []
            return
        assert any(told in text for text in said), said
        with pytest.raises(EditRefused, match="nothing was written"):
            service.ask("change_signature", {"symbol": symbol, **wish, "apply": True})
        service.ask("change_signature", {"symbol": symbol, **wish, "apply": True, "anyway": True})
        assert any((doubtful / path).read_text(encoding="utf-8") != text for path, text in DOUBTFUL.items())
    finally:
        write_tree(doubtful, DOUBTFUL)
        service.close()


def test_arguments_that_may_have_an_effect_are_evaluated_in_the_old_order(doubtful: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(doubtful)
    service = Service(doubtful)
    try:
        service.ask("change_signature", {"symbol": "lib.swapped", "order": ["b", "a"], "apply": True})
        assert "swapped(a=input(), b=input()), swapped(1, print())" in (doubtful / "use.py").read_text(encoding="utf-8")
        service.ask("change_signature", {"symbol": "lib.again", "rename": ["a=aa"], "order": ["aa", "*", "c", "b"], "apply": True})
        text = (doubtful / "lib.py").read_text(encoding="utf-8")
        assert "    return again(b, b=aa, c=again(1, b=2)) if c else (aa, b)\n" in text, "a word that is put before one that is renamed"
    finally:
        write_tree(doubtful, DOUBTFUL)
        service.close()


@pytest.mark.parametrize(
    ("symbol", "why"), [("lib.Base.p", "is a property"), ("lib.Base.__eq__", "is a special method, so Python or a library calls it")]
)
def test_what_takes_no_parameters_of_its_own_is_refused(doubtful: Path, monkeypatch: pytest.MonkeyPatch, symbol: str, why: str) -> None:
    monkeypatch.chdir(doubtful)
    service = Service(doubtful)
    try:
        with pytest.raises((EditRefused, UsageError), match=why):
            service.ask("change_signature", {"symbol": symbol, "add": ["x=1"]})
    finally:
        service.close()


# ---- held against Python itself

_HEADS = (
    "a, b, c=3",
    "a, b=2, c=3",
    "a, /, b, *, c=3",
    "a, b=2, /, c=3, *, d",
    "a, b=2, *args, c=3, **kw",
    "a, *args, **kw",
    "a, b=2, **kw",
    "*, a, b=2",
)
_WISHES = (
    Wish(renamed={"a": "z"}),
    Wish(renamed={"b": "z", "a": "y"}),
    Wish(renamed={"a": "b", "b": "a"}),
    Wish(renamed={"c": "z"}),
    Wish(removed=("a",)),
    Wish(removed=("b",)),
    Wish(removed=("c",), renamed={"b": "c"}),
    Wish(removed=("args",)),
    Wish(removed=("kw",)),
    Wish(added=(added("t=9"),)),
    Wish(added=(added("*, t=9"),)),
    Wish(added=(added("t=9"),), after="a"),
    Wish(added=(added("t"),), given={"t": "9"}),
    Wish(added=(added("t"),), given={"t": "9"}, after="a"),
    Wish(added=(added("t"),), given={"t": "9"}, order=("t", "a", "b", "c")),
    *(Wish(order=order) for order in permutations(("a", "b", "c"))),
    *(Wish(order=order) for order in (("b", "a"), ("b", "a", "*", "c"), ("a", "*", "c", "b"), ("a", "/", "b", "c"), ("a", "b", "/", "c"))),
    *(Wish(order=order) for order in (("a", "b", "*args", "c"), ("c", "b", "a", "*", "d"), ("a", "c", "d", "b"))),
)
_SPLATS: tuple[tuple[str, tuple[str, ...]], ...] = (("", ("",)), ("*", ("*()", "*(7,)", "*(7, 8)")))
_DOUBLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", ("",)),
    (
        "**",
        tuple(f"**{{{', '.join(f'{name!r}: 6' for name in names)}}}" for names in ((), ("a",), ("b",), ("c",), ("t",), ("z",), ("b", "c"))),
    ),
)


def _changes() -> Iterator[tuple[str, str, Change]]:
    """Heads before and after, and the change between them."""
    for head, wish in product(_HEADS, _WISHES):
        [function] = Module("f.py", "f", Document(text=f"def f({head}): ...\n")).tree.body
        before = signature_of(function)  # pyright: ignore[reportArgumentType]
        try:
            change = changed(before, wish, bound=False)
        except UsageError:
            continue
        yield head, _head(change.after), change


def _head(signature: Signature) -> str:
    defaults = {"a": "1", "b": "2", "c": "3", "d": "4"}
    kinds = {
        int(kind): kind
        for kind in (Kinds.POSITIONAL_ONLY, Kinds.POSITIONAL_OR_KEYWORD, Kinds.VAR_POSITIONAL, Kinds.KEYWORD_ONLY, Kinds.VAR_KEYWORD)
    }
    made = [
        Kinds(item.name, kinds[item.kind], default=int(defaults.get(item.was or "", "9")) if item.has_default else Kinds.empty)
        for item in signature
    ]
    return str(Bound(made))[1:-1]


def _function(head: str) -> Callable[..., dict[str, Any]]:
    made: dict[str, Any] = {}
    exec(f"def f({head}): return dict(locals())", made)
    return made["f"]


def _calls() -> Iterator[tuple[list[Argument], list[list[str]]]]:
    """Arguments, and for each what may be passed there."""
    for places in range(5):
        for names in (named for number in range(3) for named in combinations(("a", "b", "c", "x", "t"), number)):
            for (star, stars), (double, doubles) in product(_SPLATS, _DOUBLES):
                arguments = [*(Argument() for _ in range(places)), *([Argument("*")] if star else []), *(Argument(name) for name in names)]
                texts = [
                    *([str(10 + number)] for number in range(places)),
                    *([list(stars)] if star else []),
                    *([f"{name}={20 + number}"] for number, name in enumerate(names)),
                ]
                yield [*arguments, *([Argument("**")] if double else [])], [*texts, *([list(doubles)] if double else [])]


def _value(call: str, function: Callable[..., dict[str, Any]]) -> dict[str, Any] | None:
    try:
        return eval(f"f({call})", {"f": function})
    except (TypeError, SyntaxError):
        return None


def test_a_rewritten_call_passes_what_it_passed_before() -> None:
    calls = list(_calls())
    kept = compared = 0
    functions = {head: _function(head) for head in _HEADS}

    @cache
    def before_of(head: str, call: str) -> dict[str, Any] | None:
        return _value(call, functions[head])

    for head, after, change in _changes():
        new = _function(after)
        safe = is_compatible(change)
        for arguments, texts in calls:
            result = rewritten(change, arguments, is_bound=False)
            if result.why:
                assert not safe or all(before_of(head, ", ".join(call)) is None for call in product(*texts)), (head, after, arguments)
                continue
            for call in product(*texts):
                before = before_of(head, ", ".join(call))
                if before is None:
                    continue
                assert not safe or result == Rewritten()
                made = (
                    ", ".join(call)
                    if result.arguments is None
                    else ", ".join(
                        item.text
                        if item.number is None and not item.name
                        else f"{item.name}={item.text}"
                        if item.number is None
                        else call[item.number]
                        if item.name in ("*", "**")
                        else (f"{item.name}=" if item.name else "") + call[item.number].rpartition("=")[2]
                        for item in result.arguments
                    )
                )
                got = _value(made, new)
                wanted = {item.name: before[item.was] if item.was is not None else 9 for item in change.after}
                assert got == wanted, f"def f({head}): f({', '.join(call)}) is not def f({after}): f({made})"
                compared += 1
                kept += result.arguments is None
    assert compared > 5_000
    assert 0 < kept < compared


def test_a_special_method_of_ones_own_changes_with_its_calls(doubtful: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(doubtful)
    service = Service(doubtful)
    asked = {"symbol": "special.Plugin.__mything__", "rename": ["b=z"]}
    try:
        shown = service.ask("change_signature", asked)
        assert "1 call rewritten" in to_text(shown, Style(color=False))
        assert "1 file, +3 -3, shown and not written · " in to_text(shown, Style(color=False))
        with pytest.raises(EditRefused, match="has the form of a special method"):
            service.ask("change_signature", {**asked, "apply": True})
        service.ask("change_signature", {**asked, "apply": True, "anyway": True})
        assert "__mything__(1, z=2)" in (doubtful / "special.py").read_text(encoding="utf-8")
    finally:
        write_tree(doubtful, DOUBTFUL)
        service.close()


def test_what_python_calls_itself_is_no_special_method_of_ones_own():
    asked = {"__eq__", "__len__", "__enter__", "__getattr__", "__matmul__", "__ifloordiv__", "__aiter__", "__reduce_ex__", "__set_name__"}
    assert asked <= special_names()
    assert not special_names() & {"__mything__", "__of_ours__", "__init__x"}


@pytest.mark.parametrize(
    ("path", "external", "why"),
    [("a.go", False, "is not Python.*instead: find_callers"), ("os.py", True, "not defined in the workspace")],
)
def test_of_other_languages_it_is_said_what_to_do_instead(path: str, external: bool, why: str):
    record = SymbolRecord(symbol="s", name="f", qualified_name="a.f", kind="function", path=path, external=external)
    with pytest.raises(UsageError, match=why):
        target_of(cast("Index", None), Symbol(1, record, is_local=False))
