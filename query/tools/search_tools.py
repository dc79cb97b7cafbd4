"""Tools by what they are for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

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
        yield f"    {style.dim(tool.example)}"
        schemas = {"parameters": tool.input_schema, "answer": tool.output_schema}
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
