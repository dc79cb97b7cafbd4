"""What a server says that it can do: its answer to `initialize`, and what it registers later. Any part may have any form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast


class Options(NamedTuple):
    """What a server says of one feature beyond that it has it; what is of another form counts as not said.

    resolves: asked about one item of a list, it says more. triggers: characters at which it completes. commands: those that it runs.
    prepares: it says beforehand whether something can be renamed. ranges: it answers for a part of a file.
    legend: as it came, None where there is none; `query.live.decode.legend` reads it. kinds: of actions that it has at all.
    """

    resolves: bool = False
    triggers: list[str] = []
    commands: list[str] = []
    prepares: bool = False
    ranges: bool = False
    legend: Any = None
    kinds: list[str] = []


def declares(capabilities: Mapping[str, Any], capability: str) -> bool:
    """Whether a feature is there: `{}` says so too, null and false do not. `capability` may be the name of a method registered later."""
    return capabilities.get(capability) not in (None, False)


def options(capabilities: Mapping[str, Any], capability: str) -> Options:
    said = _object(capabilities.get(capability))
    return Options(
        resolves=bool(said.get("resolveProvider")),
        triggers=_words(said.get("triggerCharacters")),
        commands=_words(said.get("commands")),
        prepares=bool(said.get("prepareProvider")),
        ranges=bool(said.get("range")),
        legend=said.get("legend"),
        kinds=_words(said.get("codeActionKinds")),
    )


def position_encoding(capabilities: Mapping[str, Any]) -> str:
    """The unit of columns; empty where the server does not say, which means UTF-16."""
    return str(capabilities.get("positionEncoding") or "")


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _words(value: Any) -> list[str]:
    return [item for item in cast("list[Any]", value) if isinstance(item, str)] if isinstance(value, list) else []
