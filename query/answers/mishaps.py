"""What is said of an error that nobody foresaw: what the disk or the memory did, else that it is a defect, and where all about it is."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
from pathlib import Path

from indexer import plain_files
from indexer.errors import Bug, LspidxError, UsageError, storage_failure
from indexer.quoting import visible
from indexer.store.generations import FOLDER, Home


def explained(error: BaseException, start: Path | None = None) -> LspidxError:
    """An error that says what to do; of a defect, everything that is known is written to a file first.

    Args:
        start: a folder of the workspace, whose log that is; default: the current one.
    """
    if isinstance(error, LspidxError):
        return error
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, MemoryError) or type(at).__name__ == "OutOfMemoryException":
            return UsageError(f"there is not enough memory for this: {_one_line(at) or 'none was left'}; ask for less, or give more")
        at = at.__cause__ or at.__context__
    storage = storage_failure(error)
    if storage is not None:
        return storage
    said = f"internal error: {type(error).__name__}: {_one_line(error)}"
    written = _written("".join(traceback.format_exception(error)), start)
    if written is None:
        return Bug(f"{said}; this is a defect of lspidx, please report it with what LSPIDX_TRACEBACK=1 prints")
    return Bug(f"{said}; this is a defect of lspidx, please report it with the end of {written}")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:500]


def _written(text: str, start: Path | None) -> Path | None:
    """The file with the traceback: the workspace's log, else one of its own; printed too where LSPIDX_TRACEBACK is set."""
    if os.environ.get("LSPIDX_TRACEBACK"):
        sys.stderr.write(visible(text))
    with contextlib.suppress(OSError):
        here = (start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            file = Home(folder).log_file
            if (folder / FOLDER).is_dir() and file.is_file() and not file.is_symlink():
                with os.fdopen(plain_files.open_to_append(file), "a", encoding="utf-8", errors="backslashreplace") as log:
                    log.write(visible(text))
                return file
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="lspidx-defect-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        return Path(name)
    return None
