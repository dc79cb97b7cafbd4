"""Calls with what they hand over, and what definitions take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from indexer.model import Handed, Via


class Taken(NamedTuple):
    """Nodes of parameters: by place, by name, `*rest`, `**others`, and of all that a function is given."""

    by_place: list[int]
    by_name: dict[str, int]
    rest: int | None
    others: int | None
    every: int | None


@dataclass(slots=True)
class Signature:
    """One definition of a function, or a lambda.

    Attributes:
        parameters: (name, part by `Handed`, node) of each in order. this: the node of what it is called on, in languages in which that is
            no parameter; else -1, and it is the first one.
    """

    parameters: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    this: int = -1
    _taken: Taken | None = None

    def taken(self) -> Taken:
        """By whom arguments are taken; once all parameters are known."""
        if self._taken is None:
            listed = self.parameters
            self._taken = Taken(
                by_place=[node for _, part, node in listed if part == Handed.BY_PLACE],
                by_name={name: node for name, part, node in listed if part in (Handed.BY_PLACE, Handed.BY_NAME)},
                rest=next((node for _, part, node in listed if part == Handed.ALL), None),
                others=next((node for _, part, node in listed if part == Handed.ALL_NAMED), None),
                every=next((node for _, part, node in listed if part == Handed.EVERY), None),
            )
        return self._taken


class Begun(NamedTuple):
    """What `getattr(x, "visit_" + name)` may give: members of a value whose names begin so."""

    value: int
    beginning: str
    names: tuple[str, ...]


@dataclass(slots=True)
class Returned:
    """A call whose result a function returns.

    Attributes:
        function: who returns it. node: what of the result is not the function's own parameter.
        own: by place among the arguments (-1: what the method is taken of) or by keyword, the place of the function's own parameter.
    """

    function: int
    node: int
    own: dict[int | str, int] = field(default_factory=dict[int | str, int])


@dataclass(slots=True)
class Site:
    """A call, with the nodes of what it hands over. `row`: where it stands; -1 of what a library calls."""

    number: int
    row: int
    callee: int
    result: int
    given: list[int] = field(default_factory=list[int])
    named: dict[str, int] = field(default_factory=dict[str, int])
    keys: dict[str, int] = field(default_factory=dict[str, int])  # rows of the names of arguments
    spread: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # place, `*node`
    spread_named: list[int] = field(default_factory=list[int])
    told: str = ""
    via: Via = Via.NONE  # NONE: what stands in the row tells
    depth: int = 0  # calls on behalf of which it is made
    is_doubtful: bool = False  # an operation: what else may be operated on here has no rows
    is_of_rest: bool = False  # it calls items of a container that are more than a node keeps
    is_of_many: bool = False  # it calls one of the members of a name that is computed: more than are told as sure
    is_caller: bool = False  # it makes what calls a method by its name
    passed_on: Returned | None = None
    local: int = -1  # where the function that returns the result sees it
