"""Files that a server needs beside the repository, written into our own cache folder and never into the repository.

`compile_commands.json` for clangd, whose index then lies beside it: the project's own, or made of compile_flags.txt, or guessed.
`rust-project.json` for rust-analyzer, where cargo cannot say how the crates belong together (`indexer.cargo`).
`go.work` for gopls, so that an import leads from one workspace folder into another.
A virtual environment without an interpreter for Python's servers, which would else take the one that they are installed in.
"""

from __future__ import annotations

import filecmp
import json
import os
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexer import go_modules, go_versions, plain_files
from indexer.crawl.sources import read_source
from indexer.crawl.units import PlannedDocument
from indexer.encoding import open_plain, read_beginning
from indexer.prerequisites import fetched_dir
from indexer.prerequisites.c import database
from indexer.workspace import Folder

GUESSED = "guessed: no compile_commands.json, no compile_flags.txt"
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|import)[ \t]*[<"]([^>"\n]{1,300})[>"]', re.MULTILINE)
_MOST_FOLDERS = 300
_MOST_BYTES = 1_000_000
_SYSTEM_NAMES = """
alloca assert complex ctype dirent dlfcn endian errno fcntl fenv float fnmatch getopt glob grp iconv inttypes iso646 langinfo libgen limits
locale malloc math memory netdb poll pthread pwd regex sched semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint
stdio stdlib stdnoreturn string strings syslog termios tgmath threads time uchar unistd utime wchar wctype windows
"""
_SYSTEM = frozenset(f"{name}.h" for name in _SYSTEM_NAMES.split())
"""Headers of the language and the system. What a repository has under such a name stands in for them on other systems."""

_LOWERED = "go-lowered"
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoWorkspace:
    """`variables` of gopls; `missing` are the module paths that empty modules stand for.

    `is_vendored`: all that is required lies in the repository's own folder `vendor`. `flags`: more words for GOFLAGS.
    """

    variables: Mapping[str, str]
    is_vendored: bool = False
    missing: Sequence[str] = ()
    flags: str = ""


def compile_commands(
    root: Path,
    documents: Sequence[PlannedDocument],
    folder: Path,
    paths: Sequence[str],
    may_read: Callable[[str], bool] = lambda _: True,
) -> str:
    """Puts a compilation database for clangd into `folder` and says what it was made of.

    Without one, clangd compiles each file alone, with no include path; the guess adds the folders from which the `#include` lines of
    the sources lead to headers of the workspace.

    Args:
        paths: all files of the workspace, relative to the root. may_read: whether a file that a link leads to may be read.
    """
    target = folder / "compile_commands.json"
    own = database(root, may_read)
    if own is not None:
        if plain_files.fault_of(target) or not target.is_file() or not filecmp.cmp(own, target, shallow=False):
            with open_plain(own) as source:  # large projects' have hundreds of megabytes
                plain_files.write_whole(target, source)
        return own.relative_to(root).as_posix()
    flags_file = root / "compile_flags.txt"
    if flags_file.is_file():
        flags = [line.strip() for line in read_beginning(flags_file, _MOST_BYTES).splitlines() if line.strip()]
        made_of = "compile_flags.txt"
    else:
        behind = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in _SYSTEM}
        flags = [f"{'-idirafter' if part in behind else '-I'}{root / part}" for part in guessed_folders(root, documents, paths, may_read)]
        made_of = GUESSED
    entries = [
        {"directory": str(root), "file": str(root / document.path), "arguments": ["clang", *flags, "-c", str(root / document.path)]}
        for document in documents
        if document.path.lower().endswith(_SOURCES)
    ]
    _write(folder, target.name, json.dumps(entries, indent=0))
    return made_of


def guessed_folders(
    root: Path, documents: Sequence[PlannedDocument], paths: Sequence[str], may_read: Callable[[str], bool] = lambda _: True
) -> list[str]:
    """Include folders of C and C++ files, relative to the root; empty where the project has a word on it."""
    if database(root, may_read) is not None or (root / "compile_flags.txt").is_file():
        return []
    usual = sorted({part for document in documents for part in _usual_folders(document.path)})
    return list(dict.fromkeys([*include_folders(_includes(root, documents), paths), *usual]))


