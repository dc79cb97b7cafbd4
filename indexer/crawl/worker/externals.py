"""Files outside the workspace: read for the names of what the workspace refers to, nothing else of them is kept.

Of what is installed, signatures and documentation are kept too. What a repository points to elsewhere (a dependency by path next door, an
include) is there for its names alone; where it lies in a closed place, it is not read at all (ADR 0027).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from indexer import monikers
from indexer import syntax as syntaxes
from indexer.consent import Reach
from indexer.crawl.messages import ExternalJob, Position
from indexer.crawl.sources import read_source
from indexer.crawl.units import PlannedDocument
from indexer.crawl.worker import harvest
from indexer.encoding import as_utf8, encoding_of
from indexer.languages import CPP, PYTHON, C, record_of
from indexer.model import SymbolFlag, SymbolKind
from indexer.packages import Externals
from indexer.reading_time import allowed_s, bounded
from indexer.scip.external import ExternalSymbol, of_place
from indexer.store.facts import DocumentFacts
from indexer.syntax import tree
from indexer.syntax.model import Syntax
from indexer.syntax.tree.excerpt import excerpt
from indexer.text import blob_digest

_PLACES = ("start_line", "start_col", "end_line", "end_col", "sel_line", "sel_col", "sel_end_col")
_LONG_BYTES, _LONG_PYTHON_BYTES = 60_000, 8_000
"""From here on it takes less time to find what is wanted than to read all; for Python, whose reader does more with a line, sooner."""


_MAX_BYTES = 20_000_000
"""Larger than any source that a symbol was ever found in; a server may point to anything, `/dev/zero` among it."""


def read_external(job: ExternalJob, externals: Externals, root: str) -> list[DocumentFacts]:
    """Symbols of files outside the workspace, only those that are pointed to and their containers.

    Args:
        root: of the workspace.
    """
    found: dict[str, DocumentFacts] = {}
    reach = Reach(Path(root), job.allowed, everything=job.everything)
    for path, positions in sorted(job.wanted.items()):
        named = of_place(path)
        if named is not None:
            facts = _named(named[1], positions, job.languages.get(path) or _language_of_text(b""))
            found.setdefault(facts.header["path"], facts)
            continue
        external = externals.describe(path)
        is_unread = path in externals.unread
        is_installed = is_unread or externals.is_installed(path)
        source = read_source(path, _MAX_BYTES) if is_installed or reach.may_read(path) else b""
        source = b"" if len(source) > _MAX_BYTES or encoding_of(source) is None else as_utf8(source)
        language = job.languages.get(path) or _language_of_text(source)
        with bounded(allowed_s(len(source), math.inf)):
            syntax = syntaxes.parse(language, path, _wanted(language, path, source, positions), external.module, definitions_only=True)
        kept, meant = _only_wanted(syntax, set(positions), with_asked=record_of(language).satisfies == "unsaid")
        if not is_installed:
            _keep_names_alone(kept)
        document = PlannedDocument(
            path=external.key,
            language=language,
            digest=blob_digest(source),
            size_bytes=len(source),
            module=external.module,
            package=(external.manager, external.package, external.version),
        )
        facts = DocumentFacts(document.header("external", line_count=syntax.line_count))
        prefix = monikers.package_prefix(language, *document.package)
        prefix += harvest.module_prefix(language, external.module, external.place or external.module.replace(".", "/"))
        harvest.add_symbols(facts, kept, {}, prefix, external.module)
        for ordinal, position in meant:
            harvest.add_range(facts, ordinal, position)
        found.setdefault(external.key, facts)
    return [found[key] for key in sorted(found)]


def _named(symbol: ExternalSymbol, positions: Sequence[Position], language: str) -> DocumentFacts:
    """A symbol of which nobody knows where it is defined: its own names, and nothing else."""
    document = PlannedDocument(
        path=symbol.key,
        language=language,
        digest=blob_digest(b""),
        size_bytes=0,
        module=symbol.dotted,
        package=(symbol.manager, symbol.package, symbol.version),
    )
    facts = DocumentFacts(document.header("external", line_count=0))
    dotted = ""
    for ordinal, part in enumerate([symbol.module, *symbol.descriptors]):
        dotted = f"{dotted}.{part.name}" if ordinal else symbol.dotted
        facts.add(
            "symbols",
            moniker=part.symbol, name=part.name, qualified_name=dotted, kind=int(part.kind), flags=int(SymbolFlag.EXPORTED),
            container=ordinal - 1, **dict.fromkeys(_PLACES, 0), signature="", documentation="", hover="",
        )  # fmt: skip
    for position in positions:
        harvest.add_range(facts, len(symbol.descriptors), position)
    return facts


def _wanted(language: str, path: str, source: bytes, positions: Sequence[Position]) -> bytes:
    """The text with blank lines in place of most of what nothing points to, where it is long."""
    lines = (position[0] for position in positions)
    if language == PYTHON.name and len(source) > _LONG_PYTHON_BYTES:
        from indexer.syntax import python

        return python.excerpt(source, lines)
    return excerpt(language, path, source, lines) if len(source) > _LONG_BYTES and tree.supports(language) else source


def _keep_names_alone(syntax: Syntax) -> None:
    """Takes away what symbols say beside their names: it is text of somebody else's file."""
    for symbol in syntax.symbols:
        symbol.documentation = symbol.signature = ""


def _language_of_text(source: bytes) -> str:
    """Of a file whose name does not tell: the standard headers of C++ have no ending, and say what they are in their first line."""
    return CPP.name if b"C++" in source[:200] or b"<bits/" in source else C.name


def _only_wanted(syntax: Syntax, positions: set[Position], *, with_asked: bool) -> tuple[Syntax, list[tuple[int, Position]]]:
    """The module, the symbols at `positions` and their containers, renumbered; and which position means which symbol.

    Servers point at a name or at a whole `self.name`: what counts is where the range ends.

    Args:
        with_asked: also what an interface asks for, by which one tells the members that implement it.
    """
    tokens = syntax.tokens
    ends = {(tokens.line[i], tokens.end_col[i]): tokens.symbol[i] for i in range(len(tokens)) if tokens.symbol[i] >= 0}
    keep = {0}
    meant: list[tuple[int, Position]] = []
    for position in sorted(positions):
        line, col, end_line, end_col = position
        is_module = position == (0, 0, 0, 0) or (line < end_line >= syntax.line_count - 1)
        ordinal = 0 if is_module else ends.get((end_line, end_col), -1)
        if ordinal < 0:
            ordinal = max(
                (i for i, s in enumerate(syntax.symbols) if (s.span.line, s.span.col) <= (line, col) < (s.span.end_line, s.span.end_col)),
                default=0,
            )
        meant.append((ordinal, position))
        while ordinal > 0 and ordinal not in keep:
            keep.add(ordinal)
            ordinal = syntax.symbols[ordinal].container
    if with_asked:
        interfaces = {ordinal for ordinal, _ in meant if syntax.symbols[ordinal].kind == SymbolKind.INTERFACE}
        keep |= {i for i, symbol in enumerate(syntax.symbols) if symbol.container in interfaces and symbol.kind == SymbolKind.METHOD}
    order = sorted(keep)
    renumbered = {old: new for new, old in enumerate(order)}
    syntax.symbols = [syntax.symbols[i] for i in order]
    for symbol in syntax.symbols[1:]:
        symbol.container = renumbered[symbol.container]
    for symbol in syntax.symbols:
        symbol.documentation = symbol.documentation.split("\n\n", 1)[0][:400]
        symbol.extra_ranges = []
    return syntax, [(renumbered[ordinal], position) for ordinal, position in meant]
