"""`lspidx lsp` as an editor meets it: by pygls's own client over stdio, and by the bare wire for what no client would send."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import commands
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient
from query_support import plain_environment

from indexer.lsp.framing import FrameReader, frame

LOADED = ("query.cli.lsp", "query.lsp.stdio", "query.lsp.places", "query.tools.find_references", "query.tools.go_to_definition")
CAPABILITIES: dict[str, Any] = {
    "window": {"workDoneProgress": True},
    "workspace": {
        "codeLens": {"refreshSupport": True},
        "diagnostics": {"refreshSupport": True},
        "workspaceEdit": {"documentChanges": True},
        "workspaceFolders": True,
    },
    "textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}, "diagnostic": {}},
    "experimental": {"lspidx": {"completeness": True}},
}
PATIENCE_S = 100.0


class Refusal(Exception):
    """The server's error."""

    def __init__(self, code: int, message: str, data: object) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Editor:
    """A client with one server. Answers are plain JSON, as they came; notes of the server are kept in `notes`."""

    def __init__(self, root: Path, *, environment: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.notes: list[tuple[str, Any]] = []
        self._number = 0
        self._loop = asyncio.new_event_loop()
        self._client = LanguageClient("editor", "1")
        self._environment = plain_environment(root, dict(environment or {}))
        self.capabilities: dict[str, Any] = {}
        for method in (
            lsp.WINDOW_LOG_MESSAGE, lsp.WINDOW_SHOW_MESSAGE, lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lsp.PROGRESS, "lspidx/completeness",
            lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, lsp.WORKSPACE_CODE_LENS_REFRESH, lsp.WORKSPACE_DIAGNOSTIC_REFRESH,
        ):  # fmt: skip
            self._client.feature(method)(self._keeps(method))

    def _keeps(self, method: str) -> Callable[[Any], None]:
        def keep(params: Any) -> None:
            self.notes.append((method, self._plain(params)))

        return keep

    def _plain(self, value: Any) -> Any:
        if hasattr(value, "_asdict"):  # what the library makes of objects that it does not know
            return {name: self._plain(item) for name, item in value._asdict().items()}
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        return json.loads(json.dumps(value, default=self._client.protocol._serialize_message))

    def start(
        self, *flags: str, folders: Sequence[Path] = (), capabilities: Mapping[str, Any] = CAPABILITIES, command: Sequence[str] = ()
    ) -> None:
        """`command`: in place of one that is forked and has no children of its own."""
        words = [*(command or commands.program(loads=LOADED)), "lsp", *flags]
        self._run(self._client.start_io(words[0], *words[1:], cwd=str(self.root), env=self._environment))
        params: dict[str, Any] = {"processId": os.getpid(), "rootUri": self.root.as_uri(), "capabilities": dict(capabilities)}
        if folders:
            params["workspaceFolders"] = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        self.capabilities = self.ask(lsp.INITIALIZE, params)["capabilities"]
        self.tell(lsp.INITIALIZED, {})

    def _run(self, work: Any) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))

    def ask(self, method: str, params: Any) -> Any:
        """The answer to a request.

        Raises:
            Refusal: it is an error.
        """
        try:
            return self._plain(self._run(self._asked(method, self._typed(method, params))))
        except JsonRpcException as error:
            raise Refusal(error.code, str(error.message), error.data) from None

    async def _asked(self, method: str, params: Any) -> Any:
        self._number += 1
        return await self._client.protocol.send_request_async(method, params, msg_id=str(self._number))

    def _typed(self, method: str, params: Any) -> Any:
        """As the client's own library has it, which is how it tells absent members from null ones."""
        known = lsp.METHOD_TO_TYPES.get(method)
        if known is None or known[2] is None or params is None:
            return params
        return self._client.protocol._converter.structure(params, known[2])

    def tell(self, method: str, params: Any) -> None:
        self._client.protocol.notify(method, self._typed(method, params))
        self._run(asyncio.sleep(0))

    # ---- what editors do

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def at(self, path: str, marked: str, text: str | None = None, encoding: str = "utf-16") -> dict[str, Any]:
        """Parameters of a request about the @@ in the one place that reads like `marked`."""
        text = (self.root / path).read_text(encoding="utf-8") if text is None else text
        before, after = marked.split("@@")
        assert text.count(before + after) == 1, marked
        head = text[: text.index(before + after) + len(before)]
        return {"textDocument": {"uri": self.uri(path)}, "position": {"line": head.count("\n"), "character": units(head, encoding)}}

    def open(self, path: str, text: str | None = None) -> str:
        text = (self.root / path).read_text(encoding="utf-8") if text is None else text
        item = {"uri": self.uri(path), "languageId": "python", "version": 1, "text": text}
        self.tell(lsp.TEXT_DOCUMENT_DID_OPEN, {"textDocument": item})
        return text

    def change(self, path: str, text: str, version: int = 2) -> None:
        """The whole text at once."""
        document = {"uri": self.uri(path), "version": version}
        self.tell(lsp.TEXT_DOCUMENT_DID_CHANGE, {"textDocument": document, "contentChanges": [{"text": text}]})

    def save(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")
        self.tell(lsp.TEXT_DOCUMENT_DID_SAVE, {"textDocument": {"uri": self.uri(path)}})

    def told(self, method: str) -> list[Any]:
        return [params for name, params in self.notes if name == method]

    @property
    def number(self) -> str:
        """Of the last request, as notes about its answer name it."""
        return str(self._number)

    def certificate(self) -> dict[str, Any]:
        """The note beside the last answer, which comes after that."""

        def found() -> list[dict[str, Any]]:
            return [note for note in self.told("lspidx/completeness") if note["id"] == self.number]

        self.wait(found)
        return found()[-1]

    def status(self) -> str:
        return self.certificate()["status"]

    def codes(self) -> list[str]:
        return [reason["code"] for reason in self.certificate()["reasons"]]

    def wait(self, is_so: Callable[[], object]) -> None:
        """Until something is so; the server's notes are taken meanwhile."""
        until = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < until, self.notes
            self._run(asyncio.sleep(0.05))

    def end(self) -> int | None:
        with contextlib.suppress(Exception):
            self.ask(lsp.SHUTDOWN, None)
            self.tell(lsp.EXIT, None)
        server = self._client._server
        if server is not None:
            with contextlib.suppress(TimeoutError):
                self._loop.run_until_complete(asyncio.wait_for(server.wait(), 30))
            if server.returncode is None:
                server.kill()
            self._client._stop_event.set()
            self._loop.run_until_complete(asyncio.wait(self._client._async_tasks, timeout=10))
        code = server.returncode if server is not None else None
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()
        return code


@contextlib.contextmanager
def editor(root: Path, *flags: str, environment: Mapping[str, str] | None = None, **more: Any) -> Iterator[Editor]:
    client = Editor(root, environment=environment)
    try:
        client.start(*flags, **more)
        yield client
    finally:
        client.end()


def units(head: str, encoding: str) -> int:
    """The column at the end of a text, in a client's units."""
    line = head.rpartition("\n")[2]
    return {"utf-8": len(line.encode()), "utf-16": len(line.encode("utf-16-le")) // 2, "utf-32": len(line)}[encoding]


def piece(text: str, where: Mapping[str, Any], encoding: str = "utf-16") -> str:
    """What stands at a range of one line."""
    line = text.split("\n")[where["start"]["line"]]
    assert where["start"]["line"] == where["end"]["line"]
    wide = {"utf-8": line.encode(), "utf-16": line.encode("utf-16-le"), "utf-32": line.encode("utf-32-le")}[encoding]
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    cut = wide[where["start"]["character"] * size : where["end"]["character"] * size]
    return cut.decode("utf-8" if encoding == "utf-8" else f"{encoding}-le")


class Bare:
    """The wire alone: any bytes go in, messages come out."""

    def __init__(self, root: Path, *flags: str) -> None:
        words = [*commands.program(loads=LOADED), "lsp", *flags]
        environment = plain_environment(root)
        self.process = subprocess.Popen(
            words, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._reader = FrameReader()
        self._ready: list[dict[str, Any]] = []
        self.seen: list[dict[str, Any]] = []

    def send(self, message: Any) -> None:
        self.raw(frame(message if isinstance(message, bytes) else json.dumps(message).encode()))

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while not self._ready:
            assert select.select([self.process.stdout], [], [], PATIENCE_S)[0], "the server says nothing"
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise EOFError
            self._ready += [json.loads(body) for body in self._reader.feed(chunk)]
        self.seen.append(self._ready.pop(0))
        return self.seen[-1]

    def answer(self, number: int | str | None) -> dict[str, Any]:
        """The answer with this number; what comes before it is passed over."""
        while True:
            message = self.read()
            if "method" not in message and message.get("id") == number:
                return message

    def ask(self, number: int | str, method: str, params: Any = None) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.answer(number)

    def initialize(self, root: Path, **more: Any) -> dict[str, Any]:
        return self.ask(0, "initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}} | more)

    def end(self) -> tuple[int, str]:
        """Exit code, and what it said on stderr."""
        _, stderr = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, stderr.decode()


@contextlib.contextmanager
def bare(root: Path, *flags: str) -> Iterator[Bare]:
    wire = Bare(root, *flags)
    try:
        yield wire
    finally:
        if wire.process.poll() is None:
            wire.process.kill()
        wire.process.communicate()
