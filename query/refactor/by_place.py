"""Declarations whose place among others means something: without one, those behind it would get its number, or its value. And
constructors without which a class would get another one.

By the text alone, so that more is held to depend on its place than does: a removal is refused then, and nothing else happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from indexer.languages import Language

_UNREAD = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`", re.DOTALL)
_OPENING, _CLOSING = "([{", ")]}"
_MOST_CHARS = 400
"""Of what follows a type's name, up to what it is initialized with."""


def renumbers(text: str, start: int, end: int, kind: str, language: Language) -> str:
    """Who behind a declaration would mean something else without it, as a clause; empty where nobody would.

    Args:
        text: of its file. start, end: where its name stands in it. kind: as answers name it.
    """
    bare = _UNREAD.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    if kind == "constructor" and language.leaves_unsaid and re.search(r"\b(?:private|protected)\s+$", bare[:start]):
        return "its class would get a constructor that everybody may call"
    if kind == "enum_member" and language.numbers_members:
        following = next(iter(_rest(bare, end, ",")), "")
        if following.strip() and "=" not in following:
            return f"'{_first_word(following)}' stands behind it without a number of its own"
    elif kind == "constant" and language.repeats_values:
        block = _block(bare, start, language.repeats_values)
        if block is not None:
            behind = [line for line in bare[end : block[1]].split("\n")[1:] if line.strip()]
            if behind and ("=" not in behind[0] or re.search(r"\biota\b", bare[block[0] : block[1]])):
                return f"'{_first_word(behind[0])}' stands behind it in a list of constants that counts, or repeats what stands above"
    return ""


def sets_by_place(texts: Iterable[tuple[Sequence[bytes], Sequence[tuple[int, int]]]]) -> tuple[int, int] | None:
    """Where an object of a type is initialized by the places of its fields, or taken apart by them: number of the text, and line.

    Args:
        texts: lines of a file, and where in it the type is named (line and column).
    """
    for number, (lines, places) in enumerate(texts):
        for line, col in places:
            rest = b"\n".join([lines[line][col:], *lines[line + 1 : line + 8]]).decode("utf-8", "replace")[:_MOST_CHARS]
            match = re.match(r"\w+\)?\s*(?:\w+\s*(?:\[[^\]\n]*\]\s*)*=\s*)?((?:\{\s*)+)([^\s}.][^,:}]*)([,}:]?)", rest)
            if match and match[3] != ":":
                return number, line
        taken = next((at for at, line in enumerate(lines) if re.search(rb"\bauto\s*&{0,2}\s*\[", line)), None)
        if taken is not None and places:
            return number, taken
    return None


def _rest(text: str, start: int, sign: str) -> list[str]:
    """What stands between the signs behind a place, up to the end of what holds it, without what stands right behind it."""
    depth, parts, begun = 0, list[str](), start
    for at in range(start, len(text)):
        if text[at] in _OPENING:
            depth += 1
        elif text[at] in _CLOSING:
            depth -= 1
        if depth < 0 or (text[at] == sign and depth == 0):
            parts.append(text[begun:at])
            begun = at + 1
        if depth < 0:
            break
    return parts[1:]


def _block(text: str, start: int, opened: str) -> tuple[int, int] | None:
    """Beginning and end of the innermost list around a place that is opened like that."""
    for match in reversed([*re.finditer(opened, text[:start])]):
        depth = 1
        for at in range(match.end(), len(text)):
            depth += (text[at] in _OPENING) - (text[at] in _CLOSING)
            if depth == 0:
                if at >= start:
                    return match.end(), at
                break
    return None


def _first_word(text: str) -> str:
    return next(iter(re.findall(r"\w+", text)), "")
