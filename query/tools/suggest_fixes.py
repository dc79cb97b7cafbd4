"""Code actions of a running server for a range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from indexer.errors import EditRefused, ServerProtocolError
from indexer.lsp import methods
from indexer.lsp.decode import Diagnostic
from indexer.lsp.enums import CodeActionTriggerKind
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.paths import listed
from query.answers.style import Style, one_line, printable
from query.context import Diagnosis, Workspace
from query.live import decode
from query.live.proposals import EditPreview, call_to, preview
from query.live.questions import Document, Extent, Ranged, live_provenance, span, supports
from query.live.replies import Feature, Outcome, diagnostics_of, doubted, left_out, provider, question, without_feature
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from indexer.lsp import requests

_FEW = 3
"""So many actions are each shown with the call that makes their edit; of more the edit is to be seen, and one is asked for by `only`."""

_FEATURE = Feature("codeActionProvider", methods.TEXT_DOCUMENT_CODE_ACTION, "code actions", "get_diagnostics for what is wrong")


class SuggestFixes(Ranged, kw_only=True):
    only: Annotated[list[str], msgspec.Meta(description="only these kinds, e.g. quickfix, refactor, source.organizeImports")] = []
    limit: Annotated[int, msgspec.Meta(ge=1, le=200, description="actions shown, and asked for their edits")] = 50
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class ServerCommand(msgspec.Struct, kw_only=True):
    """A command of the server: send `command` and `arguments` to execute_command."""

    title: str
    command: str
    arguments: list[Any]


class Fix(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An action. `kind`: as LSP names it (quickfix, refactor.extract …); `disabled`: why it cannot be done here.

    diagnostics: messages that it mends. edit: what it would change, not made. command: what would have to be run, after the edit
    if there is one. problem: why what it would do cannot be told.
    """

    title: str
    kind: str = ""
    preferred: bool = False
    disabled: str = ""
    diagnostics: list[str] = []
    edit: EditPreview | None = None
    command: ServerCommand | None = None
    problem: str = ""


def _text(answer: Answer[list[Fix]], style: Style) -> Iterator[str]:
    for item in answer.result:
        notes = [item.kind, "preferred" if item.preferred else "", f"disabled: {item.disabled}" if item.disabled else ""]
        yield f"{style.strong(one_line(item.title))}  {style.dim(', '.join(one_line(note) for note in notes if note))}"
        for message in item.diagnostics:
            yield f"    mends: {one_line(message)}"
        for file in item.edit.files if item.edit is not None else []:
            yield f"    {file.what} {style.path(file.path)}" + (f": {style.warning(file.problem)}" if file.problem else "")
            yield from (f"    {printable(line)}" for line in file.diff.split("\n")[2:])
        if style.compact and item.edit is not None and len(answer.result) <= _FEW and not any(file.problem for file in item.edit.files):
            yield f"    to write it: {call_to('apply_edit', {'workspace_edit': item.edit.workspace_edit, 'apply': True})}"
        if item.command is not None and style.compact:
            given = {"command": item.command.command, "arguments": item.command.arguments, "file_path": answer.query.get("path", "")}
            yield f"    to see what it does: {call_to('execute_command', {**given, 'apply': True})}"
        elif item.command is not None:
            yield f"    command {one_line(item.command.command)}"
        if item.problem:
            yield f"    {style.warning(item.problem)}"


@workspace_tool(
    "suggest_fixes",
    parameters=SuggestFixes,
    result=list[Fix],
    positional="file_path",
    example="suggest_fixes shortcuts.py --start-line 1 --end-line 20",
    task="live",
    hint="code actions quick fixes refactor extract inline organize imports compiler complains proposes clean up variable",
    text=_text,
)
def TOOL(workspace: Workspace, ask: SuggestFixes) -> Answer[list[Fix]]:
    """Quick fixes and refactorings for a range of a file, each with the edit that it would make."""
    extent = span(workspace, ask)
    of = extent.document
    info = workspace.servers.info(of.path)
    if not supports(info, _FEATURE.capability, _FEATURE.method):
        return _answer(workspace, of, ask, without_feature(info, _FEATURE), [], [])
    diagnosis = workspace.servers.diagnose([of.path])
    known = diagnostics_of(diagnosis, of.path)
    mending = [raw for raw, item in known.items if _overlaps(item, extent)]
    context: requests.CodeActionContext = {"diagnostics": mending, "triggerKind": CodeActionTriggerKind.INVOKED}
    if ask.only:
        context["only"] = ask.only
    params: requests.CodeActionParams = {"textDocument": of.identifier, "range": extent.range, "context": context}
    outcome = question(workspace, of, _FEATURE, params)
    provenance = live_provenance(diagnosis)
    elapsed = diagnosis.elapsed_ms + (outcome.provenance.elapsed_ms or 0)
    outcome = outcome._replace(provenance=msgspec.structs.replace(provenance, elapsed_ms=elapsed))
    reasons = [*_unsettled(diagnosis, of), *left_out(known.others, "diagnostics", diagnosis.server)]
    return _answer(workspace, of, ask, outcome, mending, reasons)


