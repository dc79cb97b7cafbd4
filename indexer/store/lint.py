"""Checks that an index is well-formed: each rule counts rows that must not be, and shows one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from indexer.store.macros import expand

RULES: dict[str, str] = {
    "symbols have unique monikers": "SELECT moniker AS example FROM symbol GROUP BY moniker HAVING count(*) > 1",
    "monikers hold no line break": "SELECT moniker AS example FROM symbol WHERE contains(moniker, chr(10))",
    "documents have unique paths": "SELECT path AS example FROM document GROUP BY path HAVING count(*) > 1",
    "paths are relative and stay inside": """
        SELECT path AS example FROM document
        WHERE status <> 'external' AND (starts_with(path, '/')
        OR list_contains(string_split(path, '/'), '..') OR contains(path, chr(92)))""",
    "no path of this machine": "SELECT path AS example FROM document WHERE starts_with(path, '/') OR starts_with(path, 'file:')",
    "ranges end after they start": """
        SELECT moniker AS example FROM symbol
        WHERE (end_line, end_col) < (start_line, start_col) OR start_line < 0 OR start_col < 0""",
    "a symbol's name lies in its range": """
        SELECT moniker AS example FROM symbol WHERE NOT is_kind(kind, 'module') AND NOT has_flag(flags, 'external', 'parameter')
        AND ((sel_line, sel_col) < (start_line, start_col) OR (sel_line, sel_col) > (end_line, end_col))""",
    "containers exist": """
        SELECT s.moniker AS example FROM symbol s LEFT JOIN symbol c ON c.sym_id = s.container_id
        WHERE NOT is_kind(s.kind, 'module') AND c.sym_id IS NULL AND NOT has_flag(s.flags, 'external')""",
    # A circle has a step to a container that does not come first; members written outside their type have one too.
    "containers form no circle": """
        WITH RECURSIVE up(sym_id, container_id, steps) AS (
            SELECT sym_id, container_id, 1 FROM symbol WHERE container_id >= sym_id
            UNION ALL
            SELECT u.sym_id, s.container_id, u.steps + 1 FROM up u JOIN symbol s ON s.sym_id = u.container_id
            WHERE u.container_id <> u.sym_id AND u.steps < 200
        )
        SELECT s.moniker AS example FROM up u JOIN symbol s USING (sym_id) WHERE u.container_id = u.sym_id OR u.steps = 200""",
    "occurrences lie in known documents": "SELECT name AS example FROM occ WHERE doc_id NOT IN (SELECT doc_id FROM document)",
    "occurrences mean known symbols": """
        SELECT o.name AS example FROM occ o LEFT JOIN symbol s USING (sym_id) WHERE o.sym_id IS NOT NULL AND s.sym_id IS NULL""",
    "occurrences have one line and some width": "SELECT name AS example FROM occ WHERE end_col < col OR line < 0 OR col < 0",
    "every occurrence lies within its document": """
        SELECT d.path AS example FROM occ o JOIN document d USING (doc_id) WHERE o.line > d.line_count""",
    "every occurrence is enclosed": "SELECT name AS example FROM occ WHERE encl_id IS NULL",
    "every defined symbol has its definition among the references": r"""
        SELECT s.moniker AS example FROM symbol s WHERE NOT has_flag(s.flags, 'external') AND NOT is_kind(s.kind, 'module')
        AND NOT regexp_matches(s.name, '^[A-Z]\w*\(.')  -- `TEST(a, b) {…}`: a use of the macro stands there
        AND NOT EXISTS (
            SELECT 1 FROM refs r WHERE r.sym_id = s.sym_id AND r.doc_id = s.doc_id AND r.line = s.sel_line AND r.col = s.sel_col)""",
    "references and occurrences agree": """
        SELECT 'refs' AS example FROM (
            (SELECT sym_id, doc_id, line, col FROM refs WHERE NOT is_evidence(evidence, 'inferred')
             EXCEPT SELECT sym_id, doc_id, line, col FROM occ)
            UNION ALL
            (SELECT sym_id, doc_id, line, col FROM occ WHERE sym_id IS NOT NULL EXCEPT SELECT sym_id, doc_id, line, col FROM refs))""",
    "calls join known symbols": """
        SELECT 'call' AS example FROM call_in c LEFT JOIN symbol a ON a.sym_id = c.caller LEFT JOIN symbol b ON b.sym_id = c.callee
        WHERE a.sym_id IS NULL OR b.sym_id IS NULL""",
    "both orders of the calls hold the same rows": """
        SELECT 'call' AS example FROM (SELECT caller, callee, doc_id, line, col FROM call_in
        EXCEPT SELECT caller, callee, doc_id, line, col FROM call_out)""",
    "no type is its own supertype": """
        SELECT s.moniker AS example FROM type_edge e JOIN symbol s ON s.sym_id = e.sub_id WHERE e.sub_id = e.super_id""",
    "every document has coverage": """
        SELECT path AS example FROM document d WHERE status NOT IN ('external', 'manifest')
        AND NOT EXISTS (SELECT 1 FROM document_coverage c WHERE c.doc_id = d.doc_id AND c.method = 'textDocument/definition')""",
    "what a server has done has a server": """
        SELECT path || ': ' || method AS example FROM document_coverage c JOIN document d USING (doc_id)
        WHERE c.status = 'done' AND c.method <> 'syntax' AND NOT EXISTS (SELECT 1 FROM server v WHERE v.language = d.language)""",
    "what is done was asked and answered": """
        SELECT method AS example FROM document_coverage WHERE status = 'done' AND (asked <= 0 OR answered <= 0 OR answered > asked)""",
    "what is lost has a reason": "SELECT method AS example FROM document_coverage WHERE status = 'lost' AND reason = ''",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A broken rule: how many rows break it, and one of them."""

    rule: str
    count: int
    example: str


def lint(rows: Callable[[str], list[tuple[Any, ...]]]) -> list[Finding]:
    """The rules that an index breaks; empty for a well-formed one. `rows` runs a statement on it."""
    findings: list[Finding] = []
    for rule, sql in RULES.items():
        [(count, example)] = rows(expand(f"SELECT count(*), min(example) FROM ({sql})"))
        if count:
            findings.append(Finding(rule=rule, count=count, example=str(example)))
    return findings
