"""Dialect `agent-lsp`: the tools that a running server answers, in the shapes of that surface.

Where it says so these are the protocol's own (0-based). An empty list of what a server cannot do has a note that says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

from indexer.errors import UsageError
from indexer.quoting import one_line
from query.answers.envelope import Answer
from query.dialects.lsp_shapes import lsp_range
from query.dialects.surface import Desk, DialectReply, note, to_json
from query.live.documents import read_text

_MAX_COMPLETIONS, _MAX_FIXES, _MAX_TOKENS, _MAX_HINTS = 1_000, 200, 100_000, 10_000

Ask = Any


def _place(desk: Desk, ask: Ask) -> dict[str, Any]:
    return {"file_path": desk.file(ask.file_path), "line": ask.line, "column": ask.column}


def _range(desk: Desk, ask: Ask) -> dict[str, Any]:
    where = {name: getattr(ask, name) for name in ("start_line", "start_column", "end_line", "end_column")}
    return {"file_path": desk.file(ask.file_path), **where}


def _get_completions(desk: Desk, ask: Ask) -> DialectReply:
    def item(found: Any) -> dict[str, Any]:
        shape = {"label": found.label, "kind": found.number, "detail": found.detail, "sortText": found.sort_text}
        more = {"documentation": found.documentation, "insertText": found.insert_text}
        return {key: value for key, value in {**shape, **more}.items() if value}

    answer = desk.ask("get_completions", limit=_MAX_COMPLETIONS, **_place(desk, ask))
    return desk.value(answer, lambda of: [item(found) for found in of.result])


def _get_signature_help(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("get_signature_help", **_place(desk, ask))
    if answer.completeness.status == "unknown":
        return desk.value(answer, lambda of: [])
    if not answer.result.signatures:
        return DialectReply(payload="No signature help available at this location", note=note(answer))

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        signatures = [
            {
                "label": item.label,
                **({"documentation": {"kind": "markdown", "value": item.documentation}} if item.documentation else {}),
                "parameters": [{"label": [part.start, part.end] if part.start >= 0 else part.label} for part in item.parameters],
            }
            for item in found.signatures
        ]
        chosen = found.signatures[found.active_signature].active_parameter if found.signatures else -1
        active = chosen if chosen >= 0 else max(found.active_parameter, 0)
        return {"signatures": signatures, "activeSignature": found.active_signature, "activeParameter": active}

    return desk.value(answer, form)


def _suggest_fixes(desk: Desk, ask: Ask) -> DialectReply:
    def action(found: Any) -> dict[str, Any]:
        shape: dict[str, Any] = {"title": found.title, "kind": found.kind}
        if found.preferred:
            shape["isPreferred"] = True
        if found.disabled:
            shape["disabled"] = {"reason": found.disabled}
        if found.diagnostics:
            shape["diagnostics"] = [{"message": message} for message in found.diagnostics]
        if found.edit is not None:
            shape["edit"] = found.edit.workspace_edit
        if found.command is not None:
            shape["command"] = msgspec.to_builtins(found.command)
        return shape

    answer = desk.ask("suggest_fixes", limit=_MAX_FIXES, **_range(desk, ask))
    return desk.value(answer, lambda of: [action(found) for found in of.result])


def _execute_command(desk: Desk, ask: Ask) -> DialectReply:
    """The server's own result; edits that it asks for are not made, and are there to be sent to apply_edit."""
    answer = desk.ask("execute_command", command=ask.command, arguments=ask.arguments or [], apply=True)
    found = answer.result
    if answer.completeness.status == "unknown":
        return DialectReply(payload="null", note=note(answer))
    if found.edits:
        asked = [edit.workspace_edit for edit in found.edits]
        return desk.value(answer, lambda of: {"result": found.result, "workspace_edits": asked, "applied": False})
    if found.result is None:
        return DialectReply(payload="Command executed successfully (no result returned)", note=note(answer))
    return DialectReply(payload=to_json(found.result), structured=found.result, note=note(answer))


