"""Uses of a member of a union, `(shape: Circle | Square) => shape.kind`, of which the server names the member of one type only (ADR 0101).

The use is one of the member of each type. Where a type stands in a union, or one below it does, the uses of its member's name that are
told of another type in a union may be of this one, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from indexer.languages import names_of
from indexer.model import CALLABLE_KINDS, TYPE_KINDS
from indexer.text import utf16_to_index
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.answers.style import count
from query.facts.documents import languages
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.sources import Sources
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.type_graph import below, related

CODE = "union"

_SHAPED = tuple(names_of(lambda record: record.satisfies == "shape"))
_MEMBERS = frozenset({"method", "property", "field"})
_AROUND = 600
_SIMPLE = frozenset(
    {
        *("null", "undefined", "string", "number", "boolean", "void", "never", "any", "unknown", "bigint"),
        *("symbol", "object", "true", "false", "this", "keyof", "typeof", "readonly"),
    }
)
_WORD = re.compile(r"(?<![\w$.'\"`])[A-Za-z_$][\w$]*")
_MOST_USES = 2_000

_TYPES_NAMED = """
    SELECT d.path, r.line, r.col, r.end_col FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    JOIN document d ON d.doc_id = r.doc_id WHERE has_role(r.roles, 'annotation', 'supertype') OR NOT has_role(r.roles, 'call', 'definition')
    ORDER BY ALL LIMIT $most
"""
_USED = """
    SELECT o.sym_id, m.container_id, d.path, count(*) FROM occ o JOIN document d USING (doc_id) JOIN symbol m ON m.sym_id = o.sym_id
    WHERE o.name = $name AND o.sym_id <> $id AND has_role(o.roles, 'read', 'write', 'call', 'delete')
      AND NOT has_role(o.roles, 'definition', 'import') AND is_kind(m.kind, 'method', 'property', 'field')
      AND d.language IN (SELECT unnest($languages::VARCHAR[]))
    GROUP BY ALL ORDER BY ALL
"""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each member."""
    shaped = [name for name in languages(index) if name in _SHAPED]
    return [reason for symbol in uses.symbols for reason in _of(index, symbol, uses, shaped)] if shaped else []


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols that a use of a union may mean."""
    shaped = [name for name in languages(index) if name in _SHAPED]
    known = symbols_by_id(index, sorted(ids)) if shaped else {}
    return {sym_id for sym_id, symbol in known.items() if _places(index, symbol, shaped)}


def _of(index: Index, symbol: Symbol, uses: Uses, shaped: Collection[str]) -> list[Reason]:
    places = {path: number for path, number in _places(index, symbol, shaped).items() if uses.scope.is_asked(path)}
    if not places:
        return []
    total = sum(places.values())
    detail = (
        f"the type of '{symbol.record.name}' stands in a union, of which a use is told of one type only: {count(total, 'use')} of this "
        f"name of another type in a union may be of this one, too: {listed(sorted(places))}"
    )
    return [of_paths(CODE, detail, sorted(places), total)]


def _places(index: Index, symbol: Symbol, shaped: Collection[str]) -> dict[str, int]:
    """By path the number of uses that may be of the member."""
    if symbol.record.kind not in _MEMBERS or symbol.record.external:
        return {}
    scope = scopes(index, [symbol.sym_id])[symbol.sym_id]
    if scope.container is None or scopes(index, [scope.container])[scope.container].kind not in TYPE_KINDS:
        return {}
    rows = index.rows(_USED, {"name": symbol.record.name, "id": symbol.sym_id, "languages": list(shaped)})
    kin = related(index, scope.container) if rows else frozenset[int]()
    rows = [row for row in rows if row[1] not in kin]
    is_in_union = bool(rows) and _in_union(index, scope.container)
    found: dict[str, int] = {}
    for _, container, path, number in rows:
        is_type = container is not None and scopes(index, [container])[container].kind in TYPE_KINDS
        if (is_in_union and (container is None or not is_type or _in_union(index, container))) or (
            is_type and container is not None and _are_joined(index, scope.container, container)
        ):
            found[path] = found.get(path, 0) + number
    return found


_BESIDE = """
    SELECT DISTINCT d.path, CASE WHEN a.encl_id = b.encl_id THEN a.encl_id END, a.line, a.col, b.line, b.col,
      has_role(a.roles, 'annotation') OR has_role(b.roles, 'annotation')
    FROM (SELECT unnest($left::INTEGER[]) AS id) l JOIN refs a ON a.sym_id = l.id
    JOIN refs b ON b.doc_id = a.doc_id
    JOIN (SELECT unnest($right::INTEGER[]) AS id) r ON b.sym_id = r.id JOIN document d ON d.doc_id = a.doc_id
    WHERE NOT has_role(a.roles, 'definition', 'import', 'supertype') AND NOT has_role(b.roles, 'definition', 'import', 'supertype')
      AND abs(a.line - b.line) <= $far ORDER BY ALL LIMIT $most
