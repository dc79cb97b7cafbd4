"""Ends a piece of work in phases, finished or not."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Workspace
from query.surface.registry import workspace_tool


class DeactivateSkill(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    pass


class Deactivated(msgspec.Struct, kw_only=True):
    """`skill`: the one that was active; empty where none was."""

    status: str
    skill: str


def _text(answer: Answer[Deactivated], style: Style) -> Iterator[str]:
    yield f"{answer.result.status}  {style.strong(answer.result.skill) if answer.result.skill else style.dim('no skill was active')}"


@workspace_tool(
    "deactivate_skill",
    parameters=DeactivateSkill,
    result=Deactivated,
    positional="",
    example="deactivate_skill",
    task="skills",
    hint="end stop workflow phases enforcement",
    text=_text,
    read_only=False,
    concurrency_safe=False,
    own_words=True,
)
def TOOL(workspace: Workspace, ask: DeactivateSkill) -> Answer[Deactivated]:
    """Ends the skill that this MCP client, or the command line in this index's folder, has activated; without one it does nothing."""
    skill = workspace.phases.deactivate()
    return workspace.answer(ask, Deactivated(status="deactivated", skill=skill), all_of(1 if skill else 0))
