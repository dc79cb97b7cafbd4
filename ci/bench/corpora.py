"""Pinned inputs of the benchmark: three source distributions, one environment for their imports, two Node programs.

All of it is fetched with ordinary registry clients (`pip`, `npm`) into the working folder and kept there; what is there already
is not fetched again. Nothing of a corpus is installed or run.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

SDISTS = {
    "flask": ("flask==3.1.3", "flask-3.1.3", "0ef0e52b8a9cd932855379197dd8f94047b359ca0a78695144304cb45f87c9eb"),
    "django": ("Django==5.2.9", "django-5.2.9", "16b5ccfc5e8c27e6c0561af551d2ea32852d7352c67d452ae3e76b4f6b2ca495"),
    "sympy": ("sympy==1.14.0", "sympy-1.14.0", "d3d3fe8df1e5a0b42f0e7bdf50541697dbe7d23746e894990c030e2b05e72517"),
}
"""Requirement, folder in the archive (and the archive's name without its ending), SHA-256 of the archive."""

ENVIRONMENT = (
    "asgiref==3.13.0",
    "blinker==1.9.0",
    "click==8.5.1",
    "iniconfig==2.3.1",
    "itsdangerous==2.2.0",
    "Jinja2==3.1.6",
    "MarkupSafe==3.0.4",
    "packaging==26.3",
    "pluggy==1.7.0",
    "Pygments==2.21.0",
    "pytest==9.2.0",
    "sqlparse==0.6.1",
    "Werkzeug==3.1.9",
)
NODE = {"@sourcegraph/scip-python": "0.6.6", "pyright": "1.1.414"}

_IGNORED = shutil.ignore_patterns(".lspidx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What is measured.

    root: what lspidx indexes; every path of the benchmark is relative to it.
    peer_root: where pyright, scip-python and ty start; a copy with their configuration where they need one.
    inside: `root` relative to `peer_root` ("" where they are the same).
    compared: whether scip-python runs on it too.
    """

    name: str
    root: Path
    peer_root: Path
    inside: str
    compared: bool


@dataclass(frozen=True, slots=True)
class Bench:
    """The working folder; `fetch` fills it."""

    folder: Path

    @property
    def environment(self) -> Path:
        return self.folder / "env"

    @property
    def interpreter(self) -> Path:
        return self.environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def node_program(self, name: str) -> Path:
        return self.folder / "node" / "node_modules" / ".bin" / name

    def corpora(self) -> dict[str, Corpus]:
        """By name: flask, django/ (the package folder), django-sdist, sympy."""
        sources = self.folder / "corpora"
        flask, django, sympy = (sources / SDISTS[name][1] for name in ("flask", "django", "sympy"))
        peers = self.folder / "peers" / flask.name
        return {
            "flask": Corpus(name="flask", root=flask, peer_root=peers, inside="", compared=True),
            "django/": Corpus(name="django/", root=django / "django", peer_root=django, inside="django", compared=True),
            "django-sdist": Corpus(name="django-sdist", root=django, peer_root=django, inside="", compared=False),
            "sympy": Corpus(name="sympy", root=sympy, peer_root=sympy, inside="", compared=False),
        }


def fetch(bench: Bench, names: list[str]) -> None:
    """Makes the environment, the Node programs and the named source distributions available.

    Raises:
        subprocess.CalledProcessError: a registry client failed; its own message is on stderr.
        ValueError: an archive is not the pinned one.
    """
    bench.folder.mkdir(parents=True, exist_ok=True)
    _make_environment(bench)
    _install_node(bench)
    for name in names:
        _unpack(bench, *SDISTS[name])
    _configure_flask_copy(bench)


def _make_environment(bench: Bench) -> None:
    stamp = bench.environment / "requirements.txt"
    wanted = "\n".join(ENVIRONMENT) + "\n"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(bench.environment)], check=True)
    subprocess.run([str(bench.interpreter), "-m", "pip", "install", "-q", "--no-deps", *ENVIRONMENT], check=True, stdout=sys.stderr)
    stamp.write_text(wanted, encoding="utf-8")


def _install_node(bench: Bench) -> None:
    folder = bench.folder / "node"
    if all(_node_version(folder, name) == version for name, version in NODE.items()):
        return
    folder.mkdir(exist_ok=True)
    packages = [f"{name}@{version}" for name, version in NODE.items()]
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--save-exact", *packages]
    subprocess.run(command, check=True, stdout=sys.stderr)


def _node_version(folder: Path, name: str) -> str:
    try:
        return str(json.loads((folder / "node_modules" / name / "package.json").read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return ""


def _unpack(bench: Bench, requirement: str, stem: str, digest: str) -> None:
    folder = bench.folder / "corpora"
    if (folder / stem).is_dir():
        return
    downloads = bench.folder / "downloads"
    archive = downloads / f"{stem}.tar.gz"
    if not archive.is_file():
        pip = [str(bench.interpreter), "-m", "pip", "download", "-q", "--no-deps"]
        command = [*pip, "--no-binary", requirement.split("==")[0], "--dest", str(downloads), requirement]
        subprocess.run(command, check=True, stdout=sys.stderr)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != digest:
        raise ValueError(f"{archive.name} has SHA-256 {found}, expected {digest}; delete it to fetch it again")
    partial = folder / f"{stem}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(archive) as tar:
        _extract(tar, partial)
    (partial / stem).rename(folder / stem)
    partial.rmdir()


def _configure_flask_copy(bench: Bench) -> None:
    """A copy of flask that tells pyright and scip-python where imports start; flask's own settings leave its tests out."""
    corpus = bench.corpora()["flask"]
    if not corpus.peer_root.is_dir():
        shutil.copytree(corpus.root, corpus.peer_root, ignore=_IGNORED)
    examples = ["examples/tutorial", "examples/javascript", "examples/celery/src"]
    settings = {
        "include": ["."],
        "extraPaths": ["src", "tests", *examples],
        "venvPath": str(bench.folder.resolve()),
        "venv": bench.environment.name,
    }
    (corpus.peer_root / "pyrightconfig.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def _extract(tar: tarfile.TarFile, folder: Path) -> None:
    """Unpacks plain files and folders that stay inside; Python before 3.11.4 has no filter for that."""
    if hasattr(tarfile, "data_filter"):
        tar.extractall(folder, filter="data")
        return
    inside = folder.resolve()
    members = [item for item in tar if (item.isreg() or item.isdir()) and (inside / item.name).resolve().is_relative_to(inside)]
    tar.extractall(folder, members=members)
