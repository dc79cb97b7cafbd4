"""Both sides of a change as texts and outlines, and how well an index fits the new one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from indexer.languages import record_of
from indexer.reading_time import Text, too_slow
from indexer.servers.registry import is_test, language_of, languages_present, load_table
from indexer.text import blob_digest
from query.changes import bases
from query.changes.compare import Side
from query.changes.diff import STAGED, WORK_TREE, Diff, FileChange, Sides, blobs, listing, read_file, sides
from query.changes.outlines import Held, Outline, from_index, from_text, lookup, numbered
from query.facts.completeness import Certificate
from query.facts.documents import contents, digests, modules
from query.facts.families import languages_of
from query.facts.freshness import Drift
from query.facts.index import Index

_MOST_NEIGHBOURS = 200
"""Modules that are looked at to tell the package of a file that the index has not got."""

_MOST_COMPARED = 2_000
"""Files of which it is looked whether only their line ends differ; where more differ, the index is of another commit."""


class Part(NamedTuple):
    """A file of the change; a side is None where there is none or it was not read."""

    change: FileChange
    old: Side | None
    new: Side | None


def language(path: str) -> str:
    """The language that a file is read in, empty for none: no data, no documents, no style sheets."""
    found = language_of(path, languages_present([path]))
    return found if found and load_table().language[found].crawl == "full" else ""


# ---- texts and outlines


def parts(index: Index, base: Index | None, found: Diff) -> list[Part]:
    """Both sides of every file of the change.

    Symbols of both sides come from indexes where both are held by one; else both come from the text, for a text shows less than a
    server, and what only one of the two shows is no difference. The numbers of symbols are those of the first index that holds the text.
    """
    indexes = [index, *([base] if base is not None and base is not index else [])]
    files = [item for item in found.files if not item.special and language(item.path)]
    contents = _Contents(index.root, found.sides, files)
    wanted = {(item.old_path, item.old_blob) for item in files if item.old_blob}
    wanted |= {(item.new_path, item.new_blob) for item in files if item.new_blob}
    known = lookup(indexes, wanted)
    made = _Outlines(
        files, known, contents, _described(indexes, {path for item in files for path in (item.old_path, item.new_path) if path})
    )
    by_path = {id(item): Part(item, made.old(item), made.new(item)) for item in files}
    return [by_path.get(id(item), Part(item, None, None)) for item in found.files]


def _described(indexes: Sequence[Index], paths: Collection[str]) -> dict[str, tuple[str, bool]]:
    """Module and whether it is a test, by path: as an index has them for whatever content; else by the names of its neighbours."""
    found: dict[str, tuple[str, bool]] = {}
    for index in indexes:
        known = contents(index, {path for path in paths if path not in found})
        found.update({path: (content.module, content.is_test) for path, content in known.items()})
    for path in sorted(set(paths) - found.keys()):
        found[path] = (_module_beside(indexes[0], path), is_test(path, language(path)))
    return found


def _module_beside(index: Index, path: str) -> str:
    folder, _, name = path.rpartition("/")
    record = record_of(language(path))
    if not name.endswith(".py") and not record.named_by_package:
        return ""
    stem = name.rpartition(".")[0]
    for other, module in modules(index, folder, _MOST_NEIGHBOURS):
        there, _, its_name = other.rpartition("/")
        if there == folder and module and language(other) == language(path):
            package = module if its_name == "__init__.py" else module.rpartition(".")[0]
            return package if stem == "__init__" else f"{package}.{stem}" if package else stem
    return stem


class _Contents:
    """Texts of both sides, as bytes."""

    def __init__(self, root: Path, between: Sides, files: Sequence[FileChange]) -> None:
        self._root, self._new = root, between.new
        names = {item.old_blob for item in files}
        if between.new != WORK_TREE:
            names |= {item.new_blob for item in files}
        self._blobs = blobs(root, names)

    def old(self, item: FileChange) -> bytes | None:
        return self._blobs.get(item.old_blob)

    def new(self, item: FileChange) -> bytes | None:
        if self._new == WORK_TREE:
            return read_file(self._root, item.new_path) if item.new_path else None
        return self._blobs.get(item.new_blob)


class _Outlines:
    def __init__(
        self,
        files: Sequence[FileChange],
        known: Mapping[tuple[str, str], Held],
        contents: _Contents,
        described: Mapping[str, tuple[str, bool]],
    ) -> None:
        self._known, self._contents = known, contents
        by_text: dict[tuple[str, str], bytes] = {}
        together: list[set[tuple[str, str]]] = []
        held: list[Held] = []
        for item in files:
            ends = [(item.old_path, item.old_blob, contents.old), (item.new_path, item.new_blob, contents.new)]
            ends = [end for end in ends if end[0]]
            # an index knows a function at its body; that a header declares it, only the text says
            if not record_of(language(item.path)).bodies_elsewhere and all((path, blob) in known for path, blob, _ in ends):
                held += [known[path, blob] for path, blob, _ in ends]
            else:
                of_both = {(path, blob): text for path, blob, read in ends if (text := read(item)) is not None}
                together.append(set(of_both))
                by_text |= of_both
        self._made: dict[tuple[str, str], Outline] = {}
        from_indexes = from_index(held)
        for (path, blob), one in known.items():
            key = (path, one.content.doc_id, id(one.by))
            if key in from_indexes:
                self._made[path, blob] = from_indexes[key]
        unread = _too_slow(by_text)
        for ends in together:
            if ends & unread:  # what only one side shows is no difference
                unread |= ends
        self._read({key: text for key, text in by_text.items() if key not in unread}, described)

    def _read(self, texts: Mapping[tuple[str, str], bytes], described: Mapping[str, tuple[str, bool]]) -> None:
        to_number: list[tuple[tuple[str, str], Outline, Held]] = []
        for key, text in texts.items():
            known = self._known.get(key)
            module, is_test = described[key[0]]
            outline = from_text(key[0], text, module=module, is_test=is_test)
            if outline is None or not outline.entities:
                continue
            self._made[key] = outline
            if known is not None:
                to_number.append((key, outline, known))
        for (key, _, _), outline in zip(to_number, numbered([(outline, known) for _, outline, known in to_number]), strict=True):
            self._made[key] = outline

    def old(self, item: FileChange) -> Side | None:
        return self._side(item.old_path, item.old_blob, self._contents.old(item))

    def new(self, item: FileChange) -> Side | None:
        return self._side(item.new_path, item.new_blob, self._contents.new(item))

    def _side(self, path: str, blob: str, text: bytes | None) -> Side | None:
        outline = self._made.get((path, blob)) if path and text is not None else None
        if outline is None or text is None or not outline.entities:
            return None
        return Side(outline, text.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n"))


def _too_slow(texts: Mapping[tuple[str, str], bytes]) -> set[tuple[str, str]]:
    """Those that no parser reads in time; a change may come from anybody."""
    keys = list(texts)
    return {keys[number] for number in too_slow([Text(language(path), path, texts[path, blob]) for path, blob in keys])}


# ---- indexes of the sides


def base_of(
    index: Index, between: Sides, found: Diff, *, make: bool, progress: Callable[[int, int, str], None]
) -> tuple[Index | None, str]:
    """The index of the old side and where it comes from. The present one is it, where it holds what the files were."""
    old = {(item.old_path, item.old_blob) for item in found.files if item.old_blob and language(item.old_path) and not item.special}
    held = lookup([index], old)
    if len(held) == len(old):
        return index, "index"
    commit = between.old
    if commit == STAGED:
        commit = "" if held else _head_with(index.root, old)
        if not commit:
            return (index, "index") if held else (None, "text")
    other = bases.find(index, commit)
    if other is not None:
        return other, "base index"
    if make:
        return bases.make(index, commit, progress=progress), "made"
    return None, "text"


def _head_with(root: Path, staged: Collection[tuple[str, str]]) -> str:
    """The commit that is checked out, where it has these files as they are staged; empty where it has not."""
    head = sides(root, scope="uncommitted").old
    there = listing(root, head)
    return head if staged and all(there.get(path) == blob for path, blob in staged) else ""


class SideCertificate(Certificate):
    """What may be missing from answers about the new side of a change: an index may be of another tree than that, too."""

    def __init__(self, index: Index, between: Sides) -> None:
        super().__init__(index)
        self._of, self._between = index, between
        self._differs: Drift | None = None

    @property
    def drift(self) -> Drift:
        if self._between.new == WORK_TREE:
            return super().drift
        if self._differs is None:
            self._differs = _difference(self._of, self._between.new)
        return self._differs

    def text(self, path: str) -> bytes | None:
        return super().text(path) if self._between.new == WORK_TREE or path not in self.drift.paths else None


def _difference(index: Index, tree: str) -> Drift:
    """Files whose content in a tree is not what the index holds."""
    there = listing(index.root, tree)
    here = {path: digest for path, digest in digests(index).items() if not path.startswith("../")}
    known = languages_of(index)
    changed = {path: digest for path, digest in here.items() if path in there and there[path] != digest}
    same = _same_but_for_line_ends(index.root, changed, there) if len(changed) <= _MOST_COMPARED else set[str]()
    return Drift(
        changed=sorted(changed.keys() - same),
        deleted=sorted(path for path in here if path not in there),
        new=sorted(path for path in there if path not in known and language(path)),
    )


def _same_but_for_line_ends(root: Path, held: Mapping[str, str], there: Mapping[str, str]) -> set[str]:
    """Files that the index holds with carriage returns where git has none, as `core.autocrlf` and `eol=crlf` make them, or the reverse.

    Lines and columns are the same then.

    Args:
        held, there: git's names of the contents by path, of the index and of the tree.
    """
    texts = blobs(root, {there[path] for path in held})
    found: set[str] = set()
    for path, digest in held.items():
        if (text := texts.get(there[path])) is not None:
            bare = text.replace(b"\r\n", b"\n")
            if digest in (blob_digest(bare.replace(b"\n", b"\r\n")), blob_digest(bare)):
                found.add(path)
    return found
