"""The skills of `skills.toml`, typed and strict: an unknown key is an error that names skill, phase, key and the nearest known one."""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import msgspec

from indexer.errors import ConfigError, UsageError

TABLE = Path(__file__).with_name("skills.toml")

_TOOL = re.compile(r"[A-Za-z][A-Za-z_]*\*?")
_SKILL = re.compile(r"lsp-[a-z]+(-[a-z]+)*")


class Argument(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the prompt of a skill asks for."""

    name: str
    description: str
    required: bool = False


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One step of a skill; the meaning of each key stands at the top of skills.toml."""

    name: str
    do: str
    gives: str
    allowed: list[str]
    forbidden: list[str] = []
    done_by: list[str] = []

    def allows(self, tool: str) -> bool:
        return matches(tool, self.allowed)


class Skill(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry of skills.toml."""

    purpose: str
    when: str
    origin: Literal["agent-lsp", "lspidx"]
    arguments: list[Argument] = []
    forbidden: list[str] = []
    phase: list[Phase]
    name: str = ""

    def forbidden_in(self, number: int) -> list[str]:
        """The phase's own, then those of the whole skill."""
        own = self.phase[number].forbidden
        return [*own, *(tool for tool in self.forbidden if tool not in own)]

    def forbids(self, number: int, tool: str) -> bool:
        return matches(tool, self.forbidden_in(number))


def matches(tool: str, patterns: Collection[str]) -> bool:
    """Whether one of the names or globs is of this tool."""
    return any(fnmatchcase(tool, pattern) for pattern in patterns)


@functools.cache
def skills() -> dict[str, Skill]:
    """All skills by name, in the order of the file."""
    return parse(TABLE.read_text(encoding="utf-8"), TABLE.name)


def find(name: str) -> Skill:
    """Raises UsageError with the nearest name, and all of them."""
    table = skills()
    if name in table:
        return table[name]
    said = f"no skill is called '{name}'{_nearest(name, table)}" if name else "name a skill"
    raise UsageError(f"{said}; known: {', '.join(table)}")


def parse(text: str, source: str) -> dict[str, Skill]:
    """Raises ConfigError with file, skill, phase, key and the nearest known key."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: not readable as TOML: {error}") from error
    entries = raw.pop("skill", None)
    if raw or not isinstance(entries, dict) or not entries:
        raise ConfigError(f"{source}: has to have entries [skill.NAME] and nothing else{_found(raw)}")
    found: dict[str, Skill] = {}
    for name, entry in entries.items():
        for where, key, known in _unknown_keys(entry):
            raise ConfigError(f"{source}: skill '{name}'{where} has an unknown key '{key}'{_nearest(key, known)}")
        try:
            skill = msgspec.structs.replace(msgspec.convert(entry, Skill), name=name)
        except msgspec.ValidationError as error:
            raise ConfigError(f"{source}: skill '{name}': {error}") from error
        for problem in _problems(skill):
            raise ConfigError(f"{source}: skill '{name}' {problem}")
        found[name] = skill
    return found


def _found(raw: dict[str, Any]) -> str:
    return f", not {', '.join(raw)}" if raw else ""


def _unknown_keys(entry: Any) -> Iterator[tuple[str, str, list[str]]]:
    if not isinstance(entry, dict):
        return
    known = [field for field in Skill.__struct_fields__ if field != "name"]
    for key in entry:
        if key not in known:
            yield "", key, known
    for kind, record in (("phase", Phase), ("arguments", Argument)):
        items = entry.get(kind)
        for item in items if isinstance(items, list) else ():
            fields = list(record.__struct_fields__)
            for key in item if isinstance(item, dict) else ():
                if key not in fields:
                    yield f", {kind} '{item.get('name', '?')}',", key, fields


def _problems(skill: Skill) -> Iterator[str]:
    """What the types do not say about an entry."""
    if not _SKILL.fullmatch(skill.name):
        yield "needs a name such as lsp-rename"
    if not skill.phase:
        yield "has no phase"
    names = [phase.name for phase in skill.phase]
    for name in names:
        if names.count(name) > 1:
            yield f"has two phases '{name}'"
    for text, key in ((skill.purpose, "purpose"), (skill.when, "when")):
        if not text.strip().endswith("."):
            yield f"has a '{key}' that does not end with a period"
    for number, phase in enumerate(skill.phase):
        where = f"phase '{phase.name}'"
        for text, key in ((phase.do, "do"), (phase.gives, "gives")):
            if not text.strip().endswith("."):
                yield f"{where} has a '{key}' that does not end with a period"
        for key, tools in (("allowed", phase.allowed), ("forbidden", skill.forbidden_in(number)), ("done_by", phase.done_by)):
            for tool in tools:
                if not _TOOL.fullmatch(tool):
                    yield f"{where} has '{tool}' in '{key}', which is neither a name nor a name with * at its end"
        if not phase.allowed:
            yield f"{where} allows no tool"
        for tool in phase.allowed:
            if skill.forbids(number, tool):
                yield f"{where} allows and forbids '{tool}'"
        for tool in phase.done_by:
            if not phase.allows(tool):
                yield f"{where} is done by '{tool}', which it does not allow"


def _nearest(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean '{near[0]}'?" if near else ""
