"""Calls that name a member of a base and may end in one that overrides it.

A call of `Base.m` on a value whose class is only known to be a `Base` ends in the member of the value's own class. So calls of what a
member overrides, at any distance, are calls that may end in it; they are marked `dispatch` everywhere, at every step of a walk, and counted
after the direct ones. Three are none: `Base.m(x)`, which names the very one; `self.m()` in a class that no class has among its bases
together with that of the member; and `super().m()`, which only leads to a class that stands beside the caller's in some class's list of
bases, and in the member itself nowhere but upwards. Any other call in the member itself is of another object, as in a tree or a chain of
wrappers, and may end in it again. Where interfaces alone dispatch none of this holds: `w.Writer.Write()` in a `Write` names an interface,
and `self` is a name like others. What lies outside the workspace is called by its own code too, which nobody has read: that is a gap
(`query.facts.gaps.registration`) and no list of calls.

A class may fit a protocol (Python) or an interface (TypeScript) without naming it. Who has all of its members' names, own or inherited, is
taken to fit: types are not compared, so a call listed in this way may be none. Of Go's interfaces the server says who fits them, but for
those without a name (`x.(interface{ Close() })`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from indexer.languages import record_of
from indexer.model import TYPE_KINDS, SymbolKind
from indexer.text import utf16_to_index
from query.facts.documents import documents, languages
from query.facts.hierarchy import all_overriders, overridden
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.sources import Sources

_SUPER = "super()."
OF_OWN_OBJECT = re.compile(r"(?<![\w.$])(?:self|cls|this)\s*[?!]?\.$")
"""Before the name of a member of the object that the code is of."""

_MOST_LOOKED_INTO = 200
"""Files in which the text before a call is looked at; where there are more, a call of the own object may end in any member."""

_NAMING_SUPER = """
    SELECT r.doc_id, r.line, r.col FROM symbol s JOIN refs r USING (sym_id)
    WHERE s.name = 'super' AND has_flag(s.flags, 'external') AND is_type(s.kind)
"""
_NAMING_TYPES = """
    SELECT r.doc_id, r.line, r.end_col FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    WHERE has_role(r.roles, 'confined')
"""


class Place(NamedTuple):
    """A call, 0-based, who makes it, and the member that it names."""

    doc_id: int
    line: int
    col: int
    caller: int
    callee: int


def stand_ins(index: Index, ids: Collection[int]) -> dict[int, list[int]]:
    """By member of the workspace that one of these overrides: those of them that do."""
    found: dict[int, list[int]] = {}
    for sym_id, super_id, external in overridden(index, ids):
        if not external:
            found.setdefault(super_id, []).append(sym_id)
    for sym_id, super_id in _fitted(index, ids):
        if sym_id not in (known := found.setdefault(super_id, [])):
            known.append(sym_id)
    return found


def overriding(index: Index, ids: Collection[int]) -> dict[int, list[int]]:
    """The other way round: by one of these members of the workspace those that override it, at any distance or by their class's shape."""
    found = all_overriders(index, ids)
    shapes: dict[str, list[Shape]] = index.keep("shapes", lambda: _shapes(index))
    wanted = set(ids)
    names = sorted({name for name, fitting in shapes.items() if any(shape.members[name] in wanted for shape in fitting)})
    if names:
        candidates = [row[0] for row in index.rows(_METHODS_NAMED, {"names": names})]
        for sym_id, super_id in _fitted(index, candidates):
            if super_id in wanted and sym_id not in (known := found.setdefault(super_id, [])):
                known.append(sym_id)
    return found


