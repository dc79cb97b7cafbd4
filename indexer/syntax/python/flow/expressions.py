"""What an expression and a target record."""

from __future__ import annotations

from typing import Any

from indexer.model import BEFORE, Flow, Handed
from indexer.syntax.python.flow.conditions import Conditions
from indexer.syntax.python.flow.constants import (
    K_BINARY,
    LEAST_BEGINNING,
    beginning,
    beginning_of_key,
    constant,
    in_case,
    name_of,
    names_in,
    pattern,
)
from indexer.syntax.python.nodes import (
    K_ARGUMENT_LIST,
    K_ATTRIBUTE,
    K_CALL,
    K_COMMENT,
    K_DEFAULT_PARAMETER,
    K_DICTIONARY_SPLAT,
    K_DICTIONARY_SPLAT_PATTERN,
    K_FOR_IN_CLAUSE,
    K_IDENTIFIER,
    K_KEYWORD_ARGUMENT,
    K_LAMBDA,
    K_LIST_SPLAT,
    K_LIST_SPLAT_PATTERN,
    K_PARENTHESIZED,
    K_STRING,
    K_SUBSCRIPT,
    K_TYPED_DEFAULT_PARAMETER,
    K_TYPED_PARAMETER,
    kind_id,
)
from indexer.syntax.python.operations import (
    K_AWAIT,
    K_BOOLEAN,
    K_CONDITIONAL,
    K_NAMED,
    K_UNARY,
    K_YIELD,
    PATTERNS_OF_SEVERAL,
)
from indexer.syntax.python.scopes import Binding

MAX_DEPTH = 100
"""Expressions and statements inside of each other; what is nested deeper is left out."""

MAX_ELEMENTS = 1_000
"""Elements of one literal that have rows."""

K_PAIR = kind_id("pair")
K_BLOCK = kind_id("block")
K_EXPRESSION_LIST = kind_id("expression_list")
_DISPLAYS = frozenset(map(kind_id, ("list", "set", "tuple"))) | {K_EXPRESSION_LIST}
_COMPREHENSIONS = frozenset(map(kind_id, ("list_comprehension", "set_comprehension", "generator_expression", "dictionary_comprehension")))
PLAIN = frozenset(map(kind_id, ("integer", "float", "true", "false", "none", "ellipsis", "comment", "type", "pass_statement")))
PATTERNS = PATTERNS_OF_SEVERAL | frozenset(map(kind_id, ("expression_list", "tuple", "list")))
_BY_KEY_FIRST = frozenset((b"get", b"pop", b"setdefault", b"parametrize"))
_HOLDING = (b"partial", b"partialmethod")
"""How functions are called that hold arguments back: also what has no row of its own is one of them."""

_COMBINING = frozenset(("+", "|", "&", "/"))
_OF_OBJECTS = frozenset(("-", "*", "@", "**", "//", "^", "<<", ">>"))
_COMPARING = frozenset(("==", "!=", "<", "<=", ">", ">="))
"""Signs that give something only of objects that have a member for them."""

_SIGNS_BEFORE = frozenset(("-", "+", "~"))
_OF_KEY = frozenset((Flow.COLLECTION, Flow.MAPPING))
"""Rows whose parts have keys of their own, which are those of the items."""

_RELATING = (b"ForeignKey", b"OneToOneField", b"ManyToManyField", b"ParentalKey", b"GenericRelation")
"""How fields are called that are given the name of a model of Django, `"app.Model"`, and the name that it gets for them."""

_NAMING = (b"namedtuple", b"import_module", *_RELATING)
"""How functions are called that are given several names in one text."""

_MOST_NAMED = 4
"""Elements of a literal in which names stand beside what has rows: `("get", f)`."""

_NO_NAME = "n"
"""A constant that takes the place of an argument and is none that values are followed of."""

_NAMED_BY = frozenset((Flow.BIND, Flow.SET_ATTRIBUTE, Flow.PARAMETER))
"""Rows that constant texts are given to which may be names."""

_NAMESPACES = (b"globals()", b"locals()", b".__dict__")
"""How what ends whose items are names."""

_BY_NAME_SECOND = frozenset((b"getattr", b"setattr", b"hasattr", b"delattr"))


K_IF_CLAUSE = kind_id("if_clause")
_K_SLICE = kind_id("slice")


