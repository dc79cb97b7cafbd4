"""A document while it is crawled: what was asked about it, what came back, what is to be asked again."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from urllib.parse import quote, unquote, urlsplit

import msgspec

from indexer.crawl import harvest
from indexer.crawl.harvest import Answers
from indexer.crawl.plan import PlannedDocument
from indexer.model import LossReason
from indexer.syntax.model import Syntax

TRIES_ELSEWHERE = 3


class Document:
    """A document while it is crawled. `again` are questions put a second time, at another place of the same binding."""

    __slots__ = (
        "again",
        "answers",
        "asked_all",
        "attempt",
        "failure",
        "open",
        "path",
        "planned",
        "published",
        "questions",
        "sharers",
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
        self.asked_all = False
        self.published = False
        self.questions: Iterator[tuple[str, bytes, int]] | None = None
        self.again: deque[tuple[str, bytes, int]] = deque()
        self.sharers: dict[int, list[int]] | None = None

    def ask_elsewhere(self, token: int) -> None:
        """A question got no answer: the place may be unreachable code. Puts it where the next user of the answer stands."""
        syntax = self.syntax
        if syntax is None:
            return
        tokens = syntax.tokens
        if self.sharers is None:
            self.sharers = {}
            for other, same in enumerate(tokens.same_as):
                if same >= 0 and not tokens.up[other] and tokens.callee_as[other] != other:
                    self.sharers.setdefault(same, []).append(other)
        others = self.sharers.get(token, [])
        if not others:
            return
        other, tried = others[0], tokens.enclosing[others[0]]
        self.sharers[token] = [item for item in others[1:] if tokens.enclosing[item] != tried][: TRIES_ELSEWHERE - 1]
        params = b'{"textDocument":{"uri":%b},"position":{"line":%d,"character":%d}}'
        self.again.append((harvest.DEFINITION, params % (self.uri_json, tokens.line[other], tokens.col[other]), token))


def path_to_uri(path: str) -> str:
    return "file://" + quote(path)


def uri_to_path(uri: str) -> str:
    """Path of a file URI; other schemes are returned as they are."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri
