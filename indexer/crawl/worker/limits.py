"""What one file and one unit may cost: questions, and seconds that servers are waited for (ADR 0030). Pure: times are told to it.

The seconds in which a server answers nothing are charged to the document with the oldest open question: servers answer more or less in
order, so that is the one they are busy with. A document that held a server until its time ran out gets less at its second try, and each
such document shortens the time that the next ones get, down to a few times what the slowest honest answer took.
"""

from __future__ import annotations

import math

from indexer.crawl.messages import Limits

_MANY = 10**12
_SECOND_TRY = 2
"""A document that a server was ended for gets this part of the time at its second try."""

_RETRIED = 3
"""So many documents that hold servers are tried again; those after them are given up at once."""

_HALVINGS = 4
_LEAST_S = 3.0
"""Silence of less than this is never taken for a server that hangs, unless its table or the user says so."""

_HONEST = 3.0
"""Times the slowest answer of this server so far: a silence of less is a slow machine, not a hostile file."""


class Budget:
    """What the documents of one server have cost so far, and what is left. Lives as long as its crawler; `begin` starts a unit."""

    def __init__(self, limits: Limits, timeout_s: float) -> None:
        self.limits, self._timeout_s = limits, timeout_s
        self._charged: dict[str, float] = {}
        self._held: dict[str, int] = {}
        self._slowest_s = self._silent_s = 0.0
        self._unit_since = self._loaded_s = 0.0

    def begin(self, now: float) -> None:
        """A unit is in hand from now on."""
        self._charged, self._unit_since, self._loaded_s = {}, now, 0.0

    def excuse(self, seconds: float) -> None:
        """Seconds in which a server loaded the project, and not because it had been lost: no document's fault, as far as they go."""
        seconds = min(seconds, self.load_left_s())
        self._unit_since += seconds
        self._loaded_s += seconds

    def load_left_s(self) -> float:
        """How much more loading is not counted as time of the unit."""
        return self.limits.load_s - self._loaded_s if self.limits.load_s else math.inf

    # ---- depth

    def is_too_deep(self, depth: int) -> bool:
        """Whether a document is nested so deeply that no server is asked about it."""
        return 0 < self.limits.file_depth < depth

    # ---- questions

    def questions_left(self, asked: int) -> int:
        """How many more questions a document may have about which so many were asked."""
        return max(0, (self.limits.file_questions or _MANY) - asked)

    def has_questions(self, asked: int) -> bool:
        """Whether a unit that has asked so many may ask about a further document."""
        return asked < (self.limits.unit_questions or _MANY)

    # ---- seconds

    def charge(self, path: str, seconds: float, *, answered: bool) -> None:
        """A server was waited for, and this document had the oldest open question; `answered`: it answered, then."""
        self._charged[path] = self._charged.get(path, 0.0) + seconds
        self._silent_s += seconds
        if answered:
            self._slowest_s, self._silent_s = max(self._slowest_s, self._silent_s), 0.0

    def file_left_s(self, path: str) -> float:
        """How much longer a document may be waited for, in all its tries."""
        return self.limits.file_s - self._charged.get(path, 0.0) if self.limits.file_s else math.inf

    def unit_left_s(self, now: float) -> float:
        """How much longer the unit may take."""
        return self.limits.unit_s - (now - self._unit_since) if self.limits.unit_s else math.inf

    def patience_s(self, path: str, now: float) -> float:
        """Silence after which a server counts as hung while it is asked about this document."""
        shortened = self._timeout_s / 2 ** min(len(self._held), _HALVINGS)
        if path in self._held:
            shortened = min(shortened, self._timeout_s / _SECOND_TRY)
        patience_s = min(self._timeout_s, max(shortened, _LEAST_S, _HONEST * self._slowest_s))
        return max(0.0, min(patience_s, self.file_left_s(path), self.unit_left_s(now)))

    def held(self, path: str) -> None:
        """A server was ended because it did not get on with this document."""
        self._silent_s = 0.0
        self._held[path] = self._held.get(path, 0) + 1

    def may_try_again(self, path: str) -> bool:
        """Whether a document that has held a server is worth a second try."""
        return self._held.get(path, 0) < 2 and len(self._held) <= _RETRIED and self.file_left_s(path) > 0
