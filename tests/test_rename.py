"""Renaming on real servers: the whole way over MCP on a real package, five languages, and what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from query_support import lspidx
from support import CORPORA, Watcher, crawl_with_ty, write_tree
from test_mcp import connected, data, run, text
from toolchains import PYPI, requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import EditRefused, EditsOff, UsageError
from query.answers.style import Style
from query.refactor.outcome import Edited, EditedFile, lines
from query.surface.render import to_text
from query.surface.service import Service

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop/__init__.py": "from .money import total as total\n\n__all__ = ['total']\n",
    "shop/money.py": (
        "class Base:\n    def price(self) -> int:\n        return 1\n\n\n"
        "class Book(Base):\n    def price(self) -> int:\n        return 2\n\n\n"
        "def total(items: list[Base]) -> int:\n    return sum(item.price() for item in items)\n\n\ndef other() -> int:\n    return 3\n"
    ),
    "shop/use.py": "from shop import total\nfrom shop.money import Book\n\n\ndef bill() -> int:\n    return total([Book()])\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "shop", FILES)
    crawl_with_ty(root)
    return root


@pytest.fixture
def service(shop: Path) -> Iterator[Service]:
    made = Service(shop)
    yield made
    made.close()


def texts(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.py"))}


def renamed(before: dict[str, str], old: str, new: str) -> dict[str, str]:
    import re

    return {path: re.sub(rf"\b{old}\b", new, content) for path, content in before.items()}


# ---- the whole way, on a real package


@pytest.mark.slow
def test_an_agent_renames_a_class_of_click_and_its_own_tests_still_pass(tmp_path: Path) -> None:
    requires(PYPI)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "--dest", str(tmp_path), "click==8.2.1"]
    subprocess.run(command, check=True)
    subprocess.run(["tar", "-xzf", str(next(tmp_path.glob("click-*.tar.gz")))], cwd=tmp_path, check=True)
    root = tmp_path / "click-8.2.1"
    crawl_with_ty(root)
    environment = root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    subprocess.run([str(environment / "bin/python"), "-m", "pip", "install", "-q", "pytest==8.4.2", "-e", str(root)], check=True)
    before = texts(root / "src") | texts(root / "tests")
    # Without those of pagers and signals, which wait, and fail now and then with either name.
    modules = sorted(
        path.name for path in (root / "tests").glob("test_*.py") if not {"termui", "stream", "utils"} & {*path.stem.split("_")}
    )
    tests = {"selectors": [f"tests/{name}" for name in modules]}

    async def scenario() -> None:
        async with connected(root, "--allow-edits", "--budget", "40000") as client:
            shown = data(await client.call_tool("rename_symbol", {"symbol": "click.testing.CliRunner", "new_name": "Runner"}))
            assert shown["provenance"]["source"] == "live"
            assert not shown["result"]["edited"]["applied"]
            assert texts(root / "src") | texts(root / "tests") == before
            first = data(await client.call_tool("run_tests", tests))["result"]
            asked = {"symbol": "click.testing.CliRunner", "new_name": "Runner", "apply": True, "sites": "both"}
            done = data(await client.call_tool("rename_symbol", asked))
            assert done["result"]["edited"]["applied"]
            assert done["result"]["edited"]["edits"] > 20
            tested = data(await client.call_tool("run_tests", tests))["result"]
            assert tested["counts"]["passed"] > 500
            assert sum(tested["counts"].values()) == sum(first["counts"].values())
            assert {item["test_name"] for item in tested["failures"]} <= {item["test_name"] for item in first["failures"]}

    run(scenario)
    assert "class Runner:" in (root / "src/click/testing.py").read_text()
    assert not any("CliRunner(" in content for path, content in texts(root / "tests").items())


def test_over_mcp_nothing_is_written_unless_the_server_was_started_so(shop: Path) -> None:
    before = texts(shop)

    async def scenario() -> None:
        async with connected(shop) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            assert not listed & {"safe_apply_edit", "apply_edit"}
            refused = await client.call_tool("rename_symbol", {"symbol": "shop.money.other", "new_name": "more", "apply": True})
            assert refused.is_error
            assert "--allow-edits" in text(refused)
            shown = data(await client.call_tool("rename_symbol", {"symbol": "shop.money.other", "new_name": "more"}))
            assert shown["result"]["edited"]["edits"] == 1

    run(scenario)
    assert texts(shop) == before


# ---- what is shown, written, refused


def test_a_preview_is_an_edit_that_apply_edit_takes_until_a_file_changes(service: Service, shop: Path) -> None:
    before = texts(shop)
    shown = service.ask("rename_symbol", {"symbol": "shop.money.other", "new_name": "more"}).result
    assert texts(shop) == before
    assert shown.workspace_edit["lspidxDigests"]
    path = shop / "shop/money.py"
    path.write_text("# new\n" + path.read_text())
    with pytest.raises(EditRefused, match="has changed since"):
        service.ask("apply_edit", {"workspace_edit": shown.workspace_edit, "apply": True})
    path.write_text(before["shop/money.py"])
    assert service.ask("apply_edit", {"workspace_edit": shown.workspace_edit, "apply": True}).result.applied
    assert texts(shop) == renamed(before, "other", "more")


def test_uses_that_only_the_index_knows_are_shown_and_renamed_on_request(service: Service, shop: Path) -> None:
    """ty stops at `total as total`; the index does not."""
    before = texts(shop)
    shown = service.ask("rename_symbol", {"symbol": "shop.money.total", "new_name": "amount"})
    only = {(place.path, place.line) for place in shown.result.only_index}
    assert ("shop/use.py", 1) in only
    assert shown.result.only_index_total == len(shown.result.only_index)
    assert shown.completeness.status == "partial"
    assert "index_knows_more" in {reason.code for reason in shown.completeness.reasons}
    assert shown.result.edited.needs == [{"sites": "both", "plan": ""}, {"sites": "server"}], "both writes more than was shown"
    with pytest.raises(EditRefused, match="sites=both"):
        service.ask("rename_symbol", {"symbol": "shop.money.total", "new_name": "amount", "apply": True})
    assert texts(shop) == before
    service.ask("rename_symbol", {"symbol": "shop.money.total", "new_name": "amount", "apply": True, "sites": "both"})
    assert texts(shop) == renamed(before, "total", "amount")


def test_members_that_override_it_keep_no_old_name(service: Service, shop: Path) -> None:
    before = texts(shop)
    shown = service.ask("rename_symbol", {"symbol": "shop.money.Base.price", "new_name": "cost"}).result
    with_book = {record.qualified_name for record in shown.overrides} | {place.line for place in shown.only_server}
    assert with_book, "ty renames the override too, or we say that it stays"
    if shown.overrides:
        told = to_text(service.ask("rename_symbol", {"symbol": "shop.money.Base.price", "new_name": "cost"}), Style(compact=True))
        assert "keep their names, though calls may reach them; sites=both renames them too:" in told
    service.ask("rename_symbol", {"symbol": "shop.money.Base.price", "new_name": "cost", "apply": True, "sites": "both"})
    assert texts(shop) == renamed(before, "price", "cost")


def test_an_agent_sees_the_lines_that_change_and_how_to_write_them(service: Service, shop: Path) -> None:
    answer = service.ask("rename_symbol", {"symbol": "shop.money.Base.price", "new_name": "cost", "sites": "both"})
    told = to_text(answer, Style(compact=True))
    plan = answer.result.edited.plan
    assert f'not written; to write it, the same call with "apply": true, "plan": "{plan}": ' in told
    assert "only the index knows" not in told, "what is renamed is in the edit"
    found = [match.groups() for line in told.split("\n") if (match := re.fullmatch(r"  (\d+) ([-+])(.*)", line))]
    gone = [(int(number), rest) for number, mark, rest in found if mark == "-"]
    for number, rest in gone:
        assert rest in {(text.split("\n") + [""] * number)[number - 1] for text in texts(shop).values()}
    assert len(gone) == answer.result.edited.removed
    assert len(found) - len(gone) == answer.result.edited.added
    assert "@@" not in told
    assert "1 file, +3 -3, shown and not written · " in told


def test_a_diff_that_goes_on_in_the_middle_has_no_numbers_until_its_next_head() -> None:
    whole = "--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@\n a\n-b\n+c\n d\n@@ -20,2 +20,3 @@\n e\n+--- f\n-g"
    edited = [line.strip() for line in _compact(whole)]
    assert edited == ["4 -b", "4 +c", "21 +--- f", "21 -g"]
    assert [line.strip() for line in _compact("-b\n+c\n d\n@@ -20,2 +20,3 @@\n e\n+f\n…")] == ["-b", "+c", "d", "21 +f", "…"]


def _compact(diff: str) -> list[str]:
    file = EditedFile(path="x", status="changed", edits=1, added=1, removed=1, before_digest="", after_digest="", diff=diff)
    return list(lines(Edited(applied=False, added=1, removed=1, edits=1, files=[file]), Style(compact=True)))[2:]


def test_classes_that_set_a_renamed_variable_again_are_named_and_renamed_with_it(tmp_path: Path) -> None:
    """At any distance: what reads the variable of the class above finds that of the class below."""
    source = (
        "class A:\n    size = 1\n\n    def show(self) -> int:\n        return self.size\n\n\nclass Between(A):\n    pass\n\n\n"
        "class B(Between):\n    size = 2\n\n\nclass C(A):\n    @property\n    def size(self) -> int:\n        return 3\n\n\n"
        "class Other:\n    size = 4\n"
    )
    root = write_tree(tmp_path / "sizes", {"m.py": source})
    crawl_with_ty(root)
    service = Service(root)
    try:
        shown = service.ask("rename_symbol", {"symbol": "m.A.size", "new_name": "width"})
        assert {record.qualified_name for record in shown.result.overrides} == {"m.B.size", "m.C.size"}
        with pytest.raises(EditRefused, match="would keep their names"):
            service.ask("rename_symbol", {"symbol": "m.A.size", "new_name": "width", "apply": True})
        service.ask("rename_symbol", {"symbol": "m.A.size", "new_name": "width", "apply": True, "sites": "both"})
    finally:
        service.close()
    renamed_all, _, other = source.partition("class Other")
    assert (root / "m.py").read_text() == renamed_all.replace("size", "width") + "class Other" + other


VISITOR = """
class Node:
    pass


