"""What other files can see of a file, and what of it differs after an edit. Pure: works on columns of facts.

A server's answer about a file depends on other files only by what it can learn of them: their symbols and what it says of these (kind,
declaration, hover: the type as far as the server knows it), the names that their modules import, their `__all__`. What happens inside of
a function's body shows there or nowhere: a body that changes and leaves all hovers the same changes no answer about another file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Role, SymbolFlag, SymbolKind
from indexer.store.facts import SYMBOLS

Columns = Mapping[str, Mapping[str, Sequence[Any]]]
"""One document's facts: `columns[table][column]` as in `indexer.store.facts.TABLES`."""

_CUT = re.compile(r"omitted|\d+ more|\.\.\.[;}]|\.\.\. [}|&]|…")
"""A hover with one of these, before its prose, may not show all of a type."""

_WORD = re.compile(r"\w+")
_SHOWN = tuple(name for name, column in SYMBOLS.items() if column.shows)
_RANGE = ("start_line", "start_col", "end_line", "end_col")
READ: Mapping[str, Collection[str]] = {
    "symbols": {"moniker", "name", "container", "kind", "flags", "hover", "sel_line", "sel_end_col", *_RANGE, *_SHOWN},
    "extra_ranges": ("symbol", *_RANGE),
    "members": ("symbol",),
    "occurrences": ("line", "col", "name", "roles", "enclosing", "target"),
    "targets": ("path", "end_line", "end_col", "symbol"),
    "supertypes": ("symbol", "target", "own"),
}
"""The columns that `interface` reads."""

_PROSE = "\n---"

_CALLABLE = frozenset(map(int, CALLABLE_KINDS))
_TYPES = frozenset(map(int, TYPE_KINDS))
_PRIVATE_TO_SCOPE = int(SymbolFlag.LOCAL)
_IN_HEADER = int(Role.ANNOTATION | Role.DECORATOR | Role.SUPERTYPE)
_SPECIAL_KINDS = frozenset({int(SymbolKind.FIELD), int(SymbolKind.ENUM_MEMBER), int(SymbolKind.CONSTANT), int(SymbolKind.VARIABLE)})


Means = Callable[[str, int, int, int], int]
"""Key of the symbol that a target is, of its columns (path, end_line, end_col, symbol); 0 where it is not known."""


class Shape(NamedTuple):
    """One symbol as others see it. `digest`: of everything; `container`: its moniker, `in_type`: that is a type; `is_data`: declared in a
    class's body, no function; `is_cut`: the server has not written down all of its type. `meant`: keys of what the names in its
    declarations mean, and of its bases, in an order that the digest tells. `shown`: its type, as the server writes it.
    """

    name: str
    container: str
    in_type: bool
    is_type: bool
    is_data: bool
    is_cut: bool
    is_abstract: bool
    digest: bytes
    meant: tuple[int, ...]
    shown: str


