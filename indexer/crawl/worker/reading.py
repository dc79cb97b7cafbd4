"""Documents as they are on disk now: read, held against what was planned, parsed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from indexer import syntax as syntaxes
from indexer.crawl.messages import Reading, Report, Setup
from indexer.crawl.sources import read_source
from indexer.crawl.worker.document import Document
from indexer.crawl.worker.pace import Pace
from indexer.drive.texts import Texts
from indexer.embedded import alias, source_of
from indexer.model import LossReason, SkipReason
from indexer.reading_time import allowed_s, bounded
from indexer.servers.registry import language_id
from indexer.syntax.lexer import parse_words
from indexer.syntax.model import Syntax
from indexer.text import blob_digest


class Sources:
    """Reads the documents of one crawler. The parent is told of each before it is read, which may end this process.

    careful: one document at a time. quarantine: documents that are not read, by path the reason.
    """

    def __init__(self, pace: Pace, say: Callable[[Report], None], most_s: float, *, alone: bool) -> None:
        """Args: what the parent is told by, the seconds that one document may take (`max_file_s`), and whether there is no server."""
        self._pace, self._say, self._most_s, self._alone = pace, say, most_s, alone
        self.careful = False
        self.quarantine: Mapping[str, str] = {}

    def rehearse(self, documents: Iterable[Document], hung: int) -> None:
        """Reads each for nothing. One that holds a grammar ends this process here, where that costs no server and no answers."""
        loaded: set[str] = set()
        for document in documents:
            planned = document.planned
            if planned.language not in loaded:
                loaded.add(planned.language)
                syntaxes.parse(planned.language, planned.path, b"", "", alone=self._alone)
            self.read(document, hung)

    def read(self, document: Document, hung: int = 0) -> bool:
        """Reads and parses it; False where it is no longer what was planned, or must not be read, which all its methods then say.

        Args:
            hung: as in `allowed_s`.
        """
        document.source = read_source(document.file, document.planned.size_bytes)
        if blob_digest(document.source) != document.planned.digest:
            self.pass_over(document, LossReason.CHANGED_DURING_CRAWL)
            return False
        if document.planned.encoding:
            document.source = source_of(document.planned.path, document.source) or b""
        if document.name in self.quarantine:
            self._leave_unread(document, self.quarantine[document.name])
            return False
        document.syntax = self._parse(document, document.source, hung)
        return True

    def _leave_unread(self, document: Document, reason: str) -> None:
        """Takes its words for identifiers of which nothing is known, so that only answers about one of them lack something."""
        document.syntax = parse_words(document.source, document.planned.module)
        for tally in document.answers.tallies.values():
            if reason == SkipReason.TOO_SLOW:
                tally.skipped = f"{reason}: {len(document.source)} bytes"
            else:
                tally.failed = reason

    def pass_over(self, document: Document, reason: str) -> None:
        """Takes it for an empty one, and all its methods say why."""
        document.source = b""
        document.syntax = self._parse(document, b"")
        for tally in document.answers.tallies.values():
            tally.failed = reason

    def _parse(self, document: Document, source: bytes, hung: int = 0) -> Syntax:
        planned = document.planned
        self._say(Reading(path=planned.path))
        with self._pace.reading(planned.path, len(source)), bounded(allowed_s(len(source), self._most_s, hung)):
            return syntaxes.parse(planned.language, planned.path, source, planned.module, is_test=planned.is_test, alone=self._alone)


def open_unreadable(setup: Setup, texts: Texts) -> None:
    """Tells a server that reads the disk the texts of files that it would read otherwise than they are meant, before it loads a project.

    Those that are not plain UTF-8, which it would take for empty or for others; scripts without an ending, where it goes by that (ts7
    ends at the first question about one); and no text for those that are nested too deeply.
    """
    for path, language in setup.recoded:
        place = os.path.normpath(os.path.join(setup.root, path))
        text = source_of(path, read_source(place, setup.max_file_bytes)) or b""
        texts.open(alias(place), language_id(path, language), text.decode("utf-8"))
    for path, language in setup.too_deep:  # they would hold it, or bring it down, while it loads the project
        texts.open(os.path.normpath(os.path.join(setup.root, path)), language_id(path, language), "")


def open_document(texts: Texts, document: Document) -> None:
    """Tells a server the text of a document, where it wants that."""
    planned = document.planned
    texts.open(document.path, language_id(planned.path, planned.language), document.source.decode("utf-8"))
