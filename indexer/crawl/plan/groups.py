"""Which server crawls which documents: one group per server, with all that its workers have to know.

Languages that one server serves (TypeScript and JavaScript, C and C++) are one group, for their files refer to each other.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import msgspec

from indexer import go_modules, go_versions, node_project, packages, prerequisites, python_project
from indexer.builds import DEFAULT, Build, is_left_out, variants
from indexer.cargo.linked import COPIES, find_crates, link, lone_crates
from indexer.config import Config, LanguageConfig
from indexer.consent import Reach
from indexer.crawl.plan import alone
from indexer.crawl.plan.choice import Choice, Taken
from indexer.crawl.plan.companions import guessed_folders
from indexer.crawl.plan.scip_files import readable_of, servers_of
from indexer.crawl.units import PlannedDocument
from indexer.declared_package import declared_package
from indexer.errors import ServerMissing
from indexer.jvm.fetched import class_path, projects_folder
from indexer.languages import GO, JAVA, PYTHON, RUST, record_of
from indexer.model import Skipped, SkipReason, Trust
from indexer.prerequisites import fetched_dir, fetched_folder
from indexer.prerequisites.python import fetched_environment
from indexer.python_manifests import read_manifests
from indexer.python_roots import find_source_roots
from indexer.servers.environments import packages_of
from indexer.servers.grants import reach_of
from indexer.servers.registry import FoundServer, ServerSpec, is_test
from indexer.tsconfig import Overlay
from indexer.workspace import Folder

log = logging.getLogger(__name__)


NO_SERVER = FoundServer(
    spec=ServerSpec(
        languages=[],
        command=[],
        version_command=[],
        open="none",
        window=1,
        ready="initialized",
        hierarchy="none",
        timeout_s=1,
        memory_mb=1,
        diagnostics="none",
        lacks=[],
        tried="",
        name="none",
    ),
    command=[],
    version="",
    source="",
    folder="",
)
"""Stands where a language has no server here: its files are read for what their text says, and the gap is recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """`placeholders` are values for the `{…}` of the server table; `ingredients` all that answers depend on beside the documents."""

    server: FoundServer
    documents: list[PlannedDocument]
    placeholders: Mapping[str, Any]
    ingredients: list[str]
    environment: str
    settings: LanguageConfig
    paths: Sequence[str] = ()
    """All files of the workspace, relative to the root."""
    recoded: Sequence[tuple[str, str]] = ()
    """Documents whose texts a server must be told, with their languages: not in UTF-8, or without the ending that it goes by."""

    notes: Sequence[str] = ()
    """What a user should know when the server is started."""

    overlays: Sequence[Overlay] = ()
    """Texts that the server is told in place of those of files."""

    readable: Sequence[str] = ()
    """Folders outside of the workspace that the server may read."""

    build: Build = DEFAULT
    """The build that the server loads; its documents are those that this one takes in and the default leaves out."""

    @property
    def key(self) -> str:
        """Name of the server, and of the build where it is not the default."""
        return "-".join([self.server.spec.name, *self.build.label.split()])

    @property
    def languages(self) -> list[str]:
        return sorted({document.language for document in self.documents})


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """The documents that one server is to crawl, and the workspace that they lie in, of which a group is made.

    `paths`: all files of the workspace, relative to the root. `environment`: the caller's.
    """

    server: FoundServer
    documents: Sequence[PlannedDocument]
    folders: Sequence[Folder]
    paths: Sequence[str]
    config: Config
    environment: Mapping[str, str]

    @property
    def root(self) -> Path:
        return self.folders[0].path

    @functools.cached_property
    def reach(self) -> Reach:
        """What outside of the workspace may be read."""
        return reach_of(self.root, self.config, [folder.path for folder in self.folders], self.environment)

    @functools.cached_property
    def root_paths(self) -> list[str]:
        """The files of the workspace that lie below its root, and not in a folder beside it."""
        return [path for path in self.paths if not path.startswith("../")]

    @functools.cached_property
    def languages(self) -> list[str]:
        return sorted({document.language for document in self.documents})

    @property
    def look(self) -> prerequisites.Look:
        """Where the downloads of `--fetch` lie, if this workspace has any."""
        fetched = fetched_dir(self.environment)
        return prerequisites.Look(root=self.root, paths=(), languages=frozenset(), environment=self.environment, fetched=fetched)

    def placeholders(self) -> dict[str, Any]:
        """Those that every group has."""
        return {"root": str(self.root), **self.server.placeholders()}

    def settings_text(self) -> str:
        """The user's settings of the languages, for a recipe."""
        return msgspec.json.encode([self.config.of_language(language) for language in self.languages]).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """`missing` says by language how to get a server. `skipped` are the documents of which then nothing can be told.

    `notes`: what a user should know of who is asked.
    """

    groups: list[Group]
    skipped: list[Skipped]
    missing: dict[str, str]
    notes: Sequence[str] = ()


