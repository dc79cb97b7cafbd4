"""What dialects are made of: declarations, replies, and the desk at which an operation asks the canonical tools.

A reply that is not complete never reads like one that is. Text and bare lists have a note after them; objects have a field
`completeness`, always, and then no note, so that they stay JSON. Maps whose keys are data have the field only when something is missing.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from indexer.errors import IndexUnusable, LspidxError, NameNotFound, UsageError
from indexer.quoting import shown, visible
from query.answers.envelope import Answer
from query.answers.style import Style, one_line
from query.context import Workspace
from query.facts.index import Index
from query.live.questions import path_inside
from query.skills.session import Phases
from query.surface.budget import PREVIEW_CHARS, bounded
from query.surface.registry import MAX_RESULT_CHARS, call, load, names
from query.surface.render import error_record, error_text, to_text
from query.surface.service import Service

MAX_FILE_BYTES = 10_000_000


P = TypeVar("P")


class DialectTool(msgspec.Struct, kw_only=True, frozen=True):
    """A tool as a dialect declares it. A reply is longer than `max_result_chars` only by its note."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool = True
    concurrency_safe: bool = True
    destructive: bool = False
    max_result_chars: int = MAX_RESULT_CHARS


_EXACT = frozenset(("changes", "documentChanges", "edit", "workspace_edit", "workspace_edits", "patch", "newText"))
"""Parts of edits, which are sent back to be made."""


class DialectReply(msgspec.Struct, kw_only=True, frozen=True):
    """What a call returns.

    payload: in the dialect's own form. note: what must be read with it and has no place in that form; empty for complete answers.
    structured: the value that `payload` is the JSON of, None for prose. exit_code: what the command line ends with.
    """

    payload: str
    structured: Any = None
    note: str = ""
    is_error: bool = False
    exit_code: int = 0

    @property
    def text(self) -> str:
        """Payload and note, the note last."""
        return "\n\n".join(self.blocks)

    @property
    def blocks(self) -> list[str]:
        """The same apart, for protocols whose replies have several parts: the first is the dialect's form alone."""
        return [self.payload, self.note] if self.note else [self.payload]


