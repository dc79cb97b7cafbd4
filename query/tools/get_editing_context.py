"""All that one needs to know of a file before editing it, in one answer."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec

from indexer.text import blob_digest
from query.answers.envelope import Answer
from query.answers.pages import Extent, all_of, offset_of
from query.answers.style import Style, count, printable
from query.context import Context
from query.facts import sync_guards
from query.facts.calls import callees_of
from query.facts.completeness import DEFINITION, finished_at
from query.facts.documents import Document, contents, documents, held_now, sizes_of
from query.facts.families import languages_of
from query.facts.freshness import is_as_indexed
from query.facts.imports import Import, imports_of
from query.facts.index import Index
from query.facts.names import document_path
from query.facts.outline import Span, spans
from query.facts.risk import Risk, risks
from query.facts.sources import Sources
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.uses import Use, uses_of
from query.surface.registry import tool

CHARS_PER_TOKEN = 4

_FORMAT = "1"
"""Part of the etag: an answer of another form is another answer."""

_MIN_BUDGET = 500
_FLOOR = 1_000
"""Tokens of an answer about a small file: fewer hardly have room for its symbols."""
_MAX_NESTING = 20
_COMPACT = Style(compact=True)
"""How agents read the answer, and so what its size is reckoned by."""
_CERTIFICATE_CHARS = 400


class GetEditingContext(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[str, msgspec.Meta(description="document, relative to the workspace root or to here, or absolute")] = ""
    if_none_match: Annotated[str, msgspec.Meta(description="etag of an earlier answer: if it still holds, not_modified is all")] = ""
    limit: Annotated[int, msgspec.Meta(ge=0, le=1_000, description="callers and callees shown of each symbol; counts are exact")] = 5
    budget: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            description="tokens (characters / 4) that the answer's text may have: fewer callers, then fewer symbols; "
            f"0: as many as the file has, at least {_FLOOR}",
        ),
    ] = 0
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class Caller(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A function or module that uses the symbol: its first use, 1-based, and how many it has. `how`: call, or reference only."""

    name: str
    path: str
    line: int
    uses: int
    how: str = "call"


