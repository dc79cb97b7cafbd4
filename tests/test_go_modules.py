"""Go modules: what is required, what of it is in a cache, and the go.work with which the rest still loads."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from pathlib import Path

import msgspec
import pytest
from query_support import report_text
from support import Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer import go_modules
from indexer.config import Config
from indexer.crawl.plan.companions import go_workspace
from indexer.crawl.run import crawl
from indexer.go_modules import Version
from indexer.model import Trust
from indexer.prerequisites import Look, go
from indexer.prerequisites.fetch import fetch
from indexer.servers.registry import load_table, server_spec
from indexer.workspace import find_folders
from query.facts import status
from query.facts.index import open_index

APP = """module example.org/app

go 1.21

require example.org/Kept v1.0.0
require (
\texample.org/gone v1.2.0
\texample.org/deep v1.1.0 // indirect
)

replace example.org/beside => ./beside
"""


def _cache(folder: Path, *versions: tuple[str, str], requires: str = "", go: str = "1.17") -> Path:
    for path, version in versions:
        escaped = path.replace("K", "!k")
        write_tree(
            folder,
            {
                f"cache/download/{escaped}/@v/{version}.mod": f"module {path}\n\ngo {go}\n{requires}",
                f"{escaped}@{version}/a.go": "package a\n",
            },
        )
    return folder


def _look(root: Path, tmp_path: Path) -> Look:
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return Look(
        root=root,
        paths=paths,
        languages=frozenset({"go"}),
        environment={"GOMODCACHE": str(tmp_path / "mod"), "HOME": str(tmp_path)},
        fetched=tmp_path / "fetched",
    )


def test_a_manifest_is_read_in_blocks_and_in_lines():
    manifest = go_modules.parse(APP)
    assert (manifest.module, manifest.go) == ("example.org/app", "1.21")
    assert manifest.requires == (
        Version("example.org/gone", "v1.2.0"),
        Version("example.org/deep", "v1.1.0"),
        Version("example.org/Kept", "v1.0.0"),
    )
    assert manifest.direct == {"example.org/gone", "example.org/Kept"}
    assert manifest.replaced == {"example.org/beside": ("./beside", "")}


def test_what_is_missing_is_what_no_cache_has(tmp_path: Path):
    root = write_tree(tmp_path / "app", {"go.mod": APP})
    cache = _cache(tmp_path / "mod", ("example.org/Kept", "v1.0.0"))
    found = go_modules.look([root], [cache])
    assert found.missing == [("example.org/deep", "v1.1.0"), ("example.org/gone", "v1.2.0")]
    assert found.absent == [("example.org/gone", "v1.2.0")]  # the other one is imported by what is missing anyway


@pytest.mark.parametrize(
    ("own", "its", "missing"),
    [
        ("1.21", "1.17", []),  # pruned: the workspace lists all that its packages need
        ("1.21", "1.16", [("example.org/old", "v0.1.0")]),
        ("1.16", "1.17", [("example.org/old", "v0.1.0")]),
        ("", "1.17", [("example.org/old", "v0.1.0")]),
    ],
)
def test_what_a_module_in_the_cache_requires_is_looked_for_where_go_reads_it(
    tmp_path: Path, own: str, its: str, missing: list[tuple[str, str]]
):
    language = f"go {own}\n\n" if own else ""
    root = write_tree(tmp_path / "app", {"go.mod": f"module a\n\n{language}require example.org/Kept v1.0.0\n"})
    cache = _cache(tmp_path / "mod", ("example.org/Kept", "v1.0.0"), requires="require example.org/old v0.1.0\n", go=its)
    assert go_modules.look([root], [cache]).missing == missing


def test_the_cache_with_the_sources_is_taken(tmp_path: Path):
    """Though the go command could read more manifests with the other one, which has nothing."""
    root = write_tree(tmp_path / "app", {"go.mod": "module a\n\ngo 1.16\n\nrequire example.org/Kept v1.0.0\n"})
    olds = "".join(f"require example.org/old{number} v0.1.0\n" for number in range(3))
    fetched = _cache(tmp_path / "fetched/go/pkg/mod", ("example.org/Kept", "v1.0.0"), requires=olds)
    chosen, modules = go_modules.best_cache([root], {"HOME": str(tmp_path)}, tmp_path / "fetched")
    assert chosen == fetched
    assert modules.absent == []


def test_another_version_that_is_there_stands_for_a_missing_one(tmp_path: Path):
    """A nested module must not take from the root what that has, by asking for a newer version that nobody has downloaded."""
    root = write_tree(
        tmp_path / "app",
        {
            "go.mod": "module a\n\nrequire example.org/Kept v1.0.0\n",
            "tools/go.mod": "module a/tools\n\nrequire example.org/Kept v1.9.0\n",
        },
    )
    cache = _cache(tmp_path / "mod", ("example.org/Kept", "v1.0.0"))
    found = go_modules.look([root, root / "tools"], [cache])
    assert found.instead == {("example.org/Kept", "v1.9.0"): "v1.0.0"}
    text = go_modules.work_text(found, (), tmp_path / "empty")
    assert "replace example.org/Kept v1.9.0 => example.org/Kept v1.0.0\n" in text
    assert f"\t{root / 'tools'}\n" in text
    assert go_modules.empty_modules(found) == {}


def test_a_clone_without_modules_gets_empty_ones(tmp_path: Path):
    root = write_tree(tmp_path / "app", {"go.mod": APP})
    cache = tmp_path / "cache"
    cache.mkdir()
    made = go_workspace(find_folders(root, []), ["go.mod"], cache, {"HOME": str(tmp_path)})
    assert made.missing == ["example.org/Kept", "example.org/deep", "example.org/gone"]
    text = Path(made.variables["GOWORK"]).read_text()
    folder = next(line.split(" => ")[1] for line in text.splitlines() if line.startswith("replace example.org/gone v1.2.0"))
    assert (Path(folder) / "go.mod").read_text() == "module example.org/gone\n"
    assert f"replace example.org/beside => {root / 'beside'}\n" in text
    assert sorted(path.name for path in root.iterdir()) == ["go.mod"]


def test_a_module_of_the_workspace_is_never_replaced(tmp_path: Path):
    """Examples replace the library by the folder above them; in a go.work that has both the go command refuses this."""
    root = write_tree(
        tmp_path / "app",
        {"go.mod": "module a\n\nrequire b v1.0.0\n", "examples/go.mod": "module a/examples\n\nrequire a v1.0.0\n\nreplace a => ../\n"},
    )
    found = go_modules.look([root, root / "examples"], [])
    assert found.missing == [("b", "v1.0.0")]
    assert "replace a =>" not in go_modules.work_text(found, (), tmp_path)


def test_two_modules_of_one_name_do_not_meet(tmp_path: Path):
    root = write_tree(tmp_path, {"go.mod": "module a\n", "testdata/go.mod": "module a\n", "b/go.mod": "module b\n"})
    found = go_modules.look(go_modules.folders_of(root, ["go.mod", "testdata/go.mod", "b/go.mod"]), [])
    assert found.folders == [root, root / "b"]
    assert found.apart == [root / "testdata"]


def test_committed_dependencies_are_taken_from_where_they_lie(tmp_path: Path):
    root = write_tree(tmp_path / "app", {"go.mod": APP, "vendor/modules.txt": ""})
    made = go_workspace(find_folders(root, []), ["go.mod"], tmp_path, {"HOME": str(tmp_path)})
    assert made.is_vendored
    assert go.find(_look(root, tmp_path)) == []


def test_the_prerequisite_names_modules_and_command(tmp_path: Path):
    root = write_tree(tmp_path / "app", {"go.mod": APP})
    [found] = go.find(_look(root, tmp_path))
    assert found.detail == "2 of 3 required modules are not downloaded (example.org/Kept, example.org/gone)"
    assert (found.remedy, found.can_fetch) == ("go mod download", True)
    [step] = go.steps(_look(root, tmp_path))
    assert step.cwd in step.writes
    assert not any(str(path).startswith(str(root)) for path in [*step.writes, *map(Path, step.files)])
    _cache(tmp_path / "fetched/go/pkg/mod", ("example.org/Kept", "v1.0.0"), ("example.org/gone", "v1.2.0"), ("example.org/deep", "v1.1.0"))
    assert go.find(_look(root, tmp_path)) == []
    assert go.steps(_look(root, tmp_path)) == []


@pytest.mark.slow
def test_imports_of_a_module_that_was_not_downloaded_are_counted_and_named(tmp_path: Path):
    """Its name may stand beside it; what is used of it is unresolved as well, and no import of the file itself."""
    program = """package main

