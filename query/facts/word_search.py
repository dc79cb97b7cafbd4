"""Symbols by words of plain language: the parts of their names, of what they lie in, of their signatures and their documentation.

A word fits where a part of a name begins with its stem, so `parsing headers` fits `HttpHeaderParser` (ADR 0065). Everything is looked
through at each question, as the index holds no words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

from indexer.model import CALLABLE_KINDS, TYPE_KINDS
from query.facts.index import Index
from query.facts.symbol_search import NameSearch, documents_wanted
from query.facts.symbols import Symbol, symbols_by_id

_MAX_TERMS = 8
_MIN_STEM = 4
_ENDINGS = (
    "ations", "ation", "ions", "ion", "ings", "ing", "ators", "ator", "ers", "er", "ies", "ied", "ed", "es", "s", "e", "y",
)  # fmt: skip
_SMALL_WORDS = """
a all an and any are as at be by can code define defined defines do does find for from function functions get has have how i in into is it
its method methods of on or place symbol that the their this to what when where which who with
"""
_SMALL = frozenset(_SMALL_WORDS.split())
"""Words that say nothing about a symbol; they count where there are no others."""

_NAME_EXACT, _NAME, _AROUND, _SIGNATURE, _DOCUMENTATION = 3.0, 2.2, 1.0, 0.8, 1.2
_IS_AROUND = 2
_SATURATION = 1.2
_USUAL_PARTS = 2.5
_LENGTH = 0.4
_USUAL_SIGNATURE = 60
_ENOUGH = 0.5
_OF_VALUES, _OF_TESTS = 0.85, 0.8


class Term(NamedTuple):
    word: str
    stem: str


class Found(NamedTuple):
    """A symbol with the words that fit it, and the first line of its documentation."""

    symbol: Symbol
    words: tuple[str, ...]
    documentation: str


class WordMatches(NamedTuple):
    """The wanted part, best first; how many fit in all; of how many symbols that were looked through documentation is recorded."""

    found: list[Found]
    total: int
    documented: int
    searched: int


def terms_of(text: str) -> list[Term]:
    """The words of a question, without those that say nothing, in their order; those of a name are taken apart."""
    words = [part.lower() for word in re.findall(r"[^\W_]+", text) for part in _parts(word)]
    telling = [word for word in words if word not in _SMALL] or words
    return [Term(word, _stem(word)) for word in dict.fromkeys(telling)][:_MAX_TERMS]


def _parts(name: str) -> list[str]:
    return re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W_A-Z]+|[A-Z]+", name)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        shortest = _MIN_STEM - (ending == "s")
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            return word[: -len(ending)]
    return word


_CANDIDATES = """
    WITH hit AS (
        SELECT sym_id FROM symbol_name WHERE {in_name}
        UNION SELECT sym_id FROM symbol_text WHERE {in_signature} OR {in_documentation}
    )
    SELECT n.sym_id, n.name, n.kind, n.refs, c.is_test, n.name, c.path || ' ' || c.qualified_head, c.signature,
           coalesce(t.documentation, '')
    FROM hit h JOIN symbol_name n ON n.sym_id = h.sym_id JOIN symbol_card c ON c.sym_id = h.sym_id
    LEFT JOIN symbol_text t ON t.sym_id = h.sym_id WHERE {where} ORDER BY n.sym_id
"""
"""What has the letters of a stem in name, signature or documentation: some hundreds of symbols. Whether they begin a word is seen there.

What is around a symbol makes it fit better, and is not enough alone: a folder called as a word would bring all that is in it.
"""


def _patterns(stem: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How a part of a name begins so (at its start, behind what is no letter, or by a capital), and how a word of prose does."""
    plain, capital = re.escape(stem), re.escape(stem[:1].upper() + stem[1:])
    in_names = re.compile(f"(?:^|[^A-Za-z])(?i:{plain})|{capital}|[a-z0-9]{re.escape(stem.upper())}")
    return in_names, re.compile(rf"\b{plain}", re.IGNORECASE)


def _fits(fields: Sequence[str], lowered: Sequence[str], stem: str, patterns: tuple[re.Pattern[str], re.Pattern[str]]) -> int:
    """1 in the name, 2 in what is around it or in its path, 4 in its signature, 8 in its documentation."""
    found = 0
    for at, field in enumerate(fields):
        if stem in lowered[at] and patterns[at == len(fields) - 1].search(field):
            found |= 1 << at
    return found


def search(index: Index, wanted: NameSearch, terms: Sequence[Term]) -> WordMatches:
    """Symbols that at least half of the words fit, where rare words count more; the best first. Of equals the more used one.

    Args:
        wanted: which symbols, and which part of the list. terms: at least one.
    """
    values: dict[str, Any] = {"external": wanted.external}
    conditions = ["($external OR NOT has_flag(n.flags, 'external'))"]
    if wanted.kinds:
        conditions.append("list_contains($kinds, n.kind)")
        values["kinds"] = list(wanted.kinds)
    if documents := documents_wanted(wanted, values):
        conditions.append(f"n.doc_id IN (SELECT doc_id FROM document WHERE {documents})")
    where = " AND ".join(conditions)
    documented, searched = _counted(index, where, values)
    letters = {
        place: " OR ".join(f"contains({column}, $stem{number})" for number in range(len(terms)))
        for place, column in (("in_name", "lname"), ("in_signature", "lower(signature)"), ("in_documentation", "lower(documentation)"))
    }
    given = values | {f"stem{number}": term.stem for number, term in enumerate(terms)}
    patterns = [_patterns(term.stem) for term in terms]
    rows: list[tuple[Any, ...]] = []
    for *of_symbol, name, around, signature, documentation in index.rows(_CANDIDATES.format(where=where, **letters), given):
        fields = (name, around, signature, documentation)
        lowered = [field.lower() for field in fields]
        fits = [_fits(fields, lowered, term.stem, patterns[number]) for number, term in enumerate(terms)]
        if any(fit & ~_IS_AROUND for fit in fits):
            rows.append((*of_symbol, min(1.0, _USUAL_SIGNATURE / (len(signature) or 1)), *fits))
    ranked = _ranked(rows, terms, searched)
    page = ranked[wanted.offset : wanted.offset + wanted.limit]
    ids = [sym_id for sym_id, _ in page]
    known, texts = symbols_by_id(index, sorted(ids)), _documentation(index, ids)
    found = [Found(known[sym_id], tuple(terms[at].word for at in fitting), texts.get(sym_id, "")) for sym_id, fitting in page]
    return WordMatches(found, len(ranked), documented, searched)


def _counted(index: Index, where: str, values: dict[str, Any]) -> tuple[int, int]:
    row = index.row(
        f"""
        SELECT count(*) FILTER (t.documentation <> ''), count(*)
        FROM symbol_name n LEFT JOIN symbol_text t ON t.sym_id = n.sym_id WHERE {where}
        """,
        values,
    )
    return (int(row[0]), int(row[1])) if row else (0, 0)


def _documentation(index: Index, ids: Sequence[int]) -> dict[int, str]:
    """The first line that says something."""
    sql = "SELECT t.sym_id, t.documentation FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol_text t ON t.sym_id = u.id"
    rows = index.rows(sql, {"ids": list(ids)}) if ids else []
    return {sym_id: next((line.strip() for line in text.split("\n") if line.strip()), "")[:200] for sym_id, text in rows}


def _ranked(rows: Sequence[tuple[Any, ...]], terms: Sequence[Term], searched: int) -> list[tuple[int, list[int]]]:
    """(symbol, numbers of the terms that fit it): as BM25 ranks, over fields of different weight."""
    counts = [sum(1 for row in rows if row[6 + number]) for number in range(len(terms))]
    rarity = [log(1 + (searched - count + 0.5) / (count + 0.5)) for count in counts]
    whole = sum(rarity[number] for number, count in enumerate(counts) if count) or 1.0
    found: list[tuple[float, int, str, int, list[int]]] = []
    for sym_id, name, kind, refs, is_test, brevity, *fits in rows:
        fitting = [number for number, fit in enumerate(fits) if fit]
        share = sum(rarity[number] for number in fitting) / whole
        if share < _ENOUGH and len(fitting) < len(terms):
            continue
        parts = [part.lower() for word in re.findall(r"[^\W_]+", name) for part in _parts(word)]
        length = 1 - _LENGTH + _LENGTH * len(parts) / _USUAL_PARTS
        score = 0.0
        for number in fitting:
            weight = _weight(fits[number], terms[number], parts, length, brevity)
            score += rarity[number] * weight * (_SATURATION + 1) / (weight + _SATURATION)
        score *= share * (1 if kind in CALLABLE_KINDS or kind in TYPE_KINDS else _OF_VALUES) * (_OF_TESTS if is_test else 1)
        found.append((-round(score, 9), -refs, name, sym_id, fitting))
    found.sort()
    return [(sym_id, fitting) for *_, sym_id, fitting in found]


def _weight(fit: int, term: Term, parts: Sequence[str], length: float, brevity: float) -> float:
    weight = 0.0
    if fit & 1:
        is_exact = any(part in (term.word, term.word.removesuffix("s"), f"{term.word}s") for part in parts)
        weight += (_NAME_EXACT if is_exact else _NAME) / length
    for bit, of_field in ((2, _AROUND), (4, _SIGNATURE * brevity), (8, _DOCUMENTATION)):
        weight += of_field if fit & bit else 0.0
    return weight
