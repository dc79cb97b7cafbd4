"""Which of the table's toolchains a project is built or tested with, and why: what it asks for, and what is here."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from indexer.config import load_config
from indexer.drive.process import clean_environment
from indexer.encoding import parse_json, read_beginning
from indexer.errors import LspidxError
from indexer.languages import record_of
from indexer.python_project import PythonProject
from indexer.python_project import find_project as find_python
from indexer.servers.registry import find_executables, server_spec
from query.toolchain.project import Project
from query.toolchain.start import run_command
from query.toolchain.table import Kind, Toolchain, load_toolchains

_MAX_CONFIG_BYTES = 1_000_000
_VERSION_S = 20.0
_NUMBER = re.compile(r"v?(\d+(?:\.\w+)+(?:[-+][\w.]+)?)")
_PROBE = """
import importlib.util, json, sys
from importlib import metadata
name = sys.argv[1]
found = importlib.util.find_spec(name) is not None
try:
    version = metadata.version(name) if found else ""
except Exception:
    version = "%d.%d.%d" % sys.version_info[:3]
print(json.dumps([found, version]))
"""


class Chosen(msgspec.Struct, kw_only=True):
    """entry: of the table. program: what is started, absolute. why: in words. passed_over: what was asked for and is not here."""

    entry: Toolchain
    program: str
    version: str
    why: str
    passed_over: list[str]
    script: list[str]


class Surroundings:
    """What a project has of its own: interpreter, node_modules, package.json. Each is looked for when it is first asked for."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.path = clean_environment({}).get("PATH", "")

    @cached_property
    def python(self) -> PythonProject:
        """The project's environment: as configured, in its folder, else in the workspace's."""
        configured = ""
        try:
            configured = load_config(self.project.root).python
        except LspidxError:  # a broken configuration is the index's business
            configured = ""
        found = None
        for folder in dict.fromkeys((self.project.folder, self.project.top, self.project.root)):
            found = find_python(
                folder, [], python=configured if folder == self.project.root else "", source_roots=[], environment=dict(os.environ),
                own_prefix=sys.prefix, base_prefix=sys.base_prefix,
            )  # fmt: skip
            if found.found_by.startswith(("folder", "configured")):
                return found
        assert found is not None
        return found

    @cached_property
    def package(self) -> dict[str, str]:
        """Scripts of package.json."""
        try:
            scripts = parse_json(_text(self.project.folder / "package.json")).get("scripts", {})
            return {key: value for key, value in scripts.items() if isinstance(value, str)}
        except (ValueError, AttributeError, RecursionError):
            return {}

    def environment(self) -> dict[str, str]:
        """As if the project's environment was activated."""
        if not record_of(self.project.language).has_environment or self.python.interpreter is None or self.python.prefix is None:
            return {}
        folder = str(self.python.interpreter.parent)
        active = {"VIRTUAL_ENV": str(self.python.prefix)} if (self.python.prefix / "pyvenv.cfg").is_file() else {}
        return {**active, "PATH": os.pathsep.join([folder, self.path])}

    def program(self, entry: Toolchain) -> tuple[str, str]:
        """The program of an entry, and where it was found; empty where it is nowhere."""
        name, *places = entry.program
        for place in places:
            kind, _, what = place.partition(":")
            for path in self._candidates(kind, what or name):
                if path and os.access(path, os.X_OK) and os.path.isfile(path):
                    return path, {"node_modules": "node_modules/.bin", "environment": self.python_name()}.get(kind, kind)
        return "", ""

    def python_name(self) -> str:
        """The environment, as it was found."""
        return self.python.found_by if record_of(self.project.language).has_environment else ""

    def _candidates(self, kind: str, name: str) -> Iterator[str]:
        folder, top = self.project.folder, self.project.root
        up = [place for place in (folder, *folder.parents) if place == top or top in place.parents]
        if kind == "PATH":
            yield shutil.which(name, path=self.path) or ""
        elif kind == "node_modules":
            yield from (str(place / "node_modules" / ".bin" / name) for place in up)
        elif kind == "project":
            yield from (str(place / name) for place in up)
        elif kind == "environment" and self.python.interpreter is not None:
            yield str(self.python.interpreter.parent / name)
        elif kind == "pinned":
            yield from (candidate.path for candidate in find_executables(server_spec(name)))


