"""Repositories in states that a clone may be in: encodings, line ends, the marks of a merge, links, what git replaces, other line ends
than the index was made with. Of each: who calls what, where that stands in the file, and whether the answer says what it lacks."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cache_support import bring, export
from support import Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from query.facts.index import Index, open_index
from query.surface.registry import call

pytestmark = pytest.mark.slow

CONFLICT = "<<<<<<< HEAD\n{}=======\n{}>>>>>>> other\n"


class Language(NamedTuple):
    """`definition` and `use` are files; the use calls behind what takes two bytes, or two units, for a character."""

    ending: str
    definition: str
    use: str
    torn: str


PYTHON = Language(
    "py",
    "def py_{0}():\n    return 1\n",
    "from pkg.d_{0} import py_{0}\n\n\ndef use_{0}():\n    s = 'é😀'; py_{0}()\n",
    "from pkg.d_plain import py_plain\n\n"
    + CONFLICT.format("def mine():\n    py_plain()\n", "def theirs():\n    py_plain()\n")
    + "\n\ndef behind():\n    py_plain()\n",
)
TYPESCRIPT = Language(
    "ts",
    "export function ts_{0}() {{\n  return 1;\n}}\n",
    "import {{ ts_{0} }} from './d_{0}';\n\nexport function use_{0}() {{\n  const s = 'é😀'; ts_{0}();\n}}\n",
    "import { ts_plain } from './d_plain';\n\n"
    + CONFLICT.format("export function mine() { ts_plain(); }\n", "export function theirs() { ts_plain(); }\n")
    + "\nexport function behind() { ts_plain(); }\n",
)
GO = Language(
    "go",
    "package pkg\n\nfunc go_{0}() int {{\n\treturn 1\n}}\n",
    'package pkg\n\nfunc use_{0}() int {{\n\ts := "é😀"; _ = s; return go_{0}()\n}}\n',
    "package torn\n\nfunc target() {}\n\n" + CONFLICT.format("func mine() { target() }\n", "func theirs() { target() }\n"),
)
LANGUAGES = (PYTHON, TYPESCRIPT, GO)

STATES: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "cr": lambda text: text.replace("\n", "\r").encode(),
    "mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "crlf_mark": lambda text: codecs.BOM_UTF8 + text.replace("\n", "\r\n").encode(),
    "utf16": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "utf16_big": lambda text: codecs.BOM_UTF16_BE + text.replace("\n", "\r\n").encode("utf-16-be"),
    "no_end": lambda text: text.rstrip("\n").encode(),
    "long": lambda text: text.replace("é😀", "é" * 100_000 + "😀").encode(),
    "bad_byte": lambda text: text.replace("é", "\udce9").encode("utf-8", "surrogateescape"),
}
NO_GO = {"cr": "lost_server_error", "utf16": "unresolved_same_name", "utf16_big": "unresolved_same_name"}
"""Of what the go command takes for no source: why an answer about it is partial."""


def git(folder: Path, *words: str) -> str:
    options = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    return subprocess.run(["git", *options, *words], cwd=folder, capture_output=True, check=True, text=True).stdout


@pytest.fixture(autouse=True)
def _no_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")


def repository(folder: Path, files: dict[str, str | bytes]) -> Path:
    """With one commit of these files."""
    write_tree(folder, files)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def told(index: Index, symbol: str, tool: str = "callers") -> tuple[str, list[str], int]:
    """Status, codes of the reasons, and how many there are."""
    answer = call(index, tool, {"symbol": symbol})
    return answer.completeness.status, [reason.code for reason in answer.completeness.reasons], answer.total or 0


# ---- what files hold


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Each state in each language, in one package; a file with the marks of a merge, and an empty one, beside them."""
    requires("ts7", "gopls", "go")
    files: dict[str, str | bytes] = {
        "go.mod": "module example.org/states\n\ngo 1.22\n",
        "tsconfig.json": '{"compilerOptions": {"strict": true}, "include": ["pkg"]}',
        "pyproject.toml": '[project]\nname = "states"\nversion = "1"\n',
        "pkg/__init__.py": "",
    }
    for language in LANGUAGES:
        for state, encode in STATES.items():
            files[f"pkg/d_{state}.{language.ending}"] = encode(language.definition.format(state))
            files[f"pkg/u_{state}.{language.ending}"] = encode(language.use.format(state))
        folder = "torn" if language is GO else "pkg"
        files[f"{folder}/torn.{language.ending}"] = language.torn
        files[f"pkg/empty.{language.ending}"] = ""
    root = repository(tmp_path_factory.mktemp("texts") / "work", files)
    done = crawl(root, Config(jobs=1), Watcher(), environment={}, accept_loss=True)
    assert done.manifest["languages_lost"] == []
    with open_index(root) as index:
        yield index


def _units(root: Path, path: str, line: int) -> str:
    """One line (from 1) as an editor has it."""
    content = (root / path).read_bytes()
    wide = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}.get(content[:2], "utf-8")
    return re.split("\r\n|\n|\r", content.decode(wide, "replace"))[line - 1]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.ending)
