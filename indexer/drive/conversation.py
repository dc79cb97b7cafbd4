"""One conversation with a started server: until when it is waited for, what it says of itself, when it is asked once more.

A crawl's worker (`indexer.crawl.worker`) and live questions (`query.live`) talk to servers through it; what they do with an answer is
theirs. Read on: `readiness` (when a server may be believed), `texts` (what it was told), `published` (diagnostics that it sends by itself).
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from indexer.drive.client import Client
from indexer.drive.published import Published
from indexer.drive.readiness import LOADS_AT_MOST, Manner, Patience, Readiness, Wait
from indexer.errors import ServerError, ServerNotReady, ServerTimeout
from indexer.lsp import decode, methods
from indexer.lsp.enums import LSPErrorCodes, MessageType
from indexer.lsp.session import Answer, Notification

log = logging.getLogger(__name__)

PASSING = frozenset({LSPErrorCodes.REQUEST_CANCELLED, LSPErrorCodes.CONTENT_MODIFIED, LSPErrorCodes.SERVER_CANCELLED})
"""The server changed its mind about the world; it is asked once more."""

TRIES_AGAIN = 5
"""How often a question is asked again that was answered so."""

_LATE_S = 0.06
"""Late registrations (pull diagnostics, say) come right after `initialized`, in a few pieces, among other messages."""

_FAILED_PATIENCE_S = 3.0
"""For an answer that proves a server, once it has said itself that it could not load the workspace."""

_READY_PATIENCE_S = 30.0
"""The same, once it has said that it is ready; each try waits for its answer however long that takes, so a slow machine loses nothing."""

_SIGNAL_STEP_S = 0.1
_LOOK_S = 0.5
_MESSAGES = 20
_MESSAGE_CHARS = 2_000


class Messages:
    """What servers have shown to people: errors and warnings, each once, the first few. `noise`: what is none of it; "" for nothing."""

    def __init__(self, noise: str = "") -> None:
        self._noise = re.compile(noise) if noise else None
        self.texts: list[str] = []

    def take(self, event: Notification) -> None:
        """Takes in a `window/showMessage`."""
        said = decode.shown_message(event.params)
        if said is None or said.type not in (MessageType.ERROR, MessageType.WARNING) or len(self.texts) >= _MESSAGES:
            return
        text = said.message[:_MESSAGE_CHARS]
        if text not in self.texts and not (self._noise is not None and self._noise.search(text)):
            self.texts.append(text)
            log.warning("server says: %s", text)


class Conversation:
    """What one server was asked and has said. All methods raise ServerError where it no longer answers; then `client` is to be closed."""

    def __init__(
        self,
        client: Client,
        manner: Manner,
        *,
        silence_s: float,
        messages: Messages,
        published: Published[Any] | None,
        overhear: Callable[[Notification], None] = lambda event: None,
    ) -> None:
        """
        Args:
            silence_s: the server's limit: how long it may say nothing while something is waited for.
            messages, published: where that is kept, also of servers before and after this one; None: no diagnostics are kept.
            overhear: told everything else that the server says of itself.
        """
        self.client, self.session, self.texts = client, client.session, client.texts
        self.messages, self.published = messages, published
        if published is not None:
            published.begin(self.texts)
        self.readiness = Readiness(manner.ready, manner.ready_title, manner.ready_method, manner.ready_value, manner.ready_failed)
        self.silent_s = 0.0
        """How long single questions have been waited for in vain, and nothing else was heard."""

        self._silence_s, self._overhear = silence_s, overhear
        self.notified(client.overheard())

    # ---- what it says

    def notified(self, events: Sequence[Answer | Notification]) -> None:
        """Takes in what the server says of itself; answers are passed over."""
        for event in events:
            if not isinstance(event, Notification):
                continue
            if event.method == methods.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS:
                if self.published is not None:
                    self.published.take(event)
                continue
            self.readiness.notified(event)
            if event.method == methods.WINDOW_SHOW_MESSAGE:
                self.messages.take(event)
            self._overhear(event)

    def hear(self, timeout_s: float) -> list[Answer]:
        """Answers that arrive within this time, or before; all else is taken in."""
        events = self.client.poll(timeout_s)
        if events:
            self.silent_s = 0.0
        self.notified(self.client.overheard())
        self.notified(events)
        return [event for event in events if isinstance(event, Answer)]

    def flush(self) -> None:
        """Sends what is to be sent; no answer is waited for."""
        self.client.flush()
        self.notified(self.client.overheard())

    # ---- until it may be believed

    def hear_late_registrations(self, since: float, *, hear: Callable[[float], object] | None = None, looks: int = 0) -> None:
        """Right after the start, which was at `since` (monotonic).

        Args:
            hear: in place of our own, where answers may come.
            looks: how often, each time until something comes; 0: for the whole time, for who decides at once by what was registered.
        """
        for _ in range(looks):
            (hear or self.hear)(min(_LATE_S / looks, max(0.0, since + _LATE_S - time.monotonic())))
        while not looks and (left_s := since + _LATE_S - time.monotonic()) > 0:
            (hear or self.hear)(left_s)

    def await_signal(self, *, patience: float = 1.0, most_s: float = 0.0, hear: Callable[[float], object] | None = None) -> bool:
        """Waits until the server says that it is ready, as long as it says anything new of its progress.

        Args:
            patience: times its limit of silence. most_s: the longest wait, whatever it says; 0 for the usual one.
        Returns:
            Whether it has said so; not, where it says nothing of itself at all, so that its answers decide.
        Raises:
            ServerNotReady: it does not come.
        """
        begun = time.monotonic()
        limit_s = most_s or self._silence_s
        waits = Patience(self.readiness, begun, silence_s=limit_s * patience, most_s=most_s or LOADS_AT_MOST * limit_s)
        while (wait := waits.look(now := time.monotonic())) is Wait.GO_ON:
            (hear or self.hear)(_SIGNAL_STEP_S)
        if wait is Wait.OVERDUE:
            why = f": {self.readiness.failure}" if self.readiness.failure else ""
            raise ServerNotReady(f"not ready, by its own signal, after {now - begun:.0f} s{why}")
        return wait is Wait.READY

    def await_proof(self, proves: Callable[[], bool], seconds: float) -> bool:
        """Whether `proves`, which asks for something that a ready server must know, comes to say so; asked again and again.

        False after so many seconds, or soon after the server has said that it could not load the workspace, or that it is ready: then it
        knows no more by and by.
        """
        begun, attempts = time.monotonic(), 0
        while not proves():
            self.notified(self.client.overheard())  # it may have said why while it was told its texts
            attempts += 1
            waited_s = time.monotonic() - begun
            has_spoken = self.readiness.has_signal and self.readiness.ready
            if waited_s > (min(seconds, _READY_PATIENCE_S) if has_spoken else seconds):
                return False
            if self.readiness.failure and waited_s > _FAILED_PATIENCE_S:
                return False
            self.notified(self.client.poll(min(2.0, 0.05 * 2**attempts)))
        return True

    # ---- single questions

    def ask(self, method: str, params: Any, timeout_s: float = 0.0) -> Answer:
        """The answer to a request, asked again where the server has changed its mind about the world, or loads it anew.

        Raises:
            ServerTimeout: none within `timeout_s`; without a number, within the server's limit of silence.
        """
        limit_s = timeout_s or self._silence_s
        deadline = time.monotonic() + limit_s
        self._await_reload(method, deadline)
        answer = self._ask_once(method, params, limit_s)
        for attempt in range(TRIES_AGAIN):
            left_s = deadline - time.monotonic()
            passing = answer.error is not None and answer.error.code in PASSING
            if left_s <= 0 or not (passing or self.readiness.reloads):
                break
            if self.readiness.reloads:  # what it answered meanwhile may be empty for no other reason
                self._await_reload(method, deadline)
            else:
                self.hear(0.05 * 2**attempt)
            answer = self._ask_once(method, params, max(left_s, _SIGNAL_STEP_S))
        if self.readiness.reloads:
            raise ServerTimeout(f"{method} was not answered within {limit_s:g} s: the server loads the workspace anew")
        return answer

    def _await_reload(self, method: str, deadline: float) -> None:
        """Waits while the server says that it loads the workspace anew.

        Raises:
            ServerTimeout: it does so until the deadline.
        """
        while self.readiness.reloads:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise ServerTimeout(f"{method} was not asked: the server loads the workspace anew, and has not ended")
            self.hear(min(_SIGNAL_STEP_S, left_s))

    def _ask_once(self, method: str, params: Any, limit_s: float) -> Answer:
        deadline = time.monotonic() + limit_s
        number = self.session.request(method.encode(), msgspec.json.encode(params))
        while (left_s := deadline - time.monotonic()) > 0:
            for event in self.hear(min(_LOOK_S, left_s)):
                if event.id == number:
                    return event
        self.session.notify(b"$/cancelRequest", b'{"id":%d}' % number)
        self.silent_s += limit_s
        with contextlib.suppress(ServerError):
            self.flush()
        raise ServerTimeout(f"{method} was not answered within {limit_s:g} s")
