"""Files of a listing that no server reads and that may name symbols: what of their words is kept, so that an answer can say so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from indexer import unread
from indexer.crawl.plan.foreign import Judge
from indexer.model import Skipped, SkipReason
from indexer.servers.registry import language_of

MOST_FILES = 50_000
"""Of one listing: a tree of so many texts holds data, and looking at it would take minutes."""

MOST_IGNORED = 200
"""Sources among ignored files; more of them were made by a tool, and are no part of the workspace."""

Read = Callable[[str], tuple[bytes, SkipReason | None]]
"""Content of a path, and why there is none."""


def unread_files(paths: Sequence[str], sources: Collection[str], judge: Judge, read: Read) -> list[Skipped]:
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
        if rule.reads == "nothing" or judge.of_path(path, "") is not None:
            continue
        looked += 1
        if looked > MOST_FILES:
            break
        content, reason = read(path)
        if reason is SkipReason.TOO_LARGE and rule.reads == "words":
            found.append(Skipped(path=path, reason=SkipReason.NOT_READ))
        elif reason is None and (words := unread.words_of(path, content)):
            found.append(Skipped(path=path, reason=SkipReason.NOT_READ, words=words))
    return found


def ignored_sources(paths: Sequence[str], languages: Collection[str], judge: Judge, read: Read) -> list[Skipped]:
    """Single sources that git ignores and that have a word which may name a symbol, of so many at most as people write.

    Args:
        paths: as `vcs.ignored_files` lists them. languages: those that are crawled.
    """
    sources = [(path, language) for path in paths if (language := language_of(path)) in languages and _is_utf8(path)]
    if len(sources) > MOST_IGNORED:
        return []
    found: list[Skipped] = []
    for path, language in sources:
        if judge.of_path(path, language) is None:
            content, reason = read(path)
            if reason is None and (words := unread.words_of(path, content)):
                found.append(Skipped(path=path, reason=SkipReason.IGNORED, language=language, words=words))
    return found


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
