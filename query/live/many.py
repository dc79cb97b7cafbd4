"""Many questions of one kind to one server within a time: where what stands at places is defined, as a crawl asks it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from indexer.drive.conversation import PASSING, Conversation
from indexer.errors import ServerProtocolError, UsageError
from indexer.lsp import decode, methods
from indexer.lsp.session import Answer
from indexer.lsp.uri import path_to_uri
from indexer.servers.registry import ServerSpec
from query.context import Definitions
from query.live.decode import Origin, locations

Place = tuple[str, int, int]
"""Absolute path, 0-based line and column."""

_LOOK_S = 0.1
_CANCEL = methods.CANCEL_REQUEST.encode()


def asked_for(talk: Conversation, spec: ServerSpec, places: Sequence[Place], until: float, open_for: Callable[[str], None]) -> Definitions:
    """Asks as many at once as the table says that the server takes, until `until` (monotonic); what is open then is cancelled.

    Args:
        open_for: brings a document to what it is on disk, open; called where the server wants that.
    Raises:
        ServerError: it does not answer any more.
    """
    started = time.monotonic()
    found: list[list[Place] | None] = [None] * len(places)
    refused = 0
    pending: dict[int, int] = {}
    asking = _asking(talk, places, open_for if spec.open != "none" else None)
    is_over = False
    while not is_over or pending:
        while not is_over and len(pending) < spec.window:
            question = next(asking, None)
            is_over = question is None
            if question is not None:
                pending[question[0]] = question[1]
        if time.monotonic() >= until:
            break
        for answer in talk.hear(_LOOK_S) if pending else []:
            number = pending.pop(answer.id, None)
            if number is None:
                continue
            if answer.error is not None and answer.error.code in PASSING:
                continue  # it has changed its mind about the world: not answered
            read = _read(answer, spec.name)
            found[number] = read or []
            refused += read is None
    for request in pending:
        talk.session.notify(_CANCEL, b'{"id":%d}' % request)
    talk.flush()
    return Definitions(found=found, refused=refused, elapsed_ms=int((time.monotonic() - started) * 1000))


def _asking(talk: Conversation, places: Sequence[Place], open_for: Callable[[str], None] | None) -> Iterator[tuple[int, int]]:
    """Puts one question after another; its id, and the number of its place. A document that cannot be opened is passed over."""
    opened, is_open = "", True
    for number, (path, line, col) in enumerate(places):
        if open_for is not None and path != opened:
            opened, is_open = path, True
            try:
                open_for(path)
            except UsageError:
                is_open = False
        if is_open:
            params = {"textDocument": {"uri": path_to_uri(path)}, "position": {"line": line, "character": col}}
            yield talk.session.request(methods.TEXT_DOCUMENT_DEFINITION.encode(), msgspec.json.encode(params)), number


def _read(answer: Answer, server: str) -> list[Place] | None:
    """None where it is an error, or has another form than an answer has."""
    if answer.error is not None:
        return None
    try:
        fitting = locations(decode.anything(answer.result), Origin(server, methods.TEXT_DOCUMENT_DEFINITION))
    except (*decode.BROKEN, ServerProtocolError):
        return None
    return [(uri, where.start.line, where.start.character) for uri, where in fitting.records]
