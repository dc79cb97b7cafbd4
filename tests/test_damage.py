"""What becomes of single damaged files below `.lspidx`; all kinds of them: tests/test_damage_fuzz.py."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest
from query_support import FILES, lspidx
from support import VIEWS, Watcher, fake_server, rows, write_tree

from indexer.config import Config, load_config
from indexer.crawl.plan import choice
from indexer.crawl.run import Crawl, crawl
from indexer.errors import Damaged, Storage, storage_failure, writes
from indexer.store import damage, sealed
from indexer.store.generations import FOLDER, Home, find_home
from indexer.store.states import States
from query.answers.mishaps import explained
from query.facts.index import open_index
from query.skills.kept import KeptPhases

SOURCE = "class K:\n    def target(self):\n        return self.target()\n\nk = K()\nk.target()\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = fake_server("good", tmp_path / "pids")
    monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): found)
    return write_tree(tmp_path / "work", {"a.py": SOURCE, "b.py": SOURCE})


def _crawl(root: Path, watcher: Watcher | None = None) -> Crawl:
    return crawl(root, Config(jobs=1), watcher or Watcher(), environment={})


def _contents(generation: Path) -> dict[str, list[tuple[object, ...]]]:
    return {view: rows(generation, f"SELECT * FROM {view} ORDER BY ALL") for view in VIEWS}


# ---- seals


@pytest.mark.parametrize("content", [b"{}", b'{"a":1}', b'{\n "a": "\xc3\xa9"\n}\n', b'{"seal":"0"}'])
def test_a_sealed_object_is_json_and_comes_back(content: bytes):
    made = sealed.sealed(content, "state")
    assert "seal" in json.loads(made)
    assert json.loads(sealed.unsealed(made, Path("x"), "state")) == json.loads(content)


def test_no_flipped_bit_of_a_sealed_file_passes():
    made = sealed.sealed(b'{"a":[1,2],"b":"text"}', "flags")
    for at in range(len(made)):
        for bit in range(8):
            changed = made[:at] + bytes([made[at] ^ (1 << bit)]) + made[at + 1 :]
            with pytest.raises(Damaged):
                sealed.unsealed(changed, Path("x"), "flags")


def test_a_sealed_file_does_not_pass_for_one_of_another_kind():
    with pytest.raises(Damaged, match="not what was written"):
        sealed.unsealed(sealed.sealed(b"{}", "state"), Path("x"), "flags")


# ---- the index


def test_a_damaged_database_is_no_index_that_is_up_to_date(root: Path):
    before = _crawl(root)
    expected = _contents(before.generation)
    content = bytearray(before.generation.read_bytes())
    content[len(content) // 2] ^= 4
    before.generation.write_bytes(content)
    watcher = Watcher()
    after = _crawl(root, watcher)
    assert not after.up_to_date
    assert _contents(after.generation) == expected
    assert [note for note in watcher.notes if "gen-1.duckdb' was damaged (its content is not what was written)" in note]
    assert _crawl(root).up_to_date


def test_truncated_shards_are_crawled_again(root: Path):
    expected = _contents(_crawl(root).generation)
    (root / "a.py").write_text(SOURCE + "k.target()\n", encoding="utf-8")
    for shard in Home(root).shards.iterdir():
        shard.write_bytes(shard.read_bytes()[:100])
    watcher = Watcher()
    assert _crawl(root, watcher).manifest["lost"] == {}
    assert any(".parquet' was damaged" in note for note in watcher.notes)
    (root / "a.py").write_text(SOURCE, encoding="utf-8")
    assert _contents(_crawl(root).generation) == expected


_WITHOUT_END = ("CURRENT", "flags.json", "flow.arrow", "making.json", "db/gen-1.json", "db/gen-1.proof", "db/gen-1.duckdb", "states/*.json",
                "shards/*.parquet", "run.jsonl", "lock")  # fmt: skip


@pytest.mark.parametrize("name", _WITHOUT_END)
def test_a_file_that_takes_no_room_on_the_disk_and_has_no_end_is_not_read(name: str, root: Path):
    """As an archive may hold it: `index` took all memory there is, or for ever, each time."""
    expected = _contents(_crawl(root).generation)
    Home(root).remember({"jobs": 1})
    (root / ".lspidx" / "making.json").write_text("{}", encoding="utf-8")
    [file] = (root / ".lspidx").glob(name)
    with file.open("r+b") as opened:
        opened.truncate(1 << 39)
    with contextlib.suppress(Damaged), open_index(root) as index:
        assert index.rows("SELECT count(*) FROM symbols")
    after = _crawl(root)
    assert _contents(after.generation) == expected
    with open_index(root) as index:
        assert not index.foreign


def test_a_shard_with_the_content_of_another_is_not_believed(root: Path):
    _crawl(root)
    home = Home(root)
    shards = sorted(home.shards.iterdir())
    other = home.shards / f"{'0' * 32}.parquet"
    os.rename(shards[0], other)
    shards[0].write_bytes(other.read_bytes() + b" ")
    with pytest.raises(Damaged):
        damage.check_shard(shards[0])
    watcher = Watcher()
    assert not _crawl(root, watcher).up_to_date
    assert any(shards[0].name in note for note in watcher.notes)


def test_a_state_that_is_damaged_is_forgotten_and_said(root: Path):
    _crawl(root)
    [state] = Home(root).states.iterdir()
    state.write_bytes(state.read_bytes().replace(b'"a.py"', b'"z.py"'))
    notes: list[str] = []
    assert States(Home(root), notes.append).nearest("x", {}) is None
    assert not state.exists()
    assert "content is not what was written" in notes[0]


def test_a_damaged_state_is_found_though_nothing_has_changed(root: Path):
    _crawl(root)
    [state] = Home(root).states.iterdir()
    state.write_bytes(state.read_bytes()[:40])
    watcher = Watcher()
    assert not _crawl(root, watcher).up_to_date
    assert any(state.name in note for note in watcher.notes)
    assert _crawl(root).up_to_date


def test_a_clock_that_was_put_back_costs_nothing(root: Path):
    for number in range(3):
        (root / "c.py").write_text(f"x = {number}\n", encoding="utf-8")
        _crawl(root)
    home = Home(root)
    for state in home.states.iterdir():  # all of them but the published one are of tomorrow
        if home.manifest()["recipe"] not in state.read_text(encoding="utf-8"):
            os.utime(state, (4e9, 4e9))
    States(home).collect(keep=1)
    watcher = Watcher()
    assert _crawl(root, watcher).up_to_date
    assert watcher.notes == []


@pytest.mark.parametrize("content", ["", "gen-9.duckdb\n", "\0\0\0", None])
def test_an_index_that_cannot_be_found_is_not_answered_for_by_one_further_up(root: Path, content: str | None):
    inner = write_tree(root / "inner", {"c.py": SOURCE})
    _crawl(root)
    _crawl(inner)
    pointer = inner / FOLDER / "CURRENT"
    pointer.unlink()
    if content is None:
        pointer.mkdir()
    else:
        pointer.write_text(content, encoding="utf-8")
    with pytest.raises(Damaged, match="lspidx index"):
        find_home(inner)
    watcher = Watcher()
    _crawl(inner, watcher)
    assert any("CURRENT" in note for note in watcher.notes)
    assert find_home(inner).root == inner


def test_a_database_beside_another_ones_manifest_answers_nothing(root: Path):
    first = _crawl(root)
    (root / "c.py").write_text(SOURCE, encoding="utf-8")
    second = _crawl(root)
    second.generation.write_bytes(first.generation.read_bytes())
    with pytest.raises(Damaged, match="another index"):
        open_index(root)


def test_an_unfinished_crawl_is_taken_up_but_for_what_is_damaged(root: Path):
    def stop(phase: str) -> None:
        if phase == "merge":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crawl(root, Config(jobs=1), Watcher(on_phase=stop), environment={})
    shards = list((root / FOLDER / "crawl").rglob("*.parquet"))
    assert shards
    for shard in shards:
        shard.write_bytes(shard.read_bytes()[:-3] + b"xyz")
    watcher = Watcher()
    assert _crawl(root, watcher).manifest["lost"] == {}
    assert any("its files are crawled again" in note for note in watcher.notes)


def test_what_stands_in_the_place_of_a_file_is_moved_aside_and_kept(root: Path):
    folder = root / FOLDER
    write_tree(folder, {"CURRENT/mine.txt": "kept", "run.jsonl/x": "", "states": "no folder"})
    watcher = Watcher()
    _crawl(root, watcher)
    assert (folder / "set-aside" / "CURRENT.1" / "mine.txt").read_text(encoding="utf-8") == "kept"
    assert sum("it was moved to" in note for note in watcher.notes) == 3


def test_a_file_in_the_place_of_the_folder_says_what_to_do(root: Path):
    (root / FOLDER).write_text("mine", encoding="utf-8")
    with pytest.raises(Storage, match="move it away"):
        _crawl(root)
    assert (root / FOLDER).read_text(encoding="utf-8") == "mine"


def test_damaged_flags_are_forgotten_and_said(root: Path):
    watcher = Watcher()
    crawl(root, load_config(root, flags={"jobs": 1}), watcher, environment={})
    file = root / FOLDER / "flags.json"
    assert Home(root).flags() == {"jobs": 1}
    file.write_bytes(file.read_bytes().replace(b"1", b"7", 1))
    assert Home(root).flags() == {}
    _crawl(root, watcher)
    assert any("flags of former runs are forgotten" in note for note in watcher.notes)


def test_a_skill_holds_where_the_index_is_damaged(root: Path):
    _crawl(root)
    KeptPhases(root).activate("lsp-docs", "block")
    (root / FOLDER / "CURRENT").write_text("gen-7.duckdb\n", encoding="utf-8")
    assert KeptPhases(root).state() is not None


# ---- what is said


def test_what_the_disk_says_names_the_file(tmp_path: Path):
    def fill() -> None:
        with writes(tmp_path / "x.py"), open("/dev/full", "wb", buffering=0) as full:
            full.write(b"x")

    with pytest.raises(OSError, match="No space") as caught:
        fill()
    said = storage_failure(caught.value)
    assert said is not None
    assert f"cannot write '{tmp_path / 'x.py'}': No space left on device" in str(said)


def test_a_defect_is_one_line_with_the_file_that_tells_more(tmp_path: Path):
    try:
        raise RuntimeError("a\nb")
    except RuntimeError as error:
        said = explained(error, tmp_path)
    assert said.exit_code == 70
    assert "\n" not in str(said)
    file = Path(str(said).rsplit(" ", 1)[1])
    assert "RuntimeError: a" in file.read_text(encoding="utf-8")
    file.unlink()


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "TMPDIR"])
def test_folders_of_the_user_need_not_be_writable(variable: str, tmp_path: Path):
    root = write_tree(tmp_path / "shop", FILES)
    nowhere = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), variable: "/dev/null/nowhere"}
    done = lspidx("index", "-q", "--jobs", "1", cwd=root, env=nowhere)
    assert done.returncode == 0, done.stderr
    asked = lspidx("query", "callers", "shop.service.run", cwd=root, env=nowhere)
    assert asked.returncode == 0, asked.stderr
