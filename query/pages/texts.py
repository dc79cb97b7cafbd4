"""The page of a file: its text, with every identifier linked, and the local names in it."""

from __future__ import annotations

from collections.abc import Collection

from indexer.model import SymbolKind
from query.facts import linked
from query.facts.completeness import DEFINITION
from query.facts.linked import Described, File, Token
from query.facts.symbols import symbols_by_id
from query.pages import names
from query.pages.book import Book, local_anchor
from query.pages.markup import Html, Page, el, join, number, standing, text
from query.pages.source import MOST_BYTES, listing

_WHY = {
    "too_large": "it is larger than what is read",
    "binary": "it is no text",
    "not_read": "it is no source that is read",
    "excluded": "it is excluded",
    "generated": "it looks generated",
    "vendored": "it looks vendored",
}


def of_file(book: Book, file: File, found: Collection[Token] | None = None, symbols: Collection[Described] | None = None) -> Page:
    """A file with every identifier linked; why not, where its text is not shown.

    Args:
        found, symbols: what is in it, where that has been read already.
    """
    page = names.of_file(file.path)
    head = [_crumbs(book, page, file.path)]
    if file.doc_id < 0:
        why = _WHY.get(file.reason, file.reason.replace("_", " "))
        said = el("p", f"This file was left out of the index: {why} (", el("code", file.reason), ").", class_="notice")
        return Page(name=page, title=file.path, body=join([*head, said]))
    symbols = linked.symbols_in(book.index, [file.doc_id])[file.doc_id] if symbols is None else symbols
    found = linked.tokens(book.index, [file.doc_id])[file.doc_id] if found is None else found
    head.append(_facts(book, page, file, found, symbols))
    return Page(name=page, title=file.path, body=join([*head, _outline(book, page, symbols), *_text(book, file, found, symbols)]))


def _text(book: Book, file: File, found: Collection[Token], symbols: Collection[Described]) -> list[Html]:
    if file.size_bytes > MOST_BYTES:
        return [el("p", f"This file is too large to be shown: {file.size_bytes:,} bytes.", class_="notice")]
    source = book.sources.lines(file.path)
    if source is None:
        said = "This file is not what was indexed, or is gone: its text is not shown, for every link in it might be wrong."
        return [el("p", f"{said} To bring the index up to date: lspidx index", class_="notice")]
    if any(b"\0" in line for line in source):
        return [el("p", "This file is no text: it holds zero bytes.", class_="notice")]
    shown = Html(listing(file.path, source, book.links(file, found)))
    return [shown, _locals(book, names.of_file(file.path), file, found, symbols)]


def _crumbs(book: Book, page: str, path: str) -> Html:
    parts = path.rstrip("/").split("/")
    above = [
        el("a", part, href=names.relative(page, names.of_folder("/".join(parts[: place + 1])))) for place, part in enumerate(parts[:-1])
    ]
    root = el("a", book.project, href=names.relative(page, names.HOME))
    return el("h1", join([root, *above, el("span", parts[-1])], Html('<span class="dim">/</span><wbr>')), class_="crumbs")


def _facts(book: Book, page: str, file: File, found: Collection[Token], symbols: Collection[Described]) -> Html:
    open_names = sum(1 for token in found if token.sym_id < 0)
    parts: list[object] = [f"{file.language}, {number(file.lines, 'line')}"]
    if file.is_test:
        parts.append(Html(" · test"))
    if file.status != "ok":
        parts.append(f" · {file.status}")
    parts.append(f" · {number(open_names, 'identifier')} unresolved")
    module = next((symbol for symbol in symbols if symbol.kind == SymbolKind.MODULE and symbol.container < 0), None)
    if module is not None:
        parts += [" · ", el("a", "who uses this module", href=names.relative(page, names.of_symbol(module.key)))]
    if file.path not in book.textless and any(symbol.is_local for symbol in symbols):
        parts += [" · ", el("a", "local names", href="#locals")]
    return el("p", *parts, class_="place")


def _outline(book: Book, page: str, symbols: Collection[Described]) -> Html:
    """The symbols at the top of the file, to unfold."""
    by_id = {symbol.sym_id: symbol for symbol in symbols}
    rows = [
        el(
            "li",
            el("span", SymbolKind(symbol.kind).label, class_="kind"),
            " ",
            book.to_file(page, symbol.path, symbol.line + 1, text(symbol.name)),
            " ",
            el("a", "uses", href=names.relative(page, names.of_symbol(symbol.key)), aria_label=f"uses of {symbol.name}"),
        )
        for symbol in symbols
        if not symbol.is_local
        and (above := by_id.get(symbol.container)) is not None
        and above.kind == SymbolKind.MODULE
        and above.container < 0
    ]
    return (
        el("details", el("summary", number(len(rows), "symbol"), " at the top level"), el("ul", *rows), class_="outline")
        if rows
        else Html()
    )


def _locals(book: Book, page: str, file: File, found: Collection[Token], symbols: Collection[Described]) -> Html:
    """The local names and parameters of a file, each with its lines; how complete that is, of all of them together."""
    own = [symbol for symbol in symbols if symbol.is_local]
    if not own:
        return Html()
    known = None
    if book.certifies:
        cards = symbols_by_id(book.index, [symbol.sym_id for symbol in own])
        known = book.certificate.of_uses([cards[symbol.sym_id] for symbol in own], "references", DEFINITION)
    places: dict[int, set[int]] = {}
    for token in found:
        places.setdefault(token.sym_id, set()).add(token.line + 1)
    rows = [
        el(
            "tr",
            el("td", text(symbol.name)),
            el("td", _within(symbol), class_="dim"),
            el("td", join([_to_line(line) for line in sorted(places.get(symbol.sym_id, {symbol.line + 1}))], " ")),
            id=local_anchor(symbol.line, symbol.col),
        )
        for symbol in own
    ]
    head = el("tr", *(el("th", word, scope="col") for word in ("name", "in", "lines")))
    table = el("table", el("thead", head), el("tbody", *rows))
    said = standing(known, "lspidx query references FILE:LINE:COL", lambda path: book.to_file(page, path))
    return join([el("h2", "Local names", id="locals"), said, table])


def _within(symbol: Described) -> str:
    """What a local name is local to, by the last part of its name."""
    return ".".join(symbol.qualified_name.split(".")[-2:-1])


def _to_line(line: int) -> Html:
    return Html(f"<a href=#L{line}>{line}</a>")
