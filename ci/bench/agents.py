"""The same questions put to agent-lsp, an MCP server that answers from live language servers: time, and how much of the answer is there.

agent-lsp comes by pip into an environment of its own, and asks pyright, which its own documentation names for Python. It opens a
folder with nothing but the package in it, the same files that lspidx has indexed. The times are a client's: from the call of a tool
to its answer, over stdio; lspidx's stand beside them in process. Where agent-lsp refuses because it still reads the folder, the
question is put again; that time counts as its first answer.

agent-lsp starts a broker that outlives it: everything started here is ended at the end, by descent and by the broker's own record.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import psutil

from ci.bench.corpora import Bench, Corpus
from ci.bench.latency import percentiles
from ci.bench.sizes import alone, place_of
from query import open_index
from query.facts.index import Index
from query.surface.registry import call

PACKAGE = "agent-lsp==0.23.5"
_ROUNDS = 10
_ANSWER_S = 120
_READY_S = 300
_STILL_READING = "still being indexed"

Count = Callable[[Any], int]
"""Rows of an answer of agent-lsp, from its JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Milliseconds. `first_ms` is agent-lsp's time to its first answer, waiting included; warm is the median afterwards.

    found, own_found: rows of its last answer and of lspidx's; None where rows are not counted. error: why there is no time.
    """

    question: str
    own_ms: float
    first_ms: float | None = None
    warm_ms: float | None = None
    found: int | None = None
    own_found: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One tool of the same name on both sides."""

    title: str
    tool: str
    theirs: Mapping[str, Any]
    ours: Mapping[str, Any]
    count: Count | None = None
    rounds: int = _ROUNDS


def questions(index: Index, folder: Path) -> list[Question]:
    """`folder` is agent-lsp's copy of the package."""
    reverse, error = "django.urls.base.reverse", "django.core.exceptions.ImproperlyConfigured"
    at = {}
    for name in (reverse, error):
        path, line, col = place_of(index, name)
        at[name] = {"file_path": str(folder / path), "line": line + 1, "column": col + 1}
    file, whole = "forms/formsets.py", {"limit": 1000}
    incoming = {"direction": "incoming"}
    return [
        Question(title="references to reverse", tool="find_references", theirs=at[reverse], ours={"symbol": reverse} | whole, count=len),
        Question(
            title="references to ImproperlyConfigured", tool="find_references", theirs=at[error], ours={"symbol": error} | whole, count=len
        ),
        Question(
            title="callers of reverse",
            tool="find_callers",
            theirs=at[reverse] | incoming,
            ours={"symbol": reverse} | incoming | whole,
            count=lambda found: len(found["incoming"]),
        ),
        Question(title="definition of reverse", tool="go_to_definition", theirs=at[reverse], ours={"symbol": reverse}),
        Question(title="hover of reverse", tool="inspect_symbol", theirs=at[reverse], ours={"symbol": reverse}),
        Question(title="source of reverse", tool="get_symbol_source", theirs=at[reverse], ours={"symbol": reverse}),
        Question(title="explore reverse", tool="explore_symbol", theirs=at[reverse], ours={"symbol": reverse}),
        Question(
            title="symbols named get_object_or",
            tool="find_symbol",
            theirs={"query": "get_object_or"},
            ours={"query": "get_object_or"},
            count=len,
        ),
        Question(title=f"outline of {file}", tool="list_symbols", theirs={"file_path": str(folder / file)}, ours={"file_path": file}),
        *(
            Question(
                title=f"blast radius of {module}",
                tool="blast_radius",
                theirs={"changed_files": [str(folder / module)]},
                ours={"changed_files": [module]},
                rounds=2,
            )
            for module in (file, "db/models/query.py")
        ),
    ]


