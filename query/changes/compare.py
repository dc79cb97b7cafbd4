"""What became of each symbol of a file, from its outlines and texts on both sides and the lines that differ. Pure.

A symbol is changed where a line of its own differs, on either side; a line of a method is not its class's own. What became of it is said
by its code without comments, documentation and layout, so that a reviewer can leave out what cannot break anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from indexer.languages import record_of
from indexer.model import CALLABLE_KINDS, TYPE_KINDS
from query.changes.diff import FileChange
from query.changes.outlines import Entity, Outline
from query.changes.scan import code
from query.changes.signatures import CALLED_AS, plain

What = Literal["added", "removed", "renamed", "moved", "signature", "body", "docs"]
"""added, removed; renamed: another name, same place, much the same code; moved: same name, another file or container;
signature: its declaration differs; body: its code differs; docs: only comments, documentation or layout do.
Of what moved to another file of a package whose files its users do not see, a difference of declaration or code is said instead.
"""

RENAMED_LIKENESS = 0.5
"""Share of runs of three words that a removed and an added symbol must have in common to be one that was renamed or moved."""

MOVED_LIKENESS = 0.3
"""The same where they have one name at the top of their files."""

_MIN_WORDS = 10
"""Less code than that is like any other."""

_DECLARED = CALLABLE_KINDS | TYPE_KINDS


class Side:
    """A file on one side: its symbols, its lines without their ends, and which of the symbols each line belongs to."""

    def __init__(self, outline: Outline, lines: Sequence[str]) -> None:
        self.outline = outline
        self.lines = lines

    @cached_property
    def owners(self) -> list[tuple[int, ...]]:
        """By line, the positions in the outline of the innermost symbols there: several where they share the line."""
        entities = self.outline.entities
        count = len(self.lines)
        owners: list[tuple[int, ...]] = [(0,)] * count
        for number, entity in enumerate(entities):
            if not number:
                continue
            for start, end in entity.spans:
                lines = range(start, min(end, count))
                others: tuple[int, ...] = ()
                if end - start == 1 and lines:
                    others = tuple(
                        other for other in owners[start] if other and entities[other].chain != entity.chain[: len(entities[other].chain)]
                    )
                owners[lines.start : lines.stop] = [(*others, number)] * len(lines)
        return owners

    @cached_property
    def own(self) -> Mapping[int, list[int]]:
        """The lines of each symbol that are not a member's, in order."""
        found: dict[int, list[int]] = {}
        for line, numbers in enumerate(self.owners):
            for number in numbers:
                found.setdefault(number, []).append(line)
        return found

    def touched(self, ranges: Iterable[tuple[int, int]]) -> dict[int, int]:
        """By symbol: how many of its own lines are in the ranges."""
        counts: dict[int, int] = {}
        owners = self.owners
        for start, end in ranges:
            for line in range(start, min(end, len(owners))):
                for number in owners[line]:
                    counts[number] = counts.get(number, 0) + 1
        return counts

    def text(self, number: int) -> list[str]:
        """What is its own."""
        return [self.lines[line] for line in self.own.get(number, ())]


class Changed(NamedTuple):
    """One symbol. `old` is None where it was added, `new` where it was removed. `touched`: lines of its own that differ, old and new."""

    what: What
    old: tuple[Side, Entity] | None
    new: tuple[Side, Entity] | None
    touched: tuple[int, int] = (0, 0)
    likeness: float = 1.0

    @property
    def entity(self) -> Entity:
        side = self.new or self.old
        assert side is not None
        return side[1]

    @property
    def side(self) -> Side:
        side = self.new or self.old
        assert side is not None
        return side[0]

    @property
    def is_gone(self) -> bool:
        """Whether it is no longer there for who used it: removed, or elsewhere, and not merely in another file of its package."""
        if self.what == "moved" and self.old and self.new:
            return not _is_same_in_package(self.old, self.new)
        return self.what in ("removed", "renamed", "moved")


