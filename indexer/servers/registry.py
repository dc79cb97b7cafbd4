"""The server table, typed and strict: an unknown key is an error that names entry, key and the nearest known one.

It knows which language a path is of, how to find a server on this machine and how to ask for its version; it starts none.
`install` puts servers where `find_server` looks for them.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch, translate
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from indexer.errors import ConfigError, ServerMissing
from indexer.sandbox import lies_in, safe_path
from indexer.servers.hazards import HAZARDS
from indexer.servers.installed import Ecosystem, find_installed
from indexer.servers.placeholders import PLACEHOLDERS
from indexer.servers.quirks import HOVER

TABLE = Path(__file__).with_name("servers.toml")

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_VERSION_WORD = re.compile(r"v?\d")


class Executes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Something of a repository that a server executes, and the least level at which it may; the keys stand in servers.toml."""

    what: str
    level: Literal["deps", "full"]
    without: str = ""
    below: dict[str, dict[str, Any]] = {}
    at: dict[str, dict[str, Any]] = {}
    missing: str = ""
    hazard: str = ""
    refused: bool = False


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A folder of a toolchain, in the first of `at` whose variables and placeholders have a value; `only` these parts of it may be read."""

    at: list[str]
    only: list[str] = []


class MoreSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a server is told beyond its entry for work of its own kind."""

    arguments: list[str] = []
    options: dict[str, Any] = {}
    settings: dict[str, Any] = {}


class ServerSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry of servers.toml; the meaning of each key stands at the top of that file."""

    languages: list[str]
    command: list[str]
    module: str = ""
    version_command: list[str]
    native: str = ""
    overlays: Literal["", "tsconfig"] = ""
    at_least: str = ""
    install: dict[Ecosystem, list[str]] = {}
    otherwise: str = ""
    options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    live: MoreSpec = MoreSpec()
    second: MoreSpec = MoreSpec()
    environment: dict[str, str] = {}
    open: Literal["none", "each", "several"]
    by_ending: bool = False
    window: int
    one_thread: bool = False
    fresh: bool = False
    fixed: bool = False
    stays: bool = False
    split: bool = True
    alone: bool = False
    ready: Literal["initialized", "progress", "notification"]
    ready_title: str = ""
    ready_method: str = ""
    ready_value: dict[str, Any] = {}
    ready_failed: str = ""
    unbuilt: str = ""
    no_answer: str = ""
    noise: str = ""
    broken: str = ""
    builds: dict[str, str] = {}
    hierarchy: Literal["item", "every_item", "prepare", "none"]
    timeout_s: float
    memory_mb: int
    executes: list[Executes] = []
    programs: list[str] = []
    beside: list[str] = []
    variables: list[str] = []
    places: dict[str, Place] = {}
    writes: list[str] = []
    private: dict[str, str] = {}
    diagnostics: Literal["pull", "publish", "none"]
    lacks: list[str]
    notes: str = ""
    tried: str
    quirks: list[str] = []
    name: str = ""


class LanguageSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which files belong to a language; the meaning of each key stands at the top of servers.toml."""

    extensions: list[str]
    filenames: list[str] = []
    interpreters: list[str] = []
    components: list[str] = []
    claims: list[str] = []
    ids: dict[str, str] = {}
    tests: list[str] = []
    test_folders: list[str] = []
    manifests: list[str] = []
    crawl: Literal["full", "none"] = "full"
    servers: list[str]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    server: dict[str, ServerSpec]
    language: dict[str, LanguageSpec]


class FoundServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is really here: absolute command, version as printed, where it was found.

    `folder` is where lspidx installed it, empty if it did not.
    """

    spec: ServerSpec
    command: list[str]
    version: str
    source: str
    folder: str = ""

    @property
    def fingerprint(self) -> str:
        """Digest of what can change the answers: name, version, arguments, options, settings, environment, which files are open."""
        spec = self.spec
        recipe = msgspec.json.encode(
            [spec.name, self.version, spec.command[1:], spec.options, spec.settings, spec.environment, spec.open], order="sorted"
        )
        return hashlib.sha256(recipe).hexdigest()

    def placeholders(self) -> Mapping[str, object]:
        """Values for the `{…}` of the table that depend on where the server lies."""
        return {"server": self.folder or None}


# ---- the table


@functools.cache
def load_table() -> Table:
    return parse_table(TABLE.read_text(encoding="utf-8"), TABLE.name)


def parse_table(text: str, source: str) -> Table:
    """Raises ConfigError with file, entry and key: one that is unknown, with the nearest known, or one that the entry lacks."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: not readable as TOML: {error}") from error
    for kind, record, ours in (("server", ServerSpec, {"name"}), ("language", LanguageSpec, set[str]())):
        known = {field.name for field in msgspec.structs.fields(record)} - ours
        needed = [field.name for field in msgspec.structs.fields(record) if field.required and field.name not in ours]
        entries = raw.get(kind)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            for key in entry if isinstance(entry, dict) else ():
                if key not in known:
                    raise ConfigError(f"{source}: {kind} '{name}' has an unknown key '{key}'{_nearest(key, known)}")
            if isinstance(entry, dict) and (lacking := [key for key in needed if key not in entry]):
                raise ConfigError(f"{source}: {kind} '{name}' has no '{lacking[0]}'")
            if isinstance(entry, dict) and kind == "server":
                entry["name"] = name
    try:
        table = msgspec.convert(raw, Table)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{source}: {error}") from error
    for server in table.server.values():
        for problem in _server_problems(server):
            raise ConfigError(f"{source}: server '{server.name}' {problem}")
    for language, spec in table.language.items():
        for name in spec.servers:
            if name not in table.server or language not in table.server[name].languages:
                raise ConfigError(f"{source}: language '{language}' names server '{name}', which does not serve it")
    _check_files(table, source)
    return table


def _server_problems(server: ServerSpec) -> Iterator[str]:
    """What the types do not say about an entry."""
    for quirk in server.quirks:
        if quirk not in HOVER:
            yield f"has an unknown quirk '{quirk}'; known: {', '.join(HOVER)}"
    if not server.install and not server.otherwise:
        yield "says neither by 'install' nor by 'otherwise' how to get it"
    for packages in server.install.values():
        if not packages:
            yield "has an ecosystem without packages"
        for package in packages:
            if "==" not in package and "@" not in package[1:]:
                yield f"does not pin '{package}'"
    if not server.command:
        yield "has an empty command"
    if (server.ready == "notification") != bool(server.ready_method):
        yield "needs 'ready_method' with ready = \"notification\", and only then"
    if server.ready_title:
        if server.ready != "progress":
            yield "has a 'ready_title', which only ready = \"progress\" looks at"
        try:
            re.compile(server.ready_title)
        except re.error as error:
            yield f"has a 'ready_title' that is no regex: {error}"
    for item in server.executes:
        for key in (*item.below, *item.at):
            if key not in ("options", "settings", "environment"):
                yield f"overlays '{key}' at a level of trust; known: options, settings, environment"
        if item.hazard and item.hazard not in HAZARDS:
            yield f"has an unknown hazard '{item.hazard}'; known: {', '.join(HAZARDS)}"
        if not (item.below or item.refused or item.missing or item.hazard or item.at):
            yield f"does not say how '{item.what}' is kept from happening below its level"
    places = [place.at for place in server.places.values()]
    overlays = [[item.below, item.at] for item in server.executes]
    own = [server.command, server.options, server.settings, server.live, server.second, server.environment, server.private, server.writes]
    values = [*own, overlays, places]
    for name in sorted(set(_PLACEHOLDER.findall(msgspec.json.encode(values).decode())) - PLACEHOLDERS):
        yield f"has an unknown placeholder '{{{name}}}'{_nearest(name, PLACEHOLDERS)}"


def _check_files(table: Table, source: str) -> None:
    """Each extension and each name of a file belongs to one language; claims are of extensions of another."""
    owner: dict[str, str] = {}
    for language, spec in table.language.items():
        for item in [*spec.extensions, *(f"/{name}" for name in spec.filenames), *(f"#!{name}" for name in spec.interpreters)]:
            if item in owner:
                raise ConfigError(f"{source}: '{item.lstrip('/')}' belongs to language '{owner[item]}' and to '{language}'")
            owner[item] = language
    for language, spec in table.language.items():
        for extension in spec.claims:
            if owner.get(extension, language) == language:
                raise ConfigError(f"{source}: language '{language}' claims '{extension}', which no other language has")
        for extension in spec.ids:
            if extension != "*" and extension not in [*spec.extensions, *spec.claims]:
                raise ConfigError(f"{source}: language '{language}' has an id for '{extension}', which is not its own")


