"""Every language with its own server, installed as `lspidx servers install` does it, on small sources with goldens.

A server that cannot be had here is no skip: its entry in the table says `untested`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from merge_support import tried, unsettled
from support import CORPORA, Watcher, check_golden, graph, rows, write_tree
from toolchains import requires

from indexer.config import Config, LanguageConfig
from indexer.crawl.run import Crawl, crawl

pytestmark = pytest.mark.slow

SERVERS = {
    "typescript": "ts7",
    "go": "gopls",
    "cpp": "clangd",
    "bash": "bash-language-server",
    "rust": "rust-analyzer",
    "java": "javac",
    "php": "intelephense",
}
OWN = {
    "typescript": "npm corpus . ",
    "go": "go example.com/corpus . ",
    "cpp": ". workspace . ",
    "bash": ". workspace . ",
    "rust": "cargo corpus . ",
    "java": ". workspace . ",
    "php": "composer acme/corpus . ",
}
SETTINGS = {"rust": LanguageConfig(options={"cargo": {"sysroot": None}})}  # whether the standard library's source is here is no matter
CASES = [(language, folder.name) for language in SERVERS for folder in sorted((CORPORA / language).iterdir()) if folder.is_dir()]

CrawlOf = Callable[[str], Crawl]


@pytest.fixture(scope="session")
def crawl_of(tmp_path_factory: pytest.TempPathFactory) -> CrawlOf:
    """A crawl of a language's corpora with its server; each is made once."""
    made: dict[str, Crawl] = {}

    def go(language: str) -> Crawl:
        if language not in made:
            requires(SERVERS[language])
            root = tmp_path_factory.mktemp("languages") / language
            shutil.copytree(CORPORA / language, root)
            with unsettled(root.with_name("shards")):
                made[language] = crawl(root, Config(jobs=2, language=SETTINGS), Watcher(), environment={})
        return made[language]

    return go


@pytest.mark.parametrize(("language", "behaviour"), CASES)
def test_call_graph_of_small_sources(crawl_of: CrawlOf, language: str, behaviour: str) -> None:
    """Occurrences, call edges, types and overrides of each corpus equal the golden that was checked by eye."""
    done = crawl_of(language)
    with duckdb.connect(str(done.generation), read_only=True) as index:
        check_golden(f"{language}/{behaviour}.txt", graph(index, CORPORA / language, behaviour, own=f"{language} {OWN[language]}"))


@pytest.mark.parametrize("language", SERVERS)
def test_nothing_is_lost_and_the_server_is_named(crawl_of: CrawlOf, language: str) -> None:
    """Each corpus crawls without loss; provenance says by whom."""
    done = crawl_of(language)
    assert done.manifest["lost"] == {}
    assert done.manifest["server_restarts"] == 0
    assert [item["name"] for item in done.manifest["servers"]] == [SERVERS[language]]
    statuses = rows(done.generation, "SELECT DISTINCT status FROM documents")
    assert {("ok",)} <= set(statuses) <= {("ok",), ("manifest",), ("skipped",)}  # what no server reads is searched for words


@pytest.mark.parametrize("language", SERVERS)
def test_a_statement_of_the_merge_makes_no_row_without_what_it_needs(crawl_of: CrawlOf, language: str) -> None:
    """See `test_merge_sql.py`, which has Python."""
    made = tried(crawl_of(language).root.with_name("shards"))
    assert made.wrong == []
    assert any(made.found.values())


def test_another_server_of_a_language_finds_the_same_calls(crawl_of: CrawlOf, tmp_path: Path) -> None:
    """TypeScript's older server agrees with the default one on every call inside the corpora; JavaScript's prototypes it knows better."""
    requires("typescript-language-server")
    root = tmp_path / "typescript"
    shutil.copytree(CORPORA / "typescript", root)
    other = crawl(root, Config(jobs=1, server="typescript-language-server"), Watcher(), environment={})
    assert other.manifest["lost"] == {}
    sql = """
        SELECT c.caller, c.callee FROM calls c JOIN symbols s ON s.symbol = c.callee
        WHERE NOT s.is_external AND c.path NOT LIKE '%.js' ORDER BY ALL
        """
    assert rows(other.generation, sql) == rows(crawl_of("typescript").generation, sql)


def test_crates_below_a_root_that_is_none_are_found(tmp_path: Path) -> None:
    """A repository of several languages; rust-analyzer itself looks for a crate in the root and one folder down."""
    requires("rust-analyzer")
    root = tmp_path / "work"
    shutil.copytree(CORPORA / "rust", root / "native" / "deep" / "crate")
    (root / "tool.sh").write_text("echo\n")
    done = crawl(root, Config(jobs=1, language={**SETTINGS, "bash": LanguageConfig(server="none")}), Watcher(), environment={})
    assert done.manifest["lost"] == {}
    found = rows(done.generation, "SELECT count(*) FROM calls WHERE path LIKE 'native/deep/crate/%'")
    assert found[0][0] > 3


def test_hovers_lead_to_no_file_of_this_machine(tmp_path: Path) -> None:
    """Links of a documentation comment become their text: a shard depends on no place, and travels."""
    requires("ts7")
    files = {
        "tsconfig.json": '{"include": ["*.ts"]}',
        "a.ts": "export interface Shape { area: number }\n/** Draws a {@link Shape}, or `x[0]`. */\nexport function draw(s: Shape) {}\n",
    }
    done = crawl(write_tree(tmp_path / "work", files), Config(jobs=1), Watcher(), environment={})
    [(hover,)] = rows(done.generation, "SELECT hover FROM symbols WHERE name = 'draw'")
    assert "Draws a" in hover
    assert "Shape" in hover.partition("Draws a")[2]
    assert "file:" not in hover
    assert str(tmp_path) not in hover
