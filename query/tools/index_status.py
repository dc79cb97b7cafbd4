"""What an index covers, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Any

import click
import msgspec

from indexer.errors import NameNotFound, UsageError
from query.answers.envelope import Answer
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count
from query.context import Context
from query.facts import names
from query.facts.completeness import DEFINITION
from query.facts.index import Index
from query.facts.status import Report, status, status_text
from query.surface.registry import tool

_MAX_LISTED = 50


class IndexStatus(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, msgspec.Meta(description="only this file, or what is below this folder; all by default")] = ""
    language: Annotated[str, msgspec.Meta(description="only this language")] = ""
    method: Annotated[str, msgspec.Meta(description="only this method, e.g. textDocument/definition or syntax")] = ""
    details: Annotated[
        bool, msgspec.Meta(description="also how the index was made and what the workspace lacks, as lspidx status prints it")
    ] = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="gaps shown")] = 200
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class LanguageStatus(msgspec.Struct, kw_only=True):
    """Files of a language in the scope; `server` is empty where there was none, then `missing` may say why."""

    language: str
    files: int
    skipped: int
    server: str
    missing: str


class MethodStatus(msgspec.Struct, kw_only=True):
    """How a method went for the documents of a language: asked and answered count its requests (for `syntax`, identifiers)."""

    language: str
    method: str
    status: str
    documents: int
    asked: int
    answered: int


class Gap(msgspec.Struct, kw_only=True):
    """A document that lacks the answers of a method. status: lost, unsupported, skipped, or done with text that does not parse."""

    path: str
    language: str
    method: str
    status: str
    reason: str


class SkippedFile(msgspec.Struct, kw_only=True):
    path: str
    reason: str


class Status(msgspec.Struct, kw_only=True):
    """`gaps` is a page of all gaps (the answer's total); of skipped and changed files at most 50 are listed, the counts are exact.

    details: all about the index, whatever the scope is; only on request.
    """

    scope: str
    documents: int
    symbols: int
    occurrences: int
    unresolved_identifiers: int
    unresolved_imports: int
    languages: list[LanguageStatus]
    methods: list[MethodStatus]
    gaps: list[Gap]
    skipped: list[SkippedFile]
    skipped_count: int
    changed: list[str]
    changed_count: int
    checked: bool
    refresh: str
    details: Report | msgspec.UnsetType = msgspec.UNSET


def _text(answer: Answer[Status], style: Style) -> Iterator[str]:
    item = answer.result
    if item.details is not msgspec.UNSET:
        text = status_text(item.details)
        yield from (text if style.color else click.unstyle(text)).split("\n")
        return
    yield f"{style.heading(item.scope)}  {count(item.documents, 'document')}, {item.symbols} symbols, {item.occurrences} occurrences"
    yield f"  unresolved: {item.unresolved_identifiers} identifiers, {item.unresolved_imports} imports"
    for language in item.languages:
        server = language.server or style.warning(f"no server {language.missing}".strip())
        yield f"  {language.language}: {language.files} files, {language.skipped} skipped, {server}"
    for language, group in groupby(item.methods, key=lambda row: row.language):
        for row in group:
            yield f"    {language}  {row.method}  {row.status}  {row.documents} files, {row.answered} of {row.asked} answered"
    for title, listed in (("gap", item.gaps), ("skipped", item.skipped)):
        for row in listed:
            what = f"{row.method} {row.status}" if isinstance(row, Gap) else ""
            yield f"  {style.warning(title)}  {style.path(row.path)}  {' '.join(filter(None, (what, row.reason)))}"
    for path in item.changed:
        yield f"  {style.warning('changed')}  {style.path(path)}"
    if item.changed_count:
        yield f"  {count(item.changed_count, 'file')} changed; to bring the index up to date: {item.refresh}"
    elif item.checked:
        yield f"  {style.good('as indexed')}"


@tool(
    "index_status",
    parameters=IndexStatus,
    result=Status,
    positional="file_path",
    example="index_status utils",
    task="index",
    hint="coverage gaps freshness stale what is missing how complete",
    text=_text,
    bare=True,
)
def TOOL(context: Context, ask: IndexStatus) -> Answer[Status]:
    """What the index covers and what it lacks, by file, language and method; of everything, one folder or one file."""
    index = context.index
    scope = _scope(index, ask.file_path)
    if ask.details and (scope or ask.language or ask.method):
        raise UsageError("details are about the whole index; ask for them without file_path, language and method")
    report = status(index)
    language = ask.language.lower()

    def holds(path: str) -> bool:
        return not scope or path == scope or path.startswith(scope + "/")

    inside = "($scope = '' OR {0}.path = $scope OR starts_with({0}.path, $scope || '/')) AND ($language = '' OR {0}.language = $language)"
    values = {"scope": scope, "language": language}
    documents = f"(SELECT doc_id, path, language FROM document d WHERE d.status <> 'external' AND {inside.format('d')}) d"
    coverage = f"FROM document_coverage c JOIN {documents} USING (doc_id) WHERE ($method = '' OR c.method = $method)"
    asking = {**values, "method": ask.method}
    methods = index.rows(
        f"SELECT d.language, c.method, c.status, count(*), sum(c.asked), sum(c.answered) {coverage} GROUP BY ALL ORDER BY ALL", asking
    )
    gaps = (
        f"{coverage} AND (c.status IN ('lost', 'unsupported') OR c.reason = 'no_server' OR (c.method = 'syntax' AND c.reason <> '') "
        "OR starts_with(c.reason, 'questions_cut'))"
    )
    counted = index.row(f"SELECT count(*) {gaps}", asking)
    total = int(counted[0]) if counted else 0
    offset = offset_of(ask.cursor)
    page = index.rows(
        f"""
        SELECT d.path, d.language, c.method, c.status, c.reason {gaps}
        ORDER BY c.status <> 'lost', c.status, c.method, d.path LIMIT $limit OFFSET $offset
        """,
        {**asking, "limit": ask.limit, "offset": offset},
    )
    skipped = index.rows(f"SELECT k.path, k.reason, k.language FROM skipped k WHERE {inside.format('k')} ORDER BY ALL", values)
    tree = context.certificate.drift
    changed = [path for path in tree.paths if holds(path)]
    numbers = _numbers(index, documents, values)
    result = Status(
        scope=scope or ".",
        languages=_languages(index, report, inside, values),
        methods=[
            MethodStatus(language=of, method=method, status=state, documents=number, asked=int(asked_ or 0), answered=int(answered or 0))
            for of, method, state, number, asked_, answered in methods
        ],
        gaps=[Gap(path=path, language=of, method=method, status=state, reason=reason) for path, of, method, state, reason in page],
        skipped=[SkippedFile(path=path, reason=reason) for path, reason, _ in skipped[:_MAX_LISTED]],
        skipped_count=len(skipped),
        changed=changed[:_MAX_LISTED],
        changed_count=len(changed),
        checked=tree.checked,
        refresh=report["refresh"],
        details=report if ask.details else msgspec.UNSET,
        **numbers,
    )
    every = sorted({method for _, method, *_ in methods} | set(DEFINITION))
    return context.answer(
        ask,
        result,
        page_of(offset, len(page), total),
        context.certificate.of_workspace(every, language=language, holds=holds if scope else None),
        more={"file_path": scope} if scope else {},
        language=language,
    )


def _scope(index: Index, path: str) -> str:
    """A document, or a folder that has some; empty for all."""
    if not path or path in (".", "./", str(index.root)):
        return ""
    folder = path.removeprefix(str(index.root) + "/").removeprefix("./").rstrip("/")
    row = index.row(
        "SELECT 1 FROM documents WHERE starts_with(path, $folder || '/') OR (path = $folder AND status = 'skipped') LIMIT 1",
        {"folder": folder},
    )
    if row:
        return folder
    try:
        return names.document_path(index, path)
    except NameNotFound as error:
        raise NameNotFound(f"'{path}' is neither a document nor a folder of the index; {error}") from error


def _numbers(index: Index, documents: str, values: dict[str, Any]) -> dict[str, int]:
    row = index.row(
        f"""
        SELECT (SELECT count(*) FROM {documents}),
               (SELECT count(*) FROM symbol s JOIN {documents} USING (doc_id)),
               (SELECT count(*) FROM occ o JOIN {documents} USING (doc_id)),
               (SELECT count(*) FROM unresolved_name u JOIN {documents} USING (doc_id)),
               (SELECT count(*) FROM unresolved_import u JOIN {documents} USING (doc_id))
        """,
        values,
    )
    fields = ("documents", "symbols", "occurrences", "unresolved_identifiers", "unresolved_imports")
    return dict(zip(fields, row or (0,) * len(fields), strict=True))


def _languages(index: Index, report: Report, inside: str, values: dict[str, Any]) -> list[LanguageStatus]:
    """As the report of `lspidx status` has them, with the numbers of the scope."""
    rows = index.rows(
        f"""
        SELECT language, count(*) FILTER (NOT skipped), count(*) FILTER (skipped) FROM (
            SELECT path, language, false AS skipped FROM document WHERE status <> 'external'
            UNION ALL SELECT path, language, true FROM skipped WHERE language <> ''
        ) f WHERE {inside.format("f")} GROUP BY 1
        """,
        values,
    )
    numbers = {language: (files, skipped) for language, files, skipped in rows}
    return [
        LanguageStatus(
            language=item["language"],
            files=numbers[item["language"]][0],
            skipped=numbers[item["language"]][1],
            server=item["server"],
            missing=item["missing"],
        )
        for item in report["languages"]
        if item["language"] in numbers
    ]
