"""What a running server costs beside the index, and beside agent-lsp: hovers, references, and the rename of a widely used function.

The corpus is django's package. Commands are timed from their start to their end; over MCP a client's times, from the call of a tool to
its answer, by turns. agent-lsp has the same server (ty), running and warm; it opens a copy of the package, with nothing above it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ci.bench import agents, corpora
from ci.bench.corpora import Bench
from ci.bench.sizes import alone, place_of
from query import open_index

_ROUNDS = 7
_ANSWER_S = 120
_NAME = "django.urls.base.reverse"
_NEW_NAME = "reverse_url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Seconds, medians but for `first_s`. found: places in the answer, where it has any."""

    question: str
    engine: str
    first_s: float
    warm_s: float
    found: int | None = None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.live", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where corpora and peers are kept")
    options = parser.parse_args()
    bench = Bench(options.folder.absolute())
    corpora.fetch_python(bench, ["django"])
    rows = measure(bench, say=lambda line: print(line, file=sys.stderr))
    (bench.folder / "live.json").write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    print(table(rows))
    return 0


def measure(bench: Bench, *, say: Callable[[str], None]) -> list[Row]:
    """Commands first, then both over MCP.

    Raises:
        subprocess.CalledProcessError: an index or agent-lsp could not be had.
    """
    corpus = bench.corpora("python")["django/"]
    root = corpus.root
    subprocess.run([sys.executable, "-m", "query.cli", "index", "-q", str(root)], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as runtime:
        environment = {**os.environ, "XDG_RUNTIME_DIR": runtime}
        try:
            rows = [*_by_command(root, environment, say), *_over_mcp(bench, root, environment, say)]
        finally:
            subprocess.run(
                [sys.executable, "-m", "query.cli", "daemon", "stop", "--all"], env=environment, check=False, stdout=subprocess.DEVNULL
            )
    return rows


def table(rows: Sequence[Row]) -> str:
    """Markdown."""
    head = ["question", "answered by", "first s", "then s", "places"]
    out = [f"| {' | '.join(head)} |", "|---|---|---:|---:|---:|"]
    for row in rows:
        cells = [row.question, row.engine, f"{row.first_s:.3f}", f"{row.warm_s:.3f}", "" if row.found is None else str(row.found)]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


# ---- commands


def _by_command(root: Path, environment: Mapping[str, str], say: Callable[[str], None]) -> list[Row]:
    def asked(*words: str, idle_s: str = "900") -> Callable[[], object]:
        command = [sys.executable, "-m", "query.cli", "-C", str(root), "query", *words, "--max-chars", "0", "--json"]
        more = {**environment, "LSPIDX_DAEMON_IDLE_S": idle_s}
        return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=more)

    rows: list[Row] = []
    for title, engine, ask in (
        ("hover of reverse, a command", "the index", asked("hover", _NAME)),
        ("hover of reverse, a command", "a server of its own", asked("hover", _NAME, "--live", idle_s="0")),
        ("hover of reverse, a command", "the background process", asked("hover", _NAME, "--live")),
        ("references to reverse, a command", "the index", asked("references", _NAME, "--limit", "1000")),
        ("references to reverse, a command", "the background process", asked("references", _NAME, "--limit", "1000", "--live")),
        ("rename of reverse, a command", "the background process, held against the index", asked("rename_symbol", _NAME, _NEW_NAME)),
    ):
        first, *others = [_timed(ask) for _ in range(_ROUNDS)]
        rows.append(Row(question=title, engine=engine, first_s=first, warm_s=statistics.median(others)))
        say(f"{title}, {engine}: {rows[-1].warm_s:.3f} s")
    return rows


def _timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


# ---- over MCP, by turns


def _over_mcp(bench: Bench, root: Path, environment: Mapping[str, str], say: Callable[[str], None]) -> list[Row]:
    corpus = bench.corpora("python")["django/"]
    program = agents.install(bench)
    shutil.rmtree(bench.folder / "peers" / f"{root.parent.name}-{root.name}", ignore_errors=True)  # a peer may have edited it
    copy = alone(bench, corpus) / root.name
    home = bench.folder / "agent-lsp-home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    with open_index(root) as index:
        path, line, col = place_of(index, _NAME)
    try:
        return asyncio.run(_by_turns(bench, root, copy.resolve(), program, home, environment, (path, line + 1, col + 1), say))
    finally:
        agents.end_brokers(home)


