"""The format of an artifact, and reading one without trusting it.

    manifest.json                     what it covers, what made it, name, size and digest of every chunk
    manifest.json.sig                 who signed it, if somebody did (`indexer.cache.signature`)
    facts/<16 hex digits>.parquet     one row per source file, in order of path (columns: `indexer.store.shard.SCHEMA`)
    outside/<16 hex digits>.parquet   the same for files outside the workspace that something refers to

As a folder, or as one tar file of it. There is no code in it, no absolute path, no time and no name of a machine: what is of the checkout
(its name, its place) is left out, so two machines write the same bytes. Chunks end where the digest of a path says so, so
that a new file changes one chunk and not all that follow; positions are differences (`indexer.cache.relative`), so that a new line does
not change all that follow either.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from indexer.cache import signature
from indexer.errors import CacheRefused
from indexer.servers.registry import load_table
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION

FORMAT = 2
"""1  2026-11-22 first. 2  2026-11-22 targets inside the workspace are symbols; what its crawl depended on."""

MANIFEST = "manifest.json"
SIGNATURE = "manifest.json.sig"
_CHUNK_NAME = re.compile(r"(facts|outside)/[0-9a-f]{16}\.parquet")
_SHA256 = re.compile(r"[0-9a-f]{64}")
DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+")  # one letter is a drive

MAX_MANIFEST_BYTES = 20_000_000
MAX_CHUNK_BYTES = 256_000_000
MAX_CHUNKS = 50_000
MAX_PACKED_BYTES = 4_000_000_000
MAX_ROWS = 2_000_000

_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 50)]
_Word = Annotated[str, msgspec.Meta(max_length=200)]
_Line = Annotated[str, msgspec.Meta(max_length=2_000)]
_Text = Annotated[str, msgspec.Meta(max_length=200_000)]
_Path = Annotated[str, msgspec.Meta(max_length=4_096)]


class Chunk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Parquet file of the artifact. `rows`: source files in it."""

    name: _Word
    sha256: _Word
    size_bytes: Annotated[int, msgspec.Meta(gt=0, le=MAX_CHUNK_BYTES)]
    rows: Annotated[int, msgspec.Meta(gt=0, le=MAX_ROWS)]


class ServerRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As in the table `server`."""

    name: _Word
    version: _Line
    language: _Word
    command: _Line
    fingerprint: _Word
    position_encoding: _Word
    capabilities: _Text


class Numbers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of the crawl that found the facts."""

    asked: _Count
    lost: _Count
    cross_checked: _Count
    cross_disagreed: _Count


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything beside the facts.

    ingredients, recipes: digests of what the facts depend on, as in `indexer.store.states.State`: where they are the same in a clone, it
    goes on from these facts. origins: first commits of the repository, which say that two checkouts are of one. without_server: languages
    that had none.
    unread: path and language of files that were not read because their language had no server; what else was skipped is seen here again.
    """

    format: int
    schema_version: int
    content_version: int
    lspidx: _Word
    ingredients: _Word
    recipes: Annotated[dict[_Word, _Word], msgspec.Meta(max_length=1_000)]
    origins: Annotated[list[_Word], msgspec.Meta(max_length=1_000)]
    commit: _Word
    dirty: bool
    servers: Annotated[list[ServerRow], msgspec.Meta(max_length=1_000)]
    without_server: Annotated[list[_Word], msgspec.Meta(max_length=1_000)]
    unread: Annotated[list[tuple[_Path, _Word]], msgspec.Meta(max_length=MAX_ROWS)]
    numbers: Numbers
    counts: Annotated[dict[_Word, _Count], msgspec.Meta(max_length=100)]
    chunks: Annotated[list[Chunk], msgspec.Meta(max_length=MAX_CHUNKS)]

    def to_json(self) -> bytes:
        """The same bytes for the same content; lines, so that a difference is readable."""
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic"), indent=1) + b"\n"


class Opened(NamedTuple):
    """A manifest that was checked, and how to get at the chunks. `signed_by`: fingerprint of a trusted key; empty = none was asked for."""

    manifest: Manifest
    files: Mapping[str, bytes | Path]
    signed_by: str = ""

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


def open_artifact(source: Path, trusted: Sequence[str] = ()) -> Opened:
    """A folder or a tar file, with its manifest checked and every chunk in place. Chunks of a folder are not read yet.

    Args:
        trusted: lines of public keys; where there are any, one of them must have signed the manifest.
    Raises:
        CacheRefused: it is no artifact, another version's, unsigned where it must not be, or breaks a rule of the format, which is named.
    """
    if source.is_dir() and not source.is_symlink():
        files = _of_folder(source)
    elif source.is_file():
        files = _of_tar(source)
    else:
        raise CacheRefused(f"'{source}' is neither a folder nor a file")
    raw = _manifest_bytes(source, files.pop(MANIFEST, None))
    signed = files.pop(SIGNATURE, None)
    signed_by = ""
    if trusted:  # before anything else of it is read
        signed_by = signature.check(raw, signed.read_bytes() if isinstance(signed, Path) else signed, trusted)
    manifest = _manifest(raw)
    names = [chunk.name for chunk in manifest.chunks]
    if sorted(names) != sorted(files) or len(set(names)) != len(names):
        odd = sorted(set(names) ^ set(files))[:3]
        raise CacheRefused(f"the files of the artifact are not those of its manifest: {', '.join(odd) or 'a name is there twice'}")
    if sum(chunk.size_bytes for chunk in manifest.chunks) > MAX_PACKED_BYTES or sum(chunk.rows for chunk in manifest.chunks) > MAX_ROWS:
        raise CacheRefused(f"the artifact is larger than {MAX_PACKED_BYTES} bytes or {MAX_ROWS} files, which no cache is")
    return Opened(manifest, files, signed_by)


def _manifest_bytes(source: Path, place: bytes | Path | None) -> bytes:
    if place is None:
        raise CacheRefused(f"'{source}' has no {MANIFEST}, so it is no cache of lspidx")
    if isinstance(place, bytes):
        return place
    with place.open("rb") as file:
        return file.read(MAX_MANIFEST_BYTES + 1)


def _of_folder(folder: Path) -> dict[str, bytes | Path]:
    files: dict[str, bytes | Path] = {}
    for place in itertools.islice(folder.rglob("*"), 2 * MAX_CHUNKS):
        name = place.relative_to(folder).as_posix()
        if place.is_symlink():
            raise CacheRefused(f"'{name}' is a symbolic link, which no artifact has")
        if place.is_dir() or ("/" not in name and name not in (MANIFEST, SIGNATURE)):  # a README beside it
            continue
        if not place.is_file() or place.stat().st_size > _most_bytes(_require_name(name)):
            raise CacheRefused(f"'{name}' is no regular file, or larger than any of an artifact")
        files[name] = place
    return files


def _of_tar(file: Path) -> dict[str, bytes | Path]:
    """Names and contents of its members. Only what `pack` writes is read: regular files with short names, none of tar's extensions."""
    files: dict[str, bytes | Path] = {}
    total = 0
    try:
        with file.open("rb") as archive:
            while (header := archive.read(tarfile.BLOCKSIZE)) != bytes(tarfile.BLOCKSIZE):
                member = tarfile.TarInfo.frombuf(header, "ascii", "strict")
                name = _require_name(member.name)
                if member.type != tarfile.REGTYPE:
                    raise CacheRefused(f"'{name}' is no regular file, which an artifact is made of")
                if name in files or len(files) > MAX_CHUNKS:
                    raise CacheRefused(f"'{name}' is in the artifact twice, or the artifact has more than {MAX_CHUNKS} files")
                total += member.size
                if not 0 < member.size <= _most_bytes(name) or total > MAX_PACKED_BYTES:
                    raise CacheRefused(f"'{name}' is empty, or makes the artifact larger than any that lspidx writes")
                content = archive.read(member.size)
                if len(content) != member.size:
                    raise CacheRefused(f"'{name}' is incomplete: the artifact was cut short")
                archive.seek(-member.size % tarfile.BLOCKSIZE, os.SEEK_CUR)
                files[name] = content
    except (tarfile.TarError, OSError, ValueError) as error:
        raise CacheRefused(f"'{file}' is no tar file of an artifact: {error}") from error
    return files


