"""Which document is asked about next, and what becomes of documents and servers when something goes wrong. Pure: two tables.

    fresh ──taken──▶ active ──finished──▶ done
                       │ the server is lost
                       ▼
                     again ──taken──▶ alone ──lost──▶ again, lean ──taken──▶ alone, lean ──lost──▶ given up

A server that ends or hangs costs the documents that it had open questions on: each is tried once more alone, then without the costly
questions (lean), then given up with what its text says. A document that held a server until its time ran out waits in the last line,
until all others are done. The crawler (`indexer.crawl.worker.crawler`) carries out what is decided here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, Protocol, TypeVar

from indexer.errors import (
    Bug,
    LimitReached,
    ServerCrashed,
    ServerError,
    ServerNotReady,
    ServerProtocolError,
    ServerTimeout,
    ServerTooLarge,
)
from indexer.model import LossReason

MOST_STARTS_IN_A_ROW = 3
MOST_HANGING_STARTS = 2
"""One that hangs takes all of its time, and would again."""


class State(StrEnum):
    """Of a document. Lean: without the costly questions."""

    FRESH = "fresh"
    ACTIVE = "active"
    AGAIN = "again"
    AGAIN_LEAN = "again, lean"
    LAST = "last"
    LAST_LEAN = "last, lean"
    ALONE = "alone"
    ALONE_LEAN = "alone, lean"
    DONE = "done"
    GIVEN_UP = "given up"

    @property
    def is_lean(self) -> bool:
        return self in _LEAN


class Event(StrEnum):
    """What happens to a document."""

    TAKEN = "taken"  # it is asked about from here on
    FINISHED = "finished"  # all is answered
    LOST = "lost"  # the server ended, hung or became too large while this document had questions open
    HELD = "held"  # the server hung, and this document had the oldest open question
    HELD_COSTLY = "held, costly"  # the same, and that was one of the costly questions
    OUT_OF_TRIES = "out of tries"  # the same, and documents have held servers too often
    OUT_OF_TIME = "out of time"  # the same, and the document has had all of its seconds
    NO_SERVER = "no server"  # none can be started
    UNIT_OVER = "unit over"  # the unit has taken as long as it may
    QUARANTINED = "quarantined"  # workers have ended with it


_WAITING = frozenset({State.FRESH, State.AGAIN, State.AGAIN_LEAN, State.LAST, State.LAST_LEAN})
_ACTIVE = frozenset({State.ACTIVE, State.ALONE, State.ALONE_LEAN})
_LEAN = frozenset({State.AGAIN_LEAN, State.LAST_LEAN, State.ALONE_LEAN})
FINAL = frozenset({State.DONE, State.GIVEN_UP})

TABLE: Final[Mapping[tuple[State, Event], State]] = {
    (State.FRESH, Event.TAKEN): State.ACTIVE,
    (State.AGAIN, Event.TAKEN): State.ALONE,
    (State.LAST, Event.TAKEN): State.ALONE,
    (State.AGAIN_LEAN, Event.TAKEN): State.ALONE_LEAN,
    (State.LAST_LEAN, Event.TAKEN): State.ALONE_LEAN,
    **{(state, Event.FINISHED): State.DONE for state in _ACTIVE},
    (State.ACTIVE, Event.LOST): State.AGAIN,
    (State.ALONE, Event.LOST): State.AGAIN_LEAN,
    (State.ALONE_LEAN, Event.LOST): State.GIVEN_UP,
    (State.ACTIVE, Event.HELD): State.LAST,
    (State.ALONE, Event.HELD): State.LAST_LEAN,
    (State.ALONE_LEAN, Event.HELD): State.GIVEN_UP,
    (State.ACTIVE, Event.HELD_COSTLY): State.LAST_LEAN,  # what it hung at is not asked again
    (State.ALONE, Event.HELD_COSTLY): State.LAST_LEAN,
    (State.ALONE_LEAN, Event.HELD_COSTLY): State.GIVEN_UP,
    **{(state, event): State.GIVEN_UP for state in _ACTIVE for event in (Event.OUT_OF_TRIES, Event.OUT_OF_TIME)},
    **{(state, event): State.GIVEN_UP for state in _ACTIVE | _WAITING for event in (Event.NO_SERVER, Event.UNIT_OVER)},
    (State.FRESH, Event.QUARANTINED): State.GIVEN_UP,
}
"""What a document's state becomes; what is not in here cannot happen."""


