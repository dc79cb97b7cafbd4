"""The running servers of one workspace, in this process: started when first asked, replaced when they fall, ended with it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from indexer.config import Config, load_config
from indexer.drive.socket import ServerSocket
from indexer.errors import ServerError, ServerMissing, ServerTimeout, UsageError
from indexer.store.generations import Home
from query.live.launch import Launcher
from query.live.running import Running
from query.live.servers import Diagnosis, Reply, ServerInfo

log = logging.getLogger(__name__)


class Host:
    """Implements `Servers`. Any number of threads may ask; the servers are asked one question at a time."""

    def __init__(self, root: Path, config: Config | None = None, environment: Mapping[str, str] | None = None) -> None:
        self.root = root
        self._environment = os.environ if environment is None else environment
        self._config = config
        self._launcher: Launcher | None = None
        self._running: dict[str, Running] = {}  # by language; several may lead to one server
        self._restarts: dict[str, int] = {}
        self._lock = threading.RLock()

    # ---- the Servers protocol

    def ask(self, path: str, method: str, params: Any, *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Reply:
        with self._lock:
            texts = self._absolute(overlay)
            return self._try(path, lambda server, warm: server.ask(self._place(path), method, params, texts, timeout_s, warm=warm))

    def diagnose(self, paths: Sequence[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
        if not paths:
            raise UsageError("name a document whose diagnostics are wanted")
        with self._lock:
            texts, places = self._absolute(overlay), [self._place(path) for path in paths]
            return self._try(paths[0], lambda server, warm: server.diagnose(places, texts, timeout_s, warm=warm))

    def info(self, path: str) -> ServerInfo:
        with self._lock:
            return self._server(path)[0].info()

    def close(self) -> None:
        with self._lock:
            for server in self._all():
                server.close()
            self._running.clear()

    # ---- what else a session asks for

    def running(self) -> list[ServerInfo]:
        """The servers that run now."""
        with self._lock:
            return [server.info() for server in self._all()]

    def start(self, language: str = "", connect: str = "", ready_timeout_s: float = 0.0) -> list[ServerInfo]:
        """Starts the servers of a language, or of all languages of the workspace; ends those that ran for it before.

        Args:
            connect: HOST:PORT of a running server, taken instead of starting one; `language` says whose.
            ready_timeout_s: how long to wait until each has loaded the workspace.
        Raises:
            ServerMissing: none is here for the language, or for none of the languages. UsageError: an unknown language.
        """
        with self._lock:
            launcher = self._look()
            wanted = [launcher.known(language)] if language else launcher.languages()
            if connect and not language:
                raise UsageError("say for which language the server at this address is: language_id")
            started: dict[int, ServerInfo] = {}
            missing: list[ServerMissing] = []
            for name in wanted:
                if name in self._running and any(self._running[name].info().entry == info.entry for info in started.values()):
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

    def restart(self) -> list[ServerInfo]:
        """Ends and starts all that run.

        Raises:
            UsageError: none does.
        """
        with self._lock:
            languages = list({id(server): language for language, server in self._running.items()}.values())
            if not languages:
                raise UsageError("no language server runs here; start_lsp starts one")
            self._launcher = None
            return [self._again(language).info() for language in languages]

    def open_document(self, path: str) -> ServerInfo:
        with self._lock:
            server, _ = self._server(path)
            server.open(self._place(path))
            return server.info()

    def close_document(self, path: str) -> bool:
        """Whether it was open."""
        with self._lock:
            server = self._running.get(self._look().language(path))
            return server is not None and server.close_document(self._place(path))

    def changed_files(self, changes: Sequence[Mapping[str, Any]]) -> int:
        """Tells every running server of changed files (`uri`, `type`); returns how many servers were told."""
        with self._lock:
            servers = self._all()
            for server in servers:
                server.notify("workspace/didChangeWatchedFiles", {"changes": list(changes)})
            return len(servers)

    def set_log_level(self, level: str) -> None:
        for name in ("indexer", "query"):
            logging.getLogger(name).setLevel(level.upper())

    # ---- inside

    def _look(self) -> Launcher:
        if self._launcher is None:
            home = Home(self.root)
            config = self._config or load_config(self.root, remembered=home.flags(), environment=self._environment)
            self._launcher = Launcher(self.root, config, self._environment)
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
        server = Running(launch, connection)
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

    def _again(self, language: str) -> Running:
        self._end(language, polite=False)
        self._restarts[language] = self._restarts.get(language, 0) + 1
        return self._start(language)

    def _try(self, path: str, question: Any) -> Any:
        """Asks; a server that falls over it is replaced, and asked once more."""
        server, warm = self._server(path)
        try:
            return question(server, warm)
        except ServerTimeout:
            raise  # it may answer the next one
        except ServerError as error:
            log.warning("live server failed: %s", error)
            server = self._again(self._look().language(path))
            return question(server, False)
