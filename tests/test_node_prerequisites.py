"""What a Node clone lacks, and what `--fetch` would run for it: in a folder of lspidx's own, with nothing of the repository to execute."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support import write_tree

from indexer.model import Trust
from indexer.prerequisites import Look, Step, bun_lock, node
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


def played(made: Look) -> list[Step]:
    """The steps, each of which installs what the manifests that it is given ask for."""
    found: list[Step] = []
    for step in node.steps(made):
        found.append(step)
        for path, text in step.files.items():
            if path.endswith("package.json"):
                asked = json.loads(text)
                names = [name for key in ("dependencies", "devDependencies", "optionalDependencies") for name in asked.get(key, {})]
                write_tree((step.cwd / path).parent, {f"node_modules/{name}/package.json": "{}" for name in names})
        if "--package-lock=true" in step.command:
            write_tree(step.cwd, {"package-lock.json": json.dumps({"packages": {"": json.loads(step.files["package.json"])}})})
    return found


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
        ("bun", "bun install", ["npm", "install", "--ignore-scripts", "--legacy-peer-deps"]),
        ("none", "npm install", ["npm", "install", "--ignore-scripts"]),
    ],
)
def test_a_clone_says_what_is_not_installed_and_what_helps(tmp_path: Path, locks: str, remedy: str, command: list[str]) -> None:
    """By its lock file; where there is none, within the ranges of the manifests."""
    files = {"package.json": manifest(dependencies={"react": "^19", "zod": "^4"}), "a.ts": "", **LOCKS[locks]}
    made = look(tmp_path, files)
    [found] = node.find(made)
    assert found.name == "node_modules"
    assert found.detail.startswith("4 of the 4 packages that the manifests name are not installed: ")
    assert (found.remedy, found.can_fetch) == (remedy, bool(command))
    assert [word for step in played(made) for word in step.command if word in command] == command


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
    assert played(made) == []


def test_an_installation_of_an_older_lock_file_is_done_again(tmp_path: Path) -> None:
    made = look(tmp_path, {"package.json": manifest(devDependencies={"react": "1"}), **LOCKS["npm"]})
    place = made.fetched_here / node.FOLDER
    write_tree(place, {"node_modules/react/package.json": "{}", "package-lock.json": "{}"})
    assert played(made) == []
    write_tree(place, {"package-lock.json": '{"older": true}'})
    assert len(played(made)) == 1


def test_a_lock_file_that_yarn_has_written_anew_in_its_own_folder_is_not_another_one(tmp_path: Path) -> None:
    """Another release of yarn writes `cacheKey: 10c0` for `cacheKey: 10`, and with `--immutable` would install nothing (redux)."""
    made = look(tmp_path, {"package.json": manifest(devDependencies={"react": "1"}), **LOCKS["berry"]})
    [step] = played(made)
    write_tree(made.fetched_here / node.FOLDER, step.files)
    write_tree(made.fetched_here / node.FOLDER, {"yarn.lock": LOCKS["berry"]["yarn.lock"] + "  cacheKey: 10c0\n"})
    assert played(made) == []
    write_tree(made.root, {"yarn.lock": LOCKS["berry"]["yarn.lock"] + "more\n"})
    assert len(played(made)) == 1


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
    [step] = played(look(tmp_path, files))
    assert step.runs_in is not None
    assert sorted(path for path in step.files if path != str(step.runs_in / "package.json")) == [
        ".npmrc", "package.json", "packages/own/package.json", "patches/react.patch", "pnpm-lock.yaml", "pnpm-lock.yaml.of-the-repository",
        "pnpm-workspace.yaml",
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
    assert [step.cwd for step in played(made)] == [made.fetched_here / node.FOLDER / path for path in ("web", "web/inner")]


def test_many_projects_of_one_repository_have_one_line_together(tmp_path: Path) -> None:
    """socket.io has twenty examples, and said twenty lines."""
    files = {
        f"examples/{letter}/package.json": json.dumps({"name": letter, "dependencies": {f"d{letter}": "1", "same": "1"}})
        for letter in "abcdefg"
    }
    files |= {f"examples/{letter}/src/index.js": "import 'same';\n" for letter in "abcdefg"}
    found = [item for item in node.find(look(tmp_path, files)) if item.name == "node_modules"]
    assert [item.remedy for item in found[:4]] == [f"npm install (in examples/{letter})" for letter in "abcd"]
    [rest] = found[4:]
    assert rest.detail == "4 packages that the manifests of 3 more projects name are not installed (examples/e, examples/f, examples/g)"
    assert rest.can_fetch
    assert rest.remedy == "npm install in each of them"


def test_what_npm_ci_refuses_is_installed_by_the_ranges(tmp_path: Path) -> None:
    """A lock file that lacks what its manifest names is npm's own to mend, in lspidx's folder."""
    made = look(tmp_path, {"package.json": manifest(dependencies={"react": "^19"}), **LOCKS["npm"]})
    assert ["ci" in step.command for step in node.steps(made)] == [True, False]
    assert ["ci" in step.command for step in played(made)] == [True]


@pytest.mark.parametrize("manager", ["pnpm", "yarn"])
def test_a_lock_file_that_is_refused_may_differ_in_our_folder(tmp_path: Path, manager: str) -> None:
    """pnpm 11 writes patches otherwise than the release that is run: what is missing then is installed as far as the file fits."""
    made = look(tmp_path, {"package.json": manifest(dependencies={"react": "^19"}), **LOCKS[manager]})
    assert ["--frozen-lockfile" in step.command for step in node.steps(made)] == [True, False]
    assert ["--frozen-lockfile" in step.command for step in played(made)] == [True]


def test_packages_that_no_workspace_installs_are_installed_alone(tmp_path: Path) -> None:
    """Examples with sources: without what lies beside them, which a registry does not have; not what tests have made up."""
    asked = {"three": "^0.154.0", "root": "^1", "own": "workspace:*", "local": "file:../local"}
    files = {
        "package.json": manifest(workspaces=["packages/*"]),
        "packages/own/package.json": json.dumps({"name": "own", "version": "1.0.0"}),
        "examples/demo/package.json": json.dumps({"name": "demo", "dependencies": asked}),
        "examples/demo/src/a.jsx": "",
        "examples/bare/package.json": json.dumps({"name": "bare", "dependencies": {"other": "1"}}),
        "tests/made/package.json": json.dumps({"name": "made", "dependencies": {"evil": "1"}}),
        "tests/made/a.js": "",
        **LOCKS["pnpm"],
    }
    made = look(tmp_path, files)
    outer, inner = node.find(made)
    assert outer.remedy == "pnpm install"
    assert "three" not in re.findall(r"\w+", outer.detail), "pnpm would not bring it"
    assert (inner.remedy, inner.can_fetch) == ("npm install (in examples/demo)", True)
    assert inner.detail.endswith("of examples/demo name are not installed: three")
    steps = played(made)
    assert [step.cwd.relative_to(made.fetched_here / node.FOLDER).as_posix() for step in steps] == [".", "examples/demo"]
    assert json.loads(steps[1].files["package.json"])["dependencies"] == {"three": "^0.154.0"}


SCRIPTS = {
    "package.json": json.dumps(
        {
            "name": "app",
            "dependencies": {"lodash": "^4.17.0", "axios": "^1.0.0", "@acme/secret": "^1.0.0", "koa": ">=2"},
            "devDependencies": {"karma-jasmine": "^5.0.0", "react": "^19", "@types/react": "^19"},
        }
    ),
    "lib/a.js": "const fs = require('fs');\n",
}


def test_types_are_brought_for_what_has_none_of_its_own(tmp_path: Path) -> None:
    """In the version of what is used; nothing that a manifest brings itself, and no name of a package that nobody knows is asked for."""
    made = msgspec.structs.replace(look(tmp_path, SCRIPTS), languages=frozenset({"javascript"}))
    missing, types = node.find(made)
    assert missing.name == "node_modules"
    assert (types.name, types.can_fetch) == ("types", True)
    assert types.remedy == "npm install --no-save @types/node @types/jasmine @types/koa …"
    typed = {"node_modules/axios/package.json": '{"types": "index.d.ts"}', "node_modules/axios/index.d.ts": ""}
    steps: list[Step] = []
    for step in node.steps(made):
        steps.append(step)
        if len(steps) == 1:
            names = ("lodash", "axios", "@acme/secret", "koa", "karma-jasmine", "react", "@types/react")
            write_tree(step.cwd, {f"node_modules/{name}/package.json": "{}" for name in names} | typed)
    install, bring = steps
    assert bring.cwd == install.cwd / ".types"
    assert "--ignore-scripts" in bring.command
    assert (bring.level, bring.executes) == (Trust.NONE, "")
    asked = {"@types/jasmine": "*", "@types/koa": "*", "@types/lodash": "<5", "@types/node": "*"}
    assert json.loads(bring.files["package.json"])["optionalDependencies"] == asked


@pytest.mark.parametrize(("name", "types"), [("react-scripts", "jest"), ("jest", "jest"), ("qunit", "")])
def test_declarations_of_what_brings_jest_say_nothing_of_its_globals(tmp_path: Path, name: str, types: str) -> None:
    """Both packages have types of their own; qunit's declare the names of its tests, too."""
    beside = {"examples/b/package.json": manifest(devDependencies={f"@types/{name}": "^4"}), "examples/b/b.ts": ""}  # for itself alone
    made = look(tmp_path, {"package.json": manifest(devDependencies={name: "^4"}), "a.js": "it(1);\n", **beside})
    made = msgspec.structs.replace(made, languages=frozenset({"javascript"}))
    here = made.fetched_here / "node" / "node_modules" / name
    write_tree(here, {"package.json": '{"types": "index.d.ts"}', "index.d.ts": ""})
    asked = [
        json.loads(step.files["package.json"]).get("optionalDependencies", {}) for step in node.steps(made) if step.cwd.name == ".types"
    ]
    assert [list(one) for one in asked] == ([[f"@types/{types}"]] if types else [])


