"""Writes what is made from declarations and data: the Python functions in `query/api.py`, `query/doc/tools.md`, `query/doc/live.md`, and
the protocol's names and shapes in `indexer/lsp`.

`python -m query.surface.generate` writes them; with `--check` it exits with 1 where one is not what it should be.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from indexer.lsp import generate as protocol
from query.live import matrix
from query.surface import manual
from query.surface.registry import Tool, load, names

API = Path(__file__).parent.with_name("api.py")

_HEAD = '''"""The tools as functions: `callers = api.find_callers(index, "Flask.route", depth=2)`.

Made from the declarations in `query/tools` by `python -m query.surface.generate`; do not edit. Each takes an open index, the parameters of
the tool, and gives the whole answer: `result`, `total`, `completeness`, `provenance`. Errors are those of `indexer.errors`: UsageError
for arguments that do not fit, NameNotFound and AmbiguousName for names.
"""

from __future__ import annotations

from typing import {typing}
'''

_MAX_LINE = 140


def python_api() -> str:
    """The text of `query/api.py`."""
    tools = [load(name)[0] for name in names()]
    imports: dict[str, set[str]] = {
        "query.answers.envelope": {"Answer"},
        "query.facts.index": {"Index"},
        "query.surface.registry": {"call"},
    }
    functions = [_function(tool, imports) for tool in tools]
    used = ", ".join(name for name in ("Any", "Literal") if any(re.search(rf"\b{name}\b", text) for text in functions))
    lines = [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(imports.items())]
    return "\n".join([_HEAD.format(typing=used), *lines, "", "", "\n\n\n".join(functions), ""])


def _function(tool: Tool, imports: dict[str, set[str]]) -> str:
    hints = get_type_hints(tool.parameters, include_extras=True)
    plain = tool.parameters()
    positional = tool.positional.split()
    ordered = [*positional, *(name for name in tool.parameters.__struct_fields__ if name not in positional)]
    words = ["index: Index" if tool.needs_index else "index: Index | None"]
    for name in ordered:
        if name == next((item for item in ordered if item not in positional), None):
            words.append("*")
        kind = _type(_bare(hints[name]), imports)
        default = getattr(plain, name)
        if isinstance(default, (list, dict)):
            words.append(f"{name}: {kind} | None = None")
        else:
            words.append(f"{name}: {kind} = {default!r}".replace("'", '"'))
    empty = {name: repr(default) for name in ordered if isinstance(default := getattr(plain, name), (list, dict))}
    result = _type(tool.result, imports)
    described = [f"        {name}: {_description(hints[name])}" for name in ordered if _description(hints[name])]
    arguments = ", ".join(f'"{name}": {name}' + (f" or {empty[name]}" if name in empty else "") for name in ordered)
    body = [
        f"def {tool.name}({', '.join(words)}) -> Answer[{result}]:",
        f'    """{tool.description}',
        "",
        *(["    Args:", *(line for item in described for line in _wrapped(item))] if described else []),
        '    """',
        f'    return call(index, "{tool.name}", {{{arguments}}})',
    ]
    return "\n".join(body)


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, _MAX_LINE, initial_indent="", subsequent_indent=" " * 12, break_on_hyphens=False)


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _description(hint: Any) -> str:
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((extra.description for extra in extras if isinstance(extra, msgspec.Meta) and extra.description), "")


def _type(hint: Any, imports: dict[str, set[str]]) -> str:
    """A type as it is written; records are imported from the module that they are in."""
    hint, origin = _bare(hint), get_origin(hint)
    if origin is Literal:
        return f"Literal[{', '.join(repr(value) for value in get_args(hint))}]".replace("'", '"')
    if origin in (Union, types.UnionType):
        return " | ".join(_type(item, imports) for item in get_args(hint))
    if origin is not None:
        return f"{origin.__name__}[{', '.join(_type(item, imports) for item in get_args(hint))}]"
    if hint is None or hint is type(None):
        return "None"
    if hint is not Any and hint.__module__ != "builtins":
        imports.setdefault(hint.__module__, set()).add(hint.__name__)
    return "Any" if hint is Any else hint.__name__


def formatted(code: str) -> str:
    """In the house's format."""
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if ruff is None:
        raise SystemExit("ruff is needed to write query/api.py; to get it: make setup")
    command = [ruff, "format", "--quiet", "--stdin-filename", str(API), "-"]
    return subprocess.run(command, input=code, capture_output=True, check=True, encoding="utf-8").stdout


def _of_protocol() -> dict[Path, str]:
    return {path: formatted(text) for path, text in protocol.texts().items()}


def _of_tools() -> dict[Path, str]:
    return {API: formatted(python_api()), manual.DOCUMENT: manual.document(), matrix.DOCUMENT: matrix.document()}


def main() -> None:
    stale: list[str] = []
    for make in (_of_protocol, _of_tools):  # the tools, when they are loaded, find the names that they use
        for path, text in make().items():
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                continue
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        raise SystemExit(f"not as declared: {', '.join(stale)}; to write again: make docs")


if __name__ == "__main__":
    main()
