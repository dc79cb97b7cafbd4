"""Versions of Go: which one the machine has, and what of a repository asks for a later one.

The go command loads nothing of a workspace in which one go.mod or go.work asks for a later Go than its own (GOTOOLCHAIN is `local`, for
servers have no network). Told by `-overlay` that such a file asks for its own, it loads all of it, as that Go reads it.
Reads files, starts nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from indexer.encoding import open_plain, read_manifest
from indexer.languages import GO
from indexer.sandbox import safe_path

_VERSION = re.compile(r"(?:go)?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9})|(beta|rc)(\d{1,9}))?(?![\w.])")
_ASKS = re.compile(r"^(go[ \t]+)([^\s/]+)", re.MULTILINE)
_STAGES = {"": 0, "beta": 1, "rc": 2}
_RELEASE = 3
_MOST_BYTES = 4_000


def running(environment: Mapping[str, str], root: Path) -> str:
    """The version of the go command that a server in `root` finds, as go.mod writes it; empty where it is unknown, as of a development one.

    Args:
        environment: the caller's. A go command that lies in `root` is none of the machine's.
    """
    found = shutil.which(GO.name, path=safe_path(environment.get("PATH", os.defpath), [str(root)]))
    if found is None:
        return ""
    place = Path(environment.get("GOROOT") or os.path.dirname(os.path.dirname(os.path.realpath(found)))) / "VERSION"
    try:
        with open_plain(place) as opened:
            first = opened.read(_MOST_BYTES).decode("utf-8", "replace").partition("\n")[0]
    except OSError:
        return ""
    match = _VERSION.match(first)
    return match[0].removeprefix(GO.name) if match and first.startswith(GO.name) else ""


def is_later(wanted: str, version: str) -> bool:
    """Whether what a go line asks for is later than a version; False where either is unknown."""
    one, other = order(wanted), order(version)
    return bool(one and other) and one > other


def order(version: str) -> tuple[int, ...]:
    """As Go orders them: the language `1.27`, its candidates, its releases; nothing for what is no version."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return ()
    major, minor, patch, stage, number = match.groups()
    return (int(major), int(minor or 0), _RELEASE if patch else _STAGES[stage or ""], int(patch or number or 0))


def asked_by(text: str) -> str:
    """What the go line of a go.mod or go.work asks for; empty where it has none."""
    match = _ASKS.search(text)
    return match[2] if match else ""


def manifests(root: Path, paths: Iterable[str]) -> list[Path]:
    """Those of a workspace's files in which a version of Go is asked for."""
    return [root / path for path in paths if path.rpartition("/")[2] in ("go.mod", "go.work")]


def lowered(files: Iterable[Path], version: str) -> dict[Path, str]:
    """Of these go.mod and go.work files, those that ask for a later Go than `version`, with texts that ask for that."""
    found: dict[Path, str] = {}
    for file in files:
        try:
            text = read_manifest(file).decode("utf-8", "replace")
        except OSError:
            continue
        if is_later(asked_by(text), version):
            found[file] = _ASKS.sub(rf"\g<1>{version}", text)
    return found


def overlay(texts: Mapping[Path, str], folder: Path) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """What stands for these files: texts by path below `folder`, and the `-overlay` of the go command that leads to them.

    A file is named as the workspace names it and as the system does, for the go command may have come to it by either.
    """
    made: dict[str, str] = {}
    replaced: dict[str, str] = {}
    for file, text in texts.items():
        name = f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:16]}/{file.name}"
        made[name] = text
        replaced |= dict.fromkeys((str(file), os.path.realpath(file)), str(folder / name))
    return made, {"Replace": replaced}


def flag(file: Path) -> str:
    """The word of GOFLAGS that names an overlay; empty for a path that it cannot hold."""
    word = f"-overlay={file}"
    if not re.search(r"[\s'\"]", word):
        return word
    quote = next((sign for sign in "'\"" if sign not in word), "")
    return f"{quote}{word}{quote}" if quote else ""
