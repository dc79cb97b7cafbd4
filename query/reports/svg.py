"""A graph as a picture: SVG that needs nothing else, built as a tree, so that no name can be taken for markup."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise
from xml.etree import ElementTree

from query.answers.style import one_line
from query.reports.graphs import Edge, Graph, Node, place

_NAMESPACE = "http://www.w3.org/2000/svg"
_HEIGHT = 26.0
_THEMES = """
svg { background: #fff; }
@media (prefers-color-scheme: dark) {
  svg { background: #12161d; --g-node: #1c222c; --g-line: #7d8794; --g-text: #e6eaf0; --g-strong: #fff; --g-dim: #aab3bf;
    --g-stale: #ff8a80; }
}
"""


def css() -> str:
    """The rules that a page needs for an embedded picture."""
    return files("query.reports").joinpath("graph.css").read_text(encoding="utf-8")


def svg(graph: Graph, title: str, *, embedded: bool = False) -> str:
    """The picture as text; see `tree`."""
    return ElementTree.tostring(tree(graph, title, embedded=embedded), encoding="unicode")


def tree(graph: Graph, title: str, *, embedded: bool = False) -> ElementTree.Element:
    """The picture. `embedded`: part of a page that has `css` and the findings that changed nodes lead to; else a file of its own."""
    placed = place(graph)
    width, height = f"{placed.width:.0f}", f"{placed.height:.0f}"
    root = ElementTree.Element(
        "svg", {"viewBox": f"0 0 {width} {height}", "width": width, "height": height, "class": "graph", "role": "img"}
    )
    if not embedded:  # in a page of HTML it is known
        root.set("xmlns", _NAMESPACE)
    ElementTree.SubElement(root, "title").text = one_line(title)
    if not embedded:
        ElementTree.SubElement(root, "style").text = _THEMES + css()
    for edge, points in placed.edges:
        _edge(root, edge, points, placed.widths)
    for node in graph.nodes:
        _node(root, node, placed.nodes[node.key], placed.widths[node.key], embedded=embedded)
    return root


def _node(root: ElementTree.Element, node: Node, middle: tuple[float, float], width: float, *, embedded: bool) -> None:
    x, y = middle
    parent = root
    if embedded and node.mark:
        parent = ElementTree.SubElement(root, "a", {"href": f"#f-{node.mark}"})
    group = ElementTree.SubElement(parent, "g", {"class": f"node {node.what} {node.level}".strip()})
    level = f" [{node.level}]" if node.level else ""
    ElementTree.SubElement(group, "title").text = one_line(f"{node.name}{level}  {node.place}".strip())
    ElementTree.SubElement(
        group,
        "rect",
        {"x": f"{x - width / 2:.1f}", "y": f"{y - _HEIGHT / 2:.1f}", "width": f"{width:.1f}", "height": f"{_HEIGHT:.0f}", "rx": "5"},
    )
    ElementTree.SubElement(group, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}"}).text = one_line(node.label)


def _edge(root: ElementTree.Element, edge: Edge, points: list[tuple[float, float]], widths: dict[str, float]) -> None:
    stale = " stale" if edge.stale else ""
    if edge.source == edge.target:  # calls itself: a loop above the box
        x, y = points[0]
        top = y - _HEIGHT / 2
        path = f"M{x - 10:.1f} {top:.1f}C{x - 18:.1f} {top - 12:.1f} {x + 18:.1f} {top - 12:.1f} {x + 10:.1f} {top:.1f}"
        ElementTree.SubElement(root, "path", {"class": f"edge{stale}", "d": path})
        return
    forward = points[-1][0] > points[0][0]
    side = 1.0 if forward else -1.0
    start = (points[0][0] + side * widths[edge.source] / 2, points[0][1])
    tip = (points[-1][0] - side * widths[edge.target] / 2, points[-1][1])
    end = (tip[0] - side * 7, tip[1])
    stops = [start, *points[1:-1], end]
    if points[0][0] == points[-1][0]:  # a cycle within one column: around its right side
        far = max(widths[edge.source], widths[edge.target]) / 2 + 26
        tip = (points[-1][0] + widths[edge.target] / 2, points[-1][1])
        end = (tip[0] + 7, tip[1])
        start = (points[0][0] + widths[edge.source] / 2, points[0][1])
        far += points[0][0]
        path = f"M{start[0]:.1f} {start[1]:.1f}C{far:.1f} {start[1]:.1f} {far:.1f} {end[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
        side = -1.0
    else:
        path = f"M{start[0]:.1f} {start[1]:.1f}"
        for (left, above), (right, below) in pairwise(stops):
            half = (left + right) / 2
            path += f"C{half:.1f} {above:.1f} {half:.1f} {below:.1f} {right:.1f} {below:.1f}"
    drawn = ElementTree.SubElement(root, "path", {"class": f"edge{stale}", "d": path})
    if edge.sites > 1 or edge.stale:
        notes = [f"{edge.sites} places" if edge.sites > 1 else "", "not updated by this change" if edge.stale else ""]
        ElementTree.SubElement(drawn, "title").text = ", ".join(filter(None, notes))
    head = f"M{tip[0]:.1f} {tip[1]:.1f}l{-side * 8:.1f} -3.6v7.2z"
    ElementTree.SubElement(root, "path", {"class": f"head{stale}", "d": head})
