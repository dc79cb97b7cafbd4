"""What lspidx's servers cost and what they leave open: the default server on every corpus, the others on the smallest one.

Requests per second are those of a whole crawl: all that was asked, over the time from the first server's start to the last one's end.
What an answer is held against is named with it: for Python the reference of `accuracy`, for TypeScript and Go the SCIP indexer.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ci.bench import accuracy, agreement, engines
from ci.bench.corpora import SERVERS, Bench, Corpus
from indexer.store.generations import FOLDER, Home


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One server on one corpus. wrong_percent: of the uses that both answered, those that differ from `held_against`.

    error: why there is nothing else, where the crawl failed.
    """

    server: str
    version: str
    corpus: str
    asked: int = 0
    crawl_s: float = 0.0
    per_s: float = 0.0
    identifiers: int = 0
    unresolved: int = 0
    unresolved_percent: float = 0.0
    lost: int = 0
    restarts: int = 0
    cross_checked: int = 0
    cross_disagreed: int = 0
    wrong_percent: float | None = None
    held_against: str = ""
    error: str = ""


def default_rows(corpora: Mapping[str, Corpus], judged: Mapping[str, Any]) -> list[Row]:
    """From the indexes that are published; `judged` are records of `accuracy` or `agreement` by corpus."""
    return [_row(corpus, corpus.root, _wrong(corpus, judged.get(name))) for name, corpus in corpora.items()]


def other_rows(bench: Bench, corpus: Corpus, *, say: Callable[[str], None]) -> list[Row]:
    """Every server of the language but the default one crawls a copy of the corpus, once."""
    rows: list[Row] = []
    for server in SERVERS[corpus.language][1:]:
        root = bench.folder / "tried" / f"{server}-{engines.label(corpus)}"
        if not root.is_dir():
            shutil.copytree(corpus.root, root, ignore=shutil.ignore_patterns(FOLDER))
        tried = dataclasses.replace(corpus, root=root)
        try:
            engines.run_once(bench, tried, engines.lspidx(tried, server))
        except RuntimeError as error:
            rows.append(Row(server=server, version="", corpus=corpus.name, error=str(error)))
        else:
            rows.append(_row(tried, root, _wrong(tried, judge(bench, tried))))
        say(f"{corpus.name}: {server} tried")
    return rows


def judge(bench: Bench, corpus: Corpus, sample: Path | None = None) -> Mapping[str, Any] | None:
    """The record of the comparison that fits the language; None where its SCIP index is missing."""
    scip = engines.scip_file(bench, corpus)
    if not scip.is_file():
        return None
    if corpus.language == "python":
        return accuracy.judge(bench, corpus, scip)[0].record()
    return agreement.judge(corpus, scip, sample)


def _wrong(corpus: Corpus, judged: Mapping[str, Any] | None) -> tuple[float | None, str]:
    if judged is None:
        return None, ""
    if corpus.language == "python":
        return judged["engines"]["lspidx"]["uses"]["wrong"], "the reference"
    uses = judged["definitions"]["uses"]
    return round(100 - uses["agree_percent"], 3), f"scip-{corpus.language}"


def _row(corpus: Corpus, root: Path, wrong: tuple[float | None, str]) -> Row:
    import duckdb

    with duckdb.connect(str(Home(root).require()), read_only=True) as connection:
        run = connection.execute(
            "SELECT asked, epoch(finished) - epoch(started), lost, server_restarts, cross_checked, cross_disagreed FROM runs"
        ).fetchall()[-1]
        counts = connection.execute(
            "SELECT count(*), count(*) FILTER (unknown) FROM "
            "(SELECT bool_and(symbol IS NULL) AS unknown FROM occurrences GROUP BY path, line, col)"
        ).fetchall()[0]
        named = connection.execute("SELECT name, version FROM servers WHERE language = $language", {"language": corpus.language}).fetchall()
    asked, seconds, lost, restarts, checked, disagreed = run
    name, version = named[0] if named else ("", "")
    return Row(
        server=name,
        version=version,
        corpus=corpus.name,
        asked=asked,
        crawl_s=round(seconds, 3),
        per_s=round(asked / seconds, 1) if seconds else 0.0,
        identifiers=counts[0],
        unresolved=counts[1],
        unresolved_percent=round(100 * counts[1] / counts[0], 3) if counts[0] else 0.0,
        lost=lost,
        restarts=restarts,
        cross_checked=checked,
        cross_disagreed=disagreed,
        wrong_percent=wrong[0],
        held_against=wrong[1],
    )
