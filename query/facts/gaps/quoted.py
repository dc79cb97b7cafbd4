"""Strings of Python that spell a name as code does: text of programs that are made, names that somebody looks up.

Nobody renames them, and no server tells of them. Only what changes a name asks: who calls a symbol is another question, of which
`query.facts.gaps.strings` knows what is looked up.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Sequence

from indexer.model import CALLABLE_KINDS, TYPE_KINDS
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import held_now
from query.facts.index import Index
from query.facts.occurrences import mentions
from query.facts.symbols import Symbol

_LEAST_SPOKEN = 5
"""A shorter name, or one that is a word of plain language, stands in many strings that do not mean it."""


def of_names(index: Index, symbols: Sequence[Symbol]) -> list[Reason]:
    """Why these names may stand in strings that a change of them would leave behind. Reads the files as they are now."""
    wanted = {symbol.record.name: symbol for symbol in symbols if not symbol.is_local and symbol.record.path.endswith((".py", ".pyi"))}
    if not wanted:
        return []
    sql = "SELECT path FROM document WHERE status <> 'external' AND language_has(language, 'looks_up_names') ORDER BY path"
    paths = [path for (path,) in index.rows(sql) if path.endswith((".py", ".pyi"))]
    found: list[Reason] = []
    for name, symbol in wanted.items():
        known = _mentioned(index, [symbol.sym_id])
        places = [(path, line) for path in paths for line in _lines(index, path, name, _pattern(symbol)) if (path, line) not in known]
        if places:
            where = listed([f"{path}:{line}" for path, line in places])
            detail = f"a string has '{name}' as code has it, and stays as it is: {where}; look there"
            found.append(of_paths("string_code", detail, list(dict.fromkeys(path for path, _ in places)), len(places)))
    return found


def _pattern(symbol: Symbol) -> re.Pattern[str]:
    """What a string with the name as code looks like: a call, an attribute of something, or nothing but the name."""
    name = re.escape(symbol.record.name)
    is_called = symbol.record.kind in {kind.label for kind in CALLABLE_KINDS | TYPE_KINDS}
    ways = [rf"[\w)\]]\.{name}\s*\(" if is_called else rf"\A(?=.*[ (])(?:.*[^\w.])?[A-Za-z_][\w.]*\.{name}\b(?!\.)"]
    if _is_unlike_words(symbol.record.name):
        ways += [rf"\A{name}\Z", *([rf"(?<![\w.`]){name}\("] if is_called else [])]
    return re.compile("|".join(ways), re.DOTALL)


def _is_unlike_words(name: str) -> bool:
    """Whether nobody would write it who does not mean a name."""
    inner = name.strip("_")
    return len(inner) >= _LEAST_SPOKEN and ("_" in inner or (any(char.isupper() for char in inner[1:]) and not inner.isupper()))


def _mentioned(index: Index, ids: Collection[int]) -> set[tuple[str, int]]:
    """Path and line, 1-based, of strings that are known to name it, which are renamed as any other use."""
    found = [mention for sym_id in ids for mention in mentions(index, sym_id)]
    documents = index.documents({mention.doc_id for mention in found})
    return {(documents[mention.doc_id][0], mention.line + 1) for mention in found}


def _lines(index: Index, path: str, name: str, pattern: re.Pattern[str]) -> Iterator[int]:
    content = held_now(index, path) or b""
    if name.encode() not in content:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for said, line, is_long in _strings(tree):
        if name in said and pattern.search(said):
            yield line + (said.count("\n", 0, said.index(name)) if is_long else 0)


def _strings(tree: ast.Module) -> Iterator[tuple[str, int, bool]]:
    """Each with its first line, and whether it has several: all but documentation, which is a string that is a statement."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value, node.lineno, node.end_lineno != node.lineno
