"""The stages of the merge say what they make, and the numbers that they store never change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from indexer.model import Evidence, Role, SymbolFlag
from indexer.store.merge import STAGES
from indexer.store.schema import SCHEMA_VERSION


def _code(stage: Path) -> str:
    return re.sub(r"--[^\n]*", "", stage.read_text(encoding="utf-8"))


def _made(stage: Path, kind: str = "(?:TEMP )?") -> set[str]:
    return set(re.findall(rf"^CREATE {kind}TABLE (\w+)", _code(stage), re.MULTILINE))


def _read(stage: Path) -> set[str]:
    return set(re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)", _code(stage)))


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.stem)
def test_a_stage_says_what_it_takes_and_makes(stage: Path) -> None:
    head = stage.read_text(encoding="utf-8").partition("\n\n")[0]
    takes, makes = (set(re.findall(r"\w+", part)) for part in head.partition("Takes: ")[2].split("Makes: "))
    before, after = STAGES[: STAGES.index(stage)], STAGES[STAGES.index(stage) + 1 :]
    assert _made(stage, "") <= makes
    assert _made(stage) & {name for other in after for name in _read(other)} <= makes
    assert _read(stage) & {name for other in before for name in _made(other)} <= takes | makes
    assert {name for name in _read(stage) if name.startswith("facts_")} == {name for name in takes if name.startswith("facts_")}


def test_stages_run_in_the_order_of_their_numbers() -> None:
    assert [stage.stem.partition("_")[0] for stage in STAGES] == [str(number) for number in range(1, len(STAGES) + 1)]


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
        "CONFINED": 32768,
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
