"""Dialect `agent-lsp`: edits that are tried in memory or written, in the shapes of that surface.

An evaluation without errors has null where a list would be, a step of a chain has an empty list: so that surface has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from indexer.errors import EditRefused
from indexer.quoting import one_line
from query.answers.envelope import Answer
from query.dialects.lsp_shapes import absolute, lsp_range
from query.dialects.surface import Desk, DialectReply
from query.edits.workspace_edit import by_uri

Ask = Any

_PLACE = ("start_line", "start_column", "end_line", "end_column", "new_text")


def _diagnostics(desk: Desk, rows: list[Any]) -> list[dict[str, Any]]:
    return [
        {
            "file_path": absolute(desk.root, item.path),
            "line": item.line,
            "col": item.col,
            "severity": item.severity,
            "message": item.message,
            **({"code": item.code} if item.code else {}),
            **({"source": item.source} if item.source else {}),
        }
        for item in rows
    ]


def _edit(desk: Desk, ask: Ask) -> dict[str, Any]:
    return {"file_path": desk.file(ask.file_path), **{name: getattr(ask, name) for name in _PLACE}}


def _judged(desk: Desk, found: Any) -> dict[str, Any]:
    return {
        "errors_introduced": _diagnostics(desk, found.errors_introduced) or None,
        "errors_resolved": _diagnostics(desk, found.errors_resolved) or None,
        "net_delta": found.net_delta,
    }


def _waiting(ask: Ask) -> dict[str, Any]:
    return {"scope": ask.scope, "timeout_ms": ask.timeout_ms or 0}


def _create(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("create_simulation_session", language=ask.language, workspace_root=ask.workspace_root)
    return desk.value(answer, lambda of: {"session_id": of.result.session_id, "status": of.result.status})


def _simulate(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("simulate_edit", session_id=ask.session_id, **_edit(desk, ask))
    return desk.value(
        answer,
        lambda of: {
            "session_id": of.result.session_id,
            "edit_applied": of.result.edit_applied,
            "version_after": of.result.version_after,
        },
    )


def _evaluate(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("evaluate_session", session_id=ask.session_id, **_waiting(ask))
    return desk.value(
        answer,
        lambda of: {
            "session_id": of.result.session_id,
            **_judged(desk, of.result),
            "scope": of.result.scope,
            "confidence": of.result.confidence,
            "timeout": of.result.timeout,
            "duration_ms": of.result.duration_ms,
        },
    )


def _chain(desk: Desk, ask: Ask) -> DialectReply:
    edits = [{**item, "file_path": desk.file(item["file_path"])} if _has_path(item) else item for item in ask.edits]
    answer = desk.ask("simulate_chain", session_id=ask.session_id, edits=edits, timeout_ms=ask.timeout_ms or 0)
    return desk.value(
        answer,
        lambda of: {
            "steps": [
                {"step": step.step, "net_delta": step.net_delta, "errors_introduced": _diagnostics(desk, step.errors_introduced)}
                for step in of.result.steps
            ],
            "safe_to_apply_through_step": of.result.safe_to_apply_through_step,
            "cumulative_delta": of.result.cumulative_delta,
        },
    )


def _has_path(item: Any) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("file_path"), str)  # pyright: ignore[reportUnknownMemberType]


def _commit(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("commit_session", session_id=ask.session_id, target=ask.target, apply=ask.apply)
    return desk.value(
        answer,
        lambda of: {
            "session_id": of.result.session_id,
            "files_written": [absolute(desk.root, path) for path in of.result.files_written],
            "patch": by_uri(of.result.patch),
        },
    )


def _status(tool: str) -> Callable[[Desk, Ask], DialectReply]:
    def run(desk: Desk, ask: Ask) -> DialectReply:
        answer = desk.ask(tool, session_id=ask.session_id)
        return desk.value(answer, lambda of: {"session_id": of.result.session_id, "status": of.result.status})

    return run


def _preview(desk: Desk, ask: Ask) -> DialectReply:
    session = {"session_id": ask.session_id} if ask.session_id else {"language": ask.language, "workspace_root": ask.workspace_root}
    answer = desk.ask("preview_edit", **session, **_edit(desk, ask), **_waiting(ask))
    return desk.value(answer, lambda of: {**_judged(desk, of.result), "confidence": of.result.confidence})


def _safe_apply(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("safe_apply_edit", file_path=desk.file(ask.file_path), old_text=ask.old_text, new_text=ask.new_text, apply=True)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        why = {"reason": found.why_not} if found.why_not else {}
        return {"applied": found.applied, **why, **_judged(desk, found.preview), "confidence": found.preview.confidence}

    return desk.value(answer, form)


def _apply(desk: Desk, ask: Ask) -> DialectReply:
    if ask.workspace_edit:
        given: dict[str, Any] = {"workspace_edit": ask.workspace_edit}
    else:
        given = {"file_path": desk.file(ask.file_path), "old_text": ask.old_text, "new_text": ask.new_text}
    answer = desk.ask("apply_edit", apply=True, **given)
    return desk.text(answer, lambda of: "Workspace edit applied successfully")


_NO_RENAME = "Rename not supported or symbol cannot be renamed at this location"


def _where(desk: Desk, ask: Ask) -> dict[str, Any]:
    place = {"position_pattern": ask.position_pattern} if ask.position_pattern else {"line": ask.line, "column": ask.column}
    return {"file_path": desk.file(ask.file_path), **place}


def _rename(desk: Desk, ask: Ask) -> DialectReply:
    """The edit, never made: `apply_edit` does that."""
    try:
        answer = desk.ask("rename_symbol", new_name=ask.new_name, exclude_globs=ask.exclude_globs or [], sites="both", **_where(desk, ask))
    except EditRefused as error:
        return DialectReply(payload=_NO_RENAME, note=str(error))
    if not answer.result.workspace_edit:
        return desk.value(answer, lambda of: None)
    if not ask.dry_run:
        return desk.value(answer, lambda of: by_uri(of.result.workspace_edit))
    told = "Dry run, no files were modified. Call apply_edit with workspace_edit to commit."
    return desk.value(answer, lambda of: {"workspace_edit": by_uri(of.result.workspace_edit), "preview": {"note": told}})


def _prepare_rename(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("prepare_rename", file_path=desk.file(ask.file_path), line=ask.line, column=ask.column)
    found = answer.result
    if answer.completeness.status == "unknown":
        return desk.value(answer, lambda of: None)
    if not found.can_rename:
        return DialectReply(payload="Rename not supported at this position", note=found.why)
    end = found.end_col or found.col + len(found.placeholder)
    where = lsp_range(found.line, found.col, found.line, end, base=-1)
    return desk.value(answer, lambda of: {"range": where, "placeholder": of.result.placeholder})


def _symbol_edit(tool: str, field: str) -> Callable[[Desk, Ask], DialectReply]:
    def run(desk: Desk, ask: Ask) -> DialectReply:
        answer = desk.ask(tool, file_path=desk.file(ask.file_path), symbol_path=ask.symbol_path, apply=True, **{field: getattr(ask, field)})
        done = {"new_body": "replaced", "code": "inserted"}[field]
        return desk.text(answer, lambda of: f'Symbol "{ask.symbol_path}": {done} in {one_line(desk.file(ask.file_path))}')

    return run


def _safe_delete(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("safe_delete_symbol", file_path=desk.file(ask.file_path), symbol_path=ask.symbol_path, apply=True)
    return desk.text(answer, lambda of: f'Symbol "{ask.symbol_path}" deleted (0 references found)')


RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {
    "rename_symbol": _rename,
    "prepare_rename": _prepare_rename,
    "replace_symbol_body": _symbol_edit("replace_symbol_body", "new_body"),
    "insert_after_symbol": _symbol_edit("insert_after_symbol", "code"),
    "insert_before_symbol": _symbol_edit("insert_before_symbol", "code"),
    "safe_delete_symbol": _safe_delete,
    "create_simulation_session": _create,
    "simulate_edit": _simulate,
    "evaluate_session": _evaluate,
    "simulate_chain": _chain,
    "commit_session": _commit,
    "discard_session": _status("discard_session"),
    "destroy_session": _status("destroy_session"),
    "preview_edit": _preview,
    "safe_apply_edit": _safe_apply,
    "safe_edit": _safe_apply,
    "apply_edit": _apply,
}
