"""Where the packages of a Node project may come from when `--fetch` installs them: a registry, or a package of the workspace itself.

Whatever else a manifest or a lock file may name would leave lspidx's promise to the author of the repository. A package from git is
prepared by a package manager of its own, started in its folder, which reads settings there (`git=./evil.sh` in `.npmrc` is a program that
npm starts, `yarnPath` one that yarn starts, whatever is said of scripts); `file:`, `link:` and `portal:` bring folders of this machine.
A name is a place, too: pnpm and yarn install what is called `@x/../../y` below `node_modules/@x/../../y`.
Pure: reads and writes nothing.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from indexer.encoding import parse_yaml

_KEPT = (
    "name", "version", "private", "type", "main", "module", "types", "typings", "exports", "imports", "browser", "workspaces",
    "dependencies", "devDependencies", "peerDependencies", "peerDependenciesMeta", "optionalDependencies", "dependenciesMeta",
    "bundleDependencies", "bundledDependencies", "overrides", "resolutions", "installConfig", "pnpm",
)  # fmt: skip
"""Keys of package.json that say what is installed and how it is imported. Others name programs (`scripts`, `bin`, `packageManager`)."""

OF_PNPM = (
    "packages", "catalog", "catalogs", "overrides", "patchedDependencies", "packageExtensions", "peerDependencyRules",
    "autoInstallPeers", "linkWorkspacePackages", "preferWorkspacePackages", "ignoredOptionalDependencies",
    "injectWorkspacePackages", "dedupePeerDependents", "dedupeDirectDeps", "dedupePeers", "peersSuffixMaxLength",
    "excludeLinksFromLockfile", "hoist", "hoistPattern", "publicHoistPattern", "shamefullyHoist", "resolutionMode",
    "supportedArchitectures", "sharedWorkspaceLockfile", "allowUnusedPatches", "strictPeerDependencies",
    "resolvePeersFromWorkspaceRoot",
)  # fmt: skip
"""Settings of pnpm that say what is installed; others name files and programs that pnpm would execute."""

_TABLES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "overrides", "resolutions")
_TABLES_OF_PNPM = ("overrides", "catalog", "catalogs", "packageExtensions")
_RANGE = re.compile(r"(?!\s*\.)[^:/\\#]*")
"""A range of versions, a tag, `*`, or nothing: no scheme, no `owner/repository`, no `..`."""

_ALIAS = re.compile(r"npm:(?:@[^:/\\#@]+/)?[^:/\\#]+")
_OWN = re.compile(r"(?:workspace|catalog):(?!\.\.)[^:/\\#]*|\$[^:#]*")
_PATCHED = re.compile(r"patch:(?:@[^:/\\#@]+/)?[^:/\\#@]+@(?:npm:)?[^:/\\#]*")
_BUILTIN = re.compile(r"~?(?:optional!)?builtin<[\w/-]+>")
_LOCAL = re.compile(r"(?:file|link|portal|workspace):(?P<place>.*)", re.DOTALL)
_LINKED = re.compile(r"(?:file|link|portal):")
_HOSTS_OF_GIT = re.compile(r"(?:(?:www|gist|codeload|api)\.)?(?:github\.com|gitlab\.com|bitbucket\.org)\Z|git\.sr\.ht\Z")


def is_allowed(specifier: str, folder: str, folders: Collection[str]) -> bool:
    """Whether a dependency that a manifest names comes from a registry or from a package of the workspace.

    Args:
        folder: of the manifest. folders: those of all packages of the workspace; all relative to the same root.
    """
    if _RANGE.fullmatch(specifier) or _ALIAS.fullmatch(specifier) or _OWN.fullmatch(specifier):
        return True
    if (local := _LOCAL.fullmatch(specifier)) is not None:
        return _is_inside(local["place"], folder) and posixpath.normpath(posixpath.join(folder, local["place"])) in {*folders, "."} - {""}
    source, is_patched, places = specifier.partition("#")
    if is_patched and _PATCHED.fullmatch(unquote(source)):
        return all(
            _BUILTIN.fullmatch(one) or _is_inside(one.removeprefix("optional!").removeprefix("~/"), folder) for one in places.split("&")
        )
    return False


def is_name(name: str) -> bool:
    """Whether a package of the name is installed below the folder of packages, and is not that folder: managers join the two."""
    return not name.startswith("/") and not {"", ".", ".."} & set(re.split(r"[/\\]", name))


def _is_inside(place: str, folder: str) -> bool:
    path = posixpath.normpath(posixpath.join(folder, place))
    return not (place.startswith(("/", "~")) or "\\" in place or "%" in place or path == ".." or path.startswith("../"))


def of_registries(manifest: Mapping[str, Any], folder: str, folders: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """A package.json without what names other sources or programs, and the names of the dependencies that it lost.

    Args:
        folder, folders: as of `is_allowed`.
    """
    left_out: list[str] = []

    def kept(value: object) -> bool:
        return not isinstance(value, str) or is_allowed(value, folder, folders)

    made: dict[str, Any] = {key: value for key, value in manifest.items() if key in _KEPT}
    if "name" in made and not is_name(str(made["name"])):
        del made["name"]
    if "workspaces" in made:
        made["workspaces"] = _patterns_inside(made["workspaces"])
    for table in (*_TABLES, "pnpm"):
        if table in made:
            made[table] = (
                settings_of_pnpm(made[table], folder, folders)
                if table == "pnpm"
                else _without(made[table], kept, left_out, (".",) if table == "overrides" else ())  # npm's word for the package itself
            )
    return made, left_out


def settings_of_pnpm(settings: object, folder: str, folders: Collection[str]) -> dict[str, Any]:
    """Settings of pnpm, of its own file or of package.json, without what names other sources or programs."""
    found = cast("dict[str, Any]", settings) if isinstance(settings, dict) else {}
    made = {key: value for key, value in found.items() if key in OF_PNPM}
    if "packages" in made:
        made["packages"] = _patterns_inside(made["packages"])
    for table in _TABLES_OF_PNPM:
        if table in made:
            made[table] = _without(made[table], lambda value: not isinstance(value, str) or is_allowed(value, folder, folders), [])
    patches = made.get("patchedDependencies")
    if patches is not None:
        made["patchedDependencies"] = _without(patches, lambda value: isinstance(value, str) and _is_inside(value, folder), [])
    return made


def _patterns_inside(value: object) -> object:
    """Patterns of a workspace's packages that lead to none outside, where the manager would install too."""
    if isinstance(value, dict):
        return {key: _patterns_inside(inner) for key, inner in cast("dict[str, object]", value).items()}
    patterns = cast("list[object]", value) if isinstance(value, list) else []
    return [one for one in patterns if isinstance(one, str) and ".." not in one and not one.lstrip("!").startswith(("/", "~"))]


