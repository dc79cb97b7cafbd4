"""What flows: functions, classes, objects of classes of the workspace, containers. A value is a number; `Values` says what it is."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Sort(IntEnum):
    """What a value is, and what its two numbers are."""

    FUNCTION = 0  # symbol
    BOUND = 1  # value that is called, value that it gets first
    CLASS = 2  # symbol
    OBJECT = 3  # symbol of its class
    LAMBDA = 4  # row
    CONTAINER = 5  # number of its site
    PARTIAL = 6  # number of the call that made it, value that is called
    METHOD = 7  # of a container: number of its name, value
    SUPER = 8  # symbol of the class that is left out, value
    DECORATED = 9  # value that is called, symbol of the function that was decorated
    MANAGER = 10  # symbol of the function of which `contextmanager` makes managers
    MANAGED = 11  # the same: a manager
    OUTSIDE = 12  # symbol
    UNCHANGED = 13  # a function that gives back what it is given
    UNBOUND = 14  # value that no object is put before: of `staticmethod`
    BUILTIN = 15  # number of its dotted name: what the language provides under it
    PROTOTYPE = 16  # symbol of the function or class whose objects have its members
    ABOVE = 17  # symbol of the class that is left out, node of the object: `super` where it is called


class Value(NamedTuple):
    sort: Sort
    first: int
    second: int


class Values:
    """All values by number; equal ones have one number."""

    def __init__(self) -> None:
        self.known: list[Value] = []
        self._numbers: dict[tuple[int, int, int], int] = {}

    def number(self, sort: Sort, first: int = 0, second: int = 0) -> int:
        key = (sort, first, second)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.known)
            self.known.append(Value(sort, first, second))
        return found

    def __getitem__(self, number: int) -> Value:
        return self.known[number]
