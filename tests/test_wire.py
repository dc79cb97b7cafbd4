"""Whatever a server answers: a result, an `unknown`, or an error that names the server and the method; never a defect of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import write_tree
from wire_support import INITIALIZE, JUNK, OPTIONS, QUESTIONS, SOURCES, Answering, answers, mutations

from indexer.errors import EditRefused, LspidxError, NameNotFound, ServerError
from query.answers.envelope import Answer
from query.answers.style import Style
from query.surface.registry import call, load

PAIRS = [(tool, method) for tool, (_, methods) in QUESTIONS.items() for method in methods]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("wire") / "shop", SOURCES)


def asked(root: Path, tool: str, said: dict[str, Any]) -> Answer[Any] | LspidxError:
    """What a tool makes of it; whatever is no error of the house is raised."""
    arguments, _ = QUESTIONS[tool]
    try:
        answer = call(None, tool, {"file_path": "shop.py", **arguments}, servers=Answering(root, said), root=root)
    except LspidxError as error:
        return error
    declared, _ = load(tool)
    for compact in (True, False):
        "\n".join(declared.text(answer, Style(compact=compact)))
    msgspec.json.encode(answer)
    return answer


def check(root: Path, tool: str, method: str, said: Any) -> None:
    outcome = asked(root, tool, {method: said})
    if isinstance(outcome, LspidxError) and (tool, method) != ("execute_command", INITIALIZE):  # it is told that there is no such command
        assert isinstance(outcome, (ServerError, EditRefused, NameNotFound)), outcome
        assert "fakels" in str(outcome) or isinstance(outcome, (EditRefused, NameNotFound)), outcome


@pytest.mark.parametrize(("tool", "method"), PAIRS)
def test_a_full_answer_is_an_answer(root: Path, tool: str, method: str) -> None:
    outcome = asked(root, tool, {})
    assert isinstance(outcome, Answer), outcome
    assert outcome.completeness.status == "complete" or tool in ("rename_symbol", "preview_edit", "suggest_fixes"), outcome.completeness


@pytest.mark.parametrize(("tool", "method"), PAIRS)
def test_no_answer_of_a_server_is_a_defect_of_ours(root: Path, tool: str, method: str) -> None:
    failed: dict[str, Any] = {}
    full = answers(root)[method]
    if method == INITIALIZE:
        saids = ({**full, OPTIONS[tool]: options} for options in mutations(full[OPTIONS[tool]]))
    else:
        saids = mutations(full)
    for said in saids:
        try:
            check(root, tool, method, said)
        except Exception as error:
            failed.setdefault(f"{type(error).__name__}: {error}"[:300], said)
    assert not failed


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4) | st.sampled_from(JUNK),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ("uri", "range", "selectionRange", "targetUri", "newText", "edits", "changes", "documentChanges", "items", "label")
            ),
            inner,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(("tool", "method"), PAIRS)
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=JSON)
def test_no_json_at_all_is_a_defect_of_ours(root: Path, tool: str, method: str, said: Any) -> None:
    check(root, tool, method, said)
