"""Where what git knows of a work tree lies, and whether that knows the work tree: read from small files, before git is started."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from indexer.encoding import open_plain
from indexer.errors import UsageError

_MOST_LINK_BYTES = 8_192
_HELD_ONCE = ("objects", "refs", "packed-refs", "HEAD", "index")
"""Of git's own files those that say what is committed and staged."""
_SECTION = re.compile(r"\s*\[\s*([^\s\]]+)")
_WORK_TREE = re.compile(r'\s*worktree\s*=\s*"?([^"]*?)"?\s*$', re.IGNORECASE)


class Elsewhere(UsageError):
    """What git would read belongs to a folder that does not say so itself; the message says how it can."""


def holder(folder: Path) -> Path | None:
    """The nearest folder upwards that has a `.git`: the top of a work tree, as long as git agrees."""
    real = Path(os.path.realpath(folder))
    return next((place for place in (real, *real.parents) if os.path.lexists(place / ".git")), None)


def directory(top: Path) -> Path:
    """Where git keeps what belongs to this work tree: `.git`, or where the file of that name leads."""
    led = line_of(top / ".git")
    return top / led.removeprefix("gitdir:").strip() if led.startswith("gitdir:") else top / ".git"


def common_directory(own: Path) -> Path:
    """Where git keeps what all work trees of a repository share."""
    led = line_of(own / "commondir")
    return own / led if led else own


def line_of(path: Path) -> str:
    """The text of a small plain file; empty for anything else."""
    try:
        with open_plain(path) as opened:
            content = opened.read(_MOST_LINK_BYTES + 1)
    except (OSError, ValueError):  # ValueError: a NUL in a path that another such file named
        return ""
    return "" if b"\0" in content or len(content) > _MOST_LINK_BYTES else content.decode("utf-8", "surrogateescape").strip()


def check_place(top: Path, own: Path) -> None:
    """What lies in a folder, as `.git` or in it, may lead to any repository of the user; so that has to know this work tree.

    It does where it lies in the folder itself; where its own `gitdir` (of a further work tree) or `core.worktree` (of a submodule) leads
    back; and where what leads back is one of its further work trees.

    Raises:
        Elsewhere: it does not.
    """
    real = os.path.realpath(top)
    kept = os.path.realpath(own)
    common = os.path.realpath(common_directory(Path(kept)))
    is_known = kept.startswith(real + os.sep) or _leads_back(kept, real)
    places = [kept] if not is_known else []
    if common != kept and not (is_known and os.path.dirname(kept) == os.path.join(common, "worktrees")):
        places.append(common)
    for name in _HELD_ONCE if kept.startswith(real + os.sep) else ():
        place = os.path.join(common, name)
        if os.path.islink(place):
            places.append(os.path.dirname(os.path.realpath(place)))
    for place in places:
        if not place.startswith(real + os.sep) and os.path.isdir(place) and not _leads_back(place, real):
            raise Elsewhere(
                f"'{top / '.git'}' leads to '{place}', which does not know this work tree, so it may be any repository of yours. If the "
                f"tree came from elsewhere, remove that '.git'; if it is meant, say so there: {_remedy(place, common, real)}"
            )


def _remedy(place: str, common: str, real: str) -> str:
    if os.path.lexists(os.path.join(place, "gitdir")):  # a further work tree that was moved
        return f"git --git-dir={shlex.quote(common)} worktree repair {shlex.quote(real)}"
    return f"git config -f {shlex.quote(os.path.join(place, 'config'))} core.worktree {shlex.quote(real)}"


def _leads_back(place: str, real: str) -> bool:
    """Whether a folder of git's says that its work tree is this one."""
    led = line_of(Path(place, "gitdir"))
    if led and os.path.dirname(os.path.realpath(os.path.join(place, led))) == real:
        return True
    for name in ("config", "config.worktree"):
        section = ""
        for line in line_of(Path(place, name)).splitlines():
            section = found[1].lower() if (found := _SECTION.match(line)) else section
            if section == "core" and (said := _WORK_TREE.match(line)) and os.path.realpath(os.path.join(place, said[1])) == real:
                return True
    return False
