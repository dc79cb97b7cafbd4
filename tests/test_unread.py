"""What is read beside the files that a language's extension names, and what an answer says of files that are not read."""

from __future__ import annotations

import re
import shutil
import subprocess
from fnmatch import translate
from pathlib import Path

import pytest
from query_support import generation
from support import Watcher, crawl_with_ty, rows, write_tree
from toolchains import requires

from indexer import unread
from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.languages import LANGUAGES
from indexer.languages.scripts import AT_BORDERS
from query.facts import index as indexes
from query.facts.freshness import drift
from query.surface.registry import call

LIB = "def helper(x):\n    return x\n\n\ndef window():\n    return 1\n"


def test_scripts_without_an_extension_and_pyw_are_read_as_python(tmp_path: Path) -> None:
    """Calls in them are calls like others."""
    files = {
        "lib.py": LIB,
        "tool": "#!/usr/bin/env python3\nfrom lib import helper\n\nhelper(1)\n",
        "app.pyw": "from lib import window\n\nwindow()\n",
        "NOTES": "helper is called by nobody\n",
    }
    crawl_with_ty(write_tree(tmp_path, files))
    calls = rows(generation(tmp_path), "SELECT split_part(callee, ' ', -1), path FROM calls ORDER BY 2")
    assert calls == [("lib/window().", "app.pyw"), ("lib/helper().", "tool")]


def test_a_new_script_makes_an_index_old(tmp_path: Path) -> None:
    """By its first line, where the index has files of that language; a text without an extension does not."""
    crawl_with_ty(write_tree(tmp_path, {"lib.py": LIB}))
    write_tree(tmp_path, {"tool": "#!/usr/bin/env python3\n", "NOTES": "text\n", "run": "#!/bin/sh\n"})
    with indexes.open_index(tmp_path) as index:
        assert drift(index).new == ["tool"]


# ---- what is not read


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.pyx", "cdef f():\n    g = helper\n", True),
        ("a.html", "<p>helper</p>", False),
        ("a.html", "<p>{{ x|helper }}</p>", True),
        ("a.html", "<p>{{ helper }}</p>", False),
        ("a.html", "<script>helper(1)</script>", False),
        ("a.html", "<script>let x = '{{ helper(1) }}'</script>", True),
        ("a.html.j2", "{% helper 1 %}", True),
        ("A.vue", "<template>{{ helper }}</template>", True),
        ("a.yaml", "helper: 1\nx: helper\n", False),
        ("a.yaml", "x: shop.lib.helper\n", True),
        ("a.toml", 'x = "shop.lib:helper"\n', True),
        ("README.md", "The function helper(x) of lib is fine: `lib.helper(1)`.\n", False),
        ("README.md", "```python\nfrom shop import lib\nlib.helper(1)\n```\n", True),
        ("README.md", "```python\nhelper(1)\n```\n", False),
        ("README.md", "```bash\nlib.helper(1)\n```\n", False),
        ("a.md", "So\n\n~~~py\nlib.helper(1)\n~~~\n", True),
        ("a.rst", "A\n~~~\nlib.helper(1)\n\nB\n~~~\n", False),
        ("a.rst", "So::\n\n    from lib import helper\n\nend\n", True),
        ("a.rst", "So:\n\n    from lib import helper\n\nend\n", False),
        ("a.css", ".helper { }", False),
        ("a.foo", "helper is a word\n", False),
        ("a.foo", "call helper(1)\n", True),
    ],
)
def test_a_file_that_is_not_read_names_a_symbol_where_its_kind_says_so(path: str, text: str, names: bool) -> None:
    """In code each word does, in a template what is evaluated, in settings a dotted name, in a document an example beside the owner."""
    wanted = unread.wanted("helper", ["lib", "shop"])
    assert wanted.is_named(frozenset(unread.words_of(path, text.encode())), shown=True) == names


@pytest.mark.parametrize("text", ['<button onclick="helper()">', "<script>\nhelper(1)\n</script>"])
def test_a_script_in_a_page_names_only_what_pages_run(text: str) -> None:
    """A function of Python is none of it."""
    wanted = unread.wanted("helper", ["lib"])
    words = frozenset(unread.words_of("a.html", text.encode()))
    assert [wanted.is_named(words, shown=True, in_pages=in_pages) for in_pages in (False, True)] == [False, True]


def test_only_a_doctest_is_run_of_what_documents_show() -> None:
    """Who asks for callers hears of nothing else; a source may leave out the import of what it defines."""
    wanted = unread.wanted("helper", ["lib"])
    shown = frozenset(unread.words_of("a.md", b"```py\nfrom lib import helper\n```\n"))
    run = frozenset(unread.words_of("a.md", b">>> from lib import helper\n"))
    own = frozenset(unread.words_of_doctests(b'"""\n>>> helper(1)\n"""\n'))
    assert [wanted.is_named(words, shown=False) for words in (shown, run, own)] == [False, True, False]
    assert wanted.is_named(own, shown=False, own=True)


def test_a_file_counts_by_the_first_rule_that_fits_its_name() -> None:
    """As one pattern of all rules says, which would take 50 ms to compile in each process that asks."""
    every = re.compile("|".join(f"({'|'.join(map(translate, rule.patterns))})" for rule in unread.rules()))
    names = {
        name
        for rule in unread.rules()
        for pattern in rule.patterns
        for filled in ("x", "a.b", "", ".c", "README")
        for bare in [pattern.replace("*", filled).replace("[jt]", "j")]
        for name in (bare, f"d/{bare}", f"{bare}x", f"x{bare}", bare.upper(), f"a.{bare}", f"{bare}.in")
    }
    for name in sorted(names):
        match = every.match(name[name.rfind("/") + 1 :].lower())
        if match:
            assert unread.rule_of(name) is unread.rules()[(match.lastindex or 0) - 1], name
        else:
            assert unread.rule_of(name) not in unread.rules(), name
    assert len(names) > 5_000


