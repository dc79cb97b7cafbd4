"""What can be typed at a place, and the signatures of the call around it."""

from __future__ import annotations

from typing import Any, NamedTuple

from indexer.lsp.decode import Range, Unsigned
from query.live.decode.edits import TextEdit
from query.live.decode.forms import Documentation, Fitting, Origin, Wire, each, shaped


class CompletionEdit(Wire, frozen=True):
    """A TextEdit or an InsertReplaceEdit."""

    new_text: str
    range: Range | None = None
    insert: Range | None = None


class LabelDetails(Wire, frozen=True):
    detail: str | None = None
    description: str | None = None


class CompletionItem(Wire, frozen=True):
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


class _ItemDefaults(Wire, frozen=True):
    data: Any = None


class _CompletionList(Wire, frozen=True):
    items: list[Any]
    is_incomplete: bool = False
    item_defaults: _ItemDefaults | None = None


class Completions(NamedTuple):
    """`items`: as a list was sent. `incomplete`: there are more. `defaults`: members that every item has that does not say otherwise."""

    items: Fitting[CompletionItem]
    incomplete: bool
    defaults: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether the server sent no items at all, not even ones of another form."""
        return not self.items.items and not self.items.others


def completions(value: Any, origin: Origin) -> Completions:
    """Completions from a list of items or a CompletionList.

    Raises:
        ServerProtocolError: neither.
    """
    if not isinstance(value, dict):
        return Completions(each(value, CompletionItem, origin), incomplete=False, defaults={})
    said: _CompletionList = shaped(value, _CompletionList, origin)
    data = said.item_defaults.data if said.item_defaults is not None else None
    return Completions(each(said.items, CompletionItem, origin), said.is_incomplete, {} if data is None else {"data": data})


# ---- signatures


class ParameterInformation(Wire, frozen=True):
    label: str | tuple[Unsigned, Unsigned]
    documentation: Documentation = None


class SignatureInformation(Wire, frozen=True):
    label: str
    documentation: Documentation = None
    parameters: list[ParameterInformation] | None = None
    active_parameter: int | None = None


class _SignatureHelp(Wire, frozen=True):
    signatures: list[Any]
    active_signature: int | None = None
    active_parameter: int | None = None


class SignatureHelp(NamedTuple):
    """Indexes from 0; None where the server says none."""

    signatures: Fitting[SignatureInformation]
    active_signature: int | None
    active_parameter: int | None


def signature_help(value: Any, origin: Origin) -> SignatureHelp:
    """Signatures from a SignatureHelp; none if the answer is null.

    Raises:
        ServerProtocolError: another form.
    """
    said: _SignatureHelp | None = shaped(value, _SignatureHelp | None, origin)
    if said is None:
        return SignatureHelp(Fitting([], 0), None, None)
    return SignatureHelp(each(said.signatures, SignatureInformation, origin), said.active_signature, said.active_parameter)
