"""Files of SCIP as a source of an index: the same facts as a server's, of the texts that they are about; nothing from files that lie."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from query_support import generation, json_of, lspidx
from scip_support import read
from support import crawl_with_ty, write_tree

from indexer.config import load_config
from indexer.lsp.framing import FrameReader, frame
from indexer.lsp.uri import path_to_uri
from indexer.scip.answers import Answers
from indexer.scip.external import SCHEME, above, of_place, parse, uri_of
from indexer.scip.fits import Misfit, fitted, name_of
from indexer.scip.look import look
from indexer.scip.messages import Document, Index
from indexer.scip.misfits import misfits
from indexer.scip.reader import MAX_PARTS, Refused, ScipFile
from query.facts.index import open_index
from query.scip.export import write

FILES = {
    "shop/__init__.py": "",
    "shop/models.py": (
        'SIGN = "🚀"; price = 1\n\n\nclass Base:\n    """Whatever has a name."""\n\n    def name(self):\n        return SIGN\n\n\n'
        "class Item(Base):\n    def name(self):\n        return price\n"
    ),
    "shop/till.py": (
        "from shop.models import Item as Thing\n\n\ndef pay(item: Thing) -> str:\n    made = Thing()\n"
        "    return item.name() + made.name()\n"
    ),
}
OUTSIDE = {"shop/out.py": "import json\nimport os.path\n\nTEXT = json.dumps(1) + os.path.join(str(2))\n"}
FUZZ = int(os.environ.get("LSPIDX_SCIP_CASES", "300"))
"""Damaged files; `make fuzz` has 25,000 of them."""

_REFERENCES = """
    SELECT path, line, col, end_col, name, roles, symbol, target_path, target_line, target_col FROM occurrences
    WHERE symbol IS NOT NULL AND evidence <> 'flow' AND target_path IS NOT NULL ORDER BY ALL
"""
"""Those whose meaning lies in the workspace."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an index by ty, and what it says as SCIP beside it; never changed."""
    root = write_tree(tmp_path_factory.mktemp("made") / "work", {**FILES, **OUTSIDE})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        write(index, root.parent / "index.scip")
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """The same workspace without an index; the file of SCIP lies beside it."""
    shutil.copy(made.parent / "index.scip", tmp_path / "index.scip")
    return Path(shutil.copytree(made, tmp_path / "work", ignore=shutil.ignore_patterns(".lspidx")))


def rows(root: Path, statement: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(generation(root)), read_only=True) as connection:
        return connection.execute(statement).fetchall()


def asked(root: Path, path: str, text: str, word: str) -> list[tuple[str, int, int]]:
    """Where a word of the first line that has this text is defined, by the file beside the workspace."""
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    line = next(number for number, content in enumerate(lines) if text in content)
    col = len(lines[line][: lines[line].index(word)].encode("utf-16-le")) // 2
    answers = Answers(root.parent / "index.scip", root)
    return [(one.path, one.place.line, one.place.col) for one in answers.definitions(path, line, col)]


def changed(root: Path, change: Callable[[Any], object]) -> None:
    """Changes what the file beside the workspace says."""
    message = read(root.parent / "index.scip")
    change(message)
    (root.parent / "index.scip").write_bytes(message.SerializeToString())


def document(message: Any, path: str) -> Any:
    return next(item for item in message.documents if item.relative_path == path)


# ---- the index that comes of it


def test_what_was_exported_comes_back_with_the_same_definitions_and_references(made: Path, root: Path):
    done = lspidx("index", "--scip", "../index.scip", cwd=root)
    assert done.returncode == 0, done.stderr
    assert rows(root, _REFERENCES) == rows(made, _REFERENCES)
    named = "SELECT path, line, col, symbol FROM occurrences WHERE path IN ('shop/out.py', 'shop/till.py') ORDER BY ALL"
    assert rows(root, named) == rows(made, named)
    assert rows(root, "SELECT symbol FROM symbols WHERE is_external AND name = 'dumps'") == [("python python stdlib . json/dumps().",)]
    symbols = "SELECT * EXCLUDE (hover) FROM symbols WHERE NOT is_external ORDER BY ALL"
    assert rows(root, symbols) == rows(made, symbols)
    assert rows(root, "FROM overrides ORDER BY ALL") == rows(made, "FROM overrides ORDER BY ALL")
    calls = "SELECT c.* FROM calls c JOIN symbols s ON s.symbol = c.callee WHERE NOT s.is_external ORDER BY ALL"
    assert rows(root, calls) == rows(made, calls)


