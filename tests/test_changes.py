"""What a change does, on real git repositories that are really crawled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from change_support import commit, edit, git, look, named, selectors, what
from query_support import lspidx
from support import crawl_with_ty, write_tree

from indexer.errors import UsageError
from query.answers.style import Style
from query.changes import selection
from query.changes.diff import without_installed
from query.changes.review import Review
from query.facts.index import Index, open_index
from query.surface.registry import call
from query.surface.render import to_text

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_configuration")]

FILES = {
    ".gitignore": ".lspidx/\n",
    "shop/__init__.py": "",
    "shop/prices.py": '''"""Prices."""

RATE = 2


class Price:
    """What something costs."""

    def __init__(self, amount):
        self.amount = amount

    def gross(self):
        return self.amount * RATE

    def net(self):
        return self.amount


def parse(text):
    return Price(int(text))


def helper(text):
    return text.strip()


def unused():
    return 3
''',
    "shop/cart.py": """from shop.prices import helper, parse


def add(text):
    return parse(text).gross()


def show(text):
    return helper(text)
""",
    "app/__init__.py": "",
    "app/main.py": """from shop.cart import add
from shop.prices import parse


def run():
    return add("3")


def direct():
    return parse("4").net()
""",
    "tests/conftest.py": """import pytest

from shop.prices import Price


@pytest.fixture
def price():
    return Price(3)


@pytest.fixture(autouse=True)
def quiet():
    from shop.prices import unused

    unused()
    yield
""",
    "tests/test_cart.py": """import pytest

from shop.cart import add, show


def test_add():
    assert add("3")


@pytest.mark.parametrize("text", ["1", "2"])
def test_show(text):
    assert show(text)


class TestPrice:
    def test_net(self, price):
        assert price.net() == 3

    def test_other(self):
        assert True
""",
    "tests/test_unit.py": """import unittest

from shop.prices import parse


class Base(unittest.TestCase):
    def setUp(self):
        self.price = parse("3")

    def test_nothing(self):
        assert True


class Below(Base):
    def test_more(self):
        assert True
""",
}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One commit, indexed. Nobody writes to it: see `root`."""
    root = write_tree(tmp_path_factory.mktemp("changes") / "repo", FILES)
    git(root, "init", "-q")
    commit(root, "first")
    crawl_with_ty(root, jobs=1, python=sys.prefix)  # where pytest is
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "repo", symlinks=True)


def codes(found: Review) -> set[str]:
    return {reason.code for reason in found.completeness.reasons}


# ---- which symbols


def test_a_change_in_a_method_names_that_method_and_nothing_else(root: Path):
    edit(root, "shop/prices.py", ("self.amount * RATE", "self.amount + RATE"))
    found = look(root)
    assert what(found) == {"shop.prices.Price.gross": "body"}
    [item] = found.symbols
    assert (item.file, item.line, item.lines, item.kind) == ("shop/prices.py", 12, (1, 1), "method")
    assert found.totals.lines_added == found.totals.lines_removed == 1


def test_nothing_changed_is_an_empty_review(root: Path):
    found = look(root)
    assert (found.files, found.symbols, found.tests, found.level) == ([], [], [], "info")
    assert found.completeness.status == "complete"


def test_an_agent_is_not_told_again_and_again_what_the_only_changed_symbol_is(root: Path):
    edit(root, "shop/prices.py", ("self.amount * RATE", "self.amount + RATE"))
    with open_index(root) as index:
        answer = call(index, "detect_changes", {})
    [changed] = answer.result.changed_symbols
    wide, compact = to_text(answer, Style(color=False)), to_text(answer, Style(compact=True))
    assert f", via {changed.qualified_name}" in wide
    assert ", via " not in compact
    assert f"{changed.file}:{changed.line}" in compact
    assert changed.qualified_name not in compact


def test_unstaged_and_staged_are_different_questions(root: Path):
    edit(root, "shop/prices.py", ("self.amount * RATE", "self.amount + RATE"))
    git(root, "add", "-A")
    edit(root, "shop/prices.py", ("return text.strip()", "return text"))
    assert what(look(root)) == {"shop.prices.helper": "body"}
    assert what(look(root, scope="staged")) == {"shop.prices.Price.gross": "body"}
    both = {"shop.prices.helper": "body", "shop.prices.Price.gross": "body"}
    assert what(look(root, base="HEAD", head=".")) == what(look(root, scope="uncommitted")) == both


def test_lines_in_front_do_not_shift_what_is_named(root: Path):
    edit(root, "shop/prices.py", ('"""Prices."""\n', '"""Prices."""\n\n# a\n# b\n# c\n'), ("return text.strip()", "return text"))
    assert what(look(root)) == {"shop.prices": "docs", "shop.prices.helper": "body"}


def test_first_and_last_line_of_a_file_and_no_newline_at_its_end(root: Path):
    edit(root, "shop/prices.py", ('"""Prices."""', '"""What things cost."""'), ("    return 3\n", "    return 4"))
    assert what(look(root)) == {"shop.prices": "docs", "shop.prices.unused": "body"}


def test_only_the_newline_at_the_end_is_layout(root: Path):
    edit(root, "shop/prices.py", ("    return 3\n", "    return 3"))
    assert what(look(root)) == {"shop.prices.unused": "docs"}


