"""Go: the modules that go.mod requires."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from indexer import go_modules, go_versions
from indexer.encoding import read_manifest
from indexer.languages import GO
from indexer.prerequisites import Look, Prerequisite, Step
from indexer.private_places import is_held
from indexer.sandbox import lies_in

_NAMED = 3
_WORD = re.compile(r"[A-Za-z0-9._~/+!-]+")
"""What go.mod takes without quotes, and nothing that it would read as more than a word."""


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    folders = _folders(look)
    if not folders:
        return []
    _, modules = go_modules.best_cache(folders, look.environment, look.fetched)
    found = _later_go(look)
    absent = modules.absent or modules.missing
    if not absent:
        return found
    required = {item.path for folder in folders for item in go_modules.read(folder / "go.mod").requires}
    own = {item.path for item in absent} & required
    paths = sorted(own or {item.path for item in absent})
    named = ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")
    counted = f"{len(own)} of {len(required)} required modules" if own else f"{len(paths)} modules that the required ones need"
    return [
        *found,
        Prerequisite(
            language=GO.name,
            name="modules",
            detail=f"{counted} are not downloaded ({named})",
            remedy=_remedy(look),
            can_fetch=True,
        ),
    ]


def _later_go(look: Look) -> list[Prerequisite]:
    version = go_versions.running(look.environment, look.root)
    lowered = go_versions.lowered(go_versions.manifests(look.root, look.paths), version)
    if not lowered:
        return []
    wanted = max((go_versions.asked_by(_text(file)) for file in lowered), key=go_versions.order)
    first = min(lowered, key=lambda file: (len(file.parts), file))
    return [
        Prerequisite(
            language=GO.name,
            name="toolchain",
            detail=f"{os.path.relpath(first, look.root)} asks for Go {wanted}, and Go {version} is here, by which it is read",
            remedy=f"install Go {wanted} or later",
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
    """The download of what one module requires, or several as a workspace, by manifests that are made of theirs.

    The go command reads the go.mod of every folder that a module is replaced by, wherever it lies and whatever it is (a link to a device
    without an end), and asks for what stands there. So it is started beside manifests that lie to each other as those of the workspace
    do, and what leads out of it is a module that requires nothing.
    """
    cache = go_modules.fetched_cache(look.fetched)
    place = look.fetched_here / "go"
    files: dict[str, str] = {}
    for folder in folders:
        files |= _manifest(look, folder, place).files
    for folder in folders:
        own = str(_copy(look, folder, place) / "go.mod")
        files[own] = _manifest(look, folder, place).files[own]  # and not the shorter one of a folder that it replaces
        if is_held(str(look.root), os.path.relpath(folder / "go.sum", look.root)) and (folder / "go.sum").is_file():
            files[str(_copy(look, folder, place) / "go.sum")] = _text(folder / "go.sum")
    copies = [_copy(look, folder, place) for folder in folders]
    work = place / "workspace" / "go.work"
    if len(folders) > 1:
        modules = go_modules.look(folders, [cache])
        known = [_copy(look, folder, place) for folder in modules.folders]
        replaced = {
            path: (_copy(look, folder, place), target)
            for path, (folder, _) in modules.replaced.items()
            if (target := _manifest(look, folder, place).replaced.get(path)) is not None
        }
        version = go_versions.running(look.environment, look.root)
        asks = version if go_versions.is_later(modules.go, version) else modules.go
        modules = replace(modules, folders=known, missing=[], instead={}, hollow={}, replaced=replaced, go=asks)
        files[str(work)] = go_modules.work_text(modules, (), place)
    return Step(
        language=GO.name,
        command=["go", "mod", "download"],
        cwd=copies[0],
        environment={
            "GOMODCACHE": str(cache),
            "GOFLAGS": "-modcacherw",
            "GOTOOLCHAIN": "local",
            "GOWORK": "off" if len(folders) == 1 else str(work),
            "GIT_TERMINAL_PROMPT": "0",
        },
        writes=[cache, *dict.fromkeys(Path(file).parent for file in files)],
        files=files,
    )


class _Made(NamedTuple):
    """A manifest of lspidx's own for a module, with those of the folders that replace others in it: texts by absolute path."""

    files: dict[str, str]
    replaced: dict[str, tuple[str, str]]


def _copy(look: Look, folder: Path, place: Path) -> Path:
    return place / "modules" / os.path.relpath(folder, look.root)


def _manifest(look: Look, folder: Path, place: Path) -> _Made:
    """Written anew of what is understood, so that the go command reads in it what was looked at here, and nothing else."""
    here, said, version = _copy(look, folder, place), _read(look, folder), go_versions.running(look.environment, look.root)
    files: dict[str, str] = {}
    replaced: dict[str, tuple[str, str]] = {}
    for path, (target, version) in said.replaced.items():
        if version:
            replaced[path] = (target, version)
            continue
        aim = Path(os.path.normpath(folder / target))
        is_own = aim.is_relative_to(look.root) and bool(_WORD.fullmatch(target)) and bool(_read(look, aim).module)
        there = _copy(look, aim, place) if is_own else place / "outside" / hashlib.sha256(path.encode()).hexdigest()[:12]
        text = _text_of(replace(_read(look, aim), replaced={}), version) if is_own else _text_of(go_modules.Manifest(module=path), version)
        if there != here:
            files[str(there / "go.mod")] = text
        replaced[path] = (os.path.join(".", os.path.relpath(there, here)), "")
    files[str(here / "go.mod")] = _text_of(replace(said, replaced=replaced), version)
    return _Made(files, replaced)


def _read(look: Look, folder: Path) -> go_modules.Manifest:
    """A go.mod that is the repository's own; an empty one where there is none."""
    file = folder / "go.mod"
    is_own = lies_in(os.path.realpath(file), [os.path.realpath(look.root)])
    return go_modules.read(file) if is_own else go_modules.Manifest()


def _text_of(said: go_modules.Manifest, version: str) -> str:
    asks = version if go_versions.is_later(said.go, version) else said.go
    lines = [["module", said.module if _WORD.fullmatch(said.module) else "unnamed"], *([f"go {asks}".split()] if asks else [])]
    lines += [["require", *item] for item in said.requires]
    lines += [["exclude", *item] for item in said.excludes]
    lines += [["replace", path, "=>", *filter(None, target)] for path, target in said.replaced.items()]
    return "".join(f"{' '.join(words)}\n" for words in lines if all(_WORD.fullmatch(word) or word == "=>" for word in words))


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