@pytest.mark.parametrize("state", STATES)
def test_uses_stand_where_they_are_told_whatever_a_file_is_written_in(texts: Index, language: Language, state: str) -> None:
    name = f"{language.ending}_{state}"
    answer = call(texts, "references", {"symbol": name})
    codes = [reason.code for reason in answer.completeness.reasons]
    if language is GO and state in NO_GO:
        assert (answer.total, codes) == (0, [NO_GO[state]])
        return
    assert codes == [] or state == "plain"
    assert any(use.path == f"pkg/u_{state}.{language.ending}" for use in answer.result)
    for use in answer.result:
        line = _units(texts.root, use.path, use.line)
        assert line.encode("utf-16-le")[2 * (use.col - 1) :].decode("utf-16-le").startswith(name)
        assert use.text == line.removeprefix("\ufeff").strip()[:200] or line.startswith("\ufeff")


def test_marks_of_a_merge_cost_no_language_and_no_use(texts: Index) -> None:
    """All of Go was lost, where the only file that uses a name of its own had them: a server that has loaded knows none of its names."""
    for language, callers in ((PYTHON, 4), (TYPESCRIPT, 4)):
        assert told(texts, f"{language.ending}_plain") == ("complete", [], callers)
    assert told(texts, "torn.torn.target")[:2] == ("partial", ["unresolved_same_name"])
    assert told(texts, "go_plain") == ("complete", [], 1)


def test_a_definition_is_shown_by_the_lines_that_an_editor_has(texts: Index) -> None:
    for state in ("plain", "crlf", "cr", "mark", "utf16", "utf16_big"):
        found = call(texts, "get_symbol_source", {"symbol": f"ts_{state}"}).result[0]
        assert [line.rstrip() for line in found.source.lstrip("\ufeff").splitlines()] == [
            f"export function ts_{state}() {{",
            "  return 1;",
            "}",
        ]


def test_words_of_a_file_in_utf16_count_though_nobody_reads_it(tmp_path: Path) -> None:
    """A script for a shell that has no server, a source that git ignores, and one that is changed since."""
    files: dict[str, str | bytes] = {
        "a.py": "def target(): ...\n\n\ndef other(): ...\n\n\ndef third(): ...\n",
        "run.ps1": "python -c 'import a; a.target()'\n".encode("utf-16"),
        "b.py": "import a\n".encode("utf-16"),
        ".gitignore": "c.py\n",
        "c.py": "from a import third\n\nthird()\n".encode("utf-16"),
    }
    root = repository(tmp_path / "work", files)
    crawl_with_ty(root)
    with open_index(root) as index:
        assert told(index, "a.target")[:2] == ("partial", ["not_read"])
        assert told(index, "a.third")[:2] == ("partial", ["not_read"])
        assert told(index, "a.other") == ("complete", [], 0)
    write_tree(root, {"b.py": "import a\n\na.other()\n".encode("utf-16")})
    with open_index(root) as index:
        assert told(index, "a.other")[:2] == ("partial", ["stale"])


# ---- what git makes of a tree

TREE: dict[str, str | bytes] = {
    "pyproject.toml": '[project]\nname = "tree"\nversion = "1"\n',
    "pk/__init__.py": "",
    "pk/a.py": "def target():\n    return 1\n",
    "pk/b.py": "from pk.a import target\n\n\ndef use():\n    s = 'é'; target()\n",
}


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """Two commits; in the second one the body of `target` is another one."""
    root = repository(tmp_path / "upstream", TREE)
    write_tree(root, {"pk/a.py": "def target():\n    return 2\n"})
    git(root, "commit", "-q", "-am", "second")
    return root


def _changes(index: Index, **ask: Any) -> tuple[str, list[str], list[str]]:
    """Status, codes and the symbols that have changed."""
    answer = call(index, "detect_changes", ask)
    reasons = [reason.code for reason in answer.completeness.reasons]
    return answer.completeness.status, reasons, [symbol.name for symbol in answer.result.changed_symbols]


def test_a_tree_with_other_line_ends_is_read_as_it_is(upstream: Path, tmp_path: Path) -> None:
    """`core.autocrlf`: git calls the tree unchanged. An artifact of the tree without carriage returns describes none of these files."""
    root = tmp_path / "crlf"
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(upstream), "crlf")
    assert b"\r\n" in (root / "pk/a.py").read_bytes()
    crawl_with_ty(upstream)
    bring(export(upstream, tmp_path / "artifact"), root)
    with open_index(root) as index:
        assert told(index, "pk.a.target")[:2] == ("partial", ["stale"])
    crawl_with_ty(root)
    with open_index(root) as index:
        assert told(index, "pk.a.target") == ("complete", [], 1)
        assert call(index, "references", {"symbol": "pk.a.target"}).result[-1].text == "s = 'é'; target()"
        assert _changes(index) == ("complete", [], [])
        assert _changes(index, base="HEAD~1") == ("complete", [], ["target"])
    (root / "pk/b.py").write_bytes((root / "pk/b.py").read_bytes() + b"    target()\r\n")
    with open_index(root) as index:
        assert _changes(index) == ("partial", ["stale"], ["use"])


