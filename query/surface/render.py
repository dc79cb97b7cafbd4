"""A whole answer, and an error, as text or as a value for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from indexer.errors import AmbiguousName, EditsOff, LspidxError, NoIndex, PhaseViolation
from indexer.quoting import fenced, one_line, styled_line, visible
from query.answers.envelope import Answer, Reason
from query.answers.style import Style
from query.surface.in_calls import in_calls
from query.surface.registry import Tool, load

_MAX_CANDIDATE_WIDTH = 60

OWN_WORDS = (EditsOff, NoIndex, PhaseViolation)
"""Errors that hold nothing of the repository, and say what to do."""


def to_text(answer: Answer[Any], style: Style | None = None) -> str:
    """The whole answer: what was found, then one line on how many, how complete, and from where.

    Each line that a tool gives is one line here, whatever is in it. For agents what the repository said stands between two marks.
    """
    style = style or Style()
    tool, _ = load(answer.tool)
    on_one_line = styled_line if style.color else one_line
    body = [on_one_line(line) for line in tool.text(answer, style)]
    summary, *notes = (on_one_line(line) for line in _footer(answer, style, tool))
    if not style.compact:
        return "\n".join([*body, "", summary, *notes])
    return "\n".join([*body, summary, *notes] if tool.own_words else [*fenced([*body, *notes]), summary])


def summary(answer: Answer[Any], style: Style | None = None) -> str:
    """The last lines of the text alone: how many, how complete, from where, and why it may lack something."""
    tool, _ = load(answer.tool)
    return "\n".join(styled_line(line) for line in _footer(answer, style or Style(), tool))


def error_text(error: LspidxError) -> str:
    """The message, and the candidates of an ambiguous name, each of which can be sent back as it stands.

    Every line but the first is indented: a newline in a name that the message quotes begins no line that looks like ours.
    """
    first, *more = visible(str(error)).split("\n")
    lines = [f"{click.style('error:', fg='red')} {first}", *(line if line.startswith("  ") else f"  {line}" for line in more)]
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
    return {"error": record} | ({} if isinstance(error, OWN_WORDS) else {"quoted": ["error"]})


def _footer(answer: Answer[Any], style: Style, tool: Tool) -> Iterator[str]:
    counted = tool.counted(answer)
    shown = f"{counted} found" if tool.done is None else tool.done(answer)
    if answer.truncated or answer.shortened:
        part = "a part of what is known of it" if counted.partition(" ")[0] == "1" else f"first part of {counted}"
        part = part if tool.part is None else tool.part(answer)
        further = "" if style.calls else f"; next: --cursor {answer.next_cursor}"  # who calls is told by the call that goes on
        shown = f"{part}{further}" if answer.next_cursor else f"{shown}, cut short"
    source = answer.provenance
    commit = f"commit {source.commit[:10]}{' + changes' if source.dirty else ''}" if source.commit else ""
    status = answer.completeness.status
    when = f"{'imported ' if source.imported else ''}{source.indexed_at} UTC" if source.indexed_at else "as of now"
    took = f"{source.elapsed_ms} ms" if isinstance(source.elapsed_ms, int) else ""
    asked = "live" if took else "FOREIGN INDEX" if source.foreign is True else ""
    origin = ", ".join(filter(None, [asked, *source.servers, commit, when, took]))
    yield f"{shown} · {style.good(status) if status == 'complete' else style.warning(status)} · {origin}"
    if answer.result_file:
        yield f"  {style.warning('too long to print')}: the whole answer is in {style.path(answer.result_file)}"
    for said in answer.beside or []:
        yield f"  {style.dim('beside')}: {one_line(said)}"
    for warning in answer.warnings or []:
        yield f"  {style.warning('warning')}: {one_line(warning)}"
    yield from (f"  {reason_line(reason, style)}" for reason in answer.completeness.reasons)


def reason_line(reason: Reason, style: Style | None = None) -> str:
    """Why an answer may lack something, with the first files that it is about."""
    style = style or Style()
    listed = f" ({', '.join(reason.paths[:3])}{', …' if reason.count > 3 else ''})" if reason.paths else ""
    detail = in_calls(reason.detail) if style.calls else reason.detail
    return f"{style.warning(reason.code)}: {one_line(detail + listed)}"
