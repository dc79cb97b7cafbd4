"""Folders that tests say imports start from, beside those of the project: in pytest's settings, and where a `conftest.py` adds them.

Read as data: settings as TOML and INI, `conftest.py` by its syntax, as far as a path is made of `__file__` and constants. What only
running it could tell (a temporary folder, the current one) is left out.
"""

from __future__ import annotations

import ast
import configparser
import posixpath
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from indexer.python_manifests import Manifest, read_text, strings, table

_SAME = frozenset({"abspath", "realpath", "normpath", "fspath", "str", "Path", "PurePath", "resolve", "absolute"})
"""Calls of these names give the path that they are given, or taken of."""

_JOINS = frozenset({"join", "Path", "PurePath"})
_OF_FIRST = _SAME | _JOINS | {"dirname"}

_SETTINGS = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest"}
"""Files with settings of pytest, and the section; those of pyproject.toml and setup.cfg are in the manifests."""


def added_folders(root: Path, paths: Iterable[str], manifests: Sequence[Manifest]) -> list[str]:
    """Folders relative to `root`, in the order in which they are found; none that leads out of it.

    Args:
        paths: files of the workspace, relative to `root`.
    """
    found: list[str | None] = []
    for item in manifests:
        said = strings(table(item.pyproject, "tool", "pytest", "ini_options").get("pythonpath"))
        said += strings(table(item.pyproject, "tool", "pytest").get("pythonpath"))
        said += item.config.get("tool:pytest", {}).get("pythonpath", "").split()
        found += [_joined(item.folder, text) for text in said]
    for path in sorted(path for path in paths if path.endswith(("conftest.py", ".ini"))):
        folder, _, name = path.rpartition("/")
        if name in _SETTINGS:
            found += [_joined(folder, text) for text in _setting(read_text(root / path), _SETTINGS[name]).split()]
        elif name == "conftest.py":
            found += _of_conftest(read_text(root / path), path)
    return [folder for folder in dict.fromkeys(found) if folder is not None]


def _setting(text: str, section: str) -> str:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
        return parser.get(section, "pythonpath", fallback="")
    except (configparser.Error, ValueError):
        return ""


def _of_conftest(text: str, path: str) -> Iterator[str | None]:
    if "path" not in text:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a text that is not ours
            tree = ast.parse(text)
        nodes = list(ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    targets = [
        (target.id, node.value) for node in nodes if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)
    ]
    times = Counter(name for name, _ in targets)
    known = {name: value for name, value in targets if times[name] == 1}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            place = _place_of_path(node.func)
            if place is not None and len(node.args) > place:
                yield _evaluated(node.args[place], path, known, 0)


def _place_of_path(callee: ast.Attribute) -> int | None:
    """Which argument is a folder for imports: of `sys.path.insert`, `sys.path.append`, `monkeypatch.syspath_prepend`."""
    if callee.attr == "syspath_prepend":
        return 0
    match callee.value:
        case ast.Attribute(value=ast.Name(id="sys"), attr="path"):
            return {"insert": 1, "append": 0}.get(callee.attr)
        case _:
            return None


_MOST_DEPTH = 30


def _evaluated(node: ast.expr, path: str, known: dict[str, ast.expr], depth: int) -> str | None:
    """The path that an expression gives, relative to the workspace; None where the text does not tell or it leads out."""
    if depth > _MOST_DEPTH:
        return None

    def inner(expression: ast.expr) -> str | None:
        return _evaluated(expression, path, known, depth + 1)

    match node:
        case ast.Name(id="__file__"):
            return path
        case ast.Name(id=name) if name in known:
            return inner(known[name])
        case ast.Attribute(value=value, attr="parent"):
            return _joined(inner(value), "..")
        case ast.Subscript(value=ast.Attribute(value=value, attr="parents"), slice=ast.Constant(value=int(number))):
            return _joined(inner(value), "../" * (number + 1)) if 0 <= number < _MOST_DEPTH else None
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _joined(inner(left), _text(right))
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=str(text))) if text.startswith("/"):
            return _joined(inner(left), text.lstrip("/"))
        case ast.JoinedStr(values=[ast.FormattedValue(value=left), ast.Constant(value=str(text))]) if text.startswith("/"):
            return _joined(inner(left), text.lstrip("/"))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *rest]) if name in _OF_FIRST:
            return _joined(inner(first), *(map(_text, rest) if name in _JOINS else [".." if name == "dirname" else "."]))
        case ast.Call(func=ast.Attribute(value=value, attr="joinpath"), args=[*parts]):
            return _joined(inner(value), *map(_text, parts))
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _SAME:
            return inner(value)
        case _:
            return None


def _text(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Attribute(attr="pardir"):
            return ".."
        case _:
            return None


def _joined(base: str | None, *parts: str | None) -> str | None:
    """Below or above a folder of the workspace; None where that is not known, or leads out."""
    texts = [part for part in parts if part is not None]
    if base is None or len(texts) < len(parts) or any(text.startswith(("/", "\\")) for text in texts):
        return None
    whole = posixpath.normpath(posixpath.join(base, *texts))
    return None if whole == ".." or whole.startswith("../") else "" if whole == "." else whole
