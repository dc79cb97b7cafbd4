"""What a repository's Python project files say of themselves: names, folders that imports start from, the Python they are for.

Read as data: TOML, INI, and `setup.py` by its syntax. Nothing of a repository is executed; what only running it could tell is left out.
"""

from __future__ import annotations

import ast
import configparser
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from indexer.encoding import open_plain, read_toml

PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_MOST_BYTES = 2_000_000
_ABOUT = re.compile(r"(?:^|/)(?:__version__|__about__|__init__|_version|version|about|metadata|__pkginfo__)\.py\Z")
"""Files that a `setup.py` usually takes its name from."""

_ABOUT_DEPTH = 3
_ABOUT_MOST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the project files of one folder say.

    folder: relative to the workspace, empty for its root. name: normalised as PEP 503 wants it, empty where no file has one that can be
    read. requires_python: the specifier. import_roots: folders, relative to the workspace, that the build says packages lie in.
    is_package: whether the folder has an `__init__.py`: then it is no folder that imports start from, whatever project files it has.
    parsed: the contents of pyproject.toml, setup.cfg (sections) and of the call in setup.py.
    """

    folder: str
    name: str
    requires_python: str
    import_roots: tuple[str, ...]
    is_package: bool
    pyproject: Mapping[str, Any]
    config: Mapping[str, Mapping[str, str]]
    setup: Mapping[str, Any]


def normalised(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def read_manifests(root: Path, paths: Iterable[str]) -> list[Manifest]:
    """One for each folder with a project file among `paths`, the root's first, then in order of the folders' paths.

    Args:
        paths: files of the workspace, relative to `root`.
    """
    listed = [path for path in paths if path.endswith((".py", ".pyi", ".toml", ".cfg"))]
    packages = {path.rpartition("/")[0] for path in listed if path.rpartition("/")[2] in ("__init__.py", "__init__.pyi")}
    files: dict[str, set[str]] = {}
    for path in listed:
        folder, _, name = path.rpartition("/")
        if name in PROJECT_FILES:
            files.setdefault(folder, set()).add(name)
    return [_read(root, folder, files[folder], folder in packages, listed) for folder in sorted(files)]


def _read(root: Path, folder: str, files: set[str], is_package: bool, listed: Sequence[str]) -> Manifest:
    place = root / folder
    pyproject = _toml(place / "pyproject.toml") if "pyproject.toml" in files else {}
    config = _ini(place / "setup.cfg") if "setup.cfg" in files else {}
    # A module of a package may be called setup.py, and call a function of that name.
    setup = _SetupScript(root, folder, listed).keywords() if "setup.py" in files and not is_package else {}
    tool = table(pyproject, "tool")
    named = (
        table(pyproject, "project").get("name"),
        table(tool, "poetry").get("name"),
        table(tool, "flit", "metadata").get("dist-name") or table(tool, "flit", "metadata").get("module"),
        config.get("metadata", {}).get("name"),
        setup.get("name"),
    )
    name = next((value for value in named if isinstance(value, str) and value.strip()), "")
    requires = (
        table(pyproject, "project").get("requires-python"),
        config.get("options", {}).get("python_requires"),
        setup.get("python_requires"),
    )
    roots = [_below(folder, value) for value in _declared_roots(pyproject, config, setup)]
    return Manifest(
        folder=folder,
        name=normalised(name),
        requires_python=next((value for value in requires if isinstance(value, str)), ""),
        import_roots=tuple(dict.fromkeys(value for value in roots if value is not None and value != folder)),
        is_package=is_package,
        pyproject=pyproject,
        config=config,
        setup=setup,
    )


def _declared_roots(pyproject: Mapping[str, Any], config: Mapping[str, Mapping[str, str]], setup: Mapping[str, Any]) -> Iterable[str]:
    """Folders that the build backends' settings name, relative to the project's."""
    tool = table(pyproject, "tool")
    for entry in rows(table(tool, "poetry").get("packages")):
        yield from strings(entry.get("from"))
    setuptools = table(tool, "setuptools")
    yield from strings(table(setuptools, "packages", "find").get("where"))
    yield from _roots_of_mapping(table(setuptools, "package-dir"))
    yield from config.get("options.packages.find", {}).get("where", "").split()
    yield from _roots_of_mapping(dict(_pair(line) for line in config.get("options", {}).get("package_dir", "").splitlines() if "=" in line))
    yield from _roots_of_mapping(setup.get("package_dir"))
    for build in (table(tool, "hatch", "build"), table(tool, "hatch", "build", "targets", "wheel")):
        yield from (value.rstrip("/").rpartition("/")[0] for value in strings(build.get("packages")))
        yield from strings(build.get("sources"))
    yield from strings(table(tool, "pdm", "build").get("package-dir"))
    yield from strings(table(tool, "uv", "build-backend").get("module-root"))
    yield from strings(table(tool, "maturin").get("python-source"))


def _roots_of_mapping(mapping: object) -> Iterable[str]:
    """Of `package_dir`: the folder of the packages without a name, and those above packages that are called like their folder."""
    if not isinstance(mapping, dict):
        return
    for name, folder in cast("dict[object, object]", mapping).items():
        if not isinstance(name, str) or not isinstance(folder, str):
            continue
        above, _, last = folder.strip().rstrip("/").rpartition("/")
        if not name.strip():
            yield folder.strip()
        elif last == name.strip():
            yield above


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name.strip(), value.strip()


def _below(folder: str, relative: str) -> str | None:
    """A folder that a project names, relative to the workspace; None where it leads out of the project."""
    parts = [part for part in relative.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts or relative.startswith("/"):
        return None
    return "/".join([*folder.split("/"), *parts] if folder else parts)


# ---- formats


def table(value: object, *path: str) -> Mapping[str, Any]:
    """The table at a path of keys; empty where there is none."""
    for key in path:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def rows(value: object) -> list[Mapping[str, Any]]:
    """The tables of a list."""
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in found if isinstance(item, dict)]


def strings(value: object) -> list[str]:
    """A string, or those of a list."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [item for item in cast("Sequence[object]", value) if isinstance(item, str)]
    return []


