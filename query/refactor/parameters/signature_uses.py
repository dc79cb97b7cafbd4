"""Which functions change together with one whose parameters change, and where the index knows them named or called."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from indexer.errors import EditRefused, UsageError
from indexer.languages import PYTHON
from indexer.model import CALLABLE_KINDS, Evidence, Role, SymbolKind
from indexer.servers.registry import language_of
from query.answers.envelope import SymbolRecord
from query.answers.paths import listed
from query.facts.callable_sites import callees_at, constructor_of, named, types_at, unresolved
from query.facts.calls import Call, calls_of, dispatched, dispatching, possible_calls_of
from query.facts.dispatch import overriding, stand_ins
from query.facts.documents import documents
from query.facts.hierarchy import override_family
from query.facts.index import Index
from query.facts.occurrences import Site as Spot
from query.facts.registration import above_types
from query.facts.scopes import scopes
from query.facts.symbols import TYPES, Symbol, symbols_by_id
from query.facts.type_graph import below
from query.facts.value_uses import value_uses
from query.refactor.parameters.changing_signature import Site

_MOST_KIN = 500
_CALLABLE = ("function", "method", "constructor")
_OPEN_MEMBERS = ("__init__", "__call__")
"""Members with two underscores around them whose parameters are one's own choice."""

_CALLED_BY = {
    "__new__": "is called with what its class is called with, as is __init__",
    "__init_subclass__": "is called with the keywords that class statements say, which are not looked at",
    "__post_init__": "is called by the __init__ that a dataclass is given, with its fields of the type InitVar, in their order",
    "__class_getitem__": "is called by a subscript of its class",
}
"""Special members whose parameters are not Python's own: who says what they are given."""

_ENTERED = ("__enter__", "__exit__", "__aenter__", "__aexit__", "__aiter__", "__anext__", "__await__")
_LOOKED_UP = (
    "__getattr__",
    "__get__",
    "__set__",
    "__delete__",
    "__set_name__",
    "__missing__",
    "__getinitargs__",
    "__conform__",
    "__fspath__",
)
_OF_THE_LIBRARY = frozenset((*_ENTERED, *_LOOKED_UP))
"""Further members that Python or its library calls."""

_BY_FLOW = (Evidence.FLOW, Evidence.POSSIBLE_FLOW, Evidence.SECOND_SERVER)
_BY_NO_NAME = (Evidence.PROPERTY, Evidence.OPERATOR, Evidence.PROTOCOL)
_OF_WHAT_IT_GIVES = {Evidence.OPERATOR, Evidence.PROTOCOL}
"""How members are known to be called of what stands there, and so of what a call gives: `str(C(1))`."""
_BY_VALUE = (Evidence.INFERRED, Evidence.DECORATOR)
"""How calls are known that stand where the function is handed over, and not where it is called."""

_TOLD = 3
_MAKING = (
    *("enum.", "datetime.", "decimal.", "fractions.", "pathlib."),
    *(f"builtins.{name}" for name in ("str", "bytes", "int", "float", "complex", "tuple", "frozenset", "type")),
)
"""Bases of Python's library that make objects of what is on them, or are given the same arguments as these."""


class Kin(NamedTuple):
    """Functions that change together, by number; what overrides them, or is overridden, and stays, in words."""

    members: dict[int, Symbol]
    doubts: list[str]