def _without(value: object, kept: Any, left_out: list[str], besides: Collection[str] = ()) -> Any:
    """Tables within tables without the texts that are not to be kept, and without names that are none, but for `besides`."""
    if not isinstance(value, dict):
        return value if kept(value) else None
    made: dict[str, Any] = {}
    for name, inner in cast("dict[str, Any]", value).items():
        if not is_name(name) and name not in besides:
            left_out.append(name)
        elif isinstance(inner, dict):
            made[name] = _without(cast("dict[str, Any]", inner), kept, left_out, besides)
        elif kept(inner):
            made[name] = inner
        else:
            left_out.append(name)
    return made


# ---- patches

_HEADER = re.compile(r"\s*(?:diff|index|---|\+\+\+|rename|copy|old|new|deleted|similarity|dissimilarity|Index|Only)\b|\s*(?:---|\+\+\+)\s")
_DIFF = re.compile(
    r"diff --git a/[^/\s][^\s]* b/[^/\s][^\s]*|(?:---|\+\+\+) (?:[ab](?:/[^/\s].*)?|/dev/null)|(?!\s*(?:diff|---|\+\+\+)).*", re.DOTALL
)
_UPWARDS = re.compile(r"(?:\A|[/\s])\.\.(?:[/\s]|\Z)")
_ENDS = re.compile("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


def is_plain_patch(text: str) -> bool:
    """Whether a patch changes nothing but files below the package that it is for; package managers write wherever it says."""
    headers = [line for line in _ENDS.split(text) if _HEADER.match(line)]
    return not any(
        _UPWARDS.search(line) or "mode 12" in line or '"' in line or "\\" in line or not _DIFF.fullmatch(line) for line in headers
    )


# ---- lock files


def is_plain_lock(text: str, manager: str, folder: str, folders: Collection[str]) -> bool:
    """Whether a lock file names nothing but packages of registries and of the workspace; one that is written unusually does not.

    Args:
        manager: `npm`, `pnpm`, `yarn` or `berry`. folder, folders: as of `is_allowed`, of the lock file.
    """
    if manager == "yarn":
        return _is_plain_yarn(text, folder, folders)
    if manager == "berry" and "yarn lockfile v1" in text:  # which yarn would read by other rules than ours
        return False
    try:
        found: object = json.loads(text) if manager == "npm" else parse_yaml(text)
    except (ValueError, RecursionError):
        return False
    if manager == "pnpm" and not _links_stay(found, folder, folders):
        return False
    check = {"npm": _is_npms, "pnpm": _is_pnpms, "berry": _is_berrys}[manager]
    return all(_is_in_place(table, manager) and check(table, folder, folders) for table in _tables_in(found))


def _is_in_place(table: Mapping[str, object], manager: str) -> bool:
    """Whether no package is called, or lies, where its name would lead out of the folder of packages."""
    names = [str(name) for name in (*table, table.get("name", ""))]
    return not any(".." in re.split(r"[/\\]", name) or (name.startswith("/") and manager != "pnpm") for name in names)


def _tables_in(value: object) -> Iterator[dict[str, object]]:
    todo, seen = [value], set[int]()
    while todo:
        item = todo.pop()
        if not isinstance(item, (dict, list)) or id(cast("object", item)) in seen:
            continue
        seen.add(id(cast("object", item)))
        if isinstance(item, dict):
            yield cast("dict[str, object]", item)
            todo += cast("dict[str, object]", item).values()
        else:
            todo += cast("list[object]", item)


def _is_download(source: object) -> bool:
    """Whether a package is an archive behind an address, and not one that a manager takes for a repository of git."""
    if not isinstance(source, str) or not source.startswith(("http://", "https://")) or "\\" in source:
        return False
    try:
        address = urlsplit(source)
        host = (address.hostname or "").lower()
    except ValueError:
        return False
    return bool(host) and not address.username and not _HOSTS_OF_GIT.match(host) and not address.path.endswith(".git")


def _is_npms(table: Mapping[str, object], folder: str, folders: Collection[str]) -> bool:
    """`resolved` says where a package is from; in older files also `version`."""
    source, version = table.get("resolved", ""), table.get("version", "")
    if table.get("link"):
        return isinstance(source, str) and is_allowed(f"link:{source}", folder, folders)
    if source and not _is_download(source):
        return False
    return not isinstance(version, str) or bool(_RANGE.fullmatch(version) or _ALIAS.fullmatch(version))


def _is_pnpms(table: Mapping[str, object], folder: str, folders: Collection[str]) -> bool:
    if "repo" in table or table.get("type") in ("custom", "git", "binary", "variations"):
        return False
    if "tarball" in table and not _is_download(table["tarball"]):
        return False
    return "directory" not in table or is_allowed(f"file:{table['directory']}", folder, folders)


def _links_stay(lock: object, folder: str, folders: Collection[str]) -> bool:
    """Whether folders that a lock file of pnpm names (`link:../b`) are packages of the workspace, from its place or from the lock's."""
    whole = cast("dict[object, object]", lock) if isinstance(lock, dict) else {}
    importers = whole.get("importers")
    parts: list[tuple[str, object]] = [(folder, {key: value for key, value in whole.items() if key != "importers"})]
    for place, importer in (cast("dict[object, object]", importers) if isinstance(importers, dict) else {}).items():
        parts.append((posixpath.normpath(posixpath.join(folder, str(place))), importer))
    return all(
        is_allowed(one, place, folders) or is_allowed(one, folder, folders)
        for place, part in parts
        for table in _tables_in(part)
        for one in (value.partition("(")[0] for value in table.values() if isinstance(value, str) and _LINKED.match(value))
    )


def _is_berrys(table: Mapping[str, object], folder: str, folders: Collection[str]) -> bool:
    if "resolution" not in table:
        return True
    found = _NAMED.match(str(table["resolution"]))
    return found is not None and is_name(found["name"]) and is_allowed(found["source"].partition("::")[0], folder, folders)


_NAMED = re.compile(r"(?P<name>(?:@[^@/]+/)?[^@/]+)@(?P<source>.+)", re.DOTALL)
_LINE_OF_YARN = re.compile(
    r"""(?x) \#.* | \s* | \S.*: | \ \ (?:dependencies|optionalDependencies): | \ \ (?:integrity|uid)\ .*
    | \ \ version\ "[^"\\:/]*" | \ \ resolved\ "(?P<resolved>[^"\\]*)" | \ \ \ \ (?P<name>"[^"\\]*"|[^\s":]+)\ "?(?P<wanted>[^"\\]*)"?"""
)


def _is_plain_yarn(text: str, folder: str, folders: Collection[str]) -> bool:
    for line in text.splitlines():
        found = _LINE_OF_YARN.fullmatch(line)
        if found is None or (found["resolved"] is not None and not _is_download(found["resolved"])):
            return False
        if found["wanted"] is not None and not (is_name(found["name"].strip('"')) and is_allowed(found["wanted"], folder, folders)):
            return False
    return True
