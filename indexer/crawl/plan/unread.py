"""Files of a listing that no server reads and that may name symbols: what of their words is kept, so that an answer can say so."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from indexer import bridges, sparse, unread
from indexer.config import Config
from indexer.crawl.plan.contents import Contents
from indexer.crawl.plan.foreign import Judge, Verdict
from indexer.embedded import searched_of
from indexer.languages import record_of
from indexer.model import Skipped, SkipReason
from indexer.patterns import matches
from indexer.servers.registry import language_of
from indexer.servers.scripts import component_language
from indexer.text import word_digests

MOST_FILES = 50_000
"""Of one listing: a tree of so many texts holds data, and looking at it would take minutes."""

MOST_IGNORED = 200
"""Sources among ignored files, and in each folder that is ignored or is another repository: more of them were made by a tool, or are a
project that is not this one.
"""

_MOST_LISTED = 2_000
"""Files and folders in such a folder; of one that has more, none are listed."""

_MADE = frozenset({"venv", "env", "node_modules", "build", "dist", "target", "out", "bin", "obj", "site-packages", "coverage", "htmlcov"})
"""Folders that tools fill."""

Read = Callable[[str], tuple[bytes, SkipReason | None]]
"""Content of a path, and why there is none."""


def unread_files(paths: Sequence[str], sources: Collection[str], judge: Judge, read: Read, contents: Contents) -> list[Skipped]:
    """Those that have a word which may name a symbol, in order of path; and code that is too long to be looked through.

    Args:
        paths: as `vcs.list_files` lists them. sources: those that have a language that is crawled.
        judge: knows which folders hold copies of other projects and what tools have made.
    """
    found: list[Skipped] = []
    looked = 0
    for path in paths:
        if path in sources or path.endswith("/") or not _is_utf8(path):
            continue
        rule = unread.rule_of(path)
        has_interface = bool(record_of(language_of(path)).bridges)
        if (rule.reads == "nothing" and not has_interface) or judge.of_path(path, "") is not None:
            continue
        looked += 1
        if looked > MOST_FILES:
            break
        content, reason = read(path)
        if reason is SkipReason.TOO_LARGE and rule.reads == "words":
            found.append(Skipped(path=path, reason=SkipReason.NOT_READ))
        elif reason is None and (words := contents.once("unread", path, content, partial(_words_of, path, content))):
            found.append(Skipped(path=path, reason=SkipReason.NOT_READ, words=words))
    return found


def _words_of(path: str, content: bytes) -> tuple[int, ...]:
    """Those that may name a symbol, and those that name what other languages define."""
    content, language = searched_of(path, content), language_of(path)
    named = bridges.words_of(language, content) if record_of(language).bridges else ()
    return tuple(sorted({*named, *unread.words_of(path, content)}))


def ignored_sources(
    root: Path, paths: Sequence[str], borders: Sequence[Skipped], languages: Collection[str], judge: Judge, read: Read
) -> list[Skipped]:
    """Sources that git ignores, or that are another repository's which lies in this one, and that have a word which may name a symbol.

    Of so many at most as people write: of single ones, and of those in each folder.

    Args:
        paths: as `vcs.ignored_files` lists them. borders: where the workspace ends. languages: those that are crawled.
    """
    folders = [path for path in paths if path.endswith("/") and not _MADE.intersection(path.split("/"))]
    groups = [(SkipReason.IGNORED, [path for path in paths if not path.endswith("/")])]
    groups += [(SkipReason.IGNORED, _below(root, folder)) for folder in folders]
    others = [border.path for border in borders if border.reason is SkipReason.NESTED_REPOSITORY]
    groups += [(SkipReason.OTHER_REPOSITORY, _below(root, folder)) for folder in others]
    found: list[Skipped] = []
    for reason, listed in groups:
        sources = [(path, language) for path in listed if (language := language_of(path)) in languages and _is_utf8(path)]
        for path, language in sources if len(sources) <= MOST_IGNORED else ():
            if judge.of_path(path, language) is not None:
                continue
            content, problem = read(path)
            words = unread.words_of(path, searched_of(path, content)) if reason is SkipReason.IGNORED else unread.words_of_user(content)
            if problem is None and words:
                found.append(Skipped(path=path, reason=reason, language=language, words=words))
    return found


def not_checked_out(root: Path, names: Mapping[str, str], config: Config, judge: Judge, languages: Collection[str]) -> list[Skipped]:
    """What a sparse checkout leaves out that may name a symbol, with the words that git knows of it.

    Args:
        names: as `sparse.left_out` gives them. languages: those that are crawled.
    """
    found: list[Skipped] = []
    texts = sparse.contents(root, names, config.max_file_bytes)
    for path in names:
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        language = component_language(path) or language_of(path)
        language = language if language in languages else ""
        excluded = Verdict(reason=SkipReason.EXCLUDED, refers=True) if config.exclude and matches(shown, config.exclude) else None
        verdict = excluded or judge.of_path(path, language) or Verdict(reason=SkipReason.NOT_CHECKED_OUT, refers=True)
        rule, text = unread.rule_of(path), texts.get(path)
        if language:
            words = word_digests(text) if text is not None and verdict.refers else None
        elif verdict.reason is not SkipReason.NOT_CHECKED_OUT or rule.reads == "nothing" or (text is None and rule.reads != "words"):
            continue
        else:
            words = None if text is None else unread.words_of(path, searched_of(path, text))
        if language or words is None or words:
            found.append(Skipped(path=shown, reason=verdict.reason, language=language, words=words))
    return found


def _below(root: Path, folder: str) -> list[str]:
    """Files of a folder by their paths from the root, without hidden folders and what tools fill; none where there are too many."""
    found: list[str] = []
    looked_at = 0
    for place, folders, files in os.walk(root / folder) if not os.path.islink(root / folder.rstrip("/")) else ():
        looked_at += 1 + len(files)
        if looked_at > _MOST_LISTED:
            return []
        if "pyvenv.cfg" in files or "CACHEDIR.TAG" in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _MADE)
        prefix = os.path.relpath(place, root).replace(os.sep, "/")
        found += [f"{prefix}/{name}" for name in sorted(files)]
    return found


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
