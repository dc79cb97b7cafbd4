"""A session's edits taken back."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Workspace
from query.refactor.simulation.trial import SessionId, store_of
from query.surface.registry import workspace_tool


class DiscardSession(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    session_id: SessionId = ""


class DiscardedSession(msgspec.Struct, kw_only=True):
    """`status`: discarded."""

    session_id: str
    status: str


def _text(answer: Answer[DiscardedSession], style: Style) -> Iterator[str]:
    yield f"{style.strong(answer.result.session_id)}  {answer.result.status}"


@workspace_tool(
    "discard_session",
    parameters=DiscardSession,
    result=DiscardedSession,
    positional="session_id",
    example="discard_session 00000000000000000000000000000000",
    task="try",
    hint="speculative revert undo reset rollback",
    text=_text,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(workspace: Workspace, ask: DiscardSession) -> Answer[DiscardedSession]:
    """Takes all edits of a session back; nothing was on disk, and the session can be used again."""
    from query.refactor.simulation.session import discard

    session, _ = store_of(workspace).change(ask.session_id, discard)
    return workspace.answer(ask, DiscardedSession(session_id=session.id, status=session.state), all_of(1))
