"""An index that goes on from what is known equals one that is made from nothing, row for row, and asks about no more than it must."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cache_support import clone, tables
from support import Watcher, crawl_with_ty, rows, write_tree

from indexer.crawl.pool import Pool
from indexer.crawl.run import Crawl
from indexer.store.generations import Home
from indexer.store.states import States

FILES = {
    "lib/__init__.py": "",
    "lib/core.py": '''"""What all others build upon."""

import os


class Base:
    """A thing."""

    kind = "base"

    def area(self) -> int:
        return 1

    def name(self) -> str:
        return os.sep


def scale(value: int, by: int = 2) -> int:
    total = value * by
    return total


LIMIT = 3
''',
    "lib/more.py": "from lib.core import Base, scale\n\n\nclass Derived(Base):\n    def twice(self) -> int:\n        return scale(2)\n",
    "lib/factory.py": "from lib.more import Derived\n\n\ndef build() -> Derived:\n    return Derived()\n",
    "lib/names.py": "from lib.core import *\n",
    "app/use.py": "from lib.factory import build\n\nbuilt = build().area()\nlabel = build().name()\n",
    "app/star.py": "from lib.names import LIMIT, fresh\n\nprint(LIMIT, fresh)\n",
    "app/scaled.py": "from lib.core import scale\n\nprint(scale(3))\n",
    "app/lost.py": "from lib.later import thing\nimport lib.later\n\nprint(thing, lib.later.other)\n",
    "app/alone.py": "def alone(x):\n    return x\n\n\nalone(1)\n",
}

CORE, MORE, FACTORY, NAMES = "lib/core.py", "lib/more.py", "lib/factory.py", "lib/names.py"
EVERYTHING = {*FILES, "os.py"}
USE, STAR, SCALED, LOST, ALONE = "app/use.py", "app/star.py", "app/scaled.py", "app/lost.py", "app/alone.py"


@dataclass(frozen=True)
class Edit:
    """`change` maps texts; None removes the file. `crawled`: exactly these are asked about again."""

    name: str
    change: Mapping[str, Callable[[str], str | None]]
    crawled: set[str]


def _to(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


EDITS = [
    Edit("a body", {CORE: _to("total = value * by", "total = value + by + 1")}, {CORE}),
    Edit("lines that shift", {CORE: lambda text: "\n\n\n" + text}, {CORE}),
    Edit("a comment", {CORE: _to("LIMIT = 3", "LIMIT = 3  # at most")}, {CORE}),
    Edit("a function that nobody knows", {CORE: lambda text: text + "\n\ndef unheard_of() -> int:\n    return 1\n"}, {CORE}),
    Edit("a function that somebody looked for", {CORE: lambda text: text + "\n\ndef fresh() -> int:\n    return 1\n"}, {CORE, STAR}),
    Edit("a signature", {CORE: _to("by: int = 2", "by: float = 2")}, {CORE, MORE, SCALED}),
    Edit("a result", {CORE: _to("by: int = 2) -> int", "by: int = 2) -> str")}, {CORE, MORE, SCALED}),
    Edit("a function that goes", {CORE: _to("def scale", "def rescale")}, {CORE, MORE, SCALED}),
    Edit(
        "a member that hides an inherited one from who names no class",
        {MORE: lambda text: text + "\n    def area(self) -> str:\n        return ''\n"},
        {MORE, USE},
    ),
    Edit("a member that changes", {CORE: _to("def name(self) -> str", "def name(self) -> bytes")}, {CORE, USE}),
    Edit("a base that goes", {MORE: _to("class Derived(Base)", "class Derived")}, {MORE, FACTORY, USE}),
    Edit("what a class holds", {CORE: _to('kind = "base"', "kind = 7")}, {CORE, MORE, FACTORY, USE}),
    Edit("an import in the midst", {FACTORY: _to("from lib.more import Derived", "from lib.core import Base as Derived")}, {FACTORY, USE}),
    Edit("a constant behind a star", {CORE: _to("LIMIT = 3", 'LIMIT = "3"')}, {CORE, STAR}),
    Edit("a star", {NAMES: lambda text: "from lib.more import *\n"}, {NAMES, STAR}),
    Edit(
        "a star in a package",
        {"lib/__init__.py": lambda text: "from lib.core import *\n"},
        {"lib/__init__.py", CORE, MORE, FACTORY, NAMES, SCALED, STAR, USE},
    ),
    Edit("a module that was missed", {"lib/later.py": lambda text: "thing = 1\nother = 2\n"}, {"lib/later.py", LOST}),
    Edit("a module that goes", {FACTORY: lambda text: None}, {USE}),
    Edit("a module like one of the library", {"os.py": lambda text: "sep = 1\n"}, EVERYTHING),  # its folder is searched later then
    Edit(
        "a stub beside a module",
        {"lib/core.pyi": lambda text: "class Base: ...\n"},
        {"lib/core.pyi", CORE, MORE, FACTORY, NAMES, SCALED, STAR, USE},
    ),
    Edit("a file that nothing refers to", {ALONE: _to("alone(1)", "alone(2)")}, {ALONE}),
]


def _apply(root: Path, edit: Edit) -> None:
    for path, change in edit.change.items():
        file = root / path
        text = change(file.read_text(encoding="utf-8") if file.exists() else "")
        if text is None:
            file.unlink()
        else:
            write_tree(root, {path: text})


def _crawled(watcher: Watcher) -> int:
    return sum(number for phase, number in watcher.phases if phase == "crawl")


def _assert_as_from_nothing(root: Path, beside: Path, make: Callable[..., Crawl] = crawl_with_ty) -> None:
    """A crawl of a copy, which has the same folder's name, gives the same rows."""
    shutil.rmtree(beside, ignore_errors=True)
    clean = clone(root, beside / root.name)
    make(clean)
    assert tables(root) == tables(clean)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed tree, not to be changed."""
    root = write_tree(tmp_path_factory.mktemp("known") / "work", FILES)
    crawl_with_ty(root)
    return root


@pytest.mark.parametrize("edit", EDITS, ids=[edit.name for edit in EDITS])
def test_an_edit_costs_what_it_concerns(edit: Edit, known: Path, tmp_path: Path) -> None:
    """Which files are asked about again; and the rows are those of a crawl of everything."""
    root = shutil.copytree(known, tmp_path / "work")
    _apply(root, edit)
    watcher = Watcher()
    made = crawl_with_ty(root, watcher=watcher)
    assert made.manifest["crawled"] == _crawled(watcher)
    _assert_as_from_nothing(root, tmp_path / "clean")
    assert _asked_about(root, known) == edit.crawled


def _asked_about(root: Path, known: Path) -> set[str]:
    """Documents whose facts are not those of the known index: told by the log of the crawl, which names them."""
    lines = Home(root).log_file.read_text(encoding="utf-8").splitlines()
    began = max((number for number, line in enumerate(lines) if "refresh begins" in line), default=-1)
    if began < 0:  # what is known is of no use: all is crawled
        with duckdb.connect(str(Home(root).current()), read_only=True) as connection:
            return {path for (path,) in connection.execute("SELECT path FROM document WHERE status <> 'external'").fetchall()}
    found: set[str] = set()
    for line in lines[began:]:
        if "wave begins" in line:
            found |= set(line.partition("documents=")[2].split("|"))
    return found - {""}


def test_a_long_run_of_edits(known: Path, tmp_path: Path) -> None:
    """Two at a time, one index upon the other, and what comes of it is what a crawl of everything makes.

    Each edit alone is held against such a crawl above; here every third index is, and the last: what one has wrong, later ones go on from.
    """
    root = shutil.copytree(known, tmp_path / "work")
    made = 0
    for edit in EDITS:
        try:
            _apply(root, edit)
        except (AssertionError, FileNotFoundError):  # an earlier one has taken away what it is about
            continue
        made += 1
        if made % 2 == 0:
            crawl_with_ty(root)
        if made % 6 == 0:
            _assert_as_from_nothing(root, tmp_path / "clean")
    assert made > 15
    crawl_with_ty(root)
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_going_back_and_forth_costs_nothing(known: Path, tmp_path: Path) -> None:
    """As between branches: what was crawled once is known, also of a tree between two known ones."""
    root = shutil.copytree(known, tmp_path / "work")
    first = tables(root)
    _apply(root, EDITS[5])
    crawl_with_ty(root)
    second = tables(root)
    shutil.rmtree(root / "lib")
    write_tree(root, {path: text for path, text in FILES.items() if path.startswith("lib/")})
    made = crawl_with_ty(root)
    assert (made.up_to_date, made.manifest["crawled"], made.manifest["requests"]) == (False, 0, 0)
    assert tables(root) == first
    _apply(root, EDITS[5])
    assert crawl_with_ty(root).manifest["crawled"] == 0
    assert tables(root) == second
    assert second != first


def test_what_is_no_longer_referred_to_outside_goes(known: Path, tmp_path: Path) -> None:
    """The index has of files outside what is pointed to, no more and no less."""
    root = shutil.copytree(known, tmp_path / "work")
    _apply(root, Edit("", {CORE: _to("os.sep", "os.linesep")}, set()))
    crawl_with_ty(root)
    outside = {row[0] for row in _rows(root, "SELECT symbol FROM symbols WHERE is_external")}
    assert any("os/linesep." in symbol for symbol in outside)
    assert not any("os/sep." in symbol for symbol in outside)
    _assert_as_from_nothing(root, tmp_path / "clean")


def _rows(root: Path, sql: str) -> list[tuple[Any, ...]]:
    from query.facts.index import open_index

    with open_index(root) as index:
        return index.rows(sql)


def test_files_outside_that_were_not_read_are_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their symbols are missing, and said to be; nothing else has changed, and the next run has them all the same."""
    root = write_tree(tmp_path / "work", FILES)
    with monkeypatch.context() as patched:
        patched.setattr(Pool, "read_externals", lambda self, jobs, on_report: [])
        assert crawl_with_ty(root).manifest["lost"]["external files worker_crashed"] > 0
    assert _rows(root, "SELECT count(*) FROM symbols WHERE is_external") == [(0,)]
    made = crawl_with_ty(root)
    assert (made.up_to_date, made.manifest["crawled"], made.manifest["lost"]) == (False, 0, {})
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_states_share_shards_and_are_forgotten_in_the_end(known: Path, tmp_path: Path) -> None:
    """Many edits leave a bounded number of states, and no shard of none."""
    root = shutil.copytree(known, tmp_path / "work")
    for number in range(9):
        write_tree(root, {ALONE: f"value = {number}\n"})
        crawl_with_ty(root)
    states = list(Home(root).states.iterdir())
    assert len(states) == 8
    removed, size_bytes = States(Home(root)).collect(keep=1)
    assert removed > 0
    assert size_bytes > 0
    assert len(list(Home(root).states.iterdir())) == 1
    write_tree(root, {ALONE: "value = 100\n"})
    assert crawl_with_ty(root).manifest["crawled"] == 1
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_a_damaged_state_is_as_good_as_none(known: Path, tmp_path: Path) -> None:
    root = shutil.copytree(known, tmp_path / "work")
    for file in Home(root).states.iterdir():
        file.write_bytes(file.read_bytes()[:-20])
    write_tree(root, {ALONE: "value = 1\n"})
    made = crawl_with_ty(root)
    assert made.manifest["crawled"] == made.manifest["counts"]["documents"]
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_a_shard_that_is_gone_makes_its_state_useless(known: Path, tmp_path: Path) -> None:
    root = shutil.copytree(known, tmp_path / "work")
    next(Home(root).shards.glob("*.parquet")).unlink()
    write_tree(root, {ALONE: "value = 1\n"})
    crawl_with_ty(root)
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_other_settings_begin_from_nothing(known: Path, tmp_path: Path) -> None:
    """Facts that were found with hovers are not those of a crawl without."""
    root = shutil.copytree(known, tmp_path / "work")
    made = crawl_with_ty(root, hover=False)
    assert made.manifest["crawled"] == len(FILES)


