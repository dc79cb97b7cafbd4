"""`lspidx hook`, and the settings by which clients run it: an agent is told who uses what it changes, and the errors that it has made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from query_support import lspidx
from support import crawl_with_ty, write_tree

from query.mcp.hooks import HOOKS, told
from query.surface.service import Service

TREE = {
    "pyproject.toml": "[project]\nname = 'work'\n",
    "work/__init__.py": "",
    "work/prices.py": "def price(count: int) -> int:\n    return count * 2\n\n\ndef alone() -> int:\n    return 1\n\n\nWRONG = 1 + 'a'\n",
    "work/shop.py": "from work.prices import price\n\nTOTAL = price(3)\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "work", TREE)
    crawl_with_ty(root)
    return root


def said(moment: Any, root: Path, **given: Any) -> str:
    name = "PreToolUse" if moment == "before" else "PostToolUse"
    event = {"session_id": "s", "cwd": str(root), "hook_event_name": name, "tool_name": "Edit", "tool_input": given}
    text = told(moment, json.dumps(event).encode(), lambda start: Service(start, edits=False))
    if not text:
        return ""
    answer = json.loads(text)["hookSpecificOutput"]
    assert answer["hookEventName"] == name
    return str(answer["additionalContext"])


def test_before_an_edit_an_agent_hears_who_uses_what_it_touches(project: Path):
    text = said("before", project, file_path=str(project / "work/prices.py"), old_string="    return count * 2")
    assert "work/shop.py:3" in text
    assert "complete" in text
    assert "alone" not in text, "that is another function of the file"


def test_before_a_file_is_written_anew_all_that_it_shows_counts(project: Path):
    text = said("before", project, file_path="work/prices.py", content="")
    assert "work/shop.py:3" in text


def test_lines_of_a_file_that_has_changed_since_are_not_taken_for_those_of_the_index(project: Path):
    """Agents edit a file several times: its lines have moved, and those of the index are other functions' then."""
    place = project / "work/prices.py"
    place.write_text("# one\n# two\n# three\n# four\n" + TREE["work/prices.py"], encoding="utf-8")
    for old in ("    return count * 2", "    return 1"):
        text = said("before", project, file_path=str(place), old_string=old)
        assert "work/shop.py:3" in text
        assert "stale" in text


def test_what_nobody_uses_is_not_worth_a_word(project: Path):
    assert said("before", project, file_path="work/prices.py", edits=[{"old_string": "    return 1\n", "new_string": ""}]) == ""


def test_after_an_edit_an_agent_hears_of_errors_that_it_made_and_of_no_others(project: Path):
    place = project / "work/prices.py"
    assert said("after", project, file_path=str(place)) == "", "the one that there was is none of its doing"
    place.write_text("# a line above\n" + TREE["work/prices.py"].replace("count * 2", "cuont * 2"), encoding="utf-8")
    text = said("after", project, file_path=str(place))
    assert text.startswith("1 error that was not there")
    assert "work/prices.py:3:12" in text
    assert "cuont" in text


def test_nothing_is_said_where_nothing_is_known(tmp_path: Path, project: Path):
    bare = write_tree(tmp_path / "bare", {"a.py": "x = 1\n"})
    for moment in ("before", "after"):
        assert said(moment, bare, file_path=str(bare / "a.py")) == "", "there is no index"
        assert not (bare / ".lspidx").exists()
        assert said(moment, project, file_path="work/new.py") == ""
        assert said(moment, project, file_path="") == ""
        assert said(moment, project, file_path="a\0b") == ""
        for event in (b"", b"[]", b"{", b'{"tool_input": 3}', b"\xff"):
            assert told(moment, event, lambda start: Service(start)) == ""


@pytest.mark.parametrize("name", HOOKS)
def test_the_settings_that_are_written_run_the_command(project: Path, name: str):
    place = project / HOOKS[name].place
    theirs = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
    event = HOOKS[name].events["after"]
    write_tree(project, {HOOKS[name].place: json.dumps({"model": "m", "hooks": {event: [theirs]}})})
    assert "hook after-edit" in lspidx("mcp", "install", name, "--hooks", cwd=project).stdout
    assert "after-edit" not in place.read_text(encoding="utf-8"), "it is shown and not written"
    assert lspidx("mcp", "install", name, "--hooks", "--apply", cwd=project).returncode == 0
    assert "already" in lspidx("mcp", "install", name, "--hooks", "--apply", cwd=project).stdout
    settings = json.loads(place.read_text(encoding="utf-8"))
    assert settings["model"] == "m"
    assert settings["hooks"][event][0] == theirs
    assert len(settings["hooks"][event]) == 2
    command = settings["hooks"][event][1]["hooks"][0]["command"].split()
    assert command[-2:] == ["hook", "after-edit"]
    ran = lspidx(*command[-2:], cwd=project)
    assert (ran.returncode, ran.stdout) == (0, ""), "no event, no word"


def test_settings_that_cannot_be_kept_whole_are_not_touched(project: Path):
    place = project / ".claude/settings.json"
    for text in ("// mine\n{}\n", '{"hooks": []}', '{"hooks": {"PostToolUse": {}}}', "[]"):
        write_tree(project, {".claude/settings.json": text})
        refused = lspidx("mcp", "install", "claude-code", "--hooks", "--apply", cwd=project)
        assert refused.returncode == 2
        assert ".claude/settings.json" in refused.stderr
        assert place.read_text(encoding="utf-8") == text
    other = lspidx("mcp", "install", "zed", "--hooks", cwd=project)
    assert other.returncode == 2
    assert "claude-code, gemini" in other.stderr
    assert lspidx("mcp", "install", "gemini", "--hooks", "--", "--strict", cwd=project).returncode == 2
