"""The parts of `lspidx lsp` that need no process: texts as the client changes them, places carried from one text to another, requests
that are cancelled, and that what is declared is answered."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp
from pygls.workspace import TextDocument
from pygls.workspace.position_codec import PositionCodec
from support import write_tree

from indexer.lsp import methods
from indexer.lsp.enums import ErrorCodes, LSPErrorCodes
from indexer.lsp.framing import FrameReader, frame
from indexer.own_version import own_version
from query.edits.blocks import Block
from query.lsp import handlers, params
from query.lsp.carry import Carry, text_at
from query.lsp.handlers import CAPABILITIES, HANDLERS, Handler
from query.lsp.pool import Cancelled, Job
from query.lsp.rooms import Options, Room
from query.lsp.server import Server
from query.lsp.texts import ENCODINGS, Document, Encoding, Point, from_client, to_client, word_at
from query.lsp.views import Kept, Views
from query.lsp.wire import Wire

TEXTS = st.text(alphabet="ab é\N{PARTY POPPER}\N{COMBINING ACUTE ACCENT}_.\n\r", max_size=40)


# ---- texts


@given(TEXTS, TEXTS, st.integers(0, 5), st.integers(0, 12), st.integers(0, 5), st.integers(0, 12), st.sampled_from(ENCODINGS))
def test_a_change_makes_the_text_that_another_library_makes(
    text: str, new: str, line: int, col: int, end_line: int, end_col: int, encoding: Encoding
):
    text, new = (re.sub("\r", "", part) for part in (text, new))  # of a return of its own that library's lines are others
    lines = text.split("\n")
    start, end = sorted([(line, col), (end_line, end_col)])
    if any(number < len(lines) and column > _units(lines[number], encoding) for number, column in (start, end)):
        return  # beyond its line, which clients do not send
    if any(not _is_whole(lines, place, encoding) for place in (start, end)):
        return  # within a character
    where = lsp.Range(lsp.Position(*start), lsp.Position(*end))
    theirs = TextDocument("file:///x", text, position_codec=PositionCodec(lsp.PositionEncodingKind(encoding)))
    theirs.apply_change(lsp.TextDocumentContentChangePartial(range=where, text=new))
    ours = params.Range(params.Position(*start), params.Position(*end))
    made = Document("file:///x", "/x", "", 1, text).changed(2, [params.Change(new, ours)], encoding)
    assert (made.text, made.version) == (theirs.source, 2)


def _units(line: str, encoding: str) -> int:
    return {"utf-8": len(line.encode()), "utf-16": len(line.encode("utf-16-le")) // 2, "utf-32": len(line)}[encoding]


def _is_whole(lines: list[str], place: tuple[int, int], encoding: str) -> bool:
    if place[0] >= len(lines):
        return True
    line = lines[place[0]]
    return place[1] in [_units(line[:at], encoding) for at in range(len(line) + 1)]


def test_changes_follow_each_other_and_a_whole_text_takes_the_place_of_all():
    document = Document("file:///x", "/x", "", 1, "one\r\ntwo\rthree\nfour")
    at = params.Range(params.Position(2, 0), params.Position(2, 5))
    end = params.Range(params.Position(9, 9), params.Position(9, 9))
    edited = document.changed(2, [params.Change("3", at), params.Change("!", end)], "utf-16")
    assert edited.text == "one\r\ntwo\r3\nfour!"
    assert edited.changed(3, [params.Change("all")], "utf-8").text == "all"
    assert document.text == "one\r\ntwo\rthree\nfour"


@given(st.text(alphabet="aé\N{PARTY POPPER}\N{COMBINING ACUTE ACCENT}", max_size=12), st.sampled_from(ENCODINGS))
def test_columns_go_to_the_client_and_back(line: str, encoding: Encoding):
    for at in range(len(line) + 1):
        col = len(line[:at].encode("utf-16-le")) // 2
        told = to_client(line, col, encoding)
        assert told == _units(line[:at], encoding)
        assert from_client(line, told, encoding) == col


# ---- places carried


WORDS = st.lists(st.sampled_from(["alpha", "beta", "(", ")", "\n", " ", "\N{PARTY POPPER}", "gamma_1", "="]), max_size=40).map("".join)


@given(WORDS, WORDS)
def test_a_word_is_carried_to_the_same_word_or_nowhere(old: str, new: str):
    carry = Carry(old, new)
    before, after = old.split("\n"), new.split("\n")
    for number, line in enumerate(before):
        for match in re.finditer(r"\w+", line):
            col, end = (len(line[:at].encode("utf-16-le")) // 2 for at in match.span())
            there = carry.span(number, col, end)
            if there is None:
                continue
            assert text_at(after, *there) == match[0]
            assert word_at(after[there[0]], there[1]) == (there[1], there[2])
            assert carry.back.span(*there) == (number, col, end)


@given(st.lists(st.sampled_from(["a = 1", "b(a)", "", "def c():"]), min_size=1, max_size=12), st.data())
def test_what_was_not_touched_is_where_it_was(lines: list[str], data: st.DataObject):
    """With lines that are there once: of several that are alike the diff may take another."""
    lines = [f"{line}  # {number}" for number, line in enumerate(lines)]
    at = data.draw(st.integers(0, len(lines)))
    new = [*lines[:at], "new_line = 2", *lines[at:]]
    carry = Carry("\n".join(lines), "\n".join(new))
    for number in range(len(lines)):
        assert carry.point(Point(number, 0)) == Point(number + (number >= at), 0)
    assert carry.back.point(Point(at, 3)) is None


def test_what_was_edited_within_a_line_keeps_its_words():
    carry = Carry("x = call(first, second)\n", "xyz = call(first, third, second=second)\n")
    assert carry.span(0, 4, 8) == (0, 6, 10)
    assert carry.span(0, 9, 14) == (0, 11, 16)
    assert carry.span(0, 0, 1) is None
    assert carry.point(Point(7, 0)) is None


class _Blocks(list[Block]):
    """Counts how often somebody looks through it."""

    looked_through = 0

    def __iter__(self) -> Iterator[Block]:
        self.looked_through += 1
        return super().__iter__()


def test_places_of_a_text_that_is_edited_everywhere_look_through_its_blocks_once():
    old = "".join(f"x{number} = helper({number})\n" for number in range(100))
    carry = Carry(old, old.replace("5)", "5)  # edited"))
    counted = carry.__dict__["_blocks"] = _Blocks(carry._blocks)
    assert len(counted) == 10
    for number in range(100):
        assert carry.point(Point(number, 0)) == Point(number, 0)
    assert counted.looked_through == 1


def test_an_answer_of_many_places_looks_for_the_workspace_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[None] = []

    def root(room: Room) -> Path:
        asked.append(None)
        return tmp_path

    monkeypatch.setattr(Room, "root", property(root))
    write_tree(tmp_path, {f"m{number}.py": "x = 1\n" for number in range(5)})
    views = Views(Room(tmp_path, Options()), None, {}, "utf-16", Kept())
    for number in range(100):
        assert views.range(f"m{number % 5}.py", 0, 0, 1) is not None
    assert len(asked) == 1


def test_a_rewritten_file_costs_bounded_time():
    generator = random.Random(1)
    old, new = ("\n".join(" ".join(generator.choice("abcdefgh") for _ in range(40)) for _ in range(3_000)) for _ in range(2))
    carry = Carry(old, new)
    assert carry.point(Point(1_500, 4)) is None


# ---- what is declared is answered


PROVIDERS = {
    "definitionProvider": [methods.TEXT_DOCUMENT_DEFINITION],
    "declarationProvider": [methods.TEXT_DOCUMENT_DECLARATION],
    "typeDefinitionProvider": [methods.TEXT_DOCUMENT_TYPE_DEFINITION],
    "implementationProvider": [methods.TEXT_DOCUMENT_IMPLEMENTATION],
    "referencesProvider": [methods.TEXT_DOCUMENT_REFERENCES],
    "hoverProvider": [methods.TEXT_DOCUMENT_HOVER],
    "documentHighlightProvider": [methods.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT],
    "documentSymbolProvider": [methods.TEXT_DOCUMENT_DOCUMENT_SYMBOL],
    "workspaceSymbolProvider": [methods.WORKSPACE_SYMBOL],
    "foldingRangeProvider": [methods.TEXT_DOCUMENT_FOLDING_RANGE],
    "callHierarchyProvider": [
        methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, methods.CALL_HIERARCHY_INCOMING_CALLS, methods.CALL_HIERARCHY_OUTGOING_CALLS,
    ],
    "typeHierarchyProvider": [
        methods.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY, methods.TYPE_HIERARCHY_SUPERTYPES, methods.TYPE_HIERARCHY_SUBTYPES,
    ],
    "codeLensProvider": [methods.TEXT_DOCUMENT_CODE_LENS, methods.CODE_LENS_RESOLVE],
    "renameProvider": [methods.TEXT_DOCUMENT_RENAME, methods.TEXT_DOCUMENT_PREPARE_RENAME],
    "completionProvider": [methods.TEXT_DOCUMENT_COMPLETION, methods.COMPLETION_ITEM_RESOLVE],
    "signatureHelpProvider": [methods.TEXT_DOCUMENT_SIGNATURE_HELP],
    "documentFormattingProvider": [methods.TEXT_DOCUMENT_FORMATTING],
    "documentRangeFormattingProvider": [methods.TEXT_DOCUMENT_RANGE_FORMATTING],
    "codeActionProvider": [methods.TEXT_DOCUMENT_CODE_ACTION, methods.CODE_ACTION_RESOLVE],
    "inlayHintProvider": [methods.TEXT_DOCUMENT_INLAY_HINT],
    "executeCommandProvider": [methods.WORKSPACE_EXECUTE_COMMAND],
    "diagnosticProvider": [methods.TEXT_DOCUMENT_DIAGNOSTIC],
}  # fmt: skip


def test_every_ability_is_answered_and_every_answer_is_an_ability():
    declared = {name for name in CAPABILITIES if name.endswith("Provider")} | {"diagnosticProvider"}
    assert declared == set(PROVIDERS)
    assert {method for answered in PROVIDERS.values() for method in answered} | {"lspidx/completeness"} == set(HANDLERS)
    for handler in HANDLERS.values():
        assert callable(handler.answer)


def test_the_abilities_are_of_the_protocols_form():
    from lsprotocol.converters import get_converter

    known = get_converter().structure({**CAPABILITIES, "positionEncoding": "utf-16"}, lsp.ServerCapabilities)
    assert known.rename_provider == lsp.RenameOptions(prepare_provider=True)


def test_what_the_server_loads_is_little():
    """The first answer is waited for: nothing is loaded that it does not need."""
    code = "import query.cli.lsp, query.lsp.stdio, query.lsp.places, query.tools.find_references, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"asyncio", "lsprotocol", "pygls", "attr", "tree_sitter", "pyarrow", "git", "anyio", "mcp", "duckdb"})
    assert not any(name.startswith(("query.tools.", "query.lsp.live")) and name != "query.tools.find_references" for name in loaded)


# ---- cancelling


class _Client:
    """The other end of a server in this process."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink, self._reader = source, sink, FrameReader()
        self.messages: list[dict[str, Any]] = []

    def send(self, **message: Any) -> None:
        os.write(self._sink, frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def next(self) -> dict[str, Any]:
        while not self.messages:
            chunk = os.read(self._source, 1 << 16)
            assert chunk
            self.messages += [json.loads(body) for body in self._reader.feed(chunk)]
        return self.messages.pop(0)

    def close(self) -> None:
        os.close(self._sink)


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch, root: Path, answer: Callable[[Any, Any], Any]) -> Iterator[_Client]:
    """A server whose one request is answered so."""
    handler = Handler(params.Query, "handlers", "_under_test")
    monkeypatch.setattr(handlers, "_under_test", answer, raising=False)
    monkeypatch.setattr("query.lsp.server.HANDLERS", {"test/it": handler})
    (server_in, client_out), (client_in, server_out) = os.pipe(), os.pipe()
    server = Server(Wire(server_in, server_out), Options(begins=False), root)
    thread = threading.Thread(target=server.serve)
    thread.start()
    client = _Client(client_in, client_out)
    try:
        client.send(id=0, method="initialize", params={"capabilities": {}})
        assert "capabilities" in client.next()["result"]
        yield client
    finally:
        client.close()
        thread.join()
        for descriptor in (server_in, server_out, client_in):
            os.close(descriptor)


