"""Tests that lie beside what they test: Rust's, by the attributes on them or around them. And whether an index holds any test at all."""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterator, Mapping

from indexer.languages import record_of
from query.answers.envelope import Reason
from query.facts.documents import has_test_documents, languages
from query.facts.index import Index
from query.facts.scopes import around, scopes


def test_symbols(index: Index, ids: Collection[int]) -> set[int]:
    """Those of the symbols that are tests though their document is not: Rust's, by `#[test]` and `#[cfg(test)]` on them or around."""
    roots = _test_roots(index)
    if not roots or not ids:
        return set()
    scopes(index, ids)
    return {start for start in ids if any(sym_id in roots for sym_id in around(index, start))}


def _test_roots(index: Index) -> frozenset[int]:
    """What a test attribute stands on: the first definition behind it."""
    found: frozenset[int] = index.keep("inline tests", lambda: _attributed(index))
    return found


def _attributed(index: Index) -> frozenset[int]:
    if not any(record_of(language).tests_have_attributes for language in languages(index)):
        return frozenset()
    rows = index.rows(
        """
        SELECT o.doc_id, o.line, list(o.name), bool_or(o.name = 'test' AND has_role(o.roles, 'decorator'))
        FROM document d JOIN occ o USING (doc_id)
        WHERE language_has(d.language, 'tests_have_attributes') AND d.status <> 'external' AND o.name IN ('cfg', 'test', 'not')
        GROUP BY ALL HAVING bool_or(has_role(o.roles, 'decorator')) ORDER BY ALL
        """
    )
    marks: dict[int, list[int]] = {}
    for doc_id, line, names, on_function in rows:
        if on_function or ("cfg" in names and "test" in names and "not" not in names):
            marks.setdefault(doc_id, []).append(line)
    return frozenset(sym_id for _, _, sym_id in _behind(index, marks))


def attributed_definitions(index: Index, names: Collection[str]) -> dict[int, set[str]]:
    """Rust's definitions at which attributes of these names stand, whatever is in front of their last `::`, and which of them."""
    rows = index.rows(
        """
        SELECT o.doc_id, o.line, o.name FROM document d JOIN occ o USING (doc_id)
        JOIN (SELECT unnest($names::VARCHAR[]) AS name) n USING (name)
        WHERE language_has(d.language, 'tests_have_attributes') AND d.status <> 'external' AND has_role(o.roles, 'decorator')
        """,
        {"names": sorted(names)},
    )
    at: dict[tuple[int, int], set[str]] = {}
    marks: dict[int, list[int]] = {}
    for doc_id, line, name in rows:
        at.setdefault((doc_id, line), set()).add(name)
        marks.setdefault(doc_id, []).append(line)
    found: dict[int, set[str]] = {}
    for doc_id, line, sym_id in _behind(index, marks):
        found.setdefault(sym_id, set()).update(at[doc_id, line])
    return found


def _behind(index: Index, marks: Mapping[int, Collection[int]]) -> Iterator[tuple[int, int, int]]:
    """(document, line, the first definition that begins there or below) for lines of documents."""
    starts = index.rows(
        """
        SELECT s.doc_id, s.start_line, s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.doc_id = u.id
        WHERE (is_type(s.kind) OR is_kind(s.kind, 'module', 'method', 'function', 'variable', 'constant'))
          AND NOT has_flag(s.flags, 'local', 'parameter') AND s.container_id IS NOT NULL
        ORDER BY s.doc_id, s.start_line, s.start_col
        """,
        {"ids": sorted(marks)},
    )
    by_document: dict[int, list[tuple[int, int]]] = {}
    for doc_id, line, sym_id in starts:
        by_document.setdefault(doc_id, []).append((line, sym_id))
    for doc_id, lines in marks.items():
        definitions = by_document.get(doc_id, [])
        for line in lines:
            place = bisect.bisect_left(definitions, (line, -1))
            if place < len(definitions):
                yield doc_id, line, definitions[place][1]


def has_tests(index: Index) -> bool:
    """Whether the workspace has any test, in a document of its own or beside the code."""
    found: bool = index.keep("any test", lambda: has_test_documents(index) or bool(_test_roots(index)))
    return found


def no_tests(index: Index) -> list[Reason]:
    """The reason why an answer about tests says nothing: there is none in the index."""
    detail = "the index holds no tests: nothing here is known to be tested or not; they may be excluded or lie outside its folders"
    return [] if has_tests(index) else [Reason(code="no_tests_indexed", detail=detail)]
