"""What a Python project says that it needs: of its project files, its requirement files, tox.ini, hatch.toml and Pipfile.

Everything becomes a requirement as PEP 508 writes it, poetry's `^1.2` included. Nothing is executed; what is no plain requirement of a
registry (a URL, a path, a repository, an option of pip) is left out, since to fetch a name in its place would fetch a stranger's package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from indexer.encoding import parse_toml
from indexer.python_manifests import Manifest, normalised, read_text, rows, strings, table

_REQUIREMENTS = re.compile(r"(?:^|/)(?:[^/]*requirements?[^/]*\.(?:txt|in)|requirements?/[^/]+(?:/[^/]+)?\.(?:txt|in))\Z", re.IGNORECASE)
_FOR_USERS = re.compile(r"(?:^|/)requirements?(?:/(?:default|base|common|main|prod|production))?\.(?:txt|in)\Z", re.IGNORECASE)
_OF_DOCUMENTATION = re.compile(r"(?:^|/)docs?/", re.IGNORECASE)
_ASIDE = frozenset(
    {"tests", "test", "testing", "testdata", "fixtures", "examples", "example", "samples", "sample", "templates", "template", "vendor"}
)
"""Folders whose project files and requirements are those of somebody else."""

_MOST_CHARS = 1_000
"""Of a requirement that is read."""

_STANDARD = frozenset({"python", "argparse", "dataclasses", "enum34", "asyncio", "pathlib", "typing", "unittest", "wheel"})
"""Names that stand for Python itself, for what it brings by now, or for what nobody imports."""

_MOST_FILES = 200
_MOST_TESTS = 50
_FACTORS = re.compile(r"\s*!?[\w{},.!-]+:\s+")
_TEST = re.compile(r"(?:^|/)(?:conftest|test_[^/]*|[^/]*_test)\.py\Z")
_PYTEST = "pytest"
_IMPORTS_PYTEST = re.compile(r"^(?:import|from) pytest\b", re.MULTILINE)

_HATCH_TEST, _HATCH_BRINGS = "hatch-test", ("pytest", "pytest-mock", "pytest-xdist")
"""The environment of `hatch test`, and what tests import or are given of what hatch puts there where the project says nothing else."""

LEFT_OUT = "lspidx-left-out.txt"
"""In an environment that `--fetch` made: packages of a matrix that it does not have, a name in each line."""

Kind = Literal["run", "more", "matrix"]
_KINDS = ("run", "more", "matrix")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One requirement. `name` is normalised, `text` as PEP 508 writes it.

    kind: `run`; `more` for extras, groups, tests and documentation; `matrix` for what only some of tox's environments have, which fit one
        another as little as the versions of a library do that a project is tested with.
    """

    name: str
    text: str
    kind: Kind


def is_aside(path: str) -> bool:
    """Whether a file lies where the project files and requirements of others lie: below tests, examples, templates."""
    folders = path.split("/")[:-1]
    return bool(_ASIDE & set(folders)) and not (folders[0] == "requirements" and path.endswith((".txt", ".in")))


def declared(root: Path, paths: Iterable[str], manifests: Sequence[Manifest]) -> list[Need]:
    """What the projects of a workspace need that is none of them, each requirement once, those to run with first.

    Args:
        paths: all files of the workspace, relative to `root`, tests too. manifests: those of them that are no sample's.
    """
    own = {item.name for item in manifests if item.name}
    found: dict[str, Need] = {}
    main = [item for item in manifests if not _ASIDE & set(item.folder.split("/"))]
    files = [path for path in paths if path.endswith((".txt", ".in", "tox.ini", "hatch.toml", "Pipfile")) and not path.startswith("../")]
    files = [path for path in files if not is_aside(path)]
    lines: list[tuple[str, Kind]] = [line for item in main for line in _of_manifest(item)]
    lines += [line for path in sorted(files, key=lambda path: (path.count("/"), path))[:_MOST_FILES] for line in _of_file(root, path)]
    if _imports_pytest(root, paths):
        lines.append((_PYTEST, "more"))
    for line, kind in lines:
        need = _need(line, kind)
        if line == _PYTEST and any(known.name == line for known in found.values()):
            continue
        if need is not None and need.name not in own and need.name not in _STANDARD:
            known = found.get(need.text)
            if known is None or _KINDS.index(kind) < _KINDS.index(known.kind):
                found[need.text] = need
    return sorted(found.values(), key=lambda need: (_KINDS.index(need.kind), need.name, need.text))


