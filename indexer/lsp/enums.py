"""The protocol's numbers and words: kinds, tags, severities, codes of errors, types of tokens.

Made from lsprotocol 2025.0.0 by `make docs` (`indexer/lsp/generate.py` says what is in it); do not edit.
"""

from __future__ import annotations

from enum import IntEnum


class CodeActionTriggerKind(IntEnum):
    INVOKED = 1
    AUTOMATIC = 2


class CompletionItemKind(IntEnum):
    TEXT = 1
    METHOD = 2
    FUNCTION = 3
    CONSTRUCTOR = 4
    FIELD = 5
    VARIABLE = 6
    CLASS = 7
    INTERFACE = 8
    MODULE = 9
    PROPERTY = 10
    UNIT = 11
    VALUE = 12
    ENUM = 13
    KEYWORD = 14
    SNIPPET = 15
    COLOR = 16
    FILE = 17
    REFERENCE = 18
    FOLDER = 19
    ENUM_MEMBER = 20
    CONSTANT = 21
    STRUCT = 22
    EVENT = 23
    OPERATOR = 24
    TYPE_PARAMETER = 25


class CompletionItemTag(IntEnum):
    DEPRECATED = 1


class CompletionTriggerKind(IntEnum):
    INVOKED = 1
    TRIGGER_CHARACTER = 2
    TRIGGER_FOR_INCOMPLETE_COMPLETIONS = 3


class DiagnosticSeverity(IntEnum):
    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4


class DocumentHighlightKind(IntEnum):
    TEXT = 1
    READ = 2
    WRITE = 3


class FileChangeType(IntEnum):
    CREATED = 1
    CHANGED = 2
    DELETED = 3


class InlayHintKind(IntEnum):
    TYPE = 1
    PARAMETER = 2


class InsertTextFormat(IntEnum):
    PLAIN_TEXT = 1
    SNIPPET = 2


class LSPErrorCodes(IntEnum):
    REQUEST_FAILED = -32803
    SERVER_CANCELLED = -32802
    CONTENT_MODIFIED = -32801
    REQUEST_CANCELLED = -32800


class MessageType(IntEnum):
    ERROR = 1
    WARNING = 2
    INFO = 3
    LOG = 4
    DEBUG = 5


class SignatureHelpTriggerKind(IntEnum):
    INVOKED = 1
    TRIGGER_CHARACTER = 2
    CONTENT_CHANGE = 3


class SymbolTag(IntEnum):
    DEPRECATED = 1


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
