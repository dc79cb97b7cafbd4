"""The protocol's numbers and words: kinds, tags, severities, codes of errors, types of tokens.

Made from lsprotocol 2025.0.0 by `make docs` (`indexer/lsp/generate.py` says what is in it); do not edit.
"""

from __future__ import annotations

from typing import Final


def names(numbers: type) -> dict[int, str]:
    """Lower-case words of one of the classes below, by number. The numbers are plain: enumerations take 2 ms to be made."""
    return {number: name.lower().replace("_", " ") for name, number in vars(numbers).items() if name.isupper()}


class CodeActionTriggerKind:
    INVOKED: Final = 1
    AUTOMATIC: Final = 2


class CompletionItemKind:
    TEXT: Final = 1
    METHOD: Final = 2
    FUNCTION: Final = 3
    CONSTRUCTOR: Final = 4
    FIELD: Final = 5
    VARIABLE: Final = 6
    CLASS: Final = 7
    INTERFACE: Final = 8
    MODULE: Final = 9
    PROPERTY: Final = 10
    UNIT: Final = 11
    VALUE: Final = 12
    ENUM: Final = 13
    KEYWORD: Final = 14
    SNIPPET: Final = 15
    COLOR: Final = 16
    FILE: Final = 17
    REFERENCE: Final = 18
    FOLDER: Final = 19
    ENUM_MEMBER: Final = 20
    CONSTANT: Final = 21
    STRUCT: Final = 22
    EVENT: Final = 23
    OPERATOR: Final = 24
    TYPE_PARAMETER: Final = 25


class CompletionItemTag:
    DEPRECATED: Final = 1


class CompletionTriggerKind:
    INVOKED: Final = 1
    TRIGGER_CHARACTER: Final = 2
    TRIGGER_FOR_INCOMPLETE_COMPLETIONS: Final = 3


class DocumentHighlightKind:
    TEXT: Final = 1
    READ: Final = 2
    WRITE: Final = 3


class ErrorCodes:
    PARSE_ERROR: Final = -32700
    INVALID_REQUEST: Final = -32600
    METHOD_NOT_FOUND: Final = -32601
    INVALID_PARAMS: Final = -32602
    INTERNAL_ERROR: Final = -32603
    SERVER_NOT_INITIALIZED: Final = -32002
    UNKNOWN_ERROR_CODE: Final = -32001


class FileChangeType:
    CREATED: Final = 1
    CHANGED: Final = 2
    DELETED: Final = 3


class InlayHintKind:
    TYPE: Final = 1
    PARAMETER: Final = 2


class InsertTextFormat:
    PLAIN_TEXT: Final = 1
    SNIPPET: Final = 2


class LSPErrorCodes:
    REQUEST_FAILED: Final = -32803
    SERVER_CANCELLED: Final = -32802
    CONTENT_MODIFIED: Final = -32801
    REQUEST_CANCELLED: Final = -32800


class MessageType:
    ERROR: Final = 1
    WARNING: Final = 2
    INFO: Final = 3
    LOG: Final = 4
    DEBUG: Final = 5


class SignatureHelpTriggerKind:
    INVOKED: Final = 1
    TRIGGER_CHARACTER: Final = 2
    CONTENT_CHANGE: Final = 3


class SymbolTag:
    DEPRECATED: Final = 1


SEMANTIC_TOKEN_MODIFIERS = (
    "declaration",
    "definition",
    "readonly",
    "static",
    "deprecated",
    "abstract",
    "async",
    "modification",
    "documentation",
    "defaultLibrary",
)
"""The protocol's SemanticTokenModifiers."""

SEMANTIC_TOKEN_TYPES = (
    "namespace",
    "type",
    "class",
    "enum",
    "interface",
    "struct",
    "typeParameter",
    "parameter",
    "variable",
    "property",
    "enumMember",
    "event",
    "function",
    "method",
    "macro",
    "keyword",
    "modifier",
    "comment",
    "string",
    "number",
    "regexp",
    "operator",
    "decorator",
    "label",
)
"""The protocol's SemanticTokenTypes."""
