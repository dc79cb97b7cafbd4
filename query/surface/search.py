"""Which tool answers a question: by name (`select:`) or by keywords, over names, short names, hints and descriptions.

An agent is shown a dozen tools and finds the others here; a person finds them with `lspidx query search_tools`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from math import log
from typing import Any

import msgspec

from query.answers.envelope import Answer
from query.surface.registry import ALIASES, Tool, load, names

LISTED = (
    "find_symbol",  # from a name to a symbol: where most questions begin
    "list_symbols",  # what is in this file
    "get_symbol_source",  # its text, without the rest of the file
    "explore_symbol",  # everything about one symbol, or about what stands at a place, in place of four questions
    "find_references",  # who uses it
    "find_callers",  # who calls it, what it calls, to any depth
    "type_hierarchy",  # super- and subtypes
    "blast_radius",  # what a change of files or symbols can break
    "detect_changes",  # what a diff changes, for a review
    "get_editing_context",  # what to know before a file is edited
    "get_tests_for_file",  # which tests to run
    "search_tools",  # all others
)
"""What agents are shown without asking: at most 12, as each costs its schema in every session."""

EDITING = ("safe_apply_edit", "rename_symbol")
"""What agents are shown besides where they may change files: text in place of another if nothing breaks, and names."""

_EXACT, _PART, _HINT, _DESCRIPTION, _PARAMETER = 6, 3, 5, 2, 1
_SMALL_WORDS = """
a all an and any are at by can do does for from get has have how i in is it its list me my of on or that the them these this to tool
tools was what when where which with you
"""
_SMALL = frozenset(_SMALL_WORDS.split())
"""Words that say nothing about a tool."""

_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ies", "ied", "ees", "ee", "es", "ed", "y", "s", "e")
_MIN_STEM = 3
_SYMBOL = "symbol"
PLACE = frozenset(("file_path", "line", "column", "position_pattern"))
"""Parameters that name a symbol by a place, which `symbol` takes too."""
_BOUNDS = frozenset(("minimum", "maximum"))
_IDLE = (("minimum", 0), ("maximum", 2**31 - 1))


class FoundTool(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A declaration: enough to call the tool. `output_schema` only where it was asked for."""

    name: str
    description: str
    aliases: list[str]
    task: str
    example: str
    read_only: bool
    needs_index: bool
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] = {}


class Found(msgspec.Struct, kw_only=True):
    """`matches`: names, the best first. `tools`: their declarations. `unknown`: names after `select:` that no tool has."""

    matches: list[str]
    query: str
    total_deferred_tools: int
    tools: list[FoundTool]
    unknown: list[str] = []


def deferred() -> list[str]:
    """Names of the tools that agents are not shown without asking."""
    return [name for name in names() if name not in LISTED]


def spelled(name: str) -> str:
    """The canonical or short name that is meant, in snake_case or CamelCase, with or without `mcp__server__`; or nothing."""
    plain = re.sub(r"^mcp__.*?__", "", name.strip())
    known = {*ALIASES, *names()}
    return next((form for form in (plain, "_".join(parts(plain)), plain.lower()) if form in known), "")


def canonical(name: str) -> str:
    """The tool that is meant by a name as `spelled` takes it; or nothing."""
    form = spelled(name)
    return ALIASES[form][0] if form in ALIASES else form


def select(wanted: str) -> tuple[list[str], list[str]]:
    """Of `name,name`: the tools, and the names that no tool has."""
    asked = list(dict.fromkeys(filter(None, (name.strip() for name in wanted.split(",")))))
    found = {name: canonical(name) for name in asked}
    return list(dict.fromkeys(filter(None, found.values()))), [name for name in asked if not found[name]]


def rank(query: str) -> list[str]:
    """Tools that fit the keywords, the best first; a word with a `+` before it must fit. A tool's own name is that tool."""
    if name := canonical(query):
        return [name]
    words = [word for word in query.lower().split() if word.strip("+")]
    must = {stem for word in words if word.startswith("+") for stem in _stems(word)}
    terms = {stem for word in words for stem in _stems(word)}
    plain = {word.strip("+") for word in words}
    scores: dict[str, tuple[float, int]] = {}
    for name in names():
        tool, _ = load(name)
        fields = _words(name)
        if all(_score(term, fields) for term in must):
            said = {*parts(tool.name), *tool.hint.lower().split()}
            found = sum(_score(term, fields) * rarity for term, rarity in _rarities(terms).items())
            scores[name] = found, len(plain & said)  # of equals the one that says the very word
    return sorted((name for name, (score, _) in scores.items() if score), key=lambda name: (-scores[name][0], -scores[name][1], name))


