"""Strings that a language calls as functions: `'f'`, `'Type::f'`, `[Type::class, 'f']`, `$value->{'on' . $event}()` (ADR 0087).

Nobody resolves them. Where nothing else names a function, each string that is its name counts; where something does, those that stand where
one is called: an argument, or the second of two in a list. The texts are read when somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from indexer.languages import record_of
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import held_now
from query.facts.families import languages_of
from query.facts.freshness import Drift
from query.facts.gaps.uses import Uses, with_types
from query.facts.index import Index
from query.facts.symbols import Symbol, symbols_by_id

_CALLED = frozenset({"function", "method", "class"})
_STRING = re.compile(rb"'((?:[\w\\]*(?:::|@))?[\w\\]{1,200})'|\"((?:[\w\\]*(?:::|@))?[\w\\]{1,200})\"")
_BEGINNING = re.compile(rb"(?:'(\w{2,})'|\"(\w{2,})\")[ \t]*\.|\"(\w{2,})(?:\$|\{\$)|\bsprintf\(\s*['\"](\w{2,})%")
_DYNAMIC = re.compile(
    rb"(?:->|::)[ \t]*(?:\$\w+|\{)[^;\n]{0,200}?\(|\$\w+\(|\bnew[ \t]+\$|\bcall_user_func|\bis_callable|\bmethod_exists|\bfunction_exists"
)
_LAST = re.compile(rb"[\\:@]+")
_AROUND_BEFORE = re.compile(rb"(?:[(,]|\[[^\[\]]{1,100},)\s*\Z")
_AROUND_AFTER = re.compile(rb"\s*(?:[,)]|\])")


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each name."""
    found: list[Reason] = []
    for symbol in with_types(index, uses):
        if not _is_asked(index, symbol):
            continue
        places = sorted({place for place in _places(index, symbol, uses.scope.text) if uses.scope.is_asked(place[0])})
        if places:
            where = listed([f"{path}:{line + 1}" for path, line in places])
            detail = f"a string is '{symbol.record.name}', or the beginning of a name that is made, and may be called: {where}; look there"
            found.append(of_paths("string_called", detail, list(dict.fromkeys(path for path, _ in places)), len(places)))
    return found


def concerned(index: Index, ids: Collection[int], drift: Drift) -> set[int]:
    """Those of many symbols that such a string may name."""
    del drift  # texts are read as they are now
    if not any(record_of(language).calls_strings for language in set(languages_of(index).values())):
        return set()
    known = symbols_by_id(index, sorted(ids))

    held: dict[str, bytes | None] = {}
    calling: dict[str, bool] = {}

    def read(path: str) -> bytes | None:
        if path not in held:
            held[path] = held_now(index, path)
        return held[path]

    return {
        sym_id
        for sym_id, symbol in known.items()
        if _is_asked(index, symbol) and next(_places(index, symbol, read, calling), None) is not None
    }


def _is_asked(index: Index, symbol: Symbol) -> bool:
    language = record_of(languages_of(index).get(symbol.record.path, ""))
    return language.calls_strings and symbol.record.kind in _CALLED and not symbol.is_local


def _places(
    index: Index, symbol: Symbol, read: Callable[[str], bytes | None], calling: dict[str, bool] | None = None
) -> Iterator[tuple[str, int]]:
    """Path and line, 0-based.

    Args:
        calling: of a question about many symbols, by path whether a text calls something dynamic, as far as it is known.
    """
    calling = {} if calling is None else calling
    language = languages_of(index)[symbol.record.path]
    name = symbol.record.name.encode("utf-8", "surrogatepass")
    low = name.lower()  # a language that calls strings tells no capitals apart
    is_used = index.row("SELECT 1 FROM refs WHERE sym_id = ? AND NOT has_role(roles, 'definition') LIMIT 1", [symbol.sym_id]) is not None
    for path, other in sorted(languages_of(index).items()):
        text = read(path) if other == language else None
        if text is None:
            continue
        for match in _STRING.finditer(text) if low in text.lower() else ():
            if _LAST.split(match[1] or match[2])[-1].lower() == low and (not is_used or _is_called(text, match)):
                yield path, text.count(b"\n", 0, match.start())
        if name in text:
            yield from ((path, text.count(b"\n", 0, match.start())) for match in _ANNOTATED.finditer(text) if match[1] == name)
        if path not in calling:
            calling[path] = _DYNAMIC.search(text) is not None
        if calling[path]:
            for match in _BEGINNING.finditer(text):
                if name.startswith(next(filter(None, match.groups()))) and name not in match.groups():
                    yield path, text.count(b"\n", 0, match.start())
            for match in _PART.finditer(text):
                if match[1] in name[1:-1] if match[2] else name.endswith(match[1]):
                    yield path, text.count(b"\n", 0, match.start())
            if symbol.record.kind == "class":
                yield from _made_in_namespace(index, symbol, path, text)


def _made_in_namespace(index: Index, symbol: Symbol, path: str, text: bytes) -> Iterator[tuple[str, int]]:
    """A name that begins with the namespace of the type is put together."""
    own = _NAMESPACE.search(held_now(index, symbol.record.path) or b"")
    if own is None:
        return
    for match in _WITHIN.finditer(text):
        beginning = (match[1] or match[2]).replace(b"\\\\", b"\\").strip(b"\\")
        if own[1] == beginning or own[1].startswith(beginning + b"\\"):
            yield path, text.count(b"\n", 0, match.start())


_ANNOTATED = re.compile(
    rb"^[ \t]*/?\*+[ \t]*@(?:dataProvider|depends|see-callback|callback|uses-callback)[ \t]+(?:[\w\\]+::)?(\w+)", re.MULTILINE
)
_PART = re.compile(rb"\.[ \t]*['\"](\w{4,})['\"](?:[ \t]*(\.))?")
"""A part of a name that is put together, at its end or within; shorter ones stand in names of any kind."""
_WITHIN = re.compile(rb"'((?:\w+\\{1,2})+)'[ \t]*\.|\"((?:\w+\\{1,2})+)(?:\"[ \t]*\.|\$|\{\$)")
_NAMESPACE = re.compile(rb"^[ \t]*namespace[ \t]+([\w\\]+)", re.MULTILINE)


def _is_called(text: bytes, match: re.Match[bytes]) -> bool:
    """Whether a string stands where a function may be given: an argument, the second of two in a list, a type with its member."""
    before = text[max(0, match.start() - 120) : match.start()]
    is_given = _AROUND_BEFORE.search(before) is not None and _AROUND_AFTER.match(text, match.end()) is not None
    return is_given or b"::" in match[0] or b"@" in match[0]
