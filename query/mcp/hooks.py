"""What a client runs around its agent's edits of a file: the settings that say so, and what the agent is told then.

Before an edit: who else rests on what is about to change. After it: the errors that were not there before. Neither ever stands in an
edit's way, and both say nothing where nothing is known. Forms are those of the clients' own documentation, as of November 2026.
"""

from __future__ import annotations

import json
import logging
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from indexer import plain_files
from indexer.encoding import read_beginning
from indexer.errors import LspidxError, UnsafeIndex, UsageError
from indexer.quoting import fenced, one_line
from query.answers.diagnostic import Diagnostic
from query.answers.style import Style
from query.facts.freshness import is_as_indexed
from query.facts.names import document_path
from query.mcp.clients import Change, json_settings, json_text, present_text
from query.surface.render import to_text
from query.surface.service import Service

log = logging.getLogger(__name__)

Moment = Literal["before", "after"]

_MOST_EVENT_BYTES = 8_000_000
_MOST_FILE_BYTES = 4_000_000
_MOST_CHARS = 3_000
_MOST_SHOWN = 10
_SEVERITY = "error"


class Hooks(NamedTuple):
    """title: what people call the client. place: its settings, below the project. tools: a pattern of those that edit a file.

    events: by moment its name. per_second: in what its limits of time are counted.
    """

    title: str
    place: str
    tools: str
    events: Mapping[Moment, str]
    per_second: int = 1


HOOKS: Mapping[str, Hooks] = {
    "claude-code": Hooks("Claude Code", ".claude/settings.json", "Edit|MultiEdit|Write", {"before": "PreToolUse", "after": "PostToolUse"}),
    "gemini": Hooks("Gemini CLI", ".gemini/settings.json", "replace|write_file", {"after": "AfterTool"}, per_second=1000),
}
"""Clients that tell an agent what a command says around an edit. Of Gemini CLI only what runs after a tool adds to what its agent reads."""

_LIMIT_S = 30


def change(client: str, root: Path, command: str) -> Change:
    """What would be written into a client's settings, so that `lspidx hook` runs around edits.

    Args:
        client: of HOOKS. root: the project's folder. command: what starts lspidx.
    Raises:
        UsageError: the file is not what the client would read, has comments, or says something that would not come back as it is.
        UnsafeIndex: a link lies on the way to it.
    """
    known = HOOKS[client]
    place = root / known.place
    if link := plain_files.link_on_the_way(root, place):
        raise UnsafeIndex(f"'{link}' is a link, and lspidx would write where it leads; add the hooks by hand")
    added = {event: _entry(known, moment, command) for moment, event in known.events.items()}
    before = present_text(place)
    settings = json_settings(place, before, json.dumps({"hooks": {event: [entry] for event, entry in added.items()}}, indent=2))
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(hooks.get(event, []), list) for event in added):
        raise UsageError(f"'{place}' is not what {known.title} reads: 'hooks' is no object of lists in it")
    made = {event: [*(entry for entry in hooks.get(event, []) if not _is_ours(entry)), entry] for event, entry in added.items()}
    if before is not None and all(hooks.get(event) == entries for event, entries in made.items()):
        return Change(place, before, before)
    return Change(place, before, json_text({**settings, "hooks": {**hooks, **made}}))


def _entry(known: Hooks, moment: Moment, command: str) -> dict[str, Any]:
    run = {"type": "command", "command": f"{shlex.quote(command)} hook {moment}-edit", "timeout": _LIMIT_S * known.per_second}
    return {"matcher": known.tools, "hooks": [run]}


