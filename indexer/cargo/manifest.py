"""A package as its Cargo.toml states it: targets, dependencies, features, with what it inherits from its workspace."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

Table = Mapping[str, Any]
Names = Callable[[str], Sequence[str]]
"""Names in a folder of a package, by its path from the package's own; nothing where there is none."""

DependencyKind = Literal["normal", "dev", "build"]
TargetKind = Literal["lib", "bin", "example", "test", "bench", "build"]

_EDITIONS = ("2015", "2018", "2021", "2024")
_KINDS: Mapping[str, DependencyKind] = {
    "dependencies": "normal", "dev-dependencies": "dev", "dev_dependencies": "dev",
    "build-dependencies": "build", "build_dependencies": "build",
}  # fmt: skip
_MOST_WORDS = 1_000
_FOLDERS: Mapping[TargetKind, str] = {"bin": "src/bin", "example": "examples", "test": "tests", "bench": "benches"}


class Dependency(msgspec.Struct, frozen=True, kw_only=True):
    """`key` is what the manifest calls it, `package` what its own manifest does. `path` leads from the package's folder, or is empty.

    `base` is the folder that `path` leads from where that is another one: the workspace's. `target` is a condition on platforms.
    """

    key: str
    package: str
    kind: DependencyKind
    requirement: str = ""
    path: str = ""
    base: str = ""
    is_git: bool = False
    is_optional: bool = False
    with_default: bool = True
    features: tuple[str, ...] = ()
    target: str = ""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """`path` leads from the package's folder to the root module; `name` is a crate's: no dashes."""

    kind: TargetKind
    name: str
    path: str
    is_proc_macro: bool = False


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` is absolute. `workspace` is the folder of the workspace that it belongs to. `is_own`: lies in the repository."""

    folder: str
    name: str
    version: str
    edition: str
    workspace: str
    is_own: bool
    targets: tuple[Target, ...]
    dependencies: tuple[Dependency, ...]
    features: Mapping[str, tuple[str, ...]]

    @property
    def library(self) -> Target | None:
        return next((target for target in self.targets if target.kind == "lib"), None)


def table_of(value: object) -> Table:
    """A table of a manifest; an empty one where something else stands."""
    return cast("Table", value) if isinstance(value, Mapping) else {}


def read_package(manifest: Table, folder: str, names: Names, *, workspace: Table, workspace_folder: str, is_own: bool) -> Package | None:
    """The package of a manifest; None where it has none, as the manifest of a workspace alone.

    Args:
        workspace: the table `[workspace]` that it inherits from. names: looks into the package's folder.
    """
    package = table_of(manifest.get("package")) or table_of(manifest.get("project"))
    name = package.get("name")
    if not isinstance(name, str) or not name:
        return None
    common = table_of(workspace.get("package"))

    def stated(key: str, default: str) -> str:
        value = package.get(key, default)
        if isinstance(value, Mapping):
            value = common.get(key, default)
        return str(value)

    edition = stated("edition", "2015")
    return Package(
        folder=folder,
        name=name,
        version=stated("version", "0.0.0"),
        edition=edition if edition in _EDITIONS else _EDITIONS[-1],
        workspace=workspace_folder,
        is_own=is_own,
        targets=tuple(_targets(manifest, package, name, names, is_own=is_own)),
        dependencies=tuple(_dependencies(manifest, table_of(workspace.get("dependencies")), workspace_folder)),
        features={key: words_of(value) for key, value in table_of(manifest.get("features")).items()},
    )


def patches(manifest: Table) -> list[Dependency]:
    """What the manifest of a workspace puts in the place of registry packages."""
    sources = table_of(manifest.get("patch")).values()
    return [_dependency(key, value, "normal", "", {}, "") for source in sources for key, value in table_of(source).items()]


def words_of(value: object) -> tuple[str, ...]:
    """The texts of a list of a manifest, the first thousand; none where something else stands."""
    found = cast("list[Any]", value)[:_MOST_WORDS] if isinstance(value, list) else []
    return tuple(word for word in found if isinstance(word, str))


# ---- dependencies


def _dependencies(manifest: Table, inherited: Table, workspace_folder: str) -> Iterator[Dependency]:
    for section, kind in _KINDS.items():
        for key, value in table_of(manifest.get(section)).items():
            yield _dependency(key, value, kind, "", inherited, workspace_folder)
    for target, tables in table_of(manifest.get("target")).items():
        for section, kind in _KINDS.items():
            for key, value in table_of(table_of(tables).get(section)).items():
                yield _dependency(key, value, kind, target, inherited, workspace_folder)


def _dependency(key: str, value: object, kind: DependencyKind, target: str, inherited: Table, workspace_folder: str) -> Dependency:
    own = _stated(value)
    is_inherited = own.get("workspace") is True
    stated = {**_stated(inherited.get(key)), **own} if is_inherited else own
    more = words_of(_stated(inherited.get(key)).get("features")) if is_inherited else ()
    path = stated.get("path")
    return Dependency(
        key=key,
        package=str(stated.get("package") or key),
        kind=kind,
        requirement=str(stated.get("version") or ""),
        path=path if isinstance(path, str) else "",
        base=workspace_folder if is_inherited else "",
        is_git="git" in stated,
        is_optional=own.get("optional") is True,
        with_default=stated.get("default-features", stated.get("default_features", True)) is not False,
        features=tuple(dict.fromkeys((*more, *words_of(stated.get("features"))))),
        target=target,
    )


def _stated(value: object) -> Table:
    """The long form of a dependency."""
    return {"version": value} if isinstance(value, str) else table_of(value)


# ---- targets


def crate_name(name: str) -> str:
    """What code calls a package or a target."""
    return name.replace("-", "_")


def _targets(manifest: Table, package: Table, name: str, names: Names, *, is_own: bool) -> Iterator[Target]:
    library = table_of(manifest.get("lib"))
    path = library.get("path")
    if not isinstance(path, str):
        path = "src/lib.rs" if "lib.rs" in names("src") and (library or package.get("autolib") is not False) else ""
    if path:
        kinds = words_of(library.get("crate-type") or library.get("crate_type"))
        is_proc_macro = library.get("proc-macro") is True or library.get("proc_macro") is True or "proc-macro" in kinds
        stated = library.get("name")
        label = stated if isinstance(stated, str) else name
        yield Target(kind="lib", name=crate_name(label), path=posixpath.normpath(path), is_proc_macro=is_proc_macro)
    if not is_own:
        return
    for kind in _FOLDERS:
        found: dict[str, Target] = {}
        for target in [*_listed(manifest, kind, name, names), *_discovered(package, kind, name, names)]:
            found.setdefault(target.path, target)
        yield from found.values()
    build = package.get("build")
    if build is not False and (isinstance(build, str) or "build.rs" in names("")):
        yield Target(kind="build", name="build_script_build", path=posixpath.normpath(build) if isinstance(build, str) else "build.rs")


def _listed(manifest: Table, kind: TargetKind, package: str, names: Names) -> Iterator[Target]:
    """Targets that the manifest names."""
    listed: object = manifest.get(kind)
    folder = _FOLDERS[kind]
    for item in cast("list[Any]", listed) if isinstance(listed, list) else []:
        stated = table_of(item)
        name, path = stated.get("name"), stated.get("path")
        if not isinstance(name, str):
            continue
        if not isinstance(path, str):
            if f"{name}.rs" in names(folder):
                path = f"{folder}/{name}.rs"
            elif "main.rs" in names(f"{folder}/{name}"):
                path = f"{folder}/{name}/main.rs"
            elif kind == "bin" and (name == package or "main.rs" in names("src")):
                path = "src/main.rs"
            else:
                continue
        yield Target(kind=kind, name=crate_name(name), path=posixpath.normpath(path))


def _discovered(package: Table, kind: TargetKind, name: str, names: Names) -> Iterator[Target]:
    """Targets that cargo finds by their places."""
    folder = _FOLDERS[kind]
    if package.get({"bench": "autobenches"}.get(kind, f"auto{kind}s")) is False:
        return
    if kind == "bin" and "main.rs" in names("src"):
        yield Target(kind=kind, name=crate_name(name), path="src/main.rs")
    for entry in sorted(names(folder)):
        if entry.endswith(".rs"):
            yield Target(kind=kind, name=crate_name(entry.removesuffix(".rs")), path=f"{folder}/{entry}")
        elif "." not in entry and "main.rs" in names(f"{folder}/{entry}"):
            yield Target(kind=kind, name=crate_name(entry), path=f"{folder}/{entry}/main.rs")
