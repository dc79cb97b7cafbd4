"""From captured nodes to scopes, definitions and symbols.

One sweep over the captured nodes in document order keeps what is open around a place: definition, scope, body. Captures say what
a node is (`queries/README.md` lists them), so nothing here knows a language's grammar. Afterwards names of one scope become one
symbol each (`Group`), and members that are written outside their type find it where this file defines it.
"""

from __future__ import annotations

from typing import Any

from indexer.model import SymbolKind
from indexer.syntax.tree.scopes import (
    BLOCK,
    CALLABLES,
    CLASS,
    FUNCTION,
    HEADER,
    IMPL,
    KINDS,
    MODULE,
    OBJECT,
    Draft,
    Entry,
    Scope,
    Wrap,
    beyond_parameters,
)

_PRIORITY = {name: place for place, name in enumerate(("given", "variable", "var", "constant", "field", "parameter"))}
"""Where one node is captured as several kinds of definition; all others stand above these."""

_SEVERAL = frozenset({"alias", "condition", "variable", "var", "constant", "field", "parameter", "typeparam", "namespace", "assign"})
"""Definitions that may hold several names."""

Change = tuple[int, "Entry | None", "Scope | None"]
"""From this byte on: the body around, and the scope in which names are looked up (None: only a server knows)."""

# Ranks order what starts and ends at the same bytes: a wrap is around its definition, a body inside its function, and a function that is
# the whole body of another one inside that; a body of statements may be a single definition.
AROUND, WRAP, DEF, REGION, WHOLE_BODY, SCOPE, BODY, LEAF = range(8)
_OPERATIONS: dict[str, tuple[int, str]] = {
    "wrap": (WRAP, "wrap"),
    "decorated": (REGION, "decorated"),
    "unsure": (REGION, "unsure"),
    "default": (REGION, "default"),
    "scope": (SCOPE, "scope"),
    "scope.function": (SCOPE, "function"),
    "scope.item": (SCOPE, "item"),
    "scope.prototype": (SCOPE, "prototype"),
    "scope.object": (SCOPE, "object"),
    "scope.signature": (SCOPE, "signature"),
    "scope.header": (SCOPE, "header"),
    "scope.module": (SCOPE, "module"),
    "body": (BODY, "body"),
    "body.around": (AROUND, "body"),
    "members": (BODY, "members"),
    "base": (LEAF, "base"),
    "base.embedded": (LEAF, "embedded"),
    "base.trait": (LEAF, "trait"),
    "owner": (LEAF, "owner"),
    "poison": (LEAF, "poison"),
    "inner": (LEAF, "inner"),
}


def _end_of_name(node: Any) -> int:
    """Where a name ends: that of a conversion (`operator bool() const`) before its brackets."""
    end: int = node.end_byte
    return node.start_byte + len(node.text.partition(b"(")[0].rstrip()) if node.type == "operator_cast" else end