def _nearest(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), 1)
    return f", did you mean '{near[0]}'?" if near else ""


def server_spec(name: str) -> ServerSpec:
    table = load_table()
    if name not in table.server:
        near = difflib.get_close_matches(name, table.server, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ";"
        raise ConfigError(f"no server is called '{name}'{hint} known: {', '.join(table.server)}")
    return table.server[name]


# ---- which language a file is of


class Files(NamedTuple):
    """Languages by extension, by whole name of a file, by program of a first line, by extension of a component; and those that claim an

    extension of another.
    """

    extensions: Mapping[str, str]
    filenames: Mapping[str, str]
    interpreters: Mapping[str, str]
    components: Mapping[str, str]
    claims: Mapping[str, list[str]]


@functools.cache
def known_files() -> Files:
    languages = load_table().language.items()
    claims: dict[str, list[str]] = {}
    for language, spec in languages:
        for extension in spec.claims:
            claims.setdefault(extension, []).append(language)
    return Files(
        extensions={extension: language for language, spec in languages for extension in spec.extensions},
        filenames={name: language for language, spec in languages for name in spec.filenames},
        interpreters={name: language for language, spec in languages for name in spec.interpreters},
        components={extension: language for language, spec in languages for extension in spec.components},
        claims=claims,
    )


def language_of(path: str, present: frozenset[str] = frozenset()) -> str:
    """The language of a path by its name or extension, or an empty string.

    Args:
        present: languages of the repository (`languages_present`): a `.h` is C++ where C++ is present.
    """
    files = known_files()
    name = path[path.rfind("/") + 1 :]
    language = files.filenames.get(name)
    if language is not None:
        return language
    dot = name.rfind(".")
    extension = name[dot:].lower() if dot >= 0 else ""
    if present:
        for claimant in files.claims.get(extension, ()):
            if claimant in present:
                return claimant
    return files.extensions.get(extension, "")


def languages_present(paths: Iterable[str]) -> frozenset[str]:
    """Languages that have at least one file among `paths`, claimed extensions left with their first owner."""
    return frozenset(filter(None, map(language_of, paths)))


def endings_of(languages: Iterable[str]) -> list[str]:
    """Ends of file names that belong to these languages: a new file with one of them makes an index old."""
    table = load_table().language
    return sorted({ending for language in languages for ending in _endings(table[language])})


def _endings(spec: LanguageSpec) -> list[str]:
    return [*spec.extensions, *spec.filenames, *spec.components]


def families() -> list[tuple[str, ...]]:
    """Languages that one server serves together: what is written in one may be used in the other."""
    return sorted({tuple(sorted(spec.languages)) for spec in load_table().server.values() if len(spec.languages) > 1})


def language_id(path: str, language: str) -> str:
    """What LSP calls the language of this document in `textDocument/didOpen`."""
    ids = load_table().language[language].ids
    if not ids:
        return language
    dot = path.rfind(".")
    return ids.get(path[dot:].lower() if dot > path.rfind("/") else "") or ids.get("*", language)


def is_test(path: str, language: str, *, more: Sequence[str] = (), fewer: Sequence[str] = ()) -> bool:
    """Whether a path holds tests by its language's conventions; `more` and `fewer` are patterns from the configuration."""
    if any(fnmatch(path, pattern) for pattern in fewer):
        return False
    if any(fnmatch(path, pattern) for pattern in more):
        return True
    names, folders = _test_patterns(language)
    folder, _, name = path.rpartition("/")
    return bool(names and names.fullmatch(name)) or bool(folders and folders.search(f"/{folder}/"))


@functools.cache
def _test_patterns(language: str) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    spec = load_table().language.get(language)
    names = spec.tests if spec else []
    folders = spec.test_folders if spec else []
    return (
        re.compile("|".join(translate(pattern) for pattern in names)) if names else None,
        re.compile("/(?:" + "|".join(re.escape(folder) for folder in folders) + ")/") if folders else None,
    )


# ---- what is on this machine


class Candidate(NamedTuple):
    """An executable: absolute path, where it was found, lspidx's own folder if it lies there."""

    path: str
    source: str
    folder: str


def find_executables(spec: ServerSpec, avoid: Sequence[str] = ()) -> Iterator[Candidate]:
    """Executables of a server: beside our interpreter (pinned with us), then in lspidx's own folder (what `spec` pins), then on PATH.

    Args:
        avoid: folders whose programs are not trusted; PATH may lead there, as that of an activated environment does.
    """
    name = spec.command[0]
    installed = find_installed(spec.name, spec.install)
    own = Path(sys.executable).parent / name
    if own.is_file() and not spec.module and os.access(own, os.X_OK):
        yield Candidate(_native(str(own), spec), "lspidx environment", "")
    if installed:
        path = shutil.which(name, path=str(installed[1]))
        if path:
            yield Candidate(_native(path, spec), "lspidx servers", str(installed[0]))
    on_path = shutil.which(name, path=safe_path(os.environ.get("PATH", os.defpath), avoid))
    if on_path and on_path != str(own) and not lies_in(on_path, avoid):
        yield Candidate(_native(os.path.abspath(on_path), spec), "PATH", "")


def _native(wrapper: str, spec: ServerSpec) -> str:
    """The program that a wrapper script would start, where the entry knows it; else the wrapper."""
    if spec.native:
        for folder in Path(wrapper).resolve().parents:
            program = next((path for path in sorted(folder.glob(spec.native)) if os.access(path, os.X_OK)), None)
            if program:
                return str(program)
    return wrapper


def find_server(name: str, avoid: Sequence[str] = ()) -> FoundServer:
    """Looks a server up and asks for its version.

    Args:
        avoid: as `find_executables`.
    Raises:
        ConfigError: no such entry.
        ServerMissing: not on this machine, too old or not able to run; the message says how to get it.
    """
    spec = server_spec(name)
    problem = f"no '{spec.command[0]}' beside lspidx, in its own folder or on PATH"
    for candidate in find_executables(spec, avoid):
        version, fault = _version(spec, candidate)
        if fault:
            problem = f"'{candidate.path}' {fault}"
        elif spec.at_least and _numbers(version) < _numbers(spec.at_least):
            problem = f"'{candidate.path}' is {version}, at least {spec.at_least} is needed"
        else:
            driven = [sys.executable, "-I", "-m", spec.module] if spec.module else []
            return FoundServer(
                spec=spec,
                command=[*driven, candidate.path, *spec.command[1:]],
                version=version,
                source=candidate.source,
                folder=candidate.folder,
            )
    raise ServerMissing(f"{name}: {problem}; to get it: {how_to_get(spec)}")


def how_to_get(spec: ServerSpec) -> str:
    """What a user may do to have this server."""
    return " or ".join([*([f"lspidx servers install {spec.name}"] if spec.install else []), *filter(None, [spec.otherwise])])


def _version(spec: ServerSpec, candidate: Candidate) -> tuple[str, str]:
    """The version, and why the command cannot be run, if so.

    Of what lspidx has installed, the pinned versions of all its packages: what is printed says nothing of the second one
    (typescript-language-server), or nothing at all (rust-analyzer built from the registry: 0.0.0).
    """
    printed, fault = _printed_version(spec, candidate)
    if candidate.folder:
        printed = Path(candidate.folder).name.removeprefix(f"{spec.name}-")
    return printed, fault


def _printed_version(spec: ServerSpec, candidate: Candidate) -> tuple[str, str]:
    if not spec.version_command:
        return "unknown", ""
    name = spec.version_command[0]
    command = candidate.path if name == spec.command[0] else shutil.which(name, path=str(Path(candidate.path).parent)) or shutil.which(name)
    if command is None:
        return "unknown", ""
    try:
        done = subprocess.run(
            [command, *spec.version_command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=60,
            check=False,
            cwd=Path(command).parent,  # some look around them for what version to be (rustup's proxies)
        )
    except subprocess.TimeoutExpired:
        return "unknown", ""
    except OSError as error:
        return "unknown", f"cannot be run: {error.strerror}"
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().split("\n")
        said = next((line for line in lines if "rror" in line), lines[0]).strip()
        return "unknown", f"cannot be run: '{' '.join(spec.version_command)}' ended with {done.returncode}, {said!r}"
    words = f"{done.stdout} {done.stderr}".split()
    return next((word.removeprefix("v") for word in words if _VERSION_WORD.match(word)), "unknown"), ""


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version.partition("-")[0])]
