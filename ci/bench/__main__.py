"""`python -m ci.bench`: fetches, times, judges, prints, writes a record. Run it from the repository's root.

The record is `result.json`, or `result-partial.json` where a part is skipped, so that it never replaces a whole one.

Exits with 1 when a requirement of `report.REQUIRED` is not met.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from ci.bench import accuracy, engines, latency, report
from ci.bench.corpora import ENVIRONMENT, NODE, Bench, fetch
from indexer.errors import NoIndex

_JUDGED = ("flask", "django/")
_QUICK = ("flask", "django/")


def main() -> int:
    arguments = _arguments()
    if arguments.render:
        print(report.to_markdown(json.loads(arguments.render.read_text(encoding="utf-8"))))
        return 0
    bench = Bench(arguments.out.absolute())
    corpora = {name: corpus for name, corpus in bench.corpora().items() if not arguments.quick or name in _QUICK}
    fetch(bench, ["flask", "django"] if arguments.quick else ["flask", "django", "sympy"])
    result: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": _machine(),
        "versions": _versions(),
        "environment": list(ENVIRONMENT),
        "rounds": arguments.rounds,
        "speed": {},
        "accuracy": {},
        "latency": {},
    }
    if not arguments.skip_speed:
        for name, corpus in corpora.items():
            result["speed"][name] = engines.time_engines(bench, corpus, rounds=arguments.rounds, say=_say)
    if not arguments.skip_accuracy:
        result["accuracy"] = _judge(bench)
    for name, corpus in corpora.items():
        _need_index(bench, name)
        asked = latency.questions(corpus)
        result["latency"][name] = {
            "command_line": latency.command_line(bench, corpus, asked),
            "in_process": latency.in_process(corpus, asked),
        }
        _say(f"{name}: latency measured")
    whole = not arguments.skip_speed and not arguments.skip_accuracy
    (bench.folder / ("result.json" if whole else "result-partial.json")).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report.to_text(result))
    return 1 if report.failures(result) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ci.bench", description="Speed, memory and accuracy on pinned corpora.")
    parser.add_argument("--quick", action="store_true", help="flask and django/ only")
    parser.add_argument("--out", type=Path, default=Path(".bench"), help="working folder, kept between runs (default: .bench)")
    parser.add_argument("--rounds", type=int, default=2, help="timed runs of each engine (default: 2)")
    parser.add_argument("--skip-speed", action="store_true", help="use the indexes that are there; make those that are missing")
    parser.add_argument("--skip-accuracy", action="store_true", help="no comparison with pyright and scip-python")
    parser.add_argument("--render", type=Path, metavar="RESULT", help="print the Markdown tables of a result and end")
    return parser.parse_args()


def _judge(bench: Bench) -> Mapping[str, Any]:
    judged = []
    for name in _JUDGED:
        corpus = bench.corpora()[name]
        _need_index(bench, name)
        judged.append(accuracy.judge(bench, corpus, engines.scip_file(bench, corpus)))
        _say(f"{name}: {judged[-1][0].identifiers} identifiers judged")
    accuracy.write_sample(bench.folder / "sample.txt", judged)
    return {judgement.corpus: judgement.record() for judgement, _ in judged}


def _need_index(bench: Bench, name: str) -> None:
    """Makes lspidx's and scip-python's index where there is none."""
    corpus = bench.corpora()[name]
    for engine in engines.engines(bench, corpus):
        try:
            engine.weigh()
        except (OSError, NoIndex):
            _say(f"{name}: {engine.name} has no index yet")
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


def _versions() -> dict[str, str]:
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip().lstrip("v")
    named = {name.rsplit("/", 1)[-1]: pinned for name, pinned in NODE.items()}
    return {"lspidx": version("lspidx"), "ty": version("ty"), **named, "Python": platform.python_version(), "Node": node}


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
