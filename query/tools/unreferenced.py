"""Symbols that nothing refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from indexer.errors import UsageError
from indexer.model import TYPE_KINDS, SymbolKind
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count
from query.context import Context
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.index import Index
from query.facts.parameters import path_pattern
from query.facts.symbols import symbols_by_id
from query.facts.uses import documents, test_symbols, unresolved_names
from query.surface.registry import tool

Confidence = Literal["certain", "maybe"]

_KINDS = ("function", "method", "property", "class", "interface", "struct", "enum", "constant", "variable")
_HARMLESS = frozenset(
    {
        # decorators and attributes that hand what they stand on to nobody
        *("staticmethod", "classmethod", "property", "override", "final", "overload", "abstractmethod", "cached_property", "lru_cache"),
        *("cache", "contextmanager", "asynccontextmanager", "wraps", "dataclass", "total_ordering", "deprecated"),
        *("inline", "must_use", "derive", "doc", "allow", "cfg", "warn", "deny", "cold", "non_exhaustive"),
    }
)
_MAX_MANIFEST_DEPTH = 2
_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
_ENTRY = re.compile(r"[\w.]+:([A-Za-z_]\w*)")
_LITERAL = re.compile(r"""['"]([A-Za-z_][\w%{}.]{2,60}|[%{][\w%{}.]{3,60})['"]""")
_HOLE = re.compile(r"%\(\w+\)s|%s|\{[\w.]*\}")
_LOOKUPS = (
    *("getattr", "setattr", "hasattr", "delattr", "methodcaller", "attrgetter", "globals", "vars", "patch", "monkeypatch"),
    *("import_string", "import_module"),
)
"""A document of Python that uses one of these may take a string for a name, the parts of a dotted one too."""

_MIN_LITERAL = 3
_MIN_PREFIX = 3
_MIN_FAMILY = 3