def choose(kind: Kind, project: Project) -> tuple[Chosen | None, list[str], Surroundings]:
    """The toolchain to run, or None and why each that might have been was not."""
    around = Surroundings(project)
    refused: list[str] = []
    passed_over: list[str] = []
    for entry in load_toolchains():
        if entry.kind != kind or project.language not in entry.languages:
            continue
        asked, why = _asked(entry, kind, around)
        if not asked:
            refused.append(f"{entry.name}: {why}")
            continue
        program, version, where = _here(entry, around)
        if program:
            reasons = "; ".join(filter(None, [why, where]))
            chosen = Chosen(
                entry=entry, program=program, version=version, why=reasons, passed_over=passed_over, script=_script(kind, around)
            )
            return chosen, [], around
        refused.append(f"{entry.name}: {where}; to get it: {entry.missing}")
        if entry.asked:
            passed_over.append(f"{entry.name} is asked for ({why}) but {where}; to get it: {entry.missing}")
    return None, refused, around


def _asked(entry: Toolchain, kind: Kind, around: Surroundings) -> tuple[bool, str]:
    """Whether the project asks for it, or nothing need ask for it, and by what."""
    reason = ""
    if entry.asked:
        reason = next((shown for item in entry.asked if (shown := _asks(around.project.folder, item))), "")
        if not reason:
            return False, f"nothing asks for it ({', '.join(item.strip() for item in entry.asked)})"
    if entry.script:
        script = around.package.get(kind, "")
        if not re.search(entry.script, script):
            return False, f"package.json has no fitting script '{kind}'"
        reason = f"script '{kind}' of package.json: {script[:200]}"
    return True, reason


def _asks(folder: Path, item: str) -> str:
    pattern, colon, text = item.partition(":")
    for path in sorted(folder.glob(pattern)):
        if path.is_file() and (not colon or text in "\n" + _text(path)):
            return f"{path.name} has {text.strip()}" if colon else f"{path.name} is there"
    return ""


def _text(path: Path) -> str:
    return read_beginning(path, _MAX_CONFIG_BYTES)


def _script(kind: Kind, around: Surroundings) -> list[str]:
    """The words behind `node` of a script that is nothing but a call of node."""
    try:
        return shlex.split(around.package.get(kind, ""))[1:]
    except ValueError:
        return []


def _here(entry: Toolchain, around: Surroundings) -> tuple[str, str, str]:
    """Program, version and where it is; or empty, and why it cannot be run."""
    if entry.module:
        python = around.python
        if python.interpreter is None:
            return "", "", f"no Python was found for the project ({python.found_by})"
        said = _say([str(python.interpreter), "-I", "-c", _PROBE, entry.module], around)
        try:
            found, version = json.loads(said)
        except (ValueError, TypeError):
            return "", "", f"the project's Python, '{python.interpreter}', cannot be run"
        if not found:
            return "", "", f"it is not in the project's environment ({python.found_by})"
        return str(python.interpreter), str(version), f"the project's Python by {python.found_by}"
    program, where = around.program(entry)
    if not program:
        return "", "", f"'{entry.program[0]}' is not in {', '.join(place.partition(':')[2] or place for place in entry.program[1:])}"
    said = _say([word.replace("{program}", program) for word in entry.version], around)
    match = _NUMBER.search(said)
    return program, match.group(1) if match else "unknown", f"from {where}"


def _say(command: Sequence[str], around: Surroundings) -> str:
    """What a short command prints."""
    with tempfile.TemporaryDirectory(prefix="lspidx-") as scratch:
        done = run_command(command, cwd=around.project.folder, environment=around.environment(), timeout_s=_VERSION_S, into=Path(scratch))
        return done.stdout.read_bytes()[:10_000].decode("utf-8", "replace").strip() if done.exit_code == 0 else ""
