"""The processes that answer: forked when a question needs one, ended when the question is cancelled or they have had nothing to do.

The process that forks them opens no database and has no threads, and hands out questions only. So a question takes a processor of its own,
and one that is cancelled costs nothing any more, whatever it was at.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import NoReturn

import msgspec

from indexer.errors import ServerCrashed
from query.mcp.frames import Question, Received, Sender, Told

MOST_READERS, _MORE = 16, 4
"""How many there may be at once: one for each processor, and more where all are at long ones."""
_COLD_S = 0.1
"""A new reader has to open the index, and answers its first question half as fast: dozens of short ones are answered in that time."""
_PATIENCE_S = 1.0
"""Where no reader has answered for so long, all are at something long."""
_IDLE_S = 60.0
"""A reader that was asked nothing for so long ends, but for one."""
_PIECE_BYTES = 1 << 18
_ENDS_S = 30.0
_STEP_S = 0.01

Run = Callable[[socket.socket, int, bool], NoReturn]
"""What a forked process does: its end of the channel, the pipe that tells that we are gone, and whether it is a reader."""
OnTold = Callable[[Told], None]


class Workers:
    """All of a server. Used from its event loop alone."""

    def __init__(self, run: Run, logged: Callable[[int, str, str], None]) -> None:
        """`logged`: told what the processes log, of which somebody wants to be told."""
        self._run, self._logged = run, logged
        self._life: tuple[int, ...] = os.pipe()
        self._readers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._wanted: deque[asyncio.Future[_Worker]] = deque()
        self._home: _Worker | None = None
        self._free = asyncio.Semaphore(min(MOST_READERS, os.cpu_count() or 1))
        self._more = asyncio.Semaphore(_MORE)
        self._number = self._epoch = 0
        self._answered_at = 0.0

    async def read(self, question: Question, progress: OnTold) -> Told:
        """By a reader; the one that answered last comes first, for it knows most. Cancelled, its process is ended.

        Raises:
            ServerCrashed: it has ended by itself.
        """
        taken = await self._turn()
        try:
            worker = await self._reader()
            try:
                told = await worker.ask(self._numbered(question), progress)
            except BaseException:
                self._end(worker)
                raise
            self._answered_at = time.monotonic()
            self._rest(worker)
            return told
        finally:
            taken.release()

    async def _reader(self) -> _Worker:
        """The one that answered last; where all are busy the first that is not any more, for most questions are short, or a new one."""
        if self._idle:
            return self._idle.pop()
        if not self._readers:
            return self._forked(reads=True)
        coming: asyncio.Future[_Worker] = asyncio.get_running_loop().create_future()
        self._wanted.append(coming)
        try:
            await asyncio.wait([coming], timeout=_COLD_S)
        except asyncio.CancelledError:
            if coming.done():
                self._rest(coming.result())
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._wanted.remove(coming)
        if not coming.done():
            return self._forked(reads=True)
        worker = coming.result()
        return self._forked(reads=True) if worker.is_gone else worker

    def _rest(self, worker: _Worker) -> None:
        """Gives a reader to who waits for one."""
        if worker.epoch != self._epoch:
            self._end(worker)
            return
        worker.idle_since = time.monotonic()
        if self._wanted:
            self._wanted.popleft().set_result(worker)
            return
        self._idle.append(worker)
        asyncio.get_running_loop().call_later(_IDLE_S + 1, self._end_idle)

    async def _turn(self) -> asyncio.Semaphore:
        """What is to be released when the question is answered."""
        acquiring = asyncio.ensure_future(self._free.acquire())
        try:
            while not (await asyncio.wait([acquiring], timeout=_PATIENCE_S))[0]:
                if time.monotonic() - self._answered_at > _PATIENCE_S and not self._more.locked():
                    await self._more.acquire()
                    acquiring.cancel()
                    return self._more
        except asyncio.CancelledError:
            if not acquiring.cancel():
                self._free.release()
            raise
        return self._free

    async def ask(self, question: Question, progress: OnTold) -> Told:
        """By the home, beside whatever else it is asked. Cancelled, the question is ended there at its next step, which is waited for.

        Raises:
            ServerCrashed: it has ended by itself.
        """
        if self._home is None or self._home.is_gone:
            self._home = self._forked(reads=False)
        home, numbered = self._home, self._numbered(question)
        asking = asyncio.ensure_future(home.ask(numbered, progress))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if not home.is_gone:
                home.stop(numbered)
                await asyncio.wait([asking])
            with contextlib.suppress(BaseException):
                asking.exception()
            raise

    def end_readers(self) -> None:
        """Now, or when they have answered: the next questions are about something else."""
        self._epoch += 1
        for worker in [*self._idle]:
            self._end(worker)

    async def close(self) -> None:
        """Ends all: readers at once, the home when it has ended what it is at."""
        for worker in [*self._readers]:
            self._end(worker)
        if self._home is not None:
            home, self._home = self._home, None
            home.close()
            until = time.monotonic() + _ENDS_S
            while not home.has_ended() and time.monotonic() < until:
                await asyncio.sleep(_STEP_S)
        ends, self._life = self._life, ()
        for end in ends:
            os.close(end)

    def _numbered(self, question: Question) -> Question:
        self._number += 1
        return msgspec.structs.replace(question, number=self._number)

    def _forked(self, *, reads: bool) -> _Worker:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            self._run(theirs, self._life[0], reads)
        theirs.close()
        worker = _Worker(pid, ours, self._epoch, self._logged)
        if reads:
            self._readers.append(worker)
        return worker

    def _end(self, worker: _Worker) -> None:
        for those in (self._readers, self._idle):
            with contextlib.suppress(ValueError):
                those.remove(worker)
        worker.kill()

    def _end_idle(self) -> None:
        before = time.monotonic() - _IDLE_S
        for worker in [worker for worker in self._idle[:-1] if worker.idle_since < before]:
            self._end(worker)


class _Worker:
    """One process, seen from here."""

    def __init__(self, pid: int, channel: socket.socket, epoch: int, logged: Callable[[int, str, str], None]) -> None:
        self.pid, self.epoch, self.idle_since, self.is_gone = pid, epoch, 0.0, False
        self._status: int | None = None
        self._channel, self._logged = channel, logged
        self._sender, self._received = Sender(channel), Received()
        self._waiting: dict[int, tuple[asyncio.Future[Told], OnTold]] = {}
        self._decoder = msgspec.json.Decoder(Told)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(channel.fileno(), self._read)

    async def ask(self, question: Question, progress: OnTold) -> Told:
        future: asyncio.Future[Told] = self._loop.create_future()
        self._waiting[question.number] = (future, progress)
        try:
            self._send(question)
            return await future
        finally:
            self._waiting.pop(question.number, None)

    def stop(self, question: Question) -> None:
        with contextlib.suppress(ServerCrashed):
            self._send(Question(number=question.number, stop=True))

    def close(self) -> None:
        """The other end sees that nobody asks any more."""
        if not self.is_gone:
            self.is_gone = True
            self._loop.remove_reader(self._channel.fileno())
            self._channel.close()
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(ServerCrashed(f"the process that was to answer has ended{self._how()}; ask again"))

    def kill(self) -> None:
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            self._wait(0)
        self.close()

    def has_ended(self) -> bool:
        return self._wait(os.WNOHANG)

    def _wait(self, how: int) -> bool:
        """Whether it has ended; its number is nobody's until it was waited for."""
        if self._status is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, how)
                if not pid:
                    return False
                self._status = os.waitstatus_to_exitcode(status)
                return True
            self._status = -1
        return True

    def _how(self) -> str:
        return f" with status {self._status}" if self.has_ended() else ""

    def _send(self, question: Question) -> None:
        try:
            self._sender.send(question)
        except OSError as error:
            self.close()
            raise ServerCrashed(f"the process that was to answer has ended{self._how()}; ask again") from error

    def _read(self) -> None:
        try:
            piece = self._channel.recv(_PIECE_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._wait(0)  # nothing but its end closes it
            self.close()
            return
        for frame in self._received.add(piece):
            self._take(self._decoder.decode(frame))

    def _take(self, told: Told) -> None:
        if told.logged is not None:
            self._logged(*told.logged)
            return
        future, progress = self._waiting.get(told.number, (None, None))
        if future is None or progress is None or future.done():
            return
        if told.ended:
            future.set_result(told)
        else:
            progress(told)
