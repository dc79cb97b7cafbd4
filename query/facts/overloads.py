"""Functions of one name that are one symbol: of the declarations in a header no server says which body is whose.

Where a file has the bodies each is a symbol; one that only declares them has a single one, and so have the bodies in another file.
"""

from __future__ import annotations

import re

from indexer.languages import record_of
from indexer.text import utf16_to_index
from query.facts.documents import documents, languages
from query.facts.index import Index
from query.facts.sources import Sources
from query.facts.symbols import Symbol

_CALLABLE = ("function", "method", "constructor")
_MOST_LINES = 20
"""Of one list of parameters; a longer one counts as unknown."""

_TYPE_WORDS = frozenset("auto bool char const double float int long short signed unsigned void volatile".split())  # noqa: SIM905
_TOKEN = re.compile(r"\w+|[^\w\s]+")
_DEFINED = """
    SELECT doc_id, line, end_col FROM refs WHERE sym_id = $id AND has_role(roles, 'definition') ORDER BY ALL
"""


def beside(index: Index, symbol: Symbol) -> list[str]:
    """A sentence where the symbol stands for several functions that differ in their parameters, with the places of one file."""
    may_have = any((grammar := record_of(name).grammar) is not None and grammar.overloads for name in languages(index))
    if not may_have or symbol.record.external or symbol.record.kind not in _CALLABLE:
        return []
    rows = index.rows(_DEFINED, {"id": symbol.sym_id})
    docs = documents(index, {doc_id for doc_id, _, _ in rows})
    sources = Sources(index)
    found: dict[str, dict[str, int]] = {}
    for doc_id, line, end_col in rows:
        document = docs[doc_id]
        grammar = record_of(document.language).grammar
        if grammar is not None and grammar.overloads:
            parameters = _parameters(sources.lines(document.path), line, end_col)
            if parameters is not None:
                found.setdefault(document.path, {}).setdefault(parameters, line + 1)
    path = max(sorted(found), key=lambda name: len(found[name]), default="")
    if len(found.get(path, ())) < 2:
        return []
    places = ", ".join(f"{path}:{line}" for line in sorted(set(found[path].values())))
    return [
        f"{symbol.record.qualified_name} stands for {len(found[path])} functions that differ in their parameters: {places}; this is of all"
    ]


def _parameters(lines: list[bytes] | None, line: int, end_col: int) -> str | None:
    """The types between the parentheses behind a name, without names and default values; None where they cannot be told."""
    if lines is None or line >= len(lines):
        return None
    first = lines[line].decode("utf-8", "replace")
    text = first[utf16_to_index(first, end_col) :]
    text += "".join("\n" + more.decode("utf-8", "replace") for more in lines[line + 1 : line + _MOST_LINES])
    if not text.lstrip().startswith("("):
        return None
    depth, part = 0, [""]
    for token in _TOKEN.findall(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)):
        for sign in [token] if token[0].isalnum() or token[0] == "_" else token:
            depth += (sign in "([{<") - (sign in ")]}>")
            if depth == 0:
                return ", ".join(map(_type, part))
            if sign == "," and depth == 1:
                part.append("")
            elif depth > 1 or sign != "(":
                part[-1] += f" {sign}"
    return None


def _type(parameter: str) -> str:
    """Of `const T &name = value`: `const T &`. Of `int`: `int`."""
    words = parameter.partition(" =")[0].split()
    if len(words) > 1 and words[-1].isidentifier() and words[-1] not in _TYPE_WORDS and words[-2:-1] != [":"]:
        words.pop()
    return " ".join(words)
