"""The policy of versions (indexer/doc/versions.md).

What past versions made is read, or refused with a word; what programs read of answers and views stays. A column, or a member of an
answer, that is gone has to be named in the changelog. `python tests/compat_support.py` freezes this version.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import compat_support as compat
import pytest
from query_support import json_of, lspidx, plain_environment

from indexer.store.schema import SCHEMA_VERSION

PAST = sorted(folder.name for folder in compat.FOLDER.iterdir())
CHANGES = (compat.FOLDER.parent.parent / ".github" / "CHANGELOG.md").read_text(encoding="utf-8")
ASKED = compat.QUESTIONS["callers"]


def read(version: str, name: str) -> Any:
    return json.loads((compat.FOLDER / version / f"{name}.json").read_text(encoding="utf-8"))


def callers(root: Path) -> list[str]:
    answer = json_of(lspidx(*ASKED, "--json", cwd=root))
    return [row["symbol"]["qualified_name"] for row in answer["result"]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frozen repository with an index of today."""
    root = compat.thaw(PAST[-1], tmp_path_factory.mktemp("made"))
    shutil.rmtree(root / ".lspidx")
    done = lspidx("index", cwd=root)
    assert done.returncode == 0, done.stderr
    return root


def test_the_schema_of_today_is_frozen():
    """A new number of the schema comes with its folder, so that whatever follows is held against it."""
    assert any(version.partition(".")[0] == str(SCHEMA_VERSION) for version in PAST)


@pytest.mark.slow
@pytest.mark.parametrize("version", PAST)
def test_an_index_of_a_past_version_answers_or_is_refused_and_can_be_made_anew(version: str, tmp_path: Path):
    root = compat.thaw(version, tmp_path)
    if version.partition(".")[0] == str(SCHEMA_VERSION):
        assert callers(root) == ["shop.use.total"]
    else:
        done = lspidx(*ASKED, cwd=root)
        assert done.returncode != 0
        assert "to make a new one: lspidx index" in done.stderr
    again = lspidx("index", cwd=root)
    assert again.returncode == 0, again.stderr
    assert callers(root) == ["shop.use.total"]


@pytest.mark.parametrize("version", PAST)
def test_an_artifact_of_a_past_version_is_taken_or_refused_and_costs_nothing(version: str, tmp_path: Path):
    root = compat.thaw(version, tmp_path)
    shutil.rmtree(root / ".lspidx")
    before = lspidx("index", cwd=root)
    assert before.returncode == 0, before.stderr
    done = lspidx("cache", "import", str(compat.FOLDER / version / "artifact"), cwd=root)
    if version == compat.NOW:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode != 0
        assert "make it again with this version" in done.stderr
    assert callers(root) == ["shop.use.total"]


@pytest.mark.parametrize("version", PAST)
def test_a_view_keeps_its_columns_in_their_order(version: str, made: Path):
    (index,) = (made / ".lspidx" / "db").glob("*.duckdb")
    now = compat.columns(index)
    gone = [f"{view}.{column}" for view, past in read(version, "views").items() for column in past if column not in now.get(view, [])]
    assert [name for name in gone if f"`{name}`" not in CHANGES] == []
    if version.partition(".")[0] == str(SCHEMA_VERSION):
        for view, past in read(version, "views").items():
            assert now[view][: len(past)] == past, view


@pytest.mark.slow
@pytest.mark.parametrize("version", PAST)
def test_an_answer_keeps_its_members(version: str, made: Path):
    now = compat.answers(made, plain_environment(made))
    for name, past in read(version, "answers").items():
        gone = compat.missing(past, now[name])
        assert [member for member in gone if f"`{name}: {member}`" not in CHANGES] == [], name


def test_a_member_that_is_gone_or_of_another_kind_is_found():
    past = read(PAST[-1], "answers")
    now = copy.deepcopy(past)
    del now["callers"]["result"][0]["symbol"]["path"]
    now["callers"]["total"] = "text"
    assert sorted(compat.missing(past, now)) == ["callers.result[].symbol.path", "callers.total"]
