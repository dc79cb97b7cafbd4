"""What an index covers, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated

import click
import msgspec

from indexer.errors import NameNotFound, UsageError
from query.answers.envelope import Answer
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count
from query.context import Context
from query.facts import coverage, names
from query.facts.completeness import DEFINITION
from query.facts.index import Index
from query.facts.status import Report, status, status_text
from query.surface.registry import tool


class IndexStatus(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, msgspec.Meta(description="only this file, or what is below this folder; all by default")] = ""
    language: Annotated[str, msgspec.Meta(description="only this language")] = ""
    method: Annotated[str, msgspec.Meta(description="only this method, e.g. textDocument/definition or syntax")] = ""
    details: Annotated[
        bool, msgspec.Meta(description="also how the index was made and what the workspace lacks, as lspidx status prints it")
    ] = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="entries shown of each list")] = 200
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

    part = coverage.Part(scope, language, ask.method)
    methods = coverage.method_counts(index, part)
    offset = offset_of(ask.cursor)
    page, total = coverage.gaps(index, part, offset=offset, limit=ask.limit)
    skipped = coverage.skipped_files(index, part)
    tree = context.certificate.drift
    changed = [path for path in tree.paths if holds(path)]
    result = Status(
        scope=scope or ".",
        languages=_languages(index, report, part),
        methods=[MethodStatus(**row._asdict()) for row in methods],
        gaps=[Gap(**row._asdict()) for row in page],
        skipped=[SkippedFile(path=path, reason=reason) for path, reason in skipped[offset : offset + ask.limit]],
        skipped_count=len(skipped),
        changed=changed[offset : offset + ask.limit],
        changed_count=len(changed),
        checked=tree.checked,
        refresh=report["refresh"],
        details=report if ask.details else msgspec.UNSET,
        **coverage.numbers(index, part)._asdict(),
    )
    every = sorted({row.method for row in methods} | set(DEFINITION))
    return context.answer(
        ask,
        result,
        page_of(offset, ask.limit, max(total, len(skipped), len(changed))),
        context.certificate.of_workspace(every, language=language, holds=holds if scope else None),
        more={"file_path": scope} if scope else {},
        language=language,
    )


def _scope(index: Index, path: str) -> str:
    """A document, or a folder that has some; empty for all."""
    if not path or path in (".", "./", str(index.root)):
        return ""
    folder = path.removeprefix(str(index.root) + "/").removeprefix("./").rstrip("/")
    if coverage.is_folder(index, folder):
        return folder
    try:
        return names.document_path(index, path)
    except NameNotFound as error:
        raise NameNotFound(f"'{path}' is neither a document nor a folder of the index; {error}") from error


def _languages(index: Index, report: Report, part: coverage.Part) -> list[LanguageStatus]:
    """As the report of `lspidx status` has them, with the numbers of the scope."""
    numbers = coverage.files_by_language(index, part)
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
