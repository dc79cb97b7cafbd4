"""Documentation by the real toolchains: go doc, pydoc of the project's interpreter, the pages that come with Rust."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from query_support import Ask, codes
from support import crawl_with_ty, write_tree
from toolchains import requires

from indexer.errors import NameNotFound, UsageError
from query.facts.index import open_index
from query.surface.registry import call
from query.surface.render import to_text
from query.toolchain import documentation
from query.toolchain.documentation import Described, describe

pytest_plugins = ["query_fixtures"]
pytestmark = pytest.mark.slow


NEEDS = {"go": "go", "rust": "cargo"}


def described(language: str, name: str, root: Path, *, own: bool = True) -> Described:
    return describe(language, name, root=root, folder=root, own_environment=own)


@pytest.mark.parametrize(
    ("language", "name", "signature", "words"),
    [
        ("go", "fmt.Println", "func Println(a ...any) (n int, err error)", "Println formats using the default formats"),
        ("go", "net/http.Client.Do", "func (c *Client) Do(req *Request) (*Response, error)", "Do sends an HTTP request"),
        ("go", "fmt", "package fmt", "Package fmt implements formatted I/O"),
        ("python", "json.dumps", "def dumps(obj, *,", "Serialize ``obj`` to a JSON formatted ``str``"),
        ("python", "json", "module json", "JSON (JavaScript Object Notation)"),
        ("python", "collections.OrderedDict", "class OrderedDict", "remembers insertion order"),
        ("rust", "std::vec::Vec", "pub struct Vec<T", "A contiguous growable array type"),
        ("rust", "std::vec::Vec::new", "pub const fn new() -> Vec<T>", "Constructs a new, empty Vec<T>"),
        ("rust", "std::option::Option::Some", "Some(T)", "Some value of type T"),
        ("rust", "std::println!", "macro_rules! println", "Prints to the standard output"),
        ("rust", "std::vec", "", "A contiguous growable array type"),
    ],
)
def test_what_the_toolchain_says_of_a_name(tmp_path: Path, language: str, name: str, signature: str, words: str):
    if language in NEEDS:
        requires(NEEDS[language])
    found = described(language, name, tmp_path)
    assert found.error == ""
    assert found.signature.startswith(signature)
    assert words in found.doc
    assert found.tool.split()[-1][0].isdigit()


@pytest.mark.parametrize(
    ("language", "name"),
    [("go", "nowhere.Thing"), ("python", "nowhere.thing"), ("rust", "std::nowhere::Thing"), ("typescript", "a.b"), ("go", "fmt.Nothing")],
)
def test_a_name_that_is_none_has_an_error_and_no_text(tmp_path: Path, language: str, name: str):
    found = described(language, name, tmp_path)
    assert found.error
    assert (found.doc, found.signature) == ("", "")


@pytest.mark.parametrize(
    ("language", "name"),
    [("go", "-C/"), ("go", "../../x"), ("python", "os;x"), ("python", "-m"), ("rust", "../../etc::x"), ("go", "x" * 501)],
)
def test_what_is_no_name_starts_nothing(tmp_path: Path, language: str, name: str):
    found = described(language, name, tmp_path)
    assert "is not a qualified name" in found.error
    assert found.tool == ""


def test_go_doc_is_asked_in_the_folder_of_the_module(tmp_path: Path):
    root = write_tree(
        tmp_path, {"go.mod": "module example.com/a\n\ngo 1.21\n", "geo/geo.go": "package geo\n\n// Far is far away.\nfunc Far() {}\n"}
    )
    requires("go")
    found = describe("go", "Far", root=root, folder=root / "geo", own_environment=True)
    assert (found.signature, found.doc) == ("func Far()", "Far is far away.")


def test_a_module_that_prints_and_colours_while_it_is_imported_is_read_all_the_same(tmp_path: Path):
    """In the project's environment, where it is installed; a module of the current folder is never imported."""
    import venv

    venv.create(tmp_path / ".venv", with_pip=False)
    site = next((tmp_path / ".venv").glob("lib/python3*/site-packages"))
    write_tree(
        site,
        {"loud.py": 'import atexit, sys\nprint("noise {")\natexit.register(print, "more")\n\n\ndef f():\n    """Says \x1b[31mred."""\n'},
    )
    write_tree(tmp_path, {"local.py": "open('ran', 'w')\n"})
    assert described("python", "loud.f", tmp_path).doc == "Says red."
    assert described("python", "loud.f", tmp_path, own=False).error
    assert described("python", "local", tmp_path).error
    assert not (tmp_path / "ran").exists()