def _fitted(index: Index, ids: Collection[int]) -> list[tuple[int, int]]:
    """(one of these members, a member of that name of a protocol or an interface that its class has all names of)."""
    shapes: dict[str, list[Shape]] = index.keep("shapes", lambda: _shapes(index))
    if not shapes:
        return []
    known = scopes(index, ids)
    wanted = {sym_id: known[sym_id].container for sym_id in ids if known[sym_id].name in shapes and known[sym_id].runs}
    classes = {sym_id for sym_id in wanted.values() if sym_id is not None}
    if not classes:
        return []
    names: dict[int, set[str]] = {}
    for class_id, name in index.rows(_NAMES_OF, {"ids": sorted(classes)}):
        names.setdefault(class_id, set()).add(name)
    docs = documents(index, {known[sym_id].doc_id for sym_id in wanted})
    found: list[tuple[int, int]] = []
    for sym_id, class_id in wanted.items():
        language = record_of(docs[known[sym_id].doc_id].language)
        family = language.family
        if language.satisfies == "unsaid" and not (class_id is not None and known[class_id].kind in TYPE_KINDS - {SymbolKind.INTERFACE}):
            continue
        for shape in shapes[known[sym_id].name]:
            if class_id is not None and class_id != shape.type_id and shape.family == family and shape.members.keys() <= names[class_id]:
                found.append((sym_id, shape.members[known[sym_id].name]))
    return found


def fields_by_shape(index: Index) -> list[int]:
    """Fields of types that others fit by their shape, where some type of the workspace has an accessor of the name."""
    shapes: dict[str, list[Shape]] = index.keep("shapes", lambda: _shapes(index))
    if not shapes:
        return []
    accessors = [name for (name,) in index.rows(_ACCESSORS, {"names": sorted(shapes)})]
    members = sorted({shape.members[name] for name in accessors for shape in shapes[name]})
    return [sym_id for (sym_id,) in index.rows(_FIELDS, {"ids": members})] if members else []


_ACCESSORS = """
    SELECT DISTINCT name FROM symbol
    WHERE name IN (SELECT unnest($names::VARCHAR[])) AND has_flag(flags, 'property') AND NOT has_flag(flags, 'external') ORDER BY name
"""
_FIELDS = """
    SELECT s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
    WHERE is_value(s.kind) AND NOT has_flag(s.flags, 'property') ORDER BY ALL
"""


def fitting(index: Index, types: Collection[int]) -> list[tuple[int, int]]:
    """(one of these protocols or interfaces, a type that has all names of its members, own or inherited); itself too."""
    shapes: dict[str, list[Shape]] = index.keep("shapes", lambda: _shapes(index))
    wanted = {shape.type_id: shape for fitting in shapes.values() for shape in fitting if shape.type_id in types}
    found: set[tuple[int, int]] = set()
    for shape in wanted.values():
        of_name = min(sorted(shape.members), key=lambda name: len(shapes[name]))
        classes = [row[0] for row in index.rows(_TYPES_WITH, {"name": of_name})]
        names: dict[int, set[str]] = {}
        for class_id, name in index.rows(_NAMES_OF, {"ids": classes}):
            names.setdefault(class_id, set()).add(name)
        found.update((shape.type_id, class_id) for class_id in classes if shape.members.keys() <= names.get(class_id, set()))
    return sorted(found)


_TYPES_WITH = """
    WITH RECURSIVE down(type_id) AS (
        SELECT m.container_id FROM symbol m JOIN symbol c ON c.sym_id = m.container_id
        WHERE m.name = $name AND is_kind(c.kind, 'class') AND NOT has_flag(c.flags, 'external')
        UNION SELECT t.sub_id FROM down d JOIN type_edge_rev t ON t.super_id = d.type_id
    )
    SELECT type_id FROM down ORDER BY ALL
"""


class Shape(NamedTuple):
    """A type that others fit without naming it, and its members by name, inherited ones too."""

    type_id: int
    family: str
    members: dict[str, int]


