"""A result as text for the terminal, as Markdown for the README, and held against what we require."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

REQUIRED = {
    "flask": {"recall": 97.0, "cross_file": 97.0, "wrong": 0.5},
    "django/": {"recall": 99.0, "cross_file": 97.0, "wrong": 0.5},
}
"""Least recall (all, and of references into other files) and most wrong answers of lspidx, in percent of the references."""

_SPEED = ("corpus", "engine", "wall s", "CPU s", "peak RSS MB", "peak PSS MB", "files", "occurrences", "index MB", "scip/lspidx")
_ACCURACY = ("corpus", "engine", "recall %", "in file %", "cross file %", "uses %", "wrong %", "silent %", "several %", "references")
_LATENCY = ("corpus", "question", "p50 ms", "p95 ms", "runs")

Row = list[str]


def failures(result: Mapping[str, Any]) -> list[str]:
    """What is required and not met, one sentence each."""
    found: list[str] = []
    for corpus, limits in REQUIRED.items():
        judged = result.get("accuracy", {}).get(corpus)
        if judged is None:
            continue
        scores = judged["engines"]["lspidx"]
        pairs = (
            ("recall", scores["total"]["recall"], limits["recall"], 1),
            ("recall across files", scores["cross_file"]["recall"], limits["cross_file"], 1),
            ("wrong", scores["total"]["wrong"], limits["wrong"], -1),
        )
        for what, value, limit, sign in pairs:
            if sign * value < sign * limit:
                found.append(f"{corpus}: {what} is {value:.2f} %, required {'at least' if sign > 0 else 'at most'} {limit:g} %")
    return found


def to_text(result: Mapping[str, Any]) -> str:
    """Aligned tables under a line about the machine, and the verdict."""
    parts = [_origin(result)]
    for title, head, rows in _tables(result):
        if rows:
            parts.append(f"{title}\n{_aligned([list(head), *rows])}")
    missed = failures(result)
    if missed:
        parts.append("\n".join(["required and not met:", *missed]))
    else:
        checked = [corpus for corpus in REQUIRED if corpus in result.get("accuracy", {})]
        parts.append(f"requirements met on {', '.join(checked)}" if checked else "no requirement was checked")
    return "\n\n".join(parts)


def to_markdown(result: Mapping[str, Any]) -> str:
    """The tables as README quotes them."""
    parts: list[str] = []
    for title, head, rows in _tables(result):
        if rows:
            lines = [f"| {' | '.join(row)} |" for row in [list(head), *rows]]
            lines.insert(1, f"|{'---|' * 2}{'---:|' * (len(head) - 2)}")
            parts.append(f"**{title}**\n\n" + "\n".join(lines))
    return "\n\n".join([*parts, _origin(result)])


def _origin(result: Mapping[str, Any]) -> str:
    machine, versions = result["machine"], result["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    where = f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_gb']} GB"
    return f"{result['date']}, {where}, medians of {result['rounds']} rounds; {named}."


def _tables(result: Mapping[str, Any]) -> list[tuple[str, Sequence[str], list[Row]]]:
    return [
        ("Indexing", _SPEED, _speed_rows(result.get("speed", {}))),
        ("Accuracy", _ACCURACY, _accuracy_rows(result.get("accuracy", {}))),
        ("Questions, command line", _LATENCY, _latency_rows(result.get("latency", {}), "command_line")),
        ("Questions, in process", _LATENCY, _latency_rows(result.get("latency", {}), "in_process")),
    ]


def _speed_rows(speed: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    for corpus, engines in speed.items():
        for engine, run in engines.items():
            ratio = f"{run['wall_s'] / engines['lspidx']['wall_s']:.1f}" if engine == "scip-python" else ""
            index = f"{run['index_bytes'] / 1e6:.1f}" if "index_bytes" in run else ""
            counts = [f"{run[name]:,}" if name in run else "" for name in ("files", "occurrences")]
            memory = [f"{run[name]:.0f}" for name in ("peak_rss_mb", "peak_pss_mb")]
            rows.append([corpus, engine, f"{run['wall_s']:.1f}", f"{run['cpu_s']:.1f}", *memory, *counts, index, ratio])
    return rows


def _accuracy_rows(accuracy: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    for corpus, judged in accuracy.items():
        for engine, scores in judged["engines"].items():
            total = scores["total"]
            recalls = [f"{scores[part]['recall']:.2f}" for part in ("total", "in_file", "cross_file", "uses")]
            rest = [f"{value:.2f}" for value in (total["wrong"], total["silent"], scores["several_targets"])]
            rows.append([corpus, engine, *recalls, *rest, f"{total['referenced']:,}"])
    return rows


def _latency_rows(latency: Mapping[str, Any], kind: str) -> list[Row]:
    return [
        [corpus, question, f"{times['p50_ms']:.2f}", f"{times['p95_ms']:.2f}", str(times["count"])]
        for corpus, measured in latency.items()
        for question, times in measured.get(kind, {}).items()
    ]


def _aligned(rows: list[Row]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines: list[str] = []
    for row in rows:
        padded = enumerate(zip(row, widths, strict=True))
        cells = [cell.ljust(width) if column < 2 else cell.rjust(width) for column, (cell, width) in padded]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
