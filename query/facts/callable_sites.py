"""Where functions are named or called, with all that is needed to tell whether a change of their parameters concerns the place."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from query.facts.index import Index
from query.facts.occurrences import Site


class Named(NamedTuple):
    """A place that names `of`, its definitions too. `roles` and `evidence` as numbers; language: of the document."""

    of: int
    path: str
    line: int
    col: int
    roles: int
    evidence: int
    language: str


def named(index: Index, ids: Collection[int]) -> list[Named]:
    """By symbol and place."""
    rows = index.rows(
        """
        SELECT DISTINCT r.sym_id, d.path, r.line, r.col, r.roles, r.evidence, d.language
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id JOIN document d USING (doc_id)
        WHERE d.status <> 'external' ORDER BY ALL
        """,
        {"ids": sorted(ids)},
    ) if ids else []  # fmt: skip
    return [Named(*row) for row in rows]


def unresolved(index: Index, name: str, language: str) -> list[Site]:
    """Identifiers of a name whose meaning is unknown."""
    rows = index.rows(
        """
        SELECT DISTINCT d.path, u.line, u.col FROM unresolved_name u JOIN document d USING (doc_id)
        WHERE u.name = $name AND d.language = $language AND NOT has_role(u.roles, 'import', 'mention') ORDER BY ALL
        """,
        {"name": name, "language": language},
    )
    return list(rows)


def callees_at(index: Index, sites: Collection[Site]) -> dict[Site, dict[int, set[int]]]:
    """By place all that is called there, as far as it is known, each with the evidence for it as numbers."""
    rows = index.rows(
        """
        SELECT p.path, p.line, p.col, c.callee, c.evidence
        FROM (SELECT unnest($paths::VARCHAR[]) AS path, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
        JOIN document d ON d.path = p.path JOIN call_in c ON c.doc_id = d.doc_id AND c.line = p.line AND c.col = p.col ORDER BY ALL
        """,
        _columns(sites),
    ) if sites else []  # fmt: skip
    found: dict[Site, dict[int, set[int]]] = {}
    for path, line, col, callee, evidence in rows:
        found.setdefault((path, line, col), {}).setdefault(callee, set()).add(evidence)
    return found


def types_at(index: Index, sites: Collection[Site]) -> set[Site]:
    """Those of the places at which a class is named."""
    rows = index.rows(
        """
        SELECT DISTINCT p.path, p.line, p.col
        FROM (SELECT unnest($paths::VARCHAR[]) AS path, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
        JOIN document d ON d.path = p.path JOIN occ o ON o.doc_id = d.doc_id AND o.line = p.line AND o.col = p.col
        JOIN symbol s ON s.sym_id = o.sym_id WHERE is_type(s.kind) ORDER BY ALL
        """,
        _columns(sites),
    ) if sites else []  # fmt: skip
    return set(rows)


def constructor_of(index: Index, type_id: int) -> int | None:
    """The member of a class itself that its objects are made by."""
    row = index.row(
        "SELECT sym_id FROM symbol WHERE container_id = $id AND name = '__init__' AND is_callable(kind) ORDER BY sym_id LIMIT 1",
        {"id": type_id},
    )
    return None if row is None else row[0]


def keywords_of(index: Index, functions: Collection[int], names: Collection[str]) -> list[Site]:
    """Where parameters of these functions are passed by their names."""
    rows = index.rows(
        """
        SELECT DISTINCT d.path, r.line, r.col FROM (SELECT unnest($ids::INTEGER[]) AS id) u
        JOIN symbol p ON p.container_id = u.id AND has_flag(p.flags, 'parameter') JOIN refs r ON r.sym_id = p.sym_id
        JOIN document d ON d.doc_id = r.doc_id
        WHERE p.name IN (SELECT unnest($names::VARCHAR[])) AND has_role(r.roles, 'keyword') ORDER BY ALL
        """,
        {"ids": sorted(functions), "names": sorted(names)},
    ) if functions and names else []  # fmt: skip
    return list(rows)


def _columns(sites: Collection[Site]) -> dict[str, list[str] | list[int]]:
    ordered = sorted(sites)
    return {"paths": [site[0] for site in ordered], "lines": [site[1] for site in ordered], "cols": [site[2] for site in ordered]}