def test_the_index_says_which_indexer_has_answered_and_by_which_file(root: Path):
    changed(root, lambda message: message.metadata.tool_info.MergeFrom(type(message.metadata.tool_info)(name="scip-x", version="7.1")))
    done = lspidx("scip", "import", "../index.scip", "--quiet", cwd=root)
    assert done.returncode == 0, done.stderr
    digest = look(root.parent / "index.scip").digest[:10]
    assert rows(root, "SELECT name, version, language FROM servers") == [("scip-x", f"7.1 (SCIP {digest})", "python")]
    answer = json_of(lspidx("query", "references", "shop.models.Item", "--json", cwd=root))
    assert answer["provenance"]["servers"] == [f"scip-x 7.1 (SCIP {digest})"]
    assert rows(root, "SELECT DISTINCT status FROM coverage WHERE method = 'textDocument/definition' AND asked > 0") == [("done",)]


def test_a_file_that_changed_since_is_a_gap_and_nothing_leads_into_it_where_nobody_else_may_be_asked(root: Path):
    (root / "lspidx.toml").write_text('[language.python]\nserver = "none"\n', encoding="utf-8")
    (root / "shop" / "models.py").write_text("# new\n" + FILES["shop/models.py"], encoding="utf-8")
    done = lspidx("index", "--scip", "../index.scip", cwd=root)
    assert "lost 1 textDocument/definition" in done.stderr
    assert done.stderr.rstrip().endswith("(in shop/models.py)")
    [(status, reason)] = rows(
        root, "SELECT status, reason FROM coverage WHERE path = 'shop/models.py' AND method = 'textDocument/definition'"
    )
    assert status == "lost"
    assert "the file is not as lspidx" in reason
    assert rows(root, "SELECT * FROM occurrences WHERE path = 'shop/till.py' AND target_path = 'shop/models.py'") == []
    answer = json_of(lspidx("query", "references", "shop.models.Item", "--json", cwd=root))
    assert answer["completeness"]["status"] == "partial"


def test_a_language_server_is_asked_about_what_changed_since_and_what_leads_into_it(root: Path, tmp_path: Path):
    (root / "shop" / "models.py").write_text("# new\n" + FILES["shop/models.py"], encoding="utf-8")
    (root / "shop" / "new.py").write_text("from shop.models import Item\n\nmade = Item()\n", encoding="utf-8")
    anew = Path(shutil.copytree(root, tmp_path / "anew"))
    crawl_with_ty(anew, jobs=1)
    done = lspidx("index", "--scip", "../index.scip", cwd=root)
    assert "3 of 5 python files are not as lspidx has read them, or lead into such; ty is asked about these" in done.stderr
    assert "nothing lost" in done.stderr
    assert rows(root, _REFERENCES) == rows(anew, _REFERENCES)
    by = rows(root, "SELECT path, server FROM coverage WHERE method = 'textDocument/definition' ORDER BY path")
    assert by == [
        ("shop/__init__.py", "lspidx"),
        ("shop/models.py", "ty"),
        ("shop/new.py", "ty"),
        ("shop/out.py", "lspidx"),
        ("shop/till.py", "ty"),
    ]


def test_what_lies_outside_is_not_complete_where_two_servers_name_it(root: Path):
    (root / "shop" / "new.py").write_text("import json\n\nTEXT = json.dumps(2)\n", encoding="utf-8")
    assert lspidx("index", "--scip", "../index.scip", "--quiet", cwd=root).returncode == 0
    answer = json_of(lspidx("query", "references", "json.dumps", "--json", cwd=root))
    reasons = {reason["code"]: reason["paths"] for reason in answer["completeness"]["reasons"]}
    assert reasons.get("several_servers") == ["shop/new.py"]
    own = json_of(lspidx("query", "references", "shop.models.Item.name", "--json", cwd=root))
    assert "several_servers" not in {reason["code"] for reason in own["completeness"]["reasons"]}


def test_what_leads_into_a_file_that_has_another_name_now_is_asked_of_a_server(root: Path):
    (root / "shop" / "models.py").rename(root / "shop" / "things.py")
    (root / "shop" / "models.py").symlink_to("things.py")
    assert lspidx("index", "--scip", "../index.scip", "--quiet", cwd=root).returncode == 0
    assert rows(root, "SELECT DISTINCT server FROM coverage WHERE path = 'shop/till.py' AND method <> 'syntax'") == [("ty",)]


def test_an_edit_after_the_import_costs_the_edited_file_only(root: Path):
    assert lspidx("index", "--scip", "../index.scip", cwd=root).returncode == 0
    (root / "shop" / "till.py").write_text("\n" + FILES["shop/till.py"], encoding="utf-8")
    done = lspidx("index", cwd=root)  # without a word of the file: it is asked again
    assert "nothing lost" in done.stderr
    assert rows(root, "SELECT name FROM servers ORDER BY name") == [("lspidx",), ("ty",)]
    assert rows(root, "SELECT DISTINCT server FROM coverage WHERE path = 'shop/models.py' AND method <> 'syntax'") == [("lspidx",)]
    assert rows(root, "SELECT count(*) FROM occurrences WHERE path = 'shop/till.py' AND target_path = 'shop/models.py'") == [(7,)]


def test_a_file_that_floods_its_reader_while_it_is_held_against_the_texts_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("indexer.scip.limits._PROCESSOR_S", 0.0005)
    with pytest.raises(Refused, match="takes more time or memory"):
        misfits(root.parent / "index.scip", root, ["shop/till.py"])


def test_a_newer_file_is_asked_anew(root: Path):
    assert lspidx("index", "--scip", "../index.scip", cwd=root).returncode == 0
    assert "up to date" in lspidx("index", cwd=root).stderr
    changed(root, lambda message: document(message, "shop/till.py").ClearField("occurrences"))
    assert "up to date" not in lspidx("index", cwd=root).stderr
    assert rows(root, "SELECT count(*) FROM occurrences WHERE path = 'shop/till.py' AND target_path = 'shop/models.py'") == [(0,)]


def test_a_language_can_be_named_and_must_be_one_that_is_here(root: Path):
    assert lspidx("index", "--scip", "../index.scip=python", cwd=root).returncode == 0
    wrong = lspidx("index", "--full", "--scip", "../index.scip=go", cwd=root)
    assert (wrong.returncode, "holds no file of a language that is here" in wrong.stderr) == (2, True)
    twice = lspidx("index", "--full", "--scip", "../index.scip", "--scip", str(root.parent / "index.scip"), cwd=root)
    assert (twice.returncode, "two files of SCIP hold python" in twice.stderr) == (2, True)


def test_a_project_cannot_name_a_file_that_its_user_has_not(root: Path):
    shutil.copy(root.parent / "index.scip", root / "made-up.scip")
    write_tree(root, {"lspidx.toml": 'scip = ["made-up.scip"]\n'})
    config = load_config(root, environment={}, user_dir=root / "user")
    assert config.scip == ()
    assert [item.remedy for item in config.refused] == ["lspidx index --scip made-up.scip"]
    named = load_config(root, environment={}, user_dir=root / "user", flags={"scip": [str(root / "made-up.scip")]})
    assert named.scip == (str(root / "made-up.scip"),)


# ---- which texts a file is about


def test_answers_are_in_columns_of_utf16_whatever_the_file_counts(root: Path):
    assert asked(root, "shop/models.py", "return price", "price") == [("shop/models.py", 0, 13)]
    for encoding, shift in ((1, 2), (3, -1)):  # after a sign of four bytes, one code point

        def recount(message: Any, encoding: int = encoding, shift: int = shift) -> None:
            item = document(message, "shop/models.py")
            item.position_encoding = encoding
            for occurrence in item.occurrences:
                if occurrence.single_line_range.line == 0 and occurrence.single_line_range.start_character > 8:
                    occurrence.single_line_range.start_character += shift
                    occurrence.single_line_range.end_character += shift

        shutil.copy(root.parent / "index.scip", root.parent / "kept.scip")
        changed(root, recount)
        assert asked(root, "shop/models.py", "return price", "price") == [("shop/models.py", 0, 13)]
        shutil.copy(root.parent / "kept.scip", root.parent / "index.scip")


def test_older_ranges_are_read_where_there_are_no_newer_ones(root: Path):
    def without(message: Any) -> None:
        for item in message.documents:
            for occurrence in item.occurrences:
                for name in ("single_line_range", "multi_line_range"):
                    occurrence.ClearField(name)

    changed(root, without)
    assert asked(root, "shop/till.py", "item.name()", "name") == [("shop/models.py", 11, 8)]


def test_a_document_with_its_text_is_held_against_that(root: Path):
    changed(root, lambda message: setattr(document(message, "shop/models.py"), "text", FILES["shop/models.py"]))
    assert asked(root, "shop/till.py", "item.name()", "name") == [("shop/models.py", 11, 8)]
    changed(root, lambda message: setattr(document(message, "shop/models.py"), "text", FILES["shop/models.py"] + "\n"))
    assert asked(root, "shop/till.py", "item.name()", "name") == []


@pytest.mark.parametrize("text", ["x = 1\n", "\nx = 1\n", "y = 1\n", ""])
def test_a_definition_has_to_stand_where_it_is_said_to(text: str):
    message = Document(relative_path="a.py")
    message.occurrences.add(symbol="python pip a . a/x.", symbol_roles=1, range=[0, 0, 1])
    if text == "x = 1\n":
        assert [item.place for item in fitted(message, text)] == [(0, 0, 0, 1)]
    else:
        with pytest.raises(Misfit):
            fitted(message, text)


@pytest.mark.parametrize(
    ("text", "word", "is_believed"),
    [
        ("Item()", "Item", True), ("Thing()", "Thing", False), ("import Item as Thing", "Thing", True), ("Thing = Item", "Thing", True),
        ("import Thing from './a'", "Thing", True), ("a.Thing", "Thing", False), ("self", "self", True), ("models", "models", True),
    ],
)  # fmt: skip
def test_a_use_with_another_name_is_believed_where_the_text_gives_that_name(text: str, word: str, is_believed: bool):
    message = Document(relative_path="a.py")
    at = text.index(word)
    message.occurrences.add(symbol="python pip shop . shop/models/Item#", range=[0, at, at + len(word)])
    assert bool(fitted(message, text)) is is_believed


ITEM, LOCAL, ELSEWHERE = "python pip shop . shop/models/Item#", "local 1", "python pip other . other/Item#"


@pytest.mark.parametrize(
    ("now", "symbol", "is_another"),
    [
        ("Item()", ITEM, False), ("    ()", ITEM, True), ("Items()", ITEM, True), ("myItem()", ITEM, True),
        ("Unit()", ITEM, False),  # an indexer calls Client AsyncClient, and no part of a word anything
        ("Items()", ELSEWHERE, True), ("    ()", ELSEWHERE, False),  # the sign of an operator may be anywhere
        ("item = 1; item", LOCAL, False), ("item = 1; unit", LOCAL, True),
        ("item = 1; self", LOCAL, False), ("item = 1; items", LOCAL, True),
    ],
)  # fmt: skip
def test_an_edit_that_leaves_all_definitions_in_place_is_seen_by_the_words_of_uses(now: str, symbol: str, is_another: bool):
    message = Document(relative_path="a.py")
    lines = now.split("\n")
    if symbol == LOCAL:
        message.occurrences.add(symbol=symbol, range=[0, 10, 14])
        message.occurrences.add(symbol=symbol, symbol_roles=1, range=[0, 0, 4])
    else:
        at = max(lines[-1].find("Item"), 0)
        message.occurrences.add(symbol=symbol, range=[len(lines) - 1, at, at + 4])
    if is_another:
        with pytest.raises(Misfit, match="line 1 has"):
            fitted(message, now, {ITEM})
    else:
        fitted(message, now, {ITEM})


def test_a_document_that_has_longer_words_than_the_file_says_is_asked_of_a_server(root: Path):
    till = root / "shop" / "till.py"
    till.write_text(FILES["shop/till.py"].replace("item.name() + made.name()", "item.names() + made.name()"), encoding="utf-8")
    done = lspidx("index", "--scip", "../index.scip", cwd=root)
    assert "1 of 4 python files are not as lspidx has read them, or lead into such; ty is asked about these" in done.stderr


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("python pip a . a/Item#run().", "run"), ("a b c d `x.ts`/f(+1).", "f"), ("a b c d e/f().(item)", "item"), ("a b c d e/[T]", "T"),
        ("a b c d e/`<init>`().", ""), ("local 4", ""), ("a b c d e/", ""), ("a b c d `naïve`.", "naïve"), ("a b c d `x.ts`/type0:", ""),
    ],
)  # fmt: skip
def test_the_name_of_a_symbol_is_told_where_it_stands_in_a_text(symbol: str, name: str):
    assert name_of(symbol) == name


def test_the_root_of_a_file_may_be_another_folder(root: Path):
    def below(message: Any) -> None:
        message.metadata.project_root = root.parent.as_uri()
        for item in message.documents:
            item.relative_path = f"{root.name}/{item.relative_path}"

    changed(root, below)
    assert asked(root, "shop/till.py", "item.name()", "name") == [("shop/models.py", 11, 8)]


# ---- what lies outside


@pytest.mark.parametrize(
    ("symbol", "names", "kinds", "dotted"),
    [
        ("scip-go gomod std go1.2 net/http/Server#Close().", ["http", "Server", "Close"], "module class method", "net.http"),
        ("x npm typescript 5 lib/`lib.d.ts`/Array#length.", ["lib.d.ts", "Array", "length"], "module class field", "lib.lib.d.ts"),
        ("x . . . f().", ["", "f"], "module function", ""),
        ("x npm my  package 1 `a``b`#[T]", ["my package", "a`b", "T"], "module class type_parameter", "my package"),
        ("x y z 1 a/", ["a"], "module", "a"),
        ("x y z 1 a/f().(p)", ["a", "f", "p"], "module function variable", "a"),
    ],
)
def test_a_symbol_of_a_package_outside_is_told_by_its_names(symbol: str, names: list[str], kinds: str, dotted: str):
    found = parse(symbol)
    assert found is not None
    parts = [found.module, *found.descriptors]
    assert ([part.name for part in parts], " ".join(part.kind.name.lower() for part in parts), found.dotted) == (names, kinds, dotted)
    assert parts[-1].symbol == symbol
    assert of_place(uri_of(symbol, "a/b.go")) == ("x.go", found)


def test_a_namespace_lies_in_those_above_it():
    place = uri_of("x y z 1 a/b/`c d`/", "m.py")
    assert [above(place, up) for up in (1, 2, 3)] == [uri_of("x y z 1 a/b/", "m.py"), uri_of("x y z 1 a/", "m.py"), ""]
    assert above(uri_of("x y z 1 a/f().", "m.py"), 1) == above("/a/b.py", 1) == ""


@pytest.mark.parametrize(
    "symbol",
    ["", "local 3", "a b c", "a b c d ", "a b c d e", "a b c d e/\n#", "a b c d \x1b/", "a b c d " + "e/" * 30, "a b c d e/" + "f" * 2_000],
)
def test_what_is_no_symbol_has_no_place(symbol: str):
    assert parse(symbol) is None
    assert uri_of(symbol, "a.go") == ""


def test_what_the_workspaces_own_package_lacks_is_unresolved_and_no_other_package(root: Path):
    def unnamed(message: Any) -> None:
        for item in message.documents:
            for occurrence in item.occurrences:
                if occurrence.symbol.endswith("Item#name().") and occurrence.symbol_roles & 1:
                    occurrence.symbol = "local 77"

    assert asked(root, "shop/out.py", "TEXT", "dumps") == [("scip:x.py/python%20python%20stdlib%20.%20json%2Fdumps%28%29.", 1, 0)]
    changed(root, unnamed)
    assert asked(root, "shop/till.py", "item.name()", "name") == []


@pytest.mark.parametrize("span", [[0, 7, 17], [0, 8, 16]], ids=["with quotes", "without"])
def test_a_name_in_a_string_that_means_something_is_answered(tmp_path: Path, span: list[int]):
    write_tree(tmp_path, {"a.go": 'import "net/http"\n'})
    message = Index()
    item = message.documents.add(relative_path="a.go")
    item.occurrences.add(symbol="scip-go gomod std 1 net/http/", range=span)
    (tmp_path / "x.scip").write_bytes(message.SerializeToString())
    answers = Answers(tmp_path / "x.scip", tmp_path)
    [one] = answers.definitions("a.go", 0, 12)
    assert answers.definitions("a.go", 0, 7) == [one]
    assert (one.place, one.path) == ((0, 0, 0, 0), "scip:x.go/scip-go%20gomod%20std%201%20net%2Fhttp%2F")
    assert answers.definitions("a.go", 0, 2) == []


# ---- files that lie


def _outside(message: Any) -> None:
    document(message, "shop/models.py").occurrences[3].single_line_range.line = 2_000_000_000


def _backwards(message: Any) -> None:
    document(message, "shop/models.py").occurrences[3].single_line_range.end_character = -5


def _circle(message: Any) -> None:
    item = document(message, "shop/models.py")
    for symbol in item.symbols:
        for other in item.symbols:
            symbol.relationships.add(symbol=other.symbol, is_implementation=True)


def _control(message: Any) -> None:
    message.metadata.tool_info.name = "\x1b[31m\u202eevil\n" * 50
    for item in message.documents:
        for occurrence in item.occurrences:
            occurrence.symbol += "\x1b]0;x\x07\0"
        for symbol in item.symbols:
            symbol.symbol += "\x1b]0;x\x07\0"
            symbol.signature_documentation.text = "\x1b[2J" * 10


def _elsewhere(message: Any) -> None:
    for item in message.documents:
        item.relative_path = f"../../etc/{item.relative_path}"


@pytest.mark.parametrize("lie", [_outside, _backwards, _circle, _control, _elsewhere], ids=lambda lie: lie.__name__)
def test_a_file_that_lies_makes_gaps_and_a_well_formed_index(root: Path, lie: Callable[[Any], None]):
    changed(root, lie)
    done = lspidx("index", "--scip", "../index.scip", cwd=root)
    assert done.returncode in (0, 5), done.stderr
    if generation(root).exists():
        assert lspidx("lint", cwd=root).returncode == 0
    assert "\x1b" not in done.stderr
    assert "\u202e" not in done.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "0 bytes"),
        (b"import os\n", "cut off|none that"),
        (b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "longer than 10 bytes"),
        (b"\x12\xff\xff\xff\xff\x0fabc", "cut off"),
        (b"\x12\x06\x0a\x03a.p", "cut off"),
        (b"\x0a\x00" + b"\x12\x00" * (MAX_PARTS + 1), f"more than {MAX_PARTS}"),
        (b"\x02\x00", "none that"),
    ],
    ids=["empty", "source", "long number", "huge part", "truncated", "millions of documents", "field 0"],
)
def test_what_is_no_scip_is_refused_with_the_reason(root: Path, content: bytes, why: str):
    (root.parent / "index.scip").write_bytes(content)
    with pytest.raises(Refused, match=why):
        ScipFile(root.parent / "index.scip")
    if len(content) > MAX_PARTS:  # the command has no other reader
        return
    done = lspidx("index", "--scip", "../index.scip", cwd=root)
    assert done.returncode == 2
    assert "is no file of SCIP that can be read" in done.stderr
    assert not (root / ".lspidx" / "CURRENT").exists()


