"""Several edits of a session one after the other, each judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from indexer.errors import UsageError
from query.answers.diagnostic import Diagnostic
from query.answers.envelope import Answer
from query.answers.style import Style
from query.context import Workspace
from query.refactor.simulation.trial import (
    OneEdit,
    ScopeOfDiagnostics,
    SessionId,
    SimulatedEdit,
    TimeoutMs,
    Trial,
    diagnostic_lines,
    scope_of,
    shown_edit,
    store_of,
)
from query.surface.registry import workspace_tool

MAX_STEPS = 50


class SimulateChain(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    session_id: SessionId = ""
    edits: Annotated[
        list[OneEdit],
        msgspec.Meta(max_length=MAX_STEPS, description="as simulate_edit takes them; each means the text after those before it"),
    ] = []
    scope: ScopeOfDiagnostics = "workspace"
    timeout_ms: TimeoutMs = 0


class ChainStep(msgspec.Struct, kw_only=True):
    """The session after this step, against the files before the session's first edit: see Evaluation."""

    step: int
    edit: SimulatedEdit
    net_delta: int | None
    errors_introduced: list[Diagnostic]
    errors_resolved: list[Diagnostic]
    safe: bool
    confidence: str


class Chain(msgspec.Struct, kw_only=True):
    """`safe_to_apply_through_step`: the last step after which the session is safe; 0: none. `cumulative_delta`: after the last step."""

    session_id: str
    status: str
    steps: list[ChainStep]
    safe_to_apply_through_step: int
    cumulative_delta: int | None


def _text(answer: Answer[Chain], style: Style) -> Iterator[str]:
    found = answer.result
    for step in found.steps:
        delta = "unknown" if step.net_delta is None else f"{step.net_delta:+d}"
        verdict = style.strong("safe") if step.safe else style.warning("not shown to be safe")
        place = style.place(step.edit.file_path, step.edit.start_line, step.edit.start_column)
        yield f"{step.step}  {place}  {verdict}: net delta {delta}, confidence {step.confidence}"
        yield from diagnostic_lines(step.errors_introduced, style)
        for item in step.errors_resolved:
            yield f"  {style.dim('resolved')} {style.place(item.path, item.line, item.col)}"
    through = f"through step {found.safe_to_apply_through_step}" if found.safe_to_apply_through_step else "at no step"
    delta = "unknown" if found.cumulative_delta is None else f"{found.cumulative_delta:+d}"
    yield f"safe to apply {through}; delta of all {delta}; session {found.session_id}, {found.status}"


@workspace_tool(
    "simulate_chain",
    parameters=SimulateChain,
    result=Chain,
    positional="session_id",
    needs="session_id edits",
    example='simulate_chain 00000000000000000000000000000000 --edits \'[{"file_path":"a.py","old_text":"one","new_text":"two"}]\'',
    task="try",
    hint="speculative sequence of edits steps refactor three one after other without saving",
    text=_text,
    read_only=False,
    concurrency_safe=False,
)
def TOOL(workspace: Workspace, ask: SimulateChain) -> Answer[Chain]:
    """Adds edits to a session one after the other, judges it after each, and says through which of them it is safe to go."""
    from query.refactor.simulation.session import edit, status

    if not ask.edits:
        raise UsageError("give edits: a list of records as simulate_edit takes them")
    scope, store = scope_of(workspace), store_of(workspace)
    session = store.load(ask.session_id)
    revision = session.revision
    trial = Trial(workspace, session, ask.scope, ask.timeout_ms)
    steps: list[ChainStep] = []
    for number, wanted in enumerate(ask.edits, 1):
        made = edit(session, scope, wanted.wanted())
        found = trial.evaluate()
        steps.append(
            ChainStep(
                step=number,
                edit=shown_edit(made),
                net_delta=found.net_delta,
                errors_introduced=found.errors_introduced,
                errors_resolved=found.errors_resolved,
                safe=found.safe,
                confidence=found.confidence,
            )
        )
    session.state = "evaluated"
    store.replace(session, revision)
    result = Chain(
        session_id=session.id,
        status=status(session, scope),
        steps=steps,
        safe_to_apply_through_step=max((step.step for step in steps if step.safe), default=0),
        cumulative_delta=steps[-1].net_delta,
    )
    query = {"session_id": ask.session_id, "edits": len(ask.edits), "scope": ask.scope}
    return trial.answer(query, result, len(steps), nothing_judged=result.cumulative_delta is None)
