"""The one visit to every node: what each construct of the language records."""

from __future__ import annotations

from typing import Any

from indexer.model import SymbolFlag, SymbolKind
from indexer.syntax.depth import depth_of
from indexer.syntax.model import Span, Syntax
from indexer.syntax.python import flow
from indexer.syntax.python.callees import CALLEES
from indexer.syntax.python.comments import tree_of
from indexer.syntax.python.nodes import (
    K_ARGUMENT_LIST,
    K_AS_PATTERN,
    K_ATTRIBUTE,
    K_CALL,
    K_CASE_PATTERN,
    K_CLASS,
    K_COMMENT,
    K_DECORATOR,
    K_DEFAULT_PARAMETER,
    K_DICTIONARY_SPLAT_PATTERN,
    K_EXPRESSION_STATEMENT,
    K_FUNCTION,
    K_GLOBAL,
    K_IDENTIFIER,
    K_KEYWORD_ARGUMENT,
    K_LAMBDA,
    K_LIST_SPLAT_PATTERN,
    K_NONLOCAL,
    K_PARENTHESIZED,
    K_STRING,
    K_SUBSCRIPT,
    K_TUPLE,
    K_TUPLE_PATTERN,
    K_TYPED_DEFAULT_PARAMETER,
    K_TYPED_PARAMETER,
    NAMES,
    kind_id,
    name_of,
)
from indexer.syntax.python.operations import OPERATION_HANDLERS
from indexer.syntax.python.parametrized import filled_by_values
from indexer.syntax.python.receivers import Values
from indexer.syntax.python.roles import (
    ANNOTATION,
    ARGUMENT,
    CALL,
    DECORATOR,
    DEFINITION,
    FIXTURE,
    KEYWORD,
    MENTION,
    READ,
    SUPERTYPE,
)
from indexer.syntax.python.scopes import (
    BY_DEF,
    BY_PARAM,
    CLASS_SCOPE,
    FUNCTION_SCOPE,
    MODULE_SCOPE,
    Scope,
)

SPLATS = (K_LIST_SPLAT_PATTERN, K_DICTIONARY_SPLAT_PATTERN)


