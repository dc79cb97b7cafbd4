"""tools/list and tools/call: what is listed, and which process answers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from indexer.errors import LspidxError, UsageError
from query.answers.mishaps import explained
from query.facts.served import OUTWARDS
from query.mcp import forms
from query.mcp.client import Asked
from query.mcp.client_log import ClientLog
from query.mcp.frames import Kind, Question, Told
from query.mcp.options import Options
from query.mcp.protocol import CallParams, Refused, Result, roots_of
from query.mcp.workers import Workers
from query.mcp.workspace import Workspace
from query.surface import search
from query.surface.registry import load, names

if TYPE_CHECKING:
    from query.dialects.surface import Dialect, DialectTool

log = logging.getLogger(__name__)

T = TypeVar("T")

_FRESH = {"type": "boolean", "description": "bring the index up to date first"}
_ROOTS = "roots"
_ROOTS_S = 5.0
"""A client that says it has roots and does not name them in time is taken at the folder that the server was started in."""
_MAX_SESSIONS = 1_000
_TOGETHER = {"try": "edit"}
"""Tools that are not safe beside others wait for those of the same task: an index that is made holds up no build, and no edit. What is
tried in memory may be written, and so counts as an edit."""
_OF_WORKSPACE = ("live", "edit", "try", "run")
"""Tasks whose tools are about the workspace even where they need no index."""


class Tools:
    """The declared tools for any number of clients, or a dialect's, before ours.

    What is no tool of the dialect is one of ours, though it is not listed: a dialect's search of tools names them.
    """

    def __init__(self, start: Path, options: Options) -> None:
        """`start`: the workspace is at or around it."""
        self.options = options
        self.workspace = Workspace(
            start,
            make=options.make_index,
            edits=options.allow_edits,
            folders=options.folders,
            keeps_fresh=options.refresh,
            begins=options.begin_index,
        )
        self.client_log = ClientLog()
        self._found: OrderedDict[str, set[str]] = OrderedDict()
        self._held: set[str] = set()
        self._roots: list[str] | None = None
        self._alone: dict[str, asyncio.Lock] = {}
        self._telling: set[asyncio.Future[None]] = set()

    # ---- tools/list

    def listed(self, client: str) -> list[Result]:
        """The profile's tools, or all of the dialect's, then those that this client has found."""
        found = self._found.get(client, set())
        if self._dialect is not None:
            own = [_foreign(tool) for tool in self._foreign.values()]
            return own + [self._declared(name, whole=True) for name in sorted(found) if self._is_on(name)]
        editing = search.EDITING if self.options.allow_edits else ()
        wanted = names() if self.options.profile == "full" else [*search.LISTED, *editing]
        every = [*wanted, *sorted(found.difference(wanted))]
        return [self._declared(name, whole=name in found) for name in every if self._is_on(name)]

    def _is_on(self, name: str) -> bool:
        """Whether a tool can do anything here: one that runs the repository's code cannot where edits are off."""
        return self.options.allow_edits or not load(name)[0].runs

    def _declared(self, name: str, *, whole: bool) -> Result:
        """`whole`: with the parameters that are seldom needed too, of a tool that this client has looked up."""
        tool, _ = load(name)
        schema = search.input_schema(tool) if whole else search.listed_schema(tool)
        only_shows = tool.read_only or (tool.applies and not self.options.allow_edits) or (tool.task == "try" and not tool.applies)
        if tool.needs_index:
            schema["properties"] = {**schema.get("properties", {}), "fresh": _FRESH}
        hints = {"readOnlyHint": only_shows, "openWorldHint": False, **({} if only_shows else {"destructiveHint": tool.destructive})}
        return {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": schema,
            **({"outputSchema": dict(forms.OUTPUT_SCHEMA)} if self.options.format != "text" else {}),
            "annotations": hints,
        }

    # ---- tools/call

    async def called(self, asked: Asked, params: CallParams) -> Result:
        """The answer; what the caller did wrong is an answer too, with what to do."""
        try:
            if params.name in self._foreign:
                return await self._called_foreign(asked, params)
            given = {key: value for key, value in (params.arguments or {}).items() if value is not None}  # null: not set
            tool, _ = load(search.spelled(params.name) or params.name)
            of_workspace = tool.needs_index or tool.task in _OF_WORKSPACE or tool.name in OUTWARDS
            outwards = tool.name in OUTWARDS or self.workspace.is_elsewhere(given)
            wanted = await self.roots(asked, params.input_responses, outwards=outwards) if of_workspace else None
            if wanted is not None:
                return wanted
            only_reads = tool.needs_index and tool.read_only and not tool.runs and not given.get("live") and not given.get("fresh")
            alone = None if tool.concurrency_safe else _TOGETHER.get(tool.task, tool.task)
            told = await self.answered(asked, "call", params.name, given, only_reads=only_reads and alone is None, alone=alone)
        except LspidxError as error:
            return forms.failed(error, self.options)
        except Exception as error:
            log.exception("call failed: tool=%s", params.name)
            return forms.failed(explained(error, self.workspace.service.start), self.options)
        if told.found:
            await self._list_too(asked, told.found, search.LISTED)
        return told.result or {}

    async def _called_foreign(self, asked: Asked, params: CallParams) -> Result:
        given = dict(params.arguments or {})
        if (wanted := await self.roots(asked, params.input_responses, outwards=self.workspace.is_elsewhere(given))) is not None:
            return wanted
        tool = self._foreign[params.name]
        only_reads = tool.read_only and tool.concurrency_safe
        told = await self.answered(asked, "foreign", params.name, given, only_reads=only_reads)
        if told.found:
            await self._list_too(asked, [name for name in told.found if name not in self._foreign], ())
        return told.result or {}

    async def answered(
        self, asked: Asked, kind: Kind, name: str, given: dict[str, Any], *, only_reads: bool, alone: str | None = None
    ) -> Told:
        """What a process says to a question. Cancelled, or when the client has gone, the question is ended.

        Args:
            only_reads: a reader may know the answer. alone: no two questions of this name at once.
        Raises:
            ServerCrashed: the process has ended. Refused: there is no answer.
        """
        question = Question(
            number=0,
            kind=kind,
            name=name,
            arguments=given,
            client=asked.client,
            wants_progress=asked.report is not None,
            start=str(self.workspace.service.start),
            roots=self._roots,
            log_level=self.client_log.least,
        )
        told = await _unless(asked.gone, self._routed(question, asked, only_reads=only_reads, alone=alone))
        if told.refused is not None:
            raise Refused(*told.refused)
        self._note(asked, told)
        return told

    async def _routed(self, question: Question, asked: Asked, *, only_reads: bool, alone: str | None) -> Told:
        def progress(told: Told) -> None:
            if asked.report is not None:
                self._tell(asked.report(told.reached, told.total, told.what))

        if only_reads and question.client not in self._held:
            told = await self.workers.read(question, progress)
            if not told.passed:
                return told
        async with self._alone.setdefault(alone, asyncio.Lock()) if alone else contextlib.nullcontext():
            return await self.workers.ask(question, progress)

    def _note(self, asked: Asked, told: Told) -> None:
        """What later questions depend on."""
        (self._held.add if told.held else self._held.discard)(asked.client)
        if told.turned and told.turned != str(self.workspace.service.start):
            self.workspace.follow(Path(told.turned), None)
            self.workers.end_readers()

    def _tell(self, telling: Awaitable[None]) -> None:
        task = asyncio.ensure_future(telling)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    @cached_property
    def workers(self) -> Workers:
        """None is forked before the first question; what all of them need is loaded here, once."""
        from query.mcp import answering, worker

        def work(channel: socket.socket, life: int, reads: bool) -> NoReturn:
            worker.run(channel, life, lambda: answering.Answering(self.workspace, self.options, reads=reads), reads=reads)

        return Workers(work, lambda level, said, name: self._tell(self.client_log.tell(level, said, name)))

    async def close(self) -> None:
        """Ends the processes that answer, if there are any."""
        if "workers" in self.__dict__:
            await self.workers.close()

    # ---- what belongs to a client

    async def roots(self, asked: Asked, responses: Mapping[str, Any] | None, *, outwards: bool = False) -> Result | None:
        """Asks a client that was started elsewhere than its workspace where that is; over HTTP it may be another machine's.

        A client of the protocol since 2026-07-28 answers by repeating its request, for which this returns what it is asked.

        Args:
            outwards: the question may be about another place, which it may name if it is one of the client's.
        """
        is_wanted = self.workspace.roots_wanted or (outwards and not self.workspace.roots_known)
        if not is_wanted or not asked.is_local or asked.capabilities.get("roots") is None:
            return None
        if asked.is_modern:
            listed = (responses or {}).get(_ROOTS)
            if listed is None:
                return {"resultType": "input_required", "inputRequests": {_ROOTS: {"method": "roots/list"}}}
        else:
            listed = None
            with contextlib.suppress(TimeoutError, Refused):
                assert asked.request is not None
                listed = await asyncio.wait_for(asked.request("roots/list"), _ROOTS_S)
        uris = roots_of(listed)
        self.workspace.take_roots(uris)
        if uris != self._roots:
            self._roots = uris
            if "workers" in self.__dict__:
                self.workers.end_readers()
        return None

    def forget_roots(self) -> None:
        """They have changed, and are asked for when a question needs them."""
        self.workspace.roots_wanted, self.workspace.roots_known = True, False

    async def _list_too(self, asked: Asked, matches: list[str], listed: Sequence[str]) -> None:
        """What was found is listed from now on, for clients that only call what is listed."""
        if not asked.client or self.options.profile == "full":
            return
        known = self._found.setdefault(asked.client, set())
        self._found.move_to_end(asked.client)
        while len(self._found) > _MAX_SESSIONS:
            self._found.popitem(last=False)
        new = {name for name in matches if name not in listed} - known
        if new:
            known.update(new)
            await asked.list_changed()

    @cached_property
    def _dialect(self) -> Dialect | None:
        if not self.options.dialect:
            return None
        from query.dialects import dialect

        return dialect(self.options.dialect)

    @cached_property
    def _foreign(self) -> dict[str, DialectTool]:
        return {tool.name: tool for tool in self._dialect.tools()} if self._dialect is not None else {}


def _foreign(tool: DialectTool) -> Result:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
        "annotations": {
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.read_only,
            "openWorldHint": False,
        },
    }


async def _unless(gone: asyncio.Event | None, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises, cancelled when the client has gone: a stream that broke off is not taken up again."""
    if gone is None:
        return await work
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone.wait())
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
    finally:
        leaving.cancel()
        if not working.done():
            working.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await working
    raise UsageError("the client has gone, and what it asked for was ended")
