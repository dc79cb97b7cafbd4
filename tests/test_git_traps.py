"""Git runs what a repository's settings name. Every way is a trap here: plain git springs it, and no command of lspidx does.

The commands are those of the command table and the tool registry: a new one fails here until it is run, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from git_traps import REMOTES, SETTINGS, Repository, Trap, git, make
from query_support import ASKED_ELSEWHERE, FILES, LSPIDX, lspidx, question

from indexer.errors import LspidxError
from query.cli.command import main_group
from query.facts.index import open_index
from query.surface.registry import call, load, names

pytestmark = pytest.mark.slow

CHANGED = {path: FILES[path] + "\n\ndef added() -> int:\n    return 3\n" for path in ("shop/service.py", "shop/utils.py")}
ENVIRONMENT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

COMMANDS: dict[str, list[list[str]]] = {
    "index": [["index", "--jobs", "1"], ["index", "--jobs", "1", "--full"]],
    "init": [["init"]],
    "verify": [["verify", "--sample", "2"]],
    "report": [["report"], ["report", "--base", "HEAD~1"], ["report", "--base", "HEAD~1", "--head", "."], ["report", "--scope", "staged"]],
    "graph": [["graph", "shop.service.run"]],
    "cache export": [["cache", "export", "../artifact"]],
    "cache import": [["cache", "import", "../artifact"]],
    "cache verify": [["cache", "verify", "../artifact"]],
    "cache push": [["cache", "push", "../store", "--allow-dirty"]],
    "cache pull": [["cache", "pull", "../store"]],
    "cache gc": [["cache", "gc"]],
    "scip export": [["scip", "export", "-o", "../index.scip"]],
    "site": [["site", "../pages", "--no-certify", "--jobs", "1"]],
    "mcp install": [["mcp", "install", "claude-code"], ["mcp", "install", "claude-code", "--hooks"]],
    "hook": [["hook", "before-edit"], ["hook", "after-edit"]],
    "daemon status": [["daemon", "status"]],
    "daemon stop": [["daemon", "stop"]],
    "call": [["call", "--dialect", "lsp", '{"action": "workspace_symbols", "query": "run"}']],
    "status": [["status"], ["status", "--json"]],
    "doctor": [["doctor"]],
    "servers list": [["servers", "list"]],
    "config": [["config"]],
    "sql": [["sql", "SELECT 1"]],
    "lint": [["lint"]],
    "tools": [["tools"]],
    "completion": [["completion", "bash"]],
    "query": [["query", "changes"], ["query", "changes", "--base", "HEAD~1"], ["query", "callers", "shop.service.run"]],
}
"""By command: how it is run here."""

NOT_RUN = {
    "servers install": "it would download",
    "watch": "it indexes, as `index` does, until it is interrupted",
    "mcp": "a test of its own",
    "serve": "it serves the pages that `site` writes here, until it is ended",
    "lsp": "it asks the tools that are run here, over another wire",
    "scip import": "it indexes, as `index` does",
}

TOOLS_BY_CONSENT = {"run_build", "run_tests", "execute_command"}
"""They run the repository's code, at the user's word."""

MORE: dict[str, list[dict[str, Any]]] = {
    "detect_changes": [{}, {"base": "HEAD~1"}, {"scope": "staged"}, {"scope": "committed"}],
    "blast_radius": [{"changed_files": ["shop/service.py"]}],
    "diff_index": [{}],
    "why": [{"source": "shop.service.outer", "target": "shop.service.run"}],
}
"""Tools that take no argument by position, or that ask git more with other ones."""


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The shop with two commits, and every trap set. It has been indexed before by nobody."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        return make(tmp_path_factory.mktemp("trapped") / "shop", FILES, CHANGED)


@pytest.fixture
def here(trapped: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A copy, with a change that is not committed. No trap has been sprung."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    made = trapped.copy(tmp_path)
    with (made.root / "shop" / "models.py").open("a", encoding="utf-8") as file:
        file.write("\n\ndef late() -> int:\n    return 4\n")
    made.forget()
    return made


@pytest.fixture
def partial(here: Repository) -> Repository:
    """The copy without one file's former text, and with remotes that would be asked for it."""
    for trap in REMOTES:
        trap.set(here)
    missing = git(here.root, "-c", "core.fsmonitor=false", "rev-parse", "HEAD~1:shop/service.py")
    (here.root / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    here.forget()
    return here


def _lspidx(at: Repository, *words: str) -> subprocess.CompletedProcess[str]:
    done = lspidx(*words, cwd=at.root, env=ENVIRONMENT)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode != 70, done.stderr
    return done


def _commands(group: click.Command, before: str = "") -> Iterator[str]:
    for name in group.list_commands(click.Context(group)) if isinstance(group, click.Group) else []:
        found = group.get_command(click.Context(group), name)
        is_group = isinstance(found, click.Group) and name != "query"  # the tools have a registry
        if is_group:
            yield from _commands(found, f"{before}{name} ")
        if not is_group or getattr(found, "invoke_without_command", False):
            yield before + name


# ---- each trap is one


@pytest.mark.parametrize("trap", SETTINGS, ids=lambda trap: trap.name)
def test_plain_git_springs_the_trap(here: Repository, trap: Trap):
    trap.springs(here)
    assert trap.name in here.sprung()


@pytest.mark.parametrize("trap", REMOTES, ids=lambda trap: trap.name)
def test_plain_git_springs_the_trap_where_an_object_is_missing(partial: Repository, trap: Trap):
    trap.springs(partial)
    assert trap.name in partial.sprung()


# ---- none is sprung


def test_every_command_is_run_here_or_says_why_not():
    assert set(_commands(main_group)) == COMMANDS.keys() | NOT_RUN.keys()


def _tree(at: Repository) -> dict[str, bytes]:
    """Every file of the work tree, and every one beside it but what commands are told to write there."""
    own = {path: path.read_bytes() for path in at.root.rglob("*") if path.is_file() and not path.is_symlink()}
    return {str(path): text for path, text in own.items() if not {".lspidx", ".git"} & set(path.relative_to(at.root).parts)}


WRITES = {"init": "lspidx.toml"}
"""By command, the file of the work tree that it is there to write; all others write where they are told, or not before `--apply`."""


def test_no_command_springs_a_trap_or_changes_the_work_tree(here: Repository):
    _lspidx(here, "index", "--jobs", "1")
    assert here.sprung() == set()
    failed: dict[str, str] = {}
    for name, words in [(name, words) for name, several in COMMANDS.items() for words in several]:
        before = _tree(here)
        done = _lspidx(here, *words)
        assert here.sprung() == set(), words
        assert {path for path, text in _tree(here).items() if before.get(path) != text} <= {str(here.root / WRITES.get(name, ""))}, words
        assert before.keys() <= _tree(here).keys(), words
        if done.returncode not in (0, 1):
            failed[" ".join(words)] = done.stderr
    assert failed == {}
    with (here.root / "shop" / "service.py").open("a", encoding="utf-8") as file:
        file.write("\n\ndef latest() -> int:\n    return 5\n")
    assert _lspidx(here, "index", "--jobs", "1").returncode == 0
    assert _lspidx(here, "index", "--jobs", "1").returncode == 0
    assert here.sprung() == set()


def test_no_command_springs_a_trap_where_an_object_is_missing(partial: Repository):
    assert _lspidx(partial, "index", "--jobs", "1").returncode == 0
    for words in (["query", "changes", "--base", "HEAD~1"], ["report", "--base", "HEAD~1"], ["report"], ["index", "--full", "--jobs", "1"]):
        done = _lspidx(partial, *words)
        assert partial.sprung() == set(), words
        if "--base" in words:
            assert done.returncode == 2
            assert (
                "the clone is a partial one, and lspidx fetches nothing; to fetch the rest, if you trust what its settings say of remotes"
                in done.stderr
            )


@pytest.mark.parametrize("way", ["file", "link", "work tree"])
def test_no_command_springs_a_trap_where_the_repository_lies_elsewhere(here: Repository, way: str):
    """`.git` is a file or a link that leads to a folder which came with the tree, or a work tree of the repository there."""
    own = here.root / ".git"
    own.rename(here.root / ".data")
    (here.root / "library" / ".git").write_text("gitdir: ../.data/modules/library\n", encoding="utf-8")
    if way == "link":
        own.symlink_to(".data")
    elif way == "file":
        own.write_text("gitdir: .data\n", encoding="utf-8")
    else:
        tree = here.root / ".data" / "worktrees" / "one"
        tree.mkdir(parents=True)
        (tree / "commondir").write_text("../..\n", encoding="utf-8")
        (tree / "gitdir").write_text(f"{own}\n", encoding="utf-8")
        for name in ("HEAD", "index"):
            (tree / name).write_bytes((here.root / ".data" / name).read_bytes())
        (here.root / ".data" / "config.worktree").rename(tree / "config.worktree")
        own.write_text("gitdir: .data/worktrees/one\n", encoding="utf-8")
    git(here.root, "status", check=False)
    assert here.sprung() >= {"fsmonitor"}
    here.forget()
    for words in (["index", "--jobs", "1"], ["query", "changes", "--base", "HEAD~1"], ["doctor"], ["status"], ["index", "--jobs", "1"]):
        assert _lspidx(here, *words).returncode in (0, 1), words
        assert here.sprung() == set(), words


def test_no_tool_springs_a_trap_or_changes_the_work_tree(here: Repository, monkeypatch: pytest.MonkeyPatch):
    """In one process, as a server of tools is one: what it knows of the settings has to hold for all of them."""
    assert _lspidx(here, "index", "--jobs", "1").returncode == 0
    monkeypatch.chdir(here.root)
    answered: set[str] = set()
    before = _tree(here)
    with open_index(here.root) as index:
        for name in names():
            if name in TOOLS_BY_CONSENT or (name in ASKED_ELSEWHERE and name not in MORE):
                continue
            for arguments in MORE.get(name) or [question(load(name)[0])]:
                with contextlib.suppress(LspidxError):
                    call(index, name, arguments)
                    answered.add(name)
                assert here.sprung() == set(), (name, arguments)
                assert _tree(here) == before, (name, arguments)
    assert {"detect_changes", "blast_radius", "why", "find_callers", "index_status"} <= answered
    assert len(answered) > 25


def test_no_tool_springs_a_trap_over_mcp(here: Repository):
    assert _lspidx(here, "index", "--jobs", "1").returncode == 0
    asked: list[tuple[str, dict[str, Any]]] = [
        ("detect_changes", {}),
        ("detect_changes", {"base": "HEAD~1"}),
        ("blast_radius", {"changed_files": ["shop/service.py"]}),
        ("index_status", {}),
        ("find_symbol", {"query": "run"}),
    ]
    answers = _over_mcp(here.root, asked)
    assert [answer["result"].get("isError", False) for answer in answers] == [False] * len(asked)
    assert here.sprung() == set()


def _over_mcp(root: Path, asked: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(root.parent), "LSPIDX_DAEMON_IDLE_S": "0", **ENVIRONMENT}
    if "LSPIDX_STATE_DIR" in os.environ:
        environment["LSPIDX_STATE_DIR"] = os.environ["LSPIDX_STATE_DIR"]
    server = subprocess.Popen(
        [str(LSPIDX), "mcp"], cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert server.stdin is not None
    assert server.stdout is not None

    def say(message: dict[str, Any]) -> None:
        assert server.stdin is not None
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()

    def hear(number: int) -> dict[str, Any]:
        assert server.stdout is not None
        for line in server.stdout:
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return message
        raise AssertionError("the server has ended")

    try:
        client = {"name": "t", "version": "1"}
        say({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}})
        hear(0)
        say({"method": "notifications/initialized"})
        answers: list[dict[str, Any]] = []
        for number, (name, arguments) in enumerate(asked, start=1):
            say({"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
            answers.append(hear(number))
        return answers
    finally:
        server.stdin.close()
        server.wait(30)
        server.stdout.close()
