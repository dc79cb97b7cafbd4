"""Configuration: a value that is passed down, with the source of every setting.

Order, later wins: default < user (`lspidx/config.toml` in the XDG config folder) < project (`lspidx.toml`, else
`pyproject.toml [tool.lspidx]`) < environment (`LSPIDX_*`) < flag of the run that made the index < flag. Nothing below `load_config`
reads the environment.

A project's word, which the remembered flags count as, does not reach outside of the workspace without the user's (ADR 0027).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast, get_type_hints

import msgspec

from indexer.consent import Reach, Refusal, allowed_folders
from indexer.encoding import read_toml
from indexer.errors import ConfigError
from indexer.model import Trust


class LanguageConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings of one language: `[language.NAME]` in lspidx.toml, `[tool.lspidx.language.NAME]` in pyproject.toml.

    server: entry of the server table; empty = the first of the language's that is on this machine. `none` leaves the language out.
    options, settings, environment: added to the server table's, key by key.
    exclude, include: patterns as in the general settings, for files of this language only.
    timeout_s, memory_mb: as request_timeout_s and server_memory_mb, for this language; 0 = those.
    """

    server: str = ""
    options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    environment: dict[str, str] = {}
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    timeout_s: float = 0.0
    memory_mb: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings of one crawl. `sources` names where each value came from.

    server: entry of the server table, for the languages that it serves; empty = the first of each language's that is here.
    language: what holds for one language only, by its name.
    folders: further workspace folders, each PATH or NAME=PATH, relative to the root.
    scip: files of SCIP, each PATH or LANGUAGE=PATH, that are asked in place of a server about the languages that they hold. A project's
        word counts only for a file that the user has named before.
    second: entry of the server table that is asked about identifiers which the first server and values that are followed leave open, in
        the languages that it serves; empty = nobody is.
    jobs: server processes; 0 = one per core, at most 8, fewer where memory_mb does not allow them.
    exclude: gitignore-like patterns (fnmatch on the relative path or on a leading folder).
    include: the same of what is read though it is excluded, vendored, generated, minified, bundled or built, or lies in another
        repository or a hidden folder.
    max_file_bytes: larger files are skipped, and said so.
    max_file_depth: how deeply a file may be nested; one that is deeper is asked nothing, and no server is told its text. 0 = no limit.
    max_file_questions: asked about one file at most; what is beyond is a gap of that file. 0 = no limit, as with the next five.
    max_unit_questions: asked about the files of one unit (1.2 MB of source, or one file) at most.
    max_file_s, max_unit_s: seconds that a server is waited for because of one file, and of one unit, first loading left out; what then
        has no answers is a gap.
    max_load_s: seconds that a server may load: for the first documents of a unit, and in all that it was started in vain.
    max_fetch_s: seconds after which `fetch` begins no step more for a project beside the first (examples, mostly). Of these seven a
        project may lower each, never raise it.
    python: interpreter or environment of the project; empty = found.
    source_roots: folders that imports start from, relative to the root; empty = found.
    request_timeout_s: silence after which a server counts as hung; 0 = the server table's.
    memory_mb: for the whole run, all processes; 0 = no limit. Fewer servers are started where it is small, and replaced sooner.
    server_memory_mb: above it a server is replaced between two files; 0 = the server table's.
    hover, diagnostics: whether to ask for them.
    cross_check: share of the identifiers that need no question and are asked all the same, to count disagreements.
    cache_remote: where `lspidx cache push` and `pull` go when no place is named.
    trusted_keys: public keys (lines of OpenSSH, or files of them), one of which must have signed an artifact that is imported; empty =
        any artifact is read as an attacker's. What the user has set, no project replaces.
    daemon_idle_s: how long servers that questions have started stay warm after the last question; 0: no background process is used.
    worker_idle_s: how long the worker of a process that keeps an index fresh stays after a refresh, with its servers; 0: it ends with that.
    refresh_pause_s: how long files have to be at rest until a process that keeps an index fresh, and is asked again and again, brings it
        up to date unasked; 0: only a question does.
    tests: further patterns of test files; not_tests: patterns that look like tests and are none.
    trust: what servers may execute of the repository: none, deps or full (`indexer.model.Trust`). A project may lower it, never raise it.
    readable: folders that servers may read beside the workspace and what they need, below full trust. The user's word only.
    allow_folders: folders outside of the workspace that a project's settings may name. The user's word only.
    fetch: whether a crawl first runs the download step of each language's build tool, outside of the fence. The user's word only.
    min_resolved: percentage of a language's identifiers below which a crawl ends with 1, though its index is published; 0 = none.

    `withheld` are settings of the project that do not count (`why_withheld`): they would make a server run or load something, or raise
    what the project may cost. `refused` are places outside of the workspace that the project names without the user's word. `lasting` are
    flags that a session has put others in place of, for itself.
    """

    server: str = ""
    second: str = ""
    language: Mapping[str, LanguageConfig] = field(default_factory=dict[str, LanguageConfig])
    folders: tuple[str, ...] = ()
    scip: tuple[str, ...] = ()
    jobs: int = 0
    memory_mb: int = 0
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    max_file_bytes: int = 5_000_000
    max_file_depth: int = 400
    max_file_questions: int = 50_000
    max_unit_questions: int = 200_000
    max_file_s: float = 180.0
    max_unit_s: float = 900.0
    max_load_s: float = 1_800.0
    max_fetch_s: float = 300.0
    python: str = ""
    source_roots: tuple[str, ...] = ()
    request_timeout_s: float = 0.0
    server_memory_mb: int = 0
    hover: bool = True
    diagnostics: bool = True
    cross_check: float = 0.01
    cache_remote: str = ""
    trusted_keys: tuple[str, ...] = ()
    daemon_idle_s: float = 900.0
    worker_idle_s: float = 600.0
    refresh_pause_s: float = 1.0
    tests: tuple[str, ...] = ()
    not_tests: tuple[str, ...] = ()
    trust: Trust = Trust.NONE
    readable: tuple[str, ...] = ()
    allow_folders: tuple[str, ...] = ()
    fetch: bool = False
    min_resolved: float = 0.0
    withheld: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    allowed: tuple[str, ...] = ()
    lasting: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sources: Mapping[str, str] = field(default_factory=dict[str, str])

    def of_language(self, language: str) -> LanguageConfig:
        return self.language.get(language) or LanguageConfig()

    def values(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name not in _MADE}

    def flags(self) -> dict[str, Any]:
        """What was given as a flag, now or when the index was made: a refresh takes it again. Trust is given anew each time."""
        given = {name: getattr(self, name) for name, source in self.sources.items() if source in ("flag", REMEMBERED)}
        return {name: value for name, value in {**given, **self.lasting}.items() if name not in ("trust", *_USERS_ONLY)}


_MADE = frozenset({"sources", "withheld", "refused", "allowed", "lasting"})
"""Not set by anybody."""

_TYPES = {name: kind for name, kind in get_type_hints(Config).items() if name not in _MADE}

_DEFAULTS: dict[str, Any] = {item.name: item.default for item in fields(Config)}

_USERS = frozenset({"trusted_keys", "daemon_idle_s", "worker_idle_s", "refresh_pause_s"})
"""Settings of which the user's word holds against the project's: a project must not talk its way around them."""

_USERS_ONLY = frozenset({"readable", "fetch", "allow_folders"})
"""Settings that a project cannot make at all."""

LIMITS = frozenset({"max_file_depth", "max_file_questions", "max_unit_questions", "max_file_s", "max_unit_s", "max_load_s", "max_fetch_s"})
"""Settings that bound what a repository may cost: a project may lower what the user has set, never raise it."""

_LOADED = ("options", "settings", "environment")
"""What is told to a server may make it load or run something (a toolexec in GOFLAGS, an LD_PRELOAD, a path of a tool)."""

REMEMBERED = "flag of an earlier run"
"""Source of a setting that was given as a flag when the index was made."""

_SESSION = "session"
"""Source of a setting that holds for as long as a server for agents runs."""

_PROJECT = ("lspidx.toml", "pyproject.toml [tool.lspidx]")
_OUTSIDE = ("folders", "python", "source_roots", "scip")
"""Settings that name places, which may lie outside of the workspace."""

_NAMED = ("folders", "scip")
"""Those of them whose places may have a name before a `=`."""


def load_config(
    root: Path,
    *,
    flags: Mapping[str, Any] | None = None,
    remembered: Mapping[str, Any] | None = None,
    session: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    user_dir: Path | None = None,
) -> Config:
    """The configuration of `root`.

    Args:
        flags: values given on the command line; None values are not given.
        remembered: flags of the run that made the present index (`Home.flags`), so that refreshing it makes the same index again.
        session: values in place of all others that no later run is to take again. Whoever gives them has judged them.
        environment: defaults to the process's; tests pass their own.
        user_dir: defaults to XDG's configuration folder.
    Raises:
        ConfigError: unreadable TOML, an unknown key (with the nearest known one) or a value of the wrong type.
    """
    env = os.environ if environment is None else environment
    given = _Given()
    user_file, project_file, pyproject = setting_files(root, env, user_dir)
    if user_file.is_file():
        given.take(_read_toml(user_file), str(user_file))
    allowed = [*allowed_folders(root), *(entry.rpartition("=")[2] for entry in given.values.get("folders", ()))]
    if project_file.is_file() and not _leads_out(project_file, root, given.refused):
        given.take_of_project(_read_toml(project_file), _PROJECT[0])
    elif pyproject.is_file() and not _leads_out(pyproject, root, given.refused):
        given.take_of_project(_section(_read_toml(pyproject)), _PROJECT[1])
    for name, value in _of_environment(env).items():
        given.take({name: value}, f"environment LSPIDX_{name.upper()}")
    given.take_of_project(remembered or {}, REMEMBERED)  # they lie in the project's folder, and so may be its author's
    given.take({key: value for key, value in (flags or {}).items() if value is not None}, "flag")
    values, sources = given.values, given.sources
    lasting = {name: values[name] for name in session or {} if sources.get(name) in ("flag", REMEMBERED)}
    reach = Reach(root, [*allowed, *_named_by_user(values, sources), *values.get("allow_folders", ())], env)
    denied = _without_places_outside(values, sources, reach)
    given.take(session or {}, _SESSION)
    given.release_withheld()
    made: dict[str, Any] = {"withheld": tuple(given.refused), "refused": tuple(denied), "allowed": reach.allowed, "lasting": lasting}
    config = Config(**values, **made, sources={name: sources.get(name, "default") for name in _TYPES})
    _check(config)
    return config


class _Given:
    """Settings from one place after the other. A later one counts more; a project's word counts as far as its user lets it.

    withheld: of the project, by language, what counts at full trust only. refused: settings of the project that do not count.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.sources: dict[str, str] = {}
        self.withheld: dict[str, dict[str, Any]] = {}
        self.refused: list[str] = []

    def take(self, raw: Mapping[str, Any], source: str) -> None:
        for key, value in raw.items():
            self._set(_known(key, source), value, source)

    def take_of_project(self, raw: Mapping[str, Any], source: str) -> None:
        for key, value in raw.items():
            name = _known(key, source)
            if self._asks_for_less(name, value):
                continue
            if self._goes_too_far(name, value, source):
                self.refused.append(f"{name} of {source}")
                continue
            if name == "language" and isinstance(value, Mapping):
                value = _without_loaded(cast("Mapping[str, Any]", value), self.withheld, self.refused, source)
            self._set(name, value, source)

    def release_withheld(self) -> None:
        """At full trust what was withheld counts, over all else."""
        if self.values.get("trust") == Trust.FULL and self.withheld:
            self.refused = [text for text in self.refused if not text.startswith("language.")]
            languages = overlay(msgspec.to_builtins(self.values.get("language", {})), self.withheld)
            self.values["language"] = _converted("language", languages, "the project")

    def _asks_for_less(self, name: str, value: Any) -> bool:
        """Whether the user's own word stands, without another."""
        if name in _USERS:
            return bool(self.values.get(name))
        return name == "min_resolved" and isinstance(value, (int, float)) and value < self.values.get(name, 0.0)

    def _goes_too_far(self, name: str, value: Any, source: str) -> bool:
        if name in _USERS_ONLY:
            return True
        if name == "trust":
            return not _is_lower(value, self.values.get("trust", Trust.NONE))
        return name in LIMITS and not _is_within(_converted(name, value, source), self.values.get(name, _DEFAULTS[name]))

    def _set(self, name: str, value: Any, source: str) -> None:
        if name == "language" and name in self.values and isinstance(value, Mapping):  # key by key: who comes later adds
            value = overlay(msgspec.to_builtins(self.values[name]), value)
        self.values[name] = _converted(name, value, source)
        self.sources[name] = source