def test_without_hovers_no_body_is_known_to_be_without_effect(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "work", FILES)
    crawl_with_ty(root, hover=False)
    _apply(root, EDITS[0])
    made = crawl_with_ty(root, hover=False)
    assert made.manifest["crawled"] > 3
    _assert_as_from_nothing(root, tmp_path / "clean", lambda clean: crawl_with_ty(clean, hover=False))


def test_what_is_not_crawled_counts_all_the_same(tmp_path: Path) -> None:
    """A server reads files that are excluded; who leads there is asked about again when one changes."""
    root = write_tree(tmp_path / "work", {**FILES, "made/by_tool.py": "def made() -> int:\n    return 1\n"})
    write_tree(root, {"app/user.py": "from made.by_tool import made\n\nvalue = made()\n"})
    crawl_with_ty(root, exclude=("made",))
    write_tree(root, {"made/by_tool.py": "def made() -> str:\n    return ''\n"})
    made = crawl_with_ty(root, exclude=("made",))
    assert made.manifest["crawled"] == 1
    hovers = _rows(root, "SELECT hover FROM symbols WHERE name = 'value' AND path = 'app/user.py'")
    assert "str" in hovers[0][0]
    _assert_as_from_nothing(root, tmp_path / "clean", lambda clean: crawl_with_ty(clean, exclude=("made",)))


