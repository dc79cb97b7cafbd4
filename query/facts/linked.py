"""What pages are made of: files, the identifiers in them with what each leads to, symbols of many files at once, and what depends on what.

The lists are those of the tools, for many symbols by one statement; `tests/test_pages.py` holds them against the tools' answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from indexer.model import SymbolFlag
from query.facts.index import Index

_LOCAL = int(SymbolFlag.LOCAL | SymbolFlag.PARAMETER)
_EXTERNAL = int(SymbolFlag.EXTERNAL)


class File(NamedTuple):
    """A file of the workspace. `doc_id` is -1 of one that was left out, and `reason` says why; `status` as in the view `documents`."""

    doc_id: int
    path: str
    language: str
    lines: int
    status: str
    reason: str
    is_test: bool
    size_bytes: int


class Token(NamedTuple):
    """An identifier in a text, once for each symbol that it means; 0-based, columns in UTF-16, the end exclusive.

    sym_id: -1 where nobody knows its meaning; the fields after it are empty then. doc_id, target_line: where the symbol is defined.
    """

    line: int
    col: int
    end_col: int
    roles: int
    evidence: int
    sym_id: int
    key: int
    flags: int
    kind: int
    doc_id: int
    target_line: int
    qualified_name: str

    @property
    def is_local(self) -> bool:
        return bool(self.flags & _LOCAL)

    @property
    def is_external(self) -> bool:
        return bool(self.flags & _EXTERNAL)


class Described(NamedTuple):
    """A symbol as its page needs it. `key`: the number that stands for it in every index. Lines 0-based."""

    sym_id: int
    key: int
    doc_id: int
    container: int
    moniker: str
    name: str
    qualified_name: str
    kind: int
    flags: int
    line: int
    col: int
    end_line: int
    path: str
    signature: str
    documentation: str

    @property
    def is_local(self) -> bool:
        return bool(self.flags & _LOCAL)

    @property
    def is_external(self) -> bool:
        return bool(self.flags & _EXTERNAL)


class UseRow(NamedTuple):
    """A use, 0-based, as `find_references` lists it. `enclosing`: id of the symbol around it, -1 for none."""

    sym_id: int
    path: str
    line: int
    col: int
    end_col: int
    roles: int
    enclosing: int
    enclosing_name: str
    evidence: int
    is_test: bool


class Unresolved(NamedTuple):
    """An identifier that nobody could resolve, 0-based."""

    path: str
    line: int
    col: int
    name: str


class Dependency(NamedTuple):
    """So many uses in one document of what is defined in another."""

    source: str
    target: str
    uses: int


_DESCRIBED = """
    s.sym_id, k.key, s.doc_id, coalesce(s.container_id, -1), s.moniker, s.name, s.qualified_name, s.kind, s.flags, s.sel_line, s.sel_col,
    s.end_line, d.path, coalesce(t.signature, ''), coalesce(t.documentation, '')
"""
_JOINED = """
    JOIN symbol_key k ON k.sym_id = s.sym_id JOIN document d ON d.doc_id = s.doc_id LEFT JOIN symbol_text t ON t.sym_id = s.sym_id
