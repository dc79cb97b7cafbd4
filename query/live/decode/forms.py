"""How plain JSON becomes records, whatever it is: what fits is kept, what does not is counted, and an error names server and method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from indexer.errors import ServerProtocolError
from indexer.lsp.decode import MarkupContent

T = TypeVar("T")

MAX_ITEMS = 100_000
"""Of one answer; what a server says beyond is counted and left out."""
_SHOWN = 200

Documentation = MarkupContent | str | None
MISFITS = (msgspec.ValidationError, RecursionError, OverflowError)
"""What a value of another form raises."""


class Origin(NamedTuple):
    """Whose answer it is, for the words of an error: the server's name, and the method that it was asked."""

    server: str
    method: str


class Fitting(NamedTuple, Generic[T]):
    """What fits of a list, each as it came and as a record; `others`: how much did not, or was too much."""

    items: list[tuple[Any, T]]
    others: int

    @property
    def records(self) -> list[T]:
        return [record for _, record in self.items]


class Wire(msgspec.Struct, rename="camel", frozen=True):
    """A record of the protocol; null and absent are the same."""


def shaped(value: Any, kind: Any, origin: Origin) -> Any:
    """`value` as a record of `kind`.

    Raises:
        ServerProtocolError: it has another form.
    """
    try:
        return msgspec.convert(value, kind)
    except MISFITS as error:
        said = type(value).__name__ if isinstance(value, list | dict) else _said(value)
        raise strange(origin, f"{error} ({said})") from error


def each(values: Any, kind: type[T], origin: Origin) -> Fitting[T]:
    """The items of a list that are records of `kind`; no items if the answer is null.

    Raises:
        ServerProtocolError: no list.
    """
    if values is None:
        return Fitting([], 0)
    listed: Sequence[Any] = shaped(values, list[Any], origin)
    found: list[tuple[Any, T]] = []
    for value in listed[:MAX_ITEMS]:
        try:
            found.append((value, msgspec.convert(value, kind)))
        except MISFITS:
            continue
    return Fitting(found, len(listed) - len(found))


def strange(origin: Origin, why: str) -> ServerProtocolError:
    """The error for an answer that does not have the protocol's form."""
    return ServerProtocolError(f"{origin.server} answered {origin.method} in a form that the protocol does not know: {why}")


def _said(value: Any) -> str:
    try:
        return repr(value)[:_SHOWN]
    except ValueError:  # an integer of thousands of digits
        return type(value).__name__


def words(documentation: Documentation) -> str:
    """The text of a documentation: a string, or MarkupContent."""
    return documentation.value if isinstance(documentation, MarkupContent) else documentation or ""


def resolved(value: Any, kind: type[T]) -> T | None:
    """What a server adds when it is asked about one item; None where it says nothing of that form."""
    try:
        return msgspec.convert(value, kind)
    except MISFITS:
        return None
