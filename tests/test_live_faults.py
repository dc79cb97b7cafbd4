"""What servers say that they should not: an error that names it, or an answer that is not complete; never a traceback, never silence."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_support import Live, facts, workspace
from support import FAKE_SERVER, HERE, assert_all_ended, fake_server, write_tree

from indexer.config import Config
from indexer.errors import ServerProtocolError, UsageError
from query.live import decode

SCRIPT = HERE / "fakes" / "scripts" / "garbage.toml"
GARBAGE = tomllib.loads(SCRIPT.read_text(encoding="utf-8"))["garbage"]
SOURCE = "def one():\n    return 1\n\n\none()\n"
ASKED = {
    "get_completions": {"line": 5, "column": 2},
    "get_signature_help": {"line": 5, "column": 5},
    "suggest_fixes": {},
    "format_document": {},
    "format_range": {"start_line": 1, "end_line": 2},
    "get_semantic_tokens": {},
    "get_inlay_hints": {},
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A workspace with a file for each garbage, and the fake server in place of Python's."""
    folder = tmp_path_factory.mktemp("faulty")
    found = fake_server("garbage", folder / "pids")
    root = write_tree(folder / "work", {f"g{number}.py": SOURCE for number in range(len(GARBAGE))})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("indexer.crawl.plan.choice.find_server", lambda name, avoid=(): found)
        with workspace(root, Config()) as live:
            yield live
    assert_all_ended([int(path.name) for path in (folder / "pids").iterdir()])


@pytest.mark.parametrize("number", range(len(GARBAGE)))
@pytest.mark.parametrize("tool", ASKED)
def test_answers_of_another_form_are_refused_or_left_out_with_a_reason(faulty: Live, tool: str, number: int):
    pid = faulty.host.info("g0.py").pid
    answer, said = None, ""
    try:
        answer = faulty.ask(tool, file_path=f"g{number}.py", **ASKED[tool])
    except ServerProtocolError as error:
        said = str(error)
    if answer is None:
        assert re.search(r"fake (answered|to) textDocument/", said)
    else:
        assert answer.completeness.status == "partial"
        assert {reason.code for reason in answer.completeness.reasons} <= {"malformed_answer", "edit_unknown", "server_refused"}
        assert all(reason.detail for reason in answer.completeness.reasons)
    assert faulty.host.info("g0.py").pid == pid  # it is not started anew for it


def test_what_fits_among_what_does_not_is_shown(faulty: Live):
    number = next(number for number, text in enumerate(GARBAGE) if '"label": "ok"' in text)
    answer = faulty.ask("get_completions", file_path=f"g{number}.py", line=5, column=2)
    assert ([item.label for item in answer.result], answer.total, facts(answer)) == (["ok"], 1, "partial malformed_answer")
    assert answer.completeness.reasons[0].count == 2


def test_of_more_items_than_are_taken_the_rest_is_counted(faulty: Live):
    number = GARBAGE.index("many")
    answer = faulty.ask("get_completions", file_path=f"g{number}.py", line=5, column=2)
    assert (len(answer.result), answer.total, answer.completeness.reasons[0].count) == (50, 100_000, 50_000)
    fixes = faulty.ask("suggest_fixes", file_path=f"g{number}.py", limit=1)
    assert (len(fixes.result), fixes.total) == (1, 100_000)


def test_edits_outside_the_workspace_are_shown_with_what_is_wrong(faulty: Live):
    number = next(number for number, text in enumerate(GARBAGE) if "etc/passwd" in text)
    [fix] = faulty.ask("suggest_fixes", file_path=f"g{number}.py").result
    problems = {file.path: file.problem for file in fix.edit.files}
    assert "is outside the workspace" in problems["/etc/passwd"]
    assert all(problems.values())
    assert not any(file.diff for file in fix.edit.files)


def test_edits_that_a_command_asks_for_are_held_against_the_workspace(faulty: Live):
    answer = faulty.ask("execute_command", apply=True, command="run", file_path="g0.py")
    [outside] = answer.result.edits
    assert "is outside the workspace" in outside.files[0].problem
    assert facts(answer) == "partial edit_unknown,malformed_answer,malformed_answer"
    assert all("fake answered workspace/applyEdit in a form" in reason.detail for reason in answer.completeness.reasons[1:])
    with pytest.raises(UsageError, match="fake has no command 'rm'; it has: run"):
        faulty.ask("execute_command", apply=True, command="rm", file_path="g0.py")


@pytest.mark.parametrize(
    "said",
    [
        [None, 1, "a"],
        [{"uri": 5, "range": {}}],
        [{"uri": "file:///a.py", "range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}}],
        [{"uri": "file:///a.py", "range": {"start": {"line": 10**12, "character": 0}, "end": {"line": 10**12, "character": 0}}}],
        {"uri": "file:///a.py"},
        {"targetUri": "file:///a.py", "targetSelectionRange": []},
        {},
    ],
    ids=str,
)
def test_locations_of_another_form_are_no_places_and_are_counted(said: object):
    found = decode.locations(said, decode.Origin("fake", "textDocument/definition"))
    assert (found.items, found.others) == ([], len(said) if isinstance(said, list) else 1)


@pytest.mark.parametrize("said", [7, "x"])
def test_what_is_no_list_of_locations_at_all_is_an_error_that_names_server_and_method(said: object):
    with pytest.raises(ServerProtocolError, match="fake answered textDocument/definition in a form that the protocol does not know"):
        decode.locations(said, decode.Origin("fake", "textDocument/definition"))


def test_a_connection_to_a_server_that_listens_is_given_up_and_the_server_lives_on(tmp_path: Path):
    root = write_tree(tmp_path / "work", {"g7.py": SOURCE, "a.py": SOURCE})
    command = [sys.executable, "-IS", str(FAKE_SERVER), str(SCRIPT), "--listen"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = f"127.0.0.1:{int(server.stdout.readline())}"
            with workspace(root, Config()) as live:
                [told] = live.ask("start_lsp", language_id="python", connect=address).result.servers
                assert (told.name, told.pid) == ("fake", 0)
                assert facts(live.ask("get_inlay_hints", file_path="a.py")) == "complete"
                assert facts(live.ask("get_inlay_hints", file_path="g7.py")) == "partial malformed_answer"
            server.wait(10)  # this one ends with its connection, by itself
            assert server.returncode == 0
        finally:
            server.kill()
    with workspace(root, Config()) as live, pytest.raises(UsageError, match="is no address; give HOST:PORT"):
        live.ask("start_lsp", language_id="python", connect="nowhere")
