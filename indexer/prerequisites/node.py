"""Node: `node_modules` of the packages that package.json files name.

`--fetch` installs into a folder of lspidx's own that holds the workspace's manifests, without their scripts, and its lock file: nothing
else of the repository is there, so nothing of it can be executed, and the clone stays as it is. Imports lead there by ADR 0021.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from indexer.encoding import read_beginning
from indexer.languages import JAVASCRIPT, TYPESCRIPT
from indexer.node_workspace import DEPENDENCIES, FIXTURES, NodeWorkspace, read_yaml
from indexer.prerequisites import Look, Prerequisite, Step

FOLDER = "node"
"""The part of a workspace's folder of fetched things that is ours."""

_MOST_MANIFESTS = 400
_MOST_LOOKS = 4_000
_MOST_BYTES = 64_000_000
_MOST_PROJECTS = 20
_NAMED = 3
_LEFT_OUT = ("scripts", "packageManager", "devEngines", "engines", "husky", "lint-staged", "simple-git-hooks")
"""Keys of package.json that a package manager would act upon, and that no lock file depends on."""

_OF_PNPM = (
    "packages", "catalog", "catalogs", "overrides", "patchedDependencies", "packageExtensions", "peerDependencyRules",
    "autoInstallPeers", "linkWorkspacePackages", "preferWorkspacePackages", "ignoredOptionalDependencies",
    "injectWorkspacePackages", "dedupePeerDependents", "dedupeDirectDeps", "dedupePeers", "peersSuffixMaxLength",
    "excludeLinksFromLockfile", "hoist", "hoistPattern", "publicHoistPattern", "shamefullyHoist", "resolutionMode",
    "supportedArchitectures", "sharedWorkspaceLockfile", "allowUnusedPatches", "strictPeerDependencies",
    "resolvePeersFromWorkspaceRoot",
)  # fmt: skip
"""Settings of pnpm-workspace.yaml that say what is installed; others name files and programs that pnpm would execute."""

_OF_NPMRC = ("legacy-peer-deps", "auto-install-peers", "strict-peer-deps", "link-workspace-packages", "prefer-workspace-packages", "hoist",
             "shamefully-hoist", "public-hoist-pattern[]", "hoist-pattern[]", "dedupe-peer-dependents", "exclude-links-from-lockfile",
             "inject-workspace-packages", "resolution-mode", "ignore-workspace-root-check", "save-exact")  # fmt: skip
"""The same of .npmrc, where a registry, a token or a program may be named too; the user's own file holds as ever."""

_YARN_SETTINGS = "nodeLinker: node-modules\nenableScripts: false\nenableTelemetry: false\nenableGlobalCache: true\n"
_AS_IT_WAS = "yarn.lock.of-the-repository"
"""A copy that yarn leaves alone, to see whether the repository's own has changed."""

_ENVIRONMENT = {
    "CI": "1",
    "NPM_CONFIG_IGNORE_SCRIPTS": "true",
    "YARN_IGNORE_PATH": "1",
    "YARN_ENABLE_SCRIPTS": "false",
    "COREPACK_ENABLE_STRICT": "0",
}


class _Manager(msgspec.Struct, frozen=True, kw_only=True):
    """`locks`: its lock files. `remedy`: what a user types. `command`: what `--fetch` runs; none where it cannot."""

    name: str
    locks: tuple[str, ...]
    remedy: str
    command: tuple[str, ...] = ()


_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_BY_RANGES = ("npm", "install", *_NPM)
"""Where there is no lock file: versions within the manifests' ranges, as `npm install` takes them. npm's own lock file stays in
lspidx's folder, so that they are the same the next time."""

