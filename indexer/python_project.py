"""A Python project as imports see it: interpreter, source roots, module names, and what lies outside.

Pure of protocol and store; reads the file list, `pyvenv.cfg` and the names of `*.dist-info` folders. It never runs the
project's interpreter.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

_ON_PATH, _OURS = "python3 on PATH", "the interpreter that lspidx runs on"
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_ENVIRONMENT_NAMES = (".venv", "venv", "env", ".env")
_TEST_FILE = re.compile(r"(?:test_[^/]*|[^/]*_test|tests|conftest)\.py\Z")
_TYPESHED = re.compile(
    r"(?:^|/)(?:typeshed|typeshed-fallback|typeshed_fallback|vendored/typeshed)(?:/[0-9a-f]{40})?/(stdlib|stubs/([^/]+))/(.+)\Z"
)
_STDLIB = re.compile(r"/lib/python(\d+\.\d+)/(?!site-packages/|dist-packages/)(.+)\Z")
_SITE = re.compile(r"^(.*/(?:site|dist)-packages)/(.+)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonProject:
    """`prefix` is the environment's folder, `interpreter` its python; both None when the project has none.

    `source_roots` are absolute, most specific first: what `import x` starts from.
    """

    root: Path
    prefix: Path | None
    interpreter: Path | None
    found_by: str
    source_roots: tuple[Path, ...]

    @property
    def is_own(self) -> bool:
        """Whether the environment was made for this project, or said to be its own; else it is the machine's."""
        return self.found_by not in (_ON_PATH, _OURS)

    def placeholders(self) -> Mapping[str, object]:
        """Values for the `{…}` of the server table."""
        return {
            "python": str(self.interpreter) if self.interpreter else None,
            "python_prefix": str(self.prefix) if self.prefix else None,
            "source_roots": [str(path) for path in self.source_roots] or None,
        }


def find_project(
    root: Path,
    paths: Iterable[str],
    *,
    python: str,
    source_roots: Sequence[str],
    environment: Mapping[str, str],
    own_prefix: str,
    base_prefix: str = "",
) -> PythonProject:
    """Interpreter and source roots of `root`.

    Args:
        paths: the repository's files, relative.
        python, source_roots: as configured; empty = find.
        environment: the caller's; an activated environment counts unless it is lspidx's own (`own_prefix`).
        base_prefix: the installation that is taken where nothing else is found; empty = none.
    """
    prefix, found_by = _find_environment(root, python, environment, own_prefix, base_prefix)
    roots = tuple((root / entry).resolve() for entry in source_roots) or _find_source_roots(root, paths)
    return PythonProject(root=root, prefix=prefix, interpreter=_interpreter(prefix), found_by=found_by, source_roots=roots)


def _find_environment(
    root: Path, python: str, environment: Mapping[str, str], own_prefix: str, base_prefix: str
) -> tuple[Path | None, str]:
    if python:
        path = (root / Path(python).expanduser()).absolute()
        if path.is_dir():
            return path, "configured"
        if path.is_file():
            return path.parent.parent, "configured"
        return None, f"configured as '{python}', which does not exist"
    for name in _ENVIRONMENT_NAMES:
        if (root / name / "pyvenv.cfg").is_file():
            return root / name, f"folder {name}"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        value = environment.get(variable)
        if value and Path(value).is_dir() and os.path.realpath(value) != os.path.realpath(own_prefix):
            return Path(value), f"environment variable {variable}"
    # A server left to itself would take the environment that it is installed in, which is ours.
    on_path = shutil.which("python3", path=_path_without(environment.get("PATH", ""), own_prefix))
    if on_path is not None:
        prefix = Path(on_path).resolve().parent.parent
        if any(prefix.glob("lib/python3*")):
            return prefix, _ON_PATH
    return (Path(base_prefix), _OURS) if base_prefix else (None, "none found")


def _path_without(path: str, prefix: str) -> str:
    own = os.path.realpath(os.path.join(prefix, "bin"))
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry and os.path.realpath(entry) != own)


