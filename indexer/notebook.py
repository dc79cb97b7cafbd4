r"""The code of a notebook as one text with the lines and columns of its file, so that a position is one place for servers and people.

A notebook keeps each line of code as a string on a line of its own. Everything else becomes blank, and all code stands below an `if`,
because of the margin; an escape such as `\"` becomes what it means, with blanks behind it. What only IPython understands (`%magic`,
`!command`, `name?`) is blank, too. No position is mapped anywhere: `nb.ipynb:31:18` is that place of the file (ADR 0047).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from indexer.languages import PYTHON

_HEAD = "if 1:"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)
_ESCAPES = re.compile(r'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))+')
_ALL_ESCAPED = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_END_OF_LINE = re.compile(r"(?:\\r)?\\n\Z")
_OF_PYTHON = ("time", "timeit", "capture", "prun", "mprun", "lprun", "memit")
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_LINE_MAGIC = re.compile(r"(\s*)(%(?:" + "|".join(_OF_PYTHON) + r")\b)(.*)", re.DOTALL)
_COMMAND = re.compile(r"(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)\Z", re.DOTALL)
_ASSIGNED = re.compile(r"(\s*[\w,][\w, ]*=\s*)[!%].*\Z", re.DOTALL)


_CELL = ["", "cells", ""]
"""The keys that lead to a cell."""


class _Line(NamedTuple):
    """A line of code: where its string stands in the file, after the quotation mark, and the string as it is written there."""

    line: int
    col: int
    text: str


def code_of(text: str) -> str | None:
    """The code of a notebook in Python; None for another language, and for a file that does not keep its code line by line."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or not _is_python(cast("Mapping[str, Any]", raw).get("metadata")):
        return None
    cells = list(_cells(text))
    lines = [line for cell in cells for line in cell]
    if len({line.line for line in lines}) != len(lines) or len({line.col for line in lines}) > 1:
        return None
    if any("\\n" in _ALL_ESCAPED.findall(_END_OF_LINE.sub("", line.text)) for line in lines):
        return None
    made = [""] * (text.count("\n") + 1)
    if any(line.line == 0 or line.col < len(_HEAD) for line in lines):
        return None
    for cell in cells:
        for line, code in zip(cell, _python([_meaning(line.text) for line in cell]), strict=True):
            made[line.line] = (" " * line.col + code).rstrip()
    if any(made):
        made[0] = _HEAD
    return "\n".join(made)


def is_kept(new_text: str) -> bool:
    """Whether text may be written into the code of a notebook as it is, in the place of other text."""
    return json.dumps(new_text, ensure_ascii=False) == f'"{new_text}"'


def _is_python(metadata: Any) -> bool:
    """By the notebook's own word; one that does not say is taken for Python, as Jupyter does."""
    if not isinstance(metadata, dict):
        return True
    known = cast("Mapping[str, Any]", metadata)
    for key, inner in (("kernelspec", "language"), ("language_info", "name")):
        said = known.get(key)
        if isinstance(said, dict) and isinstance(language := cast("Mapping[str, Any]", said).get(inner), str):
            return language.lower() in (PYTHON.name, f"i{PYTHON.name}")
    return True


def _cells(text: str) -> Iterator[list[_Line]]:
    """The lines of each cell with code. The file is known to be JSON."""
    path: list[str] = []  # for each open bracket the key that it is the value of
    key = last = kind = ""
    lines: list[_Line] = []
    line = line_start = done = 0
    for match in _TOKEN.finditer(text):
        sign, start = match[0], match.start()
        if newlines := text.count("\n", done, start):
            line, line_start = line + newlines, text.rfind("\n", done, start) + 1
        done = start
        in_cell = path == _CELL
        if sign in "{[":
            path.append(key)
            if path == _CELL:
                kind, lines = "", []
        elif sign in "}]":
            if in_cell and kind == "code":
                yield lines
            path.pop()
        elif sign not in ":,":
            last = sign
            if in_cell and key == "cell_type":
                kind = sign[1:-1]
            elif len(sign) > 2 and (path == [*_CELL, "source"] or (in_cell and key == "source")):
                lines.append(_Line(line, start - line_start + 1, sign[1:-1]))
        key = last[1:-1] if sign == ":" else "" if sign in "{[}],:" else key


def _meaning(written: str) -> str:
    r"""A line of code for what JSON has written, as long as that: runs of escapes are followed by the blanks that they leave."""
    ends = _END_OF_LINE.search(written)
    body = written[: ends.start()] if ends else written
    return _ESCAPES.sub(lambda run: _unescaped(run[0]), body) if "\\" in body else body


def _unescaped(run: str) -> str:
    meant = "".join(cast("str", json.loads(f'"{part}"')) for part in _ALL_ESCAPED.findall(run))
    meant = "".join(sign if sign.isprintable() or sign == "\t" else " " for sign in meant)
    return meant + " " * (len(run) - len(meant))


def _python(cell: list[str]) -> list[str]:
    """The lines of a cell without what only IPython understands."""
    if cell and (magic := _CELL_MAGIC.match(cell[0])):
        return ["", *cell[1:]] if magic[1] in _OF_PYTHON else [""] * len(cell)
    return [_statement(line) if "%" in line or "!" in line or "?" in line else line for line in cell]


def _statement(line: str) -> str:
    if match := _LINE_MAGIC.match(line):
        return match[1] + _moved(match[2], match[3])
    match = _ASSIGNED.match(line) or _COMMAND.match(line)
    return f"{match[1]}0" if match else line


def _moved(magic: str, rest: str) -> str:
    """`%time f(x)`: what is run stays where it is, as the value of a statement."""
    if not rest.strip() or rest.lstrip().startswith("-"):
        return "0"
    return "0," + " " * (len(magic) - 2) + rest
