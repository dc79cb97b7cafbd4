"""How facts are laid out in files: small shards become one, large ones stay as they are, and no row is lost or changed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from indexer.crawl.plan.outside import Outside
from indexer.store import settle as module
from indexer.store.facts import HEADER, TARGETS, DocumentFacts
from indexer.store.settle import settle
from indexer.store.shard import SCHEMA, read_shard, write_shard

_NOTHING = {"string": "", "bool": False, "list<item: int32>": [], "int32": 0, "uint8": 0, "uint16": 0, "uint64": 0}
NO_TARGETS = pa.table({"owner": pa.array([], pa.string())} | {name: pa.array([], pa.int64()) for name in TARGETS})


def document(path: str, digest: str = "") -> DocumentFacts:
    """One without facts."""
    return DocumentFacts(header={name: _NOTHING[str(SCHEMA.field(name).type)] for name in HEADER} | {"path": path, "digest": digest})


@pytest.fixture
def found(tmp_path: Path) -> list[Path]:
    """Three shards of a crawl; the second is the largest."""
    shards = [tmp_path / "found" / f"{number}.parquet" for number in range(3)]
    write_shard(shards[0], [document("b.py"), document("c.py")])
    write_shard(shards[1], [document("d.py", digest="long" * 10_000)])
    write_shard(shards[2], [document("a.py")])
    return shards


def rows(folder: Path, names: list[str]) -> list[list[str]]:
    return [read_shard(folder / f"{name}.parquet").column("path").to_pylist() for name in names]


def test_small_shards_become_one(found: list[Path], tmp_path: Path):
    layout = settle(found, NO_TARGETS, tmp_path / "kept")
    assert rows(tmp_path / "kept", layout.shards) == [["a.py", "b.py", "c.py", "d.py"]]
    assert layout.places == dict.fromkeys(("a.py", "b.py", "c.py", "d.py"), (0, True))


def test_a_large_shard_stays_by_itself_and_what_is_too_much_for_one_becomes_two(
    found: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sizes = [shard.stat().st_size for shard in found]
    monkeypatch.setattr(module, "_FEW_BYTES", sizes[0] + sizes[2])
    assert sizes[1] > sizes[0] + sizes[2]
    layout = settle(found, NO_TARGETS, tmp_path / "kept")
    assert rows(tmp_path / "kept", layout.shards) == [["b.py", "c.py"], ["d.py"], ["a.py"]]
    monkeypatch.setattr(module, "_FEW_BYTES", sizes[0])
    again = settle([found[0], found[2]], NO_TARGETS, tmp_path / "again")
    assert rows(tmp_path / "again", again.shards) == [["b.py", "c.py"], ["a.py"]]


def test_a_shard_is_read_as_the_schema_has_it(found: list[Path]):
    for shard in found:
        assert read_shard(shard).schema.equals(SCHEMA)


def test_small_files_outside_are_read_together_and_large_ones_apart(tmp_path: Path):
    files = {f"{number}.py": size for number, size in enumerate((300_000, 260_000, 270_000, *[100] * 9))}
    for name, size in files.items():
        (tmp_path / name).write_bytes(b"#" * size)
    paths = {name: str(tmp_path / name) for name in files}

    def jobs(*names: str) -> list[list[str]]:
        beyond = Outside(paths={name: paths[name] for name in names}, wanted={name: {(0, 0, 0, 1)} for name in names}, stale=set(names))
        return [[Path(path).name for path in job.wanted] for job, _ in beyond.jobs(tmp_path, (), everything=False)]

    assert jobs("3.py", "4.py", "5.py") == [["3.py", "4.py", "5.py"]]
    assert jobs("1.py", "3.py", "4.py") == [["1.py"], ["3.py", "4.py"]]
    both = jobs(*files)
    assert both[:2] == [["0.py"], ["2.py"]]  # the two largest, for two workers
    assert [len(job) for job in both[2:]] == [8, 2]
    assert sorted(name for job in both for name in job) == sorted(files)
