"""Dialect `agent-lsp`: 66 tools by their names and parameters, those that the index can answer in the shapes of that surface.

Where that surface says so, places are the protocol's (0-based, URIs), else 1-based with absolute paths. A tool that the index cannot
answer is listed too and says what it needs: it never returns an empty list. One that lspidx gets later under the same name is passed on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from indexer.errors import NameNotFound, UsageError
from query.answers.envelope import Answer
from query.answers.style import one_line
from query.dialects import agent_lsp_edits, agent_lsp_live, agent_lsp_runs
from query.dialects import agent_lsp_tools as declared
from query.dialects.agent_lsp_tools import Declared
from query.dialects.lsp_shapes import (
    absolute,
    ends,
    extent_of,
    extents,
    hierarchy_item,
    kind_name,
    kind_number,
    lsp_range,
    path_of,
    ranges,
    resolved,
    uri,
    whole_range,
)
from query.dialects.surface import Desk, Dialect, DialectReply, DialectTool, convert, nothing_there
from query.facts.names import document_path
from query.surface.registry import load

_MAX = 5_000
_MAX_REFERENCES = 10_000
_MAX_SYMBOLS = 1_000
_MAX_ENRICHED = 50

Ask = Any
"""The parameters record of a tool, made from its declaration."""


def _where(desk: Desk, ask: Ask) -> dict[str, Any]:
    """File and place; a pattern goes before line and column, as that surface says."""
    file = desk.file(ask.file_path)
    if pattern := getattr(ask, "position_pattern", ""):
        return {"file_path": file, "position_pattern": _one_mark(pattern)}
    column = getattr(ask, "column", 0) or getattr(ask, "character", 0)
    if not ask.line or not (column or hasattr(ask, "character")):
        instead = " or position_pattern" if hasattr(ask, "position_pattern") else ""
        raise UsageError(f"give line and column{instead}")
    return {"file_path": file, "line": ask.line, "column": column}


def _where_indexed(desk: Desk, ask: Ask) -> dict[str, Any]:
    """As `_where`, for tools that take a place without a symbol for an answer: a file that is not in the index is none.

    Raises:
        NameNotFound: it is not.
    """
    where = _where(desk, ask)
    document_path(desk.index, where["file_path"])
    return where


def _one_mark(pattern: str) -> str:
    """`@@text@@`, the other way to write a pattern, is the place of `text`."""
    return pattern[:-2] if pattern.count("@@") == 2 and pattern.startswith("@@") and pattern.endswith("@@") else pattern


def _shown(ask: Ask) -> str:
    return f"{one_line(ask.file_path)}:{ask.line}:{ask.column}"


# ---- places, 1-based with absolute paths


def _location(desk: Desk, path: str, line: int, col: int, end_line: int, end_col: int) -> dict[str, Any]:
    return {"file": absolute(desk.root, path), "line": line, "column": col, "end_line": end_line, "end_column": end_col}


def _locations(desk: Desk, items: Sequence[Any]) -> list[dict[str, Any]]:
    """Names where they are defined or declared."""
    return [
        _location(desk, place.path, place.line, place.col, place.line, place.end_col or place.col)
        for item in items
        for place in item.places
    ]


def _outside(items: Sequence[Any]) -> str:
    """A note on what has no location because it lies in no file of the workspace."""
    outside = [item.symbol for item in items if item.symbol.external]
    return (
        f"defined outside the workspace: {', '.join(f'{record.qualified_name} ({record.path})' for record in outside)}" if outside else ""
    )


def _find_references(desk: Desk, ask: Ask) -> DialectReply:
    asked = {"include_declaration": ask.include_declaration, "limit": _MAX_REFERENCES}
    return desk.value(
        desk.ask("find_references", **asked, **_where(desk, ask)),
        lambda of: [_location(desk, item.path, item.line, item.col, item.line, item.end_col) for item in of.result],
    )


def _go(tool: str) -> Callable[[Desk, Ask], DialectReply]:
    def run(desk: Desk, ask: Ask) -> DialectReply:
        answer = desk.ask(tool, **_where(desk, ask))
        return desk.value(answer, lambda of: _locations(desk, of.result), _outside(answer.result))

    return run


def _bodies(desk: Desk, records: Sequence[Any]) -> list[dict[str, Any]]:
    """From the name to the end of the definition."""
    known = extents(desk.index, records)
    made: list[dict[str, Any]] = []
    for record in records:
        extent = extent_of(known, record)
        made.append(_location(desk, record.path, record.line, record.col, extent.end_line + 1, extent.end_col + 1))
    return made


def _go_to_type_definition(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("go_to_type_definition", **_where(desk, ask))
    return desk.value(
        answer,
        lambda of: _bodies(desk, [item.symbol for item in of.result if not item.symbol.external]),
        _outside(answer.result),
    )


def _go_to_implementation(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("go_to_implementation", limit=_MAX, **_where(desk, ask))
    return desk.value(
        answer,
        lambda of: _bodies(desk, [item.symbol for item in of.result if not item.symbol.external]),
        _outside(answer.result),
    )


def _go_to_symbol(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("go_to_symbol", symbol_path=ask.symbol_path, workspace_root=ask.workspace_root, language=ask.language)
    return desk.value(answer, lambda of: _locations(desk, of.result), _outside(answer.result))


# ---- symbols


def _inspect_symbol(desk: Desk, ask: Ask) -> DialectReply:
    where = _where_indexed(desk, ask)
    try:
        answer = desk.ask("inspect_symbol", **where)
    except NameNotFound as error:
        return nothing_there(error, "")
    item = answer.result
    return desk.text(answer, lambda of: of.result.hover or "\n\n".join(filter(None, (item.signature, item.documentation))))


def _list_symbols(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("list_symbols", file_path=desk.file(ask.file_path))
    if ask.format == "outline":
        return desk.text(answer, lambda of: "\n".join(_outline(of.result, "")))

    def form(of: Answer[Any]) -> list[dict[str, Any]]:
        flat: list[Any] = []
        stack = list(of.result)
        while stack:
            flat.append(item := stack.pop())
            stack += item.children
        known = extents(desk.index, flat)

        def symbol(item: Any) -> dict[str, Any]:
            children = [symbol(child) for child in item.children]
            shape = {"name": item.name, "kind": kind_number(item.kind), **ranges(extent_of(known, item), base=1)}
            return {**shape, "children": children} if children else shape

        return [symbol(item) for item in of.result]

    return desk.value(answer, form)


def _outline(items: Sequence[Any], indent: str) -> list[str]:
    lines: list[str] = []
    for item in items:
        lines.append(f"{indent}{one_line(item.name)} [{kind_name(item.kind)}] :{item.line}")
        lines += _outline(item.children, indent + "  ")
    return lines


def _find_symbol(desk: Desk, ask: Ask) -> DialectReply:
    wanted: dict[str, Any] = {"query": ask.query, "match": "substring"} if ask.query else {}
    answer = desk.ask("find_symbol", limit=_MAX_SYMBOLS, **wanted)

    def symbols(records: Sequence[Any]) -> list[dict[str, Any]]:
        known = extents(desk.index, records)
        return [
            {
                "name": record.name,
                "kind": kind_number(record.kind),
                "location": {"uri": uri(desk.root, record.path), "range": whole_range(extent_of(known, record))},
            }
            for record in records
        ]

    if ask.detail_level == "basic":
        return desk.value(answer, lambda of: symbols(of.result))
    limit = min(ask.limit, _MAX_ENRICHED)
    window = answer.result[ask.offset : ask.offset + limit]
    hovers = [desk.ask("inspect_symbol", symbol=record.symbol).result.hover for record in window]
    enriched = [{**shape, "hover": hover} for shape, hover in zip(symbols(window), hovers, strict=True)]
    pagination = {"offset": ask.offset, "limit": limit, "more": ask.offset + len(window) < len(answer.result)}
    return desk.value(
        answer, lambda of: {"total": answer.total, "symbols": symbols(of.result), "enriched": enriched, "pagination": pagination}
    )


def _get_symbol_source(desk: Desk, ask: Ask) -> DialectReply:
    where = _where(desk, ask)
    answer = desk.ask("get_symbol_source", **where)
    line = where.get("line", 0)

    def form(of: Answer[Any]) -> dict[str, Any]:
        inside = [item for item in of.result if item.start_line <= line <= item.end_line] or of.result
        shapes = [
            {
                "symbol_name": item.symbol.name,
                "symbol_kind": kind_name(item.symbol.kind),
                "start_line": item.start_line,
                "end_line": item.end_line,
                "source": item.source,
            }
            for item in inside
        ]
        return {**shapes[0], **({"other_definitions": shapes[1:]} if len(shapes) > 1 else {})}

    if not answer.result:
        raise NameNotFound(
            f"the source of '{answer.query['resolved']['qualified_name']}' is not in the index: it lies outside the workspace"
        )
    return desk.value(answer, form)


def _get_symbol_documentation(desk: Desk, ask: Ask) -> DialectReply:
    """An unknown name is an answer with `source: error`, as that surface says; an ambiguous one is an error with candidates."""
    try:
        answer = desk.ask("get_symbol_documentation", symbol=ask.symbol, language_id=ask.language_id, format=ask.format)
    except NameNotFound as error:
        failed = {"symbol": ask.symbol, "language": ask.language_id, "source": "error", "doc": "", "signature": "", "error": str(error)}
        return DialectReply(payload=msgspec.json.encode(failed).decode(), structured=failed)
    item = answer.result
    return desk.value(
        answer,
        lambda of: {
            "symbol": ask.symbol,
            "language": item.language,
            "source": "error" if item.source == "none" else "index",
            "doc": of.result.doc,
            "signature": item.signature,
            "error": item.error,
        },
    )


# ---- graphs


def _find_callers(desk: Desk, ask: Ask, direction: str = "") -> DialectReply:
    direction = direction or ask.direction
    where = _where_indexed(desk, ask)
    try:
        answer = desk.ask("find_callers", direction=direction, limit=_MAX, **where)
    except NameNotFound as error:
        return nothing_there(error, f"No call hierarchy item found at {_shown(ask)}")
    item = _itself(desk, answer)

    def form(of: Answer[Any]) -> dict[str, Any]:
        known = extents(desk.index, [item, *(edge.symbol for edge in of.result)])
        end: dict[tuple[str, int, int], int] = ends(
            desk.index, [(site.path, site.line, site.col) for edge in of.result for site in edge.sites]
        )
        value: dict[str, Any] = {"items": [hierarchy_item(desk.root, item, known)]}
        for way, key in (("incoming", "from"), ("outgoing", "to")):
            if direction in (way, "both"):
                value[way] = [
                    {
                        key: hierarchy_item(desk.root, edge.symbol, known),
                        "fromRanges": [
                            lsp_range(site.line, site.col, site.line, end.get((site.path, site.line, site.col), int(site.col)), base=-1)
                            for site in edge.sites
                        ],
                    }
                    for edge in of.result
                    if edge.direction == way
                ]
        return value

    return desk.value(answer, form)


def _itself(desk: Desk, answer: Answer[Any]) -> Any:
    """The record of what was asked about."""
    return desk.ask("inspect_symbol", symbol=resolved(answer)).result.symbol


def _type_hierarchy(desk: Desk, ask: Ask) -> DialectReply:
    where = _where_indexed(desk, ask)
    try:
        answer = desk.ask("type_hierarchy", direction=ask.direction, limit=_MAX, **where)
    except NameNotFound as error:
        return nothing_there(error, f"No type hierarchy item found at {_shown(ask)}")
    item = _itself(desk, answer)

    def form(of: Answer[Any]) -> dict[str, Any]:
        known = extents(desk.index, [item, *(relation.symbol for relation in of.result)])
        value: dict[str, Any] = {"items": [hierarchy_item(desk.root, item, known)]}
        for way in ("supertypes", "subtypes"):
            if ask.direction in (way, "both"):
                value[way] = [hierarchy_item(desk.root, rel.symbol, known) for rel in of.result if rel.direction == way]
        return value

    return desk.value(answer, form)


def _get_document_highlights(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("get_document_highlights", limit=_MAX_REFERENCES, **_where(desk, ask))
    return desk.value(
        answer,
        lambda of: [
            {"range": lsp_range(item.line, item.col, item.line, item.end_col, base=-1), "kind": item.number}
            for item in of.result.highlights
        ],
    )


# ---- impact


def _blast_radius(desk: Desk, ask: Ask) -> DialectReply:
    files = [desk.file(path) for path in ask.changed_files]
    if not files:
        raise UsageError("blast_radius: changed_files is empty")
    answer = desk.ask("blast_radius", changed_files=files, include_transitive=ask.include_transitive, limit=_MAX)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        return {
            "changed_symbols": [_at(item) for item in found.changed_symbols],
            "test_files": found.test_files,
            "test_functions": [_at(item) for item in found.test_functions],
            "non_test_callers": [_at(item) for item in found.non_test_callers],
            "summary": found.summary,
            "warnings": [*found.warnings, *(reason.detail for reason in of.completeness.reasons)],
        }

    return desk.value(answer, form)


def _at(item: Any) -> dict[str, Any]:
    guarded = {"sync_guarded": True} if getattr(item, "sync_guarded", False) else {}
    risk = {"risk": item.risk} if getattr(item, "risk", "") else {}
    return {"name": item.name, "file": item.file, "line": item.line, **risk, **guarded}


def _detect_changes(desk: Desk, ask: Ask) -> DialectReply:
    wanted = {"range": ask.range} if ask.range and ask.scope == "committed" else {}  # other scopes ignore it
    answer = desk.ask("detect_changes", workspace_root=ask.workspace_root, scope=ask.scope, limit=_MAX, **wanted)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        return {
            "changed_files": [absolute(desk.root, path) for path in found.changed_files],
            "changed_symbols": [_at(item) for item in found.changed_symbols],
            "non_test_callers": [_at(item) for item in found.non_test_callers],
            "scope": ask.scope,
        }

    return desk.value(answer, form)


def _get_cross_repo_references(desk: Desk, ask: Ask) -> DialectReply:
    where = {"symbol_file": desk.file(ask.symbol_file), "line": ask.line, "column": ask.column}
    answer = desk.ask("get_cross_repo_references", consumer_roots=ask.consumer_roots, limit=_MAX_REFERENCES, **where)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        own = {item.name: absolute(desk.root, item.path) for item in found.folders}
        roots = {own.get(name, name): items for name, items in found.consumer_references.items()}
        for root in ask.consumer_roots:  # a root of several folders, or under its own spelling
            if os.path.realpath(root) in roots:
                roots[root] = roots.pop(os.path.realpath(root))
        return {
            "library_references": [{"file": item.path, "line": item.line, "column": item.col} for item in found.library_references],
            "consumer_references": {
                root: [{"file": absolute(desk.root, item.path), "line": item.line, "column": item.col} for item in items]
                for root, items in roots.items()
            },
            "warnings": [f"{item.folder}: {item.detail}" if item.folder else item.detail for item in found.warnings],
        }

    return desk.value(answer, form)


def _explore_symbol(desk: Desk, ask: Ask) -> DialectReply:
    return desk.value(desk.ask("explore_symbol", **_where(desk, ask)), lambda of: msgspec.to_builtins(of.result))


def _get_editing_context(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("get_editing_context", file_path=desk.file(ask.file_path), if_none_match=ask.if_none_match)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(of.result)
        return {"not_modified": True, "etag": found["etag"]} if found["not_modified"] else found

    return desk.value(answer, form)


def _get_tests_for_file(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("get_tests_for_file", file_path=desk.file(ask.file_path), limit=_MAX)
    return desk.value(
        answer,
        lambda of: {
            "source_file": absolute(desk.root, of.result.source_file),
            "test_files": [absolute(desk.root, path) for path in of.result.test_files],
        },
    )


# ---- the workspace


def _get_diagnostics(desk: Desk, ask: Ask) -> DialectReply:
    file = desk.file(ask.file_path) if ask.file_path else ""
    answer = desk.ask("get_diagnostics", limit=_MAX_REFERENCES, **({"file_path": file} if file else {}))

    def form(of: Answer[Any]) -> dict[str, Any]:
        value: dict[str, Any] = {uri(desk.root, of.query["file_path"]): []} if file else {}
        for item in of.result.diagnostics:
            value.setdefault(uri(desk.root, item.path), []).append(
                {
                    "range": lsp_range(item.line, item.col, item.end_line, item.end_col, base=-1),
                    "severity": item.number,
                    **({"code": int(item.code) if item.code.isdecimal() else item.code} if item.code else {}),
                    **({"source": item.source} if item.source else {}),
                    "message": item.message,
                }
            )
        return value

    return desk.value(answer, form, is_map=True)


def _list_workspace_folders(desk: Desk, ask: Ask) -> DialectReply:
    return desk.value(
        desk.ask("list_workspace_folders"),
        lambda of: {"workspace_folders": [{"uri": item.uri, "name": absolute(desk.root, item.path)} for item in of.result]},
    )


def _change_folders(tool: str, word: str) -> Callable[[Desk, Ask], DialectReply]:
    def run(desk: Desk, ask: Ask) -> DialectReply:
        return desk.value(
            desk.ask(tool, path=ask.path),
            lambda of: {
                word: getattr(of.result, word),
                "workspace_folders": [{"uri": item.uri, "name": path_of(item.uri)} for item in of.result.workspace_folders],
            },
        )

    return run


def _detect_lsp_servers(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("detect_lsp_servers", workspace_dir=ask.workspace_dir)

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = of.result
        return {
            "workspace_dir": found.workspace_dir,
            "workspace_languages": found.workspace_languages,
            "installed_servers": [
                {"language": item.language, "server": item.server, "path": item.path, "config_entry": item.config_entry}
                for item in found.installed_servers
            ],
            "suggested_config": found.suggested_config,
            "not_installed": found.not_installed,
        }

    return desk.value(answer, form)


def _get_server_capabilities(desk: Desk, ask: Ask) -> DialectReply:
    """Of this surface's tools: what can be answered here for some language of the index, by its server or by the text alone."""
    answer = desk.ask("get_server_capabilities")

    def form(of: Answer[Any]) -> dict[str, Any]:
        able = {name for item in of.result for name in item.supported_tools}
        able |= {alias for alias, name in _ALIASES.items() if name in able}
        supported = sorted(tool.name for tool in declared.TOOLS if tool.name in able or tool.name in _ALWAYS)
        servers = [
            {"language": item.language, "server_name": item.server_name, "server_version": item.server_version} for item in of.result
        ]
        first = next((item for item in of.result if item.server_name), None)
        named = {"server_name": first.server_name, "server_version": first.server_version} if first else {}
        return {
            **named,
            "supported_tools": supported,
            "unsupported_tools": sorted({tool.name for tool in declared.TOOLS} - set(supported)),
            "capabilities": first.capabilities if first else {},
            **({"servers": servers} if len(servers) > 1 else {}),
        }

    return desk.value(answer, form)


