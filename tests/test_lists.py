"""Lists as other tools print theirs: a number, the files, lines around each place; links and a pager where a person reads."""

from __future__ import annotations

import os
import pty
import shutil
import sys
from pathlib import Path

import msgspec
import pytest
from change_support import commit, git
from query_support import lspidx, plain_environment
from support import write_tree

MAIN = [sys.executable, "-c", "from query.cli import main; main()"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {
        "core.py": "def price():\n    return 1\n\n\ndef unused():\n    return 2\n",
        "use.py": "from core import price\n\n\ndef first():\n    return price()\n\n\n# far away\n# from it\n\n\n"
        "def second():\n    return price()\n",
        "more/use.py": "from core import price\n\nprint(price())\n",
    }
    root = write_tree(tmp_path_factory.mktemp("lists") / "work", files)
    done = lspidx("index", cwd=root)
    assert done.returncode == 0, done.stderr
    return root


def test_a_count_is_a_number_and_its_completeness_is_on_stderr(root: Path):
    done = lspidx("query", "callers", "price", "--count", cwd=root)
    assert (done.stdout, done.stderr.partition(" · ")[0]) == ("3\n", "3 callers at 3 sites found")
    assert "· complete ·" in done.stderr


def test_files_are_each_told_once(root: Path):
    done = lspidx("query", "references", "price", "-l", cwd=root)
    assert done.stdout.split() == ["more/use.py", "use.py"]
    assert "5 found · complete" in done.stderr


def test_a_list_of_nothing_has_no_line(root: Path):
    for option, said in (("-l", ""), ("-c", "0\n")):
        done = lspidx("query", "callers", "unused", option, cwd=root)
        assert (done.stdout, done.returncode) == (said, 0)
        assert "0 callers found · complete" in done.stderr


def test_files_are_those_of_all_rows(root: Path):
    assert lspidx("query", "references", "price", "-l", "--limit", "1", cwd=root).stdout == "more/use.py\n"
    assert lspidx("query", "references", "price", "-l", cwd=root).stdout.count("\n") == 2


def test_lines_stand_around_each_place_once(root: Path):
    done = lspidx("query", "references", "price", "-C", "1", "--path", "use.py", cwd=root)
    assert done.stdout.splitlines()[:9] == [
        "use.py:1:from core import price",
        "use.py-2-",
        "--",
        "use.py-4-def first():",
        "use.py:5:    return price()",
        "use.py-6-",
        "--",
        "use.py-12-def second():",
        "use.py:13:    return price()",
    ]
    assert done.stdout.splitlines()[-1].startswith("3 found · complete")


@pytest.mark.slow
def test_rows_are_sorted_and_kept_by_their_places_before_they_are_cut(root: Path):
    def rows(*options: str) -> list[str]:
        done = lspidx("query", "callers", "price", *options, "--json", cwd=root)
        assert done.returncode == 0, done.stderr
        return [row["symbol"]["qualified_name"] for row in msgspec.json.decode(done.stdout)["result"]]

    names = sorted(rows())
    assert rows("--sort", "name") == names
    assert rows("--sort", "-name") == names[::-1]
    assert rows("--sort", "-name", "--limit", "1") == names[-1:]
    assert rows("--path", "more") == ["more.use"]
    assert rows("--path", "*.py", "--sort", "name") == names
    counted = lspidx("query", "callers", "price", "--path", "use.py", "-c", cwd=root)
    assert counted.stdout == "2\n"
    cut = lspidx("query", "references", "price", "--sort", "place", "--limit", "2", cwd=root).stdout
    assert [line.split()[0] for line in cut.splitlines() if line.startswith("  ")] == ["more/use.py:1:18", "more/use.py:3:7"]
    assert "5 found, cut short" in cut


def test_groups_are_counted_over_all_rows(root: Path):
    """As `uniq -c` has it; of places of a row in several files each counts for its own."""
    done = lspidx("query", "callers", "price", "--group-by", "file", cwd=root)
    assert done.stdout.splitlines() == ["      2 use.py", "      1 more/use.py"]
    assert "3 callers at 3 sites found · complete" in done.stderr
    assert lspidx("query", "callers", "price", "--group-by", "folder", cwd=root).stdout.splitlines() == ["      2 .", "      1 more"]
    assert lspidx("query", "symbols", "", "--group-by", "kind", cwd=root).stdout.splitlines() == ["      4 function", "      3 module"]
    assert lspidx("query", "callers", "price", "--path", "more", "--group-by", "kind", cwd=root).stdout == "      1 module\n"
    assert lspidx("query", "callers", "unused", "--group-by", "file", cwd=root).stdout == ""


def test_rows_are_kept_by_the_kind_of_what_they_are_about(root: Path):
    for kind, names in (("function", {"use.first", "use.second"}), ("Module", {"more.use"}), ("enum_member", set[str]())):
        done = lspidx("query", "callers", "price", "--kind", kind, "--json", cwd=root)
        assert {row["symbol"]["qualified_name"] for row in msgspec.json.decode(done.stdout)["result"]} == names
    assert lspidx("query", "callers", "price", "--kind", "function", "--kind", "module", "-c", cwd=root).stdout == "3\n"
    wrong = lspidx("query", "callers", "price", "--kind", "functoin", cwd=root)
    assert (wrong.returncode, "no kind is called 'functoin'" in wrong.stderr) == (2, True)


@pytest.mark.slow
def test_what_lies_in_a_class_has_a_kind_of_its_own(tmp_path: Path):
    """An outline nests; a row of it that has the kind is told wherever it lies, once."""
    root = write_tree(tmp_path / "work", {"a.py": "class A:\n    def f(self): ...\n    class B:\n        def g(self): ...\n"})
    assert lspidx("index", cwd=root).returncode == 0
    done = lspidx("query", "outline", "a.py", "--kind", "method", cwd=root)
    assert [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("a.py")] == ["f", "g"]
    assert lspidx("query", "outline", "a.py", "--group-by", "kind", cwd=root).stdout.split() == ["2", "class", "2", "method"]


def test_a_sort_of_a_part_and_a_path_that_is_nowhere_are_refused(root: Path):
    assert "leave one out" in lspidx("query", "references", "price", "--sort", "name", "--cursor", "1", cwd=root).stderr
    none = lspidx("query", "callers", "price", "--path", "nowhere/*", cwd=root)
    assert (none.returncode, "no document of the index matches" in none.stderr) == (3, True)


@pytest.mark.slow
def test_a_line_of_a_file_that_has_changed_is_what_was_indexed_and_is_marked(root: Path, tmp_path: Path):
    other = tmp_path / "work"
    shutil.copytree(root, other)
    git(other, "init", "-q")
    commit(other)
    write_tree(other, {"use.py": "\n\n" + (other / "use.py").read_text(), "more/use.py": "from core import price\n\nprint(3, price())\n"})
    told = lspidx("query", "references", "price", cwd=other).stdout
    assert "use.py:5:12  return price()  [as indexed]  [call] in use.first" in told
    assert "more/use.py:3:7  print(price())  [as indexed]" in told
    rows = msgspec.json.decode(lspidx("query", "references", "price", "--json", cwd=other).stdout)["result"]
    assert {(row["path"], row.get("old", False)) for row in rows} == {("more/use.py", True), ("use.py", True)}
    for tool in ("callers", "explore"):
        assert "return price()  [as indexed]" in lspidx("query", tool, "price", cwd=other).stdout
    around = lspidx("query", "references", "price", "-C", "0", "--path", "more/use.py", cwd=other).stdout
    assert "more/use.py:1: the file has changed; as it was indexed:\nmore/use.py:1:from core import price\n" in around


def test_a_file_that_has_changed_is_shown_without_lines(root: Path, tmp_path: Path):
    other = tmp_path / "work"
    shutil.copytree(root, other)
    write_tree(other, {"use.py": "\n\n" + (other / "use.py").read_text()})
    done = lspidx("query", "references", "price", "-C", "0", cwd=other)
    assert "use.py:5: the file is not as it was indexed" in done.stdout
    assert "more/use.py:3:print(price())" in done.stdout


@pytest.mark.parametrize("options", [["-c", "-l"], ["-c", "--json"], ["-C", "2", "-l"]])
def test_two_shapes_are_refused(root: Path, options: list[str]):
    done = lspidx("query", "references", "price", *options, cwd=root)
    assert done.returncode == 2
    assert "exclude each other" in done.stdout + done.stderr


def test_a_number_and_groups_are_refused_together(root: Path):
    done = lspidx("query", "callers", "price", "-c", "--group-by", "kind", cwd=root)
    assert (done.returncode, "exclude each other" in done.stderr) == (2, True)


def test_what_is_no_list_has_no_such_options(root: Path):
    assert lspidx("query", "explore", "price", "--count", cwd=root).returncode == 2


# ---- at a terminal


def at_terminal(root: Path, *words: str, **environment: str) -> str:
    """What a person sees of a command, whose stdin, stdout and stderr are one terminal."""
    shown = b""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(root)
        os.execve(MAIN[0], [*MAIN, *words], {**plain_environment(root), "TERM": "xterm", "CI": "1", **environment})
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.waitpid(child, 0)
    os.close(terminal)
    return shown.decode()


@pytest.mark.slow
def test_places_are_links_at_a_terminal(root: Path):
    shown = at_terminal(root, "query", "references", "price")
    link = f"\x1b]8;;{(root / 'use.py').as_uri()}#5\x1b\\"
    assert f"{link}\x1b[36muse.py:5:12\x1b[0m\x1b]8;;\x1b\\" in shown
    assert "\x1b]8" not in lspidx("query", "references", "price", cwd=root).stdout


@pytest.mark.slow
def test_links_lead_to_the_root_from_a_folder_below(root: Path):
    shown = at_terminal(root / "more", "query", "references", "price")
    assert f"{(root / 'use.py').as_uri()}#5" in shown
    assert f"{(root / 'more' / 'use.py').as_uri()}#3" in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "is_paged"),
    [
        ({"LINES": "5", "LSPIDX_PAGER": "sed s/^/paged:/"}, True),
        ({"LINES": "90", "LSPIDX_PAGER": "sed s/^/paged:/"}, False),
        ({"LINES": "5", "PAGER": "sed s/^/paged:/"}, True),
        ({"LINES": "5", "PAGER": "sed s/^/paged:/", "LSPIDX_PAGER": ""}, False),
        ({"LINES": "5", "LSPIDX_PAGER": "sed s/^/paged:/", "TERM": "dumb"}, False),
    ],
)
def test_a_long_answer_goes_through_the_pager(root: Path, environment: dict[str, str], is_paged: bool):
    shown = at_terminal(root, "query", "references", "price", **environment)
    assert "use.py:13" in shown
    assert ("paged:" in shown) == is_paged


def test_a_command_that_is_none_is_told_what_may_have_been_meant():
    for word, said in (
        ("quer", "did you mean 'query'?"),
        ("callers", "it is a question: lspidx query callers"),
        ("zzz", "no command is called 'zzz'\n"),
    ):
        done = lspidx(word, "x", cwd=Path.cwd())
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
