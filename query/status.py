"""`lspidx status`: what the index covers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from query.advice import lacking, losses
from query.folders import folders, index_command, moved
from query.freshness import drift
from query.index import Index
from query.style import one_line


def status(index: Index) -> dict[str, Any]:
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
        WHERE c.status = 'lost' OR (c.method = 'syntax' AND c.reason <> '') ORDER BY ALL LIMIT 200
        """
    )
    modules = index.rows(
        """
        SELECT regexp_extract(module, '^\\.*[^.:]*'), count(*) FROM unresolved_import GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20
        """
    )
    skipped = index.rows("SELECT path, reason FROM skipped ORDER BY path LIMIT 200")
    manifest = index.manifest()
    return {
        "root": str(index.root),
        "manifest": manifest,
        "languages": _languages(index, manifest.get("missing_servers", {})),
        "folders": _folders(index),
        "refresh": index_command(index),
        "coverage": [
            {"method": method, "status": state, "documents": count, "asked": int(asked or 0), "answered": int(answered or 0)}
            for method, state, count, asked, answered in coverage
        ],
        "gaps": [{"path": path, "method": method, "reason": reason} for path, method, reason in gaps],
        "skipped": [{"path": path, "reason": reason} for path, reason in skipped],
        "unresolved_imports": [{"module": module, "count": count} for module, count in modules],
        "work_tree": {"checked": tree.checked, "changed": tree.changed, "deleted": tree.deleted, "new": tree.new},
        "bytes": index.generation.stat().st_size,
    }


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


def status_text(report: dict[str, Any]) -> str:
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
    if partial := manifest.get("partial"):
        lines.append(
            click.style(
                f"  partial    the run was cut off, {partial['done']} of {partial['documents']} files are in it; "
                f"to go on from there: {report['refresh']}",
                fg="yellow",
            )
        )
    if any(item["language"] == "python" for item in report["languages"]):
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
    unresolved = counts.get("unresolved_occurrences", 0)
    if unresolved:
        lines.append(f"  unresolved {unresolved} identifiers; {counts.get('unresolved_imports', 0)} imports: ")
        lines += [f"    {one_line(item['module']):<28} {item['count']}" for item in report["unresolved_imports"][:8]]
    for title in ("gaps", "skipped"):
        if report[title]:
            lines.append(f"  {title}")
            lines += [f"    {one_line(item['path'])}  {item.get('method', '')} {item['reason']}" for item in report[title][:20]]
    tree = report["work_tree"]
    count = sum(len(tree[key]) for key in ("changed", "deleted", "new"))
    if not tree["checked"]:
        lines.append("  work tree  too large to compare")
    elif count:
        lines.append(
            click.style(f"  work tree  {count} files differ from the index; to bring it up to date: {report['refresh']}", fg="yellow")
        )
        lines += [f"    {key:<8} {one_line(path)}" for key in ("changed", "deleted", "new") for path in tree[key][:10]]
    else:
        lines.append(click.style("  work tree  as indexed", fg="green"))
    return "\n".join(lines)