def test_most_files_go_at_once(known: Path, tmp_path: Path) -> None:
    """As many as stay and more: whoever led to them is asked about again."""
    root = shutil.copytree(known, tmp_path / "work")
    for path in (CORE, MORE, FACTORY, NAMES, USE, SCALED, LOST, ALONE, "lib/__init__.py"):
        (root / path).unlink()
    assert crawl_with_ty(root).manifest["crawled"] == 1
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_a_file_that_is_only_half_understood_does_not_spread(known: Path, tmp_path: Path) -> None:
    """Nobody knows what others see of a file with a syntax error; while it stays as it is, they see what they saw."""
    root = shutil.copytree(known, tmp_path / "work")
    write_tree(root, {FACTORY: FILES[FACTORY] + "def half(:\n"})
    crawl_with_ty(root)
    _apply(root, EDITS[5])  # somebody's signature, which that file's own imports lead to
    crawl_with_ty(root)
    _assert_as_from_nothing(root, tmp_path / "clean")
    write_tree(root, {FACTORY: FILES[FACTORY] + "def half(:\n    pass\n"})
    crawl_with_ty(root)
    _assert_as_from_nothing(root, tmp_path / "clean")


def test_settings_of_a_server_count(tmp_path: Path) -> None:
    """The version of Python that a project is for decides what is defined; its own version decides nothing."""
    project = '[project]\nname = "thing"\nversion = "1"\nrequires-python = "{}"\n'
    code = "import sys\n\nif sys.version_info >= (3, 12):\n    value = 1\nelse:\n    value = ''\n\nseen = value\n"
    root = write_tree(tmp_path / "thing", {"pyproject.toml": project.format(">=3.12"), "a.py": code})
    crawl_with_ty(root)
    write_tree(root, {"pyproject.toml": project.format(">=3.12").replace('"1"', '"2"')})
    assert crawl_with_ty(root).manifest["crawled"] == 0  # merged anew, for a manifest may name other symbols now
    write_tree(root, {"pyproject.toml": project.format(">=3.9")})
    assert crawl_with_ty(root).manifest["crawled"] == 1
    _assert_as_from_nothing(root, tmp_path / "clean")


