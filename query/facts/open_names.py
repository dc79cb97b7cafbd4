"""What identifiers stand for that nobody could resolve, by what stands around them in the text. Pure.

Each gets one `Kind`. Two of them say that nothing is there to be found: LEFT_OUT and UNBOUND (`NAMING_NOTHING`). All others say why it was
not found, and that is no promise that there is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from indexer.model import Role


class Kind(StrEnum):
    """Why an identifier is open, or as what it stands where that is all that is known."""

    LEFT_OUT = "in parts that the build leaves out"
    CONDITION = "macros in conditions that no file defines"
    UNBOUND = "names that their file binds nowhere"
    OF_UNBOUND = "taken of names that their file binds nowhere"
    OF_IMPORT = "of what unresolved imports bring"
    MEMBER = "members of values whose type is unknown"
    PATH = "names below a module or type that is unknown"
    MACRO = "in macros and attributes"
    KEY = "names of arguments and fields"
    TESTED = "globals of a test framework without its types"
    BRANCH = "in branches of #if"
    OTHER = "names without a definition"


NAMING_NOTHING = frozenset({Kind.LEFT_OUT, Kind.UNBOUND, Kind.OF_UNBOUND})
"""Kinds of which it is known that the workspace as it was read has nothing to find for them, unless what runs a file brings names along."""

_CHAINED = frozenset({Kind.UNBOUND, Kind.OF_UNBOUND, Kind.OF_IMPORT})
_IMPORT, _KEYWORD, _MENTION = int(Role.IMPORT), int(Role.KEYWORD), int(Role.MENTION)
_OPENING = {")": "(", "]": "[", "}": "{"}
_QUOTES = frozenset("\"'`#")
"""Behind one of these a bracket may be text, and a line may be a comment: nothing is said of what lies before."""

_MOST_SIGNS = 2_000
_MOST_LINKS = 200
_DIRECTIVE = re.compile(rb"\s*#\s*(if|ifdef|ifndef|elif|endif|define)\b")
_TEST_GLOBALS = frozenset(
    {"describe", "it", "test", "suite", "expect", "before", "after", "beforeEach", "afterEach", "beforeAll", "afterAll", "setup",
     "teardown", "jest", "vi", "jasmine", "spyOn", "xit", "xdescribe", "fit", "fdescribe", "QUnit", "cy"}
)  # fmt: skip


class Open(NamedTuple):
    """An identifier that is unresolved. `is_bound`: its file binds the name somewhere; `is_imported`: by an import that is unresolved."""

    line: int
    col: int
    end_col: int
    name: str
    roles: int
    is_bound: bool
    is_imported: bool


class Around(NamedTuple):
    """What is known of the file. `binds`: a name means what it binds (`Language.binds_in_file`), and it has no star import."""

    binds: bool = False
    is_preprocessed: bool = False
    is_script_test: bool = False


class Text:
    """A file's lines, in which columns count UTF-16 code units."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines
        self._read: dict[int, str] = {}

    def line(self, number: int) -> str:
        """A second unit of one sign is a NUL."""
        found = self._read.get(number)
        if found is None:
            text = self._lines[number].decode("utf-8", "replace") if 0 <= number < len(self._lines) else ""
            found = text if text.isascii() else "".join(sign + "\0" if ord(sign) > 0xFFFF else sign for sign in text)
            self._read[number] = found
        return found

    def receiver(self, line: int, col: int) -> tuple[int, int] | None:
        """Where the name ends of which what stands here is taken, through calls and items: `a` of `a.b`, of `a(1).b`, of `a[0].b`.

        None where it is not taken of anything, or where the text does not tell for sure.
        """
        number, before = self._back(line, self.line(line)[:col].rstrip())
        for sign in ("?.", "->", "::", "."):
            if before.endswith(sign) and not before.endswith(".."):
                number, before = self._back(number, before[: -len(sign)].rstrip())
                break
        else:
            return None
        return self._name_before(number, before)

    def callee(self, line: int, col: int) -> tuple[int, int] | None:
        """Where the name ends of what is called with an argument that stands here."""
        inside = self._opened(line, self.line(line)[:col], "(")
        return self._name_before(*inside) if inside is not None else None

    def _back(self, line: int, before: str) -> tuple[int, str]:
        """The same place, or the end of the text above where a line begins here."""
        while not before and line > 0:
            line -= 1
            before = self.line(line).rstrip()
        return line, before

    def _name_before(self, line: int, before: str) -> tuple[int, int] | None:
        for _ in range(_MOST_LINKS):
            line, before = self._back(line, before.rstrip())
            if not before:
                return None
            last = before[-1]
            if last.isidentifier() or last.isdigit() or last in "$\0":
                return line, len(before)
            if last not in (")", "]"):
                return None
            opened = self._opened(line, before[:-1], _OPENING[last])
            if opened is None:
                return None
            line, before = opened
        return None

    def _opened(self, line: int, before: str, sign: str) -> tuple[int, str] | None:
        """What stands before the bracket that is open here; None where that is another one, or a quote comes first."""
        open_signs, signs = [sign], 0
        while True:
            for at in range(len(before) - 1, -1, -1):
                found = before[at]
                signs += 1
                if found in _QUOTES or signs > _MOST_SIGNS or before[at : at + 2] == "//":
                    return None
                if found in _OPENING:
                    open_signs.append(_OPENING[found])
                elif found in "([{":
                    if open_signs.pop() != found:
                        return None
                    if not open_signs:
                        return line, before[:at]
            if line == 0:
                return None
            line -= 1
            before = self.line(line)


