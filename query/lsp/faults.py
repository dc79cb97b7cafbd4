"""What is wrong in a document: what servers complain of, and what the index does not know of it."""

from __future__ import annotations

from typing import Any

from indexer.errors import LspidxError, NameNotFound, ServerError, UsageError
from indexer.model import Severity
from indexer.quoting import one_line
from query.answers.diagnostic import from_server
from query.facts import names
from query.facts.completeness import DEFINITION, Certificate
from query.live.navigation import completeness_of
from query.live.questions import live_provenance
from query.live.replies import diagnostics_of
from query.lsp import live, notices
from query.lsp.asking import Ask
from query.lsp.params import InDocument
from query.lsp.rooms import Room
from query.lsp.texts import Point
from query.lsp.views import View, Views

_MOST = 2_000
_SOURCE = "lspidx"
_OF_THE_CLIENT = frozenset({"stale", "unsaved"})
"""Reasons that the user knows of: he is changing the file."""


def diagnostics(ask: Ask, uri: str) -> list[dict[str, Any]]:
    """As indexed where the client's text is that, else by a running server of that text."""
    found = ask.document(uri)
    if found is None or found[1].index is None:
        return []
    room, views, view = found
    own = _of_index(room, views, view)
    if not room.in_index(views.index, view.path):  # pyright: ignore[reportArgumentType]
        return own
    if not view.is_same:
        return [*own, *_live(ask, views, view)]
    answer = ask.ask(room, views, "get_diagnostics", file_path=view.path, limit=_MOST, offline=True)
    ask.certify(uri, [answer], views)
    return [*own, *(_shown(views, view, item) for item in answer.result.diagnostics)]


def pulled(ask: Ask, params: InDocument) -> dict[str, Any]:
    """The same for a client that asks for them."""
    return {"kind": "full", "items": diagnostics(ask, params.text_document.uri)}


def _live(ask: Ask, views: Views, view: View) -> list[dict[str, Any]]:
    room = views.room
    path = room.relative(view.path)
    try:
        diagnosis = room.servers.diagnose([path], overlay=live.overlay(views, view, room.servers.info(path)))
    except (ServerError, UsageError) as error:
        ask.tell(view.uri, notices.unknown("live_unavailable", f"no running server could be asked: {error}"))
        return []
    ask.tell(view.uri, completeness_of(diagnosis), live_provenance(diagnosis))
    return [_shown(views, view, from_server(path, item)) for item in diagnostics_of(diagnosis, path).records[:_MOST]]


def _shown(views: Views, view: View, item: Any) -> dict[str, Any]:
    """Of a text that is as the client has it."""
    where = views.written(view, Point(item.line - 1, item.col - 1), Point(item.end_line - 1, item.end_col - 1))
    shown: dict[str, Any] = {"range": where, "severity": item.number, "message": item.message, "source": item.source or _SOURCE}
    return {**shown, "code": item.code} if item.code else shown


def _of_index(room: Room, views: Views, view: View) -> list[dict[str, Any]]:
    """What no server has read of the document, and why."""
    assert views.index is not None
    relative = room.in_index(views.index, view.path)
    if not relative:
        why = _why_unread(room, views, view)
        return [_note("not_read", why, Severity.INFORMATION)] if why else []
    reasons = Certificate(views.index, views.unsaved()).of_documents([relative], DEFINITION).reasons
    return [
        _note(reason.code, reason.detail, Severity.WARNING if reason.code.startswith("lost_") else Severity.INFORMATION)
        for reason in reasons
        if reason.code not in _OF_THE_CLIENT
    ]


def _why_unread(room: Room, views: Views, view: View) -> str:
    assert views.index is not None
    try:
        names.document_path(views.index, view.path)
    except NameNotFound:  # a new file: the next refresh reads it
        return ""
    except LspidxError as error:
        return str(error)
    return ""


def _note(code: str, detail: str, severity: int) -> dict[str, Any]:
    start = {"line": 0, "character": 0}
    return {
        "range": {"start": start, "end": start},
        "severity": int(severity),
        "code": code,
        "source": _SOURCE,
        "message": one_line(detail),
    }
