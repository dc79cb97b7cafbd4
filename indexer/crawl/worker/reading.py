"""Documents as they are on disk now: read, held against what was planned, parsed."""

from __future__ import annotations

import os
from collections.abc import Callable

from indexer import syntax as syntaxes
from indexer.crawl.messages import Reading, Report, Setup
from indexer.crawl.sources import read_source
from indexer.crawl.worker.document import Document
from indexer.crawl.worker.pace import Pace
from indexer.drive.texts import Texts
from indexer.embedded import alias, source_of
from indexer.model import LossReason
from indexer.servers.registry import language_id
from indexer.syntax.model import Syntax
from indexer.text import blob_digest


class Sources:
    """Reads the documents of one crawler. `careful`: the parent is told of each before it is read, which may end this process."""

    def __init__(self, pace: Pace, say: Callable[[Report], None]) -> None:
        self._pace, self._say = pace, say
        self.careful = False

    def read(self, document: Document) -> bool:
        """Reads and parses it; False where it is no longer what was planned, which all its methods then say."""
        document.source = read_source(document.file, document.planned.size_bytes)
        if blob_digest(document.source) != document.planned.digest:
            self.pass_over(document, LossReason.CHANGED_DURING_CRAWL)
            return False
        if document.planned.encoding:
            document.source = source_of(document.planned.path, document.source) or b""
        document.syntax = self._parse(document, document.source)
        return True

    def pass_over(self, document: Document, reason: str) -> None:
        """Takes it for an empty one, and all its methods say why."""
        document.source = b""
        document.syntax = self._parse(document, b"")
        for tally in document.answers.tallies.values():
            tally.failed = reason

    def _parse(self, document: Document, source: bytes) -> Syntax:
        planned = document.planned
        if self.careful:
            self._say(Reading(path=planned.path))
        with self._pace.reading(planned.path, len(source)):
            return syntaxes.parse(planned.language, planned.path, source, planned.module, is_test=planned.is_test)


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
