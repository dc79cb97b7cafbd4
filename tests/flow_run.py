"""Runs the cases of a file of JSON under a profiler and prints which of their functions called which: a process of its own for `test_flow`.

Input: {name: source}, or {name: {path: source}} for a package of that name, of which the module `main` is imported.
Output: {name: [[caller, callee]]}, by dotted names within the case; the module itself is "", and so is `main` of a package.
What a comprehension, a generator expression or a lambda calls, the function around it calls; they are nobody's callee.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

_INNER = re.compile(r"(?:\.<locals>)?\.?<(?:lambda|listcomp|setcomp|dictcomp|genexpr|module)>.*$")


def _name(qualified: str) -> str:
    return _INNER.sub("", qualified).replace(".<locals>", "")


def _name_in(module: str, qualified: str) -> str:
    return ".".join(filter(None, (module, _name(qualified))))


def _traced(modules: Mapping[str, str], run: Callable[[], object]) -> list[list[str]]:
    """Who calls whom while `run` runs. `modules`: by file name, the dotted name of each that counts."""
    found: set[tuple[str, str]] = set()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        is_function = bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_qualname.endswith(">")  # no module, no class body
        if event != "call" or code.co_filename not in modules or not is_function:
            return
        around = frame.f_back
        while around is not None and around.f_code.co_filename not in modules:
            around = around.f_back
        if around is not None:
            names = [_name_in(modules[item.f_code.co_filename], item.f_code.co_qualname) for item in (around, frame)]
            found.add((names[0], names[1]))

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return sorted([caller, callee] for caller, callee in found)


def calls_of(name: str, source: str) -> list[list[str]]:
    path = f"<{name}>"
    code = compile(source, path, "exec")
    space = {"__name__": name}
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__dict__.update(space)
    return _traced({path: ""}, lambda: exec(code, sys.modules[name].__dict__))


def calls_of_package(name: str, files: Mapping[str, str]) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        modules: dict[str, str] = {}
        for file, source in files.items():
            path = Path(folder, name, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
            module = ".".join(path.relative_to(Path(folder, name)).with_suffix("").parts)
            modules[str(path)] = module.removesuffix("__init__").removesuffix(".") if module != "main" else ""
        sys.path.insert(0, folder)
        try:
            return _traced(modules, lambda: import_module(f"{name}.main"))
        finally:
            sys.path.remove(folder)


def _calls(name: str, case: str | Mapping[str, str]) -> list[list[str]]:
    return calls_of(name, case) if isinstance(case, str) else calls_of_package(name, case)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as cases:
        print(json.dumps({name: _calls(name, case) for name, case in json.load(cases).items()}))
