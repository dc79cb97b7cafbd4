"""The text of a file as lines of a page: each identifier is a link, the rest is coloured by what kind of text it is.

Pygments says what is a keyword, a string or a comment, and nothing more: what a name means the index knows. It runs on patterns that long
or odd texts make slow, so a text above some size, with a very long line, or that takes it too long, has no colours.
"""

from __future__ import annotations

import html
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

from indexer.quoting import visible
from indexer.text import Utf16Map
from query.facts.lexed import lexed

MOST_BYTES = 2_000_000
"""A larger file has no page of its text: browsers take seconds for it, and what is as large is made by a program."""

_LONGEST_LINE = 2_000
_CLASSES = (("Comment", "m"), ("Keyword", "k"), ("Operator.Word", "k"), ("Literal.String", "s"), ("Literal.Number", "n"))
"""By kind of token of Pygments, the class of its colour."""


class Link(NamedTuple):
    """An identifier, 0-based, the columns in UTF-16: what it leads to, a class, and what is said of it where one points.

    href: made of names of ours alone, so that it needs no quotes; empty where it leads nowhere.
    """

    line: int
    col: int
    end_col: int
    href: str
    kind: str
    title: str = ""


def listing(path: str, source: Sequence[bytes], links: Sequence[Link]) -> str:
    """The lines of a file, each with its number, to which `#L<number>` leads.

    Args:
        links: by position, none within another.
    """
    text = [line.decode("utf-8", "replace").rstrip("\r") for line in source]
    if text and not text[-1]:
        text.pop()
    colours = _colours(path, text)
    by_line: dict[int, list[Link]] = {}
    for link in links:
        by_line.setdefault(link.line, []).append(link)
    rows = [
        f"<b id=L{number}><a href=#L{number}>{number}</a>{_line(line, by_line.get(number - 1, ()), colours.get(number - 1, ()))}</b>"
        for number, line in enumerate(text, 1)
    ]
    return '<pre class="code" tabindex="0">' + "\n".join(rows) + "\n</pre>"


def _line(text: str, links: Sequence[Link], colours: Sequence[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    at, length = 0, len(text)
    columns = Utf16Map(text)
    for link in links:
        start, end = min(columns.index(link.col), length), min(columns.index(link.end_col), length)
        if start < at or end <= start:
            continue
        parts += [_plain(text, at, start, colours), _linked(text[start:end], link)]
        at = end
    parts.append(_plain(text, at, len(text), colours))
    return "".join(parts)


def _linked(text: str, link: Link) -> str:
    inside = _shown(text)
    given = f" class={link.kind}" if link.kind else ""
    given += f' title="{html.escape(link.title)}"' if link.title else ""
    if link.href:
        return f"<a href={link.href}{given}>{inside}</a>"
    return f"<span{given}>{inside}</span>" if given else inside


def _plain(text: str, start: int, end: int, colours: Sequence[tuple[int, int, str]]) -> str:
    """A part of a line outside of all links."""
    parts: list[str] = []
    at = start
    for number in range(bisect_right(colours, start, key=_end_of), len(colours)):
        first, last, kind = colours[number]
        if first >= end:
            break
        begin, stop = max(first, at), min(last, end)
        parts.append(_shown(text[at:begin]))
        parts.append(f"<i class={kind}>{_shown(text[begin:stop])}</i>")
        at = stop
    parts.append(_shown(text[at:end]))
    return "".join(parts)


def _end_of(colour: tuple[int, int, str]) -> int:
    return colour[1]


def _shown(text: str) -> str:
    return html.escape(visible(text), quote=False) if text else ""


def _colours(path: str, text: Sequence[str]) -> dict[int, list[tuple[int, int, str]]]:
    """By line the parts that have a colour: begin, end and class, by position."""
    lexer = None if any(len(line) > _LONGEST_LINE for line in text) else _lexer(path)
    if lexer is None:
        return {}
    whole = "\n".join(text)
    tokens: list[tuple[int, Any, str]] | None = lexed(whole, lexer.get_tokens_unprocessed(whole))
    found: dict[int, list[tuple[int, int, str]]] = {}
    line = col = 0
    for _, kind, value in tokens or ():
        name = _class_of(kind)
        for number, part in enumerate(value.split("\n")):
            if number:
                line, col = line + 1, 0
            if name and part:
                spans = found.setdefault(line, [])
                if spans and spans[-1][1:] == (col, name):  # a string comes in pieces
                    spans[-1] = (spans[-1][0], col + len(part), name)
                else:
                    spans.append((col, col + len(part), name))
            col += len(part)
    return found


_known: dict[Any, str] = {}
_lexers: dict[str, Any] = {}


def _class_of(kind: Any) -> str:
    if kind not in _known:
        name = str(kind).removeprefix("Token.")
        _known[kind] = next((short for long, short in _CLASSES if name == long or name.startswith(f"{long}.")), "")
    return _known[kind]


def _lexer(path: str) -> Any:
    """Pygments' lexer for files of this name; None where it has none. It is not asked to guess by the text."""
    name = path.rpartition("/")[2]
    ending = name.rpartition(".")[2]
    if ending not in _lexers:
        from pygments.lexers import find_lexer_class_for_filename

        found: Any = find_lexer_class_for_filename(name)
        _lexers[ending] = found() if found is not None else None
    return _lexers[ending]
