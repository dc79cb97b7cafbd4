"""Artifacts with random changes, signed again: each becomes an index that breaks no rule, or is refused; nothing else ever happens.

LSPIDX_FUZZ_INPUTS is how many of each kind are tried, for a run that is longer than a test's (`make fuzz`); the number is printed.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cache_support import FIRST, as_manifest, chunk_of, contents, export, rows_of, signed, write_folder, write_tar
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from indexer.cache import reader
from indexer.cache.artifact import MANIFEST, open_artifact
from indexer.errors import CacheRefused
from indexer.store.facts import HEADER, TABLES
from indexer.store.lint import lint
from indexer.store.merge import Surroundings

pytest_plugins = ["query_fixtures"]

INPUTS = int(os.environ.get("LSPIDX_FUZZ_INPUTS", "30"))
FUZZ = settings(
    max_examples=INPUTS,
    deadline=None,
    database=None,
    derandomize="LSPIDX_FUZZ_INPUTS" not in os.environ,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
AROUND: dict[str, Any] = {
    "workspace": [{"name": "x", "prefix": "", "commit_sha": "", "dirty": False}],
    "skipped": [],
    "stamps": {},
    "folders": {},
    "servers": [],
    "run": {"commit_sha": "", "dirty": False, "lspidx_version": "", "documents": 0, "skipped": 0, "asked": 0},
    "meta": {"suffixes": "[]", "families": "[]", "generation": "1"},
}

Files = dict[str, bytes]
Outcome = Callable[[Files], str]


@pytest.fixture(scope="module")
def files(shop_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    return contents(export(shop_root, tmp_path_factory.mktemp("good") / "artifact", profile="git"))


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Outcome]:
    """What became of an artifact: `indexed` or `refused`. What the reader's process does, without the process: any other exception,
    and a crash all the more, is a failure. All outcomes are counted."""
    folder = tmp_path_factory.mktemp("fuzz")
    counts: Counter[str] = Counter()

    def judge(made: Files) -> str:
        if counts and not sum(counts.values()) % 50:
            print(f"  {sum(counts.values())} artifacts tried: {dict(counts)}", flush=True)
        for leftover in folder.iterdir():
            shutil.rmtree(leftover)
        source = write_folder(folder / "artifact", made)
        (folder / "shards").mkdir()
        try:
            opened = open_artifact(source)
            _, _, shards = reader.read(opened, folder / "shards")
            servers = [{name: getattr(row, name) for name in row.__struct_fields__} for row in opened.manifest.servers]
            around: Surroundings = reader.surroundings({**AROUND, "servers": servers})
            (folder / "db").mkdir()
            reader.merge(shards, folder / "db" / "made.duckdb", around)
        except CacheRefused as error:
            assert str(error)  # noqa: PT017
            counts["refused"] += 1
            return "refused"
        with duckdb.connect(str(folder / "db" / "made.duckdb"), read_only=True) as connection:
            assert lint(lambda sql: connection.execute(sql).fetchall()) == []
        assert sorted(path.name for path in folder.iterdir()) == ["artifact", "db", "shards"]
        counts["indexed"] += 1
        return "indexed"

    yield judge
    print(f"\nartifacts tried: {sum(counts.values())} ({dict(counts)})")


def test_the_unchanged_artifact_is_indexed(files: Files, outcome: Outcome) -> None:
    assert outcome(files) == "indexed"


SPOILS = st.lists(
    st.tuples(st.sampled_from(["set", "flip", "insert", "delete", "copy"]), st.floats(0, 1), st.binary(min_size=1, max_size=8)),
    min_size=1,
    max_size=6,
)


def spoil(content: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    """Changes bytes; a place is a part of the length, from its end where the footer is as often as anywhere."""
    for kind, where, piece in changes:
        at = int(where * (len(content) - 1)) if where > 0.5 else max(0, len(content) - 1 - int(where * 2 * min(len(content), 9_000)))
        if kind == "set":
            content = content[:at] + piece + content[at + len(piece) :]
        elif kind == "flip":
            content = content[:at] + bytes([content[at] ^ (1 << piece[0] % 8)]) + content[at + 1 :]
        elif kind == "insert":
            content = content[:at] + piece + content[at:]
        elif kind == "delete":
            content = content[:at] + content[at + len(piece) :]
        else:
            content = content[:at] + content[at // 2 : at // 2 + piece[0]] + content[at:]
        if not content:
            return b"x"
    return content


@pytest.mark.slow
@FUZZ
@given(name=st.integers(0, 100), changes=SPOILS, compressed=st.booleans())
def test_bytes_of_chunks(name: int, changes: list[tuple[str, float, bytes]], compressed: bool, files: Files, outcome: Outcome) -> None:
    chunks = sorted(item for item in files if item != MANIFEST)
    chosen = chunks[name % len(chunks)]
    content = chunk_of(rows_of(files[chosen]), compression="zstd", use_dictionary=True) if compressed else files[chosen]
    outcome(signed({**files, chosen: spoil(content, changes)}))


@pytest.mark.slow
@FUZZ
@given(changes=SPOILS)
def test_bytes_of_the_manifest(changes: list[tuple[str, float, bytes]], files: Files, outcome: Outcome) -> None:
    outcome({**files, MANIFEST: spoil(files[MANIFEST], changes)})


@pytest.mark.slow
@FUZZ
@given(changes=SPOILS)
def test_bytes_of_a_tar_file(changes: list[tuple[str, float, bytes]], files: Files, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = write_tar(tmp_path_factory.mktemp("tar") / "index.tar", files)
    file.write_bytes(spoil(file.read_bytes(), changes))
    try:
        reader.read(open_artifact(file), None)
    except CacheRefused as error:
        assert str(error)  # noqa: PT017
    shutil.rmtree(file.parent)


NUMBERS = st.one_of(st.integers(-3, 40), st.sampled_from([-(2**31), 2**31 - 1, 10_000_000, 255, 65_535, 4_096, 2_048]))
TEXTS = st.one_of(
    st.sampled_from(["", "a", "shop.models.Item", "a\nb", "../x", "/x", "pip:x/y.py", "done", "lost", "python"]), st.text(max_size=20)
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "uint8": st.integers(0, 255),
    "uint16": st.integers(0, 65_535),
    "int32": NUMBERS,
    "uint64": st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1)),
    "string": TEXTS,
    "bool": st.booleans(),
    "list<int32>": st.lists(NUMBERS, max_size=3),
}


@pytest.mark.slow
@FUZZ
@given(data=st.data())
def test_values_of_rows(data: st.DataObject, files: Files, outcome: Outcome) -> None:
    """Some values are replaced, rows doubled, moved to other documents or removed; all of it still fits the columns."""
    rows = rows_of(files[FIRST])
    for _ in range(data.draw(st.integers(1, 4))):
        row = data.draw(st.sampled_from(rows))
        name = data.draw(st.sampled_from(["", *TABLES]))
        table = row.get(name, [])
        if name == "":
            column = data.draw(st.sampled_from(list(HEADER)))
            row[column] = data.draw(VALUES[HEADER[column].type])
        elif table:
            at = data.draw(st.integers(0, len(table) - 1))
            what = data.draw(st.sampled_from(["value", "value", "value", "same", "twice", "move", "remove"]))
            if what == "value":
                column = data.draw(st.sampled_from(list(TABLES[name])))
                table[at] = {**table[at], column: data.draw(VALUES[TABLES[name][column].type])}
            elif what == "same":
                column = data.draw(st.sampled_from(list(TABLES[name])))
                table[at] = {**table[at], column: data.draw(st.sampled_from(table))[column]}
            elif what == "twice":
                table.insert(data.draw(st.integers(0, len(table))), dict(table[at]))
            elif what == "move":
                data.draw(st.sampled_from(rows))[name].append(table[at])
            else:
                del table[at]
    try:
        made = chunk_of(rows)
    except UnicodeEncodeError:  # a lone surrogate is no text
        return
    outcome(signed({**files, FIRST: made}))


@pytest.mark.slow
@FUZZ
@given(data=st.data())
def test_values_of_the_manifest(data: st.DataObject, files: Files, outcome: Outcome) -> None:
    import json

    manifest = json.loads(files[MANIFEST])
    place: Any = manifest
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(st.one_of(NUMBERS, TEXTS, st.none(), st.booleans(), st.just([]), st.just({}), st.just(10**40)))
    outcome({**files, MANIFEST: as_manifest(manifest)})