def group(
    folders: Sequence[Folder],
    paths: Sequence[str],
    documents: Sequence[PlannedDocument],
    config: Config,
    environment: Mapping[str, str],
    taken: Mapping[str, Taken] = MappingProxyType({}),
) -> Grouping:
    """Chooses a server for each language and sorts the documents by it.

    Args:
        paths: all files of the workspace, relative to the root: where manifests and settings are looked for.
        environment: the caller's.
        taken: documents that go to another server than their language's, since that has lost them.
    Raises:
        ServerMissing: there are documents, and no language of theirs has a server here, or else a grammar for its outline.
    """
    missing: dict[str, str] = {}
    counts = Counter(document.language for document in documents)
    servers = dict(servers_of(config, folders[0].path, counts))
    choice = Choice(config=config, folders=folders, paths=paths)
    for language in sorted(counts.keys() - servers.keys()):
        try:
            server = choice.first(language)
        except ServerMissing as error:
            missing[language] = f"{error}{alone.remedy(language)}"
            log.warning("no server: language=%s documents=%d detail=%s", language, counts[language], error)
        else:
            if server is not None:
                servers[language] = server
    if missing and not servers and not alone.is_enough(missing):
        raise ServerMissing(missing[max(missing, key=lambda language: counts[language])])
    others, notes = choice.beside_scip(servers, documents)
    others |= choice.of_taken(servers, documents, taken)
    known = {item.spec.name: item for item in [*others.values(), *servers.values()]}
    by_server: dict[str, list[PlannedDocument]] = {}
    skipped: list[Skipped] = []
    for document in documents:
        server = others.get(document.path) or servers.get(document.language)
        if server is None and document.language in missing and alone.is_read(document.language):
            server = NO_SERVER
        if server is not None:
            by_server.setdefault(server.spec.name, []).append(document)
        else:
            reason = SkipReason.NO_SERVER if document.language in missing else SkipReason.EXCLUDED
            skipped.append(Skipped(path=document.path, reason=reason, language=document.language))
    assigned = [(known.get(name, NO_SERVER), members) for name, members in by_server.items()]
    groups = groups_of(assigned, folders, paths, config, environment)
    return Grouping(groups=groups, skipped=skipped, missing=missing, notes=notes)


def groups_of(
    assigned: Sequence[tuple[FoundServer, Sequence[PlannedDocument]]],
    folders: Sequence[Folder],
    paths: Sequence[str],
    config: Config,
    environment: Mapping[str, str],
) -> list[Group]:
    """The groups of servers whose documents are known.

    Args:
        assigned: each server once. paths, environment: as `group` has them.
    """
    groups: list[Group] = []
    for server, members in assigned:
        make = next((make for language, make in _MAKERS.items() if language in server.spec.languages), _plain_group)
        work = Assignment(server=server, documents=members, folders=folders, paths=paths, config=config, environment=environment)
        made = make(work)
        made = replace(made, readable=[*made.readable, *readable_of(server)])
        told = [item for item in members if item.encoding or (server.spec.by_ending and not PurePosixPath(item.path).suffix)]
        groups += _by_build(replace(made, recoded=[(item.path, item.language) for item in told]))
    return groups


def _by_build(item: Group) -> list[Group]:
    """The group in parts, one for each build that takes in files which the default leaves out; the default's comes first."""
    if not item.server.spec.builds:
        return [item]
    wanted = variants({one.path: one.constraint for one in item.documents if is_left_out(one.constraint)})
    parts: dict[Build, list[PlannedDocument]] = {DEFAULT: []}
    for document in item.documents:
        parts.setdefault(wanted.get(document.path) or DEFAULT, []).append(document)
    return [
        item if build == DEFAULT and len(documents) == len(item.documents) else _of_build(item, build, documents)
        for build, documents in parts.items()
        if documents
    ]


def _of_build(item: Group, build: Build, documents: list[PlannedDocument]) -> Group:
    if build == DEFAULT:
        return replace(item, documents=documents)
    spec = item.server.spec
    told = {"system": build.system, "machine": build.machine, "tags": ",".join(build.tags)}
    environment = {**spec.environment, **{name: text.format_map(told) for name, text in spec.builds.items()}}
    server = msgspec.structs.replace(item.server, spec=msgspec.structs.replace(spec, environment=environment))
    return replace(item, server=server, documents=documents, build=build, ingredients=[*item.ingredients, f"build {build.label}"])


