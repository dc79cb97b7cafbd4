"""What the edits of a session bring and take away."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer
from query.answers.style import Style
from query.context import Workspace
from query.refactor.simulation.trial import (
    Evaluation,
    ScopeOfDiagnostics,
    SessionId,
    TimeoutMs,
    Trial,
    WithWarnings,
    evaluated,
    evaluation_lines,
    store_of,
)
from query.surface.registry import workspace_tool


class EvaluateSession(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    session_id: SessionId = ""
    scope: ScopeOfDiagnostics = "workspace"
    timeout_ms: TimeoutMs = 0
    include_warnings: WithWarnings = False


def _text(answer: Answer[Evaluation], style: Style) -> Iterator[str]:
    yield from evaluation_lines(answer.result, style)


@workspace_tool(
    "evaluate_session",
    parameters=EvaluateSession,
    result=Evaluation,
    positional="session_id",
    example="evaluate_session 00000000000000000000000000000000 --scope workspace",
    task="try",
    hint="speculative diagnostics errors introduced resolved delta",
    text=_text,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(workspace: Workspace, ask: EvaluateSession) -> Answer[Evaluation]:
    """Errors that a session's edits bring and take away, as a running language server says, with nothing changed on disk."""
    store = store_of(workspace)
    session = store.load(ask.session_id)
    trial = Trial(workspace, session, ask.scope, ask.timeout_ms)
    found = trial.evaluate(warnings=ask.include_warnings)
    if session.state == "mutated" and not found.dirty:
        session.state = "evaluated"
        store.replace(session, session.revision)
        found.status = "evaluated"
    return evaluated(ask, trial, found)
