"""The shapes of the parameters that we build, for the type checker: nothing loads this at run time.

Made from lsprotocol 2025.0.0 by `make docs` (`indexer/lsp/generate.py` says what is in it); do not edit.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class Position(TypedDict):
    line: int
    character: int


class Range(TypedDict):
    start: Position
    end: Position


class CallHierarchyItem(TypedDict):
    name: str
    kind: int
    uri: str
    range: Range
    selectionRange: Range
    tags: NotRequired[list[int]]
    detail: NotRequired[str]
    data: NotRequired[Any]


class CallHierarchyIncomingCallsParams(TypedDict):
    item: CallHierarchyItem
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class CallHierarchyOutgoingCallsParams(TypedDict):
    item: CallHierarchyItem
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class TextDocumentIdentifier(TypedDict):
    uri: str


class CodeDescription(TypedDict):
    href: str


class Location(TypedDict):
    uri: str
    range: Range


class DiagnosticRelatedInformation(TypedDict):
    location: Location
    message: str


class Diagnostic(TypedDict):
    range: Range
    message: str
    severity: NotRequired[int]
    code: NotRequired[int | str]
    codeDescription: NotRequired[CodeDescription]
    source: NotRequired[str]
    tags: NotRequired[list[int]]
    relatedInformation: NotRequired[list[DiagnosticRelatedInformation]]
    data: NotRequired[Any]


class CodeActionContext(TypedDict):
    diagnostics: list[Diagnostic]
    only: NotRequired[list[str]]
    triggerKind: NotRequired[int]


class CodeActionParams(TypedDict):
    textDocument: TextDocumentIdentifier
    range: Range
    context: CodeActionContext
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class CompletionContext(TypedDict):
    triggerKind: int
    triggerCharacter: NotRequired[str]


class CompletionParams(TypedDict):
    textDocument: TextDocumentIdentifier
    position: Position
    context: NotRequired[CompletionContext]
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class DefinitionParams(TypedDict):
    textDocument: TextDocumentIdentifier
    position: Position
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class DocumentDiagnosticParams(TypedDict):
    textDocument: TextDocumentIdentifier
    identifier: NotRequired[str]
    previousResultId: NotRequired[str]
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class DocumentHighlightParams(TypedDict):
    textDocument: TextDocumentIdentifier
    position: Position
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class DocumentSymbolParams(TypedDict):
    textDocument: TextDocumentIdentifier
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class FormattingOptions(TypedDict):
    tabSize: int
    insertSpaces: bool
    trimTrailingWhitespace: NotRequired[bool]
    insertFinalNewline: NotRequired[bool]
    trimFinalNewlines: NotRequired[bool]


class DocumentFormattingParams(TypedDict):
    textDocument: TextDocumentIdentifier
    options: FormattingOptions
    workDoneToken: NotRequired[int | str]


class InlayHintParams(TypedDict):
    textDocument: TextDocumentIdentifier
    range: Range
    workDoneToken: NotRequired[int | str]


class PrepareRenameParams(TypedDict):
    textDocument: TextDocumentIdentifier
    position: Position
    workDoneToken: NotRequired[int | str]


class DocumentRangeFormattingParams(TypedDict):
    textDocument: TextDocumentIdentifier
    range: Range
    options: FormattingOptions
    workDoneToken: NotRequired[int | str]


class ReferenceContext(TypedDict):
    includeDeclaration: bool


class ReferenceParams(TypedDict):
    context: ReferenceContext
    textDocument: TextDocumentIdentifier
    position: Position
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class RenameParams(TypedDict):
    textDocument: TextDocumentIdentifier
    position: Position
    newName: str
    workDoneToken: NotRequired[int | str]


class SemanticTokensParams(TypedDict):
    textDocument: TextDocumentIdentifier
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class SemanticTokensRangeParams(TypedDict):
    textDocument: TextDocumentIdentifier
    range: Range
    workDoneToken: NotRequired[int | str]
    partialResultToken: NotRequired[int | str]


class MarkupContent(TypedDict):
    kind: str
    value: str


class ParameterInformation(TypedDict):
    label: str | tuple[int, int]
    documentation: NotRequired[str | MarkupContent]


class SignatureInformation(TypedDict):
    label: str
    documentation: NotRequired[str | MarkupContent]
    parameters: NotRequired[list[ParameterInformation]]
    activeParameter: NotRequired[int | None]


class SignatureHelp(TypedDict):
    signatures: list[SignatureInformation]
    activeSignature: NotRequired[int]
    activeParameter: NotRequired[int | None]


class SignatureHelpContext(TypedDict):
    triggerKind: int
    isRetrigger: bool
    triggerCharacter: NotRequired[str]
    activeSignatureHelp: NotRequired[SignatureHelp]


class SignatureHelpParams(TypedDict):
    textDocument: TextDocumentIdentifier
    position: Position
    context: NotRequired[SignatureHelpContext]
    workDoneToken: NotRequired[int | str]


class FileEvent(TypedDict):
    uri: str
    type: int


class DidChangeWatchedFilesParams(TypedDict):
    changes: list[FileEvent]


class ExecuteCommandParams(TypedDict):
    command: str
    arguments: NotRequired[list[Any]]
    workDoneToken: NotRequired[int | str]
