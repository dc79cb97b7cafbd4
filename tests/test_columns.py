"""A fact's column is declared once: a new one is in shards, index and artifact when its declaration and its computation are there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from indexer.errors import Bug
from indexer.store.facts import TABLES, DocumentFacts

ROOT = Path(__file__).parent.parent

_EDITS = {
    "store/facts.py": (
        ('    "hover": Column(', '    "name_length": Column(I32, is_count=True, shows=True),\n'),
        ('    "evidence": Column(U8, one_of=Evidence),\n    "symbol"', '    "is_short": Column(FLAG),\n'),
        ('    "package_version": ', '    "first_letter": Column(TEXT, absent="?"),\n'),
    ),
    "crawl/worker/harvest.py": (
        ("            hover=hovers", "            name_length=len(symbol.name),\n"),
        ("            lines.append(", '            columns["is_short"].append(len(tokens.name[token]) < 5)\n'),
    ),
    "crawl/units.py": (('            "module": self.module', '            "first_letter": self.path[0],\n'),),
}
"""By file: texts before which a line is added, and the line. Columns of symbols, of occurrences and of the header."""

_CRAWL = """
import json, sys
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

import indexer
from indexer.cache.pack import pack
from indexer.cache.unpack import unpack
from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.store.generations import Home


class Watcher:
    def __getattr__(self, name):
        return lambda *arguments, **options: None


def ask(root):
    with duckdb.connect(str(Home(root).require()), read_only=True) as connection:
        return {
            "symbol": connection.execute("SELECT name, name_length FROM symbol WHERE doc_id = 0 ORDER BY sym_id").fetchall(),
            "occ": connection.execute("SELECT name, is_short FROM occ WHERE doc_id = 0 ORDER BY line, col").fetchall(),
            "document": connection.execute("SELECT path, first_letter FROM document ORDER BY doc_id").fetchall(),
        }


root, there = Path(sys.argv[1]), Path(sys.argv[2])
crawl(root, Config(jobs=1), Watcher())
first = ask(root)
(root / "module.py").write_text("def renamed(a):\\n    return a\\n")
crawl(root, Config(jobs=1), Watcher())
with duckdb.connect(str(Home(root).require()), read_only=True) as connection:
    pack(Home(root), lambda sql: connection.execute(sql).fetchall(), there.with_name("artifact"))
(there / "module.py").write_bytes((root / "module.py").read_bytes())
unpack(there.with_name("artifact"), Home(there), Config())
shard = next(iter((root / ".lspidx" / "shards").glob("*.parquet")))
print(json.dumps({
    "code": indexer.__file__, "shard": pq.read_schema(shard).to_string(), "first": first, "second": ask(root), "imported": ask(there),
}))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter, also for the workers of a crawl, that has our dependencies and a copy of `indexer` with three new columns."""
    place = tmp_path_factory.mktemp("edited")
    shutil.copytree(ROOT / "indexer", place / "code" / "indexer", ignore=shutil.ignore_patterns("__pycache__", "doc"))
    for file, edits in _EDITS.items():
        path = place / "code" / "indexer" / file
        text = path.read_text(encoding="utf-8")
        for before, line in edits:
            assert text.count(before) == 1, (file, before)
            text = text.replace(before, line + before)
        path.write_text(text, encoding="utf-8")
    venv.create(place / "env", symlinks=True)
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(place / "env"), "platbase": str(place / "env")}))
    (purelib / "code.pth").write_text(f"{place / 'code'}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return place / "env" / "bin" / "python"


def test_a_new_column_is_declared_and_computed_and_that_is_all(python: Path, tmp_path: Path) -> None:
    root, there = tmp_path / "root", tmp_path / "there"
    root.mkdir()
    (root / "module.py").write_text("def longer(value):\n    return value\n", encoding="utf-8")
    (root / "other.py").write_text("x = 1\n", encoding="utf-8")
    shutil.copytree(root, there)
    environment = {**os.environ, "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}  # ty is beside ours
    done = subprocess.run([python, "-I", "-c", _CRAWL, root, there], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["code"].startswith(str(python.parent.parent.parent))
    for column in ("name_length: int32", "is_short: bool", "first_letter: string"):
        assert column in found["shard"]
    assert ["longer", 6] in found["first"]["symbol"]
    assert found["first"]["occ"] == [["longer", False], ["value", False], ["value", False]]
    assert found["second"]["document"] == [["module.py", "m"], ["other.py", "o"]]
    assert found["second"]["occ"] == [["renamed", False], ["a", True], ["a", True]]
    assert ["renamed", 7] in found["second"]["symbol"]
    assert found["imported"] == found["second"]


@pytest.mark.parametrize(
    "row", [{"line": 1}, {"line": 1, "module": "a", "another": 2}, {"line": 1, "modul": "a"}], ids=["lacks one", "one more", "misspelt"]
)
def test_a_row_that_is_not_as_declared_is_refused(row: dict[str, object]) -> None:
    facts = DocumentFacts(header={})
    with pytest.raises(Bug, match="a row of unresolved_imports has the columns"):
        facts.add("unresolved_imports", **row)
    assert facts.tables["unresolved_imports"] == {"line": [], "module": []}


def test_what_a_column_follows_and_leads_to_is_there_and_comes_before_it() -> None:
    for columns in TABLES.values():
        for place, (name, column) in enumerate(columns.items()):
            assert not column.leads_to or column.leads_to in TABLES, name
            assert not column.follows or column.follows == "<row before>" or column.follows in list(columns)[:place], name
