"""The table of languages with a grammar: which grammar, which queries, and the few facts that queries cannot say."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources

import tree_sitter

from indexer.syntax.tree.repair import repair_typescript, rewrite_bash


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One grammar and how its trees are read.

    `definitions` and `uses` name files in `queries/`, read one after the other.
    `exports`: how a definition becomes visible elsewhere: by "export", a "capital", "pub", "public", or standing in a "header";
    "functions" always are.
    `namespaces`: what may share a name in one scope: nothing ("one"), "types" with the rest, or "kinds": types, callables, variables.
    `binds_lower_case`: in a pattern, a capital means something that exists (Rust).
    `blank`: the name that binds nothing.
    `class_named_constructors`: a method called like its class constructs it.
    `inherits`: in a class, a name may mean an inherited member before it means what is around the class.
    `line_comment`, `path_separator`: as written.
    `ordered`: a local variable is visible below its declaration only, as everywhere but in JavaScript.
    `overloads`: several functions of one name with different parameters may live in one scope, each with its body.
    `prototypes`: a function without a body is declared, not defined.
    `rebinds`: a second declaration of a local in one scope is the same variable (Go's `:=`, JavaScript's `var`).
    `repair`: what to try on a text with errors.
    `rewrite`: what the parser gets to see in place of the text, byte for byte.
    """

    grammar: tuple[str, str]
    definitions: tuple[str, ...]
    uses: tuple[str, ...]
    exports: str
    namespaces: str = "one"
    binds_lower_case: bool = False
    blank: str = ""
    class_named_constructors: bool = False
    inherits: bool = False
    line_comment: str = "//"
    ordered: bool = True
    overloads: bool = False
    path_separator: str = "."
    prototypes: bool = False
    rebinds: bool = False
    repair: Callable[[bytes], bytes] | None = None
    rewrite: Callable[[bytes], bytes] | None = None


_TYPESCRIPT = Language(
    grammar=("tree_sitter_typescript", "language_typescript"),
    definitions=("ecmascript.definitions", "typescript.definitions"),
    uses=("ecmascript.uses", "typescript.uses"),
    exports="export",
    ordered=False,
    rebinds=True,
    repair=repair_typescript,
)

LANGUAGES: dict[str, Language] = {
    "typescript": _TYPESCRIPT,
    "tsx": replace(_TYPESCRIPT, grammar=("tree_sitter_typescript", "language_tsx"), uses=(*_TYPESCRIPT.uses, "jsx.uses")),
    "javascript": replace(
        _TYPESCRIPT,
        grammar=("tree_sitter_javascript", "language"),
        definitions=("ecmascript.definitions", "javascript.definitions"),
        uses=("ecmascript.uses", "javascript.uses", "jsx.uses"),
        repair=None,
    ),
    "go": Language(
        grammar=("tree_sitter_go", "language"),
        definitions=("go.definitions",),
        uses=("go.uses",),
        exports="capital",
        blank="_",
        rebinds=True,
    ),
    "c": Language(
        grammar=("tree_sitter_c", "language"),
        definitions=("c.definitions",),
        uses=("c.uses",),
        exports="header",
        namespaces="types",
        prototypes=True,
    ),
    "cpp": Language(
        grammar=("tree_sitter_cpp", "language"),
        definitions=("c.definitions", "cpp.definitions"),
        uses=("c.uses", "cpp.uses"),
        exports="header",
        namespaces="types",
        class_named_constructors=True,
        inherits=True,
        overloads=True,
        prototypes=True,
    ),
    "rust": Language(
        grammar=("tree_sitter_rust", "language"),
        definitions=("rust.definitions",),
        uses=("rust.uses",),
        exports="pub",
        namespaces="kinds",
        binds_lower_case=True,
        blank="_",
        path_separator="::",
    ),
    "bash": Language(
        grammar=("tree_sitter_bash", "language"),
        definitions=("bash.definitions",),
        uses=("bash.uses",),
        exports="functions",
        namespaces="kinds",
        line_comment="#",
        rewrite=rewrite_bash,
    ),
    "java": Language(
        grammar=("tree_sitter_java", "language"),
        definitions=("java.definitions",),
        uses=("java.uses",),
        exports="public",
        namespaces="kinds",
        class_named_constructors=True,
        inherits=True,
        overloads=True,
    ),
}


class Grammar:
    """A language made ready: its parser, and one query for everything, one for definitions only.

    A query is compiled when it is first needed, which takes TypeScript 0.1 s: few processes need both.
    """

    def __init__(self, language: Language, loaded: tree_sitter.Language) -> None:
        self.language = language
        self.parser = tree_sitter.Parser(loaded)
        self._loaded = loaded

    @cached_property
    def full(self) -> tree_sitter.Query:
        return self._compile(self.language.definitions + self.language.uses)

    @cached_property
    def definitions(self) -> tree_sitter.Query:
        return self._compile(self.language.definitions)

    def _compile(self, files: tuple[str, ...]) -> tree_sitter.Query:
        """A node that the grammar no longer has fails here, not by silent gaps."""
        folder = resources.files("indexer.syntax.tree").joinpath("queries")
        return tree_sitter.Query(self._loaded, "\n".join(folder.joinpath(f"{file}.scm").read_text("utf-8") for file in files))


@cache
def grammar(name: str) -> Grammar:
    language = LANGUAGES[name]
    module, function = language.grammar
    pointer: object = getattr(importlib.import_module(module), function)()
    return Grammar(language, tree_sitter.Language(pointer))


def variant(language: str, path: str) -> str:
    """The entry of the table for a file: `.tsx` has a grammar of its own, since `<T>x` means two things."""
    if language in ("typescript", "typescriptreact") and os.path.splitext(path)[1].lower() == ".tsx":
        return "tsx"
    return {"typescriptreact": "tsx", "javascriptreact": "javascript", "shellscript": "bash"}.get(language, language)