def _interpreter(prefix: Path | None) -> Path | None:
    if prefix is None:
        return None
    for candidate in ("bin/python", "bin/python3", "Scripts/python.exe"):
        if (prefix / candidate).exists():
            return prefix / candidate
    return None


def _find_source_roots(root: Path, paths: Iterable[str]) -> tuple[Path, ...]:
    """For each project folder (one with a project file; the root always): its `src`, itself, its `tests`.

    `src` and `tests` count when they hold Python files and are no packages themselves. A root that is itself a package
    is imported from the first folder above it that is none.
    """
    listed = [path for path in paths if path.endswith((".py", ".pyi", ".toml", ".cfg"))]
    present = set(listed)
    folders: set[str] = set()
    for path in listed:
        if path.endswith((".py", ".pyi")):
            while (path := path.rpartition("/")[0]) and path not in folders:
                folders.add(path)
    projects = sorted({""} | {path.rpartition("/")[0] for path in listed if path.rpartition("/")[2] in _PROJECT_FILES})
    found: list[str] = []
    for project in projects:
        prefix = f"{project}/" if project else ""
        for name, position in (("src", 0), ("tests", 2)):
            folder = prefix + name
            if folder in folders and f"{folder}/__init__.py" not in present:
                found.append(folder) if position else found.insert(0, folder)
        if project in folders or not project:
            found.append(project)
    sources = [folder for folder in found if folder.rpartition("/")[2] == "src"]
    others = [folder for folder in found if folder.rpartition("/")[2] != "src"]
    others.sort(key=lambda folder: (folder != "", folder))
    outer = root
    while (outer / "__init__.py").is_file() and outer.parent != outer:
        outer = outer.parent
    if outer != root:  # the root itself must not be searched: its modules would hide those of the standard library
        return (outer,)
    return tuple(root / folder if folder else root for folder in dict.fromkeys(sources + others))


def module_names(root: Path, source_roots: Sequence[Path], paths: Sequence[str]) -> dict[str, str]:
    """Dotted module name of each path, unique.

    The deepest source root that holds the file decides. Where two files would get one name (a stub beside its module, two
    `conftest.py`), the first in order keeps it and the others are named by their whole path.
    """
    above = next((folder for folder in source_roots if folder != root and root.is_relative_to(folder)), None)
    package = "" if above is None else ".".join(root.relative_to(above).parts)
    prefixes = sorted((_relative(root, folder) for folder in source_roots), key=len, reverse=True)
    names: dict[str, str] = {}
    taken: set[str] = set()
    for path in sorted(paths, key=lambda item: (item.endswith(".pyi"), item)):
        prefix = next((entry for entry in prefixes if not entry or path.startswith(f"{entry}/")), "")
        name = _dotted(path[len(prefix) + 1 :] if prefix else path)
        if package and not prefix:
            name = f"{package}.{name}" if name else package
        if not name or name in taken:
            name = path
        taken.add(name)
        names[path] = name
    return names


def _relative(root: Path, folder: Path) -> str:
    try:
        relative = folder.relative_to(root).as_posix()
    except ValueError:
        return "\0outside"
    return "" if relative == "." else relative


def _dotted(path: str) -> str:
    stem = path.rsplit(".", 1)[0]
    if stem == "__init__":
        return ""
    return stem.removesuffix("/__init__").replace("/", ".")


def is_test(path: str, *, more: Sequence[str] = (), fewer: Sequence[str] = ()) -> bool:
    """Whether a path holds tests by Python's conventions; `more` and `fewer` are patterns from the configuration."""
    if any(fnmatch(path, pattern) for pattern in fewer):
        return False
    if any(fnmatch(path, pattern) for pattern in more):
        return True
    parts = path.split("/")
    return bool(_TEST_FILE.fullmatch(parts[-1])) or any(part in ("tests", "test") for part in parts[:-1])


class External(NamedTuple):
    """A file outside the workspace: `key` is portable (no path of this machine), `module` is dotted, `place` is in the package."""

    key: str
    manager: str
    package: str
    version: str
    module: str
    place: str = ""


