"""How long a question takes: the command from start to exit, and a tool called in a process that has the index open."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ci.bench.corpora import Bench, Corpus
from ci.bench.engines import environment
from query import open_index
from query.registry import call

_CLI_RUNS = 12
_SYMBOLS = 300
_COMMANDS = {
    "callers": "find_callers",
    "references": "find_references",
    "definition": "go_to_definition",
    "symbols": "find_symbol",
}
_TYPES = ("class", "interface", "enum")

Questions = Mapping[str, Sequence[Mapping[str, str]]]
"""Tool to the arguments of its calls."""


def questions(corpus: Corpus) -> Questions:
    """The same few hundred symbols for the same index: the first ones by the digest of their names."""
    with open_index(corpus.root) as index:
        found = index.rows(
            "SELECT symbol, name, path, kind FROM symbols WHERE NOT is_local AND NOT is_external AND list_contains($kinds, kind) "
            "ORDER BY md5(symbol) LIMIT $limit",
            {"kinds": ["function", "method", "property", *_TYPES], "limit": _SYMBOLS},
        )
    by_symbol = [{"symbol": symbol} for symbol, _, _, _ in found]
    return {
        "find_symbol": [{"query": name} for _, name, _, _ in found],
        "list_symbols": [{"file_path": path} for _, _, path, _ in found],
        "go_to_definition": by_symbol,
        "find_references": by_symbol,
        "find_callers": by_symbol,
        "type_hierarchy": [{"symbol": symbol} for symbol, _, _, kind in found if kind in _TYPES],
        "get_symbol_source": by_symbol,
        "inspect_symbol": by_symbol,
    }


def in_process(corpus: Corpus, asked: Questions) -> dict[str, Any]:
    """Milliseconds per tool, after one call of it that is not counted (it loads the tool's module)."""
    measured: dict[str, Any] = {}
    with open_index(corpus.root) as index:
        for tool, arguments in asked.items():
            if not arguments:
                continue
            call(index, tool, arguments[0])
            times: list[float] = []
            for item in arguments:
                started = time.perf_counter()
                call(index, tool, item)
                times.append(1000 * (time.perf_counter() - started))
            measured[tool] = percentiles(times)
    return measured


def command_line(bench: Bench, corpus: Corpus, asked: Questions) -> dict[str, Any]:
    """Milliseconds of `lspidx query TOOL ARGUMENT`, each run a new process.

    Raises:
        subprocess.CalledProcessError: a query did not answer; its stderr is attached.
    """
    program = str(Path(sys.executable).parent / "lspidx")
    measured: dict[str, Any] = {}
    for alias, tool in _COMMANDS.items():
        times: list[float] = []
        for item in asked[tool][:_CLI_RUNS]:
            command = [program, "query", alias, *item.values()]
            started = time.perf_counter()
            subprocess.run(command, cwd=corpus.root, env=dict(environment(bench, corpus.language)), check=True, capture_output=True)
            times.append(1000 * (time.perf_counter() - started))
        measured[alias] = percentiles(times)
    return measured


def percentiles(times_ms: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile (nearest rank), rounded to 10 µs, and how many were taken."""
    ordered = sorted(times_ms)
    p50, p95 = (ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95))
    return {"p50_ms": round(p50, 2), "p95_ms": round(p95, 2), "count": len(ordered)}
