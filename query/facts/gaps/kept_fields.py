"""Fields that a library keeps because a decorator stands before them, as those of entities, and that texts name after that.

`@Column() created: Date` is `orderBy("article.created")` in a query, `rejectValue("lastName", …)` for a form, and `findByLastName` in the
name of a method that the library writes. No identifier stands for the field there, so no server resolves it and no rename changes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from indexer.languages import record_of
from indexer.model import SymbolFlag, SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.decorators import keeping
from query.facts.documents import documents, paths_of_language
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import scopes

CODE = "string_member"

_FIELDS = frozenset({SymbolKind.FIELD, SymbolKind.PROPERTY})
_TEXT = r"(?P<quote>[\"'`])(?:{name}(?P=quote)|(?:(?!(?P=quote))[^\n])*?(?<=\w)\.{name}(?!\w))"
"""A string that is the name, or has it behind a dot."""

_ASKED_FOR = """
    SELECT m.name, d.path, m.sel_line FROM symbol m JOIN symbol c ON c.sym_id = m.container_id AND is_kind(c.kind, 'interface')
    JOIN document d ON d.doc_id = m.doc_id
    WHERE d.status <> 'external' AND d.language = $language AND is_kind(m.kind, 'method') AND regexp_matches(m.name, $pattern) ORDER BY ALL
"""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each field."""
    found: list[Reason] = []
    names = {symbol.sym_id: symbol.record.name for symbol in uses.symbols}
    for sym_id, (decorator, language) in _kept(index, names).items():
        places = sorted({*_in_texts(index, language, names[sym_id], uses.scope.text), *_in_methods(index, language, names[sym_id])})
        asked = [place for place in places if uses.scope.is_asked(place[0])]
        if asked:
            where = listed([f"{path}:{line + 1}" for path, line in asked])
            detail = (
                f"'{decorator}' stands before '{names[sym_id]}', and texts may name it to the library that keeps it: {where}; look there"
            )
            found.append(of_paths(CODE, detail, list(dict.fromkeys(path for path, _ in asked)), len(asked)))
    return found


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols that a library may read or write by their names."""
    return {*_kept(index, ids)}


def _kept(index: Index, ids: Collection[int]) -> dict[int, tuple[str, str]]:
    """By field the name of the decorator that keeps it, and the language."""
    known = scopes(index, ids)
    fields = [sym_id for sym_id in sorted(ids) if known[sym_id].kind in _FIELDS and not known[sym_id].flags & SymbolFlag.EXTERNAL]
    docs = documents(index, {known[sym_id].doc_id for sym_id in fields})
    fields = [sym_id for sym_id in fields if record_of(docs[known[sym_id].doc_id].language).keeps_fields]
    kept = keeping(index, fields) if fields else {}
    meanings = scopes(index, {item.meaning for item in kept.values() if item.meaning is not None})
    return {
        sym_id: (item.name, docs[known[sym_id].doc_id].language)
        for sym_id, item in kept.items()
        if item.meaning is None or meanings[item.meaning].flags & SymbolFlag.EXTERNAL
    }


def _in_texts(index: Index, language: str, name: str, read: Callable[[str], bytes | None]) -> Iterator[tuple[str, int]]:
    word, text = name.encode("utf-8", "surrogatepass"), re.compile(_TEXT.format(name=re.escape(name)))
    paths: list[str] = index.keep(f"documents of {language}", lambda: paths_of_language(index, language))
    for path in paths:
        content = read(path) or b""
        if word not in content:
            continue
        for line, said in enumerate(content.split(b"\n")):
            if word in said and text.search(said.decode("utf-8", "replace")):
                yield path, line


def _in_methods(index: Index, language: str, name: str) -> Iterator[tuple[str, int]]:
    """Methods of interfaces that the library writes by what their names ask for."""
    asked = record_of(language).asked_by_name
    if asked:
        pattern = asked.replace("NAME", re.escape(name[:1].upper() + name[1:]))
        for _, path, line in index.rows(_ASKED_FOR, {"language": language, "pattern": pattern}):
            yield path, line
