"""An answer that is cut goes on exactly where it was: whoever follows its cursors gets every row once, at any budget."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_support import json_of, lspidx, plain_environment

from indexer.errors import UsageError
from indexer.quoting import shown
from query.answers.pages import Cursor, parsed
from query.mcp import forms
from query.mcp.options import Options
from query.surface.parts import CUT, Parts
from query.surface.registry import load, names
from query.surface.service import Service

pytest_plugins = ["query_fixtures"]

BUDGETS = (1_000, 4_000, 8_000)

SERVICE = "shop/service.py"

ARGUMENTS: dict[str, dict[str, Any]] = {
    "find_symbol": {"query": ""},
    "find_callers": {"symbol": "shop.service.run", "depth": 3, "external": True},
    "find_references": {"symbol": "shop.service.run"},
    "type_hierarchy": {"symbol": "shop.models.Item"},
    "explore_symbol": {"symbol": "shop.models.Item"},
    "why": {"source": "shop.service.run", "target": "shop.models.Item"},
    "blast_radius": {"changed_files": [SERVICE, "shop/models.py"], "scope": "all"},
    "detect_changes": {},
    "go_to_symbol": {"symbol_path": "shop.service.run"},
}
BY_PARAMETER = {"symbol": "shop.service.run", "file_path": SERVICE}

SUMMARIES = {
    "blast_radius": ("packages", "warnings"),
    "get_cross_repo_references": ("folders", "warnings"),
    "index_status": ("languages", "methods"),
    "get_diagnostics": ("stale",),
    "repository_map": ("folders",),
    "get_editing_context": ("risk_reasons",),
}
"""Lists that are about all pages together, or say what an element is, and are repeated."""

WITHOUT_LISTS = {"get_server_capabilities", "search_tools", "get_skill_phase", "diff_index"}
"""Tools that are not walked here: what they tell is our own or a server's, or needs a second index (`tests/test_changes.py`)."""


def arguments_of(name: str) -> dict[str, Any]:
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    return {field: BY_PARAMETER[field] for field in load(name)[0].positional.split() if field in BY_PARAMETER}


WALKED = [name for name in names() if load(name)[0].continues and load(name)[0].needs_index and name not in WITHOUT_LISTS]


