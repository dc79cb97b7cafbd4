"""What a statement records, in the order of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from indexer.model import Flow, Handed
from indexer.syntax.model import Flows
from indexer.syntax.python.flow.constants import beginning
from indexer.syntax.python.flow.expressions import K_BLOCK, K_IF_CLAUSE, MAX_DEPTH, PATTERNS, PLAIN
from indexer.syntax.python.flow.patterns import Patterns
from indexer.syntax.python.nodes import (
    K_AS_PATTERN,
    K_ATTRIBUTE,
    K_CLASS,
    K_COMMENT,
    K_DECORATOR,
    K_EXPRESSION_STATEMENT,
    K_FUNCTION,
    K_IDENTIFIER,
    K_KEYWORD_ARGUMENT,
    K_LIST_SPLAT,
    K_LIST_SPLAT_PATTERN,
    K_STRING,
    K_SUBSCRIPT,
    kind_id,
)
from indexer.syntax.python.scopes import Binding

K_ASSIGNMENT = kind_id("assignment")
K_AUGMENTED = kind_id("augmented_assignment")
K_ELIF = kind_id("elif_clause")
K_ELSE = kind_id("else_clause")
K_EXCEPT = kind_id("except_clause")
K_FINALLY = kind_id("finally_clause")
K_WITH_CLAUSE = kind_id("with_clause")
K_TYPE = kind_id("type")
K_GENERIC = kind_id("generic_type")
K_TYPE_PARAMETER = kind_id("type_parameter")
_UNIONS = frozenset(map(kind_id, ("binary_operator", "union_type")))

_NAMED = re.compile(rb"""["']?(?:\w+\.)*(\w+)(?:\[[^|"']*\])?(?:\s*\|\s*None)?["']?""")
"""A name, and in a text also what it is given in brackets, or None."""
_OF_FIRST = re.compile(rb"""["']?(?:(?:\w+\.)?[tT]ype\[)?(\w+)\]?["']?""")
_PLAIN_TYPES = frozenset((b"None", b"str", b"bytes", b"int", b"bool", b"float", b"object", b"Any"))
"""Types of which nothing flows."""


_FOR_TYPES = frozenset((b"TYPE_CHECKING", b"typing.TYPE_CHECKING"))
"""Conditions that are never true when a program runs: where there is an `else`, that is what happens."""


class FlowReader(Patterns):
    """Reads one file, after its names were resolved (`Walk.run`)."""

    def read(self, root: Any) -> Flows:
        self._bodies.append((-1, root, {}))
        at = 0
        while at < len(self._bodies):
            definition, block, self._env = self._bodies[at]
            at += 1
            before = len(self._rows)
            self._row(Flow.ENTER, -1, 0, None, of=definition)
            self._statements(block)
            if len(self._rows) == before + 1 and definition >= 0:
                self._rows.drop_last()
        return self._rows

    # ---- statements

    def _statements(self, block: Any) -> bool:
        """Reads a body; whether its end is not reached (`return`, `raise`, `break`, `continue`)."""
        if block is None:
            return False
        if self._depth > MAX_DEPTH:
            self._cut(block)
            return False
        self._depth += 1
        ended = False
        for node in block.named_children:
            ended = self._statement(node) or ended
        self._depth -= 1
        return ended

    def _statement(self, node: Any) -> bool:
        kind = node.kind_id
        if kind == K_EXPRESSION_STATEMENT:
            for child in node.named_children:
                self._effect(child)
            return False
        handler = _STATEMENTS.get(kind)
        if handler is not None:
            return bool(handler(self, node))
        if kind in PLAIN:
            return False
        for child in node.named_children:
            if child.kind_id == K_BLOCK:
                self._statements(child)
            else:
                self._value(child, -1, 0)
        return False

    def _effect(self, node: Any) -> None:
        """An expression that is a statement."""
        kind = node.kind_id
        if kind == K_ASSIGNMENT:
            self._assignment(node)
        elif kind == K_AUGMENTED:
            self._augmented(node)
        else:
            self._value(node, -1, 0)

    def return_(self, node: Any) -> bool:
        value = next(iter(node.named_children), None)
        if value is not None and value.kind_id not in PLAIN:
            self._value(value, self._row(Flow.RETURN, -1, 0, None), 0)
        return True

    def ends(self, node: Any) -> bool:
        return True

    def raise_(self, node: Any) -> bool:
        cause = node.child_by_field_name("cause")
        before = len(self._rows)
        row = self._row(Flow.THROW, -1, 0, None)
        for child in node.named_children:
            self._value(child, row, int(cause is not None and child.start_byte == cause.start_byte))
        if len(self._rows) == before + 1:
            self._rows.drop_last()
        return True

    def if_(self, node: Any) -> bool:
        condition = node.child_by_field_name("condition")
        others = node.children_by_field_name("alternative")
        if condition is not None and condition.text in _FOR_TYPES and len(others) == 1 and others[0].kind_id == K_ELSE:
            return self._statements(others[0].child_by_field_name("body"))
        self._value(condition, -1, 0)
        says = self._says(condition)
        before = dict(self._env)
        ways: list[dict[Binding, int]] = []
        self._hold_true(says, is_true=True)
        if not self._statements(node.child_by_field_name("consequence")):
            ways.append(self._env)
        has_else = False
        for other in others:
            self._env = dict(before)
            self._hold_true(says, is_true=False)
            before = dict(self._env)
            if other.kind_id == K_ELIF:
                condition = other.child_by_field_name("condition")
                self._value(condition, -1, 0)
                says = self._says(condition)
                self._hold_true(says, is_true=True)
                ended = self._statements(other.child_by_field_name("consequence"))
            else:
                has_else = True
                ended = self._statements(other.child_by_field_name("body"))
            if not ended:
                ways.append(self._env)
        if not has_else:
            self._env = before
            if not ways:
                self._hold_true(says, is_true=False)
            ways.append(self._env)
        self._env = self._met(ways) if ways else before
        return not ways

    def assert_(self, node: Any) -> bool:
        condition, *others = node.named_children or [None]
        for child in others:
            self._value(child, -1, 0)
        if condition is not None:
            self._condition(condition, is_true=True)
        return False

    def for_(self, node: Any) -> bool:
        return self._loop(node, lambda: self._iteration(node.child_by_field_name("left"), node.child_by_field_name("right")))

    def while_(self, node: Any) -> bool:
        return self._loop(node, lambda: self._value(node.child_by_field_name("condition"), -1, 0))

    def _loop(self, node: Any, head: Callable[[], None]) -> bool:
        """`head` reads what comes before the body; each part may run after any other, or not at all."""
        self._forget(node)
        before = dict(self._env)
        head()
        self._statements(node.child_by_field_name("body"))
        self._forget(node)
        other = node.child_by_field_name("alternative")
        if other is not None:
            self._statements(other.child_by_field_name("body"))
            self._forget(node)
        self._widen(before)
        return False

    def try_(self, node: Any) -> bool:
        before = dict(self._env)
        is_named = any(child.kind_id == K_EXCEPT and _names_what_it_catches(child) for child in node.named_children)
        start = self._row(Flow.HOLD, -1, 0, None) if is_named else -1
        ended = self._statements(node.child_by_field_name("body"))
        caught = self._row(Flow.CATCH, -1, 0, None, of=start) if is_named else -1
        body = self._env
        self._env = before
        self._forget(node.child_by_field_name("body") or node)
        within = self._env
        ways: list[dict[Binding, int]] = []
        last = None
        for child in node.named_children:
            if child.kind_id == K_EXCEPT:
                self._env = dict(within)
                if not self._except(child, caught):
                    ways.append(self._env)
            elif child.kind_id == K_ELSE:
                self._env = body
                ended = self._statements(child.child_by_field_name("body")) or ended
                body = self._env
            elif child.kind_id == K_FINALLY:
                last = child
        if not ended:
            ways.append(body)
        self._env = self._met(ways) if ways else within
        if last is not None:
            self._forget(node)
            for child in last.named_children:
                ended = self._statements(child)
        return not ways

    def _except(self, node: Any, caught: int) -> bool:
        """`caught`: the row of what the block throws."""
        ended = False
        for child in node.named_children:
            if child.kind_id == K_BLOCK:
                ended = self._statements(child)
            elif child.kind_id == K_AS_PATTERN and child.named_child_count == 2:
                value, alias = child.named_children
                hold = self._row(Flow.HOLD, -1, 0, None)
                self._value(value, self._row(Flow.CAUGHT, hold, 0, None, of=caught), 0)
                self._alias(alias, hold)
            else:
                self._value(child, -1, 0)
        return ended

    def _alias(self, alias: Any, hold: int) -> None:
        for target in alias.named_children if alias.kind_id != K_IDENTIFIER else (alias,):
            self._target(target, hold)

    def with_(self, node: Any) -> bool:
        is_async = bool(node.child_count) and node.children[0].type == "async"
        for clause in node.named_children:
            for item in clause.named_children if clause.kind_id == K_WITH_CLAUSE else ():
                value = item.child_by_field_name("value")
                if value is None:
                    continue
                alias = None
                if value.kind_id == K_AS_PATTERN and value.named_child_count == 2:
                    value, alias = value.named_children
                hold = self._row(Flow.HOLD, -1, 0, None) if alias is not None else -1
                self._value(value, self._row(Flow.ENTER_CONTEXT, hold, 0, value, "async" if is_async else ""), 0)
                if alias is not None:
                    self._alias(alias, hold)
        return self._statements(node.child_by_field_name("body"))

    def match(self, node: Any) -> bool:
        source = self._subject(node.children_by_field_name("subject"))
        before = dict(self._env)
        ways = [before]
        body = node.child_by_field_name("body")
        for case in body.named_children if body is not None else ():
            self._env = dict(before)
            self._forget(case)
            for child in case.named_children:
                if child.kind_id == K_IF_CLAUSE:
                    self._value(child, -1, 0)
                elif child.kind_id != K_BLOCK:
                    self._pattern(child, source)
            if not self._statements(case.child_by_field_name("consequence")):
                ways.append(self._env)
        self._env = self._met(ways)
        self._forget(node)
        return False

    def function(self, node: Any, decorators: tuple[Any, ...] = ()) -> None:
        name = node.child_by_field_name("name")
        if name is None or name.start_byte not in self._walk.node_token:
            return
        row = self._row(Flow.DEFINE, -1, 0, name)
        for place, decorator in enumerate(decorators):
            for child in decorator.named_children:
                self._value(child, row, Handed.DECORATOR + min(place, 99))
        parameters = self._parameters(node.child_by_field_name("parameters"), row)
        self._declared(node.child_by_field_name("return_type"), row, _declared_of_first(node))
        self._bound(name, row)
        body = node.child_by_field_name("body")
        if body is not None:
            self._bodies.append((row, body, parameters))

    def _declared(self, node: Any, row: int, own: bytes) -> None:
        """The classes that an annotation names for a result: `A`, `m.A`, `"A"`, `A[…]`, `A | None`, `Optional[A]`; of no others.

        Args:
            own: what the first parameter is declared to be of: the same result is an object of the class that the method is called on.
        """
        if node is None:
            return
        kind = node.kind_id
        if kind in _UNIONS or kind == K_TYPE:
            for child in node.named_children:
                self._declared(child, row, own)
        elif kind in (K_SUBSCRIPT, K_GENERIC) and node.named_child_count >= 2:
            outer, inner = node.named_children[:2]
            if outer.text.rpartition(b".")[2] != b"Optional":
                self._declared(outer, row, b"")
            elif node.named_child_count == 2:
                self._declared(inner, row, own)
        elif kind == K_TYPE_PARAMETER and node.named_child_count == 1:
            self._declared(node.named_children[0], row, own)
        elif kind in (K_IDENTIFIER, K_ATTRIBUTE, K_STRING) and (match := _NAMED.fullmatch(node.text)) and match[1] not in _PLAIN_TYPES:
            token = self._walk.node_token.get(node.start_byte + match.start(1), -1)
            if token >= 0:
                is_own = match[1] == b"Self" or match[1] == own
                self._row(Flow.NAME, row, Handed.OWN_RESULT if is_own else Handed.RESULT, None)
                self._rows.line[-1], self._rows.col[-1] = self._tokens.line[token], self._tokens.col[token]

    def class_(self, node: Any, decorators: tuple[Any, ...] = ()) -> None:
        name = node.child_by_field_name("name")
        if name is None or name.start_byte not in self._walk.node_token:
            return
        row = self._row(Flow.DEFINE, -1, 1, name)
        for place, decorator in enumerate(decorators):
            for child in decorator.named_children:
                self._value(child, row, Handed.DECORATOR + min(place, 99))
        bases = node.child_by_field_name("superclasses")
        for place, base in enumerate(bases.named_children if bases is not None else ()):
            if base.kind_id == K_KEYWORD_ARGUMENT:
                keyword = base.child_by_field_name("name")
                if keyword is not None and keyword.text == b"metaclass":
                    self._value(base.child_by_field_name("value"), row, Handed.METACLASS)
                elif keyword is not None:  # `__init_subclass__` is given it
                    self._value(base.child_by_field_name("value"), row, Handed.KEYWORD, keyword.text.decode("utf-8", "replace"))
            else:
                while base is not None and base.kind_id == K_SUBSCRIPT:
                    base = base.child_by_field_name("value")
                self._value(base, row, Handed.BASE + min(place, 99))
        self._bound(name, row)
        body = node.child_by_field_name("body")
        if body is not None:
            self._bodies.append((row, body, {}))

    def decorated(self, node: Any) -> None:
        definition = node.child_by_field_name("definition")
        decorators = tuple(child for child in node.named_children if child.kind_id == K_DECORATOR)
        if definition is not None and definition.kind_id == K_FUNCTION:
            self.function(definition, decorators)
        elif definition is not None:
            self.class_(definition, decorators)

    def _assignment(self, node: Any) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        targets = [left]
        while right is not None and right.kind_id == K_ASSIGNMENT:
            targets.append(right.child_by_field_name("left"))
            right = right.child_by_field_name("right")
        if right is None or left is None:
            return
        if len(targets) == 1:
            if left.kind_id in PATTERNS and right.kind_id in PATTERNS and self._pairwise(left, right):
                return
            if left.kind_id not in PATTERNS:
                self._set(left, right)
                return
        hold = self._row(Flow.HOLD, -1, 0, None)
        self._value(right, hold, 0)
        for target in targets:
            self._target(target, hold)

    def _pairwise(self, left: Any, right: Any) -> bool:
        """`a, b = f, g`, where neither side has a star."""
        targets = [child for child in left.named_children if child.kind_id != K_COMMENT]
        values = [child for child in right.named_children if child.kind_id != K_COMMENT]
        kinds = {child.kind_id for child in (*targets, *values)}
        if len(targets) != len(values) or kinds & {K_LIST_SPLAT, K_LIST_SPLAT_PATTERN}:
            return False
        holds: list[int] = []
        for value in values:  # all are read before one is bound
            holds.append(self._row(Flow.HOLD, -1, 0, None))
            self._value(value, holds[-1], 0)
        for target, hold in zip(targets, holds, strict=True):
            self._target(target, hold)
        return True

    def _set(self, target: Any, value: Any) -> None:
        """One target of one value."""
        kind = target.kind_id
        if kind == K_IDENTIFIER:
            row = self._row(Flow.BIND, -1, 0, target)
            self._value(value, row, 0)
            binding = self._binding(target)
            if binding is not None:
                self._beginnings[binding] = beginning(value)
            if row == len(self._rows) - 1 and (binding is None or len(binding.tokens) == 1):
                self._rows.drop_last()  # holds nothing that flows, ever
            else:
                self._bound(target, row)
        elif kind == K_ATTRIBUTE and (name := target.child_by_field_name("attribute")) is not None:
            row = self._row(Flow.SET_ATTRIBUTE, -1, 0, name)
            self._value(target.child_by_field_name("object"), row, 0)
            self._value(value, row, 1)
        elif kind == K_SUBSCRIPT:
            row = self._row(Flow.SET_ITEM, -1, 0, target, self._key(target))
            self._value(target.child_by_field_name("value"), row, 0)
            self._value(value, row, 1)
        else:
            hold = self._row(Flow.HOLD, -1, 0, None)
            self._value(value, hold, 0)
            self._target(target, hold)

    def _augmented(self, node: Any) -> None:
        """`x += [f]` puts items into what x holds; other operators make what has no rows."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None or sign.type not in ("+=", "|="):
            for side in (left, right):
                self._value(side, -1, 0)
            return
        row = self._row(Flow.EXTEND, -1, 0, left)
        self._value(left, row, 0)
        self._value(right, row, 1)


_STATEMENTS: dict[int, Any] = {
    kind_id("return_statement"): FlowReader.return_,
    kind_id("assert_statement"): FlowReader.assert_,
    kind_id("raise_statement"): FlowReader.raise_,
    **dict.fromkeys(map(kind_id, ("break_statement", "continue_statement")), FlowReader.ends),
    kind_id("if_statement"): FlowReader.if_,
    kind_id("for_statement"): FlowReader.for_,
    kind_id("while_statement"): FlowReader.while_,
    kind_id("try_statement"): FlowReader.try_,
    kind_id("with_statement"): FlowReader.with_,
    kind_id("match_statement"): FlowReader.match,
    K_FUNCTION: FlowReader.function,
    K_CLASS: FlowReader.class_,
    kind_id("decorated_definition"): FlowReader.decorated,
    **dict.fromkeys(
        map(kind_id, ("import_statement", "import_from_statement", "future_import_statement", "global_statement", "nonlocal_statement")),
        lambda *_: False,
    ),
}


def _names_what_it_catches(clause: Any) -> bool:
    return any(child.kind_id == K_AS_PATTERN for child in clause.named_children)


def _declared_of_first(function: Any) -> bytes:
    """The one name that the first parameter is declared to be of, or a type of (`cls: type[T]`); b"" where it is declared so of none."""
    parameters = function.child_by_field_name("parameters")
    first = parameters.named_children[0] if parameters is not None and parameters.named_child_count else None
    declared = first.child_by_field_name("type") if first is not None else None
    match = _OF_FIRST.fullmatch(declared.text) if declared is not None else None
    return match[1] if match is not None else b""
