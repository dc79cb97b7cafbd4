"""PHP."""

from __future__ import annotations

from indexer.languages.bridges import PHP_BRIDGES
from indexer.languages.by_values import PHP_BY_VALUES
from indexer.languages.hooks import PHP_HOOKS
from indexer.languages.record import Grammar, Language

PHP = Language(
    names=("php",),
    family="php",
    scip="PHP",
    grammar=Grammar(
        source=("tree_sitter_php", "language_php"),
        definitions=("php.definitions",),
        uses=("php.uses",),
        exports="unless private",
        namespaces="kinds",
        ordered=False,
        path_separator="\\",
        rebinds=True,
    ),
    comments=("//", "#", "/*", "*", "*/"),
    type_before_name=True,
    named_by_package=r"\bnamespace\s+([\w\\]+)\s*[;{]",
    bridges=PHP_BRIDGES,
    calls_strings=True,
    ignores_case=True,
    by_values=PHP_BY_VALUES,
    points_at_comments=True,
    reads_by_getters=True,
    makes_own_type=r"\bnew\s+(?:static\b|\(?\s*(?:get_class\s*\(|static::class|\$this\b))",
    types_are_values=True,
    binds_late=True,
    linearises=True,
    takes_members=True,
    bases_are_named=True,
    is_compiled=False,
    runner="phpunit",
    manager="composer",
    runtime_members=frozenset(
        {
            *("__destruct", "__call", "__callStatic", "__get", "__set", "__isset", "__unset", "__sleep", "__wakeup", "__serialize"),
            *("__unserialize", "__toString", "__invoke", "__set_state", "__clone", "__debugInfo"),
        }
    ),
    hooks=PHP_HOOKS,
)
