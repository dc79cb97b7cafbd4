"""Answers questions about one workspace for as long as a process lives: the one place that opens, refreshes, bounds and checks.

The command line asks once, MCP and the dialects many times. A new generation is taken as soon as it is published; a question that is
under way keeps the one that it began with.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.errors import (
    AmbiguousName,
    EditRefused,
    IndexUnusable,
    LanguageLost,
    Locked,
    LspidxError,
    NameNotFound,
    NoIndex,
    ServerError,
    UsageError,
)
from indexer.store.generations import Home, find_home
from indexer.vcs import find_root
from query.answers.envelope import Answer, Reason
from query.answers.style import count
from query.context import Progress, Servers, silent
from query.facts.completeness import Certificate
from query.facts.folders import index_command, moved
from query.facts.freshness import drift, watch_with
from query.facts.index import Index, open_index
from query.facts.served import Served
from query.facts.watching import Watch
from query.live.servers import servers_of
from query.skills.session import Phases
from query.surface.budget import Measure, bounded, kept, to_json
from query.surface.registry import Tool, call, load
from query.upkeep.ahead import Ahead
from query.upkeep.keeping import LONGEST_WAIT_S, MOST_FILES, Keeper
from query.upkeep.recrawl import Stay, recrawl

if TYPE_CHECKING:
    from query.upkeep.first import First

_OFTEN = 3

ServersOf = Callable[[Path, Mapping[str, Any]], Servers]
"""Where the running servers of a workspace are had from: its root, and settings as from the command line."""


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
        patience_s: float = LONGEST_WAIT_S,
        first: First | None = None,
        follows_edits: bool = False,
        servers_of: ServersOf = servers_of,
    ) -> None:
        """What holds for all questions.

        Args:
            max_chars: in place of the tools' own limits; 0 for none. edits: whether tools may change files of the work tree.
            served: what questions may name; None for everything, where the user asks.
            phases: of whoever asks without saying for which session; None for one that begins and ends with this object.
            keeps_fresh: questions bring the index up to date where the work tree has moved on, on a thread of its own.
            patience_s: what a question waits for that at most.
            first: makes the index where there is none; None where nobody does so unasked.
            follows_edits: whether an edit that rests on the index, and would bring it up to date before, does so behind it as well.
            servers_of: gives the running servers.
        """
        self._follows_edits = follows_edits
        self._servers_of = servers_of
        self.start = start
        self.edits = edits
        self.served = served
        self.phases = phases if phases is not None else Phases()
        self._servers: tuple[tuple[Path, str], Servers] | None = None
        self._max_chars = max_chars
        self._index: Index | None = None
        self._questions = 0
        self._watch: Watch | None = None
        self._keeper = Keeper(self.refresh, patience_s) if keeps_fresh else None
        self._stay = Stay() if keeps_fresh else None
        self._ahead = Ahead(self._stirs, self._differing, self._keep_ahead, self._pause_s) if keeps_fresh else None
        self._seen = -1
        self._first = first
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
        lacking = self.contact(name, progress)
        if lacking is not None and tool.applies and arguments.get("apply") and _rests_on_index(tool):
            raise EditRefused(f"nothing was written: {lacking.detail}, since what would be written rests on the index")
        if tool.needs_index and fresh and lacking is None:
            self.refresh(progress)
        else:
            self.catch_up(name, progress)
        if strict and tool.applies and arguments.get("apply"):
            shown = self.ask(name, {**arguments, "apply": False}, measure=measure, phases=phases, cut=cut)
            if shown.completeness.status != "complete":
                raise EditRefused(_unproven(shown))
        answer = self.answered(name, arguments, progress=progress, phases=phases, lacking=lacking)
        index = self._followed()
        if answer.applied is True and self._keeper is None and index is not None:
            if self._follows_edits:
                self.catch_up(name, progress)
                index = self._followed() or index
            _say_that_it_is_older(answer, index)
        limit = tool.max_result_chars if self._max_chars is None else self._max_chars
        home = index.home if index else None
        if cut:
            return bounded(answer, tool.result, limit, home, measure)
        return kept(answer, home) if limit and len(measure(answer)) > limit else answer

    def whole(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Progress = silent,
        certificate: Callable[[Index], Certificate] = Certificate,
    ) -> Answer[Any]:
        """The answer of a tool that only looks, whatever its size; as `ask` otherwise.

        Args:
            certificate: as of `registry.call`.
        """
        lacking = self.contact(name, progress)
        self.catch_up(name, progress)
        answer = self.answered(name, arguments, progress=progress, lacking=lacking, certificate=certificate)
        self._followed()
        return answer

    def answered(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Progress = silent,
        phases: Phases | None = None,
        lacking: Reason | None = None,
        certificate: Callable[[Index], Certificate] = Certificate,
    ) -> Answer[Any]:
        """The whole answer from what there is: the index; while the first one is made, a running server, or the part that there is.

        Args:
            lacking: what `contact` said of this question. certificate: as of `registry.call`.
        Raises:
            Indexing: there is nothing to answer from yet. Whatever the tool raises.
        """
        tool, _ = load(name)

        def asked(index: Index | None, own: Mapping[str, Any], reason: Reason | None) -> Answer[Any]:
            return call(
                index,
                name,
                own,
                servers=self.servers(index.root if index else find_root(self.start)),
                progress=progress,
                root=None if tool.needs_index and index else self.start,
                edits=self.edits,
                served=self.served,
                phases=phases if phases is not None else self.phases,
                lacking=reason,
                certificate=certificate,
            )

        if lacking is None:
            needed = tool.needs_index and (tool.live is None or not arguments.get("live"))
            return asked(self._index_if_any(damaged=not needed) if tool.live is not None or not needed else self.index(), arguments, None)
        return self._meanwhile(tool, arguments, asked, lacking, progress)

    def _meanwhile(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        asked: Callable[[Index | None, Mapping[str, Any], Reason | None], Answer[Any]],
        lacking: Reason,
        progress: Progress,
    ) -> Answer[Any]:
        """An answer while the first index is made: a running server's, for it knows all files; else that of the part that there is.

        The server is not asked by the part: of two symbols of a name that may know one.
        """
        assert self._first is not None
        by_server: Answer[Any] | None = None
        refused: LspidxError = self._first.nothing_yet()
        if tool.live is not None or tool.by_text is not None or not tool.needs_index:
            reason = self._first.reason("the text of the files") if tool.by_text is not None else lacking
            try:
                by_server = asked(None, arguments, reason)
            except AmbiguousName:
                raise
            except NameNotFound as error:
                refused = NameNotFound(f"{error}; {lacking.detail}")
            except (ServerError, UsageError) as error:
                refused = error
        if by_server is not None and by_server.completeness.status != "unknown":
            return by_server
        part = self._part(progress if by_server is None else None)
        if part is not None:
            part.is_catching_up = bool(part.meta.get("partial"))
            return asked(part, {**arguments, "live": False} if "live" in arguments else arguments, self._lacking(part))
        if by_server is not None:
            return by_server
        raise refused if not isinstance(refused, NoIndex) else self._first.nothing_yet()

    def contact(self, name: str, progress: Progress = silent) -> Reason | None:
        """Begins the first index where there is none, or goes on with one that was cut off; why the tool's answer will lack something.

        None where it lacks nothing for that: there is a whole index, the tool needs none, or nobody makes one unasked.
        """
        tool, _ = load(name)
        first = self._first
        if first is None or not _rests_on_index(tool) or self._is_whole():
            return None
        if first.why_not:
            return None
        first.begin()
        if first.is_short:
            first.wait(self._is_whole, progress)
        return None if self._is_whole() else first.reason()

    def index_or_begin(self) -> Index:
        """The newest index, or the part that there is of the first one.

        Raises:
            Indexing: there is none yet, and it is being made. NoIndex and others: as `index`.
        """
        try:
            return self.index()
        except NoIndex:
            if self._first is None or self._first.why_not:
                raise
            self._first.begin()
            raise self._first.nothing_yet() from None

    @property
    def making(self) -> First | None:
        """The run that makes the first index, where one is under way."""
        return self._first if self._first is not None and self._first.is_busy else None

    @property
    def is_refreshing(self) -> bool:
        """Whether the index is being brought up to date behind the questions."""
        return self._keeper is not None and self._keeper.is_busy

    def index_if_any(self) -> Index | None:
        """The newest index, or the part that there is; None where there is none, or none that can be read."""
        return self._index_if_any(damaged=True)

    def _is_whole(self) -> bool:
        index = self._index_if_any(damaged=True)
        return index is not None and not index.meta.get("partial")

    def _lacking(self, part: Index | None) -> Reason | None:
        """Why an answer of this part is not all; None where it is no part any more."""
        assert self._first is not None
        if part is not None and not part.meta.get("partial"):
            return None
        return self._first.reason(f"{part.meta['partial']} files" if part is not None else "")

    def _part(self, progress: Progress | None) -> Index | None:
        """What is published of the first index, waited for with patience if `progress` is given; None where there is nothing by then."""
        assert self._first is not None
        if progress is not None:
            self._first.wait(lambda: self._index_if_any(damaged=True) is not None, progress)
        return self._index_if_any(damaged=True)

    def servers(self, root: Path) -> Servers:
        """Running servers of the workspace; none is started before it is asked.

        An index that was made further up since has made that folder the root; what runs for the one before is ended.

        Raises:
            UsageError: a client has named a home, or a place of the system's, that nobody has indexed: a server would read all of it,
                and lspidx would write there.
        """
        if self.served is not None and Home(root).current() is None:
            from query.upkeep.first import why_never  # who has an index needs none

            if why := why_never(root):
                raise UsageError(f"no server is started in '{root}': {why}; to have it indexed all the same: lspidx index")
        with self._lock:
            before, session = self._servers, self._session()
            key = (root, repr(session))
            kept = self._servers = before if before is not None and before[0] == key else (key, self._servers_of(root, session))
        if before is not None and before is not kept:
            before[1].close()
        return kept[1]

    def _session(self) -> dict[str, Any]:
        return self.served.session if self.served is not None else {}

    def _followed(self) -> Index | None:
        index = self._index_if_any(damaged=True)
        if index is not None:
            self._follow(index)
        return index

    def _follow(self, index: Index) -> None:
        """Has the system tell of changes once it is clear that the process asks often: setting that up costs as much as two looks."""
        with self._lock:
            self._questions += 1
            if self._questions >= _OFTEN:
                self._watch = self._watch or Watch()
                if watch_with(index, self._watch) and self._ahead is not None:
                    self._ahead.asked()

    # ---- before anybody asks: called by the thread of `Ahead`

    def _stirs(self, most_s: float) -> bool:
        watch = self._watch
        return watch.stirs(self._seen, most_s) if watch is not None else bool(time.sleep(most_s))

    def _differing(self) -> Sequence[str]:
        """What a question would find changed now; nothing where the index is not one that questions bring up to date."""
        watch, index = self._watch, self._index_if_any(damaged=True)
        if watch is None:
            return ()
        self._seen = watch.moment()  # what changes from here on stirs again, though this look may have seen it
        if index is None or index.foreign or index.meta.get("partial") or not watch_with(index, watch):
            return ()
        tree = drift(index)
        return tree.paths if tree.checked else ()

    def _keep_ahead(self, paths: Sequence[str]) -> None:
        assert self._keeper is not None
        if self._keeper.bring(paths):
            self._seen = -1  # of what changed meanwhile an event may have been taken already, and it may be in the new index or not

    def _pause_s(self) -> float:
        from indexer.config import load_config

        index = self._index_if_any(damaged=True)
        return load_config(index.root, session=self._session()).refresh_pause_s if index is not None else 0.0

    def close(self) -> None:
        """Ends the servers that were started for this service, and the refresh that is under way."""
        if self._ahead is not None:
            self._ahead.close()
        if self._keeper is not None:
            self._keeper.close()
        if self._stay is not None:
            self._stay.close()
        with self._lock:
            servers, self._servers = self._servers, None
            watch, self._watch = self._watch, None
            if watch is not None and self._index is not None:
                self._index.kept.pop("watch", None)
        if watch is not None:
            watch.close()
        if servers is not None:
            servers[1].close()
        if self._first is not None:
            self._first.close()

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
            index.is_catching_up = not self._keeper.catch_up(tree.paths, progress, writes=tool.catches_up) and self._keeper.is_busy
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
            recrawl(index.root, index.home.flags(), progress, session=self._session(), stay=self._stay)
            return True


def _say_that_it_is_older(answer: Answer[Any], index: Index) -> None:
    """Of an edit after which nobody brings the index up to date: what the next answers are about, and what changes that."""
    if paths := drift(index).paths:
        said = f"the index is from before this edit of {count(len(paths), 'file')}; to bring it up to date: {index_command(index)}"
        answer.beside = [*(answer.beside or []), said]


def _rests_on_index(tool: Tool) -> bool:
    return tool.needs_index or tool.live is not None or tool.catches_up


def _unproven(shown: Answer[Any]) -> str:
    why = "; ".join(reason.detail for reason in shown.completeness.reasons[:3])
    return f"nothing was written: strict, and what would be written is {shown.completeness.status}: {why}"
