"""Grammars of languages that are read without a server where none is here: for their symbols and words, and for nothing that is certain.

They come by the extra `languages`; what a text says by them is an outline (ADR 0131).
"""

from __future__ import annotations

from indexer.languages.record import Exports, Grammar, Namespaces

EXTRA = "languages"
"""The extra of the package that brings these grammars."""

LIBRARY = "tree_sitter_language_pack"
"""What is looked for to know whether it is installed, and whose version is part of what outlines depend on."""


def outline(
    language: str,
    *,
    module: str = "",
    exports: Exports = "unless private",
    private: str = "private",
    namespaces: Namespaces = "one",
    line_comment: str = "//",
    path_separator: str = ".",
    overloads: bool = True,
) -> Grammar:
    """The grammar of a language with its one file of queries, `LANGUAGE.outline.scm`.

    Args:
        module: of the grammar, where the library has it not itself. private: words, with blanks between them.
        overloads: functions of one name in one place are clauses or overloads of one; else a later one takes the place of the first.
    """
    return Grammar(
        source=(module or f"{LIBRARY}.bindings.{language}", "language"),
        definitions=(f"{language}.outline",),
        uses=(),
        exports=exports,
        private=frozenset(private.split()),
        namespaces=namespaces,
        line_comment=line_comment,
        path_separator=path_separator,
        overloads=overloads,
    )
