"""What the servers complained of when the index was made, or complain of now."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated

import msgspec

from indexer.errors import ServerError, UsageError
from query.answers.diagnostic import SEVERITIES, Diagnostic, from_server
from query.answers.envelope import Answer, Completeness, Reason
from query.answers.pages import offset_of, page_of
from query.answers.paths import MAX_PATHS
from query.answers.style import Style, count, one_line
from query.context import Context, Workspace
from query.facts.coverage import was_asked
from query.facts.diagnostics import complaints
from query.facts.families import languages_of
from query.facts.freshness import is_as_indexed
from query.facts.names import document_path
from query.surface.registry import tool

_METHODS = ["textDocument/diagnostic", "textDocument/publishDiagnostics"]


class GetDiagnostics(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, msgspec.Meta(description="only this document; all by default")] = ""
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob or are below this folder")] = ""
    severity: Annotated[
        list[str], msgspec.Meta(description="only these: error, warning, information, hint, or 1 to 4; all by default")
    ] = []
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="diagnostics shown")] = 200
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""
    live: Annotated[
        bool, msgspec.Meta(description="ask a running language server about file_path now; also done where that file has changed since")
    ] = False
    offline: Annotated[bool, msgspec.Meta(description="start no language server, whatever has changed")] = False


class Diagnostics(msgspec.Struct, kw_only=True):
    """Errors first, then by path and position; exact counts by severity, of all pages; files whose messages may be out of date."""

    counts: dict[str, int]
    files: int
    stale: list[str]
    diagnostics: list[Diagnostic]


def _text(answer: Answer[Diagnostics], style: Style) -> Iterator[str]:
    for (path, severity), group in groupby(answer.result.diagnostics, key=lambda item: (item.path, item.severity)):
        yield f"{style.heading(path)}  {style.warning(severity)}"
        for item in group:
            origin = " ".join(filter(None, (item.source, item.code)))
            yield f"  {style.below(path, item.line, item.col)}  {one_line(item.message)}  {style.dim(f'[{origin}]')}"
    for path in answer.result.stale:
        yield f"{style.path(path)}  {style.warning('has changed since: its messages may be out of date')}"
    counts = ", ".join(f"{number} {name}" for name, number in answer.result.counts.items() if number)
    yield f"{counts} in {count(answer.result.files, 'file')}" if counts else "no messages"


def _live(workspace: Workspace, ask: GetDiagnostics) -> Answer[Diagnostics]:
    from query.live.navigation import completeness_of
    from query.live.questions import document, live_provenance
    from query.live.replies import diagnostics_of, doubted, left_out

    if not ask.file_path:
        raise UsageError("a running server is asked about one file at a time: give file_path; without live the index tells of all files")
    of = document(workspace, ask.file_path)
    diagnosis = workspace.servers.diagnose([of.path])
    wanted = {_severity(name) for name in ask.severity}
    known = diagnostics_of(diagnosis, of.path)
    rows = [row for row in (from_server(of.path, item) for item in known.records) if not wanted or row.number in wanted]
    rows.sort(key=lambda row: (row.number, row.line, row.col, row.end_line, row.end_col, row.code, row.message))
    offset = offset_of(ask.cursor)
    shown = rows[offset : offset + ask.limit]
    return workspace.answer(
        ask,
        Diagnostics(
            counts={name: sum(row.number == number for row in rows) for number, name in SEVERITIES.items()},
            files=1 if rows else 0,
            stale=[],
            diagnostics=shown,
        ),
        page_of(offset, len(shown), len(rows)),
        doubted(completeness_of(diagnosis), left_out(known.others, "diagnostics", diagnosis.server)),
        live_provenance(diagnosis),
        more={"file_path": of.path},
    )


@tool(
    "get_diagnostics",
    parameters=GetDiagnostics,
    result=Diagnostics,
    positional="file_path",
    example="get_diagnostics shortcuts.py",
    task="quality",
    hint="errors warnings problems lint type check messages compiler compile",
    text=_text,
    bare=True,
    live=_live,
)
def TOOL(context: Context, ask: GetDiagnostics) -> Answer[Diagnostics]:
    """Errors, warnings and hints of one document or of all: as of the index, or live for a document that has changed since."""
    why = ""
    if ask.file_path and not ask.offline:
        from query.live.questions import document

        try:
            now = document(context.workspace, ask.file_path)
            if not is_as_indexed(context.index, now.path):
                return _live(context.workspace, ask)
        except ServerError as error:
            why = str(error)
    answer = _indexed(context, ask)
    if not why:
        return answer
    reason = Reason(code="live_unavailable", detail=f"no running server could be asked instead: {why}")
    return msgspec.structs.replace(answer, completeness=Completeness(status="partial", reasons=[*answer.completeness.reasons, reason]))


def _indexed(context: Context, ask: GetDiagnostics) -> Answer[Diagnostics]:
    index = context.index
    path = document_path(index, ask.file_path) if ask.file_path else ""
    offset = offset_of(ask.cursor)
    found = complaints(
        index, file=path, path=ask.path, severities=[_severity(name) for name in ask.severity], offset=offset, limit=ask.limit
    )
    result = Diagnostics(
        counts={name: int(found.counts.get(number, 0)) for number, name in SEVERITIES.items()},
        files=found.files,
        stale=[changed for changed in context.certificate.drift.paths if (not path or changed == path) and _holds(ask.path, changed)][
            :MAX_PATHS
        ],
        diagnostics=found.page,
    )
    certificate = context.certificate
    known = [method for method in _METHODS if was_asked(index, method)] or _METHODS[:1]
    languages = (
        {languages_of(index).get(path, "")}
        if path
        else {language for other, language in languages_of(index).items() if _holds(ask.path, other)}
    )
    lacking = certificate.without_environment(languages)
    if path:
        completeness = certificate.of_documents([path], known, lacking)
    else:
        completeness = certificate.of_workspace(known, lacking, holds=(lambda other: _holds(ask.path, other)) if ask.path else None)
    return context.answer(
        ask, result, page_of(offset, len(found.page), found.total), completeness, more={"file_path": path} if path else {}, about=path
    )


def _holds(pattern: str, path: str) -> bool:
    """As DuckDB's GLOB, whose `*` crosses folders, or as the beginning of the path."""
    import fnmatch

    return not pattern or path.startswith(pattern) or fnmatch.fnmatchcase(path, pattern)


def _severity(name: str) -> int:
    known = {**{str(number): number for number in SEVERITIES}, **{label: number for number, label in SEVERITIES.items()}, "info": 3}
    if name.lower() not in known:
        raise UsageError(f"no severity is called '{name}'; known: {', '.join(known)}")
    return known[name.lower()]