class Desk:
    """Where an operation asks; one for each call."""

    def __init__(self, service: Service, phases: Phases) -> None:
        """`phases`: of the session that asks. `warnings`: what they said to calls that were let through all the same."""
        self._service = service
        self._phases = phases
        self._asked = False
        self.warnings: list[str] = []

    @cached_property
    def index(self) -> Index:
        return self._service.index_or_begin()

    @cached_property
    def _index_if_any(self) -> Index | None:
        try:
            return self.index
        except IndexUnusable:
            return None

    @property
    def root(self) -> Path:
        """The root of the index; without an index, the folder in which the call was made."""
        return self._index_if_any.root if self._index_if_any is not None else self._service.start

    def can_call(self, tool_name: str) -> bool:
        """Whether one of our tools can do anything here: one that runs the repository's code cannot where edits are off."""
        return self._service.edits or not load(tool_name)[0].runs

    @property
    def callable_tools(self) -> int:
        return sum(self.can_call(name) for name in names())

    def ask(self, tool_name: str, **arguments: Any) -> Answer[Any]:
        """The whole answer of a canonical tool: what is too long is decided by the length of the reply, see `text` and `value`.

        The first tool is the one that the operation stands for, which the phases of a skill may forbid; what it looks up besides
        is no call of the agent, unless it changes something.
        """
        tool, _ = load(tool_name)
        phases = Phases() if self._asked and tool.read_only else self._phases
        self._asked = True
        lacking = self._service.contact(tool_name)
        if lacking is not None:
            answer = self._service.answered(tool_name, arguments, phases=phases, lacking=lacking)
            self.warnings += answer.warnings or []
            return answer
        index = self.index if tool.needs_index and tool.live is None else self._index_if_any
        servers = self._service.servers(self.root)
        answer = call(
            index,
            tool_name,
            arguments,
            servers=servers,
            root=self.root,
            edits=self._service.edits,
            served=self._service.served,
            phases=phases,
        )
        self.warnings += answer.warnings or []
        return answer

    def file(self, path: str) -> str:
        """A path as given, made absolute.

        Raises:
            UsageError: a network path (refused before the file system sees it), no file, not a regular one, or too large.
        """
        if not path:
            raise UsageError("name a file: the path is empty")
        if path.startswith(("\\\\", "//")):
            raise UsageError(f"'{path}' is a network or device path; give one of this machine")
        if self._service.served is not None:  # before the file system is asked whether it is there
            self._service.served.check(self.root, self._index_if_any, path)
        places = [path] if os.path.isabs(path) else [os.path.join(os.getcwd(), path), os.path.join(self.root, path)]
        for place in places:
            try:
                found = os.stat(place)
            except (OSError, ValueError):
                continue
            if not stat.S_ISREG(found.st_mode):
                raise UsageError(f"'{path}' is not a regular file")
            if found.st_size > MAX_FILE_BYTES:
                raise UsageError(f"'{path}' has {found.st_size} bytes; files of more than {MAX_FILE_BYTES} are refused")
            return place
        raise UsageError(f"'{path}' does not exist")

    def require_inside(self, folder: str) -> None:
        """Refuses a call that is about a folder outside the workspace; an empty one means the workspace.

        Raises:
            UsageError, NotServed: it is outside.
        """
        if not folder:
            return
        if self._service.served is not None:
            self._service.served.check(self.root, self._index_if_any, folder)
        path_inside(Workspace(root=self.root, index=self._index_if_any, servers=self._service.servers(self.root)), folder)

    # ---- replies

    def text(self, answer: Answer[Any], form: Callable[[Answer[Any]], str], *more: str) -> DialectReply:
        """A reply in prose. `more`: what the operation itself adds to the note."""
        part, payload = self._fitting(answer, form)
        return DialectReply(payload=payload, note=note(part, *more))

    def value(self, answer: Answer[Any], form: Callable[[Answer[Any]], Any], *more: str, is_map: bool = False) -> DialectReply:
        """A reply in JSON. `is_map`: its keys are data, so that a complete answer has no field beside them."""

        def whole(of: Answer[Any]) -> Any:
            made = form(of)
            return {**made, **_certificate(of, is_map=is_map)} if isinstance(made, dict) else made

        part, payload = self._fitting(answer, lambda of: to_json(whole(of)))
        structured = whole(part)
        return DialectReply(payload=payload, structured=structured, note=note(part, *more) if not isinstance(structured, dict) else "")

    def _fitting(self, answer: Answer[Any], form: Callable[[Answer[Any]], str]) -> tuple[Answer[Any], str]:
        """The answer and its form; where that is too long, its beginning, and all of it in a file."""
        made = form(answer)
        if len(made) <= MAX_RESULT_CHARS:
            return answer, made
        tool, _ = load(answer.tool)
        part = bounded(answer, tool.result, PREVIEW_CHARS, self.index.home if self._index_if_any is not None else None)
        return part, form(part)


class Operation(msgspec.Struct, frozen=True):
    """One thing a dialect can be asked: what it takes, and how it is asked and printed."""

    takes: type[msgspec.Struct]
    run: Callable[[Desk, Any], DialectReply]


class Dialect:
    """A surface: its tools, and what each of them does with its arguments."""

    def __init__(
        self,
        name: str,
        tools: Sequence[DialectTool],
        run: Callable[[Desk, str, dict[str, Any]], DialectReply],
        finds: tuple[str, str] | None = None,
    ) -> None:
        """`finds`: the tool that finds others, which can be called too, and the field of its reply that names them."""
        self.name = name
        self.finds = finds
        self._tools = {tool.name: tool for tool in tools}
        self._run = run

    def tools(self) -> list[DialectTool]:
        return list(self._tools.values())

    def call(self, service: Service, tool_name: str, arguments: Mapping[str, Any], *, phases: Phases | None = None) -> DialectReply:
        """Answers one call. Errors that somebody can do something about are replies too.

        Args:
            phases: of the session that asks, if the service has several.
        """
        try:
            _require_unicode(tool_name, arguments)
            desk = Desk(service, phases if phases is not None else service.phases)
            if tool_name not in self._tools and self.finds is not None and tool_name in names():
                return _visible(_warned(desk.text(desk.ask(tool_name, **arguments), as_text), desk.warnings))
            if tool_name not in self._tools:
                raise UsageError(f"{self.name} has no tool '{tool_name}'; it has: {', '.join(self._tools)}")
            return _visible(_warned(self._run(desk, tool_name, dict(arguments)), desk.warnings))
        except LspidxError as error:
            return _visible(failure(error))


