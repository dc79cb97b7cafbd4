"""Runs the cases of a file of JSON under a profiler and prints which of their functions called which: a process of its own for `test_flow`.

Input: {name: source}. Output: {name: [[caller, callee]]}, by dotted names within the case; the module itself is "".
What a comprehension, a generator expression or a lambda calls, the function around it calls; they are nobody's callee.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from types import FrameType
from typing import Any

_INNER = re.compile(r"(?:\.<locals>)?\.?<(?:lambda|listcomp|setcomp|dictcomp|genexpr|module)>.*$")


def _name(qualified: str) -> str:
    return _INNER.sub("", qualified).replace(".<locals>", "")


def calls_of(name: str, source: str) -> list[list[str]]:
    path = f"<{name}>"
    found: set[tuple[str, str]] = set()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        is_function = bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_qualname.endswith(">")  # no module, no class body
        if event != "call" or code.co_filename != path or not is_function:
            return
        around = frame.f_back
        while around is not None and around.f_code.co_filename != path:
            around = around.f_back
        if around is not None:
            found.add((_name(around.f_code.co_qualname), _name(frame.f_code.co_qualname)))

    code = compile(source, path, "exec")
    space = {"__name__": name}
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__dict__.update(space)
    sys.setprofile(profile)
    try:
        exec(code, sys.modules[name].__dict__)
    finally:
        sys.setprofile(None)
    return sorted([caller, callee] for caller, callee in found)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as cases:
        print(json.dumps({name: calls_of(name, source) for name, source in json.load(cases).items()}))
