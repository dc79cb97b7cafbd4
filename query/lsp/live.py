"""What a running server is asked: that of the document's language, about the texts that the client has open.

So a client sees one server for all languages. Columns go over in the units that the index and its servers share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from indexer.errors import ServerError
from indexer.lsp import methods
from indexer.servers.registry import language_of
from query.answers.envelope import Completeness, Reason
from query.context import Reply, ServerInfo
from query.live import decode
from query.live.questions import live_provenance, origin, refused, supports, unsupported
from query.lsp import notices
from query.lsp.asking import Ask, Spot
from query.lsp.params import (
    Actions,
    Completion,
    Formatting,
    InDocument,
    InRange,
    Position,
    Proxied,
    Range,
    RangeFormatting,
)
from query.lsp.rooms import path_of
from query.lsp.texts import Point
from query.lsp.views import View, Views

_TIMEOUT_S = 30.0
CAPABILITIES: Mapping[str, tuple[str, str]] = {
    methods.TEXT_DOCUMENT_DEFINITION: ("definitionProvider", "definitions"),
    methods.TEXT_DOCUMENT_DECLARATION: ("declarationProvider", "declarations"),
    methods.TEXT_DOCUMENT_TYPE_DEFINITION: ("typeDefinitionProvider", "type definitions"),
    methods.TEXT_DOCUMENT_IMPLEMENTATION: ("implementationProvider", "implementations"),
    methods.TEXT_DOCUMENT_REFERENCES: ("referencesProvider", "references"),
    methods.TEXT_DOCUMENT_HOVER: ("hoverProvider", "hovers"),
    methods.TEXT_DOCUMENT_COMPLETION: ("completionProvider", "completions"),
    methods.TEXT_DOCUMENT_SIGNATURE_HELP: ("signatureHelpProvider", "signatures"),
    methods.TEXT_DOCUMENT_FORMATTING: ("documentFormattingProvider", "formatter"),
    methods.TEXT_DOCUMENT_RANGE_FORMATTING: ("documentRangeFormattingProvider", "formatter of ranges"),
    methods.TEXT_DOCUMENT_CODE_ACTION: ("codeActionProvider", "code actions"),
    methods.TEXT_DOCUMENT_INLAY_HINT: ("inlayHintProvider", "inlay hints"),
}


def overlay(views: Views, view: View, info: ServerInfo) -> dict[str, str]:
    """The texts that a document's server is told in place of those of the files: of open documents of the languages that it serves."""
    found: dict[str, str] = {}
    for path in [*views.unsaved(), *views.unknown()]:
        document = views.of(path).document
        if document is not None and language_of(path) in info.languages:
            found[path] = document.text
    if view.document is not None and view.is_unsaved:
        found[views.room.relative(view.path)] = view.document.text
    return found


def put(ask: Ask, views: Views, view: View, method: str, params: Mapping[str, Any]) -> Reply | None:
    """The reply of the document's server, and what is known of it told; None where it has no such feature.

    Raises:
        ServerError: no server, or no answer in time. UsageError: a file of no language that lspidx knows a server for.
    """
    room = views.room
    path = room.relative(view.path)
    info = room.servers.info(path)
    capability, what = CAPABILITIES[method]
    if not supports(info, capability, method):
        ask.tell(view.uri, unsupported(info, what), live_provenance(info=info))
        return None
    reply = room.servers.ask(path, method, params, overlay=overlay(views, view, info), timeout_s=_TIMEOUT_S)
    ask.tell(view.uri, refused(reply, method), live_provenance(reply))
    return reply


def places(ask: Ask, spot: Spot, method: str, more: Mapping[str, Any] = {}) -> list[dict[str, Any]] | None:
    """Where something is, as the running server says of the client's text; None where none can be had."""
    try:
        reply = put(ask, spot.views, spot.view, method, {**_where(spot.view, spot.point), **more})
    except ServerError as error:
        ask.tell(spot.uri, notices.unknown("live_unavailable", f"no running server could be asked: {error}"))
        return None
    if reply is None or reply.error:
        return None
    fitting = decode.locations(reply.result, origin(reply.server, method))
    return [_location(spot.views, found) for found in fitting.records]


