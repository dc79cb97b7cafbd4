"""Questions to real servers: the places of the index, an edit seen at once, texts that are only tried, and strange files and folders."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support import CORPORA, crawl_with_ty, write_tree
from toolchains import requires

from indexer.errors import NameNotFound, ServerMissing, UsageError
from indexer.lsp.enums import FileChangeType
from query.answers.envelope import Answer
from query.facts.index import Index, open_index
from query.live import outline
from query.live.host import Host
from query.live.launch import Launcher
from query.live.tree import Tree
from query.surface.registry import call
from query.surface.service import Service

pytestmark = pytest.mark.slow

LANGUAGES = ("python", "typescript", "go", "rust", "cpp")
Places = set[tuple[str, int, int]]


class World:
    """A copy of a language's corpus with its index and with running servers."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.host = Host(root)
        self.index: Index = open_index(root)

    def at(self, path: str, marked: str) -> dict[str, Any]:
        """The place of the @@ in the one text of a file that reads like `marked`, as parameters."""
        before, after = marked.split("@@")
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(before + after) == 1, marked
        head = text[: text.index(before + after) + len(before)]
        return {"file_path": path, "line": head.count("\n") + 1, "column": len(head.rpartition("\n")[2].encode("utf-16-le")) // 2 + 1}

    def ask(self, tool: str, **arguments: Any) -> Answer[Any]:
        return call(self.index, tool, arguments, servers=self.host, root=self.root)

    def live(self, tool: str, **arguments: Any) -> Answer[Any]:
        answer = self.ask(tool, live=True, **arguments)
        assert answer.provenance.source == "live"
        assert isinstance(answer.provenance.elapsed_ms, int)
        return answer

    def close(self) -> None:
        self.host.close()
        self.index.close()


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Indexed copies of the corpora, each made when it is first asked for. Nobody writes to them: see `copy_of`."""
    made: dict[str, Path] = {}

    def of(language: str) -> Path:
        if language not in made:
            root = tmp_path_factory.mktemp("live") / language
            shutil.copytree(CORPORA / language, root, ignore=shutil.ignore_patterns("__pycache__"))
            crawl_with_ty(root, jobs=1)
            made[language] = root
        return made[language]

    return of


@pytest.fixture(scope="module")
def worlds(indexed: Callable[[str], Path]) -> Iterator[Callable[[str], World]]:
    """The servers of `indexed`, shared by the tests that change nothing."""
    made: dict[str, World] = {}

    def of(language: str) -> World:
        if language not in made:
            made[language] = World(indexed(language))
        return made[language]

    yield of
    for world in made.values():
        world.close()


@pytest.fixture
def copy_of(indexed: Callable[[str], Path], tmp_path: Path) -> Iterator[Callable[[str], World]]:
    """A world of its own that the test may change; times are kept, so nothing is stale."""
    made: list[World] = []

    def of(language: str) -> World:
        made.append(World(shutil.copytree(indexed(language), tmp_path / language, symlinks=True)))
        return made[-1]

    yield of
    for world in made:
        world.close()


@pytest.fixture
def host_of(tmp_path: Path) -> Iterator[Callable[..., Host]]:
    """Hosts of small workspaces without an index, by their files."""
    made: list[Host] = []

    def of(files: dict[str, str | bytes], name: str = "work") -> Host:
        made.append(Host(write_tree(tmp_path / name, files)))
        return made[-1]

    yield of
    for host in made:
        host.close()


def places(answer: Answer[Any]) -> Places:
    return {(place.path, place.line, place.col) for item in answer.result for place in getattr(item, "places", None) or [item]}


def sites(answer: Answer[Any]) -> Places:
    return {(site.path, site.line, site.col) for edge in answer.result for site in edge.sites}


def symbols(answer: Answer[Any]) -> Places:
    return {(item.symbol.path, item.symbol.line, item.symbol.col) for item in answer.result}


# ---- the same as the index says, but for what is written here

SERVERS = {"python": "ty ", "typescript": "typescript-go ", "go": "gopls ", "rust": "rust-analyzer ", "cpp": "clangd "}

TOLD_BY_SERVERS = [
    *("syntax", "definition", "same_binding", "callee_type", "constructor", "property", "decorator", "inferred", "inherited"),
    *("operator", "protocol"),
]
"""Evidence of calls without what is concluded from values, of which no server tells."""

SAME = [
    ("python", "overriding/main.py", "class @@Shape(ABC)"),
    ("python", "overriding/main.py", 'name = "square"\n\n    def @@area'),
    ("python", "overriding/main.py", "shapes.@@get().describe()"),
    ("typescript", "classes/shapes.ts", "interface @@Shape {"),
    ("typescript", "classes/shapes.ts", "  @@describe(): string"),
    ("typescript", "classes/shapes.ts", "static @@unit"),
    ("go", "methods/elsewhere.go", "Counter) @@Twice"),
    ("go", "methods/counter.go", "type @@Counter"),
    ("rust", "traits/mod.rs", "pub trait @@Shape"),
    ("rust", "traits/mod.rs", "pub fn @@new(side"),
]


@pytest.mark.parametrize(("language", "path", "marked"), SAME)
def test_definitions_references_and_callers_are_those_of_the_index(
    worlds: Callable[[str], World], language: str, path: str, marked: str
) -> None:
    """To the column, for the same question; all but the callers of what a call hierarchy does not take, which is said."""
    world = worlds(language)
    at = world.at(path, marked)
    defined = world.live("go_to_definition", **at)
    assert places(defined) == places(world.ask("go_to_definition", **at)) != set()
    assert defined.provenance.servers[0].startswith(SERVERS[language])
    assert len(defined.provenance.servers[0].split()) == 2, "a name and a version"
    assert places(world.live("find_references", include_declaration=True, **at)) == places(
        world.ask("find_references", include_declaration=True, **at)
    )
    called = world.live("find_callers", direction="incoming", **at)
    assert sites(called) == sites(world.ask("find_callers", direction="incoming", dispatch=False, evidence=TOLD_BY_SERVERS, **at))


BY_LIBRARY = {("traits/mod.rs", 41, 34)}
"""What a server knows only with the sources of Rust's standard library, which the crawl here, in an empty environment, does not find."""


@pytest.mark.parametrize(
    ("language", "path", "marked", "more", "fewer"),
    [
        # an override is a reference of what it overrides
        (
            "typescript", "classes/main.ts", "shape.@@area()",
            {("classes/shapes.ts", 12, 36), ("classes/shapes.ts", 24, 12), ("classes/shapes.ts", 9, 12)}, set(),
        ),
        ("rust", "traits/mod.rs", "    fn @@area(&self) -> f64;", {("traits/mod.rs", 24, 8)}, set()),
        # `Self` is a reference of the type
        ("rust", "traits/mod.rs", "pub struct @@Square", {("traits/mod.rs", 18, 30), ("traits/mod.rs", 19, 9)}, set()),
        ("cpp", "headers/store.h", "int @@helper", set(), set()),
        ("cpp", "headers/main.cc", "made.@@put", set(), set()),
    ],
)  # fmt: skip
def test_references_differ_from_the_index_where_a_server_means_more_by_them(
    worlds: Callable[[str], World], language: str, path: str, marked: str, more: Places, fewer: Places
) -> None:
    """What is another symbol for the index is for some servers a reference of this one."""
    world = worlds(language)
    at = world.at(path, marked)
    live = places(world.live("find_references", include_declaration=True, **at))
    indexed = places(world.ask("find_references", include_declaration=True, **at))
    assert live - indexed - BY_LIBRARY == more
    assert indexed - live == fewer


def test_only_the_files_of_a_page_of_uses_are_read_and_long_ones_are_tried_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands around a use is read from its file: of a thousand uses in hundreds of files that took longer than the server."""
    long = "".join(f"\n\ndef other_{number}() -> int:\n    return {number}\n" for number in range(300))
    uses = {
        f"use_{number}.py": f"from a import first\n\n\ndef use() -> int:\n    return first()\n{long}# {number}\n" for number in range(6)
    }
    root = write_tree(tmp_path / "many", {"a.py": f"def first() -> int:\n    return 1\n{long}", **uses})
    tried: list[list[str]] = []
    read: list[str] = []
    too_slow, parse = outline.too_slow, outline.syntaxes.parse

    def trying(texts: Sequence[Any]) -> set[int]:
        tried.append([text.path for text in texts])
        return too_slow(texts)

    def reading(language: str, path: str, *more: Any, **named: Any) -> Any:
        read.append(path)
        return parse(language, path, *more, **named)

    monkeypatch.setattr(outline, "too_slow", trying)
    monkeypatch.setattr(outline.syntaxes, "parse", reading)
    service = Service(root)
    try:
        answer = service.ask("find_references", {"symbol": "a.py:1:5", "live": True, "limit": 500})
        assert {item.enclosing for item in answer.result if item.line == 5} == {"use"}
        assert len([paths for paths in tried if set(paths) & set(uses)]) == 1
        read.clear()
        short = service.ask("find_references", {"symbol": "a.py:1:5", "live": True, "limit": 1})
        assert (len(short.result), short.total) == (1, answer.total)
        assert len(set(read) & set(uses)) <= 1
    finally:
        service.close()


def test_uses_that_the_index_knows_and_a_server_does_not_tell_are_owned_up(tmp_path: Path) -> None:
    """ty stops where a name gets another one, and takes imports for declarations."""
    sources = {
        "a.py": "def first() -> int:\n    return 1\n\n\ndef second() -> int:\n    return 2\n\n\nsecond()\n",
        "b.py": "from a import first as other\n\n\ndef use() -> int:\n    return other()\n",
    }
    root = write_tree(tmp_path / "named", sources)
    crawl_with_ty(root)
    service = Service(root)
    try:
        answer = service.ask("find_references", {"symbol": "a.first", "live": True})
        told = {reason.code: reason.count for reason in answer.completeness.reasons}
        assert (answer.completeness.status, told) == ("partial", {"index_knows_more": 3 - len(answer.result)})
        assert service.ask("find_references", {"symbol": "a.second", "live": True}).completeness.status == "complete"
    finally:
        service.close()


def test_a_declaration_and_its_definition_lead_to_each_other(worlds: Callable[[str], World]) -> None:
    """clangd goes from one to the other, where the index names both."""
    world = worlds("cpp")
    at = world.at("headers/main.cc", "made.@@put")
    both = places(world.ask("go_to_definition", **at))
    assert both == {("headers/store.h", 13, 8), ("headers/store.cc", 11, 13)}
    assert places(world.live("go_to_definition", **at)) == {("headers/store.cc", 11, 13)}
    assert places(world.live("go_to_declaration", **at)) == {("headers/store.h", 13, 8)}


def test_a_method_that_is_taken_as_a_value_is_called_as_gopls_sees_it(worlds: Callable[[str], World]) -> None:
    """`step := l.bump` is a caller for gopls, and for the index a use as a value, which may lead to a call."""
    world = worlds("go")
    at = world.at("methods/counter.go", "Counter) @@bump")
    live = sites(world.live("find_callers", direction="incoming", **at))
    indexed, called = (sites(world.ask("find_callers", direction="incoming", values=values, **at)) for values in (True, False))
    assert live == indexed
    assert indexed - called == {("methods/elsewhere.go", 16, 12)}


@pytest.mark.parametrize(
    ("language", "path", "marked", "expected"),
    [
        ("python", "overriding/main.py", "class @@Square(Shape)", {("overriding/main.py", 25, 7)}),
        ("go", "interfaces/shapes.go", "type @@Shape interface", None),
        ("rust", "traits/mod.rs", "    fn @@area(&self) -> f64;", {("traits/mod.rs", 24, 8)}),
    ],
)
def test_implementations_are_those_of_the_index(
    worlds: Callable[[str], World], language: str, path: str, marked: str, expected: Places | None
) -> None:
    """Some servers list what was asked about as well, and the index what is below only."""
    world = worlds(language)
    at = world.at(path, marked)
    live = symbols(world.live("go_to_implementation", **at)) - {(path, at["line"], at["column"])}
    assert live == symbols(world.ask("go_to_implementation", **at)) != set()
    assert expected is None or live == expected


HOVERS = [
    ("python", "overriding/main.py", "shapes.@@get().describe()", "Shapes.get() -> Shape"),
    ("typescript", "classes/main.ts", "function @@total", "function total(shapes: Shape[]): number"),
    ("go", "methods/elsewhere.go", "Counter) @@Twice", "func (c *Counter) Twice() int"),
    ("rust", "traits/mod.rs", "pub fn @@total", "pub fn total(all: &[Box<dyn Shape>]) -> f64"),
    ("cpp", "headers/store.h", "int @@helper", "int helper(int value)"),
]


@pytest.mark.parametrize(("language", "path", "marked", "said"), HOVERS)
def test_a_hover_comes_from_the_index_until_the_file_changes(
    copy_of: Callable[[str], World], language: str, path: str, marked: str, said: str
) -> None:
    """Then a server tells what stands there now, at once; --offline starts none; a name is looked for where it is by now."""
    world = copy_of(language)
    before = world.ask("inspect_symbol", **world.at(path, marked))
    assert before.provenance.source == "index"
    assert world.host.running() == [], "no server was needed"
    comment = "# new\n" if language == "python" else "// new\n"
    place = world.root / path
    place.write_text(comment + place.read_text(encoding="utf-8"), encoding="utf-8")
    after = world.ask("inspect_symbol", **world.at(path, marked))
    assert after.provenance.source == "live"
    assert after.provenance.servers[0].startswith(SERVERS[language])
    assert said in after.result.hover
    by_name = world.ask("inspect_symbol", symbol=before.result.symbol.qualified_name)
    if before.result.symbol.path == path:  # in C++ the definition is, in another file, which has not changed
        assert by_name.provenance.source == "live"
    assert before.result.symbol.name in by_name.result.hover
    offline = world.ask("inspect_symbol", symbol=before.result.symbol.qualified_name, offline=True)
    assert offline.provenance.source == "index"
    assert (offline.completeness.status == "complete") == (before.result.symbol.path != path)


EDITS = [
    (
        "python", "fresh.py", "\n@@fresh(1)", "count: int", "count: bytes",
        "def fresh(count: int) -> str:\n    return ''\n\n\nfresh(1)\n",
    ),
    (
        "typescript", "fresh.ts", "\n@@fresh(1)", "count: number", "count: unknown",
        "export function fresh(count: number): string { return ''; }\nfresh(1);\n",
    ),
    (
        "go", "methods/fresh.go", "= @@fresh(1)", "count int", "count any",
        'package methods\n\nfunc fresh(count int) string { return "" }\n\nvar _ = fresh(1)\n',
    ),
    (
        "cpp", "fresh.cc", "= @@fresh(1)", "int count", "short count",
        "static long fresh(int count) { return count; }\nlong made = fresh(1);\n",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("language", "path", "marked", "old", "new", "text"), EDITS)
def test_a_file_that_comes_changes_and_goes_is_seen_at_once(
    copy_of: Callable[[str], World], language: str, path: str, marked: str, old: str, new: str, text: str
) -> None:
    """By a server that runs already; no time passes between writing and asking."""
    world = copy_of(language)
    world.host.info(
        {"python": "overriding/main.py", "typescript": "classes/main.ts", "go": "methods/counter.go"}.get(language, "headers/main.cc")
    )
    write_tree(world.root, {path: text})
    assert old in world.live("inspect_symbol", **world.at(path, marked)).result.hover
    for ours, theirs in ((old, new), (new, old), (old, new)):
        at = world.at(path, marked)
        (world.root / path).write_text((world.root / path).read_text(encoding="utf-8").replace(ours, theirs), encoding="utf-8")
        assert theirs in world.live("inspect_symbol", **at).result.hover
    (world.root / path).unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        world.live("inspect_symbol", file_path=path, line=1, column=1)
    assert [server.restarts for server in world.host.running()] == [0]


# ---- other files than the one that is asked about

LIBRARY = {"lib.py": "def give() -> int:\n    return 1\n", "use.py": "from lib import give\n\nvalue = give()\nvalue\n"}


def hover(host: Host, path: str, line: int, character: int, **more: Any) -> str:
    """Of a 0-based place."""
    position = {"line": line, "character": character}
    reply = host.ask(path, "textDocument/hover", {"textDocument": {"uri": (host.root / path).as_uri()}, "position": position}, **more)
    return "" if reply.result is None else str(reply.result["contents"]["value"])


def test_a_changed_interface_of_another_file_is_seen(host_of: Callable[..., Host]) -> None:
    """That file was never opened; it is changed on disk, replaced by renaming, deleted and made again."""
    host = host_of(LIBRARY)
    assert "int" in hover(host, "use.py", 3, 0)
    write_tree(host.root, {"lib.py": "def give() -> str:\n    return ''\n"})
    assert "str" in hover(host, "use.py", 3, 0)
    write_tree(host.root, {"other.py": "def give() -> bytes:\n    return b''\n"})
    (host.root / "other.py").replace(host.root / "lib.py")
    assert "bytes" in hover(host, "use.py", 3, 0)
    (host.root / "lib.py").unlink()
    assert "bytes" not in hover(host, "use.py", 3, 0)
    write_tree(host.root, {"lib/__init__.py": "def give() -> float:\n    return 1.0\n"})
    assert "float" in hover(host, "use.py", 3, 0)


def test_a_file_that_is_written_and_keeps_its_time_is_seen(host_of: Callable[..., Host]) -> None:
    """Of another size, and of the same."""
    host = host_of(LIBRARY)
    place = host.root / "lib.py"
    os.utime(place, ns=(1_700_000_000_000_000_000,) * 2)
    assert "int" in hover(host, "use.py", 3, 0)
    for result in ("bytes", "float", "bytes"):
        write_tree(host.root, {"lib.py": f"def give() -> {result}: ...\n"})
        os.utime(place, ns=(1_700_000_000_000_000_000,) * 2)
        assert result in hover(host, "use.py", 3, 0)


def test_a_text_that_is_only_tried_counts_for_its_question_alone(host_of: Callable[..., Host]) -> None:
    """Of the file itself, of another one, and of one that is not there at all."""
    host = host_of(LIBRARY)
    tried = {"lib.py": "def give() -> str:\n    return ''\n"}
    assert "str" in hover(host, "use.py", 3, 0, overlay=tried)
    assert "int" in hover(host, "use.py", 3, 0)
    assert "str" in hover(host, "use.py", 3, 0, overlay=tried)
    found = host.diagnose(["use.py"], overlay={**tried, "use.py": "from lib import give\n\nvalue: int = give()\n"})
    assert len(found.diagnostics["use.py"]) == 1
    assert host.diagnose(["use.py"]).diagnostics == {"use.py": []}
    assert "int" in hover(host, "new.py", 2, 0, overlay={"new.py": "from lib import give\n\ngive()\n"})
    assert not (host.root / "new.py").exists()
    assert "int" in hover(host, "use.py", 3, 0)


def test_a_checkout_of_hundreds_of_files_is_seen(host_of: Callable[..., Host]) -> None:
    """By git, all within a moment; the last of them says what the first one is."""
    count = 500
    files: dict[str, str | bytes] = {f"m{n}.py": f"from m{n + 1} import give as give\n" for n in range(count)}
    host = host_of(
        {**files, f"m{count}.py": "def give() -> int:\n    return 1\n", "use.py": "from m0 import give\n\nvalue = give()\nvalue\n"}
    )
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.hooksPath=/dev/null"]
    for words in (["init", "-q", "-b", "one"], ["add", "-A"], ["commit", "-qm", "one"], ["checkout", "-qb", "two"]):
        subprocess.run([*git, *words], cwd=host.root, check=True)
    write_tree(host.root, {f"m{n}.py": f"from n{n + 1} import give as give\n" for n in range(1)})
    write_tree(host.root, {f"n{n}.py": f"from n{n + 1} import give as give\n" for n in range(1, count)})
    write_tree(host.root, {f"n{count}.py": "def give() -> str:\n    return ''\n"})
    for words in (["rm", "-q", *(f"m{n}.py" for n in range(1, count + 1))], ["add", "-A"], ["commit", "-qm", "two"]):
        subprocess.run([*git, *words], cwd=host.root, check=True)
    for branch, kind in (("one", "int"), ("two", "str"), ("one", "int")):
        subprocess.run([*git, "checkout", "-q", branch], cwd=host.root, check=True)
        assert kind in hover(host, "use.py", 3, 0)
    assert host.running()[0].restarts == 0


def test_what_a_tree_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Created, changed, deleted; a file that has just been written is told once more than needed rather than once too few."""
    monkeypatch.setattr("query.live.documents._TICK_NS", 0)
    root = write_tree(
        tmp_path / "tree", {"a.py": "1", "b.py": "1", "target/c.py": "1", "node_modules/d.py": "1", "env/pyvenv.cfg": "", "env/e.py": "1"}
    )
    tree = Tree([str(root)], [".py"], ["go.mod"])
    assert tree.changes() == {}
    write_tree(root, {"b.py": "22", "go.mod": "", "target/c.py": "22", "node_modules/d.py": "22", "env/e.py": "22", "x.txt": ""})
    (root / "a.py").unlink()
    told = {os.path.relpath(path, root): kind for path, kind in tree.changes().items()}
    assert told == {
        "a.py": FileChangeType.DELETED,
        "b.py": FileChangeType.CHANGED,
        "go.mod": FileChangeType.CREATED,
        "target/c.py": FileChangeType.CHANGED,
    }
    assert tree.changes() == {}
    write_tree(root, {"new/a.py": ""})
    assert tree.changes() == {str(root / "new"): FileChangeType.CREATED, str(root / "new" / "a.py"): FileChangeType.CREATED}
    write_tree(root, {"Cargo.toml": "", "target/c.py": "333"})
    assert tree.changes() == {str(root / "target"): FileChangeType.DELETED, str(root / "target" / "c.py"): FileChangeType.DELETED}, (
        "what cargo builds"
    )
    monkeypatch.setattr("query.live.documents._TICK_NS", 3_600_000_000_000)
    (root / "b.py").write_text("333", encoding="utf-8")
    os.utime(root / "b.py")
    assert tree.changes()[str(root / "b.py")] == FileChangeType.CHANGED
    assert tree.changes()[str(root / "b.py")] == FileChangeType.CHANGED, "it may have been written again in the same tick"


# ---- places in strange texts


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_columns_and_lines_are_those_of_the_text(host_of: Callable[..., Host], ending: str, mark: str) -> None:
    """After emoji, tabs, combining characters, whatever ends the lines; a byte order mark is no column, as editors count."""
    lines = [
        "def ünï() -> int:",
        "\treturn 1",
        "",
        "@property",
        "def after(): pass",
        's = "\N{PARTY POPPER}e\u0301\t", ünï()',
    ]
    text = mark + ending.join(lines) + ending
    host = host_of({"strange.py": text.encode()})
    at = {"file_path": "strange.py", "line": 6, "column": len(lines[5][: lines[5].rindex("ünï")].encode("utf-16-le")) // 2 + 1}
    found = call(None, "go_to_definition", {**at, "live": True}, servers=host, root=host.root)
    assert places(found) == {("strange.py", 1, 5)}
    assert found.result[0].places[0].text == lines[0]
    assert found.query["resolved"]["qualified_name"] == "ünï"
    by_pattern = {"file_path": "strange.py", "position_pattern": '\t", @@ünï()', "live": True}
    assert places(call(None, "go_to_definition", by_pattern, servers=host, root=host.root)) == places(found)
    named = call(None, "inspect_symbol", {"file_path": "strange.py", "symbol": "after", "live": True}, servers=host, root=host.root)
    assert (named.result.symbol.line, named.result.symbol.col) == (5, 5)
    for line, column, what in ((60, 1, "there is no line 60"), (6, 400, "there is no column 400")):
        with pytest.raises(UsageError, match=what):
            call(
                None,
                "inspect_symbol",
                {"file_path": "strange.py", "line": line, "column": column, "live": True},
                servers=host,
                root=host.root,
            )


def test_bytes_that_are_no_text_count_one_column_each(host_of: Callable[..., Host]) -> None:
    """In a comment before the name, on the same line of a C file."""
    host = host_of({"latin.c": b"int count; /* caf\xe9 \xff\xfe */ int other = 1; int *p = &other;\n"})
    line = "int count; /* caf. .. */ int other = 1; int *p = &other;"
    at = {"file_path": "latin.c", "line": 1, "column": line.rindex("other") + 1, "live": True}
    assert places(call(None, "go_to_definition", at, servers=host, root=host.root)) == {("latin.c", 1, line.index("other") + 1)}


# ---- folders and names


@pytest.mark.parametrize("name", ["mit Leerzeichen", "100%", "naïve#1", "a+b&c", "[x]"])
def test_a_workspace_and_a_file_of_any_name_can_be_asked(host_of: Callable[..., Host], name: str) -> None:
    """URIs quote what paths do not; the places that come back are paths again."""
    host = host_of({f"{name}/{name}.py": "def f() -> int:\n    return 1\n\n\nf()\n"}, name=name)
    at = {"file_path": f"{name}/{name}.py", "line": 5, "column": 1, "live": True}
    assert places(call(None, "find_references", at, servers=host, root=host.root)) >= {(f"{name}/{name}.py", 5, 1)}
    assert host.diagnose([f"{name}/{name}.py"]).diagnostics == {f"{name}/{name}.py": []}


def test_paths_that_lead_out_of_the_workspace_are_refused(host_of: Callable[..., Host], tmp_path: Path) -> None:
    """By dots, absolute, by a link to a file or a folder, as a share of a network, to a folder whose name only begins the same."""
    write_tree(tmp_path, {"outside/secret.py": "x = 1\n", "work-2/secret.py": "x = 1\n"})
    host = host_of({"a.py": "x = 1\n"})
    (host.root / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    (host.root / "folder").symlink_to(tmp_path / "outside")
    strange = ["../outside/secret.py", str(tmp_path / "work-2" / "secret.py"), "link.py", "folder/secret.py", "a.py/../../work-2/secret.py"]
    for path in [*strange, "//host/a.py", "\\\\host\\a.py", "C:\\a.py", "a\0.py"]:
        with pytest.raises(UsageError, match=r"outside the workspace|not a path inside"):
            call(None, "inspect_symbol", {"file_path": path, "line": 1, "column": 1, "live": True}, servers=host, root=host.root)
    assert host.running() == []


def test_a_link_to_the_workspace_is_a_way_into_it(host_of: Callable[..., Host], tmp_path: Path) -> None:
    """An absolute path through it names the same file, and the answer has its path in the workspace."""
    host = host_of(LIBRARY)
    (tmp_path / "way").symlink_to(host.root)
    at = {"file_path": str(tmp_path / "way" / "use.py"), "line": 3, "column": 9, "live": True}
    found = call(None, "go_to_definition", at, servers=host, root=host.root)
    assert places(found) == {("lib.py", 1, 5)}
    assert found.query["resolved"]["symbol"] == "use.py:3:9"


def test_references_outside_the_workspace_cost_no_answer(host_of: Callable[..., Host], tmp_path: Path) -> None:
    """A link that leads out is read by the server, and what it says of it is no file of ours; the builtin's own file is not, either."""
    write_tree(tmp_path, {"outside/theirs.py": "from lib import give\n\ngive()\n"})
    host = host_of({**LIBRARY, "length.py": "len([])\nlen('')\n"})
    (host.root / "theirs.py").symlink_to(tmp_path / "outside" / "theirs.py")
    at = {"file_path": "lib.py", "line": 1, "column": 5, "live": True}
    assert places(call(None, "find_references", at, servers=host, root=host.root)) >= {("use.py", 3, 9)}
    call(None, "find_callers", {**at, "direction": "incoming"}, servers=host, root=host.root)
    at = {"file_path": "length.py", "line": 1, "column": 1, "live": True}
    assert places(call(None, "find_references", at, servers=host, root=host.root)) == {("length.py", 1, 1), ("length.py", 2, 1)}
    assert all(place.startswith("/") for place, _, _ in places(call(None, "go_to_definition", at, servers=host, root=host.root)))


def test_a_header_is_of_the_language_that_is_there(host_of: Callable[..., Host]) -> None:
    """C by itself; C++ as soon as there is a file of it, also one that came later."""
    host = host_of(
        {
            "shape.h": "class Shape { public: int sides() const; };\ninline int use(Shape *s) { return s->sides(); }\n",
            "a.cc": '#include "shape.h"\n',
        }
    )
    assert host.diagnose(["shape.h"]).diagnostics == {"shape.h": []}
    host = host_of({"plain.h": "struct plain { int new; };\n", "a.c": '#include "plain.h"\n'}, name="plain")
    assert host.diagnose(["plain.h"]).diagnostics == {"plain.h": []}
    launcher = Launcher(host.root, host._look().config, dict(os.environ))
    assert launcher.launch("c").languages == ["c"]
    write_tree(host.root, {"b.cc": "int x;\n"})
    assert set(launcher.launch("c").languages) == {"c", "cpp"}


def test_tsx_and_its_modules_are_one_server(host_of: Callable[..., Host]) -> None:
    """A view imports a module; both are asked of one process."""
    host = host_of({
        "tsconfig.json": '{"compilerOptions": {"jsx": "preserve", "strict": true, "types": []}}\n',
        "name.ts": "export const title: string = '';\n",
        "view.tsx": "import { title } from './name';\nexport const view = <T,>(x: T) => [title, x];\n",
    })  # fmt: skip
    at = {"file_path": "view.tsx", "line": 2, "column": 39, "live": True}
    assert places(call(None, "go_to_definition", at, servers=host, root=host.root)) == {("name.ts", 1, 14)}
    host.info("name.ts")
    assert len(host.running()) == 1


# ---- files that no build takes in


@pytest.mark.parametrize(
    ("files", "path", "line"),
    [
        ({"a.cc": "#if 0\nint dead(int x) { return x; }\nint y = dead(1);\n#endif\n"}, "a.cc", 3),
        (
            {
                "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
                "src/lib.rs": "#[cfg(windows)]\nfn f() {}\n#[cfg(windows)]\nfn g() { f(); }\n",
            },
            "src/lib.rs",
            4,
        ),
    ],
    ids=["cpp", "rust"],
)
def test_a_file_that_its_build_leaves_out_costs_neither_an_error_nor_minutes(
    host_of: Callable[..., Host], monkeypatch: pytest.MonkeyPatch, files: dict[str, str | bytes], path: str, line: int
) -> None:
    """The server knows nothing of it, which is not the same as that there is nothing."""
    requires("clangd" if path == "a.cc" else "rust-analyzer")
    monkeypatch.setattr("query.live.running._PROVES_S", 1.0)
    monkeypatch.setattr("query.live.running._PROVES_WITHOUT_SIGNAL_S", 1.0)
    host = host_of(files)
    for _ in range(2):
        at = {"file_path": path, "line": line, "column": 12, "live": True}
        found = call(None, "go_to_definition", at, servers=host, root=host.root)
        assert found.result == []
        assert (found.completeness.status, [reason.code for reason in found.completeness.reasons]) == ("unknown", ["server_unproven"])
    assert host.running()[0].restarts == 0


# ---- no server


def test_a_file_that_no_server_is_for_is_a_usage_error(host_of: Callable[..., Host]) -> None:
    """And one whose language is switched off is told from one whose server is missing."""
    host = host_of({"notes.txt": "x\n", "a.py": "x = 1\n", "lspidx.toml": "[language.python]\nserver = 'none'\n"})
    with pytest.raises(UsageError, match="no language that lspidx knows"):
        call(None, "inspect_symbol", {"file_path": "notes.txt", "line": 1, "column": 1, "live": True}, servers=host, root=host.root)
    with pytest.raises(ServerMissing, match="none"):
        call(None, "inspect_symbol", {"file_path": "a.py", "line": 1, "column": 1, "live": True}, servers=host, root=host.root)


def test_where_the_server_is_missing_the_index_answers_and_says_so(
    copy_of: Callable[[str], World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a changed file; the reason names the server that is missing. Asked for live alone, it is an error."""
    world = copy_of("go")
    (tmp_path / "none").mkdir()
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    place = world.root / "methods" / "counter.go"
    place.write_text(place.read_text(encoding="utf-8") + "\n// changed\n", encoding="utf-8")
    for answer in (
        world.ask("inspect_symbol", **world.at("methods/counter.go", "Counter) @@bump")),
        world.ask("get_diagnostics", file_path="methods/counter.go"),
    ):
        assert answer.provenance.source == "index"
        assert answer.completeness.status == "partial"
        (why,) = [reason.detail for reason in answer.completeness.reasons if reason.code == "live_unavailable"]
        assert "gopls" in why
    with pytest.raises(ServerMissing, match="gopls"):
        world.ask("inspect_symbol", live=True, **world.at("methods/counter.go", "Counter) @@bump"))


def test_diagnostics_of_a_changed_file_are_live_and_those_of_others_the_indexs(copy_of: Callable[[str], World]) -> None:
    """An error that was just written is there, and is gone when it is mended; `--offline` has the old ones, and says so."""
    world = copy_of("python")
    place = world.root / "properties" / "main.py"
    before = place.read_text(encoding="utf-8")
    assert world.ask("get_diagnostics", file_path="properties/main.py").provenance.source == "index"
    place.write_text(before + "\n\nNUMBER: int = 'text'\n", encoding="utf-8")
    after = world.ask("get_diagnostics", file_path="properties/main.py")
    assert after.provenance.source == "live"
    assert [(item.line, item.col) for item in after.result.diagnostics if "Literal" in item.message] == [(before.count("\n") + 3, 15)]
    offline = world.ask("get_diagnostics", file_path="properties/main.py", offline=True)
    assert (offline.provenance.source, offline.completeness.status) == ("index", "partial")
    place.write_text(before + "\n\nNUMBER: int = 1\n", encoding="utf-8")
    assert not [
        item for item in world.ask("get_diagnostics", file_path="properties/main.py").result.diagnostics if "Literal" in item.message
    ]


# ---- an index that comes, or lies above


def test_a_service_in_a_folder_below_its_index_asks_from_the_indexs_root(
    copy_of: Callable[[str], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are relative to where the index is; those of the current folder are found as well."""
    root = copy_of("python").root
    monkeypatch.chdir(root / "overriding")
    service = Service(root / "overriding")
    try:
        for path in ("main.py", "overriding/main.py"):
            found = service.ask("go_to_definition", {"file_path": path, "line": 52, "column": 12, "live": True})
            assert {place[0] for place in places(found)} == {"overriding/main.py"}
    finally:
        service.close()


def test_an_index_that_is_made_further_up_moves_the_root_of_a_service(tmp_path: Path) -> None:
    """A server that answered before there was one is asked no more: its paths start elsewhere."""
    root = write_tree(tmp_path / "repository", {f"sub/{name}": text for name, text in LIBRARY.items()})
    service = Service(root / "sub")
    try:
        at = {"line": 3, "column": 9, "live": True}
        assert places(service.ask("go_to_definition", {"file_path": "use.py", **at})) == {("lib.py", 1, 5)}
        crawl_with_ty(root, jobs=1)
        assert places(service.ask("go_to_definition", {"file_path": "sub/use.py", **at})) == {("sub/lib.py", 1, 5)}
    finally:
        service.close()


def test_a_name_that_is_gone_is_not_found(copy_of: Callable[[str], World]) -> None:
    """The index knows it, and the file has changed: what it has now is named."""
    world = copy_of("python")
    place = world.root / "properties" / "main.py"
    place.write_text("def other(): ...\n", encoding="utf-8")
    with pytest.raises(NameNotFound, match="it has: other"):
        world.ask("inspect_symbol", symbol="properties.main.Box")
