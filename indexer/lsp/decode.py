"""The shapes that we read from the wire, as typed structs; wire dicts stop here.

msgspec decodes straight into them (0.7 µs per definition where lsprotocol's converter needs 21 µs), ignores what we do not
read, and refuses what does not fit. Positions are as on the wire: 0-based, columns in the negotiated encoding (UTF-16).
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeAlias, cast

import msgspec

BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises: a shape that does not fit, text that is no UTF-8, nesting without end."""

Unsigned = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""LSP's `uinteger`; larger numbers do not fit the index."""


MOST_TEXT = 1_000_000
"""Characters of one text. What is longer than any that a server says honestly is a shape that does not fit, and costs its answer."""

_Text = Annotated[str, msgspec.Meta(max_length=MOST_TEXT)]
_Name = Annotated[str, msgspec.Meta(max_length=20_000)]
_MOST_ITEMS = 50_000
"""Diagnostics of one file, as many as it may be asked questions."""

_MOST_TARGETS = 100_000
_MOST_TYPES = 1_000
_MOST_WISHES = 1_000
"""Settings that a server asks for at once, and methods that it registers."""


class Position(msgspec.Struct, frozen=True):
    line: Unsigned
    character: Unsigned


class Range(msgspec.Struct, frozen=True):
    start: Position
    end: Position


class Target(msgspec.Struct, frozen=True):
    """A Location or a LocationLink: exactly one of the two pairs is set by an honest server."""

    uri: _Name = ""
    range: Range | None = None
    targetUri: _Name = ""
    targetSelectionRange: Range | None = None


class DocumentSymbol(msgspec.Struct, frozen=True):
    """A DocumentSymbol, or a flat SymbolInformation (then `location` is set and `range` is not)."""

    name: _Name
    kind: int
    range: Range | None = None
    selectionRange: Range | None = None
    location: Target | None = None
    detail: _Text | None = None
    deprecated: bool = False
    tags: list[int] | None = None
    children: list[DocumentSymbol] | None = None


class TreeNode(msgspec.Struct, frozen=True):
    """A node of clangd's `textDocument/ast`: `arcana` is the line in which the compiler prints it, without `range` it stands in no text."""

    role: str = ""
    kind: str = ""
    detail: str = ""
    arcana: str = ""
    range: Range | None = None
    children: list[TreeNode] = []


class MarkupContent(msgspec.Struct, frozen=True):
    value: _Text
    kind: _Name = "plaintext"
    language: _Name = ""


class Hover(msgspec.Struct, frozen=True):
    contents: MarkupContent | _Text | Annotated[list[MarkupContent | _Text], msgspec.Meta(max_length=1_000)]


class Highlight(msgspec.Struct, frozen=True):
    range: Range


class TypeHierarchyItem(msgspec.Struct, frozen=True):
    name: _Name
    uri: _Name
    selectionRange: Range
    kind: int = 0


class Diagnostic(msgspec.Struct, frozen=True):
    range: Range
    message: _Text
    severity: Annotated[int, msgspec.Meta(ge=0, le=255)] = 1
    code: int | _Name | None = None
    source: _Name | None = None


class DiagnosticReport(msgspec.Struct, frozen=True):
    kind: _Name = "full"
    items: Annotated[list[Diagnostic], msgspec.Meta(max_length=_MOST_ITEMS)] = []


class _OfDocument(msgspec.Struct, frozen=True):
    uri: _Name


class InactiveRegions(msgspec.Struct, frozen=True):
    """Clangd's `textDocument/inactiveRegions`: what the preprocessor leaves out of a document."""

    textDocument: _OfDocument
    regions: Annotated[list[Range], msgspec.Meta(max_length=_MOST_ITEMS)] = []


class PublishedDiagnostics(msgspec.Struct, frozen=True):
    """`diagnostics` stay undecoded: who keeps them says what of them is read. `version` may be anything but a number, which is none."""

    uri: _Name
    diagnostics: msgspec.Raw
    version: Any = None


class _AnyReport(msgspec.Struct, frozen=True):
    """A report of which each item is still as it came: one that is broken costs no other."""

    items: list[Any] | None = None


class ShownMessage(msgspec.Struct, frozen=True):
    """What a server shows to people; `type` as MessageType counts."""

    type: int = 0
    message: str = ""


class ConfigurationItem(msgspec.Struct, frozen=True):
    section: str | None = None


class ConfigurationParams(msgspec.Struct, frozen=True):
    items: Annotated[list[ConfigurationItem], msgspec.Meta(max_length=_MOST_WISHES)] = []


class Registration(msgspec.Struct, frozen=True):
    method: _Name
    id: _Name = ""


class RegistrationParams(msgspec.Struct, frozen=True):
    registrations: Annotated[list[Registration], msgspec.Meta(max_length=_MOST_WISHES)] = []


class UnregistrationParams(msgspec.Struct, frozen=True):
    unregisterations: list[Registration] = []  # the protocol's own spelling