_SHAPED = """
    WITH RECURSIVE up(type_id, super_id) AS (
        SELECT s.sym_id, s.sym_id FROM symbol s JOIN document d USING (doc_id)
        LEFT JOIN symbol_text x ON x.sym_id = s.sym_id
        WHERE (is_kind(s.kind, 'interface') OR starts_with(coalesce(x.signature, ''), 'type '))
          AND NOT has_flag(s.flags, 'external') AND d.language IN (SELECT unnest($languages::VARCHAR[]))
        UNION SELECT t.sub_id, t.sub_id FROM symbol p JOIN type_edge_rev t ON t.super_id = p.sym_id JOIN symbol s ON s.sym_id = t.sub_id
        WHERE p.name = 'Protocol' AND p.qualified_name IN ('typing.Protocol', 'typing_extensions.Protocol')
          AND NOT has_flag(s.flags, 'external')
        UNION SELECT up.type_id, t.super_id FROM up JOIN type_edge t ON t.sub_id = up.super_id
    )
    SELECT up.type_id, d.language, m.name, m.sym_id FROM up JOIN symbol m ON m.container_id = up.super_id
    JOIN symbol i ON i.sym_id = up.super_id JOIN symbol o ON o.sym_id = up.type_id JOIN document d ON d.doc_id = o.doc_id
    WHERE NOT has_flag(i.flags, 'external') AND (is_kind(m.kind, 'method', 'property', 'field', 'variable'))
    ORDER BY ALL
"""
_WRITTEN = """
    SELECT f.sym_id AS owner, d.language, m.name, m.sym_id
    FROM symbol m JOIN symbol f ON f.sym_id = m.container_id JOIN document d ON d.doc_id = m.doc_id
    WHERE is_callable(f.kind) AND is_kind(m.kind, 'field') AND d.language IN (SELECT unnest($languages::VARCHAR[]))
      AND NOT has_flag(m.flags, 'external', 'parameter') ORDER BY ALL
"""
"""Members of a type without a name in the head of a function: each by itself, for which of them stand together is not in the index."""

_NAMELESS = """
    SELECT m.sym_id AS owner, d.language, m.name, m.sym_id
    FROM symbol m JOIN document d USING (doc_id) LEFT JOIN symbol c ON c.sym_id = m.container_id
    LEFT JOIN symbol_text t ON t.sym_id = m.sym_id
    WHERE is_kind(m.kind, 'method') AND NOT coalesce(is_type(c.kind), false) AND NOT starts_with(coalesce(t.signature, ''), 'func ')
      AND NOT has_flag(m.flags, 'external') AND d.language IN (SELECT unnest($languages::VARCHAR[])) ORDER BY ALL
"""
"""What interfaces without a name ask for, each by itself; without methods of a type that is not known."""

_METHODS_NAMED = """
    SELECT sym_id FROM symbol
    WHERE name IN (SELECT unnest($names::VARCHAR[])) AND (is_kind(kind, 'method') OR has_flag(flags, 'property'))
      AND NOT has_flag(flags, 'external') ORDER BY ALL
"""
_NAMES_OF = """
    WITH RECURSIVE up(start, type_id) AS (
        SELECT id, id FROM (SELECT unnest($ids::INTEGER[]) AS id)
        UNION SELECT up.start, t.super_id FROM up JOIN type_edge t ON t.sub_id = up.type_id
    )
    SELECT up.start, m.name FROM up JOIN symbol m ON m.container_id = up.type_id
"""


def _shapes(index: Index) -> dict[str, list[Shape]]:
    """By name of a method: the types with it that others fit by their shape."""
    shaped = [name for name in languages(index) if record_of(name).satisfies in ("shape", "protocol")]
    unsaid = [name for name in languages(index) if record_of(name).satisfies == "unsaid"]
    types: dict[int, Shape] = {}
    for type_id, language, name, sym_id in index.rows(_SHAPED, {"languages": shaped}) if shaped else ():
        shape = types.setdefault(type_id, Shape(type_id, record_of(language).family, {}))
        shape.members.setdefault(name, sym_id)
    written = [
        Shape(type_id, record_of(language).family, {name: sym_id})
        for sql, named in ((_WRITTEN, shaped), (_NAMELESS, unsaid))
        for type_id, language, name, sym_id in (index.rows(sql, {"languages": named}) if named else ())
    ]
    found: dict[str, list[Shape]] = {}
    for shape in [*types.values(), *written]:
        for name in shape.members:
            found.setdefault(name, []).append(shape)
    return found


