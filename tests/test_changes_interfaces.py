"""A type that no longer is what its interface asks for, in repositories that are really crawled by each language's server."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from change_support import commit, edit, git, look, named
from support import crawl_with_ty, write_tree

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_configuration")]

STORE = """package store

import "fmt"

// Saver saves.
type Saver interface {
	Save(key string, value int) error
	Load(key string) int
}

type Lister interface {
	List() []string
}

type Memory struct {
	data map[string]int
}

func (m *Memory) Save(key string, value int) error {
	m.data[key] = value
	return nil
}

func (m *Memory) Load(key string) int {
	return m.data[key]
}

func (m *Memory) String() string { return fmt.Sprint(m.data) }

func (m *Memory) List() []string { return nil }

func (m *Memory) Alone() int { return 1 }

// Cached has Load from what it is built on.
type Cached struct {
	*Memory
}

func (c *Cached) Save(key string, value int) error {
	return c.Memory.Save(key, value)
}

type Failed struct{}

func (f Failed) Error() string { return "" }

func Fail() error {
	return Failed{}
}

type plain struct{}

func (p plain) save() {}

func (p plain) other() {}
"""

GO = {
    ".gitignore": ".lspidx/\n",
    "go.mod": "module example.com/m\n\ngo 1.21\n",
    "store/store.go": STORE,
    "store/checks.go": "package store\n\nvar _ Saver = (*Cached)(nil)\n",
    "app/app.go": 'package app\n\nimport "example.com/m/store"\n\nfunc Keep(s store.Saver) error {\n\treturn s.Save("a", 1)\n}\n\n'
    "func Run() error {\n\treturn Keep(&store.Memory{})\n}\n",
}


def made(folder: Path, files: dict[str, str]) -> Path:
    root = write_tree(folder, files)
    git(root, "init", "-q")
    commit(root, "first")
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="session")
def go_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("interfaces") / "go", GO)


@pytest.fixture
def go(go_root: Path, tmp_path: Path) -> Path:
    return shutil.copytree(go_root, tmp_path / "go", symlinks=True)


def interfaces(item: Any) -> dict[str, tuple[str, str, int]]:
    """(type, how, places that need it) by interface."""
    return {lost.name: (lost.type.rpartition(".")[2], lost.how, lost.used) for lost in item.interfaces}


SAVE = "func (m *Memory) Save(key string, value int) error {"
LOAD = "func (m *Memory) Load(key string) int {\n\treturn m.data[key]\n}\n\n"


@pytest.mark.parametrize(
    ("old", "new", "name", "expected", "level"),
    [
        (SAVE, "func (m *Memory) Save(key string) error {", "Memory.Save", {"store.store.Saver": ("Memory", "differs", 2)}, "high"),
        (SAVE, "func (m *Memory) Save(key string, value ...int) error {", "Memory.Save",
         {"store.store.Saver": ("Memory", "differs", 2)}, "high"),
        (SAVE, "func (m *Memory) Keep(key string, value int) error {", "Memory.Keep",
         {"store.store.Saver": ("Memory", "missing", 2)}, "high"),
        (LOAD, "", "Memory.Load", {"store.store.Saver": ("Memory", "missing", 1)}, "high"),
        ("func (m *Memory) List() []string { return nil }", "func (m *Memory) List() []int { return nil }", "Memory.List",
         {"store.store.Lister": ("Memory", "differs", 0)}, "medium"),
        ("func (m *Memory) String() string { return fmt.Sprint(m.data) }", "func (m *Memory) String() int { return 0 }", "Memory.String",
         {"fmt.Stringer": ("Memory", "differs", 0)}, "medium"),
        ('func (f Failed) Error() string { return "" }\n\n', "", "Failed.Error", {"error": ("Failed", "missing", 1)}, "high"),
    ],
)  # fmt: skip
def test_a_method_of_go_that_its_interface_asks_for(
    go: Path, old: str, new: str, name: str, expected: dict[str, tuple[str, str, int]], level: str
):
    edit(go, "store/store.go", (old, new))
    item = named(look(go), f".{name}")
    assert interfaces(item) == expected
    code = "interface_broken" if any(used for _, _, used in expected.values()) else "interface_left"
    assert {"interface_broken", "interface_left"} & set(item.reasons) == {code}
    assert item.level == level or "public_api_removed" in item.reasons
    assert all(lost in " ".join(item.says) for lost in expected)


def test_the_evidence_names_where_the_interface_is_and_who_needs_it(go: Path):
    edit(go, "store/store.go", (SAVE, "func (m *Memory) Save(key string) error {"))
    [lost] = named(look(go), "Memory.Save").interfaces
    assert (lost.path, lost.line, lost.external, lost.declared) == ("store/store.go", 6, False, False)
    assert {(site.path, site.line, site.caller) for site in lost.sites} == {
        ("app/app.go", 6, "app.app.Keep"),  # calls what the interface has
        ("app/app.go", 10, "app.app.Run"),  # gives a Memory to who takes a Saver
    }


def test_a_type_that_has_the_method_from_another_is_named_too(go: Path):
    """Only what is built on Memory is a Saver here."""
    edit(go, "store/store.go", ("func (m *Memory) Save(key", "func (m *Memory) Put(key"), ("c.Memory.Save(", "c.Memory.Put("))
    edit(go, "app/app.go", ("Keep(&store.Memory{})", "Keep(&store.Cached{})"))
    commit(go)
    crawl_with_ty(go, jobs=1)
    edit(go, "store/store.go", (LOAD, ""))
    item = named(look(go), "Memory.Load")
    assert interfaces(item) == {"store.store.Saver": ("Cached", "missing", 2)}
    assert {(site.path, site.line) for site in item.interfaces[0].sites} == {("store/checks.go", 3), ("app/app.go", 10)}


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param([(SAVE, "func (mem *Memory) Save(k string, v int) (err error) {")], id="other names only"),
        pytest.param([("m.data[key] = value", "m.data[key] = -value")], id="another body"),
        pytest.param([("func (m *Memory) Alone() int { return 1 }\n\n", "")], id="no interface asks for it"),
        pytest.param([("func (p plain) save() {}\n\n", "")], id="nothing is called like it"),
        pytest.param(
            [("\tSave(key string, value int) error\n", "\tSave(key string) error\n"), (SAVE, "func (m *Memory) Save(key string) error {")],
            id="the interface goes along",
        ),
        pytest.param([("\tLoad(key string) int\n", ""), (LOAD, "")], id="the interface asks no more"),
    ],
)
def test_a_type_that_stays_what_it_was_is_not_said_to_be_less(go: Path, pairs: list[tuple[str, str]]):
    edit(go, "store/store.go", *pairs)
    found = look(go)
    assert found.symbols
    assert [item.interfaces for item in found.symbols if item.interfaces] == []
    assert not {code for item in found.symbols for code in item.reasons} & {"interface_broken", "interface_left"}


def test_a_method_that_another_gives_is_not_missed(go: Path):
    edit(go, "store/store.go",
         ("func (c *Cached) Save(key string, value int) error {\n\treturn c.Memory.Save(key, value)\n}\n\n", ""))  # fmt: skip
    item = named(look(go), "Cached.Save")
    assert (item.what, item.interfaces) == ("removed", [])


def test_a_method_may_stand_in_any_file_of_its_package(go: Path):
    edit(go, "store/store.go", (LOAD, ""))
    write_tree(go, {"store/more.go": "package store\n\n" + LOAD})
    found = look(go)
    [item] = [item for item in found.symbols if item.name == "Load"]
    assert (item.what, item.interfaces, item.old_file, item.level) == ("moved", [], "store/store.go", "info")
    assert (item.reasons, item.stale_sites, item.stale_tests) == (["moved_in_package"], 0, 0)


def test_what_the_index_of_the_new_side_shows_is_believed(go: Path):
    """Saver is put together otherwise, of which no line of its own says anything."""
    edit(
        go,
        "store/store.go",
        (SAVE, "func (m *Memory) Save(key Name, value int) error {"),
        ("type Lister", "type Name = string\n\ntype Lister"),
    )
    commit(go)
    stale = look(go, scope="committed")
    assert interfaces(named(stale, "Memory.Save")) == {"store.store.Saver": ("Memory", "differs", 2)}
    crawl_with_ty(go, jobs=1)
    found = look(go, scope="committed")
    assert found.base == "base index"
    assert named(found, "Memory.Save").interfaces == []  # an alias is the very type


def test_an_interface_lost_is_known_from_the_base_when_the_index_is_new(go: Path):
    edit(go, "store/store.go", (LOAD, ""))
    commit(go)
    crawl_with_ty(go, jobs=1)
    found = look(go, scope="committed")
    assert found.base == "base index"
    assert interfaces(named(found, "Memory.Load")) == {"store.store.Saver": ("Memory", "missing", 1)}


def test_without_an_index_of_before_what_a_type_satisfied_is_said_to_be_unknown(go: Path):
    edit(go, "store/store.go", (SAVE, "func (m *Memory) Save(key string) error {"))
    commit(go)
    shutil.rmtree(go / ".lspidx")
    crawl_with_ty(go, jobs=1)
    found = look(go, scope="committed")
    assert (found.base, named(found, "Memory.Save").interfaces) == ("text", [])
    assert "base_not_indexed" in {reason.code for reason in found.completeness.reasons}
    found = look(go, scope="committed", make_base=True)
    assert (found.base, list(interfaces(named(found, "Memory.Save")))) == ("made", ["store.store.Saver"])
    assert "base_not_indexed" not in {reason.code for reason in found.completeness.reasons}


def test_all_that_implement_an_interface_are_left_behind_when_it_changes(go: Path):
    """Also where a type satisfies two interfaces by one method."""
    edit(
        go,
        "store/store.go",
        ("type Lister interface", "type Keeper interface {\n\tSave(key string, value int) error\n}\n\ntype Lister interface"),
    )
    commit(go)
    crawl_with_ty(go, jobs=1)
    for name, overrides in (("Saver", 2), ("Keeper", 3)):  # a Saver is a Keeper, too
        text = (go / "store/store.go").read_text()
        before, mark, rest = text.partition(f"type {name} interface")
        (go / "store/store.go").write_text(before + mark + rest.replace("Save(key string, value int) error", "Save(key string) error", 1))
        item = named(look(go), f"{name}.Save")
        assert (item.overrides, "overrides_not_updated" in item.reasons) == (overrides, True)
        git(go, "checkout", "-q", ".")


def test_what_an_interface_asks_for_anew_is_missed_in_those_that_have_it_not(go: Path):
    edit(go, "store/store.go", ("\tLoad(key string) int\n", "\tLoad(key string) int\n\tDrop(key string)\n"))
    write_tree(go, {"store/drop.go": "package store\n\nfunc (m *Memory) Drop(key string) {}\n"})
    item = named(look(go), "Saver.Drop")
    assert (item.what, item.interfaces, item.level) == ("added", [], "low")  # Cached has it from Memory
    (go / "store/drop.go").unlink()
    item = named(look(go), "Saver.Drop")
    assert {lost.type.rpartition(".")[2]: lost.used for lost in item.interfaces} == {"Memory": 1, "Cached": 1}
    assert ("interface_broken" in item.reasons, item.level) == (True, "high")


def test_a_type_that_has_another_name_loses_nothing(go: Path):
    edit(
        go,
        "store/store.go",
        ("\tdata map[string]int\n}", "\tdata map[string]int\n\tsize, most, least int\n\tnames []string\n\tnext *plain\n}"),
    )
    commit(go)
    crawl_with_ty(go, jobs=1)
    for path in ("store/store.go", "app/app.go"):
        write_tree(go, {path: (go / path).read_text().replace("Memory", "Heap")})
    found = look(go)
    assert (named(found, ".Heap").what, named(found, ".Heap").old_name) == ("renamed", "Memory")
    save = named(found, "Heap.Save")
    assert (save.stale_sites, "compatible" in save.reasons) == (0, True)
    assert [(item.name, lost.name) for item in found.symbols for lost in item.interfaces] == []


# ---- types that say what they are


SAID = {
    ".gitignore": ".lspidx/\ntarget/\n",
    "web/package.json": '{"name": "m"}',
    "web/tsconfig.json": '{"compilerOptions": {"module": "commonjs", "strict": true}}',
    "web/store.ts": """export interface Saver {
  save(key: string, more: number): void;
  maybe?(): void;
}
export abstract class Base {
  abstract must(): number;
  may(): number { return 1; }
}
export class Memory extends Base implements Saver {
  save(key: string, more: number): void { key; }
  maybe(): void {}
  must(): number { return 2; }
  may(): number { return 3; }
}
""",
    "py/store.py": """from abc import ABC, abstractmethod