_TWO = {"m.py": "class K:\n    def run(self): ...\n\n\nclass J:\n    def run(self): ...\n"}
_CHAIN = {"b.py": "from s import S\n\nS().run()\n"}
TAUGHT: dict[str, tuple[dict[str, str], str, str, str]] = {
    "a decorator of the second of two definitions": (
        {
            "raw.py": "import contextlib\nimport sys\nfrom typing import Iterator\n\nif sys.platform == 'win32':\n\n"
            "    def raw() -> Iterator[int]:\n        yield 1\n\nelse:\n\n    @contextlib.contextmanager\n    def raw() -> Iterator[int]:\n"
            "        yield 1\n",
            "use.py": "from typing import ContextManager\n\nfrom raw import raw\n\n\n"
            "def take() -> ContextManager[int]:\n    return raw()\n",
        },
        "raw.py",
        "    @contextlib.contextmanager\n",
        "",
    ),
    "a name that was in an import and bound by none": (
        {
            "pkg/__init__.py": "import typing as t\n\nx: t.Any = 1\n",
            "pkg/typing.py": "class Thing: ...\n",
            "pkg/use.py": "from . import typing as ft\n\nthing = ft.Thing()\n",
        },
        "pkg/__init__.py",
        "x: t.Any = 1\n",
        "x: t.Any = 1\nimport typing\n",
    ),
    "a module that an import of another file leads to": (
        {
            "pkg/__init__.py": "from . import data as data\n",
            "pkg/data/__init__.py": "def load() -> int:\n    return 1\n",
            "pkg/use.py": "from . import data\n\nloaded = data.load()\n",
        },
        "pkg/data.py",
        "",
        "def load() -> str:\n    return ''\n",
    ),
    "an alias of an import that means another class of the same file": (
        {**_TWO, "a.py": "from m import K as C\n", "b.py": "import a\n\n\ndef go():\n    c = a.C()\n    return c.run()\n"},
        "a.py",
        "K",
        "J",
    ),
    "an alias of an import that means another function": (
        {"k.py": "def f(): ...\n\n\ndef g(): ...\n", "a.py": "from k import f as h\n", "b.py": "from a import h\n\nh()\n"},
        "a.py",
        "f as",
        "g as",
    ),
    "a package that passes on what two modules name alike": (
        {
            **_TWO,
            "k.py": "from m import K as C\n",
            "j.py": "from m import J as C\n",
            "a/__init__.py": "from k import C\n",
            "b.py": "import a\n\n\ndef go():\n    return a.C().run()\n",
        },
        "a/__init__.py",
        "from k",
        "from j",
    ),
    "a base that an import of another file means": (
        {
            **_TWO,
            "a.py": "from m import K as C\n",
            "s.py": "from a import C\n\n\nclass S(C): ...\n",
            "b.py": "from s import S\n\nS().run()\n",
        },
        "a.py",
        "K",
        "J",
    ),
    "a base that a variable of another file is": (
        {**_TWO, **_CHAIN, "a.py": "import m\n\nC = m.K\n", "s.py": "import a\n\n\nclass S(a.C): ...\n"},
        "a.py",
        "K",
        "J",
    ),
    "a bound of types that an import of another file means": (
        {
            **_TWO,
            "a.py": "from m import K as C\n",
            "s.py": "from typing import NewType\nimport a\n\nS = NewType('S', a.C)\n",
            "b.py": "from s import S\n\n\ndef go(s: S):\n    return s.run()\n",
        },
        "a.py",
        "K",
        "J",
    ),
    "an attribute of another class of the same name": (
        {
            "k.py": "class C:\n    def run(self): ...\n",
            "j.py": "class C:\n    def run(self): ...\n",
            "m.py": "import j\nimport k\n\n\ndef one() -> k.C: ...\n\n\ndef two() -> j.C: ...\n",
            "a.py": "from m import one, two\n\n\nclass H:\n    def __init__(self):\n        self.x = one()\n",
            "b.py": "from a import H\n\n\ndef go(h: H):\n    return h.x.run()\n",
        },
        "a.py",
        "= one",
        "= two",
    ),
    "an annotation whose name means another class": (
        {**_TWO, "a.py": "from m import K as C\n\n\ndef make() -> C: ...\n", "b.py": "from a import make\n\nmake().run()\n"},
        "a.py",
        "K",
        "J",
    ),
}
"""What random edits and people have found: files, the path of the edited one, and what becomes what in it."""


