"""The process that reads an artifact: what it reads may be made to crash or to flood whoever does.

Started by `indexer.cache.unpack` as `python -I -m indexer.cache.reader`. It may use so much memory and processor time and no more, and
writes to one folder. Each line on its stdin is a `Read` or a `Merge`, each on its stdout an `Answer`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from indexer.cache.artifact import Chunk, Manifest, Opened, open_artifact
from indexer.errors import Bug, CacheRefused, UsageError, storage_failure

if TYPE_CHECKING:
    import pyarrow as pa

    from indexer.store.merge import Surroundings

PROCESSOR_S = 120
"""At least; an artifact gets more for each MB that it has."""

_PROCESSOR_S_PER_MB = 4
_FILE_BYTES = 20_000_000_000
_MERGE_MEMORY_MB = 600
_MERGE_THREADS = 4
_BATCH_BYTES = 64_000_000
_BATCH_DOCUMENTS = 4_000
_MAX_FOOTER_BYTES = 16_000_000
_MAX_PATHS_BYTES = 64_000_000
"""Of all files together, twice those of the largest repositories: whoever imports is told them, and has no limit of memory."""


class Read(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Check every row; write them as shards into `shards` unless that is empty.

    trusted: public keys, one of which must have signed the manifest. commit: that the facts must be of; empty = any.
    """

    source: str
    shards: str
    trusted: list[str] = []
    commit: str = ""


