"""Identifiers that nobody could resolve and that may mean what was asked about (condition b)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from indexer.languages import record_of
from indexer.text import utf16_to_index
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.families import family_of, languages_of
from query.facts.gaps import environment
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.sources import Sources

_OF_OWN_OBJECT = re.compile(r"(?<![\w.$])(?:self|cls|this)\s*[?!]?\.$")

_MOST_LOOKED_AT = 2_000
"""Unresolved identifiers whose places are looked at, one by one; where there are more, all of them count."""


def unresolved_calls(index: Index, callers: Sequence[int]) -> list[Reason]:
    """Calls in the text of these symbols whose callee is unresolved."""
    if len(callers) == 1:
        rows = index.rows("SELECT name, doc_id FROM unresolved_call WHERE encl_id = ?", callers)
    else:
        sql = "SELECT u.name, u.doc_id FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN unresolved_call u ON u.encl_id = c.id"
        rows = index.rows(f"{sql} ORDER BY ALL", {"ids": list(callers)})
    return _unknown(index, "unresolved_calls", "calls in the text of", "callee", rows)


def unresolved_callers(index: Index, callers: Sequence[int], *, about: str = "") -> list[Reason]:
    """Unresolved identifiers that have the name of one of these callers, whose own callers were asked for.

    Args:
        about: path of the document that the symbols in question lie in: gaps in languages that cannot refer to it are none.
    """
    rows = index.rows(
        """
        SELECT u.name, u.doc_id FROM unresolved_name u WHERE u.name IN (
            SELECT s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN symbol s ON s.sym_id = c.id
            WHERE NOT has_flag(s.flags, 'local')
        ) ORDER BY ALL
        """,
        {"ids": list(callers)},
    )
    return _unknown(index, "unresolved_callers", "identifiers named like callers of", "meaning", rows, about)


def unresolved_supertypes(index: Index, classes: Sequence[int]) -> list[Reason]:
    """Unresolved bases in the class lists of these classes."""
    wanted = set(classes)
    rows = [(name, doc_id) for class_id, name, doc_id in _unresolved_bases(index) if class_id in wanted]
    return _unknown(index, "unresolved_supertypes", "bases of", "class", rows)


def unresolved_subtypes(index: Index, names: Collection[str], *, about: str = "") -> list[Reason]:
    """Unresolved bases that have the name of one of these classes."""
    rows = [(name, doc_id) for _, name, doc_id in _unresolved_bases(index) if name in names]
    return _unknown(index, "unresolved_subtypes", "bases named like", "class", rows, about)


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
    WHERE NOT coalesce(o.of_type, EXISTS (SELECT 1 FROM type_edge_rev t WHERE t.super_id = b.sym_id)) GROUP BY ALL
    UNION ALL  -- the name of an interface that no place needs but a macro's
    SELECT r.sym_id, s.name, d.path, d.language, count(*)
    FROM asked a JOIN refs r ON r.sym_id = a.id JOIN symbol s ON s.sym_id = a.id JOIN document d ON d.doc_id = r.doc_id
    WHERE is_kind(s.kind, 'interface') AND has_role(r.roles, 'read') AND NOT is_evidence(r.evidence, 'string')
      AND NOT has_role(r.roles, 'supertype', 'annotation', 'import', 'definition', 'confined', 'call', 'decorator') GROUP BY ALL
    ORDER BY ALL
"""


def unlisted_subtypes(index: Index, ids: Collection[int]) -> list[Reason]:
    """Places that derive something from one of these that is no type of the index, where the text tells all that is derived."""
    languages = "SELECT DISTINCT d.language FROM symbol s JOIN document d USING (doc_id) WHERE s.sym_id IN (SELECT unnest($ids::INTEGER[]))"
    if not any(record_of(language).bases_are_named for (language,) in index.rows(languages, {"ids": sorted(ids)})):
        return []
    rows = [row for row in index.rows(_UNLISTED, {"ids": sorted(ids)}) if record_of(row[3]).bases_are_named]
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


def _unresolved_bases(index: Index) -> list[tuple[int, str, int]]:
    bases: list[tuple[int, str, int]] = index.keep(
        "unresolved bases", lambda: index.rows("SELECT class_id, name, doc_id FROM unresolved_base ORDER BY ALL")
    )
    return bases


def _unknown(index: Index, code: str, what: str, missing: str, rows: Sequence[tuple[Any, ...]], about: str = "") -> list[Reason]:
    if not rows:
        return []
    documents = index.documents({doc_id for _, doc_id in rows})
    family = family_of(index, about)
    languages = languages_of(index) if family else {}
    rows = [row for row in rows if not family or languages[documents[row[1]][0]] in family]
    if not rows:
        return []
    names = list(dict.fromkeys(name for name, _ in rows))
    paths = sorted({documents[doc_id][0] for _, doc_id in rows})
    detail = f"{len(rows)} {what} what was asked about have an unknown {missing}: {listed(names)}"
    return [of_paths(code, detail, paths, len(rows))]


