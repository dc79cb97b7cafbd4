"""A tree whose index is still here is published again without a merge, and the result is what a merge would make (ADR 0077)."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from cache_support import clone, tables
from git_traps import git
from support import crawl_with_ty, rows, write_tree

from indexer import plain_files, user_state
from indexer.crawl import making
from indexer.store import generations, known, merge, proof
from indexer.store.generations import Home
from query.facts.index import open_index
from query.surface.registry import call

FILES = {
    "shop/__init__.py": "",
    "shop/price.py": "import os\n\n\ndef price(n: int) -> int:\n    return n\n\n\nprint(price(1), os.sep)\n",
    "shop/till.py": "from shop.price import price\n\n\ndef total() -> int:\n    return price(2) + price(3)\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n\n[project.scripts]\ntill = "shop.till:total"\n',
    "page.html": "<p>{{ x|total }}</p>\n",
}
PRICE = "shop/price.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed repository with one commit, and one index of it; not to be changed."""
    root = write_tree(tmp_path_factory.mktemp("made") / "shop", FILES)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    crawl_with_ty(root)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "shop"))


@pytest.fixture
def merges(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The databases that were made by a merge."""
    found: list[Path] = []
    build = merge.build

    def counted(path: Path, *arguments: object, **options: object) -> merge.Built:
        found.append(path)
        return build(path, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(merge, "build", counted)
    return found


def _write(root: Path, path: str, text: str) -> None:
    write_tree(root, {path: text})


def _as_from_nothing(root: Path, beside: Path) -> None:
    """Every table, also those that say what lies around the facts, but for times and numbers; and the file is sound."""
    shutil.rmtree(beside, ignore_errors=True)
    clean = clone(root, beside / root.name)
    crawl_with_ty(clean)
    assert tables(root) == tables(clean)


def test_an_edit_that_is_undone_needs_no_merge(root: Path, merges: list[Path], tmp_path: Path) -> None:
    """Also after several others; whoever asks sees the files as they are."""
    for number in range(3):
        _write(root, PRICE, FILES[PRICE] + f"\n\ndef more_{number}() -> int:\n    return price({number})\n")
        crawl_with_ty(root)
    assert len(merges) == 3
    _write(root, PRICE, FILES[PRICE])
    back = crawl_with_ty(root)
    assert (len(merges), back.up_to_date, back.manifest["crawled"]) == (3, False, 0)
    _as_from_nothing(root, tmp_path / "clean")
    with open_index(root) as index:
        answer = call(index, "find_callers", {"symbol": "price"})
    assert answer.completeness.status == "complete"
    assert answer.total == 2
    assert crawl_with_ty(root).up_to_date


def test_a_commit_needs_no_merge_and_is_known(root: Path, merges: list[Path]) -> None:
    _write(root, PRICE, FILES[PRICE] + "\nMORE = 1\n")
    dirty = crawl_with_ty(root)
    assert (dirty.manifest["dirty"], len(merges)) == (True, 1)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "second")
    after = crawl_with_ty(root)
    assert len(merges) == 1
    assert (after.manifest["dirty"], after.manifest["commit"] != dirty.manifest["commit"]) == (False, True)
    assert rows(after.generation, "SELECT value FROM meta WHERE key = 'commit'") == [(after.manifest["commit"],)]
    assert rows(after.generation, "SELECT commit_sha, dirty FROM folder") == [(after.manifest["commit"], False)]
    assert rows(after.generation, "SELECT commit_sha FROM run") == [(after.manifest["commit"],)]


def test_branches_there_and_back_need_one_merge_each(root: Path, merges: list[Path], tmp_path: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    _write(root, "shop/late.py", "from shop.price import price\n\nprice(4)\n")
    (root / "shop/till.py").unlink()
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "other")
    crawl_with_ty(root)
    here = tables(root)
    for branch in ("main", "other") * 3:
        git(root, "checkout", "-q", branch)
        crawl_with_ty(root)
    assert len(merges) == 1
    assert tables(root) == here
    _as_from_nothing(root, tmp_path / "clean")


def test_a_database_does_not_grow_by_being_taken_again(root: Path, merges: list[Path]) -> None:
    sizes: list[int] = []
    for number in range(6):
        (root / "page.html").write_text("<p>{{ x|total }}</p>\n" * number, encoding="utf-8")
        os.utime(root / PRICE)
        sizes.append(crawl_with_ty(root).generation.stat().st_size)
    assert not merges
    assert max(sizes[1:]) <= min(sizes) * 1.2


def test_a_manifest_that_names_another_symbol_counts(root: Path, merges: list[Path], tmp_path: Path) -> None:
    """Its names are facts, though no shard has them."""
    _write(root, "pyproject.toml", FILES["pyproject.toml"].replace("till:total", "price:price"))
    crawl_with_ty(root)
    assert len(merges) == 1
    _as_from_nothing(root, tmp_path / "clean")


def test_words_of_what_is_not_read_are_those_of_now(root: Path, merges: list[Path], tmp_path: Path) -> None:
    before = rows(Home(root).require(), "SELECT * FROM skipped_word")
    _write(root, "page.html", "<p>{{ x|till }}</p>\n")
    crawl_with_ty(root)
    assert rows(Home(root).require(), "SELECT * FROM skipped_word") != before
    assert not merges
    _as_from_nothing(root, tmp_path / "clean")


def _edited_and_back(root: Path) -> Path:
    """The first index, after another one was made; the tree is the first one's."""
    first = Home(root).require()
    _write(root, PRICE, FILES[PRICE] + "\nMORE = 1\n")
    crawl_with_ty(root)
    _write(root, PRICE, FILES[PRICE])
    return first


def test_a_damaged_one_is_not_taken(root: Path, merges: list[Path], tmp_path: Path) -> None:
    first = _edited_and_back(root)
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(content)
    crawl_with_ty(root)
    assert len(merges) == 2
    _as_from_nothing(root, tmp_path / "clean")


def test_one_whose_damage_its_proof_does_not_show_is_not_taken(root: Path, merges: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof goes by what the system says of the file; what is taken is looked at byte by byte."""
    first = _edited_and_back(root)
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 1
    first.write_bytes(content)
    monkeypatch.setattr(proof, "unproven", lambda *_, **__: "")
    crawl_with_ty(root)
    assert len(merges) == 2


def test_a_strangers_is_not_taken(root: Path, merges: list[Path]) -> None:
    first = _edited_and_back(root)
    secret = user_state.state_dir() / "secret"
    kept = secret.read_bytes()
    secret.write_bytes(os.urandom(32))
    try:
        proof.prove(first)
    finally:
        secret.write_bytes(kept)
    crawl_with_ty(root)
    assert len(merges) == 2


def test_one_made_by_other_code_is_not_taken(root: Path, merges: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _edited_and_back(root)
    monkeypatch.setattr(making, "code_digest", lambda: "another")
    crawl_with_ty(root)
    assert len(merges) == 2


def test_the_digest_tells_every_input_apart(root: Path) -> None:
    shards = ["a" * 32, "b" * 32]
    digests = {
        known.facts_digest(shards, [], "code"),
        known.facts_digest(shards[:1], [], "code"),
        known.facts_digest(shards[::-1], [], "code"),
        known.facts_digest(shards, [], "other"),
        known.facts_digest([*shards, "code"], [], ""),
    }
    assert len(digests) == 5


def test_what_is_lost_is_asked_about_again(root: Path, merges: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that lacks something is made anew, not taken again, though its files are the same."""
    from indexer.crawl.pool import Pool

    _write(root, PRICE, FILES[PRICE].replace("os.sep", "os.linesep"))
    with monkeypatch.context() as patched:
        patched.setattr(Pool, "read_externals", lambda self, jobs, on_report: [])
        assert crawl_with_ty(root).manifest["lost"]
    again = crawl_with_ty(root)
    assert (again.manifest["lost"], len(merges)) == ({}, 2)


def test_some_are_kept_for_some_days_and_no_two_of_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest two whatever they are; then those of other facts, by number, bytes and age."""
    home = Home(root)
    for number in range(9):
        _write(root, PRICE, FILES[PRICE] + f"\nMORE = {number}\n")
        crawl_with_ty(root)
    kept = home.generations()
    assert len(kept) == 8
    assert kept[0] == home.current()
    for _ in range(3):  # of the same facts
        os.utime(root / PRICE)
        crawl_with_ty(root)
    assert len(home.generations()) == 8
    assert len({generations.said_of(file).facts for file in home.generations()[1:]}) == 7
    old = time.time() - 8 * 86_400
    for file in home.generations()[2:5]:
        os.utime(file, (old, old))
    with home.locked():
        home.clean()
    assert len(home.generations()) == 5
    monkeypatch.setattr(generations, "_KEEP_BYTES", home.generations()[2].stat().st_size)
    with home.locked():
        home.clean()
    assert len(home.generations()) == 3
    monkeypatch.setattr(generations, "_KEEP_BYTES", 0)
    with home.locked():
        home.clean()
    assert len(home.generations()) == 2


def test_a_committed_tree_is_known_after_many_edits(root: Path, merges: list[Path]) -> None:
    """One edits, and in the end throws all of it away; the merges are those of the edits."""
    git(root, "checkout", "-q", "-b", "other")
    for number in range(11):
        _write(root, PRICE, FILES[PRICE] + f"\nMORE = {number}\n")
        crawl_with_ty(root)
    assert len(merges) == 11
    git(root, "checkout", "-q", "--", ".")
    back = crawl_with_ty(root)
    assert (len(merges), back.manifest["crawled"], back.manifest["dirty"]) == (11, 0, False)


def test_a_manifest_that_is_no_manifest_is_none_of_a_known_tree(root: Path) -> None:
    home = Home(root)
    _edited_and_back(root)
    other = next(file for file in home.generations() if file != home.current())
    for text in ("", "[]", '{"facts": 3}', "[" * 100_000):
        plain_files.write_whole(other.with_suffix(".json"), text.encode())
        assert generations.said_of(other).facts in ("", "3")
        with home.locked():
            home.clean()
    assert crawl_with_ty(root).manifest["crawled"] == 0
