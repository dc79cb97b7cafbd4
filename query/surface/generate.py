"""Writes what is made from declarations and data: the signatures in `query/api.pyi`, `query/doc/tools.md`, `query/doc/live.md`, and the
protocol's names and shapes in `indexer/lsp`.

`python -m query.surface.generate` writes them; with `--check` it exits with 1 where one is not what it should be.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from indexer.lsp import generate as protocol
from query.live import matrix
from query.surface import function, manual
from query.surface.registry import Tool, load, names

STUB = Path(__file__).parent.with_name("api.pyi")

_HEAD = '''"""The signatures of the functions that `query.api` makes of the tools, for editors and type checkers.

Made from the declarations in `query/tools` by `python -m query.surface.generate`; do not edit.
"""

from typing import {typing}
'''


def python_api() -> str:
    """The text of `query/api.pyi`."""
    imports: dict[str, set[str]] = {}
    functions = [_declared(tool, imports) for tool in (load(name)[0] for name in names())]
    used = ", ".join(name for name in ("Any", "Literal") if any(re.search(rf"\b{name}\b", text) for text in functions))
    lines = [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(imports.items())]
    return "\n".join([_HEAD.format(typing=used), *lines, "", "", "\n\n\n".join(functions), ""])


def _declared(tool: Tool, imports: dict[str, set[str]]) -> str:
    signature = function.signature(tool)
    words: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"')
        words.append(f"{parameter.name}: {_type(parameter.annotation, imports)}{default}")
    result = _type(signature.return_annotation, imports)
    return f'def {tool.name}({", ".join(words)}) -> {result}:\n    """{function.documentation(tool)}"""\n'


def _type(hint: Any, imports: dict[str, set[str]]) -> str:
    """A type as it is written; records are imported from the module that they are in."""
    origin = get_origin(hint)
    if origin is Literal:
        return f"Literal[{', '.join(repr(value) for value in get_args(hint))}]".replace("'", '"')
    if origin in (Union, types.UnionType):
        return " | ".join(_type(item, imports) for item in get_args(hint))
    if origin is not None:
        return f"{_type(origin, imports)}[{', '.join(_type(item, imports) for item in get_args(hint))}]"
    if hint is None or hint is type(None):
        return "None"
    if hint is not Any and hint.__module__ != "builtins":
        imports.setdefault(hint.__module__, set()).add(hint.__name__)
    return "Any" if hint is Any else hint.__name__


def formatted(code: str, path: Path) -> str:
    """In the house's format, which is another one for a stub."""
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if ruff is None:
        raise SystemExit("ruff is needed to write Python; to get it: make setup")
    command = [ruff, "format", "--quiet", "--stdin-filename", str(path), "-"]
    return subprocess.run(command, input=code, capture_output=True, check=True, encoding="utf-8").stdout


def _of_protocol() -> dict[Path, str]:
    return {path: formatted(text, path) for path, text in protocol.texts().items()}


def _of_tools() -> dict[Path, str]:
    return {STUB: formatted(python_api(), STUB), manual.DOCUMENT: manual.document(), matrix.DOCUMENT: matrix.document()}


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