"""


def files(index: Index) -> list[File]:
    """All files that the index knows of, by path; read once per index."""
    sql = """
        SELECT doc_id, path, language, coalesce(line_count, 0), status, '', coalesce(is_test, false), coalesce(size_bytes, 0)
        FROM document WHERE status <> 'external'
        UNION ALL SELECT -1, path, coalesce(language, ''), 0, 'skipped', reason, false, 0 FROM skipped ORDER BY 2, 1 DESC
    """

    def look() -> list[File]:
        found: dict[str, File] = {}
        for row in index.rows(sql):
            found.setdefault(row[1], File(*row))
        return list(found.values())

    known: list[File] = index.keep("files of pages", look)
    return known


def tokens(index: Index, ids: Collection[int]) -> dict[int, list[Token]]:
    """By document its identifiers, by position, what is certain before what is inferred."""
    rows = index.rows(
        """
        SELECT o.doc_id, o.line, o.col, o.end_col, o.roles, o.evidence, coalesce(o.sym_id, -1), coalesce(k.key, 0), coalesce(s.flags, 0),
               coalesce(s.kind, 0), coalesce(s.doc_id, -1), coalesce(s.sel_line, 0), coalesce(s.qualified_name, '')
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN occ o ON o.doc_id = u.id
        LEFT JOIN symbol s ON s.sym_id = o.sym_id LEFT JOIN symbol_key k ON k.sym_id = o.sym_id
        ORDER BY o.doc_id, o.line, o.col, is_evidence(o.evidence, 'inferred'), o.evidence, o.sym_id
        """,
        {"ids": sorted(ids)},
    )
    found: dict[int, list[Token]] = {doc_id: [] for doc_id in ids}
    for doc_id, *row in rows:
        found[doc_id].append(Token(*row))
    return found


def symbols_in(index: Index, ids: Collection[int]) -> dict[int, list[Described]]:
    """By document the symbols that it defines, locals among them, by position."""
    sql = f"""
        SELECT {_DESCRIBED} FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.doc_id = u.id {_JOINED}
        ORDER BY s.doc_id, s.sel_line, s.sel_col, s.sym_id
    """
    found: dict[int, list[Described]] = {doc_id: [] for doc_id in ids}
    for row in index.rows(sql, {"ids": sorted(ids)}):
        found[row[2]].append(Described(*row))
    return found


def described(index: Index, ids: Collection[int]) -> dict[int, Described]:
    """Symbols by id."""
    sql = f"SELECT {_DESCRIBED} FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id {_JOINED}"
    return {row[0]: Described(*row) for row in index.rows(sql, {"ids": sorted(ids)})} if ids else {}


def by_key(index: Index, key: int) -> int | None:
    """The symbol that a key stands for."""
    row = index.row("SELECT sym_id FROM symbol_key WHERE key = $key::UBIGINT ORDER BY sym_id LIMIT 1", {"key": key})
    return None if row is None else row[0]


def outsiders(index: Index) -> list[int]:
    """Symbols outside of the workspace that have a page: all but locals."""
    sql = "SELECT sym_id FROM symbol s WHERE has_flag(s.flags, 'external') AND NOT has_flag(s.flags, 'local', 'parameter') ORDER BY 1"
    return [row[0] for row in index.rows(sql)]


def uses(index: Index, ids: Collection[int]) -> dict[int, list[UseRow]]:
    """By symbol its uses, as `query.facts.references.search` finds them without filters: definitions first, then by path and position."""
    rows = index.rows(
        """
        SELECT r.sym_id, d.path, r.line, r.col, r.end_col, r.roles, coalesce(r.encl_id, -1), coalesce(e.qualified_name, ''), r.evidence,
               d.is_test
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id JOIN symbol s ON s.sym_id = u.id
        JOIN document d ON d.doc_id = r.doc_id LEFT JOIN symbol e ON e.sym_id = r.encl_id
        WHERE NOT has_role(r.roles, 'definition') OR is_evidence(r.evidence, 'inferred')
           OR has_role(r.roles, 'write') AND (r.doc_id, r.line, r.col) <> (s.doc_id, s.sel_line, s.sel_col)
        ORDER BY r.sym_id, has_role(r.roles, 'definition') DESC, d.path, r.line, r.col
        """,
        {"ids": sorted(ids)},
    ) if ids else []  # fmt: skip
    found: dict[int, list[UseRow]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(UseRow(*row))
    return found


def names(index: Index) -> Iterator[tuple[int, str, str, int, str, int]]:
    """Key, name, qualified name, kind, path and 0-based line of every symbol of the workspace that is no local, by name."""
    yield from index.rows(
        """
        SELECT k.key, s.name, s.qualified_name, s.kind, d.path, s.sel_line
        FROM symbol s JOIN symbol_key k USING (sym_id) JOIN document d ON d.doc_id = s.doc_id
        WHERE NOT has_flag(s.flags, 'local', 'parameter', 'external') ORDER BY lower(s.name), s.qualified_name, s.sym_id
        """
    )


def dependencies(index: Index) -> list[Dependency]:
    """Between documents of the workspace, by path."""
    rows = index.rows(
        """
        SELECT a.path, b.path, u.uses FROM (
            SELECT o.doc_id AS source, s.doc_id AS target, count(*) AS uses FROM occ o JOIN symbol s ON s.sym_id = o.sym_id
            WHERE s.doc_id <> o.doc_id AND NOT has_flag(s.flags, 'external') GROUP BY ALL
        ) u JOIN document a ON a.doc_id = u.source JOIN document b ON b.doc_id = u.target
        WHERE a.status <> 'external' AND b.status <> 'external' ORDER BY ALL
        """
    )
    return [Dependency(*row) for row in rows]


def unresolved(index: Index, doc_id: int) -> list[Unresolved]:
    """Identifiers of one document that nobody could resolve, by position."""
    sql = """
        SELECT d.path, u.line, u.col, u.name FROM unresolved_name u JOIN document d USING (doc_id) WHERE u.doc_id = $id ORDER BY ALL
    """
    return [Unresolved(*row) for row in index.rows(sql, {"id": doc_id})]


def unresolved_counts(index: Index) -> list[tuple[int, str, int]]:
    """Document, path and how many of its identifiers nobody could resolve; the most first."""
    sql = """
        SELECT u.doc_id, d.path, count(*) FROM unresolved_name u JOIN document d USING (doc_id) WHERE d.status <> 'external'
        GROUP BY ALL ORDER BY 3 DESC, 2
    """
    return [(doc_id, path, number) for doc_id, path, number in index.rows(sql)]


def pairs(rows: Iterable[tuple[Any, ...]]) -> dict[Any, list[Any]]:
    """Rows of two by the first."""
    found: dict[Any, list[Any]] = {}
    for first, second in rows:
        found.setdefault(first, []).append(second)
    return found
