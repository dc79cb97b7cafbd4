"""A library and its consumers in one index: references by folder, freshness and commits by folder, paths across folders."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest
from query_support import Ask, at, codes, damage, json_of, lspidx, names
from support import Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import NameNotFound, UsageError
from query.answers.envelope import Answer
from query.facts.index import Index, open_index
from query.surface.registry import call
from query.surface.render import to_text

pytest_plugins = ["query_fixtures"]

LIBRARY = {
    "pyproject.toml": '[project]\nname = "shelf"\nversion = "1.0"\n',
    "src/shelf/__init__.py": "from shelf.core import Box, pack\n\n__all__ = ['Box', 'pack']\n",
    "src/shelf/core.py": """class Box:
    def close(self) -> str:
        return "closed"


def pack(count: int) -> Box:
    return Box()


def unused() -> Box:
    return pack(0)
""",
    "tests/test_core.py": "from shelf.core import pack\n\n\ndef test_pack() -> None:\n    assert pack(1).close() == 'closed'\n",
}
CONSUMER = {
    "app.py": """from shelf import Box, pack


class Crate(Box):
    def close(self) -> str:
        return "nailed"


def ship() -> str:
    return pack(3).close()
""",
    "inner/tool.py": "from shelf.core import pack\n\npack(4)\n",
}
IDLE = {"lonely.py": "def nothing() -> None:\n    pass\n"}


@pytest.fixture(scope="session")
def pair_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The consumer `app` with the folders `lib` and `idle` beside it, indexed by ty. Nobody writes to it: see `pair_copy`."""
    base = tmp_path_factory.mktemp("pair")
    write_tree(base / "lib", LIBRARY)
    write_tree(base / "idle", IDLE)
    root = write_tree(base / "app", CONSUMER)
    crawl_with_ty(root, jobs=1, folders=["../lib", "../idle"])
    return root


@pytest.fixture(scope="session")
def pair(pair_root: Path) -> Iterator[Index]:
    with open_index(pair_root) as index:
        yield index


@pytest.fixture(scope="session")
def ask_pair(pair: Index) -> Ask:
    return lambda name, **arguments: call(pair, name, arguments)


@pytest.fixture
def pair_copy(pair_root: Path, tmp_path: Path) -> Path:
    """The consumer of a copy of all three folders, which the test may change."""
    return shutil.copytree(pair_root.parent, tmp_path / "pair", symlinks=True) / "app"


def listed(references: list) -> list[tuple[str, int]]:
    return [(item.path, item.line) for item in references]


def warned(answer: Answer) -> list[tuple[str, str]]:
    return [(warning.code, warning.folder) for warning in answer.result.warnings]


# ---- across folders


def test_references_and_callers_lead_from_the_consumer_into_the_library(ask_pair: Ask):
    found = ask_pair("references", symbol="shelf.core.pack", role=["call"])
    assert listed(found.result) == [
        ("../lib/src/shelf/core.py", 11),
        ("../lib/tests/test_core.py", 5),
        ("app.py", 10),
        ("inner/tool.py", 3),
    ]
    assert found.completeness.status == "complete"
    assert names(ask_pair("callers", symbol="shelf.core.pack")) == ["shelf.core.unused", "test_core.test_pack", "app.ship", "inner.tool"]
    assert names(ask_pair("callees", symbol="app.ship")) == ["shelf.core.pack", "shelf.core.Box.close", "app.Crate.close"]
    assert names(ask_pair("hierarchy", symbol="shelf.core.Box", direction="subtypes")) == ["app.Crate"]