Bindings = frozenset[tuple[str, tuple[tuple[str, int], ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """`bindings`: names that modules and classes import, with the files and symbols that they lead to. `stars`: files with all their names.

    `outside`: names and roles of all identifiers that are in no function, in order, and the files that they lead to. `is_sure`: False
    where something of it is not known, so that it is equal to nothing.
    """

    module: str
    moniker: str
    symbols: Mapping[str, Shape]
    bindings: Bindings
    stars: frozenset[str]
    mentions: frozenset[str]
    outside: bytes
    is_sure: bool


@dataclass(slots=True)
class Difference:
    """What an edit changed for other files.

    symbols: monikers that are gone or not what they were. names: bound in the module anew, otherwise or no more: who sees the module may
    mean something else by them. members: the same in types, of which who sees no module may have a value. redefined: members that
    changed, of which definitions of the same name elsewhere may be overrides. classes: monikers of types
    of which more than single members changed. stars: files of which all names are now imported, or no longer. modules: dotted names
    of modules that have come or gone. everything: all that refers to the file may be answered otherwise.
    """

    symbols: set[str] = field(default_factory=set[str])
    stars: set[str] = field(default_factory=set[str])
    modules: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    members: set[str] = field(default_factory=set[str])
    redefined: set[str] = field(default_factory=set[str])
    classes: set[str] = field(default_factory=set[str])
    everything: bool = False

    def __bool__(self) -> bool:
        parts = (self.symbols, self.names, self.members, self.modules, self.redefined, self.classes)
        return self.everything or any(parts)


def interface(header: Mapping[str, Any], columns: Columns, means: Means, *, has_hovers: bool) -> Interface:
    """What of a document's facts other files can see.

    Args:
        header: see `indexer.store.facts.HEADER`. means: asked about what is imported.
        has_hovers: whether the crawl asked for them; without, no body is known to be without effect.
    """
    symbols, occurrences, targets = columns["symbols"], columns["occurrences"], columns["targets"]
    monikers, kinds, flags, containers = symbols["moniker"], symbols["kind"], symbols["flags"], symbols["container"]
    by_self = set(columns["members"]["symbol"])

    def meant_by(target: int) -> int:
        return means(*(targets[c][target] for c in ("path", "end_line", "end_col", "symbol"))) if target >= 0 else 0

    within = _tokens_by_symbol(symbols, columns["extra_ranges"], occurrences, targets)
    supers: dict[int, set[tuple[str, int]]] = {}
    for owner, target, own in zip(*(columns["supertypes"][name] for name in ("symbol", "target", "own")), strict=True):
        supers.setdefault(owner, set()).add((monikers[own], 0) if own >= 0 else (targets["path"][target], meant_by(target)))
    overloads: dict[int, int] = {}
    for ordinal in columns["extra_ranges"]["symbol"]:
        overloads[ordinal] = overloads.get(ordinal, 0) + 1
    shapes: dict[str, Shape] = {}
    is_sure = has_hovers and header["status"] == "ok" and not header["error_lines"]
    for ordinal in range(1, len(monikers)):
        if flags[ordinal] & _PRIVATE_TO_SCOPE:
            continue
        hover = symbols["hover"][ordinal]
        container = monikers[containers[ordinal]] if containers[ordinal] >= 0 else ""
        seen = (
            *(symbols[name][ordinal] for name in _SHOWN), container, overloads.get(ordinal, 0),
            [token[:-1] for token in within.get(ordinal, ())], sorted(path for path, _ in supers.get(ordinal, ())),
        )  # fmt: skip
        shapes[monikers[ordinal]] = Shape(
            name=symbols["name"][ordinal],
            container=container,
            in_type=containers[ordinal] >= 0 and kinds[containers[ordinal]] in _TYPES,
            is_type=kinds[ordinal] in _TYPES,
            is_data=kinds[ordinal] in _SPECIAL_KINDS and ordinal not in by_self,
            is_cut=_CUT.search(hover.split(_PROSE, 1)[0]) is not None,
            is_abstract=bool(flags[ordinal] & SymbolFlag.ABSTRACT),
            digest=hashlib.blake2b(repr(seen).encode("utf-8", "surrogatepass"), digest_size=16).digest(),
            meant=tuple([meant_by(token[-1]) for token in within.get(ordinal, ())] + [key for _, key in sorted(supers.get(ordinal, ()))]),
            shown=hover.split(_PROSE, 1)[0],
        )
    bindings: dict[tuple[int, str], set[tuple[str, int]]] = {}
    stars: set[str] = set()
    mentions: set[str] = set()
    outside = hashlib.blake2b(digest_size=16)
    for name, roles, enclosing, target in zip(*(occurrences[c] for c in ("name", "roles", "enclosing", "target")), strict=True):
        if kinds[enclosing] in _CALLABLE:
            continue
        path = targets["path"][target] if target >= 0 else ""
        outside.update(f"{name} {roles} {path}\n".encode("utf-8", "surrogatepass"))
        if roles & Role.IMPORT:
            if not roles & Role.PATH:
                bindings.setdefault((enclosing, name), set()).add((path, meant_by(target)))
            if roles & Role.STAR:
                stars.add(path)
        if roles & Role.MENTION:
            mentions.add(name)
    return Interface(
        module=header["module"],
        moniker=monikers[0] if monikers else "",
        symbols=shapes,
        bindings=frozenset((name, tuple(sorted(paths))) for (_, name), paths in bindings.items()),
        stars=frozenset(stars),
        mentions=frozenset(mentions),
        outside=outside.digest(),
        is_sure=is_sure,
    )


def _tokens_by_symbol(
    symbols: Mapping[str, Sequence[Any]],
    further: Mapping[str, Sequence[Any]],
    occurrences: Mapping[str, Sequence[Any]],
    targets: Mapping[str, Sequence[Any]],
) -> dict[int, tuple[tuple[str, int, str, int], ...]]:
    """Names in each symbol's declarations: decorators, bases, annotations, what variables are made of.

    Of each: the name, its roles, the file that it leads to, the ordinal of its target.

    A server is asked about the first declaration only; of `further` ones (overloads, the other arm of an `if`) nothing else is known.
    """
    kinds = symbols["kind"]
    children: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for ordinal, (container, *span) in enumerate(zip(*(symbols[name] for name in ("container", *_RANGE)), strict=True)):
        children.setdefault(container, []).append((*span, ordinal))
    for ordinal, *span in zip(*(further[name] for name in ("symbol", *_RANGE)), strict=True):
        children.setdefault(symbols["container"][ordinal], []).append((*span, ordinal))
    found: dict[int, list[tuple[str, int, str, int]]] = {}
    rows = (occurrences[name] for name in ("line", "col", "name", "roles", "enclosing", "target"))
    for line, col, name, roles, enclosing, target in zip(*rows, strict=True):
        path = targets["path"][target] if target >= 0 else ""
        if kinds[enclosing] in _CALLABLE:
            if roles & _IN_HEADER:
                found.setdefault(enclosing, []).append((name, roles, path, target))
            continue
        owner = enclosing
        for start_line, start_col, end_line, end_col, ordinal in children.get(enclosing, ()):
            if (start_line, start_col) <= (line, col) < (end_line, end_col):
                owner = ordinal
        if owner != enclosing:
            found.setdefault(owner, []).append((name, roles, path, target))
    return {ordinal: tuple(names) for ordinal, names in found.items()}


def difference(
    old: Interface | None,
    new: Interface | None,
    *,
    structural: Callable[[str], bool],
    is_same_text: bool = False,
    shared: frozenset[str] = frozenset(),
) -> Difference:
    """What changed for others between two states of one file; None stands for: there is no such file.

    Args:
        is_same_text: the file itself is what it was: then what nobody could see of it before has not changed either.
        structural: whether types are compared by members of this name (a protocol has it): its change is one of its type.
        shared: names that several types have, so that a hover with one of them may mean another type than it did.
    """
    if old is None or new is None:
        there = new or old
        if there is None:
            return Difference()
        names = {shape.name for shape in there.symbols.values() if not shape.in_type} | {name for name, _ in there.bindings}
        members = {shape.name for shape in there.symbols.values() if shape.in_type}
        return Difference(symbols=_all_symbols(old), names=names, members=members, modules={there.module}, everything=True)
    found = Difference(stars=set(old.stars ^ new.stars))
    if not _is_known(old, new, is_same_text) or old.stars != new.stars:
        found.everything = True
    if old.module != new.module:
        found.everything = True
        found.modules |= {old.module, new.module}
    found.names |= _bound_otherwise(old.bindings, new.bindings) | (old.mentions ^ new.mentions)
    if found.everything:  # also for those whom another file's import leads here
        found.symbols |= _all_symbols(old)
    for moniker in old.symbols.keys() | new.symbols.keys():
        before, after = old.symbols.get(moniker), new.symbols.get(moniker)
        shape = after or before
        if shape is None or (before is not None and after is not None and _is_equal(before, after, is_same_text, shared)):
            continue
        if before is None or after is None:
            (found.members if shape.in_type else found.names).add(shape.name)
        if before is not None:
            found.symbols.add(moniker)
            if shape.in_type:
                found.redefined.add(shape.name)
        if shape.is_type:
            found.classes.add(moniker)
        is_special = shape.name.startswith("__") and shape.name.endswith("__")
        if shape.in_type and (shape.is_data or is_special or structural(shape.name) or _either_abstract(before, after)):
            found.classes.add(shape.container)
    return found


def _bound_otherwise(old: Bindings, new: Bindings) -> set[str]:
    """Names of bindings that only one of the two has; of what is not known which symbol it is, the file counts alone."""
    before, after = _by_files(old), _by_files(new)
    found = {name for name, _ in before.keys() ^ after.keys()}
    for name, files in before.keys() & after.keys():
        meant = before[name, files], after[name, files]
        if meant[0] != meant[1] and not any(0 in keys for side in meant for keys in side):
            found.add(name)
    return found


def _by_files(bindings: Bindings) -> dict[tuple[str, tuple[str, ...]], set[tuple[int, ...]]]:
    """By name and files the keys of what is meant in them: of a name that several classes import, one for each."""
    found: dict[tuple[str, tuple[str, ...]], set[tuple[int, ...]]] = {}
    for name, meant in bindings:
        found.setdefault((name, tuple(path for path, _ in meant)), set()).add(tuple(key for _, key in meant))
    return found


def _is_equal(before: Shape, after: Shape, is_same_text: bool, shared: frozenset[str]) -> bool:
    if before.digest != after.digest or not (is_same_text or not (before.is_cut or after.is_cut)):
        return False
    # of what is not known which symbol it is, the file counts alone, and that is in the digest
    if any(one != other and one and other for one, other in zip(before.meant, after.meant, strict=True)):
        return False
    return not shared or shared.isdisjoint({*_WORD.findall(after.shown)} - ({after.name} if after.is_type else set()))


def _is_known(old: Interface, new: Interface, is_same_text: bool) -> bool:
    return (old.is_sure and new.is_sure) or (is_same_text and old.symbols == new.symbols)


def _all_symbols(there: Interface | None) -> set[str]:
    return {*there.symbols, there.moniker} if there is not None else set()


def _either_abstract(before: Shape | None, after: Shape | None) -> bool:
    return any(shape is not None and shape.is_abstract for shape in (before, after))


def same(
    old: Interface | None,
    new: Interface | None,
    *,
    is_same_text: bool = False,
    passes_on: bool = False,
    shared: frozenset[str] = frozenset(),
) -> bool:
    """Whether nobody can see a difference, in any language: nothing outside of functions changed, nor what the server says of symbols.

    Args:
        passes_on: whether the text hands on what other files export without a name of it; a file that declares nothing may have done so.
        shared: as of `difference`.
    """
    return (
        old is not None
        and new is not None
        and (is_same_text or not (passes_on or not (old.symbols or new.symbols)))
        and _is_known(old, new, is_same_text)
        and old.outside == new.outside
        and not difference(old, new, structural=lambda name: True, is_same_text=is_same_text, shared=shared)
    )
