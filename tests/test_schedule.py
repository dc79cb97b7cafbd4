"""What becomes of documents and servers when something goes wrong: two tables, and no process."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pytest

from indexer.crawl.messages import Limits
from indexer.crawl.units import PlannedDocument
from indexer.crawl.worker.agenda import agenda
from indexer.crawl.worker.document import Document
from indexer.crawl.worker.limits import Budget
from indexer.crawl.worker.questions import Question
from indexer.crawl.worker.schedule import (
    FINAL,
    MOST_HANGING_STARTS,
    MOST_STARTS_IN_A_ROW,
    SERVERS,
    TABLE,
    Event,
    Footprint,
    Loss,
    Schedule,
    ServerEvent,
    ServerState,
    State,
    failed_start,
    next_server,
    reason_of,
    split_quarantined,
)
from indexer.errors import (
    Bug,
    LimitReached,
    ServerCrashed,
    ServerError,
    ServerMissing,
    ServerNotReady,
    ServerProtocolError,
    ServerTimeout,
    ServerTooLarge,
)
from indexer.model import LossReason

WAITING = {State.FRESH, State.AGAIN, State.AGAIN_LEAN, State.LAST, State.LAST_LEAN}
ACTIVE = {State.ACTIVE, State.ALONE, State.ALONE_LEAN}
LOSSES = {Event.LOST, Event.HELD, Event.HELD_COSTLY, Event.OUT_OF_TRIES, Event.OUT_OF_TIME}
ENDS = {Event.NO_SERVER, Event.UNIT_OVER}
CRASH = Loss(reason=LossReason.SERVER_CRASHED)


def _tries(state: State) -> int:
    """How many more times a document may be asked about at most, this one included."""
    if state.is_lean:
        return 1
    return {State.FRESH: 3, State.ACTIVE: 3, State.AGAIN: 2, State.LAST: 2, State.ALONE: 2}.get(state, 0)


def _schedule(*names: str) -> Schedule[Document]:
    return Schedule([Document(PlannedDocument(path=name, language="python", digest="", size_bytes=0), "/w") for name in names])


def _take_all(schedule: Schedule[Document]) -> list[str]:
    line, taken = schedule.line(), list[str]()
    while line:
        taken.append(line.take().name)
    return taken


@pytest.mark.parametrize(("state", "event"), list(itertools.product(State, Event)), ids=str)
def test_each_event_of_a_document_is_either_impossible_or_leads_on(state: State, event: Event):
    """What waits may be taken, what is asked about may finish or be lost, everything may be ended, what is over stays over."""
    after = TABLE.get((state, event))
    possible = (
        (state in WAITING and event in {Event.TAKEN, *ENDS})
        or (state in ACTIVE and event in {Event.FINISHED, *LOSSES, *ENDS})
        or (state is State.FRESH and event is Event.QUARANTINED)
    )
    assert (after is not None) == possible
    if after is None:
        return
    if event is Event.TAKEN:
        assert after in ACTIVE
        assert _tries(after) == _tries(state)
        assert (after is State.ACTIVE) == (state is State.FRESH), "only a fresh document is asked about together with others"
    elif event is Event.FINISHED:
        assert after is State.DONE
    elif event in {*ENDS, Event.QUARANTINED, Event.OUT_OF_TIME, Event.OUT_OF_TRIES}:
        assert after is State.GIVEN_UP
    else:
        assert after in WAITING | {State.GIVEN_UP}
        assert _tries(after) < _tries(state), "each loss leaves fewer tries, so a unit comes to an end"
        assert (after is State.GIVEN_UP) == state.is_lean
        if after in WAITING:
            assert (after in {State.LAST, State.LAST_LEAN}) == (event is not Event.LOST)
            assert not (event is Event.HELD_COSTLY and not after.is_lean), "what it hung at is not asked again"


@pytest.mark.parametrize(("state", "event"), list(itertools.product(ServerState, ServerEvent)), ids=str)
def test_each_event_of_a_server_is_either_impossible_or_leads_on(state: ServerState, event: ServerEvent):
    failures = {ServerEvent.FAILED, ServerEvent.FAILED_AGAIN, ServerEvent.NOT_READY, ServerEvent.MISSING}
    starting = state in {ServerState.NEW, ServerState.DOWN}
    if event in {ServerEvent.STARTED, *failures} and not starting:
        with pytest.raises(Bug):
            next_server(state, event)
        return
    after = next_server(state, event)
    assert SERVERS[state, event] is after
    if event is ServerEvent.STARTED:
        assert after is ServerState.READY
    elif event in failures:
        gives_up = state is ServerState.NEW and event is not ServerEvent.FAILED
        assert after is (ServerState.UNUSABLE if gives_up else state), "one that was ready once is tried again with the next unit"
    elif event is ServerEvent.ENDED:
        assert after is (ServerState.DOWN if state is ServerState.READY else state)
    else:
        assert after is (ServerState.NEW if state is ServerState.UNUSABLE else state)


@pytest.mark.parametrize(
    ("error", "event", "reason"),
    [
        (ServerCrashed("x"), ServerEvent.FAILED, LossReason.SERVER_CRASHED),
        (ServerTimeout("x"), ServerEvent.FAILED, LossReason.SERVER_TIMEOUT),
        (ServerProtocolError("x"), ServerEvent.FAILED, LossReason.SERVER_PROTOCOL),
        (ServerNotReady("x"), ServerEvent.NOT_READY, LossReason.NOT_READY),
        (ServerMissing("x"), ServerEvent.MISSING, LossReason.SERVER_UNAVAILABLE),
        (ServerTooLarge("x"), ServerEvent.MISSING, LossReason.SERVER_MEMORY),
        (LimitReached("x"), ServerEvent.NOT_READY, LossReason.TIME_LIMIT),
        (ServerError("x"), ServerEvent.MISSING, LossReason.SERVER_UNAVAILABLE),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, ServerError) else None,
)
def test_only_a_start_that_may_go_better_is_tried_again(error: ServerError, event: ServerEvent, reason: LossReason):
    assert reason_of(error) is reason
    most = MOST_HANGING_STARTS if isinstance(error, ServerTimeout) else MOST_STARTS_IN_A_ROW
    for failures in range(1, most):
        assert failed_start(error, failures) is event
    last = failed_start(error, most)
    assert last is (ServerEvent.FAILED_AGAIN if event is ServerEvent.FAILED else event)


def test_documents_of_a_lost_server_are_tried_alone_and_first_and_a_holder_last():
    schedule = _schedule("a", "b", "c", "d")
    line = schedule.line()
    assert not line.is_alone
    assert [line.take().name for _ in range(3)] == ["a", "b", "c"]
    hung = Loss(reason=LossReason.SERVER_TIMEOUT, holder="b")
    assert list(schedule.server_lost(hung)) == []
    assert schedule.line().is_alone
    assert _take_all(schedule) == ["a", "c"]
    for document in list(schedule.active):
        schedule.finished(document)
    assert not schedule.line().is_alone
    assert _take_all(schedule) == ["d"]
    schedule.finished(schedule.active[0])
    assert schedule.line().is_alone
    assert _take_all(schedule) == ["b"]
    schedule.finished(schedule.active[0])
    assert not schedule


def test_a_document_is_given_up_at_the_third_loss_and_is_lean_at_the_last_try():
    schedule = _schedule("a")
    lean: list[bool] = []
    given: list[tuple[Document, LossReason]] = []
    while schedule:
        lean.append(schedule.line().take().state.is_lean)
        given += schedule.server_lost(CRASH)
    assert lean == [False, False, True]
    assert [(document.name, reason, document.state) for document, reason in given] == [("a", LossReason.SERVER_CRASHED, State.GIVEN_UP)]


@pytest.mark.parametrize(
    ("loss", "reason"),
    [
        (Loss(reason=LossReason.SERVER_TIMEOUT, holder="a", is_out_of_time=True), LossReason.TIME_LIMIT),
        (Loss(reason=LossReason.SERVER_TIMEOUT, holder="a", is_out_of_tries=True), LossReason.SERVER_TIMEOUT),
        (Loss(reason=LossReason.SERVER_TIMEOUT, holder="a", is_out_of_tries=True, is_out_of_time=True), LossReason.TIME_LIMIT),
    ],
    ids=["time", "tries", "both"],
)
def test_only_the_holder_pays_for_limits(loss: Loss, reason: LossReason):
    schedule = _schedule("a", "b")
    _take_all(schedule)
    assert [(document.name, why) for document, why in schedule.server_lost(loss)] == [("a", reason)]
    assert _take_all(schedule) == ["b"]


@pytest.mark.parametrize("event", sorted(ENDS))
def test_what_ends_a_unit_ends_all_of_its_documents(event: Event):
    schedule = _schedule("a", "b", "c")
    line = schedule.line()
    line.take()
    list(schedule.server_lost(CRASH))
    line = schedule.line()
    line.take()
    assert [document.name for document in schedule.give_up(event)] == ["a", "b", "c"]
    assert not schedule


def test_what_is_over_cannot_be_taken_again():
    schedule = _schedule("a")
    document = schedule.line().take()
    schedule.finished(document)
    assert document.state in FINAL
    with pytest.raises(Bug, match="'a' is done and cannot be taken"):
        _ = Schedule([document]).line().take()


def test_documents_in_quarantine_are_set_apart():
    documents = list(_schedule("a", "b").line().waiting)
    kept, apart = split_quarantined(documents, {"b"})
    assert ([item.name for item in kept], [item.name for item in apart]) == (["a"], ["b"])
    assert apart[0].state is State.GIVEN_UP


MB = 1_000_000


@pytest.mark.parametrize(
    ("footprint", "taken", "worked_s", "large", "grown"),
    [
        (Footprint(limit=100 * MB, at_start=50 * MB, ready_after_s=0.5, may_exceed=True), 100, 0, False, False),
        (Footprint(limit=100 * MB, at_start=50 * MB, ready_after_s=0.5, may_exceed=True), 101, 0, True, False),
        (Footprint(limit=100 * MB, at_start=50 * MB, ready_after_s=20, may_exceed=True), 140, 99, False, False),
        (Footprint(limit=100 * MB, at_start=50 * MB, ready_after_s=20, may_exceed=True), 140, 101, True, False),
        (Footprint(limit=100 * MB, at_start=50 * MB, ready_after_s=20, may_exceed=False), 140, 0, True, False),
        (Footprint(limit=100 * MB, at_start=50 * MB, ready_after_s=20, may_exceed=True), 151, 0, True, True),
        (Footprint(limit=100 * MB, at_start=200 * MB, ready_after_s=0.5, may_exceed=True), 199, 99, False, False),
        (Footprint(limit=100 * MB, at_start=200 * MB, ready_after_s=0.5, may_exceed=True), 399, 99, True, False),
        (Footprint(limit=100 * MB, at_start=200 * MB, ready_after_s=0.5, may_exceed=True), 401, 99, True, True),
    ],
)
def test_a_server_is_replaced_at_a_profit_or_when_it_is_far_too_large(
    footprint: Footprint, taken: int, worked_s: float, large: bool, grown: bool
):
    assert footprint.is_large(taken * MB, worked_s) is large
    assert footprint.has_grown(taken * MB) is grown


# ---- the agenda


def _asked(schedule: Schedule[Document], *, overlap: bool = True, grown: Sequence[str] = (), large: Sequence[bool] = ()) -> list[str]:
    """Names of the documents that are asked about, in order; `-` for a wait. Each answer of a first question leads to a second one."""
    seen: list[str] = []
    rounds = iter(large)

    def prepare(document: Document) -> Iterator[Question]:
        return iter([("textDocument/hover", document.name.encode(), 1)])

    budget = Budget(Limits(), 10.0)
    waiting: list[Document] = []
    for question in agenda(
        schedule.line(),
        prepare,
        budget,
        overlap=overlap,
        has_grown=lambda: bool(seen) and seen[-1] in grown,
        is_large=lambda: next(rounds, False),
    ):
        if question is None:
            seen.append("-")
            for document in waiting:
                document.open = 0
            waiting.clear()
            continue
        document, _, params, ordinal = question
        seen.append(params.decode())
        document.open += 1
        waiting.append(document)
        if ordinal == 1:
            document.follow_ups.append(("typeHierarchy/supertypes", f"{document.name}'".encode(), 2))
    return seen


def test_second_questions_follow_those_of_the_next_round():
    """All of one round first, then, when its answers are there, what they lead to."""
    schedule = _schedule("a", "b")
    assert _asked(schedule) == ["a", "b", "-", "a'", "b'", "-"]
    assert all(document.settled for document in schedule.active)


def test_a_document_that_is_tried_alone_has_nothing_else_beside_it():
    assert _asked(_schedule("a", "b"), overlap=False) == ["a", "-", "a'", "-", "-", "b", "-", "b'", "-", "-"]


def test_the_agenda_ends_early_with_a_server_that_has_grown():
    schedule = _schedule("a", "b", "c")
    assert _asked(schedule, grown=["b"]) == ["a", "b", "-", "a'", "b'", "-"]
    assert schedule.has_fresh
    schedule = _schedule("a", "b")
    assert _asked(schedule, overlap=False, large=[True]) == ["a", "-", "a'", "-", "-"]
    assert schedule.has_fresh
