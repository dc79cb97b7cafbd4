"""Members of objects that are written out, and of types without a name, which may be the member that was asked about.

In a language where a type fits by its shape, `{ onClose: () => … }` may be given for whatever asks for `onClose`, and
`(x: { close(): void })`, in Go `x.(interface{ Close() })`, takes whatever has a `close`. Servers tell such a member from those of all
other types, so neither is an edge.
"""

from __future__ import annotations

from collections.abc import Collection

from indexer.languages import record_of
from indexer.model import TYPE_KINDS, SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.answers.style import count
from query.facts.documents import languages
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import Scopes, scopes

CODE = "shapes"

_FITS = """
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN document own ON own.doc_id = s.doc_id
    JOIN symbol o ON o.sym_id = s.container_id AND is_type(o.kind)
    JOIN symbol m ON m.name = s.name AND m.sym_id <> s.sym_id
    JOIN document d ON d.doc_id = m.doc_id
    LEFT JOIN symbol c ON c.sym_id = m.container_id
    WHERE own.language IN (SELECT unnest($languages::VARCHAR[])) AND d.language IN (SELECT unnest($languages::VARCHAR[]))
      AND (is_kind(m.kind, 'method', 'property', 'field') OR is_kind(m.kind, 'variable') AND EXISTS (
          SELECT 1 FROM occ r JOIN symbol v ON v.sym_id = r.sym_id
          WHERE r.doc_id = m.doc_id AND r.line = m.sel_line AND r.col = m.sel_col AND r.sym_id <> m.sym_id AND has_role(r.roles, 'read')
            AND NOT is_kind(v.kind, 'method', 'property', 'field')
      ))
      AND NOT has_flag(m.flags, 'external') AND NOT coalesce(is_type(c.kind), false)
"""
"""What `{ size }` makes of a variable is a variable to a server, of which it tells both there."""

_OTHERS = f"SELECT s.name, d.path, count(*) {_FITS} GROUP BY ALL ORDER BY ALL"
_FITTING = f"SELECT DISTINCT s.sym_id {_FITS} ORDER BY ALL"

_READS = """
    SELECT s.name, d.path, count(*)
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN document own ON own.doc_id = s.doc_id
    LEFT JOIN symbol c ON c.sym_id = s.container_id
    JOIN occ o ON o.name = s.name AND o.sym_id IS DISTINCT FROM s.sym_id
    JOIN document d ON d.doc_id = o.doc_id
    LEFT JOIN symbol m ON m.sym_id = o.sym_id
    WHERE own.language IN (SELECT unnest($languages::VARCHAR[])) AND d.language IN (SELECT unnest($languages::VARCHAR[]))
      AND is_kind(s.kind, 'method', 'property', 'field') AND NOT coalesce(is_type(c.kind), false)
      AND has_role(o.roles, 'read', 'call') AND NOT has_role(o.roles, 'definition')
      AND (m.sym_id IS NULL OR is_kind(m.kind, 'method', 'property', 'field'))
    GROUP BY ALL ORDER BY ALL
"""


_MEMBERS = frozenset({SymbolKind.METHOD, SymbolKind.PROPERTY, SymbolKind.FIELD})


def _is_of_type(known: Scopes, sym_id: int) -> bool:
    container = known[sym_id].container
    return container is not None and known[container].kind in TYPE_KINDS


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One reason for all of the symbols that are members of types, and one for those that are members of objects."""
    return [*_of_types(index, uses), *_of_objects(index, uses)]


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols that whoever asks for a member of a type without a name may mean: `x.(interface{ close() })`."""
    shaped = [name for name in languages(index) if record_of(name).satisfies in ("shape", "unsaid")]
    return {sym_id for (sym_id,) in index.rows(_FITTING, {"ids": sorted(ids), "languages": shaped})} if shaped and ids else set()


def _of_objects(index: Index, uses: Uses) -> list[Reason]:
    """The other way round: who is given the object reads its members by the names that a type, or nobody, has said."""
    shaped = [name for name in languages(index) if record_of(name).satisfies == "shape"]
    if not shaped:
        return []
    known = scopes(index, uses.ids)
    ids = [sym_id for sym_id in uses.ids if known[sym_id].kind in _MEMBERS and not _is_of_type(known, sym_id)]
    rows = index.rows(_READS, {"ids": ids, "languages": shaped}) if ids else []  # wherever: the object is handed over, its name is not
    if not rows:
        return []
    names, total = sorted({f"'{name}'" for name, _, _ in rows}), sum(number for *_, number in rows)
    detail = (
        f"{count(total, 'place')} {'reads' if total == 1 else 'read'} {listed(names)} of another object, or of one of unknown type, "
        "which may be this one where it is handed over: shapes are not compared"
    )
    return [of_paths(CODE, detail, sorted({path for _, path, _ in rows}), total)]


def _of_types(index: Index, uses: Uses) -> list[Reason]:
    shaped = [name for name in languages(index) if record_of(name).satisfies in ("shape", "unsaid")]
    if not shaped:
        return []
    known = scopes(index, uses.ids)
    ids = [sym_id for sym_id in uses.ids if _is_of_type(known, sym_id)]
    rows = [row for row in index.rows(_OTHERS, {"ids": ids, "languages": shaped}) if uses.could_refer(row[1])] if ids else []
    if not rows:
        return []
    names, total = sorted({f"'{name}'" for name, _, _ in rows}), sum(number for *_, number in rows)
    detail = (
        f"{count(total, 'member')} of objects that are written out, or of types without a name, {'is' if total == 1 else 'are'} called "
        f"{listed(names)}, and may be meant where {'it is' if len(names) == 1 else 'they are'} asked for: shapes are not compared"
    )
    return [of_paths(CODE, detail, sorted({path for _, path, _ in rows}), total)]
