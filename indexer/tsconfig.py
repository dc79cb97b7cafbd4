"""TypeScript's project files: read as TypeScript reads them, and rewritten for a server that cannot see what they count on.

The rewritten texts are told to the server as those of open documents (ADR 0021); nothing is written to disk.
"""

from __future__ import annotations

import functools
import json
import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from indexer import globs
from indexer.encoding import parse_json, read_beginning

Paths = Mapping[str, Sequence[str]]
"""Files or patterns by the import that they stand for, in the form of `compilerOptions.paths`; relative to the root, or absolute."""

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*(?:"|\\?\Z)|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|,(?=[ \t\r\n]*[}\]])', re.DOTALL)
_CONFIG = re.compile(r"(?:^|/)[tj]sconfig[^/]*\.json\Z")
_PROJECT = re.compile(r"(?:^|/)[tj]sconfig\.json\Z")
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs")
_TYPED = (".ts", ".tsx", ".mts", ".cts")
_SOURCES = (*_TYPED, *_SCRIPTS)
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_MODULE = re.compile(r"^(?:import|export)\b|\bmodule\.exports\b|\brequire\(|^exports\.", re.MULTILINE)
PROJECT_OF_THEIR_OWN = 10
"""From so many scripts on, those that a project file leaves out get a project of their own: a further program costs memory."""

_OF_SCRIPTS = "tsconfig.scripts-of-lspidx.json"
"""The name of such a project file, which is nowhere on disk."""

_FOR_SCRIPTS: Mapping[str, Any] = json.loads(
    """{"allowJs": true, "checkJs": false, "strict": false, "skipLibCheck": true, "target": "esnext", "module": "preserve",
        "moduleResolution": "bundler", "jsx": "preserve", "resolveJsonModule": true, "esModuleInterop": true}"""
)
"""What an editor supposes of scripts without a project file: no checks, `import` and `require` alike, with and without endings."""

_TEST = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__|e2e)/|[._-](?:test|spec)s?\.\w+\Z")
"""A file of tests."""

_MOST_EXTENDED = 16
_MOST_CONFIGS = 1_000
_MOST_BYTES = 1_000_000


class Overlay(msgspec.Struct, frozen=True, kw_only=True):
    """A text that a server shall take for that of a file. `path` is relative to the root."""

    path: str
    text: str


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What imports of one folder may lead to beside what its project files say.

    type_roots: folders in which packages are looked for that are named as types. types: those that hold where a project names none.
    """

    paths: Paths
    type_roots: Sequence[str] = ()
    types: Sequence[str] = ("*",)


class Orphans(msgspec.Struct, kw_only=True):
    """Sources that no project file takes in.

    taken_in: by the project file that is to take them in. beside: scripts, by the project file that is to refer to one of their own,
    for it is about TypeScript only: its modules, its library and its types need not be theirs; and tests that are no modules. alone: by
    the package that has no project file. sharing: project files beside which scripts share their names, as `include` has it.
    """

    taken_in: dict[str, list[str]] = msgspec.field(default_factory=dict)
    beside: dict[str, list[str]] = msgspec.field(default_factory=dict)
    alone: dict[str, list[str]] = msgspec.field(default_factory=dict)
    sharing: set[str] = msgspec.field(default_factory=set)


class Extent:
    """What a project file's own `files`, `include` and `exclude` take in; paths are relative to the project file's folder."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self._files = frozenset(posixpath.normpath(name) for name in _strings(raw.get("files")))
        by_files_alone = "include" not in raw and "files" in raw
        included = globs.readable(raw.get("include")) if "include" in raw else [] if by_files_alone else ["**/*"]
        out = _options(raw).get("outDir")
        left_out = globs.readable(raw.get("exclude")) if "exclude" in raw else ["node_modules", *([out] if isinstance(out, str) else [])]
        self._included = [_pattern(pattern, is_exclude=False) for pattern in included]
        self._left_out = [_pattern(pattern, is_exclude=True) for pattern in left_out]

    def takes(self, path: str) -> bool:
        if path in self._files:
            return True
        return any(pattern.match(path) for pattern in self._included) and not any(pattern.match(path) for pattern in self._left_out)


