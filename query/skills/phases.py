"""Which call a phase lets through, and to which phase it leads. No IO.

The rule, in this order, for a call of tool T while phase P of a skill is current:

1. Each phase is either optional, or has to be done first: one of its `done_by` tools has to have answered in it.
2. P allows T: T is called, P stays.
3. A later phase allows T, and P and all phases between are done or optional: T is called and that phase is current. It goes this way
   even where P forbids T: what P forbids until it is done, it no longer forbids then. An optional phase that forbids T is passed
   by another tool of a later phase only, as nothing else tells that it is over.
4. P forbids T, or a phase does that has to be done before T's turn: a violation. In mode `warn` T is called all the same, and
   where a later phase allows it that phase is current.
5. Anything else, also a tool that no list has: T is called, P stays. A phase never goes back.

Lists have canonical names; an alias counts as its tool. A call that would change files counts as `apply_edit` wherever the phase
forbids `apply_edit`: a rename with `apply`, or a commit of a session, is no way around. Tools of agents (Edit, Write, Bash)
are in the lists for them to know; nobody here sees such calls.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from indexer.errors import PhaseViolation
from query.skills.table import Skill, matches

Mode = Literal["warn", "block"]

MAX_HISTORY = 200
MAX_VIOLATIONS = 50

_EDIT = "apply_edit"


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """A call that the phase forbade: refused in mode `block`, answered in mode `warn`."""

    tool: str
    phase: str


class State(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far the work on a skill is. `serial` tells one activation from another; `done` has numbers of phases.

    history: canonical names of the tools that were called since the activation, the last `MAX_HISTORY`.
    """

    serial: str
    skill: str
    mode: Mode
    phase: int = 0
    done: list[int] = []
    history: list[str] = []
    violations: list[Violation] = []


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """`refused`: what is wrong, empty where nothing is. `phase`: the number of the phase that is current if the tool is called."""

    phase: int
    refused: str = ""


def judge(skill: Skill, state: State, tool: str, *, writes: bool) -> Verdict:
    """What the rule above says. `writes`: this call would change files."""
    here = state.phase
    counts_as = _EDIT if writes and skill.forbids(here, _EDIT) else tool
    if skill.phase[here].allows(counts_as) and not skill.forbids(here, counts_as):
        return Verdict(phase=here)
    later = [number for number in range(here + 1, len(skill.phase)) if skill.phase[number].allows(counts_as)]
    for number in later:
        if all(_passed(skill, state, passed, counts_as) for passed in range(here, number)):
            return Verdict(phase=number)
    before = range(here, later[0]) if later else range(here, here + 1)
    if any(skill.forbids(number, counts_as) and (number == here or skill.phase[number].done_by) for number in before):
        return Verdict(phase=later[0] if later else here, refused=_message(skill, state, tool, counts_as, later))
    return Verdict(phase=here)


def called(state: State, tool: str, phase: int, *, violated: str = "") -> State:
    """After a call has begun. `violated`: the phase that forbade it."""
    history = [*state.history, tool][-MAX_HISTORY:]
    violations = [*state.violations, Violation(tool=tool, phase=violated)][-MAX_VIOLATIONS:] if violated else state.violations
    return msgspec.structs.replace(state, phase=phase, history=history, violations=violations)


def refused(state: State, tool: str, phase: str) -> State:
    """After a call was refused: it is no part of the history, as nothing was called."""
    return msgspec.structs.replace(state, violations=[*state.violations, Violation(tool=tool, phase=phase)][-MAX_VIOLATIONS:])


def answered(skill: Skill, state: State, tool: str, phase: int) -> State:
    """After the answer to a call that was made in this phase."""
    if phase in state.done or not matches(tool, skill.phase[phase].done_by):
        return state
    return msgspec.structs.replace(state, done=sorted([*state.done, phase]))


def way_on(skill: Skill, state: State) -> str:
    """How the phase is left, as a sentence."""
    here = skill.phase[state.phase]
    if state.phase + 1 == len(skill.phase):
        return "this is the last phase: end with deactivate_skill"
    after = skill.phase[state.phase + 1]
    opening = f"then '{after.name}' begins with one of: {', '.join(after.allowed)}"
    if here.done_by and state.phase not in state.done:
        return f"this phase is done when one of these has answered: {', '.join(here.done_by)}; {opening}"
    return opening.removeprefix("then ")


def violation(skill: Skill, state: State, tool: str, message: str) -> PhaseViolation:
    here = skill.phase[state.phase]
    return PhaseViolation(
        message,
        {
            "tool": tool,
            "skill": skill.name,
            "current_phase": here.name,
            "allowed_tools": here.allowed,
            "forbidden_tools": skill.forbidden_in(state.phase),
        },
    )


def _passed(skill: Skill, state: State, number: int, tool: str) -> bool:
    if number in state.done:
        return True
    return not skill.phase[number].done_by and not (number == state.phase and skill.forbids(number, tool))


def _message(skill: Skill, state: State, tool: str, counts_as: str, later: list[int]) -> str:
    here = skill.phase[state.phase]
    what = tool if tool == counts_as else f"{tool}, which would change files,"
    turn = f", it belongs to '{skill.phase[later[0]].name}'" if later else ""
    return (
        f"{what} is not allowed in phase '{here.name}' ({state.phase + 1} of {len(skill.phase)}) of {skill.name}{turn}; "
        f"allowed now: {', '.join(here.allowed)}; {way_on(skill, state)}; to work without phases: deactivate_skill"
    )
