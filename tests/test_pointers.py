"""What a repository's own files point to outside of it: named, and read by no server until the user has allowed it (ADR 0038)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest
from query_support import lspidx
from support import write_tree
from toolchains import requires

from indexer import encoding
from indexer.consent import Reach, told
from indexer.model import Trust
from indexer.servers import pointers
from indexer.servers.grants import confinement
from indexer.servers.installed import servers_dir
from indexer.servers.pointers import refused_pointers
from indexer.servers.registry import FoundServer, server_spec

SECRET = "neighbours_text"
NEXT = {
    "next/sec.py": f'from typing import Final\nKEY: Final = "{SECRET}"\n',
    "next/sec.ts": f'export const KEY = "{SECRET}" as const;\n',
    "next/package.json": '{"name": "neighbour", "types": "sec.ts"}\n',
    "next/base.json": f'{{"compilerOptions": {{"target": "{SECRET}"}}}}\n',
    "next/sec.h": f'#define KEY "{SECRET}"\n#warning {SECRET}\nstruct S {{ int {SECRET}; }};\n',
    "next/go.mod": "module example.com/next\n\ngo 1.21\n",
    "next/sec.go": f'package next\n\nconst Key = "{SECRET}"\n',
    "next/Cargo.toml": f'[package]\nname = "neighbour"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n{SECRET} = "1"\n',
    "next/src/lib.rs": f'pub const KEY: &str = "{SECRET}";\n',
}
_SITE = ".venv/lib/python3.12/site-packages"
_ENVIRONMENT = {".venv/pyvenv.cfg": "home = /none\nversion = 3.12\n", f"{_SITE}/y.py": ""}

_PYTHON = "from sec import KEY\nX = KEY\nY: int = KEY\n"
_TYPESCRIPT = "import { KEY } from 'PLACE';\nexport const X = KEY;\nconst Y: number = KEY;\n"
_C = '#include "sec.h"\nconst char *X = KEY;\nstruct S Y;\n'
_GO = 'package work\n\nimport "example.com/next"\n\nconst X = next.Key\n\nvar Y int = next.Key\n\nfunc F() { G() }\n'
_GO_BESIDE = "package work\n\nfunc G() { F() }\n"
_RUST = 'pub const X: &str = neighbour::KEY;\npub const Y: &str = include_str!("../../next/src/lib.rs");\n'

TREES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "ty.toml": ({"ty.toml": "[environment]\nextra-paths = ['../next']\n", "a.py": _PYTHON}, "../next"),
    "pyproject.toml": ({"pyproject.toml": "[tool.ty.environment]\nroot = ['.', '../next']\n", "a.py": _PYTHON}, "../next"),
    "pyrightconfig.json": ({"pyrightconfig.json": '{"extraPaths": ["sub/../../next"]}', "a.py": _PYTHON}, "../next"),
    "paths": (
        {"tsconfig.json": '{"compilerOptions": {"paths": {"n/*": ["../next/*"]}}}', "a.ts": _TYPESCRIPT.replace("PLACE", "n/sec")},
        "../next",
    ),
    "extends": ({"tsconfig.json": '{"extends": "../next/base.json"}', "a.ts": "export const X = 1;\n"}, "../next/base.json"),
    "references": (
        {"tsconfig.json": '{"references": [{"path": "../next"}]}', "a.ts": _TYPESCRIPT.replace("PLACE", "../next/sec")},
        "../next",
    ),
    "typeRoots": ({"tsconfig.json": '{"compilerOptions": {"typeRoots": ["../next"]}}', "a.ts": "export const X = 1;\n"}, "../next"),
    "link:": (
        {"package.json": '{"dependencies": {"neighbour": "link:../next"}}', "a.ts": _TYPESCRIPT.replace("PLACE", "neighbour")},
        "../next",
    ),
    "replace": (
        {
            "go.mod": "module example.com/work\n\ngo 1.21\n\nrequire example.com/next v0.0.0\n\nreplace example.com/next => ../next\n",
            "a.go": _GO,
            "b.go": _GO_BESIDE,
        },
        "../next",
    ),
    "go.work": (
        {
            "go.mod": "module example.com/work\n\ngo 1.21\n",
            "go.work": "go 1.21\n\nuse (\n\t.\n\t../next\n)\n",
            "a.go": _GO,
            "b.go": _GO_BESIDE,
        },
        "../next",
    ),
    "Cargo.toml": (
        {
            "Cargo.toml": "[package]\nname = 'work'\n[dependencies]\nneighbour = { path = '../next' }\n",
            "src/lib.rs": _RUST,
        },
        "../next",
    ),
    "compile_flags.txt": ({"compile_flags.txt": "-I../next\n", "a.c": _C}, "../next"),
    ".clangd": ({".clangd": "CompileFlags:\n  Add: [-I../next]\n", "a.c": _C}, "../next"),
}
"""By what points outside: the tree, and what is said to be allowed."""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project `work`, a neighbour `next` that says a secret wherever it can, a home."""
    write_tree(tmp_path, {**NEXT, "home/x": "", "work/.keep": ""})
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(servers_dir()))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSPIDX_STATE_DIR", str(tmp_path / "state"))
    return tmp_path


