"""Whether an index says what a crawl says: documents are asked about again, by new servers, and all rows compared."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import msgspec

from indexer.config import Config
from indexer.crawl.run import Watcher, crawl
from indexer.errors import IndexUnusable, UsageError
from indexer.store.damage import check_published, read_manifest
from indexer.store.generations import Home
from indexer.store.proof import unproven
from indexer.store.states import State, States

_COMPARED = ("documents", "symbols", "occurrences", "calls", "type_edges", "overrides", "diagnostics", "coverage", "unresolved_imports")
"""Views that a crawl determines; the others tell of its time and its machine."""

_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Rows of one view that only the index has, or only the crawl; with a few of each, as text."""

    view: str
    only_in_index: int
    only_in_crawl: int
    examples: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """`crawled`: documents that were asked about again, of `documents`."""

    documents: int
    crawled: int
    disagreements: list[Disagreement]


def verify(root: Path, config: Config, watcher: Watcher, *, sample: int | None, seed: int | None = None) -> Verified:
    """Crawls `sample` documents, chosen by chance, or all (None) beside the published index, and compares every row of both.

    The published index is not touched.

    Raises:
        NoIndex: there is none. IndexUnusable: this user has not made it, or it was changed since.
        UsageError: the work tree is not what it describes. Whatever a crawl raises.
    """
    home = Home(root)
    published = home.require()
    home.check()
    check_published(published, read_manifest(published), home.shards)
    foreign = unproven(published, full=True)
    if foreign:
        raise IndexUnusable(f"there is nothing to verify: {foreign}; to make an index here: lspidx index")
    beside = Home(root, home.path / "verify")
    shutil.rmtree(beside.path, ignore_errors=True)
    try:
        if sample is not None:
            _sow(home, beside, sample, random.Random(seed))  # noqa: S311  # a sample, no secret
        made = crawl(root, config, watcher, full=sample is None, home=beside)
        if made.manifest["recipe"] != home.manifest().get("recipe"):
            raise UsageError("the work tree or its settings are not what the index describes; to bring it up to date: lspidx index")
        return Verified(
            documents=made.manifest["counts"]["documents"],
            crawled=made.manifest["crawled"],
            disagreements=_compare(published, made.generation),
        )
    finally:
        shutil.rmtree(beside.path, ignore_errors=True)


def _sow(home: Home, beside: Home, sample: int, chance: random.Random) -> None:
    """Makes the published state the one that the crawl goes on from, but for a sample of its documents, which it takes for changed."""
    state = States(home).of(home.manifest().get("recipe", ""))
    if state is None:
        raise UsageError("the facts that the index was made of are not here; to find them again: lspidx index --full")
    beside.create()
    chosen = chance.sample(sorted(state.documents), min(sample, len(state.documents)))
    documents = {**state.documents, **{path: ("", state.documents[path][1]) for path in chosen}}
    doubted: State = msgspec.structs.replace(state, documents=documents, recipe=f"doubted-{state.recipe}")
    States(beside).adopt(States(home), doubted)
    States(beside).save(doubted)


def _compare(published: Path, crawled: Path) -> list[Disagreement]:
    found: list[Disagreement] = []
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}) as connection:
        for name, path in (("a", published), ("b", crawled)):
            quoted = str(path).replace("'", "''")
            connection.execute(f"ATTACH '{quoted}' AS {name} (READ_ONLY)")
        for view in _COMPARED:
            differences = f"SELECT * FROM {{}}.{view} EXCEPT ALL SELECT * FROM {{}}.{view}"
            only_a, only_b = differences.format("a", "b"), differences.format("b", "a")
            [(index, crawl_)] = connection.execute(
                f"SELECT (SELECT count(*) FROM ({only_a})), (SELECT count(*) FROM ({only_b}))"
            ).fetchall()
            if index or crawl_:
                examples = [_text("only in the index", row) for row in connection.execute(f"{only_a} LIMIT {_EXAMPLES}").fetchall()]
                examples += [_text("only in the crawl", row) for row in connection.execute(f"{only_b} LIMIT {_EXAMPLES}").fetchall()]
                found.append(Disagreement(view=view, only_in_index=index, only_in_crawl=crawl_, examples=examples))
    return found


def _text(which: str, row: Sequence[object]) -> str:
    return f"{which}: {' | '.join(str(value) for value in row)}"
