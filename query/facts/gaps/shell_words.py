"""Words of a shell that are a function's name where nothing calls it by the look of it: texts that are run, values, arguments (ADR 0087).

`trap 'stop; exit' INT`, `cmd=stop; "$cmd"`, `run stop`, `hook_$1`. The texts are read when somebody asks. A value counts where a
variable that it gets to is run somewhere, an argument where the function that is given it runs something that is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
    name, moved = symbol.record.name, frozenset((*drift.changed, *drift.new))
    yield from _listed(index, name, read)
    yield from _by_command_line(index, symbol, read, moved)
    found = [
        (path, one)
        for path, words in _texts(
            index, [path for path in _documents(index) if _may_have(index, path, name, read, moved)], read, moved
        ).items()
        for one in words.spoken
        if (re.fullmatch(one.word, name) if one.is_made else one.word == name) and (with_asked or one.way != "asked")
    ]
    if not found:
        return
    read_at = {(path, line) for path, line in index.rows(_READ, [name]) if path not in moved}
    found = [(path, one) for path, one in found if (path, one.line) not in read_at]
    if all(one.way in ("run", "asked") for _, one in found):
        yield from ((path, one.line) for path, one in found)
        return
    everything = _texts(index, _documents(index), read, moved)
    run = _known_run(index, everything, moved)
    yield from ((path, one.line) for path, one in found if _counts(path, one, run))


_LISTED = re.compile(
    rb"\bcompgen[ \t]+-A[ \t]+function(?:[ \t]+[\"']?(?P<start>[\w.:-]+))?"
    rb"|\b(?:declare|typeset)[ \t]+-F[ \t]*[|)](?:[^\n]*\^(?:declare -f )?(?P<begin>[\w.:-]+))?"
    rb"|\b(?:declare|typeset)[ \t]+-f[ \t]+(?P<name>[\w.:-]+)"
)
"""Functions are listed, or the text of one is printed: what gets them may run them."""


def _listed(index: Index, name: str, read: Callable[[str], bytes | None]) -> Iterator[tuple[str, int]]:
    word = name.encode("utf-8", "surrogatepass")
    for path in _documents(index):
        text = read(path) or b""
        for match in _LISTED.finditer(text) if b"compgen" in text or b" -F" in text or b" -f " in text else ():
            fits = word == match["name"] if match["name"] else word.startswith(match["start"] or match["begin"] or b"")
            if fits and (match["name"] is None or text[: match.start()].rstrip(b' \t"').endswith((b"$(", b"`"))):
                yield path, text.count(b"\n", 0, match.start())


def _by_command_line(
    index: Index, symbol: Symbol, read: Callable[[str], bytes | None], moved: Collection[str]
) -> Iterator[tuple[str, int]]:
    """A script that runs what it is given runs any function that it defines, or that is defined in what it takes in."""
    for path in _documents(index):
        text = read(path)
        if text is None or not _POSITIONALS.search(text):
            continue
        file = symbol.record.path.rpartition("/")[2].encode("utf-8", "surrogatepass")
        if path != symbol.record.path and not (file in text and _TAKES_IN.search(text)):
            continue
        everything = _texts(index, _documents(index), read, moved)
        run = _known_run(index, everything, moved)
        lines = text.split(b"\n")
        words = everything[path].running
        at = {line for line, name in words.variables if _POSITIONAL.fullmatch(name) and run.around(path, line) == path}
        at |= {line for line, name in words.variables if run.around(path, line) == path and (path, name) in run.given}
        at |= {
            line for line, by, name in words.given if by in run.functions and _POSITIONAL.fullmatch(name) and run.around(path, line) == path
        }
        yield from ((path, line) for line in sorted(at) if line < len(lines) and not _REPLACED.search(lines[line]))


_POSITIONALS = re.compile(rb"\$(?:\{?[@*1-9])")
_TAKES_IN = re.compile(rb"(?:^|[\s;&|])(?:\.|source)[ \t]", re.MULTILINE)
_REPLACED = re.compile(rb"\bexec\b")
"""`exec` runs programs, and no functions."""

_BEGINNING = re.compile(rb"([\w.:+@-]{2,})[\"']?\$")
_END = re.compile(rb"(?:\}[\"']?|\$\w+[\"'])([\w.:+@-]{2,})")


def _may_have(index: Index, path: str, name: str, read: Callable[[str], bytes | None], moved: Collection[str]) -> bool:
    """Whether a text has the name, or a part of it beside what is expanded; it is not parsed for that."""
    text = read(path)
    if text is None or (word := name.encode("utf-8", "surrogatepass")) in text:
        return text is not None
    known: dict[str, tuple[tuple[bytes, ...], tuple[bytes, ...]]] = index.keep("parts of words of shells", dict)
    parts = known.get(path) if path not in moved else None
    if parts is None:
        known[path] = parts = (tuple(set(_BEGINNING.findall(text))), tuple(set(_END.findall(text))))
    return word.startswith(parts[0]) or word.endswith(parts[1])


_READ = "SELECT DISTINCT d.path, o.line FROM occ o JOIN document d USING (doc_id) WHERE o.name = ? ORDER BY ALL"


def _counts(path: str, one: Spoken, run: _Run) -> bool:
    """Whether a word of a function's name may be run: not what programs are given, nor the first word of a message."""
    match one.way:
        case "given" if one.by in _PRINTERS and run.prints(path, one.line):
            return True
        case "given":
            return one.by == "$" or (one.by in run.functions and (one.is_alone or _is_unlike_words(one.word)))
        case "held":
            return run.holds(path, one.line, one.by) and (one.is_alone or one.is_made or _is_unlike_words(one.word))
        case _:
            return True


