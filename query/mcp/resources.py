"""What can be read without a call: the state of the index, one symbol, the tables, the tools."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import click
import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from indexer.errors import LspidxError
from indexer.quoting import one_line, visible
from query.facts.sql import columns_by_view
from query.mcp import forms
from query.mcp.tools import Request, Tools
from query.surface import manual
from query.surface.registry import load, names
from query.surface.render import error_text

STATUS, SCHEMA, TOOLS, SYMBOL = "lspidx://status", "lspidx://schema", "lspidx://tools", "lspidx://symbol/"
_SYMBOL_TOOL = "explore_symbol"

_LISTED = [
    types.Resource(uri=STATUS, name="status", description="What the index covers, what it lacks, how far the work tree has moved on."),
    types.Resource(uri=SCHEMA, name="schema", description="Tables and columns for `lspidx sql`."),
    types.Resource(uri=TOOLS, name="tools", description="All tools by task, with their short names."),
]
TEMPLATE = types.ResourceTemplate(
    uri_template=f"{SYMBOL}{{name}}", name="symbol", description="Everything about one symbol, by any name that the tools take."
)


class Resources:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def listed(self, ctx: Request, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=_LISTED)

    async def templates(self, ctx: Request, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[TEMPLATE])

    async def read(self, ctx: Request, params: types.ReadResourceRequestParams) -> types.ReadResourceResult | types.InputRequiredResult:
        """Text first, the same as JSON second.

        Raises:
            MCPError: there is no such resource, or no answer; the message says what to do.
        """
        uri = str(params.uri)
        try:
            if uri == TOOLS:
                return _both(uri, click.unstyle(manual.tools_text()), _tools())
            if (wanted := await self._tools.roots(ctx, params.input_responses)) is not None:
                return wanted
            if uri == SCHEMA:
                tables = await self._tools.on_index(ctx, columns_by_view)
                return _both(uri, "\n".join(f"{table}: {', '.join(columns)}" for table, columns in tables.items()), tables)
            if uri == STATUS:
                return await self._asked(ctx, uri, "index_status", {})
            if uri.startswith(SYMBOL) and (name := unquote(uri.removeprefix(SYMBOL))):
                return await self._asked(ctx, uri, _SYMBOL_TOOL, {"symbol": name})
        except LspidxError as error:
            raise MCPError(types.INVALID_PARAMS, visible(click.unstyle(error_text(error)))) from error
        known = ", ".join([STATUS, SCHEMA, TOOLS, f"{SYMBOL}NAME"])
        raise MCPError(types.INVALID_PARAMS, f"there is no resource '{one_line(uri)}'; known: {known}")

    async def _asked(self, ctx: Request, uri: str, name: str, arguments: dict[str, Any]) -> types.ReadResourceResult:
        answer = await self._tools.answer(ctx, name, arguments)
        tool, _ = load(name)
        both = self._tools.options._replace(format="both", strict=False)
        made = forms.answered(tool, answer, both)
        text = next((item.text for item in made.content if isinstance(item, types.TextContent)), "")
        return _both(uri, text, made.structured_content)


def _both(uri: str, text: str, value: Any) -> types.ReadResourceResult:
    return types.ReadResourceResult(
        contents=[
            types.TextResourceContents(uri=uri, mime_type="text/plain", text=visible(text)),
            types.TextResourceContents(uri=uri, mime_type="application/json", text=visible(msgspec.json.encode(value).decode())),
        ]
    )


def _tools() -> list[dict[str, Any]]:
    declared = (load(name)[0] for name in names())
    return [{"name": tool.name, "aliases": list(tool.aliases), "task": tool.task, "description": tool.description} for tool in declared]
