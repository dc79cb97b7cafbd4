"""Whether the identifier at a place can be renamed."""

from __future__ import annotations

from collections.abc import Iterator

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Workspace
from query.live.questions import NamedPlace, live_provenance, spot
from query.refactor.preparation import Renameable, prepared
from query.surface.registry import workspace_tool


class PrepareRename(NamedPlace, kw_only=True):
    pass


def _text(answer: Answer[Renameable], style: Style) -> Iterator[str]:
    found = answer.result
    place = style.place(found.path, found.line, found.col)
    yield f"{place}  {style.strong(found.placeholder)}  can be renamed" if found.can_rename else f"{place}  {style.warning(found.why)}"


@workspace_tool(
    "prepare_rename",
    parameters=PrepareRename,
    result=Renameable,
    positional="symbol",
    example="prepare_rename resolve_url",
    task="live",
    hint="can it be renamed refactor",
    text=_text,
)
def TOOL(workspace: Workspace, ask: PrepareRename) -> Answer[Renameable]:
    """Whether the name at a place can be renamed, as a running language server says."""
    at = spot(workspace, ask)
    info = workspace.servers.info(at.document.path)
    found, completeness, replies = prepared(at, info, workspace.servers.ask)
    return workspace.answer(ask, found, all_of(int(found.can_rename)), completeness, live_provenance(*replies, info=info))
