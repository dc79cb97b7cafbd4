"""The same change put to lspidx and to agent-lsp in one run: time, and how many of the symbols that each names the diff touches.

flask 3.0.3 and 3.1.0 are two commits of one repository. Both engines get their facts from the same server, ty, and are asked over MCP by
the same client, by turns, from the call of the tool to its answer; lspidx has its indexes of both commits beforehand, agent-lsp its
server running and warm. What a diff touches is read here, from git's lines and Python's own parser, by nobody's index.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ci.bench import agents, sdists
from ci.bench.corpora import Bench

VERSIONS = ("3.0.3", "3.1.0")
_ROUNDS = 3
_ANSWER_S = 300
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_QUESTION = {"scope": "committed", "range": "HEAD~1..HEAD"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Seconds: the first answer, and the median of those after it. named: symbols of Python files in the answer; touched: those of them
    of which the diff touches a line of their own; found: of all functions and classes that it touches (`of`), those that are named.
    """

    engine: str
    first_s: float
    warm_s: float
    named: int
    touched: int
    found: int
    of: int


class Named(NamedTuple):
    """A symbol in an answer; `line` 1-based, of the old side where that is said."""

    path: str
    name: str
    line: int
    is_old: bool = False


class Place(NamedTuple):
    """A function, class, assignment or module of one side; lines 1-based, the last one included."""

    name: str
    qualified: str
    first: int
    last: int
    is_definition: bool


