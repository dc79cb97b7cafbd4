"""The page of a symbol: what it is, who uses, calls, extends and tests it, and how complete each of these lists is.

The facts of many symbols are read by one statement; how complete a list is the certificate says, of each symbol by itself, with what the
tool asks it that gives the same list.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import msgspec

from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Evidence, Role, SymbolKind, Via
from query.answers.envelope import Completeness, Reason, completeness_from
from query.facts import linked
from query.facts.calls import Selection, step
from query.facts.calls import Site as Place
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.documents import documents
from query.facts.hierarchy import OVERRIDE, Way, steps
from query.facts.linked import Described, UseRow
from query.facts.names import callable_of, unambiguous
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.value_uses import value_uses
from query.pages import names
from query.pages.book import Book
from query.pages.markup import Html, Page, el, join, lines, number, standing, text
from query.tools.find_callers import CERTAIN, IN_WORDS

MOST_USES = 150
MOST_EDGES = 60
"""What a page lists of each; it says how many there are, and how to list all."""

_MOST_SITES = 20
_AS_VALUE = -1
_SELECTION = Selection(evidence=frozenset(int(kind) for kind in Evidence if kind.label in CERTAIN))
_CALLED = CALLABLE_KINDS | TYPE_KINDS
_WAYS: tuple[tuple[Way, str], ...] = (
    ("supertypes", "Supertypes"),
    ("subtypes", "Subtypes"),
    ("overridden", "Overrides"),
    ("overriding", "Overridden by"),
)


@dataclass(kw_only=True)
class Edge:
    """A caller or callee with the places of the calls; `how` as of `find_callers`."""

    other: int
    sites: list[Place]

    @property
    def how(self) -> str:
        if all(site.evidence == _AS_VALUE for site in self.sites):
            return "value"
        return "dispatch" if all(site.dispatch for site in self.sites) else "call"


@dataclass(kw_only=True)
class Entry:
    """A symbol with its lists. What is known of their completeness is None where nobody asked."""

    symbol: Described
    uses: list[UseRow] = field(default_factory=list[UseRow])
    callers: list[Edge] = field(default_factory=list[Edge])
    callees: list[Edge] = field(default_factory=list[Edge])
    kin: dict[Way, list[int]] = field(default_factory=dict[Way, list[int]])
    uses_known: Completeness | None = None
    callers_known: Completeness | None = None
    callees_known: Completeness | None = None
    kin_known: Completeness | None = None


def page(book: Book, name: str) -> Page | None:
    """The page of this name; None where it is no symbol's."""
    key = names.key_of(name.removeprefix(f"{names.SYMBOLS}/"))
    sym_id = linked.by_key(book.index, key) if key is not None else None
    found = linked.described(book.index, [sym_id]) if sym_id is not None else {}
    if not found:
        return None
    [symbol] = found.values()
    return None if symbol.is_local else pages(book, [symbol])[0][0]


def pages(book: Book, symbols: Sequence[Described]) -> list[tuple[Page, str]]:
    """The pages of these symbols, in their order, each with how complete its list of uses is."""
    found = entries(book, symbols)
    others = {edge.other for entry in found for edge in [*entry.callers, *entry.callees]}
    others |= {use.enclosing for entry in found for use in entry.uses[:MOST_USES]} | {entry.symbol.container for entry in found}
    others |= {sym_id for entry in found for listed in entry.kin.values() for sym_id in listed}
    known = linked.described(book.index, others - {-1})
    return [(_Writer(book, entry, known).page(), entry.uses_known.status if entry.uses_known else "unknown") for entry in found]


# ---- what is known


