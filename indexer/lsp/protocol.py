"""What we tell a server at the start.

Written out, and held against lsprotocol's types by the tests: importing those costs 0.35 s, in which no server could be started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

_CAPABILITIES: Mapping[str, Any] = {
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


def initialize_params(folders: Sequence[Path], options: Mapping[str, Any] | None) -> bytes:
    """InitializeParams for a crawl of `folders` (absolute paths; the first is the root), as JSON.

    We ask for UTF-16 columns, the unit we store; for links, hierarchical symbols, pull diagnostics; and we let the server
    register later, report progress and ask for configuration.
    """
    params = {
        "processId": None,  # set per worker would make the bytes differ; the worker guards the server's life itself
        "clientInfo": {"name": "lspidx"},
        "rootPath": None,
        "rootUri": folders[0].as_uri(),
        "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders],
        "capabilities": _CAPABILITIES,
    }
    if options:
        params["initializationOptions"] = options
    return msgspec.json.encode(params, order="deterministic")
