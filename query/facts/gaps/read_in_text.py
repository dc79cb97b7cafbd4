"""Uses that only the text shows, beside those that other modules look for: types in comments of JavaScript, members of a page by a name
that is made, methods that a tag of Go has an encoder call, keys of a mapping that are parameters, a module whose members are gone through,
and one of two definitions of a name of which each is for another platform (ADR 0110).

Each is looked for where the symbol is one that can be used so, and once for an index where all of its documents have to be read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from indexer.languages import names_of, record_of
from indexer.model import TYPE_KINDS, SymbolFlag
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import held_now, paths_of_language
from query.facts.families import family_of, languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import Scope, scopes
from query.facts.sources import Sources
from query.facts.symbols import Symbol, symbols_by_id

Found = tuple[str, str, list[tuple[str, int]]]
"""Code and words of a reason, and its places: path and line, 0-based."""

_MOST_ABOVE = 400


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each symbol and cause."""
    found: list[Reason] = []
    for symbol in uses.symbols:
        for code, detail, places in _causes(index, symbol, is_named=uses.question == "references"):
            asked = [place for place in places if uses.scope.is_asked(place[0])]
            if asked:
                where = listed([f"{path}:{line + 1}" for path, line in asked])
                found.append(of_paths(code, f"{detail}: {where}; look there", list(dict.fromkeys(path for path, _ in asked)), len(asked)))
    return found


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols of which this may be so."""
    return {
        sym_id
        for sym_id, symbol in symbols_by_id(index, sorted(ids)).items()
        if any(next(_causes(index, symbol, is_named=is_named), None) is not None for is_named in (True, False))
    }


def _causes(index: Index, symbol: Symbol, *, is_named: bool) -> Iterator[Found]:
    record = record_of(languages_of(index).get(symbol.record.path, ""))
    if symbol.record.external or not record.name:
        return
    scope, name = scopes(index, [symbol.sym_id])[symbol.sym_id], symbol.record.name
    family = family_of(index, symbol.record.path)
    if is_named and scope.kind in TYPE_KINDS and (said := _in_comments(index, family).get(name)):
        yield "string_exact", f"a comment gives a value the type '{name}'", said
    if record.page_objects and (made := _by_made_names(index, family)) and _is_of_page(index, symbol, scope, record.page_objects):
        yield "nameless_calls", f"a member of the page is taken by a name that is made, which may be '{name}'", made
    if (word := dict(record.run_by_tags).get(name)) and scope.container is not None:
        kind = scopes(index, [scope.container])[scope.container]
        if told := [place for place, text in _lines_with(index, record.name, word) if re.search(rf"\b{re.escape(kind.name)}\b", text)]:
            yield "nameless_calls", f"a tag has an encoder call '{name}'", told
    is_parameter = record.spreads_mappings and bool(scope.flags & SymbolFlag.PARAMETER)
    if is_parameter and scope.container is not None and (keys := _keys(index, record.name, scope.container, name)):
        yield "string_exact", f"'{name}' is put into a mapping that may be handed on by its keys", keys
    if record.decides_platform and (other := _of_other_platform(index, symbol, scope, record.decides_platform)):
        yield "twin", f"'{name}' has another definition for another platform, which has these uses", other


# ---- JavaScript


_TYPED = re.compile(
    r"@(?:type|param|arg|argument|returns?|property|prop|typedef|extends|augments|implements|this|throws|template|satisfies|enum)\b"
)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_COMMENT = re.compile(r"/\*\*.*?\*/", re.DOTALL)


def _in_comments(index: Index, family: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """By word where it stands in the type of a comment, `@param {Map<string, Item>}`; read once per index."""

    def look() -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        for language in names_of(lambda record: record.types_in_comments):
            for path in paths_of_language(index, language) if language in family else ():
                text = _text(index, path)
                for comment in _COMMENT.finditer(text) if "@" in text else ():
                    for tag in _TYPED.finditer(comment[0]):
                        at = comment[0].find("{", tag.end(), tag.end() + 3)
                        for word in _WORD.finditer(comment[0], at + 1, _closing(comment[0], at)) if at >= 0 else ():
                            found.setdefault(word[0], []).append((path, text.count("\n", 0, comment.start() + word.start())))
        return found

    known: dict[str, list[tuple[str, int]]] = index.keep(f"types in comments {family}", look)
    return known


def _closing(text: str, start: int) -> int:
    """Where the brace ends that begins here; the text's end where it does not."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return at
    return len(text)


def _by_made_names(index: Index, family: Sequence[str]) -> list[tuple[str, int]]:
    """Where a member of the page is taken by a name that is no text; read once per index."""

    def look() -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for record in map(record_of, family):
            if record.page_objects:
                pattern = re.compile(rf"(?<![\w$.])(?:{'|'.join(sorted(record.page_objects))})\s*(?:\?\.)?\[\s*(?![\"'\]\d])")
                for path in paths_of_language(index, record.name):
                    text = _text(index, path)
                    found += [(path, text.count("\n", 0, match.start())) for match in pattern.finditer(text)]
        return found

    known: list[tuple[str, int]] = index.keep(f"members of the page {family}", look)
    return known


