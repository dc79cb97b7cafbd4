"""Who uses what was changed, whether the change touches them too, and which tests reach it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from indexer.model import SymbolKind
from query.changes.compare import Changed, Side
from query.changes.diff import FileChange
from query.changes.outlines import Entity, Known, Outline, by_chain, from_index
from query.impact import Use, documents, scopes, test_symbols, uses_of
from query.index import Index

SideName = Literal["old", "new"]

MAX_REACHED = 50_000
"""Symbols that a search for tests visits before it ends."""

_SET_UP = ("setUp", "setUpClass", "setUpTestData", "setup_method", "setup_class", "asyncSetUp", "tearDown", "teardown_method")


class Bound(NamedTuple):
    """A changed symbol in the indexes: its numbers there, -1 where the index does not know it."""

    changed: Changed
    old_id: int
    new_id: int
    exact: bool


class CallSite(NamedTuple):
    """A use of a changed symbol, as an index shows it. `side`: which side of its file that is; `updated`: the change touches the
    function, class or module around it.
    """

    held_by: Index
    use: Use
    side: SideName
    path: str
    updated: bool


class TestReach(NamedTuple):
    """A test that reaches the change. `distance` 1 names it itself. `via`: the changed symbol that is nearest."""

    __test__ = False

    holder: int
    path: str
    distance: int
    import_only: bool
    via: int


class Files:
    """The files of a change by their paths on either side, and what of them is touched."""

    def __init__(self, changes: Iterable[tuple[FileChange, Outline | None, Outline | None, int, int]]) -> None:
        """Each file with its outlines and its numbers of lines on the old and the new side."""
        self._sides: dict[SideName, dict[str, tuple[FileChange, Outline | None, int]]] = {"old": {}, "new": {}}
        self._touched: dict[tuple[SideName, str], set[tuple[str, ...]]] = {}
        self._owners: dict[tuple[SideName, str], list[int]] = {}
        self._shown_old: dict[int, set[str]] = {}
        for change, old, new, old_lines, new_lines in changes:
            if change.old_path:
                self._sides["old"][change.old_path] = (change, old, old_lines)
            if change.new_path:
                self._sides["new"][change.new_path] = (change, new, new_lines)

    def side_of(self, index: Index, path: str) -> SideName:
        """Which side of a file an index shows, by its content; what differs from both is taken for the new one."""
        shown = self._shown_old.get(id(index))
        if shown is None:
            old = {path: entry[0].old_blob for path, entry in self._sides["old"].items()}
            rows = index.rows(
                "SELECT d.path, d.digest FROM (SELECT unnest($paths::VARCHAR[]) AS path) u JOIN document d USING (path)",
                {"paths": sorted(old)},
            )
            new = {path: entry[0].new_blob for path, entry in self._sides["new"].items()}
            shown = {path for path, digest in rows if digest == old[path] != new.get(path)}
            self._shown_old[id(index)] = shown
        return "old" if path in shown else "new"

    def updated(self, side: SideName, path: str, line: int) -> bool:
        """Whether the change touches what is around a line: the innermost function, class or module."""
        entry = self._sides[side].get(path)
        if entry is None:
            return False
        change, outline, lines = entry
        if change.status in ("added", "deleted") or outline is None:
            return True
        owners = self._owners.get((side, path))
        if owners is None:
            owners = self._owners[side, path] = outline.owners(lines)
        if line >= len(owners):
            return True
        return outline.entities[owners[line]].chain in self._chains(side, path, change, outline, owners)

    def _chains(
        self, side: SideName, path: str, change: FileChange, outline: Outline, owners: Sequence[int]
    ) -> Collection[tuple[str, ...]]:
        known = self._touched.get((side, path))
        if known is None:
            ranges = [(hunk.old_start, hunk.old_end) if side == "old" else (hunk.new_start, hunk.new_end) for hunk in change.hunks]
            known = {outline.entities[owners[line]].chain for start, end in ranges for line in range(start, min(end, len(owners)))}
            self._touched[side, path] = known
        return known


# ---- changed symbols in the indexes


def bind(changed: Sequence[Changed], old: Index | None, new: Index | None) -> list[Bound]:
    """Finds each symbol in the index of its side.

    Args:
        old, new: indexes of the two sides, possibly the same one, possibly not of the very content: then the name decides, and the
            result is not `exact`.
    """
    wanted_old = {item.old[0].outline.path for item in changed if item.old and not _is_of(item.old[0].outline, old)}
    wanted_new = {item.new[0].outline.path for item in changed if item.new and not _is_of(item.new[0].outline, new)}
    by_name_old = _names(old, wanted_old)
    by_name_new = by_name_old if old is new and wanted_new <= wanted_old else _names(new, wanted_new)
    bound: list[Bound] = []
    for item in changed:
        old_id, old_exact = _number(item.old, old, by_name_old)
        new_id, new_exact = _number(item.new, new, by_name_new)
        bound.append(Bound(item, old_id, new_id, new_exact if item.new else old_exact))
    return bound


def _is_of(outline: Outline, index: Index | None) -> bool:
    return index is not None and outline.held_by is index


def _number(side: tuple[Side, Entity] | None, index: Index | None, names: Mapping[tuple[str, tuple[str, ...]], int]) -> tuple[int, bool]:
    if side is None or index is None:
        return -1, side is None
    holder, entity = side
    if holder.outline.held_by is index:
        return entity.sym_id, True
    return names.get((holder.outline.path, entity.chain), -1), False


def _names(index: Index | None, paths: Collection[str]) -> dict[tuple[str, tuple[str, ...]], int]:
    """Symbols of documents, whatever their content is, by path and chain."""
    if index is None or not paths:
        return {}
    rows = index.rows(
        """
        SELECT d.path, d.doc_id, d.language, d.module, d.is_test FROM (SELECT unnest($paths::VARCHAR[]) AS path) u
        JOIN document d USING (path) WHERE d.status <> 'external'
        """,
        {"paths": sorted(paths)},
    )
    known = [Known(index, doc_id, path, language, module or "", bool(is_test)) for path, doc_id, language, module, is_test in rows]
    found: dict[tuple[str, tuple[str, ...]], int] = {}
    for (path, _), outline in from_index(known).items():
        for chain, entity in by_chain(outline.entities).items():
            found[path, chain] = entity.sym_id
    return found


# ---- who uses them


def call_sites(index: Index, ids: Collection[int], files: Files) -> dict[int, list[CallSite]]:
    """Uses by symbol, with dispatch through what they override; imports too."""
    uses = uses_of(index, ids, dispatch=True)
    docs = documents(index, {use.doc_id for use in uses})
    found: dict[int, list[CallSite]] = {}
    for use in uses:
        path = docs[use.doc_id].path
        side = files.side_of(index, path)
        found.setdefault(use.sym_id, []).append(CallSite(index, use, side, path, files.updated(side, path, use.line)))
    return found


# ---- which tests reach them


class Reach(NamedTuple):
    """Tests, nearest first; by changed symbol how many tests reach it otherwise than by an import; whether the search ended early."""

    tests: list[TestReach]
    counts: dict[int, int]
    capped: bool


def tests_reaching(index: Index, ids: Collection[int], *, depth: int) -> Reach:
    """Tests from which a changed symbol can be reached.

    Follows calls and references backwards, through fixtures to the tests that use them, from a class to its subclasses, from what
    prepares a test class to its tests, and from a changed module's own code to its importers. A test that is itself changed is at
    distance 0. What only imports a module on the way is listed last. One search for all: each symbol on the way carries the set of
    changed symbols that it leads to, as bits.
    """
    start = sorted(set(ids) - {-1})
    bits = {sym_id: 1 << number for number, sym_id in enumerate(start)}
    nearest: dict[int, tuple[int, int]] = {sym_id: (0, sym_id) for sym_id in start}
    firm: dict[int, int] = dict(bits)  # leads to these by calls and references
    loose: dict[int, int] = {}  # only by imports
    tests: dict[int, int] = {}
    frontier: dict[int, tuple[int, int]] = {sym_id: (bit, 0) for sym_id, bit in bits.items()}
    capped = False
    for distance in range(depth + 1):
        known = scopes(index, frontier)
        docs = documents(index, {known[sym_id].doc_id for sym_id in frontier})
        run = test_runs(index, frontier)
        for sym_id in run:
            tests.setdefault(sym_id, distance)
        onward = [sym_id for sym_id in frontier if sym_id not in run]
        if distance == depth or not onward:
            break
        steps: list[tuple[int, int, bool]] = []  # from, to, by import
        preparing = [sym_id for sym_id in onward if known[sym_id].name in _SET_UP and docs[known[sym_id].doc_id].is_test]
        steps += [(sym_id, test, False) for sym_id, test in _tests_beside(index, preparing)]
        steps += [(super_id, sub_id, False) for super_id, sub_id in _subtypes(index, onward)]
        own_module = {sym_id for sym_id in onward if known[sym_id].kind == SymbolKind.MODULE}
        steps += [
            (use.sym_id, use.holder, use.relation == "import")
            for use in uses_of(index, onward, dispatch=True)
            if use.holder >= 0 and (use.relation != "import" or use.sym_id in own_module)
        ]
        reached: dict[int, tuple[int, int]] = {}
        for source, target, by_import in steps:
            mine, theirs = frontier[source]
            before = reached.get(target, (0, 0))
            reached[target] = (before[0] | mine, before[1] | theirs) if not by_import else (before[0], before[1] | theirs | mine)
            nearest.setdefault(target, (distance + 1, nearest[source][1]))
        frontier = {}
        for sym_id, (mine, theirs) in reached.items():
            more = (mine & ~firm.get(sym_id, 0), theirs & ~(firm.get(sym_id, 0) | loose.get(sym_id, 0)))
            if more != (0, 0):
                firm[sym_id] = firm.get(sym_id, 0) | mine
                loose[sym_id] = loose.get(sym_id, 0) | theirs
                frontier[sym_id] = more
        if not frontier:
            break
        if len(firm) > MAX_REACHED:
            capped = True
            break
    counts = dict.fromkeys(start, 0)
    for sym_id in tests:
        mask = firm.get(sym_id, 0) & ~bits.get(sym_id, 0)
        while mask:
            low = mask & -mask
            counts[start[low.bit_length() - 1]] += 1
            mask ^= low
    places = documents(index, {scope.doc_id for sym_id in tests if (scope := scopes(index, [sym_id])[sym_id])})
    found = [
        TestReach(sym_id, places[scopes(index, [sym_id])[sym_id].doc_id].path, distance, not firm.get(sym_id), nearest[sym_id][1])
        for sym_id, distance in tests.items()
    ]
    found.sort(key=lambda item: (item.import_only, item.distance, item.path, item.holder))
    return Reach(found, counts, capped)


_TEST_NAMES: Mapping[str, tuple[str, ...]] = {"python": ("test",), "go": ("Test", "Benchmark", "Fuzz", "Example")}


def test_runs(index: Index, ids: Collection[int]) -> set[int]:
    """Those that a test runner runs by themselves: test functions of Python, Go and Rust; elsewhere the file, whose cases are calls."""
    known = scopes(index, ids)
    docs = documents(index, {known[sym_id].doc_id for sym_id in ids})
    inline = test_symbols(index, ids)
    found: set[int] = set()
    for sym_id in ids:
        scope = known[sym_id]
        document = docs[scope.doc_id]
        if document.language == "rust":
            is_run = scope.runs and sym_id in inline
        elif document.language in _TEST_NAMES:
            is_run = document.is_test and scope.runs and scope.name.startswith(_TEST_NAMES[document.language])
        else:
            is_run = document.is_test and scope.kind == SymbolKind.MODULE
        if is_run:
            found.add(sym_id)
    return found


def _tests_beside(index: Index, ids: Collection[int]) -> list[tuple[int, int]]:
    """(what prepares, a test of the same class)."""
    if not ids:
        return []
    return index.rows(
        """
        SELECT s.sym_id, t.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        JOIN symbol t ON t.doc_id = s.doc_id AND t.container_id = s.container_id AND t.kind IN (6, 12) AND starts_with(t.name, 'test')
        ORDER BY ALL
        """,
        {"ids": sorted(ids)},
    )


def _subtypes(index: Index, ids: Collection[int]) -> list[tuple[int, int]]:
    """(type, a type directly below it)."""
    return index.rows(
        """
        SELECT DISTINCT e.super_id, e.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u
        JOIN type_edge_rev e ON e.super_id = u.id ORDER BY ALL
        """,
        {"ids": sorted(ids)},
    )
