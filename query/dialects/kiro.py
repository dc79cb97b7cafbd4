"""Dialect `kiro`: the tool `code` with ten operations; answers are JSON with absolute paths and 1-based places.

The surface is written down in two spellings: `operation`, `symbol_name`, `row` (its schema) and `action`, `query`, `line` (its
examples, which also call get_hover get_hover_info). Both are taken.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from indexer.errors import AmbiguousName, NameNotFound, UsageError
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.dialects.lsp_shapes import absolute, fenced
from query.dialects.surface import Desk, Dialect, DialectReply, DialectTool, convert
from query.facts.families import languages_of
from query.surface.render import error_record

MAX_SYMBOLS = 50
DEFAULT_REFERENCES, MAX_REFERENCES = 500, 1_000
_MAX_LOOKUPS = 20
_MAX_DOCUMENTATION = 4_000
_MAX_OF_FILE = 1_000
_MAX_DIAGNOSTICS = 1_000

_KINDS = {
    "function": ["function"],
    "method": ["method", "constructor"],
    "class": ["class"],
    "struct": ["struct"],
    "enum": ["enum"],
    "interface": ["interface"],
    "constant": ["constant"],
    "variable": ["variable", "property", "field"],
    "module": ["module", "namespace", "package"],
}

Place = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]

Name = Literal[
    "search_symbols",
    "find_references",
    "goto_definition",
    "rename_symbol",
    "get_document_symbols",
    "lookup_symbols",
    "get_diagnostics",
    "get_hover",
    "get_completions",
    "initialize_workspace",
]


class Code(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """All arguments of all operations, as the surface has it; which are needed is in NEEDED."""

    operation: Name
    file_path: str = ""
    row: Place | None = None
    column: Place | None = None
    symbol_name: str = ""
    symbols: list[str] = []
    new_name: str = ""
    dry_run: bool = False
    show_source: bool = False
    exact_match: bool = False
    workspace_only: bool = True
    top_level_only: bool = True
    language: str = ""
    symbol_type: str = ""
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None
    filter: str = ""
    trigger_character: str = ""


_AT = ("file_path", "row", "column")
NEEDED: dict[str, tuple[str, ...]] = {
    "search_symbols": ("symbol_name",),
    "find_references": _AT,
    "goto_definition": _AT,
    "rename_symbol": (*_AT, "new_name"),
    "get_document_symbols": ("file_path",),
    "lookup_symbols": ("symbols",),
    "get_diagnostics": ("file_path",),
    "get_hover": _AT,
    "get_completions": _AT,
    "initialize_workspace": (),
}
_SPELLINGS = {"action": "operation", "query": "symbol_name", "line": "row"}
_OPERATIONS = {"get_hover_info": "get_hover"}


def _read(arguments: dict[str, Any]) -> Code:
    plain: dict[str, Any] = {}
    for key, value in arguments.items():
        name = _SPELLINGS.get(key, key)
        if name in plain and plain[name] != value:
            raise UsageError(f"code: '{key}' and another word for '{name}' are both given and differ")
        plain[name] = value
    operation = plain.get("operation")
    if isinstance(operation, str):
        plain["operation"] = _OPERATIONS.get(operation, operation)
    ask: Code = convert(plain, Code, "code")
    missing = [name for name in NEEDED[ask.operation] if not getattr(ask, name)]
    if missing:
        raise UsageError(f"code: {ask.operation} needs {' and '.join(missing)}")
    return ask


def _where(desk: Desk, ask: Code) -> dict[str, Any]:
    return {"file_path": desk.file(ask.file_path), "line": ask.row, "column": ask.column}


def _symbol(desk: Desk, record: SymbolRecord) -> dict[str, Any]:
    if record.external:
        return {"name": record.name, "kind": record.kind, "file": record.path, "external": True}
    file = absolute(desk.root, record.path)
    return {"name": record.name, "kind": record.kind, "file": file, "line": record.line, "column": record.col}


# ---- operations


def _search_symbols(desk: Desk, ask: Code) -> DialectReply:
    wanted: dict[str, Any] = {"query": ask.symbol_name, "limit": min(ask.limit or MAX_SYMBOLS, MAX_SYMBOLS), "language": ask.language}
    reasons: list[Reason] = []
    if ask.symbol_type.lower() == "import":
        detail = "imports are no symbols of their own here: find_references at what is imported has them"
        reasons.append(Reason(code="not_told", detail=detail))
    elif ask.symbol_type:
        if ask.symbol_type.lower() not in _KINDS:
            known = ", ".join(name.title() for name in _KINDS)
            raise UsageError(f"code: no symbol is of the type '{ask.symbol_type}'; known: {known}")
        wanted["kind"] = _KINDS[ask.symbol_type.lower()]
    languages = sorted(set(languages_of(desk.index).values()) - {""})
    if ask.language and ask.language.lower() not in languages:
        detail = f"no file of the index is written in '{ask.language}'; its languages: {', '.join(languages)}"
        reasons.append(Reason(code="not_read", detail=detail))
    path = ""
    if ask.file_path:
        path = desk.ask("list_symbols", file_path=desk.file(ask.file_path), depth=1).query["file_path"]
        wanted |= {"path": path, "limit": _MAX_OF_FILE}

    def search(match: str) -> Answer[Any]:
        found = desk.ask("find_symbol", match=match, **wanted)
        return _of_file(found, path, min(ask.limit or MAX_SYMBOLS, MAX_SYMBOLS)) if path else found

    answer = search("exact" if ask.exact_match else "substring")
    if reasons:
        nothing = msgspec.structs.replace(answer, result=[], total=0, truncated=False, next_cursor=None)
        return desk.value(_doubted(nothing, *reasons), lambda of: {"symbols": []})
    if not answer.total and not ask.exact_match:
        answer = search("fuzzy")
    return desk.value(answer, lambda of: {"symbols": [_symbol(desk, record) for record in of.result]})


def _of_file(answer: Answer[Any], path: str, limit: int) -> Answer[Any]:
    """Without those of files whose path begins with `path`: a.tsx, where a.ts is asked about."""
    inside = [record for record in answer.result if record.path == path]
    return msgspec.structs.replace(
        answer, result=inside[:limit], total=len(inside), truncated=answer.truncated or len(inside) > limit, next_cursor=None
    )


def _goto_definition(desk: Desk, ask: Code) -> DialectReply:
    answer = desk.ask("go_to_definition", show_source=True, **_where(desk, ask))

    def form(of: Answer[Any]) -> dict[str, Any]:
        found = [
            {"file": absolute(desk.root, place.path), "line": place.line, "column": place.col, "preview": place.text}
            for item in of.result
            for place in item.places
        ]
        found += [{"file": item.symbol.path, "external": True, "preview": item.symbol.signature} for item in of.result if not item.places]
        if ask.show_source:
            _add_source(desk, of, found)
        return {"definition": found[0] if found else None, **({"definitions": found} if len(found) > 1 else {})}

    return desk.value(answer, form)


def _add_source(desk: Desk, answer: Answer[Any], found: list[dict[str, Any]]) -> None:
    sources = [source for item in answer.result for source in desk.ask("get_symbol_source", symbol=item.symbol.symbol).result]
    for place in found:
        for source in sources:
            if place["file"] == absolute(desk.root, source.path) and source.start_line <= place.get("line", 0) <= source.end_line:
                place["source"] = source.source
                break


def _find_references(desk: Desk, ask: Code) -> DialectReply:
    answer = desk.ask("find_references", limit=min(ask.limit or DEFAULT_REFERENCES, MAX_REFERENCES), **_where(desk, ask))
    if not ask.workspace_only:
        detail = "references within dependencies are not in the index: only the workspace is read"
        answer = _doubted(answer, Reason(code="dependencies_not_read", detail=detail))
    return desk.value(
        answer,
        lambda of: {
            "references": [
                {"file": absolute(desk.root, item.path), "line": item.line, "column": item.col, "preview": item.text} for item in of.result
            ]
        },
    )


def _doubted(answer: Answer[Any], *reasons: Reason) -> Answer[Any]:
    completeness = answer.completeness
    status = "partial" if completeness.status == "complete" else completeness.status
    doubted = msgspec.structs.replace(completeness, status=status, reasons=[*completeness.reasons, *reasons])
    return msgspec.structs.replace(answer, completeness=doubted)


def _get_document_symbols(desk: Desk, ask: Code) -> DialectReply:
    answer = desk.ask("list_symbols", file_path=desk.file(ask.file_path), **({"depth": 1} if ask.top_level_only else {}))
    file = absolute(desk.root, answer.query["file_path"])

    def form(of: Answer[Any]) -> dict[str, Any]:
        symbols: list[dict[str, Any]] = []
        stack = [(item, item.of.rpartition(".")[2]) for item in reversed(of.result)]
        while stack:
            item, container = stack.pop()
            within = {"container": container} if container else {}
            place = {"file": file, "line": item.line, "column": item.col, "end_line": item.end_line}
            symbols.append({"name": item.name, "kind": item.kind, **place, **within})
            stack += [(child, f"{container}.{item.name}".lstrip(".")) for child in reversed(item.children)]
        nested = of.total - len(symbols) if ask.top_level_only and not of.shortened else 0
        return {"symbols": symbols, **({"nested_symbols_not_shown": nested} if nested else {})}

    whole = msgspec.structs.replace(answer, truncated=answer.truncated and not ask.top_level_only)
    return desk.value(whole, form)


def _lookup_symbols(desk: Desk, ask: Code) -> DialectReply:
    if len(ask.symbols) > _MAX_LOOKUPS:
        raise UsageError(f"code: lookup_symbols takes at most {_MAX_LOOKUPS} symbols at once, these are {len(ask.symbols)}")
    found: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    last: Answer[Any] | None = None
    reasons: list[Reason] = []
    first_error: UsageError | None = None
    for name in ask.symbols:
        try:
            answer = desk.ask("inspect_symbol", symbol=name)
        except (AmbiguousName, NameNotFound) as error:
            failed.append({"symbol": name, **error_record(error)})
            first_error = first_error or error
            continue
        item = answer.result
        details = {"signature": item.signature, "documentation": item.documentation[:_MAX_DOCUMENTATION]}
        found.append({**_symbol(desk, item.symbol), "qualified_name": item.symbol.qualified_name, **details})
        reasons += [reason for reason in answer.completeness.reasons if reason not in reasons]
        last = answer
    if last is None:
        raise first_error or UsageError("code: lookup_symbols needs symbols")
    answer = msgspec.structs.replace(last, completeness=msgspec.structs.replace(last.completeness, status="complete", reasons=[]))
    if reasons:
        answer = _doubted(answer, *reasons)
    return desk.value(answer, lambda of: {"symbols": found, **({"errors": failed} if failed else {})})


def _get_diagnostics(desk: Desk, ask: Code) -> DialectReply:
    answer = desk.ask("get_diagnostics", file_path=desk.file(ask.file_path), limit=_MAX_DIAGNOSTICS)
    return desk.value(
        answer,
        lambda of: {
            "diagnostics": [
                {"severity": item.severity, "message": item.message, "line": item.line, "column": item.col}
                for item in of.result.diagnostics
            ]
        },
    )


def _get_hover(desk: Desk, ask: Code) -> DialectReply:
    answer = desk.ask("inspect_symbol", **_where(desk, ask))

    def form(of: Answer[Any]) -> dict[str, Any]:
        code, prose = fenced(of.result.hover)
        return {"hover": {"type": code or of.result.signature, "documentation": of.result.documentation or prose}}

    return desk.value(answer, form)


def _get_completions(desk: Desk, ask: Code) -> DialectReply:
    asked = {"filter": ask.filter, "symbol_type": ask.symbol_type, "trigger_character": ask.trigger_character}
    answer = desk.ask("get_completions", limit=min(ask.limit or MAX_SYMBOLS, MAX_SYMBOLS), **asked, **_where(desk, ask))

    def item(found: Any) -> dict[str, Any]:
        shape = {"name": found.label, "kind": found.kind, "detail": found.detail, "insert_text": found.insert_text}
        return {key: value for key, value in {**shape, "documentation": found.documentation}.items() if value}

    return desk.value(answer, lambda of: {"completions": [item(found) for found in of.result]})


def _rename_symbol(desk: Desk, ask: Code) -> DialectReply:
    """Written unless `dry_run`, also where only the index knows a use: this surface has no word to choose."""
    answer = desk.ask("rename_symbol", new_name=ask.new_name, apply=not ask.dry_run, sites="both", **_where(desk, ask))

    def form(of: Answer[Any]) -> dict[str, Any]:
        edited = of.result.edited
        files = [{"file_path": absolute(desk.root, item.path), "edits": item.edits, "diff": item.diff} for item in edited.files]
        return {
            "old_name": of.result.old_name,
            "new_name": of.result.new_name,
            "applied": edited.applied,
            "edits": edited.edits,
            "files": files,
        }

    return desk.value(answer, form)


def _initialize_workspace(desk: Desk, ask: Code) -> DialectReply:
    """Starts the servers of the workspace's languages. The index answers what it can; they answer what it cannot."""
    answer = desk.ask("detect_lsp_servers", workspace_dir=str(desk.root))
    found = answer.result
    started: list[Any] = []
    if found.installed_servers:
        session = desk.ask("start_lsp")
        started = session.result.servers
        answer = _doubted(answer, *session.completeness.reasons) if session.completeness.reasons else answer
    value = {
        "workspace": str(desk.root),
        "languages": found.workspace_languages,
        "servers": [{"language": item.language, "server": item.server, "version": item.version} for item in found.installed_servers],
        "not_installed": found.not_installed,
        "started": [{"language": name, "server": item.name, "version": item.version} for item in started for name in item.languages],
        "answered_by": "index",
    }
    return desk.value(answer, lambda of: value)


