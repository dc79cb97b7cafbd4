"""`lspidx status`: what the index covers."""

from __future__ import annotations

from typing import Any

import click

from query.freshness import drift
from query.index import Index
from query.render import one_line


def status(index: Index) -> dict[str, Any]:
    """Manifest, coverage by method, gaps, unresolved imports and the distance to the work tree."""
    moved = drift(index)
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
    return {
        "root": str(index.root),
        "manifest": index.manifest(),
        "coverage": [
            {"method": method, "status": state, "documents": count, "asked": int(asked or 0), "answered": int(answered or 0)}
            for method, state, count, asked, answered in coverage
        ],
        "gaps": [{"path": path, "method": method, "reason": reason} for path, method, reason in gaps],
        "skipped": [{"path": path, "reason": reason} for path, reason in skipped],
        "unresolved_imports": [{"module": module, "count": count} for module, count in modules],
        "work_tree": {"checked": moved.checked, "changed": moved.changed, "deleted": moved.deleted, "new": moved.new},
        "bytes": index.generation.stat().st_size,
    }


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
        f"  python     environment: {manifest.get('environment', '')}",
    ]
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
    moved = sum(len(tree[key]) for key in ("changed", "deleted", "new"))
    if not tree["checked"]:
        lines.append("  work tree  too large to compare")
    elif moved:
        lines.append(click.style(f"  work tree  {moved} files differ from the index; to bring it up to date: lspidx index", fg="yellow"))
        lines += [f"    {key:<8} {one_line(path)}" for key in ("changed", "deleted", "new") for path in tree[key][:10]]
    else:
        lines.append(click.style("  work tree  as indexed", fg="green"))
    return "\n".join(lines)
