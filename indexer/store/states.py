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
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from indexer import plain_files
from indexer.errors import Damaged
from indexer.store import proof
from indexer.store.damage import Note, check_shard, log_only, throw_away
from indexer.store.generations import GONE, Home

_STATE = re.compile(r"[0-9a-f]{32}\.json")
_SHARD = re.compile(r"[0-9a-f]{32}\.parquet")
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
    second: digest of the second server and of what its answers depend on; empty where none was asked.
    skins: by path, digests of what of a text stands outside of functions (`indexer.crawl.plan.skin`); none of an imported state's.
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
    second: str = ""
    imported: bool = False
    skins: dict[str, str] = {}

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
        plain_files.make_folder(self._home.shards)
        for name in state.shards:
            source, target = other.shard(name), self.shard(name)
            if self._has(name):
                continue
            try:
                check_shard(source)
            except Damaged:
                return False
            try:
                os.link(source, target, follow_symlinks=False)
            except OSError:
                content = plain_files.read(source)
                if content is None:
                    return False
                plain_files.write_whole(target, content)
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
        return next((state for state in self._all() if state.recipe == recipe and self._damaged(state) is None), None)

    def has(self, recipe: str) -> bool:
        """Whether this recipe's state is here; one that is damaged is thrown away."""
        return any(state.recipe == recipe for state in self._all(is_ours=True))

    def has_foreign(self) -> bool:
        """Whether a state lies here that this user has not made."""
        return any(proof.is_strange("state", file) for file in self._files())

    def _all(self, *, is_ours: bool = False) -> list[State]:
        """Those that this user has made and of which every shard is here, the newest first. `is_ours`: what is damaged is thrown away."""
        found: list[State] = []
        for file in self._files():
            try:
                state = read_state(file)
            except Damaged as error:
                if is_ours and error.why != GONE:
                    throw_away(error, self._note, "what only it knew is crawled again")
                continue
            if state is None:
                continue
            if all(self._has(name) for name in state.shards):
                found.append(state)
        return found

    def _has(self, name: str) -> bool:
        place = self.shard(name)
        return bool(_SHARD.fullmatch(place.name)) and os.path.lexists(place) and not plain_files.fault_of(place, folder=False)

    def _files(self) -> list[Path]:
        files: list[tuple[float, Path]] = []
        if plain_files.fault_of(self._home.states, folder=True):
            return []
        for file in self._home.states.glob("*.json"):
            with contextlib.suppress(OSError):
                files.append((file.lstat().st_mtime, file))
        return [file for _, file in sorted(files, reverse=True)]

    def shard(self, name: str) -> Path:
        return self._home.shards / f"{name}.parquet"

    def save(self, state: State) -> None:
        """Whole or not at all; it is the newest then."""
        plain_files.make_folder(self._home.states)
        plain_files.write_whole(self._place(state.recipe), proof.written("state", msgspec.json.encode(state)))

    def _place(self, recipe: str) -> Path:
        return self._home.states / f"{hashlib.sha256(recipe.encode()).hexdigest()[:32]}.json"

    def collect(self, keep: int = _KEPT) -> tuple[int, int]:
        """Forgets what is damaged or a stranger's and all but the newest states, and removes the shards of none. The published tree's
        stays: by the times of files alone, a clock that was put back would make it the oldest. So do those of which an index is here,
        unless fewer are to be kept than usual.

        Returns the number of files and of bytes that went.
        """
        if proof.obstacle():  # nobody can tell whose a state is, so all count alike
            known = {file.name: state for file in self._files() if (state := _unproven_state(file)) is not None}
        else:
            known = {self._place(state.recipe).name: state for state in self._all(is_ours=True)}
        present = self._place(str(self._home.manifest().get("recipe", ""))).name
        newest = [name for name in known if name != present][: keep - (present in known)]
        needed = {self._place(recipe).name for recipe in self._home.recipes()} if keep == _KEPT else set[str]()
        kept = {name: known[name] for name in known if name in newest or name == present or name in needed}
        plain_files.remove_files(self._home.states, _STATE, keep=kept)
        used = {f"{name}.parquet" for state in kept.values() for name in state.shards}
        return plain_files.remove_files(self._home.shards, _SHARD, keep=used)


def read_state(file: Path) -> State | None:
    """A state; None where this user has not made it. Raises Damaged where it is not what was written."""
    content = proof.read("state", file)
    try:
        state = None if content is None else msgspec.json.decode(content, type=State)
    except msgspec.DecodeError as error:
        raise Damaged(file, "it is another file") from error
    if state and any(not 0 <= number < len(state.shards) for _, number in [*state.documents.values(), *state.outside.values()]):
        raise Damaged(file, "it contradicts itself")
    return state


def _unproven_state(file: Path) -> State | None:
    """A state where nothing can be proven; None for what cannot be read as one."""
    try:
        return msgspec.json.decode(plain_files.read(file) or b"", type=State)
    except msgspec.DecodeError:
        return None