_RUN = {
    "search_symbols": _search_symbols,
    "goto_definition": _goto_definition,
    "find_references": _find_references,
    "get_document_symbols": _get_document_symbols,
    "lookup_symbols": _lookup_symbols,
    "get_diagnostics": _get_diagnostics,
    "get_hover": _get_hover,
    "get_completions": _get_completions,
    "rename_symbol": _rename_symbol,
    "initialize_workspace": _initialize_workspace,
}


def _dispatch(desk: Desk, tool_name: str, arguments: dict[str, Any]) -> DialectReply:
    ask = _read(arguments)
    return _RUN[ask.operation](desk, ask)


def _parameter(kind: str, description: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more, "description": description}


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "operation": _parameter("string", "what to do", enum=list(NEEDED)),
        "file_path": _parameter("string", "absolute path of a source file; search_symbols: only in this file"),
        "row": _parameter("integer", "1-based line"),
        "column": _parameter("integer", "1-based column"),
        "symbol_name": _parameter("string", "search_symbols: the name"),
        "symbols": {"type": "array", "items": {"type": "string"}, "description": f"lookup_symbols: at most {_MAX_LOOKUPS} names"},
        "new_name": _parameter("string", "rename_symbol: the new name"),
        "dry_run": _parameter("boolean", "rename_symbol: show the edits only"),
        "show_source": _parameter("boolean", "goto_definition: with the source text"),
        "exact_match": _parameter("boolean", "search_symbols: the whole name only; default false"),
        "workspace_only": _parameter("boolean", "find_references: not in dependencies; default true"),
        "top_level_only": _parameter("boolean", "get_document_symbols: no members or nested functions; default true"),
        "language": _parameter("string", "search_symbols: only this language, in upper or lower case"),
        "symbol_type": _parameter(
            "string", "search_symbols: Function, Method, Class, Struct, Enum, Interface, Constant, Variable or Module"
        ),
        "limit": _parameter(
            "integer",
            f"search_symbols, get_completions: default and maximum {MAX_SYMBOLS}; find_references: default {DEFAULT_REFERENCES}, "
            f"maximum {MAX_REFERENCES}",
        ),
        "filter": _parameter("string", "get_completions: fuzzy filter"),
        "trigger_character": _parameter("string", "get_completions: the character that asked, e.g. a dot"),
    },
    "required": ["operation"],
}

