"""How large and how risky the change is, as a picture: files as boxes of changed lines, symbols as boxes in them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import squarify  # pyright: ignore[reportMissingTypeStubs]

from query.changes.review import ChangedSymbol
from query.changes.rules import Level, worst

_MAX_FILES = 60
_MAX_SYMBOLS = 25
WIDTH, HEIGHT = 160.0, 64.0
"""The proportions for which boxes are made square."""


class Box(NamedTuple):
    """Place and size in hundredths of what is around it."""

    x: float
    y: float
    width: float
    height: float


class Tile(NamedTuple):
    """A symbol, or several small ones (`number` > 1, no `symbol`). `lines`: its own that differ on either side."""

    box: Box
    lines: int
    level: Level
    number: int
    symbol: ChangedSymbol | None


class FileBox(NamedTuple):
    """A file, or all that are too small for a box of their own (no `path`, no tiles)."""

    box: Box
    path: str
    lines: int
    level: Level
    number: int
    tiles: list[Tile]


def treemap(symbols: Sequence[ChangedSymbol]) -> list[FileBox]:
    """Boxes of all symbols outside tests with changed lines, the largest files first."""
    by_file: dict[str, list[ChangedSymbol]] = {}
    for symbol in symbols:
        if sum(symbol.lines) and not symbol.is_test:
            by_file.setdefault(symbol.file, []).append(symbol)
    size = {path: sum(sum(symbol.lines) for symbol in inside) for path, inside in by_file.items()}
    paths = sorted(by_file, key=lambda path: (-size[path], path))
    shown, rest = paths[:_MAX_FILES], paths[_MAX_FILES:]
    sizes = [size[path] for path in shown] + ([sum(size[path] for path in rest)] if rest else [])
    boxes = _boxes(sizes, WIDTH, HEIGHT)
    found = [
        FileBox(box, path, size[path], worst(symbol.level for symbol in by_file[path]), len(by_file[path]), _tiles(by_file[path], box))
        for path, box in zip(shown, boxes, strict=False)
    ]
    if rest:
        level = worst(symbol.level for path in rest for symbol in by_file[path])
        found.append(FileBox(boxes[-1], "", sizes[-1], level, len(rest), []))
    return found


def _tiles(symbols: Sequence[ChangedSymbol], outer: Box) -> list[Tile]:
    ordered = sorted(symbols, key=lambda symbol: (-sum(symbol.lines), symbol.line))
    shown, rest = ordered[:_MAX_SYMBOLS], ordered[_MAX_SYMBOLS:]
    sizes = [sum(symbol.lines) for symbol in shown]
    total = sum(sum(symbol.lines) for symbol in rest)
    if rest and total > sizes[-1]:  # boxes come in the order of their size
        sizes.append(total)
        order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    else:
        sizes += [total] if rest else []
        order = list(range(len(sizes)))
    boxes = _boxes([sizes[number] for number in order], WIDTH * outer.width, HEIGHT * outer.height)
    made: list[Tile] = []
    for number, box in zip(order, boxes, strict=True):
        if number < len(shown):
            made.append(Tile(box, sizes[number], shown[number].level, 1, shown[number]))
        else:
            made.append(Tile(box, total, worst(symbol.level for symbol in rest), len(rest), None))
    return made


def _boxes(sizes: Sequence[int], width: float, height: float) -> list[Box]:
    """Boxes of these areas, in the order given, which should be that of their size."""
    if not sizes:
        return []
    areas = squarify.normalize_sizes(sizes, width, height)
    placed = squarify.squarify(areas, 0.0, 0.0, width, height)
    return [
        Box(*(round(value, 2) for value in (r["x"] / width * 100, r["y"] / height * 100, r["dx"] / width * 100, r["dy"] / height * 100)))
        for r in placed
    ]
