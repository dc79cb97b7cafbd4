"""Signatures of the call around a place, by a running server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from indexer.lsp import methods
from indexer.lsp.enums import SignatureHelpTriggerKind
from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style, printable
from query.context import Workspace
from query.live import decode
from query.live.questions import Placed, spot
from query.live.replies import Feature, doubted, left_out, question
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from indexer.lsp import requests

_FEATURE = Feature(
    "signatureHelpProvider", methods.TEXT_DOCUMENT_SIGNATURE_HELP, "signature help", "inspect_symbol at the name that is called"
)


class GetSignatureHelp(Placed, kw_only=True):
    pass


class SignatureParameter(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A parameter as the signature writes it. `start`, `end`: where, 0-based in UTF-16 code units of the signature's label."""

    label: str
    documentation: str = ""
    start: int = -1
    end: int = -1


class Signature(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One overload. `active_parameter`: index, from 0, of the one at the place where this overload says one itself, else -1."""

    label: str
    documentation: str = ""
    parameters: list[SignatureParameter] = []
    active_parameter: int = -1


class SignatureHelp(msgspec.Struct, kw_only=True):
    """No signatures: the place is in no call. `active_signature`, `active_parameter`: indexes from 0, -1 where there is none."""

    signatures: list[Signature]
    active_signature: int
    active_parameter: int


def _text(answer: Answer[SignatureHelp], style: Style) -> Iterator[str]:
    found = answer.result
    if not found.signatures:
        yield "No signature here."
    for number, item in enumerate(found.signatures):
        mark = "> " if number == found.active_signature else "  "
        yield f"{mark}{style.strong(item.label)}"
        active = item.active_parameter if item.active_parameter >= 0 else found.active_parameter
        if number == found.active_signature and 0 <= active < len(item.parameters):
            yield f"    at parameter {active + 1}: {style.kind(printable(item.parameters[active].label))}"
        for text in (item.documentation, *(f"{part.label}: {part.documentation}" for part in item.parameters if part.documentation)):
            yield from (f"    {printable(line)}" for line in (text.split("\n") if text else []))


@workspace_tool(
    "get_signature_help",
    parameters=GetSignatureHelp,
    result=SignatureHelp,
    positional="file_path",
    example="get_signature_help shortcuts.py --position-pattern 'loader.render_to_string(@@template_name'",
    task="live",
    hint="overloads arguments parameters active call order while typing take",
    text=_text,
)
def TOOL(workspace: Workspace, ask: GetSignatureHelp) -> Answer[SignatureHelp]:
    """Signatures of the call around a place, all overloads, and which parameter the place is at."""
    at = spot(workspace, ask)
    params: requests.SignatureHelpParams = {
        **at.params,
        "context": {"triggerKind": SignatureHelpTriggerKind.INVOKED, "isRetrigger": False},
    }
    outcome = question(workspace, at.document, _FEATURE, params)
    said = decode.signature_help(outcome.value, outcome.origin)
    signatures = [_signature(item) for item in said.signatures.records]
    result = SignatureHelp(
        signatures=signatures,
        active_signature=_index(said.active_signature, len(signatures)),
        active_parameter=said.active_parameter if signatures and said.active_parameter is not None else -1,
    )
    return workspace.answer(
        ask,
        result,
        all_of(len(signatures)),
        doubted(outcome.completeness, left_out(said.signatures.others, "signatures", outcome.info)),
        outcome.provenance,
        more={"place": at.shown},
    )


def _index(said: int | None, number: int) -> int:
    """Out of range, or not said, is the first, as the protocol has it."""
    return -1 if not number else said if said is not None and 0 <= said < number else 0


def _signature(item: decode.SignatureInformation) -> Signature:
    units = item.label.encode("utf-16-le", "surrogatepass")
    parameters: list[SignatureParameter] = []
    for part in item.parameters or []:
        documentation = decode.words(part.documentation)
        if isinstance(part.label, str):
            at = item.label.find(part.label)
            start = len(item.label[:at].encode("utf-16-le", "surrogatepass")) // 2 if at >= 0 else -1
            end = start + len(part.label.encode("utf-16-le", "surrogatepass")) // 2 if at >= 0 else -1
            parameters.append(SignatureParameter(label=part.label, documentation=documentation, start=start, end=end))
        else:
            start, end = part.label
            label = units[2 * start : 2 * end].decode("utf-16-le", "replace")
            parameters.append(SignatureParameter(label=label, documentation=documentation, start=start, end=end))
    active = -1 if item.active_parameter is None else item.active_parameter
    return Signature(
        label=item.label, documentation=decode.words(item.documentation), parameters=parameters, active_parameter=max(active, -1)
    )
