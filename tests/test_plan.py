"""Files to units: each skip reason by a real file, and a cut that depends on the tree alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support import write_tree

from indexer import vcs
from indexer.config import Config
from indexer.crawl.plan.components import too_many
from indexer.crawl.plan.survey import UNIT_BYTES_MOST, cut, recipe_digest, survey
from indexer.crawl.units import PlannedDocument
from indexer.model import SkipReason
from indexer.text import blob_digest


def _survey(root: Path, **settings: object):
    return survey(root, vcs.list_files(root), Config(**settings), languages=["python"])  # type: ignore[arg-type]


def _reasons(root: Path, **settings: object) -> dict[str, SkipReason]:
    return {item.path: item.reason for item in _survey(root, **settings).skipped}


def test_documents_have_digest_size_and_stamp(tmp_path: Path) -> None:
    """In order of path; files of no known language are neither documents nor skips."""
    write_tree(tmp_path, {"b.py": "x = 1\n", "a/c.pyi": "", "README.md": "", "Makefile": "", "a/D.PY": "y"})
    found = _survey(tmp_path)
    assert [document.path for document in found.documents] == sorted(["a/c.pyi", "b.py", "a/D.PY"])
    document = found.documents[-1]
    assert (document.path, document.size_bytes, document.digest) == ("b.py", 6, blob_digest(b"x = 1\n"))
    assert found.stamps["b.py"].size_bytes == 6
    assert found.stamps["b.py"].mtime_ns == (tmp_path / "b.py").stat().st_mtime_ns
    assert set(found.folders) == {"", "a"}
    assert found.skipped == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x" * 200, SkipReason.TOO_LARGE),
        (b"x = '\0'\n", SkipReason.BINARY),
        (b"\x8f\x93\xfe\x90\xe4abc\n", SkipReason.NOT_DECODABLE),
        ("# coding\n".encode("utf-32"), SkipReason.BINARY),
    ],
)
def test_content_that_is_no_source_is_skipped(tmp_path: Path, content: bytes, reason: SkipReason) -> None:
    """Too large, binary or no text in any encoding, with the reason."""
    write_tree(tmp_path, {"a.py": content, "ok.py": ""})
    assert _reasons(tmp_path, max_file_bytes=100) == {"a.py": reason}


def test_a_file_of_exactly_the_limit_is_a_document(tmp_path: Path) -> None:
    """The limit is what may still be crawled."""
    write_tree(tmp_path, {"a.py": b"x" * 100})
    assert _reasons(tmp_path, max_file_bytes=100) == {}


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link may lead out of the repository, to nowhere or in circles."""
    write_tree(tmp_path / "outside", {"secret.py": ""})
    root = write_tree(tmp_path / "root", {"a.py": ""})
    (root / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    (root / "nowhere.py").symlink_to("gone.py")
    (root / "circle.py").symlink_to("circle.py")
    (root / "beside.py").symlink_to("a.py")
    harmless = dict.fromkeys(("beside.py", "nowhere.py", "circle.py"), SkipReason.SYMLINK)
    assert _reasons(root) == {**harmless, "link.py": SkipReason.UNLISTED_LINK}


def test_what_lies_behind_a_linked_folder_is_no_document(tmp_path: Path) -> None:
    """Folders are walked without following links."""
    write_tree(tmp_path / "outside", {"secret.py": ""})
    root = write_tree(tmp_path / "root", {"a.py": ""})
    (root / "linked").symlink_to(tmp_path / "outside")
    assert [document.path for document in _survey(root).documents] == ["a.py"]


def test_a_pipe_is_not_regular(tmp_path: Path) -> None:
    """Opening it must not wait for a writer."""
    os.mkfifo(tmp_path / "pipe.py")
    assert _reasons(tmp_path) == {"pipe.py": SkipReason.NOT_REGULAR}


def test_a_folder_named_like_a_file_is_not_regular(tmp_path: Path) -> None:
    """As when a submodule is called `x.py`."""
    (tmp_path / "x.py").mkdir()
    found = survey(tmp_path, ["x.py"], Config(), languages=["python"])
    assert [item.reason for item in found.skipped] == [SkipReason.NOT_REGULAR]


def test_a_deleted_file_is_none_that_was_not_read(tmp_path: Path) -> None:
    """Git still lists it."""
    assert survey(tmp_path, ["gone.py"], Config(), languages=["python"]).skipped == []


@pytest.mark.parametrize("pattern", ["gen/*", "gen", "gen/", "gen/deep", "*_pb2.py", "gen/deep/a_pb2.py"])
def test_excluded_patterns_name_files_and_folders(tmp_path: Path, pattern: str) -> None:
    """A path, a glob, or a leading folder."""
    write_tree(tmp_path, {"gen/deep/a_pb2.py": "", "generous.py": ""})
    assert _reasons(tmp_path, exclude=(pattern,)) == {"gen/deep/a_pb2.py": SkipReason.EXCLUDED}


def test_generated_and_vendored_files_are_skipped(tmp_path: Path) -> None:
    """As .gitattributes says."""
    attributes = "g.py linguist-generated\nthird/** linguist-vendored\n"
    write_tree(tmp_path, {"a.py": "", "g.py": "", "third/v.py": "", ".gitattributes": attributes})
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert _reasons(tmp_path) == {"g.py": SkipReason.GENERATED, "third/v.py": SkipReason.VENDORED}


def test_components_are_told_to_a_server_as_far_as_it_can_take_them(tmp_path: Path) -> None:
    """Each costs a look at all files of its project; those that lie the deepest are left out, and known by their words."""
    files = {"package.json": "{}", "a.js": "let a = 1", "b.js": "let b = 1", "x/package.json": "{}", "x/One.vue": "<script>let c</script>"}
    names = ["Card.vue", "src/Page.svelte", "tests/deep/Sample.svelte"]
    write_tree(tmp_path, {**files, **dict.fromkeys(names, "<script>let word = 1</script>")})
    paths = vcs.list_files(tmp_path)
    planned = {item.path: item for item in survey(tmp_path, paths, Config(), languages=["typescript", "javascript"]).documents}
    assert {*names, "x/One.vue"} < planned.keys()
    assert too_many(planned, paths, most=len(planned) * 4) == []
    assert too_many(planned, paths, most=11) == ["tests/deep/Sample.svelte"]
    assert too_many(planned, paths, most=6) == ["src/Page.svelte", "tests/deep/Sample.svelte"]  # one in a small project costs little


# ---- units


def _documents(sizes: list[int]) -> list[PlannedDocument]:
    return [PlannedDocument(path=f"{i:03d}.py", language="python", digest=f"{i}", size_bytes=size) for i, size in enumerate(sizes)]


def test_units_keep_neighbours_together_and_lose_nothing() -> None:
    """Every document is in one unit, in order; a unit is within the budget unless one document alone exceeds it."""
    documents = _documents([10_000] * 40 + [UNIT_BYTES_MOST * 2] + [1])
    units = cut(documents, "tree")
    assert [document for unit in units for document in unit.documents] == documents
    assert all(unit.size_bytes <= UNIT_BYTES_MOST or len(unit.documents) == 1 for unit in units)
    assert [unit.name for unit in units] == sorted(unit.name for unit in units)
    assert len({unit.fingerprint for unit in units}) == len(units)


def test_the_cut_is_the_same_every_time() -> None:
    """It is a function of the documents and the recipe."""
    documents = _documents([50_000] * 20)
    assert cut(documents, "tree") == cut(documents, "tree")
    assert [unit.fingerprint for unit in cut(documents, "tree")] != [unit.fingerprint for unit in cut(documents, "other")]
    assert cut([], "tree") == []


def test_the_recipe_depends_on_documents_and_ingredients() -> None:
    """Content, names, modules and server; nothing runs together."""
    documents = _documents([1, 2])
    base = recipe_digest(documents, ["a", "bc"])
    assert base == recipe_digest(documents, ["a", "bc"])
    assert base != recipe_digest(documents, ["ab", "c"])
    assert base != recipe_digest(documents[:1], ["a", "bc"])
    assert base != recipe_digest(_documents([1, 3]), ["a", "bc"])


def test_units_shrink_towards_the_end() -> None:
    """Large units first, small ones last: workers end together, and small trees still keep several busy."""
    large = [unit.size_bytes for unit in cut(_documents([10_000] * 1_000), "tree")]
    assert max(large) == large[0]
    assert large[-2] <= large[0] // 3
    assert 6 <= len(cut(_documents([5_000] * 100), "tree")) <= 12
    assert len(cut(_documents([1_000] * 20), "tree")) == 1
