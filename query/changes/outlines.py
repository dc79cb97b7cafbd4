"""The symbols of one file on one side of a change.

An index that holds this very content knows them; else the text says them by itself. Both give the same shape, so that one side may come
from an index and the other from the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from indexer.embedded import source_of
from indexer.encoding import encoding_of, is_binary
from indexer.model import SymbolFlag, SymbolKind
from indexer.servers.registry import is_test as test_by_path
from indexer.servers.registry import language_of, languages_present
from indexer.syntax import parse
from query.facts.documents import Content, contents
from query.facts.extents import Defined, defined_in, further_definitions, symbols_by_place
from query.facts.index import Index

_LOCAL, _PARAMETER, _EXPORTED = (int(flag) for flag in (SymbolFlag.LOCAL, SymbolFlag.PARAMETER, SymbolFlag.EXPORTED))


class Entity(NamedTuple):
    """A symbol that is visible outside its function, or the module itself (an empty chain).

    chain: names from the module's own level down to it. spans: half-open lines, 0-based, of all its definitions.
    sym_id: its number in the index that it was read from, -1 where it was read from the text.
    """

    chain: tuple[str, ...]
    kind: int
    spans: tuple[tuple[int, int], ...]
    signature: str
    flags: int
    sel_line: int
    sel_col: int
    sym_id: int

    @property
    def name(self) -> str:
        return self.chain[-1] if self.chain else ""

    @property
    def exported(self) -> bool:
        return bool(self.flags & _EXPORTED)


class Outline(NamedTuple):
    """Symbols of one content, the module first, each before its members.

    `held_by`: the index that holds this very content, None where none does. `by_text`: the text says which symbols there are.
    """

    path: str
    language: str
    module: str
    entities: list[Entity]
    is_test: bool
    held_by: Index | None
    by_text: bool = False

    def owners(self, line_count: int) -> list[int]:
        """For each line the innermost entity that it belongs to: what a class says outside its members is the class's own."""
        painted = [0] * (line_count + 1)
        for number, entity in enumerate(self.entities):
            if number:
                for start, end in entity.spans:
                    for line in range(start, min(end, line_count + 1)):
                        painted[line] = number
        return painted


class Held(NamedTuple):
    """A document with the index that holds its content."""

    by: Index
    content: Content


def lookup(indexes: Sequence[Index], wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Held]:
    """Which of the files (path, git's name of the content) are held by an index, the first that does."""
    asked = set(wanted)
    found: dict[tuple[str, str], Held] = {}
    for index in indexes:
        rest = asked - found.keys()
        for content in contents(index, {path for path, _ in rest}).values():
            if (content.path, content.digest) in rest:
                found[content.path, content.digest] = Held(index, content)
    return found


def from_index(held: Collection[Held]) -> dict[tuple[str, int, int], Outline]:
    """Outlines of documents, by path, number and the identity of their index; two statements for each index."""
    outlines: dict[tuple[str, int, int], Outline] = {}
    by_index: dict[int, list[Held]] = {}
    for item in held:
        by_index.setdefault(id(item.by), []).append(item)
    for of_one in by_index.values():
        index = of_one[0].by
        members = _entities(index, [item.content.doc_id for item in of_one])
        for _, content in of_one:
            entities = _in_order(members.get(content.doc_id, []))
            outlines[content.path, content.doc_id, id(index)] = Outline(
                content.path, content.language, content.module, entities, content.is_test, index
            )
    return outlines


