"""Files outside the workspace: which of their symbols something points to, and which files must be read (again) for them.

The index has of such a file just what is pointed to, so its row depends on all documents: it is made anew where they want something else.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.crawl.messages import ExternalJob, Position
from indexer.crawl.sources import size_of
from indexer.model import FOREIGN, Skipped, SkipReason
from indexer.packages import Externals
from indexer.scip.external import of_place
from indexer.servers.registry import language_of
from indexer.store.macros import expand

_ALONE = 2
_ALONE_BYTES = 250_000
"""Of less, a file goes with others: a shard of its own costs as much as its reading."""
_PER_JOB = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """By key of a file: `paths` on this machine where that is known, `wanted` ranges in it, `stale` keys whose rows must be made anew."""

    paths: Mapping[str, str]
    wanted: Mapping[str, set[Position]]
    stale: set[str]

    @property
    def unwanted(self) -> set[str]:
        return self.paths.keys() - self.wanted.keys()

    def jobs(self, folder: Path, allowed: tuple[str, ...], *, everything: bool) -> list[tuple[ExternalJob, Path]]:
        """What is to be read, in the same order in every run, the large files first; and the shards to write to.

        `allowed` and `everything` say what beside installed files may be read at all (`indexer.consent.Reach`).

        The browser's declarations in TypeScript are two thirds of all that is read here.
        """
        wanted = {self.paths[key]: sorted(self.wanted[key]) for key in sorted(self.stale)}
        paths = sorted(wanted, key=lambda path: (-size_of(path), path))
        alone = sum(size_of(path) >= _ALONE_BYTES for path in paths[:_ALONE])
        starts = [*range(alone), *range(alone, len(paths), _PER_JOB), len(paths)]
        return [
            (
                ExternalJob(
                    number=number,
                    wanted={path: wanted[path] for path in paths[start:end]},
                    languages=languages_by_name(paths[start:end]),
                    allowed=allowed,
                    everything=everything,
                ),
                folder / f"external-{number:03d}.parquet",
            )
            for number, (start, end) in enumerate(itertools.pairwise(starts))
        ]


def languages_by_name(paths: Iterable[str]) -> dict[str, str]:
    """The language of each file outside the workspace whose name or ending tells it, also of one that a SCIP file only names."""
    found = {path: language_of(place[0] if (place := of_place(path)) is not None else path) for path in paths}
    return {path: language for path, language in found.items() if language}


def unread(root: str, skipped: Iterable[Skipped]) -> dict[str, str]:
    """Relative path by absolute path of sources that are left out and may be used all the same: of these, what is used is read."""
    return {
        os.path.normpath(os.path.join(root, item.path)): item.path
        for item in skipped
        if item.language and (item.reason in FOREIGN or item.reason is SkipReason.EXCLUDED)
    }


def reported(externals: Mapping[str, Collection[Position]], names: Externals) -> tuple[dict[str, str], dict[str, set[Position]]]:
    """What workers say of absolute paths, by key: the path (the first, where two have one key) and the ranges."""
    paths: dict[str, str] = {}
    wanted: dict[str, set[Position]] = {}
    for path in sorted(externals):
        key = names.describe(path).key
        paths.setdefault(key, path)
        wanted.setdefault(key, set()).update(externals[path])
    return paths, wanted


def all_of(externals: Mapping[str, Collection[Position]], names: Externals) -> Outside:
    """For a crawl of everything."""
    paths, wanted = reported(externals, names)
    return Outside(paths=paths, wanted=wanted, stale=set(wanted))


def as_before(known: Mapping[str, str]) -> Outside:
    """For a crawl of nothing: what the state has, in which every file is there because something points to it. `known` as below."""
    return Outside(paths=known, wanted={key: set[Position]() for key in known}, stale=set())


def changed(
    externals: Mapping[str, Collection[Position]],
    names: Externals,
    kept: Sequence[Path],
    gone: Collection[str],
    known: Mapping[str, str],
    *,
    moved: Collection[str],
    anew: bool,
) -> Outside:
    """For a crawl of some documents.

    Args:
        externals: what the crawl reports, by absolute path; `names` says what is called how.
        kept: shards of the state that is built upon. gone: its documents that do not count any more.
        known: paths on this machine by key, as the state has them; empty where it does not know.
        moved: keys of files that are not what they were. anew: read all files again.
    """
    from indexer.store import merge

    paths, wanted = reported(externals, names)
    connection = merge.connect()
    try:
        merge.read_facts(connection, kept, [], gone)
        rows = connection.execute(
            expand("""
            SELECT t.path, t.line, t.col, t.end_line, t.end_col
            FROM (SELECT unnest(targets) AS t FROM fact WHERE status <> 'external')
            WHERE t.symbol = target_symbol('at_place') AND t.path IN (SELECT unnest(?::VARCHAR[])) GROUP BY ALL"""),
            [sorted(known.keys() | wanted.keys())],
        ).fetchall()
        have = connection.execute(
            """
            SELECT path, x.start_line, x.start_col, x.end_line, x.end_col
            FROM (SELECT path, unnest(extra_ranges) AS x FROM fact WHERE status = 'external')"""
        ).fetchall()
    finally:
        connection.close()
    _add(wanted, rows)
    present: dict[str, set[Position]] = {}
    _add(present, have)
    paths = {**known, **paths}
    stale = {key for key in wanted if paths.get(key) and (anew or key in moved or present.get(key) != wanted[key])}
    return Outside(paths={key: paths.get(key, "") for key in wanted.keys() | known.keys()}, wanted=wanted, stale=stale)


def _add(found: dict[str, set[Position]], rows: Iterable[tuple[str, int, int, int, int]]) -> None:
    for key, *place in rows:
        line, col, end_line, end_col = place
        found.setdefault(key, set()).add((line, col, end_line, end_col))
