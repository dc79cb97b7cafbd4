"""What several test modules need: goldens, caret snapshots, watchers, crawls."""

from __future__ import annotations

import ast
import functools
import gc
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import psutil
import pytest

from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.process import WORKER
from indexer.crawl.run import Crawl, crawl
from indexer.model import Role, SymbolFlag
from indexer.servers.registry import FoundServer, Place, server_spec
from indexer.syntax.model import BUILTIN, Syntax
from indexer.text import utf16_to_index

HERE = Path(__file__).parent
CORPORA = HERE / "corpora"
GOLDEN = HERE / "golden"
FAKE_SERVER = HERE / "fakes" / "language_server.py"


@functools.cache
def parsed(package: str) -> Sequence[tuple[str, ast.Module]]:
    """Path and syntax of each Python file in a folder of this repository, for tests that look at the code itself."""
    files = sorted((HERE.parent / package).rglob("*.py"))
    gc.disable()  # a million nodes that stay: to look for garbage among them takes three times as long as parsing, and goes on ever after
    try:
        return [(file.relative_to(HERE.parent).as_posix(), ast.parse(file.read_text(encoding="utf-8"))) for file in files]
    finally:
        gc.freeze()
        gc.enable()


def check_golden(name: str, actual: str) -> None:
    """Compares with tests/golden/<name>; UPDATE_GOLDEN=1 writes it instead."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(actual, encoding="utf-8", newline="")
    assert path.is_file(), f"no golden '{name}'; to write it: UPDATE_GOLDEN=1"
    assert actual == path.read_bytes().decode("utf-8"), f"differs from golden '{name}'; to accept: UPDATE_GOLDEN=1"


@dataclass
class Watcher:
    """Records what a crawl says; `on_advance` may interfere."""

    phases: list[tuple[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    expected: list[tuple[float | None, str]] = field(default_factory=list)
    documents: int = 0
    on_phase: Callable[[str], None] | None = None
    on_advance: Callable[[], None] | None = None

    def phase(self, name: str, total_documents: int) -> None:
        self.phases.append((name, total_documents))
        if self.on_phase is not None:
            self.on_phase(name)

    def advance(self, documents: int, tokens: int) -> None:
        self.documents += documents
        if self.on_advance is not None:
            self.on_advance()

    def note(self, message: str) -> None:
        self.notes.append(message)

    def expect(self, left_s: float | None, waits_for: str) -> None:
        self.expected.append((left_s, waits_for))


def crawl_with_ty(root: Path, *, watcher: Watcher | None = None, full: bool = False, **settings: Any) -> Crawl:
    """A crawl with the real server, in an empty environment."""
    return crawl(root, Config(**settings), watcher or Watcher(), full=full, environment={})


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes `files` by relative path and returns `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def installed(packages: Mapping[str, str]) -> dict[str, str | bytes]:
    """The files of an environment in `.venv`, which nobody runs, that has these files in its site-packages."""
    site = {f".venv/lib/python3.12/site-packages/{name}": text for name, text in packages.items()}
    return {".venv/pyvenv.cfg": "home = /usr\nversion = 3.12\n", ".venv/bin/python": "", **site}


def crawled_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes `files`, crawls them with the real servers that they need, and returns `root`."""
    write_tree(root, files)
    crawl_with_ty(root, jobs=1)
    return root


