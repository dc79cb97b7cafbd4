"""A Python project as imports see it: environment, source roots, module names, and what lies outside.

Pure of protocol and store; reads the file list, project files, `pyvenv.cfg` and the names of `*.dist-info` folders. It never runs
the project's interpreter.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from indexer.encoding import parse_toml, read_manifest
from indexer.python_manifests import Manifest, normalised, read_manifests, read_text
from indexer.python_requirements import Need, declared, is_aside
from indexer.python_roots import Roots, find_source_roots

_ON_PATH, _OURS = "python3 on PATH", "the interpreter that lspidx runs on"
_FETCHED = "lspidx index --fetch"
_NONE = "none found: only the standard library is known"
_ENVIRONMENT_NAMES = (".venv", "venv", "env", ".env")
_TEST_FILE = re.compile(r"(?:test_[^/]*|[^/]*_test|tests|conftest)\.py\Z")
_TYPESHED = re.compile(
    r"(?:^|/)(?:typeshed|typeshed-fallback|typeshed_fallback|vendored/typeshed)(?:/[0-9a-f]{40})?/(stdlib|stubs/([^/]+))/(.+)\Z"
)
_STDLIB = re.compile(r"/lib/python(\d+\.\d+)/(?!site-packages/|dist-packages/)(.+)\Z")
_SITE = re.compile(r"^(.*/(?:site|dist)-packages)/(.+)\Z")

DEFAULT_VERSION = "3.13"
"""The Python that a project is taken to be for where it does not say: the same on every machine."""

_LOWEST = 7
"""Minor version of the oldest Python 3 that servers can assume."""

NAMELESS = "workspace"
"""The package of files that no project file names: not the folder's name, which differs from clone to clone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonProject:
    """`prefix` is the environment's folder, `interpreter` its python; both None when the project has none.

    `source_roots` are absolute, most specific first: what `import x` starts from. `last_roots` are those that are looked at after the
    standard library, since modules of theirs would hide it; `fallback_roots` after all packages that are installed, too.
    `version` is the Python that the project is for.
    """

    root: Path
    prefix: Path | None
    interpreter: Path | None
    found_by: str
    source_roots: tuple[Path, ...]
    last_roots: tuple[Path, ...] = ()
    fallback_roots: tuple[Path, ...] = ()
    version: str = DEFAULT_VERSION

    @property
    def is_fetched(self) -> bool:
        """Whether the environment is one that lspidx has filled, of wheels, with nothing in it that could be run."""
        return self.found_by == _FETCHED

    @property
    def all_roots(self) -> tuple[Path, ...]:
        """In the order in which they are looked at."""
        return (*self.source_roots, *self.last_roots, *self.fallback_roots)

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
    fetched: Path | None = None,
    manifests: Sequence[Manifest] | None = None,
    may_read: Callable[[str], bool] = lambda _: True,
) -> PythonProject:
    """Environment and source roots of `root`. What imports resolve in is the project's own or was named; never just any Python.

    Args:
        paths: the repository's files, relative.
        python, source_roots: as configured; empty = find.
        environment: the caller's; an activated environment counts unless it is lspidx's own (`own_prefix`), conda's base, or has
            nothing of what the project declares that it needs: then it was activated for something else.
        base_prefix: for who wants to run something: the installation that is taken where nothing else is found, python3 on PATH
            before it; empty = none, so that two machines find the same.
        fetched: the environment that `lspidx index --fetch` makes, which need not be there.
        manifests: of these paths; None = read.
        may_read: whether a folder that an environment in the workspace is a link to may be read.
    """
    paths = list(paths)
    known = read_manifests(root, paths) if manifests is None else manifests
    prefix, found_by = _find_environment(root, paths, python, environment, own_prefix, known, fetched, may_read)
    if prefix is None and base_prefix and not python:
        prefix, found_by = _of_machine(environment, own_prefix, base_prefix)
    if source_roots:
        roots = Roots(first=tuple((root / entry).resolve() for entry in source_roots))
    else:
        roots = find_source_roots(root, paths, known)
    return PythonProject(
        root=root,
        prefix=prefix,
        interpreter=_interpreter(prefix),
        found_by=found_by,
        source_roots=roots.first,
        last_roots=roots.last,
        fallback_roots=roots.fallback,
        version=_version_of(prefix) or wanted_version(known),
    )


