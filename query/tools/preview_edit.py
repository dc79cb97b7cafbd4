"""One edit judged in memory, without a session to look after."""

from __future__ import annotations

from collections.abc import Iterator

from query.answers.envelope import Answer
from query.answers.style import Style
from query.context import Workspace
from query.facts.folders import WorkspaceRoot, require_root
from query.refactor.simulation.trial import (
    Evaluation,
    Language,
    OneEdit,
    ScopeOfDiagnostics,
    SessionId,
    TimeoutMs,
    Trial,
    WithWarnings,
    evaluated,
    evaluation_lines,
    language_named,
    scope_of,
    store_of,
)
from query.surface.registry import workspace_tool


class PreviewEdit(OneEdit, kw_only=True):
    session_id: SessionId = ""
    workspace_root: WorkspaceRoot = ""
    language: Language = ""
    scope: ScopeOfDiagnostics = "workspace"
    timeout_ms: TimeoutMs = 0
    include_warnings: WithWarnings = False


def _text(answer: Answer[Evaluation], style: Style) -> Iterator[str]:
    yield from evaluation_lines(answer.result, style)


@workspace_tool(
    "preview_edit",
    parameters=PreviewEdit,
    result=Evaluation,
    positional="file_path",
    example="preview_edit a.py --old-text one --new-text two --scope workspace",
    task="try",
    hint="speculative dry run would will it break introduce new errors compile check before writing try without",
    text=_text,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(workspace: Workspace, ask: PreviewEdit) -> Answer[Evaluation]:
    """Errors that one edit would bring and take away; nothing is written. With session_id the edit stays in that session."""
    from query.refactor.simulation.session import edit
    from query.refactor.simulation.store import new_session

    scope = scope_of(workspace)
    if not ask.session_id:
        require_root(workspace.root, ask.workspace_root, or_below=True)
    if not ask.session_id:
        session = new_session(language_named(ask.language))
        edit(session, scope, ask.wanted())
        trial = Trial(workspace, session, ask.scope, ask.timeout_ms)
        found = trial.evaluate(warnings=ask.include_warnings)
        found.session_id, found.status = "", "destroyed"
        return evaluated(ask, trial, found)
    store = store_of(workspace)
    session, _ = store.change(ask.session_id, lambda session: edit(session, scope, ask.wanted()))
    trial = Trial(workspace, session, ask.scope, ask.timeout_ms)
    found = trial.evaluate(warnings=ask.include_warnings)
    if not found.dirty:
        session.state = "evaluated"
        store.replace(session, session.revision)
        found.status = "evaluated"
    return evaluated(ask, trial, found)
