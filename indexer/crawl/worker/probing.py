"""Whether a server that says that it is ready, or says nothing, really is: it is asked for something that it must know."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from indexer.crawl import methods
from indexer.crawl.messages import Setup
from indexer.crawl.worker import harvest
from indexer.crawl.worker.answers import Reader
from indexer.crawl.worker.document import Document
from indexer.crawl.worker.packages import STANDARD_PACKAGES
from indexer.crawl.worker.questions import POSITION
from indexer.crawl.worker.reading import Sources, open_document
from indexer.drive.conversation import Conversation
from indexer.drive.readiness import probe_candidates
from indexer.errors import ServerNotReady, ServerProtocolError, ServerTimeout
from indexer.lsp import decode
from indexer.lsp.session import Answer, Notification
from indexer.lsp.uri import path_to_uri
from indexer.syntax import python as python_syntax

_NAME = "__lspidx_probe__.py"
_A_MODULE = 'types.ModuleType("").'
"""What has the names that every module has of itself; of one that is named servers do not tell them."""

_ATTEMPTS = 20
_LOOKS = 200
_DOCUMENTS = 3
_WIDEN_AFTER = 4  # attempts, about a second and a half
_ELSEWHERE = 6
_MOST_TORN = 4 * _DOCUMENTS
_READ_AHEAD = 8_000  # tokens; what is read while a server loads is kept until it is asked about


class Probe(NamedTuple):
    """A document and tokens in it of which a ready server can place at least one."""

    document: Document
    tokens: list[int]

    @property
    def is_torn(self) -> bool:
        """Whether text in it was skipped when it was parsed, as where a merge has left its marks: a server may know none of its names."""
        return self.document.syntax is not None and bool(self.document.syntax.error_lines)


class Probing:
    """Probes the servers of one unit after the other."""

    def __init__(self, setup: Setup, sources: Sources, reader: Reader) -> None:
        self._setup, self._sources, self._reader = setup, sources, reader
        self._documents: Sequence[Document] = ()
        self._crashes = 0  # servers of this unit that went down while they were probed

    def begin(self, documents: Sequence[Document]) -> None:
        """These are crawled next."""
        self._documents, self._crashes = documents, 0

    def wake(self, talk: Conversation) -> set[int]:
        """Asks a first question; some servers load the project only then, and do so while we read what to probe them with."""
        if not talk.session.supports("documentSymbolProvider"):
            return set()
        first = next((document for document in self._documents if self._may_be_asked(document)), None)
        if first is None:
            return set()
        params = b'{"textDocument":{"uri":%b}}' % first.uri_json
        return {talk.session.request(methods.DOCUMENT_SYMBOL.encode(), params)}

    def _may_be_asked(self, document: Document) -> bool:
        """Reads it, if that has not been done; not, where it is nested too deeply."""
        if document.syntax is None:
            self._sources.read(document)
        most = self._setup.limits.file_depth
        return not (most and document.syntax is not None and document.syntax.depth > most)

    def probes(self) -> list[Probe]:
        """Documents of the unit in which there is something to ask about; none where no document has such."""
        own = [Document(item.planned, self._setup.root) if item.is_over else item for item in self._documents[:_LOOKS]]
        probes = self._with_candidates(own, _DOCUMENTS)
        if self._crashes:  # one of them may be to blame: each alone then, and none where they have all been tried
            return probes[self._crashes - 1 : self._crashes]
        return probes

    def await_proof(self, talk: Conversation, probes: list[Probe], asked: set[int], seconds: float) -> None:
        """Waits for the answer to a question whose answer must be there.

        Where the server knows none of the unit's names, it is asked for some of other folders: the unit may lie in a corner that no
        build takes in.

        Args:
            asked: questions that are open already, and of whose answers nothing is wanted.
        Raises:
            ServerNotReady: it does not come, or the server has said why it will not.
        """
        begun, failures, is_wide = time.monotonic(), 0, False

        def proves() -> bool:
            nonlocal probes, failures, is_wide
            while (probes or asked) and not self._succeeds(talk, probes, asked):
                failures += 1
                if is_wide and all(probe.is_torn for probe in probes) and talk.readiness.has_signal and talk.readiness.ready:
                    return not talk.readiness.failure  # it says that it has loaded, and nobody can ask for more
                if is_wide or not probes or not (failures >= _WIDEN_AFTER or all(probe.document.unbuilt for probe in probes)):
                    return False
                is_wide = True
                more = self._elsewhere(probes)
                self.open(talk, more)
                probes = [*probes, *more]
            return True

        if not talk.await_proof(proves, seconds):
            if talk.readiness.failure:
                raise ServerNotReady(f"could not load the workspace: {talk.readiness.failure}")
            paths = ", ".join(probe.document.planned.path for probe in probes)
            raise ServerNotReady(f"not ready after {time.monotonic() - begun:.0f} s: knows no name of {paths}")
        if self._setup.open != "none":
            for probe in probes:
                talk.texts.close(probe.document.path)

    def open(self, talk: Conversation, probes: Sequence[Probe]) -> None:
        """Opens the probes where the server wants that."""
        if self._setup.open != "none":
            for probe in probes:
                open_document(talk.texts, probe.document)

    def _elsewhere(self, tried: Sequence[Probe]) -> list[Probe]:
        """Probes of other folders of the group."""
        known = {probe.document.planned.path for probe in tried}
        candidates = [Document(planned, self._setup.root) for planned in self._setup.probes if planned.path not in known]
        return self._with_candidates(candidates, _ELSEWHERE)

    def _with_candidates(self, documents: Sequence[Document], most: int) -> list[Probe]:
        """The first of these documents in which there is something to ask about; those whose text has errors come last."""
        probes: list[Probe] = []
        torn: list[Probe] = []
        for document in documents:
            if len(probes) == most or len(torn) == _MOST_TORN:
                break
            if document.syntax is not None or self._sources.read(document):
                assert document.syntax is not None
                tokens = probe_candidates(document.syntax, alone=self._setup.alone) if self._may_be_asked(document) else []
                if tokens:
                    probe = Probe(document, tokens)
                    (torn if probe.is_torn else probes).append(probe)
                else:
                    document.syntax = None
        return [*probes, *torn][:most]

    def _succeeds(self, talk: Conversation, probes: Sequence[Probe], asked: set[int]) -> bool:
        """Asks, and waits for all answers, those to the questions in `asked` too."""
        can_tell = bool(probes) and (talk.session.supports("definitionProvider") or talk.session.supports(methods.DEFINITION))
        telling: dict[int, Document] = {}
        for document, tokens in probes if can_tell else ():
            assert document.syntax is not None
            places = document.syntax.tokens
            for token in tokens:
                params = b'{"textDocument":{"uri":%b}' % document.uri_json + POSITION % (places.line[token], places.col[token])
                telling[talk.session.request(methods.DEFINITION.encode(), params)] = document
        asked.update(telling)  # in place: who asks again must not wait once more for what has been answered
        knows = not can_tell  # then there is nothing to wait for
        self._crashes += 1  # until all have been answered
        ahead = self._read_ahead()
        while asked:
            has_read = next(ahead, False)
            events = talk.client.poll(0.0) if has_read else talk.client.wait()
            heard(talk, events, asked)
            for event in events:
                if isinstance(event, Answer) and event.id in telling:
                    knows = knows or _tells_a_place(event)
                    telling[event.id].unbuilt = self._reader.says_unbuilt(event)
        self._crashes -= 1
        return knows

    def _read_ahead(self) -> Iterator[bool]:
        """Reads one document at a time of those that come first; a worker has nothing else to do while its server loads."""
        tokens = 0
        for document in self._documents:
            if self._sources.careful or tokens > _READ_AHEAD:
                return
            if document.is_over:
                continue
            if document.syntax is None:
                self._sources.read(document)
                yield True
            tokens += len(document.syntax.tokens) if document.syntax is not None else 0


def heard(talk: Conversation, events: Sequence[Answer | Notification], asked: set[int]) -> None:
    """Takes in what the server says while it is waited for; what was `asked` and is answered is no longer open."""
    talk.notified(events)
    asked.difference_update(event.id for event in events if isinstance(event, Answer))


def _tells_a_place(event: Answer) -> bool:
    try:
        return event.error is None and bool(decode.targets(event.result))
    except decode.BROKEN:
        return False


def ask_builtins(talk: Conversation, setup: Setup) -> dict[str, list[harvest.Place]]:
    """Where Python's own names are defined, asked in a document that exists only between us and the server.

    What every module has of itself (`__name__`) servers do not tell where a module names it, but where it is taken of a module.

    It is the proof of a Python server too: one that cannot say where `len` comes from is not ready to be believed. One that answers from
    a file knows the names that the file has.

    Raises:
        ServerError: it stays without an answer.
    """
    names = sorted(python_syntax.BUILTINS)
    packages = STANDARD_PACKAGES if setup.open == "none" else ()
    path = os.path.join(setup.root, _NAME)
    uri = path_to_uri(path)
    own = sorted(python_syntax.OF_MODULES)
    text = [*names, *(f"import {name}" for name in packages), "import types", *(f"{_A_MODULE}{name}" for name in own), ""]
    talk.texts.open(path, "python", "\n".join(text))
    found: dict[str, list[harvest.Place]] = {}
    for attempt in range(_ATTEMPTS):
        asked: dict[int, str] = {}
        places = [(line, 0, name) for line, name in enumerate(names)]
        places += [(line, len(_A_MODULE), name) for line, name in enumerate(own, len(names) + len(packages) + 1)]
        if not attempt:
            places += [(line, len(f"import {name}") - 1, "") for line, name in enumerate(packages, len(names))]
        for line, col, name in places:
            params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": col}}
            asked[talk.session.request(methods.DEFINITION.encode(), msgspec.json.encode(params))] = name
        while asked:
            for event in talk.client.wait():
                if isinstance(event, Answer):
                    name = asked.pop(event.id, None)
                    if name is None:
                        raise ServerProtocolError(f"answered request {event.id} twice")
                    if name and event.error is None:
                        with contextlib.suppress(*decode.BROKEN):
                            found[name] = harvest.places(decode.targets(event.result))
                else:
                    talk.notified([event])
        if found.get("len") or setup.fixed or not talk.session.supports("definitionProvider"):
            break
    else:
        raise ServerTimeout(f"does not know where 'len' is defined, asked {_ATTEMPTS} times")
    talk.texts.close(path)
    return {name: where for name, where in found.items() if where}
