"""Go: the modules that go.mod requires."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from indexer import go_modules
from indexer.encoding import read_manifest
from indexer.languages import GO
from indexer.prerequisites import Look, Prerequisite, Step

_NAMED = 3


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    folders = _folders(look)
    if not folders:
        return []
    _, modules = go_modules.best_cache(folders, look.environment, look.fetched)
    absent = modules.absent or modules.missing
    if not absent:
        return []
    required = {item.path for folder in folders for item in go_modules.read(folder / "go.mod").requires}
    own = {item.path for item in absent} & required
    paths = sorted(own or {item.path for item in absent})
    named = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
    counted = f"{len(own)} of {len(required)} required modules" if own else f"{len(paths)} modules that the required ones need"
    return [
        Prerequisite(
            language=GO.name,
            name="modules",
            detail=f"{counted} are not downloaded ({named})",
            remedy=_remedy(look),
            can_fetch=True,
        )
    ]


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`.

    The go command only downloads and unpacks: no toolchain of another version is fetched, and go.sum, which it might complete, is a copy.
    """
    folders = _folders(look)
    made = [_download(look, [folder]) for folder in folders if _is_lacking(look, [folder])]
    if len(folders) > 1 and (made or _is_lacking(look, folders)):
        made.append(_download(look, folders))  # of all together another version is chosen, which none of them needs alone
    return made


def _is_lacking(look: Look, folders: Sequence[Path]) -> bool:
    _, modules = go_modules.best_cache(folders, look.environment, look.fetched)
    return bool(modules.absent) or not modules.is_whole


def _download(look: Look, folders: Sequence[Path]) -> Step:
    """The download of what one module requires, or several as a workspace, by copies of their project files."""
    cache = go_modules.fetched_cache(look.fetched)
    place = look.fetched_here / "go"
    copies = {folder: place / (os.path.relpath(folder, look.root).replace(os.sep, "-").strip(".") or "root") for folder in folders}
    files = {
        str(copy / name): _text(folder / name)
        for folder, copy in copies.items()
        for name in ("go.mod", "go.sum")
        if (folder / name).is_file()
    }
    first = copies[folders[0]]
    work = place / "workspace" / "go.work"
    if len(folders) > 1:
        modules = go_modules.look(folders, [cache])
        known = [copies[folder] for folder in modules.folders]
        files[str(work)] = go_modules.work_text(replace(modules, folders=known, missing=[], instead={}), (), place)
    return Step(
        language=GO.name,
        command=["go", "mod", "download", *([f"-modfile={first / 'go.mod'}"] if len(folders) == 1 else [])],
        cwd=folders[0] if len(folders) == 1 else first,
        environment={
            "GOMODCACHE": str(cache),
            "GOFLAGS": "-modcacherw",
            "GOTOOLCHAIN": "local",
            "GOWORK": "off" if len(folders) == 1 else str(work),
            "GIT_TERMINAL_PROMPT": "0",
        },
        writes=[cache, *copies.values(), *([work.parent] if len(folders) > 1 else [])],
        files=files,
    )


def _text(file: Path) -> str:
    try:
        return read_manifest(file).decode("utf-8", "replace")
    except OSError:
        return ""


def _folders(look: Look) -> list[Path]:
    return [folder for folder in go_modules.folders_of(look.root, look.paths) if not (folder / "vendor" / "modules.txt").is_file()]


def _remedy(look: Look) -> str:
    folders = go_modules.folders_of(look.root, look.paths)
    return "go mod download" if folders[0] == look.root else f"(cd {os.path.relpath(folders[0], look.root)} && go mod download)"
