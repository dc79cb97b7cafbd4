"""Python's scopes and bindings, and the questions that they answer without any text."""

from __future__ import annotations

import builtins

OF_MODULES = frozenset({"__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__"})
"""Names that every module has of itself: attributes of the object that it is."""

BUILTINS = frozenset(dir(builtins)) - OF_MODULES
"""Other names that every module can use unbound."""

# How a name got into a scope.
BY_DEF = 1
BY_ASSIGN = 2
BY_IMPORT = 3
BY_PARAM = 4
BY_TYPE_PARAM = 5

MODULE_SCOPE, CLASS_SCOPE, FUNCTION_SCOPE, COMPREHENSION_SCOPE, TYPE_SCOPE = range(5)


class Scope:
    __slots__ = ("bindings", "declared", "kind", "parent", "self_name", "self_owner", "symbol")

    def __init__(self, kind: int, parent: Scope | None, symbol: int) -> None:
        self.kind = kind
        self.parent = parent
        self.symbol = symbol  # ordinal of the symbol that owns it; lambdas and comprehensions belong to their surroundings
        self.bindings: dict[str, Binding] = {}
        self.declared: dict[str, Scope | None] = {}  # `global` and `nonlocal` names; None = nearest function scope that binds it
        self.self_name = ""  # first parameter of a method
        self.self_owner = -1  # the class it is an instance of


class Binding:
    __slots__ = ("import_key", "kinds", "scope", "symbol", "tokens")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.kinds: set[int] = set()
        self.tokens: list[int] = []
        self.symbol = -1
        self.import_key: set[str] = set()


class Use:
    __slots__ = ("chain", "is_call", "name", "scope", "start", "token")

    def __init__(self, token: int, name: str, scope: Scope, start: int, is_call: bool) -> None:
        self.token = token
        self.name = name
        self.scope = scope
        self.start = start
        self.is_call = is_call


def nonlocal_home(name: str, scope: Scope) -> Scope | None:
    outer = scope.parent
    while outer is not None:
        if outer.kind == FUNCTION_SCOPE and name in outer.bindings:
            return outer
        outer = outer.parent
    return None


def self_owner(name: str, scope: Scope | None) -> int:
    """The class of which `name` is `self` or `cls` here, or -1."""
    while scope is not None:
        if scope.kind == FUNCTION_SCOPE:
            if scope.self_name:
                return scope.self_owner if scope.self_name == name else -1
            if name in scope.bindings:
                return -1
        elif scope.kind != COMPREHENSION_SCOPE:
            return -1
        scope = scope.parent
    return -1


def method_class(scope: Scope | None) -> int:
    """The class of the method around, or -1."""
    while scope is not None:
        if scope.kind == FUNCTION_SCOPE and scope.self_name:
            return scope.self_owner
        if scope.kind == CLASS_SCOPE:
            return -1
        scope = scope.parent
    return -1


def in_function(scope: Scope | None) -> bool:
    while scope is not None:
        if scope.kind in (FUNCTION_SCOPE, COMPREHENSION_SCOPE):
            return True
        scope = scope.parent
    return False