def _python_group(work: Assignment) -> Group:
    root, folders, paths, documents, config = work.root, work.folders, work.paths, work.documents, work.config
    manifests = read_manifests(root, work.root_paths)
    project = python_project.find_project(
        root,
        work.root_paths,
        python=config.python,
        source_roots=config.source_roots,
        environment=work.environment,
        own_prefix=sys.prefix,
        fetched=fetched_environment(root, work.environment),
        manifests=manifests,
        may_read=work.reach.may_read,
    )
    inside = [item.path for item in documents if not item.path.startswith("../")]
    modules = python_project.module_names(root, project.all_roots, inside)
    owners = python_project.own_packages(manifests, inside)
    roots, last = list(project.source_roots), list(project.last_roots)
    for folder in folders[1:]:
        relative = [item.path.removeprefix(folder.prefix) for item in documents if item.path.startswith(folder.prefix)]
        if not relative:
            continue
        listed = [path.removeprefix(folder.prefix) for path in paths if path.startswith(folder.prefix)]
        known = read_manifests(folder.path, listed)
        found = find_source_roots(folder.path, listed, known)
        its_modules = python_project.module_names(folder.path, (*found.first, *found.last), relative)
        modules |= {folder.prefix + path: module for path, module in its_modules.items()}
        its_owners = python_project.own_packages(known, relative, folder.name)
        owners |= {folder.prefix + path: owner for path, owner in its_owners.items()}
        roots += [path for path in found.first if path not in roots]
        last += [path for path in found.last if path not in last]
    named = [_described(item, modules[item.path], owners[item.path], config) for item in documents]
    is_part = not config.trust.covers(Trust.FULL) and _is_part_of(root, paths, project.prefix)  # not installed for it: brought by it
    packages_there = packages_of(str(project.prefix), work.reach) if project.prefix else []
    behind = [*(str(path) for path in last), *packages_there, *(str(path) for path in project.fallback_roots)]
    all_roots = [str(path) for path in (*roots, *last, *project.fallback_roots)] or None
    search_paths = [*(str(path) for path in roots), *behind] or None
    placeholders = {
        **project.placeholders(),
        **({"python": None} if is_part else {}),
        **work.placeholders(),
        "source_roots": [str(path) for path in roots] or None,
        "all_roots": search_paths if is_part or not project.interpreter else all_roots,
        "search_paths": search_paths,
        "python_version": project.version,
        "python_behind": behind if last or project.fallback_roots or not project.prefix else None,
        "fetched_python": str(project.prefix) if project.is_fetched else None,
    }
    relative_roots = [os.path.relpath(path, root) for path in (*roots, *last, *project.fallback_roots)]
    return Group(
        server=work.server,
        documents=named,
        placeholders=placeholders,
        ingredients=[
            f"roots {relative_roots} {len(roots)} {len(last)}",
            f"environment {python_project.environment_digest(project)} {project.version}",
            f"settings {python_project.settings_digest(root, paths)}",
            work.settings_text(),
        ],
        environment=project.found_by,
        settings=config.of_language(PYTHON.name),
        paths=paths,
    )


def _is_part_of(root: Path, paths: Sequence[str], prefix: Path | None) -> bool:
    """Whether files of an environment are files of the repository."""
    if prefix is None or not prefix.is_relative_to(root):
        return False
    inside = f"{prefix.relative_to(root).as_posix()}/"
    return any(path.startswith(inside) for path in paths)


def _plain_group(work: Assignment) -> Group:
    root, folders, paths, documents, config = work.root, work.folders, work.paths, work.documents, work.config
    own: dict[str, tuple[packages.Package, str]] = {}
    for folder in folders:
        for language in work.languages:
            inside = [item.path for item in documents if item.language == language and _in_folder(item.path, folder, folders)]
            found = packages.own_packages(
                folder.path, language, [path.removeprefix(folder.prefix) for path in inside], folder.name if folder.prefix else ""
            )
            own |= {folder.prefix + path: owner for path, owner in found.items()}
    named = [_described(item, _module_name(work.root, item), *own[item.path][:1], config, own[item.path][1]) for item in documents]
    ingredients = [packages.ingredients_digest(root, paths), work.settings_text()]
    ingredients += [] if work.server.command else alone.ingredients(work.languages)
    look = work.look
    told: Sequence[Overlay] = ()
    readable: list[str] = []
    if work.server.spec.overlays == "tsconfig":
        fetched = fetched_folder(fetched_dir(work.environment), root) / "node"
        told = node_project.overlays(root, paths, fetched, [folder.prefix.rstrip("/") for folder in folders])
        ingredients.append(f"overlays {node_project.digest(told, root, fetched)}")
        readable = [str(fetched)] if fetched.is_dir() else []
    return Group(
        server=work.server,
        documents=named,
        placeholders={**work.placeholders(), "fetched": str(look.fetched) if look.fetched_here.is_dir() else None},
        ingredients=[*ingredients, *_of_companions(work)],
        overlays=told,
        readable=readable,
        environment="",
        settings=config.of_language(work.languages[0]),
        paths=paths,
    )


