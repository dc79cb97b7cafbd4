"""Files that pass through a filter of git's, which we never run: their text is read as it lies in the work tree.

Git compares such a file with what is committed only through its filter. Of git-lfs the committed pointer says size and digest of
the content, so the comparison needs no program. Of any other filter nothing can be said, and whoever asks is told so.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from indexer import git_command

_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:[a-z0-9.-]+ [^\n]*\n)*?oid sha256:([0-9a-f]{64})\nsize (\d+)\n\Z")
_MOST_POINTER_BYTES = 1_024
_MOST_READ_BYTES = 256 << 20
"""Read of one tree for comparing; beyond that a file of the right size counts as unchanged."""

_BATCH = 500


def is_pointer(content: bytes) -> bool:
    """Whether a text only says where git-lfs keeps the content."""
    return len(content) <= _MOST_POINTER_BYTES and _POINTER.match(content) is not None


def filtered(folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """The filter that .gitattributes name for each file that has one, relative to `folder`."""
    listed = "\0".join(paths)
    if not listed:
        return {}
    done = git_command.run(folder, "check-attr", "-z", "--stdin", "filter", stdin=listed.encode("utf-8", "surrogateescape") + b"\0")
    parts = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    triples = zip(parts[0::3], parts[1::3], parts[2::3], strict=False)
    return {path: value for path, _, value in triples if value not in ("unspecified", "unset", "set")}


def unchanged(folder: Path, pointers: Mapping[str, bytes]) -> set[str]:
    """The files, by paths relative to `folder`, whose content is what git-lfs keeps for their pointers."""
    left = _MOST_READ_BYTES
    same: set[str] = set()
    for path, pointer in pointers.items():
        match = _POINTER.match(pointer)
        if match is None:
            continue
        size = int(match[2])
        if _digest(folder / path, size, read=size <= left) in (match[1].decode(), _NOT_READ):
            same.add(path)
        left -= size if size <= left else 0
    return same


_NOT_READ = "not read"


def _digest(path: Path, size: int, *, read: bool) -> str:
    """SHA-256 of a plain file of this size; empty where it is none."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size != size:
                return ""
            return hashlib.file_digest(file, "sha256").hexdigest() if read else _NOT_READ
    except OSError:
        return ""


def staged_pointers(folder: Path, paths: Sequence[str]) -> dict[str, bytes]:
    """What is staged for those of the paths where that is a pointer."""
    names: dict[str, str] = {}
    for start in range(0, len(paths), _BATCH):
        words = [f":(literal){path}" for path in paths[start : start + _BATCH]]
        for entry in git_command.run(folder, "ls-files", "--stage", "-z", "--", *words).stdout.split(b"\0"):
            head, _, name = entry.partition(b"\t")
            if head.endswith(b" 0"):
                names[name.decode("utf-8", "surrogateescape")] = head.split()[1].decode()
    found = pointers(folder, set(names.values()))
    return {path: found[name] for path, name in names.items() if name in found}


def pointers(folder: Path, names: Collection[str]) -> dict[str, bytes]:
    """The contents, of those with one of git's names, that are pointers. What is too large to be one is not read."""
    asked = "".join(f"{name}\n" for name in sorted(names))
    if not asked:
        return {}
    sizes = git_command.run(folder, "cat-file", "--batch-check", "--buffer", stdin=asked.encode()).stdout.decode("ascii", "replace")
    lines = [line.split() for line in sizes.splitlines()]
    small = "".join(f"{line[0]}\n" for line in lines if len(line) == 3 and line[1] == "blob" and int(line[2]) <= _MOST_POINTER_BYTES)
    contents = git_command.run(folder, "cat-file", "--batch", "--buffer", stdin=small.encode()).stdout if small else b""
    return {name: content for name, content in parse_batch(contents) if is_pointer(content)}


def parse_batch(text: bytes, *, most_bytes: int | None = None) -> Iterator[tuple[str, bytes]]:
    """Names and contents from `git cat-file --batch`. An answer that ends early, as where a clone is partial, ends them."""
    position = 0
    while (end := text.find(b"\n", position)) >= 0:
        head = text[position:end].decode("ascii", "replace").split()
        position = end + 1
        if len(head) == 3 and head[2].isdigit():
            size = int(head[2])
            if head[1] == "blob" and (most_bytes is None or size <= most_bytes) and position + size <= len(text):
                yield head[0], text[position : position + size]
            position += size + 1