def _known(key: str, source: str) -> str:
    """The setting's name.

    Raises:
        ConfigError: there is none of this name.
    """
    name = key.replace("-", "_")
    if name not in _TYPES:
        near = difflib.get_close_matches(name, _TYPES, 1)
        hint = f", did you mean '{near[0]}'?" if near else f"; known: {', '.join(_TYPES)}"
        raise ConfigError(f"{source}: unknown setting '{key}'{hint}")
    return name


def _section(pyproject: Mapping[str, Any]) -> dict[str, Any]:
    """Our table of a `pyproject.toml`; empty where it has none."""
    tool = pyproject.get("tool")
    section = cast("dict[str, Any]", tool).get("lspidx") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise ConfigError("pyproject.toml: [tool.lspidx] is not a table")
    return cast("dict[str, Any]", section or {})


def _of_environment(env: Mapping[str, str]) -> dict[str, Any]:
    """What `LSPIDX_*` variables say, by the name of the setting."""
    found: dict[str, Any] = {}
    for name, kind in _TYPES.items():
        text = env.get(f"LSPIDX_{name.upper()}") if name != "language" else None
        if text is not None:
            found[name] = [part for part in text.split(os.pathsep) if part] if "tuple" in str(kind) else text
    return found


def is_of_project(source: str) -> bool:
    """Whether a setting's value is a project's word."""
    return source in (REMEMBERED, *_PROJECT)


