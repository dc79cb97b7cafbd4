"""Bases that nobody could resolve, and what is derived without being a type of the index."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from indexer.languages import LANGUAGES, record_of
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.dispatch import fitting
from query.facts.documents import documents, languages
from query.facts.gaps import unnamed_types
from query.facts.gaps.names import unknown_of
from query.facts.hierarchy import types
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.type_graph import below, open_bases
from query.facts.value_uses import value_uses

_UNLISTED = """
    WITH asked AS (SELECT unnest($ids::INTEGER[]) AS id),
    near AS (SELECT DISTINCT r.doc_id FROM asked a JOIN refs r ON r.sym_id = a.id WHERE has_role(r.roles, 'supertype')),
    base AS (
        SELECT doc_id, line, col, sym_id, line * 65536 + col AS place
        FROM occ SEMI JOIN near USING (doc_id) WHERE has_role(roles, 'supertype')
    ),
    owned AS (  -- what is written in an implementation follows its head
        SELECT b.doc_id, b.place, bool_or(is_type(c.kind)) AS of_type
        FROM (SELECT doc_id, start_line * 65536 + start_col AS place, container_id FROM symbol WHERE has_flag(flags, 'implements')) m
        ASOF JOIN base b ON b.doc_id = m.doc_id AND m.place >= b.place
        LEFT JOIN symbol c ON c.sym_id = m.container_id GROUP BY ALL
    )
    SELECT b.sym_id, s.name, d.path, d.language, count(*)
    FROM asked a JOIN base b ON b.sym_id = a.id JOIN symbol s ON s.sym_id = a.id JOIN document d ON d.doc_id = b.doc_id
    LEFT JOIN owned o ON o.doc_id = b.doc_id AND o.place = b.place
    WHERE NOT coalesce(
        o.of_type OR ($of_members AND o.of_type IS NOT NULL), EXISTS (SELECT 1 FROM type_edge_rev t WHERE t.super_id = b.sym_id)
    ) GROUP BY ALL
    UNION ALL  -- the name of an interface that no place needs but a macro's
    SELECT r.sym_id, s.name, d.path, d.language, count(*)
    FROM asked a JOIN refs r ON r.sym_id = a.id JOIN symbol s ON s.sym_id = a.id JOIN document d ON d.doc_id = r.doc_id
    WHERE is_kind(s.kind, 'interface') AND has_role(r.roles, 'read') AND NOT is_evidence(r.evidence, 'string')
      AND NOT has_role(r.roles, 'supertype', 'annotation', 'import', 'definition', 'confined', 'call', 'decorator') GROUP BY ALL
    UNION ALL  -- the same in the text of a macro, where nobody resolves it
    SELECT s.sym_id, s.name, d.path, d.language, count(*)
    FROM asked a JOIN symbol s ON s.sym_id = a.id JOIN unresolved_name u ON u.name = s.name JOIN document d ON d.doc_id = u.doc_id
    JOIN document own ON own.doc_id = s.doc_id AND own.language = d.language
    WHERE is_kind(s.kind, 'interface') AND has_role(u.roles, 'read')
      AND NOT has_role(u.roles, 'supertype', 'annotation', 'import', 'confined', 'call', 'decorator') GROUP BY ALL
    ORDER BY ALL
