"""The protocol without IO: framing, the session's conversation, decoding, and our words against lsprotocol's."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import converters
from lsprotocol import types as lsp

from indexer.crawl.worker.harvest import places
from indexer.errors import Bug, ServerProtocolError
from indexer.lsp import decode
from indexer.lsp.framing import MAX_BODY_BYTES, MAX_HEADER_BYTES, FrameReader, frame
from indexer.lsp.protocol import initialize_params
from indexer.lsp.session import Answer, Notification, Session, State
from indexer.model import CALLABLE_KINDS, Role, SymbolKind

# ---- framing


def _cut(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[a:b] for a, b in itertools.pairwise(edges)]


@given(st.lists(st.binary(max_size=60), max_size=6), st.lists(st.integers(0, 10_000), max_size=20))
def test_any_chunking_of_a_stream_gives_the_same_messages(bodies: list[bytes], cuts: list[int]) -> None:
    """Where the pipe cuts the bytes does not matter."""
    stream = b"".join(frame(body) for body in bodies)
    reader = FrameReader()
    found = [body for chunk in _cut(stream, cuts) for body in reader.feed(chunk)]
    assert found == bodies


def test_header_names_have_no_case_and_other_headers_are_ignored() -> None:
    """`content-length` counts wherever it stands."""
    assert FrameReader().feed(b"Content-Type: x\r\ncontent-LENGTH:  2 \r\n\r\nok") == [b"ok"]


@pytest.mark.parametrize(
    "data",
    [
        b"x" * (MAX_HEADER_BYTES + 1),
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1x\r\n\r\n",
        b"Content-Length: \r\n\r\n",
        b"Content-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1),
        b"Hello: world\r\n\r\n",
        b"\r\n\r\n",
    ],
)
def test_a_stream_that_is_not_framed_is_refused(data: bytes) -> None:
    """A limit or a header that says nothing ends the conversation."""
    with pytest.raises(ServerProtocolError):
        FrameReader().feed(data)


def test_the_longest_header_that_still_may_end_is_waited_for() -> None:
    """Up to the limit an unfinished header is no error."""
    assert FrameReader().feed(b"x" * MAX_HEADER_BYTES) == []


def test_a_length_of_many_digits_is_refused_and_not_computed() -> None:
    """Python refuses to read integers of more than 4,300 digits with a ValueError; here it is a protocol error."""
    with pytest.raises(ServerProtocolError):
        FrameReader().feed(b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n")


# ---- session


def _send(session: Session, message: dict[str, Any]) -> list[Answer | Notification]:
    return session.receive(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))


def _sent(session: Session) -> list[dict[str, Any]]:
    data = bytes(session.outgoing)
    session.outgoing.clear()
    return [json.loads(body) for body in FrameReader().feed(data)]


def _ready(capabilities: dict[str, Any] | None = None, settings: dict[str, Any] | None = None) -> Session:
    session = Session(b'{"workspaceFolders":[{"uri":"file:///w","name":"w"}]}', settings or {})
    session.initialize()
    _send(session, {"id": 0, "result": {"capabilities": capabilities or {}, "serverInfo": {"name": "s", "version": "2"}}})
    _sent(session)
    return session


def test_the_session_goes_from_new_to_closed() -> None:
    """initialize, initialized, shutdown, exit: in this order and no other."""
    session = Session(b"{}", {})
    assert session.state is State.NEW
    session.initialize()
    assert [message["method"] for message in _sent(session)] == ["initialize"]
    _send(session, {"id": 0, "result": {"capabilities": {"hoverProvider": True}, "serverInfo": {"name": "x", "version": "1"}}})
    assert session.state is State.READY
    assert (session.server_name, session.server_version, session.position_encoding) == ("x", "1", "utf-16")
    assert [message["method"] for message in _sent(session)] == ["initialized"]
    session.shutdown()
    assert [message["method"] for message in _sent(session)] == ["shutdown"]
    _send(session, {"id": 1, "result": None})
    assert session.state is State.CLOSED
    assert [message["method"] for message in _sent(session)] == ["exit"]


def test_a_server_that_counts_columns_in_another_unit_is_refused() -> None:
    """UTF-16 was all that we offered: its columns would be wrong on some lines, and nobody would see it."""
    session = Session(b"{}", {})
    session.initialize()
    with pytest.raises(ServerProtocolError, match="utf-8"):
        _send(session, {"id": 0, "result": {"capabilities": {"positionEncoding": "utf-8"}}})


def test_a_registration_counts_until_it_is_taken_back() -> None:
    """By its id: the same method may be registered twice, for different files."""
    session = _ready()

    def tell(verb: str, key: str, number: int) -> None:
        item = {"id": str(number), "method": "textDocument/diagnostic"}
        _send(session, {"id": f"{verb} {number}", "method": f"client/{verb}Capability", "params": {key: [item]}})

    for number in (1, 2):
        tell("register", "registrations", number)
    tell("unregister", "unregisterations", 1)
    assert session.supports("textDocument/diagnostic")
    tell("unregister", "unregisterations", 2)
    assert not session.supports("textDocument/diagnostic")
    assert [message["result"] for message in _sent(session)] == [None] * 4


@pytest.mark.parametrize("body", [b'{"method":"\xff"}', b'{"id":2,"error":{"message":"\xff"}}', b'{"id":2,"result":' + b"[" * 100_000])
def test_bodies_that_cannot_be_decoded_are_protocol_errors(body: bytes) -> None:
    """Text that is no UTF-8 and nesting without end are the server's fault, not a crash of ours."""
    with pytest.raises(ServerProtocolError):
        _ready().receive(frame(body))


