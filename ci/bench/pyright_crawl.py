"""pyright's own answer for every identifier: a second crawl with several servers, kept in the cache of the working folder.

An answer is a list of places (path relative to the corpus, line, col, is_module); an external place has an empty path.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import queue
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from ci.bench.corpora import NODE, Bench, Corpus
from ci.bench.identifiers import Identifier
from indexer.drive.client import Client
from indexer.errors import ServerError
from indexer.lsp import decode
from indexer.lsp.protocol import initialize_params
from indexer.lsp.session import Answer

SERVERS = 3
"""Server processes at once; each takes up to 2 GB on django."""

_WINDOW = 32
_TIMEOUT_S = 120
_HEAP_MB = 4096

Place = tuple[str, int, int, bool]
Answers = dict[tuple[str, int, int], list[Place]]
"""(path, line, col) of an identifier to its targets; an identifier without an answer is absent."""


def definitions(bench: Bench, corpus: Corpus, files: Mapping[str, tuple[bytes, Sequence[Identifier]]]) -> Answers:
    """Pyright's definitions of all identifiers of `files` (by path relative to the corpus), from the cache where it is current.

    Raises:
        ServerError: no server could be started.
    """
    digest = hashlib.sha256(f"pyright {NODE['pyright']} 1".encode())
    for path, (content, identifiers) in sorted(files.items()):
        digest.update(path.encode() + hashlib.sha256(content).digest() + repr(identifiers).encode())
    name = corpus.name.strip("/").replace("/", "-")
    cache = bench.folder / "cache" / f"pyright-{name}-{digest.hexdigest()[:16]}.json.gz"
    if cache.is_file():
        with gzip.open(cache) as file:
            rows = msgspec.json.decode(file.read(), type=list[tuple[str, int, int, list[Place]]])
        return {(path, line, col): found for path, line, col, found in rows}
    answers = _crawl(bench, corpus, files)
    cache.parent.mkdir(exist_ok=True)
    for old in cache.parent.glob(f"pyright-{name}-*.json.gz"):
        old.unlink()
    with gzip.open(cache, "wb", compresslevel=5) as file:
        file.write(msgspec.json.encode([(*place, found) for place, found in sorted(answers.items())]))
    return answers


def _crawl(bench: Bench, corpus: Corpus, files: Mapping[str, tuple[bytes, Sequence[Identifier]]]) -> Answers:
    todo: queue.SimpleQueue[str] = queue.SimpleQueue()
    for path in sorted(files):
        todo.put(path)
    found: Answers = {}
    errors: list[ServerError] = []

    def work() -> None:
        try:
            server = _Pyright(bench, corpus)
        except ServerError as error:
            errors.append(error)
            return
        while True:
            try:
                path = todo.get_nowait()
            except queue.Empty:
                break
            content, identifiers = files[path]
            try:
                found.update(server.ask(path, content, identifiers))
            except ServerError:  # one file lost; its identifiers count as silent
                server.close()
                server = _Pyright(bench, corpus)
        server.close()

    threads = [threading.Thread(target=work) for _ in range(SERVERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


class _Pyright:
    """One server; asks about one open file at a time."""

    def __init__(self, bench: Bench, corpus: Corpus) -> None:
        self._corpus = corpus
        self._root = corpus.root.resolve()
        self._peer = (corpus.peer_root / corpus.inside).resolve()
        settings = {
            "python": {
                "pythonPath": str(bench.interpreter.absolute()),
                "analysis": {"diagnosticMode": "openFilesOnly", "autoSearchPaths": True, "useLibraryCodeForTypes": True, "indexing": False},
            }
        }
        self._client = Client(
            [str(bench.node_program("pyright-langserver").resolve()), "--stdio"],
            cwd=corpus.peer_root,
            environment={"NODE_OPTIONS": f"--max-old-space-size={_HEAP_MB}"},
            initialize_params=initialize_params([corpus.peer_root.resolve()], None),
            settings=settings,
            timeout_s=_TIMEOUT_S,
        )
        self._is_warm = False

    def ask(self, path: str, content: bytes, identifiers: Sequence[Identifier]) -> Answers:
        uri = (self._peer / path).as_uri()
        session = self._client.session
        text = content.decode("utf-8", "surrogateescape")
        opened = {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}}
        session.notify(b"textDocument/didOpen", json.dumps(opened).encode())
        if not self._is_warm:  # the first answers after the start may be empty
            self._definitions(uri, identifiers)
            self._is_warm = True
        found = self._definitions(uri, identifiers)
        session.notify(b"textDocument/didClose", json.dumps({"textDocument": {"uri": uri}}).encode())
        return {(path, line, col): places for (line, col), places in found.items() if places}

    def _definitions(self, uri: str, identifiers: Iterable[Identifier]) -> dict[tuple[int, int], list[Place]]:
        session = self._client.session
        document = json.dumps({"uri": uri}).encode()
        open_requests: dict[int, tuple[int, int]] = {}
        found: dict[tuple[int, int], list[Place]] = {}
        todo = iter(identifiers)
        finished = False
        while not finished or open_requests:
            while not finished and len(open_requests) < _WINDOW:
                item = next(todo, None)
                if item is None:
                    finished = True
                    break
                params = b'{"textDocument":%b,"position":{"line":%d,"character":%d}}' % (document, item.line, item.col)
                open_requests[session.request(b"textDocument/definition", params)] = (item.line, item.col)
            if not open_requests:
                break
            for event in self._client.wait():
                if isinstance(event, Answer):
                    where = open_requests.pop(event.id)
                    if event.error is None:
                        found[where] = self._places(decode.targets(event.result))
        return found

    def _places(self, targets: list[decode.Target] | decode.Target | None) -> list[Place]:
        places: list[Place] = []
        for target in targets if isinstance(targets, list) else [targets] if targets else []:
            where = target.targetSelectionRange or target.range
            if where is None:
                continue
            path = self._relative(target.targetUri or target.uri)
            is_module = (where.start.line, where.start.character) == (where.end.line, where.end.character) == (0, 0)
            places.append((path, where.start.line, where.start.character, is_module))
        return places

    def _relative(self, uri: str) -> str:
        path = unquote(urlsplit(uri).path)
        prefix = str(self._peer) + os.sep
        return Path(path[len(prefix) :]).as_posix() if path.startswith(prefix) else ""

    def close(self) -> None:
        self._client.close()
