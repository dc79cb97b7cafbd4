"""`lspidx mcp install`: the entry that a client starts the server by is shown, then written, and nothing else of its file is lost."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from query_support import lspidx, plain_environment
from support import write_tree

from query.mcp.clients import CLIENTS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", {"pyproject.toml": "[project]\nname = 'work'\n", "a.py": "def f(): ...\n"})


def installed(project: Path, *words: str) -> Any:
    home = str(project.parent / "home")
    return lspidx("mcp", "install", *words, cwd=project, env={"HOME": home, "XDG_CONFIG_HOME": home + "/.config"})


def entry(project: Path, name: str) -> dict[str, Any]:
    client = CLIENTS[name]
    folder = {"project": project, "home": project.parent / "home", "config": project.parent / "home/.config"}.get(client.base)
    place = folder / client.place if folder else project.parent / "home/.config/Claude" / client.place
    text = place.read_text(encoding="utf-8")
    return (tomllib.loads(text) if client.form == "toml" else json.loads(text))[client.key]["lspidx"]


def test_a_folder_that_the_client_is_told_to_keep_its_settings_in_is_taken(project: Path):
    home, kept = str(project.parent / "home"), project.parent / "kept"
    env = {"HOME": home, "XDG_CONFIG_HOME": home + "/.config", "CODEX_HOME": str(kept)}
    assert lspidx("mcp", "install", "codex", "--apply", cwd=project, env=env).returncode == 0
    assert "lspidx" in tomllib.loads((kept / "config.toml").read_text(encoding="utf-8"))["mcp_servers"]


@pytest.mark.parametrize("name", CLIENTS)
def test_the_entry_that_is_written_starts_a_server_of_this_project(project: Path, name: str):
    shown = installed(project, name)
    assert shown.returncode == 0
    assert "lspidx" in shown.stdout
    assert "--apply" in shown.stderr
    assert not list(project.parent.joinpath("home").rglob("*.json")), "it is shown and not written"
    assert installed(project, name, "--apply", "--", "--no-auto-index").returncode == 0
    assert "already" in installed(project, name, "--", "--no-auto-index").stdout
    written = entry(project, name)

    async def listed() -> list[str]:
        where = project if CLIENTS[name].base == "project" else project.parent
        start = StdioServerParameters(command=written["command"], args=written["args"], cwd=where, env=plain_environment(project))
        with anyio.fail_after(300):
            async with Client(stdio_client(start)) as client:
                assert (await client.call_tool("index_status", {})).is_error, "it is about this project, which has no index"
                return [tool.name for tool in (await client.list_tools()).tools]

    assert "find_callers" in anyio.run(listed)


def test_what_else_the_file_says_stays(project: Path):
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"other": {"command": "x"}}, "more": ["ü"]}), encoding="utf-8")
    assert installed(project, "claude-code", "--apply").returncode == 0
    now = json.loads((project / ".mcp.json").read_text(encoding="utf-8"))
    assert (now["mcpServers"]["other"], now["more"], set(now["mcpServers"])) == ({"command": "x"}, ["ü"], {"other", "lspidx"})
    settings = project.parent / "home/.codex/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x"\n', encoding="utf-8")
    assert installed(project, "codex", "--apply").returncode == 0
    assert settings.read_text(encoding="utf-8").startswith(
        '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.lspidx]'
    )


@pytest.mark.parametrize(
    ("place", "content", "name", "says"),
    [
        (".vscode/mcp.json", '// mine\n{"servers": {}}', "vscode", "put this there by hand"),
        (".mcp.json", "[]", "claude-code", "is no object"),
        (".mcp.json", '{"mcpServers": 3}', "claude-code", "is no object"),
        ("../home/.codex/config.toml", "mcp_servers = 3", "codex", "is no table"),
        ("../home/.codex/config.toml", "= broken", "codex", "is no TOML"),
        ("../home/.codex/config.toml", '[mcp_servers.lspidx]\ncommand = "old"\n', "codex", "another entry"),
        ("../home/.codex/config.toml", 'mcp_servers = { a = { command = "x" } }\n', "codex", "nothing can be added"),
        ("../home/.codex/config.toml", "a = " + "[" * 100_000, "codex", "is no TOML"),
        (".mcp.json", '{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}', "claude-code", "a key is there twice"),
        (".mcp.json", '{"x": 1e400}', "claude-code", "more exact"),
        (".mcp.json", '{"x": 12345678901234567890.1234567890123}', "claude-code", "more exact"),
        (".mcp.json", '{"x": NaN}', "claude-code", "NaN is no number"),
        (".mcp.json", "[" * 200_000, "claude-code", "put this there by hand"),
    ],
)
def test_a_file_that_would_lose_something_is_left_alone(project: Path, place: str, content: str, name: str, says: str):
    path = project / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    refused = installed(project, name, "--apply")
    assert refused.returncode == 2
    assert says in refused.stderr
    assert path.read_text(encoding="utf-8") == content


def test_a_link_of_the_repository_is_not_followed(project: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / ".cursor").symlink_to(outside)
    refused = installed(project, "cursor", "--apply")
    assert refused.returncode != 0
    assert "is a link" in refused.stderr
    assert not list(outside.iterdir())


def test_an_escape_that_stands_for_no_sign_stays_one(project: Path):
    (project / ".mcp.json").write_text('{"x": "\\ud800"}', encoding="utf-8")
    assert installed(project, "claude-code", "--apply").returncode == 0
    assert json.loads((project / ".mcp.json").read_text(encoding="utf-8"))["x"] == "\ud800"


@pytest.mark.parametrize("name", ["codex", "claude-code"])
def test_a_word_with_any_sign_comes_back_as_it_was(project: Path, name: str):
    assert installed(project, name, "--apply", "--", "--dialect", 'x\x7f\x01\t"\\ü😀').returncode == 0
    assert entry(project, name)["args"][-1] == 'x\x7f\x01\t"\\ü😀'


def test_a_folder_without_a_name_in_unicode_is_said_to_have_none(tmp_path: Path):
    project = tmp_path / os.fsdecode(b"n\xff")
    write_tree(project, {"pyproject.toml": "[project]\nname = 'work'\n"})
    for name in ("codex", "claude-desktop"):
        refused = installed(project, name, "--apply")
        assert (refused.returncode, "no Unicode" in refused.stderr) == (2, True)


def test_the_users_own_file_keeps_its_rights_and_its_place(project: Path):
    """Settings hold secrets, and may be a link into a folder that the user keeps all settings in."""
    kept = project.parent / "dotfiles" / "codex.toml"
    settings = project.parent / "home/.codex/config.toml"
    for folder in (kept.parent, settings.parent):
        folder.mkdir(parents=True)
    kept.write_text('model = "m"\n', encoding="utf-8")
    kept.chmod(0o600)
    settings.symlink_to(kept)
    assert installed(project, "codex", "--apply").returncode == 0
    assert settings.is_symlink()
    assert "lspidx" in kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_text('model = "m"\n', encoding="utf-8")
    kept.chmod(0o444)
    refused = installed(project, "codex", "--apply")
    assert (refused.returncode, "may not be written" in refused.stderr) == (2, True)


def test_the_clients_are_listed_and_an_unknown_one_names_them(project: Path):
    assert [line.split()[0] for line in installed(project).stdout.splitlines()] == list(CLIENTS)
    refused = installed(project, "emacs")
    assert refused.returncode == 2
    assert "claude-code" in refused.stderr
