"""Where a text stands in a document, for edits that name the text and not its place.

Three ways, the first that fits counts, and each must fit exactly once: `exact`; `line_ends`, with CRLF and LF taken as one; `indentation`,
whole lines whose words are the same, however they are spaced. In the last, all lines of one indentation in `old_text` must have one in
the file too, and the new text is shifted as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from indexer.errors import EditRefused
from query.edits.text import Document, Edit

_MAX_LISTED = 20
_LINE_END = re.compile("\r\n|\n|\r")

How = Literal["exact", "line_ends", "indentation"]


@dataclass(frozen=True, kw_only=True)
class Found:
    edit: Edit
    how: How


def find(document: Document, old_text: str, new_text: str, where: str = "the document") -> Found:
    """The one edit that replaces `old_text`.

    Raises:
        EditRefused: the text is not there, or more than once; the message lists at most 20 lines.
    """
    starts = list(_occurrences(document.text, old_text))
    if starts:
        start = _only(document, starts, where)
        return Found(edit=_edit(document, start, start + len(old_text), new_text), how="exact")
    wanted = _LINE_END.sub("\n", old_text)
    plain, removed = _with_newlines(document.text)
    starts = list(_occurrences(plain, wanted)) if removed or wanted != old_text else []
    if starts:
        _only(document, [_back(start, removed) for start in starts], where)
        start, end = _back(starts[0], removed), _back(starts[0] + len(wanted), removed)
        return Found(edit=_edit(document, start, end, new_text), how="line_ends")
    return Found(edit=_by_lines(document, wanted, _LINE_END.sub("\n", new_text), where), how="indentation")


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    """Where it begins, overlapping ones too; at most one more than an error lists."""
    at = text.find(wanted)
    listed = 0
    while at >= 0 and listed <= _MAX_LISTED:
        yield at
        listed += 1
        at = text.find(wanted, at + 1)


def _only(document: Document, starts: Sequence[int], where: str) -> int:
    if len(starts) > 1:
        raise _several([document.lines.line_of(start) for start in starts], where)
    return starts[0]


def _several(lines: Sequence[int], where: str) -> EditRefused:
    listed = ", ".join(str(line + 1) for line in lines[:_MAX_LISTED])
    more = ", …" if len(lines) > _MAX_LISTED else ""
    return EditRefused(f"old_text stands in {where} several times, on lines {listed}{more}; give more of what is around it")


def _edit(document: Document, start: int, end: int, new_text: str) -> Edit:
    return Edit(start=document.lines.position(start), end=document.lines.position(end), new_text=new_text)


def _with_newlines(text: str) -> tuple[str, list[int]]:
    """The text with every line end a newline, and the places in it behind which one more character was taken out each."""
    if "\r" not in text:
        return text, []
    removed = [match.start() - number for number, match in enumerate(re.finditer("\r\n", text))]
    return _LINE_END.sub("\n", text), removed


def _back(offset: int, removed: Sequence[int]) -> int:
    """The offset in the text as it was."""
    return offset + bisect_right(removed, offset - 1)


# ---- by lines


def _by_lines(document: Document, old_text: str, new_text: str, where: str) -> Edit:
    whole = old_text.endswith("\n")  # then the last line's end is replaced too
    old = old_text.removesuffix("\n").split("\n")
    count = len(document.lines)
    text = [document.text[slice(*document.lines.bounds(line))] for line in range(count)]
    haystack = "\n" + "\n".join(map(_words, text)) + "\n"
    needle = "\n" + "\n".join(map(_words, old)) + "\n"
    if not needle.strip():
        raise _absent(document, old, text, where)
    alike: list[int] = []
    at = haystack.find(needle)
    line, counted = 0, 0
    while at >= 0 and len(alike) <= _MAX_LISTED:
        line += haystack.count("\n", counted, at)
        counted = at
        alike.append(line)
        at = haystack.find(needle, at + 1)
    fitting = [(line, shift) for line in alike if (shift := _shift(old, text[line : line + len(old)])) is not None]
    if len(fitting) > 1:
        raise _several([line for line, _ in fitting], where)
    if not fitting:
        raise _absent(document, old, text, where, alike)
    line, shift = fitting[0]
    last = line + len(old) - 1
    start, end = document.lines.bounds(line)[0], document.lines.bounds(last)[1]
    if whole and last + 1 < count:
        end = document.lines.bounds(last + 1)[0]
    elif whole:
        new_text = new_text.removesuffix("\n")  # the file's last line has no end
    return _edit(document, start, end, "\n".join(_shifted(part, shift) for part in new_text.split("\n")))


def _words(line: str) -> str:
    return " ".join(line.split())


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _shift(old: Sequence[str], there: Sequence[str]) -> dict[str, str] | None:
    """The file's indentation for each of the old text; None where one would need two."""
    shift: dict[str, str] = {}
    for line, other in zip(old, there, strict=True):
        if line.strip() and shift.setdefault(_indentation(line), _indentation(other)) != _indentation(other):
            return None
    return shift


def _shifted(line: str, shift: dict[str, str]) -> str:
    if not line.strip():
        return line
    own = _indentation(line)
    rest = line[len(own) :]
    known = max((old for old in shift if own.startswith(old)), key=len, default=None)
    if known is not None:
        return shift[known] + own[len(known) :] + rest
    old, new = min(shift.items(), key=lambda item: len(item[0]))  # outside of all that is known
    if new.endswith(old):
        return new[: len(new) - len(old)] + line
    return line.removeprefix(old.removesuffix(new)) if old.endswith(new) else line


def _absent(document: Document, old: Sequence[str], text: Sequence[str], where: str, alike: Sequence[int] = ()) -> EditRefused:
    if alike:
        lines = ", ".join(str(line + 1) for line in alike[:_MAX_LISTED])
        return EditRefused(f"old_text is not in {where}: lines {lines} read alike, and are indented differently among themselves")
    first = next((words for line in old if (words := _words(line))), "")
    near = [str(number + 1) for number, line in enumerate(text) if first and first in _words(line)][:_MAX_LISTED]
    hint = f"; its first line is on {', '.join(near)}, what follows differs" if near else ""
    return EditRefused(f"old_text is not in {where}{hint}; read the file again")
