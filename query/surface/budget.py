"""Answers that fit: what is too long for the caller is cut row by row, and kept whole in a file.

Two limits. A tool's `max_result_chars` is what may ever be handed over; above it the whole answer is written to a file and the
reply is its path and the beginning. A caller's own budget (an agent's context) cuts to the most important rows, which come first
in every answer. Either way a cursor goes on exactly there: it names the first row (`query.surface.parts`) that was not told.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import writes
from indexer.quoting import visible
from indexer.store.generations import FOLDER, Home
from query.answers.envelope import Answer, Reason
from query.answers.pages import Cursor, parsed
from query.surface.parts import CUT, Parts
from query.surface.registry import load

PREVIEW_CHARS = 8_000
"""Of an answer that went to a file: about 2,000 tokens."""

_FEW_PATHS = 3
_DETAIL_CHARS = 120

_KEPT_FILES = 50


Measure = Callable[[Answer[Any]], str]


def to_json(answer: Answer[Any]) -> str:
    """Exactly the answer, in JSON that no terminal takes for anything else."""
    return visible(msgspec.json.encode(answer).decode())


def bounded(answer: Answer[Any], result: Any, max_chars: int, home: Home | None, measure: Measure = to_json) -> Answer[Any]:
    """The answer itself, or where it is longer than `max_chars` characters: its beginning, and where all of it is (as JSON).

    Args:
        result: type of the tool's result. max_chars: 0 for no limit. home: where the file goes; None: the folder for temporary files.
        measure: the form whose length counts.
    """
    if max_chars and len(measure(answer)) > max_chars:
        return shorten(kept(answer, home), result, min(PREVIEW_CHARS, max_chars), measure)
    return begun(answer, result)


def kept(answer: Answer[Any], home: Home | None) -> Answer[Any]:
    """The answer, which says where a file has all of it."""
    return msgspec.structs.replace(answer, result_file=str(_write(to_json(answer), answer.tool, home)))


def begun(answer: Answer[Any], result: Any) -> Answer[Any]:
    """The answer without the rows that its cursor says were told before; the answer itself where it says nothing of rows."""
    first = row_of(answer)
    if not first:
        return answer
    parts = Parts(msgspec.to_builtins(answer.result))
    return _cut(answer, parts, result, first, max(first, parts.rows))


def shorten(answer: Answer[Any], result: Any, max_chars: int, measure: Measure = to_json) -> Answer[Any]:
    """As many rows as fit, but for the last fiftieth of the room, from the one on that the cursor names, and the cursor of the next.

    Where not even one row fits, the words around it are cut, and at last the row itself is in the answer, which is then too long.

    Args:
        result: type of the tool's result. measure: the form whose length counts.
    """
    first = row_of(answer)
    length = 0 if first else len(measure(answer))
    if not first and length <= max_chars:
        return answer
    parts = Parts(msgspec.to_builtins(answer.result))
    end = max(first, parts.rows)
    if first or end == first:
        whole = _cut(answer, parts, result, first, end)
        length = len(measure(whole))
        if length <= max_chars or end == first:
            return whole
    best = answer

    def fits(rows: int) -> int:
        nonlocal best
        part = _cut(answer, parts, result, first, first + rows)
        if (found := len(measure(part))) <= max_chars:
            best = part
        return found

    high, high_chars = end - first, length
    guess = high * max_chars // length  # rows are much alike, so this many mostly fit, and no further lengths are needed
    if guess > 1:
        if (found := fits(guess)) <= max_chars:
            _most(guess, found, high, high_chars, max_chars, fits)
            return best
        high, high_chars = guess, found
    best = _cut(answer, parts, result, first, first + 1)
    shortest = len(measure(best))
    for slimmer in _SLIMMER:
        if shortest <= max_chars:
            break
        answer, high, high_chars = slimmer(answer), end - first, length
        best = _cut(answer, parts, result, first, first + 1)
        shortest = len(measure(best))
    if shortest <= max_chars:
        _most(1, shortest, high, high_chars, max_chars, fits)
    return best


def _most(low: int, low_chars: int, high: int, high_chars: int, max_chars: int, chars: Callable[[int], int]) -> None:
    """Asks for the length of ever more fitting numbers of rows, until one fits that leaves little room, or is the largest that fits.

    Rows are much alike, so a straight line between a number that fits and one that does not says about where to look; where it errs to
    the same side twice, the middle is next.

    Args:
        low, high: a number that fits, and one that does not. chars: the length of so many rows.
    """
    sides: list[bool] = []
    while high - low > 1 and max_chars - low_chars > max_chars // _ROOM:
        guess = low + (max_chars - low_chars) * (high - low) // max(1, high_chars - low_chars)
        if len(sides) > 1 and sides[-1] == sides[-2]:
            guess, sides = (guess + (2 if sides[-1] else -2)) if high - low > _NEAR else (low + high) // 2, []
        guess = min(max(guess, low + 1), high - 1)
        found = chars(guess)
        sides.append(found <= max_chars)
        if found <= max_chars:
            low, low_chars = guess, found
        else:
            high, high_chars = guess, found


def row_of(answer: Answer[Any]) -> int:
    """The row of the tool's own answer with which a continued answer begins."""
    return parsed(str(answer.query.get("cursor", ""))).row