async def _by_turns(
    bench: Bench,
    root: Path,
    copy: Path,
    program: Path,
    home: Path,
    environment: Mapping[str, str],
    at: tuple[str, int, int],
    say: Callable[[str], None],
) -> list[Row]:
    from mcp import StdioServerParameters

    programs = Path(sysconfig.get_path("scripts"))
    own = StdioServerParameters(
        command=sys.executable,
        args=["-m", "query.cli", "-C", str(root), "mcp", "--budget", "40000", "--format", "json"],
        cwd=str(bench.folder),  # in the package's own folder its modules would hide Python's
        env=dict(environment),
    )
    other = StdioServerParameters(
        command=str(program), args=[f"python:{programs / 'ty'},server"], cwd=str(copy.parent), env=agents.environment(home, programs)
    )
    path, line, column = at
    ours = {"file_path": path, "line": line, "column": column}
    theirs = {"file_path": str(copy / path), "language_id": "python", "line": line, "column": column}
    questions = (
        ("hover of reverse, MCP", "inspect_symbol", {**ours, "live": True}, theirs),
        ("references to reverse, MCP", "find_references", {**ours, "live": True, "limit": 1000}, theirs),
        ("rename of reverse, MCP", "rename_symbol", {**ours, "new_name": _NEW_NAME}, {**theirs, "new_name": _NEW_NAME, "dry_run": True}),
    )
    rows: list[Row] = []
    async with contextlib.AsyncExitStack() as stack:
        log = stack.enter_context((home / "log").open("w", encoding="utf-8"))
        first, second = await agents.opened(stack, own, log), await agents.opened(stack, other, log)
        await second.call_tool("start_lsp", {"root_dir": str(copy.parent), "language_id": "python"})
        for title, tool, mine, their in questions:
            seconds: dict[str, list[float]] = {"lspidx": [], agents.PACKAGE: []}
            texts: dict[str, str] = {}
            found: dict[str, int | None] = {}
            for _ in range(_ROUNDS):
                for engine, session, arguments in (("lspidx", first, mine), (agents.PACKAGE, second, their)):
                    started = time.perf_counter()
                    reply = await asyncio.wait_for(session.call_tool(tool, arguments), _ANSWER_S)
                    seconds[engine].append(time.perf_counter() - started)
                    texts[engine] = "".join(getattr(part, "text", "") for part in reply.content)
                    structured = reply.structured_content
                    found[engine] = _places(structured if structured is not None else texts[engine])
                    if reply.is_error:
                        raise RuntimeError(f"{engine} does not answer {tool}: {texts[engine][:300]}")
            for engine, spent in seconds.items():
                rows.append(Row(question=title, engine=engine, first_s=spent[0], warm_s=statistics.median(spent[1:]), found=found[engine]))
                say(f"{title}, {engine}: {rows[-1].warm_s:.3f} s, {rows[-1].found} places")
    return rows


def _places(answer: Any) -> int | None:
    """Places in an answer of either: references, or edits of a rename. agent-lsp's JSON has prose after it."""
    if isinstance(answer, str):
        try:
            answer, _ = json.JSONDecoder().raw_decode(answer)
        except ValueError:
            return None
    if isinstance(answer, list):
        return len(answer)
    result = answer.get("result")
    if isinstance(result, dict) and "edited" in result:
        return int(result["edited"]["edits"])
    if isinstance(result, list):
        return int(answer["total"])
    edit = answer.get("workspace_edit") or {}
    if not edit:
        return None
    by_file = [*(edit.get("changes") or {}).values(), *(item.get("edits", []) for item in edit.get("documentChanges") or [])]
    return sum(len(edits) for edits in by_file)


if __name__ == "__main__":
    raise SystemExit(main())
