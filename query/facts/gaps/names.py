"""Identifiers that nobody could resolve and that may mean what was asked about (condition b)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from indexer.languages import record_of
from indexer.model import TYPE_KINDS, Role, SymbolKind
from indexer.text import utf16_to_index
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.components import without_imports
from query.facts.dispatch import OF_OWN_OBJECT
from query.facts.families import family_of, languages_of
from query.facts.gaps import environment, queried_fields
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.kept_types import kept_types
from query.facts.scopes import scopes
from query.facts.sources import Sources
from query.facts.type_graph import above, open_bases
from query.facts.unresolved_names import named, stars

_MOST_LOOKED_AT = 2_000
"""Unresolved identifiers whose places are looked at, one by one; where there are more, all of them count."""


def unresolved_calls(index: Index, callers: Sequence[int]) -> list[Reason]:
    """Calls in the text of these symbols whose callee is unresolved, or is whatever function a value is."""
    if len(callers) == 1:
        rows = index.rows("SELECT name, doc_id FROM unresolved_call WHERE encl_id = ?", callers)
    else:
        sql = "SELECT u.name, u.doc_id FROM (SELECT unnest($ids::INTEGER[]) AS id) c JOIN unresolved_call u ON u.encl_id = c.id"
        rows = index.rows(f"{sql} ORDER BY ALL", {"ids": list(callers)})
    return unknown_of(index, "unresolved_calls", "calls in the text of", "callee", rows) + _of_values(index, callers)


def _of_values(index: Index, callers: Sequence[int]) -> list[Reason]:
    if len(callers) == 1:
        open_calls = index.rows("SELECT name, doc_id, line FROM open_call WHERE encl_id = ?", callers)
    else:
        sql = "SELECT c.name, c.doc_id, c.line FROM (SELECT unnest($ids::INTEGER[]) AS id) k JOIN open_call c ON c.encl_id = k.id"
        open_calls = index.rows(sql, {"ids": list(callers)})
    paths = index.documents({doc_id for _, doc_id, _ in open_calls})
    rows: list[tuple[str, str, int]] = [(name, paths[doc_id][0], line) for name, doc_id, line in open_calls]
    if not rows:
        return []
    names = sorted({name for name, _, _ in rows if name})
    givers = [f"what a variable holds ({listed(names)})"] if names else []
    if any(not name for name, _, _ in rows):
        givers.append("what an expression gives")
    places = listed([f"{path}:{line + 1}" for path, line in sorted({(path, line) for _, path, line in rows})])
    detail = f"{' and '.join(givers)} is called, at {places}: of the functions that may be, those are listed to which values were followed"
    return [of_paths("called_values", detail, sorted({path for _, path, _ in rows}), len(rows))]


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
    return unknown_of(index, "unresolved_callers", "identifiers named like callers of", "meaning", rows, about)


def unknown_of(index: Index, code: str, what: str, missing: str, rows: Sequence[tuple[Any, ...]], about: str = "") -> list[Reason]:
    """One reason for all rows of a name and a document; none where no file of them can refer to what lies in `about`."""
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
    is_member = _are_members(index, uses)
    if (tests := _of_tests(index, uses)) and not is_member:
        # What is no test imports nothing of one; but an import that is unresolved may be of a test's folder.
        open_files = {path for (path,) in index.rows(_WITH_OPEN_IMPORTS, {"paths": sorted(found)})}
        found = {path: count for path, count in found.items() if path in tests or path in open_files}
    languages = languages_of(index)
    asked = [path for path in found if record_of(languages.get(path, "")).imports_names]
    if not asked or sum(found[path] for path in asked) > _MOST_LOOKED_AT:
        return found
    open_names = [*stars(index), *named(index, set(uses.scope.own_names))]
    paths = index.documents({item.doc_id for item in open_names})
    rows = [(path, item) for item in open_names if (path := paths[item.doc_id][0]) in asked]
    sources = Sources(index)
    free = without_imports(index, asked)
    with_keywords = _take_keywords(index, uses)
    possible = {
        path
        for path, item in rows
        if path in free
        or _is_certain(item.roles)
        or (with_keywords and item.roles & Role.KEYWORD)
        or not _is_another(sources.lines(path), item.line, item.col, is_member=is_member)
    }
    return {path: count for path, count in found.items() if path in possible or path not in asked}


def _take_keywords(index: Index, uses: Uses) -> bool:
    """Whether one is a field of a type with a base that nobody could resolve, or of one outside that takes fields by keyword.

    Who makes or looks for an object may name it, `Model(size=1)`.
    """
    known = scopes(index, uses.ids)
    holders = {container for sym_id in uses.ids if known[sym_id].kind in _FIELDS and (container := known[sym_id].container) is not None}
    above_them = above(index, {holder for holder in holders if known[holder].kind in TYPE_KINDS}) if holders else frozenset[int]()
    if not above_them:
        return False
    return any(base.class_id in above_them for base in open_bases(index)) or queried_fields.takes_keywords(index, above_them)


_FIELDS = frozenset({SymbolKind.FIELD, SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.PROPERTY})


def _is_certain(roles: int) -> bool:
    return bool(roles & (Role.IMPORT | Role.STAR | Role.MENTION)) or bool(roles & Role.KEYWORD and roles & Role.READ)


_WITH_OPEN_IMPORTS = """
    SELECT DISTINCT d.path FROM unresolved_import i JOIN document d USING (doc_id) WHERE d.path IN (SELECT unnest($paths::VARCHAR[]))
