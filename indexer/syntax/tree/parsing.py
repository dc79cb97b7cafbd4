"""A text's tree, of the words in which the grammar reads most of it: without macros, repaired, with fewer branches of `#if`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from indexer.syntax.c_tokens import has_code
from indexer.syntax.tree.conditional import Blank, repairs
from indexer.syntax.tree.damage import damaged_bytes, error_offsets
from indexer.syntax.tree.grammars import LoadedGrammar
from indexer.syntax.tree.macros import Prepared


class Blanks(NamedTuple):
    """Places that a tree passes over, and the tree of the whole text."""

    whole: Any
    places: list[Blank]


class Parsed(NamedTuple):
    """A tree's root, the offsets of its errors, the places of words that the parser has not seen, and of what it has passed over."""

    root: Any
    errors: list[int]
    hidden: list[tuple[int, int]]
    blanks: Blanks | None


def parse(grammar: LoadedGrammar, source: bytes) -> Parsed:
    """The tree of a text; one that the grammar does not know may be read in other words."""
    prepared, root = _prepared(grammar, source)
    if not root.has_error:
        return Parsed(root, [], prepared.words, None)
    errors = error_offsets(root)
    repaired = grammar.repaired(source)
    if repaired != source:
        other = grammar.parser.parse(repaired).root_node
        other_errors = error_offsets(other)
        if len(other_errors) < len(errors):
            root, errors = other, other_errors
    blanks = None
    if grammar.rules.conditional:
        root, errors, blanks = _without_branches(grammar, prepared.text, root, errors)
    return Parsed(root, errors, prepared.words, blanks)


def _prepared(grammar: LoadedGrammar, source: bytes) -> tuple[Prepared, Any]:
    """The text without macros and its tree; the text as it is where the parser can make more of that."""
    made = grammar.prepared(source)
    root = grammar.parser.parse(grammar.rewritten(made.text)).root_node
    if made.text != source and (left := damaged_bytes(root)):
        whole = grammar.parser.parse(source).root_node
        if damaged_bytes(whole) < left:
            return Prepared(source, []), whole
    return made, root


def _without_branches(grammar: LoadedGrammar, source: bytes, root: Any, errors: list[int]) -> tuple[Any, list[int], Blanks | None]:
    """The tree of the text with fewer branches of `#if`, where that leaves less than half of the damage."""
    damage = damaged_bytes(root)
    best, blanks = root, list[Blank]()
    for made in repairs(source) if damage else ():
        other = grammar.parser.parse(made.text).root_node
        left = damaged_bytes(other)
        if left * 2 < damage:
            unread = [start for start, end in made.blanks if has_code(source[start:end])]
            best, blanks, damage, errors = other, made.blanks, left, error_offsets(other) + unread
    return best, errors, Blanks(root, blanks) if blanks else None


def valid_utf8(source: bytes) -> bytes:
    """The same bytes, each that is no UTF-8 replaced by `?`: the plan lets no such file pass, and queries would raise."""
    if source.isascii():
        return source
    try:
        source.decode()
    except UnicodeDecodeError:
        text = source.decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", "?", text).encode()
    return source
