"""Which documents show best whether a server knows anything of a project."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.crawl.units import PlannedDocument

_PROBE_FOLDERS = 12
_PROBE_BYTES = 200_000


def probe_documents(documents: Sequence[PlannedDocument]) -> list[PlannedDocument]:
    """Documents of different folders and different builds, the largest of each folder, for the question whether a server knows anything.

    Those above count first: a folder deep in the tree is more often an example, a fixture or a module of its own.
    """
    largest: dict[str, PlannedDocument] = {}
    for document in documents:
        folder = document.path.rpartition("/")[0]
        if document.size_bytes <= _PROBE_BYTES and (folder not in largest or document.size_bytes > largest[folder].size_bytes):
            largest[folder] = document
    order = sorted(
        largest, key=lambda folder: (largest[folder].is_test, folder.count("/") + bool(folder), -largest[folder].size_bytes, folder)
    )
    return [largest[folder] for folder in order[:_PROBE_FOLDERS]]