class Scheduled(Protocol):
    """As much of a document as the schedule knows."""

    state: State
    failure: LossReason | None

    @property
    def name(self) -> str: ...
    def reset(self) -> None: ...


Item = TypeVar("Item", bound=Scheduled)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """How a server was lost. `holder`: name of the document that it hung at; `is_costly`: with one of the costly questions."""

    reason: LossReason
    holder: str = ""
    is_costly: bool = False
    is_out_of_time: bool = False
    is_out_of_tries: bool = False

    def event(self, name: str) -> Event:
        """What it is to a document that had questions open."""
        if not self.holder or name != self.holder:
            return Event.LOST
        if self.is_out_of_time:
            return Event.OUT_OF_TIME
        if self.is_out_of_tries:
            return Event.OUT_OF_TRIES
        return Event.HELD_COSTLY if self.is_costly else Event.HELD


class Schedule(Generic[Item]):
    """The documents of a unit: three lines of those that wait, and those that are asked about now (`active`)."""

    def __init__(self, documents: Iterable[Item]) -> None:
        self.active: list[Item] = []
        self._fresh = deque(documents)
        self._again, self._last = deque[Item](), deque[Item]()

    def __bool__(self) -> bool:
        """Whether anything is still to be done."""
        return bool(self.active or self._fresh or self._again or self._last)

    @property
    def has_fresh(self) -> bool:
        return bool(self._fresh)

    def line(self) -> Line[Item]:
        """The line to go on with: those of a lost server first, each alone; those that held one at the end."""
        waiting = self._again or self._fresh or self._last
        return Line(self, waiting, is_alone=waiting is not self._fresh)

    def take(self, waiting: deque[Item]) -> Item:
        """The first of a line, which is asked about from here on."""
        document = waiting.popleft()
        _move(document, Event.TAKEN)
        self.active.append(document)
        return document

    def finished(self, document: Item) -> None:
        """Everything that was asked about it has been answered."""
        _move(document, Event.FINISHED)
        self.active.remove(document)

    def server_lost(self, loss: Loss) -> Iterator[tuple[Item, LossReason]]:
        """Puts the documents that had questions open into their lines; those that are given up come back, with the reason."""
        active, self.active = self.active, []
        for document in active:
            event = loss.event(document.name)
            document.failure = loss.reason
            _move(document, event)
            if document.state is State.GIVEN_UP:
                yield document, LossReason.TIME_LIMIT if event is Event.OUT_OF_TIME else loss.reason
            else:
                document.reset()
                (self._last if document.state in (State.LAST, State.LAST_LEAN) else self._again).append(document)

    def give_up(self, event: Event) -> list[Item]:
        """All that is not done: no server can be started, or the unit's time is over."""
        documents = [*self.active, *self._again, *self._fresh, *self._last]
        for document in documents:
            _move(document, event)
        self.active, self._fresh, self._again, self._last = [], deque(), deque(), deque()
        return documents


@dataclass(frozen=True, slots=True)
class Line(Generic[Item]):
    """Documents that wait, in order; `is_alone`: one is asked about at a time."""

    schedule: Schedule[Item]
    waiting: deque[Item]
    is_alone: bool

    def __bool__(self) -> bool:
        return bool(self.waiting)

    def take(self) -> Item:
        """The next one, which is asked about from here on."""
        return self.schedule.take(self.waiting)


def _move(document: Scheduled, event: Event) -> None:
    state = TABLE.get((document.state, event))
    if state is None:
        raise Bug(f"'{document.name}' is {document.state} and cannot be {event}")
    document.state = state


def split_quarantined(documents: Iterable[Item], names: Collection[str]) -> tuple[list[Item], list[Item]]:
    """Documents to crawl, and those that are not even read."""
    kept: list[Item] = []
    apart: list[Item] = []
    for document in documents:
        if document.name in names:
            _move(document, Event.QUARANTINED)
            apart.append(document)
        else:
            kept.append(document)
    return kept, apart


# ---- servers


class ServerState(StrEnum):
    """Of the servers of a crawler, one after the other."""

    NEW = "new"  # none was ever ready
    READY = "ready"
    DOWN = "down"  # one was ready before
    UNUSABLE = "unusable"  # none was ever ready, and none is tried again


class ServerEvent(StrEnum):
    """What happens to a server."""

    STARTED = "started"
    FAILED = "failed"  # it ended, hung or talked nonsense while it was started
    FAILED_AGAIN = "failed again"  # as often in a row as it may
    NOT_READY = "not ready"  # it was waited for as long as that goes on
    MISSING = "missing"  # it is not there at all
    ENDED = "ended"  # it was lost, replaced or released
    MORE_PATIENCE = "more patience"  # it is to be tried once more, with more time


