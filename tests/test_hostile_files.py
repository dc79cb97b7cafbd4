"""Files as they should not be: what is indexed of them, what is left out and why; never a crash, and positions that are right."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support import Watcher, assert_all_ended, fake_server, rows, write_tree

from indexer import syntax, vcs
from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.plan.survey import survey
from indexer.crawl.run import Crawl, crawl
from indexer.crawl.sources import read_source
from indexer.model import SkipReason
from indexer.text import ColumnMap, OffsetMap

pytestmark = pytest.mark.slow


class Language(NamedTuple):
    """`body` calls `target` from a place that a server must be asked about; `before` stands in front of such a call."""

    name: str
    ending: str
    server: str
    body: str
    call: str
    before: str
    comment: str


PYTHON = Language(
    name="python",
    ending="py",
    server="ty",
    body="class K:\n    def target(self):\n        return 1\n\nk = K()\nk.target()\n",
    call="k.target()",
    before="é = '😀e\u0301'; ",
    comment="#",
)
TYPESCRIPT = Language(
    name="typescript",
    ending="ts",
    server="fake",  # it counts lines and columns as the protocol does; ts7 is not on every machine
    body="function target() {\n  return 1;\n}\n\nlet k = 1;\ntarget();\n",
    call="target()",
    before="const é = '😀e\u0301'; ",
    comment="//",
)
BOTH = pytest.mark.parametrize("language", [PYTHON, TYPESCRIPT], ids=lambda language: language.name)
ENDS = ("\r\n", "\r", "\n", "\r")
CrawlAll = Callable[..., Crawl]


@pytest.fixture
def crawl_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[CrawlAll]:
    """Crawls `root` in one language; nothing may be lost unless the caller says so, and no process may be left."""
    pids = tmp_path / "pids"

    def go(root: Path, language: Language, *, may_lose: bool = False, watcher: Watcher | None = None, **settings: object) -> Crawl:
        if language.server == "fake":
            found = fake_server("good", pids, language=language.name)
            monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): found)
        values = {"jobs": 1, "hover": False, **settings}
        done = crawl(root, Config(**values), watcher or Watcher(), environment={})  # type: ignore[arg-type]
        assert may_lose or done.manifest["lost"] == {}
        assert done.manifest["server_restarts"] == 0
        return done

    yield go
    assert_all_ended([int(file.name) for file in pids.iterdir()] if pids.is_dir() else [])


def _calls(done: Crawl, name: str = "target") -> dict[str, list[tuple[int, int, bool]]]:
    """By path: line and column of every use of `name`, and whether it means the definition in the same file."""
    found: dict[str, list[tuple[int, int, bool]]] = {}
    sql = """
        SELECT o.path, o.line, o.col, coalesce(s.path = o.path, false) FROM occurrences o LEFT JOIN symbols s USING (symbol)
        WHERE o.name = ? AND NOT list_contains(o.roles, 'definition') ORDER BY ALL
    """
    for path, line, col, is_own in rows(done.generation, sql, name):
        found.setdefault(path, []).append((line, col, is_own))
    return found


def _skipped(done: Crawl) -> dict[str, str]:
    return dict(rows(done.generation, "SELECT path, reason FROM documents WHERE status = 'skipped'"))


def _column(language: Language) -> int:
    return language.call.index("target")


# ---- content


@BOTH
def test_columns_are_right_whatever_the_text_holds(crawl_all: CrawlAll, tmp_path: Path, language: Language) -> None:
    """Line ends of all kinds, a mark at the start, emoji and combining characters before a name, one line of megabytes, a late NUL."""
    body, call, end = language.body, language.call, language.ending
    at = body.splitlines().index(call if language is PYTHON else call + ";")
    long = f"x = '{'a' * 4_900_000}'; " if language is PYTHON else f"let x = '{'a' * 4_900_000}'; "
    files = {
        f"crlf.{end}": body.replace("\n", "\r\n"),
        f"cr.{end}": body.replace("\n", "\r"),
        f"mixed.{end}": "".join(line + end_of_line for line, end_of_line in zip(body.splitlines(), itertools.cycle(ENDS), strict=False)),
        f"bom.{end}": "\ufeff" + body,
        f"utf16.{end}": body.encode("utf-16"),
        f"emoji.{end}": body + language.before + call + "\n",
        f"long.{end}": body + long + call + "\n",
        f"separators.{end}": body.replace("1", "'\u2028\u2029\u0085\x0c\x0b'", 1),
        f"nul.{end}": body + f"{language.comment} {'a' * 9_000}\0\n{call}\n",
        f"no_end.{end}": body.rstrip("\n"),
        f"empty.{end}": "",
        f"only_bom.{end}": "\ufeff",
        f"latin.{end}": body.encode() + language.comment.encode() + b" \xe9\n",
        f"surrogate.{end}": language.comment.encode() + b" \xed\xa0\x80\n" + body.encode(),
    }
    done = crawl_all(write_tree(tmp_path / "work", files), language, max_file_bytes=5_000_000)
    column = _column(language)
    last = body.count("\n")
    units = len((language.before).encode("utf-16-le")) // 2
    expected = {path: [(at, column, True)] for path in files if "empty" not in path and "only" not in path}
    expected[f"emoji.{end}"].append((last, units + column, True))
    expected[f"long.{end}"].append((last, len(long) + column, True))
    expected[f"surrogate.{end}"] = [(at + 1, column, True)]
    expected[f"nul.{end}"].append((last + 1, column, True))
    assert _calls(done) == expected
    assert _skipped(done) == {}


@BOTH
def test_what_is_no_source_is_left_out_with_the_reason(crawl_all: CrawlAll, tmp_path: Path, language: Language) -> None:
    """Encodings, links, pipes, sockets, sizes; what lies beside them is complete."""
    end, body = language.ending, language.body
    root = write_tree(
        tmp_path / "work",
        {
            f"ok.{end}": body,
            f"utf32.{end}": body.encode("utf-32"),
            f"utf16_bare.{end}": ("鿿" * 40).encode("utf-16-le"),
            f"nul.{end}": body + "\0",
            f"large.{end}": body + language.comment + "x" * 60_000,
            "outside/secret." + end: body,
        },
    )
    os.rename(root / "outside", tmp_path / "outside")
    os.symlink(tmp_path / "outside", root / "out")
    os.symlink(root, root / "loop")
    os.symlink(tmp_path / "outside" / f"secret.{end}", root / f"out.{end}")
    os.symlink(f"self.{end}", root / f"self.{end}")
    os.mkfifo(root / f"fifo.{end}")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(root)  # a socket's path may be 108 bytes long
        try:
            listening.bind(f"socket.{end}")
        finally:
            os.chdir(here)
        done = crawl_all(root, language, max_file_bytes=50_000)
    assert _skipped(done) == {
        f"utf32.{end}": "binary",
        f"utf16_bare.{end}": "not_decodable",
        f"nul.{end}": "binary",
        f"large.{end}": "too_large",
        f"out.{end}": "unlisted_link",
        "out": "unlisted_link",
        "loop": "unlisted_link",
        f"self.{end}": "symlink",
        f"fifo.{end}": "not_regular",
        f"socket.{end}": "not_regular",
    }
    assert list(_calls(done)) == [f"ok.{end}"]
    assert rows(done.generation, "SELECT path FROM documents WHERE status NOT IN ('skipped', 'external')") == [(f"ok.{end}",)]


NAMES = [
    "sp ace", "new\nline", "tab\tx", 'qu"ote', "qu'ote", "`tick`", "per%20cent", "ha#sh", "que?stion", "semi;colon", "col:on",
    "n\u00e9", "n_e\u0301", "emo😀ji", "-dash", "star*[a]{b}", "dollar$(x)", "at@plus+", "a" * 200,
]  # fmt: skip


@BOTH
def test_names_of_all_kinds_join_with_their_definitions(crawl_all: CrawlAll, tmp_path: Path, language: Language) -> None:
    """Through the plan, the URI to the server and back, shards and the merge; as files and as folders."""
    files = {f"{name}.{language.ending}": language.body for name in NAMES}
    files |= {f"{name}/{name[:60]}.{language.ending}": language.body for name in NAMES}
    done = crawl_all(write_tree(tmp_path / "work", files), language)
    at = language.body.splitlines().index(language.call if language is PYTHON else language.call + ";")
    assert _calls(done) == {path: [(at, _column(language), True)] for path in files}
    monikers = [symbol for (symbol,) in rows(done.generation, "SELECT symbol FROM symbols WHERE name = 'target'")]
    assert len(set(monikers)) == len(files)


def test_a_name_is_the_same_to_git_and_to_the_index(crawl_all: CrawlAll, tmp_path: Path) -> None:
    """Git quotes such names unless it is asked not to; composed and decomposed letters stay two files."""
    root = write_tree(tmp_path / "work", {f"{name}.py": PYTHON.body for name in NAMES})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    done = crawl_all(root, PYTHON)
    assert set(_calls(done)) == {f"{name}.py" for name in NAMES}


# ---- the tree changes meanwhile


@BOTH
def test_files_that_vanish_or_change_are_lost_with_that_reason(crawl_all: CrawlAll, tmp_path: Path, language: Language) -> None:
    """Deleted, replaced, grown, turned into a pipe or a folder after the plan was made: nobody waits, and no old position is kept."""
    end = language.ending
    root = write_tree(tmp_path / "work", {f"{name}.{end}": language.body for name in ("gone", "new", "grown", "pipe", "folder", "ok")})

    def change(phase: str) -> None:
        if phase == "crawl":
            for name in ("gone", "pipe", "folder"):
                (root / f"{name}.{end}").unlink()
            os.mkfifo(root / f"pipe.{end}")
            (root / f"folder.{end}").mkdir()
            (root / f"new.{end}").write_text("x\n" + language.body)
            with (root / f"grown.{end}").open("a") as file:
                file.write(language.body)

    done = crawl_all(root, language, may_lose=True, watcher=Watcher(on_phase=change))
    reasons = rows(
        done.generation, "SELECT path, reason FROM coverage WHERE method = 'textDocument/definition' AND status = 'lost' ORDER BY path"
    )
    assert reasons == [(f"{name}.{end}", "changed_during_crawl") for name in ("folder", "gone", "grown", "new", "pipe")]
    assert list(_calls(done)) == [f"ok.{end}"]


def test_a_source_is_read_up_to_its_size_and_from_regular_files_only(tmp_path: Path) -> None:
    """Endless devices, pipes without a writer, folders, made-up paths."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"x" * 100)
    assert [read_source(path, 10) for path in ("/dev/zero", str(tmp_path / "pipe"), str(tmp_path), "a\0b", "/nowhere")] == [b""] * 5
    assert read_source(str(tmp_path / "file"), 10) == b"x" * 11


