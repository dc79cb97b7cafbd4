"""Brackets, strings and comments of expressions: where one ends, and whether a text can stand in another without breaking it."""

from __future__ import annotations

import re

MAX_DEPTH = 100
"""Brackets in brackets; deeper text is made to be deep."""

_SIGN = re.compile(
    r"'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/"
    r"|(?<=[(,=:\[!&|?{};>])[ ]?/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/"
    r"|/\*|[()\[\]{}`'\"]",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"\\.|`|\$\{", re.DOTALL)
_CLOSES = {"(": ")", "[": "]", "{": "}", "${": "}"}
_STATEMENT = re.compile(r"\s*(?:if|for|while|switch|try|return|const|let|var|throw|do)\b")


def end_of(text: str, start: int) -> int:
    """Where the bracket that opens at `start` is closed; -1 where that cannot be told. Each sign is looked at once."""
    waiting: list[str] = []
    at = start
    while True:
        if waiting and waiting[-1] == "`":
            sign = _TEMPLATE.search(text, at)
            if sign is None:
                return -1
            at = sign.end()
            if sign[0] == "`":
                waiting.pop()
            elif sign[0] == "${":
                waiting.append("}")
            continue
        sign = _SIGN.search(text, at)
        if sign is None or len(waiting) > MAX_DEPTH:
            return -1
        what, at = sign[0], sign.end()
        if what in _CLOSES:
            waiting.append(_CLOSES[what])
        elif what == "`":
            waiting.append("`")
        elif what in (")", "]", "}"):
            if not waiting or waiting.pop() != what:
                return -1
            if not waiting:
                return at
        elif what in ("'", '"', "/*"):
            return -1


def is_closed(code: str) -> bool:
    """Whether a text opens nothing that it does not close, and closes nothing that it does not open."""
    return end_of(f"({code})", 0) == len(code) + 2


def parts(code: str, sign: str) -> list[int]:
    """Places of a sign outside of brackets, strings and comments."""
    found: list[int] = []
    at = 0
    while at < len(code):
        match = _SIGN.match(code, at)
        if match is None:
            if code[at] == sign:
                found.append(at)
            at += 1
        elif match[0] in _CLOSES or match[0] == "`":
            end = end_of(code, at)
            if end < 0:
                return found
            at = end
        else:
            at = match.end()
    return found


def is_statement(code: str) -> bool:
    """Whether a handler's text is statements, as the frameworks' own compilers tell it: it has a semicolon, or begins with such a word."""
    return ";" in code or _STATEMENT.match(code) is not None
