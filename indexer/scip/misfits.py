"""Which files a file of SCIP cannot answer for, told by a process of its own: `python -I -m indexer.scip.misfits FILE ROOT`.

It reads paths as a list of JSON on stdin, and prints those that the file has no document of, or one about another text, and those that
lead into such a text: what they name there has no place any more. Another server can then be asked about them from the start.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from indexer.scip.limits import TAKES_TOO_MUCH, limit_memory, limit_processor, printed_apart
from indexer.scip.reader import Refused

_MOST_REASON = 300


def misfits(file: Path, root: Path, paths: Sequence[str]) -> Mapping[str, str]:
    """By path, in their order, why the file does not say all of its text.

    Raises:
        Refused: the file cannot be read, or takes more than it may.
    """
    try:
        printed = printed_apart("indexer.scip.misfits", [str(file), str(root)], msgspec.json.encode(list(paths)))
        found = msgspec.json.decode(printed, type=dict[str, str])
    except msgspec.DecodeError as error:
        raise Refused(TAKES_TOO_MUCH) from error
    return {path: found[path] for path in paths if path in found}


def _misfits(file: str, root: str, paths: Sequence[str]) -> dict[str, str]:
    from indexer.scip.answers import Answers
    from indexer.scip.fits import Misfit

    answers, leading, why = Answers(Path(file), Path(root)), dict[str, set[str]](), dict[str, str]()
    for path in paths:
        try:
            leading[path] = answers.leads_to(path)
        except Misfit as error:
            why[path] = str(error)[:_MOST_REASON]
    for other in sorted(set[str]().union(*leading.values()) - leading.keys() - why.keys()):  # what is not crawled, or not there any more
        try:
            answers.document(other)
        except Misfit as error:
            why[other] = str(error)[:_MOST_REASON]
    found = {path: why[path] for path in paths if path in why}
    changed = {path for path in why if answers.has(path)}
    for path, others in leading.items():
        if into := min(others & changed, default=""):
            found[path] = f"it leads into {into}"[:_MOST_REASON]
    return found


def main(file: str, root: str) -> None:
    """Prints what does not fit; nothing where the file cannot be read."""
    limit_memory()
    limit_processor()
    paths = msgspec.json.decode(sys.stdin.buffer.read(), type=list[str])
    with contextlib.suppress(Refused, OSError, MemoryError):
        said = msgspec.json.encode(_misfits(file, root, paths))
        with os.fdopen(1, "wb", closefd=False) as out:
            out.write(said)


if __name__ == "__main__":
    main(*sys.argv[1:3])
