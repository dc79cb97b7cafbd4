"""GitLab's code quality report: a list of findings that are not accepted."""

from __future__ import annotations

from typing import Any

import msgspec

from query.answers.style import one_line
from query.changes.rules import Level
from query.reports.model import Report, is_on_new_side

MOST = 5_000

_SEVERITIES: dict[Level, str] = {
    "critical": "blocker", "high": "critical", "medium": "major", "unknown": "minor", "low": "info", "info": "info",
}  # fmt: skip


def render(report: Report, *, shown: int = MOST) -> str:
    """JSON as GitLab reads it; what is gone is placed at the first line of its file."""
    rows: list[dict[str, Any]] = [
        {
            "description": one_line(f"{item.symbol.what} {item.symbol.kind} {item.symbol.qualified_name}: {item.message}"),
            "check_name": item.rule,
            "fingerprint": item.fingerprint,
            "severity": _SEVERITIES[item.level],
            "location": {
                "path": one_line(item.symbol.file),
                "lines": {"begin": max(1, item.symbol.line) if is_on_new_side(item.symbol) else 1},
            },
        }
        for item in report.findings
        if not item.accepted
    ]
    return msgspec.json.format(msgspec.json.encode(rows[: min(shown, MOST)]), indent=1).decode() + "\n"
