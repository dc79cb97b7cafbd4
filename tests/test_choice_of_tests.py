"""What a test finds on its machine, what is left out where something is missing, and what a quick run chooses."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import costs
import pytest
import toolchains
from support import write_tree

from ci import freshness
from ci import toolchains as brought
from indexer.servers.registry import find_executables, language_of, load_table, server_spec
from query.upkeep.artifacts import Exchanged

ROOT = Path(__file__).parent.parent


# ---- the door


def test_a_test_finds_no_toolchain_and_no_other_server_until_it_says_what_it_needs():
    assert [name for name in ("npm", "node", "go", "cargo", "java", "gopls", "clangd", "rust-analyzer") if shutil.which(name)] == []
    for name in ("gopls", "clangd", "ts7", "rust-analyzer", "bash-language-server"):
        assert list(find_executables(server_spec(name))) == [], name
    assert shutil.which("git")
    assert list(find_executables(server_spec("ty")))
    assert os.environ["PIP_NO_INDEX"] == "1"


def test_a_test_connects_to_nobody_elsewhere_until_it_says_so():
    with socket.socket() as other, pytest.raises(RuntimeError, match=r"has not said so: toolchains\.requires\('pypi'\)"):
        other.connect(("192.0.2.1", 9))


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[toolchains.Door]:
    """A door of a machine with a compiler of Go and one other program."""
    for name in ("go", "hello"):
        write_tree(tmp_path, {f"bin/{name}": "#!/bin/sh\n"})
        (tmp_path / "bin" / name).chmod(0o755)
    for name in ("PATH", "LSPIDX_SERVERS_DIR", "PIP_NO_INDEX"):
        monkeypatch.setenv(name, os.environ[name])  # as they are now again, when the test has ended
    whole = {"PATH": str(tmp_path / "bin"), "LSPIDX_SERVERS_DIR": str(tmp_path / "servers"), "PIP_NO_INDEX": None}
    made = toolchains.Door(is_quick=False, wants_all=False, whole=whole)
    yield made
    shutil.rmtree(made.folder)


def test_the_door_takes_toolchains_away_and_gives_them_back(door: toolchains.Door, tmp_path: Path):
    assert (shutil.which("go"), bool(shutil.which("hello"))) == (None, True)
    door.open()
    assert shutil.which("go") == str(tmp_path / "bin" / "go")
    assert (os.environ["LSPIDX_SERVERS_DIR"], os.environ.get("PIP_NO_INDEX")) == (str(tmp_path / "servers"), None)
    door.shut()
    assert shutil.which("go") is None


def test_what_a_test_has_set_itself_stays_when_the_door_opens(door: toolchains.Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", f"{tmp_path / 'mine'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", "mine")
    assert not door.is_untouched()
    door.open()
    assert os.environ["PATH"] == f"{tmp_path / 'mine'}{os.pathsep}{tmp_path / 'bin'}"
    assert os.environ["LSPIDX_SERVERS_DIR"] == "mine"


TESTS = """
import toolchains
from indexer.crawl.plan import choice

def test_one():
    toolchains.requires("jdtls")

def test_two():
    choice.find_server("jdtls")

def test_three():
    pass
"""


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (
            [],
            0,
            ["1 passed, 2 skipped", "left out: 2", "2 tests, because of jdtls: ", "    test_x.py::test_one", "    test_x.py::test_two"],
        ),
        (["--quick"], 0, ["1 passed, 2 skipped", "2 tests need a toolchain, a server other than ty, a download, or a crawl"]),
        (["--all-servers"], 1, ["1 passed", "2 failed", "left out: jdtls: "]),
        (["-n", "1"], 0, ["1 passed, 2 skipped", "2 tests, because of jdtls: "]),
    ],
    ids=["all that can be had", "quick", "all", "in another process"],
)
def test_tests_whose_server_cannot_be_had_are_left_out_by_name_or_fail(tmp_path: Path, flags: list[str], code: int, said: list[str]):
    write_tree(tmp_path, {"test_x.py": TESTS, "pytest.ini": "[pytest]\n"})
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", *flags, "test_x.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stdout + done.stderr
    for text in said:
        assert text in done.stdout


TESTS_OF_CRAWLS = """
import commands
import pytest
from query_support import plain_environment
from support import crawl_with_ty, write_tree

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    root = write_tree(tmp_path_factory.mktemp("shared"), {"a.py": "x = 1\\n"})
    crawl_with_ty(root, jobs=1)
    return root

@pytest.fixture
def own(tmp_path):
    return crawl_with_ty(write_tree(tmp_path, {"a.py": "x = 1\\n"}), jobs=1)

def test_of_what_several_share(shared):
    assert (shared / ".lspidx").is_dir()

