"""What of a repository is used most: symbols by how many other files refer to them, and the folders that its files lie in.

Plain numbers of files, which the answer can show and anybody can count again (ADR 0065 has what was weighed). A type is referred to where
one of its members is, too. Only what the text names counts, not what values were followed to: else each of twenty classes that a value may
be of would have the uses of all. What a file does with its own symbols counts only between symbols that are otherwise alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from indexer.errors import NameNotFound
from query.facts.documents import Document, documents
from query.facts.edges import Relation, edges
from query.facts.index import Index
from query.facts.inline_tests import test_symbols
from query.facts.members import parts_of
from query.facts.names import resolve
from query.facts.parameters import path_pattern
from query.facts.scopes import around
from query.facts.symbols import Symbol, symbols_by_id

Tests = Literal["include", "exclude", "only"]


class Ranked(NamedTuple):
    """A symbol by its use. `tier`: 0 for what the question is about, 1 for what it uses or is used by, 2 for all else.

    files: other files that refer to it, or to a member of it. uses: how often, its own file's included. container: what it is a member of.
    """

    sym_id: int
    doc_id: int
    container: int | None
    line: int
    files: int
    uses: int
    tier: int


class Apart(NamedTuple):
    """What a map leaves out: number of files by why."""

    tests: int
    skipped: dict[str, int]


_IN_SCOPE = """
    d.status NOT IN ('external', 'manifest') AND ($path = '' OR d.path GLOB $path OR starts_with(d.path, $path))
    AND ($tests = 'include' OR d.is_test = ($tests = 'only'))
"""
_RANKED = f"""
    WITH use AS (
        SELECT r.sym_id, r.doc_id, count(*) AS uses FROM refs r JOIN document d USING (doc_id)
        WHERE NOT has_role(r.roles, 'definition') AND NOT is_evidence(r.evidence, 'flow', 'second_server', 'inferred')
          AND ($tests <> 'exclude' OR NOT d.is_test)
        GROUP BY ALL
    ),
    own AS (
        SELECT s.sym_id, s.doc_id, s.container_id, s.kind, s.flags, s.sel_line, c.kind AS around
        FROM symbol s JOIN document d USING (doc_id) LEFT JOIN symbol c ON c.sym_id = s.container_id
        WHERE NOT has_flag(s.flags, 'external', 'local', 'parameter') AND {_IN_SCOPE}
    ),
    used AS (
        SELECT o.sym_id, u.doc_id, u.doc_id <> o.doc_id AS other, u.uses FROM own o JOIN use u USING (sym_id)
        UNION ALL
        SELECT o.container_id, u.doc_id, u.doc_id <> t.doc_id, 0 FROM own o JOIN own t ON t.sym_id = o.container_id JOIN use u
        ON u.sym_id = o.sym_id WHERE is_type(t.kind)
    )
    SELECT o.sym_id, o.doc_id, o.container_id, o.sel_line, count(DISTINCT u.doc_id) FILTER (u.other), coalesce(sum(u.uses), 0)::INTEGER
    FROM own o LEFT JOIN used u USING (sym_id)
    WHERE is_type(o.kind) OR is_kind(o.kind, 'function', 'method') OR (is_value(o.kind) AND is_kind(o.around, 'module', 'namespace'))
    GROUP BY o.sym_id, o.doc_id, o.container_id, o.sel_line ORDER BY o.sym_id