def declaration(name: str, *, output: bool) -> FoundTool:
    tool, _ = load(name)
    return FoundTool(
        name=tool.name,
        description=tool.description,
        aliases=list(tool.aliases),
        task=tool.task,
        example=f"lspidx query {tool.example}",
        read_only=tool.read_only,
        needs_index=tool.needs_index,
        input_schema=input_schema(tool),
        output_schema=tool.output_schema() if output else {},
    )


def input_schema(tool: Tool) -> dict[str, Any]:
    """The schema of the parameters without what says nothing: titles, empty defaults, the bounds of an integer."""
    schema = _lean(tool.input_schema())
    by_place = PLACE.issubset(schema["properties"])
    return {**schema, "required": [name for name in tool.required if not (by_place and name == _SYMBOL)]}


def listed_schema(tool: Tool) -> dict[str, Any]:
    """What agents are shown unasked: each session pays for every word of it.

    Without the parameters that few questions need, which a call may have all the same, without a second way to name a symbol, and
    without bounds.
    """
    schema = input_schema(tool)
    properties: dict[str, Any] = schema["properties"]
    hidden = {*tool.seldom.split(), *(PLACE if _SYMBOL in properties else ())}.difference(tool.required)
    shown = {name: _without_bounds(value) for name, value in properties.items() if name not in hidden}
    kept: dict[str, Any] = {"type": "object", "properties": shown, "required": tool.required}
    return {**kept, **({"$defs": schema["$defs"]} if "$defs" in schema else {})}


def _without_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in _BOUNDS}


def _lean(value: Any) -> Any:
    if isinstance(value, list):
        return [_lean(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _lean(item) for key, item in value.items() if isinstance(item, dict) or not _says_nothing(key, item)}


def _says_nothing(key: str, value: Any) -> bool:
    """Of a keyword of JSON Schema; a parameter may be called like one, but is declared by a record."""
    return key == "title" or (key == "default" and not value) or (key, value) in _IDLE


def shorten(answer: Answer[Found], max_chars: int, measure: Callable[[Answer[Found]], str]) -> Answer[Found]:
    """As `budget.shorten`, by whole declarations: half a schema would be a wrong one. The names of all matches stay."""
    kept = list(answer.result.tools)
    while kept and len(measure(answer)) > max_chars:
        kept.pop()
        part = msgspec.structs.replace(answer.result, tools=kept)
        answer = msgspec.structs.replace(answer, result=part, truncated=True, shortened=True)
    return answer


def parts(name: str) -> list[str]:
    """The words of a name: `FileReadTool`, `find_callers` and `mcp__server__action` (without `mcp`)."""
    spaced = re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3_\2\4", name)
    return [part for part in re.split(r"[^a-z0-9]+", spaced.lower()) if part and part != "mcp"]


def _rarities(terms: Iterable[str]) -> dict[str, float]:
    """How much a word tells: the fewer tools have it in name, hint or description, the more. That of all is 'symbol', or 'file'."""
    known = [_words(name) for name in names()]
    having = {term: sum(term in in_name | hint | description for in_name, hint, description, _ in known) for term in terms}
    return {term: log(1 + len(known) / (count or 1)) for term, count in having.items()}


@functools.cache
def _words(name: str) -> tuple[set[str], set[str], set[str], set[str]]:
    tool, _ = load(name)
    in_name = {stem for name in (tool.name, *tool.aliases) for part in parts(name) for stem in _stems(part)}
    return in_name, _stems(tool.hint), _stems(tool.description), _words_of(tool.parameters.__struct_fields__)


def _score(term: str, fields: tuple[set[str], set[str], set[str], set[str]]) -> int:
    in_name, in_hint, in_description, in_parameters = fields
    score = _EXACT if term in in_name else _PART if any(term in part or part in term for part in in_name if len(part) > _MIN_STEM) else 0
    score += _HINT if term in in_hint else 0
    score += _DESCRIPTION if term in in_description else 0
    return score + (_PARAMETER if term in in_parameters else 0)


def _words_of(fields: Iterable[str]) -> set[str]:
    return {stem for field in fields for part in parts(field) for stem in _stems(part)}


def _stems(text: str) -> set[str]:
    """What is left of the words without endings, so that `who calls` finds callers."""
    return {_stem(word) for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _SMALL}


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word[: -len(ending)]
    return word
