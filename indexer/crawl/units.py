"""What there is to crawl, as the parent and its workers both know it: documents, and units of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec


class PlannedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A file to crawl. `path` is relative to the root; `digest` is git's blob name of its content; `module` its dotted name.

    `package` is manager, name and version as its monikers carry them, `place` its path in there. `encoding` is empty for UTF-8, else
    what `indexer.encoding` says, or the form of a file that holds code (`indexer.embedded`): servers cannot read it from the disk.
    `constraint` is what the file demands of a build, empty where every build takes it in.
    `places`: lines and columns of the identifiers that a second server is asked about, and nothing else; empty for a first one.
    """

    path: str
    language: str
    digest: str
    size_bytes: int
    module: str = ""
    is_test: bool = False
    package: tuple[str, str, str] = ("", "", "")
    place: str = ""
    encoding: str = ""
    constraint: str = ""
    places: tuple[tuple[int, int], ...] = ()

    def header(self, status: str, *, line_count: int = 0, error_lines: Sequence[int] = ()) -> dict[str, Any]:
        """The columns of `store.facts.HEADER`: what is known before a document is read, and what was found in it.

        `status` is `external` for a file outside the workspace, whose `path` is then its key.
        """
        manager, package, version = self.package
        return {
            "path": self.path,
            "language": self.language,
            "module": self.module,
            "digest": self.digest,
            "size_bytes": self.size_bytes,
            "line_count": line_count,
            "is_test": self.is_test,
            "status": status,
            "error_lines": list(error_lines),
            "package_manager": manager,
            "package": package,
            "package_version": version,
        }


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One job. `name` orders units; `fingerprint` is a digest of all that its shard depends on."""

    name: str
    fingerprint: str
    documents: list[PlannedDocument]

    @property
    def size_bytes(self) -> int:
        return sum(document.size_bytes for document in self.documents)
