"""Calls that have no name where they stand: operators, `with`, `for`, `str()`, and what the language runs by itself.

Where the type of a value is known, the index has an edge to the member that runs. Where it is not, each operation that could run the member
that was asked about may be a caller of it. A member that no operation runs has no such gap.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from indexer.languages import LANGUAGES, Language, record_of
from indexer.model import CALLABLE_KINDS, VALUE_KINDS, Operation, Role, SymbolFlag, SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import documents
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.registration import above_types
from query.facts.scopes import scopes
from query.facts.symbols import TYPES, Symbol

_WRITTEN = {
    Operation.ITERATE: "`for … in x`, unpacking and the like",
    Operation.NEXT: "`next(x)`",
    Operation.ITERATE_ASYNC: "`async for … in x`",
    Operation.NEXT_ASYNC: "`anext(x)`",
    Operation.ENTER: "`with x`",
    Operation.ENTER_ASYNC: "`async with x`",
    Operation.AWAIT: "`await x`",
    Operation.CALL: "`x()`",
    Operation.GET_ITEM: "`x[…]`",
    Operation.SET_ITEM: "`x[…] = …`",
    Operation.DELETE_ITEM: "`del x[…]`",
    Operation.CONTAINS: "`… in x`",
    Operation.GET_ATTRIBUTE: "`x.name`",
    Operation.SET_ATTRIBUTE: "`x.name = …`",
    Operation.DELETE_ATTRIBUTE: "`del x.name`",
    Operation.GET_DESCRIBED: "`x.name`",
    Operation.SET_DESCRIBED: "`x.name = …`",
    Operation.DELETE_DESCRIBED: "`del x.name`",
    Operation.TRUTH: "tests whether `x` is true",
    Operation.UNPACK_MAPPING: "`**x`",
    Operation.REMAKE: "`type(x)()`",
    Operation.CLOSE: "`closing(x)`",
    Operation.CLOSE_ASYNC: "`aclosing(x)`",
    Operation.LENGTH: "`len(x)`",
    Operation.TEXT: "texts made of `x`: `str(x)`, `'%s' % x`, `${x}`",
    Operation.REPRESENTATION: "`repr(x)`",
    Operation.FORMAT: "`f'{x}'`",
    Operation.EQUAL: "`x == …`",
    Operation.UNEQUAL: "`x != …`",
    Operation.HOLD: "a template gets the type",
    Operation.PRIMITIVE: "`x + …`, `x < …`, `-x` and the like",
    Operation.INSTANCE_OF: "`… instanceof x`",
    Operation.COPY: "`{...x}`",
    Operation.READ_MADE: "`x[name]`",
    Operation.INSTANTIATE: "what depends on a template's parameters, or on names that several have",
}

_HOLDERS = VALUE_KINDS | CALLABLE_KINDS

_OPEN = """
    WITH RECURSIVE above(sym_id) AS (
        SELECT CASE WHEN is_type(kind) THEN sym_id ELSE container_id END FROM symbol WHERE sym_id = $id
        UNION SELECT t.super_id FROM above a JOIN type_edge t ON t.sub_id = a.sym_id
    )
    SELECT u.operation, d.path, d.language, count(*)
    FROM unresolved_operation u JOIN document d USING (doc_id)
    WHERE u.operation IN (SELECT unnest($operations::UTINYINT[])) AND (u.type_id IS NULL OR u.type_id IN (SELECT sym_id FROM above))
    GROUP BY ALL ORDER BY ALL
"""

_RUN = """
    SELECT s.name, d.path, count(*) FROM (SELECT unnest($ids::INTEGER[]) AS id) u
    JOIN call_in c ON c.callee = u.id JOIN symbol s ON s.sym_id = c.callee JOIN document d ON d.doc_id = c.doc_id
    WHERE is_evidence(c.evidence, 'operator', 'protocol') GROUP BY ALL ORDER BY ALL
