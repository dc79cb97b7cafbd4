"""What agents met in three repositories that nothing here was made for: facts that were wrong by their form, ways that led nowhere, and
lists that were longer than what they told."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from query_support import plain_environment
from support import crawl_with_ty, crawled_tree, write_tree
from toolchains import requires

from indexer.errors import EditRefused
from query.answers.style import Style
from query.surface.in_calls import in_calls
from query.surface.render import to_text
from query.surface.service import Service

AGENT = Style(compact=True, calls=True)
PYTHON = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop/__init__.py": "",
    "shop/store.py": (
        "class Store:\n    def size(self):\n        return 0\n\n\n"
        "class Disk(Store):\n    def size(self):\n        return 1\n\n\n"
        "class Memory(Store):\n    pass\n\n\n"
        "class Cached(Disk):\n    pass\n"
    ),
    "shop/api.py": "def pending(store):\n    return store.size()\n",
    "shop/prices.py": "def price():\n    return 1\n",
    "shop/sums.py": "from shop.prices import price\n\n\ndef total():\n    return price()\n",
    "shop/many.py": "def many(store):\n" + "".join(f"    store.size()  # {number}\n" for number in range(9)),
    "tests/test_prices.py": (
        "from shop.prices import price\nfrom shop.sums import total\n\n\ndef test_price():\n    assert price() == 1\n\n\n"
        + "".join(f"def test_total_{number}():\n    assert total() == 1\n\n\n" for number in range(4))
    ),
}
GO = {
    "go.mod": "module example.com/wire\n\ngo 1.22\n",
    "wire.go": (
        "package wire\n\ntype Transport interface {\n\tSend(b []byte, to string) error\n}\n\n"
        "type Plain struct{}\n\nfunc (p *Plain) Send(b []byte, to string) error { return nil }\n\n"
        "type Labelled struct {\n\tlabel string\n\tTransport\n}\n\n"
        "func (l *Labelled) Send(b []byte, to string) error { return l.Transport.Send(b, to) }\n\n"
        'func Bare(p *Plain) error { return (*Plain).Send(p, nil, "") }\n\n'
        "type Config struct{ Retries int }\n\nfunc Default() *Config { return &Config{Retries: 3} }\n\n"
        "func Patient() *Config {\n\tfound := Default()\n\tfound.Retries = 9\n\treturn found\n}\n"
    ),
}


@pytest.fixture(scope="module")
def python_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crawled_tree(tmp_path_factory.mktemp("python") / "shop", PYTHON)


@pytest.fixture
def python(python_root: Path) -> Iterator[Service]:
    write_tree(python_root, PYTHON)
    made = Service(python_root)
    yield made
    made.close()


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    requires("go", "gopls")
    made = Service(crawled_tree(tmp_path_factory.mktemp("go") / "wire", GO))
    yield made
    made.close()


def test_a_rename_lists_what_may_be_it_and_renames_that_on_request(python: Service, python_root: Path):
    """Whose type nobody knows was told as a number and three files, and kept the old name."""
    ask = {"symbol": "shop.store.Store.size", "new_name": "count"}
    shown = python.ask("rename_symbol", ask)
    assert [(place.path, place.line) for place in shown.result.possible[:2]] == [("shop/api.py", 2), ("shop/many.py", 2)]
    assert shown.result.possible_total == 10
    text = to_text(shown, AGENT)
    assert "may be it, and keep their name; sites=possible renames them too: 10 uses\n  shop/api.py:2  return store.size()" in text
    both = python.ask("rename_symbol", {**ask, "sites": "both"})
    assert both.result.possible_total == 10
    assert "store.size()" not in both.result.edited.files[0].diff
    done = python.ask("rename_symbol", {**ask, "sites": "possible", "apply": True})
    assert [reason.code for reason in done.completeness.reasons] == ["renamed_by_name"]
    assert done.completeness.status == "partial"
    left = [path for path in PYTHON if path.endswith(".py") and ".size" in (python_root / path).read_text(encoding="utf-8")]
    assert left == []


@pytest.mark.slow
def test_each_way_to_write_a_rename_that_is_told_is_one(python: Service, python_root: Path):
    """`sites=both` with the plan of what was shown was refused, as that writes more."""
    ask = {"symbol": "shop.store.Store.size", "new_name": "count"}
    shown = python.ask("rename_symbol", ask)
    assert shown.result.edited.needs == [{"sites": "both", "plan": ""}, {"sites": "possible", "plan": ""}, {"sites": "server"}]
    plan = shown.result.edited.plan
    assert (
        f'"apply": true, "sites": "both", or: "apply": true, "sites": "possible", or: "apply": true, "sites": "server", "plan": "{plan}"'
        in (to_text(shown, AGENT))
    )
    with pytest.raises(EditRefused, match="files or arguments have changed"):
        python.ask("rename_symbol", {**ask, "apply": True, "sites": "both", "plan": plan})
    for way in ({"sites": "both"}, {"sites": "possible"}, {"sites": "server", "plan": plan}):
        assert python.ask("rename_symbol", {**ask, "apply": True, **way}).result.edited.applied
        write_tree(python_root, PYTHON)


def test_a_subtype_stands_below_what_it_extends(python: Service):
    """By levels, `Cached` stood below `Memory`, the last of the level before."""
    found = python.ask("type_hierarchy", {"symbol": "shop.store.Store", "direction": "subtypes", "depth": 5})
    lines = [line for line in to_text(found, AGENT).split("\n") if "class" in line]
    assert [line.rpartition(" ")[2] for line in lines] == ["Disk", "Cached", "Memory"]
    assert [len(line) - len(line.lstrip()) for line in lines] == [2, 4, 2]
    part = python.ask("type_hierarchy", {"symbol": "shop.store.Store", "direction": "subtypes", "depth": 5, "limit": 1, "cursor": "2"})
    assert "Disk" in to_text(part, AGENT).partition("Cached")[2].split("\n")[0], "its parent is on an earlier page"


def test_of_a_file_of_tests_an_agent_is_told_who_calls_it_and_how_many_reach_it(python: Service):
    found = python.ask("get_tests_for_file", {"file_path": "shop/prices.py"})
    [test] = found.result.tests
    assert test.total_functions == 5
    text = to_text(found, AGENT)
    assert "test_prices.py:6  test_price\n  … and 4 more by way of other code" in text
    assert "test_total_3" in to_text(found, Style(color=False))


def test_uses_that_stay_are_told_by_line_where_a_file_has_many(python: Service):
    shown = python.ask("change_signature", {"symbol": "shop.store.Store.size", "add": ["deep"], "call_with": ["deep=False"]})
    text = to_text(shown, AGENT)
    assert "  shop/many.py:2  store.size()  # 0\n" in text
    assert "  shop/many.py, lines 7, 8, 9, 10\n" in text
    assert "shop/many.py:10" not in text
    assert "shop/many.py:10" in to_text(shown, Style(color=False))


def test_a_call_by_the_field_that_embeds_a_type_is_none_of_the_type(go: Service):
    """`l.Transport.Send(b, to)` was said to be called of a type, with the object before its arguments."""
    shown = go.ask("change_signature", {"symbol": "wire.Transport.Send", "order": ["to", "b"]}).result
    assert "+func (l *Labelled) Send(to string, b []byte) error { return l.Transport.Send(to, b) }" in shown.edited.files[0].diff
    assert [(item.place.line, "of a type" in item.why) for item in shown.left] == [(18, True)]


def test_what_sets_a_field_by_its_name_writes_it(go: Service):
    """`Config{Retries: 3}` was missing from a list of writes that was called complete."""
    found = go.ask("find_references", {"symbol": "wire.Config.Retries", "role": ["write"]})
    assert [item.line for item in found.result] == [22, 26]


def test_advice_is_told_as_a_call_to_who_calls():
    assert in_calls("list: lspidx query references a.B --possible (x.py)") == (
        'list: find_references {"symbol": "a.B", "possible": true} (x.py)'
    )
    assert in_calls("list: lspidx query callers") == 'list: find_callers {"direction": "incoming"}'
    assert in_calls("lspidx query references '$x y'") == 'find_references {"symbol": "$x y"}'
    assert in_calls("see: lspidx query unreferenced --help") == 'see: search_tools {"query": "select:unreferenced"}'
    assert in_calls("lspidx query unheard_of x; lspidx index") == "lspidx query unheard_of x; lspidx index"
    assert in_calls("lspidx query references a --unheard_of") == "lspidx query references a --unheard_of"


def test_an_agent_reads_no_command_line(python: Service):
    found = python.ask("find_references", {"symbol": "shop.store.Store.size", "limit": 1, "include_declaration": True})
    assert 'find_references {"symbol": ' in to_text(found, AGENT)
    assert "lspidx query" in to_text(found, Style(color=False))
    cut = python.ask("find_symbol", {"query": "", "limit": 1})
    assert "--cursor" in to_text(cut, Style(color=False))
    assert "--cursor" not in to_text(cut, AGENT)


def test_a_use_in_a_file_that_has_changed_is_told_with_its_line(tmp_path: Path):
    """The text was empty: the file is not what was indexed any more, and git was not asked what it was."""
    root = write_tree(tmp_path / "one", {"one.py": "def cost(a):\n    return a\n\n\ndef bill():\n    return cost(1)\n"})
    person = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*person, "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=root, env=plain_environment(root), check=True)
    crawl_with_ty(root)
    (root / "one.py").write_text("def cost(a, b):\n    return a\n\n\ndef bill():\n    return cost(1)\n", encoding="utf-8")
    service = Service(root)
    try:
        [changed] = service.ask("detect_changes", {}).result.changed_symbols
    finally:
        service.close()
    assert [site.text for site in changed.stale()] == ["return cost(1)"]
