"""The types of symbols, from what the index has: annotations, constructor calls, hover texts. Nothing is guessed.

itself       the symbol is a type
container    a constructor or an enum's member: the type that it belongs to
annotation   named in the declared type of a variable, parameter or field, or in the declared result of a function
constructor  the type that is called where the variable is bound
hover        named in the type that the server's hover text gives, where just one type has that name and the file names it too
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from indexer.languages import record_of
from indexer.model import SymbolFlag
from query.facts.dotted import named
from query.facts.families import family_of, languages_of
from query.facts.index import Index
from query.facts.sources import Sources
from query.facts.symbols import TYPES, Symbol, symbols_by_id

_CALLABLE = ("function", "method", "constructor")
_MAX_HOVER_NAMES = 8
_BINDS = re.compile(r"^\s*(?::[^=]*)?(?::=|=)\s*(?:await\s+)?(?:new\s+|&|\*)?[\w.:]*\Z")
_CALLS = re.compile(r"^\s*(?:<[^()]*>|\[[^()]*\])?\s*[({]")
_ENDS = re.compile(r"[ \t]*(?:[;,\n#)]|//|\Z)")
_MAX_CALL_LINES = 60
_HOVER_TYPE = (
    re.compile(r"Type: `([^`]+)`"),
    re.compile(r"→ `([^`]+)`"),
)
_CODE = re.compile(r"```([a-z]*)\n(.*?)```", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")


class TypeOf(NamedTuple):
    """A type of a symbol, and how it is known (see the top of this module)."""

    symbol: Symbol
    evidence: str


def types_of(index: Index, symbol: Symbol, sources: Sources) -> list[TypeOf]:
    """By the strongest evidence that there is, in the order of the text; empty where the index does not know.

    Names of several types are several answers: `Item | None` has one, `dict[str, Item]` three.
    """
    record = symbol.record
    if record.kind in TYPES:
        return [TypeOf(symbol, "itself")]
    row = index.row(
        """
        SELECT doc_id, container_id, start_line, start_col, end_line, end_col, sel_line, sel_col, sel_end_col, flags
        FROM symbol WHERE sym_id = ?
        """,
        [symbol.sym_id],
    )
    if row is None:
        return []
    if record.kind in ("constructor", "enum member") and row[1] is not None:
        around = symbols_by_id(index, [row[1]])[row[1]]
        if around.record.kind in TYPES:
            return [TypeOf(around, "container")]
    if not record.external:
        is_callable = record.kind in _CALLABLE or (
            record.kind == "property" and record.signature.lstrip().startswith(("def ", "async def "))
        )
        ids = _declared_result(index, symbol, row) if is_callable else _declared(index, symbol, row, sources)
        if found := _types(index, ids, "annotation"):
            return found
        if (
            not is_callable
            and not row[9] & SymbolFlag.PARAMETER
            and (found := _types(index, _constructed(index, symbol, row, sources), "constructor"))
        ):
            return found
    return _of_hover(index, symbol)


def _types(index: Index, ids: list[int], evidence: str) -> list[TypeOf]:
    known = symbols_by_id(index, sorted(set(ids)))
    return [TypeOf(known[sym_id], evidence) for sym_id in dict.fromkeys(ids)]


_ANNOTATIONS = """
    SELECT o.line, o.col, o.end_col, o.sym_id, o.encl_id FROM occ o JOIN symbol s ON s.sym_id = o.sym_id
    WHERE o.doc_id = $doc AND has_role(o.roles, 'annotation') AND is_type(s.kind)
      AND o.line >= $start_line AND o.line <= $end_line AND (o.line > $start_line OR o.col >= $start_col)
      AND (o.line < $end_line OR o.col < $end_col)
    ORDER BY o.line, o.col, o.sym_id
"""


def _annotations(index: Index, row: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    doc_id, _, start_line, start_col, end_line, end_col, *_ = row
    values = {"doc": doc_id, "start_line": start_line, "start_col": start_col, "end_line": end_line, "end_col": end_col}
    return index.rows(_ANNOTATIONS, values)


def _declared(index: Index, symbol: Symbol, row: tuple[Any, ...], sources: Sources) -> list[int]:
    """Types named in the declaration of a variable, before its value."""
    found = _annotations(index, row)
    if not found:
        return []
    sel_line, sel_col, sel_end = row[6:9]
    if record_of(languages_of(index).get(symbol.record.path, "")).type_before_name:
        return [sym_id for line, col, _, sym_id, _ in found if (line, col) < (sel_line, sel_col)]
    value = _value_at(sources, symbol.record.path, sel_line, sel_end)
    return [sym_id for line, col, _, sym_id, _ in found if (sel_line, sel_end) <= (line, col) < (value or (line + 1, 0))]


def _value_at(sources: Sources, path: str, line: int, end_col: int) -> tuple[int, int] | None:
    """Where the value begins on the line of a name: at its `=`. None where there is none on that line."""
    lines = sources.lines(path)
    if lines is None or line >= len(lines):
        return None
    text = lines[line].decode("utf-8", "replace")
    units = text.encode("utf-16-le")
    after = units[2 * end_col :].decode("utf-16-le", "replace")
    found = re.search(r"(?<![=!<>])=(?![=>])", after)
    return None if found is None else (line, end_col + len(after[: found.start()].encode("utf-16-le")) // 2)


def _declared_result(index: Index, symbol: Symbol, row: tuple[Any, ...]) -> list[int]:
    """Types named in a function's header outside its parameters: after them, in C and C++ before the name."""
    found = [item for item in _annotations(index, row) if item[4] != symbol.sym_id]  # its own text is below the header
    if not found:
        return []
    sel_line, sel_col, sel_end = row[6:9]
    inside = index.rows(
        """
        SELECT start_line, start_col, end_line, end_col, is_kind(kind, 'variable') AND has_flag(flags, 'parameter') FROM symbol
        WHERE container_id = $id AND doc_id = $doc ORDER BY ALL
        """,
        {"id": symbol.sym_id, "doc": row[0]},
    )
    if record_of(languages_of(index).get(symbol.record.path, "")).type_before_name:
        return [sym_id for line, col, _, sym_id, _ in found if (line, col) < (sel_line, sel_col)]
    head_end = max([(sel_line, sel_end), *((item[2], item[3]) for item in inside if item[4])])
    body = min([(item[0], item[1]) for item in inside if not item[4] and (item[0], item[1]) >= head_end], default=(row[4], row[5]))
    return [sym_id for line, col, _, sym_id, _ in found if head_end <= (line, col) < body]


