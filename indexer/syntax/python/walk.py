"""The one visit to every node: what each construct of the language records."""

from __future__ import annotations

import re
from typing import Any

from indexer.model import SymbolFlag, SymbolKind
from indexer.syntax.model import Span, Syntax
from indexer.syntax.python.nodes import (
    K_ALIASED_IMPORT,
    K_ARGUMENT_LIST,
    K_AS_PATTERN,
    K_ATTRIBUTE,
    K_CALL,
    K_CASE_PATTERN,
    K_CLASS,
    K_CLASS_PATTERN,
    K_CONSTRAINED_TYPE,
    K_DECORATOR,
    K_DEFAULT_PARAMETER,
    K_DICTIONARY_SPLAT_PATTERN,
    K_DOTTED_NAME,
    K_EXPRESSION_STATEMENT,
    K_FOR_IN_CLAUSE,
    K_FUNCTION,
    K_GENERIC_TYPE,
    K_GLOBAL,
    K_IDENTIFIER,
    K_INTERPOLATION,
    K_KEYWORD_ARGUMENT,
    K_KEYWORD_PATTERN,
    K_LAMBDA,
    K_LIST_SPLAT_PATTERN,
    K_NONLOCAL,
    K_STRING,
    K_SUBSCRIPT,
    K_TUPLE_PATTERN,
    K_TYPE,
    K_TYPED_DEFAULT_PARAMETER,
    K_TYPED_PARAMETER,
    K_WILDCARD_IMPORT,
    PARSER,
    PATTERNS,
    kind_id,
    name_of,
)
from indexer.syntax.python.resolve import Resolver
from indexer.syntax.python.roles import (
    ANNOTATION,
    ARGUMENT,
    CALL,
    DECORATOR,
    DEFINITION,
    DELETE,
    FIXTURE,
    IMPORT,
    KEYWORD,
    MENTION,
    PATH,
    READ,
    STAR,
    SUPERTYPE,
    WRITE,
)
from indexer.syntax.python.scopes import (
    BY_ASSIGN,
    BY_DEF,
    BY_IMPORT,
    BY_PARAM,
    BY_TYPE_PARAM,
    CLASS_SCOPE,
    COMPREHENSION_SCOPE,
    FUNCTION_SCOPE,
    MODULE_SCOPE,
    TYPE_SCOPE,
    Binding,
    Scope,
    Use,
    method_class,
    self_owner,
)

SIMPLE_STRING = re.compile(rb"""^(["'])([^"'\\\n{}]+)\1$""")
TYPE_SLOTS = ("__class__", "__dict__")
"""Assigned through self, but members of every object."""


_LONGEST_PATH = 100
"""Parts of a dotted name under which its uses share an answer: more are nobody's module, and would cost memory by their square."""