def target_of(index: Index, symbol: Symbol) -> Symbol:
    """The function that is meant: of a class its own constructor.

    Raises:
        UsageError, EditRefused: it is none whose parameters could be changed.
    """
    record = symbol.record
    if record.kind in TYPES:
        made_by = constructor_of(index, symbol.sym_id)
        if made_by is None:
            raise UsageError(
                f"'{record.qualified_name}' has no __init__ of its own: its parameters are its fields (of a dataclass, a named tuple), or "
                "those of the class that it inherits from; name that one's, or change the fields"
            )
        symbol = symbols_by_id(index, [made_by])[made_by]
        record = symbol.record
    if record.external:
        raise UsageError(f"'{record.qualified_name}' is not defined in the workspace, so its parameters cannot be changed here")
    if language_of(record.path) != PYTHON.name:
        raise UsageError(
            f"'{record.qualified_name}' is not Python, and change_signature knows Python only; instead: find_callers with direction "
            "incoming lists the calls, go_to_implementation what overrides it, and apply_edit or safe_apply_edit changes head and calls"
        )
    if record.path.endswith(".pyi"):
        raise UsageError(f"'{record.qualified_name}' is defined in a stub, '{record.path}'; name the function in the module itself")
    if record.kind not in _CALLABLE:
        raise UsageError(f"'{record.qualified_name}' is a {record.kind}, which has no parameters; name a function, a method or a class")
    if record.name in _CALLED_BY or (is_special(record.name) and record.name in special_names()):
        why = _CALLED_BY.get(record.name, "is a special method, so Python or a library calls it with what its protocol says")
        raise EditRefused(f"'{record.qualified_name}' {why}; change it by hand")
    return symbol


