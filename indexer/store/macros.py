"""Names in SQL for the numbers that an index stores: kinds, flags, roles, evidence, severities, kinds of targets; and for languages.

A statement says `is_type(s.kind)`, `has_flag(s.flags, 'local')`, `o.evidence <> evidence('inferred')`, and `expand` writes the numbers of
`indexer.model` in their place before DuckDB sees the text. All SQL of the project passes through it: `query.facts.index.Index` expands what
it is given, so do the merge, the views and the lint, and what users write for `lspidx sql`. DuckDB's own macros cost more (ADR 0033).

Constants take names in quotes and become a number. Of flags and roles, several names make one mask:

    symbol_kind('class')   evidence('inferred')   severity('error')   symbol_flag('local', 'parameter')   role('read', 'write')
    name_use('member')   how the name in a string is taken, see `indexer.model.NameUse`
    operation('get_item')   basis('result')   what a text does to a value, and how the value's type is known
    unwritten('make')   what a compiler puts in, see `indexer.model.Unwritten`
    via('inferred_type')   how a function came to where it is called, see `indexer.model.Via`
    target_symbol('nothing')   what `symbol` of a target is in place of a key, see `indexer.model.TargetSymbol`

Conditions take an expression and then names in quotes, and hold where ONE of the names does; those of a group of kinds take no names:

    is_kind(s.kind, 'class', 'enum member')   is_evidence(o.evidence, 'inferred')   is_use(x.use, 'member')   is_basis(n.basis, 'value')
    has_flag(s.flags, 'local', 'parameter')   has_role(o.roles, 'read', 'write')
    is_type(s.kind)   is_callable(s.kind)   is_scope(s.kind)   is_value(s.kind)   by TYPE_KINDS, CALLABLE_KINDS … of `indexer.model`

What is known of a language (a field of `indexer.languages.record.Language`) is asked by the field's name, and by a value where it is no
yes or no; a statement names no language:

    language_has(d.language, 'is_module')   language_has(d.language, 'satisfies', 'shape')

`moniker_key(moniker)` is the number that stands for a symbol in other files' facts, `severity_label(severity)` the name of a diagnostic's,
`is_cut(reason)` whether a document was asked in part or not at all for a limit on what a file may cost.

Names are those that the views print: of a kind with spaces (`enum member`), of all else the member of the enum in lower case. Macros are
written in lower case with no space before the parenthesis. Text in quotes and comments is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum, IntFlag
from functools import lru_cache

from indexer.model import (
    CALLABLE_KINDS,
    CUT,
    SCOPE_KINDS,
    TYPE_KINDS,
    VALUE_KINDS,
    Basis,
    Evidence,
    NameUse,
    Operation,
    Role,
    Severity,
    SymbolFlag,
    SymbolKind,
    TargetSymbol,
    Unwritten,
    Via,
)

_KINDS = {kind.label: int(kind) for kind in SymbolKind}
_EVIDENCE = {evidence.label: int(evidence) for evidence in Evidence}


def _lower_case(members: Iterable[IntEnum | IntFlag]) -> dict[str, int]:
    return {str(member.name).lower(): int(member) for member in members}


_FLAGS, _ROLES, _SEVERITIES = _lower_case(SymbolFlag), _lower_case(Role), _lower_case(Severity)
_USES = _lower_case(NameUse)
_BASES = _lower_case(Basis)

_NUMBERS: Mapping[str, Mapping[str, int]] = {
    "symbol_kind": _KINDS,
    "evidence": _EVIDENCE,
    "severity": _SEVERITIES,
    "target_symbol": _lower_case(TargetSymbol),
    "name_use": _USES,
    "operation": _lower_case(Operation),
    "basis": _BASES,
    "unwritten": _lower_case(Unwritten),
    "via": _lower_case(Via),
}
_BITS: Mapping[str, Mapping[str, int]] = {"symbol_flag": _FLAGS, "role": _ROLES}
_ONE_OF: Mapping[str, Mapping[str, int]] = {"is_kind": _KINDS, "is_evidence": _EVIDENCE, "is_use": _USES, "is_basis": _BASES}
_ANY_BIT: Mapping[str, Mapping[str, int]] = {"has_flag": _FLAGS, "has_role": _ROLES}
_GROUPS: Mapping[str, Iterable[int]] = {
    "is_type": TYPE_KINDS,
    "is_callable": CALLABLE_KINDS,
    "is_scope": SCOPE_KINDS,
    "is_value": VALUE_KINDS,
}
_WRITTEN_OUT: Mapping[str, str] = {
    "moniker_key": "md5_number_lower({})",  # 64 bits, of which two symbols in ten million are alike with odds of 3e-6
    "is_cut": "split_part({}, ':', 1) IN (" + ", ".join(f"'{reason}'" for reason in CUT) + ")",
    # A server may send a number that the protocol does not know: it is the least.
    "severity_label": "CASE {} " + " ".join(f"WHEN {number} THEN '{name}'" for name, number in _SEVERITIES.items()) + " ELSE 'hint' END",
}
"""SQL with a place for the argument."""

_CONSTANTS = frozenset({*_NUMBERS, *_BITS})
_LANGUAGE = "language_has"
_MACROS = _CONSTANTS | {*_ONE_OF, *_ANY_BIT, *_GROUPS, *_WRITTEN_OUT, _LANGUAGE}
_CALLS = tuple(f"{macro}(" for macro in sorted(_MACROS))
_VERBATIM = r"""\b[eE]'(?:\\.|''|[^'\\])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"""
_TOKEN = re.compile(rf"{_VERBATIM}|(?P<word>[A-Za-z_][\w.$]*)?(?P<open>[(\[])|[A-Za-z_][\w.$]*|[),\]]", re.DOTALL)
"""What is to be copied as it is; words, whole ones, so that `s.role` is not taken for `role`; and what an argument ends with."""
_NAME = re.compile(r"\s*'([^']*)'\s*")


class UnknownName(ValueError):
    """A statement uses a macro with a name that there is not, or in another way than it is made for."""


@lru_cache(maxsize=512)
def expand(sql: str) -> str:
    """The statement with numbers in place of the names above; the text itself where it has none.

    Raises:
        UnknownName: no number has this name, or the arguments are not an expression and names in quotes.
    """
    return _expanded(sql)


def _expanded(sql: str) -> str:
    if not any(call in sql for call in _CALLS):  # a hundredth of the time that reading the words takes
        return sql
    parts: list[str] = []
    position = start = 0
    while (token := _TOKEN.search(sql, position)) is not None:
        position = token.end()
        if token["open"] != "(" or not _is_macro(token["word"] or "", sql, position):
            continue
        arguments, position = _arguments(sql, position, token["word"])
        parts += [sql[start : token.start()], _number(token["word"], arguments)]
        start = position
    return "".join([*parts, sql[start:]])


def _is_macro(word: str, sql: str, opened: int) -> bool:
    """A constant is one only before a quote: `WITH role(a) AS`, `INSERT INTO evidence(label)` are the writer's own names."""
    return word in _MACROS and (word not in _CONSTANTS or sql[opened:].lstrip().startswith("'"))