def test_steps_out_of_order_are_bugs_of_ours() -> None:
    """Nobody may shut down what was never ready, or initialize twice."""
    with pytest.raises(Bug):
        Session(b"{}", {}).shutdown()
    with pytest.raises(Bug):
        _ready().initialize()


def test_answers_come_with_the_id_of_their_request() -> None:
    """Ids count up; errors stay with their answer."""
    session = _ready()
    first, second = session.request(b"a", b"{}"), session.request(b"b", b"[1]")
    assert [message["id"] for message in _sent(session)] == [first, second]
    events = session.receive(frame(b'{"id":%d,"result":[1]}' % second) + frame(b'{"id":%d,"error":{"code":1,"message":"no"}}' % first))
    assert [(event.id, bytes(event.result), event.error and event.error.message) for event in events if isinstance(event, Answer)] == [
        (second, b"[1]", None),
        (first, b"null", "no"),
    ]


def test_server_requests_are_answered_at_once() -> None:
    """Configuration gives one value per item, never null; registrations are remembered; edits are refused; the rest is null."""
    session = _ready(settings={"python": {"analysis": {"deep": 1}}})
    items = [{"section": "python.analysis"}, {"section": "nothing.here"}, {}, {"section": "python.analysis.deep"}]
    events = [
        *_send(session, {"id": 7, "method": "workspace/configuration", "params": {"items": items}}),
        *_send(session, {"id": "x", "method": "client/registerCapability", "params": {"registrations": [{"id": "1", "method": "m/late"}]}}),
        *_send(session, {"id": 8, "method": "workspace/applyEdit", "params": {"edit": {}}}),
        *_send(session, {"id": 9, "method": "workspace/workspaceFolders"}),
        *_send(session, {"id": 10, "method": "window/workDoneProgress/create", "params": {"token": 1}}),
        *_send(session, {"id": 11, "method": "never/heard", "params": [1]}),
    ]
    assert events == []
    answers = {message["id"]: message["result"] for message in _sent(session)}
    assert answers[7] == [{"deep": 1}, {}, {"python": {"analysis": {"deep": 1}}}, 1]
    assert answers["x"] is None
    assert answers[10] is None
    assert answers[11] is None
    assert answers[8]["applied"] is False
    assert answers[9] == [{"uri": "file:///w", "name": "w"}]
    assert session.supports("m/late")
    assert not session.supports("m/other")


