"""Where a build or a test run starts: language, the project's folder, and what of it is meant."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from indexer.errors import UsageError
from indexer.languages import record_of
from indexer.servers.detect import list_files, rank_languages
from indexer.servers.registry import language_of, load_table
from query.toolchain.table import Kind, languages

_MAX_NAMED = 20


class Project(msgspec.Struct, kw_only=True):
    """root: of the workspace. folder: the project's, at or below `top`. scope: relative to the folder; empty for all of it.

    also: other languages here that have a toolchain of this kind. why: how language and folder were found.
    """

    root: Path
    top: Path
    folder: Path
    language: str
    scope: str
    also: list[str]
    why: str


def find_project(kind: Kind, roots: Sequence[Path], start: Path, workspace_dir: str, path: str, language: str) -> Project:
    """The project that is to be built or tested.

    Args:
        roots: folders that nothing may lie outside of; answers are relative to the first that holds the project.
        start: what a relative workspace_dir starts from.
    Raises:
        UsageError: a folder or path that is none or lies outside, a language without an entry, several projects to choose from.
    """
    root, top = _inside(roots, workspace_dir, "workspace_dir", start)
    if not top.is_dir():
        raise UsageError(f"workspace_dir '{workspace_dir}' is not a folder")
    place = _inside([top], path, "path", top)[1] if path else top
    known = languages(kind)
    if language:
        language = language.lower()
        if language not in known:
            raise UsageError(f"no {kind} of '{language}' is known; known: {', '.join(known)}")
        also, why = [], "asked for"
        files = list_files(top)[0] if place == top else []
    else:
        files = list_files(top)[0]
        language, also, why = _detected(kind, top, place, files, known)
    folder, how = _folder(top, place, files, language)
    scope = os.path.relpath(place, folder).replace(os.sep, "/")
    return Project(
        root=root, top=top, folder=folder, language=language, scope="" if scope == "." else scope, also=also, why=f"{language}: {why}{how}"
    )


def _inside(roots: Sequence[Path], text: str, name: str, base: Path) -> tuple[Path, Path]:
    """The root that a path lies in, and the path itself without links."""
    if "\0" in text or text.startswith(("\\\\", "//")):
        raise UsageError(f"{name} '{text}' is no path of this machine")
    place = Path(os.path.realpath(base / text))
    for root in roots:
        real = Path(os.path.realpath(root))
        if place == real or real in place.parents:
            if not place.exists():
                raise UsageError(f"{name} '{text}' does not exist in '{base}'")
            return real, place
    raise UsageError(f"{name} '{text}' is outside the workspace '{roots[0]}'")


def _detected(kind: Kind, top: Path, place: Path, files: Sequence[str], known: Sequence[str]) -> tuple[str, list[str], str]:
    """Of a file its own language, else the first of those whose project files are in the root, else the one with most files."""
    if place.is_file() and (own := language_of(place.name)) in known:
        return own, [], "the language of the file"
    prefix = "" if place == top else os.path.relpath(place, top).replace(os.sep, "/") + "/"
    ranked = rank_languages([file[len(prefix) :] for file in files if file.startswith(prefix)])
    fitting = sorted((item for item in ranked if item.language in known), key=lambda item: not item.markers)
    if not fitting:
        seen = ", ".join(item.language for item in ranked) or "none"
        raise UsageError(f"no language with a {kind} of its own was found in '{place}' (languages seen: {seen}); known: {', '.join(known)}")
    first, others = fitting[0], [item.language for item in fitting[1:] if item.markers]
    why = ", ".join([f"{first.files} file{'s' if first.files != 1 else ''}", *first.markers])
    return first.language, others, why


def _folder(top: Path, place: Path, files: Sequence[str], language: str) -> tuple[Path, str]:
    """The nearest folder at or above `place` with a project file of the language; else the only one below; else the root."""
    rules = record_of(language)
    patterns = [pattern for pattern in load_table().language[language].manifests if not pattern.startswith("compile_")]
    patterns = [*rules.build_files] or patterns
    start = place if place.is_dir() else place.parent
    # the outermost CMakeLists.txt is the project's, the ones below it are its parts
    above = [folder for folder in (start, *start.parents) if folder == top or top in folder.parents]
    found = [folder for folder in above if _has(folder, patterns)]
    if found:
        folder = found[-1] if rules.project_is_outermost else found[0]
        return folder, "" if folder == top else f"; the project of '{os.path.relpath(folder, top)}'"
    if place != top:
        return top, ""
    below = sorted({file.rpartition("/")[0] for file in files if "/" in file and any(_fits(file, pattern) for pattern in patterns)})
    outermost = [folder for folder in below if not any(folder.startswith(f"{other}/") for other in below)]
    if len(outermost) > 1 and not rules.has_environment:
        listed = ", ".join(outermost[:_MAX_NAMED])
        raise UsageError(f"{len(outermost)} projects of {language} are in '{top}', none in its root; say which by path: {listed}")
    if len(outermost) == 1 and not rules.has_environment:
        return top / outermost[0], f"; its only project is '{outermost[0]}'"
    return top, ""


def _fits(file: str, pattern: str) -> bool:
    return fnmatchcase(file.rpartition("/")[2], pattern)


def _has(folder: Path, patterns: Sequence[str]) -> bool:
    return any(path.is_file() for pattern in patterns for path in folder.glob(pattern))
