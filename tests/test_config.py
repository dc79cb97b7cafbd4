"""Configuration: who wins, where a value came from, and what a mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import write_tree

from indexer.config import load_config
from indexer.errors import ConfigError


def _load(root: Path, **more: object):
    return load_config(root, environment=more.pop("environment", {}), user_dir=root / "user", **more)  # type: ignore[arg-type]


def test_defaults_say_that_they_are(tmp_path: Path) -> None:
    """Without any file every source is `default`."""
    config = _load(tmp_path)
    assert set(config.sources.values()) == {"default"}
    assert set(config.sources) == set(config.values())
    assert config.jobs == 0
    assert config.hover is True


def test_later_sources_win_and_are_named(tmp_path: Path) -> None:
    """default < user < project < environment < flag, one setting each."""
    write_tree(
        tmp_path,
        {
            "user/config.toml": "jobs = 1\nserver = 'u'\npython = 'u'\nhover = false\n",
            "lspidx.toml": "server = 'p'\npython = 'p'\nexclude = ['a', 'b/*']\n",
        },
    )
    config = _load(tmp_path, environment={"LSPIDX_PYTHON": "e", "LSPIDX_CROSS_CHECK": "0.5"}, flags={"cross_check": 0.25, "jobs": None})
    assert (config.jobs, config.server, config.python, config.cross_check, config.hover) == (1, "p", "e", 0.25, False)
    assert config.exclude == ("a", "b/*")
    assert config.sources["jobs"].endswith("config.toml")
    assert config.sources["server"] == "lspidx.toml"
    assert config.sources["python"] == "environment LSPIDX_PYTHON"
    assert config.sources["cross_check"] == "flag"
    assert config.sources["diagnostics"] == "default"


def test_lspidx_toml_beats_pyproject(tmp_path: Path) -> None:
    """Only one project file is read."""
    write_tree(tmp_path, {"pyproject.toml": "[tool.lspidx]\njobs = 2\nserver = 'x'\n"})
    assert _load(tmp_path).jobs == 2
    assert _load(tmp_path).sources["jobs"] == "pyproject.toml [tool.lspidx]"
    write_tree(tmp_path, {"lspidx.toml": "jobs = 3\n"})
    config = _load(tmp_path)
    assert (config.jobs, config.server) == (3, "")


def test_a_pyproject_of_others_is_no_configuration(tmp_path: Path) -> None:
    """Other tools' tables are not read."""
    write_tree(tmp_path, {"pyproject.toml": "[tool.black]\nline-length = 3\n"})
    assert set(_load(tmp_path).sources.values()) == {"default"}


def test_dashes_are_underscores(tmp_path: Path) -> None:
    """TOML people write `max-file-bytes`."""
    write_tree(tmp_path, {"lspidx.toml": "max-file-bytes = 10\n"})
    assert _load(tmp_path).max_file_bytes == 10


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("job = 1", "unknown setting 'job', did you mean 'jobs'"),
        ("completely_different = 1", "unknown setting 'completely_different'; known: server"),
        ("jobs = 'four'", "setting 'jobs': .*int"),
        ("jobs = true", "setting 'jobs'"),
        ("exclude = 'a'", "setting 'exclude'"),
        ("jobs = 65", "setting 'jobs' is 65, expected 0 to 64"),
        ("cross_check = 1.5", "setting 'cross_check' is 1.5"),
        ("jobs = ", "lspidx.toml: not readable as TOML"),
        ("sources = {}", "unknown setting 'sources'"),
    ],
)
def test_a_mistake_names_file_setting_and_remedy(tmp_path: Path, text: str, pattern: str) -> None:
    """The message starts with the source."""
    write_tree(tmp_path, {"lspidx.toml": text})
    with pytest.raises(ConfigError, match=pattern) as caught:
        _load(tmp_path)
    assert str(caught.value).startswith("lspidx.toml")


@pytest.mark.parametrize("text", ["[tool]\nlspidx = 3\n", "tool = 3\n", "[tool.lspidx]\nx = 1\n"])
def test_a_broken_pyproject_section_is_an_error_or_nothing(tmp_path: Path, text: str) -> None:
    """A section that is no table is refused; a `tool` that is none holds no section."""
    write_tree(tmp_path, {"pyproject.toml": text})
    if text.startswith("tool"):
        assert _load(tmp_path).jobs == 0
    else:
        with pytest.raises(ConfigError):
            _load(tmp_path)


def test_files_that_are_not_text_are_config_errors(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are the writer's problem, said so."""
    write_tree(tmp_path, {"lspidx.toml": b"\xff\xfe"})
    with pytest.raises(ConfigError, match="not readable"):
        _load(tmp_path)


@pytest.mark.parametrize(("text", "expected"), [("true", True), ("false", False), ("1", True), ("0", False)])
def test_environment_values_are_converted(tmp_path: Path, text: str, expected: bool) -> None:
    """Text becomes the setting's type."""
    assert _load(tmp_path, environment={"LSPIDX_HOVER": text, "LSPIDX_EXCLUDE": "a:b", "LSPIDX_JOBS": "4"}).hover is expected


def test_environment_lists_are_split_like_paths(tmp_path: Path) -> None:
    """Several patterns are parted as in PATH; nothing between two separators is nothing."""
    assert _load(tmp_path, environment={"LSPIDX_EXCLUDE": "a::b"}).exclude == ("a", "b")


def test_wrong_environment_values_name_the_variable(tmp_path: Path) -> None:
    """The source is the variable."""
    with pytest.raises(ConfigError, match="environment LSPIDX_JOBS: setting 'jobs'"):
        _load(tmp_path, environment={"LSPIDX_JOBS": "many"})


def test_the_user_folder_follows_xdg(tmp_path: Path) -> None:
    """XDG_CONFIG_HOME, else ~/.config."""
    write_tree(tmp_path, {"x/lspidx/config.toml": "jobs = 5\n", "h/.config/lspidx/config.toml": "jobs = 6\n", "work/x": ""})
    assert load_config(tmp_path / "work", environment={"XDG_CONFIG_HOME": str(tmp_path / "x")}).jobs == 5
    assert load_config(tmp_path / "work", environment={"HOME": str(tmp_path / "h")}).jobs == 6
