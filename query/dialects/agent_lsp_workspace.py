"""Dialect `agent-lsp`: diagnostics, folders and servers of the workspace, and the phases of a skill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.dialects import agent_lsp_tools as declared
from query.dialects.agent_lsp_places import MAX_REFERENCES, Ask
from query.dialects.lsp_shapes import (
    absolute,
    kind_name,
    lsp_range,
    path_of,
    uri,
)
from query.dialects.surface import Desk, DialectReply
from query.facts.families import languages_of


def _get_diagnostics(desk: Desk, ask: Ask) -> DialectReply:
    file = desk.file(ask.file_path) if ask.file_path else ""
    if ask.group_by and not file:
        raise UsageError("get_diagnostics: group_by symbol needs file_path")
    answer = desk.ask("get_diagnostics", limit=MAX_REFERENCES, **({"file_path": file} if file else {}))

    def form(of: Answer[Any]) -> dict[str, Any]:
        value: dict[str, Any] = {uri(desk.root, of.query["file_path"]): []} if file else {}
        for item in of.result.diagnostics:
            value.setdefault(uri(desk.root, item.path), []).append(_diagnostic(item))
        return value

    if ask.group_by:
        return _by_symbol(desk, answer, file)
    return desk.value(answer, form, is_map=True)


def _diagnostic(item: Any) -> dict[str, Any]:
    return {
        "range": lsp_range(item.line, item.col, item.end_line, item.end_col, base=-1),
        "severity": item.number,
        **({"code": int(item.code) if item.code.isdecimal() and len(item.code) < 19 else item.code} if item.code else {}),
        **({"source": item.source} if item.source else {}),
        "message": item.message,
    }


def _by_symbol(desk: Desk, answer: Answer[Any], file: str) -> DialectReply:
    """Each message by the innermost definition around its line; the others apart."""
    outlined: list[tuple[str, Any]] = []
    stack = [(item.name, item) for item in desk.ask("list_symbols", file_path=file).result]
    while stack:
        outlined.append(entry := stack.pop())
        stack += [(f"{entry[0]}.{child.name}", child) for child in entry[1].children]

    def form(of: Answer[Any]) -> dict[str, Any]:
        groups: dict[tuple[str, int], dict[str, Any]] = {}
        ungrouped: list[dict[str, Any]] = []
        for message in of.result.diagnostics:
            around = [(name, item) for name, item in outlined if item.line <= message.line <= item.end_line]
            if not around:
                ungrouped.append(_diagnostic(message))
                continue
            name, item = min(around, key=lambda entry: (entry[1].end_line - entry[1].line, -entry[1].line))
            of_symbol = {"name": name, "kind": kind_name(item.kind), "line": item.line, "diagnostics": []}
            groups.setdefault((name, item.line), of_symbol)["diagnostics"].append(_diagnostic(message))
        return {"symbols": list(groups.values()), "ungrouped": ungrouped}

    return desk.value(answer, form)


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
        files = Counter(languages_of(desk.index).values())
        of_most = sorted(of.result, key=lambda item: -files[item.language])
        servers = [{"language": item.language, "server_name": item.server_name, "server_version": item.server_version} for item in of_most]
        first = next((item for item in of_most if item.server_name), None)
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


RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {
    "get_diagnostics": _get_diagnostics,
    "list_workspace_folders": _list_workspace_folders,
    "add_workspace_folder": _change_folders("add_workspace_folder", "added"),
    "remove_workspace_folder": _change_folders("remove_workspace_folder", "removed"),
    "detect_lsp_servers": _detect_lsp_servers,
    "get_server_capabilities": _get_server_capabilities,
    "activate_skill": _activate_skill,
    "deactivate_skill": _deactivate_skill,
    "get_skill_phase": _get_skill_phase,
}
