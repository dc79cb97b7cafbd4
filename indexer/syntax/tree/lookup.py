"""What a name certainly means in the scopes of one file, without a server."""

from __future__ import annotations

from indexer.languages.record import Grammar
from indexer.model import SymbolKind
from indexer.syntax.tree.scopes import IMPL, MAX_NESTING, VARIABLES, Group, Scope


def of_module(name: str, scope: Scope | None) -> Group | None:
    """What a text that is formatted means by a name of no function around it: a constant of the module, which servers may not tell."""
    at = scope
    while at is not None and at.local:
        at = at.parent
    group = at.names.get(name) if at is not None else None
    return group if group is not None and group.entries[0].kind in VARIABLES else None


def certain(name: str, start: int, scope: Scope, rules: Grammar) -> tuple[Group, bool] | None:
    """The local variable or function that a name certainly means here, and whether a call of it runs that very function.

    Only names of functions' own scopes are certain: whatever lies outside may be changed by another file, by inheritance or
    by a macro.
    """
    at: Scope | None = scope
    for _ in range(MAX_NESTING):
        if at is None or not at.local:
            return None
        if name in at.names:
            group = at.names[name]
            if group is None:
                return None
            first = group.entries[0]
            if first.declared or (len(group.entries) > 1 and not rules.rebinds):
                return None
            if first.draft.kind == "condition":  # where it holds depends on the flow of control
                return None
            if first.kind in VARIABLES or first.kind == SymbolKind.FUNCTION:
                if first.draft.kind == "parameter":
                    return group, False
                if rules.ordered and start < first.draft.end:
                    return None
                if start < at.body_start:  # a parameter's default value does not see what the body declares
                    return None
                return group, first.kind == SymbolKind.FUNCTION and first.draft.kind in ("function", "constant")
            return None
        if at.opaque or at.kind == IMPL:
            return None
        at = at.parent
    return None
