"""Node: `node_modules` of the packages that package.json files name.

`--fetch` installs into a folder of lspidx's own that holds the workspace's manifests, without what names programs or other sources than
registries (`indexer.prerequisites.node_sources`), and its lock file, if that names none either: nothing else of the repository is there,
so nothing of it can be executed, and the clone stays as it is. Imports lead there by ADR 0021. The package manager itself is started in a
folder without any package: npx takes a program of the package around it, if that has one of the name.
"""

from __future__ import annotations

import functools
import json
import os
import posixpath
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from indexer.encoding import read_beginning
from indexer.languages import JAVASCRIPT, TYPESCRIPT
from indexer.node_project import GLOBALS, NODE, TYPES
from indexer.node_workspace import DEPENDENCIES, FIXTURES, NodeWorkspace, dependencies, read_yaml
from indexer.prerequisites import Look, Prerequisite, Step, bun_lock, node_sources, node_types
from indexer.private_places import is_held

FOLDER = "node"
"""The part of a workspace's folder of fetched things that is ours."""

_MOST_MANIFESTS = 400
_MOST_LOOKS = 4_000
_MOST_BYTES = 64_000_000
_MOST_PROJECTS = 20
_NAMED = 3
_PROJECTS_NAMED = 4
"""So many projects with a manifest of their own have a line each; those beside them have one together."""

_SOURCES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_BESIDE = ("workspace:", "link:", "file:", "portal:", "catalog:", "patch:", ".", "/")
"""Beginnings of specifiers that mean something of the repository, which only the workspace's own package manager knows."""

_OF_NPMRC = ("legacy-peer-deps", "auto-install-peers", "strict-peer-deps", "link-workspace-packages", "prefer-workspace-packages", "hoist",
             "shamefully-hoist", "public-hoist-pattern[]", "hoist-pattern[]", "dedupe-peer-dependents", "exclude-links-from-lockfile",
             "inject-workspace-packages", "resolution-mode", "ignore-workspace-root-check", "save-exact")  # fmt: skip
"""The same of .npmrc, where a registry, a token or a program may be named too; the user's own file holds as ever."""

_YARN_SETTINGS = "nodeLinker: node-modules\nenableScripts: false\nenableTelemetry: false\nenableGlobalCache: true\n"
_AS_IT_WAS = ".of-the-repository"
"""Ending of a copy of the lock file that the package manager leaves alone, to see whether the repository's own has changed."""

_STARTED_IN = "npx"
"""A folder of lspidx's own that holds an empty package.json and nothing else."""

_ENVIRONMENT = {
    "CI": "1",
    "NPM_CONFIG_IGNORE_SCRIPTS": "true",
    "YARN_IGNORE_PATH": "1",
    "YARN_ENABLE_SCRIPTS": "false",
    "COREPACK_ENABLE_STRICT": "0",
    "GIT_ALLOW_PROTOCOL": "none",  # what a package of a registry may still name
    "NPM_CONFIG_ALLOW_GIT": "none",
    "NPM_CONFIG_GIT": "false",
}


class _Manager(msgspec.Struct, frozen=True, kw_only=True):
    """`locks`: its lock files. `remedy`: what a user types. `client`: what `--fetch` runs.

    by_lock, by_ranges: its words where there is a lock file that names registries only, and where there is none such.
    """

    name: str
    locks: tuple[str, ...]
    remedy: str
    client: tuple[str, ...]
    by_lock: tuple[str, ...] = ()
    by_ranges: tuple[str, ...] = ()

    def command(self, place: Path, *, is_locked: bool) -> list[str]:
        """What is run for the project in a folder of lspidx's own."""
        return [word.replace("PLACE", str(place)) for word in (*self.client, *(self.by_lock if is_locked else self.by_ranges))]


