"""What `cargo fetch` is shown of a Cargo.toml: nothing that leads out of the workspace, whose manifests cargo would read there.

Pure: reads and writes nothing.
"""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Mapping
from typing import Any, cast

_LISTS = ("members", "default-members", "exclude")


def inside(text: str, folder: str) -> tuple[str, list[str]]:
    """A manifest without dependencies, patches and members that lie elsewhere, and the names of the dependencies that it lost.

    What names nothing of the kind is given back as it was.

    Args:
        folder: of the manifest, relative to the workspace.
    Raises:
        ValueError: it is no TOML.
    """
    try:
        manifest = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    lost: list[str] = []
    made = {key: _without(value, folder, lost) if isinstance(value, dict) else value for key, value in manifest.items()}
    package, workspace = made.get("package"), made.get("workspace")
    if isinstance(package, dict) and not _is_inside(cast("dict[str, Any]", package).get("workspace", ""), folder):
        del package["workspace"]
    if isinstance(workspace, dict):
        for key in _LISTS:
            if isinstance(listed := cast("dict[str, Any]", workspace).get(key), list):
                workspace[key] = [one for one in cast("list[Any]", listed) if _is_inside(one, folder)]
    if made == manifest:
        return text, []
    import tomli_w

    return tomli_w.dumps(made), lost


def _without(table: Mapping[str, Any], folder: str, lost: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in table.items():
        if not isinstance(value, dict):
            made[name] = value
        elif _is_inside(cast("dict[str, Any]", value).get("path", ""), folder):
            made[name] = _without(cast("dict[str, Any]", value), folder, lost)
        else:
            lost.append(name)
    return made


def _is_inside(place: object, folder: str) -> bool:
    """Whether a path leads from a manifest to something of the workspace; what is no text is cargo's to refuse."""
    if not isinstance(place, str):
        return True
    path = posixpath.normpath(posixpath.join(folder, place))
    return not (place.startswith("/") or "\\" in place or path == ".." or path.startswith("../"))
