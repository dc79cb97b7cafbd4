"""The outline of one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import first_of
from query.answers.style import Style
from query.context import Context
from query.facts.names import document_path
from query.surface.registry import tool


class ListSymbols(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, msgspec.Meta(description="document, relative to the workspace root or to here, or absolute")] = ""
    depth: Annotated[int, msgspec.Meta(ge=1, le=50, description="levels shown; 1 is the top level only")] = 10
    locals: Annotated[bool, msgspec.Meta(description="also parameters and local variables")] = False
    top_level_only: Annotated[bool, msgspec.Meta(description="the same as depth 1")] = False
    format: Annotated[
        Literal["json", "outline"], msgspec.Meta(description="outline: name, kind and line only, about a fifth of the tokens")
    ] = "json"


class OutlineItem(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol with its members, in order of position; lines and columns 1-based.

    of: the type it is a member of, where that stands in another document (a method of Go, a definition of C++).
    declared: it is declared here and defined in another document (a prototype). In the format `outline` only name, kind, line and
    children are given.
    """

    name: str
    kind: str
    line: int
    symbol: str = ""
    col: int = 0
    end_line: int = 0
    signature: str = ""
    of: str = ""
    declared: bool = False
    children: list[OutlineItem] = []


_COLUMNS = """
    SELECT s.sym_id, s.container_id, s.moniker, s.name, k.label, {place}, coalesce(t.signature, ''),
           CASE WHEN w.doc_id <> d.doc_id AND s.kind <> 2 THEN w.qualified_name ELSE '' END, {declared}
"""
_DETAILS = """
    JOIN kind k ON k.kind = s.kind LEFT JOIN symbol w ON w.sym_id = s.container_id LEFT JOIN symbol_text t ON t.sym_id = s.sym_id
"""
_OUTLINE = f"""
    {_COLUMNS.format(place="s.sel_line, s.sel_col, s.end_line", declared="false")}
    FROM symbol s JOIN document d USING (doc_id) {_DETAILS}
    WHERE d.path = $path AND s.container_id IS NOT NULL AND ($locals OR s.flags & 1 = 0 OR s.kind IN (5, 6, 9, 12))
"""
_DECLARED = f"""
    {_COLUMNS.format(place="d.line, d.col, d.line", declared="true")}
    FROM (
        SELECT o.doc_id, o.sym_id, min(o.line) AS line, arg_min(o.col, (o.line, o.col)) AS col
        FROM occ o WHERE o.doc_id = (SELECT doc_id FROM document WHERE path = $path) AND o.roles & 1 <> 0 GROUP BY ALL
    ) d JOIN symbol s ON s.sym_id = d.sym_id AND s.doc_id <> d.doc_id {_DETAILS}
    WHERE s.container_id IS NOT NULL AND s.flags & 2049 = 0 ORDER BY d.line, d.col, s.sym_id
"""


def _text(answer: Answer[list[OutlineItem]], style: Style) -> Iterator[str]:
    path = answer.query["file_path"]
    if style.compact:
        yield style.heading(path)
    if answer.query.get("format") == "outline" and not style.compact:
        yield style.heading(path)
    stack = [(item, 0) for item in reversed(answer.result)]
    while stack:
        item, level = stack.pop()
        if answer.query.get("format") == "outline":
            yield f"{'  ' * level}{style.strong(item.name)} [{style.kind(item.kind.title().replace(' ', ''))}] :{item.line}"
            stack += [(child, level + 1) for child in reversed(item.children)]
            continue
        name = style.strong(f"{item.of.rpartition('.')[2]}.{item.name}" if item.of else item.name)
        note = style.dim("  (defined elsewhere)") if item.declared else ""
        place = f"{item.line}-{item.end_line}" if style.compact else style.place(path, item.line, item.col)
        yield f"{'  ' * level}{place}  {style.kind(item.kind)} {name}{note}"
        stack += [(child, level + 1) for child in reversed(item.children)]


@tool(
    "list_symbols",
    parameters=ListSymbols,
    result=list[OutlineItem],
    positional="file_path",
    example="outline shortcuts.py",
    task="read",
    hint="outline structure of a file document symbols",
    text=_text,
)
def TOOL(context: Context, ask: ListSymbols) -> Answer[list[OutlineItem]]:
    """All symbols of a document, as a tree."""
    path = document_path(context.index, ask.file_path)
    rows = context.index.rows(f"{_OUTLINE} ORDER BY s.sel_line, s.sel_col, s.sym_id", {"path": path, "locals": ask.locals})
    if not path.endswith((".py", ".pyi")):  # in Python nothing is declared in one file and defined in another
        rows = sorted([*rows, *context.index.rows(_DECLARED, {"path": path})], key=lambda row: (row[5], row[6], row[0]))
    short = ask.format == "outline"
    items = {
        row[0]: OutlineItem(name=row[3], kind=row[4], line=row[5] + 1)
        if short
        else OutlineItem(
            symbol=row[2], name=row[3], kind=row[4], line=row[5] + 1, col=row[6] + 1, end_line=row[7] + 1, signature=row[8],
            of=row[9] or "", declared=row[10],
        )
        for row in rows
    }  # fmt: skip
    container = {row[0]: row[1] for row in rows}
    depth = 1 if ask.top_level_only else ask.depth

    def level(sym_id: int) -> int:
        chain = [sym_id]
        while (above := container[chain[-1]]) in container and above not in chain:
            chain.append(above)
        return len(chain)

    top: list[OutlineItem] = []
    shown = 0
    for sym_id, above in container.items():
        if level(sym_id) <= depth:
            shown += 1
            (items[above].children if above in items else top).append(items[sym_id])
    completeness = context.certificate.of_documents([path], ["syntax", "textDocument/documentSymbol"])
    return context.answer(ask, top, first_of(shown, len(items)), completeness, more={"file_path": path}, about=path)
