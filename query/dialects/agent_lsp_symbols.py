"""Dialect `agent-lsp`: the tools about one symbol or one file: what it is, its text, its documentation, what is around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from indexer.errors import NameNotFound
from query.answers.envelope import Answer
from query.answers.style import one_line
from query.dialects.agent_lsp_places import Ask, indexed_place_of, place_of
from query.dialects.lsp_shapes import (
    extent_of,
    extents,
    kind_name,
    kind_number,
    ranges,
    uri,
    whole_range,
)
from query.dialects.surface import Desk, DialectReply, nothing_there

_MAX_SYMBOLS = 1_000
_MAX_ENRICHED = 50


def _inspect_symbol(desk: Desk, ask: Ask) -> DialectReply:
    where = indexed_place_of(desk, ask)
    try:
        answer = desk.ask("inspect_symbol", **where)
    except NameNotFound as error:
        return nothing_there(error, "")
    item = answer.result
    return desk.text(answer, lambda of: of.result.hover or "\n\n".join(filter(None, (item.signature, item.documentation))))


def _list_symbols(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("list_symbols", file_path=desk.file(ask.file_path))
    if ask.format == "outline":
        return desk.text(answer, lambda of: "\n".join(_outline(of.result, "")))

    def form(of: Answer[Any]) -> list[dict[str, Any]]:
        flat: list[Any] = []
        stack = list(of.result)
        while stack:
            flat.append(item := stack.pop())
            stack += item.children
        known = extents(desk.index, flat)

        def symbol(item: Any) -> dict[str, Any]:
            children = [symbol(child) for child in item.children]
            shape = {"name": item.name, "kind": kind_number(item.kind), **ranges(extent_of(known, item), base=1)}
            return {**shape, "children": children} if children else shape

        return [symbol(item) for item in of.result]

    return desk.value(answer, form)


def _outline(items: Sequence[Any], indent: str) -> list[str]:
    lines: list[str] = []
    for item in items:
        lines.append(f"{indent}{one_line(item.name)} [{kind_name(item.kind)}] :{item.line}")
        lines += _outline(item.children, indent + "  ")
    return lines


def _find_symbol(desk: Desk, ask: Ask) -> DialectReply:
    wanted: dict[str, Any] = {"query": ask.query, "match": "substring"} if ask.query else {}
    answer = desk.ask("find_symbol", limit=_MAX_SYMBOLS, **wanted)

    def symbols(records: Sequence[Any]) -> list[dict[str, Any]]:
        known = extents(desk.index, records)
        return [
            {
                "name": record.name,
                "kind": kind_number(record.kind),
                "location": {"uri": uri(desk.root, record.path), "range": whole_range(extent_of(known, record))},
            }
            for record in records
        ]

    if ask.detail_level == "basic":
        return desk.value(answer, lambda of: symbols(of.result))
    limit = min(ask.limit, _MAX_ENRICHED)
    window = answer.result[ask.offset : ask.offset + limit]
    hovers = [desk.ask("inspect_symbol", symbol=record.symbol).result.hover for record in window]
    enriched = [{**shape, "hover": hover} for shape, hover in zip(symbols(window), hovers, strict=True)]
    pagination = {"offset": ask.offset, "limit": limit, "more": ask.offset + len(window) < len(answer.result)}
    return desk.value(
        answer, lambda of: {"total": answer.total, "symbols": symbols(of.result), "enriched": enriched, "pagination": pagination}
    )


def _get_symbol_source(desk: Desk, ask: Ask) -> DialectReply:
    where = place_of(desk, ask)
    answer = desk.ask("get_symbol_source", **where)
    line = where.get("line", 0)

    def form(of: Answer[Any]) -> dict[str, Any]:
        inside = [item for item in of.result if item.start_line <= line <= item.end_line] or of.result
        shapes = [
            {
                "symbol_name": item.symbol.name,
                "symbol_kind": kind_name(item.symbol.kind),
                "start_line": item.start_line,
                "end_line": item.end_line,
                "source": item.source,
            }
            for item in inside
        ]
        return {**shapes[0], **({"other_definitions": shapes[1:]} if len(shapes) > 1 else {})}

    if not answer.result:
        raise NameNotFound(
            f"the source of '{answer.query['resolved']['qualified_name']}' is not in the index: it lies outside the workspace"
        )
    return desk.value(answer, form)


def _get_symbol_documentation(desk: Desk, ask: Ask) -> DialectReply:
    """An unknown name is an answer with `source: error`, as that surface says; an ambiguous one is an error with candidates."""
    try:
        answer = desk.ask("get_symbol_documentation", symbol=ask.symbol, language_id=ask.language_id, format=ask.format)
    except NameNotFound as error:
        failed = {"symbol": ask.symbol, "language": ask.language_id, "source": "error", "doc": "", "signature": "", "error": str(error)}
        return DialectReply(payload=msgspec.json.encode(failed).decode(), structured=failed)
    item = answer.result
    return desk.value(
        answer,
        lambda of: {
            "symbol": ask.symbol,
            "language": item.language,
            "source": "error" if item.source == "none" else "index",
            "doc": of.result.doc,
            "signature": item.signature,
            "error": item.error,
        },
    )


def _explore_symbol(desk: Desk, ask: Ask) -> DialectReply:
    return desk.value(desk.ask("explore_symbol", **place_of(desk, ask)), lambda of: msgspec.to_builtins(of.result))


def _get_editing_context(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("get_editing_context", file_path=desk.file(ask.file_path), if_none_match=ask.if_none_match)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(of.result)
        return {"not_modified": True, "etag": found["etag"]} if found["not_modified"] else found

    return desk.value(answer, form)


RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {
    "inspect_symbol": _inspect_symbol,
    "list_symbols": _list_symbols,
    "find_symbol": _find_symbol,
    "get_symbol_source": _get_symbol_source,
    "get_symbol_documentation": _get_symbol_documentation,
    "explore_symbol": _explore_symbol,
    "explore": _explore_symbol,
    "get_editing_context": _get_editing_context,
}
