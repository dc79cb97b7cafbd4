"""`lspidx status` and `lspidx doctor`: what the index covers, and what this machine has to make one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

import indexer
import query
from indexer.errors import ServerMissing
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


def doctor(folder: Path) -> dict[str, Any]:
    """Per language the servers that were looked for, and where our own packages were loaded from."""
    from indexer import python_project, vcs
    from indexer.servers.registry import find_server, load_table

    table = load_table()
    languages: list[dict[str, Any]] = []
    for language, spec in table.language.items():
        servers: list[dict[str, Any]] = []
        for name in spec.servers:
            entry = table.server[name]
            item: dict[str, Any] = {
                "server": name,
                "looked_for": entry.command[0],
                "default": name == spec.servers[0],
                "install": entry.install,
                "runs": entry.runs,
                "tried": entry.tried,
            }
            try:
                found = find_server(name)
                item |= {"found": True, "version": found.version, "command": found.command[0], "source": found.source}
            except ServerMissing as error:
                item |= {"found": False, "problem": str(error)}
            servers.append(item)
        languages.append({"language": language, "servers": servers})
    root = vcs.find_root(folder.resolve())
    project = python_project.find_project(
        root, vcs.list_files(root), python="", source_roots=(), environment=os.environ, own_prefix=sys.prefix, base_prefix=sys.base_prefix
    )
    return {
        "languages": languages,
        "project": {
            "root": str(root),
            "python_environment": str(project.prefix or ""),
            "found_by": project.found_by,
            "source_roots": [str(item) for item in project.source_roots],
        },
        "packages": {"indexer": str(Path(indexer.__file__ or "").parent), "query": str(Path(query.__file__ or "").parent)},
        "interpreter": sys.executable,
    }


def doctor_text(report: dict[str, Any]) -> str:
    lines: list[str] = []
    for language in report["languages"]:
        lines.append(click.style(language["language"], bold=True))
        for item in language["servers"]:
            default = " (default)" if item["default"] else ""
            if item["found"]:
                state = click.style("found  ", fg="green") + f" {item['version']:<10} {item['command']} ({item['source']})"
            else:
                how = " or ".join(f"{tool} install {package}" for tool, package in item["install"].items())
                state = click.style("missing", fg="red" if item["default"] else "yellow") + f" '{item['looked_for']}'; to get it: {how}"
            lines.append(f"  {item['server'] + default:<24} {state}")
            if item["runs"]:
                lines.append(f"  {'':<24} runs {'; '.join(item['runs'])}")
    project = report["project"]
    lines += [
        click.style("project", bold=True),
        f"  root          {project['root']}",
        f"  environment   {project['python_environment'] or '-'} ({project['found_by']})",
        f"  source roots  {', '.join(project['source_roots'])}",
        click.style("lspidx", bold=True),
        f"  indexer {report['packages']['indexer']}, query {report['packages']['query']}, python {report['interpreter']}",
    ]
    return "\n".join(lines)