def test_types_that_are_not_to_be_had_are_not_asked_for_again(tmp_path: Path) -> None:
    """npm leaves an optional package out that it does not find; what a manifest asks for later is asked for with the rest."""
    made = msgspec.structs.replace(look(tmp_path, SCRIPTS), languages=frozenset({"javascript"}))
    assert len(played(made)) == 2
    assert (played(made), node.find(made)) == ([], [])
    changed = json.loads(SCRIPTS["package.json"])
    changed["dependencies"]["ws"] = "^8"
    write_tree(made.root, {"package.json": json.dumps(changed)})
    _, bring = played(made)
    assert json.loads(bring.files["package.json"])["optionalDependencies"].keys() >= {"@types/ws", "@types/lodash"}


def test_a_project_without_scripts_says_itself_which_types_it_takes(tmp_path: Path) -> None:
    made = look(tmp_path, {"package.json": SCRIPTS["package.json"], "a.ts": ""})
    assert [found.name for found in node.find(made)] == ["node_modules"]
    assert len(played(made)) == 1


BUN = """{
  "lockfileVersion": 1,
  "workspaces": {
    "": { "name": "root", "devDependencies": { "vitest": "^4.0.0", }, },
    "packages/own": { "name": "own", "version": "1.0.0", "dependencies": { "zod": "^3.0.0" } },
  },
  "packages": {
    "vitest": ["vitest@4.1.9", "", { "dependencies": { "chalk": "^2" }, "peerDependencies": { "jsdom": "*" } }, "sha512-aa=="],
    "vitest/@s/chalk": ["@s/chalk@2.4.2", "", {}, "sha512-bb=="],
    "old": ["renamed@1.0.0", "", {}, "sha512-cc=="],
    "@esbuild/linux-x64": ["@esbuild/linux-x64@0.27.1", "", { "os": "linux", "cpu": "x64" }, "sha512-dd=="],
    "own": ["own@workspace:packages/own"],
    "own/zod": ["zod@3.23.8", "", {}, "sha512-ee=="],
    "git": ["git@github:a/b#1234", {}, "a-b-1234"],
  }
}
"""


