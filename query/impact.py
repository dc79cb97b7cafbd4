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
from query.answer import Reason
from query.completeness import DEFINITION, Certificate, family_of
from query.index import Index

Relation = Literal["call", "reference", "import"]
Level = Literal["high", "medium", "low", "unknown"]

CALL_EVIDENCE = (0, 1, 2, 3, 4, 5, 6, 10)
"""Edges that count as calls: all but what is inferred from a name passed on (it is a reference)."""

TYPE_KINDS = (5, 10, 11, 23)
CALLABLE_KINDS = (6, 9, 12)
MEMBER_KINDS = (6, 7, 8, 9, 22)

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


def overridden(index: Index, ids: Collection[int]) -> list[tuple[int, int, bool]]:
    """Rows (member, a member that it overrides at any distance, whether that lies outside the workspace); no constructors."""
    above: dict[int, list[tuple[int, bool]]] = index.keep("overrides", lambda: _overrides(index))
    found: list[tuple[int, int, bool]] = []
    for sym_id in ids:
        seen = {sym_id}
        pending = [sym_id]
        while pending:
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
    found: set[int] = set()
    for doc_id, lines in marks.items():
        definitions = by_document.get(doc_id, [])
        for line in lines:
            place = bisect.bisect_left(definitions, (line, -1))
            if place < len(definitions):
                found.add(definitions[place][1])
    return frozenset(found)


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


# ---- types that hold a lock


class Primitives(NamedTuple):
    """Locks, mutexes, semaphores and atomics of a language.

    names: as they are written. within: where the server knows what is meant, the beginning of its qualified name or of its package,
    one of these; "" for whatever lies outside the workspace. types: inferred types as Python's servers print them.
    """

    names: tuple[str, ...]
    within: tuple[str, ...] = ("",)
    types: tuple[str, ...] = ()


_C = Primitives(
    (
        *(
            "mutex",
            "recursive_mutex",
            "timed_mutex",
            "recursive_timed_mutex",
            "shared_mutex",
            "shared_timed_mutex",
            "atomic",
            "atomic_flag",
        ),
        *("atomic_ref", "condition_variable", "condition_variable_any", "counting_semaphore", "binary_semaphore", "pthread_mutex_t"),
        *("pthread_rwlock_t", "pthread_cond_t", "pthread_spinlock_t", "sem_t", "mtx_t", "cnd_t", "_Atomic"),
        *(f"atomic_{kind}" for kind in ("bool", "char", "short", "int", "uint", "long", "ulong", "size_t", "intptr_t", "uintptr_t")),
    )
)
_WEB = Primitives(("Mutex", "Semaphore", "AsyncLock", "Atomics"), ("async-mutex", "async-lock", "typescript"))
_PYTHON = ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore")

PRIMITIVES: Mapping[str, Primitives] = {
    "python": Primitives(
        (*_PYTHON, "CapacityLimiter", "allocate_lock"),
        ("threading", "_thread", "multiprocessing", "asyncio", "anyio", "trio", "gevent", "eventlet"),
        (*_PYTHON, "LockType", "lock"),  # what `threading.Lock()` makes
    ),
    "go": Primitives(
        # a Cond holds a Locker
        ("Mutex", "RWMutex", "Locker", "Cond", "Bool", "Int32", "Int64", "Uint32", "Uint64", "Uintptr", "Pointer", "Value", "Weighted"),
        ("sync.", "golang.org/x/sync"),
    ),
    "c": _C,
    "cpp": _C,
    "rust": Primitives(
        (
            *("Mutex", "RwLock", "Condvar", "ReentrantMutex", "Semaphore"),
            *(f"Atomic{kind}" for kind in ("Bool", "Ptr", "U8", "U16", "U32", "U64", "Usize", "I8", "I16", "I32", "I64", "Isize")),
        )
    ),
    "java": Primitives(
        (
            *("Lock", "ReentrantLock", "ReadWriteLock", "ReentrantReadWriteLock", "StampedLock", "Condition", "Semaphore"),
            *("AtomicInteger", "AtomicLong", "AtomicBoolean", "AtomicReference", "AtomicIntegerArray", "AtomicLongArray"),
        )
    ),
    "typescript": _WEB,  # the languages have none of their own but Atomics; these are packages
    "javascript": _WEB,
}

_NAMED = """
    SELECT o.doc_id, o.line, o.col, o.name, d.language, o.sym_id IS NULL, coalesce(t.qualified_name, ''), coalesce(e.package, '')
    FROM occ o JOIN document d USING (doc_id) LEFT JOIN symbol t ON t.sym_id = o.sym_id LEFT JOIN document e ON e.doc_id = t.doc_id
    WHERE o.name IN (SELECT unnest($names::VARCHAR[])) AND o.roles & 1 = 0 AND (t.sym_id IS NULL OR t.flags & 2048 <> 0)
"""

