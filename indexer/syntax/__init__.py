"""What the text of one file says by itself: identifiers, scopes, definitions, call sites.

A syntax adapter turns bytes into a `Syntax` (`indexer.syntax.model`), with no server and no other file in sight.
It decides which identifiers must be asked of a language server and which are certain by the rules of the language.
Python's adapter is `indexer.syntax.python`; `indexer.syntax.tree` reads languages by tree-sitter queries; all others are read by
`indexer.syntax.lexer`, which knows identifiers only, or, where no server is here, by the queries of an outline. Start reading in `model`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.languages import PYTHON, record_of
from indexer.text import for_grammars

if TYPE_CHECKING:
    from indexer.syntax.model import Syntax


def parse(
    language: str,
    path: str,
    source: bytes,
    module: str,
    *,
    is_test: bool = False,
    definitions_only: bool = False,
    alone: bool = False,
) -> Syntax:
    """Everything that one file says by itself, by the adapter of its language.

    Args:
        language: LSP language id.
        path: relative to the workspace; its extension selects between variants of a language (`.tsx`, `.d.ts`, `.h`).
        source: the file's bytes, UTF-8.
        module: becomes the name of symbol 0.
        is_test: the file holds tests by convention.
        definitions_only: nothing but the file's symbols is wanted.
        alone: no server will add to it, so an outline is wanted where the language has no more than that.
    Returns:
        Symbols in outline order (module first, each before its members) and tokens in document order.
    """
    source = for_grammars(source)
    if language == PYTHON.name:  # adapters load grammars, so each is imported by who needs it
        from indexer.syntax import python

        return python.parse(source, module, is_test=is_test, definitions_only=definitions_only)
    record = record_of(language)
    if record.grammar is not None or (alone and record.outline is not None and _outlines(language)):
        from indexer.syntax import tree

        return tree.parse(language, path, source, module, definitions_only=definitions_only)
    from indexer.syntax import lexer

    return lexer.parse(language, path, source, module, definitions_only=definitions_only)


def code_of(language: str, source: bytes) -> bytes:
    """The text with its comments and strings blank, where that can be told of a text which no parser understands; as it is elsewhere.

    In C and C++ a string ends with its line at the latest.
    """
    grammar = record_of(language).grammar
    if grammar is None or not grammar.macros:
        return source
    from indexer.syntax import c_tokens

    return c_tokens.code_of(source)


def _outlines(language: str) -> bool:
    from indexer.syntax import tree

    return tree.outlines(language)


def prepare(language: str) -> None:
    """Does now what the first `parse` for definitions only would have to do."""
    if record_of(language).grammar is not None:
        from indexer.syntax import tree

        tree.prepare(language)