def test_references_are_parted_by_folder_with_the_librarys_own_first(ask_pair: Ask):
    answer = ask_pair("cross_repo", symbol="shelf.core.pack")
    found = answer.result
    assert [(item.name, item.path, item.role, item.references, item.files, item.status) for item in found.folders] == [
        ("lib", "../lib", "library", 5, 3, "complete"),
        ("app", ".", "consumer", 4, 2, "complete"),
        ("idle", "../idle", "consumer", 0, 0, "complete"),
    ]
    assert {path for path, _ in listed(found.library_references)} == {
        "../lib/src/shelf/__init__.py", "../lib/src/shelf/core.py", "../lib/tests/test_core.py",
    }  # fmt: skip
    assert listed(found.consumer_references["app"]) == [("app.py", 1), ("app.py", 10), ("inner/tool.py", 1), ("inner/tool.py", 3)]
    assert found.consumer_references["idle"] == []
    assert answer.total == 9 == ask_pair("references", symbol="shelf.core.pack").total
    assert warned(answer) == [("package_not_used", "idle")]
    assert answer.completeness.status == "complete"
    text = click.unstyle(to_text(answer))
    assert "library lib (../lib): 5 references in 3 files" in text
    assert "warning idle: no file of it refers to anything of the package 'shelf'" in text


def test_pages_of_a_parted_answer_cover_every_reference_once_and_count_all(ask_pair: Ask):
    whole = ask_pair("cross_repo", symbol="shelf.core.pack").result
    counts = [(item.references, item.files) for item in whole.folders]
    own: list[bytes] = []
    others: list[bytes] = []
    cursor = ""
    while cursor is not None:
        answer = ask_pair("cross_repo", symbol="shelf.core.pack", limit=2, cursor=cursor)
        assert [(item.references, item.files) for item in answer.result.folders] == counts
        own += [msgspec.json.encode(item) for item in answer.result.library_references]
        others += [msgspec.json.encode(item) for items in answer.result.consumer_references.values() for item in items]
        cursor = answer.next_cursor
    assert own == [msgspec.json.encode(item) for item in whole.library_references]
    assert others == [msgspec.json.encode(item) for item in whole.consumer_references["app"]]


def test_filters_are_those_of_references(ask_pair: Ask):
    answer = ask_pair("cross_repo", symbol="shelf.core.pack", role=["call"], tests="exclude")
    assert [(item.references, item.files) for item in answer.result.folders] == [(1, 1), (2, 2), (0, 0)]
    assert ask_pair("cross_repo", symbol="shelf.core.pack", include_declaration=True).total == 10
    with pytest.raises(UsageError, match="no role is called 'x'"):
        ask_pair("cross_repo", symbol="shelf.core.pack", role=["x"])


def test_a_position_is_given_as_file_line_and_column(ask_pair: Ask, pair_root: Path):
    _, line, col = at("src/shelf/core.py", "def @@pack", LIBRARY).split(":")
    file = str(pair_root.parent / "lib/src/shelf/core.py")
    answer = ask_pair("cross_repo", symbol_file=file, line=int(line), column=int(col))
    assert answer.query["resolved"]["qualified_name"] == "shelf.core.pack"
    assert answer.total == 9
    with pytest.raises(UsageError, match="two words for one thing"):
        ask_pair("cross_repo", symbol_file=file, file_path="app.py", line=1)


