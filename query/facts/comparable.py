"""What an index says in words that another index of the same workspace understands: by moniker, since numbers differ between the two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from indexer.model import SymbolFlag
from query.facts.index import Index

Relation = Literal["call", "reference", "supertype"]


class Declared(NamedTuple):
    """A symbol that both indexes may have; `line` 0-based, `label` the kind in words. `sym_id` is this index's own number."""

    sym_id: int
    moniker: str
    name: str
    kind: int
    label: str
    path: str
    line: int
    flags: int
    signature: str
    documentation: str
    is_test: bool

    @property
    def is_public(self) -> bool:
        """Exported, and not from a test."""
        return bool(self.flags & SymbolFlag.EXPORTED) and not self.is_test


_DECLARED = """
    SELECT s.sym_id, s.moniker, s.name, s.kind, k.label, d.path, s.sel_line, s.flags, coalesce(t.signature, ''),
           coalesce(t.documentation, ''), d.is_test
    FROM symbol s JOIN document d USING (doc_id) JOIN kind k ON k.kind = s.kind LEFT JOIN symbol_text t USING (sym_id)
    WHERE d.status <> 'external' AND NOT has_flag(s.flags, 'local', 'parameter') AND s.container_id IS NOT NULL
      AND starts_with(d.path, $path)
    ORDER BY s.sym_id
"""
_BODIES = """
    SELECT o.encl_id, md5(string_agg(o.name || ':' || o.roles, ' ' ORDER BY o.line, o.col, o.name))
    FROM occ o JOIN document d USING (doc_id) WHERE d.status <> 'external' AND o.encl_id IS NOT NULL AND starts_with(d.path, $path)
    GROUP BY 1
"""
_EDGES: Mapping[Relation, str] = {
    "call": """
        SELECT DISTINCT c.caller, b.moniker FROM call_in c JOIN symbol b ON b.sym_id = c.callee
        JOIN document d ON d.doc_id = c.doc_id WHERE starts_with(d.path, $path)
    """,
    "reference": """
        SELECT DISTINCT r.encl_id, b.moniker FROM refs r JOIN symbol b ON b.sym_id = r.sym_id JOIN document d ON d.doc_id = r.doc_id
        WHERE r.encl_id IS NOT NULL AND NOT has_role(r.roles, 'definition', 'call') AND NOT has_flag(b.flags, 'local', 'parameter')
          AND starts_with(d.path, $path)
    """,
    "supertype": """
        SELECT DISTINCT t.sub_id, b.moniker FROM type_edge t JOIN symbol a ON a.sym_id = t.sub_id JOIN symbol b ON b.sym_id = t.super_id
        JOIN document d ON d.doc_id = a.doc_id WHERE starts_with(d.path, $path)
    """,
}
_LOCAL = "local "
"""Beginning of monikers that mean something in one index only."""


def declared(index: Index, path: str) -> dict[str, Declared]:
    """By moniker the symbols of the documents whose path begins so: no locals, no parameters, no modules of documents."""
    return {row[1]: Declared(*row) for row in index.rows(_DECLARED, {"path": path})}


def bodies(index: Index, path: str) -> dict[int, str]:
    """By symbol a digest of what it does: names and what they do, in order, without places. Two indexes agree where the code does."""
    return dict(index.rows(_BODIES, {"path": path}))


def caller_counts(index: Index) -> dict[str, int]:
    """By moniker how many others call a symbol, where any does."""
    return dict(
        index.rows(
            """
            SELECT b.moniker, count(DISTINCT c.caller) FROM call_in c JOIN symbol b ON b.sym_id = c.callee
            WHERE c.caller <> c.callee GROUP BY 1
            """
        )
    )


def recursive(index: Index) -> set[str]:
    """Monikers of what calls itself."""
    sql = "SELECT DISTINCT b.moniker FROM call_in c JOIN symbol b ON b.sym_id = c.callee WHERE c.caller = c.callee"
    return {row[0] for row in index.rows(sql)}


def edges(index: Index, relation: Relation, path: str, names: Mapping[int, str]) -> set[tuple[str, str]]:
    """(moniker, moniker of what it calls, names or inherits from), of the documents whose path begins so.

    Args:
        names: as `lasting_names` gives them.
    """
    rows = index.rows(_EDGES[relation], {"path": path})
    return {(names[source], target) for source, target in rows if source in names and not target.startswith(_LOCAL)}


def lasting_names(index: Index) -> dict[int, str]:
    """By symbol, the moniker of itself or of what it lies in: what is local to a function has none that two indexes agree on."""
    rows = index.rows("SELECT sym_id, container_id, has_flag(flags, 'local', 'parameter'), moniker FROM symbol")
    inner = {sym_id: container for sym_id, container, is_local, _ in rows if is_local}
    names = {sym_id: moniker for sym_id, _, is_local, moniker in rows if not is_local}
    for sym_id in inner:
        step: int | None = sym_id
        while step is not None and step in inner:
            step = inner[step]
        if step is not None and step in names:
            names[sym_id] = names[step]
    return names
