"""Interfaces that a type satisfies no longer, since a member that they ask for is gone, is declared otherwise, or is asked for anew.

From the index of the old side: only it knows what the type was good for. Go's types satisfy interfaces by what they have, so gopls's
hierarchy says which; elsewhere a type names its interfaces, traits, protocols or abstract classes, and fails without the member whoever
uses it. What the change does to the interface itself decides first: a member that it changes too is taken to be changed along.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from indexer.languages import record_of
from indexer.model import CALLABLE_KINDS, Evidence, SymbolFlag, SymbolKind
from query.changes.compare import Changed, What
from query.changes.effects import Bound, CallSite, Files, call_sites, names_in
from query.changes.kinship import Held, Kinship
from query.changes.signatures import stands_in
from query.facts import declarations
from query.facts.declarations import Member
from query.facts.documents import documents
from query.facts.extents import functions_around
from query.facts.hierarchy import supertypes
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.sources import Sources
from query.facts.symbols import ids_of_monikers
from query.facts.uses import Use, uses_of

How = Literal["missing", "differs"]

_MEMBERS = (int(SymbolKind.METHOD), int(SymbolKind.PROPERTY), int(SymbolKind.FIELD))
_INTERFACE = int(SymbolKind.INTERFACE)
_ABSTRACT, _EXTERNAL = int(SymbolFlag.ABSTRACT), int(SymbolFlag.EXTERNAL)
_RECEIVER = re.compile(r"^func \([^)]*\)")
_PACKAGE = re.compile(r"go go std \S+ ([\w./~-]*)/`[^`]*`/(\w+)#\Z")

KNOWN_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "builtin.error": ("Error",),
    "context.Context": ("Deadline", "Done", "Err", "Value"),
    "database/sql.Scanner": ("Scan",),
    "database/sql/driver.Valuer": ("Value",),
    "encoding.BinaryMarshaler": ("MarshalBinary",),
    "encoding.BinaryUnmarshaler": ("UnmarshalBinary",),
    "encoding.TextMarshaler": ("MarshalText",),
    "encoding.TextUnmarshaler": ("UnmarshalText",),
    "encoding/json.Marshaler": ("MarshalJSON",),
    "encoding/json.Unmarshaler": ("UnmarshalJSON",),
    "flag.Value": ("String", "Set"),
    "fmt.Formatter": ("Format",),
    "fmt.GoStringer": ("GoString",),
    "fmt.Stringer": ("String",),
    "io.Closer": ("Close",),
    "io.ReadCloser": ("Read", "Close"),
    "io.ReadWriteCloser": ("Read", "Write", "Close"),
    "io.ReadWriter": ("Read", "Write"),
    "io.Reader": ("Read",),
    "io.ReaderAt": ("ReadAt",),
    "io.ReaderFrom": ("ReadFrom",),
    "io.Seeker": ("Seek",),
    "io.WriteCloser": ("Write", "Close"),
    "io.Writer": ("Write",),
    "io.WriterTo": ("WriteTo",),
    "io/fs.FS": ("Open",),
    "log/slog.Handler": ("Enabled", "Handle", "WithAttrs", "WithGroup"),
    "net/http.Handler": ("ServeHTTP",),
    "net/http.ResponseWriter": ("Header", "Write", "WriteHeader"),
    "net/http.RoundTripper": ("RoundTrip",),
    "sort.Interface": ("Len", "Less", "Swap"),
}
"""What interfaces of Go's standard library ask for: an index knows that a type satisfies them, and of their members only those in use."""


class Lost(NamedTuple):
    """An interface that a type satisfied before the change.

    type_id, interface_id: in the index of the old side. member_id: what the interface asks for, -1 where the index has not got it.
    heir: the type has the member from the one that was changed. external: the interface is not of the workspace. declared: the type says
    itself that it is one, so it is no type without the member.
    sites: where it is called through the interface, and where the type is used as one; those outside tests that the change leaves alone
    are counted in `used`.
    """

    type_id: int
    interface_id: int
    member_id: int
    how: How
    heir: bool
    external: bool
    declared: bool
    sites: Sequence[CallSite]

    @property
    def used(self) -> int:
        return sum(not site.updated and not site.use.is_test for site in self.sites)