# Versions are fixed, since what a client takes from a repository's word differs between them: npm knows `allow-git` from 11.10 on.
_NPM_CLIENT = ("npx", "--yes", "--package", "npm@11.19.1", "--", "npm")
_NPM = ("--prefix", "PLACE", "--ignore-scripts", "--allow-git=none", "--no-audit", "--no-fund", "--loglevel=error")
_NPM_LOCKS = ("npm-shrinkwrap.json", "package-lock.json")
_NPM_MANAGER = _Manager(
    name="npm",
    locks=_NPM_LOCKS,
    remedy="npm ci",
    client=_NPM_CLIENT,
    by_lock=("ci", *_NPM),
    # npm's own lock file stays in lspidx's folder, so that versions are the same the next time; --force: where peers exclude each other,
    # npm chooses.
    by_ranges=("install", *_NPM, "--force"),
)
_WITHOUT_LOCK = msgspec.structs.replace(_NPM_MANAGER, locks=(), remedy="npm install")
_PNPM = ("--ignore-scripts", "--ignore-pnpmfile", "--reporter=append-only")
_YARN_1 = ("--ignore-scripts", "--non-interactive", "--ignore-engines")
_MANAGERS = (
    _Manager(
        name="pnpm",
        locks=("pnpm-lock.yaml",),
        remedy="pnpm install",
        client=("npx", "--yes", "pnpm@10.33.1", "--dir", "PLACE"),
        by_lock=("install", "--frozen-lockfile", *_PNPM),
        by_ranges=("install", "--no-frozen-lockfile", *_PNPM),
    ),
    _Manager(
        name="yarn",
        locks=("yarn.lock",),
        remedy="yarn install",
        client=("npx", "--yes", "yarn@1.22.22", "--cwd", "PLACE"),
        by_lock=("install", "--frozen-lockfile", *_YARN_1),
        by_ranges=("install", *_YARN_1),
    ),
    _Manager(
        name="bun",
        locks=("bun.lock", "bun.lockb"),
        remedy="bun install",
        client=_NPM_CLIENT,
        by_lock=("install", *_NPM, "--legacy-peer-deps"),  # by the lock file that is made of bun's
        by_ranges=("install", *_NPM, "--legacy-peer-deps"),
    ),
    _NPM_MANAGER,
)
# Another release of yarn than the one that wrote the lock file may write some of its lines otherwise: it may do so in our copy.
_BERRY = _Manager(
    name="berry",
    locks=("yarn.lock",),
    remedy="yarn install",
    client=("npx", "--yes", "@yarnpkg/cli-dist@4.9.2", "--cwd", "PLACE"),
    by_lock=("install", "--no-immutable", "--mode=skip-build"),
    by_ranges=("install", "--no-immutable", "--mode=skip-build"),
)


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    language = TYPESCRIPT.name if TYPESCRIPT.name in look.languages else JAVASCRIPT.name
    lacking = [(project, names) for project in _projects(look) if (names := project.missing(look.root, _place(look)))]
    found: list[Prerequisite] = []
    shown = lacking if len(lacking) <= _PROJECTS_NAMED + 1 else lacking[:_PROJECTS_NAMED]
    for project, names in shown:
        where = f" of {project.folder}" if project.folder else ""
        inside = f" (in {project.folder})" if project.folder else ""
        found.append(
            Prerequisite(
                language=language,
                name="node_modules",
                detail=f"{len(names)} of the {project.declared} packages that the manifests{where} name are not installed: {_some(names)}",
                remedy=project.manager.remedy + inside,
                can_fetch=not project.of_elsewhere.issuperset(names),
            )
        )
    if others := lacking[len(shown) :]:
        number = len({name for _, names in others for name in names})
        folders = _some([project.folder or "." for project, _ in others])
        found.append(
            Prerequisite(
                language=language,
                name="node_modules",
                detail=f"{number} packages that the manifests of {len(others)} more projects name are not installed ({folders})",
                remedy=f"{others[0][0].manager.remedy} in each of them",
                can_fetch=any(not project.of_elsewhere.issuperset(names) for project, names in others),
            )
        )
    types = sorted(node_types.missing(_untyped(look), _place(look)), key=lambda name: (name != NODE, name not in GLOBALS, name))
    if types:
        names = [f"@types/{name}" for name in types]
        more = " …" if len(names) > _NAMED else ""
        found.append(
            Prerequisite(
                language=JAVASCRIPT.name,
                name="types",
                detail=f"{_counted(names)} not here that scripts count on: {', '.join(names[:_NAMED])}{more}",
                remedy=f"npm install --no-save {' '.join(names[:_NAMED])}{more}",
                can_fetch=True,
            )
        )
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")


