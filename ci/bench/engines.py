"""The programs that are timed, each as a command over a corpus and a way to weigh what it made.

Rounds alternate between the engines (A B C A B C), so that a slow minute of the machine hits all of them; the median counts.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ci.bench.corpora import Bench, Corpus
from ci.bench.memory import Measurement, measure
from ci.bench.scip import read_index
from indexer.store.generations import FOLDER, Home


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """statuses: exit codes of a run that did its work (a type checker that found errors did).

    prepare removes what an earlier run left; weigh gives `files`, `occurrences`, `index_bytes` of what this one made.
    """

    name: str
    command: list[str]
    cwd: Path
    statuses: tuple[int, ...]
    prepare: Callable[[], None]
    weigh: Callable[[], dict[str, int]]


def engines(bench: Bench, corpus: Corpus) -> list[Engine]:
    """What runs on this corpus: lspidx and ty always, scip-python where it is compared."""
    chosen = [lspidx(corpus), ty(bench, corpus)]
    if corpus.compared:
        chosen.insert(1, scip_python(bench, corpus))
    return chosen


def time_engines(bench: Bench, corpus: Corpus, *, rounds: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Medians by engine, with every single run beside them.

    Raises:
        RuntimeError: an engine failed; the message names its log.
    """
    chosen = engines(bench, corpus)
    runs: dict[str, list[Measurement]] = {engine.name: [] for engine in chosen}
    for number in range(rounds):
        for engine in chosen:
            done = run_once(bench, corpus, engine)
            say(f"{corpus.name}: round {number + 1} of {rounds}: {engine.name} {done.wall_s:.1f} s")
            runs[engine.name].append(done)
    return {
        engine.name: {**_median(runs[engine.name]), **engine.weigh(), "runs": [asdict(run) for run in runs[engine.name]]}
        for engine in chosen
    }


def run_once(bench: Bench, corpus: Corpus, engine: Engine) -> Measurement:
    """One run from nothing.

    Raises:
        RuntimeError: the engine failed; the message names its log.
    """
    log = bench.folder / "log" / f"{engine.name.replace(' ', '-')}-{label(corpus)}.log"
    log.parent.mkdir(exist_ok=True)
    engine.prepare()
    done = measure(engine.command, cwd=engine.cwd, environment=environment(bench), log=log)
    if done.status not in engine.statuses:
        raise RuntimeError(f"{engine.name} on {corpus.name} ended with status {done.status}; see {log}")
    return done


def _median(runs: list[Measurement]) -> dict[str, Any]:
    fields = ("wall_s", "cpu_s", "peak_rss_mb", "peak_pss_mb")
    return {name: round(statistics.median(getattr(run, name) for run in runs), 3) for name in fields}


def label(corpus: Corpus) -> str:
    """The corpus's name for a file."""
    return corpus.name.strip("/").replace("/", "-")


def environment(bench: Bench) -> Mapping[str, str]:
    """Every engine's: the bench environment is active, nothing of the caller's own Python is."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LSPIDX_", "VIRTUAL_ENV"))}
    return {
        **kept,
        "PATH": os.pathsep.join([str(bench.interpreter.parent.absolute()), kept.get("PATH", "")]),
        "VIRTUAL_ENV": str(bench.environment.absolute()),
        "LSPIDX_PYTHON": str(bench.environment.absolute()),
        "NODE_OPTIONS": "--max-old-space-size=8192",
    }


def lspidx(corpus: Corpus) -> Engine:
    folder = corpus.root / FOLDER

    def weigh() -> dict[str, int]:
        import duckdb

        database = Home(corpus.root).require()
        with duckdb.connect(str(database), read_only=True) as connection:
            found = connection.execute(
                "SELECT count(*) FILTER (status <> 'skipped'), (SELECT count(*) FROM occurrences), "
                "(SELECT count(*) FROM (SELECT DISTINCT path, line, col FROM occurrences WHERE symbol IS NOT NULL)) FROM documents"
            ).fetchall()[0]
        return {
            "files": found[0],
            "occurrences": found[1],
            "resolved_identifiers": found[2],
            "index_bytes": database.stat().st_size,
            "folder_bytes": sum(item.stat().st_size for item in folder.rglob("*") if item.is_file()),
        }

    return Engine(
        name="lspidx",
        command=[str(Path(sys.executable).parent / "lspidx"), "index", str(corpus.root.absolute()), "--full", "--quiet"],
        cwd=corpus.root,
        statuses=(0,),
        prepare=lambda: shutil.rmtree(folder, ignore_errors=True),
        weigh=weigh,
    )


def scip_file(bench: Bench, corpus: Corpus) -> Path:
    return bench.folder / "scip" / f"{label(corpus)}.scip"


def scip_python(bench: Bench, corpus: Corpus) -> Engine:
    """With an absolute `--cwd`: given `.`, version 0.6.6 writes an empty index."""
    output = scip_file(bench, corpus).absolute()
    program = str(bench.node_program("scip-python").absolute())
    options = ["--cwd", str(corpus.peer_root.absolute()), "--quiet", "--project-name", label(corpus), "--project-version", "0"]
    target = ["--target-only", corpus.inside] if corpus.inside else []

    def prepare() -> None:
        output.parent.mkdir(exist_ok=True)
        output.unlink(missing_ok=True)

    def weigh() -> dict[str, int]:
        documents = read_index(output)
        occurrences = sum(len(document.occurrences) for document in documents)
        return {"files": len(documents), "occurrences": occurrences, "index_bytes": output.stat().st_size}

    return Engine(
        name="scip-python",
        command=[program, "index", *options, *target, "--output", str(output)],
        cwd=corpus.peer_root,
        statuses=(0,),
        prepare=prepare,
        weigh=weigh,
    )


def ty(bench: Bench, corpus: Corpus) -> Engine:
    """A type check: the floor, for it reads and infers the same code and writes nothing down."""
    program = str(Path(sys.executable).parent / "ty")
    options = ["--project", str(corpus.peer_root.absolute()), "--python", str(bench.environment.absolute())]
    return Engine(
        name="ty check",
        command=[program, "check", *options, "--output-format", "concise", "--quiet", *([corpus.inside] if corpus.inside else [])],
        cwd=corpus.peer_root,
        statuses=(0, 1),
        prepare=lambda: None,
        weigh=dict,
    )
