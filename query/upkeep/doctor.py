"""`lspidx doctor` and `lspidx servers`: what this machine has to make an index with, what is missing and how to get it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

import indexer
import query
from indexer import prerequisites, python_project, sandbox, vcs
from indexer.config import load_config
from indexer.crawl.ownership import refuse_tracked
from indexer.crawl.plan import alone
from indexer.errors import UnsafeIndex
from indexer.languages import record_of
from indexer.prerequisites.python import fetched_environment
from indexer.private_places import is_held
from indexer.servers.detect import look_for, rank_languages
from indexer.servers.install import Installed
from indexer.servers.installed import servers_dir
from indexer.servers.registry import FoundServer, how_to_get, load_table
from indexer.servers.trust import executed
from indexer.store import proof
from indexer.store.generations import Home
from indexer.syntax import tree
from query.answers.style import one_line

_NAME_WIDTH = 28


def doctor(folder: Path) -> dict[str, Any]:
    """Per language the servers that were looked for, those of the repository first; and where our own packages were loaded from."""
    root = vcs.find_root(folder.resolve())
    paths = [path for path in vcs.list_files(root) if is_held(str(root), path)]
    table = load_table()
    files = {item.language: item.files for item in rank_languages(paths) if item.files}
    order = [*files, *(language for language in table.language if language not in files)]
    looked = {item["server"]: item for item in servers([str(root)])}
    languages = [
        {
            "language": language,
            "files": files.get(language, 0),
            "crawl": table.language[language].crawl,
            "servers": [
                {**looked[name], "default": name == table.language[language].servers[0]} for name in table.language[language].servers
            ],
        }
        for language in order
    ]
    config = load_config(root)
    project = python_project.find_project(
        root,
        paths,
        python=config.python,
        source_roots=config.source_roots,
        environment=os.environ,
        own_prefix=sys.prefix,
        fetched=fetched_environment(root, os.environ),
    )
    look = prerequisites.Look(
        root=root,
        paths=paths,
        languages=frozenset(files),
        environment=os.environ,
        fetched=prerequisites.fetched_dir(),
        python=config.python,
    )
    return {
        "languages": languages,
        "project": {
            "root": str(root),
            "python_environment": str(project.prefix or ""),
            "found_by": project.found_by,
            "source_roots": [str(item) for item in project.all_roots],
        },
        "packages": {"indexer": str(Path(indexer.__file__ or "").parent), "query": str(Path(query.__file__ or "").parent)},
        "interpreter": sys.executable,
        "trust": {"level": str(config.trust), "source": config.sources["trust"], "sandbox": sandbox.describe(), "open": sandbox.remains()},
        "prerequisites": [msgspec.structs.asdict(item) for item in prerequisites.find(look)],
        "servers_dir": str(servers_dir()),
        "ownership": _ownership(root),
    }


def _ownership(root: Path) -> str:
    """Why the index here is not known to be this user's, or could not be; empty where there is nothing to say."""
    home = Home(root)
    try:
        home.check()
        refuse_tracked(home)
    except UnsafeIndex as error:
        return str(error)
    current = home.current()
    return proof.unproven(current) if current is not None else proof.obstacle()


