"""A session of edits that are not on disk: the beginning of one."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Workspace
from query.facts.folders import WorkspaceRoot, require_root
from query.refactor.simulation.trial import Language, language_named, store_of
from query.surface.registry import workspace_tool


class CreateSimulationSession(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    workspace_root: WorkspaceRoot = ""
    language: Language = ""


class CreatedSession(msgspec.Struct, kw_only=True):
    """`session_id` is what the other tools of sessions take; nobody can guess it."""

    session_id: str
    status: str


def _text(answer: Answer[CreatedSession], style: Style) -> Iterator[str]:
    yield f"{style.strong(answer.result.session_id)}  {answer.result.status}"


@workspace_tool(
    "create_simulation_session",
    parameters=CreateSimulationSession,
    result=CreatedSession,
    positional="",
    example="create_simulation_session --language python",
    task="try",
    hint="begin speculative what if sandbox session",
    text=_text,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(workspace: Workspace, ask: CreateSimulationSession) -> Answer[CreatedSession]:
    """Begins a session of edits that exist in memory only; it is kept between calls until it is destroyed, or unused for a week."""
    from indexer.store.generations import Home

    require_root(workspace.root, ask.workspace_root, or_below=True)
    language = language_named(ask.language)
    if workspace.index is None:
        Home(workspace.top).create()
    session = store_of(workspace).create(language)
    return workspace.answer(ask, CreatedSession(session_id=session.id, status=session.state), all_of(1))