def test_a_lock_file_of_bun_pins_what_npm_installs(tmp_path: Path) -> None:
    """Versions, digests and nesting as bun has them; what is of no registry is left to the manifest."""
    files = {
        "package.json": manifest(devDependencies={"vitest": "^4.0.0"}, workspaces=["packages/*"]),
        "packages/own/package.json": manifest(name="own"),
        "a.ts": "",
        "bun.lock": BUN,
    }
    [step] = played(look(tmp_path, files))
    assert step.files["bun.lock.of-the-repository"] == BUN
    lock = json.loads(step.files["package-lock.json"])
    assert lock["lockfileVersion"] == 3
    assert lock["packages"] == {
        "": {"name": "root", "devDependencies": {"vitest": "^4.0.0"}},
        "packages/own": {"name": "own", "version": "1.0.0", "dependencies": {"zod": "^3.0.0"}},
        "node_modules/vitest": {
            "version": "4.1.9",
            "dependencies": {"chalk": "^2"},
            "peerDependencies": {"jsdom": "*"},
            "integrity": "sha512-aa==",
        },
        "node_modules/vitest/node_modules/@s/chalk": {"version": "2.4.2", "integrity": "sha512-bb=="},
        "node_modules/old": {"version": "1.0.0", "name": "renamed", "integrity": "sha512-cc=="},
        "node_modules/@esbuild/linux-x64": {
            "version": "0.27.1",
            "os": ["linux"],
            "cpu": ["x64"],
            "optional": True,
            "integrity": "sha512-dd==",
        },
        "node_modules/own": {"resolved": "packages/own", "link": True},
        "packages/own/node_modules/zod": {"version": "3.23.8", "integrity": "sha512-ee=="},
    }
    elsewhere = BUN.replace("own@workspace:packages/own", "own@workspace:../../home")
    [step] = played(look(tmp_path / "elsewhere", {**files, "bun.lock": elsewhere}))
    assert "package-lock.json" not in step.files, "it leads out of the repository"
    assert all(bun_lock.as_npm(text) == "" for text in ("", "{}", "[]", '{"workspaces": 1, "packages": {}}'))