_BOTH = {
    "package.json": '{"name": "w"}',
    "k.{0}": "class C { run() { return 1; } }\n{1}",
    "j.{0}": "class C { run() { return 2; } }\n{1}",
}
PASSED_ON: dict[str, tuple[dict[str, str], str]] = {
    "a star": (
        {
            "tsconfig.json": '{"compilerOptions": {"strict": true}}',
            **{path.format("ts"): text.replace("{1}", "export { C };\n") for path, text in _BOTH.items()},
            "index.ts": "export * from './k';\nexport function other() {\n  return 1;\n}\n",
            "b.ts": "import { C } from './index';\n\nexport function go() {\n  return new C().run();\n}\n",
        },
        "index.ts",
    ),
    "a module of another one": (
        {
            **{path.format("js"): text.replace("{1}", "module.exports = { C };\n") for path, text in _BOTH.items()},
            "index.js": "module.exports = require('./k');\n",
            "b.js": "const { C } = require('./index');\n\nfunction go() {\n  return new C().run();\n}\ngo();\n",
        },
        "index.js",
    ),
}


UNNAMED: dict[str, tuple[dict[str, str], str, str, str]] = {
    "javascript": (
        {
            "package.json": '{"name": "w"}',
            "k.js": "class C { run() {} }\nclass D { run() {} }\nmodule.exports = { C, D };\n",
            "i.js": "const { C, D } = require('./k');\nclass H {\n  constructor() {\n    this.x = new C();\n  }\n}\n"
            "module.exports = { H };\n",
            "b.js": "const { H } = require('./i');\nfunction go() {\n  return new H().x.run();\n}\ngo();\n",
        },
        "i.js",
        "= new C",
        "= new D",
    ),
    "typescript": (
        {
            "tsconfig.json": '{"compilerOptions": {"strict": true}}',
            "k.ts": "export function f() {\n  return 1;\n}\n",
            "i.ts": "export * from './k';\nexport function other() {\n  return 1;\n}\n",
            "b.ts": "import { f } from './i';\nexport function go() {\n  return f();\n}\n",
        },
        "i.ts",
        "export * from './k';\n",
        "",
    ),
    "go": (
        {
            "go.mod": "module example.com/m\n\ngo 1.21\n",
            "k/k.go": "package k\n\nfunc F() int {\n\treturn 1\n}\n",
            "u/u.go": 'package u\n\nimport "example.com/m/k"\n\nfunc U() int {\n\treturn k.F()\n}\n',
        },
        "k/k.go",
        "package k",
        "package other",
    ),
}
"""What no identifier of the edited file tells: files, the path, and what becomes what in it."""


