"""Pinned inputs of the benchmark: sources in three languages, one environment for Python's imports, the programs to compare with.

All of it is fetched with ordinary registry clients (`pip`, `npm`, `go`) into the working folder and kept there; what is there already
is not fetched again. Nothing of a corpus is installed or run. lspidx's own servers come by `lspidx servers install`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
NODE_TYPESCRIPT = {"@sourcegraph/scip-typescript": "0.4.0", "typescript": "5.9.3"}
"""scip-typescript uses the compiler that lies beside it, so they have a folder of their own."""

NPM = {
    "rxjs": ("rxjs@7.8.2", "rxjs-7.8.2", "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82"),
    "zod": ("zod@4.6.7", "zod-4.6.7", "84efd155bed93270286e793fc951be270b536cbd5b0eeb111f0fa3967201d698"),
    "effect": ("effect@4.1.0", "effect-4.1.0", "41705a35c964192dfc742863f0e099727ccda7ff2bd67a06d09b093a336f2b0e"),
}
"""Package, folder, SHA-256 of the archive. Only `src`, package.json and tsconfig.json are unpacked."""

_ZOD_PATHS = {"zod": ["./src/index.ts"], "zod/*": ["./src/*/index.ts", "./src/*.ts", "./src/*"]}
_COMPILER = {"target": "es2022", "module": "nodenext", "strict": True, "noEmit": True, "skipLibCheck": True}
TSCONFIG: dict[str, dict[str, Any]] = {
    "zod": {"compilerOptions": {**_COMPILER, "paths": _ZOD_PATHS}, "include": ["src"]},
    "effect": {"compilerOptions": _COMPILER, "include": ["src"]},
}
"""For packages that ship none; zod imports itself by its own name."""

GO = {
    "mux": ("github.com/gorilla/mux@v1.8.1", "h1:TuBL49tXwgrFYWhqrNgrUNEY92u81SPhu7sTdzQEiWY="),
    "cobra": ("github.com/spf13/cobra@v1.8.1", "h1:e5/vxKd/rZsfSJMUX1agtjeTDf+qv1/JdBF8gg5k9ZM="),
    "gin": ("github.com/gin-gonic/gin@v1.10.1", "h1:T0ujvqyCSqRopADpgPgiTT63DUQVSfojyME59Ei63pQ="),
}
"""Module and its checksum as go.sum writes it."""

SCIP_GO = "github.com/scip-code/scip-go/cmd/scip-go@v0.2.9"
"""The project's present home; under its former name, github.com/sourcegraph/scip-go, it could not be had."""

SERVERS = {"python": ("ty", "basedpyright", "pyrefly"), "typescript": ("ts7", "typescript-language-server"), "go": ("gopls",)}
"""Entries of lspidx's server table that are compared, the default first."""

_IGNORED = shutil.ignore_patterns(".lspidx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What is measured.

    root: what lspidx indexes; every path of the benchmark is relative to it.
    peer_root: where pyright, scip-python and ty start; a copy with their configuration where they need one.
    inside: `root` relative to `peer_root` ("" where they are the same).
    compared: whether the SCIP indexer of its language runs on it too.
    """

    name: str
    language: str
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

    def servers(self, language: str) -> Path:
        """Where lspidx looks while it indexes a corpus of `language`: one each, so that a corpus's other languages stay out."""
        return self.folder / "servers" / language

    @property
    def go_programs(self) -> Path:
        return self.folder / "gobin"

    def node_program(self, name: str, folder: str = "node") -> Path:
        return self.folder / folder / "node_modules" / ".bin" / name

    def corpora(self, language: str) -> dict[str, Corpus]:
        """By name, from small to large. Python: flask, django/ (the package folder), django-sdist, sympy."""
        sources = self.folder / "corpora"
        if language == "typescript":
            return {name: _plain(name, language, sources / stem) for name, (_, stem, _) in NPM.items()}
        if language == "go":
            return {name: _plain(name, language, sources / f"{name}-{version(module)}") for name, (module, _) in GO.items()}
        return self._python_corpora()

    def _python_corpora(self) -> dict[str, Corpus]:
        sources = self.folder / "corpora"
        flask, django, sympy = (sources / SDISTS[name][1] for name in ("flask", "django", "sympy"))
        peers = self.folder / "peers" / flask.name
        return {
            "flask": Corpus(name="flask", language="python", root=flask, peer_root=peers, inside="", compared=True),
            "django/": Corpus(name="django/", language="python", root=django / "django", peer_root=django, inside="django", compared=True),
            "django-sdist": Corpus(name="django-sdist", language="python", root=django, peer_root=django, inside="", compared=False),
            "sympy": Corpus(name="sympy", language="python", root=sympy, peer_root=sympy, inside="", compared=False),
        }


def _plain(name: str, language: str, root: Path) -> Corpus:
    return Corpus(name=name, language=language, root=root, peer_root=root, inside="", compared=True)


def version(module: str) -> str:
    """The version of `module@v1.2.3`, without the letter."""
    return module.rpartition("@")[2].removeprefix("v")


def fetch_python(bench: Bench, names: Sequence[str]) -> None:
    """Makes the environment, the Node programs and the named source distributions available.

    Raises:
        subprocess.CalledProcessError: a registry client failed; its own message is on stderr.
        ValueError: an archive is not the pinned one.
    """
    bench.folder.mkdir(parents=True, exist_ok=True)
    _make_environment(bench)
    _install_node(bench.folder / "node", NODE)
    for name in names:
        _unpack(bench, *SDISTS[name])
    _configure_flask_copy(bench)


def fetch_typescript(bench: Bench, names: Sequence[str]) -> None:
    """scip-typescript and the named packages; errors as of `fetch_python`."""
    bench.folder.mkdir(parents=True, exist_ok=True)
    _install_node(bench.folder / "node-typescript", NODE_TYPESCRIPT)
    for name in names:
        _unpack_npm(bench, name)


def fetch_go(bench: Bench, names: Sequence[str]) -> str:
    """The named modules with what they require, and scip-go. Returns why there is no scip-go, "" where there is one.

    Raises:
        subprocess.CalledProcessError: a module could not be had; the client's own message is on stderr.
        ValueError: a module is not the pinned one.
    """
    bench.folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        _copy_module(bench, name)
    bench.go_programs.mkdir(exist_ok=True)
    stamp = bench.go_programs / "scip-go.txt"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == SCIP_GO:
        return ""
    install = ["go", "install", SCIP_GO]
    done = subprocess.run(install, env={**os.environ, "GOBIN": str(bench.go_programs.absolute())}, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip().rpartition("\n")[2]
    stamp.write_text(SCIP_GO, encoding="utf-8")
    return ""


def install_servers(bench: Bench, language: str, servers: Sequence[str]) -> None:
    """Puts lspidx's pinned servers into the working folder; those that are there are left alone.

    Raises:
        subprocess.CalledProcessError: a server could not be had; lspidx's own message is on stderr.
    """
    folder = bench.servers(language)
    folder.mkdir(parents=True, exist_ok=True)
    command = [str(Path(sys.executable).parent / "lspidx"), "servers", "install", *servers]
    subprocess.run(command, env={**os.environ, "LSPIDX_SERVERS_DIR": str(folder.absolute())}, check=True, stdout=sys.stderr)


def _make_environment(bench: Bench) -> None:
    stamp = bench.environment / "requirements.txt"
    wanted = "\n".join(ENVIRONMENT) + "\n"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(bench.environment)], check=True)
    subprocess.run([str(bench.interpreter), "-m", "pip", "install", "-q", "--no-deps", *ENVIRONMENT], check=True, stdout=sys.stderr)
    stamp.write_text(wanted, encoding="utf-8")


