"""Python: identifiers, scopes and bindings of one file, by tree-sitter.

Python's scopes are lexical, so a bare name that is bound in its own function, or once at module level by `def`, `class` or
assignment, needs no server: the symbol *is* (scope, name). What is left to ask is attributes, imported names, keyword
arguments, builtins, and call sites of variables (whose callee only types tell). A question is put once per binding: further
uses of the same import, and of the same `self.attribute` in a class, share the answer (see doc/decisions/0002).

Deliberately does not know: other files, types, the protocol. Broken text is no error: tree-sitter recovers, and
`Syntax.error_lines` says where.

Two passes: `walk` visits every node once and records tokens and bindings; `resolve` then looks each name up through its scopes.
"""

from __future__ import annotations

from indexer.syntax.model import Syntax
from indexer.syntax.python.excerpt import excerpt
from indexer.syntax.python.scopes import BUILTINS, OF_MODULES
from indexer.syntax.python.walk import Walk

__all__ = ["BUILTINS", "OF_MODULES", "excerpt", "parse"]


def parse(source: bytes, module_name: str, *, is_test: bool = False, definitions_only: bool = False) -> Syntax:
    """Everything that one Python file says by itself.

    Args:
        source: the file's bytes, UTF-8 (anything else was skipped by the plan); a BOM is fine.
        module_name: dotted name, becomes the name of symbol 0.
        is_test: the file holds tests by convention: parameters of test functions are asked too, since a fixture fills them.
        definitions_only: leave names that are only used unresolved, for a file of which nothing but its symbols is wanted.
    Returns:
        Symbols in outline order (module first, each before its members) and tokens in document order.
    """
    return Walk(source, module_name, is_test).run(definitions_only=definitions_only)
