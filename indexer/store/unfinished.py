"""What crawls that did not come to their end have left: `crawl/<recipe>/`, one shard and one record for each unit that they finished.

All carry their digests, and a record has that of its shard: what is not whole counts as not found yet.

plan.json       when the last crawl of this tree began, and how many files it was to crawl
servers.json    what its servers said of themselves
<unit>.parquet  <unit>.json    facts, and what the worker counted, the number of its files among it
.made           that this user began it here: what another has left is neither taken up nor told of
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from indexer import plain_files
from indexer.errors import Damaged
from indexer.store import proof, sealed
from indexer.store.damage import Note, throw_away

PLAN, SERVERS = "plan.json", "servers.json"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """begun: UTC, to the minute."""

    begun: str
    documents: int


class Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    """A crawl that is under way or was cut off; `done` of `documents` files are crawled."""

    recipe: str
    begun: str
    done: int
    documents: int


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a unit's record that is read here; a unit with losses is crawled again."""

    documents: int
    lost: list[tuple[str, str, str]]


KIND = "crawl"
"""Of the folders' marks, see `indexer.store.proof`."""


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it lies there. shard: SHA-256 of the shard beside it; empty where there is none."""

    said: msgspec.Raw
    shard: str = ""


def begin(folder: Path) -> None:
    """Makes the folder of a crawl ours: what lies there and was not left by a crawl of this user is removed first."""
    plain_files.make_folder(folder.parent)
    if not proof.is_marked(folder, KIND):
        plain_files.remove_folders(folder.parent, re.compile(re.escape(folder.name)))
        plain_files.make_folder(folder)
        proof.mark(folder, KIND)


def write_plan(folder: Path, plan: Plan) -> None:
    write_whole(folder / PLAN, msgspec.json.encode(plan))


def write_whole(place: Path, content: bytes) -> None:
    """JSON, whole or not at all: a later run believes it."""
    _write(place, _Kept(said=msgspec.Raw(content)))


def write_record(shard: Path, content: bytes) -> None:
    """JSON about a shard that is written already."""
    _write(shard.with_suffix(".json"), _Kept(said=msgspec.Raw(content), shard=sealed.digest_of(shard)))


def _write(place: Path, kept: _Kept) -> None:
    plain_files.write_whole(place, sealed.sealed(msgspec.json.encode(kept), "unfinished"))


def read_whole(place: Path, note: Note) -> bytes | None:
    """What `write_whole` was given; None where nothing is there that can be believed."""
    try:
        return bytes(_read(place).said)
    except FileNotFoundError:
        return None
    except Damaged as error:
        throw_away(error, note, "what it said is found out again")
        return None


def read_record(shard: Path, note: Note) -> bytes | None:
    """What `write_record` was given; None where there is none, or it or its shard is not what was written: both are removed then."""
    record = shard.with_suffix(".json")
    try:
        kept = _read(record)
        if sealed.digest_of(shard) != kept.shard:
            raise Damaged(shard, "its content is not what was written")
    except FileNotFoundError:
        return None
    except Damaged as error:
        throw_away(error, note, "its files are crawled again")
        for place in (record, shard):
            if place.is_file():
                place.unlink(missing_ok=True)
        return None
    except OSError:
        return None
    return bytes(kept.said)


def _read(place: Path) -> _Kept:
    """Raises FileNotFoundError, Damaged."""
    try:
        return msgspec.json.decode(sealed.read(place, "unfinished"), type=_Kept)
    except msgspec.DecodeError as error:
        raise Damaged(place, "it is another file") from error


def unfinished(crawls: Path) -> list[Unfinished]:
    """All that lie in the folder `crawls` and that this user began, the one that was begun last first."""
    found: list[Unfinished] = []
    for place in crawls.glob(f"*/{PLAN}"):
        if not proof.is_marked(place.parent, KIND):
            continue
        try:
            plan = msgspec.json.decode(_read(place).said, type=Plan)
        except (OSError, msgspec.DecodeError, Damaged):
            continue
        done = sum(map(_documents, place.parent.glob("*.json")))
        found.append(Unfinished(recipe=place.parent.name, begun=plan.begun, done=min(done, plan.documents), documents=plan.documents))
    return sorted(found, key=lambda item: item.begun, reverse=True)


def _documents(record: Path) -> int:
    if record.name in (PLAN, SERVERS) or not record.with_suffix(".parquet").is_file():
        return 0
    try:
        found = msgspec.json.decode(_read(record).said, type=_Record)
    except (OSError, msgspec.DecodeError, Damaged):  # the run was killed while it wrote this one
        return 0
    return 0 if found.lost else found.documents
