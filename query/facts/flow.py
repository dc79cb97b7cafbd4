"""What happens when a function is called: its calls in the order of the text, and below each the calls of what it calls.

Calls nearer to the function are opened first, so that a bound on the number of steps takes depth and never the order of the first calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from indexer.model import TYPE_KINDS, Evidence
from query.facts.call_order import Site, constructors_of, sites_of
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.symbols import Symbol, outside

Mark = Literal["", "repeated", "recursive", "outside", "depth", "limit"]


@dataclass(slots=True, eq=False)
class Step:
    """One call. `mark`: why nothing is below it though something is called there, empty where all of it is; `calls`: how many sites it has.

    same: the step below which its calls are, if it is `repeated`.
    """

    site: Site
    depth: int
    above: Step | None
    mark: Mark = ""
    calls: int = 0
    same: Step | None = None
    below: list[Step] = field(default_factory=list)

    def is_within(self, sym_id: int) -> bool:
        """Whether it is reached from the symbol."""
        step = self.above
        while step is not None:
            if step.site.callee == sym_id:
                return True
            step = step.above
        return False


class Flow(NamedTuple):
    """first: the calls of the function itself. opened: symbols whose calls are shown, the function among them. left: steps at which the
    bound on their number ended it.
    """

    first: list[Step]
    opened: list[int]
    left: int


class _Walk:
    def __init__(self, index: Index, start: int, limit: int, *, external: bool) -> None:
        self._index, self._limit, self._external = index, limit, external
        self._opened: dict[int, Step | None] = {start: None}
        self._sites: dict[int, list[Site]] = {}
        self.start, self.total, self.left = start, 0, 0

    def sites(self, sym_id: int) -> list[Site]:
        found = self._sites[sym_id]
        if self._external:
            return found
        beyond = outside(self._index, {site.callee for site in found if site.callee is not None})
        return [site for site in found if site.callee not in beyond]

    def load(self, ids: Collection[int]) -> None:
        missing = sorted(set(ids) - self._sites.keys())
        self._sites.update(sites_of(self._index, missing))

    def first(self) -> list[Step]:
        """The calls of the function, or of a type that is called its constructors."""
        scope = scopes(self._index, [self.start])
        if scope[self.start].kind in TYPE_KINDS:
            ids = constructors_of(self._index, self.start)
            known = scopes(self._index, ids)
            made = [Site(known[one].doc_id, known[one].line, known[one].col, one, int(Evidence.CONSTRUCTOR)) for one in ids]
        else:
            self.load([self.start])
            made = self.sites(self.start)
        self.total = len(made)
        return [Step(site, 1, None) for site in made]

    def level(self, steps: Sequence[Step], depth: int) -> list[Step]:
        """Opens the steps of one depth, in order; what is below them."""
        ids = {step.site.callee for step in steps if step.site.callee is not None}
        beyond, known = outside(self._index, ids), scopes(self._index, ids)
        inside = {sym_id for sym_id in ids - beyond if known[sym_id].kind not in TYPE_KINDS}
        self.load(inside)
        found: list[Step] = []
        for step in steps:
            callee = step.site.callee
            if callee is None:
                continue
            if callee in beyond:
                step.mark = "outside"
            elif callee in inside:
                self._open(step, callee, is_last=step.depth >= depth)
                found += step.below
        return found

    def _open(self, step: Step, callee: int, *, is_last: bool) -> None:
        sites = self.sites(callee)
        step.calls = len(sites)
        if callee == self.start or step.is_within(callee):
            step.mark = "recursive"
        elif not sites:
            step.mark = ""
        elif callee in self._opened:
            step.mark, step.same = "repeated", self._opened[callee]
        elif is_last:
            step.mark = "depth"
        elif self.total + len(sites) > self._limit:
            step.mark = "limit"
            self.left += 1
        else:
            self._opened[callee] = step
            self.total += len(sites)
            step.below = [Step(site, step.depth + 1, step) for site in sites]

    @property
    def opened(self) -> list[int]:
        return list(self._opened)


def flow(index: Index, symbol: Symbol, depth: int, limit: int, *, external: bool) -> Flow:
    """The calls of a function and of what it calls.

    Args:
        depth: 1 for its own calls only. limit: steps in all; its own calls are there whatever their number.
        external: calls of what lies outside the workspace too.
    """
    walk = _Walk(index, symbol.sym_id, limit, external=external)
    first = walk.first()
    level = first
    while level:
        level = walk.level(level, depth)
    return Flow(first, walk.opened, walk.left)


def in_order(steps: Sequence[Step]) -> Iterator[Step]:
    """Each step, then what is below it."""
    waiting = list(reversed(steps))
    while waiting:
        step = waiting.pop()
        yield step
        waiting += reversed(step.below)