def _usual_folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i, part in enumerate(parts) if part in ("include", "src")]


def _includes(root: Path, documents: Sequence[PlannedDocument]) -> dict[str, list[str]]:
    """By path of a source, what it includes."""
    found: dict[str, list[str]] = {}
    for document in documents:
        source = read_source(str(root / document.path), _MOST_BYTES)
        found[document.path] = [name.decode("utf-8", "replace") for name in _INCLUDE.findall(source)]
    return found


def include_folders(includes: Mapping[str, Sequence[str]], paths: Iterable[str]) -> list[str]:
    """Folders of the workspace from which these includes lead to its headers, those that serve most of them first; the root is one.

    A file beside the one that includes it is found without, and a header of the system leads nowhere. Where several folders have a header
    of that name, the one that serves most other includes is meant, then the one nearest to the file.

    Args:
        includes: by path of a file, the names in its `#include` lines.
    """
    known = set(paths)
    by_name: dict[str, list[str]] = {}
    for path in sorted(known):
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    choices: list[tuple[str, list[str]]] = []
    votes: Counter[str] = Counter()
    for path, names in includes.items():
        here = path.rpartition("/")[0]
        for name in dict.fromkeys(names):
            plain = posixpath.normpath(name)
            if posixpath.normpath(posixpath.join(here, plain)) in known or plain.startswith("../") or plain in _SYSTEM:
                continue
            fitting = [
                at[: -len(plain)].rstrip("/") for at in by_name.get(plain.rpartition("/")[2], ()) if at == plain or at.endswith(f"/{plain}")
            ]
            if fitting:
                choices.append((here, fitting))
                votes.update(fitting)
    chosen: Counter[str] = Counter()
    for here, fitting in choices:
        chosen[min(fitting, key=lambda folder: (-votes[folder], -_shared(here, folder), folder))] += 1
    ranked = sorted(chosen, key=lambda folder: (-chosen[folder], folder))[:_MOST_FOLDERS]
    return [*ranked, *([] if "" in ranked else [""])]


def _shared(one: str, other: str) -> int:
    """Of how many folders both paths lie."""
    return len(posixpath.commonprefix([one.split("/"), other.split("/")]))


def go_workspace(
    folders: Sequence[Folder],
    paths: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    may_read: Callable[[str], bool] = lambda _: True,
) -> GoWorkspace:
    """What gopls is told of the workspace's modules; a go.work in `folder` where it needs one that the repository has not.

    It needs one where there are several workspace folders, so that imports lead from one into another, and where a module that is
    required is not in the module cache, or one that the repository's go.work names lies where nothing may be read, or is not there, for
    then the go command would load nothing at all. And where a go.work has no go.work.sum beside it: the go command writes one, of what
    it reads of several modules together, and loads nothing where it may not.

    Args:
        paths: all files of the workspace, relative to the root.
        environment: the caller's. may_read: whether a folder to which a module points may be read.
    """
    root = folders[0].path
    flags = _go_overlay(folders, paths, folder, environment)
    if (root / "vendor" / "modules.txt").is_file():
        return GoWorkspace(variables={}, is_vendored=True, flags=flags)
    modules_of = go_modules.folders_of(root, [path for path in paths if not path.startswith("../")])
    beside = [item.path for item in folders[1:] if (item.path / "go.mod").is_file()]
    cache, modules = go_modules.best_cache([*modules_of, *beside], environment, fetched_dir(environment), may_read)
    variables = {"GOMODCACHE": str(cache)}
    work = go_modules.read(root / "go.work")
    uses = [Path(os.path.normpath(root / place)) for place in work.uses]
    is_usable = all(may_read(str(place)) and (place / "go.mod").is_file() for place in uses)
    has_sums = not uses or (root / "go.work.sum").is_file()
    is_complete = modules.is_whole and is_usable and has_sums and (not beside or (root / "go.work").is_file())
    if is_complete or not modules.folders or environment.get("GOWORK"):
        return GoWorkspace(variables=variables, flags=flags)
    if modules.is_whole and is_usable and uses:  # as the repository has it, where its sums may be written
        own = {path: (root, target) for path, target in work.replaced.items()}
        modules = replace(modules, folders=[*uses, *beside], replaced={**modules.replaced, **own}, go=work.go or modules.go)
    elif modules.is_whole and is_usable:  # all are there: only those that the workspace names have to be seen together
        named = [item.path for item in folders if (item.path / "go.mod").is_file()]
        if len(named) < 2:
            return GoWorkspace(variables=variables, flags=flags)
        modules = replace(modules, folders=named, replaced={})
    empty = folder / "go-missing"
    for name, text in go_modules.empty_modules(modules).items():
        _write(folder, f"{empty.name}/{name}/go.mod", text)
    for place, text in go_modules.stand_ins(modules, _go_imports(root, paths)).items():
        _write(folder, f"{empty.name}/{place}", text)
    target = folder / "go.work"
    version = go_versions.running(environment, root)
    if go_versions.is_later(modules.go, version):
        modules = replace(modules, go=version)
    _write(folder, target.name, go_modules.work_text(modules, (), empty))
    missing = [item.path for item in [*modules.missing, *modules.hollow]]
    return GoWorkspace(variables={**variables, "GOWORK": str(target)}, missing=missing, flags=flags)


