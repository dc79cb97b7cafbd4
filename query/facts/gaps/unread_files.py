"""The files that nobody reads, as the index knows them: their words, by digest, and those that they have now.

A file is one of these for what it is (a language without a reader, settings, prose), because git ignores it or it is another
repository's, or as a source of which a part is not read: the template of a component, a text for an assembler.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from indexer import unread
from indexer.embedded import searched_of
from indexer.languages import TYPESCRIPT, record_of
from indexer.manifests import format_of
from indexer.plain_files import read
from query.facts.families import languages_of
from query.facts.freshness import Drift
from query.facts.index import Index

_MOST_LOOKED_AT = 200
"""Changed files whose words are looked up in their present text; beyond that those of the index hold."""


class Files(msgspec.Struct, frozen=True):
    """words: by path. unsearched: files of code that were too long to be searched: any name may stand there."""

    words: Mapping[str, frozenset[int]]
    unsearched: frozenset[str]

    @property
    def paths(self) -> list[str]:
        return sorted((*self.words, *self.unsearched))


def files_with(index: Index, wanted: Collection[int], drift: Drift) -> Files:
    """Those that have one of these words, and all that have changed.

    Not those that could be read, and are not for another reason: `query.facts.completeness` counts them.
    """
    now, others = _changed(index, drift), _of_other_reasons(index)
    sql = "SELECT path, words FROM skipped_word WHERE list_has_any(words, $wanted::UINTEGER[])"
    rows = index.rows(sql, {"wanted": sorted(wanted)})
    known = {path: frozenset(words) for path, words in rows if path not in now and path not in others}
    return Files(known | now, _unsearched(index))


def every_file(index: Index, drift: Drift) -> Files:
    """All of them, for whatever reason they are not read; but for links, whose texts are read elsewhere."""
    now = _changed(index, drift)
    sql = "SELECT path, words FROM skipped_word WHERE path NOT IN (SELECT path FROM skipped WHERE reason = 'symlink')"
    known = {path: frozenset(words) for path, words in index.rows(sql) if path not in now}
    return Files(known | now, _unsearched(index))


def is_any(index: Index, drift: Drift) -> bool:
    """Whether a file is known by its words alone, or may have got some; where none is, there is nothing to look for."""
    return bool(drift.unread) or index.keep("any words", lambda: index.row("SELECT 1 FROM skipped_word LIMIT 1") is not None)


def sources(index: Index) -> frozenset[str]:
    """Documents of which a part is not read."""
    sql = "SELECT w.path FROM skipped_word w ANTI JOIN skipped k USING (path)"
    return index.keep("sources with words", lambda: frozenset(path for (path,) in index.rows(sql)))


def ignored(index: Index) -> dict[str, str]:
    """Sources that git ignores, or that are another repository's, and which of both."""
    sql = "SELECT path, reason FROM skipped WHERE reason IN ('ignored', 'other_repository')"
    return index.keep("ignored sources", lambda: dict(index.rows(sql)))


def may_refer(index: Index, path: str, family: Collection[str]) -> bool:
    """Whether a file may refer to what languages of this family define: by its own language, or by what it is."""
    if not family:
        return True
    own = languages_of(index).get(path, "")
    if own and not format_of(path):  # a Makefile speaks to a shell
        return own in family
    families = unread.rule_of(path).families
    return not families or any(record_of(language).family in families for language in family)


def runs_in_pages(family: Collection[str]) -> bool:
    """Whether what languages of this family define may be used by the scripts of a page."""
    return not family or any(record_of(language).family == TYPESCRIPT.family for language in family)


def _of_other_reasons(index: Index) -> frozenset[str]:
    sql = "SELECT path FROM skipped WHERE reason NOT IN ('not_read', 'ignored', 'other_repository')"
    return index.keep("skipped otherwise", lambda: frozenset(path for (path,) in index.rows(sql)))


def _unsearched(index: Index) -> frozenset[str]:
    sql = "SELECT k.path FROM skipped k ANTI JOIN skipped_word w USING (path) WHERE k.reason = 'not_read'"
    return index.keep("unsearched", lambda: frozenset(path for (path,) in index.rows(sql)))


def _changed(index: Index, drift: Drift) -> dict[str, frozenset[int]]:
    """Words that files have now which are not what they were; none of a file that is gone."""
    paths = drift.unread
    known: dict[tuple[str, ...], dict[str, frozenset[int]]] = index.keep("words now", dict)
    key = tuple(paths)
    if key not in known:
        known.clear()
        texts = {path: read(index.root / path, unread.MOST_BYTES) or b"" for path in paths[:_MOST_LOOKED_AT]}
        known[key] = {path: frozenset(unread.words_of(path, searched_of(path, text))) for path, text in texts.items()}
    return known[key]
