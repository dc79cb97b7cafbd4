"""C and C++ as tokens: words, texts, marks and directives, which bracket closes which, and where names end. Nothing is expanded.

Each branch of an `#if` begins with what is open before the first of them, so that a brace which each of them opens is open once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Name(NamedTuple):
    """A name as it is written, with what qualifies it and its arguments: its first, its last own and its last token."""

    first: int
    own: int
    last: int


_TOKEN = re.compile(
    rb"""
    (?P<comment>//(?:[^\n\\]|\\\r?\n|\\.)*|/\*.*?(?:\*/|\Z))
    |(?P<raw>(?:u8|[uUL])?R"[^()\\\s"]{0,16}\()
    |(?P<text>(?:u8|[uUL])?"(?:[^"\\\n]|\\\r?\n|\\.)*"?|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'?)
    |(?P<line>^[ \t]*\#(?:[^\n\\/]|\\\r?\n|\\.|/(?![*/])|/\*.*?\*/)*)
    |(?P<word>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)
    |(?P<number>\.?[0-9](?:[eEpP][+-]|['\w.])*)
    |(?P<mark>::|->\*?|\.\*|&&|\.\.\.|[^\s\\])
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_NO_CODE = re.compile(
    rb"""
    (?P<comment>//(?:[^\n\\]|\\\r?\n|\\.)*|/\*.*?(?:\*/|\Z))
    |(?P<raw>\b(?:u8|[uUL])?R"[^()\\\s"]{0,16}\()
    |(?P<text>"(?:[^"\\\n]|\\\r?\n|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)
    |(?P<number>(?<!\w)[0-9](?:['\w.])*)
    """,
    re.VERBOSE | re.DOTALL,
)
CLOSES = {b"(": b")", b"[": b"]", b"{": b"}"}
OPENS = {close: opening for opening, close in CLOSES.items()}
_DIRECTIVE = re.compile(rb"[ \t]*#[ \t]*(\w*)")
_LINE_IN_TEXT = re.compile(rb"\\\r\n")
_DEFINES = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_NO_ARGUMENTS = re.compile(rb"""\b(?!defined\b)\w+[ \t]*\(([ \t]*(?:<[^<>()\n]*>|"[^"\n]*"|\w+(?:::\w+)+)[ \t]*)\)""")
"""Of a condition: what is asked for a header or an attribute, which the grammar takes for an expression."""


def words(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


SPECIFIERS = words(
    "static inline constexpr consteval constinit const volatile virtual explicit mutable register thread_local extern typedef friend"
    " typename restrict export _Thread_local _Noreturn __inline __inline__ __extension__ __const __volatile__ __restrict __restrict__"
)
TYPES = words(
    "void bool char short int long float double signed unsigned auto wchar_t char8_t char16_t char32_t _Bool _Complex __int64 __int128"
    " __signed__ __auto_type"
)
TYPES_OF_C = TYPES - words("bool wchar_t char8_t char16_t char32_t")
"""Those that are names in no version of C or C++."""
CONVENTIONS = words("__cdecl __stdcall __fastcall __vectorcall __thiscall __clrcall __forceinline")
OF_TYPES = words("decltype typeof __typeof__ __typeof typeof_unqual _Atomic")
ATTRIBUTES = words("alignas _Alignas __attribute__ __attribute __declspec asm __asm__ __asm")
QUALIFIERS = words("const volatile noexcept override final throw mutable")
CLASSES = words("class struct union enum")
ACCESS = words("public private protected")
OPERATORS = words("and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq")
_STATEMENTS_C = words(
    "if else for while do switch case default return goto break continue sizeof _Alignof _Generic _Static_assert asm __asm__ __asm"
)
_STATEMENTS_CPP = _STATEMENTS_C | words(
    "using try catch throw new delete this static_assert co_return co_await co_yield requires concept static_cast dynamic_cast const_cast"
    " reinterpret_cast typeid alignof nullptr true false not compl"
)
_ONLY_CPP = words(
    "class template namespace operator public private protected virtual explicit mutable friend typename constexpr consteval constinit"
    " thread_local export bool wchar_t char8_t char16_t char32_t decltype noexcept override final throw alignas"
)
MOST_TOKENS = 400
"""Of one declaration's head, and between angle brackets."""

_MOST_OPEN = 100
"""Brackets that are open at an `#if`, and those that are looked at for one that is closed."""
_MOST_ENDLESS = 20
_PADDING = 8

_COMMENT, TEXT, LINE, WORD, NUMBER, MARK, END = range(7)
_KINDS = {"comment": _COMMENT, "text": TEXT, "raw": TEXT, "line": LINE, "word": WORD, "number": NUMBER, "mark": MARK}


def has_code(source: bytes) -> bool:
    """Whether a part of a text has a word or a brace in it, beside directives, texts and comments."""
    tokens = Tokens(source, is_cpp=True)
    return any(kind == WORD or text in (b"{", b"}") for kind, text in zip(tokens.kinds, tokens.texts, strict=True))


def words_of_macro(text: bytes) -> list[tuple[int, int]]:
    """Where names stand in the text of a macro, but for those that it makes others of (`a##b`)."""
    found = Tokens(text, is_cpp=True)
    return [
        (found.starts[number], found.ends[number])
        for number in range(found.count)
        if found.names_at(number) and b"#" not in (found.texts[number - 1] if number else b"", found.texts[number + 1])
    ]


def code_of(source: bytes) -> bytes:
    """The text with its comments and texts blank, of the same length."""
    parts: list[bytes] = []
    at, position, endless = 0, 0, 0
    while position >= 0:
        start, position = position, -1
        for match in _NO_CODE.finditer(source, start):
            if match.lastgroup == "number":
                continue
            end = match.end()
            if match.lastgroup == "raw":
                end = position = _end_of_raw(source, match, endless)
                endless += end == match.end()
            parts += [source[at : match.start()], re.sub(rb"[^\n]", b" ", source[match.start() : end])]
            at = end
            if position >= 0:
                break
    return b"".join((*parts, source[at:]))


def _end_of_raw(source: bytes, match: re.Match[bytes], endless: int) -> int:
    """Where a text ends that begins with `R"x(`: behind `)x"`; it is none where there is no such end, nor after many without."""
    last = b")" + match[0][match[0].index(b'"') + 1 : -1] + b'"'
    closed = source.find(last, match.end()) if endless < _MOST_ENDLESS else -1
    return closed + len(last) if closed >= 0 else match.end()


class Tokens:
    """The tokens of one text, by number, in `kinds`, `starts`, `ends` and `texts`; comments are none. Behind all `count` are empty ones.

    `partner`: by a bracket, that of the one which closes it, and back. `instead`: texts for places, where the grammar knows less than
    a compiler does.
    """

    def __init__(self, source: bytes, *, is_cpp: bool) -> None:
        self.source = source
        self.is_cpp = is_cpp
        self.defined = frozenset(_DEFINES.findall(source))
        self.kinds: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.texts: list[bytes] = []
        self.partner: dict[int, int] = {}
        self.instead: list[tuple[int, bytes]] = []
        self._foreign = frozenset[bytes]() if is_cpp else _ONLY_CPP
        self._statements = _STATEMENTS_CPP if is_cpp else _STATEMENTS_C
        self._angles: dict[int, int] = {}
        self._read()

    def _read(self) -> None:
        stack: list[int] = []
        groups: list[tuple[list[int], list[int] | None]] = []  # of `#if`: what was open before it, and behind its first branch
        position, endless = 0, 0
        while position >= 0:
            start, position = position, -1
            for match in _TOKEN.finditer(self.source, start):
                kind, text = _KINDS[match.lastgroup or "mark"], match[0]
                if kind == _COMMENT:
                    continue
                end = match.end()
                if match.lastgroup == "raw":  # `R"x(` goes on to `)x"`
                    end = position = _end_of_raw(self.source, match, endless)
                    endless += end == match.end()
                number = len(self.kinds)
                self._add(kind, match.start(), end, text)
                if kind == MARK:
                    if text in CLOSES:
                        stack.append(number)
                    elif text in OPENS:
                        self._close(stack, number, OPENS[text])
                elif kind == LINE:
                    stack = self._branch(match.start(), text, stack, groups)
                elif kind == TEXT and b"\\\r\n" in text:  # the grammar knows the other end of a line only
                    self.instead += [(match.start() + one.start(), b" \\\n") for one in _LINE_IN_TEXT.finditer(text)]
                if position >= 0:
                    break
        self.count = len(self.kinds)
        for _ in range(_PADDING):
            self._add(END, len(self.source), len(self.source), b"")

    def _add(self, kind: int, start: int, end: int, text: bytes) -> None:
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)
        self.texts.append(text)

    def _close(self, stack: list[int], number: int, opening: bytes) -> None:
        """What is open within the bracket was never closed; a brace that nothing opened closes nothing."""
        for place in range(len(stack) - 1, max(-1, len(stack) - _MOST_OPEN), -1):
            if self.texts[stack[place]] == opening:
                self.partner[stack[place]], self.partner[number] = number, stack[place]
                del stack[place:]
                return
            if self.texts[stack[place]] == b"{":
                return

    def _branch(self, start: int, line: bytes, stack: list[int], groups: list[tuple[list[int], list[int] | None]]) -> list[int]:
        """What is open behind a directive: each branch begins with what is open before the first, whose end counts for all."""
        match = _DIRECTIVE.match(line)
        word = match[1] if match else b""
        if word in (b"if", b"ifdef", b"ifndef"):
            groups.append((stack[-_MOST_OPEN:], None))
        elif word in (b"else", b"elif", b"elifdef", b"elifndef") and groups:
            before, first = groups[-1]
            groups[-1] = (before, stack if first is None else first)
            stack = list(before)
        elif word == b"endif" and groups:
            _, first = groups.pop()
            stack = stack if first is None else first
        if not word:  # `#` alone means nothing, and to the grammar a directive
            self.instead.append((start + line.index(b"#"), b" "))
        if word in (b"if", b"elif"):
            self.instead += [(start + one.start(1), b" " * len(one[1])) for one in _NO_ARGUMENTS.finditer(line)]
        return stack

    def is_one(self, number: int, words: frozenset[bytes]) -> bool:
        return self.texts[number] in words and self.texts[number] not in self._foreign

    def is_name(self, text: bytes) -> bool:
        if text in self._foreign:
            return True
        return not (
            text in SPECIFIERS
            or text in TYPES
            or text in CONVENTIONS
            or text in CLASSES
            or text in OF_TYPES
            or text in ATTRIBUTES
            or text in QUALIFIERS
            or text in ACCESS
            or text in OPERATORS
            or text in self._statements
            or text in (b"template", b"namespace", b"operator")
        )

    def names_at(self, number: int) -> bool:
        return self.kinds[number] == WORD and self.is_name(self.texts[number])

    def is_macro(self, number: int) -> bool:
        """By its spelling, or because this file defines it."""
        text = self.texts[number]
        return (text.isupper() and len(text) > 2) or text in self.defined

    def has_line_end(self, before: int, behind: int) -> bool:
        return b"\n" in self.source[self.ends[before] : self.starts[behind]]

    def behind(self, number: int) -> int:
        """The token behind the brackets that open here; of one that is not closed, the last of all."""
        return self.partner.get(number, self.count - 1) + 1

    def name(self, at: int) -> Name:
        texts, kinds = self.texts, self.kinds
        first = at
        if texts[at] == b"::":
            at += 1
        while True:
            own, end = at, at
            if texts[at + 1] == b"<" and (closed := self.angle(at + 1)) > 0:
                end = closed
            if texts[end + 1] == b"::":
                if kinds[end + 2] == WORD:
                    if texts[end + 2] == b"operator":
                        return Name(first, own, end + 1)
                    at = end + 3 if texts[end + 2] == b"template" and kinds[end + 3] == WORD else end + 2
                    continue
                if texts[end + 2] == b"~" and kinds[end + 3] == WORD:
                    return Name(first, end + 3, end + 3)
            return Name(first, own, end)

    def angle(self, at: int) -> int:
        """The `>` that closes what opens here; below 0 where it is no bracket."""
        if at in self._angles:
            return self._angles[at]
        opened: list[int] = []
        place = at
        while place < at + MOST_TOKENS:
            text = self.texts[place]
            if text == b"<":
                opened.append(place)
            elif text == b">":
                self._angles[opened.pop()] = place
                if not opened:
                    return place
            elif text in CLOSES:
                place = self.partner.get(place, -1)
                if place < 0:
                    break
            elif text in (b";", b"}", b")", b"]", b"") or self.kinds[place] == LINE:
                break
            place += 1
        self._angles.update((one, -1) for one in opened)
        return -1

    def until(self, at: int, holds: Callable[[int], bool]) -> int:
        end = at + MOST_TOKENS
        while at < end and not holds(at):
            at = self.behind(at) if self.texts[at] in (b"(", b"[") else at + 1
        return min(at, self.count)

    def commas(self, opened: int, closed: int) -> list[int]:
        """Those between arguments, and the bracket behind them."""
        found: list[int] = []
        place = opened + 1
        while place < closed:
            text = self.texts[place]
            if text == b",":
                found.append(place)
            elif text in CLOSES:
                place = self.partner.get(place, closed)
            elif text == b"<" and (end := self.angle(place)) > 0 and end < closed:
                place = end
            place += 1
        return [*found, closed]
