"""What an agent may name and set going over MCP: nothing outside of the workspace without consent, and nothing that holds up others."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from mcp import Client
from query_support import lspidx
from support import Watcher, assert_all_ended, crawl_with_ty, fake_server, write_tree

from indexer.cache.artifact import MANIFEST
from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.run import crawl
from indexer.errors import LspidxError, NotServed, UsageError
from indexer.store.generations import Home
from query import dialects
from query.facts.index import open_index
from query.facts.served import PLACES, Served
from query.mcp.job import Stopped
from query.mcp.options import Options
from query.mcp.sdk import build
from query.mcp.server import Surface
from query.mcp.tools import _unless  # pyright: ignore[reportPrivateUsage]
from query.mcp.workspace import Workspace
from query.surface.registry import call, load, names
from query.surface.service import Service
from query.upkeep import folders
from query.upkeep.artifacts import export_index

_LIKE_A_PLACE = re.compile(r"path|file\b|file_|files|folder|dir\b|dir_|root|uri|edit\b|edits\b|changes|\bold\b", re.IGNORECASE)
_NO_PLACES = frozenset({"symbol_path", "profile"})
"""Parameters that are called like places: a symbol is looked up in the index, a profile is a choice."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a link that leads outside, beside a folder that may be allowed; the home folder has a key."""
    write_tree(
        tmp_path, {"work/a.py": "x = 1\n", "lib/b.py": "y = 1\n", "home/.ssh/id": "a key\n", "work/.git/HEAD": "ref: refs/heads/x\n"}
    )
    (tmp_path / "work/out").symlink_to(tmp_path / "lib")
    (tmp_path / "lib/keys").symlink_to(tmp_path / "home/.ssh")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSPIDX_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def _outside(root: Path) -> list[str]:
    lib = root.parent / "lib"
    return [
        "/etc/passwd",
        "../..",
        "../lib/b.py",
        "out/b.py",
        str(lib),
        lib.as_uri(),
        "file:///etc/passwd",
        "~/.ssh/id",
        "https://x.org/y",
        "a/../../lib",
    ]


def _given(name: str, place: str) -> Any:
    """A place as a parameter takes it."""
    return {
        "changes": [{"uri": place, "type": 2}],
        "edits": [{"file_path": place, "old_text": "a", "new_text": "b"}],
        "workspace_edit": {"documentChanges": [{"textDocument": {"uri": place}, "edits": []}]},
        "changed_files": [place],
        "consumer_roots": [place],
    }.get(name, place)


# ---- what may be named


def test_every_parameter_that_is_called_like_a_place_is_known_as_one() -> None:
    named = {name for tool in names() for name in load(tool)[0].input_schema().get("properties", {}) if _LIKE_A_PLACE.search(name)}
    assert named - PLACES - _NO_PLACES == set()


_DECLARED = [
    (tool, name)
    for tool in names()
    for name in load(tool)[0].input_schema().get("properties", {})
    if name in PLACES and (tool, name) != ("why", "target")
]


@pytest.mark.parametrize(("tool", "name"), _DECLARED)
def test_no_tool_is_asked_about_a_place_outside(root: Path, tool: str, name: str) -> None:
    for place in _outside(root):
        with pytest.raises(NotServed, match=r"outside of the workspace|no file of this machine"):
            call(None, tool, {name: _given(name, place)}, root=root, edits=True, served=Served())
    try:
        call(None, tool, {name: _given(name, "a.py")}, root=root, edits=False, served=Served())
    except NotServed:
        raise
    except LspidxError:
        pass  # there is no index, or the file is no folder; but it may be named


def test_the_edits_of_a_workspace_edit_are_looked_at_in_both_forms(root: Path) -> None:
    for edit in (
        {"changes": {"file:///etc/passwd": []}},
        {"documentChanges": [{"kind": "rename", "oldUri": "a.py", "newUri": "file:///etc/x"}]},
    ):
        with pytest.raises(NotServed):
            call(None, "apply_edit", {"workspace_edit": edit}, root=root, served=Served())