"""

_BY_LIBRARIES = """
    SELECT s.name, d.path, count(*) FROM symbol s JOIN refs r USING (sym_id) JOIN document d ON d.doc_id = r.doc_id
    WHERE s.name IN (SELECT unnest($names::VARCHAR[])) AND has_flag(s.flags, 'external') AND NOT has_role(r.roles, 'import') GROUP BY ALL
    UNION ALL  -- in a header that macros make unreadable it has another name
    SELECT o.name, d.path, count(*) FROM occ o JOIN symbol s USING (sym_id) JOIN document d ON d.doc_id = o.doc_id
    WHERE o.name IN (SELECT unnest($names::VARCHAR[])) AND s.name <> o.name AND has_flag(s.flags, 'external')
      AND NOT has_role(o.roles, 'import') GROUP BY ALL
    UNION ALL
    SELECT u.name, d.path, count(*) FROM unresolved_name u JOIN document d USING (doc_id)
    WHERE u.name IN (SELECT unnest($names::VARCHAR[])) GROUP BY ALL
    ORDER BY ALL
"""

_UNRESOLVED = """
    SELECT u.name, u.roles, d.path, d.language, count(*) FROM unresolved_name u JOIN document d USING (doc_id)
    WHERE has_role(u.roles, 'read', 'write', 'delete') AND NOT has_role(u.roles, 'import', 'keyword') GROUP BY ALL ORDER BY ALL
"""
"""Any of these names may be an attribute that the type makes up."""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """The operations that may run one of these members; where names were asked for, that others run it without its name."""
    if uses.question != "callers":
        return _known(index, uses)
    return [reason for symbol in uses.symbols for reason in _of(index, symbol, uses)]


def written(operations: Sequence[Operation]) -> list[str]:
    """How a text writes these operations, each once."""
    return list(dict.fromkeys(_WRITTEN.get(operation, operation.label.replace("_", " ")) for operation in operations))


def attribute_operations(index: Index, name: str, roles: int, language: str) -> list[Operation]:
    """What an attribute of this name may run on a value of unknown type: what types have for any name, and descriptors.

    Args:
        roles: a set of `Role`, which says whether it is read, written or deleted.
    """
    described: frozenset[str] = index.keep("names of fields", lambda: frozenset(field for (field,) in index.rows(_FIELDS)))
    if name not in described and record_of(language).fields_lead_on:
        return []
    found: list[Operation] = []
    for role, of_any, of_described in _ATTRIBUTE_OPERATIONS:
        if roles & role:
            found += [of_any, *([of_described] if name in described else [])]
    return found


_ATTRIBUTE_OPERATIONS = (
    (Role.READ, Operation.GET_ATTRIBUTE, Operation.GET_DESCRIBED),
    (Role.WRITE, Operation.SET_ATTRIBUTE, Operation.SET_DESCRIBED),
    (Role.DELETE, Operation.DELETE_ATTRIBUTE, Operation.DELETE_DESCRIBED),
)
OF_ATTRIBUTES = frozenset(operation for _, *operations in _ATTRIBUTE_OPERATIONS for operation in operations)

_FIELDS = """
    SELECT DISTINCT s.name FROM symbol s JOIN symbol c ON c.sym_id = s.container_id
    WHERE is_type(c.kind) AND is_kind(s.kind, 'field', 'constant', 'variable') AND NOT has_flag(s.flags, 'external', 'parameter')
    ORDER BY ALL
"""


_OPEN_BASES = """
    SELECT o.encl_id, o.name, d.path, d.language FROM occ o JOIN document d USING (doc_id) LEFT JOIN symbol b ON b.sym_id = o.sym_id
    WHERE has_role(o.roles, 'supertype') AND (b.sym_id IS NULL OR is_value(b.kind) OR is_callable(b.kind)) ORDER BY ALL
"""
_HAS_HOOKS = """
    SELECT count(*) FROM symbol WHERE name IN (SELECT unnest($names::VARCHAR[])) AND NOT has_flag(flags, 'external')
