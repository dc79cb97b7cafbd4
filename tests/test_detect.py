"""Which languages a folder has, which servers this machine has for them, and how `doctor` and `detect` say so."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
from query_support import json_of, lspidx
from support import write_tree

from indexer.errors import NoIndex, UsageError
from indexer.servers import detect
from indexer.servers.detect import MARKER_SCORE, rank_languages
from query.surface.registry import call
from query.surface.render import to_text
from query.tools import detect_lsp_servers


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with a gopls on it, and no servers in lspidx's own folder."""
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "gopls"
    tool.write_text("#!/bin/sh\necho golang.org/x/tools/gopls v0.99.0\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(tmp_path / "servers"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path


def _ranked(*paths: str) -> list[tuple[str, int]]:
    return [(item.language, item.score) for item in rank_languages(paths)]


# ---- the ranking


def test_languages_are_ranked_by_files_and_a_projects_file_in_the_root_counts_for_many():
    assert _ranked("a.py", "b/c.py", "b/d.go") == [("python", 2), ("go", 1)]
    assert _ranked("a.py", "b/c.py", "b/d.go", "go.mod") == [("go", 1 + MARKER_SCORE), ("python", 2)]
    assert _ranked("a.py", "setup.py", "pyproject.toml") == [("python", 2 + MARKER_SCORE)]
    assert _ranked("sub/go.mod") == []
    assert _ranked() == []


def test_a_marker_of_several_languages_counts_for_those_that_have_files():
    assert _ranked("package.json", "src/a.ts")[0] == ("typescript", 1 + MARKER_SCORE)
    assert ("javascript", MARKER_SCORE) not in _ranked("package.json", "src/a.ts")
    assert _ranked("package.json", "a.ts", "b.js", "c.js")[:2] == [("javascript", 2 + MARKER_SCORE), ("typescript", 1 + MARKER_SCORE)]
    assert _ranked("package.json")[0] == ("typescript", MARKER_SCORE)
    assert _ranked("CMakeLists.txt", "a.cc", "a.h") == [("cpp", 2 + MARKER_SCORE)]
    assert _ranked("a.csproj", "a.cs") == [("csharp", 1 + MARKER_SCORE)]


def test_equal_scores_are_in_order_of_name():
    assert _ranked("a.rs", "a.go", "a.py") == [("go", 1), ("python", 1), ("rust", 1)]


# ---- the tool


def _detect(root: Path) -> Any:
    return call(None, "detect_lsp_servers", {"workspace_dir": str(root)})


def test_detect_tells_languages_servers_and_what_is_missing(machine: Path):
    root = write_tree(
        machine / "project",
        {
            "go.mod": "module x\n",
            "main.go": "package main\n",
            "tool.py": "",
            "lib/a.rb": "",
            "node_modules/x/a.js": "",
            "vendor/b.php": "",
            "target/c.rs": "",
            "build/d.java": "",
            "dist/e.ts": "",
            ".git/hooks/f.sh": "",
            "env/pyvenv.cfg": "",
            "env/g.lua": "",
        },
    )
    answer = _detect(root)
    found = answer.result
    assert found.workspace_dir == str(root)
    assert found.workspace_languages == ["go", "python", "ruby"]
    assert [(item.language, item.score, item.files, item.markers) for item in found.scores] == [
        ("go", 1 + MARKER_SCORE, 1, ["go.mod"]),
        ("python", 1, 1, []),
        ("ruby", 1, 1, []),
    ]
    go, python = found.installed_servers
    assert (go.language, go.server, go.path, go.version, go.source) == ("go", "gopls", str(machine / "bin" / "gopls"), "0.99.0", "PATH")
    assert (go.config_entry, python.config_entry) == ("go:gopls,serve", "python:ty,server")
    assert found.suggested_config == ["go:gopls,serve", "python:ty,server"]
    assert found.not_installed == ["ruby"]
    assert found.how_to_get == {"ruby": "gem install solargraph"}
    assert (answer.total, answer.truncated, answer.completeness.status) == (3, False, "complete")
    assert (answer.provenance.source, answer.provenance.servers[0]) == ("live", "gopls 0.99.0")
    text = click.unstyle(to_text(answer))
    assert "go  51: 1 file, go.mod" in text
    assert "  no server; to get one: gem install solargraph" in text
    assert text.endswith("as of now")


def test_words_that_a_crawl_fills_in_are_not_part_of_the_suggested_command():
    spec = detect_lsp_servers.load_table().server
    assert detect_lsp_servers._plain_command(spec["jdtls"]) == ["jdtls"]
    assert detect_lsp_servers._plain_command(spec["lua-language-server"]) == ["lua-language-server"]
    assert detect_lsp_servers._plain_command(spec["ts7"]) == ["tsc", "--lsp", "--stdio"]


def test_a_folder_without_code_has_no_languages(machine: Path):
    root = write_tree(machine / "empty", {"notes.txt": ""})
    answer = _detect(root)
    assert (answer.result.workspace_languages, answer.result.suggested_config, answer.result.not_installed) == ([], [], [])
    assert to_text(answer)


def test_a_folder_of_more_files_than_are_looked_at_is_partial(machine: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(detect, "MAX_FILES", 2)
    root = write_tree(machine / "large", {"a.py": "", "b.py": "", "c.py": ""})
    answer = _detect(root)
    assert answer.result.scores[0].files == 2
    assert (answer.completeness.status, [reason.code for reason in answer.completeness.reasons]) == ("partial", ["scan_cut"])


@pytest.mark.parametrize("name", ["no-such-folder", "a.py", "\\\\server\\share", "//server/share", "a\0b"])
def test_what_is_no_folder_is_refused(machine: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(write_tree(machine / "project", {"a.py": ""}))
    with pytest.raises(UsageError, match="folder"):
        call(None, "detect", {"workspace_dir": name})


def test_links_to_folders_are_not_followed(machine: Path):
    root = write_tree(machine / "project", {"a.py": ""})
    (root / "again").symlink_to(root)
    assert _detect(root).result.scores[0].files == 1


def test_only_tools_about_the_machine_answer_without_an_index():
    with pytest.raises(NoIndex, match="to make one: lspidx index"):
        call(None, "callers", {"symbol": "x"})


def _lspidx(*arguments: str, cwd: Path, machine: Path) -> subprocess.CompletedProcess[str]:
    return lspidx(*arguments, cwd=cwd, env={"LSPIDX_SERVERS_DIR": str(machine / "servers")})


def test_the_command_looks_at_the_current_folder(machine: Path):
    root = write_tree(machine / "project", {"a.go": ""})
    for name in ("detect", "detect_lsp_servers"):
        done = _lspidx("query", name, "--json", cwd=root, machine=machine)
        assert done.returncode == 0, done.stderr
        assert json_of(done)["result"]["workspace_languages"] == ["go"]
    assert "gopls 0.99.0" in _lspidx("query", "detect", "..", cwd=root, machine=machine).stdout


# ---- doctor


def test_doctor_tells_the_repositorys_languages_first_and_the_rest_in_a_line(machine: Path):
    root = write_tree(machine / "project", {"a.rb": "", "b.rb": "", "c.go": "", "d.json": "{}"})
    done = _lspidx("doctor", cwd=root, machine=machine)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "ruby  2 files"
    assert lines[1].split()[:2] == ["solargraph", "(default)"]
    assert "missing no 'solargraph' beside lspidx" in lines[1]
    assert lines[1].endswith("to get it: gem install solargraph")
    assert "go  1 file" in lines
    [gopls] = [line for line in lines if line.startswith("  gopls")]
    assert "found   0.99.0" in gopls
    assert "(PATH; " in gopls
    [rest] = [line for line in lines if line.startswith("no server and no files here: ")]
    assert {"haskell", "swift", "rust"} <= set(rest.partition(": ")[2].partition(";")[0].split(", "))
    assert not any(line.startswith("haskell") for line in lines)
    assert next(line for line in lines if line.startswith("not crawled")).endswith(": json")
    everything = _lspidx("doctor", "--all", cwd=root, machine=machine).stdout.splitlines()
    assert "haskell" in everything
    assert not any(line.startswith("no server and no files here") for line in everything)


def test_doctor_as_json_has_every_language_and_what_is_known_of_each_server(machine: Path):
    root = write_tree(machine / "project", {"c.go": ""})
    report = json_of(_lspidx("doctor", "--json", cwd=root, machine=machine))
    first = report["languages"][0]
    assert (first["language"], first["files"], first["crawl"]) == ("go", 1, "full")
    [gopls] = first["servers"]
    assert gopls["install"]["go"][0].startswith("golang.org/x/tools/gopls@v")
    assert (gopls["found"], gopls["default"], gopls["get"]) == (True, True, "lspidx servers install gopls")
    assert {"executes", "notes", "tried", "version", "command", "source"} <= set(gopls)
    assert {item["language"] for item in report["languages"]} >= {"python", "json", "vue", "c"}
    assert report["servers_dir"] == str(machine / "servers")
