"""A function, method or type that is used as a value: whoever holds it may call it, at a place that does not name it.

Where the value goes nowhere (role `confined`) or is called where it is given (evidence `inferred`) nothing is missing. Everywhere else
who holds it is not followed, and the answer says so with the places. Of a list of references nothing is missing: each place names it.
"""

from __future__ import annotations

from collections.abc import Collection

from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.answers.style import count
from query.facts.documents import documents
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.value_uses import value_uses

CODE = "escapes"


def reasons(index: Index, uses: Uses) -> list[Reason]:
    return of_symbols(index, uses.ids) if uses.question == "callers" else []


def which(index: Index, ids: Collection[int]) -> set[int]:
    """Those of the symbols that are used as values, where it is not followed who calls them."""
    return {use.of for use in value_uses(index, ids)}


def of_symbols(index: Index, ids: Collection[int]) -> list[Reason]:
    """One reason for all of these symbols that are used as values."""
    found = value_uses(index, ids)
    if not found:
        return []
    docs = documents(index, {use.doc_id for use in found})
    places = sorted({(docs[use.doc_id].path, use.line + 1) for use in found})
    escaping = {use.of for use in found}
    known = scopes(index, escaping | {use.via for use in found})
    if len(ids) == 1:
        others = sorted({known[use.via].name for use in found} - {known[use.of].name for use in found})
        by = f" (as {listed(others, 3)})" if others else ""
        detail = f"used as a value{by} at {count(len(places), 'place')}: whoever gets it there may call it, and that is not followed"
    else:
        names = listed(sorted({known[sym_id].name for sym_id in escaping}))
        detail = (
            f"{len(escaping)} of {len(ids)} symbols whose callers were looked for are used as values at {count(len(places), 'place')}, "
            f"and who calls them from there is not followed: {names}"
        )
    return [of_paths(CODE, detail, sorted({path for path, _ in places}), len(places))]
