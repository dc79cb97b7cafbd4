"""The stages of the merge say what they make, and the numbers that they store never change."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import duckdb
import pytest
from merge_support import tried, unsettled
from support import CORPORA, crawl_with_ty, write_tree
from test_django_models import FILES as MODELS
from test_nameless import LIB, USE
from test_strings import FILES
from traced import cases_in

from indexer.model import Evidence, Role, SymbolFlag
from indexer.store.facts import TABLES
from indexer.store.macros import expand
from indexer.store.merge import STAGES
from indexer.store.merge.stages import OF_LANGUAGE, statements
from indexer.store.schema import SCHEMA_VERSION


def _code(stage: Path) -> str:
    return re.sub(r"--[^\n]*", "", stage.read_text(encoding="utf-8"))


def _made(stage: Path, kind: str = "(?:TEMP )?") -> set[str]:
    return set(re.findall(rf"^CREATE {kind}TABLE (\w+)", _code(stage), re.MULTILINE))


def _read(stage: Path) -> set[str]:
    return set(re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+)", _code(stage)))


OPERATED = """
import pytest


class Value:
    def __eq__(self, other):
        return True


@pytest.fixture(name="value")
def fixture_value():
    return Value()


def test_it(value):
    assert value == 1
"""


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


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.stem)
def test_a_stage_is_cut_into_the_statements_that_duckdb_reads(stage: Path) -> None:
    connection = duckdb.connect()
    cut = [expand(one.text) for one in statements(stage)]
    assert [len(connection.extract_statements(text)) for text in cut] == [1] * len(cut)
    assert len(connection.extract_statements(expand(stage.read_text(encoding="utf-8")))) == len(cut)


def test_what_a_statement_needs_is_made_before_it() -> None:
    there = {f"facts_{table}" for table in TABLES} | {"flow_base", "flow_call", "flow_meaning", "flow_property", "flow_stop", "flow_type"}
    for one in (one for stage in STAGES for one in statements(stage)):
        assert {name for any_of in one.needs for name in any_of if not name.startswith(OF_LANGUAGE)} <= there, one.text
        assert not one.makes or bool(one.needs) == bool(one.columns), one.text
        there |= {one.changes} if one.makes else set()


def test_a_statement_makes_no_row_without_what_it_needs(tmp_path: Path) -> None:
    """And the table that is made in its place has its columns. Other languages: see `test_languages.py`."""
    root = shutil.copytree(CORPORA / "python", tmp_path / "work")
    types = cases_in(CORPORA / "callees", "types.txt")
    write_tree(root, {**FILES, "lib.py": LIB, "use.py": USE, "star.py": "from pkg.star import *\n"})
    write_tree(root, {"base.py": types["types_base_by_call"], "mixin.py": types["types_mixin_in_front"]})
    write_tree(root, {"descriptor.py": types["types_descriptor_over_variable"], "decorated.py": types["types_own_decorator_property"]})
    write_tree(root, {"iterator.py": types["types_iterator_declared"], "sides.py": types["types_reflected_of_subclass"]})
    write_tree(root, {"outside.py": "class Plain: ...\n\ndef fill(x):\n    x.mark = 1\n\nfill(Plain())\n"})
    write_tree(root, {"tests/test_operated.py": OPERATED})
    write_tree(root, {name: text for name, text in MODELS.items() if name != "pyproject.toml"})
    with unsettled(tmp_path / "shards"):
        crawl_with_ty(root, jobs=1)
    made = tried(tmp_path / "shards")
    assert made.wrong == []
    assert len(made.found) > 100
    silent = [name for name, found in made.found.items() if not found]
    assert len(silent) < 92, silent  # they make no row of these sources, whatever there is


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
