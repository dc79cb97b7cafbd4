"""What may happen to a command on its way: `kill -9`, a full disk, a folder that is read-only, another command at the same moment.

Whatever it is, who asks meanwhile and afterwards is answered from the old index or from the new one, the same command run again ends the
work, and nothing half is left. `pytest tests/test_interruptions.py --kills 100` kills each command a hundred times and prints the counts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import commands
import psutil
import pytest
from cache_support import bring, clone, contents, export, state, tables
from conftest import KILLS
from query_support import FILES, LSPIDX, json_of, lspidx, plain_environment
from support import DIES_AT, TELLS_STEPS, Watcher, crawl_with_ty, dies_before, kind_of_step, rows, write_tree

from indexer.cache import exchange
from indexer.cache.exchange import FOLDER, push
from indexer.cache.remote import Remote
from indexer.errors import CacheRefused, Locked, NoIndex
from indexer.store.generations import Home, find_home
from indexer.store.lint import lint
from query.facts.index import open_index

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_readers")]
pytest_plugins = ["query_fixtures"]

Tables = dict[str, list[tuple[Any, ...]]]
ENVIRONMENT = {"PATH": os.environ["PATH"]}
"""Of every command; see `sides`."""

CHANGED = {**FILES, "shop/extra.py": "from shop.service import run\n\n\ndef more() -> None:\n    run(1)\n    more()\n"}


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Two states of one tree, and of each its work tree, what its index says, and its artifact in three forms."""

    roots: tuple[Path, Path]
    tables: tuple[Tables, Tables]
    tars: tuple[Path, Path]
    folders: tuple[Path, Path]
    stores: tuple[Path, Path]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Sides:
    # ty unpacks its stubs into the user's cache and believes what is there ever after: they are whole before anything is cut short
    ENVIRONMENT["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    assert _run("index", cwd=write_tree(tmp_path_factory.mktemp("first") / "shop", FILES)).returncode == 0
    made: list[tuple[Path, Tables, Path, Path, Path]] = []
    for number, files in enumerate((FILES, CHANGED)):
        place = tmp_path_factory.mktemp(f"side{number}")
        root = write_tree(place / "shop", files)
        crawl_with_ty(root, jobs=1)
        with open_index(root) as index:
            push(index.home, index.rows, Remote(str(place / "store")))
        folder = export(root, place / "artifact", profile="git")
        made.append((root, tables(root), export(root, place / "index.tar"), folder, place / "store"))
    roots, found, tars, folders, stores = zip(*made, strict=True)
    assert found[0] != found[1]
    return Sides(roots=roots, tables=found, tars=tars, folders=folders, stores=stores)


@pytest.fixture
def work(sides: Sides, tmp_path: Path) -> Path:
    """A work tree in its second state, with the index of its first."""
    root = clone(sides.roots[1], tmp_path / "shop")
    bring(sides.tars[0], root)
    return root


def _side(root: Path, sides: Sides) -> str:
    """Whose index this is; it is somebody's, and well-formed. A database of the same bytes is looked at once."""
    with open_index(root):
        digest = hashlib.sha256(Home(root).require().read_bytes()).digest()
    if digest not in _KNOWN:
        _KNOWN[digest] = _side_of(root, sides)
    return _KNOWN[digest]


_KNOWN: dict[bytes, str] = {}


def _side_of(root: Path, sides: Sides) -> str:
    found = tables(root)
    with open_index(root) as index:
        assert lint(index.rows) == []
    assert found in sides.tables, [
        (name, [row for row in rows if row not in new[name]][:3], [row for row in new[name] if row not in rows][:3])
        for new in (sides.tables[1],)
        for name, rows in found.items()
        if rows != new[name]
    ]
    return ("old", "new")[sides.tables.index(found)]


def _run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return lspidx(*arguments, cwd=cwd, env=ENVIRONMENT)


# ---- kill -9


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A command. reset: makes everything as it was before. survived: looks at what is there after a kill, and says what that is.
    done: looks at what is there after the command was run to its end.
    """

    command: tuple[str, ...]
    reset: Callable[[], None]
    survived: Callable[[], str]
    done: Callable[[], None]


def _on_index(command: tuple[str, ...], work: Path, sides: Sides, tmp_path: Path) -> Victim:
    """One that makes the second index in place of the first."""
    kept = shutil.copytree(work / ".lspidx", tmp_path / "kept", symlinks=True)

    def reset() -> None:
        shutil.rmtree(work / ".lspidx")
        shutil.copytree(kept, work / ".lspidx", symlinks=True)

    def done() -> None:
        assert _side(work, sides) == "new"
        # who was killed with all done but removing empty folders leaves that to the next who makes an index
        left = [*(work / ".lspidx/db").glob("tmp-*"), *(work / ".lspidx/db").glob("tmp-*/**/*")]
        assert [path for path in left if path.is_file()] == []
        assert not [path for path in (work / ".lspidx").glob("exchange/*") if path.is_dir()]

    return Victim(command=command, reset=reset, survived=lambda: _side(work, sides), done=done)


def _index(work: Path, sides: Sides, tmp_path: Path) -> Victim:
    return _on_index(("index", "-q", "--jobs", "2"), work, sides, tmp_path)


def _first_index(work: Path, sides: Sides, tmp_path: Path) -> Victim:
    """One that makes an index where there is none: a kill publishes nothing, not even a part."""

    def survived() -> str:
        if Home(work).current() is not None:
            return _side(work, sides)
        with pytest.raises(NoIndex):
            find_home(work)
        return "none"

    made = _on_index(("index", "-q", "--jobs", "2"), work, sides, tmp_path)
    return Victim(
        command=made.command, reset=lambda: shutil.rmtree(work / ".lspidx", ignore_errors=True), survived=survived, done=made.done
    )


def _import(work: Path, sides: Sides, tmp_path: Path) -> Victim:
    return _on_index(("cache", "import", str(sides.folders[1])), work, sides, tmp_path)


def _pull(work: Path, sides: Sides, tmp_path: Path) -> Victim:
    return _on_index(("cache", "pull", str(sides.stores[1])), work, sides, tmp_path)


def _gc(work: Path, sides: Sides, tmp_path: Path) -> Victim:
    """One that removes what earlier trees need: the present index and its facts stay, whatever else does."""
    assert _run("index", "-q", cwd=work).returncode == 0
    (work / ".lspidx/bases/0123/work").mkdir(parents=True)
    (work / ".lspidx/bases/0123/work/file").write_text("of an old side")
    made = _on_index(("cache", "gc"), work, sides, tmp_path)

    def survived() -> str:
        assert contents(export(work, tmp_path / "still.tar")) == contents(export(work, tmp_path / "still2.tar"))
        return _side(work, sides)

    def done() -> None:
        made.done()
        assert survived() == "new"
        assert not (work / ".lspidx/bases").exists()
        assert len(list(Home(work).states.glob("*.json"))) == 1

    return Victim(command=made.command, reset=made.reset, survived=survived, done=done)


def _export_file(work: Path, sides: Sides, tmp_path: Path) -> Victim:
    place = tmp_path / "out" / "index.tar"
    place.parent.mkdir()
    known = {file.read_bytes(): name for file, name in zip(sides.tars, ("old", "new"), strict=True)}
    bring(sides.tars[1], work)

    def reset() -> None:
        shutil.copyfile(sides.tars[0], place)

    def done() -> None:
        assert known[place.read_bytes()] == "new"

    return Victim(command=("cache", "export", str(place)), reset=reset, survived=lambda: known[place.read_bytes()], done=done)


def _export_folder(work: Path, sides: Sides, tmp_path: Path) -> Victim:
    """A folder to commit is changed in place: between two states of it an import refuses it."""
    place = tmp_path / "out"
    bring(sides.tars[1], work)
    there = [clone(root, tmp_path / f"there{number}") for number, root in enumerate(sides.roots)]
    wanted = [contents(folder) for folder in sides.folders]

    def reset() -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(sides.folders[0], place)

    def survived() -> str:
        found = {name: content for name, content in contents(place).items() if not name.startswith("tmp-")}
        if found in wanted:
            return ("old", "new")[wanted.index(found)]
        with pytest.raises(CacheRefused):
            bring(place, there[1])
        with pytest.raises(NoIndex):
            Home(there[1]).require()
        return "refused"

    def done() -> None:
        assert contents(place) == wanted[1]

    return Victim(command=("cache", "export", str(place)), reset=reset, survived=survived, done=done)


def _push(work: Path, sides: Sides, tmp_path: Path) -> Victim:
    place, scratch = tmp_path / "store", tmp_path / "scratch"
    scratch.mkdir()
    bring(sides.tars[1], work)

    def latest() -> exchange.Pointer:
        remote = Remote(str(place))
        pointer = exchange._pointer(remote, exchange.LATEST, scratch)
        assert pointer is not None
        assert remote.fetch(f"{FOLDER}/artifacts/{pointer.artifact}", scratch / "index.tar", 1 << 30) == pointer.sha256
        return pointer

    def reset() -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(sides.stores[0], place)

    old = (sides.stores[0] / FOLDER / "latest.json").read_bytes()

    def done() -> None:
        assert latest().to_json() == (sides.stores[1] / FOLDER / "latest.json").read_bytes()
        assert not [path for path in (work / ".lspidx").glob("exchange/*") if path.is_dir()]

    return Victim(
        command=("cache", "push", str(place)), reset=reset, survived=lambda: "old" if latest().to_json() == old else "new", done=done
    )


VICTIMS = {
    "index": _index,
    "first index": _first_index,
    "export, file": _export_file,
    "export, folder": _export_folder,
    "import": _import,
    "push": _push,
    "pull": _pull,
    "gc": _gc,
}


@pytest.mark.parametrize("name", VICTIMS)
def test_a_command_is_killed_at_random_moments(name: str, work: Path, sides: Sides, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Somewhere in the last four fifths of the time that it took when nobody interfered; the first fifth is Python starting."""
    victim = VICTIMS[name](work, sides, tmp_path)
    victim.reset()
    began = time.monotonic()
    assert _kill(victim.command, work, 60) == 0
    usual_s = time.monotonic() - began
    victim.done()
    counts: Counter[str] = Counter(killed=0, ended=0)
    wanted = pytestconfig.getoption("--kills") or 1
    while counts["killed"] < wanted:
        assert counts["ended"] < 10 * wanted + 50, "it is never killed in time"
        victim.reset()
        began = time.monotonic()
        status = _kill(victim.command, work, random.uniform(usual_s / 5, usual_s))
        if status != -signal.SIGKILL:  # the first run may have been a slow one, of a busy machine or a cold disk
            usual_s = min(usual_s, time.monotonic() - began)
        counts["killed" if status == -signal.SIGKILL else "ended"] += 1
        counts[f"{victim.survived()} afterwards"] += 1
        again = _run(*victim.command, cwd=work)
        assert again.returncode == 0, again.stderr
        victim.done()
    pytestconfig.stash[KILLS][name] = dict(counts)


@pytest.mark.parametrize("name", VICTIMS)
def test_a_command_dies_just_before_each_step_on_the_disk(
    name: str, work: Path, sides: Sides, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Random moments seldom meet a publication; these meet all of it. Without --kills, of many steps one of each kind is met."""
    victim = VICTIMS[name](work, sides, tmp_path)
    counts: Counter[str] = Counter(killed=0)
    wants_all = bool(pytestconfig.getoption("--kills"))
    steps = [] if wants_all else _steps(victim, work, tmp_path / "steps")
    if len(steps) > _FEW:
        _kills_in_a_row(victim, work, Counter(filter(None, map(kind_of_step, steps))), counts)
    else:
        _kills_apart(victim, work, len(steps) or 1_000, counts)
    assert counts["killed"] >= 2
    if wants_all:
        assert counts["new afterwards"] or name.startswith("export")
    pytestconfig.stash[KILLS][f"{name}, steps"] = dict(counts)


_FEW = 12


def _steps(victim: Victim, work: Path, said: Path) -> list[str]:
    """What a command does to the disk: the name of each step and the paths."""
    victim.reset()
    done = _begun_with(TELLS_STEPS.format(file=str(said)), victim, work)
    assert done.returncode == 0, done.stderr
    victim.done()
    return said.read_text(encoding="utf-8").splitlines()


def _kills_apart(victim: Victim, work: Path, most: int, counts: Counter[str]) -> None:
    """One before each step, and after each the same command ends the work."""
    for step in range(1, most + 1):
        victim.reset()
        process = _begun_with(DIES_AT.format(step=step), victim, work)
        if process.returncode == 0:
            return
        _survives(process, victim, counts)
        again = _run(*victim.command, cwd=work)
        assert again.returncode == 0, again.stderr
        victim.done()
    assert most < 1_000, "it never comes to its end"


def _kills_in_a_row(victim: Victim, work: Path, kinds: Mapping[str, int], counts: Counter[str]) -> None:
    """One before the last step of each kind: the next run goes on from what the last one has left, until it is killed in its turn, or has
    ended the work; then all begins anew.

    Args:
        kinds: in the order in which they come, and how many steps of each an undisturbed run takes.
    """
    victim.reset()
    for kind, times in kinds.items():
        process = _begun_with(dies_before(kind, times), victim, work)
        if process.returncode == 0:  # what was left has spared it such a step
            victim.done()
            victim.reset()
            process = _begun_with(dies_before(kind, times), victim, work)
        _survives(process, victim, counts)
    again = _run(*victim.command, cwd=work)
    assert again.returncode == 0, again.stderr
    victim.done()


def _begun_with(first: str, victim: Victim, work: Path) -> subprocess.CompletedProcess[str]:
    return commands.run(victim.command, cwd=work, env=plain_environment(work, ENVIRONMENT), first=first)


def _survives(process: subprocess.CompletedProcess[str], victim: Victim, counts: Counter[str]) -> None:
    assert process.returncode == -signal.SIGKILL, process.stderr
    counts["killed"] += 1
    counts[f"{victim.survived()} afterwards"] += 1


def _kill(command: tuple[str, ...], work: Path, after_s: float) -> int:
    """Starts it, kills it after that time, and waits for its processes to end; its status, which says whether it was still running."""
    environment = plain_environment(work, ENVIRONMENT)
    with subprocess.Popen(
        [str(LSPIDX), *command], cwd=work, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after_s)
        others: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            others = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        status = process.wait()
    _, alive = psutil.wait_procs(others, timeout=30)
    assert alive == []
    return status


def test_what_servers_can_do_is_asked_again_if_that_was_not_written_down(work: Path) -> None:
    """The record comes after the last shard; a run that ended in between has all facts and not that."""
    shutil.rmtree(work / ".lspidx")

    def interrupt(phase: str) -> None:
        if phase == "merge":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crawl_with_ty(work, watcher=Watcher(on_phase=interrupt))
    [record] = (work / ".lspidx/crawl").glob("*/servers.json")
    record.unlink()
    made = crawl_with_ty(work)
    assert made.manifest["requests"] > 0
    assert all(json.loads(text) for (text,) in rows(made.generation, "SELECT capabilities FROM servers WHERE name = 'ty'"))


# ---- disks


@contextlib.contextmanager
def _disk(place: Path, size_bytes: int) -> Iterator[None]:
    """A file system of its own at `place`; only the superuser may make one."""
    place.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "lspidx-test", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nobody may mount a file system here; see the tests with a limit on the size of files")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def _fill(folder: Path, left_bytes: int) -> Path:
    """A file that leaves so much room."""
    free = shutil.disk_usage(folder).free
    (folder / "ballast").write_bytes(bytes(max(0, free - left_bytes)))
    assert shutil.disk_usage(folder).free <= left_bytes + 8_192
    return folder / "ballast"


COMMANDS = {
    "index": lambda sides: ("index", "-q"),
    "import": lambda sides: ("cache", "import", str(sides.tars[1])),
    "pull": lambda sides: ("cache", "pull", str(sides.stores[1])),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk(name: str, sides: Sides, tmp_path: Path) -> None:
    """However much room there is: the command says so, and leaves as much as there was; the index is the old one; with room, it does its
    work.
    """
    root = clone(sides.roots[1], tmp_path / "shop")
    with _disk(root / ".lspidx", 64_000_000):
        bring(sides.tars[0], root)
        for left_kb in (300, 100, 50, 16, 0):  # the index has half a megabyte
            ballast = _fill(root / ".lspidx", left_kb * 1_000)
            full = _run(*COMMANDS[name](sides), cwd=root)
            assert (full.returncode, "Traceback" in full.stderr) == (4, False), (left_kb, full.stderr)
            assert "No space left on device" in full.stderr, left_kb
            assert _side(root, sides) == "old", left_kb
            assert not list((root / ".lspidx/db").glob("tmp-*")), left_kb
            assert not [path for path in (root / ".lspidx").glob("exchange/*") if path.is_dir()], left_kb
            ballast.unlink()
        again = _run(*COMMANDS[name](sides), cwd=root)
        assert again.returncode == 0, again.stderr
        assert _side(root, sides) == "new"


@pytest.mark.parametrize("form", ["index.tar", "artifact", "store"])
def test_a_full_disk_where_an_index_is_to_go(form: str, sides: Sides, tmp_path: Path) -> None:
    """A file stays what it was; of a store every pointer leads to a whole artifact; and with room all is as it must be."""
    root = sides.roots[1]
    disk = tmp_path / "disk"
    command = ("cache", "push", str(disk / form)) if form == "store" else ("cache", "export", str(disk / form))
    with _disk(disk, 20_000_000):
        if form == "index.tar":
            shutil.copyfile(sides.tars[0], disk / form)
        else:
            shutil.copytree((sides.stores if form == "store" else sides.folders)[0], disk / form)
        before = contents(disk)
        ballast = _fill(disk, 8_000)
        full = _run(*command, "--json", cwd=root)
        assert full.returncode == 4, full.stderr
        assert "No space left on device" in json_of(full)["error"]["message"]
        ballast.unlink()
        if form != "artifact":
            assert contents(disk) == before
        assert _run(*command, cwd=root).returncode == 0
        if form == "store":
            assert (disk / form / FOLDER / "latest.json").read_bytes() == (sides.stores[1] / FOLDER / "latest.json").read_bytes()
        elif form == "index.tar":
            assert (disk / form).read_bytes() == sides.tars[1].read_bytes()
        else:
            assert contents(disk / form) == contents(sides.folders[1])


@pytest.mark.parametrize("name", COMMANDS)
def test_no_file_may_grow(name: str, work: Path, sides: Sides) -> None:
    """A limit on the size of files, which anybody may set: writing fails in the middle of a file as on a full disk, wherever that is."""
    for limit_kb in (1, 10, 100, 300):
        limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit_kb * 1_000}, {limit_kb * 1_000}))"
        done = commands.run(COMMANDS[name](sides), cwd=work, env=plain_environment(work, ENVIRONMENT), first=limited)
        assert done.returncode not in (0, 70, 1), (limit_kb, done.stderr)
        assert "Traceback" not in done.stderr, limit_kb
        assert _side(work, sides) == "old", limit_kb
        assert not list((work / ".lspidx/db").glob("tmp-*")), limit_kb
    again = _run(*COMMANDS[name](sides), cwd=work)
    assert again.returncode == 0, again.stderr
    assert _side(work, sides) == "new"


def test_a_disk_that_became_read_only(sides: Sides, tmp_path: Path) -> None:
    """Questions are answered, an export goes elsewhere; what would write says why it cannot."""
    root = clone(sides.roots[1], tmp_path / "shop")
    with _disk(root / ".lspidx", 64_000_000):
        bring(sides.tars[0], root)
        before = state(root)
        subprocess.run(["mount", "-o", "remount,ro", str(root / ".lspidx")], check=True)
        for name, command in COMMANDS.items():
            done = _run(*command(sides), cwd=root)
            assert (done.returncode, "Read-only file system" in done.stderr) == (4, True), (name, done.stderr)
            assert "Traceback" not in done.stderr
        assert json_of(_run("query", "callers", "shop.service.run", "--json", cwd=root))["result"]
        assert _run("cache", "export", str(tmp_path / "index.tar"), cwd=root).returncode == 0
        assert (tmp_path / "index.tar").read_bytes() == sides.tars[0].read_bytes()
        assert _run("cache", "push", str(tmp_path / "store"), cwd=root).returncode == 0
        assert state(root) == before
        assert _side(root, sides) == "old"


def test_a_work_tree_that_is_read_only(sides: Sides, tmp_path: Path) -> None:
    """There is no place for an index: each command says so."""
    with _disk(tmp_path / "disk", 10_000_000):
        root = clone(sides.roots[1], tmp_path / "disk" / "shop")
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
        for name, command in COMMANDS.items():
            done = _run(*command(sides), "--json" if name != "index" else "--full", cwd=root)
            assert done.returncode == 4, (name, done.stderr)
            assert "Read-only file system" in done.stderr + done.stdout
            assert "Traceback" not in done.stderr
        assert not (root / ".lspidx").exists()


# ---- others at the same moment


@pytest.mark.parametrize("pair", [("index", "index"), ("index", "import"), ("import", "pull"), ("pull", "pull")], ids="-".join)
def test_two_make_an_index_at_once(pair: tuple[str, str], work: Path, sides: Sides) -> None:
    """One of them does; the other does too, or says that somebody is at it."""
    running = [
        subprocess.Popen(
            [str(LSPIDX), *COMMANDS[name](sides)],
            cwd=work,
            env=plain_environment(work, ENVIRONMENT),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for name in pair
    ]
    said = [process.communicate(timeout=120)[1] for process in running]
    codes = [process.returncode for process in running]
    assert 0 in codes, said
    assert set(codes) <= {0, 4}, said
    assert all("another lspidx is indexing" in text for code, text in zip(codes, said, strict=True) if code)
    assert _side(work, sides) == "new"
    assert not list((work / ".lspidx/db").glob("tmp-*"))


def test_readers_while_indexes_come_and_go(work: Path, sides: Sides) -> None:
    """Each reads all of one index or all of the other, whenever it looks; and a reader keeps the one that it has opened."""
    ended = threading.Event()
    seen: Counter[str] = Counter()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            while not ended.wait(0.05):
                seen[_side(work, sides)] += 1
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    with open_index(work) as kept:
        before = kept.rows("SELECT * FROM occurrences ORDER BY ALL")
        for reader in readers:
            reader.start()
        for number in range(1, 7):
            bring(sides.tars[number % 2], work)
        ended.set()
        for reader in readers:
            reader.join()
        assert kept.rows("SELECT * FROM occurrences ORDER BY ALL") == before
    assert failures == []
    assert set(seen) == {"old", "new"}


def test_an_import_waits_for_nobody(work: Path, sides: Sides) -> None:
    before = state(work)
    with Home(work).locked():
        with pytest.raises(Locked):
            bring(sides.tars[1], work)
        done = _run("cache", "pull", str(sides.stores[1]), cwd=work)
        assert (done.returncode, "another lspidx is indexing" in done.stderr) == (4, True)
    assert {name: content for name, content in state(work).items() if name != "exchange/lock"} == before
    assert _side(work, sides) == "old"
