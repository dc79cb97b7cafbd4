"""What a process that answers does with a question: asks the service, and puts what it says into the form of the protocol."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast
from urllib.parse import unquote

import click

from indexer.errors import IndexUnusable, LspidxError, UsageError
from indexer.quoting import one_line, visible
from query.answers.envelope import Answer
from query.answers.mishaps import explained
from query.context import Servers
from query.facts.freshness import drift
from query.facts.index import Index
from query.facts.partial_names import completions, paths
from query.facts.sql import columns_by_view
from query.mcp import forms, resources
from query.mcp.frames import Question, Told
from query.mcp.job import Job
from query.mcp.options import Options
from query.mcp.protocol import INVALID_PARAMS, Refused, Result, text_of_ours
from query.mcp.workspace import Workspace
from query.skills.session import NoSession, Phases
from query.surface import manual, search
from query.surface.registry import load, names
from query.surface.render import error_text
from query.surface.service import Service

if TYPE_CHECKING:
    from query.dialects.surface import Dialect

log = logging.getLogger(__name__)

T = TypeVar("T")

_MAX_SESSIONS = 1_000
_MOST_COMPLETIONS = 100
"""The protocol allows no more."""
_TURNS = ("start_lsp", "restart_lsp_server")

_COMPLETED: Mapping[str, Callable[[Index, str, int], list[str]]] = {
    "symbol": completions,
    "name": completions,
    "target": completions,
    "file": paths,
    "path": paths,
}
"""By the name of an argument."""


class Passed(BaseException):
    """Of a reader: another process has to answer this. Nothing that a tool catches."""


class NoServers:
    """In place of the running servers of a reader, which has none."""

    def __getattr__(self, name: str) -> NoReturn:
        raise Passed

    def close(self) -> None:
        """There is nothing to end."""


def _no_servers(root: Path, flags: Mapping[str, Any]) -> Servers:
    return cast("Servers", NoServers())


class Answering:
    """For one process. Any number of threads may ask."""

    def __init__(self, workspace: Workspace, options: Options, *, reads: bool) -> None:
        """`reads`: answers only what a whole index that is as the files are knows."""
        self.workspace = workspace.for_reading(_no_servers) if reads else workspace
        self.options, self._reads = options, reads
        self._phases: OrderedDict[str, Phases] = OrderedDict()

    def told(self, question: Question, job: Job[Told]) -> Told:
        """The last word on a question.

        Raises:
            Passed, Refused; whatever a tool raises.
        """
        self.workspace.follow(Path(question.start), question.roots)
        if self._reads:
            self._require_whole(question)
        result, found, phases = self._answered(question, job)
        return Told(
            number=question.number,
            ended=True,
            result=result,
            found=found,
            turned=str(self.workspace.service.start) if question.name in _TURNS else "",
            held=phases is not None and phases.state() is not None,
        )

    def failed(self, question: Question, error: Exception) -> Told:
        """What went wrong, as an answer of a tool, or a refusal."""
        if not isinstance(error, LspidxError):
            log.exception("call failed: tool=%s", question.name)
            error = explained(error, self.workspace.service.start)
        if question.kind in ("call", "foreign"):
            held = self.phases(question).state() is not None
            return Told(number=question.number, ended=True, result=forms.failed(error, self.options), held=held)
        if question.kind == "complete":  # no index, or one that cannot be read: who asks a question is told so
            return Told(number=question.number, ended=True, result=_completed([]))
        said = visible(click.unstyle(error_text(error)))
        return Told(number=question.number, ended=True, refused=(INVALID_PARAMS, said))

    def close(self) -> None:
        self.workspace.close()

    # ---- by kind

    def _answered(self, question: Question, job: Job[Any]) -> tuple[Result, list[str], Phases | None]:
        if question.kind == "read":
            return self._read(question, job), [], None
        if question.kind == "complete":
            return self._complete(question.name, str(question.arguments["typed"]), job), [], None
        phases = self.phases(question)
        if question.kind == "foreign":
            return *self._foreign(question, phases, job), phases
        answer = self._asked(question.name, dict(question.arguments), phases, job, may_turn=question.client == "stdio")
        tool, _ = load(search.spelled(question.name) or question.name)
        found = [*answer.result.matches] if tool.name == "search_tools" else []
        return forms.answered(tool, answer, self.options), found, phases

    def _asked(self, name: str, given: dict[str, Any], phases: Phases | None, job: Job[Any], *, may_turn: bool = False) -> Answer[Any]:
        name = search.spelled(name) or name
        tool, _ = load(name)
        fresh = given.pop("fresh", False) if tool.needs_index else False
        if not isinstance(fresh, bool):
            raise UsageError(f"{name}: 'fresh' is true or false, not {fresh!r}")
        service = self._service_of(name, given, may_turn=may_turn)
        if not fresh:
            service.catch_up(name, progress=job.progress)
        if tool.needs_index and (index := self.workspace.index_if_any(fresh=fresh, progress=job.progress, of=service)) is not None:
            job.uses(index.cursor())
        return service.ask(name, given, progress=job.progress, phases=phases, cut=False, strict=self.options.strict)

    def _foreign(self, question: Question, phases: Phases, job: Job[Any]) -> tuple[Result, list[str]]:
        """The dialect's own form first, what must be read with it after that."""
        given = dict(question.arguments)
        service = self._service_of(question.name, given, may_turn=question.client == "stdio")
        if (index := self.workspace.index_if_any(fresh=False, progress=job.progress, of=service)) is not None:
            job.uses(index.cursor())
        reply = self._dialect.call(service, question.name, given, phases=phases)
        found: list[str] = []
        if self._dialect.finds is not None and question.name == self._dialect.finds[0] and isinstance(reply.structured, dict):
            found = [*reply.structured.get(self._dialect.finds[1], [])]
        result: Result = {"content": [text_of_ours(text) for text in reply.blocks], "isError": reply.is_error}
        if isinstance(reply.structured, dict):
            result["structuredContent"] = reply.structured
        return result, found

    def _read(self, question: Question, job: Job[Any]) -> Result:
        uri = question.name
        if uri == resources.TOOLS:
            declared = (load(name)[0] for name in names())
            tools = [
                {"name": tool.name, "aliases": list(tool.aliases), "task": tool.task, "description": tool.description} for tool in declared
            ]
            return resources.both(uri, click.unstyle(manual.tools_text()), tools)
        if uri == resources.SCHEMA:
            tables = self._on_index(job, columns_by_view)
            return resources.both(uri, "\n".join(f"{table}: {', '.join(columns)}" for table, columns in tables.items()), tables)
        if uri == resources.STATUS:
            return self._resource(uri, "index_status", {}, job)
        if uri.startswith(resources.SYMBOL) and (name := unquote(uri.removeprefix(resources.SYMBOL))):
            return self._resource(uri, resources.SYMBOL_TOOL, {"symbol": name}, job)
        raise Refused(INVALID_PARAMS, f"there is no resource '{one_line(uri)}'; known: {resources.KNOWN}")

    def _resource(self, uri: str, name: str, given: dict[str, Any], job: Job[Any]) -> Result:
        made = forms.answered(load(name)[0], self._asked(name, given, None, job), self.options._replace(format="both", strict=False))
        return resources.both(uri, made["content"][0]["text"], made.get("structuredContent"))

    def _complete(self, argument: str, typed: str, job: Job[Any]) -> Result:
        if argument == "scope":
            scopes: list[str] = load("detect_changes")[0].input_schema()["properties"]["scope"]["enum"]
            return _completed([scope for scope in scopes if scope.startswith(typed)])
        if (look := _COMPLETED.get(argument)) is None:
            return _completed([])
        return _completed(self._on_index(job, lambda index: look(index, typed, _MOST_COMPLETIONS + 1)))

    # ---- inside

    def _on_index(self, job: Job[Any], work: Callable[[Index], T]) -> T:
        index = self.workspace.index(fresh=False, progress=job.progress)
        job.uses(index.cursor())
        return work(index)

    def _service_of(self, name: str, given: Mapping[str, Any], *, may_turn: bool) -> Service:
        """Who answers a call. `start_lsp` turns the one client on stdin to another project; clients over HTTP share the server."""
        root = given.get("root_dir")
        if name in _TURNS and isinstance(root, str) and root and may_turn:
            self.workspace.turn_to(root)
        return self.workspace.about(name, given)

    def phases(self, question: Question) -> Phases:
        """Of this client: each has a skill of its own, which ends with the session. Of more than `_MAX_SESSIONS` the idlest is lost."""
        if not question.client:
            return NoSession()
        own = self._phases.setdefault(question.client, Phases())
        self._phases.move_to_end(question.client)
        while len(self._phases) > _MAX_SESSIONS:
            self._phases.popitem(last=False)
        return own

    def _require_whole(self, question: Question) -> None:
        """Raises Passed where the index is not there, not whole, or to be brought up to date first."""
        try:
            service = self.workspace.about(question.name, question.arguments)
            index = service.index()
        except IndexUnusable:
            raise Passed from None
        if index.meta.get("partial"):
            raise Passed
        if self.options.refresh and drift(index).paths:
            raise Passed

    @cached_property
    def _dialect(self) -> Dialect:
        from query.dialects import dialect

        return dialect(self.options.dialect)


def _completed(found: list[str]) -> Result:
    shown = [value for value in found if one_line(value) == value][:_MOST_COMPLETIONS]
    return {"completion": {"values": shown, "total": len(found), "hasMore": len(found) > len(shown)}}