def measure(folder: Path, *, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """agent-lsp last.

    Raises:
        subprocess.CalledProcessError: a registry's client or git failed.
    """
    root = fetch(folder)
    truth = Truth(root)
    program = agents.install(Bench(folder))
    home = folder / "agent-lsp-home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    try:
        ours, theirs = asyncio.run(_by_turns(root, program, home, say))
    finally:
        agents.end_brokers(home)
    started = time.perf_counter()
    answer = _by_command(root)
    spent = time.perf_counter() - started
    again = [_timed(lambda: _by_command(root)) for _ in range(_ROUNDS)]
    own = [place for item in answer["result"]["changed_symbols"] for place in _places_of_item(item)]
    named = [
        Named(Path(item["file"]).relative_to(root.resolve()).as_posix(), item["name"], item["line"])
        for item in agents.value_of(theirs.text)["affected_symbols"]
    ]
    rows = [
        truth.judge("lspidx, command line", [spent, *again], own),
        truth.judge("lspidx, MCP", ours.seconds, own),
        truth.judge(f"{agents.PACKAGE.replace('==', ' ')}, MCP", theirs.seconds, named),
    ]
    return [asdict(row) for row in rows]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown; how many times as long as lspidx over MCP each takes."""
    own = next(row["warm_s"] for row in rows if row["engine"] == "lspidx, MCP")
    head = ["engine", "first s", "warm s", "times lspidx", "symbols named", "the diff touches", "functions and classes touched, named"]
    out = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for row in rows:
        cells = [
            *(row["engine"], f"{row['first_s']:.2f}", f"{row['warm_s']:.2f}", f"{row['warm_s'] / own:.1f}", str(row["named"])),
            f"{row['touched']} ({100 * row['touched'] / max(1, row['named']):.0f} %)",
            f"{row['found']} of {row['of']} ({100 * row['found'] / max(1, row['of']):.0f} %)",
        ]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


# ---- the two commits


def fetch(folder: Path) -> Path:
    """Two releases as two commits of a repository, with lspidx's index of either."""
    root = folder / f"flask-{'-'.join(VERSIONS)}"
    if not (root / ".git").is_dir():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        _git(root, "init", "-q")
        (root / ".git" / "info" / "exclude").write_text(".lspidx/\n", encoding="utf-8")
        for number in VERSIONS:
            for old in root.iterdir():
                if old.name != ".git":
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
            shutil.copytree(_unpacked(folder, number), root, dirs_exist_ok=True)
            _git(root, "add", "-A", "-f")
            _git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", number)
    if not (root / ".lspidx").is_dir():
        subprocess.run([sys.executable, "-m", "query.cli", "index", "-q", str(root)], check=True)
        subprocess.run([*_command(root), "--make-base"], check=True, stdout=subprocess.DEVNULL)
    return root


def _unpacked(folder: Path, number: str) -> Path:
    return sdists.sources(folder, f"flask=={number}")


def _places_of_item(item: Mapping[str, Any]) -> Iterator[Named]:
    """Where a changed symbol is, and where it was, if that was elsewhere."""
    yield Named(item["file"], item["name"], item["line"], is_old=item["what"] == "removed")
    if item.get("old_file") or item.get("old_name"):
        yield Named(item.get("old_file") or item["file"], item.get("old_name") or item["name"], item["old_line"], is_old=True)


def _git(root: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True).stdout


# ---- the questions


@dataclass(frozen=True, slots=True)
class _Answered:
    """The last answer, and what each took."""

    text: str
    seconds: list[float]


def _command(root: Path) -> list[str]:
    asked = ["--scope", _QUESTION["scope"], "--range", _QUESTION["range"], "--limit", "5000", "--max-chars", "0", "--json"]
    return [sys.executable, "-m", "query.cli", "-C", str(root), "query", "changes", *asked]


def _by_command(root: Path) -> dict[str, Any]:
    done = subprocess.run(_command(root), check=True, capture_output=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


async def _by_turns(root: Path, program: Path, home: Path, say: Callable[[str], None]) -> tuple[_Answered, _Answered]:
    """The answers of lspidx and of agent-lsp; one waits while the other works."""
    from mcp import StdioServerParameters

    programs = Path(sysconfig.get_path("scripts"))
    own = StdioServerParameters(
        command=sys.executable, args=["-m", "query.cli", "-C", str(root), "mcp", "--budget", "40000"], cwd=str(root)
    )
    other = StdioServerParameters(
        command=str(program),
        args=[f"python:{programs / 'ty'},server"],
        cwd=str(root),
        env=agents.environment(home, programs),
    )
    async with AsyncExitStack() as stack:
        log = stack.enter_context((home / "log").open("w", encoding="utf-8"))
        ours, theirs = await agents.opened(stack, own, log), await agents.opened(stack, other, log)
        await theirs.call_tool("start_lsp", {"root_dir": str(root.resolve()), "language_id": "python"})
        answers: tuple[list[tuple[str, float]], list[tuple[str, float]]] = ([], [])
        for number in range(_ROUNDS + 1):
            for name, session, kept in (("lspidx", ours, answers[0]), ("agent-lsp", theirs, answers[1])):
                asked = dict(_QUESTION) if session is ours else {**_QUESTION, "workspace_root": str(root.resolve())}
                kept.append(await _ask(session, asked))
                say(f"{name}: answer {number + 1} of the change of flask")
    first, second = (_Answered(kept[-1][0], [spent for _, spent in kept]) for kept in answers)
    return first, second


async def _ask(session: Any, asked: Mapping[str, str]) -> tuple[str, float]:
    started = time.perf_counter()
    reply = await asyncio.wait_for(session.call_tool("detect_changes", dict(asked)), _ANSWER_S)
    spent = time.perf_counter() - started
    text = "".join(getattr(part, "text", "") for part in reply.content)
    if reply.is_error:
        raise RuntimeError(f"no answer about the change of flask: {text[:200]}")
    return text, spent


# ---- what the diff touches


class Truth:
    """The symbols of Python files of which a line of their own differs on either side, empty ones apart: (path, qualified name).

    All of a file that has another name by now: whoever names its symbols has to name it otherwise.
    """

    def __init__(self, root: Path) -> None:
        self._places: tuple[dict[str, list[Place]], dict[str, list[Place]]] = ({}, {})
        self._touched: set[tuple[str, str]] = set()
        self.definitions: set[tuple[str, str]] = set()
        diff = _git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", "-M", "HEAD~1", "HEAD")
        for old_path, new_path, ranges in changed_lines(diff):
            is_renamed = old_path != new_path and "" not in (old_path, new_path)
            for side, path in enumerate((old_path, new_path)):
                if path.endswith(".py"):
                    source = _git(root, "show", f"{'HEAD~1' if side == 0 else 'HEAD'}:{path}").decode()
                    whole = [(1, source.count("\n") + 1)]
                    self._add(side, path, source, whole if is_renamed else [pair[side] for pair in ranges])

    def _add(self, side: int, path: str, source: str, ranges: Sequence[tuple[int, int]]) -> None:
        places = self._places[side][path] = list(places_of(source))
        lines = source.split("\n")
        for first, last in ranges:
            for line in range(first, last + 1):
                if line > len(lines) or not lines[line - 1].strip():
                    continue
                owner = innermost(places, line)
                self._touched.add((path, owner.qualified))
                if owner.is_definition:
                    self.definitions.add((path, owner.qualified))

    def judge(self, engine: str, seconds: Sequence[float], named: Iterable[Named]) -> Row:
        """Of a symbol that is named twice one counts."""
        resolved = {self._resolved(item) for item in named if item.path.endswith(".py")}
        return Row(
            engine=engine,
            first_s=round(seconds[0], 3),
            warm_s=round(statistics.median(seconds[1:]), 3),
            named=len(resolved),
            touched=len(resolved & self._touched),
            found=len(resolved & self.definitions),
            of=len(self.definitions),
        )

    def _resolved(self, item: Named) -> tuple[str, str]:
        """What an answer means, by its line on the new side, else on the old one; a name that is in no such place stands for itself."""
        for side in (0,) if item.is_old else (1, 0):
            near = [place for place in self._places[side].get(item.path, ()) if place.first - 1 <= item.line <= place.last]
            same = [place for place in near if place.name == item.name.rpartition(".")[2]]
            if same:
                return item.path, same[-1].qualified
            if item.line <= 1 and near:  # a module has no name of its own in its text
                return item.path, ""
        return item.path, f"{item.name} at {item.line}"


def changed_lines(diff: bytes) -> Iterator[tuple[str, str, list[tuple[tuple[int, int], tuple[int, int]]]]]:
    """(old path, new path, pairs of first and last lines that differ on either side) of each file; an empty side ends before it begins."""
    for part in re.split(rb"^diff --git ", diff, flags=re.MULTILINE)[1:]:
        old, new = (
            re.search(rb"^(?:rename %s |%s (?:[ab]/)?)(.+)$" % (word, mark), part, re.MULTILINE)
            for word, mark in ((rb"from", rb"---"), (rb"to", rb"\+\+\+"))
        )
        ranges: list[tuple[tuple[int, int], tuple[int, int]]] = []
        for line in part.splitlines():
            if (match := _HUNK.match(line)) is not None:
                a, b, c, d = (int(number) if number is not None else 1 for number in match.groups())
                ranges.append(((a, a + b - 1), (c, c + d - 1)))
        yield _path(old), _path(new), ranges


def _path(found: re.Match[bytes] | None) -> str:
    name = found.group(1).decode().rstrip("\t") if found else ""
    return "" if name == "/dev/null" else name


def places_of(source: str) -> Iterator[Place]:
    """The module first, each before what lies in it. What lies in a function is the function's."""
    yield Place("", "", 1, source.count("\n") + 1, is_definition=False)
    yield from _inside(ast.parse(source), "")


def _inside(node: ast.AST, prefix: str) -> Iterator[Place]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([child.lineno, *(item.lineno for item in child.decorator_list)])
            qualified = f"{prefix}{child.name}"
            yield Place(child.name, qualified, first, child.end_lineno or child.lineno, is_definition=True)
            if isinstance(child, ast.ClassDef):
                yield from _inside(child, f"{qualified}.")
            else:
                yield from (inner._replace(qualified=qualified, is_definition=True) for inner in _inside(child, ""))
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield Place(target.id, f"{prefix}{target.id}", child.lineno, child.end_lineno or child.lineno, is_definition=False)
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _inside(child, prefix)


def innermost(places: Sequence[Place], line: int) -> Place:
    """The last one around a line, for each is listed before what lies in it."""
    return [place for place in places if place.first <= line <= place.last][-1]
