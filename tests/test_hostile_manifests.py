"""Manifests that are written against their reader: text that never ends, or that takes far longer to read than it is long."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from support import Watcher, rows, write_tree

from indexer import builds, encoding, go_modules, packages, tsconfig
from indexer.config import Config, load_config
from indexer.consent import Reach
from indexer.crawl.plan.survey import survey
from indexer.crawl.run import crawl
from indexer.errors import ConfigError, UsageError
from indexer.node_workspace import read_yaml
from indexer.vcs import DEEPEST, list_files
from query.upkeep.doctor import doctor

_LONG = 400_000
"""In proportion, reading takes less than a second. In squares it takes so many hours that nobody need measure: the test does not end."""


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (go_modules.parse, lambda count: "require (\n" * count),
        (go_modules.parse, lambda count: "require (\n" + "\n" * count),
        (go_modules.parse, lambda count: "require a v1" + " " * count + "x\n"),
        (tsconfig.parse, lambda count: "/*a" * count),
        (tsconfig.parse, lambda count: '"\\' * count),
        (tsconfig.parse, lambda count: "[," + " " * count),
        (builds.tags_in, lambda count: " " * count + "-"),
        (lambda text: builds.constraint("go", "a.go", text.encode()), lambda count: "//go:build a" + " " * count + "\0"),
    ],
)  # fmt: skip
def test_reading_ends_however_long_the_text_is(read: Callable[[str], object], text: Callable[[int], str]) -> None:
    read(text(_LONG))


@pytest.mark.parametrize("name", ["go.mod", "package.json", "Cargo.toml", "pom.xml", "tsconfig.json", "compile_commands.json"])
@pytest.mark.parametrize("plant", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)], ids=["a pipe", "a file without end"])
def test_a_manifest_that_never_ends_is_none(name: str, plant: Callable[[str], None], tmp_path: Path) -> None:
    plant(str(tmp_path / name))
    assert go_modules.read(tmp_path / name) == go_modules.Manifest()
    assert encoding.read_beginning(tmp_path / name, 1_000) == ""
    assert packages.ingredients_digest(tmp_path, [name]) == packages.ingredients_digest(tmp_path, [])
    for language in ("go", "typescript", "rust", "java"):
        packages.own_packages(tmp_path, language, ["a"])


@pytest.mark.parametrize("name", ["pyproject.toml", ".ignore", "pkg/package.json", "a.h", "pkg/b.go", "go.work"])
@pytest.mark.parametrize("leads_to", ["", "/proc/self/fd/0", "/dev/stdin", "folder/0", "../pipe"])
def test_what_a_server_would_wait_for_is_named_before_one_is_started(name: str, leads_to: str, tmp_path: Path) -> None:
    """A pipe, or a link to what each process reads from; beside a document or above one, by a name that servers read."""
    root = write_tree(tmp_path / "root", {"pkg/a.py": "x = 1\n", "far/README.md": "x\n"})
    os.mkfifo(tmp_path / "pipe")
    place = root / name
    (root / "folder").symlink_to("/proc/self/fd")
    if leads_to:
        place.symlink_to("../" * name.count("/") + leads_to if not leads_to.startswith("/") else leads_to)
    else:
        os.mkfifo(place)
    with pytest.raises(UsageError, match=rf"{re.escape(name)}' is (a pipe|a link to '.*'), which a language server would read without end"):
        survey(root, ["pkg/a.py"], Config(), languages=["python"])
    place.unlink()
    for harmless in ("far/go.mod", "run.fifo"):
        os.mkfifo(root / harmless)
    for harmless, target in (("etc-mtab", "/proc/self/mounts"), ("null.json", "/dev/null"), ("gone.json", "nowhere"), ("a.json", "a.json")):
        (root / harmless).symlink_to(target)
    assert [item.path for item in survey(root, ["pkg/a.py"], Config(), languages=["python"]).documents] == ["pkg/a.py"]


@pytest.mark.parametrize("name", ["lspidx.toml", "pyproject.toml"])
def test_a_nul_in_a_setting_is_no_defect(name: str, tmp_path: Path) -> None:
    """No path has one; the system's calls would end with an error that nobody expects of a file."""
    says = {"folders": '["\\u0000"]', "source_roots": '["a\\u0000"]', "exclude": '["\\u0000"]', "python": '"\\U00000000"'}
    table = "[tool.lspidx]\n" if name == "pyproject.toml" else ""
    write_tree(tmp_path, {name: table + "".join(f"{key} = {value}\n" for key, value in says.items()), "a.py": "x = 1\n"})
    config = load_config(tmp_path, environment={}, user_dir=tmp_path / "none")
    assert "\0" not in repr(config)
    with pytest.raises(UsageError, match="is not a folder"):
        crawl(tmp_path, config, Watcher(), environment={})


