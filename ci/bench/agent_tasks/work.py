"""What a task has in its hands: a session over MCP that counts, and a reader that searches and reads as an agent without tools does."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Place = tuple[str, int]
"""Path relative to the repository, 1-based line."""

_AROUND = 20
"""Lines on either side of a hit that a sparing reader takes in."""
_MOST_LINES = 2_000
"""Of a file that is read as a whole, as usual tools for reading give it."""

_PLACE = re.compile(r"^\s*(?P<path>[\w@./+-]+\.[A-Za-z]+):(?P<line>\d+)\b")
_HEADING = re.compile(r"^(?P<path>[\w@./+-]+\.[A-Za-z]+)(?=\s|$)")
_BELOW = re.compile(r"^\s+(?P<line>\d+):\d+\s")
_PLAN = re.compile(r"plan[ =\":]+([0-9a-f]{16})")


class DeadEndError(Exception):
    """A tool refused, or gave nothing to go on with."""


@dataclass(kw_only=True)
class Agent:
    """One client's session. Every answer is taken in: its characters count."""

    session: Any
    calls: int = 0
    characters: int = 0
    log: list[tuple[str, dict[str, Any], str]] = field(default_factory=list[tuple[str, dict[str, Any], str]])

    async def call(self, tool: str, **arguments: Any) -> str:
        """The text of the answer.

        Raises:
            DeadEndError: the answer is an error.
        """
        reply = await self.session.call_tool(tool, arguments)
        text = "".join(getattr(part, "text", "") for part in reply.content)
        self.calls += 1
        self.characters += len(text)
        self.log.append((tool, arguments, text))
        if reply.is_error:
            raise DeadEndError(f"{tool}: {text}")
        return text

    async def applied(self, tool: str, **arguments: Any) -> str:
        """A change as it is shown first and then written, by the plan that was shown.

        Raises:
            DeadEndError: no plan was shown, or it was not written.
        """
        shown = await self.call(tool, **arguments)
        plan = _PLAN.search(shown)
        if plan is None:
            raise DeadEndError(f"{tool} shows no plan: {shown}")
        return await self.call(tool, **arguments, apply=True, plan=plan[1])


@dataclass(kw_only=True)
class Reader:
    """The same work by search and reading: what has to be taken in.

    whole: with every file read from its beginning that a search names. sparing: with 20 lines around each hit only.
    """

    root: Path
    files: Sequence[str]
    whole: int = 0
    sparing: int = 0
    _read: set[str] = field(default_factory=set[str])
    _seen: set[Place] = field(default_factory=set[Place])

    def search(self, pattern: str, *, within: str = "", read: bool = True) -> list[Place]:
        """Lines that match, in files below `within`; `read`: what is found is read, too."""
        wanted = re.compile(pattern)
        hits: list[Place] = []
        for path in self.files:
            if not path.startswith(within):
                continue
            for number, line in enumerate(self._lines(path), 1):
                if wanted.search(line):
                    hits.append((path, number))
                    said = len(f"{path}:{number}:{line}\n")
                    self.whole += said
                    self.sparing += said
        if read:
            self.read(hits)
        return hits

    def read(self, places: Iterable[Place]) -> None:
        """Files that were read before, and lines that were seen before, cost nothing."""
        for path, line in places:
            lines = self._lines(path)
            if path not in self._read:
                self._read.add(path)
                self.whole += sum(len(text) + 1 for text in lines[:_MOST_LINES])
            for number in range(max(1, line - _AROUND), min(len(lines), line + _AROUND) + 1):
                if (path, number) not in self._seen:
                    self._seen.add((path, number))
                    self.sparing += len(lines[number - 1]) + 1

    def _lines(self, path: str) -> list[str]:
        return (self.root / path).read_text(encoding="utf-8", errors="replace").split("\n")


@dataclass(frozen=True, kw_only=True)
class Task:
    """`work` gives the wrong facts that it met; a `DeadEndError` of it is one. `by_reading` is the same without lspidx."""

    number: int
    title: str
    repository: str
    work: Callable[[Agent, Path], Awaitable[list[str]]]
    by_reading: Callable[[Reader], None]
    indexed: bool = True


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a task took; characters of answers, without the list of tools."""

    number: int
    title: str
    repository: str
    calls: int
    characters: int
    whole: int
    sparing: int
    wrong: list[str]
    dead_ends: list[str]


def places(text: str) -> set[Place]:
    """The places in an answer for agents: `path:line …`, and `line:column …` below the last path."""
    found: set[Place] = set()
    path = ""
    for line in text.split("\n"):
        if match := _PLACE.match(line):
            path = match["path"]
            found.add((path, int(match["line"])))
        elif match := _HEADING.match(line):
            path = match["path"]
        elif path and (match := _BELOW.match(line)):
            found.add((path, int(match["line"])))
    return found


def missing(what: str, truth: Iterable[Place], told: Iterable[Place]) -> list[str]:
    """One sentence for each true place that was not told."""
    return [f"{what}: {path}:{line} is not told" for path, line in sorted(set(truth) - set(told))]


def invented(what: str, truth: Iterable[Place], told: Iterable[Place]) -> list[str]:
    """One sentence for each told place that is not true."""
    return [f"{what}: {path}:{line} is told, and is none" for path, line in sorted(set(told) - set(truth))]


def says_complete(text: str) -> bool:
    return " · complete · " in text.rsplit("end of quote", 1)[-1]


def unless(condition: object, fact: str) -> list[str]:
    """The fact that is wrong unless the condition holds."""
    return [] if condition else [fact]
