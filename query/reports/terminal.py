"""The report for a terminal or a log. No line begins with a name: a CI that reads logs would take `::error` in one for a command."""

from __future__ import annotations

from collections.abc import Iterator

from query.answers.paths import listed
from query.answers.style import Style, count, one_line, printable
from query.reports.model import Finding, Report, is_on_new_side, stale_sites

SHOWN = 50
_SITES = 5
_TESTS = 5
_FILES = 3


def render(report: Report, style: Style, *, shown: int = SHOWN) -> str:
    """All that a reviewer reads first, then the rest in short; at most `shown` findings."""
    return "\n".join(_lines(report, style, shown)) + "\n"


def headline(report: Report) -> str:
    """What was compared and how much of it there is, in one line without colour."""
    totals = report.totals
    by_level = ", ".join(f"{number} {level}" for level, number in report.counts.items()) or "nothing above info"
    return (
        f"{one_line(report.compared)}: {count(totals.files, 'file')} (+{totals.lines_added} −{totals.lines_removed}), "
        f"{count(totals.symbols, 'changed symbol')}; {by_level}{f', {report.accepted} accepted' if report.accepted else ''}"
    )


def _lines(report: Report, style: Style, shown: int) -> Iterator[str]:
    yield f"compared {headline(report)}"
    for line in notes(report):
        yield style.warning(line)
    first = [item for item in report.findings if item.read_first][:shown]
    rest = [item for item in report.findings[:shown] if not item.read_first]
    if first:
        yield ""
        yield style.strong("read first:")
    for item in first:
        yield from _finding(item, style, sites=_SITES)
    if rest:
        yield ""
        yield style.strong("then:")
    for item in rest:
        yield from _finding(item, style, sites=0)
    left = len(report.findings) - len(first) - len(rest)
    if left > 0:
        yield f"… and {left} more; all of them: --max-findings {len(report.findings)}, --format json or --format html"
    if report.tests:
        yield ""
        reach = "reaches" if report.totals.tests == 1 else "reach"
        yield style.strong(f"{count(report.totals.tests, 'test')} {reach} what changed; to run them: lspidx report … --tests-only=command")
        if report.totals.likely_tests < report.totals.tests:
            yield f"  the first {report.totals.likely_tests} are the likely ones; only these: --tests-limit likely"
        for test in report.tests[:_TESTS]:
            yield f"  {style.path(test.selector)}  {style.dim(f'distance {test.distance}, by {test.via}')}"
        if len(report.tests) > _TESTS:
            yield f"  … and {report.totals.tests - _TESTS} more"


def notes(report: Report) -> Iterator[str]:
    """What a reader must know before the findings: what may be missing, and what the baseline lacks."""
    status = report.completeness.status
    if status != "complete":
        yield f"{status}: this report may lack something"
    for reason in report.completeness.reasons:
        paths = f" ({', '.join(reason.paths[:_FILES])}{', …' if reason.count > _FILES else ''})" if reason.paths else ""
        yield f"  {one_line(reason.code)}: {one_line(reason.detail + paths)}"
    if report.unexplained:
        yield f"baseline: {count(report.unexplained, 'finding')} listed without a reason, so not accepted"
    if report.stale_baseline:
        number = len(report.stale_baseline)
        symbols = listed([entry.symbol for entry in report.stale_baseline], _FILES)
        yield f"baseline: {'1 entry fits' if number == 1 else f'{number} entries fit'} no finding any more: {one_line(symbols)}"


def _finding(item: Finding, style: Style, *, sites: int) -> Iterator[str]:
    symbol = item.symbol
    level = style.warning(item.level) if item.level in ("critical", "high") else item.level
    was = symbol.old_name or symbol.old_file
    renamed = f" (was {one_line(was)})" if was else ""
    side = "" if is_on_new_side(symbol) else f"  {style.dim('[old side]')}"
    name = style.strong(one_line(symbol.qualified_name))
    yield f"  {level:<8}  {style.place(symbol.file, symbol.line)}  {symbol.what} {style.kind(symbol.kind)} {name}{renamed}{side}"
    yield f"            {style.dim(item.message)}"
    if item.accepted:
        yield f"            {style.good('accepted')}: {one_line(item.accepted)}"
    if sites and symbol.old_signature:
        yield f"            {style.dim(f'- {one_line(symbol.old_signature)}')}"
        yield f"            {style.dim(f'+ {one_line(symbol.signature)}')}"
    stale = [symbol.affected[number] for number in stale_sites(symbol)]
    for site in stale[:sites]:
        text = f"  {printable(site.text)}" if site.text else ""
        yield f"            not updated: {style.place(site.path, site.line)}{text}  {style.dim(f'in {one_line(site.caller)}')}"
    if len(stale) > sites > 0:
        yield f"            … and {symbol.stale_sites - sites} more uses that are not updated"
