"""Calls that are followed: which function reaches the place that is called, and what is said of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from indexer.model import Via
from indexer.store.flow.text.program import Program
from indexer.store.flow.values.nodes import Nodes
from indexer.store.flow.values.sites import Signature, Site

_MOST_DEPTH = 8


class Sites(Nodes):
    """The graph, and the calls in it."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.callers: dict[int, list[tuple[Site, Signature, int | None]]] = {}  # by function: its calls so far
        self.sites: list[Site] = []
        self.called: dict[tuple[int, int], Via] = {}  # row and symbol: an edge
        self.of_many: dict[int, dict[int, None]] = {}
        """By row where members of a name that is computed are called: those of them that are too many to be sure of any."""
        self.doubtful: dict[tuple[int, int], None] = {}
        self.sure: dict[tuple[int, int], None] = {}
        self._seen: set[tuple[int, int]] = set()
        self.follows_thrown = False
        self.catchers: dict[int, list[Callable[[int], None]]] = {}  # by row: who wants what the functions throw that run there
        self.run_at: dict[int, list[int]] = {}  # by row: functions that ran there before anybody asked
        self.calls_in: dict[int, list[int]] = {}  # by function: rows in it that call something
        self.caused: set[int] = set()  # calls that make what is thrown because of something else
        self.thrown_at: dict[int, list[int]] = {}  # by row of THROW: nodes of what is thrown
        self._throws: dict[int, int] = {}

    def clear(self) -> None:
        super().clear()
        self.sites.clear()
        self.callers.clear()
        self.catchers.clear()

    @abstractmethod
    def goes_on(self, site: Site, value: int) -> None:
        """A value reaches what is called."""

    def throws(self, function: int) -> int:
        """The node of what a function itself throws."""
        return self._node(self._throws, function)

    def site(self, row: int, callee: int, result: int, *, via: Via = Via.NONE, depth: int = 0) -> Site:
        """A call without arguments yet; it counts once it is `activate`d."""
        made = Site(len(self.sites), row, callee, result, via=via, depth=depth)
        self.sites.append(made)
        return made

    def activate(self, site: Site) -> None:
        if site.depth > _MOST_DEPTH:  # an object whose `__call__` is such an object
            return

        def call(value: int) -> None:
            if (site.number, value) not in self._seen:
                self._seen.add((site.number, value))
                self.goes_on(site, value)

        self.graph.watch(site.callee, call)

    def edge(self, site: Site, sym_id: int, *, via: Via | None = None) -> None:
        if site.row >= 0 and site.is_of_many:
            self.of_many.setdefault(site.row, {})[sym_id] = None
        elif site.row >= 0:
            key = (site.row, sym_id)
            if site.is_doubtful:
                self.doubtful.setdefault(key)
            else:
                self.sure[key] = None
            if self.follows_thrown and key not in self.called:
                for catcher in tuple(self.catchers.get(site.row, ())):
                    catcher(sym_id)
                self.run_at.setdefault(site.row, []).append(sym_id)
            self.called.setdefault(key, site.via if via is None else via)