def _install_node(folder: Path, programs: Mapping[str, str]) -> None:
    if all(_node_version(folder, name) == version for name, version in programs.items()):
        return
    folder.mkdir(exist_ok=True)
    packages = [f"{name}@{version}" for name, version in programs.items()]
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
    _check(archive, digest)
    partial = folder / f"{stem}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(archive) as tar:
        _extract(tar, partial)
    (partial / stem).rename(folder / stem)
    partial.rmdir()


def _check(archive: Path, digest: str) -> None:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != digest:
        raise ValueError(f"{archive.name} has SHA-256 {found}, expected {digest}; delete it to fetch it again")


def _unpack_npm(bench: Bench, name: str) -> None:
    package, stem, digest = NPM[name]
    folder = bench.folder / "corpora" / stem
    if folder.is_dir():
        return
    downloads = bench.folder / "downloads"
    downloads.mkdir(exist_ok=True)
    archive = downloads / f"{stem}.tgz"
    if not archive.is_file():
        command = ["npm", "pack", package, "--silent", "--pack-destination", str(downloads.absolute())]
        subprocess.run(command, check=True, stdout=sys.stderr)
    _check(archive, digest)
    partial = folder.with_name(f"{stem}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(archive) as tar:
        _extract(tar, partial)
    package_folder = partial / "package"
    for item in package_folder.iterdir():
        if item.is_dir() and item.name != "src":
            shutil.rmtree(item)
        elif item.is_file() and item.name not in ("package.json", "tsconfig.json"):
            item.unlink()
    if name in TSCONFIG:
        (package_folder / "tsconfig.json").write_text(json.dumps(TSCONFIG[name], indent=1) + "\n", encoding="utf-8")
    package_folder.rename(folder)
    partial.rmdir()


def _copy_module(bench: Bench, name: str) -> None:
    """From the module cache, which is read-only; its requirements stay there."""
    module, checksum = GO[name]
    folder = bench.folder / "corpora" / f"{name}-{version(module)}"
    if folder.is_dir():
        return
    done = subprocess.run(["go", "mod", "download", "-json", module], check=True, stdout=subprocess.PIPE, cwd=bench.folder)
    found = json.loads(done.stdout)
    if found["Sum"] != checksum:
        raise ValueError(f"{module} has the checksum {found['Sum']}, expected {checksum}")
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(found["Dir"], partial, copy_function=shutil.copyfile)
    for item in [partial, *partial.rglob("*")]:
        if item.is_dir():
            item.chmod(0o755)
    subprocess.run(["go", "mod", "download"], check=True, cwd=partial, stdout=sys.stderr)
    partial.rename(folder)


def _configure_flask_copy(bench: Bench) -> None:
    """A copy of flask that tells pyright and scip-python where imports start; flask's own settings leave its tests out."""
    corpus = bench.corpora("python")["flask"]
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
