"""What pages are called. Nothing of a repository gets into the name of a file but letters and digits, and a digest makes each its own.

So `..`, `CON`, names that are very long or differ in their case only, and those of two thousand folders are names like all others. A name
depends on the path or the symbol alone: a link to a page stays right when the index is made anew.
"""

from __future__ import annotations

import hashlib
import re

HOME = "index.html"
MAP = "map.html"
UNRESOLVED = "unresolved.html"
UNREFERENCED = "unreferenced.html"
UNTESTED = "untested.html"
SEARCH = "search"
STYLE, SCRIPT, NAMES = "assets/pages.css", "assets/pages.js", "assets/names.js"

FILES, SYMBOLS, FOLDERS, ASSETS = "f", "s", "d", "assets"
PLACES = (FILES, SYMBOLS, FOLDERS, ASSETS)
"""The folders of a site; nothing lies deeper."""

PAGE = re.compile(r"[a-z0-9-]{1,60}\.html|pages\.(?:css|js)|names\.js")
"""Every name of a file in these folders."""

_OTHERS = re.compile(r"[^a-z0-9]+")
_MOST = 12
_KEY = re.compile(r"([0-9a-f]{16})\.html")


def _named(path: str) -> str:
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    word = _OTHERS.sub("-", path.lower()).strip("-")
    if len(word) > _MOST:
        word = word[-_MOST:].partition("-")[2] or word[-_MOST:]  # whole words, as far as there is room
    return f"{word}-{digest}.html" if word else f"{digest}.html"


def of_file(path: str) -> str:
    return f"{FILES}/{_named(path)}"


def of_folder(path: str) -> str:
    """`path`: without a slash at its end; empty for the root, which is the first page."""
    return f"{FOLDERS}/{_named(path)}" if path else HOME


def of_symbol(key: int) -> str:
    return f"{SYMBOLS}/{key:016x}.html"


def key_of(name: str) -> int | None:
    """The key in the name of a symbol's page; None for any other text."""
    found = _KEY.fullmatch(name)
    return int(found[1], 16) if found else None


def relative(page: str, target: str) -> str:
    """What leads from one page to another: both lie at the top, or in one of the folders there."""
    folder, _, _ = page.rpartition("/")
    if not folder:
        return target
    return target.removeprefix(f"{folder}/") if target.startswith(f"{folder}/") else f"../{target}"


def root_of(page: str) -> str:
    """What leads from a page to the top."""
    return "../" if "/" in page else ""
