"""Words of a shell that are a function's name where nothing calls it by the look of it: texts that are run, values, arguments (ADR 0087).

`trap 'stop; exit' INT`, `cmd=stop; "$cmd"`, `run stop`, `hook_$1`. The texts are read when somebody asks. A value counts where a
variable that it gets to is run somewhere, an argument where the function that is given it runs something that is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

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
    from indexer.syntax.tree.shell import Spoken, Words

_SHELLS = tuple(names_of(lambda record: bool(record.runs_words)))
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
    texts = _texts(index, read, drift)
    found = [
        (path, one)
        for path, words in texts.items()
        for one in words.spoken
        if (re.fullmatch(one.word, name) if one.is_made else one.word == name)
    ]
    if not found:
        return
    moved = {*drift.changed, *drift.new}
    read_at = {(path, line) for path, line in index.rows(_READ, [name]) if path not in moved}
    run = _run(index, texts) if moved else index.keep("what shells run", lambda: _run(index, texts))
    yield from ((path, one.line) for path, one in found if (path, one.line) not in read_at and _counts(one, run, with_asked=with_asked))


_READ = "SELECT DISTINCT d.path, o.line FROM occ o JOIN document d USING (doc_id) WHERE o.name = ? ORDER BY ALL"


def _counts(one: Spoken, run: _Run, *, with_asked: bool) -> bool:
    """Whether a word of a function's name may be run: not what programs are given, nor the first word of a message."""
    match one.way:
        case "asked":
            return with_asked
        case "given":
            return one.by == "$" or (one.by in run.functions and (one.is_alone or _is_unlike_words(one.word)))
        case "held":
            return (one.by in run.variables or "!" in run.variables) and (one.is_alone or one.is_made or _is_unlike_words(one.word))
        case _:
            return True


def _is_unlike_words(word: str) -> bool:
    return re.search(r"\w[_.:-]|[a-z][A-Z]", word) is not None


class _Run(NamedTuple):
    """What may hold a name that is run: functions that run what they are given, variables."""

    functions: frozenset[str]
    variables: frozenset[str]


def _run(index: Index, texts: Mapping[str, Words]) -> _Run:
    """Variables whose values get to a place where they are run, whichever file that is in: shells share them."""
    functions: set[str] = set()
    extents = _functions(index)
    around = {
        (path, line): {name for name, first, last in extents.get(path, ()) if first <= line <= last}
        for path, words in texts.items()
        for line in {*words.running.lines, *(line for line, *_ in words.running.given)}
    }
    for path, words in texts.items():
        functions.update(name for line in words.running.lines for name in around[path, line])
    variables = {name for words in texts.values() for name in words.running.variables}
    flows = {flow for words in texts.values() for flow in words.running.flows}
    given = {(path, *one) for path, words in texts.items() for one in words.running.given}
    known = -1
    while known != len(functions) + len(variables):
        known = len(functions) + len(variables)
        variables |= {source for target, source in flows if target in variables}
        for path, line, command, variable in given:
            if command in functions:
                variables.add(variable)
                functions |= around[path, line]
    return _Run(frozenset(functions), frozenset(variables))


def _texts(index: Index, read: Callable[[str], bytes | None], drift: Drift) -> dict[str, Words]:
    """What each document says now; those that are as they were are read once."""
    from indexer.syntax.tree.shell import words_of  # a question about another language loads no parser

    known: dict[str, Words] = index.keep("words of shells", dict)
    moved = {*drift.changed, *drift.new}
    found: dict[str, Words] = {}
    for path in _documents(index):
        if path in known and path not in moved:
            found[path] = known[path]
        elif (text := read(path)) is not None:
            found[path] = words_of(languages_of(index)[path], path, text)
    known.update({path: words for path, words in found.items() if path not in moved})
    return found


def _documents(index: Index) -> list[str]:
    sql = "SELECT path, language FROM document WHERE status <> 'external' ORDER BY path"

    def look() -> list[str]:
        return [path for path, language in index.rows(sql) if language in _SHELLS]

    paths: list[str] = index.keep("documents of shells", look)
    return paths


def _functions(index: Index) -> dict[str, list[tuple[str, int, int]]]:
    """By path the functions, with their first and last lines, 0-based."""

    def look() -> dict[str, list[tuple[str, int, int]]]:
        found: dict[str, list[tuple[str, int, int]]] = {}
        for path, language, name, first, last in index.rows(_FUNCTIONS):
            if language in _SHELLS:
                found.setdefault(path, []).append((name, first, last))
        return found

    known: dict[str, list[tuple[str, int, int]]] = index.keep("functions of shells", look)
    return known


_FUNCTIONS = """
    SELECT d.path, d.language, s.name, s.start_line, s.end_line FROM symbol s JOIN document d USING (doc_id)
    WHERE is_callable(s.kind) AND NOT has_flag(s.flags, 'external') ORDER BY ALL
"""
