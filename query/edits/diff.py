"""The difference of two texts: as a unified diff for readers, as edits for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.errors import EditRefused
from query.edits.blocks import Block, blocks
from query.edits.text import Document, Edit, decode, shown

_CONTEXT = 3


@dataclass(frozen=True, kw_only=True)
class FileDiff:
    """`text`: unified, without trailing newline; of a file that is no text one line that says so."""

    text: str
    added: int
    removed: int


def compare(old_path: str, before: bytes | None, new_path: str, after: bytes | None) -> FileDiff:
    """The diff of two contents; None: no file."""
    names = [f"--- {'/dev/null' if before is None else 'a/' + old_path}", f"+++ {'/dev/null' if after is None else 'b/' + new_path}"]
    try:
        old, new = _lines(before), _lines(after)
    except EditRefused:
        return FileDiff(text="\n".join([*names, "binary files differ" if before != after else "binary file"]), added=0, removed=0)
    found = blocks(old, new)
    body = [line for group in _grouped(found) for line in _hunk(old, new, group)]
    return FileDiff(
        text=shown("\n".join([*names, *body])),
        added=sum(new_end - new_start for _, _, new_start, new_end in found),
        removed=sum(old_end - old_start for old_start, old_end, _, _ in found),
    )


def edits(before: Document, after: Document) -> list[Edit]:
    """Edits of whole lines that turn one text into the other, line ends included."""
    old, new = before.text.splitlines(keepends=True), after.text.splitlines(keepends=True)
    ends = [0]
    for line in old:
        ends.append(ends[-1] + len(line))
    return [
        Edit(
            start=before.lines.position(ends[old_start]),
            end=before.lines.position(ends[old_end]),
            new_text="".join(new[new_start:new_end]),
        )
        for old_start, old_end, new_start, new_end in blocks(old, new)
    ]


def _lines(content: bytes | None) -> list[str]:
    """Lines with their ends, cut at newlines only, as diff does."""
    text = decode(content or b"").text
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _grouped(found: Sequence[Block]) -> Iterator[list[Block]]:
    """Blocks that are near each other make one hunk."""
    group: list[Block] = []
    for block in found:
        if group and block[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _hunk(old: Sequence[str], new: Sequence[str], group: Sequence[Block]) -> Iterator[str]:
    before = min(_CONTEXT, group[0][0])
    start, new_start = group[0][0] - before, group[0][2] - before
    after = min(_CONTEXT, len(old) - group[-1][1])
    end, new_end = group[-1][1] + after, group[-1][3] + after
    yield f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@"
    at = start
    for old_start, old_end, from_new, to_new in group:
        yield from _marked(" ", old[at:old_start])
        yield from _marked("-", old[old_start:old_end])
        yield from _marked("+", new[from_new:to_new])
        at = old_end
    yield from _marked(" ", old[at:end])


def _marked(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start}" + ("" if length == 1 else f",{length}")