def is_special(name: str) -> bool:
    """Whether it has the form of a special method, and its parameters are not one's own choice as those of `__init__` are."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__") and name not in _OPEN_MEMBERS


@functools.cache
def special_names() -> frozenset[str]:
    """Members that Python itself calls; others of their form are a library's or the workspace's own."""
    operated = {member for _, groups in PYTHON.operations for names in groups for member in names}
    kinds = (object, type, int, float, complex, str, bytes, list, dict, set, property, memoryview, BaseException)
    made = (types.FunctionType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.ModuleType)
    kept = {name for kind in (*kinds, *made) for name in dir(kind)}
    return frozenset(operated | kept | PYTHON.runtime_members | _OF_THE_LIBRARY)


def _is_python(record: SymbolRecord) -> bool:
    return record.kind in _CALLABLE and language_of(record.path) == PYTHON.name and not record.path.endswith(".pyi")


def kin_of(index: Index, symbol: Symbol) -> Kin:
    """All that a call of the function may end in: members that override it, that it overrides, and that fit the same protocol."""
    if symbol.record.kind == "constructor" or symbol.record.name == "__init__":
        return Kin({symbol.sym_id: symbol}, _made_by_others(index, symbol))
    return family_of(index, symbol, _is_python)


def family_of(index: Index, symbol: Symbol, may_change: Callable[[SymbolRecord], bool]) -> Kin:
    """Of a function or member of any language: what changes with it is what may."""
    found, frontier = {symbol.sym_id}, {symbol.sym_id}
    while frontier and len(found) <= _MOST_KIN:
        more = set(override_family(index, sorted(frontier), _MOST_KIN))
        for pairs in (stand_ins(index, frontier), overriding(index, frontier)):
            more |= {*pairs, *(other for others in pairs.values() for other in others)}
        frontier = more - found
        found |= frontier
    known = symbols_by_id(index, sorted(found))
    members: dict[int, Symbol] = {}
    others: list[str] = []
    outside: list[str] = []
    for sym_id, item in sorted(known.items()):
        record = item.record
        if record.external:
            outside.append(record.qualified_name)
        elif may_change(record):
            members[sym_id] = item
        else:
            others.append(f"{record.qualified_name} ({record.path}:{record.line})")
    doubts: list[str] = []
    if outside:
        doubts.append(f"it overrides {listed(sorted(outside))} of what lies outside the workspace, which calls it as it is")
    if others:
        doubts.append(f"{listed(others)} stands for it, too, and stays as it is")
    if len(found) > _MOST_KIN:
        doubts.append(f"more than {_MOST_KIN} members override each other; not all of them change")
    return Kin(members, doubts)


def _made_by_others(index: Index, symbol: Symbol) -> list[str]:
    """Bases outside the workspace that may make the objects of a class, in words."""
    container = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    types = [] if container is None else sorted(below(index, [container]))
    bases = {base for type_id in types for base in above_types(index).bases(type_id)}
    making = sorted(base for base in bases if base.partition(".")[0] not in sys.stdlib_module_names or base.startswith(_MAKING))
    if not making:
        return []
    return [f"{listed(making, _TOLD)} is a base outside the workspace, which may make such objects itself, or be given the same arguments"]


class Family(NamedTuple):
    """Classes of the workspace. has_bases: whether the one that is meant lies below others, outside the workspace, too."""

    classes: list[Symbol]
    has_bases: bool


def class_family(index: Index, symbol: Symbol) -> Family:
    """Of a constructor its class, and what is above and below that in the workspace: their methods may hand over the class itself."""
    container = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    if symbol.record.name != "__init__" or container is None:
        return Family([], has_bases=False)
    found, waiting = set(below(index, [container])), [container]
    supers = above_types(index).supers
    while waiting:
        above = {item for item in supers.get(waiting.pop(), ()) if item not in found}
        found |= above
        waiting += above
    known = symbols_by_id(index, sorted(found)).values()
    own = [item for item in known if not item.record.external and language_of(item.record.path) == PYTHON.name]
    return Family(own, has_bases=bool(supers.get(container)))


# ---- where they are used


class Elsewhere(NamedTuple):
    """A place in a text of another form that names it: an entry point of a manifest. 0-based."""

    path: str
    line: int


class Uses(NamedTuple):
    sites: list[Site]
    elsewhere: list[Elsewhere]


def uses_of(index: Index, members: Mapping[int, Symbol], *, unknown: bool) -> Uses:
    """All places that name one of the functions or call it, each once.

    Args:
        unknown: also identifiers of its name that nobody could resolve.
    """
    makers = {sym_id for sym_id, item in members.items() if item.record.name == "__init__"}
    found: dict[Spot, dict[int, str]] = {}
    elsewhere: set[Elsewhere] = set()
    for item in named(index, list(members)):
        if item.roles & (Role.DEFINITION | Role.FIXTURE) and item.evidence != Evidence.INFERRED:
            continue
        if item.language != PYTHON.name:
            elsewhere.add(Elsewhere(item.path, item.line))
        elif not item.roles & Role.MENTION or item.roles & (Role.READ | Role.CALL) or item.evidence == Evidence.STRING:
            why = "that it is meant there was concluded from values" if item.evidence in _BY_FLOW else ""
            found.setdefault((item.path, item.line, item.col), {})[item.of] = why
    by_name = set(found)
    _add_replaced(index, makers, found)
    _add_calls(index, members, makers, found)
    _add_values(index, members, found)
    others = others_at(index, members, found)
    sites = [
        Site(
            path=spot[0],
            place=(spot[1], spot[2]),
            of=tuple(sorted(of)),
            is_constructor=spot not in by_name and not makers.isdisjoint(of),
            why_unsure=next((why for _, why in sorted(of.items()) if why), others[spot].why if spot in others else ""),
            gives_what_is_called=spot in by_name and not any(of.values()) and spot in others and others[spot].is_by_flow,
        )
        for spot, of in sorted(found.items())
    ]
    if unknown:
        sites += _unknown(index, members, makers, set(found))
    return Uses(sites, sorted(elsewhere))


def _add_replaced(index: Index, makers: Collection[int], found: dict[Spot, dict[int, str]]) -> None:
    """Where a string names a class, as `mock.patch` takes it, or something else is put in its place."""
    known = scopes(index, makers)
    made_by = {container: maker for maker in makers if (container := known[maker].container) is not None}
    for item in named(index, list(made_by)):
        is_replaced = bool(item.roles & Role.WRITE) and not item.roles & Role.DEFINITION
        if item.language == PYTHON.name and (is_replaced or item.evidence == Evidence.STRING):
            found.setdefault((item.path, item.line, item.col), {})[made_by[item.of]] = ""


def _add_calls(index: Index, members: Mapping[int, Symbol], makers: Collection[int], found: dict[Spot, dict[int, str]]) -> None:
    """Calls that do not name them: of classes, of objects, of what a function was given as."""
    ids = sorted(members)
    direct = [*calls_of(index, "incoming", ids), *possible_calls_of(index, "incoming", ids)]
    above = [call for call in dispatched(index, ids) if call not in direct]
    docs = documents(index, {call.doc_id for call in [*direct, *above]})

    def spot(call: Call) -> Spot:
        return docs[call.doc_id].path, call.line, call.col

    calls = [(call, False) for call in direct] + [(call, True) for call in above]
    calls = [
        (call, is_above)
        for call, is_above in calls
        if call.evidence not in (*_BY_NO_NAME, *_BY_VALUE) and (spot(call) not in found or call.of in makers)
    ]
    types = types_at(index, {spot(call) for call, _ in calls if call.of in makers})
    containers = scopes(index, makers)
    indirect = [
        Call(call.other, container, *call[2:])
        for call, is_above in calls
        if call.of in makers and spot(call) not in types and not is_above and (container := containers[call.of].container) is not None
    ]
    below = {(call.doc_id, call.line, call.col) for call, maker in dispatching(index, indirect) if maker not in members}
    for call, is_above in calls:
        name = members[call.of].record.name
        why = ""
        if call.evidence in _BY_FLOW:
            why = "that it is called there was concluded from values"
        elif call.of in makers:
            if is_above or (call.doc_id, call.line, call.col) in below:
                why = "which class is meant there is known when it runs only, and their constructors are not the same"
        elif is_above:
            why = "what it is called of is known when it runs only"
        elif name != "__call__":
            why = "it is called there by another name"
        at = spot(call)
        if at not in found or call.of in makers:
            found.setdefault(at, {})[call.of] = why


def _add_values(index: Index, members: Mapping[int, Symbol], found: dict[Spot, dict[int, str]]) -> None:
    uses = value_uses(index, sorted(members))
    docs = documents(index, {use.doc_id for use in uses})
    for use in uses:
        found.setdefault((docs[use.doc_id].path, use.line, use.col), {}).setdefault(use.of, "")


class Others(NamedTuple):
    """What else is called at a place, in words. is_by_flow: only as values were followed."""

    why: str
    is_by_flow: bool


def others_at(index: Index, members: Mapping[int, Symbol], found: Mapping[Spot, Mapping[int, str]]) -> dict[Spot, Others]:
    callees = callees_at(index, list(found))
    known = scopes(index, {callee for ids in callees.values() for callee in ids})
    said: dict[Spot, Others] = {}
    for spot, ids in callees.items():
        other_ids = [one for one in ids if one not in members and known[one].kind in CALLABLE_KINDS and ids[one] - _OF_WHAT_IT_GIVES]
        others = sorted({known[one].name for one in other_ids})
        own = {known[one].name for one in ids if one in members}
        if others and not (set(others) <= {"__call__", "__init__", "__new__"} and "__init__" not in own):
            is_by_flow = all(ids[one] <= {*_BY_FLOW} for one in other_ids)
            said[spot] = Others(f"something else may be called there, too ({listed(others, _TOLD)})", is_by_flow)
    return said


def _unknown(index: Index, members: Mapping[int, Symbol], makers: Collection[int], told: Collection[Spot]) -> Iterator[Site]:
    by_name: dict[str, list[int]] = {}
    for sym_id, item in members.items():
        for name in called_as(index, item):
            by_name.setdefault(name, []).append(sym_id)
    for name, ids in sorted(by_name.items()):
        for spot in unresolved(index, name, PYTHON.name):
            if spot not in told:
                is_made = name not in _OPEN_MEMBERS and ids[0] in makers
                why = "what it is there is not known"
                yield Site(spot[0], spot[1:], tuple(ids), is_constructor=is_made, why_unsure=why, is_by_name_alone=True)


def called_as(index: Index, symbol: Symbol) -> list[str]:
    """The names by which a function is called: of a constructor its class's, too."""
    known = scopes(index, [symbol.sym_id])
    container = known[symbol.sym_id].container
    is_made = symbol.record.name == "__init__" and container is not None and known[container].kind != SymbolKind.MODULE
    return [symbol.record.name, *([known[container].name] if is_made and container is not None else [])]


def paths_of(members: Mapping[int, Symbol], sites: Sequence[Site]) -> list[str]:
    return sorted({*(item.record.path for item in members.values()), *(site.path for site in sites)})