class Walk(Values):
    """First pass, with an explicit stack: a file with 10,000 nested brackets must not end the process."""

    def run(self, *, definitions_only: bool) -> Syntax:
        tree = tree_of(self.source)
        root = tree.root_node
        line_count = self.source.count(b"\n") + (0 if self.source.endswith(b"\n") or not self.source else 1)
        end = self.span(root)
        self.define(
            self.module_name, SymbolKind.MODULE, -1, Span(0, 0, max(end.end_line, line_count), 0), Span(0, 0, 0, 0), SymbolFlag.EXPORTED
        )
        self.symbols[0].documentation = self.docstring(root)
        module = self.scope(MODULE_SCOPE, None, 0)
        if root.has_error:
            self.collect_errors(root)
        stack = self.stack
        stack.append((root, module, READ))
        handlers = HANDLERS
        # A `global x` may stand below the first assignment, so declarations are collected when a function is entered.
        while stack:
            node, scope, roles = stack.pop()
            handler = handlers.get(node.kind_id)
            if handler is not None:
                handler(self, node, scope, roles)
            elif node.named_child_count:
                passed = roles & ANNOTATION | READ
                for child in reversed(node.named_children):
                    stack.append((child, scope, passed))
        self.name_made_bases()
        self.join_nonlocals()
        self.name_bindings(module)
        self.resolve_bindings()
        if not definitions_only:
            self.resolve_uses()
        self.mark_exported(module)
        result = self.finish(line_count)
        result.depth = depth_of(root)
        if not definitions_only:
            result.receivers, result.values, result.accessors = self.receivers(), self.values(), self.accessors()
            result.read_of = self.read_of()
            result.flows = flow.read(self, root)
        for made in self.scopes:  # scopes and bindings point at each other; cut, they go without the garbage collector
            made.bindings.clear()
            made.declared.clear()
            made.parent = None
        return result

    def collect_errors(self, root: Any) -> None:
        stack = [root]
        while stack and len(self.errors) < 100:
            node = stack.pop()
            if node.is_error or node.is_missing:
                self.errors.append(node.start_point[0])
            elif node.has_error:
                stack.extend(reversed(node.children))

    def identifier(self, node: Any, scope: Scope, roles: int) -> None:
        if not node.is_missing:
            self.read(node, scope, roles)

    def call(self, node: Any, scope: Scope, roles: int) -> None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        self.push(function, scope, roles & (ANNOTATION | DECORATOR) | READ | CALL)
        if arguments is None:
            return
        self.names_in_call(function, arguments, scope)
        if function is not None:
            self.arguments_of(function, arguments, scope)
        if scope.kind == MODULE_SCOPE and function is not None and function.text in (b"__all__.extend", b"__all__.append"):
            self.export_list(arguments, scope)
        if arguments.kind_id != K_ARGUMENT_LIST:  # f(x for x in y)
            self.push(arguments, scope)
            return
        given = arguments.named_children
        known = CALLEES.get(function.text) if function is not None and function.kind_id in NAMES else None
        for place in range(len(given) - 1, -1, -1):
            child = given[place]
            if child.kind_id == K_KEYWORD_ARGUMENT:
                key = child.child_by_field_name("name")
                if key is not None:
                    self.keywords.append((self.token(key, scope, KEYWORD), function, scope))
                    self.type_argument(function, key.text, child.child_by_field_name("value"), scope)
                passed = READ | ARGUMENT if known is None or key is None else known.role(key.text, len(given))
                self.push(child.child_by_field_name("value"), scope, passed)
            else:
                self.type_argument(function, place, child, scope)
                self.push(child, scope, READ | ARGUMENT if known is None else known.role(place, len(given)))

    def keyword_argument(self, node: Any, scope: Scope, roles: int) -> None:
        """Outside a call: `class C(metaclass=M)`."""
        key = node.child_by_field_name("name")
        if key is not None:
            index = self.token(key, scope, KEYWORD)
            self.tokens.ask[index] = True
        self.push(node.child_by_field_name("value"), scope)

    def function(self, node: Any, scope: Scope, roles: int) -> None:
        self.define_function(node, scope, [], node)

    def class_(self, node: Any, scope: Scope, roles: int) -> None:
        self.define_class(node, scope, [], node)

    def decorated(self, node: Any, scope: Scope, roles: int) -> None:
        definition = node.child_by_field_name("definition")
        decorators = [child for child in node.named_children if child.kind_id == K_DECORATOR]
        for decorator in reversed(decorators):
            for child in decorator.named_children:
                if child.kind_id == K_ATTRIBUTE and child.text.endswith((b".setter", b".getter", b".deleter")):
                    self.accessor(child, scope)
                else:
                    self.push(child, scope, READ | DECORATOR)
        if definition is None:
            return
        if definition.kind_id == K_FUNCTION:
            self.define_function(definition, scope, decorators, node)
        elif definition.kind_id == K_CLASS:
            self.define_class(definition, scope, decorators, node)

    def accessor(self, node: Any, scope: Scope) -> None:
        """`@p.setter` names the property without reading its value."""
        value, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if value.kind_id != K_IDENTIFIER:
            self.push(node, scope, READ | DECORATOR)
            return
        self.read(value, scope, MENTION)
        self.attributes.append((self.token(name, scope, READ | DECORATOR), value, scope, False))

    def decorator_names(self, decorators: list[Any]) -> list[str]:
        names: list[str] = []
        for decorator in decorators:
            text: bytes = decorator.text[1:]
            names.append(text.split(b"(", 1)[0].strip().decode("utf-8", "replace"))
        return names

    def define_function(self, node: Any, scope: Scope, decorators: list[Any], whole: Any) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None or name_node.is_missing:
            return
        in_class = scope.kind == CLASS_SCOPE
        index = self.bind(name_node, scope, BY_DEF, DEFINITION, until=node.end_byte)
        name = self.tokens.name[index]
        names = self.decorator_names(decorators)
        last = {text.rsplit(".", 1)[-1] for text in names}
        flags = SymbolFlag(0)
        if node.child_count and node.children[0].type == "async":
            flags |= SymbolFlag.ASYNC
        if in_class and (last & {"property", "cached_property", "setter", "getter", "deleter", "abstractproperty"}):
            flags |= SymbolFlag.PROPERTY
        if "staticmethod" in last:
            flags |= SymbolFlag.STATIC
        if "classmethod" in last:
            flags |= SymbolFlag.CLASSMETHOD
        if last & {"abstractmethod", "abstractproperty"}:
            flags |= SymbolFlag.ABSTRACT
        if "overload" in last:
            flags |= SymbolFlag.OVERLOADED
        if "deprecated" in last:
            flags |= SymbolFlag.DEPRECATED
        if any(text.rsplit(".", 1)[-1] == "fixture" for text in names):
            flags |= SymbolFlag.FIXTURE
        if in_class:
            kind = SymbolKind.CONSTRUCTOR if name == "__init__" else SymbolKind.METHOD
            if SymbolFlag.PROPERTY in flags:
                kind = SymbolKind.PROPERTY
        else:
            kind = SymbolKind.FUNCTION
        for comment in node.named_children:
            if comment.kind_id == K_COMMENT:
                self.comment(comment, scope, READ)
        body = node.child_by_field_name("body")
        ordinal = self.define_or_merge(name, kind, scope, whole, name_node, flags, self.signature(node, body), self.docstring(body), index)
        self.functions[ordinal] = (node, scope, names)
        outer = self.type_scope(node, scope, ordinal)
        inner = self.scope(FUNCTION_SCOPE, outer, ordinal)
        self.declarations(body, inner)
        parameters = node.child_by_field_name("parameters")
        fixtures = self.is_test and (name.startswith("test") or SymbolFlag.FIXTURE in flags)
        if parameters is not None:
            by_values = filled_by_values(decorators) | self.filled.get(scope.symbol, frozenset()) if fixtures else frozenset[str]()
            self.parameters(parameters, inner, outer, ordinal, fixtures, by_values)
            if in_class and SymbolFlag.STATIC not in flags:
                first = parameters.named_children[0] if parameters.named_child_count else None
                if first is not None and first.kind_id in (K_IDENTIFIER, K_TYPED_PARAMETER):
                    inner.self_name = name_of(first.text.split(b":", 1)[0].strip())
                    inner.self_owner = scope.symbol
        self.push(body, inner)
        self.push(node.child_by_field_name("return_type"), outer)

    def define_class(self, node: Any, scope: Scope, decorators: list[Any], whole: Any) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None or name_node.is_missing:
            return
        index = self.bind(name_node, scope, BY_DEF, DEFINITION, until=node.end_byte)
        body = node.child_by_field_name("body")
        bases = node.child_by_field_name("superclasses")
        texts = [] if bases is None else [child.text.rsplit(b".", 1)[-1] for child in bases.named_children]
        is_enum = any(text in (b"Enum", b"IntEnum", b"StrEnum", b"Flag", b"IntFlag") for text in texts)
        kind = SymbolKind.INTERFACE if b"Protocol" in texts else SymbolKind.ENUM if is_enum else SymbolKind.CLASS
        ordinal = self.define_or_merge(
            self.tokens.name[index], kind, scope, whole, name_node, SymbolFlag(0), self.signature(node, body), self.docstring(body), index
        )
        outer = self.type_scope(node, scope, ordinal)
        inner = self.scope(CLASS_SCOPE, outer, ordinal)
        if self.is_test and (by_values := filled_by_values(decorators)):
            self.filled[ordinal] = by_values
        self.declarations(body, inner)
        self.push(body, inner)
        if bases is None:
            return
        for child in reversed(bases.named_children):
            if child.kind_id == K_KEYWORD_ARGUMENT:
                self.push(child, outer)
                continue
            base = child
            while base is not None and base.kind_id == K_SUBSCRIPT:  # Generic[T]: the base is Generic
                for item in base.children_by_field_name("subscript"):
                    self.push(item, outer, READ | ANNOTATION)
                base = base.child_by_field_name("value")
            if base is None:
                continue
            if base.kind_id == K_IDENTIFIER:
                self.bases.append((ordinal, self.read(base, outer, READ | SUPERTYPE)))
            elif base.kind_id == K_ATTRIBUTE:
                self.attribute(base, outer, READ | SUPERTYPE)
                last = base.child_by_field_name("attribute")
                if last is not None and last.start_byte in self.node_token:
                    self.bases.append((ordinal, self.node_token[last.start_byte]))
            else:
                self.made_bases.append((ordinal, base))
                self.push(base, outer)

    def name_made_bases(self) -> None:
        """A base that an expression gives is called by a function, or is one of the names in it."""
        for ordinal, base in self.made_bases:
            waiting = [base]
            while waiting:
                node = waiting.pop()
                if node.kind_id == K_CALL and (function := node.child_by_field_name("function")) is not None:
                    waiting.append(function)
                elif node.kind_id in (K_IDENTIFIER, K_ATTRIBUTE):
                    last = node.child_by_field_name("attribute") if node.kind_id == K_ATTRIBUTE else node
                    token = -1 if last is None else self.node_token.get(last.start_byte, -1)
                    if token >= 0:
                        self.tokens.roles[token] |= SUPERTYPE
                        self.bases.append((ordinal, token))
                else:
                    waiting += node.named_children

    def declarations(self, body: Any, scope: Scope) -> None:
        """`global` and `nonlocal` of this body, not of functions nested in it."""
        if body is None or (b"global" not in (text := body.text) and b"nonlocal" not in text):
            return
        module: Scope = scope
        while module.parent is not None:
            module = module.parent
        stack = [body]
        while stack:
            node = stack.pop()
            kind = node.kind_id
            if kind in (K_GLOBAL, K_NONLOCAL):
                for child in node.named_children:
                    scope.declared[name_of(child.text)] = module if kind == K_GLOBAL else None
            elif kind not in (K_FUNCTION, K_CLASS, K_LAMBDA):
                stack.extend(node.named_children)

    def declaration_names(self, node: Any, scope: Scope, roles: int) -> None:
        """The names after `global` and `nonlocal` are mentions of the outer variable."""
        for child in node.named_children:
            self.read(child, scope, MENTION)

    def parameters(
        self, node: Any, inner: Scope, outer: Scope, function: int, fixtures: bool, by_values: frozenset[str] = frozenset()
    ) -> None:
        """`by_values`: names of those that no fixture fills."""
        for child in node.named_children:
            kind = child.kind_id
            target, annotation, default = child, None, None
            if kind == K_DEFAULT_PARAMETER:
                target, default = child.child_by_field_name("name"), child.child_by_field_name("value")
            elif kind == K_TYPED_DEFAULT_PARAMETER:
                target, default = child.child_by_field_name("name"), child.child_by_field_name("value")
                annotation = child.child_by_field_name("type")
            elif kind == K_TYPED_PARAMETER:
                annotation = child.child_by_field_name("type")
                target = child.named_children[0]
            if target is not None:
                self.given_as[target.start_byte] = target.kind_id if annotation is None else 0
                for inside in target.named_children if target.kind_id in SPLATS else ():
                    self.given_as[inside.start_byte] = target.kind_id
                self.parameter(target, child, inner, function, fixtures and default is None and name_of(target.text) not in by_values)
            if default is not None:
                self.push(default, outer)
            if annotation is not None:
                self.push(annotation, outer)

    def parameter(self, target: Any, whole: Any, inner: Scope, function: int, fixture: bool) -> None:
        if target.kind_id in (*SPLATS, K_TUPLE_PATTERN):
            for child in target.named_children:
                self.parameter(child, whole, inner, function, False)
            return
        if target.kind_id != K_IDENTIFIER or target.is_missing:
            return
        index = self.bind(target, inner, BY_PARAM, DEFINITION)
        binding = self.use_binding[index]
        if binding.symbol < 0:
            # A lambda's parameter is a local of whatever holds the lambda, none of its parameters.
            flags = SymbolFlag.LOCAL if function < 0 else SymbolFlag.LOCAL | SymbolFlag.PARAMETER
            owner = inner.symbol if function < 0 else function
            binding.symbol = self.define(self.tokens.name[index], SymbolKind.VARIABLE, owner, self.span(whole), self.span(target), flags)
        if fixture and self.tokens.name[index] not in ("self", "cls"):
            self.tokens.roles[index] |= FIXTURE
            self.tokens.ask[index] = True

    def lambda_(self, node: Any, scope: Scope, roles: int) -> None:
        inner = self.scope(FUNCTION_SCOPE, scope, scope.symbol)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            self.parameters(parameters, inner, scope, -1, False)
        self.push(node.child_by_field_name("body"), inner)

    def old_statement(self, node: Any, scope: Scope, roles: int) -> None:
        """`print >> f, x`: Python 2's statement, and an expression about the name `print` in Python 3. `exec` likewise."""
        self.read(node.children[0], scope, READ)
        for child in reversed(node.named_children):
            self.push(child, scope)


