"""Words of a shell that are a function's name where nothing calls it by the look of it: texts that are run, values, arguments (ADR 0087).

`trap 'stop; exit' INT`, `cmd=stop; "$cmd"`, `run stop`, `hook_$1`. The texts are read when somebody asks, and only those that have the word,
or a name that is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from indexer.languages import names_of, record_of
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import held_now
from query.facts.families import languages_of
from query.facts.freshness import Drift
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.symbols import Symbol, symbols_by_id

if TYPE_CHECKING:
    from indexer.syntax.tree.shell import Spoken

_SHELLS = tuple(names_of(lambda record: bool(record.runs_words)))
_MAY_BE_MADE = re.compile(rb"[\w.:-]\$[\w{]|\}[\w.:-]")
_MOST_LINES = 20


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each name."""
    asked = [symbol for symbol in uses.symbols if _is_function(index, symbol)]
    if not asked:
        return []
    found: list[Reason] = []
    for symbol in asked:
        places = sorted(_places(index, symbol, uses.scope.text, uses.drift, with_asked=uses.question == "references"))
        kept = [(path, line) for path, line in places if uses.scope.is_asked(path)]
        if kept:
            where = listed([f"{path}:{line + 1}" for path, line in kept[:_MOST_LINES]])
            detail = f"a word that may be run is '{symbol.record.name}', or may become it: {where}; look there"
            found.append(of_paths("shell_word", detail, list(dict.fromkeys(path for path, _ in kept)), len(kept)))
    return found


def concerned(index: Index, ids: Collection[int], drift: Drift) -> set[int]:
    """Those of many symbols of which such a word may be the name."""
    if not _documents(index):
        return set()
    known = symbols_by_id(index, sorted(ids))
    return {
        sym_id
        for sym_id, symbol in known.items()
        if _is_function(index, symbol) and next(iter(_places(index, symbol, lambda path: held_now(index, path), drift)), None) is not None
    }


def _is_function(index: Index, symbol: Symbol) -> bool:
    return bool(record_of(languages_of(index).get(symbol.record.path, "")).runs_words) and symbol.record.kind == "function"


def _places(
    index: Index, symbol: Symbol, read: Callable[[str], bytes | None], drift: Drift, *, with_asked: bool = False
) -> Iterable[tuple[str, int]]:
    """Path and line, 0-based, but for those where an identifier of its name was read, which is resolved or told of elsewhere."""
    name = symbol.record.name
    word = name.encode("utf-8", "surrogatepass")
    moved = {*drift.changed, *drift.new}
    read_at: set[tuple[str, int]] | None = None
    for path in _documents(index):
        text = read(path)
        if text is None or (word not in text and not _MAY_BE_MADE.search(text)):
            continue
        for one in _spoken(index, path, text, is_kept=path not in moved):
            if not (re.fullmatch(one.word, name) if one.is_made else one.word == name) or not _counts(index, one, with_asked=with_asked):
                continue
            if read_at is None:
                read_at = {(at, line) for at, line in index.rows(_READ, [name]) if at not in moved}
            if (path, one.line) not in read_at:
                yield path, one.line


_READ = "SELECT DISTINCT d.path, o.line FROM occ o JOIN document d USING (doc_id) WHERE o.name = ? ORDER BY ALL"


def _counts(index: Index, one: Spoken, *, with_asked: bool) -> bool:
    """Whether a word of a function's name may be run: what is given to programs is not, nor is the first word of a message."""
    match one.way:
        case "asked":
            return with_asked
        case "given":
            return one.is_alone and (one.by == "$" or one.by in _functions(index))
        case "held":
            return one.is_alone or one.is_made or re.search(r"[\w.:-][_.:-]|[a-z][A-Z]", one.word) is not None
        case _:
            return True


def _spoken(index: Index, path: str, text: bytes, *, is_kept: bool) -> list[Spoken]:
    known: dict[str, list[Spoken]] = index.keep("words of shells", dict)
    if path in known and is_kept:
        return known[path]
    from indexer.syntax.tree.shell import spoken  # a question about another language loads no parser

    found = spoken(languages_of(index)[path], path, text)
    if is_kept:
        known[path] = found
    return found


def _documents(index: Index) -> list[str]:
    sql = "SELECT path, language FROM document WHERE status <> 'external' ORDER BY path"

    def look() -> list[str]:
        return [path for path, language in index.rows(sql) if language in _SHELLS]

    paths: list[str] = index.keep("documents of shells", look)
    return paths


def _functions(index: Index) -> frozenset[str]:
    """Names of functions of the workspace's shells, each of which may run what it is given."""

    def look() -> frozenset[str]:
        rows = index.rows(_FUNCTIONS)
        return frozenset(name for name, language in rows if language in _SHELLS)

    known: frozenset[str] = index.keep("functions of shells", look)
    return known


_FUNCTIONS = """
    SELECT DISTINCT s.name, d.language FROM symbol s JOIN document d USING (doc_id)
    WHERE is_callable(s.kind) AND NOT has_flag(s.flags, 'external', 'local')
"""
