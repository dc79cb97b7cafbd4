"""Texts that a question brings: parameters and expressions, read as the language reads them."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.errors import UsageError
from indexer.languages import Language
from query.edits.text import Document
from query.refactor.positional.heads import Head, Item, heads_at
from query.refactor.positional.placing import Parameter
from query.refactor.positional.source import NAMES, Code, Node, walk

_GO_HEAD = "package p\n\nfunc "
_HEAD = "function "
_OF_LITERALS = {"number": "number", "string": "string", "template_string": "string", "true": "boolean", "false": "boolean"}
_MODIFIERS = ("private", "public", "protected", "readonly")


def is_of_types(language: Language) -> bool:
    """Whether a parameter is a name and a type, and the type is asked for: `n int`."""
    return language.parameters == "name type"


def added(text: str, path: str, language: Language) -> Parameter:
    """A parameter as the head of a function will say it: `timeout = 10`, `timeout?: number`, `ctx context.Context`, `opts ...Option`.

    Raises:
        UsageError: it is none.
    """
    start = _GO_HEAD if is_of_types(language) else _HEAD
    code = Code(path, language, Document(text=f"{start}f({text.strip()}) {{}}\n"))
    heads = [] if code.has_errors else heads_at(code, len(start))
    items = heads[0].items if heads else []
    if len(items) != 1 or items[0].name is None or (is_of_types(language) and (items[0].shares or not items[0].of_type)):
        form = "n int" if is_of_types(language) else "timeout: number = 10"
        raise UsageError(f"'{text}' is not one parameter as a head of {path.rpartition('.')[2]} says it, such as '{form}'")
    if items[0].is_member:
        raise UsageError(f"'{text}' would declare a member of the class, too; add that by hand")
    return items[0].parameter._replace(was=None, text=_said(heads[0], items[0]))


def _said(head: Head, item: Item) -> str:
    code = head.code
    return code.text[code.start(item.nodes[0]) : code.end(item.nodes[-1])]


def declared(text: str, path: str, language: Language, *, is_last: bool) -> str:
    """An added parameter as a head without a body says it, where no value may stand: `zz?: number` of `zz = 0`.

    Args:
        is_last: none that must be given stands behind it; else its type takes in `undefined`.
    Raises:
        UsageError: its type cannot be told from its value.
    """
    code = Code(path, language, Document(text=f"{_HEAD}f({text.strip()}) {{}}\n"))
    node = heads_at(code, len(_HEAD))[0].items[0].nodes[0]
    pattern, value, of_type = (node.child_by_field_name(field) for field in ("pattern", "value", "type"))
    if value is None or pattern is None:
        return text
    said = code.said(of_type).removeprefix(":").strip() if of_type is not None else _OF_LITERALS.get(value.type, "")
    if not said:
        raise UsageError(f"'{text}' gets a declaration without a value, too, which needs a type; say it as '{code.said(pattern)}: T = …'")
    return f"{code.said(pattern)}?: {said}" if is_last else f"{code.said(pattern)}: {said} | undefined"


def type_alone(text: str) -> str:
    """Of Go's `n int` what stands where parameters have no names."""
    return text.partition(" ")[2].strip()


def check_expression(name: str, text: str, path: str, language: Language) -> None:
    """Raises UsageError for what no call could pass."""
    code = _as_call(text, path, language)
    calls = [node for node in walk(code.root) if node.type in ("arguments", "argument_list")] if not code.has_errors else []
    if (
        not calls
        or len(calls[0].named_children) != 1
        or calls[0].named_children[0].type in ("spread_element", "variadic_argument", "comment")
    ):
        raise UsageError(f"'{text}' is no expression that calls could pass for '{name}'")


def _as_call(text: str, path: str, language: Language) -> Code:
    before = f"{_GO_HEAD}f() {{\n" if is_of_types(language) else ""
    after = "\n}\n" if is_of_types(language) else ";\n"
    return Code(path, language, Document(text=f"{before}f__({text}){after}"))


def free_names(text: str, path: str, language: Language, *, is_parameter: bool) -> Iterator[tuple[str, bool]]:
    """Names that a text takes from around it, each with whether something is taken of it: `context` of `context.TODO()`."""
    if is_parameter:
        start = _GO_HEAD if is_of_types(language) else _HEAD
        code = Code(path, language, Document(text=f"{start}f({text}) {{}}\n"))
        inside = [node for head in heads_at(code, len(start)) for item in head.items for node in item.nodes]
        own = {code.said(node) for head in heads_at(code, len(start)) for item in head.items for node in item.binds}
    else:
        code = _as_call(text, path, language)
        inside, own = [code.root], {"f__", "p", "f"} if is_of_types(language) else {"f__"}
    bound = own | {code.said(node) for one in inside for node in walk(one) if node.type in NAMES and _is_bound(node)}
    for one in inside:
        for node in walk(one):
            word = code.said(node) if node.type in NAMES else ""
            if not word or word in bound or node.type in ("property_identifier", "private_property_identifier", "field_identifier"):
                continue
            if node.parent is not None and node.parent.type == "qualified_type" and node.parent.child_by_field_name("name") == node:
                continue
            yield word, _leads_on(node)


def _is_bound(node: Node) -> bool:
    inner, around = node, node.parent
    while around is not None and around.type in ("object_pattern", "array_pattern", "rest_pattern", "assignment_pattern"):
        if inner == around.child_by_field_name("right"):
            return False
        inner, around = around, around.parent
    binding = (
        "required_parameter",
        "optional_parameter",
        "formal_parameters",
        "variable_declarator",
        "parameter_declaration",
        "type_parameter",
    )
    if around is None or around.type not in (*binding, "arrow_function"):
        return False
    return inner not in [around.child_by_field_name(field) for field in ("value", "type", "body")]


def _leads_on(node: Node) -> bool:
    parent = node.parent
    return parent is not None and (
        (
            parent.type in ("member_expression", "selector_expression")
            and node in (parent.child_by_field_name("object"), parent.child_by_field_name("operand"))
        )
        or parent.type in ("qualified_type", "nested_type_identifier")
    )
