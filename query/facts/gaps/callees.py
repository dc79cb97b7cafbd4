"""What the texts of symbols may call beside the calls that are known: the promise of ADR 0040 for callees.

A callee is what the text itself runs: what it calls by name or as a value, constructors, accessors, the members of operators and
statements, and the members that override one of these. What a function outside of the workspace runs in turn (`sorted` compares, a set
hashes, `json.dumps` calls its `default`) is a callee of that function, which is in the list, and is not followed.

What holds for the whole index is read once and kept; of the texts in question four small tables are read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from indexer.languages import LANGUAGES, record_of
from indexer.model import Evidence, Operation, Role
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import documents, languages
from query.facts.gaps import by_values, nameless, names, strings, unsaid
from query.facts.index import Index


def reasons(index: Index, ids: Collection[int]) -> list[Reason]:
    """Why the texts of these symbols may run members of the workspace that no row tells."""
    asked = sorted(ids)
    if not asked:
        return []
    return [
        *names.unresolved_calls(index, asked),
        *_operations(index, asked),
        *_attributes(index, asked),
        *strings.of_texts(index, asked),
        *_calls(index, asked),
        *_uses_of_types(index, asked),
        *nameless.of_open_bases(index, asked),
        *unsaid.of_texts(index, asked),
        *_macros(index, asked),
        *by_values.of_texts(index, asked),
    ]


def _rows_of(index: Index, columns: str, table: str, owner: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Rows of a table that say in whose text they are, unordered; a constant reads one segment of it, a join builds a hash table."""
    if len(ids) == 1:
        return index.rows(f"SELECT {columns} FROM {table} t WHERE t.{owner} = ?", list(ids))
    sql = f"SELECT {columns} FROM (SELECT unnest($ids::INTEGER[]) AS id) k JOIN {table} t ON t.{owner} = k.id"
    return index.rows(sql, {"ids": list(ids)})


class _Place(NamedTuple):
    path: str
    family: str
    language: str


def _places(index: Index, doc_ids: Iterable[int]) -> Mapping[int, _Place]:
    known = documents(index, set(doc_ids))
    return {doc_id: _Place(one.path, record_of(one.language).family, one.language) for doc_id, one in known.items()}


# ---- what macros stand for

_MACROS = """
    WITH asked AS (SELECT unnest($ids::INTEGER[]) AS sym_id),
    run AS (
        SELECT c.callee, c.doc_id = u.doc_id AND c.line = u.sel_line AND c.col = u.sel_col AS is_body
        FROM asked k JOIN symbol u USING (sym_id) JOIN call_out c ON c.caller = u.sym_id
    )
    SELECT DISTINCT s.name, d.path, t.signature FROM symbol s JOIN document d USING (doc_id) JOIN symbol_text t USING (sym_id)
    WHERE (s.sym_id IN (FROM asked) AND s.sym_id NOT IN (SELECT callee FROM run) OR s.sym_id IN (SELECT callee FROM run WHERE is_body))
      AND language_has(d.language, 'preprocessed') AND is_callable(s.kind) AND NOT has_flag(s.flags, 'external')
      AND regexp_matches(t.signature, '^#\\s*define\\b')
    ORDER BY ALL
"""
"""Macros that are asked about and that none of the others uses, for who uses one has what it runs as callees of its own; and those that
write the body of one, which are told as its callee, where its name stands."""

_RUNS = re.compile(r"\b(?!(?:if|for|while|switch|return|sizeof|defined|__attribute__|__declspec)\b)\w+\s*\(")
_PARAMETERS = re.compile(r"#\s*define\s+\w+\([^)]*\)?")
_WHOLE_CHARS = 280
"""A signature that is longer may be cut."""


def _macros(index: Index, ids: Sequence[int]) -> list[Reason]:
    if not any(record_of(language).preprocessed for language in languages(index)):
        return []
    found = {
        name: path
        for name, path, signature in index.rows(_MACROS, {"ids": list(ids)})
        if len(signature) >= _WHOLE_CHARS or _RUNS.search(signature, match.end() if (match := _PARAMETERS.match(signature)) else 0)
    }
    if not found:
        return []
    detail = f"the text of a macro ({listed(sorted(found))}) is read where it is used only, and what it runs is told of who uses it"
    return [of_paths("not_read", detail, sorted(set(found.values())), len(found))]


# ---- operations on values of unknown type


