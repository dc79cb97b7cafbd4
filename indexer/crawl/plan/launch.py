"""How the server of a group is started at a level of trust: the one place that turns the server table into a command.

Crawls and live questions start the same thing. What a repository's own folder holds of ours (`.lspidx`) may be its author's work:
it is written to only where it is a folder and no link, and nothing in it decides what is executed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from indexer import plain_files, sandbox
from indexer.config import Config, overlay
from indexer.crawl.plan.companions import compile_commands, go_workspace, python_environment, rust_project
from indexer.crawl.plan.groups import Group
from indexer.git_command import variables_within_the_fence
from indexer.jvm.plan import FILE, Plan
from indexer.languages import GO, JAVA, PYTHON, record_of
from indexer.model import Trust
from indexer.sandbox import Confinement
from indexer.servers.grants import confinement, fetched_places, reach_of
from indexer.servers.placeholders import fill, fill_words
from indexer.store.generations import Home
from indexer.tsconfig import closed
from indexer.workspace import Folder

log = logging.getLogger(__name__)


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is started with. `options` are its initializationOptions; `confinement` is None at full trust.

    overlays: texts in place of those of files, by absolute path.
    """

    command: list[str]
    environment: dict[str, str]
    options: dict[str, Any]
    settings: dict[str, Any]
    confinement: Confinement | None
    overlays: dict[str, str] = {}


def launch(
    item: Group,
    home: Home,
    folders: Sequence[Folder],
    config: Config,
    *,
    threads: int,
    note: Callable[[str], None],
    caller: Mapping[str, str] | None = None,
    live: bool = False,
    memory_bytes: int | None = None,
) -> Launch:
    """How to start the server of `item`, a group of `indexer.crawl.plan.groups.group`, which has chosen it for `config.trust`.

    Args:
        home: of the workspace; its folders scratch and cache are what the server may write.
        threads: processors for this one process.
        note: told what a user should know.
        caller: our own environment; default: the process's.
        memory_bytes: what this one process may take, for servers that can be told so.
        live: for questions about edits and places, not for a crawl: more is asked of it.
    Raises:
        UnsafeIndex: a folder that it would write to is a link.
    """
    spec, own = item.server.spec, item.settings
    places = [folder.path for folder in folders]
    outer = os.environ if caller is None else caller
    reach = reach_of(home.root, config, places, outer)
    scratch, cache = home.folder("scratch"), home.folder("cache")
    values: dict[str, Any] = {**item.placeholders, "scratch": str(scratch), "cache": str(cache), "threads": str(threads)}
    values["memory"] = str(memory_bytes) if memory_bytes else None
    its_own: dict[str, Any] = {**spec.environment, **own.environment}
    variables, more_readable = _prepare(item, home, folders, cache, values, its_own, outer, reach.may_read)
    for text in item.notes:
        note(f"{spec.name}: {text}")
    environment: dict[str, Any] = {**fetched_places(spec, values), **variables}
    held: Confinement | None = None
    if item.server.command and config.trust is not Trust.FULL:
        held, more = confinement(
            item.server,
            trust=config.trust,
            folders=places,
            reach=reach,
            values=values,
            readable=[*config.readable, *item.readable, *more_readable],
            caller=outer,
            scratch=scratch,
            cache=cache,
        )
        environment = {**variables_within_the_fence(), **more, **environment}
    more_options, more_settings = (spec.live.options, spec.live.settings) if live else ({}, {})
    options = fill(overlay(overlay(spec.options, more_options), own.options), values)
    return Launch(
        command=[*fill_words(item.server.command, values), *(spec.live.arguments if live else ())],
        environment={key: str(value) for key, value in fill(environment, values).items()},
        options=options,
        settings=fill(overlay(overlay(spec.settings, more_settings), own.settings), values),
        confinement=held,
        overlays={
            os.path.normpath(home.root / one.path): one.text if live or one.path.endswith("package.json") else closed(one.text)
            for one in item.overlays
        },
    )


def _prepare(
    item: Group,
    home: Home,
    folders: Sequence[Folder],
    cache: Path,
    values: dict[str, Any],
    environment: Mapping[str, Any],
    caller: Mapping[str, str],
    may_read: Callable[[str], bool],
) -> tuple[dict[str, Any], list[str]]:
    """Writes what a server wants to find beside the sources, and adds its places to `values`.

    Returns:
        Its variables, and what it must be able to read beyond the workspace.
    """
    variables, readable = dict(environment), list[str]()
    if any(record_of(language).is_included for language in item.languages):
        made_of = compile_commands(home.root, item.documents, cache, item.paths, may_read)
        values["compile_commands"] = str(cache)
        log.info("compilation database: %s", made_of)
    if PYTHON.name in item.languages and "python_version" in values:
        behind = values.get("python_behind")
        own_python = python_environment(cache, str(values["python_version"]), behind or [])
        values["no_python"] = str(own_python / "bin" / "python")  # it does not exist: a server that cannot ask it knows no other either
        values["python"] = values["python"] or values["no_python"]
        values["source_roots"] = values["source_roots"] or [str(own_python / "nothing")]  # without a word it would be the workspace
        values["python_environment"] = str(own_python) if behind is not None else values["python_prefix"]
    if GO.name in item.languages:
        go = go_workspace(folders, item.paths, cache, caller, may_read)
        variables |= go.variables
        readable += [path for name, path in go.variables.items() if name == "GOMODCACHE"]
        if go.is_vendored:
            variables["GOFLAGS"] = str(variables.get("GOFLAGS", "")).replace("-mod=readonly", "-mod=vendor")
        if go.flags:
            variables["GOFLAGS"] = f"{variables.get('GOFLAGS', '')} {go.flags}".strip()
        if go.missing:
            log.info("empty modules stand for missing ones: modules=%s", "|".join(go.missing))
    if JAVA.name in item.languages and item.server.spec.module:
        class_path = [str(path) for path in values.pop("class_path", None) or ()]
        plan = Plan(files=[document.path for document in item.documents if document.language == JAVA.name], class_path=class_path)
        plain_files.write_whole(cache / FILE, msgspec.json.encode(plan))
        readable += class_path
    project = values.pop("cargo_project", None)
    if project:
        values["cargo_manifests"] = [*(values.get("cargo_manifests") or []), str(rust_project(project, cache))]
    return variables, readable


def sandbox_of(trust: Trust) -> str:
    """What confines servers at this level, on this machine; for the run's record."""
    return "off: full trust" if trust is Trust.FULL else sandbox.describe()


def unconfined(trust: Trust) -> Iterator[str]:
    """What a user must know before servers are started at this level, where files or the network are open to them; else nothing."""
    if trust is not Trust.FULL and not sandbox.holds_files_and_network():
        yield f"servers are confined in part only ({sandbox.describe()}); what stays open to them: lspidx doctor"
