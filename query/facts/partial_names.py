"""Names that fit what was typed so far.

A module of its own that loads little: a shell waits for it at every Tab, and `names` would take half as long again to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from query.facts.index import Index


def completions(index: Index, typed: str, most: int) -> list[str]:
    """At most `most` qualified names that contain what was typed so far, and whose last part begins as that of it does; no locals."""
    rows = index.rows(
        """
        SELECT DISTINCT s.qualified_name FROM symbol_name n JOIN symbol s USING (sym_id)
        WHERE NOT has_flag(s.flags, 'local', 'external') AND starts_with(n.lname, lower($last))
          AND contains(lower(s.qualified_name), lower($typed))
        ORDER BY 1 LIMIT $most
        """,
        {"last": typed.rpartition(".")[2], "typed": typed, "most": most},
    )
    return [row[0] for row in rows]


def paths(index: Index, typed: str, most: int) -> list[str]:
    """At most `most` paths of documents that contain what was typed so far; those that begin with it, or whose file name does, first."""
    rows = index.rows(
        """
        SELECT path FROM document WHERE status <> 'external' AND contains(lower(path), lower($typed))
        ORDER BY NOT starts_with(lower(path), lower($typed)), NOT contains(lower(path), lower('/' || $typed)), path LIMIT $most
        """,
        {"typed": typed, "most": most},
    )
    return [row[0] for row in rows]
