"""What a manifest says of a crawl."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.crawl.messages import Check

_SHOWN = 20


def merged(parts: Sequence[Check]) -> dict[str, object]:
    """For the manifest: counts, and a few places to look at."""
    return {
        "checked": sum(part.checked for part in parts),
        "disagreed": sum(part.disagreed for part in parts),
        "samples": sorted(sample for part in parts for sample in part.samples)[:_SHOWN],
    }
