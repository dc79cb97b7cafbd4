"""The head of a function: its parameters as the text has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from query.refactor.parameters.bracketed import Bracketed
from query.refactor.positional.placing import Parameter
from query.refactor.positional.source import NAMES, Code, Node, walk

_FUNCTIONS = ("arrow_function", "function_expression", "generator_function", "function_type", "func_literal")
_HOLDS_A_VALUE = ("variable_declarator", "public_field_definition", "field_definition", "pair", "assignment_expression")
_AROUND_A_VALUE = ("parenthesized_expression", "as_expression", "satisfies_expression")
_ACCESSORS = ("get", "set")
_BLANK = "_"


class Item(NamedTuple):
    """A parameter in a head. name: the node of its name; None of one without (`{a, b}`, `int` of Go).

    binds: the nodes of all names that it binds. of_type: Go's type, where it stands behind it or behind others of the same type.
    shares: the type stands behind a later one. is_member: it declares a member of the class, too.
    """

    parameter: Parameter
    name: Node | None
    binds: tuple[Node, ...]
    nodes: tuple[Node, ...]
    of_type: str = ""
    shares: bool = False
    is_member: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """function: the node of the function, or of its declaration without a body. name: where its name stands.

    listing: what stands in the brackets; None of `x => …`, whose parameter is `bare`. own: how many elements come before the parameters
    (`this: T`). is_accessor: it is a getter or a setter. is_typed: what it is assigned to says its parameters, too.
    is_value: it, or its class, is written where a value stands, and whoever gets that calls it. decorators: those of the function and
    of its parameters.
    """

    code: Code
    function: Node
    name: Node
    listing: Bracketed | None
    bare: Node | None
    own: int
    items: list[Item] = field(default_factory=list[Item])
    is_accessor: bool = False
    is_typed: bool = False
    is_value: bool = False
    decorators: tuple[str, ...] = ()

    @property
    def parameters(self) -> list[Parameter]:
        return [item.parameter for item in self.items]

    @property
    def body(self) -> Node | None:
        return self.function.child_by_field_name("body")


def heads_at(code: Code, offset: int) -> list[Head]:
    """The function whose name stands at an offset, with what is declared of the same name beside it: overloads."""
    name = code.leaf_at(offset)
    found = None if name is None else _function_of(name)
    if name is None or found is None:
        return []
    function, declaration = found
    others = _beside(code, declaration, code.said(name)) if declaration is function else []
    return [_head(code, function, name, declaration), *(_head(code, node, node.child_by_field_name("name"), node) for node in others)]


def _function_of(name: Node) -> tuple[Node, Node] | None:
    """The function that a name declares, and what declares it."""
    parent = name.parent
    if parent is None:
        return None
    if parent.child_by_field_name("parameters") is not None and parent.child_by_field_name("name") == name:
        return parent, parent
    if parent.type == "member_expression" and parent.parent is not None and parent.parent.child_by_field_name("left") == parent:
        parent = parent.parent
    if parent.type == "property_signature":
        value = parent.child_by_field_name("type")
        value = value.named_children[0] if value is not None and value.named_children else None
    elif parent.type in _HOLDS_A_VALUE:
        value = parent.child_by_field_name("value") or parent.child_by_field_name("right")
        if name in (value, parent.child_by_field_name("type")):
            return None
    else:
        return None
    while value is not None and value.type in _AROUND_A_VALUE:
        value = value.named_children[0]
    return (value, parent) if value is not None and value.type in _FUNCTIONS else None


def _beside(code: Code, declaration: Node, name: str) -> list[Node]:
    """Other declarations of a name in the same block or class."""
    around = declaration.parent
    while around is not None and around.type in ("export_statement", "ambient_declaration"):
        around = around.parent
    if around is None or around.type == "object" or code.language.parameters == "name type":
        return []
    found: list[Node] = []
    for child in around.named_children:
        node = child
        while node.type in ("export_statement", "ambient_declaration") and node.named_children:
            node = node.child_by_field_name("declaration") or node.named_children[-1]
        own = node.child_by_field_name("name")
        if node != declaration and own is not None and node.child_by_field_name("parameters") is not None and code.said(own) == name:
            found.append(node)
    return [node for node in found if _is_static(node) == _is_static(declaration)]


def _is_static(node: Node) -> bool:
    return any(child.type == "static" for child in node.children)


def _head(code: Code, function: Node, name: Node, declaration: Node) -> Head:
    listed = function.child_by_field_name("parameters")
    bare = function.child_by_field_name("parameter")
    listing, elements = code.listed(listed) if listed is not None else (None, [[bare]] if bare is not None else [])
    own = 1 if elements and any(child.type == "this" for child in elements[0][0].children) else 0
    is_go = code.language.parameters == "name type"
    items = [(_go_item if is_go else _item)(code, nodes, number) for number, nodes in enumerate(elements[own:])]
    is_typed = declaration is not function and (
        declaration.child_by_field_name("type") is not None and declaration.type != "property_signature"
    )
    return Head(
        code=code,
        function=function,
        name=name,
        listing=listing,
        bare=bare if listed is None else None,
        own=own,
        items=items,
        is_accessor=any(child.type in _ACCESSORS for child in function.children),
        is_typed=is_typed or _is_expected(declaration),
        is_value=_is_value(declaration, code.said(name)),
        decorators=tuple(_decorators(code, declaration, listed)),
    )


def _is_expected(declaration: Node) -> bool:
    """Whether it is a member of an object that is written out: what takes the object may say what it is."""
    return declaration.parent is not None and declaration.parent.type == "object"


def _is_value(declaration: Node, name: str) -> bool:
    if declaration.type in ("function_expression", "generator_function"):
        return True
    owner = declaration.parent.parent if declaration.parent is not None else None
    if name != "constructor" or owner is None or owner.type != "class" or owner.parent is None:
        return False
    return owner.parent.type not in _HOLDS_A_VALUE


def _decorators(code: Code, declaration: Node, listed: Node | None) -> Iterator[str]:
    before = declaration.prev_named_sibling
    while before is not None and before.type in ("decorator", "comment"):
        if before.type == "decorator":
            yield code.said(before)
        before = before.prev_named_sibling
    inside = [*declaration.children, *(part for item in (listed.children if listed is not None else ()) for part in item.children)]
    yield from (code.said(node) for node in inside if node.type == "decorator")


def _item(code: Code, nodes: list[Node], number: int) -> Item:
    """A parameter of ECMAScript."""
    node = nodes[0]
    pattern = (
        node.child_by_field_name("pattern") or (node.child_by_field_name("left") if node.type == "assignment_pattern" else None) or node
    )
    is_rest = pattern.type == "rest_pattern"
    value = node.child_by_field_name("value") if node.type != "assignment_pattern" else node.child_by_field_name("right")
    inner = pattern.named_children[0] if is_rest and pattern.named_children else pattern
    name = inner if inner.type == "identifier" else None
    is_marked = node.type == "optional_parameter"
    types = ("identifier", "shorthand_property_identifier_pattern")
    said = code.said(name) if name is not None else f"#{number + 1}"
    return Item(
        Parameter(said, is_rest, is_optional=is_marked or value is not None, may_follow=not is_marked, was=number),
        name,
        tuple(one for one in walk(inner) if one.type in types),
        tuple(nodes),
        is_member=any(child.type in ("accessibility_modifier", "readonly", "override_modifier") for child in node.children),
    )


def _go_item(code: Code, nodes: list[Node], number: int) -> Item:
    declaration = nodes[0].parent
    named = declaration.children_by_field_name("name")
    of_type = declaration.child_by_field_name("type")
    name = nodes[0] if nodes[0] in named else None
    said = code.said(name) if name is not None else ""
    is_rest = declaration.type == "variadic_parameter_declaration"
    return Item(
        Parameter(said if said not in ("", _BLANK) else f"#{number + 1}", is_rest, was=number),
        name,
        (name,) if name is not None and said != _BLANK else (),
        tuple(nodes),
        of_type=("..." if is_rest else "") + (code.said(of_type) if of_type is not None else ""),
        shares=name is not None and len(nodes) == 1,
    )


def is_name(node: Node) -> bool:
    return node.type in NAMES
