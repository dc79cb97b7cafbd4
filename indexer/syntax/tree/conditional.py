"""C and C++ whose `#if` branches are no whole statements: the same text, byte for byte in its place, with fewer branches.

The grammar takes what lies between `#if` and `#endif` for whole statements, declarations or fields. Where one branch opens a brace that
another one closes, or a branch begins in the middle of a statement, it gives the function up, and often all of the file behind it:
then "the file" is who calls. Only the parser sees the text that is made here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    rb"""
    (?P<skip>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?(?:\*/|\Z)
      |(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.|\\\n)*"?|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)*'?)
    |(?P<line>^[ \t]*\#[ \t]*(?P<word>[a-z]*)(?:[^\n\\/]|\\\r?\n|\\.|/(?![*/])|/\*.*?\*/)*)
    |(?P<brace>[{}()\[\]])
    |(?P<word_else>\belse\b)
    |(?P<other>[^\s{}()\[\]"'/\#]+|[/\#])
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_OPENING = {b"{": b"}", b"(": b")", b"[": b"]"}
_ENDS_A_STATEMENT = frozenset(b";{}>")
_ELSEWHERE = re.compile(
    rb"#\s*(?:el)?if(?:def)?\b[^!]*\b(?:_*WIN(?:32|64)|_MSC_VER|__MINGW\w+|__CYGWIN__|__APPLE__|__sun|KR_headers)\b[^!]*\Z"
)
"""Conditions of machines and compilers that are not the one that a crawl is made on."""

_MOST_BYTES = 4_000_000
_MOST_GROUPS = 20_000
_MOST_NESTED = 200


class _Branch:
    """What lies between two directives of a group."""

    __slots__ = ("begins_with_else", "end", "ends", "extra", "is_elsewhere", "is_empty", "last", "opened", "start")

    def __init__(self, start: int, condition: bytes) -> None:
        self.start, self.end = start, start
        self.is_elsewhere = _ELSEWHERE.search(condition) is not None
        self.opened: list[tuple[int, bytes]] = []
        self.extra: list[int] = []  # braces that close what was opened before the branch
        self.is_empty, self.begins_with_else, self.last, self.ends = True, False, 0, True


class _Group:
    """`#if` to `#endif`. `directives`: where its lines are. `in_statement`: whether it begins within one, or within brackets."""

    __slots__ = ("branches", "continues", "directives", "in_statement")

    def __init__(self, in_statement: bool) -> None:
        self.directives: list[tuple[int, int]] = []
        self.branches: list[_Branch] = []
        self.in_statement, self.continues = in_statement, False


Blank = tuple[int, int]
"""Where text was taken away, half-open."""


class Repair(NamedTuple):
    """`text`: what the parser is to see. `blanks`: what it does not see, in order, but for single braces."""

    text: bytes
    blanks: list[Blank]


def repairs(source: bytes) -> list[Repair]:
    """Texts that may be read in place of one with errors, the ones with the fewest changes first; of the same length."""
    if len(source) > _MOST_BYTES or b"#if" not in source.replace(b"# ", b"#"):
        return []
    groups = _groups(source)
    found: list[Repair] = []
    for kept, within in ((0, False), (0, True), (-1, True)):
        made = _made(source, groups, kept=kept, within=within)
        if made.text != source and all(made.text != other.text for other in found):
            found.append(made)
    return found


def _groups(source: bytes) -> list[_Group]:
    """Groups in the order in which they end: those inside before those around."""
    open_groups: list[_Group] = []
    done: list[_Group] = []
    previous, brackets = ord(";"), 0
    after: _Group | None = None
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup
        if kind == "mark" or match["skip"] is not None:
            if match["skip"][:1] != b"/":
                previous = ord('"')
                _note(open_groups, previous)
            continue
        if match["line"] is not None:
            word, span = match["word"], match.span("line")
            if word in (b"if", b"ifdef", b"ifndef"):
                if len(open_groups) < _MOST_NESTED:
                    open_groups.append(_Group(brackets > 0 or previous not in _ENDS_A_STATEMENT))
                    open_groups[-1].directives.append(span)
                    open_groups[-1].branches.append(_Branch(span[1], match["line"]))
            elif word in (b"else", b"elif", b"elifdef", b"elifndef") and open_groups:
                _end(open_groups[-1], span, previous)
                open_groups[-1].branches.append(_Branch(span[1], match["line"]))
            elif word == b"endif" and open_groups:
                group = open_groups.pop()
                _end(group, span, previous)
                _pass_on(group, open_groups)
                done.append(group)
                after = group
                if len(done) >= _MOST_GROUPS:
                    break
            continue
        if match["word_else"] is not None and after is not None:
            after.continues = True
        after = None
        text = match[0]
        if open_groups:
            branch = open_groups[-1].branches[-1]
            if branch.is_empty:
                branch.begins_with_else = match["word_else"] is not None
        _note(open_groups, text[-1])
        if match["brace"] is not None:
            if text in (b"(", b"["):
                brackets += 1
            elif text in (b")", b"]"):
                brackets = max(0, brackets - 1)
            if open_groups:
                branch = open_groups[-1].branches[-1]
                if text in _OPENING:
                    branch.opened.append((match.start(), text))
                elif branch.opened and _OPENING[branch.opened[-1][1]] == text:
                    branch.opened.pop()
                else:
                    branch.extra.append(match.start())
            if text in (b"{", b"}"):
                brackets = 0  # a new statement, whatever was left open
        previous = text[-1]
    return done


def _note(open_groups: Sequence[_Group], last: int) -> None:
    if open_groups:
        branch = open_groups[-1].branches[-1]
        branch.is_empty, branch.last = False, last


def _end(group: _Group, span: tuple[int, int], previous: int) -> None:
    branch = group.branches[-1]
    branch.end = span[0]
    branch.ends = branch.is_empty or previous in _ENDS_A_STATEMENT
    group.directives.append(span)


def _pass_on(group: _Group, around: Sequence[_Group]) -> None:
    """What a branch leaves open or closes is so of the branch around its group, too: as the branch that is kept says."""
    if not around:
        return
    outer = around[-1].branches[-1]
    kept = group.branches[_kept(group, 0)]
    for place in kept.extra:
        if outer.opened:
            outer.opened.pop()
        else:
            outer.extra.append(place)
    outer.opened += kept.opened
    outer.is_empty = outer.is_empty and all(branch.is_empty for branch in group.branches)


def _kept(group: _Group, choice: int) -> int:
    """The branch whose braces count: the one that changes most, of this machine; of several the first if it opens, the last if it closes.

    Args:
        choice: 0 for the first and -1 for the last where braces do not decide it.
    """
    weights = [len(branch.opened) + len(branch.extra) for branch in group.branches]
    places = [number for number, weight in enumerate(weights) if weight == max(weights)]
    here = [number for number in places if not group.branches[number].is_elsewhere]
    places = here or places
    only_closes = any(branch.extra for branch in group.branches) and not any(branch.opened for branch in group.branches)
    return places[-1 if only_closes else choice]


def _made(source: bytes, groups: Sequence[_Group], *, kept: int, within: bool) -> Repair:
    """Args:
    kept: which branch is kept where braces do not decide it.
    within: whether branches are taken away as a whole, and of groups, too, that begin or end within a statement.
    """
    text = bytearray(source)
    blanks: list[Blank] = []
    for group in groups:
        unbalanced = any(branch.opened or branch.extra for branch in group.branches)
        is_part = group.in_statement or group.continues or any(not one.ends or one.begins_with_else for one in group.branches)
        if not unbalanced and not (within and is_part):
            continue
        for start, end in group.directives:
            _blank(text, start, end)
            blanks.append((start, end))
        chosen = _kept(group, kept if within else 0)
        for number, branch in enumerate(group.branches):
            if number == chosen:
                continue
            if within:
                _blank(text, branch.start, branch.end)
                blanks.append((branch.start, branch.end))
                continue
            for place in [*branch.extra, *(place for place, _ in branch.opened)]:
                text[place] = ord(" ")
    return Repair(bytes(text), _outermost(blanks))


def _outermost(blanks: list[Blank]) -> list[Blank]:
    """In order, without those that lie within others."""
    found: list[Blank] = []
    for start, end in sorted(blanks, key=lambda blank: (blank[0], -blank[1])):
        if start < end and (not found or start >= found[-1][1]):
            found.append((start, end))
    return found


def _blank(text: bytearray, start: int, end: int) -> None:
    text[start:end] = re.sub(rb"[^\r\n]", b" ", bytes(text[start:end]))
