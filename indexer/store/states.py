"""What was crawled, tree by tree: of each the shards with its facts, so that the next index begins with what is known.

    .lspidx/states/<recipe>.json    a State
    .lspidx/shards/<digest>.parquet   settled facts, named after their content, shared by states, never modified

A state carries its digest, a shard has it as its name: both are looked at before anything is built upon them, and what is not whole is
thrown away with all that needs it.

Going back to a tree that is among the newest states costs a merge; one that is near to a state costs what differs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import Damaged, writes
from indexer.store import sealed
from indexer.store.damage import Note, check_shard, log_only, throw_away
from indexer.store.generations import GONE, Home

_KEPT = 8
"""Trees that are remembered. They share what they have in common, so that each further one costs the files that differ."""


class State(msgspec.Struct, kw_only=True):
    """A crawled tree.

    recipe: digest of all that its facts depend on. ingredients: of what they depend on beside the documents and their servers.
    recipes: by name of a server, digest of what the facts of its documents depend on beside them.
    documents: by path what was crawled (`describe`) and the number of its shard.
    outside: by key of a file outside the workspace its path on this machine (empty where that is not known), the number of its shard.
    skipped: by path of a file that was left out, what `stat` said of it: a server sees it all the same.
    unread: by key the path of a file outside that something refers to and that could not be read, which the next crawl tries again.
    lost: documents of which something is missing, which the next crawl tries again.
    servers: by name, what each said of itself. imported: whether facts of an artifact are among it.
    """

    recipe: str
    ingredients: str
    recipes: dict[str, str]
    documents: dict[str, tuple[str, int]]
    outside: dict[str, tuple[str, int]]
    shards: list[str]
    skipped: dict[str, str] = {}
    unread: dict[str, str] = {}
    lost: list[str] = []
    servers: dict[str, dict[str, Any]] = {}
    imported: bool = False

    def distance(self, described: Mapping[str, str]) -> int:
        """Number of documents that are not the same here and there."""
        same = sum(described.get(path) == description for path, (description, _) in self.documents.items())
        return len(self.documents) + len(described) - 2 * same


def describe(header: Mapping[str, Any], recipe: str) -> str:
    """What makes a document the one that was crawled, as a digest: its content and how it was read.

    Args:
        header: see facts.HEADER.
        recipe: of the server that crawls it.
    """
    parts = [recipe] + [
        header[name] for name in ("language", "digest", "module", "is_test", "package_manager", "package", "package_version")
    ]
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class States:
    """The states beside an index. Hold the lock of `home` while writing, and while looking for the nearest, which may throw away."""

    def __init__(self, home: Home, note: Note = log_only) -> None:
        """`note` is told what was damaged and is thrown away."""
        self._home = home
        self._note = note

    def nearest(self, ingredients: str, described: Mapping[str, str], beside: Iterable[Home] = ()) -> State | None:
        """The state that has most in common with the documents in `described`, made of the same ingredients; None where none has any.

        Args:
            beside: homes of other trees, looked at where the own states do not know all; the state is made one of ours then.
        """
        found = self._nearest(ingredients, described)
        if found is not None and not found.distance(described):
            return found
        for home in beside:
            other = States(home)
            theirs = other._nearest(ingredients, described, is_ours=False)
            if (
                theirs is not None
                and (found is None or theirs.distance(described) < found.distance(described))
                and self.adopt(other, theirs)
            ):
                found = theirs
        return found

    def adopt(self, other: States, state: State) -> bool:
        """Takes over the shards of another home's state; False where they are gone by now, or are not what they were."""
        self._home.shards.mkdir(parents=True, exist_ok=True)
        for name in state.shards:
            source, target = other.shard(name), self.shard(name)
            if target.is_file():
                continue
            try:
                check_shard(source)
            except Damaged:
                return False
            try:
                os.link(source, target)
            except OSError:
                beside = target.with_name(f"tmp-{os.getpid()}-{target.name}")
                try:
                    shutil.copyfile(source, beside)
                except OSError:
                    return False
                os.replace(beside, target)
        return True

    def _nearest(self, ingredients: str, described: Mapping[str, str], *, is_ours: bool = True) -> State | None:
        """`is_ours`: what is damaged may be thrown away, and another state is looked for then."""
        while True:
            found: tuple[int, bool, State] | None = None
            for state in self._all(is_ours=is_ours):
                distance = state.distance(described)
                if state.ingredients != ingredients or distance >= len(state.documents) + len(described):
                    continue
                if found is None or (distance, state.imported) < found[:2]:  # rather what was seen here; else the newest
                    found = (distance, state.imported, state)
            if found is None:
                return None
            damaged = self._damaged(found[2])
            if damaged is None:
                return found[2]
            if not is_ours:
                return None
            throw_away(damaged, self._note, "what was known by it is crawled again")

    def _damaged(self, state: State) -> Damaged | None:
        """A shard of the state that is not what it was. Reads them all: 4 ms for Django's."""
        for name in state.shards:
            try:
                check_shard(self.shard(name))
            except Damaged as error:
                return error
        return None

    def of(self, recipe: str) -> State | None:
        """The state of this recipe, if all of it is here."""
        return next((state for state in self._all() if state.recipe == recipe), None)

    def _all(self, *, is_ours: bool = False) -> list[State]:
        """Those of which every shard is here, the newest first. `is_ours`: what is damaged is thrown away."""
        found: list[State] = []
        for file in self._files():
            try:
                state = read_state(file)
            except Damaged as error:
                if is_ours and error.why != GONE:
                    throw_away(error, self._note, "what only it knew is crawled again")
                continue
            except (OSError, msgspec.DecodeError):  # an earlier version's
                continue
            if all(self.shard(name).is_file() for name in state.shards):
                found.append(state)
        return found

    def _files(self) -> list[Path]:
        files: list[tuple[float, Path]] = []
        for file in self._home.states.glob("*.json"):
            with contextlib.suppress(OSError):
                files.append((file.stat().st_mtime, file))
        return [file for _, file in sorted(files, reverse=True)]

    def shard(self, name: str) -> Path:
        return self._home.shards / f"{name}.parquet"

    def save(self, state: State) -> None:
        """Whole or not at all; it is the newest then."""
        self._home.states.mkdir(parents=True, exist_ok=True)
        place = self._place(state.recipe)
        beside = place.with_suffix(".tmp")
        with writes(place):
            beside.write_bytes(sealed.sealed(msgspec.json.encode(state), "state"))
            os.replace(beside, place)

    def _place(self, recipe: str) -> Path:
        return self._home.states / f"{hashlib.sha256(recipe.encode()).hexdigest()[:32]}.json"

    def collect(self, keep: int = _KEPT) -> tuple[int, int]:
        """Forgets what is damaged and all but the newest states, and removes the shards of none. The published tree's stays: by the
        times of files alone, a clock that was put back would make it the oldest.

        Returns the number of files and of bytes that went.
        """
        files, size_bytes = 0, 0
        present = self._place(str(self._home.manifest().get("recipe", "")))
        others = [file for file in self._files() if file != present]
        for file in others[keep - present.is_file() :]:
            file.unlink(missing_ok=True)
        used = {name for state in self._all(is_ours=True) for name in state.shards}
        for file in self._home.shards.glob("*.parquet"):
            if file.stem not in used:
                files, size_bytes = files + 1, size_bytes + file.stat().st_size
                file.unlink(missing_ok=True)
        return files, size_bytes


def read_state(file: Path) -> State:
    """A state. Raises Damaged where it is not what was written; OSError or DecodeError for one of an earlier version, which has no seal."""
    content = file.read_bytes()
    try:
        state = msgspec.json.decode(sealed.unsealed(content, file, "state"), type=State)
    except Damaged:
        if not sealed.is_sealed(content):
            _must_not_be_json(content)
        raise
    if any(not 0 <= number < len(state.shards) for _, number in [*state.documents.values(), *state.outside.values()]):
        raise Damaged(file, "it contradicts itself")
    return state


def _must_not_be_json(content: bytes) -> None:
    """Raises DecodeError where this is a whole object without a seal."""
    try:
        found = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return
    if isinstance(found, dict) and "recipe" in found:
        raise msgspec.DecodeError("of an earlier version")