@pytest.mark.parametrize("language", UNNAMED)
def test_what_no_identifier_of_a_file_tells_is_seen_by_others(language: str, tmp_path: Path) -> None:
    files, path, old, new = UNNAMED[language]
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root)
    write_tree(root, {path: files[path].replace(old, new)})
    made = crawl_with_ty(root)
    assert made.manifest["crawled"] == made.manifest["counts"]["documents"]
    _assert_as_from_nothing(root, tmp_path / "clean")


@pytest.mark.parametrize("name", PASSED_ON)
def test_what_a_file_hands_on_without_a_name_of_it_is_seen_by_others(name: str, tmp_path: Path) -> None:
    files, path = PASSED_ON[name]
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root)
    for old, new in (("./k", "./j"), ("./j", "./k")):
        write_tree(root, {path: (root / path).read_text().replace(old, new)})
        made = crawl_with_ty(root)
        _assert_as_from_nothing(root, tmp_path / f"clean of {new[2:]}")
        called = rows(made.generation, "SELECT callee FROM calls WHERE caller LIKE '%go%' AND callee LIKE '%run%'")
        assert [new[2:] in callee.split("`")[1] for (callee,) in called] == [True], called


@pytest.mark.parametrize("name", TAUGHT)
def test_what_random_edits_have_found(name: str, tmp_path: Path) -> None:
    files, path, old, new = TAUGHT[name]
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root)
    write_tree(root, {path: files.get(path, "").replace(old, new) if old else new})
    crawl_with_ty(root)
    _assert_as_from_nothing(root, tmp_path / "clean")


