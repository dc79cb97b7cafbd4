"""The shapes that we read from servers' answers to live questions, as typed structs: nothing behind here trusts a dict of the wire.

An answer whose outermost form is wrong is an error. Of a list, what does not fit is left out and counted, so that the caller can say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from indexer.errors import ServerProtocolError
from indexer.lsp.decode import MarkupContent, Position, Range, Unsigned

MAX_ITEMS = 100_000
"""Of one answer; what a server says beyond is counted and left out."""
MAX_NUMBERS = 5_000_000
"""Of semantic tokens, five for each."""
_SHOWN = 200

Documentation = MarkupContent | str | None


class Wire(msgspec.Struct, rename="camel"):
    """A record of the protocol; null and absent are the same."""


class TextEdit(Wire):
    range: Range
    new_text: str


class CompletionEdit(Wire):
    """A TextEdit or an InsertReplaceEdit."""

    new_text: str
    range: Range | None = None
    insert: Range | None = None


class LabelDetails(Wire):
    detail: str | None = None
    description: str | None = None


class CompletionItem(Wire):
    label: str
    kind: Unsigned | None = None
    detail: str | None = None
    documentation: Documentation = None
    sort_text: str | None = None
    filter_text: str | None = None
    insert_text: str | None = None
    text_edit: CompletionEdit | None = None
    text_edit_text: str | None = None
    additional_text_edits: list[TextEdit] | None = None
    label_details: LabelDetails | None = None
    deprecated: bool | None = None
    preselect: bool | None = None
    tags: list[int] | None = None


class CompletionList(Wire):
    """`item_defaults` belong to every item that does not say otherwise."""

    items: list[Any]
    is_incomplete: bool = False
    item_defaults: dict[str, Any] | None = None


class ParameterInformation(Wire):
    label: str | tuple[Unsigned, Unsigned]
    documentation: Documentation = None


class SignatureInformation(Wire):
    label: str
    documentation: Documentation = None
    parameters: list[ParameterInformation] | None = None
    active_parameter: int | None = None


class SignatureHelp(Wire):
    signatures: list[Any]
    active_signature: int | None = None
    active_parameter: int | None = None


class Command(Wire):
    command: str
    title: str = ""
    arguments: list[Any] | None = None


class Disabled(Wire):
    reason: str


class Message(Wire):
    message: str


class CodeAction(Wire):
    """A CodeAction, or a Command, whose `command` is a word."""

    title: str
    kind: str | None = None
    is_preferred: bool | None = None
    disabled: Disabled | None = None
    edit: dict[str, Any] | None = None
    command: Command | str | None = None
    arguments: list[Any] | None = None
    diagnostics: list[Message] | None = None


class LabelPart(Wire):
    value: str


class InlayHint(Wire):
    position: Position
    label: str | list[LabelPart]
    kind: int | None = None
    tooltip: Documentation = None
    padding_left: bool | None = None
    padding_right: bool | None = None


class Highlight(Wire):
    range: Range
    kind: int | None = None


class SemanticTokens(Wire):
    data: list[Unsigned]


class Legend(Wire):
    token_types: list[str]
    token_modifiers: list[str]


class DocumentEdits(Wire):
    """One of `documentChanges`; one with a `kind` creates, renames or deletes a file."""

    text_document: dict[str, Any] | None = None
    edits: list[TextEdit] | None = None
    kind: str | None = None
    uri: str | None = None
    old_uri: str | None = None
    new_uri: str | None = None


class WorkspaceEdit(Wire):
    changes: dict[str, list[TextEdit]] | None = None
    document_changes: list[DocumentEdits] | None = None


class Fitting(NamedTuple):
    """What fits of a list, each as it came and as a record; `others`: how much did not, or was too much."""

    items: list[tuple[Any, Any]]
    others: int


def shaped(value: Any, kind: Any, method: str) -> Any:
    """`value` as a record of `kind`.

    Raises:
        ServerProtocolError: it has another form.
    """
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError, OverflowError) as error:
        said = repr(value)[:_SHOWN] if not isinstance(value, list | dict) else type(value).__name__
        raise ServerProtocolError(f"{method} was answered in a form that the protocol does not know: {error} ({said})") from error


def each(values: Any, kind: Any, method: str) -> Fitting:
    """The items of a list that are records of `kind`; none of null.

    Raises:
        ServerProtocolError: no list.
    """
    if values is None:
        return Fitting([], 0)
    listed: Sequence[Any] = shaped(values, list[Any], method)
    found: list[tuple[Any, Any]] = []
    for value in listed[:MAX_ITEMS]:
        try:
            found.append((value, msgspec.convert(value, kind)))
        except (msgspec.ValidationError, RecursionError, OverflowError):
            continue
    return Fitting(found, len(listed) - len(found))


def words(documentation: Documentation) -> str:
    """The text of a documentation."""
    return documentation.value if isinstance(documentation, MarkupContent) else documentation or ""
