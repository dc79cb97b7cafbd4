"""What a crawl says of itself when it is done: one record, told in the run's row, in the index's meta and in manifest.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from indexer import vcs
from indexer.builds import other_builds
from indexer.config import Config
from indexer.consent import Told
from indexer.crawl import methods
from indexer.crawl.messages import Check, Done, Hello, Position
from indexer.crawl.plan.groups import Group
from indexer.crawl.plan.launch import sandbox_of
from indexer.crawl.plan.losses import Lost
from indexer.crawl.plan.partial import Extent
from indexer.crawl.plan.survey import Survey
from indexer.folders import identity_of
from indexer.manifests import NAMES
from indexer.own_version import own_version
from indexer.prerequisites import Prerequisite
from indexer.servers.registry import endings_of, families
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION
from indexer.workspace import Folder

_SHOWN = 20


@dataclass(slots=True)
class Totals:
    """What the workers say of a whole run."""

    asked: int = 0
    restarts: int = 0
    shared: list[Check] = field(default_factory=list[Check])
    backward: list[Check] = field(default_factory=list[Check])
    problems: dict[int, str] = field(default_factory=dict[int, str])  # by number of the group
    lost: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    externals: dict[str, set[Position]] = field(default_factory=dict[str, "set[Position]"])
    reused: int = 0

    def add(self, done: Done, setup: int) -> None:
        """Counts a finished unit."""
        self.asked += done.asked
        self.restarts += done.restarts
        self.shared.append(done.shared)
        self.backward.append(done.backward)
        if done.problem:
            self.problems.setdefault(setup, done.problem)
        self.lost += done.lost
        for path, places in done.externals.items():
            self.externals.setdefault(path, set()).update(places)


@dataclass(slots=True)
class SecondSaid:
    """What a second server has said. documents: asked about; lost: without an answer, and why. server_s: seconds of processors."""

    shards: list[Path] = field(default_factory=list[Path])
    version: str = ""
    documents: int = 0
    asked: int = 0
    lost: int = 0
    why: str = ""
    server_s: float = 0.0
    _of_servers: float = 0.0

    def take(self, report: Done | Hello) -> None:
        if isinstance(report, Hello):
            self.version = report.server_version
            return
        self.documents += report.documents
        self.asked += report.asked
        if report.lost or report.problem:
            self.lose(len({path for path, _, _ in report.lost}), report.problem or report.lost[0][2])
        if report.server_s < self._of_servers:  # another one than before
            self.server_s += report.server_s
        else:
            self.server_s += report.server_s - self._of_servers
        self._of_servers = report.server_s

    def lose(self, documents: int, reason: str) -> None:
        self.lost += documents
        self.why = self.why or reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What one crawl has done, before its shards are merged.

    number: of the generation. server_info: by number of the group. crawled: how many documents; None for all of them.
    extent: of a crawl that was cut off. refused: places outside that were not looked at, as they are told.
    surroundings: what the index depends on beside its recipe. missing_servers: by language.
    """

    number: int
    root: Path
    recipe: str
    config: Config
    folders: Sequence[Folder]
    checkouts: Sequence[vcs.Checkout]
    begun: datetime
    finished: datetime
    plan: Survey
    groups: Sequence[Group]
    server_info: Mapping[int, Hello]
    totals: Totals
    is_imported: bool
    crawled: int | None
    extent: Extent | None
    refused: Sequence[Told]
    surroundings: list[object]
    missing_servers: Mapping[str, str]
    languages_lost: Sequence[Lost]
    prerequisites: Sequence[Prerequisite]
    second: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What a second server was asked, and what it cost; empty where there was to be none."""

    checks: Sequence[Mapping[str, Any]] = ()
    """How often files of SCIP agree with servers."""

    def folder_rows(self) -> list[dict[str, Any]]:
        """The workspace's folders and what is checked out there."""
        return [
            {"name": folder.name, "prefix": folder.prefix, "commit_sha": its.commit, "dirty": its.dirty}
            for folder, its in zip(self.folders, self.checkouts, strict=True)
        ]

    def server_rows(self) -> list[dict[str, str]]:
        """One row for each language that a server was asked about."""
        return [row for number, item in self._servers() for row in _server_rows(self.server_info.get(number), item)]

    def run_row(self) -> dict[str, Any]:
        """The run, as the index has it. Times are UTC."""
        totals, checkout = self.totals, self.checkouts[0]
        return {
            "started": self.begun.replace(tzinfo=None),
            "finished": self.finished.replace(tzinfo=None),
            "commit_sha": checkout.commit,
            "dirty": checkout.dirty,
            "lspidx_version": own_version(),
            "documents": len(self.plan.documents),
            "skipped": len(self.plan.skipped),
            "asked": totals.asked,
            "server_restarts": totals.restarts,
            "lost": len(totals.lost),
            "cross_checked": sum(part.checked for part in totals.shared),
            "cross_disagreed": sum(part.disagreed for part in totals.shared),
        }

    def meta(self) -> dict[str, str]:
        """What a reader of the index must know, by key."""
        checkout = self.checkouts[0]
        said = {
            "suffixes": json.dumps([*endings_of({language for item in self.groups for language in item.languages}), *NAMES]),
            "families": json.dumps(families()),
            "other_builds": json.dumps(other_builds({item.path: item.constraint for item in self.plan.documents})),
            "commit": checkout.commit,
            "dirty": str(checkout.dirty).lower(),
            "recipe": self.recipe,
            "generation": str(self.number),
            "folder": identity_of(self.root),
            "passes_on": json.dumps(self.plan.passing),
            "project_files": json.dumps(self.plan.project_files),
        }
        if self.plan.left_out:
            said["left_out"] = json.dumps(dict(self.plan.left_out))
        if self.refused:
            said["refused"] = msgspec.json.encode(self.refused).decode()
        if self.is_imported:
            said["imported"] = "true"
        if self.extent is not None:
            said["partial"] = f"{self.extent.done} of {self.extent.documents}"
        return said

    def manifest(self, counts: Mapping[str, int], resolution: Mapping[str, Any]) -> dict[str, Any]:
        """What stands beside the index, but for what its publication adds: the state, the digests of the database.

        Args:
            counts, resolution: of the merge.
        """
        checkout, config = self.checkouts[0], self.config
        said: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "content_version": CONTENT_VERSION,
            "generation": self.number,
            "recipe": self.recipe,
            "root_name": self.root.name,
            "commit": checkout.commit,
            "dirty": checkout.dirty,
            "is_git": checkout.is_git,
            "created": self.finished.isoformat(timespec="seconds"),
            "lspidx": own_version(),
            "folders": [{"commit" if name == "commit_sha" else name: row[name] for name in row} for row in self.folder_rows()],
            "servers": [_server(self.server_info.get(number), item) for number, item in self._servers()],
            "builds": sorted({item.build.label for item in self.groups} - {""}),
            "refused": [msgspec.structs.asdict(item) for item in self.refused],
            "trust": str(config.trust),
            "sandbox": sandbox_of(config.trust),
            "environment": next((item.environment for item in self.groups if item.environment), ""),
            "counts": counts,
            "resolution": resolution,
            "imported": self.is_imported,
            "crawled": counts["documents"] if self.crawled is None else self.crawled,
            "surroundings": self.surroundings,
            "missing_servers": self.missing_servers,
            "languages_lost": [
                {**msgspec.structs.asdict(item), "sentence": item.sentence, "remedy": item.remedy} for item in self.languages_lost
            ],
            "prerequisites": [msgspec.structs.asdict(item) for item in self.prerequisites],
            **self._tallies(),
        }
        if self.extent is not None:
            said["partial"] = msgspec.structs.asdict(self.extent)
        if self.second:
            said["second"] = dict(self.second)
        if self.checks:
            said["checked_files"] = [dict(item) for item in self.checks]
        return said

    def _tallies(self) -> dict[str, Any]:
        """What was counted on the way."""
        totals, plan = self.totals, self.plan
        return {
            "skipped": dict(Counter(str(item.reason) for item in plan.skipped)),
            "encodings": dict(Counter(item.encoding for item in plan.documents if item.encoding)),
            "lost": dict(Counter(f"{method} {reason.split(':', 1)[0]}" for _, method, reason in totals.lost)),
            "lost_files": sorted({path for path, method, _ in totals.lost if method in methods.METHODS})[:_SHOWN],
            "cross_check": merged(totals.shared),
            "cross_check_backward": merged(totals.backward),
            "requests": totals.asked,
            "server_restarts": totals.restarts,
            "server_messages": [message for info in self.server_info.values() for message in info.messages],
        }

    def served(self) -> dict[str, str]:
        """By path the server that was asked, in languages of which several servers have documents."""
        names: dict[str, set[str]] = {}
        for _, item in self._servers():
            for language in item.languages:
                names.setdefault(language, set()).add(item.server.spec.name)
        shared = {language for language, known in names.items() if len(known) > 1}
        documents = ((item.server.spec.name, document) for item in self.groups for document in item.documents)
        return {document.path: name for name, document in documents if document.language in shared}

    def _servers(self) -> Iterator[tuple[int, Group]]:
        """The groups that have a server, with their numbers; of several builds of one server the first."""
        names: set[str] = set()
        for number, item in enumerate(self.groups):
            if item.server.command and item.server.spec.name not in names:
                yield number, item
            names.add(item.server.spec.name)


