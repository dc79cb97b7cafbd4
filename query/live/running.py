"""One running server: started, waited for until it may be believed, asked one question at a time, and ended for certain."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from indexer import syntax as syntaxes
from indexer.crawl.readiness import Readiness, probe_candidates
from indexer.drive.client import Client, Connection
from indexer.errors import ServerError, ServerProtocolError, ServerTimeout, ServerTooLarge
from indexer.lsp import decode, methods
from indexer.lsp.enums import FileChangeType, LSPErrorCodes, MessageType
from indexer.lsp.session import Answer, Notification
from indexer.lsp.uri import path_to_uri
from indexer.servers.registry import endings_of, language_id, language_of, load_table
from query.context import Diagnosis, Reply, ServerInfo
from query.live.documents import Documents
from query.live.launch import Launch
from query.live.published import Diagnostics, Published
from query.live.tree import Tree

log = logging.getLogger(__name__)

_SIGNAL_BEGINS_S = 5.0
_PROVES_S = 10.0
_PROVES_WITHOUT_SIGNAL_S = 30.0
_LOOK_S = 0.5
_LATE_S = 0.06
_DIAGNOSE_S = 30.0
_PASSING = frozenset({LSPErrorCodes.REQUEST_CANCELLED, LSPErrorCodes.CONTENT_MODIFIED, LSPErrorCodes.SERVER_CANCELLED})
"""It changed its mind about the world, and is asked once more."""
_TRIES = 5
_MOST_MEMORY = 2
_CHANGES_AT_ONCE = 2_000
_MESSAGES = 20
_VERSION_CHARS = 80


class Running:
    """A server that answers. All methods raise ServerError where it no longer does; then it is to be closed."""

    def __init__(self, launch: Launch, connection: Connection | None = None, *, given_up: Callable[[], bool] = lambda: False) -> None:
        """Starts it, or takes up an existing connection, and initializes it.

        Args:
            given_up: asked while it is waited for: whether nobody waits any more, so that it counts as crashed.
        Raises:
            ServerMissing, ServerCrashed, ServerTimeout, ServerProtocolError.
        """
        self.launch = launch
        spec = launch.found.spec
        self._connected = connection is not None
        self._languages = load_table().language
        roots = [str(folder.path) for folder in launch.folders]
        manifests = [name for language in spec.languages for name in self._languages[language].manifests if not set(name) & set("*?[")]
        self._tree = Tree(roots, [ending for ending in endings_of(spec.languages) if ending.startswith(".")], manifests)
        self._readiness = Readiness(spec.ready, spec.ready_title, spec.ready_method, spec.ready_value)
        self._published = Published()
        self._believed = False
        self._silent_s = 0.0
        self._in_vain: dict[str, int] = {}  # hash of the text by path
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.restarts = 0
        self.messages: list[str] = []
        self._client = Client(
            launch.start.command,
            cwd=launch.folders[0].path,
            environment=launch.start.environment,
            initialize_params=launch.start.initialize_params,
            settings=launch.start.settings,
            timeout_s=launch.timeout_s,
            connection=connection,
            confinement=launch.start.confinement,
            overlays=launch.start.overlays,
            given_up=given_up,
        )
        self._looked = time.monotonic()
        self._documents = Documents(self._client.session.notify, self._language_id)
        try:
            self._begin()
        except ServerError:
            self.close(polite=False)
            raise

    def _begin(self) -> None:
        self._notified(self._client.overheard())
        deadline = time.monotonic() + _LATE_S
        while (left := deadline - time.monotonic()) > 0:  # late registrations come right after `initialized`
            self._heard(left)
        if settings := self.launch.start.settings:
            self._client.session.notify(b"workspace/didChangeConfiguration", msgspec.json.encode({"settings": settings}))

    # ---- what it is

    def info(self) -> ServerInfo:
        session = self._client.session
        spec = self.launch.found.spec
        return ServerInfo(
            entry=spec.name,
            name=session.server_name or spec.name,
            version=self._version(),
            languages=self.launch.languages,
            capabilities={**session.capabilities, **dict.fromkeys(sorted(session.registered), True)},
            pid=self._client.pid,
            started_at=self.started_at,
            restarts=self.restarts,
            memory_bytes=self._client.memory_bytes(),
            open_documents=[self._relative(path) for path in self._documents.open],
            trust=self.launch.trust,
            sandbox=self.launch.sandbox,
        )

    def _version(self) -> str:
        """As an index names it, so that answers can be compared; of another's server, which is not the one found here, its own words."""
        said, found = self._client.session.server_version, self.launch.found.version
        return said.partition("\n")[0][:_VERSION_CHARS] if self._connected or not found else found

    @property
    def is_hung(self) -> bool:
        """Whether it has said nothing at all for as long as the table gives it, with questions open."""
        return self._silent_s >= self.launch.timeout_s

    def supports(self, capability: str) -> bool:
        return self._client.session.supports(capability)

    # ---- questions

    def ask(
        self, path: str, method: str, params: Any, overlay: Mapping[str, str], timeout_s: float, *, warm: bool, follow_up: bool = False
    ) -> Reply:
        """The answer to one request; `path`, absolute, is open while it is asked; `overlay` by absolute path.

        Raises:
            UsageError: a document cannot be read. ServerError: no answer.
        """
        started = time.monotonic()
        if not (follow_up and warm and not overlay):
            self._bring([path] if path else [], overlay)
        self._believe(path)
        session = self._client.session
        session.wanted_edits = edits = []
        try:
            answer = self._request(method, params, timeout_s)
        finally:
            session.wanted_edits = None
        try:
            result = None if answer.error is not None else decode.anything(answer.result)
        except decode.BROKEN as error:
            raise ServerProtocolError(f"{method} was answered with what is no JSON: {error}") from error
        return Reply(
            result=result,
            error=answer.error.message if answer.error is not None else "",
            error_code=answer.error.code if answer.error is not None else 0,
            server=self.info(),
            elapsed_ms=int((time.monotonic() - started) * 1000),
            warm=warm,
            edits=edits,
            unproven=not self._believed and self._is_in_vain(path),
        )

    def diagnose(self, paths: Sequence[str], overlay: Mapping[str, str], timeout_s: float, *, warm: bool) -> Diagnosis:
        """Diagnostics of documents, by absolute path, as of these texts."""
        started = time.monotonic()
        self._bring(list(paths), overlay)
        self._believe(paths[0] if paths else "")
        deadline = time.monotonic() + (timeout_s or min(_DIAGNOSE_S, self.launch.timeout_s))
        pulls = self.supports("diagnosticProvider") or self.supports(methods.TEXT_DOCUMENT_DIAGNOSTIC)
        found = self._pull(paths, deadline) if pulls else self._published.of(paths, deadline, touch=self._documents.touch, hear=self._heard)
        return Diagnosis(
            diagnostics={self._relative(path): items for path, items in found.items()},
            unsettled=[self._relative(path) for path in paths if path not in found],
            server=self.info(),
            elapsed_ms=int((time.monotonic() - started) * 1000),
            warm=warm,
        )

    def await_ready(self, path: str, timeout_s: float) -> bool:
        """Waits until it has loaded the workspace, as it says itself or as `path` shows; whether it has by then."""
        if path:
            self._bring([path], {})
        try:
            self._believe(path, timeout_s)
        except ServerTimeout:
            return False
        return self._believed or not path

    def notify(self, method: str, params: Any) -> None:
        self._client.session.notify(method.encode(), msgspec.json.encode(params))
        self._flush()

    def open(self, path: str) -> None:
        """Opens a document until it is closed."""
        self._bring([path], {})
        self._documents.open[path].pinned = True
        self._flush()

    def close_document(self, path: str) -> bool:
        """Whether it was open."""
        was_open = path in self._documents.open
        self._documents.close(path)
        self._flush()
        return was_open

    def close(self, *, polite: bool = True) -> None:
        self._client.close(polite=polite and not self._connected)  # another's server is not ours to end

    # ---- inside

    def _language_id(self, path: str) -> str:
        language = language_of(path, frozenset(self.launch.languages))
        if language not in self.launch.found.spec.languages:
            language = self.launch.languages[0]
        return language_id(path, language)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.launch.folders[0].path).replace(os.sep, "/")

    def _bring(self, paths: list[str], overlay: Mapping[str, str]) -> None:
        """Everything that the server thinks of the workspace is so, from here on."""
        changes = self._tree.changes()
        if changes:
            events = [{"uri": path_to_uri(path), "type": kind} for path, kind in changes.items()]
            for start in range(0, len(events), _CHANGES_AT_ONCE):
                part = {"changes": events[start : start + _CHANGES_AT_ONCE]}
                self._client.session.notify(b"workspace/didChangeWatchedFiles", msgspec.json.encode(part))
            for path in (path for path, kind in changes.items() if kind == FileChangeType.DELETED):
                self._published.forget(path)
            if self.launch.start.overlays and any(path.endswith(".json") for path in changes):
                self._client.tell(self.launch.overlays())  # they are made of manifests and project files
        self._documents.bring(paths, overlay)

    def _believe(self, path: str, timeout_s: float = 0.0) -> None:
        """Waits once for the server's own signal, then for the answer to a question whose answer must be there, though not for ever:

        of a file that no build takes in many a server knows nothing, and its answers are then marked as unproven.

        Raises:
            ServerTimeout: no signal within its `timeout_s`.
        """
        if self._believed:
            return
        started = time.monotonic()
        limit_s = timeout_s or self.launch.timeout_s
        deadline = started + limit_s
        while not self._readiness.ready:
            now = time.monotonic()
            if not self._readiness.begun and now > started + min(_SIGNAL_BEGINS_S, limit_s / 2):
                break  # no sign of life: the probe decides
            if now > deadline:
                raise ServerTimeout(f"not ready after {limit_s:g} s, by its own signal")
            self._heard(0.1)
        attempts = 0
        patience = time.monotonic() + (_PROVES_S if self._readiness.ready else _PROVES_WITHOUT_SIGNAL_S)
        while path and not self._is_in_vain(path) and not self._knows_a_name(path):
            attempts += 1
            now = time.monotonic()
            if now > deadline:
                raise ServerTimeout(f"not ready after {limit_s:g} s: knows no name of {self._relative(path)}")
            if now > patience:  # a file that its build leaves out, perhaps; the next one may prove it
                log.warning("server knows no name: name=%s path=%s", self.launch.found.spec.name, self._relative(path))
                self._in_vain[path] = hash(self._documents.open[path].text)
            self._heard(min(2.0, 0.05 * 2**attempts))
        self._believed = bool(path) and not self._is_in_vain(path)
        log.info("server ready: name=%s seconds=%.2f attempts=%d", self.launch.found.spec.name, time.monotonic() - started, attempts)

    def _is_in_vain(self, path: str) -> bool:
        """Whether it was asked for names of this very text, and knew none."""
        known = self._documents.open.get(path)
        return known is not None and self._in_vain.get(path) == hash(known.text)

    def _knows_a_name(self, path: str) -> bool:
        """Whether it can place a name that this file itself defines; true where there is none to ask about."""
        known = self._documents.open.get(path)
        language = language_of(path)
        if known is None or not language or not self.supports("definitionProvider"):
            return True
        try:
            parsed = syntaxes.parse(language, self._relative(path), known.text.encode("utf-8", "replace"), "")
        except (ValueError, RecursionError):
            return True
        candidates = probe_candidates(parsed)
        for token in candidates:
            position = {"line": parsed.tokens.line[token], "character": parsed.tokens.col[token]}
            answer = self._request(
                methods.TEXT_DOCUMENT_DEFINITION, {"textDocument": {"uri": path_to_uri(path)}, "position": position}, 0.0
            )
            if answer.error is None and bytes(answer.result) not in (b"null", b"[]"):
                return True
        return not candidates

    def _request(self, method: str, params: Any, timeout_s: float) -> Answer:
        """The answer to a request, asked again where the server has changed its mind about the world."""
        deadline = time.monotonic() + (timeout_s or self.launch.timeout_s)
        answer = self._once(method, params, timeout_s)
        for attempt in range(_TRIES):
            left = deadline - time.monotonic()
            if answer.error is None or answer.error.code not in _PASSING or left <= 0:
                break
            self._heard(0.05 * 2**attempt)
            answer = self._once(method, params, left)
        return answer

    def _once(self, method: str, params: Any, timeout_s: float) -> Answer:
        limit_s = timeout_s or self.launch.timeout_s
        deadline = time.monotonic() + limit_s
        number = self._client.session.request(method.encode(), msgspec.json.encode(params))
        while time.monotonic() < deadline:
            for event in self._heard(min(_LOOK_S, max(0.0, deadline - time.monotonic()))):
                if event.id == number:
                    return event
        self._client.session.notify(b"$/cancelRequest", b'{"id":%d}' % number)
        self._silent_s += limit_s
        with contextlib.suppress(ServerError):
            self._flush()
        raise ServerTimeout(f"{method} was not answered within {limit_s:g} s")

    def _flush(self) -> None:
        self._client.flush()
        self._notified(self._client.overheard())

    def _heard(self, timeout_s: float) -> list[Answer]:
        """What arrives within this time: answers are returned, all else is taken in. Looks at the server's memory now and then."""
        events = self._client.poll(timeout_s)
        if events:
            self._silent_s = 0.0
        self._notified([event for event in events if isinstance(event, Notification)])
        now = time.monotonic()
        if now - self._looked > _LOOK_S:
            self._looked = now
            taken = self._client.memory_bytes()
            if taken > _MOST_MEMORY * self.launch.memory_bytes:
                raise ServerTooLarge(f"takes {taken // 1_000_000} MB, more than {_MOST_MEMORY * self.launch.memory_bytes // 1_000_000}")
        return [event for event in events if isinstance(event, Answer)]

    def _notified(self, events: Sequence[Notification]) -> None:
        for event in events:
            if event.method == methods.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS:
                self._published.take(event)
                continue
            self._readiness.notified(event)
            if event.method == methods.WINDOW_SHOW_MESSAGE:
                said = decode.shown_message(event.params)
                if said is not None and said.type in (MessageType.ERROR, MessageType.WARNING) and len(self.messages) < _MESSAGES:
                    self.messages.append(said.message[:2_000])

    # ---- diagnostics

    def _pull(self, paths: Sequence[str], deadline: float) -> Diagnostics:
        found: Diagnostics = {}
        for path in paths:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            with contextlib.suppress(ServerTimeout):
                answer = self._request(methods.TEXT_DOCUMENT_DIAGNOSTIC, {"textDocument": {"uri": path_to_uri(path)}}, left)
                items = None if answer.error is not None else decode.diagnostic_items(answer.result)
                if items is not None:
                    found[path] = items
        return found
