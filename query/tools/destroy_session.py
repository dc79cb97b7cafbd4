"""A session ended."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Workspace
from query.refactor.simulation.trial import SessionId, store_of
from query.surface.registry import workspace_tool


class DestroySession(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    session_id: SessionId = ""


class DestroyedSession(msgspec.Struct, kw_only=True):
    """`status`: destroyed."""

    session_id: str
    status: str


def _text(answer: Answer[DestroyedSession], style: Style) -> Iterator[str]:
    yield f"{style.strong(answer.result.session_id)}  {answer.result.status}"


@workspace_tool(
    "destroy_session",
    parameters=DestroySession,
    result=DestroyedSession,
    positional="session_id",
    example="destroy_session 00000000000000000000000000000000",
    task="try",
    hint="speculative end close cleanup remove session",
    text=_text,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(workspace: Workspace, ask: DestroySession) -> Answer[DestroyedSession]:
    """Ends a session, whatever state it is in, and forgets its edits."""
    store_of(workspace).destroy(ask.session_id)
    return workspace.answer(ask, DestroyedSession(session_id=ask.session_id, status="destroyed"), all_of(1))