def test_files_of_a_step_are_there_before_it_runs(tmp_path: Path) -> None:
    """And a repository without Node has no step."""
    assert played(look(tmp_path, {"a.py": ""})) == []
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


def test_what_stands_beside_the_first_project_waits_for_the_next_run_once_a_download_took_long(tmp_path: Path) -> None:
    """The steps that everything needs are taken all the same: the first project's, and that for types."""
    lock = json.dumps({"lockfileVersion": 3, "packages": {}})
    files = {"package.json": manifest(dependencies={"left": "1"}), "package-lock.json": lock, "a.js": "import 'left'\n"}
    for name, sources in (("a", 1), ("b", 3), ("c", 2)):
        files |= {
            f"examples/{name}/package.json": manifest(name=name, dependencies={name: "1"}),
            f"examples/{name}/package-lock.json": lock,
            **{f"examples/{name}/{number}.js": "it('x')\n" for number in range(sources)},
        }
    made = look(tmp_path / "repo", files)
    taken = list(node.steps(msgspec.structs.replace(made, languages=frozenset({"javascript"}))))
    assert [step.cwd.name for step in taken if step.is_beside and "ci" in step.command] == ["b", "c", "a"], "most sources first"
    assert {step.cwd.name for step in taken if not step.is_beside} == {"node"}

    now, said = [0.0], list[str]()
    place = tmp_path / "place"

    def steps() -> Iterator[Step]:
        for name, is_beside in (("first", False), ("second", True), ("third", True), ("types", False)):
            yield Step(
                language="javascript",
                command=[sys.executable, "-c", f"open('{name}', 'w')"],
                cwd=place,
                environment={},
                writes=[place],
                is_beside=is_beside,
            )
            now[0] += 200.0

    outcomes = fetch(steps(), Trust.NONE, avoid=[], say=said.append, most_s=300.0, clock=lambda: now[0])
    assert sorted(path.name for path in place.iterdir()) == ["first", "second", "types"]
    assert ["max_fetch_s" in outcome.problem for outcome in outcomes] == [False, False, True, False]
    assert any("'third'" in line and "LSPIDX_MAX_FETCH_S=0" in line for line in said)
    now[0], again = 0.0, list[str]()
    fetch([*steps(), *steps()], Trust.NONE, avoid=[], say=again.append, most_s=300.0, clock=iter([0.0, *[400.0] * 9]).__next__)
    assert sum("is not run" in line for line in again) == 1, "a project is left once"
    now[0] = 0.0
    unbounded = fetch(steps(), Trust.NONE, avoid=[], say=said.append, clock=lambda: now[0])
    assert not any(outcome.problem for outcome in unbounded)


# ---- a hostile author


