"""The folders of one index: the root, and further ones beside it (a library and its consumers).

A file's path in the index is relative to the root, also where its folder lies outside (`../library/src/a.py`): so every path
printed leads there from the root, and one index needs its folders side by side wherever it is used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """`prefix` leads from the root to it: empty for the root itself, else it ends in `/`."""

    name: str
    path: Path
    prefix: str = ""


def find_folders(root: Path, wanted: Sequence[str]) -> list[Folder]:
    """The root and the folders that `wanted` names, each as PATH or NAME=PATH, relative to the root.

    Raises:
        UsageError: a folder does not exist, holds the root, or two have one name.
    """
    folders = [Folder(name=root.name, path=root)]
    for entry in wanted:
        name, _, text = entry.rpartition("=")
        path = (root / Path(text).expanduser()).resolve()
        if not path.is_dir():
            raise UsageError(f"workspace folder '{text}' is not a folder")
        if root.is_relative_to(path):
            raise UsageError(f"workspace folder '{text}' holds the root '{root}': index that folder instead")
        if path.is_relative_to(root):
            raise UsageError(f"workspace folder '{text}' is a part of the root, which is indexed as a whole")
        folder = Folder(name=name or path.name, path=path, prefix=os.path.relpath(path, root).replace(os.sep, "/") + "/")
        if any(folder.name == other.name for other in folders):
            raise UsageError(f"two workspace folders are called '{folder.name}'; to name one: NAME=PATH")
        if any(path.is_relative_to(other.path) or other.path.is_relative_to(path) for other in folders):
            raise UsageError(f"workspace folder '{text}' overlaps with another one")
        folders.append(folder)
    return folders


def folder_of(path: str, folders: Sequence[Folder]) -> Folder:
    """The folder that a path of the index lies in."""
    for folder in folders[1:]:
        if path.startswith(folder.prefix):
            return folder
    return folders[0]
