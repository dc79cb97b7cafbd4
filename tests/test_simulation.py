"""Edits that are tried in memory: judged by real servers, kept between calls, written only when asked for."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from query_support import json_of, lspidx
from support import Watcher, crawl_with_ty, write_tree
from test_mcp import connected, data, run
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import EditRefused, EditsOff, LspidxError, NameNotFound, UsageError
from query.answers.diagnostic import Diagnostic
from query.answers.style import Style
from query.context import Diagnosis, ServerInfo
from query.dialects import dialect
from query.edits.text import Document
from query.facts.index import open_index
from query.live.host import Host
from query.refactor.simulation import session as sessions
from query.refactor.simulation import store as stores
from query.refactor.simulation import trial
from query.refactor.simulation.compare import Lines, compare, plain
from query.refactor.simulation.session import Session
from query.surface.registry import call, load
from query.surface.service import Service

Ask = Callable[..., Any]

PATIENT = 60_000

SHOP = {
    "kit.py": 'def area(width: int, height: int) -> int:\n    return width * height\n\n\ndef wrong() -> int:\n    return "x"\n',
    "app.py": "from kit import area\n\nTOTAL: int = area(1, 2)\n",
    "alone.py": "ANSWER = 42\n",
    "run.sh": "echo hello\n",
    "notes.txt": "one\n",
}
BREAKS = {"file_path": "kit.py", "old_text": "width: int, height: int", "new_text": "width: int, height: int, depth: int"}
FIXES = {"file_path": "kit.py", "old_text": '"x"', "new_text": "1"}
HARMS = {"file_path": "kit.py", "old_text": "width * height", "new_text": "width * depth"}


class Asked:
    """Tools of one workspace, with servers that stay."""

    def __init__(self, root: Path, host: Any, *, indexed: bool = True) -> None:
        self.root, self.host = root, host
        self._index = open_index(root) if indexed else None

    def answer(self, name: str, *, may_write: bool = True, **arguments: Any) -> Any:
        return call(self._index, name, arguments, servers=self.host, root=self.root, edits=may_write)

    def __call__(self, name: str, **arguments: Any) -> Any:
        return self.answer(name, **arguments).result

    def session(self, *edits: Mapping[str, Any]) -> str:
        """The id of a new session that has these edits."""
        made = self("create_simulation_session", language="python").session_id
        for edit in edits:
            self("simulate_edit", session_id=made, **edit)
        return made

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("simulation") / "made", SHOP)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "shop", symlinks=True)


@pytest.fixture
def shop(root: Path) -> Any:
    host = Host(root)
    yield Asked(root, host)
    host.close()


# ---- what an edit breaks and mends, by every server


KINDS: dict[str, tuple[str, dict[str, str], dict[str, str], str, str]] = {
    "python": (
        "ty",
        {"kit.py": SHOP["kit.py"], "app.py": SHOP["app.py"]},
        BREAKS,
        "app.py",
        "depth",
    ),
    "typescript": (
        "ts7",
        {
            "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "commonjs"}, "include": ["*.ts"]}\n',
            "kit.ts": "export function area(width: number, height: number): number {\n  return width * height;\n}\n",
            "app.ts": 'import { area } from "./kit";\n\nexport const total: number = area(1, 2);\n',
        },
        {"file_path": "kit.ts", "old_text": "height: number)", "new_text": "height: number, depth: number)"},
        "app.ts",
        "Expected 3 arguments",
    ),
    "go": (
        "gopls",
        {
            "go.mod": "module example.com/shop\n\ngo 1.21\n",
            "kit/kit.go": "package kit\n\nfunc Area(w, h int) int { return w * h }\n",
            "main.go": 'package main\n\nimport "example.com/shop/kit"\n\nfunc main() { println(kit.Area(1, 2)) }\n',
        },
        {"file_path": "kit/kit.go", "old_text": "w, h int", "new_text": "w, h, d int"},
        "main.go",
        "not enough arguments",
    ),
    "cpp": (
        "clangd",
        {
            "compile_flags.txt": "-std=c++17\n",
            "kit.h": "#pragma once\nint area(int w, int h);\n",
            "kit.cc": '#include "kit.h"\nint area(int w, int h) { return w * h; }\n',
            "main.cc": '#include "kit.h"\nint main() { return area(1, 2); }\n',
        },
        {"file_path": "kit.h", "old_text": "int w, int h", "new_text": "int w, int h, int d"},
        "main.cc",
        "No matching function",
    ),
    "rust": (
        "rust-analyzer",
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/kit.rs": "pub fn area(width: u32, height: u32) -> u32 {\n    width * height\n}\n",
            "src/main.rs": "mod kit;\n\nfn main() {\n    let total: u32 = kit::area(3, 4);\n    let _ = total;\n}\n",
        },
        {"file_path": "src/kit.rs", "old_text": "height: u32)", "new_text": "height: u32, depth: u32)"},
        "src/main.rs",
        "expected 3 arguments",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_that_breaks_a_caller_in_another_file_is_found_in_the_scope_of_the_workspace(kind: str, tmp_path: Path):
    server, files, breaks, broken, said = KINDS[kind]
    if server != "ty":
        requires(server)
    root = write_tree(tmp_path / "work", files)
    crawl(root, Config(jobs=1), Watcher(), environment={})
    host = Host(root)
    try:
        ask = Asked(root, host)
        edited = breaks["file_path"]
        before = {path: ask.text(path) for path in files}
        alone = ask("preview_edit", **breaks, scope="file", timeout_ms=PATIENT)
        assert (alone.asked, alone.net_delta, alone.safe) == ([edited], 0, False)
        assert alone.confidence == "eventual" or {site.path for item in alone.left_behind for site in item.sites} == {broken}
        answer = ask.answer("preview_edit", **breaks, scope="workspace", timeout_ms=PATIENT)
        limits = [reason.code for reason in answer.completeness.reasons]
        assert limits == (["less_than_the_compiler"] if kind == "rust" else [])
        wide = answer.result
        assert wide.asked[0] == edited
        assert broken in wide.asked
        assert [item.path for item in wide.errors_introduced] == [broken]
        assert said in wide.errors_introduced[0].message
        assert (wide.net_delta, wide.confidence, wide.safe, wide.errors_resolved) == (1, "high", False, [])
        mended = ask("preview_edit", file_path=edited, old_text=breaks["old_text"], new_text=breaks["old_text"], timeout_ms=PATIENT)
        assert (mended.net_delta, mended.safe) == (0, True)
        assert {path: ask.text(path) for path in files} == before
        now = ask("get_diagnostics", file_path=broken, live=True)  # the server is left with what is on disk
        assert now.counts["error"] == 0
    finally:
        host.close()


def test_an_edit_that_mends_an_error_says_which_one_it_was(shop: Asked):
    found = shop("preview_edit", **FIXES)
    assert [(item.path, item.line, item.code) for item in found.errors_resolved] == [("kit.py", 6, "invalid-explicit-return")]
    assert (found.errors_introduced, found.net_delta, found.safe) == ([], -1, True)


def test_an_error_that_only_moves_is_neither_introduced_nor_resolved(shop: Asked):
    above = {"file_path": "kit.py", "start_line": 1, "start_column": 1, "end_line": 1, "end_column": 1, "new_text": "# one\n# two\n"}
    found = shop("preview_edit", **above)
    assert (found.errors_introduced, found.errors_resolved, found.net_delta, found.safe) == ([], [], 0, True)


def test_an_edit_that_mends_one_error_and_makes_another_is_not_safe_though_its_delta_is_0(shop: Asked):
    session = shop.session(FIXES, HARMS)
    found = shop("evaluate_session", session_id=session)
    assert (len(found.errors_introduced), len(found.errors_resolved), found.net_delta, found.safe) == (1, 1, 0, False)


def test_positions_of_a_simulated_edit_are_from_1_and_end_before_the_end(shop: Asked):
    session = shop("create_simulation_session", language="python").session_id
    made = shop(
        "simulate_edit", session_id=session, file_path="alone.py", start_line=1, start_column=10, end_line=1, end_column=12, new_text="7"
    )
    assert (made.edit_applied, made.version_after, made.status) == (True, 1, "mutated")
    again = shop("simulate_edit", session_id=session, file_path="alone.py", old_text="= 7", new_text="= 8")
    assert (again.version_after, again.edit.start_column) == (2, 8)
    assert "+ANSWER = 8" in shop("commit_session", session_id=session).edited.files[0].diff
    whole = shop("simulate_edit", session_id=session, file_path="alone.py", start_line=1, new_text="OTHER = 1")
    assert (whole.edit.start_column, whole.edit.end_line, whole.edit.end_column) == (1, 1, 11)


# ---- chains


def test_a_chain_says_through_which_step_it_is_safe_to_go(shop: Asked):
    session = shop("create_simulation_session", language="python").session_id
    edits = [
        {"file_path": "kit.py", "start_line": 1, "start_column": 1, "end_line": 1, "end_column": 1, "new_text": "# first\n"},
        {"file_path": "kit.py", "start_line": 2, "start_column": 10, "end_line": 2, "end_column": 33, "new_text": "width: int"},
        {"file_path": "kit.py", "old_text": "width * height", "new_text": "width"},
    ]
    found = shop("simulate_chain", session_id=session, edits=edits, scope="workspace", timeout_ms=PATIENT)
    assert [(step.step, step.net_delta, step.safe) for step in found.steps] == [(1, 0, True), (2, 2, False), (3, 1, False)]
    assert {item.path for item in found.steps[1].errors_introduced} == {"kit.py", "app.py"}
    assert (found.safe_to_apply_through_step, found.cumulative_delta, found.status) == (1, 1, "evaluated")
    caller = [{"file_path": "app.py", "old_text": "area(1, 2)", "new_text": "area(1)"}]
    rest = shop("simulate_chain", session_id=session, edits=caller, scope="workspace", timeout_ms=PATIENT)
    assert (rest.safe_to_apply_through_step, rest.cumulative_delta) == (1, 0)
    assert shop.text("kit.py") == SHOP["kit.py"]


def test_a_chain_with_a_step_that_cannot_be_made_leaves_the_session_as_it_was(shop: Asked):
    session = shop.session(FIXES)
    with pytest.raises(EditRefused, match=r"old_text is not in 'kit\.py'"):
        shop("simulate_chain", session_id=session, edits=[HARMS, {**FIXES, "old_text": "nowhere"}])
    assert [item.diff.count("\n+") for item in shop("commit_session", session_id=session).edited.files] == [2]


# ---- commits


def test_a_commit_is_a_patch_until_it_is_told_to_apply(shop: Asked):
    session = shop.session(FIXES)
    committed = shop("commit_session", session_id=session)
    assert (committed.files_written, committed.status, committed.edited.applied) == ([], "mutated", False)
    assert shop.text("kit.py") == SHOP["kit.py"]
    written = shop("commit_session", session_id=session, apply=True)
    assert (written.files_written, written.status) == (["kit.py"], "committed")
    assert shop.text("kit.py") == SHOP["kit.py"].replace('"x"', "1")
    with pytest.raises(EditRefused, match="committed"):
        shop("commit_session", session_id=session, apply=True)
    with pytest.raises(EditRefused, match="committed"):
        shop("simulate_edit", session_id=session, **HARMS)
    assert shop("destroy_session", session_id=session).status == "destroyed"


def test_the_patch_of_a_commit_can_be_applied_and_is_refused_once_the_file_has_changed(shop: Asked):
    patch = shop("commit_session", session_id=shop.session(FIXES)).patch
    shop("apply_edit", apply=True, workspace_edit=patch)
    assert shop.text("kit.py") == SHOP["kit.py"].replace('"x"', "1")
    with pytest.raises(EditRefused, match="changed since"):
        shop("apply_edit", apply=True, workspace_edit=patch)


def test_a_session_about_one_file_can_be_written_to_a_new_path_and_to_no_other(shop: Asked, tmp_path: Path):
    session = shop.session(FIXES)
    with pytest.raises(EditRefused, match="there already"):
        shop("commit_session", session_id=session, target="app.py", apply=True)
    with pytest.raises(EditRefused, match="outside the workspace"):
        shop("commit_session", session_id=session, target=str(tmp_path / "elsewhere.py"), apply=True)
    written = shop("commit_session", session_id=session, target="new/kit.py", apply=True)
    assert written.files_written == ["new/kit.py"]
    assert shop.text("new/kit.py") == SHOP["kit.py"].replace('"x"', "1")
    assert shop.text("kit.py") == SHOP["kit.py"]
    both = shop.session(FIXES, {"file_path": "alone.py", "old_text": "42", "new_text": "43"})
    with pytest.raises(UsageError, match="about 2 files"):
        shop("commit_session", session_id=both, target="another.py", apply=True)


def test_nothing_is_committed_of_a_session_without_edits(shop: Asked):
    session = shop.session()
    with pytest.raises(EditRefused, match="no edits yet"):
        shop("commit_session", session_id=session)
    with pytest.raises(UsageError, match="no edits"):
        shop("evaluate_session", session_id=session)
    shop("simulate_edit", session_id=session, **FIXES)
    assert shop("discard_session", session_id=session).status == "discarded"
    with pytest.raises(EditRefused, match="discarded"):
        shop("commit_session", session_id=session)


def test_only_what_writes_needs_leave_to_change_files(shop: Asked):
    session = shop.session(FIXES)
    assert shop.answer("commit_session", may_write=False, session_id=session).result.files_written == []
    for name, arguments in (("commit_session", {"session_id": session, "apply": True}), ("safe_apply_edit", {**FIXES, "apply": True})):
        with pytest.raises(EditsOff, match="--allow-edits"):
            shop.answer(name, may_write=False, **arguments)
    assert shop.answer("safe_apply_edit", may_write=False, **FIXES).result.would_apply
    assert shop.text("kit.py") == SHOP["kit.py"]


# ---- files that change, sessions beside each other


def test_a_session_whose_file_has_changed_on_disk_is_dirty_until_it_is_discarded(shop: Asked):
    session = shop.session(FIXES)
    (shop.root / "kit.py").write_text(SHOP["kit.py"] + "# somebody else\n", encoding="utf-8")
    answer = shop.answer("evaluate_session", session_id=session)
    assert (answer.result.status, answer.result.dirty, answer.result.safe) == ("dirty", ["kit.py"], False)
    assert (answer.completeness.status, [reason.code for reason in answer.completeness.reasons]) == ("partial", ["dirty"])
    for name, arguments in (("commit_session", {"apply": True}), ("commit_session", {}), ("simulate_edit", HARMS)):
        with pytest.raises(EditRefused, match=r"dirty: kit\.py changed on disk.*discard_session"):
            shop(name, session_id=session, **arguments)
    shop("discard_session", session_id=session)
    shop("simulate_edit", session_id=session, **FIXES)
    shop("commit_session", session_id=session, apply=True)
    assert shop.text("kit.py") == SHOP["kit.py"].replace('"x"', "1") + "# somebody else\n"


def test_a_dirty_session_can_be_destroyed(shop: Asked):
    session = shop.session(FIXES)
    (shop.root / "kit.py").unlink()
    assert shop("evaluate_session", session_id=session).status == "dirty"
    shop("destroy_session", session_id=session)
    with pytest.raises(NameNotFound):
        shop("evaluate_session", session_id=session)


def test_what_others_change_meanwhile_is_not_blamed_on_the_session(shop: Asked):
    session = shop.session({"file_path": "kit.py", "old_text": "return width * height", "new_text": "return height * width"})
    (shop.root / "app.py").write_text("from kit import nothing\n", encoding="utf-8")
    found = shop("evaluate_session", session_id=session, scope="workspace", timeout_ms=PATIENT)
    assert "app.py" in found.asked
    assert (found.errors_introduced, found.net_delta, found.safe) == ([], 0, True)


def test_sessions_on_one_file_do_not_see_each_other(shop: Asked):
    bad, good = shop.session(HARMS), shop.session(FIXES)
    assert shop("evaluate_session", session_id=bad).net_delta == 1
    assert shop("evaluate_session", session_id=good).net_delta == -1
    assert shop("evaluate_session", session_id=bad).net_delta == 1
    now = shop("get_diagnostics", file_path="kit.py", live=True)
    assert [item.code for item in now.diagnostics] == ["invalid-explicit-return"]
    assert shop.text("kit.py") == SHOP["kit.py"]


def test_a_file_that_is_new_since_the_index_was_made_is_judged_with_the_workspace(shop: Asked):
    (shop.root / "late.py").write_text("from kit import area\n\nMORE: int = area(3, 4)\n", encoding="utf-8")
    found = shop("preview_edit", **BREAKS, scope="workspace", timeout_ms=PATIENT)
    assert {item.path for item in found.errors_introduced} == {"app.py", "late.py"}


# ---- what cannot be judged


def test_without_an_index_only_the_edited_files_are_judged_and_the_answer_says_so(tmp_path: Path):
    root = write_tree(tmp_path / "shop", SHOP)
    host = Host(root)
    try:
        answer = Asked(root, host, indexed=False).answer("preview_edit", **BREAKS, scope="workspace", timeout_ms=PATIENT)
    finally:
        host.close()
    assert (answer.result.asked, answer.result.confidence, answer.result.safe) == (["kit.py"], "eventual", False)
    assert [reason.code for reason in answer.completeness.reasons] == ["no_index"]


def test_a_language_without_a_server_is_never_safe(shop: Asked):
    session = shop.session({"file_path": "notes.txt", "old_text": "one", "new_text": "two"})
    answer = shop.answer("evaluate_session", session_id=session)
    found = answer.result
    assert (found.net_delta, found.confidence, found.safe, found.asked) == (None, "partial", False, [])
    assert (answer.completeness.status, [reason.code for reason in answer.completeness.reasons]) == ("unknown", ["not_judged"])
    refused = shop("safe_apply_edit", apply=True, file_path="notes.txt", old_text="one", new_text="two")
    assert (refused.applied, refused.would_apply) == (False, False)
    assert "apply_edit" in refused.why_not
    assert shop.text("notes.txt") == "one\n"


@pytest.mark.slow
def test_a_real_server_that_has_no_diagnostics_makes_nothing_safe(shop: Asked):
    requires("bash-language-server")
    answer = shop.answer("preview_edit", file_path="run.sh", old_text="hello", new_text="$(")
    assert (answer.result.net_delta, answer.result.safe, answer.result.confidence) == (None, False, "partial")
    assert "gives no diagnostics" in answer.completeness.reasons[0].detail
    assert not shop("safe_apply_edit", apply=True, file_path="run.sh", old_text="hello", new_text="$(").applied


def test_dependents_that_are_not_asked_about_leave_an_edit_unproven(shop: Asked, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial, "_MOST_ASKED", 0)
    answer = shop.answer("preview_edit", **FIXES, scope="workspace", timeout_ms=PATIENT)
    assert (answer.result.asked, answer.result.confidence, answer.result.safe) == (["kit.py"], "eventual", False)
    assert [(reason.code, reason.count) for reason in answer.completeness.reasons] == [("dependents_cut", 1)]
    refused = shop("safe_apply_edit", apply=True, **FIXES, timeout_ms=PATIENT)
    assert not refused.applied
    assert "may depend on it" in refused.why_not
    assert shop.text("kit.py") == SHOP["kit.py"]


def test_an_error_two_files_away_is_found_where_types_are_inferred(tmp_path: Path):
    files = {
        "kit.py": "from typing import Final\n\nSIZE: Final = 1\n",
        "middle.py": "from typing import Final\n\nfrom kit import SIZE\n\nDOUBLED: Final = SIZE\n",
        "far.py": "from middle import DOUBLED\n\nTOTAL: int = DOUBLED\n",
    }
    root = write_tree(tmp_path / "far", files)
    crawl_with_ty(root, jobs=1)
    host = Host(root)
    try:
        edit = {"file_path": "kit.py", "old_text": "= 1", "new_text": '= "one"'}
        found = Asked(root, host)("preview_edit", **edit, scope="workspace", timeout_ms=PATIENT)
    finally:
        host.close()
    assert found.asked == ["kit.py", "middle.py", "far.py"]
    assert [item.path for item in found.errors_introduced] == ["far.py"]


class Silent:
    """Servers of which one has no diagnostics and the other says nothing in time."""

    def __init__(self, entry: str) -> None:
        self._info = ServerInfo(entry=entry, name=entry, version="1", languages=["x"], capabilities={}, pid=1, started_at="")

    def info(self, path: str) -> ServerInfo:
        return self._info

    def diagnose(self, paths: list[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
        return Diagnosis(diagnostics={}, unsettled=list(paths), server=self._info, elapsed_ms=1, warm=True)


@pytest.mark.parametrize(("entry", "code", "late"), [("bash-language-server", "not_judged", False), ("ty", "not_settled", True)])
def test_a_server_that_says_nothing_makes_nothing_safe(root: Path, entry: str, code: str, late: bool):
    ask = Asked(root, Silent(entry))
    answer = ask.answer("preview_edit", **FIXES)
    found = answer.result
    assert (found.net_delta, found.safe, found.timeout, found.confidence) == (None, False, late, "partial")
    assert (answer.completeness.status, [reason.code for reason in answer.completeness.reasons]) == ("unknown", [code])
    refused = ask("safe_apply_edit", apply=True, **FIXES)
    assert not refused.applied
    assert refused.why_not
    assert ask.text("kit.py") == SHOP["kit.py"]


# ---- safe_apply_edit


def test_a_safe_edit_is_written_and_one_that_breaks_a_caller_elsewhere_is_not(shop: Asked):
    refused = shop("safe_apply_edit", apply=True, **BREAKS, timeout_ms=PATIENT)
    assert (refused.applied, refused.preview.scope, refused.why_not) == (False, "workspace", "it introduces errors")
    assert [item.path for item in refused.preview.errors_introduced] == ["app.py"]
    assert shop.text("kit.py") == SHOP["kit.py"]
    dry = shop("safe_apply_edit", **FIXES, timeout_ms=PATIENT)
    assert (dry.applied, dry.would_apply) == (False, True)
    assert shop.text("kit.py") == SHOP["kit.py"]
    written = shop("safe_edit", apply=True, **FIXES, timeout_ms=PATIENT)
    assert (written.applied, written.preview.net_delta) == (True, -1)
    assert shop.text("kit.py") == SHOP["kit.py"].replace('"x"', "1")
    next_one = shop("safe_apply_edit", apply=True, file_path="kit.py", old_text="return 1", new_text="return 2", timeout_ms=PATIENT)
    assert next_one.applied  # though the index is older than the file by now
    narrow = shop("safe_apply_edit", apply=True, **BREAKS, scope="file", timeout_ms=PATIENT)  # no server is asked about the caller
    assert (narrow.applied, narrow.why_not) == (False, "uses of what it changes stay as they were: kit.area; apply_edit takes it unjudged")


def test_new_warnings_are_listed_on_request_and_may_stand_against_an_edit(shop: Asked):
    cast = "from typing import cast\n\n\ndef answer(number: int) -> int:\n    return cast(int, number)\n\n\nANSWER = answer(42)"
    edit = {"file_path": "alone.py", "old_text": "ANSWER = 42", "new_text": cast}
    plainly = shop("preview_edit", **edit)
    assert (plainly.warnings_introduced, plainly.new_warnings, plainly.net_delta, plainly.safe) == ([], 1, 0, True)
    listed = shop("preview_edit", **edit, include_warnings=True)
    assert [(item.code, item.line) for item in listed.warnings_introduced] == [("redundant-cast", 5)]
    refused = shop("safe_apply_edit", apply=True, **edit, allow_warnings=False, timeout_ms=PATIENT)
    assert (refused.applied, refused.why_not) == (False, "it introduces warnings")
    assert shop("safe_apply_edit", apply=True, **edit, timeout_ms=PATIENT).applied


# ---- session files


def test_ids_are_not_paths_and_an_unknown_one_is_answered_with_those_there_are(shop: Asked):
    session = shop.session()
    outside = shop.root / "outside.json"
    outside.write_text("{}", encoding="utf-8")
    for wrong in ("", "x", "../../outside", "a" * 31, "A" * 32, "0" * 32, f"{session}/", f"../simulations/{session}", "\0"):
        for name in ("evaluate_session", "discard_session", "destroy_session", "commit_session"):
            with pytest.raises(NameNotFound, match=session):
                shop(name, session_id=wrong)
    assert outside.exists()


def test_session_files_are_private_and_leave_no_others_behind(shop: Asked):
    session = shop.session(FIXES)
    shop("evaluate_session", session_id=session)
    folder = shop.root / ".lspidx" / "simulations"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in folder.iterdir()} == {"lock", f"{session}.json"}
    assert (folder / f"{session}.json").stat().st_mode & 0o777 == 0o600


def foreign(shop: Asked, content: bytes) -> str:
    name = "0123456789abcdef" * 2
    place = shop.root / ".lspidx" / "simulations" / f"{name}.json"
    place.parent.mkdir(mode=0o700, exist_ok=True)
    place.unlink(missing_ok=True)
    place.write_bytes(content)
    place.chmod(0o600)
    return name


def kept_session(**more: Any) -> bytes:
    session = Session(
        id="0123456789abcdef" * 2, language="", created_at="", state="mutated", version=1,
        files=[sessions.File(path="kit.py", before=SHOP["kit.py"].encode(), after=b"x = 1\n")],
    )  # fmt: skip
    return msgspec.json.encode(msgspec.structs.replace(session, **more))


HOSTILE = [
    b"",
    b"null",
    b"[" * 100_000,
    b'{"id": 1}',
    b"\xff\xfe\x00",
    kept_session(id="f" * 32),
    kept_session(files=[sessions.File(path="../outside.py", before=b"", after=b"x")]),
    kept_session(files=[sessions.File(path="/etc/passwd", before=b"", after=b"x")]),
    kept_session(files=[sessions.File(path=".git/hooks/pre-commit", before=b"", after=b"x")]),
    kept_session(files=[sessions.File(path=".lspidx/CURRENT", before=b"", after=b"x")]),
    kept_session(files=[sessions.File(path="link.py", before=b"", after=b"x")]),
    kept_session(files=[sessions.File(path="kit.py", before=b"\0", after=b"\0")]),
    kept_session(files=[sessions.File(path="kit.py", before=b"", after=b"")] * 2),
    kept_session(steps=[sessions.Step(path="a", start=(0, 0), end=(0, 0), new_text="")] * (sessions.MAX_EDITS + 1)),
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_session_file_that_we_would_not_have_written_is_refused_and_can_be_removed(shop: Asked, number: int):
    (shop.root / "link.py").symlink_to("/etc/hostname")
    session = foreign(shop, HOSTILE[number])
    for name in ("evaluate_session", "simulate_edit", "commit_session", "discard_session"):
        arguments = FIXES if name == "simulate_edit" else {}
        with pytest.raises(LspidxError) as caught:
            shop(name, session_id=session, **arguments)
        assert caught.value.code in ("edit_refused", "usage")
    shop("destroy_session", session_id=session)
    assert shop.text("kit.py") == SHOP["kit.py"]


def test_a_session_file_that_came_with_the_repository_or_is_a_link_or_huge_is_not_read(
    shop: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    session = foreign(shop, kept_session())
    place = shop.root / ".lspidx" / "simulations" / f"{session}.json"
    assert shop("commit_session", session_id=session).files_written == []
    place.chmod(0o644)
    with pytest.raises(EditRefused, match="not a private file"):
        shop("commit_session", session_id=session, apply=True)
    place.chmod(0o600)
    other = tmp_path / "other.json"
    os.replace(place, other)
    place.symlink_to(other)
    with pytest.raises(EditRefused, match="destroy_session"):
        shop("commit_session", session_id=session)
    place.unlink()
    os.mkfifo(place, 0o600)
    with pytest.raises(EditRefused, match="not a private file"):
        shop("commit_session", session_id=session)
    place.unlink()
    monkeypatch.setattr(stores, "_MAX_FILE_BYTES", 100)
    foreign(shop, kept_session())
    with pytest.raises(EditRefused, match="bytes"):
        shop("commit_session", session_id=session)
    assert shop.text("kit.py") == SHOP["kit.py"]


def test_a_folder_of_sessions_that_is_a_link_is_not_used(shop: Asked, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (shop.root / ".lspidx" / "simulations").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EditRefused, match="link"):
        shop.session()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_there_are_only_so_many_sessions_and_those_nobody_used_for_a_week_go(shop: Asked, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stores, "MAX_SESSIONS", 3)
    old = [shop.session() for _ in range(3)]
    with pytest.raises(EditRefused, match="3 sessions; destroy some"):
        shop.session()
    place = shop.root / ".lspidx" / "simulations" / f"{old[0]}.json"
    week = time.time() - stores.MAX_AGE_S - 60
    os.utime(place, (week, week))
    new = shop.session()
    assert not place.exists()
    assert {path.stem for path in place.parent.glob("*.json")} == {*old[1:], new}


def test_a_session_holds_only_so_many_edits_files_and_bytes(shop: Asked, monkeypatch: pytest.MonkeyPatch):
    session = shop.session({"file_path": "alone.py", "old_text": "42", "new_text": "43"})
    for name, limit, why in (("MAX_EDITS", 1, "1 edits"), ("MAX_FILES", 1, "1 files"), ("MAX_BYTES", 100, "100 bytes")):
        with monkeypatch.context() as patched:
            patched.setattr(sessions, name, limit)
            with pytest.raises(EditRefused, match=why):
                shop("simulate_edit", session_id=session, **FIXES)
    assert shop("simulate_edit", session_id=session, **FIXES).version_after == 2


def test_an_edit_that_names_no_place_or_one_that_is_not_there_is_refused(shop: Asked):
    session = shop.session()
    for arguments, error, why in (
        ({"file_path": "kit.py", "new_text": "x"}, UsageError, "say what is replaced"),
        ({"file_path": "kit.py", "start_line": 1, "old_text": "x", "new_text": "x"}, UsageError, "either a range or old_text"),
        ({"file_path": "kit.py", "start_line": 900, "end_line": 900, "new_text": "x"}, EditRefused, "no place 900"),
        ({"file_path": "kit.py", "start_line": 3, "end_line": 2, "new_text": "x"}, UsageError, "ends before it starts"),
        ({"file_path": "absent.py", "old_text": "x", "new_text": "x"}, EditRefused, "no file"),
        ({"file_path": "../x.py", "old_text": "x", "new_text": "x"}, EditRefused, "outside the workspace"),
        ({"file_path": ".git/config", "old_text": "x", "new_text": "x"}, EditRefused, "version control"),
        ({"old_text": "x", "new_text": "x"}, UsageError, "file_path is empty"),
    ):
        with pytest.raises(error, match=why):
            shop("simulate_edit", session_id=session, **arguments)
    with pytest.raises(UsageError, match="no language is called 'klingon'"):
        shop("create_simulation_session", language="klingon")


def test_a_session_that_somebody_else_changes_meanwhile_is_not_overwritten(shop: Asked):
    session = shop.session(FIXES)

    class Meddling:
        def __init__(self, host: Host) -> None:
            self._host, self._done = host, False

        def info(self, path: str) -> ServerInfo:
            if not self._done:
                self._done = True
                shop("simulate_edit", session_id=session, file_path="alone.py", old_text="42", new_text="43")
            return self._host.info(path)

        def diagnose(self, paths: list[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
            return self._host.diagnose(paths, overlay=overlay, timeout_s=timeout_s)

    with pytest.raises(EditRefused, match="changed by somebody else"):
        Asked(shop.root, Meddling(shop.host))("simulate_chain", session_id=session, edits=[HARMS])
    assert [item.path for item in shop("commit_session", session_id=session).edited.files] == ["alone.py", "kit.py"]


# ---- the difference itself


def diagnostic(line: int, message: str, *, path: str = "a.py", code: str = "c", number: int = 1) -> Diagnostic:
    return Diagnostic(
        path=path, line=line, col=1, end_line=line, end_col=2, severity="error" if number == 1 else "warning", number=number,
        message=message, code=code,
    )  # fmt: skip


def test_diagnostics_are_matched_as_multisets_by_where_their_lines_went():
    lines = {"a.py": Lines(Document(text="a\nb\nc\nd\n"), Document(text="a\nnew\nb\nC\nd\n"))}
    before = [diagnostic(2, "on b"), diagnostic(3, "on c"), diagnostic(4, "on d"), diagnostic(4, "on d")]
    after = [diagnostic(3, "on b"), diagnostic(4, "on c"), diagnostic(5, "on d")]
    delta = compare(before, after, lines)
    assert (delta.introduced, delta.resolved) == ([], [diagnostic(4, "on d")])
    moved = compare([diagnostic(1, "on a")], [diagnostic(5, "on a")], lines)
    assert (len(moved.introduced), len(moved.resolved)) == (1, 1)
    graver = compare([diagnostic(1, "on a", number=2)], [diagnostic(1, "on a")], lines)
    assert (len(graver.introduced), len(graver.resolved)) == (1, 1)


def test_lines_that_a_message_names_do_not_make_it_another_one():
    assert plain("redeclared at line 12, column 3") == plain("redeclared at line 14, column 3")
    assert plain("other declaration at kit.go:3:6") == plain("other declaration at kit.go:4:6")
    assert plain("expected 2 arguments, got 3") != plain("expected 2 arguments, got 4")


# ---- from outside


def test_a_session_lives_from_one_command_to_the_next(root: Path):
    made = json_of(lspidx("query", "create_simulation_session", "--language", "python", "--json", cwd=root))["result"]
    assert made["status"] == "created"
    session = made["session_id"]
    edits = json.dumps([FIXES, HARMS])
    chain = json_of(lspidx("query", "simulate_chain", session, "--edits", edits, "--timeout-ms", str(PATIENT), "--json", cwd=root))[
        "result"
    ]
    assert [step["net_delta"] for step in chain["steps"]] == [-1, 0]
    assert chain["safe_to_apply_through_step"] == 1
    found = json_of(lspidx("query", "evaluate_session", session, "--timeout-ms", str(PATIENT), "--json", cwd=root))["result"]
    assert (found["net_delta"], found["safe"]) == (0, False)
    assert lspidx("query", "discard_session", session, cwd=root).returncode == 0
    line = ("--start-line", "6", "--start-column", "12", "--end-line", "6", "--end-column", "15", "--new-text", "1")
    assert "edit 3" in lspidx("query", "simulate_edit", session, "kit.py", *line, cwd=root).stdout
    said = lspidx("query", "evaluate_session", session, "--timeout-ms", str(PATIENT), cwd=root).stdout
    assert "safe: net delta -1, confidence high, scope workspace" in said
    patch = lspidx("query", "commit_session", session, cwd=root).stdout
    assert "+    return 1" in patch
    assert lspidx("query", "commit_session", session, "--apply", cwd=root).returncode == 0
    assert (root / "kit.py").read_text(encoding="utf-8") == SHOP["kit.py"].replace('"x"', "1")
    assert lspidx("query", "destroy_session", session, cwd=root).returncode == 0
    gone = lspidx("query", "evaluate_session", session, cwd=root)
    assert gone.returncode == 3
    assert "there is none; create_simulation_session makes one" in gone.stderr


def test_a_session_lives_from_one_call_over_mcp_to_the_next(root: Path):
    async def scenario() -> None:
        async with connected(root, "--profile", "full", "--format", "json") as client:
            made = data(await client.call_tool("create_simulation_session", {"language": "python"}))["result"]
            session = {"session_id": made["session_id"]}
            await client.call_tool("simulate_edit", {**session, **BREAKS})
            found = data(await client.call_tool("evaluate_session", {**session, "scope": "workspace", "timeout_ms": PATIENT}))["result"]
            assert (found["net_delta"], found["safe"]) == (1, False)
            assert [item["path"] for item in found["errors_introduced"]] == ["app.py"]
            patch = data(await client.call_tool("commit_session", session))["result"]["patch"]
            assert patch["documentChanges"]
            assert data(await client.call_tool("destroy_session", session))["result"]["status"] == "destroyed"

    run(scenario)
    assert (root / "kit.py").read_text(encoding="utf-8") == SHOP["kit.py"]


# ---- the dialect agent-lsp


PLACE = {"start_line": 6, "start_column": 12, "end_line": 6, "end_column": 15}


def test_agent_lsp_has_the_shapes_of_its_reference(root: Path):
    service = Service(root)

    def ask(tool: str, **arguments: Any) -> Any:
        reply = dialect("agent-lsp").call(service, tool, arguments)
        assert not reply.is_error, reply.text
        return reply.structured

    kit = str(root / "kit.py")
    try:
        made = ask("create_simulation_session", workspace_root=str(root), language="python")
        session = made["session_id"]
        assert made == {"session_id": session, "status": "created", "completeness": made["completeness"]}
        edited = ask("simulate_edit", session_id=session, file_path=kit, **PLACE, new_text='"y"')
        del edited["completeness"]
        assert edited == {"session_id": session, "edit_applied": True, "version_after": 1}
        found = ask("evaluate_session", session_id=session, timeout_ms=PATIENT)
        fields = "session_id errors_introduced errors_resolved net_delta scope confidence timeout duration_ms completeness"
        assert list(found) == fields.split()
        assert (len(found["errors_introduced"]), len(found["errors_resolved"]), found["net_delta"]) == (1, 1, 0)
        step = {"file_path": kit, **PLACE, "new_text": "1"}
        chain = ask(
            "simulate_chain", session_id=session, edits=[step, {**step, "end_column": 13, "new_text": "nothing"}], timeout_ms=PATIENT
        )
        assert [(item["step"], item["net_delta"], len(item["errors_introduced"])) for item in chain["steps"]] == [(1, -1, 0), (2, 0, 1)]
        assert (chain["safe_to_apply_through_step"], chain["cumulative_delta"]) == (1, 0)
        patch = ask("commit_session", session_id=session)
        assert patch["files_written"] == []
        assert list(patch["patch"]["changes"]) == [Path(kit).as_uri()]
        assert ask("discard_session", session_id=session)["status"] == "discarded"
        assert ask("destroy_session", session_id=session)["status"] == "destroyed"
        preview = ask("preview_edit", workspace_root=str(root), language="python", file_path=kit, **{**PLACE, "new_text": '"x"'})
        del preview["completeness"]
        assert preview == {"errors_introduced": None, "errors_resolved": None, "net_delta": 0, "confidence": "high"}
        refused = ask("safe_edit", **{**BREAKS, "file_path": kit})
        assert (refused["applied"], refused["reason"], refused["net_delta"]) == (False, "it introduces errors", 1)
        assert refused["errors_introduced"][0]["file_path"] == str(root / "app.py")
        assert (root / "kit.py").read_text(encoding="utf-8") == SHOP["kit.py"]
        assert ask("safe_apply_edit", **{**FIXES, "file_path": kit})["applied"] is True
        applied = dialect("agent-lsp").call(service, "apply_edit", {"file_path": kit, "old_text": "return 1", "new_text": "return 2"})
        assert applied.payload == "Workspace edit applied successfully"
        assert (root / "kit.py").read_text(encoding="utf-8") == SHOP["kit.py"].replace('"x"', "2")
    finally:
        service.close()


def test_agent_lsp_changes_no_file_where_edits_are_not_allowed(root: Path):
    service = Service(root, edits=False)
    try:
        for tool, arguments in (
            ("apply_edit", FIXES),
            ("safe_edit", FIXES),
            ("safe_apply_edit", FIXES),
            ("apply_edit", {"workspace_edit": {"changes": {}}}),
        ):
            given = {**arguments, "file_path": str(root / "kit.py")} if "file_path" in arguments else arguments
            reply = dialect("agent-lsp").call(service, tool, given)
            assert reply.is_error
            assert "--allow-edits" in reply.payload
    finally:
        service.close()
    assert (root / "kit.py").read_text(encoding="utf-8") == SHOP["kit.py"]


# ---- what no server says, the index knows


BLIND: dict[str, str] = {
    "kit.py": "from functools import cache\n\n\n@cache\ndef area(width: int) -> int:\n    return width\n\n\n"
    "def plain() -> int:\n    return 1\n",
    **{f"user{number}.py": f"from kit import area\n\n\ndef use{number}():\n    return area({number})\n" for number in range(4)},
    "base.py": "class Base:\n    def run(self, count):\n        return count\n\n\n"
    "class Own(Base):\n    def run(self, count):\n        return 1\n",
}
WIDER: dict[str, Any] = {"file_path": "kit.py", "old_text": "width: int)", "new_text": "width: int, height: int)"}


@pytest.fixture(scope="module")
def blind_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("simulation") / "blind", BLIND)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def blind(blind_root: Path) -> Any:
    host = Host(blind_root)
    yield Asked(blind_root, host)
    host.close()


@pytest.mark.parametrize("scope", ["file", "workspace"])
def test_callers_behind_a_decorator_that_blinds_the_server_are_left_behind_by_a_new_parameter(blind: Asked, scope: str):
    found = blind("preview_edit", **WIDER, scope=scope, timeout_ms=PATIENT)
    assert found.errors_introduced == []  # @cache takes whatever it is given
    assert [(item.qualified_name, item.what, item.total) for item in found.left_behind] == [("kit.area", "signature", 4)]
    assert [site.path for site in found.left_behind[0].sites] == [f"user{number}.py" for number in range(4)]
    assert not found.safe


def test_the_scope_is_the_workspace_unless_another_is_named(blind: Asked):
    assert blind("preview_edit", **WIDER, timeout_ms=PATIENT).scope == "workspace"


def test_an_edit_that_leaves_uses_behind_is_not_written(blind: Asked):
    found = blind("safe_apply_edit", **WIDER, apply=True, timeout_ms=PATIENT)
    assert (found.applied, found.would_apply) == (False, False)
    assert "uses of what it changes stay as they were: kit.area" in found.why_not
    assert blind.text("kit.py") == BLIND["kit.py"]


def test_a_parameter_with_a_default_leaves_nothing_behind(blind: Asked):
    found = blind("preview_edit", file_path="kit.py", old_text="width: int)", new_text="width: int, height: int = 1)", timeout_ms=PATIENT)
    assert (found.left_behind, found.safe) == ([], True)


def test_an_override_that_keeps_the_old_declaration_is_named(blind: Asked):
    edit: dict[str, Any] = {
        "file_path": "base.py",
        "start_line": 2,
        "start_column": 1,
        "end_line": 2,
        "new_text": "    def run(self, count, more):",
    }
    found = blind("preview_edit", **edit, timeout_ms=PATIENT)
    assert [item.qualified_name for item in found.left_behind] == ["base.Base.run"]
    assert "1 member that override or implement it is not touched" in found.left_behind[0].says
    assert not found.safe


def test_what_is_removed_and_used_is_left_behind_and_told_in_words(blind: Asked):
    lines = BLIND["kit.py"].split("\n")
    edit: dict[str, Any] = {"file_path": "kit.py", "start_line": 4, "start_column": 1, "end_line": 6, "new_text": ""}
    answer = blind.answer("preview_edit", **edit, scope="file", timeout_ms=PATIENT)
    assert lines[4].startswith("def area")
    text = "\n".join(load("preview_edit")[0].text(answer, Style()))
    assert "kit.area is removed, and 8 uses of it stay as before" in text
    assert "user3.py" in text


@pytest.mark.parametrize("edit", [WIDER, {"file_path": "kit.py", "old_text": "return 1", "new_text": "return 2"}])
def test_without_an_index_only_a_body_can_change_safely_in_one_file(blind_root: Path, tmp_path: Path, edit: dict[str, Any]):
    root = write_tree(tmp_path / "bare", BLIND)
    host = Host(root)
    try:
        answer = Asked(root, host, indexed=False).answer("preview_edit", **edit, scope="file", timeout_ms=PATIENT)
    finally:
        host.close()
    is_body = edit is not WIDER
    assert (answer.result.safe, answer.result.confidence) == (is_body, "high" if is_body else "eventual")
    assert [reason.code for reason in answer.completeness.reasons] == ([] if is_body else ["no_index"])


def test_an_agent_is_told_how_many_files_were_judged_and_people_which() -> None:
    paths = [f"shop/{number}.py" for number in range(9)]
    found = trial.Evaluation(
        session_id="s", status="destroyed", errors_introduced=[], errors_resolved=[], net_delta=0, safe=True, scope="workspace",
        confidence="high", timeout=False, duration_ms=1, asked=paths,
    )  # fmt: skip
    assert list(trial.evaluation_lines(found, Style(color=False)))[-1] == f"judged: {', '.join(paths)}"
    compact = list(trial.evaluation_lines(found, Style(compact=True)))[-1]
    assert compact == "judged: 9 files: shop/0.py, shop/1.py, shop/2.py, shop/3.py, shop/4.py, …"