class Walk(Resolver):
    """First pass, with an explicit stack: a file with 10,000 nested brackets must not end the process."""

    def run(self, *, definitions_only: bool) -> Syntax:
        tree = PARSER.parse(self.source)
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
        self.join_nonlocals()
        self.name_bindings(module)
        self.resolve_bindings()
        if not definitions_only:
            self.resolve_uses()
        self.mark_exported(module)
        result = self.finish(line_count)
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

    def push(self, node: Any, scope: Scope, roles: int = READ) -> None:
        if node is not None:
            self.stack.append((node, scope, roles))

    def identifier(self, node: Any, scope: Scope, roles: int) -> None:
        if not node.is_missing:
            self.read(node, scope, roles)

    def attribute(self, node: Any, scope: Scope, roles: int) -> None:
        name = node.child_by_field_name("attribute")
        value = node.child_by_field_name("object")
        if name is not None and name.end_byte > name.start_byte:
            index = self.token(name, scope, roles)
            self.attributes.append((index, value, scope, bool(roles & CALL)))
            if value is not None and value.kind_id == K_IDENTIFIER:
                owner = self_owner(name_of(value.text), scope)
                if owner >= 0:
                    self.through_self[index] = (owner, False)
                    if roles & WRITE and self.tokens.name[index] not in TYPE_SLOTS:
                        self.members.setdefault((owner, self.tokens.name[index]), []).append(index)
            elif value is not None and value.kind_id == K_CALL and value.text == b"super()":
                owner = method_class(scope)
                if owner >= 0:
                    self.through_self[index] = (owner, True)
        self.push(value, scope, roles & ANNOTATION | READ)

    def call(self, node: Any, scope: Scope, roles: int) -> None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        self.push(function, scope, roles & (ANNOTATION | DECORATOR) | READ | CALL)
        if arguments is None:
            return
        if scope.kind == MODULE_SCOPE and function is not None and function.text in (b"__all__.extend", b"__all__.append"):
            self.export_list(arguments, scope)
        if arguments.kind_id != K_ARGUMENT_LIST:  # f(x for x in y)
            self.push(arguments, scope)
            return
        for child in reversed(arguments.named_children):
            if child.kind_id == K_KEYWORD_ARGUMENT:
                key = child.child_by_field_name("name")
                if key is not None:
                    self.keywords.append((self.token(key, scope, KEYWORD), function, scope))
                self.push(child.child_by_field_name("value"), scope, READ | ARGUMENT)
            else:
                self.push(child, scope, READ | ARGUMENT)

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
        index = self.bind(name_node, scope, BY_DEF, DEFINITION)
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
        body = node.child_by_field_name("body")
        ordinal = self.define_or_merge(name, kind, scope, whole, name_node, flags, self.signature(node, body), self.docstring(body), index)
        outer = self.type_scope(node, scope, ordinal)
        inner = self.scope(FUNCTION_SCOPE, outer, ordinal)
        self.declarations(body, inner)
        parameters = node.child_by_field_name("parameters")
        fixtures = self.is_test and (name.startswith("test") or SymbolFlag.FIXTURE in flags)
        if parameters is not None:
            self.parameters(parameters, inner, outer, ordinal, fixtures)
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
        index = self.bind(name_node, scope, BY_DEF, DEFINITION)
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
                self.push(base, outer)

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

    def parameters(self, node: Any, inner: Scope, outer: Scope, function: int, fixtures: bool) -> None:
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
                self.parameter(target, child, inner, function, fixtures and default is None)
            if default is not None:
                self.push(default, outer)
            if annotation is not None:
                self.push(annotation, outer)

    def parameter(self, target: Any, whole: Any, inner: Scope, function: int, fixture: bool) -> None:
        if target.kind_id in (K_LIST_SPLAT_PATTERN, K_DICTIONARY_SPLAT_PATTERN, K_TUPLE_PATTERN):
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

    def type_scope(self, node: Any, scope: Scope, owner: int) -> Scope:
        """The scope of a definition's own type parameters (PEP 695), or `scope` where it has none."""
        parameters = node.child_by_field_name("type_parameters")
        if parameters is None:
            return scope
        made = self.scope(TYPE_SCOPE, scope, scope.symbol)
        self.type_parameters(parameters, made, owner)
        return made

    def type_parameters(self, node: Any, scope: Scope, owner: int) -> None:
        stack = list(reversed(node.named_children))
        while stack:
            child = stack.pop()
            if child.kind_id == K_IDENTIFIER:
                index = self.bind(child, scope, BY_TYPE_PARAM, DEFINITION)
                binding = self.use_binding[index]
                if binding.symbol < 0:
                    span = self.span(child)
                    binding.symbol = self.define(self.tokens.name[index], SymbolKind.TYPE_PARAMETER, owner, span, span, SymbolFlag.LOCAL)
            elif child.type == "constrained_type":  # T: bound
                inner = child.named_children
                if inner:
                    stack.append(inner[0])
                for bound in inner[1:]:
                    self.push(bound, scope, READ | ANNOTATION)
            else:
                stack.extend(reversed(child.named_children))

    def lambda_(self, node: Any, scope: Scope, roles: int) -> None:
        inner = self.scope(FUNCTION_SCOPE, scope, scope.symbol)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            self.parameters(parameters, inner, scope, -1, False)
        self.push(node.child_by_field_name("body"), inner)

    def comprehension(self, node: Any, scope: Scope, roles: int) -> None:
        inner = self.scope(COMPREHENSION_SCOPE, scope, scope.symbol)
        first = True
        pending: list[tuple[Any, Scope]] = []
        for child in node.named_children:
            if child.kind_id == K_FOR_IN_CLAUSE:
                left = child.child_by_field_name("left")
                self.target(left, inner)
                for right in child.children_by_field_name("right"):
                    pending.append((right, scope if first else inner))
                first = False
            else:
                pending.append((child, inner))
        for child, child_scope in reversed(pending):
            self.push(child, child_scope)

    def assignment(self, node: Any, scope: Scope, roles: int) -> None:
        left = node.child_by_field_name("left")
        annotation = node.child_by_field_name("type")
        right = node.child_by_field_name("right")
        if right is not None:
            self.push(right, scope)
        if annotation is not None:
            self.push(annotation, scope)
        if left is None:
            return
        if right is None and left.kind_id == K_TUPLE_PATTERN:  # `(x): int` binds nothing
            self.push(left, scope)
            return
        if left.kind_id == K_IDENTIFIER and left.text == b"__all__" and scope.kind == MODULE_SCOPE:
            self.export_list(right, scope)
        self.target(left, scope, whole=node)

    def augmented(self, node: Any, scope: Scope, roles: int) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        self.push(right, scope)
        if left is None:
            return
        if left.kind_id == K_IDENTIFIER and left.text == b"__all__" and scope.kind == MODULE_SCOPE:
            self.export_list(right, scope)
        self.target(left, scope, whole=node, extra=READ)

    def target(self, node: Any, scope: Scope, *, whole: Any = None, extra: int = 0) -> None:
        """An assignment target: names bind, attributes and subscripts are written through."""
        stack = [node]
        while stack:
            node = stack.pop()
            if node is None or node.is_missing:
                continue
            kind = node.kind_id
            if kind == K_IDENTIFIER:
                index = self.bind(node, scope, BY_ASSIGN, WRITE | extra)
                self.variable(index, node, whole)
            elif kind == K_ATTRIBUTE:
                self.attribute(node, scope, WRITE | extra)
            elif kind == K_SUBSCRIPT:
                self.push(node, scope)
            elif kind in PATTERNS:
                stack.extend(reversed(node.named_children))
            else:
                self.push(node, scope)

    def export_list(self, node: Any, scope: Scope) -> None:
        if self.exports is None:
            self.exports = []
        stack = [] if node is None else [node]
        while stack:
            child = stack.pop()
            if child.kind_id == K_STRING:
                for part in child.named_children:
                    if part.type == "string_content":
                        name = part.text.decode("utf-8", "replace")
                        if name.isidentifier():
                            self.exports.append(name)
                            index = self.token(part, scope, MENTION)
                            self.uses.append(Use(index, name, scope, len(self.source), False))
            elif child.kind_id != K_ATTRIBUTE:
                stack.extend(reversed(child.named_children))

    def named_expression(self, node: Any, scope: Scope, roles: int) -> None:
        home = scope
        while home.kind == COMPREHENSION_SCOPE and home.parent is not None:
            home = home.parent
        self.target(node.child_by_field_name("name"), home, whole=node)
        self.push(node.child_by_field_name("value"), scope)

    def for_(self, node: Any, scope: Scope, roles: int) -> None:
        self.target(node.child_by_field_name("left"), scope)
        for field_name in ("alternative", "body", "right"):
            self.push(node.child_by_field_name(field_name), scope)

    def as_pattern(self, node: Any, scope: Scope, roles: int) -> None:
        """`with a as b`, `except E as e`; inside a `case`, the alias is a capture too."""
        alias = node.child_by_field_name("alias")
        for child in reversed(node.named_children):
            if alias is not None and child.id == alias.id:
                if child.kind_id == K_IDENTIFIER:
                    self.target(child, scope)
                for target in child.named_children:
                    self.target(target, scope)
            elif child.kind_id == K_CASE_PATTERN:
                self.case_pattern(child, scope, roles)
            elif child.kind_id == K_IDENTIFIER and node.parent is not None and node.parent.kind_id == K_CASE_PATTERN:
                self.target(child, scope)
            else:
                self.push(child, scope)

    def case_pattern(self, node: Any, scope: Scope, roles: int) -> None:
        stack = [node]
        while stack:
            child = stack.pop()
            kind = child.kind_id
            if kind == K_DOTTED_NAME:
                parts = child.named_children
                if len(parts) == 1:
                    if child.text != b"_":
                        self.target(parts[0], scope)
                else:
                    self.dotted_value(parts, scope, READ)
            elif kind == K_CLASS_PATTERN:
                for index, part in enumerate(child.named_children):
                    if index == 0 and part.kind_id == K_DOTTED_NAME:
                        self.dotted_value(part.named_children, scope, READ)
                    else:
                        stack.append(part)
            elif kind == K_KEYWORD_PATTERN:
                for index, part in enumerate(child.named_children):
                    if index == 0:
                        self.tokens.ask[self.token(part, scope, KEYWORD)] = True
                    else:
                        stack.append(part)
            elif kind == K_AS_PATTERN:
                self.as_pattern(child, scope, roles)
            elif kind == K_IDENTIFIER:
                self.target(child, scope)
            elif kind in (K_STRING, K_ATTRIBUTE, K_CALL):
                self.push(child, scope)
            else:
                stack.extend(reversed(child.named_children))

    def dotted_value(self, parts: list[Any], scope: Scope, roles: int) -> None:
        """`a.b.c` written as a dotted name: the first part is looked up, the rest asked."""
        for index, part in enumerate(parts):
            if index == 0:
                self.read(part, scope, READ if len(parts) > 1 else roles)
            else:
                token = self.token(part, scope, roles if index == len(parts) - 1 else READ)
                self.tokens.ask[token] = True

    def delete(self, node: Any, scope: Scope, roles: int) -> None:
        stack = list(reversed(node.named_children))
        while stack:
            child = stack.pop()
            if child.is_missing:
                continue
            if child.kind_id == K_IDENTIFIER:
                index = self.read(child, scope, DELETE)
                if scope.kind in (FUNCTION_SCOPE, CLASS_SCOPE) and self.tokens.name[index] not in scope.declared:
                    scope.bindings.setdefault(self.tokens.name[index], Binding(scope))  # `del x` makes x local
            elif child.kind_id == K_ATTRIBUTE:
                self.attribute(child, scope, DELETE)
            elif child.kind_id == K_SUBSCRIPT:
                self.push(child, scope)
            else:
                stack.extend(reversed(child.named_children))

    def import_(self, node: Any, scope: Scope, roles: int) -> None:
        for name in node.children_by_field_name("name"):
            alias = None
            if name.kind_id == K_ALIASED_IMPORT:
                alias = name.child_by_field_name("alias")
                name = name.child_by_field_name("name")
                if name is None:
                    continue
            parts = name.named_children
            texts = [part.text.decode("utf-8", "replace") for part in parts]
            last = -1
            for index, part in enumerate(parts):
                last = self.token(part, scope, IMPORT if alias is None and index == 0 else IMPORT | PATH)
                if alias is None and index < _LONGEST_PATH:
                    self.module_paths.setdefault(tuple(texts[: index + 1]), last)
                    if index == 0:
                        binding = self.bind_name(texts[0], last, scope, BY_IMPORT)
                        binding.import_key.add(texts[0])
            self.ask_path(last, len(parts))
            self.imports.append((last, ".".join(texts)))
            if alias is not None:
                self.import_alias(alias, last, ".".join(texts), scope)

    def ask_path(self, last: int, count: int) -> None:
        """Of the `count` tokens of a dotted module only the last is asked: where it lies, its packages lie around it."""
        self.tokens.ask[last] = True
        for up in range(1, count):
            self.tokens.same_as[last - up] = last
            self.tokens.up[last - up] = up

    def import_alias(self, alias: Any, source_token: int, key: str, scope: Scope) -> None:
        index = self.token(alias, scope, IMPORT)
        binding = self.bind_name(self.tokens.name[index], index, scope, BY_IMPORT)
        binding.import_key.add(key)
        self.tokens.same_as[index] = source_token

    def import_from(self, node: Any, scope: Scope, roles: int) -> None:
        module = node.child_by_field_name("module_name")
        prefix = "" if module is None else module.text.decode("utf-8", "replace").replace(" ", "")
        if module is not None:
            last = -1
            parts = self.dotted_parts(module)
            for part in parts:
                last = self.token(part, scope, IMPORT | PATH)
            if last >= 0:
                self.ask_path(last, len(parts))
                self.imports.append((last, prefix))
                if any(child.kind_id == K_WILDCARD_IMPORT for child in node.named_children):
                    self.tokens.roles[last] |= STAR
        for child in node.named_children:
            if child.kind_id == K_WILDCARD_IMPORT:
                self.has_star = True
        for name in node.children_by_field_name("name"):
            alias = None
            if name.kind_id == K_ALIASED_IMPORT:
                alias = name.child_by_field_name("alias")
                name = name.child_by_field_name("name")
            if name is None:
                continue
            parts = name.named_children if name.kind_id == K_DOTTED_NAME else [name]
            if not parts:
                continue
            index = self.token(parts[-1], scope, IMPORT if alias is None else IMPORT | PATH)
            self.tokens.ask[index] = True
            key = f"{prefix}:{self.tokens.name[index]}"
            self.imports.append((index, key))
            if alias is not None:
                self.import_alias(alias, index, key, scope)
            else:
                binding = self.bind_name(self.tokens.name[index], index, scope, BY_IMPORT)
                binding.import_key.add(key)

    @staticmethod
    def dotted_parts(module: Any) -> list[Any]:
        if module.kind_id == K_DOTTED_NAME:
            return module.named_children
        return [part for child in module.named_children if child.kind_id == K_DOTTED_NAME for part in child.named_children]

    def type_(self, node: Any, scope: Scope, roles: int) -> None:
        for child in reversed(node.named_children):
            self.push(child, scope, READ | ANNOTATION)

    def type_alias(self, node: Any, scope: Scope, roles: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.named_child_count and left.named_children[0].kind_id not in (K_IDENTIFIER, K_GENERIC_TYPE):
            self.type_call(node, left.named_children[0], right, scope)
            return
        target = left
        while target is not None and target.kind_id != K_IDENTIFIER and target.named_child_count:
            target = target.named_children[0]
        inner = scope
        if left is not None:
            for child in left.named_children:
                if child.type == "generic_type":
                    inner = self.scope(TYPE_SCOPE, scope, scope.symbol)
                    for parameters in child.named_children[1:]:
                        self.type_parameters(parameters, inner, scope.symbol)
        if target is not None and target.kind_id == K_IDENTIFIER:
            self.target(target, scope, whole=node)
        self.push(right, inner, READ | ANNOTATION)

    def type_call(self, node: Any, left: Any, right: Any, scope: Scope) -> None:
        """`type(x).y = 1` and `type[0] = 1`, which the grammar takes for the alias of a type called `(x).y`."""
        annotation = None
        if left.kind_id == K_CONSTRAINED_TYPE and left.named_child_count == 2:  # type(x).y: int = 1
            left, annotation = left.named_children
            left = left.named_children[0] if left.kind_id == K_TYPE and left.named_child_count else left
        self.push(right.named_children[0] if right is not None and right.named_child_count else right, scope)
        self.push(annotation, scope)
        called = self.source[left.start_byte : left.start_byte + 1] == b"("
        self.read(node.children[0], scope, READ | CALL if called else READ)
        if left.kind_id == K_ATTRIBUTE:
            self.attribute(left, scope, WRITE)
        else:
            self.push(left, scope)

    def old_statement(self, node: Any, scope: Scope, roles: int) -> None:
        """`print >> f, x`: Python 2's statement, and an expression about the name `print` in Python 3. `exec` likewise."""
        self.read(node.children[0], scope, READ)
        for child in reversed(node.named_children):
            self.push(child, scope)

    def string(self, node: Any, scope: Scope, roles: int) -> None:
        """f-strings hold expressions; in an annotation, a plain string *is* an expression."""
        if node.named_child_count:
            for child in reversed(node.named_children):
                if child.kind_id == K_INTERPOLATION:
                    self.push(child, scope)
        if roles & ANNOTATION:
            match = SIMPLE_STRING.match(node.text)
            if match and not is_plain_argument(node):
                self.string_annotation(node, match.group(2), scope)

    def string_annotation(self, node: Any, text: bytes, scope: Scope) -> None:
        """Names inside a quoted annotation. Positions are kept by parsing the text at its own place in a blank file."""
        line, col = node.start_point
        tree = PARSER.parse(b"\n" * line + b"(" + b" " * col + text + b")")
        shift = node.start_byte + 1 - (line + 1 + col)
        stack: list[Any] = [tree.root_node]
        if tree.root_node.has_error:
            return
        while stack:
            child = stack.pop()
            kind = child.kind_id
            if kind == K_IDENTIFIER:
                parent = child.parent
                attribute = parent.child_by_field_name("attribute") if parent.kind_id == K_ATTRIBUTE else None
                index = self.token(child, scope, READ | ANNOTATION, name_of(child.text), start=child.start_byte + shift)
                if attribute is not None and attribute.start_byte == child.start_byte:
                    self.tokens.ask[index] = True
                else:
                    self.uses.append(Use(index, self.tokens.name[index], scope, len(self.source), False))
            elif kind != K_STRING:
                stack.extend(reversed(child.named_children))


def is_plain_argument(node: Any) -> bool:
    """Whether a string in an annotation is no forward reference: in `Literal["x"]`, or metadata in `Annotated[int, "x"]`."""
    child, outer = node, node.parent
    while outer is not None and outer.kind_id not in (K_SUBSCRIPT, K_GENERIC_TYPE):
        if outer.kind_id in (K_EXPRESSION_STATEMENT, K_FUNCTION):
            return False
        if outer.kind_id == K_TYPE or outer.named_child_count == 1:
            child = outer
        outer = outer.parent
    if outer is None:
        return False
    head = outer.text.split(b"[", 1)[0].rstrip().rsplit(b".", 1)[-1]
    if head == b"Annotated":
        between = outer.text[: child.start_byte - outer.start_byte].split(b"[", 1)[-1]
        return b"," in between
    return head == b"Literal"


HANDLERS = {
    K_IDENTIFIER: Walk.identifier,
    K_ATTRIBUTE: Walk.attribute,
    K_CALL: Walk.call,
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
    kind_id("print_statement"): Walk.old_statement,
    kind_id("exec_statement"): Walk.old_statement,
    K_GLOBAL: Walk.declaration_names,
    K_NONLOCAL: Walk.declaration_names,
}
