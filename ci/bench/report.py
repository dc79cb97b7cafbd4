"""A result as text for the terminal, as Markdown for indexer/doc/figures.md, and held against what we require."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ci.bench.latency import SINGLE

REQUIRED = {
    "flask": {"recall": 97.0, "cross_file": 97.0, "wrong": 0.5},
    "django/": {"recall": 99.0, "cross_file": 97.0, "wrong": 0.5},
}
"""Least recall (all, and of references into other files) and most wrong answers of lspidx, in percent of the references."""
REQUIRED_MS = {"single": 10.0, "blast_radius": 100.0, "fuzzy": 50.0, "command": 250.0}
"""Most milliseconds on django/: p95 in process of a tool about one symbol, of blast_radius on a module on which most depends; p50 of a
fuzzy search over a million symbols, of a command from start to exit."""
REQUIRED_TYPESCRIPT = {"wall_ratio": 1.0, "uses_percent": 99.5}
"""Least scip-typescript's wall time over lspidx's, and agreement on what uses mean, on every corpus that was measured."""

_SPEED = (
    "corpus",
    "engine",
    "wall s",
    "CPU s",
    "peak RSS MB",
    "peak PSS MB",
    "files",
    "occurrences",
    "index MB",
    "wall ×",
    "CPU ×",
    "RSS ×",
)
_GROWTH = ("language", "corpus", "identifiers", "wall s", "wall s per 1,000", "CPU s per 1,000", "peak RSS MB")
_AGREEMENT = (
    *("corpus", "with", "both answer", "agree %", "uses %", "in file %", "cross file %", "library %", "local %"),
    *("only lspidx", "only scip", "same set of references %", "references shared %"),
)
_SERVERS = ("server", "corpus", "requests", "crawl s", "requests/s", "unresolved %", "lost", "differing uses %", "held against")
_ACCURACY = ("corpus", "engine", "recall %", "in file %", "cross file %", "uses %", "wrong %", "silent %", "several %", "references")
_LATENCY = ("corpus", "question", "p50 ms", "p95 ms", "runs")
_MILLION = ("match", "by", "p50 ms", "p95 ms", "runs")
_SIZES = ("question", "rows told / all", "compact", "compact, all", "JSON, all", "raw LSP", "requests", "raw / compact")
_AGENTS = ("question", "refused", "lspidx ms", "agent-lsp first ms", "agent-lsp warm ms", "× lspidx", "lspidx rows", "agent-lsp rows")

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
    return found + _failures_time(result) + _failures_typescript(result)


def _failures_time(result: Mapping[str, Any]) -> list[str]:
    measured = result.get("latency", {}).get("django/", {})
    limits: list[tuple[str, float, float]] = []
    for question, times in measured.get("in_process", {}).items():
        kind = "single" if question in SINGLE else question.partition(",")[0]
        if kind in REQUIRED_MS:
            limits.append((f"{question}, p95", times["p95_ms"], REQUIRED_MS[kind]))
    for question, times in measured.get("command_line", {}).items():
        limits.append((f"lspidx query {question}", times["p50_ms"], REQUIRED_MS["command"]))
    if "fuzzy" in result.get("million", {}):
        limits.append(("fuzzy search over a million symbols", result["million"]["fuzzy"]["p50_ms"], REQUIRED_MS["fuzzy"]))
    return [f"{what} took {found:.1f} ms, required at most {limit:g}" for what, found, limit in limits if found > limit]


def _failures_typescript(result: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    names = [corpus for corpus, language in result.get("language", {}).items() if language == "typescript"]
    for corpus in names:
        runs = result.get("speed", {}).get(corpus)
        least = REQUIRED_TYPESCRIPT["wall_ratio"]
        if runs and runs["scip-typescript"]["wall_s"] < least * runs["lspidx"]["wall_s"]:
            ratio = runs["scip-typescript"]["wall_s"] / runs["lspidx"]["wall_s"]
            found.append(f"{corpus}: scip-typescript's wall time is {ratio:.2f} of lspidx's, required at least {least:g}")
        judged = result.get("agreement", {}).get(corpus)
        least = REQUIRED_TYPESCRIPT["uses_percent"]
        if judged and judged["definitions"]["uses"]["agree_percent"] < least:
            agree = judged["definitions"]["uses"]["agree_percent"]
            found.append(f"{corpus}: agreement on uses with scip-typescript is {agree:.2f} %, required at least {least:g} %")
    return found


def joined(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Several records as one; of what two of them hold, the later one's counts."""
    whole = dict(results[0])
    for result in results[1:]:
        for section, value in result.items():
            if isinstance(value, dict) and section != "machine":
                whole[section] = {**whole.get(section, {}), **value}
            elif isinstance(value, list) and section in ("servers", "notes"):
                whole[section] = [*whole.get(section, []), *value]
    return whole


