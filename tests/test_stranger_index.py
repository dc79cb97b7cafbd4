"""`.lspidx` as a stranger may leave it: links, pipes, files of git, an index of somebody else. Nothing outside is touched, and nothing
of it is believed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from cache_support import bring, export
from query_support import generation, json_of, lspidx
from support import Watcher, crawl_with_ty, write_tree

from indexer import logs, plain_files, user_state
from indexer.cache.exchange import pull, push
from indexer.cache.remote import Remote
from indexer.config import Config
from indexer.crawl.plan import companions
from indexer.crawl.run import crawl
from indexer.crawl.verify import verify
from indexer.errors import IndexUnusable, NoIndex, UnsafeIndex, UsageError
from indexer.store import proof
from indexer.store.generations import Home, find_home
from indexer.store.states import States
from indexer.store.unfinished import Plan, begin, unfinished, write_plan
from query import api
from query.changes import bases
from query.context import silent
from query.facts.index import open_index
from query.skills.kept import KeptPhases

SHOP = {
    "shop/__init__.py": "",
    "shop/till.py": "def total(price: int) -> int:\n    return price\n\n\ndef pay() -> int:\n    return total(3)\n",
    "shop/desk.py": "from shop.till import total\n\nSUM = total(4)\n",
}

FOLDERS = ("db", "shards", "states", "crawl", "log", "scratch", "cache", "bases", "exchange", "answers", "edits", "runs", "simulations",
           "toolchain", "verify")  # fmt: skip
FILES = ("lock", "run.jsonl", "CURRENT", "flags.json", "flow.arrow", "making.json", "skill.json", "skill.lock", ".gitignore",
         "CACHEDIR.TAG", "log/lspidx.log", "log/.__lspidx.lock", "states/0123456789abcdef0123456789abcdef.json",
         "shards/0123456789abcdef0123456789abcdef.parquet",
         "db/gen-1.duckdb", "db/gen-1.json", "db/gen-1.proof", "db/unpublished",
         "db/tmp-import-1/shards", "crawl/0123456789abcdef/plan.json",
         "exchange/0123/lock", "bases/0123/shop")  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an index of this user; never changed."""
    root = write_tree(tmp_path_factory.mktemp("made") / "shop", SHOP)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """The same workspace with the index of a stranger, whose secret is another one."""
    copy = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    _estrange(Home(copy), os.urandom(32))
    return copy


def _estrange(home: Home, other: bytes) -> None:
    """Proves all that can be proven with another secret: what a stranger has made with lspidx is as whole as our own."""
    mine = user_state.state_dir() / "secret"
    kept = mine.read_bytes()
    flags, states = home.flags(), [(file, proof.read("state", file)) for file in home.states.glob("*.json")]
    mine.write_bytes(other)
    try:
        home.remember(flags)
        for file, content in states:
            assert content is not None
            plain_files.write_whole(file, proof.written("state", content))
        for database in home.databases.glob("gen-*.duckdb"):
            proof.prove(database)
            assert proof.unproven(database) == ""
    finally:
        mine.write_bytes(kept)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """Things of the user's that nobody may touch, beside the workspace."""
    place = write_tree(
        tmp_path / "home",
        {".bashrc": "# mine\n", "Documents/table.parquet": "rows", "Documents/photos/a.jpg": "pixels", "Documents/gen-1.duckdb": "mine"}
        | {f"Documents/{name}": "mine" for name in ("tmp-1", "a.json", "lspidx.log", "tmp-import-1/a", "0123456789abcdef/plan.json")}
        | {"Documents/0123456789abcdef0123456789abcdef.parquet": "mine", "Documents/0123456789abcdef0123456789abcdef.json": "{}"},
    )
    before = _listing(place)
    yield place
    assert _listing(place) == before


def _listing(place: Path) -> dict[str, str]:
    """Every name below a folder, with what it is and holds."""
    found: dict[str, str] = {}
    for path in sorted(place.rglob("*")):
        what = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(what.st_mode) else ""
        found[str(path.relative_to(place))] = f"{stat.filemode(what.st_mode)} {content}"
    return found


