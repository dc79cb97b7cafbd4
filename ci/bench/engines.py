"""The programs that are timed, each as a command over a corpus and a way to weigh what it made.

Rounds alternate between the engines (A B C A B C), so that a slow minute of the machine hits all of them; the median counts.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ci.bench.corpora import TSCONFIG, Bench, Corpus
from ci.bench.memory import Measurement, measure
from ci.bench.scip import read_index
from indexer.store.generations import FOLDER, Home

_OTHERS = {"python": ("*.js",)}
"""Files of other languages in the corpora of a language; they are left out, as the engines beside lspidx leave them out."""
_CACHED = ("go",)
"""Languages whose own tools keep caches, in which both engines work: these are filled before it counts."""


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
    """What runs on this corpus: lspidx, the SCIP indexer where it is compared and can be had, lspidx asking that one's file, and a floor
    where there is one.
    """
    chosen = [lspidx(corpus)]
    if corpus.language == "python":
        peers = [scip_python(bench, corpus), from_file(bench, corpus)] if corpus.compared else []
        return [*chosen, *peers, ty(bench, corpus)]
    if corpus.language == "typescript":
        floor = [tsc(bench, corpus)] if corpus.name in TSCONFIG else []
        return [*chosen, scip_typescript(bench, corpus), from_file(bench, corpus), *floor]
    return [*chosen, *([scip_go(bench, corpus), from_file(bench, corpus)] if (bench.go_programs / "scip-go").is_file() else [])]


def time_engines(bench: Bench, corpus: Corpus, *, rounds: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Medians by engine, with every single run beside them, and the run that filled the caches of a language that has them.

    Raises:
        RuntimeError: an engine failed; the message names its log.
    """
    chosen = engines(bench, corpus)
    first = {engine.name: run_once(bench, corpus, engine) for engine in chosen} if corpus.language in _CACHED else {}
    runs: dict[str, list[Measurement]] = {engine.name: [] for engine in chosen}
    for number in range(rounds):
        for engine in chosen:
            done = run_once(bench, corpus, engine)
            say(f"{corpus.name}: round {number + 1} of {rounds}: {engine.name} {done.wall_s:.1f} s")
            runs[engine.name].append(done)
    return {
        engine.name: {
            **_median(runs[engine.name]),
            **engine.weigh(),
            "runs": [asdict(run) for run in runs[engine.name]],
            **({"first": asdict(first[engine.name])} if first else {}),
        }
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
    done = measure(engine.command, cwd=engine.cwd, environment=environment(bench, corpus.language), log=log)
    if done.status not in engine.statuses:
        raise RuntimeError(f"{engine.name} on {corpus.name} ended with status {done.status}; see {log}")
    return done


def _median(runs: list[Measurement]) -> dict[str, Any]:
    fields = ("wall_s", "cpu_s", "peak_rss_mb", "peak_pss_mb")
    return {name: round(statistics.median(getattr(run, name) for run in runs), 3) for name in fields}


def label(corpus: Corpus) -> str:
    """The corpus's name for a file."""
    return corpus.name.strip("/").replace("/", "-")


def environment(bench: Bench, language: str) -> Mapping[str, str]:
    """Every engine's: lspidx takes its servers from the working folder; nothing of the caller's own Python is active.

    For Python the bench environment is active. Go stays off the network.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LSPIDX_", "VIRTUAL_ENV"))}
    kept |= {"LSPIDX_SERVERS_DIR": str(bench.servers(language).absolute()), "NODE_OPTIONS": "--max-old-space-size=8192"}
    if language == "go":
        kept |= {"GOPROXY": "off", "GOTOOLCHAIN": "local"}
    if language != "python":
        return kept
    return {
        **kept,
        "PATH": os.pathsep.join([str(bench.interpreter.parent.absolute()), kept.get("PATH", "")]),
        "VIRTUAL_ENV": str(bench.environment.absolute()),
        "LSPIDX_PYTHON": str(bench.environment.absolute()),
    }


def lspidx(corpus: Corpus, server: str = "") -> Engine:
    """With the language's default server, or another one."""
    folder = corpus.root / FOLDER

    def weigh() -> dict[str, int]:
        import duckdb

        database = Home(corpus.root).require()
        with duckdb.connect(str(database), read_only=True) as connection:
            found = connection.execute(
                "SELECT count(*) FILTER (status <> 'skipped'), (SELECT count(*) FROM occurrences), "
                "(SELECT count(*) FROM (SELECT DISTINCT path, line, col FROM occurrences WHERE symbol IS NOT NULL)), "
                "(SELECT count(*) FROM (SELECT DISTINCT path, line, col FROM occurrences)) FROM documents"
            ).fetchall()[0]
        return {
            "files": found[0],
            "occurrences": found[1],
            "resolved_identifiers": found[2],
            "identifiers": found[3],
            "index_bytes": database.stat().st_size,
            "folder_bytes": sum(item.stat().st_size for item in folder.rglob("*") if item.is_file()),
        }

    def prepare() -> None:
        for item in folder.iterdir() if folder.is_dir() else ():
            if item.name != "cache":  # a server's own; a language without such servers has none
                shutil.rmtree(item) if item.is_dir() else item.unlink()

    program = str(Path(sys.executable).parent / "lspidx")
    options = [
        *(["--server", server] if server else []),
        *(word for name in _OTHERS.get(corpus.language, ()) for word in ("--exclude", name)),
    ]
    return Engine(
        name=f"lspidx {server}".strip(),
        command=[program, "index", str(corpus.root.absolute()), "--full", "--quiet", *options],
        cwd=corpus.root,
        statuses=(0,),
        prepare=prepare,
        weigh=weigh,
    )


def from_file(bench: Bench, corpus: Corpus) -> Engine:
    """lspidx, asking the file that the SCIP indexer has just made, in a copy of the corpus; without the making of the file.

    Beside what `lspidx` weighs: `checked` answers of the file that were asked of a server as well, and how many `differ`.
    """
    copy = replace(corpus, root=bench.folder / "scip" / "trees" / label(corpus))
    made = lspidx(copy)

    def prepare() -> None:
        if not copy.root.is_dir():
            shutil.copytree(corpus.root, copy.root, ignore=shutil.ignore_patterns(FOLDER), symlinks=True)
        made.prepare()

    def weigh() -> dict[str, int]:
        checks = Home(copy.root).manifest().get("checked_files", [])
        return made.weigh() | {
            "checked": sum(item.get("checked", 0) for item in checks),
            "differ": sum(item.get("disagreed", 0) for item in checks),
        }

    command = [*made.command, "--scip", str(scip_file(bench, corpus).absolute())]
    return replace(made, name="lspidx of its file", command=command, prepare=prepare, weigh=weigh)


def scip_file(bench: Bench, corpus: Corpus) -> Path:
    return bench.folder / "scip" / f"{label(corpus)}.scip"


def scip_python(bench: Bench, corpus: Corpus) -> Engine:
    """With an absolute `--cwd`: given `.`, version 0.6.6 writes an empty index."""
    output = scip_file(bench, corpus).absolute()
    program = str(bench.node_program("scip-python").absolute())
    options = ["--cwd", str(corpus.peer_root.absolute()), "--quiet", "--project-name", label(corpus), "--project-version", "0"]
    target = ["--target-only", corpus.inside] if corpus.inside else []
    return _scip("scip-python", [program, "index", *options, *target, "--output", str(output)], corpus, output)


def scip_typescript(bench: Bench, corpus: Corpus) -> Engine:
    output = scip_file(bench, corpus).absolute()
    program = str(bench.node_program("scip-typescript", "node-typescript").absolute())
    return _scip("scip-typescript", [program, "index", "--no-progress-bar", "--output", str(output)], corpus, output)


def scip_go(bench: Bench, corpus: Corpus) -> Engine:
    """Told its version: it would ask git."""
    output = scip_file(bench, corpus).absolute()
    program = str((bench.go_programs / "scip-go").absolute())
    return _scip("scip-go", [program, "index", "--quiet", "--module-version", "0", "--output", str(output)], corpus, output)


def _scip(name: str, command: list[str], corpus: Corpus, output: Path) -> Engine:
    def prepare() -> None:
        output.parent.mkdir(exist_ok=True)
        output.unlink(missing_ok=True)

    def weigh() -> dict[str, int]:
        documents = read_index(output)
        occurrences = sum(len(document.occurrences) for document in documents)
        return {"files": len(documents), "occurrences": occurrences, "index_bytes": output.stat().st_size}

    return Engine(name=name, command=command, cwd=corpus.peer_root, statuses=(0,), prepare=prepare, weigh=weigh)


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


def tsc(bench: Bench, corpus: Corpus) -> Engine:
    """The same floor for TypeScript: a type check by the compiler whose server lspidx asks; errors are no concern of ours.

    Not on rxjs, whose own tsconfig.json has options that this compiler refuses.
    """
    programs = sorted(bench.servers("typescript").glob("ts7-*/node_modules/@typescript/typescript-*/lib/tsc"))
    if not programs:
        raise RuntimeError("no ts7 among the servers of the working folder")
    return Engine(
        name="tsc 7 --noEmit",
        command=[str(programs[-1].absolute()), "--noEmit", "--incremental", "false", "--pretty", "false"],
        cwd=corpus.root,
        statuses=(0, 1, 2),
        prepare=lambda: None,
        weigh=dict,
    )
