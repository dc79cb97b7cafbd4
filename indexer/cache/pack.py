"""An index to an artifact: the facts of its shards, file by file, in chunks that stay the same where nothing changed."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from indexer.cache.artifact import FORMAT, MANIFEST, Chunk, Manifest, Numbers, ServerRow
from indexer.errors import UsageError
from indexer.store.generations import Home
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

Profile = Literal["git", "small"]
"""git: uncompressed chunks of few files, of which a change replaces few, so that git's own compression and deltas work;
small: compressed chunks of many files, for a store of artifacts."""

_FILES_PER_CHUNK: Mapping[Profile, int] = {"git": 16, "small": 512}
_MAX_FILES_PER_CHUNK = 4
"""Times the usual number."""


class Packed(NamedTuple):
    """What was written."""

    place: Path
    size_bytes: int
    documents: int
    chunks: int


def pack(home: Home, rows: Rows, destination: Path, *, profile: Profile = "small", as_folder: bool | None = None) -> Packed:
    """Writes the published index to `destination`: a folder, or a tar file where its name ends in `.tar`.

    Args:
        rows: answers a statement on the published index.
        as_folder: in place of the name's ending.
    Raises:
        UsageError: the index spans several workspace folders, its shards are gone, or the destination is something else.
    """
    manifest_of = home.manifest()
    if len(manifest_of.get("folders", [])) > 1:
        raise UsageError("the index spans several workspace folders, whose places differ from machine to machine; export one of each")
    shards = sorted((home.path / manifest_of.get("shards", "?")).glob("*.parquet"))
    if not shards:
        raise UsageError("the facts that the index was made of are gone; to find them again: lspidx index --full")
    as_folder = not destination.name.endswith(".tar") if as_folder is None else as_folder
    if as_folder and destination.exists() and not _is_ours(destination):
        raise UsageError(f"'{destination}' is there already and is no artifact; name another place, or remove it")
    chunks: list[Chunk] = []
    contents: dict[str, bytes] = {}
    for name, table in _chunks(shards, profile):
        content = _parquet(table, profile)
        contents[name] = content
        chunks.append(Chunk(name=name, sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content), rows=table.num_rows))
    manifest = _manifest(home, rows, manifest_of, chunks)
    contents[MANIFEST] = manifest.to_json()
    if as_folder:
        _write_folder(destination, contents)
    else:
        _write_tar(destination, contents)
    documents = sum(chunk.rows for chunk in chunks if chunk.name.startswith("facts/"))
    return Packed(destination, sum(map(len, contents.values())), documents, len(chunks))


def _is_ours(folder: Path) -> bool:
    """An artifact, or an empty folder (a README and dot-files do not count)."""
    return folder.is_dir() and ((folder / MANIFEST).exists() or all(item.name.startswith(("README", ".")) for item in folder.iterdir()))


class Rows(Protocol):
    """Answers a statement on the published index."""

    def __call__(self, sql: str) -> list[tuple[Any, ...]]: ...


def _chunks(shards: Sequence[Path], profile: Profile) -> Iterator[tuple[str, pa.Table]]:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import compute

    pc: Any = compute  # its functions are made at run time
    whole = pa.concat_tables([pq.read_table(shard) for shard in shards])
    order = pc.sort_indices(whole, sort_keys=[("path", "ascending"), ("status", "ascending"), ("digest", "ascending")])
    whole = whole.take(order)
    is_external = pc.equal(whole.column("status"), "external")
    for part, table in (("facts", whole.filter(pc.invert(is_external))), ("outside", whole.filter(is_external))):
        table = _unique(table)
        for number, (start, end) in enumerate(_cuts(table.column("path").to_pylist(), _FILES_PER_CHUNK[profile])):
            yield f"{part}/{number:04d}.parquet", table.slice(start, end - start).combine_chunks()


def _unique(table: pa.Table) -> pa.Table:
    """The first row of each path: two units may have read one file outside the workspace."""
    import pyarrow as pa

    paths = table.column("path").to_pylist()
    return table.filter(pa.array([number == 0 or path != paths[number - 1] for number, path in enumerate(paths)], pa.bool_()))


def _cuts(paths: Sequence[str], usual: int) -> Iterator[tuple[int, int]]:
    """A chunk ends behind a path whose digest says so, on average every `usual` files."""
    start = 0
    for number, path in enumerate(paths):
        ends = int.from_bytes(hashlib.sha256(path.encode()).digest()[:4], "big") % usual == 0
        if ends or number + 1 - start >= usual * _MAX_FILES_PER_CHUNK:
            yield start, number + 1
            start = number + 1
    if start < len(paths):
        yield start, len(paths)


def _parquet(table: pa.Table, profile: Profile) -> bytes:
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    if profile == "git":
        pq.write_table(table, buffer, compression="none", use_dictionary=False, write_statistics=False, column_encoding=None)
    else:
        pq.write_table(table, buffer, compression="zstd", compression_level=9, write_statistics=False)
    return buffer.getvalue()


def _manifest(home: Home, rows: Rows, manifest: Mapping[str, Any], chunks: list[Chunk]) -> Manifest:
    meta = dict(rows("SELECT key, value FROM meta"))
    import msgspec

    columns = "name, version, language, command, fingerprint, position_encoding, capabilities"
    run = rows("SELECT asked, server_restarts, lost, cross_checked, cross_disagreed FROM run")[0]
    return Manifest(
        format=FORMAT,
        schema_version=SCHEMA_VERSION,
        content_version=CONTENT_VERSION,
        lspidx=manifest.get("lspidx", ""),
        root_name=manifest.get("root_name", ""),
        origins=origins(home.root),
        commit=manifest.get("commit", ""),
        dirty=bool(manifest.get("dirty")),
        recipe=manifest.get("recipe", ""),
        suffixes=msgspec.json.decode(meta.get("suffixes", "[]"), type=list[str]),
        families=msgspec.json.decode(meta.get("families", "[]"), type=list[list[str]]),
        servers=[
            ServerRow(**dict(zip(ServerRow.__struct_fields__, row, strict=True)))
            for row in rows(f"SELECT {columns} FROM server ORDER BY ALL")
        ],
        missing_servers=dict(manifest.get("missing_servers", {})),
        skipped=[(path, language, reason) for path, language, reason in rows("SELECT path, language, reason FROM skipped ORDER BY ALL")],
        numbers=Numbers(asked=run[0], server_restarts=run[1], lost=run[2], cross_checked=run[3], cross_disagreed=run[4]),
        counts=dict(manifest.get("counts", {})),
        chunks=sorted(chunks, key=lambda chunk: chunk.name),
    )


def origins(root: Path) -> list[str]:
    """First commits of the repository around `root`: they are the same in every clone, unless it is a shallow one. Empty without git."""
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false"]
    try:
        asked = [*command, "rev-parse", "--is-shallow-repository"]
        if subprocess.run(asked, cwd=root, capture_output=True, check=False).stdout.strip() != b"false":
            return []
        done = subprocess.run([*command, "rev-list", "--max-parents=0", "HEAD"], cwd=root, capture_output=True, check=False)
    except OSError:
        return []
    return sorted(done.stdout.decode("ascii", "replace").split()) if done.returncode == 0 else []


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Only what differs is written; chunks that are no more are removed; the manifest comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("facts", "outside"):
        for old in (folder / part).glob("*.parquet"):
            if f"{part}/{old.name}" not in contents:
                old.unlink()
    for name, content in sorted(contents.items(), key=lambda item: item[0] == MANIFEST):
        place = folder / name
        if place.is_file() and place.read_bytes() == content:
            continue
        place.parent.mkdir(exist_ok=True)
        beside = place.with_name(f"tmp-{os.getpid()}-{place.name}")
        beside.write_bytes(content)
        os.replace(beside, place)
    for part in ("facts", "outside"):
        if (folder / part).is_dir() and not any((folder / part).iterdir()):
            shutil.rmtree(folder / part)


def _write_tar(file: Path, contents: Mapping[str, bytes]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f"tmp-{os.getpid()}-{file.name}")
    try:
        with tarfile.open(beside, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in sorted(contents.items(), key=lambda item: (item[0] != MANIFEST, item[0])):
                member = tarfile.TarInfo(name)  # no owner, no time
                member.size = len(content)
                member.mode = 0o644
                archive.addfile(member, io.BytesIO(content))
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
