"""Go modules of a workspace: what they require, what of that is in the module cache, and a `go.work` with which all else still loads.

The go command refuses to load anything while the go.mod file of one required module is missing. A go.work of lspidx's own, in which
each such module is replaced by an empty one, lets it load the repository's own packages; what they use of the missing is unresolved.
Reads manifests and the module cache; runs nothing.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from indexer.encoding import open_plain
from indexer.go_versions import is_later, running

_OPENED = re.compile(r"(\w{1,40})[ \t]*\(")
_LINE = re.compile(r"(module|go|require|exclude|replace|use|toolchain)[ \t]+([^(\n]+)$")
_IMPORTS = re.compile(r"^import[ \t]*(?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)
_QUOTED = re.compile(r'^[ \t]*(?:[\w.]+[ \t]+)?"([^"\n\\]{1,300})"', re.MULTILINE)
_PACKAGE_PATH = re.compile(r"(?!\.)[\w.~-]+(?:/(?!\.)[\w.~-]+)*")
_LEFT_OUT = "//go:build ignore\n\npackage missing\n"
_MOST_MANIFESTS = 5_000
_MOST_BYTES = 4_000_000
_MOST_ROUNDS = 8


class Version(NamedTuple):
    """A module at a version, as go.mod names them."""

    path: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A go.mod or go.work. `direct` are the requirements that its own packages import; `replaced` by path, the new path or folder."""

    module: str = ""
    go: str = ""
    requires: tuple[Version, ...] = ()
    direct: frozenset[str] = frozenset()
    replaced: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, "tuple[str, str]"])
    uses: tuple[str, ...] = ()
    excludes: tuple[Version, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Modules:
    """The modules of a workspace.

    folders: absolute, of those that one build can take in together, the root's first; `apart` are those whose module path another one
    has already. missing: required versions whose go.mod is in no cache; `instead` by missing version, one that is there.
    absent: direct requirements without sources; hollow: those of them whose go.mod is in a cache, and what that says.
    go: the highest version of the language that one of them is for.
    """

    folders: list[Path]
    apart: list[Path]
    missing: list[Version]
    instead: Mapping[Version, str]
    absent: list[Version]
    hollow: Mapping[Version, Manifest]
    replaced: Mapping[str, tuple[Path, tuple[str, str]]]
    go: str

    @property
    def is_whole(self) -> bool:
        """Whether the go command can load all of them as they are.

        A hollow module stops nothing, yet see `stand_ins`.
        """
        return not self.missing and not self.hollow


def parse(text: str) -> Manifest:
    """What a go.mod or a go.work says; lines that are not understood say nothing."""
    statements: list[tuple[str, str]] = []
    alone: list[tuple[str, str]] = []
    block = ""
    for line in text.split("\n"):
        if block:
            bare = line.strip()
            block = "" if bare.startswith(")") else block
            statements += [(block, bare)] if block and bare else []
        elif opened := _OPENED.match(line):
            block = opened[1]
        elif match := _LINE.match(line):
            alone.append((match[1], match[2].strip()))
    statements += alone
    module = go = ""
    requires: list[Version] = []
    direct: set[str] = set()
    replaced: dict[str, tuple[str, str]] = {}
    uses: list[str] = []
    excludes: list[Version] = []
    for verb, line in statements:
        words = [word.strip('"`') for word in line.partition("//")[0].split()]
        if not words:
            continue
        if verb == "module":
            module = words[0]
        elif verb == "go":
            go = words[0]
        elif verb == "use":
            uses.append(words[0])
        elif verb == "require" and len(words) == 2:
            requires.append(Version(*words))
            if "// indirect" not in line:
                direct.add(words[0])
        elif verb == "exclude" and len(words) == 2:
            excludes.append(Version(*words))
        elif verb == "replace" and "=>" in words and len(words) > (at := words.index("=>")) + 1:
            replaced[words[0]] = (words[at + 1], words[at + 2] if len(words) > at + 2 else "")
    return Manifest(
        module=module,
        go=go,
        requires=tuple(requires),
        direct=frozenset(direct),
        replaced=replaced,
        uses=tuple(uses),
        excludes=tuple(excludes),
    )


def read(file: Path) -> Manifest:
    """A manifest on the disk; an empty one where there is none."""
    try:
        with open_plain(file) as opened:
            return parse(opened.read(_MOST_BYTES).decode("utf-8", "replace").replace("\0", "\ufffd"))
    except OSError:
        return Manifest()


def folders_of(root: Path, paths: Iterable[str]) -> list[Path]:
    """Folders of the workspace with a go.mod, the root's own first, then those above others."""
    found = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] == "go.mod"}
    return [
        (root / folder).absolute() if folder else root
        for folder in sorted(found, key=lambda folder: (folder.count("/") + bool(folder), folder))
    ]