def test_capabilities_may_be_true_or_an_object() -> None:
    """An empty object advertises, false and null do not."""
    session = _ready({"a": True, "b": {}, "c": False, "d": None})
    assert [session.supports(name) for name in "abcde"] == [True, True, False, False, False]


@pytest.mark.parametrize(
    "message",
    [
        {"id": 99, "result": None},
        {"id": "2", "result": None},
        {"id": -1, "result": None},
        {"id": None, "error": {"code": -32700, "message": "parse error"}},
        {"result": 1},
        {"id": 0, "result": {}},
        {"id": 1, "result": None},
    ],
)
def test_answers_to_nothing_are_protocol_errors(message: dict[str, Any]) -> None:
    """An id that was never used, a second initialize answer, a shutdown that nobody asked for."""
    with pytest.raises(ServerProtocolError):
        _send(_ready(), message)


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"", b'{"id":{}}', b'{"method":1}', b"\xff\xfe"])
def test_bodies_that_are_no_messages_are_protocol_errors(body: bytes) -> None:
    """Broken or foreign JSON ends the conversation, with the body in the message."""
    with pytest.raises(ServerProtocolError):
        _ready().receive(frame(body))


def test_a_server_without_a_name_is_fine() -> None:
    """serverInfo is optional, and nonsense in it is ignored."""
    session = Session(b"{}", {})
    session.initialize()
    _send(session, {"id": 0, "result": {"capabilities": {}, "serverInfo": ["x"]}})
    assert session.state is State.READY
    assert session.server_name == ""


@pytest.mark.parametrize("result", [None, {}, {"capabilities": None}, []])
def test_initialize_without_capabilities_is_refused(result: object) -> None:
    """A server that does not say what it can do is none."""
    session = Session(b"{}", {})
    session.initialize()
    with pytest.raises(ServerProtocolError):
        _send(session, {"id": 0, "result": result})


@pytest.mark.parametrize(
    "message",
    [
        {"id": 5, "method": "workspace/configuration", "params": [1]},
        {"id": 5, "method": "workspace/configuration", "params": {"items": [1]}},
        {"id": 5, "method": "client/registerCapability", "params": {"registrations": ["x"]}},
    ],
)
def test_questions_of_a_strange_shape_are_protocol_errors(message: dict[str, Any]) -> None:
    """A broken server must not end the worker with an AttributeError."""
    with pytest.raises(ServerProtocolError):
        _send(_ready(), message)


def test_notifications_are_events() -> None:
    """What the server says unasked is handed on with its parameters."""
    events = _send(_ready(), {"method": "window/logMessage", "params": {"type": 1}})
    assert [(event.method, json.loads(bytes(event.params))) for event in events if isinstance(event, Notification)] == [
        ("window/logMessage", {"type": 1})
    ]


# ---- decoding

_RANGE = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}}
_OTHER = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, []),
        ([], []),
        ({"uri": "u", "range": _RANGE}, [("u", 1, 2, 1, 5)]),
        (
            [{"uri": "v", "range": _RANGE}, {"uri": "u", "range": _RANGE}, {"uri": "v", "range": _RANGE}],
            [("u", 1, 2, 1, 5), ("v", 1, 2, 1, 5)],
        ),
        (
            [{"targetUri": "u", "targetRange": _OTHER, "targetSelectionRange": _RANGE, "originSelectionRange": _OTHER}],
            [("u", 1, 2, 1, 5)],
        ),
        ([{"uri": "u"}], []),
    ],
)
def test_definitions_of_all_shapes_are_places(result: object, expected: list[tuple[str, int, int, int, int]]) -> None:
    """Location, Location[], LocationLink[] and null; sorted and without repeats."""
    assert places(decode.targets(json.dumps(result).encode())) == expected


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ("plain", "plain"),
        ({"kind": "markdown", "value": "**x**"}, "**x**"),
        ({"language": "python", "value": "def f()"}, "```python\ndef f()\n```"),
        (["a", {"language": "python", "value": "x"}, ""], "a\n```python\nx\n```"),
        ([], ""),
    ],
)
def test_hovers_of_all_shapes_are_text(contents: object, expected: str) -> None:
    """MarkupContent, MarkedString and lists of them."""
    assert decode.hover_text(decode.hover(json.dumps({"contents": contents}).encode())) == expected


