"""What a user may call a symbol, turned into the one symbol that is meant, or an error that lists the candidates.

    Flask                      bare name
    Flask.route  app.Flask.route  flask.app:Flask.route     dotted suffix of the qualified name
    geo::Shape::area  (*Router).Handle  Box<T>::get         the same as other languages write it
    Element#append(String)  Outer$Inner  new Box  Box::new  Java's documentation, class files, constructors
    flask.Flask  pflag.FlagSet.Parse  crate::Shape          package, folders and file may be left out in part, containers not
    src/flask/app.py  app.py   the module in that file
    src/flask/app.py:81        what is defined on that line
    src/flask/app.py:81:7      what stands at that place (1-based, UTF-16)
    file + position_pattern    `class @@Flask`: the place of the @@, which must match once
    python pip flask …         a moniker, as every tool prints it

Several fits are never settled by taking the first. Symbols of the workspace go before those of its dependencies.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Collection
from typing import NamedTuple

from indexer.encoding import as_text
from indexer.errors import AmbiguousName, NameNotFound, UsageError
from indexer.languages import record_of
from indexer.model import FOREIGN
from indexer.quoting import one_line
from indexer.text import index_to_utf16, word_digest
from query.facts.components import component_of
from query.facts.documents import held_now
from query.facts.dotted import dotted, last_of, named
from query.facts.folders import folders, index_command
from query.facts.freshness import is_as_indexed
from query.facts.gaps.words import Texts, found_in
from query.facts.index import Index
from query.facts.symbols import CARD, OF_DOCUMENT, TYPES, Symbol, symbols_by_id, to_symbol

MAX_CANDIDATES = 20
_PLACE = re.compile(r"(?P<path>.+?):(?P<line>[0-9]{1,9})(?::(?P<col>[0-9]{1,9}))?", re.DOTALL)
_MONIKER = re.compile(r"[a-z][\w+#.-]* \S+ .[^ ]* .+ \S+|local \S+", re.DOTALL)
_MARK = "@@"
_HOLDERS = (*TYPES, "function", "method", "constructor", "property", "module", "namespace")


class Unresolved(NameNotFound):
    """There is an identifier, and nobody knows what it means: not the same as a place where none is."""


class Position(NamedTuple):
    """1-based place in a document of the index."""

    path: str
    line: int
    col: int


def document_path(index: Index, path: str) -> str:
    """A path as the index has it: relative to the root.

    Raises:
        UsageError: outside the workspace, a device or network path, or no document of the index.
    """
    if not path:
        raise UsageError("name a document: file_path is empty")
    if "\0" in path or path.startswith(("\\\\", "//")) or path[1:3] == ":\\":
        raise UsageError(f"'{path}' is not a path inside the workspace")
    root = str(index.root)
    candidates = [path]
    if os.path.isabs(path):
        candidates = [os.path.relpath(path, root), os.path.relpath(os.path.realpath(path), os.path.realpath(root))]
    else:
        here = os.path.join(os.getcwd(), path)
        candidates += [os.path.relpath(here, root), os.path.relpath(os.path.realpath(here), os.path.realpath(root))]
    normal = [os.path.normpath(candidate).replace(os.sep, "/") for candidate in candidates]
    beside = [folder.prefix for folder in folders(index)[1:]]
    if not os.path.isabs(path) and not (normal[0] + "/").startswith("../"):
        normal += [prefix + normal[0] for prefix in beside]
    for candidate in normal:
        if index.row("SELECT 1 FROM document WHERE path = ? AND status <> 'external'", [candidate]):
            return candidate
    inside = [candidate for candidate in normal if candidate.startswith(tuple(beside)) or not (candidate + "/").startswith("../")]
    if not inside:
        others = f" and outside its other folders {', '.join(beside)}" if beside else ""
        raise UsageError(f"'{path}' is outside the workspace '{root}'{others}")
    for candidate in inside:
        skipped = index.row("SELECT reason FROM skipped WHERE path = ?", [candidate])
        if skipped:
            hint = f"; to read it: lspidx index --include {shlex.quote(candidate)}" if skipped[0] in FOREIGN else ""
            raise UsageError(f"'{candidate}' was skipped when the index was made: {skipped[0].replace('_', ' ')}{hint}")
    near = index.rows(
        "SELECT path FROM document WHERE status <> 'external' ORDER BY jaro_winkler_similarity(path, ?) DESC, path LIMIT 3", [inside[0]]
    )
    raise NameNotFound(f"no document '{inside[0]}' in the index; nearest: {', '.join(p for (p,) in near)}")


def find_pattern(index: Index, path: str, pattern: str) -> Position:
    """The place of the one `@@` of a pattern that must match the file exactly once.

    Raises:
        UsageError: not one mark, or no match, or several (then the message lists their lines).
    """
    if pattern.count(_MARK) != 1:
        raise UsageError(f"position_pattern needs exactly one '{_MARK}', got '{pattern}'")
    relative = document_path(index, path)
    if not is_as_indexed(index, relative):
        raise UsageError(
            f"'{relative}' has changed since the index was made, so its text cannot be matched; first run: {index_command(index)}"
        )
    text = as_text(held_now(index, relative) or b"").replace("\r\n", "\n").replace("\r", "\n")
    before, after = pattern.split(_MARK)
    starts = [match.start() for match in re.finditer(re.escape(before + after), text)]
    if len(starts) != 1:
        lines = [str(text.count("\n", 0, start) + 1) for start in starts[:MAX_CANDIDATES]]
        what = f"matches {len(starts)} times, on lines {', '.join(lines)}" if starts else "does not match"
        raise UsageError(f"position_pattern '{pattern}' {what} in '{relative}'; it must match exactly once")
    offset = starts[0] + len(before)
    line_start = text.rfind("\n", 0, offset) + 1
    line_text = text[line_start : text.find("\n", offset) if text.find("\n", offset) >= 0 else len(text)]
    return Position(relative, text.count("\n", 0, offset) + 1, index_to_utf16(line_text, offset - line_start) + 1)


def resolve(
    index: Index, name: str, *, path: str = "", line: int = 0, col: int = 0, position_pattern: str = "", kinds: Collection[str] = ()
) -> Symbol:
    """The symbol that is meant.

    Args:
        name: any of the forms at the top of this module; empty where `path` and a position are given instead.
        path: with a name and no position: only symbols of this document.
        kinds: of several that a name fits, only these are asked for.
    Raises:
        NameNotFound: nothing fits; the message has the nearest names.
        AmbiguousName: several do; `.candidates` can be sent back as they are.
        UsageError: neither a name nor a place, or a path that is none.
    """
    if position_pattern:
        if not path:
            raise UsageError("position_pattern needs a file_path")
        return at_position(index, find_pattern(index, path, position_pattern))
    if (line and not path) or (col and not line):
        raise UsageError("a line needs a file_path, a column needs a line")
    position = Position(document_path(index, path), line, col) if path and line else place_of(index, name)
    if position is not None:
        return at_position(index, position) if position.col else on_line(index, position.path, position.line)
    name = name.strip()
    if not name:
        raise UsageError("name a symbol, or give file_path with line and column, or file_path with position_pattern")
    if is_moniker(name):
        return by_moniker(index, name)
    if "/" in name or _has_ending(index, name):
        try:
            return module_of(index, document_path(index, name))
        except NameNotFound:
            # a module that is called as its path, since two have one name; a Go import path: github.com/spf13/pflag.FlagSet
            file = _called(index, name) or named(index, name) or named(index, name.replace("/", "."))
            if not file:
                raise
            return _the_one(index, name, file)
    return by_name(index, name, document_path(index, path) if path else "", kinds)


def _has_ending(index: Index, name: str) -> bool:
    """Whether a name ends as files of the indexed languages do."""
    endings: tuple[str, ...] = index.keep("suffixes", lambda: tuple(json.loads(index.meta.get("suffixes", "[]"))))
    return name.lower().endswith(endings)


def _called(index: Index, name: str) -> list[Symbol]:
    """Modules of the documents anywhere that are called so, or whose path ends so."""
    rows = index.rows(
        f"""
        SELECT {CARD} FROM document d JOIN symbol_card s USING (doc_id)
        WHERE d.status <> 'external' AND suffix(d.path, '/' || $name) AND {OF_DOCUMENT} ORDER BY s.sym_id
        """,
        {"name": name},
    )
    return [to_symbol(row) for row in rows]


def _the_one(index: Index, name: str, found: list[Symbol]) -> Symbol:
    if len(found) == 1:
        return found[0]
    raise ambiguous(index, name, found)


def is_moniker(name: str) -> bool:
    """Whether a name has the form of a symbol of SCIP."""
    return _MONIKER.fullmatch(name) is not None


def place_of(index: Index, name: str) -> Position | None:
    """What `path:line` and `path:line:col` say; None for any other form of name. The column is 0 where none is given."""
    place = None if is_moniker(name) else _PLACE.fullmatch(name)
    return None if place is None else Position(document_path(index, place["path"]), int(place["line"]), int(place["col"] or 0))


def by_moniker(index: Index, moniker: str) -> Symbol:
    ids = [row[0] for row in index.rows("SELECT sym_id FROM symbol_key WHERE key = moniker_key(?)", [moniker])]
    for symbol in symbols_by_id(index, ids).values():
        if symbol.record.symbol == moniker:
            return symbol
    raise NameNotFound(f"no symbol '{moniker}' in this index")


def module_of(index: Index, path: str) -> Symbol:
    rows = index.rows(f"SELECT {CARD} FROM symbol_card s WHERE s.path = ? AND {OF_DOCUMENT} ORDER BY s.sym_id", [path])
    if not rows:
        raise NameNotFound(f"'{path}' was lost in the crawl and has no symbols")
    return to_symbol(rows[0])


def by_name(index: Index, name: str, path: str = "", kinds: Collection[str] = ()) -> Symbol:
    """A bare name or a dotted suffix, of one document if `path` is given, of one of `kinds` if any is."""
    found = [symbol for symbol in named(index, name) if not path or symbol.record.path == path]
    if not found:
        where = f" in '{path}'" if path else ""
        raise NameNotFound(f"no symbol is called '{name}'{where}{'' if path else _open(index, last_of(dotted(name)))}{_hint(index, name)}")
    return _the_one(index, name, [symbol for symbol in found if symbol.record.kind in kinds] or found)


_REQUIRED = re.compile(r"=\s*require\(['\"][^'\"]+['\"]\)\Z")
_REQUIRED_MODULE = """
    SELECT DISTINCT o.sym_id FROM occ o JOIN document d USING (doc_id) JOIN symbol s USING (sym_id)
    WHERE d.path = $path AND o.line = $line AND has_role(o.roles, 'mention') AND is_kind(s.kind, 'module')