def look(folders: Sequence[Path], caches: Sequence[Path], may_read: Callable[[str], bool] = lambda _: True, version: str = "") -> Modules:
    """What these modules require, and what of it is in one of the caches (folders like `GOMODCACHE`).

    Args:
        may_read: whether a folder that a module is replaced by may be read; a module in another one is missing, in every version.
        version: of the go command, to which a module that asks for a later one is as good as missing; empty where it is unknown.
    """
    known = _Cache(caches, version)
    manifests: dict[Path, Manifest] = {}
    apart: list[Path] = []
    taken: set[str] = set()
    for folder in folders:
        manifest = read(folder / "go.mod")
        if not manifest.module or manifest.module in taken:
            apart.append(folder)
        else:
            taken.add(manifest.module)
            manifests[folder] = manifest
    replaced: dict[str, tuple[Path, tuple[str, str]]] = {}
    for folder, manifest in manifests.items():
        for path, target in manifest.replaced.items():
            if path not in taken:  # the go command refuses a go.work that replaces one of its own modules
                replaced.setdefault(path, (folder, target))
    closed = {path for path, (at, target) in replaced.items() if not target[1] and not may_read(os.path.join(at, target[0]))}
    own = taken | {path for path, (_, target) in replaced.items() if not target[1]}
    needed, missing, instead = _settled(list(manifests.values()), own, replaced, known)
    absent = {
        Version(*item)
        for manifest in manifests.values()
        for item in manifest.requires
        if item.path in manifest.direct and item.path not in taken and item.path not in replaced and not known.has_sources(item)
    }
    absent = {item for item in absent if not any(known.has_sources(other) for other in needed if other.path == item.path)}
    gone = {*missing, *(Version(path, "") for path in closed)}
    return Modules(
        folders=list(manifests),
        apart=apart,
        missing=sorted(gone),
        instead=instead,
        absent=sorted({*absent, *(Version(path, "") for path in closed)}),
        hollow={item: known.manifest(item) for item in sorted(absent - gone)},
        replaced={path: item for path, item in replaced.items() if path not in closed},
        go=max((manifest.go for manifest in manifests.values() if manifest.go), key=_order, default="1.21"),
    )


def _settled(
    manifests: Sequence[Manifest], own: set[str], replaced: Mapping[str, tuple[Path, tuple[str, str]]], known: _Cache
) -> tuple[set[Version], set[Version], dict[Version, str]]:
    """As `_graph`, and of what is missing the versions that are there in its place, by which more may be wanted and missing."""
    instead: dict[Version, str] = {}
    needed, missing = _graph(manifests, own, replaced, known, instead)
    for _ in range(_MOST_ROUNDS):
        there: dict[str, str] = {}
        for item in needed:
            if known.has_manifest(item) and _order(item.version) > _order(there.get(item.path, "")):
                there[item.path] = item.version
        found = {item: there[item.path] for item in missing if item.path in there}
        if found == instead:
            break
        instead = found
        needed, missing = _graph(manifests, own, replaced, known, instead)
    return needed, missing, instead