def test_the_package_manager_is_started_where_no_package_is(tmp_path: Path) -> None:
    """npx takes for `pnpm@10.33.1` the program of that name of the package around it: a patch of the repository was run so."""
    for name, locks in LOCKS.items():
        if name == "bun":
            continue
        files = {"package.json": manifest(bin={"pnpm@10.33.1": "./evil.patch"}, directories={"bin": "."}), "evil.patch": "#!/bin/sh\n"}
        [step] = played(look(tmp_path / name, files | locks | {"node_modules/pnpm/evil.patch": ""}))
        assert step.runs_in is not None
        assert not any(Path(step.cwd / path).parent == step.runs_in and text != "{}" for path, text in step.files.items())
        assert step.runs_in not in (step.cwd, *step.cwd.parents)
        assert step.command[:2] == ["npx", "--yes"]
        assert str(step.cwd) in step.command
        assert "bin" not in json.loads(step.files["package.json"])
        assert not any("node_modules" in path for path in step.files)


OTHER_SOURCES = [
    "git+file:///srv/me/private", "git+ssh://git@evil.test/a.git", "git://evil.test/a",
    "git@evil.test:a/b", "ext::sh -c evil", "owner/evil",
    "github:owner/evil", "https://evil.test/a.tgz", "https://github.com/owner/evil", "file:/srv/me/private", "file:../../private",
    "file:~/private", "link:../../private", "portal:/srv/me", "link:packages/../../x", "..", "./x", " ../x", "~/x", "/srv/me",
    "patch:a@git%2Bssh%3A%2F%2Fx#./a", "patch:a@git+ssh://x#./a.patch", "patch:a@1.0.0#/etc/shadow", "patch:a@npm%3A1.0.0#~/../../a.patch",
    "workspace:../../private",
    "workspace:..", "npm:owner/evil", "npm:git+ssh://x",
]  # fmt: skip
OWN_SOURCES = [
    "^1.2.3", "*", "", "latest", ">=1 <2 || 3.x", "~1.0", "npm:@scope/other@^1", "npm:other@1", "workspace:*", "workspace:^1",
    "catalog:", "catalog:web",
    "workspace:packages/own", "file:packages/own", "link:./packages/own", "portal:packages/own/", "patch:a@npm%3A1.0.0#./patches/a.patch",
    "patch:a@1.0.0#~/.yarn/patches/a.patch", "patch:a@npm%3A%5E1#~builtin<compat/a>", "patch:a@npm%3A1#optional!builtin<compat/a>",
]  # fmt: skip


def test_only_registries_and_the_workspace_itself_are_asked_for_packages(tmp_path: Path) -> None:
    """A package from git is prepared by a manager that reads settings there, which name programs; `file:` brings folders from here."""
    tables = {
        "dependencies": {f"other-{at}": source for at, source in enumerate(OTHER_SOURCES)},
        "devDependencies": {f"own-{at}": source for at, source in enumerate(OWN_SOURCES)},
        "overrides": {"deep": {".": "1", "inner": "git+ssh://evil.test/a", "kept": "$own-0"}},
        "resolutions": {"a/b": "file:/srv/me/private", "c": "1"},
        "pnpm": {
            "overrides": {"a": "link:/srv/me/private", "b": "-"},
            "onlyBuiltDependencies": ["evil"],
            "executionEnv": {"nodeVersion": "1"},
        },
        "workspaces": ["packages/*", "../../home/*", "/srv/me/*", "!~/x"],
    }
    files = {"package.json": json.dumps({"name": "root", **tables}), "packages/own/package.json": '{"name": "own"}', **LOCKS["npm"]}
    made_look = look(tmp_path, files)
    step = next(node.steps(made_look))
    made = json.loads(step.files["package.json"])
    assert made["dependencies"] == {}
    assert made["devDependencies"] == tables["devDependencies"]
    assert made["overrides"] == {"deep": {".": "1", "kept": "$own-0"}}
    assert made["resolutions"] == {"c": "1"}
    assert made["pnpm"] == {"overrides": {"b": "-"}}
    assert made["workspaces"] == ["packages/*"]
    assert set(step.without) >= set(tables["dependencies"])
    [found] = node.find(made_look)
    assert found.can_fetch  # the others can
    write_tree(step.cwd, {f"node_modules/own-{at}/x": "" for at in range(len(OWN_SOURCES))})
    [found] = node.find(made_look)
    assert not found.can_fetch
    assert list(node.steps(made_look)) == []  # what cannot be fetched is not tried each time
    assert "package-lock.json" not in step.files
    assert "install" in step.command
    assert step.environment["GIT_ALLOW_PROTOCOL"] == "none"


AWAY = "@x/../../../../../../../srv/me/.config/evil"
NAMES_OF_PLACES = [AWAY, "../../../../srv/me/evil", "..", ".", "/srv/me/evil", "a/../../../../../srv/evil", "@x/..", "..\\evil", ""]


