"""What the manifests of a repository in Java depend on, read as text: pom.xml, and what stands in build.gradle as coordinates or as a name
of a version catalog.

Of that a project of lspidx's own is written for Maven: dependencies, what manages their versions, properties; no plugin, no extension,
no profile, no registry of the repository's choice. So Maven can be asked for the class path without running anything of the repository.
A parent from a registry is taken for the versions that it manages, and not as a parent, since a parent brings plugins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from indexer.encoding import read_manifest
from indexer.jvm import catalogs
from indexer.private_places import is_held

MANIFESTS = ("pom.xml", "build.gradle", "build.gradle.kts")
_MOST_MANIFESTS = 500
_MOST_DEEP = 20
_PROPERTY = re.compile(r"\$\{([\w.\-]{1,100})\}")
_WORD = re.compile(r"[\w.\-+]{1,200}\Z")
_VERSION = re.compile(r"[\w.\-+\[\](),]{1,100}\Z")
_FIELDS = ("groupId", "artifactId", "version", "type", "classifier", "scope")
_GRADLE = re.compile(
    r"""^\s*(?:\w*[iI]mplementation|\w*[aA]pi|\w*[cC]ompileOnly|compile|testCompile)\b[ (]*["']([\w.\-]+):([\w.\-]+):([\w.\-+]+)["']""",
    re.MULTILINE,
)
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)


class Dependency(NamedTuple):
    """As a pom.xml names it, with its properties put in; empty where a field is not there."""

    group: str
    artifact: str
    version: str = ""
    kind: str = ""
    classifier: str = ""
    scope: str = ""
    without: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.group}:{self.artifact}"

    @property
    def key(self) -> tuple[str, str, str]:
        return self.name, self.kind or "jar", self.classifier


class Pom(NamedTuple):
    """One pom.xml as it stands there; `parent` and `own` are coordinates, with empty strings for what it does not say."""

    own: tuple[str, str, str]
    parent: tuple[str, str, str]
    properties: Mapping[str, str]
    managed: Sequence[Dependency]
    dependencies: Sequence[Dependency]


class Wanted(NamedTuple):
    """What one project of the repository needs. `unknown`: dependencies whose version is nowhere to be read."""

    dependencies: Sequence[Dependency]
    managed: Sequence[Dependency]
    unknown: Sequence[str]


def read_pom(content: bytes) -> Pom | None:
    """None for what is no pom.xml, or one with declarations of its own (entities)."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        return None
    try:
        root = ElementTree.fromstring(content)  # noqa: S314 - without declarations it has no entities
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    if root.tag != "project":
        return None
    above = root.find("parent")
    parent = _coordinates(above) if above is not None else ("", "", "")
    found = root.find("properties")
    properties = {item.tag: (item.text or "").strip() for item in found} if found is not None else {}
    own = _coordinates(root)
    own = (own[0] or parent[0], own[1], own[2] or parent[2])
    managed = _dependencies(root.find("dependencyManagement/dependencies"))
    return Pom(own, parent, properties, managed, _dependencies(root.find("dependencies")))


def _coordinates(element: ElementTree.Element) -> tuple[str, str, str]:
    group, artifact, version = ((element.findtext(name) or "").strip() for name in _FIELDS[:3])
    return group, artifact, version


def _dependencies(element: ElementTree.Element | None) -> list[Dependency]:
    found: list[Dependency] = []
    for item in element.findall("dependency") if element is not None else ():
        without = tuple(_coordinates(one)[:2] for one in item.findall("exclusions/exclusion"))
        found.append(_made([(item.findtext(name) or "").strip() for name in _FIELDS], without))
    return found


def _made(fields: Sequence[str], without: tuple[tuple[str, str], ...]) -> Dependency:
    group, artifact, version, kind, classifier, scope = fields
    return Dependency(group, artifact, version, kind, classifier, scope, without)


def read_gradle(text: str) -> list[Dependency]:
    """The dependencies that stand in a build script with all of their coordinates; what it computes is not known."""
    return [Dependency(*found) for found in _GRADLE.findall(_COMMENT.sub("", text))]


def wanted(root: Path, paths: Iterable[str], outside: Callable[[tuple[str, str, str]], Pom | None] = lambda _: None) -> list[Wanted]:
    """What the projects of a workspace need, those that need the same once.

    Args:
        paths: of the workspace's files, relative to `root`.
        outside: the pom.xml of a parent that is not the repository's, if it has been fetched.
    """
    files = sorted(path for path in paths if os.path.basename(path) in MANIFESTS and is_held(str(root), path))[:_MOST_MANIFESTS]
    poms = {path: pom for path in files if path.endswith(".xml") and (pom := read_pom(_content(root / path))) is not None}
    known = {pom.own[:2]: pom for pom in poms.values()}
    made = {_of_pom(pom, known, outside) for pom in poms.values()}
    folders = {os.path.dirname(path) for path in poms}
    for path in files:
        if not path.endswith(".xml") and os.path.dirname(path) not in folders:
            made.add(_of_script(_content(root / path).decode("utf-8", "replace"), root, os.path.dirname(path)))
    return sorted(one for one in made if one.dependencies or one.unknown)


def _of_script(text: str, root: Path, folder: str) -> Wanted:
    """What a build script names by coordinates, or by its catalog; what has no version, and nothing that manages one, is unknown."""
    read = read_gradle(text)
    uses = catalogs.used(_COMMENT.sub("", text), catalogs.catalog_of(root, folder)) if "libs." in text else []
    managed = [Dependency(*module, "pom", "", "import") for use in uses if use.is_platform for module in use.modules]
    listed = _unique([*read, *(Dependency(*module) for use in uses if not use.is_platform for module in use.modules)])
    whole = [item for item in listed if _is_whole(item) and (item.version or managed)]
    unknown = sorted({item.name for item in listed if item not in whole})
    return Wanted(tuple(whole), tuple(item for item in managed if item.version and _is_whole(item)), tuple(unknown))


def _content(path: Path) -> bytes:
    try:
        return read_manifest(path)
    except OSError:
        return b""


def _chain(
    pom: Pom, known: Mapping[tuple[str, str], Pom], outside: Callable[[tuple[str, str, str]], Pom | None]
) -> Iterator[tuple[Pom, bool]]:
    """A project, its parents in the repository, and those from elsewhere that have been fetched; of each whether it is the repository's."""
    seen: set[tuple[str, str, str]] = set()
    here: Pom | None = pom
    is_own = True
    while here is not None and here.own not in seen and len(seen) < _MOST_DEEP:
        yield here, is_own
        seen.add(here.own)
        above = here.parent
        own = known.get(above[:2]) if is_own and above[1] else None
        here, is_own = (own, True) if own is not None else (outside(above) if above[1] else None, False)