# In all languages but Python a field's type is within the field's own range. There, and for `self.x = ...`, it stands behind the name.
_FIELDS_AROUND = """
    SELECT DISTINCT c.sym_id
    FROM (SELECT unnest($docs::INTEGER[]) AS doc_id, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
    JOIN symbol s ON s.doc_id = p.doc_id AND (s.start_line, s.start_col) <= (p.line, p.col) AND (p.line, p.col) < (s.end_line, s.end_col)
    JOIN symbol c ON c.sym_id = s.container_id
    WHERE s.kind IN (7, 8, 13, 14) AND c.kind IN (5, 10, 11, 23)
    UNION
    SELECT DISTINCT c.sym_id
    FROM (SELECT unnest($docs::INTEGER[]) AS doc_id, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
    JOIN occ o ON o.doc_id = p.doc_id AND o.line = p.line AND o.col < p.col AND o.roles & 5 <> 0
    JOIN document d ON d.doc_id = p.doc_id AND d.language = 'python'
    JOIN symbol s ON s.sym_id = o.sym_id
    JOIN symbol c ON c.sym_id = s.container_id
    WHERE s.kind IN (7, 8, 13, 14) AND c.kind IN (5, 10, 11, 23)
"""

_FIELDS_OF_TYPE = """
    SELECT DISTINCT c.sym_id
    FROM symbol_text t JOIN symbol s USING (sym_id) JOIN document d USING (doc_id) JOIN symbol c ON c.sym_id = s.container_id
    WHERE t.hover IN (SELECT unnest($hovers::VARCHAR[])) AND d.language = 'python' AND d.status <> 'external'
      AND s.kind IN (7, 8, 13, 14) AND c.kind IN (5, 10, 11, 23)
      AND NOT EXISTS (SELECT 1 FROM symbol w WHERE w.name = t.hover[11:-5] AND w.kind IN (5, 10, 11, 23) AND w.flags & 2048 = 0)
"""

_BELOW = """
    WITH RECURSIVE down(sym_id) AS (
        SELECT unnest($ids::INTEGER[]) UNION SELECT t.sub_id FROM down JOIN type_edge_rev t ON t.super_id = down.sym_id
    )
    SELECT sym_id FROM down
"""


def guarded_types(index: Index) -> frozenset[int]:
    """Types that hold a lock, a mutex, a semaphore or an atomic in a field, their own or an inherited one; also an embedded one.

    From identifiers in the fields' declarations, so what a comment says is nothing; a name that the server knows to be of the
    workspace is no primitive.
    """
    found: frozenset[int] = index.keep("guarded types", lambda: _guarded_types(index))
    return found


def guarded(index: Index, ids: Collection[int]) -> set[int]:
    """Those of the symbols that are types which hold a lock, or members of one (or lie in a member)."""
    types = guarded_types(index)
    if not types or not ids:
        return set()
    scopes(index, ids)
    return {start for start in ids if any(sym_id in types for sym_id in around(index, start))}


def _guarded_types(index: Index) -> frozenset[int]:
    languages = {row[0] for row in index.rows("SELECT DISTINCT language FROM document WHERE status <> 'external'")}
    tables = {language: table for language, table in PRIMITIVES.items() if language in languages}
    names = sorted({name for table in tables.values() for name in table.names})
    if not names:
        return frozenset()
    places: list[tuple[int, int, int]] = []
    for doc_id, line, col, name, language, unknown, qualified, package in index.rows(_NAMED, {"names": names}):
        table = tables.get(language)
        if table and name in table.names and (unknown or qualified.startswith(table.within) or package.startswith(table.within)):
            places.append((doc_id, line, col))
    docs, lines, cols = (list(column) for column in zip(*places, strict=True)) if places else ([], [], [])
    found = {row[0] for row in index.rows(_FIELDS_AROUND, {"docs": docs, "lines": lines, "cols": cols})} if places else set()
    if "python" in tables:
        hovers = [f"```python\n{name}\n```" for name in tables["python"].types]
        found |= {row[0] for row in index.rows(_FIELDS_OF_TYPE, {"hovers": hovers})}
    found |= _embedding(index, tables)
    return frozenset(row[0] for row in index.rows(_BELOW, {"ids": sorted(found)})) if found else frozenset()


def _embedding(index: Index, tables: Mapping[str, Primitives]) -> set[int]:
    """Types that are primitives themselves by embedding (Go) or inheritance."""
    rows = index.rows(
        """
        SELECT t.sub_id, s.name, d.language, s.qualified_name, d.package FROM type_edge t JOIN symbol s ON s.sym_id = t.super_id
        JOIN document d USING (doc_id) WHERE s.flags & 2048 <> 0 AND t.evidence = 8
        """
    )
    return {
        sub_id
        for sub_id, name, language, qualified, package in rows
        if (table := tables.get(language))
        and name in table.names
        and (qualified.startswith(table.within) or package.startswith(table.within))
    }
