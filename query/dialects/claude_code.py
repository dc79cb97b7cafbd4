"""Dialect `claude-code`: the tool `LSP` with nine operations, and `ToolSearch`.

Each operation takes a record of its own (a union by `operation`), and has a text form of its own. Paths are relative to the workspace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

import msgspec

from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.style import count, one_line, printable
from query.dialects.lsp_shapes import kind_name
from query.dialects.surface import Desk, Dialect, DialectReply, DialectTool, convert, first_part
from query.surface import search

_MAX_REFERENCES, _MAX_CALLS, _MAX_SYMBOLS = 10_000, 5_000, 200
_CALLABLE = ("function", "method", "constructor", "class")

Position = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


class _Operation(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, tag_field="operation"):
    pass


class _AtPosition(_Operation, kw_only=True):
    filePath: str  # noqa: N815
    line: Position
    character: Position


class GoToDefinition(_AtPosition, tag="goToDefinition"):
    pass


class FindReferences(_AtPosition, tag="findReferences"):
    pass


class Hover(_AtPosition, tag="hover"):
    pass


class GoToImplementation(_AtPosition, tag="goToImplementation"):
    pass


class PrepareCallHierarchy(_AtPosition, tag="prepareCallHierarchy"):
    pass


class IncomingCalls(_AtPosition, tag="incomingCalls"):
    pass


class OutgoingCalls(_AtPosition, tag="outgoingCalls"):
    pass


class DocumentSymbol(_Operation, tag="documentSymbol", kw_only=True):
    """Takes a position too, which says nothing here: callers send all four arguments always."""

    filePath: str  # noqa: N815
    line: Position = 1
    character: Position = 1


class WorkspaceSymbol(_Operation, tag="workspaceSymbol", kw_only=True):
    """The surface has no argument for the name that is searched: `query`, or the identifier at the position."""

    query: str = ""
    filePath: str = ""  # noqa: N815
    line: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    character: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0


class ToolSearch(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, msgspec.Meta(min_length=1)]
    max_results: Annotated[int, msgspec.Meta(ge=1, le=50)] = 5


Lsp = (
    GoToDefinition
    | FindReferences
    | Hover
    | DocumentSymbol
    | WorkspaceSymbol
    | GoToImplementation
    | PrepareCallHierarchy
    | IncomingCalls
    | OutgoingCalls
)


def _place(path: str, line: int, col: int = 0) -> str:
    return one_line(path if not line else f"{path}:{line}:{col}" if col else f"{path}:{line}")


def _symbol(record: SymbolRecord) -> str:
    outside = "  (outside the workspace)" if record.external else ""
    return f"{one_line(record.name)} ({kind_name(record.kind)}) - {_place(record.path, record.line, record.col)}{outside}"


def _where(desk: Desk, ask: _AtPosition) -> dict[str, Any]:
    return {"file_path": desk.file(ask.filePath), "line": ask.line, "column": ask.character}


def _by_file(records: Sequence[tuple[str, str]]) -> Iterator[str]:
    """(path, line of text) below a heading for each path, in the order of their first."""
    for path in dict.fromkeys(path for path, _ in records):
        yield ""
        yield f"{one_line(path)}:"
        yield from (f"  {text}" for other, text in records if other == path)


# ---- forms, one for each operation


def _definition_form(answer: Answer[Any]) -> str:
    places = [_place(place.path, place.line, place.col) for item in answer.result for place in item.places]
    outside = [_symbol(item.symbol) for item in answer.result if item.symbol.external]
    if len(places) == 1 and not outside:
        return f"Defined in {places[0]}"
    return "\n".join([f"Found {count(len(places) + len(outside), 'definition')}:", *(f"  {text}" for text in [*places, *outside])])


def _references_form(answer: Answer[Any]) -> str:
    found = answer.result
    if not found:
        return "No references found."
    files = len({item.path for item in found})
    lines = [f"Found {count(answer.total, 'reference')} across {count(files, 'file')}:"]
    for path, group in groupby(found, key=lambda item: item.path):
        lines += ["", f"{one_line(path)}:", *(f"  Line {item.line}:{item.col}  {printable(item.text)}".rstrip() for item in group)]
    return "\n".join(lines)


def _hover_form(answer: Answer[Any]) -> str:
    item = answer.result
    text = item.hover or "\n\n".join(filter(None, (item.signature, item.documentation)))
    return f"{_symbol(item.symbol)}\n\n{printable(text) or 'No type information or documentation is stored.'}"


def _outline_form(answer: Answer[Any]) -> str:
    if not answer.result:
        return "No symbols found in this file."
    lines = ["Document symbols:"]
    stack = [(item, 1) for item in reversed(answer.result)]
    while stack:
        item, level = stack.pop()
        of = f" of {one_line(item.of)}" if item.of else ""
        lines.append(f"{'  ' * level}{one_line(item.name)} ({kind_name(item.kind)}){of} - Line {item.line}")
        stack += [(child, level + 1) for child in reversed(item.children)]
    return "\n".join(lines)


def _symbols_form(answer: Answer[Any]) -> str:
    if not answer.result:
        return "No symbols found in the workspace."
    listed = [
        (item.path, f"{one_line(item.qualified_name)} ({kind_name(item.kind)}) - Line {item.line}:{item.col}") for item in answer.result
    ]
    return "\n".join([f"Found {count(answer.total, 'symbol')} in the workspace:", *_by_file(listed)])


def _implementation_form(answer: Answer[Any]) -> str:
    if not answer.result:
        return "No implementations found."
    lines = [f"  {_symbol(item.symbol)}{'  (abstract)' if item.abstract else ''}" for item in answer.result]
    return "\n".join([f"Found {count(answer.total, 'implementation')}:", *lines])


def _item_form(answer: Answer[Any]) -> str:
    items = [item.symbol for item in answer.result if item.symbol.kind in _CALLABLE]
    if not items:
        meant = ", ".join(_symbol(item.symbol) for item in answer.result)
        return f"No call hierarchy item found: nothing here can be called: {meant}"
    return "\n".join([f"Call hierarchy {'item' if len(items) == 1 else 'items'}:", *(f"  {_symbol(item)}" for item in items)])


def _calls_form(answer: Answer[Any]) -> str:
    incoming = answer.query.get("direction") == "incoming"
    if not answer.result:
        return "No incoming calls found." if incoming else "No outgoing calls found."
    word = "caller" if incoming else "callee"
    listed = [
        (
            edge.symbol.path,
            f"{one_line(edge.symbol.qualified_name)} ({kind_name(edge.symbol.kind)})"
            f"{f' - Line {edge.symbol.line}' if edge.symbol.line else ''}"
            f" [calls at {', '.join(f'{site.line}:{site.col}' for site in edge.sites)}]",
        )
        for edge in answer.result
    ]
    return "\n".join([f"Found {count(answer.total, word)}:", *_by_file(listed)])


# ---- operations


def _run(desk: Desk, ask: Any) -> DialectReply:
    match ask:
        case GoToDefinition():
            return desk.text(desk.ask("go_to_definition", show_source=False, **_where(desk, ask)), _definition_form)
        case FindReferences():
            return desk.text(desk.ask("find_references", limit=_MAX_REFERENCES, **_where(desk, ask)), _references_form)
        case Hover():
            return desk.text(desk.ask("inspect_symbol", **_where(desk, ask)), _hover_form)
        case DocumentSymbol():
            return desk.text(desk.ask("list_symbols", file_path=desk.file(ask.filePath)), _outline_form)
        case WorkspaceSymbol():
            return _workspace_symbol(desk, ask)
        case GoToImplementation():
            return desk.text(desk.ask("go_to_implementation", **_where(desk, ask)), _implementation_form)
        case PrepareCallHierarchy():
            return desk.text(desk.ask("go_to_definition", show_source=False, **_where(desk, ask)), _item_form)
        case IncomingCalls():
            return desk.text(
                desk.ask("find_callers", direction="incoming", values=False, limit=_MAX_CALLS, **_where(desk, ask)), _calls_form
            )
        case _:
            return desk.text(desk.ask("find_callers", direction="outgoing", limit=_MAX_CALLS, **_where(desk, ask)), _calls_form)


def _workspace_symbol(desk: Desk, ask: WorkspaceSymbol) -> DialectReply:
    path = desk.file(ask.filePath) if ask.filePath else ""
    query, more = ask.query, list[Reason]()
    if not query and path and ask.line and ask.character:
        here = desk.ask("go_to_definition", file_path=path, line=ask.line, column=ask.character, show_source=False)
        query = here.result[0].symbol.name
        more = here.completeness.reasons
    found = desk.ask("find_symbol", query=query, limit=_MAX_SYMBOLS)
    if more:
        status = msgspec.structs.replace(found.completeness, status="partial", reasons=[*found.completeness.reasons, *more])
        found = msgspec.structs.replace(found, completeness=status)
    return desk.text(found, _symbols_form)


def _tool_search(desk: Desk, ask: ToolSearch) -> DialectReply:
    """Names of tools that can be called here: `LSP`, and ours that this server lets run."""
    own = _own_matches(ask.query)
    chosen = ask.query.strip().lower().startswith(_SELECT)
    rest = ",".join(name for name in ask.query.strip()[len(_SELECT) :].split(",") if name.strip().lower() not in _OWN) if chosen else ""
    answer = desk.ask("search_tools", query=f"{_SELECT}{rest or 'search_tools'}" if chosen else ask.query, max_results=50)
    found = answer.result
    others = [name for name in found.matches if desk.can_call(name)] if rest or not chosen else []
    is_meant = chosen or _is_of_lsp(ask.query)
    matches = [*own, *others] if is_meant else [*others, *own]
    shown = matches[: ask.max_results]
    off = [name for name in found.matches if not desk.can_call(name)]
    unknown = found.unknown if rest else []
    return desk.value(
        first_part(answer, len(shown), len(matches)),
        lambda of: {"matches": shown, "query": found.query if not chosen else ask.query, "total_deferred_tools": desk.callable_tools + 1},
        f"no tool is called {', '.join(unknown)}" if unknown else "",
        f"only where edits are allowed: {', '.join(off)}" if off and chosen else "",
    )


def _own_matches(query: str) -> list[str]:
    query = query.strip()
    if query.lower().startswith(_SELECT):
        return ["LSP"] if {name.strip().lower() for name in query[len(_SELECT) :].split(",")} & _OWN else []
    return ["LSP"] if _words(query) & _VOCABULARY else []


def _is_of_lsp(query: str) -> bool:
    """Whether all that is asked for is what `LSP` does."""
    return bool(_words(query)) and _words(query) <= _VOCABULARY


def _words(query: str) -> set[str]:
    return {word for piece in query.split() for word in (*search.parts(piece), piece.lower())} - _SMALL


def _dispatch(desk: Desk, tool_name: str, arguments: dict[str, Any]) -> DialectReply:
    if tool_name == "LSP":
        return _run(desk, convert(arguments, Lsp, tool_name))
    return _tool_search(desk, convert(arguments, ToolSearch, tool_name))


_OPERATIONS = (
    "goToDefinition",
    "findReferences",
    "hover",
    "documentSymbol",
    "workspaceSymbol",
    "goToImplementation",
    "prepareCallHierarchy",
    "incomingCalls",
    "outgoingCalls",
)
_LSP_SCHEMA = {
    "type": "object",  # flat: not every client takes a union at the top; the union is checked when the call comes
    "properties": {
        "operation": {"type": "string", "enum": list(_OPERATIONS), "description": "what to look up"},
        "filePath": {"type": "string", "description": "absolute or relative; all operations but workspaceSymbol need it"},
        "line": {"type": "integer", "minimum": 1, "description": "1-based, as editors show it"},
        "character": {"type": "integer", "minimum": 1, "description": "1-based, as editors show it"},
        "query": {"type": "string", "description": "workspaceSymbol: the name; default: the identifier at the position"},
    },
    "required": ["operation"],
    "additionalProperties": False,
}
_SELECT = "select:"
_OWN = frozenset(("lsp", "lsptool"))
_SMALL_WORDS = "to go the a of for find where is by"
_SMALL = frozenset(_SMALL_WORDS.split())
_VOCABULARY = frozenset((
    "lsp", "language", "server", "protocol", "definition", "definitions", "references", "usages", "hover", "type", "documentation",
    "document", "workspace", "symbol", "symbols", "implementation", "implementations", "call", "calls", "hierarchy", "incoming", "outgoing",
    "prepare", "code", "intelligence", "navigation", *(name.lower() for name in _OPERATIONS),
))  # fmt: skip
"""Words of what `LSP` does."""
_DESCRIPTION = """Code intelligence from the index of the workspace: what a symbol is, where it is defined and used, who calls it.