class Expressions(Conditions):
    """Reads expressions, and what takes their values."""

    def _parameters(self, node: Any, row: int) -> dict[Binding, int]:
        """Rows of parameters, of a function or a lambda; those whose name is bound again, by binding."""
        found: dict[Binding, int] = {}
        by_name = False
        for child in node.named_children if node is not None else ():
            target, default = child, None
            if child.kind_id in (K_DEFAULT_PARAMETER, K_TYPED_DEFAULT_PARAMETER):
                target, default = child.child_by_field_name("name"), child.child_by_field_name("value")
            elif child.kind_id == K_TYPED_PARAMETER and child.named_child_count:
                target = child.named_children[0]
            part = Handed.BY_NAME if by_name else Handed.BY_PLACE
            if child.type == "keyword_separator":
                by_name = True
                continue
            if target is not None and target.kind_id in (K_LIST_SPLAT_PATTERN, K_DICTIONARY_SPLAT_PATTERN):
                is_list = target.kind_id == K_LIST_SPLAT_PATTERN
                part = Handed.ALL if is_list else Handed.ALL_NAMED
                by_name = True
                target = next(iter(target.named_children), None)
            if target is None or target.kind_id != K_IDENTIFIER or target.start_byte not in self._walk.node_token:
                continue
            taken = self._row(Flow.PARAMETER, row, part, target)
            binding = self._binding(target)
            if binding is not None and self._has_versions(binding, target.text.decode("utf-8", "replace")):
                found[binding] = taken
            if default is not None:
                self._value(default, taken, 0)
        return found

    def _target(self, target: Any, source: int, item: str | None = None) -> None:
        """A target of the value of the row `source`, or of one item of it: a key, or "" for any."""
        if target is None or self._depth > MAX_DEPTH:
            return
        kind = target.kind_id
        if kind in PATTERNS or kind == K_PARENTHESIZED:
            if item is not None:
                hold = self._row(Flow.HOLD, -1, 0, None)
                self._row(Flow.ITEM, hold, 0, None, item, of=source)
                source = hold
            starred = False
            self._depth += 1
            if kind == K_PARENTHESIZED:
                for child in target.named_children:
                    self._target(child, source)
            else:
                for place, child in enumerate(target.named_children[:MAX_ELEMENTS]):
                    if child.kind_id in (K_LIST_SPLAT_PATTERN, K_LIST_SPLAT):
                        starred = True
                        if child.named_child_count:
                            self._rest(child.named_children[0], source, place)
                    else:
                        self._target(child, source, "" if starred else f"i{place}")
            self._depth -= 1
            return
        row = -1
        if kind == K_IDENTIFIER:
            row = self._row(Flow.BIND, -1, 0, target)
        elif kind == K_ATTRIBUTE and (name := target.child_by_field_name("attribute")) is not None:
            row = self._row(Flow.SET_ATTRIBUTE, -1, 0, name)
            self._value(target.child_by_field_name("object"), row, 0)
        elif kind == K_SUBSCRIPT:
            row = self._row(Flow.SET_ITEM, -1, 0, target, self._key(target))
            self._value(target.child_by_field_name("value"), row, 0)
        if row < 0:
            return
        part = 0 if kind == K_IDENTIFIER else 1
        if item is None:
            self._row(Flow.HOLD, row, part, None, of=source)
        else:
            self._row(Flow.ITEM, row, part, None, item, of=source)
        if kind == K_IDENTIFIER:
            self._bound(target, row)

    def _rest(self, target: Any, source: int, place: int) -> None:
        """`*rest`: a list of any items."""
        if target.kind_id != K_IDENTIFIER:
            return
        row = self._row(Flow.BIND, -1, 0, target)
        made = self._row(Flow.COLLECTION, row, 0, None)
        self._row(Flow.ITEM, made, 0, None, f"r{place}", of=source)
        self._bound(target, row)

    def _iteration(self, left: Any, right: Any) -> None:
        if right is None:
            return
        hold = self._row(Flow.HOLD, -1, 0, None)
        self._value(right, self._row(Flow.ITERATE, hold, 0, right), 0)
        self._target(left, hold)

    # ---- expressions

    def _value(self, node: Any, parent: int, part: int, key: str = "") -> None:
        """Rows of an expression whose value the row `parent` takes as its `part`; -1 for none."""
        if node is None:
            return
        kind = node.kind_id
        if kind == K_IDENTIFIER:
            if parent >= 0:
                token = self._walk.node_token.get(node.start_byte, -1)
                if token >= 0:
                    binding = self._walk.use_binding.get(token)
                    of = self._env.get(binding, -1) if binding is not None else -1
                    self._row(Flow.NAME, parent, part, node, key, of)
            return
        if kind in PLAIN:
            return
        if self._depth > MAX_DEPTH:
            self._cut(node)
            return
        self._depth += 1
        handler = _EXPRESSIONS.get(kind)
        if handler is not None:
            handler(self, node, parent, part, key)
        else:
            for child in node.named_children:
                self._value(child, -1, 0)
        self._depth -= 1

    def attribute(self, node: Any, parent: int, part: int, key: str) -> None:
        name = node.child_by_field_name("attribute")
        if name is None or name.start_byte not in self._walk.node_token:
            return
        self._value(node.child_by_field_name("object"), self._row(Flow.ATTRIBUTE, parent, part, name, key), 0)

    def call(self, node: Any, parent: int, part: int, key: str) -> None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return
        if function.text == b"isinstance":  # nothing flows through it; what it says of a name, `_says` has rows for
            for child in arguments.named_children:
                self._value(child, -1, 0)
            return
        given = arguments.named_children if arguments.kind_id == K_ARGUMENT_LIST else [arguments]
        row = self._row(Flow.CALL, parent, part, None if function.kind_id in (K_IDENTIFIER, K_ATTRIBUTE) else arguments, key)
        self._value(function, row, Handed.CALLEE)
        if told := self._told(function, given):
            self._row(Flow.CONSTANT, row, Handed.TOLD, None, told)
        place = 0
        counts = function.text.endswith(_HOLDING) or function.text == b"iter" or any(argument.kind_id == K_LIST_SPLAT for argument in given)
        for argument in given[:MAX_ELEMENTS]:
            kind = argument.kind_id
            if kind == K_KEYWORD_ARGUMENT:
                name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
                if name is not None:
                    told_by = name.text.decode("utf-8", "replace")
                    self._row(Flow.KEY, row, Handed.NAMED, name, told_by)
                    if not (function.text.endswith(_RELATING) and self._relation(row, told_by, value)):
                        self._value(value, row, Handed.KEYWORD, told_by)
            elif kind == K_LIST_SPLAT:
                self._value(next(iter(argument.named_children), None), row, Handed.ALL)
            elif kind == K_DICTIONARY_SPLAT:
                self._value(next(iter(argument.named_children), None), row, Handed.ALL_NAMED)
            elif kind != K_COMMENT:
                part = Handed.ARGUMENT + min(place, 899)
                if kind == K_STRING and (name := constant(argument)) and (name[1:].isidentifier() or function.text.endswith(_NAMING)):
                    if name != told:
                        self._row(Flow.CONSTANT, row, part, None, name)
                elif counts and (kind in PLAIN or kind == K_STRING):
                    self._row(Flow.CONSTANT, row, part, None, _NO_NAME)
                    if kind == K_STRING:
                        self._value(argument, -1, 0)
                else:
                    self._value(argument, row, part)
                place += 1

    def _relation(self, row: int, keyword: str, value: Any) -> bool:
        """`ForeignKey(to="app.Model", related_name="parts")`: whether the argument is such a name, which has a row then."""
        name = constant(value) if value is not None and value.kind_id == K_STRING else ""
        if not name or keyword not in ("to", "related_name"):
            return False
        parent, part = (row, Handed.ARGUMENT) if keyword == "to" else (self._row(Flow.HOLD, row, Handed.KEYWORD, None, keyword), 0)
        self._row(Flow.CONSTANT, parent, part, None, name)
        return True

    def _told(self, function: Any, given: list[Any]) -> str:
        """The constant that says what a call is about: `x.get("key")`, `getattr(x, "name")`, `mark.parametrize("name", …)`."""
        if function.kind_id == K_ATTRIBUTE:
            last = function.child_by_field_name("attribute")
            if not given or last is None or last.text not in _BY_KEY_FIRST:
                return ""
            is_computed = last.text == b"get" and given[0].kind_id in (K_BINARY, K_STRING)
            begun = beginning(given[0]) if is_computed else ""
            return constant(given[0]) or (begun if len(begun) >= LEAST_BEGINNING else "")
        if len(given) < 2 or function.text not in _BY_NAME_SECOND:
            return ""
        if told := constant(given[1]):
            return told
        if function.text == b"getattr":
            return beginning(given[1]) or self._held_beginning(given[1])
        return pattern(given[1]) if function.text == b"setattr" else ""

    def _held_beginning(self, node: Any) -> str:
        """What a name begins with that a variable of the function holds: `method = "visit_" + x`, and `getattr(self, method)`."""
        inner, change = in_case(node)
        binding = self._binding(inner) if inner.kind_id == K_IDENTIFIER else None
        told = self._beginnings.get(binding, "") if binding is not None else ""
        return told[:1] + change(told[1:])

    def subscript(self, node: Any, parent: int, part: int, key: str) -> None:
        if key:  # of the element in what holds it; the item has a key of its own
            parent, part = self._row(Flow.HOLD, parent, part, None, key), 0
        key = self._key(node) or beginning_of_key(node)
        value = node.child_by_field_name("value")
        row = self._row(Flow.ITEM, parent, part, node.children[1] if node.child_count > 1 else node, key)
        self._value(value, row, 0)
        if not key and value is not None and value.text.endswith(_NAMESPACES):
            for child in node.children_by_field_name("subscript")[:1]:
                self._value(child, row, 2)

    def _key(self, node: Any) -> str:
        """The constant between the brackets; ":" for a slice, "" for any. What stands there otherwise is read, too."""
        inside = node.children_by_field_name("subscript")
        if len(inside) == 1 and (key := constant(inside[0])):
            return key
        if len(inside) == 1 and inside[0].text == b"__name__":
            return "s__name__"
        for child in inside:
            self._value(child, -1, 0)
        return ":" if len(inside) == 1 and inside[0].kind_id == _K_SLICE else ""

    def display(self, node: Any, parent: int, part: int, key: str) -> None:
        row = self._row(Flow.COLLECTION, parent, part, None, key)
        elements = node.named_children
        if names := names_in(elements):
            for told in names:
                self._row(Flow.CONSTANT, row, 0, None, told)
            return
        for place, child in enumerate(elements[:MAX_ELEMENTS]):
            if child.kind_id == K_LIST_SPLAT:
                spread = self._row(Flow.ITERATE, row, 0, child)
                self._value(next(iter(child.named_children), None), spread, 0)
            elif len(elements) <= _MOST_NAMED and (told := name_of(child)):
                self._row(Flow.CONSTANT, self._row(Flow.HOLD, row, 0, None, f"i{place}"), 0, None, told)
            else:
                self._value(child, row, 0, f"i{place}")
        if len(elements) > MAX_ELEMENTS:
            self._cut(node)

    def dictionary(self, node: Any, parent: int, part: int, key: str) -> None:
        row = self._row(Flow.MAPPING, parent, part, None, key)
        items = node.named_children
        values = [child.child_by_field_name("value") for child in items if child.kind_id == K_PAIR]
        is_of_names = len(values) == len(items) and bool(names_in(values))
        for child in items[:MAX_ELEMENTS]:
            if child.kind_id == K_PAIR:
                self._pair(child, row)
                if is_of_names:
                    key = constant(child.child_by_field_name("key"))
                    self._row(Flow.CONSTANT, self._row(Flow.HOLD, row, 0, None, key), 0, None, name_of(child.child_by_field_name("value")))
            elif child.kind_id == K_DICTIONARY_SPLAT:
                self._value(next(iter(child.named_children), None), row, Handed.ALL_NAMED)
        if len(items) > MAX_ELEMENTS:
            self._cut(node)

    def _pair(self, node: Any, row: int) -> None:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        told = constant(key) if key is not None else ""
        if not told:
            self._value(key, row, Handed.AS_KEY)
        self._value(value, row, 0, told)

    def comprehension(self, node: Any, parent: int, part: int, key: str) -> None:
        before = dict(self._env)
        for child in node.named_children:
            if child.kind_id == K_FOR_IN_CLAUSE:
                rights = child.children_by_field_name("right")
                self._iteration(child.child_by_field_name("left"), rights[0] if rights else None)
            elif child.kind_id == K_IF_CLAUSE:
                for condition in child.named_children:
                    self._condition(condition, is_true=True)
        body = node.child_by_field_name("body")
        is_mapping = body is not None and body.kind_id == K_PAIR
        row = self._row(Flow.MAPPING if is_mapping else Flow.COLLECTION, parent, part, None, key)
        if body is not None and is_mapping:
            self._pair(body, row)
        else:
            self._value(body, row, 0)
        self._widen(before)

    def lambda_(self, node: Any, parent: int, part: int, key: str) -> None:
        row = self._row(Flow.LAMBDA, parent, part, None, key)
        self._parameters(node.child_by_field_name("parameters"), row)
        before, self._env = self._env, {}  # it runs later
        self._value(node.child_by_field_name("body"), row, 0)
        self._env = before

    def through(self, node: Any, parent: int, part: int, key: str) -> None:
        for child in node.named_children:
            self._value(child, parent, part, key)

    def conditional(self, node: Any, parent: int, part: int, key: str) -> None:
        parts = [child for child in node.named_children if child.kind_id != K_COMMENT]
        if len(parts) != 3:
            return
        before = dict(self._env)
        self._value(parts[1], -1, 0)
        says = self._says(parts[1])
        for child, is_true in ((parts[0], True), (parts[2], False)):
            self._hold_true(says, is_true=is_true)
            self._value(child, parent, part, key)
            self._widen(before)

    def boolean(self, node: Any, parent: int, part: int, key: str) -> None:
        """The right side counts where the left one is true, or where it is not."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        before = dict(self._env)
        self._value(left, parent, part, key)
        self._hold_true(self._says(left), is_true=any(child.type == "and" for child in node.children))
        self._value(right, parent, part, key)
        self._widen(before)

    def named(self, node: Any, parent: int, part: int, key: str) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return
        row = self._row(Flow.BIND, parent, part, name, key)
        self._value(value, row, 0)
        self._bound(name, row)

    def yield_(self, node: Any, parent: int, part: int, key: str) -> None:
        is_from = any(child.type == "from" for child in node.children)
        row = self._row(Flow.YIELD_FROM if is_from else Flow.YIELD, parent, part, None, key)
        for child in node.named_children:
            self._value(child, row, 0)

    def string(self, node: Any, parent: int, part: int, key: str) -> None:
        if parent >= 0 and self._rows.kind[parent] in _NAMED_BY and (told := name_of(node)):
            self._row(Flow.CONSTANT, parent, part, None, told)
        for child in node.named_children:
            if child.type == "interpolation":
                self._value(child.child_by_field_name("expression"), -1, 0)

    def binary(self, node: Any, parent: int, part: int, key: str) -> None:
        sign = node.child_by_field_name("operator")
        operator = "" if sign is None else sign.type
        row = -1
        is_item = parent >= 0 and self._rows.kind[parent] in _OF_KEY
        if parent >= 0 and (operator in _COMBINING or (operator in _OF_OBJECTS and not is_item)):
            row = self._row(Flow.COMBINE, parent, part, sign, key or ("" if is_item else operator))
        for name in ("left", "right"):
            self._value(node.child_by_field_name(name), row, 0)

    def comparison(self, node: Any, parent: int, part: int, key: str) -> None:
        """`query.name == "x"` may give whatever its class says."""
        row = -1
        signs = [child for child in node.children if not child.is_named]
        if parent >= 0 and not key and len(signs) == 1 and signs[0].type in _COMPARING and self._rows.kind[parent] not in _OF_KEY:
            row = self._row(Flow.COMBINE, parent, part, signs[0], signs[0].type)
        for child in node.named_children:
            self._value(child, row, 0)

    def unary(self, node: Any, parent: int, part: int, key: str) -> None:
        """`~query` gives what its class says."""
        sign, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
        row = -1
        if parent >= 0 and not key and sign is not None and sign.type in _SIGNS_BEFORE and self._rows.kind[parent] not in _OF_KEY:
            row = self._row(Flow.COMBINE, parent, part, sign, sign.type + BEFORE)
        self._value(argument, row, 0)


_EXPRESSIONS: dict[int, Any] = {
    K_ATTRIBUTE: Expressions.attribute,
    K_CALL: Expressions.call,
    K_SUBSCRIPT: Expressions.subscript,
    **dict.fromkeys(_DISPLAYS, Expressions.display),
    kind_id("dictionary"): Expressions.dictionary,
    **dict.fromkeys(_COMPREHENSIONS, Expressions.comprehension),
    K_LAMBDA: Expressions.lambda_,
    **dict.fromkeys((K_PARENTHESIZED, K_AWAIT), Expressions.through),
    K_BOOLEAN: Expressions.boolean,
    K_CONDITIONAL: Expressions.conditional,
    K_NAMED: Expressions.named,
    K_YIELD: Expressions.yield_,
    K_STRING: Expressions.string,
    K_BINARY: Expressions.binary,
    K_UNARY: Expressions.unary,
    kind_id("comparison_operator"): Expressions.comparison,
}