class Callee(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the function calls, where that is defined (no line outside the workspace), and how often."""

    name: str
    path: str
    line: int = 0
    uses: int = 1


class SymbolContext(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol of the file, lines 1-based; `name` with the types and functions of the file around it, `path:line` means it to any tool.

    Callers by rank: those that call before those that only name it, other files before this one, then by number of uses.
    declared: it is defined in another document. risk: high, medium, low or unknown, by callers outside tests; see risk_reasons.
    """

    name: str
    kind: str
    line: int
    end_line: int
    signature: str = ""
    exported: bool = False
    declared: bool = False
    sync_guarded: bool = False
    risk: str = ""
    risk_reasons: list[str] = []
    non_test_caller_count: int = 0
    test_caller_count: int = 0
    callee_count: int = 0
    non_test_callers: list[Caller] = []
    test_callers: list[Caller] = []
    callees: list[Callee] = []


class TokenSavings(msgspec.Struct, kw_only=True):
    """Tokens by `estimate`: of this answer's compact text, of the whole file, and of all files that hold what the answer tells of."""

    returned: int
    whole_file: int
    files_to_read: int
    files: int
    estimate: str = f"characters / {CHARS_PER_TOKEN}"


class ContextMeta(msgspec.Struct, kw_only=True):
    token_savings: TokenSavings


class EditingContext(msgspec.Struct, kw_only=True, rename={"meta": "_meta"}):
    """A file's symbols in the order of the text, its imports, and who depends on it.

    etag: changes with the file, with the index (callers live in other files), with the work tree where it differs from the index, and
    with the parameters. not_modified: if_none_match still holds, all else is left out.
    """

    path: str
    language: str
    etag: str
    not_modified: bool
    imports: list[Import]
    symbols: list[SymbolContext]
    meta: ContextMeta


def _text(answer: Answer[EditingContext], style: Style) -> Iterator[str]:
    item = answer.result
    yield from _head(item, style)
    if item.not_modified:
        yield "not modified"
        return
    for symbol in item.symbols:
        yield from _lines(item.path, symbol, style)
    saved = item.meta.token_savings
    files = count(saved.files, "file")
    yield f"about {saved.returned} tokens; the file {saved.whole_file}, all {files} told of {saved.files_to_read} ({saved.estimate})"


def _head(item: EditingContext, style: Style) -> Iterator[str]:
    yield f"{style.heading(item.path)}  {item.language}  etag {item.etag}"
    for line in item.imports:
        unresolved = "" if line.resolved else f"  {style.warning('[unresolved]')}"
        meant = ", ".join(dict.fromkeys(name.path for name in line.names if name.path))
        shown = line.text or ", ".join(name.name for name in line.names)
        note = f"  {style.dim(f'→ {meant}')}" if meant else ""
        yield f"  {style.below(item.path, line.line, 1)}  {printable(shown)}{note}{unresolved}"


def _lines(path: str, symbol: SymbolContext, style: Style) -> Iterator[str]:
    marks = [
        *(["exported"] if symbol.exported else []),
        *(["defined elsewhere"] if symbol.declared else []),
        *([f"risk {symbol.risk}: {', '.join(symbol.risk_reasons)}"] if symbol.risk else []),
        *(["sync guarded"] if symbol.sync_guarded else []),
    ]
    yield ""
    lines = f"{symbol.line}-{symbol.end_line}" if style.compact else style.place(path, symbol.line)
    yield f"{lines}  {style.kind(symbol.kind)} {style.strong(symbol.name)}  {style.dim('[' + '; '.join(marks) + ']')}"
    if symbol.signature:
        yield f"  {style.signature(symbol.signature)}"
    yield from _callers(style, "callers", symbol.non_test_callers, symbol.non_test_caller_count)
    yield from _callers(style, "test callers", symbol.test_callers, symbol.test_caller_count)
    if symbol.callee_count:
        yield f"  callees: {symbol.callee_count}"
    for callee in symbol.callees:
        yield f"    {style.place(callee.path, callee.line)}  {printable(callee.name)}{f' ×{callee.uses}' if callee.uses > 1 else ''}"


def _callers(style: Style, title: str, callers: list[Caller], number: int) -> Iterator[str]:
    if number:
        yield f"  {title}: {number}"
    for caller in callers:
        notes = [*([f"×{caller.uses}"] if caller.uses > 1 else []), *([caller.how] if caller.how != "call" else [])]
        yield f"    {style.place(caller.path, caller.line)}  {printable(caller.name)} {style.dim(' '.join(notes))}".rstrip()


@tool(
    "get_editing_context",
    parameters=GetEditingContext,
    result=EditingContext,
    positional="file_path",
    seldom="if_none_match",
    example="get_editing_context shortcuts.py",
    task="read",
    hint="before edit file symbols signatures callers callees imports risk tests etag everything should know changing",
    text=_text,
)
def TOOL(context: Context, ask: GetEditingContext) -> Answer[EditingContext]:
    """Before editing a file: its symbols with signatures and risk, their callers in and outside tests, callees and imports."""
    index = context.index
    path = document_path(index, ask.file_path)
    language = languages_of(index).get(path, "")
    etag = _etag(context, ask, path)
    result = EditingContext(
        path=path, language=language, etag=etag, not_modified=ask.if_none_match.strip('"') == etag, imports=[], symbols=[],
        meta=ContextMeta(token_savings=TokenSavings(returned=0, whole_file=0, files_to_read=0, files=0)),
    )  # fmt: skip
    extent = all_of(0)
    symbols: list[Symbol] = []
    if not result.not_modified:
        facts = _facts(context, path)
        symbols = facts.symbols
        imports = [] if ask.cursor else imports_of(index, path, Sources(index))
        result = msgspec.structs.replace(result, imports=imports)
        budget = max(ask.budget, _MIN_BUDGET) if ask.budget else max(sizes_of(index, [path]).get(path, 0) // CHARS_PER_TOKEN, _FLOOR)
        chars = budget * CHARS_PER_TOKEN
        result, following = _within(chars, result, facts, _Page.of(ask), begins=not ask.cursor)
        extent = Extent(len(symbols), following is not None, str(following) if following else None)
    saved = _savings(index, path, result)
    return context.answer(
        ask,
        msgspec.structs.replace(result, meta=ContextMeta(token_savings=saved)),
        extent,
        context.certificate.of_rows(symbols, DEFINITION) if symbols else context.certificate.of_documents([path], DEFINITION),
        more={"file_path": path},
        about=path,
    )


def _etag(context: Context, ask: GetEditingContext, path: str) -> str:
    """Of all that the answer is made of: the file, the index, where the work tree has left it, and what was asked for."""
    index = context.index
    digest = contents(index, [path])[path].digest
    if not is_as_indexed(index, path):
        content = held_now(index, path)
        digest = "" if content is None else blob_digest(content)
    parts = [
        _FORMAT,
        path,
        digest,
        index.meta.get("generation", ""),
        index.meta.get("recipe", ""),
        finished_at(index),
        *context.certificate.drift.paths,
    ]
    parts += [str(ask.limit), str(ask.budget), ask.cursor]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


class _Facts(NamedTuple):
    """Of all symbols of a file. Callers and callees are ranked; the lists are whole."""

    symbols: list[Symbol]
    names: dict[int, str]  # within the file
    spans: dict[int, Span]
    callers: dict[int, list[tuple[bool, Caller]]]  # in a test
    callees: dict[int, list[Callee]]
    risks: dict[int, Risk]
    guarded: set[int]

    def split(self, sym_id: int) -> tuple[list[Caller], list[Caller]]:
        """Its callers outside of tests, and those in tests."""
        callers = self.callers.get(sym_id, [])
        return [caller for is_test, caller in callers if not is_test], [caller for is_test, caller in callers if is_test]

    def most(self, sym_id: int) -> int:
        """How long the longest of its lists is."""
        return max(map(len, (*self.split(sym_id), self.callees.get(sym_id, []))))


def _facts(context: Context, path: str) -> _Facts:
    """By one statement per kind of fact, whatever the number of symbols."""
    index = context.index
    found = spans(index, path)
    ids = sorted(found)
    uses = uses_of(index, ids, dispatch=True)
    calls = callees_of(index, ids)
    known = symbols_by_id(index, sorted({*ids, *(use.holder for use in uses), *(callee for called in calls.values() for callee in called)}))
    docs = documents(index, {use.doc_id for use in uses})
    symbols = sorted((known[sym_id] for sym_id in ids), key=lambda symbol: (found[symbol.sym_id].first, symbol.record.col, symbol.sym_id))
    return _Facts(
        symbols=symbols,
        names=_names(symbols),
        spans=found,
        callers=_ranked(path, uses, docs, known),
        callees={caller: _callees(called, known) for caller, called in calls.items()},
        risks=risks(index, context.certificate, ids, uses),
        guarded=sync_guards.guarded(index, ids),
    )


def _callees(called: Mapping[int, int], known: Mapping[int, Symbol]) -> list[Callee]:
    """By rank: what is defined in the workspace before the rest, then by number of calls."""
    records = ((known[sym_id].record, number) for sym_id, number in called.items())
    found = [Callee(name=record.qualified_name, path=record.path, line=record.line, uses=number) for record, number in records]
    return sorted(found, key=lambda item: (not item.line, -item.uses, item.path, item.line, item.name))


def _names(symbols: Sequence[Symbol]) -> dict[int, str]:
    """By symbol: its name after those of the symbols of the file that it lies in."""
    by_moniker = {symbol.record.symbol: symbol.record for symbol in symbols}
    found: dict[int, str] = {}
    for symbol in symbols:
        name, around = symbol.record.name, by_moniker.get(symbol.record.container)
        for _ in range(_MAX_NESTING):
            if around is None:
                break
            name, around = f"{around.name}.{name}", by_moniker.get(around.container)
        found[symbol.sym_id] = name
    return found


def _ranked(
    path: str, uses: Sequence[Use], documents: dict[int, Document], known: dict[int, Symbol]
) -> dict[int, list[tuple[bool, Caller]]]:
    """Callers by symbol; an import alone makes no caller."""
    first: dict[tuple[int, int], Use] = {}
    number: Counter[tuple[int, int]] = Counter()
    calling: set[tuple[int, int]] = set()
    for use in uses:
        if use.relation == "import":
            continue
        key = (use.sym_id, use.holder)
        first.setdefault(key, use)
        number[key] += 1
        if use.relation == "call":
            calling.add(key)
    found: dict[int, list[tuple[bool, Caller]]] = {}
    for key, use in first.items():
        holder = known.get(use.holder)
        how = "reference" if key not in calling else "override" if use.dispatch else "call"
        name = holder.record.qualified_name if holder else ""
        caller = Caller(name=name, path=documents[use.doc_id].path, line=use.line + 1, uses=number[key], how=how)
        found.setdefault(use.sym_id, []).append((use.is_test, caller))
    for listed in found.values():
        listed.sort(key=lambda item: (item[1].how != "call", item[1].path == path, -item[1].uses, item[1].path, item[1].line, item[1].name))
    return found


class _Page(NamedTuple):
    """Where an answer goes on: with this symbol of the file and this caller of each symbol; every page tells so many callers of each."""

    symbol: int
    caller: int
    limit: int

    @classmethod
    def of(cls, ask: GetEditingContext) -> _Page:
        """As the cursor says.

        Raises:
            UsageError: no answer gave it out.
        """
        if not ask.cursor:
            return cls(0, 0, ask.limit)
        symbol, caller, limit = ([*ask.cursor.split("-"), "", ""])[:3]
        return cls(offset_of(symbol), offset_of(caller), offset_of(limit))

    def __str__(self) -> str:
        return f"{self.symbol}-{self.caller}-{self.limit}"


def _within(chars: int, result: EditingContext, facts: _Facts, page: _Page, *, begins: bool) -> tuple[EditingContext, _Page | None]:
    """The answer with as many callers of each symbol, then as many symbols, as `chars` of its text have room for; and what follows.

    The first page (`begins`) says for all others how many callers are told of each symbol. Those beyond come when all symbols were told.
    """
    around = _length(_text_around(result))
    while True:
        told = [
            (number, symbol)
            for number, symbol in enumerate(facts.symbols[page.symbol :], page.symbol)
            if not page.caller or facts.most(symbol.sym_id) > page.caller
        ]
        symbols = [_symbol(facts, symbol, slice(page.caller, page.caller + page.limit)) for _, symbol in told]
        lengths = [_length(_lines(result.path, symbol, _COMPACT)) for symbol in symbols]
        if not begins or page.limit <= 1 or around + sum(lengths) <= chars:
            break
        page = page._replace(limit=page.limit // 2)  # the first caller is worth more than a further symbol
    used, shown = around, 0
    for length in lengths:
        used += length
        if used > chars and shown:
            break
        shown += 1
    result = msgspec.structs.replace(result, symbols=symbols[:shown])
    if shown < len(told):
        return result, page._replace(symbol=told[shown][0])
    further = page.caller + page.limit
    if page.limit and any(facts.most(symbol.sym_id) > further for symbol in facts.symbols):
        return result, _Page(0, further, page.limit)
    return result, None


def _text_around(result: EditingContext) -> Iterator[str]:
    """What an answer about the file says beside its symbols; the certificate and the line of sizes are reckoned in."""
    yield from _head(result, _COMPACT)
    yield " " * _CERTIFICATE_CHARS


def _length(lines: Iterator[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _symbol(facts: _Facts, symbol: Symbol, page: slice) -> SymbolContext:
    sym_id, record = symbol.sym_id, symbol.record
    span = facts.spans[sym_id]
    outside, tests = facts.split(sym_id)
    callees = facts.callees.get(sym_id, [])
    risk = facts.risks.get(sym_id)
    return SymbolContext(
        name=facts.names[sym_id],
        kind=record.kind,
        line=span.first + 1,
        end_line=span.last + 1,
        signature=record.signature,
        exported=record.exported,
        declared=span.declared,
        sync_guarded=sym_id in facts.guarded,
        risk=risk.level if risk else "",
        risk_reasons=list(risk.reasons) if risk else [],
        non_test_caller_count=len(outside),
        test_caller_count=len(tests),
        callee_count=len(callees),
        non_test_callers=outside[page],
        test_callers=tests[page],
        callees=callees[page],
    )


def _savings(index: Index, path: str, result: EditingContext) -> TokenSavings:
    """Sizes are those of the files as indexed, one byte for a character."""
    told: set[str] = {path}
    for symbol in result.symbols:
        told.update(caller.path for caller in (*symbol.non_test_callers, *symbol.test_callers))
        told.update(callee.path for callee in symbol.callees if callee.line)
    sizes = sizes_of(index, told)
    return TokenSavings(
        returned=(_length(_text_around(result)) + sum(_length(_lines(path, symbol, _COMPACT)) for symbol in result.symbols))
        // CHARS_PER_TOKEN,
        whole_file=sizes.get(path, 0) // CHARS_PER_TOKEN,
        files_to_read=sum(sizes.values()) // CHARS_PER_TOKEN,
        files=len(told),
    )
