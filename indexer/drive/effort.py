"""What a wait for a server counts for. Pure: times are told to it.

A limit in seconds is to tell a server that hangs from one that works. On a machine that others use too, one that works gets a part of a
processor, and its seconds are those that it got; one that waits for something that never comes gets none, and its seconds are the clock's.
"""

from __future__ import annotations

from collections.abc import Callable

MOST_CLOCK = 4.0
"""So many seconds of the clock count for one at least, so that every limit ends after so many times its seconds."""

FIRST_LOOK_S = 0.5
"""Most answers come before, and to look what a server has taken costs more than they do."""

_IDLE_SHARE = 0.02
"""A server that takes less than this part of a processor does not work: timers and collectors of garbage take as much."""


def counted_s(clock_s: float, processor_s: float) -> float:
    """Seconds by which a wait comes nearer to its limit.

    Args:
        clock_s: how long it took. processor_s: what the server took of the processors meanwhile; 0 where the system does not tell.
    """
    if processor_s < _IDLE_SHARE * clock_s:
        return clock_s
    return min(clock_s, max(processor_s, clock_s / MOST_CLOCK))


class Effort:
    """One wait. `taken_s` says how many seconds of the processors the server has taken in its life."""

    def __init__(self, begun: float, taken_s: Callable[[], float]) -> None:
        self._begun, self._taken_s = begun, taken_s
        self._first: tuple[float, float] | None = None

    def counted_s(self, now: float) -> float:
        """Seconds that it counts for up to now."""
        if now - self._begun < FIRST_LOOK_S:
            return now - self._begun
        taken_s = self._taken_s()
        if self._first is None:
            self._first = (now, taken_s)
        since, taken_before_s = self._first
        return since - self._begun + counted_s(now - since, taken_s - taken_before_s)