def _formatting(tool: str, where: Callable[[Desk, Ask], dict[str, Any]]) -> Callable[[Desk, Ask], DialectReply]:
    def run(desk: Desk, ask: Ask) -> DialectReply:
        answer = desk.ask(tool, tab_size=ask.tab_size, insert_spaces=ask.insert_spaces, **where(desk, ask))
        return desk.value(
            answer,
            lambda of: [
                {"range": lsp_range(edit.line, edit.col, edit.end_line, edit.end_col, base=-1), "newText": edit.new_text}
                for edit in of.result.edits
            ],
        )

    return run


def _get_semantic_tokens(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("get_semantic_tokens", limit=_MAX_TOKENS, **_range(desk, ask))
    return desk.value(
        answer,
        lambda of: [
            {
                "line": item.line,
                "character": item.col,
                "length": item.length,
                "token_type": item.token_type,
                "token_modifiers": item.token_modifiers,
            }
            for item in of.result
        ],
    )


def _get_inlay_hints(desk: Desk, ask: Ask) -> DialectReply:
    def hint(item: Any) -> dict[str, Any]:
        shape: dict[str, Any] = {"position": {"line": item.line - 1, "character": item.col - 1}, "label": item.label}
        if item.number:
            shape["kind"] = item.number
        for name, given in (("paddingLeft", item.padding_left), ("paddingRight", item.padding_right)):
            if given:
                shape[name] = True
        return shape

    answer = desk.ask("get_inlay_hints", limit=_MAX_HINTS, **_range(desk, ask))
    return desk.value(answer, lambda of: [hint(item) for item in of.result])


# ---- sessions


def _start_lsp(desk: Desk, ask: Ask) -> DialectReply:
    given = {name: value for name in ("language_id", "connect") if (value := getattr(ask, name))}
    seconds = math.ceil(ask.ready_timeout_seconds)
    answer = desk.ask("start_lsp", root_dir=ask.root_dir, ready_timeout_seconds=seconds, **given)
    whole = "scope was not needed: the index holds the whole workspace" if ask.scope else ""
    return desk.text(answer, lambda of: f"LSP server initialized with root: {ask.root_dir}", whole)


def _restart_lsp_server(desk: Desk, ask: Ask) -> DialectReply:
    return desk.text(desk.ask("restart_lsp_server", root_dir=ask.root_dir), lambda of: "LSP server restarted successfully")


def _open_document(desk: Desk, ask: Ask) -> DialectReply:
    path = desk.file(ask.file_path)
    if ask.text and ask.text != read_text(path)[0]:
        raise UsageError("open_document: answers are about files as they are on disk, and this text is another; preview_edit tries a text")
    answer = desk.ask("open_document", file_path=path)
    return desk.text(answer, lambda of: f"File successfully opened: {one_line(ask.file_path)}")


def _close_document(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("close_document", file_path=ask.file_path)
    return desk.text(answer, lambda of: f"File successfully closed: {one_line(ask.file_path)}")


def _did_change_watched_files(desk: Desk, ask: Ask) -> DialectReply:
    if not ask.changes:
        return DialectReply(payload="Notified server of 0 file change(s)")
    answer = desk.ask("did_change_watched_files", changes=ask.changes)
    nobody = "" if answer.result.servers else answer.result.done
    return desk.text(answer, lambda of: f"Notified server of {len(ask.changes)} file change(s)", nobody)


def _set_log_level(desk: Desk, ask: Ask) -> DialectReply:
    return desk.text(desk.ask("set_log_level", level=ask.level), lambda of: f"Log level set to: {ask.level}")


def _document(desk: Desk, ask: Ask) -> dict[str, Any]:
    return {"file_path": desk.file(ask.file_path)}


RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {
    "get_completions": _get_completions,
    "get_signature_help": _get_signature_help,
    "suggest_fixes": _suggest_fixes,
    "execute_command": _execute_command,
    "format_document": _formatting("format_document", _document),
    "format_range": _formatting("format_range", _range),
    "get_semantic_tokens": _get_semantic_tokens,
    "get_inlay_hints": _get_inlay_hints,
    "start_lsp": _start_lsp,
    "restart_lsp_server": _restart_lsp_server,
    "open_document": _open_document,
    "close_document": _close_document,
    "did_change_watched_files": _did_change_watched_files,
    "set_log_level": _set_log_level,
}
