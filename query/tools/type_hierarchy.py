"""Super- and subtypes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from query.answer import Answer, Reason, SymbolRecord
from query.completeness import provenance
from query.names import symbols_by_id
from query.page import Named, asked
from query.registry import Context, tool


class TypeHierarchy(Named, kw_only=True):
    direction: Annotated[Literal["supertypes", "subtypes", "both"], msgspec.Meta(description="which way")] = "both"
    depth: Annotated[int, msgspec.Meta(ge=1, le=100, description="levels; 1: direct only")] = 1
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="types shown")] = 500


class TypeRelation(msgspec.Struct, kw_only=True):
    """A type above or below, `depth` steps away; `of` is the type one step nearer. Evidence says who knows of the edge."""

    direction: Literal["supertypes", "subtypes"]
    symbol: SymbolRecord
    depth: int
    of: str
    evidence: list[str]


_STEP = {
    "supertypes": """
        SELECT e.sub_id, e.super_id, list(DISTINCT v.label ORDER BY v.label)
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge e ON e.sub_id = u.id
        JOIN evidence v ON v.evidence = e.evidence GROUP BY 1, 2 ORDER BY 1, 2
    """,
    "subtypes": """
        SELECT e.super_id, e.sub_id, list(DISTINCT v.label ORDER BY v.label)
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge_rev e ON e.super_id = u.id
        JOIN evidence v ON v.evidence = e.evidence GROUP BY 1, 2 ORDER BY 1, 2
    """,
}


@tool("type_hierarchy", parameters=TypeHierarchy, result=list[TypeRelation], positional="symbol", example="hierarchy Flask")
def TOOL(context: Context, ask: TypeHierarchy) -> Answer:
    """Supertypes and subtypes of a class, to any depth."""
    index = context.index
    symbol = ask.resolve(index)
    if symbol.record.kind not in ("class", "interface", "enum", "struct"):
        raise UsageError(f"'{symbol.record.qualified_name}' is a {symbol.record.kind}; a hierarchy needs a class")
    more: list[Reason] = []
    found: list[tuple[str, int, int, int, list[str]]] = []
    for direction in ("supertypes", "subtypes"):
        if ask.direction not in (direction, "both"):
            continue
        seen, frontier = {symbol.sym_id}, [symbol.sym_id]
        for depth in range(1, ask.depth + 1):
            step = index.rows(_STEP[direction], {"ids": frontier}) if frontier else []
            found += [(direction, other, depth, of, evidence) for of, other, evidence in step if other not in seen]
            frontier = list(dict.fromkeys(other for _, other, _ in step if other not in seen))
            seen.update(frontier)
        inner = [symbol.sym_id, *(other for way, other, depth, _, _ in found if way == direction and depth < ask.depth)]
        certificate = context.certificate
        more += certificate.unresolved_supertypes(inner) if direction == "supertypes" else certificate.unresolved_subtypes(inner)
    shown = found[: ask.limit]
    known = symbols_by_id(index, sorted({item[1] for item in shown} | {item[3] for item in shown}))
    return Answer(
        tool="type_hierarchy",
        query=asked(ask, symbol),
        result=[
            TypeRelation(
                direction="supertypes" if direction == "supertypes" else "subtypes",
                symbol=known[other].record,
                depth=depth,
                of=known[of].record.symbol,
                evidence=evidence,
            )
            for direction, other, depth, of, evidence in shown
        ],
        total=len(found),
        truncated=len(shown) < len(found),
        completeness=context.certificate.of_workspace(["syntax", "textDocument/definition"], more=more),
        provenance=provenance(index),
    )
