"""An index to an artifact: the facts of its shards, file by file, in chunks that stay the same where nothing changed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from indexer import git_command, plain_files
from indexer.cache.artifact import FORMAT, MANIFEST, SIGNATURE, Chunk, Manifest, Numbers, ServerRow, check_manifest
from indexer.cache.relative import to_relative
from indexer.cache.rows import check_rows
from indexer.cache.signature import sign
from indexer.errors import CacheRefused, UsageError, writes
from indexer.model import SkipReason
from indexer.store.damage import check_shard
from indexer.store.facts import I32, TABLES, TEXT, U8, U16
from indexer.store.generations import Home
from indexer.store.proof import unproven
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

Profile = Literal["git", "small"]
"""git: uncompressed chunks of few files, of which a change replaces few, so that git's own compression and deltas work;
small: compressed chunks of many files, for a store of artifacts."""

_FILES_PER_CHUNK: Mapping[Profile, int] = {"git": 32, "small": 512}
_ENCODINGS: Mapping[str, str] = {
    f"{name}.list.element.{column}": "DELTA_BYTE_ARRAY" if declared.type == TEXT else "BYTE_STREAM_SPLIT"
    for name, columns in TABLES.items()
    for column, declared in columns.items()
    if declared.type in (U8, U16, I32) or (declared.type == TEXT and name == "symbols")
}
"""What zstd makes most of: an eighth less than dictionaries."""

_MAX_FILES_PER_CHUNK = 4
"""Times the usual number."""


class Packed(NamedTuple):
    """What was written. `manifest`: SHA-256 of its manifest, which stands for all of it."""

    place: Path
    size_bytes: int
    documents: int
    chunks: int
    manifest: str


def pack(
    home: Home, rows: Rows, destination: Path, *, profile: Profile = "small", as_folder: bool | None = None, key: Path | None = None
) -> Packed:
    """Writes the published index to `destination`: a folder, or a tar file where its name ends in `.tar`.

    Args:
        rows: answers a statement on the published index.
        as_folder: in place of the name's ending.
        key: a private key that signs the manifest, see `indexer.cache.signature`.
    Raises:
        UsageError: the index spans several workspace folders, its shards are gone, a file's name is none on other systems, or the
            destination is something else.
    """
    as_folder = not destination.name.endswith(".tar") if as_folder is None else as_folder
    refuse_export(home, destination, as_folder=as_folder)
    manifest_of = home.manifest()
    shards = _shards(home, manifest_of)
    for shard in shards:  # else others would import what nobody has seen
        check_shard(shard)
    chunks: list[Chunk] = []
    contents: dict[str, bytes] = {}
    for name, table in _chunks(shards, profile):
        content = _parquet(table, profile)
        contents[name] = content
        chunks.append(Chunk(name=name, sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content), rows=table.num_rows))
    manifest = _manifest(home, rows, manifest_of, chunks)
    try:
        check_manifest(manifest)
    except CacheRefused as error:
        raise UsageError(f"this index could not be imported anywhere, so it is not exported: {error}") from error
    contents[MANIFEST] = manifest.to_json()
    if key is not None:
        contents[SIGNATURE] = sign(contents[MANIFEST], key)
    if as_folder:
        _write_folder(destination, contents)
    else:
        _write_tar(destination, contents)
    documents = sum(chunk.rows for chunk in chunks if chunk.name.startswith("facts/"))
    return Packed(destination, sum(map(len, contents.values())), documents, len(chunks), hashlib.sha256(contents[MANIFEST]).hexdigest())


def refuse_export(home: Home, destination: Path, *, as_folder: bool | None = None) -> None:
    """Looks at all that keeps an index from being written there, but for the content of its shards.

    Raises:
        UsageError: as `pack`.
    """
    _refuse_links(home.root, destination)
    as_folder = not destination.name.endswith(".tar") if as_folder is None else as_folder
    if os.path.lexists(destination) and not (_is_ours(destination) if as_folder else _is_packed(destination)):
        raise UsageError(f"'{destination}' is there already and is no artifact; name another place, or remove it")
    current = home.current()
    foreign = unproven(current) if current is not None else ""
    if foreign:
        raise UsageError(f"the index may be made up, so it is not shared: {foreign}; to make your own: lspidx index")
    manifest_of = home.manifest()
    if len(manifest_of.get("folders", [])) > 1:
        raise UsageError("the index spans several workspace folders, whose places differ from machine to machine; export one of each")
    if manifest_of.get("partial"):
        raise UsageError("the run that made this index was cut off, and others would take it for all there is; to end it: lspidx index")
    if not all(shard.is_file() for shard in _shards(home, manifest_of)):
        raise UsageError("the facts that the index was made of are gone; to find them again: lspidx index")


def _shards(home: Home, manifest_of: Mapping[str, Any]) -> list[Path]:
    return [home.shards / f"{name}.parquet" for name in manifest_of.get("shards", ["?"])]


def _refuse_links(root: Path, destination: Path) -> None:
    """Raises UsageError where a link of the workspace would lead what is written, and removed, to another place."""
    link = plain_files.link_on_the_way(root, destination)
    parts = () if link else (destination, *(destination / name for name in ("facts", "outside", MANIFEST, SIGNATURE)))
    link = link or next((place for place in parts if place.is_symlink()), None)
    if link is not None:
        raise UsageError(f"'{link}' is a link, and the export would be written where it leads; name that place, or remove the link")


def _is_ours(folder: Path) -> bool:
    """An artifact, or an empty folder (a README and dot-files do not count)."""
    return folder.is_dir() and (_is_manifest(folder / MANIFEST) or all(item.name.startswith(("README", ".")) for item in folder.iterdir()))


def _is_manifest(file: Path) -> bool:
    """Whether a file says that it is an artifact's manifest, of whatever version: others call files so too."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "format" in found and "chunks" in found


