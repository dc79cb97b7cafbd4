"""Where an index lies and how it is published: generation files and a `CURRENT` pointer.

    .lspidx/
      .gitignore  CACHEDIR.TAG      the folder is a cache; nothing of it is tracked
      lock                          held while an index is made
      CURRENT                       name of the generation to read, replaced atomically
      db/gen-<n>.duckdb  gen-<n>.json   an index and its manifest, never modified once published
      crawl/<recipe>/*.parquet      what a crawl has found so far: see `indexer.store.unfinished`
      shards/<digest>.parquet       facts as they are kept: see `indexer.store.states`
      states/<recipe>.json          which of them describe which tree
      flags.json                    settings that were given as flags, for the next run; of this machine only
      log/lspidx.log  run.jsonl
      skill.json  skill.lock        the skill that is active on the command line, see `query.skills.kept`
      scratch/  cache/              what servers write
      set-aside/                    what stood in the place of one of these and was something else: see `indexer.store.damage`

A reader that has opened a generation keeps it: files are removed by name, never changed. The newest two are kept.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.errors import Damaged, Locked, NoIndex, writes
from indexer.store import sealed

if TYPE_CHECKING:
    from indexer.store.unfinished import Unfinished

FOLDER = ".lspidx"
GONE = "it is not there"
_KEEP = 2


class Home:
    """The `.lspidx` folder of one workspace, or another one in its place. Creating the object touches nothing."""

    def __init__(self, root: Path, path: Path | None = None) -> None:
        self.root = root
        self.path = path or root / FOLDER
        self.databases = self.path / "db"
        self.shards = self.path / "shards"
        self.states = self.path / "states"
        self.crawls = self.path / "crawl"
        self.log_file = self.path / "log" / "lspidx.log"
        self.run_record = self.path / "run.jsonl"
        self._pointer = self.path / "CURRENT"
        self._flags = self.path / "flags.json"

    def create(self) -> None:
        for folder in (self.path, self.databases, self.shards):
            folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# made by lspidx\n")):
            file = self.path / name
            if not file.is_file() or file.read_bytes() != text.encode():
                with writes(file):
                    file.write_text(text, encoding="utf-8")

    def folder(self, name: str) -> Path:
        """A folder of this name for what servers want to write; made if need be."""
        path = self.path / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def current(self) -> Path | None:
        """The published generation's database, or None."""
        try:
            name = self._pointer.read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return None
        path = self.databases / name
        return path if name.startswith("gen-") and "/" not in name and path.is_file() else None

    def check_pointer(self) -> None:
        """Raises Damaged where an index was published and cannot be found: `CURRENT` leads nowhere, or is not there beside databases."""
        if self.current() is not None:
            return
        try:
            is_empty = not self._pointer.read_bytes().strip()
        except FileNotFoundError:
            if any(self.databases.glob("gen-*.duckdb")):
                raise Damaged(self._pointer, GONE) from None
            return
        except NotADirectoryError:
            return
        except OSError as error:
            raise Damaged(self._pointer, f"it cannot be read: {error.strerror}") from error
        raise Damaged(self._pointer, "it is empty" if is_empty else "it names no index that is there")

    def manifest(self) -> dict[str, Any]:
        """What the published generation covers and what made it; empty where there is none that can be read."""
        generation = self.current()
        try:
            found = json.loads(generation.with_suffix(".json").read_text(encoding="utf-8")) if generation else {}
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def flags(self) -> dict[str, Any]:
        """Settings that were given as flags when the index was made; none where that is not what was written."""
        try:
            return self.checked_flags()
        except Damaged:
            return {}

    def checked_flags(self) -> dict[str, Any]:
        """The same. Raises Damaged where it is not what was written; one without a seal is an earlier version's."""
        try:
            content = self._flags.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise Damaged(self._flags, f"it cannot be read: {error.strerror}") from error
        try:
            found = json.loads(sealed.unsealed(content, self._flags, "flags") if sealed.is_sealed(content) else content)
        except ValueError as error:
            raise Damaged(self._flags, "it is empty" if not content else "its end is not there, or it is another file") from error
        if not isinstance(found, dict):
            raise Damaged(self._flags, "it is another file")
        return found

    def remember(self, flags: Mapping[str, Any]) -> None:
        """Keeps settings for the next run. Holds the lock."""
        text = json.dumps(flags, indent=1, sort_keys=True)
        if json.loads(text) != self.flags():  # a tuple is a list there
            beside = self._flags.with_suffix(".tmp")
            with writes(self._flags):
                beside.write_bytes(sealed.sealed(text.encode(), "flags"))
                os.replace(beside, self._flags)

    def require(self) -> Path:
        """The published generation's database.

        Raises:
            NoIndex: nothing is published; the message says what to run.
        """
        path = self.current()
        if path is None:
            raise NoIndex(f"no index in '{self.root}'; {remedy(self.root)}")
        return path

    def begun(self) -> Unfinished | None:
        """The crawl that was begun last and has not come to its end."""
        if not self.crawls.is_dir():
            return None
        from indexer.store.unfinished import unfinished  # a reader that has its index needs none

        return next(iter(unfinished(self.crawls)), None)

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Holds the writer's lock; the system frees it when the process ends, however it ends.

        Raises:
            Locked: another process is making an index here.
        """
        import portalocker

        self.create()
        with (self.path / "lock").open("a") as file:
            try:
                portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
            except portalocker.LockException as error:
                raise Locked(f"another lspidx is indexing '{self.root}'; wait for it, or end it") from error
            try:
                yield
            except BaseException:  # a full disk must not stay full of what came to nothing
                self._remove_leftovers()
                raise

    def new_number(self) -> int:
        """One more than any generation that was ever published and is still here."""
        numbers = [0]
        for file in self.databases.glob("gen-*.duckdb"):
            with contextlib.suppress(ValueError):
                numbers.append(int(file.stem.removeprefix("gen-")))
        return max(numbers) + 1

    def temporary(self) -> Path:
        return self.databases / f"tmp-{os.getpid()}.duckdb"

    def publish(self, built: Path, number: int, manifest: bytes) -> Path:
        """Makes `built` the current generation: sync, rename, switch the pointer, sync the folder. Holds the lock."""
        target = self.databases / f"gen-{number}.duckdb"
        _sync(built)
        manifest_file = target.with_suffix(".json")
        with writes(manifest_file):
            manifest_file.write_bytes(manifest)
        _sync(manifest_file)
        os.rename(built, target)
        pointer = self._pointer.with_name("CURRENT.tmp")
        with writes(self._pointer):
            pointer.write_text(target.name + "\n", encoding="ascii")
        _sync(pointer)
        os.replace(pointer, self._pointer)
        _sync(self.path)
        return target

    def clean(self, *, has_ended: bool = True) -> None:
        """Removes leftovers of killed runs and old generations. Holds the lock.

        Args:
            has_ended: what was crawled is all in the index, so what crawls have found is removed too.
        """
        import shutil  # a reader needs none

        self._remove_leftovers()
        current = self.current()
        files = sorted(self.databases.glob("gen-*.duckdb"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        kept = [file for file in files if file == current] + [file for file in files if file != current][: _KEEP - 1]
        for file in files:
            if file not in kept:
                file.unlink(missing_ok=True)
                file.with_suffix(".json").unlink(missing_ok=True)
        if has_ended:
            shutil.rmtree(self.crawls, ignore_errors=True)
        for leftover in self.shards.iterdir():
            if leftover.is_dir():  # of an earlier version
                shutil.rmtree(leftover, ignore_errors=True)
            elif leftover.name.startswith("tmp-"):
                leftover.unlink(missing_ok=True)

    def _remove_leftovers(self) -> None:
        import shutil

        for leftover in self.databases.glob("tmp-*"):
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    leftover.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remedy(start: Path) -> str:
    """How to get an index where there is none: how far the crawl has come that was to make it, if one was begun, and what to run."""
    begun = next((found for folder in (start, *start.parents) if (found := Home(folder).begun()) is not None), None)
    if begun is None:
        return "to make one: lspidx index"
    how_far = f"the run of {begun.begun} has finished {begun.done} of {begun.documents} files"
    return f"{how_far}; if it was cut off, to go on from there: lspidx index"


def find_home(start: Path) -> Home:
    """The index around `start`: the nearest folder upwards that has one.

    Raises:
        NoIndex: there is none up to the file system's root. Damaged: the nearest one is there in parts only.
    """
    for folder in (start, *start.parents):
        home = Home(folder)
        if home.current() is not None:
            return home
        home.check_pointer()  # else the index of a folder further up would answer in its place
    begun = next((home for folder in (start, *start.parents) if (home := Home(folder)).begun() is not None), None)
    if begun is not None:
        raise NoIndex(f"no index in '{begun.root}' yet; {remedy(begun.root)}")
    committed = next((folder for folder in (start, *start.parents) if (folder / "cache-artifacts" / "manifest.json").is_file()), None)
    taken = f", or to take the one that is committed: lspidx cache import {committed / 'cache-artifacts'}" if committed else ""
    raise NoIndex(f"no index in '{start}' or above it; to make one: lspidx index{taken}")
