"""A process that answers, forked from the one that clients talk to.

There are two sorts. A *reader* answers one question after another that only reads a whole index, and passes on all others; so it holds
nothing that would be missed, and who cancels a question ends it. The *home*, of which there is one, answers the rest on threads, for it has
what lives longer than a question: running servers, skills, simulations, the refresh of the index.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

from indexer.quoting import one_line
from query.mcp.answering import Answering, Passed
from query.mcp.frames import Question, Sender, Told, questions
from query.mcp.job import Job, Stopped
from query.mcp.protocol import Refused

MAX_JOBS = 16
_OURS = ("query", "indexer")
_MOST_LOG_CHARS = 2_000


def run(channel: socket.socket, life: int, answering: Callable[[], Answering], *, reads: bool) -> NoReturn:
    """Answers until the other end is closed; ends at once where the process that asks is gone.

    Args:
        life: a pipe whose other end that process alone holds. answering: made here, after the fork.
    """
    try:
        gc.freeze()  # what the parent had is neither ended nor moved here
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, lambda *_: None)  # who asks decides; what is started here must not inherit that it is ignored
        _close_all_but(channel.fileno(), life)
        threading.Thread(target=_end_with, args=(life,), daemon=True).start()
        sender = Sender(channel)
        forwarding = _Forwarding(sender)
        if reads:
            _read(channel, sender, forwarding, answering())
        else:
            _serve(channel, sender, forwarding, answering())
        os._exit(0)
    except BaseException:
        logging.getLogger(__name__).exception("a process that answers has failed")
        os._exit(70)


def _read(channel: socket.socket, sender: Sender, forwarding: _Forwarding, answering: Answering) -> None:
    for question in questions(channel):
        forwarding.hear(question)
        sender.send(_told(question, answering, Job(lambda job, q=question: answering.told(q, job), _report(sender, question))))


def _serve(channel: socket.socket, sender: Sender, forwarding: _Forwarding, answering: Answering) -> None:
    jobs: dict[int, Job[Told]] = {}
    threads = ThreadPoolExecutor(MAX_JOBS)

    def answer(question: Question, job: Job[Told]) -> None:
        told = _told(question, answering, job)
        jobs.pop(question.number, None)
        sender.send(told)

    for question in questions(channel):
        if question.stop:
            if (job := jobs.get(question.number)) is not None:
                threading.Thread(target=job.stop, daemon=True).start()
            continue
        forwarding.hear(question)
        job = jobs[question.number] = Job(lambda job, q=question: answering.told(q, job), _report(sender, question))
        threads.submit(answer, question, job)
    for job in [*jobs.values()]:
        job.stop()
    answering.close()
    for thread in threading.enumerate():  # a merge that is under way would bring the process down
        if thread.name == "keeper":
            thread.join()


def _told(question: Question, answering: Answering, job: Job[Told]) -> Told:
    try:
        return job.run()
    except Stopped:
        return Told(number=question.number, ended=True)
    except Passed:
        return Told(number=question.number, ended=True, passed=True)
    except Refused as refused:
        return Told(number=question.number, ended=True, refused=(refused.code, str(refused)))
    except Exception as error:
        return answering.failed(question, error)


def _report(sender: Sender, question: Question) -> Callable[[float, float, str], object] | None:
    if not question.wants_progress:
        return None
    return lambda reached, total, what: sender.send(Told(number=question.number, reached=reached, total=total, what=what))


class _Forwarding(logging.Handler):
    """Says what is logged here to those who want to be told, beside stderr."""

    def __init__(self, sender: Sender) -> None:
        super().__init__(logging.CRITICAL + 1)
        self._sender = sender
        for name in _OURS:
            logging.getLogger(name).addHandler(self)

    def hear(self, question: Question) -> None:
        wanted = question.log_level or logging.CRITICAL + 1
        if wanted != self.level:
            self.setLevel(wanted)
            for name in _OURS:
                logging.getLogger(name).setLevel(min(wanted, logging.WARNING))

    def emit(self, record: logging.LogRecord) -> None:
        said = one_line(record.getMessage())[:_MOST_LOG_CHARS]
        try:
            self._sender.send(Told(number=0, logged=(record.levelno, said, record.name)))
        except OSError:
            self.setLevel(logging.CRITICAL + 1)


def _end_with(life: int) -> None:
    os.read(life, 1)
    os._exit(0)


def _close_all_but(*kept: int) -> None:
    """What the process before has open, its clients' connections among it, is none of ours: held here it would outlive it there."""
    last = 2
    for number in sorted(kept):
        os.closerange(last + 1, number)
        last = number
    os.closerange(last + 1, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 1 << 16 else 1 << 16)
