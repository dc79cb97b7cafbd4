"""The servers of one crawler, one after the other: started and waited for, measured, ended."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from indexer.crawl.messages import Hello, Report, Setup, Started
from indexer.crawl.worker.pace import Pace
from indexer.crawl.worker.places import Places
from indexer.crawl.worker.probing import Probing, ask_builtins, heard
from indexer.crawl.worker.reading import open_unreadable
from indexer.crawl.worker.schedule import Footprint, ServerEvent, ServerState, failed_start, next_server
from indexer.crawl.worker.unparsed import Inactive
from indexer.drive.client import Client
from indexer.drive.conversation import Conversation, Messages
from indexer.drive.published import Published
from indexer.errors import LimitReached, ServerCrashed, ServerError, ServerTimeout
from indexer.languages import PYTHON
from indexer.lsp import decode
from indexer.lsp.enums import FileChangeType
from indexer.lsp.session import Notification
from indexer.lsp.uri import path_to_uri
from indexer.model import LossReason

log = logging.getLogger("indexer.crawl.worker")

_LATE_LOOKS = 3
"""For registrations right after the start: what a crawl asks of them comes much later."""

_VAIN_SHARE = 0.25
"""Of the seconds that a server may load: one that was started in vain for so long is not tried again with more patience."""

_PATIENT = 2.5  # times `timeout_s`, at the second try of a unit


class Server:
    """At most one runs (`talk`). `unusable`: why none could ever be started; `may_recover`: whether more patience could help."""

    def __init__(self, setup: Setup, number: int, pace: Pace, places: Places, probing: Probing, say: Callable[[Report], None]) -> None:
        self._setup, self._number, self._pace, self._places, self._probing = setup, number, pace, places, probing
        self._say = say
        self.talk: Conversation | None = None
        self.published = Published(decode.diagnostics)
        self.inactive = Inactive()
        self.unusable, self.may_recover = "", False
        self.unusable_for = LossReason.SERVER_UNAVAILABLE
        self.starts = 0
        self._vain_s = 0.0
        self._messages = Messages(setup.noise)
        self._state = ServerState.NEW
        self._patience = 1.0
        self._footprint = Footprint(limit=setup.memory_bytes, at_start=0, ready_after_s=0.0, may_exceed=setup.may_exceed)
        self._ready_at = 0.0
        self._told: set[str] = set()  # paths of texts that it has from its start on
        self._is_renewed = self._waits = False

    def _overhear(self, event: Notification) -> None:
        self._pace.heard(event)
        self.inactive.heard(event)

    # ---- start and end

    def ensure(self, most_s: float) -> Conversation:
        """The server, started if need be.

        Args:
            most_s: so long it may take, all tries together, whatever it says meanwhile.
        Raises:
            ServerError: it does not start, several times in a row; one that never did is not tried again.
            LimitReached: the time is over, or all that it may take to load was taken before, in vain.
        """
        if self._state is ServerState.UNUSABLE:
            raise ServerError(self.unusable)
        if self.talk is not None and self._is_believed(self.talk):
            return self.talk
        failures = 0
        begun = time.monotonic()
        deadline = begun + min(most_s, self._load_left_s())
        while True:
            begun = time.monotonic()
            try:
                with self._pace.loading():
                    return self._start(deadline)
            except ServerError as error:
                failures += 1
                self._vain_s += time.monotonic() - begun
                event = failed_start(error, failures)
                if event is not ServerEvent.MISSING:
                    log.warning("server start failed: %s", error)
                self._failed(error, event)
                if event is not ServerEvent.FAILED:
                    raise

    def _load_left_s(self) -> float:
        return self._setup.limits.load_s - self._vain_s if self._setup.limits.load_s else math.inf

    def _failed(self, error: ServerError, event: ServerEvent) -> None:
        failure = self.talk.readiness.failure if self.talk is not None else ""
        self.stop(polite=False)
        self._state = next_server(self._state, event)
        if self._state is ServerState.UNUSABLE:
            self.unusable = str(error)
            is_over = 0 < self._setup.limits.load_s * _VAIN_SHARE < self._vain_s
            self.may_recover = isinstance(error, ServerTimeout | ServerCrashed) and not failure and not is_over
            self.unusable_for = LossReason.NOT_READY if event is ServerEvent.NOT_READY else LossReason.SERVER_UNAVAILABLE

    def _start(self, deadline: float) -> Conversation:
        setup, begun = self._setup, time.monotonic()
        client = Client(
            setup.command,
            cwd=Path(setup.root),
            environment=setup.environment,
            initialize_params=setup.initialize_params.encode(),
            settings=setup.settings,
            timeout_s=setup.timeout_s,
            one_thread=setup.one_thread,
            confinement=setup.confinement,
            overlays=setup.overlays,
            meanwhile=lambda: self._pace.look(),  # of the crawl that it works for then
            deadline=deadline,
        )
        published = self.published if setup.diagnostics == "publish" else None
        talk = self.talk = Conversation(
            client, setup, silence_s=setup.timeout_s, messages=self._messages, published=published, overhear=self._overhear
        )
        if setup.open == "none":
            open_unreadable(setup, talk.texts)
        self._told = set(talk.texts)
        self._await_ready(talk)
        self._state = next_server(self._state, ServerEvent.STARTED)
        self._ready_at = time.monotonic()
        self._footprint = Footprint(
            limit=setup.memory_bytes,
            at_start=client.memory_bytes(),
            ready_after_s=self._ready_at - begun,
            may_exceed=setup.may_exceed,
        )
        self.starts += 1
        self._say(Started(setup=self._number, memory_bytes=self._footprint.at_start))
        client.most_memory_bytes = min(self._footprint.most, setup.most_bytes or self._footprint.most)
        return talk

    def _await_ready(self, talk: Conversation) -> None:
        """Until it may be believed: by its own signal, and by what it must know."""
        setup, since = self._setup, time.monotonic()
        is_python = PYTHON.name in setup.languages
        if setup.fixed:
            if talk.readiness.has_signal:
                talk.await_signal(patience=self._patience, hear=lambda seconds: heard(talk, talk.client.poll(seconds), set()))
            self._places.builtins = ask_builtins(talk, setup) if is_python else None
            return
        by_builtins = is_python and not talk.readiness.has_signal
        asked: set[int] = set()

        def hear(seconds: float) -> None:
            heard(talk, talk.client.poll(seconds), asked)

        if setup.open == "none" and not by_builtins and not talk.readiness.has_signal:
            asked = self._probing.wake(talk)
            if asked:
                hear(0.0)
        probes = [] if by_builtins else self._probing.probes()
        talk.hear_late_registrations(since, hear=hear, looks=_LATE_LOOKS)
        if not by_builtins:
            # Should the server die of them, others are asked at its next start; what they do to it is seen when they are crawled.
            self._probing.open(talk, probes)
            talk.await_signal(patience=self._patience, hear=hear)
            self._probing.await_proof(talk, probes, asked, setup.timeout_s * self._patience)
            log.info("server ready: seconds=%.2f probes=%d", time.monotonic() - since, len(probes))
        if is_python:
            self._places.builtins = ask_builtins(talk, setup)  # of every server, so that all have seen the same before a unit

    # ---- between crawls of one parent

    def may_stay(self) -> bool:
        """Whether the one that runs may go on in the next crawl: it has no text of this one, and has not grown too large."""
        return self.talk is not None and set(self.talk.texts) == self._told and not self.is_large()

    def start_ahead(self, most_s: float) -> None:
        """Starts one before there is anything to ask, of the kind that is ready with its builtins; else, or if it cannot be, none."""
        if PYTHON.name not in self._setup.languages or self._setup.ready != "initialized":
            return
        try:
            self.ensure(most_s)
            self._waits = True
        except (ServerError, LimitReached) as error:
            log.info("no server is started ahead: %s", error)
            self.stop(polite=False)

    def renew(self, setup: Setup, pace: Pace, places: Places, probing: Probing, changes: Mapping[str, int]) -> None:
        """Goes on with the server that runs, for the next crawl. It is told which files have changed; should it not take that, it ends.

        Args:
            changes: as of `Renew`.
        """
        self._setup, self._pace, self._probing = setup, pace, probing
        places.builtins, self._places = self._places.builtins, places
        self._patience, self._vain_s = 1.0, 0.0
        self.unusable, self.may_recover = "", False
        talk = self.talk
        if talk is None:
            return
        try:
            talk.client.timeout_s, talk.client.deadline = setup.timeout_s, time.monotonic() + setup.timeout_s
            talk.notified(talk.client.poll(0.0))  # what it has said meanwhile
            if changes:
                root = setup.root
                events = [{"uri": path_to_uri(os.path.normpath(f"{root}/{path}")), "type": kind} for path, kind in changes.items()]
                talk.session.notify(b"workspace/didChangeWatchedFiles", msgspec.json.encode({"changes": events}))
                talk.flush()
            self._is_renewed = True
            if self._waits and any(kind != FileChangeType.CHANGED for kind in changes.values()):
                places.builtins = ask_builtins(talk, setup)  # a new file may be in the place of a module
        except (ServerError, LimitReached) as error:
            log.info("kept server is replaced: %s", error)
            self.stop(polite=False)
        self._waits = False

    def _is_believed(self, talk: Conversation) -> bool:
        """Whether the one that runs knows the tree as it is, which one that has stayed must show once; else it is ended."""
        if not self._is_renewed:
            return True
        self._is_renewed = False
        try:
            if not self._setup.fresh:
                probes = self._probing.probes()
                self._probing.open(talk, probes)
                talk.await_signal(hear=lambda seconds: heard(talk, talk.client.poll(seconds), set()))
                self._probing.await_proof(talk, probes, set(), self._setup.timeout_s)
            word = "ahead" if self._setup.fresh else "stays"
            self._say(Started(setup=self._number, memory_bytes=self._footprint.at_start, went_on=word))
        except ServerError as error:
            log.info("kept server is replaced: %s", error)
            self.stop(polite=False)
            return False
        return True

    def stop(self, *, polite: bool = True) -> None:
        """Ends the server, if one runs."""
        if self.talk is not None:
            self.talk.client.close(polite=polite)
            self.talk = None
        self._is_renewed = self._waits = False
        self._state = next_server(self._state, ServerEvent.ENDED)

    def be_patient(self) -> None:
        """Another try for a server that never became ready, with more time."""
        if self._patience == 1.0:
            self._patience, self.unusable = _PATIENT, ""
            self._state = next_server(self._state, ServerEvent.MORE_PATIENCE)

    # ---- what it is

    @property
    def ready_after_s(self) -> float:
        """How long the present one took to be ready."""
        return self._footprint.ready_after_s

    def hello(self) -> Hello | None:
        """What the server says of itself; None where none is running."""
        if self.talk is None:
            return None
        session = self.talk.session
        return Hello(
            setup=self._number,
            server_name=session.server_name,
            server_version=session.server_version,
            capabilities={**session.capabilities, **dict.fromkeys(sorted(session.registered), True)},
            position_encoding=session.position_encoding,
            pid=self.talk.client.pid,
            messages=self._messages.texts,
        )

    def processor_s(self) -> float:
        """Seconds of processors that the one that runs has taken; 0 where none runs."""
        return self.talk.client.processor_s() if self.talk is not None else 0.0

    def is_large(self) -> bool:
        """Whether it is to be replaced before the next round."""
        return self.talk is not None and self._footprint.is_large(self.talk.client.memory_bytes(), time.monotonic() - self._ready_at)

    def has_grown(self) -> bool:
        """Whether it is to be replaced before the next document."""
        return self.talk is not None and self._footprint.has_grown(self.talk.client.memory_bytes())