def _entities(index: Index, doc_ids: Collection[int]) -> dict[int, list[Entity]]:
    """By document what it defines and is visible outside functions, with the chain of names under which it is known there."""
    further: dict[int, list[tuple[int, int]]] = {}
    for item in further_definitions(index, doc_ids):
        further.setdefault(item.sym_id, []).append((item.start_line, item.end_line))
    members: dict[int, list[Entity]] = {}
    chains: dict[int, tuple[str, ...]] = {}
    hidden: set[int] = set()
    around: list[Defined] = []  # lexically, from the outside in
    for item in defined_in(index, doc_ids):
        while around and not _is_within(item, around[-1]):
            around.pop()
        if item.flags & (_LOCAL | _PARAMETER) or item.container in hidden:
            hidden.add(item.sym_id)
            continue
        if item.container is None:
            chain: tuple[str, ...] = ()
        elif any(outer.sym_id == item.container for outer in around):
            chain = (*chains[item.container], item.name)
        else:  # written outside its type: below what is around it, and its type
            chain = (*(chains[around[-1].sym_id] if around else ()), *((item.owner,) if item.owner else ()), item.name)
        chains[item.sym_id] = chain
        around.append(item)
        spans = ((item.start_line, item.end_line + (item.end_col > 0)), *further.get(item.sym_id, ()))
        entity = Entity(chain, item.kind, spans, item.signature, item.flags, item.sel_line, item.sel_col, item.sym_id)
        members.setdefault(item.doc_id, []).append(entity)
    return members


def _is_within(item: Defined, outer: Defined) -> bool:
    """Whether a definition, which begins behind another one, begins before that one's end."""
    return item.doc_id == outer.doc_id and (item.start_line, item.start_col) < (outer.end_line, outer.end_col)


def from_text(path: str, content: bytes, *, language: str = "", module: str = "", is_test: bool | None = None) -> Outline | None:
    """What the text of a file says; None for a language that is not read, and for text that is none.

    Args:
        module, is_test: as an index has them for the document, by its path where none does.
    """
    language = language or language_of(path, languages_present([path]))
    is_test = test_by_path(path, language) if is_test is None else is_test
    if not language or is_binary(content) or encoding_of(content) is None:
        return None
    source = source_of(path, content)
    if source is None:
        return None
    syntax = parse(language, path, source.removeprefix(b"\xef\xbb\xbf"), module or path, is_test=is_test, definitions_only=True, alone=True)
    chains: dict[int, tuple[str, ...]] = {}
    entities: list[Entity] = []
    owner_of = {symbol: syntax.tokens.name[token] for symbol, token in syntax.owners if token < len(syntax.tokens)}
    for number, item in enumerate(syntax.symbols):
        if item.flags & (_LOCAL | _PARAMETER) or (number and item.container not in chains):
            continue
        qualifier = item.qualifier or ((owner_of[number],) if number in owner_of else ())
        chains[number] = (*chains[item.container], *qualifier[-1:], item.name) if number else ()
        spans = tuple(
            (span.line, span.end_line + (span.end_col > 0))
            for span in (item.span, *sorted(item.extra_ranges, key=lambda span: (span.line, span.col)))
        )
        selection = item.selection
        entities.append(Entity(chains[number], int(item.kind), spans, item.signature, int(item.flags), selection.line, selection.col, -1))
    return Outline(path, language, module, _in_order(entities), is_test, None, by_text=True)


def numbered(outlines: Iterable[tuple[Outline, Held]]) -> list[Outline]:
    """Outlines of texts with the numbers that an index which holds these very texts has for their symbols.

    By the place at which each is defined: a prototype in a header is the function that is defined elsewhere.
    """
    pairs = list(outlines)
    by_index: dict[int, list[Held]] = {}
    for _, held in pairs:
        by_index.setdefault(id(held.by), []).append(held)
    places = {number: symbols_by_place(of_one[0].by, [held.content.doc_id for held in of_one]) for number, of_one in by_index.items()}
    found: list[Outline] = []
    for outline, (index, content) in pairs:
        known = places[id(index)]
        of_module = (content.doc_id, -1, -1)
        entities = [
            entity._replace(sym_id=known.get((content.doc_id, entity.sel_line, entity.sel_col) if entity.chain else of_module, -1))
            for entity in outline.entities
        ]
        found.append(outline._replace(entities=entities, held_by=index, by_text=True))
    return found


def _in_order(entities: list[Entity]) -> list[Entity]:
    """The module first, what is around before what is within."""
    return sorted(entities, key=lambda item: (bool(item.chain), item.spans[0][0], -item.spans[0][1], len(item.chain)))


def kind_label(kind: int) -> str:
    return SymbolKind(kind).label
