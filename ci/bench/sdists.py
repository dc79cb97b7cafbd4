"""Sources of Python packages as their authors publish them, by pip."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path


def sources(folder: Path, requirement: str, *options: str, downloads: Path | None = None) -> Path:
    """The unpacked sdist of `name==version` in the folder, fetched where it is not there.

    Args:
        options: more of them for `pip download`. downloads: where archives are kept, in place of the folder.
    """
    archives = downloads or folder
    archives.mkdir(parents=True, exist_ok=True)
    if (archive := _archive(archives, requirement)) is None:
        only = ["--no-deps", "--no-binary", requirement.partition("==")[0]]  # what builds it may come as wheels
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", *only, *options, "--dest", str(archives), requirement], check=True)
        archive = _archive(archives, requirement)
        if archive is None:
            raise RuntimeError(f"pip has fetched no archive of {requirement} into {archives}")
    with tarfile.open(archive) as tar:
        top = tar.getnames()[0].split("/", 1)[0]
        if not (folder / top).is_dir():
            tar.extractall(folder, filter="data")
    return folder / top


def _archive(folder: Path, requirement: str) -> Path | None:
    """Names are compared as registries do: without regard to case, `-`, `_` and `.` alike."""
    wanted = _plain(requirement.replace("==", "-"))
    return next((file for file in sorted(folder.glob("*.tar.gz")) if _plain(file.name.removesuffix(".tar.gz")) == wanted), None)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
