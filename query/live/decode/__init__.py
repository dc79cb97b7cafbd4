"""Servers' answers to live questions, read once: each function takes the plain JSON of an answer and gives records that hold what is said.

An answer whose outermost form is wrong is an error that names the server and the method. Of a list, what does not fit is left out and
counted, so that the caller can say so. Nothing behind here looks into an answer's JSON; what is sent back to the server goes as it came.
"""

from query.live.decode.completions import CompletionItem, LabelDetails, SignatureInformation, completions, signature_help
from query.live.decode.edits import CodeAction, TextEdit, asked_edit, prepared_rename, text_edits
from query.live.decode.forms import Fitting, Origin, each, resolved, shaped, words
from query.live.decode.places import (
    CallItem,
    Highlight,
    InlayHint,
    Legend,
    Location,
    Symbol,
    call_items,
    calls,
    diagnostics,
    hover,
    legend,
    locations,
    outline,
    token_numbers,
)

__all__ = [
    "CallItem", "CodeAction", "CompletionItem", "Fitting", "Highlight", "InlayHint", "LabelDetails", "Legend", "Location", "Origin",
    "SignatureInformation", "Symbol", "TextEdit", "asked_edit", "call_items", "calls", "completions", "diagnostics", "each", "hover",
    "legend", "locations", "outline", "prepared_rename", "resolved", "shaped", "signature_help", "text_edits", "token_numbers", "words",
]  # fmt: skip