def compare(change: FileChange, old: Side | None, new: Side | None) -> list[Changed]:
    """What became of the symbols of one file, in the order of the text, removed ones last."""
    counts_old = old.touched((hunk.old_start, hunk.old_end) for hunk in change.hunks) if old else {}
    counts_new = new.touched((hunk.new_start, hunk.new_end) for hunk in change.hunks) if new else {}
    if new is None:
        return _all("removed", old, counts_old) if old else []
    if old is None:
        return _all("added", new, counts_new)
    was_moved = change.old_path != change.new_path
    partners = _partners(old.outline.entities, new.outline.entities)
    gone = set(range(len(old.outline.entities))) - set(partners.values())
    chains = {entity.chain for entity in old.outline.entities} & {entity.chain for entity in new.outline.entities}
    found: list[Changed] = []
    for number, entity in enumerate(new.outline.entities):
        here = (new, entity)
        if number not in partners:
            # two crawls may see a member differently that nobody touched; it is new where its lines are, or what is around it
            if counts_new.get(number) or entity.chain[:-1] not in chains:
                found.append(Changed("added", None, here, (0, counts_new.get(number, 0))))
            continue
        before = partners[number]
        there = (old, old.outline.entities[before])
        counts = (counts_old.get(before, 0), counts_new.get(number, 0))
        if was_moved and not entity.chain:
            found.append(Changed("moved", there, here, counts))
        elif counts != (0, 0):
            what = _difference(there, before, here, number)
            if what is not None:
                found.append(Changed(what, there, here, counts))
        elif was_moved and len(entity.chain) == 1 and entity.exported:
            found.append(Changed("moved", there, here, counts))
    for number in sorted(gone):
        entity = old.outline.entities[number]
        if counts_old.get(number) or entity.chain[:-1] not in chains:
            found.append(Changed("removed", (old, entity), None, (counts_old.get(number, 0), 0)))
    return found


def _all(what: Literal["added", "removed"], side: Side, counts: Mapping[int, int]) -> list[Changed]:
    if what == "added":
        return [Changed(what, None, (side, entity), (0, counts.get(number, 0))) for number, entity in enumerate(side.outline.entities)]
    return [Changed(what, (side, entity), None, (counts.get(number, 0), 0)) for number, entity in enumerate(side.outline.entities)]


def _partners(old: Sequence[Entity], new: Sequence[Entity]) -> dict[int, int]:
    """By position in `new`, the position of the same symbol in `old`. Of several with one name (overloads), those whose declaration is
    the same go together, the rest in their order.
    """
    before: dict[tuple[str, ...], list[int]] = {}
    for number, entity in enumerate(old):
        before.setdefault(entity.chain, []).append(number)
    after: dict[tuple[str, ...], list[int]] = {}
    for number, entity in enumerate(new):
        if entity.chain in before:
            after.setdefault(entity.chain, []).append(number)
    found: dict[int, int] = {}
    for chain, numbers in after.items():
        theirs = before[chain]
        if len(numbers) == len(theirs) == 1:
            found[numbers[0]] = theirs[0]
            continue
        left = list(theirs)
        for number in numbers:
            same = [other for other in left if plain(old[other].signature) == plain(new[number].signature)]
            if same:
                found[number] = same[0]
                left.remove(same[0])
        found.update(zip([number for number in numbers if number not in found], left, strict=False))
    return found


def _difference(old: tuple[Side, Entity], before: int, new: tuple[Side, Entity], now: int) -> What | None:
    """None where nothing differs of a module or type but empty lines between its members."""
    earlier, later = old[1], new[1]
    if _declaration(earlier) != _declaration(later):
        return "signature"
    ours, theirs = old[0].text(before), new[0].text(now)
    has_members = not later.chain or later.kind in TYPE_KINDS
    if has_members and [line for line in ours if line.strip()] == [line for line in theirs if line.strip()]:
        return None
    language = new[0].outline.language
    return "docs" if ours == theirs or code(language, ours) == code(language, theirs) else "body"


def _declaration(entity: Entity) -> tuple[str, int]:
    return (plain(entity.signature), entity.flags & CALLED_AS) if entity.kind in _DECLARED else ("", 0)


# ---- renamed and moved


def match_moved(changes: Sequence[Changed]) -> list[Changed]:
    """Removed and added symbols of much the same code become one that was renamed or moved; the rest stays as it is.

    Members that went with their type are changed only where they differ themselves.
    """
    removed = [item for item in changes if item.what == "removed" and item.entity.chain]
    added = [item for item in changes if item.what == "added" and item.entity.chain]
    partner: dict[int, Changed] = {}
    gone: dict[int, Changed] = {}
    for likeness, left, right in sorted(_pairs(removed, added), key=lambda pair: _order(*pair)):
        if id(left) not in gone and id(right) not in partner:
            what: What = "moved" if left.entity.name == right.entity.name else "renamed"
            if left.old and right.new and _is_same_in_package(left.old, right.new):
                differs = _became(left, right)
                what = what if differs == "docs" else differs
            gone[id(left)] = right
            partner[id(right)] = Changed(what, left.old, right.new, (left.touched[0], right.touched[1]), likeness)
    along = _along(removed, added, partner, gone)
    found: list[Changed] = []
    for item in changes:
        if id(item) in gone:
            continue
        if id(item) in along:
            found += [along[id(item)]] if along[id(item)].what != "docs" else []
        else:
            found.append(partner.get(id(item), item))
    return found


