"""Which build of a repository takes a file in: Go's constraints, and folders that its command leaves out. Pure.

A build constraint is a line `//go:build EXPR` above the package clause, or the end of the file's name (`_linux.go`, `_windows_amd64.go`).
A server loads one build. Files of other builds are crawled by a server that is told of theirs (`variants`), or are a gap with the reason.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from indexer.languages import GO

SYSTEMS = frozenset(
    [
        "aix",
        "android",
        "darwin",
        "dragonfly",
        "freebsd",
        "hurd",
        "illumos",
        "ios",
        "js",
        "linux",
        "nacl",
        "netbsd",
        "openbsd",
        "plan9",
        "solaris",
        "wasip1",
        "windows",
        "zos",
    ]
)
MACHINES = frozenset(
    [
        "386",
        "amd64",
        "arm",
        "arm64",
        "loong64",
        "mips",
        "mips64",
        "mips64le",
        "mipsle",
        "ppc64",
        "ppc64le",
        "riscv64",
        "s390x",
        "sparc64",
        "wasm",
    ]
)
_UNIX = frozenset(["aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "linux", "netbsd", "openbsd", "solaris"])
_USUAL_MACHINE = {"js": "wasm", "wasip1": "wasm", "aix": "ppc64", "zos": "s390x"}
_IMPLIED = {"android": "linux", "ios": "darwin", "illumos": "solaris"}
_ALWAYS = frozenset({"gc"})
_ALONE = frozenset({"ignore"})
"""Tags of single-file programs, which servers load one by one."""

_CONSTRAINT = re.compile(r"^//go:build[ \t]+([^ \t\n].*)$", re.MULTILINE)
_PACKAGE = re.compile(r"^package\b", re.MULTILINE)
_TOKEN = re.compile(r"(?:(?<!\s)\s+)?(\|\||&&|!|\(|\)|[\w.]+)")
_MOST_TAGS = 6
_MOST_VARIANTS = 6
_HEADER_BYTES = 20_000


class Build(NamedTuple):
    """One way to build: the system and machine that it is for, and tags. The default is that of servers here."""

    system: str = "linux"
    machine: str = "amd64"
    tags: tuple[str, ...] = ()

    def has(self, tag: str) -> bool:
        """Whether a tag is set in this build; every released version of Go counts as reached."""
        return (
            tag in (self.system, self.machine, _IMPLIED.get(self.system))
            or tag in self.tags
            or tag in _ALWAYS
            or (tag == "unix" and self.system in _UNIX)
            or (tag == "cgo" and self.system == DEFAULT.system)
            or re.fullmatch(r"go1\.\d+", tag) is not None
        )

    @property
    def label(self) -> str:
        """`windows`, `linux sonic`: what differs from the default."""
        parts = [self.system] if self.system != DEFAULT.system else []
        parts += [self.machine] if self.machine not in (DEFAULT.machine, _USUAL_MACHINE.get(self.system)) else []
        return " ".join([*parts, *self.tags])


DEFAULT = Build()


def constraint(language: str, path: str, source: bytes) -> str:
    """What a file demands of a build, as one expression; empty where it demands nothing."""
    if language != GO.name:
        return ""
    header = source[:_HEADER_BYTES].decode("utf-8", "replace")
    package = _PACKAGE.search(header)
    written = _CONSTRAINT.search(header, 0, package.start() if package else len(header))
    parts = [written.group(1).rstrip(" \t\r")] if written else []
    stem = path.rpartition("/")[2].removesuffix(".go").removesuffix("_test").split("_")
    if len(stem) > 2 and stem[-2] in SYSTEMS and stem[-1] in MACHINES:
        parts += stem[-2:]
    elif len(stem) > 1 and (stem[-1] in SYSTEMS or stem[-1] in MACHINES):
        parts.append(stem[-1])
    return " && ".join(f"({part})" if "||" in part and len(parts) > 1 else part for part in parts)


def holds(expression: str, has: Callable[[str], bool]) -> bool:
    """Whether a build with these tags takes the file in; an expression that cannot be read demands nothing."""
    try:
        return _Expression(expression).evaluate(has) if expression else True
    except ValueError:
        return True


def tags_in(expression: str) -> list[str]:
    """The tags that an expression names, each once, in order."""
    return list(dict.fromkeys(token for token in _TOKEN.findall(expression) if token[0].isalnum() or token[0] == "_"))


class _Expression:
    """`a && !(b || c)`: binds as in Go."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None:
                raise ValueError(text)
            self._tokens.append(match.group(1))
            at = match.end()

    def evaluate(self, has: Callable[[str], bool]) -> bool:
        rest = list(reversed(self._tokens))
        value = self._any(rest, has)
        if rest:
            raise ValueError("more than an expression")
        return value

    def _any(self, rest: list[str], has: Callable[[str], bool]) -> bool:
        value = self._all(rest, has)
        while rest and rest[-1] == "||":
            rest.pop()
            value = self._all(rest, has) or value
        return value

    def _all(self, rest: list[str], has: Callable[[str], bool]) -> bool:
        value = self._one(rest, has)
        while rest and rest[-1] == "&&":
            rest.pop()
            value = self._one(rest, has) and value
        return value

    def _one(self, rest: list[str], has: Callable[[str], bool]) -> bool:
        if not rest:
            raise ValueError("ends too early")
        token = rest.pop()
        if token == "!":  # noqa: S105
            return not self._one(rest, has)
        if token == "(":  # noqa: S105
            value = self._any(rest, has)
            if not rest or rest.pop() != ")":
                raise ValueError("is not closed")
            return value
        if token in ("&&", "||", ")"):
            raise ValueError(token)
        return has(token)


