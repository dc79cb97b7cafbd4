"""Who runs a type's constructors without naming the type: derived classes, conversions, lists in braces. Callers of the type name it."""

from __future__ import annotations

from query.answers.style import count
from query.facts.index import Index
from query.facts.names import TYPES
from query.facts.symbols import Symbol, symbols_by_id

_ELSEWHERE = """
    SELECT m.sym_id, count(DISTINCT c.caller)
    FROM (SELECT sym_id FROM symbol WHERE container_id = $id AND is_kind(kind, 'constructor')) m JOIN call_in c ON c.callee = m.sym_id
    WHERE c.caller NOT IN (SELECT caller FROM call_in WHERE callee = $id)
    GROUP BY ALL ORDER BY ALL
"""


def beside(index: Index, symbol: Symbol) -> list[str]:
    """A sentence for each constructor of a type that has callers which are none of the type's own."""
    if symbol.record.kind not in TYPES or symbol.record.external:
        return []
    rows = index.rows(_ELSEWHERE, {"id": symbol.sym_id})
    made = symbols_by_id(index, [sym_id for sym_id, _ in rows])
    return [
        f"{count(callers, 'caller')} of its constructor {made[sym_id].record.qualified_name} not listed here, which "
        f"{'does' if callers == 1 else 'do'} not name the type: ask for callers of that"
        for sym_id, callers in rows
    ]