def _rust_group(work: Assignment) -> Group:
    """As any other, and the crates: what of them cargo can tell, and a project file for the others."""
    plain, look = _plain_group(work), work.look
    fetched = str(look.fetched / "cargo") if look.fetched_here.is_dir() else ""
    crates = find_crates(work.root, work.paths, work.environment, fetched, look.fetched_here / COPIES, work.reach.may_read)
    stated = work.config.of_language(RUST.name).options.get("cargo")
    linked = link(
        crates,
        lone_crates(crates, [item.path for item in work.documents]),
        with_sysroot=not (isinstance(stated, dict) and stated.get("sysroot", "discover") is None),
        by_cargo=work.config.trust is Trust.FULL,
    )
    if linked.project and linked.why:
        log.info("project file of our own: server=%s why=%s", work.server.spec.name, linked.why)
    toolchain = crates.toolchain
    return replace(
        plain,
        placeholders={
            **plain.placeholders,
            "cargo_manifests": linked.manifests or None,
            "cargo_project": linked.project or None,
            "fetched": str(look.fetched) if fetched and crates.registry.home == fetched else None,
            "rust_sources": toolchain.sources if toolchain.borrowed else None,
            "rust_toolchain": toolchain.instead or None,
        },
        ingredients=[*plain.ingredients, linked.digest],
        notes=[f"the crates' own project file is used, since {linked.why}"] if linked.project and linked.why else [],
    )


def _of_companions(work: Assignment) -> list[str]:
    """What a server will be told beside the repository: other answers come once Go's modules are downloaded, or includes lead elsewhere."""
    may_read = work.reach.may_read
    if GO.name not in work.languages:
        has_includes = any(record_of(language).is_included for language in work.languages)
        return [f"include folders {guessed_folders(work.root, work.documents, work.paths, may_read)}"] if has_includes else []
    folders = go_modules.folders_of(work.root, work.root_paths)
    _, modules = go_modules.best_cache(folders, work.environment, fetched_dir(work.environment), may_read)
    version = go_versions.running(work.environment, work.root)
    lowered = go_versions.lowered(go_versions.manifests(work.root, work.paths), version)
    return [
        f"go modules that empty ones stand for {modules.missing} {modules.absent}",
        *([f"manifests that are read as for go {version}"] if lowered else []),
    ]


def _in_folder(path: str, folder: Folder, folders: Sequence[Folder]) -> bool:
    if folder.prefix:
        return path.startswith(folder.prefix)
    return not any(path.startswith(other.prefix) for other in folders[1:])


def _module_name(root: Path, document: PlannedDocument) -> str:
    """Dotted name by place: `src.internal.Observable` of `src/internal/Observable.ts`; where files say their package, below that."""
    path = document.path.removeprefix("../")
    stem = path.rsplit(".", 1)[0] if "." in path.rpartition("/")[2][1:] else path
    package = declared_package(root / document.path, document.language)
    return f"{package}.{stem.rpartition('/')[2]}" if package else stem.replace("/", ".")


def _described(document: PlannedDocument, module: str, package: tuple[str, str, str], config: Config, place: str = "") -> PlannedDocument:
    manager, name, version = package
    return msgspec.structs.replace(
        document,
        module=module or document.path,
        place=place or document.path,
        is_test=is_test(document.path, document.language, more=config.tests, fewer=config.not_tests),
        package=(manager, name, version),
    )


def _java_group(work: Assignment) -> Group:
    """As any other, and the archives that `--fetch` has brought."""
    plain, look = _plain_group(work), work.look
    found = class_path(projects_folder(look.fetched_here), look.fetched) if look.fetched_here.is_dir() else []
    names = sorted(os.path.basename(path) for path in found)
    return replace(
        plain, placeholders={**plain.placeholders, "class_path": found or None}, ingredients=[*plain.ingredients, f"class path {names}"]
    )


_MAKERS = {PYTHON.name: _python_group, RUST.name: _rust_group, JAVA.name: _java_group}
