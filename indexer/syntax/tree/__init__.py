"""Languages that are read by tree-sitter queries: TypeScript, JavaScript, Go, C, C++, Rust, Bash, Java, PHP.

What an identifier is, the queries say (`queries/*.scm`; `queries/README.md` explains the capture names); which symbols there are
and what is around a place, one sweep over the captures (`outline`, `symbols`). Most identifiers are left to a language server.
Certain without one: names of definitions, and uses of parameters and local variables where the language's scopes leave no doubt.

Deliberately does not know: other files, types, the protocol. Broken text is no error: tree-sitter recovers, and
`Syntax.error_lines` says where.
"""

from __future__ import annotations

from indexer.languages import record_of
from indexer.syntax.model import Syntax
from indexer.syntax.tree.adapter import Adapter
from indexer.syntax.tree.grammars import grammar_of, outlines_are_here

__all__ = ["outlines", "parse", "prepare", "supports"]


def supports(language: str) -> bool:
    """Whether there is a grammar for a language, by its LSP language id."""
    return record_of(language).grammar is not None


def outlines(language: str) -> bool:
    """Whether a text of a language that `supports` does not know can be read for its outline, by a grammar that is installed."""
    record = record_of(language)
    return record.grammar is None and record.outline is not None and outlines_are_here()


def prepare(language: str) -> None:
    """Compiles the query for definitions, which takes up to 0.1 s."""
    _ = grammar_of(language, "").definitions


def parse(language: str, path: str, source: bytes, module: str, *, definitions_only: bool = False) -> Syntax:
    """Everything that one file says by itself.

    Args:
        language: LSP language id, one that `supports` or `outlines` knows; a C header is C or C++ as the caller says.
        path: relative to the workspace; its extension selects between grammars and rules of one language (`.tsx`, `.d.ts`, `.h`).
        source: the file's bytes, UTF-8.
        module: becomes the name of symbol 0.
        definitions_only: record only the identifiers that name definitions, for a file of which only symbols are wanted.
    Returns:
        Symbols in outline order (module first, each before its members) and tokens in document order.
    """
    lookups = record_of(language).lookups
    return Adapter(grammar_of(language, path), path, source, module, definitions_only=definitions_only, lookups=lookups).syntax()