def measure(bench: Bench, corpus: Corpus, *, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """All questions, each on both sides.

    Raises:
        subprocess.CalledProcessError: agent-lsp could not be installed.
    """
    program = install(bench)
    root = alone(bench, corpus)
    home = bench.folder / "agent-lsp-home"  # its broker's record and its cache of answers; the first answers are to be first ones
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    try:
        with open_index(corpus.root) as index:
            asked = questions(index, (root / corpus.root.name).resolve())
            own = [_own(index, question) for question in asked]
            theirs = asyncio.run(_ask_all(bench, program, root, home, asked, say))
    finally:
        end_brokers(home)
    return [asdict(Row(question=question.title, **mine, **answer)) for question, mine, answer in zip(asked, own, theirs, strict=True)]


def install(bench: Bench) -> Path:
    """The binary itself, not the script around it: ending that would leave the binary alive."""
    folder = bench.folder / "agent-lsp"
    stamp = folder / "requirements.txt"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != PACKAGE:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        subprocess.run([str(python), "-m", "pip", "install", "-q", "--no-deps", PACKAGE], check=True, stdout=sys.stderr)
        stamp.write_text(PACKAGE, encoding="utf-8")
    return next(folder.glob("lib/python*/site-packages/agent_lsp/bin/agent-lsp")).absolute()


def _own(index: Index, question: Question) -> dict[str, Any]:
    answer = call(index, question.tool, question.ours)
    times: list[float] = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        call(index, question.tool, question.ours)
        times.append(1000 * (time.perf_counter() - started))
    found = {"own_found": answer.total} if question.count else {}
    return {"own_ms": percentiles(times)["p50_ms"], **found}


async def _ask_all(
    bench: Bench, program: Path, root: Path, home: Path, asked: Sequence[Question], say: Callable[[str], None]
) -> list[dict[str, Any]]:
    from mcp import StdioServerParameters

    pyright = bench.node_program("pyright-langserver").absolute()
    variables = environment(home, pyright.parent) | {"VIRTUAL_ENV": str(bench.environment.absolute())}
    server = StdioServerParameters(command=str(program), args=["python:pyright-langserver,--stdio"], cwd=str(root), env=variables)
    log = bench.folder / "log" / "agent-lsp.log"
    log.parent.mkdir(exist_ok=True)
    results: list[dict[str, Any]] = []
    async with contextlib.AsyncExitStack() as stack:
        session = await opened(stack, server, stack.enter_context(log.open("w", encoding="utf-8")))
        await session.call_tool("start_lsp", {"root_dir": str(root.resolve()), "language_id": "python"})
        for question in asked:
            results.append(await _answer(session, question))
            say(f"agent-lsp: {question.title}")
    return results


def environment(home: Path, programs: Path) -> dict[str, str]:
    """agent-lsp's variables: it keeps its things in `home` and finds servers in `programs` first; answers are JSON."""
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    return {"HOME": str(home.absolute()), "PATH": path, "AGENT_LSP_OUTPUT_FORMAT": "json"}


async def opened(stack: contextlib.AsyncExitStack, server: Any, log: TextIO) -> Any:
    """A session with an MCP server that ends with the stack."""
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    streams = await stack.enter_async_context(stdio_client(server, errlog=log))
    session = await stack.enter_async_context(ClientSession(*streams))
    await session.initialize()
    return session


async def _answer(session: Any, question: Question) -> dict[str, Any]:
    times: list[float] = []
    text = ""
    for _ in range(question.rounds + 1):
        started = time.perf_counter()
        while True:
            try:
                reply = await asyncio.wait_for(session.call_tool(question.tool, dict(question.theirs)), _ANSWER_S)
            except TimeoutError:
                return {"error": f"no answer within {_ANSWER_S} s"}
            text = "".join(getattr(part, "text", "") for part in reply.content)
            if not reply.is_error:
                break
            if _STILL_READING not in text or time.perf_counter() - started > _READY_S:
                return {"error": text[:200]}
            await asyncio.sleep(0.2)
        times.append(1000 * (time.perf_counter() - started))
    found = {"found": question.count(value_of(text))} if question.count else {}
    return {"first_ms": round(times[0], 2), "warm_ms": percentiles(times[1:])["p50_ms"], **found}


def value_of(text: str) -> Any:
    """The JSON with which an answer begins; what follows it is advice."""
    return json.JSONDecoder().raw_decode(text)[0]


def end_brokers(home: Path) -> None:
    """Each broker that wrote itself down below `home`, with its servers, if it is still what it says it is."""
    for record in home.rglob("daemon.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, psutil.NoSuchProcess):
            broker = psutil.Process(int(json.loads(record.read_text(encoding="utf-8"))["pid"]))
            if "daemon-broker" not in broker.cmdline():
                continue
            for process in [*broker.children(recursive=True), broker]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
