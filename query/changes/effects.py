"""Who uses what was changed, and whether the change touches them too."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from query.changes.compare import Changed, Side
from query.changes.outlines import Entity, Held, Outline, from_index
from query.changes.trees import Part
from query.facts.documents import contents, documents
from query.facts.index import Index
from query.facts.occurrences import resolved_sites
from query.facts.sources import Sources
from query.facts.uses import Use

SideName = Literal["old", "new"]


_WORD = re.compile(r"[\w$]+")
_OF_FOLDER = ("__init__", "index", "mod")
"""Files that imports call by their folder."""


class Bound(NamedTuple):
    """A changed symbol in the indexes: its numbers there, -1 where the index does not know it."""

    changed: Changed
    old_id: int
    new_id: int
    exact: bool


class CallSite(NamedTuple):
    """A use of a changed symbol, as an index shows it.

    side: which side of its file that is. updated: the change touches the function, class or module around it. resolves: it is as it was,
    and means something else by now (an inherited member, a name that is imported again): it is not broken.
    """

    held_by: Index
    use: Use
    side: SideName
    path: str
    updated: bool
    resolves: bool = False

    @property
    def is_stale(self) -> bool:
        """Written for the symbol as it was, and left alone."""
        return not self.updated and not self.resolves and not self.use.dispatch


class Files:
    """The files of a change by their paths on either side, and what of them is touched."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts: dict[SideName, dict[str, Part]] = {"old": {}, "new": {}}
        self._touched: dict[int, set[tuple[str, ...]]] = {}
        self._shown_old: dict[int, set[str]] = {}
        for part in parts:
            if part.change.old_path:
                self._parts["old"][part.change.old_path] = part
            if part.change.new_path:
                self._parts["new"][part.change.new_path] = part

    def side_of(self, index: Index, path: str) -> SideName:
        """Which side of a file an index shows, by its content; what differs from both is taken for the new one."""
        shown = self._shown_old.get(id(index))
        if shown is None:
            old = {path: part.change.old_blob for path, part in self._parts["old"].items()}
            new = {path: part.change.new_blob for path, part in self._parts["new"].items()}
            shown = {path for path, held in contents(index, old).items() if held.digest == old[path] != new.get(path)}
            self._shown_old[id(index)] = shown
        return "old" if path in shown or (path in self._parts["old"] and path not in self._parts["new"]) else "new"

    def updated(self, side: SideName, path: str, line: int) -> bool:
        """Whether the change touches what is around a line: the innermost function, class or module."""
        part = self._parts[side].get(path)
        if part is None:
            return False
        text = part.old if side == "old" else part.new
        if part.change.status in ("added", "deleted") or text is None or line >= len(text.owners):
            return True
        entities = text.outline.entities
        touched = self._touched_in(part)
        return any(entities[number].chain in touched for number in text.owners[line])

    def touches(self, side: SideName, path: str, line: int) -> bool:
        """Whether the very line differs."""
        part = self._parts[side].get(path)
        if part is None:
            return False
        hunks = part.change.hunks
        ranges = [(hunk.old_start, hunk.old_end) if side == "old" else (hunk.new_start, hunk.new_end) for hunk in hunks]
        return any(start <= line < end for start, end in ranges)

    def words_added(self, path: str) -> frozenset[str]:
        """Words of the lines that only the new side has, of a file by its path on the old one."""
        part = self._parts["old"].get(path)
        if part is None or part.new is None:
            return frozenset()
        lines = (text for hunk in part.change.hunks for text in part.new.lines[hunk.new_start : hunk.new_end])
        return frozenset(word for text in lines for word in _WORD.findall(text))

    def goes_with(self, path: str, new_path: str) -> bool:
        """Whether the file at a path of the old side is the one at `new_path` now."""
        part = self._parts["old"].get(path)
        return part is not None and part.change.status == "renamed" and part.change.new_path == new_path

    def line_now(self, path: str, line: int) -> tuple[str, int]:
        """Where a line of the old side is on the new one, if the change leaves it alone."""
        part = self._parts["old"].get(path)
        if part is None:
            return path, line
        shift = 0
        for hunk in part.change.hunks:
            if hunk.old_end > line:
                break
            shift = hunk.new_end - hunk.old_end
        return part.change.new_path, line + shift

    def line_of(self, index: Index, sources: Sources, path: str, line: int) -> str:
        """A line, 0-based, of a document as an index shows it, from git where the file is another one by now; empty if neither has it."""
        part = self._parts["old"].get(path)
        if part is not None and part.old is not None and self.side_of(index, path) == "old":
            return part.old.lines[line] if line < len(part.old.lines) else ""
        lines = sources.lines(path)
        return lines[line].decode("utf-8", "replace") if lines is not None and line < len(lines) else ""

    def is_new_in(self, index: Index, path: str) -> bool:
        """Whether an index shows the new side of a file, or the file is no part of the change."""
        part = self._parts["new"].get(path)
        return part is None or (part.new is not None and part.new.outline.held_by is index)

    def _touched_in(self, part: Part) -> set[tuple[str, ...]]:
        """Symbols of which a line differs on either side: what was only taken out shows on the old one."""
        found = self._touched.get(id(part.change))
        if found is None:
            hunks = part.change.hunks
            found = self._touched[id(part.change)] = set()
            for side, ranges in (
                (part.old, [(hunk.old_start, hunk.old_end) for hunk in hunks]),
                (part.new, [(hunk.new_start, hunk.new_end) for hunk in hunks]),
            ):
                if side is not None:
                    found |= {side.outline.entities[number].chain for number in side.touched(ranges)}
        return found