"""


def callable_of(index: Index, symbol: Symbol) -> Symbol:
    """What is called where a module is: the function or class that it exports as a whole or by default, where it has one alone.

    So for a variable that holds a module as `require` gives it: uses of its name mean what the module is.
    """
    if symbol.record.kind == "variable" and _REQUIRED.search(symbol.record.signature):
        rows = index.rows(_REQUIRED_MODULE, {"path": symbol.record.path, "line": symbol.record.line - 1})
        modules = symbols_by_id(index, [sym_id for (sym_id,) in rows])
        return callable_of(index, *modules.values()) if len(modules) == 1 else symbol
    if symbol.record.kind != "module":
        return symbol
    if (component := component_of(index, symbol.record.path)) is not None:
        return component
    [(language,)] = index.rows("SELECT d.language FROM symbol s JOIN document d USING (doc_id) WHERE s.sym_id = ?", [symbol.sym_id])
    rows = index.rows(
        f"""
        SELECT {CARD} FROM symbol_card s JOIN symbol own USING (sym_id)
        WHERE own.container_id = $module AND (is_callable(s.kind) OR is_type(s.kind))
          AND (list_contains($names, s.name) OR regexp_matches(s.signature, '^(module.exports =|export default) '))
        """,
        {"module": symbol.sym_id, "names": sorted(record_of(language).fixed_names)},
    )
    return to_symbol(rows[0]) if len(rows) == 1 else symbol


def on_line(index: Index, path: str, line: int) -> Symbol:
    """What is defined on a line (a second overload, a setter too), or declared there; else the definition around it."""
    rows = index.rows(
        f"""
        SELECT {CARD} FROM (
            SELECT o.sym_id, min(o.col) AS col FROM occ o
            WHERE o.doc_id = (SELECT doc_id FROM document WHERE path = $path) AND o.line = $line AND has_role(o.roles, 'definition')
            GROUP BY o.sym_id
        ) o JOIN symbol_card s ON s.sym_id = o.sym_id
        WHERE NOT ({OF_DOCUMENT}) AND NOT has_flag(s.flags, 'external')
        ORDER BY s.path <> $path, has_flag(s.flags, 'local'), o.col, s.sym_id
        """,
        {"path": path, "line": line - 1},
    )
    found = [to_symbol(row) for row in rows]
    found = [symbol for symbol in found if symbol.record.path == path] or found  # a C++ prototype is defined elsewhere
    visible = [symbol for symbol in found if not symbol.is_local] or found
    callables = [symbol for symbol in visible if symbol.record.kind in _HOLDERS]
    if len(callables or visible) > 1:
        raise ambiguous(index, f"{path}:{line}", callables or visible)
    if visible:
        return (callables or visible)[0]
    around = enclosing(index, path, line)
    if around is None:
        raise NameNotFound(f"nothing is defined on or around '{path}:{line}'")
    return around


def enclosing(index: Index, path: str, line: int, col: int = 0) -> Symbol | None:
    """The innermost definition whose range holds a place; without a column, one that touches the line."""
    rows = index.rows(
        """
        SELECT sym_id FROM (
            SELECT sym_id, start_line, start_col, end_line, end_col FROM symbol
            WHERE doc_id = (SELECT doc_id FROM document WHERE path = $path) AND is_scope(kind)
            UNION ALL
            SELECT sym_id, start_line, start_col, end_line, end_col FROM extra_definition
            WHERE doc_id = (SELECT doc_id FROM document WHERE path = $path)
        )
        WHERE start_line <= $line AND end_line >= $line
          AND ($col = 0 OR ((start_line, start_col) <= ($line, $col - 1) AND ($line, $col - 1) < (end_line, end_col)))
        ORDER BY start_line DESC, start_col DESC, end_line, end_col LIMIT 8
        """,
        {"path": path, "line": line - 1, "col": col},
    )
    known = symbols_by_id(index, [row[0] for row in rows])
    return next((known[row[0]] for row in rows if known[row[0]].record.kind in _HOLDERS), None)


def at_position(index: Index, position: Position) -> Symbol:
    """The symbol of the identifier at a place.

    Raises:
        NameNotFound: no identifier there, or nobody knows what it means.
        AmbiguousName: it has several meanings.
    """
    found = symbols_at(index, position)
    if len(found) > 1:
        raise ambiguous(index, f"{position.path}:{position.line}:{position.col}", found)
    return found[0]


def symbols_at(index: Index, position: Position) -> list[Symbol]:
    """All meanings of the identifier at a place; raises NameNotFound as `at_position` does."""
    rows = index.rows(
        """
        SELECT o.name, o.sym_id FROM occ o
        WHERE o.doc_id = (SELECT doc_id FROM document WHERE path = $path) AND o.line = $line AND o.col <= $col AND $col <= o.end_col
        ORDER BY o.col DESC, o.sym_id
        """,
        {"path": position.path, "line": position.line - 1, "col": position.col - 1},
    )
    where = f"{position.path}:{position.line}:{position.col}"
    if not rows:
        raise NameNotFound(f"no identifier at '{where}'")
    name = rows[0][0]
    ids = [sym_id for other, sym_id in rows if other == name and sym_id is not None]
    if not ids:
        raise Unresolved(f"'{name}' at '{where}' is unresolved; why: lspidx status")
    known = symbols_by_id(index, ids)
    return [known[sym_id] for sym_id in ids]


def ambiguous(index: Index, asked: str, found: list[Symbol]) -> AmbiguousName:
    """The error that lists what fits; what it says to send means that one symbol alone."""
    candidates: list[dict[str, object]] = [
        {
            "symbol": symbol.record.symbol,
            "send": _shortest(index, symbol),
            "qualified_name": symbol.record.qualified_name,
            "kind": symbol.record.kind,
            "path": symbol.record.path,
            "line": symbol.record.line,
        }
        for symbol in found[:MAX_CANDIDATES]
    ]
    return AmbiguousName(f"'{asked}' fits {len(found)} symbols; send one of these instead", candidates, len(found))


def unambiguous(index: Index, symbol: Symbol) -> str:
    """A text that means this symbol alone where it is typed: its qualified name, else its place, else its moniker."""
    name = symbol.record.qualified_name
    if [other.sym_id for other in named(index, name)] == [symbol.sym_id]:
        try:
            if resolve(index, name).sym_id == symbol.sym_id:
                return name
        except (AmbiguousName, NameNotFound, UsageError):  # a file is called so, or the name reads as a place
            pass
    return _shortest(index, symbol)


def _shortest(index: Index, symbol: Symbol) -> str:
    record = symbol.record
    if record.external:
        return record.symbol
    if record.kind == "module" and not record.container:
        return record.path
    try:
        here = symbols_at(index, Position(record.path, record.line, record.col))
    except NameNotFound:
        return record.symbol
    return f"{record.path}:{record.line}:{record.col}" if [other.sym_id for other in here] == [symbol.sym_id] else record.symbol


def _hint(index: Index, name: str) -> str:
    last = last_of(dotted(name))
    rows = index.rows(
        """
        SELECT arg_max(s.qualified_name, (n.refs, -s.sym_id)) FROM symbol_name n JOIN symbol s USING (sym_id)
        WHERE NOT has_flag(s.flags, 'external') AND jaro_winkler_similarity(n.lname, lower($name)) > 0.87
        GROUP BY n.name ORDER BY max(jaro_winkler_similarity(n.lname, lower($name))) DESC, max(n.refs) DESC LIMIT 3
        """,
        {"name": last},
    )
    extent = index.meta.get("partial")
    why = "the index is being made" if index.is_catching_up else "the run that made this index was cut off"
    partial = f"; {why}, and only {extent} files are in it" if extent else ""
    return (f"; did you mean {', '.join(row[0] for row in rows)}?" if rows else "") + partial + _not_read(index, last)


def _open(index: Index, word: str) -> str:
    """What is said of identifiers of this name whose meaning is unknown: something is called so, and an empty list would hide it."""
    rows: list[tuple[str, int, int]] = index.rows(
        """
        SELECT d.path, u.line, u.col FROM unresolved_name u JOIN document d USING (doc_id) WHERE u.name = $name ORDER BY ALL
        """,
        {"name": word},
    )
    if not rows:
        return ""
    named = [f"{path}:{line + 1}:{col + 1}" for path, line, col in rows[:_MOST_NAMED]]
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    what = "one unresolved identifier is" if len(rows) == 1 else f"{len(rows)} unresolved identifiers are"
    return f"; {what} ({', '.join(named)}{more})"


_MOST_NAMED = 3
_MOST_SEARCHED = 50
_LEFT_OUT = """
    SELECT k.path, k.reason FROM skipped k JOIN skipped_word w USING (path)
    WHERE k.language <> '' AND list_contains(w.words, $word) ORDER BY k.path