def variants(constraints: Mapping[str, str]) -> dict[str, Build | None]:
    """The build that takes in each of these files, as few different ones as it takes; None where none was found.

    Args:
        constraints: by path, of files that the default build leaves out.
    """
    found: dict[str, Build | None] = {}
    used: list[Build] = [DEFAULT]
    for path in sorted(constraints, key=lambda path: (len(tags_in(constraints[path])), path)):
        expression = constraints[path]
        fitting = next((build for build in used if holds(expression, build.has)), None)
        if fitting is None and len(used) <= _MOST_VARIANTS:
            fitting = next((build for build in _candidates(expression) if holds(expression, build.has)), None)
            if fitting is not None:
                used.append(fitting)
        found[path] = fitting
    return found


def other_builds(constraints: Mapping[str, str]) -> dict[str, str]:
    """By path, the label of the build that takes in a file which the default one leaves out; of what no build takes in, nothing.

    Files of the default build are asked about in that one alone. So who among them uses what such a file defines is unknown.
    """
    found = variants({path: text for path, text in constraints.items() if is_left_out(text)})
    return {path: build.label for path, build in sorted(found.items()) if build is not None}


def _candidates(expression: str) -> Iterable[Build]:
    """Builds to try for an expression, those nearest to the default first."""
    named = tags_in(expression)
    systems = [DEFAULT.system, *(tag for tag in named if tag in SYSTEMS and tag != DEFAULT.system)]
    systems += ["windows"] if "windows" not in systems else []  # what is for no unix system
    machines = [tag for tag in named if tag in MACHINES]
    free = [tag for tag in named if tag not in SYSTEMS and tag not in MACHINES and not DEFAULT.has(tag) and tag != "unix"][:_MOST_TAGS]
    for size in range(len(free) + 1):
        for system in systems:
            for machine in dict.fromkeys([_USUAL_MACHINE.get(system, DEFAULT.machine), *machines]):
                for tags in itertools.combinations(free, size):
                    yield Build(system, machine, tags)


def is_left_out(expression: str) -> bool:
    """Whether the default build leaves a file out that demands this. A single-file program (`//go:build ignore`) is a build of its own."""
    return bool(expression) and _ALONE.isdisjoint(tags_in(expression)) and not holds(expression, DEFAULT.has)


def left_out(language: str, path: str, source: bytes) -> str:
    """Why no build that was loaded takes a file in, in words for people."""
    if language == GO.name:
        expression = constraint(language, path, source)
        if expression and not holds(expression, DEFAULT.has):
            return f"behind build constraint '{expression}'"
        folder = next((part for part in path.split("/")[:-1] if part == "testdata" or part.startswith(("_", "."))), "")
        if folder:
            return f"in '{folder}', which the go command leaves out"
        return "in a module that could not be loaded"
    return "its server knows no build with this file"
