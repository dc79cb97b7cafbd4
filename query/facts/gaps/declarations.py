"""Files of declarations beside files of code: what `x.js` defines and `x.d.ts` declares are two symbols, and users name one of them.

Servers lead an import of a package to its declarations, where it has some. So an implementation's uses are those within its own package,
and the others are those of its declaration.
"""

from __future__ import annotations

import re

from indexer.languages import record_of
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.answers.style import count
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index

_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$")
_CODE = re.compile(r"\.[cm]?jsx?$")
"""What may have a file of declarations beside it: of all others nothing is asked, and a certificate costs a quarter less."""

_DECLARED = r"""
    SELECT m.qualified_name, used.path, count(*)
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
    JOIN document own ON own.doc_id = s.doc_id AND regexp_matches(own.path, '\.[cm]?jsx?$')
    LEFT JOIN symbol c ON c.sym_id = s.container_id
    JOIN symbol m ON m.name = s.name AND NOT has_flag(m.flags, 'external', 'local', 'parameter')
    JOIN document d ON d.doc_id = m.doc_id AND regexp_matches(d.path, '\.d\.[cm]?ts$')
    LEFT JOIN symbol b ON b.sym_id = m.container_id
    JOIN refs r ON r.sym_id = m.sym_id AND r.doc_id <> m.doc_id AND NOT has_role(r.roles, 'definition')
    JOIN document used ON used.doc_id = r.doc_id
    WHERE NOT has_flag(s.flags, 'external', 'local', 'parameter')
      AND coalesce(is_type(c.kind), false) = coalesce(is_type(b.kind), false) AND (NOT coalesce(is_type(c.kind), false) OR c.name = b.name)
    GROUP BY ALL ORDER BY ALL
"""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One reason for all of the symbols whose declarations have users of their own, and one for those that a linker may take for others."""
    return [*_declared(index, uses), *_linked(index, uses), *_of_other_languages(index, uses)]


_IN_OTHER_LANGUAGES = r"""
    SELECT DISTINCT u.name, d.path, d.language
    FROM (SELECT DISTINCT s.name, own.language
          FROM (SELECT unnest($ids::INTEGER[]) AS id) i JOIN symbol s ON s.sym_id = i.id JOIN document own ON own.doc_id = s.doc_id) a
    JOIN occ u ON u.name = a.name
    JOIN document d ON d.doc_id = u.doc_id AND d.status <> 'external' AND d.language <> a.language AND language_has(d.language, 'calls_c')
      AND NOT regexp_matches(d.path, '\.(?:h|hh|hpp|hxx|inl|inc)$')
    WHERE u.sym_id IS NULL OR NOT list_contains($ids::INTEGER[], u.sym_id)
    ORDER BY ALL
"""


def _of_other_languages(index: Index, uses: Uses) -> list[Reason]:
    """A function or a variable of C or C++ that another language declares for itself: a linker knows both by the name alone."""
    asked = [
        symbol
        for symbol in uses.symbols
        if symbol.record.kind in ("function", "variable", "constant")
        and record_of(languages_of(index).get(symbol.record.path, "")).preprocessed
        and not re.search(r"\bstatic\b", symbol.record.signature or "")
    ]
    languages = set(languages_of(index).values())
    others = [language for language in languages if record_of(language).calls_c]
    if not asked or (len(others) < 2 and not set(others) - {languages_of(index).get(symbol.record.path, "") for symbol in asked}):
        return []
    found: dict[str, set[str]] = {}
    for name, path, language in index.rows(_IN_OTHER_LANGUAGES, {"ids": [symbol.sym_id for symbol in asked]}):
        text = uses.scope.text(path)
        pattern = record_of(language).calls_c.replace("NAME", re.escape(name)).encode()
        if uses.scope.is_asked(path) and (text is None or re.search(pattern, text)):
            found.setdefault(name, set()).add(path)
    if not found:
        return []
    paths = sorted({path for places in found.values() for path in places})
    names = listed(sorted(f"'{name}'" for name in found))
    detail = (
        f"{names} stands in sources of another language, which may mean it by the name that a linker knows: {listed(paths)}; look there"
    )
    return [of_paths("declaration", detail, paths, len(paths))]


_OTHER_DEFINITIONS = """
    SELECT s.name, d.path, used.path, count(*)
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN document own ON own.doc_id = s.doc_id
    JOIN symbol_text st ON st.sym_id = s.sym_id
    JOIN symbol m ON m.name = s.name AND m.doc_id <> s.doc_id AND is_kind(m.kind, 'function') AND NOT has_flag(m.flags, 'external', 'local')
    JOIN symbol_text mt ON mt.sym_id = m.sym_id
    JOIN document d ON d.doc_id = m.doc_id AND d.language = own.language
    JOIN refs r ON r.sym_id = m.sym_id AND NOT has_role(r.roles, 'definition')
    JOIN document used ON used.doc_id = r.doc_id
    WHERE is_kind(s.kind, 'function') AND s.name <> 'main' AND NOT regexp_matches(coalesce(st.signature, ''), $own)
      AND NOT regexp_matches(coalesce(mt.signature, ''), $own) AND (used.doc_id <> m.doc_id OR contains(mt.signature, 'weak'))
    GROUP BY ALL ORDER BY ALL
"""
_OWN = r"^#|\bstatic\b|\binline\b"
"""Macros, and functions that no linker knows by their names."""


def _linked(index: Index, uses: Uses) -> list[Reason]:
    """A function of C of whose name another file defines one, too: which of both a program gets is told where it is linked."""
    asked = [symbol.sym_id for symbol in uses.symbols if symbol.record.kind == "function" and _links_by_name(index, symbol.record.path)]
    rows = index.rows(_OTHER_DEFINITIONS, {"ids": asked, "own": _OWN}) if asked else []
    if not rows:
        return []
    total = sum(number for *_, number in rows)
    names, others = sorted({f"'{name}'" for name, *_ in rows}), sorted({other for _, other, _, _ in rows})
    detail = f"{listed(names)} is defined in {listed(others)}, too: {count(total, 'use')} of that may end here, as a linker says"
    return [of_paths("declaration", detail, sorted({path for _, _, path, _ in rows}), total)]


def _links_by_name(index: Index, path: str) -> bool:
    """Whether functions of its language are known to a linker by their names alone."""
    language = record_of(languages_of(index).get(path, ""))
    return language.preprocessed and not language.constructs_by_type


def _declared(index: Index, uses: Uses) -> list[Reason]:
    if not any(_CODE.search(symbol.record.path) for symbol in uses.symbols):
        return []
    if not index.keep("files of declarations", lambda: any(_DECLARATIONS.search(path) for path in languages_of(index))):
        return []
    rows = index.rows(_DECLARED, {"ids": uses.ids})
    if not rows:
        return []
    total = sum(number for *_, number in rows)
    names = listed(list(dict.fromkeys(name for name, _, _ in rows)))
    detail = f"{count(total, 'use')} of what declares it for others, which may mean it too: {names}; ask about that as well"
    return [of_paths("declaration", detail, sorted({path for _, path, _ in rows}))]
