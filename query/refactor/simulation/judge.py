"""What running servers say of documents with texts that are in memory. Each question tells all of its texts, so none is left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from indexer.errors import ServerMissing, ServerTimeout, UsageError
from indexer.servers.registry import language_of, load_table
from query.answers.diagnostic import Diagnostic, from_server
from query.answers.envelope import Reason
from query.context import ServerInfo, Servers
from query.live.replies import diagnostics_of, left_out


@dataclass(kw_only=True)
class Said:
    """By path. `unsettled`: nothing came in time; `unjudged`: nobody can judge it, and why; `unreadable`: diagnostics of another form."""

    diagnostics: dict[str, list[Diagnostic]] = field(default_factory=dict[str, list[Diagnostic]])
    unsettled: list[str] = field(default_factory=list[str])
    unjudged: dict[str, str] = field(default_factory=dict[str, str])
    unreadable: list[Reason] = field(default_factory=list[Reason])
    servers: list[ServerInfo] = field(default_factory=list[ServerInfo])
    elapsed_ms: int = 0

    @property
    def all(self) -> list[Diagnostic]:
        return [item for items in self.diagnostics.values() for item in items]


class Judge:
    """Asks about any number of texts; which server a document belongs to is found out once."""

    def __init__(self, servers: Servers, timeout_s: float) -> None:
        self._servers, self._timeout_s = servers, timeout_s
        self._of: dict[str, ServerInfo | str] = {}

    def ask(self, paths: Sequence[str], texts: Mapping[str, str]) -> Said:
        """Diagnostics of `paths`, where documents of `texts` have these texts and all others are as on disk.

        Raises:
            ServerError: a server fell, and fell again; UsageError: a document cannot be read.
        """
        said = Said()
        groups: dict[str, tuple[ServerInfo, list[str]]] = {}
        for path in paths:
            server = self._server(path)
            if isinstance(server, str):
                said.unjudged[path] = server
            else:
                groups.setdefault(server.entry, (server, []))[1].append(path)
        for entry, (server, of_server) in groups.items():
            overlay = {path: text for path, text in texts.items() if self._entry(path) == entry}
            try:
                found = self._servers.diagnose(of_server, overlay=overlay, timeout_s=self._timeout_s)
            except ServerTimeout:
                said.unsettled.extend(of_server)
                said.servers.append(server)
                said.elapsed_ms += int(self._timeout_s * 1000)
                continue
            said.elapsed_ms += found.elapsed_ms
            said.servers.append(found.server)
            said.unsettled.extend(path for path in of_server if path in found.unsettled or path not in found.diagnostics)
            for path in of_server:
                if path in found.diagnostics:
                    known = diagnostics_of(found, path)
                    said.diagnostics[path] = [from_server(path, item) for item in known.records]
                    said.unreadable += left_out(known.others, f"diagnostics of '{path}'", found.server)
        return said

    def _entry(self, path: str) -> str:
        server = self._server(path)
        return "" if isinstance(server, str) else server.entry

    def _server(self, path: str) -> ServerInfo | str:
        """The server of a document, or why nobody judges it."""
        key = language_of(path) or path
        if key not in self._of:
            self._of[key] = self._look(path)
        return self._of[key]

    def _look(self, path: str) -> ServerInfo | str:
        try:
            info = self._servers.info(path)
        except (UsageError, ServerMissing) as error:
            return str(error)
        spec = load_table().server.get(info.entry)
        if spec is not None and spec.diagnostics == "none":
            return f"{info.name or info.entry} gives no diagnostics"
        return info
