"""Go: the modules that go.mod requires."""

from __future__ import annotations

import os
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
    made: list[Step] = []
    cache = go_modules.fetched_cache(look.fetched)
    for folder in _folders(look):
        _, modules = go_modules.best_cache([folder], look.environment, look.fetched)
        if modules.is_whole and not modules.absent:
            continue
        copy = look.fetched_here / "go" / (os.path.relpath(folder, look.root).replace(os.sep, "-").strip(".") or "root")
        variables = {
            "GOMODCACHE": str(cache),
            "GOFLAGS": "-modcacherw",
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
            "GIT_TERMINAL_PROMPT": "0",
        }
        made.append(
            Step(
                language=GO.name,
                command=["go", "mod", "download", f"-modfile={copy / 'go.mod'}"],
                cwd=folder,
                environment=variables,
                writes=[cache, copy],
                files={str(copy / name): _text(folder / name) for name in ("go.mod", "go.sum") if (folder / name).is_file()},
            )
        )
    return made


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
