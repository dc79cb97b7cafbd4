"""What a server that is not trusted may see of this machine: systems, toolchains, the workspace, and what that points to outside.

A repository says where else to look (links, `replace`, `path`, .pth, -I), and its word is taken for reading only, and never for a
place that `indexer.private_places` closes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from indexer.encoding import read_beginning
from indexer.model import Trust
from indexer.private_places import home_folder, is_closed
from indexer.sandbox import Confinement, lies_in, safe_path
from indexer.servers.installations import environment_parts, parts, user_base
from indexer.servers.placeholders import fill, fill_words
from indexer.servers.registry import FoundServer, Place, ServerSpec
from indexer.servers.system import system_read, system_run

_VARIABLE = re.compile(r"\$(\w+)")
_OUTSIDE = re.compile(r"""(?<![\w.$/-])(?:/|(?:\.\./)+)[^\s"'`,;:()\[\]{}<>*|]*""")
_MANIFESTS = ("go.mod", "go.work", "Cargo.toml", "package.json", "compile_flags.txt", "pyrightconfig.json", "pyproject.toml", "ty.toml")
_INCLUDED = re.compile(r"""(?:-I|-isystem|-iquote|-idirafter|-include|"directory"\s*:)[\s",]*(/[^"\s,]+)""")
_MOST_BYTES = 4_000_000
_MOST_MANIFESTS = 500
_MOST_POINTED = 500


def confinement(
    server: FoundServer,
    *,
    trust: Trust,
    folders: Sequence[Path],
    paths: Iterable[str],
    values: Mapping[str, object],
    readable: Sequence[str],
    caller: Mapping[str, str],
    scratch: Path,
    cache: Path,
) -> tuple[Confinement, dict[str, str]]:
    """What a server may see below full trust, and the variables that say to it where its toolchain lies.

    Args:
        folders: of the workspace, the root first; `paths` its files, relative to the root.
        values: of the placeholders. caller: the environment that we were started with.
    """
    spec = server.spec
    workspace = [str(folder) for folder in folders]
    home = home_folder(caller)
    run: list[str] = [*system_run(), *parts(server.command[0], home, spec.beside)]
    run += [server.folder] if server.folder else []
    safe = safe_path(caller.get("PATH", os.defpath), workspace)
    for program in spec.programs:
        found = shutil.which(program, path=safe)
        run += parts(found, home) if found else []
    base = user_base(server.command[0], home)
    variables: dict[str, str] = {"PYTHONUSERBASE": base} if base else {}
    for name, place in spec.places.items():
        folder = _place(place, caller, home, values)
        if folder:
            variables[name] = folder
            run += [os.path.join(folder, part) for part in place.only] if place.only else [folder]
    prefix = values.get("python_prefix")
    if isinstance(prefix, str) and trust.covers(Trust.DEPS) and values.get("python") != values.get("no_python"):
        run += environment_parts(prefix)
    if trust.covers(Trust.DEPS):
        run += [os.path.join(folder, "node_modules") for folder in workspace]
    pointed = [path for path in _pointed(folders, list(paths), values) if not is_closed(path, home, root=workspace[0])]
    read = [*system_read(), *workspace, *dict.fromkeys(pointed[:_MOST_POINTED]), *(os.path.expanduser(path) for path in readable)]
    if isinstance(fetched := values.get("fetched_python"), str):
        read.append(fetched)  # ours, though it lies in a hidden folder of the home folder
    values = {**values, "user_cache": caller.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")}
    if not _can_be_written(own := fill_words(spec.writes, values)):  # a home folder that is read-only, or none: as with an empty cache
        values["user_cache"] = str(cache / "user")
        own = fill_words(spec.writes, values)
        _can_be_written(own)
    held = Confinement(
        run=list(dict.fromkeys(run)),
        read=read,
        write=[str(scratch), str(cache), *own],
        variables=list(spec.variables),
        avoid=workspace,
    )
    return held, variables | {name: str(value) for name, value in fill(spec.private, values).items()}


def _can_be_written(folders: Sequence[str]) -> bool:
    """Makes them: what is not there cannot be opened to anybody."""
    for folder in folders:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:
            return False
        if not os.access(folder, os.W_OK | os.X_OK):
            return False
    return True


def fetched_places(spec: ServerSpec, values: Mapping[str, object]) -> dict[str, str]:
    """Variables of places that are lspidx's own choice, whatever is trusted: those whose first filled `at` is a placeholder's."""
    found: dict[str, str] = {}
    for name, place in spec.places.items():
        first = next(iter(fill_words([at for at in place.at if at.startswith("{")], values)), "")
        if first:
            found[name] = first
    return found


def _place(place: Place, caller: Mapping[str, str], home: str, values: Mapping[str, object]) -> str:
    for at in fill_words(place.at, values):
        names = _VARIABLE.findall(at)
        if all(caller.get(name) for name in names):
            path = _VARIABLE.sub(lambda match: caller[match[1]].split(os.pathsep)[0], at)
            return path.replace("~", home, 1) if path.startswith("~") else path
    return ""


def of_python(prefix: str) -> list[str]:
    """Where the packages of an environment lie."""
    return sorted(str(path) for path in Path(prefix).glob("lib/python3*/*-packages"))


def linked(site: str) -> list[str]:
    """Folders that a folder of packages leads to, as an editable install has it."""
    return [
        line for file in sorted(Path(site).glob("*.pth")) for line in read_beginning(file, _MOST_BYTES).splitlines() if os.path.isabs(line)
    ]


def _pointed(folders: Sequence[Path], paths: Sequence[str], values: Mapping[str, object]) -> Iterator[str]:
    """What the workspace says about places outside it; the caller decides what of it is harmless."""
    workspace = [str(folder) for folder in folders]
    for folder in folders:
        yield from _links(folder, workspace)
    root = folders[0]
    manifests = [path for path in paths if _is_manifest(path.rpartition("/")[2])]
    for path in sorted(manifests, key=lambda path: path.count("/"))[:_MOST_MANIFESTS]:
        file = root / path
        for named in _OUTSIDE.findall(read_beginning(file, _MOST_BYTES)):
            target = os.path.normpath(file.parent / named)
            if not lies_in(target, workspace) and os.path.exists(target):
                yield target
    prefix = values.get("python_prefix")
    if isinstance(prefix, str):
        yield from environment_parts(prefix)
        real = os.path.realpath(os.path.join(prefix, "bin", "python"))
        if os.path.basename(os.path.dirname(real)) == "bin":
            yield from environment_parts(os.path.dirname(os.path.dirname(real)))
        for site in of_python(prefix):
            yield site
            yield from linked(site)
    roots = values.get("all_roots")
    yield from (str(path) for path in (roots if isinstance(roots, list) else []))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    database = values.get("compile_commands")
    if isinstance(database, str):
        yield from _INCLUDED.findall(read_beginning(Path(database) / "compile_commands.json", _MOST_BYTES))


def _is_manifest(name: str) -> bool:
    return name in _MANIFESTS or (name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json"))


def _links(folder: Path, workspace: Sequence[str]) -> Iterator[str]:
    """What the links in a workspace folder lead to, and those of its node_modules, two levels deep."""
    for place in (folder, folder / "node_modules"):
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_symlink():
                target = os.path.realpath(entry.path)
                if not lies_in(target, workspace) and os.path.exists(target):
                    yield target
            elif entry.name.startswith("@") and place.name == "node_modules":
                yield from (str(Path(path).resolve()) for path in Path(entry.path).iterdir() if path.is_symlink())
