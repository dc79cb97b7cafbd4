"""How complete each answer is, told beside it: as `lspidx/completeness` to clients that have asked for that, and in the client's log, once
for each reason and document.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import msgspec

from indexer.lsp import methods
from indexer.lsp.enums import MessageType
from indexer.quoting import one_line
from query.answers.envelope import Completeness, Provenance, Reason
from query.answers.paths import of_paths
from query.lsp.wire import Wire

COMPLETENESS = "lspidx/completeness"

_MOST_TOLD = 10_000
_ORDER = ("complete", "partial", "unknown")


class Notices:
    """Of one client."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._lock = threading.Lock()
        self._told: set[tuple[str, str]] = set()
        self.is_wanted = False

    def tell(self, number: int | str, method: str, uri: str, completeness: Completeness, provenance: Provenance | None) -> None:
        """Of the answer to the request of this number, after that answer: the client does not wait for it."""
        if self.is_wanted:
            self._wire.notify(COMPLETENESS, {"id": number, "method": method, "uri": uri, **record(completeness, provenance)})
        for reason in completeness.reasons:
            if self._is_new(reason.code, uri):
                self.log(f"{completeness.status} answer to {method}: {reason.detail}", MessageType.INFO)

    def log(self, text: str, kind: int) -> None:
        self._wire.notify(methods.WINDOW_LOG_MESSAGE, {"type": kind, "message": f"lspidx: {one_line(text)}"})

    def show(self, text: str, kind: int) -> None:
        """To the user, in a window of the editor's."""
        self._wire.notify(methods.WINDOW_SHOW_MESSAGE, {"type": kind, "message": f"lspidx: {one_line(text)}"})

    def once(self, code: str, uri: str, text: str, kind: int) -> None:
        if self._is_new(code, uri):
            self.log(text, kind)

    def _is_new(self, code: str, uri: str) -> bool:
        with self._lock:
            is_new = (code, uri) not in self._told and len(self._told) < _MOST_TOLD
            self._told.add((code, uri))
        return is_new


def record(completeness: Completeness, provenance: Provenance | None) -> dict[str, Any]:
    """As it goes over the wire."""
    told: dict[str, Any] = msgspec.to_builtins(completeness)
    if provenance is not None:
        told |= {"source": provenance.source, "servers": provenance.servers, "generation": provenance.generation}
    return told


def doubted(completeness: Completeness, unknown: Sequence[str], lost: int, beyond: int) -> Completeness:
    """The completeness of an answer, in a client that has more than the index can know.

    Args:
        unknown: open documents that are not saved and that the index does not know.
        lost: so many places of the answer are gone from texts that have changed since.
        beyond: so many of its symbols lie outside of the workspace.
    """
    reasons = list(completeness.reasons)
    if unknown:
        reasons.append(
            of_paths(
                "unsaved",
                "files are open that are not saved, and of whose text the index knows nothing; to have them counted: save",
                unknown,
            )
        )
    if lost:
        detail = f"{lost} places that were indexed are not in the present text any more, and are left out"
        reasons.append(Reason(code="places_gone", detail=detail, count=lost))
    if beyond:
        detail = f"{beyond} lie outside of the workspace, where the index knows no place, and are left out"
        reasons.append(Reason(code="outside_workspace", detail=detail, count=beyond))
    if len(reasons) == len(completeness.reasons):
        return completeness
    return Completeness(status="partial" if completeness.status == "complete" else completeness.status, reasons=reasons)


def together(known: Sequence[Completeness]) -> Completeness:
    """Of an answer that is made of several: as bad as the worst, with the reasons of all."""
    worst = max(known, key=lambda each: _ORDER.index(each.status), default=Completeness(status="complete"))
    reasons = {(reason.code, reason.detail): reason for each in known for reason in each.reasons}
    return Completeness(status=worst.status, reasons=list(reasons.values()))


def unknown(code: str, detail: str) -> Completeness:
    return Completeness(status="unknown", reasons=[Reason(code=code, detail=detail)])
