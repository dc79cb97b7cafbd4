"""What the whole index covers, how it was made, what the workspace lacks: what `lspidx status` prints of the tool `index_status`."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import click

from indexer.languages import record_of
from indexer.model import BORDERS, BY_WORDS, FOREIGN, SkipReason
from query.answers.advice import lacking, losses, refused
from query.answers.style import count, one_line
from query.facts import unresolved
from query.facts.completeness import foreign
from query.facts.folders import folders, index_command, moved
from query.facts.freshness import drift
from query.facts.index import Index


class Tree(TypedDict):
    """Paths that differ from the index. `checked` is false where the workspace is too large to compare."""

    checked: bool
    changed: list[str]
    deleted: list[str]
    new: list[str]


class Report(TypedDict):
    """All about one index.

    foreign: why nothing of it is to be believed; empty where the user has made or imported it. manifest: as it was made.
    refresh: the command that brings it up to date. coverage: how each method went. gaps: at most 200 files whose answers were lost, or
    whose text does not parse. skipped: at most 200 files that were not read, those first of which the user has to hear.
    skipped_reasons: how many by reason, and where. unresolved_imports: the 20 modules most often imported and not found.
    unresolved: languages with many unresolved identifiers. bytes: of the index.
    """

    root: str
    foreign: str
    manifest: dict[str, Any]
    languages: list[dict[str, Any]]
    folders: list[dict[str, Any]]
    refresh: str
    coverage: list[dict[str, Any]]
    gaps: list[dict[str, str]]
    skipped: list[dict[str, str]]
    skipped_reasons: list[dict[str, Any]]
    unresolved_imports: list[dict[str, Any]]
    unresolved: list[dict[str, Any]]
    work_tree: Tree
    bytes: int


def status(index: Index) -> Report:
    """Manifest, languages, folders, coverage by method, gaps, unresolved imports and the distance to the work tree."""
    tree = drift(index)
    coverage = index.rows(
        """
        SELECT c.method, c.status, count(*), sum(c.asked), sum(c.answered)
        FROM document_coverage c GROUP BY ALL ORDER BY c.method, c.status
        """
    )
    gaps = index.rows(
        """
        SELECT d.path, c.method, c.reason FROM document_coverage c JOIN document d USING (doc_id)
        WHERE c.status = 'lost' OR (c.method = 'syntax' AND c.reason <> '') OR starts_with(c.reason, 'questions_cut') ORDER BY ALL LIMIT 200
        """
    )
    modules = index.rows(
        """
        SELECT CASE WHEN language = 'go' THEN u.module ELSE regexp_extract(u.module, '^\\.*[^.:]*') END, count(*)
        FROM unresolved_import u JOIN document USING (doc_id) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20
        """
    )
    skipped = index.rows("SELECT path, reason FROM skipped ORDER BY path")
    manifest = index.manifest()
    return {
        "root": str(index.root),
        "foreign": foreign(index) if index.foreign else "",
        "manifest": manifest,
        "languages": _languages(index, manifest.get("missing_servers", {})),
        "folders": _folders(index),
        "refresh": index_command(index),
        "coverage": [
            {"method": method, "status": state, "documents": number, "asked": int(asked or 0), "answered": int(answered or 0)}
            for method, state, number, asked, answered in coverage
        ],
        "gaps": [{"path": path, "method": method, "reason": reason} for path, method, reason in gaps],
        "skipped": [{"path": path, "reason": reason} for path, reason in sorted(skipped, key=_rank)[:200]],
        "skipped_reasons": _by_reason(skipped),
        "unresolved_imports": [{"module": module, "count": number} for module, number in modules],
        "unresolved": unresolved.reasons(index),
        "work_tree": {"checked": tree.checked, "changed": tree.changed, "deleted": tree.deleted, "new": tree.new},
        "bytes": index.generation.stat().st_size,
    }


def _rank(row: tuple[str, str]) -> tuple[bool, bool, str]:
    """What the user has to hear of first: where the workspace ends, then what could not be read, then what is not his."""
    path, reason = row
    return reason in (*FOREIGN, *BY_WORDS) or reason == SkipReason.EXCLUDED, reason not in BORDERS, path


def _by_reason(skipped: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """How many files by reason, and where they lie: at most three files or folders."""
    paths: dict[str, list[str]] = {}
    for path, reason in skipped:
        paths.setdefault(reason, []).append(path)
    return [{"reason": reason, "files": len(listed), "where": _where(listed)} for reason, listed in sorted(paths.items())]


def _where(paths: Sequence[str]) -> list[str]:
    """The files, if they are few, else the folder that they have in common, else their topmost folders."""
    if len(paths) <= 3:
        return list(paths)
    common = posixpath.commonpath([posixpath.dirname(path) for path in paths])
    return [f"{common}/"] if common else sorted({path.partition("/")[0] + "/" * ("/" in path) for path in paths})[:3]


def _languages(index: Index, missing: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every language of the workspace, the one with most files first; a server, or why there is none."""
    rows = index.rows(
        """
        SELECT language, count(*) FILTER (NOT skipped), count(*) FILTER (skipped) FROM (
            SELECT language, false AS skipped FROM document WHERE status <> 'external'
            UNION ALL SELECT language, true FROM skipped WHERE language <> ''
        ) GROUP BY language ORDER BY count(*) DESC, language
        """
    )
    servers = {
        language: f"{name} {version}" for language, name, version in index.rows("SELECT language, name, version FROM server ORDER BY ALL")
    }
    return [
        {
            "language": language,
            "files": files,
            "skipped": skipped,
            "server": servers.get(language, ""),
            "missing": missing.get(language, ""),
        }
        for language, files, skipped in rows
    ]


