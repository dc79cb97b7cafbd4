"""What a server's answer to one question says, written down with its document. No answer is worse than a loss that is counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from indexer import builds
from indexer.crawl import methods
from indexer.crawl.messages import Setup
from indexer.crawl.worker import harvest, unwritten
from indexer.crawl.worker.document import Document
from indexer.lsp import decode
from indexer.lsp.session import Answer
from indexer.model import LossReason, SkipReason
from indexer.servers import quirks

_MOST_TEXT = 32_000_000
"""Characters of all hovers of a document: more than six times those of the largest that is read."""

_MOST_SUPERTYPES = 1_000
_MOST_ITEM_BYTES = 1_000_000
"""Of what a server has prepared and wants to be shown again."""


class _TooMuch(ValueError):
    """An answer has a shape that is read, and is larger than any that is kept."""


class Reader:
    """Reads answers as the server's entry in the table says."""

    def __init__(self, setup: Setup) -> None:
        self._root = setup.root
        self._hover_quirks = [quirks.HOVER[name] for name in setup.quirks]
        self._no_answer = re.compile(setup.no_answer) if setup.no_answer else None
        self._unbuilt = re.compile(setup.unbuilt) if setup.unbuilt else None
        self._others: Mapping[str, Callable[[Document, int, msgspec.Raw], bool]] = {
            methods.HOVER: self._hover,
            methods.SUPERTYPES: _supertypes,
            methods.TYPE_DEFINITION: _types,
            methods.HIGHLIGHT: _highlights,
            methods.TREE: _tree,
            methods.PREPARE_TYPE_HIERARCHY: _prepared,
            methods.DOCUMENT_SYMBOL: _symbols,
            methods.DIAGNOSTIC: _diagnostics,
        }

    def says_unbuilt(self, event: Answer) -> bool:
        """Whether an answer says that no build takes the file in."""
        return event.error is not None and self._unbuilt is not None and self._unbuilt.search(event.error.message) is not None

    def take(self, document: Document, method: str, ordinal: int, event: Answer) -> None:
        """Writes an answer down, or why there is none."""
        tally = document.answers.tallies[methods.TALLIED.get(method, method)]
        if event.error is not None:
            self._refused(document, method, ordinal, event, event.error.message)
            return
        try:
            if method == methods.DEFINITION:
                tally.answered += _definition(document, ordinal, event.result, tally)
            else:
                tally.answered += self._others[method](document, ordinal, event.result)
        except (*decode.BROKEN, _TooMuch) as error:
            tally.lost += 1
            tally.failed = f"{LossReason.SERVER_PROTOCOL}: {error}"

    def _refused(self, document: Document, method: str, ordinal: int, event: Answer, message: str) -> None:
        if self._no_answer is not None and self._no_answer.search(message):
            if method == methods.DEFINITION and ordinal >= 0 and document.sign_of(ordinal) < 0:
                document.silent.append(ordinal)
            return
        tally = document.answers.tallies[methods.TALLIED.get(method, method)]
        tally.lost += 1
        if self.says_unbuilt(event):
            document.unbuilt = True
        elif not tally.failed:
            tally.failed = f"{LossReason.SERVER_ERROR}: {message.replace(self._root, '.')[:200]}"

    def _hover(self, document: Document, ordinal: int, result: msgspec.Raw) -> bool:
        text = decode.hover_text(decode.hover(result))
        for quirk in self._hover_quirks:
            text = quirk(text)
        text = quirks.without_places(text)
        if text:
            document.answers.hovers_chars += len(text)
            if len(text) > decode.MOST_TEXT or document.answers.hovers_chars > _MOST_TEXT:
                raise _TooMuch(f"hovers of more than {_MOST_TEXT} characters")
            document.answers.hovers[ordinal] = text
        return bool(text)


