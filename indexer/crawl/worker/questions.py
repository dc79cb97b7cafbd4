"""What is asked about a document, in the tree's own order. Sends nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from indexer.crawl import methods
from indexer.crawl.messages import Setup
from indexer.crawl.worker import crosscheck, harvest, second
from indexer.crawl.worker.document import Document
from indexer.embedded import COMPONENT, form_of
from indexer.lsp.session import Session
from indexer.model import TYPE_KINDS, Basis, SymbolFlag
from indexer.syntax.model import Syntax

COSTLY = frozenset({methods.DIAGNOSTIC, methods.HOVER, methods.SUPERTYPES})
"""Left out at the last try of a document."""

_MOST_TREE_BYTES = 400_000
"""A compiler's tree of a text is some forty times as large as the text, and an answer has a limit (`indexer.lsp.framing`)."""

Question = tuple[str, bytes, int]
"""Method, parameters as JSON, ordinal of the token or symbol that it is about; of a receiver, counted on from the tokens, at a sign."""

POSITION = b',"position":{"line":%d,"character":%d}}'


def of_second(session: Session, setup: Setup, document: Document) -> Iterator[Question]:
    """What a second server is asked about a document: some places, and nothing else."""
    syntax = document.syntax
    assert syntax is not None
    if methods.DEFINITION in setup.lacks or not session.supports("definitionProvider"):
        document.answers.tallies[methods.DEFINITION].unsupported = True
        return
    text_document, tokens = b'{"textDocument":{"uri":%b}' % document.uri_json, syntax.tokens
    for token in second.tokens_at(tokens, document.planned.places):
        yield methods.DEFINITION, text_document + POSITION % (tokens.line[token], tokens.col[token]), token


def questions(session: Session, setup: Setup, document: Document) -> Iterator[Question]:
    """All that is asked about a document: (method, parameters as JSON, ordinal of a token or symbol)."""
    syntax = document.syntax
    assert syntax is not None
    tallies = document.answers.tallies
    text_document = b'{"textDocument":{"uri":%b}' % document.uri_json

    def usable(method: str, capability: str) -> bool:
        if method in setup.lacks or not (session.supports(capability) or session.supports(method)):
            tallies[method].unsupported = True
            return False
        if document.state.is_lean and method in COSTLY:  # it brought the server down twice: leave out what costs most
            tallies[method].failed = str(document.failure)
            return False
        return True

    if usable(methods.DOCUMENT_SYMBOL, "documentSymbolProvider"):
        yield methods.DOCUMENT_SYMBOL, text_document + b"}", 0
    if setup.diagnostics == "pull" and form_of(document.planned.path) != COMPONENT and usable(methods.DIAGNOSTIC, "diagnosticProvider"):
        yield methods.DIAGNOSTIC, text_document + b"}", 0
    if usable(methods.DEFINITION, "definitionProvider"):
        tokens = syntax.tokens
        for token, ask in enumerate(tokens.ask):
            if ask:
                yield methods.DEFINITION, text_document + POSITION % (tokens.line[token], tokens.col[token]), token
        yield from _signs(syntax, text_document)
        for token in harvest.sample(document.planned.path, tokens, setup.cross_check):
            yield methods.DEFINITION, text_document + POSITION % (tokens.line[token], tokens.col[token]), -token - 1
    if session.supports("typeDefinitionProvider") and methods.TYPE_DEFINITION not in setup.lacks:
        yield from _types(syntax, text_document)
    if session.supports("astProvider") and not document.state.is_lean and document.planned.size_bytes <= _MOST_TREE_BYTES:
        yield methods.TREE, text_document + b"}", 0
    if session.supports("documentHighlightProvider") and methods.HIGHLIGHT not in setup.lacks:
        for ordinal in crosscheck.sample_symbols(document.planned.path, syntax, setup.cross_check):
            selection = syntax.symbols[ordinal].selection
            yield methods.HIGHLIGHT, text_document + POSITION % (selection.line, selection.col), ordinal
    if setup.hover and usable(methods.HOVER, "hoverProvider"):
        for ordinal, symbol in enumerate(syntax.symbols):
            if ordinal and SymbolFlag.LOCAL not in symbol.flags:
                yield methods.HOVER, text_document + POSITION % (symbol.selection.line, symbol.selection.col), ordinal
    if setup.hierarchy == "item" and syntax.bases:
        typed = sorted({owner for owner, _ in syntax.bases})
    elif setup.hierarchy == "every_item":
        listing = {owner for owner, _ in syntax.bases}
        types = [i for i, symbol in enumerate(syntax.symbols) if symbol.kind in TYPE_KINDS]
        typed = [i for i in types if SymbolFlag.LOCAL not in syntax.symbols[i].flags or i in listing]
    else:
        typed = []
    if typed and usable(methods.SUPERTYPES, "typeHierarchyProvider"):
        for ordinal in typed:
            symbol = syntax.symbols[ordinal]
            selection = _range(symbol.selection)  # gopls looks for an identifier where `range` begins
            item = {
                "name": symbol.name,
                "kind": int(symbol.kind),
                "uri": document.uri,
                "range": selection,
                "selectionRange": selection,
            }
            yield methods.SUPERTYPES, msgspec.json.encode({"item": item}), ordinal
    elif setup.hierarchy == "prepare" and usable(methods.SUPERTYPES, "typeHierarchyProvider"):
        for ordinal, symbol in enumerate(syntax.symbols):
            if symbol.kind in TYPE_KINDS and SymbolFlag.LOCAL not in symbol.flags:
                position = POSITION % (symbol.selection.line, symbol.selection.col)
                yield methods.PREPARE_TYPE_HIERARCHY, text_document + position, ordinal
    elif setup.hierarchy == "none":
        tallies[methods.SUPERTYPES].unsupported = True


def _types(syntax: Syntax, text_document: bytes) -> Iterator[Question]:
    """The types of values that the text operates on without naming a member."""
    receivers = syntax.receivers
    for receiver, ask in enumerate(receivers.ask):
        if ask and receivers.basis[receiver] != Basis.SIGN:
            yield methods.TYPE_DEFINITION, text_document + POSITION % (receivers.at_line[receiver], receivers.at_col[receiver]), receiver


def _signs(syntax: Syntax, text_document: bytes) -> Iterator[Question]:
    """The members that run at operators; numbered behind the tokens."""
    receivers, tokens = syntax.receivers, len(syntax.tokens)
    for receiver, ask in enumerate(receivers.ask):
        if ask and receivers.basis[receiver] == Basis.SIGN:
            place = POSITION % (receivers.at_line[receiver], receivers.at_col[receiver])
            yield methods.DEFINITION, text_document + place, tokens + receiver


def most(questions: Iterable[Question], document: Document, left: int) -> Iterator[Question]:
    """The first `left` of these questions; how many are not asked is written down with their methods."""
    for question in questions:
        if left > 0:
            left -= 1
            document.asked += 1
            yield question
        else:
            document.answers.tallies[methods.TALLIED.get(question[0], question[0])].unasked += 1


def _range(span: tuple[int, int, int, int]) -> dict[str, dict[str, int]]:
    return {"start": {"line": span[0], "character": span[1]}, "end": {"line": span[2], "character": span[3]}}
