"""A language server that answers from a file of SCIP: `python -I -m indexer.scip.server FILE ROOT`.

So whoever asks language servers can ask a file that an indexer has made, and nothing behind the answers has to know of it: not who
confines a server, bounds what it says, counts what it lacks and says who answered.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from indexer.errors import ServerProtocolError
from indexer.lsp.framing import FrameReader, frame
from indexer.lsp.uri import path_to_uri, uri_to_path
from indexer.scip.answers import Answers, Definition
from indexer.scip.external import SCHEME
from indexer.scip.fits import Misfit
from indexer.scip.limits import limit_memory
from indexer.scip.reader import Refused

_PART_BYTES = 1 << 16
_WORD = re.compile(r"\w+")
_REFUSED = -32_803  # RequestFailed
_UNKNOWN = -32_601
_CAPABILITIES = {
    "positionEncoding": "utf-16",
    "textDocumentSync": 0,
    "definitionProvider": True,
    "hoverProvider": True,
    "typeHierarchyProvider": True,
}


class _Position(msgspec.Struct, frozen=True):
    line: int
    character: int


class _Range(msgspec.Struct, frozen=True):
    start: _Position


class _Document(msgspec.Struct, frozen=True):
    uri: str
    text: str = ""


class _Item(msgspec.Struct, frozen=True, rename="camel"):
    uri: str
    selection_range: _Range


class _Asked(msgspec.Struct, frozen=True, rename="camel"):
    text_document: _Document | None = None
    position: _Position | None = None
    item: _Item | None = None


class _Message(msgspec.Struct, frozen=True):
    method: str = ""
    id: int | str | None = None
    params: msgspec.Raw = msgspec.Raw(b"null")


class Server:
    """Replies from answers that are there, or that are made as soon as the client is ready."""

    def __init__(self, answers: Answers | None, fault: str, root: Path, make: Callable[[], Answers] | None = None) -> None:
        """Args:
        fault: why there are no answers. make: makes them, and raises Refused where that cannot be.
        """
        self._answers, self._fault, self._root, self._make = answers, fault, root, make
        self._open: dict[str, list[str]] = {}
        """Lines of documents that there are not: whoever has opened one asks what its words mean by themselves."""

    def notice(self, message: _Message) -> None:
        """Takes what is told and not asked."""
        if message.method == "initialized":
            self._require()
        if message.method in ("textDocument/didOpen", "textDocument/didClose"):
            document = msgspec.json.decode(message.params, type=_Asked).text_document
            if document is not None:
                self._open = {document.uri: document.text.split("\n")} if message.method.endswith("Open") else {}

    def reply(self, message: _Message) -> dict[str, Any]:
        """What is answered to a request."""
        try:
            return {"result": self._result(message)}
        except Misfit as error:
            said = f"{self._answers.name} {self._answers.version}" if self._answers is not None else "it"
            return {"error": {"code": _REFUSED, "message": f"the file is not as {said} has read it: {error}"}}
        except Refused as error:
            return {"error": {"code": _REFUSED, "message": str(error)}}
        except LookupError:
            return {"error": {"code": _UNKNOWN, "message": f"'{message.method}' is not answered from a file"}}

    def _result(self, message: _Message) -> Any:
        method = message.method
        if method == "shutdown":
            return None
        if method == "initialize" and self._make is not None:
            return {"capabilities": _CAPABILITIES}
        self._require()
        if self._answers is None:
            raise Refused(self._fault)
        if method == "initialize":
            return {"capabilities": _CAPABILITIES, "serverInfo": {"name": self._answers.name, "version": self._answers.version}}
        asked = msgspec.json.decode(message.params, type=_Asked)
        if method == "typeHierarchy/supertypes" and asked.item is not None:
            start = asked.item.selection_range.start
            found = self._answers.supertypes(self._path(asked.item.uri), start.line, start.character)
            return [{"name": name[-200:], "kind": 5, **self._location(one), "selectionRange": _range(one)} for name, one in found]
        if asked.text_document is None or asked.position is None:
            raise LookupError(method)
        path, at = self._path(asked.text_document.uri), asked.position
        if method == "textDocument/definition" and asked.text_document.uri in self._open and not self._answers.has(path):
            lines = self._open[asked.text_document.uri]
            word = _WORD.match(lines[at.line], at.character) if at.line < len(lines) else None
            return [self._location(one) for one in self._answers.builtin(word[0] if word is not None else "", path)]
        if method == "textDocument/definition":
            return [self._location(one) for one in self._answers.definitions(path, at.line, at.character)]
        if method == "textDocument/hover":
            text = self._answers.text(path, at.line, at.character)
            return {"contents": {"kind": "markdown", "value": text}} if text else None
        raise LookupError(method)

    def _require(self) -> None:
        make, self._make = self._make, None
        if make is not None:
            try:
                self._answers = make()
            except (Refused, OSError, MemoryError) as error:
                self._fault = str(error)

    def _path(self, uri: str) -> str:
        return os.path.relpath(uri_to_path(uri), self._root).replace(os.sep, "/")

    def _location(self, one: Definition) -> dict[str, Any]:
        uri = one.path if one.path.startswith(SCHEME) else path_to_uri(str(self._root / one.path))
        return {"uri": uri, "range": _range(one)}


def _range(one: Definition) -> dict[str, dict[str, int]]:
    line, col, end_line, end_col = one.place
    return {"start": {"line": line, "character": col}, "end": {"line": end_line, "character": end_col}}


def serve(file: str, root: str) -> None:
    """Answers from a file what comes on stdin until it ends."""
    limit_memory()
    answers, fault = None, ""
    try:
        answers = Answers(Path(file), Path(root))
    except (Refused, OSError, MemoryError) as error:
        fault = f"'{os.path.basename(file)}' is not read: {error}"
    answer(Server(answers, fault, Path(root)))


def answer(server: Server) -> None:
    """Answers what comes on stdin until it ends."""
    reader, decoder = FrameReader(), msgspec.json.Decoder(_Message)
    while data := os.read(0, _PART_BYTES):
        replies = bytearray()
        for body in reader.feed(data):
            with contextlib.suppress(msgspec.DecodeError):
                message = decoder.decode(body)
                if message.method == "exit":
                    return
                if message.id is None:
                    server.notice(message)
                elif message.method:
                    reply = {"jsonrpc": "2.0", "id": message.id, **server.reply(message)}
                    replies += frame(msgspec.json.encode(reply))
        _write(replies)


def tell(method: str, params: Mapping[str, Any]) -> None:
    """Says to the client what it has not asked."""
    _write(bytearray(frame(msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params}))))


def _write(data: bytearray) -> None:
    with memoryview(data) as view:
        at = 0
        while at < len(view):
            at += os.write(1, view[at:])


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError, ServerProtocolError):
        serve(sys.argv[1], sys.argv[2])