import (
	"fmt"

	"example.com/app/hub"
	"example.org/gone"
	nick "example.org/gone/deep"
)

func main() { fmt.Println(gone.Thing(), nick.Other(), hub.New()) }
"""
    tree = {
        "go.mod": "module example.com/app\n\ngo 1.21\n\nrequire example.org/gone v1.0.0\n",
        "main.go": program,
        "hub/hub.go": "package hub\n\nfunc New() int { return 1 }\n",
    }
    root = write_tree(tmp_path / "work", tree)
    made = crawl(root, Config(jobs=1), Watcher(), environment={"HOME": str(tmp_path), "GOMODCACHE": str(tmp_path / "none")})
    with open_index(root) as index:
        imports = index.rows("SELECT line, module FROM unresolved_imports ORDER BY line")
        assert imports == [(6, "example.org/gone"), (7, "example.org/gone/deep")]
        unresolved = index.rows("SELECT DISTINCT name FROM occurrences WHERE path = 'main.go' AND symbol IS NULL ORDER BY name")
        assert [name for (name,) in unresolved] == ["Other", "Thing", "deep", "gone", "nick"]
        text = report_text(status.status(index))
        assert "identifiers; 2 imports:" in text
        assert "    example.org/gone/deep        1" in text
    assert made.manifest["counts"]["unresolved_imports"] == 2
    [missing] = made.manifest["prerequisites"]
    assert missing["name"] == "modules"


@pytest.mark.slow
def test_a_value_whose_type_has_no_name_loses_no_file(tmp_path: Path):
    """gopls answers the question for such a type with an error; what the value may run stays open at its place, and nothing else does."""
    requires("go", "gopls")
    program = """package a

