"""What a Node clone lacks, and what `--fetch` would run for it: in a folder of lspidx's own, with nothing of the repository to execute."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from support import write_tree

from indexer.model import Trust
from indexer.prerequisites import Look, Step, node
from indexer.prerequisites.fetch import fetch

HOOKED = {
    "name": "root",
    "version": "1.0.0",
    "packageManager": "pnpm@9.0.0",
    "scripts": {"preinstall": "touch /tmp/owned", "postinstall": "touch /tmp/owned"},
    "devDependencies": {"typescript": "^5", "own": "workspace:*"},
}


def look(root: Path, files: dict[str, str]) -> Look:
    return Look(
        root=write_tree(root / "work", files),
        paths=list(files),
        languages=frozenset({"typescript"}),
        environment={},
        fetched=root / "fetched",
    )


def manifest(**more: Any) -> str:
    return json.dumps({**HOOKED, **more})


LOCKS = {
    "npm": {"package-lock.json": "{}"},
    "pnpm": {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"},
    "yarn": {"yarn.lock": "# yarn lockfile v1\n"},
    "berry": {"yarn.lock": "# generated\n\n__metadata:\n  version: 8\n"},
    "bun": {"bun.lock": "{}"},
    "none": {},
}


@pytest.mark.parametrize(
    ("locks", "remedy", "command"),
    [
        ("npm", "npm ci", ["npm", "ci", "--ignore-scripts"]),
        ("pnpm", "pnpm install", ["install", "--frozen-lockfile", "--ignore-scripts", "--ignore-pnpmfile"]),
        ("yarn", "yarn install", ["install", "--frozen-lockfile", "--ignore-scripts"]),
        ("berry", "yarn install", ["install", "--no-immutable", "--mode=skip-build"]),
        ("bun", "bun install", []),
        ("none", "npm install", ["npm", "install", "--ignore-scripts"]),
    ],
)
def test_a_clone_says_what_is_not_installed_and_what_helps(tmp_path: Path, locks: str, remedy: str, command: list[str]) -> None:
    """By its lock file; where there is none, within the ranges of the manifests. For bun's there is no client."""
    files = {"package.json": manifest(dependencies={"react": "^19", "zod": "^4"}), "a.ts": "", **LOCKS[locks]}
    made = look(tmp_path, files)
    [found] = node.find(made)
    assert found.name == "node_modules"
    assert found.detail.startswith("4 of the 4 packages that the manifests name are not installed: ")
    assert (found.remedy, found.can_fetch) == (remedy, bool(command))
    assert [word for step in node.steps(made) for word in step.command if word in command] == command


def test_what_is_installed_here_or_was_fetched_is_not_missing(tmp_path: Path) -> None:
    """Where imports of a folder look: there and above; a workspace's own packages are never missing."""
    files = {
        "package.json": manifest(workspaces=["packages/*"]),
        "packages/own/package.json": json.dumps({"name": "own", "dependencies": {"react": "1", "zod": "1"}}),
        **LOCKS["npm"],
    }
    made = look(tmp_path, files)
    write_tree(made.root, {"node_modules/typescript/package.json": "{}"})
    write_tree(made.fetched_here / node.FOLDER, {"packages/own/node_modules/zod/package.json": "{}"})
    [found] = node.find(made)
    assert found.detail == "1 of the 3 packages that the manifests name are not installed: react"
    write_tree(made.root, {"packages/own/node_modules/react/package.json": "{}"})
    assert node.find(made) == []
    assert node.steps(made) == []


def test_an_installation_of_an_older_lock_file_is_done_again(tmp_path: Path) -> None:
    made = look(tmp_path, {"package.json": manifest(devDependencies={"react": "1"}), **LOCKS["npm"]})
    place = made.fetched_here / node.FOLDER
    write_tree(place, {"node_modules/react/package.json": "{}", "package-lock.json": "{}"})
    assert node.steps(made) == []
    write_tree(place, {"package-lock.json": '{"older": true}'})
    assert len(node.steps(made)) == 1


def test_a_lock_file_that_yarn_has_written_anew_in_its_own_folder_is_not_another_one(tmp_path: Path) -> None:
    """Another release of yarn writes `cacheKey: 10c0` for `cacheKey: 10`, and with `--immutable` would install nothing (redux)."""
    made = look(tmp_path, {"package.json": manifest(devDependencies={"react": "1"}), **LOCKS["berry"]})
    [step] = node.steps(made)
    write_tree(made.fetched_here / node.FOLDER, {**step.files, "node_modules/react/package.json": "{}"})
    write_tree(made.fetched_here / node.FOLDER, {"yarn.lock": LOCKS["berry"]["yarn.lock"] + "  cacheKey: 10c0\n"})
    assert node.steps(made) == []
    write_tree(made.root, {"yarn.lock": LOCKS["berry"]["yarn.lock"] + "more\n"})
    assert len(node.steps(made)) == 1


