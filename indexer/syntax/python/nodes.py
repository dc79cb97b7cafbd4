"""The grammar's node kinds by number. A name that the grammar no longer has fails at import, not by silent gaps."""

from __future__ import annotations

import unicodedata

import tree_sitter
import tree_sitter_python

LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
PARSER = tree_sitter.Parser(LANGUAGE)


def kind_id(name: str) -> int:
    kind = LANGUAGE.id_for_node_kind(name, True)
    if kind is None:  # a grammar upgrade renamed a node: fail at import, not by silent gaps
        raise LookupError(f"tree-sitter-python has no node '{name}'")
    return kind


K_IDENTIFIER = kind_id("identifier")
K_ATTRIBUTE = kind_id("attribute")
K_SUBSCRIPT = kind_id("subscript")
K_CALL = kind_id("call")
K_ARGUMENT_LIST = kind_id("argument_list")
K_KEYWORD_ARGUMENT = kind_id("keyword_argument")
K_FUNCTION = kind_id("function_definition")
K_CLASS = kind_id("class_definition")
K_DECORATOR = kind_id("decorator")
K_LAMBDA = kind_id("lambda")
K_STRING = kind_id("string")
K_INTERPOLATION = kind_id("interpolation")
K_COMMENT = kind_id("comment")
K_EXPRESSION_STATEMENT = kind_id("expression_statement")
K_GLOBAL = kind_id("global_statement")
K_NONLOCAL = kind_id("nonlocal_statement")
K_DEFAULT_PARAMETER = kind_id("default_parameter")
K_TYPED_PARAMETER = kind_id("typed_parameter")
K_TYPED_DEFAULT_PARAMETER = kind_id("typed_default_parameter")
K_LIST_SPLAT_PATTERN = kind_id("list_splat_pattern")
K_DICTIONARY_SPLAT_PATTERN = kind_id("dictionary_splat_pattern")
K_GENERIC_TYPE = kind_id("generic_type")
K_TYPE = kind_id("type")
K_CONSTRAINED_TYPE = kind_id("constrained_type")
K_TUPLE = kind_id("tuple")
K_LIST = kind_id("list")
K_BINARY_OPERATOR = kind_id("binary_operator")
K_PARENTHESIZED = kind_id("parenthesized_expression")
K_TUPLE_PATTERN = kind_id("tuple_pattern")
K_FOR_IN_CLAUSE = kind_id("for_in_clause")
K_ALIASED_IMPORT = kind_id("aliased_import")
K_DOTTED_NAME = kind_id("dotted_name")
K_WILDCARD_IMPORT = kind_id("wildcard_import")
K_CASE_PATTERN = kind_id("case_pattern")
K_CLASS_PATTERN = kind_id("class_pattern")
K_KEYWORD_PATTERN = kind_id("keyword_pattern")
K_AS_PATTERN = kind_id("as_pattern")
K_LIST_SPLAT = kind_id("list_splat")
K_DICTIONARY_SPLAT = kind_id("dictionary_splat")
NAMES = frozenset((K_IDENTIFIER, K_ATTRIBUTE))
PATTERNS = frozenset(
    map(
        kind_id,
        (
            "pattern_list",
            "tuple_pattern",
            "list_pattern",
            "list_splat_pattern",
            "expression_list",
            "tuple",
            "list",
            "list_splat",
            "parenthesized_expression",
            "as_pattern_target",
        ),
    )
)


def name_of(text: bytes) -> str:
    """An identifier as Python compares it: normalized, so that `ﬁ` and `fi` are one name."""
    name = text.decode("utf-8", "replace")
    return name if name.isascii() else unicodedata.normalize("NFKC", name)
