"""The table of languages with a tree-sitter grammar: which grammar, which queries, and the few facts that queries cannot say."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass, field
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import tree_sitter

from indexer.syntax.tree.repair import repair_typescript


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One grammar and how its trees are read.

    `definitions` and `uses` name files in `queries/`, read one after the other.
    `namespaces`: kinds of names that live side by side in one scope: "one" (a name means one thing), "types" (types beside the
    rest), "kinds" (types, callables and variables).
    `ordered`: a local variable is visible below its declaration only, as everywhere but in JavaScript.
    `rebinds`: a second declaration of a local in one scope is the same variable (Go's `:=`, JavaScript's `var`).
    `binds_lower_case`: in a pattern, a capital means something that exists (Rust).
    `blank`: the name that binds nothing.
    `overloads`: several functions of one name with different parameters may live in one scope, each with its body.
    `class_named_constructors`: a method called like its class constructs it.
    `inherits`: in a class, a name may mean an inherited member before it means what is around the class.
    `repair`: what to try on a text with errors.
    `prototypes`: a function without a body is declared, not defined.
    """

    grammar: tuple[str, str]
    definitions: tuple[str, ...]
    uses: tuple[str, ...]
    exports: str
    namespaces: str = "one"
    ordered: bool = True
    rebinds: bool = False
    blank: str = ""
    overloads: bool = False
    class_named_constructors: bool = False
    prototypes: bool = False
    binds_lower_case: bool = False
    inherits: bool = False
    line_comment: str = "//"
    path_separator: str = "."
    repair: Callable[[bytes], bytes] | None = None


_ECMASCRIPT: dict[str, Any] = {"exports": "export", "ordered": False, "rebinds": True}
_TYPESCRIPT: dict[str, Any] = {
    "definitions": ("ecmascript.definitions", "typescript.definitions"),
    "uses": ("ecmascript.uses", "typescript.uses"),
    "repair": repair_typescript,
    **_ECMASCRIPT,
}

LANGUAGES: dict[str, Language] = {
    "typescript": Language(grammar=("tree_sitter_typescript", "language_typescript"), **_TYPESCRIPT),
    "tsx": Language(
        grammar=("tree_sitter_typescript", "language_tsx"),
        **{**_TYPESCRIPT, "uses": (*_TYPESCRIPT["uses"], "jsx.uses")},
    ),
    "javascript": Language(
        grammar=("tree_sitter_javascript", "language"),
        definitions=("ecmascript.definitions", "javascript.definitions"),
        uses=("ecmascript.uses", "javascript.uses", "jsx.uses"),
        **_ECMASCRIPT,
    ),
    "go": Language(
        grammar=("tree_sitter_go", "language"),
        definitions=("go.definitions",),
        uses=("go.uses",),
        exports="capital",
        rebinds=True,
        blank="_",
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
        path_separator="::",
        namespaces="kinds",
        blank="_",
        binds_lower_case=True,
    ),
    "bash": Language(
        grammar=("tree_sitter_bash", "language"),
        definitions=("bash.definitions",),
        uses=("bash.uses",),
        exports="functions",
        namespaces="kinds",
        line_comment="#",
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


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language made ready: its parser, and one query for everything, one for definitions only."""

    language: Language
    parser: tree_sitter.Parser
    full: tree_sitter.Query
    definitions: tree_sitter.Query
    names: dict[str, int] = field(default_factory=dict[str, int])


@cache
def grammar(name: str) -> Grammar:
    """Loads a grammar and compiles its queries; a node that the grammar no longer has fails here, not by silent gaps."""
    language = LANGUAGES[name]
    module, function = language.grammar
    loaded = tree_sitter.Language(getattr(importlib.import_module(module), function)())
    folder = resources.files(__package__).joinpath("queries")
    definitions = "\n".join(folder.joinpath(f"{file}.scm").read_text("utf-8") for file in language.definitions)
    uses = "\n".join(folder.joinpath(f"{file}.scm").read_text("utf-8") for file in language.uses)
    return Grammar(
        language,
        tree_sitter.Parser(loaded),
        tree_sitter.Query(loaded, f"{definitions}\n{uses}"),
        tree_sitter.Query(loaded, definitions),
    )


def variant(language: str, path: str) -> str:
    """The entry of the table for a file: `.tsx` has a grammar of its own, since `<T>x` means two things."""
    if language in ("typescript", "typescriptreact") and os.path.splitext(path)[1].lower() == ".tsx":
        return "tsx"
    return {"typescriptreact": "tsx", "javascriptreact": "javascript", "shellscript": "bash"}.get(language, language)
