"""What depends on files or symbols that are about to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from indexer.errors import AmbiguousName, NameNotFound, UsageError
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, one_line
from query.context import Context
from query.facts import names
from query.facts.blast_radius import MAX_CALLERS, Caller, Changed, TestFunction, Totals, caller_lines, changed_line, measure, test_lines
from query.facts.completeness import DEFINITION
from query.facts.documents import contents
from query.facts.extents import symbols_of
from query.facts.index import Index
from query.facts.members import members_within
from query.facts.parameters import Named
from query.facts.symbols import TYPES, Symbol, symbols_by_id
from query.surface.registry import tool

_TRANSITIVE = 2


class BlastRadius(Named, kw_only=True):
    changed_files: Annotated[
        list[str], msgspec.Meta(description="files whose symbols are about to change; what is no file is taken for a symbol")
    ] = []
    symbols: Annotated[list[str], msgspec.Meta(description="symbols that are about to change, as `symbol` takes them")] = []
    include_transitive: Annotated[bool, msgspec.Meta(description="callers of the callers too; the same as depth 2")] = False
    depth: Annotated[int, msgspec.Meta(ge=0, le=20, description="1: direct uses, in tests too; 0: 1, or 2 with include_transitive")] = 0
    scope: Annotated[
        Literal["exported", "all"],
        msgspec.Meta(description="which symbols of a file or of a type count; a symbol that is named always does"),
    ] = "exported"
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="uses in tests")] = "include"
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="entries shown of each list")] = 50
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer; it continues every list")] = ""


class BlastRadiusResult(msgspec.Struct, kw_only=True):
    """One page of each list, most affected first. `totals` and `packages` are over everything. `warnings` repeat what may be missing."""

    summary: str
    totals: Totals
    packages: list[str]
    changed_symbols: list[Changed]
    non_test_callers: list[Caller]
    test_functions: list[TestFunction]
    test_files: list[str]
    warnings: list[str]


def _text(answer: Answer[BlastRadiusResult], style: Style) -> Iterator[str]:
    result, totals = answer.result, answer.result.totals
    yield result.summary
    lists = (
        ("changed symbols", totals.changed_symbols, [changed_line(row, style) for row in result.changed_symbols]),
        ("non-test callers", totals.non_test_callers, list(caller_lines(result.non_test_callers, style))),
        ("test functions", totals.test_functions, list(test_lines(result.test_functions, style))),
        ("test files", totals.test_files, [f"  {style.path(path)}" for path in result.test_files]),
    )
    for title, total, lines in lists:
        if lines:
            yield ""
            yield f"{title} ({len(lines)} of {total}):" if len(lines) < total else f"{title}:"
            yield from (line if line.startswith(" ") else f"  {line}" for line in lines)
    if result.packages:
        yield ""
        yield f"packages: {', '.join(one_line(name) for name in result.packages)}"
    for warning in result.warnings:
        yield f"{style.warning('warning')} {one_line(warning)}"


@tool(
    "blast_radius",
    parameters=BlastRadius,
    result=BlastRadiusResult,
    positional="changed_files",
    seldom="include_transitive depth symbol symbols",
    needs="",
    example="blast_radius shortcuts.py",
    task="impact",
    hint="before editing change a file what breaks break modify modifying impact affected dependents callers tests risk lock "
    "which modules depend on this one",
    text=_text,
)
def TOOL(context: Context, ask: BlastRadius) -> Answer[BlastRadiusResult]:
    """What uses the exported symbols of files, or symbols, up to `depth` steps away: callers outside tests, tests, risk of each."""
    index, certificate = context.index, context.certificate
    ids, paths, missing = _changed(index, ask)
    depth = ask.depth or (_TRANSITIVE if ask.include_transitive else 1)
    offset, limit = offset_of(ask.cursor), ask.limit
    found = measure(context.index, context.certificate, ids, depth=depth, tests=ask.tests, offset=offset, limit=limit)
    totals = found.totals
    longest = max(totals.changed_symbols, totals.non_test_callers, totals.test_functions, totals.test_files)
    about = paths[0] if len({path.rpartition(".")[2] for path in paths}) == 1 else ""
    completeness = certificate.of_uses(list(symbols_by_id(index, found.walked).values()), "callers", DEFINITION, [*missing, *found.doubts])
    warnings = [reason.detail for reason in missing]
    if found.capped:
        warnings.append(f"the search for callers of callers ended at {MAX_CALLERS}")
    if not ids and not missing:
        warnings.append(f"no {'exported ' if ask.scope == 'exported' else ''}symbols there; all of them: --scope all")
    return context.answer(
        ask,
        BlastRadiusResult(
            summary=found.summary(),
            totals=found.totals,
            packages=found.packages,
            changed_symbols=found.changed,
            non_test_callers=found.callers,
            test_functions=found.test_functions,
            test_files=found.test_files,
            warnings=warnings,
        ),
        page_of(offset, limit, longest, cut_short=found.capped),
        completeness,
        about=about,
    )


def _changed(index: Index, ask: BlastRadius) -> tuple[list[int], list[str], list[Reason]]:
    """Ids of what changes, the documents that it lies in, and what is not in the index."""
    named = [names.resolve(index, name) for name in ask.symbols]
    if ask.symbol or (ask.file_path and (ask.line or ask.position_pattern)):
        named.append(ask.resolve(index))
    files = list(ask.changed_files)
    if ask.file_path and not (ask.symbol or ask.line or ask.position_pattern):
        files.append(ask.file_path)
    if not files and not named:
        raise UsageError("name what changes: changed_files, symbols or symbol")
    paths: list[str] = []
    missing: list[Reason] = []
    for name in files:
        try:
            paths.append(names.document_path(index, name))
        except (NameNotFound, UsageError) as error:
            if (symbol := _symbol_called(index, name)) is not None:
                named.append(symbol)
                continue
            if len(files) == 1:
                raise
            missing.append(Reason(code="not_indexed", detail=str(error), count=1, paths=[name]))
    if not paths and not named:
        raise NameNotFound(f"none of the {len(files)} files is in the index; the first: {missing[0].detail}")
    paths += [symbol.record.path for symbol in named if _is_document(symbol)]
    ids = symbols_of(index, [item.doc_id for item in contents(index, paths).values()], ask.scope)
    for symbol in named:
        if not _is_document(symbol):
            ids.append(symbol.sym_id)
            ids += members_within(index, symbol.sym_id, ask.scope) if symbol.record.kind in (*TYPES, "module", "namespace") else []
    return list(dict.fromkeys(ids)), [*paths, *(symbol.record.path for symbol in named)], missing


def _symbol_called(index: Index, name: str) -> Symbol | None:
    """The symbol of a name that is no file; None where no symbol is called so.

    Raises:
        AmbiguousName: several are.
    """
    try:
        return names.resolve(index, name) if names.is_moniker(name) or "/" not in name else None
    except AmbiguousName:
        raise
    except (NameNotFound, UsageError):
        return None


def _is_document(symbol: Symbol) -> bool:
    return symbol.record.kind == "module" and not symbol.record.container and not symbol.record.external
