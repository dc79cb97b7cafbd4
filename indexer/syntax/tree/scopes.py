"""What an outline is made of: scopes, definitions and the names that they define, symbols. `outline` makes them."""

from __future__ import annotations

import re

from indexer.model import CALLABLE_KINDS, SymbolKind

MODULE, CLASS, FUNCTION, BLOCK, OBJECT, HEADER, IMPL = range(7)
"""Kinds of scopes. MODULE: the file, or a namespace. OBJECT: members of something without a name. HEADER: type parameters.
IMPL: members of a type that is named above them."""

KINDS: dict[str, SymbolKind] = {
    "alias": SymbolKind.CLASS,
    "anonymous": SymbolKind.CLASS,
    "class": SymbolKind.CLASS,
    "closure": SymbolKind.FUNCTION,
    "component": SymbolKind.FIELD,
    "condition": SymbolKind.VARIABLE,
    "constant": SymbolKind.CONSTANT,
    "constructor": SymbolKind.CONSTRUCTOR,
    "define": SymbolKind.CONSTANT,
    "enum": SymbolKind.ENUM,
    "export": SymbolKind.FUNCTION,
    "field": SymbolKind.FIELD,
    "forward": SymbolKind.CLASS,
    "function": SymbolKind.FUNCTION,
    "given": SymbolKind.VARIABLE,
    "global": SymbolKind.VARIABLE,
    "interface": SymbolKind.INTERFACE,
    "macro": SymbolKind.FUNCTION,
    "member": SymbolKind.ENUM_MEMBER,
    "method": SymbolKind.METHOD,
    "namespace": SymbolKind.NAMESPACE,
    "parameter": SymbolKind.VARIABLE,
    "property": SymbolKind.PROPERTY,
    "struct": SymbolKind.STRUCT,
    "typeparam": SymbolKind.TYPE_PARAMETER,
    "var": SymbolKind.VARIABLE,
    "variable": SymbolKind.VARIABLE,
}

CLASS_LIKE = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.STRUCT, SymbolKind.NAMESPACE})
VARIABLES = frozenset({SymbolKind.VARIABLE, SymbolKind.CONSTANT})
CALLABLES = CALLABLE_KINDS | {SymbolKind.PROPERTY}


_OPERATOR_SPACE = re.compile(r"\s+(?=\W)|(?<=\W)\s+")


def plain_name(text: str) -> str:
    """A name as it is looked up: `operator +` is `operator+`."""
    return _OPERATOR_SPACE.sub("", " ".join(text.split())) if text.startswith("operator") else text


class Scope:
    """Where names live. `owner` is what they are members of, None where that is what the outer scope's names are members of."""

    __slots__ = (
        "body_start", "draft", "hoist", "holder", "home", "kind", "local", "names", "opaque", "owner", "owners", "parent", "searched",
        "symbols", "types",
    )  # fmt: skip

    def __init__(self, kind: int, parent: Scope | None, owner: Entry | None = None) -> None:
        self.kind = kind
        self.parent = parent
        self.owner = owner
        self.local: bool = kind in (FUNCTION, BLOCK) or (parent is not None and parent.local)
        # Where `var` puts a name: the scope around all blocks.
        self.hoist: Scope = parent.hoist if parent is not None and kind in (BLOCK, OBJECT) else self
        self.holder: Entry | None = None  # as `owner`, of what has no name: a function's type
        self.home: Entry | None = None  # found by `owner_of`, once `searched`
        self.searched = False
        self.opaque = False  # names inside may mean inherited members
        self.draft: Draft | None = None
        self.body_start = -1
        self.owners: list[tuple[int, int]] = []
        self.symbols: dict[tuple[str, int], Group] = {}
        self.names: dict[str, Group | None] = {}  # None: bound in a way that is not certain
        self.types: dict[str, Group] = {}


class Wrap:
    """A statement around definitions: `export …`, `const …`. A single definition's range is that of its statement."""

    __slots__ = ("count", "end", "head", "header", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.head = start
        self.count = 0
        self.header: Scope | None = None


class Draft:
    """A node that defines names. `head` is where its text starts, decorators left off."""

    __slots__ = (
        "body_start",
        "end",
        "entries",
        "function",
        "head",
        "header",
        "init",
        "kind",
        "outer",
        "owners",
        "scope",
        "start",
        "words",
        "wrap",
    )

    def __init__(self, start: int, end: int, kind: str, scope: Scope, wrap: Wrap | None, outer: Draft | None = None) -> None:
        self.outer = outer
        self.start = start
        self.end = end
        self.kind = kind
        self.scope = scope
        self.wrap = wrap
        self.head = start
        self.entries: list[Entry] = []
        self.body_start = -1
        self.function: Scope | None = None
        self.header: Scope | None = None
        self.owners: list[tuple[int, int]] = []
        self.init = False
        self.words: frozenset[str] | None = None

    def first(self) -> Entry:
        """The definition's own entry, which may get its name later, or never."""
        if not self.entries:
            self.entries.append(Entry(self, KINDS.get(self.kind, SymbolKind.VARIABLE), self.scope))
        return self.entries[0]


class Entry:
    """One name at one place that defines it; without a name (`end` < 0), its members belong to what is around it.

    `declared`: the place announces what another may define. `invoked`: the place calls a macro, which makes the definition.
    """

    __slots__ = ("bases", "declared", "draft", "end", "group", "has_body", "invoked", "kind", "members", "name", "scope", "start", "twin")

    def __init__(self, draft: Draft, kind: SymbolKind, scope: Scope) -> None:
        self.draft = draft
        self.kind = kind
        self.scope = scope
        self.name = ""
        self.start = -1
        self.end = -1
        self.has_body = False
        self.declared = False
        self.invoked = False
        self.members: Scope | None = None
        self.bases: list[int] = []
        self.group: Group | None = None
        self.twin: Entry | None = None  # what gives the same function its name outside: `exports.run = function run() {…}`


class Group:
    """A symbol: all entries of one scope and name."""

    __slots__ = ("best", "container", "entries", "members", "name", "ordinal", "qualifier", "scope")

    def __init__(self, name: str, scope: Scope) -> None:
        self.name = name
        self.scope = scope
        self.entries: list[Entry] = []
        self.best: Entry | None = None
        self.container: Group | None = None
        self.qualifier: list[tuple[int, int]] = []
        self.members: Scope | None = None
        self.ordinal = -1


MAX_NESTING = 200
"""Scopes that are looked through; deeper text is made to be deep, and a look at all scopes from each place would take forever."""


def beyond_parameters(draft: Draft | None) -> Draft | None:
    """The definition around, parameters left out: a receiver's type stands in one."""
    for _ in range(MAX_NESTING):
        if draft is None or draft.kind != "parameter":
            return draft
        draft = draft.outer
    return None


def owner_of(scope: Scope | None) -> Entry | None:
    """The named entry that members of a scope belong to; None for the module."""
    passed: list[Scope] = []
    found: Entry | None = None
    while scope is not None:
        if scope.searched:
            found = scope.home
            break
        passed.append(scope)
        found = scope.owner or scope.holder
        if found is not None and found.end >= 0:
            break
        found = None
        scope = scope.parent
    for scope in passed:
        scope.home, scope.searched = found, True
    return found