def test_of_a_crawl(own):
    assert own.manifest["counts"]["documents"] == 1

def test_of_a_command(tmp_path):
    root = write_tree(tmp_path, {"a.py": "x = 1\\n"})
    assert commands.run(["index"], cwd=root, env=plain_environment(root, {})).returncode == 0

def test_of_a_server(tmp_path):
    assert commands.program()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "said"), [(["--quick"], "1 passed, 3 skipped"), ([], "4 passed")], ids=["quick", "all"])
def test_a_quick_run_leaves_out_what_starts_a_crawl_or_a_server_of_its_own(tmp_path: Path, flags: list[str], said: str):
    write_tree(tmp_path, {"test_x.py": TESTS_OF_CRAWLS, "pytest.ini": "[pytest]\n"})
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", *flags, "test_x.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, said in done.stdout) == (0, True), done.stdout + done.stderr


TESTS_OF_CARGO = """
import toolchains

def test_one(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    toolchains.requires("cargo")

def test_two():
    toolchains.requires("cargo")
"""

SHIM = """#!/bin/sh
test -f "$HOME/.rustup/settings.toml" && echo "cargo 1.2.3" && exit 0
echo "no default is configured" >&2
exit 1
"""


@pytest.mark.parametrize(
    ("settings", "code", "said"), [(True, 0, "2 passed"), (False, 1, "no default is configured")], ids=["a toolchain", "a new home"]
)
def test_whether_cargo_can_run_is_asked_of_the_machine_and_not_of_the_home_that_a_test_has_made(
    tmp_path: Path, settings: bool, code: int, said: str
):
    """The first test to ask would else have settled it for all the others of its process."""
    write_tree(tmp_path, {"test_x.py": TESTS_OF_CARGO, "pytest.ini": "[pytest]\n", "bin/cargo": SHIM, "bin/rustc": SHIM, "home/.keep": ""})
    for name in ("cargo", "rustc"):
        (tmp_path / "bin" / name).chmod(0o755)
    if settings:
        write_tree(tmp_path / "home", {".rustup/settings.toml": ""})
    environment = {name: value for name, value in os.environ.items() if name not in ("CARGO_HOME", "RUSTUP_HOME")} | {
        "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}",
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", "--all-servers", "test_x.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout


# ---- what a quick run chooses


def test_the_record_keeps_what_was_not_run_and_forgets_modules_that_are_gone():
    record = {"test_docs.py::test_a": 1.0, "test_docs.py::test_b": 2.0, "test_gone.py::test_c": 3.0}
    ran = {"tests/test_docs.py::test_b[1]": 0.01, "tests/test_docs.py::test_b[2]": 0.02, "tests/test_house.py::test_d": 0.5}
    assert costs.merge(record, ran, set(), {}) == {"test_docs.py::test_a": 1.0, "test_house.py::test_d": 0.5}
    assert costs.merge(record, ran, {"test_docs.py::test_b"}, {})["test_docs.py::test_b"] == 0.01  # cheap, although it is marked


def test_the_record_says_how_long_whole_modules_take():
    record = {"test_docs.py": 40.0, "test_house.py": 7.0, "test_gone.py": 9.0, "test_cli.py": 8.0}
    merged = costs.merge(record, {}, set(), {"test_docs.py": 12.4, "test_house.py": 0.3})
    assert merged == {"test_docs.py": 12.0, "test_house.py": 0.0, "test_cli.py": 8.0}


def test_of_a_module_of_which_some_tests_were_left_out_nobody_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """By -k, and by a test's own name."""
    monkeypatch.setattr(costs, "RECORD", tmp_path / "costs.json")
    text = "def test_one(): ...\n\ndef test_two(): ...\n"
    write_tree(tmp_path, {"tests/test_a.py": text, "tests/test_b.py": text, "tests/test_c.py": text, "pytest.ini": "[pytest]\n"})
    monkeypatch.chdir(tmp_path)
    names = ["tests/test_a.py", "tests/test_b.py", "tests/test_c.py::test_one"]
    assert pytest.main(["-q", "-p", "no:cacheprovider", "--deselect", "tests/test_b.py::test_two", *names], [costs.Tally(writes=True)]) == 0
    assert costs.load() == {"test_a.py": 0.0}


def test_what_a_quick_run_finds_dear_and_knows_nothing_of_is_left_out_of_the_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(costs, "RECORD", tmp_path / "costs.json")
    costs.RECORD.write_text(json.dumps({"test_docs.py::test_known": 0.06}), encoding="utf-8")
    tally = costs.Tally(writes=False, learns=True)
    tally.by_test = {"tests/test_docs.py::test_known": 9.0, "tests/test_docs.py::test_new[1]": 0.1, "tests/test_docs.py::test_new[2]": 0.9}
    tally.by_test["tests/test_docs.py::test_cheap"] = 0.19
    tally.by_test |= {f"tests/test_docs.py::test_many[{number}]": 0.1 for number in range(21)}
    tally.by_test["tests/test_docs.py::test_first_to_need_modules"] = 0.7
    tally.loading.add("test_docs.py::test_first_to_need_modules")
    tally.pytest_sessionfinish(None)  # pyright: ignore[reportArgumentType]
    assert costs.load() == {"test_docs.py::test_known": 0.06, "test_docs.py::test_new": 0.5, "test_docs.py::test_many": 0.1}
    told = [line.split()[:2] for line in tally.summary() if "from now on" in line]
    assert told == [["0.10", "test_docs.py::test_many:"], ["0.50", "test_docs.py::test_new:"]]


@pytest.mark.parametrize(("cost", "marked", "left_out"), [(None, False, False), (None, True, True), (0.0, True, False), (9.0, False, True)])
def test_a_test_is_left_out_of_a_quick_run_by_what_it_costs_and_unmeasured_by_its_mark(cost: float | None, marked: bool, left_out: bool):
    class Item:
        nodeid = "tests/test_docs.py::test_new[x]"

        def get_closest_marker(self, name: str) -> str | None:
            return name if marked else None

    record = {"test_docs.py::test_old": 9.0} | ({} if cost is None else {"test_docs.py::test_new": cost})
    assert costs.is_dear(Item(), record) is left_out  # pyright: ignore[reportArgumentType]


def test_processes_side_by_side_begin_with_what_takes_longest(monkeypatch: pytest.MonkeyPatch):
    """Waiting included; what nobody has measured may be long, and comes before what is known to be short."""

    class Item:
        def __init__(self, nodeid: str) -> None:
            self.nodeid = nodeid

    record = {"test_long.py": 90.0, "test_dear.py::test_x": 35.0, "test_short.py": 30.0, "test_short.py::test_x": 99.0}
    monkeypatch.setattr(costs, "load", lambda: record)
    names = ("test_short.py::test_x", "test_new.py::test_x", "test_dear.py::test_x[1]", "test_long.py::test_y", "test_dear.py::test_x[2]")
    items = [Item(f"tests/{name}") for name in names]
    costs.put_dearest_modules_first(items)  # pyright: ignore[reportArgumentType]
    assert [item.nodeid.removeprefix("tests/") for item in items] == [
        *("test_long.py::test_y", "test_dear.py::test_x[1]", "test_dear.py::test_x[2]", "test_new.py::test_x", "test_short.py::test_x")
    ]


# ---- toolchains in wheels


def test_every_toolchain_that_may_be_brought_is_pinned():
    assert set(brought.pins(ROOT / "pyproject.toml")) == {item.distribution for item in brought.TOOLCHAINS}
    group = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["toolchains"]
    assert all("==" in requirement for requirement in group)


def test_what_the_machine_lacks_becomes_commands_of_the_folder(tmp_path: Path):
    toolchain = brought.Toolchain("x", {"one": "x/bin/one", "two": "x/lib/two.js"})
    unpacked = write_tree(tmp_path / "unpacked", {"x/bin/one": "#!/bin/sh\necho 1\n", "x/lib/two.js": "#!/bin/sh\necho 2\n"})
    assert brought.lacking(toolchain, str(tmp_path / "bin"))
    brought.link(toolchain, unpacked, tmp_path / "bin")
    brought.link(toolchain, unpacked, tmp_path / "bin")
    assert not brought.lacking(toolchain, str(tmp_path / "bin"))
    assert subprocess.run([str(tmp_path / "bin" / "two")], capture_output=True, check=True).stdout == b"2\n"


# ---- the committed index


def test_the_committed_index_is_fresh_while_nine_of_ten_files_are_as_it_says():
    def found(same: int, differing: int, absent: int, new: int) -> Exchanged:
        return Exchanged(path="x", commit="", documents=same + differing + absent, same=same, differing=differing, absent=absent, new=new)

    assert freshness.share(found(9, 1, 5, 0)) >= freshness.LEAST  # files that are gone are nobody's answer
    assert freshness.share(found(9, 1, 0, 1)) < freshness.LEAST
    assert freshness.share(found(0, 0, 0, 0)) == 0


def test_a_commit_of_the_committed_index_makes_it_no_older():
    """Its own files are none that an index describes."""
    languages = {language_of(path.name) for path in (ROOT / freshness.ARTIFACT).rglob("*") if path.is_file()} - {""}
    assert [name for name in languages if load_table().language[name].crawl == "full"] == []