def test_carriage_returns_are_layout(root: Path):
    text = (root / "shop/cart.py").read_bytes()
    (root / "shop/cart.py").write_bytes(text.replace(b"\n", b"\r\n"))
    assert set(what(look(root)).values()) == {"docs"}
    (root / "shop/cart.py").write_bytes(text.replace(b"helper(text)", b"helper(text + '')").replace(b"\n", b"\r\n"))
    assert what(look(root))["shop.cart.show"] == "body"


def test_untracked_files_are_new_and_ignored_ones_are_not(root: Path):
    write_tree(
        root, {"shop/new.py": "def fresh():\n    return 1\n", "tests/test_new.py": "def test_x():\n    pass\n", "out.lspidx/x.py": ""}
    )
    (root / ".gitignore").write_text(".lspidx/\nout.lspidx/\n")
    commit(root, "ignore")
    write_tree(root, {"shop/other.py": "def other():\n    return 1\n"})
    assert what(look(root)) == {"shop.other": "added", "shop.other.other": "added"}
    found = look(root, base="HEAD~1")
    assert named(found, "new.fresh").what == "added"
    assert named(found, "test_x").is_test
    assert not [item for item in found.files if item.path.startswith("out")]


def test_what_a_tool_has_installed_is_no_change_and_is_said(root: Path):
    write_tree(
        root,
        {
            "env/pyvenv.cfg": "home = /usr\n", "env/lib/python3.11/x.py": "def x(): ...\n", "web/node_modules/a/i.js": "a = 1\n",
            "shop/other.py": "def other():\n    return 1\n",
        },
    )  # fmt: skip
    assert what(look(root)) == {"shop.other": "added", "shop.other.other": "added"}
    assert without_installed(root, "unstaged") == ["not compared: what was installed into env, web/node_modules, which no .gitignore names"]
    assert without_installed(root, "HEAD~1..HEAD") == []
    (root / "env/pyvenv.cfg").unlink()
    assert "env/lib/python3.11/x.py" in {item.path for item in look(root).files}


def test_a_deleted_file_takes_its_symbols_with_it(root: Path):
    (root / "shop/cart.py").unlink()
    found = look(root)
    assert what(found) == {"shop.cart": "removed", "shop.cart.add": "removed", "shop.cart.show": "removed"}
    assert named(found, "cart.add").level == "critical"
    assert {site.caller for site in named(found, "cart.add").affected if not site.is_test} >= {"app.main.run"}


@pytest.mark.parametrize("name", ["größe ü.py", 'quo"te.py', "new\nline.py", "tab\there.py", "日本/語😀.py", "-dash.py", ":(top)x.py"])
def test_names_of_files_are_taken_as_they_are(root: Path, name: str):
    write_tree(root, {name: "def here():\n    return 1\n"})
    untracked = look(root)
    assert [item.path for item in untracked.files] == [name]
    commit(root)
    write_tree(root, {name: "def here():\n    return 2\n"})
    found = look(root)
    assert [(item.file, item.what) for item in found.symbols] == [(name, "body")]


def test_modes_links_and_binaries_have_no_symbols_and_do_not_disturb(root: Path):
    (root / "logo.py").write_bytes(b"\0\1\2")
    (root / "shop/cart.py").chmod(0o755)
    (root / "link.py").symlink_to("shop/cart.py")
    edit(root, "shop/prices.py", ("return text.strip()", "return text"))
    commit(root)
    found = look(root, scope="committed")
    assert {item.path: item.special for item in found.files} == {
        "logo.py": "binary", "link.py": "symlink", "shop/cart.py": "", "shop/prices.py": "",
    }  # fmt: skip
    assert what(found) == {"shop.prices.helper": "body"}
    assert "not_read" in codes(found)  # logo.py claims to be Python


def test_a_file_that_becomes_a_link_loses_its_symbols(root: Path):
    (root / "shop/cart.py").unlink()
    (root / "shop/cart.py").symlink_to("prices.py")
    commit(root)
    assert [item.special for item in look(root, scope="committed").files] == ["symlink"]


def test_a_submodule_is_told_and_not_read(root: Path, tmp_path: Path):
    other = write_tree(tmp_path / "other", {"lib.py": "def inner():\n    return 1\n"})
    git(other, "init", "-q")
    commit(other)
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "lib")
    commit(root)
    found = look(root, scope="committed")
    assert {item.path: item.special for item in found.files}["lib"] == "submodule"
    assert found.symbols == []


def test_a_workspace_below_the_root_of_git_sees_its_own_files(tmp_path: Path):
    top = write_tree(tmp_path / "top", {"pkg/a.py": "def f():\n    return 1\n", "other/b.py": "def g():\n    return 1\n"})
    git(top, "init", "-q")
    commit(top)
    crawl_with_ty(top / "pkg", jobs=1)
    write_tree(top, {"pkg/a.py": "def f():\n    return 2\n", "other/b.py": "def g():\n    return 2\n", "pkg/new.py": "def h(): ...\n"})
    found = look(top / "pkg")
    assert {(item.file, item.what) for item in found.symbols} == {("a.py", "body"), ("new.py", "added")}
    assert {item.new_read for item in found.files if item.path == "a.py"} == {"text"}
    commit(top)
    assert [item.path for item in look(top / "pkg", scope="committed").files] == ["a.py", "new.py"]


# ---- which two trees


