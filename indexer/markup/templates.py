"""Elements and attributes of markup, by tree-sitter's grammar of HTML over a text in which all that is not HTML is masked.

The masked text has one byte for each sign of the file, so an offset in it is one in the file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

_TAG = re.compile(r"(</?)([A-Za-z][\w.:-]*)")
_OPEN_OR_CLOSED = re.compile(r"(</?)([A-Za-z][\w.:-]*)|/>")
_OWN_NAME = re.compile(r"[a-z][a-z0-9]*\Z")
_NO_HTML = re.compile(r"[^\x00-\x7f]|[\x00&]|=>")
"""Also signs of HTML where they are none of it: in text, and in what is quoted, where a mask changes nothing."""

_VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"])
MAX_DEPTH = 1_000
"""Elements in elements; deeper markup is made to be deep."""


@dataclass(slots=True, kw_only=True)
class Attribute:
    """`value_start` and `value_end` are inside of the quotes; -1 without a value. `quoted`: there are quotes."""

    name: str
    start: int
    end: int
    value_start: int = -1
    value_end: int = -1
    quoted: bool = False


@dataclass(slots=True, kw_only=True)
class Element:
    """`head_end` is behind the start tag's `>`; `tail` where the end tag begins, -1 without one; `tail_end` behind it.

    `closes`: it is closed where its start tag ends.
    """

    name: str
    start: int
    end: int
    head_end: int
    tail: int = -1
    tail_end: int = -1
    closes: bool = False
    attributes: list[Attribute] = field(default_factory=list[Attribute])
    depth: int = 0


def masked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with these spans as letters, and with names of elements that HTML has rules for only where they are HTML's."""
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            # HTML takes the sign that closes a tag for a part of a value without quotes
            is_last = text[start - 1 : start] == "=" and text.startswith("/>", end)
            parts += [text[done:start], f'"{"x" * (end - start - 2)}"' if is_last else "x" * (end - start)]
            done = end
    whole = _NO_HTML.sub(lambda match: "x" * len(match[0]), "".join([*parts, text[done:]]))
    return _TAG.sub(_plain_tag, whole)


def elements(text: str, mask: str) -> tuple[list[Element], bool]:
    """In the order of their starts, and whether the grammar understood all of it; none where they are too deep."""
    import tree_sitter

    if _is_deep(mask):
        return [], False
    root = tree_sitter.Parser(_language()).parse(mask.encode("ascii")).root_node
    found: list[Element] = []
    todo: list[tuple[Any, int]] = [(root, 0)]
    while todo:
        node, depth = todo.pop()
        if depth > MAX_DEPTH:
            return [], False
        if node.type in ("element", "style_element", "script_element") and (one := _element(text, node, depth - 1)) is not None:
            found.append(one)
        todo += [(child, depth + 1) for child in reversed(node.named_children) if child.type not in ("start_tag", "end_tag")]
    return found, not root.has_error


def inside(spans: Sequence[tuple[int, int]], at: int) -> bool:
    return any(start <= at < end for start, end in spans)


def _is_deep(mask: str) -> bool:
    """Whether more elements are open somewhere than anybody writes: the grammar's time grows with the square of their number."""
    depth = 0
    for match in _OPEN_OR_CLOSED.finditer(mask):
        if match[2] is not None:
            depth += -1 if match[1] == "</" else 0 if match[2].lower() in _VOID else 1
        else:  # `/>`
            depth -= 1
        if depth > MAX_DEPTH:
            return True
    return False


@functools.cache
def _language() -> Any:
    import tree_sitter
    import tree_sitter_html

    return tree_sitter.Language(tree_sitter_html.language())


def _plain_tag(match: re.Match[str]) -> str:
    name = match[2]
    return match[0] if _OWN_NAME.match(name) else f"{match[1]}x{name[1:].replace('.', '-').replace('_', '-')}"


def _element(text: str, node: Any, depth: int) -> Element | None:
    head = node.named_children[0] if node.named_children else None
    if head is None or head.type not in ("start_tag", "self_closing_tag"):
        return None
    tag = next((child for child in head.named_children if child.type == "tag_name"), None)
    if tag is None:
        return None
    last = node.named_children[-1]
    is_closed = last.type == "end_tag"
    return Element(
        name=text[tag.start_byte : tag.end_byte],
        start=node.start_byte,
        end=node.end_byte,
        head_end=head.end_byte,
        tail=last.start_byte if is_closed else -1,
        tail_end=last.end_byte if is_closed else -1,
        closes=head.type == "self_closing_tag" or len(node.named_children) == 1,
        attributes=[_attribute(text, child) for child in head.named_children if child.type == "attribute"],
        depth=depth,
    )


def _attribute(text: str, node: Any) -> Attribute:
    name = node.named_children[0]
    made = Attribute(name=text[name.start_byte : name.end_byte], start=name.start_byte, end=node.end_byte)
    value = node.named_children[1] if len(node.named_children) > 1 else None
    if value is not None:
        made.quoted = value.type == "quoted_attribute_value" and text[value.start_byte] in "\"'"
        made.value_start = value.start_byte + made.quoted
        made.value_end = value.end_byte - made.quoted
    return made
