"""What a statement records."""

from __future__ import annotations

from typing import Any

from indexer.model import Flow
from indexer.syntax.ecmascript.expressions import Expressions
from indexer.syntax.ecmascript.rows import IMPORTED, KNOWN_PACKAGES, NOTHING, Body, Scope, text_of
from indexer.syntax.ecmascript.targets import NAMES
from indexer.syntax.model import Flows

SEES_THIS = 1
"""`part` of the first row of a file: its functions have `this`, and what is followed is followed as ECMAScript says."""

_DECLARES_FUNCTION = ("function_declaration", "generator_function_declaration")
_DECLARES_CLASS = ("class_declaration", "abstract_class_declaration")
_IMPORTS = ("import_specifier", "namespace_import", "import_clause", "import_require_clause")


class FlowReader(Expressions):
    """Reads one file."""

    def read(self, root: Any) -> Flows:
        self._row(Flow.ENTER, -1, SEES_THIS, None)
        self._bodies.append(Body(root, self._scope, -1, 0, -1, -1))
        at = 0
        while at < len(self._bodies):
            self._body = self._bodies[at]
            at += 1
            before = len(self._rows)
            self._scope = self._body.scope
            self._row(Flow.ENTER, -1, 0, None, of=self._body.definition)
            for target, default, taken in self._body.taken:
                self._value(default, taken, 0)
                if target is not None:
                    self._target(target, taken, declares=True)
            node = self._body.node
            if node.type in ("statement_block", "program"):
                self._block(node)
            else:
                self._given_back(node)
            if len(self._rows) == before + 1:
                self._rows.drop_last()
        if len(self._rows) == 1:
            self._rows.drop_last()
        return self._rows

    def _given_back(self, node: Any) -> None:
        result = self._body.result
        self._value(node, result if result >= 0 else self._row(Flow.RETURN, -1, 0, None), 0)

    # ---- statements

    def _block(self, node: Any) -> None:
        """Functions and imports are there before the first statement runs."""
        later: list[Any] = []
        for child in node.named_children:
            inner = child.child_by_field_name("declaration") if child.type == "export_statement" else child
            if child.type == "import_statement":
                self._import(child)
            elif inner is not None and inner.type in _DECLARES_FUNCTION:
                self._function_declaration(inner)
            else:
                later.append(child)
        for child in later:
            self._value(child, -1, 0)

    def _import(self, node: Any, package: str = "") -> None:
        """`package`: the one whose whole is imported, if it is one that is known by its name."""
        source = node.child_by_field_name("source")
        if source is not None and (name := text_of(source).strip("\"'`")) in KNOWN_PACKAGES:
            package = name
        for child in node.named_children:
            if child.type == "import_specifier" and package and (name := child.child_by_field_name("name")) is not None:
                alias = child.child_by_field_name("alias") or name
                self._scope.names[text_of(alias)] = self._of_package(package, -1, 0, "", f".{text_of(name)}")
            elif child.type == "named_imports":
                self._import(child, package)
            elif child.type == "import_specifier":
                self._import(child)
            elif child.type in _IMPORTS:
                self._import(child, package)
            elif child.type == "identifier":  # of `a as b` the last
                self._scope.names[text_of(child)] = self._of_package(package, -1, 0, "") if package else IMPORTED

    def _function_declaration(self, node: Any) -> None:
        name = node.child_by_field_name("name")
        row = self._function(node, -1, 0, "")
        if name is not None:
            self._declare(text_of(name), row)

    def block(self, node: Any, parent: int, part: int, key: str) -> None:
        self._scope = Scope(self._scope)
        self._block(node)
        self._scope = self._scope.parent or self._scope

    def late_function(self, node: Any, parent: int, part: int, key: str) -> None:
        self._function_declaration(node)

    def class_declaration(self, node: Any, parent: int, part: int, key: str) -> None:
        name = node.child_by_field_name("name")
        row = self._class(node, -1, 0, "")
        if name is not None:
            self._declare(text_of(name), row)

    def variable(self, node: Any, parent: int, part: int, key: str) -> None:
        scope = self._scope
        if node.type == "variable_declaration":
            self._scope = scope.function()
        is_fixed = bool(node.child_count) and node.children[0].type == "const"
        for child in node.named_children:
            if child.type == "variable_declarator":
                self._declarator(child, scope, is_fixed=is_fixed)
        self._scope = scope

    def _declarator(self, node: Any, scope: Scope, *, is_fixed: bool) -> None:
        """`scope`: where the value is read; the name is declared in the scope of now."""
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        declaring = self._scope
        if target is None:
            return
        if target.type == "identifier":
            name = text_of(target)
            known = declaring.names.get(name, NOTHING)
            row = self._row(Flow.BIND, -1, 0, target, of=known if known >= 0 and known < len(self._rows) else -1)
            if known < 0:
                declaring.names[name] = row
            self._scope = scope
            self._value(value, row, 0)
            if value is None:
                self._declared(node.child_by_field_name("type"), row)
            self._scope = declaring
            if row == len(self._rows) - 1 and is_fixed:
                self._rows.drop_last()
                declaring.names[name] = NOTHING
            return
        hold = self._row(Flow.HOLD, -1, 0, None)
        self._scope = scope
        self._value(value, hold, 0)
        self._scope = declaring
        self._target(target, hold, declares=True)

    def _declared(self, annotation: Any, row: int) -> None:
        """`declare const x: Type`: where nothing comes to it, it is an object of that type."""
        held = annotation.named_children[0] if annotation is not None and annotation.named_child_count == 1 else None
        if held is not None and held.type == "type_identifier":
            self._row(Flow.NAME, self._row(Flow.NARROW, row, 0, None), 1, held)

    def for_in(self, node: Any, parent: int, part: int, key: str) -> None:
        self._scope = Scope(self._scope)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        declares = node.child_by_field_name("kind") is not None
        if sign is not None and sign.type == "of":
            hold = self._row(Flow.HOLD, -1, 0, None)
            self._value(right, self._row(Flow.ITERATE, hold, 0, right), 0)
            self._target(left, hold, declares=declares)
        else:
            if declares and left is not None and left.type in NAMES:
                self._declare(text_of(left), NOTHING)
            self._value(right, -1, 0)
        self._value(node.child_by_field_name("body"), -1, 0)
        self._scope = self._scope.parent or self._scope

    def scoped(self, node: Any, parent: int, part: int, key: str) -> None:
        self._scope = Scope(self._scope)
        self._parts(node)
        self._scope = self._scope.parent or self._scope

    def try_(self, node: Any, parent: int, part: int, key: str) -> None:
        """What the block throws, and what it calls, is caught there."""
        handler = node.child_by_field_name("handler")
        thrown = self._row(Flow.HOLD, -1, 0, None)
        self._thrown.append(thrown)
        self._value(node.child_by_field_name("body"), -1, 0)
        self._thrown.pop()
        if handler is not None and handler.child_by_field_name("parameter") is not None:
            self._row(Flow.CATCH, -1, 0, None, of=thrown)
        if handler is not None:
            self._catch(handler, thrown)
        self._value(node.child_by_field_name("finalizer"), -1, 0)

    def throw(self, node: Any, parent: int, part: int, key: str) -> None:
        for child in node.named_children:
            self._value(child, self._thrown[-1] if self._thrown else self._row(Flow.THROW, -1, 0, None), 0)

    def _catch(self, node: Any, thrown: int) -> None:
        self._scope = Scope(self._scope)
        parameter = node.child_by_field_name("parameter")
        if parameter is not None:
            self._target(parameter, thrown, declares=True)
        self._value(node.child_by_field_name("body"), -1, 0)
        self._scope = self._scope.parent or self._scope

    def return_(self, node: Any, parent: int, part: int, key: str) -> None:
        value = next((child for child in node.named_children if child.type != "comment"), None)
        if value is not None:
            before = len(self._rows)
            self._given_back(value)
            if len(self._rows) == before + 1 and self._rows.kind[-1] == Flow.RETURN:
                self._rows.drop_last()

    def export(self, node: Any, parent: int, part: int, key: str) -> None:
        value = node.child_by_field_name("value")
        if value is None:
            self._value(node.child_by_field_name("declaration"), -1, 0)
            return
        if value.type in ("function_expression", "generator_function", "arrow_function", "class"):
            self._value(value, -1, 0)
            return
        word = next((child for child in node.children if child.type == "default"), None)
        self._value(value, -1 if word is None else self._row(Flow.BIND, -1, 0, word), 0)

    def enumeration(self, node: Any, parent: int, part: int, key: str) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self._declare(text_of(name), IMPORTED)  # what it means the server says

    def namespace(self, node: Any, parent: int, part: int, key: str) -> None:
        self.enumeration(node, parent, part, key)
        self._value(node.child_by_field_name("body"), -1, 0)


_STATEMENTS: dict[str, Any] = {
    "statement_block": FlowReader.block,
    **dict.fromkeys(_DECLARES_FUNCTION, FlowReader.late_function),
    **dict.fromkeys(_DECLARES_CLASS, FlowReader.class_declaration),
    **dict.fromkeys(("lexical_declaration", "variable_declaration"), FlowReader.variable),
    "for_in_statement": FlowReader.for_in,
    **dict.fromkeys(("for_statement", "switch_body"), FlowReader.scoped),
    "try_statement": FlowReader.try_,
    "throw_statement": FlowReader.throw,
    "return_statement": FlowReader.return_,
    "export_statement": FlowReader.export,
    "enum_declaration": FlowReader.enumeration,
    **dict.fromkeys(("internal_module", "module"), FlowReader.namespace),
}
FlowReader.handlers = {**Expressions.handlers, **_STATEMENTS}
