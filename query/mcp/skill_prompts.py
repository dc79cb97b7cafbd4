"""Each skill as a prompt: its phases as a list of what to do, made from the data that is also enforced."""

from __future__ import annotations

import json
from collections.abc import Mapping

from query.mcp.protocol import INVALID_PARAMS, Refused, Result
from query.skills.table import Skill, skills

_PREFIX = "skill-"


def listed() -> list[Result]:
    """`skill-lsp-rename` and so on, in the order of the table."""
    return [
        {
            "name": _PREFIX + skill.name,
            "description": f"{skill.purpose} {skill.when}",
            "arguments": [{"name": item.name, "description": item.description, "required": item.required} for item in skill.arguments],
        }
        for skill in skills().values()
    ]


def text(name: str, given: Mapping[str, str]) -> str:
    """Raises Refused for an argument that is missing or that the skill does not take."""
    skill = skills()[name.removeprefix(_PREFIX)]
    missing = [item.name for item in skill.arguments if item.required and not given.get(item.name)]
    unknown = sorted(set(given) - {item.name for item in skill.arguments})
    if missing or unknown:
        takes = ", ".join(f"'{item.name}'{'' if item.required else ' (optional)'}" for item in skill.arguments) or "none"
        wrong = f"there is no argument '{unknown[0]}'" if unknown else f"give the argument '{missing[0]}'"
        raise Refused(INVALID_PARAMS, f"{name}: {wrong}; it takes: {takes}")
    return "\n".join(_lines(skill, given))


def _lines(skill: Skill, given: Mapping[str, str]) -> list[str]:
    lines = [skill.purpose, skill.when, ""]
    lines += [f"{item.name} ({item.description}): {json.dumps(given[item.name])}" for item in skill.arguments if given.get(item.name)]
    lines += [
        f'Begin with activate_skill (skill_name "{skill.name}", mode "block"), which holds you to this order; '
        "get_skill_phase says where you are, deactivate_skill ends it.",
        "",
    ]
    for number, phase in enumerate(skill.phase):
        forbidden = skill.forbidden_in(number)
        lines += [f"{number + 1}. {phase.name}: {phase.do}", f"   Gives: {phase.gives}", f"   Tools: {', '.join(phase.allowed)}."]
        if forbidden:
            lines.append(f"   Not yet, or not at all: {', '.join(forbidden)}.")
    lines += ["", "Where an answer's `completeness` is not `complete`, say what that leaves open. At the end call deactivate_skill."]
    return lines
