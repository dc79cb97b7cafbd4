"""What the patterns of `match` take of what is matched."""

from __future__ import annotations

from typing import Any

from indexer.model import Flow
from indexer.syntax.python.flow.expressions import MAX_DEPTH, Expressions, constant
from indexer.syntax.python.nodes import K_IDENTIFIER, kind_id

_K_CASE = kind_id("case_pattern")
_K_NAME = kind_id("dotted_name")
_K_CLASS = kind_id("class_pattern")
_K_KEYWORD = kind_id("keyword_pattern")
_K_AS = kind_id("as_pattern")
_K_UNION = kind_id("union_pattern")
_K_SPLAT = kind_id("splat_pattern")
_K_MAPPING = kind_id("dict_pattern")
_SEQUENCES = frozenset(map(kind_id, ("list_pattern", "tuple_pattern")))


class Patterns(Expressions):
    """Reads patterns; names in them are bound to the value, or to what a class, a sequence or a mapping has."""

    def _subject(self, subjects: list[Any]) -> int:
        """The row of what is matched."""
        hold = self._row(Flow.HOLD, -1, 0, None)
        if len(subjects) == 1:
            self._value(subjects[0], hold, 0)
        else:
            made = self._row(Flow.COLLECTION, hold, 0, None)
            for place, subject in enumerate(subjects):
                self._value(subject, made, 0, f"i{place}")
        return hold

    def _pattern(self, node: Any, source: int) -> int:
        """Binds the names of a pattern; the row of the value as far as the pattern says what it is."""
        kind = node.kind_id
        inside = node.named_children
        if self._depth > MAX_DEPTH:
            return source
        self._depth += 1
        if kind in (_K_CASE, _K_UNION):
            rows = [self._pattern(child, source) for child in inside]
            source = rows[0] if kind == _K_CASE and len(rows) == 1 else source
        elif kind == _K_NAME and len(inside) == 1:
            self._target(inside[0], source)
        elif kind == _K_AS and len(inside) == 2:
            source = self._pattern(inside[0], source)
            self._target(inside[1], source)
        elif kind == _K_CLASS and inside:
            source = self._of_class(inside[0], inside[1:], source)
        elif kind in _SEQUENCES:
            self._sequence(inside, source)
        elif kind == _K_MAPPING:
            for key, value in zip(node.children_by_field_name("key"), node.children_by_field_name("value"), strict=False):
                self._pattern(value, self._item(constant(key), source))
        self._depth -= 1
        return source

    def _item(self, key: str, source: int) -> int:
        hold = self._row(Flow.HOLD, -1, 0, None)
        self._row(Flow.ITEM, hold, 0, None, key, of=source)
        return hold

    def _sequence(self, elements: list[Any], source: int) -> None:
        starred = False
        for place, child in enumerate(elements):
            inner = child.named_children[0] if child.kind_id == _K_CASE and child.named_child_count == 1 else child
            if inner.kind_id == _K_SPLAT:
                starred = True
                for target in inner.named_children:
                    self._rest(target, source, place)
            else:
                self._pattern(child, self._item("" if starred else f"i{place}", source))

    def _of_class(self, named: Any, parts: list[Any], source: int) -> int:
        """`A(part=x)`: attributes of what is an object of the class; those by place have names that only the class knows."""
        row = self._row(Flow.NARROW, -1, 0, None)
        self._row(Flow.HOLD, row, 0, None, of=source)
        names = [child for child in named.named_children if child.kind_id == K_IDENTIFIER]
        if len(names) == 1:
            self._value(names[0], row, 1)
        elif names:
            self._row(Flow.ATTRIBUTE, row, 1, names[-1])
        for part in parts:
            inside = part.named_children[0] if part.named_child_count == 1 else part
            if inside.kind_id == _K_KEYWORD and inside.named_child_count == 2:
                name, pattern = inside.named_children
                hold = self._row(Flow.HOLD, -1, 0, None)
                self._row(Flow.HOLD, self._row(Flow.ATTRIBUTE, hold, 0, name), 0, None, of=row)
                self._pattern(pattern, hold)
        return row