def _arguments(sql: str, start: int, macro: str) -> tuple[list[str], int]:
    """The texts between the commas of a call whose first argument begins at `start`, and where the call ends."""
    found: list[str] = []
    depth, begin = 0, start
    for token in _TOKEN.finditer(sql, start):
        if token["open"]:
            depth += 1
        elif token[0] == ")" and depth == 0:
            return [*found, sql[begin : token.start()]], token.end()
        elif token[0] in (")", "]"):
            depth -= 1
        elif token[0] == "," and depth == 0:
            found.append(sql[begin : token.start()])
            begin = token.end()
    raise UnknownName(f"the parenthesis of {macro}( is not closed")


def _number(macro: str, arguments: list[str]) -> str:
    if macro in _NUMBERS:
        numbers = _named(macro, _NUMBERS[macro], arguments)
        if len(numbers) != 1:
            raise UnknownName(f"{macro}() takes one name, got {len(numbers)}")
        return str(numbers[0])
    if macro in _BITS:
        return str(sum(set(_named(macro, _BITS[macro], arguments))))
    expression = _expanded(arguments[0].strip())
    if macro in _ONE_OF:
        return _among(expression, _named(macro, _ONE_OF[macro], arguments[1:]))
    if macro in _ANY_BIT:
        return f"({expression} & {sum(set(_named(macro, _ANY_BIT[macro], arguments[1:])))} <> 0)"
    if macro == _LANGUAGE:
        return _of_languages(expression, _quoted(macro, arguments[1:]))
    if len(arguments) != 1:
        raise UnknownName(f"{macro}() takes one argument, got {len(arguments)}")
    return _WRITTEN_OUT[macro].format(expression) if macro in _WRITTEN_OUT else _among(expression, _GROUPS[macro])


def _among(expression: str, numbers: Iterable[int]) -> str:
    listed = [str(int(number)) for number in sorted(numbers)]
    return f"({expression} = {listed[0]})" if len(listed) == 1 else f"({expression} IN ({', '.join(listed)}))"


def _of_languages(expression: str, asked: list[str]) -> str:
    """Whether a language is one of those whose record has this field, or has this value in it."""
    names = languages_with(asked)
    listed = [f"'{name}'" for name in names]
    return f"({expression} = {listed[0]})" if len(listed) == 1 else f"({expression} IN ({', '.join(listed)}))"


def languages_with(asked: Sequence[str]) -> Sequence[str]:
    """Languages whose record has a field, or has a value in it: `asked` is the field's name and, if need be, the value.

    Raises:
        UnknownName: there is no such field, or no language with it.
    """
    from indexer.languages import Language, names_of  # a question whose statements ask for none does without: 4 ms

    field, *value = asked
    if field not in Language.__struct_fields__ or len(value) > 1:
        raise UnknownName(f"{_LANGUAGE}() takes a field of a language's record and at most one value, not {', '.join(asked)}")
    names = names_of(lambda record: getattr(record, field) == value[0] if value else bool(getattr(record, field)))
    if not names:
        raise UnknownName(f"{_LANGUAGE}() knows no language with {' = '.join(asked)}")
    return names


def _named(macro: str, known: Mapping[str, int], arguments: list[str]) -> list[int]:
    names = _quoted(macro, arguments)
    for name in names:
        if name not in known:
            raise UnknownName(f"{macro}() knows no '{name}'; known: {', '.join(known)}")
    return [known[name] for name in names]


def _quoted(macro: str, arguments: list[str]) -> list[str]:
    if not arguments:
        raise UnknownName(f"{macro}() takes an expression and then names in quotes")
    names: list[str] = []
    for argument in arguments:
        name = _NAME.fullmatch(argument)
        if name is None:
            raise UnknownName(f"{macro}() takes names in quotes, not {argument.strip()}")
        names.append(name[1])
    return names
