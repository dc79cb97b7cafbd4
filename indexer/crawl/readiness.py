"""When a server may be believed: its own signal, and then an answer that must be there.

A server that is asked too early answers with nothing, and nothing looks like an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from indexer.crawl.plan import PlannedDocument
from indexer.lsp import decode, methods
from indexer.lsp.session import Notification
from indexer.model import Role, SymbolFlag
from indexer.syntax.model import Syntax

_CANDIDATES = 5
_FAILURE_CHARS = 300
_PROBE_FOLDERS = 12
_PROBE_BYTES = 200_000
_MESSAGES = frozenset({methods.WINDOW_LOG_MESSAGE, methods.WINDOW_SHOW_MESSAGE})
_NO_USE = Role.DEFINITION | Role.IMPORT | Role.KEYWORD


class Readiness:
    """Follows a server's own signal. `ready` starts true where it has none.

    `signs` counts what it has said of its progress: while that grows, it is at work. `failure` is what it says went wrong with loading
    the workspace, in its own words.
    """

    def __init__(
        self,
        kind: Literal["initialized", "progress", "notification"],
        title: str,
        method: str,
        value: Mapping[str, Any],
        failed: str = "",
    ) -> None:
        self.has_signal = kind != "initialized"
        self.ready = not self.has_signal
        self.begun = False
        self._kind = kind
        self._title = re.compile(title)
        self._method = method
        self._value = value
        self._failed = re.compile(failed) if failed else None
        self._open: set[str | int] = set()
        self._matched = False
        self._last_sign = ""
        self.signs = 0
        self.failure = ""

    def notified(self, event: Notification) -> None:
        """Takes in what the server says of itself; other notifications are passed over."""
        if event.method == methods.PROGRESS or event.method == self._method or event.method in _MESSAGES:
            self._hear(event)
        if self._kind == "notification" and event.method == self._method:
            self.begun = True
            said = decode.members(event.params)
            self.ready = self.ready or all(_fits(said.get(key), value) for key, value in self._value.items())
        elif self._kind == "progress" and event.method == methods.PROGRESS:
            sign = decode.sign(event.params)
            if sign.token is None:
                return
            if sign.kind == "begin":
                self.begun = True
                self._open.add(sign.token)
                self._matched = self._matched or bool(self._title.search(sign.title))
            elif sign.kind == "end":
                self._open.discard(sign.token)
            self.ready = self._matched and not self._open

    def _hear(self, event: Notification) -> None:
        said = _said(decode.sign(event.params))
        if event.method not in _MESSAGES and said != self._last_sign:  # the same again is no progress
            self._last_sign = said
            self.signs += 1
        match = self._failed.search(said) if self._failed is not None else None
        if match is not None:
            self.failure = " ".join((match.group(1) if match.re.groups else said).split())[:_FAILURE_CHARS]


def _said(sign: decode.Sign) -> str:
    """`title: message` or `health: message` of a progress note, a message or a status, and how far it has come."""
    text = ": ".join(sign.words)
    return text if sign.percentage is None else f"{text} {sign.percentage}"


def _fits(said: object, wanted: object) -> bool:
    """Equal, or where a text is wanted, a text that it is a pattern of."""
    return bool(re.search(wanted, said)) if isinstance(wanted, str) and isinstance(said, str) else said == wanted


def probe_documents(documents: Sequence[PlannedDocument]) -> list[PlannedDocument]:
    """Documents of different folders and different builds, the largest of each folder, for the question whether a server knows anything.

    Those above count first: a folder deep in the tree is more often an example, a fixture or a module of its own.
    """
    largest: dict[str, PlannedDocument] = {}
    for document in documents:
        folder = document.path.rpartition("/")[0]
        if document.size_bytes <= _PROBE_BYTES and (folder not in largest or document.size_bytes > largest[folder].size_bytes):
            largest[folder] = document
    order = sorted(
        largest, key=lambda folder: (largest[folder].is_test, folder.count("/") + bool(folder), -largest[folder].size_bytes, folder)
    )
    return [largest[folder] for folder in order[:_PROBE_FOLDERS]]


def probe_candidates(syntax: Syntax) -> list[int]:
    """Tokens whose meaning a ready server must know: uses of a name that this file defines once, at its top, and nowhere else."""
    tokens = syntax.tokens
    defined = Counter(symbol.name for symbol in syntax.symbols[1:])
    own = {
        symbol.name: ordinal
        for ordinal, symbol in enumerate(syntax.symbols)
        if ordinal and symbol.container == 0 and defined[symbol.name] == 1 and SymbolFlag.LOCAL not in symbol.flags
    }
    members = {token for _, token in syntax.members}
    certain: dict[str, int] = {}
    likely: dict[str, int] = {}
    for token, name in enumerate(tokens.name):
        if name not in own or tokens.roles[token] & _NO_USE or token in members:
            continue
        if tokens.symbol[token] == own[name]:
            certain.setdefault(name, token)
        elif tokens.ask[token] and tokens.symbol[token] < 0:
            likely.setdefault(name, token)
    return [*certain.values(), *likely.values()][:_CANDIDATES]


_PACKAGES = """
_typeshed asyncio collections compression compression._common compression.zstd concurrent concurrent.futures concurrent.interpreters
ctypes ctypes.macholib curses dbm distutils distutils.command email email.mime encodings ensurepip html http importlib
importlib.metadata importlib.resources json lib2to3 lib2to3.fixes lib2to3.pgen2 logging math msilib multiprocessing
multiprocessing.dummy os pathlib profiling profiling.sampling pydoc_data pyexpat sqlite3 string sys tkinter unittest urllib venv wsgiref
xml xml.dom xml.etree xml.parsers xml.parsers.expat xml.sax xmlrpc zipfile zipfile._path zoneinfo
"""
STANDARD_PACKAGES = _PACKAGES.split()
"""Packages of Python's standard library.

ty unpacks the file of a package when it is asked about that, and we look there whether a folder is one: what is known must not depend on
what somebody has asked earlier on this machine.
"""