def _order(likeness: float, left: Changed, right: Changed) -> tuple[object, ...]:
    """Types before their members, one name before two, the most alike first."""
    same = left.entity.name == right.entity.name
    return (
        len(left.entity.chain),
        not same,
        -likeness,
        left.side.outline.path,
        left.entity.chain,
        right.side.outline.path,
        right.entity.chain,
    )


def _along(
    removed: Sequence[Changed], added: Sequence[Changed], partner: dict[int, Changed], gone: dict[int, Changed]
) -> dict[int, Changed]:
    """By added member of a type that was renamed or moved: what became of it, `docs` where nothing did. Marks the removed ones as gone."""
    types = {
        (id(item.new[0]), item.new[1].chain): (id(item.old[0]), item.old[1].chain)
        for item in partner.values()
        if item.old and item.new and item.entity.kind in (*TYPE_KINDS, 2, 3)
    }
    if not types:
        return {}
    before = {(id(item.side), item.entity.chain): item for item in removed}
    found: dict[int, Changed] = {}
    for item in added:
        chain = item.entity.chain
        for length in range(len(chain) - 1, 0, -1):
            origin = types.get((id(item.side), chain[:length]))
            earlier = before.get((origin[0], (*origin[1], *chain[length:]))) if origin else None
            if earlier is not None and earlier.old and item.new and (id(earlier) not in gone or gone[id(earlier)] is item):
                found[id(item)] = Changed(_became(earlier, item), earlier.old, item.new, (earlier.touched[0], item.touched[1]))
                gone[id(earlier)] = item
                break
    return found


def _became(earlier: Changed, later: Changed) -> What:
    """What differs of a removed and an added symbol that are one, apart from where they are; `docs` where nothing does."""
    assert earlier.old is not None
    assert later.new is not None
    before, now = (
        next(number for number, entity in enumerate(side.outline.entities) if entity is own) for side, own in (earlier.old, later.new)
    )
    return _difference(earlier.old, before, later.new, now) or "docs"


def _is_same_in_package(old: tuple[Side, Entity], new: tuple[Side, Entity]) -> bool:
    """Whether two are one for whoever uses them: in which of a package's files something stands is nobody's business in Go."""
    ours, theirs = old[0].outline, new[0].outline
    return (
        ours.language == theirs.language
        and record_of(ours.language).spreads
        and old[1].chain == new[1].chain
        and ours.path.rpartition("/")[0] == theirs.path.rpartition("/")[0]
    )


def _pairs(removed: Sequence[Changed], added: Sequence[Changed]) -> Iterator[tuple[float, Changed, Changed]]:
    """Candidates that are alike enough: one name anywhere, or another name in the same container of the same file."""
    by_name: dict[tuple[str, int, str], list[Changed]] = {}
    by_place: dict[tuple[str, tuple[str, ...], int], list[Changed]] = {}
    for item in added:
        outline = item.side.outline
        by_name.setdefault((item.entity.name, item.entity.kind, outline.language), []).append(item)
        by_place.setdefault((outline.path, item.entity.chain[:-1], item.entity.kind), []).append(item)
    words: dict[int, Counter[tuple[str, str, str]]] = {}
    for left in removed:
        outline = left.side.outline
        others = by_name.get((left.entity.name, left.entity.kind, outline.language), [])
        others = others + [
            item
            for item in by_place.get((outline.path, left.entity.chain[:-1], left.entity.kind), ())
            if item.entity.name != left.entity.name
        ]
        for right in others[:_MOST_PAIRS]:
            if left.old and right.new and _is_same_in_package(left.old, right.new):
                yield 1.0, left, right
                continue
            likeness, size = _likeness(words, left, right)
            at_top = left.entity.name == right.entity.name and len(left.entity.chain) == len(right.entity.chain) == 1
            if likeness >= (MOVED_LIKENESS if at_top else RENAMED_LIKENESS) and (at_top or size >= _MIN_WORDS):
                yield likeness, left, right


_MOST_PAIRS = 200


def _likeness(words: dict[int, Counter[tuple[str, str, str]]], left: Changed, right: Changed) -> tuple[float, int]:
    """Share of runs of three words in common, and how many words there are."""
    ours, theirs = _words(words, left), _words(words, right)
    size = ours.total() + theirs.total()
    return (2 * (ours & theirs).total() / size if size else 1.0), size // 2


def _words(known: dict[int, Counter[tuple[str, str, str]]], item: Changed) -> Counter[tuple[str, str, str]]:
    """Runs of three words in the code of the whole symbol, without its own name."""
    if id(item) not in known:
        side, entity = item.side, item.entity
        lines = [line for start, end in entity.spans for line in side.lines[start:end]]
        tokens = [token for token in code(side.outline.language, lines) if token != entity.name]
        known[id(item)] = Counter(zip(tokens, tokens[1:], tokens[2:], strict=False))
    return known[id(item)]
