"""An artifact to an index of this work tree. Everything is checked before anything is published; the old index stays until then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from indexer import vcs
from indexer.cache.artifact import Manifest, Opened, open_artifact, read_chunks
from indexer.cache.pack import origins
from indexer.config import Config
from indexer.crawl.plan import Survey, survey
from indexer.errors import Bug, CacheRefused
from indexer.model import Skipped, SkipReason
from indexer.servers.registry import load_table
from indexer.store.generations import Home

_MEMORY_MB = 600
_THREADS = 4


class Checked(NamedTuple):
    """What an artifact says of a work tree. `same`: files that have here the content that the facts are of."""

    manifest: Manifest
    documents: int
    same: int
    changed: list[str]
    missing: list[str]


class Imported(NamedTuple):
    checked: Checked
    generation: Path
    new: list[str]


def check(source: Path, root: Path) -> Checked:
    """Reads the whole artifact as `unpack` does and compares it with the work tree; writes nothing.

    Raises:
        CacheRefused: it is none, was changed, or is of another repository.
    """
    opened = open_artifact(source)
    digests = {path: digest for chunk, table in read_chunks(opened) if chunk.name.startswith("facts/") for path, digest in _digests(table)}
    return _compare(opened.manifest, digests, root, _survey(root, Config()))


def unpack(source: Path, home: Home, config: Config) -> Imported:
    """Makes the artifact the index of the work tree at `home.root`.

    Raises:
        CacheRefused: as `check`, or the facts contradict each other. Locked: an index is being made. The old index stays.
    """
    opened = open_artifact(source)
    with home.locked():
        staging = home.folder("import")
        shutil.rmtree(staging)
        staging.mkdir()
        try:
            return _publish(opened, home, config, staging)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _publish(opened: Opened, home: Home, config: Config, staging: Path) -> Imported:
    import pyarrow.parquet as pq

    from indexer.store import merge
    from indexer.store.lint import lint

    manifest = opened.manifest
    digests: dict[str, str] = {}
    shards: list[Path] = []
    for chunk, table in read_chunks(opened):
        if chunk.name.startswith("facts/"):
            digests.update(_digests(table))
        shard = staging / chunk.name.replace("/", "-")
        pq.write_table(table, shard, compression="zstd", compression_level=1, write_statistics=False)
        shards.append(shard)
    tree = _survey(home.root, config)
    checked = _compare(manifest, digests, home.root, tree)
    new = sorted({document.path for document in tree.documents} - digests.keys() - {path for path, _, _ in manifest.skipped})
    number, built = home.new_number(), home.temporary()
    for leftover in (built, built.with_name(built.name + ".wal")):
        leftover.unlink(missing_ok=True)
    try:
        counts = merge.build(
            built, shards, _surroundings(manifest, checked, tree, digests, new, number, home), memory_mb=_MEMORY_MB, threads=_THREADS
        )
        broken = _lint(built, lint)
    except (Bug, RuntimeError, ValueError) as error:  # DuckDB's errors are RuntimeErrors and ValueErrors
        built.unlink(missing_ok=True)
        raise CacheRefused(f"the facts of the artifact contradict each other: {error}") from error
    if broken:
        built.unlink(missing_ok=True)
        raise CacheRefused(f"the artifact breaks a rule of every index: {broken}")
    kept = home.shards / f"imported-{manifest.recipe[:16] or 'unknown'}"
    shutil.rmtree(kept, ignore_errors=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    staging.rename(kept)
    described = _describe(manifest, counts, number, kept)
    generation = home.publish(built, number, json.dumps(described, indent=1, sort_keys=True).encode() + b"\n")
    home.clean(keep_shards=kept.name)
    return Imported(checked, generation, new)


def _lint(built: Path, lint: Any) -> str:
    import duckdb

    with duckdb.connect(str(built), read_only=True, config={"enable_external_access": False}) as connection:
        findings = lint(lambda sql, parameters=None: connection.execute(sql, parameters).fetchall())
    return "; ".join(f"{item.rule}: {item.count}, e.g. {item.example}" for item in findings[:3])


def _digests(table: Any) -> list[tuple[str, str]]:
    return list(zip(table.column("path").to_pylist(), table.column("digest").to_pylist(), strict=True))


def _survey(root: Path, config: Config) -> Survey:
    languages = {name for name, spec in load_table().language.items() if spec.crawl == "full"}
    return survey(root, vcs.list_files(root), config, languages=languages)


def _compare(manifest: Manifest, digests: dict[str, str], root: Path, tree: Survey) -> Checked:
    """Refuses an artifact of another repository: another first commit, or not one file of the same content."""
    ours = origins(root)
    if ours and manifest.origins and not set(ours) & set(manifest.origins):
        raise CacheRefused(
            f"the artifact is of another repository: its history of '{manifest.root_name}' begins with {manifest.origins[0][:10]}"
        )
    here = {document.path: document.digest for document in tree.documents}
    same = [path for path, digest in digests.items() if here.get(path) == digest]
    if digests and not same:
        raise CacheRefused(
            f"none of the {len(digests)} files that the artifact describes is here with that content; is it of this repository?"
        )
    changed = sorted(path for path, digest in digests.items() if path in here and here[path] != digest)
    missing = sorted(path for path in digests if path not in here)
    return Checked(manifest, len(digests), len(same), changed, missing)


def _surroundings(
    manifest: Manifest, checked: Checked, tree: Survey, digests: dict[str, str], new: Sequence[str], number: int, home: Home
) -> Any:
    """As a crawl leaves them. A file that differs has a stamp that no file has, and so has a folder with a new file: both are looked at
    again by every query, which then says so.
    """
    from indexer.store import merge

    stamps: dict[str, tuple[int, int]] = {}
    differing = {*checked.changed, *checked.missing}
    for path in digests:
        stamp = tree.stamps.get(path)
        stamps[path] = (-1, 0) if path in differing or stamp is None else (stamp.size_bytes, stamp.mtime_ns)
    for path, _, _ in manifest.skipped:
        stamp = tree.stamps.get(path)
        if stamp is not None:
            stamps[path] = (stamp.size_bytes, stamp.mtime_ns)
    with_new = {path.rpartition("/")[0] for path in new}
    now = datetime.now(UTC).replace(tzinfo=None)
    return merge.Surroundings(
        workspace=[{"name": home.root.name, "prefix": "", "commit_sha": manifest.commit, "dirty": manifest.dirty}],
        skipped=[Skipped(path=path, language=language, reason=SkipReason(reason)) for path, language, reason in manifest.skipped],
        stamps=stamps,
        folders={folder: 0 if folder in with_new else mtime_ns for folder, mtime_ns in tree.folders.items()},
        servers=[{name: getattr(row, name) for name in row.__struct_fields__} for row in manifest.servers],
        run={
            "started": now,
            "finished": now,
            "commit_sha": manifest.commit,
            "dirty": manifest.dirty,
            "lspidx_version": manifest.lspidx,
            "documents": checked.documents,
            "skipped": len(manifest.skipped),
            "asked": manifest.numbers.asked,
            "server_restarts": manifest.numbers.server_restarts,
            "lost": manifest.numbers.lost,
            "cross_checked": manifest.numbers.cross_checked,
            "cross_disagreed": manifest.numbers.cross_disagreed,
        },
        meta={
            "suffixes": json.dumps(manifest.suffixes),
            "families": json.dumps(manifest.families),
            "commit": manifest.commit,
            "dirty": str(manifest.dirty).lower(),
            "recipe": manifest.recipe,
            "generation": str(number),
            "imported": "true",
        },
    )


def _describe(manifest: Manifest, counts: dict[str, int], number: int, shards: Path) -> dict[str, Any]:
    """The manifest of the generation. Its recipe is no recipe of a crawl here: the next `lspidx index` crawls."""
    return {
        "schema_version": manifest.schema_version,
        "content_version": manifest.content_version,
        "generation": number,
        "recipe": f"imported {manifest.recipe}",
        "root_name": manifest.root_name,
        "commit": manifest.commit,
        "dirty": manifest.dirty,
        "is_git": bool(manifest.commit),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "lspidx": manifest.lspidx,
        "folders": [{"name": manifest.root_name, "prefix": "", "commit": manifest.commit, "dirty": manifest.dirty}],
        "servers": [
            {
                "name": name,
                "version": version,
                "languages": sorted(row.language for row in manifest.servers if (row.name, row.version) == (name, version)),
                "fingerprint": next(row.fingerprint for row in manifest.servers if (row.name, row.version) == (name, version)),
            }
            for name, version in sorted({(row.name, row.version) for row in manifest.servers})
        ],
        "missing_servers": manifest.missing_servers,
        "counts": counts,
        "imported": True,
        "requests": manifest.numbers.asked,
        "server_restarts": manifest.numbers.server_restarts,
        "shards": f"shards/{shards.name}",
    }
