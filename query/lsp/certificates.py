"""How complete an answer about a place would be, for clients that ask for that and do not listen to our notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.lsp import methods
from query.lsp import notices
from query.lsp.asking import Ask
from query.lsp.params import CompletenessQuery

_TOOLS: Mapping[str, tuple[str, dict[str, Any]]] = {
    methods.TEXT_DOCUMENT_REFERENCES: ("find_references", {"limit": 1}),
    methods.CALL_HIERARCHY_INCOMING_CALLS: ("find_callers", {"limit": 1, "direction": "incoming"}),
    methods.TEXT_DOCUMENT_DEFINITION: ("go_to_definition", {"show_source": False}),
}


def certificate(ask: Ask, asked: CompletenessQuery) -> dict[str, Any]:
    """Status, reasons, and who said so."""
    spot = ask.spot(asked)
    if spot is None:
        return notices.record(notices.unknown("not_served", "the file lies in none of the client's folders"), None)
    if spot.at is None:
        return notices.record(notices.unknown("unsaved", "what stands there is not in the text that was indexed"), None)
    name, arguments = _TOOLS[asked.method]
    answers = ask.at(spot, name, now=True, **arguments)
    whole = notices.doubted(notices.together([answer.completeness for answer in answers]), spot.views.unknown(), 0, 0)
    return notices.record(whole, answers[0].provenance)
