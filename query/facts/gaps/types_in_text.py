"""Types of a language whose server tells of none above or below them: the heads of types are read in the texts (ADR 0101).

`class File implements Store`: who calls `Store::read` runs `File::read`, and a base outside of the workspace may call any member
that is not private. A constructor runs where `new static` stands, and where a type below without one of its own is made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from indexer.languages import record_of
from indexer.model import SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.documents import held_now
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.symbols import TYPES, Symbol, symbols_by_id

_MEMBER_KINDS = frozenset({"method", "constructor", "property", "field"})
_NAMES = r"[\w\\]+(?:\s*,\s*[\w\\]+)*"
_HEAD = re.compile(
    r"\b(?:class|interface|trait|enum)\b(?:\s+(?P<name>[A-Za-z_]\w*))?(?:\s*\([^(){}]*\))?(?:\s*:\s*\w+)?"
    rf"(?:\s+extends\s+(?P<above>{_NAMES}))?(?:\s+implements\s+(?P<fits>{_NAMES}))?\s*\{{"
)
_TAKES = re.compile(rf"^[ \t]+use\s+(?P<names>{_NAMES})\s*[;{{]", re.MULTILINE)
_NO_CODE = re.compile(r"/\*.*?\*/|(?://|#(?!\[))[^\n]*", re.DOTALL)
_IMPORTED = re.compile(r"^use\s+(?P<name>[\w\\]+)\s+as\s+(?P<alias>\w+)\s*;", re.MULTILINE)
_REMADE = re.compile(r"\bnew\s+(?:static|self)\b|\bnew\s+\(?(?:get_class\(|\$this\b)")
_MOST_ABOVE = 200

_USED = """
    SELECT DISTINCT d.path FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    JOIN document d ON d.doc_id = r.doc_id WHERE NOT has_role(r.roles, 'definition', 'import') ORDER BY ALL
"""
_MEMBERS = """
    SELECT s.sym_id FROM symbol s JOIN symbol c ON c.sym_id = s.container_id JOIN document d ON d.doc_id = s.doc_id
    WHERE s.name = $name AND c.name IN (SELECT unnest($types::VARCHAR[])) AND d.language IN (SELECT unnest($languages::VARCHAR[]))
      AND s.sym_id <> $id ORDER BY ALL
"""
_TYPE_IDS = """
    SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id) WHERE s.name IN (SELECT unnest($types::VARCHAR[])) AND is_type(s.kind)
      AND d.language IN (SELECT unnest($languages::VARCHAR[])) ORDER BY ALL