# ---- changed symbols in the indexes


def bind(changed: Sequence[Changed], old: Index | None, new: Index | None) -> list[Bound]:
    """Finds each symbol in the index of its side.

    Args:
        old, new: indexes of the two sides, possibly the same one, possibly not of the very content: then the name decides, and the
            result is not `exact`.
    """
    wanted_old = {item.old[0].outline.path for item in changed if item.old and not _is_of(item.old[0].outline, old)}
    wanted_new = {item.new[0].outline.path for item in changed if item.new and not _is_of(item.new[0].outline, new)}
    by_name_old = names_in(old, wanted_old)
    by_name_new = by_name_old if old is new and wanted_new <= wanted_old else names_in(new, wanted_new)
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


def names_in(index: Index | None, paths: Collection[str]) -> dict[tuple[str, tuple[str, ...]], int]:
    """Symbols of documents, whatever their content is, by path and chain."""
    if index is None or not paths:
        return {}
    found: dict[tuple[str, tuple[str, ...]], int] = {}
    for (path, _, _), outline in from_index([Held(index, content) for content in contents(index, paths).values()]).items():
        for entity in outline.entities:
            found.setdefault((path, entity.chain), entity.sym_id)
    return found


# ---- who uses them


def call_sites(index: Index, uses: Iterable[Use], files: Files) -> dict[int, list[CallSite]]:
    """Uses by symbol, with what the change does to the places where they are."""
    listed = list(uses)
    docs = documents(index, {use.doc_id for use in listed})
    found: dict[int, list[CallSite]] = {}
    for use in listed:
        path = docs[use.doc_id].path
        side = files.side_of(index, path)
        found.setdefault(use.sym_id, []).append(CallSite(index, use, side, path, files.updated(side, path, use.line)))
    return found


def resolved(index: Index, sites: Sequence[CallSite], files: Files) -> list[CallSite]:
    """The same uses, those marked that the index of the new side gives another meaning to by now."""
    places: dict[tuple[str, int, int], list[int]] = {}
    for number, site in enumerate(sites):
        path, line = files.line_now(site.path, site.use.line)
        if not site.updated and site.held_by is not index and files.is_new_in(index, path):
            places.setdefault((path, line, site.use.col), []).append(number)
    if not places:
        return list(sites)
    known = {number for found in resolved_sites(index, places) for number in places[found]}
    return [site._replace(resolves=True) if number in known else site for number, site in enumerate(sites)]


def led_along(moved: Mapping[int, Changed], sites: Mapping[int, Sequence[CallSite]], files: Files) -> dict[int, list[CallSite]]:
    """Uses by symbol as of `call_sites`, those marked that mean it at its new place though their own lines are as they were.

    Those are the uses of a file that was moved as a whole, and those of a file that has the name by imports, all of which the change
    touches, and to which it adds lines with the name and with that of the new file.

    Args:
        moved: of the symbols that are elsewhere now under the same name, what is known of them.
    """
    found = {sym_id: list(of_symbol) for sym_id, of_symbol in sites.items()}
    for sym_id, changed in moved.items():
        of_symbol = found.get(sym_id, [])
        imports: dict[str, list[CallSite]] = {}
        for site in of_symbol:
            if site.use.relation == "import" and site.side == "old":
                imports.setdefault(site.path, []).append(site)
        stem = PurePosixPath(changed.side.outline.path)
        called = stem.parent.name if stem.stem in _OF_FOLDER else stem.stem
        anew = {
            path
            for path, lines in imports.items()
            if all(files.touches("old", path, site.use.line) for site in lines)
            if {changed.entity.name, called} <= files.words_added(path)
        }
        found[sym_id] = [
            site._replace(resolves=True)
            if not site.updated
            and (site.path in anew or (site.use.relation != "import" and files.goes_with(site.path, changed.side.outline.path)))
            else site
            for site in of_symbol
        ]
    return found
