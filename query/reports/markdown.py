"""The report as a comment on a pull request, and as a job's summary.

Valid however much is cut: each section is whole in itself, rows are left out of it at its end, and the numbers stay exact. Names from
the repository stand in code, where neither Markdown nor a mention, a link or an issue's number means anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from query.answers.style import count, one_line
from query.reports.graphs import of_findings
from query.reports.mermaid import mermaid
from query.reports.model import Finding, Report, is_on_new_side, stale_sites
from query.reports.terminal import notes

MARKER = "<!-- lspidx report -->"
"""Hidden; by it the job that posts finds its earlier comment."""

COMMENT_BYTES = 60_000
"""GitHub takes 65,536 characters."""

SUMMARY_BYTES = 1_000_000
"""GitHub takes 1 MiB for each step."""

_TOP = 10
_MAX_NAME = 120
_COMMAND = 8_000
_NOT_PLAIN = re.compile(r"[`|\\]|##")
_PROSE = re.compile(r"(?:[\w ,;:()−–…+-]|\.(?= |$|\)))*\Z")
_MARKS = {"critical": "🟣", "high": "🔴", "medium": "🟠", "unknown": "⚪", "low": "🔵"}


def render(report: Report, *, most_bytes: int = COMMENT_BYTES, shown: int = 1_000) -> str:
    """At most `most_bytes` of UTF-8, and `shown` findings."""
    page = _Page(most_bytes)
    page.add(_head(report))
    findings = report.findings[:shown]
    page.table("", _COLUMNS, (_row(item) for item in findings[:_TOP]), len(findings[:_TOP]))
    page.reserve(0.35, lambda: _stale(page, findings))
    page.reserve(0.25, lambda: _tests(page, report))
    page.reserve(0.2, lambda: _graph(page, findings))
    rest = findings[_TOP:]
    if rest or len(report.findings) > len(findings):
        number = len(report.findings) - min(_TOP, len(findings))
        page.reserve(1.0, lambda: page.folded(f"{number} more findings", _COLUMNS, (_row(item) for item in rest), number))
    page.add([_foot(report)])
    return page.text()


class _Page:
    """Lines within a limit. What is added is whole: a table that does not fit loses rows and says how many."""

    _FOOT = 700

    def __init__(self, most_bytes: int) -> None:
        self._lines: list[str] = []
        self._left = most_bytes
        self._limit = 0

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def add(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._lines.append(line)
            self._left -= _size(line)

    def reserve(self, share: float, write: Callable[[], None]) -> None:
        """Gives a section a share of what is left."""
        room = max(0, self._left - self._FOOT)
        self._limit = self._left - int(room * share)
        write()

    def room(self) -> int:
        return self._left - max(self._limit, self._FOOT)

    def try_add(self, lines: Sequence[str]) -> bool:
        """Adds all of the lines, or none where they do not fit."""
        if sum(map(_size, lines)) > self.room():
            return False
        self.add(lines)
        return True

    def table(self, title: str, head: Sequence[str], rows: Iterable[str], total: int) -> None:
        if total:
            self._rows([*([title, ""] if title else []), *head], rows, total, [])

    def folded(self, title: str, head: Sequence[str], rows: Iterable[str], total: int) -> None:
        if total:
            self._rows(["<details>", f"<summary>{title}</summary>", "", *head], rows, total, ["", "</details>"])

    def _rows(self, head: Sequence[str], rows: Iterable[str], total: int, end: Sequence[str]) -> None:
        kept: list[str] = []
        room = self.room() - sum(map(_size, [*head, *end])) - 80  # the line that says how many are left out
        for row in rows:
            if _size(row) > room:
                break
            room -= _size(row)
            kept.append(row)
        if not kept and room < 0:
            return
        left = total - len(kept)
        note = ["", f"… and {left} more, which the whole report has."] if left else []
        self.add([*head, *kept, *note, *end, ""])


def _size(line: str) -> int:
    return len(line.encode("utf-8", "backslashreplace")) + 1


_COLUMNS = ("| level | symbol | place | why |", "|---|---|---|---|")


def _head(report: Report) -> Iterator[str]:
    totals = report.totals
    yield MARKER
    yield f"## {_MARKS.get(report.level, '🟢')} Change report: {report.level if report.findings else 'nothing above info'}"
    yield ""
    told = list(notes(report))
    if told:  # before anything that it may be missing from
        yield "> [!WARNING]"
        for line in told:
            yield f"> {_prose(line.strip())}<br>"
        yield ""
    by_level = ", ".join(f"**{number}** {level}" for level, number in report.counts.items())
    accepted = f", {report.accepted} accepted by the baseline" if report.accepted else ""
    yield (
        f"{_code(report.compared)}: {count(totals.files, 'file')} (+{totals.lines_added} −{totals.lines_removed}), "
        f"{count(totals.symbols, 'changed symbol')}; findings: {by_level or 'none'}{accepted}. "
        f"{count(totals.stale_sites, 'use')} not updated, {count(totals.tests, 'test')} reach the change."
    )
    yield ""
    if any(item.read_first for item in report.findings):
        yield "The findings marked 👀 are those to read first."
        yield ""


def _row(item: Finding) -> str:
    symbol = item.symbol
    was = symbol.old_name or symbol.old_file
    name = f"{'👀 ' if item.read_first else ''}{symbol.what} {symbol.kind} {_code(symbol.qualified_name)}"
    if was:
        name += f", was {_code(was)}"
    place = _code(f"{symbol.file}:{symbol.line}") + ("" if is_on_new_side(symbol) else " (old side)")
    why = _prose(item.message) + (f"; **accepted**: {_prose(item.accepted)}" if item.accepted else "")
    return f"| {_MARKS[item.level]} {item.level} | {name} | {place} | {why} |"


def _stale(page: _Page, findings: Sequence[Finding]) -> None:
    rows = [(item, item.symbol.affected[number]) for item in findings for number in stale_sites(item.symbol)]
    total = sum(item.symbol.stale_sites for item in findings)
    if rows:
        head = ("| use | of | source |", "|---|---|---|")
        lines = (
            f"| {_code(f'{site.path}:{site.line}')} in {_code(site.caller)} | {_code(item.symbol.qualified_name)} | {_code(site.text)} |"
            for item, site in rows
        )
        page.table(f"### Uses that this change leaves alone ({total})", head, lines, total)


def _tests(page: _Page, report: Report) -> None:
    if not report.tests:
        return
    few = f"; the first {report.totals.likely_tests} are the likely ones" if report.totals.likely_tests < report.totals.tests else ""
    page.try_add([f"### Tests that reach the change ({report.totals.tests}, likeliest first{few})", ""])
    short = [command for command in report.commands if len(command.line) <= _COMMAND]
    if short and len(short) == len(report.commands):
        page.try_add([*_fence("sh", [one_line(command.line) for command in short]), ""])
    else:
        page.try_add(["All of them on a command line: `lspidx report … --tests-only=command`", ""])
    rows = (
        f"| {_code(test.selector)} | {test.distance}{' (import)' if test.import_only else ''} | {_code(test.via)} |"
        for test in report.tests
    )
    head = ("| test | distance | by |", "|---|---|---|")
    page.folded(f"{count(report.totals.tests, 'test')}", head, rows, report.totals.tests)


def _graph(page: _Page, findings: Sequence[Finding]) -> None:
    """The largest picture that fits."""
    for most in (60, 40, 20, 10):
        graph = of_findings(findings, most=most)
        if not graph.edges:
            return
        lines = ["<details>", "<summary>Changed symbols and who uses them</summary>", ""]
        left = ["", f"{graph.left_out} more are left out."] if graph.left_out else []
        if page.try_add([*lines, *_fence("mermaid", mermaid(graph).splitlines()), *left, "", "</details>", ""]):
            return


def _foot(report: Report) -> str:
    source = report.provenance
    servers = ", ".join(_code(name) for name in source.servers[:6])
    return (
        f"<sub>{report.completeness.status} · {servers} · index of {_code(source.commit[:10] or 'no commit')} · old side: "
        f"{_code(report.base)} · {_code(report.old[:10])}..{_code(report.new[:10])}</sub>"
    )


# ---- escapes


def _fence(language: str, lines: Sequence[str]) -> list[str]:
    """A block of code that none of its lines can end."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]


def _code(text: str) -> str:
    """Text in code. What a code span, or one in a table, would take as its own sign is written as entities in `<code>`."""
    text = one_line(text).strip() or "—"
    if len(text) > _MAX_NAME:
        text = f"{text[: _MAX_NAME // 2]}…{text[-_MAX_NAME // 2 :]}"
    if not _NOT_PLAIN.search(text):
        return f"`{text}`"
    return f"<code>{''.join(char if char.isalnum() or char == ' ' else f'&#{ord(char)};' for char in text)}</code>"


def _prose(text: str) -> str:
    """A sentence of our own as it is; one that holds anything that Markdown could take for a sign stands in code."""
    text = one_line(text)
    return text if _PROSE.match(text) and "_" not in text and "://" not in text else _code(text)
