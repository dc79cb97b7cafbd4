"""Answers questions about one workspace for as long as a process lives: the one place that opens, refreshes, bounds and checks.

The command line asks once, MCP and the dialects many times. A new generation is taken as soon as it is published; a question that is
under way keeps the one that it began with.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indexer.errors import EditRefused, IndexUnusable, LanguageLost, Locked, NoIndex, ServerError, UsageError
from indexer.store.generations import find_home
from indexer.vcs import find_root
from query.answers.envelope import Answer
from query.context import Progress, Servers, silent
from query.facts.folders import moved
from query.facts.freshness import drift, watch_with
from query.facts.index import Index, open_index
from query.facts.served import Served
from query.facts.watching import Watch
from query.live.servers import servers_of
from query.skills.session import Phases
from query.surface.budget import Measure, bounded, kept, to_json
from query.surface.registry import call, load
from query.upkeep.keeping import MOST_FILES, Keeper
from query.upkeep.recrawl import recrawl

_OFTEN = 3


class Service:
    """The tools on the workspace at or around `start`. Any number of threads may ask."""

    def __init__(
        self,
        start: Path,
        *,
        max_chars: int | None = None,
        edits: bool = True,
        served: Served | None = None,
        phases: Phases | None = None,
        keeps_fresh: bool = False,
    ) -> None:
        """What holds for all questions.

        Args:
            max_chars: in place of the tools' own limits; 0 for none. edits: whether tools may change files of the work tree.
            served: what questions may name; None for everything, where the user asks.
            phases: of whoever asks without saying for which session; None for one that begins and ends with this object.
            keeps_fresh: questions bring the index up to date where the work tree has moved on, on a thread of its own.
        """
        self.start = start
        self.edits = edits
        self.served = served
        self.phases = phases if phases is not None else Phases()
        self._servers: tuple[tuple[Path, str], Servers] | None = None
        self._max_chars = max_chars
        self._index: Index | None = None
        self._questions = 0
        self._watch: Watch | None = None
        self._keeper = Keeper(self.refresh) if keeps_fresh else None
        self._refreshing = threading.Lock()
        self._lock = threading.Lock()

    def index(self) -> Index:
        """The newest published generation.

        Raises:
            NoIndex, VersionMismatch, IndexUnusable: as `open_index`.
        """
        with self._lock:
            if self._index is None or find_home(self.start).current() != self._index.generation:
                self._index = open_index(self.start)  # the old one closes when its last question is answered
            return self._index

    def ask(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        fresh: bool = False,
        progress: Progress = silent,
        measure: Measure = to_json,
        phases: Phases | None = None,
        cut: bool = True,
        strict: bool = False,
    ) -> Answer[Any]:
        """Answers one question, bounded.

        Args:
            name, arguments: as `registry.call`. fresh: brings the index up to date first, if the work tree has moved on.
            measure: the form in which the answer must fit. phases: of the session that asks, if there are several.
            strict: nothing is written unless the answer that shows it is complete.
            cut: False for who cuts the answer by `budget.shorten`: it is whole then, and of one that is too long a file has all.
        Raises:
            UsageError: no such tool, or arguments that do not fit. EditRefused: see `strict`. Whatever the tool or the crawl raises.
        """
        tool, _ = load(name)
        if tool.needs_index and fresh:
            self.refresh(progress)
        else:
            self.catch_up(name, progress)
        if strict and tool.applies and arguments.get("apply"):
            shown = self.ask(name, {**arguments, "apply": False}, measure=measure, phases=phases, cut=cut)
            if shown.completeness.status != "complete":
                raise EditRefused(_unproven(shown))
        needed = tool.needs_index and (tool.live is None or not arguments.get("live"))
        index = self._index_if_any(damaged=not needed) if tool.live is not None or not needed else self.index()
        answer = call(
            index,
            name,
            arguments,
            servers=self.servers(index.root if index else find_root(self.start)),
            progress=progress,
            root=None if tool.needs_index and index else self.start,
            edits=self.edits,
            served=self.served,
            phases=phases if phases is not None else self.phases,
        )
        if index is not None:
            self._follow(index)
        limit = tool.max_result_chars if self._max_chars is None else self._max_chars
        home = index.home if index else None
        if cut:
            return bounded(answer, tool.result, limit, home, measure)
        return kept(answer, home) if limit and len(measure(answer)) > limit else answer

    def servers(self, root: Path) -> Servers:
        """Running servers of the workspace; none is started before it is asked.

        An index that was made further up since has made that folder the root; what runs for the one before is ended.
        """
        with self._lock:
            before, session = self._servers, self._session()
            key = (root, repr(session))
            kept = self._servers = before if before is not None and before[0] == key else (key, servers_of(root, session))
        if before is not None and before is not kept:
            before[1].close()
        return kept[1]

    def _session(self) -> dict[str, Any]:
        return self.served.session if self.served is not None else {}

    def _follow(self, index: Index) -> None:
        """Has the system tell of changes once it is clear that the process asks often: setting that up costs as much as two looks."""
        with self._lock:
            self._questions += 1
            if self._questions >= _OFTEN:
                self._watch = self._watch or Watch()
                watch_with(index, self._watch)

    def close(self) -> None:
        """Ends the servers that were started for this service."""
        with self._lock:
            servers, self._servers = self._servers, None
            watch, self._watch = self._watch, None
            if watch is not None and self._index is not None:
                self._index.kept.pop("watch", None)
        if watch is not None:
            watch.close()
        if servers is not None:
            servers[1].close()

    def _index_if_any(self, *, damaged: bool) -> Index | None:
        """None where there is no index, and, if `damaged`, where there is one that cannot be read."""
        try:
            return self.index()
        except NoIndex:
            return None
        except IndexUnusable:
            if damaged:
                return None
            raise

    def catch_up(self, name: str, progress: Progress = silent) -> None:
        """Brings the index up to date for a tool that needs that, where files differ: not if it takes a crawl of much more than these, or
        cannot be done now. A service that keeps it fresh does so for every question.
        """
        tool, _ = load(name)
        if not tool.catches_up and (self._keeper is None or not (tool.needs_index or tool.live is not None)):
            return
        index = self._index_if_any(damaged=True)
        if index is None or index.foreign or index.meta.get("partial"):
            return
        tree = drift(index)
        if not tree.checked or not tree.paths:
            return
        if self._keeper is not None:
            index.is_catching_up = not self._keeper.catch_up(tree.paths, progress) and self._keeper.is_busy
        elif len(tree.paths) <= MOST_FILES:
            with contextlib.suppress(Locked, ServerError, LanguageLost):  # the tool says what it could not hold against the index
                self.refresh(progress)

    def refresh(self, progress: Progress = silent) -> bool:
        """Makes the index again as it was made, where the work tree has moved on; whether it had.

        Raises:
            Locked: somebody else is doing it. ServerError and others: as the crawl.
        """
        try:
            self.index()
        except NoIndex as error:
            raise UsageError(f"there is no index to bring up to date; {error}") from error
        with self._refreshing:  # who comes second finds it done
            index = self.index()
            tree = drift(index)
            if tree.checked and not tree.paths and not moved(index) and not index.meta.get("partial"):
                return False
            recrawl(index.root, index.home.flags(), progress, session=self._session())
            return True


def _unproven(shown: Answer[Any]) -> str:
    why = "; ".join(reason.detail for reason in shown.completeness.reasons[:3])
    return f"nothing was written: strict, and what would be written is {shown.completeness.status}: {why}"
