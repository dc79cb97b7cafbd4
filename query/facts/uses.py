"""What depends on symbols: the set operations that the tools of impact share, each for many symbols by one statement.

caller      the innermost function or method around a use, the module where there is none: never a variable, a class or a lambda.
            What a symbol does within its own text, or a member with its own type, is no use by others.
relation    `call`: the text calls it (or runs it as property, decorator, constructor); `reference`: it is named otherwise (read,
            base class, annotation, passed on); `import`: imported or listed in a string only. An import is not a caller.
dispatch    a use of a member that this one overrides: it may end here.
package     the unit of the language, see `package_of`.
risk        see `Risk`.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec

from indexer.model import Role, SymbolFlag, SymbolKind
from query.answers.envelope import Reason
from query.facts.completeness import DEFINITION, Certificate, family_of
from query.facts.index import Index

Relation = Literal["call", "reference", "import"]
Level = Literal["high", "medium", "low", "unknown"]

CALL_EVIDENCE = (0, 1, 2, 3, 4, 5, 6, 10)
"""Edges that count as calls: all but what is inferred from a name passed on (it is a reference)."""

TYPE_KINDS = (5, 10, 11, 23)
CALLABLE_KINDS = (6, 9, 12)

_BARE = int(Role.IMPORT | Role.MENTION)
_CALL = int(Role.CALL)
_MODULE, _PROPERTY = int(SymbolKind.MODULE), int(SymbolKind.PROPERTY)
_GETTER = int(SymbolFlag.PROPERTY)


class Document(NamedTuple):
    path: str
    is_test: bool
    language: str
    package: str
    external: bool


class Use(NamedTuple):
    """One use of a symbol. Lines and columns 0-based as stored; `holder` is the caller; `is_test` by document or by `#[cfg(test)]`."""

    sym_id: int
    doc_id: int
    line: int
    col: int
    end_col: int
    roles: int
    holder: int
    evidence: int
    relation: Relation
    is_test: bool
    dispatch: bool


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """How far a change reaches, by symbol identity.

    high: callers outside tests in more than one package, or in a package other than the symbol's own (`other_package`: one that is not
    its own is never "the same package only"). medium: in the symbol's own package only. low: no caller outside tests. unknown: none was
    found, but there may be some, see reasons. Reason codes: several_packages, other_package, same_package, no_callers, tests_only,
    imported_only (imports outside tests, no other use), dispatch (callers of what it overrides count), unresolved_same_name,
    overrides_external (something outside the workspace may call it), partial_coverage.
    """

    level: Level
    reasons: tuple[str, ...]
    packages: tuple[str, ...] = ()


# ---- documents and packages


def documents(index: Index, ids: Collection[int]) -> dict[int, Document]:
    """Documents by id; read once per index."""
    known: dict[int, Document] = index.keep("impact documents", dict)
    missing = [doc_id for doc_id in ids if doc_id not in known]
    if missing:
        rows = index.rows(
            """
            SELECT d.doc_id, d.path, d.is_test, d.language, d.module, d.package, d.status = 'external'
            FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN document d ON d.doc_id = u.id
            """,
            {"ids": missing},
        )
        for doc_id, path, is_test, language, module, package, external in rows:
            known[doc_id] = Document(path, bool(is_test), language, package_of(path, language, module or "", package or ""), external)
    return known


def package_of(path: str, language: str, module: str, package: str) -> str:
    """The package that a document belongs to, in its language's own sense.

    Python: the package that holds the module (`flask.json` for flask/json/tag.py and flask/json/__init__.py); a module that is in no
    package: its directory. TypeScript, JavaScript: the nearest package.json. Rust: the crate. Go: the import path of the directory,
    which is the directory. Java, Kotlin, Scala: the declared package, which mirrors the directory. C, C++ and all others: the directory.

    Args:
        module, package: as the index has them for the document; may be empty.
    """
    folder, _, name = path.rpartition("/")
    if language == "python":
        if name in ("__init__.py", "__init__.pyi"):
            return module or folder or "."
        return module.rpartition(".")[0] or folder or "."
    if language in ("typescript", "javascript", "typescriptreact", "javascriptreact", "rust") and package:
        return package
    return folder or "."


# ---- uses


_USES = """
    SELECT r.sym_id, r.doc_id, r.line, r.col, r.end_col, r.roles, r.encl_id, r.evidence
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u
    JOIN symbol s ON s.sym_id = u.id
    JOIN refs r ON r.sym_id = u.id
    WHERE (r.roles & 1 = 0 OR r.evidence = 7)
      AND NOT (r.doc_id = s.doc_id AND (s.start_line, s.start_col) <= (r.line, r.col) AND (r.line, r.col) < (s.end_line, s.end_col)
               AND (s.kind <> 2 OR s.container_id IS NULL))
    ORDER BY ALL