def test_no_hover_is_no_text() -> None:
    """null means that there is nothing to say."""
    assert decode.hover_text(decode.hover(b"null")) == ""


def test_outlines_may_be_nested_or_flat() -> None:
    """DocumentSymbol has ranges and children, SymbolInformation a location."""
    inner = {"name": "b", "kind": 6, "range": _RANGE, "selectionRange": _RANGE}
    nested = [{"name": "a", "kind": 5, "range": _OTHER, "selectionRange": _RANGE, "children": [inner]}]
    flat = [{"name": "a", "kind": 5, "location": {"uri": "u", "range": _RANGE}, "containerName": "m"}]
    first = (decode.document_symbols(json.dumps(nested).encode()) or [])[0]
    assert first.children is not None
    assert first.children[0].name == "b"
    assert first.location is None
    second = (decode.document_symbols(json.dumps(flat).encode()) or [])[0]
    assert second.range is None
    assert second.location is not None
    assert second.location.range is not None
    assert decode.document_symbols(b"null") is None


@pytest.mark.parametrize(
    "text",
    [
        b'{"uri":1}',
        b"3",
        b'[{"range":{}}]',
        b'{"uri":"u","range":{"start":{"line":"0","character":0},"end":{"line":0,"character":0}}}',
    ],
)
def test_what_does_not_fit_is_a_decode_error(text: bytes) -> None:
    """Wrong types are refused, not guessed."""
    with pytest.raises(msgspec.DecodeError):
        decode.targets(text)


# ---- our words and lsprotocol's


def test_symbol_kinds_are_those_of_the_protocol() -> None:
    """Numbers and names equal lsprotocol's enumeration."""

    def plain(name: str) -> str:
        return name.replace("_", "").lower()

    assert {plain(kind.name): kind.value for kind in SymbolKind} == {plain(kind.name): kind.value for kind in lsp.SymbolKind}
    assert SymbolKind.ENUM_MEMBER.label == "enum member"
    assert SymbolKind.CLASS not in CALLABLE_KINDS


def test_role_labels_are_words_in_order_of_their_bits() -> None:
    """A set of roles is shown as words."""
    assert (Role.READ | Role.CALL).labels == ["read", "call"]
    assert Role(0).labels == []


def test_initialize_params_are_well_formed() -> None:
    """lsprotocol reads back what we send, and nothing of it is lost."""
    text = initialize_params([Path("/w/a b"), Path("/w/c")], {"x": {"y": [1]}})
    converter = converters.get_converter()
    params = converter.structure(json.loads(text), lsp.InitializeParams)
    assert params.root_uri == "file:///w/a%20b"
    assert params.workspace_folders is not None
    assert [folder.name for folder in params.workspace_folders] == ["a b", "c"]
    assert params.initialization_options == {"x": {"y": [1]}}
    assert params.capabilities.general is not None
    assert list(params.capabilities.general.position_encodings or ()) == [lsp.PositionEncodingKind.Utf16]
    assert json.loads(text) == converter.unstructure(params)
    assert text == initialize_params([Path("/w/a b"), Path("/w/c")], {"x": {"y": [1]}})


def test_empty_options_are_left_out() -> None:
    """A server that wants no options is sent none."""
    assert "initializationOptions" not in json.loads(initialize_params([Path("/w")], {}))