def ending(index: Index, calls: Collection[tuple[int, Place]]) -> set[tuple[int, Place]]:
    """Those of the pairs of a member and a call of one that it overrides in which the call may end in the member."""
    known = scopes(index, {sym_id for member, place in calls for sym_id in (member, place.caller, place.callee)})
    places = {place for _, place in calls}
    before = _before(index, places, {known[place.callee].container for place in places}) if places else {}
    texts, beside = _Texts(index), _Beside(index)
    docs = documents(index, {place.doc_id for place in places})
    found: set[tuple[int, Place]] = set()
    for member, place in calls:
        if record_of(docs[place.doc_id].language).interfaces_alone_dispatch:
            found.add((member, place))
            continue
        by_super = before.get(place)
        if by_super is False or (place.caller == member and (by_super or texts.is_of_super(place))):
            continue
        caller = known[place.caller]
        is_near = beside.share(known[member].container, caller.container)
        if not is_near and (by_super or (caller.kind == SymbolKind.METHOD and texts.is_of_own_object(place))):
            continue
        found.add((member, place))
    return found


class _Texts:
    """What stands before the names of members that are called."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._sources = Sources(index)
        self._seen: set[int] = set()

    def is_of_super(self, place: Place) -> bool:
        """Whether `super.` stands there: what is a keyword has no symbol by which `_before` could tell it."""
        before = self._before(place)
        return before is None or before.endswith(("super.", "super::"))

    def is_of_own_object(self, place: Place) -> bool:
        """Whether `self.` or `this.` stands there."""
        self._seen.add(place.doc_id)
        before = self._before(place) if len(self._seen) <= _MOST_LOOKED_INTO else None
        return before is not None and OF_OWN_OBJECT.search(before) is not None

    def _before(self, place: Place) -> str | None:
        """None where the text is no longer what was read."""
        lines = self._sources.lines(self._index.documents({place.doc_id})[place.doc_id][0])
        if lines is None or place.line >= len(lines):
            return None
        text = lines[place.line].decode("utf-8", "replace")
        return text[: utf16_to_index(text, place.col)]


_TAKEN = """
    SELECT r.sym_id, r.doc_id, r.line, r.col FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    WHERE has_role(r.roles, 'read') AND NOT has_role(r.roles, 'call', 'definition', 'import', 'mention')
"""


def taken_from_types(index: Index, members: Collection[int]) -> set[int]:
    """Members that are values only as `Base.m`, never as `x.m`: who calls such a value calls that very one."""
    rows = index.rows(_TAKEN, {"ids": sorted(members)}) if members else []
    places = [Place(doc_id, line, col, sym_id, sym_id) for sym_id, doc_id, line, col in rows]
    known = scopes(index, {place.callee for place in places})
    before = _before(index, places, {known[place.callee].container for place in places}) if places else {}
    return {place.callee for place in places} - {place.callee for place in places if before.get(place) is not False}


def _before(index: Index, places: Collection[Place], types: Collection[int | None]) -> dict[Place, bool]:
    """Of calls with `super().` or the name of one of the types in front of them: whether it is `super`."""
    supers: set[tuple[int, int, int]] = index.keep("super", lambda: set(index.rows(_NAMING_SUPER)))
    named = set(index.rows(_NAMING_TYPES, {"ids": sorted(sym_id for sym_id in types if sym_id is not None)}))
    found: dict[Place, bool] = {}
    for place in places:
        doc_id, line, col = place[:3]
        if (doc_id, line, col - len(_SUPER)) in supers:
            found[place] = True
        elif any((doc_id, line, col - length) in named for length in (1, 2)):  # `.`, `::`
            found[place] = False
    return found


class _Beside:
    """Whether a class has two others among its bases, or is one of them: an object may be of both, and `super()` lead to the other."""

    def __init__(self, index: Index) -> None:
        self._below: dict[int, list[int]] = index.keep("types below", lambda: _below(index))
        self._all: dict[int, set[int]] = {}

    def share(self, one: int | None, other: int | None) -> bool:
        return one is not None and other is not None and not self._down(one).isdisjoint(self._down(other))

    def _down(self, start: int) -> set[int]:
        if start not in self._all:
            self._all[start] = _down(self._below, start)
        return self._all[start]


def _below(index: Index) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for super_id, sub_id in index.rows("SELECT DISTINCT super_id, sub_id FROM type_edge_rev ORDER BY ALL"):
        found.setdefault(super_id, []).append(sub_id)
    return found


def _down(below: dict[int, list[int]], start: int) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        for sub_id in below.get(waiting.pop(), ()):
            if sub_id not in found:
                found.add(sub_id)
                waiting.append(sub_id)
    return found
