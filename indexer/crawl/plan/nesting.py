"""Whether a text is nested too deeply, told from its signs alone, before a parser or a server sees it (ADR 0041). Pure, in linear time.

Parsers call themselves for each level: some end with a full stack, some take time in squares or worse. What is looked for here are texts
that would bring a server down while it loads a project; how deep a tree is in truth, `indexer.syntax` says of what it has parsed.
"""

from __future__ import annotations

import re

_OPENING, _CLOSING = b"([{", b")]}"
_OPENED_BY = dict(zip(_CLOSING, _OPENING, strict=True))
_ALL_BUT_BRACKETS = bytes(sign for sign in range(256) if sign not in _OPENING + _CLOSING)
_PAIRS = (b"()", b"[]", b"{}")
_ROUNDS = 40
"""So often pairs are taken out from the inside; real files have none left long before."""

_SPACE = b" \t\r\n\f\v"
_AS_ONE = bytes(ord("!") if sign in b"-+!~*&" else sign for sign in range(256))
_CAST = re.compile(rb"\([A-Za-z_][\w ]{0,40}\*{0,9}\)\s{0,4}")
_CASTS = re.compile(rb"(?:%b){20,}" % _CAST.pattern)
_STRING = re.compile(rb'"(?:\\.|[^"\\\n])*"?')
"""On one line, also one that does not end; it matches at every quote, so the text is gone through once."""

_STRING_HOLDS = 100
"""Brackets of a string that are left out; what holds more is taken for text between two quotes."""

_ESCAPE = re.compile(rb"\\(?:x1[bB]|0?33|u001[bB]|e)\[")
"""How a colour of a terminal begins in a string: tests of what is printed have thousands."""


def is_deeper(source: bytes, limit: int) -> bool:
    """Whether more than `limit` brackets are open at once, or as many operators and casts stand in front of one operand.

    Brackets in comments count too, up to where a bracket around them closes.
    """
    if sum(map(source.count, _OPENING)) > limit and _opens_more(_brackets(source), limit):
        text = _STRING.sub(_without_few, _ESCAPE.sub(b"", source))
        if _opens_more(_brackets(text), limit):
            return True
    dense = source.translate(_AS_ONE, delete=_SPACE)
    if b"!" * (limit + 1) in dense:
        return True
    return dense.count(b")(") >= limit and any(len(_CAST.findall(run[0])) > limit for run in _CASTS.finditer(source))


def _brackets(text: bytes) -> bytes:
    return text.translate(None, delete=_ALL_BUT_BRACKETS)


def _without_few(string: re.Match[bytes]) -> bytes:
    return string[0] if sum(map(string[0].count, _OPENING)) > _STRING_HOLDS else b""


def _opens_more(brackets: bytes, limit: int) -> bool:
    """A bracket that closes ends those inside of it, too; one that nothing has opened is passed over."""
    rounds, before = 0, len(brackets) + 1
    while rounds < min(_ROUNDS, limit) and len(brackets) < before:
        before = len(brackets)
        for pair in _PAIRS:
            brackets = brackets.replace(pair, b"")
        rounds += 1
    if brackets.count(b"(") + brackets.count(b"[") + brackets.count(b"{") <= limit - rounds:
        return False
    most = limit - rounds
    opened = dict.fromkeys(_OPENING, 0)
    stack = bytearray()
    for sign in brackets:
        if sign in opened:
            if len(stack) >= most:
                return True
            stack.append(sign)
            opened[sign] += 1
            continue
        wanted = _OPENED_BY[sign]
        while opened[wanted]:
            last = stack.pop()
            opened[last] -= 1
            if last == wanted:
                break
    return False