class Merge(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Make an index at `built` of the shards that were read. `around`: a `merge.Surroundings` but for the times of its run."""

    built: str
    around: dict[str, Any]


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """To `Read`: manifest, who signed it; path, digest and size in bytes of files inside; by path or key of every file the digest of its
    description (empty outside) and the number of its shard. To `Merge`: counts. `refused`: why there is nothing else. `storage`: it could
    not be written, which is no fault of the artifact.
    """

    manifest: Manifest | None = None
    signed_by: str = ""
    documents: list[tuple[str, str, int]] = []
    described: dict[str, tuple[str, int]] = {}
    counts: dict[str, int] = {}
    refused: str = ""
    storage: str = ""


def read(opened: Opened, folder: Path | None) -> tuple[list[tuple[str, str, int]], dict[str, tuple[str, int]], list[Path]]:
    """Checks all rows; returns path, digest and size of each document inside, `Answer.described`, and the shards written to `folder`.

    Raises:
        CacheRefused: a chunk is not what the manifest says, has other columns, or a row that cannot be.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import compute

    from indexer.cache.rows import check_rows
    from indexer.store.facts import HEADER
    from indexer.store.states import describe

    pc: Any = compute  # its functions are made at run time
    documents: list[tuple[str, str, int]] = []
    described: dict[str, tuple[str, int]] = {}
    shards: list[Path] = []
    seen: set[str] = set()
    left_bytes = _MAX_PATHS_BYTES
    by_language = {row.language: opened.manifest.recipes.get(row.name, "") for row in opened.manifest.servers}
    without_server = opened.manifest.recipes.get("none", "")
    for outside, table in _batches(opened):
        try:
            table.validate(full=True)
        except (pa.ArrowException, ValueError) as error:
            raise CacheRefused(f"the rows cannot be read: {error}") from error
        left_bytes -= pc.sum(pc.binary_length(table.column("path"))).as_py() or 0
        if left_bytes < 0:
            raise CacheRefused(f"the names of its files take more than {_MAX_PATHS_BYTES} bytes, which those of no repository do")
        check_rows(table, seen, outside=outside)
        if not outside:
            documents += zip(*(table.column(name).to_pylist() for name in ("path", "digest", "size_bytes")), strict=True)
        for header in table.select(list(HEADER)).to_pylist():
            recipe = by_language.get(header["language"], without_server)
            described[header["path"]] = ("" if outside else describe(header, recipe), len(shards))
        if folder is not None:
            shards.append(folder / f"{len(shards):04d}.parquet")
            pq.write_table(table, shards[-1], compression="zstd", compression_level=1, write_statistics=False)
    if folder is not None and not shards:
        from indexer.store.shard import write_shard

        shards.append(folder / "empty.parquet")
        write_shard(shards[-1], [])
    return documents, described, shards


def _batches(opened: Opened) -> Iterator[tuple[bool, pa.Table]]:
    """Tables of a few chunks each, with positions as an index has them; and whether they are of files outside."""
    import pyarrow as pa

    batch: list[pa.Table] = []
    outside = False
    for chunk in opened.manifest.chunks:
        full = sum(table.nbytes for table in batch) > _BATCH_BYTES or sum(table.num_rows for table in batch) > _BATCH_DOCUMENTS
        if batch and (full or chunk.name.startswith("outside/") != outside):
            yield outside, pa.concat_tables(batch).combine_chunks()
            batch = []
        outside = chunk.name.startswith("outside/")
        batch.append(_table(chunk, opened.content(chunk)))
    if batch:
        yield outside, pa.concat_tables(batch).combine_chunks()


def _table(chunk: Chunk, content: bytes) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from indexer.cache.relative import to_absolute
    from indexer.store.shard import SCHEMA

    if content[-4:] != b"PAR1" or int.from_bytes(content[-8:-4], "little") > _MAX_FOOTER_BYTES:
        raise CacheRefused(f"chunk '{chunk.name}' is no Parquet file")
    try:
        file = pq.ParquetFile(pa.BufferReader(content), arrow_extensions_enabled=False)
        if file.metadata.num_rows != chunk.rows or file.metadata.num_row_groups != 1:
            raise CacheRefused(f"chunk '{chunk.name}' has other rows than its manifest says, or not in one group")
        if file.schema_arrow.names != SCHEMA.names or [field.type for field in file.schema_arrow] != [field.type for field in SCHEMA]:
            raise CacheRefused(f"chunk '{chunk.name}' has other columns than the facts of this version")
        table = file.read(use_threads=False).cast(SCHEMA).combine_chunks()
        table.validate(full=True)
        if table.num_rows != chunk.rows:
            raise CacheRefused(f"chunk '{chunk.name}' has {table.num_rows} rows, its manifest says {chunk.rows}")
        for column in table.itercolumns():
            if column.null_count or (pa.types.is_list(column.type) and column.chunk(0).flatten().null_count):
                raise CacheRefused(f"chunk '{chunk.name}' has a hole where every row has something")
        return to_absolute(table)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise CacheRefused(f"chunk '{chunk.name}' cannot be read: {error}") from error


def merge(shards: list[Path], built: Path, around: Surroundings) -> dict[str, int]:
    """An index of shards that were read, checked as every index is; its counts.

    Raises:
        CacheRefused: the facts contradict each other.
    """
    import duckdb

    from indexer.store import merge as store
    from indexer.store.lint import lint

    try:
        counts = store.build(built, shards, around, memory_mb=_MERGE_MEMORY_MB, threads=_MERGE_THREADS).counts
        with duckdb.connect(str(built), read_only=True, config={"enable_external_access": False}) as connection:
            findings = lint(lambda sql: connection.execute(sql).fetchall())
    except UsageError as error:
        raise CacheRefused(f"the facts of the artifact do not merge in the {_MERGE_MEMORY_MB} MB that may be used for one") from error
    except (Bug, duckdb.Error, MemoryError) as error:
        raise CacheRefused(f"the facts of the artifact contradict each other: {error}") from error
    if findings:
        broken = "; ".join(f"{item.rule}: {item.count}, e.g. {item.example[:200]}" for item in findings[:3])
        raise CacheRefused(f"the artifact breaks a rule of every index: {broken}")
    return counts


def surroundings(values: dict[str, Any]) -> Surroundings:
    """As `Merge` carries them; the times of the run are now."""
    from indexer.store.merge import Surroundings

    now = datetime.now(UTC).replace(tzinfo=None)
    around = msgspec.convert(values, Surroundings)
    return Surroundings(
        workspace=around.workspace,
        skipped=around.skipped,
        stamps=around.stamps,
        folders=around.folders,
        servers=around.servers,
        run={"started": now, "finished": now, **around.run},
        meta=around.meta,
        manifests=around.manifests,
        words=around.words,
    )


def limit(memory_bytes: int, size_bytes: int) -> None:
    """From here on this process dies where it takes more than an artifact of this size may."""
    import resource

    seconds = PROCESSOR_S + size_bytes * _PROCESSOR_S_PER_MB // 1_000_000
    for name, most in (("RLIMIT_DATA", memory_bytes), ("RLIMIT_CPU", seconds), ("RLIMIT_FSIZE", _FILE_BYTES), ("RLIMIT_CORE", 0)):
        with contextlib.suppress(AttributeError, ValueError, OSError):  # this system has no such limit, or a lower one
            resource.setrlimit(getattr(resource, name), (most, most))


def _refusal(error: Exception, reason: str) -> Answer:
    storage = storage_failure(error)
    return Answer(storage=str(storage)) if storage else Answer(refused=reason)


def main(parent: str, memory_bytes: str) -> int:
    """Args: the number of the process that started it, with which it ends; how much memory it may use."""
    from indexer.drive.process import end_with_parent

    end_with_parent(f"no-mark-{os.getpid()}", int(parent))
    shards: list[Path] = []
    for line in sys.stdin.buffer:
        request = msgspec.json.decode(line, type=Read | Merge)
        try:
            if isinstance(request, Read):
                source = Path(request.source)
                files = source.rglob("*") if source.is_dir() else [source]
                limit(int(memory_bytes), sum(file.lstat().st_size for file in files))
                opened = open_artifact(source, request.trusted)
                if request.commit and opened.manifest.commit != request.commit:
                    raise CacheRefused(f"the artifact is of commit '{opened.manifest.commit}', it was to be of '{request.commit}'")
                documents, described, shards = read(opened, Path(request.shards) if request.shards else None)
                answer = Answer(manifest=opened.manifest, signed_by=opened.signed_by, documents=documents, described=described)
            else:
                answer = Answer(counts=merge(shards, Path(request.built), surroundings(request.around)))
        except CacheRefused as error:
            answer = _refusal(error, str(error))
        except Exception as error:  # nothing of an artifact may end as anything else
            answer = _refusal(error, f"the artifact cannot be read: {type(error).__name__}: {error}")
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
