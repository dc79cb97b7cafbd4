"""Who calls whom, as a graph small enough to be looked at, and where its nodes stand in a picture. Pure.

The layout is the layered one of Sugiyama: callers left of what they call, long edges led around nodes, crossings reduced by barycentres.
No library lays such graphs out without Graphviz's program, and sixty edges need no better one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from query.answers.envelope import SymbolRecord
from query.changes.rules import Level
from query.reports.model import Finding, stale_sites
from query.tools.find_callers import Edge as CallEdge

MAX_EDGES = 60
"""More is no picture any more, and GitHub's Mermaid refuses large ones."""

_CALLERS_OF_ONE = 8
_SWEEPS = 6


class Node(NamedTuple):
    """A symbol. `name` in full; `what`: changed, caller, test, external, start, or `more` for those left out. `mark`: of its finding."""

    key: str
    name: str
    place: str
    what: Literal["changed", "caller", "test", "external", "start", "more"]
    level: Level | Literal[""] = ""
    mark: str = ""

    @property
    def label(self) -> str:
        """The last two parts of its name, cut to what fits a box."""
        if self.what == "more":
            return self.name
        parts = self.name.replace("::", ".").split(".")
        text = ".".join(parts[-2:])
        return text if len(text) <= 34 else f"{text[:14]}…{text[-19:]}"


class Edge(NamedTuple):
    """From the caller to what it calls, by the nodes' keys. `stale`: written for the old state and left alone by the change."""

    source: str
    target: str
    sites: int = 1
    stale: bool = False


class Graph(NamedTuple):
    """`left_out`: edges that are not drawn, where that is known."""

    nodes: list[Node]
    edges: list[Edge]
    left_out: int = 0


def of_findings(findings: Sequence[Finding], *, most: int = MAX_EDGES) -> Graph:
    """The changed symbols, worst first, and who uses them: uses that the change leaves alone before others, tests not at all."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str], Edge] = {}
    marks = {_key(item): item for item in findings}
    left_out = 0
    for item in findings:
        target = _key(item)
        stale = set(stale_sites(item.symbol))
        callers: dict[str, Edge] = {}
        named: dict[str, Node] = {}
        for number, site in enumerate(item.symbol.affected):
            if site.is_test or site.relation == "import" or site.symbol == target:
                continue
            source = site.symbol or f"{site.path}#{site.caller}"
            before = callers.get(source, Edge(source, target, 0))
            callers[source] = Edge(source, target, before.sites + 1, before.stale or number in stale)
            named.setdefault(source, Node(source, site.caller or site.path, f"{site.path}:{site.line}", "caller"))
        room = min(_CALLERS_OF_ONE, most - len(edges))
        if callers and room <= 0:
            left_out += len(callers)
            continue
        shown = sorted(callers.values(), key=lambda edge: not edge.stale)
        if len(shown) > room:
            shown = shown[: room - 1]
            more = f"{target} more"
            number = max(item.symbol.callers, len(callers)) - len(shown)
            nodes[more] = Node(more, f"{number} more", "", "more")
            edges[more, target] = Edge(more, target, number)
            left_out += number
        if callers:
            nodes[target] = _changed(item)
        for edge in shown:
            known = marks.get(edge.source)
            nodes[edge.source] = _changed(known) if known else nodes.get(edge.source, named[edge.source])
            edges[edge.source, edge.target] = edge
    return Graph(list(nodes.values()), list(edges.values()), left_out)


def _key(item: Finding) -> str:
    return item.symbol.symbol or f"{item.symbol.file}#{item.symbol.qualified_name}"


def _changed(item: Finding) -> Node:
    symbol = item.symbol
    return Node(_key(item), symbol.qualified_name, f"{symbol.file}:{symbol.line}", "changed", item.level, item.fingerprint)


def of_calls(start: Mapping[str, str], edges: Iterable[CallEdge], total: int) -> Graph:
    """The callers and callees of one symbol.

    Args:
        start: `query["resolved"]` of the answer. edges: of `find_callers`. total: how many there are.
    """
    origin = start["symbol"]
    nodes = {origin: Node(origin, start["qualified_name"], "", "start")}
    found: dict[tuple[str, str], Edge] = {}
    shown = 0
    for edge in edges:
        shown += 1
        other = edge.symbol.symbol
        source, target = (other, edge.of) if edge.direction == "incoming" else (edge.of, other)
        if edge.of not in nodes:  # its own edge was cut; an arrow from nowhere says nothing
            continue
        nodes.setdefault(other, _called(edge.symbol))
        found[source, target] = Edge(source, target, len(edge.sites))
    return Graph(list(nodes.values()), list(found.values()), total - shown)


def _called(record: SymbolRecord) -> Node:
    what = "external" if record.external else "test" if record.is_test else "caller"
    return Node(record.symbol, record.qualified_name, f"{record.path}:{record.line}" if record.line else record.path, what)


# ---- layout


class Placed(NamedTuple):
    """Where things stand: the middle of each node by key, the points that each edge runs through, and the size of the whole."""

    nodes: dict[str, tuple[float, float]]
    edges: list[tuple[Edge, list[tuple[float, float]]]]
    width: float
    height: float
    widths: dict[str, float]


def place(graph: Graph, *, text_width: float = 7.3, row: float = 38, gap: float = 72, margin: float = 14) -> Placed:
    """Coordinates of a picture, callers on the left. `text_width` per sign of a label, `row` per node, `gap` between columns."""
    layer = _layers(graph)
    chains = [_chain(number, edge, layer) for number, edge in enumerate(graph.edges)]
    columns: dict[int, list[str]] = {}
    for key in [*layer, *(name for chain in chains for name, _ in chain[1:-1])]:
        number = layer[key] if key in layer else int(key.rpartition(" ")[2])
        columns.setdefault(number, []).append(key)
    _order(columns, chains)
    labels = {node.key: node.label for node in graph.nodes}
    widths = {key: len(label) * text_width + 24 for key, label in labels.items()}
    heights = _heights(columns, chains, row)
    top = min(heights.values(), default=0.0) - row / 2 - margin
    x = margin
    nodes: dict[str, tuple[float, float]] = {}
    for number in sorted(columns):
        width = max((widths.get(key, 0.0) for key in columns[number]), default=0.0)
        nodes |= {key: (x + width / 2, heights[key] - top) for key in columns[number]}
        x += width + gap
    edges = [(edge, [nodes[key] for key, _ in chain]) for edge, chain in zip(graph.edges, chains, strict=True)]
    return Placed(nodes, edges, x - gap + margin, max((y for _, y in nodes.values()), default=0.0) + row / 2 + margin, widths)


def _layers(graph: Graph) -> dict[str, int]:
    """Column of each node: one left of the leftmost that it calls; edges that close a cycle do not count."""
    outgoing: dict[str, list[str]] = {node.key: [] for node in graph.nodes}
    for edge in graph.edges:
        if edge.source != edge.target:
            outgoing[edge.source].append(edge.target)
    depth: dict[str, int] = {}
    under_way: set[str] = set()
    for start in outgoing:  # depth first without recursion: chains of callers may be long
        stack = [(start, iter(outgoing[start]))]
        under_way.add(start)
        while stack:
            key, rest = stack[-1]
            for target in rest:
                if target not in depth and target not in under_way:
                    under_way.add(target)
                    stack.append((target, iter(outgoing[target])))
                    break
            else:
                depth[key] = 1 + max((depth[target] for target in outgoing[key] if target in depth), default=-1)
                under_way.discard(key)
                stack.pop()
    deepest = max(depth.values(), default=0)
    return {key: deepest - number for key, number in depth.items()}


def _chain(number: int, edge: Edge, layer: Mapping[str, int]) -> list[tuple[str, int]]:
    """The edge's nodes with stops in the columns between."""
    first, last = layer[edge.source], layer[edge.target]
    step = 1 if last > first else -1
    between = [(f"stop {number} {column}", column) for column in range(first + step, last, step)]
    return [(edge.source, first), *between, (edge.target, last)]