def test_a_module_that_fails_or_hangs_is_an_error(tmp_path: Path):
    import venv

    venv.create(tmp_path / ".venv", with_pip=False)
    site = next((tmp_path / ".venv").glob("lib/python3*/site-packages"))
    write_tree(
        site, {"fails.py": "raise SystemExit(3)\n", "hangs.py": "import time\ntime.sleep(600)\n", "dies.py": "import os\nos._exit(1)\n"}
    )
    assert "SystemExit" in described("python", "fails.f", tmp_path).error
    assert described("python", "dies.f", tmp_path).error
    found = describe("python", "hangs.f", root=tmp_path, folder=tmp_path, own_environment=True, timeout_s=3)
    assert "in time" in found.error


def test_pages_of_a_crate_are_those_of_its_own_target_folder(tmp_path: Path):
    page = '<pre class="rust item-decl"><code>pub fn far()</code></pre><div class="docblock"><p>Far &amp; away.</p></div>'
    root = write_tree(tmp_path, {"Cargo.toml": "", "target/doc/mine/fn.far.html": page})
    found = described("rust", "mine::far", root)
    assert (found.signature, found.doc) == ("pub fn far()", "Far & away.")


def test_long_text_is_cut_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(documentation, "_MAX_CHARS", 10)
    found = described("python", "json.dumps", tmp_path)
    assert (len(found.doc), found.cut) == (10, True)


# ---- the tool


def test_a_qualified_name_that_the_index_does_not_know_is_looked_up_by_the_toolchain(ask: Ask):
    answer = ask("get_symbol_documentation", symbol="json.dumps")
    assert (answer.result.source, answer.result.language, answer.completeness.status) == ("toolchain", "python", "complete")
    assert "Serialize" in answer.result.doc
    assert (answer.provenance.source, answer.provenance.servers[0].split()[0]) == ("live", "pydoc")
    assert "[toolchain]" in to_text(answer)
    requires("go", "cargo")
    marked = ask("get_symbol_documentation", symbol="fmt.Println", language_id="go", format="markdown")
    assert marked.result.signature.startswith("```go\nfunc Println(")
    assert ask("get_symbol_documentation", symbol="std::vec::Vec").result.language == "rust"


def test_a_name_that_nobody_knows_is_not_found_and_both_are_named(ask: Ask):
    with pytest.raises(NameNotFound, match=r"nowhere\.at_all.*pydoc"):
        ask("get_symbol_documentation", symbol="nowhere.at_all")
    with pytest.raises(NameNotFound):
        ask("get_symbol_documentation", symbol="json.dumps", source="index")
    with pytest.raises(NameNotFound, match=r"\A(?!.*pydoc)"):
        ask("get_symbol_documentation", symbol="nowhere_at_all")


def test_on_request_the_toolchain_answers_with_a_structured_error(ask: Ask):
    answer = ask("get_symbol_documentation", symbol="nowhere.at_all", source="toolchain")
    assert (answer.result.source, answer.total, answer.completeness.status, codes(answer)) == ("error", 0, "partial", ["toolchain"])
    assert answer.result.error
    with pytest.raises(UsageError):
        ask("get_symbol_documentation", source="toolchain")


def test_only_on_request_a_python_of_the_workspace_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An interpreter that lies in the repository is its code."""
    root = write_tree(tmp_path / "work", {"a.py": "A = 1\n"})
    crawl_with_ty(root, jobs=1)
    write_tree(root, {".venv/pyvenv.cfg": "", ".venv/bin/python": f'#!/bin/sh\ntouch {tmp_path}/ran\nexec {sys.executable} "$@"\n'})
    (root / ".venv/bin/python").chmod(0o755)
    (root / ".venv/bin/python3").symlink_to("python")
    monkeypatch.setenv("VIRTUAL_ENV", str(root / ".venv"))  # activated
    monkeypatch.setenv("PATH", str(root / ".venv/bin"), prepend=":")
    with open_index(root) as index:
        assert call(index, "get_symbol_documentation", {"symbol": "json.dumps"}).result.source == "toolchain"
        assert not (tmp_path / "ran").exists()
        assert call(index, "get_symbol_documentation", {"symbol": "json.dumps", "source": "toolchain"}).result.source == "toolchain"
        assert (tmp_path / "ran").exists()
