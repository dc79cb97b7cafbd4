"""An artifact to an index of this work tree. Everything is checked before anything is published; the old index stays until then.

The artifact is read and merged by a process of its own (`indexer.cache.reader`), which may be crashed or flooded. What of an answer depends
on the work tree is never the artifact's word: which files there are, which of them are skipped, which languages refer to each other.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from indexer import plain_files, vcs
from indexer.builds import other_builds
from indexer.cache.artifact import Manifest
from indexer.cache.pack import origins
from indexer.cache.reader import Answer, Merge, Read
from indexer.cache.signature import trusted
from indexer.config import Config
from indexer.crawl.ownership import refuse_tracked
from indexer.crawl.plan.survey import Survey, survey
from indexer.errors import CacheRefused, Storage
from indexer.folders import identity_of
from indexer.manifests import NAMES
from indexer.model import Skipped, SkipReason
from indexer.servers.registry import endings_of, families, load_table
from indexer.store import damage
from indexer.store.generations import Home
from indexer.store.states import State, States

MEMORY_BYTES = 3_000_000_000
"""That reading an artifact may take."""

_NO_TIME = -(1 << 63)
"""No file was ever modified then, so its content is compared."""


class Checked(NamedTuple):
    """What an artifact says of a work tree. `same`: files that have here the content that the facts are of. `signed_by`: fingerprint of
    the trusted key that signed it; empty where the configuration trusts none in particular.
    """

    manifest: Manifest
    documents: int
    same: int
    changed: list[str]
    missing: list[str]
    new: list[str]
    signed_by: str = ""


class Imported(NamedTuple):
    checked: Checked
    generation: Path


class _Reader:
    """The process that reads; as a context manager, it ends with it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "indexer.cache.reader", str(os.getpid()), str(MEMORY_BYTES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},  # the others reserve more than they use
        )

    def ask(self, request: Read | Merge) -> Answer:
        """Raises CacheRefused, with the reason: what was read breaks a rule, or broke the reader. Storage: nothing could be written."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            status = self._process.wait()
            how = signal.Signals(-status).name if status < 0 else f"status {status}"
            raise CacheRefused(
                f"the artifact's reader ended with {how}: the artifact is damaged, or takes more time or memory than is allowed"
            )
        answer = msgspec.json.decode(line, type=Answer)
        if answer.storage:
            raise Storage(answer.storage)
        if answer.refused:
            raise CacheRefused(answer.refused)
        return answer

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def check(source: Path, root: Path, config: Config) -> Checked:
    """Reads the whole artifact as `unpack` does and compares it with the work tree; writes nothing.

    Raises:
        CacheRefused: it is none, was changed, or is of another repository.
    """
    with _Reader() as reader:
        read = reader.ask(Read(source=str(source), shards="", trusted=trusted(config.trusted_keys, root)))
    return _compare(read, root, _survey(root, config))


def unpack(source: Path, home: Home, config: Config, *, commit: str = "") -> Imported:
    """Makes the artifact the index of the work tree at `home.root`.

    Args:
        commit: that the artifact must be of; empty = any.
    Raises:
        CacheRefused: as `check`, or the facts contradict each other. Locked: an index is being made. The old index stays.
        UnsafeIndex: `.lspidx` is not one that lspidx would have made.
    """
    refuse_tracked(home)
    damage.put_in_order(home, damage.log_only)
    with home.locked():
        plain_files.remove_folders(home.databases, re.compile(r"tmp-import-.*"))  # of an import that was killed
        staging = home.databases / f"tmp-import-{os.getpid()}"
        try:
            (staging / "shards").mkdir(parents=True)
            return _publish(source, home, config, staging, commit)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _publish(source: Path, home: Home, config: Config, staging: Path, commit: str) -> Imported:
    built, number = staging / "made.duckdb", home.new_number()
    with _Reader() as reader:
        keys = trusted(config.trusted_keys, home.root)
        read = reader.ask(Read(source=str(source), shards=str(staging / "shards"), trusted=keys, commit=commit))
        tree = _survey(home.root, config)
        checked = _compare(read, home.root, tree)
        digest = hashlib.sha256(checked.manifest.to_json()).hexdigest()
        around = _surroundings(checked, read.documents, tree, digest, number, home)
        counts = reader.ask(Merge(built=str(built), around=around)).counts
    state = _state(read, checked.manifest, staging / "shards", home, digest)
    described = _describe(checked.manifest, counts, number, home, state.shards, digest)
    states = States(home)
    states.save(state)
    described["database"] = damage.measured(built)
    generation = home.publish(built, number, damage.manifest_bytes(described))
    home.clean()
    states.collect()
    return Imported(checked, generation)


def _survey(root: Path, config: Config) -> Survey:
    """What a crawl would read here: without languages that are switched off, which it skips."""
    languages = {name for name, spec in load_table().language.items() if spec.crawl == "full"}
    found = survey(root, vcs.list_files(root, config.include), config, languages=languages)
    off = {language for language in languages if (config.of_language(language).server or config.server) == "none"}
    return Survey(
        documents=[document for document in found.documents if document.language not in off],
        stamps=found.stamps,
        skipped=[
            *found.skipped,
            *(
                Skipped(path=item.path, language=item.language, reason=SkipReason.EXCLUDED)
                for item in found.documents
                if item.language in off
            ),
        ],
        folders=found.folders,
        manifests=found.manifests,
        words=found.words,
    )


def _compare(read: Answer, root: Path, tree: Survey) -> Checked:
    """Refuses an artifact of another repository: its history begins elsewhere, or not one file is here with its content."""
    assert read.manifest is not None
    manifest, documents, ours = read.manifest, read.documents, origins(root)
    if ours and manifest.origins and not set(ours) & set(manifest.origins):
        raise CacheRefused(
            f"the artifact is of another repository: its history begins with {manifest.origins[0][:10]}, this one's with {ours[0][:10]}"
        )
    here = {document.path: document.digest for document in tree.documents}
    same = sum(here.get(path) == digest for path, digest, _ in documents)
    if documents and not same:
        raise CacheRefused(
            f"not one of the {len(documents)} files that the artifact describes is here with that content: is it of this repository?"
        )
    described = {path for path, _, _ in documents}
    unread = {path for path, _ in manifest.unread}
    return Checked(
        manifest=manifest,
        documents=len(documents),
        same=same,
        changed=sorted(path for path, digest, _ in documents if path in here and here[path] != digest),
        missing=sorted(described - here.keys()),
        new=sorted(here.keys() - described - unread),
        signed_by=read.signed_by,
    )


def _surroundings(
    checked: Checked, documents: Sequence[tuple[str, str, int]], tree: Survey, digest: str, number: int, home: Home
) -> dict[str, Any]:
    """A `merge.Surroundings` but for the times of its run, as a crawl leaves it.

    A file that differs has a time that no file has, and so has a folder with a new file: both are looked at again by every query, which
    then says so. What is skipped is seen here and not believed, except that a language had no server: that makes answers less complete.
    """
    manifest = checked.manifest
    here = {document.path: document for document in tree.documents}
    stamps = {path: stamp.row for path, stamp in tree.stamps.items() if path not in here}
    for path, content, size_bytes in documents:
        as_described = path in here and here[path].digest == content
        stamps[path] = tree.stamps[path].row if as_described else (size_bytes, _NO_TIME, _NO_TIME)
    described = {path for path, _, _ in documents}
    unread = [(path, language) for path, language in manifest.unread if path in here and path not in described]
    stamps.update({path: tree.stamps[path].row for path, _ in unread})
    skipped: list[dict[str, Any]] = [
        *(
            {"path": item.path, "language": item.language, "reason": str(item.reason), "words": item.words}
            for item in tree.skipped
            if item.path not in described
        ),
        *({"path": path, "language": language, "reason": str(SkipReason.NO_SERVER)} for path, language in unread),
    ]
    with_new = {path.rpartition("/")[0] for path in checked.new}
    return {
        "workspace": [{"name": home.root.name, "prefix": "", "commit_sha": manifest.commit, "dirty": manifest.dirty}],
        "skipped": sorted(skipped, key=lambda item: item["path"]),
        "stamps": stamps,
        "words": {path: words for path, words in tree.words.items() if path in described},
        "folders": {folder: _NO_TIME if folder in with_new else mtime_ns for folder, mtime_ns in tree.folders.items()},
        "servers": [msgspec.structs.asdict(row) for row in manifest.servers],
        "manifests": [msgspec.structs.asdict(item) for item in tree.manifests],
        "run": {
            "commit_sha": manifest.commit,
            "dirty": manifest.dirty,
            "lspidx_version": manifest.lspidx,
            "documents": checked.documents,
            "skipped": len(skipped),
            "asked": manifest.numbers.asked,
            "server_restarts": 0,
            "lost": manifest.numbers.lost,
            "cross_checked": manifest.numbers.cross_checked,
            "cross_disagreed": manifest.numbers.cross_disagreed,
        },
        "meta": {
            "suffixes": json.dumps([*endings_of({document.language for document in tree.documents}), *NAMES]),
            "families": json.dumps(families()),
            "other_builds": json.dumps(other_builds({document.path: document.constraint for document in tree.documents})),
            "commit": manifest.commit,
            "dirty": str(manifest.dirty).lower(),
            "recipe": f"imported {digest}",
            "generation": str(number),
            "folder": identity_of(home.root),
            "imported": "true",
            **({"left_out": json.dumps(dict(tree.left_out))} if tree.left_out else {}),
        },
    }


def _state(read: Answer, manifest: Manifest, folder: Path, home: Home, digest: str) -> State:
    """The artifact as a tree that was crawled: an index made here goes on from it, where it would have asked the same. Moves its shards."""
    names: list[str] = []
    for shard in sorted(folder.glob("*.parquet")):
        names.append(hashlib.sha256(shard.read_bytes()).hexdigest()[:32])
        os.replace(shard, home.shards / f"{names[-1]}.parquet")
    return State(
        recipe=f"imported {digest}",
        ingredients=manifest.ingredients,
        recipes=manifest.recipes,
        documents={path: item for path, item in read.described.items() if item[0]},
        outside={key: item for key, item in read.described.items() if not item[0]},
        shards=names,
        imported=True,
    )


def _describe(manifest: Manifest, counts: dict[str, int], number: int, home: Home, shards: list[str], digest: str) -> dict[str, Any]:
    """The manifest of the generation. Its recipe is no recipe of a crawl here: the next `lspidx index` makes one."""
    servers = {(row.name, row.version): row.fingerprint for row in manifest.servers}
    return {
        "schema_version": manifest.schema_version,
        "content_version": manifest.content_version,
        "generation": number,
        "recipe": f"imported {digest}",
        "root_name": home.root.name,
        "origins": manifest.origins,
        "commit": manifest.commit,
        "dirty": manifest.dirty,
        "is_git": bool(manifest.commit),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "lspidx": manifest.lspidx,
        "folders": [{"name": home.root.name, "prefix": "", "commit": manifest.commit, "dirty": manifest.dirty}],
        "servers": [
            {
                "name": name,
                "version": version,
                "languages": sorted(row.language for row in manifest.servers if (row.name, row.version) == (name, version)),
                "fingerprint": fingerprint,
            }
            for (name, version), fingerprint in sorted(servers.items())
        ],
        "missing_servers": dict.fromkeys(manifest.without_server, "none where the imported artifact was made"),
        "counts": counts,
        "imported": True,
        "requests": manifest.numbers.asked,
        "server_restarts": 0,
        "shards": shards,
        "ingredients": manifest.ingredients,
        "recipes": manifest.recipes,
    }