def _operations(index: Index, ids: Sequence[int]) -> list[Reason]:
    rows = _rows_of(index, "t.operation, t.type_id, t.doc_id", "unresolved_operation", "encl_id", ids)
    places = _places(index, (doc_id for *_, doc_id in rows))
    running = _members_run(index)
    numbers: dict[Operation, int] = {}
    paths: set[str] = set()
    for number, type_id, doc_id in rows:
        operation, place = Operation(number), places[doc_id]
        if operation != Operation.CALL and (type_id is not None or (place.family, operation) in running):  # calls are told above
            numbers[operation] = numbers.get(operation, 0) + 1
            paths.add(place.path)
    if not numbers:
        return []
    most = sorted(numbers, key=lambda operation: (-numbers[operation], operation))
    count, written = sum(numbers.values()), listed(nameless.written(most), 3)
    detail = f"{count} operation{'' if count == 1 else 's'} ({written}) on values of unknown type may run members that are not shown"
    return [of_paths("nameless_calls", detail, sorted(paths), count)]


def _members_run(index: Index) -> frozenset[tuple[str, Operation]]:
    """Operations that run a member of some type of the workspace, each with the family of languages that has the member.

    An operation that the language has no members for says itself what it runs (a constructor, a template's type), and is always here, but
    for attributes: a language without members for them runs nothing where one is read.
    """
    known: frozenset[tuple[str, Operation]] = index.keep("members run", lambda: _read_members_run(index))
    return known


def _read_members_run(index: Index) -> frozenset[tuple[str, Operation]]:
    named = {
        (language.family, Operation[word.upper()]): frozenset(name for names in groups for name in names)
        for language in LANGUAGES
        for word, groups in language.operations
    }
    there: dict[str, set[str]] = {}
    for name, language in index.rows(_NAMED, {"names": sorted({name for members in named.values() for name in members})}):
        there.setdefault(record_of(language).family, set()).add(name)
    return frozenset(
        (family, operation)
        for family in {language.family for language in LANGUAGES}
        for operation in Operation
        if (
            not named[family, operation].isdisjoint(there.get(family, ()))
            if (family, operation) in named
            else operation not in nameless.OF_ATTRIBUTES
        )
    )


_NAMED = """
    SELECT DISTINCT s.name, d.language FROM symbol s JOIN document d USING (doc_id)
    WHERE s.name IN (SELECT unnest($names::VARCHAR[])) AND NOT has_flag(s.flags, 'external', 'parameter') ORDER BY ALL
"""


# ---- attributes of values of unknown type

_PROPERTIES = "SELECT DISTINCT name FROM symbol WHERE has_flag(flags, 'property') AND NOT has_flag(flags, 'external') ORDER BY name"


def _attributes(index: Index, ids: Sequence[int]) -> list[Reason]:
    """Unresolved names that may be accessors, or that a type may make up (`__getattr__`), or that a descriptor answers for."""
    rows = _rows_of(index, "t.name, t.roles, t.doc_id", "unresolved_name", "encl_id", ids)
    accessors: frozenset[str] = index.keep("properties", lambda: frozenset(name for (name,) in index.rows(_PROPERTIES)))
    running = _members_run(index)
    places = _places(index, (doc_id for *_, doc_id in rows))
    found: dict[str, int] = {}
    paths: set[str] = set()
    for name, roles, doc_id in rows:
        place = places[doc_id]
        if not roles & _ATTRIBUTE or roles & _NO_ATTRIBUTE:
            continue
        may_run = nameless.attribute_operations(index, name, roles, place.language)
        if name in accessors or any((place.family, run) in running for run in may_run):
            found[name] = found.get(name, 0) + 1
            paths.add(place.path)
    if not found:
        return []
    count, written = sum(found.values()), listed([f"'{name}'" for name in sorted(found)])
    detail = f"{count} unresolved name{' may run an accessor' if count == 1 else 's may run accessors'}: {written}"
    return [of_paths("unresolved_accessors", detail, sorted(paths), count)]


_ATTRIBUTE = Role.READ | Role.WRITE | Role.DELETE
_NO_ATTRIBUTE = Role.CALL | Role.IMPORT


# ---- calls of what runs a text, and of what is overridden here


class _Outside(NamedTuple):
    """Functions of libraries that are more than themselves: by number the name of those that run a text, and who overrides a member."""

    run_texts: Mapping[int, str]
    overridden: Mapping[int, tuple[str, frozenset[tuple[int, str]]]]


