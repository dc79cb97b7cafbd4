"""`lspidx mcp --dialect NAME`: another product's tools in place of ours."""

from __future__ import annotations

import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus

from indexer.errors import LspidxError
from query.dialects import dialect
from query.dialects.surface import DialectReply
from query.mcp import forms
from query.mcp.job import Job
from query.mcp.options import Options
from query.mcp.tools import Request, Tools
from query.mcp.workspace import Workspace


class ForeignTools(Tools):
    """The tools of a dialect: its names, schemas and forms. What is no tool of the dialect is one of ours, though it is not listed:
    a dialect's search of tools names them.
    """

    def __init__(self, workspace: Workspace, options: Options, bus: InMemorySubscriptionBus, name: str) -> None:
        super().__init__(workspace, options, bus)
        self._dialect = dialect(name)
        self._known = {tool.name: tool for tool in self._dialect.tools()}

    async def listed(self, ctx: Request, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """All of the dialect's, then ours that its own search has found for this client; there is no profile."""
        found = sorted(self.found(ctx))
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=dict(tool.input_schema),
                    annotations=types.ToolAnnotations(
                        read_only_hint=tool.read_only,
                        destructive_hint=tool.destructive,
                        idempotent_hint=tool.read_only,
                        open_world_hint=False,
                    ),
                )
                for tool in self._known.values()
            ]
            + [self._declared(name, whole=True) for name in found if self._is_on(name)]
        )

    async def called(self, ctx: Request, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
        """The dialect's own form first, what must be read with it after that."""
        if params.name not in self._known:
            return await super().called(ctx, params)
        given = dict(params.arguments or {})
        if (wanted := await self.roots(ctx, params.input_responses, outwards=self.workspace.is_elsewhere(given))) is not None:
            return wanted
        phases = self.phases(ctx)

        def ask(job: Job[DialectReply]) -> DialectReply:
            service = self.service_of(ctx, params.name, given)
            if (index := self.workspace.index_if_any(fresh=False, progress=job.progress, of=service)) is not None:
                job.uses(index.cursor())
            return self._dialect.call(service, params.name, given, phases=phases)

        try:
            reply = await self._run(ctx, ask)
        except LspidxError as error:
            return forms.failed(error, self.options)
        if self._dialect.finds is not None and params.name == self._dialect.finds[0] and isinstance(reply.structured, dict):
            matches = reply.structured.get(self._dialect.finds[1], [])
            await self._list_too(ctx, [name for name in matches if name not in self._known], listed=())
        return types.CallToolResult(
            content=[forms.text_of_ours(text) for text in reply.blocks],
            structured_content=reply.structured if isinstance(reply.structured, dict) else None,
            is_error=reply.is_error,
        )