def _refused(machine: Path, *allowed: str, prefix: str = "") -> list[str]:
    root = machine / "work"
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    reach = Reach(root, allowed, {"HOME": str(machine / "home")})
    return [item.text for item in refused_pointers([root], paths, reach, prefix)]


# ---- what is named


@pytest.mark.parametrize("by", TREES)
def test_what_a_manifest_points_to_is_named_until_it_is_allowed(machine: Path, by: str) -> None:
    tree, place = TREES[by]
    write_tree(machine / "work", dict(tree))
    assert _refused(machine) == [place]
    assert _refused(machine, "../next") == []


def _link(machine: Path) -> None:
    (machine / "work/next").symlink_to("../next")


def _package(machine: Path) -> None:
    (machine / "work/node_modules/@scope").mkdir(parents=True)
    (machine / "work/node_modules/@scope/next").symlink_to("../../../next")


def _store(machine: Path) -> None:
    write_tree(machine, {"node_modules/.pnpm/a@1/node_modules/a/package.json": "{}", "work/node_modules/x": ""})
    for name in ("a", "b", "c"):
        (machine / f"work/node_modules/{name}").symlink_to(machine / "node_modules/.pnpm/a@1/node_modules/a")


def _environment(machine: Path) -> None:
    write_tree(machine, {"environments/x/pyvenv.cfg": "home = /none\n"})
    (machine / "work/.venv").symlink_to("../environments/x")


@pytest.mark.parametrize(
    ("plant", "place"),
    [(_link, "../next"), (_package, "../next"), (_store, "../node_modules"), (_environment, "../environments/x")],
    ids=["a link", "a package", "a store of packages", "an environment"],
)
def test_what_a_link_leads_to_is_named(machine: Path, plant: Callable[[Path], None], place: str) -> None:
    plant(machine)
    assert _refused(machine) == [place]
    assert _refused(machine, place) == []


def test_the_path_files_of_an_environment_in_the_workspace_are_its_word_and_those_of_another_the_users(machine: Path) -> None:
    for top in ("work", "elsewhere"):
        write_tree(machine / top, {**_ENVIRONMENT, f"{_SITE}/x.pth": f"{machine / 'next'}\nimport os\n"})
    assert _refused(machine, prefix=str(machine / "work/.venv")) == [str(machine / "next")]
    assert _refused(machine, prefix=str(machine / "elsewhere/.venv")) == []


@pytest.mark.parametrize(
    "tree",
    [
        {"package.json": '{"scripts": {"a": "cd ../next && make"}, "dependencies": {"a": "^1"}}'},
        {"tsconfig.json": '{"exclude": ["../next"], "include": ["src"], "extends": "../missing.json"}'},
        {"compile_flags.txt": "-I/usr/include\n-Isrc\n"},
        {"go.mod": "module x\n\nrequire a.example/b v1.0.0\n\nreplace a.example/b => a.example/c v1.0.0\n"},
        {"pyproject.toml": "[project]\nreadme = '../next/sec.py'\n"},
        {"tsconfig.json": "[" * 100_000, "package.json": "{" * 10, "Cargo.toml": "x = [", "pyproject.toml": "a." * 5_000},
    ],
)
def test_what_no_server_would_follow_is_not_named(machine: Path, tree: dict[str, str]) -> None:
    write_tree(machine / "work", tree)
    assert _refused(machine) == []


