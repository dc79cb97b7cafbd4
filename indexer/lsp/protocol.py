"""What we tell a server at the start, built from lsprotocol's types so that it is well-formed by construction.

Importing lsprotocol costs 0.3 s: only the process that plans a crawl does it, once, and hands the JSON to its workers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import converters
from lsprotocol import types as lsp


def initialize_params(folders: Sequence[Path], options: Mapping[str, Any] | None) -> bytes:
    """InitializeParams for a crawl of `folders` (absolute paths; the first is the root), as JSON.

    We ask for UTF-16 columns, the unit we store; for links, hierarchical symbols, pull diagnostics; and we let the server
    register later, report progress and ask for configuration.
    """
    text = lsp.TextDocumentClientCapabilities(
        synchronization=lsp.TextDocumentSyncClientCapabilities(),
        document_symbol=lsp.DocumentSymbolClientCapabilities(hierarchical_document_symbol_support=True),
        definition=lsp.DefinitionClientCapabilities(link_support=True),
        type_definition=lsp.TypeDefinitionClientCapabilities(link_support=True),
        implementation=lsp.ImplementationClientCapabilities(link_support=True),
        references=lsp.ReferenceClientCapabilities(),
        hover=lsp.HoverClientCapabilities(content_format=[lsp.MarkupKind.Markdown, lsp.MarkupKind.PlainText]),
        call_hierarchy=lsp.CallHierarchyClientCapabilities(),
        type_hierarchy=lsp.TypeHierarchyClientCapabilities(),
        publish_diagnostics=lsp.PublishDiagnosticsClientCapabilities(),
        diagnostic=lsp.DiagnosticClientCapabilities(dynamic_registration=False),
    )
    params = lsp.InitializeParams(
        process_id=None,  # set per worker would make the bytes differ; the worker guards the server's life itself
        client_info=lsp.ClientInfo(name="lspidx"),
        root_uri=folders[0].as_uri(),
        workspace_folders=[lsp.WorkspaceFolder(uri=folder.as_uri(), name=folder.name) for folder in folders],
        initialization_options=dict(options) if options else None,
        capabilities=lsp.ClientCapabilities(
            general=lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind.Utf16]),
            window=lsp.WindowClientCapabilities(work_done_progress=True),
            workspace=lsp.WorkspaceClientCapabilities(
                configuration=True,
                workspace_folders=True,
                did_change_configuration=lsp.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
            ),
            text_document=text,
            experimental={"serverStatusNotification": True},  # rust-analyzer says only to those who ask when it is ready
        ),
    )
    return json.dumps(converters.get_converter().unstructure(params), sort_keys=True, separators=(",", ":")).encode()
