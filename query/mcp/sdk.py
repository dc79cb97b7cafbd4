"""The same methods by the official SDK: for HTTP, where sessions, streams and their security are its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from query.mcp.client import Asked
from query.mcp.protocol import Refused, Result, modern_result, params_of
from query.mcp.server import Method, Surface

Request = ServerRequestContext[Any, Any]

GONE = "lspidx.gone"
"""In the scope of an HTTP request: an event, set when its client has gone before it had its answer."""

_PARAMS: Mapping[str, type[types.RequestParams]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
    "completion/complete": types.CompleteRequestParams,
    "logging/setLevel": types.SetLevelRequestParams,
}
"""`ping` and `server/discover` are the SDK's own."""


class _Server(Server[Any]):
    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As the SDK's, and says that the list of tools may change."""
        changes = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(changes, experimental_capabilities, extensions)


def build(surface: Surface) -> Server[Any]:
    """Everything but the transport."""
    bus = InMemorySubscriptionBus()
    server = _Server(
        surface.info["name"],
        version=surface.info["version"],
        instructions=surface.instructions,
        on_subscriptions_listen=ListenHandler(bus),
    )

    def handled(method: Method) -> Any:
        async def handle(ctx: Request, params: types.RequestParams) -> Result:
            asked = _asked(ctx, bus)
            try:
                result = await method.answer(asked, params_of(method.params, ctx.params))
                return modern_result(result, surface.info, is_kept=method.is_kept) if asked.is_modern else result
            except Refused as refused:
                raise MCPError(refused.code, refused.message, refused.data) from None

        return handle

    async def roots_changed(ctx: Request, params: types.NotificationParams) -> None:
        surface.roots_changed()

    for name, kind in _PARAMS.items():
        server.add_request_handler(name, kind, handled(surface.methods[name]))
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, roots_changed)
    return server


def _asked(ctx: Request, bus: InMemorySubscriptionBus) -> Asked:
    capabilities = ctx.session.client_capabilities
    is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    wants_progress = ctx.meta is not None and ctx.meta.get("progress_token") is not None

    async def notify(method: str, params: Mapping[str, Any]) -> None:
        assert method == "notifications/message"
        level, said, name = params["level"], params["data"], params["logger"]
        await ctx.session.send_log_message(level, said, logger=name)  # pyright: ignore[reportDeprecated]

    async def list_changed() -> None:
        await ctx.session.send_tool_list_changed()
        await bus.publish(ToolsListChanged())

    async def request(method: str) -> Result:
        listed = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        return listed.model_dump(by_alias=True, mode="json", exclude_none=True)

    gone: asyncio.Event | None = ctx.request.scope.get(GONE) if ctx.request is not None else None
    return Asked(
        client=_client(ctx),
        session=id(ctx.session),
        notify=notify,
        list_changed=list_changed,
        is_local=ctx.request is None,
        is_modern=is_modern,
        capabilities=capabilities.model_dump(by_alias=True, exclude_none=True) if capabilities is not None else {},
        request=request,
        report=ctx.session.report_progress if wants_progress else None,
        gone=gone,
    )


def _client(ctx: Request) -> str:
    """Whose list it is: of the one client in memory, of an HTTP session; empty where requests belong to no session."""
    return "stdio" if ctx.request is None else ctx.request.headers.get("mcp-session-id") or ""