def test_no_text_of_a_manifest_has_what_no_path_has() -> None:
    """NULs and halves of characters; a whole one beyond the first plane, which JSON writes as two halves, stays."""
    odd = r'["a\u0000b", "\ud800", "\udc00x", "\ud83d\ude00", "\ud800\ud800", "\\u", "\u00e9"]'
    assert encoding.parse_json(odd) == ["a\ufffdb", "\ufffd", "\ufffdx", "\U0001f600", "\ufffd\ufffd", "\\u", "\u00e9"]
    assert encoding.parse_json(odd.encode()) == encoding.parse_json(odd)
    assert encoding.parse_toml(r'a = "x\u0000\U00000000"') == {"a": "x\ufffd\ufffd"}
    assert not Reach(Path("/"), ["/"]).may_read("/a\0b")


def test_what_npm_says_that_it_has_installed_may_be_no_file(tmp_path: Path) -> None:
    """The list is read though git does not list it."""
    (tmp_path / "node_modules").mkdir()
    before = packages.ingredients_digest(tmp_path, [])
    (tmp_path / "node_modules/.package-lock.json").symlink_to("/dev/zero")
    assert packages.ingredients_digest(tmp_path, []) == before


def test_settings_that_take_minutes_to_read_are_refused_by_name(tmp_path: Path) -> None:
    write_tree(tmp_path, {"lspidx.toml": "# x\n" * encoding.MOST_TOML_BYTES})
    with pytest.raises(ConfigError, match=r"lspidx\.toml: not readable: is larger than settings may be"):
        load_config(tmp_path, environment={}, user_dir=tmp_path / "none")


@pytest.mark.parametrize(
    "key", ["a." * 50_000 + "a = 1", '"a" . ' * 50_000 + "a = 1", "[" + "a." * 50_000 + "a]", "x = {" + "a." * 50_000 + "a = 1}"]
)
def test_a_key_of_many_parts_is_refused_before_it_is_read(key: str, tmp_path: Path) -> None:
    """Python's reader takes two minutes for each of these, which a project's own settings had cost every command."""
    write_tree(tmp_path, {"lspidx.toml": key})
    with pytest.raises(ConfigError, match="too many parts"):
        load_config(tmp_path, environment={}, user_dir=tmp_path / "none")
    assert encoding.parse_toml('a.b."c.d" = "' + "e." * 40 + '"') == {"a": {"b": {"c.d": "e." * 40}}}


