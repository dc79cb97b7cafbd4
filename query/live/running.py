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
from indexer.drive.client import Client, Connection
from indexer.drive.conversation import Conversation, Messages
from indexer.drive.published import FIRST_WAIT_S, Published
from indexer.drive.readiness import probe_candidates
from indexer.errors import ServerError, ServerNotReady, ServerProtocolError, ServerTimeout
from indexer.lsp import decode, methods
from indexer.lsp.enums import FileChangeType
from indexer.lsp.protocol import LIVE, initialize_params
from indexer.lsp.uri import path_to_uri
from indexer.servers.registry import endings_of, language_id, load_table
from indexer.servers.scripts import language_of_file
from query.context import Definitions, Diagnosis, Reply, ServerInfo
from query.live.documents import Documents
from query.live.launch import Launch
from query.live.many import asked_for
from query.live.outline import hangs
from query.live.published import Diagnostics, read
from query.live.tree import Tree

log = logging.getLogger(__name__)

_PROVES_S = 10.0
"""For an answer that proves a server which says that it is ready; without one a question goes on, and says that it is not proven."""

_PROVES_WITHOUT_SIGNAL_S = 30.0
_QUIET_S = 0.3
"""A server that names no versions of what it publishes has said all when it says nothing for so long: the text has just changed."""

