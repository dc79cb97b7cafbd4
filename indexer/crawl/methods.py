"""What a crawl asks of a server: the methods whose answers are counted for each document."""

from __future__ import annotations

DOCUMENT_SYMBOL = "textDocument/documentSymbol"
DEFINITION = "textDocument/definition"
HOVER = "textDocument/hover"
DIAGNOSTIC = "textDocument/diagnostic"
SUPERTYPES = "typeHierarchy/supertypes"
HIGHLIGHT = "textDocument/documentHighlight"
PREPARE_TYPE_HIERARCHY = "textDocument/prepareTypeHierarchy"
SYNTAX = "syntax"
METHODS = (SYNTAX, DOCUMENT_SYMBOL, DEFINITION, HOVER, SUPERTYPES, DIAGNOSTIC)

TALLIED = {PREPARE_TYPE_HIERARCHY: SUPERTYPES, HIGHLIGHT: SYNTAX}
"""Questions that prepare or check another one are counted with it; `syntax` gets its own count in the end."""