def test_one_line_names_a_few_places_and_what_to_type(machine: Path) -> None:
    write_tree(machine, {"home/.ssh/key": "", **{f"next{number}/x": "" for number in range(9)}})
    targets = ", ".join(f'"../next{number}"' for number in range(9))
    write_tree(machine / "work", {"tsconfig.json": f'{{"include": [{targets}, "../home/.ssh"]}}'})
    root = machine / "work"
    open_, closed = told(refused_pointers([root], ["tsconfig.json"], Reach(root, (), {"HOME": str(machine / "home")})))
    assert open_.sentence.startswith("9 places outside of the workspace are pointed to but not read")
    assert open_.sentence.endswith("'../next4' (tsconfig.json) and 4 more")
    assert open_.remedy == "lspidx index " + " ".join(f"--allow-folder ../next{number}" for number in range(5))
    assert open_.languages == ("javascript", "typescript")
    assert (closed.remedy, "no project opens" in closed.sentence) == ("", True)


# ---- what is opened


def _held(machine: Path, *allowed: str, prefix: str = "", trust: Trust = Trust.NONE) -> set[str]:
    """What of this machine's own folders a server may read, links followed."""
    root = machine / "work"
    found = FoundServer(spec=server_spec("ty"), command=[sys.executable], version="1", source="a test")
    values: dict[str, object] = {"python_prefix": prefix, "python": "x", "all_roots": [str(machine)]} if prefix else {}
    held, _ = confinement(
        found,
        trust=trust,
        folders=[root],
        reach=Reach(root, allowed, {"HOME": str(machine / "home")}),
        values=values,
        readable=(),
        caller={"HOME": str(machine / "home"), "PATH": ""},
        scratch=root / ".lspidx/scratch",
        cache=root / ".lspidx/cache",
    )
    return {os.path.realpath(path) for path in [*held.read, *held.run] if os.path.realpath(path).startswith(f"{machine}/")}


@pytest.mark.parametrize("trust", [Trust.NONE, Trust.DEPS])
def test_no_link_and_no_environment_opens_what_lies_outside(machine: Path, trust: Trust) -> None:
    root, prefix = machine / "work", machine / "work/.venv"
    write_tree(machine, {"next/bin/python3": "x", "next/lib/python3.12/site-packages/p.py": "", "next/pyvenv.cfg": ""})
    write_tree(root, {**_ENVIRONMENT, f"{_SITE}/x.pth": f"{machine / 'next'}\n", ".venv/bin/x": ""})
    (root / "linked").symlink_to("../next")
    (root / "node_modules").symlink_to("../next")
    (prefix / "bin/python").symlink_to("../../../next/bin/python3")
    (prefix / "bin/python3").symlink_to("../../../next/sec.py")
    (prefix / "lib64").symlink_to("../../next/lib")
    (prefix / "include").symlink_to("../../next")
    inside = {path for path in _held(machine, prefix=str(prefix), trust=trust) if not path.startswith(f"{root}")}
    assert {path for path in inside if path.startswith(f"{machine}/next")} == set()
    assert str(machine / "next") in _held(machine, "../next", prefix=str(prefix), trust=trust)


def test_of_the_installation_behind_an_environment_in_the_workspace_the_standard_library_is_open(machine: Path) -> None:
    write_tree(
        machine,
        {
            "python/bin/python3.12": "x",
            "python/lib/python3.12/os.py": "",
            "python/lib/python3.12/encodings/x.py": "",
            "python/lib/python3.12/site-packages/private.py": "",
            "python/secret": "",
        },
    )
    write_tree(machine / "work", {**_ENVIRONMENT, ".venv/bin/x": ""})
    (machine / "work/.venv/bin/python").symlink_to("../../../python/bin/python3.12")
    found = {path.removeprefix(f"{machine}/") for path in _held(machine, prefix=str(machine / "work/.venv")) if "/python/" in path}
    assert found == {"python/bin/python3.12", "python/lib/python3.12/os.py", "python/lib/python3.12/encodings"}


def test_an_allowed_folder_is_open_and_a_closed_one_is_not(machine: Path) -> None:
    write_tree(machine, {"home/.ssh/key": ""})
    opened = _held(machine, "../next", "../home/.ssh", "../home", "..")
    assert str(machine / "next") in opened
    assert not opened & {str(machine / "home"), str(machine / "home/.ssh"), str(machine)}


# ---- traps, crawled by real servers

_SERVERS = {".ts": "ts7", ".go": "gopls", ".rs": "rust-analyzer", ".c": "clangd", ".py": "ty"}


def _environment_of(machine: Path) -> dict[str, str]:
    variables = {"HOME": str(machine / "home"), "LSPIDX_STATE_DIR": str(machine / "state"), "LSPIDX_SERVERS_DIR": str(servers_dir())}
    return {**variables, "PATH": os.environ["PATH"]}


