"""Dialect `agent-lsp`: callers, hierarchies, and what a change touches."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from indexer.errors import NameNotFound, UsageError
from indexer.text import lines_of
from query.answers.envelope import Answer
from query.dialects.agent_lsp_places import MAX_REFERENCES, MAX_ROWS, Ask, indexed_place_of, place_of, shown_place
from query.dialects.lsp_shapes import (
    absolute,
    ends,
    extents,
    hierarchy_item,
    lsp_range,
    resolved,
)
from query.dialects.surface import Desk, DialectReply, nothing_there
from query.live.documents import read_text


def _find_callers(desk: Desk, ask: Ask, direction: str = "") -> DialectReply:
    direction = direction or ask.direction
    where = indexed_place_of(desk, ask)
    try:
        answer = desk.ask("find_callers", direction=direction, values=False, limit=MAX_ROWS, **where)
    except NameNotFound as error:
        return nothing_there(error, f"No call hierarchy item found at {shown_place(ask)}")
    item = _itself(desk, answer)

    def form(of: Answer[Any]) -> dict[str, Any]:
        known = extents(desk.index, [item, *(edge.symbol for edge in of.result)])
        end: dict[tuple[str, int, int], int] = ends(
            desk.index, [(site.path, site.line, site.col) for edge in of.result for site in edge.sites]
        )
        value: dict[str, Any] = {"items": [hierarchy_item(desk.root, item, known)]}
        for way, key in (("incoming", "from"), ("outgoing", "to")):
            if direction in (way, "both"):
                value[way] = [
                    {
                        key: hierarchy_item(desk.root, edge.symbol, known),
                        "fromRanges": [
                            lsp_range(site.line, site.col, site.line, end.get((site.path, site.line, site.col), int(site.col)), base=-1)
                            for site in edge.sites
                        ],
                    }
                    for edge in of.result
                    if edge.direction == way
                ]
        if ask.cross_concurrent:
            value["concurrent_callers"] = [
                {"caller": hierarchy_item(desk.root, edge.symbol, known), "pattern": pattern, "file": file, "line": site.line}
                for edge in of.result
                if edge.direction == "incoming"
                for site in edge.sites
                if (pattern := _begun_apart(file := absolute(desk.root, site.path), site.line))
            ]
        return value

    return desk.value(answer, form)


_APART = re.compile(
    r"\bgo\s+func\b|\bgo\s+[\w.]+\(|\b\w*Thread\(|\bthread::(?:spawn|scope)\(|\btokio::(?:task::)?spawn\w*\(|\bstd::(?:j?thread|async)\b"
    r"|\bpthread_create\(|\b(?:create_task|ensure_future|run_in_executor|to_thread|start_soon|run_coroutine_threadsafe)\("
    r"|\b(?:executor|pool)\w*\.(?:submit|map|apply_async)\(|\bnew (?:Worker|Promise)\("
    r"|\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\("
    r"|\bExecutorService\b|\bCompletableFuture\.\w+\(",
    re.IGNORECASE,
)
"""What begins a thread, a task or a callback for later, as the text of a call says it."""

_LINES_ABOVE = 5


def _begun_apart(file: str, line: int) -> str:
    """The words by which a call, or what stands within five lines above it, is begun apart from its caller; empty where none are there."""
    try:
        lines = lines_of(read_text(file)[0])
    except UsageError:
        return ""
    for number in range(line, max(0, line - _LINES_ABOVE - 1), -1):
        if number <= len(lines) and (found := _APART.search(lines[number - 1])):
            return found.group()
    return ""


def _itself(desk: Desk, answer: Answer[Any]) -> Any:
    """The record of what was asked about."""
    return desk.ask("inspect_symbol", symbol=resolved(answer)).result.symbol


def _type_hierarchy(desk: Desk, ask: Ask) -> DialectReply:
    where = indexed_place_of(desk, ask)
    try:
        answer = desk.ask("type_hierarchy", direction=ask.direction, limit=MAX_ROWS, **where)
    except NameNotFound as error:
        return nothing_there(error, f"No type hierarchy item found at {shown_place(ask)}")
    item = _itself(desk, answer)

    def form(of: Answer[Any]) -> dict[str, Any]:
        known = extents(desk.index, [item, *(relation.symbol for relation in of.result)])
        value: dict[str, Any] = {"items": [hierarchy_item(desk.root, item, known)]}
        for way in ("supertypes", "subtypes"):
            if ask.direction in (way, "both"):
                value[way] = [hierarchy_item(desk.root, rel.symbol, known) for rel in of.result if rel.direction == way]
        return value

    return desk.value(answer, form)


def _get_document_highlights(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("get_document_highlights", limit=MAX_REFERENCES, **place_of(desk, ask))
    return desk.value(
        answer,
        lambda of: [
            {"range": lsp_range(item.line, item.col, item.line, item.end_col, base=-1), "kind": item.number}
            for item in of.result.highlights
        ],
    )


def _blast_radius(desk: Desk, ask: Ask) -> DialectReply:
    files = [desk.file(path) for path in ask.changed_files]
    if not files:
        raise UsageError("blast_radius: changed_files is empty")
    answer = desk.ask("blast_radius", changed_files=files, include_transitive=ask.include_transitive, scope=ask.scope, limit=MAX_ROWS)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        changed = [item for item in found.changed_symbols if not ask.filter or (item.callers and not item.test_references)]
        return {
            "changed_symbols": [_at(item) for item in changed],
            "test_files": found.test_files,
            "test_functions": [_at(item) for item in found.test_functions],
            "non_test_callers": [_at(item) for item in found.non_test_callers],
            "summary": found.summary,
            "warnings": [*found.warnings, *(reason.detail for reason in of.completeness.reasons)],
        }

    return desk.value(answer, form)


def _at(item: Any) -> dict[str, Any]:
    guarded = {"sync_guarded": True} if getattr(item, "sync_guarded", False) else {}
    risk = {"risk": item.risk} if getattr(item, "risk", "") else {}
    return {"name": item.name, "file": item.file, "line": item.line, **risk, **guarded}


def _detect_changes(desk: Desk, ask: Ask) -> DialectReply:
    wanted = {"range": ask.range} if ask.range and ask.scope == "committed" else {}  # other scopes ignore it
    answer = desk.ask("detect_changes", scope=ask.scope, limit=MAX_ROWS, workspace_root=ask.workspace_root, **wanted)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        return {
            "changed_files": [absolute(desk.root, path) for path in found.changed_files],
            "changed_symbols": [_at(item) for item in found.changed_symbols],
            "non_test_callers": [_at(item) for item in found.non_test_callers],
            "scope": ask.scope,
        }

    return desk.value(answer, form)


def _get_cross_repo_references(desk: Desk, ask: Ask) -> DialectReply:
    where = {"symbol_file": desk.file(ask.symbol_file), "line": ask.line, "column": ask.column}
    answer = desk.ask("get_cross_repo_references", consumer_roots=ask.consumer_roots, limit=MAX_REFERENCES, **where)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        own = {item.name: absolute(desk.root, item.path) for item in found.folders}
        roots = {own.get(name, name): items for name, items in found.consumer_references.items()}
        for root in ask.consumer_roots:  # a root of several folders, or under its own spelling
            if os.path.realpath(root) in roots:
                roots[root] = roots.pop(os.path.realpath(root))
        return {
            "library_references": [{"file": item.path, "line": item.line, "column": item.col} for item in found.library_references],
            "consumer_references": {
                root: [{"file": absolute(desk.root, item.path), "line": item.line, "column": item.col} for item in items]
                for root, items in roots.items()
            },
            "warnings": [f"{item.folder}: {item.detail}" if item.folder else item.detail for item in found.warnings],
        }

    return desk.value(answer, form)


def _get_tests_for_file(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("get_tests_for_file", file_path=desk.file(ask.file_path), limit=MAX_ROWS)
    return desk.value(
        answer,
        lambda of: {
            "source_file": absolute(desk.root, of.result.source_file),
            "test_files": [absolute(desk.root, path) for path in of.result.test_files],
        },
    )


RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {
    "find_callers": _find_callers,
    "callers": lambda desk, ask: _find_callers(desk, ask, "incoming"),
    "type_hierarchy": _type_hierarchy,
    "get_document_highlights": _get_document_highlights,
    "blast_radius": _blast_radius,
    "detect_changes": _detect_changes,
    "get_cross_repo_references": _get_cross_repo_references,
    "get_tests_for_file": _get_tests_for_file,
}
