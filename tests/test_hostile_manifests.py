"""Manifests and settings of a repository as an attacker would write them: without end, of a terabyte, nested, a pipe."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer import packages, python_project, python_requirements
from indexer.cargo import disk, toolchain
from indexer.config import load_config
from indexer.encoding import read_manifest
from indexer.errors import ConfigError
from indexer.servers import hazards

_NESTED = "a = " + "[" * 20_000
_NESTED_JSON = '{"a":' * 20_000


def _config(file: Path) -> object:
    with pytest.raises(ConfigError):
        load_config(file.parent, environment={}, user_dir=file.parent / "user")
    return None


# The readers are private: what calls them looks for much else around a manifest.
READERS: dict[str, Callable[[Path], object]] = {
    "lspidx.toml": _config,
    "pyproject.toml": _config,
    "Pipfile": lambda file: list(python_requirements._pipfile(file.read_text() if file.stat().st_size < 10**6 else "")),
    "Cargo.toml": lambda file: disk._parsed(str(file), 0, 0) or packages._cargo_name(file) or None,
    "Cargo.lock": lambda file: disk._lock(str(file)) and None,
    "rust-toolchain.toml": lambda file: toolchain._channel(file) or None,
    "config.toml": hazards._parsed,
    "package.json": lambda file: packages._json(file) or None,
}


@pytest.mark.parametrize("name", READERS)
def test_a_manifest_that_is_nested_twenty_thousand_times_is_not_read(tmp_path: Path, name: str) -> None:
    """Python's parsers give up by a RecursionError, which ended the run as an internal error."""
    file = tmp_path / name
    file.write_text(_NESTED_JSON if name.endswith(".json") else _NESTED)
    assert not READERS[name](file)


@pytest.mark.parametrize("name", [name for name in READERS if name != "Pipfile"])
def test_a_manifest_of_a_terabyte_is_not_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    with file.open("wb") as opened:
        opened.truncate(10**12)
    assert not READERS[name](file)


def test_a_manifest_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Cargo.toml")
    with pytest.raises(OSError, match="no regular file"):
        read_manifest(tmp_path / "Cargo.toml")
    assert disk._parsed(str(tmp_path / "Cargo.toml"), 0, 0) is None


def test_a_table_of_twenty_thousand_levels_has_a_digest(tmp_path: Path) -> None:
    """TOML's dotted keys nest without any recursion of the parser; what looks at the result does recurse."""
    (tmp_path / "pyproject.toml").write_text("[tool.pyright." + ".".join(["a"] * 20_000) + "]\n")
    assert python_project.settings_digest(tmp_path, ["pyproject.toml"])
