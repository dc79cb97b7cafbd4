"""Symbols by what their names are like: exact, by their beginning, by a part, or nearly."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from query.facts.dotted import dotted
from query.facts.index import Index
from query.facts.symbols import CARD, Symbol, to_symbol

Match = Literal["all", "exact", "prefix", "substring", "fuzzy"]


class NameSearch(NamedTuple):
    """What is looked for: names like `name`, which may be dotted.

    kinds: numbers of `SymbolKind`; none for any. path: a glob or what paths begin with, as the index has them; empty for any.
    language: in any case of letters; empty for any. external: symbols outside the workspace too.
    offset, limit: the part of the ranked list that is wanted. own_case: a name in other letters, capital or small, is another name.
    """

    name: str
    kinds: tuple[int, ...]
    path: str
    language: str
    tests: Literal["include", "exclude", "only"]
    external: bool
    offset: int
    limit: int
    own_case: bool = False


class Matches(NamedTuple):
    """The wanted part, best first, and how many match in all."""

    symbols: list[Symbol]
    total: int


_IN_ORDER = "(SELECT package FROM document d WHERE d.doc_id = s.doc_id) || '.' || s.qualified_name"
_MIN_SIMILARITY = 0.85
_CONDITIONS: dict[Match, str] = {
    "all": "true",
    "exact": "n.lname = lower($last)",
    "prefix": "n.lname >= lower($last) AND n.lname < lower($last) || chr(1114111)",
    "substring": "contains(n.lname, lower($last))",
    # the third argument lets it give up early: twice as fast on a million names
    "fuzzy": f"jaro_winkler_similarity(n.lname, lower($last), {_MIN_SIMILARITY}) >= {_MIN_SIMILARITY}",
}
_MODULE_ENDING = "is_kind(n.kind, 'module') AND n.lname <> lower($last) AND suffix(n.lname, '.' || lower($last))"
"""Beside `exact`, as a part of its own: joined to it by OR, it would make a look-up a scan."""


def search(index: Index, wanted: NameSearch, match: Match, *, loose: bool = False) -> Matches:
    """Symbols whose names match, most referenced first.

    Args:
        loose: takes the parts of a dotted name anywhere in package and qualified name, in their order.
    """
    whole_name = dotted(wanted.name)
    last = whole_name.rpartition(".")[2]
    conditions = ["($external OR NOT has_flag(n.flags, 'external'))"]
    values: dict[str, Any] = {"last": last, "external": wanted.external}
    if match == "all":
        values.pop("last")
    whole = dotted_name = ""
    if "." in whole_name and loose:
        dotted_name = f"{'' if wanted.own_case else 'lower'}({_IN_ORDER}) LIKE $parts ESCAPE '\\'"
        said = whole_name if wanted.own_case else whole_name.lower()
        values["parts"] = "%" + ".%".join(re.sub(r"([\\%_])", r"\\\1", part) for part in said.split(".")) + "%"
    elif "." in whole_name:
        dotted_name = "contains(lower(s.qualified_name), lower($whole_name))"
        values["whole_name"] = whole_name
        whole = "whole DESC,"
    if wanted.own_case:
        conditions.append("(n.name = $last OR ends_with(n.name, '.' || $last))")
        dotted_name += " AND contains(s.qualified_name, $whole_name)" if dotted_name and "whole_name" in values else ""
    if wanted.kinds:
        conditions.append("list_contains($kinds, n.kind)")
        values["kinds"] = list(wanted.kinds)
    documents = documents_wanted(wanted, values)
    if documents:
        conditions.append(f"n.doc_id IN (SELECT doc_id FROM document WHERE {documents})")
    similarity = "jaro_winkler_similarity(n.lname, lower($last))" if match == "fuzzy" else "0"
    own_case = "n.name = $last" if match != "all" else "false"
    is_whole = "lower(s.qualified_name) = lower($whole_name)" if whole else "false"
    parts = [_CONDITIONS[match], *([_MODULE_ENDING] if match == "exact" else [])]
    where = " AND ".join(conditions)
    named = " UNION ALL ".join(f"SELECT n.* FROM symbol_name n WHERE {part} AND {where}" for part in parts)
    # only a dotted name needs more than names to be found, and then of few symbols: the names are settled before the join
    dots = f"JOIN symbol s ON s.sym_id = n.sym_id WHERE {dotted_name}" if dotted_name else ""
    hits = f"SELECT n.sym_id, n.refs, n.name, {own_case} AS own_case, {similarity} AS similarity, {is_whole} AS whole FROM named n {dots}"
    given = f"named AS {'MATERIALIZED' if dots else 'NOT MATERIALIZED'} ({named})"
    order = f"{whole} own_case DESC, similarity DESC, refs DESC"
    # names are few to sort, their cards are many to join: only those of the page are looked up
    rows = index.rows(
        f"""
        WITH {given}, hit AS MATERIALIZED ({hits}),
        page AS (SELECT * FROM hit ORDER BY {order}, name, sym_id LIMIT $limit OFFSET $offset)
        SELECT {CARD}, (SELECT count(*) FROM hit) FROM page JOIN symbol_card s ON s.sym_id = page.sym_id
        ORDER BY {order.replace("refs", "page.refs")}, page.name, page.sym_id
        """,
        {**values, "limit": wanted.limit, "offset": wanted.offset},
    )
    if rows:
        return Matches([to_symbol(row[:-1]) for row in rows], int(rows[0][-1]))
    counted = index.row(f"WITH {given} SELECT count(*) FROM ({hits})", values) if wanted.offset else None
    return Matches([], int(counted[0]) if counted else 0)


def is_any_in(index: Index, path: str, part: str) -> bool:
    """Whether a document has a symbol with this text, in lower case, in its name."""
    sql = "SELECT 1 FROM symbol_name n JOIN document d USING (doc_id) WHERE d.path = $path AND contains(n.lname, $part) LIMIT 1"
    return index.row(sql, {"path": path, "part": part}) is not None


def documents_wanted(wanted: NameSearch, values: dict[str, Any]) -> str:
    """A condition on documents, empty for all; adds the values that it takes."""
    conditions: list[str] = []
    if wanted.path:
        conditions.append("(path GLOB $path OR starts_with(path, $path))")
        values["path"] = wanted.path
    if wanted.language:
        conditions.append("language = lower($language)")
        values["language"] = wanted.language
    if wanted.tests != "include":
        conditions.append("is_test" if wanted.tests == "only" else "NOT is_test")
    return " AND ".join(conditions)
