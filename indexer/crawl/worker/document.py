"""A document while it is crawled: what was asked about it, what came back, what is to be asked once more."""

from __future__ import annotations

import os
from collections import Counter

import msgspec

from indexer.crawl import methods
from indexer.crawl.units import PlannedDocument
from indexer.crawl.worker import harvest
from indexer.crawl.worker.harvest import Answers
from indexer.crawl.worker.schedule import FINAL, State
from indexer.drive.conversation import TRIES_AGAIN
from indexer.embedded import alias
from indexer.lsp.uri import path_to_uri
from indexer.model import LossReason, Role
from indexer.model.gaps import in_part
from indexer.syntax.model import Syntax

TRIES_ELSEWHERE = 3


class Document:
    """A document while it is crawled. `silent` are tokens without an answer; `settled` means that nothing more will be asked.

    `file`: where it lies; `path`: under which a server knows it. `unbuilt`: the server says that no build takes it in.
    `asked`, `open`: questions about it so far, and those without an answer yet.
    """

    __slots__ = (
        "answers",
        "asked",
        "failure",
        "file",
        "follow_ups",
        "open",
        "path",
        "planned",
        "repeats",
        "settled",
        "sharers",
        "silent",
        "source",
        "state",
        "syntax",
        "unbuilt",
        "uri",
        "uri_json",
    )

    def __init__(self, planned: PlannedDocument, root: str) -> None:
        self.planned = planned
        self.file = os.path.normpath(os.path.join(root, planned.path))  # servers take `..` in a URI for another file
        self.path = alias(self.file)
        self.uri = path_to_uri(self.path)
        self.uri_json = msgspec.json.encode(self.uri)
        self.state = State.FRESH
        self.failure: LossReason | None = None
        self.source = b""
        self.syntax: Syntax | None = None
        self.reset()

    def reset(self) -> None:
        self.answers = Answers()
        self.asked = self.open = 0
        self.settled = False
        self.unbuilt = False
        self.silent: list[int] = []
        self.follow_ups: list[tuple[str, bytes, int]] = []
        self.repeats: Counter[tuple[str, int]] = Counter()
        self.sharers: dict[int, list[int]] | None = None

    @property
    def name(self) -> str:
        return self.planned.path

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be asked about it."""
        return self.settled or self.state in FINAL

    def fail(self, reason: LossReason) -> None:
        """Whatever a server was to say of it is lost for this reason, but what has one already."""
        for method, tally in self.answers.tallies.items():
            if method != methods.SYNTAX and not tally.failed:
                tally.failed = str(reason)

    def fail_late(self, reason: LossReason) -> None:
        """As `fail`, of a document that took longer than it may: the answers that came in time are kept."""
        tally = self.answers.tallies[methods.DEFINITION]
        if self.syntax is not None and not tally.failed:
            questions = sum(self.syntax.tokens.ask)
            answered = sum(ordinal < len(self.syntax.tokens) for ordinal in [*self.answers.definitions, *self.silent])
            tally.failed = in_part(reason, answered, questions) if answered else str(reason)
        self.fail(reason)

    def names_package(self, ordinal: int) -> bool:
        """Whether a question is about an import: of a package of many files, as Go has them, each is an answer, and all mean the one."""
        if self.syntax is None or ordinal >= len(self.syntax.tokens):
            return False
        return bool(self.syntax.tokens.roles[ordinal if ordinal >= 0 else -ordinal - 1] & Role.IMPORT)

    def is_import_itself(self, ordinal: int, found: list[harvest.Place]) -> bool:
        """Whether an answer leads from an import to that very import, as a use of what could not be imported does: then nobody knows it."""
        tokens = self.syntax.tokens if self.syntax is not None else None
        if tokens is None or not tokens.roles[ordinal] & Role.IMPORT:
            return False
        own = (self.uri, tokens.line[ordinal])  # the line, for Go's name of an import stands beside its path
        return all(place[:2] == own for place in found)

    def sign_of(self, ordinal: int) -> int:
        """The receiver at whose sign a question about a definition stands; -1 where it stands at a token."""
        return -1 if self.syntax is None else ordinal - len(self.syntax.tokens)

    def may_repeat(self, method: str, ordinal: int) -> bool:
        """Whether a question that the server put off may be put again; counts how often."""
        self.repeats[method, ordinal] += 1
        return self.repeats[method, ordinal] <= TRIES_AGAIN

    def second_tries(self) -> list[tuple[str, bytes, int]]:
        """What the answers so far lead to, in the tree's own order.

        Tokens that got no answer are asked where the next user of the answer stands (the place may be unreachable code);
        what a server has prepared is asked for.
        """
        questions = [question for token in sorted(self.silent) if (question := self._elsewhere(token)) is not None]
        questions += sorted(self.follow_ups, key=lambda question: (question[2], question[1]))
        self.silent, self.follow_ups = [], []
        return questions

    def _elsewhere(self, token: int) -> tuple[str, bytes, int] | None:
        syntax = self.syntax
        if syntax is None or self.planned.places:  # each of these is asked about at its own place
            return None
        tokens = syntax.tokens
        if self.sharers is None:
            self.sharers = {}
            for other, same in enumerate(tokens.same_as):
                if same >= 0 and not tokens.up[other] and tokens.callee_as[other] != other:
                    self.sharers.setdefault(same, []).append(other)
        others = self.sharers.get(token, [])
        if not others:
            return None
        other, tried = others[0], tokens.enclosing[others[0]]
        self.sharers[token] = [item for item in others[1:] if tokens.enclosing[item] != tried][: TRIES_ELSEWHERE - 1]
        params = b'{"textDocument":{"uri":%b},"position":{"line":%d,"character":%d}}'
        return methods.DEFINITION, params % (self.uri_json, tokens.line[other], tokens.col[other]), token