def entries(book: Book, symbols: Sequence[Described]) -> list[Entry]:
    """What there is to say of these symbols, in their order."""
    index = book.index
    found = {symbol.sym_id: Entry(symbol=symbol) for symbol in symbols}
    cards = symbols_by_id(index, sorted(found))
    meant = {sym_id: _meant(book, cards[sym_id]) for sym_id in found}
    used = linked.uses(index, {symbol.sym_id for symbol, _ in meant.values()})
    incoming = _edges(book, "incoming", {symbol.sym_id for _, symbol in meant.values()})
    outgoing = _edges(book, "outgoing", found)
    kin = {way: _kin(book, way, found) for way, _ in _WAYS}
    for sym_id, entry in found.items():
        for_uses, for_callers = meant[sym_id]
        entry.uses = used.get(for_uses.sym_id, [])
        entry.callers = incoming.get(for_callers.sym_id, [])
        entry.callees = outgoing.get(sym_id, [])
        is_type = entry.symbol.kind in TYPE_KINDS
        wanted = ("supertypes", "subtypes") if is_type else ("overridden", "overriding")
        entry.kin = {way: kin[way].get(sym_id, []) for way in wanted if kin[way].get(sym_id)}
        if book.certifies:
            _certify(book, entry, cards[sym_id], for_uses, for_callers)
    return list(found.values())


def _meant(book: Book, symbol: Symbol) -> tuple[Symbol, Symbol]:
    """The symbols whose uses, and whose callers, the tools list for this one."""
    if symbol.record.kind not in ("variable", "module"):
        return symbol, symbol
    called = callable_of(book.index, symbol)
    return called if symbol.record.kind == "variable" else symbol, called


def _edges(book: Book, direction: str, ids: Collection[int]) -> dict[int, list[Edge]]:
    """As `find_callers` lists them at depth 1."""
    index = book.index
    way = "incoming" if direction == "incoming" else "outgoing"
    found: dict[int, dict[int, Edge]] = {}
    for of, other, site in step(index, sorted(ids), way, _SELECTION):
        found.setdefault(of, {}).setdefault(other, Edge(other=other, sites=[])).sites.append(site)
    made = {of: list(edges.values()) for of, edges in found.items()}
    if way == "incoming":
        for of, edges in _values(book, ids).items():
            made.setdefault(of, []).extend(edges)
    return made


def _values(book: Book, ids: Collection[int]) -> dict[int, list[Edge]]:
    uses = value_uses(book.index, sorted(ids)) if ids else []
    docs = documents(book.index, {use.doc_id for use in uses})
    found: dict[int, dict[int, Edge]] = {}
    for use in sorted(uses, key=lambda use: (docs[use.doc_id].path, use.line, use.col)):
        edge = found.setdefault(use.of, {}).setdefault(use.holder, Edge(other=use.holder, sites=[]))
        edge.sites.append(Place(docs[use.doc_id].path, use.line, use.col, _AS_VALUE, dispatch=False))
    return {of: list(edges.values()) for of, edges in found.items()}


def _kin(book: Book, way: Way, ids: Collection[int]) -> dict[int, list[int]]:
    return linked.pairs(steps(book.index, way, sorted(ids)))


def _certify(book: Book, entry: Entry, symbol: Symbol, for_uses: Symbol, for_callers: Symbol) -> None:
    index, certificate, record = book.index, book.certificate, symbol.record

    def typed(of: Symbol) -> str:
        return unambiguous(index, of)

    entry.uses_known = certificate.of_uses([for_uses], "references", DEFINITION, typed=lambda: typed(for_uses))
    if entry.symbol.kind in _CALLED or entry.callers:
        entry.callers_known = certificate.of_uses([for_callers], "callers", DEFINITION, typed=lambda: typed(for_callers))
    callees = certificate.of_callees([symbol.sym_id], [edge.other for edge in entry.callees], [record.path], [])
    entry.callees_known = certificate.of_workspace(DEFINITION, callees.reasons, about=record.path) if record.external else callees
    if entry.symbol.kind in TYPE_KINDS:
        about = record.path
        doubts = certificate.unresolved_supertypes([symbol.sym_id])
        doubts += certificate.unlisted_supertypes(symbol.sym_id) if entry.symbol.kind != SymbolKind.INTERFACE else []
        doubts += certificate.unresolved_subtypes({record.name}, about=about)
        doubts += certificate.unlisted_subtypes([symbol.sym_id])
        others = symbols_by_id(index, sorted({sym_id for listed in entry.kin.values() for sym_id in listed} | {symbol.sym_id}))
        order = [symbol, *(others[sym_id] for sym_id in sorted(others))]
        entry.kin_known = certificate.of_rows(order, [*DEFINITION, SUPERTYPES], doubts)
    elif entry.kin:
        entry.kin_known = _with(
            entry.callers_known or entry.uses_known, certificate.unresolved_callees([symbol.sym_id])
        )  # as `explore_symbol`, which lists them