def kinds(found: Sequence[Open], lines: Sequence[bytes], around: Around) -> list[Kind]:
    """The kind of each; what lies beyond the text is not judged by it (OTHER)."""
    text = Text(lines)
    directed = by_directives(lines) if around.is_preprocessed else {}
    at = {(item.line, item.end_col): item for item in found}
    known: dict[tuple[int, int], Kind] = {}

    def kind(item: Open, depth: int = 0) -> Kind:
        place = (item.line, item.end_col)
        if place not in known:
            known[place] = Kind.OTHER  # what would lead to itself leads nowhere
            known[place] = _kind(item, text, around, directed)
            if known[place] in (Kind.MEMBER, Kind.PATH, Kind.KEY) and depth < _MOST_LINKS:
                by_name = known[place] is Kind.KEY
                root = text.callee(item.line, item.col) if by_name else text.receiver(item.line, item.col)
                above = at.get(root) if root is not None else None
                if above is not None and (chained := kind(above, depth + 1)) in _CHAINED:
                    known[place] = Kind.OF_IMPORT if chained is Kind.OF_IMPORT else Kind.OF_UNBOUND
        return known[place]

    return [kind(item) for item in found]


def _kind(item: Open, text: Text, around: Around, directed: Mapping[int, Kind]) -> Kind:
    line = text.line(item.line)
    if around.is_preprocessed:
        if item.roles & _MENTION:
            return Kind.LEFT_OUT
        if item.line in directed:
            return directed[item.line]
    stands = stands_as(line, item.col, item.end_col, item.roles)
    if stands is Kind.OTHER and item.name == line[item.col : item.end_col] and not item.roles & _MENTION:
        if item.is_imported:
            return Kind.OF_IMPORT
        if around.binds and not item.is_bound:
            return Kind.UNBOUND
        if around.is_script_test and not item.is_bound and item.name in _TEST_GLOBALS:
            return Kind.TESTED
    return stands


def stands_as(text: str, col: int, end_col: int, roles: int) -> Kind:
    """What an identifier in a line is by the signs around it. Columns are those of `Text`."""
    before, after = text[:col].rstrip(), text[end_col:].lstrip()
    if roles & _IMPORT:
        return Kind.OF_IMPORT
    if roles & _KEYWORD:
        return Kind.KEY
    if before.endswith((".", "->")) and not before.endswith(".."):
        return Kind.MEMBER
    if before.endswith("::"):
        return Kind.PATH
    if (after.startswith("!") and not after.startswith("!=")) or text.lstrip().startswith(("#[", "#![")):
        return Kind.MACRO
    return Kind.OTHER


def by_directives(lines: Sequence[bytes]) -> dict[int, Kind]:
    """Lines of a preprocessor's own, and those that it may leave out or puts elsewhere; a guard of a whole file is none of the latter."""
    found: dict[int, Kind] = {}
    begun: list[int] = []
    groups: list[tuple[int, int]] = []
    directives: list[int] = []
    conditions: set[int] = set()
    continued: Kind | None = None
    for number, line in enumerate(lines):
        match = _DIRECTIVE.match(line)
        if continued is None and match is not None and match[1] != b"endif":
            continued = Kind.MACRO if match[1] == b"define" else Kind.CONDITION
        if continued is not None:
            found[number] = continued
            if continued is Kind.CONDITION:
                conditions.add(number)
            continued = continued if line.rstrip().endswith(b"\\") else None
        if match is None:
            continue
        directives.append(number)
        if match[1].startswith(b"if"):
            begun.append(number)
        elif match[1] == b"endif" and begun:
            groups.append((begun.pop(), number))
    for start, end in groups:
        if (start, end) != (directives[0], directives[-1]):
            found.update({number: Kind.BRANCH for number in range(start, end) if number not in conditions})
    return found
