"""What data cannot say about a server: named functions, each with versions and reason; the table refers to them by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_DIVERGENT = re.compile(r" \| Divergent\b|\bDivergent \| ")
_LINK_TO_FILE = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(file:[^()\s]*\)")
_WHOLE_IN_PARENTHESES = re.compile(r"(```\w*\n)\((.*)\)(\n```)")


def divergent_in_hover(text: str) -> str:
    """Ty 0.0.105: a type that is defined in terms of itself is printed with or without `| Divergent`.

    Which of the two depends on the order of the questions, and with it on the number of workers: on django's package folder it
    changed one hover in 18,000. The mark says nothing about the program, so it goes, and the parentheses that it caused.
    """
    if "Divergent" not in text:
        return text
    text = _DIVERGENT.sub("", text)
    match = _WHOLE_IN_PARENTHESES.match(text)
    if match is None or not _is_balanced(match.group(2)):
        return text
    return _WHOLE_IN_PARENTHESES.sub(r"\1\2\3", text, count=1)


def without_places(text: str) -> str:
    """Any server: links to files of this machine become their text.

    TypeScript's `{@link x}` leads to an absolute path and a range; neither may get into a shard, and a line that shifts elsewhere would
    change what is said here.
    """
    return _LINK_TO_FILE.sub(r"\1", text) if "](file:" in text else text


def _is_balanced(text: str) -> bool:
    """Whether the parentheses around `text` belong together: `A & B`, not `A) | (B`."""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


HOVER: Mapping[str, Callable[[str], str]] = {"divergent_in_hover": divergent_in_hover}
