"""One conversation with a server, as a state machine without IO.

    NEW -- initialize() --> INITIALIZING -- its answer --> READY -- shutdown() --> CLOSING -- its answer --> CLOSED

`receive` takes bytes and returns what happened; `outgoing` is what to send. Requests of the server to us are answered here,
because every server stalls without those answers: `workspace/configuration` must never be null for an item (gopls blocks,
jdtls skips its import), registrations, progress tokens and messages with buttons want a plain null.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, NamedTuple

import msgspec

from indexer.errors import Bug, ServerProtocolError
from indexer.lsp import decode, methods
from indexer.lsp.capabilities import declares, position_encoding
from indexer.lsp.framing import FrameReader, frame


class State(Enum):
    NEW = auto()
    INITIALIZING = auto()
    READY = auto()
    CLOSING = auto()
    CLOSED = auto()


class Answer(NamedTuple):
    """The answer to request `id`; `result` is undecoded JSON, `error` is set where the server refused."""

    id: int
    result: msgspec.Raw
    error: decode.ResponseError | None


class Notification(NamedTuple):
    method: str
    params: msgspec.Raw


_INITIALIZE_ID = 0
_SHUTDOWN_ID = 1
_FIRST_ID = 2
_MOST_EDITS = 100
_MOST_REGISTRATIONS = 10_000
MOST_CAPABILITIES_BYTES = 150_000
"""They are stored with the index; the longest seen is some 10,000, and an artifact takes 200,000 characters."""

MOST_ANSWERS_BYTES = 32_000_000
_NAME_CHARS = 200


class Session:
    """Args:
    initialize_params: the JSON of InitializeParams, sent as it is.
    settings: answers `workspace/configuration`, by section; dotted sections descend.
    """

    def __init__(self, initialize_params: bytes, settings: Mapping[str, Any]) -> None:
        self.state = State.NEW
        self.outgoing = bytearray()
        self.server_name = ""
        self.server_version = ""
        self.position_encoding = "utf-16"
        self.capabilities: dict[str, Any] = {}
        self.wanted_edits: list[Any] | None = None
        """WorkspaceEdits that the server asked us to make, for whoever asks for them by making this a list; else they are refused."""

        self._registrations: dict[str, str] = {}  # method by the id that the server gave
        self._initialize_params = initialize_params
        self._settings = settings
        self._reader = FrameReader()
        self._next_id = _FIRST_ID

    def initialize(self) -> None:
        self._expect(State.NEW)
        self.state = State.INITIALIZING
        self._send(b'{"jsonrpc":"2.0","id":%d,"method":"initialize","params":%b}' % (_INITIALIZE_ID, self._initialize_params))

    def request(self, method: bytes, params: bytes) -> int:
        """Queues a request and returns its id; `params` is JSON. The hot path: two bytes templates, no objects."""
        request_id = self._next_id
        self._next_id = request_id + 1
        body = b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":%b}' % (request_id, method, params)
        self.outgoing += b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        return request_id

    def notify(self, method: bytes, params: bytes) -> None:
        self._send(b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (method, params))

    def shutdown(self) -> None:
        """Asks the server to end; allowed once, when ready."""
        self._expect(State.READY)
        self.state = State.CLOSING
        self._send(b'{"jsonrpc":"2.0","id":%d,"method":"shutdown","params":null}' % _SHUTDOWN_ID)

    def receive(self, data: bytes) -> list[Answer | Notification]:
        """What `data` completed, in order.

        Raises:
            ServerProtocolError: broken framing, broken JSON, or an answer to nothing we asked.
        """
        events: list[Answer | Notification] = []
        for body in self._reader.feed(data):
            try:
                message = decode.message(body)
            except decode.BROKEN as error:
                raise ServerProtocolError(f"not a JSON-RPC message: {error}, got {body[:120]!r}") from error
            if message.method is None:
                self._answered(message, events)
            elif message.id is None:
                events.append(Notification(message.method, message.params))
            else:
                try:
                    self._serve(message.id, message.method, message.params)
                except decode.BROKEN as error:
                    raise ServerProtocolError(f"{message.method[:_NAME_CHARS]} with strange parameters: {error}") from error
                if len(self.outgoing) > MOST_ANSWERS_BYTES:
                    raise ServerProtocolError(f"asks on and on, and has not read {len(self.outgoing) // 1_000_000} MB of our answers")
        return events

    @property
    def closed(self) -> bool:
        """Whether the server has agreed to end."""
        return self.state is State.CLOSED

    @property
    def registered(self) -> set[str]:
        """Methods that are registered now, beside the capabilities."""
        return set(self._registrations.values())

    def supports(self, capability: str) -> bool:
        """Declared at start, e.g. `definitionProvider`, or registered later, e.g. `textDocument/diagnostic`."""
        return declares(self.capabilities, capability) or capability in self._registrations.values()

    # ---- inside

    def _answered(self, message: decode.Message, events: list[Answer | Notification]) -> None:
        if not isinstance(message.id, int):
            if message.id is None and message.error is not None:
                raise ServerProtocolError(f"the server could not read a request: {message.error.message}")
            raise ServerProtocolError(f"answer with an id that was never used: {message.id!r}")
        if message.id == _INITIALIZE_ID and self.state is State.INITIALIZING:
            self._initialized(message)
        elif message.id == _SHUTDOWN_ID and self.state is State.CLOSING:
            self.state = State.CLOSED
            self.notify(b"exit", b"null")
        elif _FIRST_ID <= message.id < self._next_id:
            events.append(Answer(message.id, message.result, message.error))
        else:
            raise ServerProtocolError(f"answer with an id that was never used: {message.id}")

    def _initialized(self, message: decode.Message) -> None:
        if message.error is not None:
            raise ServerProtocolError(f"initialize was refused: {message.error.message}")
        if len(bytes(message.result)) > MOST_CAPABILITIES_BYTES:
            raise ServerProtocolError(f"initialize was answered with more than {MOST_CAPABILITIES_BYTES} bytes")
        try:
            result = decode.anything(message.result)
        except decode.BROKEN as error:
            raise ServerProtocolError(f"initialize was answered with what is no JSON: {error}") from error
        if not isinstance(result, dict) or not isinstance(result.get("capabilities"), dict):
            raise ServerProtocolError("initialize was answered without capabilities")
        self.capabilities = result["capabilities"]
        info = result.get("serverInfo")
        info = info if isinstance(info, dict) else {}
        self.server_name = str(info.get("name", ""))[:_NAME_CHARS]
        self.server_version = str(info.get("version", ""))[:_NAME_CHARS]
        self.position_encoding = position_encoding(self.capabilities) or "utf-16"
        if self.position_encoding != "utf-16":  # every column would be wrong, on some lines only
            raise ServerProtocolError(f"counts columns in {self.position_encoding!r}, only 'utf-16' was offered")
        self.state = State.READY
        self.notify(b"initialized", b"{}")

    def _serve(self, request_id: int | str, method: str, params: msgspec.Raw) -> None:
        result: object = None
        if method == methods.WORKSPACE_CONFIGURATION:
            wanted = decode.configuration_params(params)
            result = [self._section(item.section or "") for item in wanted.items] if wanted is not None else []
        elif method == methods.CLIENT_REGISTER_CAPABILITY:
            registrations = decode.registration_params(params)
            if registrations is not None:
                self._registrations.update({item.id or item.method: item.method for item in registrations.registrations})
            if len(self._registrations) > _MOST_REGISTRATIONS:
                raise ServerProtocolError(f"registers more than {_MOST_REGISTRATIONS} methods")
        elif method == methods.CLIENT_UNREGISTER_CAPABILITY:
            unregistrations = decode.unregistration_params(params)
            for item in unregistrations.unregisterations if unregistrations is not None else ():
                self._registrations.pop(item.id or item.method, None)
        elif method == methods.WORKSPACE_APPLY_EDIT:
            result = self._keep_edit(params)
        elif method == methods.WORKSPACE_WORKSPACE_FOLDERS:
            result = decode.anything(self._initialize_params).get("workspaceFolders")
        self._send(msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": result}))

    def _keep_edit(self, params: msgspec.Raw) -> dict[str, Any]:
        asked = decode.anything(params)
        if self.wanted_edits is None:
            return {"applied": False, "failureReason": "lspidx only reads"}
        if len(self.wanted_edits) >= _MOST_EDITS or not isinstance(asked, dict) or not isinstance(asked.get("edit"), dict):
            return {"applied": False, "failureReason": "no edit, or one too many"}
        self.wanted_edits.append(asked["edit"])
        return {"applied": True}

    def _section(self, section: str) -> object:
        value: object = self._settings
        for part in section.split(".") if section else []:
            if not isinstance(value, Mapping) or part not in value:
                return {}
            value = value[part]
        return value

    def _send(self, body: bytes) -> None:
        self.outgoing += frame(body)

    def _expect(self, state: State) -> None:
        if self.state is not state:
            raise Bug(f"the session is {self.state.name}, expected {state.name}")