"""


def _are_members(index: Index, uses: Uses) -> bool:
    """Whether one of them is a member of a type, or of what may be one."""
    known = scopes(index, uses.ids)
    containers = [known[sym_id].container for sym_id in uses.ids]
    return any(container is not None and known[container].kind != SymbolKind.MODULE for container in containers)


def _are_of_types(index: Index, uses: Uses) -> bool:
    """Whether one of them is a function that belongs to a type, whose objects go anywhere."""
    sql = """
        SELECT 1 FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN symbol c ON c.sym_id = s.container_id
        WHERE is_type(c.kind) AND is_callable(s.kind) LIMIT 1
    """
    return index.row(sql, {"ids": uses.ids}) is not None


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
    if not is_member and OF_OWN_OBJECT.search(before):
        return True
    return not before.endswith((".", "\\"))


def unresolved(index: Index, uses: Uses, told: Collection[str], typed: Callable[[], str] | None) -> list[Reason]:
    """Identifiers with a name of what was asked about that nobody could resolve.

    Args:
        told: files of which other reasons say already why. typed: makes a text that means the symbol where it is typed.
    """
    if all(symbol.is_local for symbol in uses.symbols) and not _are_of_types(index, uses) and not kept_types(index, uses.ids):
        return []
    found = _possible(index, uses, {path: count for path, count in uses.scope.unresolved_in().items() if path not in told})
    if not found:
        return []
    quoted = [f"'{name}'" for name in sorted(uses.scope.own_names)]
    left_out = _left_out(index, uses, found)
    told_apart = environment.of_left_out(left_out, f"named {listed(quoted)}" if len(quoted) == 1 else "with a name of what was asked about")
    found = {path: rest for path, count in found.items() if (rest := count - left_out.get(path, 0)) > 0}
    if not found:
        return told_apart
    count = sum(found.values())
    if len(uses.symbols) == 1:
        detail = f"{count} identifier{'' if count == 1 else 's'} named {listed(quoted)} could not be resolved and may belong here"
    else:
        could = " could not be resolved and has" if count == 1 else "s could not be resolved and have"
        detail = f"{count} identifier{could} a name of what was asked about"
    detail += environment.hint(index, found)
    if typed is not None:
        detail += f"; list: lspidx query references {shlex.quote(typed())} --possible"
    return [of_paths("unresolved_same_name", detail, sorted(found), count), *told_apart]


def _left_out(index: Index, uses: Uses, paths: Collection[str]) -> dict[str, int]:
    """How many of the identifiers with one of the names stand where a preprocessor takes them out of the build, by file."""
    languages = languages_of(index)
    asked = [path for path in paths if record_of(languages.get(path, "")).preprocessed]
    if not asked:
        return {}
    rows = index.rows(
        """
        SELECT d.path, count(*) FROM document d JOIN unresolved_name u USING (doc_id)
        WHERE d.path IN (SELECT unnest($paths::VARCHAR[])) AND u.name IN (SELECT unnest($names::VARCHAR[])) AND has_role(u.roles, 'mention')
        GROUP BY ALL
        """,
        {"paths": asked, "names": sorted(uses.scope.own_names)},
    )
    return dict(rows)
