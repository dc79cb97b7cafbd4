"""Names in SQL: each number of the model has one, and nothing but a macro's call is changed."""

from __future__ import annotations

import hashlib

import duckdb
import pytest

from indexer.languages import LANGUAGES
from indexer.model import CALLABLE_KINDS, SCOPE_KINDS, TYPE_KINDS, VALUE_KINDS, Evidence, Role, Severity, SymbolFlag, SymbolKind
from indexer.store.facts import AT_PLACE, NOTHING
from indexer.store.macros import UnknownName, expand


def _value(expression: str) -> object:
    with duckdb.connect(":memory:") as connection:
        [(value,)] = connection.execute(expand(f"SELECT {expression}")).fetchall()
        return value


def _key(moniker: str) -> int:
    """The lower half of the digest, as DuckDB's md5_number_lower has it."""
    return int.from_bytes(hashlib.md5(moniker.encode(), usedforsecurity=False).digest()[8:], "little")


def test_every_number_of_the_model_has_its_name_in_sql() -> None:
    assert [expand(f"symbol_kind('{kind.label}')") for kind in SymbolKind] == [str(int(kind)) for kind in SymbolKind]
    assert [expand(f"evidence('{one.label}')") for one in Evidence] == [str(int(one)) for one in Evidence]
    assert [expand(f"role('{role.labels[0]}')") for role in Role] == [str(int(role)) for role in Role]
    assert [expand(f"symbol_flag('{str(flag.name).lower()}')") for flag in SymbolFlag] == [str(int(flag)) for flag in SymbolFlag]
    assert [expand(f"severity('{one.name.lower()}')") for one in Severity] == [str(int(one)) for one in Severity]
    assert expand("target_symbol('at_place'), target_symbol('nothing')") == f"{AT_PLACE}, {NOTHING}"


def test_several_names_of_bits_are_one_mask() -> None:
    assert expand("roles & ~role('import', 'mention')") == f"roles & ~{int(Role.IMPORT | Role.MENTION)}"
    assert expand("symbol_flag('local', 'local')") == str(int(SymbolFlag.LOCAL))


@pytest.mark.parametrize(
    ("macro", "kinds"),
    [("is_type", TYPE_KINDS), ("is_callable", CALLABLE_KINDS), ("is_scope", SCOPE_KINDS), ("is_value", VALUE_KINDS)],
)
def test_a_group_of_kinds_is_the_models(macro: str, kinds: frozenset[SymbolKind]) -> None:
    listed = ", ".join(f"{macro}({int(kind)}::UTINYINT)" for kind in SymbolKind)
    assert _value(f"[{listed}]") == [kind in kinds for kind in SymbolKind]


def test_a_condition_holds_where_one_of_its_names_does() -> None:
    flags = int(SymbolFlag.LOCAL | SymbolFlag.ASYNC)
    assert _value(f"[has_flag({flags}, 'local', 'static'), has_flag({flags}, 'static'), has_flag({flags}, 'async')]") == [True, False, True]
    assert _value("[is_kind(22, 'class', 'enum member'), is_kind(22, 'class'), NOT is_kind(22, 'class')]") == [True, False, True]
    assert _value("[is_evidence(7, 'inferred'), has_role(bit_or(12), 'call')]") == [True, True]


def test_what_is_known_of_a_language_is_asked_by_the_field_of_its_record() -> None:
    for record in LANGUAGES:
        found = _value(f"[language_has('{record.name}', 'spreads'), language_has('{record.name}', 'satisfies', 'shape')]")
        assert found == [record.spreads, record.satisfies == "shape"]
    assert _value("NOT language_has('cobol', 'locks')") is True
    assert _value("language_has(lower('GO'), 'locks')") is True


def test_a_condition_is_one_term_beside_not_and_and() -> None:
    assert expand("NOT has_role(roles, 'call') AND a") == f"NOT (roles & {int(Role.CALL)} <> 0) AND a"
    assert _value("NOT is_type(5) OR true") is True


def test_the_expression_may_hold_commas_parentheses_and_macros() -> None:
    assert _value("has_role(greatest(0, coalesce(NULL, role('call'))), 'call')") is True
    assert _value("has_role([1, 8][2], 'call')") is True
    assert _value("moniker_key(concat('python . ', 'x)'))") == _key("python . x)")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'role(''call'')', \"is_type(kind)\" -- it's has_flag(flags, 'local')\n/* is_type(kind) */",
        "SELECT $$is_type(kind)$$, $a$ role('call') $$ $a$, E'\\'is_type(kind)'",
        "WITH role(evidence) AS (SELECT 1) SELECT evidence FROM role",
        "INSERT INTO evidence(label) VALUES ('x')",
        "SELECT this_is_type(kind), s.role('call'), is_typed(kind), $role",
        "",
    ],
)
def test_what_is_no_call_of_a_macro_stays_as_it_is(text: str) -> None:
    assert expand(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("symbol_kind('clas')", "knows no 'clas'; known: file, module"),
        ("symbol_kind('class', 'enum')", "takes one name, got 2"),
        ("has_flag(flags)", "takes an expression and then names in quotes"),
        ("has_flag(flags, 1)", "takes names in quotes, not 1"),
        ("is_type(kind, 'class')", "takes one argument, got 2"),
        ("is_type(kind", "not closed"),
        ("language_has(language)", "takes an expression and then names in quotes"),
        ("language_has(language, 'is_modul')", "takes a field of a language's record and at most one value, not is_modul"),
        ("language_has(language, 'runner', 'nose')", "knows no language with runner = nose"),
    ],
)
def test_a_macro_used_wrongly_is_refused_with_what_it_takes(text: str, said: str) -> None:
    with pytest.raises(UnknownName, match=said):
        expand(text)
