"""Lists of the whole index, as the tools give them: what is unresolved, unreferenced, untested; the names that a search finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from indexer.model import SymbolKind
from indexer.quoting import one_line
from query.answers.envelope import Answer, SymbolRecord
from query.facts import linked
from query.facts.symbols import ids_of_monikers
from query.pages import names
from query.pages.book import Book
from query.pages.folders import whole_map
from query.pages.markup import Html, Page, el, join, number, standing, text
from query.surface.registry import call

MOST = 1_000
_MOST_HITS = 200


def _asked(book: Book, tool: str, **arguments: Any) -> Answer[Any]:
    return call(book.index, tool, arguments, certificate=lambda _: book.certificate)


def _standing(book: Book, page: str, answer: Answer[Any], command: str) -> Html:
    return standing(answer.completeness, command, lambda path: book.to_file(page, path))


def _cut(answer: Answer[Any], shown: int, command: str) -> Html:
    if not answer.truncated:
        return Html()
    return el("p", f"The first {shown:,} of {answer.total:,}; the others: ", el("code", f"{command} --limit 10000"), class_="cut")


def _keys(book: Book, records: list[SymbolRecord]) -> dict[str, int]:
    """By moniker the key that is the name of the symbol's page."""
    ids = ids_of_monikers(book.index, [record.symbol for record in records])
    found = linked.described(book.index, set(ids.values()))
    return {moniker: found[sym_id].key for moniker, sym_id in ids.items() if sym_id in found and not found[sym_id].is_local}


def _symbol(page: str, record: SymbolRecord, keys: Mapping[str, int]) -> Html:
    name = text(record.qualified_name)
    key = keys.get(record.symbol)
    shown = el("a", name, href=names.relative(page, names.of_symbol(key))) if key is not None else el("code", name)
    return join([el("span", record.kind, class_="kind"), " ", shown])


def _place(book: Book, page: str, record: SymbolRecord) -> Html:
    return el("code", record.path) if record.external else book.to_file(page, record.path, record.line)


def _table(words: tuple[str, ...], rows: list[Html]) -> Html:
    if not rows:
        return el("p", "There are none.", class_="count")
    head = el("tr", *(el("th", word, scope="col") for word in words))
    return el("div", el("table", el("thead", head), el("tbody", *rows)), class_="wide")


def unresolved(book: Book) -> Page:
    """Files with identifiers that nobody could resolve; in the text of a file they are marked."""
    page = names.UNRESOLVED
    answer = _asked(book, "index_status")
    counts = linked.unresolved_counts(book.index)
    rows = [
        el("tr", el("td", book.to_file(page, path)), el("td", f"{count:,}", class_="num"), el("td", _first(book, page, doc_id)))
        for doc_id, path, count in counts[:MOST]
    ]
    found = answer.result
    total = f"{found.unresolved_identifiers:,} identifiers in {number(len(counts), 'file')}, {found.unresolved_imports:,} imports"
    intro = "Names whose meaning no server could tell. Each may be a use of what has its name: lists that it may belong to say so."
    parts = [
        el("h1", "Unresolved identifiers"),
        el("p", intro, class_="place"),
        _standing(book, page, answer, "lspidx status"),
        el("p", total, class_="count"),
        _table(("file", "how many", "the first of them"), rows),
    ]
    if len(counts) > MOST:
        parts.append(el("p", f"The first {MOST:,} of {len(counts):,} files.", class_="cut"))
    return Page(name=page, title="Unresolved identifiers", body=join(parts))


def _first(book: Book, page: str, doc_id: int) -> Html:
    seen: dict[str, linked.Unresolved] = {}
    for row in linked.unresolved(book.index, doc_id):
        seen.setdefault(row.name, row)
        if len(seen) == 8:
            break
    return join([book.to_file(page, row.path, row.line + 1, el("code", row.name)) for row in seen.values()], ", ")