@functools.lru_cache(maxsize=2048)
def _pattern(pattern: str, *, is_exclude: bool) -> re.Pattern[str]:
    """A pattern of `include` or `exclude`. A folder means all below it; what is hidden, only a pattern of `exclude` takes in by a `*`."""
    hidden = "" if is_exclude else r"(?!\.)"
    parts = [part for part in posixpath.normpath(pattern).split("/") if part != "."]
    last = parts[-1] if parts else "**"
    is_folder = is_exclude or ("*" not in last and "." not in last)
    end = "" if last == "**" else r"(?:/.*)?\Z" if is_folder else r"\Z"
    shown = [part if part == "**" else (hidden if part.startswith(("*", "?")) else "") + globs.part(part) for part in parts]
    return re.compile(globs.regex(shown, end=end, folder=f"{hidden}[^/]+/"))


class Configs:
    """The project files of a workspace, by path relative to the root."""

    def __init__(self, root: Path, paths: Sequence[str], packages: Mapping[str, str], fetched: Sequence[Path] = ()) -> None:
        """Args:
        packages: folders of the workspace's packages by name: a project file may extend one of theirs.
        fetched: folders that hold `node_modules` from which project files may be extended.
        """
        self._root, self._packages, self._fetched = root, packages, fetched
        self._files = frozenset(paths)
        self._read: dict[str, dict[str, Any]] = {}
        self._extents: dict[str, Extent] = {}
        self._referred: dict[str, list[str]] = {}
        self.paths = sorted((path for path in paths if _CONFIG.search(path)), key=lambda path: (path.count("/"), path))[:_MOST_CONFIGS]

    def raw(self, path: str) -> dict[str, Any]:
        """The file's content; empty where it cannot be read, or lies outside."""
        if path not in self._read:
            text = ""
            if path in self._files or os.path.isabs(path):
                text = read_beginning(self._root / path, _MOST_BYTES)
            self._read[path] = parse(text)
        return self._read[path]

    def extended(self, path: str) -> list[str]:
        """The files that a project file extends, the last one first since it has the last word; without those that are not there."""
        named = self.raw(path).get("extends")
        names = [named] if isinstance(named, str) else _strings(named)
        return [found for name in reversed(names) if (found := self.locate(path, name))]

    def locate(self, path: str, name: str) -> str:
        """The file that `name` in `extends` means: relative to the root, absolute if it lies outside; empty where it is not there."""
        if name.startswith((".", "/")):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            return next((one for one in (place, f"{place}.json") if one in self._files), "")
        for package, folder in self._packages.items():
            if name == package or name.startswith(f"{package}/"):
                place = posixpath.normpath(posixpath.join(folder, name[len(package) + 1 :] or "tsconfig.json"))
                return next((one for one in (place, f"{place}.json") if one in self._files), "")
        for folder in self._fetched:
            place = str(folder / "node_modules" / name)
            for one in (place, f"{place}.json", f"{place}/tsconfig.json"):
                if os.path.isfile(one):
                    return os.path.realpath(one)
        return ""

    def orphans(self, packages: Collection[str] = ()) -> Orphans:
        """Sources that the project file that is nearest to them leaves out, and those that it refers to.

        TypeScript's server looks no further up for a file that is not open, and makes a program of its own of each file that is in
        no project. Declarations are not among them, nor is a source that is no module, for what it declares would hold for all of the
        project; but a script that `include` names is, with other scripts: tests of browsers share their names so. Tests that import
        nothing and that nothing names (`describe` and `expect` are there in a browser) are modules to a project of scripts.

        Args:
            packages: folders that have a manifest, relative to the root.
        """
        nearest = {posixpath.dirname(path): path for path in reversed(self.paths) if _PROJECT.search(path)}
        typed = {
            above
            for path in self._files
            if path.endswith(_TYPED) and not path.endswith(_DECLARATIONS)
            for above in _upwards(posixpath.dirname(path))
        }
        found = Orphans()
        with_globals: dict[str, list[str]] = {}
        plain: dict[str, list[str]] = {}
        for path in sorted(self._files):
            if not path.endswith(_SOURCES) or path.endswith(_DECLARATIONS) or "node_modules/" in path or path.startswith("../"):
                continue
            above = list(_upwards(posixpath.dirname(path)))
            config = next((nearest[folder] for folder in above if folder in nearest), None)
            if config is not None and any(self._takes(one, path) for one in self._with_references(config)):
                continue
            package = next((folder for folder in above if folder in packages), "")
            is_inner = config is not None and len(package) > len(posixpath.dirname(config))
            has_none = config is None or (is_inner and path.endswith(_SCRIPTS) and package not in typed)
            if not _MODULE.search(read_beginning(self._root / path, _MOST_BYTES)):
                if config is not None and path.endswith(_SCRIPTS) and self._includes(config, path):
                    with_globals.setdefault(config, []).append(path)
                elif path.endswith(_SCRIPTS) and _TEST.search(path):
                    (found.alone if has_none else plain).setdefault(package if has_none else str(config), []).append(path)
            elif has_none:
                found.alone.setdefault(package, []).append(path)
            else:
                found.taken_in.setdefault(str(config), []).append(path)
        for config, paths in found.taken_in.items():
            scripts = [path for path in paths if path.endswith(_SCRIPTS)]
            if len(scripts) >= PROJECT_OF_THEIR_OWN and not self.option(config, "allowJs")[0] and not config.endswith("jsconfig.json"):
                found.beside[config] = sorted([*scripts, *with_globals.get(config, ())])
                found.taken_in[config] = [path for path in paths if not path.endswith(_SCRIPTS)]
                found.sharing.update({config} & with_globals.keys())
        for config, paths in plain.items():
            if config not in found.sharing and (config in found.beside or len(paths) >= PROJECT_OF_THEIR_OWN):
                found.beside[config] = sorted([*found.beside.get(config, ()), *paths])
        return found

    def _takes(self, config: str, path: str) -> bool:
        if path.endswith(_SCRIPTS) and not (self.option(config, "allowJs")[0] or config.endswith("jsconfig.json")):
            return False
        return self._includes(config, path)

    def _includes(self, config: str, path: str) -> bool:
        if config not in self._extents:
            self._extents[config] = self._extent(config)
        return self._extents[config].takes(path)

    def _extent(self, config: str) -> Extent:
        """With what it inherits, and relative to the root."""
        raw = self.raw(config)
        waiting, seen, said = [config], 0, {"files": config, "include": config, "exclude": config}
        values = {key: raw[key] for key in ("files", "include", "exclude") if key in raw}
        while waiting and len(values) < len(said) and seen < _MOST_EXTENDED:
            seen += 1
            above = self.extended(waiting.pop(0))
            waiting += above
            for one in above:
                for key in said:
                    if key not in values and key in self.raw(one):
                        values[key], said[key] = self.raw(one)[key], one
        here = {
            key: [posixpath.normpath(posixpath.join(posixpath.dirname(said[key]), name)) for name in _strings(value)]
            for key, value in values.items()
        }
        folder = posixpath.dirname(config)
        if "include" not in here and "files" not in here:
            here["include"] = [posixpath.join(folder, "**/*")]
        out, outer = self.option(config, "outDir")
        if "exclude" not in here:
            here["exclude"] = ["**/node_modules"]
            if isinstance(out, str):
                here["exclude"].append(posixpath.normpath(posixpath.join(posixpath.dirname(outer), out)))
        return Extent(here)

    def _with_references(self, config: str) -> list[str]:
        if config in self._referred:
            return self._referred[config]
        found = self._referred[config] = [config]
        for item in cast("list[Any]", references) if isinstance(references := self.raw(config).get("references"), list) else []:
            name = cast("dict[str, Any]", item).get("path") if isinstance(item, dict) else None
            if isinstance(name, str):
                place = posixpath.normpath(posixpath.join(posixpath.dirname(config), name))
                found += [one for one in (place, f"{place}/tsconfig.json") if one in self._files]
        return found

    def option(self, path: str, name: str) -> tuple[Any, str]:
        """A compiler option as it holds for a project file, and the file that says so; (None, "") where none does."""
        waiting, seen = [path], 0
        while waiting and seen < _MOST_EXTENDED:
            one = waiting.pop(0)
            seen += 1
            value = _options(self.raw(one)).get(name)
            if value is not None:
                return value, one
            waiting = [*self.extended(one), *waiting]
        return None, ""

    def base(self, path: str) -> str:
        """What `baseUrl` names, relative to the root; empty for none."""
        value, said = self.option(path, "baseUrl")
        return (posixpath.normpath(posixpath.join(posixpath.dirname(said), value)) or ".") if isinstance(value, str) else ""

    def mapped(self, path: str) -> dict[str, list[str]]:
        """`compilerOptions.paths` as it holds for a project file, with targets relative to the root."""
        value, said = self.option(path, "paths")
        if not isinstance(value, dict):
            return {}
        base = self.base(path) or posixpath.dirname(said)
        return {
            key: [posixpath.normpath(posixpath.join(base, target)) for target in _strings(targets)]
            for key, targets in cast("dict[str, Any]", value).items()
        }

    def covers(self, mapped: Paths, name: str) -> bool:
        """Whether `paths` of a project file leads an import to something that is there."""
        best = max((key for key in mapped if _matches(key, name)), key=lambda key: len(key.partition("*")[0]), default="")
        if not best or best == "*":
            return False
        middle = name[len(best.partition("*")[0]) : len(name) - len(best.partition("*")[2])] if "*" in best else ""
        return any(self._is_there(target.replace("*", middle, 1)) for target in mapped[best])

    def _is_there(self, target: str) -> bool:
        stem = re.sub(r"\.[cm]?jsx?\Z", "", target)
        return any(f"{one}{ending}" in self._files for one in (target, stem, f"{target}/index") for ending in _ENDINGS)