"""
_FAR = 40
_LITERAL = r"\s*(?:\d[\w.]*|'[^'\n]*'|\"[^\"\n]*\"|null|undefined|true|false)\s*"
"""What is of no type that has members of its own here."""

_JOINS = re.compile(rf"\?(?![.?:,)\]])(?!{_LITERAL}:)[^;]*?:(?!{_LITERAL}(?:[;,)\]}}\n]|$))|(?:\|\||\?\?)(?!{_LITERAL}(?:[;,)\]}}\n]|$))")
_LISTS = re.compile(r"\|\||\?\?|[:,\[]")
_PARTED = re.compile(r"^[^\[(]*\]\s*,\s*[\w$]+\s*:\s*\[(?:(?!\bnew\b)[^\]])*$")
"""`{ providers: [Service], controllers: [Controller] }`: types in lists of different names; objects may meet where all lists are read."""

_ENDS = re.compile(r";|\}\s*\n|\n\s*\n")
_RETURNED = re.compile(r"^\s*(?:if\b.*|else\b.*|case\b.*|default\b.*)?\breturn\b")


def _are_joined(index: Index, one: int, other: int) -> bool:
    """Whether values of the two types, or of types below them, meet without a declaration: in the branches of a conditional expression,
    in a list or an object, as what one function returns, or as its parameters if it has such an expression, of which no branch is a
    literal.
    """
    known: dict[tuple[int, int], bool] = index.keep("types that are joined", dict)
    key = (min(one, other), max(one, other))
    if key not in known:
        left, right = (sorted({type_id, *below(index, [type_id])}) for type_id in key)
        rows = index.rows(_BESIDE, {"left": left, "right": right, "far": _FAR, "most": _MOST_USES})
        sources: Sources = index.keep("sources of unions", lambda: Sources(index))
        known[key] = len(rows) == _MOST_USES or any(_meet(index, sources, *row) for row in rows)
    return known[key]


def _meet(
    index: Index, sources: Sources, path: str, around: int | None, line: int, col: int, other_line: int, other_col: int, is_annotated: bool
) -> bool:
    lines = sources.lines(path)
    (first, begin), (last, end) = sorted(((line, col), (other_line, other_col)))
    if lines is None or last >= len(lines):
        return False
    texts = [line.decode("utf-8", "replace") for line in lines[first : last + _FAR]]
    between = "\n".join(texts[: last - first + 1])
    if not _ENDS.search(between.rstrip().removesuffix(";")):
        if is_annotated:
            return _JOINS.search(_function(texts)) is not None
        parts = [*texts[: last - first], texts[last - first][: utf16_to_index(texts[last - first], end)]]
        parts[0] = parts[0][utf16_to_index(texts[0], begin) :]
        return _LISTS.search(between) is not None and _PARTED.search("\n".join(parts)) is None
    is_in_function = around is not None and scopes(index, [around])[around].kind in CALLABLE_KINDS
    return is_in_function and first != last and all(_RETURNED.search(texts[at]) for at in (0, last - first))


def _function(texts: Sequence[str]) -> str:
    """The lines up to the one that ends what begins in the first."""
    width = len(texts[0]) - len(texts[0].lstrip())
    end = next((at for at, text in enumerate(texts) if at and text.startswith("}", min(width, len(text)))), len(texts))
    return "\n".join(texts[: end + 1])


def _in_union(index: Index, type_id: int) -> bool:
    """Whether a type, or one below it, stands in a union with another type that has members."""
    known: dict[int, bool] = index.keep("types in unions", dict)
    if type_id not in known:
        sources: Sources = index.keep("sources of unions", lambda: Sources(index))
        ids = sorted({type_id, *below(index, [type_id])})
        rows = index.rows(_TYPES_NAMED, {"ids": ids, "most": _MOST_USES})
        known[type_id] = len(rows) == _MOST_USES or any(_is_joined(sources, *row) for row in rows)
    return known[type_id]


def _is_joined(sources: Sources, path: str, line: int, col: int, end_col: int) -> bool:
    lines = sources.lines(path)
    if lines is None or line >= len(lines):
        return False
    texts = [part.decode("utf-8", "replace") for part in lines[max(0, line - 20) : line + 21]]
    at = min(line, 20)
    before = ("\n".join(texts[:at]) + "\n" + texts[at][:col])[-_AROUND:]
    after = (texts[at][end_col:] + "\n" + "\n".join(texts[at + 1 :]))[:_AROUND]
    left, right = _to_the_left(before), _to_the_right(after)
    if "|" not in left and "|" not in right:
        return False
    return any(word not in _SIMPLE and word != texts[at][col:end_col] for word in _WORD.findall(f"{left} {right}"))


_NO_UNION = re.compile(r"\|\||//[^\n]*|/\*.*?\*/", re.DOTALL)


def _to_the_right(text: str) -> str:
    """What belongs to the type expression that goes on here."""
    text = _NO_UNION.sub(lambda match: ";" if match[0] == "||" else " ", text)
    depth = 0
    for number, sign in enumerate(text):
        if sign in "<[({":
            depth += 1
        elif sign in ">])}":
            depth -= 1
        if depth < 0 or (depth == 0 and (sign in ";,=" or (sign == "\n" and not _goes_on(text[:number], text[number:])))):
            return text[:number]
    return text


def _to_the_left(text: str) -> str:
    text = _NO_UNION.sub(lambda match: ";" if match[0] == "||" else " ", text)
    depth = 0
    for number in range(len(text) - 1, -1, -1):
        sign = text[number]
        if sign in ">])}" and text[number - 1 : number + 1] != "=>":
            depth += 1
        elif sign in "<[({":
            depth -= 1
        if depth < 0 or (depth == 0 and (sign in ";,=:" or (sign == "\n" and not _goes_on(text[:number], text[number:])))):
            return text[number + 1 :]
    return text


def _goes_on(before: str, after: str) -> bool:
    """Whether a type expression goes on over the end of a line."""
    return before.rstrip()[-1:] in ("|", "&", "", "=") or after.lstrip()[:1] in ("|", "&")
