"""Numbers of SCIP's enums, and which of them stands for what of ours."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, IntFlag

from indexer.languages import record_of
from indexer.model import Role, SymbolFlag, SymbolKind

TEXT_IS_UTF8 = 1
"""Of the index: how files are written on the disk."""


class Columns(IntEnum):
    """What the columns of a document count."""

    UNSAID = 0
    UTF8 = 1
    UTF16 = 2
    UTF32 = 3


class ScipRole(IntFlag):
    DEFINITION = 1
    IMPORT = 2
    WRITE = 4
    READ = 8
    GENERATED = 16
    TEST = 32
    FORWARD_DEFINITION = 64


_ROLES = (
    (Role.DEFINITION, ScipRole.DEFINITION),
    (Role.IMPORT, ScipRole.IMPORT),
    (Role.WRITE | Role.DELETE, ScipRole.WRITE),
    (Role.READ | Role.CALL, ScipRole.READ),
)

_ABSTRACT_METHOD, _STATIC_METHOD, _PARAMETER = 66, 80, 37
_KINDS: Mapping[SymbolKind, int] = {
    SymbolKind.FILE: 16,
    SymbolKind.MODULE: 29,
    SymbolKind.NAMESPACE: 30,
    SymbolKind.PACKAGE: 35,
    SymbolKind.CLASS: 7,
    SymbolKind.METHOD: 26,
    SymbolKind.PROPERTY: 41,
    SymbolKind.FIELD: 15,
    SymbolKind.CONSTRUCTOR: 9,
    SymbolKind.ENUM: 11,
    SymbolKind.INTERFACE: 21,
    SymbolKind.FUNCTION: 17,
    SymbolKind.VARIABLE: 61,
    SymbolKind.CONSTANT: 8,
    SymbolKind.STRING: 48,
    SymbolKind.NUMBER: 32,
    SymbolKind.BOOLEAN: 6,
    SymbolKind.ARRAY: 1,
    SymbolKind.OBJECT: 33,
    SymbolKind.KEY: 22,
    SymbolKind.NULL: 31,
    SymbolKind.ENUM_MEMBER: 12,
    SymbolKind.STRUCT: 49,
    SymbolKind.EVENT: 13,
    SymbolKind.OPERATOR: 34,
    SymbolKind.TYPE_PARAMETER: 58,
}


def roles_of(roles: int, *, is_test: bool) -> int:
    """SCIP's roles of an occurrence with our `roles` (`indexer.model.Role`)."""
    found = ScipRole.TEST if is_test else ScipRole(0)
    for ours, theirs in _ROLES:
        if roles & ours:
            found |= theirs
    return int(found)


def kind_of(kind: int, flags: int) -> int:
    """SCIP's kind of a symbol with our `kind` and `flags` (`indexer.model.SymbolKind`, `SymbolFlag`)."""
    if flags & SymbolFlag.PARAMETER:
        return _PARAMETER
    if kind == SymbolKind.METHOD and flags & SymbolFlag.ABSTRACT:
        return _ABSTRACT_METHOD
    if kind == SymbolKind.METHOD and flags & SymbolFlag.STATIC:
        return _STATIC_METHOD
    return _KINDS[SymbolKind(kind)]


def language_name(language: str) -> str:
    """What SCIP calls a language."""
    return record_of(language).scip or language.capitalize()