class Call(Node):
    pass


class Plain(Node):
    pass


class Visitor:
    def visit(self, node: Node) -> str:
        return getattr(self, f"visit_{type(node).__name__}")(node)

    def visit_Call(self, node: Call) -> str:
        return "call"


print(Visitor().visit(Call()))
"""


def test_a_class_by_whose_name_a_visitor_finds_a_method_is_not_renamed_without_consent(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "tree", {"m.py": VISITOR})
    crawl_with_ty(root)
    service = Service(root)
    try:
        with pytest.raises(EditRefused, match=r"'visit_Call' is found by a name that is made, perhaps of this one: m\.py:16"):
            service.ask("rename_symbol", {"symbol": "m.Call", "new_name": "Invocation", "apply": True})
        assert texts(root) == {"m.py": VISITOR}
        done = service.ask("rename_symbol", {"symbol": "m.Plain", "new_name": "Simple", "apply": True})
        assert done.completeness.status == "complete"
    finally:
        service.close()
    ran = subprocess.run([sys.executable, str(root / "m.py")], capture_output=True, text=True, check=True)
    assert ran.stdout == "call\n"


MAKER = """
class Context:
    def __init__(self) -> None:
        self.volatile_now = False

    def revert(self) -> str:
        'Undoes it; see Context.plain().'
        return "reverted"

    def plain(self) -> str:
        return "nothing"


