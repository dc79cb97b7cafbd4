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
from query.surface.registry import call

_CLI_RUNS = 12
_SYMBOLS = 300
_COMMANDS = {
    "callers": "find_callers",
    "references": "find_references",
    "definition": "go_to_definition",
    "symbols": "find_symbol",
}
_TYPES = ("class", "interface", "enum")
_BY_SYMBOL = (
    *("go_to_definition", "go_to_declaration", "go_to_type_definition", "go_to_implementation"),
    *("find_references", "find_callers", "get_symbol_source", "get_symbol_documentation", "inspect_symbol", "explore_symbol"),
)
SINGLE = ("find_symbol", "list_symbols", "go_to_symbol", "type_hierarchy", *(tool for tool in _BY_SYMBOL if tool != "explore_symbol"))
"""Tools about one symbol or file that have a limit to keep to; explore_symbol answers five of them at once."""

_LARGE = {"django/": ("db/models/fields/__init__.py", "db/models/query.py")}
"""Modules on which most depends, by corpus."""

_FEW = 40

Questions = Mapping[str, Sequence[Mapping[str, Any]]]
"""Tool, with a note after a comma where it is asked in several ways, to the arguments of its calls."""


def questions(corpus: Corpus) -> Questions:
    """The same few hundred symbols for the same index: the first ones by the digest of their names."""
    with open_index(corpus.root) as index:
        found = index.rows(
            "SELECT symbol, name, path, kind, qualified_name FROM symbols "
            "WHERE NOT is_local AND NOT is_external AND list_contains($kinds, kind) "
            "ORDER BY md5(symbol) LIMIT $limit",
            {"kinds": ["function", "method", "property", *_TYPES], "limit": _SYMBOLS},
        )
    asked: dict[str, Sequence[Mapping[str, Any]]] = {
        "find_symbol": [{"query": name} for _, name, _, _, _ in found],
        "find_symbol, fuzzy": [{"query": name[::-1], "match": "fuzzy"} for _, name, _, _, _ in found],
        "go_to_symbol": [{"symbol_path": name} for _, _, _, _, name in found],
        "list_symbols": [{"file_path": path} for _, _, path, _, _ in found],
        "type_hierarchy": [{"symbol": symbol} for symbol, _, _, kind, _ in found if kind in _TYPES],
        "get_editing_context": [{"file_path": path} for _, _, path, _, _ in found[:_FEW]],
        "get_tests_for_file": [{"file_path": path} for _, _, path, _, _ in found[:_FEW]],
    }
    for tool in _BY_SYMBOL:
        asked[tool] = [{"symbol": symbol} for symbol, _, _, _, _ in found]
    for module in _LARGE.get(corpus.name, ()):
        asked[f"blast_radius, {module}"] = [{"changed_files": [module]}] * _FEW
    return asked


def in_process(corpus: Corpus, asked: Questions) -> dict[str, Any]:
    """Milliseconds per tool, after one call of it that is not counted (it loads the tool's module)."""
    measured: dict[str, Any] = {}
    with open_index(corpus.root) as index:
        for title, arguments in asked.items():
            if not arguments:
                continue
            tool = title.partition(",")[0]
            call(index, tool, arguments[0])
            times: list[float] = []
            for item in arguments:
                started = time.perf_counter()
                call(index, tool, item)
                times.append(1000 * (time.perf_counter() - started))
            measured[title] = percentiles(times)
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
