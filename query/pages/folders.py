"""The page of a folder: what lies in it, and which other folders it uses and is used by; the map of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from query.answers.envelope import Completeness
from query.facts import linked
from query.pages import names
from query.pages.book import Book, Folder
from query.pages.markup import Html, Page, el, join, number, standing, text

_MOST_ROWS = 300
_MOST_DRAWN = 36
_MOST_OF_EACH = 12


class Between(NamedTuple):
    """Uses between folders: by folder, how often it uses each other one, and is used by it."""

    uses: Mapping[str, Counter[str]]
    used_by: Mapping[str, Counter[str]]


def page(book: Book, path: str) -> Page:
    folder = book.folders[path]
    name = names.of_folder(path)
    body = [_crumbs(book, name, path), el("p", f"{number(folder.count, 'file')}, {number(folder.lines, 'line')}", class_="place")]
    if not path:
        body.append(_about(book))
    body.append(_table(book, name, folder))
    between = _between(book)
    mine = _within(between.uses, path), _within(between.used_by, path)
    for title, found in zip(("Uses", "Used by"), mine, strict=True):
        if path and found:
            rows = [_dependency(name, other, uses) for other, uses in found.most_common(_MOST_ROWS)]
            body += [el("h2", title), el("ul", *rows, class_="edges")]
    return Page(name=name, title=path or "Files", body=join(body), here=names.HOME)


def _about(book: Book) -> Html:
    """What the index has, as `lspidx status` counts."""
    from query.surface.registry import call

    answer = call(book.index, "index_status", {}, certificate=lambda _: book.certificate)
    found = answer.result
    words = [
        number(found.documents, "file"),
        number(found.symbols, "symbol"),
        number(found.occurrences, "identifier"),
        f"{found.unresolved_identifiers:,} unresolved",
        f"{found.skipped_count:,} left out",
    ]
    return join(
        [
            el("p", "In the index: ", ", ".join(words), "."),
            _doubts(book, answer.completeness),
        ]
    )


def _doubts(book: Book, known: Completeness) -> Html:
    """Why these numbers may not be all; that they are says nothing of any list."""
    if known.status == "complete":
        return Html()
    return standing(known, "lspidx status", lambda path: book.to_file(names.HOME, path))


def _crumbs(book: Book, page: str, path: str) -> Html:
    parts = path.split("/") if path else []
    links = [el("a", book.project, href=names.relative(page, names.HOME))] if parts else [el("span", book.project)]
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        target = names.relative(page, names.of_folder("/".join(parts[: place + 1])))
        links.append(el("span", part) if last else el("a", part, href=target))
    return el("h1", join(links, Html('<span class="dim">/</span><wbr>')), class_="crumbs")


def _table(book: Book, page: str, folder: Folder) -> Html:
    rows: list[Html] = []
    for path in folder.folders:
        below = book.folders[path]
        link = el("a", f"{path.rpartition('/')[2]}/", href=names.relative(page, names.of_folder(path)))
        rows.append(el("tr", el("td", link), el("td", number(below.count, "file")), el("td", f"{below.lines:,}", class_="num")))
    for file in folder.files:
        name = file.path.rstrip("/").rpartition("/")[2] + ("/" if file.path.endswith("/") else "")
        what = f"left out: {file.reason.replace('_', ' ')}" if file.doc_id < 0 else file.language
        mark = " · changed since" if file.path in book.moved else ""
        lines = f"{file.lines:,}" if file.doc_id >= 0 else ""
        class_ = "out" if file.doc_id < 0 else None
        link = book.to_file(page, file.path, 0, name)
        rows.append(el("tr", el("td", link), el("td", what, mark, class_="dim"), el("td", lines, class_="num"), class_=class_))
    head = el("tr", el("th", "name", scope="col"), el("th", "what", scope="col"), el("th", "lines", scope="col", class_="num"))
    return el("table", el("thead", head), el("tbody", *rows), class_="files")


def _between(book: Book) -> Between:
    """Between folders that hold files; read once per index."""

    def look() -> Between:
        uses: dict[str, Counter[str]] = {}
        used_by: dict[str, Counter[str]] = {}
        for source, target, count in linked.dependencies(book.index):
            here, there = source.rpartition("/")[0], target.rpartition("/")[0]
            if here != there:
                uses.setdefault(here, Counter())[there] += count
                used_by.setdefault(there, Counter())[here] += count
        return Between(uses, used_by)

    known: Between = book.index.keep("uses between folders", look)
    return known


def _within(uses: Mapping[str, Counter[str]], path: str) -> Counter[str]:
    """Of a folder and all below it, what leads out of it."""
    found: Counter[str] = Counter()
    for here, others in uses.items():
        if here == path or here.startswith(f"{path}/"):
            for other, count in others.items():
                if other != path and not other.startswith(f"{path}/"):
                    found[other] += count
    return found


def _dependency(page: str, other: str, uses: int) -> Html:
    return el(
        "li", el("a", text(other or "(top)"), href=names.relative(page, names.of_folder(other))), el("span", f" {uses:,}", class_="dim")
    )


def whole_map(book: Book) -> Page:
    """All folders with their size, the strongest dependencies as a picture, and all of them as a list."""
    between = _between(book)
    intro = "Uses of what is defined in another folder, as the index knows them: unresolved identifiers are not among them."
    body = [el("h1", "Map"), el("p", intro, class_="place"), _picture(between)]
    total = max(book.folders[""].lines, 1)
    rows: list[Html] = []
    for path, folder in book.folders.items():
        share = round(100 * folder.lines / total)
        depth = min(path.count("/") + bool(path), 8)
        link = el("a", text(path or book.project), href=names.of_folder(path))
        others = between.uses.get(path, Counter[str]())
        shown = [_short(other, uses) for other, uses in others.most_common(_MOST_OF_EACH)]
        if len(others) > len(shown):
            shown.append(el("a", f"and {len(others) - len(shown)} more", href=names.of_folder(path)))
        cells = [
            el("td", link, class_=f"deep-{depth}"),
            el("td", f"{folder.lines:,}", class_="num"),
            el("td", el("meter", f"{share} %", value=share, min=0, max=100, aria_label=f"{share} % of all lines")),
            el("td", join(shown, ", "), class_="dim"),
        ]
        rows.append(el("tr", *cells, id=f"f-{_mark(path)}"))
    words = ("folder", "lines", "share", "uses directly")
    head = el("tr", *(el("th", word, scope="col", class_="num" if word == "lines" else None) for word in words))
    body.append(el("div", el("table", el("thead", head), el("tbody", *rows)), class_="wide"))
    return Page(name=names.MAP, title="Map", body=join(body))


def _short(other: str, uses: int) -> Html:
    return join([el("a", other or "(top)", href=names.of_folder(other)), f" {uses:,}"])


def _mark(path: str) -> str:
    return names.of_folder(path).rpartition("/")[2].removesuffix(".html") if path else "top"


def _picture(between: Between) -> Html:
    """The strongest dependencies, drawn."""
    from query.reports.graphs import Edge, Graph, Node
    from query.reports.svg import svg

    every = [(uses, here, there) for here, others in between.uses.items() for there, uses in others.items()]
    drawn = sorted(every, key=lambda item: (-item[0], item[1:]))[:_MOST_DRAWN]
    if not drawn:
        return Html()
    paths = sorted({path for _, here, there in drawn for path in (here, there)})
    nodes = [Node(path, path.replace(".", "\u2024").replace("/", ".") or "(top)", path, "caller", mark=_mark(path)) for path in paths]
    edges = [Edge(here, there, uses) for uses, here, there in drawn]
    counted = f"{number(len(every), 'dependency', 'dependencies')} between folders"
    title = f"The {len(drawn)} strongest of {counted}" if len(drawn) < len(every) else counted
    picture = Html(svg(Graph(nodes, edges), title, embedded=True))
    caption = el("figcaption", title, "; from the one that uses to the one that is used")
    return el("figure", el("div", picture, class_="canvas", tabindex="0", role="region", aria_label=title), caption)