EXPORTED = ["LoopContext"]


class LoopContext:
    pass


context = Context()
exec(f"print(context.revert(), {EXPORTED[0]}.__module__)")
exec("if context.volatile_now: pass")
"""


def test_names_in_the_text_of_programs_that_are_made_are_not_left_behind_without_consent(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "maker", {"m.py": MAKER})
    crawl_with_ty(root)
    service = Service(root)
    try:
        for symbol, line in (("m.Context.revert", 22), ("m.Context.volatile_now", 23), ("m.LoopContext", 14)):
            with pytest.raises(EditRefused, match=rf"a string has '\w+' as code has it, and stays as it is: m\.py:{line};"):
                service.ask("rename_symbol", {"symbol": symbol, "new_name": "another", "apply": True})
        assert texts(root) == {"m.py": MAKER}
        done = service.ask("rename_symbol", {"symbol": "m.Context.plain", "new_name": "simple", "apply": True})
        assert done.completeness.status == "complete"
    finally:
        service.close()


def test_a_strangers_index_chooses_no_place_to_write_to(service: Service, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it knows may be made up, and so may what it does not know: nothing is written but at the server's word alone."""
    before = texts(shop)
    monkeypatch.setattr(service.index(), "foreign", "it was not made by this user")
    shown = service.ask("rename_symbol", {"symbol": "shop.money.other", "new_name": "more"})
    assert (shown.completeness.status, shown.completeness.reasons[0].code) == ("unknown", "foreign_index")
    for sites in ("ask", "both"):
        with pytest.raises(EditRefused, match=r"stranger's.*sites=server"):
            service.ask("rename_symbol", {"symbol": "shop.money.other", "new_name": "more", "apply": True, "sites": sites})
    assert texts(shop) == before
    service.ask("rename_symbol", {"symbol": "shop.money.other", "new_name": "more", "apply": True, "sites": "server"})
    assert texts(shop) == renamed(before, "other", "more")