def test_a_name_that_is_a_place_elsewhere_is_asked_of_nobody(tmp_path: Path) -> None:
    """pnpm linked a package of a registry to `node_modules/@x/../../…`, and yarn wrote one there: anywhere in the home of the user."""
    evil = dict.fromkeys(NAMES_OF_PLACES, "npm:is-number@6.0.0")
    tables = {
        **dict.fromkeys(("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"), evil | {"@s/kept.js": "1"}),
        "overrides": {"a": {".": "1", **{name: "1" for name in evil if name != "."}}},
        "resolutions": evil | {"**/@s/a/b": "1"},
        "pnpm": {
            "packageExtensions": {"is-odd": {"dependencies": evil | {"kept": "1"}}},
            "overrides": evil | {"a@1>@s/b": "2"},
            "patchedDependencies": {"a@1": {"path": "../../x.patch"}, "b@1": "patches/b.patch"},
        },
    }
    workspace = json.dumps({"packages": ["packages/*"], "catalog": evil, "packageExtensions": {"a": {"dependencies": evil}}})
    files = {
        "package.json": json.dumps({"name": "root", **tables}),
        "packages/own/package.json": json.dumps({"name": AWAY, "dependencies": evil | {"b": "1"}}),
        "pnpm-workspace.yaml": workspace,
        **LOCKS["pnpm"],
    }
    step = next(node.steps(look(tmp_path, files)))
    made, own, settings = (json.loads(step.files[name]) for name in ("package.json", "packages/own/package.json", "pnpm-workspace.yaml"))
    for table in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"):
        assert made[table] == {"@s/kept.js": "1"}
    assert made["overrides"] == {"a": {".": "1"}}
    assert made["resolutions"] == {"**/@s/a/b": "1"}
    assert made["pnpm"] == {
        "packageExtensions": {"is-odd": {"dependencies": {"kept": "1"}}},
        "overrides": {"a@1>@s/b": "2"},
        "patchedDependencies": {"a@1": {}, "b@1": "patches/b.patch"},
    }
    assert own == {"dependencies": {"b": "1"}}
    assert settings == {"packages": ["packages/*"], "catalog": {}, "packageExtensions": {"a": {"dependencies": {}}}}
    assert set(step.without) >= set(NAMES_OF_PLACES)


