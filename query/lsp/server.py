"""The server: the protocol's order of things, and each request on a thread of its own.

Notes are taken in their order, on the thread that reads; a request keeps the texts that were open when it came. Whatever goes wrong with
one request is the answer to that request.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from indexer.errors import LspidxError, NameNotFound, NoIndex, ServerProtocolError
from indexer.lsp import methods
from indexer.lsp.enums import ErrorCodes, LSPErrorCodes, MessageType
from indexer.own_version import own_version
from indexer.quoting import one_line
from query.answers.mishaps import explained
from query.facts.names import Unresolved
from query.lsp import notices, params
from query.lsp.asking import Ask, Desk, Moved
from query.lsp.handlers import CAPABILITIES, HANDLERS, Handler
from query.lsp.notices import Notices
from query.lsp.pool import Cancelled, Job, Pool
from query.lsp.progress import Progress
from query.lsp.rooms import Options, Rooms, path_of
from query.lsp.texts import Document, chosen
from query.lsp.wire import Incoming, Refused, Wire

log = logging.getLogger(__name__)

P = TypeVar("P", bound=msgspec.Struct)

MOST_DOCUMENT_CHARS = 10_000_000
_TRIES = 4
"""So often a request is asked anew for an index that was published meanwhile."""


class Server:
    """One client. `serve` returns when the client has gone, or has said that the server may end."""

    def __init__(self, wire: Wire, options: Options, start: Path) -> None:
        """`start`: the workspace of a client that names none."""
        self._wire, self._start = wire, start
        self._desk = Desk(wire=wire, notices=Notices(wire), rooms=Rooms(options), options=options)
        self._progress = Progress(self._desk, self._say_faults)
        self._desk.look = self._progress.look
        self._pool = Pool()
        self._jobs: dict[int | str, Job] = {}
        self._documents: dict[str, Document] = {}
        self._initialized = self._shut_down = False
        self.client = 0
        """The process that the client says it is; 0 where that is none of this machine, as of a client in a container."""

    def serve(self) -> int:
        """The exit code: 0 where the client has said goodbye, or nothing."""
        try:
            for message in self._wire.messages():
                if message.method == methods.EXIT:
                    return 0 if self._shut_down else 1
                self._take(message)
        except ServerProtocolError as error:
            log.error("the client cannot be understood any more: %s", error)
            return 1
        finally:
            self.close()
        return 0 if self._shut_down or not self._initialized else 1

    def close(self) -> None:
        """Ends what was started for the client."""
        self._desk.rooms.close()

    # ---- in order, on the thread that reads

    def _take(self, message: Incoming) -> None:
        try:
            if message.id is None:
                self._note(message)
            else:
                self._request(message.id, message)
        except Refused as error:
            if message.id is not None:
                self._wire.refuse(message.id, error.code, str(error))
            else:
                log.warning("%s: %s", message.method, error)
        except Exception as error:
            said = explained(error, self._start)
            if message.id is not None:
                self._wire.refuse(message.id, ErrorCodes.INTERNAL_ERROR, str(said))
            else:
                log.error("%s: %s", message.method, said)

    def _note(self, message: Incoming) -> None:
        method = message.method
        if not self._initialized:
            return
        if method == methods.CANCEL_REQUEST:
            self._cancel(_converted(message, params.Cancel).id)
        elif method == methods.TEXT_DOCUMENT_DID_OPEN:
            self._open(_converted(message, params.Opened).text_document)
        elif method == methods.TEXT_DOCUMENT_DID_CHANGE:
            self._change(_converted(message, params.Changed))
        elif method == methods.TEXT_DOCUMENT_DID_CLOSE:
            self._close(_converted(message, params.InDocument).text_document.uri)
        elif method == methods.TEXT_DOCUMENT_DID_SAVE:
            self._saved(_converted(message, params.InDocument).text_document.uri)
        elif method == methods.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS:
            event = _converted(message, params.FoldersChanged).event
            self._desk.rooms.remove(folder.uri for folder in event.removed)
            self._add_folders([folder.uri for folder in event.added])

    def _request(self, number: int | str, message: Incoming) -> None:
        method = message.method
        if method == methods.INITIALIZE:
            if self._initialized:
                raise Refused(ErrorCodes.INVALID_REQUEST, "initialize was asked before")
            self._wire.answer(number, self._initialize(_converted(message, params.Initialize)))
            return
        if not self._initialized:
            raise Refused(ErrorCodes.SERVER_NOT_INITIALIZED, f"{method} before initialize")
        if self._shut_down:
            raise Refused(ErrorCodes.INVALID_REQUEST, f"{method} after shutdown")
        if method == methods.SHUTDOWN:
            self._shut_down = True
            for job in list(self._jobs.values()):
                self._cancel(job.number)
            self._wire.answer(number, None)
            return
        handler = HANDLERS.get(method)
        if handler is None:
            raise Refused(ErrorCodes.METHOD_NOT_FOUND, f"{method} is not answered by lspidx")
        asked = _converted(message, handler.takes)
        if number in self._jobs:
            raise Refused(ErrorCodes.INVALID_REQUEST, f"the id {number!r} is that of a request under way")
        job = self._jobs[number] = Job(number)
        documents = dict(self._documents)
        self._pool.run(lambda: self._work(job, method, handler, asked, documents))

    def _initialize(self, ask: params.Initialize) -> dict[str, Any]:
        desk, can = self._desk, ask.capabilities
        offered = (can.general.position_encodings if can.general is not None else None) or ["utf-16"]
        desk.encoding = chosen(offered)
        documents, workspace = can.text_document, can.workspace
        symbols = documents.document_symbol if documents is not None else None
        desk.is_nested = bool(symbols is not None and symbols.hierarchical_document_symbol_support)
        hover = documents.hover if documents is not None else None
        desk.is_markdown = hover is None or "markdown" in (hover.content_format or ["markdown"])
        desk.pulls = documents is not None and documents.diagnostic is not None
        edit = workspace.workspace_edit if workspace is not None else None
        desk.is_versioned = bool(edit is not None and edit.document_changes)
        desk.shows_progress = bool(can.window is not None and can.window.work_done_progress)
        if workspace is not None:
            known = {
                methods.WORKSPACE_CODE_LENS_REFRESH: workspace.code_lens,
                methods.WORKSPACE_DIAGNOSTIC_REFRESH: workspace.diagnostics if desk.pulls else None,
            }
            desk.refreshes = tuple(method for method, said in known.items() if said is not None and said.refresh_support)
        desk.notices.is_wanted = params.wants_completeness(ask)
        self.client = ask.process_id if ask.process_id is not None and lives(ask.process_id) else 0
        self._initialized = True
        named = [folder.uri for folder in ask.workspace_folders or []]
        if not named and ask.root_uri:
            named = [ask.root_uri]
        if not named and ask.root_path and os.path.isabs(ask.root_path):
            named = [Path(ask.root_path).as_uri()]
        self._add_folders(named or [self._start.as_uri()])
        capabilities = {**CAPABILITIES, "positionEncoding": desk.encoding}
        if desk.pulls:
            capabilities["diagnosticProvider"] = {"interFileDependencies": True, "workspaceDiagnostics": False}
        return {"capabilities": capabilities, "serverInfo": {"name": "lspidx", "version": own_version()}}

    def _add_folders(self, uris: list[str]) -> None:
        for uri in self._desk.rooms.add(uris):
            self._desk.notices.log(f"'{uri}' is no folder of this machine, or one too many: nothing in it is answered", MessageType.WARNING)

    # ---- documents

    def _open(self, item: params.Item) -> None:
        path = path_of(item.uri)
        if not path:
            return
        self._documents[path] = self._followed(Document(item.uri, path, item.language_id, item.version, item.text))
        self._say_faults_of(item.uri)

    def _change(self, ask: params.Changed) -> None:
        path = path_of(ask.text_document.uri)
        known = self._documents.get(path)
        if known is None:
            return
        made = known.changed(ask.text_document.version or known.version, ask.content_changes, self._desk.encoding)
        self._documents[path] = self._followed(made)

    def _followed(self, document: Document) -> Document:
        """One whose text is too long stays open without it: what it says is unknown, and no answer about uses is complete meanwhile."""
        if len(document.text) <= MOST_DOCUMENT_CHARS:
            return document
        self._desk.notices.log(f"'{document.uri}' is too long to be followed: what it says is unknown", MessageType.WARNING)
        return Document(document.uri, document.path, document.language, document.version, "", is_followed=False)

    def _close(self, uri: str) -> None:
        if self._documents.pop(path_of(uri), None) is not None and not self._desk.pulls:
            self._wire.notify(methods.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, {"uri": uri, "diagnostics": []})

    def _saved(self, uri: str) -> None:
        """Brings the index up to date behind the requests, as a question would that finds the file changed."""
        room = self._desk.rooms.of(path_of(uri))
        if room is None:
            return

        def catch_up() -> None:
            try:
                if room.index is not None:
                    room.service.catch_up("find_references")
                    self._progress.look(room)
            except LspidxError as error:
                self._desk.notices.once(error.code, uri, str(error), MessageType.WARNING)

        self._pool.run(catch_up)
        self._say_faults_of(uri)

    def _say_faults(self) -> None:
        for document in list(self._documents.values()):
            self._say_faults_of(document.uri)

    def _say_faults_of(self, uri: str) -> None:
        """Publishes diagnostics to a client that does not ask for them."""
        if self._desk.pulls:
            return
        documents = dict(self._documents)
        document = documents.get(path_of(uri))
        if document is None:
            return
        ask = Ask(self._desk, Job(f"diagnostics of {uri}"), methods.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, documents)

        def publish() -> None:
            from query.lsp import faults

            try:
                found = faults.diagnostics(ask, uri)
            except (LspidxError, Moved):
                return
            ask.tell_all()
            told = {"uri": uri, "version": document.version, "diagnostics": found}
            self._wire.notify(methods.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, told)

        self._pool.run(publish)

    # ---- requests, on threads of their own

    def _cancel(self, number: int | str) -> None:
        job = self._jobs.pop(number, None)
        if job is not None and job.cancel():
            self._wire.refuse(number, LSPErrorCodes.REQUEST_CANCELLED, "cancelled")

    def _work(self, job: Job, method: str, handler: Handler, asked: Any, documents: Mapping[str, Document]) -> None:
        ask = Ask(self._desk, job, method, documents)
        refused: tuple[int, str] | None = None
        result: Any = None
        try:
            result = self._answered(ask, handler, asked)
        except Cancelled:
            pass
        except Refused as error:
            refused = error.code, str(error)
        except LspidxError as error:
            if handler.is_asked_for:
                refused = LSPErrorCodes.REQUEST_FAILED, one_line(str(error))
            elif not isinstance(error, NameNotFound) or isinstance(error, Unresolved) or self._is_indexing():
                ask.tell(_document_of(asked), notices.unknown(error.code, str(error)))
        except Exception as error:
            if not job.is_cancelled:  # else what the interruption of a statement raises
                refused = ErrorCodes.INTERNAL_ERROR, one_line(str(explained(error, self._start)))
        self._jobs.pop(job.number, None)
        if not job.take_answer():
            return
        if refused is not None:
            self._wire.refuse(job.number, *refused)
        else:
            self._wire.answer(job.number, result)
        try:
            ask.tell_all()
        except Exception as error:  # the answer is out; that nobody can say how complete it is must be said
            ask.tell(_document_of(asked), notices.unknown("uncertified", str(explained(error, self._start))))
            ask.tell_all()

    def _is_indexing(self) -> bool:
        """Whether a name that is not found may be in what is not indexed yet."""
        return any(room.service.making is not None for room in self._desk.rooms.open())

    def _answered(self, ask: Ask, handler: Handler, asked: Any) -> Any:
        try:
            for _ in range(_TRIES):
                try:
                    return handler.answer(ask, asked)
                except Moved:
                    ask.forget()
            raise NoIndex("the index changes faster than it can be asked; ask again")
        finally:
            for room in self._desk.rooms.open():
                self._progress.look(room)


def lives(process: int) -> bool:
    """Whether there is such a process on this machine."""
    if process <= 0:
        return False
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _converted(message: Incoming, takes: type[P]) -> P:
    """The parameters; those of a note or request that needs none may be left out.

    Raises:
        Refused: they do not fit.
    """
    try:
        return msgspec.json.decode(message.params, type=takes)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(ErrorCodes.INVALID_PARAMS, f"{message.method}: {error}") from error


def _document_of(asked: Any) -> str:
    """The document that a request is about; empty where it is about none."""
    match asked:
        case params.InDocument():
            return asked.text_document.uri
        case params.OfItem():
            return asked.item.uri
        case _:
            return ""