_MOST_MEMORY = 2
_CHANGES_AT_ONCE = 2_000
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
        self._published = Published(read)
        self._believed = self._diagnoses = False
        self._in_vain: dict[str, int] = {}  # hash of the text by path
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.restarts = 0
        self._client = Client(
            launch.start.command,
            cwd=launch.folders[0].path,
            environment=launch.start.environment,
            initialize_params=initialize_params([folder.path for folder in launch.folders], launch.start.options, LIVE),
            settings=launch.start.settings,
            timeout_s=launch.timeout_s,
            connection=connection,
            confinement=launch.start.confinement,
            overlays=launch.start.overlays,
            given_up=given_up,
        )
        self._client.most_memory_bytes = _MOST_MEMORY * launch.memory_bytes
        self._talk = Conversation(self._client, spec, silence_s=launch.timeout_s, messages=Messages(spec.noise), published=self._published)
        self._documents = Documents(self._talk.texts, self._language_id)
        try:
            self._begin()
        except ServerError:
            self.close(polite=False)
            raise

    def _begin(self) -> None:
        self._talk.hear_late_registrations(time.monotonic())
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
        return self._talk.silent_s >= self.launch.timeout_s

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
            answer = self._talk.ask(method, params, timeout_s)
        finally:
            session.wanted_edits = None
        try:
            result = None if answer.error is not None else decode.anything(answer.result)
        except decode.BROKEN as error:
            raise ServerProtocolError(f"{method} was answered with what is no JSON: {error}") from error
        return Reply(
            result=result,
            error=answer.error.message if answer.error is not None else "",
            server=self.info(),
            elapsed_ms=int((time.monotonic() - started) * 1000),
            warm=warm,
            edits=edits,
            unproven=not self._believed and self._is_in_vain(path),
        )

    def definitions(self, places: Sequence[tuple[str, int, int]], until: float, *, warm: bool) -> Definitions:
        """Where what stands at each of these places, by absolute path, is defined, until then (monotonic); many are under way at once.

        A document is opened for it where the server's table says that it answers better so.
        """
        if not warm:
            self._bring([], {})
            self._believe("")
        return asked_for(self._talk, self.launch.found.spec, places, until, self._open_for)

    def _open_for(self, path: str) -> None:
        self._documents.bring([path], {})

    def diagnose(self, paths: Sequence[str], overlay: Mapping[str, str], timeout_s: float, *, warm: bool) -> Diagnosis:
        """Diagnostics of documents, by absolute path, as of these texts."""
        started = time.monotonic()
        self._bring(list(paths), overlay)
        self._believe(paths[0] if paths else "")
        deadline = time.monotonic() + (timeout_s or min(FIRST_WAIT_S, self.launch.timeout_s))
        found = {} if self._pulls() else self._await_published(paths, deadline)
        if self._pulls():  # it may have said so only while it was waited for, and then it publishes nothing
            found |= self._pull([path for path in paths if path not in found], deadline)
            if not self._has_a_say(paths, overlay, found, deadline):
                found = {}
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
        self._talk.flush()

    def open(self, path: str) -> None:
        """Opens a document until it is closed."""
        self._bring([path], {})
        self._documents.open[path].pinned = True
        self._talk.flush()

    def close_document(self, path: str) -> bool:
        """Closes a document; returns whether it was open."""
        was_open = path in self._documents.open
        self._documents.close(path)
        self._talk.flush()
        return was_open

    def close(self, *, polite: bool = True) -> None:
        self._client.close(polite=polite and not self._connected)  # another's server is not ours to end

    # ---- inside

    def _language_id(self, path: str) -> str:
        language = language_of_file(self.launch.folders[0].path, path, frozenset(self.launch.languages))
        if language not in self.launch.found.spec.languages:
            language = self.launch.languages[0]
        return language_id(path, language)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.launch.folders[0].path).replace(os.sep, "/")

    def _bring(self, paths: list[str], overlay: Mapping[str, str]) -> None:
        """Everything that the server thinks of the workspace is so, from here on."""
        changes = self._tree.changes()
        if changes:
            self._diagnoses = False  # it may load the workspace anew
            events = [{"uri": path_to_uri(path), "type": kind} for path, kind in changes.items()]
            for start in range(0, len(events), _CHANGES_AT_ONCE):
                part = {"changes": events[start : start + _CHANGES_AT_ONCE]}
                self._client.session.notify(b"workspace/didChangeWatchedFiles", msgspec.json.encode(part))
            for path in (path for path, kind in changes.items() if kind == FileChangeType.DELETED):
                self._published.forget(path)
            if self.launch.start.overlays and any(path.endswith(".json") for path in changes):
                self._client.tell(self.launch.overlays())  # they are made of manifests and project files
        self._documents.bring(paths, overlay)
        for path in self._tree.backdated if changes else []:
            self._documents.reread(path)

    def _believe(self, path: str, timeout_s: float = 0.0) -> None:
        """Waits once for the server's own signal, then for the answer to a question whose answer must be there, though not for ever:

        of a file that no build takes in many a server knows nothing, and its answers are then marked as unproven.

        Raises:
            ServerNotReady: no signal of its own, or no proof within `timeout_s`, where that is short.
        """
        if self._believed:
            return
        started = time.monotonic()
        self._talk.await_signal(most_s=timeout_s)
        left_s = started + timeout_s - time.monotonic() if timeout_s else self.launch.timeout_s
        patience_s = _PROVES_S if self._talk.readiness.ready else _PROVES_WITHOUT_SIGNAL_S
        if path and not self._is_in_vain(path) and not self._talk.await_proof(lambda: self._knows_a_name(path), min(left_s, patience_s)):
            if left_s < patience_s and not self._talk.readiness.failure:
                raise ServerNotReady(f"not ready after {timeout_s or self.launch.timeout_s:g} s: knows no name of {self._relative(path)}")
            log.warning("server knows no name: name=%s path=%s", self.launch.found.spec.name, self._relative(path))
            self._in_vain[path] = hash(self._documents.open[path].text)  # its build leaves it out, perhaps; the next one may prove it
        self._believed = bool(path) and not self._is_in_vain(path)
        log.info("server ready: name=%s seconds=%.2f", self.launch.found.spec.name, time.monotonic() - started)

    def _is_in_vain(self, path: str) -> bool:
        """Whether it was asked for names of this very text, and knew none."""
        known = self._documents.open.get(path)
        return known is not None and self._in_vain.get(path) == hash(known.text)

    def _knows_a_name(self, path: str) -> bool:
        """Whether it can place a name that this file itself defines; true where there is none to ask about or none is told in time."""
        known = self._documents.open.get(path)
        language = language_of_file(self.launch.folders[0].path, path)
        if known is None or not language or not self.supports("definitionProvider") or hangs([(self._relative(path), known.text)]):
            return True
        try:
            parsed = syntaxes.parse(language, self._relative(path), known.text.encode("utf-8", "replace"), "")
        except (ValueError, RecursionError):
            return True
        candidates = probe_candidates(parsed, alone=self.launch.found.spec.alone)
        for token in candidates:
            position = {"line": parsed.tokens.line[token], "character": parsed.tokens.col[token]}
            answer = self._talk.ask(methods.TEXT_DOCUMENT_DEFINITION, {"textDocument": {"uri": path_to_uri(path)}, "position": position})
            if answer.error is None and bytes(answer.result) not in (b"null", b"[]"):
                return True
        return not candidates

    # ---- diagnostics

    def _pulls(self) -> bool:
        return self.supports("diagnosticProvider") or self.supports(methods.TEXT_DOCUMENT_DIAGNOSTIC)

    def _pull(self, paths: Sequence[str], deadline: float) -> Diagnostics:
        found: Diagnostics = {}
        for path in paths:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            with contextlib.suppress(ServerTimeout):
                answer = self._talk.ask(methods.TEXT_DOCUMENT_DIAGNOSTIC, {"textDocument": {"uri": path_to_uri(path)}}, left)
                items = None if answer.error is not None else decode.diagnostic_items(answer.result)
                if items is not None:
                    found[path] = items
        return found

    def _has_a_say(self, paths: Sequence[str], overlay: Mapping[str, str], found: Diagnostics, deadline: float) -> bool:
        """Whether a server that has nothing to say may be believed: it has something to say of a text that is broken.

        rust-analyzer, once it failed to load the root of a crate, answers every such question at once with nothing, and an edit that
        breaks something looks safe. What its table entry has no such text for is believed.

        Raises:
            ServerProtocolError: not so, and it may be replaced by another, once.
        """
        self._diagnoses = self._diagnoses or any(found.values())
        broken = self.launch.found.spec.broken
        if not broken or not found or self._diagnoses:
            return True
        path = next(iter(found))
        self._documents.bring([path], {**overlay, path: self._documents.open[path].text + broken})
        said = self._pull([path], deadline).get(path)
        self._documents.bring(list(paths), overlay)
        self._diagnoses = bool(said)
        if said == [] and not self.restarts:
            raise ServerProtocolError(f"nothing was said of a text that is broken: {self._relative(path)}")
        return self._diagnoses

    def _await_published(self, paths: Sequence[str], deadline: float) -> Diagnostics:
        """What is published of new versions of these documents; what has not come by the deadline is not in it.

        A server that says meanwhile that it is to be asked is waited for no longer.
        """
        wanted: dict[str, int] = {}
        for path in paths:
            self._published.forget(path)
            wanted[path] = self._documents.touch(path)
        self._published.await_all(
            wanted,
            deadline - time.monotonic(),
            hear=self._talk.hear,
            remind=self._documents.remind,
            quiet_s=_QUIET_S,
            needless=self._pulls,
        )
        return {path: found for path, version in wanted.items() if (found := self._published.of(path, version)) is not None}
