"""A session's edits as a patch, or written to disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from indexer.errors import EditRefused, UsageError
from query.answers.envelope import Answer, completeness_from
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Workspace
from query.refactor.outcome import Apply, Edited, Outcome, PlanId, carry_out, done, lines
from query.refactor.simulation.trial import SessionId, scope_of, store_of
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from query.edits.plan import Plan
    from query.edits.scope import Scope
    from query.refactor.simulation.session import Session


class CommitSession(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    session_id: SessionId = ""
    target: Annotated[
        str, msgspec.Meta(description="of a session about one file: the path to write it to instead, where no file may be yet")
    ] = ""
    apply: Apply = False
    plan: PlanId = ""


class Committed(msgspec.Struct, kw_only=True):
    """`patch`: the edits as a WorkspaceEdit for apply_edit, which refuses it once a file has changed; `edited`: the same as diffs."""

    session_id: str
    status: str
    files_written: list[str]
    patch: dict[str, Any]
    edited: Edited


def _text(answer: Answer[Committed], style: Style) -> Iterator[str]:
    yield f"session {style.strong(answer.result.session_id)}, {answer.result.status}"
    yield from lines(answer.result.edited, style)


@workspace_tool(
    "commit_session",
    parameters=CommitSession,
    result=Committed,
    positional="session_id",
    example="commit_session 00000000000000000000000000000000",
    task="try",
    hint="speculative patch diff write materialize",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
)
def TOOL(workspace: Workspace, ask: CommitSession) -> Answer[Committed]:
    """A session's edits as a patch; with apply they are written to disk, all files or none, if nobody has changed them since."""
    from query.refactor.simulation.session import require_committable

    scope, store = scope_of(workspace), store_of(workspace)

    def commit(session: Session) -> Outcome:
        require_committable(session, scope)
        outcome = carry_out(workspace, lambda of: _plan(of, session, ask.target), write=ask.apply, shown=ask.plan)
        session.state = "committed" if ask.apply else session.state
        return outcome

    if ask.apply:  # so that no edit is added while the files are written
        session, outcome = store.change(ask.session_id, commit)
    else:
        session = store.load(ask.session_id)
        outcome = commit(session)
    result = Committed(
        session_id=session.id,
        status=session.state,
        files_written=[item.path for item in outcome.plan.changes] if ask.apply else [],
        patch=outcome.plan.as_workspace_edit(scope),
        edited=outcome.edited,
    )
    return workspace.answer(ask, result, all_of(len(outcome.edited.files)), completeness_from(outcome.reasons))


def _plan(scope: Scope, session: Session, target: str) -> Plan:
    from query.edits.plan import plan_documents

    documents = session.documents()
    if not target:
        return plan_documents(scope, documents, session.digests())
    if len(documents) != 1:
        raise UsageError(f"target is one path, and session {session.id} is about {len(documents)} files; commit without it")
    path = scope.of_path(target)
    if scope.read(path) is not None or scope.is_folder(path):
        raise EditRefused(f"'{path}' is there already; a target is a new file")
    return plan_documents(scope, {path: next(iter(documents.values()))}, {path: ""})