def test_a_path_that_the_system_does_not_take_is_a_gap(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    place = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=place)
        deeper = os.open("d" * 250, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = deeper
    os.close(place)
    found = survey(tmp_path, list(list_files(tmp_path, ())), Config(), languages={"python"})
    assert [item.path for item in found.documents] == ["a.py"]
    assert [str(item.reason) for item in found.skipped] == ["unreadable"]


def test_the_artifact_of_a_parent_is_not_the_packages(tmp_path: Path) -> None:
    parent = "<parent><artifactId>above</artifactId></parent>"
    write_tree(tmp_path, {"pom.xml": f"<project>{parent}<artifactId> own </artifactId></project>"})
    assert packages.own_packages(tmp_path, "java", ["A.java"])["A.java"][0].name == "own"


_DIGITS = "9" * 6_000
"""More than Python reads as a number."""

_ODD = {"number": "1", "digits": _DIGITS, "list": "[1, [2]]", "text": '"x"', "truth": "true", "empty text": '""', "nul": '"a\\u0000"'}
_OF_JSON = ("name", "version", "main", "types", "exports", "imports", "workspaces", "dependencies", "scripts", "private", "packageManager")
_OF_TSCONFIG = ("compilerOptions", "include", "exclude", "files", "references", "extends")
_OF_OPTIONS = ("paths", "baseUrl", "types", "typeRoots", "outDir", "allowJs", "rootDirs")
_OF_PYPROJECT = ("name", "version", "requires-python", "dependencies", "optional-dependencies", "scripts", "entry-points")
_OF_TOOLS = ("poetry", "uv", "ty", "pyright", "setuptools", "hatch", "pytest", "pdm")
_OF_CRATE = ("name", "version", "edition", "build", "autobins")
_OF_WORKSPACE = ("members", "exclude", "package", "dependencies")


def _tree(odd: str) -> dict[str, str]:
    """Manifests each member of which is odd; in `outer` the tables are, too."""
    options = ", ".join(f'"{key}": {odd}' for key in _OF_OPTIONS)
    lines = {
        "project": [f"{key} = {odd}" for key in _OF_PYPROJECT],
        "tool": [f"{key} = {odd}" for key in _OF_TOOLS],
        "package": [f"{key} = {odd}" for key in _OF_CRATE],
        "workspace": [f"{key} = {odd}" for key in _OF_WORKSPACE],
        "dependencies": [f"x = {odd}", f"y = {{ path = {odd}, version = {odd}, features = {odd} }}"],
        "lib": [f"path = {odd}", f"name = {odd}"],
    }
    toml = {name: "\n".join([f"[{name}]", *said]) + "\n" for name, said in lines.items()}
    return {
        "package.json": "{" + ", ".join(f'"{key}": {odd}' for key in _OF_JSON) + "}",
        "tsconfig.json": f'{{"compilerOptions": {{{options}}}, "include": {odd}, "references": [{{"path": {odd}}}]}}',
        "pyproject.toml": toml["project"] + toml["tool"],
        "Cargo.toml": "".join(toml[name] for name in ("package", "workspace", "dependencies", "lib")),
        "Cargo.lock": f"version = {odd}\npackage = {odd}\n",
        "Pipfile": f"packages = {odd}\n",
        "requirements.txt": f"a=={_DIGITS}\nb~={_DIGITS}.1\n",
        "go.mod": f"module a\n\ngo 1.{_DIGITS}\n\nrequire b v{_DIGITS}.0.0\nrequire b v1.{_DIGITS}.0\n",
        "bytes/go.mod": "module c\n\nrequire d v1.0.0\nreplace d => ../\0d\nreplace e => \0\n",
        "bytes/a.go": "package c\n",
        "compile_commands.json": f'[{odd}, {{"directory": {odd}, "file": {odd}, "command": {odd}, "arguments": {odd}}}]',
        "outer/package.json": odd,
        "outer/tsconfig.json": "{" + ", ".join(f'"{key}": {odd}' for key in _OF_TSCONFIG) + "}",
        "outer/pyproject.toml": f"project = {odd}\ntool = {odd}\ndependency-groups = {odd}\n",
        "outer/Cargo.toml": f"package = {odd}\nworkspace = {odd}\ndependencies = {odd}\nlib = {odd}\nbin = {odd}\n",
        "ranged/pyproject.toml": f'[project]\nname = "a"\nrequires-python = ">=3.{_DIGITS}"\ndependencies = ["a=={_DIGITS}"]\n',
        "ranged/Cargo.toml": f'[package]\nname = "b"\nversion = "{_DIGITS}.0.0"\n[dependencies]\nc = "^{_DIGITS}"\n',
        "ranged/package.json": json.dumps({"name": "c", "version": f"{_DIGITS}.0.0", "dependencies": {"d": f"^{_DIGITS}.0.0"}}),
    }


@pytest.mark.slow
@pytest.mark.parametrize("odd", _ODD.values(), ids=_ODD)
def test_members_of_any_type_end_no_command(odd: str, tmp_path: Path) -> None:
    """A name that is a list, a list that is a number, a number of 6,000 digits. In the root pyproject.toml is refused as settings."""
    sources = {"a.py": "x = 1\n", "a.ts": "export const a = 1\n", "a.go": "package a\n", "src/lib.rs": "pub fn f() {}\n", "a.c": "int a;\n"}
    every = {
        **sources,
        **{f"outer/{path}": text for path, text in sources.items()},
        **{f"ranged/{path}": text for path, text in sources.items()},
    }
    write_tree(tmp_path, {f"inner/{path}": text for path, text in {**every, **_tree(odd)}.items()})
    doctor(tmp_path)
    done = crawl(tmp_path, Config(server="none", jobs=1), Watcher(), environment={})
    assert done.generation.is_file()


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A thousand folders within each other, removed one by one: what removes trees for others goes one call deeper with each."""
    write_tree(tmp_path, {"a.py": "def f():\n    return 1\n"})
    places = [f"{tmp_path}/{'/'.join('d' * number)}" for number in range(1, 1_101)]
    for place in places:
        os.mkdir(place)
    files = [Path(places[number], "m.py") for number in (3, -1)]
    for file in files:
        file.write_text("def g(): ...\n")
    yield tmp_path
    for file in files:
        file.unlink()
    for place in reversed(places):
        os.rmdir(place)


@pytest.mark.slow
def test_folders_within_folders_without_end_are_a_gap(deep: Path) -> None:
    """A thousand calls within each other are more than Python makes; what lies in so many folders is named, and the rest is whole."""
    listed = list_files(deep)
    assert sorted(listed) == sorted(["a.py", "d/" * DEEPEST, "d/d/d/d/m.py"])
    doctor(deep)
    done = crawl(deep, Config(jobs=1, server="ty"), Watcher(), environment={})
    assert done.manifest["skipped"] == {"too_deep": 1}
    assert rows(done.generation, "SELECT path, status FROM documents WHERE status = 'ok' ORDER BY path") == [
        ("a.py", "ok"),
        ("d/d/d/d/m.py", "ok"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {x1: 1, x2: 2}\n" + "".join(f"{c}: &{c} {{<<: [{', '.join([f'*{b}'] * 9)}]}}\n" for b, c in pairwise("abcdefghijkl")),
        "a: &a [x, x]\n" + "".join(f"{c}: &{c} [{', '.join([f'*{b}'] * 9)}]\n" for b, c in pairwise("abcdefghijkl")),
        "[" * 100_000, "- " * 100_000, "? " * 100_000, "{a: " * 5_000, "packages: &a [*a]\n", "packages: [*nothing]\n",
        "!!python/name:os.system x\n",
        "a: 1\n---\nb: 2\n", "a: 1" + "0" * 10_000, "2001-99-99T00:00:00Z: 1\n", "\t", "packages: {[a]: b}\n",
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_no_yaml_file_keeps_a_command_busy_or_ends_it(text: str, tmp_path: Path) -> None:
    """A kilobyte of merges took all memory there is, and brackets the stack of libyaml, before any server was started."""
    (tmp_path / "pnpm-workspace.yaml").write_text(text, encoding="utf-8")
    assert read_yaml(tmp_path / "pnpm-workspace.yaml").get("packages") is None
    (tmp_path / "pnpm-workspace.yaml").write_text("shared: &a [x]\npackages: *a\n", encoding="utf-8")
    assert read_yaml(tmp_path / "pnpm-workspace.yaml")["packages"] == ["x"]