"""


def unresolved_supertypes(index: Index, classes: Sequence[int]) -> list[Reason]:
    """Unresolved bases in the class lists of these classes."""
    wanted = set(classes)
    rows = [(name, doc_id) for class_id, name, doc_id, _ in open_bases(index) if class_id in wanted]
    return unknown_of(index, "unresolved_supertypes", "bases of", "class", rows)


def unresolved_subtypes(index: Index, names: Collection[str], *, about: str = "") -> list[Reason]:
    """Unresolved bases that have the name of one of these classes; the name of one that the running program makes says nothing."""
    rows = [(name, doc_id) for _, name, doc_id, is_made in open_bases(index) if name in names and not is_made]
    return unknown_of(index, "unresolved_subtypes", "bases named like", "class", rows, about)


def only_declared(index: Index, ids: Collection[int]) -> list[Reason]:
    """Types of which the index has declarations without a body alone (`class Shape;`): nobody says here what is above and below them."""
    rows = index.rows(
        """
        SELECT DISTINCT s.name, d.path FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        JOIN document d ON d.doc_id = s.doc_id
        WHERE language_has(d.language, 'bodies_elsewhere') AND d.status <> 'external' AND is_type(s.kind)
          AND NOT EXISTS (SELECT 1 FROM symbol m WHERE m.container_id = s.sym_id)
          AND NOT EXISTS (
            SELECT 1 FROM occ o WHERE o.sym_id = s.sym_id AND has_role(o.roles, 'definition') AND is_evidence(o.evidence, 'syntax')
        ) ORDER BY ALL
        """,
        {"ids": sorted(ids)},
    )
    if not rows:
        return []
    names = listed(sorted({name for name, _ in rows}))
    detail = f"of {names} the index has declarations only, so what it is derived from, and what is derived from it, is not known"
    return [of_paths("only_declared", detail, sorted({path for _, path in rows}))]


def unlisted_subtypes(index: Index, ids: Collection[int], members: Collection[str] | None = None) -> list[Reason]:
    """What may be derived from one of these types without being a type of the index that is below it.

    Args:
        members: only subtypes that have a member of one of these names are asked about.
    """
    placed = _derived_places(index, ids, of_members=members is not None)
    fitting_them = _fitting(index, ids) if members is None else []
    unnamed = [*unnamed_types.reasons(index, ids, members), *_class_expressions(index, ids, members)]
    return [*placed, *_on_made_bases(index, ids, members), *fitting_them, *unnamed]


_EXPRESSIONS = """
    WITH asked AS (SELECT unnest($ids::INTEGER[]) AS id), named AS (
        SELECT t.super_id, s.doc_id, count(*) AS classes FROM asked a JOIN type_edge_rev t ON t.super_id = a.id
        JOIN symbol s ON s.sym_id = t.sub_id GROUP BY ALL
    ), written AS (
        SELECT r.sym_id, r.doc_id, count(*) AS places FROM asked a JOIN refs r ON r.sym_id = a.id
        WHERE has_role(r.roles, 'supertype') GROUP BY ALL
    )
    SELECT s.name, d.path, d.language, w.places - coalesce(n.classes, 0) FROM written w JOIN symbol s ON s.sym_id = w.sym_id
    JOIN document d ON d.doc_id = w.doc_id LEFT JOIN named n ON n.super_id = w.sym_id AND n.doc_id = w.doc_id
    WHERE w.places > coalesce(n.classes, 0) AND ($members IS NULL OR EXISTS (
        SELECT 1 FROM symbol m LEFT JOIN symbol c ON c.sym_id = m.container_id
        WHERE m.doc_id = w.doc_id AND m.name IN (SELECT unnest($members::VARCHAR[])) AND is_kind(m.kind, 'method')
          AND NOT coalesce(is_type(c.kind), false)
    )) ORDER BY ALL
"""
"""More places that name a type as a base than classes below it: the others are expressions that nothing gives a name."""


def _has_class_expressions(language: str) -> bool:
    return record_of(language).satisfies == "shape"


def _class_expressions(index: Index, ids: Collection[int], members: Collection[str] | None) -> list[Reason]:
    """Classes without a name that are derived from one of these, in languages in which a class is an expression."""
    if not any(_has_class_expressions(name) for name in languages(index)):
        return []
    rows = index.rows(_EXPRESSIONS, {"ids": sorted(ids), "members": None if members is None else sorted(members)})
    rows = [row for row in rows if _has_class_expressions(row[2])]
    if not rows:
        return []
    total = sum(row[3] for row in rows)
    are = "class without a name is" if total == 1 else "classes without a name are"
    detail = f"{total} {are} derived from {listed(sorted({repr(row[0]) for row in rows}))}"
    return [of_paths("unlisted_subtypes", detail, sorted({row[1] for row in rows}), total)]


def _fitting(index: Index, ids: Collection[int]) -> list[Reason]:
    """Types that fit one of these by the names of their members and do not name it; as callees their members are rows."""
    listed_types = below(index, ids)
    found = sorted({class_id for type_id, class_id in fitting(index, ids) if class_id != type_id and class_id not in listed_types})
    if not found:
        return []
    known = types(index, found)
    at = scopes(index, found)
    docs = documents(index, {at[class_id].doc_id for class_id in found})
    names = listed([f"'{known[class_id].name}'" for class_id in found])
    detail = f"{names} {'has' if len(found) == 1 else 'have'} members of all its names, and may stand for it without naming it"
    return [of_paths("unlisted_subtypes", detail, sorted({doc.path for doc in docs.values()}), len(found))]


_MADE = """
    WITH RECURSIVE up(class_id, type_id) AS (
        SELECT class_id, class_id FROM unresolved_base WHERE is_made
        UNION SELECT up.class_id, t.super_id FROM up JOIN type_edge t ON t.sub_id = up.type_id
    )
    SELECT b.class_id, c.name, b.name, d.path, list_distinct(list(m.name)) FROM unresolved_base b JOIN symbol c ON c.sym_id = b.class_id
    JOIN document d ON d.doc_id = b.doc_id JOIN up ON up.class_id = b.class_id LEFT JOIN symbol m ON m.container_id = up.type_id
    WHERE b.is_made GROUP BY ALL ORDER BY ALL