"""


class _Heads(NamedTuple):
    """By the last part of a name, as their texts have it; names without regard to case.

    above: what stands directly above. defined: in which files types of the name are. takes: the traits of a type.
    """

    above: dict[str, set[str]]
    defined: dict[str, set[str]]
    spelled: dict[str, str]


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each symbol and cause."""
    if uses.question != "callers":
        return []
    found: list[Reason] = []
    for symbol in uses.symbols:
        for code, detail, paths in _causes(index, symbol):
            if asked := [path for path in paths if uses.scope.is_asked(path)]:
                found.append(of_paths(code, detail, asked, len(asked)))
    return found


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols that may be called over another type."""
    if not any(record_of(language).types_in_text for language in set(languages_of(index).values())):
        return set()
    return {sym_id for sym_id, symbol in symbols_by_id(index, sorted(ids)).items() if next(_causes(index, symbol), None) is not None}


def _causes(index: Index, symbol: Symbol) -> Iterator[tuple[str, str, list[str]]]:
    """Code and words of a reason, and the files that it is about."""
    record = record_of(languages_of(index).get(symbol.record.path, ""))
    if not record.types_in_text or symbol.record.kind not in _MEMBER_KINDS or symbol.record.external:
        return
    holder = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    around = None if holder is None else symbols_by_id(index, [holder]).get(holder)
    if around is None or around.record.kind not in TYPES:
        return
    heads: _Heads = index.keep("heads of types", lambda: _heads(index))
    own, name = around.record.name.lower(), symbol.record.name
    below = _reached(_turned(heads.above), own)
    above = {base for low in {own, *below} for base in _reached(heads.above, low)} - {own, *below}
    if symbol.record.kind == SymbolKind.CONSTRUCTOR.label:
        yield from _made(index, symbol, heads, own, below, above)
        return
    known = sorted(base for base in above if base in heads.defined)
    same = _members(index, [heads.spelled[base] for base in known], name, symbol.sym_id)
    used = [str(row[0]) for row in index.rows(_USED, {"ids": same})] if same else []
    if used:
        bases = sorted(
            {scopes(index, [container])[container].name for sym_id in same if (container := _container(index, sym_id)) is not None}
        )
        yield "untold_dispatch", f"'{name}' stands in for that of {', '.join(bases)}: who calls that there may run it", used
    rules = dict(record.hooks.bases)
    for base in sorted(above - heads.defined.keys()):
        calls = next((members for known_base, members in rules.items() if known_base.lower() == base), None)
        if calls is None:
            may_call = record.hooks.public_members and base not in record.hooks.silent_bases and not _is_private(index, symbol)
        else:
            may_call = any(fnmatchcase(name, member) for member in calls)
        if may_call:
            detail = (
                f"'{heads.spelled.get(base, base)}', a base of its type, lies outside of the workspace, and may call what inherits from it"
            )
            yield "unresolved_base", detail, [symbol.record.path]
            return


def _made(
    index: Index, symbol: Symbol, heads: _Heads, own: str, below: Collection[str], above: Collection[str]
) -> Iterator[tuple[str, str, list[str]]]:
    """Where a constructor runs without the name of its type."""
    files = sorted({path for name in (own, *below, *above) for path in heads.defined.get(name, ())})
    remade = [path for path in files if _REMADE.search(_text(index, path))]
    if remade:
        yield (
            "nameless_calls",
            f"one more value of the type of a value is made there (`new static`), which runs '{symbol.record.name}'",
            remade,
        )
    heirs = sorted(name for name in below if not _members(index, [heads.spelled[name]], symbol.record.name, symbol.sym_id))
    ids = [
        sym_id for (sym_id,) in index.rows(_TYPE_IDS, {"types": [heads.spelled[name] for name in heirs], "languages": _languages(index)})
    ]
    if ids and (paths := [path for (path,) in index.rows(_USED, {"ids": ids})]):
        yield (
            "nameless_calls",
            "types below without a constructor of their own are named there, and their values are made by this one",
            paths,
        )


def _container(index: Index, sym_id: int) -> int | None:
    return scopes(index, [sym_id])[sym_id].container


def _members(index: Index, types: Collection[str], name: str, but: int) -> list[int]:
    if not types:
        return []
    rows = index.rows(_MEMBERS, {"name": name, "types": sorted(types), "languages": _languages(index), "id": but})
    return [sym_id for (sym_id,) in rows]


def _is_private(index: Index, symbol: Symbol) -> bool:
    lines = _text(index, symbol.record.path).split("\n")
    return bool(re.search(r"\bprivate\b", lines[symbol.record.line - 1] if symbol.record.line <= len(lines) else ""))


def _reached(ways: dict[str, set[str]], first: str) -> set[str]:
    seen, waiting = {first}, [first]
    while waiting and len(seen) < _MOST_ABOVE:
        for name in sorted(ways.get(waiting.pop(), ())):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen - {first}


def _turned(ways: dict[str, set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for low, names in ways.items():
        for name in names:
            found.setdefault(name, set()).add(low)
    return found


def _text(index: Index, path: str) -> str:
    return (held_now(index, path) or b"").decode("utf-8", "replace")


def _heads(index: Index) -> _Heads:
    """Of all files of such languages; a type without a name is called by its place."""
    heads, told = _Heads({}, {}, {}), _languages(index)
    for path, language in sorted(languages_of(index).items()):
        if language not in told:
            continue
        text = _NO_CODE.sub(lambda match: "\n" * match[0].count("\n"), _text(index, path))
        aliases = {match["alias"].lower(): match["name"] for match in _IMPORTED.finditer(text)}
        found = list(_HEAD.finditer(text))
        for number, match in enumerate(found):
            name = match["name"] or f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
            body = text[match.end() : found[number + 1].start() if number + 1 < len(found) else len(text)]
            said = [*re.split(r"\s*,\s*", f"{match['above'] or ''},{match['fits'] or ''}")]
            said += [name for taken in _TAKES.finditer(body) for name in re.split(r"\s*,\s*", taken["names"])]
            bases = {_last(aliases.get(base.lower(), base)) for base in said if base.strip()}
            heads.spelled.update({name.lower(): name, **{base.lower(): base for base in bases if base.lower() not in heads.spelled}})
            heads.spelled[name.lower()] = name
            heads.defined.setdefault(name.lower(), set()).add(path)
            heads.above.setdefault(name.lower(), set()).update(base.lower() for base in bases)
    return heads


def _languages(index: Index) -> list[str]:
    return sorted(language for language in set(languages_of(index).values()) if record_of(language).types_in_text)


def _last(name: str) -> str:
    return name.strip().rsplit("\\", 1)[-1]
