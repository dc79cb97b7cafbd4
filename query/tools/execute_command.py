"""A command of a running server. What it asks us to change comes back as an edit that was not made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from indexer import vcs
from indexer.errors import EditRefused, ServerProtocolError, UsageError
from indexer.lsp import methods
from indexer.servers.registry import language_of, languages_present, load_table
from query.answers.envelope import Answer, Reason
from query.answers.pages import all_of
from query.answers.style import Style, printable
from query.context import ServerInfo, Workspace
from query.live.proposals import EditPreview, call_to, preview
from query.live.questions import document, live_provenance, origin, refused, root_of, supports
from query.live.replies import Feature, doubted, provider, without_feature
from query.refactor.outcome import Apply
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from indexer.lsp import requests

_FEATURE = Feature("executeCommandProvider", methods.WORKSPACE_EXECUTE_COMMAND, "commands", "apply_edit, where an action has an edit")
_KNOWN = 40


class ExecuteCommand(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    command: Annotated[str, msgspec.Meta(description="its identifier, as suggest_fixes gives it")] = ""
    arguments: Annotated[list[Any], msgspec.Meta(description="its arguments; a text that is a JSON object or list is taken as that")] = []
    file_path: Annotated[str, msgspec.Meta(description="a file of the language whose server is meant")] = ""
    language_id: Annotated[str, msgspec.Meta(description="the language whose server is meant; default: the one that runs")] = ""
    apply: Apply = False


class CommandResult(msgspec.Struct, kw_only=True):
    """`applied`: whether the server was told to run it; what that changes only the server knows. `result`: what it answered, as it is.

    edits: what it asked us to change; not made, send them to apply_edit.
    """

    result: Any
    edits: list[EditPreview]
    applied: bool = False


def _text(answer: Answer[CommandResult], style: Style) -> Iterator[str]:
    found = answer.result
    if not found.applied:
        yield f"{style.strong('not run')}: what a command changes, only its server knows; to run it: --apply"
    elif answer.completeness.status == "complete":
        yield "Done." if found.result is None else printable(msgspec.json.encode(found.result).decode())
    for edit in found.edits:
        yield style.heading("It asks for this edit, which was not made:")
        for file in edit.files:
            yield f"  {file.what} {style.path(file.path)}" + (f": {style.warning(file.problem)}" if file.problem else "")
            yield from (f"  {printable(line)}" for line in file.diff.split("\n")[2:])
        if style.compact:
            yield f"to write it: {call_to('apply_edit', {'workspace_edit': edit.workspace_edit, 'apply': True})}"


@workspace_tool(
    "execute_command",
    parameters=ExecuteCommand,
    result=CommandResult,
    positional="command",
    example="execute_command ty.printDebugInformation --language-id python",
    task="live",
    hint="run server command workspace/executeCommand code action",
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,  # what a server's command does, only the server knows
    text=_text,
)
def TOOL(workspace: Workspace, ask: ExecuteCommand) -> Answer[CommandResult]:
    """Says whether a language server has a command, or with apply runs it; edits that it asks for are shown, not made."""
    if not ask.command:
        raise UsageError("name a command; suggest_fixes gives those that fit a place, get_server_capabilities --live all of a server")
    path = _server_path(workspace, ask)
    info = workspace.servers.info(path)
    if not supports(info, _FEATURE.capability, _FEATURE.method):
        outcome = without_feature(info, _FEATURE)
        return workspace.answer(ask, CommandResult(result=None, edits=[]), all_of(0), outcome.completeness, outcome.provenance)
    _check(ask.command, info)
    if not ask.apply:
        return workspace.answer(ask, CommandResult(result=None, edits=[]), all_of(0), provenance=live_provenance(info=info))
    params: requests.ExecuteCommandParams = {"command": ask.command, "arguments": [_plain(item) for item in ask.arguments]}
    reply = workspace.servers.ask(path, _FEATURE.method, params)
    edits: list[EditPreview] = []
    reasons: list[Reason] = []
    for edit in reply.edits:
        try:
            edits.append(preview(workspace, edit, origin(reply.server, methods.WORKSPACE_APPLY_EDIT)))
            problems = [f"{file.path}: {file.problem}" for file in edits[-1].files if file.problem]
            reasons += [Reason(code="edit_unknown", detail=problem) for problem in problems]
        except (ServerProtocolError, EditRefused) as error:
            reasons.append(Reason(code="malformed_answer", detail=str(error)))
    result = CommandResult(result=reply.result, edits=edits, applied=True)
    return workspace.answer(ask, result, all_of(len(edits)), doubted(refused(reply, _FEATURE.method), reasons), live_provenance(reply))


def _plain(argument: Any) -> Any:
    """The command line has words only."""
    if isinstance(argument, str) and argument[:1] in "{[" and argument:
        try:
            return msgspec.json.decode(argument)
        except msgspec.DecodeError:
            return argument
    return argument


def _check(command: str, info: ServerInfo) -> None:
    """Raises UsageError for a command that the server does not list; one that lists none is asked."""
    known = provider(info, _FEATURE.capability).commands
    if known and command not in known:
        more = f" and {len(known) - _KNOWN} more" if len(known) > _KNOWN else ""
        raise UsageError(f"{info.name} has no command '{command}'; it has: {', '.join(known[:_KNOWN])}{more}")


def _server_path(workspace: Workspace, ask: ExecuteCommand) -> str:
    """Some file of the language whose server is meant.

    Raises:
        UsageError: several servers run, or none, and nothing says which is meant.
    """
    if ask.file_path:
        return document(workspace, ask.file_path).path
    running = workspace.servers.running()
    languages = [_language(ask.language_id)] if ask.language_id else [info.languages[0] for info in running if info.languages]
    if len(languages) != 1:
        there = ", ".join(f"{info.name or info.entry} ({', '.join(info.languages)})" for info in running) or "none"
        raise UsageError(f"say whose command it is: file_path or language_id; servers that run: {there}")
    paths = vcs.list_files(Path(root_of(workspace)))
    present = languages_present(paths)
    found = next((path for path in paths if language_of(path, present) == languages[0]), "")
    if not found:
        raise UsageError(f"no file of the workspace is in '{languages[0]}'; its languages: {', '.join(sorted(present))}")
    return found


def _language(name: str) -> str:
    """A language as the server table calls it, by its name or by what LSP calls it."""
    return next((known for known, spec in load_table().language.items() if name == known or name in spec.ids.values()), name)
