"""`lspidx site`: all pages as files. The files of the workspace are shared out among processes, for none needs what another makes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexer.errors import UsageError
from query.facts import linked
from query.facts.index import Index, open_index
from query.pages import folders, lists, names, symbols, texts
from query.pages.book import Book
from query.pages.markup import asset, stylesheet
from query.pages.out import Out, opened, reopened

_AT_ONCE = 40
"""Files whose facts are read together: more are quicker to read and take more memory."""

_SYMBOLS_AT_ONCE = 400

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a run wrote. `statuses`: of the lists of uses, how many are how complete; `unknown` where nobody asked."""

    folder: Path
    pages: int
    size_bytes: int
    removed: int
    elapsed_s: float
    statuses: dict[str, int]


def as_record(made: Written) -> dict[str, Any]:
    """For programs."""
    return {**asdict(made), "elapsed_s": round(made.elapsed_s, 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """What one process is told. `documents`: none for the symbols outside of the workspace."""

    root: str
    generation: str
    out: str
    documents: list[int]
    outsiders: list[int]
    certifies: bool


@dataclass(slots=True, kw_only=True)
class _Done:
    names: list[str] = field(default_factory=list[str])
    size_bytes: int = 0
    statuses: dict[str, int] = field(default_factory=dict[str, int])


def write(index: Index, folder: Path, *, certifies: bool = True, jobs: int = 0, progress: Progress = lambda done, total: None) -> Written:
    """Writes the site.

    Args:
        certifies: find out of each list how complete it is. jobs: processes; 0 for one per processor.
    Raises:
        UsageError: the folder is not one that may be written.
    """
    began = time.monotonic()
    out = opened(folder, index.root)
    book = Book(index, is_live=False, certifies=certifies)
    whole = _Done()
    _put(out, whole, names.STYLE, stylesheet())
    _put(out, whole, names.SCRIPT, asset("pages.js"))
    shares = list(_shares(book, out.folder))
    for done, made in enumerate(_run(index, shares, jobs), 1):
        _add(whole, made)
        progress(done, len(shares))
    _put(out, whole, names.NAMES, lists.names_script(book))
    for path in book.folders:
        page = folders.page(book, path)
        _put(out, whole, page.name, book.frame.around(page))
    for make in lists.PAGES.values():
        page = make(book)
        _put(out, whole, page.name, book.frame.around(page))
    removed = out.clean(whole.names)
    elapsed = time.monotonic() - began
    return Written(
        folder=out.folder, pages=len(whole.names), size_bytes=whole.size_bytes, removed=removed, elapsed_s=elapsed, statuses=whole.statuses
    )


def _shares(book: Book, out: Path) -> Iterator[_Share]:
    """The largest files first, so that no process is left with one at the end."""
    root, generation = str(book.index.root), book.index.generation.name
    ids = [file.doc_id for file in sorted(book.files, key=lambda file: (-file.size_bytes, file.path)) if file.doc_id >= 0]
    for begin in range(0, len(ids), _AT_ONCE):
        yield _Share(
            root=root, generation=generation, out=str(out), documents=ids[begin : begin + _AT_ONCE], outsiders=[], certifies=book.certifies
        )
    outside = linked.outsiders(book.index)
    for begin in range(0, len(outside), _SYMBOLS_AT_ONCE):
        part = outside[begin : begin + _SYMBOLS_AT_ONCE]
        yield _Share(root=root, generation=generation, out=str(out), documents=[], outsiders=part, certifies=book.certifies)
    yield _Share(root=root, generation=generation, out=str(out), documents=[-1], outsiders=[], certifies=False)


def _run(index: Index, shares: Sequence[_Share], jobs: int) -> Iterator[_Done]:
    number = min(jobs or os.cpu_count() or 1, len(shares))
    if number <= 1:
        book = Book(index, is_live=False, certifies=shares[0].certifies)
        yield from (_write_share(book, share) for share in shares)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    with ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for made in as_completed([pool.submit(_in_process, share) for share in shares]):
                yield made.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # else whoever interrupts it waits for all the rest
            raise


_books: dict[tuple[str, bool], Book] = {}


def _in_process(share: _Share) -> _Done:
    key = (share.root, share.certifies)
    if key not in _books:
        _books[key] = Book(open_index(share.root), is_live=False, certifies=share.certifies)
    if _books[key].index.generation.name != share.generation:
        raise UsageError("the index was made anew while the site was written; to write it of the new one, give the command again")
    return _write_share(_books[key], share)


def _write_share(book: Book, share: _Share) -> _Done:
    out, done = reopened(Path(share.out)), _Done()
    if share.outsiders:
        found = linked.described(book.index, share.outsiders)
        _put_symbols(book, out, done, [found[sym_id] for sym_id in share.outsiders if sym_id in found])
        return done
    if share.documents == [-1]:
        for file in book.files:
            if file.doc_id < 0:
                page = texts.of_file(book, file)
                _put(out, done, page.name, book.frame.around(page))
        return done
    tokens = linked.tokens(book.index, share.documents)
    inside = linked.symbols_in(book.index, share.documents)
    for doc_id in share.documents:
        file = book.by_doc[doc_id]
        page = texts.of_file(book, file, tokens[doc_id], inside[doc_id])
        _put(out, done, page.name, book.frame.around(page))
    wanted = [symbol for doc_id in share.documents for symbol in inside[doc_id] if not symbol.is_local]
    for begin in range(0, len(wanted), _SYMBOLS_AT_ONCE):
        _put_symbols(book, out, done, wanted[begin : begin + _SYMBOLS_AT_ONCE])
    return done


def _put_symbols(book: Book, out: Out, done: _Done, found: Sequence[linked.Described]) -> None:
    for page, status in symbols.pages(book, found):
        _put(out, done, page.name, book.frame.around(page))
        done.statuses[status] = done.statuses.get(status, 0) + 1


def _put(out: Out, done: _Done, name: str, content: str) -> None:
    text = content.encode("utf-8", "backslashreplace")
    out.put(name, text)
    done.names.append(name)
    done.size_bytes += len(text)


def _add(whole: _Done, part: _Done) -> None:
    whole.names += part.names
    whole.size_bytes += part.size_bytes
    for status, number in part.statuses.items():
        whole.statuses[status] = whole.statuses.get(status, 0) + number
