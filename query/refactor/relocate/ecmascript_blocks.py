"""Which lines of a module of TypeScript or JavaScript a definition is, and what else stands at its top."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from indexer.errors import EditRefused, UsageError
from query.refactor.positional.source import Code, Node, walk
from query.refactor.relocate.around import comments_above, whole_lines
from query.refactor.relocate.modules import exports_of_own, is_readable

_FUNCTIONS = ("function_declaration", "generator_function_declaration", "function_signature")
_TYPES = ("interface_declaration", "type_alias_declaration")
_ALONE = (*_FUNCTIONS, *_TYPES, "class_declaration", "abstract_class_declaration", "enum_declaration")
_VARIABLES = ("lexical_declaration", "variable_declaration")
_OF_FILE = re.compile(r"^(?:#!|///|/\*!)|@license|copyright|@ts-(?:no)?check|eslint-disable(?!-)|@jsx", re.IGNORECASE)
_TRIES = ("identifier", "type_identifier")


class Declared(NamedTuple):
    """A name that is declared at the top of a module.

    statement: the node at the top, `export …` too. node: the declaration. is_exported: by a word before it. is_default: as `default`.
    can_change: something else may be assigned to it.
    """

    name: str
    statement: Node
    node: Node
    is_exported: bool
    is_default: bool
    can_change: bool

    @property
    def is_type(self) -> bool:
        return self.node.type in _TYPES


class Block(NamedTuple):
    """declared: its declarations, of a function with overloads each. start, end: of their whole lines, comments above them too."""

    name: str
    declared: list[Declared]
    start: int
    end: int

    def holds(self, offset: int) -> bool:
        return self.start <= offset < self.end


def declared_in(code: Code) -> Iterator[Declared]:
    """What stands at the top of a module, in the order of the text."""
    for statement in code.root.named_children:
        node, is_exported = statement, False
        if statement.type == "export_statement":
            node = statement.child_by_field_name("declaration")
            is_exported = True
        if node is None:
            continue
        is_default = any(child.type == "default" for child in statement.children)
        inner = node.named_children[0] if node.type in ("ambient_declaration", "expression_statement") and node.named_children else node
        if node.type in _VARIABLES:
            can_change = not code.said(node).startswith("const")
            for one in node.named_children:
                target = one.child_by_field_name("name") if one.type == "variable_declarator" else None
                for name in (found for found in walk(target) if found.type in _BOUND) if target is not None else ():
                    yield Declared(code.said(name), statement, node, is_exported, is_default, can_change)
        elif (name := inner.child_by_field_name("name")) is not None and inner.type not in ("call_expression",):
            yield Declared(code.said(name), statement, node, is_exported, is_default, False)


_BOUND = (*_TRIES, "shorthand_property_identifier_pattern")


def block_of(code: Code, name: str, offset: int) -> Block:
    """The block of what is named at an offset.

    Raises:
        UsageError: it does not stand at the top of the module. EditRefused: it cannot be moved by its text.
    """
    leaf = code.leaf_at(offset)
    found = [one for one in declared_in(code) if one.name == name]
    if leaf is None or not is_readable(code) or any(one.statement.has_error for one in found):
        raise EditRefused(f"the text of '{code.path}' is not understood, so nothing is moved out of it")
    if not any(one.statement.start_byte <= leaf.start_byte < one.statement.end_byte for one in found):
        raise UsageError(f"'{name}' is no function, class, type or variable at the top of a module")
    kinds = {one.node.type for one in found}
    if unknown := kinds - {*_ALONE, *_VARIABLES}:
        raise EditRefused(f"'{name}' is declared in a form that is not moved ({', '.join(sorted(unknown))})")
    if len(found) > 1 and not kinds <= set(_FUNCTIONS):
        raise EditRefused(f"'{name}' is declared in more than one place of '{code.path}', which belong together")
    first = found[0]
    if first.is_default:
        raise EditRefused(f"'{name}' is what '{code.path}' exports as default; export it by its name first")
    if first.node.type in _VARIABLES:
        declarators = [one for one in first.node.named_children if one.type == "variable_declarator"]
        target = declarators[0].child_by_field_name("name")
        if len(declarators) > 1 or target is None or target.type not in _TRIES:
            raise EditRefused(f"'{name}' is declared together with others; part them first")
    _check_exports(code, name)
    start, end = whole_lines(code, _without_notes(code, first.statement), code.end(found[-1].statement))
    between = code.root.named_children
    inside = [one for one in between if first.statement.start_byte <= one.start_byte <= found[-1].statement.start_byte]
    if any(one.type != "comment" and one not in [item.statement for item in found] for one in inside):
        raise EditRefused(f"between the overloads of '{name}' something else stands")
    return Block(name, found, start, end)


def _without_notes(code: Code, statement: Node) -> int:
    """Where the comments above a statement begin, without those that are about the file."""
    start = comments_above(code, statement)
    at = code.start(statement)
    for node in reversed(code.root.named_children):
        if node.type == "comment" and start <= code.start(node) < at:
            if _OF_FILE.search(code.said(node)):
                return at
            at = code.start(node)
    return start


def _check_exports(code: Code, name: str) -> None:
    for _, item in exports_of_own(code):
        if item.name == name and item.local != name:
            raise EditRefused(f"'{code.path}' exports '{name}' as '{item.local}'; export it by its own name first")
    for node in code.root.named_children:
        value = node.child_by_field_name("value") if node.type == "export_statement" else None
        if value is not None and code.said(value) == name:
            raise EditRefused(f"'{name}' is what '{code.path}' exports as default; export it by its name first")
        if node.type == "export_statement" and value is None and code.said(node).startswith("export ="):
            raise EditRefused(f"'{code.path}' exports one value ('export ='), which is not moved")


def directives(code: Code) -> list[str]:
    """Strings at the top that say how the file is taken, such as 'use client'."""
    found: list[str] = []
    for node in code.root.named_children:
        if node.type == "comment":
            continue
        inner = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
        if inner is None or inner.type != "string":
            break
        found.append(code.said(inner)[1:-1])
    return found
