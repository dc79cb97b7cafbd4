"""Bash and Ruby."""

from __future__ import annotations

from indexer.languages.record import Grammar, Language

BASH = Language(
    names=("bash", "shellscript"),
    family="bash",
    grammar=Grammar(
        source=("tree_sitter_bash", "language"),
        definitions=("bash.definitions",),
        uses=("bash.uses",),
        exports="functions",
        namespaces="kinds",
        line_comment="#",
        rewrite="rewrite_bash",
    ),
    comments=("#",),
)
RUBY = Language(names=("ruby",), family="ruby", comments=("#",), types_are_values=True)
