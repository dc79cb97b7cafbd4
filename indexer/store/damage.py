"""What is done about files below `.lspidx` that are not what lspidx wrote: the one policy for all of them (ADR 0026).

Whoever reads a file decides whether it is whole (a seal, see `indexer.store.sealed`; a shard's name; the digest of a database in its
manifest) and raises Damaged where it is not. What can be made again is then thrown away and made again, and a line says so; a question
is refused with the command that does that. What stands in the place of a file or folder of ours and is no such thing is moved aside, for
nobody knows what it is: nothing is lost.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from indexer import plain_files
from indexer.errors import Damaged, Storage
from indexer.store import sealed
from indexer.store.generations import GONE, Home

log = logging.getLogger(__name__)

Note = Callable[[str], None]

_FOLDERS = ("db", "shards", "states", "crawl", "log", "bases", "scratch", "cache", "answers", "edits", "exchange", "verify", "set-aside")
_FILES = (
    "CURRENT",
    "CURRENT.tmp",
    "lock",
    "flags.json",
    "flags.tmp",
    "flow.arrow",
    "run.jsonl",
    "skill.json",
    "skill.lock",
    ".gitignore",
    "CACHEDIR.TAG",
)
_OF_FILES_ONLY = ("db", "shards", "states")
_ENDINGS = (".duckdb", ".parquet", ".json")
_ASIDE = "set-aside"
_TRIES = 1000


def log_only(line: str) -> None:
    """Where nobody watches."""
    log.warning("%s", line)


def put_in_order(home: Home, note: Note) -> None:
    """Moves aside what is a folder where lspidx keeps a file, or a file where it keeps a folder. Links are left to those who refuse them.

    Raises:
        Storage: `.lspidx` itself is no folder, or cannot be written. UnsafeIndex: see `Home.check`.
    """
    with contextlib.suppress(FileNotFoundError):
        status = home.path.lstat()
        if stat.S_ISREG(status.st_mode):
            raise Storage(f"'{home.path}' is a file, and lspidx keeps its index in a folder of that name; move it away, and run this again")
        home.check()  # nothing below a link is moved
        for place in _misplaced(home.path):
            kind = "folder" if place.is_dir() else "file"
            note(f"'{place}' is a {kind} where lspidx keeps something else; it was moved to '{set_aside(home, place)}'")
    try:
        home.checked_flags()
    except Damaged as error:
        throw_away(error, note, "the flags of former runs are forgotten; to have them again, give them again")


def _misplaced(top: Path) -> Iterator[Path]:
    for name in _FOLDERS:
        if _is_file(top / name):
            yield top / name
    for name in _FILES:
        if _is_folder(top / name):
            yield top / name
    for folder in _OF_FILES_ONLY:
        if _is_folder(top / folder):
            yield from [
                Path(item.path) for item in os.scandir(top / folder) if item.name.endswith(_ENDINGS) and item.is_dir(follow_symlinks=False)
            ]
    if _is_folder(top / "crawl"):
        for entry in sorted((top / "crawl").iterdir()):
            if entry.name.endswith(_ENDINGS):  # of files outside, of an empty crawl
                if _is_folder(entry):
                    yield entry
            elif _is_file(entry):
                yield entry
            elif _is_folder(entry):
                yield from [item for item in sorted(entry.iterdir()) if item.name.endswith(_ENDINGS) and _is_folder(item)]
    log_folder = top / "log"
    if _is_folder(log_folder):
        yield from [item for item in sorted(log_folder.iterdir()) if _is_folder(item)]


def _is_file(path: Path) -> bool:
    return os.path.lexists(path) and not path.is_symlink() and not path.is_dir()


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def set_aside(home: Home, place: Path) -> Path:
    """Renames it into a folder where nobody reads anything; returns where it is then."""
    folder = home.path / _ASIDE
    if _is_file(folder):  # itself no folder: out of its own way first
        os.rename(folder, _free(folder))
    folder.mkdir(exist_ok=True)
    target = _free(folder / place.name)
    os.rename(place, target)
    return target


def _free(path: Path) -> Path:
    return next(candidate for number in range(1, _TRIES) if not os.path.lexists(candidate := path.with_name(f"{path.name}.{number}")))


def read_manifest(generation: Path) -> dict[str, Any]:
    """The manifest beside a generation's database. One without a seal is an earlier version's, and is taken as it is.

    Raises:
        Damaged: there is none, or it is not what was written.
    """
    file = generation.with_suffix(".json")
    content = plain_files.read(file)
    if content is None:
        raise Damaged(file, "it cannot be read" if os.path.lexists(file) else GONE)
    if sealed.is_sealed(content):
        content = sealed.unsealed(content, file, "manifest")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Damaged(file, "it is empty" if not content else "its end is not there, or it is another file") from error
    if not isinstance(found, dict) or "recipe" not in found:
        raise Damaged(file, "it is another file")
    if found.get("generation") != _number(generation):
        raise Damaged(file, "it is another generation's")
    return found


def _number(generation: Path) -> int | None:
    text = generation.stem.removeprefix("gen-")
    return int(text) if text.isdecimal() else None


def measured(built: Path) -> dict[str, Any]:
    """What tells a damaged database, for its manifest (`database`): its size and digest."""
    return {"bytes": built.stat().st_size, "sha256": sealed.digest_of(built)}


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """A manifest as it is written."""
    return sealed.sealed(json.dumps(manifest, indent=1, sort_keys=True).encode(), "manifest")


def check_database(generation: Path, manifest: dict[str, Any]) -> None:
    """Reads the whole file: 20 ms for Django's.

    Raises:
        Damaged: it is not the one that the manifest was written for.
    """
    written = manifest.get("database")
    if not isinstance(written, dict):  # an earlier version's, which is made anew anyway
        return
    try:
        size_bytes = generation.stat().st_size
        if size_bytes != written.get("bytes"):
            raise Damaged(generation, f"it has {size_bytes} bytes and had {written.get('bytes')}")
        if sealed.digest_of(generation) != written.get("sha256"):
            raise Damaged(generation, "its content is not what was written")
    except OSError as error:
        raise Damaged(generation, f"it cannot be read: {error.strerror}") from error


_MOST_SHARD_BYTES = 4 << 30
"""Facts of 1.2 MB of sources come to a thousandth of it. What has no end on the disk is not read for it."""


def check_shard(shard: Path) -> None:
    """A settled shard is named after its content. Raises Damaged where that is not so, or it is gone."""
    try:
        if shard.stat().st_size > _MOST_SHARD_BYTES:
            raise Damaged(shard, "it is larger than a shard may be")
        if sealed.digest_of(shard)[: len(shard.stem)] != shard.stem:
            raise Damaged(shard, "it is empty" if not shard.stat().st_size else "its content is not what was written")
    except FileNotFoundError as error:
        raise Damaged(shard, GONE) from error
    except OSError as error:
        raise Damaged(shard, f"it cannot be read: {error.strerror}") from error


def check_published(generation: Path, manifest: dict[str, Any], shards: Path) -> None:
    """Looks at all that a published index consists of.

    Raises:
        Damaged: something is not what was written, or is not there.
    """
    check_database(generation, manifest)
    for name in manifest.get("shards", ()):
        check_shard(shards / f"{name}.parquet")


def throw_away(error: Damaged, note: Note, consequence: str) -> None:
    """Removes the file that is not what it was, and says so."""
    with contextlib.suppress(OSError):
        error.file.unlink(missing_ok=True)
    if error.why == GONE:
        note(f"'{error.file}' was not there: {consequence}")
    else:
        note(f"'{error.file}' was damaged ({error.why}) and is thrown away: {consequence}")
