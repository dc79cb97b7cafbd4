"""Where a symbol is used."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from indexer.model import Evidence, Role
from query.answer import Answer
from query.completeness import provenance
from query.page import Named, Sources, asked, next_cursor, offset_of
from query.registry import Context, tool

_POSSIBLE = 255
"""In place of evidence: an identifier of the right name that nobody could resolve."""


class FindReferences(Named, kw_only=True):
    include_declaration: Annotated[bool, msgspec.Meta(description="also the symbol's own definitions")] = False
    role: Annotated[
        list[str], msgspec.Meta(description="only these roles: call, read, write, import, decorator, supertype, annotation, ...")
    ] = []
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob")] = ""
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="references in test files")] = "include"
    possible: Annotated[bool, msgspec.Meta(description="also identifiers of that name that nobody could resolve, marked so")] = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="references shown")] = 500
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class Reference(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One use. `enclosing` is the function, class or module around it. Lines and columns 1-based, end exclusive."""

    path: str
    line: int
    col: int
    end_col: int
    roles: list[str]
    enclosing: str
    evidence: str
    is_test: bool = False
    text: str = ""


@tool("find_references", parameters=FindReferences, result=list[Reference], positional="symbol", example="references Flask.route")
def TOOL(context: Context, ask: FindReferences) -> Answer:
    """All uses of a symbol in the workspace, definitions first, then by path and position."""
    index = context.index
    symbol = ask.resolve(index)
    conditions = ["true"]
    values: dict[str, Any] = {"id": symbol.sym_id}
    if not ask.include_declaration:
        conditions.append("(r.roles & 1 = 0 OR r.evidence = 7)")
    if ask.role:
        values["roles"] = _mask(ask.role)
        conditions.append("r.roles & $roles <> 0")
    if ask.path:
        values["path"] = ask.path
        conditions.append("(d.path GLOB $path OR starts_with(d.path, $path))")
    if ask.tests != "include":
        conditions.append("d.is_test" if ask.tests == "only" else "NOT d.is_test")
    where = " AND ".join(conditions)
    source = "SELECT doc_id, line, col, end_col, roles, encl_id, evidence FROM refs WHERE sym_id = $id"
    if ask.possible:
        values["name"] = symbol.record.name
        source += " UNION ALL SELECT doc_id, line, col, end_col, roles, encl_id, 255 FROM unresolved_name WHERE name = $name"
    offset = offset_of(ask.cursor)
    found_by = f"FROM ({source}) r JOIN document d USING (doc_id) LEFT JOIN symbol e ON e.sym_id = r.encl_id WHERE {where}"
    rows = index.rows(
        f"""
        SELECT d.path, r.line, r.col, r.end_col, r.roles, e.qualified_name, r.evidence, d.is_test,
               count(*) OVER () AS total
        {found_by} ORDER BY r.evidence = 255, r.roles & 1 DESC, d.path, r.line, r.col LIMIT $limit OFFSET $offset
        """,
        {**values, "limit": ask.limit, "offset": offset},
    )
    sources = Sources(index)
    found = [
        Reference(
            path=path,
            line=line + 1,
            col=col + 1,
            end_col=end + 1,
            roles=Role(roles).labels,
            enclosing=enclosing or "",
            evidence="possible" if evidence == _POSSIBLE else Evidence(evidence).label,
            is_test=bool(is_test),
            text=sources.line(path, line),
        )
        for path, line, col, end, roles, enclosing, evidence, is_test, _ in rows
    ]
    total = int(rows[0][-1]) if rows else 0
    if offset and not rows:  # past the end
        [(total,)] = index.rows(f"SELECT count(*) {found_by}", values)
    return Answer(
        tool="find_references",
        query=asked(ask, symbol),
        result=found,
        total=total,
        truncated=offset + len(found) < total,
        completeness=context.certificate.of_workspace(
            ["syntax", "textDocument/definition"], "" if symbol.is_local else symbol.record.name, about=symbol.record.path
        ),
        provenance=provenance(index),
        next_cursor=next_cursor(offset, len(found), total),
    )


def _mask(roles: list[str]) -> int:
    from indexer.errors import UsageError

    known = {role.name.lower(): role for role in Role if role.name}
    mask = 0
    for name in roles:
        if name.lower() not in known:
            raise UsageError(f"no role is called '{name}'; known: {', '.join(known)}")
        mask |= int(known[name.lower()])
    return mask
