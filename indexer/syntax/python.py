"""Python: identifiers, scopes and bindings of one file, by tree-sitter.

Python's scopes are lexical, so a bare name that is bound in its own function, or once at module level by `def`, `class` or
assignment, needs no server: the symbol *is* (scope, name). What is left to ask is attributes, imported names, keyword
arguments, builtins, and call sites of variables (whose callee only types tell). A question is put once per binding: further
uses of the same import, and of the same `self.attribute` in a class, share the answer (see doc/decisions/0002).

Deliberately does not know: other files, types, the protocol. Broken text is no error: tree-sitter recovers, and
`Syntax.error_lines` says where.

Two passes: `_Walk` visits every node once with an explicit stack (a file with 10,000 nested brackets must not end the
process) and records tokens and bindings; `_resolve` then looks each name up through its scopes.
"""

from __future__ import annotations

import builtins
import re
import unicodedata
from typing import Any

import tree_sitter
import tree_sitter_python

from indexer.model import Role, SymbolFlag, SymbolKind
from indexer.syntax.model import ASK, BUILTIN, Definition, Span, Syntax, Tokens
from indexer.text import ColumnMap

LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
_PARSER = tree_sitter.Parser(LANGUAGE)
BUILTINS = frozenset(dir(builtins)) - {"__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__"}
"""Names that every module can use unbound; what a module defines about itself (`__name__`) is asked where it stands."""

_READ = int(Role.READ)
_WRITE = int(Role.WRITE)
_DEFINITION = int(Role.DEFINITION)
_CALL = int(Role.CALL)
_IMPORT = int(Role.IMPORT)
_DECORATOR = int(Role.DECORATOR)
_SUPERTYPE = int(Role.SUPERTYPE)
_ANNOTATION = int(Role.ANNOTATION)
_ARGUMENT = int(Role.ARGUMENT)
_KEYWORD = int(Role.KEYWORD)
_DELETE = int(Role.DELETE)
_MENTION = int(Role.MENTION)
_FIXTURE = int(Role.FIXTURE)

# How a name got into a scope.
_BY_DEF = 1
_BY_ASSIGN = 2
_BY_IMPORT = 3
_BY_PARAM = 4
_BY_TYPE_PARAM = 5

_MODULE_SCOPE, _CLASS_SCOPE, _FUNCTION_SCOPE, _COMPREHENSION_SCOPE, _TYPE_SCOPE = range(5)

_MAX_SIGNATURE_CHARS = 2_000
_MAX_DOC_CHARS = 20_000
_MAX_CHAIN = 3
_SIMPLE_STRING = re.compile(rb"""^(["'])([^"'\\\n{}]+)\1$""")
_DUNDER_ALL = "__all__"
_TYPE_SLOTS = ("__class__", "__dict__")
"""Assigned through self, but members of every object."""


class _Scope:
    __slots__ = ("bindings", "declared", "kind", "parent", "self_name", "self_owner", "symbol")

    def __init__(self, kind: int, parent: _Scope | None, symbol: int) -> None:
        self.kind = kind
        self.parent = parent
        self.symbol = symbol  # ordinal of the symbol that owns it; lambdas and comprehensions belong to their surroundings
        self.bindings: dict[str, _Binding] = {}
        self.declared: dict[str, _Scope | None] = {}  # `global` and `nonlocal` names; None = nearest function scope that binds it
        self.self_name = ""  # first parameter of a method
        self.self_owner = -1  # the class it is an instance of


class _Binding:
    __slots__ = ("import_key", "kinds", "scope", "symbol", "tokens")

    def __init__(self, scope: _Scope) -> None:
        self.scope = scope
        self.kinds: set[int] = set()
        self.tokens: list[int] = []
        self.symbol = -1
        self.import_key: set[str] = set()


class _Use:
    __slots__ = ("chain", "is_call", "name", "scope", "start", "token")

    def __init__(self, token: int, name: str, scope: _Scope, start: int, is_call: bool) -> None:
        self.token = token
        self.name = name
        self.scope = scope
        self.start = start
        self.is_call = is_call


def parse(source: bytes, module_name: str, *, is_test: bool = False) -> Syntax:
    """Everything that one Python file says by itself.

    Args:
        source: the file's bytes, UTF-8 (anything else was skipped by the plan); a BOM is fine.
        module_name: dotted name, becomes the name of symbol 0.
        is_test: the file holds tests by convention: parameters of test functions are asked too, since a fixture fills them.
    Returns:
        Symbols in outline order (module first, each before its members) and tokens in document order.
    """
    return _Walk(source, module_name, is_test).run()


