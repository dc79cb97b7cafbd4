"""Grammars made ready: a parser and its queries for each record in `indexer.languages` that has a grammar, or one for outlines."""

from __future__ import annotations

import importlib
import importlib.util
import os
from functools import cache, cached_property
from importlib import resources

import tree_sitter

from indexer.languages import Grammar, record_of
from indexer.languages.outlines import LIBRARY
from indexer.syntax.tree import repair
from indexer.syntax.tree.macros import Prepared, prepare


class LoadedGrammar:
    """A grammar with its parser, one query for everything and one for definitions only.

    A query is compiled when it is first needed, which takes TypeScript 0.1 s: few processes need both.
    """

    def __init__(self, rules: Grammar) -> None:
        module, function = rules.source
        pointer: object = getattr(importlib.import_module(module), function)()
        self.rules = rules
        self.parser = tree_sitter.Parser(loaded := tree_sitter.Language(pointer))
        self._loaded = loaded

    @cached_property
    def full(self) -> tree_sitter.Query:
        return self._compile(self.rules.definitions + self.rules.uses)

    @cached_property
    def definitions(self) -> tree_sitter.Query:
        return self._compile(self.rules.definitions)

    def repaired(self, source: bytes) -> bytes:
        """A text with errors as it may be tried again, of the same length."""
        return getattr(repair, self.rules.repair)(source) if self.rules.repair else source

    def prepared(self, source: bytes) -> Prepared:
        """The text without the macros that the grammar cannot know, of the same length."""
        return prepare(source, is_cpp=self.rules.macros == "classes") if self.rules.macros else Prepared(source, [])

    def rewritten(self, source: bytes) -> bytes:
        """What the parser gets to see of a text, of the same length."""
        return getattr(repair, self.rules.rewrite)(source) if self.rules.rewrite else source

    def _compile(self, files: tuple[str, ...]) -> tree_sitter.Query:
        """A node that the grammar no longer has fails here, not by silent gaps."""
        folder = resources.files("indexer.syntax.tree").joinpath("queries")
        return tree_sitter.Query(self._loaded, "\n".join(folder.joinpath(f"{file}.scm").read_text("utf-8") for file in files))


@cache
def load_grammar(language: str, extension: str = "") -> LoadedGrammar:
    """The grammar of a language, or that of its files with this extension.

    Args:
        language: one whose record has a grammar, or one for outlines that is installed.
    """
    record = record_of(language)
    rules = dict(record.variants).get(extension) or record.grammar or record.outline
    if rules is None:
        raise ValueError(f"there is no grammar of {language}")
    return LoadedGrammar(rules)


def grammar_of(language: str, path: str) -> LoadedGrammar:
    """The grammar that a file is read with: `.tsx` has one of its own."""
    extension = os.path.splitext(path)[1].lower()
    return load_grammar(language, extension if any(extension == other for other, _ in record_of(language).variants) else "")


@cache
def outlines_are_here() -> bool:
    """Whether the library of the grammars for outlines is installed; it is not loaded to know that."""
    return importlib.util.find_spec(LIBRARY) is not None
