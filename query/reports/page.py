"""One HTML file that needs nothing else: the report to click through, and a graph by itself.

What is shown is data in a block of JSON, from which a script of ours makes text nodes; nothing from the repository is ever markup. A
policy in the page's head forbids all network and every script and style but the two whose digests it names.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import msgspec

from indexer.quoting import inert
from query.answers.style import one_line, printable
from query.changes.review import Affected, ChangedSymbol
from query.changes.rules import LEVELS, RAISING, RULES
from query.reports.graphs import Graph, of_findings
from query.reports.model import Finding, Report, is_on_new_side, stale_sites
from query.reports.svg import css as graph_css
from query.reports.svg import svg, tree
from query.reports.terminal import headline, notes
from query.reports.treemap import treemap

MOST_FINDINGS = 1_000
_SITES = 25
_TESTS = 1_000
_PICTURED = 40
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def render(report: Report, *, shown: int = MOST_FINDINGS) -> str:
    """The whole report as a page."""
    findings = report.findings[: min(shown, MOST_FINDINGS)]
    graph = of_findings(findings, most=_PICTURED)
    picture = svg(graph, "Changed symbols and who uses them", embedded=True) if graph.edges else ""
    data = msgspec.json.encode(_data(report, findings, graph)).decode()
    script = _file("page.js")
    body = _fill(_file("body.html"), {"graph": inert(picture, markup=True), "data": _inert(data), "script": script})
    return _page(f"lspidx report: {one_line(report.compared)}", body, script)


def graph_page(graph: Graph, title: str, remarks: list[str]) -> str:
    """One graph with its edges as a table."""
    main = ElementTree.Element("main")
    ElementTree.SubElement(main, "h1").text = one_line(title)
    for remark in remarks:
        ElementTree.SubElement(main, "p", {"class": "remark"}).text = one_line(remark)
    figure = ElementTree.SubElement(main, "div", {"class": "canvas", "tabindex": "0", "role": "region", "aria-label": "picture"})
    figure.append(tree(graph, title, embedded=True))
    ElementTree.SubElement(main, "h2").text = f"{len(graph.edges)} edges"
    table = ElementTree.SubElement(main, "table")
    head = ElementTree.SubElement(ElementTree.SubElement(table, "thead"), "tr")
    for word in ("caller", "calls", "places"):
        ElementTree.SubElement(head, "th", {"scope": "col"}).text = word
    rows = ElementTree.SubElement(table, "tbody")
    names = {node.key: node for node in graph.nodes}
    for edge in graph.edges:
        row = ElementTree.SubElement(rows, "tr")
        for key in (edge.source, edge.target):
            cell = ElementTree.SubElement(row, "td")
            ElementTree.SubElement(cell, "code").text = one_line(names[key].name)
            ElementTree.SubElement(cell, "span", {"class": "dim"}).text = one_line(f" {names[key].place}".rstrip())
        ElementTree.SubElement(row, "td").text = str(edge.sites)
    return _page(one_line(title), inert(ElementTree.tostring(main, encoding="unicode", method="html"), markup=True), "")


# ---- the frame


def _page(title: str, body: str, script: str) -> str:
    style = _file("page.css") + graph_css()
    allowed = _digest(script) if script else "none"
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{allowed}'; base-uri 'none'; form-action 'none'"
    return _fill(_file("page.html"), {"policy": policy, "title": inert(html.escape(title), markup=True), "style": style, "body": body})


def _file(name: str) -> str:
    return files("query.reports").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _fill(template: str, values: dict[str, str]) -> str:
    """Each slot once; what is filled in is not looked through again."""
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inert(text: str) -> str:
    """JSON that cannot end the element it stands in, and holds no command for a CI."""
    return inert(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


# ---- the data


def _data(report: Report, findings: list[Finding], graph: Graph) -> dict[str, Any]:
    marks = {(item.symbol.file, item.symbol.qualified_name): item.fingerprint for item in findings}
    symbols = [*(item.symbol for item in report.findings), *report.below]
    return {
        "compared": one_line(report.compared),
        "headline": headline(report),
        "level": report.level,
        "status": report.completeness.status,
        "notes": [line.strip() for line in notes(report)],
        "totals": report.totals,
        "counts": report.counts,
        "accepted": report.accepted,
        "total": len(report.findings),
        "levels": LEVELS,
        "findings": [_finding(item) for item in findings],
        "graph": {"edges": len(graph.edges), "left": graph.left_out},
        "treemap": [
            {
                "box": file.box,
                "path": one_line(file.path),
                "lines": file.lines,
                "level": file.level,
                "count": file.number,
                "tiles": [
                    {
                        "box": tile.box,
                        "lines": tile.lines,
                        "level": tile.level,
                        "count": tile.number,
                        "name": one_line(tile.symbol.name) if tile.symbol else "",
                        "id": marks.get((tile.symbol.file, tile.symbol.qualified_name), "") if tile.symbol else "",
                    }
                    for tile in file.tiles
                ],
            }
            for file in treemap(symbols)
        ],
        "tests": [
            [one_line(test.selector), test.distance, one_line(test.via), test.runner, test.import_only] for test in report.tests[:_TESTS]
        ],
        "commands": [[item.runner, one_line(item.line), item.tests] for item in report.commands],
        "rules": [[rule.code, rule.level, rule.why] for rule in RULES] + [[rule.code, "raises", rule.why] for rule in RAISING],
        "made": _made(report),
    }


def _made(report: Report) -> str:
    source = report.provenance
    parts = [", ".join(source.servers), f"index of {source.commit[:10]}" if source.commit else "", source.indexed_at]
    return one_line(" · ".join(filter(None, [*parts, f"facts of the old side: {report.base}", f"{report.old[:10]}..{report.new[:10]}"])))


def _finding(item: Finding) -> dict[str, Any]:
    symbol = item.symbol
    stale = set(stale_sites(symbol))
    return {
        "id": item.fingerprint,
        "rank": item.rank,
        "level": item.level,
        "rule": item.rule,
        "first": item.read_first,
        "accepted": one_line(item.accepted),
        "what": symbol.what,
        "kind": symbol.kind,
        "name": one_line(symbol.qualified_name),
        "file": one_line(symbol.file),
        "line": symbol.line,
        "old_side": not is_on_new_side(symbol),
        "was": one_line(symbol.old_name or symbol.old_file),
        "reasons": list(zip(symbol.reasons, symbol.says, strict=False)),
        "risk": symbol.risk,
        "exported": symbol.exported,
        "signature": printable(symbol.signature),
        "old_signature": printable(symbol.old_signature),
        "lines": symbol.lines,
        "callers": symbol.callers,
        "packages": [one_line(name) for name in symbol.packages[:12]],
        "stale": symbol.stale_sites,
        "overrides": symbol.overrides,
        "tests": symbol.tests,
        "commits": symbol.commits,
        "listed": len(_each_line_once(symbol)),
        "sites": [
            {
                "path": one_line(site.path),
                "line": site.line,
                "caller": one_line(site.caller),
                "text": printable(site.text).strip(),
                "relation": site.relation,
                "evidence": site.evidence,
                "updated": site.updated,
                "old": site.side == "old",
                "test": site.is_test,
                "dispatch": site.dispatch,
                "stale": number in stale,
            }
            for number, site in _each_line_once(symbol)[:_SITES]
        ],
    }


def _each_line_once(symbol: ChangedSymbol) -> list[tuple[int, Affected]]:
    """Uses with their positions in `affected`: `from a import b as b` is one to who reads it."""
    told = {(site.path, site.line, site.relation, site.side): (number, site) for number, site in reversed([*enumerate(symbol.affected)])}
    return sorted(told.values(), key=lambda item: item[0])
