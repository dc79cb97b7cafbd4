"""A process of its own for whoever reads a file of SCIP, and how much memory and processor time it may take.

The file may be made to crash or to flood its reader.
"""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
from collections.abc import Sequence

from indexer.scip.reader import Refused

_MOST_BYTES = 4 << 30
"""Whoever has started it may allow less."""

_PROCESSOR_S = 600
_MOST_PRINTED = 1 << 26
TAKES_TOO_MUCH = "it takes more time or memory than is allowed"


def printed_apart(module: str, words: Sequence[str], said: bytes = b"") -> bytes:
    """What a module of ours prints, run by a process of its own with these words, that is told `said` on stdin.

    Raises:
        Refused: it takes more time than is allowed.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-m", module, *words],
            input=said,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=2 * _PROCESSOR_S,
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise Refused(TAKES_TOO_MUCH) from error
    return done.stdout[:_MOST_PRINTED]


def limit_memory() -> None:
    """What a file is made to take ends this process before it takes the machine."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES if hard == resource.RLIM_INFINITY else min(_MOST_BYTES, hard), hard))


def limit_processor() -> None:
    """The same of its processor time."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_S, _PROCESSOR_S + 1))
