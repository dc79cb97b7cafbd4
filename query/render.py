"""Answers as text for people. The only code that knows terminals; JSON needs none of it.

Every place is printed as path:line:col so that terminals and editors make it a link. Names and source lines come from the
repository: control characters in them are made visible before they reach a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import click

from indexer.errors import AmbiguousName, LspidxError
from query.answer import Answer, SymbolRecord

_MAX_CANDIDATE_WIDTH = 60
_CR = "\r"


def printable(text: str) -> str:
    """Without control characters (a tab and a newline stay): they could steer the terminal."""
    return "".join(char if char in "\t\n" or char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def one_line(text: str) -> str:
    """As `printable`, and a newline is made visible too: paths and cells must not begin lines of their own."""
    return printable(text).replace("\n", "\\n")


def to_text(answer: Answer) -> str:
    """The whole answer: what was found, then one line on how many, how complete, and from where."""
    body = _BODIES[answer.tool](answer)
    return "\n".join([*body, "", *_footer(answer)])


def error_text(error: LspidxError) -> str:
    """The message, and the candidates of an ambiguous name, each of which can be sent back as it stands."""
    lines = [f"{click.style('error:', fg='red')} {printable(str(error))}"]
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
    return {"error": record}


# ---- parts


def _path(text: str) -> str:
    return click.style(one_line(text), fg="cyan")


def _dim(text: str) -> str:
    return click.style(text, dim=True)


def _kind(text: str) -> str:
    return click.style(text, fg="yellow")


def _symbol(record: SymbolRecord) -> str:
    where = f"{record.path}:{record.line}:{record.col}" if record.line else record.path
    return f"{_path(where)}  {_kind(record.kind)} {click.style(printable(record.qualified_name), bold=True)}"


def _headline(answer: Answer) -> str:
    resolved = answer.query.get("resolved") or {}
    return click.style(printable(str(resolved.get("qualified_name", ""))), bold=True)


def _footer(answer: Answer) -> Iterator[str]:
    shown = f"{answer.total} found" if not answer.truncated else f"first part of {answer.total}; next: --cursor {answer.next_cursor}"
    if answer.truncated and answer.next_cursor is None:
        shown = f"{answer.total} found, cut short"
    source = answer.provenance
    commit = f", commit {source.commit[:10]}{' + changes' if source.dirty else ''}" if source.commit else ""
    color = "green" if answer.completeness.status == "complete" else "yellow"
    when = f"{source.indexed_at} UTC" if source.indexed_at else "as of now"
    origin = ", ".join(filter(None, [f"{', '.join(source.servers)}{commit}", when]))
    yield f"{shown} · {click.style(answer.completeness.status, fg=color)} · {origin}"
    for reason in answer.completeness.reasons:
        listed = f" ({', '.join(reason.paths[:3])}{', …' if reason.count > 3 else ''})" if reason.paths else ""
        yield f"  {click.style(reason.code, fg='yellow')}: {one_line(reason.detail + listed)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _by_path(items: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    for path, group in groupby(items, key=lambda item: item.path):
        yield path, list(group)


# ---- one body per tool


def _find_symbol(answer: Answer) -> Iterator[str]:
    for record in answer.result:
        yield _symbol(record)
        if record.signature:
            yield f"    {_dim(printable(' '.join(record.signature.split())[:160]))}"


def _list_symbols(answer: Answer) -> Iterator[str]:
    path = answer.query["file_path"]
    stack = [(item, 0) for item in reversed(answer.result)]
    while stack:
        item, level = stack.pop()
        name = click.style(printable(f"{item.of.rpartition('.')[2]}.{item.name}" if item.of else item.name), bold=True)
        note = _dim("  (defined elsewhere)") if item.declared else ""
        yield f"{'  ' * level}{_path(f'{path}:{item.line}:{item.col}')}  {_kind(item.kind)} {name}{note}"
        stack += [(child, level + 1) for child in reversed(item.children)]


def _go_to_definition(answer: Answer) -> Iterator[str]:
    for definition in answer.result:
        yield _symbol(definition.symbol)
        for place in definition.places:
            yield f"  {_path(f'{place.path}:{place.line}:{place.col}')}  {printable(place.text)}"


def _find_references(answer: Answer) -> Iterator[str]:
    yield _headline(answer)
    yield from _references(answer.result)


def _references(items: list[Any]) -> Iterator[str]:
    for path, group in _by_path(items):
        yield ""
        yield click.style(one_line(path), fg="cyan", bold=True)
        for item in group:
            roles = ",".join(role for role in item.roles if role != "read") or "read"
            note = " ".join(filter(None, (roles, "" if item.evidence != "possible" else "possible")))
            yield f"  {_path(f'{path}:{item.line}:{item.col}')}  {printable(item.text)}  {_dim(f'[{note}] in {printable(item.enclosing)}')}"


def _get_cross_repo_references(answer: Answer) -> Iterator[str]:
    yield _headline(answer)
    for folder in answer.result.folders:
        items = answer.result.library_references if folder.role == "library" else answer.result.consumer_references[folder.name]
        found = f"{_count(folder.references, 'reference')} in {_count(folder.files, 'file')}"
        commit = f" · commit {folder.commit[:10]}{' + changes' if folder.dirty else ''}" if folder.commit else ""
        yield ""
        yield f"{folder.role} {click.style(one_line(folder.name), bold=True)} {_dim(f'({one_line(folder.path)}{commit})')}: {found}"
        yield from _references(items)
    told = {reason.code for reason in answer.completeness.reasons}  # in the footer
    warnings = [warning for warning in answer.result.warnings if warning.code not in told]
    if warnings:
        yield ""
    for warning in warnings:
        where = f"{one_line(warning.folder)}: " if warning.folder else ""
        yield f"{click.style('warning', fg='yellow')} {where}{one_line(warning.detail)}"


def _find_callers(answer: Answer) -> Iterator[str]:
    yield _headline(answer)
    for direction, edges in groupby(answer.result, key=lambda edge: edge.direction):
        yield ""
        yield "callers:" if direction == "incoming" else "callees:"
        for edge in edges:
            indent = "  " * edge.depth
            yield f"{indent}{_symbol(edge.symbol)}"
            for site in edge.sites:
                plain = site.evidence in ("definition", "same_binding", "syntax")
                note = "" if plain else f"  {_dim(f'[{site.evidence}]')}"
                yield f"{indent}    {_path(f'{site.path}:{site.line}:{site.col}')}  {printable(site.text)}{note}"


def _type_hierarchy(answer: Answer) -> Iterator[str]:
    yield _headline(answer)
    for direction, relations in groupby(answer.result, key=lambda relation: relation.direction):
        yield ""
        yield f"{direction}:"
        for relation in relations:
            note = "" if "subclass_list" in relation.evidence else f"  {_dim(f'[{relation.evidence[0]}]')}"
            yield f"{'  ' * relation.depth}{_symbol(relation.symbol)}{note}"


def _get_symbol_source(answer: Answer) -> Iterator[str]:
    for item in answer.result:
        yield _path(f"{item.path}:{item.start_line}-{item.end_line}")
        if not item.source:
            yield "  (the file has changed since the index was made; to bring it up to date: lspidx index)"
        for number, line in enumerate(item.source.split("\n") if item.source else [], item.start_line):
            yield f"{_dim(f'{number:6d}')}  {printable(line.rstrip(_CR))}"
    if not answer.result:
        yield "  (outside the workspace: its source is not in the index)"


def _inspect_symbol(answer: Answer) -> Iterator[str]:
    item = answer.result
    yield _symbol(item.symbol)
    for text in (item.signature, item.documentation, item.hover):
        if text:
            yield ""
            yield from (printable(line) for line in text.split("\n"))


def _detect_lsp_servers(answer: Answer) -> Iterator[str]:
    found = answer.result
    servers = {server.language: server for server in found.installed_servers}
    for score in found.scores:
        why = ", ".join([f"{score.files} files", *score.markers])
        yield f"{click.style(score.language, bold=True)}  {_dim(f'{score.score}: {one_line(why)}')}"
        server = servers.get(score.language)
        if server:
            yield f"  {server.server} {server.version}  {_path(server.path)} ({server.source})"
        else:
            yield f"  {click.style('no server', fg='yellow')}; to get one: {found.how_to_get[score.language]}"


_BODIES: dict[str, Callable[[Answer], Iterator[str]]] = {
    "find_symbol": _find_symbol,
    "list_symbols": _list_symbols,
    "go_to_definition": _go_to_definition,
    "find_references": _find_references,
    "find_callers": _find_callers,
    "type_hierarchy": _type_hierarchy,
    "get_symbol_source": _get_symbol_source,
    "inspect_symbol": _inspect_symbol,
    "get_cross_repo_references": _get_cross_repo_references,
    "detect_lsp_servers": _detect_lsp_servers,
}
