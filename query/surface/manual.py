"""The reference of the tools, made from their declarations: for the command line, for programs, and `query/doc/tools.md`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from query.surface.registry import TASKS, Tool, load, names

DOCUMENT = Path(__file__).parent.with_name("doc") / "tools.md"

_INTRODUCTION = """# The tools

Made from the declarations in `query/tools` by `python -m query.surface.generate`; do not edit.

Every tool can be asked as `lspidx query NAME`, over MCP (`lspidx mcp`), and from Python (`query.api`).
Lines and columns are 1-based, columns count UTF-16 code units, ends are exclusive; paths are relative to the workspace root.
Every answer has `result`, `total` (before `limit`), `truncated`, `next_cursor`, `completeness` (`complete`, `partial` or `unknown`, with
reasons) and `provenance` (commit, servers and their versions, when). `beside`, where it is there, says what the result leaves out by its
meaning and who asked may have had in mind: references of a method do not name the calls of what it overrides.
`lspidx tools NAME --json` has the JSON Schemas.
"""


def by_task() -> Iterator[tuple[str, list[Tool]]]:
    """The tools under the headings of `registry.TASKS`, by name."""
    tools = [load(name)[0] for name in names()]
    for task, title in TASKS.items():
        fitting = [tool for tool in tools if tool.task == task]
        if fitting:
            yield title, fitting


def tools_text() -> str:
    """All tools by task, with their short names."""
    lines: list[str] = []
    for title, tools in by_task():
        lines += [title, *(f"  {', '.join([*tool.aliases, tool.name]):<44} {tool.description}" for tool in tools), ""]
    return "\n".join([*lines, "More about one: lspidx tools NAME. To ask: lspidx query NAME …"])


def tool_text(name: str) -> str:
    """Everything about one tool.

    Raises:
        UsageError: no tool has this name.
    """
    tool, preset = load(name)
    lines = [f"{tool.name}: {tool.description}", ""]
    for alias, given in tool.aliases.items():
        presets = ", ".join(f"{key}={value}" for key, value in given.items())
        lines.append(f"short: {alias}" + (f" ({presets})" if presets else ""))
    lines += [f"example: lspidx query {tool.example}", "", "parameters:"]
    for parameter in _parameters(tool):
        if parameter["name"] not in preset:
            lines.append(f"  {parameter['name']:<20} {parameter['type']}, default {parameter['default']}: {parameter['description']}")
    traits = ["read-only" if tool.read_only else "writes", "may run beside others" if tool.concurrency_safe else "runs alone"]
    return "\n".join([*lines, "", f"{'; '.join(traits)}; at most {tool.max_result_chars} characters, the rest goes to a file"])


def declarations(name: str | None = None) -> Any:
    """One declaration, or all, as plain values with JSON Schemas."""
    if name is not None:
        return _declaration(load(name)[0])
    return [_declaration(load(item)[0]) for item in names()]


def _declaration(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "aliases": {alias: dict(preset) for alias, preset in tool.aliases.items()},
        "task": tool.task,
        "description": tool.description,
        "example": f"lspidx query {tool.example}",
        "positional": tool.positional.split(),
        "needs_index": tool.needs_index,
        "read_only": tool.read_only,
        "concurrency_safe": tool.concurrency_safe,
        "destructive": tool.destructive,
        "max_result_chars": tool.max_result_chars,
        "input_schema": tool.input_schema(),
        "output_schema": tool.output_schema(),
    }


def _parameters(tool: Tool) -> Iterator[dict[str, str]]:
    schema = tool.input_schema()
    for name, declared in schema.get("properties", {}).items():
        yield {
            "name": name,
            "type": _type(declared),
            "default": repr(declared["default"]) if declared.get("default") not in ("", [], {}, None) else "none",
            "description": declared.get("description", ""),
        }


def _type(declared: dict[str, Any]) -> str:
    if "enum" in declared:
        return " | ".join(str(value) for value in declared["enum"])
    if declared.get("type") == "array":
        return f"list of {_type(declared.get('items', {}))}"
    kind = declared.get("type", "any")
    low, high = declared.get("minimum"), declared.get("maximum")
    return f"{kind} {low}–{high}" if low is not None and high is not None and high < 2**31 - 1 else str(kind)


def document() -> str:
    """The text of `query/doc/tools.md`."""
    parts = [_INTRODUCTION]
    for title, tools in by_task():
        parts.append(f"## {title}\n")
        for tool in tools:
            parts += [f"### {tool.name}\n", f"{tool.description}\n"]
            if tool.aliases:
                short = [
                    f"`{alias}`" + (f" ({', '.join(f'{key}={value}' for key, value in given.items())})" if given else "")
                    for alias, given in tool.aliases.items()
                ]
                parts.append(f"Short: {', '.join(short)}.\n")
            parts.append(f"Example: `lspidx query {tool.example}`\n")
            rows = [
                f"| `{item['name']}` | {item['type'].replace(' | ', ' or ')} | {item['default']} | {item['description']} |"
                for item in _parameters(tool)
            ]
            table = ["| parameter | type | default | meaning |", "|---|---|---|---|", *rows]
            parts.append("\n".join(table) + "\n" if rows else "No parameters.\n")
            parts += [f"Result: {_result(tool)}\n"]
    return "\n".join(parts)


def _result(tool: Tool) -> str:
    schema = tool.output_schema()
    result = schema["properties"]["result"]
    is_list = result.get("type") == "array"
    reference = (result.get("items", {}) if is_list else result).get("$ref", "").rpartition("/")[2]
    record = schema.get("$defs", {}).get(reference, {})
    fields = ", ".join(f"`{name}`" for name in record.get("properties", {}))
    about = " ".join(record.get("description", "").split())
    return f"{'a list of ' if is_list else ''}{reference or result.get('type', 'any')} ({fields}). {about}".strip()