"""
_HOOKS_OF_BASES = sorted({name for language in LANGUAGES for name in language.base_hooks})


class _OpenBase(NamedTuple):
    """A base that is no type that is known, and in whose text the class is defined; None outside of all symbols."""

    encl_id: int | None
    name: str
    path: str
    language: str


def _open_bases(index: Index) -> list[_OpenBase]:
    """Of the whole index; none where no type has a member that runs for each type that is defined on it."""
    known: list[_OpenBase] = index.keep("open bases", lambda: _read_open_bases(index))
    return known


def _read_open_bases(index: Index) -> list[_OpenBase]:
    [(there,)] = index.rows(_HAS_HOOKS, {"names": _HOOKS_OF_BASES})
    return [_OpenBase(*row) for row in index.rows(_OPEN_BASES)] if there else []


def of_open_bases(index: Index, ids: Collection[int]) -> list[Reason]:
    """Classes that these texts define on an unknown base, which may have a member that runs where it is named as one."""
    asked = set(ids)
    return _of_bases([base for base in _open_bases(index) if base.encl_id in asked])


def _of_bases(bases: Sequence[_OpenBase]) -> list[Reason]:
    if not bases:
        return []
    names = listed(sorted({f"'{base.name}'" for base in bases}))
    detail = f"{names} is a base that only the running program knows, and may have a member that runs for each class on it"
    return [of_paths("nameless_calls", detail, sorted({base.path for base in bases}), len(bases))]


def _known(index: Index, uses: Uses) -> list[Reason]:
    """Members that are run where nothing names them: a list of what names them is not all of their uses."""
    rows = index.rows(_RUN, {"ids": uses.ids})
    if not rows:
        return []
    total = sum(number for _, _, number in rows)
    names = listed(sorted({name for name, _, _ in rows}))
    paths = sorted({path for _, path, _ in rows})
    return [of_paths("nameless_uses", f"{names} is run at {total} places that do not name it; list: lspidx query callers", paths, total)]


def _of(index: Index, symbol: Symbol, uses: Uses) -> list[Reason]:
    known = scopes(index, [symbol.sym_id])
    if symbol.sym_id not in known:
        return []
    scope = known[symbol.sym_id]
    holder = None if scope.container is None else known[scope.container].kind
    language = record_of(documents(index, [scope.doc_id])[scope.doc_id].language)
    # Where types are shapes, what holds or gives an object has members as a type does.
    is_member = bool(scope.flags & SymbolFlag.IMPLEMENTS) or (
        holder is not None and (SymbolKind(holder).label in TYPES or (language.satisfies == "shape" and holder in _HOLDERS))
    )
    is_member |= language.members_by_assignment and symbol.record.kind == SymbolKind.METHOD.label
    found: list[Reason] = []
    may_run = is_member or language.operators_outside
    operations = _run(index, symbol, language) if may_run else []
    if language.reads_by_key and is_member and scope.flags & SymbolFlag.PROPERTY:
        is_of_type = holder is not None and SymbolKind(holder).label in TYPES
        operations += [Operation.READ_MADE, *([] if is_of_type else [Operation.COPY])]
    if operations:
        found += _open(index, symbol, operations, uses)
    if language.constructs_by_type and symbol.record.kind in (SymbolKind.CONSTRUCTOR.label, *TYPES):
        found += _open(index, symbol, [Operation.HOLD], uses) + _converted(index, symbol)
    found += _by_libraries(index, symbol.record.name, language, uses) if may_run else []
    is_operated = bool(set(operations) - {Operation.REMAKE})
    if is_member and symbol.record.name in language.base_hooks:
        bases = [base for base in _open_bases(index) if not uses.family or base.language in uses.family]
        found += _of_bases([base for base in bases if uses.could_refer(base.path)])
    if detail := _elsewhere(index, symbol, language, is_member=is_member, is_operated=is_operated):
        found.append(Reason(code="nameless_calls", detail=detail, count=1))
    return found


def _elsewhere(index: Index, symbol: Symbol, language: Language, *, is_member: bool, is_operated: bool) -> str:
    """What runs the symbol at places that are not all known, in words; empty where nothing does."""
    name = symbol.record.name
    if (is_member or language.operators_outside) and _is_run(index, symbol, language):
        if name not in language.runtime_members and language.says_implementations:
            return f"'{name}' is asked for by an interface outside the workspace, whose code may run it; look for uses of its type"
        return (
            f"'{name}' is {'also ' if is_operated else ''}run by the language or its libraries where nothing names it (operators, "
            f"conversions, comparing, formatting, copying, its end), and such places are not all known; look for uses of its type"
        )
    if language.constructs_by_type and is_member and index.rows(_OVERRIDES_UNKNOWN, [symbol.sym_id]):
        return (
            f"'{name}' says that it overrides a member, which is not known here: who calls that one may run it; look for uses of its type"
        )
    if not is_member and name in language.module_members:
        return (
            f"the language runs '{name}' for names that the module lacks, and such places are not all known; look at what uses the module"
        )
    if not is_operated:
        return ""
    bases = _bases(index, symbol.sym_id)
    if not language.metaclasses.isdisjoint(bases):
        return f"what is done to a class whose metaclass it is runs '{name}', and such places are not all known; look at its classes"
    outside = [base for base in bases if base.rpartition(".")[2] not in language.idle_bases]
    if outside and language.idle_bases:
        return (
            f"its base '{outside[0]}' outside the workspace: that base's own code, and operations on values that are taken for one of it, "
            f"may run '{name}'; look for uses of its type"
        )
    return ""


_OVERRIDES_UNKNOWN = """
    SELECT 1 FROM symbol_text t WHERE t.sym_id = ? AND regexp_matches(t.signature, '\\b(override|final)\\b')
      AND t.sym_id NOT IN (SELECT sub_id FROM override)
