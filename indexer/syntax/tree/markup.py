"""What the tree of a component does not say: which names its markup calls, and which are members of the component's options.

`indexer.markup` marks both in the text that it makes. In a template of Vue without `<script setup>` a name means a member of the options
(`methods`, `computed`, `data`, `props`, …) and never what the module binds, but for components.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from indexer.markup import READ
from indexer.markup.draft import CALLED, spans_in
from indexer.model import Role

_SIGN = CALLED.encode()
_WRITTEN = int(Role.WRITE)
_CALL = int(Role.READ | Role.CALL)
_MEMBERS = frozenset({"components", "computed", "directives", "filters", "inject", "methods", "props"})
_GIVEN = frozenset({"asyncData", "data", "setup"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})

ELSEWHERE = -1
"""What a name means that the options do not show: a mixin, a plugin, a helper of a store."""

VALUE = -2
"""A member of the options that is no symbol."""


class Markup:
    """Of one component."""

    def __init__(self, root: Any, source: bytes) -> None:
        self.source = source
        self._scripts = spans_in(source)
        self._starts = [start for start, _ in self._scripts or ()]
        self.computed: set[str] = set()
        self.members: dict[str, int] = {} if self._scripts is None else _members_of(root, self.computed)

    def call(self, roles: dict[int, int], ends: Mapping[int, int], lookable: Collection[int]) -> None:
        """Names beside which the sign stands are called, and members that are computed where the markup reads them."""
        computed = {name.encode() for name in self.computed}
        if _SIGN not in self.source and not computed:
            return
        for start, end in ends.items():
            if self.source[start - 1 : start] == _SIGN or self.source[end : end + 1] == _SIGN:
                roles[start] = _CALL
            elif computed and start in lookable and self.source[start:end] in computed and not self._is_script(start):
                roles[start] = _CALL | (roles.get(start, 0) & _WRITTEN)

    def meaning(self, name: str, start: int) -> int | None:
        """Where the member is named that this name means; ELSEWHERE or VALUE; None where it means what the module binds."""
        if self._scripts is None or self._is_script(start):
            return None
        found = self.members.get(name)
        return (None if name[:1].isupper() else ELSEWHERE) if found is None else found

    def values(self, names: Mapping[int, int], bound: Iterable[str]) -> list[int]:
        """Where names stand that mean members which are no symbols, of those that the markup itself does not bind."""
        known = {name.encode() for name, place in self.members.items() if place == VALUE}
        known.difference_update(name.encode() for name in bound)
        return [start for start, end in names.items() if self.source[start:end] in known and not self._is_script(start)] if known else []

    def is_markup(self, start: int) -> bool:
        return not self._is_script(start)

    def _is_script(self, start: int) -> bool:
        at = bisect_right(self._starts, start) - 1
        return at >= 0 and start < (self._scripts or ())[at][1]


def markup_in(path: str, root: Any, source: bytes) -> Markup | None:
    return Markup(root, source) if path.lower().endswith(READ) else None


def _members_of(root: Any, computed: set[str]) -> dict[str, int]:
    """By name the place where a member is named, and the names of those that run where they are read."""
    found: dict[str, int] = {}
    for node in root.named_children:
        value = node.child_by_field_name("value") if node.type == "export_statement" else None
        for _ in range(8):
            if value is None or value.type == "object":
                break
            if value.type == "call_expression":
                given = value.child_by_field_name("arguments")
                value = given.named_children[-1] if given is not None and given.named_children else None
            else:  # `{…} as Options`, `({…})`
                value = value.named_children[0] if value.named_children else None
        if value is not None:
            _of_options(value, found, computed)
    return found


def _of_options(options: Any, found: dict[str, int], computed: set[str]) -> None:
    for option in options.named_children:
        key = option.child_by_field_name("key" if option.type == "pair" else "name")
        if key is None:
            continue
        name, value = _text(key), option.child_by_field_name("value") or option
        if name in _MEMBERS and value.type == "object":
            own: dict[str, int] = {}
            _of_object(value, own)
            found.update(own)
            if name == "computed":
                computed.update(own)
        elif name in _MEMBERS and value.type == "array":
            found.update({_text(item).strip("\"'`"): VALUE for item in value.named_children if item.type == "string"})
        elif name in _GIVEN:
            _of_function(value, found)


def _of_function(function: Any, found: dict[str, int]) -> None:
    body = function.child_by_field_name("body")
    if body is None:
        return
    results = [body] if body.type != "statement_block" else [child for child in body.named_children if child.type == "return_statement"]
    for result in results:
        inner = result
        while inner.type in ("return_statement", "parenthesized_expression") and inner.named_children:
            inner = inner.named_children[0]
        if inner.type == "object":
            _of_object(inner, found)


def _of_object(node: Any, found: dict[str, int]) -> None:
    for child in node.named_children:
        if child.type == "shorthand_property_identifier":
            found[_text(child)] = child.start_byte
        elif child.type == "method_definition" and (name := child.child_by_field_name("name")) is not None:
            found[_text(name)] = name.start_byte
        elif child.type == "pair" and (key := child.child_by_field_name("key")) is not None:
            value = child.child_by_field_name("value")
            if value.type in _FUNCTIONS:
                place = key.start_byte
            else:
                place = value.start_byte if value.type == "identifier" else VALUE
            found[_text(key).strip("\"'")] = place


def _text(node: Any) -> str:
    return node.text.decode("utf-8", "replace")
