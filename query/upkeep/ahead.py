"""Brings an index up to date before anybody asks: once files have changed and the tree has been at rest for a while.

An edit is followed by a question at once, or by something that takes long: a test run, a thought. In the latter case the index is made
meanwhile, and the question finds it fresh. Knows neither how changes are found nor how an index is made.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

log = logging.getLogger(__name__)

ASKED_S = 600.0
"""So long after the last question nothing is made ahead any more: nobody may ever ask again."""

REST_SHARE = 2.0
"""The tree has to be at rest for so many times what the last refresh took: who saves a file every few seconds keeps no processor busy for
more than a third of the time."""

_STEP_S = 0.25


class Ahead:
    """A thread that begins with the first question. Like that of `Keeper` it does not die with the process within the database's code; it
    ends when it is closed, when the process ends, or when nobody has asked for `ASKED_S`, and begins again with the next question.
    """

    def __init__(
        self,
        stirs: Callable[[float], bool],
        changed: Callable[[], Sequence[str]],
        refresh: Callable[[Sequence[str]], object],
        pause_s: Callable[[], float],
    ) -> None:
        """What is given is called by its thread.

        Args:
            stirs: whether something may have changed since `changed` was asked; waits for that, so many seconds at most.
            changed: the files that are not as indexed. refresh: makes the index anew because of these, and raises nothing.
            pause_s: how long the tree has to be at rest, at least; 0: nothing is ever done.
        """
        self._stirs, self._changed, self._refresh, self._pause_s = stirs, changed, refresh, pause_s
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._asked = 0.0
        self._is_closed = False

    def asked(self) -> None:
        """Somebody has asked, and may do so again."""
        with self._lock:
            self._asked = time.monotonic()
            if not self._is_closed and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ahead", daemon=False)
                self._thread.start()

    def close(self) -> None:
        """Ends the thread at its next step; does not wait for it."""
        with self._lock:
            self._is_closed = True

    def _run(self) -> None:
        try:
            self._keep()
        except Exception:  # no question is the worse for it, and the next one begins anew
            log.exception("nothing is brought up to date before it is asked about")
        finally:
            with self._lock:
                self._thread = None

    def _keep(self) -> None:
        pause_s = self._pause_s()
        if not pause_s:
            self.close()
        took_s = 0.0
        while self._goes_on():
            if not self._stirs(_STEP_S):
                continue
            paths = self._changed()
            while paths and not self._rests(max(pause_s, took_s * REST_SHARE)):
                paths = self._changed() if self._goes_on() else ()
            if paths:
                begun = time.monotonic()
                self._refresh(paths)
                took_s = time.monotonic() - begun

    def _rests(self, long_s: float) -> bool:
        """Whether nothing stirs for so long."""
        until = time.monotonic() + long_s
        while (left_s := until - time.monotonic()) > 0:
            if not self._goes_on() or self._stirs(min(_STEP_S, left_s)):
                return False
        return self._goes_on()

    def _goes_on(self) -> bool:
        with self._lock:
            is_asked = time.monotonic() - self._asked < ASKED_S
            return is_asked and not self._is_closed and threading.main_thread().is_alive()