def to_text(result: Mapping[str, Any]) -> str:
    """Aligned tables under a line about the machine, and the verdict."""
    parts = [_origin(result), *result.get("notes", [])]
    for title, head, rows in _tables(result):
        if rows:
            parts.append(f"{title}\n{_aligned([list(head), *rows])}")
    missed = failures(result)
    if missed:
        parts.append("\n".join(["required and not met:", *missed]))
    else:
        checked = [*(corpus for corpus in REQUIRED if corpus in result.get("accuracy", {})), *result.get("agreement", {})]
        parts.append(f"requirements met on {', '.join(checked)}" if checked else "no requirement was checked")
    return "\n\n".join(parts)


def to_markdown(result: Mapping[str, Any]) -> str:
    """The tables as indexer/doc/figures.md quotes them."""
    parts: list[str] = []
    for title, head, rows in _tables(result):
        if rows:
            lines = [f"| {' | '.join(row)} |" for row in [list(head), *rows]]
            lines.insert(1, f"|{'---|' * 2}{'---:|' * (len(head) - 2)}")
            parts.append(f"**{title}**\n\n" + "\n".join(lines))
    return "\n\n".join([*parts, _origin(result), *result.get("notes", [])])


def _origin(result: Mapping[str, Any]) -> str:
    machine, versions = result["machine"], result["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    where = f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_gb']} GB"
    return f"{result['date']}, {where}, medians of {result['rounds']} rounds; {named}."


def _tables(result: Mapping[str, Any]) -> list[tuple[str, Sequence[str], list[Row]]]:
    return [
        ("Indexing", _SPEED, _speed_rows(result.get("speed", {}))),
        ("Growth", _GROWTH, _growth_rows(result)),
        ("Accuracy", _ACCURACY, _accuracy_rows(result.get("accuracy", {}))),
        ("Agreement with SCIP indexers", _AGREEMENT, _agreement_rows(result.get("agreement", {}))),
        ("Servers", _SERVERS, _server_rows(result.get("servers", []))),
        ("Questions, command line", _LATENCY, _latency_rows(result.get("latency", {}), "command_line")),
        ("Questions, in process", _LATENCY, _latency_rows(result.get("latency", {}), "in_process")),
        ("Search over a million symbols, in process", _MILLION, _million_rows(result.get("million", {}))),
        ("Characters of answers, django/", _SIZES, _size_rows(result.get("sizes", []))),
        ("Beside agent-lsp with a live pyright, django/", _AGENTS, _agent_rows(result.get("agents", []))),
    ]


def _speed_rows(speed: Mapping[str, Any]) -> list[Row]:
    """The last columns of a SCIP indexer say how many times lspidx's figures its own are."""
    rows: list[Row] = []
    for corpus, engines in speed.items():
        own = engines["lspidx"]
        for engine, run in engines.items():
            ratios = [f"{run[name] / own[name]:.2f}" if engine.startswith("scip-") else "" for name in ("wall_s", "cpu_s", "peak_rss_mb")]
            index = f"{run['index_bytes'] / 1e6:.1f}" if "index_bytes" in run else ""
            counts = [f"{run[name]:,}" if name in run else "" for name in ("files", "occurrences")]
            memory = [f"{run[name]:.0f}" for name in ("peak_rss_mb", "peak_pss_mb")]
            rows.append([corpus, engine, f"{run['wall_s']:.1f}", f"{run['cpu_s']:.1f}", *memory, *counts, index, *ratios])
    return rows


def _growth_rows(result: Mapping[str, Any]) -> list[Row]:
    """Only lspidx, by language, from the fewest identifiers to the most."""
    runs = [
        (result.get("language", {}).get(corpus, ""), engines["lspidx"]["identifiers"], corpus, engines["lspidx"])
        for corpus, engines in result.get("speed", {}).items()
        if "identifiers" in engines["lspidx"]
    ]
    order = list(dict.fromkeys(language for language, _, _, _ in runs))
    return [
        [
            *(language, corpus, f"{count:,}", f"{run['wall_s']:.1f}"),
            *(f"{1000 * run[name] / count:.3f}" for name in ("wall_s", "cpu_s")),
            f"{run['peak_rss_mb']:.0f}",
        ]
        for language, count, corpus, run in sorted(runs, key=lambda item: (order.index(item[0]), item[1]))
    ]


def _agreement_rows(agreement: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    for corpus, judged in agreement.items():
        parts, references = judged["definitions"], judged["references"]
        total = parts["total"]
        shares = [f"{parts[part]['agree_percent']:.2f}" for part in ("total", "uses", "in_file", "cross_file", "library", "local")]
        only = [f"{total[name]:,}" for name in ("only_lspidx", "only_scip")]
        sets = [f"{references[name]:.2f}" for name in ("same_percent", "shared_percent")]
        rows.append([corpus, judged["with"], f"{total['both']:,}", *shares, *only, *sets])
    return rows


def _server_rows(servers: Sequence[Mapping[str, Any]]) -> list[Row]:
    rows: list[Row] = []
    for row in servers:
        if row["error"]:
            rows.append([row["server"], row["corpus"], *([""] * 6), "failed"])
            continue
        wrong = "" if row["wrong_percent"] is None else f"{row['wrong_percent']:.2f}"
        figures = [
            f"{row['asked']:,}",
            f"{row['crawl_s']:.1f}",
            f"{row['per_s']:,.0f}",
            f"{row['unresolved_percent']:.2f}",
            str(row["lost"]),
        ]
        rows.append([row["server"], row["corpus"], *figures, wrong, row["held_against"]])
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


def _million_rows(million: Mapping[str, Any]) -> list[Row]:
    return [
        [match, "find_symbol", f"{times['p50_ms']:.2f}", f"{times['p95_ms']:.2f}", str(times["count"])] for match, times in million.items()
    ]


def _size_rows(sizes: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Below 1 in the last column the server's own answer is shorter than ours."""
    names = ("compact", "compact_whole", "json_whole", "raw", "requests")
    return [
        [
            *(row["question"], f"{row['told']:,} / {row['total']:,}"),
            *(f"{row[name]:,}" for name in names),
            f"{row['raw'] / row['compact']:.1f}",
        ]
        for row in sizes
    ]


def _agent_rows(agents: Sequence[Mapping[str, Any]]) -> list[Row]:
    def figure(value: float | None) -> str:
        return "" if value is None else f"{value:,.1f}"

    def count(value: int | None) -> str:
        return "" if value is None else f"{value:,}"

    return [
        [
            *(row["question"], row["error"], figure(row["own_ms"]), figure(row["first_ms"]), figure(row["warm_ms"])),
            *(figure(row["warm_ms"] / row["own_ms"] if row["warm_ms"] is not None else None), count(row["own_found"]), count(row["found"])),
        ]
        for row in agents
    ]


def _aligned(rows: list[Row]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines: list[str] = []
    for row in rows:
        padded = enumerate(zip(row, widths, strict=True))
        cells = [cell.ljust(width) if column < 2 else cell.rjust(width) for column, (cell, width) in padded]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