def _link(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "Documents")


def _file_link(place: Path, outside: Path) -> None:
    place.symlink_to(outside / ".bashrc")


def _dangling(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "not there yet")


def _pipe(place: Path, outside: Path) -> None:
    os.mkfifo(place)


def _socket(place: Path, outside: Path) -> None:
    before = Path.cwd()
    os.chdir(place.parent)  # a socket's path may not be long
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place.name)
    os.chdir(before)


PLANTS: dict[str, Callable[[Path, Path], None]] = {
    "a link to a folder": _link,
    "a link to a file": _file_link,
    "a link to nothing": _dangling,
    "a pipe": _pipe,
    "a socket": _socket,
}


def _plant(root: Path, name: str, plant: Callable[[Path, Path], None], outside: Path) -> Path:
    place = root / ".lspidx" / name if name else root / ".lspidx"
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    plant(place, outside)
    return place


@pytest.mark.parametrize("name", ["", *FOLDERS, *FILES])
@pytest.mark.parametrize("kind", PLANTS)
def test_nothing_planted_in_the_index_folder_is_followed_or_waited_for(
    name: str, kind: str, made: Path, tmp_path: Path, outside: Path
) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    place = _plant(root, name, PLANTS[kind], outside)
    artifact = made.parent / "artifact.tar"
    if not artifact.exists():
        export(made, artifact)
    config = Config(jobs=1)
    for attempt in (
        lambda: crawl(root, config, Watcher(), environment={}),
        lambda: crawl(root, config, Watcher(), full=True, environment={}),
        lambda: bring(artifact, root),
        lambda: pull(Home(root), config, Remote(str(artifact))),
        lambda: Home(root).create(),
    ):
        with pytest.raises(UnsafeIndex, match="remove") as refused:
            attempt()
        assert str(place) in str(refused.value)
    for asked in (
        lambda: open_index(root),
        lambda: verify(root, config, Watcher(), sample=1),
        lambda: Home(root).flags(),
        lambda: KeptPhases(root).deactivate(),
        lambda: Home(root).begun(),
        lambda: States(Home(root)).of("any"),
    ):
        try:
            asked()
        except (IndexUnusable, UsageError, NoIndex):
            pass


