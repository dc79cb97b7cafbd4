"""Dialect `lsp`: the tool `lsp` with seven actions; answers are Markdown with links that open a file at a line.

Arguments may be strings, as the calls of this surface are written (`line="42"`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import msgspec

from query.answers.envelope import Answer, SymbolRecord
from query.answers.style import count, one_line, printable
from query.dialects.lsp_shapes import kind_name, uri
from query.dialects.surface import Desk, Dialect, DialectReply, DialectTool, convert

_MAX_REFERENCES, _MAX_CALLS, _MAX_SYMBOLS = 10_000, 5_000, 200

Number = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


class _Action(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, tag_field="action"):
    pass


class _AtPosition(_Action, kw_only=True):
    path: str
    line: Number
    column: Number


class Definition(_AtPosition, tag="definition"):
    pass


class References(_AtPosition, tag="references", kw_only=True):
    include_declaration: bool = True


class Hover(_AtPosition, tag="hover"):
    pass


class DocumentSymbols(_Action, tag="document_symbols", kw_only=True):
    path: str


class WorkspaceSymbols(_Action, tag="workspace_symbols", kw_only=True):
    query: Annotated[str, msgspec.Meta(min_length=1)]


class CallHierarchyIncoming(_AtPosition, tag="call_hierarchy_incoming"):
    pass


class CallHierarchyOutgoing(_AtPosition, tag="call_hierarchy_outgoing"):
    pass


Lsp = Definition | References | Hover | DocumentSymbols | WorkspaceSymbols | CallHierarchyIncoming | CallHierarchyOutgoing


def _where(desk: Desk, ask: _AtPosition) -> dict[str, Any]:
    return {"file_path": desk.file(ask.path), "line": ask.line, "column": ask.column}


# ---- Markdown


_PLAIN = re.compile(r"[^\W_]*(?:(?<=[^\W_])_(?=[^\W_])|[^\W_]|[ ./:,()#$-])*")
"""Text that Markdown shows as it is: an underscore between letters is one."""
_OF_LINKS = frozenset("[]\\`<>")


def _plain(text: str) -> str:
    """A name of the repository as text of Markdown, without escapes: what may mean something there stands as code."""
    text = one_line(text)
    return text if _PLAIN.fullmatch(text) else _code(text)


def _link(root: Path, path: str, line: int) -> str:
    name = one_line(path.rpartition("/")[2])
    return f"[{_code(name) if set(name) & _OF_LINKS else name}]({uri(root, path)}#L{line})"


def _symbol(root: Path, record: SymbolRecord) -> str:
    """Link, kind, name and what the name is a member of."""
    container = record.qualified_name.removesuffix(record.name).rstrip(".:")
    within = f" in {_plain(container)}" if container else ""
    where = f"{_plain(record.path)} (outside the workspace)" if record.external else _link(root, record.path, record.line)
    return f"{where} {kind_name(record.kind)} {_plain(record.name)}{within}"


def _code(text: str) -> str:
    """A source line as code; a backtick in it asks for a longer fence."""
    text = printable(text)
    fence = "`" * (max((len(run) for run in text.replace("`", " ` ").split() if set(run) == {"`"}), default=0) + 1)
    while fence in text:
        fence += "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def _list(title: str, lines: list[str], nothing: str) -> str:
    return "\n".join([title, *(f"- {line}" for line in lines)]) if lines else nothing


def _definition(root: Path, answer: Answer[Any]) -> str:
    lines: list[str] = []
    for item in answer.result:
        places = item.places[1:] if item.places else []
        lines.append(_symbol(root, msgspec.structs.replace(item.symbol, **_at(item))))
        lines += [f"{_link(root, place.path, place.line)} {_code(place.text)}".rstrip() for place in places]
    return _list("Definition:" if len(lines) == 1 else f"{len(lines)} definitions:", lines, "No definition found.")


def _at(item: Any) -> dict[str, Any]:
    return {"path": item.places[0].path, "line": item.places[0].line} if item.places else {}


def _references(root: Path, answer: Answer[Any]) -> str:
    lines = [
        f"{_link(root, item.path, item.line)} {_code(item.text)}{f' in {_plain(item.enclosing)}' if item.enclosing else ''}"
        for item in answer.result
    ]
    files = len({item.path for item in answer.result})
    return _list(f"{count(answer.total, 'reference')} in {count(files, 'file')}:", lines, "No references found.")


def _hover(root: Path, answer: Answer[Any]) -> str:
    item = answer.result
    signature = f"```\n{item.signature}\n```" if item.signature else ""
    text = item.hover or "\n\n".join(filter(None, (signature, item.documentation)))
    return f"{_symbol(root, item.symbol)}\n\n{printable(text) or 'No type information or documentation is stored.'}"


def _outline(root: Path, answer: Answer[Any]) -> str:
    path = answer.query["file_path"]
    lines: list[str] = []
    stack = [(item, 0, item.of) for item in reversed(answer.result)]
    while stack:
        item, level, within = stack.pop()
        container = f" in {_plain(within)}" if within else ""
        lines.append(f"{'  ' * level}- {_link(root, path, item.line)} {kind_name(item.kind)} {_plain(item.name)}{container}")
        stack += [(child, level + 1, item.name) for child in reversed(item.children)]
    return "\n".join([f"{count(answer.total, 'symbol')} in {_plain(path)}:", *lines]) if lines else f"No symbols in {_plain(path)}."


def _symbols(root: Path, answer: Answer[Any]) -> str:
    return _list(f"{count(answer.total, 'symbol')}:", [_symbol(root, item) for item in answer.result], "No symbols found.")


def _calls(root: Path, answer: Answer[Any]) -> str:
    word = "caller" if answer.query["direction"] == "incoming" else "callee"
    lines = [
        f"{_symbol(root, edge.symbol)}; calls: {', '.join(_link(root, site.path, site.line) for site in edge.sites)}"
        for edge in answer.result
    ]
    return _list(f"{count(answer.total, word)}:", lines, f"No {word}s found.")


# ---- actions


def _run(desk: Desk, ask: Any) -> DialectReply:
    match ask:
        case Definition():
            answer, form = desk.ask("go_to_definition", **_where(desk, ask)), _definition
        case References():
            more = {"include_declaration": ask.include_declaration, "limit": _MAX_REFERENCES}
            answer, form = desk.ask("find_references", **more, **_where(desk, ask)), _references
        case Hover():
            answer, form = desk.ask("inspect_symbol", **_where(desk, ask)), _hover
        case DocumentSymbols():
            answer, form = desk.ask("list_symbols", file_path=desk.file(ask.path)), _outline
        case WorkspaceSymbols():
            answer, form = desk.ask("find_symbol", query=ask.query, match="substring", limit=_MAX_SYMBOLS), _symbols
        case CallHierarchyIncoming():
            answer, form = desk.ask("find_callers", direction="incoming", values=False, limit=_MAX_CALLS, **_where(desk, ask)), _calls
        case _:
            answer, form = desk.ask("find_callers", direction="outgoing", limit=_MAX_CALLS, **_where(desk, ask)), _calls
    return desk.text(answer, lambda of: form(desk.root, of))


_ACTIONS = (
    "definition",
    "references",
    "hover",
    "document_symbols",
    "workspace_symbols",
    "call_hierarchy_incoming",
    "call_hierarchy_outgoing",
)
_POSITION = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^[0-9]+$"}]}

_DESCRIPTION = """Code navigation from the index of the workspace, as Markdown with links that open a file at a line.

