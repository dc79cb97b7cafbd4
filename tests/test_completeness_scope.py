"""A gap makes an answer partial where it may hide a use of what was asked about, and nowhere else. Each case plants one, then looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexer.store.generations import Home
from query.answers import advice
from query.answers.envelope import Completeness, Reason
from query.facts.gaps.hints import hint, without_repeated
from query.facts.index import Index, open_index
from query.surface.registry import call
from tests.query_support import damage
from tests.support import crawl_with_ty, write_tree

FILES = {
    "lib.py": "class Box:\n    def open(self):\n        return 1\n\n    def _shut(self):\n        return 2\n\n\n"
    "def pack():\n    return 3\n\n\ndef wrap():\n    return pack()\n",
    "again.py": "from lib import pack as fold\n",
    "use.py": "from lib import Box\n\n\ndef take():\n    return Box().open()\n",
    "door.py": "class Door:\n    def open(self):\n        return 1\n\n\ndef make() -> Door:\n    return Door()\n",
    "hall.py": "from door import make\n\n\ndef enter():\n    return make().open()\n",
    "calm.py": "x = 'nothing of it'\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("scope") / "made", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(made, tmp_path / "made", copy_function=shutil.copy2, symlinks=True))


def certified(root: Path, symbol: str, tool: str = "callers", **more: object) -> Completeness:
    with open_index(root) as index:
        return call(index, tool, {"symbol": symbol, **more}).completeness


def codes(root: Path, symbol: str, tool: str = "callers", **more: object) -> list[str]:
    return [reason.code for reason in certified(root, symbol, tool, **more).reasons]


def _status(root: Path, path: str, method: str, status: str, reason: str) -> None:
    damage(
        root,
        f"""UPDATE document_coverage SET status = '{status}', reason = '{reason}'
            WHERE method = '{method}' AND doc_id = (SELECT doc_id FROM document WHERE path = '{path}')""",
    )


# ---- files that have changed


def test_a_new_use_in_a_changed_file_is_not_missed(root: Path) -> None:
    (root / "calm.py").write_text("import lib\nlib.wrap()\n", encoding="utf-8")
    assert codes(root, "lib.wrap") == ["stale"]
    assert codes(root, "lib.pack") == []


def test_a_name_within_a_longer_one_is_none(root: Path) -> None:
    (root / "calm.py").write_text("unwrap = wrapped = 1\n", encoding="utf-8")
    assert codes(root, "lib.wrap") == []


def test_a_changed_file_may_use_a_symbol_by_the_name_that_an_import_gives_it(root: Path) -> None:
    (root / "calm.py").write_text("from again import fold\nfold()\n", encoding="utf-8")
    assert codes(root, "lib.pack") == ["stale"]


def test_what_a_changed_file_returns_may_make_a_call_elsewhere_one_of_another_type(root: Path) -> None:
    """`make().open()` in hall.py was Door's; it is Box's now, and door.py does not say `open` of it."""
    (root / "calm.py").write_text("x = 2\n", encoding="utf-8")
    (root / "door.py").write_text("import lib\n\n\ndef make() -> lib.Box:\n    return lib.Box()\n", encoding="utf-8")
    assert certified(root, "Box.open").reasons[0].paths == ["door.py"]
    (root / "door.py").write_text("import helper\n\n\ndef make():\n    return helper.thing()\n", encoding="utf-8")
    assert certified(root, "Box.open").reasons[0].paths == ["door.py"]
    assert codes(root, "Box._shut") == []


def test_a_use_that_was_deleted_is_told(root: Path) -> None:
    (root / "use.py").unlink()
    assert codes(root, "Box.open") == ["stale"]
    assert codes(root, "lib.pack") == []


def test_a_changed_definition_is_told(root: Path) -> None:
    (root / "lib.py").write_text("x = 1\n", encoding="utf-8")
    assert codes(root, "lib.pack") == ["stale"]


PASSED_ON = {
    "m.py": "class K:\n    def run(self): ...\n\n\nclass J:\n    def run(self): ...\n\n\ndef f(): ...\n",
    "n.py": "def f(): ...\n",
    "alias.py": "from m import K as C\n",
    "star.py": "from m import *\n",
    "module.py": "import m as names\n",
    "user.py": "import alias\nimport module\nfrom star import f\n\n\ndef go():\n    c = alias.C()\n    c.run()\n    f()\n"
    "    module.names.f()\n",
    "calm.py": "x = 1\n",
}


def test_a_changed_file_through_which_others_had_it_is_told(tmp_path: Path) -> None:
    """What stands in user.py means something else now, and the changed file names nothing of what was asked about."""
    root = write_tree(tmp_path / "work", PASSED_ON)
    crawl_with_ty(root, jobs=1)
    (root / "calm.py").write_text("x = 2  # nobody has anything from here\n", encoding="utf-8")
    for path, text, asked in (
        ("alias.py", "from m import J as C\n", "K.run"),
        ("star.py", "from n import *\n", "m.f"),
        ("module.py", "import n as names\n", "m.f"),
    ):
        assert codes(root, asked) == []
        (root / path).write_text(text, encoding="utf-8")
        assert [reason.paths for reason in certified(root, asked).reasons] == [[path]], path
        (root / path).write_text(PASSED_ON[path], encoding="utf-8")
    assert codes(root, "m.f") == []


# ---- files that were read in part, or not at all


def test_a_call_in_text_that_could_not_be_parsed_is_not_missed(tmp_path: Path) -> None:
    files = {**FILES, "broken.py": "import lib\n# pack and wrap\n\ndef f(:\n    ) lib.pack( ]\n"}
    root = write_tree(tmp_path / "broken", files)
    crawl_with_ty(root, jobs=1)
    damage(root, "DELETE FROM occ WHERE doc_id = (SELECT doc_id FROM document WHERE path = 'broken.py') AND name = 'pack'")
    reason = certified(root, "lib.pack").reasons[0]
    assert (reason.code, reason.paths) == ("syntax_error", ["broken.py"])
    assert "broken.py:5" in reason.detail
    assert codes(root, "lib.wrap") == [], "a comment names it, and nothing else"


def test_a_lost_file_counts_where_it_has_the_name(root: Path) -> None:
    (root / "calm.py").write_text(FILES["calm.py"], encoding="utf-8")
    for method in ("syntax", "textDocument/definition"):
        _status(root, "calm.py", method, "lost", "not_crawled")
    assert codes(root, "lib.pack") == []
    lost = root / "calm.py"
    stamp = lost.stat()
    damage(root, "DELETE FROM stamp WHERE path = 'calm.py'")
    lost.write_text("from lib import pack\npack()\n", encoding="utf-8")
    assert codes(root, "lib.pack") == ["lost_not_crawled"]
    assert stamp.st_size != lost.stat().st_size


def test_a_server_that_failed_on_a_file_counts_where_the_name_is_unresolved(root: Path) -> None:
    _status(root, "calm.py", "textDocument/definition", "lost", "server_crashed")
    assert codes(root, "lib.wrap") == []
    damage(root, "INSERT INTO unresolved_name SELECT 'wrap', doc_id, 0, 0, 4, 8, 0 FROM document WHERE path = 'calm.py'")
    [reason] = certified(root, "lib.wrap").reasons
    assert reason.code == "lost_server_crashed", "said once, with its cause, and not as an unresolved name too"
    assert "other servers, by lspidx index --server NAME: basedpyright" in reason.detail


def test_members_that_syntax_runs_unnamed_may_be_run_in_any_file(root: Path, tmp_path: Path) -> None:
    files = {**FILES, "bag.py": "class Bag:\n    def __getitem__(self, key):\n        return key\n"}
    bag = write_tree(tmp_path / "bag", files)
    crawl_with_ty(bag, jobs=1)
    (bag / "calm.py").write_text("import bag\nbag.Bag()[1]\n", encoding="utf-8")
    assert "stale" in codes(bag, "Bag.__getitem__", direction="incoming")
    assert codes(bag, "lib.wrap") == []


def test_a_build_that_no_server_loaded_says_its_tag_and_how_to_read_it(root: Path) -> None:
    _status(root, "calm.py", "textDocument/definition", "skipped", "not_in_build: behind build constraint ''msgpack && !nomsgpack''")
    assert codes(root, "lib.wrap") == []
    damage(root, "INSERT INTO unresolved_name SELECT 'wrap', doc_id, 0, 0, 4, 8, 0 FROM document WHERE path = 'calm.py'")
    [reason] = certified(root, "lib.wrap").reasons
    assert reason.code == "not_in_build"
    assert "behind build constraint 'msgpack" in reason.detail
    assert "-tags=msgpack" in reason.detail


# ---- what is visible in a part of the workspace only


def test_a_local_is_used_in_its_file_only(root: Path) -> None:
    (root / "calm.py").write_text("x = 1\nfold = pack = 2\n", encoding="utf-8")
    assert codes(root, "calm.py:1:1", "references") == ["stale"]
    with open_index(root) as index:
        row = index.row("SELECT s.moniker FROM symbol s WHERE has_flag(s.flags, 'local') AND NOT has_flag(s.flags, 'parameter') LIMIT 1")
    assert row is None or codes(root, row[0], "references") == []


# ---- what a missing environment hides


LACKING = {"language": "python", "name": "environment", "detail": "nothing is installed", "remedy": "pip install .", "can_fetch": True}


def test_diagnostics_without_the_packages_that_they_need_are_partial(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_index(root) as index:
        assert call(index, "get_diagnostics", {}).completeness.status == "complete"
        monkeypatch.setattr(Index, "manifest", lambda _: {"prerequisites": [LACKING]})
        for asked in ({}, {"path": "lib*"}, {"file_path": "lib.py", "offline": True}):
            [reason] = call(index, "get_diagnostics", asked).completeness.reasons
            assert reason.code == "missing_environment"
            assert "nothing is installed; to get it: pip install ., or lspidx index --fetch" in reason.detail
        assert call(index, "get_diagnostics", {"path": "nowhere/*"}).completeness.status == "complete"


def test_an_unresolved_name_says_what_is_missing_where_something_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(root, "INSERT INTO unresolved_name SELECT 'wrap', doc_id, 0, 0, 4, 24, 0 FROM document WHERE path = 'calm.py'")
    assert "pip install" not in certified(root, "lib.wrap").reasons[0].detail
    monkeypatch.setattr(Index, "manifest", lambda _: {"prerequisites": [LACKING]})
    assert "which may be why" not in certified(root, "lib.wrap").reasons[0].detail, "all that it imports is here"
    damage(root, "INSERT INTO unresolved_import SELECT doc_id, 0, 'flask_script' FROM document WHERE path = 'calm.py'")
    assert "nothing is installed, which may be why: pip install ." in certified(root, "lib.wrap").reasons[0].detail
    assert codes(root, "lib.pack") == []


def _with_open_imports(root: Path, **modules: str) -> None:
    """Documents that import a module each that nobody could resolve, and the name `wrap` unresolved in hall.py, which imports door.py."""
    damage(root, "INSERT INTO unresolved_name SELECT 'wrap', doc_id, 0, 0, 4, 24, 0 FROM document WHERE path = 'hall.py'")
    for document, module in modules.items():
        damage(root, f"INSERT INTO unresolved_import SELECT doc_id, 0, '{module}' FROM document WHERE path = '{document}.py'")


@pytest.mark.parametrize(
    ("modules", "packages", "is_why"),
    [
        ({"calm": "flask_script"}, ["Flask-Script"], False),  # which hall.py does not import
        ({"door": "flask_script"}, ["Flask-Script"], True),
        ({"door": "yaml", "calm": "flask_script"}, ["Flask-Script"], False),
        ({"door": "yaml", "calm": "flask_script"}, ["Flask-Script", "PyYAML"], True),  # what PyYAML is imported as, nobody knows
        ({"door": "flask_script.commands"}, [], True),
    ],
)
def test_what_is_missing_is_told_where_it_may_be_why(
    root: Path, monkeypatch: pytest.MonkeyPatch, modules: dict[str, str], packages: list[str], is_why: bool
) -> None:
    _with_open_imports(root, **modules)
    monkeypatch.setattr(Index, "manifest", lambda _: {"prerequisites": [{**LACKING, "packages": packages}]})
    [reason] = certified(root, "lib.wrap").reasons
    assert reason.code == "unresolved_same_name"
    assert ("which may be why" in reason.detail) == is_why


def test_what_is_missing_is_told_once_in_an_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_open_imports(root, door="gone")
    monkeypatch.setattr(Index, "manifest", lambda _: {"prerequisites": [LACKING]})
    with open_index(root) as index:
        told = hint(index, ["hall.py"], lambda _: [])
        reasons = [Reason(code=code, detail=f"{code}{told}") for code in ("one", "two")]
        assert [reason.detail for reason in without_repeated(index, reasons)] == [f"one{told}", "two"]


@pytest.mark.slow
def test_what_fetch_did_not_bring_is_not_advised_to_be_fetched(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_open_imports(root, door="gone")
    monkeypatch.setattr(Index, "manifest", lambda _: {"prerequisites": [LACKING]})
    assert "pip install ., or lspidx index --fetch" in certified(root, "lib.wrap").reasons[0].detail
    monkeypatch.setattr(Home, "flags", lambda _: {"fetch": True})
    assert (
        certified(root, "lib.wrap")
        .reasons[0]
        .detail.endswith("which may be why: pip install .; list: lspidx query references lib.wrap --possible")
    )
    for item, how in (
        (LACKING, "; to get it: pip install ."),
        ({**LACKING, "remedy": "lspidx index --fetch"}, "; --fetch could not bring it"),
    ):
        [line] = advice.lacking({"prerequisites": [item]}, fetched=True)
        assert how in line
        assert "lspidx index --fetch" not in line


def test_a_base_that_nobody_could_resolve_may_call_what_overrides_it(tmp_path: Path) -> None:
    files = {
        "view.py": "from nowhere_at_all import Base\n\n\nclass View(Base):\n    def dispatch_it(self):\n        return 1\n\n\n"
        "class Below(View):\n    def also(self):\n        return 2\n\n\ndef alone():\n    return 3\n"
    }
    root = write_tree(tmp_path / "view", files)
    crawl_with_ty(root, jobs=1)
    for member in ("View.dispatch_it", "Below.also"):
        found = certified(root, member, direction="incoming")
        assert [reason.code for reason in found.reasons].count("unresolved_base") == 1, member
        assert "install" in found.reasons[0].detail
    assert codes(root, "view.alone", direction="incoming") == []
    assert codes(root, "View.dispatch_it", "references") == [], "a base calls it and does not name it here"


def test_every_reason_for_which_files_are_not_read_has_words_and_a_remedy(root: Path) -> None:
    from indexer.model import BORDERS, LossReason, SkipReason
    from query.facts.gaps import causes

    silent = {SkipReason.EXCLUDED, SkipReason.SYMLINK, SkipReason.NOT_IN_BUILD, *BORDERS}
    for reason in set(SkipReason) - silent:
        told = causes.not_read(reason, ["a.py"])
        assert "; " in told, reason
        assert "_" not in told.replace("max_file_bytes", "").replace("max_file_depth", ""), reason
    with open_index(root) as index:
        for loss in set(LossReason) - {LossReason.SYNTAX_ERROR}:
            assert ";" in causes.lost(index, f"{loss}: it said so", "python"), loss


def test_a_name_that_stands_alone_is_no_other_files_unless_it_is_imported(tmp_path: Path) -> None:
    files = {**FILES, "case.py": "wrap()\n", "star.py": "from nowhere_at_all import *\npack()\n"}
    root = write_tree(tmp_path / "alone", files)
    crawl_with_ty(root, jobs=1)
    assert codes(root, "lib.wrap") == []
    assert certified(root, "lib.pack").reasons[0].paths == ["star.py"]
    (root / "case.py").write_text("def f(lib):\n    (lib.\n    wrap())\n", encoding="utf-8")
    crawl_with_ty(root, jobs=1)
    assert certified(root, "lib.wrap").reasons[0].paths == ["case.py"]


def test_lists_say_it_of_their_rows(root: Path) -> None:
    (root / "calm.py").write_text("wrap\n", encoding="utf-8")
    with open_index(root) as index:
        found = call(index, "unreferenced", {"include_exported": True})
    rows = {row.symbol.name: row.reasons for row in found.result}
    assert "partial_coverage" in rows["wrap"]
    assert "partial_coverage" not in rows["take"]


def test_whoever_asks_for_more_rows_loses_no_certain_one(root: Path) -> None:
    """Of more than 50 symbols it is said together that a changed file may name them: of all members, for one that it may know."""
    many = "".join(
        f"class C{number}:\n    def m(self):\n        return {number}\n\n    def _own(self):\n        return 1\n\n\n"
        for number in range(60)
    )
    (root / "many.py").write_text(many, encoding="utf-8")
    crawl_with_ty(root, jobs=1)
    (root / "calm.py").write_text("C1, C59\n", encoding="utf-8")

    def certain(**more: object) -> set[str]:
        with open_index(root) as index:
            rows = call(index, "unreferenced", {"path": "many.py", "limit": 1_000, **more}).result
        return {row.symbol.qualified_name for row in rows if row.confidence == "certain"}

    alone = certain(kind=["method"])
    assert certain(kind=["method"], include_exported=True) == alone
    assert certain(kind=["method", "class"], include_exported=True) <= alone