"""

_CALLS = """
    SELECT c.callee, c.doc_id, c.line, c.col, c.end_col, c.caller, c.evidence
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id
    WHERE c.caller <> c.callee AND c.evidence <> 7
    ORDER BY ALL
"""


MAX_OVERRIDDEN = 300_000


def overridden(index: Index, ids: Collection[int]) -> list[tuple[int, int, bool]]:
    """Rows (member, a member that it overrides at any distance, whether that lies outside the workspace); no constructors.

    At most MAX_OVERRIDDEN: of a chain of classes they are half the square of its length, and who answers says so (`radius.doubts`).
    """
    above: dict[int, list[tuple[int, bool]]] = index.keep("overrides", lambda: _overrides(index))
    found: list[tuple[int, int, bool]] = []
    for sym_id in ids:
        seen = {sym_id}
        pending = [sym_id]
        while pending and len(found) < MAX_OVERRIDDEN:
            for super_id, external in above.get(pending.pop(), ()):
                if super_id not in seen:
                    seen.add(super_id)
                    pending.append(super_id)
                    found.append((sym_id, super_id, external))
    return found


def _overrides(index: Index) -> dict[int, list[tuple[int, bool]]]:
    sql = """
        SELECT o.sub_id, o.super_id, s.flags & 2048 <> 0 FROM override o JOIN symbol s ON s.sym_id = o.super_id WHERE s.kind <> 9
        ORDER BY ALL
    """
    above: dict[int, list[tuple[int, bool]]] = {}
    for sub_id, super_id, external in index.rows(sql):
        above.setdefault(sub_id, []).append((super_id, external))
    return above


class Scope(NamedTuple):
    """A symbol among those around it. `container` is None at the top of a document."""

    container: int | None
    doc_id: int
    kind: int
    flags: int
    name: str

    @property
    def runs(self) -> bool:
        """Whether it is a function, a method, a constructor or a getter."""
        return self.kind in CALLABLE_KINDS or (self.kind == _PROPERTY and bool(self.flags & _GETTER))


def scopes(index: Index, ids: Collection[int]) -> Mapping[int, Scope]:
    """These symbols and all that they lie in; what was asked for before is kept."""
    known: dict[int, Scope] = index.keep("scopes", dict)
    missing = [sym_id for sym_id in ids if sym_id not in known]
    while missing:
        rows = index.rows(
            """
            SELECT s.sym_id, s.container_id, s.doc_id, s.kind, s.flags, s.name
            FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
            """,
            {"ids": sorted(missing)},
        )
        known.update({row[0]: Scope(*row[1:]) for row in rows})
        missing = list({row[1] for row in rows if row[1] is not None and row[1] not in known})
    return known


def around(index: Index, sym_id: int) -> Iterator[int]:
    """The symbol and what it lies in, from the inside out."""
    known = scopes(index, [sym_id])
    step: int | None = sym_id
    while step is not None and step in known:
        yield step
        step = known[step].container


def uses_of(index: Index, ids: Collection[int], *, dispatch: bool = False) -> list[Use]:
    """All uses of these symbols, without definitions and without what a symbol does within its own text; by symbol and place.

    Args:
        dispatch: also uses of the members that they override, as uses of the overriding one.
    """
    asked = sorted(set(ids))
    if not asked:
        return []
    via: dict[int, list[tuple[int, bool]]] = {sym_id: [(sym_id, False)] for sym_id in asked}
    if dispatch:
        for sym_id, super_id, external in overridden(index, asked):
            if not external:
                via.setdefault(super_id, []).append((sym_id, True))
    parameters = {"ids": sorted(via)}
    calls: dict[tuple[int, int, int, int], tuple[int, int]] = {}  # symbol and place: caller, evidence
    extra: list[tuple[int, int, int, int, int, int, int, int]] = []
    for callee, doc_id, line, col, end_col, caller, evidence in index.rows(_CALLS, parameters):
        calls[callee, doc_id, line, col] = (caller, evidence)
        extra.append((callee, doc_id, line, col, end_col, _CALL, caller, evidence))
    rows = index.rows(_USES, parameters)
    seen = {row[:4] for row in rows}
    rows += [row for row in extra if row[:4] not in seen and row[7] in (3, 4)]  # constructors, and what the callee's type led to
    holder_of = holders(index, {row[6] for row in rows if row[6] is not None})
    scope = scopes(index, set(holder_of.values()))
    docs = documents(index, {row[1] for row in rows})
    in_tests = test_symbols(index, set(holder_of.values()))
    found: list[Use] = []
    for sym_id, doc_id, line, col, end_col, roles, encl_id, evidence in rows:
        holder = holder_of.get(encl_id, -1)
        if holder == sym_id or (holder >= 0 and scope[holder].container == sym_id and scope[holder].kind != _MODULE):
            continue
        called = calls.get((sym_id, doc_id, line, col))
        relation: Relation = "reference"
        if called is not None:
            relation, evidence = "call", called[1]
        elif roles & ~_BARE == 0:
            relation = "import"
        is_test = docs[doc_id].is_test or holder in in_tests
        for own, by_dispatch in via[sym_id]:
            if by_dispatch and (relation != "call" or holder == own):
                continue
            found.append(Use(own, doc_id, line, col, end_col, roles, holder, evidence, relation, is_test, by_dispatch))
    found.sort()
    return found


def holders(index: Index, enclosing: Collection[int]) -> dict[int, int]:
    """By symbol as stored around a use: the innermost function or method that it is or lies in, else the module.

    Getters are methods. The module is the innermost one (Rust's `mod`); for namespaces, what they lie in.
    """
    known = scopes(index, enclosing)
    found: dict[int, int] = {}
    outside: dict[int, int] = {}  # a namespace's or type's document by symbol, where nothing else is around it
    for start in enclosing:
        for sym_id in around(index, start):
            if known[sym_id].runs or known[sym_id].kind == _MODULE:
                found[start] = sym_id
                break
        else:
            outside[start] = known[start].doc_id
    if outside:
        sql = """
            SELECT s.doc_id, min(s.sym_id) FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.doc_id = u.id
            WHERE s.kind = 2 AND s.container_id IS NULL GROUP BY 1
        """
        modules = dict(index.rows(sql, {"ids": sorted(set(outside.values()))}))
        found.update({start: modules.get(doc_id, start) for start, doc_id in outside.items()})
    return found


# ---- tests


def test_symbols(index: Index, ids: Collection[int]) -> set[int]:
    """Those of the symbols that are tests though their document is not: Rust's, by `#[test]` and `#[cfg(test)]` on them or around."""
    roots = _test_roots(index)
    if not roots or not ids:
        return set()
    scopes(index, ids)
    return {start for start in ids if any(sym_id in roots for sym_id in around(index, start))}


def _test_roots(index: Index) -> frozenset[int]:
    """What a test attribute stands on: the first definition behind it."""
    found: frozenset[int] = index.keep("inline tests", lambda: _attributed(index))
    return found


def _attributed(index: Index) -> frozenset[int]:
    if index.row("SELECT 1 FROM document WHERE language = 'rust' AND status <> 'external' LIMIT 1") is None:
        return frozenset()
    rows = index.rows(
        """
        SELECT o.doc_id, o.line, list(o.name), bool_or(o.name = 'test' AND o.roles & 32 <> 0)
        FROM document d JOIN occ o USING (doc_id) WHERE d.language = 'rust' AND d.status <> 'external' AND o.name IN ('cfg', 'test', 'not')
        GROUP BY ALL HAVING bool_or(o.roles & 32 <> 0) ORDER BY ALL
        """
    )
    marks: dict[int, list[int]] = {}
    for doc_id, line, names, on_function in rows:
        if on_function or ("cfg" in names and "test" in names and "not" not in names):
            marks.setdefault(doc_id, []).append(line)
    return frozenset(sym_id for _, _, sym_id in _behind(index, marks))


def attributed_definitions(index: Index, names: Collection[str]) -> dict[int, set[str]]:
    """Rust's definitions at which attributes of these names stand, whatever is in front of their last `::`, and which of them."""
    rows = index.rows(
        """
        SELECT o.doc_id, o.line, o.name FROM document d JOIN occ o USING (doc_id)
        JOIN (SELECT unnest($names::VARCHAR[]) AS name) n USING (name)
        WHERE d.language = 'rust' AND d.status <> 'external' AND o.roles & 32 <> 0
        """,
        {"names": sorted(names)},
    )
    at: dict[tuple[int, int], set[str]] = {}
    marks: dict[int, list[int]] = {}
    for doc_id, line, name in rows:
        at.setdefault((doc_id, line), set()).add(name)
        marks.setdefault(doc_id, []).append(line)
    found: dict[int, set[str]] = {}
    for doc_id, line, sym_id in _behind(index, marks):
        found.setdefault(sym_id, set()).update(at[doc_id, line])
    return found


def _behind(index: Index, marks: Mapping[int, Collection[int]]) -> Iterator[tuple[int, int, int]]:
    """(document, line, the first definition that begins there or below) for lines of documents."""
    starts = index.rows(
        """
        SELECT s.doc_id, s.start_line, s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.doc_id = u.id
        WHERE s.kind IN (2, 5, 6, 10, 11, 12, 13, 14, 23) AND s.flags & 3 = 0 AND s.container_id IS NOT NULL
        ORDER BY s.doc_id, s.start_line, s.start_col
        """,
        {"ids": sorted(marks)},
    )
    by_document: dict[int, list[tuple[int, int]]] = {}
    for doc_id, line, sym_id in starts:
        by_document.setdefault(doc_id, []).append((line, sym_id))
    for doc_id, lines in marks.items():
        definitions = by_document.get(doc_id, [])
        for line in lines:
            place = bisect.bisect_left(definitions, (line, -1))
            if place < len(definitions):
                yield doc_id, line, definitions[place][1]


def no_tests(index: Index) -> list[Reason]:
    """The reason why an answer about tests says nothing: there is none in the index."""
    found: bool = index.keep(
        "any test", lambda: bool(index.row("SELECT 1 FROM document WHERE is_test AND status <> 'external' LIMIT 1") or _test_roots(index))
    )
    detail = "the index holds no tests: nothing here is known to be tested or not; they may be excluded or lie outside its folders"
    return [] if found else [Reason(code="no_tests_indexed", detail=detail)]


# ---- symbols of files


def symbols_of(index: Index, doc_ids: Collection[int], scope: Literal["exported", "all"] = "exported") -> list[int]:
    """Symbols that documents define, in the order of the text: no locals, no parameters, no module.

    `exported` as the index marks them by each language's rule; members of an exported type that are exported themselves are among them.
    """
    wanted = 4 if scope == "exported" else 0
    rows = index.rows(
        """
        SELECT s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.doc_id = u.id
        WHERE s.flags & 3 = 0 AND s.kind NOT IN (2, 26) AND s.flags & $wanted = $wanted
        ORDER BY s.doc_id, s.sel_line, s.sel_col, s.sym_id
        """,
        {"ids": sorted(doc_ids), "wanted": wanted},
    )
    return [row[0] for row in rows]


# ---- risk


def risks(
    index: Index, certificate: Certificate, ids: Collection[int], uses: Iterable[Use], *, covered: Callable[[str], bool] | None = None
) -> dict[int, Risk]:
    """The ladder of `Risk` for each of the symbols.

    Args:
        uses: of these symbols, as `uses_of(..., dispatch=True)` gives them.
        covered: whether nothing is missing from what may refer to a document of this path; from the certificate by default.
    """
    asked = sorted(set(ids))
    if not asked:
        return {}
    if covered is None:
        covered = coverage(index, certificate)
    own = index.rows(
        "SELECT s.sym_id, s.doc_id, s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id", {"ids": asked}
    )
    docs = documents(index, {doc_id for _, doc_id, _ in own})
    callers: dict[int, set[str]] = {}
    marks: dict[int, set[str]] = {}
    for use in uses:
        mark = marks.setdefault(use.sym_id, set())
        if use.is_test:
            mark.add("test")
        elif use.relation == "import":
            mark.add("import")
        else:
            callers.setdefault(use.sym_id, set()).add(docs[use.doc_id].package)
            mark.add("dispatch" if use.dispatch else "direct")
    outside = {sym_id for sym_id, _, external in overridden(index, asked) if external}
    silent = [(sym_id, doc_id, name) for sym_id, doc_id, name in own if sym_id not in callers]
    unresolved = unresolved_names(index, silent)
    found: dict[int, Risk] = {}
    for sym_id, doc_id, _ in own:
        packages, mark = callers.get(sym_id, set()), marks.get(sym_id, set())
        home = docs[doc_id].package
        more = ("dispatch",) if "dispatch" in mark and "direct" not in mark else ()
        if packages:
            if len(packages) > 1:
                level, reason = "high", "several_packages"
            elif packages != {home}:
                level, reason = "high", "other_package"
            else:
                level, reason = "medium", "same_package"
            found[sym_id] = Risk(level=level, reasons=(reason, *more), packages=tuple(sorted(packages)))
            continue
        doubts = [
            code
            for code, there in (
                ("unresolved_same_name", sym_id in unresolved),
                ("overrides_external", sym_id in outside),
                ("partial_coverage", not covered(docs[doc_id].path)),
            )
            if there
        ]
        reason = "imported_only" if "import" in mark else "tests_only" if "test" in mark else "no_callers"
        found[sym_id] = Risk(level="unknown" if doubts else "low", reasons=(reason, *doubts))
    return found


def coverage(index: Index, certificate: Certificate) -> Callable[[str], bool]:
    """Whether all that may refer to a document was crawled and is still as it was; asked once per family of languages."""
    known: dict[tuple[str, ...], bool] = {}

    def covered(path: str) -> bool:
        family = family_of(index, path)
        if family not in known:
            known[family] = certificate.of_workspace(DEFINITION, about=path).status == "complete"
        return known[family]

    return covered


def unresolved_names(index: Index, symbols: Collection[tuple[int, int, str]]) -> dict[int, int]:
    """How many identifiers that nobody could resolve have the name of each of these (symbol, document, name), where there are any.

    Only identifiers in languages that can refer to the symbol's count.
    """
    if not symbols:
        return {}
    rows = index.rows(
        """
        SELECT u.name, d.language, count(*) FROM (SELECT DISTINCT unnest($names::VARCHAR[]) AS name) n JOIN unresolved_name u USING (name)
        JOIN document d USING (doc_id) GROUP BY ALL
        """,
        {"names": sorted({name for _, _, name in symbols})},
    )
    by_name: dict[str, dict[str, int]] = {}
    for name, language, number in rows:
        by_name.setdefault(name, {})[language] = number
    docs = documents(index, {doc_id for _, doc_id, _ in symbols})
    found: dict[int, int] = {}
    for sym_id, doc_id, name in symbols:
        if name in by_name:
            family = family_of(index, docs[doc_id].path)
            number = sum(count for language, count in by_name[name].items() if not family or language in family)
            if number:
                found[sym_id] = number
    return found