def _require_name(name: str) -> str:
    if name not in (MANIFEST, SIGNATURE) and not _CHUNK_NAME.fullmatch(name):
        raise CacheRefused(f"'{name}' is not a name that a file of an artifact has")
    return name


def _most_bytes(name: str) -> int:
    return {MANIFEST: MAX_MANIFEST_BYTES, SIGNATURE: signature.MAX_BYTES}.get(name, MAX_CHUNK_BYTES)


def _manifest(raw: bytes) -> Manifest:
    if len(raw) > MAX_MANIFEST_BYTES:
        raise CacheRefused("the manifest is larger than any that lspidx writes")
    try:
        versions = msgspec.json.decode(raw, type=_Versions)
        if (versions.format, versions.schema_version, versions.content_version) != (FORMAT, SCHEMA_VERSION, CONTENT_VERSION):
            raise CacheRefused(
                f"the artifact has format {versions.format}, schema {versions.schema_version}, content {versions.content_version}; this "
                f"lspidx reads {FORMAT}, {SCHEMA_VERSION}, {CONTENT_VERSION}: make it again with this version, or use the one that made it"
            )
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CacheRefused(f"the manifest cannot be read: {error}") from error
    if manifest.to_json() != raw:
        raise CacheRefused("the manifest is not written as lspidx writes it: something else wrote or changed it (git's autocrlf, perhaps)")
    check_manifest(manifest)
    return manifest


def check_manifest(manifest: Manifest) -> None:
    """What the types do not say.

    Raises:
        CacheRefused: names the field.
    """
    for chunk in manifest.chunks:
        if not _CHUNK_NAME.fullmatch(chunk.name) or not _SHA256.fullmatch(chunk.sha256):
            raise CacheRefused(f"the manifest describes a chunk that cannot be: '{chunk.name}'")
    for commit in (*manifest.origins, *filter(None, [manifest.commit])):
        if not DIGEST.fullmatch(commit):
            raise CacheRefused(f"'{commit}' is no commit")
    known = load_table().language
    for language in (*manifest.without_server, *(row.language for row in manifest.servers), *(language for _, language in manifest.unread)):
        if language not in known:
            raise CacheRefused(f"'{language}' is no language that this lspidx knows")
    for path, _ in manifest.unread:
        require_inside(path)
    for row in manifest.servers:
        try:
            msgspec.json.decode(row.capabilities, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError) as error:
            raise CacheRefused(f"the capabilities of server '{row.name}' cannot be read: {error}") from error


def require_inside(path: str) -> None:
    """A path of the workspace: relative, below it, and the same file on every system.

    Raises:
        CacheRefused: it is none.
    """
    if not is_inside(path):
        raise CacheRefused(f"'{path}' is no path inside a workspace")


def is_inside(path: str) -> bool:
    parts = path.split("/")
    return not (
        len(path.encode("utf-8", "surrogatepass")) > 4_096
        or "\\" in path
        or "\0" in path
        or any(part in ("", ".", "..") for part in parts)
        or ":" in parts[0]
    )


def is_key(path: str) -> bool:
    """Files outside are named by package and path in there (`pip:werkzeug@3.1.3/werkzeug/local.py`), never by a place of a machine."""
    scheme, _, rest = path.partition(":")
    return (
        bool(_SCHEME.fullmatch(scheme))
        and scheme != "file"
        and not rest.startswith("/")
        and ".." not in rest.split("/")
        and not any(character in path for character in "\\\0")
        and len(path) <= 4_096
    )


class _Versions(msgspec.Struct, kw_only=True):
    format: int
    schema_version: int
    content_version: int