_RUN_TEXTS = """
    SELECT s.sym_id, s.name, d.language FROM symbol s JOIN document d USING (doc_id)
    WHERE s.name IN (SELECT unnest($names::VARCHAR[])) AND has_flag(s.flags, 'external') ORDER BY ALL
"""
_OVERRIDDEN = """
    SELECT b.sym_id, b.qualified_name, m.sym_id, m.qualified_name FROM override o
    JOIN symbol b ON b.sym_id = o.super_id JOIN symbol m ON m.sym_id = o.sub_id
    WHERE has_flag(b.flags, 'external') AND NOT is_kind(b.kind, 'constructor') ORDER BY ALL
"""
_STANDING_IN = """
    SELECT o.super_id, o.sub_id FROM override o JOIN symbol b ON b.sym_id = o.sub_id WHERE has_flag(b.flags, 'external') ORDER BY ALL
"""
"""Members of the workspace, and those of libraries that a type has in their place: it embeds the library's type."""


_OF_OPEN_TYPES = """
    SELECT b.sym_id, b.qualified_name, m.sym_id, m.qualified_name FROM symbol b JOIN symbol c ON c.sym_id = b.container_id
    JOIN symbol m ON m.name = b.name AND NOT has_flag(m.flags, 'external') JOIN document d ON d.doc_id = m.doc_id
    WHERE has_flag(b.flags, 'external') AND is_callable(b.kind) AND is_kind(m.kind, 'method')
      AND d.language = $language AND regexp_full_match(c.qualified_name, $types) ORDER BY ALL
"""
"""Members of types outside that any type fits which has such."""


_OF_UNKNOWN_BASES = """
    SELECT b.sym_id, b.qualified_name, m.sym_id, m.qualified_name FROM symbol m JOIN document d ON d.doc_id = m.doc_id
    JOIN symbol_text t ON t.sym_id = m.sym_id AND regexp_matches(t.signature, '\\b(override|final)\\b')
    JOIN symbol b ON b.name = m.name AND b.sym_id <> m.sym_id LEFT JOIN symbol c ON c.sym_id = b.container_id
    WHERE (has_flag(b.flags, 'external') OR is_callable(b.kind) AND NOT coalesce(is_type(c.kind), false))
      AND language_has(d.language, 'constructs_by_type') AND NOT has_flag(m.flags, 'external') AND is_kind(m.kind, 'method')
      AND m.sym_id NOT IN (SELECT sub_id FROM override) ORDER BY ALL
"""
"""A member that says that it overrides another, and overrides none that is known: one outside, or of a type that was not understood."""


def _outside(index: Index) -> _Outside:
    known: _Outside = index.keep("functions of libraries", lambda: _read_outside(index))
    return known


def _read_outside(index: Index) -> _Outside:
    running = sorted({name for language in LANGUAGES for name in language.runs_texts})
    texts = {
        sym_id: name for sym_id, name, language in index.rows(_RUN_TEXTS, {"names": running}) if name in record_of(language).runs_texts
    }
    members: dict[int, tuple[str, set[tuple[int, str]]]] = {}
    for base, name, sym_id, own in index.rows(_OVERRIDDEN):
        members.setdefault(base, (name, set()))[1].add((sym_id, own))
    for base, name, sym_id, own in index.rows(_OF_UNKNOWN_BASES):
        members.setdefault(base, (name, set()))[1].add((sym_id, own))
    for above, base in index.rows(_STANDING_IN):
        if base in members:
            members.setdefault(above, (members[base][0], set()))[1].update(members[base][1])
    for language in languages(index):
        record = record_of(language)
        if record.satisfies == "shape" and record.open_types:
            for base, name, sym_id, own in index.rows(_OF_OPEN_TYPES, {"language": language, "types": record.open_types}):
                members.setdefault(base, (name, set()))[1].add((sym_id, own))
    return _Outside(texts, {base: (name, frozenset(own)) for base, (name, own) in members.items()})


