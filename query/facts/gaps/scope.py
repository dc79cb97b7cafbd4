"""Which files could refer to symbols: a gap in any other file cannot touch the answer about them (ADR 0040).

A file can name a symbol only by one of its names, its own or one that an import gives it, so a file whose present text holds none of
them is out of the question, whether or not it was read. What is visible in a part of the workspace only is named there only.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

from indexer.encoding import as_utf8
from indexer.languages import Language, record_of
from indexer.manifests import format_of
from indexer.model import SymbolKind
from indexer.text import for_grammars
from query.facts import components
from query.facts.families import languages_of
from query.facts.gaps.words import alone, found_in, is_exported_below
from query.facts.index import Index
from query.facts.kept_types import kept_types
from query.facts.symbols import TYPES, Symbol
from query.facts.unresolved_names import named

_ES_MODULE = re.compile(rb"^(?:import|export)\b", re.MULTILINE)
_COMMONJS = re.compile(rb"\bmodule\.exports\b|\bexports\.")
_STAR = re.compile(rb"\b(?:import|export)\s*\*")
_DEFAULT = re.compile(rb"\bexport\s+default\b|\bas\s+default\b|\bexport\s*=|\bmodule\.exports\b")
_WHOLE = (
    rb"(?:\bexport\s+default|\bexport\s*=|\bmodule\.exports\s*=)\s*"
    rb"(?:(?:abstract\s+|async\s+)?(?:function\b\s*\*?\s*|class\s+)%(name)b(?![\w$])|%(name)b(?![\w$(.]))"
    rb"|(?<![\w$])%(name)b\s+as\s+default\b"
)
"""A file that hands a name on as all of it, or by default. A call of it, or a member, is another value."""


class Scope:
    """Where uses of some symbols can be. Files are read only where it is asked about them.

    Args:
        symbols: asked about together. family: languages whose files may refer to them; empty for all.
        question: `callers` of them, or `references`. read: what a file holds now, None where nobody can tell.
        within: whether a path is asked about; all are by default.
    """

    def __init__(
        self,
        index: Index,
        symbols: Sequence[Symbol],
        *,
        family: Collection[str],
        question: str,
        read: Callable[[str], bytes | None],
        within: Callable[[str], bool] | None = None,
    ) -> None:
        self._index = index
        self._symbols = [symbol for symbol in symbols if not symbol.is_local] or symbols  # locals are named where the others are defined
        self._all = symbols
        self._family = family
        self._question = question
        self._text = read
        self._within = within
        self._held: dict[str, frozenset[str]] = {}
        self._unresolved: dict[str, int] | None = None
        self._not_read: dict[str, list[int]] = {}

    @cached_property
    def own_paths(self) -> frozenset[str]:
        """Where the symbols are defined."""
        return frozenset(symbol.record.path for symbol in self._all)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """What the symbols are called where they are defined, and what constructs them."""
        own = {name for symbol in self._symbols for name in _own_names(symbol)}
        if made := [symbol for symbol in self._symbols if _constructs(symbol)]:
            own |= self._kin(made)
        return frozenset(own - {"", "*"})

    @cached_property
    def names(self) -> frozenset[str]:
        """What the symbols are called, wherever they are named."""
        return frozenset((self.own_names | self._other_names()) - {"", "*"})

    @cached_property
    def is_nameless(self) -> bool:
        """Whether syntax that names none of them may run one, as `x[0]` runs `__getitem__`: then any file may hold a use."""
        return self._question == "callers" and any(_runs_unnamed(symbol, self._language(symbol)) for symbol in self._symbols)

    @cached_property
    def modules(self) -> frozenset[str]:
        """How files are called whose default export they may be: importers choose the name themselves."""
        found: set[str] = set()
        for path in self.own_paths:
            if self._of(path) == "export" and not path.startswith("../") and _DEFAULT.search(self._text(path) or b""):
                folder, _, base = path.rpartition("/")
                stem = base.split(".", 1)[0]
                found.add(folder.rpartition("/")[2] if stem == "index" else stem)
        return frozenset(found - {""})

    @cached_property
    def whole_modules(self) -> frozenset[str]:
        """As `modules`, where one of the symbols itself is the default export."""
        if not self.modules:
            return frozenset()
        return self.modules if any(self._is_whole(symbol) for symbol in self._symbols) else frozenset()

    def _is_whole(self, symbol: Symbol) -> bool:
        name = symbol.record.name
        if name in self._language(symbol).fixed_names:
            return True
        pattern = _WHOLE % {b"name": re.escape(name.encode("utf-8", "surrogatepass"))}
        return self._is_top_level(symbol) and re.search(pattern, self._text(symbol.record.path) or b"") is not None

    def is_asked(self, path: str) -> bool:
        """Whether uses in the file at a path are asked about at all."""
        return self._within is None or self._within(path)

    def could_refer(self, path: str) -> bool:
        """Whether the file at a path may name one of the symbols, by its present content; read or not, indexed or not."""
        if path in self.own_paths:
            return self._within is None or self._within(path)
        return self.is_visible(path) and (self.is_nameless or bool(self.held(path)))

    def is_visible(self, path: str) -> bool:
        """Whether language and visibility let a file name one of the symbols."""
        language = languages_of(self._index).get(path, "")
        if self._family and language and language not in self._family and not format_of(path):
            return False
        if self._within is not None and not self._within(path):
            return False
        bounds = self._bounds
        return bounds is None or any(path == bound or (bound.endswith("/") and path.rpartition("/")[0] + "/" == bound) for bound in bounds)

    @property
    def is_bounded(self) -> bool:
        """Whether some files alone can name the symbols."""
        return self._bounds is not None

    def text(self, path: str) -> bytes | None:
        """What the file holds now; None where nobody can tell."""
        return self._text(path)

    def held(self, path: str) -> frozenset[str]:
        """Those of the names, and of the modules, that the present text of a file has as words; all where it cannot be searched."""
        if path not in self._held:
            text = self._text(path)
            self._held[path] = (self.names or frozenset({""})) if text is None else self._words_in(text)
        return self._held[path]

    def holds(self, path: str, words: Collection[str]) -> bool:
        """Whether the present text of a file has one of these words; true where it cannot be searched."""
        text = self._text(path)
        return text is None or bool(found_in(text, words))

    def _words_in(self, text: bytes) -> frozenset[str]:
        found = found_in(text, self.names)
        if not found and _STAR.search(text) and found_in(text, self._stems):  # it hands all names on, which other files import from it
            return frozenset(self.names or {""})
        return found or frozenset(
            stem for stem in self.modules if re.search(rb"[/'\"`]" + re.escape(stem.encode()) + rb"(?:\.\w+)?['\"`/]", text)
        )

    @cached_property
    def _stems(self) -> frozenset[str]:
        """What the modules that define them are called at the end of an import."""
        found: set[str] = set()
        for path in self.own_paths:
            folder, _, base = path.rpartition("/")
            stem = base.split(".", 1)[0]
            found.add(folder.rpartition("/")[2] if stem in ("index", "__init__") else stem)
        return frozenset(found - {""})

    def _language(self, symbol: Symbol) -> Language:
        return record_of(languages_of(self._index).get(symbol.record.path, ""))

    def _of(self, path: str) -> str:
        record = record_of(languages_of(self._index).get(path, ""))
        return record.grammar.exports if record.grammar is not None else ""

    @cached_property
    def _bounds(self) -> frozenset[str] | None:
        """Files, and folders (with `/`), that alone may name the symbols; None for all."""
        found: set[str] = set()
        for symbol in self._symbols:
            bound = self._bound(symbol)
            if not bound:
                return None
            found.add(bound)
        return frozenset(found) if found else None

    def _bound(self, symbol: Symbol) -> str:
        path = symbol.record.path
        if symbol.is_local:
            return "" if symbol.sym_id in self._named_elsewhere else path
        if symbol.record.exported or symbol.record.external or symbol.record.kind == "module":
            return ""
        exports = self._of(path)
        if exports == "capital":  # Go: the package, which is the folder
            return path.rpartition("/")[0] + "/"
        if exports == "export" and self._is_top_level(symbol):
            text = self._text(path) or b""
            if _ES_MODULE.search(text) and not _COMMONJS.search(text) and not is_exported_below(text, symbol.record.name):
                return path
        return ""

    @cached_property
    def _named_elsewhere(self) -> frozenset[int]:
        """Local symbols that other files may name: parameters (`name=`), members of types, whose objects go anywhere, and kept types."""
        local = [symbol.sym_id for symbol in self._symbols if symbol.is_local]
        rows = self._index.rows(
            """
            SELECT s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
            LEFT JOIN symbol c ON c.sym_id = s.container_id
            WHERE has_flag(s.flags, 'parameter') OR is_type(c.kind)
            """,
            {"ids": local},
        )
        return frozenset(sym_id for (sym_id,) in rows) | kept_types(self._index, local)

    def is_script(self, symbol: Symbol) -> bool:
        """Whether a symbol is declared at the top of a file that is no module: every file that is loaded beside it may use the name."""
        return self._is_top_level(symbol) and not symbol.is_local and self.is_script_file(symbol.record.path)

    def is_script_file(self, path: str) -> bool:
        text = self._text(path)
        return self._of(path) == "export" and (text is None or not (_ES_MODULE.search(text) or _COMMONJS.search(text)))

    def _is_top_level(self, symbol: Symbol) -> bool:
        return symbol.record.container.endswith("/")

    def _other_names(self) -> set[str]:
        """Names under which imports have the symbols, and exports hand them on."""
        if len(self._symbols) == 1:
            symbol = self._symbols[0]
            places = self._index.rows(_OTHERWISE_NAMED, [symbol.sym_id, symbol.record.name])
        else:
            places = self._index.rows(_OTHERWISE_NAMED_OF_MANY, {"ids": [symbol.sym_id for symbol in self._symbols]})
        if not places:
            return set()
        rows = self._index.rows(
            """
            SELECT DISTINCT o.name
            FROM (SELECT unnest($docs::INTEGER[]) AS doc_id, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
            JOIN occ o ON o.doc_id = p.doc_id AND o.line = p.line AND o.col = p.col
            WHERE o.sym_id IN (SELECT unnest($ids::INTEGER[]))
            """,
            {
                "docs": [place[0] for place in places],
                "lines": [place[1] for place in places],
                "cols": [place[2] for place in places],
                "ids": [symbol.sym_id for symbol in self._symbols],
            },
        )
        return {name for (name,) in rows}

    # ---- files that were read in part

    def unresolved_in(self) -> dict[str, int]:
        """How many identifiers with one of the names nobody could resolve, by file."""
        if self._unresolved is None:
            counts = Counter(item.doc_id for item in named(self._index, self.own_names))
            known = self._index.documents(counts)
            self._unresolved = {path: count for doc_id, count in sorted(counts.items()) if self.is_visible(path := known[doc_id][0])}
        return self._unresolved

    def ambiguous_in(self, paths: Collection[str]) -> set[str]:
        """Those of the documents in which one identifier with one of the names means several things."""
        known: dict[str, set[str]] = self._index.keep("ambiguous", dict)
        missing = [path for path in paths if path not in known]
        if missing:
            rows = self._index.rows(
                """
                SELECT DISTINCT d.path, o.name
                FROM (SELECT doc_id, path FROM document WHERE path IN (SELECT unnest($paths::VARCHAR[]))) d
                JOIN occ o ON o.doc_id = d.doc_id
                WHERE NOT is_evidence(o.evidence, 'flow', 'second_server')
                GROUP BY d.path, o.name, o.line, o.col HAVING count(*) > 1
                """,
                {"paths": missing},
            )
            known.update({path: set() for path in missing})
            for path, name in rows:
                known[path].add(name)
        return {path for path in paths if not self.names.isdisjoint(known[path])}

    def lines_not_read(self, paths: Collection[str]) -> dict[str, list[int]]:
        """Lines (0-based) with more words like the names than identifiers that were read there, of documents that have some.

        Lines of comments have none, nor have comments and strings where a lexer tells them.
        """
        unknown = [path for path in paths if path not in self._not_read]
        texts = {path: self._text(path) for path in unknown}
        words = {path: found_in(text, self.names) for path, text in texts.items() if text is not None}
        read = self._identifiers([path for path, found in words.items() if found])
        for path, text in texts.items():
            if text is None:
                self._not_read[path] = [0]
            else:
                self._not_read[path] = self._lines_not_read(path, text, words[path], read) if words[path] else []
        return {path: lines for path in paths if (lines := self._not_read[path])}

    def _identifiers(self, paths: Sequence[str]) -> dict[tuple[str, int], int]:
        """How many identifiers with one of the names were read on a line of these documents."""
        if not paths:
            return {}
        rows = self._index.rows(
            """
            SELECT d.path, o.line, count(DISTINCT o.col)
            FROM (SELECT doc_id, path FROM document WHERE path IN (SELECT unnest($paths::VARCHAR[]))) d

                JOIN occ o ON o.doc_id = d.doc_id
            WHERE o.name IN (SELECT unnest($names::VARCHAR[])) GROUP BY ALL
            """,
            {"paths": list(paths), "names": sorted(self.names)},
        )
        return {(path, line): count for path, line, count in rows}

    def _lines_not_read(self, path: str, text: bytes, words: Collection[str], read: Mapping[tuple[str, int], int]) -> list[int]:
        language = languages_of(self._index).get(path, "")
        comments = tuple(mark.encode() for mark in record_of(language).comments)
        pattern = re.compile(b"|".join(alone(word.encode("utf-8", "surrogatepass")) for word in sorted(words)))
        whole = for_grammars(as_utf8(text) or text)
        lines = whole.split(b"\n")

        def is_open(number: int, line: bytes) -> bool:
            return len(pattern.findall(line)) > read.get((path, number), 0) and not line.lstrip().startswith(comments)

        found = [number for number, line in enumerate(lines) if pattern.search(line) and is_open(number, line)]
        if not found:
            return []
        from indexer.syntax import code_of  # a question without such a text loads no parser

        code = code_of(language, whole).split(b"\n")
        return [number for number in found if is_open(number, code[number])]

    @property
    def has_types(self) -> bool:
        """Whether one of the symbols is a type or a member of one, so that types above and below matter."""
        return any(symbol.record.kind in TYPES or self._is_member(symbol) for symbol in self._symbols)

    def fits_unnamed(self, language: str) -> bool:
        """Whether types of a language may stand below one of the symbols, or above it, without naming it."""
        record = record_of(language)
        if not record.bases_are_named:
            return True
        interface = SymbolKind.INTERFACE.label
        return bool(record.satisfies) and any(symbol.record.kind == interface or self._is_member(symbol) for symbol in self._symbols)

    # ---- files that have changed since they were read

    def touched_by_change(self, paths: Sequence[str]) -> list[str]:
        """Those of the changed, new and deleted files because of which the answer may lack something, or say what is no longer so."""
        if not paths:
            return []
        used_in = self._used_in()
        paths = [path for path in paths if self._within is None or self._within(path)]
        rest = [path for path in paths if not (path in used_in or self.could_refer(path))]
        found = set(paths) - set(rest)
        found |= {path for path in rest if _module(path) in {_module(own) for own in self.own_paths}}  # a package beside a module
        visible = [path for path in rest if self.is_visible(path)]
        if visible and any(self._is_member(symbol) for symbol in self._symbols):
            found |= self._touched_by_type(visible)
        found |= self._led_here([path for path in visible if path not in found])
        return [path for path in paths if path in found]

    def _led_here(self, paths: Sequence[str]) -> set[str]:
        """Those that led to what was asked about, by its type or its module, and name neither any more; others may have it through them.

        And those that hand on all that another file exports, for that file may be another one now.
        """
        found = {path for path in paths if self._passes_on(path)}
        rows = self._index.rows(
            """
            WITH RECURSIVE type(sym_id) AS (
                SELECT s.container_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
                UNION SELECT t.sub_id FROM type JOIN type_edge_rev t ON t.super_id = type.sym_id
            ), kin AS (
                SELECT s.sym_id, s.name FROM type JOIN symbol s USING (sym_id) WHERE is_type(s.kind)
                UNION
                SELECT m.sym_id, m.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
                JOIN symbol m ON m.doc_id = s.doc_id AND m.kind = symbol_kind('module')
            )
            SELECT DISTINCT d.path, k.name FROM kin k JOIN refs r USING (sym_id) JOIN document d ON d.doc_id = r.doc_id
            WHERE d.path IN (SELECT unnest($paths::VARCHAR[])) AND (has_role(r.roles, 'star') OR NOT has_role(r.roles, 'path'))
            """,
            {"ids": [symbol.sym_id for symbol in self._symbols], "paths": sorted(set(paths) - found)},
        ) if set(paths) - found else []  # fmt: skip
        return found | {path for path, name in rows if not self.holds(path, {name.rpartition(".")[2]})}

    def _passes_on(self, path: str) -> bool:
        """By what it holds now, or held when it was read."""
        before: frozenset[str] = self._index.keep("passes on", lambda: frozenset(json.loads(self._index.meta.get("passes_on", "[]"))))
        return path in before or record_of(languages_of(self._index).get(path, "")).passes_all_on(self._text(path) or b"")

    def touched_symbols(self, paths: Collection[str]) -> set[int]:
        """Those of the symbols, at least, that these files may refer to, which may refer to some."""
        said = {name for path in paths for name in self.held(path)}
        names = said if len(self._symbols) > 1 else self.names
        other = self.names - self.own_names
        return {
            symbol.sym_id
            for symbol in self._all
            if other & said or symbol.record.path in paths or self._is_member(symbol) or not names.isdisjoint(_own_names(symbol))
        }

    def _used_in(self) -> set[str]:
        sql = "SELECT DISTINCT r.doc_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id"
        ids = [doc_id for (doc_id,) in self._index.rows(sql, {"ids": [symbol.sym_id for symbol in self._symbols]})]
        known = self._index.documents(ids)
        return {known[doc_id][0] for doc_id in ids}

    def _is_member(self, symbol: Symbol) -> bool:
        return symbol.record.container.endswith("#")

    def _touched_by_type(self, paths: Sequence[str]) -> set[str]:
        """What `value.name` means in another file depends on the type of the value, and so on files that do not say the name.

        Those count that name the type or one below it, and those that are used where a member of this name was taken for another's.
        """
        kin = self._kin([symbol for symbol in self._symbols if self._is_member(symbol)])
        found = {path for path in paths if self.holds(path, kin)}
        rest = [path for path in paths if path not in found]
        if rest:
            rows = self._index.rows(
                """
                WITH rival AS (
                    SELECT DISTINCT o.doc_id FROM symbol_name n JOIN refs o ON o.sym_id = n.sym_id
                    WHERE n.lname IN (SELECT lower(unnest($names::VARCHAR[]))) AND n.name IN (SELECT unnest($names::VARCHAR[]))
                      AND NOT list_contains($ids::INTEGER[], n.sym_id) AND NOT has_role(o.roles, 'definition')
                )
                SELECT DISTINCT d.path FROM document d JOIN symbol s USING (doc_id)
                JOIN refs r ON r.sym_id = s.sym_id AND r.doc_id <> d.doc_id
                SEMI JOIN rival ON rival.doc_id = r.doc_id
                WHERE d.path IN (SELECT unnest($paths::VARCHAR[]))
                """,
                {
                    "names": [symbol.record.name for symbol in self._symbols if self._is_member(symbol)],
                    "ids": [symbol.sym_id for symbol in self._symbols],
                    "paths": rest,
                },
            )
            found |= {path for (path,) in rows}
        return found

    def _kin(self, members: Sequence[Symbol]) -> frozenset[str]:
        """Names of the types that have the symbols, and of those below them."""
        rows = self._index.rows(
            """
            WITH RECURSIVE down(sym_id) AS (
                SELECT s.container_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
                UNION SELECT t.sub_id FROM down JOIN type_edge_rev t ON t.super_id = down.sym_id
            ) SELECT DISTINCT s.name FROM down JOIN symbol s USING (sym_id) WHERE is_type(s.kind)
            """,
            {"ids": [symbol.sym_id for symbol in members]},
        )
        return frozenset(name for (name,) in rows)


_OTHERWISE_NAMED = """
    SELECT DISTINCT doc_id, line, col FROM refs WHERE sym_id = ? AND (has_role(roles, 'import') OR end_col - col <> length(?))
"""
_OTHERWISE_NAMED_OF_MANY = """
    SELECT DISTINCT r.doc_id, r.line, r.col
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN refs r ON r.sym_id = u.id
    WHERE has_role(r.roles, 'import') OR r.end_col - r.col <> length(s.name)
"""


def _own_names(symbol: Symbol) -> set[str]:
    """What a symbol is called where it is named. A module is: by its file, or by its folder."""
    record = symbol.record
    if record.kind != "module":
        return {record.name, *components.names_of(symbol)}
    folder, _, base = record.path.rpartition("/")
    return {record.name, record.name.rpartition(".")[2], base.split(".", 1)[0], folder.rpartition("/")[2]}


def _module(path: str) -> str:
    """The same of a file and of a folder of its name that may stand for it."""
    stem = path.rpartition(".")[0]
    return stem.removesuffix("/__init__").removesuffix("/index")


def _constructs(symbol: Symbol) -> bool:
    return symbol.record.kind == "constructor" or symbol.record.name in ("__init__", "__new__", "__post_init__")


def _runs_unnamed(symbol: Symbol, language: Language) -> bool:
    name = symbol.record.name
    is_special = (name.startswith("__") and name.endswith("__") and len(name) > len("____")) or language.runs_unnamed(name)
    is_member = symbol.record.container.endswith("#") or language.operators_outside or language.satisfies == "shape"
    return is_member and not _constructs(symbol) and (is_special or not name.strip("#$~").isidentifier())
