"""Small questions to the tree and the folders that a move in TypeScript asks."""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from query.edits.scope import Scope
from query.refactor.positional.source import Node


def package_of(scope: Scope, path: str) -> str:
    """The folder of the package.json that a file belongs to."""
    folder = path.rpartition("/")[0]
    while folder and scope.read(f"{folder}/package.json") is None:
        folder = folder.rpartition("/")[0]
    return folder


def shared(one: str, other: str) -> int:
    """How many folders two paths begin with in common."""
    return len(posixpath.commonpath([f"/{one}", f"/{other}"]).split("/"))


def qualifier(leaf: Node) -> Node | None:
    """`a` of `a.name`."""
    parent = leaf.parent
    if parent is not None and parent.type in ("member_expression", "nested_type_identifier", "nested_identifier"):
        first = parent.named_children[0]
        return first if first != leaf and first.type == "identifier" else None
    return None


def within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def is_of(node: Node, taken: Collection[Node | None], declared: Node) -> bool:
    return within(node, declared) or any(one is not None and one.start_byte == node.start_byte for one in taken)


def sets(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    return parent.type == "update_expression" or (
        parent.type in ("assignment_expression", "augmented_assignment_expression") and parent.child_by_field_name("left") == node
    )