_HEAD = "# yarn lockfile v1\n\n\n"
PLAIN_LOCKS = {
    "npm": ['{"packages": {"": {"dependencies": {"a": "1"}}, "node_modules/a": {"version": "1.0.0", "resolved": "https://registry.test/a/-/a.tgz"}}}'],
    "pnpm": ["lockfileVersion: '9.0'\npackages:\n  a@1.0.0:\n    resolution: {integrity: sha512-x==, tarball: https://registry.test/a.tgz}\n"
             "  own@file:packages/own:\n    resolution: {directory: packages/own, type: directory}\n",
             "lockfileVersion: '9.0'\nimporters:\n  .: {dependencies: {own: {specifier: 'workspace:*', version: 'link:packages/own'}}}\n"
             "  packages/own: {dependencies: {own: {specifier: 'link:../own', version: 'link:../own'}}}\n"
             "snapshots: {'b@1.0.0(a@1.0.0)': {dependencies: {own: 'file:packages/own(a@1.0.0)'}}}\n",
             "lockfileVersion: 5.4\ndependencies: {a: 1.0.0}\npackages: {/@s/a/1.0.0: {resolution: {integrity: sha512-x==}}}\n"],
    "yarn": [f'{_HEAD}"@s/a@^1.0.0", a@1:\n  version "1.0.0"\n  resolved "https://registry.test/a.tgz#0a"\n  integrity sha512-x==\n'
             '  dependencies:\n    b "^1 || 2"\n'],
    "berry": ['__metadata:\n  version: 8\n"a@npm:^1":\n  version: 1.0.0\n  resolution: "a@npm:1.0.0"\n"own@workspace:packages/own":\n'
              '  resolution: "own@workspace:packages/own"\n"@s/b@patch:@s/b@npm%3A1#~/a.patch":\n'
              '  resolution: "@s/b@patch:@s/b@npm%3A1.0.0#~/a.patch::version=1&hash=0"\n'],
}  # fmt: skip
OTHER_LOCKS = {
    "npm": [
        json.dumps({"packages": {"node_modules/a": {"version": "1.0.0", "resolved": source}}})
        for source in ("git+ssh://git@evil.test/a.git#0", "https://github.com/owner/a#0", "file:../../x.tgz",
                       "https://evil.test/a.git", "../../x")
    ] + ['{"packages": {"node_modules/a": {"resolved": "../../../home", "link": true}}}', '{"dependencies": {"a": {"version": "git+file:///x"}}}',
         "\ufeff{}", "{'a': 1}", "[" * 100_000,
         *(json.dumps({"packages": {place: {"version": "1.0.0"}}}) for place in (f"node_modules/{AWAY}", "../../x", "/srv/x", "a\\..\\b")),
         json.dumps({"packages": {"node_modules/a": {"version": "1.0.0", "name": AWAY, "dependencies": {"b": "1"}}}}),
         json.dumps({"packages": {"node_modules/a": {"version": "1.0.0", "bin": {"../../x": "x.js"}}}})],
    "pnpm": [
        "packages:\n  a:\n    resolution: {commit: '0', repo: 'https://evil.test/a', type: git}\n",
        'packages: {a: {"resolution": {"\\x72epo": "x", type: "g"}}}\n',
        "packages:\n  a:\n    resolution: {tarball: 'file:../../x.tgz'}\n",
        "packages:\n  a:\n    resolution: {tarball: 'https://codeload.github.com/a/b/tar.gz/0'}\n",
        "packages:\n  a:\n    resolution: {directory: ../../../srv/me/private, type: directory}\n",
        "x: &x {tarball: 'git+ssh://a'}\npackages:\n  a:\n    resolution: {<<: *x}\n",
        f"snapshots: {{b@1.0.0: {{dependencies: {{'{AWAY}': a@1.0.0}}}}}}\n", f"packages: {{a@https://r/a.tgz: {{name: '{AWAY}'}}}}\n",
        "importers: {.: {dependencies: {a: {specifier: '1', version: 'link:../../private'}}}}\n",
        "importers: {../../x: {dependencies: {a: {specifier: '1', version: 1.0.0}}}}\n",
        "snapshots: {b@1.0.0: {dependencies: {a: 'link:../../private'}}}\n", "snapshots: {b@1.0.0: {dependencies: {a: 'file:/srv/me'}}}\n",
        "a: 1\n---\nb: 2\n", "!!python/object/apply:os.system ['touch evil']\n",
        "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
            f"{c}: &{c} [{', '.join([f'*{b}'] * 9)}]\n" for b, c in zip("abcdefgh", "bcdefghi", strict=True)
        ),
    ],
    "yarn": [
        f'{_HEAD}a@1:\n  version "1.0.0"\n  resolved "{source}"\n'
        for source in ("git+ssh://git@evil.test/a#0", "https://github.com/a/b.git#0", "file:/srv/me/x", "\\u0067it+ssh://a")
    ] + [f'{_HEAD}a@1:\n  version "1.0.0"\n  "resolved" "git+ssh://a"\n', f'{_HEAD}a@1:\n  version "1"\n  dependencies:\n    b "git+ssh://a"\n',
         f'{_HEAD}a@1:\n  version "1"\n  dependencies:\n    "{AWAY}" "npm:b@1"\n',
         f'{_HEAD}a@1:\n  version "1"\n  dependencies:\n    .. "npm:b@1"\n'],
    "berry": [
        f'__metadata:\n  version: 8\n"a@x":\n  version: 1\n  resolution: "a@{source}"\n'
        for source in ("git@evil.test:a.git#commit=0", "https://evil.test/a.git#commit=0", "file:/srv/me", "portal:../../x",
                       "patch:a@git%2Bssh%3A//x#./a")
    ] + ['__metadata:\n  version: 8\n"..@npm:a@1":\n  version: 1\n  resolution: "..@npm:1"\n',
         f'__metadata:\n  version: 8\n"a@npm:1":\n  resolution: "a@npm:1"\n  dependencies:\n    "{AWAY}": "npm:b@1"\n',
         "# yarn lockfile v1\n__metadata:\n  version: 8\n"],
}  # fmt: skip