def _folders(index: Index) -> list[dict[str, Any]]:
    now = moved(index)
    return [
        {
            "name": folder.name,
            "path": folder.prefix.rstrip("/") or ".",
            "commit": folder.commit,
            "dirty": folder.dirty,
            "now_at": now.get(folder.name, ""),
        }
        for folder in folders(index)
    ]


_REMEDIES = {
    SkipReason.LFS_POINTER: "its content is not here: git lfs pull",
    SkipReason.SUBMODULE: "not checked out: git submodule update --init",
    SkipReason.NESTED_REPOSITORY: "another repository: lspidx index --include PATH, or an index of its own",
    SkipReason.WORK_TREE: "a work tree of a repository; it has an index of its own",
    SkipReason.HIDDEN_FOLDER: "a hidden folder: lspidx index --include PATH",
    SkipReason.UNLISTED_LINK: "a link to what is no file of the workspace: lspidx index --folder PATH",
}


def _said(reason: str) -> str:
    return f"{reason} ({_REMEDIES[SkipReason(reason)]})" if reason in _REMEDIES else reason


def status_text(report: Report) -> str:
    """The report for people, in colours."""
    manifest, counts = report["manifest"], report["manifest"].get("counts", {})
    server = ", ".join(f"{item['name']} {item['version']}" for item in manifest.get("servers", []))
    commit = manifest.get("commit", "")[:10]
    lines = [
        click.style(one_line(report["root"]), bold=True),
        f"  made       {manifest.get('created', '')} by lspidx {manifest.get('lspidx', '')} with {server}"
        + (f", commit {commit}{' + changes' if manifest.get('dirty') else ''}" if commit else ""),
        f"  holds      {counts.get('documents', 0)} files, {counts.get('symbols', 0)} symbols, {counts.get('occurrences', 0)} occurrences, "
        f"{counts.get('calls', 0)} calls, {counts.get('type_edges', 0)} type edges, {report['bytes'] / 1e6:.1f} MB",
    ]
    if report["foreign"]:
        lines.append(click.style(f"  {one_line(report['foreign'])}", fg="red"))
    if partial := manifest.get("partial"):
        lines.append(
            click.style(
                f"  partial    the run was cut off, {partial['done']} of {partial['documents']} files are in it; "
                f"to go on from there: {report['refresh']}",
                fg="yellow",
            )
        )
    if any(record_of(item["language"]).has_environment for item in report["languages"]):
        lines.append(f"  python     environment: {manifest.get('environment', '')}")
    if manifest.get("trust"):
        lines.append(f"  trust      {manifest['trust']}, sandbox {one_line(manifest.get('sandbox', ''))}")
    lines.append("  languages")
    for item in report["languages"]:
        skipped = f" and {item['skipped']} skipped" if item["skipped"] else ""
        no_server = "no server when this was made" + (f": {one_line(item['missing'])}" if item["missing"] else "")
        server = item["server"] or click.style(no_server, fg="yellow")
        lines.append(f"    {item['language']:<28} {item['files']} files{skipped}, {server}")
    lines += [click.style(f"  {line}", fg="red") for line in losses(manifest)]
    lines += [click.style(f"  refused    {line}", fg="yellow") for line in refused(manifest)]
    missing = lacking(manifest)
    lines += ["  lacking", *(click.style(f"    {line}", fg="yellow") for line in missing)] if missing else []
    if len(report["folders"]) > 1 or any(item["now_at"] for item in report["folders"]):
        lines.append("  folders")
    for item in report["folders"] if lines[-1] == "  folders" else []:
        at = f", commit {item['commit'][:10]}{' + changes' if item['dirty'] else ''}" if item["commit"] else ""
        now = click.style(f", now at {item['now_at'][:10]}", fg="yellow") if item["now_at"] else ""
        lines.append(f"    {one_line(item['name']):<28} {one_line(item['path'])}{at}{now}")
    check = manifest.get("cross_check", {})
    if check.get("checked"):
        share = 100 * check["disagreed"] / check["checked"]
        lines.append(f"  checked    {check['checked']} inferred targets asked again, {check['disagreed']} differ ({share:.1f} %)")
    lines.append("  coverage")
    for item in report["coverage"]:
        lines.append(
            f"    {item['method']:<28} {item['status']:<12} {item['documents']} files, {item['answered']} of {item['asked']} answered"
        )
    names, imports = counts.get("unresolved_occurrences", 0), counts.get("unresolved_imports", 0)
    if names or imports:
        lines.append(f"  unresolved {names} identifiers; {count(imports, 'import')}{':' if report['unresolved_imports'] else ''}")
        lines += [f"    {one_line(item['module']):<28} {item['count']}" for item in report["unresolved_imports"][:8]]
        lines += [f"    {one_line(line)}" for line in unresolved.lines(report["unresolved"])]
    foreign = [item for item in report["skipped_reasons"] if item["reason"] in FOREIGN]
    if foreign:
        parts = [f"{item['files']} {item['reason']} ({', '.join(map(one_line, item['where']))})" for item in foreign]
        lines.append(f"  not read   {', '.join(parts)}; to read some of it: lspidx index --include PATTERN")
    lines += _by_words(report["skipped_reasons"])
    for title in ("gaps", "skipped"):
        listed = [item for item in report[title] if item["reason"] not in (*FOREIGN, *BY_WORDS)]
        if listed:
            lines.append(f"  {title}")
            lines += [f"    {one_line(item['path'])}  {item.get('method', '')} {_said(item['reason'])}" for item in listed[:20]]
    tree = report["work_tree"]
    differing = sum(len(tree[key]) for key in ("changed", "deleted", "new"))
    if not tree["checked"]:
        lines.append("  work tree  too large to compare")
    elif differing:
        lines.append(
            click.style(f"  work tree  {differing} files differ from the index; to bring it up to date: {report['refresh']}", fg="yellow")
        )
        lines += [f"    {key:<8} {one_line(path)}" for key in ("changed", "deleted", "new") for path in tree[key][:10]]
    else:
        lines.append(click.style("  work tree  as indexed", fg="green"))
    return "\n".join(lines)


def _by_words(skipped: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line about texts that no server reads."""
    found = [item for item in skipped if item["reason"] in BY_WORDS]
    parts = [f"{item['files']} {item['reason'].replace('_', ' ')} ({', '.join(map(one_line, item['where']))})" for item in found]
    return [f"  by words   {', '.join(parts)}: no server reads them, so they count where they name what is asked about"] if found else []