@pytest.mark.parametrize("name", ["agent-lsp", "claude-code", "kiro", "lsp"])
def test_no_dialect_goes_around_it(root: Path, name: str) -> None:
    crawl_with_ty(root, jobs=1)
    surface = dialects.dialect(name)
    service = Service(root, served=Served())
    tried = 0
    for tool in surface.tools():
        properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
        paths = [
            key for key in properties if re.search(r"path|file|dir|root|uri", key, re.IGNORECASE) and key not in ("symbol_path", "dry_run")
        ]
        for key in paths:
            for place in ("/etc/passwd", "../lib/b.py", "out/b.py"):
                some = {"string": "x", "integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
                required = {item: some[properties[item].get("type", "string")] for item in tool.input_schema.get("required", [])}
                asks = next((item for item in ("operation", "action") if item in properties), "")
                operations = properties.get(asks, {}).get("enum", [""])
                position = {item: 1 for item in ("line", "column", "character") if item in properties}
                for operation, more in [(item, more) for item in operations for more in ({}, position)]:
                    given = {**required, **more, key: [place] if properties[key].get("type") == "array" else place}
                    reply = surface.call(service, tool.name, {**given, **({asks: operation} if operation else {})})
                    assert "root:x:" not in reply.payload
                    tried += "outside of the workspace" in reply.payload
    assert tried > 3, "the trap must have been met"
    service.close()


def test_what_the_user_has_allowed_may_be_named_but_for_what_is_closed(root: Path) -> None:
    lib = root.parent / "lib"
    for served in (Served([str(lib)]), Served()):
        served.roots = [str(lib)] if not served.allowed else []
        assert served.checked(root, None, "add_workspace_folder", {"path": "../lib"}) == {"path": str(lib)}
        assert served.checked(root, None, "import_cache", {"src_path": lib.as_uri()}) == {"src_path": str(lib)}
        for closed in ("../lib/keys", "../lib/keys/id", "~/.ssh"):
            with pytest.raises(NotServed, match="no option opens it"):
                served.checked(root, None, "add_workspace_folder", {"path": closed})
    with pytest.raises(NotServed, match=f"lspidx mcp --allow-folder {re.escape(str(lib))}"):
        Served().checked(root, None, "add_workspace_folder", {"path": str(lib)})


def test_a_client_that_works_on_the_home_folder_opens_nothing_hidden_in_it(root: Path) -> None:
    served = Served()
    served.roots = [str(root.parent / "home"), "/"]
    with pytest.raises(NotServed):
        served.checked(root, None, "add_workspace_folder", {"path": "~/.ssh"})
    with pytest.raises(NotServed):
        served.checked(root, None, "add_workspace_folder", {"path": "/etc"})


def test_roots_of_the_client_may_be_named_and_do_not_move_a_workspace_that_has_an_index(root: Path) -> None:
    crawl_with_ty(root, jobs=1)
    served = Workspace(root, make=False)
    assert not served.roots_wanted
    served.take_roots([(root.parent / "lib").as_uri()])
    assert served.service.start == root
    assert served.service.served is not None
    assert served.service.served.roots == [str(root.parent / "lib")]


# ---- folders of a session


def test_what_a_session_adds_stays_for_it_and_is_not_remembered(root: Path) -> None:
    crawl_with_ty(root, jobs=1)
    lib = str(root.parent / "lib")
    service = Service(root, served=Served([lib]))
    with pytest.raises(NotServed):
        Service(root, served=Served()).ask("add_workspace_folder", {"path": lib})
    assert service.ask("add_workspace_folder", {"path": lib}).result.changed
    assert Home(root).flags() == {}
    (root / "later.py").write_text("z = 1\n", encoding="utf-8")
    assert service.refresh()
    assert [item.name for item in service.ask("list_workspace_folders", {}).result] == ["work", "lib"]
    (root / "latest.py").write_text("z = 1\n", encoding="utf-8")
    another = Service(root, served=Served([lib]))
    assert another.refresh()
    assert [item.name for item in another.ask("list_workspace_folders", {}).result] == ["work"]


def test_what_the_user_adds_is_remembered(root: Path) -> None:
    crawl_with_ty(root, jobs=1)
    Service(root).ask("add_workspace_folder", {"path": str(root.parent / "lib")})
    (root / "later.py").write_text("z = 1\n", encoding="utf-8")
    done = lspidx("index", "--jobs", "1", cwd=root, env={**os.environ})
    assert "3 files" in done.stderr, done.stderr


# ---- what is exported, and whereto


def test_an_artifact_is_written_over_nothing_else_and_to_nowhere_else(root: Path) -> None:
    crawl_with_ty(root, jobs=1)
    write_tree(root, {"notes.tar": "notes\n", "extension/manifest.json": '{"name": "x", "version": "1"}', "extension/facts/x.parquet": "x"})
    elsewhere = write_tree(root.parent / "elsewhere", {"precious.parquet": "x"})
    served = Service(root, served=Served())
    for place in ("../x", "../x.tar", "/tmp/x.tar", "out/x", "out/x.tar", str(root.parent / "lib"), ".git/x", ".lspidx/x.tar", "~/x"):
        with pytest.raises(NotServed):
            served.ask("export_cache", {"dest_path": place})
    for service in (served, Service(root)):  # for the user too
        for place in ("notes.tar", "extension", "a.py"):
            for apply in (False, True):
                with pytest.raises(UsageError, match="no artifact"):
                    service.ask("export_cache", {"dest_path": place, "apply": apply})
    assert (root / "notes.tar").read_text() == "notes\n"
    assert served.ask("export_cache", {"dest_path": "made", "apply": True}).result.path == str(root / "made")
    assert served.ask("export_cache", {"dest_path": "made.tar", "apply": True}).total
    assert served.ask("export_cache", {"dest_path": "made.tar", "apply": True}).total  # over an artifact
    for file in (root / "made/facts").iterdir():
        file.unlink()
    (root / "made/facts").rmdir()
    (root / "made/facts").symlink_to(elsewhere)  # as a repository may come
    with open_index(root) as index, pytest.raises(UsageError, match="is a link"):
        export_index(index, root / "made")
    assert [file.name for file in elsewhere.iterdir()] == ["precious.parquet"]
    assert (root / "made" / MANIFEST).is_file()


def test_a_store_that_only_the_project_names_is_asked_for_nothing(root: Path) -> None:
    crawl_with_ty(root, jobs=1)
    store = root.parent / "store"
    write_tree(root, {"lspidx.toml": f"cache_remote = '{store}'\n"})
    for verb in ("push", "pull"):
        done = lspidx("cache", verb, cwd=root, env={**os.environ})
        assert (done.returncode, f"lspidx cache {verb} {store}" in done.stderr) == (2, True), done.stderr
    assert not store.exists()


# ---- nobody waits for somebody else, and nothing goes on for nobody


def test_a_folder_that_is_indexed_holds_up_no_other_client_and_ends_when_it_is_cancelled(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl_with_ty(root, jobs=1)
    begun, ended = root.parent / "begun", root.parent / "ended"

    def crawls(_root: Path, _flags: Any, progress: Any, **_more: Any) -> None:
        """A crawl whose server never answers: it says so again and again, until nobody listens."""
        begun.touch()
        try:
            while True:
                time.sleep(0.01)
                progress(0, 1, "crawl")
        except Stopped:
            ended.touch()
            raise

    monkeypatch.setattr(folders, "recrawl", crawls)
    surface = Surface(root, Options(allow_edits=True, folders=(str(root.parent / "lib"),)))
    server = build(surface)

    async def scenario() -> None:
        with anyio.fail_after(300):
            async with Client(server) as first, Client(server) as second, anyio.create_task_group() as group:

                async def add() -> None:
                    await first.call_tool("add_workspace_folder", {"path": str(root.parent / "lib")})

                group.start_soon(add)
                while not begun.exists():
                    await anyio.sleep(0.01)
                for tool, given in (
                    ("run_build", {"language": "zig"}),
                    ("preview_edit", {"file_path": "no.py"}),
                    ("find_symbol", {"query": "x"}),
                ):
                    await second.call_tool(tool, given)  # answered or refused, but not kept waiting
                assert not ended.exists()
                group.cancel_scope.cancel()
            while not ended.exists():
                await anyio.sleep(0.01)
            await surface.close()

    anyio.run(scenario)


def test_what_is_asked_over_http_ends_when_its_client_has_gone() -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def soon() -> int:
        return 3

    async def scenario() -> None:
        gone = asyncio.Event()

        async def leave() -> None:
            await begun.wait()
            gone.set()

        async with asyncio.timeout(300):
            leaving = asyncio.ensure_future(leave())
            with pytest.raises(UsageError, match="client has gone"):
                await _unless(gone, work())
            await leaving
        assert await _unless(asyncio.Event(), soon()) == 3

    asyncio.run(scenario())
    assert stopped.is_set()


@pytest.mark.slow
def test_a_crawl_ends_while_its_server_says_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = root.parent / "pids"
    found = fake_server("poison_hang", pids, timeout_s=3_600.0)
    monkeypatch.setattr(choice, "find_server", lambda *_, **__: found)
    write_tree(root, {"b.py": "import POISON\nPOISON.x\n"})

    class Gone(Watcher):
        def expect(self, left_s: float | None, waits_for: str) -> None:
            super().expect(left_s, waits_for)
            if any(pids.iterdir()):
                raise Stopped

    with pytest.raises(Stopped):
        crawl(root, Config(jobs=1), Gone(), environment=dict(os.environ))
    assert_all_ended([int(file.name) for file in pids.iterdir()])


def test_an_error_of_a_place_is_one_of_usage_and_says_its_code() -> None:
    assert msgspec.json.encode(NotServed.code) == b'"not_served"'
    assert NotServed.exit_code == 2