def _definition(document: Document, ordinal: int, result: msgspec.Raw, tally: harvest.MethodTally) -> bool:
    """Whether it counts as answered. An ordinal below 0 is a cross-check's token."""
    if result == b"null" or result == b"[]":
        found: list[harvest.Place] = []
    else:
        found = harvest.places(decode.targets(result))
        tally.cut += len(found) > harvest.MAX_TARGETS and not document.names_package(ordinal)
        found = found[: harvest.MAX_TARGETS]
    if (sign := document.sign_of(ordinal)) >= 0:
        document.answers.signs[sign] = found
        return bool(found)
    if ordinal < 0:
        document.answers.cross_checks[-ordinal - 1] = found
        return False
    if found and not document.is_import_itself(ordinal, found):
        document.answers.definitions[ordinal] = found
        return True
    document.silent.append(ordinal)
    return False


def _types(document: Document, ordinal: int, result: msgspec.Raw) -> bool:
    """What a value's type is; it counts for no method of the document's coverage."""
    if result != b"null" and result != b"[]":
        document.answers.types[ordinal] = harvest.places(decode.targets(result))[: harvest.MAX_TARGETS]
    return False


def _supertypes(document: Document, ordinal: int, result: msgspec.Raw) -> bool:
    items = decode.type_hierarchy_items(result) or []
    places = {(item.uri, r.start.line, r.start.character, r.end.line, r.end.character) for item in items for r in (item.selectionRange,)}
    places.update(document.answers.supertypes.get(ordinal, ()))
    if len(places) > _MOST_SUPERTYPES:
        raise _TooMuch(f"more than {_MOST_SUPERTYPES} direct supertypes of one symbol")
    document.answers.supertypes[ordinal] = sorted(places)
    return bool(items)


def _highlights(document: Document, ordinal: int, result: msgspec.Raw) -> bool:
    """They check what we have, and are no answers of their own."""
    document.answers.highlights[ordinal] = decode.highlights(result)
    return False


def _tree(document: Document, ordinal: int, result: msgspec.Raw) -> bool:
    """What runs unnamed is read from it at once, for a tree is many times as large as the text."""
    root = decode.tree(result)
    if root is not None and document.syntax is not None:
        document.answers.unwritten = unwritten.read(root, document.syntax, document.source)
    return False


def _prepared(document: Document, ordinal: int, result: msgspec.Raw) -> bool:
    """What a server has prepared is asked for."""
    if len(bytes(result)) > _MOST_ITEM_BYTES:
        raise _TooMuch(f"{len(bytes(result))} bytes of types to ask about")
    for item in decode.raw_items(result):
        document.follow_ups.append((methods.SUPERTYPES, b'{"item":%b}' % item, ordinal))
    return False


def _symbols(document: Document, ordinal: int, result: msgspec.Raw) -> bool:
    symbols = decode.document_symbols(result) or []
    count, stack = 0, list(symbols)
    while stack:
        count += 1
        stack.extend(stack.pop().children or ())
    if count > document.planned.size_bytes:
        raise _TooMuch(f"{count} symbols in a file of {document.planned.size_bytes} bytes")
    document.answers.symbols = symbols
    return bool(document.answers.symbols)


def _diagnostics(document: Document, ordinal: int, result: msgspec.Raw) -> bool:
    report = decode.diagnostic_report(result)
    document.answers.diagnostics = report.items if report is not None else []
    return True


def leave_unasked(document: Document, depth: int) -> None:
    """What is nested too deeply is read, and no server is asked: the gap says how deep it is."""
    for method, tally in document.answers.tallies.items():
        if method != methods.SYNTAX:
            tally.skipped = f"{SkipReason.TOO_DEEP}: {depth} levels"


def leave_out(document: Document) -> None:
    """Takes back what was asked about a document that no build takes in: its text is read, and the rest is a gap with the reason."""
    why = builds.left_out(document.planned.language, document.planned.path, document.source)
    for method, tally in document.answers.tallies.items():
        if method != methods.SYNTAX:
            document.answers.tallies[method] = harvest.MethodTally(
                unsupported=tally.unsupported, skipped=f"{SkipReason.NOT_IN_BUILD}: {why}"
            )
