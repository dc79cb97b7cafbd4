"""`lspidx` alone says what is here and what to do next; `lspidx init` prepares a repository and asks before it puts anything there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from query_support import FILES, lspidx
from support import write_tree

from indexer.config import load_config
from query.cli.welcome import SETTINGS

pytest_plugins = ["query_fixtures"]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", FILES)


def test_alone_it_says_what_is_here_and_what_to_do_next(bare: Path, shop_root: Path, tmp_path: Path):
    said = lspidx(cwd=bare)
    assert said.returncode == 0
    assert re.search(r"python +\d+ files  ty ", said.stdout)
    assert "index  none yet" in said.stdout
    assert "next   lspidx index" in said.stdout
    assert not (bare / ".lspidx").exists(), "nothing is made by looking"
    copy = shutil.copytree(shop_root, tmp_path / "copy", symlinks=True)
    assert "as the files are now" in lspidx(cwd=copy).stdout
    (copy / "shop/service.py").write_text("", encoding="utf-8")
    assert "1 file changed since: lspidx index" in lspidx(cwd=copy).stdout


def test_where_no_server_is_here_the_next_command_is_not_one_that_fails(tmp_path: Path):
    """Of Elixir an outline is made without one, so an index is worth the command."""
    write_tree(tmp_path / "go", {"a.go": "package a\n"})
    said = lspidx(cwd=tmp_path / "go").stdout
    assert "next   lspidx init" in said
    assert "lspidx index" not in said
    write_tree(tmp_path / "elixir", {"a.ex": "defmodule A do\nend\n"})
    assert "next   lspidx index" in lspidx(cwd=tmp_path / "elixir").stdout


def test_where_no_source_lies_it_says_so(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    said = lspidx(cwd=tmp_path)
    assert said.returncode == 0
    assert "no source file that lspidx reads lies here" in said.stdout


def test_the_index_of_a_stranger_is_said_to_be_one(shop_root: Path, tmp_path: Path):
    said = lspidx(cwd=shop_root, env={"LSPIDX_STATE_DIR": str(tmp_path / "another")})
    assert "foreign index" in said.stdout


def test_an_index_that_cannot_be_read_is_told_and_not_taken(shop_root: Path, tmp_path: Path):
    copy = shutil.copytree(shop_root, tmp_path / "copy", symlinks=True)
    for database in copy.glob(".lspidx/db/*.duckdb"):
        database.write_bytes(b"x" * 4_096)
    said = lspidx(cwd=copy)
    assert (said.returncode, "Traceback" in said.stderr) == (0, False)
    assert "next   lspidx index" in said.stdout


def test_without_a_terminal_init_makes_the_index_and_nothing_else(bare: Path):
    before = {path.name for path in bare.iterdir()}
    done = lspidx("init", cwd=bare)
    assert done.returncode == 0
    assert "indexed " in done.stderr
    assert "left out, for there is no terminal to ask at: write lspidx.toml" in done.stderr
    assert "lspidx init --yes" in done.stderr
    assert {path.name for path in bare.iterdir()} - before == {".lspidx"}


def test_init_writes_settings_only_where_there_are_none(bare: Path):
    assert lspidx("init", "--yes", cwd=bare).returncode == 0
    assert (bare / "lspidx.toml").read_text(encoding="utf-8") == SETTINGS
    (bare / "lspidx.toml").write_text("jobs = 1\n", encoding="utf-8")
    assert lspidx("init", "--yes", cwd=bare).returncode == 0
    assert (bare / "lspidx.toml").read_text(encoding="utf-8") == "jobs = 1\n"


def test_a_link_in_place_of_the_settings_is_left_alone(bare: Path, tmp_path: Path):
    (bare / "lspidx.toml").symlink_to(tmp_path / "outside.toml")
    assert lspidx("init", "--yes", cwd=bare).returncode in (0, 2)
    assert not (tmp_path / "outside.toml").exists()


def test_every_setting_in_the_comments_is_one(tmp_path: Path):
    plain = re.sub(r"^# (?=\[|\w+ = )", "", SETTINGS, flags=re.MULTILINE)
    assert plain.count(" = ") == SETTINGS.count(" = ") >= 8
    (tmp_path / "lib").mkdir()
    (tmp_path / "lspidx.toml").write_text(plain, encoding="utf-8")
    config = load_config(tmp_path)
    assert config.exclude == ("generated/*",)
    assert config.language["typescript"].server == "typescript-language-server"