def read_text(path: Path) -> str:
    """What a small text file holds; empty where it cannot be read. Follows no link: a link may lead out of the repository."""
    try:
        if path.is_symlink():
            return ""
        with open_plain(path) as opened:
            content = opened.read(_MOST_BYTES + 1)
    except OSError:
        return ""
    return content.decode("utf-8-sig", "replace") if len(content) <= _MOST_BYTES else ""


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return read_toml(path) if not path.is_symlink() else {}
    except (OSError, ValueError):
        return {}


def _ini(path: Path) -> Mapping[str, Mapping[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_text(path))
    except configparser.Error:
        return {}
    return {section: {key.replace("-", "_"): value for key, value in parser.items(section)} for section in parser.sections()}


class _SetupScript:
    """A `setup.py`: the arguments of its call of `setup` that are literals, or names of constants of the module."""

    def __init__(self, root: Path, folder: str, listed: Sequence[str]) -> None:
        self._root, self._folder, self._listed = root, folder, listed
        self._tree = _parsed(root / folder / "setup.py")
        self._constants = _constants(self._tree)

    def keywords(self) -> dict[str, Any]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and _called(node.func) == "setup" and (node.keywords or node.args):
                found: dict[str, Any] = {}
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        value = self._value(keyword.value)
                        if value is not None:
                            found[keyword.arg] = value
                    elif isinstance(keyword.value, ast.Name):  # setup(**arguments)
                        whole = self._constants.get(keyword.value.id)
                        found |= cast("dict[str, Any]", whole) if isinstance(whole, dict) else {}
                if found:
                    return found
        return {}

    def _value(self, node: ast.expr) -> object:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass
        if isinstance(node, ast.Name):
            return self._constants.get(node.id)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return self._from_about(node.slice.value)  # about["__title__"], filled by executing a file of the package
        if isinstance(node, ast.Attribute):
            return self._from_about(node.attr)
        return None

    def _from_about(self, name: str) -> str | None:
        """A constant of that name, where the files that are made for it agree."""
        prefix = f"{self._folder}/" if self._folder else ""
        near = [path for path in self._listed if path.startswith(prefix) and path[len(prefix) :].count("/") <= _ABOUT_DEPTH]
        found: set[str] = set()
        for path in [path for path in sorted(near) if _ABOUT.search(path)][:_ABOUT_MOST]:
            text = read_text(self._root / path)
            value = _constants(_tree_of(text)).get(name) if name in text else None
            if isinstance(value, str):
                found.add(value)
        return found.pop() if len(found) == 1 else None


def _parsed(path: Path) -> ast.Module:
    return _tree_of(read_text(path))


def _tree_of(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the repository's code looks like is not our user's business
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _called(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""


def _constants(tree: ast.Module) -> dict[str, object]:
    """Names of the module that are bound once, to a literal."""
    found: dict[str, object] = {}
    twice: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                twice |= {target.id} & found.keys()
                try:
                    found[target.id] = ast.literal_eval(value)
                except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                    found[target.id] = None
    return {name: value for name, value in found.items() if name not in twice}