def _of_pom(pom: Pom, known: Mapping[tuple[str, str], Pom], outside: Callable[[tuple[str, str, str]], Pom | None]) -> Wanted:
    chain = list(_chain(pom, known, outside))
    own = [one for one, is_own in chain if is_own]
    properties: dict[str, str] = {}
    for one, _ in reversed(chain):
        properties |= one.properties
    for prefix in ("project.", "pom.", ""):
        properties |= {f"{prefix}groupId": pom.own[0], f"{prefix}artifactId": pom.own[1], f"{prefix}version": pom.own[2]}
    properties |= {"project.parent.groupId": pom.parent[0], "project.parent.version": pom.parent[2]}

    def put_in(item: Dependency) -> Dependency:
        return _made([_filled(text, properties) for text in item[:6]], item.without)

    managed = _unique(put_in(item) for one in own for item in one.managed)
    above = own[-1].parent
    if above[1]:
        managed.append(put_in(Dependency(*above, "pom", "", "import")))
    inlined: list[Dependency] = []
    for item in managed:
        bill = known.get((item.group, item.artifact)) if item.scope == "import" else None
        inlined += _unique(put_in(one) for one in bill.managed) if bill is not None else [item]
    managed = [item for item in _unique(inlined) if item.version]
    listed = _unique(put_in(item) for one, _ in chain for item in one.dependencies)
    foreign = [item for item in listed if (item.group, item.artifact) not in known and item.scope != "system"]
    whole = [item for item in foreign if _is_whole(item)]
    unknown = sorted(item.name for item in foreign if not _is_whole(item))
    return Wanted(tuple(whole), tuple(item for item in managed if _is_whole(item)), tuple(unknown))


def _unique(items: Iterable[Dependency]) -> list[Dependency]:
    """The first of each; what is nearer to a project counts."""
    found: dict[tuple[str, str, str], Dependency] = {}
    for item in items:
        found.setdefault(item.key, item)
    return list(found.values())


def _filled(text: str, properties: Mapping[str, str]) -> str:
    for _ in range(_MOST_DEEP):
        filled = _PROPERTY.sub(lambda match: properties.get(match[1], match[0]), text)
        if filled == text or len(filled) > _MOST_MANIFESTS:
            break
        text = filled
    return text


def _is_whole(item: Dependency) -> bool:
    words = (item.group, item.artifact, *filter(None, (item.kind, item.classifier, item.scope)))
    return all(_WORD.match(word) for word in words) and (not item.version or _VERSION.match(item.version) is not None)


def project_text(one: Wanted, number: int) -> str:
    """A pom.xml of lspidx's own, in which only these dependencies stand."""
    managed = "".join(_dependency_text(item) for item in one.managed)
    return _project(f"p{number}", (
        f"<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>"
        f"<dependencies>{''.join(_dependency_text(item) for item in one.dependencies)}</dependencies>"
    ))  # fmt: skip


def outer_text(count: int) -> str:
    """The pom.xml of which the others are modules."""
    return _project("all", f"<modules>{''.join(f'<module>p{number}</module>' for number in range(count))}</modules>")


def _project(name: str, content: str) -> str:
    head = f"<modelVersion>4.0.0</modelVersion><groupId>lspidx</groupId><artifactId>{name}</artifactId><version>1</version>"
    return f'<project xmlns="http://maven.apache.org/POM/4.0.0">{head}<packaging>pom</packaging>{content}</project>\n'


def _dependency_text(item: Dependency) -> str:
    named = zip(_FIELDS, item[:6], strict=True)
    fields = "".join(f"<{name}>{escape(text, quote=False)}</{name}>" for name, text in named if text)
    without = "".join(
        f"<exclusion><groupId>{escape(group, quote=False)}</groupId><artifactId>{escape(artifact, quote=False)}</artifactId></exclusion>"
        for group, artifact in item.without
        if group and artifact
    )
    return f"<dependency>{fields}{f'<exclusions>{without}</exclusions>' if without else ''}</dependency>"
