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


def test_text_with_errors_is_left_as_it_is() -> None:
    broken = SMALL + b"def (:\n"
    assert excerpt(broken, [10]) == broken


@pytest.mark.parametrize("module", MODULES)
def test_modules_of_the_standard_library(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is pointed at: definitions, uses, parameters, the module."""
    path = STDLIB / f"{module}.py"
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
