"""Renaming: what the running server would change, held against the index as `rename_symbol` holds it; the client writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexer.errors import EditRefused
from query.answers.envelope import Answer
from query.edits.workspace_edit import Change, decode
from query.lsp.asking import Ask, Spot
from query.lsp.params import AtPosition, Rename
from query.lsp.rooms import path_of
from query.lsp.texts import Point, word_at
from query.lsp.views import Views

_TOLD = 3


def prepared(ask: Ask, params: AtPosition) -> dict[str, Any] | None:
    """The word that would be renamed; None where none is."""
    spot = ask.spot(params)
    word = None if spot is None else word_at(spot.view.line(spot.point.line), spot.point.col)
    if spot is None or word is None:
        return None
    _require_saved(spot)
    start, end = (spot.point._replace(col=col) for col in word)
    return spot.views.written(spot.view, start, end)


def rename(ask: Ask, params: Rename) -> dict[str, Any] | None:
    """The edit.

    Raises:
        EditRefused: server and index disagree, or uses may be left that neither knows, or texts are not saved: the message says which.
    """
    spot = ask.spot(params)
    if spot is None:
        return None
    _require_saved(spot)
    ask.job.uses(spot.views.index)
    where = {"file_path": spot.view.path, "line": spot.point.line + 1, "column": spot.point.col + 1}
    answer = spot.room.service.whole("rename_symbol", {**where, "new_name": params.new_name}, progress=ask.job.progress)
    ask.certify(spot.uri, [answer], spot.views)
    if why := _doubts(answer):
        raise EditRefused(f"'{answer.result.old_name}' was not renamed: {why}")
    return _edit(ask, spot, answer.result.workspace_edit)


def _require_saved(spot: Spot) -> None:
    unsaved = sorted({*spot.views.unsaved(), *spot.views.unknown()})
    if unsaved:
        raise EditRefused(f"save first: {', '.join(unsaved[:_TOLD])}: a rename is held against the index, which knows what is on disk")


def _doubts(answer: Answer[Any]) -> str:
    """Why the rename may be wrong or not all: what `rename_symbol` refuses to write for."""
    found = answer.result
    said: list[str] = []
    for number, words in (
        (found.only_server_total, "uses that only the server knows"),
        (found.only_index_total, "uses that only the index knows"),
        (len(found.overrides), "members that override it or are overridden, and would keep their names"),
        (len(found.taken), "symbols that have the new name already"),
    ):
        if number:
            said.append(f"{number} {words}")
    if answer.completeness.status != "complete" or not found.workspace_edit:
        said += [reason.detail for reason in answer.completeness.reasons[:_TOLD]] or ["the server gave no edit"]
    if not said:
        return ""
    return f"{'; '.join(said)}. To see all, and to rename all the same: lspidx query rename_symbol --sites both|server"


def _edit(ask: Ask, spot: Spot, edit: Mapping[str, Any]) -> dict[str, Any]:
    """As the client takes it: with the versions of documents, if it knows these; without our own members."""
    plain = _written(spot.views, edit)
    if not ask.desk.is_versioned:
        return {"changes": plain}
    return {"documentChanges": [{"textDocument": _versioned(spot.views, uri), "edits": edits} for uri, edits in plain.items()]}


def _written(views: Views, edit: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Edits by the client's URI, columns as the client counts. A rename of a symbol creates, moves and removes no files.

    Raises:
        EditRefused: it does.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for operation in decode(edit).operations:
        if not isinstance(operation, Change):
            raise EditRefused("it would create, move or remove files, which only lspidx query rename_symbol --apply does")
        view = views.of(path_of(operation.uri))
        found.setdefault(view.uri, []).extend(
            {"range": views.written(view, Point(*item.start), Point(*item.end)), "newText": item.new_text} for item in operation.edits
        )
    return found


def _versioned(views: Views, uri: str) -> dict[str, Any]:
    document = views.of(path_of(uri)).document
    return {"uri": uri, "version": None if document is None else document.version}
