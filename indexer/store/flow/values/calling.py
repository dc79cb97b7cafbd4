"""Calls that are followed: which function reaches the place that is called, and what is said of it."""

from __future__ import annotations

from abc import abstractmethod

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
        self.doubtful: dict[tuple[int, int], None] = {}
        self.sure: dict[tuple[int, int], None] = {}
        self._seen: set[tuple[int, int]] = set()

    def clear(self) -> None:
        super().clear()
        self.sites.clear()
        self.callers.clear()

    @abstractmethod
    def goes_on(self, site: Site, value: int) -> None:
        """A value reaches what is called."""

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
        if site.row >= 0:
            key = (site.row, sym_id)
            if site.is_doubtful:
                self.doubtful.setdefault(key)
            else:
                self.sure[key] = None
            self.called.setdefault(key, site.via if via is None else via)
