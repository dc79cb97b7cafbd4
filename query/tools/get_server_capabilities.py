"""What the servers said they can do, and which tools that lets answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context, Workspace
from query.facts.coverage import CrawlServer, crawl_servers, states_of
from query.facts.documents import languages
from query.facts.index import Index
from query.surface.registry import names, tool

_DEFINITION = "textDocument/definition"
_HOVER = "textDocument/hover"
_DIAGNOSTIC = "textDocument/diagnostic"
_SUPERTYPES = "typeHierarchy/supertypes"

NEEDS: Mapping[str, tuple[str, ...]] = {
    "find_references": (_DEFINITION,),
    "get_cross_repo_references": (_DEFINITION,),
    "get_document_highlights": (_DEFINITION,),
    "find_callers": (_DEFINITION,),
    "blast_radius": (_DEFINITION,),
    "detect_changes": (_DEFINITION,),
    "get_tests_for_file": (_DEFINITION,),
    "explore_symbol": (_DEFINITION,),
    "get_editing_context": (_DEFINITION,),
    "unreferenced": (_DEFINITION,),
    "untested": (_DEFINITION,),
    "why": (_DEFINITION,),
    "inspect_symbol": (_HOVER,),
    "get_diagnostics": (_DIAGNOSTIC,),
    "type_hierarchy": (_DEFINITION, _SUPERTYPES),
    "go_to_implementation": (_DEFINITION, _SUPERTYPES),
    "go_to_type_definition": (_DEFINITION,),
}
"""Methods of the crawl that a tool's answers are made of; a tool that is not here needs the text alone."""

LIVE: Mapping[str, tuple[str, str]] = {
    "rename_symbol": ("renameProvider", "textDocument/rename"),
    "prepare_rename": ("renameProvider", "textDocument/rename"),
    "get_completions": ("completionProvider", "textDocument/completion"),
    "get_signature_help": ("signatureHelpProvider", "textDocument/signatureHelp"),
    "suggest_fixes": ("codeActionProvider", "textDocument/codeAction"),
    "execute_command": ("executeCommandProvider", "workspace/executeCommand"),
    "format_document": ("documentFormattingProvider", "textDocument/formatting"),
    "format_range": ("documentRangeFormattingProvider", "textDocument/rangeFormatting"),
    "get_semantic_tokens": ("semanticTokensProvider", "textDocument/semanticTokens"),
    "get_inlay_hints": ("inlayHintProvider", "textDocument/inlayHint"),
}
"""Tools that ask a running server: the capability that it must have, or the method that it registers later."""

_PARTLY = (_SUPERTYPES,)
"""Methods without which the text still tells something."""


class GetServerCapabilities(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    language: Annotated[str, msgspec.Meta(description="only the server of this language")] = ""
    live: Annotated[bool, msgspec.Meta(description="of the servers that run now, started if none does, in place of the crawl's")] = False


class ServerCapabilities(msgspec.Struct, kw_only=True):
    """A server as it was at the crawl. `capabilities`: what it answered to `initialize`.

    supported_tools: those whose answers this index has for its language, or that the server can give live; unsupported_tools: the
    others here, with the reason. partly: supported ones that lack something, with the reason. live: those of them that start a server.
    """

    server_name: str
    server_version: str
    language: str
    position_encoding: str
    supported_tools: list[str]
    unsupported_tools: dict[str, str]
    partly: dict[str, str]
    live: list[str]
    capabilities: dict[str, Any]


def _text(answer: Answer[list[ServerCapabilities]], style: Style) -> Iterator[str]:
    for item in answer.result:
        yield (
            style.heading(f"{item.server_name} {item.server_version}".strip()) + f"  {item.language}, {item.position_encoding or 'utf-16'}"
        )
        yield f"  supported: {', '.join(item.supported_tools)}"
        for title, listed in (("in part", item.partly), ("unsupported", item.unsupported_tools)):
            for name, why in listed.items():
                yield f"  {style.warning(title)}: {name}: {why}"
        if item.live:
            yield f"  of these start a server: {', '.join(item.live)}"
        yield f"  capabilities: {', '.join(sorted(item.capabilities))}"


def _live(workspace: Workspace, ask: GetServerCapabilities) -> Answer[list[ServerCapabilities]]:
    """What the servers that run now can do; those of a language, or of the workspace, are started where none does."""
    from indexer.lsp.capabilities import position_encoding
    from query.live.questions import by_servers

    index, language = workspace.index, ask.language.lower()
    running = [info for info in workspace.servers.running() if not language or language in info.languages]
    running = running or workspace.servers.start(language)
    result = [
        _server(index, of, info.name, info.version, position_encoding(info.capabilities), json.dumps(info.capabilities))
        for info in running
        for of in info.languages
        if not language or of == language
    ]
    return workspace.answer(
        ask,
        sorted(result, key=lambda item: item.language),
        all_of(len(result)),
        provenance=by_servers(running),
    )


@tool(
    "get_server_capabilities",
    parameters=GetServerCapabilities,
    result=list[ServerCapabilities],
    positional="",
    example="get_server_capabilities",
    task="index",
    hint="language server features supported unsupported tools initialize",
    text=_text,
    live=_live,
)
def TOOL(context: Context, ask: GetServerCapabilities) -> Answer[list[ServerCapabilities]]:
    """What each language server could do when the index was made, and which tools can answer for its language."""
    index = context.index
    language = ask.language.lower()
    known = crawl_servers(index)
    without = set(languages(index)) - {server.language for server in known}
    known += [CrawlServer(other, "", "", "", "{}") for other in without]
    result = [_server(index, *server) for server in sorted(known) if not language or server.language == language]
    return context.answer(ask, result, all_of(len(result)), context.certificate.of_workspace([], language=language), language=language)


def _server(index: Index | None, language: str, name: str, version: str, encoding: str, capabilities: str) -> ServerCapabilities:
    from indexer.lsp.capabilities import declares

    said: dict[str, Any] = json.loads(capabilities or "{}")
    states = states_of(index, language) if index is not None else {}
    supported: list[str] = []
    unsupported: dict[str, str] = {}
    partly: dict[str, str] = {}
    for tool_name in names():
        if tool_name in LIVE:
            if any(declares(said, key) for key in LIVE[tool_name]):
                supported.append(tool_name)
            else:
                unsupported[tool_name] = f"{name} has no {LIVE[tool_name][0]}" if name else "there was no language server"
            continue
        lacks = [(method, state) for method in NEEDS.get(tool_name, ()) if (state := states.get(method, "skipped")) != "done"]
        fatal = [f"{method} is {state} for {language}" for method, state in lacks if method not in _PARTLY and state != "in part"]
        if fatal:
            unsupported[tool_name] = "; ".join(fatal)
            continue
        supported.append(tool_name)
        if lacks:
            partly[tool_name] = "; ".join(f"{method} is {state} for {language}" for method, state in lacks)
    return ServerCapabilities(
        server_name=name,
        server_version=version,
        language=language,
        position_encoding=encoding,
        supported_tools=supported,
        unsupported_tools=unsupported,
        partly=partly,
        live=[tool_name for tool_name in supported if tool_name in LIVE],
        capabilities=said,
    )
