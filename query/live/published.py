"""What is kept of the diagnostics that a server publishes by itself: its items as they are on the wire."""

from __future__ import annotations

from typing import Any

import msgspec

Diagnostics = dict[str, list[dict[str, Any]]]
"""As the server gives them, by absolute path."""

_items = msgspec.json.Decoder(list[Any]).decode


def read(diagnostics: msgspec.Raw) -> list[dict[str, Any]]:
    """The items that are objects; what is no list raises one of `decode.BROKEN`."""
    return [item for item in _items(diagnostics) if isinstance(item, dict)]
