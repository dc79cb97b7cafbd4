"""What a worker says to its parent: MessagePack frames on its stdout."""

from __future__ import annotations

import sys

import msgspec

from indexer.crawl.messages import Report


def send(report: Report) -> None:
    body = msgspec.msgpack.encode(report)
    sys.stdout.buffer.write(len(body).to_bytes(4, "big") + body)
    sys.stdout.buffer.flush()