def rows(generation: Path, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Answer of a query on a published index.

    DuckDB takes 15 ms of processor to begin and to end, and 1 to attach a file: so all questions of these tests go to one instance.
    """
    cursor = _reader().cursor()
    quoted = str(generation).replace("'", "''")
    cursor.execute(f"ATTACH '{quoted}' AS asked (READ_ONLY)")
    try:
        cursor.execute("USE asked")
        return cursor.execute(sql, list(parameters)).fetchall()
    finally:
        cursor.execute("USE memory")
        cursor.execute("DETACH asked")
        cursor.close()


@functools.cache
def _reader() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


VIEWS = (
    "documents",
    "symbols",
    "occurrences",
    "calls",
    "type_edges",
    "overrides",
    "diagnostics",
    "coverage",
    "unresolved_imports",
    "unresolved_operations",
)


# ---- the fake server


def fake_server(script: str, pids: Path, *, language: str = "python", **spec: Any) -> FoundServer:
    """The fake language server with a script of tests/fakes/scripts; each of its processes leaves its number in the folder `pids`."""
    pids.mkdir(exist_ok=True)
    changed = msgspec.structs.replace(
        server_spec("ty"),
        **{
            "name": "fake",
            "languages": [language],
            "command": ["fake"],
            "options": {},
            "settings": {"fake": {"answers": {"deep": 42}}},
            "environment": {"FAKE_PIDS": str(pids)},
            "timeout_s": 20.0,
            "executes": [],
            "places": {"FAKE_HOME": Place(at=[str(FAKE_SERVER.parent)])},
            "variables": ["FAKE_*"],
            "writes": [str(pids.parent)],
            **spec,
        },
    )
    command = [sys.executable, "-IS", str(FAKE_SERVER), str(HERE / "fakes" / "scripts" / f"{script}.toml")]
    return FoundServer(spec=changed, command=command, version="1.0", source="tests")


def crawl_with_fake(root: Path, found: FoundServer, *, full: bool = False, watcher: Watcher | None = None, **settings: Any) -> Crawl:
    """Crawls with this server in the place of all; no process may be left afterwards."""
    pids = Path(found.spec.environment["FAKE_PIDS"])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(choice, "find_server", lambda name, avoid=(): found)
        try:
            return crawl(root, Config(**{"jobs": 1, **settings}), watcher or Watcher(), full=full, environment={})
        finally:
            assert_all_ended([int(file.name) for file in pids.iterdir()])


def assert_all_ended(pids: list[int]) -> None:
    """Neither a server nor a worker is left; the kernel may still be busy with killing one."""
    left: list[psutil.Process] = []
    for pid in pids:
        try:
            process = psutil.Process(pid)
            if str(FAKE_SERVER) in process.cmdline():
                left.append(process)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    workers = [child for child in _children() if WORKER in _command(child)]
    _, alive = psutil.wait_procs([*left, *workers], timeout=10)
    assert alive == []


def _children() -> list[psutil.Process]:
    for _ in range(10):
        try:
            return psutil.Process().children(recursive=True)
        except IndexError:  # psutil has read the status of a process in the moment of its end
            continue
    raise AssertionError("the processes cannot be listed")


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


# ---- caret snapshots


def qualified_names(syntax: Syntax) -> list[str]:
    """Dotted name of each symbol; `#2` marks the second symbol of one scope and name."""
    names: list[str] = []
    for symbol in syntax.symbols:
        name = symbol.name if symbol.container < 0 else f"{names[symbol.container]}.{symbol.name}"
        count = sum(other == name or other.startswith(f"{name}#") for other in names)
        names.append(f"{name}#{count + 1}" if count else name)
    return names


def snapshot(source: bytes, syntax: Syntax) -> str:
    """The source with carets under each identifier, and the outline below it.

    `def` = definition etc.; `-> x` certain symbol; `ask` the server is asked; `same L:C` shares the answer of the token at
    1-based line and column; `callee L:C` is called
    through the same variable as there; `up n` is n packages above that answer; `in x` innermost enclosing symbol, where it is
    not the module.
    """
    tokens = syntax.tokens
    names = qualified_names(syntax)
    by_line: dict[int, list[int]] = {}
    for index in range(len(tokens)):
        by_line.setdefault(tokens.line[index], []).append(index)
    lines = source.decode("utf-8", "replace").split("\n")
    out: list[str] = []
    for number, line in enumerate(lines):
        if number == len(lines) - 1 and not line:
            break
        shown = line.replace("\r", "␍").replace("\ufeff", "␀")
        out.append(f"    {shown}".rstrip() if len(shown) < 160 else f"    {shown[:160]}…")
        for index in by_line.get(number, [])[:40]:
            start, end = utf16_to_index(line, tokens.col[index]), utf16_to_index(line, tokens.end_col[index])
            pad = "".join("\t" if char == "\t" else " " for char in line[:start])
            what: list[str] = []
            if tokens.symbol[index] >= 0:
                what.append(f"-> {names[tokens.symbol[index]]}")
            elif tokens.symbol[index] == BUILTIN:
                what.append("-> builtin")
            if tokens.ask[index]:
                what.append("ask")
            if tokens.same_as[index] >= 0:
                same = tokens.same_as[index]
                what.append(f"same {tokens.line[same] + 1}:{tokens.col[same] + 1}")
            callee = tokens.callee_as[index]
            if callee >= 0 and callee != index:
                what.append(f"callee {tokens.line[callee] + 1}:{tokens.col[callee] + 1}")
            if tokens.up[index]:
                what.append(f"up {tokens.up[index]}")
            if tokens.enclosing[index]:
                what.append(f"in {names[tokens.enclosing[index]]}")
            out.append(f"    {pad}{'^' * (end - start)} {'+'.join(Role(tokens.roles[index]).labels)} {' '.join(what)}")
    out.append("----")
    depth = [0] * len(syntax.symbols)
    for ordinal, symbol in enumerate(syntax.symbols):
        if ordinal:
            depth[ordinal] = depth[symbol.container] + 1
        flags = "".join(f" {flag.name.lower()}" for flag in SymbolFlag if flag in symbol.flags and flag.name)
        extra = f" +{len(symbol.extra_ranges)}" if symbol.extra_ranges else ""
        where = f"{symbol.span.line + 1}:{symbol.span.col + 1}-{symbol.span.end_line + 1}:{symbol.span.end_col + 1}"
        signature = f" `{symbol.signature}`" if symbol.signature else ""
        documentation = f" doc {symbol.documentation!r}" if symbol.documentation else ""
        out.append(f"{'  ' * depth[ordinal]}{symbol.kind.label} {symbol.name} {where}{extra}{flags}{signature}{documentation}")
    for owner, token in syntax.bases:
        out.append(f"base {tokens.name[token]} of {names[owner]}")
    for token, module in syntax.imports:
        out.append(f"import {module} at {tokens.line[token] + 1}:{tokens.col[token] + 1}")
    if syntax.error_lines:
        out.append(f"errors in lines {[line + 1 for line in syntax.error_lines]}")
    return "\n".join(out) + "\n"


# ---- call graphs of small sources


def graph(index: duckdb.DuckDBPyConnection, corpus: Path, behaviour: str, *, own: str) -> str:
    """Each file with its occurrences and calls below each line, then types, overrides and unresolved imports.

    Args:
        own: what the corpus's monikers begin with; left out of the text.
    """
    sql = "SELECT symbol, path, sel_line FROM symbols WHERE path LIKE ? AND NOT is_external"

    def short(moniker: str | None) -> str:
        return "?" if moniker is None else moniker.removeprefix(own)

    names = {
        symbol: (f"local {path.removeprefix(f'{behaviour}/')}:{line + 1}" if symbol.startswith("local ") else short(symbol))
        for symbol, path, line in index.execute(sql, [f"{behaviour}/%"]).fetchall()
    }

    def named(symbol: str | None) -> str:
        return names.get(symbol or "", short(symbol))

    paths = [row[0] for row in index.execute("SELECT path FROM documents WHERE path LIKE ? ORDER BY path", [f"{behaviour}/%"]).fetchall()]
    out: list[str] = []
    for path in paths:
        out.append(f"==== {path.removeprefix(f'{behaviour}/')}")
        occurrences = index.execute(
            "SELECT line, col, end_col, roles, symbol, evidence FROM occurrences WHERE path = ? ORDER BY line, col, symbol", [path]
        ).fetchall()
        calls = index.execute("SELECT line, col, caller, callee, evidence FROM calls WHERE path = ? ORDER BY ALL", [path]).fetchall()
        for number, line in enumerate((corpus / path).read_text(encoding="utf-8").split("\n")):
            out.append(f"    {line}".rstrip())
            places = sorted({(row[1], row[2]) for row in occurrences if row[0] == number})
            for col, end_col in places:
                start, end = utf16_to_index(line, col), utf16_to_index(line, end_col)
                mark = f"    {' ' * start}{'^' * (end - start)}"
                for _, _, _, roles, symbol, evidence in [row for row in occurrences if row[:2] == (number, col)]:
                    if roles == ["definition"] or roles == ["definition", "write"]:
                        continue
                    out.append(f"{mark} {'+'.join(roles)} -> {named(symbol)} [{evidence}]")
                for _, _, caller, callee, evidence in [row for row in calls if row[:2] == (number, col)]:
                    out.append(f"{mark} CALL {named(caller)} -> {named(callee)} [{evidence}]")
        while out[-1] == "":
            out.pop()
    prefix = f"{own}{behaviour}/%"
    for title, sql in (
        ("types", "SELECT subtype, supertype, evidence FROM type_edges WHERE subtype LIKE ? ORDER BY ALL"),
        ("overrides", "SELECT member, overridden, '' FROM overrides WHERE member LIKE ? ORDER BY ALL"),
    ):
        found = index.execute(sql, [prefix]).fetchall()
        if found:
            out.append(f"==== {title}")
            out += [f"{named(a)} -> {named(b)} {c}".rstrip() for a, b, c in found]
    return "\n".join(out) + "\n"


# ---- commands that are killed


_AT_STEPS = """
import os, re, signal, sys
steps = 0
EVENTS = {{"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree", "shutil.copyfile"}}
@BEFORE@
def hook(event, arguments):
    global steps
    if event in EVENTS or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        steps += 1
        @AT@

sys.dont_write_bytecode = True
sys.addaudithook(hook)
"""
_LINE = 'event + " " + " ".join(str(one) for one in arguments if isinstance(one, (str, bytes)))'

DIES_AT = _AT_STEPS.replace("@BEFORE@", "").replace("@AT@", "if steps == {step}: os.kill(os.getpid(), signal.SIGKILL)")
"""What a command begins with that is to kill itself just before a step on the disk: files opened to be written, renamed, removed."""

TELLS_STEPS = _AT_STEPS.replace("@BEFORE@", 'out = os.open("{file}", os.O_WRONLY | os.O_CREAT)').replace(
    "@AT@", f'os.write(out, ({_LINE} + "\\n").encode())'
)
"""The same where it is to write each of these steps into a file, a line for each: what is done, and to which paths."""


def kind_of_step(line: str) -> str:
    """The same for steps that do the same to the same file, numbers and digests in its name apart; of files that are removed the ends
    of names count. Empty for what no reader may see, who looks at no temporary file.
    """
    what, _, paths = re.sub(r"[0-9a-f]{8,}|\d+", "#", line).partition(" ")
    name = paths.rpartition("/")[2]
    if name.startswith("tmp-"):
        return ""
    if what == "os.remove":
        return f"{what} {name.rpartition('.')[2] if '.' in name else ''}"
    if what == "os.rename":
        return f"{what} {name}"
    return what if what in ("os.link", "os.truncate", "os.rmdir", "shutil.rmtree") else ""


def dies_before(kind: str, times: int) -> str:
    """What a command begins with that is to kill itself just before its n-th step of a kind."""
    at = f"steps -= kind_of_step({_LINE}) != {kind!r}\n        if steps == {times}: os.kill(os.getpid(), signal.SIGKILL)"
    return _AT_STEPS.format().replace("@BEFORE@", inspect.getsource(kind_of_step)).replace("@AT@", at)


def printed(root: Path, folder: str = ".") -> str:
    """What `main.py` prints; nothing is kept of its modules, which may have other texts of the same size within the same second."""
    done = subprocess.run([sys.executable, "-B", "main.py"], cwd=root / folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