def setting_files(root: Path, environment: Mapping[str, str], user_dir: Path | None = None) -> tuple[Path, Path, Path]:
    """Where settings are read from, whether they are there or not: the user's file, `lspidx.toml`, `pyproject.toml`."""
    xdg = environment.get("XDG_CONFIG_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".config")
    return (user_dir or Path(xdg) / "lspidx") / "config.toml", root / "lspidx.toml", root / "pyproject.toml"


def _converted(name: str, value: Any, source: str) -> Any:
    try:
        return msgspec.convert(value, _TYPES[name], strict=not source.startswith("environment"))
    except msgspec.ValidationError as error:
        raise ConfigError(f"{source}: setting '{name}': {error}") from error


def _is_lower(value: Any, present: Trust) -> bool:
    """Whether a project's word on trust takes something away; one that cannot be read is an error further on."""
    return value not in list(Trust) or present.covers(Trust(value))


def why_withheld(setting: str) -> str:
    """Why one of `Config.withheld` does not count, and what helps."""
    name = setting.partition(" of ")[0]
    if name in LIMITS:
        return f"a project may not raise what it may cost; to allow that: LSPIDX_{name.upper()}, or the user's own file"
    return "it might make a server execute something; to allow that: --trust full"


def _is_within(value: float, present: float) -> bool:
    """Whether a limit allows no more than another; 0 is none."""
    return not present or 0 < value <= present


def _without_loaded(
    languages: Mapping[str, Any], withheld: dict[str, dict[str, Any]], refused: list[str], source: str
) -> dict[str, Mapping[str, Any]]:
    """A project's settings of languages without what it tells servers, which goes into `withheld`."""
    kept: dict[str, Mapping[str, Any]] = {}
    for language, value in languages.items():
        if not isinstance(value, Mapping):
            kept[language] = value
            continue
        settings = cast("Mapping[str, Any]", value)
        loaded = {key: settings[key] for key in _LOADED if settings.get(key)}
        _converted("language", {language: loaded}, source)  # a wrong one is an error at every level
        if loaded:
            withheld[language] = overlay(withheld.get(language, {}), loaded)
            refused += [f"language.{language}.{key} of {source}" for key in loaded]
        kept[language] = {key: item for key, item in settings.items() if key not in loaded}
    return kept


def _leads_out(file: Path, root: Path, refused: list[str]) -> bool:
    """Whether a settings file of the project is a link to one that the project does not hold: it is not even read."""
    if file.is_symlink() and not Reach(root).is_inside(os.path.realpath(file)):
        refused.append(f"{file.name}, a link that leads out of the workspace,")
        return True
    return False


def _without_places_outside(values: dict[str, Any], sources: Mapping[str, str], reach: Reach) -> list[Refusal]:
    """Takes places out of `values` that the project names and the user has not allowed, and says which.

    Raises:
        ConfigError: the user names a workspace folder that nobody opens.
    """
    denied: list[Refusal] = []
    for name in _OUTSIDE:
        source = sources.get(name, "")
        value = values.get(name)
        if not value:
            continue
        entries: tuple[str, ...] = (value,) if isinstance(value, str) else value
        places = {entry: entry.rpartition("=")[2] if name in _NAMED else entry for entry in entries}
        if not is_of_project(source):
            closed = [text for text in places.values() if reach.is_closed(reach.place(text))] if name == "folders" else []
            if closed:
                raise ConfigError(f"{source}: '{closed[0]}' is no folder for an index of something else; alone: lspidx index {closed[0]}")
            continue
        found = {entry: refusal for entry, text in places.items() if (refusal := reach.refusal(name, text, source)) is not None}
        denied += found.values()
        if found and isinstance(value, str):
            del values[name]
        elif found:
            values[name] = tuple(entry for entry in entries if entry not in found)
    return denied


def _named_by_user(values: Mapping[str, Any], sources: Mapping[str, str]) -> list[str]:
    """Places that the user names now, as open as they are to the runs after this one, which know them as allowed."""
    named: list[str] = []
    for name in _OUTSIDE:
        value = values.get(name)
        if value and not is_of_project(sources.get(name, "")):
            entries: tuple[str, ...] = (value,) if isinstance(value, str) else value
            named += [entry.rpartition("=")[2] if name in _NAMED else entry for entry in entries]
    return named


def overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` on top of `below`, table by table."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = overlay(cast("Mapping[str, Any]", old), cast("Mapping[str, Any]", value)) if both else value
    return result


def _check(config: Config) -> None:
    for name, low, high in (
        ("jobs", 0, 64),
        ("max_file_bytes", 1, 10_000_000),
        ("cross_check", 0.0, 1.0),
        ("daemon_idle_s", 0.0, 86_400.0),
        ("worker_idle_s", 0.0, 86_400.0),
        ("refresh_pause_s", 0.0, 3_600.0),
        ("min_resolved", 0.0, 100.0),
        ("max_file_depth", 0, 10**9),
        ("max_file_questions", 0, 10**9),
        ("max_unit_questions", 0, 10**9),
        ("max_file_s", 0.0, 86_400.0),
        ("max_unit_s", 0.0, 86_400.0),
        ("max_load_s", 0.0, 86_400.0),
        ("max_fetch_s", 0.0, 86_400.0),
        ("request_timeout_s", 0.0, 3_600.0),
    ):
        value = getattr(config, name)
        if not low <= value <= high:
            raise ConfigError(f"{config.sources[name]}: setting '{name}' is {value}, expected {low} to {high}")
    for language, settings in config.language.items():
        if not 0.0 <= settings.timeout_s <= 3_600.0:
            raise ConfigError(
                f"{config.sources['language']}: setting 'language.{language}.timeout_s' is {settings.timeout_s}, expected 0 to 3600"
            )


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path)
    except ValueError as error:
        raise ConfigError(f"{path.name}: not readable as TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path.name}: not readable: {error.strerror}") from error
