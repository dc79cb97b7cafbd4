"""Artifacts for the tests of the cache: made from an index, taken apart, changed and signed again as an attacker would."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from indexer.cache.artifact import MANIFEST, Manifest
from indexer.cache.pack import pack
from indexer.cache.relative import to_absolute, to_relative
from indexer.cache.unpack import Imported, unpack
from indexer.config import Config
from indexer.store.generations import Home
from indexer.store.shard import SCHEMA
from query.facts.index import open_index

OF_THE_CHECKOUT = frozenset({"folder", "folders", "folder_stamp", "stamp", "run", "runs", "meta"})
"""Tables with times, paths and numbers of this checkout; all others are equal after a round trip."""


def export(root: Path, destination: Path, **options: Any) -> Path:
    with open_index(root) as index:
        pack(index.home, index.rows, destination, **options)
    return destination


def bring(source: Path, root: Path) -> Imported:
    """Imports into a work tree."""
    return unpack(source, Home(root), Config())


def clone(root: Path, destination: Path) -> Path:
    """The work tree without its index, with other times."""
    shutil.copytree(root, destination, symlinks=True, ignore=shutil.ignore_patterns(".lspidx"), copy_function=shutil.copyfile)
    return destination


def tables(root: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables and views that are not of the checkout, in their order; documents without the folder's name."""
    with open_index(root) as index:
        names = [row[0] for row in index.rows("SELECT table_name FROM information_schema.tables ORDER BY 1")]
        what = {name: "* EXCLUDE (folder)" if name == "documents" else "*" for name in names}
        return {name: index.rows(f"SELECT {what[name]} FROM {name}") for name in names if name not in OF_THE_CHECKOUT}


def state(root: Path) -> dict[str, bytes]:
    """Every file of the index that somebody could read, and its content; not the lock, nor a proof, which is written anew after a copy."""
    home = root / ".lspidx"
    files = [file for file in sorted(home.rglob("*")) if file.is_file() and file.name != "lock" and file.suffix != ".proof"]
    return {str(file.relative_to(home)): file.read_bytes() for file in files}


# ---- artifacts as dictionaries


def contents(source: Path) -> dict[str, bytes]:
    """By name, of a folder."""
    return {file.relative_to(source).as_posix(): file.read_bytes() for file in sorted(source.rglob("*")) if file.is_file()}


def write_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def write_tar(file: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file


def signed(files: Mapping[str, bytes], change: Callable[[dict[str, Any]], None] | None = None) -> dict[str, bytes]:
    """The same with a manifest that describes these chunks; `change` may spoil the manifest then."""
    manifest = json.loads(files[MANIFEST])
    rows = {chunk["name"]: chunk["rows"] for chunk in manifest["chunks"]}
    manifest["chunks"] = [
        {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "size_bytes": len(content), "rows": rows.get(name, 1)}
        for name, content in sorted(files.items())
        if name != MANIFEST
    ]
    if change is not None:
        change(manifest)
    return {**files, MANIFEST: as_manifest(manifest)}


def as_manifest(manifest: Mapping[str, Any]) -> bytes:
    """As lspidx writes it, where it can be written at all."""
    import msgspec

    try:
        return msgspec.convert(manifest, Manifest, strict=False).to_json()
    except msgspec.ValidationError:
        return json.dumps(manifest, indent=1).encode() + b"\n"


Rows = list[dict[str, Any]]


def rows_of(chunk: bytes) -> Rows:
    """One dictionary for each source file of a chunk, with absolute positions."""
    return to_absolute(pq.read_table(io.BytesIO(chunk)).cast(SCHEMA)).to_pylist()


def chunk_of(rows: Rows, **options: Any) -> bytes:
    buffer = io.BytesIO()
    table = to_relative(pa.Table.from_pylist(rows, schema=SCHEMA).combine_chunks())
    pq.write_table(table, buffer, **{"compression": "none", "use_dictionary": False, "store_schema": False, **options})
    return buffer.getvalue()


FIRST = "facts/0000000000000000.parquet"


def with_rows(files: Mapping[str, bytes], change: Callable[[Rows], None], part: str = FIRST) -> dict[str, bytes]:
    """The artifact with one chunk's rows changed, signed again."""
    rows = rows_of(files[part])
    change(rows)
    return signed({**files, part: chunk_of(rows)})
