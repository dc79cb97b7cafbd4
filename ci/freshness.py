"""Whether cache-artifacts/ is of this tree: `python -m ci.freshness` ends with 1 where too few source files are as it describes them."""

from __future__ import annotations

from pathlib import Path

from indexer.errors import CacheRefused
from query.upkeep.artifacts import Exchanged, verify_artifact

ROOT = Path(__file__).resolve().parent.parent
ARTIFACT = "cache-artifacts"

LEAST = 0.9
"""Share of the source files here that the artifact has to describe as they are. A day's work changes a few; below this, nobody has
refreshed it for weeks, and a fresh clone answers about another program."""

REFRESH = f"to refresh it: make cache, and commit {ARTIFACT}"


def share(found: Exchanged) -> float:
    """Of the source files that are here, those that the artifact describes as they are. The artifact's own files are none of them."""
    here = found.same + found.differing + found.new
    return found.same / here if here else 0.0


def main() -> None:
    try:
        found = verify_artifact(ROOT, ROOT / ARTIFACT)
    except CacheRefused as error:
        raise SystemExit(f"{ARTIFACT} cannot be read: {error}; {REFRESH}") from error
    here = found.same + found.differing + found.new
    told = f"{ARTIFACT} describes {found.same} of {here} source files as they are ({share(found):.0%})"
    if share(found) < LEAST:
        raise SystemExit(f"{told}, less than {LEAST:.0%}; {REFRESH}")
    print(told)


if __name__ == "__main__":
    main()
