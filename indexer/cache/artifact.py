"""The format of an artifact, and reading one without trusting it.

    manifest.json            what it covers, what made it, name, size and digest of every chunk
    facts/0000.parquet …     one row per source file, in order of path (columns: `indexer.store.shard.SCHEMA`)
    outside/0000.parquet …   the same for files outside the workspace that something refers to

As a folder, or as one tar file of it. There is no code in it, no absolute path, no time and no name of a machine. Chunks end where the
digest of a path says so, so that a new file changes one chunk and not all that follow.
"""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import msgspec

from indexer.errors import CacheRefused
from indexer.model import CoverageStatus, Evidence, SkipReason, SymbolKind
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
MANIFEST = "manifest.json"
_CHUNK_NAME = re.compile(r"(facts|outside)/[0-9]{4,6}\.parquet")
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

MAX_MANIFEST_BYTES = 50_000_000
MAX_CHUNK_BYTES = 256_000_000
MAX_CHUNKS = 50_000
MAX_PACKED_BYTES = 4_000_000_000
MAX_READ_BYTES = 8_000_000_000
"""What all chunks together may be once they are decompressed, as their own footers say; a chunk that says less than it has is refused
by Parquet's reader."""

MAX_ROWS = 2_000_000
MAX_LINE = 10_000_000


class Chunk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Parquet file of the artifact. `rows`: source files in it."""

    name: str
    sha256: str
    size_bytes: int
    rows: int


class ServerRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As in the table `server`."""

    name: str
    version: str
    language: str
    command: str
    fingerprint: str
    position_encoding: str
    capabilities: str


class Numbers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of the crawl that found the facts."""

    asked: int
    server_restarts: int
    lost: int
    cross_checked: int
    cross_disagreed: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything beside the facts. `origins`: first commits of the repository, which say that two checkouts are of one."""

    format: int
    schema_version: int
    content_version: int
    lspidx: str
    root_name: str
    origins: list[str]
    commit: str
    dirty: bool
    recipe: str
    suffixes: list[str]
    families: list[list[str]]
    servers: list[ServerRow]
    missing_servers: dict[str, str]
    skipped: list[tuple[str, str, str]]  # path, language, reason
    numbers: Numbers
    counts: dict[str, int]
    chunks: list[Chunk]

    def to_json(self) -> bytes:
        """The same bytes for the same content; lines, so that a difference is readable."""
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic"), indent=1) + b"\n"


class Opened(NamedTuple):
    """A manifest that was checked, and how to get at the chunks."""

    manifest: Manifest
    files: Mapping[str, bytes | Path]

    def content(self, chunk: Chunk) -> bytes:
        """Bytes of a chunk, of the size and digest that the manifest promises.

        Raises:
            CacheRefused: they are not.
        """
        place = self.files[chunk.name]
        if isinstance(place, Path):
            if place.stat().st_size != chunk.size_bytes:
                raise CacheRefused(f"chunk '{chunk.name}' has {place.stat().st_size} bytes, its manifest says {chunk.size_bytes}")
            content = place.read_bytes()
        else:
            content = place
        if len(content) != chunk.size_bytes or hashlib.sha256(content).hexdigest() != chunk.sha256:
            raise CacheRefused(f"chunk '{chunk.name}' is not the one that the manifest describes; the artifact was damaged or changed")
        return content


def open_artifact(source: Path) -> Opened:
    """A folder or a tar file, with its manifest checked and every chunk in place. Chunks are not read yet, those of a tar file are.

    Raises:
        CacheRefused: it is no artifact, another version's, or breaks a rule of the format; the message says which.
    """
    if source.is_dir() and not source.is_symlink():
        files = _of_folder(source)
    elif source.is_file():
        files = _of_tar(source)
    else:
        raise CacheRefused(f"'{source}' is neither a folder nor a file")
    raw = files.pop(MANIFEST, None)
    if raw is None:
        raise CacheRefused(f"'{source}' has no {MANIFEST}, so it is no cache of lspidx")
    manifest = _manifest(raw.read_bytes() if isinstance(raw, Path) else raw)
    names = [chunk.name for chunk in manifest.chunks]
    if sorted(names) != sorted(files) or len(set(names)) != len(names):
        odd = sorted(set(names) ^ set(files))[:3]
        raise CacheRefused(f"the files of the artifact are not those of its manifest: {', '.join(odd) or 'a name stands twice'}")
    if sum(chunk.size_bytes for chunk in manifest.chunks) > MAX_PACKED_BYTES or sum(chunk.rows for chunk in manifest.chunks) > MAX_ROWS:
        raise CacheRefused(f"the artifact is larger than {MAX_PACKED_BYTES} bytes or {MAX_ROWS} files, which no cache is")
    return Opened(manifest, files)