def _with(known: Completeness, more: Sequence[Reason]) -> Completeness:
    reasons = [*known.reasons, *more]
    return msgspec.structs.replace(known, reasons=reasons) if known.status == "unknown" else completeness_from(reasons)


# ---- how it looks


@dataclass(frozen=True, slots=True)
class _Writer:
    book: Book
    entry: Entry
    known: dict[int, Described]

    @property
    def name(self) -> str:
        return names.of_symbol(self.entry.symbol.key)

    def page(self) -> Page:
        symbol = self.entry.symbol
        kind = SymbolKind(symbol.kind).label
        body = join([self._head(kind), self._uses(), self._callers(), self._tests(), self._callees(), self._hierarchy()])
        return Page(name=self.name, title=f"{kind} {symbol.qualified_name}", body=body)

    def _head(self, kind: str) -> Html:
        symbol = self.entry.symbol
        if symbol.is_external:
            place: Html = el("span", "outside of the workspace: ", el("code", symbol.path))
        else:
            is_module = symbol.kind == SymbolKind.MODULE and not symbol.line
            place = self.book.to_file(self.name, symbol.path, 0 if is_module else symbol.line + 1)
        holder = self.known.get(symbol.container)
        inside = [" in ", self.book.to_symbol(self.name, holder)] if holder is not None and not holder.is_local else []
        parts = [el("h1", el("span", kind, class_="kind"), " ", text(symbol.qualified_name)), el("p", place, *inside, class_="place")]
        if symbol.signature:
            parts.append(el("pre", lines(symbol.signature), class_="signature"))
        if symbol.documentation:
            parts.append(el("pre", lines(symbol.documentation), class_="doc"))
        if not self.book.certifies:
            parts.append(el("p", "How complete these lists are was not asked when the pages were made.", class_="place"))
        return join(parts)

    def _uses(self) -> Html:
        uses = self.entry.uses
        shown = uses[:MOST_USES]
        in_files = len({use.path for use in uses})
        counted = f"{number(len(uses), 'use')} in {number(in_files, 'file')}" if uses else "no uses"
        parts = [el("h2", "Uses", id="uses"), self._standing(self.entry.uses_known, "references"), el("p", counted, class_="count")]
        rows: list[Html] = []
        last = ""
        rows_at: set[tuple[str, int]] = set()
        rows_of: dict[tuple[str, int], list[UseRow]] = {}
        for use in shown:
            rows_of.setdefault((use.path, use.line), []).append(use)
        for use in shown:
            if use.path != last:
                rows.append(el("li", self.book.to_file(self.name, use.path), " [test]" if use.is_test else "", class_="file"))
                last = use.path
            if (use.path, use.line) not in rows_at:
                rows.append(self._use(use, rows_of[use.path, use.line]))
                rows_at.add((use.path, use.line))
        if rows:
            parts.append(el("ul", *rows, class_="uses"))
        if len(uses) > len(shown):
            parts.append(self._cut(len(shown), len(uses), "references"))
        return join(parts)

    def _use(self, use: UseRow, on_line: Sequence[UseRow]) -> Html:
        """A line with all uses on it."""
        roles = dict.fromkeys(role for item in on_line for role in Role(item.roles).labels if role != "read")
        words = ", ".join(roles) + (f" ×{len(on_line)}" if len(on_line) > 1 else "")
        code = el("code", self.book.sources.line(use.path, use.line))
        note = [Html(" <span class=dim>"), words, Html("</span>")] if words else []
        return el("li", self.book.to_file(self.name, use.path, use.line + 1, Html(str(use.line + 1))), " ", code, *note)

    def _callers(self) -> Html:
        entry = self.entry
        if entry.symbol.kind not in _CALLED and not entry.callers:
            return Html()
        calls = [edge for edge in entry.callers if edge.how != "value"]
        values = [edge for edge in entry.callers if edge.how == "value"]
        said = number(len(calls), "caller") if calls else "no callers"
        if values:
            said += f", used as a value at {number(sum(len(edge.sites) for edge in values), 'place')}"
        parts = [el("h2", "Callers", id="callers"), self._standing(entry.callers_known, "callers"), el("p", said, class_="count")]
        parts.append(self._edges(calls, "callers"))
        if values:
            parts += [el("h3", "Used as a value, which may be called from elsewhere"), self._edges(values, "callers")]
        return join(parts)

    def _callees(self) -> Html:
        entry = self.entry
        if entry.symbol.kind not in _CALLED and not entry.callees:
            return Html()
        counted = number(len(entry.callees), "callee") if entry.callees else "no callees"
        head = [el("h2", "Callees", id="callees"), self._standing(entry.callees_known, "callees"), el("p", counted, class_="count")]
        return join([*head, self._edges(entry.callees, "callees")])

    def _edges(self, edges: Sequence[Edge], command: str) -> Html:
        rows = [self._edge(edge) for edge in edges[:MOST_EDGES] if edge.other in self.known]
        more = [self._cut(MOST_EDGES, len(edges), command)] if len(edges) > MOST_EDGES else []
        return join([el("ul", *rows, class_="edges"), *more]) if rows else Html()

    def _edge(self, edge: Edge) -> Html:
        other = self.known[edge.other]
        kind = el("span", SymbolKind(other.kind).label, class_="kind")
        sites = [self._site(site) for site in edge.sites[:_MOST_SITES]]
        if len(edge.sites) > len(sites):
            sites.append(text(f"and {len(edge.sites) - len(sites)} more places"))
        many = f" ×{len(edge.sites)}" if len(edge.sites) > 1 else ""
        summary = el("summary", kind, " ", self.book.to_symbol(self.name, other), el("span", many, class_="dim") if many else "")
        return el("li", el("details", summary, join(sites, ", ")))

    def _site(self, site: Place) -> Html:
        label = "value" if site.evidence == _AS_VALUE else OVERRIDE if site.dispatch else Evidence(site.evidence).label
        words = IN_WORDS.get(label, label) + (f": {Via(site.via).label.replace('_', ' ')}" if site.via else "")
        link = self.book.to_file(self.name, site.path, site.line + 1, Html(f"line {site.line + 1}"))
        return join([link, Html(" <span class=dim>"), words, Html("</span>")]) if words else link

    def _tests(self) -> Html:
        """Of the callers those in tests, which are as complete as these."""
        entry = self.entry
        docs = self.book.by_path
        found = [edge for edge in entry.callers if any(docs[site.path].is_test for site in edge.sites if site.path in docs)]
        if not found or entry.symbol.kind not in _CALLED:
            return Html()
        head = [el("h2", "Tests", id="tests"), self._standing(entry.callers_known, "callers")]
        return join([*head, el("p", f"{number(len(found), 'caller')} in tests", class_="count"), self._edges(found, "callers")])

    def _hierarchy(self) -> Html:
        entry = self.entry
        if not entry.kin and entry.symbol.kind not in TYPE_KINDS:
            return Html()
        command = "hierarchy" if entry.symbol.kind in TYPE_KINDS else "explore"
        parts = [el("h2", "Hierarchy", id="hierarchy"), self._standing(entry.kin_known, command)]
        if not entry.kin:
            parts.append(el("p", "nothing directly above or below", class_="count"))
        for way, title in _WAYS:
            listed = [self.known[sym_id] for sym_id in entry.kin.get(way, []) if sym_id in self.known]
            if listed:
                shown = [el("li", self.book.to_symbol(self.name, other)) for other in listed[:MOST_EDGES]]
                parts += [el("h3", f"{title}: {len(listed)}"), el("ul", *shown)]
                if len(listed) > MOST_EDGES:
                    parts.append(self._cut(MOST_EDGES, len(listed), command))
        return join(parts)

    # ---- pieces

    def _command(self, question: str) -> str:
        import shlex

        return f"lspidx query {question} {shlex.quote(self.entry.symbol.moniker)}"

    def _standing(self, known: Completeness | None, question: str) -> Html:
        return standing(known, self._command(question), lambda path: self.book.to_file(self.name, path))

    def _cut(self, shown: int, total: int, question: str) -> Html:
        return el("p", f"The first {shown:,} of {total:,}; all of them: ", el("code", self._command(question)), class_="cut")
