"""What we tell a server at the start.

Written out, and held against lsprotocol's types by the tests: importing those costs 0.35 s, in which no server could be started (ADR 0035
says what is made from them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from indexer.lsp.enums import SEMANTIC_TOKEN_MODIFIERS, SEMANTIC_TOKEN_TYPES

CRAWL: Mapping[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
    },
    "textDocument": {
        "synchronization": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "definition": {"linkSupport": True},
        "typeDefinition": {"linkSupport": True},
        "implementation": {"linkSupport": True},
        "references": {},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "callHierarchy": {},
        "typeHierarchy": {},
        "publishDiagnostics": {},
        "diagnostic": {"dynamicRegistration": False},
    },
    "experimental": {"serverStatusNotification": True},  # rust-analyzer says only to those who ask when it is ready
}

EXTENDED: Mapping[str, Any] = {
    **CRAWL,
    "textDocument": {**CRAWL["textDocument"], "inactiveRegionsCapabilities": {"inactiveRegions": True}},
}
"""With what the protocol does not have: clangd says to those who ask which lines its build leaves out. Other servers pass it over."""

LIVE: Mapping[str, Any] = {
    **CRAWL,
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "failureHandling": "transactional",
            "normalizesLineEndings": True,
            "changeAnnotationSupport": {"groupsOnLabel": False},
        },
        "symbol": {},
        "executeCommand": {},
        "diagnostics": {"refreshSupport": False},
    },
    "textDocument": {
        **CRAWL["textDocument"],
        "synchronization": {"didSave": True},
        "declaration": {"linkSupport": True},
        "documentHighlight": {},
        "rename": {"prepareSupport": True, "honorsChangeAnnotations": False},
        "completion": {
            "completionItem": {
                "snippetSupport": False,
                "documentationFormat": ["markdown", "plaintext"],
                "deprecatedSupport": True,
                "labelDetailsSupport": True,
                "insertReplaceSupport": False,
                "resolveSupport": {"properties": ["documentation", "detail", "additionalTextEdits"]},
            },
            "completionList": {"itemDefaults": ["commitCharacters", "editRange", "insertTextFormat"]},
            "contextSupport": True,
        },
        "signatureHelp": {
            "signatureInformation": {
                "documentationFormat": ["markdown", "plaintext"],
                "parameterInformation": {"labelOffsetSupport": True},
                "activeParameterSupport": True,
            },
        },
        "codeAction": {
            "codeActionLiteralSupport": {
                "codeActionKind": {
                    "valueSet": [
                        "", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite",
                        "source", "source.organizeImports", "source.fixAll",
                    ]
                }
            },
            "isPreferredSupport": True,
            "disabledSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
        },
        "formatting": {},
        "rangeFormatting": {},
        "inlayHint": {"resolveSupport": {"properties": []}},
        "semanticTokens": {
            "requests": {"range": True, "full": {"delta": False}},
            "tokenTypes": SEMANTIC_TOKEN_TYPES,
            "tokenModifiers": SEMANTIC_TOKEN_MODIFIERS,
            "formats": ["relative"],
            "overlappingTokenSupport": True,
            "multilineTokenSupport": True,
        },
        "publishDiagnostics": {"versionSupport": True, "codeDescriptionSupport": True, "relatedInformation": True, "dataSupport": True},
        "diagnostic": {"dynamicRegistration": False, "relatedDocumentSupport": False},  # said at the start: a registration may come late
    },
}  # fmt: skip
"""What a client that edits can take: versions of diagnostics, edits of several files, commands that ask for edits."""


def initialize_params(folders: Sequence[Path], options: Mapping[str, Any] | None, capabilities: Mapping[str, Any] = CRAWL) -> bytes:
    """InitializeParams for `folders` (absolute paths; the first is the root), as JSON; of a crawl, if no `capabilities` are given.

    We ask for UTF-16 columns, the unit we store; for links, hierarchical symbols, pull diagnostics; and we let the server
    register later, report progress and ask for configuration.
    """
    params = {
        "processId": None,  # set per worker would make the bytes differ; the worker guards the server's life itself
        "clientInfo": {"name": "lspidx"},
        "rootPath": None,
        "rootUri": folders[0].as_uri(),
        "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders],
        "capabilities": capabilities,
    }
    if options:
        params["initializationOptions"] = options
    return msgspec.json.encode(params, order="deterministic")
