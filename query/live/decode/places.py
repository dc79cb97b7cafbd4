"""Places, hovers, outlines, calls, diagnostics, and what editors show within the lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from indexer.errors import ServerProtocolError
from indexer.lsp import methods
from indexer.lsp.decode import Diagnostic, Hover, Position, Range, Target, Unsigned, hover_text
from indexer.lsp.uri import uri_to_path
from query.live.decode.forms import MAX_ITEMS, Documentation, Fitting, Origin, Wire, each, shaped, strange

MAX_NUMBERS = 5_000_000
"""Of semantic tokens, five for each."""
MAX_DEPTH = 200
"""Of an outline; what is nested deeper is counted and left out."""


class Location(NamedTuple):
    uri: str
    range: Range


def locations(value: Any, origin: Origin) -> Fitting[Location]:
    """Places from Locations or LocationLinks, one or many; no places if the answer is null.

    Raises:
        ServerProtocolError: neither an object nor a list.
    """
    fitting = each([value] if isinstance(value, dict) else value, Target, origin)
    found: list[tuple[Any, Location]] = []
    for raw, item in fitting.items:
        uri, where = item.targetUri or item.uri, item.targetSelectionRange or item.range
        if where is not None and _names_a_place(uri):
            found.append((raw, Location(uri, where)))
    return Fitting(found, fitting.others + len(fitting.items) - len(found))


def _names_a_place(uri: str) -> bool:
    return bool(uri) and "\0" not in uri_to_path(uri)


def hover(value: Any, origin: Origin) -> str:
    """A hover's Markdown; empty where the server has nothing to say.

    Raises:
        ServerProtocolError: no hover.
    """
    return hover_text(shaped(value, Hover | None, origin))


def diagnostics(items: Sequence[Any], origin: Origin) -> Fitting[Diagnostic]:
    """The diagnostics of one document, as its server gives them."""
    return each(list(items), Diagnostic, origin)


class Highlight(Wire, frozen=True):
    range: Range
    kind: int | None = None


# ---- outlines


class Symbol(NamedTuple):
    """A symbol of an outline, with the names of those around it. `whole`: all of its definition; `name_at`: its name, or all of it."""

    dotted: str
    kind: int
    whole: Range
    name_at: Range


class _FlatSymbol(Wire, frozen=True):
    """A symbol whose children are still as they came, so that a broken one costs only itself."""

    name: str
    kind: int = 0
    range: Range | None = None
    selection_range: Range | None = None
    location: Target | None = None
    children: Any = None


def outline(value: Any, origin: Origin) -> Fitting[Symbol]:
    """Symbols of a document, outer ones before those inside of them. One of another form is left out, and those inside of it with it.

    Raises:
        ServerProtocolError: no list.
    """
    found: list[tuple[Any, Symbol]] = []
    others = 0
    waiting = [("", 0, value)]
    while waiting:
        prefix, depth, listed = waiting.pop()
        try:
            fitting = each(listed, _FlatSymbol, origin)
        except ServerProtocolError:
            if not depth:
                raise
            others += 1
            continue
        others += fitting.others
        inner: list[tuple[str, int, Any]] = []
        for raw, item in fitting.items:
            whole = item.range or (item.location.range if item.location is not None else None)
            if whole is None or len(found) >= MAX_ITEMS:
                others += 1
                continue
            dotted = f"{prefix}.{item.name}" if prefix else item.name
            found.append((raw, Symbol(dotted, item.kind, whole, item.selection_range or whole)))
            if item.children is not None:
                inner.append((dotted, depth + 1, item.children))
        if depth >= MAX_DEPTH:
            others += len(inner)
        else:
            waiting += reversed(inner)
    return Fitting(found, others)


# ---- calls


class _CallItem(Wire, frozen=True):
    """`selection_range` and `range`: the protocol wants both, and one is enough to know the place."""

    uri: str
    name: str = "?"
    selection_range: Range | None = None
    range: Range | None = None


class _IncomingCall(Wire, frozen=True):
    other: _CallItem = msgspec.field(name="from")
    from_ranges: list[Range] | None = None


class _OutgoingCall(Wire, frozen=True):
    other: _CallItem = msgspec.field(name="to")
    from_ranges: list[Range] | None = None


class CallItem(NamedTuple):
    """A function of a call hierarchy. `raw`: as it came, to ask further with; `range`: its name, or all of it."""

    raw: Any
    name: str
    uri: str
    range: Range


class CallSites(NamedTuple):
    """A caller or callee, and where the calls stand in the caller's file."""

    other: CallItem
    ranges: list[Range]


def call_items(value: Any, origin: Origin) -> Fitting[CallItem]:
    """The functions at a place that a call hierarchy can start from.

    Raises:
        ServerProtocolError: no list.
    """
    fitting = each(value, _CallItem, origin)
    found = [(raw, made) for raw, item in fitting.items if (made := _call_item(raw, item)) is not None]
    return Fitting(found, fitting.others + len(fitting.items) - len(found))


def calls(value: Any, direction: Literal["incoming", "outgoing"], origin: Origin) -> Fitting[CallSites]:
    """Callers or callees, each with the places of its calls.

    Raises:
        ServerProtocolError: no list.
    """
    key = "from" if direction == "incoming" else "to"
    fitting: Fitting[Any] = each(value, _IncomingCall if direction == "incoming" else _OutgoingCall, origin)
    found: list[tuple[Any, CallSites]] = []
    for raw, item in fitting.items:
        other = _call_item(raw[key], item.other)
        if other is not None:
            found.append((raw, CallSites(other, item.from_ranges or [])))
    return Fitting(found, fitting.others + len(fitting.items) - len(found))


def _call_item(raw: Any, item: _CallItem) -> CallItem | None:
    where = item.selection_range or item.range
    return CallItem(raw, item.name, item.uri, where) if where is not None and _names_a_place(item.uri) else None


# ---- within the lines


class LabelPart(Wire, frozen=True):
    value: str


class InlayHint(Wire, frozen=True):
    position: Position
    label: str | list[LabelPart]
    kind: int | None = None
    tooltip: Documentation = None
    padding_left: bool | None = None
    padding_right: bool | None = None


class _SemanticTokens(Wire, frozen=True):
    data: list[Unsigned]


class Legend(Wire, frozen=True):
    token_types: list[str]
    token_modifiers: list[str]


def legend(said: Any, server: str) -> Legend | None:
    """What the numbers of semantic tokens mean; None where the server has not said it.

    Raises:
        ServerProtocolError: another form.
    """
    return None if said is None else shaped(said, Legend, Origin(server, methods.INITIALIZE))


def token_numbers(value: Any, origin: Origin) -> Sequence[int]:
    """The numbers of semantic tokens, five for each.

    Raises:
        ServerProtocolError: another form, more than MAX_NUMBERS, or not in fives.
    """
    data: list[int] = shaped(value, _SemanticTokens, origin).data
    if len(data) > MAX_NUMBERS:
        raise strange(origin, f"more than {MAX_NUMBERS} numbers")
    if len(data) % 5:
        raise strange(origin, f"{len(data)} numbers, which are no tokens of five numbers each")
    return data
