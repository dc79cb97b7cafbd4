"""Which symbols a bare or dotted name fits, written as any language writes it."""

from __future__ import annotations

import re

from indexer.languages import JAVASCRIPT, TYPESCRIPT, record_of
from indexer.model import CALLABLE_KINDS
from query.answers.envelope import SymbolRecord
from query.facts.hierarchy import supertypes
from query.facts.index import Index
from query.facts.symbols import CARD, TYPES, Symbol, symbols_by_id, to_symbol

_OPERATOR = re.compile(r"(?:^|[.:])(operator(?:\W.*|\s+(?:new|delete|co_await)\b.*))\Z", re.DOTALL)
_COMPUTED = re.compile(r"(?:^|[.:#])(\[[A-Za-z_$][\w$.]*\])(?:\(\))?\Z")
_ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_OF_TYPE = re.compile(r"(?<=\w)[#$](?=\w)")
"""`Type#member` of documentation, `Outer$Inner` of class files."""

_TYPES = re.compile(r"\([^()]*\)\Z")
_MADE = re.compile(r"(?:new\s+)?([\w.]*?(\w+))(?:(?:::|\.)(?:new|<init>))?\Z")
_CALLED = frozenset(kind.label for kind in CALLABLE_KINDS)
_MOST_PARTS = 50
"""Of a name whose owner is looked for, one part after the other; no name of a program has as many."""

_SELF = ("crate", "self", "super")  # Rust: from the root of this very package


def dotted(name: str) -> str:
    r"""A name as any language writes it, as this index does: `ns::Box<T>::get`, `(*Router).Handle`, `A\B::$c`, `Router.Handle()`.

    The symbol of an operator keeps its own signs: `Square::operator<`; and a name that an expression makes keeps its brackets:
    `a.[Symbol.iterator]`.
    """
    operator = _OPERATOR.search(name) or _COMPUTED.search(name)
    rest, last = (name[: operator.start(1)], operator[1]) if operator else (name, "")
    rest = rest.replace("->", ".").replace("::$", "::").replace("\\", ".")
    while (fewer := _ARGUMENTS.sub("", rest)) != rest:
        rest = fewer
    plain = re.sub(r"[.:]+", ".", re.sub(r"[()*&!]", "", rest)).strip(". ")
    return f"{plain}.{last}".strip(".") if last else plain


def last_of(name: str) -> str:
    """The last part of a dotted name, which may have dots of its own: `[Symbol.iterator]`."""
    computed = _COMPUTED.search(name)
    return computed[1] if computed else name.rpartition(".")[2]


def named(index: Index, name: str) -> list[Symbol]:
    """All symbols that a bare or dotted name fits, workspace before dependencies, inherited members last."""
    plain = (*(_made(name) if name.endswith("<init>") else ()), name.replace(":", ".").strip(".").removesuffix("()"), dotted(name))
    forms = [(form, last_of(form)) for form in plain]
    forms += [(name, name), *((form, last_of(form)) for form in _made(name))]  # a shell function may be called `log::info`
    found: list[Symbol] = []
    for form, last in dict.fromkeys([*forms, *((form, last_of(form)) for form in _as_documented(name))]):
        fitting = symbols_called(index, form, last) if last else []
        if (form, last) not in forms:
            fitting = [symbol for symbol in fitting if record_of(symbol.record.symbol.partition(" ")[0]).named_by_package]
        own = [symbol for symbol in fitting if not symbol.record.external]
        own = [symbol for symbol in own if not symbol.is_local] or own  # what stands inside a function is meant only if nothing else is
        if own:
            exact = [symbol for symbol in own if symbol.record.qualified_name == form]
            if _TYPES.search(name):
                own = [symbol for symbol in own if symbol.record.kind in _CALLED] or own
            return exact if len(exact) == 1 and "." in form else _without_doubles(own)
        found = found or fitting
    form = dotted(name)
    modules = _modules(index, form)
    inside = [symbol for symbol in modules if not symbol.record.external]
    if inside or "." not in form:
        return inside or found or modules
    return _abridged(index, form) or _inherited(index, form) or found or modules


def _made(name: str) -> list[str]:
    """The constructor that `new Type`, `Type::new` and `Type.<init>` mean, as an index calls it: `Type.Type`; else the type."""
    plain = _TYPES.sub("", name)
    made = _MADE.fullmatch(plain) if plain.startswith("new ") or plain.endswith(("new", "<init>")) else None
    return [f"{made[1]}.{made[2]}", made[1]] if made is not None and made[0] != made[1] else []


def _as_documented(name: str) -> list[str]:
    """`Type#member(String)` and `Outer$Inner.member` with dots, and without the types of parameters."""
    plain = _OF_TYPE.sub(".", _TYPES.sub("", name))
    return [plain] if plain != name else []


def symbols_called(index: Index, form: str, last: str) -> list[Symbol]:
    """Symbols called `last` whose qualified name is `form` or ends with it, the most used first."""
    known: dict[tuple[str, str], list[int]] = index.keep("symbols by name", dict)
    ids = known.get((form, last))
    if ids is None:
        if len(known) >= _MOST_KEPT:
            known.clear()
        ids = known[form, last] = _numbers(index, form, last)
    symbols = symbols_by_id(index, ids)
    return [symbols[sym_id] for sym_id in ids]


