"""Runs a test suite under a profiler and writes which functions of a repository called which: a process of the package's own environment.

`python trace_run.py OUT ROOT MOST argument …`: the functions of the files below ROOT, at most MOST tests, drawn evenly from all in their
order, by pytest with the arguments; if the first argument is a script, that runs with the others, and MOST says nothing. OUT is written as
JSON:

- functions: [path below ROOT, qualified name, first line, whether it is a generator or a coroutine], callers and callees, 1-based;
- edges: [caller, place, callee, what was between]: numbers of functions and of places, and "", "library" or "generated" (code of no file);
- places: [line, end line, column, end column] of the expression that calls, lines from 1, columns in UTF-8 from 0;
- ran: [caller, place] of calls that led elsewhere;
- status: what pytest ended with.

Python tells of a generator when it is resumed first, not when it is called, so its caller is who resumes it.
"""

from __future__ import annotations

import inspect
import json
import os
import runpy
import sys
import threading
from types import CodeType, FrameType
from typing import Any

import pytest

_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Trace:
    """What was seen so far, by code objects and offsets of instructions; `profile` is told each call."""

    def __init__(self, root: str) -> None:
        self._root = os.path.join(os.path.realpath(root), "")
        self._inside: dict[str, str] = {}  # by name of a file as code has it: its path below the root, "" for others
        self._edges: dict[tuple[CodeType, int, CodeType, str], None] = {}
        self._ran: dict[tuple[CodeType, int], None] = {}

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            if self.path(frame.f_code):
                self._ran[frame.f_code, frame.f_lasti] = None
        elif event == "call":
            self._call(frame)

    def path(self, code: CodeType) -> str:
        """Its file below the root; "" for what is not there."""
        known = self._inside.get(code.co_filename)
        if known is None:
            place = os.path.realpath(code.co_filename)
            known = self._inside[code.co_filename] = (
                place[len(self._root) :] if place.startswith(self._root) and place.endswith(".py") and os.path.isfile(place) else ""
            )
        return known

    def _call(self, frame: FrameType) -> None:
        code, before = frame.f_code, frame.f_back
        if before is None:
            return
        caller = before
        if not self.path(code) or not _is_named(code):
            if self.path(caller.f_code) and not self.path(code):
                self._ran[caller.f_code, caller.f_lasti] = None
            return
        between = ""
        while not self.path(caller.f_code):
            if caller.f_code.co_filename[-3:] != ".py" and not caller.f_code.co_filename.startswith("<frozen "):
                between = "generated"
            if caller.f_back is None:
                return
            caller = caller.f_back
        between = between or ("library" if caller is not before else "")
        self._edges[caller.f_code, caller.f_lasti, code, between] = None

    def told(self) -> dict[str, Any]:
        functions: dict[CodeType, int] = {}
        places: dict[tuple[int, ...], int] = {}

        def function(code: CodeType) -> int:
            return functions.setdefault(code, len(functions))

        def place(code: CodeType, offset: int) -> int:
            line, end_line, col, end_col = list(code.co_positions())[max(0, offset) // 2]
            known = (line or code.co_firstlineno, end_line or line or code.co_firstlineno, col or 0, end_col or 0)
            return places.setdefault(known, len(places))

        edges = [[function(a), place(a, offset), function(b), between] for a, offset, b, between in tuple(self._edges)]
        ran = [[function(code), place(code, offset)] for code, offset in tuple(self._ran)]
        rows = [[self.path(code), code.co_qualname, code.co_firstlineno, bool(code.co_flags & _LATER)] for code in functions]
        return {"functions": rows, "edges": edges, "places": [list(item) for item in places], "ran": ran}


def _is_named(code: CodeType) -> bool:
    """A function with a name: no module, class body, lambda or comprehension."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_qualname.endswith(">")


class Drawn:
    """A plugin of pytest: so many tests of all."""

    def __init__(self, most: int) -> None:
        self._most = most

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        step = -(-len(items) // self._most)
        if step > 1:
            items[:] = items[::step]


def _script(arguments: list[str]) -> int:
    """A runner of the package's own; what it exits with."""
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def main() -> None:
    out, root, most, *arguments = sys.argv[1:]
    trace = Trace(root)
    threading.setprofile(trace.profile)
    sys.setprofile(trace.profile)
    try:
        status = _script(arguments) if arguments[0].endswith(".py") else pytest.main(arguments, plugins=[Drawn(int(most))])
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # pyright: ignore[reportArgumentType]  # as its documentation says
    with open(out, "w", encoding="utf-8") as file:
        json.dump({**trace.told(), "status": int(status)}, file)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # what a suite left behind, such as threads, may keep an interpreter from ending
