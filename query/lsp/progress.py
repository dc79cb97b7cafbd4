"""What happens to the index behind the requests: shown in the editor, and followed by word that answers are others now."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from indexer.lsp import methods
from query.lsp.asking import Desk
from query.lsp.rooms import Room

_STEP_S = 0.25
_NAME = "lspidx/{number}"
"""Of a piece of work, as the client is told it."""

_PERCENT = 100


class Progress:
    """Of one client. A thread watches a folder while its index is made, and no longer."""

    def __init__(self, desk: Desk, when_done: Callable[[], None]) -> None:
        """`when_done`: an index was made, on the thread that has watched."""
        self._desk, self._when_done = desk, when_done
        self._lock = threading.Lock()
        self._watched: set[Room] = set()
        self._number = 0

    def look(self, room: Room) -> None:
        """Begins to watch a folder if its index is being made and nobody watches."""
        if room.service.making is None and not room.service.is_refreshing:
            return
        with self._lock:
            if room in self._watched:
                return
            self._watched.add(room)
            self._number += 1
            number = self._number
        threading.Thread(target=self._watch, args=(room, number), name=f"progress-{number}", daemon=True).start()

    def _watch(self, room: Room, number: int) -> None:
        token = _NAME.format(number=number)
        generation = _generation(room)
        is_first = room.service.making is not None
        shows = is_first and self._desk.shows_progress
        if shows:
            self._desk.wire.request(methods.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": token})
            self._tell(token, {"kind": "begin", "title": "lspidx", "message": "indexing", "percentage": 0})
        try:
            while (room.service.making is not None or room.service.is_refreshing) and not self._desk.wire.is_gone:
                making = room.service.making
                if shows and making is not None:
                    now = making.making()
                    share = _PERCENT * now.done // now.total if now.total else 0
                    self._tell(token, {"kind": "report", "message": now.sentence, "percentage": share})
                time.sleep(_STEP_S)
        finally:
            with self._lock:
                self._watched.discard(room)
            if shows:
                self._tell(token, {"kind": "end", "message": "indexed"})
        if _generation(room) != generation:
            for method in self._desk.refreshes:
                self._desk.wire.request(method, None)
            self._when_done()

    def _tell(self, token: str, value: dict[str, object]) -> None:
        self._desk.wire.notify(methods.PROGRESS, {"token": token, "value": value})


def _generation(room: Room) -> str:
    index = room.index
    return "" if index is None else str(index.generation)
