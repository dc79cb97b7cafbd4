"""How much of the processor the reading of one text may take: a grammar that takes squares of a text cannot be told to stop (ADR 0041).

It is counted as time of the processor, so a busy machine takes nothing away, and the kernel ends the process where it is over: no code of
Python runs while a grammar reads. The parent knows by the signal that this is why, and by the last `Reading` of what.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator

from indexer.crawl.messages import OUT_OF_PROCESSOR

_BASE_S, _LEAST_S = 8.0, 1.0
_PER_MB_S, _LEAST_PER_MB_S = 40.0, 20.0
"""The slowest real text that was measured took 5.2 s for each MB, and half a second for less than that (ADR 0041)."""


def allowed_s(size_bytes: int, most_s: float, hung: int = 0) -> float:
    """Seconds of the processor for a text of so many bytes; 0 is no limit.

    Args:
        most_s: `max_file_s`; 0 is no limit.
        hung: documents of this run that took more than they were allowed. Each halves what the next ones get, down to what is still
            four times the slowest real text.
    """
    base, for_each = max(_LEAST_S, _BASE_S / 2**hung), max(_LEAST_PER_MB_S, _PER_MB_S / 2**hung)
    return min(most_s, base + for_each * size_bytes / 1e6)


@contextlib.contextmanager
def bounded(seconds: float) -> Generator[None]:
    """Within it this process, all its threads together, may take so much of the processor; then it ends. 0 is no limit."""
    signal.signal(OUT_OF_PROCESSOR, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
