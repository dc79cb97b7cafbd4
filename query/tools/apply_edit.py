"""Edits on disk: a WorkspaceEdit, or a text in place of another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.style import Style
from query.context import Workspace
from query.refactor.outcome import Apply, Edited, PlanId, carry_out, done, edited_answer, lines
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from query.edits.plan import Plan
    from query.edits.scope import Scope

_SHOWN_CHARS = 200


class ApplyEdit(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    workspace_edit: Annotated[
        dict[str, Any], msgspec.Meta(description="a WorkspaceEdit (changes or documentChanges), as a tool or a language server gives it")
    ] = {}
    file_path: Annotated[str, msgspec.Meta(description="in place of workspace_edit: the file in which old_text becomes new_text")] = ""
    old_text: Annotated[
        str, msgspec.Meta(description="text that occurs exactly once; else, whole lines that differ in white space only")
    ] = ""
    new_text: Annotated[str, msgspec.Meta(description="text in its place; empty removes it")] = ""
    apply: Apply = False
    plan: PlanId = ""
    exclude_globs: Annotated[
        list[str], msgspec.Meta(description="files of workspace_edit to leave alone: vendor/**, **/*_gen.go, *.pb.go")
    ] = []


def _text(answer: Answer[Edited], style: Style) -> Iterator[str]:
    yield from lines(answer.result, style)


@workspace_tool(
    "apply_edit",
    parameters=ApplyEdit,
    result=Edited,
    positional="",
    example="apply_edit --file-path shortcuts.py --old-text 'def redirect(' --new-text 'def go_to('",
    task="edit",
    hint="write change replace text rename files WorkspaceEdit patch",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
)
def TOOL(workspace: Workspace, ask: ApplyEdit) -> Answer[Edited]:
    """Shows an edit, or with apply writes it, all files or none: a WorkspaceEdit, or new_text in place of old_text in file_path."""
    from query.edits.plan import plan_edit, plan_match

    by_text = bool(ask.file_path or ask.old_text or ask.new_text)
    if by_text == bool(ask.workspace_edit):
        raise UsageError("give either workspace_edit, or file_path with old_text and new_text")

    def plan(scope: Scope) -> Plan:
        if by_text:
            return plan_match(scope, ask.file_path, ask.old_text, ask.new_text)
        return plan_edit(scope, ask.workspace_edit, ask.exclude_globs)

    return edited_answer(workspace, _asked(ask), carry_out(workspace, plan, write=ask.apply, shown=ask.plan))


def _asked(ask: ApplyEdit) -> dict[str, Any]:
    """What was asked, without the edit itself, which may be long and which the answer tells anyway."""
    given: dict[str, Any] = {"apply": ask.apply}
    for name in ("file_path", "old_text", "new_text"):
        if text := getattr(ask, name):
            given[name] = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    if ask.exclude_globs:
        given["exclude_globs"] = ask.exclude_globs
    return given
