"""Local types that something may find by their names, for what makes a type may keep it: a metaclass, a hook of a base, a decorator.

`class Order(cls.Base)` in a function may be `self.classes.Order` elsewhere, if the metaclass of that base puts every type into `classes`.
Of a base outside of the workspace and of the standard library, and of one that only the running program knows, nobody can tell.
"""

from __future__ import annotations

import sys
from collections.abc import Collection

from indexer.languages import record_of
from indexer.model import TYPE_KINDS, SymbolFlag
from query.facts.decorators import keeping
from query.facts.documents import documents
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.type_graph import above, open_bases


def kept_types(index: Index, ids: Collection[int]) -> frozenset[int]:
    """Those of the symbols that are local types which something may keep by their names."""
    known = scopes(index, ids)
    local = [sym_id for sym_id in sorted(ids) if known[sym_id].flags & SymbolFlag.LOCAL and known[sym_id].kind in TYPE_KINDS]
    docs = documents(index, {known[sym_id].doc_id for sym_id in local})
    asked = [sym_id for sym_id in local if record_of(docs[known[sym_id].doc_id].language).looks_up_names]
    if not asked:
        return frozenset()
    lines = {sym_id: above(index, [sym_id]) for sym_id in asked}
    makers = {base.class_id for base in open_bases(index)}
    rows = index.rows(_ABOVE, {"ids": sorted({other for line in lines.values() for other in line})})
    makers.update(
        sym_id
        for sym_id, name, is_external, has_hook in rows
        if (name.partition(".")[0] not in sys.stdlib_module_names if is_external else has_hook)
    )
    return frozenset([sym_id for sym_id in asked if not makers.isdisjoint(lines[sym_id])]) | keeping(index, asked).keys()


_ABOVE = """
    SELECT s.sym_id, s.qualified_name, has_flag(s.flags, 'external'), coalesce(contains(t.signature, 'metaclass'), false) OR EXISTS (
        SELECT 1 FROM symbol m WHERE m.container_id = s.sym_id AND m.name = '__init_subclass__'
    )
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id LEFT JOIN symbol_text t ON t.sym_id = u.id ORDER BY ALL
"""
