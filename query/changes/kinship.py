"""The types around those whose members a change touches: all below them, and all above all of these."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence

from indexer.model import TYPE_KINDS, Evidence, SymbolFlag, SymbolKind
from query.facts.declarations import Member, types_with_abstract_members
from query.facts.hierarchy import TypeEdge, all_subtypes, all_supertypes, types
from query.facts.index import Index
from query.facts.symbols import ids_of_monikers

Held = Mapping[tuple[int, str], Member]
"""Members by the type that has them itself, and their name."""

_ERROR = "go go std . builtin/`builtin.go`/error#"
_ABSTRACT = int(SymbolFlag.ABSTRACT)


class Kinship:
    """Which types are above and below which, in one index.

    types: all of them by number. error: the number of Go's `error`, -1 where the index has not got it: no hierarchy shows it, for it is
    declared nowhere.
    """

    def __init__(self, index: Index, start: Collection[int]) -> None:
        self._below = all_subtypes(index, start)
        everybody = {*start, *(edge.other for edges in self._below.values() for edge in edges)}
        self._above = all_supertypes(index, everybody)
        named = {edge.other for edges in self._above.values() for edge in edges}
        self.error = ids_of_monikers(index, [_ERROR]).get(_ERROR, -1)
        everybody |= named | ({self.error} - {-1})
        # What a type names above itself is one, however it is declared: `Protocol: type[_Protocol]` in Python's stubs.
        self.types = {sym_id: its for sym_id, its in types(index, everybody).items() if its.kind in TYPE_KINDS or sym_id in named}
        self.everybody = sorted(self.types)
        self._asking = types_with_abstract_members(index, self.everybody)
        self._kept: dict[tuple[int, bool], list[int]] = {}

    def above(self, type_id: int, *, listed: bool = False) -> list[int]:
        """All types above, nearest first; `listed`: only by what types say of themselves, so what they take members from."""
        key = (type_id, listed)
        if key not in self._kept:
            self._kept[key] = self._walk(self._above, type_id, listed=listed)
        return self._kept[key]

    def below(self, type_id: int) -> list[int]:
        """All types below, nearest first."""
        return self._walk(self._below, type_id, listed=False)

    def heirs(self, type_id: int, name: str, held: Held) -> Iterator[int]:
        """Types below that have the member from this one."""
        for sub_id in self._walk(self._below, type_id, listed=True):
            if (sub_id, name) not in held and self.types[sub_id].kind != SymbolKind.INTERFACE:
                yield sub_id

    def is_abstract(self, type_id: int) -> bool:
        """Whether the type itself is not made: those below it may have what it lacks."""
        its = self.types[type_id]
        return bool(its.flags & _ABSTRACT) or its.kind == SymbolKind.INTERFACE or type_id in self._asking

    def _walk(self, edges: Mapping[int, Sequence[TypeEdge]], start: int, *, listed: bool) -> list[int]:
        seen = {start}
        found: list[int] = []
        waiting = deque([start])
        while waiting:
            for edge in edges.get(waiting.popleft(), ()):
                if edge.other not in seen and edge.other in self.types and (edge.evidence == Evidence.SUBCLASS_LIST or not listed):
                    seen.add(edge.other)
                    found.append(edge.other)
                    waiting.append(edge.other)
        return found
