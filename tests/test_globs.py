"""Globs that a stranger wrote: they mean what a plain translation means, and no name keeps one busy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import write_tree

from indexer import globs, tsconfig
from indexer.errors import UsageError
from query.edits.globs import matcher

PARTS = st.sampled_from(["**", "*", "a", "b", "*a", "a*", "*a*b*", "?", "a?*", "*.*", ".x"])
PATHS = st.lists(st.text("ab.x", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)
NAME = "a" * 250 + "/"
"""As long as a file's name may be, and nothing that the globs below end with."""


def _plain(parts: list[str], folder: str) -> str:
    """The translation that goes back to each star for each of the others."""
    text = ""
    for number, part in enumerate(parts):
        if part == "**":
            text += f"(?:{folder})*"
        else:
            text += re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") + ("" if number == len(parts) - 1 else "/")
    return text


@given(st.lists(PARTS, min_size=1, max_size=6), PATHS, st.sampled_from(["[^/]+/", r"(?!\.)[^/]+/"]))
def test_a_glob_means_what_a_plain_translation_means(parts: list[str], path: str, folder: str) -> None:
    made = globs.regex([part if part == "**" else globs.part(part) for part in parts], folder=folder)
    for text in (path, f"{path}/"):
        assert bool(re.fullmatch(made, text)) is bool(re.fullmatch(_plain(parts, folder), text)), made


_EDITS = st.lists(st.sampled_from(["**/", "**", "*", "?", "a", "b", "/", "[ab]", "[!a]"]), min_size=1, max_size=7).map("".join)


@given(_EDITS, PATHS)
def test_a_glob_of_an_edit_means_what_a_plain_translation_means(glob: str, path: str) -> None:
    fixed = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!a]": "(?!/)[^a]"}
    parts: list[str] = re.findall(r"\*\*/|\*\*|\*|\[[^]]+\]|.", glob)
    plain = "".join(fixed.get(part, part) for part in parts)
    wanted = any(re.fullmatch(plain, text) for text in (path, path.rpartition("/")[2]))
    assert matcher([glob])(path) is wanted


@pytest.mark.parametrize("glob", ["*a" * 40 + "b", "**/" * 40 + "*a" * 40 + "b", "**/*a/" * 40 + "b", "a*" * 100 + "{b,c*d}"])
def test_stars_without_end_end(glob: str) -> None:
    """Each would go on for longer than there are computers."""
    parts = glob.split("/")
    made = re.compile(globs.regex([part if part == "**" else globs.part(part) for part in parts]))
    assert made.fullmatch(NAME * 15) is None
    assert not matcher([glob, "**a" * 40 + "b"])(NAME * 15)


def test_such_stars_in_project_files_end(tmp_path: Path) -> None:
    """A project file that extends itself ends, too."""
    include = ["*a" * 40 + "b", "**/" * 30 + "*a" * 30 + "b"]
    files = {"tsconfig.json": json.dumps({"extends": "./tsconfig.json", "include": include}), f"{NAME}x.ts": "export const a = 1\n"}
    write_tree(tmp_path, files)
    assert tsconfig.Configs(tmp_path, list(files), {}).orphans().taken_in == {"tsconfig.json": [f"{NAME}x.ts"]}
    write_tree(tmp_path, {"tsconfig.json": '{"extends": "./tsconfig.json"}'})
    assert tsconfig.Configs(tmp_path, list(files), {}).orphans().taken_in == {}


def test_braces_stand_for_so_many_and_no_more() -> None:
    assert globs.alternatives("{a,b}/{c,d}x") == ["a/cx", "a/dx", "b/cx", "b/dx"]
    assert globs.alternatives("packages/*") == ["packages/*"]
    assert globs.alternatives("{a,b}" * 30) == []
    assert globs.readable(["a", 1, "b" * 5_000]) == ["a"]
    assert len(globs.readable(["a"] * 5_000)) == 1_000
    with pytest.raises(UsageError, match="longer than any path"):
        matcher(["*" * 2_000])