def lost(old: Index, new: Index, bound: Sequence[Bound], files: Files) -> dict[int, list[Lost]]:
    """By position in `bound`: the interfaces that ask for the member and do not get it any more, those of the workspace first.

    Args:
        old: the index of the old side, or what stands for it. new: of the new side, perhaps the same one.
    """
    asked: dict[int, How] = {number: how for number, item in enumerate(bound) if (how := _how(item)) is not None}
    members = declarations.members(old, {bound[number].old_id for number in asked})
    asked = {number: how for number, how in asked.items() if bound[number].old_id in members}
    anew = _asked_anew(old, bound)
    if not asked and not anew:
        return {}
    kinship = Kinship(old, {members[bound[number].old_id].container for number in asked} | set(anew.values()))
    names = sorted({members[bound[number].old_id].name for number in asked} | {bound[number].changed.entity.name for number in anew})
    held = _held(old, kinship, names)
    demands = _Demands(old, files, kinship)
    became: dict[int, What] = {
        item.old_id: item.changed.what for item in bound if item.old_id >= 0 and (item.changed.is_gone or item.changed.what != "moved")
    }
    found: dict[int, list[Lost]] = {}
    for number, how in asked.items():
        listed = list(_not_given(members[bound[number].old_id], how, became, kinship, held, demands))
        if listed:
            found[number] = listed
    for number, interface_id in anew.items():
        listed = list(_not_had(bound[number], interface_id, bound, kinship, held, demands))
        if listed:
            found[number] = listed
    return _with_sites(old, files, kinship, _without_kept(old, new, bound, files, kinship, found))


def _not_given(member: Member, how: How, became: Mapping[int, What], kinship: Kinship, held: Held, demands: _Demands) -> Iterator[Lost]:
    """Each interface once, that asks its type or one that has the member from it."""
    if member.container not in kinship.types or became.get(member.container) in ("removed", "renamed", "moved"):
        return
    told: set[int] = set()
    for type_id in (member.container, *kinship.heirs(member.container, member.name, held)):
        if how == "missing" and demands.provided(type_id, member.name, held, without=member.container):
            continue
        for interface_id, asks in demands.made_on(type_id, member.name, held):
            goes_along = asks >= 0 and became.get(asks) in ("removed", "renamed", "signature")
            if not goes_along and interface_id not in told:
                told.add(interface_id)
                yield _lost(kinship, type_id, interface_id, asks, how, heir=type_id != member.container)


def _not_had(
    item: Bound,
    interface_id: int,
    bound: Sequence[Bound],
    kinship: Kinship,
    held: Held,
    demands: _Demands,
) -> Iterator[Lost]:
    """Types below an interface that a new member of it is asked of, and that neither have it nor get it with the change."""
    name = item.changed.entity.name
    language = item.changed.side.outline.language
    added = {
        other.changed.entity.chain[-2]
        for other in bound
        if other is not item and other.changed.new is not None and other.changed.old is None and other.changed.entity.name == name
        if len(other.changed.entity.chain) > 1 and other.changed.side.outline.language == language
    }
    for type_id in kinship.below(interface_id):
        its = kinship.types[type_id]
        above = {type_id, *kinship.above(type_id, listed=True)} - {interface_id}
        has = any((super_id, name) in held or kinship.types[super_id].name in added for super_id in above)
        if not has and not kinship.is_abstract(type_id) and not its.flags & _EXTERNAL:
            yield _lost(kinship, type_id, interface_id, -1, "missing", heir=False)


def _lost(kinship: Kinship, type_id: int, interface_id: int, member_id: int, how: How, *, heir: bool) -> Lost:
    its = kinship.types[interface_id]
    return Lost(
        type_id=type_id,
        interface_id=interface_id,
        member_id=member_id,
        how=how,
        heir=heir,
        external=bool(its.flags & _EXTERNAL),
        declared=record_of(its.language).satisfies != "unsaid" and not kinship.is_abstract(type_id),
        sites=(),
    )


def _asked_anew(old: Index, bound: Sequence[Bound]) -> dict[int, int]:
    """By position in `bound` of a new member that an interface asks for: the interface."""
    added = {number: item.changed for number, item in enumerate(bound) if item.changed.what == "added" and _is_asked(item.changed)}
    known = names_in(old, {change.side.outline.path for change in added.values()})
    around = {number: known.get((change.side.outline.path, change.entity.chain[:-1]), -1) for number, change in added.items()}
    return {number: sym_id for number, sym_id in around.items() if sym_id >= 0}


def _is_asked(change: Changed) -> bool:
    """Whether a member that is new must be had by those below its type, as its declaration says."""
    side, entity = change.side, change.entity
    if len(entity.chain) < 2 or entity.kind not in _MEMBERS:
        return False
    if entity.flags & _ABSTRACT:
        return True
    around = next((other for other in side.outline.entities if other.chain == entity.chain[:-1]), None)
    if around is None or around.kind != _INTERFACE:
        return False
    last = entity.spans[-1][1] - 1
    return _has_no_default(side.outline.language, entity.name, entity.signature, side.lines[last] if last < len(side.lines) else "")


