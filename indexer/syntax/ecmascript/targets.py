"""What takes a value apart and binds it: names, properties, patterns."""

from __future__ import annotations

from typing import Any

from indexer.model import Flow, Handed
from indexer.syntax.ecmascript.rows import Rows, text_of

MAX_DEPTH = 100
"""Expressions, statements and patterns inside of each other; what is nested deeper is left out."""

MAX_ELEMENTS = 1_000
"""Elements of one literal, or pattern, that have rows."""

NAMES = frozenset(("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"))
_PATTERNS = frozenset(("object_pattern", "array_pattern"))
_MAX_KEY_CHARS = 80


class Targets(Rows):
    """Reads what takes values."""

    def _value(self, node: Any, parent: int, part: int, key: str = "") -> None:
        """Rows of an expression whose value the row `parent` takes as its `part`; -1 for none."""
        raise NotImplementedError

    def _target(self, target: Any, source: int, item: str | None = None, *, declares: bool = False) -> None:
        """A target of the value of the row `source`, or of one item of it: a key, or "" for any."""
        if target is None or self._depth > MAX_DEPTH:
            return
        kind = target.type
        default = None
        if kind in ("assignment_pattern", "object_assignment_pattern"):
            default = target.child_by_field_name("right")
            target = target.child_by_field_name("left")
            kind = target.type
        if kind in _PATTERNS:
            if item is not None or default is not None:
                source = self._held(source, item, default)
            self._depth += 1
            self._pattern(target, source, declares=declares)
            self._depth -= 1
            return
        row, part = -1, 1
        if kind in NAMES:
            binder = None if declares else self._scope.find(text_of(target))
            row, part = self._row(Flow.BIND, -1, 0, target, of=binder if binder is not None and binder >= 0 else -1), 0
            if declares:
                self._declare(text_of(target), row)
        elif kind == "member_expression" and (name := target.child_by_field_name("property")) is not None:
            row = self._row(Flow.SET_ATTRIBUTE, -1, 0, name)
            self._value(target.child_by_field_name("object"), row, 0)
        if row < 0:
            return
        if item is None:
            self._row(Flow.HOLD, row, part, None, of=source)
        else:
            self._row(Flow.ITEM, row, part, None, item, of=source)
        self._value(default, row, part)

    def _held(self, source: int, item: str | None, default: Any) -> int:
        hold = self._row(Flow.HOLD, -1, 0, None)
        if item is None:
            self._row(Flow.HOLD, hold, 0, None, of=source)
        else:
            self._row(Flow.ITEM, hold, 0, None, item, of=source)
        self._value(default, hold, 0)
        return hold

    def _pattern(self, node: Any, source: int, *, declares: bool) -> None:
        if node.type == "array_pattern":
            place = 0
            for child in node.children[1:-1][:MAX_ELEMENTS]:
                if child.type == ",":
                    place += 1
                elif child.type == "rest_pattern":
                    self._rest(child, source, Flow.COLLECTION, f"r{place}", declares=declares)
                elif child.is_named:
                    self._target(child, source, f"i{place}", declares=declares)
            return
        for child in node.named_children[:MAX_ELEMENTS]:
            kind = child.type
            if kind == "pair_pattern":
                self._target(child.child_by_field_name("value"), source, self._key(child.child_by_field_name("key")), declares=declares)
            elif kind == "rest_pattern":
                self._rest(child, source, Flow.RECORD, "", declares=declares)
            elif kind == "object_assignment_pattern":
                name = child.child_by_field_name("left")
                self._target(child, source, "s" + text_of(name), declares=declares)
            elif kind in NAMES:
                self._target(child, source, "s" + text_of(child), declares=declares)

    def _rest(self, node: Any, source: int, kind: Flow, key: str, *, declares: bool) -> None:
        """`...rest`: an array of the elements that are left, or an object with the properties of another."""
        target = next(iter(node.named_children), None)
        if target is None or target.type != "identifier":
            return
        row = self._row(Flow.BIND, -1, 0, target)
        made = self._row(kind, row, 0, None)
        if kind == Flow.RECORD:
            self._row(Flow.HOLD, made, Handed.ALL_NAMED, None, of=source)
        else:
            self._row(Flow.ITEM, made, 0, None, key, of=source)
        if declares:
            self._declare(text_of(target), row)

    def _declare(self, name: str, row: int) -> None:
        self._scope.names[name] = row

    def _key(self, node: Any) -> str:
        """The name of a property as rows have it; "" for one that is made when it runs."""
        if node is None:
            return ""
        if node.type in ("property_identifier", "private_property_identifier"):
            return "s" + text_of(node)
        if node.type == "computed_property_name":
            return self._index(next(iter(node.named_children), None))
        return constant(node)

    def _index(self, node: Any) -> str:
        """The constant between the brackets; "" for any. What stands there otherwise is read, too."""
        key = constant(node) if node is not None else ""
        if not key:
            self._value(node, -1, 0)
        return key


def constant(node: Any) -> str:
    """A key as rows have it: `s` and the text, `i` and the number; "" for what is none, or is long."""
    if node.type == "number" and node.text.isdigit():
        return "i" + node.text.decode()[:20]
    if node.type != "string" or node.named_child_count != 1 or node.end_byte - node.start_byte > _MAX_KEY_CHARS:
        return ""
    return "s" + text_of(node.named_children[0])
