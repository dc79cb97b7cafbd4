"""Where values go within one file: what is bound, handed over, given back, stored and taken out again, by syntax alone.

Each expression that may hold a function, a class, an object or a container of such becomes a row, and so does what takes its value; a row
says how many rows before it stands what takes it. Constants, comparisons and arithmetic hold none of these and have no rows. What the rows
mean for a whole workspace is worked out when the facts of all files are merged (`indexer.store.flow`).

Bodies are read in the order of their text, each behind a row ENTER. While one is read, `_env` says which assignment alone reaches the
place, so that `x = f; x(); x = g; x()` calls one of them each time. Where branches meet with different assignments, all of them count.

Deliberately does not know: what names mean, other files. What is nested too deeply, or too long, is left out and marked by a row CUT.
"""

from __future__ import annotations

from typing import Any

from indexer.syntax.model import Flows
from indexer.syntax.python.flow.statements import FlowReader
from indexer.syntax.python.record import Recorder


def read(walk: Recorder, root: Any) -> Flows:
    """Rows of a file whose names are resolved."""
    return FlowReader(walk).read(root)
