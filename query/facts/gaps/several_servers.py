"""What lies outside where several servers serve a language: each has names of its own for it, so one function may be two symbols."""

from __future__ import annotations

from collections import Counter

from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.gaps.uses import Uses
from query.facts.index import Index

CODE = "several_servers"


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One, where any of the symbols lies outside."""
    if not any(symbol.record.external for symbol in uses.symbols):
        return []
    served: list[tuple[str, str]] = index.keep("served", lambda: index.rows("SELECT server, path FROM served ORDER BY ALL"))
    if not served:
        return []
    counts = Counter(server for server, _ in served)
    said = " and ".join(f"{count} by {server}" for server, count in sorted(counts.items()))
    fewest = min(counts, key=lambda server: (counts[server], server))
    detail = f"files were told by several servers, {said}, which name differently what lies outside: it may be another symbol there"
    return [of_paths(CODE, detail, [path for server, path in served if server == fewest])]
