"""What clients send, as records: a shape that does not fit is refused before a handler sees it. Members that nobody reads are ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Unsigned = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class Params(msgspec.Struct, frozen=True, rename="camel"):
    """Of a request or a note."""


class Position(Params, frozen=True):
    line: Unsigned
    character: Unsigned


class Range(Params, frozen=True):
    start: Position
    end: Position


class Identifier(Params, frozen=True):
    uri: str


class Versioned(Params, frozen=True):
    uri: str
    version: int | None = None


class Item(Params, frozen=True):
    """A document as it is opened."""

    uri: str
    text: str
    language_id: str = ""
    version: int = 0


class Change(Params, frozen=True):
    """A new text for a range, or for the whole document where there is no range."""

    text: str
    range: Range | None = None


class Opened(Params, frozen=True):
    text_document: Item


class Changed(Params, frozen=True):
    text_document: Versioned
    content_changes: list[Change] = []


class InDocument(Params, frozen=True):
    text_document: Identifier


class AtPosition(InDocument, frozen=True):
    position: Position


class _ReferenceContext(Params, frozen=True):
    include_declaration: bool = False


class References(AtPosition, frozen=True):
    context: _ReferenceContext = _ReferenceContext()


class InRange(InDocument, frozen=True):
    range: Range


class Diagnosed(Params, frozen=True):
    """The context of a code action: diagnostics are handed on to the server whose they are."""

    diagnostics: list[Any] = []
    only: list[str] | None = None
    trigger_kind: int | None = None


class Actions(InRange, frozen=True):
    context: Diagnosed = Diagnosed()


class Completion(AtPosition, frozen=True):
    context: Any = None


class Formatting(InDocument, frozen=True):
    options: Any = None


class RangeFormatting(InRange, frozen=True):
    options: Any = None


class Rename(AtPosition, frozen=True):
    new_name: str


class Query(Params, frozen=True):
    query: str = ""


class ItemData(Params, frozen=True):
    """What we put into an item of a hierarchy, to be asked further about. `root`: of the folder whose index it comes from."""

    root: str = ""
    symbol: str = ""


class HierarchyItem(Params, frozen=True):
    uri: str
    name: str = ""
    data: ItemData = ItemData()


class OfItem(Params, frozen=True):
    item: HierarchyItem


class LensData(Params, frozen=True):
    uri: str = ""
    symbol: str = ""


class Lens(Params, frozen=True):
    range: Range
    data: LensData = LensData()


class ProxiedData(Params, frozen=True):
    """Around the data of an item that came from a running server."""

    uri: str = ""
    item: Any = None


class Proxied(Params, frozen=True):
    data: ProxiedData = ProxiedData()


class Command(Params, frozen=True):
    command: str
    arguments: list[Any] = []


class CompletenessQuery(AtPosition, frozen=True):
    """`method`: whose answer at the position is meant."""

    method: Literal["textDocument/references", "callHierarchy/incomingCalls", "textDocument/definition"] = "textDocument/references"


# ---- the beginning


class WorkspaceFolder(Params, frozen=True):
    uri: str
    name: str = ""


class FoldersEvent(Params, frozen=True):
    added: list[WorkspaceFolder] = []
    removed: list[WorkspaceFolder] = []


class FoldersChanged(Params, frozen=True):
    event: FoldersEvent


class _General(Params, frozen=True):
    position_encodings: list[str] | None = None


class _Window(Params, frozen=True):
    work_done_progress: bool | None = None


class _Refresh(Params, frozen=True):
    refresh_support: bool | None = None


class _WorkspaceEdit(Params, frozen=True):
    document_changes: bool | None = None


class _OfWorkspace(Params, frozen=True):
    workspace_folders: bool | None = None
    code_lens: _Refresh | None = None
    diagnostics: _Refresh | None = None
    workspace_edit: _WorkspaceEdit | None = None


class _Symbols(Params, frozen=True):
    hierarchical_document_symbol_support: bool | None = None


class _Hover(Params, frozen=True):
    content_format: list[str] | None = None


class _OfDocuments(Params, frozen=True):
    document_symbol: _Symbols | None = None
    hover: _Hover | None = None
    diagnostic: Any = None


class _Ours(Params, frozen=True):
    completeness: bool | None = None


class _Experimental(Params, frozen=True):
    lspidx: _Ours | None = None


class Capabilities(Params, frozen=True):
    general: _General | None = None
    window: _Window | None = None
    workspace: _OfWorkspace | None = None
    text_document: _OfDocuments | None = None
    experimental: Any = None


class Initialize(Params, frozen=True):
    capabilities: Capabilities = Capabilities()
    process_id: int | None = None
    root_uri: str | None = None
    root_path: str | None = None
    workspace_folders: list[WorkspaceFolder] | None = None
    initialization_options: Any = None


class Cancel(Params, frozen=True):
    id: int | str


def wants_completeness(ask: Initialize) -> bool:
    """Whether the client has said that it understands our note beside each answer: many complain of notes that they do not know."""
    for said in (ask.capabilities.experimental, ask.initialization_options):
        try:
            ours = msgspec.convert(said, _Experimental).lspidx if said else None
        except msgspec.ValidationError:
            continue
        if ours is not None and ours.completeness:
            return True
    return False
