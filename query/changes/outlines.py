"""The symbols of one file on one side of a change.

An index that holds this very content knows them; else the text says them by itself. Both give the same shape, so that one side may come
from an index and the other from the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from indexer.encoding import as_utf8, encoding_of
from indexer.model import SymbolFlag, SymbolKind
from indexer.servers.registry import is_test as test_by_path
from indexer.servers.registry import language_of, languages_present
from indexer.syntax import parse
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


class Known(NamedTuple):
    """A document of an index."""

    held_by: Index
    doc_id: int
    path: str
    language: str
    module: str
    is_test: bool


def lookup(indexes: Sequence[Index], wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Known]:
    """Which of the files (path, git's name of the content) are held by an index, the first that does."""
    asked = set(wanted)
    found: dict[tuple[str, str], Known] = {}
    for index in indexes:
        rest = sorted(asked - found.keys())
        if not rest:
            break
        rows = index.rows(
            """
            SELECT d.path, d.digest, d.doc_id, d.language, d.module, d.is_test
            FROM (SELECT unnest($paths::VARCHAR[]) AS path, unnest($digests::VARCHAR[]) AS digest) u
            JOIN document d ON d.path = u.path AND d.digest = u.digest WHERE d.status <> 'external'
            """,
            {"paths": [path for path, _ in rest], "digests": [digest for _, digest in rest]},
        )
        for path, digest, doc_id, language, module, is_test in rows:
            found.setdefault((path, digest), Known(index, doc_id, path, language, module or "", bool(is_test)))
    return found


def from_index(held: Collection[Known]) -> dict[tuple[str, int, int], Outline]:
    """Outlines of documents, by path, number and the identity of their index; two statements for each index."""
    outlines: dict[tuple[str, int, int], Outline] = {}
    by_index: dict[int, list[Known]] = {}
    for known in held:
        by_index.setdefault(id(known.held_by), []).append(known)
    for of_one in by_index.values():
        index = of_one[0].held_by
        rows = index.rows(
            """
            SELECT s.doc_id, s.sym_id, s.container_id, s.name, s.kind, s.flags, s.start_line, s.start_col, s.end_line, s.end_col,
                   s.sel_line, s.sel_col, coalesce(t.signature, ''), w.name
            FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.doc_id = u.id
            LEFT JOIN symbol w ON w.sym_id = s.container_id LEFT JOIN symbol_text t ON t.sym_id = s.sym_id
            ORDER BY s.doc_id, s.container_id IS NOT NULL, s.start_line, s.start_col, s.end_line DESC, s.end_col DESC, s.sym_id
            """,
            {"ids": [known.doc_id for known in of_one]},
        )
        extra: dict[int, list[tuple[int, int]]] = {}
        for sym_id, start, end, end_col in index.rows(
            """
            SELECT e.sym_id, e.start_line, e.end_line, e.end_col FROM (SELECT unnest($ids::INTEGER[]) AS id) u
            JOIN extra_definition e ON e.doc_id = u.id ORDER BY ALL
            """,
            {"ids": [known.doc_id for known in of_one]},
        ):
            extra.setdefault(sym_id, []).append((start, end + (end_col > 0)))
        members: dict[int, list[Entity]] = {}
        chains: dict[int, tuple[str, ...]] = {}
        hidden: set[int] = set()
        ends: dict[int, tuple[int, int]] = {}
        documents: dict[int, int] = {}
        around: list[int] = []  # lexically, from the outside in
        for doc_id, sym_id, container, name, kind, flags, start, col, end, end_col, sel_line, sel_col, signature, owner in rows:
            while around and (documents[around[-1]] != doc_id or ends[around[-1]] <= (start, col)):
                around.pop()
            if flags & (_LOCAL | _PARAMETER) or container in hidden:
                hidden.add(sym_id)
                continue
            if container is None:
                chain: tuple[str, ...] = ()
            elif container in around:
                chain = (*chains[container], name)
            else:  # written outside its type: below what is around it, and its type
                chain = (*(chains[around[-1]] if around else ()), *((owner,) if owner else ()), name)
            chains[sym_id], ends[sym_id], documents[sym_id] = chain, (end, end_col), doc_id
            around.append(sym_id)
            spans = ((start, end + (end_col > 0)), *extra.get(sym_id, ()))
            members.setdefault(doc_id, []).append(Entity(chain, kind, spans, signature, flags, sel_line, sel_col, sym_id))
        for known in of_one:
            entities = _in_order(members.get(known.doc_id, []))
            outlines[known.path, known.doc_id, id(index)] = Outline(
                known.path, known.language, known.module, entities, known.is_test, index
            )
    return outlines


def from_text(path: str, content: bytes, *, language: str = "", module: str = "", is_test: bool | None = None) -> Outline | None:
    """What the text of a file says; None for a language that is not read, and for text that is none.

    Args:
        module, is_test: as an index has them for the document, by its path where none does.
    """
    language = language or language_of(path, languages_present([path]))
    is_test = test_by_path(path, language) if is_test is None else is_test
    if not language or b"\0" in content or encoding_of(content) is None:
        return None
    syntax = parse(language, path, as_utf8(content).removeprefix(b"\xef\xbb\xbf"), module or path, is_test=is_test, definitions_only=True)
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


def numbered(outlines: Iterable[tuple[Outline, Known]]) -> list[Outline]:
    """Outlines of texts with the numbers that an index which holds these very texts has for their symbols.

    By the place at which each is defined: a prototype in a header is the function that is defined elsewhere.
    """
    pairs = list(outlines)
    by_index: dict[int, list[Known]] = {}
    for _, known in pairs:
        by_index.setdefault(id(known.held_by), []).append(known)
    places: dict[tuple[int, int, int, int], int] = {}
    for number, of_one in by_index.items():
        rows = of_one[0].held_by.rows(
            """
            SELECT o.doc_id, o.line, o.col, o.sym_id FROM (SELECT DISTINCT unnest($ids::INTEGER[]) AS id) u
            JOIN occ o ON o.doc_id = u.id WHERE o.roles & 1 <> 0 AND o.sym_id IS NOT NULL
            UNION ALL
            SELECT s.doc_id, s.sel_line, s.sel_col, s.sym_id FROM (SELECT DISTINCT unnest($ids::INTEGER[]) AS id) u
            JOIN symbol s ON s.doc_id = u.id WHERE s.flags & 3 = 0
            UNION ALL
            SELECT s.doc_id, -1, -1, s.sym_id FROM (SELECT DISTINCT unnest($ids::INTEGER[]) AS id) u
            JOIN symbol s ON s.doc_id = u.id WHERE s.container_id IS NULL
            ORDER BY ALL DESC
            """,
            {"ids": [known.doc_id for known in of_one]},
        )
        places.update({(number, doc_id, line, col): sym_id for doc_id, line, col, sym_id in rows})
    found: list[Outline] = []
    for outline, known in pairs:
        at = (id(known.held_by), known.doc_id)
        entities = [
            entity._replace(sym_id=places.get((*at, entity.sel_line, entity.sel_col) if entity.chain else (*at, -1, -1), -1))
            for entity in outline.entities
        ]
        found.append(outline._replace(entities=entities, held_by=known.held_by, by_text=True))
    return found


def _in_order(entities: list[Entity]) -> list[Entity]:
    """The module first, what is around before what is within."""
    return sorted(entities, key=lambda item: (bool(item.chain), item.spans[0][0], -item.spans[0][1], len(item.chain)))


def kind_label(kind: int) -> str:
    return SymbolKind(kind).label
