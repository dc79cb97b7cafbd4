"""Whole symbols edited by name: in the file as it is now, with its indentation, and removed only when nobody needs them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import AmbiguousName, EditRefused, Locked, NameNotFound, NoIndex, UsageError
from query.answers.envelope import Answer
from query.surface.service import Service

Ask = Callable[..., Answer[Any]]

PYTHON = '''import functools


class Base:
    def price(self):
        return 1


class Book(Base):
    """A book."""

    # what it costs
    @functools.cache
    def price(self):
        return 2

    def _title(self):
        return "t"


# nobody calls this
def _alone():
    return Book


def _used():
    return 3


def main():
    return _used(), Book().price()
'''
FILES: dict[str, dict[str, str]] = {
    "typescript": {
        "package.json": '{"name": "shop", "version": "1.0.0"}',
        "tsconfig.json": '{"compilerOptions": {"strict": true}}',
        "a.ts": "class A {\n  /** doc */\n  one(): number {\n    return 1;\n  }\n\n  two(): number {\n    return this.one();\n  }\n}\n\n"
        "/** Nobody. */\nfunction alone(): void {}\n\nexport function free(a: string): A {\n  return new A();\n}\n",
    },
    "go": {
        "go.mod": "module shop\n",
        "a.go": "package shop\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n\n"
        "// alone is not called.\nfunc alone() int { return 1 }\n\n"
        "func Use() int { return Add(1, 2) }\n",
    },
    "rust": {
        "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub struct A;\n\nimpl A {\n"
        "    /// One.\n    pub fn one(&self) -> i32 {\n        1\n    }\n}\n\npub fn free() -> i32 {\n    A.one()\n}\n",
    },
    "cpp": {"a.cc": "namespace shop {\nclass A {\n public:\n  int one() { return 1; }\n};\n\nint free() { return A().one(); }\n}\n"},
}
SERVERS = {"typescript": "ts7", "go": "gopls", "rust": "rust-analyzer", "cpp": "clangd"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "shop", {"pyproject.toml": '[project]\nname = "shop"\n', "shop.py": PYTHON})
    crawl_with_ty(root)
    return root


@pytest.fixture
def ask(root: Path) -> Iterator[Ask]:
    service = Service(root)
    yield lambda tool, **arguments: service.ask(tool, {"apply": True, **arguments})
    service.close()


def text(root: Path) -> str:
    found = (root / "shop.py").read_text()
    ast.parse(found)
    return found


# ---- replaced


def test_a_definition_is_replaced_and_its_decorators_and_comments_stay(ask: Ask, root: Path) -> None:
    done = ask("replace_symbol_body", file_path="shop.py", symbol_path="Book.price", new_body="def price(self):\n    return 5")
    assert done.result.applied
    assert text(root) == PYTHON.replace("    def price(self):\n        return 2\n", "    def price(self):\n        return 5\n")


def test_new_text_with_decorators_replaces_those_too(ask: Ask, root: Path) -> None:
    body = "@property\ndef price(self):\n    return 5\n"
    ask("replace_symbol_body", file_path="shop.py", symbol_path="Book.price", new_body=body)
    assert "    @property\n    def price(self):\n        return 5\n\n    def _title" in text(root)
    assert "functools.cache" not in text(root)


@pytest.mark.parametrize(
    "body",
    [
        "def price(self):\n    if self:\n        return 5\n    return 6",
        "def price(self):\n        if self:\n            return 5\n        return 6",
        "    def price(self):\n        if self:\n            return 5\n        return 6\n",
    ],
    ids=["from the margin", "first line without its indentation", "as it stands in the file"],
)
def test_text_fits_however_it_is_indented(ask: Ask, root: Path, body: str) -> None:
    ask("replace_symbol_body", file_path="shop.py", symbol_path="Book.price", new_body=body)
    assert "    def price(self):\n        if self:\n            return 5\n        return 6\n\n    def _title" in text(root)


def test_the_file_as_it_is_now_counts_not_the_index(ask: Ask, root: Path) -> None:
    (root / "shop.py").write_text("# one\n# two\n" + PYTHON)
    ask("replace_symbol_body", symbol_path="shop._used", new_body="def _used():\n    return 4")
    assert text(root) == "# one\n# two\n" + PYTHON.replace("return 3", "return 4")


def test_line_ends_and_everything_else_stay(ask: Ask, root: Path) -> None:
    content = PYTHON.replace("\n", "\r\n").encode()
    (root / "shop.py").write_bytes(content)
    ask("replace_symbol_body", file_path="shop.py", symbol_path="_used", new_body="def _used():\n    return 4")
    assert (root / "shop.py").read_bytes() == content.replace(b"return 3", b"return 4")


def test_a_name_that_does_not_fit_or_fits_twice_changes_nothing(ask: Ask, root: Path) -> None:
    with pytest.raises(NameNotFound, match=r"it has: .*Book\.price"):
        ask("replace_symbol_body", file_path="shop.py", symbol_path="nothing", new_body="x = 1")
    with pytest.raises(AmbiguousName):
        ask("replace_symbol_body", file_path="shop.py", symbol_path="price", new_body="x = 1")
    with pytest.raises(UsageError):
        ask("replace_symbol_body", file_path="shop.py", symbol_path="_used", new_body=" ")
    with pytest.raises(EditRefused):
        ask("replace_symbol_body", file_path="../shop.py", symbol_path="_used", new_body="x = 1")
    assert text(root) == PYTHON


# ---- inserted


def test_code_is_put_before_and_after_with_the_indentation_there(ask: Ask, root: Path) -> None:
    ask("insert_before_symbol", file_path="shop.py", symbol_path="Book.price", code="@staticmethod\ndef rate():\n    return 7\n\n")
    ask("insert_after_symbol", file_path="shop.py", symbol_path="Book._title", code="\ndef pages(self):\n    return 9\n")
    found = text(root)
    assert "    # what it costs\n    @staticmethod\n    def rate():\n        return 7\n\n    @functools.cache\n" in found
    assert '        return "t"\n\n    def pages(self):\n        return 9\n\n\n# nobody' in found


def test_code_after_the_last_symbol_of_a_file_without_a_final_newline(ask: Ask, root: Path) -> None:
    (root / "shop.py").write_text(PYTHON.rstrip("\n"))
    ask("insert_after_symbol", file_path="shop.py", symbol_path="main", code="\n\nend = 1\n")
    assert text(root).endswith("Book().price()\n\n\nend = 1")


def test_without_apply_nothing_is_written(ask: Ask, root: Path) -> None:
    done = ask("insert_before_symbol", file_path="shop.py", symbol_path="main", code="x = 1\n\n\n", apply=False)
    assert "+x = 1" in done.result.files[0].diff
    assert (done.result.applied, text(root)) == (False, PYTHON)


# ---- removed


def test_what_nothing_refers_to_goes_with_its_comments_and_blank_lines(ask: Ask, root: Path) -> None:
    done = ask("safe_delete_symbol", file_path="shop.py", symbol_path="_alone")
    assert done.completeness.status == "complete"
    assert text(root) == PYTHON.replace("# nobody calls this\ndef _alone():\n    return Book\n\n\n", "")


def test_what_is_used_stays_and_the_uses_are_named(ask: Ask, root: Path) -> None:
    for symbol, why in (("_used", r"1 reference found: shop\.py:\d+:\d+  return _used\(\)"), ("Book", "reference"), ("Base", "reference")):
        with pytest.raises(EditRefused, match=why):
            ask("safe_delete_symbol", file_path="shop.py", symbol_path=symbol)
    assert text(root) == PYTHON


def test_what_the_language_calls_without_naming_it_stays(root: Path) -> None:
    members = "    def __enter__(self):\n        return self\n\n    def __exit__(self, *_):\n        pass\n"
    text_of = f"class _Held:\n{members}\n\nwith _Held():\n    pass\n"
    write_tree(root, {"held.py": text_of})
    crawl_with_ty(root)
    for symbol in ("_Held.__enter__", "_Held.__exit__"):
        with pytest.raises(EditRefused, match=r"1 reference found: held\.py"):
            Service(root).ask("safe_delete_symbol", {"file_path": "held.py", "symbol_path": symbol, "apply": True})
    assert (root / "held.py").read_text() == text_of


def test_what_a_string_or_a_protocol_may_lead_to_stays(root: Path) -> None:
    files = {
        "area.py": "from typing import Protocol\n\n\nclass _Shape(Protocol):\n    def area(self) -> int: ...\n\n\n"
        "class _Square:\n    def area(self) -> int:\n        return 1\n\n    def _side(self) -> int:\n        return 1\n\n\n"
        "def total(shape: _Shape) -> int:\n    return shape.area()\n\n\n"
        "print(total(_Square()))\n\n\ndef _patched() -> int:\n    return 2\n",
        "use_area.py": "from unittest import mock\n\nwith mock.patch('area._patched', return_value=1):\n    pass\n",
    }
    write_tree(root, files)
    crawl_with_ty(root)
    service = Service(root)
    for symbol, why in (("_Square.area", "structural"), ("_patched", "1 reference found: use_area.py")):
        with pytest.raises(EditRefused, match=why):
            service.ask("safe_delete_symbol", {"file_path": "area.py", "symbol_path": symbol, "apply": True})
    assert (root / "area.py").read_text() == files["area.py"]
    assert service.ask("safe_delete_symbol", {"file_path": "area.py", "symbol_path": "_Square._side"}).completeness.status == "complete"
    service.close()


def test_a_member_that_overrides_another_stays(ask: Ask, root: Path) -> None:
    with pytest.raises(EditRefused, match=r"overrides|reference"):
        ask("safe_delete_symbol", file_path="shop.py", symbol_path="Base.price")
    assert text(root) == PYTHON


def test_nothing_is_removed_that_is_not_known_as_it_is_now(ask: Ask, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise Locked("somebody is at it")

    monkeypatch.setattr("query.surface.service.recrawl", busy)
    changed = PYTHON + "\n\n_alone()\n"
    (root / "shop.py").write_text(changed)
    with pytest.raises(EditRefused, match="has changed since the index was made"):
        ask("safe_delete_symbol", file_path="shop.py", symbol_path="_alone")
    (root / "shop.py").write_text(PYTHON)
    (root / "new.py").write_text("from shop import _alone\n")
    with pytest.raises(EditRefused, match="not everything that may refer to it is known"):
        ask("safe_delete_symbol", file_path="shop.py", symbol_path="_alone")
    monkeypatch.undo()
    with pytest.raises(EditRefused, match="1 reference found"):  # of the file that has come, once it is read
        ask("safe_delete_symbol", file_path="shop.py", symbol_path="_alone")
    assert text(root) == PYTHON


def test_an_identifier_that_nobody_could_resolve_keeps_it(ask: Ask, root: Path) -> None:
    (root / "other.py").write_text("def f(x):\n    return x._title()\n")
    crawl_with_ty(root)
    with pytest.raises(EditRefused, match="could not be resolved"):
        ask("safe_delete_symbol", file_path="shop.py", symbol_path="Book._title")


def test_the_last_member_of_a_class_leaves_a_class_that_can_be_read(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", {"shop.py": "class _A:\n    def _b(self):\n        return 1\n\n\nprint(_A)\n"})
    crawl_with_ty(root)
    service = Service(root)
    try:
        service.ask("safe_delete_symbol", {"file_path": "shop.py", "symbol_path": "_A._b", "apply": True})
    finally:
        service.close()
    assert text(root) == "class _A:\n    pass\n\n\nprint(_A)\n"


def test_without_an_index_nothing_is_removed(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", {"shop.py": PYTHON})
    service = Service(root)
    try:
        with pytest.raises(NoIndex):
            service.ask("safe_delete_symbol", {"file_path": "shop.py", "symbol_path": "_alone"})
        service.ask(
            "replace_symbol_body", {"file_path": "shop.py", "symbol_path": "_used", "new_body": "def _used():\n    return 4", "apply": True}
        )
    finally:
        service.close()
    assert text(root) == PYTHON.replace("return 3", "return 4")


# ---- other languages

EDITS: list[tuple[str, str, str, dict[str, str], str, str]] = [
    ("typescript", "a.ts", "replace_symbol_body", {"symbol_path": "free", "new_body": "export function free(): void {}"},
     "export function free(a: string): A {\n  return new A();\n}", "export function free(): void {}"),
    ("typescript", "a.ts", "insert_after_symbol", {"symbol_path": "A.one", "code": "\nthree(): number {\n  return 3;\n}\n"},
     "    return 1;\n  }\n", "    return 1;\n  }\n\n  three(): number {\n    return 3;\n  }\n"),
    ("typescript", "a.ts", "safe_delete_symbol", {"symbol_path": "alone"}, "/** Nobody. */\nfunction alone(): void {}\n\n", ""),
    ("go", "a.go", "replace_symbol_body", {"symbol_path": "Add", "new_body": "func Add(a, b int) int {\n\treturn b + a\n}"},
     "a + b", "b + a"),
    ("go", "a.go", "insert_before_symbol", {"symbol_path": "Add", "code": "// Deprecated: no."},
     "func Add", "// Deprecated: no.\nfunc Add"),
    ("go", "a.go", "safe_delete_symbol", {"symbol_path": "alone"}, "// alone is not called.\nfunc alone() int { return 1 }\n\n", ""),
    ("rust", "src/lib.rs", "replace_symbol_body", {"symbol_path": "A.one", "new_body": "pub fn one(&self) -> i32 {\n    2\n}"},
     "        1\n", "        2\n"),
    ("rust", "src/lib.rs", "insert_after_symbol", {"symbol_path": "free", "code": "\npub fn more() {}"},
     "    A.one()\n}\n", "    A.one()\n}\n\npub fn more() {}\n"),
    ("cpp", "a.cc", "replace_symbol_body", {"symbol_path": "free", "new_body": "int free() { return 2; }"},
     "return A().one();", "return 2;"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "path", "tool", "arguments", "before", "after"), EDITS, ids=[f"{row[0]} {row[2]}" for row in EDITS])
def test_other_languages(language: str, path: str, tool: str, arguments: dict[str, str], before: str, after: str, tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", FILES[language])
    if tool == "safe_delete_symbol":
        requires(SERVERS[language])
        crawl(root, Config(jobs=1), Watcher(), environment={})
    service = Service(root)
    try:
        service.ask(tool, {"file_path": path, **arguments, "apply": True})
    finally:
        service.close()
    content = FILES[language][path]
    assert content.count(before) == 1
    assert (root / path).read_text() == content.replace(before, after)


def test_a_language_that_only_a_server_knows_is_edited_by_its_outline(tmp_path: Path) -> None:
    """Of a language without a syntax of ours the outline is a server's; without one that is said."""
    root = write_tree(tmp_path / "shop", {"a.lua": "function one()\n  return 1\nend\n"})
    service = Service(root)
    try:
        with pytest.raises((EditRefused, UsageError)) as refused:
            service.ask("replace_symbol_body", {"file_path": "a.lua", "symbol_path": "one", "new_body": "x"})
    finally:
        service.close()
    assert "lua" in str(refused.value)
