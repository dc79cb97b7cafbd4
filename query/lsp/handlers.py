"""Every request that is answered: what it takes, and who answers it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from indexer.lsp import methods
from query.lsp import params
from query.lsp.asking import Ask
from query.lsp.notices import COMPLETENESS

WHY = "lspidx.completeness"
"""The command of a lens: shows why the answer lacks something."""


class Handler(NamedTuple):
    """What a request takes, and the module and function that answer it: loaded when it comes, for the first answer is waited for.

    is_asked_for: a person waits for the answer and for nothing else, so that an error is told as one. Where an editor asks by itself,
    at each key that is typed, there is no answer then, and the log says why.
    """

    takes: type[msgspec.Struct]
    module: str
    function: str
    is_asked_for: bool = False

    @property
    def answer(self) -> Callable[[Ask, Any], Any]:
        return getattr(importlib.import_module(f"query.lsp.{self.module}"), self.function)


HANDLERS: Mapping[str, Handler] = {
    methods.TEXT_DOCUMENT_DEFINITION: Handler(params.AtPosition, "places", "definition"),
    methods.TEXT_DOCUMENT_DECLARATION: Handler(params.AtPosition, "places", "declaration"),
    methods.TEXT_DOCUMENT_TYPE_DEFINITION: Handler(params.AtPosition, "places", "type_definition"),
    methods.TEXT_DOCUMENT_IMPLEMENTATION: Handler(params.AtPosition, "places", "implementation"),
    methods.TEXT_DOCUMENT_REFERENCES: Handler(params.References, "places", "references"),
    methods.TEXT_DOCUMENT_HOVER: Handler(params.AtPosition, "places", "hover"),
    methods.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: Handler(params.AtPosition, "places", "highlights"),
    methods.TEXT_DOCUMENT_DOCUMENT_SYMBOL: Handler(params.InDocument, "symbols", "document_symbols"),
    methods.WORKSPACE_SYMBOL: Handler(params.Query, "symbols", "workspace_symbols"),
    methods.TEXT_DOCUMENT_FOLDING_RANGE: Handler(params.InDocument, "symbols", "folding_ranges"),
    methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: Handler(params.AtPosition, "hierarchies", "prepare_calls"),
    methods.CALL_HIERARCHY_INCOMING_CALLS: Handler(params.OfItem, "hierarchies", "incoming"),
    methods.CALL_HIERARCHY_OUTGOING_CALLS: Handler(params.OfItem, "hierarchies", "outgoing"),
    methods.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY: Handler(params.AtPosition, "hierarchies", "prepare_types"),
    methods.TYPE_HIERARCHY_SUPERTYPES: Handler(params.OfItem, "hierarchies", "supertypes"),
    methods.TYPE_HIERARCHY_SUBTYPES: Handler(params.OfItem, "hierarchies", "subtypes"),
    methods.TEXT_DOCUMENT_CODE_LENS: Handler(params.InDocument, "lenses", "lenses"),
    methods.CODE_LENS_RESOLVE: Handler(params.Lens, "lenses", "resolved"),
    methods.TEXT_DOCUMENT_DIAGNOSTIC: Handler(params.InDocument, "faults", "pulled"),
    methods.TEXT_DOCUMENT_PREPARE_RENAME: Handler(params.AtPosition, "renames", "prepared", is_asked_for=True),
    methods.TEXT_DOCUMENT_RENAME: Handler(params.Rename, "renames", "rename", is_asked_for=True),
    methods.TEXT_DOCUMENT_COMPLETION: Handler(params.Completion, "live", "completion"),
    methods.COMPLETION_ITEM_RESOLVE: Handler(params.Proxied, "live", "resolved_completion"),
    methods.TEXT_DOCUMENT_SIGNATURE_HELP: Handler(params.Completion, "live", "signature"),
    methods.TEXT_DOCUMENT_FORMATTING: Handler(params.Formatting, "live", "formatting", is_asked_for=True),
    methods.TEXT_DOCUMENT_RANGE_FORMATTING: Handler(params.RangeFormatting, "live", "range_formatting", is_asked_for=True),
    methods.TEXT_DOCUMENT_CODE_ACTION: Handler(params.Actions, "live", "code_actions"),
    methods.CODE_ACTION_RESOLVE: Handler(params.Proxied, "live", "resolved_action"),
    methods.TEXT_DOCUMENT_INLAY_HINT: Handler(params.InRange, "live", "inlay_hints"),
    methods.WORKSPACE_EXECUTE_COMMAND: Handler(params.Command, "lenses", "command", is_asked_for=True),
    COMPLETENESS: Handler(params.CompletenessQuery, "certificates", "certificate"),
}

CAPABILITIES: Mapping[str, Any] = {
    "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
    "definitionProvider": True,
    "declarationProvider": True,
    "typeDefinitionProvider": True,
    "implementationProvider": True,
    "referencesProvider": True,
    "hoverProvider": True,
    "documentHighlightProvider": True,
    "documentSymbolProvider": True,
    "workspaceSymbolProvider": True,
    "foldingRangeProvider": True,
    "callHierarchyProvider": True,
    "typeHierarchyProvider": True,
    "codeLensProvider": {"resolveProvider": True},
    "renameProvider": {"prepareProvider": True},
    "completionProvider": {"triggerCharacters": [".", ":", ">", "/", '"', "'", "@", "<"], "resolveProvider": True},
    "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
    "documentFormattingProvider": True,
    "documentRangeFormattingProvider": True,
    "codeActionProvider": {"resolveProvider": True},
    "inlayHintProvider": True,
    "executeCommandProvider": {"commands": [WHY]},
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    "experimental": {"lspidx": {"completeness": True}},
}
