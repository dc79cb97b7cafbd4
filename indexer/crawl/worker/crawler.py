"""Crawls units with one server: asks what the agenda says, takes the answers in, and carries out what the schedule decides.

Read on: `schedule` (what becomes of documents and servers), `agenda` (what is asked next), `answers` (what is written down), `server`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from indexer.crawl import methods
from indexer.crawl.messages import Check, Job, Report, Setup
from indexer.crawl.worker import crosscheck, second
from indexer.crawl.worker.agenda import Asked, agenda
from indexer.crawl.worker.answers import Reader, leave_out, leave_unasked
from indexer.crawl.worker.document import Document
from indexer.crawl.worker.harvest import harvest
from indexer.crawl.worker.limits import Budget
from indexer.crawl.worker.pace import Pace
from indexer.crawl.worker.places import Places
from indexer.crawl.worker.probing import Probing
from indexer.crawl.worker.questions import COSTLY, Question, of_second, questions
from indexer.crawl.worker.reading import Sources, open_document
from indexer.crawl.worker.schedule import Event, Loss, Schedule, reason_of, split_quarantined
from indexer.crawl.worker.server import Server
from indexer.drive.conversation import PASSING, Conversation
from indexer.errors import LimitReached, ServerError, ServerProtocolError, ServerTimeout
from indexer.languages import record_of
from indexer.lsp.session import Answer, Notification
from indexer.model import LossReason, SkipReason
from indexer.store.facts import DocumentFacts

log = logging.getLogger("indexer.crawl.worker")

_AHEAD_S = 30.0
"""So long a server may take to start before there is anything to ask."""


class Crawler:
    """Crawls units with one server, which it replaces when it dies, hangs or grows too large. `number` is that of its setup.

    `restarts`, `asked`, `shared`, `backward` are counts for the parent, which takes them after each unit.
    """

    def __init__(
        self,
        setup: Setup,
        number: int,
        say: Callable[[Report], None],
        *,
        former: Crawler | None = None,
        changes: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """
        Args:
            former: of the crawl before, whose server goes on if it runs, once it is told of the `changes` (as of `Renew`).
        """
        self.setup = setup
        self.places = Places(setup.root, setup.folders, setup.unread)
        self.pace = Pace(say, self._in_hand, loads_each_time=setup.fresh)
        self.restarts = self.asked = 0
        self.shared, self.backward = Check(), Check()
        self._sources = Sources(self.pace, say, setup.limits.file_s, alone=not setup.command)
        self._reader = Reader(setup)
        self._probing = Probing(setup, self._sources, self._reader)
        if former is not None and former.server.talk is not None:
            self.server = former.server
            self.server.renew(setup, self.pace, self.places, self._probing, changes)
        else:
            self.server = Server(setup, number, self.pace, self.places, self._probing, say)
        self._budget = Budget(setup.limits, setup.timeout_s)
        self._pending: dict[int, Asked] = {}
        self._used = False
        self._facts: dict[str, DocumentFacts] = {}

    def rest(self) -> None:
        """The crawl is over: the server ends, unless it stays; one that must be fresh is started ahead, if that is possible."""
        server, was_used = self.server, self._used
        if self.setup.stays and server.may_stay():
            return
        server.stop(polite=False)
        if was_used and self.setup.fresh and not self.setup.fixed:
            server.start_ahead(_AHEAD_S)

    def crawl(self, job: Job) -> list[DocumentFacts]:
        """Facts of the unit's documents, in the unit's order. Never fails because of a document.

        A used server is replaced first where its table says so: what it infers for circular definitions depends on what it was
        asked before, and a shard must depend on the tree and the unit alone (ADR 0006).
        """
        unit = job.unit
        self.pace.begin()
        self._budget.begin(time.monotonic())
        self._sources.careful, self._sources.quarantine, self._facts = job.careful, job.quarantine, {}
        if job.hung:
            self._rehearse(job)
        documents = [Document(planned, self.setup.root) for planned in unit.documents]
        if not self.setup.command:
            _leave_without_server(documents)
        kept, apart = split_quarantined(documents, job.quarantine)
        for document in apart:
            log.error("document quarantined: path=%s", document.name)
            self._sources.read(document)
            self._keep(document)
        if self.setup.command:
            self._crawl(kept)
        else:
            for document in kept:
                self._sources.read(document)
                self._keep(document)
        return [self._facts[document.name] for document in documents if document.name in self._facts]

    def _rehearse(self, job: Job) -> None:
        names = [planned.path for planned in job.unit.documents]
        first = names.index(job.rehearsed) + 1 if job.rehearsed in names else 0
        self._sources.rehearse((Document(planned, self.setup.root) for planned in job.unit.documents[first:]), job.hung)

    def _crawl(self, documents: list[Document]) -> None:
        server = self.server
        if self._used and (self.setup.fresh or server.is_large()):
            server.stop(polite=False)
        self._used = True
        self._probing.begin(documents)
        schedule = Schedule(documents)
        under_way: Iterator[Asked | None] | None = None
        while schedule:
            if self._budget.unit_left_s(time.monotonic()) <= 0:
                self._stop_short(schedule)
                return
            try:
                talk = self._ensure()
                if under_way is None:
                    under_way = self._agenda(talk, schedule)
                if not self._fill(talk, under_way):
                    under_way = None
                if self._pending:
                    self._await(talk)
                elif talk.session.outgoing:
                    talk.flush()  # and hear diagnostics, perhaps, which are published once
                for document in [item for item in schedule.active if item.settled]:
                    self._finish(talk, document)
                    schedule.finished(document)
            except ServerError as error:
                under_way = None
                self._after_loss(error, schedule)
                continue
            if under_way is None and not schedule.active and schedule.has_fresh and server.is_large():
                log.info("server replaced: memory=%s limit=%s", talk.client.memory_bytes(), self.setup.memory_bytes)
                server.stop()

    def _ensure(self) -> Conversation:
        """The server, which is waited for no longer than the unit may take, whatever it says; what it loads after a loss counts too."""
        starts, is_excused, budget = self.server.starts, not self.restarts, self._budget
        left_s = budget.unit_left_s(time.monotonic())
        talk = self.server.ensure(left_s + budget.load_left_s() if is_excused else left_s)
        if self.server.starts != starts and is_excused:
            budget.excuse(self.server.ready_after_s)
        talk.client.deadline = (now := time.monotonic()) + budget.unit_left_s(now)
        return talk

    # ---- questions and answers

    def _agenda(self, talk: Conversation, schedule: Schedule[Document]) -> Iterator[Asked | None]:
        line = schedule.line()
        return agenda(
            line,
            lambda document: self._prepare(talk, document),
            self._budget,
            overlap=not line.is_alone and not self._sources.careful and self.setup.open != "each",
            has_grown=self.server.has_grown,
            is_large=self.server.is_large,
        )

    def _prepare(self, talk: Conversation, document: Document) -> Iterator[Question]:
        """Reads and parses the document, opens it where the server wants that, and says what to ask: nothing if it has changed."""
        if document.syntax is None and not self._sources.read(document):
            return iter(())
        if self._leave_deep(document):
            return iter(())
        if not self._budget.has_questions(self.asked):
            document.fail(LossReason.QUESTION_LIMIT)
            return iter(())
        if self.setup.open != "none":
            open_document(talk.texts, document)
        asked = of_second if document.planned.places else questions
        return asked(talk.session, self.setup, document)

    def _leave_deep(self, document: Document) -> bool:
        """Whether a document that has been read is nested too deeply to be asked about, which it then says."""
        depth = document.syntax.depth if document.syntax is not None else 0
        if self._budget.is_too_deep(depth):
            log.warning("document not asked about: path=%s depth=%d", document.name, depth)
            leave_unasked(document, depth)
        return self._budget.is_too_deep(depth)

    def _fill(self, talk: Conversation, under_way: Iterator[Asked | None]) -> bool:
        """Asks until the window is full or an answer must come first; False at the agenda's end."""
        request, pending, window = talk.session.request, self._pending, self.setup.window
        if len(pending) >= window:
            return True
        for question in under_way:
            if question is None:
                return True
            document, method, params, _ = question
            pending[request(method.encode(), params)] = question
            document.open += 1
            self.asked += 1
            if len(pending) >= window:
                return True
        return False

    def _await(self, talk: Conversation) -> None:
        """Takes what arrives next; the document with the oldest open question pays for the wait.

        Raises:
            ServerTimeout: nothing comes in the time that is left for it. LimitReached: its time is over, and it has open questions.
        """
        path, budget, begun = self._in_hand()[0], self._budget, time.monotonic()
        talk.client.timeout_s = budget.patience_s(path, begun)
        answered = False
        try:
            events = talk.client.wait()
            answered = any(isinstance(event, Answer) for event in events)
        finally:
            budget.charge(path, talk.client.waited_s, answered=answered)
        self._take(talk, events)
        if budget.file_left_s(path) <= 0 and self._in_hand()[0] == path:
            raise LimitReached(f"takes longer for {path} than the {budget.limits.file_s:g} s of a file")

    def _take(self, talk: Conversation, events: Sequence[Answer | Notification]) -> None:
        pending = self._pending
        for event in events:
            if isinstance(event, Notification):
                talk.notified((event,))
                continue
            entry = pending.pop(event.id, None)
            if entry is None:
                raise ServerProtocolError(f"answered request {event.id} twice")
            document, method, params, ordinal = entry
            document.open -= 1
            if event.error is not None and event.error.code in PASSING and document.may_repeat(method, ordinal):
                document.follow_ups.append((method, params, ordinal))
            else:
                self._reader.take(document, method, ordinal, event)

    def _in_hand(self) -> tuple[str, str]:
        """What is waited for: the document and the method of the oldest open question."""
        for document, method, _, _ in self._pending.values():
            return document.name, method
        return "", ""

    # ---- what becomes of documents

    def _finish(self, talk: Conversation, document: Document) -> None:
        if document.unbuilt:
            leave_out(document)
        if self.setup.open != "none":
            self._await_diagnostics(talk, document)
            talk.texts.close(document.path)
        document.answers.inactive = self.server.inactive.pop(document.path)
        crosscheck.shared(self.shared, document, self.places.builtins or {}, self.places)
        crosscheck.backward(self.backward, document)
        self._keep(document)

    def _await_diagnostics(self, talk: Conversation, document: Document) -> None:
        """Published diagnostics may come after the last answer; wait for them, then count them as lost."""
        tally, published = document.answers.tallies[methods.DIAGNOSTIC], self.server.published
        if self.setup.diagnostics != "publish" or document.path not in talk.texts:
            return
        if not tally.failed and not document.unbuilt:
            if document.state.is_lean and published.of(document.path) is None:
                tally.failed = str(document.failure)  # the server went down while it was waited for, twice
            else:
                published.await_all(
                    {document.path: 0},
                    min(published.wait_s(), self.setup.timeout_s),
                    hear=lambda seconds: self._take(talk, talk.client.poll(seconds)),
                    remind=lambda path: talk.texts.change(path, document.source.decode("utf-8")),
                )
                tally.asked = 1
                if published.of(document.path) is None:
                    published.missed()
                    tally.failed = LossReason.SERVER_TIMEOUT
                else:
                    tally.answered = 1
        document.answers.diagnostics = published.of(document.path) or document.answers.diagnostics
        published.forget(document.path)

    def _after_loss(self, error: ServerError, schedule: Schedule[Document]) -> None:
        """Ends the server; each document that had questions open waits for another try, or is given up."""
        reason, was_running = reason_of(error), self.server.talk is not None
        log.warning("server lost: reason=%s detail=%s documents=%s", reason, error, [item.name for item in schedule.active])
        holder, method = self._in_hand() if isinstance(error, ServerTimeout) else ("", "")
        self.server.stop(polite=False)
        self._pending.clear()
        self.restarts += 1
        if self._budget.unit_left_s(time.monotonic()) <= 0:
            self._stop_short(schedule)
            return
        if not was_running:  # it cannot be started at all
            self._give_up(schedule.give_up(Event.NO_SERVER), self.server.unusable_for)
            return
        if holder:
            self._budget.held(holder)
        loss = Loss(
            reason=reason,
            holder=holder,
            is_costly=method in COSTLY,
            is_out_of_time=bool(holder) and self._budget.file_left_s(holder) <= 0,
            is_out_of_tries=bool(holder) and not self._budget.may_try_again(holder),
        )
        for document, why in schedule.server_lost(loss):
            self._give_up([document], why)

    def _stop_short(self, schedule: Schedule[Document]) -> None:
        """The unit has taken as long as it may: what is left of it has no answers."""
        talk, documents = self.server.talk, schedule.give_up(Event.UNIT_OVER)
        log.warning("unit stopped: seconds=%g documents=%d", self.setup.limits.unit_s, len(documents))
        if self._pending or (talk is not None and any(document.path in talk.texts for document in documents)):
            self.server.stop(polite=False)
            self._pending.clear()
        self._give_up(documents, LossReason.TIME_LIMIT)

    def _give_up(self, documents: Iterable[Document], reason: LossReason) -> None:
        for document in documents:
            if reason is not LossReason.TIME_LIMIT:
                document.reset()
            if document.syntax is None:
                self._sources.read(document)
            if not self._leave_deep(document):
                document.fail_late(reason)
            self._keep(document)

    def _keep(self, document: Document) -> None:
        assert document.syntax is not None
        if document.planned.places:
            self._facts[document.name] = second.facts_of(document.planned, document.syntax, document.answers, self.places)
        else:
            self._facts[document.name] = harvest(
                document.planned, document.path, document.syntax, document.answers, surroundings=self.places
            )
        self.pace.done(document.planned.size_bytes, len(document.syntax.tokens))
        document.syntax = None


def _leave_without_server(documents: Iterable[Document]) -> None:
    """What the text says by itself, for a language that has no server here; an outline may lack symbols, too."""
    for document in documents:
        for method, tally in document.answers.tallies.items():
            if method != methods.SYNTAX or record_of(document.planned.language).grammar is None:
                tally.skipped = SkipReason.NO_SERVER
