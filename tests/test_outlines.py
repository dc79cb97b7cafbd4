"""Languages without a server: outlines, words and possible uses by the grammars of the extra `languages`, and no more (ADR 0131)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from query_support import lspidx
from support import CORPORA, Crawl, check_golden, crawl_with_ty, rows, snapshot, write_tree

from indexer import extras
from indexer.crawl.plan import alone, choice, recipe
from indexer.errors import ServerMissing
from indexer.languages import LANGUAGES, record_of
from indexer.languages.outlines import EXTRA, LIBRARY
from indexer.languages.scripts import AT_BORDERS
from indexer.servers.registry import language_of
from indexer.syntax import parse, tree
from indexer.syntax.tree import grammars
from query.facts.index import Index, open_index
from query.surface.registry import call

FOLDER = CORPORA / "outlines" / "shop"
FILES = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir())}
PYTHON = "def total(cart):\n    return cart\n\n\ndef pay(cart):\n    return total(cart)\n"


@pytest.mark.parametrize("name", FILES)
def test_snapshots(name: str) -> None:
    """Nothing is certain beside the names of definitions: each other identifier is one that a server would be asked about."""
    syntax = parse(language_of(name), name, FILES[name], "shop", alone=True)
    assert syntax.error_lines == []
    tokens = syntax.tokens
    defined = {(symbol.selection.line, symbol.selection.col) for symbol in syntax.symbols}
    resolved = [token for token, symbol in enumerate(tokens.symbol) if symbol >= 0]
    assert resolved
    names = {syntax.symbols[tokens.symbol[token]].name for token in resolved}
    assert {tokens.name[token] for token in resolved} == names, "a definition names itself, and nothing else is looked up"
    assert sum((tokens.line[token], tokens.col[token]) in defined for token in resolved) >= len(syntax.symbols) - 1
    check_golden(f"syntax/outlines/{name}.txt", snapshot(FILES[name], syntax))


def test_each_language_with_an_outline_has_a_file_in_the_corpus() -> None:
    outlined = {record.name for record in (*LANGUAGES, *AT_BORDERS) if record.outline is not None}
    assert outlined == {language_of(name) for name in FILES}
    assert all(record_of(name).grammar is None for name in outlined), "a language with a grammar of its own needs none for its outline"


def test_a_server_adds_to_words_alone() -> None:
    """Where one is here its own outline is what counts: the text gives its identifiers, as before."""
    syntax = parse("elixir", "shop.ex", FILES["shop.ex"], "shop")
    assert syntax.adopts
    assert len(syntax.symbols) == 1


# ---- an index of several


def _no_other_server(patch: pytest.MonkeyPatch) -> None:
    """Whatever lies on the PATH of this machine, no server but ty is here."""
    real = choice.find_server

    def only_ty(name: str, avoid: object = ()) -> object:
        if name != "ty":
            raise ServerMissing(f"{name}: not here; to get it: lspidx servers install {name}")
        return real(name)

    patch.setattr(choice, "find_server", only_ty)


@pytest.fixture
def alone_here(monkeypatch: pytest.MonkeyPatch) -> None:
    _no_other_server(monkeypatch)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    root = write_tree(tmp_path_factory.mktemp("outlines") / "shop", {**FILES, "pay.py": PYTHON})
    with pytest.MonkeyPatch.context() as patch:
        _no_other_server(patch)
        return crawl_with_ty(root, jobs=1)


@pytest.fixture(scope="module")
def index(crawled: Crawl) -> Iterator[Index]:
    with open_index(crawled.root) as opened:
        yield opened


def _codes(index: Index, tool: str, **ask: Any) -> list[str]:
    return [reason.code for reason in call(index, tool, ask).completeness.reasons]


def test_files_are_in_the_index_with_their_symbols(index: Index, crawled: Crawl) -> None:
    assert crawled.manifest["lost"] == {}
    assert rows(crawled.generation, "SELECT path FROM skipped") == []
    found = call(index, "outline", {"file_path": "shop.ex"})
    shop = found.result[0]
    assert (shop.kind, shop.name) == ("namespace", "Acme.Shop")
    assert [(item.kind, item.name) for item in shop.children] == [
        ("function", "total"),
        ("function", "empty?"),
        ("function", "price"),
        ("function", "rate"),
    ]
    named = {item.qualified_name for item in call(index, "symbols", {"query": "total", "match": "exact"}).result}
    assert {"acme.shop.Shop.total", "Acme.Shop.total", "pay.total"} <= named, "a file's package names what is in it"


def test_nothing_is_called_complete_of_them(index: Index) -> None:
    for tool in ("references", "callers", "callees", "hover", "source"):
        assert "no_server" in _codes(index, tool, symbol="shop.ex:15"), tool
    assert _codes(index, "outline", file_path="shop.rb") == ["no_server"]
    assert _codes(index, "symbols", query="total") == ["no_server"]
    assert _codes(index, "callers", symbol="shop.swift:16") == ["no_server"], "even where no other text has the name"
    assert _codes(index, "symbols", query="total", language="python") == []


def test_other_languages_stay_complete(index: Index) -> None:
    """Ten languages have the word; none of them can mean a function of Python."""
    found = call(index, "callers", {"symbol": "pay.total"})
    assert (found.completeness.status, found.total) == ("complete", 1)


def test_possible_uses_go_by_name_within_the_language(index: Index) -> None:
    found = call(index, "references", {"symbol": "shop.ex:8", "possible": True})
    places = [(item.path, item.line, item.enclosing, "call" in item.roles) for item in found.result]
    assert ("cart.ex", 4, "cart.Acme.Cart.sum", True) in places
    assert {item.path for item in found.result} == {"cart.ex", "shop.ex"}
    assert call(index, "references", {"symbol": "shop.ex:8"}).total == 0
    (reason,) = found.completeness.reasons
    assert "identifiers of that name: lspidx query references" in reason.detail
    assert "--possible" in reason.detail


def test_identifiers_that_nobody_was_asked_about_do_not_count_as_unresolved(crawled: Crawl) -> None:
    assert crawled.manifest["resolution"].keys() == {"python"}
    assert crawled.manifest["counts"]["unresolved_occurrences"] == 0


@pytest.mark.usefixtures("alone_here")
def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", {"cart.ex": FILES["cart.ex"], "pay.py": PYTHON})
    crawl_with_ty(root, jobs=1)
    (root / "cart.ex").write_bytes(FILES["cart.ex"].replace(b"sum", b"amount"))
    crawl_with_ty(root, jobs=1)
    with open_index(root) as opened:
        assert [item.name for item in call(opened, "outline", {"file_path": "cart.ex"}).result[0].children] == ["items", "amount"]


@pytest.mark.usefixtures("alone_here")
def test_what_an_edit_changes_is_told_by_symbols(tmp_path: Path) -> None:
    """`changes` has the texts on both sides, and no server."""
    root = write_tree(tmp_path / "shop", {"cart.ex": FILES["cart.ex"], "pay.py": PYTHON})
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    crawl_with_ty(root, jobs=1)
    (root / "cart.ex").write_bytes(FILES["cart.ex"].replace(b"do: Acme", b"do: 1 + Acme"))
    said = lspidx("query", "changes", cwd=root)
    assert "Acme.Cart.sum" in said.stdout, said.stderr


@pytest.mark.usefixtures("alone_here")
def test_a_repository_of_such_languages_alone_has_an_index(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", {"shop.hs": FILES["shop.hs"]})
    assert crawl_with_ty(root, jobs=1).manifest["missing_servers"].keys() == {"haskell"}
    with open_index(root) as opened:
        found = call(opened, "symbols", {"query": "Priced", "match": "exact"})
    assert [item.qualified_name for item in found.result] == ["Acme.Shop.Priced"]
    assert found.completeness.status == "partial"


# ---- where the extra is missing


def test_a_missing_extra_is_said_with_the_command_that_brings_it(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", {"shop.ex": FILES["shop.ex"], "pay.py": PYTHON, "more.nix": "{ }\n"})
    hidden = (
        f"import importlib.util as u; find = u.find_spec; u.find_spec = lambda name: None if name == {LIBRARY!r} else find(name)\n"
        "import importlib.metadata as m\nof = m.distribution\n"
        "def distribution(name):\n    if 'language-pack' in name: raise m.PackageNotFoundError(name)\n    return of(name)\n"
        "m.distribution = distribution\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}from query.cli import main; main()", "index"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"for its symbols without a server: {extras.command(EXTRA)}" in done.stderr
    assert "skipped 2 no_server" in done.stderr + done.stdout
    assert lspidx("index", cwd=root).returncode == 0
    with open_index(root) as opened:
        assert [path for (path,) in opened.rows("SELECT path FROM skipped ORDER BY ALL")] == ["more.nix"], "it is taken up once it is here"


def test_what_every_file_depends_on_is_of_no_extra() -> None:
    """Else nothing could be indexed without it, and everything would be read anew once it is here."""
    assert "tree-sitter-python" in recipe.versions("tree-sitter")
    assert "tree-sitter-language-pack" not in recipe.versions("tree-sitter")


def test_what_has_another_remedy_is_not_told_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert alone.remedy("elixir") == ""
    monkeypatch.setattr(grammars, "outlines_are_here", lambda: False)
    monkeypatch.setattr(tree, "outlines_are_here", lambda: False)
    assert alone.remedy("elixir").endswith(extras.command(EXTRA))
    assert alone.remedy("go") == alone.remedy("nix") == ""
    assert not alone.is_read("elixir")
    assert alone.ingredients(["elixir"]) == []


def test_who_looks_is_told_that_there_is_an_outline(tmp_path: Path) -> None:
    write_tree(tmp_path, {"shop.ex": FILES["shop.ex"], "more.nix": "{ }\n"})
    assert "an outline only, no server" in lspidx(cwd=tmp_path).stdout
    lines = lspidx("doctor", cwd=tmp_path).stdout.splitlines()
    of_elixir = lines[lines.index("elixir  1 file") : lines.index("nix  1 file")]
    assert any("its outline is read" in line for line in of_elixir)
    assert not any("without one" in line for line in lines[lines.index("nix  1 file") :])
