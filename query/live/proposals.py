"""Edits that a server proposes, as answers show them: 1-based, with a diff; nothing is written. `workspace_edit` is for `apply_edit`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.lsp.uri import uri_to_path
from indexer.quoting import visible
from query.context import Workspace
from query.edits import text
from query.edits.diff import compare
from query.edits.plan import digests_of
from query.edits.workspace_edit import DIGESTS, Change, Create, Delete, Operation, Rename
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


_MOST_CALL_CHARS = 3_000


class EditPreview(msgspec.Struct, kw_only=True):
    """An edit that was not made: send `workspace_edit` to apply_edit to make it."""

    files: list[FileEdits]
    workspace_edit: dict[str, Any]


def call_to(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call of one of our tools as an agent may send it, on one line; where that would be too long, what to ask instead."""
    written = visible(msgspec.json.encode(arguments).decode())
    return f"{tool} {written}" if len(written) <= _MOST_CALL_CHARS else f"{tool}, whose arguments are too long to be shown here"


def change(edit: text.Edit) -> TextChange:
    (line, col), (end_line, end_col) = edit.start, edit.end
    return TextChange(line=line + 1, col=col + 1, end_line=end_line + 1, end_col=end_col + 1, new_text=edit.new_text)


def preview(workspace: Workspace, edit: Mapping[str, Any], origin: decode.Origin) -> EditPreview:
    """What a server's WorkspaceEdit would do, file by file.

    Raises:
        ServerProtocolError: it is none. EditRefused: it is larger than we take.
    """
    decoded = decode.asked_edit(edit, origin)
    files = [_of_operation(workspace, operation) for operation in decoded.operations[:_MAX_FILES]]
    if more := max(len(decoded.parts) - _MAX_FILES, 0):
        files.append(FileEdits(path="", problem=f"{more} more files are not shown here; workspace_edit has them"))
    return EditPreview(files=files, workspace_edit=guarded(workspace, edit, [operation.uri for operation in decoded.operations]))


def _of_operation(workspace: Workspace, operation: Operation) -> FileEdits:
    match operation:
        case Change():
            return _of_file(workspace, operation.uri, operation.edits)
        case Create():
            return FileEdits(path=_path(workspace, operation.uri), what="create")
        case Rename():
            return FileEdits(path=_path(workspace, operation.uri), what="rename")
        case Delete():
            return FileEdits(path=_path(workspace, operation.uri), what="delete")


def _path(workspace: Workspace, uri: str) -> str:
    try:
        return relative(workspace, uri)
    except ValueError:
        return uri


def _of_file(workspace: Workspace, uri: str, edits: Sequence[text.Edit]) -> FileEdits:
    path = _path(workspace, uri)
    try:
        of = document(workspace, uri_to_path(uri) if uri.startswith("file:") else uri)
        return FileEdits(path=of.path, edits=len(edits), diff=diff(of, applied(of, edits)))
    except EditRefused as error:
        return FileEdits(path=path, edits=len(edits), problem=f"its edits do not fit: {error}")
    except (UsageError, ValueError) as error:
        return FileEdits(path=path, edits=len(edits), problem=str(error))


def applied(of: Document, edits: Sequence[text.Edit]) -> str:
    """The text after the edits, whose positions all mean the present one.

    Raises:
        EditRefused: one lies outside the text, ends before it starts, or overlaps another.
    """
    return text.Document(text=of.text).edited(list(edits), f"'{of.path}'").text


def diff(of: Document, after: str) -> str:
    """Unified; cut where it is long, which its last line then says."""
    shown = compare(of.path, of.text.encode(), of.path, after.encode()).text if after != of.text else ""
    return shown if len(shown) <= _MAX_DIFF_CHARS else f"{shown[:_MAX_DIFF_CHARS]}\n… {len(shown)} characters in all"


def guarded(workspace: Workspace, edit: Mapping[str, Any], uris: Iterable[str]) -> dict[str, Any]:
    """A server's edit with the digests of the files that it is for, so that apply_edit refuses it once one has changed."""
    try:
        return {**edit, DIGESTS: digests_of(edit_scope(workspace.root, workspace.index), uris)}
    except (EditRefused, UsageError):
        return dict(edit)  # apply_edit will say why not