def _answer(
    workspace: Workspace, of: Document, ask: SuggestFixes, outcome: Outcome, mending: Sequence[Any], reasons: Sequence[Reason]
) -> Answer[list[Fix]]:
    fitting = decode.each(outcome.value, decode.CodeAction, outcome.origin)
    found = sorted(fitting.items, key=lambda pair: not pair[1].is_preferred)
    if ask.only:  # a server may pass over what it was asked for
        found = [pair for pair in found if any(_is_of(pair[1].kind or "", wanted) for wanted in ask.only)]
    beside = _others(workspace, of, ask, mending) if ask.only and not found else []
    offset = offset_of(ask.cursor)
    shown = [_fix(workspace, of, raw, action, outcome) for raw, action in found[offset : offset + ask.limit]]
    return workspace.answer(
        ask,
        shown,
        page_of(offset, len(shown), len(found)),
        doubted(outcome.completeness, [*left_out(fitting.others, "actions", outcome.info), *reasons, *_problems(shown)]),
        outcome.provenance,
        more={"path": of.path, "diagnostics": len(mending)},
        beside=beside,
    )


def _others(workspace: Workspace, of: Document, ask: SuggestFixes, mending: Sequence[Any]) -> list[str]:
    """What the server has for the range of other kinds than were asked for, or that it has nothing of the kind at all."""
    info = workspace.servers.info(of.path)
    if not supports(info, _FEATURE.capability, _FEATURE.method):
        return []
    kinds = provider(info, _FEATURE.capability).kinds
    wanted = ", ".join(ask.only)
    if kinds and not any(_is_of(kind, one) or _is_of(one, kind) for kind in kinds for one in ask.only):
        return [f"{info.name} has no actions of the kind {wanted} anywhere; it has: {', '.join(kinds)}"]
    context: requests.CodeActionContext = {"diagnostics": list(mending), "triggerKind": CodeActionTriggerKind.INVOKED}
    params: requests.CodeActionParams = {"textDocument": of.identifier, "range": span(workspace, ask).range, "context": context}
    outcome = question(workspace, of, _FEATURE, params)
    found = decode.each(outcome.value, decode.CodeAction, outcome.origin)
    titles = [f"{action.title} ({action.kind or 'no kind'})" for _, action in found.items]
    return [f"nothing of the kind {wanted} for this range; of other kinds: {listed(titles, 8)}"] if titles else []


def _overlaps(diagnostic: Diagnostic, extent: Extent) -> bool:
    """Whether a diagnostic touches the range."""
    own = diagnostic.range
    begins, ends = (own.start.line, own.start.character), (own.end.line, own.end.character)
    return begins <= extent.end and ends >= extent.start


def _is_of(kind: str, wanted: str) -> bool:
    """`refactor.extract` is of the kind `refactor`."""
    return not wanted or kind == wanted or kind.startswith(f"{wanted}.")


def _unsettled(diagnosis: Diagnosis, of: Document) -> list[Reason]:
    if of.path not in diagnosis.unsettled:
        return []
    detail = f"{diagnosis.server.name} had not told its diagnostics in time, so fixes of them may be missing; ask again"
    return [Reason(code="not_settled", detail=detail, paths=[of.path], count=1)]


def _problems(shown: Sequence[Fix]) -> list[Reason]:
    number = sum(bool(item.problem) or any(file.problem for file in (item.edit.files if item.edit else [])) for item in shown)
    return [Reason(code="edit_unknown", detail="the edit of some actions cannot be told; each says why", count=number)] if number else []


def _fix(workspace: Workspace, of: Document, raw: Any, action: decode.CodeAction, outcome: Outcome) -> Fix:
    problem = ""
    bare = action.edit is None and action.command is None and action.disabled is None
    if bare and provider(outcome.info, _FEATURE.capability).resolves:
        reply = workspace.servers.ask(of.path, methods.CODE_ACTION_RESOLVE, raw)
        more = None if reply.error else decode.resolved(reply.result, decode.CodeAction)
        if more is None:
            problem = f"{outcome.info.name} to {methods.CODE_ACTION_RESOLVE}: {reply.error or 'an answer of another form'}"[:1_000]
        else:
            action = more
    edit: EditPreview | None = None
    try:
        edit = preview(workspace, action.edit, outcome.origin) if action.edit is not None else None
    except (ServerProtocolError, EditRefused) as error:
        problem = str(error)
    return Fix(
        title=action.title,
        kind=action.kind or "",
        preferred=bool(action.is_preferred),
        disabled=action.disabled.reason if action.disabled is not None else "",
        diagnostics=[item.message for item in action.diagnostics or []],
        edit=edit,
        command=_command(action),
        problem=problem,
    )


def _command(action: decode.CodeAction) -> ServerCommand | None:
    command = action.command
    if command is None:
        return None
    if isinstance(command, str):  # the action is itself a Command
        return ServerCommand(title=action.title, command=command, arguments=action.arguments or [])
    return ServerCommand(title=command.title, command=command.command, arguments=command.arguments or [])
