"""What the tools that edit share: a plan shown, or carried out, as one record."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from indexer.errors import EditRefused
from query.answers.envelope import Answer, Reason, completeness_from
from query.answers.pages import all_of
from query.answers.paths import of_paths
from query.answers.style import Style, count, printable
from query.context import Workspace
from query.facts.folders import edit_scope

if TYPE_CHECKING:
    from query.edits.plan import Plan
    from query.edits.scope import Scope

Apply = Annotated[bool, msgspec.Meta(description="write it; without it nothing is written, and what would be is shown")]
"""The one word by which every tool that writes is told to: it shows first."""

PlanId = Annotated[
    str, msgspec.Meta(description="plan of the answer that showed it: refused if what would be written is something else by now")
]
NOT_WRITTEN = "not written; to write it: --apply"
_NOTHING = "nothing to write"
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")

MAX_DIFF_LINES = 1_000
"""Of all files together; of one a fifth of it."""

_PLAN_DIGITS = 16


class EditedFile(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One file. Digests are git's (blobs), empty where there is no file; `diff` is unified, `diff_lines_left_out` lines longer."""

    path: str
    status: Literal["changed", "created", "renamed", "deleted"]
    edits: int
    added: int
    removed: int
    before_digest: str
    after_digest: str
    renamed_from: str = ""
    diff: str = ""
    diff_lines_left_out: int = 0