def _is_unlike_words(word: str) -> bool:
    return re.search(r"\w[_.:-]|[a-z][A-Z]", word) is not None


class _Run(NamedTuple):
    """What may hold a name that is run.

    functions: those that run what they are given. given: variables outside of functions that have what their script was given.
    variables: with the function that sets them, or with none where that may be anywhere.
    """

    functions: frozenset[str]
    variables: frozenset[tuple[str, str]]
    extents: Mapping[str, Sequence[tuple[str, int, int]]]
    given: frozenset[tuple[str, str]] = frozenset()

    def around(self, path: str, line: int) -> str:
        """The innermost function around a line, with its path."""
        within = [(first, name) for name, first, last in self.extents.get(path, ()) if first <= line <= last]
        return f"{path} {max(within)[1]}" if within else path

    def holds(self, path: str, line: int, variable: str) -> bool:
        place = self.around(path, line)
        return bool(self.variables & {(place, variable), ("", variable), (place, "!")})

    def prints(self, path: str, line: int) -> bool:
        """Whether what the function around a line prints is run."""
        place = self.around(path, line)
        return ("", f"$({place.partition(' ')[2]})") in self.variables


_PRINTERS = frozenset({"echo", "printf", "print"})
_POSITIONAL = re.compile(r"[@*]|\d+")


def _known_run(index: Index, texts: Mapping[str, Words], moved: Collection[str]) -> _Run:
    if moved:
        return _run(index, texts)
    known: _Run = index.keep("what shells run", lambda: _run(index, texts))
    return known


def _run(index: Index, texts: Mapping[str, Words]) -> _Run:
    """Variables whose values get to a place where they are run.

    A variable that a function sets is its own; one that it does not set may have been set anywhere, for shells share them.
    """
    found = _Run(frozenset(), frozenset(), _functions(index))
    flows = {(found.around(path, line), *rest) for path, words in texts.items() for line, *rest in words.running.flows}
    given = {(found.around(path, line), *rest) for path, words in texts.items() for line, *rest in words.running.given}
    own = {(place, target) for place, target, _ in flows}

    def key(place: str, variable: str) -> tuple[str, str]:
        if _POSITIONAL.fullmatch(variable):
            return place, "@"
        return (place if variable == "!" or (place, variable) in own else ""), variable

    variables = {key(found.around(path, line), name) for path, words in texts.items() for line, name in words.running.variables}
    known, functions = -1, frozenset[str]()
    while known != len(variables):
        known = len(variables)
        functions = frozenset(place.partition(" ")[2] for place, name in variables if name == "@" and " " in place)
        variables |= {
            key(place, source) for place, target, source in flows if source and ((place, target) in variables or ("", target) in variables)
        }
        variables |= {key(place, variable) for place, command, variable in given if command in functions}
    outside = {(place, target) for place, target, source in flows if " " not in place and _POSITIONAL.fullmatch(source)}
    return _Run(functions, frozenset(variables), found.extents, frozenset(outside))


def _texts(index: Index, paths: Iterable[str], read: Callable[[str], bytes | None], moved: Collection[str]) -> dict[str, Words]:
    """What documents say now; those that are as they were are read once."""
    from indexer.syntax.tree.shell import words_of  # a question about another language loads no parser

    known: dict[str, Words] = index.keep("words of shells", dict)
    found: dict[str, Words] = {}
    for path in paths:
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
