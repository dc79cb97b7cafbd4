"""A command's output: its lines for the readers, a file with all of it, head and tail for the answer."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from indexer import plain_files
from query.toolchain.diagnostics import plain
from query.toolchain.start import Finished

HEAD_CHARS = 2_000
TAIL_CHARS = 6_000
"""Of the output in an answer; what failed stands at the end."""

_MAX_LINE_BYTES = 8 << 20
_KEPT_LOGS = 20


def lines_of(path: Path) -> Iterator[str]:
    """Lines without their ends; of a line without end, pieces. What is no UTF-8 is replaced."""
    with path.open("rb") as file:
        while line := file.readline(_MAX_LINE_BYTES):
            yield line.decode("utf-8", "replace").rstrip("\r\n")


def write_log(commands: Sequence[Sequence[str]], done: Sequence[Finished], home: Path | None, name: str) -> Path:
    """A new file that only this user can read, with the commands and all that was kept of their output; the newest are kept."""
    folder: Path | None = None
    if home is not None:
        folder = home / "runs"
        try:
            plain_files.make_folder(home)
            plain_files.make_folder(folder)
        except OSError:  # a read-only checkout
            folder = None
    prefix = re.sub(r"\W+", "-", name)
    handle, path = tempfile.mkstemp(prefix=f"{'' if folder else 'lspidx-'}{prefix}-", suffix=".log", dir=folder)
    with os.fdopen(handle, "wb") as log:
        for command, finished in zip(commands, done, strict=False):
            log.write(f"$ {' '.join(command)}\n".encode())
            for part in (finished.stdout, finished.stderr):
                with part.open("rb") as file:
                    while data := file.read(1 << 20):
                        log.write(data)
            log.write(f"\n[{'ended' if finished.exit_code is None else f'exit code {finished.exit_code}'}]\n".encode())
    if folder is not None:
        for old in sorted(folder.glob("*.log"), key=lambda file: file.stat().st_mtime_ns)[:-_KEPT_LOGS]:
            old.unlink(missing_ok=True)
    return Path(path)


def excerpt(log: Path) -> str:
    """The beginning and the end of a log, without escape sequences."""
    with log.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= HEAD_CHARS + TAIL_CHARS:
            return plain(file.read().decode("utf-8", "replace"))
        head = file.read(HEAD_CHARS).decode("utf-8", "replace")
        file.seek(size - TAIL_CHARS)
        tail = file.read().decode("utf-8", "replace")
    return f"{plain(head)}\n… {size - HEAD_CHARS - TAIL_CHARS} bytes left out …\n{plain(tail)}"