def test_ranges_and_single_commits(root: Path):
    first = git(root, "rev-parse", "HEAD")
    git(root, "switch", "-q", "-c", "side")
    edit(root, "shop/prices.py", ("return text.strip()", "return text"))
    commit(root)
    edit(root, "shop/prices.py", ("return 3", "return 4"))
    commit(root)
    git(root, "switch", "-q", "main")
    edit(root, "shop/cart.py", ("return helper(text)", "return helper(text + 'x')"))
    commit(root)
    both = {"shop.prices.helper": "body", "shop.prices.unused": "body"}
    assert what(look(root, scope="committed", range_="main...side")) == both
    assert what(look(root, base="main", head="side")) == both
    assert what(look(root, scope="committed", range_="main..side")) == {**both, "shop.cart.show": "body"}
    assert what(look(root, scope="committed", range_="side")) == {"shop.prices.unused": "body"}
    assert what(look(root, scope="committed", range_="..side")) == {**both, "shop.cart.show": "body"}
    assert what(look(root, scope="committed")) == {"shop.cart.show": "body"}
    git(root, "merge", "-q", "--no-edit", "side")
    assert what(look(root, scope="committed")) == both  # a merge against its first parent
    git(root, "checkout", "-q", "--detach", "side")
    assert what(look(root, scope="committed", range_=f"{first}..HEAD")) == both


def test_the_first_commit_is_all_new(root: Path):
    found = look(root, scope="committed")
    assert set(what(found).values()) == {"added"}
    assert found.totals.files == len(FILES)


def test_staged_before_the_first_commit(made: Path, tmp_path: Path):
    root = shutil.copytree(made, tmp_path / "fresh", ignore=shutil.ignore_patterns(".git"))
    git(root, "init", "-q")
    git(root, "add", "-A")
    assert set(what(look(root, scope="staged")).values()) == {"added"}


@pytest.mark.parametrize("name", ["-1", "--output=x", "no such", "HEAD~99", "a\0b", ""])
def test_names_that_are_no_commit_are_refused(root: Path, name: str):
    with pytest.raises(UsageError):
        look(root, base=name, head="HEAD") if name else look(root, head="HEAD")
    assert not (root / "x").exists()


def test_without_a_repository_it_is_said_so(made: Path, tmp_path: Path):
    root = shutil.copytree(made, tmp_path / "plain", ignore=shutil.ignore_patterns(".git"))
    for asked in ({}, {"scope": "staged"}, {"scope": "committed"}):
        with pytest.raises(UsageError, match="not in a git work tree"):
            look(root, **asked)


def test_a_shallow_clone_says_what_to_fetch(root: Path, tmp_path: Path):
    edit(root, "shop/prices.py", ("return 3", "return 4"))
    commit(root)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{root}", str(shallow))
    shutil.copytree(root / ".lspidx", shallow / ".lspidx")
    with pytest.raises(UsageError, match="shallow"):
        look(shallow, scope="committed")


def test_histories_without_a_common_commit_are_refused(root: Path):
    git(root, "switch", "-q", "--orphan", "other")
    commit(root, "other")
    with pytest.raises(UsageError, match="no merge base"):
        look(root, base="main")


def test_a_conflict_is_told_and_the_rest_is_compared(root: Path):
    git(root, "switch", "-q", "-c", "side")
    edit(root, "shop/prices.py", ("return 3", "return 4"))
    commit(root)
    git(root, "switch", "-q", "main")
    edit(root, "shop/prices.py", ("return 3", "return 5"))
    commit(root)
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@x", "merge", "-q", "side"], cwd=root, capture_output=True, check=False)
    edit(root, "shop/cart.py", ("return helper(text)", "return helper(text + 'x')"))
    for asked in ({}, {"base": "HEAD", "head": "."}):
        found = look(root, **asked)
        assert {item.path: item.special for item in found.files} == {"shop/prices.py": "conflict", "shop/cart.py": ""}
        assert what(found) == {"shop.cart.show": "body"}
        assert "not_read" in codes(found)


@pytest.mark.parametrize("staged", [False, True])
def test_a_file_whose_name_is_not_utf8_is_told_and_the_rest_is_compared(root: Path, staged: bool):
    """No index holds it, no statement takes its name, no JSON has it."""
    with open(os.fsencode(root) + b"/shop/n\xffm.py", "wb") as file:
        file.write(b"def late(): ...\n")
    edit(root, "shop/cart.py", ("return helper(text)", "return helper(text + 'x')"))
    if staged:
        git(root, "add", "-A")
    found = look(root, scope="staged" if staged else "unstaged")
    assert {item.path: item.special for item in found.files} == {"shop/n\ufffdm.py": "name", "shop/cart.py": ""}
    assert what(found) == {"shop.cart.show": "body"}
    assert "not_read" in codes(found)
    assert msgspec.json.encode([found.files, found.symbols, found.tests, found.completeness])


@pytest.mark.parametrize(
    "setting", ["diff.interHunkContext=20", "diff.renames=false", "diff.noprefix=true", "diff.external=false", "diff.mnemonicPrefix=true",
                "color.ui=always", "diff.context=9", "diff.relative=false", "diff.submodule=log", "diff.orderFile=/dev/null"]
)  # fmt: skip
def test_no_setting_of_the_user_changes_what_is_read(root: Path, setting: str, monkeypatch: pytest.MonkeyPatch):
    git(root, "config", *setting.split("=", 1))
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=9")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    edit(root, "shop/prices.py", ("self.amount * RATE", "self.amount + RATE"), ("    return self.amount\n", "    return -self.amount\n"))
    assert what(look(root)) == {"shop.prices.Price.gross": "body", "shop.prices.Price.net": "body"}