def _graph(
    manifests: Sequence[Manifest],
    own: set[str],
    replaced: Mapping[str, tuple[Path, tuple[str, str]]],
    known: _Cache,
    instead: Mapping[Version, str],
) -> tuple[set[Version], set[Version]]:
    """All versions that the go command hears of, and those whose go.mod it wants to read and that are not there.

    Of what a module requires that is for Go 1.17 or later, the go.mod is read only if the workspace requires it itself (graph pruning).
    Of a module for an older Go all that lies below it is read.
    """
    whole = any(not _is_pruned(manifest) for manifest in manifests)
    todo = [(item, whole) for manifest in manifests for item in manifest.requires]
    todo += [(Version(*target), whole) for _, target in replaced.values() if target[1]]
    named: set[Version] = set()
    read_: dict[Version, bool] = {}
    missing: set[Version] = set()
    while todo and len(read_) < _MOST_MANIFESTS:
        item, is_whole = todo.pop()
        named.add(item)
        if read_.get(item, -1) >= is_whole or item.path in own:
            continue
        read_[item] = is_whole
        if item.path in replaced and replaced[item.path][1] != tuple(item):
            continue  # the one in its place is looked at
        if not known.has_manifest(item):
            missing.add(item)
            if item in instead:  # the one in its place is read as far as this one would have been
                todo.append((Version(item.path, instead[item]), is_whole))
            continue
        manifest = known.manifest(item)
        below = is_whole or not _is_pruned(manifest)
        if below:
            todo += [(other, below) for other in manifest.requires]
        else:
            named.update(manifest.requires)
    return named, missing


def _is_pruned(manifest: Manifest) -> bool:
    """Whether a module lists all that its packages need, as those for Go 1.17 and later do."""
    return _order(manifest.go)[0] >= [1, 17]


class _Cache:
    """Module caches: `cache/download/PATH/@v/VERSION.mod` and `PATH@VERSION/`."""

    def __init__(self, folders: Sequence[Path], version: str) -> None:
        self._folders = folders
        self._version = version
        self._known: dict[Version, Manifest | None] = {}

    def has_manifest(self, item: Version) -> bool:
        return self._read(item) is not None

    def manifest(self, item: Version) -> Manifest:
        return self._read(item) or Manifest()

    def has_sources(self, item: Version) -> bool:
        return any(os.path.isdir(folder / f"{_escaped(item.path)}@{_escaped(item.version)}") for folder in self._folders)

    def _read(self, item: Version) -> Manifest | None:
        if item not in self._known:
            place = f"cache/download/{_escaped(item.path)}/@v/{_escaped(item.version)}.mod"
            file = next((folder / place for folder in self._folders if os.path.isfile(folder / place)), None)
            said = read(file) if file is not None else None
            self._known[item] = None if said is not None and is_later(said.go, self._version) else said
        return self._known[item]


def _escaped(text: str) -> str:
    """As the cache writes it: `!a` for `A`."""
    return re.sub(r"[A-Z]", lambda match: f"!{match.group().lower()}", text)


def _order(version: str) -> tuple[list[int], bool, str]:
    """Versions in their order, as far as choosing among a few takes it: a release stands above its candidates."""
    base, _, candidate = version.lstrip("v").partition("-")
    return [int(part) for part in re.findall(r"\d{1,18}", base)], not candidate, candidate