def _is_ours(entry: Any) -> bool:
    listed = entry.get("hooks") if isinstance(entry, dict) else None
    commands = [each.get("command") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return any(isinstance(command, str) and command.endswith((" hook before-edit", " hook after-edit")) for command in commands)


class _Piece(msgspec.Struct):
    old_string: str = ""


class _Input(msgspec.Struct):
    file_path: str = ""
    old_string: str = ""
    edits: list[_Piece] = []


class _Event(msgspec.Struct):
    hook_event_name: str = ""
    cwd: str = ""
    tool_input: _Input = msgspec.field(default_factory=_Input)


def told(moment: Moment, event: bytes, service: Callable[[Path], Service]) -> str:
    """What is written to a client for an event that it has sent: JSON, or nothing where the agent is told nothing.

    Args:
        event: JSON with `hook_event_name`, `cwd` and `tool_input` (`file_path`, `old_string` or `edits`).
        service: the tools around a folder.
    """
    try:
        read = msgspec.json.decode(event[:_MOST_EVENT_BYTES], type=_Event)
    except (msgspec.DecodeError, UnicodeError) as error:
        log.info("no event of an edit: error=%s", error)
        return ""
    file = Path(read.cwd, read.tool_input.file_path)
    if not read.tool_input.file_path or "\0" in str(file) or not file.is_file():
        return ""  # a file that is made: nothing rests on it
    asked = service(file.parent)
    try:
        text = _rests_on(asked, file, read.tool_input) if moment == "before" else _new_errors(asked, file)
    except LspidxError as error:  # no index, no server, a file that is none of the workspace's
        log.info("nothing is told around an edit: error=%s", error)
        return ""
    finally:
        asked.close()
    if not text:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": read.hook_event_name, "additionalContext": text}})


def _rests_on(service: Service, file: Path, given: _Input) -> str:
    """Who uses the definitions that an edit touches; of a file that is written whole those that are seen outside of it, and all of one
    that has changed since the index was made, which has other lines there.
    """
    index = service.index()
    is_known = is_as_indexed(index, document_path(index, str(file)))
    pieces = [given.old_string, *(piece.old_string for piece in given.edits)]
    touched = [f"{file}:{line}" for line in _lines_of(file, pieces)] if is_known else []
    whole = {"changed_files": [str(file)], "scope": "exported" if is_known else "all"}
    wanted: dict[str, Any] = {"symbols": touched} if touched else whole
    style = Style(compact=True)
    answer = service.ask("blast_radius", {**wanted, "limit": _MOST_SHOWN}, measure=lambda each: to_text(each, style))
    if not answer.result.non_test_callers and answer.completeness.status == "complete":
        return ""
    text = to_text(answer, style)
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}\n… more: blast_radius"


def _lines_of(file: Path, pieces: list[str]) -> list[int]:
    """Lines, from 1, on which the texts that an edit replaces begin."""
    text = read_beginning(file, _MOST_FILE_BYTES)
    places = [text.find(piece) for piece in pieces if piece.strip()]
    return sorted({text.count("\n", 0, place) + 1 for place in places if place >= 0})


def _new_errors(service: Service, file: Path) -> str:
    """What a running server calls an error now and did not when the index was made."""
    wanted = {"file_path": str(file), "severity": [_SEVERITY], "limit": 1_000}
    then: list[Diagnostic] = service.ask("get_diagnostics", {**wanted, "offline": True}).result.diagnostics
    now: list[Diagnostic] = service.ask("get_diagnostics", {**wanted, "live": True}).result.diagnostics
    known = Counter(map(_looks, then))
    fresh: list[Diagnostic] = []
    for each in now:
        known[_looks(each)] -= 1
        if known[_looks(each)] < 0:
            fresh.append(each)
    if not fresh:
        return ""
    lines = [f"{each.path}:{each.line}:{each.col}  {one_line(each.message)}" for each in fresh[:_MOST_SHOWN]]
    more = [f"… and {len(fresh) - len(lines)} more"] if len(fresh) > len(lines) else []
    counted = "1 error that was not there" if len(fresh) == 1 else f"{len(fresh)} errors that were not there"
    return "\n".join([f"{counted} when the index was made:", *fenced(lines), *more])


def _looks(item: Diagnostic) -> tuple[str, str, int, int, int]:
    """What an error keeps while other lines change. Its words are none of that: a server has longer ones for whoever shows no more."""
    return (item.source, item.code, item.col, item.end_col, item.end_line - item.line)