@pytest.fixture(scope="module")
def changed(shop_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The indexed shop as a work tree of git, in which one file has been changed since."""
    root = shutil.copytree(shop_root, tmp_path_factory.mktemp("changed") / "shop", symlinks=True)
    person = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*person, "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=root, env=plain_environment(root), check=True)
    path = root / "shop/models.py"
    path.write_text(path.read_text(encoding="utf-8").replace("def ", "def  "), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def service(changed: Path) -> Iterator[Service]:
    made = Service(changed)
    yield made
    made.close()


# ---- rows, told apart without the product's own notion of them


def rows(value: Any, path: tuple[str, ...] = (), around: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each element of a list that holds no such itself, with the names on the way to it and what is said of the elements around it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from rows(item, (*path, key), around)
    if isinstance(value, list):
        for item in value:
            said = json.dumps(scalars(item), sort_keys=True)
            inner = list(rows(item, path, (*around, said)))
            yield from inner or [(*path, *around, said)]


def headings(value: Any, path: tuple[str, ...] = (), around: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The elements that hold others: a part may have of one what is not compared here."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from headings(item, (*path, key), around)
    if isinstance(value, list):
        for item in value:
            said = json.dumps(scalars(item), sort_keys=True)
            if any(rows(item)):
                yield (*path, *around, said)
            yield from headings(item, path, (*around, said))


def scalars(value: Any) -> Any:
    """What identifies an element: without lists and without texts that may be cut."""
    if isinstance(value, dict):
        return {key: scalars(item) for key, item in value.items() if not isinstance(item, list) and not is_text(item)}
    return [] if isinstance(value, list) else CUT if is_text(value) else value


def is_text(value: Any) -> bool:
    return isinstance(value, str) and (len(value) > 1_000 or (len(value) > 160 and "\n" in value) or CUT in (value[:1], value[-1:]))


def texts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, (*path, json.dumps(scalars(item), sort_keys=True)))
    elif is_text(value):
        yield path, value.strip(CUT)


def pages(service: Service, name: str, budget: int, form: str) -> Iterator[dict[str, Any]]:
    tool, _ = load(name)
    cursor = ""
    for _ in range(2_000):
        arguments = {**arguments_of(name), **({"cursor": cursor} if cursor else {})}
        answer = service.ask(name, arguments, cut=False)
        result = forms.answered(tool, answer, Options(budget=budget, format=form))  # pyright: ignore[reportArgumentType]
        data = result.get("structuredContent", {})
        assert len(msgspec.json.encode(data)) <= budget
        yield data
        if not data.get("next_cursor"):
            return
        assert data["next_cursor"] != cursor
        cursor = data["next_cursor"]
    raise AssertionError("the cursors of an answer come to no end")


def told(result: Any, name: str) -> Any:
    if isinstance(result, dict):
        return {key: told(value, name) for key, value in result.items() if key not in SUMMARIES.get(name, ())}
    return [told(item, name) for item in result] if isinstance(result, list) else result


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", WALKED)
def test_cursors_lead_to_every_row_once(service: Service, name: str, budget: int):
    fields = load(name)[0].parameters.__struct_fields__
    most = {"limit": 1_000} if "limit" in fields else {}
    everything = shown(msgspec.to_builtins(service.ask(name, {**arguments_of(name), **most}, cut=False)))
    assert everything["next_cursor"] is None
    around = set(headings(everything["result"]))
    expected = Counter(row for row in rows(told(everything["result"], name)) if row not in around)
    found: Counter[tuple[str, ...]] = Counter()
    pieces: defaultdict[tuple[str, ...], str] = defaultdict(str)
    too_long = 0
    for page in pages(service, name, budget, "json"):
        if page["result"] is None:  # it says so, and that the next page begins after the row
            assert "longer than the budget" in page["next"]
            too_long += 1
            continue
        found += Counter(row for row in rows(told(page["result"], name)) if row not in around)
        for path, text in texts(page["result"]):
            pieces[path] += text
    if too_long:
        assert budget == BUDGETS[0]
        assert found <= expected
        return
    assert found == expected
    for path, text in texts(everything["result"]):
        assert pieces[path] == text


def test_the_walk_has_tools_to_walk():
    assert {"find_callers", "blast_radius", "detect_changes", "get_editing_context", "get_cross_repo_references", "untested"} <= set(WALKED)


# ---- parts


VALUES = st.recursive(  # with long texts alone in lists, whose pieces are no rows of ours
    st.integers() | st.text(alphabet="ab\n", max_size=400),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=60,
)


@settings(max_examples=150, deadline=None)
@given(VALUES, st.data())
def test_parts_of_any_value_have_each_row_once(value: Any, data: st.DataObject):
    parts = Parts(value)
    cuts = sorted(data.draw(st.lists(st.integers(0, parts.rows), max_size=6)))
    found = Counter(row for first, end in pairwise([0, *cuts, parts.rows]) for row in rows(parts.part(first, end)))
    assert found == Counter(rows(value))
    assert parts.part(0, parts.rows) == value


def test_a_part_repeats_what_stands_around_its_rows_and_nothing_else():
    value = {"total": 7, "edges": [{"name": "a", "sites": list(range(7))}, {"name": "b", "sites": [1]}]}
    parts = Parts(value)
    assert parts.rows == 8
    assert parts.part(0, 2) == {"total": 7, "edges": [{"name": "a", "sites": [0, 1]}]}
    assert parts.part(5, 8) == {"total": 7, "edges": [{"name": "a", "sites": [5, 6]}, {"name": "b", "sites": [1]}]}


def test_lists_of_a_record_take_turns():
    parts = Parts({"changed": [1, 2, 3], "tests": ["a", "b", "c"]})
    assert parts.part(0, 2) == {"changed": [1], "tests": ["a"]}
    assert parts.part(2, 4) == {"changed": [2], "tests": ["b"]}


def test_long_texts_go_on_at_the_end_of_a_line():
    text = "".join(f"line {number} {'x' * 70}\n" for number in range(10))
    parts = Parts({"source": text})
    first, rest = parts.part(0, 2)["source"], parts.part(2, parts.rows)["source"]
    assert first.endswith(f"\n{CUT}")
    assert rest.startswith(f"{CUT}line")
    assert first.strip(CUT) + rest.strip(CUT) == text


# ---- cursors


@pytest.mark.parametrize("text", ["", "5", "5.7", ".7", "3-5-5.2"])
def test_a_cursor_is_written_as_it_is_read(text: str):
    assert str(parsed(text)) == text


def test_a_cursor_names_the_tools_own_page_and_the_row_in_it():
    assert parsed("200.17") == Cursor("200", 17)


@pytest.mark.parametrize("cursor", ["5.x", "5.-1", ".9999999999999", "5.7.2", "a.1"])
def test_a_cursor_that_no_answer_gave_out_is_refused(service: Service, cursor: str):
    with pytest.raises(UsageError, match="is no cursor"):
        service.ask("find_symbol", {"query": "", "cursor": cursor})


def test_a_tool_without_pages_takes_no_page_but_a_row(service: Service):
    with pytest.raises(UsageError, match="is no cursor"):
        service.ask("go_to_definition", {"symbol": "shop.service.run", "cursor": "5"})
    assert service.ask("go_to_definition", {"symbol": "shop.service.run", "cursor": ".0"}).result


# ---- programs that read the command line


def test_json_into_a_pipe_is_whole_whatever_the_limits_of_the_tool_are(changed: Path):
    """Whoever writes `| jq` gets every row."""
    piped = json_of(lspidx("query", "find_symbol", "", "--json", cwd=changed))
    limited = json_of(lspidx("query", "find_symbol", "", "--json", "--limit", "2", cwd=changed))
    assert len(piped["result"]) == piped["total"] > 2
    assert (piped["truncated"], piped["next_cursor"]) == (False, None)
    assert (len(limited["result"]), limited["truncated"], limited["next_cursor"]) == (2, True, "2")
