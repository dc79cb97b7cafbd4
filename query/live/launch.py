"""How the server of a language is started for questions: what the table, the settings and the project say, as for a crawl."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from indexer import vcs
from indexer.config import Config
from indexer.crawl.plan.groups import group
from indexer.crawl.plan.launch import Launch as Start
from indexer.crawl.plan.launch import launch, sandbox_of
from indexer.crawl.units import PlannedDocument
from indexer.errors import ServerMissing, UsageError
from indexer.private_places import is_held
from indexer.servers.registry import FoundServer, language_of, languages_present, load_table
from indexer.servers.scripts import language_of_file
from indexer.store.generations import Home
from indexer.workspace import Folder, find_folders

log = logging.getLogger(__name__)

_THREADS = 4


@dataclass(frozen=True, kw_only=True)
class Launch:
    """All that a server needs to be started. `languages`: those of the workspace that it serves.

    overlays: looks anew at which texts it is to be told in place of those of files (`start.overlays` at its start).
    """

    found: FoundServer
    languages: list[str]
    folders: list[Folder]
    start: Start
    timeout_s: float
    memory_bytes: int
    trust: str
    sandbox: str
    overlays: Callable[[], Mapping[str, str]] = dict


class Launcher:
    """Knows how to start the servers of one workspace; looks at its files once."""

    def __init__(self, root: Path, config: Config, environment: Mapping[str, str]) -> None:
        self.root, self._environment = root, environment
        self.config = replace(config, scip=())  # a file that was made before knows nothing of a text that is being edited
        self.folders = find_folders(root, config.folders)
        self._paths: list[str] | None = None

    def language(self, path: str) -> str:
        """The language of a file of the workspace.

        Raises:
            UsageError: no language of the server table.
        """
        language = language_of_file(self.root, path) or language_of(path, languages_present(self._listed()))
        if not language:
            raise UsageError(f"'{path}' is in no language that lspidx knows a server for; to see which: lspidx servers list")
        return language

    def known(self, language: str) -> str:
        """A language as the server table calls it, by its name or by what LSP calls it.

        Raises:
            UsageError: there is none.
        """
        table = load_table().language
        for name, spec in table.items():
            if language == name or language in spec.ids.values():
                return name
        raise UsageError(f"no language is called '{language}'; known: {', '.join(table)}")

    def languages(self) -> list[str]:
        """The languages of the workspace that a server could serve, those of most files first."""
        counts = Counter(language_of(path) for path in self._listed())
        return [language for language, _ in counts.most_common() if language and load_table().language[language].crawl == "full"]

    def a_document(self, language: str) -> str:
        """Absolute path of some file of a language, or nothing."""
        return next((str(self.root / path) for path in self._listed() if language_of(path) == language), "")

    def launch(self, language: str) -> Launch:
        """How the server of a language is started.

        Raises:
            ServerMissing: none is on this machine, or the language is switched off.
        """
        self._paths = None  # files may have come since
        documents = self._documents(language)
        grouping = group(self.folders, self._listed(), documents, self.config, self._environment)
        item = next((item for item in grouping.groups if language in item.server.spec.languages and item.server.command), None)
        if item is None:
            raise ServerMissing(grouping.missing.get(language, f"no server is used for {language} here: its setting says 'none'"))
        home = Home(self.root)
        home.create()
        spec, own = item.server.spec, item.settings
        threads = min(_THREADS, os.cpu_count() or 1)
        start = launch(item, home, self.folders, self.config, threads=threads, note=log.warning, caller=self._environment, live=True)
        return Launch(
            found=item.server,
            languages=[name for name in spec.languages if name in item.languages] or [language],
            folders=self.folders,
            start=start,
            timeout_s=own.timeout_s or self.config.request_timeout_s or spec.timeout_s,
            memory_bytes=(own.memory_mb or self.config.server_memory_mb or _whole_memory_mb(item.server)) * 1_000_000,
            trust=str(self.config.trust),
            sandbox=sandbox_of(self.config.trust),
            overlays=lambda: self.launch(language).start.overlays,
        )

    def _listed(self) -> list[str]:
        if self._paths is None:
            self._paths = [
                folder.prefix + path for folder in self.folders for path in vcs.list_files(folder.path) if is_held(str(folder.path), path)
            ]
        return self._paths

    def _documents(self, language: str) -> list[PlannedDocument]:
        """The files of the languages that one server serves together with this one."""
        together = {name for spec in load_table().server.values() if language in spec.languages for name in spec.languages}
        present = languages_present(self._listed())
        documents = [
            PlannedDocument(path=path, language=found, digest="", size_bytes=0)
            for path in self._listed()
            if (found := language_of_file(self.root, path, present)) in together
        ]
        return documents or [PlannedDocument(path=f"none.{language}", language=language, digest="", size_bytes=0)]


def _whole_memory_mb(found: FoundServer) -> int:
    """The table's figure is one of several servers' share where a crawl may cut the project; here one server has all of it."""
    return found.spec.memory_mb * (4 if found.spec.split else 1)
