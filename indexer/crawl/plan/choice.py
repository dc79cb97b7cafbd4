"""Which server is asked about the documents of a language, and which one instead where that one does not answer for some (ADR 0133)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from indexer.config import Config
from indexer.crawl.plan.scip_files import is_file_of_scip, unanswered
from indexer.crawl.units import PlannedDocument
from indexer.errors import ServerMissing
from indexer.model import Trust
from indexer.servers.registry import FoundServer, find_server, load_table
from indexer.servers.trust import at_level
from indexer.workspace import Folder


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A document that its server has lost and another one has answered for.

    digest: of its text then. after: fingerprint of the server that has lost it. server: name of the one that has answered.
    """

    digest: str
    after: str
    server: str


def taken_in(manifest: Mapping[str, Any]) -> Mapping[str, Taken]:
    """By path, as the manifest of an index has it under `taken`; empty where it has nothing that can be read."""
    try:
        return msgspec.convert(manifest.get("taken", {}), dict[str, Taken])
    except msgspec.ValidationError:
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Chooses servers for one workspace. `paths`: all of its files, relative to the root."""

    config: Config
    folders: Sequence[Folder]
    paths: Sequence[str]

    def first(self, language: str) -> FoundServer | None:
        """The configured server of a language, else the first of its servers that is here and may be started at the level of trust.

        None where the language is switched off.

        Raises:
            ServerMissing: there is none; the message is about the first.
        """
        wanted = self._wanted(language)
        if wanted == "none":
            return None
        if wanted:
            return self._find(wanted)
        return self._first_of(language, load_table().language[language].servers)

    def after(self, language: str, lost: FoundServer, known: Collection[str] = ()) -> FoundServer | None:
        """The next in the table's line, where a server has lost documents of a language; None where no further one is here.

        After a file of SCIP that is the language's own server. A server that somebody has asked for by its name has none after it.

        Args:
            known: names of those that were asked before.
        """
        line = load_table().language[language].servers
        if is_file_of_scip(lost):
            wanted = self._wanted(language)
            line = [wanted] if wanted else line
        elif self._wanted(language):
            return None
        name = lost.spec.name
        behind = line[line.index(name) + 1 :] if name in line else line
        try:
            found = self._first_of(language, [one for one in behind if one != "none" and one not in known])
        except ServerMissing:
            return None
        return found if found.spec.name != name else None

    def of_taken(
        self, servers: Mapping[str, FoundServer], documents: Sequence[PlannedDocument], taken: Mapping[str, Taken]
    ) -> dict[str, FoundServer]:
        """By path the server that has answered for a document that its own has lost, as long as neither that nor the text is another.

        Args:
            servers: by language.
        """
        found: dict[str, FoundServer] = {}
        here: dict[str, FoundServer | None] = {}
        for document in documents:
            entry, own = taken.get(document.path), servers.get(document.language)
            if entry is None or own is None or (entry.digest, entry.after) != (document.digest, own.fingerprint):
                continue
            if entry.server not in load_table().server or document.language not in load_table().server[entry.server].languages:
                continue
            if entry.server not in here:
                try:
                    here[entry.server] = self._find(entry.server)
                except ServerMissing:
                    here[entry.server] = None
            server = here[entry.server]
            if server is not None:
                found[document.path] = server
        return found

    def beside_scip(
        self, servers: Mapping[str, FoundServer], documents: Sequence[PlannedDocument]
    ) -> tuple[dict[str, FoundServer], list[str]]:
        """By path the server that is asked where a file of SCIP does not answer for a document, if there is one; and what to say of it.

        Args:
            servers: by language.
        """
        found: dict[str, FoundServer] = {}
        notes: list[str] = []
        for language, server in servers.items():
            if not is_file_of_scip(server):
                continue
            members = [item.path for item in documents if item.language == language]
            left = unanswered(server, self.folders[0].path, members)
            if not left:
                continue
            said = f"{len(left)} of {len(members)} {language} files are not as {server.spec.name} has read them, or lead into such"
            try:
                instead = self.first(language)
            except ServerMissing as error:
                notes.append(f"{said}; they are a gap: {error}")
                continue
            if instead is not None:
                notes.append(f"{said}; {instead.spec.name} is asked about these")
                found |= dict.fromkeys(left, instead)
        return found, notes

    def _wanted(self, language: str) -> str:
        """The server that somebody has asked for; empty where the table decides."""
        wanted = self.config.of_language(language).server
        if not wanted and self.config.server and language in find_spec_languages(self.config.server):
            wanted = self.config.server
        return wanted

    def _first_of(self, language: str, names: Sequence[str]) -> FoundServer:
        first: ServerMissing | None = None
        for name in names:
            try:
                return self._find(name)
            except ServerMissing as error:
                first = first or error
        raise first or ServerMissing(f"no server is known for {language}")

    def _find(self, name: str) -> FoundServer:
        places = [folder.path for folder in self.folders]
        avoid = [] if self.config.trust is Trust.FULL else [str(place) for place in places]
        return at_level(find_server(name, avoid), self.config.trust, places, self.paths)


def find_spec_languages(server: str) -> list[str]:
    """Languages of an entry of the server table; an unknown name has none here, and is refused where it is used."""
    spec = load_table().server.get(server)
    return list(spec.languages) if spec is not None else list(load_table().language)