def test_a_name_that_is_taken_is_said_and_not_written(service: Service, shop: Path) -> None:
    before = texts(shop)
    assert [record.name for record in service.ask("rename_symbol", {"symbol": "shop.money.total", "new_name": "other"}).result.taken] == [
        "other"
    ]
    for sites in ("ask", "both"):
        with pytest.raises(EditRefused, match="something else there"):
            service.ask("rename_symbol", {"symbol": "shop.money.total", "new_name": "other", "apply": True, "sites": sites})
    assert texts(shop) == before


@pytest.mark.parametrize("name", ["1x", "a b", "class", "a.b", "x;import os", ""])
def test_what_is_no_name_never_reaches_a_server(service: Service, name: str) -> None:
    with pytest.raises(UsageError):
        service.ask("rename_symbol", {"symbol": "shop.money.total", "new_name": name})


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_moves_nothing(codec: str, tmp_path: Path) -> None:
    """The name stands on the first line, where a mark that is taken for a column would move it."""
    root = write_tree(tmp_path / "shop", {"b.py": "x = 1\n"})
    (root / "a.py").write_bytes("def old():\n    return 1\n\n\nold()\n".encode(codec))
    crawl_with_ty(root)
    service = Service(root)
    try:
        sites = "ask" if codec == "utf-8-sig" else "server"  # an index has no file in UTF-16
        arguments = {"file_path": "a.py", "line": 1, "column": 5, "new_name": "new", "apply": True, "sites": sites}
        done = service.ask("rename_symbol", arguments).result
    finally:
        service.close()
    assert (done.only_server, done.only_index) == ([], [])
    assert (root / "a.py").read_bytes() == "def new():\n    return 1\n\n\nnew()\n".encode(codec)


def test_files_can_be_left_alone(service: Service, shop: Path) -> None:
    before = texts(shop)
    done = service.ask(
        "rename_symbol",
        {"symbol": "shop.money.total", "new_name": "amount", "apply": True, "sites": "both", "exclude_globs": ["shop/use.py"]},
    ).result
    assert done.edited.excluded == ["shop/use.py"]
    assert texts(shop) == {**renamed(before, "total", "amount"), "shop/use.py": before["shop/use.py"]}


def test_a_file_that_has_changed_since_the_index_is_renamed_as_it_is_now(service: Service, shop: Path) -> None:
    path = shop / "shop/money.py"
    path.write_text("# one more line\n" + path.read_text())
    before = texts(shop)
    done = service.ask("rename_symbol", {"symbol": "shop.money.other", "new_name": "more", "apply": True})
    assert done.completeness.status == "complete"  # the index was brought up to date first
    assert texts(shop) == renamed(before, "other", "more")


def test_without_an_index_a_place_can_be_renamed_and_the_answer_says_what_was_not_checked(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "shop", FILES)
    before = texts(root)
    service = Service(root)
    try:
        with pytest.raises(EditRefused, match="there is no index to compare"):
            service.ask("rename_symbol", {"symbol": "shop/money.py:15:5", "new_name": "more", "apply": True})
        assert texts(root) == before
        done = service.ask("rename_symbol", {"symbol": "shop/money.py:15:5", "new_name": "more", "apply": True, "sites": "server"})
    finally:
        service.close()
    assert {reason.code for reason in done.completeness.reasons} == {"not_cross_checked"}
    assert texts(root) == renamed(before, "other", "more")


def test_a_service_without_edits_shows_and_does_not_write(shop: Path) -> None:
    service = Service(shop, edits=False)
    try:
        with pytest.raises(EditsOff):
            service.ask("rename_symbol", {"symbol": "shop.money.other", "new_name": "more", "apply": True})
        assert service.ask("rename_symbol", {"symbol": "shop.money.other", "new_name": "more"}).result.edited.edits == 1
    finally:
        service.close()


