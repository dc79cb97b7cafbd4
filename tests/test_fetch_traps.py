"""Every manager that `--fetch` starts, over a repository whose every setting is a trap: that it is started, and what it can see there.

In place of each stands a program that records how it was started and what lies where it would work. What the real ones made of the same
traps is in ADR 0062.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support import write_tree

from indexer.model import Trust
from indexer.prerequisites import Look, steps
from indexer.prerequisites.fetch import fetch

EVIL = "evil"
"""A part of every name, host and program that is planted; none may be in what a manager is shown."""

RECORDER = """#!{python}
import json, os, pathlib, sys
seen = {{}}
places = {{word if os.path.isdir(word) else os.path.dirname(word) for word in sys.argv[1:] if os.path.exists(word)}}
for place in {{os.getcwd(), *places}}:
    for folder, _, names in os.walk(place):
        for name in names:
            path = pathlib.Path(folder, name)
            seen[str(path)] = path.read_text(errors="replace")
with open({log!r}, "a") as log:
    record = {{"program": os.path.basename(sys.argv[0]), "words": sys.argv[1:], "cwd": os.getcwd(), "files": seen}}
    record["environment"] = dict(os.environ)
    log.write(json.dumps(record) + "\\n")
"""

_SCRIPTS = dict.fromkeys(
    ("preinstall", "install", "postinstall", "prepare", "prepublish", "dependencies", "pnpm:devPreinstall"), "./evil.sh"
)
_NPMRC = """script-shell=./evil.sh
registry=http://evil.test
node-options=--require ./evil.js
git=./evil.sh
globalconfig=./evil.npmrc
userconfig=./evil.npmrc
prefix=/srv/evil
pnpmfile=./evil.js
ignore-scripts=false
store-dir=/srv/evil
"""
_NODE = {
    "package.json": json.dumps(
        {
            "name": "app",
            "scripts": _SCRIPTS,
            "bin": {"npm": "./evil.sh", "pnpm@10.33.1": "./evil.sh"},
            "config": {"script-shell": "./evil.sh"},
            "packageManager": "yarn@9.9.9+sha224.evil",
            "dependencies": {
                "kept": "^1",
                "a": "git+ssh://evil.test/a",
                "b": "file:/srv/evil",
                "c": "exec:./evil.js",
                "@x/../../../evil": "npm:kept@1",
            },
            "pnpm": {"configDependencies": {"evil": "1"}, "executionEnv": {"nodeVersion": "evil"}, "onlyBuiltDependencies": ["evil"]},
        }
    ),
    ".npmrc": _NPMRC,
    "evil.npmrc": _NPMRC,
    ".yarnrc": 'yarn-path "./evil.js"\nregistry "http://evil.test"\n',
    ".yarnrc.yml": "yarnPath: ./evil.js\nplugins: [./evil.js]\nenableScripts: true\n",
    ".pnpmfile.cjs": "evil()",
    "pnpmfile.cjs": "evil()",
    "bunfig.toml": 'preload = ["./evil.js"]\n',
    "pnpm-workspace.yaml": "packages: ['.']\nscriptShell: ./evil.sh\nconfigDependencies: {evil: 1.0.0}\npnpmfile: ./evil.js\n",
    "node_modules/.bin/npm": "#!/bin/sh\nevil\n",
    "a.ts": "",
}
_LOCKS = {
    "npm": "package-lock.json",
    "pnpm": "pnpm-lock.yaml",
    "yarn": "yarn.lock",
    "berry": "yarn.lock",
    "bun": "bun.lock",
    "none": "a.json",
}
_TEXTS = {"package-lock.json": "{}", "pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "bun.lock": "{}", "a.json": "{}"}
_GO = {
    "go.mod": "module app\n\ngo 1.20\ntoolchain go1.99.1-evil\ntool evil.test\nrequire kept.test/a v1.0.0\nreplace b.test/b => /srv/evil\n",
    "go.sum": "",
    "go.env": "GOFLAGS=-toolexec=./evil.sh\n",
    "go.work": "use /srv/evil\n",
    ".env": "GOFLAGS=-toolexec=./evil.sh\n",
    "a.go": "package app\n\n//go:generate ./evil.sh\n",
}
_RUST = {
    "Cargo.toml": '[package]\nname = "app"\nversion = "1.0.0"\n[dependencies]\nkept = "1"\nb = { path = "/srv/evil" }\n',
    "build.rs": "evil!();",
    "src/lib.rs": "",
    ".cargo/config.toml": "[build]\nrustc-wrapper = './evil.sh'\n[registry]\nglobal-credential-providers = ['./evil.sh']\n",
    "rust-toolchain.toml": "[toolchain]\npath = './evil'\n",
}
_PROGRAMS = dict.fromkeys(("npx", "npm", "node", "go", "cargo", "git", "evil.sh"), "#!/bin/sh\nevil\n")
_TREES: dict[str, tuple[str, str, dict[str, str]]] = {
    **{
        name: (
            "typescript",
            "npx",
            {**_NODE, lock: _TEXTS.get(lock, "# yarn lockfile v1\n" if name == "yarn" else "__metadata:\n  version: 8\n")},
        )
        for name, lock in _LOCKS.items()
    },
    "go": ("go", "go", _GO),
    "rust": ("rust", "cargo", _RUST),
}


@pytest.mark.parametrize("name", _TREES)
def test_every_manager_is_started_and_sees_nothing_that_was_planted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    language, program, files = _TREES[name]
    root = write_tree(tmp_path / "work", {**files, **_PROGRAMS})
    for planted in _PROGRAMS:
        (root / planted).chmod(0o755)
    log = tmp_path / "log"
    shims = write_tree(tmp_path / "shims", {program: RECORDER.format(python=sys.executable, log=str(log))})
    (shims / program).chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(root), ".", "node_modules/.bin", str(shims), os.environ["PATH"])))
    monkeypatch.chdir(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    environment = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    look = Look(root=root, paths=sorted(files), languages=frozenset({language}), environment=environment, fetched=tmp_path / "fetched")
    outcomes = fetch(steps(look), Trust.NONE, avoid=[str(root)], say=lambda text: None)
    records = [msgspec.json.decode(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert len(records) == len(outcomes) >= 1
    assert {record["program"] for record in records} == {program}
    assert not any(outcome.problem for outcome in outcomes)
    for record in records:
        _look_through(record, root)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def _look_through(record: dict[str, Any], root: Path) -> None:
    assert not Path(record["cwd"]).is_relative_to(root)
    assert not any(word.startswith(str(root)) or EVIL in word for word in record["words"])
    assert str(root) not in record["environment"]["PATH"].split(os.pathsep)
    assert "." not in record["environment"]["PATH"].split(os.pathsep)
    own = {key: value for key, value in record["environment"].items() if key not in ("PWD", "OLDPWD", "PYTEST_CURRENT_TEST")}
    assert not [key for key, value in own.items() if EVIL in value or value.startswith(str(root))]
    texts = {path: text for path, text in record["files"].items() if not path.endswith(".of-the-repository")}
    assert texts, "nothing to work on"
    assert not [path for path, text in texts.items() if EVIL in text or EVIL in os.path.basename(path)]
    assert any("kept" in text for text in texts.values()), "the honest dependency is asked for"
