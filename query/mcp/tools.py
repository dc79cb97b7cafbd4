"""tools/list and tools/call."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from indexer.errors import LspidxError, UsageError
from query.answers.envelope import Answer
from query.answers.mishaps import explained
from query.facts.index import Index
from query.facts.served import OUTWARDS
from query.mcp import forms
from query.mcp.http import GONE
from query.mcp.job import MAX_JOBS, Job
from query.mcp.options import Options
from query.mcp.workspace import Workspace
from query.skills.session import NoSession, Phases
from query.surface import search
from query.surface.registry import load, names
from query.surface.service import Service

log = logging.getLogger(__name__)

T = TypeVar("T")
Request = ServerRequestContext[Any, Any]

_FRESH = {"type": "boolean", "description": "bring the index up to date first"}
_ROOTS = "roots"
_ROOTS_S = 5.0
"""A client that says it has roots and does not name them in time is taken at the folder that the server was started in."""
_MAX_SESSIONS = 1_000
_TOGETHER = {"try": "edit"}
"""Tools that are not safe beside others wait for those of the same task: an index that is made holds up no build, and no edit. What is
tried in memory may be written, and so counts as an edit."""
_TURNS = ("start_lsp", "restart_lsp_server")
_OF_WORKSPACE = ("live", "edit", "try", "run")
"""Tasks whose tools are about the workspace even where they need no index."""


class Tools:
    """The declared tools for any number of clients."""

    def __init__(self, workspace: Workspace, options: Options, bus: InMemorySubscriptionBus) -> None:
        self.workspace, self.options = workspace, options
        self._bus = bus
        self._found: OrderedDict[str, set[str]] = OrderedDict()
        self._phases: OrderedDict[str, Phases] = OrderedDict()
        self._limiter = anyio.CapacityLimiter(MAX_JOBS)
        self._alone: dict[str, anyio.Lock] = {}

    # ---- tools/list

    async def listed(self, ctx: Request, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """The profile's tools, then those that this client has found by `search_tools`."""
        editing = search.EDITING if self.options.allow_edits else ()
        wanted = names() if self.options.profile == "full" else [*search.LISTED, *editing]
        found = self.found(ctx)
        every = [*wanted, *sorted(found.difference(wanted))]
        return types.ListToolsResult(tools=[self._declared(name, whole=name in found) for name in every if self._is_on(name)])

    def found(self, ctx: Request) -> set[str]:
        """What this client has looked up."""
        return self._found.get(_client(ctx) or "", set())

    def _is_on(self, name: str) -> bool:
        """Whether a tool can do anything here: one that runs the repository's code cannot where edits are off."""
        return self.options.allow_edits or not load(name)[0].runs

    def _declared(self, name: str, *, whole: bool) -> types.Tool:
        """`whole`: with the parameters that are seldom needed too, of a tool that this client has looked up."""
        tool, _ = load(name)
        schema = search.input_schema(tool) if whole else search.listed_schema(tool)
        only_shows = tool.read_only or (tool.applies and not self.options.allow_edits) or (tool.task == "try" and not tool.applies)
        if tool.needs_index:
            schema["properties"] = {**schema.get("properties", {}), "fresh": _FRESH}
        return types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=schema,
            output_schema=dict(forms.OUTPUT_SCHEMA) if self.options.format != "text" else None,
            annotations=types.ToolAnnotations(
                read_only_hint=only_shows,
                destructive_hint=None if only_shows else tool.destructive,
                open_world_hint=False,
            ),
        )

    # ---- tools/call

    async def called(self, ctx: Request, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
        """The answer; what the caller did wrong is an answer too, with what to do."""
        given = {key: value for key, value in (params.arguments or {}).items() if value is not None}  # null: not set
        try:
            tool, _ = load(search.spelled(params.name) or params.name)
            of_workspace = tool.needs_index or tool.task in _OF_WORKSPACE or tool.name in OUTWARDS
            outwards = tool.name in OUTWARDS or self.workspace.is_elsewhere(given)
            wanted = await self.roots(ctx, params.input_responses, outwards=outwards) if of_workspace else None
            if wanted is not None:
                return wanted
            if tool.concurrency_safe:
                answer = await self.answer(ctx, params.name, given)
            else:
                async with self._alone.setdefault(_TOGETHER.get(tool.task, tool.task), anyio.Lock()):
                    answer = await self.answer(ctx, params.name, given)
        except LspidxError as error:
            return forms.failed(error, self.options)
        except Exception as error:
            log.exception("call failed: tool=%s", params.name)
            return forms.failed(explained(error, self.workspace.service.start), self.options)
        if tool.name == "search_tools":
            await self._list_too(ctx, answer.result.matches)
        return await anyio.to_thread.run_sync(forms.answered, tool, answer, self.options, limiter=self._limiter)

    async def answer(self, ctx: Request, name: str, given: dict[str, Any]) -> Answer[Any]:
        """One question on a thread of its own.

        Raises:
            LspidxError: as `registry.call`; whatever else the tool raises.
        """
        name = search.spelled(name) or name
        tool, _ = load(name)
        fresh = given.pop("fresh", False) if tool.needs_index else False
        if not isinstance(fresh, bool):
            raise UsageError(f"{name}: 'fresh' is true or false, not {fresh!r}")

        phases = self.phases(ctx)

        def ask(job: Job[Answer[Any]]) -> Answer[Any]:
            service = self.service_of(ctx, name, given)
            if not fresh:
                service.catch_up(name, progress=job.progress)
            if tool.needs_index and (index := self.workspace.index_if_any(fresh=fresh, progress=job.progress, of=service)) is not None:
                job.uses(index.cursor())
            return service.ask(name, given, progress=job.progress, phases=phases, cut=False, strict=self.options.strict)

        return await self._run(ctx, ask)

    def service_of(self, ctx: Request, name: str, given: Mapping[str, Any]) -> Service:
        """Who answers a call. `start_lsp` turns the one client on stdin to another project; clients over HTTP share the server."""
        root = given.get("root_dir")
        if name in _TURNS and isinstance(root, str) and root and ctx.request is None:
            self.workspace.turn_to(root)
        return self.workspace.about(name, given)

    def phases(self, ctx: Request) -> Phases:
        """Of this client: each has a skill of its own, which ends with the session. Of more than `_MAX_SESSIONS` the idlest is lost."""
        client = _client(ctx)
        if client is None:
            return NoSession()
        own = self._phases.setdefault(client, Phases())
        self._phases.move_to_end(client)
        while len(self._phases) > _MAX_SESSIONS:
            self._phases.popitem(last=False)
        return own

    async def on_index(self, ctx: Request, work: Callable[[Index], T]) -> T:
        """`work` on the newest index, on a thread of its own."""

        def run(job: Job[T]) -> T:
            index = self.workspace.index(fresh=False, progress=job.progress)
            job.uses(index.cursor())
            return work(index)

        return await self._run(ctx, run)

    async def _run(self, ctx: Request, work: Callable[[Job[T]], T]) -> T:
        wants_progress = ctx.meta is not None and ctx.meta.get("progress_token") is not None
        job = Job(work, ctx.session.report_progress if wants_progress else None)
        gone = ctx.request.scope.get(GONE) if ctx.request is not None else None
        return await (job.run(self._limiter) if gone is None else _unless(gone, job.run(self._limiter)))

    async def roots(
        self, ctx: Request, responses: types.InputResponses | None, *, outwards: bool = False
    ) -> types.InputRequiredResult | None:
        """Asks a client that was started elsewhere than its workspace where that is; over HTTP it may be another machine's.

        A client of the protocol since 2026-07-28 answers by repeating its request, for which this returns what it is asked.

        Args:
            outwards: the question may be about another place, which it may name if it is one of the client's.
        """
        capabilities = ctx.session.client_capabilities
        is_wanted = self.workspace.roots_wanted or (outwards and not self.workspace.roots_known)
        if not is_wanted or ctx.request is not None or capabilities is None or capabilities.roots is None:
            return None
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            listed = (responses or {}).get(_ROOTS)
            if listed is None:
                return types.InputRequiredResult(input_requests={_ROOTS: types.ListRootsRequest()})
        else:
            listed = None
            with anyio.move_on_after(_ROOTS_S):
                listed = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        self.workspace.take_roots([str(root.uri) for root in listed.roots] if isinstance(listed, types.ListRootsResult) else [])
        return None

    async def _list_too(self, ctx: Request, matches: list[str], *, listed: Sequence[str] = search.LISTED) -> None:
        """What was found is listed from now on, for clients that only call what is listed."""
        client = _client(ctx)
        if client is None or self.options.profile == "full":
            return
        known = self._found.setdefault(client, set())
        self._found.move_to_end(client)
        while len(self._found) > _MAX_SESSIONS:
            self._found.popitem(last=False)
        new = {name for name in matches if name not in listed} - known
        if new:
            known.update(new)
            await ctx.session.send_tool_list_changed()
            await self._bus.publish(ToolsListChanged())


async def _unless(gone: anyio.Event, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises, cancelled when the client has gone: a stream that broke off is not taken up again."""
    outcome: list[T] = []
    failure: list[Exception] = []

    async def watch(scope: anyio.CancelScope) -> None:
        await gone.wait()
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch, group.cancel_scope)
        try:
            outcome.append(await work)
        except Exception as error:  # raised below, outside of the group, which would wrap it
            failure.append(error)
        group.cancel_scope.cancel()
    if failure:
        raise failure[0]
    if not outcome:
        raise UsageError("the client has gone, and what it asked for was ended")
    return outcome[0]


def _client(ctx: Request) -> str | None:
    """Whose list it is: of the one client on stdin, of an HTTP session; None where requests belong to no session."""
    return "stdio" if ctx.request is None else ctx.request.headers.get("mcp-session-id")
