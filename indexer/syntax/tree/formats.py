"""Names in texts that a macro formats: `println!("{name:?} {:>width$}", x)` reads `name` and `width`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

_FORMATTING = frozenset(
    b"format print println eprint eprintln write writeln panic assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne todo"
    b" unimplemented unreachable format_args trace debug info warn error log bail anyhow ensure".split()
)
"""Macros of the language, and of libraries whose texts are those of the language."""

_PLACE = re.compile(rb"\{\{|\}\}|\{([A-Za-z_]\w*)?(?::([^{}]*))?\s*\}")
_COUNT = re.compile(rb"(?<![\w$])([A-Za-z_]\w*)\$")
"""A width or a precision; digits before the sign are a position."""


def named_in_formats(texts: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Where the names begin and end. `texts`: contents of strings that are given to macros."""
    for node in texts:
        if b"{" not in node.text or _macro_of(node) not in _FORMATTING:
            continue
        for place in _PLACE.finditer(node.text):
            spans = [place.span(1)] if place[1] else []
            if place[2]:
                spans += [count.span(1) for count in _COUNT.finditer(node.text, *place.span(2))]
            yield from ((node.start_byte + start, node.start_byte + end) for start, end in spans)


def _macro_of(node: Any) -> bytes:
    """The macro that a text is given to; empty where it stands in brackets of something else."""
    tree = node.parent.parent if node.parent is not None else None
    if tree is None or tree.parent is None:
        return b""
    if tree.parent.type == "macro_invocation":
        macro = tree.parent.child_by_field_name("macro")
        return macro.text.rpartition(b"::")[2] if macro is not None else b""
    sign = tree.prev_sibling  # a macro in what another one is given
    if sign is None or sign.type != "!" or sign.prev_sibling is None:
        return b""
    return sign.prev_sibling.text
