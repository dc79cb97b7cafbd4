"""What of a known state still holds for another tree, and which documents must be asked about again (ADR 0014).

In waves: first what differs, then the documents about which a server could answer otherwise because of what the former wave has changed
for others, and so on until nothing changes for anybody. No document is crawled twice: a server sees the whole new tree from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from indexer import monikers as naming
from indexer.crawl.plan.interface import READ, Difference, Interface, Means, difference, interface, same
from indexer.crawl.plan.skin import skins
from indexer.languages import record_of
from indexer.model import Role
from indexer.store import merge
from indexer.store.facts import AT_PLACE, HEADER, NOTHING
from indexer.store.macros import expand
from indexer.store.states import State

_OF_PROTOCOLS = frozenset(
    {"read", "readline", "readlines", "readinto", "write", "writelines", "flush", "close", "seek", "tell", "fileno", "keys", "values"}
    | {"items", "get", "send", "throw", "acquire", "release", "load", "dump", "dumps", "loads", "copy", "isatty", "add", "update"}
)
"""Members that protocols of the standard library ask for beside special methods."""

_PACKAGE = ("__init__.py", "__init__.pyi")
_MOST_OF_ALL = 0.5
_FEW = 25
_REST = 100
"""A wave costs about 0.4 s. Where more than the first part of all documents is concerned, or a third wave would leave no more than the
last number out, the rest is crawled with them; but for trees of no more than a few, which cost nothing anyway."""


class Refresh:
    """One state, one tree, and the waves between them. Close it."""

    def __init__(
        self,
        base: State,
        shards: Sequence[Path],
        described: Mapping[str, str],
        languages: Mapping[str, str],
        together: Mapping[str, frozenset[str]],
        *,
        hover: bool,
        text: Callable[[str], str],
    ) -> None:
        """
        Args:
            text: what a document of the tree holds, by its path.
            shards: of `base`, in its order.
            described: by path `states.describe` of each document of the tree.
            languages: by path.
            together: by language those that the same server crawls; none where no server does, so that only the text counts.
        """
        self._base, self._shards, self._described, self._languages, self._hover = base, shards, described, languages, hover
        self._together = together
        self._crawled: set[str] = set()
        self._text = text
        self._waves = 0
        self._is_as_before = False
        """Whether nothing is crawled but what was lost: no text and no file beside the crawled ones is another."""
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._reverse: dict[str, set[str]] | None = None
        self._stars: dict[str, set[str]] | None = None
        self._structural: frozenset[str] | None = None
        self._names_of: dict[str, dict[tuple[int, int], str]] = {}
        self._types: dict[str, set[str]] | None = None
        self.deleted = base.documents.keys() - described.keys()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def first(self, moved: Collection[str]) -> set[str]:
        """Documents that are new, that differ, or of which something was lost; and those that lead to files in `moved`.

        Args:
            moved: paths of files that are not crawled, and are not what they were.
        """
        base = self._base.documents
        led = self._leads_to(moved, ()) if moved else set[str]()
        changed = {path for path, description in self._described.items() if base.get(path, ("",))[0] != description}
        self._is_as_before = not (changed or led or moved or self.deleted)
        return self._take(changed | ((led | set(self._base.lost)) & self._described.keys()))

    def after(self, wave: Sequence[Path]) -> set[str]:
        """Documents that must be crawled because of what the shards of a wave show; call it at least once, with none if there is none."""
        old = self._interfaces(self._former(wave), self._meant_of_base)
        self._know(wave)
        new = self._interfaces(wave, self._meant_of_wave)
        shared, skinned = self._names_of_several(new), skins(wave, self._text)
        differences: dict[str, Difference] = {}
        concerned: set[str] = set()
        for path in sorted(old.keys() | new.keys()):
            if self._is_as_before and _has_same_symbols(old.get(path), new.get(path)):
                continue  # who answers about others has read this text all along; what was not said is said now, or lost again
            language = self._languages.get(path, "") or self._language_of_deleted(path)
            is_same_text = self._base.documents.get(path, ("",))[0] == self._described.get(path)
            if record_of(language).refreshes_by_name:
                found = difference(old.get(path), new.get(path), structural=self._is_of_protocols, is_same_text=is_same_text, shared=shared)
                if found:
                    differences[path] = found
            elif not same(
                old.get(path),
                new.get(path),
                is_same_text=is_same_text,
                passes_on=not is_same_text and (self._passes_on(path, language) or self._is_other_skin(path, skinned)),
                shared=frozenset() if is_same_text else shared,
            ) or (record_of(language).is_included and not is_same_text and self._leads_to({path}, set())):
                concerned |= self._same_server(language)
        self.deleted = set[str]()  # they have been taken into account
        if differences:
            self._learn(wave)
            concerned |= self._concerned(differences)
        concerned = (concerned & self._described.keys()) - self._crawled
        self._waves += 1
        rest = {path for path in self._described if record_of(self._languages[path]).refreshes_by_name} - self._crawled - concerned
        so_far = len(concerned) + len(self._crawled)
        is_late = self._waves > 1 and len(rest) <= _REST
        if concerned and len(self._described) > _FEW and (is_late or so_far > _MOST_OF_ALL * len(self._described)):
            concerned |= rest
        return self._take(concerned)

    def _is_other_skin(self, path: str, skinned: Mapping[str, str]) -> bool:
        """Whether what stands outside of functions is not what it was, where that is known."""
        return path in self._base.skins and path in skinned and self._base.skins[path] != skinned[path]

    def _passes_on(self, path: str, language: str) -> bool:
        return record_of(language).passes_all_on(self._text(path).encode("utf-8", "replace"))

    def _take(self, paths: set[str]) -> set[str]:
        self._crawled |= paths
        return paths

    # ---- interfaces

    def _former(self, wave: Sequence[Path]) -> list[tuple[Path, set[str]]]:
        """The shards of the base that know the documents of a wave and those that are gone, with their paths."""
        paths = {path for shard in wave for path in pq.read_table(shard, columns=["path"]).column("path").to_pylist()}
        by_shard: dict[int, set[str]] = {}
        for path in paths | self.deleted:
            if path in self._base.documents:
                by_shard.setdefault(self._base.documents[path][1], set()).add(path)
        return [(self._shards[number], found) for number, found in sorted(by_shard.items())]

    def _interfaces(self, shards: Iterable[Path | tuple[Path, set[str]]], means: Means) -> dict[str, Interface]:
        found: dict[str, Interface] = {}
        for item in shards:
            shard, wanted = item if isinstance(item, tuple) else (item, None)
            names = list(HEADER) + [f"{table}.list.element.{column}" for table, columns in READ.items() for column in sorted(columns)]
            table = pq.ParquetFile(shard).read(columns=names)
            if wanted is not None:
                table = table.filter(pa.array([path in wanted for path in table.column("path").to_pylist()], pa.bool_()))
            for header, columns in _documents(table):
                if header["status"] != "external":
                    found[header["path"]] = interface(header, columns, means, has_hovers=self._hover)
        return found

    # ---- what is imported, in the base by its symbol, in a wave by its place

    def _meant_of_base(self, path: str, end_line: int, end_col: int, key: int) -> int:
        return 0 if key in (AT_PLACE, NOTHING) else key

    def _meant_of_wave(self, path: str, end_line: int, end_col: int, key: int) -> int:
        if key != AT_PLACE:
            return self._meant_of_base(path, end_line, end_col, key)
        if path not in self._names_of:
            if path not in self._described:
                return 0
            rows = self._ask(
                """
                SELECT s.sel_line, s.sel_end_col, s.moniker
                FROM (SELECT unnest(symbols) AS s FROM fact WHERE path = ?) WHERE s.container >= 0""",
                [path],
            )
            self._names_of[path] = {(line, col): moniker for line, col, moniker in rows}
        moniker = self._names_of[path].get((end_line, end_col))
        if moniker is None:
            return 0
        return naming.key(moniker)

    def _names_of_several(self, new: Mapping[str, Interface]) -> frozenset[str]:
        """Names that more than one type has, of those of the base and of a wave: a server writes a type by its name alone."""
        if self._types is None:
            self._types = {}
            rows = self._ask("SELECT DISTINCT s.name, s.moniker FROM (SELECT unnest(symbols) AS s FROM fact) WHERE is_type(s.kind)")
            for name, moniker in rows:
                self._types.setdefault(name, set()).add(moniker)
        for item in new.values():
            for moniker, shape in item.symbols.items():
                if shape.is_type:
                    self._types.setdefault(shape.name, set()).add(moniker)
        return frozenset(name for name, monikers in self._types.items() if len(monikers) > 1)

    def _know(self, wave: Sequence[Path]) -> None:
        """Where the names of the wave's documents stand now."""
        names = ["path", *(f"symbols.list.element.{column}" for column in ("moniker", "container", "sel_line", "sel_end_col"))]
        for shard in wave:
            for header, columns in _documents(pq.ParquetFile(shard).read(columns=names)):
                rows = zip(*(columns["symbols"][name] for name in ("moniker", "container", "sel_line", "sel_end_col")), strict=True)
                self._names_of[header["path"]] = {(line, col): moniker for moniker, container, line, col in rows if container >= 0}

    def _language_of_deleted(self, path: str) -> str:
        rows = self._ask("SELECT language FROM fact WHERE path = ?", [path])
        return rows[0][0] if rows else ""

    def _same_server(self, language: str) -> set[str]:
        """All documents that the server of a language crawls."""
        languages = self._together.get(language, frozenset[str]())
        return {path for path, other in self._languages.items() if other in languages}

    # ---- what the base knows

    def _ask(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        if self._connection is None:
            connection = merge.connect()
            merge.read_facts(connection, self._shards, [], [])
            connection.execute("""
                CREATE TEMP TABLE target AS
                SELECT owner, t.path AS path, t.symbol AS symbol
                FROM (SELECT path AS owner, unnest(targets) AS t FROM fact WHERE status <> 'external')""")
            self._connection = connection
        return self._connection.execute(expand(sql), parameters).fetchall()

    def _is_of_protocols(self, name: str) -> bool:
        """Whether members of this name decide whether one type may stand for another."""
        if self._structural is None:
            rows = self._ask("""
                SELECT DISTINCT s.name FROM (
                    SELECT unnest(symbols) AS s FROM fact WHERE status <> 'external' AND len(supertypes) > 0
                    AND len(list_filter(occurrences, lambda o: has_role(o.roles, 'supertype') AND o.name = 'Protocol')) > 0
                ) WHERE s.container > 0 AND NOT has_flag(s.flags, 'local', 'parameter')""")
            self._structural = _OF_PROTOCOLS | {name for (name,) in rows}
        return name in self._structural

    def _learn(self, wave: Sequence[Path]) -> None:
        """Whom the documents of a wave lead to now."""
        reverse = self._reverse
        if reverse is None:
            reverse = self._reverse = {}
            # An import of another file may stand between: both what it lies in and what it means.
            rows = self._ask("""
                SELECT DISTINCT owner, path FROM target WHERE owner <> path
                UNION
                SELECT DISTINCT t.owner, s.path FROM target t JOIN (
                    SELECT path, moniker_key(m) AS key
                    FROM (SELECT path, unnest(list_transform(symbols, lambda s: s.moniker)) AS m FROM fact WHERE status <> 'external')
                ) s ON s.key = t.symbol WHERE t.owner <> s.path""")
            for owner, path in rows:
                reverse.setdefault(path, set()).add(owner)
        for shard in wave:
            for header, columns in _documents(pq.ParquetFile(shard).read(columns=["path", "targets.list.element.path"])):
                for path in set(columns["targets"]["path"]):
                    reverse.setdefault(path, set()).add(header["path"])

    def _reaching(self, path: str) -> set[str]:
        """Documents that lead to it, over others too, and itself."""
        assert self._reverse is not None
        found, todo = {path}, [path]
        while todo:
            for owner in self._reverse.get(todo.pop(), ()):
                if owner not in found:
                    found.add(owner)
                    todo.append(owner)
        return found

    def _seeing(self, path: str) -> set[str]:
        """Documents that lead to it themselves, or to one that imports all of its names; and itself."""
        assert self._reverse is not None
        if self._stars is None:
            self._stars = {}
            rows = self._ask("""
                SELECT path, targets[o.target + 1].path FROM (
                    SELECT path, targets, unnest(list_filter(occurrences, lambda o: has_role(o.roles, 'star') AND o.target >= 0)) AS o
                    FROM fact
                )""")
            for owner, starred in rows:
                self._stars.setdefault(starred, set()).add(owner)
        passing_on, todo = {path}, [path]
        while todo:
            for owner in self._stars.get(todo.pop(), ()):
                if owner not in passing_on:
                    passing_on.add(owner)
                    todo.append(owner)
        return passing_on.union(*(self._reverse.get(one, set()) for one in passing_on))

    def _leads_to(self, paths: Collection[str], keys: Collection[int]) -> set[str]:
        """Documents with a target in these files, or that means one of these symbols."""
        rows = self._ask(
            """
            SELECT DISTINCT owner FROM target
            WHERE path IN (SELECT unnest(?::VARCHAR[])) AND owner <> path OR symbol IN (SELECT unnest(?::UBIGINT[]))""",
            [sorted(paths), sorted(keys)],
        )
        return {owner for (owner,) in rows}

    def _keys(self, monikers: Collection[str]) -> set[int]:
        rows = self._ask("SELECT moniker_key(m) FROM (SELECT unnest(?::VARCHAR[]) AS m)", [sorted(monikers)])
        return {key for (key,) in rows}

    # ---- the rules

    def _concerned(self, differences: Mapping[str, Difference]) -> set[str]:
        """See ADR 0014 for each."""
        changed = self._keys({moniker for item in differences.values() for moniker in item.symbols})
        classes = self._keys({moniker for item in differences.values() for moniker in item.classes})
        if classes:
            classes = self._with_subtypes(classes)
            changed |= classes | self._mentioning(classes)
        modules = {module for item in differences.values() for module in item.modules}
        stems = {_stem(path) for path, item in differences.items() if item.modules}
        twins = {path for path in self._base.documents if _stem(path) in stems} if stems else set[str]()
        found = self._leads_to({path for path, item in differences.items() if item.everything} | twins, changed) | twins
        for path, item in differences.items():
            if item.stars and path.endswith(_PACKAGE):  # what `from . import x` means within the package: its own name, or a module
                found |= {other for other in self._described if other.startswith(path.rpartition("/")[0])}
        stars = {path for item in differences.values() for path in item.stars}
        starred = self._names_in(stars) if stars else set[str]()
        parts = self._parts(modules)
        wanted: dict[str, set[str]] = {name: set() for name in parts}
        for path, item in differences.items():
            names = item.names | (starred if item.stars else set())
            for name in names | item.members | item.redefined:
                wanted.setdefault(name, set()).add(path)
        named = self._named(wanted)
        reaching = {path: self._reaching(path) for path, item in differences.items() if item.members or item.redefined}
        seeing = {path: self._seeing(path) for path, item in differences.items() if item.names or item.stars}
        for name, paths in wanted.items():
            for owner, roles in named.get(name, ()):
                if name in parts and roles & Role.IMPORT:
                    found.add(owner)
                for path in paths:
                    item = differences[path]
                    if name in item.names or (item.stars and name in starred):
                        is_inside = path.endswith(_PACKAGE) and owner.startswith(path.rpartition("/")[0])
                        if owner in seeing[path] or (is_inside and roles & Role.IMPORT) or roles & Role.FIXTURE:
                            found.add(owner)
                    if name in item.members or (name in item.redefined and roles & Role.DEFINITION):
                        found |= {owner} & reaching[path]
        if parts:
            rows = self._ask("SELECT DISTINCT path, u.module FROM (SELECT path, unnest(unresolved_imports) AS u FROM fact)")
            found |= {path for path, module in rows if parts & set(module.split("."))}
        return found

    def _parts(self, modules: Collection[str]) -> set[str]:
        """Parts of the dotted names that are of no module that was there and stays: an import that has one may lead elsewhere."""
        if not modules:
            return set()
        here: set[str] = set()
        for path, module in self._ask("SELECT path, module FROM fact WHERE status <> 'external'"):
            if path in self._described and module not in modules:
                parts = module.split(".")
                here.update(".".join(parts[:length]) for length in range(1, len(parts) + 1))
        found: set[str] = set()
        for module in modules:
            parts = module.split(".")
            found |= {part for length, part in enumerate(parts, 1) if ".".join(parts[:length]) not in here}
        return found

    def _named(self, names: Collection[str]) -> dict[str, list[tuple[str, int]]]:
        """By name the documents with such an identifier, and all roles that it has there."""
        rows = self._ask(
            """
            SELECT o.name, path, bit_or(o.roles) FROM (SELECT path, unnest(occurrences) AS o FROM fact WHERE status <> 'external')
            WHERE o.name IN (SELECT unnest(?::VARCHAR[])) GROUP BY ALL""",
            [sorted(names)],
        )
        found: dict[str, list[tuple[str, int]]] = {}
        for name, path, roles in rows:
            found.setdefault(name, []).append((path, roles))
        return found

    def _names_in(self, paths: Collection[str]) -> set[str]:
        """Names that the base knows in these files, on the outermost level: defined there, or imported."""
        rows = self._ask(
            """
            SELECT s.name FROM (SELECT unnest(symbols) AS s FROM fact WHERE path IN (SELECT unnest($paths::VARCHAR[])))
            WHERE s.container = 0
            UNION
            SELECT o.name FROM (SELECT unnest(occurrences) AS o FROM fact WHERE path IN (SELECT unnest($paths::VARCHAR[])))
            WHERE has_role(o.roles, 'import') AND NOT has_role(o.roles, 'path')""",
            {"paths": sorted(paths)},
        )
        return {name for (name,) in rows}

    def _with_subtypes(self, classes: set[int]) -> set[int]:
        rows = self._ask(
            """
            SELECT moniker_key(symbols[e.symbol + 1].moniker),
                   CASE WHEN e.own >= 0 THEN moniker_key(symbols[e.own + 1].moniker) ELSE targets[e.target + 1].symbol END
            FROM (SELECT symbols, targets, unnest(supertypes) AS e FROM fact WHERE len(supertypes) > 0)"""
        )
        below: dict[int, set[int]] = {}
        for sub, above in rows:
            below.setdefault(above, set()).add(sub)
        found, todo = set(classes), list(classes)
        while todo:
            for sub in below.get(todo.pop(), ()):
                if sub not in found:
                    found.add(sub)
                    todo.append(sub)
        return found

    def _mentioning(self, classes: Collection[int]) -> set[int]:
        """Symbols whose type, as the server writes it, has the name of one of these classes: a function that returns one, say."""
        rows = self._ask(
            """
            SELECT moniker_key(s.moniker), s.name, s.hover, s.signature
            FROM (SELECT unnest(symbols) AS s FROM fact WHERE status <> 'external')"""
        )
        names = {name for key, name, _, _ in rows if key in classes}
        return {key for key, _, hover, signature in rows if names & _words(hover, signature)}


def _has_same_symbols(old: Interface | None, new: Interface | None) -> bool:
    """Whether a document's text was read both times: what leads into it from others leads to the same."""
    return old is not None and new is not None and bool(new.symbols) and old.symbols.keys() == new.symbols.keys()


def _stem(path: str) -> str:
    """The same of all files that may be one module: a stub, a package of that name."""
    return path.rpartition(".")[0].removesuffix("/__init__")


def _words(*texts: str) -> set[str]:
    return {word for text in texts for word in "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()}


def _documents(table: pa.Table) -> Iterable[tuple[dict[str, Any], dict[str, dict[str, list[Any]]]]]:
    """Header and columns of each row; lists of structs become one list per field."""
    flat: dict[str, tuple[list[int], dict[str, list[Any]]]] = {}
    headers: dict[str, list[Any]] = {}
    for field in table.schema:
        column: Any = table.column(field.name).combine_chunks()
        if not pa.types.is_list(field.type) or not pa.types.is_struct(field.type.value_type):
            headers[field.name] = column.to_pylist()
            continue
        offsets = column.offsets.to_pylist() if len(column) else [0]
        rows = column.values  # not flattened: offsets count from its beginning
        flat[field.name] = (offsets, {part.name: rows.field(number).to_pylist() for number, part in enumerate(rows.type)})
    for number in range(table.num_rows):
        columns = {
            name: {part: values[offsets[number] : offsets[number + 1]] for part, values in parts.items()}
            for name, (offsets, parts) in flat.items()
        }
        yield {name: values[number] for name, values in headers.items()}, columns