def test_what_cannot_be_renamed_is_refused_in_the_servers_words(service: Service) -> None:
    with pytest.raises((EditRefused, UsageError)):
        service.ask("rename_symbol", {"file_path": "shop/money.py", "line": 1, "column": 1, "new_name": "thing"})
    assert not service.ask("prepare_rename", {"file_path": "shop/money.py", "line": 1, "column": 1}).result.can_rename


def test_on_the_command_line_a_skill_keeps_the_order(shop: Path) -> None:
    lspidx("query", "activate_skill", "lsp-rename", "--mode", "block", cwd=shop)
    refused = lspidx("query", "apply_edit", "--file-path", "shop/money.py", "--old-text", "other", "--new-text", "more", cwd=shop)
    assert refused.returncode == 6
    assert "lsp-rename" in refused.stderr
    lspidx("query", "deactivate_skill", cwd=shop)


# ---- other languages

PLACES: dict[str, tuple[str, str, str, str]] = {
    "typescript": ("classes/shapes.ts", "export interface @@Shape", "Shape", "Form"),
    "go": ("interfaces/shapes.go", "func @@Total(", "Total", "Sum"),
    "cpp": ("headers/store.h", "class @@Store", "Store", "Shop"),
    "rust": ("traits/mod.rs", "pub trait @@Shape", "Shape", "Form"),
}


@pytest.mark.slow
@pytest.mark.parametrize("language", PLACES)
def test_other_languages_are_renamed_too_and_the_index_agrees(language: str, tmp_path: Path) -> None:
    root = shutil.copytree(CORPORA / language, tmp_path / language)
    crawl(root, Config(jobs=1), Watcher(), environment={})
    path, pattern, old, new = PLACES[language]
    service = Service(root)
    ask: dict[str, Any] = {"file_path": path, "position_pattern": pattern, "new_name": new}
    try:
        prepared = service.ask("prepare_rename", {"file_path": path, "position_pattern": pattern}).result
        assert prepared.can_rename
        assert prepared.placeholder == old
        done = service.ask("rename_symbol", {**ask, "apply": True, "sites": "both"})
    finally:
        service.close()
    assert done.provenance.source == "live"
    assert done.result.only_server == [], "what the server knows the index knows"
    found = subprocess.run(
        ["grep", "-rnw", "--exclude-dir=.lspidx", "--exclude-dir=target", old, str(root)], capture_output=True, text=True
    )
    left = [line for line in found.stdout.splitlines() if not any(mark in line for mark in ("//", "/*", '"'))]
    assert left == [], f"{old} is still used"


@pytest.mark.slow
def test_at_a_use_of_an_import_the_symbol_is_renamed_and_gets_no_alias(tmp_path: Path) -> None:
    """A server would write `import { price as cost }` there; a local name keeps its property, and a name that is an alias is its own."""
    root = write_tree(
        tmp_path / "kit",
        {
            "package.json": '{"name": "kit"}',
            "tsconfig.json": "{}",
            "core.ts": "export function price(size: number) { return size; }\n",
            "use.ts": "import { price } from './core';\nexport const total = price(1);\n",
            "more.ts": (
                "import { price as named } from './core';\nexport function f(given: { size: number }) { return named(given.size); }\n"
                "export function g() { const size = 1; return f({ size }); }\n"
            ),
        },
    )
    crawl(root, Config(jobs=1), Watcher(), environment={})
    service = Service(root)

    def renamed(path: str, pattern: str) -> tuple[str, dict[str, str]]:
        answer = service.ask("rename_symbol", {"file_path": path, "position_pattern": pattern, "new_name": "cost"})
        diffs = {item.path: item.diff for item in answer.result.edited.files}
        return answer.completeness.status, {path: diff for path, diff in diffs.items() if diff}

    try:
        status, diffs = renamed("use.ts", "total = @@price")
        assert (status, diffs.keys()) == ("complete", {"core.ts", "use.ts", "more.ts"})
        assert "+import { cost } from './core';" in diffs["use.ts"]
        assert "+import { cost as named }" in diffs["more.ts"]
        status, diffs = renamed("more.ts", "const @@size")
        assert (status, diffs.keys()) == ("complete", {"more.ts"})
        assert "f({ size: cost })" in diffs["more.ts"]
        _, diffs = renamed("more.ts", "return @@named")
        assert diffs.keys() == {"more.ts"}
    finally:
        service.close()