def _is_packed(file: Path) -> bool:
    """Whether a file is an artifact in a tar, by its first member."""
    try:
        with tarfile.open(file, "r:") as archive:
            first = archive.next()
            return first is not None and first.name in (MANIFEST, SIGNATURE)
    except (OSError, tarfile.TarError):
        return False


class Rows(Protocol):
    """Answers a statement on the published index."""

    def __call__(self, sql: str) -> list[tuple[Any, ...]]: ...


def _chunks(shards: Sequence[Path], profile: Profile) -> Iterator[tuple[str, pa.Table]]:
    """Checked as an import checks them: what nobody could import is found by the one who exports.

    A chunk is named after the path before its first: it keeps its name as long as it begins there, and git finds what it was before.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import compute

    from indexer.store.shard import SCHEMA

    pc: Any = compute  # its functions are made at run time
    whole = pa.concat_tables([SCHEMA.empty_table(), *(pq.read_table(shard, schema=SCHEMA) for shard in shards)])
    order = pc.sort_indices(whole, sort_keys=[("path", "ascending"), ("status", "ascending"), ("digest", "ascending")])
    whole = whole.take(order)
    is_external = pc.equal(whole.column("status"), "external")
    seen: set[str] = set()
    for part, table in (("facts", whole.filter(pc.invert(is_external))), ("outside", whole.filter(is_external))):
        table = _unique(table)
        try:
            check_rows(table, seen, outside=part == "outside")
        except CacheRefused as error:
            raise UsageError(f"this index could not be imported anywhere, so it is not exported: {error}") from error
        paths = table.column("path").to_pylist()
        for start, end in _cuts(paths, _FILES_PER_CHUNK[profile]):
            name = hashlib.sha256(paths[start - 1].encode()).hexdigest()[:16] if start else "0" * 16
            yield f"{part}/{name}.parquet", to_relative(table.slice(start, end - start).combine_chunks())


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
    """For git plain and uncompressed: it compresses and finds what is the same itself. Without Arrow's own schema: nobody needs it."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    if profile == "git":
        pq.write_table(table, buffer, compression="none", use_dictionary=False, write_statistics=False, store_schema=False)
    else:
        options: dict[str, Any] = {"compression": "zstd", "compression_level": 9, "column_encoding": _ENCODINGS}
        pq.write_table(table, buffer, use_dictionary=False, write_statistics=False, store_schema=False, **options)
    return buffer.getvalue()


