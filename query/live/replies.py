"""What the tools that ask a running server have in common once it has answered: is there such a feature, what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from indexer.lsp import methods
from indexer.lsp.capabilities import Options, options
from indexer.lsp.decode import Diagnostic
from query.answers.envelope import Completeness, Provenance, Reason
from query.context import Diagnosis, ServerInfo, Workspace
from query.live.decode import Fitting, Origin, diagnostics
from query.live.questions import Document, live_provenance, origin, refused, supports, unsupported


class Feature(NamedTuple):
    """Something that a server may be able to do. `instead`: what to do where it is not."""

    capability: str
    method: str
    words: str
    instead: str = ""


class Outcome(NamedTuple):
    """What came of a question. `value`: the plain JSON of the answer, for `query.live.decode`; `answered`: whether there is one."""

    value: Any
    answered: bool
    completeness: Completeness
    provenance: Provenance
    info: ServerInfo
    origin: Origin


def question(workspace: Workspace, of: Document, feature: Feature, params: Any, *, overlay: Mapping[str, str] = {}) -> Outcome:
    """Asks the server of a document, if it has the feature. `overlay`: texts in place of those on disk.

    Raises:
        ServerError: no server, or no answer.
    """
    info = workspace.servers.info(of.path)
    if not supports(info, feature.capability, feature.method):
        return without_feature(info, feature)
    reply = workspace.servers.ask(of.path, feature.method, params, overlay=overlay)
    return Outcome(
        value=None if reply.error else reply.result,
        answered=not reply.error,
        completeness=refused(reply, feature.method),
        provenance=live_provenance(reply),
        info=reply.server,
        origin=origin(reply.server, feature.method),
    )


def without_feature(info: ServerInfo, feature: Feature) -> Outcome:
    """The outcome where the server has no such feature."""
    instead = f"; instead: {feature.instead}" if feature.instead else ""
    completeness = unsupported(info, f"{feature.words} ({feature.capability}){instead}")
    return Outcome(None, False, completeness, live_provenance(info=info), info, origin(info, feature.method))


def provider(info: ServerInfo, capability: str) -> Options:
    """What a server said of a feature beyond that it has it."""
    return options(info.capabilities, capability)


def diagnostics_of(diagnosis: Diagnosis, path: str) -> Fitting[Diagnostic]:
    """Diagnostics of one document, each as it came and as a record."""
    return diagnostics(diagnosis.diagnostics.get(path, []), origin(diagnosis.server, methods.TEXT_DOCUMENT_DIAGNOSTIC))


def doubted(completeness: Completeness, reasons: Sequence[Reason]) -> Completeness:
    """The same completeness with more reasons; partial where it was complete."""
    if not reasons:
        return completeness
    status = "partial" if completeness.status == "complete" else completeness.status
    return Completeness(status=status, reasons=[*completeness.reasons, *reasons])


def left_out(number: int, what: str, info: ServerInfo) -> list[Reason]:
    """Why an answer has fewer items than the server sent."""
    if not number:
        return []
    detail = f"{number} of the {what} that {info.name or info.entry} sent are not of the protocol's form, or too many, and are left out"
    return [Reason(code="malformed_answer", detail=detail, count=number)]
