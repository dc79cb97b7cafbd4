"""An edit that is written only if it breaks nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from query.answers.envelope import Answer
from query.answers.paths import listed
from query.answers.style import Style
from query.context import Workspace
from query.facts.parameters import asked
from query.refactor.outcome import NOT_WRITTEN, Apply, Edited, PlanId, carry_out, done, lines
from query.refactor.simulation.trial import Evaluation, OneEdit, TimeoutMs, Trial, evaluation_lines, scope_of
from query.surface.registry import workspace_tool

_SHOWN_CHARS = 200


class SafeApplyEdit(OneEdit, kw_only=True):
    scope: Annotated[
        Literal["auto", "file", "workspace"],
        msgspec.Meta(
            description="whose errors count; auto: also files that depend on the edited one, where there is an index that knows them"
        ),
    ] = "auto"
    timeout_ms: TimeoutMs = 0
    allow_warnings: Annotated[bool, msgspec.Meta(description="write it also where it brings warnings")] = True
    apply: Apply = False
    plan: PlanId = ""


class SafelyApplied(msgspec.Struct, kw_only=True):
    """`applied`: whether it was written. `would_apply`: whether it may be. `why_not`: what stands against it. `preview`: see Evaluation."""

    applied: bool
    would_apply: bool
    why_not: str
    edited: Edited
    preview: Evaluation


def _text(answer: Answer[SafelyApplied], style: Style) -> Iterator[str]:
    found = answer.result
    if found.why_not:
        yield f"{style.warning('not applied')}: {found.why_not}"
    yield from lines(found.edited, style, NOT_WRITTEN if found.would_apply else "not written")
    yield from evaluation_lines(found.preview, style)


@workspace_tool(
    "safe_apply_edit",
    parameters=SafeApplyEdit,
    result=SafelyApplied,
    positional="file_path",
    example="safe_apply_edit a.py --old-text one --new-text two",
    task="edit",
    hint="write change replace text only if no new errors verify",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
)
def TOOL(workspace: Workspace, ask: SafeApplyEdit) -> Answer[SafelyApplied]:
    """Tries an edit in memory and shows it; with apply it is written, if a language server says in time that it introduces no error."""
    from query.edits.plan import plan_documents
    from query.refactor.simulation.session import edit
    from query.refactor.simulation.store import new_session

    session = new_session("")
    edit(session, scope_of(workspace), ask.wanted())
    scope_name = ask.scope if ask.scope != "auto" else "file" if workspace.index is None else "workspace"
    trial = Trial(workspace, session, scope_name, ask.timeout_ms)
    preview = trial.evaluate(warnings=not ask.allow_warnings)
    why_not = _why_not(preview, ask)
    preview.session_id, preview.status = "", "destroyed"
    write = not why_not and ask.apply
    outcome = carry_out(workspace, lambda scope: plan_documents(scope, session.documents(), session.digests()), write=write, shown=ask.plan)
    for reason in outcome.reasons:
        trial.reasons[reason.code] = reason
    result = SafelyApplied(applied=write, would_apply=not why_not, why_not=why_not, edited=outcome.edited, preview=preview)
    return trial.answer(_asked(ask), result, len(preview.errors_introduced), nothing_judged=preview.net_delta is None)


def _why_not(preview: Evaluation, ask: SafeApplyEdit) -> str:
    """What stands against writing; empty if nothing does."""
    if preview.dirty:
        return "the file has changed on disk meanwhile; try again"
    if preview.errors_introduced:
        return "it introduces errors"
    if preview.left_behind:
        names = listed([item.qualified_name for item in preview.left_behind])
        return f"uses of what it changes stay as they were: {names}; apply_edit takes it unjudged"
    if preview.net_delta is None:
        return "no server can judge this file; apply_edit takes it unjudged"
    if preview.timeout:
        return "the server had not said all in time, so errors are unknown; try again, or with a larger timeout_ms"
    if not preview.safe:
        return "not all that may depend on it was judged, see the reasons; scope=file judges this file alone, apply_edit takes it unjudged"
    if preview.new_warnings and not ask.allow_warnings:
        return "it introduces warnings"
    return ""


def _asked(ask: SafeApplyEdit) -> dict[str, Any]:
    """What was asked; long texts are cut, the answer tells them anyway."""
    return {key: value[:_SHOWN_CHARS] if isinstance(value, str) else value for key, value in asked(ask).items()}