def _possible(index: Index, uses: Uses, found: Mapping[str, int]) -> Mapping[str, int]:
    """Without files in which the name stands alone only, where it would have to be imported and is not."""
    if (tests := _of_tests(index, uses)) and not _are_members(index, uses):
        # What is no test imports nothing of one; but an import that is unresolved may be of a test's folder.
        open_files = {path for (path,) in index.rows(_WITH_OPEN_IMPORTS, {"paths": sorted(found)})}
        found = {path: count for path, count in found.items() if path in tests or path in open_files}
    languages = languages_of(index)
    asked = [path for path in found if record_of(languages.get(path, "")).imports_names]
    if not asked or sum(found[path] for path in asked) > _MOST_LOOKED_AT:
        return found
    rows = index.rows(
        """
        SELECT d.path, u.line, u.col,
               has_role(u.roles, 'import', 'star', 'mention') OR has_role(u.roles, 'keyword') AND has_role(u.roles, 'read')
        FROM document d JOIN unresolved_name u USING (doc_id)
        WHERE d.path IN (SELECT unnest($paths::VARCHAR[]))
          AND (u.name IN (SELECT unnest($names::VARCHAR[])) OR has_role(u.roles, 'star'))
        """,
        {"paths": asked, "names": sorted(uses.scope.own_names)},
    )
    sources = Sources(index)
    is_member = _are_members(index, uses)
    possible = {
        path for path, line, col, is_certain in rows if is_certain or not _is_another(sources.lines(path), line, col, is_member=is_member)
    }
    return {path: count for path, count in found.items() if path in possible or path not in asked}


_WITH_OPEN_IMPORTS = """
    SELECT DISTINCT d.path FROM unresolved_import i JOIN document d USING (doc_id) WHERE d.path IN (SELECT unnest($paths::VARCHAR[]))
"""


def _are_members(index: Index, uses: Uses) -> bool:
    """Whether one of them is a member of a type, or of what may be one."""
    sql = """
        SELECT count(*) FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        LEFT JOIN symbol c ON c.sym_id = s.container_id WHERE NOT coalesce(is_kind(c.kind, 'module'), true)
    """
    row = index.row(sql, {"ids": uses.ids})
    return row is None or row[0] > 0


def _of_tests(index: Index, uses: Uses) -> frozenset[str]:
    """All documents of tests, if what was asked about is defined in such; else none."""
    tests: frozenset[str] = index.keep(
        "tests", lambda: frozenset(path for (path,) in index.rows("SELECT path FROM document WHERE is_test"))
    )
    return tests if all(symbol.record.path in tests for symbol in uses.symbols) else frozenset()


def _is_another(lines: Sequence[bytes] | None, line: int, col: int, *, is_member: bool) -> bool:
    """Whether an identifier is certain to mean something else: it is no member of what stands before it, or one of the object around.

    Args:
        lines: None where they are no longer what was read.
        is_member: whether what was asked about may be a member of an object.
    """
    if lines is None or line >= len(lines):
        return False
    text = lines[line].decode("utf-8", "replace")
    before = text[: utf16_to_index(text, col)].rstrip() or (lines[line - 1].decode("utf-8", "replace").rstrip() if line else "")
    if not is_member and _OF_OWN_OBJECT.search(before):
        return True
    return not before.endswith((".", "\\"))


def unresolved(index: Index, uses: Uses, told: Collection[str], typed: Callable[[], str] | None) -> list[Reason]:
    """Identifiers with a name of what was asked about that nobody could resolve.

    Args:
        told: files of which other reasons say already why. typed: makes a text that means the symbol where it is typed.
    """
    if all(symbol.is_local for symbol in uses.symbols):
        return []
    found = _possible(index, uses, {path: count for path, count in uses.scope.unresolved_in().items() if path not in told})
    if not found:
        return []
    count, quoted = sum(found.values()), [f"'{name}'" for name in sorted(uses.scope.own_names)]
    if len(uses.symbols) == 1:
        detail = f"{count} identifiers named {listed(quoted)} could not be resolved and may belong here"
    else:
        detail = f"{count} identifiers could not be resolved and have a name of what was asked about"
    detail += environment.hint(index, found)
    if typed is not None:
        detail += f"; list: lspidx query references {shlex.quote(typed())} --possible"
    return [of_paths("unresolved_same_name", detail, sorted(found), count)]