def test_text_that_looks_like_a_diff_does_not_disturb(root: Path):
    write_tree(root, {"shop/patch.py": 'TEXT = """\n"""\n', "shop/zz.py": "def z():\n    return 1\n"})
    commit(root)
    write_tree(root, {
        "shop/patch.py": 'TEXT = """\ndiff --git a/q b/q\n@@ -1,9 +1,9 @@\nBinary files a and b differ\n\\ No newline\n-- a\n++ b\n"""\n',
        "shop/zz.py": "def z():\n    return 2\n",
    })  # fmt: skip
    assert what(look(root)) == {"shop.patch.TEXT": "body", "shop.zz.z": "body"}


# ---- names and places


def test_a_renamed_file_that_is_edited_moves_its_module(root: Path):
    git(root, "mv", "shop/prices.py", "shop/costs.py")
    edit(root, "shop/costs.py", ("self.amount * RATE", "self.amount + RATE"))
    git(root, "add", "-A")
    found = look(root, scope="staged")
    names = what(found)
    assert names["shop.costs"] == "moved"
    assert names["shop.costs.Price.gross"] == "body"
    assert names["shop.costs.parse"] == "moved"
    assert "shop.costs.Price.net" not in names
    module = named(found, "shop.costs")
    assert (module.old_file, module.file) == ("shop/prices.py", "shop/costs.py")
    assert {site.path for site in module.affected if not site.updated} >= {"shop/cart.py", "app/main.py"}
    assert named(found, "costs.parse").stale_sites > 0


def _left_alone(found: Review, name: str) -> set[tuple[str, str]]:
    """Who uses a symbol as it was, and where, as far as that is told of as left alone."""
    return {(site.path, site.relation) for site in named(found, name).stale()}


def test_uses_in_a_file_that_was_moved_go_with_it(root: Path):
    git(root, "mv", "shop/prices.py", "shop/costs.py")
    found = look(root, scope="uncommitted")
    assert named(found, "costs.Price").what == "moved"
    assert ("shop/prices.py", "call") not in _left_alone(found, "costs.Price"), "parse calls it, and is where it is"
    assert ("shop/cart.py", "call") in _left_alone(found, "costs.parse")


def test_uses_behind_an_import_that_leads_to_the_new_place_are_not_left_alone(root: Path):
    git(root, "mv", "shop/prices.py", "shop/costs.py")
    edit(root, "shop/cart.py", ("from shop.prices import helper, parse", "from shop.costs import helper, parse"))
    left = _left_alone(look(root, scope="uncommitted"), "costs.parse")
    assert ("shop/cart.py", "call") not in left
    assert ("app/main.py", "call") in left
    edit(root, "app/main.py", ("from shop.prices import parse", "from shop.elsewhere import parse"))
    assert ("app/main.py", "call") in _left_alone(look(root, scope="uncommitted"), "costs.parse"), "it leads elsewhere"


def test_a_definition_that_was_moved_with_its_imports_leaves_nobody_behind(root: Path):
    edit(root, "shop/prices.py", ("def helper(text):\n    return text.strip()\n\n\n", ""))
    (root / "shop/texts.py").write_text("def helper(text):\n    return text.strip()\n", encoding="utf-8")
    edit(root, "shop/cart.py", ("from shop.prices import helper, parse", "from shop.prices import parse\nfrom shop.texts import helper"))
    item = named(look(root), "texts.helper")
    assert (item.what, item.stale_sites) == ("moved", 0)
    assert "removed_in_use" not in item.reasons


def test_a_renamed_function_is_one_and_its_callers_are_those_of_the_old_name(root: Path):
    edit(root, "shop/prices.py", ("def helper(text):\n    return text.strip()", "def clean_up(text):\n    return text.strip()"))
    found = look(root)
    [item] = found.symbols
    if item.what == "renamed":
        assert (item.old_name, item.name) == ("helper", "clean_up")
    stale = [site for symbol in found.symbols for site in symbol.affected if not site.updated]
    assert {(site.path, site.caller) for site in stale if site.relation == "call"} == {("shop/cart.py", "shop.cart.show")}


# ---- who is affected


def remove_helper(root: Path) -> None:
    edit(root, "shop/prices.py", ("def helper(text):\n    return text.strip()\n\n\n", ""))


def test_callers_of_what_is_deleted_are_found_in_the_index_of_before(root: Path):
    remove_helper(root)
    found = look(root)
    item = named(found, "prices.helper")
    assert (item.what, item.level, item.risk) == ("removed", "critical", "medium")
    assert [(site.caller, site.line, site.updated) for site in item.affected if site.relation == "call"] == [("shop.cart.show", 9, False)]
    assert "tests/test_cart.py::test_show" in [test.selector for test in found.tests]
    assert found.base == "index"


def test_a_caller_that_the_change_touches_is_updated(root: Path):
    remove_helper(root)
    edit(root, "shop/cart.py", ("from shop.prices import helper, parse", "from shop.prices import parse"), ("helper(text)", "text"))
    item = named(look(root), "prices.helper")
    assert item.stale_sites == 0
    assert "removed_in_use" not in item.reasons
    assert all(site.updated for site in item.affected if not site.is_test)


def test_a_caller_in_a_deleted_file_needs_no_update(root: Path):
    remove_helper(root)
    (root / "shop/cart.py").unlink()
    assert named(look(root), "prices.helper").stale_sites == 0