def test_a_cancelled_request_is_answered_at_once_and_only_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    begun, goes_on, over = threading.Event(), threading.Event(), threading.Event()

    def slow(ask: Any, asked: Any) -> str:
        if asked.query:
            return asked.query
        begun.set()
        assert goes_on.wait(60)
        over.set()
        return "too late"

    with served(monkeypatch, tmp_path, slow) as client:
        client.send(id=1, method="test/it", params={})
        assert begun.wait(60)
        client.send(id=1, method="test/it", params={})
        assert client.next()["error"]["code"] == ErrorCodes.INVALID_REQUEST  # that number is in use
        client.send(id=2, method="test/it", params={"query": "meanwhile"})
        assert client.next() == {"jsonrpc": "2.0", "id": 2, "result": "meanwhile"}
        client.send(method="$/cancelRequest", params={"id": 1})
        assert client.next()["error"]["code"] == LSPErrorCodes.REQUEST_CANCELLED
        goes_on.set()
        assert over.wait(60)
        client.send(method="$/cancelRequest", params={"id": 1})
        client.send(method="$/cancelRequest", params={"id": 2})
        client.send(id=3, method="test/it", params={"query": "after"})
        assert client.next() == {"jsonrpc": "2.0", "id": 3, "result": "after"}


def test_a_defect_is_an_answer_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def broken(ask: Any, asked: Any) -> None:
        raise ValueError("out of\norder")

    with served(monkeypatch, tmp_path, broken) as client:
        client.send(id=1, method="test/it", params={})
        error = client.next()["error"]
        assert error["code"] == ErrorCodes.INTERNAL_ERROR
        assert error["message"].startswith("internal error: ValueError: out of order; this is a defect of lspidx")
        assert "data" not in error
        assert "\n" not in error["message"]
        client.send(id=2, method="test/it", params={})
        assert client.next()["id"] == 2


