"""A stand-in for running servers whose answers the tests choose: a well-formed answer to every method, and what may be done to one."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from indexer.errors import UsageError
from query.context import Diagnosis, Reply, ServerInfo

SOURCES = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop.py": (
        "class Base:\n    def price(self) -> int:\n        return 1\n\n\n"
        "def total(items: list[Base]) -> int:\n    return sum(item.price() for item in items)\n\n\n"
        "def bill() -> int:\n    return total([Base()])\n"
    ),
    "script.lua": "local function double(x)\n  return 2 * x\nend\n",
}
"""Line 6, column 5 of shop.py is `total`. The text of a Lua file shows no symbols: its server's outline does."""

CAPABILITIES = {
    **dict.fromkeys(
        (
            "definitionProvider", "declarationProvider", "typeDefinitionProvider", "implementationProvider", "referencesProvider",
            "hoverProvider", "callHierarchyProvider", "documentHighlightProvider", "documentFormattingProvider",
            "documentRangeFormattingProvider", "inlayHintProvider", "signatureHelpProvider", "documentSymbolProvider",
        ),
        True,
    ),
    "renameProvider": {"prepareProvider": True},
    "completionProvider": {"resolveProvider": True, "triggerCharacters": ["."]},
    "codeActionProvider": {"resolveProvider": True},
    "executeCommandProvider": {"commands": ["run"]},
    "semanticTokensProvider": {"legend": {"tokenTypes": ["function"], "tokenModifiers": ["declaration"]}, "range": True, "full": True},
}  # fmt: skip


