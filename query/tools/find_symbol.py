"""Symbols by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from indexer.errors import UsageError
from indexer.model import SymbolKind
from query.answer import Answer, SymbolRecord
from query.completeness import provenance
from query.dotted import dotted
from query.page import asked, next_cursor, offset_of
from query.registry import Context, tool
from query.style import Style
from query.symbols import CARD, to_symbol

Match = Literal["auto", "exact", "prefix", "substring", "fuzzy"]


class FindSymbol(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, msgspec.Meta(description="name or dotted name; empty lists all")] = ""
    match: Annotated[Match, msgspec.Meta(description="auto: exact, else prefix, else substring, else fuzzy")] = "auto"
    kind: Annotated[list[str], msgspec.Meta(description="only these kinds, e.g. class, function, method")] = []
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob")] = ""
    language: Annotated[str, msgspec.Meta(description="only this language")] = ""
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="symbols of test files")] = "include"
    external: Annotated[bool, msgspec.Meta(description="also symbols of dependencies that the workspace refers to")] = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000, description="symbols shown")] = 50
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


_IN_ORDER = "lower((SELECT package FROM document d WHERE d.doc_id = s.doc_id) || '.' || s.qualified_name)"
_CONDITIONS: dict[str, str] = {
    "all": "true",
    "exact": "(n.lname = lower($last) OR (n.kind = 2 AND suffix(n.lname, '.' || lower($last))))",
    "prefix": "n.lname >= lower($last) AND n.lname < lower($last) || chr(1114111)",
    "substring": "contains(n.lname, lower($last))",
    "fuzzy": "jaro_winkler_similarity(n.lname, lower($last)) >= 0.85",
}


def _text(answer: Answer[list[SymbolRecord]], style: Style) -> Iterator[str]:
    for record in answer.result:
        yield style.symbol(record)
        if record.signature:
            yield f"    {style.signature(record.signature)}"


@tool(
    "find_symbol",
    parameters=FindSymbol,
    result=list[SymbolRecord],
    positional="query",
    example="symbols get_object_or",
    task="find",
    hint="search workspace symbol by name class function lookup",
    text=_text,
)
def TOOL(context: Context, ask: FindSymbol) -> Answer[list[SymbolRecord]]:
    """Symbols by name: exact, prefix, substring or fuzzy, most referenced first."""
    attempts: list[str] = ["exact", "prefix", "substring", "fuzzy"] if ask.match == "auto" else [ask.match]
    if not ask.query:
        attempts = ["all"]
    rows: list[tuple[Any, ...]] = []
    total = 0
    used = attempts[0]
    for loose in (False, True) if "." in dotted(ask.query) else (False,):
        for attempt in attempts:
            if not total:
                used = attempt
                rows, total = _search(context, ask, attempt, loose=loose)
    offset = offset_of(ask.cursor)
    found = [to_symbol(row).record for row in rows]
    return Answer(
        tool="find_symbol",
        query={**asked(ask), "matched": used},
        result=found,
        total=total,
        truncated=offset + len(found) < total,
        completeness=context.certificate.of_workspace(["syntax"], language=ask.language.lower()),
        provenance=provenance(context.index, language=ask.language.lower()),
        next_cursor=next_cursor(offset, len(found), total),
    )


def _search(context: Context, ask: FindSymbol, attempt: str, *, loose: bool) -> tuple[list[tuple[Any, ...]], int]:
    """One way to match; `loose` takes the parts of a dotted name anywhere in package and qualified name, in their order."""
    whole_name = dotted(ask.query)
    last = whole_name.rpartition(".")[2]
    conditions = [_CONDITIONS[attempt], "($external OR n.flags & 2048 = 0)"]
    values: dict[str, Any] = {"last": last, "external": ask.external}
    if attempt == "all":
        values.pop("last")
    whole = ""
    if "." in whole_name and loose:
        conditions.append(f"{_IN_ORDER} LIKE $parts ESCAPE '\\'")
        values["parts"] = "%" + ".%".join(re.sub(r"([\\%_])", r"\\\1", part) for part in whole_name.lower().split(".")) + "%"
    elif "." in whole_name:
        conditions.append("contains(lower(s.qualified_name), lower($whole_name))")
        values["whole_name"] = whole_name
        whole = "lower(s.qualified_name) = lower($whole_name) DESC,"
    if ask.kind:
        conditions.append("list_contains($kinds, s.kind)")
        values["kinds"] = [_kind(name) for name in ask.kind]
    if ask.path:
        conditions.append("(s.path GLOB $path OR starts_with(s.path, $path))")
        values["path"] = ask.path
    if ask.language:
        conditions.append("s.doc_id IN (SELECT doc_id FROM document WHERE language = lower($language))")
        values["language"] = ask.language
    if ask.tests != "include":
        conditions.append("s.is_test" if ask.tests == "only" else "NOT s.is_test")
    where = " AND ".join(conditions)
    similarity = "jaro_winkler_similarity(n.lname, lower($last)) DESC," if attempt == "fuzzy" else ""
    own_case = "n.name = $last DESC," if attempt != "all" else ""
    source = f"FROM symbol_name n JOIN symbol_card s ON s.sym_id = n.sym_id WHERE {where}"
    counted = context.index.row(f"SELECT count(*) {source}", values)
    order = f"{whole} {own_case} {similarity} n.refs DESC, s.qualified_name, s.sym_id"
    rows = context.index.rows(
        f"SELECT {CARD} {source} ORDER BY {order} LIMIT $limit OFFSET $offset",
        {**values, "limit": ask.limit, "offset": offset_of(ask.cursor)},
    )
    return rows, int(counted[0]) if counted else 0


def _kind(name: str) -> int:
    known = {kind.label: kind for kind in SymbolKind}
    name = name.lower().replace("_", " ")
    if name not in known:
        raise UsageError(f"no kind is called '{name}'; known: {', '.join(known)}")
    return int(known[name])
