"""Properties that assignments make: what identifiers mean that no declaration names, where the object is known.

`context.state = {}` makes a property of the object that `context` holds. Who reads it of that object means the assignment that makes it
(`Rank`), which becomes a symbol where it is none yet. Objects are those that flow: told apart by class, or by where they are made.

Nothing is told where objects meet in which different assignments make the property, where it is made in a file that has nothing to do with
the object, or where somebody whom nobody knows may have given it to the object.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.text.program import Program

_HIDDEN = 1 << 40
"""What stands for a property of which nothing is told: no symbol has such a number."""

_MOST_ABOVE = 100
"""Objects that are asked for one property, each above the one before."""


class Rank(IntEnum):
    """How near an assignment is to where the object is made: the nearest one makes the property."""

    KEY = 0  # of the literal
    MADE = 1  # where it is made: in the same text that runs, or by `this` in what constructs it
    METHOD = 2  # by `this` elsewhere, in whatever file
    FILE = 3  # in the file where it is made
    BEYOND = 4  # in another file


class Made(NamedTuple):
    """Where the object of a holder is made: file, -1 for unknown; and what runs there, by symbol."""

    doc: int = -1
    bodies: Collection[int] = ()


class _Property(NamedTuple):
    """How near the assignment is that makes it, what it means as `Teller._symbol` says, and in which file it is made."""

    rank: Rank
    meant: int
    doc: int


@dataclass(slots=True)
class Properties:
    """What is known of them while values flow. A holder is the number of a value: of an object, or a function, that has properties.

    Attributes:
        set_at: by holder and name the rows that make a property of that name.
        above: by holder, others whose properties it has where it has none of its own.
        asked: by row of an identifier that the server left open, the holders of which it is taken, with its name.
        handed: holders that somebody whom nobody knows was given where their file is loaded, or has made: what they have nobody knows.
        mixed: holders that were given properties of what is outside of the workspace.
        hidden: properties, by holder and name, of which nothing is told.
        everywhere: holders of which all files are.
        through_this: rows that set a property of `this`. names_at: by row that sets properties under names which are values, that of the
            variable that holds them.
    """

    set_at: dict[tuple[int, str], dict[int, None]] = field(default_factory=dict[tuple[int, str], "dict[int, None]"])
    above: dict[int, dict[int, None]] = field(default_factory=dict[int, "dict[int, None]"])
    asked: dict[int, dict[tuple[int, str], None]] = field(default_factory=dict[int, "dict[tuple[int, str], None]"])
    handed: set[int] = field(default_factory=set[int])
    mixed: set[int] = field(default_factory=set[int])
    hidden: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    everywhere: set[int] = field(default_factory=set[int])
    through_this: set[int] = field(default_factory=set[int])
    names_at: dict[int, int] = field(default_factory=dict[int, int])

    def set(self, holder: int, name: str, row: int) -> None:
        self.set_at.setdefault((holder, name), {})[row] = None

    def inherit(self, holder: int, above: int) -> None:
        if holder != above:
            self.above.setdefault(holder, {})[above] = None

    def ask(self, row: int, holder: int, name: str) -> None:
        self.asked.setdefault(row, {})[holder, name] = None


@dataclass(slots=True)
class Told:
    """What the rows of identifiers mean.

    Attributes:
        made: rows that become symbols, in order, with the name of the property.
        meant: by row the symbol that it means; below 0, as -1 - place, one in `made`.
    """

    made: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    meant: dict[int, int] = field(default_factory=dict[int, int])


class Teller:
    """Says which identifiers mean which property.

    Args:
        read: rows of which it is told already what they mean.
        above_of: holders that a declaration puts above one. made_at: where one is made.
    """

    def __init__(
        self,
        properties: Properties,
        program: Program,
        read: Collection[int],
        above_of: Callable[[int], Iterable[int]],
        made_at: Callable[[int], Made],
    ) -> None:
        self._properties = properties
        self._program = program
        self._read = read
        self._above_of = above_of
        self._made_at = made_at
        self._known: dict[tuple[int, str], _Property | None] = {}
        self._rows: list[tuple[int, str]] = []
        self._numbers: dict[tuple[int, str], int] = {}

    def tell(self) -> Told:
        properties, program, read = self._properties, self._program, self._read
        meanings: dict[int, set[int]] = {}
        for (holder, name), rows in properties.set_at.items():
            for row in rows:
                if row not in read and not program.means.get(row) and program.kind[row] != Kind.SET_ITEM:
                    meant = self._found(holder, name, program.doc[row])
                    if meant is not None:
                        meanings.setdefault(row, set()).add(meant)
        for row, holders in properties.asked.items():
            if row not in read:
                doc = program.doc[row]
                found = (self._found(holder, name, doc) for holder, name in holders if self._is_seen(holder, doc))
                meanings.setdefault(row, set()).update(meant for meant in found if meant is not None)
        of_rows = {row: meant.pop() for row, meant in sorted(meanings.items()) if len(meant) == 1 and _HIDDEN not in meant}
        told = Told(made=sorted({self._rows[-1 - meant] for meant in of_rows.values() if meant < 0}))
        place = {key: number for number, key in enumerate(told.made)}
        told.meant = {row: meant if meant >= 0 else -1 - place[self._rows[-1 - meant]] for row, meant in of_rows.items()}
        for number, (row, _) in enumerate(told.made):
            if program.kind[row] != Kind.SET_ITEM:
                told.meant[row] = -1 - number
        return told

    def _is_seen(self, holder: int, doc: int) -> bool:
        """Whether a file may see an object: of a test that no other file uses anything of, none; though both may call the same helper."""
        made = self._made_at(holder).doc
        program = self._program
        return made == doc or made not in program.tests or doc not in program.tests or bool(program.users.get(made))

    def _found(self, holder: int, name: str, doc: int) -> int | None:
        """The property that one has by a name in a file, of its own or of what is above it; None for none that is known."""
        handed, mixed, tests = self._properties.handed, self._properties.mixed, self._program.tests
        nearest: _Property | None = None
        for each in self._line(holder):
            if nearest is None and (each, name) in self._properties.hidden:
                return _HIDDEN
            nearest = nearest or self._own(each, name) or self._of_test(each, name, doc)
            if nearest is not None and nearest.doc in tests and doc not in tests:
                return None  # of all who hand something over here, tests are those that are known
            if nearest is not None and (nearest.rank <= Rank.MADE or nearest.meant >= 0):
                return nearest.meant
            if each in handed or (each in mixed and nearest is not None and nearest.rank > Rank.METHOD):
                return None
        return None if nearest is None else nearest.meant

    def _own(self, holder: int, name: str) -> _Property | None:
        """The property that assignments make of a holder itself: as `_symbol` says."""
        key = (holder, name)
        if key not in self._known:
            made = self._made_at(holder)
            is_everywhere = holder in self._properties.everywhere
            ranked = sorted((self._rank(row, made), row) for row in self._properties.set_at.get(key, ()) if row not in self._read)
            if is_everywhere and len({self._program.doc[row] for _, row in ranked}) > 1:
                ranked = []
            best = next((self._property(rank, row, name) for rank, row in ranked if rank < Rank.BEYOND or is_everywhere), None)
            self._known[key] = best or self._beyond(made.doc, [row for _, row in ranked], name)
        return self._known[key]

    def _beyond(self, doc: int, rows: list[int], name: str) -> _Property | None:
        """What one other file alone gives an object that it is handed; tests do not count."""
        program = self._program
        rows = [row for row in rows if program.doc[row] not in program.tests]
        is_one = doc >= 0 and doc not in program.tests and len({program.doc[row] for row in rows}) == 1
        return self._property(Rank.BEYOND, rows[0], name) if is_one else None

    def _of_test(self, holder: int, name: str, doc: int) -> _Property | None:
        """What a test sets of an object that another file makes: it is a property in that test."""
        program = self._program
        if doc not in program.tests:
            return None
        rows = [row for row in self._properties.set_at.get((holder, name), ()) if program.doc[row] == doc and row not in self._read]
        return self._property(Rank.BEYOND, min(rows), name) if rows else None

    def _line(self, holder: int) -> Iterator[int]:
        """A holder, and what is asked for a property that it lacks, nearest first; each once."""
        line: dict[int, None] = {holder: None}
        left = [holder]
        while left and len(line) < _MOST_ABOVE:
            each = left.pop(0)
            yield each
            for above in (*self._properties.above.get(each, ()), *self._above_of(each)):
                if above not in line:
                    line[above] = None
                    left.append(above)

    def _property(self, rank: Rank, row: int, name: str) -> _Property:
        return _Property(rank, self._symbol(row, name), self._program.doc[row])

    def _symbol(self, row: int, name: str) -> int:
        """The symbol that the text, or the server, has at an assignment already; else -1 and the place of the assignment in `_rows`."""
        program = self._program
        known = next((sym_id for sym_id in program.means.get(row, ()) if not program.is_outside(sym_id)), -1)
        if known >= 0:
            return known
        key = (row, name)
        if key not in self._numbers:
            self._numbers[key] = len(self._rows)
            self._rows.append(key)
        return -1 - self._numbers[key]

    def _rank(self, row: int, made: Made) -> Rank:
        program = self._program
        if program.kind[row] == Kind.KEY:
            return Rank.KEY
        if program.body[row] in made.bodies and program.doc[row] == made.doc:
            return Rank.MADE
        if row in self._properties.through_this:
            return Rank.METHOD
        return Rank.FILE if program.doc[row] == made.doc else Rank.BEYOND
