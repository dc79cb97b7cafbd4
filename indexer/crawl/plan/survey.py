"""Files to units: what is crawled, what is skipped and why, and how the work is cut.

The plan depends on the tree and the configuration only, never on the number of workers: the same tree gives the same units,
hence the same shards. Reads each file once, for its digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import posixpath
import stat
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from indexer import manifests, sparse, unread, vcs
from indexer.config import Config
from indexer.crawl.plan.borders import borders, leads_out, resolved
from indexer.crawl.plan.components import too_many
from indexer.crawl.plan.contents import Contents, planned
from indexer.crawl.plan.foreign import Judge, Verdict
from indexer.crawl.plan.streams import refuse_streams
from indexer.crawl.plan.unread import ignored_sources, not_checked_out, unread_files
from indexer.crawl.units import PlannedDocument, Unit
from indexer.embedded import form_of, source_of
from indexer.encoding import encoding_of, is_binary, searchable
from indexer.folders import TICK_NS, may_hold_sources
from indexer.git_filters import is_pointer
from indexer.languages import record_of
from indexer.manifests import ManifestFile, read_manifest
from indexer.model import Skipped, SkipReason
from indexer.patterns import matches
from indexer.servers.registry import languages_present
from indexer.servers.scripts import component_language, language_of_file
from indexer.text import word_digests

UNIT_BYTES_MOST = 1_200_000
"""Source bytes per unit at most: what a server then holds stays near 220 MB."""

UNIT_BYTES_LEAST = 300_000
"""And at least, in a large tree: a unit costs a fresh server, about 0.4 s of processor time."""

UNIT_SHARE = 4
"""Each unit takes this part of what is left, so that they shrink towards the end and four workers end together."""

UNIT_BYTES_FLOOR = 30_000
"""Below it a unit is not worth a server, however small the tree."""

UNITS_OF_SMALL_TREES = 8
"""A tree too small for units of that size is cut into about so many all the same, to keep four workers busy."""

MOST_SEARCHED_BYTES = 30_000_000
"""Of a source that is left out: it is searched for words, which takes 50 ms for a megabyte, and counts for all names beyond that."""

_MOST_ATTRIBUTES = 1_000_000
_MOST_EMPTY_FOLDERS = 20_000


_MOST_WORDLESS = 20_000
"""Files that are not read: with more of them in a tree, which holds data then, only those are watched for changes that have such words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """What `stat` said when the file was read: cheap evidence that it is still the same.

    ctime_ns: when content or attributes were last changed, which no program can set.
    """

    size_bytes: int
    mtime_ns: int
    ctime_ns: int

    @property
    def row(self) -> tuple[int, int, int]:
        return self.size_bytes, self.mtime_ns, self.ctime_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What lies in the repository: documents to crawl in order of path, what was skipped, other files by count only."""

    documents: list[PlannedDocument]
    stamps: Mapping[str, FileStamp]
    skipped: list[Skipped]
    folders: Mapping[str, int]
    """Modification time (ns) of every folder that holds a file of the repository, or may: a new or deleted file changes it."""
    manifests: Sequence[ManifestFile] = ()
    """Files that are no source and name symbols, by path; their stamps are among `stamps`."""
    words: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """By path of a document, digests of words in those of its parts that are not read (`indexer.unread`)."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """By path of a work tree that leaves out something, for a sparse checkout, the state of that (`sparse.states`)."""
    passing: Sequence[str] = ()
    """Documents that hand on what other files export, and name none of it (`passes_on` of the language's record)."""
    project_files: Mapping[str, str] = field(default_factory=dict[str, str])
    """By path, digests of what decides where imports lead (`indexer.project_files`)."""


def survey(root: Path, paths: Sequence[str], config: Config, *, languages: Collection[str], contents: Contents | None = None) -> Survey:
    """Reads the tree once. Files of no language in `languages` are no documents; those with words that may name a symbol are skips.

    Args:
        paths: as `vcs.list_files` lists them. contents: of who surveys the tree again and again.
    Raises:
        UsageError: beside a document lies what a server would read without end.
    """
    contents = Contents() if contents is None else contents
    present = languages_present(paths)
    # by git's word there, or until a moment ago
    gone = [path for path in paths if not path.endswith("/") and not os.path.lexists(f"{root}/{path}")]
    left_out = sparse.left_out(root, gone)
    paths = sorted(set(paths).difference(gone)) if gone else paths
    candidates = [
        (path, language) for path in paths if (language := component_language(path) or language_of_file(root, path, present)) in languages
    ]
    judge = Judge(paths, lambda path: _read(root, path, config.max_file_bytes)[0])
    marked = _marks(root, paths, [path for path, _ in candidates])
    wanted = _patterns({language for _, language in candidates}, config)
    skipped = borders(root, paths, {path for path, _ in candidates})
    look = _Look(root, paths, config, judge, marked, skipped, contents)
    for path, language in candidates:
        look.at(path, language, *wanted[language])
    look.judge_tree()
    refuse_streams(root, look.documents)

    if left_out:
        skipped += not_checked_out(root, left_out, config, judge, languages)
    read = _manifests(root, [path for path in paths if path not in look.documents], config, judge, look)
    sources = {path for path, _ in candidates} - set(look.others) | {item.path for item in read}
    ignored = vcs.ignored_files(root)
    unseen, looked_at = _by_words(root, paths, ignored, sources, languages, judge, skipped, contents)
    look.stamps.update(looked_at)
    return Survey(
        documents=list(look.documents.values()),
        stamps=look.stamps,
        skipped=sorted([*skipped, *unseen], key=lambda item: item.path),
        folders=_stamp_folders(root, paths, {path.rstrip("/") for path in ignored} | {item.path for item in skipped}),
        manifests=read,
        words=look.parts,
        left_out=sparse.states(root, left_out),
        passing=[path for path in look.passing if path in look.documents],
    )


class _Look:
    """Looks at the candidates one by one, and says of each what it is: a document, or why not.

    Attributes:
        own: documents that the user or git says are the project's own. parts: words of what a document has beside its code.
        others: files of another kind in which no code of the language can be told.
    """

    def __init__(
        self,
        root: Path,
        paths: Sequence[str],
        config: Config,
        judge: Judge,
        marked: Mapping[str, str],
        skipped: list[Skipped],
        contents: Contents,
    ) -> None:
        """`skipped` is added to."""
        self._contents = contents
        self._root, self._paths, self._config, self._judge, self._marked, self._skipped = root, paths, config, judge, marked, skipped
        self.documents: dict[str, PlannedDocument] = {}
        self.own: set[str] = set()
        self.parts: dict[str, tuple[int, ...]] = {}
        self.others: list[str] = []
        self.stamps: dict[str, FileStamp] = {}
        self.passing: list[str] = []

    def at(self, path: str, language: str, include: Sequence[str], exclude: Sequence[str]) -> None:
        """One candidate, by its path first."""
        if not _is_utf8(path):
            shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            content, _, reason = _read(self._root, path, self._config.max_file_bytes)
            self._skip(shown, language, SkipReason.NAME_NOT_UTF8, word_digests(searchable(content)) if reason is None else None)
            return
        included = bool(include) and matches(path, include)
        if not included and exclude and matches(path, exclude):
            self._leave_out(path, language, Verdict(reason=SkipReason.EXCLUDED, refers=True))
            return
        # languages without a server will be left out as a whole, because the user says so; there is nothing to judge
        off = (self._config.of_language(language).server or self._config.server) == "none"
        is_own = included or self._marked.get(path) == vcs.OWN or off
        said = self._marked.get(path) if not is_own else None
        verdict = Verdict(reason=SkipReason(said), refers=True) if said else None if is_own else self._judge.of_path(path, language)
        if verdict is not None:
            self._leave_out(path, language, verdict)
            return
        self._read(path, language, is_own=is_own)

    def _read(self, path: str, language: str, *, is_own: bool) -> None:
        config = self._config
        content, stamp, reason = _read(self._root, path, config.max_file_bytes)
        if reason is None and form_of(path) and source_of(path, content) is None:
            self.others.append(path)
            return
        verdict = self._judge.of_content(path, language, content) if reason is None and not is_own else None
        if verdict is not None:
            self._skip(path, language, verdict.reason)
            return
        if stamp is not None:
            self.stamps[path] = stamp
        if reason is None:
            most = config.max_file_depth
            found = self._contents.once(f"{language} {most}", path, content, lambda: planned(path, language, content, most))
            if found is None:
                self._skip(path, language, SkipReason.TOO_DEEP, word_digests(searchable(content)))
                return
            self.documents[path], words = found
            self.own.update([path] if is_own else [])
            if words:
                self.parts[path] = words
            if self._contents.once("passes on", path, content, lambda: record_of(language).passes_all_on(content)):
                self.passing.append(path)
        elif reason is SkipReason.TOO_LARGE:
            self._leave_out(path, language, Verdict(reason=reason, refers=True))
        else:
            leads_away = reason is SkipReason.SYMLINK and leads_out(self._root, path, self._paths)
            words = self._words_of_link(path) if reason is SkipReason.SYMLINK and not leads_away else None
            self._skip(path, language, SkipReason.UNLISTED_LINK if leads_away else reason, words)

    def _words_of_link(self, path: str) -> tuple[int, ...] | None:
        """Words of a file that is read in another folder only: here they may mean what lies beside the link, as a package of Go has it."""
        target = resolved(self._root, path)
        if target is None or posixpath.dirname(target) == posixpath.dirname(path):
            return None
        content, _, problem = _read(self._root, target, self._config.max_file_bytes)
        return word_digests(searchable(content)) if problem is None else None

    def judge_tree(self) -> None:
        """Takes out what only all files together show to be none of the project's, or more than a server can be told."""
        for path, verdict in self._judge.of_tree({path: item.language for path, item in self.documents.items()}).items():
            self._take_out(path, verdict)
        for path in too_many(self.documents, self._paths):
            self._take_out(path, Verdict(reason=SkipReason.TOO_MANY, refers=True))

    def _take_out(self, path: str, verdict: Verdict) -> None:
        if path not in self.own:
            language = self.documents.pop(path).language
            self.stamps.pop(path, None)
            self.parts.pop(path, None)
            self._leave_out(path, language, verdict)

    def _leave_out(self, path: str, language: str, verdict: Verdict) -> None:
        words: tuple[int, ...] | None = None
        if verdict.refers:
            content, stamp, problem = _read(self._root, path, max(self._config.max_file_bytes, MOST_SEARCHED_BYTES))
            words = word_digests(searchable(content)) if problem is None else None
            if stamp is not None:
                self.stamps[path] = stamp
        self._skip(path, language, verdict.reason, words)

    def _skip(self, path: str, language: str, reason: SkipReason, words: tuple[int, ...] | None = None) -> None:
        self._skipped.append(Skipped(path=path, reason=reason, language=language, words=words))


def _manifests(root: Path, paths: Sequence[str], config: Config, judge: Judge, look: _Look) -> list[ManifestFile]:
    """The project's own; adds their stamps, and what they tell a linker."""
    found: list[ManifestFile] = []
    for path in paths:
        format_ = manifests.format_of(path)
        if not format_ or not _is_utf8(path) or (config.exclude and matches(path, config.exclude)):
            continue
        if judge.of_path(path, format_) is not None:
            continue
        content, stamp, reason = _read(root, path, manifests.MOST_BYTES)
        made = read_manifest(path, content) if reason is None else None
        if made is not None and stamp is not None:
            found.append(made)
            look.stamps[path] = stamp
            if words := unread.words_of_manifest(content):
                look.parts[path] = words
    return sorted(found, key=lambda item: item.path)


def _patterns(languages: Collection[str], config: Config) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """By language what is to be read, and what not, whatever else is said of it."""
    own = {language: config.of_language(language) for language in languages}
    return {language: ((*config.include, *settings.include), (*config.exclude, *settings.exclude)) for language, settings in own.items()}


def _by_words(
    root: Path,
    paths: Sequence[str],
    ignored: Sequence[str],
    sources: Collection[str],
    languages: Collection[str],
    judge: Judge,
    borders: Sequence[Skipped],
    contents: Contents,
) -> tuple[list[Skipped], dict[str, FileStamp]]:
    """Files that are not read and have words which may name a symbol; and stamps of all that were looked at, which may get such words."""
    stamps: dict[str, FileStamp] = {}

    def look(path: str) -> tuple[bytes, SkipReason | None]:
        content, stamp, problem = _read(root, path, unread.MOST_BYTES)
        if stamp is not None:
            stamps[path] = stamp
        return searchable(content), problem

    found = [
        *unread_files(paths, sources, judge, look, contents),
        *ignored_sources(root, ignored, borders, languages, judge, look),
    ]
    return found, stamps if len(stamps) <= _MOST_WORDLESS else {item.path: stamps[item.path] for item in found}


def _marks(root: Path, paths: Sequence[str], wanted: Sequence[str]) -> Mapping[str, str]:
    """What .gitattributes say, in whatever folder they lie; git is asked only where one of them speaks of linguist."""
    for path in paths:
        if path.endswith(".gitattributes") and b"linguist-" in _read(root, path, _MOST_ATTRIBUTES)[0]:
            return vcs.attributes(root, wanted)
    return {}


def _stamp_folders(root: Path, paths: Sequence[str], beyond: Collection[str]) -> dict[str, int]:
    """Modification times of all folders that the repository's files lie in, up to the root, and of those in them that hold none yet.

    Args:
        beyond: folders that are ignored, or another repository's.
    """
    folders: set[str] = {""}
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)
    folders |= _without_files(root, folders, beyond)
    stamps: dict[str, int] = {}
    for folder in sorted(folders):
        with contextlib.suppress(OSError, UnicodeEncodeError):
            folder.encode()
            stamps[folder] = os.stat(f"{root}/{folder}").st_mtime_ns
    return stamps


