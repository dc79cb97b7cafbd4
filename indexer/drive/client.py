"""A started server: moves bytes between its process and its `Session`, and says when it is hung.

Synchronous on purpose: one worker process drives one server and has nothing else to wait for (ADR 0003).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from indexer.drive.effort import Effort
from indexer.drive.process import ServerProcess
from indexer.drive.texts import Texts
from indexer.errors import LimitReached, ServerCrashed, ServerError, ServerProtocolError, ServerTimeout, ServerTooLarge
from indexer.lsp.session import Answer, Notification, Session, State
from indexer.sandbox import Confinement

_START_TIMEOUT_S = 60
_STOP_TIMEOUT_S = 2
_FLUSH_STEP_S = 0.02
_LOOK_S = 0.5
"""How often a server's memory is looked at while an answer is due: less than it takes to fill a machine."""

_MOST_KEPT_BYTES = 64_000_000
"""Of notifications, while the server is started or told something and nobody takes them in."""

_NOTIFICATION_BYTES = 200
"""That one takes beside its text."""

_TALK_TIMEOUTS = 5
"""A server that talks and answers nothing (progress while it loads, or noise) gets the time of so many silences."""


class Connection(Protocol):
    """Bytes to and from a server: `ServerProcess`, or a socket of one that somebody else has started."""

    @property
    def pid(self) -> int: ...
    def exchange(self, outgoing: bytearray, timeout_s: float) -> bytes: ...
    def unpin(self) -> None: ...
    def memory_bytes(self) -> int: ...
    def processor_s(self) -> float: ...
    def kill(self) -> None: ...
    def wait(self, timeout_s: float) -> bool: ...


