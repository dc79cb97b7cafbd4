"""A language server of Java that answers from what the JDK's compiler says: `python -I -m indexer.jvm.server JAVAC --root=… …`.

As soon as it may it compiles, as a process of its own within the same fence, and says how far that is; then all is answered from a file of
SCIP, as by `indexer.scip.server`. It says what is true of the texts on disk at that time.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from indexer.errors import ServerProtocolError
from indexer.jvm.classes import Archives
from indexer.jvm.compile import compile_all
from indexer.jvm.plan import Plan
from indexer.jvm.written import write_index
from indexer.scip.answers import Answers
from indexer.scip.limits import limit_memory
from indexer.scip.server import Server, answer, tell

_HEAP_PERCENT = 75
_MEGABYTE = 1_000_000
_HEAP_MB = 2_000
_SAY_EVERY_S = 0.5
_WORK = "compiling"


class _Told(argparse.Namespace):
    javac: str
    root: str
    scratch: str
    plan: str
    memory: int


class _Progress:
    """How far the compiler is, for who waits for it."""

    def __init__(self) -> None:
        self._next = 0.0

    def say(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SAY_EVERY_S
            _report("report", message=f"{done}/{total} files")


def _report(kind: str, **more: str) -> None:
    tell("$/progress", {"token": _WORK, "value": {"kind": kind, **more}})


def _make_and_say(told: _Told) -> Answers:
    _report("begin", title="Compiling")
    try:
        return _make(told)
    finally:
        _report("end")


def _make(told: _Told) -> Answers:
    plan = msgspec.json.decode(Path(told.plan).read_bytes(), type=Plan)
    root = Path(told.root)
    heap = told.memory * _HEAP_PERCENT // 100 // _MEGABYTE or _HEAP_MB
    files = [str(root / path) for path in plan.files]
    with tempfile.TemporaryDirectory(prefix="java-", dir=told.scratch) as folder:  # an open file stays readable
        out = Path(folder) / "index.scip"
        written = compile_all(told.javac, files, plan.class_path, Path(folder), heap, _Progress().say)
        write_index(written, root, Archives(plan.class_path), out, ("the compiler", "on the disk"))
        limit_memory()
        return Answers(out, root)


def main(arguments: Sequence[str]) -> None:
    """Answers what comes on stdin until it ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("javac")
    for name in ("root", "scratch", "plan"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--memory", type=int, default=0)
    told = parser.parse_args(arguments, namespace=_Told())
    answer(Server(None, "", Path(told.root), make=lambda: _make_and_say(told)))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError, ServerProtocolError):
        main(sys.argv[1:])
