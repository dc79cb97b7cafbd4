"""How much of the processor the reading of one text may take: a grammar that takes squares of a text cannot be told to stop (ADR 0041).

It is counted as time of the processor, so a busy machine takes nothing away, and the kernel ends the process where it is over: no code of
Python runs while a grammar reads. A crawl's workers read so, and their parent knows by the signal why one has ended. Whoever reads a text
that no crawl has read yet, and must live on, has it tried apart first (`too_slow`).
"""

from __future__ import annotations

import contextlib
import math
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from typing import NamedTuple

import msgspec

from indexer.errors import Bug

OUT_OF_PROCESSOR = signal.SIGPROF
"""What ends a process that takes more of the processor for the text that it reads than it may."""

_BASE_S, _LEAST_S = 8.0, 0.3
_PER_MB_S, _LEAST_PER_MB_S = 40.0, 20.0
"""The slowest real text that was measured took 5.2 s for each MB (ADR 0041). What a language's first text takes to load the grammar and its
queries, half a second, is in the first of the two figures; whoever allows less has that done before."""


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


# ---- apart


class Text(NamedTuple):
    """Of a file: its language by LSP id, its path, which tells variants of a language, and its bytes in UTF-8."""

    language: str
    path: str
    source: bytes


_SHORT_BYTES, _MANY_BYTES = 8_000, 64_000
"""Texts of less than that take a second or two at worst. So many together are tried all the same."""


def too_slow(texts: Sequence[Text], most_s: float = math.inf) -> set[int]:
    """Numbers of the texts that no parser of ours reads in a time that fits their size, or that end a process which reads them.

    One process more is started, for all of them; none where all are short.

    Args:
        most_s: seconds of the processor that none may take, whatever its size.
    """
    in_sum = sum(len(text.source) for text in texts)
    doubtful = [number for number, text in enumerate(texts) if len(text.source) > _SHORT_BYTES or in_sum > _MANY_BYTES]
    found: set[int] = set()
    while doubtful:
        given = msgspec.msgpack.encode((most_s, len(found), [texts[number] for number in doubtful]))
        done = subprocess.run([sys.executable, "-I", "-m", __name__], input=given, stdout=subprocess.PIPE, check=False)
        read = done.stdout.count(b"\n")
        if done.returncode > 0:
            raise Bug(f"the process that reads texts apart ended with {done.returncode}")
        if done.returncode < 0 and read < len(doubtful):
            found.add(doubtful[read])
        doubtful = doubtful[read + 1 :] if done.returncode < 0 else []
    return found


def _try() -> None:
    """Reads the texts that stdin holds, for nothing, and says so of each; ends at one that takes too long."""
    from indexer import syntax

    most_s, hung, texts = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=tuple[float, int, list[Text]])
    for language, path in {text.language: text.path for text in texts}.items():
        syntax.parse(language, path, b"", "")  # which loads what it reads by
    for text in texts:
        with bounded(allowed_s(len(text.source), most_s, hung)):
            syntax.parse(text.language, text.path, text.source, "")
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _try()