def test_a_caller_in_another_function_of_a_touched_file_is_not_updated(root: Path):
    edit(root, "shop/prices.py", ("def parse(text):", "def parse(text, base):"))
    edit(root, "shop/cart.py", ("return helper(text)", "return helper(text + 'x')"))
    item = named(look(root), "prices.parse")
    calls = {site.caller: site.updated for site in item.affected if site.relation == "call" and not site.is_test}
    assert calls == {"shop.cart.add": False, "app.main.direct": False}
    assert "callers_not_updated" in item.reasons
    edit(root, "shop/cart.py", ("return parse(text).gross()", "return parse(text, 10).gross()"))
    item = named(look(root), "prices.parse")
    calls = {site.caller: site.updated for site in item.affected if site.relation == "call" and not site.is_test}
    assert calls == {"shop.cart.add": True, "app.main.direct": False}


def test_a_compatible_declaration_leaves_nobody_behind(root: Path):
    edit(root, "shop/prices.py", ("def parse(text):", "def parse(text, base=10):"))
    item = named(look(root), "prices.parse")
    assert (item.what, item.stale_sites) == ("signature", 0)
    assert "compatible" in item.reasons


def test_the_ladder_is_that_of_blast_radius(root: Path):
    edit(root, "shop/prices.py", ("self.amount * RATE", "self.amount + RATE"), ("int(text)", "int(text, 10)"), ("text.strip()", "text"),
         ("return 3", "return 5"), ("RATE = 2", "RATE = 3"), ("    return self.amount\n", "    return +self.amount\n"))  # fmt: skip
    found = look(root)
    assert len(found.symbols) == 6
    with open_index(root) as index:
        for item in found.symbols:
            answer = call(index, "blast_radius", {"symbols": [item.symbol], "scope": "all"}).result
            [same] = [row for row in answer.changed_symbols if row.symbol == item.symbol]
            assert same.risk == item.risk, item.name
    assert named(found, "prices.parse").risk == "high"


# ---- what is not known


def test_an_index_of_the_new_side_only_says_that_callers_of_what_is_gone_are_unknown_until_a_base_is_made(root: Path):
    (root / "far").symlink_to("/nowhere/at/all")  # a base is made without it
    commit(root)
    remove_helper(root)
    commit(root)
    shutil.rmtree(root / ".lspidx")
    crawl_with_ty(root, jobs=1)
    found = look(root, scope="committed")
    item = named(found, "prices.helper")
    assert (found.base, item.risk) == ("text", "unknown")
    assert item.level not in ("low", "info")
    assert "base_not_indexed" in codes(found)
    found = look(root, scope="committed", make_base=True)
    assert found.base == "made"
    assert "base_not_indexed" not in codes(found)
    assert {site.caller for site in named(found, "prices.helper").affected if site.relation == "call"} == {"shop.cart.show"}
    again = look(root, scope="committed")
    assert again.base == "base index"
    assert named(again, "prices.helper").stale_sites == named(found, "prices.helper").stale_sites > 0


def test_what_is_not_staged_has_the_commit_that_is_checked_out_for_its_base(root: Path):
    commit(root)
    remove_helper(root)
    shutil.rmtree(root / ".lspidx")
    crawl_with_ty(root, jobs=1)
    assert "base_not_indexed" in codes(look(root))
    found = look(root, make_base=True)
    assert found.base == "made"
    assert "base_not_indexed" not in codes(found)
    assert {site.caller for site in named(found, "prices.helper").affected if site.relation == "call"} == {"shop.cart.show"}
    assert look(root).base == "base index"


def test_an_earlier_generation_is_the_base(root: Path):
    remove_helper(root)
    commit(root)
    crawl_with_ty(root, jobs=1)
    found = look(root, scope="committed")
    assert found.base == "base index"
    assert {site.caller for site in named(found, "prices.helper").affected if site.relation == "call"} == {"shop.cart.show"}
    assert found.completeness.status == "complete"


def test_an_index_of_the_old_side_says_that_it_is_not_of_the_new_one(root: Path):
    edit(root, "shop/prices.py", ("return 3", "return 4\n\n\ndef more():\n    return 1"))
    commit(root)
    found = look(root, scope="committed")
    assert found.completeness.status == "partial"
    assert {"stale", "not_indexed_yet"} & codes(found) == {"stale", "not_indexed_yet"} or "not_indexed_yet" in codes(found)
    assert all(item.level not in ("low", "info") for item in found.symbols if item.what == "body")
    assert all(item.risk != "low" for item in found.symbols)


def test_an_index_of_neither_side_is_told(root: Path):
    for number in (4, 5):
        edit(root, "shop/prices.py", (f"return {number - 1}", f"return {number}"))
        commit(root)
    found = look(root, scope="committed")
    assert (found.base, found.completeness.status) == ("text", "partial")
    assert what(found) == {"shop.prices.unused": "body"}
    assert [test.selector for test in found.tests]  # by the name, from the index that there is


def test_a_dirty_work_tree_does_not_make_facts_of_commits_doubtful(root: Path):
    edit(root, "shop/prices.py", ("return 3", "return 4"))
    commit(root)
    crawl_with_ty(root, jobs=1)
    edit(root, "shop/cart.py", ("return helper(text)", "return helper(text + 'x')"))
    found = look(root, scope="committed")
    assert found.completeness.status == "complete"
    assert named(found, "unused").level != "unknown"


