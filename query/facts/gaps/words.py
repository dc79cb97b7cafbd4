"""Words in the texts of a work tree as it is now."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from indexer import plain_files
from indexer.encoding import searchable

MAX_SEARCHED_BYTES = 64_000_000
"""Of all files that one question searches; what is beyond counts as if it held the name."""

_EXPORTS = re.compile(rb"export\s*(?:(?:type\s*)?\{([^{}]*)\}|(?:default|=)\s*([^\n]*))")
_WORD = rb"[0-9A-Za-z_\x80-\xff]"
_NO_WORD_BEFORE, _NO_WORD_AFTER = rb"(?<!%b)" % _WORD, rb"(?!%b)" % _WORD
_FEW_NAMES = 50


class Texts:
    """What the files of a work tree hold now, each read once, up to MAX_SEARCHED_BYTES in all."""

    def __init__(self, root: Path, left_out: Collection[str] = ()) -> None:
        """`left_out`: paths of files that are part of the project and not of its work tree."""
        self._root, self._left_out = root, left_out
        self._known: dict[str, bytes | None] = {}
        self._room = MAX_SEARCHED_BYTES

    def read(self, path: str) -> bytes | None:
        """None where there is no telling what a file holds; what is not there holds nothing."""
        if path not in self._known:
            place = self._root / path
            text = plain_files.read(place, self._room)
            text = text and searchable(text)
            self._room -= len(text or b"")
            self._known[path] = text if text is not None or path in self._left_out or os.path.lexists(place) else b""
        return self._known[path]


def found_in(text: bytes, words: Collection[str]) -> frozenset[str]:
    """Those of the words that stand in a text by themselves."""
    if len(words) > _FEW_NAMES:
        there = set(re.findall(_WORD + b"+", text))
        return frozenset(word for word in words if word.encode("utf-8", "surrogatepass") in there or not word.isidentifier())
    return frozenset(word for word in words if _stands(text, word.encode("utf-8", "surrogatepass")))


def _stands(text: bytes, word: bytes) -> bool:
    return word in text and re.search(alone(word), text) is not None


def alone(word: bytes) -> bytes:
    """The pattern of a word that is no part of a longer one; of what is no word, as an operator, the bytes alone."""
    before = _NO_WORD_BEFORE if re.match(_WORD, word) else b""
    after = _NO_WORD_AFTER if re.search(_WORD + rb"\Z", word) else b""
    return before + re.escape(word) + after


def is_exported_below(text: bytes, name: str) -> bool:
    """Whether a module of JavaScript lists a name among its exports."""
    word = name.encode("utf-8", "surrogatepass")
    return any(_stands(listed[0] or listed[1], word) for listed in _EXPORTS.findall(text))