def _manifest(home: Home, rows: Rows, manifest: Mapping[str, Any], chunks: list[Chunk]) -> Manifest:
    columns = ", ".join(ServerRow.__struct_fields__)
    [(asked, lost, cross_checked, cross_disagreed)] = rows("SELECT asked, lost, cross_checked, cross_disagreed FROM run")
    return Manifest(
        format=FORMAT,
        schema_version=SCHEMA_VERSION,
        content_version=CONTENT_VERSION,
        lspidx=manifest.get("lspidx", ""),
        ingredients=manifest.get("ingredients", ""),
        recipes=dict(sorted(manifest.get("recipes", {}).items())),
        origins=manifest.get("origins") or origins(home.root),
        commit=manifest.get("commit", ""),
        dirty=bool(manifest.get("dirty")),
        servers=[ServerRow(**dict(zip(ServerRow.__struct_fields__, row, strict=True))) for row in rows(f"SELECT {columns} FROM server")],
        without_server=sorted(manifest.get("missing_servers", {})),
        unread=[
            (path, language)
            for path, language in rows(f"SELECT path, language FROM skipped WHERE reason = '{SkipReason.NO_SERVER}' ORDER BY ALL")
        ],
        numbers=Numbers(asked=asked, lost=lost, cross_checked=cross_checked, cross_disagreed=cross_disagreed),
        counts=dict(manifest.get("counts", {})),
        chunks=sorted(chunks, key=lambda chunk: chunk.name),
    )


def origins(root: Path) -> list[str]:
    """First commits of the repository around `root`: they are the same in every clone, unless it is a shallow one. Empty without git."""
    try:
        if (git_command.text(root, "rev-parse", "--is-shallow-repository") or "").strip() != "false":
            return []
        return sorted((git_command.text(root, "rev-list", "--max-parents=0", "HEAD") or "").split())
    except UsageError:  # no git, or a repository that it refuses
        return []


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Only what differs is written; chunks that are no more are removed, and a signature of what was there; the manifest comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob(f"tmp-*-{MANIFEST}*"):  # of an export of an earlier version that was killed
        leftover.unlink()
    for part in (folder, folder / "facts", folder / "outside"):
        plain_files.remove_files(part, plain_files.LEFTOVER)
    if SIGNATURE not in contents:
        (folder / SIGNATURE).unlink(missing_ok=True)
    for part in ("facts", "outside"):
        for old in (folder / part).glob("*.parquet"):
            if f"{part}/{old.name}" not in contents:
                old.unlink()
    for name, content in sorted(contents.items(), key=lambda item: item[0] == MANIFEST):
        place = folder / name
        if plain_files.read(place) == content:
            continue
        place.parent.mkdir(exist_ok=True)
        plain_files.write_whole(place, content)
    for part in ("facts", "outside"):
        if (folder / part).is_dir() and not any((folder / part).iterdir()):
            shutil.rmtree(folder / part)


def _write_tar(file: Path, contents: Mapping[str, bytes]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f"tmp-{os.getpid()}-{os.urandom(4).hex()}-{file.name}")
    try:
        with writes(file), tarfile.open(beside, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in sorted(contents.items(), key=lambda item: (not item[0].startswith(MANIFEST), item[0])):
                member = tarfile.TarInfo(name)  # no owner, no time
                member.size = len(content)
                member.mode = 0o644
                archive.addfile(member, io.BytesIO(content))
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
