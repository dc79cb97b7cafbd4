"""The Model Context Protocol as far as a server of tools speaks it: messages, parameters, results, in both of its eras. No IO.

A connection is of the era that its first request is of: one begins with a handshake, the other (2026-07-28) says everything with each
request. What is written here is held against the official SDK, answer by answer (`tests/test_mcp_wire.py`); over HTTP the SDK itself
serves.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any, Literal, cast

import msgspec
from msgspec import UNSET, UnsetType

from indexer.quoting import one_line, visible

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
CLOSED, UNSUPPORTED_VERSION = -32000, -32022

_VERSION, _INFO, _ABLE = (f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities"))
_SERVER = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

Number = int | str
Result = dict[str, Any]


class Refused(Exception):
    """A request that has no result: what the client is told in its place."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def as_error(self) -> Result:
        return {"code": self.code, "message": self.message, **({} if self.data is None else {"data": self.data})}


class Message(msgspec.Struct, frozen=True):
    """One line: a request (method and id), a notification (method), or an answer to a request of ours (id)."""

    jsonrpc: Literal["2.0"]
    method: str | UnsetType = UNSET
    id: Number | UnsetType = UNSET
    params: dict[str, Any] | None = None
    result: dict[str, Any] | UnsetType = UNSET
    error: Any = UNSET

    def __post_init__(self) -> None:
        """Raises ValueError, by which a line is no message, where it has too little to be one."""
        if self.method is UNSET and (self.id is UNSET or (self.result is UNSET and self.error is UNSET)):
            raise ValueError("it has neither a method nor the answer to a request")


def text_of_ours(text: str) -> Result:
    """Text as every part of the server sends it."""
    return {"type": "text", "text": visible(text)}


# ---- parameters


class Params(msgspec.Struct, frozen=True, kw_only=True):
    """Of a request: what every one may have."""

    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class ListParams(Params, frozen=True, kw_only=True):
    cursor: str | None = None


class CallParams(Params, frozen=True, kw_only=True):
    name: str
    arguments: dict[str, Any] | None = None
    input_responses: dict[str, Any] | None = msgspec.field(name="inputResponses", default=None)


class ReadParams(Params, frozen=True, kw_only=True):
    uri: str
    input_responses: dict[str, Any] | None = msgspec.field(name="inputResponses", default=None)


class PromptParams(Params, frozen=True, kw_only=True):
    name: str
    arguments: dict[str, str] | None = None


class PromptReference(msgspec.Struct, frozen=True, tag="ref/prompt"):
    name: str


class TemplateReference(msgspec.Struct, frozen=True, tag="ref/resource"):
    uri: str


class Argument(msgspec.Struct, frozen=True):
    name: str
    value: str


class CompleteParams(Params, frozen=True, kw_only=True):
    ref: PromptReference | TemplateReference
    argument: Argument


Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class LevelParams(Params, frozen=True, kw_only=True):
    level: Level


class Wanted(msgspec.Struct, frozen=True, rename="camel"):
    """Of what a client wants to be told."""

    tools_list_changed: bool | None = None
    prompts_list_changed: bool | None = None
    resources_list_changed: bool | None = None
    resource_subscriptions: list[str] | None = None


class ListenParams(Params, frozen=True, kw_only=True):
    notifications: Wanted


class Peer(msgspec.Struct, frozen=True):
    name: str
    version: str


class InitializeParams(Params, frozen=True, kw_only=True, rename={"protocol_version": "protocolVersion", "client_info": "clientInfo"}):
    protocol_version: str
    capabilities: dict[str, Any]
    client_info: Peer


# ---- what comes in


_messages = msgspec.json.Decoder(Message)


