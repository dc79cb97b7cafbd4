"""Begins a piece of work in phases: from here on each call is held against the phase that the work is in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style, printable
from query.context import Workspace
from query.surface.registry import workspace_tool


class ActivateSkill(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    skill_name: Annotated[str, msgspec.Meta(description="one of those that get_skill_phase lists, e.g. lsp-rename")] = ""
    mode: Annotated[
        Literal["warn", "block"],
        msgspec.Meta(description="what a call out of turn does: warn answers it with a warning, block refuses it"),
    ] = "warn"


class Step(msgspec.Struct, kw_only=True):
    """A phase: what to do in it, and what has to come out of it. `done_by`: one of these has to answer before the next; none: optional."""

    name: str
    do: str
    gives: str
    allowed_tools: list[str]
    done_by: list[str]


class Activated(msgspec.Struct, kw_only=True):
    """`allowed_tools` and `forbidden_tools` are of the current phase, the first; * at the end stands for the rest of a name."""

    status: str
    skill: str
    mode: str
    current_phase: str
    total_phases: int
    allowed_tools: list[str]
    forbidden_tools: list[str]
    purpose: str
    phases: list[Step]


def _text(answer: Answer[Activated], style: Style) -> Iterator[str]:
    found = answer.result
    yield f"{style.strong(found.skill)} {found.status}, mode {found.mode}  {style.dim(found.purpose)}"
    for number, step in enumerate(found.phases, 1):
        yield f"{number}. {style.heading(step.name)}  {printable(step.do)}"
        yield f"   {style.dim('gives')} {printable(step.gives)}"
        yield f"   {style.dim('tools')} {', '.join(step.allowed_tools)}"
        if step.done_by:
            yield f"   {style.dim('done when one has answered of')} {', '.join(step.done_by)}"
    yield f"now: {found.current_phase}, 1 of {found.total_phases}"
    yield f"  allowed: {', '.join(found.allowed_tools)}"
    yield f"  forbidden: {', '.join(found.forbidden_tools) or 'nothing'}"


@workspace_tool(
    "activate_skill",
    parameters=ActivateSkill,
    result=Activated,
    positional="skill_name",
    example="activate_skill lsp-rename --mode block",
    task="skills",
    hint="start workflow phases enforce order rename refactor safe edit verify",
    text=_text,
    read_only=False,
    concurrency_safe=False,
    own_words=True,
)
def TOOL(workspace: Workspace, ask: ActivateSkill) -> Answer[Activated]:
    """Begins a skill in phases that check every further tool call of this MCP client, or of the command line in this index's folder.

    Clients do not see each other's skill, nor that of the command line.
    """
    from query.skills.table import find

    state = workspace.phases.activate(ask.skill_name, ask.mode)
    skill = find(state.skill)
    first = skill.phase[0]
    return workspace.answer(
        ask,
        Activated(
            status="activated",
            skill=skill.name,
            mode=state.mode,
            current_phase=first.name,
            total_phases=len(skill.phase),
            allowed_tools=first.allowed,
            forbidden_tools=skill.forbidden_in(0),
            purpose=skill.purpose,
            phases=[
                Step(name=phase.name, do=phase.do, gives=phase.gives, allowed_tools=phase.allowed, done_by=phase.done_by)
                for phase in skill.phase
            ],
        ),
        all_of(len(skill.phase)),
    )
