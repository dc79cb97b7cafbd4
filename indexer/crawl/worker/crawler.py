"""Crawls units with one server: asks what the agenda says, takes the answers in, and replaces the server where that must be.

A server that dies or hangs costs the documents that it had open questions on: each is tried once more alone, then without the
costly methods, then given up with what the syntax knows.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from indexer import builds
from indexer import syntax as syntaxes
from indexer.crawl import methods
from indexer.crawl.messages import Check, Hello, Reading, Setup, Started
from indexer.crawl.sources import read_source
from indexer.crawl.units import Unit
from indexer.crawl.worker import crosscheck, harvest
from indexer.crawl.worker.document import Document, Queues
from indexer.crawl.worker.limits import Budget
from indexer.crawl.worker.pace import Pace
from indexer.crawl.worker.places import Places
from indexer.crawl.worker.questions import COSTLY, POSITION, most, questions
from indexer.crawl.worker.readiness import STANDARD_PACKAGES, Readiness, probe_candidates
from indexer.crawl.worker.reports import send
from indexer.drive.client import Client
from indexer.encoding import as_utf8
from indexer.errors import (
    LimitReached,
    ServerCrashed,
    ServerError,
    ServerNotReady,
    ServerProtocolError,
    ServerTimeout,
    ServerTooLarge,
)
from indexer.lsp import decode
from indexer.lsp.session import Answer, Notification
from indexer.lsp.uri import path_to_uri, uri_to_path
from indexer.model import LossReason, SkipReason
from indexer.servers import quirks
from indexer.servers.registry import language_id
from indexer.store.facts import DocumentFacts
from indexer.syntax import python as python_syntax
from indexer.syntax.model import Syntax
from indexer.text import blob_digest

log = logging.getLogger("indexer.crawl.worker")

_MAX_STARTS_IN_A_ROW = 3
_PUBLISH_FIRST_WAIT_S = 30.0  # a busy machine
_PUBLISH_WAIT_S = 5.0  # once an appointment was missed
_REMIND_S = 1.5  # doubled each time, or a slow server would begin anew forever
_PUBLISH_MISSES = 3  # in a row; a server that has kept none of these appointments is not waited for again
_MESSAGE_CHARS = 2_000
_ROUND = 2_000  # questions; many times the window, so that a round's answers are there when the next has been put
_PROBE_NAME = "__lspidx_probe__.py"
_PROBE_ATTEMPTS = 20
_PROBE_LOOKS = 200
_PROBE_DOCUMENTS = 3
_WIDEN_AFTER = 4  # attempts, about a second and a half
_PROBES_ELSEWHERE = 6
_FAILED_PATIENCE_S = 3.0  # once the server has said itself that it could not load the workspace
_PATIENT = 2.5  # times `timeout_s`, at the second try of a unit
_LOADS_AT_MOST = 15
"""Times `timeout_s`: how long a server may load, however much it says of its progress."""

_LATE_S = 0.06  # late registrations (pull diagnostics, say) come right after `initialized`
_READ_AHEAD = 8_000  # tokens; what is read while a server loads is kept until it is asked about
_SIGNAL_BEGINS_S = 10.0
_SLOW_START_S = 2.0
_WORTH_ITS_START = 5
"""A server is not replaced before it has worked for so many times as long as it took to be ready, unless it is far too large."""

_FAR_TOO_LARGE = 1.5  # times its limit: a server is replaced within a round, too
_MOST_MEMORY = 3
"""Times its limit: what a server takes for one document before it is ended in the middle of it, and the document is tried alone."""

_PASSING = frozenset({-32800, -32801, -32802})
"""Request cancelled, content modified, server cancelled: the server changed its mind about the world; it is asked once more."""


_Question = tuple[Document, str, bytes, int]
"""Document, method, parameters as JSON, ordinal of the token or symbol that it is about (below 0: a cross-check's token)."""


class Crawler:
    """Crawls units with one server, which it replaces when it dies, hangs or grows too large. `number` is that of its setup."""

    def __init__(self, setup: Setup, number: int = 0) -> None:
        self.setup, self.number = setup, number
        self.client: Client | None = None
        self.places = Places(setup.root, setup.folders, setup.unread)
        self._hover_quirks = [quirks.HOVER[name] for name in setup.quirks]
        self.restarts = 0
        self.asked = 0
        self.shared = Check()
        self.backward = Check()
        self._pending: dict[int, _Question] = {}
        self._used = False
        self._server_messages: list[str] = []
        self.pace = Pace(send, self._in_hand, loads_each_time=setup.fresh)
        self.budget = Budget(setup.limits, setup.timeout_s)
        self.root = setup.root
        self.has_server = bool(setup.command)
        self.unusable = ""  # why no server could ever be started
        self._unusable_for = LossReason.SERVER_UNAVAILABLE
        self.may_recover = False  # whether more patience could help
        self._patience = 1.0
        self._ever_started = False
        self._readiness: Readiness | None = None
        self._noise = re.compile(setup.noise) if setup.noise else None
        self._no_answer = re.compile(setup.no_answer) if setup.no_answer else None
        self._unbuilt = re.compile(setup.unbuilt) if setup.unbuilt else None
        self._probe_crashes = 0  # servers of this unit that went down while they were probed
        self._publish_misses = 0
        self._memory_at_start = 0
        self._ready_at = self._ready_after_s = 0.0
        self.quarantine: dict[str, str] = {}
        self.careful = False
        self._documents: list[Document] = []  # of the unit, but those in quarantine
        self._by_uri: dict[str, Document] = {}

    # ---- the server

    def start(self) -> Client:
        setup, begun = self.setup, time.monotonic()
        client = Client(
            setup.command,
            cwd=Path(setup.root),
            environment=setup.environment,
            initialize_params=setup.initialize_params.encode(),
            settings=setup.settings,
            timeout_s=setup.timeout_s,
            one_thread=setup.one_thread,
            confinement=setup.confinement,
            overlays=setup.overlays,
            meanwhile=self.pace.look,
        )
        self.client = client
        if setup.open == "none":
            self._open_unreadable(client)
        self._readiness = Readiness(setup.ready, setup.ready_title, setup.ready_method, setup.ready_value, setup.ready_failed)
        self._notified(client.overheard())
        by_builtins = "python" in setup.languages and not self._readiness.has_signal
        deadline = time.monotonic() + _LATE_S
        asked: set[int] = set()
        says_nothing = setup.open == "none" and not by_builtins and not self._readiness.has_signal
        if says_nothing and self._documents and client.session.supports("documentSymbolProvider"):
            # Some load the project at the first question only: then they do so while we read what to probe them with.
            params = b'{"textDocument":{"uri":%b}}' % self._documents[0].uri_json
            asked.add(client.session.request(methods.DOCUMENT_SYMBOL.encode(), params))
            self._heard(client.poll(0.0), asked)
        probes = [] if by_builtins else self._probes()
        for _ in range(3):
            self._heard(client.poll(min(_LATE_S / 3, max(0.0, deadline - time.monotonic()))), asked)
        if by_builtins:
            self.places.builtins = self._ask_builtins(client)  # of every server, so that all have seen the same before a unit
        else:
            self._await_ready(client, probes, asked)
            if "python" in setup.languages:
                self.places.builtins = self._ask_builtins(client)
        self._ever_started = True
        self._memory_at_start = client.memory_bytes()
        self._ready_at = time.monotonic()
        self._ready_after_s = self._ready_at - begun
        if not self.restarts:
            self.budget.excuse(self._ready_after_s)
        send(Started(setup=self.number, memory_bytes=self._memory_at_start))
        client.most_memory_bytes = _MOST_MEMORY * max(self.setup.memory_bytes, self._memory_at_start)
        return client

    def _ask_builtins(self, client: Client) -> dict[str, list[harvest.Place]]:
        """Where the language's own names are defined, asked in a document that exists only between us and the server.

        It is the readiness probe too: a server that cannot say where `len` comes from is not ready to be believed.
        Raises:
            ServerError: it stays without an answer.
        """
        names = sorted(python_syntax.BUILTINS)
        packages = STANDARD_PACKAGES if self.setup.open == "none" else ()
        uri = path_to_uri(os.path.join(self.setup.root, _PROBE_NAME))
        document = {
            "uri": uri,
            "languageId": "python",
            "version": 1,
            "text": "\n".join([*names, *(f"import {name}" for name in packages), ""]),
        }
        client.session.notify(b"textDocument/didOpen", msgspec.json.encode({"textDocument": document}))
        found: dict[str, list[harvest.Place]] = {}
        for attempt in range(_PROBE_ATTEMPTS):
            asked: dict[int, str] = {}
            places = [(line, 0, name) for line, name in enumerate(names)]
            if not attempt:
                places += [(line, len(f"import {name}") - 1, "") for line, name in enumerate(packages, len(names))]
            for line, col, name in places:
                params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": col}}
                asked[client.session.request(methods.DEFINITION.encode(), msgspec.json.encode(params))] = name
            while asked:
                for event in client.wait():
                    if isinstance(event, Answer):
                        name = asked.pop(event.id, None)
                        if name is None:
                            raise ServerProtocolError(f"answered request {event.id} twice")
                        if name and event.error is None:
                            with contextlib.suppress(*decode.BROKEN):
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

    def _await_ready(self, client: Client, probes: list[tuple[Document, list[int]]], asked: set[int]) -> None:
        """Waits for the server's own signal, then for the answer to a question whose answer must be there.

        Its `timeout_s` counts from its last sign of progress. Where it knows none of the unit's names, it is asked for some of other
        folders: the unit may lie in a corner that no build takes in.

        Args:
            asked: questions that are open already, and of whose answers nothing is wanted.
        Raises:
            ServerNotReady: it does not come, or the server says why it will not.
        """
        readiness = self._readiness
        assert readiness is not None
        started = time.monotonic()
        # Should the server die of them, others are asked at its next start; what they do to it is seen when they are crawled.
        self._open_probes(client, probes)
        self._await_signal(client, readiness, asked)
        ready_at, attempts, widened = time.monotonic(), 0, False
        while (probes or asked) and not self._probe_succeeds(client, probes, asked):
            attempts += 1
            waited_s = time.monotonic() - ready_at
            if not widened and probes and (attempts >= _WIDEN_AFTER or self._all_unbuilt(probes)):
                widened = True
                more = self._probes_elsewhere(probes)
                self._open_probes(client, more)
                probes = [*probes, *more]
                continue
            if readiness.failure and waited_s > _FAILED_PATIENCE_S:
                raise ServerNotReady(f"could not load the workspace: {readiness.failure}")
            if waited_s > self.setup.timeout_s * self._patience:
                paths = ", ".join(document.planned.path for document, _ in probes)
                raise ServerNotReady(f"not ready after {self.setup.timeout_s:g} s: knows no name of {paths}")
            self._notified(client.poll(min(2.0, 0.05 * 2**attempts)))
        if self.setup.open != "none":
            for document, _ in probes:
                self._by_uri.pop(document.path, None)
                client.session.notify(b"textDocument/didClose", b'{"textDocument":{"uri":%b}}' % document.uri_json)
        log.info("server ready: seconds=%.2f attempts=%d probes=%d", time.monotonic() - started, attempts, len(probes))

    def _await_signal(self, client: Client, readiness: Readiness, asked: set[int]) -> None:
        """Waits until the server says that it is ready, as long as it says anything new of its progress."""
        started = last_sign = time.monotonic()
        signs = readiness.signs
        while not readiness.ready:
            now = time.monotonic()
            if readiness.signs != signs:
                signs, last_sign = readiness.signs, now
            if not readiness.begun and now > started + min(_SIGNAL_BEGINS_S, self.setup.timeout_s / 2):
                log.info("no sign of life from the server, the probe decides: seconds=%.1f", now - started)
                return
            if now > last_sign + self.setup.timeout_s * self._patience or now > started + _LOADS_AT_MOST * self.setup.timeout_s:
                why = f": {readiness.failure}" if readiness.failure else ""
                raise ServerNotReady(f"not ready, by its own signal, after {now - started:.0f} s{why}")
            self._heard(client.poll(0.2), asked)

    def _open_probes(self, client: Client, probes: list[tuple[Document, list[int]]]) -> None:
        if self.setup.open != "none":
            for document, _ in probes:
                self._open(client, document)

    def _all_unbuilt(self, probes: list[tuple[Document, list[int]]]) -> bool:
        return all(document.unbuilt for document, _ in probes)

    def _probes_elsewhere(self, tried: list[tuple[Document, list[int]]]) -> list[tuple[Document, list[int]]]:
        """Probes of other folders of the group."""
        known = {document.planned.path for document, _ in tried}
        candidates = [Document(planned, self.setup.root) for planned in self.setup.probes if planned.path not in known]
        return self._with_candidates(candidates, _PROBES_ELSEWHERE)

    def _probes(self) -> list[tuple[Document, list[int]]]:
        """Documents of the unit and tokens in them of which a ready server can place at least one; none where no document has such."""
        own = [Document(item.planned, self.setup.root) if item.settled else item for item in self._documents[:_PROBE_LOOKS]]
        probes = self._with_candidates(own, _PROBE_DOCUMENTS)
        if self._probe_crashes:  # one of them may be to blame: each alone then, and none where they have all been tried
            return probes[self._probe_crashes - 1 : self._probe_crashes]
        return probes

    def _with_candidates(self, documents: Sequence[Document], most: int) -> list[tuple[Document, list[int]]]:
        """The first of these documents in which there is something to ask about."""
        probes: list[tuple[Document, list[int]]] = []
        for document in documents:
            if len(probes) == most:
                break
            if document.syntax is not None or self._read(document):
                assert document.syntax is not None
                tokens = probe_candidates(document.syntax)
                if tokens:
                    probes.append((document, tokens))
                else:
                    document.syntax = None
        return probes

    def _probe_succeeds(self, client: Client, probes: list[tuple[Document, list[int]]], asked: set[int]) -> bool:
        """Asks, and waits for all answers, those to the questions in `asked` too."""
        can_tell = bool(probes) and (client.session.supports("definitionProvider") or client.session.supports(methods.DEFINITION))
        telling: dict[int, Document] = {}
        for document, tokens in probes if can_tell else ():
            assert document.syntax is not None
            places = document.syntax.tokens
            for token in tokens:
                params = b'{"textDocument":{"uri":%b}' % document.uri_json + POSITION % (places.line[token], places.col[token])
                telling[client.session.request(methods.DEFINITION.encode(), params)] = document
        asked |= telling.keys()
        knows = not can_tell  # then there is nothing to wait for
        self._probe_crashes += 1  # until all have been answered
        ahead = self._read_ahead()
        while asked:
            has_read = next(ahead, False)
            events = client.poll(0.0) if has_read else client.wait()
            self._heard(events, asked)
            for event in events:
                if isinstance(event, Answer) and event.id in telling:
                    knows = knows or _tells_a_place(event)
                    telling[event.id].unbuilt = self._says_unbuilt(event)
        self._probe_crashes -= 1
        return knows

    def _says_unbuilt(self, event: Answer) -> bool:
        """Whether an answer says that no build takes the file in."""
        return event.error is not None and self._unbuilt is not None and self._unbuilt.search(event.error.message) is not None

    def _heard(self, events: list[Answer | Notification], asked: set[int]) -> None:
        """Takes in what the server says while it is waited for."""
        self._notified(events)
        asked.difference_update(event.id for event in events if isinstance(event, Answer))

    def _read_ahead(self) -> Iterator[bool]:
        """Reads one document at a time of those that come first; a worker has nothing else to do while its server loads."""
        tokens = 0
        for document in self._documents:
            if self.careful or tokens > _READ_AHEAD:
                return
            if document.settled:
                continue
            if document.syntax is None:
                self._read(document)
                yield True
            tokens += len(document.syntax.tokens) if document.syntax is not None else 0

    def stop(self, *, polite: bool = True) -> None:
        if self.client is not None:
            self.client.close(polite=polite)
            self.client = None

    def hello(self, number: int) -> Hello | None:
        """What the server says of itself; None where none is running."""
        client = self.client
        if client is None:
            return None
        session = client.session
        return Hello(
            setup=number,
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
            ServerError: it does not start, several times in a row; one that never did is not tried again.
        """
        if self.unusable:
            raise ServerError(self.unusable)
        failure: ServerError | None = None
        for _ in range(_MAX_STARTS_IN_A_ROW):
            if self.client is not None:
                return self.client
            try:
                with self.pace.loading():
                    return self.start()
            except (ServerCrashed, ServerTimeout, ServerProtocolError) as error:
                failure = error
                log.warning("server start failed: %s", error)
                self.stop(polite=False)
                if isinstance(error, ServerNotReady):  # it was waited for as long as it went on
                    break
            except ServerError as error:  # it is not there at all
                failure = error
                break
        assert failure is not None
        if not self._ever_started:
            self.unusable = str(failure)
            self.may_recover = isinstance(failure, ServerTimeout | ServerCrashed) and not (self._readiness and self._readiness.failure)
            self._unusable_for = LossReason.NOT_READY if isinstance(failure, ServerNotReady) else LossReason.SERVER_UNAVAILABLE
        raise failure

    def be_patient(self) -> None:
        """Another try for a server that never became ready, with more time."""
        if self._patience == 1.0:
            self._patience, self.unusable = _PATIENT, ""

    # ---- one unit

    def crawl(self, unit: Unit) -> list[DocumentFacts]:
        """Facts of the unit's documents, in the unit's order. Never fails because of a document.

        A used server is replaced first where its table says so: what it infers for circular definitions depends on what it was
        asked before, and a shard must depend on the tree and the unit alone (ADR 0006).
        """
        self.pace.begin()
        self.budget.begin(time.monotonic())
        if not self.has_server:
            return self._read_only(unit)
        if self._used and (self.setup.fresh or (self.client is not None and self._is_large(self.client))):
            self.stop(polite=False)
        self._used = True
        self._probe_crashes = 0
        documents = [Document(planned, self.setup.root) for planned in unit.documents]
        facts: dict[str, DocumentFacts] = {}
        self._documents = [document for document in documents if not self._quarantined(document, facts)]
        queues = Queues(fresh=deque(self._documents))
        active: list[Document] = []
        agenda: Iterator[_Question | None] | None = None
        while queues or active:
            if self.budget.unit_left_s(time.monotonic()) <= 0:
                self._stop_short([*active, *queues], facts)
                break
            try:
                client = self._ensure()
                if agenda is None:
                    queue = queues.next()
                    agenda = self._agenda(client, queue, active, alone=queue is not queues.fresh)
                if not self._fill(client, agenda):
                    agenda = None
                if self._pending:
                    self._await(client)
                elif client.session.outgoing:
                    client.flush()
                    self._notified(client.overheard())  # diagnostics, perhaps, which are published once
                for document in [item for item in active if item.settled]:
                    self._finish(document, facts)
                    active.remove(document)
            except ServerError as error:
                agenda = None
                self._after_loss(error, active, queues, facts)
                active = []
                continue
            if agenda is None and not active and queues.fresh and self._is_large(client):
                log.info("server replaced: memory=%s limit=%s", client.memory_bytes(), self.setup.memory_bytes)
                self.stop()
        return [facts[document.planned.path] for document in documents if document.planned.path in facts]

    def _await(self, client: Client) -> None:
        """Takes what arrives next; the document with the oldest open question pays for the wait.

        Raises:
            ServerTimeout: nothing comes in the time that is left for it. LimitReached: its time is over, and it has open questions.
        """
        path, budget, begun = self._in_hand()[0], self.budget, time.monotonic()
        client.timeout_s = budget.patience_s(path, begun)
        answered = False
        try:
            events = client.wait()
            answered = any(isinstance(event, Answer) for event in events)
        finally:
            budget.charge(path, time.monotonic() - begun, answered=answered)
        self._take(events)
        if budget.file_left_s(path) <= 0 and self._in_hand()[0] == path:
            raise LimitReached(f"takes longer for {path} than the {budget.limits.file_s:g} s of a file")

    def _after_loss(self, error: ServerError, active: Sequence[Document], queues: Queues, facts: dict[str, DocumentFacts]) -> None:
        """Ends the server; each of the `active` documents is put into a queue once more, or given up."""
        reason, started = _loss_reason(error), self.client is not None
        log.warning("server lost: reason=%s detail=%s documents=%s", reason, error, [d.planned.path for d in active])
        holder, method = self._in_hand() if isinstance(error, ServerTimeout) else ("", "")
        self.stop(polite=False)
        self._pending.clear()
        self.restarts += 1
        if not started:  # it cannot be started at all
            for document in [*active, *queues]:
                self._give_up(document, self._unusable_for, facts)
            queues.clear()
            return
        if holder:
            self.budget.held(holder)
        for document in active:
            document.attempt += 1
            document.failure = reason
            is_holder = document.planned.path == holder
            if is_holder and method in COSTLY:
                document.attempt = max(document.attempt, 2)  # what it hung at is not asked again
            if is_holder and self.budget.file_left_s(holder) <= 0:
                self._give_up(document, LossReason.TIME_LIMIT, facts)
            elif document.attempt > 2 or (is_holder and not self.budget.may_try_again(holder)):
                self._give_up(document, reason, facts)
            else:
                document.reset()
                (queues.last if is_holder else queues.again).append(document)

    def _stop_short(self, documents: Sequence[Document], facts: dict[str, DocumentFacts]) -> None:
        """The unit has taken as long as it may: what is left of it has no answers."""
        log.warning("unit stopped: seconds=%g documents=%d", self.setup.limits.unit_s, len(documents))
        if self._pending or self._by_uri:
            self.stop(polite=False)
            self._pending.clear()
            self._by_uri.clear()
        for document in documents:
            self._give_up(document, LossReason.TIME_LIMIT, facts)

    def _read_only(self, unit: Unit) -> list[DocumentFacts]:
        """What the text says by itself, for a language that has no server here."""
        facts: dict[str, DocumentFacts] = {}
        for planned in unit.documents:
            document = Document(planned, self.setup.root)
            for method, tally in document.answers.tallies.items():
                if method != methods.SYNTAX:
                    tally.skipped = SkipReason.NO_SERVER
            if not self._quarantined(document, facts):
                self._read(document)
                self._keep(document, facts)
        return list(facts.values())

    def _agenda(self, client: Client, queue: deque[Document], active: list[Document], *, alone: bool) -> Iterator[_Question | None]:
        """All questions about the documents in `queue`, in an order that does not depend on when answers arrive.

        What a server infers for circular definitions depends on what it was asked before, so the order must be the tree's own
        (ADR 0006). Documents are asked in rounds; second tries of a round follow the next round's questions, when all answers of
        the former have long been there. None stands for: nothing to ask until what has come, or is to come, is dealt with.
        It ends early where the server has grown too large, with no question open.
        """
        overlap = not alone and not self.careful and self.setup.open != "each"
        waiting: list[Document] = []
        goes_on = True
        while waiting or (queue and goes_on):
            asked, asked_now = 0, list[Document]()
            while queue and goes_on and asked < _ROUND and (overlap or not (asked_now or waiting)):
                document = queue.popleft()
                active.append(document)
                for question in most(self._prepare(client, document), document, self.budget.questions_left(0)):
                    if document.unbuilt:
                        break
                    yield document, *question
                    document.answers.tallies[methods.TALLIED.get(question[0], question[0])].asked += question[2] >= 0
                    asked += 1
                asked_now.append(document)
                goes_on = not self._has_grown(client)
            second: list[Document] = []
            for document in waiting if overlap else [*waiting, *asked_now]:
                while document.open:
                    yield None
                more = list(most(document.second_tries(), document, self.budget.questions_left(document.asked)))
                for question in more:
                    yield document, *question
                if more:
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
            document, method, params, _ = question
            pending[request(method.encode(), params)] = question
            document.open += 1
            self.asked += 1
            if len(pending) >= window:
                return True
        return False

    def _prepare(self, client: Client, document: Document) -> Iterator[tuple[str, bytes, int]]:
        """Reads and parses the document, opens it where the server wants that, and says what to ask: nothing if it has changed."""
        if document.syntax is None and not self._read(document):
            return iter(())
        if not self.budget.has_questions(self.asked):
            document.fail(LossReason.QUESTION_LIMIT)
            return iter(())
        if self.setup.open != "none":
            self._open(client, document)
        return questions(client.session, self.setup, document)

    def _read(self, document: Document) -> bool:
        """Reads and parses it; False where it is no longer what was planned, which all its methods then say."""
        document.source = read_source(document.path, document.planned.size_bytes)
        if blob_digest(document.source) != document.planned.digest:
            document.source = b""
            document.syntax = self._parse(document, b"")
            for tally in document.answers.tallies.values():
                tally.failed = LossReason.CHANGED_DURING_CRAWL
            return False
        if document.planned.encoding:
            document.source = as_utf8(document.source)
        document.syntax = self._parse(document, document.source)
        return True

    def _parse(self, document: Document, source: bytes) -> Syntax:
        planned = document.planned
        if self.careful:
            send(Reading(path=planned.path))
        with self.pace.reading(planned.path, len(source)):
            return syntaxes.parse(planned.language, planned.path, source, planned.module, is_test=planned.is_test)

    def _quarantined(self, document: Document, facts: dict[str, DocumentFacts]) -> bool:
        """Whether workers have ended with this document: then it is not even read, and all its methods say why."""
        reason = self.quarantine.get(document.planned.path)
        if reason is None:
            return False
        log.error("document quarantined: path=%s", document.planned.path)
        document.syntax = self._parse(document, b"")
        for tally in document.answers.tallies.values():
            tally.failed = reason
        self._keep(document, facts)
        return True

    def _open(self, client: Client, document: Document) -> None:
        planned = document.planned
        text = {
            "uri": document.uri,
            "languageId": language_id(planned.path, planned.language),
            "version": 1,
            "text": document.source.decode("utf-8"),
        }
        client.session.notify(b"textDocument/didOpen", msgspec.json.encode({"textDocument": text}))
        self._by_uri[document.path] = document

    def _open_unreadable(self, client: Client) -> None:
        """Tells a server that reads the disk the texts of files that are not in UTF-8, which it would take for empty or for others."""
        for path, language in self.setup.recoded:
            place = os.path.normpath(os.path.join(self.root, path))
            text = as_utf8(read_source(place, self.setup.max_file_bytes)).decode("utf-8")
            item = {"uri": path_to_uri(place), "languageId": language_id(path, language), "version": 1, "text": text}
            client.session.notify(b"textDocument/didOpen", msgspec.json.encode({"textDocument": item}))

    def _change_nothing(self, client: Client, document: Document, version: int) -> None:
        """The same text as a new version, which a server looks at anew. To close and open it would be told as "no diagnostics"."""
        parameters = {
            "textDocument": {"uri": document.uri, "version": version},
            "contentChanges": [{"text": document.source.decode("utf-8")}],
        }
        client.session.notify(b"textDocument/didChange", msgspec.json.encode(parameters))

    def _take(self, events: list[Answer | Notification]) -> None:
        pending = self._pending
        for event in events:
            if isinstance(event, Notification):
                self._notified([event])
                continue
            entry = pending.pop(event.id, None)
            if entry is None:
                raise ServerProtocolError(f"answered request {event.id} twice")
            document, method, params, ordinal = entry
            document.open -= 1
            if event.error is not None and event.error.code in _PASSING and document.may_repeat(method, ordinal):
                document.follow_ups.append((method, params, ordinal))
            else:
                self._answered(document, method, ordinal, event)

    def _answered(self, document: Document, method: str, ordinal: int, event: Answer) -> None:
        answers = document.answers
        tally = answers.tallies[methods.TALLIED.get(method, method)]
        if event.error is not None:
            if self._no_answer is not None and self._no_answer.search(event.error.message):
                if method == methods.DEFINITION and ordinal >= 0:
                    document.silent.append(ordinal)
                return
            tally.lost += 1
            if self._says_unbuilt(event):
                document.unbuilt = True
            elif not tally.failed:
                tally.failed = f"{LossReason.SERVER_ERROR}: {event.error.message.replace(self.root, '.')[:200]}"
            return
        try:
            if method == methods.DEFINITION:
                if event.result == b"null" or event.result == b"[]":
                    found: list[harvest.Place] = []
                else:
                    found = harvest.places(decode.targets(event.result))
                    tally.cut += len(found) > harvest.MAX_TARGETS and not document.names_package(ordinal)
                    found = found[: harvest.MAX_TARGETS]
                if ordinal >= 0:
                    if found and not document.is_import_itself(ordinal, found):
                        answers.definitions[ordinal] = found
                        tally.answered += 1
                    else:
                        document.silent.append(ordinal)
                else:
                    answers.cross_checks[-ordinal - 1] = found
            elif method == methods.HOVER:
                text = decode.hover_text(decode.hover(event.result))
                for quirk in self._hover_quirks:
                    text = quirk(text)
                text = quirks.without_places(text)
                if text:
                    answers.hovers[ordinal] = text
                    tally.answered += 1
            elif method == methods.SUPERTYPES:
                items = decode.type_hierarchy_items(event.result) or []
                answers.supertypes[ordinal] = sorted(
                    set(answers.supertypes.get(ordinal, ()))
                    | {
                        (item.uri, r.start.line, r.start.character, r.end.line, r.end.character)
                        for item in items
                        for r in (item.selectionRange,)
                    }
                )
                tally.answered += bool(items)
            elif method == methods.HIGHLIGHT:
                answers.highlights[ordinal] = decode.highlights(event.result)
            elif method == methods.PREPARE_TYPE_HIERARCHY:
                for item in decode.raw_items(event.result):
                    document.follow_ups.append((methods.SUPERTYPES, b'{"item":%b}' % item, ordinal))
            elif method == methods.DOCUMENT_SYMBOL:
                answers.symbols = decode.document_symbols(event.result) or []
                tally.answered += bool(answers.symbols)
            else:
                report = decode.diagnostic_report(event.result)
                answers.diagnostics = report.items if report is not None else []
                tally.answered += 1
        except decode.BROKEN as error:
            tally.lost += 1
            tally.failed = f"{LossReason.SERVER_PROTOCOL}: {error}"

    def _notified(self, events: list[Any]) -> None:
        for event in events:
            if not isinstance(event, Notification):
                continue
            if self._readiness is not None and event.method != "textDocument/publishDiagnostics":
                self._readiness.notified(event)
                self.pace.heard(event)
            if event.method == "window/showMessage":
                try:
                    message = decode.anything(event.params)
                except decode.BROKEN:
                    continue
                if not isinstance(message, dict):
                    continue
                text = str(message.get("message", ""))[:_MESSAGE_CHARS]
                if self._noise is not None and self._noise.search(text):
                    continue
                if message.get("type") in (1, 2) and text not in self._server_messages and len(self._server_messages) < 20:
                    self._server_messages.append(text)
                    log.warning("server says: %s", text)
            elif event.method == "textDocument/publishDiagnostics" and self.setup.diagnostics == "publish":
                with contextlib.suppress(*decode.BROKEN):
                    self._published(decode.published_diagnostics(event.params))

    def _published(self, published: decode.PublishedDiagnostics) -> None:
        document = self._by_uri.get(uri_to_path(published.uri))
        if document is not None:
            document.answers.diagnostics = published.diagnostics
            document.published = True
            self._publish_misses = 0

    def _finish(self, document: Document, facts: dict[str, DocumentFacts]) -> None:
        if document.unbuilt:
            leave_out(document)
        if self.setup.open != "none" and self.client is not None:
            self._await_diagnostics(document)
            if self._by_uri.pop(document.path, None) is not None:
                self.client.session.notify(b"textDocument/didClose", b'{"textDocument":{"uri":%b}}' % document.uri_json)
        crosscheck.shared(self.shared, document, self.places.builtins or {}, self.places)
        crosscheck.backward(self.backward, document)
        self._keep(document, facts)

    def _await_diagnostics(self, document: Document) -> None:
        """Published diagnostics may come after the last answer; wait for them, then count them as lost."""
        tally = document.answers.tallies[methods.DIAGNOSTIC]
        if self.setup.diagnostics != "publish" or tally.failed or document.unbuilt:
            return
        if document.attempt >= 2 and not document.published:  # the server went down while it was waited for, twice
            tally.failed = str(document.failure)
            return
        patience_s = min(_PUBLISH_WAIT_S if self._publish_misses else _PUBLISH_FIRST_WAIT_S, self.setup.timeout_s)
        started = time.monotonic()
        deadline = started + (patience_s if self._publish_misses < _PUBLISH_MISSES else 0.0)
        reminder_s, version = _REMIND_S, 1
        while not document.published and (now := time.monotonic()) < deadline and self.client is not None:
            if now >= started + reminder_s:  # another document, opened or closed meanwhile, made it drop what it was about to say
                reminder_s *= 2
                version += 1
                self._change_nothing(self.client, document, version)
            self._take(self.client.poll(0.1))
        tally.asked = 1
        if document.published:
            tally.answered = 1
        else:
            self._publish_misses += 1
            tally.failed = LossReason.SERVER_TIMEOUT

    def _give_up(self, document: Document, reason: LossReason, facts: dict[str, DocumentFacts]) -> None:
        document.reset()
        if document.syntax is None:
            self._read(document)
        document.fail(reason)
        self._keep(document, facts)

    def _keep(self, document: Document, facts: dict[str, DocumentFacts]) -> None:
        assert document.syntax is not None
        facts[document.planned.path] = harvest.harvest(
            document.planned, document.path, document.syntax, document.answers, surroundings=self.places
        )
        self.pace.done(document.planned.size_bytes, len(document.syntax.tokens))
        document.syntax = None

    def _in_hand(self) -> tuple[str, str]:
        """What is waited for: the document and the method of the oldest open question."""
        for document, method, _, _ in self._pending.values():
            return document.planned.path, method
        return "", ""

    def _is_large(self, client: Client) -> bool:
        """Above its limit, and replaced at a profit: one that takes long to load has to work for some times as long, if it can be borne."""
        taken = client.memory_bytes()
        if taken <= max(self.setup.memory_bytes, self._memory_at_start):
            return False
        worked_s = time.monotonic() - self._ready_at
        has_paid = self._ready_after_s < _SLOW_START_S or worked_s > _WORTH_ITS_START * self._ready_after_s
        return has_paid or not self.setup.may_exceed or taken > max(self.setup.memory_bytes, self._memory_at_start) * _FAR_TOO_LARGE

    def _has_grown(self, client: Client) -> bool:
        """Far above its limit, and not because it started so: such a server would be replaced after every document."""
        return client.memory_bytes() > max(self.setup.memory_bytes * _FAR_TOO_LARGE, 2 * self._memory_at_start)


def _tells_a_place(event: Answer) -> bool:
    try:
        return event.error is None and bool(decode.targets(event.result))
    except decode.BROKEN:
        return False


def leave_out(document: Document) -> None:
    """Takes back what was asked about a document that no build takes in: its text is read, and the rest is a gap with the reason."""
    why = builds.left_out(document.planned.language, document.planned.path, document.source)
    for method, tally in document.answers.tallies.items():
        if method != methods.SYNTAX:
            document.answers.tallies[method] = harvest.MethodTally(
                unsupported=tally.unsupported, skipped=f"{SkipReason.NOT_IN_BUILD}: {why}"
            )


def _loss_reason(error: ServerError) -> LossReason:
    if isinstance(error, LimitReached):
        return LossReason.TIME_LIMIT
    if isinstance(error, ServerNotReady):
        return LossReason.NOT_READY
    if isinstance(error, ServerTimeout):
        return LossReason.SERVER_TIMEOUT
    if isinstance(error, ServerProtocolError):
        return LossReason.SERVER_PROTOCOL
    if isinstance(error, ServerTooLarge):
        return LossReason.SERVER_MEMORY
    if isinstance(error, ServerCrashed):
        return LossReason.SERVER_CRASHED
    return LossReason.SERVER_UNAVAILABLE