def _constructed(index: Index, symbol: Symbol, row: tuple[Any, ...], sources: Sources) -> list[int]:
    """The type whose call is the value, where the text after the name says that it is the whole value's head."""
    path = symbol.record.path
    bindings = index.rows(
        "SELECT doc_id, line, end_col FROM refs WHERE sym_id = ? AND has_role(roles, 'write') AND evidence <> evidence('inferred')",
        [symbol.sym_id],
    )
    found: list[int] = []
    documents = index.documents({doc_id for doc_id, _, _ in bindings})
    for doc_id, line, end_col in bindings:
        path = documents[doc_id][0]
        lines = sources.lines(path)
        if lines is None or line >= len(lines):
            return []
        units = lines[line].decode("utf-8", "replace").encode("utf-16-le")
        rows = index.rows(
            """
            SELECT o.col, o.end_col, o.sym_id FROM occ o JOIN symbol s ON s.sym_id = o.sym_id
            WHERE o.doc_id = ? AND o.line = ? AND o.col > ? AND is_type(s.kind) ORDER BY o.col, o.sym_id
            """,
            [doc_id, line, end_col],
        )
        called = [
            sym_id
            for col, end, sym_id in rows
            if _BINDS.match(units[2 * end_col : 2 * col].decode("utf-16-le", "replace"))
            and _is_whole_value(units[2 * end :].decode("utf-16-le", "replace"), lines[line + 1 : line + _MAX_CALL_LINES])
        ]
        if not called:  # bound to something else elsewhere: then this is one type of several
            continue
        found += called
    return found


def _is_whole_value(after: str, below: list[bytes]) -> bool:
    """Whether what follows a type's name calls it, and nothing is done to the result: `Item(3)`, not `Item(3).price`."""
    if not _CALLS.match(after):
        return False
    text = after + "\n" + b"\n".join(below).decode("utf-8", "replace")
    depth = 0
    for position, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and char in ")}":
            return _ENDS.match(text, position + 1) is not None
    return False


def _of_hover(index: Index, symbol: Symbol) -> list[TypeOf]:
    row = index.row("SELECT hover FROM symbol_text WHERE sym_id = ?", [symbol.sym_id])
    text = type_text(row[0], symbol.record.name) if row and row[0] else ""
    family = family_of(index, symbol.record.path)
    found: dict[int, TypeOf] = {}
    for word in list(dict.fromkeys(_WORD.findall(_heads(text))))[:_MAX_HOVER_NAMES]:
        fitting = [
            other
            for other in named(index, word)
            if other.record.kind in TYPES and (not family or languages_of(index).get(other.record.path, "") in family)
        ]
        if len(fitting) == 1 and _is_named_in(index, fitting[0], symbol.record.path):
            found.setdefault(fitting[0].sym_id, TypeOf(fitting[0], "hover"))
    return list(found.values())


def _heads(text: str) -> str:
    """A type as written without what is quoted and without type arguments: `tuple` of `tuple[Item, ...]`."""
    text = re.sub(r"\"[^\"]*\"|'[^']*'", "", text)
    while (fewer := re.sub(r"(?<=\w)(?:\[[^\[\]]+\]|<[^<>]*>)", "", text)) != text:
        text = fewer
    return text


def _is_named_in(index: Index, of: Symbol, path: str) -> bool:
    """A hover text has bare names: one that the file itself never means may well be another type that is called so."""
    if of.record.path == path:
        return True
    sql = "SELECT 1 FROM refs WHERE sym_id = ? AND doc_id = (SELECT doc_id FROM document WHERE path = ?) LIMIT 1"
    return index.row(sql, [of.sym_id, path]) is not None


def type_text(hover: str, name: str) -> str:
    """The type that a hover text gives a symbol, as written there; empty where it gives none. Servers differ in form only."""
    for pattern in _HOVER_TYPE:
        if found := pattern.search(hover):
            return found[1]
    code = _CODE.search(hover)
    if code is None:
        return ""
    text = code[2].strip().split("\n//")[0]
    found = ""
    if text.startswith(("def ", "async def ")):
        found = text.rpartition("->")[2] if "->" in text else ""
    elif text.startswith(("function ", "(method)", "(alias) function")):
        found = text.rpartition("): ")[2] if "): " in text else ""
    elif declared := re.match(rf"(?:var|field|const)\s+{re.escape(name)}\s+([^=\n]*)", text):  # Go
        found = declared[1].partition("//")[0]
    elif declared := re.match(rf"(?:\([a-z ]+\)\s*|const\s+|let\s+|var\s+)?[\w$.<>, ]*\b{re.escape(name)}\??: (.*)", text, re.DOTALL):
        found = declared[1]
    elif code[1] == "python" and not re.match(r"(?:class|module|<)", text):
        found = text
    # the type of a function is none that has a name
    return "" if "=>" in found or "->" in found or found.lstrip().startswith(("(", "func")) else found
