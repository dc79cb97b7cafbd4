"""Whatever a server answers: a result, an `unknown`, or an error that names the server and the method; never a defect of ours."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import write_tree
from wire_support import INITIALIZE, JUNK, OPTIONS, QUESTIONS, SOURCES, Answering, answers, at, mutations

from indexer.crawl.worker.harvest import places
from indexer.errors import EditRefused, LspidxError, NameNotFound, ServerError, ServerProtocolError
from indexer.lsp import decode
from indexer.lsp.framing import frame
from indexer.lsp.session import Session
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


MEMBERS = ("uri", "range", "selectionRange", "targetUri", "newText", "edits", "changes", "documentChanges", "items", "label")
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4) | st.sampled_from(JUNK)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=3)


JSON = LEAVES | around(LEAVES | around(LEAVES | around(LEAVES)))
"""Of four levels."""


@pytest.mark.parametrize(("tool", "method"), PAIRS)
@settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(said=JSON)
def test_no_json_at_all_is_a_defect_of_ours(root: Path, tool: str, method: str, said: Any) -> None:
    check(root, tool, method, said)


# ---- what a crawl reads, and what a session is asked


WHERE = at(0, 0, 3)
READ: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "definition": (
        lambda raw: places(decode.targets(raw)),
        [{"targetUri": "file:///a.py", "targetRange": WHERE, "targetSelectionRange": WHERE}],
    ),
    "outline": (
        decode.document_symbols,
        [
            {
                "name": "a",
                "kind": 5,
                "range": WHERE,
                "selectionRange": WHERE,
                "tags": [1],
                "children": [{"name": "b", "kind": 6, "location": {}}],
            }
        ],
    ),
    "hover": (lambda raw: decode.hover_text(decode.hover(raw)), {"contents": [{"language": "python", "value": "x"}, "y"], "range": WHERE}),
    "supertypes": (decode.type_hierarchy_items, [{"name": "A", "uri": "file:///a.py", "range": WHERE, "selectionRange": WHERE, "kind": 5}]),
    "items": (decode.raw_items, [{"name": "A"}]),
    "highlights": (decode.highlights, [{"range": WHERE, "kind": 1}]),
    "report": (decode.diagnostic_report, {"kind": "full", "items": [{"range": WHERE, "message": "m", "severity": 1, "code": 1}]}),
    "report, item by item": (decode.diagnostic_items, {"kind": "full", "items": [{"range": WHERE, "message": "m"}]}),
    "published": (decode.published_diagnostics, {"uri": "file:///a.py", "version": 1, "diagnostics": [{"range": WHERE, "message": "m"}]}),
    "diagnostics": (decode.diagnostics, [{"range": WHERE, "message": "m"}]),
    "progress": (decode.sign, {"token": "t", "value": {"kind": "begin", "title": "Loading", "message": "m", "percentage": 3}}),
    "message": (decode.shown_message, {"type": 1, "message": "m"}),
    "status": (decode.members, {"health": "ok", "quiescent": True}),
}
"""What a crawl and a conversation read off the wire: the decoder, and a full answer."""


@pytest.mark.parametrize("what", READ)
def test_what_a_crawl_reads_is_read_or_broken_and_nothing_else(what: str) -> None:
    """Whoever asks catches `decode.BROKEN` and counts the answer as lost."""
    read, full = READ[what]
    assert read(msgspec.Raw(json.dumps(full).encode()))
    for said in mutations(full):
        with contextlib.suppress(*decode.BROKEN):
            read(msgspec.Raw(json.dumps(said).encode()))


SAID: dict[str, dict[str, Any]] = {
    "answer to initialize": {
        "id": 0, "result": {"capabilities": {"positionEncoding": "utf-16"}, "serverInfo": {"name": "fake", "version": "1"}},
    },
    "settings": {"id": "a", "method": "workspace/configuration", "params": {"items": [{"section": "a.b"}]}},
    "registration": {"id": 1, "method": "client/registerCapability", "params": {"registrations": [{"id": "x", "method": "y"}]}},
    "unregistration": {"id": 1, "method": "client/unregisterCapability", "params": {"unregisterations": [{"id": "x", "method": "y"}]}},
    "edit": {"id": 1, "method": "workspace/applyEdit", "params": {"edit": {"changes": {}}}},
    "error": {"id": 2, "error": {"code": -32801, "message": "content modified"}},
}  # fmt: skip
"""What a server may say that the session itself takes in."""


@pytest.mark.parametrize("what", SAID)
def test_a_session_takes_in_what_it_is_told_or_names_what_is_wrong_with_it(what: str) -> None:
    for said in mutations(SAID[what]):
        session = Session(b"{}", {"a": {"b": 1}})
        session.initialize()
        session.wanted_edits = []
        if what != "answer to initialize":
            session.receive(frame(json.dumps(SAID["answer to initialize"]).encode()))
            session.request(b"textDocument/hover", b"{}")
        with contextlib.suppress(ServerProtocolError):
            session.receive(frame(json.dumps(said).encode()))
