"""Places of a machine that no repository, no agent and no answer to a question opens: homes, what is hidden in them, the system's own.

One rule for two who ask: what servers may read because the repository points there (`indexer.servers.grants`), and which folders an
index may cover beside its root (`indexer.consent`). A place is closed if it is, by its name or by what its links lead to,

    the home folder, one above it, or `.local` in it
    hidden in a home folder (`~/.ssh`, `~/.config/gh`), whoever's home it is
    the root of all files, or a folder that all homes or all temporary files lie in
    of the system: /etc, /proc, /sys, /dev, /run, /boot, root's home, /var/log and the like

Whoever works in a closed place is shown what lies beside: a repository in `~/.dotfiles` may name a folder of `~/.dotfiles`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_HIDDEN_IN_A_HOME = re.compile(r"/(?:root|var/root|(?:home|Users)/[^/]+)/\.[^/]+(?:/|\Z)")
_OF_THE_SYSTEM = re.compile(
    r"(?:/private)?/(?:etc|proc|sys|dev|run|boot|lost\+found|var/(?:backups|cache|db|lib|log|mail|run|spool))(?:/|\Z)|/(?:var/)?root\Z"
)
_OF_EVERYBODY = frozenset(
    {
        "/", "/home", "/Users", "/tmp", "/var", "/var/tmp", "/private", "/private/tmp", "/private/var", "/usr", "/opt", "/srv", "/mnt",  # noqa: S108
        "/media",
    }
)  # fmt: skip


def home_folder(environment: Mapping[str, str] | None = None) -> str:
    """The user's home folder, links followed."""
    env = os.environ if environment is None else environment
    return os.path.realpath(env.get("HOME") or Path.home())


def holds_home(folder: str, home: str) -> bool:
    """Whether a folder is the home folder, one above it, or one where a home's programs lie among other things."""
    real = os.path.realpath(folder)
    return real == "/" or f"{home}/".startswith(real.rstrip("/") + "/") or real == os.path.join(home, ".local")


def is_closed(path: str, home: str, *, root: str = "") -> bool:
    """Whether nobody but the user, by naming it as the root of an index, opens this place.

    Args:
        home: as `home_folder` says it. root: where the workspace begins; what is hidden above it is no secret to it.
    """
    return any(_is_closed(one, home, root) for one in {os.path.abspath(path), os.path.realpath(path)})


def is_held(root: str, path: str) -> bool:
    """Whether a file of a repository is its own: no link, or one that stays inside. Another's is not read, whatever it is called here.

    Args:
        path: relative to the root.
    """
    place = os.path.join(root, path)
    return not os.path.islink(place) or _lies_in(os.path.realpath(place), os.path.realpath(root))


def _is_closed(path: str, home: str, root: str) -> bool:
    if path in _OF_EVERYBODY or holds_home(path, home):
        return True
    beginning = _closed_beginning(path, home)
    return bool(beginning) and not _lies_in(os.path.realpath(root) if root else "", beginning)


def _closed_beginning(path: str, home: str) -> str:
    """The closed folder that a path is or lies in; empty for none."""
    if home != "/" and path.startswith(f"{home}/."):
        return home + "/" + path[len(home) + 1 :].partition("/")[0]
    found = _HIDDEN_IN_A_HOME.match(path) or _OF_THE_SYSTEM.match(path)
    return found[0].rstrip("/") if found else ""


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")