func Seq(yield func(int) bool) { yield(1) }

func Over(it func(yield func(int) bool)) {
	for x := range it {
		_ = x
	}
}

func Use() { Over(Seq) }
"""
    root = write_tree(tmp_path / "work", {"go.mod": "module example.com/app\n\ngo 1.23\n", "a.go": program})
    made = crawl(root, Config(jobs=1), Watcher(), environment={"HOME": str(tmp_path), "GOMODCACHE": str(tmp_path / "none")})
    assert made.manifest["lost"] == {}
    with open_index(root) as index:
        assert index.rows("SELECT line, operation FROM unresolved_operations") == [(5, "iterate")]
        assert index.rows("SELECT count(*) FROM coverage WHERE status = 'lost'") == [(0,)]


def test_status_lists_nothing_below_a_count_of_no_imports(tmp_path: Path):
    root = write_tree(tmp_path / "work", {"a.py": "def f(x):\n    return x.nothing_known\n"})
    crawl_with_ty(root)
    with open_index(root) as index:
        [line] = [line for line in report_text(status.status(index)).split("\n") if "unresolved " in line]
    assert line == "  unresolved 1 identifiers; 0 imports"


def test_what_a_replacement_leads_to_is_replaced_itself_where_it_is_missing(tmp_path: Path):
    """The go command does not follow from one replacement to another; an empty module has the name of the one that it stands for."""
    text = "module a\n\nrequire b v1.0.0\n\nreplace b => b v1.2.0\n\nreplace c => d v1.1.0\n"
    root = write_tree(tmp_path / "app", {"go.mod": text})
    found = go_modules.look([root], [_cache(tmp_path / "mod", ("d", "v1.1.0"))])
    lines = go_modules.work_text(found, (), tmp_path / "empty").splitlines()
    assert [line for line in lines if line.startswith("replace")] == [f"replace b => {tmp_path / 'empty' / 'b'}", "replace c => d v1.1.0"]
    assert go_modules.empty_modules(found) == {"b": "module b\n"}


def test_below_a_module_for_an_older_go_everything_is_read(tmp_path: Path):
    root = write_tree(tmp_path / "app", {"go.mod": "module a\n\ngo 1.21\n\nrequire old v1.0.0\n"})
    cache = _cache(tmp_path / "mod", ("old", "v1.0.0"), requires="require new v1.0.0\n", go="1.16")
    _cache(cache, ("new", "v1.0.0"), requires="require deep v1.0.0\n", go="1.21")
    assert go_modules.look([root], [cache]).missing == [("deep", "v1.0.0")]


def test_below_what_stands_for_a_missing_version_everything_is_read_as_below_that(tmp_path: Path):
    """`old` wants a version that nobody has; the newer one in its place is for a Go of which alone nothing below it would be read."""
    root = write_tree(tmp_path / "app", {"go.mod": "module a\n\ngo 1.21\n\nrequire old v1.0.0\nrequire kept v1.1.0\n"})
    cache = _cache(tmp_path / "mod", ("old", "v1.0.0"), requires="require kept v1.0.0\n", go="1.16")
    _cache(cache, ("kept", "v1.1.0"), requires="require deep v1.0.0\nrequire far v1.0.0\n", go="1.21")
    _cache(cache, ("far", "v1.0.0"), requires="require farther v1.0.0\n", go="1.21")
    found = go_modules.look([root], [cache])
    assert found.instead == {("kept", "v1.0.0"): "v1.1.0"}
    assert found.missing == [("deep", "v1.0.0"), ("farther", "v1.0.0"), ("kept", "v1.0.0")]
    text = go_modules.work_text(found, (), tmp_path / "empty")
    assert f"replace deep v1.0.0 => {tmp_path / 'empty' / 'deep'}\n" in text


def test_several_modules_are_downloaded_alone_and_together(tmp_path: Path):
    """Of all together a version may be chosen that none of them needs alone; the repository's own folders are not written to."""
    root = write_tree(
        tmp_path / "app",
        {
            "go.mod": "module a\n\nrequire b v1.0.0\n",
            "tools/go.mod": "module a/tools\n\nrequire b v1.1.0\n\nreplace c => ./c\n",
            "tools/c/go.mod": "module c\n",
        },
    )
    *alone, together = go.steps(_look(root, tmp_path))
    assert [step.environment["GOWORK"] for step in alone] == ["off", "off"]
    assert together.command == ["go", "mod", "download"]
    work = Path(together.environment["GOWORK"])
    text = together.files[str(work)]
    used = [Path(line.strip()) for line in text.splitlines() if line.startswith("\t")]
    assert len(used) == 3
    assert all(str(folder / "go.mod") in together.files and folder in together.writes for folder in used)
    assert not any(str(path).startswith(str(root)) for path in [*together.writes, *map(Path, together.files)])