def _is_of_page(index: Index, symbol: Symbol, scope: Scope, objects: Collection[str]) -> bool:
    """Whether it is made as a member of the page, `window.open = …`."""
    text = _sources(index).line(symbol.record.path, scope.line)
    return re.search(rf"(?<![\w$.])(?:{'|'.join(sorted(objects))})\.{re.escape(symbol.record.name)}\s*=(?!=)", text) is not None


# ---- Go


def _lines_with(index: Index, language: str, word: str) -> list[tuple[tuple[str, int], str]]:
    """The lines of a language that have a word, with their places; read once per index."""

    def look() -> list[tuple[tuple[str, int], str]]:
        texts = ((path, _text(index, path)) for path in paths_of_language(index, language))
        return [((path, n), line) for path, text in texts if word in text for n, line in enumerate(text.split("\n")) if word in line]

    known: list[tuple[tuple[str, int], str]] = index.keep(f"lines of {language} with {word}", look)
    return known


# ---- Python

_CALLED = """
    SELECT DISTINCT d.path, r.line FROM refs r JOIN document d USING (doc_id)
    WHERE r.sym_id = $id AND has_role(r.roles, 'call') ORDER BY ALL
"""
_SPREAD = re.compile(r"(?<![*\w)\]])\*\*\s*[\w{(]")


def _keys(index: Index, language: str, function: int, name: str) -> list[tuple[str, int]]:
    """Keys of mappings that are called like a parameter of a function that is given some mapping by `**`."""
    calls = index.rows(_CALLED, {"id": function})
    if not any(_SPREAD.search(_sources(index).line(path, line)) for path, line in calls):
        return []
    word = re.escape(name)
    key = re.compile(rf"(?:[\[{{(,]\s*)([\"']){word}\1\s*(?:\]\s*=(?!=)|:|,)|\b(?:update|dict)\([^()]*\b{word}\s*=(?!=)")
    found: list[tuple[str, int]] = []
    for path in paths_of_language(index, language):
        text = _text(index, path)
        found += [(path, text.count("\n", 0, match.start())) for match in key.finditer(text)] if name in text else []
    return found


_TWINS = """
    SELECT list(s.sym_id ORDER BY s.sym_id) FROM symbol s WHERE s.doc_id = $doc
    GROUP BY s.container_id, s.name HAVING count(*) > 1 AND bool_or(is_callable(s.kind) OR is_type(s.kind))
"""
_MEMBERS = "SELECT sym_id FROM symbol WHERE container_id = $id AND name = $name ORDER BY ALL"
_USED_AT = """
    SELECT DISTINCT d.path, r.line FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    JOIN document d USING (doc_id)
    WHERE NOT has_role(r.roles, 'definition', 'import') ORDER BY ALL
"""


def _of_other_platform(index: Index, symbol: Symbol, scope: Scope, decides: str) -> list[tuple[str, int]]:
    """Uses of what has the name of this symbol, or of its type, and is defined beside it for another platform."""
    twins_of = _twins(index, scope.doc_id)
    ids = {*twins_of.get(symbol.sym_id, ())}
    line = scope.line
    if not ids and scope.container is not None:
        twins = twins_of.get(scope.container, ())
        ids = {found for twin in twins for (found,) in index.rows(_MEMBERS, {"id": twin, "name": symbol.record.name})}
        line = scopes(index, [scope.container])[scope.container].line
    if not ids or not _is_for_platform(_sources(index).lines(symbol.record.path) or [], line, re.compile(decides)):
        return []
    return [(path, at) for path, at in index.rows(_USED_AT, {"ids": sorted(ids)})]


def _twins(index: Index, doc_id: int) -> dict[int, list[int]]:
    """Of the symbols of a document those that have their name and their container; read once per document."""

    def look() -> dict[int, list[int]]:
        groups = [ids for (ids,) in index.rows(_TWINS, {"doc": doc_id})]
        return {sym_id: [other for other in ids if other != sym_id] for ids in groups for sym_id in ids}

    known: dict[int, list[int]] = index.keep(f"twins {doc_id}", look)
    return known


def _is_for_platform(lines: Sequence[bytes], line: int, decides: re.Pattern[str]) -> bool:
    """Whether a line stands below a condition about the platform, or below the `else` of one."""
    texts = [text.decode("utf-8", "replace") for text in lines[max(0, line - _MOST_ABOVE) : line + 1]]
    is_else = False
    width = len(texts[-1]) - len(texts[-1].lstrip()) if texts else 0
    for text in reversed(texts[:-1]):
        own = len(text) - len(text.lstrip())
        if not text.strip() or own > width or (own == width and not is_else):
            continue
        head = text.strip()
        if head.startswith(("if ", "elif ")) and decides.search(head):
            return True
        is_else = head.startswith(("else", "elif "))
        width = own
    return False


# ---- texts


def _text(index: Index, path: str) -> str:
    return (held_now(index, path) or b"").decode("utf-8", "replace")


def _sources(index: Index) -> Sources:
    known: Sources = index.keep("sources of texts", lambda: Sources(index))
    return known