def test_shutdown_cancels_what_is_under_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    begun, goes_on = threading.Event(), threading.Event()

    def slow(ask: Any, asked: Any) -> None:
        begun.set()
        assert goes_on.wait(60)

    with served(monkeypatch, tmp_path, slow) as client:
        client.send(id=1, method="test/it", params={})
        assert begun.wait(60)
        client.send(id=2, method="shutdown")
        assert client.next()["error"]["code"] == LSPErrorCodes.REQUEST_CANCELLED
        assert client.next() == {"jsonrpc": "2.0", "id": 2, "result": None}
        goes_on.set()


def test_a_job_interrupts_the_statement_that_runs_and_nothing_after_it():
    told: list[str] = []

    class Statements:
        def cursor(self) -> Statements:
            return self

        def interrupt(self) -> None:
            told.append("interrupt")

    job = Job(1)
    job.uses(Statements())  # pyright: ignore[reportArgumentType]
    assert job.cancel()
    assert told == ["interrupt"]
    with pytest.raises(Cancelled):
        job.progress(0, 0, "")
    with pytest.raises(Cancelled):
        job.uses(None)
    assert not job.take_answer()
    other = Job(2)
    other.uses(Statements())  # pyright: ignore[reportArgumentType]
    assert other.take_answer()
    assert not other.cancel()  # its thread may be at another request by now
    assert told == ["interrupt"]


def test_what_a_client_asks_for_completeness_is_found_in_both_places():
    plain = {"capabilities": {}}
    asked = {"lspidx": {"completeness": True}}
    for sent, expected in (
        (plain, False),
        ({"capabilities": {"experimental": asked}}, True),
        ({**plain, "initializationOptions": asked}, True),
        ({**plain, "initializationOptions": "nonsense"}, False),
        ({"capabilities": {"experimental": {"lspidx": 3}}}, False),
    ):
        assert params.wants_completeness(msgspec.convert(sent, params.Initialize)) is expected


def test_our_version_is_that_of_the_installed_distribution() -> None:
    assert own_version() == version("lspidx")
