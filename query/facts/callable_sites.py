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
    return _named_at(index, sites, "is_type(s.kind)")


def values_at(index: Index, sites: Collection[Site]) -> set[Site]:
    """Those of the places at which a variable, a parameter, a field or a function is named."""
    return _named_at(index, sites, "(is_value(s.kind) OR is_callable(s.kind))")


def _named_at(index: Index, sites: Collection[Site], what: str) -> set[Site]:
    rows = index.rows(
        f"""
        SELECT DISTINCT p.path, p.line, p.col
        FROM (SELECT unnest($paths::VARCHAR[]) AS path, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
        JOIN document d ON d.path = p.path JOIN occ o ON o.doc_id = d.doc_id AND o.line = p.line AND o.col = p.col
        JOIN symbol s ON s.sym_id = o.sym_id WHERE {what} ORDER BY ALL
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


class ParameterUse(NamedTuple):
    """Where a parameter of `of` is named. is_definition: in the head. 0-based."""

    of: int
    name: str
    path: str
    line: int
    col: int
    is_definition: bool


def parameter_uses(index: Index, functions: Collection[int]) -> list[ParameterUse]:
    """Where the parameters of these functions are named, in their heads and bodies."""
    rows = index.rows(
        """
        SELECT DISTINCT u.id, p.name, d.path, r.line, r.col, has_role(r.roles, 'definition')
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u
        JOIN symbol p ON p.container_id = u.id AND has_flag(p.flags, 'parameter') JOIN refs r ON r.sym_id = p.sym_id
        JOIN document d ON d.doc_id = r.doc_id ORDER BY ALL
        """,
        {"ids": sorted(functions)},
    ) if functions else []  # fmt: skip
    return [ParameterUse(*row) for row in rows]


def known_at(index: Index, sites: Collection[Site]) -> set[Site]:
    """Those of the places of which it is known what is named there."""
    rows = index.rows(
        """
        SELECT DISTINCT p.path, p.line, p.col
        FROM (SELECT unnest($paths::VARCHAR[]) AS path, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
        JOIN document d ON d.path = p.path JOIN occ o ON o.doc_id = d.doc_id AND o.line = p.line AND o.col = p.col ORDER BY ALL
        """,
        _columns(sites),
    ) if sites else []  # fmt: skip
    return set(rows)


def namesakes(index: Index, function: int) -> list[int]:
    """Functions of the same name, kind and owner in other files of the same folder: of a member, types of the same name own them."""
    rows = index.rows(
        """
        SELECT o.sym_id FROM symbol s JOIN document d USING (doc_id) LEFT JOIN symbol c ON c.sym_id = s.container_id
        JOIN symbol o ON o.name = s.name AND o.kind = s.kind AND o.doc_id <> s.doc_id
        JOIN document e ON e.doc_id = o.doc_id LEFT JOIN symbol f ON f.sym_id = o.container_id
        WHERE s.sym_id = $id AND regexp_replace(e.path, '[^/]*$', '') = regexp_replace(d.path, '[^/]*$', '')
          AND (is_kind(c.kind, 'module') AND is_kind(f.kind, 'module') OR c.name = f.name) ORDER BY ALL
        """,
        {"id": function},
    )
    return [row[0] for row in rows]


def owners_of(index: Index, functions: Collection[int]) -> list[int]:
    """The types whose members these are."""
    rows = index.rows(
        """
        SELECT DISTINCT c.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        JOIN symbol c ON c.sym_id = s.container_id WHERE is_type(c.kind) ORDER BY ALL
        """,
        {"ids": sorted(functions)},
    )
    return [row[0] for row in rows]


def maker_of(index: Index, type_id: int) -> int | None:
    """The constructor that a class has itself, where the language has a kind of symbol for it."""
    row = index.row(
        "SELECT sym_id FROM symbol WHERE container_id = $id AND is_kind(kind, 'constructor') ORDER BY sym_id LIMIT 1", {"id": type_id}
    )
    return None if row is None else row[0]


def _columns(sites: Collection[Site]) -> dict[str, list[str] | list[int]]:
    ordered = sorted(sites)
    return {"paths": [site[0] for site in ordered], "lines": [site[1] for site in ordered], "cols": [site[2] for site in ordered]}
