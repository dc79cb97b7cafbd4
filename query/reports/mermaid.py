"""A graph as Mermaid's flowchart and as Graphviz's dot."""

from __future__ import annotations

from collections.abc import Iterator

from query.answers.style import one_line
from query.reports.graphs import Graph

_CLASSES = {
    "critical": "fill:#8c0d5b,stroke:#8c0d5b,color:#fff",
    "high": "fill:#c8500a,stroke:#c8500a,color:#fff",
    "medium": "fill:#f2b134,stroke:#f2b134,color:#000",
    "unknown": "fill:#6c6f93,stroke:#6c6f93,color:#fff",
    "low": "fill:#4aa3df,stroke:#4aa3df,color:#000",
    "start": "stroke-width:3px",
    "external": "stroke-dasharray:4 3",
    "test": "stroke-dasharray:1 2",
    "more": "stroke-dasharray:4 3",
}
_PLAIN = frozenset(" ._-+…")


def mermaid(graph: Graph) -> str:
    """A flowchart; every sign of a name that is neither letter nor digit is written as an entity, so that none can end its label."""
    numbers = {node.key: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        style = node.level or node.what
        lines.append(f'  {numbers[node.key]}["{_entities(node.label)}"]{f":::{style}" if style in _CLASSES else ""}')
    for edge in graph.edges:
        arrow = "-. not updated .->" if edge.stale else "-->"
        lines.append(f"  {numbers[edge.source]} {arrow} {numbers[edge.target]}")
    if graph.left_out:
        lines.append(f"  %% {graph.left_out} more edges are left out")
    used = {node.level or node.what for node in graph.nodes}
    lines += [f"  classDef {name} {style}" for name, style in _CLASSES.items() if name in used]
    return "\n".join(lines) + "\n"


def _entities(text: str) -> str:
    return "".join(char if char.isalnum() or char in _PLAIN else f"#{ord(char)};" for char in one_line(text))


def dot(graph: Graph) -> str:
    """A digraph."""
    return "\n".join(_dot(graph)) + "\n"


def _dot(graph: Graph) -> Iterator[str]:
    numbers = {node.key: f"n{number}" for number, node in enumerate(graph.nodes)}
    yield "digraph calls {"
    yield '  rankdir=LR; node [shape=box, style=rounded, fontname="monospace", fontsize=10];'
    for node in graph.nodes:
        more = ", penwidth=2" if node.what in ("changed", "start") else ', style="rounded,dashed"' if node.what != "caller" else ""
        tip = f"{node.name} {node.place}".strip()
        yield f"  {numbers[node.key]} [label={_quoted(node.label)}, tooltip={_quoted(tip)}{more}];"
    for edge in graph.edges:
        notes = [*(['label="not updated", style=dashed'] if edge.stale else []), *([f'weight="{min(edge.sites, 50)}"'])]
        yield f"  {numbers[edge.source]} -> {numbers[edge.target]} [{', '.join(notes)}];"
    if graph.left_out:
        yield f"  // {graph.left_out} more edges are left out"
    yield "}"


def _quoted(text: str) -> str:
    escaped = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
