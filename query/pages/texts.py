"""The pages of a file: its text, and the local names in it."""

from __future__ import annotations

from collections.abc import Collection

from indexer.model import SymbolKind
from query.facts import linked
from query.facts.completeness import DEFINITION
from query.facts.linked import Described, File, Token
from query.facts.symbols import symbols_by_id
from query.pages import names
from query.pages.book import Book
from query.pages.markup import Html, Page, el, join, number, soft, standing
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
    return Page(name=page, title=file.path, body=join([*head, _outline(book, page, symbols), _text(book, file, found)]))


def _text(book: Book, file: File, found: Collection[Token]) -> Html:
    if file.size_bytes > MOST_BYTES:
        return el("p", f"This file is too large to be shown: {file.size_bytes:,} bytes.", class_="notice")
    source = book.sources.lines(file.path)
    if source is None:
        said = "This file is not what was indexed, or is gone: its text is not shown, for every link in it might be wrong."
        return el("p", f"{said} To bring the index up to date: lspidx index", class_="notice")
    if any(b"\0" in line for line in source):
        return el("p", "This file is no text: it holds zero bytes.", class_="notice")
    return Html(listing(file.path, source, book.links(file, found)))


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
    if any(symbol.is_local for symbol in symbols):
        parts += [" · ", el("a", "local names", href=names.relative(page, names.of_locals(file.path)))]
    return el("p", *parts, class_="place")


def _outline(book: Book, page: str, symbols: Collection[Described]) -> Html:
    """The symbols at the top of the file, to unfold."""
    by_id = {symbol.sym_id: symbol for symbol in symbols}
    rows = [
        el(
            "li",
            el("span", SymbolKind(symbol.kind).label, class_="kind"),
            " ",
            el("a", symbol.name, href=f"#L{symbol.line + 1}"),
            " ",
            el("a", "uses", href=names.relative(page, names.of_symbol(symbol.key)), aria_label=f"uses of {symbol.name}"),
        )
        for symbol in symbols
        if not symbol.is_local
        and (above := by_id.get(symbol.container)) is not None
        and above.kind == SymbolKind.MODULE
        and above.container < 0
    ]
    return el("details", el("summary", number(len(rows), "symbol"), " at the top level"), el("ul", *rows), class_="outline") if rows else Html()


def of_locals(book: Book, file: File, found: Collection[Token] | None = None, symbols: Collection[Described] | None = None) -> Page:
    """The local names and parameters of a file, each with its places; how complete that is, of all together."""
    page = names.of_locals(file.path)
    body = [el("h1", "Local names in ", book.to_file(page, file.path))]
    if file.doc_id < 0:
        return Page(name=page, title=f"Local names in {file.path}", body=join([*body, el("p", "This file was left out of the index.")]))
    symbols = linked.symbols_in(book.index, [file.doc_id])[file.doc_id] if symbols is None else symbols
    found = linked.tokens(book.index, [file.doc_id])[file.doc_id] if found is None else found
    own = [symbol for symbol in symbols if symbol.is_local]
    if own and book.certifies:
        cards = symbols_by_id(book.index, [symbol.sym_id for symbol in own])
        known = book.certificate.of_uses([cards[symbol.sym_id] for symbol in own], "references", DEFINITION)
    else:
        known = None
    if own:
        body.append(standing(known, "lspidx query references FILE:LINE:COL", lambda path: book.to_file(page, path)))
    places: dict[int, list[Token]] = {}
    for token in found:
        places.setdefault(token.sym_id, []).append(token)
    rows = [
        el(
            "tr",
            el("td", el("a", symbol.name, href=f"{names.relative(page, names.of_file(file.path))}#L{symbol.line + 1}")),
            el("td", soft(symbol.qualified_name.rpartition(".")[0]), class_="dim"),
            el("td", join([book.to_file(page, file.path, line, Html(str(line))) for line in _lines(places.get(symbol.sym_id, []))], " ")),
            id=f"L{symbol.line + 1}-{symbol.col}",
        )
        for symbol in own
    ]
    head = el("tr", *(el("th", word, scope="col") for word in ("name", "in", "lines")))
    body.append(el("table", el("thead", head), el("tbody", *rows)) if rows else el("p", "There are none."))
    return Page(name=page, title=f"Local names in {file.path}", body=join(body))


def _lines(found: Collection[Token]) -> list[int]:
    return sorted({token.line + 1 for token in found})