def message_of(line: bytes) -> Message | Result | None:
    """The message that a line is; what is answered where it is none and asks something; None where it asks nothing."""
    code, sent = INVALID_REQUEST, cast(object, None)
    try:
        return _messages.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        said = str(error)
    try:
        sent = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        code = PARSE_ERROR
        with contextlib.suppress(ValueError, RecursionError):
            sent = json.loads(line)  # takes half of a surrogate pair, so that the number of the request is known
    number: object = None
    if isinstance(sent, Mapping):
        members = cast("Mapping[str, object]", sent)
        method = members.get("method")
        if "method" not in members or "id" not in members or (isinstance(method, str) and method.startswith("notifications/")):
            return None
        number = members["id"]
    known = number if isinstance(number, Number) and not isinstance(number, bool) and one_line(str(number)) == str(number) else None
    if isinstance(sent, Mapping) and code == INVALID_REQUEST and known is None:
        said = "the id of a request is a text or a whole number"
    return refusal(known, Refused(code, f"no message: {one_line(said)}"))


def refusal(number: Number | None, refused: Refused) -> Result:
    return {"jsonrpc": "2.0", "id": number, "error": refused.as_error()}


def params_of(kind: type[Params], params: Mapping[str, Any] | None) -> Any:
    """The parameters of a request.

    Raises:
        Refused: they are no such ones.
    """
    try:
        found = msgspec.convert(params or {}, kind)
    except msgspec.ValidationError:
        raise Refused(INVALID_PARAMS, "Invalid request parameters", "") from None
    token = (found.meta or {}).get("progressToken", "")
    if not isinstance(token, Number):  # `true` is one to the SDK, and tells nobody
        raise Refused(INVALID_PARAMS, "Invalid request parameters", "")
    return found


class _Root(msgspec.Struct, frozen=True):
    uri: str


class _Roots(msgspec.Struct, frozen=True):
    roots: list[_Root]


def roots_of(listed: object) -> list[str]:
    """The addresses of a list of roots; none of what is no such list."""
    try:
        return [root.uri for root in msgspec.convert(listed, _Roots).roots]
    except msgspec.ValidationError:
        return []


# ---- the two eras


def is_enveloped(params: Mapping[str, Any] | None) -> bool:
    """Whether a request says everything itself: of the later era."""
    meta = (params or {}).get("_meta")
    return isinstance(meta, Mapping) and _VERSION in meta


def envelope_of(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What the client of such a request can do.

    Raises:
        Refused: the request lacks it, or is of a version that is not spoken here.
    """
    sent = (params or {}).get("_meta")
    if not isinstance(sent, Mapping):
        keys = f"required '{_VERSION}' and '{_ABLE}' envelope keys"
        raise Refused(INVALID_PARAMS, f"params._meta must be an object carrying the {keys}")
    meta = cast("Mapping[str, Any]", sent)
    if missing := [key for key in (_VERSION, _ABLE) if key not in meta]:
        raise Refused(INVALID_PARAMS, f"params._meta is missing the required envelope key(s): {', '.join(missing)}")
    version, able, info = meta[_VERSION], meta[_ABLE], meta.get(_INFO)
    if not isinstance(version, str):
        raise Refused(INVALID_PARAMS, "the protocol-version envelope value must be a string")
    if version not in MODERN_VERSIONS:
        data = {"supported": [*MODERN_VERSIONS], "requested": version}
        raise Refused(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    try:
        if info is not None:
            msgspec.convert(info, Peer)
        return msgspec.convert(able, dict[str, Any])
    except msgspec.ValidationError:
        raise Refused(INVALID_PARAMS, "Invalid request parameters", "") from None


def modern_result(result: Result, server: Mapping[str, str], *, is_kept: bool) -> Result:
    """A result as the later era has it. `is_kept`: one that a client may keep for a while, and here for none."""
    kept = {"cacheScope": "private", "ttlMs": 0} if is_kept and "inputRequests" not in result else {}
    meta = {**result.get("_meta", {}), _SERVER: dict(server)}
    return {"resultType": "complete", **kept, **result, "_meta": meta}


def initialized(params: InitializeParams, server: Mapping[str, str], instructions: str, capabilities: Mapping[str, Any]) -> Result:
    asked = params.protocol_version
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": capabilities,
        "serverInfo": dict(server),
        "instructions": instructions,
    }


def discovered(instructions: str, capabilities: Mapping[str, Any]) -> Result:
    return {"supportedVersions": [*MODERN_VERSIONS], "capabilities": capabilities, "instructions": instructions}
