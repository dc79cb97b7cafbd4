"""The server table: it loads, it is strict, and it finds what is there."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from indexer.errors import ConfigError, ServerMissing
from indexer.servers import quirks, registry
from indexer.servers.registry import FoundServer, fill, find_executable, find_server, language_of, load_table, parse_table, server_spec

ENTRY = """
[server.{name}]
languages = ["python"]
command = ["{command}"]
version_command = ["{command}", "--version"]
install = {{ pip = "x==1" }}
open = "none"
window = 1
ready = "initialized"
timeout_s = 1
memory_mb = 1
runs = []
diagnostics = "none"
lacks = []
tried = "1"
{more}
[language.python]
extensions = [".py"]
servers = ["{name}"]
"""


def _table(*, name: str = "x", command: str = "x", more: str = "") -> str:
    return ENTRY.format(name=name, command=command, more=more)


def test_the_table_loads_and_every_entry_is_whole() -> None:
    """Each server of a language serves it, is pinned in some registry and was tried."""
    table = load_table()
    assert table.language["python"].servers[0] == "ty"
    for name, spec in table.server.items():
        assert spec.name == name
        assert spec.install
        assert spec.tried
        assert all("==" in package or "@" in package for package in spec.install.values())
        assert any(name in language.servers for language in table.language.values())


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (_table(more="memroy_mb = 3"), "server 'x' has an unknown key 'memroy_mb', did you mean 'memory_mb'"),
        (_table(more="zzz = 3"), "server 'x' has an unknown key 'zzz'$"),
        (_table().replace("window = 1", "window = 'many'"), "table: .*window"),
        (_table().replace('open = "none"', 'open = "sometimes"'), "table: .*open"),
        (_table().replace("timeout_s = 1\n", ""), "table: .*timeout_s"),
        (_table().replace('servers = ["x"]', 'servers = ["y"]'), "names server 'y', which does not serve it"),
        (_table().replace('languages = ["python"]', 'languages = ["c"]'), "names server 'x', which does not serve it"),
        (_table() + "[languages.c]\n", "table: .*languages"),
        (_table().replace('servers = ["x"]', 'servers = ["x"]\nextra = 1'), "table: .*extra"),
        ("[server", "table: "),
        ("server = 3", "table: "),
    ],
)
def test_a_mistake_in_the_table_names_entry_and_key(text: str, pattern: str) -> None:
    """With the nearest known key."""
    with pytest.raises(ConfigError, match=pattern):
        parse_table(text, "table")


def test_an_unknown_server_names_the_nearest() -> None:
    """And lists those that are known."""
    with pytest.raises(ConfigError, match=r"did you mean 'pyright'.* known: ty, pyright"):
        server_spec("pyrihgt")


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("a/b.PYI", "python"),
        ("a.txt", ""),
        ("py", ""),
        ("a.py/b", ""),
        (".py", "python"),
        ("a.b/c", ""),
        ("a.pyc", ""),
    ],
)
def test_a_language_is_told_by_the_extension(path: str, language: str) -> None:
    """Of the last part of the path, whatever its case."""
    assert language_of(path) == language


def test_placeholders_are_filled_or_their_keys_left_out() -> None:
    """Whole values only; a table that loses all its keys goes too."""
    template = {"a": "{python}", "b": {"c": "{gone}", "d": 1}, "e": {"f": "{gone}"}, "g": "{unknown}"}
    template |= {"h": "no {python}", "i": ["{python}"]}
    values = {"python": ["/p"], "gone": None}
    assert fill(template, values) == {"a": ["/p"], "b": {"d": 1}, "h": "no {python}", "i": ["{python}"]}
    assert template["a"] == "{python}"


def test_our_own_environment_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is pinned with us is what is started."""
    for folder in ("own", "path"):
        (tmp_path / folder).mkdir()
        for name in ("python", "both") if folder == "own" else ("both", "other"):
            file = tmp_path / folder / name
            file.write_text("#!/bin/sh\necho tool 7.8.9\n", encoding="utf-8")
            file.chmod(0o755)
    monkeypatch.setattr(registry.sys, "executable", str(tmp_path / "own" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "path") + os.pathsep + "/bin:/usr/bin")
    assert find_executable("both") == (str(tmp_path / "own" / "both"), "lspidx environment")
    assert find_executable("other") == (str(tmp_path / "path" / "other"), "PATH")
    assert find_executable("nothing-of-that-name") is None
    monkeypatch.setattr(registry, "load_table", lambda: parse_table(_table(command="both"), "table"))
    found = find_server("x")
    assert (found.command, found.version, found.source) == ([str(tmp_path / "own" / "both")], "7.8.9", "lspidx environment")


def test_a_missing_server_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the registries that have it."""
    monkeypatch.setattr(registry, "load_table", lambda: parse_table(_table(command="nothing-of-that-name"), "table"))
    with pytest.raises(ServerMissing, match="to get it: pip install x==1"):
        find_server("x")


def test_a_fingerprint_depends_on_what_changes_answers() -> None:
    """Version, options, settings, environment; not on where the server lies."""
    spec = server_spec("ty")
    base = FoundServer(spec=spec, command=["/a/ty"], version="1", source="PATH")
    assert base.fingerprint == msgspec.structs.replace(base, command=["/b/ty"], source="x").fingerprint
    assert base.fingerprint != msgspec.structs.replace(base, version="2").fingerprint
    for change in ({"options": {"x": 1}}, {"settings": {"x": 1}}, {"environment": {"X": "1"}}, {"name": "y"}):
        assert base.fingerprint != msgspec.structs.replace(base, spec=msgspec.structs.replace(spec, **change)).fingerprint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python\n(A & B) | Divergent\n```", "```python\nA & B\n```"),
        ("```python\nDivergent | int\n```", "```python\nint\n```"),
        ("```python\n(A) | (B) | Divergent\n```\n---\ndoc", "```python\n(A) | (B)\n```\n---\ndoc"),
        ("```python\n(A, B)\n```", "```python\n(A, B)\n```"),
    ],
)
def test_the_mark_of_a_type_that_is_defined_by_itself_leaves_hovers(text: str, expected: str) -> None:
    """What depends on the order of the questions must not get into shards."""
    assert quirks.divergent_in_hover(text) == expected
