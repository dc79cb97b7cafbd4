"""What imports name, with the module or the path as written."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any


def named_imports(captures: Mapping[str, Sequence[Any]], source: bytes, at: Mapping[int, int], separator: str) -> list[tuple[int, str]]:
    """Imported names with their module as written: `source` captures a string or path, `imported` the names that it gives."""
    paths = _paths(captures, source, at, separator)
    sources = [(node.start_byte, node.end_byte) for node in captures.get("source", ())]
    if not sources:
        return paths
    statements = sorted((node.start_byte, node.end_byte) for node in captures.get("importing", ()))
    result: list[tuple[int, str]] = []
    imported = sorted(node.start_byte for node in captures.get("imported", ()))
    position = 0
    texts = {}
    place = 0
    sources.sort()
    for start, end in statements:
        while place < len(sources) and sources[place][0] < start:
            place += 1
        if place < len(sources) and sources[place][1] <= end:
            texts[start] = source[sources[place][0] : sources[place][1]].decode("utf-8", "replace")
    for start, end in statements:
        while position < len(imported) and imported[position] < start:
            position += 1
        while position < len(imported) and imported[position] < end:
            token = at.get(imported[position])
            if token is not None and start in texts:
                result.append((token, texts[start]))
            position += 1
    return sorted(set(result))


def _paths(captures: Mapping[str, Sequence[Any]], source: bytes, at: Mapping[int, int], separator: str) -> list[tuple[int, str]]:
    """The last name of each path in `use a::{b, c::d as e}` and `import a.b.c`, with its path."""
    result: list[tuple[int, str]] = []
    starts = sorted(at)
    for node in captures.get("import.names", ()):
        end = node.end_byte
        inside = starts[bisect_left(starts, node.start_byte) : bisect_left(starts, end)]
        path: list[str] = []
        depths: list[int] = []
        is_alias = False
        for index, start in enumerate(inside):
            stop = inside[index + 1] if index + 1 < len(inside) else end
            name = re.match(rb"[\w$]+", source[start:stop])
            after = source[start + (name.end() if name else 0) : stop].decode("utf-8", "replace")
            text = name.group().decode("utf-8", "replace") if name else ""
            joined = after.lstrip()
            if joined.startswith(("::", ".")) and index + 1 < len(inside):
                path.append(text)
            elif not is_alias:
                result.append((at[start], separator.join([*path, text])))
            is_alias = joined.startswith("as ")
            for char in after:
                if char == "{":
                    depths.append(len(path))
                elif char == "}" and depths:
                    depths.pop()
                elif char == ",":
                    del path[depths[-1] if depths else 0 :]
    return sorted(set(result))
