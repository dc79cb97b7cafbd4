"""Skills: the table, the rule, and that the phases hold for whoever asks: a service, the command line, MCP clients, dialects."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp import MCPError
from query_support import LSPIDX, json_of, lspidx, plain_environment
from test_mcp import connected, data, listening, run, text

from indexer.errors import ConfigError, Locked, NoIndex, PhaseViolation, UsageError
from query.answers.envelope import Answer, Completeness, Provenance
from query.context import Workspace
from query.dialects import dialect
from query.facts.index import Index
from query.skills.kept import KeptPhases
from query.skills.phases import MAX_HISTORY, MAX_VIOLATIONS, way_on
from query.skills.session import ALWAYS, Phases
from query.skills.table import TABLE, Skill, matches, parse, skills
from query.surface.registry import call, names, workspace_tool
from query.surface.render import error_record, to_text
from query.surface.service import Service

pytest_plugins = ["query_fixtures"]

NEEDS_A_SERVER = {
    "rename_symbol", "prepare_rename", "get_completions", "get_signature_help", "suggest_fixes", "execute_command", "format_document",
    "format_range", "get_semantic_tokens", "get_inlay_hints", "start_lsp", "restart_lsp_server", "open_document", "close_document",
    "did_change_watched_files", "set_log_level", "apply_edit", "safe_apply_edit", "replace_symbol_body", "insert_before_symbol",
    "insert_after_symbol", "safe_delete_symbol", "create_simulation_session", "simulate_edit", "evaluate_session", "simulate_chain",
    "commit_session", "discard_session", "destroy_session", "preview_edit", "run_build", "run_tests",
}  # fmt: skip
"""The tools of running servers, of edits, and of builds, which skills are mostly about."""
OF_THE_AGENT = {"Edit", "Write", "Bash"}
KNOWN = {*names(), *NEEDS_A_SERVER, *OF_THE_AGENT}

REFERENCE = [
    "lsp-safe-edit", "lsp-edit-export", "lsp-edit-symbol", "lsp-rename", "lsp-verify", "lsp-simulate", "lsp-impact", "lsp-dead-code",
    "lsp-implement", "lsp-docs", "lsp-cross-repo", "lsp-local-symbols", "lsp-test-correlation", "lsp-format-code", "lsp-explore",
    "lsp-understand", "lsp-refactor", "lsp-extract-function", "lsp-fix-all", "lsp-generate",
]  # fmt: skip

USED: dict[str, str] = {
    "lsp-safe-edit": "preview_edit get_diagnostics suggest_fixes apply_edit",
    "lsp-edit-export": "find_references inspect_symbol preview_edit",
    "lsp-edit-symbol": "find_symbol list_symbols apply_edit",
    "lsp-rename": "prepare_rename rename_symbol apply_edit get_diagnostics",
    "lsp-verify": "get_diagnostics run_build run_tests",
    "lsp-simulate": "create_simulation_session preview_edit simulate_chain evaluate_session",
    "lsp-impact": "find_references find_callers type_hierarchy",
    "lsp-dead-code": "list_symbols find_references",
    "lsp-implement": "go_to_implementation type_hierarchy",
    "lsp-docs": "inspect_symbol get_symbol_documentation go_to_definition get_symbol_source",
    "lsp-cross-repo": "add_workspace_folder list_workspace_folders find_references go_to_implementation find_callers",
    "lsp-local-symbols": "list_symbols get_document_highlights inspect_symbol",
    "lsp-test-correlation": "get_tests_for_file find_symbol run_tests",
    "lsp-format-code": "format_document format_range apply_edit get_diagnostics",
    "lsp-explore": "go_to_symbol inspect_symbol go_to_implementation find_callers find_references",
    "lsp-understand": "inspect_symbol go_to_implementation find_callers find_references get_symbol_source list_symbols go_to_symbol",
    "lsp-refactor": "blast_radius preview_edit simulate_chain get_diagnostics run_build run_tests get_tests_for_file apply_edit "
    "format_document",
    "lsp-extract-function": "list_symbols suggest_fixes execute_command apply_edit get_diagnostics format_document",
    "lsp-fix-all": "get_diagnostics suggest_fixes apply_edit format_document",
    "lsp-generate": "suggest_fixes execute_command apply_edit format_document get_diagnostics",
}
"""The tools that the reference of agent-lsp names for each skill."""


# ---- the table


def test_there_are_twenty_two_skills_twenty_of_them_named_by_the_reference():
    table = skills()
    assert len(table) == 22
    assert sorted(name for name, skill in table.items() if skill.origin == "agent-lsp") == sorted(REFERENCE)
    assert [name for name, skill in table.items() if skill.origin == "lspidx"] == ["lsp-inspect", "lsp-concurrency-audit"]


@pytest.mark.parametrize("skill", skills().values(), ids=lambda skill: skill.name)
def test_every_tool_that_a_skill_names_exists(skill: Skill):
    for number, phase in enumerate(skill.phase):
        for tool in [*phase.allowed, *skill.forbidden_in(number), *phase.done_by]:
            assert any(matches(name, [tool]) for name in KNOWN), tool
        assert not {*phase.allowed, *skill.forbidden_in(number)} & ALWAYS


@pytest.mark.parametrize("name", USED)
def test_a_skill_of_the_reference_allows_every_tool_that_is_named_there(name: str):
    for tool in USED[name].split():
        assert any(phase.allows(tool) for phase in skills()[name].phase), tool


@pytest.mark.parametrize("skill", skills().values(), ids=lambda skill: skill.name)
def test_what_a_phase_tells_to_call_is_allowed_in_it(skill: Skill):
    for number, phase in enumerate(skill.phase):
        told = {word.strip("(),.;:") for word in phase.do.split()} & (KNOWN - OF_THE_AGENT)
        assert told or phase.name == "judge", phase.name
        for tool in told:
            assert not skill.forbids(number, tool), (phase.name, tool)


@pytest.mark.parametrize("skill", skills().values(), ids=lambda skill: skill.name)
def test_a_skill_in_mode_block_is_walked_from_the_first_phase_to_the_last(skill: Skill):
    phases = Phases()
    phases.activate(skill.name, "block")
    for number, phase in enumerate(skill.phase):
        state = phases.state()
        assert state is not None
        assert state.phase == number, phase.name
        for tool in phase.done_by or phase.allowed[:1]:
            if tool not in OF_THE_AGENT:
                phases.finish(phases.begin(tool.replace("*", "edit"), writes=False))
        after = skill.phase[number + 1 :][:1]
        for following in after:
            opening = [tool for tool in following.allowed if not phase.allows(tool) and tool not in OF_THE_AGENT]
            assert opening, f"nothing begins '{following.name}'"
            led = [tool for tool in opening if _lets(phases, skill, tool, number + 1)]
            assert led, f"{following.name} cannot be reached: {opening}"


def _lets(phases: Phases, skill: Skill, tool: str, number: int) -> bool:
    """Calls the tool if no other has led to the phase yet; whether the phase is reached."""
    state = phases.state()
    assert state is not None
    if state.phase < number:
        try:
            phases.finish(phases.begin(tool.replace("*", "edit"), writes=False))
        except PhaseViolation:
            return False
        state = phases.state()
        assert state is not None
    return state.phase == number


BROKEN = [
    ("when = ", "wenn = ", r"skill 'lsp-a' has an unknown key 'wenn'; did you mean 'when'\?"),
    ("gives = ", "give = ", r"skill 'lsp-a', phase 'one', has an unknown key 'give'; did you mean 'gives'\?"),
    ('description = "s"', 'descr = "s"', r"skill 'lsp-a', arguments 'symbol', has an unknown key 'descr'; did you mean 'description'\?"),
    ('origin = "lspidx"', 'origin = "else"', r"skill 'lsp-a': Invalid enum value 'else' - at `\$.origin`"),
    ('do = "Ask."', "", r"skill 'lsp-a': Object missing required field `do` - at `\$.phase\[0\]`"),
    ('purpose = "For a test."', 'purpose = "For"', "skill 'lsp-a' has a 'purpose' that does not end with a period"),
    ("[skill.lsp-a]", "[skill.other]", "skill 'other' needs a name such as lsp-rename"),
    ('allowed = ["x"]', "allowed = []", "phase 'one' allows no tool"),
    ('allowed = ["x"]', 'allowed = ["x", "x y"]', "phase 'one' has 'x y' in 'allowed', which is neither a name nor"),
    ('allowed = ["x"]', 'allowed = ["x"]\nforbidden = ["x*"]', r"phase 'one' allows and forbids 'x'"),
    ('allowed = ["x"]', 'allowed = ["x"]\ndone_by = ["z"]', "phase 'one' is done by 'z', which it does not allow"),
    ('name = "two"', 'name = "one"', "has two phases 'one'"),
    ("[skill.lsp-a]", "[skills.lsp-a]", "has to have entries .* not skills"),
    ("[skill.lsp-a]", "[skill.lsp-a", "not readable as TOML"),
]
GOOD = """[skill.lsp-a]
purpose = "For a test."
when = "Never."
origin = "lspidx"
arguments = [{ name = "symbol", description = "s" }]
[[skill.lsp-a.phase]]
name = "one"
do = "Ask."
gives = "Something."
allowed = ["x"]
[[skill.lsp-a.phase]]
name = "two"
do = "Ask more."
gives = "More."
allowed = ["y*"]
"""


@pytest.mark.parametrize(("old", "new", "message"), BROKEN, ids=[item[1].strip()[:30] for item in BROKEN])
def test_a_mistake_in_the_table_is_named_by_skill_phase_and_key(old: str, new: str, message: str):
    assert list(parse(GOOD, "skills.toml")) == ["lsp-a"]
    assert old in GOOD
    broken = GOOD.replace(old, new).replace("[[skill.lsp-a.", "[[skill.other." if "other" in new else "[[skill.lsp-a.")
    if new == "[skills.lsp-a]":
        broken = "[skills.lsp-a]\n"
    with pytest.raises(ConfigError, match=message) as raised:
        parse(broken, "skills.toml")
    assert str(raised.value).startswith("skills.toml: ")


def test_the_table_that_is_shipped_is_read():
    assert parse(TABLE.read_text(encoding="utf-8"), TABLE.name) == skills()


# ---- the rule


def act(phases: Phases, *tools: str) -> None:
    """Each tool is called and answers."""
    for tool in tools:
        phases.finish(phases.begin(tool, writes=False))


def phase_of(phases: Phases) -> str:
    state = phases.state()
    assert state is not None
    return skills()[state.skill].phase[state.phase].name


def in_block(skill: str, *tools: str) -> Phases:
    phases = Phases()
    phases.activate(skill, "block")
    act(phases, *tools)
    return phases


def test_the_example_of_a_rename_is_in_its_preview_after_three_calls():
    phases = in_block("lsp-rename", "start_lsp", "go_to_symbol", "prepare_rename")
    state = phases.state()
    assert state is not None
    skill = skills()["lsp-rename"]
    assert (phase_of(phases), state.phase, len(skill.phase)) == ("preview", 1, 3)
    assert skill.phase[1].allowed == ["go_to_symbol", "prepare_rename", "find_references", "rename_symbol"]
    assert skill.forbidden_in(1) == ["apply_edit", "Edit", "Write", "format_document", "run_tests"]
    assert state.history == ["start_lsp", "go_to_symbol", "prepare_rename"]


@pytest.mark.parametrize("before", [[], ["start_lsp"], ["go_to_symbol"], ["go_to_symbol", "prepare_rename", "find_references"]])
def test_a_rename_is_not_applied_before_its_sites_were_seen(before: list[str]):
    phases = in_block("lsp-rename", *before)
    with pytest.raises(
        PhaseViolation, match=r"^apply_edit is not allowed in phase .* it belongs to 'execute'; allowed now: .*deactivate_skill"
    ):
        phases.begin("apply_edit", writes=True)
    act(phases, "rename_symbol")
    act(phases, "apply_edit", "get_diagnostics")
    assert phase_of(phases) == "execute"


def test_a_rename_that_would_write_at_once_counts_as_the_edit():
    phases = in_block("lsp-rename", "prepare_rename")
    with pytest.raises(PhaseViolation, match=r"^rename_symbol, which would change files, is not allowed in phase 'preview' \(2 of 3\)"):
        phases.begin("rename_symbol", writes=True)
    act(phases, "rename_symbol")
    phases.finish(phases.begin("rename_symbol", writes=True))
    assert phase_of(phases) == "execute"


@pytest.mark.parametrize("writer", ["safe_apply_edit", "commit_session", "replace_symbol_body", "execute_command", "something_new"])
def test_no_tool_that_writes_is_a_way_around_the_preview(writer: str):
    phases = in_block("lsp-refactor", "blast_radius", "get_diagnostics")
    assert phase_of(phases) == "speculative_preview"
    with pytest.raises(PhaseViolation):
        phases.begin(writer, writes=True)


def test_a_refactoring_goes_through_its_five_phases():
    phases = in_block("lsp-refactor")
    skill = skills()["lsp-refactor"]
    assert skill.phase[0].allowed == ["blast_radius", "go_to_symbol", "find_references"]
    assert skill.forbidden_in(0) == ["apply_edit", "simulate_*", "Edit", "Write", "rename_symbol"]
    for early in ("apply_edit", "simulate_edit", "simulate_chain", "rename_symbol", "run_tests"):
        with pytest.raises(PhaseViolation):
            phases.begin(early, writes=False)
    seen = [phase_of(phases)]
    for tool in ("blast_radius", "simulate_chain", "apply_edit", "run_build", "run_tests"):
        act(phases, tool)
        seen.append(phase_of(phases))
    assert seen == ["blast_radius", "blast_radius", "speculative_preview", "apply", "build_verification", "test_execution"]


def test_an_attempt_that_failed_does_not_open_the_next_phase():
    phases = in_block("lsp-docs")
    phases.begin("inspect_symbol", writes=False)  # and no answer
    with pytest.raises(PhaseViolation):
        phases.begin("get_symbol_source", writes=False)


def test_a_phase_never_goes_back_and_what_no_list_has_is_let_through():
    phases = in_block("lsp-docs", "inspect_symbol", "get_symbol_documentation", "get_symbol_source")
    assert phase_of(phases) == "source"
    act(phases, "inspect_symbol", "find_callers", "get_symbol_documentation")
    assert phase_of(phases) == "source"


def test_an_optional_phase_may_be_left_out_and_a_required_one_may_not():
    phases = in_block("lsp-refactor", "blast_radius", "preview_edit", "run_build")
    assert phase_of(phases) == "build_verification"
    early = in_block("lsp-safe-edit", "get_diagnostics", "suggest_fixes")
    assert phase_of(early) == "speculative_preview"
    act(early, "format_document")  # belongs to a later phase, is not forbidden, and does not open it
    assert phase_of(early) == "speculative_preview"


def test_in_mode_warn_the_call_is_made_and_its_phase_begins():
    phases = Phases()
    phases.activate("lsp-rename", "warn")
    ticket = phases.begin("apply_edit", writes=True)
    assert [warning.partition(" in phase")[0] for warning in ticket.warnings] == ["apply_edit is not allowed"]
    assert phase_of(phases) == "execute"
    state = phases.state()
    assert state is not None
    assert state.history == ["apply_edit"]
    assert [(item.tool, item.phase) for item in state.violations] == [("apply_edit", "prerequisites")]


def test_the_history_keeps_the_last_calls_only():
    phases = in_block("lsp-docs", *["inspect_symbol"] * MAX_HISTORY, "find_symbol")
    for _ in range(MAX_VIOLATIONS + 5):
        with pytest.raises(PhaseViolation):
            phases.begin("apply_edit", writes=True)
    state = phases.state()
    assert state is not None
    assert (len(state.history), state.history[-1], len(state.violations)) == (MAX_HISTORY, "find_symbol", MAX_VIOLATIONS)


def test_an_answer_from_before_does_not_count_for_the_next_activation():
    phases = in_block("lsp-docs")
    ticket = phases.begin("inspect_symbol", writes=False)
    phases.deactivate()
    phases.activate("lsp-docs", "block")
    phases.finish(ticket)
    with pytest.raises(PhaseViolation):
        phases.begin("get_symbol_source", writes=False)


def test_the_way_on_is_said_in_every_phase():
    phases = in_block("lsp-rename")
    said: list[str] = []
    for tool in ("prepare_rename", "rename_symbol", "apply_edit"):
        state = phases.state()
        assert state is not None
        said.append(way_on(skills()["lsp-rename"], state))
        act(phases, tool)
    state = phases.state()
    assert state is not None
    said.append(way_on(skills()["lsp-rename"], state))
    assert said[0].startswith("'preview' begins with one of: go_to_symbol")
    assert said[1].startswith("this phase is done when one of these has answered: rename_symbol; then 'execute' begins")
    assert said[2].startswith("'execute' begins with one of: apply_edit")
    assert said[3].startswith("this is the last phase")


class Rename(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    apply: bool = False


def _rename(workspace: Workspace, ask: Rename) -> Answer[str]:
    """Renames."""
    where = Provenance(source="live", servers=[], commit="", dirty=False, indexed_at="", generation=0)
    complete = Completeness(status="complete")
    return Answer(tool="", query={}, result="done", total=1, truncated=False, completeness=complete, provenance=where)


def test_what_a_tool_declares_to_write_is_what_the_phases_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    declared = workspace_tool(
        "rename_symbol",
        parameters=Rename,
        result=str,
        positional="",
        example="rename_symbol",
        task="edit",
        hint="",
        text=lambda answer, style: iter([answer.result]),
        writes=lambda ask: ask.apply,
    )(_rename)
    monkeypatch.setattr("query.surface.registry.load", lambda name: (declared, {}))
    phases = in_block("lsp-rename", "prepare_rename")

    def rename(*, apply: bool) -> str:
        return call(None, "rename_symbol", {"apply": apply}, phases=phases, root=tmp_path).result

    with pytest.raises(PhaseViolation, match="rename_symbol, which would change files"):
        rename(apply=True)
    assert (rename(apply=False), phase_of(phases)) == ("done", "preview")
    assert (rename(apply=True), phase_of(phases)) == ("done", "execute")


# ---- a service


SOURCE = {"symbol": "shop.service.run"}


def test_a_service_refuses_what_comes_out_of_turn_and_says_how_to_go_on(shop_root: Path):
    service = Service(shop_root)
    assert service.ask("deactivate_skill", {}).result.status == "deactivated"
    begun = service.ask("activate_skill", {"skill_name": "lsp-docs", "mode": "block"})
    assert begun.result.current_phase == "hover"
    assert begun.total == begun.result.total_phases == 3
    with pytest.raises(PhaseViolation) as raised:
        service.ask("source", SOURCE)  # a short name counts as the tool
    assert raised.value.code == "phase_violation"
    for words in (
        "get_symbol_source is not allowed in phase 'hover' (1 of 3) of lsp-docs",
        "allowed now: inspect_symbol",
        "deactivate_skill",
    ):
        assert words in str(raised.value)
    assert error_record(raised.value)["error"] | {"message": ""} == {
        "code": "phase_violation",
        "message": "",
        "tool": "get_symbol_source",
        "skill": "lsp-docs",
        "current_phase": "hover",
        "allowed_tools": ["inspect_symbol", "find_symbol"],
        "forbidden_tools": ["get_symbol_documentation", "go_to_definition", "get_symbol_source", "apply_edit", "Edit", "Write"],
    }
    answer = service.ask("hover", SOURCE)
    assert answer.warnings is msgspec.UNSET
    service.ask("get_symbol_documentation", SOURCE)
    assert service.ask("source", SOURCE).result
    phase = service.ask("get_skill_phase", {}).result
    assert (phase.current_phase, phase.phase_index) == ("source", 2)
    assert phase.tool_history == ["inspect_symbol", "get_symbol_documentation", "get_symbol_source"]
    assert [(item.tool, item.phase) for item in phase.violations] == [("get_symbol_source", "hover")]
    assert service.ask("deactivate_skill", {}).result.skill == "lsp-docs"
    service.ask("source", SOURCE)
    assert not service.ask("get_skill_phase", {}).result.active


def test_a_call_that_ends_in_an_error_is_in_the_history_and_opens_nothing(shop_root: Path):
    service = Service(shop_root)
    service.ask("activate_skill", {"skill_name": "lsp-docs", "mode": "block"})
    with pytest.raises(UsageError):
        service.ask("hover", {"symbol": "shop.nothing.here"})
    with pytest.raises(UsageError):
        service.ask("hover", {"no_such": "parameter"})
    assert service.ask("get_skill_phase", {}).result.tool_history == ["inspect_symbol"]
    with pytest.raises(PhaseViolation):
        service.ask("get_symbol_documentation", SOURCE)


def test_a_warning_is_beside_the_answer_and_leaves_its_completeness_alone(shop_root: Path):
    service = Service(shop_root)
    plain = service.ask("source", SOURCE)
    assert b"warnings" not in msgspec.json.encode(plain)
    service.ask("activate_skill", {"skill_name": "lsp-docs"})
    warned = service.ask("source", SOURCE)
    assert (warned.result, warned.completeness) == (plain.result, plain.completeness)
    assert isinstance(warned.warnings, list)
    assert "not allowed in phase 'hover'" in warned.warnings[0]
    assert "warning: get_symbol_source is not allowed" in to_text(warned).replace("\x1b[33m", "").replace("\x1b[0m", "")
    assert service.ask("get_skill_phase", {}).result.current_phase == "source"
    assert service.ask("source", SOURCE).warnings is msgspec.UNSET


def test_only_one_skill_is_active_at_a_time(shop_root: Path):
    service = Service(shop_root)
    service.ask("activate_skill", {"skill_name": "lsp-docs"})
    with pytest.raises(UsageError, match=r"'lsp-docs' is active, .* deactivate_skill, then activate 'lsp-rename'"):
        service.ask("activate_skill", {"skill_name": "lsp-rename"})
    assert service.ask("get_skill_phase", {}).result.skill_name == "lsp-docs"


def test_a_skill_that_does_not_exist_is_refused_with_the_nearest(shop_root: Path):
    service = Service(shop_root)
    with pytest.raises(UsageError, match=r"no skill is called 'lsp-renam'; did you mean 'lsp-rename'.*lsp-concurrency-audit"):
        service.ask("activate_skill", {"skill_name": "lsp-renam"})
    with pytest.raises(UsageError, match="name a skill; known: lsp-rename"):
        service.ask("activate_skill", {})
    with pytest.raises(UsageError, match="mode"):
        service.ask("activate_skill", {"skill_name": "lsp-rename", "mode": "strict"})


def test_services_do_not_share_a_skill(shop_root: Path):
    one, other = Service(shop_root), Service(shop_root)
    one.ask("activate_skill", {"skill_name": "lsp-docs", "mode": "block"})
    assert other.ask("source", SOURCE).result
    assert not other.ask("get_skill_phase", {}).result.active


def test_python_functions_of_a_process_are_one_session(shop: Index):
    call(shop, "activate_skill", {"skill_name": "lsp-docs", "mode": "block"})
    try:
        with pytest.raises(PhaseViolation):
            call(shop, "source", SOURCE)
    finally:
        call(shop, "deactivate_skill", {})
    assert call(shop, "source", SOURCE).result


def test_many_threads_lose_no_call(shop_root: Path):
    service = Service(shop_root)
    service.ask("activate_skill", {"skill_name": "lsp-impact"})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: service.ask("get_skill_phase", {}) and service.ask("outline", {"file_path": "shop/utils.py"}), range(40)))
    assert service.ask("get_skill_phase", {}).result.tool_history == ["list_symbols"] * 40


def test_both_forms_of_text_have_all_that_the_record_has(shop_root: Path):
    service = Service(shop_root)
    for name, arguments in (("get_skill_phase", {}), ("activate_skill", {"skill_name": "lsp-rename"}), ("get_skill_phase", {})):
        answer = service.ask(name, arguments)
        shown = to_text(answer)
        for leaf in _leaves(msgspec.to_builtins(answer.result)):
            assert leaf in shown, (name, leaf)


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value] if isinstance(value, str) else []


# ---- the command line: each call a process


def test_processes_of_the_command_line_share_the_skill_of_their_index(copy: Path):
    begun = lspidx("query", "activate_skill", "lsp-docs", "--mode", "block", cwd=copy)
    assert begun.returncode == 0, begun.stderr
    assert "1. hover" in begun.stdout
    refused = lspidx("query", "source", "shop.service.run", cwd=copy / "shop")
    assert (refused.returncode, refused.stdout) == (6, "")
    assert "get_symbol_source is not allowed in phase 'hover' (1 of 3) of lsp-docs" in refused.stderr
    assert lspidx("query", "hover", "shop.service.run", cwd=copy).returncode == 0
    assert lspidx("query", "get_symbol_documentation", "shop.service.run", cwd=copy).returncode == 0
    assert lspidx("query", "source", "shop.service.run", cwd=copy).returncode == 0
    phase = json_of(lspidx("query", "get_skill_phase", "--json", cwd=copy))["result"]
    assert (phase["current_phase"], phase["mode"]) == ("source", "block")
    assert phase["tool_history"] == ["inspect_symbol", "get_symbol_documentation", "get_symbol_source"]
    file = copy / ".lspidx" / "skill.json"
    assert file.stat().st_mode & 0o077 == 0
    assert lspidx("query", "deactivate_skill", cwd=copy).returncode == 0
    assert lspidx("query", "deactivate_skill", cwd=copy).returncode == 0
    assert not file.exists()
    assert not list((copy / ".lspidx").glob("skill.json-*"))


def test_a_warning_reaches_the_reader_of_the_command_line(copy: Path):
    lspidx("query", "activate_skill", "lsp-docs", cwd=copy)
    done = lspidx("query", "source", "shop.service.run", cwd=copy)
    assert done.returncode == 0
    assert "warning: get_symbol_source is not allowed in phase 'hover'" in done.stdout


def test_without_a_skill_the_command_line_lists_all_with_their_purpose(shop_root: Path):
    done = lspidx("query", "get_skill_phase", cwd=shop_root)
    for skill in skills().values():
        assert f"{skill.name}  {skill.purpose}" in done.stdout
    listed = json_of(lspidx("query", "get_skill_phase", "--json", cwd=shop_root))
    assert (listed["result"]["active"], listed["total"]) == (False, 22)
    assert [item["name"] for item in listed["result"]["available_skills"]] == list(skills())


def test_a_skill_wants_an_index_on_the_command_line(tmp_path: Path):
    done = lspidx("query", "activate_skill", "lsp-docs", cwd=tmp_path)
    assert done.returncode == 4
    assert "kept beside the index" in done.stderr
    assert "lspidx index" in done.stderr
    assert json_of(lspidx("query", "get_skill_phase", "--json", cwd=tmp_path))["result"]["active"] is False
    with pytest.raises(NoIndex):
        KeptPhases(tmp_path).activate("lsp-docs", "warn")
    assert not list(tmp_path.iterdir())


def test_processes_at_once_lose_no_call_and_one_of_many_activates(copy: Path):
    def ask(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(LSPIDX), "query", *words],
            cwd=copy, env=plain_environment(copy), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip

    begun = [ask("activate_skill", name) for name in ("lsp-impact", "lsp-explore", "lsp-docs")]
    said = [process.communicate(timeout=60) for process in begun]
    assert sorted(process.returncode for process in begun) == [0, 2, 2]
    assert sum("only one skill can be" in stderr for _, stderr in said) == 2
    asked = [ask("outline", "shop/utils.py") for _ in range(8)]
    for process in asked:
        process.communicate(timeout=60)
        assert process.returncode == 0
    history = json_of(lspidx("query", "get_skill_phase", "--json", cwd=copy))["result"]["tool_history"]
    assert history == ["list_symbols"] * 8


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"serial":"x","skill":"nothing","mode":"block"}', b"[" * 200_000, None])
def test_a_state_that_cannot_be_read_refuses_until_it_is_ended(copy: Path, content: bytes | None):
    file = copy / ".lspidx" / "skill.json"
    if content is None:
        os.mkfifo(file)
    else:
        file.write_bytes(content)
    phases = KeptPhases(copy)
    with pytest.raises(ConfigError, match="deactivate_skill"):
        phases.begin("get_symbol_source", writes=False)
    assert phases.deactivate() == ""
    assert not file.exists()
    assert phases.begin("get_symbol_source", writes=False).serial == ""


def test_a_link_in_the_place_of_the_state_is_neither_read_nor_written_through(copy: Path, tmp_path: Path):
    outside = tmp_path / "outside.json"
    outside.write_text("mine", encoding="utf-8")
    (copy / ".lspidx" / "skill.json").symlink_to(outside)
    phases = KeptPhases(copy)
    with pytest.raises(ConfigError):
        phases.state()
    phases.deactivate()
    phases.activate("lsp-docs", "warn")
    assert outside.read_text(encoding="utf-8") == "mine"


# ---- MCP: each client has its own


def test_two_clients_of_a_server_do_not_share_a_skill(shop_root: Path):
    async def scenario() -> None:
        with listening(shop_root) as web:
            async with web.client() as one, web.client() as other:
                begun = await one.call_tool("activate_skill", {"skill_name": "lsp-docs", "mode": "block"})
                assert not begun.is_error
                refused = await one.call_tool("get_symbol_source", SOURCE)
                assert refused.is_error
                assert "not allowed in phase 'hover'" in text(refused)
                assert data(refused)["error"]["code"] == "phase_violation"
                assert data(refused)["error"]["allowed_tools"] == ["inspect_symbol", "find_symbol"]
                assert not (await other.call_tool("get_symbol_source", SOURCE)).is_error
                assert data(await other.call_tool("get_skill_phase", {}))["result"]["active"] is False
                await other.call_tool("activate_skill", {"skill_name": "lsp-docs"})
                warned = await other.call_tool("get_symbol_source", SOURCE)
                assert not warned.is_error
                assert "not allowed in phase 'hover'" in data(warned)["warnings"][0]
                assert "warning: get_symbol_source" in text(warned)
                await other.call_tool("deactivate_skill", {})
                phase = data(await one.call_tool("get_skill_phase", {}))["result"]
                assert (phase["skill_name"], phase["current_phase"], phase.get("tool_history", [])) == ("lsp-docs", "hover", [])

    run(scenario)


def test_a_client_without_a_session_is_told_that_it_cannot_have_phases(shop_root: Path):
    async def scenario() -> None:
        with listening(shop_root) as web:
            async with web.client("auto") as client:
                refused = await client.call_tool("activate_skill", {"skill_name": "lsp-docs"})
                assert refused.is_error
                assert "belong to no session" in text(refused)
                assert not (await client.call_tool("get_symbol_source", SOURCE)).is_error

    run(scenario)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_server_and_command_line_do_not_see_each_others_skill(copy: Path, mode: str):
    async def scenario() -> None:
        async with connected(copy, mode=mode) as client:
            await client.call_tool("activate_skill", {"skill_name": "lsp-docs", "mode": "block"})
            assert (await client.call_tool("source", SOURCE)).is_error
            assert lspidx("query", "source", "shop.service.run", cwd=copy).returncode == 0
            assert lspidx("query", "activate_skill", "lsp-local-symbols", "--mode", "block", cwd=copy).returncode == 0
            assert lspidx("query", "references", "shop.service.run", cwd=copy).returncode == 6
            assert not (await client.call_tool("find_references", SOURCE)).is_error
            assert data(await client.call_tool("get_skill_phase", {}))["result"]["skill_name"] == "lsp-docs"

    run(scenario)


def test_each_skill_is_a_prompt_made_from_its_data(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root) as client:
            listed = {item.name: item for item in (await client.list_prompts()).prompts}
            assert [name for name in listed if name.startswith("skill-")] == [f"skill-{name}" for name in skills()]
            for skill in skills().values():
                prompt = listed[f"skill-{skill.name}"]
                assert [item.name for item in prompt.arguments or []] == [item.name for item in skill.arguments]
                given = {item.name: f"the {item.name}\nof it" for item in skill.arguments}
                [message] = (await client.get_prompt(prompt.name, given)).messages
                said = str(getattr(message.content, "text", ""))
                assert all(json.dumps(value) in said for value in given.values())
                places = [said.index(f"{number}. {phase.name}: {phase.do}") for number, phase in enumerate(skill.phase, 1)]
                assert places == sorted(places)
                assert f'skill_name "{skill.name}"' in said
            with pytest.raises(MCPError, match="give the argument 'symbol'; it takes: 'symbol', 'new_name'"):
                await client.get_prompt("skill-lsp-rename", {"new_name": "x"})
            with pytest.raises(MCPError, match="there is no argument 'nope'"):
                await client.get_prompt("skill-lsp-verify", {"nope": "x"})

    run(scenario)


# ---- dialects


def test_agent_lsp_has_the_shapes_of_its_examples(shop_root: Path):
    service, surface = Service(shop_root), dialect("agent-lsp")
    four = ["lsp-rename", "lsp-refactor", "lsp-safe-edit", "lsp-verify"]
    assert surface.call(service, "get_skill_phase", {}).structured == {"active": False, "available_skills": four}
    begun = surface.call(service, "activate_skill", {"skill_name": "lsp-refactor", "mode": "block"})
    assert begun.structured == {
        "status": "activated",
        "skill": "lsp-refactor",
        "mode": "block",
        "current_phase": "blast_radius",
        "total_phases": 5,
        "allowed_tools": ["blast_radius", "go_to_symbol", "find_references"],
        "forbidden_tools": ["apply_edit", "simulate_*", "Edit", "Write", "rename_symbol"],
    }
    assert json.loads(begun.text) == begun.structured
    assert surface.call(service, "activate_skill", {"skill_name": "lsp-rename"}).is_error
    for _ in range(2):
        assert surface.call(service, "deactivate_skill", {}).structured == {"status": "deactivated"}
    surface.call(service, "activate_skill", {"skill_name": "lsp-rename"})
    act(service.phases, "start_lsp", "go_to_symbol", "prepare_rename")
    assert surface.call(service, "get_skill_phase", {}).structured == {
        "active": True,
        "skill_name": "lsp-rename",
        "current_phase": "preview",
        "phase_index": 1,
        "total_phases": 3,
        "mode": "warn",
        "allowed_tools": ["go_to_symbol", "prepare_rename", "find_references", "rename_symbol"],
        "forbidden_tools": ["apply_edit", "Edit", "Write", "format_document", "run_tests"],
        "tool_history": ["start_lsp", "go_to_symbol", "prepare_rename"],
    }


AT_RUN = {"line": 17, "column": 5}


def test_a_dialects_operation_is_held_against_the_phases_once_by_its_canonical_name(shop_root: Path):
    service = Service(shop_root)
    file = str(shop_root / "shop/service.py")
    service.ask("activate_skill", {"skill_name": "lsp-local-symbols", "mode": "block"})
    refused = dialect("agent-lsp").call(service, "find_references", {"file_path": file, "language_id": "python", **AT_RUN})
    assert (refused.is_error, refused.exit_code) == (True, 6)
    assert refused.structured["error"]["code"] == "phase_violation"
    other = dialect("claude-code").call(service, "LSP", {"operation": "findReferences", "filePath": file, "line": 17, "character": 5})
    assert "find_references is not allowed in phase 'outline'" in other.text
    done = dialect("agent-lsp").call(service, "callers", {"file_path": file, "language_id": "python", **AT_RUN})
    assert not done.is_error
    assert service.ask("get_skill_phase", {}).result.tool_history == ["find_callers"]  # and not what it looked up besides


def test_a_dialect_passes_a_warning_on_in_its_own_form(shop_root: Path):
    service = Service(shop_root)
    file = str(shop_root / "shop/service.py")
    service.ask("activate_skill", {"skill_name": "lsp-docs"})
    reply = dialect("agent-lsp").call(
        service, "get_symbol_source", {"file_path": file, "language_id": "python", "line": 17, "character": 5}
    )
    assert json.loads(reply.text) == reply.structured
    assert "not allowed in phase 'hover'" in reply.structured["warnings"][0]
    service.ask("deactivate_skill", {})
    service.ask("activate_skill", {"skill_name": "lsp-docs"})
    prose = dialect("claude-code").call(service, "LSP", {"operation": "goToDefinition", "filePath": file, "line": 31, "character": 12})
    assert prose.payload.startswith("Defined in")
    assert "go_to_definition is not allowed in phase 'hover'" in prose.note


def test_calls_of_a_dialect_on_the_command_line_share_the_state_of_the_index(copy: Path):
    assert (
        lspidx("call", "--dialect", "agent-lsp", "activate_skill", '{"skill_name": "lsp-rename", "mode": "block"}', cwd=copy).returncode
        == 0
    )
    shown = lspidx("call", "--dialect", "agent-lsp", "get_skill_phase", "{}", cwd=copy)
    assert json.loads(shown.stdout)["current_phase"] == "prerequisites"
    assert json_of(lspidx("query", "get_skill_phase", "--json", cwd=copy))["result"]["skill_name"] == "lsp-rename"


def test_a_client_of_a_dialect_is_held_to_the_skill_that_it_activated(shop_root: Path):
    file = str(shop_root / "shop/service.py")

    async def scenario() -> None:
        async with connected(shop_root, "--dialect", "claude-code") as client:
            await client.call_tool("activate_skill", {"skill_name": "lsp-local-symbols", "mode": "block"})
            asked = {"operation": "findReferences", "filePath": file, "line": 17, "character": 5}
            refused = await client.call_tool("LSP", asked)
            assert refused.is_error
            assert "find_references is not allowed" in text(refused)
            await client.call_tool("deactivate_skill", {})
            assert not (await client.call_tool("LSP", asked)).is_error

    run(scenario)


def test_a_lock_that_somebody_keeps_is_named(copy: Path, monkeypatch: pytest.MonkeyPatch):
    import portalocker

    monkeypatch.setattr("query.skills.kept._WAIT_S", 0.05)
    phases = KeptPhases(copy)
    phases.activate("lsp-impact", "block")
    with portalocker.Lock(copy / ".lspidx" / "skill.lock", "a"), pytest.raises(Locked, match=r"skill\.lock'; wait for it, or end it"):
        phases.begin("list_symbols", writes=False)
    assert phases.begin("list_symbols", writes=False).serial
