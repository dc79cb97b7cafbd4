"""Where an index lies and how it is published: generation files and a `CURRENT` pointer.

    .lspidx/
      .gitignore  CACHEDIR.TAG      the folder is a cache; nothing of it is tracked
      lock                          held while an index is made
      CURRENT                       name of the generation to read, replaced atomically
      db/gen-<n>.duckdb  gen-<n>.json   an index and its manifest, never modified once published
      db/gen-<n>.proof              that this user made it: see `indexer.store.proof`
      db/unpublished                a first index is being published, or its run was ended just then
      crawl/<recipe>/*.parquet      what a crawl has found so far: see `indexer.store.unfinished`
      shards/<digest>.parquet       facts as they are kept: see `indexer.store.states`
      states/<recipe>.json          which of them describe which tree
      flags.json                    settings that were given as flags, for the next run; of this machine only
      flow.arrow                    what following values found last: see `indexer.store.flow.found.kept`
      log/lspidx.log  run.jsonl
      skill.json  skill.lock        the skill that is active on the command line, see `query.skills.kept`
      scratch/  cache/              what servers write
      set-aside/                    what stood in the place of one of these and was something else: see `indexer.store.damage`

A reader that has opened a generation keeps it: files are removed by name, never changed. The newest two are kept, and for some days some
more that are of other trees, so that whoever goes back to one has it without a merge (`indexer.store.known`).

The folder may have come with a clone or an archive. Nothing is written or removed while it holds a link, a pipe, a device or another
user's file (`Home.check`), and what this user has not made is not believed (ADR 0025 has the table).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from indexer import plain_files
from indexer.errors import Damaged, Locked, NoIndex, UnsafeIndex
from indexer.quoting import one_line

if TYPE_CHECKING:
    from indexer.store.unfinished import Unfinished

FOLDER = ".lspidx"
GONE = "it is not there"
_KEEP = 2
_KEEP_MORE = 6
_KEEP_COMMITTED = 3
_KEEP_BYTES = 256_000_000
_KEEP_S = 7 * 86_400
"""Beyond the newest: so many, of different facts, with so many bytes in all, of the last seven days; so many of committed trees first."""

_GENERATION = re.compile(r"gen-\d+\.duckdb")
_RECIPE = re.compile(r"[0-9a-f]{16}")
_TEXTS = {".gitignore": b"*\n", "CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55\n# made by lspidx\n"}
_DEPTHS = {"scratch": 0, "cache": 0, "toolchain": 0, "verify": 0, "bases": 2, "crawl": 2, "exchange": 2, "db": 3}
"""How far down a folder is looked through before something is written. Servers and build tools write into those of depth 0, where links
are theirs to make, and nothing of ours follows them; the others, which are not named here, are looked through for their own entries.
"""


class Home:
    """The `.lspidx` folder of one workspace, or another one in its place. Creating the object touches nothing."""

    def __init__(self, root: Path, path: Path | None = None) -> None:
        self.root = root
        self.path = path or root / FOLDER
        self.databases = self.path / "db"
        self.shards = self.path / "shards"
        self.states = self.path / "states"
        self.crawls = self.path / "crawl"
        self.flow = self.path / "flow.arrow"
        self.log_file = self.path / "log" / "lspidx.log"
        self.run_record = self.path / "run.jsonl"
        self._pointer = self.path / "CURRENT"
        self._unpublished = self.databases / "unpublished"
        self._flags = self.path / "flags.json"

    def create(self) -> None:
        """Makes the folder if need be.

        Raises:
            UnsafeIndex: see `check`.
        """
        self.check()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self.path, self.databases, self.shards):
            plain_files.make_folder(folder)
        for name, text in _TEXTS.items():
            if plain_files.read(self.path / name, len(text)) != text:
                plain_files.write_whole(self.path / name, text)

    def check(self) -> None:
        """Refuses what lspidx would not have made: it would write, or remove, where that leads.

        Raises:
            UnsafeIndex: the folder is a link or another user's, or something in it is neither a plain file nor a folder of this user.
        """
        wrong = plain_files.fault_of(self.path, folder=True)
        if wrong:
            raise UnsafeIndex(_refusal(self.path, wrong))
        try:
            found = next(self._faults(), None)
        except FileNotFoundError:
            return
        except OSError as error:
            raise UnsafeIndex(_refusal(Path(error.filename or self.path), f"unreadable ({error.strerror})")) from error
        if found is not None:
            raise UnsafeIndex(_refusal(Path(found[0]), found[1], self.path))

    def _faults(self) -> Generator[tuple[str, str]]:
        yield from plain_files.faults_below(self.path, 1)
        with os.scandir(self.path) as entries:
            folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for name in folders:
            if depth := _DEPTHS.get(name, 1):
                yield from plain_files.faults_below(self.path / name, depth)

    def folder(self, name: str) -> Path:
        """A folder of this name for what servers, tools and long answers want to be written; made if need be.

        Raises:
            UnsafeIndex: a link or another user's folder is there.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        plain_files.make_folder(self.path)
        return plain_files.make_folder(self.path / name)

    def current(self) -> Path | None:
        """The published generation's database, or None; whoever made it.

        Between a look at the pointer and one at what it names, others may publish twice and remove it: then the pointer names another.
        """
        seen: bytes | None = None
        while (content := plain_files.read(self._pointer, 100)) is not None and content != seen:
            seen = content
            path = self._named_by(content)
            if path is not None:
                return path
        return None

    def _named_by(self, content: bytes) -> Path | None:
        """The database that this content of the pointer names, if that is one of ours."""
        name = content.decode("ascii", "replace").strip()
        if not _GENERATION.fullmatch(name) or self._is_elsewhere():
            return None
        path = self.databases / name
        try:
            found = os.lstat(path)
        except OSError:
            return None
        return path if stat.S_ISREG(found.st_mode) and not plain_files.fault(found) else None

    def _is_elsewhere(self) -> bool:
        return any(plain_files.fault_of(folder, folder=True) for folder in (self.path, self.databases))

    def own(self) -> Path | None:
        """The published generation's database, if this user made or imported it."""
        path = self.current()
        if path is None:
            return None
        from indexer.store.proof import unproven

        return None if unproven(path) else path

    def check_pointer(self) -> None:
        """Raises Damaged where an index was published and cannot be found: `CURRENT` leads nowhere, or is not there beside databases.

        A first index whose publication has not come to its end is none yet. Looked at in the reverse of the order in which `publish` goes:
        whoever sees the database sees its mark, or the pointer that comes before the mark goes; and what was published meanwhile is found.
        """
        has_databases = any(self.databases.glob("gen-*.duckdb"))
        is_under_way = os.path.lexists(self._unpublished)
        is_there = os.path.lexists(self._pointer)
        content = plain_files.read(self._pointer, 100)
        if self.current() is not None:
            return
        if is_there:
            raise Damaged(self._pointer, "it cannot be read" if content is None else self._why_it_leads_nowhere(content))
        if has_databases and not is_under_way:
            raise Damaged(self._pointer, GONE)

    def _why_it_leads_nowhere(self, content: bytes) -> str:
        name = content.decode("ascii", "replace").strip()
        if not _GENERATION.fullmatch(name):
            return "it names no index" if name else "it is empty"
        place = self.databases / name
        return f"'{name}', which it names, is {plain_files.fault_of(place, folder=False) or 'not there'}"

    def manifest(self) -> dict[str, Any]:
        """What the published generation covers and what made it; empty where there is none that can be read."""
        generation = self.current()
        try:
            found = json.loads(plain_files.read(generation.with_suffix(".json")) or b"") if generation else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def flags(self) -> dict[str, Any]:
        """Settings that this user gave as flags when the index was made; none where that is damaged, or came with the repository."""
        try:
            return self.checked_flags()
        except Damaged:
            return {}

    def checked_flags(self) -> dict[str, Any]:
        """The same. Raises Damaged where it is not what was written."""
        if not os.path.lexists(self._flags):  # a question asks for none of it
            return {}
        from indexer.store import proof

        content = proof.read("flags", self._flags)
        if content is None:
            return {}
        found = json.loads(content)
        if not isinstance(found, dict):
            raise Damaged(self._flags, "it is another file")
        return found

    def remember(self, flags: Mapping[str, Any]) -> None:
        """Keeps settings for the next run. Holds the lock."""
        from indexer.store import proof

        text = json.dumps(flags, indent=1, sort_keys=True)
        is_kept = self._flags.is_file() and not proof.is_strange("flags", self._flags)
        if not is_kept or json.loads(text) != self.flags():  # a tuple is a list there
            plain_files.write_whole(self._flags, proof.written("flags", text.encode()))

    def foreign(self) -> list[str]:
        """What lies here, was not made by this user and is not believed, as a user knows it. Holds the lock."""
        from indexer.store import proof
        from indexer.store.states import States

        current = self.current()
        found = {
            "the index": current is not None and proof.is_foreign(current),
            "flags.json": proof.is_strange("flags", self._flags),
            "states": States(self).has_foreign(),
            "an unfinished crawl": self.crawls.is_dir() and any(not proof.is_marked(place, "crawl") for place in self._begun_crawls()),
        }
        return [name for name, is_foreign in found.items() if is_foreign]

    def _begun_crawls(self) -> list[Path]:
        return [place for place in self.crawls.iterdir() if place.is_dir()]

    def require(self) -> Path:
        """The published generation's database.

        Raises:
            NoIndex: nothing is published; the message says what to run. UnsafeIndex: see `find_home`.
        """
        _refuse_elsewhere(self)
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
            Locked: another process is making an index here. UnsafeIndex: the folder is not one that lspidx would have made.
        """
        import portalocker

        self.create()
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(self.path / "lock", flags, 0o666), "rb+", buffering=0) as file:
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
        """Makes `built` the current generation: sync, rename, switch the pointer, sync the folder. Holds the lock.

        Until there is a pointer, a mark says that a database without one is no damage: who asks meanwhile, or after a kill, has no index.
        """
        from indexer.store import proof

        if not os.path.lexists(self._pointer):
            plain_files.write_whole(self._unpublished, b"")
        target = self.databases / f"gen-{number}.duckdb"
        _sync(built)
        plain_files.write_whole(target.with_suffix(".json"), manifest, sync=True)
        os.rename(built, target)
        proof.prove(target)
        plain_files.write_whole(self._pointer, target.name.encode() + b"\n", sync=True)
        _sync(self.path)
        self._unpublished.unlink(missing_ok=True)
        return target

    def clean(self, *, has_ended: bool = True) -> None:
        """Removes leftovers of killed runs and old generations. Holds the lock.

        Args:
            has_ended: what was crawled is all in the index, so what crawls have found is removed too.
        """
        self._remove_leftovers()
        names = {file.with_suffix(ending).name for file in self._kept() for ending in (".duckdb", ".json", ".proof")}
        plain_files.remove_files(self.databases, re.compile(r"gen-\d+\.(duckdb|duckdb\.wal|json|proof)"), keep=names)
        if has_ended:
            plain_files.remove_folders(self.crawls, _RECIPE)
            plain_files.remove_files(self.crawls, re.compile(r"empty\.parquet"))
            with contextlib.suppress(OSError):  # something is in it that is not ours
                self.crawls.rmdir()
        plain_files.remove_files(self.shards, re.compile(r"tmp-.*"))
        for folder in (self.path, self.states):
            plain_files.remove_files(folder, plain_files.LEFTOVER)

    def generations(self) -> list[Path]:
        """Databases that were published and are here, whoever made them: the published one, then by time, the newest first."""
        current = self.current()
        found: list[tuple[bool, int, Path]] = []
        for file in self.databases.glob("gen-*.duckdb"):
            with contextlib.suppress(OSError):
                found.append((file == current, file.lstat().st_mtime_ns, file))
        return [file for _, _, file in sorted(found, reverse=True)]

    def _kept(self) -> list[Path]:
        """What `clean` leaves of the generations: of those beyond the newest first some of committed trees, to which one goes back."""
        files = self.generations()
        said = {file: said_of(file) for file in files}
        rest = files[_KEEP:]
        committed = [file for file in rest if said[file].is_committed][:_KEEP_COMMITTED]
        kept, seen = files[:_KEEP], {said[file].facts for file in files[:_KEEP]} | {""}
        bytes_left, oldest = _KEEP_BYTES, time.time() - _KEEP_S
        for file in [*committed, *(file for file in rest if file not in committed)]:
            status = file.lstat()
            facts = said[file].facts if status.st_mtime > oldest else ""
            if facts not in seen and status.st_size <= bytes_left and len(kept) < _KEEP + _KEEP_MORE:
                bytes_left -= status.st_size
                seen.add(facts)
                kept.append(file)
        return kept

    def recipes(self) -> set[str]:
        """Of the trees whose generations are here, by their manifests' word."""
        return {said_of(file).recipe for file in self.generations()} - {""}

    def _remove_leftovers(self) -> None:
        for remove in (plain_files.remove_files, plain_files.remove_folders):
            remove(self.databases, re.compile(r"tmp-.*"))
        plain_files.remove_files(self.databases, plain_files.LEFTOVER)


