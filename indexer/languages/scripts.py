"""Bash and Ruby; and what is known of other languages at their borders to those that are read here."""

from __future__ import annotations

from indexer.languages.bridges import (
    CLOJURE_BRIDGES,
    DART_BRIDGES,
    ELIXIR_BRIDGES,
    HASKELL_BRIDGES,
    LUA_BRIDGES,
    OCAML_BRIDGES,
    R_BRIDGES,
    RUBY_BRIDGES,
    SQL_BRIDGES,
    SWIFT_BRIDGES,
    ZIG_BRIDGES,
)
from indexer.languages.hooks import SHELL_HOOKS
from indexer.languages.outlines import outline
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
        alike=True,
        rewrite="rewrite_bash",
    ),
    texts=("commands",),
    has_types=False,
    comments=("#",),
    lookups=(Lookup(call="=", use=NameUse.LINKED),),  # what a variable holds is run by `"$variable"`
    runs_texts=frozenset({"bash", "sh", "dash", "ksh", "zsh", "su", "busybox", "ash"}),
    runs_words=frozenset(
        {
            *("builtin", "command", "coproc", "doas", "env", "exec", "flock", "nice", "nohup", "parallel", "retry", "run"),
            *("setsid", "strace", "sudo", "time", "timeout", "watch", "xargs"),
        }
    ),
    hooks=SHELL_HOOKS,
)
RUBY = Language(
    names=("ruby",),
    family="ruby",
    outline=outline("ruby", line_comment="#", path_separator="::", overloads=False),
    comments=("#",),
    types_are_values=True,
    bridges=RUBY_BRIDGES,
)
SWIFT = Language(
    names=("swift",), family="swift", outline=outline("swift", private="private fileprivate"), tests_inside=True, bridges=SWIFT_BRIDGES
)
ZIG = Language(names=("zig",), family="zig", outline=outline("zig", overloads=False), tests_inside=True, bridges=ZIG_BRIDGES)
AT_BORDERS = (
    Language(
        names=("lua",),
        family="lua",
        outline=outline("lua", private="local", line_comment="--", overloads=False),
        comments=("--",),
        bridges=LUA_BRIDGES,
    ),
    Language(
        names=("haskell",),
        family="haskell",
        outline=outline("haskell", namespaces="kinds", line_comment="--"),
        named_by_package=r"(?m)^module[ \t]+([\w.]+)",
        comments=("--", "{-"),
        bridges=HASKELL_BRIDGES,
    ),
    Language(names=("ocaml",), family="ocaml", comments=("(*",), bridges=OCAML_BRIDGES),
    Language(
        names=("elixir",),
        family="elixir",
        outline=outline("elixir", private="defp defmacrop defguardp defnp", line_comment="#"),
        comments=("#",),
        bridges=ELIXIR_BRIDGES,
    ),
    Language(names=("dart",), family="dart", outline=outline("dart", namespaces="kinds", overloads=False), bridges=DART_BRIDGES),
    Language(names=("clojure",), family="clojure", comments=(";",), bridges=CLOJURE_BRIDGES),
    Language(names=("r",), family="r", comments=("#",), bridges=R_BRIDGES),
    Language(names=("sql",), family="sql", comments=("--", "/*"), bridges=SQL_BRIDGES),
)
"""Languages of which nothing else is known."""