def _imports_pytest(root: Path, paths: Iterable[str]) -> bool:
    """Whether a test of the first ones does: what runs tests is often declared nowhere, or by a tool of its own (`hatch test`)."""
    tests = sorted((path for path in paths if _TEST.search(path) and not path.startswith("../")), key=lambda path: (path.count("/"), path))
    return any(_IMPORTS_PYTEST.search(read_text(root / path)) for path in tests[:_MOST_TESTS])


def on_python(needs: Iterable[Need], version: str) -> list[Need]:
    """Those whose markers hold for a version of Python (`3.12`) on this machine's system."""
    from packaging.requirements import Requirement

    around = {"python_version": version, "python_full_version": f"{version}.0", "extra": ""}
    markers = [(need, Requirement(need.text).marker) for need in needs]
    return [need for need, marker in markers if marker is None or marker.evaluate(around)]


def _need(line: str, kind: Kind) -> Need | None:
    from packaging.requirements import InvalidRequirement, Requirement  # here, for each worker of a crawl imports this module for others

    if len(line) > _MOST_CHARS:
        return None
    line = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip().rstrip("\\").strip()
    line = re.split(r"\s--?[a-z]", line, maxsplit=1)[0].strip()  # options of one requirement, such as --hash
    if not line or line.startswith("-") or "{" in line:
        return None
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return None
    if requirement.url:
        return None
    return Need(name=normalised(requirement.name), text=str(requirement), kind=kind)


# ---- project files


def _of_manifest(item: Manifest) -> Iterator[tuple[str, Kind]]:
    project, tool = table(item.pyproject, "project"), table(item.pyproject, "tool")
    yield from _as("run", strings(project.get("dependencies")))
    for entries in table(project, "optional-dependencies").values():
        yield from _as("more", strings(entries))
    for entries in table(item.pyproject, "dependency-groups").values():
        yield from _as("more", strings(entries))
    yield from _as("more", strings(table(tool, "uv").get("dev-dependencies")))
    for entries in table(tool, "pdm", "dev-dependencies").values():
        yield from _as("more", strings(entries))
    yield from _as("more", _hatch_lines(table(tool, "hatch")))
    if isinstance(text := table(tool, "tox").get("legacy_tox_ini"), str):
        yield from _tox_lines(text)
    yield from _as("more", strings(table(item.pyproject, "build-system").get("requires")))
    if item.setup:
        yield "setuptools", "more"
    flit = table(tool, "flit", "metadata")
    yield from _as("run", strings(flit.get("requires")))
    for entries in table(flit, "requires-extra").values():
        yield from _as("more", strings(entries))
    yield from _of_poetry(table(tool, "poetry"))
    options = item.config.get("options", {})
    yield from _as("run", options.get("install_requires", "").splitlines())
    yield from _as("more", options.get("tests_require", "").splitlines())
    for value in item.config.get("options.extras_require", {}).values():
        yield from _as("more", value.splitlines())
    yield from _as("run", strings(item.setup.get("install_requires")))
    yield from _as("more", strings(item.setup.get("tests_require")))
    for entries in table(item.setup.get("extras_require")).values():
        yield from _as("more", strings(entries))


def _as(kind: Kind, lines: Iterable[str]) -> Iterator[tuple[str, Kind]]:
    return ((line, kind) for line in lines)


def _hatch_lines(hatch: Mapping[str, Any]) -> Iterator[str]:
    for name, environment in table(hatch, "envs").items():
        if name == _HATCH_TEST and "dependencies" not in table(environment):
            yield from _HATCH_BRINGS
        yield from strings(table(environment).get("dependencies"))
        yield from strings(table(environment).get("extra-dependencies"))


