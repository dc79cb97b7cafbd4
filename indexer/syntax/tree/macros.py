"""C and C++ whose words are macros: the same text, byte for byte in its place, without the ones that no grammar can know.

`class API Printer : public Visitor {` is a function to a grammar that does not know that `API` becomes an attribute or nothing, and
`Printer` loses its members. What is a macro is told by where a word stands, not by its `#define`, which most often lies in another file:
a declaration has one type and one name, and a word more in front of the name is no part of it; a class has one name; behind the brackets
of parameters, and between two statements without a `;`, no name can stand. Only where several words could be the one too many does the
spelling decide. Only the parser sees the text that is made here; the words that it does not see are identifiers all the same.

Deliberately does not expand: a macro that declares something declares nothing here, and one that opens a brace opens none.

Here are the walk through a text and the heads of its statements. What a head declares is decided in `macro_declarations`; parameters and
expressions are read in `macro_parts`.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from indexer.syntax.c_tokens import (
    ACCESS,
    ATTRIBUTES,
    CLASSES,
    CLOSES,
    CONVENTIONS,
    END,
    LINE,
    MARK,
    MOST_TOKENS,
    OF_TYPES,
    QUALIFIERS,
    SPECIFIERS,
    TEXT,
    TYPES,
    WORD,
    words,
)
from indexer.syntax.tree.macro_declarations import Declarations, Head
from indexer.syntax.tree.macro_parts import END_OF_GROUP, BraceScope

Span = tuple[int, int]
"""Offsets, half-open."""


class Prepared(NamedTuple):
    """`text`: what the parser is to see, of the same length. `words`: identifiers that it does not see, in order."""

    text: bytes
    words: list[Span]


_BEGIN_OF_GROUP = re.compile(rb"[ \t]*#[ \t]*if")
_NAME_IN_LINE = re.compile(rb"(?<![\w#])(?!(?:if|ifdef|ifndef|elif|else|endif|defined)\b)[A-Za-z_]\w*(?![^\n]*\*/)")

_HEADS = words("if for while switch catch")
_CALLS = words("emit Q_EMIT")
"""Qt's own words before a call, which would be the type of what is declared."""
_SECTIONS = words("slots Q_SLOTS")
_ACCESS_MACROS = words("signals Q_SIGNALS")

_WITHIN = re.compile(rb"/\*[^\n*]{0,200}\*/(?=[ \t]*[^\s/])")

_DEFINES = re.compile(rb"[ \t]*#[ \t]*define\b")
_MACRO_OF_LIST = re.compile(rb"[ \t]*#[ \t]*(?:define|undef)\b")
"""Within an enum: what a list of constants is made with (`#define X(a) a,` above `LIST(X)`)."""
_WITH_PARAMETERS = re.compile(rb"[ \t]*#[ \t]*define[ \t]+\w+\(")
_IN_MACRO = re.compile(rb"""(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.){1,8}')|(?P<comment>/\*.*?\*/)|(?P<mark>[()\[\]{}])""", re.DOTALL)
_LAST_OF_FIELDS = re.compile(rb"[;}][ \t]*\\\r?\n(?:[ \t]*\\\r?\n)*[ \t]*([A-Za-z_]\w*)[\s\\]*\Z")
_OPENS_FIELDS = re.compile(rb"\b(?:struct|union)(?:\s+\w+)?[\s\\]*\{\Z")
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_LINE_OF_COMMENT = re.compile(rb"[^\r\n](\r?\n)")

_MOST_BYTES = 4_000_000
_MOST_LINE_BYTES = 2_000
_MOST_MACRO_BYTES = 100_000


def prepare(source: bytes, *, is_cpp: bool) -> Prepared:
    """The text without macros that a grammar would take for something else; the text itself where there are none."""
    if len(source) > _MOST_BYTES:
        return Prepared(source, [])
    return _Preparation(source, is_cpp=is_cpp).made()


def _blank_comment(comment: bytes) -> bytes:
    """Nothing in its place, and where it goes on in the next line, what says so of a macro."""
    return re.sub(rb"[^\r\n\\]", b" ", _LINE_OF_COMMENT.sub(rb"\\\1", comment))


