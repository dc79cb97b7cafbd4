"""The outline of one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.pages import first_of
from query.answers.style import Style
from query.context import Context, Workspace
from query.facts.names import document_path
from query.facts.outline import Outlined, outline
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


def _by_text(workspace: Workspace, ask: ListSymbols) -> Answer[list[OutlineItem]]:
    from query.live.outline import has_outline, outline
    from query.live.questions import document

    of = document(workspace, ask.file_path)
    if ask.locals or not has_outline(of.path):
        raise UsageError(f"the text of '{of.path}' alone does not show this")
    depth = 1 if ask.top_level_only else ask.depth
    top: list[OutlineItem] = []
    items: dict[str, OutlineItem] = {}
    found = outline(of.path, of.text)
    shown = 0
    for item in found:
        above, _, name = item.dotted.rpartition(".")
        if item.dotted.count(".") >= depth:
            continue
        shown += 1
        line, col = item.selection.line + 1, item.selection.col + 1
        made = OutlineItem(name=name, kind=item.kind, line=line)
        if ask.format != "outline":
            made = OutlineItem(
                name=name, kind=item.kind, line=line, symbol=f"{of.path}:{line}:{col}", col=col, end_line=item.span.end_line + 1
            )
        (items[above].children if above in items else top).append(made)
        items.setdefault(item.dotted, made)
    return workspace.answer(ask, top, first_of(shown, len(found)), more={"file_path": of.path})


@tool(
    "list_symbols",
    parameters=ListSymbols,
    result=list[OutlineItem],
    positional="file_path",
    seldom="top_level_only locals",
    example="outline shortcuts.py",
    task="read",
    hint="outline structure contents list of a file document symbols which functions classes methods inside it everything package exports",
    text=_text,
    by_text=_by_text,
)
def TOOL(context: Context, ask: ListSymbols) -> Answer[list[OutlineItem]]:
    """All symbols of a document, as a tree."""
    path = document_path(context.index, ask.file_path)
    found = outline(context.index, path, with_locals=ask.locals)
    items = {item.sym_id: _item(item, short=ask.format == "outline") for item in found}
    container = {item.sym_id: item.container for item in found}
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


def _item(of: Outlined, *, short: bool) -> OutlineItem:
    if short:
        return OutlineItem(name=of.name, kind=of.kind, line=of.line + 1)
    return OutlineItem(
        symbol=of.moniker,
        name=of.name,
        kind=of.kind,
        line=of.line + 1,
        col=of.col + 1,
        end_line=of.end_line + 1,
        signature=of.signature,
        of=of.of or "",
        declared=of.declared,
    )
