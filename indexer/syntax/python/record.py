"""What is recorded of a file while it is walked: tokens, symbols, bindings."""

from __future__ import annotations

import re
from typing import Any

from indexer.model import SymbolFlag, SymbolKind
from indexer.syntax.model import ASK, Definition, NamedString, Span, Tokens
from indexer.syntax.python.nodes import K_COMMENT, K_EXPRESSION_STATEMENT, K_STRING, name_of
from indexer.syntax.python.roles import CALL
from indexer.syntax.python.scopes import (
    BY_ASSIGN,
    BY_DEF,
    CLASS_SCOPE,
    COMPREHENSION_SCOPE,
    Binding,
    Scope,
    Use,
    in_function,
    nonlocal_home,
)
from indexer.text import ColumnMap

MAX_SIGNATURE_CHARS = 2_000
MAX_DOC_CHARS = 20_000


class Recorder:
    """What the walk has seen so far: tokens, symbols, scopes with their bindings, and the names that are still to be looked up."""

    def __init__(self, source: bytes, module_name: str, is_test: bool) -> None:
        self.source = source
        self.columns = ColumnMap(source)
        self.is_test = is_test
        self.module_name = module_name
        self.tokens = Tokens()
        self.starts: list[int] = []  # byte offset of each token
        self.symbols: list[Definition] = []
        self.uses: list[Use] = []
        self.attributes: list[tuple[int, Any, Scope, bool]] = []  # token, object node, scope, is_call
        self.keywords: list[tuple[int, Any, Scope]] = []  # token, callee node, scope
        self.bases: list[tuple[int, int]] = []
        self.made_bases: list[tuple[int, Any]] = []  # class, the expression that gives a base
        self.imports: list[tuple[int, str]] = []
        self.exports: list[str] | None = None
        self.strings: list[NamedString] = []
        self.errors: list[int] = []
        self.node_token: dict[int, int] = {}  # start byte of an identifier -> token
        self.use_binding: dict[int, Binding] = {}
        self.first_starts: dict[Binding, int] = {}
        self.bound_at: dict[int, int] = {}  # token in a class body -> byte offset from which its name is bound; without: its own place
        self.first_bounds: dict[Binding, int] = {}
        self.members: dict[tuple[int, str], list[int]] = {}  # (class, attribute) -> tokens that assign it through self
        self.member_tokens: list[tuple[int, int]] = []
        self.through_self: dict[int, tuple[int, bool]] = {}  # token -> class, whether by super()
        self.module_paths: dict[tuple[str, ...], int] = {}  # `a.b` of `import a.b.c` -> its token there
        self.has_star = False
        self.operated: list[tuple[int, Any, Scope, Any]] = []  # operation, what it is about, scope, where it stands if that is elsewhere
        self.built_in: list[tuple[int, int]] = []  # start byte of a function's name; of `operated`, what it does if it is the built-in one
        self.dotted: dict[int, Any] = {}  # start byte of a name behind a dot -> the path; a node's own parent is looked for from the root
        self.filled: dict[int, frozenset[str]] = {}  # by class: names of parameters of its tests that `parametrize` above it fills
        self.functions: dict[int, tuple[Any, Scope, list[str]]] = {}  # the last definition of each: node, scope, decorators
        self.returned: dict[int, list[tuple[Any, Scope]]] = {}  # by function: what it returns, None for nothing
        self.generators: set[int] = set()
        self.assigned: dict[int, tuple[Any, Scope]] = {}  # start byte of a name or an attribute -> what it is set to
        self.narrowed: set[tuple[int, bytes]] = set()  # symbol around and text: of what a test may tell the type, or what is set there
        self.of_the_language: dict[Binding, bool] = {}  # local variables that hold nothing but texts, lists and the like
        self.given_as: dict[int, int] = {}  # start byte of a parameter's name -> kind of its node; 0: its type is declared
        self.renumbered: list[int] = []  # symbols' ordinals in the order of the outline
        self.reordered: list[int] = []  # tokens in the order of the text
        self.stack: list[tuple[Any, Scope, int]] = []
        self.scopes: list[Scope] = []
        self.dropped: set[int] = set()  # symbols that turned out to be another one

    def operate(self, operation: int, node: Any, scope: Scope, site: Any = None) -> None:
        if node is not None:
            self.operated.append((operation, node, scope, site))

    def scope(self, kind: int, parent: Scope | None, symbol: int) -> Scope:
        made = Scope(kind, parent, symbol)
        self.scopes.append(made)
        return made

    def span(self, node: Any) -> Span:
        (line, col), (end_line, end_col) = node.start_point, node.end_point
        if self.columns.is_identity:
            return Span(line, col, end_line, end_col)
        utf16 = self.columns.utf16
        return Span(line, utf16(line, col), end_line, utf16(end_line, end_col))

    def token(self, node: Any, scope: Scope, roles: int, name: str = "", *, start: int = -1) -> int:
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
        tokens.name.append(name or name_of(self.source[start:end]))
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

    def bind(self, node: Any, scope: Scope, how: int, roles: int, *, until: int = -1) -> int:
        """Records an identifier that binds its name in `scope` (or where `global`/`nonlocal` sends it).

        `until`: the end of what is evaluated before the name is bound, where that stands behind it.
        """
        index = self.token(node, scope, roles)
        if until >= 0 and scope.kind == CLASS_SCOPE:
            self.bound_at[index] = until
        self.bind_name(self.tokens.name[index], index, scope, how)
        return index

    def bind_name(self, name: str, token: int, scope: Scope, how: int) -> Binding:
        if scope.kind == COMPREHENSION_SCOPE and how == BY_DEF:  # cannot happen in valid code
            how = BY_ASSIGN
        home = scope
        if name in scope.declared:
            home = scope.declared[name] or nonlocal_home(name, scope) or scope
        binding = home.bindings.get(name)
        if binding is None:
            binding = home.bindings[name] = Binding(home)
        binding.kinds.add(how)
        binding.tokens.append(token)
        self.use_binding[token] = binding
        return binding

    def read(self, node: Any, scope: Scope, roles: int) -> int:
        index = self.token(node, scope, roles)
        self.uses.append(Use(index, self.tokens.name[index], scope, node.start_byte, bool(roles & CALL)))
        return index

    def define(
        self, name: str, kind: SymbolKind, container: int, span: Span, selection: Span, flags: SymbolFlag, signature: str = ""
    ) -> int:
        self.symbols.append(
            Definition(name=name, kind=kind, container=container, span=span, selection=selection, flags=flags, signature=signature)
        )
        return len(self.symbols) - 1

    def define_or_merge(
        self,
        name: str,
        kind: SymbolKind,
        scope: Scope,
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
            if in_function(binding.scope):
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

    def signature(self, node: Any, body: Any) -> str:
        """The header as written, white space folded, decorators and colon left off."""
        end = body.start_byte if body is not None else node.end_byte
        start = node.start_byte
        if end - start > 4 * MAX_SIGNATURE_CHARS:
            end = start + 4 * MAX_SIGNATURE_CHARS
        text = self.source[start:end]
        if b"#" in text:
            text = re.sub(rb"(?m)\s#[^\n]*$", b"", text)
        folded = " ".join(text.decode("utf-8", "replace").split())
        folded = folded.removesuffix(":").rstrip()
        folded = folded.replace("( ", "(").replace(", )", ")").replace(" )", ")")
        return folded[:MAX_SIGNATURE_CHARS]

    @staticmethod
    def docstring(body: Any) -> str:
        if body is None:
            return ""
        child = next((one for one in body.named_children if one.kind_id != K_COMMENT), None)  # a licence stands above it
        if child is not None and child.kind_id == K_EXPRESSION_STATEMENT and child.named_child_count:
            child = child.named_children[0]
        return clean_docstring(child.text.decode("utf-8", "replace")) if child is not None and child.kind_id == K_STRING else ""

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
        if in_function(home):
            flags |= SymbolFlag.LOCAL
        else:
            if home.kind == CLASS_SCOPE:
                kind = SymbolKind.ENUM_MEMBER if self.symbols[home.symbol].kind == SymbolKind.ENUM else SymbolKind.FIELD
            if whole is not None:
                signature = self.one_line(whole)
        binding.symbol = self.define(name, kind, home.symbol, span, selection, flags, signature)

    def one_line(self, node: Any) -> str:
        text = self.source[node.start_byte : min(node.end_byte, node.start_byte + 400)].decode("utf-8", "replace")
        first = text.split("\n", 1)[0].rstrip()
        return first if first == text.rstrip() else first + " ..."


def clean_docstring(literal: str) -> str:
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
    return "\n".join(cleaned).strip()[:MAX_DOC_CHARS]