def _calls(index: Index, ids: Sequence[int]) -> list[Reason]:
    """Calls that run a text, which may call anything; and of members of libraries that types of the workspace override."""
    known = _outside(index)
    if not known.run_texts and not known.overridden:
        return []
    texts: list[tuple[str, str, int]] = []
    bases: dict[str, set[str]] = {}
    paths: list[str] = []
    rows = _rows_of(index, "t.caller, t.callee, t.doc_id, t.line, t.evidence", "call_out", "caller", ids)
    told = sorted(row for row in rows if row[1] in known.run_texts or row[1] in known.overridden)
    places = _places(index, (doc_id for _, _, doc_id, _, _ in told))
    for caller, callee, doc_id, line, evidence in told:
        if callee in known.run_texts:
            texts.append((known.run_texts[callee], places[doc_id].path, line))
        base, members = known.overridden.get(callee, ("", frozenset()))
        # A member that calls the one that it overrides calls that very one, as operators on a value of known type run its own.
        own = {name for sym_id, name in members if sym_id != caller} if evidence not in _OPERATED else set()
        if own:
            bases.setdefault(base, set()).update(own)
            paths.append(places[doc_id].path)
    found: list[Reason] = []
    if texts:
        called, at = listed(sorted({f"'{name}'" for name, _, _ in texts})), listed([f"{path}:{line + 1}" for _, path, line in texts])
        detail = f"{called} runs a text, which may call anything: {at}"
        found.append(of_paths("runs_text", detail, sorted({path for _, path, _ in texts}), len(texts)))
    if bases:
        called = listed(sorted(f"'{base}'" for base in bases))
        by = listed(sorted({f"'{name}'" for members in bases.values() for name in members}))
        detail = f"{called}, called here, is overridden by {by}, in which a call ends where the value is of that type"
        found.append(of_paths("overridden_outside", detail, sorted(set(paths)), len(paths)))
    return found


_OPERATED = (Evidence.OPERATOR, Evidence.PROTOCOL)


# ---- what is done to classes, and what types have for any attribute


class _Types(NamedTuple):
    """Types whose metaclass is of the workspace, and members of types that run one of their own for each attribute: names by number."""

    made: Mapping[int, str]
    members: Mapping[int, str]


_METACLASSES = """
    WITH RECURSIVE meta(sym_id) AS (
        SELECT sym_id FROM symbol WHERE qualified_name IN (SELECT unnest($names::VARCHAR[])) AND has_flag(flags, 'external')
        UNION SELECT t.sub_id FROM meta m JOIN type_edge_rev t ON t.super_id = m.sym_id
    ), own AS (
        SELECT sym_id FROM meta JOIN symbol s USING (sym_id) WHERE NOT has_flag(s.flags, 'external')
    ), made(sym_id) AS (
        SELECT s.sym_id FROM refs r JOIN own ON own.sym_id = r.sym_id JOIN symbol s ON s.doc_id = r.doc_id
        WHERE is_type(s.kind) AND r.encl_id = s.container_id AND r.line BETWEEN s.start_line AND s.end_line
          AND NOT has_role(r.roles, 'import')
        UNION SELECT t.sub_id FROM made m JOIN type_edge_rev t ON t.super_id = m.sym_id
    )
    SELECT sym_id, s.name FROM made JOIN symbol s USING (sym_id) ORDER BY sym_id
"""
"""Types that name a metaclass of the workspace in their head, which is of the text around them, and all types below them."""

_GETTERS = """
    WITH RECURSIVE owner(sym_id) AS (
        SELECT m.container_id FROM symbol m WHERE m.name IN (SELECT unnest($names::VARCHAR[])) AND NOT has_flag(m.flags, 'external')
        UNION SELECT t.sub_id FROM owner o JOIN type_edge_rev t ON t.super_id = o.sym_id
    )
    SELECT m.sym_id, m.name FROM owner o JOIN symbol m ON m.container_id = o.sym_id ORDER BY ALL
"""


def _types(index: Index) -> _Types:
    known: _Types = index.keep("types that run members unseen", lambda: _read_types(index))
    return known


def _read_types(index: Index) -> _Types:
    metaclasses = sorted({name for language in LANGUAGES for name in language.metaclasses})
    getters = sorted({name for language in LANGUAGES for name in language.getters})
    made = dict(index.rows(_METACLASSES, {"names": metaclasses}))
    return _Types(made, dict(index.rows(_GETTERS, {"names": getters})))


def _uses_of_types(index: Index, ids: Sequence[int]) -> list[Reason]:
    known = _types(index)
    if not known.made and not known.members:
        return []
    rows = [row for row in _rows_of(index, "t.sym_id, t.roles, t.doc_id", "occ", "encl_id", ids) if not row[1] & _NOTHING_DONE]
    places = _places(index, (doc_id for *_, doc_id in rows))
    found: list[Reason] = []
    for there, words in (
        (known.made, "what is done to {names} may run members of the metaclass, and is not told"),
        (known.members, "reading {names} runs what the type has for any attribute, and is not told"),
    ):
        told = [(there[sym_id], places[doc_id].path) for sym_id, _, doc_id in rows if sym_id in there]
        if told:
            detail = words.format(names=listed(sorted({f"'{name}'" for name, _ in told})))
            found.append(of_paths("nameless_calls", detail, sorted({path for _, path in told}), len(told)))
    return found


_NOTHING_DONE = Role.IMPORT | Role.ANNOTATION | Role.MENTION