_PNPM = ("install", "--frozen-lockfile", "--ignore-scripts", "--ignore-pnpmfile", "--reporter=append-only")
_MANAGERS = (
    _Manager(name="pnpm", locks=("pnpm-lock.yaml",), remedy="pnpm install", command=("npx", "--yes", "pnpm@10.33.1", *_PNPM)),
    _Manager(name="yarn", locks=("yarn.lock",), remedy="yarn install", command=()),
    _Manager(name="bun", locks=("bun.lock", "bun.lockb"), remedy="bun install"),
    _Manager(name="npm", locks=("npm-shrinkwrap.json", "package-lock.json"), remedy="npm ci", command=("npm", "ci", *_NPM)),
)
_YARN_1 = ("npx", "--yes", "yarn@1.22.22", "install", "--frozen-lockfile", "--ignore-scripts", "--non-interactive", "--ignore-engines")
# Another release of yarn than the one that wrote the lock file may write some of its lines otherwise: it may do so in our copy.
_YARN_BERRY = ("npx", "--yes", "@yarnpkg/cli-dist@4.9.2", "install", "--no-immutable", "--mode=skip-build")


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    found: list[Prerequisite] = []
    for project in _projects(look):
        names = project.missing(look.root, _place(look))
        if not names:
            continue
        shown = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
        where = f" of {project.folder}" if project.folder else ""
        inside = f" (in {project.folder})" if project.folder else ""
        found.append(
            Prerequisite(
                language=TYPESCRIPT.name if TYPESCRIPT.name in look.languages else JAVASCRIPT.name,
                name="node_modules",
                detail=f"{len(names)} of the {project.declared} packages that the manifests{where} name are not installed: {shown}",
                remedy=project.manager.remedy + inside,
                can_fetch=bool(project.command),
            )
        )
    return found


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`."""
    place = _place(look)
    found: list[Step] = []
    for project in _projects(look):
        if not project.command or not (project.missing(look.root, place) or project.is_stale(look.root, place)):
            continue
        found.append(
            Step(
                language=TYPESCRIPT.name if TYPESCRIPT.name in look.languages else JAVASCRIPT.name,
                command=list(project.command),
                cwd=place / project.folder,
                environment=_ENVIRONMENT,
                writes=[place / project.folder],
                files=project.files(look.root, look.paths),
            )
        )
    return found


def _place(look: Look) -> Path:
    return look.fetched_here / FOLDER


class _Project:
    """What one lock file holds for: a workspace, or a package alone."""

    def __init__(self, folder: str, manager: _Manager, lock: str, workspace: NodeWorkspace, others: Collection[str] = ()) -> None:
        """Args: others: folders of other projects, which what lies in them belongs to."""
        self.folder, self.manager, self.lock = folder, manager, lock
        others = {folder, *others}
        self.manifests = {
            inner: manifest
            for inner, manifest in workspace.manifests.items()
            if next((above for above in _upwards(inner) if above in others), None) == folder
        }
        self._own = {manifest.get("name") for manifest in workspace.manifests.values()}
        self._root = workspace.root

    @property
    def command(self) -> tuple[str, ...]:
        if self.manager.name != "yarn":
            return self.manager.command
        return _YARN_BERRY if self._is_berry() else _YARN_1

    def _is_berry(self) -> bool:
        with (self._root / self.folder / self.lock).open("rb") as file:
            return b"__metadata:" in file.read(2_000)

    @property
    def declared(self) -> int:
        return len({name for names in self._wanted().values() for name in names})

    def _wanted(self) -> dict[str, list[str]]:
        """Names that the manifests ask for, by folder; of peers, only those that nobody may do without."""
        wanted: dict[str, list[str]] = {}
        for folder, manifest in list(self.manifests.items())[:_MOST_MANIFESTS]:
            for key in DEPENDENCIES[:2]:
                table = manifest.get(key)
                names = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
                wanted.setdefault(folder, []).extend(name for name in names if name not in self._own)
        return wanted

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
        before = place / self.folder / (_AS_IT_WAS if self.command == _YARN_BERRY else self.lock)
        return before.is_file() and before.read_bytes() != (root / self.folder / self.lock).read_bytes()

    def files(self, root: Path, paths: Sequence[str]) -> dict[str, str]:
        """What the package manager is to see: manifests, lock file, patches, and the settings that the lock file depends on."""
        prefix = f"{self.folder}/" if self.folder else ""
        files = {self.lock: read_beginning(root / self.folder / self.lock, _MOST_BYTES)} if self.lock else {}
        if self.command == _YARN_BERRY:
            files[_AS_IT_WAS] = files[self.lock]
        for folder, manifest in self.manifests.items():
            kept = {key: value for key, value in manifest.items() if key not in _LEFT_OUT}
            files[posixpath.join(folder, "package.json").removeprefix(prefix)] = json.dumps(kept, indent=2)
        for path in paths:
            if path.endswith(".patch") and path.startswith(prefix) and not path.startswith("../"):
                files[path.removeprefix(prefix)] = read_beginning(root / path, _MOST_BYTES)
        if self.manager.name == "pnpm" and (root / self.folder / "pnpm-workspace.yaml").is_file():
            settings = read_yaml(root / self.folder / "pnpm-workspace.yaml")
            files["pnpm-workspace.yaml"] = json.dumps({key: value for key, value in settings.items() if key in _OF_PNPM}, indent=2)
        if self.command == _YARN_BERRY:
            files[".yarnrc.yml"] = _YARN_SETTINGS
        npmrc = read_beginning(root / self.folder / ".npmrc", _MOST_BYTES) if (root / self.folder / ".npmrc").is_file() else ""
        lines = [line for line in npmrc.splitlines() if line.partition("=")[0].strip() in _OF_NPMRC and "$" not in line]
        files[".npmrc"] = "".join(f"{line}\n" for line in lines)
        return files


def _projects(look: Look) -> Iterator[_Project]:
    """Folders with a lock file, but those of packages that a workspace around them installs; the root where none has one."""
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
        folder = min(workspace.manifests, key=lambda folder: (folder.count("/"), folder))
        yield _Project(folder, _Manager(name="npm", locks=(), remedy="npm install", command=_BY_RANGES), "", workspace)
    for folder in projects[:_MOST_PROJECTS]:
        said = str(workspace.manifests[folder].get("packageManager", "")).partition("@")[0]
        there = [manager for manager in _MANAGERS if locks[folder] & set(manager.locks)]
        manager = next((one for one in there if one.name == said), there[0])
        yield _Project(folder, manager, next(name for name in manager.locks if name in locks[folder]), workspace, projects)


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = posixpath.dirname(folder)
        yield folder