# ---- folders


@pytest.fixture
def locked() -> Iterator[Path]:
    """A tree with a folder that its owner may not read; whoever runs the tests as root is somebody else for a while."""
    with tempfile.TemporaryDirectory() as name:
        root = write_tree(Path(name) / "tree", {"a.py": "", "locked/b.py": "", "pkg/locked/c.py": ""})
        is_root = os.geteuid() == 0
        for folder in (Path(name), root / "locked", root / "pkg" / "locked"):
            os.chmod(folder, 0o755 if folder.name not in ("locked",) else 0)
        if is_root:
            os.seteuid(65534)
        try:
            yield root
        finally:
            if is_root:
                os.seteuid(0)
            for folder in (root / "locked", root / "pkg" / "locked"):
                os.chmod(folder, 0o755)


def test_a_folder_that_cannot_be_read_is_named(locked: Path) -> None:
    """What lies in there nobody knows, and the index says so."""
    found = survey(locked, vcs.list_files(locked), Config(), languages=["python"])
    assert [document.path for document in found.documents] == ["a.py"]
    assert {item.path: item.reason for item in found.skipped} == dict.fromkeys(("locked/", "pkg/locked/"), SkipReason.UNREADABLE)


# ---- cost


@BOTH
def test_a_long_line_costs_what_its_length_says(language: Language) -> None:
    """Seconds where each column was counted from the start of its line, or each write of a name looked at all others."""
    source = (language.before + "y = é; ").encode() * 20_000
    begun = time.process_time()
    found = syntax.parse(language.name, f"a.{language.ending}", source, "m")
    assert time.process_time() - begun < 10.0  # about one second; minutes before
    line = source.decode().encode("utf-16-le")
    tokens = found.tokens
    assert len(tokens) > 20_000
    for index in (0, 1, 2, len(tokens) // 2, len(tokens) - 1):
        assert line[2 * tokens.col[index] : 2 * tokens.end_col[index]].decode("utf-16-le") == tokens.name[index]


def test_both_ways_to_count_columns_agree() -> None:
    """At every byte that starts a character, on short and on long lines."""
    source = ("aé😀e\u0301\n" + "é😀b" * 1_500 + "\r\nx").encode()
    columns, offsets = ColumnMap(source), OffsetMap(source)
    for line, start in enumerate(offsets.line_starts):
        text = source[start : source.find(b"\n", start) if source.find(b"\n", start) >= 0 else len(source)]
        for col in range(len(text)):
            if text[col] & 0xC0 != 0x80:
                assert columns.utf16(line, col) == offsets.position(start + col)[1] == len(text[:col].decode().encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    "source",
    [b"x = " + b"(" * 20_000, b"x = a" + b".b" * 30_000, b"x = " + b"[" * 5_000 + b"]" * 5_000, b"x = a" + b"()" * 20_000],
    ids=["open brackets", "long chain", "nested brackets", "calls"],
)
@BOTH
def test_nesting_without_end_is_read(language: Language, source: bytes) -> None:
    """By itself; what a server makes of it is the server's fault, and its document's loss."""
    assert syntax.parse(language.name, f"a.{language.ending}", source, "m").tokens.name[0] == "x"


_TURNS = {
    "javascript": ("x = {}1\n", ("f(y)+", "y.z || y.z == 1 && ", "y instanceof z && ")),
    "typescript": ("x = {}1\n", ("f(y)+", "y.z || y.z == 1 && ")),
    "cpp": ("int f() {{ x = {}1; }}\n", ("y << z << ", "y.z || y->z == 1 && ", "f<y>(z) + ")),
    "c": ("int f() {{ x = {}1; }}\n", ("y.z || y->z == 1 && ",)),
    "rust": ("fn f() {{ let x = {}1; }}\n", ("y.z || y == a::z && ",)),
    "go": ("package a\n\nfunc f() {{ x = {}1 }}\n", ("y.z || y.z == 1 && ",)),
}


@pytest.mark.parametrize(("language", "step"), [(language, step) for language, (_, steps) in _TURNS.items() for step in steps])
def test_operators_in_turn_cost_what_their_number_says(language: str, step: str) -> None:
    """A query that waits for the operator holds a state for each that it is within: 1,000 took seven seconds, and 4,000 a hundred."""
    around, _ = _TURNS[language]
    begun = time.process_time()
    found = syntax.parse(language, "a.x", around.format(step * 4_000).encode(), "m")
    assert time.process_time() - begun < 5.0  # less than one
    assert len(found.tokens) > 4_000
