"""One worker process: drives one server over the units it is given and says what it found in each.

Started by `indexer.crawl.run` as `python -I -m indexer.crawl.worker`; takes JSON lines on its stdin (`Setup`, then `Job`s) and
answers with MessagePack frames on its stdout (`Report`s). The parent writes the shards: a worker stays small.
A server that dies or hangs costs the documents that it had open questions on: each is tried once more alone, then without the
costly methods, then given up with what the syntax knows.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from indexer import logs
from indexer.crawl import harvest
from indexer.crawl.document import Document, path_to_uri, uri_to_path
from indexer.crawl.externals import read_external
from indexer.crawl.messages import Done, ExternalJob, Facts, Failed, Hello, Job, Position, Progress, Report, Setup
from indexer.crawl.plan import Unit
from indexer.drive.client import Client
from indexer.errors import LspidxError, ServerCrashed, ServerError, ServerProtocolError, ServerTimeout
from indexer.lsp import decode
from indexer.lsp.session import Answer, Notification
from indexer.model import LossReason, Role, SymbolFlag
from indexer.python_project import Externals
from indexer.servers import quirks
from indexer.store.facts import DocumentFacts
from indexer.syntax import python as python_syntax
from indexer.syntax.model import BUILTIN
from indexer.text import blob_digest

log = logging.getLogger("indexer.crawl.worker")  # this module runs as __main__

_REPORT_EVERY_S = 0.2
_MAX_STARTS_IN_A_ROW = 3
_PUBLISH_WAIT_S = 5.0
_ERROR_SAMPLES = 3
_COLLECT_EVERY = 16  # units
_ROUND = 2_000  # questions; many times the window, so that a round's answers are there when the next has been put
_POSITION = b',"position":{"line":%d,"character":%d}}'
_PROBE_NAME = "__lspidx_probe__.py"
_PROBE_ATTEMPTS = 20


_Question = tuple[Document, str, bytes, int]
"""Document, method, parameters as JSON, ordinal of the token or symbol that it is about (below 0: a cross-check's token)."""

_job_decoder = msgspec.json.Decoder(Job | ExternalJob)


class Crawler:
    """Crawls units with one server, which it replaces when it dies, hangs or grows too large."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.client: Client | None = None
        self.externals = Externals()
        self.wanted: dict[str, set[Position]] = {}
        self._keys: dict[str, str] = {}
        self._outside: set[str] = set()
        self._hover_quirks = [quirks.HOVER[name] for name in setup.quirks]
        self._packages: dict[tuple[str, int], str] = {}
        self.builtins: dict[str, list[harvest.Place]] | None = None
        self.restarts = 0
        self.asked = 0
        self.checked = 0
        self.disagreements: list[str] = []
        self.disagreed = 0
        self._pending: dict[int, tuple[Document, str, int]] = {}
        self._opened: Document | None = None
        self._used = False
        self._server_messages: list[str] = []
        self._progress = Progress(documents=0, tokens=0)
        self._next_report = 0.0
        self.root = setup.root
        self._root_prefix = setup.root.rstrip("/") + "/"

    # ---- the server

    def start(self) -> Client:
        setup = self.setup
        client = Client(
            setup.command,
            cwd=Path(setup.root),
            environment=setup.environment,
            initialize_params=setup.initialize_params.encode(),
            settings=setup.settings,
            timeout_s=setup.timeout_s,
            one_thread=setup.one_thread,
        )
        self.client = client
        for _ in range(3):  # late registrations (pull diagnostics, say) come right after `initialized`
            self._notified(client.poll(0.02))
        self._notified(list(client.notifications))
        self.builtins = self._ask_builtins(client)  # of every server, so that all have seen the same before a unit
        return client

    def _ask_builtins(self, client: Client) -> dict[str, list[harvest.Place]]:
        """Where the language's own names are defined, asked in a document that exists only between us and the server.

        It is the readiness probe too: a server that cannot say where `len` comes from is not ready to be believed.
        Raises:
            ServerError: it stays without an answer.
        """
        names = sorted(python_syntax.BUILTINS)
        uri = path_to_uri(os.path.join(self.setup.root, _PROBE_NAME))
        document = {"uri": uri, "languageId": "python", "version": 1, "text": "\n".join(names) + "\n"}
        client.session.notify(b"textDocument/didOpen", msgspec.json.encode({"textDocument": document}))
        found: dict[str, list[harvest.Place]] = {}
        for attempt in range(_PROBE_ATTEMPTS):
            asked: dict[int, str] = {}
            for line, name in enumerate(names):
                params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}}
                asked[client.session.request(harvest.DEFINITION.encode(), msgspec.json.encode(params))] = name
            while asked:
                for event in client.wait():
                    if isinstance(event, Answer):
                        name = asked.pop(event.id)
                        if event.error is None:
                            found[name] = harvest.places(decode.targets(event.result))
                    else:
                        self._notified([event])
            if found.get("len") or not client.session.supports("definitionProvider"):
                break
            log.info("server not ready: attempt=%d", attempt)
        else:
            raise ServerTimeout(f"does not know where 'len' is defined, asked {_PROBE_ATTEMPTS} times")
        client.session.notify(b"textDocument/didClose", msgspec.json.encode({"textDocument": {"uri": uri}}))
        return {name: where for name, where in found.items() if where}

    def package_of(self, uri: str, up: int) -> str:
        """URI of the package `up` levels above a module's file, or empty where it has none (a namespace package)."""
        known = self._packages.get((uri, up))
        if known is None:
            path = uri_to_path(uri)
            folder = os.path.dirname(path)
            if os.path.basename(path).startswith("__init__."):
                folder = os.path.dirname(folder)
            for _ in range(up - 1):
                folder = os.path.dirname(folder)
            known = ""
            for name in ("__init__.py", "__init__.pyi"):
                if os.path.isfile(os.path.join(folder, name)):
                    known = path_to_uri(os.path.join(folder, name))
                    break
            self._packages[uri, up] = known
        return known

    def stop(self, *, polite: bool = True) -> None:
        if self.client is not None:
            self.client.close(polite=polite)
            self.client = None

    def hello(self) -> Hello:
        client = self.client or self.start()
        session = client.session
        return Hello(
            server_name=session.server_name,
            server_version=session.server_version,
            capabilities={**session.capabilities, **dict.fromkeys(sorted(session.registered), True)},
            position_encoding=session.position_encoding,
            pid=client.pid,
            messages=self._server_messages,
        )

    def _ensure(self) -> Client:
        """The server, started if need be.

        Raises:
            ServerError: it does not start, several times in a row.
        """
        failure: ServerError | None = None
        for _ in range(_MAX_STARTS_IN_A_ROW):
            if self.client is not None:
                return self.client
            try:
                return self.start()
            except (ServerCrashed, ServerTimeout, ServerProtocolError) as error:
                failure = error
                log.warning("server start failed: %s", error)
        assert failure is not None
        raise failure

    # ---- one unit

    def crawl(self, unit: Unit) -> list[DocumentFacts]:
        """Facts of the unit's documents, in the unit's order. Never fails because of a document.

        A used server is replaced first: what servers infer for circular definitions depends on what they were asked before, and a
        shard must depend on the tree and the unit alone (ADR 0006).
        """
        if self._used:
            self.stop(polite=False)
        self._used = True
        documents = [Document(planned, self.setup.root) for planned in unit.documents]
        facts: dict[str, DocumentFacts] = {}
        fresh = deque(documents)
        again: deque[Document] = deque()  # had open questions when a server was lost: each is tried alone
        active: list[Document] = []
        agenda: Iterator[_Question | None] | None = None
        while fresh or again or active:
            try:
                client = self._ensure()
                if agenda is None:
                    agenda = self._agenda(client, again or fresh, active, alone=bool(again))
                if not self._fill(client, agenda):
                    agenda = None
                if self._pending:
                    self._take(client.wait())
                elif client.session.outgoing:
                    client.flush()
            except ServerError as error:
                reason = _loss_reason(error)
                log.warning("server lost: reason=%s detail=%s documents=%s", reason, error, [d.planned.path for d in active])
                started = self.client is not None
                self.stop(polite=False)
                self._pending.clear()
                agenda = None
                self.restarts += 1
                if not started:  # it cannot be started at all
                    for document in [*active, *again, *fresh]:
                        self._give_up(document, LossReason.SERVER_UNAVAILABLE, facts)
                    active, fresh, again = [], deque(), deque()
                    continue
                for document in active:
                    document.attempt += 1
                    document.failure = reason
                    if document.attempt > 2:
                        self._give_up(document, reason, facts)
                    else:
                        document.reset()
                        again.append(document)
                active = []
                continue
            for document in [item for item in active if item.settled]:
                active.remove(document)
                self._finish(document, facts)
            if agenda is None and not active and fresh and self._is_large(client):
                log.info("server replaced: memory=%s limit=%s", client.memory_bytes(), self.setup.memory_bytes)
                self.stop()
        return [facts[document.planned.path] for document in documents if document.planned.path in facts]

    def _agenda(self, client: Client, queue: deque[Document], active: list[Document], *, alone: bool) -> Iterator[_Question | None]:
        """All questions about the documents in `queue`, in an order that does not depend on when answers arrive.

        What a server infers for circular definitions depends on what it was asked before, so the order must be the tree's own
        (ADR 0006). Documents are asked in rounds; second tries of a round follow the next round's questions, when all answers of
        the former have long been there. None stands for: nothing to ask until what has come, or is to come, is dealt with.
        It ends early where the server has grown too large, with no question open.
        """
        overlap = not alone and self.setup.open != "each"
        waiting: list[Document] = []
        goes_on = True
        while waiting or (queue and goes_on):
            asked, asked_now = 0, list[Document]()
            while queue and goes_on and asked < _ROUND and (overlap or not (asked_now or waiting)):
                document = queue.popleft()
                active.append(document)
                for question in self._prepare(client, document):
                    yield document, *question
                    document.answers.tallies[question[0]].asked += question[2] >= 0
                    asked += 1
                asked_now.append(document)
            second: list[Document] = []
            for document in waiting if overlap else [*waiting, *asked_now]:
                while document.open:
                    yield None
                questions = document.second_tries()
                for question in questions:
                    yield document, *question
                if questions:
                    second.append(document)
                else:
                    document.settled = True
            waiting = [*second, *asked_now] if overlap else second
            goes_on = goes_on and not self._is_large(client)
            if not overlap:
                yield None

    def _fill(self, client: Client, agenda: Iterator[_Question | None]) -> bool:
        """Asks until the window is full or an answer must come first; False at the agenda's end."""
        request, pending, window = client.session.request, self._pending, self.setup.window
        if len(pending) >= window:
            return True
        for question in agenda:
            if question is None:
                return True
            document, method, params, ordinal = question
            pending[request(method.encode(), params)] = (document, method, ordinal)
            document.open += 1
            self.asked += 1
            if len(pending) >= window:
                return True
        return False

    def _prepare(self, client: Client, document: Document) -> Iterator[tuple[str, bytes, int]]:
        """Reads and parses the document, opens it where the server wants that, and says what to ask: nothing if it has changed."""
        if document.syntax is None:
            try:
                document.source = Path(document.path).read_bytes()
            except OSError:
                document.source = b""
            if blob_digest(document.source) != document.planned.digest:
                document.syntax = python_syntax.parse(b"", document.planned.module)
                for tally in document.answers.tallies.values():
                    tally.failed = LossReason.CHANGED_DURING_CRAWL
                return iter(())
            document.syntax = python_syntax.parse(document.source, document.planned.module, is_test=document.planned.is_test)
        if self.setup.open == "each":
            text = msgspec.json.encode(
                {
                    "textDocument": {
                        "uri": document.uri,
                        "languageId": document.planned.language,
                        "version": 1,
                        "text": document.source.decode("utf-8"),
                    }
                }
            )
            client.session.notify(b"textDocument/didOpen", text)
            self._opened = document
        return self._questions(client, document)

    def _questions(self, client: Client, document: Document) -> Iterator[tuple[str, bytes, int]]:
        """All that is asked about a document: (method, parameters as JSON, ordinal of a token or symbol)."""
        session, setup, syntax = client.session, self.setup, document.syntax
        assert syntax is not None
        tallies = document.answers.tallies
        text_document = b'{"textDocument":{"uri":%b}' % document.uri_json
        costly = (harvest.DIAGNOSTIC, harvest.HOVER, harvest.SUPERTYPES)

        def usable(method: str, capability: str) -> bool:
            if method in setup.lacks or not (session.supports(capability) or session.supports(method)):
                tallies[method].unsupported = True
                return False
            if document.attempt >= 2 and method in costly:  # it brought the server down twice: leave out what costs most
                tallies[method].failed = str(document.failure)
                return False
            return True

        if usable(harvest.DOCUMENT_SYMBOL, "documentSymbolProvider"):
            yield harvest.DOCUMENT_SYMBOL, text_document + b"}", 0
        if setup.diagnostics == "pull" and usable(harvest.DIAGNOSTIC, "diagnosticProvider"):
            yield harvest.DIAGNOSTIC, text_document + b"}", 0
        if usable(harvest.DEFINITION, "definitionProvider"):
            tokens = syntax.tokens
            for token, ask in enumerate(tokens.ask):
                if ask:
                    yield harvest.DEFINITION, text_document + _POSITION % (tokens.line[token], tokens.col[token]), token
            for token in harvest.sample(document.planned.path, tokens, setup.cross_check):
                yield harvest.DEFINITION, text_document + _POSITION % (tokens.line[token], tokens.col[token]), -token - 1
        if setup.hover and usable(harvest.HOVER, "hoverProvider"):
            for ordinal, symbol in enumerate(syntax.symbols):
                if ordinal and SymbolFlag.LOCAL not in symbol.flags:
                    yield harvest.HOVER, text_document + _POSITION % (symbol.selection.line, symbol.selection.col), ordinal
        if syntax.bases and usable(harvest.SUPERTYPES, "typeHierarchyProvider"):
            for ordinal in sorted({owner for owner, _ in syntax.bases}):
                symbol = syntax.symbols[ordinal]
                span, selection = symbol.span, symbol.selection
                item = {
                    "name": symbol.name,
                    "kind": int(symbol.kind),
                    "uri": document.uri,
                    "range": _range(span),
                    "selectionRange": _range(selection),
                }
                yield harvest.SUPERTYPES, msgspec.json.encode({"item": item}), ordinal

    def _take(self, events: list[Answer | Notification]) -> None:
        pending = self._pending
        for event in events:
            if isinstance(event, Notification):
                self._notified([event])
                continue
            entry = pending.pop(event.id, None)
            if entry is None:
                raise ServerProtocolError(f"answered request {event.id} twice")
            document, method, ordinal = entry
            document.open -= 1
            self._answered(document, method, ordinal, event)

    def _answered(self, document: Document, method: str, ordinal: int, event: Answer) -> None:
        answers = document.answers
        tally = answers.tallies[method]
        if event.error is not None:
            tally.lost += 1
            if not tally.failed:
                tally.failed = f"{LossReason.SERVER_ERROR}: {event.error.message[:200]}"
            return
        try:
            if method == harvest.DEFINITION:
                if event.result == b"null" or event.result == b"[]":
                    found: list[harvest.Place] = []
                else:
                    found = harvest.places(decode.targets(event.result))
                if ordinal >= 0:
                    if found:
                        answers.definitions[ordinal] = found
                        tally.answered += 1
                    else:
                        document.silent.append(ordinal)
                else:
                    answers.cross_checks[-ordinal - 1] = found
            elif method == harvest.HOVER:
                text = decode.hover_text(decode.hover(event.result))
                for quirk in self._hover_quirks:
                    text = quirk(text)
                if text:
                    answers.hovers[ordinal] = text
                    tally.answered += 1
            elif method == harvest.SUPERTYPES:
                items = decode.type_hierarchy_items(event.result) or []
                answers.supertypes[ordinal] = sorted(
                    {
                        (item.uri, r.start.line, r.start.character, r.end.line, r.end.character)
                        for item in items
                        for r in (item.selectionRange,)
                    }
                )
                tally.answered += bool(items)
            elif method == harvest.DOCUMENT_SYMBOL:
                answers.symbols = decode.document_symbols(event.result) or []
                tally.answered += bool(answers.symbols)
            else:
                report = decode.diagnostic_report(event.result)
                answers.diagnostics = report.items if report is not None else []
                tally.answered += 1
        except msgspec.DecodeError as error:
            tally.lost += 1
            tally.failed = f"{LossReason.SERVER_PROTOCOL}: {error}"

    def _notified(self, events: list[Any]) -> None:
        for event in events:
            if not isinstance(event, Notification):
                continue
            if event.method == "window/showMessage":
                message = decode.anything(event.params)
                if not isinstance(message, dict):
                    continue
                text = str(message.get("message", ""))
                if message.get("type") in (1, 2) and text not in self._server_messages and len(self._server_messages) < 20:
                    self._server_messages.append(text)
                    log.warning("server says: %s", text)
            elif event.method == "textDocument/publishDiagnostics" and self.setup.diagnostics == "publish":
                with contextlib.suppress(msgspec.DecodeError):
                    self._published(decode.published_diagnostics(event.params))

    def _published(self, published: decode.PublishedDiagnostics) -> None:
        document = self._opened
        if document is not None and uri_to_path(published.uri) == document.path:
            document.answers.diagnostics = published.diagnostics
            document.published = True

    def _finish(self, document: Document, facts: dict[str, DocumentFacts]) -> None:
        if self.setup.open == "each" and self.client is not None:
            self._await_diagnostics(document)
            self.client.session.notify(b"textDocument/didClose", b'{"textDocument":{"uri":%b}}' % document.uri_json)
        self._compare(document)
        self._keep(document, facts)

    def _await_diagnostics(self, document: Document) -> None:
        """Published diagnostics may come after the last answer; wait for them a little, then count them as lost."""
        tally = document.answers.tallies[harvest.DIAGNOSTIC]
        if self.setup.diagnostics != "publish" or tally.failed:
            return
        deadline = time.monotonic() + _PUBLISH_WAIT_S
        while not document.published and time.monotonic() < deadline and self.client is not None:
            self._notified(self.client.poll(0.1))
        tally.asked = 1
        if document.published:
            tally.answered = 1
        else:
            tally.failed = LossReason.SERVER_TIMEOUT

    def _give_up(self, document: Document, reason: LossReason, facts: dict[str, DocumentFacts]) -> None:
        document.reset()
        if document.syntax is None:
            with contextlib.suppress(OSError):
                document.source = Path(document.path).read_bytes()
            document.syntax = python_syntax.parse(document.source, document.planned.module, is_test=document.planned.is_test)
        for method, tally in document.answers.tallies.items():
            if method != harvest.SYNTAX:
                tally.failed = str(reason)
        self._keep(document, facts)

    def _keep(self, document: Document, facts: dict[str, DocumentFacts]) -> None:
        assert document.syntax is not None
        facts[document.planned.path] = harvest.harvest(
            document.planned, document.syntax, document.answers, package=self.setup.package, surroundings=self
        )
        progress = self._progress
        progress.documents += 1
        progress.tokens += len(document.syntax.tokens)
        document.syntax = None
        now = time.monotonic()
        if now >= self._next_report:
            self.report_progress()
            self._next_report = now + _REPORT_EVERY_S

    def report_progress(self) -> None:
        if self._progress.documents:
            send(self._progress)
            self._progress = Progress(documents=0, tokens=0)

    def _compare(self, document: Document) -> None:
        """Cross-check: what syntax or a shared answer said against the server's own answer at a sampled token."""
        syntax = document.syntax
        assert syntax is not None
        tokens = syntax.tokens
        for token, found in document.answers.cross_checks.items():
            symbol, same = tokens.symbol[token], tokens.same_as[token]
            if symbol == BUILTIN:
                agrees = found == (self.builtins or {}).get(tokens.name[token], [])
            elif symbol >= 0:
                mine = {
                    (tokens.line[i], tokens.col[i])
                    for i in range(len(tokens))
                    if tokens.symbol[i] == symbol and tokens.roles[i] & (Role.WRITE | Role.DEFINITION)
                }
                agrees = any((line, col) in mine for _, line, col, _, _ in found)
            else:
                mine_found = document.answers.definitions.get(same, [])
                up = tokens.up[token]
                agrees = found == (harvest.packages_of(mine_found, up, self) if up else mine_found)
            self.checked += 1
            if not agrees:
                self.disagreed += 1
                if len(self.disagreements) < _ERROR_SAMPLES:
                    self.disagreements.append(
                        f"{document.planned.path}:{tokens.line[token] + 1}:{tokens.col[token] + 1} {tokens.name[token]}"
                    )

    def _is_large(self, client: Client) -> bool:
        return client.memory_bytes() > self.setup.memory_bytes

    # ---- names of places

    def portable(self, uri: str, place: harvest.Place) -> str:
        """Relative path of a workspace file, portable key of any other; the latter's symbol at `place` is wanted then."""
        key = self._keys.get(uri)
        if key is None:
            path = uri_to_path(uri)
            inside = path.startswith(self._root_prefix)
            relative = path[len(self._root_prefix) :] if inside else ""
            if inside and "site-packages/" not in relative and "dist-packages/" not in relative:
                key = relative
            else:
                key = self.externals.describe(path).key
                self._outside.add(uri)
            self._keys[uri] = key
        if uri in self._outside:
            self.wanted.setdefault(uri_to_path(uri), set()).add(place[1:])
        return key


def _range(span: tuple[int, int, int, int]) -> dict[str, dict[str, int]]:
    return {"start": {"line": span[0], "character": span[1]}, "end": {"line": span[2], "character": span[3]}}


def _loss_reason(error: ServerError) -> LossReason:
    if isinstance(error, ServerTimeout):
        return LossReason.SERVER_TIMEOUT
    if isinstance(error, ServerProtocolError):
        return LossReason.SERVER_PROTOCOL
    if isinstance(error, ServerCrashed):
        return LossReason.SERVER_CRASHED
    return LossReason.SERVER_UNAVAILABLE


def send(report: Report) -> None:
    body = msgspec.msgpack.encode(report)
    sys.stdout.buffer.write(len(body).to_bytes(4, "big") + body)
    sys.stdout.buffer.flush()


def _serve(crawler: Crawler) -> None:
    send(crawler.hello())
    gc.freeze()
    gc.disable()  # nothing on the hot path is cyclic, and looking for cycles took a fifth of a worker's time
    for number, line in enumerate(sys.stdin.buffer, 1):
        job = _job_decoder.decode(line)
        started = time.monotonic()
        if isinstance(job, ExternalJob):
            facts = read_external(job, crawler.externals)
            name, lost = f"external-{job.number:03d}", []
        else:
            facts = crawler.crawl(job.unit)
            name, lost = job.unit.name, _losses(facts)
        send(Facts(documents=facts))
        if number % _COLLECT_EVERY == 0:
            gc.collect()
        crawler.report_progress()
        send(
            Done(
                unit=name,
                documents=len(facts),
                tokens=sum(len(item.tables["occurrences"][0]) for item in facts),
                asked=crawler.asked,
                lost=lost,
                restarts=crawler.restarts,
                checked=crawler.checked,
                disagreed=crawler.disagreed,
                disagreements=crawler.disagreements,
                externals={path: sorted(where) for path, where in sorted(crawler.wanted.items())},
                elapsed_ms=int((time.monotonic() - started) * 1000),
            )
        )
        crawler.asked = crawler.restarts = crawler.checked = crawler.disagreed = 0
        crawler.disagreements, crawler.wanted = [], {}


def _losses(facts: list[DocumentFacts]) -> list[tuple[str, str, str]]:
    losses: list[tuple[str, str, str]] = []
    for item in facts:
        methods, statuses, reasons, _, _ = item.tables["coverage"]
        losses += [
            (item.header["path"], method, reason)
            for method, status, reason in zip(methods, statuses, reasons, strict=True)
            if status == "lost"
        ]
    return losses


def main() -> int:
    setup = msgspec.json.decode(sys.stdin.buffer.readline(), type=Setup)
    logs.configure(Path(setup.log_file))
    crawler = Crawler(setup)
    try:
        _serve(crawler)
    except LspidxError as error:
        send(Failed(code=error.code, message=str(error)))
        return error.exit_code
    finally:
        crawler.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
