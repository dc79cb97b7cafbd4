"""From a dotted name to its places."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec

from indexer.errors import AmbiguousName, NameNotFound, UsageError
from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.context import Context
from query.facts import names
from query.facts.definitions import Definition, definition, text_of_definitions
from query.facts.dotted import named
from query.facts.families import languages_of
from query.facts.folders import folders
from query.facts.index import Index
from query.facts.parameters import NAME_HELP
from query.facts.sources import Sources
from query.facts.symbols import Symbol
from query.surface.registry import tool


class GoToSymbol(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    symbol_path: Annotated[str, msgspec.Meta(description=f"{NAME_HELP}, e.g. MyClass.method or pkg.Function")] = ""
    workspace_root: Annotated[str, msgspec.Meta(description="only below this folder of the workspace, or in the folder of this name")] = ""
    language: Annotated[str, msgspec.Meta(description="only symbols of this language")] = ""


@tool(
    "go_to_symbol",
    parameters=GoToSymbol,
    result=list[Definition],
    positional="symbol_path",
    example="go_to_symbol AppConfig.get_models",
    task="find",
    hint="navigate jump by dotted name path no file position",
    text=text_of_definitions,
)
def TOOL(context: Context, ask: GoToSymbol) -> Answer[list[Definition]]:
    """The places of a symbol by its dotted name, without a file or a position."""
    index = context.index
    prefix = _prefix(index, ask.workspace_root)
    symbol = _meant(index, ask, prefix)
    result = [definition(index, symbol, Sources(index))]
    return context.answer(
        ask,
        result,
        all_of(len(result[0].places)),
        context.certificate.of_documents([symbol.record.path], ["syntax"]),
        meant=symbol,
        about=symbol.record.path,
    )


def _meant(index: Index, ask: GoToSymbol, prefix: str) -> Symbol:
    """As everywhere; of several that the name fits, only those of the language and the folder count.

    Raises:
        AmbiguousName: several of these are left. NameNotFound: none.
    """

    def fits(symbol: Symbol) -> bool:
        path = symbol.record.path
        inside = path.startswith(prefix) if prefix else not ask.workspace_root or not path.startswith("../")
        return inside and (not ask.language or languages_of(index).get(path, "") == ask.language.lower())

    try:
        found = [names.resolve(index, ask.symbol_path)]
    except AmbiguousName as error:
        found = [symbol for symbol in named(index, ask.symbol_path) if fits(symbol)]
        if len(found) > 1:
            raise names.ambiguous(index, ask.symbol_path, found) from error
    if not found or not fits(found[0]):
        where = " ".join(filter(None, [ask.language, f"below '{ask.workspace_root}'" if ask.workspace_root else ""]))
        raise NameNotFound(f"'{ask.symbol_path}' names no symbol of {where}; without that filter: lspidx query symbols {ask.symbol_path}")
    return found[0]


def _prefix(index: Index, folder: str) -> str:
    """How paths below `folder` begin in the index; empty for the root."""
    if not folder:
        return ""
    known = folders(index)
    for item in known:
        if folder in (item.name, str(item.path(index.root))):
            return item.prefix
    path = os.path.normpath(os.path.join(index.root, folder))
    relative = os.path.relpath(os.path.realpath(path), os.path.realpath(index.root)).replace(os.sep, "/")
    if relative == ".":
        return ""
    beside = [item.prefix for item in known[1:]]
    if relative.startswith("..") and not (relative + "/").startswith(tuple(beside)):
        raise UsageError(f"'{folder}' is outside the workspace; its folders: {', '.join(item.name for item in known)}")
    return relative + "/"
