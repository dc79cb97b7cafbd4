"""What a trial of `change_signature` on other packages found wrong: changes that broke a program, reasons that are untrue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from query_support import results_of
from support import crawl_with_ty, printed, write_tree

from indexer.errors import EditRefused

FILES = {
    "lib.py": '''from __future__ import annotations

import functools
from typing import Protocol

count = 0


def walrus(a, b):
    return a, b


def more():
    global count
    count += 1
    return count


def counted(a, b):
    return a, b


def factory(arg, level=1):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return (arg, level, function(*args, **kwargs))

        return inner

    return wrap


@factory("x", level=2)
def wrapped(a):
    return a


class Shown:
    def __init__(self, iterable, error=None):
        self.iterable, self.error = iterable, error

    def __repr__(self):
        return f"Shown {self.iterable} {self.error}"

    def __len__(self):
        return 1


class Bound:
    def bind(self, a, b=1):
        return a, b


class Runs(Protocol):
    def run(self, job, tries=1): ...


class Runner:
    def run(self, job, tries=1):
        return job, tries


class Other:
    def run(self, name):
        return name


def patched(a, b=1):
    return a, b


def calls_patched():
    return patched(1, b=2), Patched(1, b=2).a


class Patched:
    def __init__(self, a, b=1):
        self.a = a

    def of_object(self, a, b=1):
        return a, b

    def calls(self):
        return self.of_object(1, b=2)


class Replaced:
    def __init__(self, a, b=1):
        self.a = a


def compared(a, b):
    return a, b


def evaluates(a, b, text):
    return eval(text, {"a": a}), b


def handed(a: int, /, b: int = 1):
    return a, b


def commented(a, b):
    # type: (int, int) -> tuple
    return a, b


class Kept:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __reduce__(self):
        return (self.__class__, (self.x, self.y))


class Made:
    def __init__(self, x, y):
        self.x, self.y = x, y

    @classmethod
    def all_of(cls, xs, ys):
        return list(map(cls, xs, ys))


class Looked:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.__class__ is other.__class__

    def copy(self):
        kind = type(self)
        return kind(self.x, y=self.y)

    def __repr__(self):
        return f"{type(self).__name__} {self.x} {self.y}"

    @classmethod
    def of(cls):
        return cls(1, y=2)


class Above:
    pass


class Below(Above):
    def __init__(self, x, y=1):
        self.x, self.y = x, y


class Registered:
    def __init_subclass__(cls, key=None):
        cls.key = key

    def __new__(cls, size=1):
        return super().__new__(cls)


def looked_up(a, b=1):
    return a, b
''',
    "main.py": '''from typing import cast
from unittest import mock

import lib

with mock.patch("lib.patched") as first, mock.patch("lib.Patched") as second:
    lib.calls_patched()
    first.assert_called_once_with(1, b=2)
    second.assert_called_once_with(1, b=2)
with mock.patch.object(lib.Patched, "of_object") as third:
    lib.Patched(1).calls()
    third.assert_called_once_with(1, b=2)
lib.Replaced = lambda a, b: None
lib.Replaced(1, b=2)
print(lib.compared == lib.compared, lib.compared(1, b=2), lib.evaluates(1, 2, "a"))

print(lib.walrus(z := 1, z + 1), lib.counted(lib.count, lib.more()), lib.wrapped(3))
print(repr(lib.Shown(iterable=[1], error=2)), str(lib.Shown([2], error=3)), len(lib.Shown([3], 4)))
print(cast("list[lib.Shown]", []), cast(list[lib.Shown], []))


def of_whatever(metadata, klass):
    metadata.create_all(bind=metadata)


def of_unknown(thing):
    return thing.__subclasses__()


def of_mock(thing, other):
    other.bind.url
    thing.bind.assert_called_with(1, b=2)


def of_class(klass):
    return klass.bind(klass(), 1, b=2)


print(lib.Bound().bind(1, b=2), of_class(lib.Bound))


def go(runs: lib.Runs):
    return runs.run(1, tries=2)


print(lib.Kept(1, 2).x, lib.Made.all_of([1], [2])[0].x, lib.Looked(1, 2).copy(), lib.Looked.of())
print([kind(1, y=2).y for kind in lib.Above.__subclasses__()])
print(go(lib.Runner()), lib.Other().run("x"), getattr(lib, "looked_up")(1, b=2))
''',
    "typed.py": '''from typing import Protocol

import lib


class Called(Protocol):
    def __call__(self, a: int, /, b: int = 1) -> tuple[int, int]: ...


def use(called: Called) -> tuple[int, int]:
    return called(1, b=2)


use(lib.handed)
''',
}  # fmt: skip

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("trial") / "work", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def ask(made: Path) -> Iterator[Ask]:
    with results_of("change_signature", made) as given:
        yield given
    write_tree(made, FILES)


@pytest.mark.parametrize(
    ("symbol", "wish", "line"),
    [
        ("lib.walrus", {"order": ["b", "a"]}, "lib.walrus(a=(z := 1), b=z + 1)"),
        ("lib.counted", {"order": ["b", "a"]}, "lib.counted(a=lib.count, b=lib.more())"),
        ("lib.factory", {"rename": ["level=depth"]}, '@factory("x", depth=2)'),
        ("lib.factory", {"order": ["arg", "new", "level"], "add": ["new"], "call_with": ["new=0"]}, "new=0"),
        ("lib.Shown", {"rename": ["iterable=items", "error=why"]}, "repr(lib.Shown(items=[1], why=2)), str(lib.Shown([2], why=3))"),
        ("lib.commented", {"rename": ["b=rest"]}, "def commented(a, rest):"),
        ("lib.compared", {"rename": ["b=rest"]}, "lib.compared(1, rest=2)"),
        ("lib.evaluates", {"rename": ["a=first"]}, 'return eval(text, {"a": first}), b'),
        ("lib.Looked", {"order": ["y", "x"]}, "return kind(x=self.x, y=self.y)"),
        ("lib.Looked", {"rename": ["y=z"]}, "return kind(self.x, z=self.y)"),
        ("lib.Shown", {"order": ["iterable", "*", "error"]}, "len(lib.Shown([3], error=4))"),
    ],
)
def test_it_is_written_without_consent_and_the_program_runs_as_before(
    made: Path, ask: Ask, symbol: str, wish: dict[str, Any], line: str
) -> None:
    before = printed(made)
    done = ask(symbol, **wish, apply=True)
    assert (done.left, done.doubts) == ([], [])
    assert line in "".join((made / path).read_text(encoding="utf-8") for path in FILES)
    assert printed(made) == before


def _said(found: Any) -> list[str]:
    return [*found.doubts, *(item.why for item in found.left)]


def test_a_keyword_of_that_name_is_no_use_of_a_function(ask: Ask):
    found = ask("lib.Bound.bind", rename=["b=rest"])
    assert [item.place.text for item in found.left if "create_all" in item.place.text] == []


def test_a_call_that_fits_only_as_one_of_the_class_is_no_call_of_something_else(made: Path, ask: Ask):
    found = ask("lib.Bound.bind", rename=["b=rest"])
    assert [item.place.text for item in found.left] == [
        "thing.bind.assert_called_with(1, b=2)",
        "return klass.bind(klass(), 1, b=2)",
    ]
    assert found.left[0].why == "an attribute of it is read, and what that has to do with its parameters is not known"
    with pytest.raises(EditRefused, match="nothing was written"):
        ask("lib.Bound.bind", rename=["b=rest"], apply=True)


@pytest.mark.parametrize(
    ("symbol", "wish", "why"),
    [
        ("lib.Runs.run", {"rename": ["tries=n"]}, "lib.Other.run (lib.py:65) may be called in its place"),
        ("lib.patched", {"rename": ["b=rest"]}, "a string names it"),
        ("lib.patched", {"add": ["c"], "call_with": ["c=1"]}, "a string names it"),
        ("lib.Patched", {"rename": ["b=rest"]}, "a string names it"),
        ("lib.Patched.of_object", {"rename": ["b=rest"]}, "a string names it"),
        ("lib.Replaced", {"rename": ["b=rest"]}, "something else is put in its place"),
        ("lib.commented", {"order": ["b", "a"]}, "'commented' at lib.py:"),
        ("lib.Kept", {"order": ["y", "x"]}, "the class of the object is handed over"),
        ("lib.Made", {"order": ["y", "x"]}, "the class of the object is handed over"),
        ("lib.Below", {"rename": ["y=z"]}, "the classes below one are asked for, and what is done with them is not known: main.py:"),
        ("lib.looked_up", {"rename": ["b=rest"]}, "a string names it, and how it is used by that is not known"),
    ],
)
def test_the_reason_is_true(ask: Ask, symbol: str, wish: dict[str, Any], why: str) -> None:
    said = _said(ask(symbol, **wish))
    assert any(text.startswith(why) for text in said), said


@pytest.mark.parametrize(
    ("symbol", "wish", "why"),
    [
        ("lib.Registered.__init_subclass__", {"rename": ["key=name"]}, "with the keywords that class statements say"),
        ("lib.Registered.__new__", {"rename": ["size=width"]}, "with what its class is called with"),
        ("lib.Shown.__len__", {"add": ["size=1"]}, "is a special method"),
    ],
)
def test_the_reason_of_a_refusal_is_true(ask: Ask, symbol: str, wish: dict[str, Any], why: str) -> None:
    with pytest.raises(EditRefused, match=why):
        ask(symbol, **wish)


def test_it_says_which_errors_it_brings_and_is_not_written_with_them(made: Path, ask: Ask):
    before = {path: (made / path).read_text(encoding="utf-8") for path in FILES}
    shown = ask("lib.handed", rename=["b=rest"], diagnostics=True)
    [error] = shown.preview.errors_introduced
    assert (error.path, error.severity, shown.preview.errors_resolved, shown.preview.left_behind) == ("typed.py", "error", [], [])
    assert "'rest'" not in error.message
    with pytest.raises(EditRefused, match=r"it brings errors: typed.py:\d+ "):
        ask("lib.handed", rename=["b=rest"], diagnostics=True, apply=True)
    assert {path: (made / path).read_text(encoding="utf-8") for path in FILES} == before
    done = ask("lib.handed", rename=["a=first"], diagnostics=True, apply=True)
    assert (done.edited.applied, done.preview.errors_introduced, "lib.py" in done.preview.asked) == (True, [], True)
    assert ask("lib.compared", rename=["a=first"]).preview is None
