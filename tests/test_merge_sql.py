"""merge.sql and views.sql use numbers; they must be those of indexer.model."""

from __future__ import annotations

import re

import pytest

from indexer.model import Evidence, Role, SymbolFlag, SymbolKind
from indexer.store.schema import MERGE_SQL, SCHEMA_VERSION, VIEWS_SQL

MERGE = MERGE_SQL.read_text(encoding="utf-8")
VIEWS = VIEWS_SQL.read_text(encoding="utf-8")
SQL = re.sub(r"--[^\n]*", "", MERGE + VIEWS)


def _masks(column: str) -> set[int]:
    return {int(number) for number in re.findall(rf"\b(?:\w+\.)?{column} & (\d+)", SQL)}


def test_role_masks_are_sets_of_known_roles() -> None:
    """Each mask is what the sentence beside it means: 5 = definition or write, 6 = read or write."""
    known = {
        int(Role.DEFINITION | Role.WRITE): "bound",
        int(Role.READ | Role.WRITE): "property",
        int(Role.DEFINITION): "definition",
        int(Role.CALL): "call",
        int(Role.IMPORT): "import",
        int(Role.DECORATOR): "decorator",
        int(Role.SUPERTYPE): "supertype",
        int(Role.ARGUMENT): "argument",
        int(Role.FIXTURE): "fixture",
        int(Role.CALL | Role.DECORATOR): "called",
    }
    assert _masks("roles") <= set(known)
    assert {int(Role.CALL), int(Role.DECORATOR), int(Role.ARGUMENT), int(Role.FIXTURE)} <= _masks("roles")


def test_flag_masks_are_known_flags() -> None:
    """local, exported, property, external."""
    assert _masks("flags") <= {int(flag) for flag in SymbolFlag}
    assert {int(SymbolFlag.LOCAL), int(SymbolFlag.PROPERTY), int(SymbolFlag.EXTERNAL)} <= _masks("flags")
    assert f"THEN {int(SymbolFlag.EXTERNAL)} ELSE 0 END" in MERGE


@pytest.mark.parametrize(
    ("fragment", "evidence"),
    [
        ("JOIN constructor k", Evidence.CONSTRUCTOR),
        ("s.flags & 16 <> 0", Evidence.PROPERTY),
        ("o.roles & 32 <> 0 AND o.roles & 8 = 0 AND s.kind", Evidence.DECORATOR),
        ("o.roles & 256 <> 0", Evidence.INFERRED),
    ],
)
def test_each_kind_of_call_has_its_evidence(fragment: str, evidence: Evidence) -> None:
    """The number selected for an edge is the one that the model names."""
    body = SQL[SQL.index("CREATE TEMP TABLE raw_call") : SQL.index("CREATE TABLE call_in")]
    branch = next(part for part in body.split("UNION ALL") if fragment in part)
    number = re.search(r"o\.end_col, (\d+)\s+FROM", branch)
    assert number is not None
    assert int(number.group(1)) == evidence


def test_callee_type_and_inferred_are_no_meanings_of_a_name() -> None:
    """They are edges, and kept out of the occurrences."""
    assert f"evidence NOT IN ({int(Evidence.CALLEE_TYPE)}, {int(Evidence.INFERRED)})" in MERGE
    assert f"evidence <> {int(Evidence.CALLEE_TYPE)}" in MERGE


def test_kind_numbers_are_known_kinds() -> None:
    """And those of overrides are members."""
    for listed in re.findall(r"kind IN \(([\d, ]+)\)", SQL):
        assert {int(number) for number in listed.split(",")} <= {int(kind) for kind in SymbolKind}


def test_bits_never_change_their_meaning() -> None:
    """They are stored: a changed number needs a new schema version."""
    assert SCHEMA_VERSION >= 1
    assert {role.name: int(role) for role in Role} == {
        "DEFINITION": 1,
        "READ": 2,
        "WRITE": 4,
        "CALL": 8,
        "IMPORT": 16,
        "DECORATOR": 32,
        "SUPERTYPE": 64,
        "ANNOTATION": 128,
        "ARGUMENT": 256,
        "KEYWORD": 512,
        "DELETE": 1024,
        "MENTION": 2048,
        "FIXTURE": 4096,
        "STAR": 8192,
        "PATH": 16384,
    }
    assert [evidence.name for evidence in sorted(Evidence)][:8] == [
        "SYNTAX",
        "DEFINITION",
        "SAME_BINDING",
        "CALLEE_TYPE",
        "CONSTRUCTOR",
        "PROPERTY",
        "DECORATOR",
        "INFERRED",
    ]
    assert int(SymbolFlag.EXTERNAL) == 2048
    assert int(SymbolFlag.LOCAL) == 1
    assert int(SymbolFlag.PROPERTY) == 16