def _has_no_default(language: str, name: str, signature: str, last_line: str) -> bool:
    """Whether a member of an interface must be had, by how it is declared: in TypeScript it may be optional, elsewhere have a body."""
    match record_of(language).satisfies:
        case "protocol":
            return False
        case "unsaid":
            return True
        case "shape":
            return re.match(rf"[\w\s]*{re.escape(name)}\?", signature) is None
        case _:
            return not last_line.rstrip().endswith("}")


def _how(item: Bound) -> How | None:
    """Whether a member of a type is gone from it, or is declared so that it is no longer what it was good for."""
    changed = item.changed
    if changed.old is None or item.old_id < 0 or len(changed.old[1].chain) < 2 or changed.old[1].kind not in _MEMBERS:
        return None
    if changed.what in ("removed", "renamed", "moved"):
        return "missing" if changed.entity.chain != changed.old[1].chain or changed.what == "removed" else None
    if changed.what == "signature" and not stands_in(changed.side.outline.language, changed.old[1].signature, changed.entity.signature):
        return "differs"
    return None


# ---- what the old side says


def _held(index: Index, kinship: Kinship, names: Sequence[str]) -> Held:
    """Members of these names in all types around, by type and name."""
    found = declarations.members_called(index, kinship.everybody, names)
    return {(member.container, member.name): member for member in found if member.kind in _MEMBERS}


class _Demands:
    """Which types ask for a member, and which give it."""

    def __init__(self, index: Index, files: Files, kinship: Kinship) -> None:
        self._index, self._files, self._kinship = index, files, kinship
        self._sources = Sources(index)

    def made_on(self, type_id: int, name: str, held: Held) -> Iterator[tuple[int, int]]:
        """(interface above that asks for it, its member; -1 where the index has not got that)."""
        asked = list(self._kinship.above(type_id))
        if name == "Error" and self._kinship.error >= 0:
            asked.append(self._kinship.error)
        for super_id in asked:
            member = held.get((super_id, name))
            if member is not None and self._asks(member):
                yield super_id, member.sym_id
            elif member is None and name in KNOWN_ELSEWHERE.get(known_as(self._kinship.types[super_id].moniker), ()):
                yield super_id, -1

    def provided(self, type_id: int, name: str, held: Held, *, without: int) -> bool:
        """Whether the type has such a member from one that it builds on, other than the one that was changed."""
        for super_id in self._kinship.above(type_id, listed=True):
            member = held.get((super_id, name))
            if member is not None and super_id != without and (record_of(member.language).satisfies == "unsaid" or not self._asks(member)):
                return True
        return False

    def _asks(self, member: Member) -> bool:
        """Whether those below must have the member themselves."""
        around = self._kinship.types[member.container]
        if member.flags & _ABSTRACT:
            return True
        if record_of(member.language).satisfies == "protocol":
            return any(self._kinship.types[super_id].name == "Protocol" for super_id in self._kinship.above(member.container))
        return around.kind == _INTERFACE and _has_no_default(member.language, member.name, member.signature, self._last(member))

    def _last(self, member: Member) -> str:
        """The last line of a member, as far as it is the member's."""
        path = documents(self._index, [member.doc_id])[member.doc_id].path
        return self._files.line_of(self._index, self._sources, path, member.end_line)[: member.end_col].rstrip()


def known_as(moniker: str) -> str:
    """A type of Go's standard library as documentation writes it, `net/http.Handler`; empty for all others."""
    found = _PACKAGE.match(moniker)
    return f"{found.group(1)}.{found.group(2)}" if found else ""


# ---- what the new side says, and who minds


def _without_kept(
    old: Index, new: Index, bound: Sequence[Bound], files: Files, kinship: Kinship, found: Mapping[int, list[Lost]]
) -> dict[int, list[Lost]]:
    """Those of Go's that the index of the new side does not show again: it has been asked whether the type satisfies them."""
    if new is old:
        return dict(found)
    types = {sym_id for items in found.values() for item in items for sym_id in (item.type_id, item.interface_id)}
    satisfied = _satisfied(new, kinship, types)
    kept: dict[int, list[Lost]] = {}
    for number, items in found.items():
        shows_new = files.is_new_in(new, bound[number].changed.side.outline.path)
        for item in items:
            own, theirs = kinship.types[item.type_id], kinship.types[item.interface_id]
            if not (shows_new and record_of(own.language).satisfies == "unsaid" and (own.moniker, theirs.moniker) in satisfied):
                kept.setdefault(number, []).append(item)
    return kept