def steps(look: Look) -> Iterator[Step]:
    """See `BuildTool.steps`. Which packages have no types of their own is seen after these are installed."""
    place = _place(look)
    for number, project in enumerate(_projects(look)):
        wanted = set(project.missing(look.root, place)) - project.of_elsewhere
        if not (wanted or project.is_stale(look.root, place)):
            continue
        files = project.files(look.root, look.paths)
        here, is_locked = place / project.folder, project.lock in files
        without = sorted(project.of_elsewhere)
        yield _step(look, here, project.manager.command(here, is_locked=is_locked), files, without, is_beside=number > 0)
        may_differ = project.manager.by_lock != project.manager.by_ranges
        if may_differ and is_locked and set(project.missing(look.root, place)) - project.of_elsewhere:
            # None takes a lock file that lacks what the manifest names, and pnpm none that another release of it has written otherwise.
            yield _step(look, here, project.manager.command(here, is_locked=False), files, without, is_beside=number > 0)
    types = _untyped(look)
    if node_types.missing(types, place):
        here = place / TYPES
        command = [*_NPM_MANAGER.command(here, is_locked=False), "--package-lock=true"]
        yield _step(look, here, command, node_types.files(types, place))


def _step(
    look: Look, here: Path, command: Sequence[str], files: Mapping[str, str], without: Sequence[str] = (), *, is_beside: bool = False
) -> Step:
    """An installation in `here`, by a client that is started in a folder without any package."""
    started_in = look.fetched / _STARTED_IN
    return Step(
        language=TYPESCRIPT.name if TYPESCRIPT.name in look.languages else JAVASCRIPT.name,
        command=list(command),
        cwd=here,
        environment=_ENVIRONMENT,
        writes=[here, started_in],
        files={**files, str(started_in / "package.json"): "{}"},
        runs_in=started_in,
        without=without,
        is_beside=is_beside,
    )


def _untyped(look: Look) -> dict[str, str]:
    if JAVASCRIPT.name not in look.languages:
        return {}
    inside = [path for path in look.paths if not path.startswith("../")]
    return node_types.wanted(NodeWorkspace(look.root, inside), inside, _place(look))


def _place(look: Look) -> Path:
    return look.fetched_here / FOLDER


