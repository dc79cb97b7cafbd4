"""An index as SCIP: what the file says, which rules it keeps, and what is not in it without a word."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from query_support import damage, json_of, lspidx
from scip_support import SYMBOL, enclosing, faults, printed, read, roles, span
from support import check_golden, crawl_with_ty, write_tree

from indexer import syntax as syntaxes
from indexer import user_state
from indexer.crawl.units import PlannedDocument
from indexer.crawl.worker.harvest import add_symbols
from indexer.errors import UsageError
from indexer.model import Role, SymbolFlag, SymbolKind
from indexer.scip.words import kind_of, language_name
from indexer.store.facts import DocumentFacts
from query.facts.export import ExportedOccurrence
from query.facts.index import open_index
from query.scip import export
from query.scip.declared_types import declared_types
from query.scip.export import write

pytest_plugins = ["query_fixtures"]

FILES = {
    "shop/__init__.py": "",
    "shop/models.py": '''"""Things that are sold."""

SIGN = "🚀"; price = 1


class Base:
    """Whatever has a name."""

    def name(self) -> str:
        return SIGN


class Item(Base):
    count: int = 0

    def name(self) -> str:
        self.count += price
        return super().name()


def make():
    class Made(Base):
        def run(self):
            return self.name()

    return Made()
''',
    "shop/till.py": """import json

from shop.models import Base, Item, make

__all__ = ["pay"]


class Coupon(Base):
    pass


def pay(item: Item, *rest: Base, note: "Base | None" = None) -> str:
    made = make()
    made.run()
    del rest
    return json.dumps(item.name())
""",
    "tests/test_till.py": "from shop.till import pay\n\n\ndef test_pay():\n    assert pay\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n[project.scripts]\npay = "shop.till:pay"\n',
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an index; never changed."""
    root = write_tree(tmp_path_factory.mktemp("made") / "work", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "work", symlinks=True))


def exported(root: Path) -> Any:
    with open_index(root) as index:
        write(index, root.parent / "index.scip")
    return read(root.parent / "index.scip")


@pytest.fixture(scope="module")
def message(made: Path) -> Any:
    return exported(made)


def document(message: Any, path: str) -> Any:
    return next(item for item in message.documents if item.relative_path == path)


def named(root: Path, message: Any, path: str, text: str, word: str) -> list[Any]:
    """Occurrences at a word of the first line that has this text."""
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    line = next(number for number, content in enumerate(lines) if text in content)
    col = len(lines[line][: lines[line].index(word)].encode("utf-16-le")) // 2
    return [item for item in document(message, path).occurrences if span(item)[:2] == (line, col)]


def described(message: Any, name: str) -> Any:
    """The symbol of this name, as the document that defines it describes it."""
    return next(
        symbol
        for item in message.documents
        for symbol in item.symbols
        if symbol.display_name == name and any(o.symbol == symbol.symbol and o.symbol_roles & 1 for o in item.occurrences)
    )


# ---- what the file says


def test_the_printed_form_of_a_small_workspace(made: Path, message: Any):
    text = printed(message, made)
    assert not list(faults(message))
    check_golden("scip/shop.txt", text.partition("==== outside")[0])


def test_no_rule_of_scip_is_broken(message: Any):
    assert list(faults(message)) == []


def test_symbols_of_other_packages_are_external_with_what_is_known_of_them(message: Any):
    dumps = next(symbol for symbol in message.external_symbols if symbol.display_name == "dumps")
    assert dumps.symbol == "python python stdlib . json/dumps()."
    assert dumps.kind == kind_of(SymbolKind.FUNCTION, 0)
    assert dumps.documentation or dumps.signature_documentation.text


def test_an_override_is_a_reference_to_what_it_overrides_and_a_subclass_is_none(message: Any):
    items = {symbol.symbol: symbol for item in message.documents for symbol in item.symbols if symbol.relationships}
    base = "python pip shop . shop/models/Base#"
    below = {(r.symbol, r.is_implementation, r.is_reference) for r in items["python pip shop . shop/models/Item#"].relationships}
    member = {(r.symbol, r.is_implementation, r.is_reference) for r in items["python pip shop . shop/models/Item#name()."].relationships}
    assert (below, member) == ({(base, True, False)}, {(f"{base}name().", True, True)})


def test_a_parameter_has_the_type_that_it_is_declared_with_where_that_is_one_name(message: Any):
    types = {
        symbol.display_name: [r.symbol for r in symbol.relationships if r.is_type_definition]
        for symbol in document(message, "shop/till.py").symbols
    }
    assert types["item"] == ["python pip shop . shop/models/Item#"]
    assert types["rest"] == types["note"] == []


def test_columns_after_a_sign_outside_of_the_first_plane_count_utf16(made: Path, message: Any):
    [found] = [item for item in named(made, message, "shop/models.py", "SIGN =", "price") if item.symbol_roles & 1]
    assert span(found) == (2, 13, 2, 18)
    assert document(message, "shop/models.py").position_encoding == 2


def test_a_definition_has_the_range_of_all_that_it_defines(made: Path, message: Any):
    [found] = named(made, message, "shop/models.py", "class Base", "Base")
    assert (roles(found), enclosing(found)) == (["definition"], (5, 0, 9, 19))


def test_roles_say_what_is_done(made: Path, message: Any):
    [counted] = named(made, message, "shop/models.py", "self.count", "count")
    [imported] = named(made, message, "shop/till.py", "from shop.models", "Item")
    [deleted] = named(made, message, "shop/till.py", "del rest", "rest")
    [tested] = named(made, message, "tests/test_till.py", "assert pay", "pay")
    assert [roles(item) for item in (counted, imported, deleted, tested)] == [["write", "read"], ["import"], ["write"], ["read", "test"]]


def test_a_module_is_defined_at_the_beginning_of_its_file(message: Any):
    first, *others = document(message, "shop/models.py").occurrences
    assert (first.symbol, span(first), roles(first)) == ("python pip shop . shop/models/", (0, 0, 0, 0), ["definition"])
    assert first.symbol not in {item.symbol for item in others}


def test_a_local_class_that_other_files_use_is_one_symbol_in_all_of_them(root: Path):
    damage(root, "UPDATE occ SET evidence = 1 WHERE name = 'run'")  # as a server says that infers what `make` returns
    message = exported(root)
    [used] = named(root, message, "shop/till.py", "made.run()", "run")
    [defined] = named(root, message, "shop/models.py", "def run", "run")
    [inside] = named(root, message, "shop/till.py", "made = make()", "made")
    assert used.symbol == defined.symbol
    assert used.symbol.startswith("python pip shop . shop/models/make().run-")
    assert inside.symbol.startswith("local ")
    assert described(message, "made").enclosing_symbol == "python pip shop . shop/till/pay()."
    assert not list(faults(message))


def test_what_strings_and_manifests_name_is_a_reference(made: Path, message: Any):
    [said] = named(made, message, "shop/till.py", "__all__", "pay")
    [entered] = [item for item in named(made, message, "pyproject.toml", "pay =", 'pay"') if not item.symbol_roles & 1]
    assert said.symbol == entered.symbol == "python pip shop . shop/till/pay()."
    assert document(message, "pyproject.toml").language == "Toml"


def test_what_was_found_by_following_values_only_is_not_told_as_certain(root: Path):
    damage(root, "UPDATE occ SET evidence = 15 WHERE name = 'dumps'")
    message = exported(root)
    assert not [item for item in document(message, "shop/till.py").occurrences if item.symbol.endswith("json/dumps().")]
    assert not list(faults(message))


@pytest.mark.parametrize(
    ("language", "name"),
    [("python", "Python"), ("typescriptreact", "TypeScriptReact"), ("cpp", "CPP"), ("c", "C"), ("bash", "ShellScript"), ("zig", "Zig")],
)
def test_languages_have_the_names_of_scip(language: str, name: str):
    assert language_name(language) == name


def test_every_kind_has_one_of_scip():
    assert len({kind_of(kind, 0) for kind in SymbolKind}) == len(SymbolKind)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("x: Item", True), ("x: Item = 1", True), ("x?: Item;", True), ('x: "m.Item"', True), ("func f(x *m.Item)", True),
        ("x: Item\r", True), ("x: list[Item]", False), ("x: Item | None", False), ("*x: Item", False), ("x: Item[]", False),
        ("x, Item", False), ("-> Item", False),
    ],
)  # fmt: skip
def test_a_declared_type_is_told_where_the_text_has_nothing_but_its_name(text: str, is_told: bool):
    col = text.index("Item")
    rows = [ExportedOccurrence(0, 0, col, col + 4, int(Role.READ | Role.ANNOTATION), 7)]
    if "x" in text:
        at = text.index("x")
        rows.append(ExportedOccurrence(0, 0, at, at + 1, int(Role.DEFINITION), 3))
    assert declared_types(rows, [text.encode()], {7}.__contains__) == ({3: [7]} if is_told else {})


def test_members_of_one_name_in_a_local_object_have_symbols_of_the_grammar():
    """As a server discovers them: `const rows = [{ cls: 1 }, { cls: 2 }]` in a function."""
    source = b"export function f() { const rows = 1; return rows; }\n"
    syntax = syntaxes.parse("javascript", "a.js", source, "a")
    [rows] = [ordinal for ordinal, symbol in enumerate(syntax.symbols) if symbol.name == "rows"]
    for _ in range(2):
        member = copy.copy(syntax.symbols[rows])
        member.name, member.kind, member.flags, member.container = "cls", SymbolKind.PROPERTY, SymbolFlag(0), rows
        syntax.symbols.append(member)
    header = PlannedDocument(path="a.js", language="javascript", digest="", size_bytes=len(source)).header("ok", line_count=1)
    facts = DocumentFacts(header)
    add_symbols(facts, syntax, {}, "javascript . x . `a.js`/", "a")
    found = facts.tables["symbols"]["moniker"]
    assert facts.tables["symbols"]["name"].count("cls") == 2
    assert len(set(found)) == len(found)
    assert [moniker for moniker in found if not SYMBOL.fullmatch(moniker)] == []


# ---- how it is written


def test_the_same_index_gives_the_same_bytes(root: Path):
    exported(root)
    first = (root.parent / "index.scip").read_bytes()
    exported(root)
    assert (root.parent / "index.scip").read_bytes() == first


def test_a_file_is_made_of_parts_that_are_indexes_themselves(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(export, "_AT_ONCE", 1)
    monkeypatch.setattr(export, "_SYMBOLS_AT_ONCE", 1)
    parts: list[bytes] = []
    real = export._Export.parts
    monkeypatch.setattr(export._Export, "parts", lambda run, said: (parts.append(part) or part for part in real(run, said)))
    message = exported(root)
    assert len(parts) == 1 + len(message.documents) + len(message.external_symbols)
    assert not list(faults(message))


def test_files_of_several_folders_lie_below_the_folder_that_has_all(tmp_path: Path):
    root = write_tree(tmp_path / "work" / "app", {"app.py": "from lib import one\n\none()\n"})
    write_tree(tmp_path / "work" / "library", {"lib.py": "def one():\n    return 1\n"})
    crawl_with_ty(root, jobs=1, folders=["../library"])
    message = exported(root)
    assert sorted(item.relative_path for item in message.documents) == ["app/app.py", "library/lib.py"]
    assert message.metadata.project_root == (tmp_path / "work").as_uri()
    assert not list(faults(message))


@pytest.mark.parametrize("what", ["folder", "link", "pipe", "source", "blank line first", "list"])
def test_nothing_but_a_file_of_scip_is_written_over(root: Path, what: str):
    place = root / "out.scip"
    makers: dict[str, Callable[[], object]] = {
        "folder": place.mkdir,
        "link": lambda: place.symlink_to(root / "shop" / "till.py"),
        "pipe": lambda: os.mkfifo(place),
        "source": lambda: place.write_text("import x\n", encoding="utf-8"),
        "blank line first": lambda: place.write_text("\nimportant notes\n", encoding="utf-8"),
        "list": lambda: place.write_text("\n\n\n- a\n", encoding="utf-8"),
    }
    makers[what]()
    with open_index(root) as index, pytest.raises(UsageError, match=r"out\.scip"):
        write(index, place)
    assert (root / "shop" / "till.py").read_text(encoding="utf-8") == FILES["shop/till.py"]


# ---- what is not in it


def test_a_file_that_changed_since_is_left_out_and_named(root: Path):
    (root / "shop" / "models.py").write_text("# new\n" + FILES["shop/models.py"], encoding="utf-8")
    (root / "tests" / "test_till.py").unlink()
    done = lspidx("scip", "export", "-o", "x.scip", "--strict", cwd=root)
    assert done.returncode == 1
    assert "left out 2 files that changed since" in done.stdout
    assert "shop/models.py" in done.stderr
    message = read(root / "x.scip")
    assert [item.relative_path for item in message.documents] == ["pyproject.toml", "shop/__init__.py", "shop/till.py"]
    assert "completeness=partial" in message.metadata.tool_info.arguments
    assert "left_out=2" in message.metadata.tool_info.arguments
    assert "python pip shop . shop/models/Item#" in {symbol.symbol for symbol in message.external_symbols}
    assert not list(faults(message))


def test_a_file_whose_time_alone_has_changed_is_in_it(root: Path):
    os.utime(root / "shop" / "models.py", (1, 1))
    assert "shop/models.py" in [item.relative_path for item in exported(root).documents]


def test_the_file_says_who_made_it_of_what(root: Path):
    done = json_of(lspidx("scip", "export", "-o", "x.scip", "--json", cwd=root))
    message = read(root / "x.scip")
    assert done["completeness"]["status"] == "complete"
    assert (done["documents"], done["external_symbols"]) == (len(message.documents), len(message.external_symbols))
    assert done["occurrences"] == sum(len(item.occurrences) for item in message.documents)
    assert done["bytes"] == (root / "x.scip").stat().st_size
    assert message.metadata.tool_info.name == "lspidx"
    said = list(message.metadata.tool_info.arguments)
    assert said[:2] == ["scip", "export"]
    assert [word.partition(" ")[0] for word in said[2:4]] == ["server=ty", "completeness=complete"]


def test_the_index_of_a_stranger_is_told_in_the_file(root: Path):
    secret = user_state.state_dir() / "secret"
    kept = secret.read_bytes()
    secret.write_bytes(os.urandom(32))
    try:
        done = lspidx("scip", "export", "-o", "x.scip", cwd=root)
    finally:
        secret.write_bytes(kept)
    assert done.returncode == 0
    assert "foreign index" in done.stderr
    assert {"completeness=unknown", "foreign_index"} <= set(read(root / "x.scip").metadata.tool_info.arguments)