_ENDINGS = ("", ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")


def overlays(configs: Configs, around: Callable[[str], Surroundings], packages: Collection[str] = ()) -> list[Overlay]:
    """Texts in place of project files: with the paths that lead to the workspace's own packages and to what was fetched.

    A file is left as it is where another one that it extends says all of it. Sources that have no project file get one.

    Args:
        around: what there is for a folder, relative to the root. packages: folders that have a manifest.
    """
    made: dict[str, Overlay] = {}
    wanted: dict[str, dict[str, Any]] = {}
    orphans = configs.orphans(packages)
    for path in configs.paths:
        wanted[path] = _additions(configs, path, around(posixpath.dirname(path)))
    for path in configs.paths:
        raw = configs.raw(path)
        named = raw.get("extends")
        bare = [name for name in ([named] if isinstance(named, str) else _strings(named)) if not name.startswith((".", "/"))]
        moved = any(configs.locate(path, name) for name in bare)
        lost, apart = orphans.taken_in.get(path, ()), path in orphans.beside
        if not wanted[path] and not moved and not lost and not apart:
            continue
        above = configs.extended(path)
        own = _options(raw)
        inherits = len(above) == 1 and wanted.get(above[0]) == wanted[path] and not own.keys() & {"paths", "baseUrl", "types", "typeRoots"}
        if not inherits or moved or lost or apart:
            made[path] = Overlay(path=path, text=_rewritten(configs, path, wanted[path], lost, apart=apart))
    for path, scripts in orphans.beside.items():
        folder = posixpath.dirname(path)
        place = posixpath.join(folder, _OF_SCRIPTS)
        named = _strings(configs.option(path, "types")[0])
        roots, said = configs.option(path, "typeRoots")
        there = around(folder)
        own = [posixpath.normpath(posixpath.join(posixpath.dirname(said), root)) for root in _strings(roots)]
        there = Surroundings(paths=there.paths, type_roots=[*own, *there.type_roots], types=there.types)
        made[place] = Overlay(path=place, text=_made_up(folder, scripts, there, named, are_modules=path not in orphans.sharing))
    for folder, sources in orphans.alone.items():
        place = posixpath.join(folder, "tsconfig.json")
        made[place] = Overlay(path=place, text=_made_up(folder, sources, around(folder)))
    return list(made.values())


def _made_up(folder: str, sources: Sequence[str], around: Surroundings, named: Sequence[str] = (), *, are_modules: bool = True) -> str:
    """A project file for sources that have none.

    Args:
        named: types that a project file beside it asks for, `vitest/globals` say. are_modules: no source shares its names with others.
    """
    options: dict[str, Any] = {**_FOR_SCRIPTS, "types": list(dict.fromkeys([*around.types, *named]))}
    if are_modules:
        options["moduleDetection"] = "force"
    if around.paths:
        options["paths"] = {key: [_from(folder, target) for target in targets] for key, targets in around.paths.items()}
    if around.type_roots:
        options["typeRoots"] = [_from(folder, target) for target in around.type_roots]
    return json.dumps({"compilerOptions": options, "files": [_from(folder, source) for source in sources]})


def closed(text: str) -> str:
    """The text of a project file for a server that is only asked about files on disk.

    `composite` lets TypeScript's server see from the list of files alone that an open document is none of the project's. Without it,
    it loads each project as soon as its rewritten file is opened: 5 s and 300 MB in place of 1 s and 100 MB on trpc. Where `files`
    names the beginnings of a project only, what these import belongs to it too, so such a one is left as it is.
    """
    raw = parse(text)
    if "include" not in raw and "extends" not in raw and "files" in raw:
        return text
    raw["compilerOptions"] = {**_options(raw), "composite": True}
    return json.dumps(raw)


def _additions(configs: Configs, path: str, around: Surroundings) -> dict[str, Any]:
    """Compiler options that a project file needs in addition, targets relative to the root; empty where it needs none."""
    mapped = configs.mapped(path)
    base = configs.base(path)
    more = {key: list(targets) for key, targets in around.paths.items() if key not in mapped and not configs.covers(mapped, key)}
    if base and "*" not in mapped:
        more["*"] = [f"{base}/*".removeprefix("./")]  # TypeScript 7 knows `baseUrl` no more
    additions: dict[str, Any] = {}
    if more:
        additions["paths"] = {**mapped, **more}
    if configs.option(path, "types")[0] is None:
        additions["types"] = list(around.types)  # all that is installed, as every version before TypeScript 6 had it
    if around.type_roots and configs.option(path, "typeRoots")[0] is None:
        additions["typeRoots"] = list(around.type_roots)
    return additions if more or around.type_roots else {}


def _rewritten(configs: Configs, path: str, additions: Mapping[str, Any], orphans: Sequence[str], *, apart: bool) -> str:
    """Args: apart: whether scripts beside have a project file that this one is to refer to."""
    raw = dict(configs.raw(path))
    folder = posixpath.dirname(path)
    if apart:
        known = raw.get("references")
        raw["references"] = [*(cast("list[Any]", known) if isinstance(known, list) else []), {"path": f"./{_OF_SCRIPTS}"}]
    if orphans:
        if "files" not in raw and "include" not in raw and not any("files" in configs.raw(one) for one in configs.extended(path)):
            raw["include"] = ["**/*"]  # what holds where neither is there
        raw["files"] = [*_strings(raw.get("files")), *(_from(folder, orphan) for orphan in orphans)]
        if any(orphan.endswith(_SCRIPTS) for orphan in orphans) and not configs.option(path, "allowJs")[0]:
            additions = {**additions, "allowJs": True, "checkJs": False}
    options = {**_options(raw), **additions}
    if "paths" in additions:
        options["paths"] = {key: [_from(folder, target) for target in targets] for key, targets in additions["paths"].items()}
    if "typeRoots" in additions:
        options["typeRoots"] = [_from(folder, target) for target in additions["typeRoots"]]
    named = raw.get("extends")
    if isinstance(named, str):
        raw["extends"] = _moved(configs, path, named)
    elif isinstance(named, list):
        raw["extends"] = [_moved(configs, path, name) for name in _strings(named)]
    return json.dumps({**raw, "compilerOptions": options})


def _moved(configs: Configs, path: str, name: str) -> str:
    found = "" if name.startswith((".", "/")) else configs.locate(path, name)
    return _from(posixpath.dirname(path), found) if found else name


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def _from(folder: str, target: str) -> str:
    """A path relative to the root as one relative to a folder, in the form that `paths` asks for; an absolute one as it is."""
    if target.startswith("/"):
        return target
    relative = posixpath.relpath(target or ".", folder or ".")
    return relative if relative.startswith("..") else f"./{relative}"


def parse(text: str) -> dict[str, Any]:
    """JSON with comments and trailing commas, as TypeScript takes it; empty where it is none."""
    bare = _TOKEN.sub(lambda match: match[0] if match[0].startswith('"') else " ", text.lstrip("\ufeff"))
    try:
        value = parse_json(_TRAILING_COMMA.sub(lambda match: match[1] or "", bare))
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _options(raw: Mapping[str, Any]) -> dict[str, Any]:
    value = raw.get("compilerOptions")
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    return [item for item in cast("list[Any]", value) if isinstance(item, str)] if isinstance(value, list) else []


def _matches(pattern: str, name: str) -> bool:
    before, star, after = pattern.partition("*")
    return name == pattern if not star else len(name) >= len(before) + len(after) and name.startswith(before) and name.endswith(after)