# ---- tests that reach it


def test_tests_are_ranked_and_named_as_pytest_takes_them(root: Path):
    edit(root, "shop/prices.py", ("text.strip()", "text"))
    found = look(root)
    assert selectors(found)[0] == "tests/test_cart.py::test_show"
    assert found.tests[0].distance == 2
    assert all(found.tests[at].score >= found.tests[at + 1].score for at in range(len(found.tests) - 1))


def test_fixtures_and_what_prepares_lead_to_tests(root: Path):
    edit(root, "shop/prices.py", ("    return self.amount\n", "    return +self.amount\n"), ("int(text)", "int(text, 10)"))
    found = selectors(look(root))
    assert "tests/test_cart.py::TestPrice::test_net" in found  # takes the fixture, and calls
    assert {"tests/test_unit.py::Base::test_nothing", "tests/test_unit.py::Below::test_more"} <= set(found)  # setUp, also inherited
    assert "tests/test_unit.py::Below::test_nothing" in found  # an inherited test under its heir's name
    assert "tests/test_cart.py::TestPrice::test_other" not in found


def test_a_fixture_that_nobody_names_reaches_every_test_of_its_folder(root: Path):
    edit(root, "shop/prices.py", ("return 3", "return 4"))
    assert "tests/test_cart.py::TestPrice::test_other" in selectors(look(root))


def test_a_changed_test_comes_first(root: Path):
    edit(root, "tests/test_cart.py", ("        assert True", "        assert 1"))
    edit(root, "shop/prices.py", ("text.strip()", "text"))
    found = look(root)
    assert (found.tests[0].selector, found.tests[0].distance) == ("tests/test_cart.py::TestPrice::test_other", 0)


# ---- other languages


