"""Writes the protocol's names, numbers and shapes as Python, from lsprotocol: `methods.py`, `enums.py` and `requests.py` of this folder.

lsprotocol is made from the protocol's own description, and is complete; importing it takes longer than starting a server (ADR 0035). So
it is read when the code is made, and what is used of it is written out. `make docs` writes the files (by `query.surface.generate`), and
`tests/test_wire_names.py` fails where one is not as lsprotocol has it.
"""

from __future__ import annotations

import enum
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_HEAD = '''"""{title}

Made from lsprotocol {version} by `make docs` (`indexer/lsp/generate.py` says what is in it); do not edit.
"""

from __future__ import annotations
'''

_NAMES = '''from typing import Final


def names(numbers: type) -> dict[int, str]:
    """Lower-case words of one of the classes below, by number. The numbers are plain: enumerations take 2 ms to be made."""
    return {number: name.lower().replace("_", " ") for name, number in vars(numbers).items() if name.isupper()}
'''

NUMBERS = (
    "CodeActionTriggerKind", "CompletionItemKind", "CompletionItemTag", "CompletionTriggerKind",
    "DocumentHighlightKind", "ErrorCodes", "FileChangeType", "InlayHintKind", "InsertTextFormat", "LSPErrorCodes", "MessageType",
    "SignatureHelpTriggerKind", "SymbolTag",
)  # fmt: skip
"""Enumerations that are used. SymbolKind and DiagnosticSeverity are none of them: every index stores their numbers, and `indexer.model`
owns them."""

WORDS = {
    "SemanticTokenModifiers": "SEMANTIC_TOKEN_MODIFIERS",
    "SemanticTokenTypes": "SEMANTIC_TOKEN_TYPES",
}
"""Enumerations of words, and the constant that holds them."""

SENT = (
    "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls", "textDocument/codeAction", "textDocument/completion",
    "textDocument/definition", "textDocument/diagnostic", "textDocument/documentHighlight", "textDocument/documentSymbol",
    "textDocument/formatting", "textDocument/inlayHint", "textDocument/prepareRename", "textDocument/rangeFormatting",
    "textDocument/references", "textDocument/rename", "textDocument/semanticTokens/full", "textDocument/semanticTokens/range",
    "textDocument/signatureHelp", "workspace/didChangeWatchedFiles", "workspace/executeCommand",
)  # fmt: skip
"""Requests and notifications whose parameters are built member by member."""


def texts() -> dict[Path, str]:
    """The text of each file, not yet formatted, by its path."""
    from lsprotocol import types as lsp

    return {_FOLDER / "methods.py": _methods(lsp), _FOLDER / "enums.py": _enums(lsp), _FOLDER / "requests.py": _requests(lsp)}


def _head(title: str) -> str:
    from importlib.metadata import version

    return _HEAD.format(title=title, version=version("lsprotocol"))


# ---- names of methods


def _methods(lsp: types.ModuleType) -> str:
    names = {name: value for name, value in vars(lsp).items() if name.isupper() and isinstance(value, str) and value in lsp.METHOD_TO_TYPES}
    lines = [f'{name} = "{value}"' for name, value in sorted(names.items(), key=lambda item: item[1].lower())]
    return "\n".join([_head("Names of the protocol's requests and notifications."), *lines, ""])


# ---- numbers and words


def _enums(lsp: types.ModuleType) -> str:
    head = _head("The protocol's numbers and words: kinds, tags, severities, codes of errors, types of tokens.")
    parts = [head, _NAMES]
    for name in NUMBERS:
        members: type[enum.Enum] = vars(lsp)[name]
        parts += ["", f"class {name}:", *(f"    {_constant(item.name)}: Final = {item.value}" for item in members), ""]
    for name, constant in WORDS.items():
        words = ", ".join(f'"{item.value}"' for item in vars(lsp)[name])
        parts += [f"{constant} = ({words})", f'"""The protocol\'s {name}."""', ""]
    return "\n".join(parts)


# ---- shapes of what is sent


def _requests(lsp: types.ModuleType) -> str:
    """Typed dictionaries: plain at run time, checked by the type checker where they are built."""
    wanted: dict[str, list[str]] = {}
    for method in SENT:
        _shape(lsp, lsp.METHOD_TO_TYPES[method][2], wanted)
    head = _head("The shapes of the parameters that we build, for the type checker: nothing loads this at run time.")
    shapes = [line for shape in wanted.values() for line in ["", *shape]]
    return "\n".join([head, "from typing import Any, NotRequired, TypedDict", "", *shapes])


def _shape(lsp: types.ModuleType, cls: type, wanted: dict[str, list[str]]) -> None:
    """Adds a class, those that it needs before it."""
    if cls.__name__ in wanted:
        return
    wanted[cls.__name__] = []  # its own name stands, where it holds itself
    members: list[str] = []
    hints = typing.get_type_hints(cls, vars(lsp))
    for item in _fields(cls):
        written = _written(lsp, hints[item.name], wanted)
        if item.default is None and f"{cls.__name__}.{item.name}" not in lsp._SPECIAL_PROPERTIES:
            written = written.removesuffix(" | None")  # lsprotocol's way to say that it may be left out; null it may not be
        members.append(f"    {member(item.name)}: " + (f"NotRequired[{written}]" if item.default is None else written))
    del wanted[cls.__name__]
    wanted[cls.__name__] = [f"class {cls.__name__}(TypedDict):", *(members or ["    pass"]), ""]


def _written(lsp: types.ModuleType, hint: Any, wanted: dict[str, list[str]]) -> str:
    """A type as the typed dictionaries write it; what is open in the protocol is Any."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        parts = dict.fromkeys(_written(lsp, item, wanted) for item in arguments)
        return "Any" if "Any" in parts else " | ".join(sorted(parts, key=lambda part: part == "None"))
    if origin is not None and issubclass(origin, typing.Mapping):
        return f"dict[{', '.join(_written(lsp, item, wanted) for item in arguments)}]"
    if origin is tuple:
        return f"tuple[{', '.join(_written(lsp, item, wanted) for item in arguments)}]"
    if origin is not None:  # sequences
        return f"list[{_written(lsp, arguments[0], wanted)}]"
    if hint is type(None):
        return "None"
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return "int" if issubclass(hint, int) else "str"
    if isinstance(hint, type) and hint.__module__ == lsp.__name__ and hasattr(hint, "__attrs_attrs__"):
        _shape(lsp, hint, wanted)
        return hint.__name__
    return hint.__name__ if hint in (str, int, float, bool) else "Any"


def _fields(cls: Any) -> Iterator[Any]:
    yield from cls.__attrs_attrs__


def member(name: str) -> str:
    """A member as the wire has it."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.title() for word in others)


def _constant(name: str) -> str:
    """A member of an enumeration as a constant: ContentModified, CONTENT_MODIFIED."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
