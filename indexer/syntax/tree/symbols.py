"""From entries to symbols: one per scope and name, in outline order, with signature, documentation, flags and container."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from indexer.languages import Grammar
from indexer.model import SymbolFlag, SymbolKind
from indexer.syntax.model import Definition, Span
from indexer.syntax.tree.comments import Comments
from indexer.syntax.tree.outline import Sweep
from indexer.syntax.tree.scopes import (
    CALLABLES,
    CLASS,
    CLASS_LIKE,
    FUNCTION,
    IMPL,
    MAX_NESTING,
    MODULE,
    VARIABLES,
    Draft,
    Entry,
    Group,
    Scope,
    owner_of,
    plain_name,
)
from indexer.text import OffsetMap

MAX_SIGNATURE_CHARS = 300
MAX_MACRO_CHARS = 100
_MAX_WORDS_BYTES = 2_000
_ASYNC = re.compile(rb"[=:(]\s*async\b")
_PUBLIC = re.compile(r"\bpub\b(?!\s*\()")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp", ".inl", ".cuh")
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")


class Symbols:
    """The symbols of one file. `groups` are in outline order once `order` has run; the module itself is none of them."""

    def __init__(self, sweep: Sweep, source: bytes, offsets: OffsetMap, rules: Grammar, path: str) -> None:
        self.sweep = sweep
        self.source = source
        self.offsets = offsets
        self.rules = rules
        self.path = path
        self.groups: list[Group] = []
        self.macros: set[str] = set()
        self.bases: list[tuple[Group, int]] = []
        self.owners: list[tuple[Group, int]] = []

    def group(self) -> None:
        """Joins entries of one scope and name."""
        later: list[Entry] = []
        twins: list[Entry] = []
        given: list[Entry] = []
        source, prototypes = self.source, self.rules.prototypes
        names_owner = self.rules.class_named_constructors
        for entry in self.sweep.entries:
            name = entry.name = plain_name(source[entry.start : entry.end].decode("utf-8", "replace"))
            scope = entry.scope
            if entry.kind == SymbolKind.NULL:
                scope.names[name] = None
                continue
            if entry.twin is not None and entry.twin.name == name:
                twins.append(entry)
                continue
            if entry.draft.kind == "given":
                given.append(entry)
                continue
            lower = self.rules.binds_lower_case and entry.draft.kind in ("variable", "condition", "parameter")
            if name == self.rules.blank or (lower and name[:1].isupper() and entry.draft.scope.local):
                entry.end = -1
                continue
            if prototypes:
                self._prototype(entry)
            else:
                entry.declared = False
            if scope.kind in (CLASS, IMPL):
                if entry.kind == SymbolKind.FUNCTION:
                    entry.kind = SymbolKind.METHOD
                elif entry.kind in VARIABLES and entry.draft.kind in ("variable", "field"):
                    entry.kind = SymbolKind.FIELD
            if entry.draft.owners:
                if entry.kind == SymbolKind.FUNCTION:
                    entry.kind = SymbolKind.METHOD
                later.append(entry)
            elif scope.kind == IMPL:
                later.append(entry)
            else:
                owner = scope.owner
                if names_owner and entry.kind == SymbolKind.METHOD and owner is not None and owner.name == name:
                    entry.kind = SymbolKind.CONSTRUCTOR
                self._place(entry, scope)
        for entry in given:
            if entry.scope.local and not _is_bound(entry.name, entry.scope):
                self._place(entry, entry.scope)
        for entry in later:
            self._place_member(entry)
        for entry in twins:  # one function of one name, wherever that is seen
            assert entry.twin is not None
            entry.group = entry.twin.group
            if entry.group is not None:
                entry.group.entries.append(entry)
                entry.kind = entry.twin.kind
        for draft in self.sweep.impls:  # `impl Trait for T`: a base of T
            names = self._texts(draft.owners)
            owner = self._find_type(names, draft.scope) if names else None
            if owner is not None:
                self.bases += [(owner, start) for start in draft.first().bases]
                for group in () if draft.header is None else draft.header.symbols.values():
                    group.container = owner

    def _texts(self, spans: list[tuple[int, int]]) -> list[str]:
        return [self.source[start:end].decode("utf-8", "replace") for start, end in spans]

    def _prototype(self, entry: Entry) -> None:
        """What C and C++ declare only."""
        draft, scope = entry.draft, entry.scope
        if draft.kind in ("define", "macro"):
            self.macros.add(entry.name)
        elif draft.kind == "forward":
            entry.kind = SymbolKind.CLASS if "class" in self._words(draft) else SymbolKind.STRUCT
        elif draft.kind == "function":
            # `TEST(Suite, Case) {…}`: a macro's call with a body, for a function without a type.
            constructs = scope.owner is not None and scope.owner.name == entry.name.lstrip("~")
            if entry.name.isupper() and draft.body_start >= 0 and not (draft.owners or constructs or self._words(draft)):
                arguments = self.source[entry.end : min(draft.body_start, entry.end + MAX_MACRO_CHARS)].decode("utf-8", "replace")
                entry.name += " ".join(arguments.split())
                entry.invoked = True
        elif entry.declared:
            if entry.has_body:
                entry.declared = False
            elif scope.local and entry.kind in CALLABLES and scope.kind != CLASS:
                entry.kind = SymbolKind.VARIABLE  # `Foo foo(a);` makes a Foo far more often than it declares a function
        elif draft.kind == "variable" and not draft.init:
            entry.declared = "extern" in self._words(draft)
        elif draft.kind == "field" and scope.kind == CLASS and not draft.init:
            words = self._words(draft)
            entry.declared = "static" in words and words.isdisjoint(("constexpr", "inline", "const"))

    def _place(self, entry: Entry, scope: Scope, container: Group | None = None) -> Group:
        if scope.kind in (CLASS, MODULE) and scope.owner is not None and scope.owner.group is not None:
            scope = self.members(scope.owner.group, scope)
        is_nameless = entry.draft.kind == "anonymous"
        key = (entry.name, -entry.start if is_nameless else self._space(entry.kind))
        group = scope.symbols.get(key)
        if group is None:
            group = scope.symbols[key] = Group(entry.name, scope)
            group.container = container
            self.groups.append(group)
            if is_nameless:
                entry.group = group
                group.entries.append(entry)
                return group
            # A name that means a type here and a variable there is looked up as neither.
            scope.names[entry.name] = None if entry.name in scope.names else group
        if entry.kind in CLASS_LIKE:
            scope.types.setdefault(entry.name, group)
        entry.group = group
        group.entries.append(entry)
        return group

    def members(self, group: Group, scope: Scope | None = None) -> Scope:
        """The scope of a type's members, the same for all its parts."""
        if group.members is None:
            group.members = scope or Scope(CLASS, group.scope, group.entries[0])
        return group.members

    def _space(self, kind: SymbolKind) -> int:
        spaces = self.rules.namespaces
        if kind == SymbolKind.TYPE_PARAMETER:
            return 3
        if spaces == "one":
            return 0
        if kind in CLASS_LIKE:
            return 1
        return 2 if spaces == "kinds" and kind in CALLABLES else 0

    def _place_member(self, entry: Entry) -> None:
        """A member written outside its type, which may be defined above, below, or in another file."""
        draft, scope = entry.draft, entry.scope
        spans = draft.owners or scope.owners
        names = self._texts(spans)
        outer = scope.parent if scope.kind == IMPL else scope
        owner = self._find_type(names, outer) if names else None
        if owner is not None:
            home = self.members(owner)
            if scope.kind == IMPL and scope.opaque:  # of a trait: each has its own method of a name
                home = scope
            group = self._place(entry, home, owner)
        else:
            group = self._place(entry, scope if scope.kind == IMPL else self._qualified(scope, tuple(names)))
            group.qualifier = spans
        if names:
            named = owner is not None and owner.entries[0].kind == SymbolKind.NAMESPACE
            if named and entry.kind == SymbolKind.METHOD:
                entry.kind = SymbolKind.FUNCTION
            elif not named and entry.kind == SymbolKind.VARIABLE:
                entry.kind = SymbolKind.FIELD
            if entry.kind == SymbolKind.METHOD and self.rules.class_named_constructors and entry.name == names[-1]:
                entry.kind = SymbolKind.CONSTRUCTOR
            if group.qualifier:
                self.owners.append((group, spans[-1][0]))

    def _qualified(self, scope: Scope, names: tuple[str, ...]) -> Scope:
        """Where members of a type that this file only names live: one scope per qualifier."""
        key = (".".join(names), -1)
        group = scope.symbols.get(key)
        if group is None:
            group = scope.symbols[key] = Group(key[0], scope)
            group.members = Scope(MODULE, scope)
        assert group.members is not None
        return group.members

    @staticmethod
    def _find_type(names: list[str], scope: Scope | None) -> Group | None:
        found: Group | None = None
        for _ in range(MAX_NESTING):
            if scope is None or found is not None:
                break
            found = scope.types.get(names[0])
            scope = scope.parent
        for name in names[1:]:
            if found is None or found.members is None:
                return None
            found = found.members.types.get(name)
        return found

    # ---- order, flags, text

    def order(self) -> None:
        """Outline order: each symbol before its members, members by position."""
        members: dict[Group | None, list[Group]] = {}
        for group in self.groups:
            group.best = max(group.entries, key=weight)  # the first of the heaviest
            if group.container is None:
                owner = owner_of(group.scope)
                group.container = None if owner is None else owner.group
            members.setdefault(group.container, []).append(group)
        ordered: list[Group] = []
        for root in (None, *self.groups):  # a circle of containers, should there be one, is cut where it is met first
            if root is not None:
                if root.ordinal >= 0:
                    continue
                root.container = None
            stack = [root] if root is not None else sorted(members.pop(None, []), key=_place, reverse=True)
            while stack:
                group = stack.pop()
                if group.ordinal < 0:
                    ordered.append(group)
                    group.ordinal = len(ordered)
                    stack += sorted(members.pop(group, []), key=_place, reverse=True)
        self.groups = ordered

    def definitions(self, module: Definition, captures: dict[str, list[Any]]) -> list[Definition]:
        """What `Syntax.symbols` holds, after `order`."""
        comments = Comments(self.source, self.offsets, captures, self.rules.line_comment)
        exports = {self.source[node.start_byte : node.end_byte].decode("utf-8", "replace") for node in captures.get("export", ())}
        module.documentation = next((comments.above(node.start_byte) for node in captures.get("package", ())), "")
        result = [module]
        for group in self.groups:
            best = group.best
            assert best is not None
            container = 0 if group.container is None else group.container.ordinal
            position = self.offsets.position
            made = Definition(
                name=group.name,
                kind=best.kind,
                container=container,
                span=self._span(best),
                selection=Span(*position(best.start), *position(best.end)),
                flags=SymbolFlag(0),
                qualifier=tuple(self._texts(group.qualifier)),
            )
            made.flags = self._flags(group, best, result[container], exports)
            if len(group.entries) > 1:
                made.extra_ranges = [span for entry in group.entries if entry.twin is None and (span := self._span(entry)) != made.span]
            if SymbolFlag.LOCAL not in made.flags:
                made.signature = self._signature(best, comments)
                made.documentation = self._documentation(group, best, comments)
            elif best.kind in CALLABLES or best.kind in CLASS_LIKE:
                made.signature = self._signature(best, comments)
            result.append(made)
        return result

    def _span(self, entry: Entry) -> Span:
        draft = entry.draft
        start, end = draft.start, draft.end
        if draft.kind == "parameter" or len(draft.entries) > 1:
            if draft.kind not in ("parameter", "field", "constant", "variable") or len(draft.entries) > 1:
                start, end = entry.start, entry.end
        elif draft.wrap is not None and draft.wrap.count == 1:
            start, end = draft.wrap.start, draft.wrap.end
        if draft.kind in ("define", "macro"):  # the line's end belongs to the node
            end = start + len(self.source[start:end].rstrip())
        position = self.offsets.position
        return Span(*position(start), *position(end))

    def _words(self, draft: Draft) -> frozenset[str]:
        """The words before the first name of a definition: modifiers, keywords, types."""
        if draft.words is None:
            start = draft.head if draft.wrap is None else max(draft.wrap.head, min(draft.wrap.start, draft.head))
            if draft.wrap is not None and draft.head > draft.start:
                start = draft.head
            named = [entry.start for entry in draft.entries if entry.start >= 0]
            end = min(named) if named else start
            text = self.source[start : min(end, start + _MAX_WORDS_BYTES)].decode("utf-8", "replace")
            words = set(re.findall(r"[A-Za-z_]+", text))
            if "pub" in words and not _PUBLIC.search(text):
                words.discard("pub")
            draft.words = frozenset(words)
        return draft.words

    def _flags(self, group: Group, best: Entry, container: Definition, exports: set[str]) -> SymbolFlag:
        flags = SymbolFlag(0)
        scope, kind = best.scope, best.kind
        if kind == SymbolKind.TYPE_PARAMETER:
            return SymbolFlag.LOCAL
        if scope.local:
            flags |= SymbolFlag.LOCAL
            if best.draft.kind == "parameter":
                if scope.kind == FUNCTION and scope.owner is not None and scope.owner.end >= 0:
                    flags |= SymbolFlag.PARAMETER
                return flags
        words = self._words(best.draft)
        callable_ = kind in CALLABLES
        if callable_ and scope.kind == IMPL and scope.opaque:
            flags |= SymbolFlag.IMPLEMENTS
        if callable_ and ("async" in words or self._async_value(best)):
            flags |= SymbolFlag.ASYNC
        if "static" in words and scope.kind in (CLASS, IMPL) and kind not in CLASS_LIKE:
            flags |= SymbolFlag.STATIC
        if "abstract" in words or (self.rules.prototypes and best.draft.init and kind == SymbolKind.METHOD):
            flags |= SymbolFlag.ABSTRACT
        if kind == SymbolKind.PROPERTY:
            flags |= SymbolFlag.PROPERTY
        elif callable_ and len(group.entries) > 1:
            callables = [entry.has_body for entry in group.entries if entry.kind in CALLABLES and entry.twin is None]
            bodies = sum(callables)
            signatures = len(callables) - bodies
            if self.rules.overloads:
                flags |= SymbolFlag.OVERLOADED if max(bodies, signatures) > 1 else SymbolFlag(0)
            elif bodies > 1:
                flags |= SymbolFlag.CONDITIONAL
            elif len(callables) > 1 and not self.rules.prototypes:
                flags |= SymbolFlag.OVERLOADED
        if SymbolFlag.LOCAL not in flags and self._is_exported(group, words, container, exports):
            flags |= SymbolFlag.EXPORTED
        return flags

    def _async_value(self, entry: Entry) -> bool:
        draft = entry.draft
        if draft.body_start < 0 or draft.kind not in ("variable", "var", "constant", "field", "method"):
            return False
        return _ASYNC.search(self.source, entry.end, min(draft.body_start, entry.end + 400)) is not None

    def _is_exported(self, group: Group, words: frozenset[str], container: Definition, exports: set[str]) -> bool:
        rule = self.rules.exports
        inside = SymbolFlag.EXPORTED in container.flags
        name = group.name
        if rule == "export":
            if group.qualifier or any(entry.draft.kind == "export" for entry in group.entries):
                return inside  # a member of an object, which anybody may get, or what CommonJS exports
            if group.container is None or container.kind == SymbolKind.NAMESPACE:
                if self.path.endswith(_DECLARATIONS) or (group.container is None and name in exports):
                    return inside
                return inside and any(
                    not self._words(entry.draft).isdisjoint(("export", "exports"))
                    or (group.container is not None and "declare" in self._words(group.container.entries[0].draft))
                    for entry in group.entries
                )
            return inside and "private" not in words and not name.startswith("#")
        if rule == "capital":
            return name[:1].isupper()
        if rule == "unless private":
            return inside and words.isdisjoint(self.rules.private)
        if rule == "header":
            return inside and self.path.lower().endswith(_HEADERS) and (container.kind != SymbolKind.MODULE or "static" not in words)
        if rule == "pub":
            return inside and (
                "pub" in words or container.kind in (SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.ENUM_MEMBER) or self._of_trait(group)
            )
        if rule == "public":
            public = not words.isdisjoint(("public", "protected")) or container.kind == SymbolKind.INTERFACE
            return inside and (public or (group.best is not None and group.best.kind == SymbolKind.ENUM_MEMBER))
        return inside and (name in exports or (group.best is not None and group.best.kind in CALLABLES))

    @staticmethod
    def _of_trait(group: Group) -> bool:
        return any(entry.scope.kind == IMPL and entry.scope.opaque for entry in group.entries)

    def _signature(self, entry: Entry, comments: Comments) -> str:
        draft = entry.draft
        if entry.kind == SymbolKind.ENUM_MEMBER or draft.kind == "poison":
            return ""
        start, end = draft.head, draft.end
        if draft.wrap is not None and draft.wrap.count == 1 and draft.head == draft.start:
            start = draft.wrap.head
        if draft.body_start >= 0 and draft.kind != "macro":
            end = draft.body_start
        text = comments.without(start, min(end, start + 4 * MAX_SIGNATURE_CHARS)).decode("utf-8", "replace")
        return " ".join(text.split())[:MAX_SIGNATURE_CHARS].rstrip(" ={:;,")

    def _documentation(self, group: Group, best: Entry, comments: Comments) -> str:
        for entry in (best, *group.entries):
            draft = entry.draft
            found = comments.above(draft.start)
            if not found and draft.wrap is not None and draft.wrap.start != draft.start:
                found = comments.above(draft.wrap.start)
            if found:
                return found
        return ""


