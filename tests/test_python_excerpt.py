"""A long Python file, cut down to what is wanted of it, says the same of that as the whole file does."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

from indexer.crawl.messages import ExternalJob, Position
from indexer.crawl.worker.externals import read_external
from indexer.packages import Externals
from indexer.store.facts import DocumentFacts
from indexer.syntax.model import Definition
from indexer.syntax.python import excerpt, parse

STDLIB = Path(sysconfig.get_paths()["stdlib"])
MODULES = ("typing", "enum", "tarfile", "logging/__init__", "subprocess", "ssl", "os", "datetime", "decimal", "shutil", "ast", "tempfile")

SMALL = b'''# a comment
"""What it is."""
import sys
from typing import overload

__all__ = ["f", "K"]
a = b = K = None
x = 1; y = (
    2)
if sys.version_info >= (3, 8):
    @overload
    def f(value: int) -> int: ...
    @overload
    def f(value: str) -> str: ...
else:
    def f(value): ...
class K:
    """A class."""
    def m(self): ...
def sets():
    global late
    late = 1
def late(): ...
def _hidden(): ...
def other(): ...
'''


@pytest.mark.parametrize("name", ["f", "K", "m", "y", "x", "b", "late", "_hidden"])
def test_a_symbol_is_what_it_is_in_the_whole_file(name: str) -> None:
    whole = parse(SMALL, "small", definitions_only=True).symbols
    wanted = next(symbol for symbol in whole if symbol.name == name)
    text = excerpt(SMALL, [wanted.selection.line])
    assert text.count(b"\n") == SMALL.count(b"\n")
    assert b"other" not in text
    cut = parse(text, "small", definitions_only=True).symbols
    alike = [symbol for symbol in cut if symbol.name == name]
    assert [_told(symbol) for symbol in alike] == [_told(symbol) for symbol in whole if symbol.name == name]
    assert _told(cut[0]) == _told(whole[0])


def _told(symbol: Definition) -> object:
    return (
        symbol.name,
        symbol.kind,
        symbol.flags,
        symbol.span,
        symbol.selection,
        symbol.signature,
        symbol.documentation,
        symbol.extra_ranges,
    )


CLASS = b'''from typing import overload

@decorated
class Wide(Base):
    """A wide one."""

    # about uno
    uno: int
    """What one is."""
    @property
    def two(self) -> int: ...
    @two.setter
    def two(self, value: int) -> None: ...
    @overload
    def three(self, value: int) -> int: ...
    def between(self): ...
    @overload
    def three(self, value: str) -> str: ...
    def begins(self):
        self.four = 1; self . \\
            five = 2
    def goes_on(self): self.four = 2
    six = 6; seven = (
        7)
    class Within:
        eight = 8
        def nine(self): ...
    if COND:
        def ten(self): ...
    else:
        ten = None
    def last(self): ...
    """Not the docstring."""
    # the end
class Narrow: eleven = 11
class Noted:
    # of what it has
    """Noted."""
    def fourteen(self): ...
    def fifteen(self): ...
    def sixteen(self): ...
    # and no more
class Wide:
    def first(self): ...
    def two(self): ...
    def twelve(self): ...
    def thirteen(self): ...
class Sets:
    def sets(self):
        global late
        late = 1
    def still_here(self): ...
late = 2
'''


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("Wide", b"uno between begins seven Within twelve"),
        ("uno", b"two between begins seven Within twelve"),
        ("two", b"uno three between begins seven Within twelve"),
        ("three", b"uno two between begins seven Within twelve"),
        ("four", b"uno two three between seven Within twelve"),
        ("five", b"uno two three between seven Within twelve"),
        ("seven", b"uno two three between begins Within twelve"),
        ("eight", b"uno two three between begins seven ten twelve"),
        ("ten", b"uno two three between begins seven Within twelve"),
        ("last", b"uno two three between begins seven Within twelve"),
        ("eleven", b"uno two three between begins seven Within twelve"),
        ("Noted", b"fourteen fifteen"),
        ("fifteen", b"fourteen sixteen"),
        ("late", b"uno two three between begins seven Within twelve"),
    ],
)
def test_a_member_is_what_it_is_in_the_whole_class(name: str, without: bytes) -> None:
    """And its class, too; other members cost nothing."""
    whole = parse(CLASS, "wide", definitions_only=True).symbols
    wanted = [symbol.selection.line for symbol in whole if symbol.name == name]
    for line in wanted:
        text = excerpt(CLASS, [line])
        assert text.count(b"\n") == CLASS.count(b"\n")
        assert [word for word in without.split() if word in text] == []
        cut = parse(text, "wide", definitions_only=True).symbols
        about = {name, "Wide", "Narrow", "Noted", "Sets"} & {symbol.name for symbol in cut}
        assert name in about
        assert [_told(one) for one in cut if one.name in about] == [_told(one) for one in whole if one.name in about]


BRANCHES = b"""import sys
if sys.platform == "win32":
    # there
    def first(): ...
    def one(): ...
    class Two:
        def three(self): ...
        def four(self): ...
        def five(self): ...
    def six(): ...