class _Walk:
    def __init__(self, source: bytes, module_name: str, is_test: bool) -> None:
        self.source = source
        self.columns = ColumnMap(source)
        self.is_test = is_test
        self.module_name = module_name
        self.tokens = Tokens()
        self.starts: list[int] = []  # byte offset of each token
        self.symbols: list[Definition] = []
        self.uses: list[_Use] = []
        self.attributes: list[tuple[int, Any, _Scope, bool]] = []  # token, object node, scope, is_call
        self.keywords: list[tuple[int, Any, _Scope]] = []  # token, callee node, scope
        self.bases: list[tuple[int, int]] = []
        self.imports: list[tuple[int, str]] = []
        self.exports: list[str] | None = None
        self.export_tokens: list[tuple[int, str]] = []
        self.errors: list[int] = []
        self.node_token: dict[int, int] = {}  # start byte of an identifier -> token
        self.use_binding: dict[int, _Binding] = {}
        self.members: dict[tuple[int, str], list[int]] = {}  # (class, attribute) -> tokens that assign it through self
        self.member_tokens: list[tuple[int, int]] = []
        self.through_self: dict[int, tuple[int, bool]] = {}  # token -> class, whether by super()
        self.module_paths: dict[tuple[str, ...], int] = {}  # `a.b` of `import a.b.c` -> its token there
        self.has_star = False
        self.stack: list[tuple[Any, _Scope, int]] = []
        self.scopes: list[_Scope] = []
        self.dropped: set[int] = set()  # symbols that turned out to be another one

    def scope(self, kind: int, parent: _Scope | None, symbol: int) -> _Scope:
        made = _Scope(kind, parent, symbol)
        self.scopes.append(made)
        return made

    # ---- recording

    def span(self, node: Any) -> Span:
        (line, col), (end_line, end_col) = node.start_point, node.end_point
        if self.columns.is_identity:
            return Span(line, col, end_line, end_col)
        utf16 = self.columns.utf16
        return Span(line, utf16(line, col), end_line, utf16(end_line, end_col))

    def token(self, node: Any, scope: _Scope, roles: int, name: str = "", *, start: int = -1) -> int:
        """Records an identifier; `start` is its place in the source where `node` belongs to another tree."""
        line, col = node.start_point
        end = node.end_byte - node.start_byte
        start = node.start_byte if start < 0 else start
        end += start
        tokens = self.tokens
        index = len(tokens.line)
        tokens.line.append(line)
        if self.columns.is_identity:
            tokens.col.append(col)
            tokens.end_col.append(col + end - start)
        else:
            tokens.col.append(self.columns.utf16(line, col))
            tokens.end_col.append(self.columns.utf16(line, col + end - start))
        tokens.name.append(name or _name(self.source[start:end]))
        tokens.up.append(0)
        tokens.callee_as.append(-1)
        tokens.roles.append(roles)
        tokens.enclosing.append(scope.symbol)
        tokens.symbol.append(ASK)
        tokens.same_as.append(-1)
        tokens.ask.append(False)
        self.starts.append(start)
        self.node_token[start] = index
        return index

    def bind(self, node: Any, scope: _Scope, how: int, roles: int) -> int:
        """Records an identifier that binds its name in `scope` (or where `global`/`nonlocal` sends it)."""
        index = self.token(node, scope, roles)
        self.bind_name(self.tokens.name[index], index, scope, how)
        return index

    def bind_name(self, name: str, token: int, scope: _Scope, how: int) -> _Binding:
        if scope.kind == _COMPREHENSION_SCOPE and how == _BY_DEF:  # cannot happen in valid code
            how = _BY_ASSIGN
        home = scope
        if name in scope.declared:
            home = scope.declared[name] or self.nonlocal_home(name, scope) or scope
        binding = home.bindings.get(name)
        if binding is None:
            binding = home.bindings[name] = _Binding(home)
        binding.kinds.add(how)
        binding.tokens.append(token)
        self.use_binding[token] = binding
        return binding

    @staticmethod
    def nonlocal_home(name: str, scope: _Scope) -> _Scope | None:
        outer = scope.parent
        while outer is not None:
            if outer.kind == _FUNCTION_SCOPE and name in outer.bindings:
                return outer
            outer = outer.parent
        return None

    def read(self, node: Any, scope: _Scope, roles: int) -> int:
        index = self.token(node, scope, roles)
        self.uses.append(_Use(index, self.tokens.name[index], scope, node.start_byte, bool(roles & _CALL)))
        return index

    def define(
        self, name: str, kind: SymbolKind, container: int, span: Span, selection: Span, flags: SymbolFlag, signature: str = ""
    ) -> int:
        self.symbols.append(
            Definition(name=name, kind=kind, container=container, span=span, selection=selection, flags=flags, signature=signature)
        )
        return len(self.symbols) - 1

    # ---- the walk

    def run(self) -> Syntax:
        tree = _PARSER.parse(self.source)
        root = tree.root_node
        line_count = self.source.count(b"\n") + (0 if self.source.endswith(b"\n") or not self.source else 1)
        end = self.span(root)
        self.define(
            self.module_name, SymbolKind.MODULE, -1, Span(0, 0, max(end.end_line, line_count), 0), Span(0, 0, 0, 0), SymbolFlag.EXPORTED
        )
        self.symbols[0].documentation = self.docstring(root)
        module = self.scope(_MODULE_SCOPE, None, 0)
        if root.has_error:
            self.collect_errors(root)
        stack = self.stack
        stack.append((root, module, _READ))
        handlers = _HANDLERS
        # A `global x` may stand below the first assignment, so declarations are collected when a function is entered.
        while stack:
            node, scope, roles = stack.pop()
            handler = handlers.get(node.kind_id)
            if handler is not None:
                handler(self, node, scope, roles)
            elif node.named_child_count:
                passed = roles & _ANNOTATION | _READ
                for child in reversed(node.named_children):
                    stack.append((child, scope, passed))
        self.join_nonlocals()
        self.name_bindings(module)
        self.resolve()
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

    def push(self, node: Any, scope: _Scope, roles: int = _READ) -> None:
        if node is not None:
            self.stack.append((node, scope, roles))

    def identifier(self, node: Any, scope: _Scope, roles: int) -> None:
        if not node.is_missing:
            self.read(node, scope, roles)

    def attribute(self, node: Any, scope: _Scope, roles: int) -> None:
        name = node.child_by_field_name("attribute")
        value = node.child_by_field_name("object")
        if name is not None and name.end_byte > name.start_byte:
            index = self.token(name, scope, roles)
            self.attributes.append((index, value, scope, bool(roles & _CALL)))
            if value is not None and value.kind_id == _K_IDENTIFIER:
                owner = self.self_owner(_name(value.text), scope)
                if owner >= 0:
                    self.through_self[index] = (owner, False)
                    if roles & _WRITE and self.tokens.name[index] not in _TYPE_SLOTS:
                        self.members.setdefault((owner, self.tokens.name[index]), []).append(index)
            elif value is not None and value.kind_id == _K_CALL and value.text == b"super()":
                owner = self.method_class(scope)
                if owner >= 0:
                    self.through_self[index] = (owner, True)
        self.push(value, scope, roles & _ANNOTATION | _READ)

    @staticmethod
    def self_owner(name: str, scope: _Scope | None) -> int:
        """The class of which `name` is `self` or `cls` here, or -1."""
        while scope is not None:
            if scope.kind == _FUNCTION_SCOPE:
                if scope.self_name:
                    return scope.self_owner if scope.self_name == name else -1
                if name in scope.bindings:
                    return -1
            elif scope.kind != _COMPREHENSION_SCOPE:
                return -1
            scope = scope.parent
        return -1

    @staticmethod
    def method_class(scope: _Scope | None) -> int:
        """The class of the method around, or -1."""
        while scope is not None:
            if scope.kind == _FUNCTION_SCOPE and scope.self_name:
                return scope.self_owner
            if scope.kind == _CLASS_SCOPE:
                return -1
            scope = scope.parent
        return -1

    def call(self, node: Any, scope: _Scope, roles: int) -> None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        self.push(function, scope, roles & (_ANNOTATION | _DECORATOR) | _READ | _CALL)
        if arguments is None:
            return
        if scope.kind == _MODULE_SCOPE and function is not None and function.text in (b"__all__.extend", b"__all__.append"):
            self.export_list(arguments, scope)
        if arguments.kind_id != _K_ARGUMENT_LIST:  # f(x for x in y)
            self.push(arguments, scope)
            return
        for child in reversed(arguments.named_children):
            if child.kind_id == _K_KEYWORD_ARGUMENT:
                key = child.child_by_field_name("name")
                if key is not None:
                    self.keywords.append((self.token(key, scope, _KEYWORD), function, scope))
                self.push(child.child_by_field_name("value"), scope, _READ | _ARGUMENT)
            else:
                self.push(child, scope, _READ | _ARGUMENT)

    def keyword_argument(self, node: Any, scope: _Scope, roles: int) -> None:
        """Outside a call: `class C(metaclass=M)`."""
        key = node.child_by_field_name("name")
        if key is not None:
            index = self.token(key, scope, _KEYWORD)
            self.tokens.ask[index] = True
        self.push(node.child_by_field_name("value"), scope)

    def function(self, node: Any, scope: _Scope, roles: int) -> None:
        self.define_function(node, scope, [], node)

    def class_(self, node: Any, scope: _Scope, roles: int) -> None:
        self.define_class(node, scope, [], node)

    def decorated(self, node: Any, scope: _Scope, roles: int) -> None:
        definition = node.child_by_field_name("definition")
        decorators = [child for child in node.named_children if child.kind_id == _K_DECORATOR]
        for decorator in reversed(decorators):
            for child in decorator.named_children:
                if child.kind_id == _K_ATTRIBUTE and child.text.endswith((b".setter", b".getter", b".deleter")):
                    self.accessor(child, scope)
                else:
                    self.push(child, scope, _READ | _DECORATOR)
        if definition is None:
            return
        if definition.kind_id == _K_FUNCTION:
            self.define_function(definition, scope, decorators, node)
        elif definition.kind_id == _K_CLASS:
            self.define_class(definition, scope, decorators, node)

    def accessor(self, node: Any, scope: _Scope) -> None:
        """`@p.setter` names the property without reading its value."""
        value, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if value.kind_id != _K_IDENTIFIER:
            self.push(node, scope, _READ | _DECORATOR)
            return
        self.read(value, scope, _MENTION)
        self.attributes.append((self.token(name, scope, _READ | _DECORATOR), value, scope, False))

    def decorator_names(self, decorators: list[Any]) -> list[str]:
        names: list[str] = []
        for decorator in decorators:
            text: bytes = decorator.text[1:]
            names.append(text.split(b"(", 1)[0].strip().decode("utf-8", "replace"))
        return names

    def define_function(self, node: Any, scope: _Scope, decorators: list[Any], whole: Any) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None or name_node.is_missing:
            return
        in_class = scope.kind == _CLASS_SCOPE
        index = self.bind(name_node, scope, _BY_DEF, _DEFINITION)
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
        outer = scope
        type_parameters = node.child_by_field_name("type_parameters")
        if type_parameters is not None:
            outer = self.scope(_TYPE_SCOPE, scope, scope.symbol)
            self.type_parameters(type_parameters, outer, ordinal)
        inner = self.scope(_FUNCTION_SCOPE, outer, ordinal)
        self.declarations(body, inner)
        parameters = node.child_by_field_name("parameters")
        fixtures = self.is_test and (name.startswith("test") or SymbolFlag.FIXTURE in flags)
        if parameters is not None:
            self.parameters(parameters, inner, outer, ordinal, fixtures)
            if in_class and SymbolFlag.STATIC not in flags:
                first = parameters.named_children[0] if parameters.named_child_count else None
                if first is not None and first.kind_id in (_K_IDENTIFIER, _K_TYPED_PARAMETER):
                    inner.self_name = _name(first.text.split(b":", 1)[0].strip())
                    inner.self_owner = scope.symbol
        self.push(body, inner)
        self.push(node.child_by_field_name("return_type"), outer)

    def define_class(self, node: Any, scope: _Scope, decorators: list[Any], whole: Any) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None or name_node.is_missing:
            return
        index = self.bind(name_node, scope, _BY_DEF, _DEFINITION)
        body = node.child_by_field_name("body")
        bases = node.child_by_field_name("superclasses")
        texts = [] if bases is None else [child.text.rsplit(b".", 1)[-1] for child in bases.named_children]
        is_enum = any(text in (b"Enum", b"IntEnum", b"StrEnum", b"Flag", b"IntFlag") for text in texts)
        kind = SymbolKind.INTERFACE if b"Protocol" in texts else SymbolKind.ENUM if is_enum else SymbolKind.CLASS
        ordinal = self.define_or_merge(
            self.tokens.name[index], kind, scope, whole, name_node, SymbolFlag(0), self.signature(node, body), self.docstring(body), index
        )
        outer = scope
        type_parameters = node.child_by_field_name("type_parameters")
        if type_parameters is not None:
            outer = self.scope(_TYPE_SCOPE, scope, scope.symbol)
            self.type_parameters(type_parameters, outer, ordinal)
        inner = self.scope(_CLASS_SCOPE, outer, ordinal)
        self.declarations(body, inner)
        self.push(body, inner)
        if bases is None:
            return
        for child in reversed(bases.named_children):
            if child.kind_id == _K_KEYWORD_ARGUMENT:
                self.push(child, outer)
                continue
            base = child
            while base is not None and base.kind_id == _K_SUBSCRIPT:  # Generic[T]: the base is Generic
                for item in base.children_by_field_name("subscript"):
                    self.push(item, outer, _READ | _ANNOTATION)
                base = base.child_by_field_name("value")
            if base is None:
                continue
            if base.kind_id == _K_IDENTIFIER:
                self.bases.append((ordinal, self.read(base, outer, _READ | _SUPERTYPE)))
            elif base.kind_id == _K_ATTRIBUTE:
                self.attribute(base, outer, _READ | _SUPERTYPE)
                last = base.child_by_field_name("attribute")
                if last is not None and last.start_byte in self.node_token:
                    self.bases.append((ordinal, self.node_token[last.start_byte]))
            else:
                self.push(base, outer)

    def define_or_merge(
        self,
        name: str,
        kind: SymbolKind,
        scope: _Scope,
        whole: Any,
        name_node: Any,
        flags: SymbolFlag,
        signature: str,
        documentation: str,
        token: int,
    ) -> int:
        """The symbol of this scope and name; a second `def` of it becomes a further range of the same symbol.

        An implementation replaces its overloads as the primary definition, and a `def` or `class` replaces an assignment
        (`A = None` above `class A`); otherwise the first one stays.
        """
        binding = self.use_binding[token]
        span, selection = self.span(whole), self.span(name_node)
        container = binding.scope.symbol
        if binding.symbol < 0:
            if self.in_function(binding.scope):
                flags |= SymbolFlag.LOCAL
            binding.symbol = self.define(name, kind, container, span, selection, flags, signature)
            self.symbols[binding.symbol].documentation = documentation
            return binding.symbol
        symbol = self.symbols[binding.symbol]
        assigned = symbol.kind in (SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.FIELD, SymbolKind.ENUM_MEMBER)
        if assigned or (SymbolFlag.OVERLOADED in symbol.flags and SymbolFlag.OVERLOADED not in flags):
            symbol.extra_ranges.append(symbol.span)
            symbol.span, symbol.selection, symbol.kind = span, selection, kind
            symbol.signature = signature
            symbol.documentation = documentation or symbol.documentation
            symbol.flags = symbol.flags & ~SymbolFlag.OVERLOADED | flags | SymbolFlag.CONDITIONAL
        else:
            symbol.extra_ranges.append(span)
            symbol.flags |= flags & ~SymbolFlag.OVERLOADED | SymbolFlag.CONDITIONAL
            symbol.documentation = symbol.documentation or documentation
        return binding.symbol

    @staticmethod
    def in_function(scope: _Scope | None) -> bool:
        while scope is not None:
            if scope.kind in (_FUNCTION_SCOPE, _COMPREHENSION_SCOPE):
                return True
            scope = scope.parent
        return False

    def signature(self, node: Any, body: Any) -> str:
        """The header as written, white space folded, decorators and colon left off."""
        end = body.start_byte if body is not None else node.end_byte
        start = node.start_byte
        if end - start > 4 * _MAX_SIGNATURE_CHARS:
            end = start + 4 * _MAX_SIGNATURE_CHARS
        text = self.source[start:end]
        if b"#" in text:
            text = re.sub(rb"(?m)\s#[^\n]*$", b"", text)
        folded = " ".join(text.decode("utf-8", "replace").split())
        folded = folded.removesuffix(":").rstrip()
        folded = folded.replace("( ", "(").replace(", )", ")").replace(" )", ")")
        return folded[:_MAX_SIGNATURE_CHARS]

    @staticmethod
    def docstring(body: Any) -> str:
        if body is None:
            return ""
        for child in body.named_children[:4]:
            if child.kind_id == _K_COMMENT:
                continue
            if child.kind_id == _K_EXPRESSION_STATEMENT and child.named_child_count:
                child = child.named_children[0]
            if child.kind_id != _K_STRING:
                return ""
            return _clean_docstring(child.text.decode("utf-8", "replace"))
        return ""

    def declarations(self, body: Any, scope: _Scope) -> None:
        """`global` and `nonlocal` of this body, not of functions nested in it."""
        if body is None or (b"global" not in (text := body.text) and b"nonlocal" not in text):
            return
        module: _Scope = scope
        while module.parent is not None:
            module = module.parent
        stack = [body]
        while stack:
            node = stack.pop()
            kind = node.kind_id
            if kind in (_K_GLOBAL, _K_NONLOCAL):
                for child in node.named_children:
                    scope.declared[_name(child.text)] = module if kind == _K_GLOBAL else None
            elif kind not in (_K_FUNCTION, _K_CLASS, _K_LAMBDA):
                stack.extend(node.named_children)

    def declaration_names(self, node: Any, scope: _Scope, roles: int) -> None:
        """The names after `global` and `nonlocal` are mentions of the outer variable."""
        for child in node.named_children:
            self.read(child, scope, _MENTION)

    def parameters(self, node: Any, inner: _Scope, outer: _Scope, function: int, fixtures: bool) -> None:
        for child in node.named_children:
            kind = child.kind_id
            target, annotation, default = child, None, None
            if kind == _K_DEFAULT_PARAMETER:
                target, default = child.child_by_field_name("name"), child.child_by_field_name("value")
            elif kind == _K_TYPED_DEFAULT_PARAMETER:
                target, default = child.child_by_field_name("name"), child.child_by_field_name("value")
                annotation = child.child_by_field_name("type")
            elif kind == _K_TYPED_PARAMETER:
                annotation = child.child_by_field_name("type")
                target = child.named_children[0]
            if target is not None:
                self.parameter(target, child, inner, function, fixtures and default is None)
            if default is not None:
                self.push(default, outer)
            if annotation is not None:
                self.push(annotation, outer)

    def parameter(self, target: Any, whole: Any, inner: _Scope, function: int, fixture: bool) -> None:
        if target.kind_id in (_K_LIST_SPLAT_PATTERN, _K_DICTIONARY_SPLAT_PATTERN, _K_TUPLE_PATTERN):
            for child in target.named_children:
                self.parameter(child, whole, inner, function, False)
            return
        if target.kind_id != _K_IDENTIFIER or target.is_missing:
            return
        index = self.bind(target, inner, _BY_PARAM, _DEFINITION)
        binding = self.use_binding[index]
        if binding.symbol < 0:
            # A lambda's parameter is a local of whatever holds the lambda, none of its parameters.
            flags = SymbolFlag.LOCAL if function < 0 else SymbolFlag.LOCAL | SymbolFlag.PARAMETER
            owner = inner.symbol if function < 0 else function
            binding.symbol = self.define(self.tokens.name[index], SymbolKind.VARIABLE, owner, self.span(whole), self.span(target), flags)
        if fixture and self.tokens.name[index] not in ("self", "cls"):
            self.tokens.roles[index] |= _FIXTURE
            self.tokens.ask[index] = True

    def type_parameters(self, node: Any, scope: _Scope, owner: int) -> None:
        stack = list(reversed(node.named_children))
        while stack:
            child = stack.pop()
            if child.kind_id == _K_IDENTIFIER:
                index = self.bind(child, scope, _BY_TYPE_PARAM, _DEFINITION)
                binding = self.use_binding[index]
                if binding.symbol < 0:
                    span = self.span(child)
                    binding.symbol = self.define(self.tokens.name[index], SymbolKind.TYPE_PARAMETER, owner, span, span, SymbolFlag.LOCAL)
            elif child.type == "constrained_type":  # T: bound
                inner = child.named_children
                if inner:
                    stack.append(inner[0])
                for bound in inner[1:]:
                    self.push(bound, scope, _READ | _ANNOTATION)
            else:
                stack.extend(reversed(child.named_children))

    def lambda_(self, node: Any, scope: _Scope, roles: int) -> None:
        inner = self.scope(_FUNCTION_SCOPE, scope, scope.symbol)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            self.parameters(parameters, inner, scope, -1, False)
        self.push(node.child_by_field_name("body"), inner)

    def comprehension(self, node: Any, scope: _Scope, roles: int) -> None:
        inner = self.scope(_COMPREHENSION_SCOPE, scope, scope.symbol)
        first = True
        pending: list[tuple[Any, _Scope]] = []
        for child in node.named_children:
            if child.kind_id == _K_FOR_IN_CLAUSE:
                left = child.child_by_field_name("left")
                self.target(left, inner)
                for right in child.children_by_field_name("right"):
                    pending.append((right, scope if first else inner))
                first = False
            else:
                pending.append((child, inner))
        for child, child_scope in reversed(pending):
            self.push(child, child_scope)

    def assignment(self, node: Any, scope: _Scope, roles: int) -> None:
        left = node.child_by_field_name("left")
        annotation = node.child_by_field_name("type")
        right = node.child_by_field_name("right")
        if right is not None:
            self.push(right, scope)
        if annotation is not None:
            self.push(annotation, scope)
        if left is None:
            return
        if right is None and left.kind_id == _K_TUPLE_PATTERN:  # `(x): int` binds nothing
            self.push(left, scope)
            return
        if left.kind_id == _K_IDENTIFIER and left.text == b"__all__" and scope.kind == _MODULE_SCOPE:
            self.export_list(right, scope)
        self.target(left, scope, whole=node)

    def augmented(self, node: Any, scope: _Scope, roles: int) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        self.push(right, scope)
        if left is None:
            return
        if left.kind_id == _K_IDENTIFIER and left.text == b"__all__" and scope.kind == _MODULE_SCOPE:
            self.export_list(right, scope)
        self.target(left, scope, whole=node, extra=_READ)

    def target(self, node: Any, scope: _Scope, *, whole: Any = None, extra: int = 0) -> None:
        """An assignment target: names bind, attributes and subscripts are written through."""
        stack = [node]
        while stack:
            node = stack.pop()
            if node is None or node.is_missing:
                continue
            kind = node.kind_id
            if kind == _K_IDENTIFIER:
                index = self.bind(node, scope, _BY_ASSIGN, _WRITE | extra)
                self.variable(index, node, whole)
            elif kind == _K_ATTRIBUTE:
                self.attribute(node, scope, _WRITE | extra)
            elif kind == _K_SUBSCRIPT:
                self.push(node, scope)
            elif kind in _PATTERNS:
                stack.extend(reversed(node.named_children))
            else:
                self.push(node, scope)

    def variable(self, token: int, node: Any, whole: Any) -> None:
        binding = self.use_binding[token]
        if binding.symbol >= 0:
            return
        name = self.tokens.name[token]
        home = binding.scope
        selection = self.span(node)
        span = selection if whole is None else self.span(whole)
        kind = SymbolKind.CONSTANT if name.isupper() and len(name) > 1 else SymbolKind.VARIABLE
        flags = SymbolFlag(0)
        signature = ""
        if self.in_function(home):
            flags |= SymbolFlag.LOCAL
        else:
            if home.kind == _CLASS_SCOPE:
                kind = SymbolKind.ENUM_MEMBER if self.symbols[home.symbol].kind == SymbolKind.ENUM else SymbolKind.FIELD
            if whole is not None:
                signature = self.one_line(whole)
        binding.symbol = self.define(name, kind, home.symbol, span, selection, flags, signature)

    def one_line(self, node: Any) -> str:
        text = self.source[node.start_byte : min(node.end_byte, node.start_byte + 400)].decode("utf-8", "replace")
        first = text.split("\n", 1)[0].rstrip()
        return first if first == text.rstrip() else first + " ..."

    def export_list(self, node: Any, scope: _Scope) -> None:
        if self.exports is None:
            self.exports = []
        stack = [] if node is None else [node]
        while stack:
            child = stack.pop()
            if child.kind_id == _K_STRING:
                for part in child.named_children:
                    if part.type == "string_content":
                        name = part.text.decode("utf-8", "replace")
                        if name.isidentifier():
                            self.exports.append(name)
                            index = self.token(part, scope, _MENTION)
                            self.uses.append(_Use(index, name, scope, len(self.source), False))
            elif child.kind_id != _K_ATTRIBUTE:
                stack.extend(reversed(child.named_children))

    def named_expression(self, node: Any, scope: _Scope, roles: int) -> None:
        home = scope
        while home.kind == _COMPREHENSION_SCOPE and home.parent is not None:
            home = home.parent
        self.target(node.child_by_field_name("name"), home, whole=node)
        self.push(node.child_by_field_name("value"), scope)

    def for_(self, node: Any, scope: _Scope, roles: int) -> None:
        self.target(node.child_by_field_name("left"), scope)
        for field_name in ("alternative", "body", "right"):
            self.push(node.child_by_field_name(field_name), scope)

    def as_pattern(self, node: Any, scope: _Scope, roles: int) -> None:
        """`with a as b`, `except E as e`; inside a `case`, the alias is a capture too."""
        alias = node.child_by_field_name("alias")
        for child in reversed(node.named_children):
            if alias is not None and child.id == alias.id:
                if child.kind_id == _K_IDENTIFIER:
                    self.target(child, scope)
                for target in child.named_children:
                    self.target(target, scope)
            elif child.kind_id == _K_CASE_PATTERN:
                self.case_pattern(child, scope, roles)
            elif child.kind_id == _K_IDENTIFIER and node.parent is not None and node.parent.kind_id == _K_CASE_PATTERN:
                self.target(child, scope)
            else:
                self.push(child, scope)

    def case_pattern(self, node: Any, scope: _Scope, roles: int) -> None:
        stack = [node]
        while stack:
            child = stack.pop()
            kind = child.kind_id
            if kind == _K_DOTTED_NAME:
                parts = child.named_children
                if len(parts) == 1:
                    if child.text != b"_":
                        self.target(parts[0], scope)
                else:
                    self.dotted_value(parts, scope, _READ)
            elif kind == _K_CLASS_PATTERN:
                for index, part in enumerate(child.named_children):
                    if index == 0 and part.kind_id == _K_DOTTED_NAME:
                        self.dotted_value(part.named_children, scope, _READ)
                    else:
                        stack.append(part)
            elif kind == _K_KEYWORD_PATTERN:
                for index, part in enumerate(child.named_children):
                    if index == 0:
                        self.tokens.ask[self.token(part, scope, _KEYWORD)] = True
                    else:
                        stack.append(part)
            elif kind == _K_AS_PATTERN:
                self.as_pattern(child, scope, roles)
            elif kind == _K_IDENTIFIER:
                self.target(child, scope)
            elif kind in (_K_STRING, _K_ATTRIBUTE, _K_CALL):
                self.push(child, scope)
            else:
                stack.extend(reversed(child.named_children))

    def dotted_value(self, parts: list[Any], scope: _Scope, roles: int) -> None:
        """`a.b.c` written as a dotted name: the first part is looked up, the rest asked."""
        for index, part in enumerate(parts):
            if index == 0:
                self.read(part, scope, _READ if len(parts) > 1 else roles)
            else:
                token = self.token(part, scope, roles if index == len(parts) - 1 else _READ)
                self.tokens.ask[token] = True

    def delete(self, node: Any, scope: _Scope, roles: int) -> None:
        stack = list(reversed(node.named_children))
        while stack:
            child = stack.pop()
            if child.is_missing:
                continue
            if child.kind_id == _K_IDENTIFIER:
                index = self.read(child, scope, _DELETE)
                if scope.kind in (_FUNCTION_SCOPE, _CLASS_SCOPE) and self.tokens.name[index] not in scope.declared:
                    scope.bindings.setdefault(self.tokens.name[index], _Binding(scope))  # `del x` makes x local
            elif child.kind_id == _K_ATTRIBUTE:
                self.attribute(child, scope, _DELETE)
            elif child.kind_id == _K_SUBSCRIPT:
                self.push(child, scope)
            else:
                stack.extend(reversed(child.named_children))

    def import_(self, node: Any, scope: _Scope, roles: int) -> None:
        for name in node.children_by_field_name("name"):
            alias = None
            if name.kind_id == _K_ALIASED_IMPORT:
                alias = name.child_by_field_name("alias")
                name = name.child_by_field_name("name")
                if name is None:
                    continue
            parts = name.named_children
            texts = [part.text.decode("utf-8", "replace") for part in parts]
            last = -1
            for index, part in enumerate(parts):
                last = self.token(part, scope, _IMPORT)
                if alias is None:
                    self.module_paths.setdefault(tuple(texts[: index + 1]), last)
                    if index == 0:
                        binding = self.bind_name(texts[0], last, scope, _BY_IMPORT)
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

    def import_alias(self, alias: Any, source_token: int, key: str, scope: _Scope) -> None:
        index = self.token(alias, scope, _IMPORT)
        binding = self.bind_name(self.tokens.name[index], index, scope, _BY_IMPORT)
        binding.import_key.add(key)
        self.tokens.same_as[index] = source_token

    def import_from(self, node: Any, scope: _Scope, roles: int) -> None:
        module = node.child_by_field_name("module_name")
        prefix = "" if module is None else module.text.decode("utf-8", "replace").replace(" ", "")
        if module is not None:
            last = -1
            parts = self.dotted_parts(module)
            for part in parts:
                last = self.token(part, scope, _IMPORT)
            if last >= 0:
                self.ask_path(last, len(parts))
                self.imports.append((last, prefix))
        for child in node.named_children:
            if child.kind_id == _K_WILDCARD_IMPORT:
                self.has_star = True
        for name in node.children_by_field_name("name"):
            alias = None
            if name.kind_id == _K_ALIASED_IMPORT:
                alias = name.child_by_field_name("alias")
                name = name.child_by_field_name("name")
            if name is None:
                continue
            parts = name.named_children if name.kind_id == _K_DOTTED_NAME else [name]
            if not parts:
                continue
            index = self.token(parts[-1], scope, _IMPORT)
            self.tokens.ask[index] = True
            key = f"{prefix}:{self.tokens.name[index]}"
            self.imports.append((index, key))
            if alias is not None:
                self.import_alias(alias, index, key, scope)
            else:
                binding = self.bind_name(self.tokens.name[index], index, scope, _BY_IMPORT)
                binding.import_key.add(key)

    @staticmethod
    def dotted_parts(module: Any) -> list[Any]:
        if module.kind_id == _K_DOTTED_NAME:
            return module.named_children
        return [part for child in module.named_children if child.kind_id == _K_DOTTED_NAME for part in child.named_children]

    def type_(self, node: Any, scope: _Scope, roles: int) -> None:
        for child in reversed(node.named_children):
            self.push(child, scope, _READ | _ANNOTATION)

    def type_alias(self, node: Any, scope: _Scope, roles: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.named_child_count and left.named_children[0].kind_id not in (_K_IDENTIFIER, _K_GENERIC_TYPE):
            self.type_call(node, left.named_children[0], right, scope)
            return
        target = left
        while target is not None and target.kind_id != _K_IDENTIFIER and target.named_child_count:
            target = target.named_children[0]
        inner = scope
        if left is not None:
            for child in left.named_children:
                if child.type == "generic_type":
                    inner = self.scope(_TYPE_SCOPE, scope, scope.symbol)
                    for parameters in child.named_children[1:]:
                        self.type_parameters(parameters, inner, scope.symbol)
        if target is not None and target.kind_id == _K_IDENTIFIER:
            self.target(target, scope, whole=node)
        self.push(right, inner, _READ | _ANNOTATION)

    def type_call(self, node: Any, left: Any, right: Any, scope: _Scope) -> None:
        """`type(x).y = 1` and `type[0] = 1`, which the grammar takes for the alias of a type called `(x).y`."""
        annotation = None
        if left.kind_id == _K_CONSTRAINED_TYPE and left.named_child_count == 2:  # type(x).y: int = 1
            left, annotation = left.named_children
            left = left.named_children[0] if left.kind_id == _K_TYPE and left.named_child_count else left
        self.push(right.named_children[0] if right is not None and right.named_child_count else right, scope)
        self.push(annotation, scope)
        called = self.source[left.start_byte : left.start_byte + 1] == b"("
        self.read(node.children[0], scope, _READ | _CALL if called else _READ)
        if left.kind_id == _K_ATTRIBUTE:
            self.attribute(left, scope, _WRITE)
        else:
            self.push(left, scope)

    def old_statement(self, node: Any, scope: _Scope, roles: int) -> None:
        """`print >> f, x`: Python 2's statement, and an expression about the name `print` in Python 3. `exec` likewise."""
        self.read(node.children[0], scope, _READ)
        for child in reversed(node.named_children):
            self.push(child, scope)

    def string(self, node: Any, scope: _Scope, roles: int) -> None:
        """f-strings hold expressions; in an annotation, a plain string *is* an expression."""
        if node.named_child_count:
            for child in reversed(node.named_children):
                if child.kind_id == _K_INTERPOLATION:
                    self.push(child, scope)
        if roles & _ANNOTATION:
            match = _SIMPLE_STRING.match(node.text)
            if match and not _is_plain_argument(node):
                self.string_annotation(node, match.group(2), scope)

    def string_annotation(self, node: Any, text: bytes, scope: _Scope) -> None:
        """Names inside a quoted annotation. Positions are kept by parsing the text at its own place in a blank file."""
        line, col = node.start_point
        tree = _PARSER.parse(b"\n" * line + b"(" + b" " * col + text + b")")
        shift = node.start_byte + 1 - (line + 1 + col)
        stack: list[Any] = [tree.root_node]
        if tree.root_node.has_error:
            return
        while stack:
            child = stack.pop()
            kind = child.kind_id
            if kind == _K_IDENTIFIER:
                parent = child.parent
                attribute = parent.child_by_field_name("attribute") if parent.kind_id == _K_ATTRIBUTE else None
                index = self.token(child, scope, _READ | _ANNOTATION, _name(child.text), start=child.start_byte + shift)
                if attribute is not None and attribute.start_byte == child.start_byte:
                    self.tokens.ask[index] = True
                else:
                    self.uses.append(_Use(index, self.tokens.name[index], scope, len(self.source), False))
            elif kind != _K_STRING:
                stack.extend(reversed(child.named_children))

    # ---- names to symbols

    def join_nonlocals(self) -> None:
        """`nonlocal x` may stand above the outer function's own `x = …`: what it bound meanwhile joins the outer binding."""
        replaced: dict[int, int] = {}
        for scope in self.scopes:  # outer ones first
            for name, target in scope.declared.items():
                own = scope.bindings.get(name)
                home = None if target is not None or own is None else self.nonlocal_home(name, scope)
                if own is None or home is None:
                    continue
                binding = home.bindings[name]
                binding.kinds |= own.kinds
                binding.tokens += own.tokens
                binding.import_key |= own.import_key
                for token in own.tokens:
                    self.use_binding[token] = binding
                if binding.symbol < 0:
                    binding.symbol = own.symbol
                    if own.symbol >= 0:
                        self.symbols[own.symbol].container = home.symbol
                elif own.symbol >= 0:
                    replaced[own.symbol] = binding.symbol
                del scope.bindings[name]
        if not replaced:
            return
        self.dropped = set(replaced)
        for symbol in self.symbols:
            symbol.container = replaced.get(symbol.container, symbol.container)
        self.tokens.enclosing = [replaced.get(ordinal, ordinal) for ordinal in self.tokens.enclosing]
        self.bases = [(replaced.get(owner, owner), token) for owner, token in self.bases]
        for owner, name in [key for key in self.members if key[0] in replaced]:
            self.members.setdefault((replaced[owner], name), []).extend(self.members.pop((owner, name)))

    def name_bindings(self, module: _Scope) -> None:
        """Attributes assigned through `self` become fields of their class, unless its body declares them."""
        class_members = {
            (symbol.container, symbol.name): ordinal
            for ordinal, symbol in enumerate(self.symbols)
            if symbol.container >= 0 and SymbolFlag.LOCAL not in symbol.flags
        }
        for (owner, name), tokens in self.members.items():
            ordinal = class_members.get((owner, name))
            if ordinal is None:
                first = min(tokens, key=lambda index: self.starts[index])
                t = self.tokens
                span = Span(t.line[first], t.col[first], t.line[first], t.end_col[first])
                flags = SymbolFlag.LOCAL if SymbolFlag.LOCAL in self.symbols[owner].flags else SymbolFlag(0)
                ordinal = self.define(name, SymbolKind.FIELD, owner, span, span, flags)
                for token in tokens:
                    self.tokens.roles[token] |= _DEFINITION
            self.member_tokens += [(ordinal, token) for token in tokens]

    def resolve(self) -> None:
        tokens = self.tokens
        shared: dict[tuple[object, ...], int] = {}
        callees: dict[_Binding, int] = {}

        def share(token: int, key: tuple[object, ...]) -> None:
            first = shared.setdefault(key, token)
            if first == token:
                tokens.ask[token] = True
            else:
                tokens.same_as[token] = first

        # Tokens that bind.
        for token, binding in self.use_binding.items():
            if binding.symbol >= 0 and _BY_IMPORT not in binding.kinds:
                tokens.symbol[token] = binding.symbol
                if tokens.roles[token] & _WRITE and _is_first(binding, token, self.starts):
                    tokens.roles[token] |= _DEFINITION
            elif tokens.roles[token] & _WRITE or tokens.roles[token] & _DEFINITION:
                tokens.symbol[token] = binding.symbol if binding.symbol >= 0 else ASK
                tokens.roles[token] |= _DEFINITION if binding.symbol >= 0 else 0
        # Bare names.
        for use in self.uses:
            binding = self.look_up(use)
            token = use.token
            if binding is None:
                if use.name in BUILTINS and not self.has_star:
                    tokens.symbol[token] = BUILTIN
                else:
                    share(token, ("free", use.name))
                continue
            self.use_binding[token] = binding
            kinds = binding.kinds
            if _BY_IMPORT in kinds:
                if len(kinds) == 1 and len(binding.import_key) == 1:
                    tokens.same_as[token] = binding.tokens[0]
                    if use.is_call and not use.name[:1].isupper():  # it may be a variable that holds a function
                        tokens.callee_as[token] = callees.setdefault(binding, token)
                else:
                    tokens.ask[token] = True
            elif binding.symbol >= 0:
                tokens.symbol[token] = binding.symbol
                if use.is_call and kinds != {_BY_DEF}:
                    tokens.callee_as[token] = token
                    tokens.ask[token] = True
            else:
                tokens.ask[token] = True
        # Attributes: one question per binding and path.
        for token, value, scope, is_call in self.attributes:
            key = self.path_key(value, scope)
            if key is None or tokens.roles[token] & (_WRITE | _DELETE):
                tokens.ask[token] = True
            elif (module := self.imported_module(key, tokens.name[token])) >= 0:
                tokens.same_as[token] = module
            else:
                share(token, (*key, tokens.name[token], is_call))
        for token, callee, scope in self.keywords:
            key = self.path_key(callee, scope)
            if key is None:
                tokens.ask[token] = True
            else:
                share(token, (*key, "=", tokens.name[token]))
        # An answer shared by an asked token of the same name must not chain.
        for token, same in enumerate(tokens.same_as):
            if same >= 0:
                up = tokens.up[token]
                while tokens.same_as[same] >= 0:
                    up += tokens.up[same]
                    same = tokens.same_as[same]
                tokens.same_as[token], tokens.up[token] = same, up
                tokens.ask[token] = tokens.callee_as[token] == token

    def look_up(self, use: _Use) -> _Binding | None:
        name, scope = use.name, use.scope
        own: _Scope | None = scope
        first = True
        while own is not None:
            if name in own.declared and (own.kind != _CLASS_SCOPE or first):
                home = own.declared[name] or self.nonlocal_home(name, own)
                if home is not None and name in home.bindings:
                    return home.bindings[name]
            elif (binding := own.bindings.get(name)) is not None and (
                own.kind != _CLASS_SCOPE
                # A class body reads the outer name until its own is bound; functions in it never see it.
                or (first and min((self.starts[token] for token in binding.tokens), default=-1) < use.start)
            ):
                return binding
            first = first and own.kind == _TYPE_SCOPE
            own = own.parent
        return None

    def path_key(self, node: Any, scope: _Scope) -> tuple[object, ...] | None:
        """Identity of a dotted path whose meaning cannot change within the file: an imported name, or `self`/`cls`."""
        path: list[str] = []
        while node is not None and node.kind_id == _K_ATTRIBUTE and len(path) < _MAX_CHAIN:
            last = node.child_by_field_name("attribute")
            if last is None:
                return None
            path.append(_name(last.text))
            node = node.child_by_field_name("object")
        if node is None or node.kind_id != _K_IDENTIFIER:
            return None
        token = self.node_token.get(node.start_byte)
        binding = None if token is None else self.use_binding.get(token)
        if binding is None or token is None:
            return None
        if binding.kinds == {_BY_IMPORT} and len(binding.import_key) == 1:
            return (binding, *path)
        if binding.kinds == {_BY_DEF} and len(binding.tokens) == 1:
            return (binding, *path)
        if not path and binding.kinds == {_BY_PARAM}:
            home = binding.scope
            if home.self_name and home.self_name == self.tokens.name[token]:
                is_class = SymbolFlag.CLASSMETHOD in self.symbols[home.symbol].flags
                return ("self", home.self_owner, is_class)
        return None

    def imported_module(self, key: tuple[object, ...], name: str) -> int:
        """The token in `import a.b.c` that `a.b` elsewhere in the file names too, or -1: a module, whatever the package holds."""
        root = key[0]
        if not isinstance(root, _Binding) or root.import_key != {self.tokens.name[root.tokens[0]]}:
            return -1
        path = (*root.import_key, *(str(part) for part in reversed(key[1:])), name)
        return self.module_paths.get(path, -1) if len(path) > 1 else -1

    def mark_exported(self, module: _Scope) -> None:
        listed = None if self.exports is None else set(self.exports)
        for symbol in self.symbols[1:]:
            if SymbolFlag.LOCAL in symbol.flags:
                continue
            outer = self.symbols[symbol.container]
            if symbol.container == 0 and listed is not None:
                visible = symbol.name in listed
            else:
                visible = not symbol.name.startswith("_")
            if visible and SymbolFlag.EXPORTED in outer.flags:
                symbol.flags |= SymbolFlag.EXPORTED

    def outline_order(self) -> list[int]:
        """Symbols as an outline lists them: each before its members, members by position."""
        members: list[list[int]] = [[] for _ in self.symbols]
        for ordinal, symbol in enumerate(self.symbols[1:], 1):
            if ordinal not in self.dropped:
                members[symbol.container].append(ordinal)
        order: list[int] = []
        stack = [0]
        while stack:
            ordinal = stack.pop()
            order.append(ordinal)
            stack += sorted(members[ordinal], key=lambda i: (self.symbols[i].selection, i), reverse=True)
        return order

    def finish(self, line_count: int) -> Syntax:
        """Tokens in document order, symbols in outline order; ordinals renumbered to match."""
        tokens, starts = self.tokens, self.starts
        order = sorted(range(len(starts)), key=starts.__getitem__)
        new_token = [0] * len(order)
        for new, old in enumerate(order):
            new_token[old] = new
        symbol_order = self.outline_order()
        new_symbol = [0] * len(self.symbols)
        for new, old in enumerate(symbol_order):
            new_symbol[old] = new
        result = Tokens()
        result.line = [tokens.line[i] for i in order]
        result.col = [tokens.col[i] for i in order]
        result.end_col = [tokens.end_col[i] for i in order]
        result.name = [tokens.name[i] for i in order]
        result.roles = [tokens.roles[i] for i in order]
        result.enclosing = [new_symbol[tokens.enclosing[i]] for i in order]
        result.symbol = [new_symbol[s] if (s := tokens.symbol[i]) >= 0 else s for i in order]
        result.same_as = [new_token[s] if (s := tokens.same_as[i]) >= 0 else -1 for i in order]
        result.ask = [tokens.ask[i] for i in order]
        result.up = [tokens.up[i] for i in order]
        result.callee_as = [new_token[c] if (c := tokens.callee_as[i]) >= 0 else -1 for i in order]
        symbols = [self.symbols[i] for i in symbol_order]
        for symbol in symbols:
            if symbol.container >= 0:
                symbol.container = new_symbol[symbol.container]
        return Syntax(
            symbols=symbols,
            tokens=result,
            bases=sorted((new_symbol[owner], new_token[token]) for owner, token in self.bases),
            members=sorted((new_symbol[owner], new_token[token]) for owner, token in self.member_tokens),
            through_self=sorted((new_token[token], new_symbol[owner], by_super) for token, (owner, by_super) in self.through_self.items()),
            imports=sorted((new_token[token], name) for token, name in self.imports if token >= 0),
            line_count=line_count,
            error_lines=sorted(set(self.errors)),
        )


def _name(text: bytes) -> str:
    """An identifier as Python compares it: normalized, so that `ﬁ` and `fi` are one name."""
    name = text.decode("utf-8", "replace")
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _is_plain_argument(node: Any) -> bool:
    """Whether a string in an annotation is no forward reference: in `Literal["x"]`, or metadata in `Annotated[int, "x"]`."""
    child, outer = node, node.parent
    while outer is not None and outer.kind_id not in (_K_SUBSCRIPT, _K_GENERIC_TYPE):
        if outer.kind_id in (_K_EXPRESSION_STATEMENT, _K_FUNCTION):
            return False
        if outer.kind_id == _K_TYPE or outer.named_child_count == 1:
            child = outer
        outer = outer.parent
    if outer is None:
        return False
    head = outer.text.split(b"[", 1)[0].rstrip().rsplit(b".", 1)[-1]
    if head == b"Annotated":
        between = outer.text[: child.start_byte - outer.start_byte].split(b"[", 1)[-1]
        return b"," in between
    return head == b"Literal"


def _is_first(binding: _Binding, token: int, starts: list[int]) -> bool:
    return starts[token] == min(starts[other] for other in binding.tokens)


def _clean_docstring(literal: str) -> str:
    """A docstring's text: quotes and prefix off, common indentation removed (PEP 257)."""
    text = literal.lstrip("rRuUbBfF")
    for quote in ('"""', "'''", '"', "'"):
        if text.startswith(quote) and text.endswith(quote) and len(text) >= 2 * len(quote):
            text = text[len(quote) : -len(quote)]
            break
    lines = text.expandtabs().splitlines()
    if not lines:
        return ""
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    cleaned = [lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]
    return "\n".join(cleaned).strip()[:_MAX_DOC_CHARS]


def _kind(name: str) -> int:
    kind = LANGUAGE.id_for_node_kind(name, True)
    if kind is None:  # a grammar upgrade renamed a node: fail at import, not by silent gaps
        raise LookupError(f"tree-sitter-python has no node '{name}'")
    return kind


_K_IDENTIFIER = _kind("identifier")
_K_ATTRIBUTE = _kind("attribute")
_K_SUBSCRIPT = _kind("subscript")
_K_CALL = _kind("call")
_K_ARGUMENT_LIST = _kind("argument_list")
_K_KEYWORD_ARGUMENT = _kind("keyword_argument")
_K_FUNCTION = _kind("function_definition")
_K_CLASS = _kind("class_definition")
_K_DECORATOR = _kind("decorator")
_K_LAMBDA = _kind("lambda")
_K_STRING = _kind("string")
_K_INTERPOLATION = _kind("interpolation")
_K_COMMENT = _kind("comment")
_K_EXPRESSION_STATEMENT = _kind("expression_statement")
_K_GLOBAL = _kind("global_statement")
_K_NONLOCAL = _kind("nonlocal_statement")
_K_DEFAULT_PARAMETER = _kind("default_parameter")
_K_TYPED_PARAMETER = _kind("typed_parameter")
_K_TYPED_DEFAULT_PARAMETER = _kind("typed_default_parameter")
_K_LIST_SPLAT_PATTERN = _kind("list_splat_pattern")
_K_DICTIONARY_SPLAT_PATTERN = _kind("dictionary_splat_pattern")
_K_GENERIC_TYPE = _kind("generic_type")
_K_TYPE = _kind("type")
_K_CONSTRAINED_TYPE = _kind("constrained_type")
_K_TUPLE_PATTERN = _kind("tuple_pattern")
_K_FOR_IN_CLAUSE = _kind("for_in_clause")
_K_ALIASED_IMPORT = _kind("aliased_import")
_K_DOTTED_NAME = _kind("dotted_name")
_K_WILDCARD_IMPORT = _kind("wildcard_import")
_K_CASE_PATTERN = _kind("case_pattern")
_K_CLASS_PATTERN = _kind("class_pattern")
_K_KEYWORD_PATTERN = _kind("keyword_pattern")
_K_AS_PATTERN = _kind("as_pattern")
_PATTERNS = frozenset(
    map(
        _kind,
        (
            "pattern_list",
            "tuple_pattern",
            "list_pattern",
            "list_splat_pattern",
            "expression_list",
            "tuple",
            "list",
            "list_splat",
            "parenthesized_expression",
            "as_pattern_target",
        ),
    )
)

_HANDLERS = {
    _K_IDENTIFIER: _Walk.identifier,
    _K_ATTRIBUTE: _Walk.attribute,
    _K_CALL: _Walk.call,
    _K_KEYWORD_ARGUMENT: _Walk.keyword_argument,
    _K_FUNCTION: _Walk.function,
    _K_CLASS: _Walk.class_,
    _kind("decorated_definition"): _Walk.decorated,
    _K_LAMBDA: _Walk.lambda_,
    _kind("list_comprehension"): _Walk.comprehension,
    _kind("set_comprehension"): _Walk.comprehension,
    _kind("dictionary_comprehension"): _Walk.comprehension,
    _kind("generator_expression"): _Walk.comprehension,
    _kind("assignment"): _Walk.assignment,
    _kind("augmented_assignment"): _Walk.augmented,
    _kind("named_expression"): _Walk.named_expression,
    _kind("for_statement"): _Walk.for_,
    _K_AS_PATTERN: _Walk.as_pattern,
    _K_CASE_PATTERN: _Walk.case_pattern,
    _kind("delete_statement"): _Walk.delete,
    _kind("import_statement"): _Walk.import_,
    _kind("import_from_statement"): _Walk.import_from,
    _kind("future_import_statement"): _Walk.import_from,
    _kind("type"): _Walk.type_,
    _kind("type_alias_statement"): _Walk.type_alias,
    _K_STRING: _Walk.string,
    _kind("print_statement"): _Walk.old_statement,
    _kind("exec_statement"): _Walk.old_statement,
    _K_GLOBAL: _Walk.declaration_names,
    _K_NONLOCAL: _Walk.declaration_names,
}
