"""Which type a variable, field or parameter is declared with, where the text says so with a single name: `count: Total`, `r *Router`.

An index has the annotation as a use of the type, and not what it is said of; the text beside it tells that. Anything that is not just a
name (`list[Total]`, `Foo | None`, `*args: Total`) says another type than the one that is named, and is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from indexer.model import Role
from indexer.text import index_to_utf16, utf16_to_index
from query.facts.export import ExportedOccurrence

_BEFORE = re.compile(r"(?<![*&.\w])(\w+)(?:[?!]?\s*:\s*|[ \t]+)[\"'&*]*(?:\w+(?:\.|::))*\Z")
"""The name that is declared, and all up to the name of its type."""

_AFTER = re.compile(r"[\"']?\s*(?:[=,);#{]|\Z)")


def declared_types(
    occurrences: Sequence[ExportedOccurrence], lines: Sequence[bytes], is_type: Callable[[int], bool]
) -> Mapping[int, Sequence[int]]:
    """By symbol the types that it is declared with, in the order of their numbers.

    Args:
        occurrences: of one document. lines: of its text.
        is_type: whether a symbol is one.
    """
    defined: dict[tuple[int, int], set[int]] = {}
    for row in occurrences:
        if row.roles & Role.DEFINITION and not is_type(row.sym_id):
            defined.setdefault((row.line, row.col), set()).add(row.sym_id)
    found: dict[int, set[int]] = {}
    for row in occurrences:
        if row.roles & Role.ANNOTATION and not row.roles & Role.DEFINITION and row.line < len(lines) and is_type(row.sym_id):
            text = lines[row.line].decode("utf-8", "replace")
            start, end = utf16_to_index(text, row.col), utf16_to_index(text, row.end_col)
            named = _BEFORE.search(text[max(0, start - _NEAR) : start])
            if named is None or not _AFTER.match(text[end:].rstrip("\r")):
                continue
            col = index_to_utf16(text, max(0, start - _NEAR) + named.start(1))
            for sym_id in defined.get((row.line, col), ()):
                found.setdefault(sym_id, set()).add(row.sym_id)
    return {sym_id: sorted(types) for sym_id, types in found.items()}


_NEAR = 200
"""Characters before the type in which the name is looked for: a line may be as long as a file."""
