"""Symbols by name, or by words of names and documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from indexer.errors import UsageError
from indexer.model import SymbolKind
from indexer.servers.registry import is_test, language_of
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, printable
from query.context import Context, Workspace
from query.facts import symbol_search, word_search
from query.facts.dotted import dotted
from query.facts.parameters import MAX_INT, path_pattern
from query.facts.symbol_search import Matches, NameSearch
from query.facts.symbols import kind_numbers
from query.facts.texts import hovers_of
from query.facts.word_search import Term
from query.surface.registry import tool

if TYPE_CHECKING:
    from query.live.outline import Present

Match = Literal["auto", "exact", "prefix", "substring", "fuzzy", "words"]


class FindSymbol(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, msgspec.Meta(description="name, dotted name, or words of plain language; empty lists all")] = ""
    match: Annotated[
        Match,
        msgspec.Meta(
            description="auto: exact in any case, else prefix, substring, fuzzy; several words: words, of names and documentation"
        ),
    ] = "auto"
    kind: Annotated[list[str], msgspec.Meta(description="only these kinds, e.g. class, function, method, EnumMember")] = []
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob")] = ""
    language: Annotated[str, msgspec.Meta(description="only this language")] = ""
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="symbols of test files")] = "include"
    external: Annotated[bool, msgspec.Meta(description="also symbols of dependencies that the workspace refers to")] = False
    detail_level: Annotated[Literal["basic", "hover"], msgspec.Meta(description="hover: each symbol with the server's hover text")] = (
        "basic"
    )
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000, description="symbols shown, with hover where that is asked for")] = 50
    offset: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="skip so many; cursor goes before it")] = 0
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class FoundSymbol(SymbolRecord, kw_only=True, omit_defaults=True):
    """A symbol; `hover` only with detail_level hover, and where the index has one.

    words: of match words, those of the query that fit it; documentation: then its first line.
    """

    hover: str = ""
    words: list[str] = []
    documentation: str = ""


def _text(answer: Answer[list[FoundSymbol]], style: Style) -> Iterator[str]:
    for record in answer.result:
        yield style.symbol(record)
        if record.signature:
            yield f"    {style.signature(record.signature)}"
        if record.documentation:
            yield f"    {printable(record.documentation)}"
        for line in record.hover.split("\n") if record.hover else ():
            yield f"    {printable(line)}"
    if "documented" in answer.query:
        yield style.dim(
            f"looked through by words: {answer.query['documented']} symbols with documentation, the others by names and signatures"
        )


def _by_text(workspace: Workspace, ask: FindSymbol) -> Answer[list[FoundSymbol]]:
    from query.live import lookup
    from query.live.holding import texts_of
    from query.live.navigation import fits, is_test_file

    if not ask.query or ask.match in ("fuzzy", "words") or ask.external or ask.detail_level == "hover":
        raise UsageError("only an index tells this")
    attempts: dict[Match, Callable[[], list[tuple[str, Present]]]] = {
        "exact": lambda: lookup.exact(texts_of(workspace), ask.query),
        "prefix": lambda: lookup.containing(texts_of(workspace), ask.query, prefix=True),
        "substring": lambda: lookup.containing(texts_of(workspace), ask.query, prefix=False),
    }
    found: list[FoundSymbol] = []
    used: Match = "exact"
    kinds = {SymbolKind(kind).label for kind in kind_numbers(ask.kind)}
    for used in attempts if ask.match == "auto" else (ask.match,):
        found = [
            _found(path, item)
            for path, item in attempts[used]()
            if (not kinds or item.kind.replace("_", " ") in kinds)
            and fits(ask.path, path)
            and ask.language.lower() in ("", language_of(path))
            and (ask.tests == "include" or is_test_file(path) == (ask.tests == "only"))
        ]
        if found:
            break
    offset = offset_of(ask.cursor) if ask.cursor else ask.offset
    page = found[offset : offset + ask.limit]
    return workspace.answer(ask, page, page_of(offset, len(page), len(found)), more={"matched": used})


def _found(path: str, item: Present) -> FoundSymbol:
    line, col = item.selection.line + 1, item.selection.col + 1
    return FoundSymbol(
        symbol=f"{path}:{line}:{col}",
        name=item.dotted.rpartition(".")[2],
        qualified_name=item.dotted,
        kind=item.kind.replace("_", " "),
        path=path,
        line=line,
        col=col,
        end_line=item.span.end_line + 1,
        is_test=is_test(path, language_of(path)),
    )


@tool(
    "find_symbol",
    parameters=FindSymbol,
    result=list[FoundSymbol],
    positional="query",
    needs="",
    seldom="offset external detail_level language",
    example="symbols get_object_or",
    task="find",
    hint="search workspace symbol by name find class called named lookup which function does something that sends parses words",
    text=_text,
    by_text=_by_text,
)
def TOOL(context: Context, ask: FindSymbol) -> Answer[list[FoundSymbol]]:
    """Symbols by name (exact, prefix, substring, fuzzy), or by words of plain language that names and documentation have."""
    index = context.index
    terms = word_search.terms_of(ask.query) if ask.query and ask.match in ("auto", "words") else []
    by_words = ask.match == "words" or (ask.match == "auto" and len(terms) > 1 and len(ask.query.split()) > 1)
    attempts: list[symbol_search.Match] = ["exact", "substring"] if by_words else ["exact", "prefix", "substring", "fuzzy"]
    if ask.match not in ("auto", "words"):
        attempts = [ask.match]
    elif ask.match == "words":
        attempts = []
    if not ask.query:
        attempts = ["all"]
    wanted = NameSearch(
        name=ask.query,
        kinds=tuple(kind_numbers(ask.kind)),
        path=path_pattern(index, ask.path),
        language=ask.language,
        tests=ask.tests,
        external=ask.external,
        offset=offset_of(ask.cursor) if ask.cursor else ask.offset,
        limit=ask.limit,
        own_case=ask.match == "exact",
    )
    matches, used = Matches([], 0), attempts[0] if attempts else "all"
    for loose in (False, True) if "." in dotted(ask.query) else (False,):
        for attempt in attempts:
            if not matches.total:
                matches, used = symbol_search.search(index, wanted, attempt, loose=loose), attempt
    if not matches.total and terms and (by_words or ask.match == "auto"):
        return _by_words(context, ask, wanted, terms)
    hovers = hovers_of(index, [symbol.sym_id for symbol in matches.symbols]) if ask.detail_level == "hover" else {}
    found = [FoundSymbol(**msgspec.structs.asdict(symbol.record), hover=hovers.get(symbol.sym_id, "")) for symbol in matches.symbols]
    return context.answer(
        ask,
        found,
        page_of(wanted.offset, len(found), matches.total),
        context.certificate.of_workspace(["syntax"], language=ask.language.lower(), holds=_may_define(context, ask, used)),
        more={"matched": used if attempts else ask.match},
        language=ask.language.lower(),
    )


def _by_words(context: Context, ask: FindSymbol, wanted: NameSearch, terms: Sequence[Term]) -> Answer[list[FoundSymbol]]:
    """What words of the query fit. Which symbols have documentation is said, as the others are found by less."""
    matches = word_search.search(context.index, wanted, terms)
    hovers = hovers_of(context.index, [item.symbol.sym_id for item in matches.found]) if ask.detail_level == "hover" else {}
    found = [
        FoundSymbol(
            **msgspec.structs.asdict(item.symbol.record),
            hover=hovers.get(item.symbol.sym_id, ""),
            words=list(item.words),
            documentation=item.documentation,
        )
        for item in matches.found
    ]
    stems = [term.stem.encode() for term in terms]

    def may_define(path: str) -> bool:
        text = context.certificate.text(path)
        return text is None or any(not stem.isascii() or stem in text.lower() for stem in stems)

    more: list[Reason] = []
    if ask.external:
        detail = "of what lies outside the workspace only the beginning of its documentation is kept"
        more.append(Reason(code="documentation_shortened", detail=detail))
    return context.answer(
        ask,
        found,
        page_of(wanted.offset, len(found), matches.total),
        context.certificate.of_workspace(["syntax"], more, language=ask.language.lower(), holds=may_define),
        more={"matched": "words", "documented": f"{matches.documented} of {matches.searched}"},
        language=ask.language.lower(),
    )


def _may_define(context: Context, ask: FindSymbol, used: symbol_search.Match) -> Callable[[str], bool] | None:
    """Whether a file may define what was looked for, or may have: it has the text that the name has to have, or the index has such a name
    in it, which may be gone. None where any name would do.
    """
    part = dotted(ask.query).rpartition(".")[2].lower().encode()
    if used in ("all", "fuzzy") or not part.isascii():
        return None

    def may_define(path: str) -> bool:
        text = context.certificate.text(path)
        return text is None or part in text.lower() or symbol_search.is_any_in(context.index, path, part.decode())

    return may_define
