"""Positions in formatted strings: before Python 3.12 `ast` has them wrong where an expression stands twice, or on a later line."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

_OPENING = re.compile(r"(?i)([a-z]*)('''|\"\"\"|'|\")")


class _Field(NamedTuple):
    """An expression between braces, as offsets into the text; what stands behind its colon holds fields of its own."""

    start: int
    end: int
    inner: list[_Field]


def with_right_positions(tree: ast.Module, text: str) -> ast.Module:
    """The tree, in which what stands in formatted strings is read again from the text, as Python 3.12 reads it."""
    if sys.version_info >= (3, 12) or not any(isinstance(node, ast.JoinedStr) for node in ast.walk(tree)):
        return tree
    _Reader(text).visit(tree)
    return tree


class _Reader(ast.NodeVisitor):
    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in re.finditer("\r\n|\n|\r", text))]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        start, end = self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno or 0, node.end_col_offset or 0)
        try:
            self._read(node, list(self._fields(start, end)))
        except (SyntaxError, tokenize.TokenError, ValueError, IndexError):
            return  # its places stay as they are; who looks for a name there does not find it

    def _read(self, node: ast.JoinedStr, fields: list[_Field]) -> None:
        values = [item for item in node.values if isinstance(item, ast.FormattedValue)]
        if len(values) != len(fields):
            return
        for value, field in zip(values, fields, strict=True):
            value.value = self._expression(field.start, field.end)
            self.visit(value.value)
            if isinstance(value.format_spec, ast.JoinedStr):
                self._read(value.format_spec, field.inner)

    def _expression(self, start: int, end: int) -> ast.expr:
        """What a field holds, at its own place: blanks stand for all before it."""
        line = sum(1 for at in self._starts if at <= start) - 1
        tree = ast.parse(f"({self._text[start:end]}\n)", mode="eval").body
        before = len(self._text[self._starts[line] : start].encode("utf-8", "surrogatepass"))
        for node in ast.walk(tree):
            if isinstance(node, ast.expr | ast.keyword | ast.arg):
                if node.lineno == 1:
                    node.col_offset += before - 1
                if node.end_lineno == 1:
                    node.end_col_offset = (node.end_col_offset or 0) + before - 1
                node.lineno += line
                node.end_lineno = (node.end_lineno or 0) + line
        return tree

    def _offset(self, line: int, column: int) -> int:
        low = self._starts[line - 1]
        high = self._starts[line] if line < len(self._starts) else len(self._text)
        return low + len(self._text[low:high].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))

    def _fields(self, start: int, end: int) -> Iterator[_Field]:
        """Of all strings that stand side by side."""
        text = f"({self._text[start:end]})"
        starts = [0, *(found.end() for found in re.finditer("\n", text))]
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type != tokenize.STRING:
                continue
            opening = _OPENING.match(token.string)
            if opening is None or "f" not in opening[1].lower():
                continue
            at = start + starts[token.start[0] - 1] + token.start[1] - 1
            body, last = at + opening.end(), at + len(token.string) - len(opening[2])
            yield from self._within(body, last, is_raw="r" in opening[1].lower())[0]

    def _within(self, at: int, end: int, *, is_raw: bool, is_format: bool = False) -> tuple[list[_Field], int]:
        """Fields up to the end, or to the brace that ends a format; and where that is."""
        found: list[_Field] = []
        while at < end:
            if not is_raw and self._text.startswith("\\N{", at):
                at = self._text.index("}", at) + 1
            elif self._text[at] == "{" and not is_format and self._text.startswith("{{", at):
                at += 2
            elif self._text[at] == "{":
                field, at = self._field(at + 1, end, is_raw=is_raw)
                found.append(field)
            elif self._text[at] == "}" and is_format:
                return found, at
            else:
                at += 1
        return found, at

    def _field(self, start: int, end: int, *, is_raw: bool) -> tuple[_Field, int]:
        """And the place behind its brace."""
        at, depth, inner = start, 0, list[_Field]()
        while at < end:
            sign = self._text[at]
            if sign in "'\"":
                mark = sign * 3 if self._text.startswith(sign * 3, at) else sign
                at = self._text.index(mark, at + len(mark)) + len(mark)
                continue
            if sign in "([{":
                depth += 1
            elif depth and sign in ")]}":
                depth -= 1
            elif not depth and (sign in ":}" or (sign == "!" and self._text[at + 1] != "=")):
                break
            at += 1
        last = at
        if self._text[at] == "!":
            at += 2
            while self._text[at].isspace() or self._text[at].isalpha():
                at += 1
        if self._text[at] == ":":
            inner, at = self._within(at + 1, end, is_raw=is_raw, is_format=True)
        said = self._text[start:last].rstrip()
        if said.endswith("=") and not said.endswith(("==", "!=", "<=", ">=")):  # `{x=}`
            last = start + len(said) - 1
        return _Field(start, last, inner), at + 1
