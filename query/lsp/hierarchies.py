"""Who calls whom, and which types are above and below others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from indexer.quoting import one_line
from query.answers.envelope import Answer, SymbolRecord
from query.dialects.lsp_shapes import ends, extent_of, extents
from query.facts.extents import Extent
from query.facts.symbols import TYPES
from query.lsp.asking import Ask
from query.lsp.params import AtPosition, HierarchyItem, OfItem
from query.lsp.rooms import Room
from query.lsp.symbols import kind_of
from query.lsp.views import Views

_MOST = 5_000
_CALLED = frozenset({"function", "method", "constructor", "property", "module", *TYPES})
Extents = dict[tuple[str, int, int], Extent]


def prepare_calls(ask: Ask, params: AtPosition) -> list[dict[str, Any]] | None:
    return _prepared(ask, params, _CALLED)


def prepare_types(ask: Ask, params: AtPosition) -> list[dict[str, Any]] | None:
    return _prepared(ask, params, frozenset(TYPES))


def _prepared(ask: Ask, params: AtPosition, kinds: frozenset[str]) -> list[dict[str, Any]] | None:
    spot = ask.spot(params)
    if spot is None or spot.at is None:
        return None
    answers = ask.at(spot, "go_to_definition", show_source=False)
    records = [item.symbol for answer in answers for item in answer.result]
    fitting = [record for record in records if record.kind in kinds and not record.external]
    if not fitting and ask.record(answers[0], spot.views) is None:  # of a running server, whose kinds the text tells, if anything does
        fitting = [record for record in records if not record.external]
    known = _extents(ask, answers[0], spot.views, fitting)
    items = [item for record in fitting if (item := _item(spot.room, spot.views, record, known)) is not None]
    ask.certify(spot.uri, answers, spot.views, lost=len(fitting) - len(items))
    return items or None


def incoming(ask: Ask, params: OfItem) -> list[dict[str, Any]] | None:
    return _calls(ask, params.item, "incoming")


def outgoing(ask: Ask, params: OfItem) -> list[dict[str, Any]] | None:
    return _calls(ask, params.item, "outgoing")


def _calls(ask: Ask, item: HierarchyItem, direction: Literal["incoming", "outgoing"]) -> list[dict[str, Any]] | None:
    """Callers with the places of their calls, callees with those in the caller's text; what is only used as a value calls nothing."""
    room = _room(ask, item)
    if room is None:
        return None
    views = ask.views(room)
    more = {"values": False} if direction == "incoming" else {"external": False}
    answer = ask.ask(room, views, "find_callers", symbol=item.data.symbol, direction=direction, limit=_MOST, **more)
    edges = [edge for edge in answer.result if edge.how != "value"]
    known = _extents(ask, answer, views, [edge.symbol for edge in edges])
    index = ask.record(answer, views)
    sites = [(site.path, site.line, site.col) for edge in edges for site in edge.sites]
    end_of: dict[tuple[str, int, int], int] = ends(index, sites) if index is not None else {}
    found: list[dict[str, Any]] = []
    lost = 0
    for edge in edges:
        other = _item(room, views, edge.symbol, known)
        places = [
            views.range(site.path, site.line - 1, site.col - 1, end_of.get((site.path, site.line, site.col), int(site.col)) - 1)
            for site in edge.sites
        ]
        there = [place for place in places if place is not None]
        lost += len(places) - len(there)
        if other is None:
            lost += 1
        else:
            found.append({"from" if direction == "incoming" else "to": other, "fromRanges": there})
    ask.certify(item.uri, [answer], views, lost=lost, of_uses=direction == "incoming")
    return found


def supertypes(ask: Ask, params: OfItem) -> list[dict[str, Any]] | None:
    return _types(ask, params.item, "supertypes")


def subtypes(ask: Ask, params: OfItem) -> list[dict[str, Any]] | None:
    return _types(ask, params.item, "subtypes")


def _types(ask: Ask, item: HierarchyItem, direction: Literal["supertypes", "subtypes"]) -> list[dict[str, Any]] | None:
    room = _room(ask, item)
    if room is None:
        return None
    views = ask.views(room)
    answer = ask.ask(room, views, "type_hierarchy", symbol=item.data.symbol, direction=direction, limit=_MOST)
    records = [relation.symbol for relation in answer.result if not relation.symbol.external]
    known = _extents(ask, answer, views, records)
    found = [other for record in records if (other := _item(room, views, record, known)) is not None]
    ask.certify(
        item.uri, [answer], views, lost=len(records) - len(found), beyond=len(answer.result) - len(records), of_uses=direction == "subtypes"
    )
    return found


def _room(ask: Ask, item: HierarchyItem) -> Room | None:
    return ask.desk.rooms.named(item.data.root) if item.data.symbol else None


def _extents(ask: Ask, answer: Answer[Any], views: Views, records: Sequence[SymbolRecord] | Iterable[SymbolRecord]) -> Extents:
    index = ask.record(answer, views)
    return extents(index, records) if index is not None else {}


def _item(room: Room, views: Views, record: SymbolRecord, known: Extents) -> dict[str, Any] | None:
    """Of a symbol in the workspace; None where the client's text does not have it any more."""
    if record.external:
        return None
    ranges = views.whole(record.path, extent_of(known, record))
    if ranges is None:
        return None
    return {
        "name": one_line(record.name) or "?",
        "kind": kind_of(record.kind),
        "detail": one_line(record.qualified_name),
        "uri": views.of(record.path).uri,
        "range": ranges[0],
        "selectionRange": ranges[1],
        "data": {"root": str(room.folder), "symbol": record.symbol},
    }