HOSTILE = """module example.org/app

go 1.20

toolchain go1.99.1

tool example.org/evil

require (
	example.org/kept v1.0.0
	example.org/out v0.0.0
	example.org/up v0.0.0
	example.org/zero v0.0.0
	example.org/pipe v0.0.0
	example.org/in v0.0.0
)

exclude example.org/kept v0.9.0

replace (
	example.org/out => {outside}
	example.org/up v0.0.0 => ../private
	example.org/zero => ./zero
	example.org/pipe => ./pipe
	example.org/in => ./in
)
"""


def _hostile(tmp_path: Path) -> Path:
    """A module whose replacements lead to a private one, to a device without an end, to a pipe, and to one of the repository."""
    secret = "module example.org/out\n\nrequire example.org/secret v1.0.0\n"
    private = write_tree(tmp_path / "private", {"go.mod": secret, "go.sum": "SECRET"})
    inner = "module example.org/in\n\nrequire example.org/below v1.0.0\n"
    tree = {"go.mod": HOSTILE.format(outside=private), "in/go.mod": inner, "zero/a.go": "", "pipe/a.go": "", "linked/a.go": ""}
    root = write_tree(tmp_path / "app", tree)
    (root / "zero/go.mod").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe/go.mod")
    (root / "linked/go.mod").symlink_to(private / "go.mod")
    (root / "go.sum").symlink_to(private / "go.sum")
    return root


