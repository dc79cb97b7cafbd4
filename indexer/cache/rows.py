"""What the rows of an artifact must be before they are merged: in range, leading to rows, saying only what there is to say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from indexer.cache.artifact import DIGEST, is_inside, is_key
from indexer.crawl.methods import METHODS
from indexer.errors import CacheRefused
from indexer.lsp.enums import DiagnosticSeverity, names
from indexer.model import CoverageStatus, Evidence, Role, SymbolFlag, SymbolKind
from indexer.servers.registry import load_table
from indexer.store.facts import AT_PLACE

if TYPE_CHECKING:
    import pyarrow as pa

MAX_LINE = 10_000_000
MAX_NAME_BYTES = 100_000
MAX_TEXT_BYTES = 5_000_000

_LEADS_TO: tuple[tuple[str, str, str], ...] = (
    ("symbols", "container", "symbols"),
    ("extra_ranges", "symbol", "symbols"),
    ("members", "symbol", "symbols"),
    ("silent_members", "owner", "symbols"),
    ("owners", "symbol", "symbols"),
    ("owners", "target", "targets"),
    ("owners", "own", "symbols"),
    ("occurrences", "enclosing", "symbols"),
    ("occurrences", "symbol", "symbols"),
    ("occurrences", "target", "targets"),
    ("supertypes", "symbol", "symbols"),
    ("supertypes", "target", "targets"),
    ("supertypes", "own", "symbols"),
)
"""(table, column, table that the number leads into); -1 leads nowhere."""

_POSITIONS = frozenset({"line", "col", "end_line", "end_col", "start_line", "start_col", "sel_line", "sel_col", "sel_end_col"})
_COUNTS = frozenset({"asked", "answered", "size_bytes", "line_count"})
_LONG = frozenset({"documentation", "hover", "signature", "message", "reason"})
_WORDS: dict[tuple[str, str], frozenset[Any]] = {
    ("symbols", "kind"): frozenset(map(int, SymbolKind)),
    ("occurrences", "evidence"): frozenset(map(int, Evidence)),
    ("supertypes", "evidence"): frozenset(map(int, Evidence)),
    ("coverage", "method"): frozenset(METHODS),
    ("coverage", "status"): frozenset(map(str, CoverageStatus)),
    ("diagnostics", "severity"): frozenset(names(DiagnosticSeverity)),
}
_BITS: dict[tuple[str, str], int] = {
    ("symbols", "flags"): sum(SymbolFlag) & ~int(SymbolFlag.EXTERNAL),  # the merge says what is outside
    ("occurrences", "roles"): sum(Role),
}
_STATUS_INSIDE = frozenset({"ok", "partial", "lost"})


def check_rows(table: pa.Table, seen: set[str], *, outside: bool) -> None:
    """Checks a table of `indexer.store.shard.SCHEMA`.

    Args:
        seen: paths of other tables; those of this one are added.
        outside: whether it is the part of the files outside the workspace.
    Raises:
        CacheRefused: says what is wrong, of which document or column.
    """
    _check_documents(table, seen, outside=outside)
    for problem in _problems(table, outside=outside):
        raise CacheRefused(problem)


def _check_documents(table: pa.Table, seen: set[str], *, outside: bool) -> None:
    languages = load_table().language
    names = ("path", "digest", "status", "language")
    for path, digest, status, language in zip(*(table.column(name).to_pylist() for name in names), strict=True):
        if path in seen:
            raise CacheRefused(f"'{path}' is described twice")
        seen.add(path)
        if path is None or not (is_key(path) if outside else is_inside(path)):
            raise CacheRefused(f"'{path}' is no {'name of a file outside a' if outside else 'path inside a'} workspace")
        if status not in (("external",) if outside else _STATUS_INSIDE):
            raise CacheRefused(f"'{path}' lies in the wrong part of the artifact, or has a status that there is not: '{status}'")
        if not DIGEST.fullmatch(digest or ""):
            raise CacheRefused(f"'{path}' has no digest")
        if language not in languages:
            raise CacheRefused(f"'{path}' is in a language that this lspidx does not know: '{language}'")


def _problems(table: pa.Table, *, outside: bool) -> Iterator[str]:
    """Sentences about what cannot be, the first of which is enough."""
    import pyarrow as pa
    from pyarrow import compute

    pc: Any = compute  # its functions are made at run time
    values: dict[tuple[str, str], Any] = {}
    sizes: dict[str, Any] = {}
    parents: dict[str, Any] = {}
    for field in table.schema:
        column: Any = table.column(field.name).combine_chunks()
        if column.null_count:
            yield f"a document has no {field.name}"
        if not pa.types.is_list(field.type):
            values["", field.name] = column
            continue
        sizes[field.name], parents[field.name] = pc.list_value_length(column), pc.list_parent_indices(column)
        rows = pc.list_flatten(column)
        if pa.types.is_struct(rows.type):
            values.update({(field.name, part.name): pc.struct_field(rows, part.name) for part in rows.type})
        else:
            values["", field.name] = rows
    for (name, column), found in values.items():
        called = f"{name}.{column}".lstrip(".")
        if found.null_count:
            yield f"{called} has a hole"
        if not len(found):
            continue
        if pa.types.is_string(found.type):
            if pc.max(pc.binary_length(found)).as_py() > (MAX_TEXT_BYTES if column in _LONG else MAX_NAME_BYTES):
                yield f"{called} is longer than any is"
        elif column in _POSITIONS or column in _COUNTS or column == "error_lines":
            low, high = pc.min(found).as_py(), pc.max(found).as_py()
            if low < 0 or (high > MAX_LINE and column not in _COUNTS):
                yield f"{called} is outside of any file: {low if low < 0 else high}"
    for (name, column), bits in _BITS.items():
        found = values[name, column]
        if pc.any(pc.not_equal(pc.bit_wise_and(found, pa.scalar(0xFFFF & ~bits, pa.uint16())), 0)).as_py():
            yield f"{name}.{column} has a bit that means nothing here"
    for (name, column), known in _WORDS.items():
        odd = set(pc.unique(values[name, column]).to_pylist()) - known
        if odd:
            yield f"{name}.{column} says something that there is not: {sorted(odd, key=str)[0]!r}"
    for name, column, into in _LEADS_TO:
        limits = pc.take(sizes[into], parents[name])
        if pc.any(pc.or_(pc.less(values[name, column], -1), pc.greater_equal(values[name, column], limits))).as_py():
            yield f"a number in {name}.{column} leads to nothing"
    paths = pc.unique(values["targets", "path"]).to_pylist()
    for path in paths:
        if not is_inside(path) and not is_key(path):
            yield f"'{path}', to which something refers, is neither a path inside a workspace nor a name of a file outside"
    settled = pc.not_equal(values["targets", "symbol"], pa.scalar(AT_PLACE, pa.uint64()))
    for path in pc.unique(values["targets", "path"].filter(settled)).to_pylist():
        if not is_inside(path):
            yield f"a target in '{path}' is said to be a symbol of the workspace"
    expected = [] if outside else list(METHODS) * table.num_rows
    if values["coverage", "method"].to_pylist() != expected or set(sizes["coverage"].to_pylist()) - {0 if outside else len(METHODS)}:
        yield "a document's coverage does not name every method once"
