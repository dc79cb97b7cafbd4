"""Where a test of Java failed: frames of its trace name a class and a file, and no folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from query.toolchain.places import Places

_FRAME = re.compile(
    r"(?m)^\s*at (?:[\w.@-]+/)?(?P<type>[\w.$]{1,500})\.[\w$<>]{1,200}\((?P<file>[\w$]{1,200}\.\w{1,10}):(?P<line>\d{1,9})\)"
)
_VALUES = re.compile(r"(?:\([^()]*\))?(?:\{[^{}]*\})?(?:\[.*\])?\Z", re.DOTALL)
_NAME = re.compile(r"\w[\w.$]{0,500}")
_ROOTS = (
    *("src/test/java", "src/main/java", "src/test/kotlin", "src/main/kotlin", "src/test/groovy", "src/main/groovy"),
    *("test", "src", "."),
)
_MODULES = ("", "*/", "*/*/")
_MOST_TEXT, _MOST_FRAMES = 200_000, 200


def selector(of_class: str, name: str) -> str:
    """A case of a report as it can be run again: without the values that it ran with."""
    return f"{of_class}#{_VALUES.sub('', name)}" if of_class and name else of_class or name


def where(text: str, of_class: str, places: Places) -> tuple[str, int, int]:
    """The line of the test's own file that failed, else of another file of the workspace; without one the test's file."""
    elsewhere = ("", 0, 0)
    for frame in islice(_FRAME.finditer(text[:_MOST_TEXT]), _MOST_FRAMES):
        if frame["type"].startswith(("java.", "jdk.", "org.junit.", "junit.", "sun.")):
            continue
        path = _source(frame["type"], frame["file"], places)
        if path and frame["type"].partition("$")[0] == of_class.partition("$")[0]:
            return path, int(frame["line"]), 0
        if path and not elsewhere[0]:
            elsewhere = path, int(frame["line"]), 0
    top = of_class.partition("$")[0]
    return elsewhere if elsewhere[0] else (_source(top, f"{top.rpartition('.')[2]}.java", places), 0, 0)


def _source(of_class: str, file: str, places: Places) -> str:
    """The file of a class, relative to the workspace; empty where it is nowhere."""
    if not _NAME.fullmatch(of_class):
        return ""
    package = of_class.partition("$")[0].rpartition(".")[0].replace(".", "/")
    inner = f"{package}/{file}" if package else file
    return next((path for path in _candidates(inner, places) if path), "")


def _candidates(inner: str, places: Places) -> Iterator[str]:
    for modules in _MODULES:
        for root in _ROOTS:
            yield places.found(f"{modules}{root}/{inner}")
