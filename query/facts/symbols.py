"""Symbols as every tool prints them, read from the index by its own ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from indexer.errors import UsageError
from indexer.model import SymbolFlag, SymbolKind
from query.answers.envelope import SymbolRecord
from query.facts.index import Index

TYPES = ("class", "interface", "enum", "struct")
_FEW = 6
_MOST_KEPT = 5_000

OF_DOCUMENT = "s.kind = symbol_kind('module') AND s.container = ''"
"""The module that a document is, which other modules may stand in."""

CARD = """
    s.sym_id, s.moniker, s.name, s.qualified_name, s.kind, s.path, s.sel_line, s.sel_col, s.end_line, s.signature, s.container, s.flags,
    s.is_test
"""
"""Columns of symbol_card, as `to_symbol` takes them."""

_EXTERNAL, _LOCAL, _EXPORTED = int(SymbolFlag.EXTERNAL), int(SymbolFlag.LOCAL), int(SymbolFlag.EXPORTED)


class Symbol(NamedTuple):
    """A resolved symbol: the index's own id and what is printed of it."""

    sym_id: int
    record: SymbolRecord
    is_local: bool


def to_symbol(row: tuple[Any, ...]) -> Symbol:
    """From a row of CARD."""
    sym_id, moniker, name, qualified, kind, path, line, col, end_line, signature, container, flags, is_test = row
    external = bool(flags & _EXTERNAL)
    record = SymbolRecord(
        symbol=moniker,
        name=name,
        qualified_name=qualified,
        kind=SymbolKind(kind).label,
        path=path,
        line=0 if external else line + 1,
        col=0 if external else col + 1,
        end_line=0 if external else end_line + 1,
        signature=signature,
        container=container,
        external=external,
        exported=bool(flags & _EXPORTED),
        is_test=bool(is_test),
    )
    return Symbol(sym_id, record, bool(flags & _LOCAL))


def symbols_by_id(index: Index, ids: list[int]) -> dict[int, Symbol]:
    """Records of many symbols in one statement, in the order of their numbers; what was read before is kept."""
    known: dict[int, Symbol] = index.keep("cards", dict)
    asked = sorted(set(ids))
    found = {sym_id: known[sym_id] for sym_id in asked if sym_id in known}
    missing = [sym_id for sym_id in asked if sym_id not in found]
    if not missing:
        return found
    read = {row[0]: to_symbol(row) for row in _cards(index, missing)}
    if len(known) + len(read) > _MOST_KEPT:
        known = index.kept["cards"] = {}
    if len(read) <= _MOST_KEPT:
        known.update(read)
    return {sym_id: symbol for sym_id in asked if (symbol := found.get(sym_id) or read.get(sym_id))}


def _cards(index: Index, ids: list[int]) -> list[tuple[Any, ...]]:
    if len(ids) == 1:  # a constant reads one segment, a join builds a hash table first
        return index.rows(f"SELECT {CARD} FROM symbol_card s WHERE s.sym_id = ?", ids)
    if len(ids) <= _FEW:  # compared with a few constants, segments are passed over
        return index.rows(f"SELECT {CARD} FROM symbol_card s WHERE s.sym_id IN ({', '.join('?' * len(ids))})", ids)
    return index.rows(f"SELECT {CARD} FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol_card s ON s.sym_id = u.id", {"ids": ids})


def ids_of_monikers(index: Index, monikers: Collection[str]) -> dict[str, int]:
    """By moniker the index's own id; without those that it does not have.

    Keys first: a join on the monikers themselves would read all of them.
    """
    keys = "SELECT moniker_key(unnest($monikers::VARCHAR[])) AS key"
    asked = sorted(set(monikers))
    ids = index.rows(f"SELECT k.sym_id FROM ({keys}) u JOIN symbol_key k USING (key)", {"monikers": asked}) if asked else []
    rows = index.rows(
        "SELECT s.moniker, s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id",
        {"ids": [row[0] for row in ids]},
    ) if ids else []  # fmt: skip
    known = dict(rows)
    return {moniker: known[moniker] for moniker in asked if moniker in known}


def outside(index: Index, ids: Collection[int]) -> set[int]:
    """Those of the symbols that lie outside the workspace: they come after all others in the order of ids."""
    first = index.keep("first external", lambda: index.row("SELECT min(sym_id) FROM symbol WHERE has_flag(flags, 'external')"))
    return {sym_id for sym_id in ids if first is not None and first[0] is not None and sym_id >= first[0]}


_OTHER_KINDS = {"import": "module", "trait": "interface", "type": "class", "attribute": "field", "enumerator": "enum member"}
"""Words that others use for kinds that have another name here."""


def kind_numbers(kinds: Sequence[str]) -> list[int]:
    """The numbers of kinds, by name, in words or as protocols write it (`enum member`, `enum_member`, `EnumMember`), or by LSP's number.

    Raises:
        UsageError: no kind is called so.
    """
    return [_kind_number(kind) for kind in kinds]


def _kind_number(name: str) -> int:
    known = {kind.label: kind for kind in SymbolKind}
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.strip()).lower().replace("_", " ")
    plain = _OTHER_KINDS.get(plain, plain)
    if plain.isdigit() and int(plain) in known.values():
        return int(plain)
    if plain not in known:
        raise UsageError(f"no kind is called '{name}'; known: {', '.join(known)}")
    return int(known[plain])
