"""The index of the old side of a change: found among what is here, or made from the commit's own tree.

    .lspidx/bases/<commit>/<name>/      files of that commit, without its history, with an index of their own

The folder has the name of the workspace, after which a package is called that no manifest names. The newest few are kept. Making one
costs what differs between the commit and the trees that the index knows, an imported one among them.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from indexer import git_command, plain_files
from indexer.errors import IndexUnusable, UsageError
from indexer.folders import walk
from indexer.store import proof
from indexer.store.generations import FOLDER, Home
from query.changes import diff
from query.context import Progress
from query.facts.index import Index
from query.upkeep.recrawl import Watching

_KEPT = 3
_KIND = "tree of a commit"
"""Of the mark of a tree that is there as a whole, see `indexer.store.proof`."""
_LINKED = ("node_modules",)
"""Installed dependencies that servers look for in the tree: the work tree's are taken, for git has none of them."""


def find(index: Index, commit: str) -> Index | None:
    """An index of this commit that is here already: the newest two generations, and those that `make` has made."""
    if index.meta.get("commit") == commit and index.meta.get("dirty") != "true":
        return index
    for generation in sorted(index.home.databases.glob("gen-*.duckdb"), reverse=True):
        if generation != index.generation:
            other = _opened(index.home, generation)
            if other is not None and other.meta.get("commit") == commit and other.meta.get("dirty") != "true":
                return other
    home = Home(_place(index, commit))
    generation = home.current()
    return _opened(home, generation) if generation is not None else None


def make(index: Index, commit: str, *, progress: Progress) -> Index:
    """Indexes the tree of a commit with the settings of this index, from whose facts it goes on.

    Raises:
        UsageError: git has not this commit, or the folder cannot be written. Whatever a crawl raises.
    """
    from indexer.config import load_config
    from indexer.crawl.run import crawl

    place = _place(index, commit)
    index.home.check()
    try:
        _unpack(index.root, commit, place)
    except OSError as error:
        raise UsageError(f"the tree of {commit[:10]} cannot be written to '{place}': {error}") from error
    here = load_config(index.root, remembered=index.home.flags())
    flags: dict[str, object] = {"folders": [], "trust": here.trust}
    if here.python:  # relative to the workspace, not to the copy
        flags["python"] = os.path.join(index.root, here.python)
    crawl(place, load_config(place, flags=flags, remembered=index.home.flags()), Watching(progress), beside=[index.home])
    _forget_old(place.parent)
    home = Home(place)
    return Index(home, home.require())


def _place(index: Index, commit: str) -> Path:
    return index.home.path / "bases" / commit / index.root.name


def _opened(home: Home, generation: Path) -> Index | None:
    try:
        index = Index(home, generation)
    except IndexUnusable:  # another version's, or damaged: as good as none
        return None
    return index if not index.foreign else None


def _unpack(root: Path, commit: str, place: Path) -> None:
    """The commit's files below the workspace, as git checks them out. Not by `git archive`, which leaves out `export-ignore`."""
    if place.is_dir() and proof.is_marked(place.parent, _KIND):
        return
    shutil.rmtree(place.parent, ignore_errors=True)
    place.mkdir(parents=True)
    listing = place.parent / f"listing-{os.getpid()}"
    try:
        below = _git(root, "rev-parse", "--show-prefix")
        top = Path(_git(root, "rev-parse", "--show-toplevel") or root)
        _git(top, "read-tree", f"{commit}:{below}" if below else f"{commit}^{{tree}}", listing=listing)
        _git(top, "checkout-index", "--all", f"--prefix={place}{os.sep}", listing=listing)
    finally:
        listing.unlink(missing_ok=True)
    for folder, _, files in walk(place):
        if "package.json" in files:
            beside = root / os.path.relpath(folder, place)
            for name in _LINKED:
                if (beside / name).is_dir() and not (Path(folder) / name).exists():
                    (Path(folder) / name).symlink_to(beside / name, target_is_directory=True)
    if os.path.lexists(place / FOLDER):  # the commit's own, if it has one, is nobody's index of this
        plain_files.remove_folders(place, re.compile(re.escape(FOLDER)))
        (place / FOLDER).unlink(missing_ok=True)
    proof.mark(place.parent, _KIND)


def _git(folder: Path, *words: str, listing: Path | None = None) -> str:
    """What git says. `listing`: in place of the repository's own index, which stays as it is."""
    done = git_command.run(folder, *words, listing=listing)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise UsageError(f"git cannot check out the old side: {said}{diff.remedy(said)}")
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


def _forget_old(newest: Path) -> None:
    others = sorted((folder for folder in newest.parent.iterdir() if folder != newest), key=lambda folder: -folder.stat().st_mtime_ns)
    for folder in others[_KEPT - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)
