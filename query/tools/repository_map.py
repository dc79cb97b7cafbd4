"""A repository on one page: its folders, and the symbols that most files use, with their signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer, Completeness, completeness_from
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count, printable
from query.context import Context
from query.facts import ranks
from query.facts.completeness import DEFINITION
from query.facts.documents import Document
from query.facts.parameters import path_pattern
from query.facts.ranks import Ranked
from query.facts.symbols import Symbol
from query.surface.registry import tool

BUDGET = 6_500
"""With what is said on completeness about 8,000, which is what an agent is given at once."""

_MAX_FOLDERS = 16
_SMALL_BUDGET = 1_500
"""Of a map that is shorter, folders would take too much."""

_MAX_SIGNATURE = 110


class RepositoryMap(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[str, msgspec.Meta(description="only a folder, a file, or documents that match this glob")] = ""
    focus: Annotated[
        list[str], msgspec.Meta(description="symbols, files or folders that come first, then what they use and are used by")
    ] = []
    budget: Annotated[int, msgspec.Meta(ge=200, le=90_000, description="characters of the map as text, completeness not counted")] = BUDGET
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="symbols of tests, and uses in tests")] = "exclude"
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class MapSymbol(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol in its file; `files`: how many other files refer to it, or to a member of it.

    inside: it stands below the type before it, whose member it is. heading: it is here for its members only, and counts on another page.
    """

    symbol: str
    name: str
    kind: str
    line: int
    signature: str
    files: int
    inside: bool = False
    heading: bool = False