"""
"""With the names of the members that the class has, own or from a base that is known: they may stand in for those of the other base."""

_FIND_ANY = frozenset(finder.rpartition(".")[2] for language in LANGUAGES for finder in language.type_finders)


def _on_made_bases(index: Index, ids: Collection[int], members: Collection[str] | None) -> list[Reason]:
    """Classes on a base that only the running program knows, which may be one of these, as it is used as a value somewhere."""
    made: list[tuple[int, str, str, str, list[str]]] = index.keep("made bases", lambda: index.rows(_MADE))
    possible = [row for row in made if row[0] not in ids and (members is None or not {*members}.isdisjoint(row[4]))]
    if possible and not value_uses(index, sorted(below(index, ids))):
        possible = [row for row in possible if row[2] in _FIND_ANY]
    if not possible:
        return []
    derived = listed(list(dict.fromkeys(f"'{name}' ('{base}')" for _, name, base, _, _ in possible)))
    detail = f"derived from what only the running program knows, which may be a type that was asked about: {derived}"
    return [of_paths("unlisted_subtypes", detail, sorted({row[3] for row in possible}), len(possible))]


def _derived_places(index: Index, ids: Collection[int], *, of_members: bool) -> list[Reason]:
    """Places that derive something from one of these that is no type of the index, where the text tells all that is derived.

    Args:
        of_members: not those whose members are in the index, which are known to override (`7_occurrences.sql`).
    """
    known = scopes(index, ids)
    docs = documents(index, {known[sym_id].doc_id for sym_id in ids})
    if not any(record_of(doc.language).bases_are_named for doc in docs.values()):
        return []
    rows = [row for row in index.rows(_UNLISTED, {"ids": sorted(ids), "of_members": of_members}) if record_of(row[3]).bases_are_named]
    if not rows:
        return []
    count, names = sum(row[4] for row in rows), sorted({f"'{row[1]}'" for row in rows})
    detail = (
        f"{count} place{'' if count == 1 else 's'} derive{'s' if count == 1 else ''} from {listed(names)} what is no type of the index: "
        f"any type that fits, one outside, what a macro makes"
    )
    return [of_paths("unlisted_subtypes", detail, sorted({row[2] for row in rows}), count)]


def unlisted_supertypes(index: Index, sym_id: int) -> list[Reason]:
    """Interfaces that are implemented for any type that fits, or by a macro, and so perhaps for this one."""
    row = index.row("SELECT d.language FROM symbol s JOIN document d USING (doc_id) WHERE s.sym_id = ?", [sym_id])
    if row is None or not record_of(row[0]).says_implementations:
        return []
    sql = """
        SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id)
        WHERE is_kind(s.kind, 'interface') AND d.language = ? AND NOT has_flag(s.flags, 'external') ORDER BY ALL
    """
    found: list[Reason] = index.keep(
        f"unlisted {row[0]}", lambda: unlisted_subtypes(index, [other for (other,) in index.rows(sql, [row[0]])])
    )
    return found