def merged(parts: Sequence[Check]) -> dict[str, object]:
    """For the manifest: counts, and a few places to look at."""
    return {
        "checked": sum(part.checked for part in parts),
        "disagreed": sum(part.disagreed for part in parts),
        "samples": sorted(sample for part in parts for sample in part.samples)[:_SHOWN],
    }


def _version_of(info: Hello | None, item: Group) -> str:
    """As its command says it: in the protocol gopls answers with a page of JSON, rust-analyzer with 0.0.0."""
    return item.server.version or (info.server_version if info else "")


def _server(info: Hello | None, item: Group) -> dict[str, Any]:
    server = item.server
    return {
        "name": server.spec.name,
        "version": _version_of(info, item),
        "languages": item.languages,
        "fingerprint": server.fingerprint,
    }


def _server_rows(info: Hello | None, item: Group) -> list[dict[str, str]]:
    """One row for each language that the server was asked about."""
    server = item.server
    return [
        {
            "name": server.spec.name,
            "version": _version_of(info, item),
            "language": language,
            "command": " ".join([Path(server.command[0]).name, *server.spec.command[1:]]),
            "fingerprint": server.fingerprint,
            "position_encoding": info.position_encoding if info else "utf-16",
            "capabilities": json.dumps(info.capabilities if info else {}, sort_keys=True),
        }
        for language in item.languages
    ]
