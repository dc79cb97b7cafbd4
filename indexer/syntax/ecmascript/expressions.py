"""What an expression and a target record."""

from __future__ import annotations

from typing import Any, ClassVar

from indexer.model import Flow, Handed
from indexer.syntax.ecmascript.computed import beginning, taken_under
from indexer.syntax.ecmascript.rows import IMPORTED, KNOWN_PACKAGES, NOTHING, Body, Scope, of_package, text_of
from indexer.syntax.ecmascript.targets import MAX_DEPTH, MAX_ELEMENTS, NAMES, Targets, constant

_PLAIN = frozenset(
    (
        *("number", "string", "true", "false", "null", "undefined", "regex", "comment", "property_identifier"),
        *("type_annotation", "type_arguments", "type_parameters", "interface_declaration", "type_alias_declaration"),
        *("function_signature", "abstract_method_signature", "method_signature", "index_signature", "import_statement", "decorator"),
        *("jsx_text", "jsx_closing_element", "accessibility_modifier", "implements_clause", "statement_identifier"),
    )
)
_TRANSPARENT = frozenset(("parenthesized_expression", "await_expression", "non_null_expression"))
_FUNCTIONS = frozenset(
    ("arrow_function", "function_expression", "generator_function", "function_declaration", "generator_function_declaration")
)
_WITH_KEY_FIRST = frozenset(
    (
        *(b"get", b"set", b"on", b"once", b"addListener", b"prependListener", b"emit", b"__defineGetter__", b"__defineSetter__"),
        *(b"addEventListener",),
    )
)
_WITH_KEY_SECOND = frozenset((b"defineProperty",))
EACH_OF = "*"
"""In place of a key of SET_ITEM: each property of the value is set under its own name."""

_CHOICES = frozenset(("||", "&&", "??"))
_HOLDING = b".bind"
"""The method that holds arguments back: also what has no row of its own is one of them."""

_NO_NAME = "n"
"""A constant that takes the place of an argument and is none that values are followed of."""

_MOST_NAMES = 64
"""Texts of an array that have rows, since they may be names."""
_SETTING = frozenset(("||=", "&&=", "??="))


def _is_name(node: Any) -> bool:
    return node is not None and node.type == "string" and constant(node)[1:].isidentifier()