def unreferenced(book: Book) -> Page:
    page, command = names.UNREFERENCED, "lspidx query unreferenced"
    intro = "What nothing in the workspace refers to, public names left out. `maybe` rows say what may use them all the same."
    answer = _asked(book, "unreferenced", limit=MOST)
    keys = _keys(book, [row.symbol for row in answer.result])
    rows = [
        el(
            "tr",
            el("td", _symbol(page, row.symbol, keys)),
            el("td", _place(book, page, row.symbol)),
            el("td", row.confidence, ": ", ", ".join(row.reasons)),
            el("td", f"{row.lines:,}", class_="num"),
        )
        for row in answer.result
    ]
    parts = [
        el("h1", "Unreferenced symbols"),
        el("p", intro, class_="place"),
        _standing(book, page, answer, command),
        el("p", number(answer.total, "symbol"), class_="count"),
        _table(("symbol", "where", "how certain", "lines"), rows),
        _cut(answer, len(rows), command),
    ]
    return Page(name=page, title="Unreferenced symbols", body=join(parts))


def untested(book: Book) -> Page:
    page, command = names.UNTESTED, "lspidx query untested"
    answer = _asked(book, "untested", limit=MOST)
    found = answer.result.symbols
    keys = _keys(book, [row.symbol for row in found])
    rows = [
        el(
            "tr",
            el("td", _symbol(page, row.symbol, keys)),
            el("td", _place(book, page, row.symbol)),
            el("td", f"{row.callers:,}", class_="num"),
            el("td", f"{row.lines:,}", class_="num"),
        )
        for row in found
    ]
    parts = [
        el("h1", "Untested symbols"),
        el("p", answer.result.summary, class_="place"),
        _standing(book, page, answer, command),
        _table(("symbol", "where", "callers", "lines"), rows),
        _cut(answer, len(rows), command),
    ]
    return Page(name=page, title="Untested symbols", body=join(parts))


PAGES: Mapping[str, Callable[[Book], Page]] = {
    names.MAP: whole_map,
    names.UNRESOLVED: unresolved,
    names.UNREFERENCED: unreferenced,
    names.UNTESTED: untested,
}


# ---- search


def hits(book: Book, query: str) -> Page:
    """What a search finds, for who has no script: `find_symbol` ranks."""
    page = names.SEARCH
    wanted = query.strip()[:200]
    body = [el("h1", f"Names like “{wanted}”" if wanted else "Search")]
    form = el(
        "form", el("label", "Name ", el("input", name="q", type="search", value=wanted)), " ", el("button", "Search"), class_="inline"
    )
    body.append(form)
    if wanted:
        answer = _asked(book, "find_symbol", query=wanted, limit=_MOST_HITS)
        records: list[SymbolRecord] = list(answer.result)
        keys = _keys(book, records)
        rows = [el("tr", el("td", _symbol(page, row, keys)), el("td", _place(book, page, row))) for row in records]
        body += [
            _standing(book, page, answer, "lspidx query find_symbol NAME"),
            el("p", f"{number(answer.total, 'symbol')}", class_="count"),
            _table(("symbol", "where"), rows),
        ]
    return Page(name=page, title="Search", body=join(body))


def names_script(book: Book) -> str:
    """The names that the script searches: a call with JSON, all of it ASCII. It is a script so that `file:` may load it.

    Of each symbol: its name, what it lies in, its kind, its file and line; of files the path.
    """
    kinds = [kind.label for kind in SymbolKind]
    number_of = {int(kind): place for place, kind in enumerate(SymbolKind)}
    paths = [file.path for file in book.files]
    place_of = {path: place for place, path in enumerate(paths)}
    insides: dict[str, int] = {}
    rows: list[list[Any]] = []
    for key, name, qualified, kind, path, line in linked.names(book.index):
        inside = qualified.removesuffix(name).rstrip(".") if qualified.endswith(name) else qualified
        number_ = insides.setdefault(inside, len(insides))
        rows.append([one_line(name), number_, number_of.get(kind, 0), place_of.get(path, 0), line + 1, f"{key:016x}"])
    files = [[one_line(path), book.page_of_file[path]] for path in paths]
    data = {"kinds": kinds, "inside": [one_line(name) for name in insides], "files": files, "names": rows}
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f"lspidxNames({text});\n"