# ---- phases


def _activate_skill(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("activate_skill", skill_name=ask.skill_name, mode=ask.mode)
    fields = ("status", "skill", "mode", "current_phase", "total_phases", "allowed_tools", "forbidden_tools")
    return desk.value(answer, lambda of: {field: getattr(of.result, field) for field in fields}, is_map=True)


def _deactivate_skill(desk: Desk, ask: Ask) -> DialectReply:
    return desk.value(desk.ask("deactivate_skill"), lambda of: {"status": of.result.status}, is_map=True)


def _get_skill_phase(desk: Desk, ask: Ask) -> DialectReply:
    """Without a skill, the four that this surface knows how to activate; lspidx itself has more."""
    fields = (
        "active", "skill_name", "current_phase", "phase_index", "total_phases", "mode", "allowed_tools", "forbidden_tools", "tool_history",
    )  # fmt: skip

    def form(of: Answer[Any]) -> dict[str, Any]:
        if of.result.active:
            return {field: getattr(of.result, field) for field in fields}
        return {"active": False, "available_skills": list(declared.SKILLS)}

    return desk.value(desk.ask("get_skill_phase"), form, is_map=True)


_ALIASES = {"callers": "find_callers", "explore": "explore_symbol", "safe_edit": "safe_apply_edit"}
_ALWAYS = (
    "detect_lsp_servers", "list_workspace_folders", "get_server_capabilities", "activate_skill", "deactivate_skill", "get_skill_phase",
)  # fmt: skip
"""Answered whatever the servers can do."""

_RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {
    "find_references": _find_references,
    "go_to_definition": _go("go_to_definition"),
    "go_to_declaration": _go("go_to_declaration"),
    "go_to_type_definition": _go_to_type_definition,
    "go_to_implementation": _go_to_implementation,
    "go_to_symbol": _go_to_symbol,
    "inspect_symbol": _inspect_symbol,
    "list_symbols": _list_symbols,
    "find_symbol": _find_symbol,
    "get_symbol_source": _get_symbol_source,
    "get_symbol_documentation": _get_symbol_documentation,
    "find_callers": _find_callers,
    "callers": lambda desk, ask: _find_callers(desk, ask, "incoming"),
    "type_hierarchy": _type_hierarchy,
    "get_document_highlights": _get_document_highlights,
    "blast_radius": _blast_radius,
    "detect_changes": _detect_changes,
    "get_cross_repo_references": _get_cross_repo_references,
    "explore_symbol": _explore_symbol,
    "explore": _explore_symbol,
    "get_editing_context": _get_editing_context,
    "get_tests_for_file": _get_tests_for_file,
    "get_diagnostics": _get_diagnostics,
    "list_workspace_folders": _list_workspace_folders,
    "add_workspace_folder": _change_folders("add_workspace_folder", "added"),
    "remove_workspace_folder": _change_folders("remove_workspace_folder", "removed"),
    "detect_lsp_servers": _detect_lsp_servers,
    "get_server_capabilities": _get_server_capabilities,
    "activate_skill": _activate_skill,
    "deactivate_skill": _deactivate_skill,
    "get_skill_phase": _get_skill_phase,
    **agent_lsp_live.RUN,
    **agent_lsp_edits.RUN,
    **agent_lsp_runs.RUN,
}


def _dispatch(desk: Desk, tool_name: str, arguments: dict[str, Any]) -> DialectReply:
    tool = _DECLARED[tool_name]
    ask = convert(arguments, tool.parameters, tool_name)
    tool.check(ask)
    if tool_name in _RUN:
        return _RUN[tool_name](desk, ask)
    at_once = {"apply": True} if load(tool_name)[0].applies else {}  # that surface has no word for it
    return desk.value(desk.ask(tool_name, **arguments, **at_once), lambda of: msgspec.to_builtins(of.result))


_DECLARED: dict[str, Declared] = {tool.name: tool for tool in declared.TOOLS}

DIALECT = Dialect(
    "agent-lsp",
    [
        DialectTool(
            name=tool.name,
            description=tool.description,
            input_schema=tool.input_schema(),
            read_only=not tool.writes,
            concurrency_safe=not tool.writes,
            destructive=tool.writes == "files",
        )
        for tool in declared.TOOLS
    ],
    _dispatch,
)
