"""LSP's WorkspaceEdit, decoded: what to do, in order. Anything may have written it, so sizes are bounded and forms are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from indexer.errors import EditRefused, UsageError
from query.edits.snippets import plain
from query.edits.text import Edit

MAX_FILES = 10_000
MAX_EDITS = 200_000
MAX_NEW_CHARS = 100_000_000

DIGESTS = "lspidxDigests"
"""Our own key of a WorkspaceEdit: {uri: digest of the file that the edit was made for}. Other clients skip it."""

_SNIPPET = 2  # InsertTextFormat, as rust-analyzer marks its edits


@dataclass(frozen=True, kw_only=True)
class Change:
    """Edits of one document, whose positions all mean its text before them."""

    uri: str
    edits: list[Edit]


@dataclass(frozen=True, kw_only=True)
class Create:
    uri: str
    overwrite: bool = False
    ignore_if_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class Rename:
    uri: str
    new_uri: str
    overwrite: bool = False
    ignore_if_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class Delete:
    uri: str
    recursive: bool = False
    ignore_if_not_exists: bool = False


Operation = Change | Create | Rename | Delete


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """`digests`: by URI, of the files as they were when the edit was made; `annotations`: labels of changes that ask to be confirmed."""

    operations: list[Operation]
    digests: dict[str, str] = field(default_factory=dict[str, str])
    annotations: list[str] = field(default_factory=list[str])


# ---- the wire


class _Position(msgspec.Struct):
    line: int
    character: int


class _Range(msgspec.Struct):
    start: _Position
    end: _Position


class _Snippet(msgspec.Struct):
    value: str


class _TextEdit(msgspec.Struct, rename="camel"):
    range: _Range
    new_text: str | None = None
    snippet: _Snippet | None = None
    insert_text_format: int = 1


class _Identifier(msgspec.Struct):
    uri: str


class _DocumentEdit(msgspec.Struct, rename="camel"):
    text_document: _Identifier
    edits: list[_TextEdit]


class _Options(msgspec.Struct, rename="camel"):
    overwrite: bool | None = None
    ignore_if_exists: bool | None = None
    recursive: bool | None = None
    ignore_if_not_exists: bool | None = None


class _FileOperation(msgspec.Struct, rename="camel"):
    kind: str
    uri: str = ""
    old_uri: str = ""
    new_uri: str = ""
    options: _Options | None = None


class _Annotation(msgspec.Struct, rename="camel"):
    label: str = ""
    needs_confirmation: bool | None = None


class _WorkspaceEdit(msgspec.Struct, rename="camel"):
    changes: dict[str, list[_TextEdit]] | None = None
    document_changes: list[dict[str, Any]] | None = None
    change_annotations: dict[str, _Annotation] | None = None
    digests: dict[str, str] | None = msgspec.field(default=None, name=DIGESTS)


def decode(edit: Mapping[str, Any]) -> Decoded:
    """What a WorkspaceEdit wants. `documentChanges` counts where both forms are given, as LSP says.

    Raises:
        UsageError: it is no WorkspaceEdit. EditRefused: it is larger than we take.
    """
    try:
        wire = msgspec.convert(edit, _WorkspaceEdit)
        operations: list[Operation]
        if wire.document_changes is not None:
            operations = [_operation(item) for item in wire.document_changes]
        else:
            operations = [Change(uri=uri, edits=[_edit(item) for item in edits]) for uri, edits in (wire.changes or {}).items()]
    except msgspec.ValidationError as error:
        raise UsageError(f"this is no WorkspaceEdit: {error}; it has `changes` or `documentChanges`") from error
    if wire.document_changes is None and wire.changes is None and edit:
        raise UsageError("this is no WorkspaceEdit: it has neither `changes` nor `documentChanges`")
    edits = [item for operation in operations if isinstance(operation, Change) for item in operation.edits]
    if len({operation.uri for operation in operations}) > MAX_FILES:
        raise EditRefused(f"the edit concerns more than {MAX_FILES} files")
    if len(edits) > MAX_EDITS or sum(len(item.new_text) for item in edits) > MAX_NEW_CHARS:
        raise EditRefused(f"the edit has more than {MAX_EDITS} parts, or more than {MAX_NEW_CHARS:,} characters")
    asking = [item.label for item in (wire.change_annotations or {}).values() if item.needs_confirmation]
    return Decoded(operations=operations, digests=wire.digests or {}, annotations=asking)


def _operation(item: dict[str, Any]) -> Operation:
    if "kind" not in item:
        change = msgspec.convert(item, _DocumentEdit)
        return Change(uri=change.text_document.uri, edits=[_edit(edit) for edit in change.edits])
    wire = msgspec.convert(item, _FileOperation)
    options = wire.options or _Options()
    overwrite, ignore = bool(options.overwrite), bool(options.ignore_if_exists)
    match wire.kind:
        case "create":
            return Create(uri=wire.uri, overwrite=overwrite, ignore_if_exists=ignore)
        case "rename":
            return Rename(uri=wire.old_uri, new_uri=wire.new_uri, overwrite=overwrite, ignore_if_exists=ignore)
        case "delete":
            return Delete(uri=wire.uri, recursive=bool(options.recursive), ignore_if_not_exists=bool(options.ignore_if_not_exists))
        case other:
            raise UsageError(f"no file operation is called '{other}'; known: create, rename, delete")


def _edit(wire: _TextEdit) -> Edit:
    if wire.snippet is not None:
        text = plain(wire.snippet.value)
    elif wire.new_text is None:
        raise UsageError("this is no WorkspaceEdit: an edit has no `newText`")
    else:
        text = plain(wire.new_text) if wire.insert_text_format == _SNIPPET else wire.new_text
    start, end = wire.range.start, wire.range.end
    return Edit(start=(start.line, start.character), end=(end.line, end.character), new_text=text)