def _numbers(index: Index, form: str, last: str) -> list[int]:
    rows: list[tuple[int, int]] = index.rows(_NAMED, {"last": last})
    ids = [sym_id for sym_id, _ in sorted(rows, key=lambda row: (-row[1], row[0]))]
    if form == last:
        return ids
    if len(ids) <= _FEW:  # of these the cards will be printed
        names = {sym_id: symbol.record.qualified_name for sym_id, symbol in symbols_by_id(index, ids).items()}
    else:
        names = dict(index.rows(_WHOLE_NAMES, {"ids": ids}))
    return [sym_id for sym_id in ids if (name := names.get(sym_id)) is not None and (name == form or name.endswith(f".{form}"))]


_FEW = 12
_MOST_KEPT = 2_000
_NAMED = "SELECT sym_id, refs FROM symbol_name WHERE lname = lower($last) AND name = $last"
_WHOLE_NAMES = "SELECT s.sym_id, s.qualified_name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id"


def _modules(index: Index, form: str) -> list[Symbol]:
    """Modules of this dotted name; of this dotted suffix, where none has it whole."""
    named: list[tuple[int, str]] = index.keep(
        "modules by name",
        lambda: index.rows("SELECT sym_id, qualified_name FROM symbol WHERE kind = symbol_kind('module') ORDER BY sym_id"),
    )
    ids = [sym_id for sym_id, name in named if name == form or name.endswith(f".{form}")]
    fitting = list(symbols_by_id(index, ids).values())
    fitting.sort(key=lambda symbol: symbol.sym_id)
    return [symbol for symbol in fitting if symbol.record.qualified_name == form] or fitting


def _without_doubles(found: list[Symbol]) -> list[Symbol]:
    """Without what only repeats another fit: a constructor called as its class, a bare re-export of TypeScript or JavaScript."""
    names = {symbol.record.qualified_name for symbol in found}
    kept = [symbol for symbol in found if not (symbol.record.kind == "constructor" and _outer(symbol) in names)]
    real = [symbol for symbol in kept if not _is_reexport(symbol.record)]
    languages = {symbol.record.symbol.partition(" ")[0] for symbol in real if symbol.record.exported}
    return real if languages & {TYPESCRIPT.name, JAVASCRIPT.name} else kept


def _outer(symbol: Symbol) -> str:
    return symbol.record.qualified_name.removesuffix("." + symbol.record.name)


def _is_reexport(record: SymbolRecord) -> bool:
    """`export { a } from "./b"`: exported at the top of a module, and nothing is said of it."""
    bare = record.kind == "variable" and record.exported and not record.signature and record.container.endswith("/")
    return bare and record.symbol.startswith(("typescript ", "javascript "))


def _abridged(index: Index, form: str) -> list[Symbol]:
    """Symbols whose containers are all named, and before them some of package, folders and file, in their order."""
    last = last_of(form)
    rows = index.rows(
        f"""
        SELECT {CARD}, d.module, d.language, d.package
        FROM symbol_name n JOIN symbol_card s ON s.sym_id = n.sym_id JOIN document d ON d.doc_id = s.doc_id
        WHERE n.lname = lower($last) AND n.name = $last AND NOT has_flag(s.flags, 'local', 'external')
        ORDER BY n.refs DESC, s.sym_id
        """,
        {"last": last},
    )
    fitting: list[Symbol] = []
    for *card, module, language, package in rows:
        symbol = to_symbol(tuple(card))
        chain = symbol.record.qualified_name.removeprefix(record_of(language).holder(module) + ".")
        before = form.removesuffix("." + chain)
        if before == form:
            continue
        rest = iter([*re.split(r"[/.]", package), *module.split(".")])
        if all(part in rest for part in before.split(".") if part not in _SELF):
            fitting.append(symbol)
    return _without_doubles(fitting)


def _inherited(index: Index, form: str) -> list[Symbol]:
    """`Sub.method` where only an ancestor of Sub defines it: the nearest one that does."""
    member = last_of(form)
    owner = form.removesuffix(member).rstrip(".")
    if owner.count(".") >= _MOST_PARTS:
        return []
    classes = [symbol for symbol in named(index, owner) if symbol.record.kind in TYPES]
    if len(classes) != 1:
        return []
    seen, frontier = {classes[0].sym_id}, [classes[0].sym_id]
    while frontier and len(seen) < 500:
        frontier = sorted({edge.other for edge in supertypes(index, frontier)} - seen)
        seen.update(frontier)
        rows = index.rows(
            f"""
            SELECT {CARD} FROM symbol_name n JOIN symbol_card s ON s.sym_id = n.sym_id JOIN symbol w ON w.sym_id = n.sym_id
            WHERE n.lname = lower($member) AND n.name = $member AND list_contains($ids::INTEGER[], w.container_id)
            ORDER BY n.sym_id
            """,
            {"member": member, "ids": frontier},
        )
        if rows:
            return [to_symbol(row) for row in rows]
    return []
