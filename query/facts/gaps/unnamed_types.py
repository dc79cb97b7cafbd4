"""Subtypes that have no name, of languages that have such (`leaves_unsaid`): `new Step() {…}`, bodies of an enum's constants, lambdas.

They are no types of the index, and their members override what nobody tells. A lambda, or a reference of a method, is an object of any
interface with one member: of files that name the interface, or what takes, gives or holds one, it is said that theirs may be.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from indexer.languages import record_of
from indexer.model import SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.families import languages_of
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.sources import Sources
from query.facts.symbols import symbols_by_id
from query.facts.type_graph import above, below

_MADE = """
    SELECT d.path, r.line, r.col, s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    JOIN symbol t ON t.sym_id = u.id LEFT JOIN symbol s ON s.sym_id = CASE WHEN is_type(t.kind) THEN t.sym_id ELSE t.container_id END
    JOIN document d ON d.doc_id = r.doc_id WHERE has_role(r.roles, 'call') ORDER BY ALL
"""
_CONSTRUCTORS = """
    SELECT m.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol m ON m.container_id = u.id
    WHERE is_kind(m.kind, 'constructor') ORDER BY ALL
"""
_IN_CONSTANTS = """
    SELECT d.path, m.sel_line, m.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol c ON c.container_id = u.id
    JOIN symbol m ON m.container_id = c.sym_id JOIN document d ON d.doc_id = m.doc_id
    WHERE is_kind(c.kind, 'enum member') AND is_kind(m.kind, 'method') ORDER BY ALL
"""
_MEMBERS = """
    SELECT m.container_id, m.name, coalesce(t.signature, '') FROM (SELECT unnest($ids::INTEGER[]) AS id) u
    JOIN symbol m ON m.container_id = u.id LEFT JOIN symbol_text t ON t.sym_id = m.sym_id WHERE is_kind(m.kind, 'method') ORDER BY ALL
"""
_NAMING = """
    WITH naming AS (SELECT DISTINCT doc_id, encl_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id)
    SELECT DISTINCT d.path FROM (
        SELECT doc_id FROM naming
        UNION SELECT r.doc_id FROM naming n JOIN refs r ON r.sym_id = n.encl_id
        UNION SELECT r.doc_id FROM naming n JOIN symbol c ON c.container_id = n.encl_id JOIN refs r ON r.sym_id = c.sym_id
    ) x JOIN document d USING (doc_id) ORDER BY ALL
"""
_CONCRETE = re.compile(r"^(?:[\w@()\",.\s]*\s)?(?:default|static|private)\s")
_GENERICS = re.compile(r"[\w$]+\s*(?:<[^;{}()]*>)?\s*(?=\()")
_FUNCTION = re.compile(rb"->|::")
_MOST_LINES = 60
_MOST_FILES = 2_000
_CODE = "unlisted_subtypes"


def reasons(index: Index, ids: Collection[int], members: Collection[str] | None) -> list[Reason]:
    """One for classes without a name below these types, one for lambdas.

    Args:
        members: only those that have a member of one of these names are asked about.
    """
    known = scopes(index, ids)
    paths = index.documents({known[sym_id].doc_id for sym_id in ids})
    languages = languages_of(index)
    asked = [sym_id for sym_id in ids if record_of(languages.get(paths[known[sym_id].doc_id][0], "")).leaves_unsaid]
    return [*_classes(index, asked, members), *_functions(index, asked, members)] if asked else []


def _classes(index: Index, ids: Collection[int], members: Collection[str] | None) -> Iterator[Reason]:
    types = sorted(below(index, ids))
    made = [*types, *(sym_id for (sym_id,) in index.rows(_CONSTRUCTORS, {"ids": types}))]
    sources = Sources(index)
    places = {(path, line) for path, line, col, _ in index.rows(_MADE, {"ids": made}) if _has_body(sources, path, line, col, members)}
    places |= {(path, line) for path, line, name in index.rows(_IN_CONSTANTS, {"ids": types}) if members is None or name in members}
    if places:
        where = listed([f"{path}:{line + 1}" for path, line in sorted(places)])
        detail = f"classes without a name are derived from it, whose members no list has: {where}; look there"
        yield of_paths(_CODE, detail, sorted({path for path, _ in places}), len(places))


def _has_body(sources: Sources, path: str, line: int, col: int, members: Collection[str] | None) -> bool:
    """Whether what makes an object of a type gives it a body, with a member of one of these names."""
    lines = sources.lines(path)
    if lines is None or line >= len(lines):
        return False
    text = "\n".join(part.decode("utf-8", "replace") for part in lines[line : line + _MOST_LINES])
    head = _GENERICS.match(text, col)
    if head is None:
        return False
    behind = _behind(text, head.end(), "(", ")")
    body = re.compile(r"\s*\{").match(text, behind) if behind > 0 else None
    if body is None or members is None:
        return body is not None
    end = _behind(text, body.end() - 1, "{", "}")
    inside = text[body.end() : end if end > 0 else len(text)]
    return any(re.search(rf"\b{re.escape(name)}\s*\(", inside) for name in members)


def _behind(text: str, at: int, opening: str, closing: str) -> int:
    """Behind the bracket that closes the one at a place; -1 where it is not in the text. Strings are stepped over."""
    depth, quoted = 0, ""
    while at < len(text):
        sign = text[at]
        if quoted:
            at += sign == "\\"
            quoted = "" if sign == quoted else quoted
        elif sign in "\"'":
            quoted = sign
        elif sign in (opening, closing):
            depth += 1 if sign == opening else -1
            if not depth:
                return at + 1
        at += 1
    return -1


def _functions(index: Index, ids: Collection[int], members: Collection[str] | None) -> Iterator[Reason]:
    found: list[int] = []
    names = set[str]()
    for sym_id in sorted(below(index, ids)):
        if scopes(index, [sym_id])[sym_id].kind != SymbolKind.INTERFACE:
            continue
        asked = {name for _, name, said in index.rows(_MEMBERS, {"ids": sorted(above(index, [sym_id]))}) if not _CONCRETE.match(said)}
        if len(asked) == 1 and (members is None or not asked.isdisjoint(members)):
            found.append(sym_id)
            names |= asked
    if not found:
        return
    sources = Sources(index)
    paths = [path for (path,) in index.rows(_NAMING, {"ids": found})][:_MOST_FILES]
    having = [path for path in paths if any(_FUNCTION.search(line) for line in sources.lines(path) or ())]
    if having:
        of = listed([f"'{symbol.record.name}'" for _, symbol in sorted(symbols_by_id(index, found).items())])
        detail = f"lambdas and references of methods may be {of}: {listed(having)}; look there"
        yield of_paths(_CODE, detail, having)