_FAILURES = (ServerEvent.FAILED_AGAIN, ServerEvent.NOT_READY, ServerEvent.MISSING)

SERVERS: Final[Mapping[tuple[ServerState, ServerEvent], ServerState]] = {
    (ServerState.NEW, ServerEvent.STARTED): ServerState.READY,
    (ServerState.DOWN, ServerEvent.STARTED): ServerState.READY,
    (ServerState.NEW, ServerEvent.FAILED): ServerState.NEW,
    (ServerState.DOWN, ServerEvent.FAILED): ServerState.DOWN,
    **{(ServerState.NEW, event): ServerState.UNUSABLE for event in _FAILURES},
    **{(ServerState.DOWN, event): ServerState.DOWN for event in _FAILURES},
    (ServerState.READY, ServerEvent.ENDED): ServerState.DOWN,
    **{(state, ServerEvent.ENDED): state for state in (ServerState.NEW, ServerState.DOWN, ServerState.UNUSABLE)},
    **{(state, ServerEvent.MORE_PATIENCE): state for state in (ServerState.NEW, ServerState.READY, ServerState.DOWN)},
    (ServerState.UNUSABLE, ServerEvent.MORE_PATIENCE): ServerState.NEW,
}
"""What the state of a crawler's servers becomes; what is not in here cannot happen."""


def failed_start(error: ServerError, failures: int) -> ServerEvent:
    """What a start that went wrong is, with so many failures in a row, this one included. After FAILED it is tried again, else not."""
    if isinstance(error, ServerNotReady | LimitReached):
        return ServerEvent.NOT_READY
    if isinstance(error, ServerCrashed | ServerTimeout | ServerProtocolError):
        most = MOST_HANGING_STARTS if isinstance(error, ServerTimeout) else MOST_STARTS_IN_A_ROW
        return ServerEvent.FAILED if failures < most else ServerEvent.FAILED_AGAIN
    return ServerEvent.MISSING


def next_server(state: ServerState, event: ServerEvent) -> ServerState:
    """The state after an event."""
    if (state, event) not in SERVERS:
        raise Bug(f"a server that is {state} cannot be {event}")
    return SERVERS[state, event]


_REASONS: tuple[tuple[type[ServerError], LossReason], ...] = (  # the narrower kind first
    (LimitReached, LossReason.TIME_LIMIT),
    (ServerNotReady, LossReason.NOT_READY),
    (ServerTimeout, LossReason.SERVER_TIMEOUT),
    (ServerProtocolError, LossReason.SERVER_PROTOCOL),
    (ServerTooLarge, LossReason.SERVER_MEMORY),
    (ServerCrashed, LossReason.SERVER_CRASHED),
)


def reason_of(error: ServerError) -> LossReason:
    """What is written down of the documents that a server is lost with."""
    return next((reason for kind, reason in _REASONS if isinstance(error, kind)), LossReason.SERVER_UNAVAILABLE)


_SLOW_START_S = 2.0
_WORTH_ITS_START = 5
"""A server is not replaced before it has worked for so many times as long as it took to be ready, unless it is far too large."""

_FAR_TOO_LARGE = 1.5
"""Times its limit: a server is replaced within a round, too."""

_MOST_MEMORY = 3
"""Times its limit: what a server takes for one document before it is ended in the middle of it, and the document is tried alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """What a server has taken so far. limit, at_start: bytes. ready_after_s: how long it loaded. may_exceed: as `Setup` has it."""

    limit: int
    at_start: int
    ready_after_s: float
    may_exceed: bool

    @property
    def most(self) -> int:
        """Above it the server is ended, whatever it is doing."""
        return _MOST_MEMORY * max(self.limit, self.at_start)

    def is_large(self, taken: int, worked_s: float) -> bool:
        """Above its limit, and replaced at a profit: one that loads for long has to work for some times as long, if it can be borne."""
        bearable = max(self.limit, self.at_start)
        if taken <= bearable:
            return False
        has_paid = self.ready_after_s < _SLOW_START_S or worked_s > _WORTH_ITS_START * self.ready_after_s
        return has_paid or not self.may_exceed or taken > bearable * _FAR_TOO_LARGE

    def has_grown(self, taken: int) -> bool:
        """Far above its limit, and not because it started so: such a server would be replaced after every document."""
        return taken > max(self.limit * _FAR_TOO_LARGE, 2 * self.at_start)