@pytest.mark.parametrize("manager", PLAIN_LOCKS)
def test_a_lock_file_that_names_other_sources_is_not_shown_to_the_package_manager(manager: str, tmp_path: Path) -> None:
    """What it names is fetched though no manifest does; versions are then those of the manifests' ranges."""
    file = {"npm": "package-lock.json", "pnpm": "pnpm-lock.yaml", "yarn": "yarn.lock", "berry": "yarn.lock"}[manager]
    for at, text in enumerate((*PLAIN_LOCKS[manager], *OTHER_LOCKS[manager])):
        files = {
            "package.json": '{"name": "root", "workspaces": ["packages/*"], "dependencies": {"a": "1"}}',
            "packages/own/package.json": '{"name": "own"}',
            file: text,
        }
        made = look(tmp_path / str(at), files)
        step = next(node.steps(made))
        is_plain = at < len(PLAIN_LOCKS[manager])
        assert (file in step.files) == is_plain, text[:200]
        assert ("--no-frozen-lockfile" in step.command) == (manager == "pnpm" and not is_plain)
        write_tree(
            made.fetched_here / node.FOLDER, {**{path: text for path, text in step.files.items() if path[0] != "/"}, "node_modules/a/x": ""}
        )
        assert list(node.steps(made)) == []  # what was fetched is as new as the lock file


_AWAY = "../../../../../../../../../srv/me/.bashrc"


@pytest.mark.parametrize(
    ("patch", "is_plain"),
    [
        ("diff --git a/lib/x.js b/lib/x.js\nindex 012..345 100644\n--- a/lib/x.js\n+++ b/lib/x.js\n@@ -1 +1 @@\n-import '../../a'\n"
         "+import '../b'\n", True),
        (f"diff --git a/{_AWAY} b/{_AWAY}\nnew file mode 100644\n--- /dev/null\n+++ b/{_AWAY}\n@@ -0,0 +1 @@\n+evil\n", False),
        (f"diff --git a/x b/x\n--- a/x\n+++ b/{_AWAY}\n", False),
        (f"diff --git a/x b/x\nrename from x\nrename to {_AWAY}\n", False),
        (f"text\u2028+++ b/{_AWAY}\n", False),
        ("--- a/x\n+++ /srv/me/.bashrc\n", False),
        ("--- a/x\n+++ x/ /srv/me/.bashrc\n", False),
        ("--- a/x\n+++ b//srv/me/.bashrc\n", False),
        ('diff --git "a/\\056\\056/x" "b/x"\n', False),
        ("diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/srv/me\n", False),
    ],
)  # fmt: skip
def test_a_patch_that_would_change_other_files_is_not_shown_to_the_package_manager(patch: str, is_plain: bool, tmp_path: Path) -> None:
    """pnpm wrote it where it said, outside of every folder of lspidx's."""
    [step] = played(look(tmp_path, {"package.json": manifest(), "a.patch": patch, **LOCKS["pnpm"]}))
    assert ("a.patch" in step.files) == is_plain


def test_a_pipe_a_device_and_a_link_that_leads_out_are_no_files_of_a_project(tmp_path: Path) -> None:
    secret = write_tree(tmp_path / "home", {"secret": "SECRET"}) / "secret"
    made = look(tmp_path, {"package.json": manifest(), "pnpm-workspace.yaml": "", ".npmrc": "", "a.patch": "", "pnpm-lock.yaml": ""})
    for name in ("a.patch", ".npmrc", "pnpm-workspace.yaml"):
        (made.root / name).unlink()
        (made.root / name).symlink_to(secret)
    for plant in (lambda lock: lock.symlink_to("/dev/zero"), os.mkfifo, lambda lock: lock.symlink_to(secret)):
        (made.root / "pnpm-lock.yaml").unlink()
        plant(made.root / "pnpm-lock.yaml")
        step = next(node.steps(made))
        assert not any("SECRET" in text for text in step.files.values())


def test_a_step_writes_through_no_link(tmp_path: Path) -> None:
    outside = write_tree(tmp_path / "outside", {"package.json": "mine"})
    place = tmp_path / "place"
    (place / "a").mkdir(parents=True)
    (place / "a" / "package.json").symlink_to(outside / "package.json")
    (place / "b").symlink_to(outside)
    for name in ("a/package.json", "b/package.json", "a/package.json/c"):
        step = Step(language="typescript", command=["true"], cwd=place, environment={}, writes=[place], files={name: "theirs"})
        [outcome] = fetch([step], Trust.NONE, avoid=[], say=lambda text: None)
        assert (outcome.problem == "") == (name == "a/package.json")
        assert (outside / "package.json").read_text() == "mine"