elif sys.version_info >= (3, 12):
    seven: int
    def one(): ...
    __all__ = ["eight"]
    def six(): ...
else:
    def nine(): ...
    def eight(): ...
    def six(): ...
sys.platform = "nowhere"
"""


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("one", b"Two four eight()"),
        ("four", b"one eight()"),
        ("eight", b"one three"),
        ("Two", b"one four"),
        ("six", b"one four eight()"),
    ],
)
def test_of_branches_what_is_not_wanted_goes(name: str, without: bytes) -> None:
    whole = parse(BRANCHES, "branches", definitions_only=True).symbols
    for line in [symbol.selection.line for symbol in whole if symbol.name == name]:
        text = excerpt(BRANCHES, [line])
        assert [word for word in without.split() if b" " + word in text] == []
        cut = parse(text, "branches", definitions_only=True).symbols
        assert [_told(one) for one in cut if one.name in (name, "branches")] == [
            _told(one) for one in whole if one.name in (name, "branches")
        ]


def test_text_with_errors_is_left_as_it_is() -> None:
    broken = SMALL + b"def (:\n"
    assert excerpt(broken, [10]) == broken


@pytest.mark.parametrize("module", MODULES)
def test_modules_of_the_standard_library(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is pointed at: definitions, uses, parameters, the module."""
    _holds_of(STDLIB / f"{module}.py", module, monkeypatch)


@pytest.mark.parametrize(
    "module", ["builtins", "typing", "types", "ssl", "asyncio/events", "collections/__init__", "os/__init__", "sys/__init__"]
)
def test_stubs_of_the_standard_library(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes of hundreds of members, which every crawl points to."""
    [stub] = (Path(sysconfig.get_paths()["purelib"]) / "basedpyright").rglob(f"stdlib/{module}.pyi")
    assert excerpt(stub.read_bytes(), [0]) != stub.read_bytes()
    _holds_of(stub, module, monkeypatch)


def _holds_of(path: Path, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = random.Random(module)
    syntax = parse(path.read_bytes(), module, definitions_only=True)
    tokens = syntax.tokens
    places = [(tokens.line[i], tokens.col[i], tokens.line[i], tokens.end_col[i]) for i in range(len(tokens))]
    for _ in range(4):
        wanted = [*chosen.sample(places, chosen.choice((1, 3))), *chosen.choice(([], [(0, 0, 0, 0)]))]
        found = _read(path, wanted)
        with monkeypatch.context() as patched:
            patched.setattr("indexer.crawl.worker.externals._LONG_PYTHON_BYTES", 10_000_000)
            assert found == _read(path, wanted), wanted


def _read(path: Path, wanted: list[Position]) -> list[DocumentFacts]:
    return read_external(
        ExternalJob(number=0, wanted={str(path): wanted}, languages={str(path): "python"}, everything=True), Externals(), "/nowhere"
    )
