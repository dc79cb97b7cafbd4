"""JUnit's XML, for servers that show nothing else: a case for each finding, failed where its level is reached."""

from __future__ import annotations

from xml.etree import ElementTree

from query.answers.style import one_line
from query.changes.rules import Level, at_least
from query.reports.model import Report, stale_sites
from query.reports.terminal import headline, notes

MOST = 1_000


def render(report: Report, *, fail_on: Level = "high", shown: int = MOST) -> str:
    """A file of one suite. Numbers are of the cases in it; what was compared and what may be missing is its output."""
    findings = report.findings[:shown]
    failed = [item for item in findings if at_least(item.level, fail_on) and not item.accepted]
    numbers = {"tests": str(len(findings)), "failures": str(len(failed)), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "lspidx", **numbers})
    skipped = sum(bool(item.accepted) for item in findings)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "lspidx report", **numbers, "skipped": str(skipped), "time": "0"})
    for item in findings:
        symbol = item.symbol
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {"classname": one_line(symbol.file), "name": one_line(f"{symbol.what} {symbol.qualified_name} [{item.rule}]"), "time": "0"},
        )
        sites = [symbol.affected[number] for number in stale_sites(symbol)]
        text = one_line(f"{symbol.file}:{symbol.line}: {item.message}")
        lines = [text, *(one_line(f"not updated: {site.path}:{site.line} in {site.caller}") for site in sites)]
        if item.accepted:
            ElementTree.SubElement(case, "skipped", {"message": one_line(f"accepted: {item.accepted}")})
        elif item in failed:
            failure = ElementTree.SubElement(case, "failure", {"type": item.level, "message": one_line(item.message)})
            failure.text = "\n".join(lines)
        else:
            ElementTree.SubElement(case, "system-out").text = "\n".join([f"level {item.level}", *lines])
    ElementTree.SubElement(suite, "system-out").text = "\n".join([headline(report), *map(one_line, notes(report))])
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