def _of_folder(folder: Path) -> dict[str, bytes | Path]:
    files: dict[str, bytes | Path] = {}
    for place in sorted(folder.rglob("*")):
        name = place.relative_to(folder).as_posix()
        if place.is_symlink():
            raise CacheRefused(f"'{name}' is a symbolic link, which no artifact has")
        if place.is_dir():
            continue
        if name != MANIFEST and not _CHUNK_NAME.fullmatch(name):
            if "/" not in name:  # a README beside it
                continue
            raise CacheRefused(f"'{name}' is no name that an artifact has")
        if not place.is_file() or place.stat().st_size > (MAX_MANIFEST_BYTES if name == MANIFEST else MAX_CHUNK_BYTES):
            raise CacheRefused(f"'{name}' is no regular file, or larger than any chunk")
        files[name] = place
    return files


def _of_tar(file: Path) -> dict[str, bytes | Path]:
    files: dict[str, bytes | Path] = {}
    total = 0
    try:
        with tarfile.open(file, mode="r:") as archive:  # never compressed as a whole: nothing can grow while it is read
            for member in archive:
                if not member.isreg() or (member.name != MANIFEST and not _CHUNK_NAME.fullmatch(member.name)):
                    raise CacheRefused(f"'{member.name}' is nothing that an artifact has")
                if member.name in files or len(files) > MAX_CHUNKS:
                    raise CacheRefused(f"'{member.name}' stands twice in the artifact, or it has more than {MAX_CHUNKS} files")
                total += member.size
                if member.size > (MAX_MANIFEST_BYTES if member.name == MANIFEST else MAX_CHUNK_BYTES) or total > MAX_PACKED_BYTES:
                    raise CacheRefused(f"'{member.name}' makes the artifact larger than any is")
                content: IO[bytes] | None = archive.extractfile(member)
                files[member.name] = content.read() if content is not None else b""
    except tarfile.TarError as error:
        raise CacheRefused(f"'{file}' is no tar file of an artifact: {error}") from error
    return files


def _manifest(raw: bytes) -> Manifest:
    if len(raw) > MAX_MANIFEST_BYTES:
        raise CacheRefused("the manifest is larger than any is")
    try:
        versions = msgspec.json.decode(raw, type=_Versions)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise CacheRefused(f"the manifest cannot be read: {error}") from error
    if versions.format != FORMAT or (versions.schema_version, versions.content_version) != (SCHEMA_VERSION, CONTENT_VERSION):
        raise CacheRefused(
            f"the artifact has format {versions.format}, schema {versions.schema_version}, content {versions.content_version}; this lspidx "
            f"reads {FORMAT}, {SCHEMA_VERSION}, {CONTENT_VERSION}: make it again with this version, or use the one that made it"
        )
    try:
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise CacheRefused(f"the manifest breaks the format: {error}") from error
    for chunk in manifest.chunks:
        if not _CHUNK_NAME.fullmatch(chunk.name) or not 0 < chunk.size_bytes <= MAX_CHUNK_BYTES or chunk.rows < 0:
            raise CacheRefused(f"the manifest describes a chunk that cannot be: '{chunk.name}'")
    for path, _, reason in manifest.skipped:
        _require_inside(path.rstrip("/"))
        if reason not in {str(known) for known in SkipReason}:
            raise CacheRefused(f"'{path}' is skipped for a reason that there is not: '{reason}'")
    return manifest


class _Versions(msgspec.Struct, kw_only=True):
    format: int
    schema_version: int
    content_version: int


# ---- rows


def read_chunks(opened: Opened) -> Iterator[tuple[Chunk, pa.Table]]:
    """Every chunk as a table whose rows were checked.

    Raises:
        CacheRefused: a chunk is not what the manifest says, has other columns, or a row that cannot be.
    """
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    from indexer.store.shard import SCHEMA

    total = 0
    seen: set[str] = set()
    for chunk in opened.manifest.chunks:
        try:
            file = pq.ParquetFile(io.BytesIO(opened.content(chunk)), memory_map=False)
            groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
            total += sum(group.total_byte_size for group in groups)
            if total > MAX_READ_BYTES or file.metadata.num_rows != chunk.rows:
                raise CacheRefused(f"chunk '{chunk.name}' unpacks to more than it may, or to other rows than its manifest says")
            if not file.schema_arrow.equals(SCHEMA):
                raise CacheRefused(f"chunk '{chunk.name}' has other columns than this version's facts")
            table = file.read()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise CacheRefused(f"chunk '{chunk.name}' is no readable Parquet file: {error}") from error
        _check_rows(chunk, table, seen)
        yield chunk, table


