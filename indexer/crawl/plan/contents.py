"""What the content of a file says by itself, worked out once for each content: a process that surveys a tree again and again reads all
files anew, for only their content says whether they are the same, but looks through those alone that have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from indexer import bridges, builds, unread
from indexer.crawl.plan.nesting import is_deeper
from indexer.crawl.units import PlannedDocument
from indexer.embedded import COMPONENT, form_of, rest_of
from indexer.encoding import encoding_of, searchable
from indexer.languages import PYTHON, record_of
from indexer.text import blob_digest

T = TypeVar("T")


class Contents:
    """What was worked out for the files of the last survey, and of the one that is under way. For one survey at a time."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Any] = {}
        self._before: dict[tuple[str, str, str], Any] = {}

    def __len__(self) -> int:
        return len({*self._known, *self._before})

    def begin(self) -> None:
        """A tree is surveyed anew; what the survey before this one has not asked for is forgotten."""
        self._before, self._known = self._known, {}

    def once(self, what: str, path: str, content: bytes, make: Callable[[], T]) -> T:
        """What `make` gives.

        Args:
            what: names what is worked out, and all that it depends on beside the path and the content.
        """
        key = (what, path, blob_digest(content))
        if key not in self._known:
            self._known[key] = self._before[key] if key in self._before else make()
        return self._known[key]


def planned(path: str, language: str, content: bytes, most_depth: int) -> tuple[PlannedDocument, tuple[int, ...]] | None:
    """The document, and the words beside its code; None where it is nested more deeply than `most_depth` (0: no limit)."""
    if most_depth and is_deeper(content, most_depth):
        return None
    document = PlannedDocument(
        path=path,
        language=language,
        digest=blob_digest(content),
        size_bytes=len(content),
        encoding=form_of(path) or encoding_of(content) or "",
        constraint=builds.constraint(language, path, content),
    )
    return document, _words_beside(path, language, searchable(content))


def _words_beside(path: str, language: str, content: bytes) -> tuple[int, ...]:
    """Words in those parts of a document that are not read (markup, doctests, texts of macros, commands), and those that name other
    languages' definitions.
    """
    found: set[int] = set(bridges.words_of(language, content))
    if form_of(path) == COMPONENT:
        return tuple(sorted(found | set(unread.words_of(path, rest_of(path, content)))))
    if unread.rule_of(path).reads == "expressions":  # a template whose markup no server reads
        found |= set(unread.words_of(path, content))
    found |= set(unread.words_of_texts(path, record_of(language).texts, content))
    if record_of(language).preprocessed:
        found |= set(unread.words_of_macros(content))
    elif language == PYTHON.name:
        found |= set(unread.words_of_doctests(content))
    return tuple(sorted(found))
