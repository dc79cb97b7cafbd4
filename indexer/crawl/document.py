"""A document while it is crawled: what was asked about it, what came back, what is to be asked once more."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit

import msgspec

from indexer.crawl import harvest
from indexer.crawl.harvest import Answers
from indexer.crawl.plan import PlannedDocument
from indexer.model import LossReason
from indexer.syntax.model import Syntax

TRIES_ELSEWHERE = 3


class Document:
    """A document while it is crawled. `silent` are tokens without an answer; `settled` means that nothing more will be asked."""

    __slots__ = (
        "answers",
        "attempt",
        "failure",
        "open",
        "path",
        "planned",
        "published",
        "settled",
        "sharers",
        "silent",
        "source",
        "syntax",
        "uri",
        "uri_json",
    )

    def __init__(self, planned: PlannedDocument, root: str) -> None:
        self.planned = planned
        self.path = os.path.join(root, planned.path)
        self.uri = path_to_uri(self.path)
        self.uri_json = msgspec.json.encode(self.uri)
        self.attempt = 0
        self.failure: LossReason | None = None
        self.source = b""
        self.syntax: Syntax | None = None
        self.reset()

    def reset(self) -> None:
        self.answers = Answers()
        self.open = 0
        self.settled = False
        self.published = False
        self.silent: list[int] = []
        self.sharers: dict[int, list[int]] | None = None

    def second_tries(self) -> list[tuple[str, bytes, int]]:
        """Questions for the tokens that got no answer, where the next user of the answer stands: the place may be unreachable code."""
        questions = [question for token in sorted(self.silent) if (question := self._elsewhere(token)) is not None]
        self.silent = []
        return questions

    def _elsewhere(self, token: int) -> tuple[str, bytes, int] | None:
        syntax = self.syntax
        if syntax is None:
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
        return harvest.DEFINITION, params % (self.uri_json, tokens.line[other], tokens.col[other]), token


def path_to_uri(path: str) -> str:
    return "file://" + quote(path)


def uri_to_path(uri: str) -> str:
    """Path of a file URI; other schemes are returned as they are."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri
