"""Whatever can write shows first: every tool of the registry that declares that it writes, on a real workspace."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from query_support import lspidx
from support import crawl_with_ty, write_tree

from indexer.errors import EditRefused, EditsOff, LspidxError
from query.dialects import dialect
from query.surface.registry import load, names
from query.surface.service import Service

SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop.py": "def _used():\n    return 1\n\n\ndef _alone():\n    return 2\n\n\nprint(_used())\n",
}
TEXT = {"file_path": "shop.py", "old_text": "return 1", "new_text": "return 3"}
ASKS: dict[str, dict[str, Any]] = {
    "apply_edit": TEXT,
    "safe_apply_edit": TEXT,
    "rename_symbol": {"symbol": "shop._used", "new_name": "_taken", "sites": "both"},
    "move_symbol": {"symbol": "shop._alone", "to": "apart.py"},
    "change_signature": {"symbol": "shop._alone", "add": ["size: int = 1"]},
    "replace_symbol_body": {"file_path": "shop.py", "symbol_path": "_used", "new_body": "def _used():\n    return 3"},
    "insert_before_symbol": {"file_path": "shop.py", "symbol_path": "_used", "code": "first = 0\n\n\n"},
    "insert_after_symbol": {"file_path": "shop.py", "symbol_path": "_used", "code": "\n\nlast = 0\n"},
    "safe_delete_symbol": {"file_path": "shop.py", "symbol_path": "_alone"},
    "commit_session": {},  # of a session that the test makes
    "execute_command": {"command": "ty.printDebugInformation", "file_path": "shop.py"},
    "export_cache": {"dest_path": "made.tar"},
    "import_cache": {"src_path": "given.tar"},
}
"""What each tool that writes is asked; a new one needs a row."""

EDITS = [name for name in ASKS if name not in ("execute_command", "export_cache", "import_cache")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "shop", SHOP)
    crawl_with_ty(root)
    return root


@pytest.fixture
def service(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.chdir(root)
    service = Service(root)
    yield service
    service.close()


def state(root: Path) -> dict[str, str]:
    """Every file of the work tree, and which index there is; not what sessions and answers keep for themselves."""
    files = [path for path in root.rglob("*") if path.is_file() and ".lspidx" not in path.parts]
    current = root / ".lspidx" / "CURRENT"
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in [*files, current]}


def asks(service: Service, name: str) -> dict[str, Any]:
    if name != "commit_session":
        return ASKS[name]
    session = service.ask("create_simulation_session", {"language": "python"}).result.session_id
    service.ask("simulate_edit", {"session_id": session, **TEXT})
    return {"session_id": session}


def test_every_tool_that_writes_says_so_by_one_word_that_is_off():
    """The flag of the declaration, the parameter and the field go together; what runs the repository's code is named for it."""
    for name in names():
        tool, _ = load(name)
        fields = tool.parameters.__struct_fields__
        assert "dry_run" not in fields, f"{name}: there is one word for it"
        if not tool.applies:
            assert not (tool.destructive and not tool.runs), f"{name} is destructive and has no apply"
            assert not tool.writes(tool.parameters()), name
            continue
        assert name in ASKS, f"{name} has apply and no row in this test"
        assert tool.parameters().apply is False  # pyright: ignore[reportAttributeAccessIssue]
        described = [field.type for field in msgspec.inspect.type_info(tool.parameters).fields if field.name == "apply"]  # pyright: ignore[reportAttributeAccessIssue]
        assert described[0].extra_json_schema["description"].startswith("write it; without it nothing is written")
        assert not tool.writes(tool.parameters())
        assert not tool.read_only
    assert [name for name in names() if load(name)[0].runs] == ["run_build", "run_tests"]


