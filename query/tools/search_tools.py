"""Tools by what they are for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, cast

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.pages import first_of
from query.answers.style import Style
from query.context import Workspace
from query.surface import search
from query.surface.registry import workspace_tool
from query.surface.search import Found

_SELECT = "select:"


class SearchTools(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, msgspec.Meta(description="keywords (+word: must fit), or select:name,name for tools by name")] = ""
    max_results: Annotated[int, msgspec.Meta(ge=1, le=50, description="declarations shown")] = 5
    output_schema: Annotated[bool, msgspec.Meta(description="also the schemas of the answers")] = False


def _text(answer: Answer[Found], style: Style) -> Iterator[str]:
    for tool in answer.result.tools:
        yield f"{style.strong(', '.join([tool.name, *tool.aliases]))}  {tool.description}"
        if style.compact:
            yield from (f"    {line}" for line in _parameters(tool.input_schema))
        else:
            yield f"    {style.dim(tool.example)}"
        schemas = {"answer": tool.output_schema} if style.compact else {"parameters": tool.input_schema, "answer": tool.output_schema}
        for title, schema in schemas.items():
            if style.compact and schema:
                yield f"    {title}: {msgspec.json.encode(schema).decode()}"
            elif schema:
                yield f"    {title}: {', '.join(schema.get('properties', {})) or 'none'} (schema: lspidx tools {tool.name} --json)"
    shown = {tool.name for tool in answer.result.tools}
    if rest := [name for name in answer.result.matches if name not in shown]:
        yield f"also: {', '.join(rest)} (to see one: {_SELECT}NAME)"
    if answer.result.unknown:
        yield style.warning(f"no tool is called {', '.join(answer.result.unknown)}")
    yield style.dim(f"{answer.result.total_deferred_tools} tools are not listed until they are looked for")


def _parameters(schema: dict[str, Any]) -> Iterator[str]:
    """A line for each parameter, those that a call needs marked: half of what the schema takes, which a client has from its list."""
    fields: dict[str, dict[str, Any]] = schema.get("properties", {})
    needed = set(schema.get("required", ()))
    by_place = search.PLACE.issubset(fields) and "symbol" in fields
    for name, field in fields.items():
        if by_place and name in search.PLACE:
            continue
        kind = _kind(field)
        choices = f", one of {'|'.join(map(str, field['enum']))}" if "enum" in field else ""
        default = f", default {msgspec.json.encode(field['default']).decode()}" if field.get("default") else ""
        said = f": {field['description']}" if "description" in field else ""
        yield f"{name}{' (needed)' if name in needed else ''} {kind}{choices}{default}{said}"
    if by_place:
        yield "in place of symbol: file_path with line and column (1-based), or with position_pattern (text with one @@ at the place)"


def _kind(field: dict[str, Any]) -> str:
    """A type in a word; of what has parts of its own, the schema."""
    if "enum" in field:
        return "string"
    items = field.get("items")
    if field.get("type") == "array" and isinstance(items, dict):
        inner = cast("dict[str, Any]", items)
        return f"{inner['type']} list" if set(inner) == {"type"} else f"list of {msgspec.json.encode(inner).decode()}"
    if "type" in field and "properties" not in field:
        return str(field["type"])
    return msgspec.json.encode({name: part for name, part in field.items() if name != "description"}).decode()


@workspace_tool(
    "search_tools",
    parameters=SearchTools,
    result=Found,
    positional="query",
    seldom="output_schema",
    example='search_tools "who calls"',
    task="index",
    hint="discover which other more tools exist deferred schema help",
    text=_text,
    own_words=True,
)
def TOOL(workspace: Workspace, ask: SearchTools) -> Answer[Found]:
    """Further tools by name or keywords, with their schemas; all that it finds can be called at once."""
    query = ask.query.strip()
    if not query:
        raise UsageError("search_tools: say what you look for, e.g. 'tests', or select:name,name")
    unknown: list[str] = []
    if query.lower().startswith(_SELECT):
        matches, unknown = search.select(query[len(_SELECT) :])
    else:
        matches = search.rank(query)
    return workspace.answer(
        ask,
        Found(
            matches=matches[: ask.max_results],
            query=ask.query,
            total_deferred_tools=len(search.deferred()),
            tools=[search.declaration(name, output=ask.output_schema) for name in matches[: ask.max_results]],
            unknown=unknown,
        ),
        first_of(ask.max_results, len(matches)),
    )
