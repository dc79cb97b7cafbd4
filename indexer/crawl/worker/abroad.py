"""Names of what lies outside the workspace, where a place says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.crawl.messages import ExternalJob
from indexer.crawl.worker.externals import read_external
from indexer.crawl.worker.harvest import Place
from indexer.lsp.uri import uri_to_path
from indexer.packages import Externals


class Abroad:
    """Names of what lies outside the workspace, by place. Each server has a copy of the standard library of its own, so that a place in one
    says nothing of the other: what counts is the symbol that stands there.
    """

    def __init__(self, externals: Externals, root: str) -> None:
        self._externals, self._root = externals, root
        self._known: dict[Place, str] = {}

    def learn(self, places: Sequence[Place], language: str) -> None:
        """Reads the files of those that are not known yet."""
        by_path: dict[str, set[Place]] = {}
        for place in places:
            if place not in self._known:
                self._known[place] = ""
                by_path.setdefault(uri_to_path(place[0]), set()).add(place)
        for path, wanted in sorted(by_path.items()):
            job = ExternalJob(number=0, wanted={path: sorted(place[1:] for place in wanted)}, languages={path: language})
            for facts in read_external(job, self._externals, self._root):
                ranges, names = facts.tables["extra_ranges"], facts.tables["symbols"]["moniker"]
                where = zip(*(ranges[name] for name in ("start_line", "start_col", "end_line", "end_col")), strict=True)
                meant = {place: names[symbol] for place, symbol in zip(where, ranges["symbol"], strict=True)}
                self._known |= {place: meant.get(place[1:], "") for place in wanted}

    def moniker(self, place: Place) -> str:
        """Of the symbol at a place that was learned; empty where there is none."""
        return self._known[place]
