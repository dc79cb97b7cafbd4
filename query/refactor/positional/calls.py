"""What a text does with a function at a place that names it: calls it, hands it over, or nothing that depends on its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from query.refactor.parameters.bracketed import Bracketed
from query.refactor.positional.placing import Argument
from query.refactor.positional.source import NAMES, Code, Node, walk

_MEMBERS = ("member_expression", "selector_expression")
_TRANSPARENT = ("parenthesized_expression", "non_null_expression")
_IMPORTS = ("import_specifier", "export_specifier", "import_clause", "namespace_import", "import_statement", "export_statement")
_COMPARES = ("===", "!==", "==", "!=", "instanceof", "in", "&&")
_OF_A_FUNCTION = frozenset(("name", "displayName", "toString", "prototype"))
"""Attributes of a function that do not depend on its parameters."""
_ELEMENTS = ("jsx_opening_element", "jsx_self_closing_element")
_TYPES = (
    "type_annotation",
    "generic_type",
    "type_arguments",
    "implements_clause",
    "extends_type_clause",
    "type_query",
    "nested_type_identifier",
)
_CALLING = ("call_expression", "new_expression", "await_expression", "yield_expression", "assignment_expression")
_ACTS = frozenset((*_CALLING, "augmented_assignment_expression", "update_expression", "jsx_element", "receive"))
_READS = frozenset(
    ("member_expression", "subscript_expression", "selector_expression", "index_expression", "spread_element", "variadic_argument")
)

BLIND = "it is handed over, and how it is called there is not known"
_IN_STRING = "a string names it, and how it is used by that is not known"
UNREAD = "it is named there in a form that is not read"


class Use(NamedTuple):
    """kind: `call`; `value`, handed over or used in another way, as `why` says; `idle`, nothing that depends on its parameters.

    call: of `call` the node of it. receiver: what it is called of.
    """

    kind: Literal["call", "value", "idle"]
    call: Node | None = None
    why: str = ""
    receiver: Node | None = None


_IDLE = Use("idle")


def use_at(code: Code, offset: int) -> Use:
    """What is made of a function that is named at an offset, or called there without a name."""
    leaf = code.leaf_at(offset)
    if leaf is None:
        return Use("value", None, UNREAD)
    if (
        leaf.type == "("
        and leaf.parent is not None
        and leaf.parent.parent is not None
        and leaf.parent.type in ("arguments", "argument_list")
    ):
        return Use("call", leaf.parent.parent)
    if leaf.type in ("super", "this"):
        return _IDLE  # its calls are found where the class is named as a base, and by `unnamed_makings`
    if leaf.type not in NAMES:
        return Use("value", None, _IN_STRING if "string" in leaf.type else UNREAD)
    return _use_of(code, leaf)


def _use_of(code: Code, leaf: Node) -> Use:
    node, receiver = leaf, None
    while (parent := node.parent) is not None:
        if parent.type in _MEMBERS and node in (parent.child_by_field_name("property"), parent.child_by_field_name("field")):
            receiver = parent.child_by_field_name("object") or parent.child_by_field_name("operand")
        elif not (parent.type in _TRANSPARENT or _is_instance_of_generic(parent, node)):
            break
        node = parent
    if parent is None:
        return Use("value", None, UNREAD)
    if parent.type in _MEMBERS:
        return _attribute(code, parent, node)
    if parent.type in ("call_expression", "new_expression") and node in (
        parent.child_by_field_name("function"),
        parent.child_by_field_name("constructor"),
    ):
        arguments = parent.child_by_field_name("arguments")
        if arguments is None and parent.type == "new_expression":
            return Use("value", None, "it is constructed there without brackets")
        if arguments is None or arguments.type not in ("arguments", "argument_list"):
            return Use("value", None, "it is called there with a template")
        return Use("call", parent, "", receiver)
    if leaf.type == "shorthand_property_identifier":
        return Use("value", None, BLIND)
    return _IDLE if _is_idle(code, parent, node) else Use("value", None, _why(parent, node))


def _is_instance_of_generic(parent: Node, node: Node) -> bool:
    """`f[int]` of Go, whose call has it as a subscript, and `f<T>`."""
    if parent.type in ("instantiation_expression", "type_instantiation_expression"):
        return parent.named_children[0] == node
    if parent.type != "index_expression" or parent.child_by_field_name("operand") != node:
        return False
    around = parent.parent
    return around is not None and around.type == "call_expression" and around.child_by_field_name("function") == parent


def _attribute(code: Code, parent: Node, node: Node) -> Use:
    word = code.said(parent.child_by_field_name("property") or parent.child_by_field_name("field"))
    if word in _OF_A_FUNCTION:
        return _IDLE
    if word in ("call", "apply", "bind"):
        return Use("value", None, f"it is called there by '{word}'")
    return Use("value", None, "an attribute of it is read, and what that has to do with its parameters is not known")


def _is_idle(code: Code, parent: Node, node: Node) -> bool:
    if parent.type in _IMPORTS or parent.type in ("expression_statement", "jsx_closing_element"):
        return True
    if parent.type == "binary_expression":
        sign = parent.child_by_field_name("operator")
        said = code.said(sign) if sign is not None else ""
        return said in _COMPARES and (said != "&&" or parent.child_by_field_name("left") == node)
    if parent.type == "unary_expression":
        return True
    if parent.type in ("if_statement", "while_statement", "ternary_expression") and parent.child_by_field_name("condition") == node:
        return True
    if parent.type == "type_query":
        around = parent.parent
        generic = around.parent if around is not None and around.type == "type_arguments" else None
        named = generic.child_by_field_name("name") if generic is not None else None
        return named is not None and code.said(named) == "ReturnType"
    return False


def _why(parent: Node, node: Node) -> str:
    if parent.type in _ELEMENTS:
        return "as an element it is called with its properties"
    if parent.type == "decorator":
        return "as a decorator it is called with what it stands above"
    if parent.type == "type_query":
        return "a type is made of it there"
    if parent.type == "assignment_expression" and parent.child_by_field_name("left") == node:
        return "something else is put in its place"
    return BLIND


# ---- classes, of which a constructor is meant


def uses_of_class(code: Code, offset: int) -> list[Use]:
    """What a place that names a class does with its constructor."""
    leaf = code.leaf_at(offset)
    if leaf is not None and leaf.type == "super":
        return [_IDLE]  # its calls are found where the class is named as a base
    if leaf is None or leaf.type not in NAMES:
        return [Use("value", None, UNREAD)]
    node = leaf
    while node.parent is not None and node.parent.type in ("member_expression", "nested_type_identifier", "nested_identifier"):
        if node.parent.type == "member_expression" and node.parent.child_by_field_name("property") != node:
            break
        node = node.parent
    parent = node.parent
    if leaf.type == "type_identifier" or (parent is not None and parent.type in _TYPES):
        generic = parent.parent.parent if parent is not None and parent.type == "type_query" and parent.parent is not None else None
        named = generic.child_by_field_name("name") if generic is not None else None
        if named is not None and code.said(named) == "ConstructorParameters":
            return [Use("value", None, "a type is made of it there")]
        return [_IDLE]
    if parent is not None and parent.type in ("extends_clause", "class_heritage"):
        return list(_of_heritage(parent))
    if parent is not None and parent.type == "member_expression":
        return [_IDLE]  # a member of the class itself
    found = _use_of(code, leaf)
    if found.kind == "call" and found.call is not None and found.call.type != "new_expression":
        return [Use("value", None, BLIND)]
    return [found]


def _of_heritage(node: Node) -> Iterator[Use]:
    """Calls of `super` in a class; of one that has no constructor its own name says where it is made."""
    while node is not None and node.child_by_field_name("body") is None:
        node = node.parent
    if node is None:
        yield Use("value", None, UNREAD)
        return
    body = node.child_by_field_name("body")
    made_by = [child for child in body.named_children if child.type == "method_definition" and _is_constructor(child)]
    if not made_by and node.child_by_field_name("name") is None:
        yield Use("value", None, "a class without a name inherits it")
    for method in made_by:
        for inner in walk(method):
            if inner.type == "call_expression" and (called := inner.child_by_field_name("function")) is not None and called.type == "super":
                yield Use("call", inner)


def _is_constructor(method: Node) -> bool:
    name = method.child_by_field_name("name")
    return name is not None and name.text == b"constructor"


def unnamed_makings(code: Code, class_name: int) -> list[Node]:
    """Where the text of a class makes objects without naming it: `new this(…)`, `this.constructor`, `new.target`."""
    leaf = code.leaf_at(class_name)
    around = leaf.parent if leaf is not None else None
    if around is None or around.child_by_field_name("body") is None:
        return []
    found: list[Node] = []
    for node in walk(around):
        if node.type == "new_expression":
            made = node.child_by_field_name("constructor")
            if made is not None and made.type == "this":
                found.append(node)
        elif node.type == "meta_property" and node.text.startswith(b"new"):
            found.append(node)
        elif node.type == "member_expression":
            of, word = node.child_by_field_name("object"), node.child_by_field_name("property")
            if of is not None and of.type == "this" and word is not None and word.text == b"constructor":
                found.append(node)
    return found


# ---- arguments


class Call(NamedTuple):
    listing: Bracketed
    nodes: list[list[Node]]
    arguments: list[Argument]


def call_of(code: Code, node: Node) -> Call:
    listing, nodes = code.listed(node.child_by_field_name("arguments"))
    return Call(listing, nodes, [_argument(code, parts) for parts in nodes])


def _argument(code: Code, nodes: list[Node]) -> Argument:
    inner = [one for node in nodes for one in _run(node)]
    acts = any(one.type in _ACTS or (one.type == "unary_expression" and one.children and one.children[0].type == "<-") for one in inner)
    reads = acts or any(one.type in _READS or (one.type in _VARIABLES and _may_change(code, one)) for one in inner)
    spread = any(node.type in ("spread_element", "variadic_argument") for node in nodes)
    return Argument(spread, acts, reads, is_call=nodes[0].type == "call_expression")


_VARIABLES = ("identifier", "shorthand_property_identifier")
_BINDS = (
    *("required_parameter", "optional_parameter", "formal_parameters", "variable_declarator", "parameter_declaration", "import_specifier"),
    *("arrow_function", "const_spec", "function_declaration", "class_declaration", "import_clause", "namespace_import"),
)
_SETS = ("assignment_expression", "augmented_assignment_expression", "assignment_statement")


def _may_change(code: Code, node: Node) -> bool:
    """Whether another argument may set a variable: it is set somewhere in the file, or not bound in it."""
    is_bound = False
    for one in code.names.get(code.said(node), ()):
        parent = one.parent
        around = parent.parent if parent is not None and parent.type == "expression_list" else parent
        if around is None:
            continue
        if around.type in ("update_expression", "inc_statement", "dec_statement"):
            return True
        if around.type in _SETS and (around.child_by_field_name("left") in (one, parent)):
            return True
        is_bound = (
            is_bound or around.type in _BINDS or (around.type == "short_var_declaration" and around.child_by_field_name("left") == parent)
        )
    return not is_bound


def _run(node: Node) -> Iterator[Node]:
    """What runs when an expression is evaluated: not what a function in it does."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        if here.type not in ("arrow_function", "function_expression", "func_literal", "function_declaration"):
            waiting.extend(here.children)