class Sweep:
    """Scopes, entries and what is around each place, from the captures of one file."""

    def __init__(self, captures: dict[str, list[Any]], *, size: int, inherits: bool) -> None:
        self.module = Scope(MODULE, None)
        self.scopes = [self.module]
        self.entries: list[Entry] = []
        self.changes: list[Change] = [(-1, None, self.module)]
        self.writes: list[int] = []  # targets of destructuring assignments
        self.impls: list[Draft] = []
        self.inherits = inherits
        self.inits = {(node.start_byte, node.end_byte) for node in captures.get("init", ())}
        self._sweep(self._events(captures), size)

    @staticmethod
    def _events(captures: dict[str, list[Any]]) -> list[tuple[int, int, int, str]]:
        """(start, -end, rank, operation), sorted so that outer nodes come first."""
        events: list[tuple[int, int, int, str]] = []
        bodies = {
            (node.start_byte, -node.end_byte)
            for name in ("body", "body.plain", "members", "scope.module")
            for node in captures.get(name, ())
        }
        given = {(node.start_byte, node.end_byte) for node in captures.get("body", ())}
        functions = {(node.start_byte, -node.end_byte) for node in captures.get("scope.function", ())}
        definitions: dict[tuple[int, int], str] = {}
        names: dict[tuple[int, int], str] = {}
        for capture, nodes in captures.items():
            if capture == "def.closure":
                for node in nodes:
                    body = node.child_by_field_name("body")
                    if body is not None and (body.start_byte, body.end_byte) not in given:
                        definitions.setdefault((node.start_byte, -node.end_byte), "closure")
                        events.append((body.start_byte, -body.end_byte, BODY, "body"))
            elif capture.startswith("def."):
                kind = capture[4:]
                priority = _PRIORITY.get(kind, 9)
                for node in nodes:
                    key = (node.start_byte, -node.end_byte)
                    other = definitions.get(key)
                    if other is None or _PRIORITY.get(other, 9) < priority:
                        definitions[key] = kind
            elif capture == "name":
                for node in nodes:
                    names.setdefault((node.start_byte, -node.end_byte), "")
            elif capture.startswith("name."):
                for node in nodes:
                    names[node.start_byte, -_end_of_name(node)] = capture[5:]
            elif capture in _OPERATIONS:
                rank, operation = _OPERATIONS[capture]
                for node in nodes:
                    start, end = node.start_byte, -node.end_byte
                    if operation not in ("scope", "object") or (start, end) not in bodies:
                        is_function = rank == BODY and (start, end) in functions
                        events.append((start, end, WHOLE_BODY if is_function else rank, operation))
        events = [event for event in events if event[3] != "inner" or event[:2] not in names]
        events.extend((*key, DEF, kind) for key, kind in definitions.items())
        events.extend((*key, LEAF, f"name.{kind}") for key, kind in names.items())
        return sorted(set(events))

    def _sweep(self, events: list[tuple[int, int, int, str]], size: int) -> None:
        draft: Draft | None = None
        inner = self.module
        body: Entry | None = None
        wrap: Wrap | None = None
        unsure = 0
        changes = self.changes
        stack: list[tuple[int, Draft | None, Scope, Entry | None, Wrap | None, int]] = []
        events.append((size + 1, -size - 1, WRAP, ""))
        for start, end, rank, operation in events:
            end = -end
            while stack and stack[-1][0] <= start:
                closed, draft, inner, body, wrap, unsure = stack.pop()
                changes.append((closed, body, None if unsure else inner))
            if rank == LEAF:
                if end > start:
                    self._leaf(operation, start, end, draft, inner)
                continue
            if not operation:
                break
            before = (end, draft, inner, body, wrap, unsure)
            if rank == DEF:
                draft = self._draft(start, end, operation, inner, wrap, draft)
                wrap = None
            elif rank == WRAP:
                wrap = wrap or Wrap(start, end)
            elif operation == "default":
                if inner.kind == FUNCTION and inner.owner is not None and inner.body_start < 0 and inner.owner.kind in CALLABLES:
                    body = inner.owner
            elif rank == REGION:
                unsure += 1
                if operation == "decorated":
                    if wrap is not None:
                        wrap.head = max(wrap.head, end)
                    if draft is not None and (not draft.entries or draft.entries[0].end < 0):
                        draft.head = max(draft.head, end)
                    draft = None
            elif rank == SCOPE:
                if operation == "prototype" and draft is not None and draft.function is inner:
                    continue  # the function's own header
                inner, draft = self._open(operation, inner, draft)
                wrap = None
            else:
                if draft is None or draft.kind == "assign":
                    continue
                entry = draft.entries[-1] if draft.kind == "namespace" and draft.entries else draft.first()
                if draft.body_start < 0:
                    draft.body_start = start
                elif entry.kind not in CALLABLES:  # a constructor has two: what initializes members runs too
                    continue
                wrap = None
                entry.has_body = True
                if operation == "body":
                    body = entry
                is_impl = draft.kind in ("impl", "traitimpl")
                if entry.kind in CALLABLES:
                    if draft.function is not None and draft.function.body_start < 0:
                        draft.function.body_start = start
                else:
                    kind = IMPL if is_impl else MODULE if entry.kind == SymbolKind.NAMESPACE else CLASS
                    inner = entry.members or Scope(kind, inner, None if is_impl else entry)
                    inner.opaque = self.inherits or entry.kind == SymbolKind.ENUM or draft.kind == "traitimpl"
                    inner.owners = draft.owners
                    if is_impl:
                        body = before[3]
                        self.impls.append(draft)
                    entry.members = inner
                    self.scopes.append(inner)
                draft = None
            stack.append(before)
            changes.append((start, body, None if unsure else inner))

    def _draft(self, start: int, end: int, kind: str, scope: Scope, wrap: Wrap | None, outer: Draft | None) -> Draft:
        if kind == "typeparam":
            outer = beyond_parameters(outer)
            if scope.kind != FUNCTION or (outer is not None and outer.function is not scope):
                scope = self._header(scope, wrap, outer)
            return Draft(start, end, kind, scope, None, outer)
        if kind == "component" and outer is not None:  # `record R(int field)`: a member in front of the body
            entry = outer.first()
            if entry.members is None:
                entry.members = Scope(CLASS, scope, entry)
            scope = entry.members
        draft = Draft(start, end, kind, scope, wrap, outer)
        draft.init = (start, end) in self.inits
        if wrap is not None:
            wrap.count += 1
            if wrap.header is not None and wrap.header.owner is None:
                wrap.header.owner = draft.first()
        return draft

    def _header(self, scope: Scope, wrap: Wrap | None, outer: Draft | None) -> Scope:
        """The scope of type parameters: of the definition around, or of the one that follows in the same statement (C++)."""
        holder = outer or wrap
        if holder is not None and holder.header is not None:
            return holder.header
        made = Scope(HEADER, scope, None if outer is None else outer.first())
        self.scopes.append(made)
        if holder is not None:
            holder.header = made
        return made

    def _open(self, operation: str, parent: Scope, draft: Draft | None) -> tuple[Scope, Draft | None]:
        """The scope that starts here, and the definition that names in it may still belong to."""
        if operation in ("function", "item", "prototype", "signature"):
            made = Scope(FUNCTION, parent)
            if operation == "signature" and draft is not None:
                made.holder = draft.first()
            made.opaque = operation == "item"
            made.draft = draft
            if draft is not None and draft.function is None and draft.body_start < 0:
                kind = draft.entries[0].kind if draft.entries else KINDS.get(draft.kind)
                if kind in CALLABLES:
                    self._claim(draft, made)
                    operation = "prototype"
            if operation != "prototype":
                draft = None
        elif operation == "header":  # type parameters are seen in the head of a type and in its body
            made = Scope(HEADER, parent, None if draft is None else draft.first())
            if draft is not None:
                draft.header = made
        elif operation == "module":
            made, draft = Scope(MODULE, parent), None
        elif operation == "object":
            made = Scope(OBJECT, parent)
            made.opaque = self.inherits
        else:
            made = Scope(BLOCK, parent)
            if draft is not None:  # parameters of a function's type
                made.holder = draft.first()
            draft = None
        self.scopes.append(made)
        return made, draft

    @staticmethod
    def _claim(draft: Draft, scope: Scope) -> None:
        draft.function = scope
        scope.owner = draft.first()

    def _leaf(self, operation: str, start: int, end: int, draft: Draft | None, scope: Scope) -> None:
        if operation == "poison":
            self.poison(scope, start, end)
        elif operation == "inner":
            self._inner(start, end, draft, scope)
        elif operation == "embedded":
            if draft is None and scope.kind == CLASS and scope.owner is not None:
                scope.owner.bases.append(start)
        elif draft is None:
            pass
        elif operation == "base":
            if draft.body_start < 0:
                draft.first().bases.append(start)
        elif operation == "trait":
            draft.first().bases.append(start)
        elif operation == "owner":
            (beyond_parameters(draft) or draft).owners.append((start, end))
        elif draft.kind == "assign":
            self.writes.append(start)
        else:
            self._name(operation[5:], start, end, draft, scope)

    def release(self) -> None:
        """Cuts the circles between scopes, entries and symbols, so that they go without the garbage collector."""
        for scope in self.scopes:
            scope.owner = scope.draft = scope.holder = scope.home = scope.parent = None
            scope.hoist = scope
            scope.symbols.clear()
            scope.names.clear()
            scope.types.clear()
        for entry in self.entries:
            if entry.group is not None:
                entry.group.entries.clear()
            entry.group = entry.members = entry.twin = None
            entry.draft.entries.clear()
            entry.draft.outer = None
        self.changes.clear()

    def poison(self, scope: Scope, start: int, end: int) -> None:
        """A name that is bound here in a way that no rule of ours covers: whoever looks it up must ask."""
        made = Entry(Draft(start, end, "poison", scope, None), SymbolKind.NULL, scope)
        made.start, made.end = start, end
        self.entries.append(made)

    def _inner(self, start: int, end: int, draft: Draft | None, scope: Scope) -> None:
        """A function's own name, seen in itself only: of the definition that has its body, where that has no other name."""
        self.poison(scope, start, end)
        twin = draft.first() if draft is not None and draft.kind != "closure" and draft.function is scope else None
        if draft is None or draft.kind != "closure":
            draft = Draft(start, end, "closure", scope, None)
        elif draft.first().end >= 0:
            return
        entry = draft.first()
        entry.start, entry.end = start, end
        entry.twin = twin
        entry.scope = Scope(BLOCK, draft.scope)
        self.scopes.append(entry.scope)
        self.entries.append(entry)

    def _name(self, hint: str, start: int, end: int, draft: Draft, scope: Scope) -> None:
        if hint == "parameterfield":
            self._parameter_field(start, end, draft)
            return
        kind = KINDS.get(hint or draft.kind)
        if kind is None or draft.kind == "none":
            return
        first = draft.entries[0] if draft.entries else None
        if first is not None and (first.end >= 0 or (draft.body_start >= 0 and kind in CALLABLES)):
            if draft.kind not in _SEVERAL and hint not in _SEVERAL:
                return
            target = draft.scope
            if draft.kind == "namespace":  # `namespace a.b`: b is a member of a
                outer = draft.entries[-1]
                outer.members = target = Scope(MODULE, outer.scope, outer)
                self.scopes.append(target)
            entry = Entry(draft, kind, target)
            draft.entries.append(entry)
        else:
            entry = draft.first()
            entry.kind = kind
        entry.start, entry.end = start, end
        if draft.kind in ("export", "define", "global", "macro"):
            entry.scope = self.module
        elif draft.kind == "var":
            entry.scope = entry.scope.hoist
        if draft.kind == "forward":
            entry.declared = True
        elif draft.kind in ("variable", "field") and kind in CALLABLES:
            entry.declared = not draft.init
            if scope.kind == FUNCTION and scope.owner is None and scope.draft is draft:
                self._claim(draft, scope)
        self.entries.append(entry)

    def _parameter_field(self, start: int, end: int, draft: Draft) -> None:
        """`constructor(private x)`: a field of the class; what `x` means in the constructor is left to the server."""
        entry = draft.first()
        entry.kind, entry.start, entry.end = SymbolKind.FIELD, start, end
        self.poison(draft.scope, start, end)
        if draft.scope.parent is not None:
            entry.scope = draft.scope.parent
        draft.kind = "field"
        self.entries.append(entry)