@pytest.fixture(scope="session")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Go, TypeScript and C++ in one repository, crawled by their servers."""
    root = write_tree(tmp_path_factory.mktemp("several") / "repo", {
        ".gitignore": ".lspidx/\n",
        "go/go.mod": "module example.com/m\n\ngo 1.21\n",
        "go/sum.go": "package m\n\n// Sum adds.\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n\n"
        "func Twice(a int) int {\n\treturn Sum(a, a)\n}\n",
        "go/sum_test.go": 'package m\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(1) != 2 {\n\t\tt.Fail()\n\t}\n}\n\n'
        "func TestNothing(t *testing.T) {}\n",
        "ts/package.json": '{"name": "m"}',
        "ts/tsconfig.json": '{"compilerOptions": {"module": "commonjs"}}',
        "ts/sum.ts": "export function sum(a: number, b: number): number {\n  return a + b;\n}\n\nexport class Box {\n"
        "  twice(a: number): number {\n    return sum(a, a);\n  }\n}\n",
        "ts/sum.test.ts": "import { Box } from './sum';\n\nif (new Box().twice(1) !== 2) {\n  throw new Error();\n}\n",
        "cc/compile_flags.txt": "-std=c++17\n",
        "cc/sum.h": "#pragma once\nint sum(int a, int b);\n",
        "cc/sum.cc": '#include "sum.h"\n\nint sum(int a, int b) {\n  return a + b;\n}\n\nint twice(int a) {\n  return sum(a, a);\n}\n',
        "cc/test_sum.cc": '#include "sum.h"\n\nint main() {\n  return sum(1, 1) - 2;\n}\n',
    })  # fmt: skip
    git(root, "init", "-q")
    commit(root, "first")
    crawl_with_ty(root, jobs=2)
    return root


@pytest.fixture
def mixed(several: Path, tmp_path: Path) -> Path:
    return shutil.copytree(several, tmp_path / "mixed", symlinks=True)


@pytest.mark.parametrize(
    ("path", "old", "new", "name", "caller", "test"),
    [
        ("go/sum.go", "return a + b", "return a - b", "Sum", "Twice", "TestTwice"),
        ("ts/sum.ts", "return a + b", "return a - b", "sum", "twice", "ts/sum.test.ts"),
        ("cc/sum.cc", "return a + b", "return a - b", "sum", "twice", "cc/test_sum.cc"),
    ],
)
def test_callers_and_tests_in_other_languages(mixed: Path, path: str, old: str, new: str, name: str, caller: str, test: str):
    edit(mixed, path, (old, new))
    found = look(mixed)
    [item] = found.symbols
    assert (item.name, item.what) == (name, "body")
    assert caller in {site.caller.rpartition(".")[2] for site in item.affected if not site.is_test}
    assert selectors(found)[0] == test


@pytest.mark.parametrize(
    ("path", "old", "new", "compatible"),
    [
        ("go/sum.go", "func Sum(a, b int)", "func Sum(x, y int)", True),
        ("go/sum.go", "func Sum(a, b int)", "func Sum(a, b, c int)", False),
        ("ts/sum.ts", "sum(a: number, b: number)", "sum(a: number, b: number, c?: number)", True),
        ("ts/sum.ts", "sum(a: number, b: number)", "sum(a: number, b: number, c: number)", False),
        ("cc/sum.cc", "int sum(int a, int b)", "int sum(int a, long b)", False),
    ],
)
def test_declarations_in_other_languages(mixed: Path, path: str, old: str, new: str, compatible: bool):
    edit(mixed, path, (old, new))
    item = next(item for item in look(mixed).symbols if item.name.lower() == "sum")
    assert item.what == "signature"
    assert ("compatible" in item.reasons) is compatible
    assert (item.stale_sites > 0) is not compatible


def test_a_declaration_in_a_header_is_a_change_of_its_function(mixed: Path):
    edit(mixed, "cc/sum.h", ("int sum(int a, int b)", "long sum(int a, int b)"))
    item = next(item for item in look(mixed).symbols if item.name == "sum")
    assert (item.file, item.what) == ("cc/sum.h", "signature")
    assert "twice" in {site.caller.rpartition(".")[2] for site in item.affected}


# ---- the tool


@pytest.fixture
def ask(root: Path) -> Iterator[Callable[..., Any]]:
    edit(root, "shop/prices.py", ("text.strip()", "text"), ("int(text)", "int(text, 10)"))
    index: Index = open_index(root)
    yield lambda **arguments: call(index, "detect_changes", arguments)
    index.close()


def test_who_finds_no_change_is_told_of_those_that_were_not_compared(root: Path, ask: Callable[..., Any]):
    assert ask().beside is msgspec.UNSET
    assert ask(base="HEAD").beside == ["not compared here: 1 file with unstaged changes; to compare them: scope=unstaged"]
    assert ask(base="HEAD", head=".").beside is msgspec.UNSET
    git(root, "add", ".")
    staged = "not compared here: 1 file with staged changes; to compare them: scope=staged"
    assert ask().beside == [staged]
    done = lspidx("report", "--base", "HEAD", "--no-make-base", cwd=root)
    assert (done.returncode, done.stderr) == (0, f"{staged}\n")


def test_a_range_is_of_commits_and_not_passed_over_in_silence(ask: Callable[..., Any]):
    assert ask(range="HEAD").result.compared == ask(range="HEAD", scope="committed").result.compared
    with pytest.raises(UsageError, match="range is for committed changes, and scope is 'staged'; to compare commits, leave scope out"):
        ask(range="HEAD", scope="staged")


def test_the_tool_pages_and_keeps_exact_totals(ask: Callable[..., Any]):
    whole = ask()
    assert whole.total == 2
    first = ask(limit=1)
    pages, last = [first], first
    while last.next_cursor is not None:
        assert last.truncated
        last = ask(limit=1, cursor=last.next_cursor)
        pages.append(last)
    for rows in ("changed_symbols", "non_test_callers", "tests", "files"):  # the cursor continues every list
        assert [row for page in pages for row in getattr(page.result, rows)] == getattr(whole.result, rows)
    assert not last.truncated
    assert first.result.totals == whole.result.totals


# ---- two indexes


def test_two_generations_are_compared_symbol_by_symbol(root: Path):
    edit(
        root,
        "shop/prices.py",
        ("def helper(text):\n    return text.strip()\n\n\n", ""),
        ("def parse(text):\n", "def parse(text, base=10):\n"),
        ("self.amount * RATE", "self.net() * RATE"),
        ("    return 3\n", "    return unused()\n"),
        ("class Price:", "class Cost:\n    pass\n\n\nclass Price(Cost):"),
    )
    edit(root, "shop/cart.py", ("    return helper(text)", "    return text"), ("import helper, parse", "import parse"))
    git(root, "mv", "app/main.py", "app/start.py")
    commit(root)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        whole = call(index, "diff_index", {"limit": 5000})
        found = {(item.what, item.name): item for item in whole.result.symbols}
        assert {key for key in found if key[0] in ("added", "removed", "signature")} == {
            ("added", "Cost"), ("removed", "helper"), ("signature", "parse"), ("signature", "Price"),
        }  # fmt: skip
        assert {("moved", "run"), ("moved", "direct"), ("body", "gross")} <= found.keys()
        assert found["body", "unused"].newly_recursive
        assert found["signature", "parse"].old_signature != found["signature", "parse"].signature
        edges = {(edge.kind, edge.source.rpartition("/")[2], edge.target.rpartition("/")[2], edge.gained) for edge in whole.result.edges}
        assert ("call", "show().", "helper().", False) in edges
        assert ("call", "Price#gross().", "Price#net().", True) in edges
        assert ("supertype", "Price#", "Cost#", True) in edges
        assert not [edge for edge in edges if edge[1] == "run()." and edge[0] == "call"]  # it moved with its calls
        totals = whole.result.totals
        assert totals.calls_gained == sum(edge[0] == "call" and edge[3] for edge in edges)
        assert (totals.newly_recursive, totals.supertypes_gained, totals.supertypes_lost) == (1, 1, 0)
        page = call(index, "diff_index", {"limit": 1})
        assert (page.total, page.result.totals, len(page.result.symbols)) == (whole.total, totals, 1)
        api = call(index, "diff_index", {"what": "api"}).result.symbols
        assert {"helper", "parse"} <= {item.name for item in api}
        with pytest.raises(UsageError, match="no index is called"):
            call(index, "diff_index", {"old": "nowhere"})


def test_without_an_earlier_generation_it_is_said_so(root: Path):
    with open_index(root) as index, pytest.raises(UsageError, match="no earlier generation"):
        call(index, "diff_index", {})


# ---- what a first user ran into


@pytest.fixture
def small(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "small", {
        ".gitignore": ".lspidx/\n",
        "fact.py": "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\n\n\ndef use():\n    return fact(3)\n",
        "tests/util.py": "def make():\n    return 3\n",
        "tests/test_fact.py": "from tests.util import make\nfrom fact import fact\n\n\ndef test_fact():\n    assert fact(make()) == 6\n",
        ".github/ci.yml": "on: push\n",
        "data.json": "{}\n",
    })  # fmt: skip
    git(root, "init", "-q")
    commit(root, "first")
    crawl_with_ty(root, jobs=1)
    return root


def only(answer: Any, name: str) -> Any:
    return next(item for item in answer.result.changed_symbols if item.name == name)


def test_a_forgotten_call_of_itself_is_a_use_that_is_not_touched(small: Path):
    edit(small, "fact.py", ("def fact(n):", "def fact(n, k):"))
    with open_index(small) as index:
        found = only(call(index, "detect_changes", {}), "fact")
    assert (found.level, found.stale_sites, found.stale_tests) == ("high", 2, 1)
    assert {(site.path, site.line) for site in found.affected if not site.updated} >= {("fact.py", 2), ("fact.py", 6)}


def test_a_helper_of_tests_that_is_gone_while_they_use_it_is_told(small: Path):
    edit(small, "tests/util.py", ("def make():\n    return 3\n", "other = 1\n"))
    with open_index(small) as index:
        answer = call(index, "detect_changes", {})
    found = only(answer, "make")
    assert (found.what, found.level, found.is_test, found.stale_tests) == ("removed", "medium", True, 2)
    assert "removed_in_tests" in found.reasons
    text = to_text(answer)
    assert "tests/test_fact.py:6" in click.unstyle(text)


def test_files_that_are_no_code_make_no_answer_partial(small: Path):
    (small / "data.json").write_text("[]\n", encoding="utf-8")
    (small / ".github" / "new.yml").write_text("on: push\n", encoding="utf-8")
    commit(small, "second")
    with open_index(small) as index:
        answer = call(index, "detect_changes", {"base": "HEAD~1"})
    assert (answer.completeness.status, answer.completeness.reasons, answer.total) == ("complete", [], 0)


def test_a_test_that_is_gone_is_not_among_those_to_run(small: Path):
    edit(
        small,
        "fact.py",
        ("def fact(n):", "def factorial(n):"),
        ("n * fact(n", "n * factorial(n"),
        ("return fact(3)", "return factorial(3)"),
    )
    edit(
        small,
        "tests/test_fact.py",
        ("import fact\n", "import factorial\n"),
        ("test_fact()", "test_factorial()"),
        ("fact(make", "factorial(make"),
    )
    commit(small, "renamed")
    crawl_with_ty(small, jobs=1)
    with open_index(small) as index:
        answer = call(index, "detect_changes", {"base": "HEAD~1"})
    assert [test.selector for test in answer.result.tests] == ["tests/test_fact.py::test_factorial"]


def test_a_changed_number_is_a_changed_body_of_the_index_too(small: Path):
    edit(small, "fact.py", ("n < 2", "n < 1"))
    commit(small, "a number")
    crawl_with_ty(small, jobs=1)
    with open_index(small) as index:
        answer = call(index, "diff_index", {})
    assert [(item.what, item.name) for item in answer.result.symbols] == [("body", "fact")]
    assert answer.completeness.status == "complete"


def test_an_index_whose_text_is_gone_says_that_numbers_were_not_compared(small: Path):
    edit(small, "fact.py", ("n < 2", "n < 1"))
    crawl_with_ty(small, jobs=1)
    edit(small, "fact.py", ("n < 1", "n < 0"))
    crawl_with_ty(small, jobs=1)
    with open_index(small) as index:
        answer = call(index, "diff_index", {})
    assert [reason.code for reason in answer.completeness.reasons] == ["text_not_here"]


def test_of_many_tests_those_are_told_that_are_likely_to_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how many the others are; all of them when they are asked for."""
    near = "".join(f"def test_near_{number}() -> None:\n    assert price({number}) == {number}\n\n\n" for number in range(3))
    far = "".join(f"def test_far_{number}() -> None:\n    assert shop({number}) == {number}\n\n\n" for number in range(40))
    monkeypatch.setattr(selection, "LIKELY_AT_LEAST", 3)
    monkeypatch.setattr(selection, "LIKELY_SHARE", 0.5)
    write_tree(
        tmp_path,
        {
            "kit.py": "def price(n: int) -> int:\n    return n\n\n\ndef mid(n: int) -> int:\n    return price(n)\n\n\n"
            "def shop(n: int) -> int:\n    return mid(n)\n",
            "tests/test_near.py": f"from kit import price\n\n\n{near}",
            "tests/test_far.py": f"from kit import shop\n\n\n{far}",
            "pyproject.toml": "",
        },
    )
    git(tmp_path, "init", "-q")
    commit(tmp_path, "all")
    crawl_with_ty(tmp_path, jobs=1)
    (tmp_path / "kit.py").write_text((tmp_path / "kit.py").read_text().replace("return n\n", "return n + 0\n", 1))
    with open_index(tmp_path) as index:
        few = call(index, "detect_changes", {})
        every = call(index, "detect_changes", {"tests": "all"})
    assert (few.result.totals.tests, len(every.result.tests)) == (43, 43)
    assert {item.name for item in few.result.tests} == {item.name for item in every.result.tests if item.likely}
    assert 3 <= len(few.result.tests) == few.result.totals.likely_tests < 43
    told = to_text(few, Style(compact=True))
    assert f"and {43 - few.result.totals.likely_tests} that are less likely to: --tests all" in told
