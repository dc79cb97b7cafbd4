"""Files that a server needs beside the repository, written into our own cache folder and never into the repository.

`compile_commands.json` for clangd, whose index then lies beside it: the project's own, or made of compile_flags.txt, or guessed.
`go.work` for gopls, so that an import leads from one workspace folder into another.
A virtual environment without an interpreter for Python's servers, which would else take the one that they are installed in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexer import go_modules
from indexer.crawl.plan import PlannedDocument
from indexer.prerequisites import fetched_dir
from indexer.workspace import Folder

_DATABASES = ("", "build", "out", "cmake-build-debug", "cmake-build-release", "builddir")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoWorkspace:
    """`variables` of gopls; `missing` are the module paths that empty modules stand for.

    `is_vendored`: all that is required lies in the repository's own folder `vendor`.
    """

    variables: Mapping[str, str]
    is_vendored: bool = False
    missing: Sequence[str] = ()


def compile_commands(root: Path, documents: Sequence[PlannedDocument], folder: Path) -> str:
    """Puts a compilation database for clangd into `folder` and says what it was made of.

    Without one, clangd compiles each file alone, with no include path; the guess adds the root and every folder called `include`
    or `src`, which finds most of a project's own headers.
    """
    target = folder / "compile_commands.json"
    for name in _DATABASES:
        database = root / name / "compile_commands.json"
        if database.is_file():
            content = database.read_bytes()
            if not target.is_file() or target.read_bytes() != content:
                target.write_bytes(content)
            return database.relative_to(root).as_posix()
    flags_file = root / "compile_flags.txt"
    if flags_file.is_file():
        flags = [line.strip() for line in flags_file.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        made_of = "compile_flags.txt"
    else:
        folders = {"", *(part for document in documents for part in _include_folders(document.path))}
        flags = [f"-I{root / part}" for part in sorted(folders)]
        made_of = "guessed: no compile_commands.json, no compile_flags.txt"
    entries = [
        {"directory": str(root), "file": str(root / document.path), "arguments": ["clang", *flags, "-c", str(root / document.path)]}
        for document in documents
        if document.path.lower().endswith(_SOURCES)
    ]
    _write(target, json.dumps(entries, indent=0))
    return made_of


def _include_folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i, part in enumerate(parts) if part in ("include", "src")]


def go_workspace(folders: Sequence[Folder], paths: Sequence[str], folder: Path, environment: Mapping[str, str]) -> GoWorkspace:
    """What gopls is told of the workspace's modules; a go.work in `folder` where it needs one that the repository has not.

    It needs one where there are several workspace folders, so that imports lead from one into another, and where a module that is
    required is not in the module cache, for then the go command would load nothing at all.

    Args:
        paths: all files of the workspace, relative to the root.
        environment: the caller's.
    """
    root = folders[0].path
    if (root / "vendor" / "modules.txt").is_file():
        return GoWorkspace(variables={}, is_vendored=True)
    modules_of = go_modules.folders_of(root, [path for path in paths if not path.startswith("../")])
    beside = [item.path for item in folders[1:] if (item.path / "go.mod").is_file()]
    cache, modules = go_modules.best_cache([*modules_of, *beside], environment, fetched_dir(environment))
    variables = {"GOMODCACHE": str(cache)}
    is_complete = modules.is_whole and (not beside or (root / "go.work").is_file())
    if is_complete or not modules.folders or environment.get("GOWORK"):
        return GoWorkspace(variables=variables)
    if modules.is_whole:  # all are there: only those that the workspace names have to be seen together
        named = [item.path for item in folders if (item.path / "go.mod").is_file()]
        if len(named) < 2:
            return GoWorkspace(variables=variables)
        modules = replace(modules, folders=named, replaced={})
    empty = folder / "go-missing"
    for name, text in go_modules.empty_modules(modules).items():
        (empty / name).mkdir(parents=True, exist_ok=True)
        _write(empty / name / "go.mod", text)
    target = folder / "go.work"
    _write(target, go_modules.work_text(modules, (), empty))
    return GoWorkspace(variables={**variables, "GOWORK": str(target)}, missing=[item.path for item in modules.missing])


def python_environment(folder: Path, version: str, behind: Sequence[str]) -> Path:
    """Puts an environment into `folder` in which nothing is installed and nothing can be run, and gives its path.

    Its folder `nothing` is empty, for who must name a folder to mean none.

    Args:
        version: of the Python that it says to be of.
        behind: absolute folders that are searched after the standard library, in this order.
    """
    place = folder / "python"
    site = place / "lib" / f"python{version}" / "site-packages"
    site.mkdir(parents=True, exist_ok=True)
    (place / "nothing").mkdir(exist_ok=True)
    # `home` leads nowhere: what is looked up there is the standard library of this machine's Python, which differs between machines.
    _put(place / "pyvenv.cfg", f"home = {place / 'bin'}\ninclude-system-site-packages = false\nversion = {version}\n")
    _put(site / "lspidx.pth", "".join(f"{path}\n" for path in behind if "\n" not in path))
    for other in place.glob("lib/*/site-packages/lspidx.pth"):
        if other.parent != site:  # of an earlier version
            other.unlink(missing_ok=True)
            other.parent.rmdir()
            other.parent.parent.rmdir()
    return place


def _put(file: Path, text: str) -> None:
    """Writes it whole, if it is not so already: servers of another process may be reading it."""
    if file.is_file() and file.read_text(encoding="utf-8", errors="surrogateescape") == text:
        return
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8", errors="surrogateescape")
    beside.replace(file)


def _write(file: Path, text: str) -> None:
    """Leaves a file alone that says so already: servers look at its time."""
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
