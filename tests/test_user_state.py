"""What lspidx keeps for the user, outside of every repository."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexer import user_state
from indexer.errors import UsageError


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("LSPIDX_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def test_reading_makes_nothing(state: Path, tmp_path: Path):
    assert user_state.secret() is None
    assert user_state.record(tmp_path) == {}
    assert not state.exists()


def test_the_secret_is_made_once_however_many_ask_for_it_at_once(state: Path):
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: user_state.secret(make=True), range(16)))
    assert len(made) == 1
    assert made == {user_state.secret()}
    assert [file.name for file in state.iterdir()] == ["secret"]
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / "secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["link", "writable", "short"])
def test_a_secret_that_others_may_have_written_is_none(state: Path, tmp_path: Path, damage: str):
    user_state.secret(make=True)
    file = state / "secret"
    if damage == "link":
        (tmp_path / "theirs").write_bytes(b"x" * 32)
        file.unlink()
        file.symlink_to(tmp_path / "theirs")
    elif damage == "writable":
        file.chmod(0o666)
    else:
        file.write_bytes(b"x")
    assert user_state.secret() is None


def test_what_is_kept_of_one_workspace_does_not_hold_for_another(tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    user_state.keep(one, folders=["../lib"])
    user_state.keep(one, fetch=True)
    assert user_state.record(one) == {"root": os.path.realpath(one), "folders": ["../lib"], "fetch": True}
    assert user_state.record(two) == {}
    (tmp_path / "link").symlink_to(one)
    assert user_state.record(tmp_path / "link")["fetch"]  # the same folder by another name


def test_state_that_cannot_be_written_is_an_error_that_says_what_to_do(state: Path, tmp_path: Path):
    state.write_text("a file in its place")
    with pytest.raises(UsageError, match="LSPIDX_STATE_DIR"):
        user_state.keep(tmp_path, fetch=True)


def test_a_relative_state_folder_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("LSPIDX_STATE_DIR", "state")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert user_state.state_dir() == tmp_path / "xdg" / "lspidx"
