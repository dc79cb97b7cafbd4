"""A tree whose index is still here: its tables are taken again as they are, in place of a merge (ADR 0077).

A merge makes all tables of the facts but for what `merge.Surroundings` brings. So an index that was made of the very same shards, the same
manifests and by the same code differs in these alone: after a change of branches there and back, an undone edit, a commit, a `touch`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from indexer.errors import Damaged
from indexer.manifests import ManifestFile
from indexer.store import damage, proof, sealed
from indexer.store.generations import Home
from indexer.store.merge import Surroundings, surround
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A copy of an index with other surroundings; of its manifest, what a merge would count."""

    counts: dict[str, int]
    resolution: dict[str, dict[str, int]]


def facts_digest(shards: Sequence[str], manifests: Sequence[ManifestFile], code: str) -> str:
    """Digest of all that the tables of an index are made of but for its surroundings.

    Args:
        shards: names of the settled shards, which are digests of what they hold, in their order.
        manifests: files that are read for the names in them, as they are now. code: digest of our own code.
    """
    parts = [f"schema {SCHEMA_VERSION} content {CONTENT_VERSION} code {code} duckdb {duckdb.__version__}", *shards]
    digest = hashlib.sha256("\n".join(parts).encode())
    for item in manifests:
        digest.update(b"\0" + msgspec.json.encode(item))
    return digest.hexdigest()


def take_again(home: Home, facts: str, built: Path, around: Surroundings, *, memory_mb: int, threads: int) -> Again | None:
    """Writes an index of these facts and surroundings at `built`, which must not exist; None where none of these facts is here.

    Holds the lock. A generation counts if this user made it and it is, byte for byte, what was written.
    """
    for generation in home.generations():
        try:
            manifest = damage.read_manifest(generation)
        except Damaged:
            continue
        if manifest.get("facts") != facts or proof.unproven(generation):
            continue
        if _copied(generation, manifest, built):
            surround(built, around, memory_mb=memory_mb, threads=threads)
            return Again(counts=manifest["counts"], resolution=manifest["resolution"])
    return None


def _copied(generation: Path, manifest: dict[str, Any], built: Path) -> bool:
    """Whether a copy of the database lies at `built` that is what its manifest was written for; else nothing lies there."""
    try:
        shutil.copyfile(generation, built, follow_symlinks=False)
        if sealed.digest_of(built) == manifest["database"]["sha256"]:
            return True
    except OSError:  # it was removed meanwhile, or the disk is full, which the merge will say
        pass
    if os.path.lexists(built):
        built.unlink()
    return False