class _Said(NamedTuple):
    """What the manifest of a generation says; nothing where it cannot be read. Good enough to choose what to keep, no proof of anything."""

    facts: str = ""
    recipe: str = ""
    is_committed: bool = False


def said_of(generation: Path) -> _Said:
    try:
        found = json.loads(plain_files.read(generation.with_suffix(".json")) or b"{}")
    except (ValueError, RecursionError):
        return _Said()
    if not isinstance(found, dict):
        return _Said()
    is_committed = bool(found.get("commit")) and found.get("dirty") is False
    return _Said(str(found.get("facts", "")), str(found.get("recipe", "")), is_committed)


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


def _refusal(place: Path, wrong: str, folder: Path | None = None) -> str:
    """`folder`: the `.lspidx` that `place` lies in, if it is not that itself."""
    remove = f"remove '{folder}', or run lspidx as the user who owns it" if folder else "remove it, or run lspidx as the user who owns it"
    return f"'{one_line(str(place))}' is {wrong}, and lspidx makes nothing of that kind: nothing was read or written there; {remove}"


def _refuse_elsewhere(home: Home) -> None:
    """Raises UnsafeIndex where an index seems to be published that would be read through a link, or is another user's."""
    if not os.path.lexists(home.path / "CURRENT"):
        return
    for place in (home.path, home.databases, home.path / "CURRENT"):
        wrong = plain_files.fault_of(place)
        if wrong:
            raise UnsafeIndex(_refusal(place, wrong, None if place == home.path else home.path))


def find_home(start: Path) -> Home:
    """The index around `start`: the nearest folder upwards that has one.

    Raises:
        NoIndex: there is none up to the file system's root. Damaged: the nearest one is there in parts only.
        UnsafeIndex: what is nearest is a link, or another user's.
    """
    for folder in (start, *start.parents):
        home = Home(folder)
        _refuse_elsewhere(home)
        if home.current() is not None:
            return home
        home.check_pointer()  # else the index of a folder further up would answer in its place
        if home.current() is not None:  # it was published meanwhile
            return home
    begun = next((home for folder in (start, *start.parents) if (home := Home(folder)).begun() is not None), None)
    if begun is not None:
        raise NoIndex(f"no index in '{begun.root}' yet; {remedy(begun.root)}")
    committed = next((folder for folder in (start, *start.parents) if (folder / "cache-artifacts" / "manifest.json").is_file()), None)
    taken = f", or to take the one that is committed: lspidx cache import {committed / 'cache-artifacts'}" if committed else ""
    raise NoIndex(f"no index in '{start}' or above it; to make one: lspidx index{taken}")
