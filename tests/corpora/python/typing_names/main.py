from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Generic, Literal, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T", bound="Node")


class Node(Generic[T]):
    children: list[Node]
    parent: "Node | None" = None
    kind: Literal["Node"] = "Node"

    def add(self, child: Annotated["Node", "T"]) -> Self:
        self.children.append(child)
        return self

    def chain(self, items: Sequence[Node]) -> Node:
        return self.add(items[0]).add(items[1])


def root(node: "Node") -> Node | None:
    return node.parent and node.parent.chain([])