class _Preparation(Declarations):
    """The walk through one text, from statement to statement. `beside`: words that no token is, which the parser does not see."""

    def __init__(self, source: bytes, *, is_cpp: bool) -> None:
        super().__init__(source, is_cpp=is_cpp)
        self.beside: list[Span] = []

    def made(self) -> Prepared:
        self._linkage()
        self._go_through()
        if not self.blank and not self.instead:
            return Prepared(self.source, [])
        text = bytearray(self.source)
        words: list[Span] = self.beside
        for number in sorted(self.blank):
            start, end = self.starts[number], self.ends[number]
            text[start:end] = re.sub(rb"[^\r\n]", b" ", self.source[start:end])
            if self.kinds[number] == WORD and self.is_name(self.texts[number]):
                words.append((start, end))
            elif self.kinds[number] == LINE:
                names = _NAME_IN_LINE.finditer(self.texts[number][:_MOST_LINE_BYTES])
                words += [(start + one.start(), start + one.end()) for one in names]
        for start, other in self.instead:
            text[start : start + len(other)] = other
        return Prepared(bytes(text), sorted(words))

    def _linkage(self) -> None:
        """`extern "C" {` and its brace, each in an `#ifdef` of its own: whatever is between is the same without them."""
        lines = [number for number, kind in enumerate(self.kinds) if kind == LINE]
        begins: list[tuple[int, int]] = []
        ends: list[tuple[int, int]] = []
        for first, last in itertools.pairwise(lines):
            if _BEGIN_OF_GROUP.match(self.texts[first]) and END_OF_GROUP.match(self.texts[last]):
                inner = self.texts[first + 1 : last]
                if len(inner) == 3 and inner[0] == b"extern" and inner[2] == b"{":
                    begins.append((first, last))
                elif inner == [b"}"]:
                    ends.append((first, last))
        if len(begins) == len(ends):
            for first, last in begins + ends:
                self.blank.update(range(first, last + 1))

    # ---- statements

    def _go_through(self) -> None:
        kinds, texts, fresh = self.kinds, self.texts, self.fresh
        scopes: list[tuple[int, BraceScope]] = [(-1, BraceScope("space"))]
        begins = True
        for number in range(self.count):
            kind, text = kinds[number], texts[number]
            if kind == LINE:
                self._line(number, scopes[-1][1])
                continue
            if number in self.blank:
                begins = begins or number in fresh
                continue
            if number in fresh:
                begins = True
            if begins and (kind == WORD or text in (b"::", b"~")):
                self._statement(number, scopes[-1][1])
                if number in self.blank:
                    continue
            if kind == WORD:
                if text == b"new":
                    self.new(number)
                elif text == b"if" and self.names_at(number + 1) and texts[number + 2] == b"(":  # `if MAYBE_CONSTEXPR (…)`
                    self.take(number + 1, number + 1)
                elif scopes[-1][1].kind == "enum" and self._begins_constant(number) and texts[number + 1] == b"(":
                    closed = self.behind(number + 1) - 1  # `enum { KEYS(a), b }`
                    self.take(number, closed + (texts[closed + 1] == b","))
                elif scopes[-1][1].kind == "enum" and texts[number - 1] in (b"{", b",") and self.names_at(number + 1):
                    self.take(number + 1, self.behind(number + 2) - 1 if texts[number + 2] == b"(" else number + 1)
                begins = False
            elif kind == TEXT:
                self.joined(number)
                begins = False
            elif kind == MARK:
                if text == b"{":
                    scope = self.opened.get(number) or self._scope(number, scopes[-1][1])
                    scopes.append((self.partner.get(number, -1), scope))
                    begins = scope.kind in ("class", "space", "body")
                elif text == b"}":
                    was_list = scopes[-1][1].kind in ("list", "enum")
                    if (
                        scopes[-1][1].kind == "class"
                        and self.names_at(number + 1)
                        and self.names_at(number + 2)
                        and self.is_macro(number + 1)
                    ):
                        self.take(number + 1, number + 1)  # `} FAR x;`
                    while len(scopes) > 1 and scopes.pop()[0] != number:
                        pass
                    begins = not was_list
                elif text == b";":
                    if scopes[-1][1].kind == "list":
                        scopes[-1] = (scopes[-1][0], BraceScope("body"))
                    begins = True
                else:
                    begins = False
                    if text == b"::" and texts[number + 1] == b"*":
                        self.pointer_to_member(number)
                    elif text == b"(":
                        closed = self.partner.get(number, -1)
                        if closed > 0 and kinds[closed + 1] == TEXT and self.names_at(number - 1) and self.is_macro(number - 1):
                            self.take(number - 1, closed)  # `NAMED(b) "a"`
                        else:
                            self.expressions(number, scopes[-1][1])
                    elif text in (b"->*", b".*"):
                        self.through_pointer(number)
            else:
                begins = False

    def _line(self, number: int, scope: BraceScope) -> None:
        if scope.kind == "enum" and _MACRO_OF_LIST.match(self.texts[number]):
            self.instead.append((self.starts[number], re.sub(rb"[^\r\n]", b" ", self.texts[number])))
        else:
            self._comments(number)

    def _begins_constant(self, number: int) -> bool:
        return self.texts[number - 1] in (b"{", b",") or self.kinds[number - 1] == LINE

    def _comments(self, number: int) -> None:
        """Those within what a macro stands for: the grammar ends it there, and what follows is an error.

        Of several lines it takes what follows for code, which is what fields of a macro without parameters are found by. Within brackets
        that are not of fields, and where parameters are put in, that is no code, and it ends a function that stands around the macro.
        """
        line = self.texts[number]
        if b"\n" not in line:
            for match in _WITHIN.finditer(line[:_MOST_LINE_BYTES]):
                self.instead.append((self.starts[number] + match.start(), b" " * len(match[0])))
            return
        if b"/*" not in line or len(line) > _MOST_MACRO_BYTES or not _DEFINES.match(line):
            return
        is_code = not _WITH_PARAMETERS.match(line)
        opened, end = [is_code], len(line.rstrip(b" \t\r\n\\"))
        for match in _IN_MACRO.finditer(line):
            if match.lastgroup == "mark":
                if match[0] in CLOSES:
                    opened.append(opened[-1] and _OPENS_FIELDS.search(line, max(0, match.start() - 100), match.end()) is not None)
                elif len(opened) > 1:
                    opened.pop()
            elif match.lastgroup == "text":
                if b"/*" in match[0]:
                    self.instead.append((self.starts[number] + match.start(), match[0].replace(b"/*", b"/ ")))
            elif match.lastgroup == "comment" and match.end() < end and not opened[-1] and not _EMPTY_LINE.search(match[0]):
                self.instead.append((self.starts[number] + match.start(), _blank_comment(match[0])))
        if is_code and b"*/" in line and (last := _LAST_OF_FIELDS.search(line)):  # else the type of what stands below the macro
            start, stop = (self.starts[number] + place for place in last.span(1))
            self.instead.append((start, b" " * (stop - start)))
            self.beside.append((start, stop))

    def _wrapped(self, number: int, scope: BraceScope) -> bool:
        """`API(int f(void)) {`, a macro around all of a function's head: the brackets are taken with its name."""
        if scope.kind not in ("space", "class") or not self.names_at(number) or self.texts[number + 1] != b"(":
            return False
        closed = self.partner.get(number + 1, -1)
        last = self.partner.get(closed - 1, -1) if self.texts[closed - 1] == b")" else -1  # where the parameters begin
        is_head = (
            last > number + 3
            and self.kinds[number + 2] == WORD
            and self.names_at(last - 1)
            and (self.kinds[last - 2] == WORD or self.texts[last - 2] in (b"*", b"&"))
            and len(self.commas(number + 1, closed)) == 1
        )
        if is_head and (self.texts[closed + 1] == b"{" or (self.texts[closed + 1] == b";" and not self.is_name(self.texts[number + 2]))):
            self.take(number, number + 1)
            self.take(closed, closed)
            return True
        return False

    def _scope(self, number: int, around: BraceScope) -> BraceScope:
        place = number - 1
        while place >= 0 and self.kinds[place] == LINE:
            place -= 1
        before = self.texts[place] if place >= 0 else b";"
        if before in (b"{", b"}", b";", b":") and around.kind in ("body", "space"):
            return BraceScope("body")
        if before in (b")", b"else", b"do", b"try") or before in QUALIFIERS:
            return BraceScope("body")
        return BraceScope("list")

    def _statement(self, first: int, scope: BraceScope) -> None:
        """Reads from where a statement begins to where it is known what it declares."""
        if self._wrapped(first, scope):
            return
        head = Head(first, scope)
        at, last = first, first + MOST_TOKENS
        while 0 <= at < last:
            kind, text = self.kinds[at], self.texts[at]
            if kind == WORD and not self.is_name(text):
                at = self._reserved(at, head)
            elif kind == WORD or (text == b"::" and self.kinds[at + 1] == WORD):
                at = self._named(at, head)
            else:
                at = self._marked(at, head)

    def _reserved(self, at: int, head: Head) -> int:
        """A word of the language; returns where the head goes on, below 0 where it ends, as those below do."""
        text = self.texts[at]
        opens = self.texts[at + 1] == b"("
        if text in CONVENTIONS:
            self.take(at, at)
        elif text == b"extern" and self.kinds[at + 1] == TEXT:
            if self.texts[at + 2] == b"{":
                self.opened[at + 2] = BraceScope("space")
                self.take_alone(head)
                return -1
            return at + 2
        elif text in TYPES:
            head.is_typed = head.is_typed or not head.is_pointed
        elif text in OF_TYPES and opens:
            head.is_typed = True
            return self.behind(at + 1)
        elif text in ATTRIBUTES and opens:
            return self.behind(at + 1)
        elif text in CLASSES:
            return self._of_class(at, head)
        elif text == b"template":
            self.take_alone(head)
            closed = self.angle(at + 1) if self.texts[at + 1] == b"<" else at
            if closed > at:
                self.template_parameters(at + 1, closed)
            head.begin(closed + 1)
            return closed + 1 if closed >= 0 else -1
        elif text == b"operator":
            self.operator(at, head)
            return -1
        elif text not in SPECIFIERS:
            self.take_alone(head)
            self._keyword(at)
            return -1
        return at + 1

    def _of_class(self, at: int, head: Head) -> int:
        """A class, or the type of what is declared."""
        if head.is_pointed:
            return -1
        self.take_names(head.before)
        head.before.clear()
        head.is_typed = True
        return self.class_at(at, head.scope)

    def _named(self, at: int, head: Head) -> int:
        """A name begins."""
        if head.is_array:  # `T x[2] MACRO = …`
            closed = self.behind(at + 1) if self.texts[at + 1] == b"(" else at + 1
            if self.texts[closed] in (b";", b"=", b",", b"{"):
                self.take(at, closed - 1)
            return closed
        if at == head.first and self.texts[at] in _CALLS and self.kinds[at + 1] == WORD:
            self.take(at, at)
            self.fresh.add(at + 1)
            return -1
        name = self.name(at)
        if self.stands_alone(head, name):
            self.take_names(head.before)
            head.begin(name.first)
        at = name.last + 1
        if self.texts[at] == b"operator" and self.texts[name.last] == b"::":  # `A::operator==`
            self.operator(at, head)
            return -1
        (head.behind if head.is_pointed else head.before).append(name)
        return at

    def _marked(self, at: int, head: Head) -> int:
        """No word stands here."""
        text = self.texts[at]
        if text in (b"*", b"&", b"&&") and (head.before or head.is_typed):
            head.is_pointed = True
            return at + 1
        if text == b"[" and (self.texts[at + 1] == b"[" or head.names):
            head.is_array = self.texts[at + 1] != b"["
            return self.behind(at)
        if text == b"(":
            return self.brackets(at, head)
        if text == b"~" and self.kinds[at + 1] == WORD and self.texts[at + 2] == b"(":
            self.take_names(head.before)
            self.trailing(self.behind(at + 2), head.scope)
        else:
            self._ended(at, head)
        return -1

    def _ended(self, at: int, head: Head) -> None:
        """A declaration's head ends, in no brackets."""
        text, first = self.texts[at], head.first
        if self.kinds[at] in (LINE, END) or text == b"}":
            if not head.is_typed and not head.behind:
                self.take_alone(head)
        elif text == b":" and head.is_one_word and head.before[0].last == at - 1:
            if head.scope.kind == "class" and self.texts[first] in _ACCESS_MACROS:
                self.give(first, first, b"public")
            if head.scope.kind in ("class", "body"):
                self.fresh.add(at + 1)
        elif text == b"{" and head.scope.kind == "body" and head.is_one_word and self.has_members(at):  # `FOREVER {`
            self.take(first, at - 1)
            self.opened[at] = BraceScope("body")
        elif text in (b";", b"=", b",", b"{", b":"):
            if self.has_attribute(head):  # `T x MACRO;`
                name = head.names.pop()
                self.take(name.first, name.last)
            self.surplus(head.before, head.behind, is_typed=head.is_typed)

    def _keyword(self, at: int) -> None:
        """What follows a word that no declaration has in it."""
        text = self.texts[at]
        if text in ACCESS:
            if self.texts[at + 1] in _SECTIONS and self.texts[at + 2] == b":":
                self.take(at + 1, at + 1)
                self.fresh.add(at + 3)
            elif self.texts[at + 1] == b":":
                self.fresh.add(at + 2)
        elif text == b"namespace":
            for place in range(at + 1, at + 20):
                if self.texts[place] == b"{":
                    self.opened[place] = BraceScope("space")
                    return
                if self.texts[place] in (b";", b"=", b""):
                    return
        elif text in _HEADS and self.texts[at + 1] == b"(":
            self.fresh.add(self.behind(at + 1))
        elif text in (b"else", b"do"):
            self.fresh.add(at + 1)
        elif text in (b"case", b"default"):
            place = self.until(at + 1, lambda place: self.texts[place] in (b":", b";", b"{", b"?", b""))
            if self.texts[place] == b":":
                self.fresh.add(place + 1)
