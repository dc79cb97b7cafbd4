"""`find_symbol` by words of plain language: parts of names, signatures, documentation; ranked, in pages, and honest about what it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_support import Ask
from support import Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from query.answers.envelope import Answer
from query.answers.style import Style
from query.facts.index import Index, open_index
from query.facts.word_search import terms_of
from query.surface.registry import call, load
from query.tools.find_symbol import FoundSymbol

pytest_plugins = ["query_fixtures"]

FILES = {
    "http/parser.py": '''class HttpHeaderParser:
    """Takes the head of a message apart."""

    def read_timeout(self, seconds: int) -> int:
        return seconds

    def header_names(self) -> list[str]:
        return []


class XMLHTTPRequest:
    pass


def important() -> None:
    """Ports nothing."""


def notify() -> None:
    """Sends a postcard to whoever waits.

    An eagle carries it.
    """
''',
    "other.py": "from http_ import x\n\ntimeout = 3\n\n\ndef transport(header_count: int) -> int:\n    return header_count\n",
    "tests/test_it.py": "def test_header_timeout() -> None:\n    pass\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("words") / "words", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="module")
def index(root: Path) -> Iterator[Index]:
    with open_index(root) as index:
        yield index


def found(index: Index, query: str, **more: object) -> list[str]:
    return [item.name for item in call(index, "find_symbol", {"query": query, **more}).result]


def text(answer: Answer[list[FoundSymbol]]) -> str:
    return "\n".join(load("find_symbol")[0].text(answer, Style(compact=True)))


def test_words_fit_parts_of_names_around_and_in_them(index: Index) -> None:
    answer = call(index, "find_symbol", {"query": "parse header timeout", "tests": "exclude"})
    assert answer.result[0].qualified_name.endswith("HttpHeaderParser.read_timeout")
    assert answer.result[0].words == ["parse", "header", "timeout"]
    assert answer.query["matched"] == "words"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("http header parsers", "HttpHeaderParser"),
        ("request xmlhttp", "XMLHTTPRequest"),
        ("names of headers", "header_names"),
        ("sending postcards", "notify"),
        ("which function carries an eagle", "notify"),
        ("transporting header counts", "transport"),
    ],
)
def test_each_form_of_a_word_and_of_a_name_is_found(index: Index, query: str, name: str) -> None:
    assert found(index, query)[0] == name


def test_a_word_fits_the_beginning_of_a_part_and_not_its_middle(index: Index) -> None:
    assert found(index, "ports", match="words") == ["important"]  # by its documentation: no name begins so


def test_a_name_is_still_found_as_a_name(index: Index) -> None:
    answer = call(index, "find_symbol", {"query": "read_timeout"})
    assert [item.name for item in answer.result] == ["read_timeout"]
    assert answer.query["matched"] == "exact"
    assert call(index, "find_symbol", {"query": "HttpHeadr"}).query["matched"] == "fuzzy"


def test_filters_hold_and_tests_come_after(index: Index) -> None:
    assert found(index, "header timeout", tests="only") == ["test_header_timeout"]
    assert "test_header_timeout" not in found(index, "header timeout", tests="exclude")
    assert found(index, "http header parser", kind=["class"]) == ["HttpHeaderParser"]
    assert "timeout" in found(index, "header timeout", path="other.py", kind=["variable", "constant"], match="words")


def test_documentation_is_shown_and_how_many_have_some(index: Index) -> None:
    answer = call(index, "find_symbol", {"query": "sending postcards"})
    assert answer.result[0].documentation == "Sends a postcard to whoever waits."
    number, _, whole = answer.query["documented"].partition(" of ")
    assert 0 < int(number) < int(whole)
    assert f"{number} of {whole} symbols with documentation" in text(answer)


def test_pages_follow_one_another_and_the_total_is_exact(index: Index) -> None:
    everything = call(index, "find_symbol", {"query": "header", "match": "words"})
    assert everything.total == len(everything.result) > 2
    names: list[str] = []
    cursor = ""
    while True:
        page = call(index, "find_symbol", {"query": "header", "match": "words", "limit": 1, "cursor": cursor})
        names += [item.symbol for item in page.result]
        assert page.total == everything.total
        cursor = page.next_cursor or ""
        if not cursor:
            break
    assert names == [item.symbol for item in everything.result]


def test_nothing_that_fits_is_an_empty_page_and_says_where_it_looked(index: Index) -> None:
    answer = call(index, "find_symbol", {"query": "quantum chromodynamics"})
    assert (answer.result, answer.total, answer.query["matched"]) == ([], 0, "words")


def test_a_new_file_with_such_a_word_makes_it_partial(root: Path) -> None:
    new = root / "new.py"
    try:
        new.write_text("def send_postcard() -> None:\n    pass\n", encoding="utf-8")
        with open_index(root) as index:
            assert call(index, "find_symbol", {"query": "sending postcards"}).completeness.status == "partial"
            assert call(index, "find_symbol", {"query": "header names"}).completeness.status == "complete"
    finally:
        new.unlink()


def test_of_dependencies_documentation_is_said_to_be_shortened(ask: Ask) -> None:
    reasons = ask("find_symbol", query="some environment", external=True, match="words").completeness.reasons
    assert "documentation_shortened" in {reason.code for reason in reasons}


def test_words_that_say_nothing_are_left_out_unless_there_are_no_others() -> None:
    assert [term.word for term in terms_of("where is the function that parses HTTPHeaders")] == ["parses", "http", "headers"]
    assert [term.word for term in terms_of("find get")] == ["find", "get"]
    assert [term.stem for term in terms_of("parsing queries files delete validation users")] == [
        "pars", "quer", "file", "delet", "valid", "user",
    ]  # fmt: skip
    assert terms_of("%_\\ '\"") == []


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_may_be_asked_for(index: Index, query: str) -> None:
    one = call(index, "find_symbol", {"query": query, "match": "words"})
    assert one == call(index, "find_symbol", {"query": query, "match": "words"})
    assert one.total >= len(one.result)


def test_an_empty_index_has_nothing(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "empty", {"README.md": "nothing\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        assert found(index, "parse header timeout") == []


def test_comments_above_a_definition_are_documentation_in_typescript_and_go(tmp_path: Path) -> None:
    requires("ts7", "gopls")
    files = {
        "tsconfig.json": '{"include": ["*.ts"]}\n',
        "a.ts": "/** Carries a postcard. */\nexport function alpha() { return 1 }\nexport class HeaderReader { readTimeout() {} }\n",
        "go.mod": "module example.org/words\n\ngo 1.22\n",
        "b.go": "package words\n\n// Beta folds a napkin.\nfunc Beta() int { return 1 }\n",
    }
    root = write_tree(tmp_path / "others", files)
    crawl(root, Config(jobs=1), Watcher(), environment={})
    with open_index(root) as index:
        assert found(index, "carrying postcards") == ["alpha"]
        assert found(index, "fold napkins") == ["Beta"]
        assert found(index, "read timeouts")[0] == "readTimeout"
