"""How a crawl shows itself on stderr: a bar with rate and remaining time on a terminal, a sober line now and then otherwise."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Generator
from typing import NoReturn

import click
from tqdm import tqdm

from indexer.crawl.run import Crawl, Watcher
from indexer.model import FOREIGN

_LINE_EVERY_S = 10.0


class _Quiet:
    def phase(self, name: str, total_documents: int) -> None: ...
    def advance(self, documents: int, tokens: int) -> None: ...
    def note(self, message: str) -> None:
        click.echo(message, err=True)


class _Bar(_Quiet):
    """On a terminal."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None

    def phase(self, name: str, total_documents: int) -> None:
        self.close()
        if total_documents:
            self._bar = tqdm(total=total_documents, desc=name, unit="file", file=sys.stderr, dynamic_ncols=True, leave=False)
        else:
            click.echo(f"{name} …\r", err=True, nl=False)

    def advance(self, documents: int, tokens: int) -> None:
        if self._bar is not None:
            self._bar.update(documents)

    def note(self, message: str) -> None:
        tqdm.write(message, file=sys.stderr)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Lines(_Quiet):
    """In a log: one line when something begins, one every few seconds."""

    def __init__(self) -> None:
        self._total = self._done = 0
        self._started = self._last = time.monotonic()

    def phase(self, name: str, total_documents: int) -> None:
        self._total, self._done = total_documents, 0
        self._started = self._last = time.monotonic()
        click.echo(f"{name}: {total_documents} files" if total_documents else name, err=True)

    def advance(self, documents: int, tokens: int) -> None:
        self._done += documents
        now = time.monotonic()
        if now - self._last >= _LINE_EVERY_S:
            self._last = now
            rate = self._done / (now - self._started)
            left = (self._total - self._done) / rate if rate else 0
            click.echo(f"{self._done} of {self._total} files, {rate:.0f} per second, about {left:.0f} s left", err=True)


@contextlib.contextmanager
def watcher(*, quiet: bool) -> Generator[Watcher]:
    """The watcher that fits stderr."""
    if quiet:
        yield _Quiet()
    elif sys.stderr.isatty():
        bar = _Bar()
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield _Lines()


def summary(made: Crawl) -> str:
    """The last line of a crawl: what is in the index, what was lost, by reason."""
    counts, manifest = made.manifest.get("counts", {}), made.manifest
    edges = counts.get("calls", 0) + counts.get("type_edges", 0)
    text = (
        f"{counts.get('documents', 0)} files, {counts.get('symbols', 0)} symbols, {counts.get('occurrences', 0)} occurrences, {edges} edges"
    )
    if made.up_to_date:
        return f"up to date: {text}"
    parts = [f"indexed {text} in {made.elapsed_s:.1f} s"]
    known = counts.get("documents", 0) - manifest.get("crawled", counts.get("documents", 0))
    if known:
        parts.append(f"{manifest['crawled']} files asked about, {known} known")
    unresolved = counts.get("unresolved_occurrences", 0)
    if unresolved:
        parts.append(f"{unresolved} identifiers and {counts.get('unresolved_imports', 0)} imports unresolved")
    skipped = manifest.get("skipped") or {}
    if skipped:
        how = " (to read such: --include PATTERN)" if any(reason in FOREIGN for reason in skipped) else ""
        parts.append("skipped " + ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items())) + how)
    lost = manifest.get("lost") or {}
    parts.append("lost " + ", ".join(f"{count} {what}" for what, count in sorted(lost.items())) if lost else "nothing lost")
    return "; ".join(parts)
