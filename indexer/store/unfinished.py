"""What crawls that did not come to their end have left: `crawl/<recipe>/`, one shard and one record for each unit that they finished.

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
from indexer.store import proof

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
    """Whole or not at all: a later run believes it."""
    plain_files.write_whole(place, content)


def unfinished(crawls: Path) -> list[Unfinished]:
    """All that lie in the folder `crawls` and that this user began, the one that was begun last first."""
    found: list[Unfinished] = []
    for place in crawls.glob(f"*/{PLAN}"):
        if not proof.is_marked(place.parent, KIND):
            continue
        try:
            plan = msgspec.json.decode(plain_files.read(place) or b"", type=Plan)
        except msgspec.DecodeError:
            continue
        done = sum(map(_documents, place.parent.glob("*.json")))
        found.append(Unfinished(recipe=place.parent.name, begun=plan.begun, done=min(done, plan.documents), documents=plan.documents))
    return sorted(found, key=lambda item: item.begun, reverse=True)


def _documents(record: Path) -> int:
    if record.name in (PLAN, SERVERS) or not record.with_suffix(".parquet").is_file():
        return 0
    try:
        found = msgspec.json.decode(record.read_bytes(), type=_Record)
    except (OSError, msgspec.DecodeError):  # the run was killed while it wrote this one
        return 0
    return 0 if found.lost else found.documents