def _visible(reply: DialectReply) -> DialectReply:
    """With nothing of the repository in it that steers or hides. The payload stays JSON of the same meaning; edits stay exact."""
    return msgspec.structs.replace(
        reply, payload=visible(reply.payload), note=visible(reply.note), structured=shown(reply.structured, _EXACT)
    )


def _require_unicode(tool_name: str, arguments: Mapping[str, Any]) -> None:
    """JSON can write half of a surrogate pair, which no reply could repeat."""
    try:
        json.dumps([tool_name, dict(arguments)], ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UsageError("the call is not valid UTF-8: half of a surrogate pair") from error


def convert(arguments: Mapping[str, Any], takes: Any, what: str, *, strings: bool = False) -> Any:
    """Arguments as a record of `takes`, which may be a union.

    Args:
        what: begins the message. strings: numbers and booleans may be written as strings.
    Raises:
        UsageError: they do not fit.
    """
    plain = {key: int(item) if isinstance(item, float) and item.is_integer() else item for key, item in arguments.items()}
    try:
        return msgspec.convert(plain, takes, strict=not strings)
    except msgspec.ValidationError as error:
        raise UsageError(f"{what}: {error}") from error


def as_text(answer: Answer[Any]) -> str:
    """An answer of our own tools, which a dialect's search has named."""
    return click.unstyle(to_text(answer, Style(compact=True)))


def first_part(answer: Answer[Any], shown: int, total: int) -> Answer[Any]:
    """An answer of which the dialect shows the first rows."""
    return msgspec.structs.replace(answer, total=total, truncated=shown < total, shortened=False)


def to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# ---- notes and errors


def note(answer: Answer[Any], *more: str) -> str:
    """What is missing from an answer and why, on one line; empty where nothing is."""
    said = [text for text in more if text]
    if answer.result_file:
        said.append(f"too long: this is the beginning of {answer.total} in all, the longer answer is in {answer.result_file}")
    elif answer.truncated:
        said.append(f"cut short: there are {answer.total} in all")
    completeness = answer.completeness
    if completeness.status != "complete":
        reasons = "; ".join(f"{reason.code}: {reason.detail}" for reason in completeness.reasons)
        said.append(f"{completeness.status} answer: {reasons}")
    return one_line(f"[{' · '.join(said)}]") if said else ""


def _warned(reply: DialectReply, warnings: Sequence[str]) -> DialectReply:
    """With what the phases of a skill said to the call: in an object a field, else in the note."""
    if not warnings:
        return reply
    if isinstance(reply.structured, dict):
        structured = {**reply.structured, "warnings": [*reply.structured.get("warnings", []), *warnings]}
        return msgspec.structs.replace(reply, structured=structured, payload=to_json(structured))
    said = one_line(f"[{' · '.join(warnings)}]")
    return msgspec.structs.replace(reply, note="\n".join(filter(None, (reply.note, said))))


def _certificate(answer: Answer[Any], *, is_map: bool) -> dict[str, Any]:
    """Fields that say how much of everything an object has."""
    more: dict[str, Any] = {}
    if answer.truncated or answer.shortened:
        more |= {"truncated": True, "total_found": answer.total}
    if answer.result_file:
        more["result_file"] = answer.result_file
    if not is_map or more or answer.completeness.status != "complete":
        more["completeness"] = msgspec.to_builtins(answer.completeness)
    return more


def failure(error: LspidxError) -> DialectReply:
    """An error with its candidates, each of which can be sent back."""
    structured = error_record(error)
    return DialectReply(payload=click.unstyle(error_text(error)), structured=structured, is_error=True, exit_code=error.exit_code)


def nothing_there(error: NameNotFound, payload: str) -> DialectReply:
    """A dialect's own words for a place without a symbol, and why there is none: nobody may have been able to resolve it."""
    return DialectReply(payload=payload, note=one_line(f"[{error}]"))
