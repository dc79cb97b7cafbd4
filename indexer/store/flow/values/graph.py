"""Nodes, which values reach them, and along which edges they go on: a worklist until nothing changes.

Values go along copies, and each value that reaches a watched node is handed once to whoever watches it, who may add nodes, copies and
values. Order depends on the order of what was added only, so the same program gives the same steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

MOST_VALUES = 17
"""A node that more values reach keeps these."""

MOST_TEXTS = 17
"""Texts that a node keeps, beside its other values."""

MOST_WIDE = 1_000
"""The same of nodes that are `widen`ed."""

Watcher = Callable[[int], None]

COVERED, LOST = -1, -2
"""Of one more value than a node keeps: something there stands for it, or nothing does."""


class Graph:
    """`steps`: values that reached a node; `is_cut`: there were more than may be."""

    def __init__(self, nodes: int, *, most_steps: int, most_texts: int = MOST_TEXTS) -> None:
        self.reached: list[list[int] | None] = [None] * nodes
        self._copies: list[int | dict[int, None] | None] = [None] * nodes  # most go to one node
        self._watchers: list[list[Watcher] | None] = [None] * nodes
        self._queue: deque[tuple[int, int]] = deque()
        self.full: set[int] = set()
        self.steps = 0
        self.is_cut = False
        self._most_steps = most_steps
        self._most_texts = most_texts
        self._wide: set[int] = set()
        self._texts: dict[int, list[int]] = {}
        self._rest: dict[int, int] = {}
        self._rests: set[int] = set()
        self.cover: Callable[[int, list[int], int], int] = lambda node, known, value: LOST
        """By node, what it keeps and one more value: another value that stands for it, COVERED or LOST."""

    def clear(self) -> None:
        """Watchers point back at who made them; cut, all goes at once, without the garbage collector."""
        self._watchers.clear()
        self._copies.clear()
        self.reached.clear()

    def node(self) -> int:
        self.reached.append(None)
        self._copies.append(None)
        self._watchers.append(None)
        return len(self.reached) - 1

    def values(self, node: int) -> list[int]:
        return list(self.reached[node] or ())

    def holds_texts(self, node: int) -> bool:
        return node in self._texts

    def put(self, node: int, value: int) -> None:
        known = self.reached[node]
        if value < 0:
            texts = self._texts.setdefault(node, [])
            if value in texts or len(texts) >= self._most_texts:
                return
            texts.append(value)
        elif known is None:
            self.reached[node] = [value]
        elif value in known:
            return
        elif len(known) >= MOST_VALUES and value not in self._rests and (node not in self._wide or len(known) >= MOST_WIDE):
            self._overflow(node, known, value)
            return
        else:
            known.append(value)
        if self._copies[node] is not None or self._watchers[node] is not None:
            self._queue.append((node, value))

    def stand_for_rest(self, node: int, value: int) -> None:
        """Where more values reach a node than it keeps, this one goes on in their place, also to nodes that are full."""
        self._rest[node] = value
        self._rests.add(value)
        known = self.reached[node]
        if known is not None and node in self.full:
            self._go_on(node, known, value)

    def _overflow(self, node: int, known: list[int], value: int) -> None:
        found = self.cover(node, known, value)
        if found >= 0:
            self._rests.add(found)
            self._go_on(node, known, found)
        elif found == LOST:
            self.full.add(node)
            if (rest := self._rest.get(node)) is not None:
                self._go_on(node, known, rest)

    def _go_on(self, node: int, known: list[int], value: int) -> None:
        if value not in known:
            known.append(value)
            self._queue.append((node, value))

    def widen(self, node: int) -> None:
        """What is handed over here is handed to watchers, however much it is; nodes that it is copied to keep what they keep."""
        self._wide.add(node)

    def copy(self, source: int, target: int) -> None:
        if source == target:
            return
        copies = self._copies[source]
        if copies is None:
            self._copies[source] = target
        elif isinstance(copies, int):
            if copies == target:
                return
            self._copies[source] = {copies: None, target: None}
        elif target in copies:
            return
        else:
            copies[target] = None
        known = self.reached[source]
        if known is not None:
            for value in tuple(known):
                self.put(target, value)
        texts = self._texts.get(source)
        if texts is not None:
            for value in tuple(texts):
                self.put(target, value)

    def sources(self) -> dict[int, list[int]]:
        """By node those of which it is a copy."""
        found: dict[int, list[int]] = {}
        for source, copies in enumerate(self._copies):
            for target in () if copies is None else (copies,) if isinstance(copies, int) else copies:
                found.setdefault(target, []).append(source)
        return found

    def watch(self, node: int, watcher: Watcher) -> None:
        watchers = self._watchers[node]
        if watchers is None:
            self._watchers[node] = [watcher]
        else:
            watchers.append(watcher)
        known = self.reached[node]
        if known is not None:
            for value in tuple(known):
                watcher(value)
        texts = self._texts.get(node)
        if texts is not None:
            for value in tuple(texts):
                watcher(value)

    def run(self) -> None:
        queue, reached, copies_of, watchers_of = self._queue, self.reached, self._copies, self._watchers
        steps, most_steps = self.steps, self._most_steps
        texts_of, most_texts, rests = self._texts, self._most_texts, self._rests
        while queue:
            steps += 1
            if steps > most_steps:
                self.is_cut = True
                queue.clear()
                break
            node, value = queue.popleft()
            copies = copies_of[node]
            if copies is None:
                pass
            elif value < 0:
                for target in (copies,) if isinstance(copies, int) else copies:
                    texts = texts_of.get(target)
                    if texts is None:
                        texts_of[target] = [value]
                    elif value in texts or len(texts) >= most_texts:
                        continue
                    else:
                        texts.append(value)
                    if copies_of[target] is not None or watchers_of[target] is not None:
                        queue.append((target, value))
            else:
                for target in (copies,) if isinstance(copies, int) else copies:  # `put`, written out: most of all steps are taken here
                    known = reached[target]
                    if known is None:
                        reached[target] = [value]
                    elif value in known:
                        continue
                    elif len(known) >= MOST_VALUES and value not in rests and (target not in self._wide or len(known) >= MOST_WIDE):
                        self._overflow(target, known, value)
                        continue
                    else:
                        known.append(value)
                    if copies_of[target] is not None or watchers_of[target] is not None:
                        queue.append((target, value))
            watchers = watchers_of[node]
            if watchers is not None:
                for watcher in tuple(watchers):
                    watcher(value)
        self.steps = steps
