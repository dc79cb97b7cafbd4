"""A whole answer, and an error, as text or as a value for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from indexer.errors import AmbiguousName, LspidxError, PhaseViolation
from query.answer import Answer
from query.registry import load
from query.style import Style, one_line, printable

_MAX_CANDIDATE_WIDTH = 60


def to_text(answer: Answer[Any], style: Style | None = None) -> str:
    """The whole answer: what was found, then one line on how many, how complete, and from where."""
    style = style or Style()
    tool, _ = load(answer.tool)
    return "\n".join([*tool.text(answer, style), *([] if style.compact else [""]), *_footer(answer, style, tool.counted(answer))])


def error_text(error: LspidxError) -> str:
    """The message, and the candidates of an ambiguous name, each of which can be sent back as it stands."""
    lines = [f"{click.style('error:', fg='red')} {printable(str(error))}"]
    if isinstance(error, AmbiguousName):
        for item in error.candidates:
            lines.append(f"  {one_line(str(item['send'])):<{_MAX_CANDIDATE_WIDTH}}  {item['kind']} {one_line(str(item['qualified_name']))}")
        if error.total > len(error.candidates):
            lines.append(f"  … and {error.total - len(error.candidates)} more")
    return "\n".join(lines)


def error_record(error: LspidxError) -> dict[str, Any]:
    """The error as a value, for programs."""
    record: dict[str, Any] = {"code": error.code, "message": str(error)}
    if isinstance(error, AmbiguousName):
        record |= {"candidates": error.candidates, "total": error.total}
    if isinstance(error, PhaseViolation):
        record |= error.record
    return {"error": record}


def _footer(answer: Answer[Any], style: Style, counted: str) -> Iterator[str]:
    shown = f"{counted} found"
    if answer.truncated or answer.shortened:
        shown = f"first part of {counted}; next: --cursor {answer.next_cursor}" if answer.next_cursor else f"{shown}, cut short"
    source = answer.provenance
    commit = f", commit {source.commit[:10]}{' + changes' if source.dirty else ''}" if source.commit else ""
    status = answer.completeness.status
    when = f"{'imported ' if source.imported else ''}{source.indexed_at} UTC" if source.indexed_at else "as of now"
    took = f"{source.elapsed_ms} ms" if isinstance(source.elapsed_ms, int) else ""
    asked = "live" if took else ""
    origin = ", ".join(filter(None, [asked, f"{', '.join(source.servers)}{commit}", when, took]))
    yield f"{shown} · {style.good(status) if status == 'complete' else style.warning(status)} · {origin}"
    if answer.result_file:
        yield f"  {style.warning('too long to print')}: the whole answer is in {style.path(answer.result_file)}"
    for warning in answer.warnings or []:
        yield f"  {style.warning('warning')}: {one_line(warning)}"
    for reason in answer.completeness.reasons:
        listed = f" ({', '.join(reason.paths[:3])}{', …' if reason.count > 3 else ''})" if reason.paths else ""
        yield f"  {style.warning(reason.code)}: {one_line(reason.detail + listed)}"