class Client:
    """A ready server. Ends by `close`, which never raises and never leaves a process behind."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        initialize_params: bytes,
        settings: Mapping[str, Any],
        timeout_s: float,
        one_thread: bool = False,
        connection: Connection | None = None,
        confinement: Confinement | None = None,
        given_up: Callable[[], bool] = lambda: False,
        overlays: Mapping[str, str] = {},
        meanwhile: Callable[[], None] = lambda: None,
        deadline: float = math.inf,
    ) -> None:
        """Starts the server and waits until it is initialized.

        Args:
            overlays: texts that it is told in place of those of files, by absolute path, before all else.
            connection: to one that runs already, in place of `command`.
            confinement: what it may see; None for all that we see.
            given_up: asked now and then while something is waited for; once it is true, that raises ServerCrashed.
            meanwhile: called twice a second or more while something is waited for.
            deadline: of the clock `time.monotonic`: from then on nothing is waited for, whatever the server says or keeps to itself.
        Raises:
            ServerMissing, ServerCrashed, ServerTimeout, ServerProtocolError; LimitReached at the deadline, as all that waits does.
        """
        self.timeout_s, self.deadline = timeout_s, deadline
        self.session = Session(initialize_params, settings)
        self._process: Connection = connection or ServerProcess(
            command, cwd=cwd, environment=environment, one_processor=one_thread, confinement=confinement
        )
        self._kept: list[Notification] = []
        self._kept_bytes = 0
        self.texts = Texts(self.session.notify)
        self._overlays: dict[str, str] = {}
        self.most_memory_bytes = 0
        """Above it the server is ended, whatever it is doing; 0 for no limit."""

        self.waited_s = 0.0
        """What the last `wait` counts for."""

        self._waiting_since: float | None = None
        self._looked = time.monotonic()
        self._given_up = given_up
        self._meanwhile = meanwhile
        try:
            self.session.initialize()
            deadline = time.monotonic() + _START_TIMEOUT_S
            while self.session.state is State.INITIALIZING:
                if time.monotonic() > deadline:
                    raise ServerTimeout(f"did not answer initialize within {_START_TIMEOUT_S:g} s")
                self._go_on()
                self._keep(self.session.receive(self._exchange(min(_LOOK_S, _START_TIMEOUT_S))))
            self.tell(overlays)
            self._process.unpin()
        except ServerError:
            self._process.kill()
            raise

    def tell(self, overlays: Mapping[str, str]) -> None:
        """Texts that hold in place of those of files from here on, by absolute path; those of before that are not among them no more."""
        for path in self._overlays.keys() - overlays.keys():
            self.texts.close(path)
        for path, text in overlays.items():
            if path not in self._overlays:
                self.texts.open(path, "json", text)
            elif self._overlays[path] != text:
                self.texts.change(path, text)
        self._overlays = dict(overlays)

    def _keep(self, events: list[Answer | Notification]) -> None:
        for event in events:
            if isinstance(event, Notification):
                self._kept.append(event)
                self._kept_bytes += len(memoryview(event.params)) + len(event.method) + _NOTIFICATION_BYTES
        if self._kept_bytes > _MOST_KEPT_BYTES:
            raise ServerProtocolError(f"says more than {_MOST_KEPT_BYTES // 1_000_000} MB before it takes what it is told")

    def overheard(self) -> list[Notification]:
        """What the server said while it was started or told something; each once, and to be taken in like all else that it says."""
        kept, self._kept, self._kept_bytes = self._kept, [], 0
        return kept

    def wait(self) -> list[Answer | Notification]:
        """What arrives next, at least one byte; call it only while an answer is due.

        Raises:
            ServerCrashed, ServerProtocolError; ServerTimeout after `timeout_s` of silence, as `effort` counts them, or a few times that
            without an answer; ServerTooLarge when it takes more than `most_memory_bytes`.
        """
        now = time.monotonic()
        since = self._waiting_since = self._waiting_since or now
        effort, data, self.waited_s = Effort(now, self._process.processor_s), b"", 0.0
        while not data and (left := self.timeout_s - self.waited_s) > 0:
            try:
                data = self._exchange(min(_LOOK_S, left))
            finally:
                self.waited_s = effort.counted_s(time.monotonic())
            self._look()
        if not data:
            raise ServerTimeout(f"silent for {time.monotonic() - now:.0f} s with questions open")
        events = self.session.receive(data)
        if any(isinstance(event, Answer) for event in events):
            self._waiting_since = None
        elif now - since > self.timeout_s * _TALK_TIMEOUTS:
            raise ServerTimeout(f"sends messages, but has answered no question for {now - since:.0f} s")
        return events

    def _look(self) -> None:
        now = time.monotonic()
        if self.most_memory_bytes and now - self._looked >= _LOOK_S:
            self._looked = now
            taken = self.memory_bytes()
            if taken > self.most_memory_bytes:
                raise ServerTooLarge(f"takes {taken // 1_000_000} MB, more than {self.most_memory_bytes // 1_000_000}")

    def flush(self) -> None:
        """Sends what is queued without waiting for an answer; what arrives meanwhile is `overheard`.

        Raises:
            ServerCrashed, ServerProtocolError; ServerTimeout if the server takes no input for `timeout_s`.
        """
        deadline = time.monotonic() + self.timeout_s
        while self.session.outgoing:
            self._go_on()
            self._keep(self.session.receive(self._exchange(_FLUSH_STEP_S)))
            if time.monotonic() > deadline:
                raise ServerTimeout(f"takes no input for {self.timeout_s:g} s")

    def poll(self, timeout_s: float) -> list[Answer | Notification]:
        """What arrives within `timeout_s`; nothing is no error.

        Raises:
            ServerCrashed, ServerProtocolError; ServerTooLarge when it takes more than `most_memory_bytes`.
        """
        self._go_on()
        data = self._exchange(timeout_s)
        self._look()
        return self.session.receive(data)

    def _exchange(self, timeout_s: float) -> bytes:
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise LimitReached("has had all the time that there was for it")
        data = self._process.exchange(self.session.outgoing, min(timeout_s, left_s))
        self._meanwhile()
        return data

    def _go_on(self) -> None:
        if self._given_up():
            raise ServerCrashed("was ended while it was asked")

    @property
    def pid(self) -> int:
        return self._process.pid

    def memory_bytes(self) -> int:
        return self._process.memory_bytes()

    def processor_s(self) -> float:
        """Seconds of processors that the server has taken in its life."""
        return self._process.processor_s()

    def close(self, *, polite: bool = True) -> None:
        """Shuts the server down politely, then for certain; one that is known to hang is not asked."""
        try:
            if polite and self.session.state is State.READY:
                self.session.shutdown()
                deadline = time.monotonic() + _STOP_TIMEOUT_S
                while not self.session.closed and time.monotonic() < deadline:
                    self.session.receive(self._process.exchange(self.session.outgoing, 0.2))
                self._process.exchange(self.session.outgoing, 0.05)
                self._process.wait(0.2)
        except (ServerCrashed, ServerProtocolError):
            pass
        finally:
            self._process.kill()