def _cut(answer: Answer[Any], parts: Parts, result: Any, first: int, end: int) -> Answer[Any]:
    part = msgspec.convert(parts.part(first, end), result)
    if end >= parts.rows:
        return msgspec.structs.replace(answer, result=part)
    changes: dict[str, Any] = {"result": part, "shortened": True, "truncated": True}
    if load(answer.tool)[0].continues:
        changes["next_cursor"] = str(Cursor(parsed(str(answer.query.get("cursor", ""))).own, end))
    return msgspec.structs.replace(answer, **changes)


def _with_few_paths(answer: Answer[Any]) -> Answer[Any]:
    return _with_reasons(answer, lambda reason: msgspec.structs.replace(reason, paths=reason.paths[:_FEW_PATHS]))


def _with_short_reasons(answer: Answer[Any]) -> Answer[Any]:
    return _with_reasons(answer, lambda reason: msgspec.structs.replace(reason, paths=[], detail=_clipped(reason.detail)))


def _with_codes(answer: Answer[Any]) -> Answer[Any]:
    """The status, and the kinds of reasons; the cursor is all that is needed of the question."""
    slim = _with_reasons(answer, lambda reason: msgspec.structs.replace(reason, paths=[], detail=""))
    return msgspec.structs.replace(slim, query={key: value for key, value in answer.query.items() if key == "cursor"})


_NEAR = 8
_ROOM = 50
"""So large a part of the room may stay free: to fill it would cost as many lengths as to come so far."""

_SLIMMER = (_with_few_paths, _with_short_reasons, _with_codes)
"""What is left out around the rows before a row is, step by step."""


def _with_reasons(answer: Answer[Any], change: Callable[[Reason], Reason]) -> Answer[Any]:
    known = answer.completeness
    return msgspec.structs.replace(
        answer, completeness=msgspec.structs.replace(known, reasons=[change(reason) for reason in known.reasons])
    )


def _clipped(text: str) -> str:
    return text if len(text) <= _DETAIL_CHARS else text[:_DETAIL_CHARS] + CUT


def _write(text: str, tool: str, home: Home | None) -> Path:
    """A new file that only this user can read; in the index's folder the newest are kept."""
    import tempfile  # not for the many answers that fit

    folder: Path | None = None
    if home is not None:
        try:
            folder = home.folder("answers")
        except OSError:  # a read-only checkout
            folder = None
    handle, name = tempfile.mkstemp(prefix=f"{'' if folder else FOLDER.lstrip('.') + '-'}{tool}-", suffix=".json", dir=folder)
    with writes(name), os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    if folder is not None:
        files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        for old in files[:-_KEPT_FILES]:
            old.unlink(missing_ok=True)
    return Path(name)