_DESCRIPTION = """Code intelligence by meaning, not by text: symbols, definitions, references, diagnostics, types, renames, completions.

Use it before text search wherever a symbol is meant. Do not use it to read a file, to search literal text or to list folders. No \
initialization is needed: initialize_workspace starts servers early.

Operations (row and column 1-based; file_path absolute). search_symbols finds where something is DEFINED and needs no place; \
get_completions tells what is IN SCOPE at a place.
- search_symbols: {"operation": "search_symbols", "symbol_name": "Basket"}; within file_path, of one symbol_type or language too
- find_references: every use. {"operation": "find_references", "file_path": "/repo/src/shop.py", "row": 10, "column": 5}
- goto_definition: {"operation": "goto_definition", "file_path": "/repo/src/shop.py", "row": 42, "column": 9, "show_source": true}
- rename_symbol: in all files, written unless dry_run. \
{"operation": "rename_symbol", "file_path": "/repo/src/shop.py", "row": 10, "column": 5, "new_name": "sum_of", "dry_run": true}
- get_document_symbols: what a file defines. {"operation": "get_document_symbols", "file_path": "/repo/src/shop.py"}
- lookup_symbols: signature and documentation of names. {"operation": "lookup_symbols", "symbols": ["Basket", "Basket.total"]}
- get_diagnostics: errors and warnings. {"operation": "get_diagnostics", "file_path": "/repo/src/shop.py"}
- get_hover: type and documentation. {"operation": "get_hover", "file_path": "/repo/src/shop.py", "row": 12, "column": 9}
- get_completions: {"operation": "get_completions", "file_path": "/repo/src/shop.py", "row": 12, "column": 9, "filter": "get"}
- initialize_workspace: {"operation": "initialize_workspace"}

Field completeness says what an answer may lack."""

DIALECT = Dialect(
    "kiro",
    [
        DialectTool(
            name="code",
            description=_DESCRIPTION,
            input_schema=SCHEMA,
        )
    ],
    _dispatch,
)
