"""Identifiers that could not be resolved and that are named like a symbol: they may be uses of it."""

from __future__ import annotations

from collections.abc import Collection

from query.facts.completeness import family_of
from query.facts.documents import documents
from query.facts.index import Index


def unresolved_names(index: Index, symbols: Collection[tuple[int, int, str]]) -> dict[int, int]:
    """How many identifiers that nobody could resolve have the name of each of these (symbol, document, name), where there are any.

    Only identifiers in languages that can refer to the symbol's count.
    """
    if not symbols:
        return {}
    rows = index.rows(
        """
        SELECT u.name, d.language, count(*) FROM (SELECT DISTINCT unnest($names::VARCHAR[]) AS name) n JOIN unresolved_name u USING (name)
        JOIN document d USING (doc_id) GROUP BY ALL
        """,
        {"names": sorted({name for _, _, name in symbols})},
    )
    by_name: dict[str, dict[str, int]] = {}
    for name, language, number in rows:
        by_name.setdefault(name, {})[language] = number
    docs = documents(index, {doc_id for _, doc_id, _ in symbols})
    found: dict[int, int] = {}
    for sym_id, doc_id, name in symbols:
        if name in by_name:
            family = family_of(index, docs[doc_id].path)
            number = sum(count for language, count in by_name[name].items() if not family or language in family)
            if number:
                found[sym_id] = number
    return found