from typing import Protocol


class Base(ABC):
    @abstractmethod
    def save(self, key): ...

    def load(self):
        return 1


class Going(Protocol):
    def go(self) -> int: ...


class Memory(Base):
    def save(self, key):
        return key

    def load(self):
        return 2


class Walk(Going):
    def go(self):
        return 1


class Half(Base):
    @abstractmethod
    def more(self): ...

    def save(self, key):
        return key
""",
    "rs/Cargo.toml": '[package]\nname = "shapes"\nversion = "0.1.0"\nedition = "2021"\n',
    "rs/src/lib.rs": """pub trait Area {
    fn area(&self) -> i64;
    fn double(&self) -> i64 {
        self.area() * 2
    }
}

pub struct Square(pub i64);

impl Area for Square {
    fn area(&self) -> i64 {
        self.0 * self.0
    }

    fn double(&self) -> i64 {
        2
    }
}
""",
}


@pytest.fixture(scope="session")
def said_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("interfaces") / "said", SAID)


@pytest.fixture
def said(said_root: Path, tmp_path: Path) -> Path:
    return shutil.copytree(said_root, tmp_path / "said", symlinks=True)


@pytest.mark.parametrize(
    ("path", "old", "new", "name", "interface"),
    [
        ("web/store.ts", "  save(key: string, more: number): void { key; }\n", "", "Memory.save", "Saver"),
        ("web/store.ts", "  save(key: string, more: number): void {", "  save(key: number): void {", "Memory.save", "Saver"),
        ("web/store.ts", "  save(key: string, more: number): void {", "  save(key: string): void {", "Memory.save", ""),
        ("web/store.ts", "  maybe(): void {}\n", "", "Memory.maybe", ""),
        ("web/store.ts", "  must(): number { return 2; }\n", "", "Memory.must", "Base"),
        ("web/store.ts", "  may(): number { return 3; }\n", "", "Memory.may", ""),
        ("py/store.py", "class Memory(Base):\n    def save(self, key):\n        return key\n", "class Memory(Base):\n",
         "Memory.save", "Base"),
        ("py/store.py", "class Memory(Base):\n    def save(self, key):", "class Memory(Base):\n    def save(self):", "Memory.save", "Base"),
        ("py/store.py", "class Memory(Base):\n    def save(self, key):", "class Memory(Base):\n    def save(self, key, *more):",
         "Memory.save", ""),
        ("py/store.py", "    def load(self):\n        return 2\n", "    pass\n", "Memory.load", ""),
        ("py/store.py", "    def go(self):\n        return 1\n", "    pass\n", "Walk.go", "Going"),
        ("rs/src/lib.rs", "    fn area(&self) -> i64 {\n        self.0 * self.0\n    }\n\n", "", "Square.area", "Area"),
        ("rs/src/lib.rs", "    fn area(&self) -> i64 {\n", "    fn area(&self) -> u64 {\n", "Square.area", "Area"),
        ("rs/src/lib.rs", "    fn double(&self) -> i64 {\n        2\n    }\n", "", "Square.double", ""),
    ],
)  # fmt: skip
def test_what_a_type_says_that_it_is_must_have_what_that_asks_for(said: Path, path: str, old: str, new: str, name: str, interface: str):
    edit(said, path, (old, new))
    item = named(look(said), f".{name}")
    assert item.what in ("removed", "signature")
    assert [lost.name.rpartition(".")[2] for lost in item.interfaces] == ([interface] if interface else [])
    assert ("interface_broken" in item.reasons) is bool(interface)
    if interface:
        assert item.level in ("high", "critical")
        assert item.interfaces[0].line > 0


@pytest.mark.parametrize(
    ("path", "old", "new", "name", "types"),
    [
        ("web/store.ts", "  maybe?(): void;\n", "  maybe?(): void;\n  drop(): void;\n", "Saver.drop", ["Memory"]),
        ("web/store.ts", "  maybe?(): void;\n", "  maybe?(): void;\n  drop?(): void;\n", "Saver.drop", []),
        ("web/store.ts", "  abstract must(): number;\n", "  abstract must(): number;\n  abstract drop(): void;\n", "Base.drop", ["Memory"]),
        ("web/store.ts", "  abstract must(): number;\n", "  abstract must(): number;\n  drop(): void {}\n", "Base.drop", []),
        ("py/store.py", "    @abstractmethod\n    def save(self, key): ...\n",
         "    @abstractmethod\n    def save(self, key): ...\n\n    @abstractmethod\n    def drop(self): ...\n", "Base.drop", ["Memory"]),
        ("py/store.py", "    def load(self):\n        return 1\n",
         "    def load(self):\n        return 1\n\n    def drop(self):\n        return 1\n", "Base.drop", []),
        ("rs/src/lib.rs", "pub trait Area {\n", "pub trait Area {\n    fn edge(&self) -> i64;\n", "Area.edge", ["Square"]),
        ("rs/src/lib.rs", "pub trait Area {\n", "pub trait Area {\n    fn edge(&self) -> i64 {\n        1\n    }\n", "Area.edge", []),
    ],
)  # fmt: skip
def test_what_is_asked_for_anew_of_what_says_that_it_is_one(said: Path, path: str, old: str, new: str, name: str, types: list[str]):
    edit(said, path, (old, new))
    item = named(look(said), f"{name}")
    assert item.what == "added"
    assert [lost.type.rpartition(".")[2] for lost in item.interfaces] == types
    assert ("interface_broken" in item.reasons) is bool(types)


def test_a_type_that_is_not_made_itself_may_leave_it_to_others(said: Path):
    edit(said, "py/store.py", ("    def more(self): ...\n\n    def save(self, key):\n        return key\n", "    def more(self): ...\n"))
    item = named(look(said), "Half.save")
    assert [(lost.name, lost.declared) for lost in item.interfaces] == [("py.store.Base", False)]
    assert "interface_left" in item.reasons


def test_what_changed_inside_of_a_submodule_is_a_gap(tmp_path: Path):
    """Its files are in the index, its changes are in a diff of its own."""
    library = write_tree(tmp_path / "library", {"lib/__init__.py": "", "lib/core.py": "def part(a):\n    return a\n"})
    git(library, "init", "-q")
    commit(library)
    root = write_tree(tmp_path / "work", {"a.py": "from sub.lib.core import part\n\n\ndef whole():\n    return part(1)\n"})
    git(root, "init", "-q")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "sub")
    commit(root)
    crawl_with_ty(root, jobs=1)
    assert look(root).completeness.status == "complete"
    edit(root, "sub/lib/core.py", ("def part(a):", "def part(a, b):"))
    found = look(root)
    assert [(reason.code, reason.paths) for reason in found.completeness.reasons] == [("not_read", ["sub"])]
    assert "lspidx -C sub query changes" in found.completeness.reasons[0].detail
