"""The search that `find_references` and `get_cross_repo_references` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from indexer.errors import UsageError
from indexer.model import Evidence, Role, SymbolKind
from query.answers.pages import offset_of
from query.facts.families import family_of
from query.facts.index import Index
from query.facts.parameters import Named, path_pattern
from query.facts.sources import Sources
from query.facts.symbols import Symbol

_SET_BY_KEYWORD = (SymbolKind.FIELD.label, SymbolKind.PROPERTY.label)
_POSSIBLE = 255
"""In place of evidence: an identifier of the right name that nobody could resolve."""


class Filtered(Named, kw_only=True):
    """Parameters of both tools."""

    include_declaration: Annotated[bool, msgspec.Meta(description="also the symbol's own definitions")] = False
    role: Annotated[
        list[str],
        msgspec.Meta(
            description="only these roles: call, read, write (of a field by keyword, too), import, decorator, supertype, annotation, ..."
        ),
    ] = []
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob")] = ""
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="references in test files")] = "include"
    possible: Annotated[bool, msgspec.Meta(description="also unresolved identifiers of that name, marked as possible")] = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="references shown")] = 500
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class Reference(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One use. `enclosing` is the function, class or module around it. Lines and columns 1-based, end exclusive.

    `old`: the file has changed since, and `text` is the line as it was indexed; so in all records that have it.
    """

    path: str
    line: int
    col: int
    end_col: int
    roles: list[str]
    enclosing: str
    evidence: str
    is_test: bool = False
    text: str = ""
    old: bool = False


class Count(NamedTuple):
    references: int
    files: int


class Found(NamedTuple):
    """One page of the references, and by part how many there are on all pages."""

    page: list[tuple[int, Reference]]  # with the number of its part
    counts: dict[int, Count]

    @property
    def total(self) -> int:
        return sum(count.references for count in self.counts.values())


def search(index: Index, symbol: Symbol, ask: Filtered, parts: Sequence[str] = ("",)) -> Found:
    """References of a symbol, part by part; in a part definitions first, then by path and position.

    Args:
        parts: prefixes of paths, in the order wanted; a path belongs to the longest that it begins with, one beside the root never
            to the root's. What belongs to none is left out.
    """
    values: dict[str, Any] = {"id": symbol.sym_id}
    conditions = [f"{_part(parts, values)} IS NOT NULL"] if tuple(parts) != ("",) else ["true"]
    if not ask.include_declaration:
        # A field is defined wherever it is set through `self`; only the first place is its declaration.
        conditions.append(
            "(NOT has_role(r.roles, 'definition') OR is_evidence(r.evidence, 'inferred') OR has_role(r.roles, 'write')"
            " AND (r.doc_id, r.line, r.col) <> (SELECT (s.doc_id, s.sel_line, s.sel_col) FROM symbol s WHERE s.sym_id = $id))"
        )
    if ask.role:
        values["mask"] = _mask(ask.role)
        if symbol.record.kind in _SET_BY_KEYWORD and values["mask"] & Role.WRITE:  # `Config{Retries: 3}`, `{ retries: 3 }`
            values["mask"] |= int(Role.KEYWORD)
        conditions.append("r.roles & $mask <> 0")
    if ask.path:
        values["path"] = path_pattern(index, ask.path)
        conditions.append("(d.path GLOB $path OR starts_with(d.path, $path))")
    if ask.tests != "include":
        conditions.append("d.is_test" if ask.tests == "only" else "NOT d.is_test")
    source = "SELECT doc_id, line, col, end_col, roles, encl_id, evidence FROM refs WHERE sym_id = $id"
    if ask.possible:
        values |= {"name": symbol.record.name, "family": list(family_of(index, symbol.record.path))}
        source += f"""
            UNION ALL SELECT doc_id, line, col, end_col, roles, encl_id, {_POSSIBLE} FROM unresolved_name u JOIN document l USING (doc_id)
            WHERE name = $name AND (len($family::VARCHAR[]) = 0 OR list_contains($family::VARCHAR[], l.language))
            AND NOT EXISTS (SELECT 1 FROM refs k WHERE k.sym_id = $id AND k.doc_id = u.doc_id AND k.line = u.line AND k.col = u.col)"""
    part = _part(parts, values) if len(parts) > 1 else "0"
    source, where = f"FROM ({source}) r JOIN document d USING (doc_id)", f"WHERE {' AND '.join(conditions)}"
    rows = index.rows(
        f"""
        SELECT {part} AS part, d.path, r.line, r.col, r.end_col, r.roles, e.qualified_name, r.evidence, d.is_test, count(*) OVER ()
        {source} LEFT JOIN symbol e ON e.sym_id = r.encl_id {where}
        ORDER BY part, r.evidence = {_POSSIBLE}, has_role(r.roles, 'definition') DESC, d.path, r.line, r.col LIMIT $limit OFFSET $offset
        """,
        {**values, "limit": ask.limit, "offset": offset_of(ask.cursor)},
    )
    if len(parts) > 1 or (not rows and offset_of(ask.cursor)):
        counted = index.rows(f"SELECT {part}, count(*), count(DISTINCT d.path) {source} {where} GROUP BY 1 ORDER BY 1", values)
        counts = {number: Count(references, files) for number, references, files in counted}
    else:
        counts = {0: Count(rows[0][-1] if rows else 0, len({row[1] for row in rows}))}
    sources = Sources(index)
    page = [
        (
            number,
            Reference(
                path=path,
                line=line + 1,
                col=col + 1,
                end_col=end + 1,
                roles=Role(roles).labels,
                enclosing=enclosing or "",
                evidence="possible" if evidence == _POSSIBLE else Evidence(evidence).label,
                is_test=bool(is_test),
                **sources.quote(path, line),
            ),
        )
        for number, path, line, col, end, roles, enclosing, evidence, is_test, _ in rows
    ]
    return Found(page, counts)


