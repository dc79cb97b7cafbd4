"""Outlines, symbols by name, and what can be folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from indexer.errors import LspidxError
from indexer.model import SymbolKind
from indexer.quoting import one_line
from query.answers.envelope import Answer
from query.dialects.lsp_shapes import extent_of, extents, kind_number
from query.lsp import notices
from query.lsp.asking import Ask
from query.lsp.params import InDocument, Query
from query.lsp.texts import Point
from query.lsp.views import View, Views

_MOST_SYMBOLS = 500
_MODULE = "module"


def document_symbols(ask: Ask, params: InDocument) -> list[dict[str, Any]] | None:
    """The index's outline of a document that is as it was indexed, else that of the client's text by its syntax."""
    found = ask.document(params.text_document.uri)
    if found is None:
        return None
    room, views, view = found
    is_known = views.index is not None and bool(room.in_index(views.index, view.path))
    if view.is_same and (is_known or views.index is None):
        answer = ask.ask(room, views, "list_symbols", file_path=view.path, depth=50)
        ask.certify(view.uri, [answer], views)
        tree = _of_index(ask, views, view, answer)
    else:
        tree = _of_text(views, view)
    return tree if ask.desk.is_nested else list(_flat(view, tree, ""))


def flattened(items: Sequence[Any]) -> Iterator[Any]:
    """Items of an outline and of all their levels, in order."""
    for item in items:
        yield item
        yield from flattened(item.children)


def _of_index(ask: Ask, views: Views, view: View, answer: Answer[Any]) -> list[dict[str, Any]]:
    index = ask.record(answer, views)
    known = extents(index, flattened(answer.result)) if index is not None else {}

    def shown(items: Sequence[Any]) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for item in items:
            inner = shown(item.children)
            ranges = views.whole(view.path, extent_of(known, item))
            if ranges is None:
                made += inner
            else:
                name = f"{item.of.rpartition('.')[2]}.{item.name}" if item.of else item.name
                made.append(_symbol(name, item.kind, item.signature, ranges, inner))
        return made

    return shown(answer.result)


def _of_text(views: Views, view: View) -> list[dict[str, Any]]:
    from query.live.outline import outline

    top: list[dict[str, Any]] = []
    inside: dict[str, list[dict[str, Any]]] = {}
    for item in outline(view.path, "\n".join(view.lines)):
        above, _, name = item.dotted.rpartition(".")
        whole = views.written(view, Point(item.span.line, item.span.col), Point(item.span.end_line, item.span.end_col))
        of_name = views.written(
            view, Point(item.selection.line, item.selection.col), Point(item.selection.end_line, item.selection.end_col)
        )
        children: list[dict[str, Any]] = []
        made = _symbol(name, item.kind, "", (whole, of_name), children)
        inside.get(above, top).append(made)
        inside.setdefault(item.dotted, children)
    return top


def kind_of(label: str) -> int:
    """The protocol's number of a kind; of what is only known to be a name, that of a variable."""
    try:
        return kind_number(label.replace("_", " "))
    except KeyError:
        return int(SymbolKind.VARIABLE)


def _symbol(
    name: str, kind: str, detail: str, ranges: tuple[dict[str, Any], dict[str, Any]], children: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "name": one_line(name) or "?",
        "kind": kind_of(kind),
        "detail": one_line(detail),
        "range": ranges[0],
        "selectionRange": ranges[1],
        "children": children,
    }


def _flat(view: View, tree: Sequence[dict[str, Any]], container: str) -> Iterator[dict[str, Any]]:
    """For a client that knows no trees."""
    for item in tree:
        match item:
            case {"name": str(name), "kind": kind, "range": where, "children": children}:
                yield {"name": name, "kind": kind, "location": {"uri": view.uri, "range": where}, "containerName": container}
                yield from _flat(view, children, name)
            case _:
                pass


def workspace_symbols(ask: Ask, params: Query) -> list[dict[str, Any]]:
    """Of all folders, each as its own index has them; a folder that cannot answer costs the others nothing."""
    found: list[dict[str, Any]] = []
    for room in ask.desk.rooms.all():
        views = ask.views(room)
        try:
            answer = ask.ask(room, views, "find_symbol", query=params.query, limit=_MOST_SYMBOLS)
        except LspidxError as error:
            ask.tell(str(room.folder), notices.unknown(error.code, str(error)))
            continue
        lost = 0
        for record in answer.result:
            line, col = record.line - 1, record.col - 1
            end = col + len(record.name.encode("utf-16-le", "surrogatepass")) // 2
            if record.kind == _MODULE or not record.line:
                line, col, end = 0, 0, 0
            where = views.location(record.path, line, col, end)
            if where is None:
                lost += 1
                continue
            container = one_line(record.qualified_name.removesuffix(record.name).rstrip(".:"))
            found.append(
                {"name": one_line(record.name) or "?", "kind": kind_of(record.kind), "location": where, "containerName": container}
            )
        ask.certify(room.folder.as_uri(), [answer], views, lost=lost)
    return found


def folding_ranges(ask: Ask, params: InDocument) -> list[dict[str, Any]] | None:
    """The definitions of the client's text that have more than a line, by its syntax."""
    from query.live.outline import outline

    found = ask.document(params.text_document.uri)
    if found is None:
        return None
    _, _, view = found
    ranges: dict[int, int] = {}
    for item in outline(view.path, "\n".join(view.lines)):
        start, end = item.head[0], item.span.end_line - (item.span.end_col == 0)
        if end > start:
            ranges[start] = max(ranges.get(start, 0), end)
    return [{"startLine": start, "endLine": end} for start, end in sorted(ranges.items())]