def test_the_go_command_is_shown_nothing_that_leads_out_of_the_repository(tmp_path: Path):
    """It reads the go.mod of each folder that a module is replaced by, and asks a proxy for what stands in there."""
    root = _hostile(tmp_path)
    paths = ["go.mod", "go.sum", "in/go.mod", "zero/go.mod", "pipe/go.mod", "linked/go.mod"]
    steps = go.steps(msgspec.structs.replace(_look(root, tmp_path), paths=paths))
    assert len(steps) >= 2
    for step in steps:
        assert not step.cwd.is_relative_to(root)
        for text in step.files.values():
            assert not any(word in text for word in ("SECRET", "secret", "private", "toolchain", "tool ", str(root)))
            for target in (line.split(" => ")[1] for line in text.splitlines() if line.startswith("replace") and " => ." in line):
                assert any(Path(os.path.normpath(Path(file).parent / target / "go.mod")) in map(Path, step.files) for file in step.files)
    first = steps[0]
    text = first.files[str(first.cwd / "go.mod")]
    assert "require example.org/kept v1.0.0\n" in text
    assert "exclude example.org/kept v0.9.0\n" in text
    assert "replace example.org/in => ./in\n" in text
    assert first.files[str(first.cwd / "in/go.mod")] == "module example.org/in\nrequire example.org/below v1.0.0\n"


@pytest.mark.slow
def test_a_download_ends_whatever_a_module_is_replaced_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The go command read /dev/zero till no memory was left, waited for the pipe, and brought what the private module requires."""
    requires("go")
    shelf = tmp_path / "shelf"
    for name in ("kept", "below", "secret"):
        module = f"example.org/{name}"
        write_tree(shelf / module / "@v", {"v1.0.0.info": '{"Version": "v1.0.0"}', "v1.0.0.mod": f"module {module}\n", "list": "v1.0.0\n"})
        with zipfile.ZipFile(shelf / module / "@v/v1.0.0.zip", "w") as archive:
            archive.writestr(f"{module}@v1.0.0/go.mod", f"module {module}\n")
            archive.writestr(f"{module}@v1.0.0/a.go", "package a\n")
    for name, value in {"GOPROXY": shelf.as_uri(), "GONOSUMDB": "*", "GOFLAGS": ""}.items():
        monkeypatch.setenv(name, value)
    root = _hostile(tmp_path)
    look = msgspec.structs.replace(_look(root, tmp_path), paths=["go.mod"])
    [outcome] = fetch(go.steps(look), Trust.NONE, avoid=[str(root)], say=lambda text: None)
    assert outcome.problem == ""
    cache = go_modules.fetched_cache(look.fetched)
    assert [path.name for path in (cache / "example.org").iterdir()] == ["kept@v1.0.0"]
    assert sorted(path.name for path in (cache / "cache/download/example.org").iterdir()) == ["below", "kept"]


def test_no_checksum_is_looked_up_where_nothing_can_be_reached():
    """Of several modules together the go command reads a go.mod that none of them reads alone, and whose checksum is in no go.sum. It
    would ask the database of checksums, which a server behind the fence does not reach, and then no import of any module is resolved
    (prometheus). What lies in the cache was held against its checksums when it was downloaded.
    """
    assert load_table().server["gopls"].environment["GOSUMDB"] == "off"


def test_a_go_work_without_sums_is_written_where_they_may_be(tmp_path: Path):
    """The go command writes go.work.sum beside it, and loads nothing where it may not (prometheus)."""
    root = write_tree(
        tmp_path / "app",
        {
            "go.work": "go 1.22\n\nuse (\n\t.\n\t./tools\n)\n\nreplace b => ./b\n",
            "go.mod": "module a\n\ngo 1.21\n\nreplace b => ./elsewhere\n",
            "tools/go.mod": "module a/tools\n\ngo 1.21\n",
            "other/go.mod": "module a/other\n\ngo 1.21\n",
            "b/go.mod": "module b\n",
        },
    )
    cache = tmp_path / "cache"
    cache.mkdir()
    paths = ["go.mod", "tools/go.mod", "other/go.mod"]
    made = go_workspace(find_folders(root, []), paths, cache, {"HOME": str(tmp_path)})
    text = Path(made.variables["GOWORK"]).read_text()
    assert Path(made.variables["GOWORK"]).parent == cache
    assert [line.strip() for line in text.splitlines() if line.startswith("\t")] == [str(root), str(root / "tools")]
    assert [line for line in text.splitlines() if line.startswith("replace")] == [f"replace b => {root / 'b'}"]
    assert text.startswith("go 1.22\n")
    write_tree(root, {"go.work.sum": ""})
    assert "GOWORK" not in go_workspace(find_folders(root, []), paths, cache, {"HOME": str(tmp_path)}).variables


def test_a_go_work_that_names_a_module_that_is_not_there_is_not_taken(tmp_path: Path):
    """The go command would load nothing at all."""
    root = write_tree(tmp_path / "app", {"go.work": "go 1.21\n\nuse (\n\t.\n\t./gone\n)\n", "go.mod": "module a\n\ngo 1.21\n"})
    cache = tmp_path / "cache"
    cache.mkdir()
    made = go_workspace(find_folders(root, []), ["go.mod"], cache, {"HOME": str(tmp_path)})
    text = Path(made.variables["GOWORK"]).read_text()
    assert f"\t{root}\n" in text
    assert "gone" not in text


def test_a_type_without_a_name_is_no_lost_answer():
    """gopls says it as an error, for whatever it is asked about: a function's type, a constant of no type."""
    pattern = re.compile(server_spec("gopls").no_answer)
    for said in (
        "no enclosing expression has a type",
        "cannot find type name(s) from type []func()",
        "cannot find type name(s) from type untyped int",
    ):
        assert pattern.search(said)
    assert not pattern.search("no package metadata for file")