def at(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def answers(root: Path) -> dict[str, Any]:
    """A full answer to every method that a question may need, by method."""
    uri, where = (root / "shop.py").as_uri(), at(5, 4, 9)
    location = {"uri": uri, "range": where}
    link = {"targetUri": uri, "targetRange": at(5, 0, 9), "targetSelectionRange": where, "originSelectionRange": where}
    item = {"name": "bill", "kind": 12, "uri": uri, "range": at(9, 0, 8), "selectionRange": at(9, 4, 8), "detail": "", "data": {"id": 1}}
    edit = {"range": where, "newText": "amount"}
    workspace_edit = {
        "documentChanges": [
            {"textDocument": {"uri": uri, "version": None}, "edits": [edit, {"range": at(10, 11, 16), "newText": "amount"}]}
        ]
    }
    action = {
        "title": "mend", "kind": "quickfix", "isPreferred": True, "diagnostics": [{"range": where, "message": "bad"}],
        "edit": {"changes": {uri: [edit]}}, "command": {"title": "run", "command": "run", "arguments": [1]},
    }  # fmt: skip
    completion = {
        "label": "total", "kind": 3, "detail": "def", "documentation": {"kind": "markdown", "value": "sum"}, "sortText": "1", "tags": [1],
        "textEdit": edit, "additionalTextEdits": [edit], "labelDetails": {"detail": "()", "description": "shop"},
    }  # fmt: skip
    signature = {
        "label": "total(items)", "documentation": "sum", "activeParameter": 0,
        "parameters": [{"label": "items", "documentation": {"kind": "plaintext", "value": "what is bought"}}, {"label": [0, 5]}],
    }  # fmt: skip
    hint = {"position": {"line": 6, "character": 4}, "label": [{"value": "int"}], "kind": 1, "tooltip": "type", "paddingLeft": True}
    symbol = {"name": "double", "kind": 12, "range": at(0, 6, 24), "selectionRange": at(0, 15, 21), "children": []}
    return {
        **{method: [link] for method in ("textDocument/definition", "textDocument/declaration", "textDocument/typeDefinition")},
        **{method: [location] for method in ("textDocument/implementation", "textDocument/references")},
        "textDocument/hover": {"contents": {"kind": "markdown", "value": "text"}, "range": where},
        "textDocument/prepareCallHierarchy": [item],
        "callHierarchy/incomingCalls": [{"from": item, "fromRanges": [at(10, 11, 16)]}],
        "callHierarchy/outgoingCalls": [{"to": item, "fromRanges": [at(6, 11, 14)]}],
        "textDocument/documentHighlight": [{"range": where, "kind": 2}],
        "textDocument/prepareRename": {"range": where, "placeholder": "total"},
        "textDocument/rename": workspace_edit,
        "textDocument/formatting": [edit],
        "textDocument/rangeFormatting": [edit],
        "textDocument/completion": {"isIncomplete": False, "items": [completion], "itemDefaults": {"data": 1}},
        "completionItem/resolve": completion,
        "textDocument/signatureHelp": {"signatures": [signature], "activeSignature": 0, "activeParameter": 0},
        "textDocument/codeAction": [action, {"title": "resolve me"}, {"title": "run", "command": "run", "arguments": []}],
        "codeAction/resolve": action,
        "workspace/executeCommand": {"done": True},
        "textDocument/semanticTokens/range": {"data": [5, 4, 5, 0, 1], "resultId": "1"},
        "textDocument/semanticTokens/full": {"data": [5, 4, 5, 0, 1], "resultId": "1"},
        "textDocument/inlayHint": [hint],
        "textDocument/documentSymbol": [symbol],
        DIAGNOSTICS: [{"range": where, "message": "bad", "severity": 1, "code": "E1", "source": "fake", "tags": [1], "data": {"x": 1}}],
        APPLY_EDIT: workspace_edit,
        INITIALIZE: copy.deepcopy(CAPABILITIES),
    }


OPTIONS = {
    "prepare_rename": "renameProvider",
    "rename_symbol": "renameProvider",
    "get_completions": "completionProvider",
    "suggest_fixes": "codeActionProvider",
    "execute_command": "executeCommandProvider",
    "get_semantic_tokens": "semanticTokensProvider",
}
"""By tool: the capability whose options it reads."""

DIAGNOSTICS, APPLY_EDIT, INITIALIZE = "diagnostics", "workspace/applyEdit", "initialize"
"""What a server says that is no answer to a request of a tool: what it publishes, asks for in a command, declares at its start."""

QUESTIONS: Mapping[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "go_to_definition": ({"line": 6, "column": 5, "live": True}, ("textDocument/definition",)),
    "go_to_declaration": ({"line": 6, "column": 5, "live": True}, ("textDocument/declaration",)),
    "go_to_type_definition": ({"line": 6, "column": 5, "live": True}, ("textDocument/typeDefinition",)),
    "go_to_implementation": ({"line": 6, "column": 5, "live": True}, ("textDocument/implementation",)),
    "find_references": ({"line": 6, "column": 5, "live": True}, ("textDocument/references",)),
    "inspect_symbol": ({"line": 6, "column": 5, "live": True}, ("textDocument/hover",)),
    "find_callers": (
        {"line": 6, "column": 5, "live": True, "depth": 2},
        ("textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"),
    ),
    "get_document_highlights": ({"line": 6, "column": 5, "live": True}, ("textDocument/documentHighlight",)),
    "prepare_rename": ({"line": 6, "column": 5}, ("textDocument/prepareRename", INITIALIZE)),
    "rename_symbol": ({"line": 6, "column": 5, "new_name": "amount"}, ("textDocument/rename", "textDocument/prepareRename", INITIALIZE)),
    "format_document": ({}, ("textDocument/formatting",)),
    "format_range": ({"start_line": 1, "end_line": 2}, ("textDocument/rangeFormatting",)),
    "get_completions": (
        {"line": 7, "column": 16, "resolve": True, "trigger_character": "."},
        ("textDocument/completion", "completionItem/resolve", INITIALIZE),
    ),
    "get_signature_help": ({"line": 11, "column": 18}, ("textDocument/signatureHelp",)),
    "suggest_fixes": ({}, ("textDocument/codeAction", "codeAction/resolve", DIAGNOSTICS, INITIALIZE)),
    "execute_command": ({"command": "run", "apply": True}, ("workspace/executeCommand", APPLY_EDIT, INITIALIZE)),
    "get_semantic_tokens": ({}, ("textDocument/semanticTokens/range", INITIALIZE)),
    "get_inlay_hints": ({}, ("textDocument/inlayHint",)),
    "get_diagnostics": ({"live": True}, (DIAGNOSTICS,)),
    "preview_edit": ({"start_line": 1, "start_column": 1, "end_line": 1, "end_column": 1, "new_text": "x\n"}, (DIAGNOSTICS,)),
    "insert_before_symbol": ({"file_path": "script.lua", "symbol_path": "double", "code": "-- twice\n"}, ("textDocument/documentSymbol",)),
}
"""By tool: a question that has it ask a server, and what the server says to it, by method."""


class Answering:
    """Implements `Servers` for `root`: answers by method, as given; `asked` are the requests, in order."""

    def __init__(self, root: Path, said: Mapping[str, Any] = {}) -> None:
        self.root = root
        self.said = {**answers(root), **said}
        self.asked: list[tuple[str, Any]] = []

    def ask(
        self, path: str, method: str, params: Any, *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0, follow_up: bool = False
    ) -> Reply:
        self.asked.append((method, params))
        edits = [self.said[APPLY_EDIT]] if method == "workspace/executeCommand" and isinstance(self.said[APPLY_EDIT], dict) else []
        return Reply(result=copy.deepcopy(self.said[method]), server=self.info(path), elapsed_ms=1, warm=True, edits=edits)

    def diagnose(self, paths: Sequence[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
        """Items that are no objects never come so far: whoever takes them off the wire sees to that."""
        listed = self.said[DIAGNOSTICS] if isinstance(self.said[DIAGNOSTICS], list) else []
        items = [item for item in listed if isinstance(item, dict)]
        return Diagnosis(diagnostics=dict.fromkeys(paths, items), unsettled=[], server=self.info(""), elapsed_ms=1, warm=True)

    def info(self, path: str) -> ServerInfo:
        said = self.said[INITIALIZE]
        return ServerInfo(
            entry="fake", name="fakels", version="1.0", languages=["python"], capabilities=said if isinstance(said, dict) else {}, pid=1,
            started_at="",
        )  # fmt: skip

    def running(self) -> list[ServerInfo]:
        return [self.info("")]

    def start(self, language: str = "", connect: str = "", ready_timeout_s: float = 0.0) -> list[ServerInfo]:
        return self.running()

    def restart(self) -> list[ServerInfo]:
        return self.running()

    def open_document(self, path: str) -> ServerInfo:
        return self.info(path)

    def close_document(self, path: str) -> bool:
        raise UsageError("nothing is open")

    def changed_files(self, changes: Sequence[Mapping[str, Any]]) -> int:
        return 1

    def set_log_level(self, level: str) -> None:
        pass

    def close(self) -> None:
        pass


# ---- what may be done to a well-formed answer

JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 10**12, 10**400, 1.5, "", "x", "file://[", "\0", [], {}, [None], [[[]]], {"x": {}}, [{"uri": 5}],
    {"start": {}, "end": {}}, {"start": {"line": 10**9, "character": 10**9}, "end": {"line": 0, "character": 0}},
)  # fmt: skip


def mutations(value: Any) -> Iterator[Any]:
    """Every node replaced by each piece of junk, every member left out, every object with one more."""
    yield from JUNK
    for path in _paths(value):
        for junk in JUNK:
            yield _with(value, path, junk)
        if path:
            yield _without(value, path)
        if isinstance(_at(value, path), dict):
            yield _with(value, (*path, "never heard of"), {"x": [1]})


def _paths(value: Any, prefix: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield prefix
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _paths(inner, (*prefix, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    made = copy.deepcopy(value)
    _at(made, path[:-1])[path[-1]] = new
    return made


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    made = copy.deepcopy(value)
    del _at(made, path[:-1])[path[-1]]
    return made
