"""Which other documents an edit of some documents may break, as the index knows: those that refer to what is defined in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from query.facts.freshness import Drift
from query.facts.index import Index

_MOST_LEVELS = 4

_REFER = """
    WITH edited AS (SELECT doc_id FROM document WHERE path IN (SELECT unnest($paths::VARCHAR[]))),
    defined AS (
        SELECT sym_id FROM symbol WHERE doc_id IN (FROM edited)
        UNION SELECT sym_id FROM occ -- declared in a header
        WHERE doc_id IN (FROM edited) AND has_role(roles, 'definition') AND sym_id IS NOT NULL
    )
    SELECT d.path, count(*) FROM defined JOIN refs r USING (sym_id) JOIN document d ON d.doc_id = r.doc_id
    WHERE d.doc_id NOT IN (FROM edited) AND d.status <> 'external'
    GROUP BY 1 ORDER BY 2 DESC, 1
"""

_KIN = """
    SELECT DISTINCT d.path FROM document d JOIN document t ON t.language = d.language
    WHERE t.path IN (SELECT unnest($paths::VARCHAR[])) AND d.path IN (SELECT unnest($changed::VARCHAR[])) ORDER BY 1
"""


class Dependents(NamedTuple):
    """`paths`: to look at, nearest and most used first. `direct`: how many refer to the documents themselves; `stale` among them are
    those that have changed since the index was made, of which nobody knows to what they refer.

    cut: how many of those two were left out for their number; indirect_cut: whether documents further away were.
    """

    paths: list[str]
    direct: int
    stale: list[str]
    cut: int
    indirect_cut: bool


def dependents(index: Index, tree: Drift, edited: Sequence[str], most: int) -> Dependents:
    """Documents that depend on the edited ones: all that refer to them, then those that refer to these, while there is room."""
    seen = set(edited)
    direct = [path for path in _referring(index, edited) if path not in seen]
    seen.update(direct)
    gone = set(tree.deleted)
    changed = {*tree.changed, *tree.new} - seen
    ending = {path.rpartition(".")[2] for path in edited}
    kin = {row[0] for row in index.rows(_KIN, {"paths": list(edited), "changed": sorted(changed)})}
    stale = sorted(path for path in changed if path in kin or path.rpartition(".")[2] in ending)
    seen.update(stale)
    wanted = [path for path in [*direct, *stale] if path not in gone]
    level, further = direct, list[str]()
    for _ in range(_MOST_LEVELS):
        if not level or len(wanted) + len(further) > most:
            break
        level = [path for path in _referring(index, level) if path not in seen]
        seen.update(level)
        further += [path for path in level if path not in gone]
    return Dependents(
        paths=[*wanted, *further][:most],
        direct=len(direct),
        stale=stale,
        cut=max(0, len(wanted) - most),
        indirect_cut=len(wanted) > most or len(wanted) + len(further) > most,
    )


def _referring(index: Index, paths: Collection[str]) -> list[str]:
    return [row[0] for row in index.rows(_REFER, {"paths": list(paths)})] if paths else []