class Unreferenced(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob or lie below this folder")] = ""
    kind: Annotated[list[str], msgspec.Meta(description=f"only these kinds; default {', '.join(_KINDS)}; also: field")] = []
    include_exported: Annotated[
        bool, msgspec.Meta(description="also what the outside may use: public names; they are `maybe`, reason exported")
    ] = False
    confidence: Annotated[Literal["all", "certain", "maybe"], msgspec.Meta(description="only rows of this confidence")] = "all"
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="symbols defined in tests")] = "exclude"
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="symbols shown")] = 100
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class UnreferencedSymbol(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol without any use but its definitions and its own text. `members` of it are not listed beside it.

    Reasons of `maybe`: decorated (what decorates it may register it), unresolved_same_name (`same_name` identifiers of its name could
    not be resolved), built_name (code that uses getattr, mock.patch or the like has a string like it, or three methods that nobody names
    begin alike), structural (a protocol or an interface has a member of its name, and whoever has that calls what fits), unknown_base
    (its type has a base outside the workspace or an unresolved one, which may call it), twin (another symbol of its name may stand for
    it: in a base, beside it in a subclass, in the same folder under another build constraint, outside as a type that it adds to),
    subclass (its base may keep a list of what inherits from it), exported, partial_coverage (a file that may refer to it was not read).
    Reasons of `certain`: no_uses, only_itself (it uses itself, as recursion does).
    """

    symbol: SymbolRecord
    confidence: Confidence
    reasons: list[str]
    lines: Annotated[int, msgspec.Meta(description="length of its definition")]
    members: int = 0
    same_name: int = 0


class _Candidate(NamedTuple):
    sym_id: int
    doc_id: int
    container: int | None
    name: str
    kind: int
    flags: int
    lines: int
    self_uses: int


def _text(answer: Answer[list[UnreferencedSymbol]], style: Style) -> Iterator[str]:
    for row in answer.result:
        notes = [row.confidence, *row.reasons, count(row.lines, "line")]
        if row.members:
            notes.append(f"with {count(row.members, 'member')}")
        if row.same_name:
            notes.append(count(row.same_name, "identifier") + " of its name")
        yield f"{style.symbol(row.symbol)}  {style.dim(f'[{chr(44).join(notes)}]'.replace(',', ', '))}"


@tool(
    "unreferenced",
    parameters=Unreferenced,
    result=list[UnreferencedSymbol],
    positional="path",
    example="unreferenced utils --confidence certain",
    task="quality",
    hint="dead code unused functions classes nobody calls remove",
    text=_text,
    bare=True,
)
def TOOL(context: Context, ask: Unreferenced) -> Answer[list[UnreferencedSymbol]]:
    """Symbols that nothing in the workspace refers to, certain ones first; public ones only on demand."""
    index, certificate = context.index, context.certificate
    certificate_status = certificate.of_workspace([*DEFINITION, SUPERTYPES])
    found = _candidates(index, ask)
    judged = _judged(index, ask, found, partial=_gaps(certificate_status.reasons))
    rows = [row for row in judged if ask.confidence in ("all", row[0])]
    rows.sort(key=lambda row: (row[0] != "certain", -row[2].lines, row[2].doc_id, row[2].sym_id))
    offset = offset_of(ask.cursor)
    shown = rows[offset : offset + ask.limit]
    known = symbols_by_id(index, [candidate.sym_id for _, _, candidate, _ in shown])
    members = _members(index, [candidate.sym_id for _, _, candidate, _ in shown])
    result = [
        UnreferencedSymbol(
            symbol=known[candidate.sym_id].record,
            confidence=confidence,
            reasons=reasons,
            lines=candidate.lines,
            members=members.get(candidate.sym_id, 0),
            same_name=same_name,
        )
        for confidence, reasons, candidate, same_name in shown
    ]
    return context.answer(ask, result, page_of(offset, len(shown), len(rows)), certificate_status)


def _gaps(reasons: Sequence[Reason]) -> bool:
    """Whether files that may hold uses were not read: then nothing is certain."""
    return any(reason.code == "stale" or reason.code.startswith(("lost_", "skipped_", "no_server")) for reason in reasons)


def _numbers(kinds: Sequence[str]) -> list[int]:
    known = {kind.label: int(kind) for kind in SymbolKind}
    for kind in kinds:
        if kind not in known:
            raise UsageError(f"no kind is called '{kind}'; known: {', '.join(known)}")
    return [known[kind] for kind in kinds or _KINDS]


# Without uses by others: none outside the symbol's own text, none by its own members. Parameters, locals, constructors are left out.
_CANDIDATES = """
    WITH wanted AS (
        SELECT s.sym_id, s.doc_id, s.container_id, s.name, s.kind, s.flags, s.end_line - s.start_line + 1 AS lines,
               s.start_line, s.start_col, s.end_line, s.end_col
        FROM symbol s JOIN document d USING (doc_id)
        WHERE s.flags & 2051 = 0 AND s.kind IN (SELECT unnest($kinds::INTEGER[])) AND d.status <> 'external'
          AND ($path = '' OR d.path GLOB $path OR starts_with(d.path, $path))
          AND ($exported OR s.flags & 4 = 0)
          AND (s.kind <> 7 OR s.flags & 16 <> 0)  -- else a key of an object, which code may look up
          AND (s.kind <> 13 OR d.language NOT IN ('javascript', 'typescript'))  -- also `x.name = …`, and names of function expressions
    ), used AS (
        SELECT w.sym_id, count(*) FILTER (NOT (r.doc_id = w.doc_id AND (w.start_line, w.start_col) <= (r.line, r.col)
                                              AND (r.line, r.col) < (w.end_line, w.end_col))) AS others, count(*) AS uses
        FROM wanted w JOIN refs r ON r.sym_id = w.sym_id WHERE r.roles & 1 = 0 OR r.evidence = 7 GROUP BY ALL
    )
    SELECT w.sym_id, w.doc_id, w.container_id, w.name, w.kind, w.flags, w.lines, coalesce(u.uses, 0)
    FROM wanted w LEFT JOIN used u ON u.sym_id = w.sym_id
    LEFT JOIN symbol c ON c.sym_id = w.container_id
    WHERE coalesce(u.others, 0) = 0 AND (c.kind IS NULL OR c.kind IN (5, 10, 11, 23)
           OR (c.kind IN (2, 3, 6, 9, 12) AND w.kind NOT IN (6, 7)))
      AND NOT EXISTS (SELECT 1 FROM call_in c WHERE c.callee = w.sym_id AND c.caller <> w.sym_id)
    ORDER BY w.sym_id
"""


def _candidates(index: Index, ask: Unreferenced) -> list[_Candidate]:
    rows = index.rows(_CANDIDATES, {"kinds": _numbers(ask.kind), "path": path_pattern(index, ask.path), "exported": ask.include_exported})
    found = [_Candidate(*row) for row in rows]
    docs = documents(index, {candidate.doc_id for candidate in found})
    inline = test_symbols(index, [candidate.sym_id for candidate in found])
    entries = _entries(index)
    kept: list[_Candidate] = []
    for candidate in found:
        document = docs[candidate.doc_id]
        is_test = document.is_test or candidate.sym_id in inline
        if ask.tests != "include" and is_test != (ask.tests == "only"):
            continue
        if _runs_by_name(candidate, document.language, is_test) or candidate.name in entries:
            continue
        kept.append(candidate)
    return kept


def _runs_by_name(candidate: _Candidate, language: str, is_test: bool) -> bool:
    """What the language, a runner or a tool calls by its name."""
    name = candidate.name
    if name in ("main", "_", "__all__", "init") or (name.startswith("__") and name.endswith("__")):
        return name != "init" or language == "go"
    if name.startswith(("~", "operator")) and language in ("cpp", "c"):
        return True
    if language == "python" and name.startswith(("pytest_", "__", "_repr_", "_ipython_")):  # `__unittest`, `__tracebackhide__`
        return True
    return is_test and (name.lower().startswith(("test", "setup", "teardown", "benchmark", "example", "fuzz")) or name.endswith("Test"))


def _entries(index: Index) -> frozenset[str]:
    """Names that the manifests of Python projects give as entry points: `module:name`."""

    def read() -> frozenset[str]:
        sql = "SELECT path FROM document WHERE language = 'python' AND status <> 'external'"
        parts = [path.split("/")[:-1] for (path,) in index.rows(sql)]
        folders = {"/".join(part[:depth]) for part in parts for depth in range(min(len(part), _MAX_MANIFEST_DEPTH) + 1)}
        found: set[str] = set()
        for folder in folders:
            for name in _MANIFESTS:
                try:
                    found.update(_ENTRY.findall((index.root / folder / name).read_text(encoding="utf-8", errors="replace")))
                except OSError:
                    continue
        return frozenset(found)

    entries: frozenset[str] = index.keep("entry points", read)
    return entries


# ---- certain or not


def _judged(
    index: Index, ask: Unreferenced, found: Sequence[_Candidate], *, partial: bool
) -> list[tuple[Confidence, list[str], _Candidate, int]]:
    ids = [candidate.sym_id for candidate in found]
    alive = _overrides_used(index, ids)
    listed = set(ids) - alive
    same_name = unresolved_names(index, [(candidate.sym_id, candidate.doc_id, candidate.name) for candidate in found])
    decorated = _decorated(index, ids)
    twins = _twins(index, ids)
    structural = _structural(index, ids)
    sql = "SELECT DISTINCT t.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge t ON t.sub_id = u.id WHERE t.evidence = 8"
    subclasses = {row[0] for row in index.rows(sql, {"ids": ids})}
    built = _built_names(index, found)
    bases = _unknown_bases(index, {candidate.container for candidate in found if candidate.container is not None})
    rows: list[tuple[Confidence, list[str], _Candidate, int]] = []
    for candidate in found:
        if candidate.sym_id in alive or candidate.container in listed:
            continue
        doubts = [
            code
            for code, there in (
                ("exported", candidate.flags & 4),
                ("decorated", candidate.sym_id in decorated),
                ("unresolved_same_name", candidate.sym_id in same_name),
                ("built_name", candidate.sym_id in built),
                ("structural", candidate.sym_id in structural),
                ("twin", candidate.sym_id in twins),
                ("subclass", candidate.sym_id in subclasses),
                ("unknown_base", candidate.container in bases),
                ("partial_coverage", partial),
            )
            if there
        ]
        confidence: Confidence = "maybe" if doubts else "certain"
        reasons = doubts or ["only_itself" if candidate.self_uses else "no_uses"]
        rows.append((confidence, reasons, candidate, same_name.get(candidate.sym_id, 0)))
    return rows


def _overrides_used(index: Index, ids: Sequence[int]) -> set[int]:
    """Members that override one which is used or lies outside, and those that a used one overrides: calls may end in any of them."""
    rows = index.rows(
        """
        WITH RECURSIVE up(sym_id, other) AS (
            SELECT u.id, o.super_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN override o ON o.sub_id = u.id
            UNION SELECT up.sym_id, o.super_id FROM up JOIN override o ON o.sub_id = up.other
        ), down(sym_id, other) AS (
            SELECT u.id, o.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN override o ON o.super_id = u.id
            UNION SELECT down.sym_id, o.sub_id FROM down JOIN override o ON o.super_id = down.other
        )
        SELECT DISTINCT e.sym_id FROM (SELECT * FROM up UNION ALL SELECT * FROM down) e
        JOIN symbol s ON s.sym_id = e.other JOIN symbol_stats t ON t.sym_id = e.other
        WHERE s.flags & 2048 <> 0 OR t.refs > 0 OR t.callers > 0
        """,
        {"ids": list(ids)},
    )
    return {row[0] for row in rows}


def _decorated(index: Index, ids: Sequence[int]) -> set[int]:
    """Those with a decorator, an attribute or an annotation that may register them: on the lines before the name."""
    rows = index.rows(
        """
        SELECT u.id, o.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        JOIN occ o ON o.doc_id = s.doc_id AND o.line BETWEEN s.start_line - 8 AND s.sel_line AND o.roles & 32 <> 0
        WHERE (o.line, o.col) < (s.sel_line, s.sel_col)
          AND NOT EXISTS (SELECT 1 FROM symbol b WHERE b.doc_id = s.doc_id AND b.sym_id <> s.sym_id AND b.flags & 3 = 0
                          AND b.kind IN (5, 6, 9, 10, 11, 12, 23) AND (b.sel_line, b.sel_col) > (o.line, o.col)
                          AND (b.sel_line, b.sel_col) < (s.sel_line, s.sel_col))
        """,
        {"ids": list(ids)},
    )
    return {sym_id for sym_id, name in rows if name not in _HARMLESS}


def _twins(index: Index, ids: Sequence[int]) -> set[int]:
    """Those that another symbol of the same name may stand for.

    A member: one of a base, or of another base of one of its subclasses. In Go, C and C++: one of the same folder, of which a build
    takes one. A type in TypeScript: one outside, which it augments.
    """
    rows = index.rows(
        """
        WITH RECURSIVE down(start, type_id) AS (
            SELECT s.sym_id, s.container_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
            JOIN symbol c ON c.sym_id = s.container_id WHERE c.kind IN (5, 10, 11, 23)
            UNION SELECT down.start, t.sub_id FROM down JOIN type_edge_rev t ON t.super_id = down.type_id
        ), up(start, type_id) AS (
            SELECT start, type_id FROM down UNION SELECT up.start, t.super_id FROM up JOIN type_edge t ON t.sub_id = up.type_id
        )
        SELECT DISTINCT up.start FROM up JOIN symbol s ON s.sym_id = up.start
        JOIN symbol m ON m.container_id = up.type_id AND m.name = s.name AND m.sym_id <> s.sym_id
        UNION
        SELECT s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN document d USING (doc_id)
        JOIN symbol o ON o.name = s.name AND o.sym_id <> s.sym_id AND o.kind = s.kind AND o.flags & 3 = 0
        JOIN document e ON e.doc_id = o.doc_id
        WHERE (d.language IN ('go', 'c', 'cpp') AND e.language = d.language AND s.container_id <> o.container_id
               AND regexp_replace(d.path, '[^/]*$', '') = regexp_replace(e.path, '[^/]*$', ''))
           OR (d.language = 'typescript' AND s.kind IN (5, 11) AND o.flags & 2048 <> 0)
        """,
        {"ids": list(ids)},
    )
    return {row[0] for row in rows}


def _structural(index: Index, ids: Sequence[int]) -> set[int]:
    """Members whose name a protocol of Python or an interface of TypeScript has too: a type may fit it without saying so."""
    rows = index.rows(
        """
        SELECT DISTINCT s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        JOIN document d USING (doc_id)
        JOIN symbol m ON m.name = s.name AND m.sym_id <> s.sym_id AND m.container_id <> s.container_id
        JOIN symbol c ON c.sym_id = m.container_id
        JOIN symbol own ON own.sym_id = s.container_id AND list_contains($types, own.kind)
        WHERE (d.language IN ('typescript', 'javascript') AND c.kind = $interface)
           OR (d.language = 'python' AND EXISTS (
               SELECT 1 FROM type_edge t JOIN symbol p ON p.sym_id = t.super_id
               WHERE t.sub_id = c.sym_id AND p.qualified_name IN ('typing.Protocol', 'typing_extensions.Protocol')))
        """,
        {"ids": list(ids), "interface": int(SymbolKind.INTERFACE), "types": [int(kind) for kind in TYPE_KINDS]},
    )
    return {row[0] for row in rows}


def _built_names(index: Index, found: Sequence[_Candidate]) -> set[int]:
    """Those whose name is a string, or may be made from one, in a Python document that looks attributes up by name."""
    docs = documents(index, {candidate.doc_id for candidate in found})
    asked = [candidate for candidate in found if docs[candidate.doc_id].language == "python"]
    if not asked:
        return set()
    families = _families(asked)
    literals: tuple[frozenset[str], re.Pattern[str] | None] = index.keep("built names", lambda: _literals(index))
    exact, pattern = literals
    return {
        candidate.sym_id
        for candidate in asked
        if candidate.name in exact
        or (pattern is not None and pattern.fullmatch(candidate.name))
        or any(prefix in families for prefix in _prefixes(candidate))
    }


def _families(found: Sequence[_Candidate]) -> set[str]:
    """Beginnings of method names that several methods share, as `visit_` does: something builds the rest."""
    names: dict[str, set[str]] = {}
    for candidate in found:
        for prefix in _prefixes(candidate):
            names.setdefault(prefix, set()).add(candidate.name)
    return {prefix for prefix, members in names.items() if len(members) >= _MIN_FAMILY}


def _prefixes(candidate: _Candidate) -> list[str]:
    if candidate.kind != SymbolKind.METHOD:
        return []
    return [candidate.name[: at + 1] for at, char in enumerate(candidate.name) if char == "_" and at >= _MIN_PREFIX]


def _literals(index: Index) -> tuple[frozenset[str], re.Pattern[str] | None]:
    rows = index.rows(
        """
        SELECT DISTINCT d.path FROM occ o JOIN document d USING (doc_id)
        WHERE list_contains($lookups, o.name) AND d.language = 'python'
        ORDER BY 1
        """,
        {"lookups": list(_LOOKUPS)},
    )
    exact: set[str] = set()
    patterns: set[str] = set()
    for (path,) in rows:
        try:
            text = (index.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for literal in _LITERAL.findall(text):
            parts = _HOLE.split(literal)
            if len(parts) > 1 and max(map(len, parts)) >= _MIN_LITERAL:
                patterns.add(r"\w+".join(re.escape(part) for part in parts))
            elif literal.endswith("_") and len(parts) == 1:
                patterns.add(re.escape(literal) + r"\w+")
            exact.update(literal.split("."))
    return frozenset(exact), re.compile("|".join(sorted(patterns))) if patterns else None


def _unknown_bases(index: Index, types: set[int]) -> set[int]:
    """Types above which there is a base outside the workspace (but `object`) or one that is unresolved."""
    rows = index.rows(
        """
        WITH RECURSIVE up(start, sym_id) AS (
            SELECT id, id FROM (SELECT unnest($ids::INTEGER[]) AS id)
            UNION SELECT up.start, t.super_id FROM up JOIN type_edge t ON t.sub_id = up.sym_id
        )
        SELECT DISTINCT up.start FROM up JOIN symbol s USING (sym_id)
        WHERE (s.flags & 2048 <> 0 AND s.qualified_name NOT IN ('builtins.object', 'typing.Generic', 'typing.Protocol', 'abc.ABC'))
           OR up.sym_id IN (SELECT class_id FROM unresolved_base)
        """,
        {"ids": sorted(types)},
    )
    return {row[0] for row in rows}


def _members(index: Index, ids: Sequence[int]) -> dict[int, int]:
    rows: list[tuple[Any, ...]] = index.rows(
        """
        SELECT s.container_id, count(*) FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.container_id = u.id
        WHERE s.flags & 3 = 0 GROUP BY 1
        """,
        {"ids": list(ids)},
    )
    return dict(rows)