@dataclass(slots=True)
class Externals:
    """Names files outside the workspace by package and version, from the layout of environments and typeshed."""

    _distributions: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict[str, dict[str, tuple[str, str]]])

    def describe(self, path: str) -> External:
        """`path` is absolute. An unknown place gets the manager `.` and is named by its last three parts."""
        match = _TYPESHED.search(path)
        if match:
            relative = match.group(3)
            if match.group(2):
                name = match.group(2)
                return External(f"pip:types-{name}/{relative}", "pip", f"types-{name}", "", _dotted(relative))
            return External(f"python:stdlib/{relative}", "python", "stdlib", "", _dotted(relative))
        match = _SITE.match(path)
        if match:
            relative = match.group(2)
            name, version = self._distribution(match.group(1), relative)
            return External(f"pip:{name}@{version}/{relative}", "pip", name, version, _dotted(relative.replace("-stubs/", "/")))
        match = _STDLIB.search(path)
        if match:
            return External(f"python:stdlib/{match.group(2)}", "python", "stdlib", "", _dotted(match.group(2)))
        tail = "/".join(path.strip("/").split("/")[-3:])
        return External(f"unknown:{tail}", "", "", "", _dotted(tail), tail)

    def _distribution(self, site: str, relative: str) -> tuple[str, str]:
        known = self._distributions.get(site)
        if known is None:
            known = self._distributions[site] = _read_distributions(Path(site))
        top = relative.split("/", 1)[0]
        return known.get(top) or known.get(top.rsplit(".", 1)[0]) or (top.rsplit(".", 1)[0], "")


def _read_distributions(site: Path) -> dict[str, tuple[str, str]]:
    """Top-level name to (distribution, version), from the RECORD of each `*.dist-info`."""
    owners: dict[str, tuple[str, str]] = {}
    for info in sorted(site.glob("*.dist-info")):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        try:
            record = (info / "RECORD").read_text(encoding="utf-8", errors="replace")
        except OSError:
            record = ""
        for line in record.splitlines():
            top = line.split(",", 1)[0].split("/", 1)[0]
            if not top.endswith(".dist-info") and top not in ("..", "__pycache__"):
                owners.setdefault(top, (name.replace("_", "-").lower(), version))
        owners.setdefault(name, (name.replace("_", "-").lower(), version))
    return owners


def environment_digest(project: PythonProject) -> str:
    """Digest of what is installed in the project's environment: names and versions, no paths."""
    if project.prefix is None:
        return "none"
    names = sorted(info.name for site in project.prefix.glob("lib/python*/site-packages") for info in site.glob("*.dist-info"))
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


_OF_SERVERS = ("ty", "pyright", "basedpyright", "pyrefly")
_SERVER_FILES = frozenset({"ty.toml", "pyrightconfig.json", "pyrefly.toml", ".python-version"})


def settings_digest(root: Path, paths: Iterable[str]) -> str:
    """Digest of what servers read beside the sources: their own settings among `paths`, and the versions of Python a project is for.

    Of a pyproject.toml other parts do not count: a new version of the project answers nothing anew.
    """
    digest = hashlib.sha256()
    for path in sorted(paths):
        name = path.rpartition("/")[2]
        if name not in _SERVER_FILES and name != "pyproject.toml":
            continue
        try:
            content = (root / path).read_bytes()
        except OSError:
            continue
        if name == "pyproject.toml":
            try:
                parsed = tomllib.loads(content.decode("utf-8"))
                project, tool = parsed.get("project", {}), parsed.get("tool", {})
                content = repr([project.get("requires-python"), [(name, tool.get(name)) for name in _OF_SERVERS]]).encode()
            except (ValueError, AttributeError):
                pass  # all of it counts
        digest.update(os.fsencode(path) + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()


def own_package(root: Path) -> tuple[str, str, str]:
    """Manager, name and version that the monikers of this workspace carry; the version is left open on purpose."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("project")
    except (OSError, ValueError):
        project = None
    name = project.get("name") if isinstance(project, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return ("pip", str(name).lower() if name else root.name, "")  # pyright: ignore[reportUnknownArgumentType]
