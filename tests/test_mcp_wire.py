"""Our wire beside the official SDK's: the same lines are answered the same, in both eras of the protocol, and as its models want it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import commands
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from query_support import plain_environment

from query.mcp import protocol, sdk
from query.mcp.options import Options
from query.mcp.server import Surface

pytest_plugins = ["query_fixtures"]

_KEY = "io.modelcontextprotocol/"
_ENVELOPE = {
    f"{_KEY}protocolVersion": "2026-07-28",
    f"{_KEY}clientCapabilities": {},
    f"{_KEY}clientInfo": {"name": "x", "version": "1"},
}
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
_READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_CALL = {"name": "find_callers", "arguments": {"symbol": "shop.service.middle"}}

Sent = dict[str, Any]


def request(number: object, method: str, params: Sent | None = None, *, envelope: Sent | None = None) -> Sent:
    if envelope is not None:
        params = {**(params or {}), "_meta": {**envelope, **(params or {}).get("_meta", {})}}
    return {"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})}


def asked(envelope: Sent | None) -> list[Sent]:
    """Every method, with what it takes and with what it does not."""
    everything: list[tuple[str, Sent | None]] = [
        ("ping", None), ("ping", {"_meta": {"progressToken": True}}), ("ping", {"_meta": {"progressToken": 1.5}}),
        ("server/discover", None), ("initialize", _HELLO), ("tools/list", None), ("tools/list", {"cursor": "x"}),
        ("tools/list", {"cursor": 5}), ("tools/call", _CALL), ("tools/call", {**_CALL, "arguments": None}),
        ("tools/call", {"name": "nothing"}), ("tools/call", {}),
        ("tools/call", {"name": 5}), ("tools/call", {**_CALL, "arguments": []}), ("tools/call", {**_CALL, "_meta": {"progressToken": "p"}}),
        ("tools/call", {"name": "search_tools", "arguments": {"query": "select:find_callers"}}),
        ("resources/list", None), ("resources/templates/list", {}), ("resources/read", {"uri": "lspidx://schema"}),
        ("resources/read", {"uri": "lspidx://tools"}), ("resources/read", {"uri": "lspidx://no"}), ("resources/read", {}),
        ("resources/read", {"uri": 7}), ("prompts/list", None), ("prompts/get", {"name": "before_edit", "arguments": {"symbol": "x"}}),
        ("prompts/get", {"name": "before_edit"}), ("prompts/get", {"name": "no"}), ("prompts/get", {}),
        ("prompts/get", {"name": "before_edit", "arguments": {"symbol": 5}}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "before_edit"}, "argument": {"name": "symbol", "value": "midd"}}),
        ("completion/complete", {"ref": {"type": "ref/resource", "uri": "x:/y"}, "argument": {"name": "name", "value": ""}}),
        ("completion/complete", {"ref": {"type": "ref/x"}, "argument": {}}), ("completion/complete", {}),
        ("logging/setLevel", {"level": "error"}), ("logging/setLevel", {"level": "x"}), ("resources/subscribe", {"uri": "x:/y"}),
        ("nothing/such", None), ("nothing/such", {"x": 1}), ("roots/list", None),
        ("sampling/createMessage", {"messages": [], "maxTokens": 1}), ("tasks/list", None), ("subscriptions/listen", {}),
    ]  # fmt: skip
    lines = [request(number, method, params, envelope=envelope) for number, (method, params) in enumerate(everything, 1)]
    return [*lines, request("a text", "tools/list", envelope=envelope)]


def handshake(**changed: Any) -> list[Sent]:
    return [request(0, "initialize", {**_HELLO, **changed}), _READY]


def without(key: str) -> Sent:
    return {name: value for name, value in _ENVELOPE.items() if name != _KEY + key}


SESSIONS: dict[str, list[Sent]] = {
    **{f"handshake-{version}": [*handshake(protocolVersion=version), *asked(None)] for version in HANDSHAKE_PROTOCOL_VERSIONS},
    "handshake-unknown": handshake(protocolVersion="1999-01-01"),
    "modern": asked(_ENVELOPE),
    "before-the-handshake": [
        *(request(number, method) for number, method in enumerate(("tools/list", "ping", "nothing", "tools/call", "server/discover"), 1)),
        *handshake(),
        request(9, "tools/list"),
    ],
    "other-era": [*handshake(), request(1, "tools/list", envelope=_ENVELOPE), request(2, "ping")],
    "no-handshake": [
        request(number, "initialize", params)
        for number, params in enumerate((None, {"protocolVersion": 5}, {**_HELLO, "clientInfo": {}}, {**_HELLO, "capabilities": []}))
    ],
    "envelopes": [
        request(1, "tools/list", envelope=_ENVELOPE),
        request(2, "tools/list"),
        request(3, "tools/list", {}),
        request(4, "tools/list", envelope={**_ENVELOPE, f"{_KEY}protocolVersion": "2099-01-01"}),
        request(5, "tools/list", envelope={**_ENVELOPE, f"{_KEY}protocolVersion": 7}),
        request(6, "tools/list", envelope=without("clientCapabilities")),
        request(7, "tools/list", envelope=without("protocolVersion")),
        request(8, "tools/list", envelope=without("clientInfo")),
        request(10, "initialize", {"protocolVersion": 5}),
    ],
}  # fmt: skip


def by_us(root: Path, lines: Iterable[Sent]) -> list[Sent]:
    """Each request's answer, one after another; what comes unasked is left out."""
    words = [*commands.program(loads=("query.cli.mcp", "query.mcp.stdio", "query.mcp.answering")), "mcp"]
    with subprocess.Popen(
        words, cwd=root, env=plain_environment(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers: list[Sent] = []
        for line in lines:
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            while "id" in line and (not answers or answers[-1]["id"] != line["id"]):
                said = json.loads(process.stdout.readline())
                answers += [said] if "id" in said else []
        process.stdin.close()
        assert process.wait(60) == 0
    return answers


def by_sdk(root: Path, lines: Iterable[Sent]) -> list[Sent]:
    answers: list[Sent] = []

    async def scenario() -> None:
        surface = Surface(root, Options(begin_index=True))
        server = sdk.build(surface)
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](100)
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage](100)
        async with to_server, from_client, to_client, from_server, anyio.create_task_group() as group:
            group.start_soon(server.run, from_client, to_client, server.create_initialization_options())
            for line in lines:
                await to_server.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(line)))
                while "id" in line and (not answers or answers[-1]["id"] != line["id"]):
                    message = (await from_server.receive()).message
                    if not isinstance(message, types.JSONRPCNotification):
                        answers.append(message.model_dump(by_alias=True, mode="json", exclude_none=True))
            await to_server.aclose()
        await surface.close()

    anyio.run(scenario)
    return answers


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_answered_as_the_sdk_answers_it(copy: Path, name: str) -> None:
    # of a copy: what answers the SDK is forked, and closes what other tests may hold open of the index that they share
    ours, theirs = by_us(copy, SESSIONS[name]), by_sdk(copy, SESSIONS[name])
    assert len(ours) == len(theirs) == sum("id" in line for line in SESSIONS[name])
    for line, own, other in zip((line for line in SESSIONS[name] if "id" in line), ours, theirs, strict=True):
        assert own == other, line
        types.jsonrpc_message_adapter.validate_python(own)


def test_the_versions_are_those_that_the_sdk_speaks() -> None:
    assert protocol.HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert protocol.MODERN_VERSIONS == MODERN_PROTOCOL_VERSIONS
    for code in ("PARSE_ERROR", "INVALID_REQUEST", "METHOD_NOT_FOUND", "INVALID_PARAMS", "INTERNAL_ERROR"):
        assert getattr(protocol, code) == getattr(types, code)


def test_a_server_greets_without_loading_what_answers(shop_root: Path) -> None:
    """Nor the SDK, nor the database: the greeting is most of what many clients ever ask."""
    code = (
        "import sys, query.cli.command, query.cli.mcp, query.mcp.stdio, pathlib; from query.mcp.options import Options;"
        "from query.mcp.server import Surface; Surface(pathlib.Path.cwd(), Options()).instructions;"
        "print([name for name in ('mcp', 'mcp_types', 'pydantic', 'anyio', '_duckdb', 'query.surface.service') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=shop_root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