@pytest.mark.parametrize(("what", "why"), [("pipe", "no regular file"), ("device", "no regular file"), ("sparse", "bytes, expected")])
def test_what_never_ends_is_refused_before_it_is_read(root: Path, what: str, why: str):
    place = root / "z.scip"
    if what == "pipe":
        os.mkfifo(place)
    elif what == "device":
        place.symlink_to("/dev/zero")
    else:
        with place.open("wb") as file:
            file.truncate(5_000_000_000)
    done = lspidx("index", "--scip", "z.scip", cwd=root)
    assert done.returncode == 2
    assert why in done.stderr


@pytest.mark.parametrize("what", ["pipe", "device", "link", "large"])
def test_no_answer_leads_into_what_is_no_plain_file(root: Path, what: str):
    """It has been waited for, or read without end, for a document may have any path in the workspace."""
    place = root / "shop" / "models.py"
    if what == "large":
        os.truncate(place, 30_000_000)
    else:
        place.rename(root / "shop" / "kept.py")
        if what == "pipe":
            os.mkfifo(place)
        else:
            place.symlink_to("/dev/zero" if what == "device" else "kept.py")
    assert asked(root, "shop/till.py", "item.name()", "name") == []


def test_no_answer_leads_through_a_link_out_of_the_workspace(root: Path):
    write_tree(root.parent, {"elsewhere/models.py": FILES["shop/models.py"]})
    (root / "lib").symlink_to("../elsewhere")
    changed(root, lambda message: setattr(document(message, "shop/models.py"), "relative_path", "lib/models.py"))
    assert asked(root, "shop/till.py", "item.name()", "name") == []


@pytest.mark.parametrize("part", ["a", "`", "x`", "x``"])
def test_a_symbol_as_long_as_its_author_likes_costs_what_its_length_says(part: str):
    """It took squares of it, which is hours."""
    assert name_of(part * 500_000 + " ") == ""
    assert name_of(f"x y . . {part * 500_000}/f().") == "f"


def test_a_root_that_is_no_uri_is_none(root: Path):
    changed(root, lambda message: setattr(message.metadata, "project_root", "file://[::1"))
    assert asked(root, "shop/till.py", "item.name()", "name") == [("shop/models.py", 11, 8)]


def test_a_document_that_cannot_be_decoded_is_none(root: Path):
    data = (root.parent / "index.scip").read_bytes()
    (root.parent / "index.scip").write_bytes(data + b"\x12\x04\x0a\x02\xff\xfe")  # a path that is not UTF-8
    answers = Answers(root.parent / "index.scip", root)
    assert (answers.undecoded, answers.paths) == (1, sorted({**FILES, **OUTSIDE}))


def test_ranges_with_any_numbers_are_a_misfit_or_lie_in_the_text():
    chance = random.Random(5)
    text = "ab cd\nnaïve 🚀 x\n"
    for _ in range(2_000):
        message = Document(position_encoding=chance.randrange(5))
        numbers = [chance.choice([-1, 0, 1, 2, 5, 9, 2**31 - 1, -(2**31)]) for _ in range(chance.randrange(6))]
        message.occurrences.add(symbol="local 1", symbol_roles=chance.randrange(3), range=numbers)
        try:
            found = fitted(message, text)
        except Misfit:
            continue
        for item in found:
            lines = text.split("\n")
            assert item.place.end_line < len(lines)
            assert item.place.end_col <= len(lines[item.place.end_line].encode("utf-16-le")) // 2


def _damaged(chance: random.Random, data: bytes) -> bytes:
    """One kind of damage: bytes that are others, missing, doubled or from elsewhere, numbers that are huge, an end that is missing."""
    content = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        at = chance.randrange(len(content) + 1)
        size = chance.choice((1, 1, 2, 5, 40))
        kind = chance.randrange(6)
        if kind == 0:
            content[at : at + size] = bytes(chance.randrange(256) for _ in range(size))
        elif kind == 1:
            del content[at : at + size]
        elif kind == 2:
            content[at:at] = content[at : at + size]
        elif kind == 3:
            other = chance.randrange(len(content) + 1)
            content[at : at + size] = content[other : other + size]
        elif kind == 4:
            content[at:at] = b"\xff" * chance.randrange(1, 12) + bytes([chance.randrange(128)])
        else:
            del content[at:]
    return bytes(content)