def _without_files(root: Path, folders: Collection[str], beyond: Collection[str]) -> set[str]:
    """Folders below these in which no file of the repository lies, but one may appear."""
    found: set[str] = set()
    waiting = list(folders)
    while waiting and len(found) < _MOST_EMPTY_FOLDERS:
        folder = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(f"{root}/{folder}") as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if path not in folders and path not in beyond and may_hold_sources(entry):
                    found.add(path)
                    waiting.append(path)
    return found


def _settled(descriptor: int) -> os.stat_result:
    """The status of an open file that any later write will change: one within the same tick of the file system's clock would not."""
    status = os.fstat(descriptor)
    if 0 <= time.time_ns() - status.st_ctime_ns < TICK_NS:
        time.sleep(TICK_NS / 1e9)
        status = os.fstat(descriptor)
    return status


def _is_utf8(path: str) -> bool:
    """Names that are no UTF-8 can stand neither in Parquet nor in a URI."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _read(root: Path, path: str, max_bytes: int) -> tuple[bytes, FileStamp | None, SkipReason | None]:
    """Content, stamp, and why it is not a document. Follows no link: a link may lead out of the repository."""
    place = f"{root}/{path}"  # a path object for each file would take a fifth of a survey
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return b"", None, SkipReason.UNREADABLE
    except OSError:
        try:
            mode = os.lstat(place).st_mode
        except OSError:
            return b"", None, SkipReason.UNREADABLE
        if stat.S_ISLNK(mode):
            return b"", None, SkipReason.SYMLINK
        return b"", None, SkipReason.UNREADABLE if stat.S_ISREG(mode) else SkipReason.NOT_REGULAR  # a socket cannot be opened
    status = _settled(descriptor)
    stamp = FileStamp(size_bytes=status.st_size, mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return b"", None, SkipReason.NOT_REGULAR
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > max_bytes:
            return b"", stamp, SkipReason.TOO_LARGE
        try:
            content = file.read(max_bytes + 1)
        except OSError:
            return b"", stamp, SkipReason.UNREADABLE
        if len(content) > max_bytes:  # it grows
            return b"", stamp, SkipReason.TOO_LARGE
    if is_binary(content):
        return b"", stamp, SkipReason.BINARY
    if encoding_of(content) is None:
        return b"", stamp, SkipReason.NOT_DECODABLE
    if is_pointer(content):
        return b"", stamp, SkipReason.LFS_POINTER
    return content, stamp, None


def of_folder(found: Survey, prefix: str) -> Survey:
    """The same with paths that lead there from the root."""
    if not prefix:
        return found
    return Survey(
        documents=[msgspec.structs.replace(document, path=prefix + document.path) for document in found.documents],
        stamps={prefix + path: stamp for path, stamp in found.stamps.items()},
        skipped=[replace(item, path=prefix + item.path) for item in found.skipped],
        folders={(prefix + folder).rstrip("/"): mtime_ns for folder, mtime_ns in found.folders.items()},
        manifests=[msgspec.structs.replace(item, path=prefix + item.path) for item in found.manifests],
        words={prefix + path: words for path, words in found.words.items()},
        left_out={prefix + top: state for top, state in found.left_out.items()},
        passing=[prefix + path for path in found.passing],
    )


def together(surveys: Sequence[Survey]) -> Survey:
    """One survey of several folders."""
    return Survey(
        documents=[document for found in surveys for document in found.documents],
        stamps={path: stamp for found in surveys for path, stamp in found.stamps.items()},
        skipped=[item for found in surveys for item in found.skipped],
        folders={folder: mtime_ns for found in surveys for folder, mtime_ns in found.folders.items()},
        manifests=sorted((item for found in surveys for item in found.manifests), key=lambda item: item.path),
        words={path: words for found in surveys for path, words in found.words.items()},
        left_out={top: state for found in surveys for top, state in found.left_out.items()},
        passing=[path for found in surveys for path in found.passing],
    )


def recipe_digest(documents: Sequence[PlannedDocument], ingredients: Sequence[str]) -> str:
    """Digest of the whole crawl's input: every document's identity and content, and `ingredients` (server, versions).

    A raw shard holds target locations in other files, so it is good only for this very tree; see ADR 0004.
    """
    digest = hashlib.sha256()
    for ingredient in ingredients:
        digest.update(ingredient.encode() + b"\0")
    for document in documents:
        digest.update(msgspec.json.encode(document) + b"\n")
    return digest.hexdigest()


def cut(documents: Sequence[PlannedDocument], tree_digest: str, *, prefix: str = "", fine: bool = False) -> list[Unit]:
    """Units of neighbouring documents, the large ones first; they depend on the tree alone, not on who crawls them.

    Neighbours import each other, and the server then has them at hand.

    Args:
        prefix: what the units' names begin with.
        fine: units of half the size, for a server that goes on from one to the next: they cost next to nothing, and workers end
            together though their bytes are not equally hard.
    """
    units: list[Unit] = []
    batch: list[PlannedDocument] = []
    left = sum(document.size_bytes for document in documents)
    parts = 2 if fine else 1
    least = min(UNIT_BYTES_LEAST // parts, max(UNIT_BYTES_FLOOR, left // (UNITS_OF_SMALL_TREES * parts)))

    def share(left: int) -> int:
        return min(UNIT_BYTES_MOST // parts, max(least, left // (UNIT_SHARE * parts)))

    size, goal = 0, share(left)
    for document in documents:
        if batch and size + document.size_bytes > goal:
            units.append(_unit(f"{prefix}{len(units):05d}", batch, tree_digest))
            left -= size
            batch, size, goal = [], 0, share(left)
        batch.append(document)
        size += document.size_bytes
    if batch:
        units.append(_unit(f"{prefix}{len(units):05d}", batch, tree_digest))
    return units


def _unit(name: str, documents: list[PlannedDocument], tree_digest: str) -> Unit:
    text = "\n".join([tree_digest, *(f"{document.path} {document.digest}" for document in documents)])
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:32]
    return Unit(name=name, fingerprint=fingerprint, documents=documents)