def _satisfied(index: Index, kinship: Kinship, types: Collection[int]) -> set[tuple[str, str]]:
    """(type, interface), by moniker, of which an index says that a server was asked and said yes."""
    here = ids_of_monikers(index, {kinship.types[type_id].moniker for type_id in types})
    moniker_of = {sym_id: moniker for moniker, sym_id in here.items()}
    return {
        (moniker_of[edge.of], moniker_of[edge.other])
        for edge in supertypes(index, moniker_of)
        if edge.evidence == Evidence.TYPE_HIERARCHY and edge.other in moniker_of
    }


def _with_sites(old: Index, files: Files, kinship: Kinship, found: Mapping[int, list[Lost]]) -> dict[int, list[Lost]]:
    """Calls of the interface's member first, then places that hand on the type where the interface is taken."""
    items = [item for listed in found.values() for item in listed]
    if not items:
        return {}
    types = {item.type_id for item in items} | {item.interface_id for item in items}
    uses = uses_of(old, types | {item.member_id for item in items if item.member_id >= 0})
    by_symbol: dict[int, list[Use]] = {}
    for use in uses:
        if use.relation != "import":
            by_symbol.setdefault(use.sym_id, []).append(use)
    takers = _declaring(old, by_symbol, kinship, types)
    calls = uses_of(old, {holder for holders in takers.values() for holder in holders})
    meeting = _Meeting(by_symbol, takers, calls)
    filled: dict[int, list[Lost]] = {}
    for number, listed in found.items():
        for item in listed:
            mine = [use for use in by_symbol.get(item.member_id, ()) if use.relation == "call"]
            mine += meeting.of(item.type_id, item.interface_id)
            sites = [_by_line(old, files, site) for sites in call_sites(old, mine, files).values() for site in sites]
            filled.setdefault(number, []).append(item._replace(sites=sites))
    return {number: sorted(listed, key=lambda item: (item.external, not item.used)) for number, listed in filled.items()}


def _by_line(index: Index, files: Files, site: CallSite) -> CallSite:
    """Outside functions a line stands for itself: `var _ Saver = (*Disk)(nil)` is left alone whatever is touched beside it."""
    if scopes(index, [site.use.holder])[site.use.holder].kind in CALLABLE_KINDS:
        return site
    return site._replace(updated=files.touches(site.side, site.path, site.use.line))


def _declaring(index: Index, by_symbol: Mapping[int, Sequence[Use]], kinship: Kinship, types: Collection[int]) -> dict[int, set[int]]:
    """By type the functions whose declaration names it: that take one, or give one. What a method is declared on does not count."""
    places = {(use.doc_id, use.line, use.col) for type_id in types for use in by_symbol.get(type_id, ())}
    around = {
        place: [(function.sym_id, _RECEIVER.sub("", function.signature)) for function in functions]
        for place, functions in functions_around(index, places).items()
    }
    everywhere = [item for items in around.values() for item in items]
    found: dict[int, set[int]] = {}
    for type_id in types:
        name = re.compile(rf"\b{re.escape(kinship.types[type_id].name)}\b")
        own = (item for use in by_symbol.get(type_id, ()) for item in around.get((use.doc_id, use.line, use.col), ()))
        found[type_id] = {sym_id for sym_id, signature in (everywhere if type_id == kinship.error else own) if name.search(signature)}
    return found


class _Meeting:
    """Where a type and an interface meet: one statement names both, a function gives the one as the other, or calls what takes it."""

    def __init__(self, by_symbol: Mapping[int, Sequence[Use]], takers: Mapping[int, set[int]], calls: Iterable[Use]) -> None:
        self._by_symbol, self._takers = by_symbol, takers
        self._calls: dict[int, list[Use]] = {}
        for use in calls:
            if use.relation == "call":
                self._calls.setdefault(use.sym_id, []).append(use)

    def of(self, type_id: int, interface_id: int) -> list[Use]:
        """Each place once, in the order of the text."""
        theirs = self._by_symbol.get(interface_id, ())
        lines = {(use.doc_id, use.line, use.holder) for use in theirs}
        takers, makers = self._takers[interface_id], self._takers[type_id]
        mine = self._by_symbol.get(type_id, ())
        holders = {use.holder for use in mine} - makers | {use.holder for maker in makers for use in self._calls.get(maker, ())}
        found = [use for use in mine if (use.doc_id, use.line, use.holder) in lines or (use.holder in takers and use.holder not in makers)]
        for taker in takers - makers:
            found += [use for use in self._calls.get(taker, ()) if use.holder in holders]
        told: dict[tuple[int, int], Use] = {}
        for use in sorted(found, key=lambda use: (use.doc_id, use.line, use.col)):
            told.setdefault((use.doc_id, use.line), use)
        return list(told.values())
