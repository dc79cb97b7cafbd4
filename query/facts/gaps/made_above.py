"""Constructors that a type above runs: it makes one more value of the type that a value has (`new static`), whatever type that is.

The server tells the constructor of the type in whose text that stands, and of none below.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from indexer.languages import record_of
from indexer.model import SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.documents import held_now
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.type_graph import above

_FILES = """
    SELECT DISTINCT d.path FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN document d USING (doc_id)
    WHERE d.status <> 'external' ORDER BY ALL
"""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each constructor."""
    if uses.question != "callers":
        return []
    found: list[Reason] = []
    for symbol in uses.symbols:
        if asked := [path for path in _making(index, symbol) if uses.scope.is_asked(path)]:
            detail = f"a type above makes one more value of the type of a value there, which may run '{symbol.record.name}'; look there"
            found.append(of_paths("nameless_calls", detail, asked, len(asked)))
    return found


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols that a type above may run so."""
    if not any(record_of(language).makes_own_type for language in set(languages_of(index).values())):
        return set()
    return {sym_id for sym_id, symbol in symbols_by_id(index, sorted(ids)).items() if next(_making(index, symbol), None) is not None}


def _making(index: Index, symbol: Symbol) -> Iterator[str]:
    """Files with such a place."""
    pattern = record_of(languages_of(index).get(symbol.record.path, "")).makes_own_type
    if not pattern or symbol.record.kind != SymbolKind.CONSTRUCTOR.label or symbol.record.external:
        return
    holder = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    types = sorted(above(index, [holder]) - {holder}) if holder is not None else []
    for (path,) in index.rows(_FILES, {"ids": types}) if types else ():
        if re.search(pattern, (held_now(index, path) or b"").decode("utf-8", "replace")):
            yield path
