"""When a server may be believed: its own signal, and then an answer that must be there. Pure: times are told to it.

A server that is asked too early answers with nothing, and nothing looks like an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Literal, Protocol

from indexer.lsp import decode, methods
from indexer.lsp.session import Notification
from indexer.model import Role, SymbolFlag
from indexer.syntax.model import Syntax

_CANDIDATES = 5
_FAILURE_CHARS = 300
_MOST_OPEN = 10_000
"""Tokens of progress that are remembered at once; a server that begins more and ends none stays unready by those."""
_MESSAGES = frozenset({methods.WINDOW_LOG_MESSAGE, methods.WINDOW_SHOW_MESSAGE})
_NO_USE = Role.DEFINITION | Role.IMPORT | Role.KEYWORD | Role.MENTION
_SIGNAL_BEGINS_S = 10.0
"""Without a sign of life for so long there will be no signal: a busy machine needs some seconds to the first one."""

LOADS_AT_MOST = 15
"""Times the limit of silence: how long a server may load, however much it says of its progress."""


class Manner(Protocol):
    """How a server says that it is ready, as the server table has it: see `indexer.servers.registry.ServerSpec`."""

    @property
    def ready(self) -> Literal["initialized", "progress", "notification"]: ...
    @property
    def ready_title(self) -> str: ...
    @property
    def ready_method(self) -> str: ...
    @property
    def ready_value(self) -> Mapping[str, Any]: ...
    @property
    def ready_failed(self) -> str: ...


class Readiness:
    """Follows a server's own signal. `ready` starts true where it has none.

    `signs` counts what it has said of its progress: while that grows, it is at work. `failure` is what it says went wrong with loading
    the workspace, in its own words. `reloads`: it has taken back that it is ready, and has not said so again; `ready` stays true.
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
        self.reloads = False

    def notified(self, event: Notification) -> None:
        """Takes in what the server says of itself; other notifications are passed over."""
        if event.method == methods.PROGRESS or event.method == self._method or event.method in _MESSAGES:
            self._hear(event)
        if self._kind == "notification" and event.method == self._method:
            self.begun = True
            said = decode.members(event.params)
            fits = all(_fits(said.get(key), value) for key, value in self._value.items())
            self.ready = self.ready or fits
            # a text tells of what has happened, which stays so; a truth value is a state
            states = [key for key, value in self._value.items() if isinstance(value, bool)]
            self.reloads = self.ready and any(said.get(key) is (not self._value[key]) for key in states)
        elif self._kind == "progress" and event.method == methods.PROGRESS:
            sign = decode.sign(event.params)
            if sign.token is None:
                return
            if sign.kind == "begin":
                self.begun = True
                if len(self._open) < _MOST_OPEN:
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


class Wait(Enum):
    """What to do while a server is not ready by its own signal."""

    GO_ON = auto()
    READY = auto()
    NO_SIGN = auto()  # it says nothing of itself at all: its answers decide
    OVERDUE = auto()


class Patience:
    """How long a server's signal is waited for: its limit of silence counts from its last sign of progress (ADR 0018).

    Args:
        silence_s: so long it may say nothing new. most_s: the end, whatever it says.
    """

    def __init__(self, readiness: Readiness, now: float, *, silence_s: float, most_s: float) -> None:
        self._readiness = readiness
        self._begun = self._last_sign = now
        self._signs = readiness.signs
        self._silence_s, self._most_s = silence_s, most_s

    def look(self, now: float) -> Wait:
        """Whether to wait on."""
        readiness = self._readiness
        if readiness.ready:
            return Wait.READY
        if readiness.signs != self._signs:
            self._signs, self._last_sign = readiness.signs, now
        if not readiness.begun and now > self._begun + min(_SIGNAL_BEGINS_S, self._silence_s / 2):
            return Wait.NO_SIGN
        if now > self._last_sign + self._silence_s or now > self._begun + self._most_s:
            return Wait.OVERDUE
        return Wait.GO_ON


def _said(sign: decode.Sign) -> str:
    """`title: message` or `health: message` of a progress note, a message or a status, and how far it has come."""
    text = ": ".join(sign.words)
    return text if sign.percentage is None else f"{text} {sign.percentage}"


def _fits(said: object, wanted: object) -> bool:
    """Equal, or where a text is wanted, a text that it is a pattern of."""
    return bool(re.search(wanted, said)) if isinstance(wanted, str) and isinstance(said, str) else said == wanted


def probe_candidates(syntax: Syntax, *, alone: bool = False) -> list[int]:
    """Tokens whose meaning a ready server must know: uses of a name that this file defines once, at its top, and nowhere else.

    Args:
        alone: the server reads each file by itself. Then uses of local names follow: where a header is absent, a compiler may know what a
            function's own names mean and none of the file's (`PyObject *f(…)` without `Python.h`).
    """
    tokens = syntax.tokens
    defined = Counter(symbol.name for symbol in syntax.symbols[1:])
    own = {
        symbol.name: ordinal
        for ordinal, symbol in enumerate(syntax.symbols)
        if ordinal and symbol.container == 0 and defined[symbol.name] == 1 and SymbolFlag.LOCAL not in symbol.flags
    }
    members = {token for _, token in syntax.members} | syntax.in_texts
    certain: dict[str, int] = {}
    likely: dict[str, int] = {}
    local: dict[int, int] = {}  # by what is around them
    for token, name in enumerate(tokens.name):
        if tokens.roles[token] & _NO_USE or token in members:
            continue
        meant = tokens.symbol[token]
        if name not in own:
            if meant > 0 and SymbolFlag.LOCAL in syntax.symbols[meant].flags:
                local.setdefault(tokens.enclosing[token], token)
        elif meant == own[name]:
            certain.setdefault(name, token)
        elif tokens.ask[token] and meant < 0:
            likely.setdefault(name, token)
    found = [*certain.values(), *likely.values()][:_CANDIDATES]
    return [*found, *[*local.values()][:_CANDIDATES]] if found and alone else found
