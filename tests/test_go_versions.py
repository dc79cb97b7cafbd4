"""A repository that asks for a later Go than the machine has: read as the Go that is here reads it, and said."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from support import Watcher, rows, write_tree
from toolchains import requires

from indexer import go_versions
from indexer.config import Config
from indexer.crawl.plan.companions import go_workspace
from indexer.crawl.run import crawl
from indexer.prerequisites import Look, go
from indexer.workspace import find_folders

LATER = "1.999.2"
TREE = {
    "go.mod": f"module example.com/app\n\ngo {LATER}\n\ntoolchain go{LATER}\n",
    "app.go": 'package app\n\nimport "example.com/app/below"\n\nfunc Run() int { return below.Step() }\n',
    "below/below.go": "package below\n\nfunc Step() int { return 1 }\n",
}


def _machine(folder: Path, said: str) -> dict[str, str]:
    """The environment of a machine whose go command is a file that nobody starts."""
    write_tree(folder, {"go/bin/go": "#!/bin/false\n", "go/VERSION": said})
    (folder / "go/bin/go").chmod(0o755)
    return {"PATH": str(folder / "go/bin"), "HOME": str(folder)}


def test_versions_stand_in_the_order_that_go_gives_them() -> None:
    order = ["1", "1.9", "1.20", "1.21rc2", "1.21.0", "1.21.1", "1.22beta1", "1.22rc1", "1.22.0", "1.100"]
    assert sorted(order, key=go_versions.order) == order
    assert go_versions.is_later("1.27", "1.26.8")
    assert not go_versions.is_later("1.26", "1.26.8")
    for unknown in ("", "tip", "1.x", "1.2.3.4", "devel"):
        assert not go_versions.is_later(unknown, "1.26.8")
        assert not go_versions.is_later("1.27", unknown)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("go1.26.8\ntime 2026-10-01", "1.26.8"),
        ("go1.27rc1", "1.27rc1"),
        ("devel go1.28-abc", ""),
        ("go1.26.8-ours", "1.26.8"),
        ("", ""),
        ("\xff", ""),
    ],
)
def test_the_go_of_the_machine_is_read_and_not_started(tmp_path: Path, said: str, expected: str) -> None:
    around = _machine(tmp_path / "machine", said)
    assert go_versions.running(around, tmp_path / "work") == expected
    assert go_versions.running(around, tmp_path) == "", "it lies in the workspace, so it is the workspace's word"
    assert go_versions.running({"PATH": str(tmp_path)}, tmp_path / "work") == ""


def test_what_asks_for_no_later_go_is_left_alone(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "work", {**TREE, "go.mod": "module example.com/app\n\ngo 1.26.0\n", "tools/go.mod": "module tools\n"})
    around = _machine(tmp_path / "machine", "go1.26.8")
    own = tmp_path / "own"
    own.mkdir()
    made = go_workspace(find_folders(root, []), [*TREE, "tools/go.mod"], own, around)
    assert (made.flags, [*own.iterdir()]) == ("", [])
    assert not [item for item in go.find(_look(root, around)) if item.name == "toolchain"]


def test_each_manifest_that_asks_for_a_later_go_is_read_as_for_the_one_that_is_here(tmp_path: Path) -> None:
    tree = {
        **TREE,
        "tools/go.mod": "module tools\n\ngo\t1.30 // why\nrequire example.org/kept v1.0.0\n",
        "old/go.mod": "module old\n\ngo 1.20\n",
    }
    root = write_tree(tmp_path / "work it's", tree)
    around = _machine(tmp_path / "machine", "go1.26.8")
    own = tmp_path / "its own"
    own.mkdir()
    made = go_workspace(find_folders(root, []), list(tree), own, around)
    assert made.flags == f"'-overlay={own}/go-lowered/overlay.json'"
    replaced = json.loads((own / "go-lowered/overlay.json").read_text())["Replace"]
    assert set(replaced) == {str(root / "go.mod"), str(root / "tools/go.mod")}
    assert Path(replaced[str(root / "tools/go.mod")]).read_text() == tree["tools/go.mod"].replace("1.30", "1.26.8")
    assert Path(made.variables["GOWORK"]).read_text().startswith("go 1.26.8\n"), "of our own, for a module is missing"
    assert "'" in str(root), "a path may hold whatever it likes"
    odd = tmp_path / 'it\'s "its" own'
    odd.mkdir()
    assert go_workspace(find_folders(root, []), list(tree), odd, around).flags == "", "and where GOFLAGS cannot name it, nothing is told"


def test_it_is_said_and_what_helps(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "work", {**TREE, "tools/go.mod": "module tools\n\ngo 1.27\n"})
    [found] = go.find(_look(root, _machine(tmp_path / "machine", "go1.26.8")))
    assert (found.name, found.detail) == ("toolchain", f"go.mod asks for Go {LATER}, and Go 1.26.8 is here, by which it is read")
    assert found.remedy == f"install Go {LATER} or later"


def test_a_download_is_told_of_the_go_that_is_here(tmp_path: Path) -> None:
    """Else the go command would download nothing."""
    manifest = TREE["go.mod"] + "\nrequire example.org/gone v1.0.0\n"
    root = write_tree(tmp_path / "work", {**TREE, "go.mod": manifest, "tools/go.mod": manifest.replace("app", "tools")})
    steps = go.steps(_look(root, _machine(tmp_path / "machine", "go1.26.8")))
    texts = [text for step in steps for text in step.files.values() if "go " in text]
    assert len(texts) >= 5
    assert all("\ngo 1.26.8\n" in f"\n{text}" and LATER not in text for text in texts)


def test_a_dependency_that_asks_for_a_later_go_is_as_good_as_missing(tmp_path: Path) -> None:
    """The go command refuses to load anything with it."""
    root = write_tree(tmp_path / "work", {"go.mod": "module example.com/app\n\ngo 1.21\n\nrequire example.org/dep v1.0.0\n"})
    cache = tmp_path / "machine/go/pkg/mod"
    write_tree(
        cache, {"cache/download/example.org/dep/@v/v1.0.0.mod": "module example.org/dep\n\ngo 1.27\n", "example.org/dep@v1.0.0/a.go": ""}
    )
    for said, missing in (("go1.26.8", ["example.org/dep"]), ("go1.27.0", [])):
        around = _machine(tmp_path / "machine", said)
        own = tmp_path / said
        own.mkdir()
        assert list(go_workspace(find_folders(root, []), ["go.mod"], own, around).missing) == missing


@pytest.mark.parametrize("kind", ["module", "workspace", "vendored"])
def test_the_go_command_loads_what_asks_for_a_later_go(tmp_path: Path, kind: str) -> None:
    requires("go")
    more = {
        "module": {},
        "workspace": {"go.work": f"go {LATER}\n\nuse .\n", "go.work.sum": ""},
        "vendored": {"vendor/modules.txt": ""},
    }[kind]
    root = write_tree(tmp_path / "work", {**TREE, **more})
    own = tmp_path / "own"
    own.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    made = go_workspace(find_folders(root, []), [*TREE, *more], own, environment)
    assert LATER in _listed(root, {}).stderr
    done = _listed(root, {**made.variables, "GOFLAGS": f"-mod={'vendor' if made.is_vendored else 'readonly'} {made.flags}"})
    assert done.stdout.split() == ["example.com/app", "example.com/app/below"], done.stderr


def _listed(root: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "", **variables}
    return subprocess.run(["go", "list", "./..."], cwd=root, env=environment, capture_output=True, text=True, check=False)


def _look(root: Path, environment: Mapping[str, str]) -> Look:
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    fetched = root.parent / "fetched"
    return Look(root=root, paths=paths, languages=frozenset({"go"}), environment=environment, fetched=fetched)


def test_an_index_of_what_asks_for_a_later_go_has_its_calls(tmp_path: Path) -> None:
    requires("gopls")
    root = write_tree(tmp_path / "work", TREE)
    found = crawl(root, Config(), Watcher())
    assert [item["name"] for item in found.manifest["prerequisites"]] == ["toolchain"]
    assert rows(found.generation, "SELECT count(*) FROM calls WHERE caller LIKE '%Run%' AND callee LIKE '%Step%'") == [(1,)]
    answered = "SELECT path FROM coverage WHERE method = 'textDocument/definition' AND status IN ('done', 'empty')"
    assert rows(found.generation, f"SELECT path FROM documents WHERE language = 'go' AND path NOT IN ({answered})") == []
