"""The three repositories: which commit, what they need to be built, and what judges them: compilers, their tests, Python's own `ast`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci.bench.agent_tasks.work import Place

_S = 900
_TYPESCRIPT_ERROR = re.compile(r"^(?P<path>[^(\s]+)\((?P<line>\d+),\d+\): error (?P<code>TS\d+): (?P<text>.*)$", re.MULTILINE)
_GO_ERROR = re.compile(r"^(?:vet: )?(?P<path>[\w./+-]+\.go):(?P<line>\d+):\d+: (?P<text>.*)$", re.MULTILINE)
FAST_CHECK = "packages/fast-check"


@dataclass(frozen=True, kw_only=True)
class Repository:
    """`commands`: what brings its dependencies, in its folder; `source`: the endings of the files that are searched by reading."""

    name: str
    commit: str
    source: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    links: tuple[tuple[str, str], ...] = ()


REPOSITORIES = {
    "kombu": Repository(
        name="kombu",
        commit="9ee8595b835c77b4f04cfb54b40b5d446f985a35",
        source=(".py",),
        commands=(
            (sys.executable, "-m", "venv", "venv"),
            ("venv/bin/python", "-m", "pip", "install", "-q", "amqp==5.3.1", "vine==5.1.0", "tzdata", "packaging"),
            ("venv/bin/python", "-m", "pip", "install", "-q", "pytest==9.0.2", "redis"),
        ),
    ),
    "fast-check": Repository(
        name="fast-check",
        commit="f4b2f3a2f90a0fb08ccfa07b46bb7f1a5a35caec",
        source=(".ts", ".tsx", ".mjs", ".cjs", ".js"),
        commands=(
            ("npm", "install", "-q", "--prefix", "node_modules/.bench", "--ignore-scripts", "--no-audit", "--no-fund",
             "typescript@5.9.3", "@types/node@24", "pure-rand@8", "vitest@4"),
        ),
        links=(("node_modules/fast-check", "../packages/fast-check"),),
    ),
    "go-git": Repository(
        name="go-git",
        commit="374c354884f12ea0a8f80ae9c429a44a33ba4bb1",
        source=(".go",),
        commands=(("go", "mod", "download"),),
    ),
}  # fmt: skip


def prepare(repository: Repository, clones: Path, folder: Path) -> Path:
    """A work tree at the pinned commit with its dependencies and its index, kept between runs.

    Raises:
        subprocess.CalledProcessError: the clone lacks the commit, or a command failed.
    """
    root = folder / repository.name
    done = root / ".git" / "prepared"
    if done.is_file() and done.read_text(encoding="utf-8") == repr(repository):
        _run([sys.executable, "-m", "query.cli", "-C", str(root), "index", "-q"], Path.cwd())
        return root
    shutil.rmtree(root, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    _run(["git", "clone", "-q", "--no-hardlinks", str(clones / repository.name), str(root)], folder)
    _run(["git", "checkout", "-q", repository.commit], root)
    (root / "node_modules").mkdir(exist_ok=True) if "npm" in {command[0] for command in repository.commands} else None
    for command in repository.commands:
        _run(command, root)
    if (brought := root / "node_modules/.bench/node_modules").is_dir():
        for item in brought.iterdir():
            item.rename(root / "node_modules" / item.name)
    for link, target in repository.links:
        (root / link).symlink_to(target)
    _run([sys.executable, "-m", "query.cli", "-C", str(root), "index", "-q"], Path.cwd())
    done.write_text(repr(repository), encoding="utf-8")
    return root


def copy_of(root: Path, folder: Path, *, indexed: bool) -> Path:
    """A copy that a task may change; times are kept, so that its index is as fresh as the first one."""
    shutil.rmtree(folder, ignore_errors=True)
    return shutil.copytree(root, folder, symlinks=True, ignore=None if indexed else shutil.ignore_patterns(".lspidx"))


def sources(root: Path, endings: tuple[str, ...]) -> list[str]:
    """Tracked files with these endings."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    return [path for path in listed.split("\0") if path.endswith(endings) and (root / path).is_file()]


# ---- judges


def typescript_errors(root: Path) -> dict[Place, str]:
    """What the compiler says of fast-check's own package, by place: code and message."""
    said = _said(["node_modules/.bin/tsc" if (root / "node_modules/.bin").is_dir() else "node_modules/typescript/bin/tsc",
                  "--noEmit", "-p", f"{FAST_CHECK}/tsconfig.json"], root)  # fmt: skip
    return {(match["path"], int(match["line"])): f"{match['code']} {match['text']}" for match in _TYPESCRIPT_ERROR.finditer(said)}


def go_errors(root: Path) -> dict[Place, str]:
    """What the compiler says of all packages, tests included; one line each."""
    said = _said(["go", "vet", "-composites=false", "./..."], root)
    return {(match["path"].removeprefix("./"), int(match["line"])): match["text"] for match in _GO_ERROR.finditer(said)}


def go_tests(root: Path, *packages: str) -> bool:
    return not _fails(["go", "test", *packages], root)


def pytest_failures(root: Path, *paths: str) -> set[str]:
    """Files of tests that fail or cannot be read."""
    said = _said([str(root / "venv/bin/python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors",
                  "-rfE", *paths], root)  # fmt: skip
    return {line.split()[1].partition("::")[0] for line in said.split("\n") if line.startswith(("FAILED ", "ERROR "))}


def python_runs(root: Path, code: str) -> str:
    """What the text prints in the repository's own environment; its errors where it fails."""
    return _said([str(root / "venv/bin/python"), "-c", code], root)


def _said(command: Sequence[str], root: Path) -> str:
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=_S, check=False, env=_variables())
    return done.stdout + done.stderr


def _fails(command: Sequence[str], root: Path) -> bool:
    return bool(subprocess.run(command, cwd=root, capture_output=True, timeout=_S, check=False, env=_variables()).returncode)


def _variables() -> dict[str, str]:
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "GOFLAGS": "-mod=mod"}


def _run(command: Sequence[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
