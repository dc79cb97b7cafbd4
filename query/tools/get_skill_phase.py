"""How far a piece of work in phases is; without one, which there are."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style, printable
from query.context import Workspace
from query.skills.session import Phases
from query.surface.registry import workspace_tool


class GetSkillPhase(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    pass


class AvailableSkill(msgspec.Struct, kw_only=True):
    name: str
    purpose: str
    when: str
    phases: list[str]


class OutOfTurn(msgspec.Struct, kw_only=True):
    """A call that its phase forbade: refused in mode `block`, answered in mode `warn`."""

    tool: str
    phase: str


class SkillPhase(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`active` says which fields there are: those of the skill, or `available_skills`.

    phase_index: from 0. do, gives: what the phase is for. way_on: how the next one is reached.
    tool_history: canonical names in order, the last 200; a refused call is in `violations` only.
    """

    active: bool
    skill_name: str = ""
    current_phase: str = ""
    phase_index: int | msgspec.UnsetType = msgspec.UNSET
    total_phases: int = 0
    mode: str = ""
    allowed_tools: list[str] = []
    forbidden_tools: list[str] = []
    tool_history: list[str] = []
    violations: list[OutOfTurn] = []
    do: str = ""
    gives: str = ""
    way_on: str = ""
    available_skills: list[AvailableSkill] = []


def _text(answer: Answer[SkillPhase], style: Style) -> Iterator[str]:
    found = answer.result
    if not found.active:
        yield "no skill is active; there are:"
        for skill in found.available_skills:
            yield f"{style.strong(skill.name)}  {printable(skill.purpose)}"
            yield f"  {style.dim('when')} {printable(skill.when)}  {style.dim('phases')} {', '.join(skill.phases)}"
        return
    number = found.phase_index + 1 if isinstance(found.phase_index, int) else 0
    yield f"{style.strong(found.skill_name)}, mode {found.mode}: {style.heading(found.current_phase)}, {number} of {found.total_phases}"
    yield f"  {printable(found.do)}"
    yield f"  {style.dim('gives')} {printable(found.gives)}"
    yield f"  allowed: {', '.join(found.allowed_tools)}"
    yield f"  forbidden: {', '.join(found.forbidden_tools) or 'nothing'}"
    yield f"  {style.dim('way on')} {found.way_on}"
    yield f"  called: {', '.join(found.tool_history) or 'nothing yet'}"
    for item in found.violations:
        yield f"  {style.warning('out of turn')}: {item.tool} in {item.phase}"


@workspace_tool(
    "get_skill_phase",
    parameters=GetSkillPhase,
    result=SkillPhase,
    positional="",
    example="get_skill_phase",
    task="skills",
    hint="workflow current phase allowed forbidden tools history available skills list",
    text=_text,
    own_words=True,
)
def TOOL(workspace: Workspace, ask: GetSkillPhase) -> Answer[SkillPhase]:
    """The phase of the skill that was activated here, with its tools and what was called; without one, all skills with their purpose."""
    result = _phase(workspace.phases)
    return workspace.answer(ask, result, all_of(1 if result.active else len(result.available_skills)))


def _phase(phases: Phases) -> SkillPhase:
    from query.skills.phases import way_on
    from query.skills.table import find, skills

    state = phases.state()
    if state is None:
        available = [
            AvailableSkill(name=skill.name, purpose=skill.purpose, when=skill.when, phases=[phase.name for phase in skill.phase])
            for skill in skills().values()
        ]
        return SkillPhase(active=False, available_skills=available)
    skill = find(state.skill)
    here = skill.phase[state.phase]
    return SkillPhase(
        active=True,
        skill_name=skill.name,
        current_phase=here.name,
        phase_index=state.phase,
        total_phases=len(skill.phase),
        mode=state.mode,
        allowed_tools=here.allowed,
        forbidden_tools=skill.forbidden_in(state.phase),
        tool_history=state.history,
        violations=[OutOfTurn(tool=item.tool, phase=item.phase) for item in state.violations],
        do=here.do,
        gives=here.gives,
        way_on=way_on(skill, state),
    )
