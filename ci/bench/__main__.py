"""`python -m ci.bench`: fetches, times, judges, prints, writes a record. Run it from the repository's root.

The record is `result.json`, or `result-partial.json` where a part is skipped, so that it never replaces a whole one;
with `--only` it is `result-LANGUAGE.json`. `--render` takes several records and prints them as one.

Exits with 1 when a requirement of `report` is not met.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from ci.bench import accuracy, agents, corpora, engines, latency, million, report, servers, sizes
from ci.bench.corpora import ENVIRONMENT, GO, NODE, NODE_TYPESCRIPT, NPM, SERVERS, Bench, Corpus
from indexer.errors import NoIndex

LANGUAGES = ("python", "typescript", "go")
_JUDGED = ("flask", "django/")
_QUICK = {"python": ("flask", "django/"), "typescript": ("rxjs",), "go": ("mux",)}


def main() -> int:
    arguments = _arguments()
    if arguments.render:
        print(report.to_markdown(report.joined([json.loads(path.read_text(encoding="utf-8")) for path in arguments.render])))
        return 0
    bench = Bench(arguments.out.absolute())
    result: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": _machine(),
        "versions": {"lspidx": version("lspidx"), "Python": platform.python_version(), "Node": _node_version()},
        "environment": list(ENVIRONMENT),
        "rounds": arguments.rounds,
        **{section: {} for section in ("language", "speed", "accuracy", "agreement", "latency")},
        **{section: [] for section in ("servers", "sizes", "agents")},
        "million": {},
        "notes": [],
    }
    for language in [arguments.only] if arguments.only else LANGUAGES:
        _measure(bench, language, arguments, result)
    whole = not arguments.skip_speed and not arguments.skip_accuracy and not arguments.quick
    name = f"-{arguments.only}" if arguments.only else ""
    record = bench.folder / f"result{name}{'' if whole else '-partial'}.json"
    record.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report.to_text(result))
    return 1 if report.failures(result) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ci.bench", description="Speed, memory and accuracy on pinned corpora.")
    parser.add_argument("--quick", action="store_true", help="the small corpora of each language, default servers only")
    parser.add_argument("--only", choices=LANGUAGES, help="one language")
    parser.add_argument("--out", type=Path, default=Path(".bench"), help="working folder, kept between runs (default: .bench)")
    parser.add_argument("--rounds", type=int, default=2, help="timed runs of each engine (default: 2)")
    parser.add_argument("--skip-speed", action="store_true", help="use the indexes that are there; make those that are missing")
    parser.add_argument("--skip-accuracy", action="store_true", help="no comparison of answers, of other servers neither")
    parser.add_argument("--render", type=Path, nargs="+", metavar="RESULT", help="print the Markdown tables of results and end")
    return parser.parse_args()


def _measure(bench: Bench, language: str, arguments: argparse.Namespace, result: dict[str, Any]) -> None:
    chosen = {name: corpus for name, corpus in bench.corpora(language).items() if not arguments.quick or name in _QUICK[language]}
    result["notes"] += _fetch(bench, language, list(chosen), quick=arguments.quick)
    result["versions"] |= _pinned(language)
    for name, corpus in chosen.items():
        result["language"][name] = language
        if arguments.skip_speed:
            _need_index(bench, corpus)
        else:
            result["speed"][name] = engines.time_engines(bench, corpus, rounds=arguments.rounds, say=_say)
    if not arguments.skip_accuracy:
        judged = _judge_python(bench) if language == "python" else _judge(bench, chosen)
        result["accuracy" if language == "python" else "agreement"] |= judged
        rows = servers.default_rows(chosen, judged)
        if not arguments.quick:
            rows += servers.other_rows(bench, next(iter(chosen.values())), say=_say)
        result["servers"] += [dataclasses.asdict(row) for row in rows]
        result["versions"] |= {row.server: row.version for row in rows if row.version}
    for name, corpus in chosen.items() if language == "python" else ():
        asked = latency.questions(corpus)
        result["latency"][name] = {
            "command_line": latency.command_line(bench, corpus, asked),
            "in_process": latency.in_process(corpus, asked),
        }
        _say(f"{name}: latency measured")
    if "django/" in chosen and language == "python":
        django = chosen["django/"]
        result["sizes"] = sizes.measure(bench, django)
        result["million"] = million.measure(bench, django)
        _say("django/: sizes and search over a million symbols measured")
        if not arguments.quick:
            result["agents"] = agents.measure(bench, django, say=_say)
            result["versions"]["agent-lsp"] = agents.PACKAGE.partition("==")[2]


def _fetch(bench: Bench, language: str, names: Sequence[str], *, quick: bool) -> list[str]:
    """Returns what could not be had and is done without."""
    if language == "python":
        corpora.fetch_python(bench, ["flask", "django"] if quick else ["flask", "django", "sympy"])
        return []
    corpora.install_servers(bench, language, SERVERS[language][:1] if quick else SERVERS[language])
    if language == "typescript":
        corpora.fetch_typescript(bench, names)
        return []
    reason = corpora.fetch_go(bench, names)
    if reason:
        _say(f"no scip-go: {reason}")
        return ["scip-go could not be installed, so nothing stands beside lspidx on Go's corpora."]
    return ["On Go's corpora both engines find their caches filled (gopls's own, Go's build cache); the first runs are in the record."]


def _pinned(language: str) -> dict[str, str]:
    if language == "python":
        return {**_short(NODE), "ty": version("ty")}
    if language == "typescript":
        return {**_short(NODE_TYPESCRIPT), **{name: corpora.version(package) for name, (package, _, _) in NPM.items()}}
    done = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True)
    modules = {name: corpora.version(module) for name, (module, _) in GO.items()}
    return {"scip-go": corpora.version(corpora.SCIP_GO), "Go": done.stdout.strip().removeprefix("go"), **modules}


def _short(packages: Mapping[str, str]) -> dict[str, str]:
    return {name.rsplit("/", 1)[-1]: pinned for name, pinned in packages.items()}


def _judge_python(bench: Bench) -> dict[str, Any]:
    judged = []
    for name in _JUDGED:
        corpus = bench.corpora("python")[name]
        _need_index(bench, corpus)
        judged.append(accuracy.judge(bench, corpus, engines.scip_file(bench, corpus)))
        _say(f"{name}: {judged[-1][0].identifiers} identifiers judged")
    accuracy.write_sample(bench.folder / "sample.txt", judged)
    return {judgement.corpus: judgement.record() for judgement, _ in judged}


def _judge(bench: Bench, chosen: Mapping[str, Corpus]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, corpus in chosen.items():
        judged = servers.judge(bench, corpus, bench.folder / "samples" / f"{engines.label(corpus)}.jsonl")
        if judged is not None:
            found[name] = judged
            _say(f"{name}: {judged['definitions']['total']['both']} identifiers compared")
    return found


def _need_index(bench: Bench, corpus: Corpus) -> None:
    """Makes lspidx's and the SCIP indexer's index where there is none."""
    for engine in engines.engines(bench, corpus):
        try:
            engine.weigh()
        except (OSError, NoIndex):
            _say(f"{corpus.name}: {engine.name} has no index yet")
            engines.run_once(bench, corpus, engine)


def _machine() -> dict[str, Any]:
    cpu = platform.processor()
    if sys.platform == "linux":
        models = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        cpu = models[0] if models else cpu
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu or "unknown",
        "cores": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _node_version() -> str:
    return subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip().lstrip("v")


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