"""
_IN_PART = """
    SELECT d.path, coalesce(nullif(split_part(c.reason, ':', 1), ''), 'syntax_error')
    FROM document_coverage c JOIN document d USING (doc_id)
    WHERE c.method = 'syntax' AND c.status NOT IN ('done', 'empty') AND d.status <> 'external' ORDER BY d.path LIMIT $most
"""


def _not_read(index: Index, name: str) -> str:
    """Files that may define a name though the index has it not: sources with that word that were not read, or in part only."""
    left_out: list[tuple[str, str]] = index.rows(_LEFT_OUT, {"word": word_digest(name)})
    texts = Texts(index.root)
    in_part = [row for row in index.rows(_IN_PART, {"most": _MOST_SEARCHED}) if found_in(texts.read(row[0]) or b"", [name])]
    if not (rows := left_out + in_part):
        return ""
    what = "1 file that was" if len(rows) == 1 else f"{len(rows)} files that were"
    how = "not read" if not in_part else "not wholly read"
    shown = ", ".join(f"{one_line(path)} ({reason})" for path, reason in rows[:_MOST_NAMED])
    return f"; the word is in {what} {how}: {shown}{', …' if len(rows) > _MOST_NAMED else ''}"


def qualified_name(index: Index, path: str, dotted_name: str) -> str:
    """The qualified name of what a file defines, by its name inside the file; that name where the index knows none, or several."""
    rows = index.rows(
        """
        SELECT DISTINCT s.qualified_name FROM symbol s JOIN document d USING (doc_id)
        WHERE d.path = $path AND (s.qualified_name = $dotted OR suffix(s.qualified_name, '.' || $dotted)) LIMIT 2
        """,
        {"path": path, "dotted": dotted_name},
    )
    return rows[0][0] if len(rows) == 1 else dotted_name
