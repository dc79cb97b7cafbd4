"""Bash and Ruby."""

from __future__ import annotations

from indexer.languages.record import Grammar, Language, Lookup
from indexer.model import NameUse

BASH = Language(
    names=("bash", "shellscript"),
    family="bash",
    scip="ShellScript",
    grammar=Grammar(
        source=("tree_sitter_bash", "language"),
        definitions=("bash.definitions",),
        uses=("bash.uses",),
        exports="functions",
        namespaces="kinds",
        line_comment="#",
        rewrite="rewrite_bash",
    ),
    texts=("commands",),
    comments=("#",),
    lookups=(Lookup(call="=", use=NameUse.LINKED),),  # what a variable holds is run by `"$variable"`
)
RUBY = Language(names=("ruby",), family="ruby", comments=("#",), types_are_values=True)