def _go_overlay(folders: Sequence[Folder], paths: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """The flag that hides from the go command that files of the workspace ask for a later Go; empty where none does.

    Args:
        folder: where the files are written that are read in place of them.
    """
    root = folders[0].path
    manifests = go_versions.manifests(root, paths)
    beside = [item.path / "go.mod" for item in folders[1:]]
    texts = go_versions.lowered([*manifests, *beside], go_versions.running(environment, root))
    if not texts:
        return ""
    made, replaced = go_versions.overlay(texts, folder / _LOWERED)
    for name, text in made.items():
        _write(folder, f"{_LOWERED}/{name}", text)
    _write(folder, f"{_LOWERED}/overlay.json", json.dumps(replaced))
    return go_versions.flag(folder / _LOWERED / "overlay.json")


def _go_imports(root: Path, paths: Sequence[str]) -> set[str]:
    """What the workspace's Go files import."""
    sources = (read_source(str(root / path), _MOST_BYTES) for path in paths if path.endswith(".go"))
    return {path for source in sources for path in go_modules.imports(source.decode("utf-8", "replace"))}


def python_environment(folder: Path, version: str, behind: Sequence[str]) -> Path:
    """Puts an environment into `folder` in which nothing is installed and nothing can be run, and gives its path.

    Its folder `nothing` is empty, for who must name a folder to mean none.

    Args:
        version: of the Python that it says to be of.
        behind: absolute folders that are searched after the standard library, in this order.
    """
    place = folder / "python"
    site = f"python/lib/python{version}/site-packages"
    # `home` leads nowhere: what is looked up there is the standard library of this machine's Python, which differs between machines.
    _write(folder, "python/pyvenv.cfg", f"home = {place / 'bin'}\ninclude-system-site-packages = false\nversion = {version}\n")
    _write(folder, f"{site}/lspidx.pth", "".join(f"{path}\n" for path in behind if "\n" not in path))
    plain_files.make_folder(place / "nothing")
    others = re.compile(rf"(?!python{re.escape(version)}$)python[0-9.]+")
    plain_files.remove_folders(place / "lib", others)  # of earlier versions
    return place


def _write(folder: Path, path: str, text: str) -> None:
    """Leaves a file alone that says so already: servers look at its time, and another process's may be reading it.

    Servers write into `folder` too, so nothing on the way to the file is followed elsewhere.
    """
    plain_files.write_below(folder, path, text.encode("utf-8", "surrogateescape"))


def rust_project(text: str, folder: Path) -> Path:
    """Puts a project file for rust-analyzer into `folder`; it knows one by its name."""
    _write(folder, "rust-project.json", text)
    return folder / "rust-project.json"
