"""The questions that `lspidx index` asks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import pytest

from indexer import user_state
from indexer.config import load_config
from indexer.prerequisites import fetched_dir, fetched_folder
from query.cli import consent

MISSING = [{"language": "go", "name": "modules", "detail": "2 of 3 modules", "remedy": "go mod download", "can_fetch": True}]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Questions that were put, at a terminal; each is answered with yes."""
    questions: list[str] = []

    def confirm(text: str, **_: Any) -> bool:
        questions.append(text)
        return True

    monkeypatch.setattr(click, "confirm", confirm)
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(tmp_path / "data" / "servers"))
    monkeypatch.setenv("LSPIDX_STATE_DIR", str(tmp_path / "state"))
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    return questions


def test_it_is_asked_once_for_each_workspace(asked: list[str], tmp_path: Path):
    told: list[str] = []
    assert consent.given(tmp_path / "one", MISSING, told)
    assert told == ["2 of 3 modules"]
    assert not consent.given(tmp_path / "one", MISSING, told := [])
    assert told == [], "nothing was shown"
    assert consent.given(tmp_path / "two", MISSING)
    assert len(asked) == 2
    assert not (tmp_path / "one").exists()  # the answer is kept outside of the repository


def test_nothing_is_asked_where_nothing_can_be_fetched(asked: list[str], tmp_path: Path):
    assert not consent.given(tmp_path, [{**MISSING[0], "can_fetch": False}])
    assert not consent.given(tmp_path, [])
    assert asked == []


@pytest.mark.parametrize("stream", ["stdin", "stderr"])
def test_nobody_is_asked_who_is_not_there(asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: str):
    monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: False, raising=False)
    assert not consent.given(tmp_path, MISSING)
    assert asked == []


def test_who_has_answered_an_earlier_version_is_not_asked_again(asked: list[str], tmp_path: Path):
    marker = fetched_dir() / "asked" / fetched_folder(fetched_dir(), tmp_path / "one").name
    marker.parent.mkdir(parents=True)
    marker.write_text("no\n")
    assert not consent.given(tmp_path / "one", MISSING)
    assert asked == []


def _project(tmp_path: Path, *folders: str) -> Path:
    for name in ("one", "lib", "tools"):
        (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / "one/lspidx.toml").write_text(f"folders = {list(folders)}\n")
    return tmp_path / "one"


def test_a_folder_outside_is_asked_about_once_and_kept_outside_of_the_repository(asked: list[str], tmp_path: Path):
    root = _project(tmp_path, "../lib")
    assert consent.folders_given(root, load_config(root).refused)
    assert load_config(root).folders == ("../lib",)
    assert not consent.folders_given(root, load_config(root).refused)  # there is nothing left to ask
    _project(tmp_path, "../lib", "../tools")
    assert consent.folders_given(root, load_config(root).refused)  # another folder is another question
    assert len(asked) == 2
    assert [file.name for file in root.iterdir()] == ["lspidx.toml"]


def test_no_is_an_answer_too(asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(click, "confirm", lambda text, **_: asked.append(text))
    root = _project(tmp_path, "../lib")
    for _ in range(2):
        assert not consent.folders_given(root, load_config(root).refused)
    assert (len(asked), load_config(root).folders) == (1, ())


def test_nobody_is_asked_about_a_closed_folder(asked: list[str], tmp_path: Path):
    root = _project(tmp_path, "/etc")
    assert not consent.folders_given(root, load_config(root).refused)
    assert asked == []


@pytest.mark.parametrize("stream", ["stdin", "stderr"])
def test_no_folder_is_taken_where_nobody_can_be_asked(asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: str):
    monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: False, raising=False)
    root = _project(tmp_path, "../lib")
    assert not consent.folders_given(root, load_config(root).refused)
    assert (asked, user_state.record(root)) == ([], {})