"""


def _bases(index: Index, sym_id: int) -> list[str]:
    container = scopes(index, [sym_id])[sym_id].container
    return [] if container is None else above_types(index).bases(container)


def _run(index: Index, symbol: Symbol, language: Language) -> list[Operation]:
    """What a text may do to a value that runs this member: not what runs another one first that its type has."""
    name = symbol.record.name
    fitting = [(Operation[word.upper()], names) for word, groups in language.operations for names in groups if name in names]
    if not fitting:
        return []
    sql = """
        WITH RECURSIVE above(sym_id) AS (
            SELECT container_id FROM symbol WHERE sym_id = $id
            UNION SELECT t.super_id FROM above a JOIN type_edge t ON t.sub_id = a.sym_id
        )
        SELECT DISTINCT m.name FROM above a JOIN symbol m ON m.container_id = a.sym_id WHERE m.name IN (SELECT unnest($names::VARCHAR[]))
    """
    others = sorted({other for _, names in fitting for other in names})
    there = {other for (other,) in index.rows(sql, {"id": symbol.sym_id, "names": others})}
    return [operation for operation, names in fitting if there.isdisjoint(names[: names.index(name)])]


def _is_run(index: Index, symbol: Symbol, language: Language) -> bool:
    """Whether the language or a library runs the member: of an interface outside any, where implementations are told apart."""
    name = symbol.record.name
    is_listed = language.runs(name) or _is_of_object(index, symbol, language)
    if not language.says_implementations:
        return is_listed
    sql = """
        SELECT NOT EXISTS (
            SELECT 1 FROM override o JOIN symbol b ON b.sym_id = o.super_id WHERE o.sub_id = s.sym_id AND NOT has_flag(b.flags, 'external')
        )
        FROM symbol s WHERE s.sym_id = ? AND has_flag(s.flags, 'implements')
    """
    row = index.row(sql, [symbol.sym_id])
    return row is not None and row[0] and (is_listed or not language.operates(name))


def _is_of_object(index: Index, symbol: Symbol, language: Language) -> bool:
    """Whether it is a member of an object that is written out, and what the object is given to may run it."""
    if symbol.record.name not in language.object_members:
        return False
    sql = """
        SELECT 1 FROM symbol s JOIN symbol_text t USING (sym_id) LEFT JOIN symbol c ON c.sym_id = s.container_id
        WHERE s.sym_id = ? AND NOT coalesce(is_type(c.kind), false) AND NOT contains(t.signature, '.')
    """
    return bool(index.rows(sql, [symbol.sym_id]))


def _converted(index: Index, symbol: Symbol) -> list[Reason]:
    """A constructor that converts or copies a value where nothing names it: one with parameters that is not said to be explicit."""
    row = index.row(
        """
        SELECT has_flag(s.flags, 'overloaded') OR NOT starts_with(t.signature, 'explicit')
               AND EXISTS (SELECT 1 FROM symbol p WHERE p.container_id = s.sym_id AND has_flag(p.flags, 'parameter'))
        FROM symbol s LEFT JOIN symbol_text t USING (sym_id) WHERE s.sym_id = ?
        """,
        [symbol.sym_id],
    )
    if row is None or not row[0]:
        return []
    detail = "constructors also run where a value is copied or converted unnamed, and such places are not known; look for uses of the type"
    return [Reason(code="nameless_calls", detail=detail, count=1)]


def _by_libraries(index: Index, name: str, language: Language, uses: Uses) -> list[Reason]:
    """Functions of libraries that run a member of whatever they are given."""
    running = sorted({by for members, names in language.run_by if name in members for by in names})
    if not running:
        return []
    rows = [row for row in index.rows(_BY_LIBRARIES, {"names": running}) if uses.could_refer(row[1])]
    if not rows:
        return []
    count, paths = sum(number for *_, number in rows), sorted({path for _, path, _ in rows})
    named = listed([f"'{by}'" for by in sorted({by for by, _, _ in rows})], 3)
    detail = f"{named} of a library, used at {count} place{'' if count == 1 else 's'}, runs '{name}' of values that it is given"
    return [of_paths("nameless_calls", detail, paths, count)]


def _open(index: Index, symbol: Symbol, operations: Sequence[Operation], uses: Uses) -> list[Reason]:
    rows = index.rows(_OPEN, {"id": symbol.sym_id, "operations": [int(operation) for operation in operations]})
    if not OF_ATTRIBUTES.isdisjoint(operations):
        rows += [
            (operation, path, language, number)
            for name, roles, path, language, number in index.rows(_UNRESOLVED)
            for operation in attribute_operations(index, name, roles, language)
            if operation in operations
        ]
    rows = [row for row in rows if (not uses.family or row[2] in uses.family) and uses.could_refer(row[1])]
    if not rows:
        return []
    numbers: dict[Operation, int] = {}
    for operation, _, _, number in rows:
        numbers[Operation(operation)] = numbers.get(Operation(operation), 0) + number
    count, paths = sum(numbers.values()), sorted({path for _, path, _, _ in rows})
    most = sorted(numbers, key=lambda operation: -numbers[operation])
    labels = ", ".join(f"'{operation.label}'" for operation in most if operation not in OF_ATTRIBUTES)
    listing = f'; list: lspidx sql "FROM unresolved_operations WHERE operation IN ({labels})"' if labels else ""
    one = count == 1
    if list(operations) == [Operation.HOLD]:
        detail = f"{count} template{'' if one else 's'} in {listed(paths)} get{'s' if one else ''} the type and may construct values of it"
        return [of_paths("nameless_calls", detail, paths, count)]
    detail = (
        f"{count} operation{'' if one else 's'} ({listed(written(most), 3)}) in {len(paths)} file{'' if len(paths) == 1 else 's'} "
        f"{'is' if one else 'are'} on values of unknown type, which may run '{symbol.record.name}'; where their types are declared they "
        f"are resolved{listing}"
    )
    return [of_paths("nameless_calls", detail, paths, count)]
