"""What became of each symbol of a file, from its outlines and texts on both sides and the lines that differ. Pure.

A symbol is changed where a line of its own differs, on either side; a line of a method is not its class's own. What became of it is said
by its code without comments, documentation and layout, so that a reviewer can leave out what cannot break anything.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from query.changes.diff import FileChange
from query.changes.outlines import Entity, Outline, by_chain

What = Literal["added", "removed", "renamed", "moved", "signature", "body", "docs"]
"""added, removed; renamed: another name, same place, much the same code; moved: same name, another file or container;
signature: its declaration differs; body: its code differs; docs: only comments, documentation or layout do.
"""

RENAMED_LIKENESS = 0.6
"""Share of code that a removed and an added symbol must have in common to be one that was renamed or moved."""

_MAX_PAIRS = 4_000
"""More candidates than that are compared by equal code only."""

_MAX_TOKENS = 4_000
_FUNCTIONS = (6, 9, 12)
_TYPES = (5, 10, 11, 23)
_MODULE = 2


class Side(NamedTuple):
    """A file on one side. `lines` without their ends."""

    outline: Outline
    lines: Sequence[str]


class Changed(NamedTuple):
    """One symbol. `old` is None where it was added, `new` where it was removed. `touched`: lines of its own that differ, old and new."""

    what: What
    old: tuple[Side, Entity] | None
    new: tuple[Side, Entity] | None
    touched: tuple[int, int] = (0, 0)
    likeness: float = 1.0

    @property
    def entity(self) -> Entity:
        side = self.new or self.old
        assert side is not None
        return side[1]

    @property
    def side(self) -> Side:
        side = self.new or self.old
        assert side is not None
        return side[0]


def compare(change: FileChange, old: Side | None, new: Side | None) -> list[Changed]:
    """What became of the symbols of one file, in the order of the text, removed ones last."""
    before = by_chain(old.outline.entities) if old else {}
    after = by_chain(new.outline.entities) if new else {}
    touched_old = _touched(old, ((hunk.old_start, hunk.old_end) for hunk in change.hunks)) if old else {}
    touched_new = _touched(new, ((hunk.new_start, hunk.new_end) for hunk in change.hunks)) if new else {}
    was_moved = bool(old and new and change.old_path != change.new_path)
    found: list[Changed] = []
    for chain, entity in after.items():
        counts = (touched_old.get(chain, 0), touched_new.get(chain, 0))
        earlier = before.get(chain)
        if new is None:
            continue
        if earlier is None or old is None:
            if chain or old is None:
                found.append(Changed("added", None, (new, entity), counts))
        elif counts != (0, 0):
            what = _difference(old, earlier, new, entity)
            if what is not None and not (what == "docs" and not chain and not _own_lines(new, entity)):
                found.append(Changed(what, (old, earlier), (new, entity), counts))
        elif was_moved and len(chain) == 1 and entity.exported:
            found.append(Changed("moved", (old, earlier), (new, entity), counts))
    if old is not None:
        found += [
            Changed("removed", (old, entity), None, (touched_old.get(chain, 0), 0))
            for chain, entity in before.items()
            if chain not in after and (chain or new is None)
        ]
    return found


def _touched(side: Side, ranges: Iterable[tuple[int, int]]) -> dict[tuple[str, ...], int]:
    """By symbol: how many lines of its own are in the ranges."""
    counts: dict[tuple[str, ...], int] = {}
    entities = side.outline.entities
    if not entities:
        return counts
    owners = side.outline.owners(len(side.lines))
    for start, end in ranges:
        for line in range(start, min(end, len(owners))):
            chain = entities[owners[line]].chain
            counts[chain] = counts.get(chain, 0) + 1
    return counts


def _own_lines(side: Side, entity: Entity) -> list[str]:
    """Its text without that of its members."""
    entities = side.outline.entities
    number = entities.index(entity)
    owners = side.outline.owners(len(side.lines))
    spans = entity.spans if number else ((0, len(side.lines)),)
    return [side.lines[line] for start, end in spans for line in range(start, min(end, len(side.lines))) if owners[line] == number]


def _difference(old: Side, earlier: Entity, new: Side, later: Entity) -> What | None:
    language = new.outline.language
    if earlier.kind in (*_FUNCTIONS, *_TYPES) and _plain(earlier.signature) != _plain(later.signature):
        return "signature"
    return "docs" if code(language, _own_lines(old, earlier)) == code(language, _own_lines(new, later)) else "body"


def _plain(signature: str) -> str:
    return "".join(signature.split()).rstrip(",:{;")


def is_compatible(language: str, old: Entity, new: Entity) -> bool:
    """Whether whoever used the old declaration can use the new one as well: only types differ, or parameters with defaults were added.

    Python by its own grammar; for other languages only what is the same but for layout is known to be compatible. Of a type, bases without
    their type arguments are compared.
    """
    if language != "python":
        return _plain(old.signature) == _plain(new.signature)
    if old.kind in _TYPES:
        return _without_arguments(old.signature) == _without_arguments(new.signature)
    before, after = _parameters(old.signature), _parameters(new.signature)
    if before is None or after is None:
        return False
    return _accepts(before, after)


def _without_arguments(signature: str) -> str:
    while (shorter := re.sub(r"\[[^\[\]]*\]", "", signature)) != signature:
        signature = shorter
    return _plain(signature)


def _parameters(signature: str) -> ast.arguments | None:
    try:
        tree = ast.parse(f"{signature.rstrip().rstrip(':')}: ...").body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    return tree.args if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef) else None


def _accepts(before: ast.arguments, after: ast.arguments) -> bool:
    """Whether every call that fits `before` fits `after`."""
    old, new = [*before.posonlyargs, *before.args], [*after.posonlyargs, *after.args]
    if len(new) < len(old) and after.vararg is None:
        return False
    names = zip(old, new, strict=False)
    if any(left.arg != right.arg and left not in before.posonlyargs for left, right in names):
        return False
    required = len(new) - len(after.defaults)
    if required > max(len(old) - len(before.defaults), 0) and required > len(old) - len(before.defaults):
        return False
    keywords = {item.arg: default is not None for item, default in zip(after.kwonlyargs, after.kw_defaults, strict=True)}
    keywords |= {item.arg: True for item in after.args}
    earlier = {item.arg for item in before.kwonlyargs}
    if after.kwarg is None and not earlier <= keywords.keys():
        return False
    if any(not has_default and name not in earlier for name, has_default in keywords.items()):
        return False
    return (before.vararg is None or after.vararg is not None) and (before.kwarg is None or after.kwarg is not None)


# ---- renamed and moved


def match_moved(changes: Sequence[Changed]) -> list[Changed]:
    """Removed and added symbols of much the same code become one that was renamed or moved; the rest stays as it is."""
    removed = [item for item in changes if item.what == "removed" and item.entity.chain]
    added = [item for item in changes if item.what == "added" and item.entity.chain]
    taken: dict[int, Changed] = {}
    gone: set[int] = set()
    for likeness, left, right in _pairs(removed, added):
        if id(left) in gone or id(right) in taken:
            continue
        same_name = left.entity.name == right.entity.name
        what: What = "moved" if same_name else "renamed"
        gone.add(id(left))
        taken[id(right)] = Changed(what, left.old, right.new, (left.touched[0], right.touched[1]), likeness)
    return [taken.get(id(item), item) for item in changes if id(item) not in gone]


def _pairs(removed: Sequence[Changed], added: Sequence[Changed]) -> Iterator[tuple[float, Changed, Changed]]:
    """Candidates, the most alike first; members of a class that moved as a whole are found by themselves."""
    by_kind: dict[tuple[int, str], list[Changed]] = {}
    for item in added:
        by_kind.setdefault((item.entity.kind, item.side.outline.language), []).append(item)
    candidates = [
        (left, right) for left in removed for right in by_kind.get((left.entity.kind, left.side.outline.language), ()) if _fits(left, right)
    ]
    exact_only = len(candidates) > _MAX_PAIRS
    rated: list[tuple[float, int, Changed, Changed]] = []
    for left, right in candidates:
        ours, theirs = _body(left), _body(right)
        if ours == theirs:
            likeness = 1.0
        elif exact_only:
            continue
        else:
            matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
            likeness = matcher.ratio() if matcher.real_quick_ratio() >= RENAMED_LIKENESS <= matcher.quick_ratio() else 0.0
        same = left.entity.name == right.entity.name
        if likeness >= (RENAMED_LIKENESS if not same else RENAMED_LIKENESS / 2) and (same or len(ours) > 6):
            rated.append((likeness, same, left, right))
    rated.sort(key=lambda item: (-item[1], -item[0], item[2].entity.chain, item[3].entity.chain))
    yield from ((likeness, left, right) for likeness, _, left, right in rated)


def _fits(left: Changed, right: Changed) -> bool:
    """Same name anywhere, or another name in the same container of the same file."""
    if left.entity.name == right.entity.name:
        return True
    same_file = left.side.outline.path == right.side.outline.path
    return same_file and left.entity.chain[:-1] == right.entity.chain[:-1]


def _body(item: Changed) -> tuple[str, ...]:
    """Code of the whole symbol without its own name."""
    side, entity = item.side, item.entity
    lines = [line for start, end in entity.spans for line in side.lines[start:end]]
    return tuple(token for token in code(side.outline.language, lines) if token != entity.name)


# ---- code without what cannot break anything


def code(language: str, lines: Sequence[str]) -> tuple[str, ...]:
    """Tokens without comments, documentation and layout; in Python the depth of each line counts, for it means something."""
    return _code(language, "\n".join(lines))


@lru_cache(maxsize=2_000)
def _code(language: str, text: str) -> tuple[str, ...]:
    from pygments.token import Comment, String, Whitespace

    found: list[str] = []
    keeps_depth = language == "python"
    depth = 0
    at_start = True
    base: int | None = None
    for kind, value in _lexer(language).get_tokens(text):
        if at_start and value.strip("\n") != value.strip():
            depth = len(value.expandtabs()) if not value.strip() and "\n" not in value else depth
        if kind in Comment and kind not in Comment.Preproc and kind not in Comment.PreprocFile:
            continue
        if kind in String.Doc or kind in Whitespace or not value.strip():
            if "\n" in value:
                at_start, depth = True, 0
            continue
        if keeps_depth and at_start:
            base = depth if base is None else base
            found.append(f"\n{depth - base}")
        at_start = False
        found.append(value.strip())
        if len(found) > _MAX_TOKENS:
            found.append(text[-200:])
            found.append(str(hash_of(text)))
            break
    return tuple(found)


def hash_of(text: str) -> int:
    """Of text that is too long to compare by its tokens; the same in every process."""
    import zlib

    return zlib.crc32(text.encode("utf-8", "replace"))


@lru_cache(maxsize=50)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    names: Mapping[str, str] = {"typescriptreact": "tsx", "javascriptreact": "jsx", "shellscript": "bash"}
    try:
        return get_lexer_by_name(names.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return get_lexer_by_name("text", stripnl=False, ensurenl=False)
