"""The outline of one document."""

from __future__ import annotations

from typing import Annotated

import msgspec

from query.answer import Answer
from query.completeness import provenance
from query.names import document_path
from query.page import asked
from query.registry import Context, tool


class ListSymbols(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, msgspec.Meta(description="document, relative to the workspace root or to here, or absolute")] = ""
    depth: Annotated[int, msgspec.Meta(ge=1, le=50, description="levels shown; 1 is the top level only")] = 10
    locals: Annotated[bool, msgspec.Meta(description="also parameters and local variables")] = False


class OutlineItem(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol with its members, in order of position; lines and columns 1-based."""

    symbol: str
    name: str
    kind: str
    line: int
    col: int
    end_line: int
    signature: str = ""
    children: list[OutlineItem] = []


@tool("list_symbols", parameters=ListSymbols, result=list[OutlineItem], positional="file_path", example="outline src/app.py")
def TOOL(context: Context, ask: ListSymbols) -> Answer:
    """All symbols of a document, as a tree."""
    path = document_path(context.index, ask.file_path)
    rows = context.index.rows(
        """
        SELECT s.sym_id, s.container_id, s.moniker, s.name, k.label, s.sel_line, s.sel_col, s.end_line, coalesce(t.signature, '')
        FROM symbol s JOIN document d USING (doc_id) JOIN kind k ON k.kind = s.kind LEFT JOIN symbol_text t ON t.sym_id = s.sym_id
        WHERE d.path = $path AND s.kind <> 2 AND ($locals OR s.flags & 1 = 0 OR s.kind IN (5, 6, 9, 12))
        ORDER BY s.sel_line, s.sel_col, s.sym_id
        """,
        {"path": path, "locals": ask.locals},
    )
    items = {
        row[0]: OutlineItem(symbol=row[2], name=row[3], kind=row[4], line=row[5] + 1, col=row[6] + 1, end_line=row[7] + 1, signature=row[8])
        for row in rows
    }
    depth: dict[int, int] = {}
    top: list[OutlineItem] = []
    for sym_id, container, *_ in sorted(rows, key=lambda row: row[0]):  # ids follow the outline: containers first
        depth[sym_id] = depth.get(container, 0) + 1
    for sym_id, container, *_ in rows:
        if depth[sym_id] > ask.depth:
            continue
        home = items[container].children if container in items else top
        home.append(items[sym_id])
    shown = sum(1 for level in depth.values() if level <= ask.depth)
    return Answer(
        tool="list_symbols",
        query={**asked(ask), "file_path": path},
        result=top,
        total=len(rows),
        truncated=shown < len(rows),
        completeness=context.certificate.of_documents([path], ["syntax", "textDocument/documentSymbol"]),
        provenance=provenance(context.index),
    )