def test_consumers_may_be_named_by_path_by_name_and_by_a_folder_below(ask_pair: Ask, pair_root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(pair_root)

    def by_folder(*roots: str) -> dict[str, int]:
        return {
            item.name: item.references
            for item in ask_pair("cross_repo", symbol="shelf.core.pack", consumer_roots=list(roots)).result.folders
        }

    assert by_folder(str(pair_root)) == {"lib": 5, str(pair_root): 4}
    assert by_folder("app") == {"lib": 5, "app": 4}
    assert by_folder(".", "../idle") == {"lib": 5, ".": 4, "../idle": 0}
    assert by_folder("inner") == {"lib": 5, "inner": 2}
    assert by_folder("app", "inner") == {"lib": 5, "app": 2, "inner": 2}
    assert by_folder("../lib/tests") == {"lib": 3, "../lib/tests": 2}
    assert by_folder("..") == {"lib": 5, "app": 4, "idle": 0}


def test_a_consumer_that_is_not_in_the_index_is_named_with_what_to_run(ask_pair: Ask, pair_root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(pair_root)
    (pair_root.parent / "far").mkdir(exist_ok=True)
    far = str(pair_root.parent / "far")
    answer = ask_pair("cross_repo", symbol="shelf.core.pack", consumer_roots=["app", far, "../nowhere"])
    assert warned(answer) == [("folder_not_indexed", far), ("folder_not_indexed", "../nowhere")]
    assert f"to add it: lspidx index --folder ../idle --folder ../lib --folder {far}" in answer.result.warnings[0].detail
    assert (answer.completeness.status, codes(answer)) == ("partial", ["folder_not_indexed", "folder_not_indexed"])
    for wrong in ("a\0b", "//server/share"):
        with pytest.raises(UsageError, match="is no folder of this machine"):
            ask_pair("cross_repo", symbol="shelf.core.pack", consumer_roots=[wrong])


def test_with_one_folder_the_answer_says_so(ask: Ask):
    answer = ask("cross_repo", symbol="shop.service.run")
    assert [(item.name, item.role) for item in answer.result.folders] == [("shop", "library")]
    assert len(answer.result.library_references) == answer.total == ask("references", symbol="shop.service.run").total
    assert (warned(answer), answer.result.consumer_references) == ([("one_folder", "shop")], {})
    assert answer.completeness.status == "complete"


def test_what_is_defined_outside_all_folders_has_consumers_only(ask: Ask):
    answer = ask("cross_repo", symbol="typing.overload")
    assert [item.role for item in answer.result.folders] == ["consumer"]
    assert ("defined_outside", "") in warned(answer)
    assert answer.total == len(answer.result.consumer_references["shop"]) > 0


def test_references_to_an_installed_copy_are_told_of(pair_copy: Path):
    damage(
        pair_copy,
        "INSERT INTO document SELECT d.* REPLACE (90000 AS doc_id, 'pip:shelf@1/shelf/core.py' AS path, 'external' AS status) "
        "FROM document d WHERE path = '../lib/src/shelf/core.py'",
        "INSERT INTO symbol_name SELECT n.* REPLACE (90000 AS sym_id, 90000 AS doc_id, 2052 AS flags) "
        "FROM symbol_name n WHERE name = 'pack'",
        "INSERT INTO refs SELECT 90000, doc_id, 0, 0, 1, 2, 0, 1 FROM document WHERE path = '../idle/lonely.py'",
    )
    with open_index(pair_copy) as index:
        answer = call(index, "cross_repo", {"symbol": "shelf.core.pack"})
    assert ("installed_copy", "idle") in warned(answer)


# ---- freshness, commits, coverage by folder


def status_of(root: Path, **arguments: object) -> dict[str, str]:
    with open_index(root) as index:
        answer = call(index, "cross_repo", arguments or {"symbol": "shelf.core.pack"})
        return {item.name: item.status for item in answer.result.folders} | {"all": answer.completeness.status}


def test_a_change_in_one_folder_makes_that_folder_partial(pair_copy: Path):
    assert set(status_of(pair_copy).values()) == {"complete"}
    (pair_copy.parent / "lib/src/shelf/new.py").write_text("pack", encoding="utf-8")
    assert status_of(pair_copy) == {"lib": "partial", "app": "complete", "idle": "complete", "all": "partial"}
    with open_index(pair_copy) as index:
        answer = call(index, "cross_repo", {"symbol": "shelf.core.pack"})
        assert ("stale", "lib") in warned(answer)
        [reason] = answer.completeness.reasons
        assert reason.paths == ["../lib/src/shelf/new.py"]
        assert "--folder" in reason.detail
        assert status_of(pair_copy, symbol="shelf.core.pack", consumer_roots=["idle"])["all"] == "partial"
        only = call(index, "cross_repo", {"symbol": "lonely.nothing", "consumer_roots": ["app"]})
        assert only.completeness.status == "complete"  # the library was not asked about


def test_what_git_ignores_is_asked_of_the_folders_own_repository(pair_copy: Path):
    library = pair_copy.parent / "lib"
    subprocess.run(["git", "init", "--quiet", str(library)], check=True)
    (library / ".gitignore").write_text("made.py\n", encoding="utf-8")
    (library / "made.py").write_text("pack", encoding="utf-8")
    (pair_copy / "made.py").write_text("pack", encoding="utf-8")
    with open_index(pair_copy) as index:
        answer = call(index, "references", {"symbol": "shelf.core.pack"})
    assert [reason.paths for reason in answer.completeness.reasons] == [["made.py"]]


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_folder_whose_commit_has_moved_is_told(tmp_path: Path, packed: bool):
    library, root = write_tree(tmp_path / "lib", LIBRARY), write_tree(tmp_path / "app", CONSUMER)
    for folder in (library, root):
        _git(folder, "init", "--quiet")
        _git(folder, "add", ".")
        _git(folder, "commit", "--quiet", "-m", "one")
    crawl_with_ty(root, jobs=1, folders=["../lib"])
    with open_index(root) as index:
        before = call(index, "cross_repo", {"symbol": "shelf.core.pack"})
        _git(library, "commit", "--quiet", "--allow-empty", "-m", "two")
        if packed:
            _git(library, "pack-refs", "--all")
        after = call(index, "cross_repo", {"symbol": "shelf.core.pack"})
    assert [len(item.commit) for item in before.result.folders] == [40, 40]
    assert (warned(before), warned(after)) == ([], [("commit_moved", "lib")])
    assert after.completeness.status == "complete"  # no file differs
    told = lspidx("status", cwd=root).stdout
    assert "now at" in told
    assert [item["now_at"] != "" for item in json_of(lspidx("status", "--json", cwd=root))["result"]["details"]["folders"]] == [False, True]


def test_lost_and_skipped_files_count_for_their_folder(pair_copy: Path):
    damage(
        pair_copy,
        """UPDATE document_coverage SET status = 'lost', reason = 'server_crashed' WHERE method = 'textDocument/definition'
           AND doc_id = (SELECT doc_id FROM document WHERE path = 'app.py')""",
        "INSERT INTO skipped VALUES ('../idle/big.py', 'python', 'too_large')",
        "INSERT INTO unresolved_name SELECT 'pack', doc_id, 1, 1, 4, 8, 0 FROM document WHERE path = 'app.py'",
    )
    (pair_copy.parent / "idle/big.py").write_text("pack()\n", encoding="utf-8")
    assert status_of(pair_copy) == {"lib": "complete", "app": "partial", "idle": "partial", "all": "partial"}


# ---- paths and names across folders


def test_files_of_the_other_folders_are_documents_and_nothing_else_is(ask_pair: Ask, pair_root: Path, tmp_path: Path):
    core = "../lib/src/shelf/core.py"
    assert ask_pair("outline", file_path=core).query["file_path"] == core
    assert ask_pair("outline", file_path=str(pair_root / core)).query["file_path"] == core
    assert ask_pair("outline", file_path="src/shelf/core.py").query["file_path"] == core
    assert names(ask_pair("definition", symbol="src/shelf/core.py:6")) == ["shelf.core.pack"]
    assert "def pack" in ask_pair("source", symbol="shelf.core.pack").result[0].source
    with pytest.raises(NameNotFound, match="nearest"):
        ask_pair("outline", file_path="../lib/src/shelf/none.py")
    for outside in ("../other/x.py", "../lib/../../x.py", "../library/x.py", "/etc/passwd", "..", "../lib/../other/core.py"):
        with pytest.raises(UsageError, match="is outside the workspace"):
            ask_pair("outline", file_path=outside)


def test_a_link_out_of_a_further_folder_is_refused(pair_copy: Path, tmp_path: Path):
    (tmp_path / "secret.py").write_text("x = 1\n", encoding="utf-8")
    (pair_copy.parent / "lib/link.py").symlink_to(tmp_path / "secret.py")
    with open_index(pair_copy) as index, pytest.raises(UsageError):
        call(index, "outline", {"file_path": str(pair_copy.parent / "lib/link.py")})


def test_status_names_languages_and_folders(pair_root: Path):
    told = lspidx("status", cwd=pair_root).stdout
    assert "python" in told
    assert "  folders\n    app                          .\n    idle                         ../idle\n" in told
    report = json_of(lspidx("status", "--json", cwd=pair_root))["result"]["details"]
    assert [(item["language"], item["files"]) for item in report["languages"]] == [("python", 6)]
    assert report["refresh"] == "lspidx index --folder ../idle --folder ../lib"


# ---- with the servers of other languages

GO = {
    "lib/go.mod": "module example.com/shelf\n\ngo 1.21\n",
    "lib/box.go": "package shelf\n\n// Box holds things.\ntype Box struct{}\n\nfunc Pack() *Box { return &Box{} }\n",
    "lib/close.go": 'package shelf\n\nfunc (b *Box) Close() string { return "closed" }\n',
    "app/go.mod": "module example.com/app\n\ngo 1.21\n\nrequire example.com/shelf v0.0.0\n\nreplace example.com/shelf => ../lib\n",
    "app/main.go": 'package main\n\nimport "example.com/shelf"\n\nfunc main() {\n\tshelf.Pack().Close()\n}\n',
}
TYPESCRIPT = {
    "lib/package.json": '{"name": "shelf", "version": "1.0.0", "types": "box.ts"}',
    "lib/tsconfig.json": '{"compilerOptions": {"strict": true}}',
    "lib/box.ts": """export class Box {
  close(): string {
    return "closed";
  }
}

export function pack(): Box {
  return new Box();
}
""",
    "app/package.json": '{"name": "app", "dependencies": {"shelf": "1.0.0"}}',
    "app/tsconfig.json": '{"compilerOptions": {"strict": true, "paths": {"shelf": ["../lib/box.ts"]}}}',
    "app/main.ts": 'import { pack } from "shelf";\n\nexport function ship(): string {\n  return pack().close();\n}\n',
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "files", "function", "method", "caller"),
    [("gopls", GO, "shelf.Pack", "(*Box).Close", "main.main"), ("ts7", TYPESCRIPT, "shelf.pack", "Box.close", "main.ship")],
    ids=["go", "typescript"],
)
def test_a_library_and_its_consumer_in(tmp_path: Path, server: str, files: dict[str, str], function: str, method: str, caller: str):
    """References and callers lead from the consumer into the library, named as the language names them."""
    requires(server)
    root = write_tree(tmp_path, files) / "app"
    crawl(root, Config(jobs=1, folders=["../lib"]), Watcher())
    with open_index(root) as index:
        for name in (function, method):
            answer = call(index, "cross_repo", {"symbol": name, "role": ["call"]})
            assert [(item.name, item.role, item.references) for item in answer.result.folders] == [
                ("lib", "library", 0),
                ("app", "consumer", 1),
            ], name
            assert (answer.completeness.status, warned(answer)) == ("complete", [])
            assert names(call(index, "callers", {"symbol": name})) == [caller]
        assert [
            item.name for item in call(index, "outline", {"file_path": "../lib/" + ("box.go" if server == "gopls" else "box.ts")}).result
        ] == (["Box", "Pack"] if server == "gopls" else ["Box", "pack"])
        if server == "gopls":
            [close] = call(index, "outline", {"file_path": "../lib/close.go"}).result
            assert (close.name, close.of.rpartition(".")[2]) == ("Close", "Box")
