"""What an edit brings and takes away: diagnostics before and after, told apart from those that only moved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from query.answers.diagnostic import Diagnostic
from query.edits import diff
from query.edits.text import Document

_PLACE = re.compile(r"(?i)\b(lines?|ln|columns?|col)([ :]+)\d+(-\d+)?|:\d+(:\d+)?\b|\(\d+,\s?\d+\)")
"""Numbers of lines and columns within a message: they change when lines are added above."""


class Delta(NamedTuple):
    """Of all severities, each in the order of path and position; `introduced` are of the texts after, `resolved` of those before."""

    introduced: list[Diagnostic]
    resolved: list[Diagnostic]


class Lines:
    """Which lines of two texts are the same one. A replaced part is a place of its own: what is said in it is compared without lines."""

    def __init__(self, before: Document, after: Document) -> None:
        self._blocks: list[tuple[int, int, int, int]] = []
        """Replaced lines, from and to, before and after."""
        shift = 0
        for edit in diff.edits(before, after):
            start = edit.start[0]
            end = edit.end[0] if edit.end[1] == 0 and edit.end > edit.start else edit.end[0] + (edit.end > edit.start)
            parts = edit.new_text.splitlines(keepends=True)
            self._blocks.append((start, end, start + shift, start + shift + len(parts)))
            shift += len(parts) - (end - start)

    def before(self, line: int) -> tuple[str, int]:
        """Where a line, 0-based, of the text before is."""
        shift = 0
        for number, (start, end, _, new_end) in enumerate(self._blocks):
            if line < start:
                break
            if line < end:
                return "replaced", number
            shift = new_end - end
        return "line", line + shift

    def after(self, line: int) -> tuple[str, int]:
        """As `before`, of the text after."""
        for number, (_, _, new_start, new_end) in enumerate(self._blocks):
            if new_start <= line < new_end:
                return "replaced", number
        return "line", line


def compare(before: Iterable[Diagnostic], after: Iterable[Diagnostic], lines: Mapping[str, Lines]) -> Delta:
    """Takes out, one for one, what is in both: the same severity, code and words at the same line of the same file.

    Args:
        lines: of the files whose texts differ.
    """
    old, new = list(before), list(after)
    old_keys = [_key(item, lines, is_before=True) for item in old]
    new_keys = [_key(item, lines, is_before=False) for item in new]
    return Delta(introduced=_left(new, new_keys, Counter(old_keys)), resolved=_left(old, old_keys, Counter(new_keys)))


_Key = tuple[str, int, str, str, tuple[str, int]]


def _key(item: Diagnostic, lines: Mapping[str, Lines], *, is_before: bool) -> _Key:
    of = lines.get(item.path)
    line = item.line - 1
    where = ("line", line) if of is None else of.before(line) if is_before else of.after(line)
    return item.path, item.number, item.code, plain(item.message), where


def plain(message: str) -> str:
    """A message without the places that it names, and without its spacing."""
    return " ".join(_PLACE.sub("#", message).split())


def _left(items: Sequence[Diagnostic], keys: Sequence[_Key], others: Counter[_Key]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for item, key in zip(items, keys, strict=True):
        if others[key] > 0:
            others[key] -= 1
        else:
            found.append(item)
    return sorted(found, key=lambda item: (item.number, item.path, item.line, item.col, item.code, item.message))