def _index(root: Path, *more: str) -> dict[str, str]:
    """All that is said of an index that is made now, by where it stands."""
    said: dict[str, str] = {}
    commands = [
        f"index --jobs 1 {' '.join(more)}", "status", "query get_diagnostics", "query symbols --limit 100 --json", "query hover X",
        "query hover Y", f"cache export {root.parent / 'out'}",
    ]  # fmt: skip
    for command in commands:
        done = lspidx(*command.split(), cwd=root, env=_environment_of(root.parent))
        said[command] = done.stdout + done.stderr
    for file in (root / ".lspidx/db").glob("gen-*.duckdb"):
        with duckdb.connect(str(file), read_only=True) as connection:
            for (table,) in connection.execute("SELECT table_name FROM information_schema.tables").fetchall():
                said[f"table {table}"] = str(connection.execute(f'SELECT * FROM "{table}"').fetchall())
    for place in (root / ".lspidx", root.parent / "out"):
        for file in place.rglob("*"):
            if file.is_file() and file.suffix in (".log", ".json", ".jsonl"):
                said[str(file)] = file.read_text(encoding="utf-8", errors="replace")
    return said


@pytest.mark.slow
@pytest.mark.parametrize("by", TREES)
def test_nothing_of_a_neighbour_gets_into_anything(machine: Path, by: str) -> None:
    """Neither a type, nor a message of a compiler; with the user's word what is there is read."""
    tree, place = TREES[by]
    name = _SERVERS[os.path.splitext(next(path for path in tree if path.endswith(tuple(_SERVERS))))[1]]
    requires(name)
    write_tree(machine / "work", dict(tree))
    said = _index(machine / "work")
    assert "nothing lost" in said["index --jobs 1 "], said["index --jobs 1 "]
    assert [where for where, text in said.items() if SECRET in text] == []
    line = f"not read by servers, which was not allowed: '{place}'"
    assert line in said["index --jobs 1 "]
    assert line in said["status"]


@pytest.mark.slow
def test_a_package_as_root_opens_nothing_of_the_folder_above_it(machine: Path) -> None:
    """Its imports start there, so names are looked at there, and no more."""
    write_tree(
        machine / "work",
        {
            "__init__.py": "",
            "a.py": "from next.sec import KEY\nfrom work.b import f\n\nX = KEY\nY: int = KEY\nf()\n",
            "b.py": "def f() -> None: ...\n",
        },
    )
    said = _index(machine / "work")
    assert [where for where, text in said.items() if SECRET in text] == []
    assert "a.py:6:" in lspidx("query", "references", "work.b.f", cwd=machine / "work", env=_environment_of(machine)).stdout


@pytest.mark.slow
def test_with_the_users_word_a_neighbour_is_read(machine: Path) -> None:
    """Else the tests above would hold for a fence that closes everything."""
    tree, place = TREES["ty.toml"]
    write_tree(machine / "work", dict(tree))
    before, after = _index(machine / "work"), _index(machine / "work", "--allow-folder", place)
    assert "4 identifiers" in before["index --jobs 1 "] or "unresolved" in before["index --jobs 1 "]
    assert "not allowed" not in after[f"index --jobs 1 --allow-folder {place}"]
    assert SECRET in after["query hover X"], "the type of the project's own name is what the user has let it be"


def test_what_is_not_looked_through_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By size, by number of files, and by number of places in one: none of the three limits is kept in silence."""
    many = "".join(f"-I../n{number}\n" for number in range(4))
    files = {"compile_commands.json": "[" + " " * 900 + "]", "a/tsconfig.json": "{}", "b/tsconfig.json": "{}", "compile_flags.txt": many}
    write_tree(tmp_path, files)
    monkeypatch.setattr(encoding, "MOST_MANIFEST_BYTES", 800)
    monkeypatch.setattr(pointers, "_MOST_FILES", 3)
    monkeypatch.setattr(pointers, "_MOST_POINTERS", 3)
    found = refused_pointers([tmp_path], sorted(files), Reach(tmp_path, [], {}))
    assert [(item.sentence, item.remedy, item.languages) for item in told(found)] == [
        (
            "places outside of the workspace may be pointed to by 'compile_commands.json', not looked through for its size",
            "",
            ("c", "cpp"),
        ),
        (
            "places outside of the workspace may be pointed to by 'compile_flags.txt', not looked through for more than 3 places in it",
            "",
            ("c", "cpp"),
        ),
        (
            "places outside of the workspace may be pointed to by 'b/tsconfig.json', not looked through for more than 3 such files",
            "",
            ("javascript", "typescript"),
        ),
    ]