def hover(ask: Ask, spot: Spot) -> str:
    """As `places`; empty where there is nothing to say."""
    method = methods.TEXT_DOCUMENT_HOVER
    try:
        reply = put(ask, spot.views, spot.view, method, _where(spot.view, spot.point))
    except ServerError as error:
        ask.tell(spot.uri, notices.unknown("live_unavailable", f"no running server could be asked: {error}"))
        return ""
    return "" if reply is None or reply.error else decode.hover(reply.result, origin(reply.server, method))


def _where(view: View, point: Point) -> dict[str, Any]:
    """Uri and position as servers are told them, which know the file by its path."""
    return {"textDocument": _identifier(view), "position": {"line": point.line, "character": point.col}}


def _identifier(view: View) -> dict[str, str]:
    from indexer.lsp.uri import path_to_uri

    return {"uri": path_to_uri(view.path)}


def _location(views: Views, found: decode.Location) -> dict[str, Any]:
    path = path_of(found.uri)
    start, end = found.range.start, found.range.end
    if not path:
        return {"uri": found.uri, "range": _plain(start.line, start.character, end.line, end.character)}
    view = views.of(path)
    where = views.written(view, Point(start.line, start.character), Point(end.line, end.character))
    return {"uri": view.uri, "range": where}


def _plain(line: int, col: int, end_line: int, end_col: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": col}, "end": {"line": end_line, "character": end_col}}


# ---- what only a running server knows


def completion(ask: Ask, params: Completion) -> Any:
    more = {"context": params.context} if isinstance(params.context, dict) else {}
    found = _proxied(ask, params, methods.TEXT_DOCUMENT_COMPLETION, {"position": params.position, **more})
    if found is None:
        return None
    result, views, view = found
    listed = result if isinstance(result, list) else result.get("items", []) if isinstance(result, dict) else []
    items = [_wrapped(item, view) for item in cast("list[Any]", listed) if isinstance(item, dict)]
    written = to_client(views, view, items)
    if isinstance(result, dict):
        whole = cast("dict[str, Any]", result)
        return {**to_client(views, view, {key: value for key, value in whole.items() if key != "items"}), "items": written}
    return written


def _wrapped(item: dict[str, Any], view: View) -> dict[str, Any]:
    """With what is needed to ask the same server further about it."""
    return {**item, "data": {"uri": view.uri, "item": item}}


def resolved_completion(ask: Ask, params: Proxied) -> Any:
    return _resolved(ask, params, methods.COMPLETION_ITEM_RESOLVE)


def resolved_action(ask: Ask, params: Proxied) -> Any:
    return _resolved(ask, params, methods.CODE_ACTION_RESOLVE)


def _resolved(ask: Ask, params: Proxied, method: str) -> Any:
    """An item with what its server says of it when asked again."""
    found = ask.document(params.data.uri)
    item = params.data.item
    if found is None or not isinstance(item, dict):
        return None
    room, views, view = found
    path = room.relative(view.path)
    texts = overlay(views, view, room.servers.info(path))
    reply = room.servers.ask(path, method, item, overlay=texts, timeout_s=_TIMEOUT_S)
    whole = cast("dict[str, Any]", item if reply.error or not isinstance(reply.result, dict) else reply.result)
    return to_client(views, view, _wrapped(whole, view))


def signature(ask: Ask, params: Completion) -> Any:
    more = {"context": params.context} if isinstance(params.context, dict) else {}
    found = _proxied(ask, params, methods.TEXT_DOCUMENT_SIGNATURE_HELP, {"position": params.position, **more})
    return None if found is None else found[0]


def formatting(ask: Ask, params: Formatting) -> Any:
    found = _proxied(ask, params, methods.TEXT_DOCUMENT_FORMATTING, {"options": _options(params.options)})
    return None if found is None else to_client(found[1], found[2], found[0])


def range_formatting(ask: Ask, params: RangeFormatting) -> Any:
    more = {"options": _options(params.options), "range": params.range}
    found = _proxied(ask, params, methods.TEXT_DOCUMENT_RANGE_FORMATTING, more)
    return None if found is None else to_client(found[1], found[2], found[0])


def _options(given: Any) -> Any:
    return given if isinstance(given, dict) else {"tabSize": 4, "insertSpaces": True}


def inlay_hints(ask: Ask, params: InRange) -> Any:
    found = _proxied(ask, params, methods.TEXT_DOCUMENT_INLAY_HINT, {"range": params.range})
    return None if found is None else to_client(found[1], found[2], found[0])


def code_actions(ask: Ask, params: Actions) -> Any:
    """Actions with their edits. One that is a command of its server's is left out: the client could not run it, and so is said."""
    found = ask.document(params.text_document.uri)
    if found is None:
        return None
    context: dict[str, Any] = {"diagnostics": _from_client(found[1], found[2], params.context.diagnostics)}
    if params.context.only is not None:
        context["only"] = params.context.only
    if params.context.trigger_kind is not None:
        context["triggerKind"] = params.context.trigger_kind
    answered = _proxied(ask, params, methods.TEXT_DOCUMENT_CODE_ACTION, {"range": params.range, "context": context})
    if answered is None:
        return None
    result, views, view = answered
    actions: list[Any] = []
    left_out = 0
    for raw, action in decode.each(result, decode.CodeAction, decode.Origin("the server", methods.TEXT_DOCUMENT_CODE_ACTION)).items:
        if action.command is not None:
            left_out += 1
        elif action.edit is not None or action.disabled is not None:
            actions.append(to_client(views, view, raw))
        else:
            actions.append(_wrapped(raw, view))
    if left_out:
        detail = f"{left_out} actions are commands of the running server, which are not passed on"
        ask.tell(view.uri, Completeness(status="partial", reasons=[Reason(code="commands", detail=detail, count=left_out)]))
    return actions


def _proxied(ask: Ask, params: InDocument, method: str, more: Mapping[str, Any]) -> tuple[Any, Views, View] | None:
    """The server's own answer about the client's text, as it came; None where it has none."""
    found = ask.document(params.text_document.uri)
    if found is None:
        return None
    _, views, view = found
    told: dict[str, Any] = {"textDocument": _identifier(view)}
    for key, value in more.items():
        if isinstance(value, Range):
            start, end = views.point(view, value.start), views.point(view, value.end)
            told[key] = _plain(start.line, start.col, end.line, end.col)
        elif key == "position":
            point = views.point(view, value)
            told[key] = {"line": point.line, "character": point.col}
        else:
            told[key] = value
    reply = put(ask, views, view, method, told)
    return None if reply is None or reply.error else (reply.result, views, view)


# ---- columns of what a server said


def to_client(views: Views, view: View, value: Any) -> Any:
    """An answer with all its positions as the client counts. Those in a part that names another document are in that one."""
    if views.encoding == "utf-16":
        return value
    return _converted(views, view, value)


def _converted(views: Views, view: View, value: Any) -> Any:
    if isinstance(value, list):
        return [_converted(views, view, item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    found = cast("dict[str, Any]", value)
    if found.keys() == {"line", "character"} and all(isinstance(number, int) for number in found.values()):
        line, col = (found[key] for key in ("line", "character"))
        return views.position(view, Point(line, col))
    told: dict[str, Any] = {}
    for key, item in found.items():
        if key == "data":
            told[key] = item  # the server's own words, or ours around them
            continue
        of = view
        if (path := path_of(key)) or (path := path_of(_uri_in(found))):
            of = views.of(path)
        told[key] = _converted(views, of, item)
    return told


def _from_client(views: Views, view: View, value: Any) -> Any:
    """What a client sends on, with all its positions as servers count."""
    if views.encoding == "utf-16":
        return value
    if isinstance(value, list):
        return [_from_client(views, view, item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    told = cast("dict[str, Any]", value)
    match told:
        case {"line": int(line), "character": int(character)} if len(told) == 2 and line >= 0 and character >= 0:
            point = views.point(view, Position(line, character))
            return {"line": point.line, "character": point.col}
        case _:
            return {key: _from_client(views, view, item) for key, item in told.items()}


def _uri_in(value: Mapping[str, Any]) -> str:
    """The document that a part of an answer is about; empty where it does not say."""
    for key, item in value.items():
        if key in ("uri", "targetUri") and isinstance(item, str):
            return item
        if key == "textDocument" and isinstance(item, dict):
            return _uri_in(cast("dict[str, Any]", item))
    return ""