def work_text(modules: Modules, more: Sequence[Path], empty: Path) -> str:
    """The go.work over these modules and `more` folders; what is missing is replaced by what lies in the folder `empty`."""
    lines = [f"go {modules.go}", "", "use ("]
    lines += [f"\t{shlex.quote(str(folder))}" for folder in dict.fromkeys([*modules.folders, *more])]
    lines += [")"]
    for path, (folder, target) in sorted(modules.replaced.items()):  # those of several modules may contradict each other
        if not target[1]:
            place = shlex.quote(os.path.normpath(folder / target[0]))
        elif (wanted := Version(*target)) in modules.missing:  # the go command does not replace what is there in place of another
            better = modules.instead.get(wanted)
            place = f"{target[0]} {better}" if better else str(empty / _folder_name(Version(path, "")))
        else:
            place = " ".join(target)
        lines.append(f"replace {path} => {place}")
    for item in modules.missing:
        if item.path in modules.replaced:
            continue
        better = modules.instead.get(item)
        lines.append(f"replace {item.path} {item.version} => " + (f"{item.path} {better}" if better else str(empty / _folder_name(item))))
    lines += [f"replace {path} => {empty / _folder_name(Version(path, ''))}" for path in sorted({item.path for item in modules.hollow})]
    return "\n".join(lines) + "\n"


def imports(text: str) -> set[str]:
    """Paths of the packages that a source imports."""
    return {path for block, line in _IMPORTS.findall(text) for path in _QUOTED.findall(block or line)}


def stand_ins(modules: Modules, imported: Iterable[str]) -> Mapping[str, str]:
    """By relative path, a source that no build takes in, for each package that is imported of a missing or a hollow module.

    Where nothing lies, the go command may tell the missing package with the place of one that imports it, and gopls then takes that file
    for the only one of a package of its own: the other files of its package, and with them the methods of its types, are unknown to it.
    Of a package whose files are all left out it tells no place.
    """
    lacking = {item.path: _folder_name(item) for item in [*modules.missing, *modules.hollow] if item not in modules.instead}
    made: dict[str, str] = {}
    for path in imported:
        parts = path.split("/")
        module = next((name for end in range(len(parts), 0, -1) if (name := "/".join(parts[:end])) in lacking), "")
        if module and _PACKAGE_PATH.fullmatch(path):
            made["/".join([lacking[module], *parts[module.count("/") + 1 :], "missing.go"])] = _LEFT_OUT
    return made


def empty_modules(modules: Modules) -> Mapping[str, str]:
    """By name of a folder, the go.mod of each module that stands for a missing one, or for a hollow one, and then asks for the same."""
    alone = [item for item in modules.missing if item not in modules.instead]
    replaced = [path for path, (_, target) in modules.replaced.items() if target[1] and Version(*target) in alone]
    empty = {_folder_name(item): f"module {item.path}\n" for item in [*alone, *(Version(path, "") for path in replaced)]}
    return empty | {_folder_name(item): _hollow_text(item, said) for item, said in modules.hollow.items()}


def _hollow_text(item: Version, said: Manifest) -> str:
    asks = "".join(f"require {other.path} {other.version}\n" for other in said.requires)
    return f"module {item.path}\n" + (f"\ngo {said.go}\n" if said.go else "") + asks


def _folder_name(item: Version) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "_", item.path)


def caches(environment: Mapping[str, str], fetched: Path) -> list[Path]:
    """Module caches: the user's, as the go command finds it, and the one that lspidx has filled."""
    home = environment.get("HOME") or str(Path.home())
    go_path = environment.get("GOPATH", "").split(os.pathsep)[0] or os.path.join(home, "go")
    own = Path(environment.get("GOMODCACHE") or os.path.join(go_path, "pkg", "mod"))
    return [own, fetched_cache(fetched)]


def fetched_cache(fetched: Path) -> Path:
    """Where `--fetch` puts modules; named as the go command names it, so that what lies there is known as Go's."""
    return fetched / "go" / "pkg" / "mod"


def best_cache(
    folders: Sequence[Path], environment: Mapping[str, str], fetched: Path, may_read: Callable[[str], bool] = lambda _: True
) -> tuple[Path, Modules]:
    """The cache that holds most of what is required (the user's where both do), and what is missing in it. may_read: as of `look`."""
    version = running(environment, folders[0]) if folders else ""
    looked = [(cache, look(folders, [cache], may_read, version)) for cache in caches(environment, fetched)]
    return min(looked, key=lambda item: (len(item[1].absent), len(item[1].missing)))
