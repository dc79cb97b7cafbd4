"""Which functions change together in languages that pass arguments by place, and where the index knows them named or called."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from indexer.errors import EditRefused, UsageError
from indexer.languages import Language, record_of
from indexer.model import Evidence, Role
from indexer.servers.registry import language_of
from query.answers.envelope import SymbolRecord
from query.facts.callable_sites import maker_of, named, namesakes, owners_of, unresolved
from query.facts.calls import Call, calls_of, dispatched, possible_calls_of
from query.facts.documents import documents
from query.facts.index import Index
from query.facts.occurrences import Site as Spot
from query.facts.symbols import TYPES, Symbol, symbols_by_id
from query.facts.type_graph import below
from query.refactor.parameters.signature_uses import Kin, family_of, others_at

_BY_PLACE = ("colon", "name type")
_HOLDS_FUNCTIONS = ("function", "method", "constructor", "variable", "constant", "field", "property")
_OF_NO_TYPE = ("function", "constructor", "variable", "constant")
"""Kinds of what nothing overrides: a constructor is called by its class."""

_DECLARES_ONLY = (".d.ts", ".d.mts", ".d.cts")
_BY_FLOW = (Evidence.FLOW, Evidence.POSSIBLE_FLOW, Evidence.SECOND_SERVER)
_BY_NO_NAME = (Evidence.PROPERTY, Evidence.OPERATOR, Evidence.PROTOCOL, Evidence.INFERRED, Evidence.DECORATOR)


class Site(NamedTuple):
    """A place that names one of the functions, or calls it in another way; 0-based.

    of: the functions that are meant. is_class: the class is named whose objects it makes. why_unsure: why something else may be meant.
    is_by_name_alone: nobody knows what the name is. is_follower: no name of the function stands there.
    """

    path: str
    place: tuple[int, int]
    of: tuple[int, ...]
    is_class: bool = False
    why_unsure: str = ""
    is_by_name_alone: bool = False
    is_follower: bool = False


def takes_by_place(path: str) -> bool:
    """Whether a file's language passes arguments by place, and its functions can be changed."""
    return record_of(language_of(path) or "").parameters in _BY_PLACE


def target_of(index: Index, symbol: Symbol) -> Symbol:
    """The function that is meant: of a class its own constructor.

    Raises:
        UsageError: it is none whose parameters could be changed.
    """
    record = symbol.record
    if record.kind in TYPES:
        made_by = maker_of(index, symbol.sym_id)
        if made_by is None:
            raise UsageError(f"'{record.qualified_name}' has no constructor of its own; name a function or a method")
        symbol = symbols_by_id(index, [made_by])[made_by]
        record = symbol.record
    if record.external:
        raise UsageError(f"'{record.qualified_name}' is not defined in the workspace, so its parameters cannot be changed here")
    if record.path.endswith(_DECLARES_ONLY):
        raise UsageError(f"'{record.qualified_name}' is only declared in '{record.path}'; name the function where its code is")
    if record.kind not in _HOLDS_FUNCTIONS:
        raise UsageError(f"'{record.qualified_name}' is a {record.kind}, which has no parameters; name a function, a method or a class")
    return symbol


def kin_of(index: Index, symbol: Symbol, language: Language) -> Kin:
    """All that a call of the function may end in."""

    def may_change(record: SymbolRecord) -> bool:
        own = record_of(language_of(record.path) or "")
        return record.kind in _HOLDS_FUNCTIONS and own.family == language.family

    is_alone = symbol.record.kind in _OF_NO_TYPE
    found = Kin({symbol.sym_id: symbol}, []) if is_alone else family_of(index, symbol, may_change)
    if language.builds_choose_files:
        others = {other for key in found.members for other in namesakes(index, key)} - found.members.keys()
        for key, item in symbols_by_id(index, sorted(others)).items():
            found.members[key] = item
    return found


def classes_of(index: Index, symbol: Symbol) -> dict[int, Symbol]:
    """Of a constructor the classes whose objects it makes: its own, and those below without one."""
    if symbol.record.kind != "constructor":
        return {}
    [owner] = owners_of(index, [symbol.sym_id])[:1] or [None]
    if owner is None:
        raise EditRefused(f"'{symbol.record.qualified_name}' belongs to no class that is known")
    found = {owner}
    while more := {one for one in _children(index, found) if maker_of(index, one) is None} - found:
        found |= more
    return symbols_by_id(index, sorted(found))


def _children(index: Index, types: Collection[int]) -> set[int]:
    return set(below(index, sorted(types))) - set(types)


def sites_of(index: Index, members: Mapping[int, Symbol], classes: Mapping[int, Symbol], languages: Collection[str]) -> list[Site]:
    """All places that name one of the functions or call it, each once.

    Args:
        languages: those in which names that nobody could resolve may mean one.
    """
    found: dict[Spot, dict[int, str]] = {}
    for item in named(index, sorted({*members, *classes})):
        if item.roles & Role.DEFINITION and item.evidence != Evidence.INFERRED:
            continue
        if not item.roles & Role.MENTION or item.roles & (Role.READ | Role.CALL) or item.evidence == Evidence.STRING:
            why = "that it is meant there was concluded from values" if item.evidence in _BY_FLOW else ""
            found.setdefault((item.path, item.line, item.col), {})[item.of] = why
    by_name = set(found)
    makers = [key for key, item in members.items() if item.record.kind == "constructor"]
    followers = _followers(index, members, by_name)
    others = others_at(index, members, {spot: of for spot, of in found.items() if not classes.keys() & of.keys()})
    sites = [
        Site(
            path=spot[0],
            place=(spot[1], spot[2]),
            of=tuple(sorted(key for key in of if key in members)) or tuple(makers),
            is_class=bool(classes.keys() & of.keys()),
            why_unsure=next((why for _, why in sorted(of.items()) if why), others[spot].why if spot in others else ""),
        )
        for spot, of in sorted(found.items())
    ]
    sites += followers
    names: dict[str, list[int]] = {}
    for key, item in members.items():
        if item.record.kind != "constructor":
            names.setdefault(item.record.name, []).append(key)
    for item in classes.values():
        names.setdefault(item.record.name, []).extend(makers)
    own_classes = {item.record.name for item in classes.values()}
    for name, ids in sorted(names.items()):
        for language in sorted(languages):
            for spot in unresolved(index, name, language):
                if spot not in by_name:
                    why = "what it is there is not known"
                    sites.append(Site(spot[0], spot[1:], tuple(ids), name in own_classes, why, is_by_name_alone=True))
    return sites


def _followers(index: Index, members: Mapping[int, Symbol], by_name: Collection[Spot]) -> list[Site]:
    """Calls that name none of them: by what a value was followed to, of what a base declares."""
    ids = sorted(members)
    direct = [*calls_of(index, "incoming", ids), *possible_calls_of(index, "incoming", ids)]
    above = [call for call in dispatched(index, ids) if call not in direct]
    docs = documents(index, {call.doc_id for call in [*direct, *above]})
    found: dict[Spot, Site] = {}

    def add(call: Call, why: str) -> None:
        spot = (docs[call.doc_id].path, call.line, call.col)
        if call.evidence not in _BY_NO_NAME and spot not in by_name:
            found.setdefault(spot, Site(spot[0], spot[1:], (call.of,), False, why, is_follower=True))

    for call in direct:
        add(
            call, "that it is called there was concluded from values" if call.evidence in _BY_FLOW else "it is called there by another name"
        )
    for call in above:
        add(call, "what it is called of is known when it runs only")
    return list(found.values())
