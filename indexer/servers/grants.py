"""What a server that is not trusted may see of this machine: systems, toolchains, the workspace, and what the user has allowed beside it.

A repository says where else to look (links, `replace`, `path`, .pth, -I). Its word opens nothing (ADR 0038): `indexer.servers.pointers`
names these places, and the user's word opens them, but for those that `indexer.private_places` closes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from indexer.config import Config
from indexer.consent import Reach
from indexer.model import Trust
from indexer.private_places import home_folder
from indexer.sandbox import Confinement, safe_path
from indexer.servers.environments import packages_of
from indexer.servers.installations import environment_parts, is_python, parts, standard_library, user_base
from indexer.servers.placeholders import fill, fill_words
from indexer.servers.registry import FoundServer, Place, ServerSpec
from indexer.servers.system import system_read, system_run

_VARIABLE = re.compile(r"\$(\w+)")


def confinement(
    server: FoundServer,
    *,
    trust: Trust,
    folders: Sequence[Path],
    reach: Reach,
    values: Mapping[str, object],
    readable: Sequence[str],
    caller: Mapping[str, str],
    scratch: Path,
    cache: Path,
) -> tuple[Confinement, dict[str, str]]:
    """What a server may see below full trust, and the variables that say to it where its toolchain lies.

    Args:
        folders: of the workspace, the root first. reach: what the user has allowed outside of it.
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
        run += _own_parts(prefix, reach)
    if trust.covers(Trust.DEPS):
        run += [path for folder in workspace if reach.may_read(path := os.path.join(folder, "node_modules"))]
    environment = [path for path in _of_environment(prefix, reach) if not reach.is_closed(path)] if isinstance(prefix, str) else []
    read = [*system_read(), *workspace, *dict.fromkeys(environment), *reach.readable, *(os.path.expanduser(path) for path in readable)]
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
        names=list(_listed(folders, values.get("all_roots"))),
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


def _of_environment(prefix: str, reach: Reach) -> Iterator[str]:
    """What may be read for the project's environment of Python: its own parts, the installation that it was made of, its packages.

    An environment in the workspace may be its author's work: of the installation that it leads to only the standard library is opened
    then, and only if there is one.
    """
    yield from _own_parts(prefix, reach)
    real = os.path.realpath(os.path.join(prefix, "bin", "python"))
    if os.path.basename(os.path.dirname(real)) == "bin":
        base = os.path.dirname(os.path.dirname(real))
        yield from standard_library(base) if reach.is_of_workspace(prefix) else environment_parts(base)
    yield from packages_of(prefix, reach)


def _own_parts(prefix: str, reach: Reach) -> list[str]:
    """The parts of an environment; of one in the workspace those that lie there, and what is an interpreter wherever it lies."""
    found = environment_parts(prefix)
    return [path for path in found if reach.may_read(path) or is_python(path)] if reach.is_of_workspace(prefix) else found


def reach_of(root: Path, config: Config, folders: Sequence[Path], environment: Mapping[str, str]) -> Reach:
    """What a workspace reaches outside of its root: its further folders, and what the user has allowed or says that servers may read."""
    allowed = [*config.allowed, *config.readable, *map(str, folders)]
    return Reach(root, allowed, environment, everything=config.trust is Trust.FULL)


def _listed(folders: Sequence[Path], roots: object) -> Iterator[str]:
    """Folders above the workspace that imports start from, where the workspace is a package itself: their names are looked at."""
    root = str(folders[0])
    for path in cast("list[object]", roots) if isinstance(roots, list) else ():
        if root.startswith(f"{str(path).rstrip('/')}/"):
            yield str(path)