def _is_bound(name: str, scope: Scope) -> bool:
    """Whether a function's own scope, or one that it sees, binds a name already."""
    at: Scope | None = scope
    for _ in range(MAX_NESTING):
        if at is None or not at.local:
            return False
        if name in at.names:
            return True
        if at.opaque:
            return False
        at = at.parent
    return True


def weight(entry: Entry) -> int:
    """Which of several entries of a symbol is its definition: a body before a signature, a type before its announcement."""
    if entry.kind in CALLABLES:
        return 2 if entry.has_body else 1
    if entry.declared:
        return 0
    return 2 if entry.kind in CLASS_LIKE else 1


def _place(group: Group) -> tuple[int, int]:
    best = group.best
    assert best is not None
    return best.start, best.end


def type_of_this(definitions: Sequence[Definition], ordinal: int) -> int:
    """The type whose member a symbol is, -1 where it is none."""
    container = definitions[ordinal].container
    is_member = container >= 0 and definitions[ordinal].kind in CALLABLES and definitions[container].kind in CLASS_LIKE
    return container if is_member else -1


def enclosing_ordinal(entry: Entry | None, known: dict[Entry | None, int]) -> int:
    """The innermost function, method, class or namespace that an entry is or belongs to; `known` starts with 0, the module."""
    passed: list[Entry | None] = []
    while entry not in known:
        passed.append(entry)
        if entry is None or (entry.group is not None and (entry.kind in CALLABLES or entry.kind in CLASS_LIKE)):
            break
        entry = owner_of(entry.scope)
    ordinal = known.get(entry, 0 if entry is None or entry.group is None else entry.group.ordinal)
    for entry in passed:
        known[entry] = ordinal
    return ordinal