class ResponseError(msgspec.Struct, frozen=True):
    code: int = 0
    message: str = ""


class Message(msgspec.Struct, frozen=True):
    """Any message from the server; `result` and `params` stay undecoded until we know what was asked."""

    id: int | str | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: ResponseError | None = None


_Targets: TypeAlias = Annotated[list[Target], msgspec.Meta(max_length=_MOST_TARGETS)] | Target | None
_Types: TypeAlias = Annotated[list[TypeHierarchyItem], msgspec.Meta(max_length=_MOST_TYPES)] | None
_Highlights: TypeAlias = Annotated[list[Highlight], msgspec.Meta(max_length=_MOST_TARGETS)] | None
_RawItems: TypeAlias = Annotated[list[msgspec.Raw], msgspec.Meta(max_length=_MOST_TYPES)] | None

message = msgspec.json.Decoder(Message).decode
targets = msgspec.json.Decoder[_Targets](_Targets).decode
document_symbols = msgspec.json.Decoder(list[DocumentSymbol] | None).decode
tree = msgspec.json.Decoder(TreeNode | None).decode
hover = msgspec.json.Decoder(Hover | None).decode
type_hierarchy_items = msgspec.json.Decoder[_Types](_Types).decode
diagnostic_report = msgspec.json.Decoder(DiagnosticReport | None).decode
diagnostics = msgspec.json.Decoder(Annotated[list[Diagnostic], msgspec.Meta(max_length=_MOST_ITEMS)]).decode
inactive_regions = msgspec.json.Decoder(InactiveRegions).decode
published_diagnostics = msgspec.json.Decoder(PublishedDiagnostics).decode
configuration_params = msgspec.json.Decoder(ConfigurationParams | None).decode
registration_params = msgspec.json.Decoder(RegistrationParams | None).decode
unregistration_params = msgspec.json.Decoder(UnregistrationParams | None).decode
_any_report = msgspec.json.Decoder(_AnyReport | None).decode
_shown_message = msgspec.json.Decoder(ShownMessage).decode
_highlights = msgspec.json.Decoder[_Highlights](_Highlights).decode
_raw_items = msgspec.json.Decoder[_RawItems](_RawItems).decode
anything: Any = msgspec.json.Decoder().decode
"""For the few messages whose shape is open: capabilities, what a server shows to people."""


class Sign(NamedTuple):
    """What a server says of its own state: a note of progress, a message to people, a status of its own making.

    token, kind: of a note of progress; None, empty where it is none. words: title or health, and message, as far as they are text.
    percentage: how far it has come, as it says it; None where it does not.
    """

    token: int | str | None
    kind: str
    title: str
    words: list[str]
    percentage: Any


def sign(params: msgspec.Raw) -> Sign:
    """Whatever form it has, a sign; one of another form says nothing."""
    said = members(params)
    note, token = said.get("value"), said.get("token")
    if isinstance(note, dict):
        said = cast("dict[str, Any]", note)
    return Sign(
        token=token if isinstance(note, dict) and isinstance(token, int | str) else None,
        kind=str(said.get("kind", "")),
        title=str(said.get("title", "")),
        words=[word for key in ("title", "health", "message") if isinstance(word := said.get(key), str) and word],
        percentage=said.get("percentage"),
    )


def members(params: msgspec.Raw) -> dict[str, Any]:
    """The members of an object, as they came, for what only the server table knows the names of; none of another form."""
    try:
        value = anything(params)
    except BROKEN:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def shown_message(params: msgspec.Raw) -> ShownMessage | None:
    """A `window/showMessage`; None of another form."""
    try:
        return _shown_message(params)
    except BROKEN:
        return None


def diagnostic_items(result: msgspec.Raw) -> list[Any] | None:
    """The diagnostics of a report, each as it came, so that a broken one costs no other; None of null.

    An answer of another form gives one item that is no diagnostic, which whoever reads the items then counts as unreadable.
    """
    try:
        report = _any_report(result)
    except BROKEN:
        return [None]
    return None if report is None else report.items if report.items is not None else [None]


def hover_text(value: Hover | None) -> str:
    """All parts of a hover as one text; fenced where the server gave a language."""
    if value is None:
        return ""
    parts = value.contents if isinstance(value.contents, list) else [value.contents]
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif part.language:
            texts.append(f"```{part.language}\n{part.value}\n```")
        else:
            texts.append(part.value)
    return "\n".join(text for text in texts if text)


def raw_items(result: msgspec.Raw) -> list[bytes]:
    """The members of an array as JSON, to be sent back as they are; an empty list for null."""
    return [bytes(item) for item in _raw_items(result) or ()]


def highlights(result: msgspec.Raw) -> set[tuple[int, int]]:
    """Line and column at which each highlight begins."""
    return {(item.range.start.line, item.range.start.character) for item in _highlights(result) or ()}
