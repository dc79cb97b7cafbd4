"""The protocol's names, numbers and shapes are lsprotocol's: the generated ones, those written in the code, and what we send."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import converters
from lsprotocol import types as lsp
from support import parsed, write_tree
from wire_support import QUESTIONS, SOURCES, Answering

from indexer.lsp import generate, methods
from query.surface.generate import formatted
from query.surface.registry import call

ROOT = Path(__file__).parent.parent

EXTENSIONS = {"experimental/serverStatus": "rust-analyzer", "textDocument/inactiveRegions": "clangd", "textDocument/ast": "clangd"}
"""Methods that the protocol does not have, and whose they are."""

OWN_CAPABILITIES = {"astProvider": "clangd"}
"""What servers say of such methods."""

REGISTERED = {"textDocument/semanticTokens": "semanticTokensProvider"}
"""Names by which a feature is registered that is asked for under several others."""

_METHOD = re.compile(
    r"(?:textDocument|workspace|window|client|callHierarchy|typeHierarchy|completionItem|codeAction|codeLens|inlayHint|workspaceSymbol"
    r"|documentLink|experimental|\$)/[A-Za-z/]+"
)


@functools.cache
def written() -> list[tuple[str, str]]:
    """Text constants of the code, with the file that has each; of the server table, its lines."""
    return list(_each_text())


def _each_text() -> Iterator[tuple[str, str]]:
    for package in ("indexer", "query"):
        for path, tree in parsed(package):
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
                    yield path, node.value if isinstance(node.value, str) else node.value.decode("utf-8", "replace")
    for file in sorted((ROOT / "indexer").rglob("*.toml")):
        for text in re.findall(r'"([^"\n]*)"', file.read_text(encoding="utf-8")):
            yield str(file.relative_to(ROOT)), text


@pytest.mark.parametrize("path", generate.texts(), ids=lambda path: path.name)
def test_the_generated_files_are_as_lsprotocol_has_it(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == formatted(generate.texts()[path], path), "to write it again: make docs"
    assert "do not edit" in path.read_text(encoding="utf-8").partition('"""\n')[0] + path.read_text(encoding="utf-8")[:400]


def test_every_method_in_the_code_is_one_of_the_protocol_or_of_a_server() -> None:
    used = {(file, text) for file, text in written() if _METHOD.fullmatch(text)}
    assert len({text for _, text in used}) > 40
    assert {text for _, text in used} & EXTENSIONS.keys() == EXTENSIONS.keys()
    unknown = {(file, text) for file, text in used if text not in lsp.METHOD_TO_TYPES and text not in EXTENSIONS and text not in REGISTERED}
    assert not unknown


def test_every_capability_in_the_code_is_one_of_the_protocol() -> None:
    known = {generate.member(item.name) for item in lsp.ServerCapabilities.__attrs_attrs__}
    used = {(file, text) for file, text in written() if re.fullmatch(r"[a-z][A-Za-z]+Provider", text)} - {
        (file, text) for file, text in written() if text in ("resolveProvider", "prepareProvider")
    }
    assert len({text for _, text in used}) > 15
    assert not {(file, text) for file, text in used if text not in known and text not in OWN_CAPABILITIES}


def test_live_code_names_methods_by_their_constants() -> None:
    """A text that only looks like a method is found when it is sent; a constant is found before."""
    rooms = ("query/live/", "indexer/lsp/session.py")
    notices = ("documents.py", "running.py")  # what they notify of is written as bytes, which go out as they are
    found = {(file, text) for file, text in written() if file.startswith(rooms) and not file.endswith(notices)}
    spelled = {(file, text) for file, text in found if text in lsp.METHOD_TO_TYPES and "/" in text}
    assert not spelled
    assert methods.TEXT_DOCUMENT_RENAME == "textDocument/rename"


@pytest.mark.parametrize("tool", QUESTIONS)
def test_what_is_asked_has_the_protocols_form(tmp_path: Path, tool: str) -> None:
    """lsprotocol reads the parameters back, and nothing of them is lost."""
    root = write_tree(tmp_path / "shop", SOURCES)
    servers = Answering(root)
    call(None, tool, {"file_path": "shop.py", **QUESTIONS[tool][0]}, servers=servers, root=root)
    converter = converters.get_converter()
    for method, params in servers.asked:
        read: Any = converter.structure(params, lsp.METHOD_TO_TYPES[method][2])
        assert converter.unstructure(read) == params, method
    assert servers.asked or tool in ("get_diagnostics", "preview_edit")
