"""Modules that are handed over, kept or given back as values: whoever gets one may call what it defines, by names that stand elsewhere.

`register(tools)`, `lazy(() => import("./Panel"))`, `{ ...tools }`. Where a member is taken of the module, or a test replaces one, nothing
is hidden; a module that is named by a string only is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from indexer.languages import record_of
from indexer.text import utf16_to_index
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.answers.style import count
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.sources import Sources

_AS_VALUES = """
    SELECT r.sym_id, d.path, d.language, r.line, r.col, has_role(r.roles, 'mention')
    FROM symbol m JOIN refs r USING (sym_id) JOIN document d ON d.doc_id = r.doc_id
    WHERE is_kind(m.kind, 'module') AND NOT has_flag(m.flags, 'external') AND r.doc_id <> m.doc_id
      AND language_has(d.language, 'modules_are_values')
      AND (has_role(r.roles, 'read')
             AND NOT has_role(r.roles, 'call', 'confined', 'decorator', 'definition', 'delete', 'import', 'keyword', 'mention', 'supertype',
                              'write', 'annotation', 'path')
           OR is_evidence(r.evidence, 'string') AND has_role(r.roles, 'mention') AND NOT has_role(r.roles, 'read', 'import', 'path'))
    ORDER BY ALL
"""
_DEFINED = """
    SELECT s.sym_id, m.sym_id, s.name
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN symbol m ON m.sym_id = s.container_id
    WHERE is_kind(m.kind, 'module') AND has_flag(s.flags, 'exported') AND (is_callable(s.kind) OR is_type(s.kind)) ORDER BY ALL
"""

_GIVEN_TO = re.compile(r"([\w$]+)\s*\((?:[^()]*,)?\s*$")
_MEMBER = re.compile(r"[\w$]+\s*\??\.(?!\.)")
"""Where a text is broken, nobody says that a member is taken."""

_ALL_TAKEN = re.compile(r"[\w$]+(?:\.[\w$]+)*\.__dict__\b(?!\s*\[\s*[\"'])")

_MOST_AROUND = 200
"""Characters that are looked at on either side."""

_IMPORTED = re.compile(r"(?:^|[^\w$.])(?P<before>.*?)(?P<by>import|require)\s*\(\s*['\"]$", re.DOTALL)
_HANDED = re.compile(r"(?:[(,\[?:]|=>|\breturn|\.\.\.)\s*$")
_TAKEN = re.compile(r"[^'\"]*['\"]\s*\)\s*(?:\)*\s*\.|\[|\()")


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One reason for all of the symbols whose modules are handed over; of a list of what names them nothing is missing."""
    if uses.question != "callers":
        return []
    found = [(place, name) for name, places in _of(index, uses.ids) for place in places]
    if not found:
        return []
    places, names = sorted({place for place, _ in found}), sorted({f"'{name}'" for _, name in found})
    where = listed([f"{path}:{line + 1}" for path, line in places])
    detail = (
        f"the module of {listed(names)} is used as a value at {count(len(places), 'place')}, and whoever gets it there may call it: {where}"
    )
    return [of_paths("escapes", detail, list(dict.fromkeys(path for path, _ in places)), len(places))]


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols whose modules are handed over."""
    return {sym_id for sym_id, *_ in _defined(index, ids)}


def _of(index: Index, ids: Collection[int]) -> list[tuple[str, list[tuple[str, int]]]]:
    handed = _handed(index)
    return [(name, handed[module]) for _, module, name in _defined(index, ids)]


def _defined(index: Index, ids: Collection[int]) -> list[tuple[int, int, str]]:
    """Symbol, module and name of those at the top of a module that is handed over, as far as others see them."""
    handed = _handed(index)
    return [row for row in index.rows(_DEFINED, {"ids": sorted(ids)}) if row[1] in handed] if handed and ids else []


def _handed(index: Index) -> dict[int, list[tuple[str, int]]]:
    """By module where it is used as a value: path and line, 0-based. Read once per index."""
    found: dict[int, list[tuple[str, int]]] = index.keep("modules as values", lambda: _read(index))
    return found


def _read(index: Index) -> dict[int, list[tuple[str, int]]]:
    sources = Sources(index)
    found: dict[int, list[tuple[str, int]]] = {}
    for module, path, language, line, col, is_mention in index.rows(_AS_VALUES):
        lines = sources.lines(path)
        looking = record_of(language).looks_at_modules
        if lines is None or line >= len(lines) or _is_kept(lines, line, col, looking, is_mention=is_mention):
            found.setdefault(module, []).append((path, line))
    for module, path, line in index.rows(_WALKED):
        if _WALK.search(sources.line(path, line)):
            found.setdefault(module, []).append((path, line))
    for module, path, name, line in index.rows(_TAKEN_WHOLE):
        if re.search(
            rf"(?<![\w.]){re.escape(name)}\.__dict__\b(?!\s*\[\s*[\"'])|\b(?:vars|getmembers)\(\s*{re.escape(name)}\s*[,)]",
            sources.line(path, line),
        ):
            found.setdefault(module, []).append((path, line))
    return found


_TAKEN_WHOLE = """
    SELECT DISTINCT m.sym_id, d.path, o.name, o.line FROM occ o JOIN symbol m USING (sym_id) JOIN document d ON d.doc_id = o.doc_id
    JOIN occ w ON w.doc_id = o.doc_id AND w.line = o.line AND w.name IN ('__dict__', 'vars', 'getmembers')
    WHERE is_kind(m.kind, 'module') AND language_has(d.language, 'looks_up_names') AND NOT has_role(o.roles, 'definition', 'import')
    ORDER BY ALL
"""
_WALKED = """
    SELECT m.sym_id, d.path, o.line FROM occ o JOIN document d USING (doc_id)
    JOIN symbol m ON m.doc_id = o.doc_id AND is_kind(m.kind, 'module')
    WHERE o.name IN ('globals', 'vars', 'getmembers', 'dir') AND language_has(d.language, 'looks_up_names') AND has_role(o.roles, 'call')
    ORDER BY ALL
"""
_OWN = r"(?:sys\.)?modules\[__name__\]"
_WALK = re.compile(
    rf"\b(?:globals\(\)|vars\(\s*(?:{_OWN})?\s*\))(?:\.copy\(\))?\.(?:items|values)\(|\b(?:list|dict|tuple|sorted|filter|map)\([^()]*\bglobals\(\)"
    rf"|\b(?:getmembers|dir|vars)\(\s*{_OWN}"
)
"""What a module has is gone through."""


def _is_kept(lines: Sequence[bytes], line: int, col: int, looking: Collection[str], *, is_mention: bool) -> bool:
    """Whether what stands around a module's name, or the text that names its file, gives it to somebody.

    Args:
        col: in UTF-16, as the index has it. looking: calls that only look at a module.
    """
    text = lines[line].decode("utf-8", "replace")
    col = utf16_to_index(text, col)
    above = "\n".join(part.decode("utf-8", "replace") for part in lines[max(0, line - 2) : line])
    before = f"{above[-_MOST_AROUND:]}\n{text[max(0, col - _MOST_AROUND) : col]}"
    if not is_mention:
        given = _GIVEN_TO.search(before)
        is_taken = _MEMBER.match(text, col) and not _ALL_TAKEN.match(text, col)
        return not is_taken and (given is None or given[1] not in looking)
    imported = _IMPORTED.search(before)
    if imported is None or _TAKEN.match(text[col : col + _MOST_AROUND]):
        return False
    return _HANDED.search(imported["before"]) is not None