def test_damaged_files_are_refused_or_answered_from_inside_the_workspace(root: Path):
    """Whatever is damaged: the reader says so, or each answer is a place in a text of the workspace."""
    data = (root.parent / "index.scip").read_bytes()
    sizes = {path: [len(line.encode("utf-16-le")) // 2 for line in text.split("\n")] for path, text in FILES.items()}
    outcomes = {"refused": 0, "misfit": 0, "answered": 0}
    for number in range(FUZZ):
        chance = random.Random(number)
        (root.parent / "index.scip").write_bytes(_damaged(chance, data))
        try:
            answers = Answers(root.parent / "index.scip", root)
        except Refused:
            outcomes["refused"] += 1
            continue
        for path in sorted(FILES):
            try:
                known = answers.document(path)
                outcomes["answered"] += 1
            except Misfit:
                outcomes["misfit"] += 1
                continue
            for line, col in list(known.at)[:20]:
                for one in [*answers.definitions(path, line, col), *(place for _, place in answers.supertypes(path, line, col))]:
                    if one.path.startswith(SCHEME):
                        assert of_place(one.path) is not None, number
                    else:
                        assert one.place.end_col <= sizes[one.path][one.place.end_line], number
                answers.text(path, line, col)
    assert outcomes["refused"] > FUZZ // 5
    assert outcomes["misfit"] > FUZZ // 20
    assert outcomes["answered"] > FUZZ // 20


# ---- the process that answers


@pytest.fixture
def server(root: Path) -> Any:
    """`ask(method, params)` asks the process about the file beside the workspace."""
    command = [sys.executable, "-I", "-m", "indexer.scip.server", str(root.parent / "index.scip"), str(root)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    reader = FrameReader()

    def ask(method: str, params: Any = None) -> Any:
        process.stdin.write(frame(msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})))
        process.stdin.flush()
        while not (bodies := reader.feed(os.read(process.stdout.fileno(), 65_536))):
            pass
        return msgspec.json.decode(bodies[0])

    yield ask
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()


def test_the_process_answers_as_a_language_server_does(root: Path, server: Any):
    assert server("initialize", {"capabilities": {}})["result"]["serverInfo"]["name"] == "lspidx"
    till = {"uri": path_to_uri(str(root / "shop" / "till.py"))}
    [place] = server("textDocument/definition", {"textDocument": till, "position": {"line": 5, "character": 16}})["result"]
    assert (place["uri"], place["range"]["start"]) == (path_to_uri(str(root / "shop" / "models.py")), {"line": 11, "character": 8})
    models = path_to_uri(str(root / "shop" / "models.py"))
    item = {"uri": models, "selectionRange": {"start": {"line": 10, "character": 6}, "end": {"line": 10, "character": 10}}}
    [above] = server("typeHierarchy/supertypes", {"item": item})["result"]
    assert above["selectionRange"]["start"] == {"line": 3, "character": 6}
    hover = server("textDocument/hover", {"textDocument": {"uri": models}, "position": {"line": 3, "character": 6}})["result"]
    assert "Whatever has a name." in hover["contents"]["value"]
    assert server("textDocument/definition", {"textDocument": till, "position": {"line": 4_000, "character": 1}})["result"] == []
    assert server("textDocument/rename", {})["error"]["code"] == -32601
    outside = {"textDocument": {"uri": "file:///etc/passwd"}, "position": {"line": 0, "character": 0}}
    assert "no such document" in server("textDocument/hover", outside)["error"]["message"]
    assert server("shutdown")["result"] is None


def test_an_empty_index_of_scip_is_one(tmp_path: Path):
    message = Index()
    message.metadata.tool_info.name = "x"
    (tmp_path / "x.scip").write_bytes(message.SerializeToString())
    assert Answers(tmp_path / "x.scip", tmp_path).paths == []
    assert look(tmp_path / "x.scip").endings == []