def test_a_missing_package_is_told_with_no_file_of_the_workspace(tmp_path: Path):
    """gopls would take the file that imports it for a package of its own, in which the types of that file lack methods."""
    requires("go")
    importing = 'package {}\n\nimport (\n\t"testing"\n\n\tproxy "example.org/gone/deep"\n)\n\nfunc Test(t *testing.T) {{ proxy.New() }}\n'
    tree = {
        "go.mod": "module example.com/app\n\ngo 1.21\n\nrequire example.org/gone v1.0.0\n",
        "all/all_test.go": importing.format("all"),
        "wrap/wrap.go": 'package wrap\n\nimport proxy "example.org/gone/deep"\n\nvar One = proxy.New()\n',
    }
    root = write_tree(tmp_path / "work", tree)
    cache = tmp_path / "none"
    made = go_workspace(find_folders(root, []), list(tree), _made(tmp_path / "own"), {"HOME": str(tmp_path), "GOMODCACHE": str(cache)})
    command = ["go", "list", "-e", "-json=ImportPath,Error", "-test", "-deps", "./..."]
    told = subprocess.run(
        command, cwd=root, env={**os.environ, **made.variables, "GOFLAGS": "", "GOPROXY": "off"}, capture_output=True, text=True
    )
    assert '"example.org/gone/deep"' in told.stdout, told.stderr
    assert set(re.findall(r'"Pos": "([^"]*)"', told.stdout)) == {""}


def test_a_module_whose_sources_alone_are_missing_is_empty_too(tmp_path: Path):
    """Its manifest may have been read for others' sake: `go build` downloads what it compiles, and no more."""
    root = write_tree(tmp_path / "work", {"go.mod": "module example.com/app\n\ngo 1.21\n\nrequire example.org/gone v1.0.0\n"})
    said = "module example.org/gone\n\ngo 1.20\n\nrequire example.org/below v1.1.0\n"
    write_tree(
        tmp_path / "cache/cache/download/example.org", {"gone/@v/v1.0.0.mod": said, "below/@v/v1.1.0.mod": "module example.org/below\n"}
    )
    made = go_workspace(
        find_folders(root, []), ["go.mod"], _made(tmp_path / "own"), {"HOME": str(tmp_path), "GOMODCACHE": str(tmp_path / "cache")}
    )
    assert made.missing == ["example.org/gone"]
    text = Path(made.variables["GOWORK"]).read_text()
    folder = next(line.split(" => ")[1] for line in text.splitlines() if line.startswith("replace example.org/gone => "))
    assert go_modules.read(Path(folder) / "go.mod") == go_modules.parse(said.replace("1.0.0", ""))


def test_packages_of_missing_modules_are_told_by_their_imports():
    text = """package a

import "fmt"
import nick "example.org/one"
import (
	_ "example.org/two/v2/x"

	"example.org/three" // a word
)

var not = "example.org/four"
"""
    assert go_modules.imports(text) == {"fmt", "example.org/one", "example.org/two/v2/x", "example.org/three"}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
