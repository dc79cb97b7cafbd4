"""What can be read without a call: the state of the index, one symbol, the tables, the tools."""

from __future__ import annotations

from typing import Any

import msgspec

from indexer.quoting import visible
from query.mcp.protocol import Result

STATUS, SCHEMA, TOOLS, SYMBOL = "lspidx://status", "lspidx://schema", "lspidx://tools", "lspidx://symbol/"
SYMBOL_TOOL = "explore_symbol"
KNOWN = ", ".join([STATUS, SCHEMA, TOOLS, f"{SYMBOL}NAME"])

LISTED: list[Result] = [
    {"uri": STATUS, "name": "status", "description": "What the index covers, what it lacks, how far the work tree has moved on."},
    {"uri": SCHEMA, "name": "schema", "description": "Tables and columns for `lspidx sql`."},
    {"uri": TOOLS, "name": "tools", "description": "All tools by task, with their short names."},
]
TEMPLATE = f"{SYMBOL}{{name}}"
TEMPLATES: list[Result] = [
    {"uriTemplate": TEMPLATE, "name": "symbol", "description": "Everything about one symbol, by any name that the tools take."}
]


def both(uri: str, text: str, value: Any) -> Result:
    """Text first, the same as JSON second."""
    return {
        "contents": [
            {"uri": uri, "mimeType": "text/plain", "text": visible(text)},
            {"uri": uri, "mimeType": "application/json", "text": visible(msgspec.json.encode(value).decode())},
        ]
    }