Use it where a symbol is meant: to find its definition, all its uses before a refactoring, its type, what a file defines, who calls it. \
Put the column on the name itself. Do not use it for exact text (grep), for files by name (glob), nor for errors (diagnostics). \
What an answer may lack stands in brackets after it.

Actions; path (absolute), line and column (1-based) unless said otherwise:
- definition: where it is defined. [lsp action="definition" path="/repo/src/shop.py" line="42" column="15"]
- references: every use; include_declaration="false" leaves its own definition out. \
[lsp action="references" path="/repo/src/shop.py" line="10" column="5"]
- hover: type and documentation. [lsp action="hover" path="/repo/src/shop.py" line="25" column="10"]
- document_symbols: what a file defines; path alone. [lsp action="document_symbols" path="/repo/src/shop.py"]
- workspace_symbols: symbols by part of their name; query alone. [lsp action="workspace_symbols" query="Basket"]
- call_hierarchy_incoming: who calls it. [lsp action="call_hierarchy_incoming" path="/repo/src/shop.py" line="50" column="5"]
- call_hierarchy_outgoing: what it calls. [lsp action="call_hierarchy_outgoing" path="/repo/src/shop.py" line="30" column="5"]

Then read the file around what was found."""

DIALECT = Dialect(
    "lsp",
    [
        DialectTool(
            name="lsp",
            description=_DESCRIPTION,
            input_schema={
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": list(_ACTIONS), "description": "what to look up"},
                    "path": {"type": "string", "description": "absolute path of a file; all actions but workspace_symbols"},
                    "line": {**_POSITION, "description": "1-based"},
                    "column": {**_POSITION, "description": "1-based"},
                    "include_declaration": {
                        "anyOf": [{"type": "boolean"}, {"type": "string", "enum": ["true", "false"]}],
                        "default": True,
                        "description": "references: also the symbol's own definition",
                    },
                    "query": {"type": "string", "description": "workspace_symbols: part of a name"},
                },
                "required": ["action"],
                "additionalProperties": False,
            },
        )
    ],
    lambda desk, tool_name, arguments: _run(desk, convert(arguments, Lsp, tool_name, strings=True)),
)
