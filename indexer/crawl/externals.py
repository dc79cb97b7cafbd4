"""Files outside the workspace: read for the names of what the workspace refers to, nothing else of them is kept."""

from __future__ import annotations

from pathlib import Path

from indexer.crawl import harvest
from indexer.crawl.messages import ExternalJob, Position
from indexer.python_project import Externals
from indexer.store.facts import DocumentFacts
from indexer.syntax import python as python_syntax
from indexer.syntax.model import Syntax
from indexer.text import blob_digest


def read_external(job: ExternalJob, externals: Externals) -> list[DocumentFacts]:
    """Symbols of files outside the workspace, only those that are pointed to and their containers."""
    found: dict[str, DocumentFacts] = {}
    for path, positions in sorted(job.wanted.items()):
        external = externals.describe(path)
        try:
            source = Path(path).read_bytes()
            source.decode("utf-8")
        except (OSError, UnicodeDecodeError):
            source = b""
        syntax = python_syntax.parse(source, external.module, definitions_only=True)
        kept, meant = _only_wanted(syntax, set(positions))
        facts = DocumentFacts(
            header={
                "path": external.key,
                "language": "python",
                "module": external.module,
                "digest": blob_digest(source),
                "size_bytes": len(source),
                "line_count": syntax.line_count,
                "is_test": False,
                "status": "external",
                "error_lines": [],
                "package_manager": external.manager,
                "package": external.package,
                "package_version": external.version,
            }
        )
        harvest.add_symbols(facts, external.key, external.module, kept, {}, (external.manager, external.package, external.version))
        for ordinal, position in meant:
            for column, value in zip(facts.tables["extra_ranges"], (ordinal, *position), strict=True):
                column.append(value)
        found.setdefault(external.key, facts)
    return [found[key] for key in sorted(found)]


def _only_wanted(syntax: Syntax, positions: set[Position]) -> tuple[Syntax, list[tuple[int, Position]]]:
    """The module, the symbols at `positions` and their containers, renumbered; and which position means which symbol.

    Servers point at a name or at a whole `self.name`: what counts is where the range ends.
    """
    tokens = syntax.tokens
    ends = {(tokens.line[i], tokens.end_col[i]): tokens.symbol[i] for i in range(len(tokens)) if tokens.symbol[i] >= 0}
    keep = {0}
    meant: list[tuple[int, Position]] = []
    for position in sorted(positions):
        line, col, end_line, end_col = position
        ordinal = 0 if position == (0, 0, 0, 0) else ends.get((end_line, end_col), -1)
        if ordinal < 0:
            ordinal = max(
                (i for i, s in enumerate(syntax.symbols) if (s.span.line, s.span.col) <= (line, col) < (s.span.end_line, s.span.end_col)),
                default=0,
            )
        meant.append((ordinal, position))
        while ordinal > 0 and ordinal not in keep:
            keep.add(ordinal)
            ordinal = syntax.symbols[ordinal].container
    order = sorted(keep)
    renumbered = {old: new for new, old in enumerate(order)}
    syntax.symbols = [syntax.symbols[i] for i in order]
    for symbol in syntax.symbols[1:]:
        symbol.container = renumbered[symbol.container]
    for symbol in syntax.symbols:
        symbol.documentation = symbol.documentation.split("\n\n", 1)[0][:400]
        symbol.extra_ranges = []
    return syntax, [(renumbered[ordinal], position) for ordinal, position in meant]
