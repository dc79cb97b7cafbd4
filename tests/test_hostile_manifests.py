"""Manifests that are written against their reader: text that never ends, or that takes far longer to read than it is long."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support import write_tree

from indexer import builds, encoding, go_modules, packages, tsconfig
from indexer.config import Config, load_config
from indexer.crawl.plan.survey import survey
from indexer.errors import ConfigError
from indexer.vcs import list_files

_LONG = 400_000
"""In proportion, reading takes less than a second. In squares it takes so many hours that nobody need measure: the test does not end."""


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (go_modules.parse, lambda count: "require (\n" * count),
        (go_modules.parse, lambda count: "require (\n" + "\n" * count),
        (go_modules.parse, lambda count: "require a v1" + " " * count + "x\n"),
        (tsconfig.parse, lambda count: "/*a" * count),
        (tsconfig.parse, lambda count: '"\\' * count),
        (tsconfig.parse, lambda count: "[," + " " * count),
        (builds.tags_in, lambda count: " " * count + "-"),
        (lambda text: builds.constraint("go", "a.go", text.encode()), lambda count: "//go:build a" + " " * count + "\0"),
    ],
)  # fmt: skip
def test_reading_ends_however_long_the_text_is(read: Callable[[str], object], text: Callable[[int], str]) -> None:
    read(text(_LONG))


@pytest.mark.parametrize("name", ["go.mod", "package.json", "Cargo.toml", "pom.xml", "tsconfig.json", "compile_commands.json"])
@pytest.mark.parametrize("plant", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)], ids=["a pipe", "a file without end"])
def test_a_manifest_that_never_ends_is_none(name: str, plant: Callable[[str], None], tmp_path: Path) -> None:
    plant(str(tmp_path / name))
    assert go_modules.read(tmp_path / name) == go_modules.Manifest()
    assert encoding.read_beginning(tmp_path / name, 1_000) == ""
    assert packages.ingredients_digest(tmp_path, [name]) == packages.ingredients_digest(tmp_path, [])
    for language in ("go", "typescript", "rust", "java"):
        packages.own_packages(tmp_path, language, ["a"])


def test_what_npm_says_that_it_has_installed_may_be_no_file(tmp_path: Path) -> None:
    """The list is read though git does not list it."""
    (tmp_path / "node_modules").mkdir()
    before = packages.ingredients_digest(tmp_path, [])
    (tmp_path / "node_modules/.package-lock.json").symlink_to("/dev/zero")
    assert packages.ingredients_digest(tmp_path, []) == before


def test_settings_that_take_minutes_to_read_are_refused_by_name(tmp_path: Path) -> None:
    write_tree(tmp_path, {"lspidx.toml": "# x\n" * encoding.MOST_TOML_BYTES})
    with pytest.raises(ConfigError, match=r"lspidx\.toml: not readable: is larger than settings may be"):
        load_config(tmp_path, environment={}, user_dir=tmp_path / "none")


def test_a_path_that_the_system_does_not_take_is_a_gap(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    place = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=place)
        deeper = os.open("d" * 250, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = deeper
    os.close(place)
    found = survey(tmp_path, list(list_files(tmp_path, ())), Config(), languages={"python"})
    assert [item.path for item in found.documents] == ["a.py"]
    assert [str(item.reason) for item in found.skipped] == ["unreadable"]


def test_the_artifact_of_a_parent_is_not_the_packages(tmp_path: Path) -> None:
    parent = "<parent><artifactId>above</artifactId></parent>"
    write_tree(tmp_path, {"pom.xml": f"<project>{parent}<artifactId> own </artifactId></project>"})
    assert packages.own_packages(tmp_path, "java", ["A.java"])["A.java"][0].name == "own"
