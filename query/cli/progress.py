"""How a crawl shows itself on stderr: a bar with the remaining time on a terminal, a sober line now and then otherwise."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Generator, Sequence
from typing import NoReturn

import click
from tqdm import tqdm

from indexer.crawl.plan.estimate import line
from indexer.crawl.run import Crawl, Watcher
from indexer.model import CUT, FOREIGN
from query.answers.style import one_line
from query.cli.terminal import echo

_LINE_EVERY_S = 10.0
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt} of {total_fmt} files, {elapsed}{postfix}"
"""Without tqdm's own estimate, which counts files and the time in which a server loads."""


_MOST_NAMED = 3


class Quiet:
    def phase(self, name: str, total_documents: int) -> None: ...
    def advance(self, documents: int, tokens: int) -> None: ...
    def expect(self, left_s: float | None, waits_for: str) -> None: ...
    def note(self, message: str) -> None:
        echo(one_line(message), err=True)


class Bar(Quiet):
    """On a terminal."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None

    def phase(self, name: str, total_documents: int) -> None:
        self.close()
        if total_documents:
            self._bar = tqdm(
                total=total_documents, desc=name, bar_format=_BAR, unit="file", file=sys.stderr, dynamic_ncols=True, leave=False
            )
        else:
            click.echo(f"{name} …\r", err=True, nl=False)  # a name of a phase, and a return of our own

    def advance(self, documents: int, tokens: int) -> None:
        if self._bar is not None:
            self._bar.update(documents)

    def expect(self, left_s: float | None, waits_for: str) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(one_line(line(left_s, waits_for)), refresh=bool(waits_for))

    def note(self, message: str) -> None:
        tqdm.write(one_line(message), file=sys.stderr)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Lines(Quiet):
    """In a log: one line when something begins, one every few seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._total = self._done = 0
        self._last = clock()

    def phase(self, name: str, total_documents: int) -> None:
        self._total, self._done = total_documents, 0
        self._last = self._clock()
        echo(f"{name}: {total_documents} files" if total_documents else name, err=True)

    def advance(self, documents: int, tokens: int) -> None:
        self._done += documents

    def expect(self, left_s: float | None, waits_for: str) -> None:
        now = self._clock()
        if now - self._last >= _LINE_EVERY_S:
            self._last = now
            said = one_line(line(left_s, waits_for))
            echo(f"{self._done} of {self._total} files{', ' if said else ''}{said}", err=True)


@contextlib.contextmanager
def watcher(*, quiet: bool) -> Generator[Watcher]:
    """The watcher that fits stderr."""
    if quiet:
        yield Quiet()
    elif sys.stderr.isatty():
        bar = Bar()
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield Lines()


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
    cut = {name: counts[name] for name in CUT if counts.get(name)}
    if cut:
        parts.append("asked in part or not at all about " + ", ".join(f"{count} {reason}" for reason, count in cut.items()))
    lost = manifest.get("lost") or {}
    if lost or not cut:
        said = ", ".join(f"{count} {what}" for what, count in sorted(lost.items()))
        parts.append(f"lost {said}{_in_files(manifest.get('lost_files', []))}" if lost else "nothing lost")
    return "; ".join(parts)


def _in_files(paths: Sequence[str]) -> str:
    """Which files something is lost of: a few, by name."""
    named = ", ".join(one_line(path) for path in paths[:_MOST_NAMED])
    return f" (in {named}{' and more' if len(paths) > _MOST_NAMED else ''})" if named else ""