def _find_environment(
    root: Path,
    paths: Sequence[str],
    python: str,
    environment: Mapping[str, str],
    own_prefix: str,
    manifests: Sequence[Manifest],
    fetched: Path | None,
    may_read: Callable[[str], bool],
) -> tuple[Path | None, str]:
    if python:
        path = (root / Path(python).expanduser()).absolute()
        if path.is_dir():
            return path, "configured"
        if path.is_file():
            return path.parent.parent, "configured"
        return None, f"configured as '{python}', which does not exist"
    projects = [item.folder for item in manifests if item.folder and not is_aside(f"{item.folder}/x")]
    for folder in ["", *sorted(projects, key=lambda folder: (folder.count("/"), folder))]:
        for name in _ENVIRONMENT_NAMES:
            place = root / folder / name
            if (place / "pyvenv.cfg").is_file() and may_read(str(place)):
                return place, f"folder {folder}/{name}" if folder else f"folder {name}"
    strange = ""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        value = environment.get(variable)
        if not value or not Path(value).is_dir() or os.path.realpath(value) == os.path.realpath(own_prefix):
            continue
        if variable == "CONDA_PREFIX" and (Path(value) / "condabin").is_dir():
            continue  # conda's base environment is active in every shell and belongs to no project
        if _is_for_something_else(Path(value), declared(root, paths, manifests), manifests):
            strange = strange or f"; that of {variable} has nothing that this project declares"
            continue
        return Path(value), f"environment variable {variable}"
    if fetched is not None and (fetched / "pyvenv.cfg").is_file():
        return fetched, _FETCHED
    return None, _NONE + strange


def _is_for_something_else(prefix: Path, needs: Sequence[Need], manifests: Sequence[Manifest]) -> bool:
    """Whether an environment has none of the packages that the project declares, nor the project itself."""
    wanted = {item.name for item in needs} | {item.name for item in manifests if item.name}
    return any(item.kind == "run" for item in needs) and not wanted & installed(prefix)


def installed(prefix: Path) -> set[str]:
    """Names of the distributions in an environment, normalised."""
    folders = [site for site in prefix.glob("lib/python*/*-packages") if site.is_dir()]
    names = [entry.name for site in folders for entry in site.iterdir() if entry.name.endswith((".dist-info", ".egg-info"))]
    return {normalised(name.rpartition(".")[0].split("-", 1)[0]) for name in names}


def _of_machine(environment: Mapping[str, str], own_prefix: str, base_prefix: str) -> tuple[Path | None, str]:
    """A Python to run something with."""
    on_path = shutil.which("python3", path=_path_without(environment.get("PATH", ""), own_prefix))
    if on_path is not None:
        prefix = Path(on_path).resolve().parent.parent
        if any(prefix.glob("lib/python3*")):
            return prefix, _ON_PATH
    return Path(base_prefix), _OURS


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


def _version_of(prefix: Path | None) -> str:
    """Major and minor version of an environment's Python; empty where its folder does not tell."""
    if prefix is None:
        return ""
    match = re.search(r"^\s*version(?:_info)?\s*=\s*(\d+\.\d+)", read_text(prefix / "pyvenv.cfg"), re.MULTILINE)
    folders = sorted(path.name.removeprefix("python") for path in prefix.glob("lib/python3.*"))
    return match.group(1) if match else folders[-1] if folders else ""


def wanted_version(manifests: Sequence[Manifest]) -> str:
    """The lowest Python that the workspace's outermost project says it runs on, else the default."""
    for item in manifests:
        versions = [
            (int(minor), strict == ">")
            for clause in item.requires_python.split(",")
            for strict, minor in re.findall(r"^\s*(>=|>|~=|==)\s*3\.(\d{1,6})", clause)
        ]
        if versions:
            minor, is_strict = max(versions)
            return f"3.{minor + is_strict}" if minor >= _LOWEST else DEFAULT_VERSION
    return DEFAULT_VERSION


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
            record = read_manifest(info / "RECORD").decode("utf-8", "replace")
        except OSError:
            record = ""
        for line in record.splitlines():
            top = line.split(",", 1)[0].split("/", 1)[0]
            if not top.endswith(".dist-info") and top not in ("..", "__pycache__"):
                owners.setdefault(top, (normalised(name), version))
        owners.setdefault(name, (normalised(name), version))
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
            content = read_manifest(root / path)
        except OSError:
            continue
        if name == "pyproject.toml":
            try:
                parsed = parse_toml(content.decode("utf-8"))
                project, tool = parsed.get("project", {}), parsed.get("tool", {})
                content = repr([project.get("requires-python"), [(name, tool.get(name)) for name in _OF_SERVERS]]).encode()
            except (ValueError, AttributeError, RecursionError):
                pass  # all of it counts
        digest.update(os.fsencode(path) + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()


def own_packages(manifests: Sequence[Manifest], paths: Iterable[str], nameless: str = "") -> dict[str, tuple[str, str, str]]:
    """Manager, name and version that the monikers of each path carry: of the nearest project above it that has a name.

    The version is left open on purpose.

    Args:
        nameless: the name of what no project file names.
    """
    names = {item.folder: item.name for item in manifests if item.name}
    known: dict[str, tuple[str, str, str]] = {}

    def of_folder(folder: str) -> tuple[str, str, str]:
        if folder not in known:
            if folder in names:
                known[folder] = ("pip", names[folder], "")
            else:
                known[folder] = of_folder(folder.rpartition("/")[0]) if folder else ("", nameless or NAMELESS, "")
        return known[folder]

    return {path: of_folder(path.rpartition("/")[0]) for path in paths}
