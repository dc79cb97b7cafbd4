"""The index as an artifact: what comes out of an import is what went in, says what of it does not hold here, and needs no server."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cache_support import bring, clone, contents, export, state, tables
from query_support import FILES, codes, json_of, lspidx
from support import Watcher, crawl_with_ty, write_tree

from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.run import crawl
from indexer.errors import CacheRefused, Locked, ServerMissing, UsageError
from indexer.store.generations import Home
from indexer.store.lint import lint
from query.facts.freshness import drift
from query.facts.index import open_index
from query.surface.registry import call

pytest_plugins = ["query_fixtures"]

ELSEWHERE = "/".join(("", "home", "somebody"))  # put together, for no file may name a folder of a machine

MIXED = {
    "tool.py": "import web\n\n\nclass Shape:\n    pass\n\n\ndef run() -> int:\n    return 1\n\n\nrun()\n",
    "späße/größe.py": '"""Ümläute: 𝔘nicode."""\n\n\nclass Größe:\n    def größer(self) -> "Größe":\n        return self.größer()\n',
    "broken.py": "def half(:\n    pass\n",
    "empty.py": "",
    "data.py": b"x = 1\0\n",
    "latin.py": "name = 'é'\n".encode("latin-1"),
    "web/menu.ts": "export class Menu { open() { return this.open(); } }\nexport const menu = new Menu();\n",
    "go/go.mod": "module example.com/geo\n",
    "go/router.go": "package geo\n\ntype Router struct{}\n\nfunc (r *Router) Handle() bool { return match() }\n\n"
    "func match() bool { return true }\n",
    "doc.rb": "puts 1\n",
}


def _git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    return subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def mixed_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with its server, TypeScript and Go by their text, Ruby not at all; in git, with odd names and files that are skipped."""
    root = write_tree(tmp_path_factory.mktemp("mixed") / "mixed", MIXED)
    os.symlink("tool.py", root / "link.py")
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "first")
    real = choice.find_server

    def only_ty(name: str, avoid: object = ()) -> object:
        if name != "ty":
            raise ServerMissing(f"{name}: '{ELSEWHERE}/bin/{name}' is broken; to get it: lspidx servers install {name}")
        return real(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "find_server", only_ty)
        crawl(root, Config(jobs=1), Watcher(), environment={})
    return root


