"""Symbols by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from indexer.errors import UsageError
from indexer.model import SymbolKind
from query.answers.envelope import Answer, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, printable
from query.context import Context
from query.facts.dotted import dotted
from query.facts.index import Index
from query.facts.parameters import MAX_INT, path_pattern
from query.facts.symbols import CARD, to_symbol
from query.surface.registry import tool

Match = Literal["auto", "exact", "prefix", "substring", "fuzzy"]


class FindSymbol(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, msgspec.Meta(description="name or dotted name; empty lists all")] = ""
    match: Annotated[Match, msgspec.Meta(description="auto: exact, else prefix, else substring, else fuzzy")] = "auto"
    kind: Annotated[list[str], msgspec.Meta(description="only these kinds, e.g. class, function, method, EnumMember")] = []
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob")] = ""
    language: Annotated[str, msgspec.Meta(description="only this language")] = ""
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="symbols of test files")] = "include"
    external: Annotated[bool, msgspec.Meta(description="also symbols of dependencies that the workspace refers to")] = False
    detail_level: Annotated[Literal["basic", "hover"], msgspec.Meta(description="hover: each symbol with the server's hover text")] = (
        "basic"
    )
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000, description="symbols shown, with hover where that is asked for")] = 50
    offset: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="skip so many; cursor goes before it")] = 0
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class FoundSymbol(SymbolRecord, kw_only=True, omit_defaults=True):
    """A symbol; `hover` only with detail_level hover, and where the index has one."""

    hover: str = ""


_IN_ORDER = "lower((SELECT package FROM document d WHERE d.doc_id = s.doc_id) || '.' || s.qualified_name)"
_MIN_SIMILARITY = 0.85
_CONDITIONS: dict[str, str] = {
    "all": "true",
    "exact": "n.lname = lower($last)",
    "prefix": "n.lname >= lower($last) AND n.lname < lower($last) || chr(1114111)",
    "substring": "contains(n.lname, lower($last))",
    # the third argument lets it give up early: twice as fast on a million names
    "fuzzy": f"jaro_winkler_similarity(n.lname, lower($last), {_MIN_SIMILARITY}) >= {_MIN_SIMILARITY}",
}
_MODULE_ENDING = "n.kind = 2 AND n.lname <> lower($last) AND suffix(n.lname, '.' || lower($last))"
"""Beside `exact`, as a part of its own: joined to it by OR, it would make a look-up a scan."""


def _text(answer: Answer[list[FoundSymbol]], style: Style) -> Iterator[str]:
    for record in answer.result:
        yield style.symbol(record)
        if record.signature:
            yield f"    {style.signature(record.signature)}"
        for line in record.hover.split("\n") if record.hover else ():
            yield f"    {printable(line)}"


@tool(
    "find_symbol",
    parameters=FindSymbol,
    result=list[FoundSymbol],
    positional="query",
    example="symbols get_object_or",
    task="find",
    hint="search workspace symbol by name class function lookup",
    text=_text,
)
def TOOL(context: Context, ask: FindSymbol) -> Answer[list[FoundSymbol]]:
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
    offset = _offset(ask)
    hovers = _hovers(context, [row[0] for row in rows]) if ask.detail_level == "hover" else {}
    found = [FoundSymbol(**msgspec.structs.asdict(to_symbol(row).record), hover=hovers.get(row[0], "")) for row in rows]
    return context.answer(
        ask,
        found,
        page_of(offset, len(found), total),
        context.certificate.of_workspace(["syntax"], language=ask.language.lower()),
        more={"matched": used},
        language=ask.language.lower(),
    )


def _search(context: Context, ask: FindSymbol, attempt: str, *, loose: bool) -> tuple[list[tuple[Any, ...]], int]:
    """One way to match; `loose` takes the parts of a dotted name anywhere in package and qualified name, in their order."""
    whole_name = dotted(ask.query)
    last = whole_name.rpartition(".")[2]
    conditions = ["($external OR n.flags & 2048 = 0)"]
    values: dict[str, Any] = {"last": last, "external": ask.external}
    if attempt == "all":
        values.pop("last")
    whole = dotted_name = ""
    if "." in whole_name and loose:
        dotted_name = f"{_IN_ORDER} LIKE $parts ESCAPE '\\'"
        values["parts"] = "%" + ".%".join(re.sub(r"([\\%_])", r"\\\1", part) for part in whole_name.lower().split(".")) + "%"
    elif "." in whole_name:
        dotted_name = "contains(lower(s.qualified_name), lower($whole_name))"
        values["whole_name"] = whole_name
        whole = "whole DESC,"
    if ask.kind:
        conditions.append("list_contains($kinds, n.kind)")
        values["kinds"] = [_kind(name) for name in ask.kind]
    documents = _documents(context.index, ask, values)
    if documents:
        conditions.append(f"n.doc_id IN (SELECT doc_id FROM document WHERE {documents})")
    similarity = "jaro_winkler_similarity(n.lname, lower($last))" if attempt == "fuzzy" else "0"
    own_case = "n.name = $last" if attempt != "all" else "false"
    is_whole = "lower(s.qualified_name) = lower($whole_name)" if whole else "false"
    parts = [_CONDITIONS[attempt], *([_MODULE_ENDING] if attempt == "exact" else [])]
    where = " AND ".join(conditions)
    named = " UNION ALL ".join(f"SELECT n.* FROM symbol_name n WHERE {part} AND {where}" for part in parts)
    # only a dotted name needs more than names to be found, and then of few symbols: the names are settled before the join
    dots = f"JOIN symbol s ON s.sym_id = n.sym_id WHERE {dotted_name}" if dotted_name else ""
    hits = f"SELECT n.sym_id, n.refs, n.name, {own_case} AS own_case, {similarity} AS similarity, {is_whole} AS whole FROM named n {dots}"
    given = f"named AS {'MATERIALIZED' if dots else 'NOT MATERIALIZED'} ({named})"
    order = f"{whole} own_case DESC, similarity DESC, refs DESC"
    # names are few to sort, their cards are many to join: only those of the page are looked up
    rows = context.index.rows(
        f"""
        WITH {given}, hit AS MATERIALIZED ({hits}),
        page AS (SELECT * FROM hit ORDER BY {order}, name, sym_id LIMIT $limit OFFSET $offset)
        SELECT {CARD}, (SELECT count(*) FROM hit) FROM page JOIN symbol_card s ON s.sym_id = page.sym_id
        ORDER BY {order.replace("refs", "page.refs")}, page.name, page.sym_id
        """,
        {**values, "limit": ask.limit, "offset": _offset(ask)},
    )
    if rows:
        return [row[:-1] for row in rows], int(rows[0][-1])
    counted = context.index.row(f"WITH {given} SELECT count(*) FROM ({hits})", values) if _offset(ask) else None
    return [], int(counted[0]) if counted else 0


def _offset(ask: FindSymbol) -> int:
    return offset_of(ask.cursor) if ask.cursor else ask.offset


def _documents(index: Index, ask: FindSymbol, values: dict[str, Any]) -> str:
    """A condition on documents, empty for all; adds the values that it takes."""
    conditions: list[str] = []
    if ask.path:
        conditions.append("(path GLOB $path OR starts_with(path, $path))")
        values["path"] = path_pattern(index, ask.path)
    if ask.language:
        conditions.append("language = lower($language)")
        values["language"] = ask.language
    if ask.tests != "include":
        conditions.append("is_test" if ask.tests == "only" else "NOT is_test")
    return " AND ".join(conditions)


def _hovers(context: Context, ids: list[int]) -> dict[int, str]:
    sql = "SELECT t.sym_id, t.hover FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol_text t ON t.sym_id = u.id"
    return dict(context.index.rows(sql, {"ids": ids}))


_OTHER_KINDS = {"import": "module", "trait": "interface", "type": "class", "attribute": "field", "enumerator": "enum member"}
"""Words that others use for kinds that have another name here."""


def _kind(name: str) -> int:
    """By name, in words or as protocols write it (`enum member`, `enum_member`, `EnumMember`), or by LSP's number."""
    known = {kind.label: kind for kind in SymbolKind}
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.strip()).lower().replace("_", " ")
    plain = _OTHER_KINDS.get(plain, plain)
    if plain.isdigit() and int(plain) in known.values():
        return int(plain)
    if plain not in known:
        raise UsageError(f"no kind is called '{name}'; known: {', '.join(known)}")
    return int(known[plain])
