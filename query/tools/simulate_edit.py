"""One more edit of a session, in memory."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Workspace
from query.refactor.simulation.trial import OneEdit, SessionId, SimulatedEdit, scope_of, shown_edit, store_of
from query.surface.registry import workspace_tool


class SimulateEdit(OneEdit, kw_only=True):
    session_id: SessionId = ""


class Simulated(msgspec.Struct, kw_only=True):
    """`version_after`: how many edits the session has now; `edit`: what was replaced, in the text that was there."""

    session_id: str
    edit_applied: bool
    version_after: int
    status: str
    edit: SimulatedEdit


def _text(answer: Answer[Simulated], style: Style) -> Iterator[str]:
    found = answer.result
    edit = found.edit
    how = f", found by {edit.matched}" if edit.matched else ""
    where = f"{style.place(edit.file_path, edit.start_line, edit.start_column)} to {edit.end_line}:{edit.end_column}"
    yield f"{where} replaced in memory{how}; edit {found.version_after} of session {style.strong(found.session_id)}, {found.status}"


@workspace_tool(
    "simulate_edit",
    parameters=SimulateEdit,
    result=Simulated,
    positional="session_id file_path",
    example="simulate_edit 00000000000000000000000000000000 a.py --old-text one --new-text two",
    task="try",
    hint="speculative what if in memory change",
    text=_text,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(workspace: Workspace, ask: SimulateEdit) -> Answer[Simulated]:
    """Adds an edit to a session, in memory: a range of the session's text, or the one occurrence of old_text, becomes new_text."""
    from query.refactor.simulation.session import edit, status

    scope = scope_of(workspace)
    session, made = store_of(workspace).change(ask.session_id, lambda session: edit(session, scope, ask.wanted()))
    result = Simulated(
        session_id=session.id,
        edit_applied=True,
        version_after=session.version,
        status=status(session, scope),
        edit=shown_edit(made),
    )
    return workspace.answer(ask, result, all_of(1))