def _part(parts: Sequence[str], values: dict[str, Any]) -> str:
    """An expression for the number of the part that `d.path` belongs to, null for none; adds the values that it takes."""
    cases: list[str] = []
    for number, prefix in sorted(enumerate(parts), key=lambda item: -len(item[1])):
        values[f"part{number}"] = prefix
        beside = "" if prefix else " AND NOT starts_with(d.path, '../')"
        cases.append(f"WHEN starts_with(d.path, $part{number}){beside} THEN {number}")
    return f"CASE {' '.join(cases)} END"


def _mask(roles: list[str]) -> int:
    known = {role.name.lower(): role for role in Role if role.name}
    mask = 0
    for name in roles:
        if name.lower() not in known:
            raise UsageError(f"no role is called '{name}'; known: {', '.join(known)}")
        mask |= int(known[name.lower()])
    return mask


# ---- without filters


class FileReferences(NamedTuple):
    path: str
    references: int
    is_test: bool


class Place(NamedTuple):
    """Where an identifier stands in its document: 0-based, the end exclusive; what it does there."""

    line: int
    col: int
    end_col: int
    roles: Role


def references_by_file(index: Index, sym_id: int) -> list[FileReferences]:
    """How often each file refers to a symbol, definitions left out; the files with most references first."""
    rows = index.rows(
        """
        SELECT doc_id, count(*) FROM refs
        WHERE sym_id = ? AND (NOT has_role(roles, 'definition') OR is_evidence(evidence, 'inferred')) GROUP BY 1
        """,
        [sym_id],
    )
    documents = index.documents({doc_id for doc_id, _ in rows})
    found = [FileReferences(documents[doc_id][0], number, documents[doc_id][1]) for doc_id, number in rows]
    return sorted(found, key=lambda file: (-file.references, file.path))


def places_in(index: Index, sym_id: int, path: str) -> list[Place]:
    """Where one document names a symbol, definitions too, by position; without what is only probably meant."""
    rows = index.rows(
        """
        SELECT line, col, end_col, bit_or(roles) FROM refs
        WHERE sym_id = $id AND doc_id = (SELECT doc_id FROM document WHERE path = $path) AND NOT is_evidence(evidence, 'inferred')
        GROUP BY line, col, end_col ORDER BY line, col
        """,
        {"id": sym_id, "path": path},
    )
    return [Place(line, col, end, Role(roles)) for line, col, end, roles in rows]


def uses_from_outside(index: Index, sym_id: int) -> list[tuple[str, int, int]]:
    """Path, line and column (0-based) of all that refers to a symbol, calls it, or does so to what lies in its text, from outside of it."""
    return index.rows(
        """
        WITH own AS (
            SELECT i.sym_id FROM symbol s JOIN symbol i ON i.doc_id = s.doc_id
              AND (i.start_line, i.start_col) >= (s.start_line, s.start_col) AND (i.end_line, i.end_col) <= (s.end_line, s.end_col)
            WHERE s.sym_id = $id
        ), outside AS (
            SELECT r.doc_id, r.line, r.col FROM own JOIN refs r ON r.sym_id = own.sym_id, (SELECT * FROM symbol WHERE sym_id = $id) s
            WHERE r.doc_id <> s.doc_id OR (r.line, r.col) < (s.start_line, s.start_col) OR (r.line, r.col) >= (s.end_line, s.end_col)
            UNION
            SELECT c.doc_id, c.line, c.col FROM own JOIN call_in c ON c.callee = own.sym_id, (SELECT * FROM symbol WHERE sym_id = $id) s
            WHERE c.doc_id <> s.doc_id OR (c.line, c.col) < (s.start_line, s.start_col) OR (c.line, c.col) >= (s.end_line, s.end_col)
        )
        SELECT d.path, o.line, o.col FROM outside o JOIN document d USING (doc_id) ORDER BY ALL
        """,
        {"id": sym_id},
    )


# ---- of what it overrides


class Above(NamedTuple):
    """A member that another one overrides, and how many identifiers of the workspace name it; `external`: what lies outside may, too."""

    sym_id: int
    references: int
    external: bool


def overridden_by(index: Index, sym_id: int) -> list[Above]:
    """What a member overrides at any distance: what names one of these may mean the member when it runs. By number of the symbol."""
    rows = index.rows(
        """
        WITH RECURSIVE up(id) AS (
            SELECT super_id FROM override WHERE sub_id = $id
            UNION SELECT o.super_id FROM up JOIN override o ON o.sub_id = up.id
        )
        SELECT up.id, count(*) FILTER (WHERE NOT has_role(r.roles, 'definition')), has_flag(s.flags, 'external')
        FROM up JOIN symbol s ON s.sym_id = up.id LEFT JOIN refs r ON r.sym_id = up.id
        WHERE NOT is_kind(s.kind, 'constructor') GROUP BY ALL ORDER BY up.id
        """,
        {"id": sym_id},
    )
    return [Above(*row) for row in rows]
