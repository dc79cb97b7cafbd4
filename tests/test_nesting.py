"""What is nested too deeply is asked nothing and told to no server, and is a gap with its reason; what is long only is as all else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import crawl_with_fake, fake_server, rows, write_tree

from indexer import syntax
from indexer.crawl.messages import Setup
from indexer.crawl.plan.nesting import is_deeper
from indexer.crawl.run import Crawl
from indexer.crawl.worker.reading import open_unreadable
from indexer.drive.texts import Texts
from query.cli.progress import summary
from query.facts.index import open_index
from query.surface.registry import call

_LIMIT = 300
CrawlWith = Callable[..., Crawl]


@pytest.mark.parametrize(
    "source",
    [
        b"x = " + b"[" * 400 + b"]" * 400,
        b"x = " + b"(" * 400,
        b"f([" * 200 + b"])" * 200,
        b"int f(void) " + b"{" * 301 + b"}" * 301,
        b"x = " + b"- " * 301 + b"1",
        b"x = " + b"!" * 301 + b"a",
        b"int x = " + b"(unsigned char *) " * 301 + b"p;",
        b"char c = '('; " * 3 + b"[" * 301,
        b'x = /*"*/' + b"[" * 301 + b'/*"*/',
    ],
)
def test_brackets_and_operators_without_end_are_seen_without_a_parser(source: bytes) -> None:
    assert is_deeper(source, _LIMIT)


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"x = [" + b"(1, 2), " * 5_000 + b"]",
        b"f();\n" * 5_000,
        b"x = " + b"[" * 300 + b"]" * 300,
        b"x = 1" + b" + 1" * 5_000,
        b"x = 1" + b" - f(1)" * 5_000,
        b"{ c = '('; }\n" * 5_000,  # the brackets around it close
        b")" * 5_000 + b"(" * 5,
        b'x = "(((" \n' * 5_000,
        b'print("\\x1b[1mA\\033[0m' + b"\\x1b[3m" * 500 + b'")\n',
        b"# " + b"a-b " * 5_000,
    ],
)
def test_what_is_long_is_not_deep(source: bytes) -> None:
    assert not is_deeper(source, _LIMIT)


@pytest.mark.parametrize(
    ("language", "source", "is_deep"),
    [
        ("python", b"x = " + b"not " * 500 + b"1\n", True),
        ("python", b"x = 1" + b" + 1" * 500 + b"\n", False),
        ("python", b"x = [" + b"[1], " * 500 + b"]\n", False),
        ("python", b"x = a" + b".b" * 500 + b"\n", True),
        ("typescript", b"if (a) {} else " * 300 + b"{}", True),
        ("typescript", b"type A = " + b" | ".join(b"'%d'" % number for number in range(500)) + b";", False),
        ("typescript", b"const x = " + b"() => " * 500 + b"1;", True),
        ("c", b"int x = 1" + b" + 1" * 500 + b";", False),
        ("go", b"package a\nvar x " + b"*" * 500 + b"int\n", True),
        ("go", b"package a\n", False),
    ],
)
def test_the_depth_of_a_tree_counts_lists_as_one_level(language: str, source: bytes, is_deep: bool) -> None:
    depth = syntax.parse(language, f"a.{language}", source, "a").depth
    assert (depth >= 450) if is_deep else (depth == 0)


def test_a_server_that_reads_the_disk_is_told_no_text_of_such_files() -> None:
    said: list[bytes] = []
    fields: dict[str, Any] = dict.fromkeys(Setup.__struct_fields__)
    fields |= {"root": "/w", "recoded": [], "too_deep": [("pkg/deep.ts", "typescript")]}
    open_unreadable(Setup(**fields), Texts(lambda method, params: said.append(method + params)))
    assert len(said) == 1
    assert said[0].startswith(b"textDocument/didOpen")
    assert b'/w/pkg/deep.ts"' in said[0]
    assert b'"text":""' in said[0]


FILES = {
    "a.py": "def first():\n    return second()\n\ndef second():\n    return len('x')\n",
    "c.py": "import a\n\na.first()\n",
    "chained.py": "import a\nx = " + "a.first()." * 80 + "z\n",
    "nested.py": "import a\nx = " + "[" * 200 + "a.second()" + "]" * 200 + "\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", FILES)


@pytest.fixture
def crawl_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path) -> CrawlWith:
    monkeypatch.setenv("FAKE_RECORD", str(tmp_path / "record"))

    def go(open_: str = "none", **settings: Any) -> Crawl:
        (tmp_path / "record").write_text("")
        return crawl_with_fake(root, fake_server("good", tmp_path / "pids", open=open_), **settings)

    return go


@pytest.mark.slow
@pytest.mark.parametrize("open_", ["none", "each", "several"])
def test_such_files_are_gaps_of_the_names_that_they_have_and_their_neighbours_are_complete(
    crawl_with: CrawlWith, tmp_path: Path, open_: str
) -> None:
    done = crawl_with(open_, max_file_depth=120)
    asked = (tmp_path / "record").read_text()
    assert "chained.py" not in asked
    assert "nested.py" not in asked
    assert done.manifest["lost"] == {}
    assert "; asked in part or not at all about 1 too_deep" in summary(done)
    assert "nothing lost" not in summary(done)
    statuses = dict(rows(done.generation, "SELECT path, status FROM documents ORDER BY path"))
    assert statuses == {"a.py": "ok", "c.py": "ok", "chained.py": "partial", "nested.py": "skipped"}
    assert dict(rows(done.generation, "SELECT path, reason FROM documents WHERE status = 'skipped'")) == {"nested.py": "too_deep"}
    sql = "SELECT DISTINCT status, split_part(reason, ':', 1) FROM coverage WHERE path = 'chained.py' AND method LIKE '%definition'"
    assert rows(done.generation, sql) == [("skipped", "too_deep")]
    with open_index(done.root) as index:
        reasons = {item.code: item for item in call(index, "find_callers", {"symbol": "a.second"}).completeness.reasons}
        assert reasons["skipped_too_deep"].paths == ["nested.py"]
        assert "too_deep" not in reasons
        others = {item.code: item for item in call(index, "find_callers", {"symbol": "a.first"}).completeness.reasons}
        assert others["too_deep"].paths == ["chained.py"]
        assert "skipped_too_deep" not in others  # it was searched for words
    assert crawl_with(open_, max_file_depth=120).up_to_date
    whole = crawl_with(open_)
    assert not whole.up_to_date
    assert set(dict(rows(whole.generation, "SELECT path, status FROM documents")).values()) == {"ok"}
