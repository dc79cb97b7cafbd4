"""Calls of tools with arguments of every kind, fitting or not: what an agent may send.

A draw is a function of the seed and its number. Values are drawn from what the schema asks for, and, every third time, from what it does
not: other types, bounds and what is just beyond, control characters, long texts, deep lists. Halves of surrogate pairs, which the
official client does not send, are in `test_mcp`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, cast

_NAMES = (
    "shop.service.run", "shop.models.Item", "Item.price", "helper", "run", "nowhere", "", "a.b.c.d", "shop", "Item.__init__", "*", "%", "'",
    "shop/service.py:4:5", "shop/service.py", "lspidx . . nothing", "price", "Base", "test_run", "résumé", "名前", "x" * 300,
)  # fmt: skip
_PATHS = (
    "shop/service.py", "shop/models.py", "shop/utils.py", "shop", ".", "", "nowhere.py", "../outside.py", "/etc/passwd", "//server/a.py",
    "shop/./models.py", "a\0b.py", ".lspidx", ".git/config", "shop/**", "file:///etc/passwd", "~", "\\\\server\\a",
)  # fmt: skip
_TEXTS = (
    "def @@run(", "@@", "x", "return 1", "\n", "\x1b[31m", "\u202e", "[", "(?P<", "a" * 5_000, "select:find_callers", "who calls", "1",
    "true", "unstaged", "incoming", "both", "exported", "error", "class", "python", "HEAD~1..HEAD", ".5", "-1", "null", "{}", "🙂",
)  # fmt: skip
_ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31 - 1, 2**31, 2**63, -(2**63) - 1, 10**40, 1.5, -0.0, 1e308, "", [], {}, [None], [[]],
    [1, "a"], {"a": 1}, {"": None}, [[[[[[[[[[]]]]]]]]]], {"uri": "file:///a.py", "type": 2},
)  # fmt: skip


_PLACES = {"file_path": True, "filePath": True, "line": False, "row": False, "column": False, "character": False}
"""Arguments that make a place, and whether each is a file."""


class Draws:
    """Calls by number."""

    def __init__(self, schemas: Mapping[str, Mapping[str, Any]], seed: int) -> None:
        self._schemas = schemas
        self._names = sorted(schemas)
        self._seed = seed

    def call(self, number: int) -> tuple[str, dict[str, Any]]:
        """Tools come by turns, so that each is called as often as any other."""
        draw = random.Random(f"{self._seed} {number}")
        name = self._names[number % len(self._names)]
        schema = self._schemas[name]
        fields = cast("Mapping[str, Any]", schema.get("properties", {}))
        share = draw.choice((0.0, 0.1, 0.3))
        odd = draw.choice((0.0, 0.05, 0.2))
        wanted = {field for field in schema.get("required", ()) if draw.random() < 0.95}
        wanted |= {field for field in fields if draw.random() < share}
        if draw.random() < 0.7:  # a place, under the names that the surface has for it
            wanted |= ({*_PLACES, "path"} if "action" in fields else set(_PLACES)) & set(fields)
        arguments = {field: _value(draw, field, fields.get(field, {}), odd) for field in sorted(wanted)}
        if draw.random() < 0.05:
            arguments[draw.choice(("nothing", "cursor", "fresh", "live", "", "symbol"))] = draw.choice(_ODD)
        return name, arguments


def _value(draw: random.Random, name: str, schema: Mapping[str, Any], odd: float) -> Any:
    """`odd`: how often it is something that the schema does not ask for."""
    if draw.random() < odd:
        return draw.choice(_ODD)
    if name in _PLACES:
        return draw.choice(_PATHS[:3]) if _PLACES[name] else draw.randint(1, 40)
    if name == "path":
        return draw.choice(_PATHS[:3] if draw.random() < 0.7 else _PATHS)
    if "enum" in schema:
        return draw.choice(cast("Sequence[Any]", schema["enum"]))
    kind = schema.get("type")
    if kind == "integer":
        return draw.choice((0, 1, 2, 5, 40, 1_000, draw.randint(-2, 60)))
    if kind == "number":
        return draw.choice((0, 0.5, 2))
    if kind == "boolean":
        return draw.random() < 0.5
    if kind == "array":
        return [_value(draw, name, schema.get("items", {}), odd) for _ in range(draw.choice((0, 1, 1, 2, 4)))]
    if kind == "object":
        return {field: _value(draw, field, inner, odd) for field, inner in schema.get("properties", {"changes": {}}).items()}
    if kind == "string":
        is_place = "path" in name or "file" in name or "dir" in name or "root" in name
        known = _PATHS if is_place else _NAMES if name in ("symbol", "query", "source", "target", "symbol_path", "symbols") else _TEXTS
        return draw.choice(known if draw.random() < 0.8 else (*_PATHS, *_NAMES, *_TEXTS))
    return draw.choice(_ODD)