def test_an_index_of_another_place_or_commit_answers_for_what_is_the_same(upstream: Path, tmp_path: Path) -> None:
    """A folder that was moved with its index, the index copied to another clone, and another commit in the same folder."""
    crawl_with_ty(upstream)
    moved = tmp_path / "moved elsewhere"
    shutil.copytree(upstream, moved, symlinks=True)
    with open_index(moved) as index:
        assert told(index, "pk.a.target") == ("complete", [], 1)
    assert crawl_with_ty(moved).manifest["crawled"] == 0
    git(moved, "checkout", "-q", "--detach", "HEAD~1")
    with open_index(moved) as index:
        assert told(index, "pk.a.target")[:2] == ("partial", ["stale"])
        assert _changes(index)[0] == "complete"
    git(tmp_path, "clone", "-q", str(upstream), "again")
    git(tmp_path / "again", "checkout", "-q", "--detach", "HEAD~1")
    shutil.copytree(upstream / ".lspidx", tmp_path / "again" / ".lspidx", symlinks=True)
    with open_index(tmp_path / "again") as index:
        assert told(index, "pk.a.target")[:2] == ("partial", ["stale"])


def test_what_git_replaces_is_read_as_it_lies_in_the_tree(upstream: Path) -> None:
    """`git replace` gives another text for a blob, and a commit without parents by a graft."""
    blob = git(upstream, "rev-parse", "HEAD:pk/b.py").strip()
    text = f"{TREE['pk/b.py']!s}\n\ndef more():\n    target()\n"
    write_tree(upstream, {"pk/b.py": text})
    git(upstream, "replace", blob, git(upstream, "hash-object", "-w", "pk/b.py").strip())
    git(upstream, "replace", "--graft", "HEAD")
    crawl_with_ty(upstream)
    with open_index(upstream) as index:
        assert told(index, "pk.a.target") == ("complete", [], 2)
        with pytest.raises(Exception, match="git knows no commit 'HEAD~1'"):
            _changes(index, base="HEAD~1")


def test_a_repository_without_a_commit_is_one(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "work", TREE)
    git(root, "init", "-q", "-b", "main")
    crawl_with_ty(root)
    with open_index(root) as index:
        assert told(index, "pk.a.target") == ("complete", [], 1)
        assert {"target", "use"} <= set(_changes(index)[2])
        git(root, "add", "-A")
        assert {"target", "use"} <= set(_changes(index, scope="staged")[2])


def test_a_link_to_a_file_of_another_folder_may_mean_what_lies_beside_the_link(tmp_path: Path) -> None:
    """`from .names import limit` in `first/use.py` is another import where `second/use.py` is a link to that; both were complete."""
    use = "from .names import limit, shared\n\nprint(limit, shared)\n"
    files: dict[str, str | bytes] = {
        **{f"{folder}/__init__.py": "" for folder in ("first", "second")},
        "first/names.py": "limit = 1\nshared = 2\n\n\ndef _alone(): ...\n",
        "first/use.py": use,
        "second/names.py": "limit = 3\nshared = 4\n\n\ndef _lonely(): ...\n",
    }
    root = repository(tmp_path / "work", files)
    os.symlink("../first/use.py", root / "second/use.py")
    os.symlink("names.py", root / "first/again.py")
    crawl_with_ty(root)
    with open_index(root) as index:
        assert told(index, "second.names.limit", "references") == ("partial", ["skipped_symlink"], 0)
        assert told(index, "first.names.limit", "references") == ("complete", [], 2)
        dead = {row.symbol.qualified_name: row.confidence for row in call(index, "unreferenced", {"include_exported": True}).result}
        assert dead["second.names._lonely"] == dead["first.names._alone"] == "certain"
        assert dead["second.names.shared"] == "maybe"


def test_links_and_a_submodule_that_is_not_there_leave_no_answer_complete_that_lacks_a_use(upstream: Path, tmp_path: Path) -> None:
    """What is imported by a link in the tree is another module to a server; what a submodule defines is unknown."""
    files: dict[str, str | bytes] = {
        **TREE,
        "by_link.py": "from link.a import target\n\n\ndef led():\n    target()\n",
        "by_module.py": "from other.pk.b import use\n\n\ndef used():\n    use()\n",
    }
    root = repository(tmp_path / "work", files)
    for name, aim in (("link", "pk"), ("loop", "."), ("self", "self"), ("alias.py", "pk/a.py")):
        os.symlink(aim, root / name)
    git(root, "submodule", "add", "-q", str(upstream), "other")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "second")
    git(tmp_path, "clone", "-q", str(root), "clone")
    crawl_with_ty(tmp_path / "clone")
    with open_index(tmp_path / "clone") as index:
        assert told(index, "pk.a.target") == ("partial", ["unresolved_same_name"], 1)
        assert told(index, "by_module.used", "callees")[:2] == ("partial", ["unresolved_calls"])
    crawl_with_ty(root)
    with open_index(root) as index:
        assert told(index, "other.pk.b.use") == ("complete", [], 1)
