"""The running servers of one workspace, in this process: started when first asked, replaced when they fall, ended with it."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from indexer.config import load_config, setting_files
from indexer.consent import allowed_folders
from indexer.drive.socket import ServerSocket
from indexer.errors import ServerCrashed, ServerError, ServerMissing, ServerTimeout, UsageError
from indexer.lsp import methods
from indexer.store.generations import Home
from query.context import Definitions, Diagnosis, Reply, ServerInfo
from query.live.launch import Launcher
from query.live.running import Running

log = logging.getLogger(__name__)

T = TypeVar("T")


class Host:
    """Implements `Servers`. Any number of threads may ask; the servers are asked one question at a time.

    All of it is done on one thread of its own: the kernel ends a server when the thread that started it ends, and whoever asks may be
    on a thread that ends with the question.
    """

    def __init__(self, root: Path, *, flags: Mapping[str, Any] = {}, environment: Mapping[str, str] | None = None) -> None:
        """`flags`: settings as from the command line, on top of those of user and project."""
        self.root = root
        self._environment = os.environ if environment is None else environment
        self._flags = dict(flags)
        self._settings: tuple[object, ...] = ()
        self._launcher: Launcher | None = None
        self._running: dict[str, Running] = {}  # by language; several may lead to one server
        self._restarts: dict[str, int] = {}
        self._closing = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="servers")

    # ---- the Servers protocol

    def ask(
        self, path: str, method: str, params: Any, *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0, follow_up: bool = False
    ) -> Reply:
        texts, place = self._absolute(overlay), self._place(path)
        return self._do(
            lambda: self._try(
                path, lambda server, warm: server.ask(place, method, params, texts, timeout_s, warm=warm, follow_up=follow_up)
            )
        )

    def definitions(self, places: Sequence[tuple[str, int, int]], budget_s: float) -> Definitions:
        if not places:
            return Definitions(found=[], refused=0, elapsed_ms=0)
        asked, until = [(self._place(path), line, col) for path, line, col in places], time.monotonic() + budget_s
        return self._do(lambda: self._try(places[0][0], lambda server, warm: server.definitions(asked, until, warm=warm)))

    def diagnose(self, paths: Sequence[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
        if not paths:
            raise UsageError("name a document whose diagnostics are wanted")
        texts, places = self._absolute(overlay), [self._place(path) for path in paths]
        return self._do(lambda: self._try(paths[0], lambda server, warm: server.diagnose(places, texts, timeout_s, warm=warm)))

    def info(self, path: str) -> ServerInfo:
        return self._do(lambda: self._server(path)[0].info())

    def running(self) -> list[ServerInfo]:
        return self._do(lambda: [server.info() for server in self._all()])

    def start(self, language: str = "", connect: str = "", ready_timeout_s: float = 0.0) -> list[ServerInfo]:
        if connect and not language:
            raise UsageError("say for which language the server at this address is: language_id")
        return self._do(lambda: self._start_all(language, connect, ready_timeout_s))

    def restart(self) -> list[ServerInfo]:
        return self._do(self._restart_all)

    def open_document(self, path: str) -> ServerInfo:
        def work() -> ServerInfo:
            server, _ = self._server(path)
            server.open(self._place(path))
            return server.info()

        return self._do(work)

    def close_document(self, path: str) -> bool:
        def work() -> bool:
            server = self._running.get(self._look().language(path))
            return server is not None and server.close_document(self._place(path))

        return self._do(work)

    def changed_files(self, changes: Sequence[Mapping[str, Any]]) -> int:
        def work() -> int:
            for server in self._all():
                server.notify(methods.WORKSPACE_DID_CHANGE_WATCHED_FILES, {"changes": list(changes)})
            return len(self._all())

        return self._do(work)

    def set_log_level(self, level: str) -> None:
        for name in ("indexer", "query"):
            logging.getLogger(name).setLevel(level.upper())

    def close(self) -> None:
        """Ends all servers, also one that is being asked; no question can be asked afterwards."""
        self._closing = True

        def work() -> None:
            for server in self._all():
                server.close()
            self._running.clear()

        with contextlib.suppress(RuntimeError):  # closed already
            self._thread.submit(work).result()
        self._thread.shutdown()

    # ---- inside, all on the one thread

    def _do(self, work: Callable[[], T]) -> T:
        def unless_closing() -> T:
            self._go_on()
            return work()

        try:
            return self._thread.submit(unless_closing).result()
        except RuntimeError:
            self._go_on()
            raise

    def _go_on(self) -> None:
        if self._closing:
            raise ServerCrashed("the language servers of this workspace are being ended; ask again")

    def _start_all(self, language: str, connect: str, ready_timeout_s: float) -> list[ServerInfo]:
        launcher = self._look()
        started: dict[int, ServerInfo] = {}
        missing: list[ServerMissing] = []
        for name in [launcher.known(language)] if language else launcher.languages():
            if id(self._running.get(name)) in started:  # it serves this language too
                continue
            self._end(name)
            try:
                server = self._start(name, ServerSocket(connect) if connect else None)
            except ServerMissing as error:
                missing.append(error)
                continue
            if ready_timeout_s:
                server.await_ready(launcher.a_document(name), ready_timeout_s)
            started[id(server)] = server.info()
        if missing and not started:
            raise missing[0]
        return list(started.values())

    def _restart_all(self) -> list[ServerInfo]:
        languages = list({id(server): language for language, server in self._running.items()}.values())
        if not languages:
            raise UsageError("no language server runs here; start_lsp starts one")
        for server in self._all():
            self._fallen(server)
        self._launcher = None
        return [self._start(language).info() for language in languages]

    def _look(self) -> Launcher:
        """How servers are started here, as the settings say now; those that ran under others are ended."""
        settings = (*(_stamp(path) for path in setting_files(self.root, self._environment)), tuple(allowed_folders(self.root)))
        if self._launcher is None or settings != self._settings:
            for server in self._all():
                server.close()
            self._running.clear()
            config = load_config(self.root, flags=self._flags, remembered=Home(self.root).flags(), environment=self._environment)
            self._launcher = Launcher(self.root, config, self._environment)
            self._settings = settings
        return self._launcher

    def _all(self) -> list[Running]:
        return list({id(server): server for server in self._running.values()}.values())

    def _place(self, path: str) -> str:
        """Absolute; a path of the index is relative to the root."""
        return os.path.normpath(os.path.join(self.root, path)) if path else ""

    def _absolute(self, overlay: Mapping[str, str]) -> dict[str, str]:
        return {self._place(path): text for path, text in overlay.items()}

    def _server(self, path: str) -> tuple[Running, bool]:
        """The server of a path's language, and whether it ran already."""
        language = self._look().language(path)
        running = self._running.get(language)
        if running is not None:
            return running, True
        return self._start(language), False

    def _start(self, language: str, connection: ServerSocket | None = None) -> Running:
        began = time.monotonic()
        launch = self._look().launch(language)
        for other, server in self._running.items():
            if server.launch.found.spec.name == launch.found.spec.name and connection is None and other != language:
                self._running[language] = server
                return server
        self._go_on()
        server = Running(launch, connection, given_up=lambda: self._closing)
        server.restarts = self._restarts.get(language, 0)
        for name in {language, *launch.languages}:
            self._running[name] = server
        log.info("live server started: name=%s seconds=%.2f", launch.found.spec.name, time.monotonic() - began)
        return server

    def _end(self, language: str, *, polite: bool = True) -> None:
        server = self._running.get(language)
        if server is not None:
            self._running = {name: other for name, other in self._running.items() if other is not server}
            server.close(polite=polite)

    def _fallen(self, server: Running) -> None:
        """Ends a server that is of no use; the next one of its languages counts as its restart."""
        for language in [name for name, other in self._running.items() if other is server]:
            self._restarts[language] = self._restarts.get(language, 0) + 1
            del self._running[language]
        server.close(polite=False)

    def _try(self, path: str, question: Any) -> Any:
        """Asks; a server that falls over it is replaced, and asked once more."""
        server, warm = self._server(path)
        try:
            return question(server, warm)
        except ServerTimeout:
            raise  # it may answer the next one
        except ServerError as error:
            log.warning("live server failed: %s", error)
            self._fallen(server)
            server, _ = self._server(path)
            try:
                return question(server, False)
            except ServerTimeout:
                raise
            except ServerError:
                self._fallen(server)  # it may have taken all memory by now, or talk without end
                raise
        finally:
            if server.is_hung:
                log.warning("live server hangs: name=%s", server.launch.found.spec.name)
                self._fallen(server)


def _stamp(path: Path) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