def test_nothing_of_the_repository_is_executed_by_an_installation(tmp_path: Path) -> None:
    """No scripts, hooks, plugins, own programs, registries or tokens are among what the package manager sees; no trust is needed."""
    files = {
        "package.json": manifest(),
        "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
        "pnpm-workspace.yaml": "packages: ['packages/*']\ncatalog: {react: ^19}\nconfigDependencies: {evil: 1.0.0}\nscriptShell: ./evil\n",
        ".npmrc": "node-options=--require ./evil.js\nregistry=https://evil.test\nauto-install-peers=true\nhoist=${TOKEN}\n",
        ".pnpmfile.cjs": "require('fs')",
        ".yarnrc.yml": "yarnPath: ./evil.js\n",
        ".yarnrc": "yarn-path ./evil.js\n",
        "patches/react.patch": "--- a\n",
        "packages/own/package.json": json.dumps({"name": "own", "scripts": {"prepare": "./evil"}, "dependencies": {"react": "catalog:"}}),
        "packages/own/index.ts": "",
        "../beside/package.json": manifest(),
        "../beside/a.patch": "",
    }
    [step] = node.steps(look(tmp_path, files))
    assert sorted(step.files) == [
        ".npmrc", "package.json", "packages/own/package.json", "patches/react.patch", "pnpm-lock.yaml", "pnpm-workspace.yaml",
    ]  # fmt: skip
    assert not any(word in text for text in step.files.values() for word in ("evil", "touch", "packageManager", "TOKEN"))
    assert json.loads(step.files["pnpm-workspace.yaml"]) == {"packages": ["packages/*"], "catalog": {"react": "^19"}}
    assert step.files[".npmrc"] == "auto-install-peers=true\n"
    assert (step.level, step.executes) == (Trust.NONE, "")
    assert all(not path.is_relative_to(tmp_path / "work") for path in (step.cwd, *step.writes))


def test_a_lock_file_in_a_folder_is_a_project_but_where_a_workspace_around_installs_it(tmp_path: Path) -> None:
    """What lies in a project within another is missing in the inner one only; made-up packages of tests are nobody's to install."""

    def package(name: str, dependency: str, **more: object) -> str:
        return json.dumps({"name": name, "dependencies": {dependency: "1"}, **more})

    files = {
        "README.md": "",
        "web/package.json": package("web", "react", workspaces=["parts/*"]),
        "web/parts/one/package.json": package("one", "lodash"),
        "web/inner/package.json": package("inner", "vue"),
        "web/inner/deep/package.json": package("deep", "zod"),
        "web/tests/made/package.json": package("made", "evil"),
    }
    locked = [path.replace("package.json", "package-lock.json") for path in files if "package.json" in path and "deep" not in path]
    made = look(tmp_path, files | dict.fromkeys(locked, "{}"))
    outer, inner = node.find(made)
    assert outer.remedy == "npm ci (in web)"
    assert "3 of the 3 packages" in outer.detail
    assert not {"vue", "zod"} & set(re.findall(r"\w+", outer.detail))
    assert inner.remedy == "npm ci (in web/inner)"
    assert inner.detail.endswith("of web/inner name are not installed: vue, zod")
    assert [step.cwd for step in node.steps(made)] == [made.fetched_here / node.FOLDER / path for path in ("web", "web/inner")]


def test_files_of_a_step_are_there_before_it_runs(tmp_path: Path) -> None:
    """And a repository without Node has no step."""
    assert node.steps(look(tmp_path, {"a.py": ""})) == []
    place = tmp_path / "place"
    code = "import json, pathlib; pathlib.Path('out').write_text(json.loads(pathlib.Path('in/a.json').read_text())['a'])"
    step = Step(
        language="typescript",
        command=[sys.executable, "-c", code],
        cwd=place,
        environment={"PATH": os.environ["PATH"]},
        writes=[place],
        files={"in/a.json": '{"a": "seen"}'},
    )
    [outcome] = fetch([step], Trust.NONE, avoid=[], say=lambda text: None)
    assert outcome.problem == ""
    assert (place / "out").read_text() == "seen"