class MapFile(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A file with those of its `total` symbols that belong to this page, in the order of the text."""

    path: str
    total: int
    symbols: list[MapSymbol]
    is_test: bool = False


class MapFolder(msgspec.Struct, kw_only=True):
    """`files` in it and below, without those of the folders in the list."""

    path: str
    files: int


class Map(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Files in the order of their best symbol on this page. The answer's `total` is of symbols.

    files_total: files with symbols, of which `files` has some. folders: on the first page, unless the budget is small. tests, skipped:
    files that are not in the map: tests, where they are left out, and what was not read, by the reason.
    """

    files: list[MapFile]
    files_total: int
    folders: list[MapFolder] = []
    tests: int = 0
    skipped: dict[str, int] = {}


# ---- as text, whose length is the budget


def _text(answer: Answer[Map], style: Style) -> Iterator[str]:
    yield from _head(answer.result, style)
    for file in answer.result.files:
        yield _file_line(file.path, file.total, style, is_test=file.is_test)
        for item in file.symbols:
            yield _symbol_line(item, style)


def _head(found: Map, style: Style) -> Iterator[str]:
    parts = [count(found.files_total, "file") + " with symbols"]
    if found.tests:
        parts.append(f"{count(found.tests, 'test file')} left out (tests: include)")
    if found.skipped:
        parts.append("not read: " + ", ".join(f"{number} {reason.replace('_', ' ')}" for reason, number in found.skipped.items()))
    yield style.dim("; ".join(parts) + "; behind ← the number of other files that refer to it")
    if found.folders:
        yield style.dim("folders: ") + ", ".join(f"{style.path(folder.path)} {folder.files}" for folder in found.folders)


def _file_line(path: str, total: int, style: Style, *, is_test: bool) -> str:
    return f"{style.heading(path)}  {style.dim(count(total, 'symbol'))}{'  [test]' if is_test else ''}"


def _symbol_line(item: MapSymbol, style: Style) -> str:
    indent = "      " if item.inside else "  "
    return f"{indent}{item.line}  {printable(item.signature)}{f'  ← {item.files}' if item.files else ''}"


def _counted(answer: Answer[Map]) -> str:
    return count(answer.total, "symbol")


class _Page:
    """The part of the ranked list that fits: symbols one after another, until one does not."""

    def __init__(
        self, known: Mapping[int, Symbol], docs: Mapping[int, Document], totals: Mapping[int, int], ranks: Mapping[int, Ranked]
    ) -> None:
        self._known, self._docs, self._totals, self._ranks = known, docs, totals, ranks
        self._style = Style(compact=True)
        self._files: dict[int, dict[int, MapSymbol]] = {}
        self._own: set[int] = set()
        self.chars = 0

    def add(self, item: Ranked, room: int) -> bool:
        """Whether the symbol has found room; a member takes the line of its type with it, if that is in the same file."""
        file = self._files.get(item.doc_id, {})
        above = self._ranks.get(item.container) if item.container is not None else None
        inside = above is not None and above.doc_id == item.doc_id
        new = {} if item.sym_id in file else {item.sym_id: self._symbol(item, inside=inside)}
        if inside and above is not None and above.sym_id not in file:
            new[above.sym_id] = self._symbol(above, inside=False)
        lines = [_symbol_line(made, self._style) for made in new.values()]
        if not file:
            of = self._docs[item.doc_id]
            lines.append(_file_line(of.path, self._totals[item.doc_id], self._style, is_test=of.is_test))
        cost = sum(len(line) + 1 for line in lines)
        if self.chars + cost > room:
            return False
        self.chars += cost
        self._files.setdefault(item.doc_id, {}).update(new)
        self._own.add(item.sym_id)
        return True

    def _symbol(self, item: Ranked, *, inside: bool) -> MapSymbol:
        record = self._known[item.sym_id].record
        signature = " ".join(record.signature.split()) or f"{record.kind} {record.name}"
        if len(signature) > _MAX_SIGNATURE:
            signature = signature[: _MAX_SIGNATURE - 1] + "…"
        return MapSymbol(
            symbol=record.symbol,
            name=record.name,
            kind=record.kind,
            line=record.line,
            signature=signature,
            files=item.files,
            inside=inside,
        )

    def files(self) -> list[MapFile]:
        """A type before its members, each with what is below it, by line."""
        found: list[MapFile] = []
        for doc_id, items in self._files.items():
            of = self._docs[doc_id]

            def order(sym_id: int, items: Mapping[int, MapSymbol] = items) -> tuple[int, int, bool, int, int]:
                above = self._ranks[sym_id].container if items[sym_id].inside else None
                top = self._ranks[sym_id if above is None else above]
                return top.line, top.sym_id, items[sym_id].inside, items[sym_id].line, sym_id

            symbols = [msgspec.structs.replace(items[key], heading=key not in self._own) for key in sorted(items, key=order)]
            found.append(MapFile(path=of.path, total=self._totals[doc_id], symbols=symbols, is_test=of.is_test))
        return found


@tool(
    "repository_map",
    parameters=RepositoryMap,
    result=Map,
    positional="path",
    needs="",
    bare=True,
    example="map db/models",
    task="read",
    hint="overview codebase project architecture layout laid out tour most important central classes where to start reading onboarding",
    text=_text,
    counted=_counted,
)
def TOOL(context: Context, ask: RepositoryMap) -> Answer[Map]:
    """A map of the repository within a budget: folders, files and their most used symbols with signatures."""
    index = context.index
    path = path_pattern(index, ask.path)
    found = ranks.ranked(index, path, ask.tests, ask.focus)
    offset = offset_of(ask.cursor)
    apart = ranks.apart(index, path, ask.tests)
    totals = ranks.counts(found)
    made = Map(files=[], files_total=len(totals), tests=apart.tests, skipped=apart.skipped)
    if not offset and ask.budget >= _SMALL_BUDGET:
        made.folders = [MapFolder(path=folder, files=files) for folder, files in ranks.folders_of(index, path, ask.tests, _MAX_FOLDERS)]
    style = Style(compact=True)
    room = ask.budget - sum(len(line) + 1 for line in _head(made, style))
    if made.folders and room < ask.budget * 3 // 4:  # long names
        made.folders = []
        room = ask.budget - sum(len(line) + 1 for line in _head(made, style))
    candidates = found[offset : offset + max(1, room // 8)]  # no symbol takes less
    known, docs = ranks.described(index, candidates)
    page = _Page(known, docs, totals, {item.sym_id: item for item in found})
    shown = 0
    for item in candidates:
        if not page.add(item, room):
            break
        shown += 1
    if candidates and not shown:
        raise UsageError(f"a budget of {ask.budget} characters has no room for the first symbol; give more")
    made.files = page.files()
    completeness = _completeness(context, [known[item.sym_id] for item in candidates[:shown]], path)
    return context.answer(ask, made, page_of(offset, shown, len(found)), completeness)


def _completeness(context: Context, shown: Sequence[Symbol], path: str) -> Completeness:
    """The numbers are of references that were found, so the map lacks what they lack; a file that was not read may have more."""
    certificate = context.certificate

    def is_shown(other: str) -> bool:
        return other.startswith(path) or fnmatchcase(other, path)

    in_map = certificate.of_workspace(["syntax"], holds=is_shown if path else None)
    uses = certificate.of_uses(shown, "references", DEFINITION)
    told = {(reason.code, reason.detail) for reason in in_map.reasons}
    reasons = [*in_map.reasons, *(reason for reason in uses.reasons if (reason.code, reason.detail) not in told)]
    is_unknown = "unknown" in (in_map.status, uses.status)
    return Completeness(status="unknown", reasons=reasons) if is_unknown else completeness_from(reasons)
