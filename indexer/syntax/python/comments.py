r"""What the grammar is given in place of a file with very long runs of comments, or of lines that do nothing but go on.

The grammar looks from each comment to the end of all that follow it, so 4,000 lines of comments in a row take 1.5 s and 40,000 a
hundred times that. Comments carry no fact, so the inner lines of a long run are given to it as blanks of the same length.
From each `\` at the end of a line it looks through all lines behind it that hold nothing else. The inner ones of a long run are left out
of what it reads: it goes on behind them as behind one, and all else keeps its place.
"""

from __future__ import annotations

import io
import re
import tokenize

import tree_sitter

from indexer.syntax.python.nodes import LANGUAGE, PARSER

LONG = 200
"""Lines of comments in a row; fewer are left as they are."""

_COMMENT = rb"[ \t\f]*#[^\n]*\n"
_SIGN = re.compile(rb"[^\r\n]")
_CONTINUATIONS = re.compile(rb"(?m)^(?:[ \t\f]*\\\r?\n){%d,}" % LONG)


def tree_of(source: bytes) -> tree_sitter.Tree:
    """The tree of a file's text, in time in proportion to the length of such runs."""
    text = source if source.count(b"#") < LONG else without_long_comments(source)
    parts = [] if source.count(b"\\") < LONG else _around_long_continuations(source)
    return tree_sitter.Parser(LANGUAGE, included_ranges=parts).parse(text) if parts else PARSER.parse(text)


def _around_long_continuations(source: bytes) -> list[tree_sitter.Range]:
    r"""All of the text but the inner lines of runs of LONG lines of a lone `\`; nothing where there is none."""
    parts: list[tree_sitter.Range] = []
    start, row = 0, 0
    for run in _CONTINUATIONS.finditer(source):
        first = source.index(b"\n", run.start()) + 1
        last = source.rindex(b"\n", run.start(), run.end() - 1) + 1
        first_row = row + source.count(b"\n", start, first)
        parts.append(tree_sitter.Range((row, 0), (first_row, 0), start, first))
        start, row = last, first_row + source.count(b"\n", first, last)
    if not parts:
        return []
    end = len(source) - source.rfind(b"\n") - 1
    return [*parts, tree_sitter.Range((row, 0), (row + source.count(b"\n", start), end), start, len(source))]


def without_long_comments(source: bytes, long: int = LONG) -> bytes:
    """The text with runs of `long` lines of comments blank but for those that say where blocks end.

    These are the first and the last one, each that is indented less than all before it, and the one in front of it.
    Lines of a string that begin with the sign are no comments. Where Python cannot tell them apart, since the text is broken before, a run
    of such lines is taken to be of comments.
    """
    runs = list(re.finditer(rb"(?m)^(?:%b){%d,}" % (_COMMENT, long), source))
    if not runs:
        return source
    comments = _comment_lines(source)
    made = bytearray(source)
    for run in runs:
        start = run.start()
        first = source.count(b"\n", 0, start)
        lines = run.group().splitlines(keepends=True)
        kept = _ends_of_blocks(lines)
        for number, line in enumerate(lines):
            if number not in kept and (first + number in comments.lines or first + number > comments.end):
                made[start : start + len(line)] = _SIGN.sub(b" ", line)
            start += len(line)
    return bytes(made)


def _ends_of_blocks(lines: list[bytes]) -> set[int]:
    """Few: every one is indented less than the one before it, and a line is as long as its indent."""
    kept = {0, len(lines) - 1}
    least = _indent(lines[0])
    for number, line in enumerate(lines):
        if (indent := _indent(line)) < least:
            least = indent
            kept |= {number - 1, number}
    return kept


def _indent(line: bytes) -> int:
    """As the grammar counts it: a tab is eight, behind a form feed a line begins anew."""
    blank = line.partition(b"#")[0].rpartition(b"\f")[2]
    return len(blank) + 7 * blank.count(b"\t")


class _Comments:
    """Lines, 0-based, that hold nothing but a comment, and the last line that could be read."""

    def __init__(self) -> None:
        self.lines: set[int] = set()
        self.end = -1


def _comment_lines(source: bytes) -> _Comments:
    found = _Comments()
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.decode("utf-8", "replace"), newline="\n").readline):
            if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
                found.lines.add(token.start[0] - 1)
            found.end = token.end[0] - 1
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
