"""What a clone lacks before its language's server can know everything: dependencies that were never downloaded, a compilation database.

A crawl works without any of it; then names that lead there are unresolved, and `index`, `status` and `doctor` say which command helps.
`find` only reads. `steps` says what `lspidx index --fetch` runs (`indexer.prerequisites.fetch`), which is the one that executes anything.
One module per build tool; which languages each serves stands in `_tools`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from indexer.languages import CPP, GO, JAVA, JAVASCRIPT, PHP, PYTHON, RUST, TYPESCRIPT, C
from indexer.model import Trust
from indexer.servers.installed import servers_dir


class Prerequisite(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is missing.

    language: of the server table. name: the thing in the language's own words (`environment`, `node_modules`, `modules`, `crates`,
    `class path`, `packages`, `rust-src`, `compilation database`).
    detail: one clause that says what is missing, without a path of this machine.
    remedy: the command or setting that helps, as it is typed in the root. can_fetch: whether `lspidx index --fetch` does it.
    packages: names of those that are missing, where the others of the project are there.
    """

    language: str
    name: str
    detail: str
    remedy: str
    can_fetch: bool = False
    packages: Sequence[str] = ()


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One command of `--fetch`.

    executes: what of the repository, or of what it downloads, the command may execute; empty: nothing.
    level: the least trust at which the step is taken. writes: folders that it may change; made where they are not there.
    files: texts that are written before it is run, by path, absolute or relative to `cwd`. runs_in: where it is started, if not in `cwd`.
    without: what it was not told of, each in a few words, which is then missing. is_beside: it is for a project beside the first one of its
    tool, and not taken once the steps before have taken long.
    """

    language: str
    command: list[str]
    cwd: Path
    environment: Mapping[str, str]
    writes: list[Path]
    files: Mapping[str, str] = {}
    executes: str = ""
    level: Trust = Trust.NONE
    timeout_s: float = 900.0
    runs_in: Path | None = None
    without: Sequence[str] = ()
    is_beside: bool = False


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace and what is known of it, in which `find` looks for what is missing.

    root: the workspace, absolute. paths: its files, relative to it. languages: those that are crawled.
    environment: the caller's. fetched: lspidx's own folder of what `--fetch` has brought; need not be there.
    python: the setting of that name. may_read: whether a folder outside to which a manifest points may be read.
    """

    root: Path
    paths: Sequence[str]
    languages: frozenset[str]
    environment: Mapping[str, str]
    fetched: Path
    python: str = ""
    may_read: Callable[[str], bool] = lambda _: True

    @property
    def fetched_here(self) -> Path:
        """The part of `fetched` that belongs to this workspace alone."""
        return fetched_folder(self.fetched, self.root)


class BuildTool(Protocol):
    """What a module of this package has."""

    def find(self, look: Look) -> list[Prerequisite]:
        """What is missing for the languages of this tool; empty where nothing is. Reads files, starts nothing."""
        ...

    def steps(self, look: Look) -> Iterable[Step]:
        """What would bring it, in order; empty where nothing is missing, or no command is known.

        A step may depend on what those before it have brought: each is to be taken before the next one is asked for.
        """
        ...


def fetched_dir(environment: Mapping[str, str] | None = None) -> Path:
    """Where `--fetch` puts what it downloads: beside the servers, outside of every repository."""
    return servers_dir(environment).parent / "fetched"


def fetched_folder(fetched: Path, root: Path) -> Path:
    """The part of `fetched` that belongs to the workspace `root` alone."""
    return fetched / f"{root.name}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}"


def find(look: Look) -> list[Prerequisite]:
    """All that is missing, by language; the languages with most files come first where `look.languages` has several."""
    return [item for tool in _tools(look.languages) for item in tool.find(look)]


def steps(look: Look) -> Iterator[Step]:
    """What `--fetch` runs for it, each step to be taken before the next one is asked for."""
    for tool in _tools(look.languages):
        yield from tool.steps(look)


def _tools(languages: frozenset[str]) -> Iterator[BuildTool]:
    from indexer.prerequisites import c, composer, go, maven, node, python, rust

    modules: Sequence[tuple[frozenset[str], BuildTool]] = (
        (frozenset({PYTHON.name}), python),
        (frozenset({TYPESCRIPT.name, JAVASCRIPT.name}), node),
        (frozenset({GO.name}), go),
        (frozenset({RUST.name}), rust),
        (frozenset({JAVA.name}), maven),
        (frozenset({PHP.name}), composer),
        (frozenset({C.name, CPP.name}), c),
    )
    for served, module in modules:
        if served & languages:
            yield module
