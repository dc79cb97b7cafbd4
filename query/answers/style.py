"""How answers look as text: the pieces that the `text` functions of the tools are made of.

Two styles have the same content. Wide, for people: every place is printed as path:line:col, so that terminals and editors make it a
link. Compact, for agents: a path once, then the lines below it. Names and source lines come from the repository: `indexer.quoting`
says which of their characters reach a reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import click

from indexer.quoting import one_line as one_line  # the tools take both from here
from indexer.quoting import visible as printable
from query.answers.envelope import Place, SymbolRecord

_CR = "\r"
_MAX_SIGNATURE = 160


def count(number: int, what: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {what}{'s' if number != 1 else ''}"


class Style:
    """One way to print. `compact` leaves out what repeats; `color` adds escape sequences, which click removes off a terminal.

    calls: for who calls tools and types no commands.
    """

    def __init__(self, *, compact: bool = False, color: bool = True, calls: bool = False) -> None:
        self.compact, self.calls = compact, calls
        self.color = color and not compact

    # ---- words

    def path(self, text: str) -> str:
        return self._styled(one_line(text), fg="cyan")

    def heading(self, text: str) -> str:
        """A path or title with lines below it."""
        return self._styled(one_line(text), fg="cyan", bold=True)

    def dim(self, text: str) -> str:
        return self._styled(printable(text), dim=True)

    def kind(self, text: str) -> str:
        return self._styled(text, fg="yellow")

    def strong(self, text: str) -> str:
        return self._styled(printable(text), bold=True)

    def warning(self, text: str) -> str:
        return self._styled(printable(text), fg="yellow")

    def alarm(self, text: str) -> str:
        return self._styled(printable(text), fg="red")

    def good(self, text: str) -> str:
        return self._styled(printable(text), fg="green")

    def _styled(self, text: str, **how: Any) -> str:
        return click.style(text, **how) if self.color else text

    # ---- places and symbols

    def place(self, path: str, line: int, col: int = 0) -> str:
        """`path:line:col`; compact without the column."""
        if not line:
            return self.path(path)
        return self.path(f"{path}:{line}:{col}" if col and not self.compact else f"{path}:{line}")

    def below(self, path: str, line: int, col: int = 0) -> str:
        """A place below a heading that has the path: compact only `line:col`."""
        return f"{line}:{col}" if self.compact else self.path(f"{path}:{line}:{col}")

    def symbol(self, record: SymbolRecord, *, test: bool = True) -> str:
        """Place, kind and name; `[test]` where it lies in a test."""
        note = f"  {self.dim('[test]')}" if test and record.is_test else ""
        name = self.name(record.qualified_name, record.path)
        return f"{self.place(record.path, record.line, record.col)}  {self.kind(record.kind)} {self.strong(name)}{note}"

    def name(self, qualified_name: str, path: str) -> str:
        """A dotted name beside its path: compact without the module, which the path says, so that both together are one name."""
        return within_module(qualified_name, path) if self.compact else qualified_name

    def signature(self, text: str) -> str:
        """A signature on one line."""
        return self.dim(" ".join(text.split())[:_MAX_SIGNATURE])

    def source(self, text: str, start_line: int) -> Iterator[str]:
        """Source lines with their numbers."""
        for number, line in enumerate(text.split("\n"), start_line):
            yield f"{self.dim(str(number) if self.compact else f'{number:6d}')}  {printable(line.rstrip(_CR))}"

    def quote(self, text: str, *, old: bool) -> str:
        """A line of the source; marked where the file has another one by now."""
        return f"{printable(text)}  {self.dim('[as indexed]')}" if old else printable(text)

    def prose(self, text: str) -> Iterator[str]:
        """Text of several lines that others wrote, indented: none of them begins as a line of ours does."""
        for line in text.split("\n"):
            yield f"  {printable(line)}".rstrip()

    def places(self, places: Iterable[Place], indent: str = "  ") -> Iterator[str]:
        for place in places:
            text = f"  {self.quote(place.text, old=place.old)}" if place.text else ""
            yield f"{indent}{self.place(place.path, place.line, place.col)}{text}"

    def references(self, items: Sequence[Any]) -> Iterator[str]:
        """References grouped by file: roles, source line, what is around it."""
        for path, group in groupby(items, key=lambda item: item.path):
            of_file = list(group)
            test = f"  {self.dim('[test]')}" if of_file[0].is_test else ""
            if not self.compact:
                yield ""
            yield f"{self.heading(path)}{test}"
            for item in of_file:
                roles = ",".join(role for role in item.roles if role != "read") or ("live" if item.evidence == "live" else "read")
                note = " ".join(filter(None, (roles, "" if item.evidence != "possible" else "possible")))
                place = self.below(path, item.line, item.col)
                yield f"  {place}  {self.quote(item.text, old=item.old)}  {self.dim(f'[{note}] in {self.name(item.enclosing, path)}')}"


def within_module(qualified_name: str, path: str) -> str:
    """A dotted name without the module of its file: `Box.open` of `src/shop/box.py` and `shop.box.Box.open`; a module's own name stays."""
    parts = path.removesuffix("/__init__.py").split("/")
    parts[-1] = parts[-1].rpartition(".")[0] or parts[-1]
    for start in range(len(parts)):
        module = ".".join(parts[start:]) + "."
        if qualified_name.startswith(module):
            return qualified_name[len(module) :]
    return qualified_name


def headline(style: Style, query: dict[str, Any]) -> str:
    """The name that was asked about, as it was resolved."""
    resolved = query.get("resolved") or {}
    return style.strong(str(resolved.get("qualified_name", "")))