class Expressions(Targets):
    """Reads expressions, and what takes their values."""

    handlers: ClassVar[dict[str, Any]] = {}
    """By the type of a node, who reads it."""

    def _value(self, node: Any, parent: int, part: int, key: str = "") -> None:
        """Rows of an expression whose value the row `parent` takes as its `part`; -1 for none."""
        if node is None:
            return
        kind = node.type
        if kind in NAMES:
            if parent >= 0:
                self._name(node, parent, part, key)
            return
        if kind == "string" and parent >= 0 and self._rows.kind[parent] == Flow.BIND and (told := constant(node))[1:].isidentifier():
            self._row(Flow.CONSTANT, parent, part, None, told)
        if kind in _PLAIN:
            return
        if self._depth > MAX_DEPTH:
            self._cut(node)
            return
        self._depth += 1
        handler = self.handlers.get(kind)
        if handler is not None:
            handler(self, node, parent, part, key)
        elif kind in _TRANSPARENT:
            for child in node.named_children:
                self._value(child, parent, part, key)
        else:
            self._parts(node)
        self._depth -= 1

    def _parts(self, node: Any) -> None:
        """What stands in a node, as far as it does something of its own."""
        for child in node.named_children:
            self._value(child, -1, 0)

    # ---- names

    def _name(self, node: Any, parent: int, part: int, key: str = "") -> None:
        name = text_of(node)
        binder = self._scope.find(name)
        if binder == NOTHING:
            return
        if binder is None and name == "arguments" and self._body.this >= 0:
            self._row(Flow.NAME, parent, part, node, key, self._every(self._body.this))
        elif binder is None:
            if name == "exports":
                self._row(Flow.MODULE, parent, part, None, key)
            elif name != "undefined":
                if key:
                    parent, part = self._row(Flow.HOLD, parent, part, None, key), 0
                self._row(Flow.GLOBAL, parent, part, node, name)
        else:
            self._row(Flow.NAME, parent, part, node, key, -1 if binder == IMPORTED else binder)

    def _every(self, function: int) -> int:
        """The row of all that a function is given."""
        if function not in self._arguments:
            self._arguments[function] = self._row(Flow.PARAMETER, function, Handed.EVERY, None)
        return self._arguments[function]

    def above(self, node: Any, parent: int, part: int, key: str) -> None:
        """`super`, of which a member is taken."""
        if parent >= 0 and self._body.this >= 0:
            self._row(Flow.SUPER, parent, part, None, key, self._body.this)

    def this(self, node: Any, parent: int, part: int, key: str) -> None:
        if parent >= 0 and self._body.this >= 0:
            self._row(Flow.THIS, parent, part, None, key, self._body.this)

    def member(self, node: Any, parent: int, part: int, key: str) -> None:
        name, holder = node.child_by_field_name("property"), node.child_by_field_name("object")
        if name is None or holder is None:
            return
        if self._is_module(holder, name):
            self._row(Flow.MODULE, parent, part, None, key)
        else:
            self._value(holder, self._row(Flow.ATTRIBUTE, parent, part, name, key), 0)

    def _is_module(self, holder: Any, name: Any) -> bool:
        """`module.exports`, where the file binds no `module` of its own."""
        return name.text == b"exports" and holder.text == b"module" and self._scope.find("module") is None

    def subscript(self, node: Any, parent: int, part: int, key: str) -> None:
        if key:  # of the element in what holds it; the item has a key of its own
            parent, part = self._row(Flow.HOLD, parent, part, None, key), 0
        index = node.child_by_field_name("index")
        told = constant(index) or beginning(index) if index is not None else ""
        row = self._row(Flow.ITEM, parent, part, index, told)
        self._value(node.child_by_field_name("object"), row, 0)
        self._value(index, -1 if told else row, 2)

    # ---- calls

    def call(self, node: Any, parent: int, part: int, key: str) -> None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return
        if (module := self._required(function, arguments)) is not None:
            if text_of(module) in KNOWN_PACKAGES:
                self._of_package(text_of(module), parent, part, key)
                return
            self._row(Flow.REQUIRED, parent, part, module, key)
            return
        self._called(function, arguments, self._row(Flow.CALL, parent, part, self._sign(function, arguments), key))

    def _of_package(self, name: str, parent: int, part: int, key: str, member: str = "") -> int:
        if key:
            parent, part = self._row(Flow.HOLD, parent, part, None, key), 0
        return self._row(Flow.GLOBAL, parent, part, None, of_package(name) + member)

    def new(self, node: Any, parent: int, part: int, key: str) -> None:
        function, arguments = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
        if function is None:
            return
        row = self._row(Flow.CALL, parent, part, self._sign(function, arguments), key)
        self._row(Flow.CONSTANT, row, Handed.TOLD, None, "new")
        self._called(function, arguments, row)

    def _sign(self, function: Any, arguments: Any) -> Any:
        """Where a call stands whose callee has no name."""
        return None if arguments is None or function.type in NAMES or function.type == "member_expression" else arguments

    def _required(self, function: Any, arguments: Any) -> Any:
        """The text that names a module in `require("x")` and `import("x")`, or None."""
        if function.type != "import" and (function.text != b"require" or self._scope.find("require") is not None):
            return None
        given = arguments.named_children if arguments.type == "arguments" else ()
        if len(given) != 1 or given[0].type != "string" or given[0].named_child_count != 1:
            return None
        return given[0].named_children[0]

    def _called(self, function: Any, arguments: Any, row: int) -> None:
        if function.type == "super":
            self._row(Flow.SUPER, row, Handed.CALLEE, function, of=self._body.this)
        else:
            self._value(function, row, Handed.CALLEE)
        if arguments is None:
            return
        if arguments.type != "arguments":  # f`text ${value}`: behind the texts
            given = [child for child in arguments.named_children if child.type == "template_substitution"]
            for place, child in enumerate(given[:MAX_ELEMENTS], 1):
                self._value(next(iter(child.named_children), None), row, Handed.ARGUMENT + min(place, 899))
            return
        given = [child for child in arguments.named_children[:MAX_ELEMENTS] if child.type != "comment"]
        if function.type == "member_expression" and given and (name := function.child_by_field_name("property")) is not None:
            told = constant(given[0]) if name.text in _WITH_KEY_FIRST else ""
            told = constant(given[1]) if name.text in _WITH_KEY_SECOND and len(given) > 2 else told
            told = constant(given[1]) if function.text == b"Reflect.get" and len(given) > 1 else told
            if told:
                self._row(Flow.CONSTANT, row, Handed.TOLD, None, told)
        counts = function.type == "member_expression" and function.text.endswith(_HOLDING)
        counts = counts or any(argument.type == "spread_element" for argument in given)
        for place, argument in enumerate(given):
            if argument.type == "spread_element":
                self._value(next(iter(argument.named_children), None), row, Handed.ALL)
                continue
            before = len(self._rows)
            self._value(argument, row, Handed.ARGUMENT + min(place, 899))
            if counts and len(self._rows) == before:  # it takes a place all the same
                self._row(Flow.CONSTANT, row, Handed.ARGUMENT + min(place, 899), None, _NO_NAME)

    # ---- literals

    def array(self, node: Any, parent: int, part: int, key: str) -> None:
        row = self._row(Flow.COLLECTION, parent, part, None, key)
        elements = [child for child in node.named_children if child.type != "comment"]
        if elements and len(elements) <= _MOST_NAMES and all(child.type == "string" for child in elements):
            for told in map(constant, elements):  # names, maybe, under which something is set
                self._row(Flow.CONSTANT, row, 0, None, told)
            return
        for place, child in enumerate(elements[:MAX_ELEMENTS]):
            if child.type == "spread_element":
                self._value(next(iter(child.named_children), None), self._row(Flow.ITERATE, row, 0, child), 0)
            else:
                self._value(child, row, 0, f"i{place}")
        if len(elements) > MAX_ELEMENTS:
            self._cut(node)

    def record(self, node: Any, parent: int, part: int, key: str) -> None:
        row = self._row(Flow.RECORD, parent, part, None, key)
        members = node.named_children
        texts = [child.child_by_field_name("value") for child in members if child.type == "pair"]
        is_of_names = 0 < len(texts) == len(members) <= _MOST_NAMES and all(_is_name(value) for value in texts)
        for child in members[:MAX_ELEMENTS]:
            kind = child.type
            if is_of_names:
                told = constant(child.child_by_field_name("value"))
                held = self._row(Flow.HOLD, row, 0, None, self._key(child.child_by_field_name("key")))
                self._row(Flow.CONSTANT, held, 0, None, told)
            if kind == "pair":
                name, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                told = self._key(name)
                if name.type == "property_identifier" and value is not None and value.type not in _FUNCTIONS:
                    self._row(Flow.KEY, row, Handed.NAMED, name, told)
                self._value(value, row, 0, told)
            elif kind == "method_definition":
                name = child.child_by_field_name("name")
                self._function(child, row, 0, self._key(name))
            elif kind == "spread_element":
                self._value(next(iter(child.named_children), None), row, Handed.ALL_NAMED)
            elif kind == "shorthand_property_identifier":
                self._name(child, row, 0, "s" + text_of(child))
        if len(members) > MAX_ELEMENTS:
            self._cut(node)

    # ---- functions and classes

    def function(self, node: Any, parent: int, part: int, key: str) -> None:
        self._function(node, parent, part, key)

    def _function(self, node: Any, parent: int, part: int, key: str) -> int:
        """A function, its parameters now and its body later; returns its row."""
        body = node.child_by_field_name("body")
        if body is None:
            return NOTHING
        before = self._body
        ordinal, place = self._symbol_of(body)
        if place is None and _is_accessor(node):
            parent = -1  # who reads the property gets what it gives, not the function, and of one without a symbol nothing says so
        if place is not None:
            row = self._row_at(Flow.DEFINE, -1, 0, place)
            self._given(row, parent, part, key)
        else:
            row = self._row(Flow.LAMBDA, parent, part, None, key)
        scope = self._scope = Scope(self._scope, is_function=True)
        name = node.child_by_field_name("name")
        if name is not None and node.type in ("function_expression", "generator_function"):
            scope.names[text_of(name)] = row
        taken = self._parameters(node, row)
        is_arrow = node.type == "arrow_function"
        self._bodies.append(
            Body(
                node=body,
                scope=scope,
                definition=row if place is not None else before.definition,
                ordinal=ordinal if place is not None else before.ordinal,
                result=row if place is None else -1,
                this=before.this if is_arrow else row,
                is_generator=any(child.type == "*" for child in node.children[:3]),
                taken=taken,
            )
        )
        self._scope = scope.parent or scope
        return row

    def _given(self, row: int, parent: int, part: int, key: str) -> None:
        """What is defined in an expression; the `part` of a definition is its own."""
        if parent >= 0:
            self._row(Flow.HOLD, parent, part, None, key, of=row)

    def _parameters(self, node: Any, row: int) -> tuple[tuple[Any, Any, int], ...]:
        """Their rows, and what is left of them to the body: default values and patterns are read when the function runs."""
        later: list[tuple[Any, Any, int]] = []
        single = node.child_by_field_name("parameter")
        listed = node.child_by_field_name("parameters")
        for child in [single] if single is not None else listed.named_children if listed is not None else ():
            target, default = child, None
            if child.type in ("required_parameter", "optional_parameter"):
                target, default = child.child_by_field_name("pattern"), child.child_by_field_name("value")
            elif child.type == "assignment_pattern":
                target, default = child.child_by_field_name("left"), child.child_by_field_name("right")
            elif child.type in ("comment", "decorator"):
                continue
            if target is None or target.type == "this":
                continue
            part = Handed.BY_PLACE
            if target.type == "rest_pattern":
                part, target = Handed.ALL, next(iter(target.named_children), target)
            taken = self._row(Flow.PARAMETER, row, part, target)
            if target.type == "identifier":
                self._scope.names[text_of(target)] = taken
                target = None
            if target is not None or default is not None:
                later.append((target, default, taken))
        return tuple(later)

    def class_(self, node: Any, parent: int, part: int, key: str) -> None:
        self._class(node, parent, part, key)

    def _class(self, node: Any, parent: int, part: int, key: str) -> int:
        """A class, its members' bodies later; returns its row, or NOTHING for one without a symbol."""
        body = node.child_by_field_name("body")
        if body is None:
            return NOTHING
        ordinal, place = self._symbol_of(body)
        if place is None:  # it has no name: its members say that they are its own
            row = self._row(Flow.DEFINE, -1, 1, body)
        else:
            row = self._row_at(Flow.DEFINE, -1, 1, place)
        self._given(row, parent, part, key)
        for child in node.named_children:
            if child.type == "class_heritage":
                base = next(iter(child.named_children), None)
                if base is not None and base.type == "extends_clause":
                    base = base.child_by_field_name("value")
                self._value(base, row, Handed.BASE)
        before = self._body
        name = node.child_by_field_name("name")
        if name is not None and node.type == "class":
            self._scope = Scope(self._scope, names={text_of(name): row})
        self._body = Body(
            node=body,
            scope=self._scope,
            definition=before.definition,
            ordinal=ordinal if place is not None else before.ordinal,
            result=-1,
            this=row,
        )
        for member in body.named_children:
            self._class_member(member, row if place is None else -1)
        self._body = before
        if name is not None and node.type == "class" and self._scope.parent is not None:
            self._scope = self._scope.parent
        return row

    def _class_member(self, member: Any, owner: int) -> None:
        """`owner`: the row of a class without a name; else -1."""
        if member.type == "method_definition":
            is_static = owner >= 0 and any(child.type == "static" for child in member.children[:2])
            key = self._key(member.child_by_field_name("name")) if owner >= 0 else ""
            self._function(member, owner, int(is_static), key)
        elif member.type in ("field_definition", "public_field_definition"):
            name = member.child_by_field_name("property") or member.child_by_field_name("name")
            value = member.child_by_field_name("value")
            if name is not None and value is not None:
                row = self._row(Flow.BIND, -1, 0, name)
                self._value(value, row, 0)
                if row == len(self._rows) - 1:
                    self._rows.drop_last()
        elif member.type == "class_static_block":
            self._parts(member)

    # ---- operators

    def ternary(self, node: Any, parent: int, part: int, key: str) -> None:
        self._value(node.child_by_field_name("condition"), -1, 0)
        self._value(node.child_by_field_name("consequence"), parent, part, key)
        self._value(node.child_by_field_name("alternative"), parent, part, key)

    def binary(self, node: Any, parent: int, part: int, key: str) -> None:
        sign = node.child_by_field_name("operator")
        operator = "" if sign is None else sign.type
        for name in ("left", "right"):
            is_given = operator in _CHOICES and not (name == "left" and operator == "&&")
            self._value(node.child_by_field_name(name), parent if is_given else -1, part if is_given else 0, key)

    def sequence(self, node: Any, parent: int, part: int, key: str) -> None:
        children = node.named_children
        for child in children[:-1]:
            self._value(child, -1, 0)
        for child in children[-1:]:
            self._value(child, parent, part, key)

    def typed(self, node: Any, parent: int, part: int, key: str) -> None:
        """`value as Type`, `value satisfies Type`."""
        for child in node.named_children[:1]:
            self._value(child, parent, part, key)

    def yield_(self, node: Any, parent: int, part: int, key: str) -> None:
        if not self._body.is_generator or self._body.result >= 0:
            self._parts(node)
            return
        is_from = any(child.type == "*" for child in node.children)
        row = self._row(Flow.YIELD_FROM if is_from else Flow.YIELD, parent, part, None, key)
        for child in node.named_children:
            self._value(child, row, 0)

    def assignment(self, node: Any, parent: int, part: int, key: str) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        while left is not None and left.type in ("parenthesized_expression", "non_null_expression") and left.named_child_count:
            left = left.named_children[0]
        if left is None or right is None:
            return
        if left.type == "identifier":
            self._assigned(left, right, parent, part, key)
        elif left.type == "member_expression":
            self._stored(left, right, parent, part, key)
        elif left.type == "subscript_expression":
            index = left.child_by_field_name("index")
            copied = taken_under(right, index)
            row = self._row(Flow.SET_ITEM, parent, part, index, self._index(index) if copied is None else EACH_OF)
            self._value(left.child_by_field_name("object"), row, 0)
            self._value(right if copied is None else copied, row, 1)
            if index is not None and index.type == "identifier":
                self._value(index, row, 2)
        else:
            row = self._row(Flow.HOLD, parent, part, None, key)
            self._value(right, row, 0)
            self._target(left, row)

    def _assigned(self, left: Any, right: Any, parent: int, part: int, key: str) -> None:
        binder = self._scope.find(text_of(left))
        if binder is None and left.text == b"exports":
            self._value(right, parent, part, key)  # of the file's own variable; what else stands there goes on
            return
        of = binder if binder is not None and binder >= 0 else -1
        row = self._row(Flow.BIND, parent, part, left, key, of)
        self._value(right, row, 0)

    def _stored(self, left: Any, right: Any, parent: int, part: int, key: str) -> None:
        name, holder = left.child_by_field_name("property"), left.child_by_field_name("object")
        if name is None or holder is None:
            return
        if self._is_module(holder, name):
            self._value(right, self._row(Flow.EXPORT, parent, part, None, key), 0)
            return
        if key:
            parent, part = self._row(Flow.HOLD, parent, part, None, key), 0
        row = self._row(Flow.SET_ATTRIBUTE, parent, part, name)
        self._value(holder, row, 0)
        self._value(right, row, 1)

    def augmented(self, node: Any, parent: int, part: int, key: str) -> None:
        sign = node.child_by_field_name("operator")
        if sign is not None and sign.type in _SETTING:
            self.assignment(node, parent, part, key)
        else:
            self._parts(node)


def _is_accessor(node: Any) -> bool:
    return node.type == "method_definition" and any(child.type in ("get", "set") for child in node.children)


Expressions.handlers = {
    "this": Expressions.this,
    "super": Expressions.above,
    "member_expression": Expressions.member,
    "subscript_expression": Expressions.subscript,
    "call_expression": Expressions.call,
    "new_expression": Expressions.new,
    "array": Expressions.array,
    "object": Expressions.record,
    **dict.fromkeys(_FUNCTIONS, Expressions.function),
    "class": Expressions.class_,
    "ternary_expression": Expressions.ternary,
    "binary_expression": Expressions.binary,
    "sequence_expression": Expressions.sequence,
    **dict.fromkeys(("as_expression", "satisfies_expression"), Expressions.typed),
    "yield_expression": Expressions.yield_,
    "assignment_expression": Expressions.assignment,
    "augmented_assignment_expression": Expressions.augmented,
}