"""


def ranked(index: Index, path: str, tests: Tests, focus: Sequence[str] = ()) -> list[Ranked]:
    """Types, functions, methods and the values of modules, most used first; of equals by file and line.

    Args:
        path: only symbols of documents below it or that match it, as the index has them; uses count wherever they are.
        tests: symbols of tests, and uses in them.
        focus: symbols, files and folders that come first, and then what they use and are used by.
    Raises:
        NameNotFound, AmbiguousName: of a name in `focus`.
    """
    rows = index.rows(_RANKED, {"path": path, "tests": tests})
    inline = test_symbols(index, [row[0] for row in rows]) if tests != "include" else set[int]()
    meant = _meant(index, focus)
    near = _near(index, meant, tests) if meant else set[int]()
    found = [
        Ranked._make((*row, 0 if row[0] in meant else 1 if row[0] in near else 2))
        for row in rows
        if tests == "include" or (row[0] in inline) <= (tests == "only")
    ]
    return sorted(found, key=lambda item: (item.tier, -item.files, -item.uses, item.doc_id, item.line, item.sym_id))


def _meant(index: Index, focus: Sequence[str]) -> set[int]:
    """The symbols that a focus names, with all that is in them."""
    found: set[int] = set()
    for name in focus:
        pattern, symbol = _named(index, name)
        if symbol is None:
            rows = index.rows(
                f"""
                SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id)
                WHERE {_IN_SCOPE} AND NOT has_flag(s.flags, 'local', 'parameter')
                """,
                {"path": pattern, "tests": "include"},
            )
            found.update(row[0] for row in rows)
        else:
            found |= parts_of(index, symbol)
    return found


def _named(index: Index, name: str) -> tuple[str, int | None]:
    """What a focus is: documents, as a pattern of their paths, or a symbol. A name that is both is the symbol.

    Raises:
        NameNotFound, AmbiguousName: as `resolve`.
    """
    if any(sign in name for sign in "*?[") or name.endswith("/"):
        return path_pattern(index, name), None
    try:
        return "", resolve(index, name).sym_id
    except NameNotFound:
        try:
            return path_pattern(index, name), None
        except NameNotFound:
            pass
        raise


def _near(index: Index, ids: Collection[int], tests: Tests) -> set[int]:
    """What these symbols name or call, and what names or calls them, with the types and functions around the place."""
    asked = sorted(ids)
    found: set[int] = set()
    for way in ("out", "in"):
        for edge in edges(index, [Relation.CALLS, Relation.SUBTYPE, Relation.REFERENCES], way, asked, with_tests=tests != "exclude"):
            found.update(around(index, edge.target if way == "out" else edge.source))
    return found - set(asked)


# ---- what there is


def folders_of(index: Index, path: str, tests: Tests, most: int) -> list[tuple[str, int]]:
    """Folders with the number of files in and below each, without overlap, by path: at most `most`, of which the largest are divided."""
    files = [row[0] for row in index.rows(f"SELECT d.path FROM document d WHERE {_IN_SCOPE}", {"path": path, "tests": tests})]
    found = {"": files}
    while True:
        divided = {folder: _divided(folder, of) for folder, of in found.items()}
        fitting = [folder for folder, parts in divided.items() if len(parts) > (folder in parts) and len(found) - 1 + len(parts) <= most]
        if not fitting:
            return sorted((folder or ".", len(of)) for folder, of in found.items() if of)
        largest = max(fitting, key=lambda folder: (len(found[folder]), folder))
        found.pop(largest)
        found.update(divided[largest])


def _divided(folder: str, files: Sequence[str]) -> dict[str, list[str]]:
    """The files by the folder one step down that holds them; those that lie in the folder itself stay."""
    found: dict[str, list[str]] = {}
    start = len(folder) + 1 if folder else 0
    for path in files:
        below, slash, _ = path[start:].partition("/")
        found.setdefault(path[:start] + below if slash else folder, []).append(path)
    return found


def apart(index: Index, path: str, tests: Tests) -> Apart:
    """How many files are not in the map: tests, where they are left out, and what was not read, by the reason."""
    left_out = 0
    if tests == "exclude":
        rows = index.rows(f"SELECT count(*) FROM document d WHERE {_IN_SCOPE}", {"path": path, "tests": "only"})
        left_out = int(rows[0][0])
    rows = index.rows(
        "SELECT reason, count(*) FROM skipped WHERE $path = '' OR path GLOB $path OR starts_with(path, $path) GROUP BY 1 ORDER BY 1",
        {"path": path},
    )
    return Apart(left_out, dict(rows))


def counts(found: Sequence[Ranked]) -> Counter[int]:
    """By document how many of its symbols are ranked."""
    return Counter(item.doc_id for item in found)


def described(index: Index, items: Sequence[Ranked]) -> tuple[dict[int, Symbol], dict[int, Document]]:
    """Cards of symbols and of what they are members of; and their documents."""
    wanted = {item.sym_id for item in items} | {item.container for item in items if item.container is not None}
    known = symbols_by_id(index, sorted(wanted))
    return known, documents(index, {item.doc_id for item in items})
