"""What a crawl asks of a server: the methods whose answers are counted for each document."""

from __future__ import annotations

from indexer.lsp import methods

DOCUMENT_SYMBOL = methods.TEXT_DOCUMENT_DOCUMENT_SYMBOL
DEFINITION = methods.TEXT_DOCUMENT_DEFINITION
TYPE_DEFINITION = methods.TEXT_DOCUMENT_TYPE_DEFINITION
HOVER = methods.TEXT_DOCUMENT_HOVER
DIAGNOSTIC = methods.TEXT_DOCUMENT_DIAGNOSTIC
SUPERTYPES = methods.TYPE_HIERARCHY_SUPERTYPES
HIGHLIGHT = methods.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT
PREPARE_TYPE_HIERARCHY = methods.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY
TREE = "textDocument/ast"  # clangd's own
SYNTAX = "syntax"
METHODS = (SYNTAX, DOCUMENT_SYMBOL, DEFINITION, HOVER, SUPERTYPES, DIAGNOSTIC)

TALLIED = {PREPARE_TYPE_HIERARCHY: SUPERTYPES, HIGHLIGHT: SYNTAX, TYPE_DEFINITION: SYNTAX, TREE: SYNTAX}
"""Questions that prepare or check another one are counted with it; `syntax` gets its own count in the end.

An unanswered question about a value's type is a gap of its own: the value then has no known type."""