def test_the_old_ways_to_lose_documents_are_closed_for_the_command(tmp_path: Path, outside: Path) -> None:
    """As an issue told it: sub-folders and Parquet files removed, a shell's start file written to, exit 0."""
    root = write_tree(tmp_path / "clone", {"pkg/a.py": "def f():\n    return 1\n", "pkg/$(touch PWNED).py": "def g():\n    return 1\n"})
    (root / ".lspidx" / "log").mkdir(parents=True)
    (root / ".lspidx" / "shards").symlink_to(outside / "Documents")
    (root / ".lspidx" / "log" / "lspidx.log").symlink_to(outside / ".bashrc")
    for words in (["index"], ["status"], ["verify"], ["query", "symbols", "f"], ["cache", "gc"]):
        done = lspidx(*words, cwd=root)
        assert done.returncode == 4, (words, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
    (root / ".lspidx" / "shards").unlink()
    done = lspidx("index", cwd=root)
    assert done.returncode == 4
    assert "lspidx.log' is a link" in done.stderr
    assert "remove '" in done.stderr


def test_what_has_a_second_name_elsewhere_is_begun_anew(made: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    mine = write_tree(tmp_path / "home", {".bashrc": "# mine\n"}) / ".bashrc"
    names = ("run.jsonl", "log/lspidx.log", "flags.json", "CURRENT", ".gitignore", "skill.lock", "lock")
    for name in names:
        (root / ".lspidx" / name).unlink(missing_ok=True)
        os.link(mine, root / ".lspidx" / name)
    crawl_with_ty(root, jobs=1, full=True)
    logging.getLogger("indexer").info("a line")
    logs.configure(tmp_path / "elsewhere" / "log" / "lspidx.log")
    assert mine.read_text() == "# mine\n"


def test_a_folder_of_the_index_may_be_no_link_though_servers_may_make_links_in_theirs(made: Path, tmp_path: Path, outside: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    for name in ("scratch", "cache"):
        (root / ".lspidx" / name).mkdir(exist_ok=True)
        (root / ".lspidx" / name / "a server's").symlink_to(outside / "Documents")
    assert crawl_with_ty(root, jobs=1, full=True).manifest["counts"]["documents"] == 3


@pytest.mark.parametrize("kind", ["a link to a file", "a link to nothing", "a pipe"])
def test_a_link_that_a_server_has_left_in_its_cache_is_not_written_through(kind: str, tmp_path: Path, outside: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("rust-project.json", "compile_commands.json", "go.work"):
        PLANTS[kind](cache / name, outside)
    companions.rust_project("{}", cache)
    companions.compile_commands(write_tree(tmp_path / "c", {"compile_commands.json": "[]"}), [], cache, [])
    assert (cache / "rust-project.json").read_text() == "{}"
    assert (cache / "compile_commands.json").read_text() == "[]"
    assert not (cache / "rust-project.json").is_symlink()


@pytest.mark.parametrize("name", ["python", "python/lib", "python/lib/python3.12", "python/nothing"])
def test_a_folder_that_a_server_has_replaced_by_a_link_is_refused(name: str, tmp_path: Path, outside: Path) -> None:
    cache = tmp_path / "cache"
    place = cache / name
    place.parent.mkdir(parents=True)
    place.symlink_to(outside / "Documents")
    with pytest.raises((OSError, UnsafeIndex), match="is a link"):
        companions.python_environment(cache, "3.12", [])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
@pytest.mark.parametrize("name", ["", "db", "CURRENT", "shards", "states"])
def test_another_users_index_is_refused(name: str, made: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    os.chown(root / ".lspidx" / name, 4711, 4711)
    with pytest.raises(UnsafeIndex, match="another user's \\(uid 4711\\)"):
        crawl_with_ty(root, jobs=1)
    below = root / "deep" / "er"
    below.mkdir(parents=True)
    if name in ("", "db", "CURRENT"):
        with pytest.raises(UnsafeIndex, match="another user's"):
            find_home(below)


# ---- tracked by git


def _git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, capture_output=True)


def test_an_index_that_git_tracks_is_refused_with_the_way_out(root: Path, tmp_path: Path) -> None:
    _git(root, "init", "-q")
    _git(root, "add", "-f", ".")
    _git(root, "commit", "-qm", "with an index")
    clone = tmp_path / "clone"
    _git(tmp_path, "clone", "-q", str(root), str(clone))
    before = _listing(clone / ".lspidx")
    for words in (["index"], ["index", "--full"], ["status"], ["query", "references", "total"], ["sql", "SELECT 1"]):
        done = lspidx(*words, cwd=clone)
        assert done.returncode == 4, (words, done.stdout)
        assert "git rm -r --cached .lspidx" in done.stderr
        assert "cache-artifacts" in done.stderr
    assert _listing(clone / ".lspidx") == before
    _git(clone, "rm", "-rq", "--cached", ".lspidx")
    shutil.rmtree(clone / ".lspidx")
    assert lspidx("index", "-q", cwd=clone).returncode == 0


# ---- an index of somebody else


def test_every_answer_of_a_strangers_index_says_so(root: Path) -> None:
    with open_index(root) as index:
        for answer in (api.find_references(index, "total"), api.find_symbol(index, "total"), api.index_status(index)):
            assert answer.completeness.status == "unknown"
            assert answer.completeness.reasons[0].code == "foreign_index"
            assert "lspidx index" in answer.completeness.reasons[0].detail
            assert answer.provenance.foreign is True
    done = lspidx("query", "references", "total", "--strict", cwd=root)
    assert done.returncode == 1
    assert "FOREIGN INDEX" in done.stdout
    assert "foreign_index" in done.stdout
    found = json_of(lspidx("query", "callers", "total", "--json", cwd=root))
    assert found["provenance"]["foreign"] is True
    assert "was not made by this user" in lspidx("status", cwd=root).stdout
    assert "foreign index" in lspidx("sql", "SELECT 1", cwd=root).stderr
    refused = lspidx("verify", cwd=root)
    assert refused.returncode == 4
    assert "not made by this user" in refused.stderr


_ENDLESS = "range(1000000000) a, range(1000000000) b"


@pytest.mark.parametrize(
    "statements",
    [
        f"ALTER TABLE meta RENAME TO meta0; CREATE VIEW meta AS SELECT meta0.* FROM meta0, {_ENDLESS}",
        f"CREATE OR REPLACE VIEW symbols AS SELECT * FROM {_ENDLESS}",
        f"CREATE MACRO starts_with(x, y) AS (SELECT count(*) > 0 FROM {_ENDLESS})",
        "ALTER TABLE meta RENAME TO meta0; CREATE TABLE meta(key VARCHAR, value VARCHAR GENERATED ALWAYS AS (repeat(key, 1000000000)))",
    ],
    ids=["view for a table", "another view", "macro", "computed"],
)
def test_an_index_that_would_compute_without_end_is_refused_before_it_is_read(statements: str, root: Path) -> None:
    """Each question would have run it."""
    with duckdb.connect(str(generation(root))) as connection:
        connection.execute(statements)
    with pytest.raises(IndexUnusable, match="not made as lspidx makes an index"):
        open_index(root)


def test_a_report_of_a_strangers_index_passes_nothing(root: Path) -> None:
    _git(root, "init", "-q")
    _git(root, "add", "shop")
    _git(root, "commit", "-qm", "one")
    for form in ("text", "markdown", "sarif", "html", "junit"):
        done = lspidx("report", "--scope", "unstaged", "--format", form, "--fail-on", "high", cwd=root)
        assert done.returncode == 1, (form, done.stderr)
        assert "foreign index" in done.stderr


def test_an_own_index_has_no_word_of_it(made: Path) -> None:
    with open_index(made) as index:
        answer = api.find_references(index, "total")
    assert answer.completeness.status == "complete"
    assert "foreign" not in json.dumps(json_of(lspidx("query", "references", "total", "--json", cwd=made)))


def test_the_next_index_believes_nothing_of_a_stranger(made: Path, root: Path) -> None:
    flags = Home(root).path / "flags.json"
    mine = flags.read_bytes()
    for state in Home(root).states.glob("*.json"):  # one that would be taken for the newest
        os.utime(state)
    begin_folder = Home(root).crawls / "0123456789abcdef"
    begin_folder.mkdir(parents=True)
    (begin_folder / "plan.json").write_text('{"begun": "2020-01-01\\u001b[2J", "documents": 3}')
    assert Home(root).flags() == {}
    assert Home(root).begun() is None
    watcher = Watcher()
    crawled = crawl_with_ty(root, jobs=1, watcher=watcher)
    assert not crawled.up_to_date
    assert crawled.manifest["crawled"] == 3
    [said] = [note for note in watcher.notes if "not made by this user" in note]
    assert all(name in said for name in ("the index", "flags.json", "states", "an unfinished crawl"))
    with open_index(root) as index:
        assert api.find_references(index, "total").completeness.status == "complete"
    assert flags.read_bytes() != mine
    again = Watcher()
    assert crawl_with_ty(root, jobs=1, watcher=again).up_to_date
    assert again.notes == []


def test_flags_of_a_stranger_are_not_remembered(root: Path) -> None:
    home = Home(root)
    home.remember({"python": "/evil/python"})
    assert home.flags() == {"python": "/evil/python"}
    (home.path / "flags.json").write_text('{"python": "/evil/python", "folders": ["/etc"]}')
    assert home.flags() == {}
    (home.path / "flags.json").write_text(f'{{"proof":"{"0" * 64}","python": "/evil/python"}}')
    assert home.flags() == {}


def test_a_strangers_unfinished_crawl_is_emptied_and_an_own_one_taken_up(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    folder = home.crawls / "0123456789abcdef"
    folder.mkdir(parents=True)
    write_plan(folder, Plan(begun="2020", documents=3))
    assert unfinished(home.crawls) == []
    begin(folder)
    assert [path.name for path in folder.iterdir()] == [".made"]
    write_plan(folder, Plan(begun="2020", documents=3))
    begin(folder)
    assert len(unfinished(home.crawls)) == 1
    moved = folder.with_name("0123456789abcde0")
    shutil.copytree(folder, moved)
    assert len(unfinished(home.crawls)) == 1  # a copy is nobody's


def test_a_moved_copied_or_restored_index_stays_its_users(made: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "other name", symlinks=True))
    written = (copy / ".lspidx" / "db" / "gen-1.proof").read_bytes()
    with open_index(copy) as index:
        assert index.foreign == ""
    moved = copy.rename(tmp_path / "third")
    assert (moved / ".lspidx" / "db" / "gen-1.proof").read_bytes() != written  # so that the next question reads no database
    with open_index(moved) as index:
        assert index.foreign == ""
    assert crawl_with_ty(moved, jobs=1, watcher=(watcher := Watcher())).manifest["crawled"] in (0, 3)
    assert watcher.notes == []


@pytest.mark.parametrize("keep_times", [False, True])
def test_a_database_that_was_replaced_is_found_out(keep_times: bool, made: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    with open_index(root) as index:
        assert index.foreign == ""
    database = generation(root)
    before = database.stat()
    content = bytearray(database.read_bytes())
    at = content.index(b"shop.till") if b"shop.till" in content else len(content) // 2
    content[at] ^= 1
    database.write_bytes(content)
    if keep_times:
        os.utime(database, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "changed" in proof.unproven(database)
    assert Home(root).own() is None


def test_a_log_of_changes_beside_the_database_is_no_part_of_it(made: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    Path(f"{generation(root)}.wal").write_bytes(b"a stranger's")
    assert ".wal" in proof.unproven(generation(root))


def test_a_manifest_or_a_name_that_was_changed_is_found_out(made: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    manifest = generation(root).with_suffix(".json")
    manifest.write_bytes(manifest.read_bytes().replace(b'"dirty": false', b'"dirty": true '))
    assert proof.unproven(generation(root))
    other = Path(shutil.copytree(made, tmp_path / "renamed", symlinks=True)) / ".lspidx" / "db"
    for ending in ("duckdb", "json", "proof"):
        (other / f"gen-1.{ending}").rename(other / f"gen-9.{ending}")
    assert proof.unproven(other / "gen-9.duckdb")


def test_a_shard_that_was_replaced_is_no_fact(made: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    recipe = Home(root).manifest()["recipe"]
    assert States(Home(root)).of(recipe) is not None
    shard = next(Home(root).shards.glob("*.parquet"))
    shard.write_bytes(shard.read_bytes() + b"more")
    assert States(Home(root)).of(recipe) is None


def test_importing_makes_an_artifact_ones_own_and_a_strangers_index_is_not_exported(made: Path, root: Path, tmp_path: Path) -> None:
    with open_index(root) as index, pytest.raises(UsageError, match="not made by this user"):
        push(index.home, index.rows, Remote(str(tmp_path / "store")))
    bring(export(made, tmp_path / "index.tar"), root)
    with open_index(root) as index:
        assert index.foreign == ""
        assert api.find_references(index, "total").provenance.imported


def test_a_strangers_index_does_not_keep_a_pulled_one_away(made: Path, root: Path, tmp_path: Path) -> None:
    with open_index(made) as index:
        push(index.home, index.rows, Remote(str(tmp_path / "store")))
    assert pull(Home(root), Config(), Remote(str(tmp_path / "store"))).kept == ""
    with open_index(root) as index:
        assert index.foreign == ""


def test_a_home_that_cannot_be_written_gives_an_index_and_says_what_it_is_worth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_tree(tmp_path / "shop", SHOP)
    nowhere = write_tree(tmp_path, {"a file": ""}) / "a file" / "state"
    monkeypatch.setenv("LSPIDX_STATE_DIR", str(nowhere))
    watcher = Watcher()
    assert crawl_with_ty(root, jobs=1, watcher=watcher).manifest["counts"]["documents"] == 3
    assert any("LSPIDX_STATE_DIR" in note and str(nowhere) in note for note in watcher.notes)
    with open_index(root) as index:
        answer = api.find_references(index, "total")
    assert answer.total == 3
    assert answer.completeness.status == "unknown"
    assert "LSPIDX_STATE_DIR" in answer.completeness.reasons[0].detail
    done = lspidx("query", "references", "total", "--strict", cwd=root, env={"LSPIDX_STATE_DIR": str(nowhere)})
    assert done.returncode == 1
    export_refused = lspidx("index", cwd=root, env={"LSPIDX_STATE_DIR": str(nowhere)})
    assert export_refused.returncode == 0
    assert "Traceback" not in export_refused.stderr


# ---- elsewhere


@pytest.mark.parametrize("name", ["", "facts", "manifest.json"])
def test_an_export_is_not_written_through_a_link_of_the_workspace(name: str, made: Path, tmp_path: Path, outside: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    export(root, root / "cache-artifacts", profile="git")
    place = root / "cache-artifacts" / name
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(outside / ("Documents" if name != "manifest.json" else ".bashrc"))
    done = lspidx("cache", "export", "cache-artifacts", cwd=root)
    assert done.returncode == 2, done.stderr
    assert "is a link" in done.stderr


def test_a_report_is_not_written_through_a_link_of_the_workspace(made: Path, tmp_path: Path, outside: Path) -> None:
    root = Path(shutil.copytree(made, tmp_path / "shop", symlinks=True))
    (root / "graph.svg").symlink_to(outside / ".bashrc")
    done = lspidx("graph", "total", "--format", "svg", "-o", "graph.svg", cwd=root)
    assert done.returncode == 2, done.stderr
    assert "is a link" in done.stderr


def test_a_record_of_the_log_begins_one_line_whatever_a_file_is_called(tmp_path: Path) -> None:
    log = tmp_path / ".lspidx" / "log" / "lspidx.log"
    log.parent.parent.mkdir()
    logs.configure(log)
    try:
        name = "a\nb\r\x1b[2J\u202ec\u2028d\udcff.py"
        logging.getLogger("indexer.test").warning("documents=%s", name)
        try:
            raise ValueError(name)
        except ValueError:
            logging.getLogger("indexer.test").exception("failed")
    finally:
        logs.configure(tmp_path / "elsewhere" / "log" / "lspidx.log")
    text = log.read_bytes().decode()
    assert len([line for line in text.splitlines() if not line.startswith("  ")]) == 2  # the lines of a traceback are indented
    assert text.replace("\n", "").isprintable()
    assert "a\\nb\\u000d\\u001b[2J\\u202ec\\u2028d\\udcff.py" in text


def test_a_commits_tree_that_a_stranger_has_left_is_unpacked_anew(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", SHOP)
    _git(root, "init", "-q")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "one")
    crawl_with_ty(root, jobs=1)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True).stdout.strip()
    (root / "shop" / "till.py").write_text("def total(price: int, tax: int) -> int:\n    return price\n")
    planted = write_tree(root / ".lspidx" / "bases" / commit, {".complete": "", "shop/shop/till.py": "def evil(): ...\n"})
    with open_index(root) as index, bases.make(index, commit, progress=silent) as base:
        assert base.rows("SELECT count(*) FROM symbol WHERE name = 'evil'") == [(0,)]
    assert (planted / "shop" / "shop" / "till.py").read_text() == SHOP["shop/till.py"]
