"""What a language has by itself and an indexer says nothing of is answered by name; what the text or a type has is not (ADR 0133)."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import write_tree

from indexer.scip.answers import Answers
from indexer.scip.external import uri_of
from indexer.scip.messages import Index

TEXT = """package shop

import "strings"

func Count(names []string) int {
\tprice := "€"; return len(names) + len(price)
}

func shadows(len func(int) int, box Box) int {
\treturn len(1) + box.len
}
"""
STRINGS = "scip-go gomod github.com/golang/go/src go1.26 strings/"
LEN, STRING = (f"scip-go gomod github.com/golang/go/src go1.26 builtin/{name}" for name in ("len().", "string#"))


def _answers(tmp_path: Path, *, language: str = "go", standard: str = STRINGS) -> Answers:
    root = write_tree(tmp_path / "work", {"shop.go": TEXT})
    message = Index()
    document = message.documents.add(relative_path="shop.go", language=language)
    document.occurrences.add(symbol=standard, range=[2, 8, 15])
    document.occurrences.add(symbol="local 0", symbol_roles=1, range=[8, 13, 16])
    document.occurrences.add(symbol="local 0", range=[9, 8, 11])
    (tmp_path / "index.scip").write_bytes(message.SerializeToString())
    return Answers(tmp_path / "index.scip", root)


@pytest.mark.parametrize(
    ("line", "col", "symbol"),
    [(5, 22, LEN), (5, 35, LEN), (4, 19, STRING)],
    ids=["a function", "behind a letter of three bytes", "a type"],
)
def test_a_name_of_the_language_leads_to_a_place_by_its_name(tmp_path: Path, line: int, col: int, symbol: str) -> None:
    [found] = _answers(tmp_path).definitions("shop.go", line, col)
    assert found.path == uri_of(symbol, "shop.go")


def test_a_variable_of_that_name_is_itself_and_a_member_is_unknown(tmp_path: Path) -> None:
    answers = _answers(tmp_path)
    assert [(item.path, item.place[:2]) for item in answers.definitions("shop.go", 9, 8)] == [("shop.go", (8, 13))]
    assert TEXT.splitlines()[9].index("box.len") == 17
    assert answers.definitions("shop.go", 9, 21) == []


@pytest.mark.parametrize(("language", "standard"), [("rust", STRINGS), ("", STRINGS), ("go", "scip-go gomod example.org/a v1 a/")])
def test_nothing_is_known_of_another_language_or_without_a_standard_library(tmp_path: Path, language: str, standard: str) -> None:
    assert _answers(tmp_path, language=language, standard=standard).definitions("shop.go", 5, 22) == []
