"""Edits that a server proposes, as answers show them: 1-based, with a diff; nothing is written. `workspace_edit` is for `apply_edit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from indexer.errors import EditRefused, ServerProtocolError, UsageError
from indexer.lsp.uri import uri_to_path
from query.context import Workspace
from query.edits import text
from query.edits.diff import compare
from query.edits.plan import with_digests
from query.facts.folders import edit_scope
from query.live import decode
from query.live.questions import Document, document, relative

_MAX_DIFF_CHARS = 40_000
_MAX_FILES = 200


class TextChange(msgspec.Struct, kw_only=True):
    """A replacement, 1-based, columns in UTF-16 code units, end exclusive."""

    line: int
    col: int
    end_line: int
    end_col: int
    new_text: str


class FileEdits(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What an edit would do to one file. `what`: edit, create, rename or delete; `diff`: unified; `problem`: why there is none."""

    path: str
    what: str = "edit"
    edits: int = 0
    diff: str = ""
    problem: str = ""


class EditPreview(msgspec.Struct, kw_only=True):
    """An edit that was not made: send `workspace_edit` to apply_edit to make it."""

    files: list[FileEdits]
    workspace_edit: dict[str, Any]


def change(edit: decode.TextEdit) -> TextChange:
    where = edit.range
    return TextChange(
        line=where.start.line + 1,
        col=where.start.character + 1,
        end_line=where.end.line + 1,
        end_col=where.end.character + 1,
        new_text=edit.new_text,
    )


def preview(workspace: Workspace, edit: Mapping[str, Any], method: str) -> EditPreview:
    """What a WorkspaceEdit would do, file by file.

    Raises:
        ServerProtocolError: it is none.
    """
    wire = decode.shaped(dict(edit), decode.WorkspaceEdit, method)
    files: list[FileEdits] = []
    more = max(len(wire.document_changes or wire.changes or ()) - _MAX_FILES, 0)
    if wire.document_changes is not None:
        for item in wire.document_changes[:_MAX_FILES]:
            if item.kind is not None:
                uri = item.uri or item.old_uri or ""
                files.append(FileEdits(path=_path(workspace, uri), what=item.kind))
            else:
                files.append(_of_file(workspace, str((item.text_document or {}).get("uri", "")), item.edits or []))
    else:
        files = [_of_file(workspace, uri, edits) for uri, edits in list((wire.changes or {}).items())[:_MAX_FILES]]
    if more:
        files.append(FileEdits(path="", problem=f"{more} more files are not shown here; workspace_edit has them"))
    return EditPreview(files=files, workspace_edit=guarded(workspace, edit))


def _path(workspace: Workspace, uri: str) -> str:
    try:
        return relative(workspace, uri)
    except ValueError:
        return uri


def _of_file(workspace: Workspace, uri: str, edits: Sequence[decode.TextEdit]) -> FileEdits:
    path = _path(workspace, uri)
    try:
        of = document(workspace, uri_to_path(uri) if uri.startswith("file:") else uri)
        return FileEdits(path=of.path, edits=len(edits), diff=diff(of, applied(of, edits)))
    except (UsageError, ServerProtocolError, ValueError) as error:
        return FileEdits(path=path, edits=len(edits), problem=str(error))


def applied(of: Document, edits: Sequence[decode.TextEdit]) -> str:
    """The text after the edits, whose positions all mean the present one.

    Raises:
        ServerProtocolError: one lies outside the text, ends before it starts, or overlaps another.
    """
    wanted = [
        text.Edit(
            start=(edit.range.start.line, edit.range.start.character),
            end=(edit.range.end.line, edit.range.end.character),
            new_text=edit.new_text,
        )
        for edit in edits
    ]
    try:
        return text.Document(text=of.text).edited(wanted, f"'{of.path}'").text
    except EditRefused as error:
        raise ServerProtocolError(f"its edits do not fit: {error}") from error


def diff(of: Document, after: str) -> str:
    """Unified; cut where it is long, which its last line then says."""
    shown = compare(of.path, of.text.encode(), of.path, after.encode()).text if after != of.text else ""
    return shown if len(shown) <= _MAX_DIFF_CHARS else f"{shown[:_MAX_DIFF_CHARS]}\n… {len(shown)} characters in all"


def guarded(workspace: Workspace, edit: Mapping[str, Any]) -> dict[str, Any]:
    """A server's edit with the digests of the files that it is for, so that apply_edit refuses it once one has changed."""
    try:
        return with_digests(edit_scope(workspace.root, workspace.index), edit)
    except (EditRefused, UsageError):
        return dict(edit)  # apply_edit will say why not
