"""LSP's WorkspaceEdit, decoded: what to do, in order. Anything may have written it, so sizes are bounded and forms are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from indexer.errors import EditRefused, UsageError
from indexer.lsp.enums import InsertTextFormat
from query.edits.snippets import plain
from query.edits.text import Edit

MAX_FILES = 10_000
MAX_EDITS = 200_000
MAX_NEW_CHARS = 100_000_000

DIGESTS = "lspidxDigests"
"""Our own key of a WorkspaceEdit: {uri: digest of the file that the edit was made for}. Other clients skip it."""


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
class Part:
    """An operation, and the member of `documentChanges` that says it: as it came, so that nothing of it is lost on the way to an editor."""

    operation: Operation
    wire: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """What an edit wants, in order.

    digests: by URI, of the files as they were when the edit was made. annotations: labels of changes that ask to be confirmed.
    more: the members of the WorkspaceEdit that are no changes, as they came.
    """

    parts: list[Part]
    digests: dict[str, str] = field(default_factory=dict[str, str])
    annotations: list[str] = field(default_factory=list[str])
    more: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def operations(self) -> list[Operation]:
        return [part.operation for part in self.parts]

    def only(self, wanted: Callable[[Operation], bool]) -> Decoded:
        """The same without the operations that are not wanted."""
        return replace(self, parts=[part for part in self.parts if wanted(part.operation)])

    def and_also(self, edits: Mapping[str, Sequence[Edit]]) -> Decoded:
        """The same, and these edits, by URI."""
        more = [Part(operation=Change(uri=uri, edits=list(of_file)), wire=change(uri, of_file)) for uri, of_file in edits.items()]
        return replace(self, parts=[*self.parts, *more])

    def wire(self) -> dict[str, Any]:
        """As a WorkspaceEdit, by `documentChanges`."""
        return {**self.more, "documentChanges": [part.wire for part in self.parts]}


def change(uri: str, edits: Sequence[Edit]) -> dict[str, Any]:
    """LSP's TextDocumentEdit, of a document whose version we do not know."""
    return {"textDocument": {"uri": uri, "version": None}, "edits": [_wire(edit) for edit in edits]}


def _wire(edit: Edit) -> dict[str, Any]:
    start, end = ({"line": line, "character": col} for line, col in (edit.start, edit.end))
    return {"range": {"start": start, "end": end}, "newText": edit.new_text}


def by_uri(edit: Mapping[str, Any]) -> dict[str, Any]:
    """An edit by its older form, `changes`; one that makes, renames or deletes files has no such form, and stays as it is."""
    decoded = decode(edit)
    if not all(isinstance(operation, Change) for operation in decoded.operations):
        return dict(edit)
    changes: dict[str, list[Any]] = {}
    for part in decoded.parts:
        changes.setdefault(part.operation.uri, []).extend(part.wire["edits"])
    return {"changes": changes, **decoded.more, **({DIGESTS: decoded.digests} if decoded.digests else {})}


# ---- the wire


class _Position(msgspec.Struct, frozen=True):
    line: int
    character: int


class _Range(msgspec.Struct, frozen=True):
    start: _Position
    end: _Position


class _Snippet(msgspec.Struct, frozen=True):
    value: str


class _TextEdit(msgspec.Struct, rename="camel", frozen=True):
    range: _Range
    new_text: str | None = None
    snippet: _Snippet | None = None
    insert_text_format: int = 1


class _Identifier(msgspec.Struct, frozen=True):
    uri: str


class _DocumentEdit(msgspec.Struct, rename="camel", frozen=True):
    text_document: _Identifier
    edits: list[_TextEdit]


class _Options(msgspec.Struct, rename="camel", frozen=True):
    overwrite: bool | None = None
    ignore_if_exists: bool | None = None
    recursive: bool | None = None
    ignore_if_not_exists: bool | None = None


class _FileOperation(msgspec.Struct, rename="camel", frozen=True):
    kind: str
    uri: str = ""
    old_uri: str = ""
    new_uri: str = ""
    options: _Options | None = None


class _Annotation(msgspec.Struct, rename="camel", frozen=True):
    label: str = ""
    needs_confirmation: bool | None = None


class _WorkspaceEdit(msgspec.Struct, rename="camel", frozen=True):
    changes: dict[str, list[Any]] | None = None
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
        listed = wire.document_changes or [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits} for uri, edits in (wire.changes or {}).items()
        ]
        parts = [Part(operation=_operation(item), wire=item) for item in listed]
    except msgspec.ValidationError as error:
        raise UsageError(f"this is no WorkspaceEdit: {error}; it has `changes` or `documentChanges`") from error
    if wire.document_changes is None and wire.changes is None and edit:
        raise UsageError("this is no WorkspaceEdit: it has neither `changes` nor `documentChanges`")
    edits = [item for part in parts if isinstance(part.operation, Change) for item in part.operation.edits]
    if len({part.operation.uri for part in parts}) > MAX_FILES:
        raise EditRefused(f"the edit concerns more than {MAX_FILES} files")
    if len(edits) > MAX_EDITS or sum(len(item.new_text) for item in edits) > MAX_NEW_CHARS:
        raise EditRefused(f"the edit has more than {MAX_EDITS} parts, or more than {MAX_NEW_CHARS:,} characters")
    return Decoded(
        parts=parts,
        digests=wire.digests or {},
        annotations=[item.label for item in (wire.change_annotations or {}).values() if item.needs_confirmation],
        more={key: value for key, value in edit.items() if key not in ("changes", "documentChanges", DIGESTS)},
    )


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
        text = plain(wire.new_text) if wire.insert_text_format == InsertTextFormat.SNIPPET else wire.new_text
    start, end = wire.range.start, wire.range.end
    return Edit(start=(start.line, start.character), end=(end.line, end.character), new_text=text)