def _check_rows(chunk: Chunk, table: pa.Table, seen: set[str]) -> None:
    """Paths stay inside, references between rows lead to rows, numbers are in range."""
    outside = chunk.name.startswith("outside/")
    for path, digest, status in zip(*(table.column(name).to_pylist() for name in ("path", "digest", "status")), strict=True):
        if path in seen:
            raise CacheRefused(f"'{path}' is described twice")
        seen.add(path)
        if (status == "external") != outside:
            raise CacheRefused(f"'{path}' lies in the wrong part of the artifact")
        if outside:
            _require_key(path)
        else:
            _require_inside(path)
            if not _DIGEST.fullmatch(digest or ""):
                raise CacheRefused(f"'{path}' has no digest")
    broken = _first_broken(table)
    if broken:
        raise CacheRefused(f"chunk '{chunk.name}': {broken}")


def _require_inside(path: str) -> None:
    parts = path.split("/")
    if (
        not path
        or path.startswith("/")
        or "\\" in path
        or "\0" in path
        or any(part in ("", ".", "..") for part in parts)
        or ":" in parts[0]
    ):
        raise CacheRefused(f"'{path}' is no path inside a workspace")


def _require_key(path: str) -> None:
    """Files outside are named by package and path in there (`pip:werkzeug@3.1.3/werkzeug/local.py`), never by a place of a machine."""
    scheme, colon, rest = path.partition(":")
    is_name = colon and scheme != "file" and re.fullmatch(r"[a-z][a-z0-9+.-]*", scheme)
    if not is_name or rest.startswith("/") or ".." in rest.split("/"):
        raise CacheRefused(f"'{path}' is no name of a file outside the workspace")


_RANGES: tuple[tuple[str, str, str], ...] = (
    ("symbols", "container", "symbols"),
    ("extra_ranges", "symbol", "symbols"),
    ("members", "symbol", "symbols"),
    ("silent_members", "owner", "symbols"),
    ("owners", "symbol", "symbols"),
    ("owners", "target", "targets"),
    ("owners", "own", "symbols"),
    ("occurrences", "enclosing", "symbols"),
    ("occurrences", "symbol", "symbols"),
    ("occurrences", "target", "targets"),
    ("supertypes", "symbol", "symbols"),
    ("supertypes", "target", "targets"),
    ("supertypes", "own", "symbols"),
)
"""(table, column, table that the number leads into); -1 leads nowhere."""

_LINES = ("line", "col", "end_line", "end_col", "start_line", "start_col", "sel_line", "sel_col", "sel_end_col")


def _first_broken(table: pa.Table) -> str:
    """A sentence about the first row that cannot be; empty where all can."""
    import pyarrow as pa
    from pyarrow import compute

    pc: Any = compute  # its functions are made at run time

    def values(name: str, column: str) -> tuple[pa.Array, pa.Array]:
        """Values of a column of a nested table, and for each the number of its document."""
        nested = table.column(name).combine_chunks()
        if nested.null_count:
            raise CacheRefused(f"a document has no {name}")
        return pc.struct_field(pc.list_flatten(nested), column), pc.list_parent_indices(nested)

    for name, column, into in _RANGES:
        numbers, parents = values(name, column)
        sizes = pc.list_value_length(table.column(into).combine_chunks())
        limits = pc.take(sizes, parents)
        wrong = pc.any(pc.or_(pc.less(numbers, -1), pc.greater_equal(numbers, limits)))
        if numbers.null_count or wrong.as_py():
            return f"a number in {name}.{column} leads to nothing"
    for field in table.schema:
        if not pa.types.is_list(field.type) or not pa.types.is_struct(field.type.value_type):
            continue
        for column in field.type.value_type:
            numbers, _ = values(field.name, column.name)
            if numbers.null_count:
                return f"{field.name}.{column.name} has a hole"
            if column.name in _LINES and len(numbers):
                low, high = pc.min(numbers).as_py(), pc.max(numbers).as_py()
                if low < 0 or high > MAX_LINE:
                    return f"{field.name}.{column.name} is outside of any file"
    for name, column, known in (
        ("symbols", "kind", {int(kind) for kind in SymbolKind}),
        ("occurrences", "evidence", {int(kind) for kind in Evidence}),
        ("supertypes", "evidence", {int(kind) for kind in Evidence}),
        ("coverage", "status", {str(status) for status in CoverageStatus}),
    ):
        found: set[Any] = set(pc.unique(values(name, column)[0]).to_pylist())
        if not found <= known:
            return f"{name}.{column} says something that there is not: {sorted(found - known, key=str)[0]!r}"
    return ""