def _heights(columns: Mapping[int, Sequence[str]], chains: Sequence[Sequence[tuple[str, int]]], row: float) -> dict[str, float]:
    """The tallest column evenly; from there outwards each node beside the middle of its neighbours, at least a row below the one above."""
    beside: dict[str, list[str]] = {}
    for chain in chains:
        for (left, _), (right, _) in pairwise(chain):
            beside.setdefault(left, []).append(right)
            beside.setdefault(right, []).append(left)
    if not columns:
        return {}
    start = max(columns, key=lambda number: (len(columns[number]), -number))
    heights = {key: position * row for position, key in enumerate(columns[start])}
    for number in sorted(columns, key=lambda number: (abs(number - start), number)):
        if number != start:
            near = [[heights[other] for other in beside.get(key, ()) if other in heights] for key in columns[number]]
            wished = [sum(found) / len(found) if found else position * row for position, found in enumerate(near)]
            heights |= dict(zip(columns[number], _apart(wished, row), strict=True))
    return heights


def _apart(wished: Sequence[float], row: float) -> list[float]:
    """The heights nearest to those wished for that keep the order and a row's distance: neighbours that collide are moved together."""
    blocks: list[tuple[float, int]] = []  # mean of what its members wish for the first place of the column, members
    for position, height in enumerate(wished):
        mean, members = height - position * row, 1
        while blocks and blocks[-1][0] > mean:
            before, number = blocks.pop()
            mean, members = (before * number + mean * members) / (number + members), number + members
        blocks.append((mean, members))
    means = [mean for mean, members in blocks for _ in range(members)]
    return [mean + position * row for position, mean in enumerate(means)]


def _order(columns: dict[int, list[str]], chains: Sequence[Sequence[tuple[str, int]]]) -> None:
    """Sorts each column by the mean position of its neighbours, to and fro."""
    beside: dict[str, list[str]] = {}
    for chain in chains:
        for (left, _), (right, _) in pairwise(chain):
            beside.setdefault(left, []).append(right)
            beside.setdefault(right, []).append(left)
    numbers = sorted(columns)
    column_of = {key: number for number, keys in columns.items() for key in keys}
    for sweep in range(_SWEEPS):
        order = numbers if sweep % 2 else numbers[::-1]
        for previous, number in pairwise(order):
            at = {key: (position + 0.5) / len(columns[previous]) for position, key in enumerate(columns[previous])}
            keys = columns[number]
            here = {key: (position + 0.5) / len(keys) for position, key in enumerate(keys)}

            def middle(key: str, at: Mapping[str, float] = at, here: Mapping[str, float] = here, previous: int = previous) -> float:
                near = [at[other] for other in beside.get(key, ()) if column_of[other] == previous]
                return sum(near) / len(near) if near else here[key]

            keys.sort(key=middle)
