"""What flows: functions, classes, objects of classes of the workspace, containers. A value is a number; `Values` says what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Sort:
    """What a value is, and what its two numbers are. Plain numbers: to compare members of an enum takes ten times as long."""

    FUNCTION = 0  # symbol
    BOUND = 1  # value that is called, value that it gets first
    CLASS = 2  # symbol
    OBJECT = 3  # symbol of its class; of a descriptor, 1 + number of the call that made it
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
    TEXT = 18  # number of a constant text that may be a name
    MEMBERS = 19  # symbol of a class: any of its members, `inspect.getmembers(A)`
    COPIES = 20  # function that wraps each, symbol of a class: its members under their names, in another class
    PROPERTY = 22  # number of the call of `property` that made it
    GETTER = 23  # number of the call of `attrgetter` or `methodcaller` that made it
    ACCESSOR = 24  # symbol of what runs where a property of an object that has no class is read or set
    FIELDS = 25  # number of the call of `namedtuple` that made it
    REGISTER = 26  # symbol of the function that `singledispatch` made one of several
    COPIED = 21  # function that wraps it, the member that it wraps as it is called
    HELD_BACK = 27  # number of the call of `partialmethod` that made it, value that is called: as PARTIAL, behind the object
    ITEM_GETTER = 30  # number of the call of `itemgetter` that made it
    MODULE = 31  # symbol of a file, as a value that is handed over or looked up
    RECORDS = (
        33  # symbol of a model of Django, -1 for any; symbol of the class whose methods the set of its records has, -1 for Django's alone
    )
    LATER = 34  # value that is called with the arguments that it is given as one: what a task of Celery is run by
    PROXY = 32  # number of the call that made it, value of the object with its traps
    MAKER = 28  # symbol of a metaclass: what `super().__new__` is in it, which gives the classes that it makes
    ELEMENT = 35  # number of a container: the items of it that are more than a node keeps
    BEGUN = 36  # number of what `getattr(x, "visit_" + name)` may give (`indexer.store.flow.calls.begun`)
    MADE_BY = 29  # symbol of a class: what `super().__call__` is in its metaclass, which makes an object of it


OF_TEXTS: dict[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper, "toLowerCase": str.lower, "toUpperCase": str.upper}
"""Methods of texts that give another name."""


class Value(NamedTuple):
    sort: int
    first: int
    second: int


class Values:
    """All values by number; equal ones have one number. Texts have numbers below 0: a node keeps them apart (`Graph.put`)."""

    def __init__(self) -> None:
        self._known: list[Value] = []
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._texts: list[str] = []
        self._text_numbers: dict[str, int] = {}

    def number(self, sort: int, first: int = 0, second: int = 0) -> int:
        key = (sort, first, second)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._known)
            self._known.append(Value(sort, first, second))
        return found

    def text(self, content: str) -> int:
        """The value of a constant text."""
        found = self._text_numbers.get(content)
        if found is None:
            self._texts.append(content)
            found = self._text_numbers[content] = -len(self._texts)
        return found

    def of_class(self, number: int) -> int:
        """Of an object that is told apart from others of its class any of that class; of other values themselves."""
        sort, first, second = self[number]
        return self.number(Sort.OBJECT, first) if sort == Sort.OBJECT and second else number

    def content(self, number: int) -> str:
        """Of a text; "" of any other value."""
        return self._texts[-1 - number] if number < 0 else ""

    def __getitem__(self, number: int) -> Value:
        return self._known[number] if number >= 0 else Value(Sort.TEXT, -1 - number, 0)