class Edited(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`applied`: whether it was written. Files by path; sums over all of them.

    plan: names exactly this change of exactly these contents; a call with apply and this plan writes it or nothing.
    matched: how a text was found: `exact`; `line_ends`, CRLF as LF; `indentation`, then the new text was shifted too.
    needs: arguments beside apply, one of which it takes to write this, as something stands against it; empty where apply is enough. Those
    that write more than is shown here have an empty plan.
    unchanged: files whose edits change nothing. excluded: left alone on request.
    undone: files of an earlier edit that had been cut short, and are as before that now.
    """

    applied: bool
    added: int
    removed: int
    edits: int
    files: list[EditedFile]
    plan: str = ""
    needs: list[dict[str, Any]] = []
    matched: str = ""
    unchanged: list[str] = []
    excluded: list[str] = []
    undone: list[str] = []


class Outcome(msgspec.Struct, kw_only=True):
    """`reasons`: why the work tree is not quite what the record says."""

    edited: Edited
    plan: Plan
    reasons: list[Reason]


def carry_out(workspace: Workspace, make: Callable[[Scope], Plan], *, write: bool, shown: str = "") -> Outcome:
    """Makes a plan of the files as they are now and, if `write`, the files as planned.

    Args:
        shown: the plan that was shown before; another one is not carried out. Empty: whatever the plan is now.
    Raises:
        EditRefused, UsageError: it may not or cannot be done so; no file was changed. Locked, Storage: as `query.edits.apply.apply`.
    """
    from query.edits.apply import apply, is_pending, recover
    from query.edits.journal import Recovery

    scope = edit_scope(workspace.root, workspace.index)
    recovery = recover(scope) if write else Recovery()
    plan = make(scope)
    named = _named(plan)
    if shown and shown != named:
        raise EditRefused(
            f"what would be written now is not plan '{shown}' that was shown, as files or arguments have changed since; look at it again"
        )
    if write:
        apply(scope, plan)
    reasons: list[Reason] = []
    if not write and is_pending(scope):
        detail = "an earlier edit was cut short, and files are between before and after; the next edit that is written undoes it first"
        reasons.append(Reason(code="interrupted_edit", detail=detail))
    if recovery.kept:
        detail = f"files of an edit that was cut short have been changed since, and stay as they are; what they were is in {recovery.saved}"
        reasons.append(of_paths("interrupted_edit", detail, recovery.kept))
    files = list(_files(plan))
    edited = Edited(
        applied=write,
        added=sum(item.added for item in files),
        removed=sum(item.removed for item in files),
        edits=sum(item.edits for item in files),
        files=files,
        plan=named if plan.changes else "",
        matched=plan.matched,
        unchanged=plan.unchanged,
        excluded=plan.excluded,
        undone=recovery.restored,
    )
    return Outcome(edited=edited, plan=plan, reasons=reasons)


def edited_answer(workspace: Workspace, ask: msgspec.Struct | Mapping[str, Any], outcome: Outcome) -> Answer[Edited]:
    """The answer of an edit that no server was asked about; `ask` as in `Workspace.answer`."""
    return workspace.answer(ask, outcome.edited, all_of(len(outcome.edited.files)), completeness_from(outcome.reasons))


def done(answer: Answer[Any]) -> str:
    """What the last line says of an edit: the answer's result is an `Edited`, or has one."""
    edited: Edited = getattr(answer.result, "edited", answer.result)
    said = f"{count(len(edited.files), 'file')}, +{edited.added} -{edited.removed}"
    return f"{said}, {'written' if edited.applied else 'shown and not written'}"


def lines(found: Edited, style: Style, preview: str = NOT_WRITTEN) -> Iterator[str]:
    """The record for people; compact without what stands around the changed lines."""
    how = f", found by {found.matched}" if found.matched else ""
    what = "applied" if found.applied else preview if preview != NOT_WRITTEN else _way_to_write(found, style)
    yield f"{style.strong(what)}: {count(len(found.files), 'file')}, +{found.added} -{found.removed}, {count(found.edits, 'edit')}{how}"
    for title, paths in (("unchanged", found.unchanged), ("excluded", found.excluded), ("undone of an earlier edit", found.undone)):
        if paths:
            yield f"{style.dim(title)}: {', '.join(style.path(path) for path in paths)}"
    for item in found.files:
        source = f" from {style.path(item.renamed_from)}" if item.renamed_from else ""
        digests = style.dim(f"{item.before_digest[:10] or 'nothing'} → {item.after_digest[:10] or 'nothing'}")
        numbers = f"+{item.added} -{item.removed} {count(item.edits, 'edit')}"
        head = f"{style.heading(item.path)}  {style.kind(item.status)}{source}  {numbers}"
        yield head if style.compact else f"{head}  {digests}"
        if item.diff and not found.applied:  # git shows what was done
            yield from (f"  {line}" for line in (_changed(item.diff) if style.compact else _diff(item.diff, style)))
        if item.diff_lines_left_out and not found.applied:
            yield f"  {style.warning(f'… {item.diff_lines_left_out} more lines')}"


def _way_to_write(found: Edited, style: Style) -> str:
    """That it was not written, and with which further arguments it would be."""
    if not found.plan:
        return _NOTHING
    ways = [{**way, "plan": way.get("plan", found.plan)} for way in found.needs or [{}]]
    given = [{name: value for name, value in way.items() if value} for way in ways]
    if style.compact:
        calls = [
            ", ".join(f'"{name}": {msgspec.json.encode(value).decode()}' for name, value in {"apply": True, **way}.items()) for way in given
        ]
        head = ", the same call with "
    else:
        calls = [" ".join(["--apply", *(_flag(name, value) for name, value in way.items())]) for way in given]
        head = ": "
    against = ", as something stands against it" if found.needs else ""
    return f"not written{against}; to write it{' all the same' if against else ''}{head}{', or: '.join(calls)}"


def _flag(name: str, value: Any) -> str:
    return f"--{name}" if value is True else f"--{name} {value}"


def _diff(text: str, style: Style) -> Iterator[str]:
    for line in text.split("\n"):
        yield printable(line) if line.startswith(("+", "-")) else style.dim(line)


def _changed(diff: str) -> Iterator[str]:
    """The lines of a unified diff that change, each with its number: of the old text where it goes, of the new one where it comes.

    A diff that is continued begins in the middle of a file: up to its next head no number is known, and none is told.
    """
    text = diff.split("\n")
    old = new = -1
    for line in text[2:] if text[0].startswith("--- ") else text:
        if head := _HUNK.match(line):
            old, new = int(head[1]), int(head[2])
        elif (not line.startswith((" ", "+", "-", "\\")) and line) or old < 0:
            yield printable(line)
        elif line.startswith("-"):
            yield f"{old} {printable(line)}"
            old += 1
        elif line.startswith("+"):
            yield f"{new} {printable(line)}"
            new += 1
        elif not line.startswith("\\"):
            old, new = old + 1, new + 1


def _named(plan: Plan) -> str:
    """A digest of what is before and after, of every path."""
    told = [(item.path, item.source, item.before_digest, item.after_digest) for item in plan.changes]
    return hashlib.sha256(msgspec.json.encode([told, plan.made_folders, plan.gone_folders])).hexdigest()[:_PLAN_DIGITS]


def _files(plan: Plan) -> Iterator[EditedFile]:
    left = MAX_DIFF_LINES
    for item in plan.changes:
        if item.moved_to:
            continue
        shown = item.diff.text.split("\n")
        room = max(0, min(left, MAX_DIFF_LINES // 5))
        left -= min(len(shown), room)
        yield EditedFile(
            path=item.path,
            status=item.status,
            edits=item.edits,
            added=item.diff.added,
            removed=item.diff.removed,
            before_digest=item.origin_digest,
            after_digest=item.after_digest,
            renamed_from=item.source,
            diff="\n".join(shown[:room]),
            diff_lines_left_out=max(0, len(shown) - room),
        )
