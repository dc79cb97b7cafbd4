"""GitHub's annotations: workflow commands that a step prints. GitHub shows about ten of each kind for a step, so the worst come first."""

from __future__ import annotations

from collections.abc import Iterator

from indexer.quoting import inert
from query.answers.style import printable
from query.changes.rules import Level
from query.reports.model import Finding, Report, is_on_new_side, stale_sites
from query.reports.terminal import headline, notes

MOST_OF_A_KIND = 10

_KINDS: dict[Level, str] = {
    "critical": "error", "high": "error", "medium": "warning", "unknown": "notice", "low": "notice", "info": "notice",
}  # fmt: skip
_SITES = 5


def render(report: Report, *, shown: int = 1_000) -> str:
    """Workflow commands, and a last line that says how many findings there are in all.

    Nothing within a line is a command, neither of the older form (`##[…]`) nor of another CI that reads the same log.
    """
    return "".join(f"{line[:2]}{inert(line[2:])}\n" for line in _lines(report, shown))


def _lines(report: Report, shown: int) -> Iterator[str]:
    left = dict.fromkeys(_KINDS.values(), MOST_OF_A_KIND)
    told = "\n".join(line.strip() for line in notes(report))
    if told:
        left["notice"] -= 1
        yield f"::notice title={_property('lspidx: what this report may lack')}::{_data(told)}"
    for item in [item for item in report.findings if not item.accepted][:shown]:
        kind = _KINDS[item.level]
        if left[kind]:
            left[kind] -= 1
            yield f"::{kind} {_place(item)},title={_property(f'{item.level}: {item.symbol.what} {item.symbol.name}')}::{_data(_text(item))}"
    yield f"compared {headline(report)}"


def _place(item: Finding) -> str:
    """A line only where it is one of the file as it is now."""
    symbol = item.symbol
    line = f",line={symbol.line}" if is_on_new_side(symbol) else ""
    return f"file={_property(symbol.file)}{line}"


def _text(item: Finding) -> str:
    symbol = item.symbol
    lines = [f"{symbol.qualified_name}: {item.message}"]
    sites = [symbol.affected[number] for number in stale_sites(symbol)]
    lines += [f"not updated: {site.path}:{site.line} in {site.caller}" for site in sites[:_SITES]]
    if len(sites) > _SITES:
        lines.append(f"and {symbol.stale_sites - _SITES} more")
    return "\n".join(lines)


def _data(text: str) -> str:
    return printable(text.replace("\r", "\\r")).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
