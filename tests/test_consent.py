"""The one question that `lspidx index` asks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import pytest

from query import consent

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
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    return questions


def test_it_is_asked_once_for_each_workspace(asked: list[str], tmp_path: Path):
    assert consent.given(tmp_path / "one", MISSING)
    assert not consent.given(tmp_path / "one", MISSING)
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
