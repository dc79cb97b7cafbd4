"""Identifiers that could not be resolved and that are named like a symbol: they may be uses of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from query.facts.documents import documents
from query.facts.families import family_of
from query.facts.index import Index


class OpenName(NamedTuple):
    """An identifier that nobody could resolve, 0-based. `roles`: a set of `Role`."""

    doc_id: int
    line: int
    col: int
    roles: int


_FEW = 12
"""So many constants are compared with in less time than a join takes to begin."""

_READ = "SELECT u.doc_id, u.line, u.col, u.roles FROM unresolved_name u"


def named(index: Index, names: Collection[str]) -> list[OpenName]:
    """Unresolved identifiers with one of these names, in no order."""
    if not names:
        return []
    if len(names) <= _FEW:
        rows = index.rows(f"{_READ} WHERE u.name IN ({', '.join('?' * len(names))})", sorted(names))
    else:
        rows = index.rows(f"{_READ} JOIN (SELECT unnest($names::VARCHAR[]) AS name) n USING (name)", {"names": sorted(names)})
    return list(map(OpenName._make, rows))


def stars(index: Index) -> list[OpenName]:
    """Unresolved imports of whatever there is; read once per index."""
    known: list[OpenName] = index.keep(
        "unresolved stars", lambda: list(map(OpenName._make, index.rows(f"{_READ} WHERE has_role(u.roles, 'star')")))
    )
    return known


def unresolved_names(index: Index, symbols: Collection[tuple[int, int, str]]) -> dict[int, int]:
    """How many identifiers that nobody could resolve have a name of each of these (symbol, document, name), where there are any.

    Only identifiers in languages that can refer to the symbol's count.
    """
    if not symbols:
        return {}
    rows = index.rows(
        """
        SELECT u.name, d.language, count(*) FROM (SELECT DISTINCT unnest($names::VARCHAR[]) AS name) n JOIN unresolved_name u USING (name)
        JOIN document d USING (doc_id) GROUP BY ALL
        """,
        {"names": sorted({name for _, _, name in symbols})},
    )
    by_name: dict[str, dict[str, int]] = {}
    for name, language, number in rows:
        by_name.setdefault(name, {})[language] = number
    docs = documents(index, {doc_id for _, doc_id, _ in symbols})
    found: dict[int, int] = {}
    for sym_id, doc_id, name in symbols:
        if name in by_name:
            family = family_of(index, docs[doc_id].path)
            number = sum(count for language, count in by_name[name].items() if not family or language in family)
            if number:
                found[sym_id] = found.get(sym_id, 0) + number
    return found


def mentions_near_macros(index: Index, ids: Collection[int]) -> list[tuple[int, int]]:
    """(symbol, what is around an unresolved identifier of its name in a language with macros); no modules, no attributes.

    In Rust, without the sources of the standard library, and of other people's macros always, what is given to a macro is unresolved, and
    tests are mostly that: `assert_eq!(area(2), 4)`. So the name has to do.
    """
    return index.rows(
        """
        WITH asked AS (
            SELECT s.sym_id, s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
            WHERE s.kind <> symbol_kind('module')
        )
        SELECT DISTINCT a.sym_id, n.encl_id FROM asked a JOIN unresolved_name n ON n.name = a.name
        JOIN document d ON d.doc_id = n.doc_id AND language_has(d.language, 'has_macros')
        WHERE n.encl_id IS NOT NULL AND n.encl_id <> a.sym_id AND NOT has_role(n.roles, 'decorator') ORDER BY ALL
        """,
        {"ids": sorted(ids)},
    ) if ids else []  # fmt: skip
