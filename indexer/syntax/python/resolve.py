"""From names to symbols: each recorded name is looked up through its scopes, each question is put once."""

from __future__ import annotations

from typing import Any

from indexer.model import VALUE_KINDS, SymbolFlag, SymbolKind
from indexer.syntax.model import ASK, BUILTIN, Span, Syntax, Tokens
from indexer.syntax.python.nodes import K_ATTRIBUTE, K_IDENTIFIER, name_of
from indexer.syntax.python.record import Recorder
from indexer.syntax.python.roles import CONFINED, DEFINITION, DELETE, WRITE
from indexer.syntax.python.scopes import (
    BUILTINS,
    BY_DEF,
    BY_IMPORT,
    BY_PARAM,
    CLASS_SCOPE,
    OF_MODULES,
    TYPE_SCOPE,
    Binding,
    Scope,
    Use,
    nonlocal_home,
)

MAX_CHAIN = 3


class Resolver(Recorder):
    """Second pass: what was recorded becomes a `Syntax`."""

    def join_nonlocals(self) -> None:
        """`nonlocal x` may stand above the outer function's own `x = …`: what it bound meanwhile joins the outer binding."""
        replaced: dict[int, int] = {}
        for scope in self.scopes:  # outer ones first
            for name, target in scope.declared.items():
                own = scope.bindings.get(name)
                home = None if target is not None or own is None else nonlocal_home(name, scope)
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
        self.strings = [item._replace(enclosing=replaced.get(item.enclosing, item.enclosing)) for item in self.strings]
        for owner, name in [key for key in self.members if key[0] in replaced]:
            self.members.setdefault((replaced[owner], name), []).extend(self.members.pop((owner, name)))

    def name_bindings(self, module: Scope) -> None:
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
                    self.tokens.roles[token] |= DEFINITION
            self.member_tokens += [(ordinal, token) for token in tokens]

    def resolve_bindings(self) -> None:
        """Tokens that bind a name mean the symbol of its scope."""
        tokens = self.tokens
        for token, binding in self.use_binding.items():
            if binding.symbol >= 0 and BY_IMPORT not in binding.kinds:
                tokens.symbol[token] = binding.symbol
                if tokens.roles[token] & WRITE and self.starts[token] == self.first_start(binding):
                    tokens.roles[token] |= DEFINITION
            elif tokens.roles[token] & WRITE or tokens.roles[token] & DEFINITION:
                tokens.symbol[token] = binding.symbol if binding.symbol >= 0 else ASK
                tokens.roles[token] |= DEFINITION if binding.symbol >= 0 else 0

    def resolve_uses(self) -> None:
        """All other tokens: certain by scope, answered by another token's question, or to be asked."""
        tokens = self.tokens
        shared: dict[tuple[object, ...], int] = {}
        callees: dict[Binding, int] = {}

        def share(token: int, key: tuple[object, ...]) -> None:
            first = shared.setdefault(key, token)
            if first == token:
                tokens.ask[token] = True
            else:
                tokens.same_as[token] = first

        # Bare names.
        for use in self.uses:
            binding = self.look_up(use)
            token = use.token
            if binding is None:
                if (use.name in BUILTINS and not self.has_star) or (use.name in OF_MODULES and use.scope.kind != CLASS_SCOPE):
                    tokens.symbol[token] = BUILTIN
                    tokens.roles[token] &= ~CONFINED
                else:
                    share(token, ("free", use.name))
                continue
            self.use_binding[token] = binding
            kinds = binding.kinds
            if BY_IMPORT in kinds:
                if len(kinds) == 1 and len(binding.import_key) == 1:
                    tokens.same_as[token] = binding.tokens[0]
                    if use.is_call and not use.name[:1].isupper():  # it may be a variable that holds a function
                        tokens.callee_as[token] = callees.setdefault(binding, token)
                else:
                    tokens.ask[token] = True
            elif binding.symbol >= 0:
                tokens.symbol[token] = binding.symbol
                variable = self.symbols[binding.symbol]
                if variable.kind in VALUE_KINDS and (SymbolFlag.PARAMETER not in variable.flags or use.name in ("self", "cls")):
                    tokens.roles[token] &= ~CONFINED  # nobody asks where its value goes
                if use.is_call and kinds != {BY_DEF}:
                    tokens.callee_as[token] = token
                    tokens.ask[token] = True
            else:
                tokens.ask[token] = True
        # Attributes: one question per binding and path.
        for token, value, scope, is_call in self.attributes:
            key = self.path_key(value, scope)
            if key is None or tokens.roles[token] & (WRITE | DELETE):
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

    def first_start(self, binding: Binding) -> int:
        """Where the first token of a binding starts, once all are known: a name may be assigned a hundred thousand times."""
        found = self.first_starts.get(binding)
        if found is None:
            found = self.first_starts[binding] = min((self.starts[token] for token in binding.tokens), default=-1)
        return found

    def first_bound(self, binding: Binding) -> int:
        """From where on a class body has its own name: behind `x = x`, whose value is still the outer one."""
        found = self.first_bounds.get(binding)
        if found is None:
            bounds = (self.bound_at.get(token, self.starts[token]) for token in binding.tokens)
            found = self.first_bounds[binding] = min(bounds, default=-1)
        return found

    def look_up(self, use: Use) -> Binding | None:
        name, scope = use.name, use.scope
        own: Scope | None = scope
        first = True
        while own is not None:
            if name in own.declared and (own.kind != CLASS_SCOPE or first):
                if (module := own.declared[name]) is not None:  # `global`: no function around is meant, even where no module binds it
                    return module.bindings.get(name)
                if (home := nonlocal_home(name, own)) is not None:
                    return home.bindings[name]
            elif (binding := own.bindings.get(name)) is not None and (
                own.kind != CLASS_SCOPE
                # A class body reads the outer name until its own is bound; functions in it never see it.
                or (first and self.first_bound(binding) <= use.start)
            ):
                return binding
            first = first and own.kind == TYPE_SCOPE
            own = own.parent
        return None

    def path_key(self, node: Any, scope: Scope) -> tuple[object, ...] | None:
        """Identity of a dotted path whose meaning cannot change within the file: an imported name, or `self`/`cls`."""
        path: list[str] = []
        while node is not None and node.kind_id == K_ATTRIBUTE and len(path) < MAX_CHAIN:
            last = node.child_by_field_name("attribute")
            if last is None:
                return None
            path.append(name_of(last.text))
            node = node.child_by_field_name("object")
        if node is None or node.kind_id != K_IDENTIFIER:
            return None
        token = self.node_token.get(node.start_byte)
        binding = None if token is None else self.use_binding.get(token)
        if binding is None or token is None:
            return None
        if binding.kinds == {BY_IMPORT} and len(binding.import_key) == 1:
            return (binding, *path)
        if binding.kinds == {BY_DEF} and len(binding.tokens) == 1:
            return (binding, *path)
        if not path and binding.kinds == {BY_PARAM}:
            home = binding.scope
            if home.self_name and home.self_name == self.tokens.name[token]:
                is_class = SymbolFlag.CLASSMETHOD in self.symbols[home.symbol].flags
                return ("self", home.self_owner, is_class)
        return None

    def imported_module(self, key: tuple[object, ...], name: str) -> int:
        """The token in `import a.b.c` that `a.b` elsewhere in the file names too, or -1: a module, whatever the package holds."""
        root = key[0]
        if not isinstance(root, Binding) or root.import_key != {self.tokens.name[root.tokens[0]]}:
            return -1
        path = (*root.import_key, *(str(part) for part in reversed(key[1:])), name)
        return self.module_paths.get(path, -1) if len(path) > 1 else -1

    def mark_exported(self, module: Scope) -> None:
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
        self.renumbered, self.reordered = new_symbol, new_token
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
            strings=sorted(
                item._replace(enclosing=new_symbol[item.enclosing], owner=new_symbol[item.owner] if item.owner >= 0 else -1)
                for item in self.strings
            ),
        )
