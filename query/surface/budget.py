"""Answers that fit: what is too long for the caller is cut row by row, and kept whole in a file.

Two limits. A tool's `max_result_chars` is what may ever be handed over; above it the whole answer is written to a file and the
reply is its path and the beginning. A caller's own budget (an agent's context) cuts to the most important rows, which come first
in every answer; a cursor goes on from there.
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
from query.answers.envelope import Answer
from query.answers.pages import offset_of
from query.surface.registry import load

PREVIEW_CHARS = 8_000
"""Of an answer that went to a file: about 2,000 tokens."""

_LINE_CHARS = 160
"""What one row is taken for: where lists are cut to N rows, single texts are cut to N lines of this length."""

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
    if not max_chars or len(measure(answer)) <= max_chars:
        return answer
    file = _write(to_json(answer), answer.tool, home)
    part = shorten(answer, result, min(PREVIEW_CHARS, max_chars), measure)
    return msgspec.structs.replace(part, result_file=str(file), shortened=True)


def shorten(answer: Answer[Any], result: Any, max_chars: int, measure: Measure = to_json) -> Answer[Any]:
    """The first rows of every list, as many as fit.

    Args:
        result: type of the tool's result. measure: the form whose length counts.
    """
    if len(measure(answer)) <= max_chars:
        return answer
    plain = msgspec.to_builtins(answer.result)
    low, high, best = 1, max(2, _longest(plain)), _cut(answer, plain, result, 1)
    while low <= high:
        middle = (low + high) // 2
        part = _cut(answer, plain, result, middle)
        if len(measure(part)) <= max_chars:
            best, low = part, middle + 1
        else:
            high = middle - 1
    return best


def _longest(value: Any) -> int:
    if isinstance(value, list):
        return max([len(value), *(_longest(item) for item in value)])
    if isinstance(value, dict):
        return max([1, *(_longest(item) for item in value.values())])
    return len(value) // _LINE_CHARS + 1 if isinstance(value, str) else 1


def _cut(answer: Answer[Any], plain: Any, result: Any, rows: int) -> Answer[Any]:
    part = msgspec.convert(_rows(plain, rows), result)
    changes: dict[str, Any] = {"result": part, "shortened": True, "truncated": True}
    pages = "cursor" in load(answer.tool)[0].parameters.__struct_fields__
    if pages and isinstance(plain, list) and len(plain) > rows and (answer.next_cursor is not None or not answer.truncated):
        changes["next_cursor"] = str(offset_of(str(answer.query.get("cursor", ""))) + rows)
    return msgspec.structs.replace(answer, **changes)


def _rows(value: Any, rows: int) -> Any:
    """Every list cut to `rows`, every text to as many lines."""
    if isinstance(value, list):
        return [_rows(item, rows) for item in value[:rows]]
    if isinstance(value, dict):
        return {key: _rows(item, rows) for key, item in value.items()}
    if isinstance(value, str) and len(value) > rows * _LINE_CHARS:
        return value[: rows * _LINE_CHARS] + "…"
    return value


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