@pytest.mark.parametrize("name", ASKS)
def test_without_apply_every_byte_stays_and_with_it_the_shown_is_written(service: Service, root: Path, name: str) -> None:
    if name == "import_cache":
        service.ask("export_cache", {"dest_path": "given.tar", "apply": True})
    before = state(root)
    given = asks(service, name)
    shown = service.ask(name, given)
    assert (shown.applied, state(root)) == (False, before)
    done = service.ask(name, {**given, "apply": True})
    assert done.applied
    if name == "execute_command":  # what it changes, only its server knows
        assert (shown.result.result, "capabilities" in str(done.result.result)) == (None, True)
        return
    assert state(root) != before
    if name in EDITS:
        first, second = (getattr(answer.result, "edited", answer.result) for answer in (shown, done))
        assert first.files == second.files, "what is shown is what is written, digests included"
        assert first.files[0].diff


@pytest.mark.parametrize("name", EDITS)
def test_a_plan_that_was_shown_is_written_or_nothing_is(service: Service, root: Path, name: str) -> None:
    given = asks(service, name)
    shown = service.ask(name, given).result
    plan = getattr(shown, "edited", shown).plan
    place = root / "shop.py"
    original = place.read_bytes()
    place.write_bytes(original.replace(b"print(", b"print(0, "))
    changed = place.read_bytes()
    with pytest.raises(LspidxError, match="since"):
        service.ask(name, {**given, "apply": True, "plan": plan})
    assert place.read_bytes() == changed
    place.write_bytes(original)
    assert service.ask(name, {**given, "apply": True, "plan": plan}).applied


def test_a_plan_of_another_edit_is_refused(service: Service, root: Path) -> None:
    plan = service.ask("apply_edit", TEXT).result.plan
    with pytest.raises(EditRefused, match="is not plan"):
        service.ask("apply_edit", {**TEXT, "new_text": "return 4", "apply": True, "plan": plan})
    assert (root / "shop.py").read_text() == SHOP["shop.py"]


def test_where_edits_are_off_all_are_shown_and_none_is_written(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    service = Service(root, edits=False)
    try:
        before = state(root)
        for name in EDITS:
            given = asks(service, name)
            assert service.ask(name, given).applied is False
            with pytest.raises(EditsOff, match="without apply it shows"):
                service.ask(name, {**given, "apply": True})
        for name in ("run_build", "run_tests"):
            with pytest.raises(EditsOff, match="run the repository's code"):
                service.ask(name, {})
        assert state(root) == before
    finally:
        service.close()


def test_the_command_line_says_how_to_write_exactly_what_it_shows(root: Path) -> None:
    edit = ("query", "apply_edit", "--file-path", "shop.py", "--old-text", "return 1", "--new-text", "return 3")
    shown = lspidx(*edit, cwd=root).stdout
    assert "not written; to write it: --apply --plan " in shown
    assert (root / "shop.py").read_text() == SHOP["shop.py"]
    plan = shown.partition("--plan ")[2].partition(":")[0]
    assert "applied: 1 file" in lspidx(*edit, "--apply", "--plan", plan, cwd=root).stdout
    again = lspidx("query", "safe_delete_symbol", "--file-path", "shop.py", "_alone", "--apply", "--plan", plan, cwd=root)
    assert again.returncode == 6


def test_another_products_surface_keeps_its_own_default(service: Service, root: Path) -> None:
    """agent-lsp's tools have no word for it and write at once; its rename shows. kiro's rename has dry_run."""
    given = {"file_path": str(root / "shop.py"), "old_text": "return 1", "new_text": "return 3"}
    assert not dialect("agent-lsp").call(service, "apply_edit", given).is_error
    assert "return 3" in (root / "shop.py").read_text()


def test_a_phase_that_forbids_edits_lets_the_build_run_that_it_asks_for(service: Service, root: Path) -> None:
    """Running is declared apart from writing: a build once counted as an edit, so no skill could reach its own build."""
    service.ask("activate_skill", {"skill_name": "lsp-verify", "mode": "block"})
    service.ask("get_diagnostics", {"file_path": "shop.py"})
    assert service.ask("run_build", {}).tool == "run_build"
    assert (root / "shop.py").read_text() == SHOP["shop.py"]
