"""What is kept of the diagnostics that a server publishes by itself: its items as they are on the wire."""

from __future__ import annotations

from typing import Any

import msgspec

Diagnostics = dict[str, list[Any]]
"""As the server gives them, by absolute path: plain JSON, which `query.live.decode` reads."""

_items = msgspec.json.Decoder(list[Any]).decode


def read(diagnostics: msgspec.Raw) -> list[Any]:
    """The items as they came, so that a broken one costs no other and is counted; what is no list raises one of `decode.BROKEN`."""
    return _items(diagnostics)