@pytest.fixture(scope="module")
def artifact(shop_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the shop, as a folder."""
    return export(shop_root, tmp_path_factory.mktemp("made") / "artifact", profile="git")


# ---- round trips


@pytest.mark.parametrize("form", ["folder", "index.tar"])
@pytest.mark.parametrize("profile", ["git", "small"])
@pytest.mark.parametrize("tree", ["shop_root", "mixed_root"])
def test_an_import_makes_the_index_that_was_exported(
    tree: str, profile: Any, form: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    root: Path = request.getfixturevalue(tree)
    made = export(root, tmp_path / form, profile=profile)
    there = clone(root, tmp_path / "elsewhere" / "named otherwise")
    bring(made, there)
    expected, found = tables(root), tables(there)
    assert expected["occ"] != []
    assert found == expected
    with open_index(there) as index:
        assert drift(index).paths == []
        assert lint(index.rows) == []


def test_an_empty_repository_has_an_artifact_too(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "empty", {"README": "nothing\n"})
    crawl_with_ty(root)
    there = clone(root, tmp_path / "there")
    bring(export(root, tmp_path / "artifact"), there)
    assert tables(there) == tables(root)


@pytest.mark.parametrize("form", ["folder", "index.tar"])
def test_the_same_index_gives_the_same_bytes(form: str, mixed_root: Path, tmp_path: Path) -> None:
    """Twice from one index, and from the index that an import made of it in another place."""
    first = export(mixed_root, tmp_path / "1" / form)
    second = export(mixed_root, tmp_path / "2" / form)
    there = clone(mixed_root, tmp_path / "there")
    bring(first, there)
    third = export(there, tmp_path / "3" / form)
    read: Callable[[Path], object] = contents if form == "folder" else Path.read_bytes
    assert read(first) == read(second) == read(third)


def test_the_bytes_do_not_depend_on_the_workers_nor_on_the_place(shop_root: Path, artifact: Path, tmp_path: Path) -> None:
    there = clone(shop_root, tmp_path / "elsewhere" / shop_root.name)  # which names the package, for want of a pyproject.toml
    crawl_with_ty(there, jobs=3)
    assert contents(export(there, tmp_path / "artifact", profile="git")) == contents(artifact)


def test_nothing_of_the_machine_is_in_an_artifact(mixed_root: Path, tmp_path: Path) -> None:
    made = contents(export(mixed_root, tmp_path / "artifact", profile="git"))
    assert "manifest.json" in made
    for name, content in made.items():
        for word in (str(mixed_root), str(Path.home()) + "/", ELSEWHERE, sys.prefix, os.uname().nodename):
            assert word.encode() not in content, (name, word)


def test_a_file_that_is_added_changes_one_chunk(tmp_path: Path) -> None:
    """The chunks behind it stay the same, byte for byte."""
    root = write_tree(tmp_path / "many", {f"m{number:03d}.py": f"def f{number}() -> int:\n    return {number}\n" for number in range(150)})
    crawl_with_ty(root)
    before = contents(export(root, tmp_path / "artifact", profile="git"))
    write_tree(root, {"m0405.py": "def new() -> None: ...\n"})
    crawl_with_ty(root)
    after = contents(export(root, tmp_path / "artifact", profile="git"))
    old, new = ({content for name, content in made.items() if name.startswith("facts/")} for made in (before, after))
    assert len(old) > 4
    assert len(new - old) <= 2  # the chunk that has it, or the two into which it was cut
    with open_index(root) as index:
        assert len(index.rows("SELECT * FROM document WHERE status <> 'external'")) == 151


def test_an_export_replaces_an_older_one_and_nothing_else(shop_root: Path, mixed_root: Path, tmp_path: Path) -> None:
    place = export(shop_root, tmp_path / "artifact")
    write_tree(place, {"README.md": "ours\n"})
    export(mixed_root, place)
    assert (place / "README.md").read_text() == "ours\n"
    bring(place, clone(mixed_root, tmp_path / "there"))
    taken = write_tree(tmp_path / "taken", {"letter.txt": "dear\n"})
    with pytest.raises(UsageError, match="is no artifact"):
        export(shop_root, taken)
    assert contents(taken) == {"letter.txt": b"dear\n"}


def test_an_export_says_which_files_are_not_as_its_index_has_them(mixed_root: Path, tmp_path: Path) -> None:
    root = tmp_path / "work"
    shutil.copytree(mixed_root, root, symlinks=True)
    assert "differ" not in lspidx("cache", "export", str(tmp_path / "before"), cwd=root).stdout
    write_tree(root, {"tool.py": "changed = 1\n", "new.py": "new = 1\n"})
    done = lspidx("cache", "export", str(tmp_path / "after"), cwd=root)
    assert "; of files here, 2 differ from it: lspidx index, then export again" in done.stdout, done.stdout


def test_what_nobody_could_import_is_not_exported(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "odd", {"c:odd.py": "x = 1\n"})
    crawl_with_ty(root)
    with pytest.raises(UsageError, match=r"could not be imported.*c:odd\.py"):
        export(root, tmp_path / "artifact")
    assert not (tmp_path / "artifact").exists()


# ---- what does not hold here


def test_answers_name_exactly_the_files_that_differ(shop_root: Path, artifact: Path, tmp_path: Path) -> None:
    there = clone(shop_root, tmp_path / "there")
    same_size = FILES["shop/models.py"].replace("Things", "Thinks")
    write_tree(there, {"shop/models.py": same_size, "shop/extra.py": "from shop.service import run\nrun(1)\n", "late/new.py": "x = 1\n"})
    (there / "tests/test_service.py").unlink()
    done = bring(artifact, there)
    assert (done.checked.changed, done.checked.missing) == (["shop/models.py"], ["tests/test_service.py"])
    assert done.checked.new == ["late/new.py", "shop/extra.py"]
    with open_index(there) as index:
        answer = call(index, "callers", {"symbol": "shop.service.run"})
        [stale] = [reason for reason in answer.completeness.reasons if reason.code == "stale"]
        assert stale.paths == ["shop/extra.py", "shop/models.py", "tests/test_service.py"]  # 'late/new.py' has not the word
        assert "shop/service.py" in {edge.symbol.path for edge in answer.result}


def test_a_file_that_becomes_what_the_artifact_describes_is_fresh_again(shop_root: Path, artifact: Path, tmp_path: Path) -> None:
    there = clone(shop_root, tmp_path / "there")
    write_tree(there, {"shop/models.py": "changed = 1\n"})
    bring(artifact, there)
    with open_index(there) as index:
        assert drift(index).changed == ["shop/models.py"]
        write_tree(there, {"shop/models.py": FILES["shop/models.py"]})
        assert drift(index).paths == []
        assert "stale" not in codes(call(index, "callers", {"symbol": "shop.service.run"}))


def test_a_language_that_came_since_is_noticed(shop_root: Path, artifact: Path, tmp_path: Path) -> None:
    there = write_tree(clone(shop_root, tmp_path / "there"), {"web/main.ts": "export const x = 1;\n"})
    assert bring(artifact, there).checked.new == ["web/main.ts"]
    with open_index(there) as index:
        assert drift(index).new == ["web/main.ts"]


def test_indexing_after_an_import_makes_what_a_clean_crawl_makes(shop_root: Path, artifact: Path, tmp_path: Path) -> None:
    there = clone(shop_root, tmp_path / "there" / shop_root.name)
    write_tree(there, {"shop/extra.py": "from shop.service import run\nrun(1)\n"})
    bring(artifact, there)
    clean = clone(there, tmp_path / "clean" / there.name)
    made = crawl_with_ty(there)
    assert (made.up_to_date, made.manifest["crawled"], made.manifest["imported"]) == (False, 1, True)
    crawl_with_ty(clean)
    assert tables(there) == tables(clean)
    with open_index(there) as index:
        assert call(index, "callers", {"symbol": "shop.service.run"}).provenance.imported
    assert not crawl_with_ty(there, full=True).manifest["imported"]
    assert tables(there) == tables(clean)


# ---- where it is imported


def test_a_clone_answers_without_any_language_server(mixed_root: Path, tmp_path: Path) -> None:
    """By the command line, in an environment that has none, with a source tree that cannot be written."""
    made = export(mixed_root, tmp_path / "index.tar")
    _git(tmp_path, "clone", "-q", str(mixed_root), "there")
    there = tmp_path / "there"
    (there / ".lspidx").mkdir()
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    environment = {"LSPIDX_SERVERS_DIR": str(nothing), "PATH": f"{nothing}:/usr/bin:/bin"}
    for folder, _, _ in os.walk(there):
        if ".lspidx" not in folder:
            os.chmod(folder, 0o555)
    try:
        done = lspidx("cache", "import", str(made), cwd=there, env=environment)
        assert (done.returncode, done.stderr) == (0, "")
        callers = lspidx("query", "callers", "größer", "--json", cwd=there, env=environment)
    finally:
        for folder, _, _ in os.walk(there):
            os.chmod(folder, 0o755)
    assert callers.returncode == 0
    assert [edge["symbol"]["name"] for edge in json_of(callers)["result"]] == ["größer"]
    assert "stale" not in callers.stdout


def test_git_knows_whether_an_artifact_is_of_this_repository(mixed_root: Path, tmp_path: Path) -> None:
    made = export(mixed_root, tmp_path / "artifact")
    other = clone(mixed_root, tmp_path / "other")
    shutil.rmtree(other / ".git")
    _git(other, "init", "-q")
    _git(other, "add", "-A")
    _git(other, "commit", "-q", "-m", "the same files, another history")
    with pytest.raises(CacheRefused, match="another repository"):
        bring(made, other)
    shutil.rmtree(other / ".git")
    bring(made, other)  # without git there is only the content to go by


def test_verify_says_what_import_would_and_changes_nothing(shop_root: Path, artifact: Path, tmp_path: Path) -> None:
    there = clone(shop_root, tmp_path / "there")
    write_tree(there, {".git/HEAD": ""})  # the root
    shutil.rmtree(there / ".git")
    write_tree(there, {"lspidx.toml": "", "shop/models.py": "changed = 1\n"})
    done = lspidx("cache", "verify", str(artifact), "--json", cwd=there)
    assert done.returncode == 0
    assert json_of(done)["changed"] == ["shop/models.py"]
    assert lspidx("cache", "verify", str(artifact), "--current", cwd=there).returncode == 1
    assert not (there / ".lspidx").exists()


def test_an_import_while_an_index_is_made_says_so(copy: Path, artifact: Path) -> None:
    before = state(copy)
    with Home(copy).locked(), pytest.raises(Locked):
        bring(artifact, copy)
    assert state(copy) == before


def test_a_refused_artifact_leaves_the_index_as_it_was(copy: Path, artifact: Path, tmp_path: Path) -> None:
    before = state(copy)
    broken = shutil.copytree(artifact, tmp_path / "broken")
    chunk = broken / "facts/0000000000000000.parquet"
    chunk.write_bytes(chunk.read_bytes()[:-9] + b"x" * 9)
    with pytest.raises(CacheRefused, match="damaged or changed"):
        bring(broken, copy)
    assert state(copy) == before


def test_an_artifact_is_imported_twice(shop_root: Path, artifact: Path, tmp_path: Path) -> None:
    there = clone(shop_root, tmp_path / "there")
    first = bring(artifact, there).generation
    assert bring(artifact, there).generation != first
    assert tables(there) == tables(shop_root)
    assert contents(export(there, tmp_path / "again", profile="git")) == contents(artifact)


@pytest.mark.slow
def test_an_import_that_is_killed_leaves_the_old_index_or_the_new(copy: Path, shop_root: Path, artifact: Path) -> None:
    """SIGKILL at random moments of it; then the index answers, and the next import leaves nothing behind."""
    expected = tables(shop_root)
    command = [str(Path(sys.executable).with_name("lspidx")), "cache", "import", str(artifact)]
    killed = 0
    for seed in range(8):
        process = subprocess.Popen(command, cwd=copy, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        timer = threading.Timer(random.Random(seed).uniform(0.1, 1.0), process.send_signal, [signal.SIGKILL])
        timer.start()
        killed += process.wait() == -signal.SIGKILL
        timer.cancel()
        with open_index(copy) as index:
            assert lint(index.rows) == []
        assert tables(copy) == expected
    assert killed
    bring(artifact, copy)
    assert tables(copy) == expected
    assert [path.name for path in (copy / ".lspidx/db").iterdir() if path.name.startswith("tmp-")] == []
    used = {name for file in (copy / ".lspidx/states").iterdir() for name in json.loads(file.read_text())["shards"]}
    assert {path.stem for path in (copy / ".lspidx/shards").iterdir()} == used
    assert len(list((copy / ".lspidx/db").iterdir())) <= 9, "of the two newest and of what was crawled, three files each"
