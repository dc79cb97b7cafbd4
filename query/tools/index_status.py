"""What an index covers, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Annotated, Any

import msgspec

from indexer.errors import NameNotFound, UsageError
from indexer.languages import record_of
from indexer.model import BY_WORDS, FOREIGN, SkipReason
from query.answers.advice import lacking, losses, refused
from query.answers.envelope import Answer
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count, one_line
from query.context import Context
from query.facts import coverage, names, unresolved
from query.facts.completeness import DEFINITION
from query.facts.coverage import Gap, MethodStatus
from query.facts.index import Index
from query.facts.status import Report, status
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
        yield from report_lines(item.details, style)
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


_REMEDIES = {
    SkipReason.LFS_POINTER: "its content is not here: git lfs pull",
    SkipReason.SUBMODULE: "not checked out: git submodule update --init",
    SkipReason.NESTED_REPOSITORY: "another repository: lspidx index --include PATH, or an index of its own",
    SkipReason.WORK_TREE: "a work tree of a repository; it has an index of its own",
    SkipReason.HIDDEN_FOLDER: "a hidden folder: lspidx index --include PATH",
    SkipReason.UNLISTED_LINK: "a link to what is no file of the workspace: lspidx index --folder PATH",
}


def report_lines(report: Report, style: Style) -> Iterator[str]:
    """All about the index, for people."""
    yield from _how_it_was_made(report, style)
    yield from _what_it_read(report, style)
    yield from _what_is_missing(report)
    yield from _distance(report, style)


def _how_it_was_made(report: Report, style: Style) -> Iterator[str]:
    manifest, counts = report["manifest"], report["manifest"].get("counts", {})
    server = ", ".join(f"{item['name']} {item['version']}" for item in manifest.get("servers", []))
    commit = manifest.get("commit", "")[:10]
    yield style.strong(one_line(report["root"]))
    at = f", commit {commit}{' + changes' if manifest.get('dirty') else ''}" if commit else ""
    yield f"  made       {manifest.get('created', '')} by lspidx {manifest.get('lspidx', '')} with {server}{at}"
    yield (
        f"  holds      {counts.get('documents', 0)} files, {counts.get('symbols', 0)} symbols, {counts.get('occurrences', 0)} occurrences, "
        f"{counts.get('calls', 0)} calls, {counts.get('type_edges', 0)} type edges, {report['bytes'] / 1e6:.1f} MB"
    )
    if report["foreign"]:
        yield style.alarm(f"  {one_line(report['foreign'])}")
    if partial := manifest.get("partial"):
        yield style.warning(
            f"  partial    the run was cut off, {partial['done']} of {partial['documents']} files are in it; "
            f"to go on from there: {report['refresh']}"
        )
    if any(record_of(item["language"]).has_environment for item in report["languages"]):
        yield f"  python     environment: {manifest.get('environment', '')}"
    if manifest.get("trust"):
        yield f"  trust      {manifest['trust']}, sandbox {one_line(manifest.get('sandbox', ''))}"


def _what_it_read(report: Report, style: Style) -> Iterator[str]:
    """Languages and folders, and what stands in the way of their answers."""
    manifest, counts = report["manifest"], report["manifest"].get("counts", {})
    yield "  languages"
    for item in report["languages"]:
        skipped = f" and {item['skipped']} skipped" if item["skipped"] else ""
        no_server = "no server when this was made" + (f": {one_line(item['missing'])}" if item["missing"] else "")
        yield f"    {item['language']:<28} {item['files']} files{skipped}, {item['server'] or style.warning(no_server)}"
    yield from (style.alarm(f"  {line}") for line in losses(manifest))
    yield from (style.warning(f"  refused    {line}") for line in refused(manifest))
    if missing := lacking(manifest):
        yield "  lacking"
        yield from (style.warning(f"    {line}") for line in missing)
    if len(report["folders"]) > 1 or any(item["now_at"] for item in report["folders"]):
        yield "  folders"
        for item in report["folders"]:
            at = f", commit {item['commit'][:10]}{' + changes' if item['dirty'] else ''}" if item["commit"] else ""
            now = style.warning(f", now at {item['now_at'][:10]}") if item["now_at"] else ""
            yield f"    {one_line(item['name']):<28} {one_line(item['path'])}{at}{now}"
    check = manifest.get("cross_check", {})
    if check.get("checked"):
        share = 100 * check["disagreed"] / check["checked"]
        yield f"  checked    {check['checked']} inferred targets asked again, {check['disagreed']} differ ({share:.1f} %)"
    yield from (f"  checked    {_of_file(item)}" for item in manifest.get("checked_files", []))
    if second := manifest.get("second"):
        yield f"  second     {_second(second, counts.get('by_second_server', 0))}"
    yield "  coverage"
    for item in report["coverage"]:
        yield f"    {item['method']:<28} {item['status']:<12} {item['documents']} files, {item['answered']} of {item['asked']} answered"


def _of_file(said: Mapping[str, Any]) -> str:
    """How often a file of SCIP and a server agree."""
    file, languages = one_line(said["file"]), " and ".join(said["languages"])
    if "server" not in said:
        return f"{file}: nobody was asked again about {languages}: {one_line(said['problem'])}"
    by = f"{one_line(said['server'])} {one_line(said['server_version'])}"
    problem = f"; {one_line(said['problem'])}" if said.get("problem") else ""
    if not said["checked"]:
        return f"no answer of {file} could be held against one of {by}{problem}"
    share = 100 * said["disagreed"] / said["checked"]
    return (
        f"{count(said['checked'], 'answer')} of {file} about {languages} asked of {by}, {said['disagreed']} differ ({share:.1f} %){problem}"
    )


def _second(said: Mapping[str, Any], told: int) -> str:
    """What the server was asked, and answered, that is asked last."""
    if "asked" not in said:
        return one_line(said["problem"])
    lost = f", {count(said['lost'], 'file')} without an answer ({one_line(said.get('problem', ''))})" if said["lost"] else ""
    return (
        f"{one_line(said['server'])} {one_line(said['version'])}, asked about {said['asked']} open identifiers in "
        f"{count(said['documents'], 'file')} by the last run ({said['server_s']:.1f} s of processor){lost}; {told} have their meaning by it"
    )


def _what_is_missing(report: Report) -> Iterator[str]:
    """What is unresolved, not read, lost or skipped."""
    counts = report["manifest"].get("counts", {})
    identifiers, imports = counts.get("unresolved_occurrences", 0), counts.get("unresolved_imports", 0)
    if identifiers or imports:
        yield f"  unresolved {identifiers} identifiers; {count(imports, 'import')}{':' if report['unresolved_imports'] else ''}"
        yield from (f"    {one_line(item['module']):<28} {item['count']}" for item in report["unresolved_imports"][:8])
        yield from (f"    {one_line(line)}" for line in unresolved.lines(report["unresolved"]))
    foreign = [item for item in report["skipped_reasons"] if item["reason"] in FOREIGN]
    if foreign:
        parts = [f"{item['files']} {item['reason']} ({', '.join(map(one_line, item['where']))})" for item in foreign]
        yield f"  not read   {', '.join(parts)}; to read some of it: lspidx index --include PATTERN"
    by_words = [item for item in report["skipped_reasons"] if item["reason"] in BY_WORDS]
    if by_words:
        parts = [f"{item['files']} {item['reason'].replace('_', ' ')} ({', '.join(map(one_line, item['where']))})" for item in by_words]
        yield f"  by words   {', '.join(parts)}: no server reads them, so they count where they name what is asked about"
    for title in ("gaps", "skipped"):
        listed = [item for item in report[title] if item["reason"] not in (*FOREIGN, *BY_WORDS)]
        if listed:
            yield f"  {title}"
            yield from (f"    {one_line(item['path'])}  {item.get('method', '')} {_said(item['reason'])}" for item in listed[:20])


def _said(reason: str) -> str:
    return f"{reason} ({_REMEDIES[SkipReason(reason)]})" if reason in _REMEDIES else reason


def _distance(report: Report, style: Style) -> Iterator[str]:
    """How far the work tree is from what was indexed."""
    tree = report["work_tree"]
    differing = sum(len(tree[key]) for key in ("changed", "deleted", "new"))
    if not tree["checked"]:
        yield "  work tree  too large to compare"
    elif differing:
        yield style.warning(f"  work tree  {differing} files differ from the index; to bring it up to date: {report['refresh']}")
        for key in ("changed", "deleted", "new"):
            yield from (f"    {key:<8} {one_line(path)}" for path in tree[key][:10])
    else:
        yield style.good("  work tree  as indexed")


@tool(
    "index_status",
    parameters=IndexStatus,
    result=Status,
    positional="file_path",
    example="index_status utils",
    task="index",
    hint="coverage gaps freshness stale up to date outdated what is missing how complete skipped skip trust empty result",
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
        methods=methods,
        gaps=page,
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
        page_of(offset, ask.limit, max(total, len(skipped), len(changed))).within(total),
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
