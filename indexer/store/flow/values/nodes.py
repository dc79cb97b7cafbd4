"""Where values arrive: rows, then symbols, then what is made on the way.

That is results of functions, attributes without a symbol, items of containers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexer.store.flow.text.program import Program
from indexer.store.flow.values.families import Families
from indexer.store.flow.values.graph import MOST_TEXTS, MOST_VALUES, Graph
from indexer.store.flow.values.value import Sort, Values

MOST_STEPS = 4_000_000


class Nodes:
    """Holds the graph, and the nodes that are made on the way, by what they stand for."""

    most_texts = MOST_TEXTS
    names_of_language: frozenset[str] = frozenset()
    """Methods of the language's own types, of which nothing flows: of what may be of such a one, a method of that name is only possible."""
    has_records = False
    """Whether objects without a class have properties."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.symbols_at = len(program.kind)
        self.graph = Graph(self.symbols_at + len(program.kinds), most_steps=MOST_STEPS, most_texts=self.most_texts)
        self.values = Values()
        self.families = Families(program, self.values)
        self.graph.cover = self.families.cover
        self._results: dict[int, int] = {}
        self._yields: dict[int, int] = {}
        self._of_class: dict[int, int] = {}
        self._attributes: dict[tuple[int, str], int] = {}
        self._slots: dict[int, dict[str, int]] = {}
        self._any_slot: dict[int, int] = {}
        self._keys: dict[int, int] = {}
        self._sent: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._containers: dict[object, int] = {}
        self.lengths: dict[int, int] = {}  # by number of a container that a literal makes: how many elements it has at least
        self._mappings: set[int] = set()
        self.from_places: set[int] = set()  # numbers of containers of which a call may hand over items at any place from one on
        self._names: dict[str, int] = {}
        self._named: list[str] = []
        self.held_by_kind: dict[int, int] = {}  # by class: the container of what its objects hold (`indexer.store.flow.values.provided`)
        self.opened: set[int] = set()  # modules whose names are items of `globals()`
        self.setting_defaults: frozenset[int] | None = None  # files that set defaults of arguments (`indexer.store.flow.calls.parsers`)
        self.by_name: set[int] = set()  # numbers of containers of which items are taken by names that are known only
        self.spaces: set[int] = set()  # containers whose items are attributes
        self.patterns: set[str] = set()  # of names that are made of a word, `get_%_id`, by which something is set
        self._patterns_of: dict[str, list[str]] = {}  # by name
        self._slot_watchers: dict[int, list[Callable[[str, int], None]]] = {}

    def clear(self) -> None:
        self.graph.clear()
        self._slot_watchers.clear()

    def once(self, watcher: Callable[[int], None]) -> Callable[[int], None]:
        """A watcher that sees each value once."""
        seen: set[int] = set()

        def watch(value: int) -> None:
            if value not in seen:
                seen.add(value)
                watcher(value)

        return watch

    def symbol(self, sym_id: int) -> int:
        return self.symbols_at + sym_id

    def of_class(self, sym_id: int) -> int:
        """What the text of a class sets a member to: functions there are given their object."""
        return self._node(self._of_class, sym_id)

    def result(self, sym_id: int) -> int:
        return self._node(self._results, sym_id)

    def yields(self, sym_id: int) -> int:
        return self._node(self._yields, sym_id)

    def attribute(self, owner: int, name: str) -> int:
        """An attribute that no symbol stands for; `owner`: a class, or -1 - value of a function."""
        return self._node(self._attributes, (owner, name))

    def _node(self, known: dict[Any, int], key: object) -> int:
        found = known.get(key)
        if found is None:
            found = known[key] = self.graph.node()
        return found

    # ---- items of containers

    def container(self, site: object, *, is_mapping: bool = False) -> int:
        """The value of the container that is made at a site; who iterates over a mapping gets its keys."""
        number = self._containers.setdefault(site, len(self._containers))
        if is_mapping:
            self._mappings.add(number)
        return self.values.number(Sort.CONTAINER, number)

    def is_mapping(self, container: int) -> bool:
        return self.values[container].first in self._mappings

    def slot(self, container: int, key: str) -> int:
        """The item of a container by its key, or any other item; what goes there is among `all_of`.

        Of a table of more items than a node keeps, one more value stands for the rest of them.
        """
        number = self.values[container].first
        slots = self._slots.setdefault(number, {})
        if len(slots) >= 1_000:
            key = ""
        found = slots.get(key)
        if found is None:
            found = slots[key] = self.graph.node()
            if number not in self.by_name:
                self.graph.copy(found, self.all_of(container))
                if len(slots) == MOST_VALUES:
                    self.graph.stand_for_rest(self.all_of(container), self.values.number(Sort.ELEMENT, number))
            for watcher in tuple(self._slot_watchers.get(number, ())):
                watcher(key, found)
        return found

    def place(self, container: int, key: str) -> str:
        """Of a key that counts from the end, as in `x[-1]`, the one that counts from the start, "" where nobody knows; of others itself."""
        if key[:2] != "i-" or self.is_mapping(container):
            return key
        place = self.lengths.get(self.values[container].first, 0) - int(key[2:])
        return f"i{place}" if place >= 0 else ""

    def has_slot(self, container: int, key: str) -> bool:
        return key in self._slots.get(self.values[container].first, ())

    def all_of(self, container: int) -> int:
        return self._node(self._any_slot, self.values[container].first)

    def items_of(self, number: int) -> list[int]:
        """The nodes of the items of a container by its number, as far as they are known by now."""
        return list(self._slots.get(number, {}).values())

    def elements(self, container: int) -> int:
        """What who iterates over a container gets."""
        return self.keys(container) if self.values[container].first in self._mappings else self.all_of(container)

    def sent(self, container: int) -> int:
        """What a generator is given by `send`."""
        return self._node(self._sent, self.values[container].first)

    def ends(self, container: int) -> int:
        """What a generator returns: the value of `yield from`."""
        return self._node(self._ends, self.values[container].first)

    def keys(self, container: int) -> int:
        return self._node(self._keys, self.values[container].first)

    def each_slot(self, container: int, watcher: Callable[[str, int], None]) -> None:
        """Hands over (key, node) of all items that there are and will be."""
        number = self.values[container].first
        self._slot_watchers.setdefault(number, []).append(watcher)
        for key, node in list(self._slots.get(number, {}).items()):
            watcher(key, node)

    def method_name(self, number: int) -> str:
        return self._named[number]

    def method(self, name: str, container: int) -> int:
        number = self._names.get(name)
        if number is None:
            number = self._names[name] = len(self._named)
            self._named.append(name)
        return self.values.number(Sort.METHOD, number, container)

    def classes_at(self, node: int) -> set[int]:
        """Classes that a node may hold."""
        return {first for sort, first, _ in map(self.values.__getitem__, self.graph.values(node)) if sort == Sort.CLASS}

    def patterns_for(self, name: str) -> list[str]:
        """The longest pattern that a name is of."""
        found = self._patterns_of.get(name)
        if found is None:
            parts = ((pattern, *pattern.split("%")) for pattern in self.patterns)
            fitting = [each for each, begin, end in parts if name.startswith(begin) and name.endswith(end) and len(name) >= len(each)]
            found = self._patterns_of[name] = sorted(fitting, key=lambda pattern: (-len(pattern), pattern))[:1]
        return found
