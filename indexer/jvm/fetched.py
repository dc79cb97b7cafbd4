"""What `--fetch` has brought for the Java of a workspace: archives of the projects that it depends on, as a class path."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from indexer.encoding import read_manifest
from indexer.jvm.poms import Pom, Wanted, outer_text, project_text, read_pom, wanted

LISTED = "class_path.txt"
OUTER = "pom.xml"
_MOST_ARCHIVES = 3_000


def archives_folder(fetched: Path) -> Path:
    """The folder of all archives, for all workspaces: laid out as Maven's own."""
    return fetched / "maven"


def projects_folder(fetched_here: Path) -> Path:
    """The folder of the projects that are made for one workspace."""
    return fetched_here / "maven"


def needs(root: Path, paths: Iterable[str], fetched: Path) -> list[Wanted]:
    """What the projects of a workspace need, by its manifests and by parents that have been fetched."""

    def outside(coordinates: tuple[str, str, str]) -> Pom | None:
        group, artifact, version = coordinates
        if not group or any(word in ("", ".", "..") or "/" in word for word in (*group.split("."), artifact, version)):
            return None
        place = archives_folder(fetched) / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.pom"
        try:
            return read_pom(read_manifest(place))
        except OSError:
            return None

    return wanted(root, paths, outside)


def texts(found: list[Wanted]) -> dict[str, str]:
    """The manifests of these projects, by path from the folder that they lie in."""
    files = {f"p{number}/{OUTER}": project_text(one, number) for number, one in enumerate(found)}
    return {**files, OUTER: outer_text(len(found))}


def missing(found: list[Wanted], place: Path) -> list[Wanted]:
    """Those of which there is no class path, or one of other needs."""
    return [one for number, one in enumerate(found) if not _is_there(place / f"p{number}", project_text(one, number))]


def _is_there(folder: Path, text: str) -> bool:
    try:
        return (folder / LISTED).is_file() and read_manifest(folder / OUTER).decode("utf-8", "replace") == text
    except OSError:
        return False


def class_path(place: Path, fetched: Path) -> list[str]:
    """The archives of all projects, of each the first version that one of them names."""
    home = str(archives_folder(fetched)) + os.sep
    found: dict[str, str] = {}
    for folder in sorted(place.glob("p*"), key=lambda folder: (len(folder.name), folder.name)):
        try:
            listed = read_manifest(folder / LISTED).decode("utf-8", "replace").strip().split(os.pathsep)
        except OSError:
            continue
        for archive in listed:
            if archive.startswith(home) and archive.endswith(".jar") and os.path.isfile(archive):
                version = os.path.dirname(archive)
                classifier = os.path.basename(archive).removeprefix(
                    f"{os.path.basename(os.path.dirname(version))}-{os.path.basename(version)}"
                )
                found.setdefault(f"{os.path.dirname(version)} {classifier}", archive)
    return list(found.values())[:_MOST_ARCHIVES]