OTHERS: list[tuple[str, dict[str, str], tuple[str, str, str], tuple[str, str, str]]] = [
    (
        "typescript",
        {
            "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "nodenext"}, "include": ["*.ts"]}',
            "a.ts": "export function double(x: number) {\n  return x * 2;\n}\nexport interface Shape { area(): number }\n",
            "b.ts": "import { double, Shape } from './a.js';\nexport const four = double(2);\n"
            "export class Sq implements Shape { area() { return 1; } }\n",
            "c.ts": "export const alone = 1;\n",
        },
        ("a.ts", "x * 2", "x * 3 - 1"),
        ("a.ts", "x * 2", "String(x)"),
    ),
    (
        "go",
        {
            "go.mod": "module example.com/m\n\ngo 1.21\n",
            "a.go": "package m\n\ntype Shape interface{ Area() int }\n\nfunc Double(x int) int {\n\treturn x * 2\n}\n",
            "b.go": "package m\n\ntype Sq struct{}\n\nfunc (s Sq) Area() int { return Double(2) }\n",
            "c/c.go": "package c\n\nvar Alone = 1\n",
        },
        ("a.go", "x * 2", "x * 3 - 1"),
        ("a.go", "Area() int }", "Area() int; Perimeter() int }"),
    ),
    (
        "cpp",
        {
            "a.hpp": "#pragma once\nint twice(int x);\nstruct Shape { virtual int area(); };\n",
            "a.cpp": '#include "a.hpp"\nint twice(int x) { return x * 2; }\nint Shape::area() { return twice(1); }\n',
            "b.cpp": '#include "a.hpp"\nint main() { Shape s; return s.area() + twice(2); }\n',
            "c.cpp": "static int alone() { return 1; }\n",
        },
        ("c.cpp", "return 1", "return 2 + 3"),
        ("a.hpp", "int area();", "int area(); int more();"),
    ),
]


@pytest.mark.parametrize(("language", "files", "inside", "visible"), OTHERS, ids=[item[0] for item in OTHERS])
def test_in_other_languages_a_body_costs_one_file(
    language: str, files: dict[str, str], inside: tuple[str, str, str], visible: tuple[str, str, str], tmp_path: Path
) -> None:
    """What others can see costs all that its server crawls: their rules are not known as well as Python's."""
    root = write_tree(tmp_path / "work", files)
    first = crawl_with_ty(root)
    assert first.manifest["lost"] == {}
    for (path, old, new), is_cheap in ((inside, True), (visible, False)):
        write_tree(root, {path: files[path].replace(old, new)})
        made = crawl_with_ty(root)
        documents = made.manifest["counts"]["documents"]
        assert made.manifest["crawled"] == (1 if is_cheap else documents)
        _assert_as_from_nothing(root, tmp_path / "clean")
