"""Code without what cannot break anything: comments, documentation and layout. Pure.

Two texts with the same words mean the same; the other way round it may be wrong (then a change of layout is called one of code).
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from indexer.languages import record_of
from query.facts.lexed import lexed

_PYTHON = re.compile(
    r"""
    (?P<string>(?:[rRbBuUfFtT]{0,2})(?:\"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z)|'{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?))
    |(?P<comment>\#[^\n]*)
    |(?P<newline>\n)
    |(?P<space>[ \t\f\r]+|\\\r?\n)
    |(?P<word>\w+)
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN_STRING = re.compile(r"""(['"])([^'"\\]*)\1""")


def code(language: str, lines: Sequence[str]) -> tuple[str, ...]:
    """Words without comments, documentation and layout; in Python the depth of each statement counts, for it means something."""
    text = "\n".join(lines)
    return _python(text) if record_of(language).is_indented else _other(language, text)


@lru_cache(maxsize=2_000)
def _python(text: str) -> tuple[str, ...]:
    """Statements that are nothing but a string are documentation. A comma behind the last of several items is layout."""
    found: list[str] = []
    levels: list[int] = []
    brackets: list[tuple[bool, int]] = []  # a call's, and how many commas it has
    statement: list[str] = []
    only_strings = True
    indent = 0
    at_start = True

    def finish() -> None:
        nonlocal statement, only_strings
        if statement and not only_strings:
            found.extend(statement)
        statement, only_strings = [], True

    for match in _PYTHON.finditer(text):
        kind, value = match.lastgroup, match.group()
        if kind == "space":
            if at_start:
                indent = len(value.expandtabs()) if value[0] != "\\" else indent
            continue
        if kind == "comment":
            continue
        if kind == "newline":
            if not brackets:
                finish()
                at_start, indent = True, 0
            continue
        if at_start:
            at_start = False
            while levels and levels[-1] > indent:
                levels.pop()
            if not levels or levels[-1] < indent:
                levels.append(indent)
            statement.append(f"\n{len(levels)}")
        if kind == "string":
            quoted = _PLAIN_STRING.fullmatch(value)
            statement.append(f'"{quoted.group(2)}"' if quoted else value)
            continue
        only_strings = False
        if value in "([{":
            before = statement[-1]
            is_call = value == "(" and ((before.isidentifier() and not keyword.iskeyword(before)) or before in (")", "]"))
            brackets.append((is_call, 0))
        elif value in ")]}" and brackets:
            is_call, commas = brackets.pop()
            if statement[-1] == "," and (is_call or commas > 1 or value == "}"):
                statement.pop()
        elif value == "," and brackets:
            brackets[-1] = (brackets[-1][0], brackets[-1][1] + 1)
        statement.append(value)
    finish()
    return tuple(found)


@lru_cache(maxsize=2_000)
def _other(language: str, text: str) -> tuple[str, ...]:
    from pygments.token import Comment, String, Whitespace

    tokens: list[tuple[Any, str]] | None = lexed(text, _lexer(language).get_tokens(f"{text}\n"))
    if tokens is None:  # then every change of it is one of code
        return tuple(text.split())
    return tuple(
        value.strip()
        for kind, value in tokens
        if value.strip()
        and kind not in Whitespace
        and kind not in String.Doc
        and (kind not in Comment or kind in Comment.Preproc or kind in Comment.PreprocFile)
    )


@lru_cache(maxsize=50)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    name = record_of(language).lexer or record_of(language).name
    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return get_lexer_by_name("text", stripnl=False, ensurenl=False)
