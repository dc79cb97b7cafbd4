"""What lspidx keeps for the user and outside of every repository: a secret, and what was allowed to which workspace.

    STATE/                    LSPIDX_STATE_DIR, else `lspidx` in XDG's state folder; of the user alone (0700)
        secret                32 random bytes, made at first need; whoever has it can make an index that counts as the user's own
        workspaces/<name>-<digest>.json    one record per workspace, by its real path

A repository has no say in any of it: no setting of a project names a path here, and no answer given for one workspace holds for another.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from indexer import plain_files
from indexer.errors import UsageError

_SECRET_BYTES = 32


def state_dir(environment: Mapping[str, str] | None = None) -> Path:
    """Where the user's state lies; need not be there.

    A relative LSPIDX_STATE_DIR or XDG_STATE_HOME is passed over, as XDG's specification asks: it would lie in whatever folder is current.
    """
    env = os.environ if environment is None else environment
    if os.path.isabs(env.get("LSPIDX_STATE_DIR", "")):
        return Path(env["LSPIDX_STATE_DIR"])
    if os.path.isabs(env.get("XDG_STATE_HOME", "")):
        return Path(env["XDG_STATE_HOME"]) / "lspidx"
    return Path(env.get("HOME") or Path.home()) / ".local" / "state" / "lspidx"


def secret(*, make: bool = False) -> bytes | None:
    """The user's secret, 32 bytes; None where there is none, or where others may have read or replaced it.

    Args:
        make: makes it where there is none. Two processes that make it at once get the same one.
    Raises:
        OSError: it is to be made and cannot be written.
    """
    file = state_dir() / "secret"
    found = _read_private(file)
    if found is None and make:
        import secrets  # every question reads a secret, few make one

        _make_private_folder(file.parent)
        beside = file.with_name(f"secret.{os.getpid()}.{secrets.token_hex(4)}")
        _write_new(beside, secrets.token_bytes(_SECRET_BYTES))
        try:
            os.link(beside, file)  # the first one wins
        except FileExistsError:
            pass
        finally:
            beside.unlink(missing_ok=True)
        found = _read_private(file)
    return found if found is not None and len(found) == _SECRET_BYTES else None


def record(root: Path) -> dict[str, Any]:
    """What was kept of a workspace; empty where nothing was, or where it cannot be read."""
    content = _read_private(_record_file(root))
    try:
        found = json.loads(content) if content is not None else {}
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def keep(root: Path, **values: object) -> None:
    """Adds to the record of a workspace; a value that is there is replaced.

    Raises:
        UsageError: the user's state cannot be written; the message names the folder and the variable that moves it.
    """
    import secrets

    file = _record_file(root)
    text = json.dumps({"root": os.path.realpath(root), **record(root), **values}, indent=1, sort_keys=True) + "\n"
    beside = file.with_name(f"{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _make_private_folder(state_dir())
        file.parent.mkdir(mode=0o700, exist_ok=True)
        _write_new(beside, text.encode("utf-8", "surrogateescape"))
        os.replace(beside, file)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise UsageError(
            f"the user's state cannot be written to '{state_dir()}': {error.strerror}; to keep it elsewhere: LSPIDX_STATE_DIR"
        ) from error


def _record_file(root: Path) -> Path:
    import hashlib

    real = os.path.realpath(root)
    return state_dir() / "workspaces" / f"{os.path.basename(real)[:80]}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}.json"


def _make_private_folder(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def _write_new(file: Path, content: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        target.write(content)


def _read_private(file: Path) -> bytes | None:
    """The content of a plain file that belongs to this user and that nobody else may write; None for anything else."""
    return plain_files.read(file, accepts=lambda found: found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
