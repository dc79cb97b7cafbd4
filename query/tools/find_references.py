"""Where a symbol is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.paths import of_paths
from query.answers.style import Style, count, headline
from query.context import Context, Workspace
from query.facts import overloads
from query.facts.completeness import DEFINITION
from query.facts.gaps import registration
from query.facts.index import Index
from query.facts.names import callable_of, unambiguous
from query.facts.parameters import Live
from query.facts.references import Filtered, Reference, overridden_by, search
from query.facts.symbols import Symbol, symbols_by_id
from query.surface.registry import tool

if TYPE_CHECKING:
    from query.answers.envelope import Place
    from query.live.navigation import Asked
    from query.live.questions import Spot

_PAGE = 10_000


class FindReferences(Filtered, kw_only=True):
    group_by: Annotated[
        Literal["none", "file"], msgspec.Meta(description="file: one entry for each file, most references first, with the first place")
    ] = "none"
    workspace_only: Annotated[
        bool, msgspec.Meta(description="only files of the workspace; the index knows no others, a running server may")
    ] = True
    live: Live = False


class FoundReference(Reference, kw_only=True, omit_defaults=True):
    """A reference; grouped by file the first one of its file, and `count` says how many that has."""

    count: int = 0


def _text(answer: Answer[list[FoundReference]], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    if answer.query.get("group_by") != "file":
        yield from style.references(answer.result)
        return
    for item in answer.result:
        test = f"  {style.dim('[test]')}" if item.is_test else ""
        yield f"  {style.place(item.path, item.line, item.col)}  {count(item.count, 'reference')}{test}"


def _live(workspace: Workspace, ask: FindReferences) -> Answer[list[FoundReference]]:
    from query.live.by_words import around
    from query.live.navigation import enclosing, fits, is_outside, is_test_file

    if ask.role or ask.possible:
        raise UsageError("a running server tells no roles and no possible references: ask the index for those, without live")
    question, told, beyond, until = _by_words(workspace, ask) or (*_by_server(workspace, ask), None)
    number = Counter[str]()
    found: list[FoundReference] = []
    for place in told:
        if is_outside(place.path):  # as by the index, only files of the workspace are listed
            continue
        test = is_test_file(place.path)
        if (
            (ask.workspace_only and is_outside(place.path))
            or (ask.tests != "include" and test != (ask.tests == "only"))
            or not fits(ask.path, place.path)
        ):
            continue
        number[place.path] += 1
        if ask.group_by == "none" or number[place.path] == 1:
            found.append(
                FoundReference(
                    path=place.path, line=place.line, col=place.col, end_col=place.end_col, roles=[], enclosing="", evidence="live",
                    is_test=test, text=place.text,
                )
            )  # fmt: skip
    if ask.group_by == "file":
        found = [msgspec.structs.replace(item, count=number[item.path]) for item in found]
        found.sort(key=lambda item: (-item.count, item.path))
    offset = offset_of(ask.cursor)
    shown = found[offset : offset + ask.limit]
    if until is None:
        enclosed = enclosing(workspace, {item.path for item in shown})  # their files are read for it; the whole list may have too many
        names = [enclosed(item.path, item.line - 1, item.col - 1) for item in shown]
    else:
        places = [(item.path, item.line - 1, item.col - 1) for item in shown]
        names = [item.dotted if item is not None else "" for item in around(workspace, question, places, until)]
    shown = [msgspec.structs.replace(item, enclosing=name) for item, name in zip(shown, names, strict=True)]
    return question.answer(ask, shown, page_of(offset, len(shown), len(found)), reasons=beyond)


def _by_server(workspace: Workspace, ask: FindReferences) -> tuple[Asked, list[Place], list[Reason]]:
    """What the server itself calls references, by path and position, and why there may be more."""
    from indexer.lsp import methods
    from query.live.navigation import ask_server, found_places

    question = ask_server(workspace, ask, methods.TEXT_DOCUMENT_REFERENCES, {"context": {"includeDeclaration": ask.include_declaration}})
    told = sorted(found_places(workspace, question), key=lambda item: (item.path, item.line, item.col))
    return question, told, _known_beyond(workspace, question.spot, ask, {(place.path, place.line, place.col) for place in told})


def _by_words(workspace: Workspace, ask: FindReferences) -> tuple[Asked, list[Place], list[Reason], float] | None:
    """While the first index is made: what the time allows, and when it is over.

    None where the server does not tell what is meant, or where its own are wanted.
    """
    from query.live import by_words

    if not workspace.is_indexing or ask.live:
        return None
    question, uses = by_words.asked(workspace, ask, declarations=ask.include_declaration)
    return None if uses is None else (question, uses.places, [uses.reason], uses.until)


def _known_beyond(workspace: Workspace, spot: Spot, ask: FindReferences, told: Collection[tuple[str, int, int]]) -> list[Reason]:
    """Uses that the index knows, in files that are as indexed, and that the server does not tell: ty tells none by another name."""
    from query.facts.freshness import is_as_indexed
    from query.refactor.rename import symbols_at

    index = workspace.index
    if index is None:
        return []
    wanted = msgspec.structs.replace(ask, live=False, group_by="none", limit=_PAGE, cursor="")
    places = [place for symbol in symbols_at(index, spot) for _, place in search(index, symbol, wanted).page]
    beyond = [place.path for place in places if (place.path, place.line, place.col) not in told and is_as_indexed(index, place.path)]
    if not beyond:
        return []
    detail = f"{count(len(beyond), 'use')} that the index knows and the server does not tell; to list what the index knows: without live"
    return [of_paths("index_knows_more", detail, list(dict.fromkeys(beyond)), len(beyond))]


@tool(
    "find_references",
    parameters=FindReferences,
    result=list[FoundReference],
    positional="symbol",
    seldom="include_declaration group_by workspace_only live",
    example="references AppConfig.get_models",
    task="impact",
    hint="usages uses where used written to read from everywhere show all occurrences of a variable field function setting",
    text=_text,
    live=_live,
)
def TOOL(context: Context, ask: FindReferences) -> Answer[list[FoundReference]]:
    """All uses of a symbol in the workspace, definitions first, then by path and position."""
    index = context.index
    symbol = ask.resolve(index)
    if symbol.record.kind == "variable":
        symbol = callable_of(index, symbol)
    offset = offset_of(ask.cursor)
    if ask.group_by == "file":
        files = _by_file(index, symbol, ask)
        total, page = len(files), files[offset : offset + ask.limit]
    else:
        found = search(index, symbol, ask)
        total, page = found.total, [FoundReference(**msgspec.structs.asdict(reference)) for _, reference in found.page]
    shown = len(page)
    return context.answer(
        ask,
        page,
        page_of(offset, shown, total),
        context.certificate.of_uses([symbol], "references", DEFINITION, typed=lambda: unambiguous(index, symbol)),
        meant=symbol,
        about=symbol.record.path,
        beside=[*overloads.beside(index, symbol), *(_through_bases(index, symbol) or ([] if total else _without_names(index, symbol)))],
    )


def _through_bases(index: Index, symbol: Symbol) -> list[str]:
    """What is written of a base's member and may be this one when it runs; such a use names the base's."""
    if symbol.record.kind not in ("method", "property"):
        return []
    found = {item.sym_id: item for item in overridden_by(index, symbol.sym_id) if item.references or item.external}
    said: list[str] = []
    for sym_id, above in sorted(symbols_by_id(index, sorted(found)).items()):
        item, name = found[sym_id], above.record.qualified_name
        where = f", {count(item.references, 'reference')}" if item.references else ""
        outside = ", outside of the workspace, whose code may call it" if item.external else ""
        said.append(
            f"it overrides {name}{outside}{where}: what names that one may mean this one when it runs (callers, or references {name})"
        )
    return said


def _without_names(index: Index, symbol: Symbol) -> list[str]:
    """Why what nothing refers to may be called all the same."""
    return [f"it may be called without being named: {reason.detail}" for reason in registration.of_symbols(index, [symbol.sym_id])]


def _by_file(index: Index, symbol: Symbol, ask: FindReferences) -> list[FoundReference]:
    """The first reference of every file with the number of all, the file with most first."""
    first: dict[str, Reference] = {}
    number: Counter[str] = Counter()
    cursor: str | None = ""
    while cursor is not None:
        found = search(index, symbol, msgspec.structs.replace(ask, limit=_PAGE, cursor=cursor))
        for _, reference in found.page:
            number[reference.path] += 1
            before = first.setdefault(reference.path, reference)
            if (reference.line, reference.col) < (before.line, before.col):
                first[reference.path] = reference
        cursor = page_of(offset_of(cursor), len(found.page), found.total).next_cursor if found.page else None
    return [
        FoundReference(**msgspec.structs.asdict(first[path]), count=number[path])
        for path in sorted(number, key=lambda path: (-number[path], path))
    ]
