"""What a document defines, and what it only declares: a prototype of C or C++, a method of Go whose type is elsewhere."""

from __future__ import annotations

from typing import NamedTuple

from query.facts.documents import contents
from query.facts.index import Index


class Outlined(NamedTuple):
    """A symbol in a document; lines and columns 0-based.

    of: the qualified name of the type that it is a member of, where that lies in another document. declared: it is declared here and
    defined in another document.
    """

    sym_id: int
    container: int
    moniker: str
    name: str
    kind: str
    line: int
    col: int
    end_line: int
    signature: str
    of: str
    declared: bool


class Span(NamedTuple):
    """First and last line, 0-based; those of the declaration where the symbol is only declared."""

    first: int
    last: int
    declared: bool


_COLUMNS = """
    SELECT s.sym_id, s.container_id, s.moniker, s.name, k.label, {place}, coalesce(t.signature, ''),
           CASE WHEN w.doc_id <> d.doc_id AND NOT is_kind(s.kind, 'module') THEN w.qualified_name ELSE '' END, {declared}
"""
_DETAILS = """
    JOIN kind k ON k.kind = s.kind LEFT JOIN symbol w ON w.sym_id = s.container_id LEFT JOIN symbol_text t ON t.sym_id = s.sym_id
"""
_DEFINED = f"""
    {_COLUMNS.format(place="s.sel_line, s.sel_col, s.end_line", declared="false")}
    FROM symbol s JOIN document d USING (doc_id) {_DETAILS}
    WHERE d.path = $path AND s.container_id IS NOT NULL
      AND ($locals OR NOT has_flag(s.flags, 'local') OR is_callable(s.kind) OR is_kind(s.kind, 'class'))
    ORDER BY s.sel_line, s.sel_col, s.sym_id
"""
_DECLARED = f"""
    {_COLUMNS.format(place="d.line, d.col, d.line", declared="true")}
    FROM (
        SELECT o.doc_id, o.sym_id, min(o.line) AS line, arg_min(o.col, (o.line, o.col)) AS col
        FROM occ o WHERE o.doc_id = (SELECT doc_id FROM document WHERE path = $path) AND has_role(o.roles, 'definition') GROUP BY ALL
    ) d JOIN symbol s ON s.sym_id = d.sym_id AND s.doc_id <> d.doc_id {_DETAILS}
    WHERE s.container_id IS NOT NULL AND NOT has_flag(s.flags, 'local', 'external') ORDER BY d.line, d.col, s.sym_id
"""
_SPANS = """
    SELECT s.sym_id, s.start_line, s.end_line, false FROM symbol s
    WHERE s.doc_id = $doc AND NOT has_flag(s.flags, 'local', 'parameter') AND NOT is_kind(s.kind, 'module', 'type parameter')
    UNION ALL
    SELECT o.sym_id, min(o.line), min(o.line), true FROM occ o JOIN symbol s ON s.sym_id = o.sym_id
    WHERE o.doc_id = $doc AND has_role(o.roles, 'definition') AND s.doc_id <> $doc
      AND NOT has_flag(s.flags, 'local', 'parameter', 'external') AND NOT is_kind(s.kind, 'module', 'namespace', 'type parameter')
    GROUP BY o.sym_id
"""


def outline(index: Index, path: str, *, with_locals: bool = False) -> list[Outlined]:
    """The symbols of a document in the order of the text.

    Args:
        with_locals: also parameters and local variables; local functions and classes are always there.
    """
    found = [Outlined(*row) for row in index.rows(_DEFINED, {"path": path, "locals": with_locals})]
    if path.endswith((".py", ".pyi")):  # in Python nothing is declared in one file and defined in another
        return found
    found += [Outlined(*row) for row in index.rows(_DECLARED, {"path": path})]
    return sorted(found, key=lambda item: (item.line, item.col, item.sym_id))


def spans(index: Index, path: str) -> dict[int, Span]:
    """By symbol, where it lies in a document: without locals and parameters, and without the document's own module."""
    known = contents(index, [path])
    return {sym_id: Span(*span) for sym_id, *span in index.rows(_SPANS, {"doc": known[path].doc_id})} if known else {}
