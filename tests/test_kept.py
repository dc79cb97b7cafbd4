"""A worker that stays between crawls finds what a new one finds, is replaced where it might not, and ends with its process (ADR 0077)."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import commands
import kept_trees
import psutil
import pytest
from cache_support import clone, tables
from support import Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl import kept as kept_module
from indexer.crawl import process
from indexer.crawl.kept import Basis, Kept
from indexer.crawl.process import WORKER
from indexer.crawl.run import Crawl, crawl
from indexer.store.generations import Home
from query.facts.index import open_index
from query.surface.service import Service
from query.upkeep.recrawl import Stay

EDITS = int(os.environ.get("LSPIDX_KEPT_EDITS", "5"))
"""Of each language; a line for each is printed, with `pytest -s`."""

SEED = int(os.environ.get("LSPIDX_KEPT_SEED", "1"))

pytestmark = pytest.mark.usefixtures("started_workers")  # they are found by their command line


GOES_ON: dict[str, set[str]] = {"python": {"ahead"}, "go": {"stays"}, "typescript": set()}
"""What becomes of the server of each language; that of TypeScript is a new one each time, for it reads what is below node_modules."""


@pytest.fixture
def kept() -> Iterator[Kept]:
    made = Kept(600.0)
    yield made
    made.close()


def _crawl(root: Path, kept: Kept, **settings: object) -> Crawl:
    return crawl(root, Config(**settings), Watcher(), environment={}, kept=kept)  # type: ignore[arg-type]


def _replace_tree(root: Path, files: dict[str, str]) -> None:
    """Writes what differs, as an editor does; what is not among the files goes."""
    for file in [file for file in root.rglob("*") if file.is_file() and ".lspidx" not in file.parts]:
        if file.relative_to(root).as_posix() not in files:
            file.unlink()
            if not any(file.parent.iterdir()):
                file.parent.rmdir()
    write_tree(root, {path: text for path, text in files.items() if not (root / path).exists() or (root / path).read_text("utf-8") != text})


def _assert_as_from_nothing(root: Path, beside: Path) -> None:
    shutil.rmtree(beside, ignore_errors=True)
    clean = clone(root, beside / root.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "subprocess", commands.Modules)  # nobody looks for this worker
        crawl_with_ty(clean)
    assert tables(root) == tables(clean)


@pytest.mark.parametrize("language", sorted(kept_trees.LANGUAGES))
def test_random_edits_are_found_as_by_a_new_worker(language: str, kept: Kept, tmp_path: Path) -> None:
    """Row for row what a crawl of everything finds; of five kinds, one or two at a time, some of them undone by the next."""
    chance = random.Random(f"{language} {SEED}")
    write = kept_trees.LANGUAGES[language]
    made = kept_trees.package(chance)
    root = write_tree(tmp_path / "work", write(made))
    _crawl(root, kept)
    worker = kept.pid
    assert worker
    servers, told = _below(worker), 0
    for number in range(EDITS):
        kinds = [kept_trees.KINDS[number % 5], *([chance.choice(kept_trees.KINDS)] if chance.random() < 0.3 else [])]
        before = write(made)
        for kind in kinds:
            kept_trees.edit(made, kind, chance, number)
        files = write(made)
        if chance.random() < 0.2:  # it is looked at, and changed once more
            _replace_tree(root, files)
            _crawl(root, kept)
            files = {**files, **{path: text for path, text in before.items() if path in files}}
        _replace_tree(root, files)
        done = _crawl(root, kept)
        assert set(done.manifest["went_on"].values()) <= GOES_ON[language]
        told += bool(done.manifest["went_on"])
        print(f"{language} {number} {'+'.join(kinds)}: crawled {done.manifest['crawled']} of {done.manifest['counts']['documents']}")
        _assert_as_from_nothing(root, tmp_path / "clean")
    assert kept.pid == worker
    assert told > EDITS // 2 or not GOES_ON[language]
    if language == "go":
        assert _below(worker) == servers


PACKAGES = {
    "typescript": (
        {
            "package.json": '{"name": "p"}',
            "tsconfig.json": "{}",
            "a.ts": 'import { Dep } from "dep"\nexport const use = (d: Dep) => d.go()\n',
        },
        {
            "node_modules/dep/package.json": '{"name": "dep", "version": "1.0.0", "types": "index.d.ts"}',
            "node_modules/dep/index.d.ts": "export class Dep { go(): number }\n",
        },
        {"node_modules/dep/index.d.ts": "export class Base { go(): string }\nexport class Dep extends Base { other(): number }\n"},
    ),
    "python": (
        {"a.py": "from dep import Dep\n\n\ndef use(d: Dep):\n    return d.go()\n", ".venv/pyvenv.cfg": "version = 3.11\n"},
        {".venv/lib/python3.11/site-packages/dep.py": "class Dep:\n    def go(self):\n        return 1\n"},
        {".venv/lib/python3.11/site-packages/dep.py": "class Base:\n    def go(self):\n        return 1\n\n\nclass Dep(Base):\n    pass\n"},
    ),
}
"""A tree, a package that comes below it, and the same package with other texts and the same version."""


@pytest.mark.parametrize("language", sorted(PACKAGES))
def test_a_package_that_comes_or_changes_without_a_word_is_read_as_by_a_new_server(language: str, kept: Kept, tmp_path: Path) -> None:
    """Nobody tells of it, and the same is crawled; what is asked about then is answered from what is there."""
    files, package, changed = PACKAGES[language]
    [source] = [path for path in files if path.startswith("a.")]
    end = "// {}\n" if language == "typescript" else "# {}\n"
    root = write_tree(tmp_path / "work", files)
    _crawl(root, kept)
    for number, beside in enumerate([package, changed]):
        write_tree(root, {**beside, source: files[source] + end.format(number)})
        done = _crawl(root, kept)
        assert done.manifest["crawled"]
        _assert_as_from_nothing(root, tmp_path / "clean")


def _below(pid: int) -> set[int]:
    return {child.pid for child in psutil.Process(pid).children(recursive=True)}


FILES = {
    "app/__init__.py": "",
    "app/core.py": "import os\n\n\ndef core(x: int) -> int:\n    return x\n\n\nprint(os.sep)\n",
    "app/use.py": "from app.core import core\n\n\ndef use() -> int:\n    return core(1)\n",
    "app/typed.py": "import types\nfrom types import ModuleType\n\nprint(types, ModuleType('a').__name__, len('a'))\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", FILES)


def _edit(root: Path, number: int) -> None:
    write_tree(root, {"app/core.py": FILES["app/core.py"] + f"\n\ndef more() -> int:\n    return core({number})\n"})


def _log(root: Path) -> str:
    return Home(root).log_file.read_text(encoding="utf-8")


def test_a_file_that_takes_the_place_of_a_module_of_the_library_is_seen(root: Path, kept: Kept, tmp_path: Path) -> None:
    """Also by a server that was started before it was there, and asked about builtins; and again when it goes."""
    _crawl(root, kept)
    for files in ({"types.py": "class ModuleType:\n    pass\n"}, {"builtins.py": "def len(x): return x\n"}, {"app/os.py": ""}):
        write_tree(root, files)
        _crawl(root, kept)
        _assert_as_from_nothing(root, tmp_path / "clean")
        for path in files:
            (root / path).unlink()
        _edit(root, len(str(files)))
        _crawl(root, kept)
        _assert_as_from_nothing(root, tmp_path / "clean")


_THEN_NS = 1_700_000_000_000_000_000
BACKDATED = {
    "python": (
        {"core.py": "def node():\n    return 1\n", "use.py": "from core import node\n\nnode()\n", "more.py": "import core\n"},
        *("core.py", "use.py"),
    ),
    "go": (
        {
            "go.mod": "module x\n\ngo 1.21\n",
            "core/core.go": "package core\n\ntype Box struct{}\n\nfunc (Box) node() int { return 1 }\n",
            "core/use.go": "package core\n\nfunc Use() int { return Box{}.node() }\n",
        },
        *("core/core.go", "core/use.go"),
    ),
}
"""By language the files, which of them is written and keeps its time, and which one names what is gone then."""


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(BACKDATED))
def test_a_file_that_is_written_and_keeps_its_time_is_read_as_by_a_new_server(language: str, kept: Kept, tmp_path: Path) -> None:
    """Else a use would lead by its place to what has come there in place of what it names."""
    if language == "go":
        requires("gopls")
    files, changed, naming = BACKDATED[language]
    root = write_tree(tmp_path / "work", files)
    for path in files:
        os.utime(root / path, ns=(_THEN_NS, _THEN_NS))
    _crawl(root, kept)
    _await(lambda: bool(_below(kept.pid)))  # the server that is started ahead
    write_tree(root, {changed: files[changed].replace("node", "nody"), naming: files[naming] + "\n"})
    os.utime(root / changed, ns=(_THEN_NS, _THEN_NS))
    _crawl(root, kept)
    _assert_as_from_nothing(root, tmp_path / "clean")
    with open_index(root) as index:
        assert ("node",) in index.rows("SELECT name FROM unresolved_name")


@pytest.mark.parametrize("which", ["worker", "server"])
def test_one_that_has_died_meanwhile_is_replaced(which: str, root: Path, kept: Kept, tmp_path: Path) -> None:
    _crawl(root, kept)
    worker = kept.pid
    _await(lambda: bool(_below(worker)))  # the server that is started ahead
    victim = worker if which == "worker" else min(_below(worker))
    os.kill(victim, signal.SIGKILL)
    _await(lambda: not _runs(victim))
    _edit(root, 1)
    assert _crawl(root, kept).manifest["lost"] == {}
    assert (kept.pid != worker) == (which == "worker")
    _assert_as_from_nothing(root, tmp_path / "clean")


@pytest.mark.parametrize("which", ["worker", "server"])
def test_one_that_is_stopped_while_it_is_asked_is_replaced(which: str, root: Path, kept: Kept, tmp_path: Path) -> None:
    """It is killed in the midst of a crawl, as by a system that has no memory left."""
    _crawl(root, kept)
    worker = kept.pid
    _await(lambda: bool(_below(worker)))
    victim = worker if which == "worker" else min(_below(worker))
    os.kill(victim, signal.SIGSTOP)
    _edit(root, 2)
    killer = threading.Timer(1.0, os.kill, (victim, signal.SIGKILL))
    killer.start()
    try:
        assert _crawl(root, kept).manifest["lost"] == {}
    finally:
        killer.join()
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_other_settings_are_for_another_server(root: Path, kept: Kept, tmp_path: Path) -> None:
    """The process stays; a server that was started for other settings, another environment or other files around does not."""
    _crawl(root, kept)
    for number, change in enumerate(
        (
            lambda: _crawl(root, kept, source_roots=("app",)),
            lambda: _crawl(write_tree(root, {"pyproject.toml": "[tool.ty.environment]\npython-version = '3.9'\n"}), kept),
            lambda: _crawl(root, kept, server_memory_mb=500),
        )
    ):
        worker = kept.pid
        _await(lambda pid=worker: bool(_below(pid)))
        ahead = _below(worker)
        _edit(root, number + 10)
        change()
        assert "servers=\n" in _log(root).rpartition("kept worker goes on")[2]
        assert kept.pid == worker
        assert not ahead & _below(worker)
    _edit(root, 20)
    _crawl(root, kept)
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_folders_that_were_made_anew_are_for_another_server(root: Path, kept: Kept, tmp_path: Path) -> None:
    """What a fence lets a server see are the folders that were there when it was started, whatever lies at their paths by now."""
    _crawl(root, kept)
    worker = kept.pid
    _await(lambda: bool(_below(worker)))
    ahead = _below(worker)
    moved = root / ".lspidx/cache"
    moved.rename(root / ".lspidx/scratch/before")
    moved.mkdir()
    _edit(root, 1)
    assert _crawl(root, kept).manifest["went_on"] == {}
    assert not ahead & _below(worker)
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_it_is_replaced_after_many_crawls(root: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "_MOST_CRAWLS", 2)
    pids: list[int] = []
    for number in range(4):
        _edit(root, number)
        _crawl(root, kept)
        pids.append(kept.pid)
    assert pids[0] == pids[1] != pids[2] == pids[3]
    assert not _runs(pids[0])


def test_it_ends_when_nobody_crawls_for_long(root: Path) -> None:
    kept = Kept(0.2)
    try:
        _crawl(root, kept)
        worker = kept.pid
        _await(lambda: not worker or not _runs(worker))
        assert kept.pid == 0
        _edit(root, 1)
        assert _crawl(root, kept).manifest["lost"] == {}
    finally:
        kept.close()


def test_it_ends_when_it_is_closed_also_while_it_crawls(root: Path) -> None:
    """Then it ends with its crawl, which comes to its end."""
    kept = Kept(600.0)
    watcher = Watcher(on_phase=lambda name: kept.close() if name == "merge" else None)
    assert crawl(root, Config(), watcher, environment={}, kept=kept).manifest["lost"] == {}
    assert kept.pid == 0
    _edit(root, 1)
    assert _crawl(root, kept).manifest["lost"] == {}
    assert kept.pid == 0
    assert not _workers()


def test_a_crawl_that_is_cut_off_leaves_none(root: Path, kept: Kept) -> None:
    class Ended(Exception):
        pass

    def end(name: str) -> None:
        if name == "merge":
            raise Ended

    _crawl(root, kept)
    worker = kept.pid
    _edit(root, 1)
    with pytest.raises(Ended):
        crawl(root, Config(), Watcher(on_phase=end), environment={}, kept=kept)
    assert kept.pid == 0
    assert not _runs(worker)
    assert _crawl(root, kept).manifest["lost"] == {}


_CHILD = """
import sys, time
from pathlib import Path
from indexer.config import Config
from indexer.crawl.kept import Kept
from indexer.crawl.run import crawl
sys.path.insert(0, sys.argv[2])
from support import Watcher
import threading
kept = Kept(600.0)
one = threading.Thread(target=lambda: crawl(Path(sys.argv[1]), Config(), Watcher(), environment={}, kept=kept))
one.start()
one.join()  # the worker outlives the thread that crawled
print(kept.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_its_process_however_that_ends(sent: int, root: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _CHILD, str(root), str(Path(__file__).parent)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        _await(lambda: bool(_below(worker)))
        every = [worker, *_below(worker)]
        assert all(_runs(pid) for pid in every)
        process.send_signal(sent)
        process.wait()
        _await(lambda: not any(_runs(pid) for pid in every))
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def test_a_service_that_keeps_its_index_fresh_has_one(root: Path) -> None:
    """Its answers are of the files as they are; without refreshes of its own, or by the setting, it has none."""
    crawl_with_ty(root)
    service = Service(root, keeps_fresh=True)
    try:
        callers: list[int] = []
        for number in range(3):
            _edit(root, number)
            callers.append(service.ask("find_callers", {"symbol": "core"}).total)
        assert callers == [2, 2, 2]
        found = _workers()
        assert len(found) == 1
    finally:
        service.close()
    assert not _runs(found[0])
    write_tree(root, {"lspidx.toml": ""})
    assert Stay().of(root, Config(worker_idle_s=0.0)) is None


def test_what_has_become_of_documents_is_told_as_it_is() -> None:
    """A text that was another one in between has another time of change, though it is the same again."""
    before = Basis(documents={"a": "1 at 1", "b": "1 at 1", "c": "1 at 1"})
    after = Basis(documents={"a": "1 at 1", "b": "1 at 2", "d": "1 at 1"})
    assert kept_module.changed(before, after) == {"b": 2, "c": 3, "d": 1}


def _workers() -> list[int]:
    """Pids of workers that this process has started and that run."""
    found: list[int] = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # it has ended
            found += [child.pid] if WORKER in child.cmdline() else []
    return found


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _await(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.02)
