"""SARIF 2.1.0, within the limits of GitHub's code scanning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import msgspec

from query.answers.style import one_line
from query.changes.model import ChangedSymbol
from query.changes.rules import RAISING, RULES, Level, Rule
from query.reports.model import Finding, Report, is_on_new_side, stale_sites

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 5_000
MOST_LOCATIONS = 100
"""What GitHub shows; a file may hold more, but not be of use."""

_ROOT = "%SRCROOT%"
_LEVELS: dict[Level, str] = {
    "critical": "error", "high": "error", "medium": "warning", "unknown": "warning", "low": "note", "info": "note",
}  # fmt: skip
_RANKS: dict[Level, float] = {"critical": 100.0, "high": 80.0, "medium": 50.0, "unknown": 30.0, "low": 10.0, "info": 0.0}
_COVERAGE = Rule(
    "coverage_partial", "unknown", lambda facts: not facts.covered, lambda facts: "not all that may use it is known",
    "Nobody can say that nothing uses it, so it is not low.",
)  # fmt: skip


def render(report: Report, *, shown: int = MOST_RESULTS) -> str:
    """One run. Accepted findings are results with a suppression; what may be missing is a notification of the invocation."""
    findings = report.findings[: min(shown, MOST_RESULTS)]
    rules = [*RULES, *RAISING, _COVERAGE]
    numbers = {rule.code: number for number, rule in enumerate(rules)}
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "lspidx", "version": version("lspidx"), "rules": [_rule(rule) for rule in rules]}},
                "automationDetails": {
                    "id": "lspidx/report/",
                    "description": {"text": one_line(f"Risks of the change {report.compared}")},
                },
                "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the workspace."}}},
                "columnKind": "utf16CodeUnits",
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(report, len(findings))}],
                "results": [_result(item, numbers) for item in findings],
                "properties": {
                    "old": report.old,
                    "new": report.new,
                    "base": report.base,
                    "completeness": report.completeness.status,
                    "findings": len(report.findings),
                },
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(log), indent=1).decode() + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    words = rule.code.replace("_", " ")
    why = rule.why or "It is listed so that a reviewer sees it."
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.code.split("_")),
        "shortDescription": {"text": f"{words[:1].upper()}{words[1:]}."},
        "fullDescription": {"text": why},
        "help": {"text": f"{why} Level by itself: {rule.level}.", "markdown": f"{why}\n\nLevel by itself: **{rule.level}**."},
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
        "properties": {"tags": ["change-risk"]},
    }


def _notifications(report: Report, shown: int) -> list[dict[str, Any]]:
    found = [_notification(reason.code, reason.detail, reason.paths) for reason in report.completeness.reasons]
    if report.stale_baseline:
        listed = ", ".join(entry.symbol for entry in report.stale_baseline[:20])
        found.append(_notification("stale_baseline", f"{len(report.stale_baseline)} entries of the baseline fit no finding: {listed}", []))
    if shown < len(report.findings):
        found.append(_notification("results_cut", f"{len(report.findings)} findings, of which the first {shown} are results", []))
    return found


def _notification(code: str, text: str, paths: Iterable[str]) -> dict[str, Any]:
    made: dict[str, Any] = {"descriptor": {"id": code}, "level": "warning", "message": {"text": _plain(text)}}
    locations = [{"physicalLocation": {"artifactLocation": _artifact(path)}} for path in paths]
    return made | ({"locations": locations} if locations else {})


def _result(item: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    symbol = item.symbol
    sites = [symbol.affected[number] for number in stale_sites(symbol)]
    made: dict[str, Any] = {
        "ruleId": item.rule,
        "level": _LEVELS[item.level],
        "rank": _RANKS[item.level],
        "message": {"text": _plain(f"{symbol.what} {symbol.kind} {symbol.qualified_name}: {item.message}")},
        "locations": [
            {
                "physicalLocation": _physical(symbol.file, symbol.line if is_on_new_side(symbol) else 0, symbol.end_line),
                "logicalLocations": [{"fullyQualifiedName": one_line(symbol.qualified_name), "kind": symbol.kind}],
            }
        ],
        "partialFingerprints": {"lspidxFinding/v1": item.fingerprint},
        "properties": {"level": item.level, "risk": symbol.risk, "reasons": symbol.reasons, "change": symbol.what},
    }
    if item.rule in numbers:
        made["ruleIndex"] = numbers[item.rule]
    related = [*(_related(site.path, site.line, f"not updated, in {site.caller or site.path}") for site in sites), *_interfaces(symbol)]
    if related:
        made["relatedLocations"] = [{"id": number, **place} for number, place in enumerate(related[: MOST_LOCATIONS - 1], 1)]
    if item.accepted:
        made["suppressions"] = [{"kind": "external", "status": "accepted", "justification": one_line(item.accepted)}]
    return made


def _interfaces(symbol: ChangedSymbol) -> Iterator[dict[str, Any]]:
    """Interfaces that are lost, of the workspace, and who needs them."""
    for item in symbol.interfaces:
        if not item.external:
            yield _related(item.path, item.line, f"{item.name}, which {item.type} no longer satisfies")
        for site in item.sites:
            if not site.updated:
                yield _related(site.path, site.line, f"used as {item.name}, in {site.caller or site.path}")


def _related(path: str, line: int, text: str) -> dict[str, Any]:
    return {"physicalLocation": _physical(path, line), "message": {"text": _plain(text)}}


def _physical(path: str, line: int, end_line: int = 0) -> dict[str, Any]:
    made: dict[str, Any] = {"artifactLocation": _artifact(path)}
    if line:
        made["region"] = {"startLine": line} | ({"endLine": end_line} if end_line >= line else {})
    return made


def _artifact(path: str) -> dict[str, Any]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": _ROOT}


def _plain(text: str) -> str:
    """In a message, brackets would be a link and braces a placeholder."""
    text = one_line(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return text.replace("{", "{{").replace("}", "}}")