def _of_poetry(poetry: Mapping[str, Any]) -> Iterator[tuple[str, Kind]]:
    for name, value in table(poetry, "dependencies").items():
        yield from _as("run", _poetry_lines(name, value))
    groups = [table(group, "dependencies") for group in table(poetry, "group").values()]
    for group in (table(poetry, "dev-dependencies"), *groups):
        for name, value in group.items():
            yield from _as("more", _poetry_lines(name, value))


def _poetry_lines(name: str, value: object) -> Iterator[str]:
    """As PEP 508 writes what poetry does: a constraint, a table, or a list of tables."""
    if isinstance(value, str):
        yield name + pep440(value)
        return
    entries = rows(value) if isinstance(value, list) else [table(value)]
    for entry in entries:
        if not entry or any(key in entry for key in ("git", "path", "url", "file")):
            continue
        extras = strings(entry.get("extras"))
        marker = str(entry.get("markers") or "")
        yield (
            name
            + (f"[{','.join(extras)}]" if extras else "")
            + pep440(str(entry.get("version") or "*"))
            + (f" ; {marker}" if marker else "")
        )


def pep440(constraint: str) -> str:
    """A version constraint of poetry's as PEP 440 writes it; of alternatives (`||`) the last, empty for any version and what is none."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    clauses: list[str] = []
    last = constraint.split("||")[-1].strip()[:_MOST_CHARS]
    for clause in re.split(r",|(?<=[\d*])\s+(?=[<>=!~^])", last):
        match = re.fullmatch(r"(\^|~(?!=)|)\s*(\d[^\s]*)", clause.strip())
        if match is None:
            clauses += [clause.strip()] if clause.strip() not in ("", "*") else []
            continue
        kind, version = match.groups()
        if kind == "":
            clauses.append(f"=={version}")
            continue
        try:
            release = list(Version(version.removesuffix(".*")).release)
        except InvalidVersion:
            continue
        at = next((index for index, part in enumerate(release) if part), len(release) - 1) if kind == "^" else min(1, len(release) - 1)
        upper = [*release[:at], release[at] + 1]
        clauses += [f">={version.removesuffix('.*')}", f"<{'.'.join(str(part) for part in upper)}"]
    text = ",".join(clauses)
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return ""
    return text


# ---- other files


def _of_file(root: Path, path: str) -> Iterator[tuple[str, Kind]]:
    name = path.rpartition("/")[2]
    if name == "tox.ini":
        yield from _tox_lines(read_text(root / path))
    elif name == "hatch.toml":
        yield from _as("more", _hatch_lines(_toml(read_text(root / path))))
    elif name == "Pipfile":
        yield from _pipfile(read_text(root / path))
    elif _REQUIREMENTS.search(path):
        kind: Kind = "run" if _FOR_USERS.search(path) and not _OF_DOCUMENTATION.search(path) else "more"
        yield from _as(kind, read_text(root / path).replace("\\\n", " ").splitlines())


def _tox_lines(text: str) -> Iterator[tuple[str, Kind]]:
    """The lines of each `deps`; what is for some of an environment's factors only (`py39: x`) counts without its factors, as `matrix`."""
    inside = False
    for line in text.splitlines():
        match = re.match(r"(deps|dependencies)\s*=(.*)", line)
        if match or (inside and line[:1] in (" ", "\t")):
            entry = match.group(2) if match else line
            inside = True
            factors = _FACTORS.match(entry)
            yield (entry[factors.end() :], "matrix") if factors else (entry, "more")
        elif line.strip() and not line.lstrip().startswith("#"):
            inside = False


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return parse_toml(text)
    except (ValueError, RecursionError):
        return {}


def _pipfile(text: str) -> Iterator[tuple[str, Kind]]:
    parsed = _toml(text)
    sections: tuple[tuple[str, Kind], ...] = (("packages", "run"), ("dev-packages", "more"))
    for section, kind in sections:
        for name, value in table(parsed, section).items():
            if isinstance(value, str):
                yield name + ("" if value == "*" else value), kind
            elif not any(key in table(value) for key in ("git", "path", "url", "file", "ref")):
                version = str(table(value).get("version") or "*")
                yield name + ("" if version == "*" else version), kind