def servers(avoid: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Every server of the table, as found on this machine or why not; none that lies in one of the folders `avoid`."""
    table = load_table()
    looked = look_for(table.server, avoid)
    rows: list[dict[str, Any]] = []
    for name, entry in table.server.items():
        row: dict[str, Any] = {
            "server": name,
            "languages": entry.languages,
            "looked_for": entry.command[0],
            "install": entry.install,
            "get": how_to_get(entry),
            "executes": executed(entry),
            "notes": entry.notes,
            "tried": entry.tried,
        }
        server = looked[name]
        if isinstance(server, FoundServer):
            row |= {"found": True, "version": server.version, "command": server.command[0], "source": server.source}
        else:
            row |= {"found": False, "problem": str(server)}
        rows.append(row)
    return rows


def lacking(folder: Path) -> list[str]:
    """Default servers of the repository's languages that are not here and that lspidx can install."""
    table = load_table()
    root = vcs.find_root(folder.resolve())
    languages = [item.language for item in rank_languages(vcs.list_files(root)) if item.files]
    defaults = [table.language[language].servers[0] for language in languages if table.language[language].crawl == "full"]
    looked = look_for(defaults, [str(root)])
    return [name for name in looked if table.server[name].install and not isinstance(looked[name], FoundServer)]


# ---- as text


def _outline_lines(language: str) -> list[str]:
    """What there is of a language without a server, or what brings it; nothing where there is no more than words, or a grammar of ours."""
    if tree.outlines(language):
        return ["  without one                  its outline is read: symbols, and uses that are possible by name (lspidx[languages])"]
    remedy = alone.remedy(language).removeprefix("; ")
    return [f"  without one                  {remedy}"] if remedy else []


def doctor_text(report: dict[str, Any], *, show_all: bool = False) -> str:
    """Languages that are here or have a server in full, all others in a line."""
    lines: list[str] = []
    rest: list[str] = []
    for language in report["languages"]:
        if language["crawl"] == "none":
            continue
        found = any(item["found"] for item in language["servers"])
        if not (language["files"] or found or show_all):
            rest.append(language["language"])
            continue
        count = language["files"]
        lines.append(click.style(language["language"], bold=True) + (f"  {count} file{'s' if count != 1 else ''}" if count else ""))
        for item in language["servers"]:
            needed = item["default"] and bool(count) and not found
            if item["found"] or item["default"] or show_all or (count and not found):
                lines += _server_lines(item, needed=needed)
        if count and not found:
            lines += _outline_lines(language["language"])
    if rest:
        lines += [f"no server and no files here: {', '.join(rest)}; to list them: lspidx doctor --all"]
    only_listed = [item["language"] for item in report["languages"] if item["crawl"] == "none" and (item["files"] or show_all)]
    if only_listed:
        lines.append(f"not crawled, since their servers know neither references nor calls: {', '.join(only_listed)}")
    project = report["project"]
    python: list[str] = []
    if any(record_of(item["language"]).has_environment and item["files"] for item in report["languages"]):
        python = [
            f"  environment   {one_line(project['python_environment'] or '-')} ({project['found_by']})",
            f"  source roots  {one_line(', '.join(project['source_roots']))}",
        ]
    return "\n".join(
        [
            *lines,
            click.style("project", bold=True),
            f"  root          {one_line(project['root'])}",
            *python,
            *(f"  lacking       {one_line(item['detail'])}; to get it: {one_line(item['remedy'])}" for item in report["prerequisites"]),
            click.style("trust", bold=True),
            f"  level         {report['trust']['level']} ({one_line(report['trust']['source'])})",
            f"  sandbox       {report['trust']['sandbox']}",
            *(f"  open          {line}" for line in report["trust"]["open"]),
            click.style("lspidx", bold=True),
            f"  indexer {report['packages']['indexer']}, query {report['packages']['query']}, python {report['interpreter']}",
            f"  servers {report['servers_dir']}",
            *([f"  index   {click.style(one_line(report['ownership']), fg='yellow')}"] if report["ownership"] else []),
        ]
    )


def _server_lines(item: dict[str, Any], *, needed: bool) -> list[str]:
    name = item["server"] + (" (default)" if item["default"] else "")
    if item["found"]:
        other = item["tried"] not in ("untested", item["version"])
        tried = "; untested" if item["tried"] == "untested" else f"; tested with {item['tried']}" if other else ""
        state = click.style("found  ", fg="green") + f" {item['version']:<10} {one_line(item['command'])} ({item['source']}{tried})"
    else:
        said = item["problem"].removeprefix(f"{item['server']}: ")
        state = click.style("missing", fg="red" if needed else "yellow") + f" {one_line(said)}"
    lines = [f"  {name:<{_NAME_WIDTH}} {state}"]
    if item["found"]:
        lines += [f"  {'':<{_NAME_WIDTH}} {line}" for line in _executed_lines(item)]
    return lines


def _executed_lines(item: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for row in item["executes"]:
        lost = f"; then unknown: {row['without']}" if row["without"] else ""
        lines.append(f"with --trust {row['level']} it executes {row['what']}; at a lower level: {row['below']}{lost}")
    return lines


def servers_text(rows: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for row in rows:
        if row["found"]:
            state = f"{click.style('found  ', fg='green')} {row['version']:<10} {one_line(row['command'])} ({row['source']})"
        else:
            state = f"{click.style('missing', fg='yellow')} to get it: {row['get']}"
        lines.append(f"{row['server']:<{_NAME_WIDTH}} {', '.join(row['languages']):<22} {row['tried']:<9} {state}")
        lines += [f"{'':<{_NAME_WIDTH}} {line}" for line in _executed_lines(row)]
    return "\n".join(lines)


def installed_text(made: Sequence[Installed]) -> str:
    if not made:
        return "nothing to install: every language here has its server, or one that lspidx cannot install; see: lspidx doctor"
    return "\n".join(f"{item.server} {' '.join(item.packages)} in {item.folder}{'' if item.fresh else ', was there'}" for item in made)