HANDLERS = {
    **OPERATION_HANDLERS,
    K_IDENTIFIER: Walk.identifier,
    K_ATTRIBUTE: Walk.attribute,
    K_CALL: Walk.call,
    K_SUBSCRIPT: Walk.subscript,
    K_KEYWORD_ARGUMENT: Walk.keyword_argument,
    K_FUNCTION: Walk.function,
    K_CLASS: Walk.class_,
    kind_id("decorated_definition"): Walk.decorated,
    K_LAMBDA: Walk.lambda_,
    kind_id("list_comprehension"): Walk.comprehension,
    kind_id("set_comprehension"): Walk.comprehension,
    kind_id("dictionary_comprehension"): Walk.comprehension,
    kind_id("generator_expression"): Walk.comprehension,
    kind_id("assignment"): Walk.assignment,
    kind_id("augmented_assignment"): Walk.augmented,
    kind_id("named_expression"): Walk.named_expression,
    kind_id("for_statement"): Walk.for_,
    K_AS_PATTERN: Walk.as_pattern,
    K_CASE_PATTERN: Walk.case_pattern,
    kind_id("delete_statement"): Walk.delete,
    kind_id("import_statement"): Walk.import_,
    kind_id("import_from_statement"): Walk.import_from,
    kind_id("future_import_statement"): Walk.import_from,
    kind_id("type"): Walk.type_,
    kind_id("type_alias_statement"): Walk.type_alias,
    K_STRING: Walk.string,
    K_COMMENT: Walk.comment,
    kind_id("print_statement"): Walk.old_statement,
    kind_id("exec_statement"): Walk.old_statement,
    K_TUPLE: Walk.through,
    K_PARENTHESIZED: Walk.through,
    kind_id("list"): Walk.through,
    kind_id("set"): Walk.through,
    K_EXPRESSION_STATEMENT: Walk.discarding,
    kind_id("except_clause"): Walk.discarding,
    K_GLOBAL: Walk.declaration_names,
    K_NONLOCAL: Walk.declaration_names,
}