class _Project:
    """What one lock file holds for: a workspace, or a package alone."""

    def __init__(
        self, folder: str, manager: _Manager, lock: str, workspace: NodeWorkspace, others: Collection[str] = (), *, is_alone: bool = False
    ) -> None:
        """Args:
        others: folders of other projects, which what lies in them belongs to.
        is_alone: it is no workspace, and of none: what lies beside it is not installed with it.
        """
        is_berry = manager.name == "yarn" and "__metadata:" in read_beginning(workspace.root / folder / lock, 2_000)
        self.folder, self.manager, self.lock, self.is_alone = folder, _BERRY if is_berry else manager, lock, is_alone
        others = {folder, *others}
        self.manifests = {
            inner: manifest
            for inner, manifest in workspace.manifests.items()
            if next((above for above in _upwards(inner) if above in others), None) == folder
        }
        self._own = {manifest.get("name") for manifest in workspace.manifests.values()}
        self._copied = frozenset(workspace.manifests)

    @property
    def declared(self) -> int:
        return len({name for names in self._wanted().values() for name in names})

    @functools.cached_property
    def of_elsewhere(self) -> set[str]:
        """Names of what the manifests want from elsewhere than a registry or the workspace, which the package manager is not told of."""
        lost = (node_sources.of_registries(manifest, folder, self._copied)[1] for folder, manifest in self.manifests.items())
        return {name for names in lost for name in names}

    def _wanted(self) -> dict[str, list[str]]:
        """Names that the manifests ask for, by folder; of peers, only those that nobody may do without."""
        wanted: dict[str, list[str]] = {}
        for folder, manifest in list(self.manifests.items())[:_MOST_MANIFESTS]:
            for key in DEPENDENCIES[:2]:
                table = manifest.get(key)
                names = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
                if self.is_alone:
                    names = self._to_be_had(names)
                wanted.setdefault(folder, []).extend(name for name in names if name not in self._own)
        return wanted

    def _to_be_had(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """What a package that is installed alone can ask a registry for: what lies beside it leads to the sources anyway."""
        return {
            name: specifier
            for name, specifier in table.items()
            if isinstance(specifier, str) and name not in self._own and not specifier.startswith(_BESIDE)
        }

    def missing(self, root: Path, place: Path) -> list[str]:
        """Names of declared packages that no `node_modules` holds where an import would look: in the workspace, or in what was fetched."""
        found: dict[str, None] = {}
        looks = 0
        for folder, names in self._wanted().items():
            there = [f"{base}/{above}/node_modules" for base in (place, root) for above in _upwards(folder)]
            there = [one for one in there if os.path.isdir(one)]
            for name in names:
                looks += len(there)
                if looks > _MOST_LOOKS:
                    return list(found)
                if name not in found and not any(os.path.lexists(f"{one}/{name}") for one in there):
                    found[name] = None
        return list(found)

    def is_stale(self, root: Path, place: Path) -> bool:
        """Whether something was fetched by another lock file than the present one."""
        here = place / self.folder
        before = next((file for name in (f"{self.lock}{_AS_IT_WAS}", self.lock) if (file := here / name).is_file()), here)
        return before.is_file() and read_beginning(before, _MOST_BYTES) != _text(root, posixpath.join(self.folder, self.lock))

    def files(self, root: Path, paths: Sequence[str]) -> dict[str, str]:
        """What the package manager is to see: manifests, lock file, patches, and the settings that the lock file depends on."""
        prefix = f"{self.folder}/" if self.folder else ""
        files: dict[str, str] = {}
        for folder, manifest in self.manifests.items():
            kept, _ = node_sources.of_registries(manifest, folder, self._copied)
            if self.is_alone:
                kept |= {key: self._to_be_had(table) for key in DEPENDENCIES if isinstance(table := kept.get(key), dict)}
            files[posixpath.join(folder, "package.json").removeprefix(prefix)] = json.dumps(kept, indent=2)
        if self.lock:
            text = _text(root, f"{prefix}{self.lock}")
            files[f"{self.lock}{_AS_IT_WAS}"] = text
            if self.manager.name == "bun":
                lock = "" if self.of_elsewhere else bun_lock.as_npm(text)
                if lock and node_sources.is_plain_lock(lock, "npm", self.folder, self._copied):
                    files["package-lock.json"] = lock
            elif not self.of_elsewhere and node_sources.is_plain_lock(text, self.manager.name, self.folder, self._copied):
                files[self.lock] = text
        for path in paths:
            if path.endswith(".patch") and path.startswith(prefix) and not path.startswith("../") and "node_modules" not in path.split("/"):
                text = _text(root, path)
                if node_sources.is_plain_patch(text):  # else the package manager says that it is not there
                    files[path.removeprefix(prefix)] = text
        if self.manager.name == "pnpm" and (root / self.folder / "pnpm-workspace.yaml").is_file():
            settings = read_yaml(root / self.folder / "pnpm-workspace.yaml") if is_held(str(root), f"{prefix}pnpm-workspace.yaml") else {}
            files["pnpm-workspace.yaml"] = json.dumps(node_sources.settings_of_pnpm(settings, self.folder, self._copied), indent=2)
        if self.manager is _BERRY:
            files[".yarnrc.yml"] = _YARN_SETTINGS
        lines = [
            line for line in _text(root, f"{prefix}.npmrc").splitlines() if line.partition("=")[0].strip() in _OF_NPMRC and "$" not in line
        ]
        files[".npmrc"] = "".join(f"{line}\n" for line in lines)
        return files


def _text(root: Path, path: str) -> str:
    """A file of the repository's own; nothing where a link leads out of it."""
    return read_beginning(root / path, _MOST_BYTES) if is_held(str(root), path) else ""


def _projects(look: Look) -> Iterator[_Project]:
    """Folders with a lock file, but those of packages that a workspace around them installs; the root where none has one; and
    packages with sources that none of these installs (examples), by their ranges.
    """
    inside = [path for path in look.paths if not path.startswith("../")]  # other workspace folders are others' to install
    workspace = NodeWorkspace(look.root, inside)
    if not workspace.manifests:
        return
    locks: dict[str, set[str]] = {}
    for path in inside:
        folder, name = posixpath.split(path)
        if folder in workspace.manifests and any(name in manager.locks for manager in _MANAGERS):
            locks.setdefault(folder, set()).add(name)
    projects: list[str] = []
    for folder in sorted(locks, key=lambda folder: (folder.count("/"), folder)):
        above = [other for other in projects if other in _upwards(folder)]
        is_made_up = bool(above) and not FIXTURES.isdisjoint(folder.split("/"))
        if not is_made_up and not any(folder in (workspace.members_of(other) or ()) for other in above):
            projects.append(folder)
    if not projects:
        projects.append(min(workspace.manifests, key=lambda folder: (folder.count("/"), folder)))
    loose = _loose(workspace, inside, projects)
    everywhere = [*projects, *loose]
    sources = Counter(above for path in inside if path.endswith(_SOURCES) for above in _upwards(posixpath.dirname(path)))
    projects[1:] = sorted(projects[1:], key=lambda folder: (-sources[folder], folder))  # what most of the sources need comes first
    for folder in projects[:_MOST_PROJECTS]:
        if folder not in locks:
            yield _Project(folder, _WITHOUT_LOCK, "", workspace, everywhere)
            continue
        said = str(workspace.manifests[folder].get("packageManager", "")).partition("@")[0]
        there = [manager for manager in _MANAGERS if locks[folder] & set(manager.locks)]
        manager = next((one for one in there if one.name == said), there[0])
        yield _Project(folder, manager, next(name for name in manager.locks if name in locks[folder]), workspace, everywhere)
    for folder in loose[: max(0, _MOST_PROJECTS - len(projects))]:
        yield _Project(folder, _WITHOUT_LOCK, "", workspace, everywhere, is_alone=True)


def _loose(workspace: NodeWorkspace, paths: Sequence[str], projects: Sequence[str]) -> list[str]:
    """Folders of packages that ask for something, have sources, and are of no workspace, with those of which the workspaces are theirs."""
    members = {member for folder in workspace.manifests for member in workspace.members_of(folder) or ()}
    with_sources = {above for path in paths if path.endswith(_SOURCES) for above in _upwards(posixpath.dirname(path))}
    own = workspace.packages.keys()
    return [
        folder
        for folder, manifest in workspace.manifests.items()
        if folder not in projects
        and folder not in members
        and folder in with_sources
        and FIXTURES.isdisjoint(folder.split("/"))
        and dependencies(manifest).keys() - own
    ]


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def _counted(types: Sequence[str]) -> str:
    return "1 package of types is" if len(types) == 1 else f"{len(types)} packages of types are"