def test_every_rule_of_files_that_are_not_read_has_a_reason_and_known_families() -> None:
    """A name of a family that no language has would keep a file from counting at all."""
    known = {language.family for language in (*LANGUAGES, *AT_BORDERS)}
    assert all(rule.why and rule.patterns and known.issuperset(rule.families) for rule in unread.rules())


FILES = {
    "app/__init__.py": "",
    "app/lib.py": "".join(
        f"def {name}(x):\n    return x\n\n\n" for name in ("in_pyx", "in_page", "in_readme", "in_ignored", "in_excluded", "in_prose")
    ),
    "fast.pyx": "from app.lib import in_pyx\nin_pyx(1)\n",
    "page.html": "<p>{{ in_page(1) }} in_prose</p>",
    "README.md": "in_prose\n\n```python\nfrom app.lib import in_readme\nin_readme(1)\n```\n",
    "ex/e.py": "from app.lib import in_excluded\nin_excluded(1)\n",
    "local.py": "from app.lib import in_ignored\nin_ignored(1)\n",
    ".gitignore": "local.py\n",
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("planted"), FILES)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    crawl_with_ty(root, exclude=("ex/*",))
    return root


def _reasons(root: Path, tool: str, name: str) -> dict[str, list[str]]:
    with indexes.open_index(root) as index:
        answer = call(index, tool, {"symbol": f"app.lib.{name}"})
    return {reason.code: reason.paths for reason in answer.completeness.reasons}


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("in_pyx", {"not_read": ["fast.pyx"]}),
        ("in_page", {"not_read": ["page.html"]}),
        ("in_ignored", {"not_read": ["local.py"]}),
        ("in_excluded", {"skipped_excluded": ["ex/e.py"]}),
        ("in_readme", {}),
        ("in_prose", {}),
    ],
)
def test_callers_are_complete_only_if_no_file_that_is_not_read_names_the_function(
    planted: Path, name: str, reasons: dict[str, list[str]]
) -> None:
    """The reason names the files; what only an example in a document shows is no caller."""
    assert _reasons(planted, "callers", name) == reasons


def test_references_are_partial_where_a_document_shows_the_function(planted: Path) -> None:
    """It would have to be rewritten with the function."""
    assert _reasons(planted, "references", "in_readme") == {"not_read": ["README.md"]}


def test_nothing_is_certainly_dead_that_a_file_which_is_not_read_names(planted: Path) -> None:
    """Whatever the reason for which it was not read."""
    with indexes.open_index(planted) as index:
        found = {row.symbol.name: row.reasons for row in call(index, "unreferenced", {"include_exported": True}).result}
    assert {name for name, reasons in found.items() if "not_read" in reasons} == {"in_pyx", "in_page", "in_ignored", "in_excluded"}


def test_words_of_a_changed_file_are_those_of_now(planted: Path, tmp_path: Path) -> None:
    """And nothing of the index is old because of it."""
    root = tmp_path / "copy"
    shutil.copytree(planted, root)
    (root / "page.html").write_text("<p>{{ in_prose(1) }}</p>", encoding="utf-8")
    assert _reasons(root, "callers", "in_page") == {}
    assert _reasons(root, "callers", "in_prose") == {"not_read": ["page.html"]}


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("mk.pl", 'print "#include \\"a.c\\"\\n"; $t .= "  {\\"$n\\", test_$n},\\n";', True),
        ("mk.pl", 'print "#include \\"a.c\\"\\n"; $t .= "test_" . $n;', True),
        ("mk.rb", 'puts "#include <a.h>"; puts "test_#{n}();"', True),
        ("mk.pl", 'print "#include \\"a.c\\"\\n"; $t .= "tests_$n";', False),
        ("run.tcl", "r set test_$n 1\n", False),  # it writes no C
        ("configure", 'echo "#include <a.h>"; eval test_$n=1', False),
    ],
)
def test_a_program_that_writes_c_may_name_what_begins_as_it_says(path: str, text: str, names: bool) -> None:
    wanted = unread.wanted("test_one_thing", []).begun("test_one_thing")
    assert wanted.is_begun(frozenset(unread.words_of(path, text.encode()))) == names


@pytest.mark.slow
def test_a_function_of_c_that_a_generated_text_calls_has_no_complete_list_of_callers(tmp_path: Path) -> None:
    requires("clangd")
    files = {
        "test_one.c": "static int test_one(void) { return 1; }\n",
        "other.c": "static int other_one(void) { return 1; }\nint both(void) { return other_one(); }\n",
        "mk.pl": 'foreach my $n (@src) { print "#include \\"$n\\"\\n"; $list .= "  {\\"$n\\", test_$n},\\n"; }\n',
    }
    root = write_tree(tmp_path / "work", files)
    crawl(root, Config(), Watcher(), environment={})
    with indexes.open_index(root) as index:
        found = {name: call(index, "callers", {"symbol": name}).completeness for name in ("test_one", "other_one")}
        dead = {row.symbol.name: row.confidence for row in call(index, "unreferenced", {}).result}
    assert [(reason.code, reason.paths) for reason in found["test_one"].reasons] == [("not_read", ["mk.pl"])]
    assert "makes names that begin with 'test_'" in found["test_one"].reasons[0].detail
    assert found["other_one"].status == "complete"
    assert dead.get("test_one") != "certain"
    assert dead.get("other_one") is None
