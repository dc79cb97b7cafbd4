"""Edits on disk: a WorkspaceEdit, or a text in place of another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from indexer.errors import UsageError
from query.answer import Answer, Completeness, Provenance, Reason
from query.folders import edit_scope
from query.registry import Workspace, workspace_tool
from query.style import Style, count, printable

MAX_DIFF_LINES = 1_000
"""Of all files together; of one a fifth of it."""

_MAX_PATHS = 20
_SHOWN_CHARS = 200


class ApplyEdit(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    workspace_edit: Annotated[
        dict[str, Any], msgspec.Meta(description="a WorkspaceEdit (changes or documentChanges), as a tool or a language server gives it")
    ] = {}
    file_path: Annotated[str, msgspec.Meta(description="in place of workspace_edit: the file in which old_text becomes new_text")] = ""
    old_text: Annotated[
        str, msgspec.Meta(description="text that stands there exactly once; else, whole lines that differ in white space only")
    ] = ""
    new_text: Annotated[str, msgspec.Meta(description="text in its place; empty removes it")] = ""
    dry_run: Annotated[bool, msgspec.Meta(description="show what would change, write nothing")] = False
    exclude_globs: Annotated[
        list[str], msgspec.Meta(description="files of workspace_edit to leave alone: vendor/**, **/*_gen.go, *.pb.go")
    ] = []


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

    matched: how old_text was found: `exact`; `line_ends`, CRLF as LF; `indentation`, then new_text was shifted too.
    unchanged: files whose edits change nothing. excluded: left alone on request.
    undone: files of an earlier edit that had been cut short, and are as before that now.
    """

    applied: bool
    added: int
    removed: int
    edits: int
    files: list[EditedFile]
    matched: str = ""
    unchanged: list[str] = []
    excluded: list[str] = []
    undone: list[str] = []


def _text(answer: Answer[Edited], style: Style) -> Iterator[str]:
    found = answer.result
    how = f", found by {found.matched}" if found.matched else ""
    done = "applied" if found.applied else "not written (dry run)"
    yield f"{style.strong(done)}: {count(len(found.files), 'file')}, +{found.added} -{found.removed}, {count(found.edits, 'edit')}{how}"
    for title, paths in (("unchanged", found.unchanged), ("excluded", found.excluded), ("undone of an earlier edit", found.undone)):
        if paths:
            yield f"{style.dim(title)}: {', '.join(style.path(path) for path in paths)}"
    for item in found.files:
        source = f" from {style.path(item.renamed_from)}" if item.renamed_from else ""
        digests = style.dim(f"{item.before_digest[:10] or 'nothing'} → {item.after_digest[:10] or 'nothing'}")
        numbers = f"+{item.added} -{item.removed} {count(item.edits, 'edit')}"
        yield f"{style.heading(item.path)}  {style.kind(item.status)}{source}  {numbers}  {digests}"
        for line in item.diff.split("\n") if item.diff else []:
            yield f"  {printable(line) if line.startswith(('+', '-')) else style.dim(line)}"
        if item.diff_lines_left_out:
            yield f"  {style.warning(f'… {item.diff_lines_left_out} more lines')}"


@workspace_tool(
    "apply_edit",
    parameters=ApplyEdit,
    result=Edited,
    positional="",
    example="apply_edit --file-path shortcuts.py --old-text 'def redirect(' --new-text 'def go_to(' --dry-run",
    task="edit",
    hint="write change replace text rename files WorkspaceEdit patch",
    text=_text,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: not ask.dry_run,
)
def TOOL(workspace: Workspace, ask: ApplyEdit) -> Answer[Edited]:
    """Writes an edit to disk, all files or none: a WorkspaceEdit, or new_text for the one place of file_path where old_text stands."""
    from query.edits.apply import apply, is_pending, recover
    from query.edits.journal import Recovery
    from query.edits.plan import plan_edit, plan_match

    by_text = bool(ask.file_path or ask.old_text or ask.new_text)
    if by_text == bool(ask.workspace_edit):
        raise UsageError("give either workspace_edit, or file_path with old_text and new_text")
    scope = edit_scope(workspace.root, workspace.index)
    recovery = Recovery() if ask.dry_run else recover(scope)
    if by_text:
        plan = plan_match(scope, ask.file_path, ask.old_text, ask.new_text)
    else:
        plan = plan_edit(scope, ask.workspace_edit, ask.exclude_globs)
    if not ask.dry_run:
        apply(scope, plan)
    left = MAX_DIFF_LINES
    files: list[EditedFile] = []
    for item in plan.changes:
        if item.moved_to:
            continue
        lines = item.diff.text.split("\n")
        room = max(0, min(left, MAX_DIFF_LINES // 5))
        left -= min(len(lines), room)
        files.append(
            EditedFile(
                path=item.path,
                status=item.status,
                edits=item.edits,
                added=item.diff.added,
                removed=item.diff.removed,
                before_digest=item.origin_digest,
                after_digest=item.after_digest,
                renamed_from=item.source,
                diff="\n".join(lines[:room]),
                diff_lines_left_out=max(0, len(lines) - room),
            )
        )
    reasons: list[Reason] = []
    if ask.dry_run and is_pending(scope):
        detail = "an earlier edit was cut short, and files are between before and after; the next edit that is written undoes it first"
        reasons.append(Reason(code="interrupted_edit", detail=detail))
    if recovery.kept:
        detail = f"files of an edit that was cut short have been changed since, and stay as they are; what they were is in {recovery.saved}"
        reasons.append(Reason(code="interrupted_edit", detail=detail, count=len(recovery.kept), paths=recovery.kept[:_MAX_PATHS]))
    return Answer(
        tool="apply_edit",
        query=_asked(ask),
        result=Edited(
            applied=not ask.dry_run,
            added=sum(item.added for item in files),
            removed=sum(item.removed for item in files),
            edits=sum(item.edits for item in files),
            files=files,
            matched=plan.matched,
            unchanged=plan.unchanged,
            excluded=plan.excluded,
            undone=recovery.restored,
        ),
        total=len(files),
        truncated=False,
        completeness=Completeness(status="partial" if reasons else "complete", reasons=reasons),
        provenance=Provenance(source="live", servers=[], commit="", dirty=False, indexed_at="", generation=0),
    )


def _asked(ask: ApplyEdit) -> dict[str, Any]:
    """What was asked, without the edit itself, which may be long and which the answer tells anyway."""
    given: dict[str, Any] = {"dry_run": ask.dry_run}
    for name in ("file_path", "old_text", "new_text"):
        if text := getattr(ask, name):
            given[name] = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    if ask.exclude_globs:
        given["exclude_globs"] = ask.exclude_globs
    return given