Use it in place of text search wherever a symbol is meant: it tells a definition from a use and from another symbol of the same name, and \
says in brackets what an answer may lack. Do not use it for words in comments or texts, nor to read a file.

Operations; filePath, line and character (1-based, on the name) are needed unless said otherwise:
- goToDefinition: where it is defined. {"operation": "goToDefinition", "filePath": "src/shop.py", "line": 42, "character": 9}
- findReferences: every use, by file. {"operation": "findReferences", "filePath": "src/shop.py", "line": 10, "character": 5}
- hover: type and documentation. {"operation": "hover", "filePath": "src/shop.py", "line": 12, "character": 9}
- documentSymbol: what a file defines, without reading it; filePath alone. {"operation": "documentSymbol", "filePath": "src/shop.py"}
- workspaceSymbol: symbols by name; query, or a place on the name. {"operation": "workspaceSymbol", "query": "Basket"}
- goToImplementation: what implements an interface or overrides. \
{"operation": "goToImplementation", "filePath": "src/shop.py", "line": 3, "character": 7}
- prepareCallHierarchy: what calls can be asked about here. \
{"operation": "prepareCallHierarchy", "filePath": "src/shop.py", "line": 10, "character": 5}
- incomingCalls: who calls it, with the places. {"operation": "incomingCalls", "filePath": "src/shop.py", "line": 10, "character": 5}
- outgoingCalls: what it calls. {"operation": "outgoingCalls", "filePath": "src/shop.py", "line": 10, "character": 5}

Files of more than 10 MB and network paths are refused."""
_SEARCH_DESCRIPTION = """Names of tools that are not listed and can be called, by name or by keywords.

Use it before saying that there is no tool for something. {"query": "select:LSP,find_callers"} gives those by name, \
{"query": "rename preview", "max_results": 3} the ones that fit best."""
_SEARCH_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "select:Name,Name for tools by name, or keywords"},
        "max_results": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
    },
    "required": ["query"],
    "additionalProperties": False,
}

DIALECT = Dialect(
    "claude-code",
    [
        DialectTool(
            name="LSP",
            description=_DESCRIPTION,
            input_schema=_LSP_SCHEMA,
        ),
        DialectTool(name="ToolSearch", description=_SEARCH_DESCRIPTION, input_schema=_SEARCH_SCHEMA),
    ],
    _dispatch,
    finds=("ToolSearch", "matches"),
)
