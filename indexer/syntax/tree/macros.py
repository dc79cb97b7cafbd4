"""C and C++ whose words are macros: the same text, byte for byte in its place, without the ones that no grammar can know.

`class API Printer : public Visitor {` is a function to a grammar that does not know that `API` becomes an attribute or nothing, and
`Printer` loses its members. What is a macro is told by where a word stands, not by its `#define`, which most often lies in another file:
a declaration has one type and one name, and a word more in front of the name is no part of it; a class has one name; behind the brackets
of parameters, and between two statements without a `;`, no name can stand. Only where several words could be the one too many does the
spelling decide. Only the parser sees the text that is made here; the words that it does not see are identifiers all the same.

Deliberately does not expand: a macro that declares something declares nothing here, and one that opens a brace opens none.
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
    NUMBER,
    OF_TYPES,
    OPERATORS,
    QUALIFIERS,
    SPECIFIERS,
    TEXT,
    TYPES,
    WORD,
    Name,
    Tokens,
    words,
)

Span = tuple[int, int]
"""Offsets, half-open."""


class Prepared(NamedTuple):
    """`text`: what the parser is to see, of the same length. `words`: identifiers that it does not see, in order."""

    text: bytes
    words: list[Span]


class _Head:
    """What was read of a declaration: names `before` a `*` or `&` and `behind` it. `first`: the token it begins with."""

    __slots__ = ("before", "behind", "first", "is_array", "is_pointed", "is_typed", "scope")

    def __init__(self, first: int, scope: _Scope) -> None:
        self.scope = scope
        self.begin(first)

    def begin(self, first: int) -> None:
        """All that was read before was no part of it."""
        self.first = first
        self.before: list[Name] = []
        self.behind: list[Name] = []
        self.is_typed = self.is_pointed = self.is_array = False

    @property
    def names(self) -> list[Name]:
        """Those of which the last is what is declared."""
        return self.behind or self.before

    @property
    def is_one_word(self) -> bool:
        return len(self.before) == 1 and not self.behind and not self.is_typed and self.before[0].first == self.first

    @property
    def room(self) -> int:
        """How many names there are besides one type and one that is declared."""
        return len(self.names) - (1 if self.behind or self.is_typed else 2)


class _Scope(NamedTuple):
    """What a brace opens: a `class`, an `enum`, a `space` (a namespace, or the file), a `body` of statements, or a `list` of values."""

    kind: str
    name: bytes = b""


_BEGIN_OF_GROUP = re.compile(rb"[ \t]*#[ \t]*if")
_END_OF_GROUP = re.compile(rb"[ \t]*#[ \t]*endif\b")
_NAME_IN_LINE = re.compile(rb"(?<![\w#])(?!(?:if|ifdef|ifndef|elif|else|endif|defined)\b)[A-Za-z_]\w*(?![^\n]*\*/)")


_HEADS = words("if for while switch catch")
_CALLS = words("emit Q_EMIT")
"""Qt's own words before a call, which would be the type of what is declared."""
_LOOPS = words("foreach forever")
_SECTIONS = words("slots Q_SLOTS")
_ACCESS_MACROS = words("signals Q_SIGNALS")
_EXPORTS = (b"EXPORT", b"API", b"DLL", b"PUBLIC", b"LIB")

_MOST_BYTES = 4_000_000
_MOST_LINE_BYTES = 2_000


def prepare(source: bytes, *, is_cpp: bool) -> Prepared:
    """The text without macros that a grammar would take for something else; the text itself where there are none."""
    if len(source) > _MOST_BYTES:
        return Prepared(source, [])
    return _Preparation(source, is_cpp=is_cpp).made()


class _Preparation(Tokens):
    """One text."""

    def __init__(self, source: bytes, *, is_cpp: bool) -> None:
        super().__init__(source, is_cpp=is_cpp)
        self.opened: dict[int, _Scope] = {}
        """By the number of a brace: what it opens, where its statement tells."""
        self.declared: set[int] = set()
        """Brackets of parameters."""
        self.fresh: set[int] = set()
        """Where statements begin, besides behind `;` and braces."""
        self.blank: set[int] = set()
        """What the parser does not see."""

    def made(self) -> Prepared:
        self._linkage()
        self._go_through()
        if not self.blank and not self.instead:
            return Prepared(self.source, [])
        text = bytearray(self.source)
        words: list[Span] = []
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
        return Prepared(bytes(text), words)

    # ---- tokens

    def _take(self, first: int, last: int) -> None:
        """These tokens are not for the parser; directives between them are."""
        self.blank.update(number for number in range(first, last + 1) if self.kinds[number] != LINE)

    def _give(self, first: int, last: int, other: bytes) -> None:
        """In place of these tokens, which are no shorter, other text."""
        self._take(first, last)
        self.instead.append((self.starts[first], other))

    def _linkage(self) -> None:
        """`extern "C" {` and its brace, each in an `#ifdef` of its own: whatever is between is the same without them."""
        lines = [number for number, kind in enumerate(self.kinds) if kind == LINE]
        begins: list[tuple[int, int]] = []
        ends: list[tuple[int, int]] = []
        for first, last in itertools.pairwise(lines):
            if _BEGIN_OF_GROUP.match(self.texts[first]) and _END_OF_GROUP.match(self.texts[last]):
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
        scopes: list[tuple[int, _Scope]] = [(-1, _Scope("space"))]
        begins = True
        for number in range(self.count):
            kind, text = kinds[number], texts[number]
            if kind == LINE:
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
                    self._new(number)
                elif text == b"if" and self.names_at(number + 1) and texts[number + 2] == b"(":  # `if MAYBE_CONSTEXPR (…)`
                    self._take(number + 1, number + 1)
                elif scopes[-1][1].kind == "enum" and texts[number - 1] in (b"{", b",") and self.names_at(number + 1):
                    self._take(number + 1, self.behind(number + 2) - 1 if texts[number + 2] == b"(" else number + 1)
                begins = False
            elif kind == TEXT:
                self._joined(number)
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
                        self._take(number + 1, number + 1)  # `} FAR x;`
                    while len(scopes) > 1 and scopes.pop()[0] != number:
                        pass
                    begins = not was_list
                elif text == b";":
                    if scopes[-1][1].kind == "list":
                        scopes[-1] = (scopes[-1][0], _Scope("body"))
                    begins = True
                else:
                    begins = False
                    if text == b"::" and texts[number + 1] == b"*":
                        self._pointer_to_member(number)
                    elif text == b"(":
                        self._expressions(number, scopes[-1][1])
                    elif text in (b"->*", b".*"):
                        self._through_pointer(number)
            else:
                begins = False

    def _scope(self, number: int, around: _Scope) -> _Scope:
        place = number - 1
        while place >= 0 and self.kinds[place] == LINE:
            place -= 1
        before = self.texts[place] if place >= 0 else b";"
        if before in (b"{", b"}", b";", b":") and around.kind in ("body", "space"):
            return _Scope("body")
        if before in (b")", b"else", b"do", b"try") or before in QUALIFIERS:
            return _Scope("body")
        return _Scope("list")

    def _statement(self, first: int, scope: _Scope) -> None:
        """Reads from where a statement begins to where it is known what it declares."""
        head = _Head(first, scope)
        at, last = first, first + MOST_TOKENS
        while 0 <= at < last:
            kind, text = self.kinds[at], self.texts[at]
            if kind == WORD and not self.is_name(text):
                at = self._reserved(at, head)
            elif kind == WORD or (text == b"::" and self.kinds[at + 1] == WORD):
                at = self._named(at, head)
            else:
                at = self._marked(at, head)

    def _reserved(self, at: int, head: _Head) -> int:
        """A word of the language; returns where the head goes on, below 0 where it ends, as those below do."""
        text = self.texts[at]
        opens = self.texts[at + 1] == b"("
        if text in CONVENTIONS:
            self._take(at, at)
        elif text == b"extern" and self.kinds[at + 1] == TEXT:
            if self.texts[at + 2] == b"{":
                self.opened[at + 2] = _Scope("space")
                self._take_alone(head)
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
            self._take_alone(head)
            closed = self.angle(at + 1) if self.texts[at + 1] == b"<" else at
            if closed > at:
                self._template_parameters(at + 1, closed)
            head.begin(closed + 1)
            return closed + 1 if closed >= 0 else -1
        elif text == b"operator":
            self._operator(at, head)
            return -1
        elif text not in SPECIFIERS:
            self._take_alone(head)
            self._keyword(at)
            return -1
        return at + 1

    def _of_class(self, at: int, head: _Head) -> int:
        """A class, or the type of what is declared."""
        if head.is_pointed:
            return -1
        self._take_names(head.before)
        head.before.clear()
        head.is_typed = True
        return self._class(at, head.scope)

    def _named(self, at: int, head: _Head) -> int:
        """A name begins."""
        if head.is_array:  # `T x[2] MACRO = …`
            closed = self.behind(at + 1) if self.texts[at + 1] == b"(" else at + 1
            if self.texts[closed] in (b";", b"=", b",", b"{"):
                self._take(at, closed - 1)
            return closed
        if at == head.first and self.texts[at] in _CALLS and self.kinds[at + 1] == WORD:
            self._take(at, at)
            self.fresh.add(at + 1)
            return -1
        name = self.name(at)
        if self._stands_alone(head, name):
            self._take_names(head.before)
            head.begin(name.first)
        at = name.last + 1
        if self.texts[at] == b"operator" and self.texts[name.last] == b"::":  # `A::operator==`
            self._operator(at, head)
            return -1
        (head.behind if head.is_pointed else head.before).append(name)
        return at

    def _marked(self, at: int, head: _Head) -> int:
        """No word stands here."""
        text = self.texts[at]
        if text in (b"*", b"&", b"&&") and (head.before or head.is_typed):
            head.is_pointed = True
            return at + 1
        if text == b"[" and (self.texts[at + 1] == b"[" or head.names):
            head.is_array = self.texts[at + 1] != b"["
            return self.behind(at)
        if text == b"(":
            return self._brackets(at, head)
        if text == b"~" and self.kinds[at + 1] == WORD and self.texts[at + 2] == b"(":
            self._take_names(head.before)
            self._trailing(self.behind(at + 2), head.scope)
        else:
            self._ended(at, head)
        return -1

    def _ended(self, at: int, head: _Head) -> None:
        """A declaration's head ends, in no brackets."""
        text, first = self.texts[at], head.first
        if self.kinds[at] in (LINE, END) or text == b"}":
            if not head.is_typed and not head.behind:
                self._take_alone(head)
        elif text == b":" and head.is_one_word and head.before[0].last == at - 1:
            if head.scope.kind == "class" and self.texts[first] in _ACCESS_MACROS:
                self._give(first, first, b"public")
            if head.scope.kind in ("class", "body"):
                self.fresh.add(at + 1)
        elif text == b"{" and head.scope.kind == "body" and head.is_one_word and self._has_members(at):  # `FOREVER {`
            self._take(first, at - 1)
            self.opened[at] = _Scope("body")
        elif text in (b";", b"=", b",", b"{", b":"):
            if self._has_attribute(head):  # `T x MACRO;`
                name = head.names.pop()
                self._take(name.first, name.last)
            self._surplus(head.before, head.behind, is_typed=head.is_typed)

    def _keyword(self, at: int) -> None:
        """What follows a word that no declaration has in it."""
        text = self.texts[at]
        if text in ACCESS:
            if self.texts[at + 1] in _SECTIONS and self.texts[at + 2] == b":":
                self._take(at + 1, at + 1)
                self.fresh.add(at + 3)
            elif self.texts[at + 1] == b":":
                self.fresh.add(at + 2)
        elif text == b"namespace":
            for place in range(at + 1, at + 20):
                if self.texts[place] == b"{":
                    self.opened[place] = _Scope("space")
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

    # ---- names

    def _makes(self, name: Name, scope: _Scope) -> bool:
        """Whether it is the name of a constructor or a destructor."""
        own = self.texts[name.own]
        if scope.kind == "class" and own == scope.name and name.first == name.own:
            return True
        if self.texts[name.own - 1] == b"~":
            return True
        if name.first == name.own or self.texts[name.own - 1] != b"::":
            return False
        place = name.own - 2
        if self.texts[place] == b">":
            depth = 0
            while place > name.first:
                depth += {b">": 1, b"<": -1}.get(self.texts[place], 0)
                place -= 1
                if not depth:
                    break
        return self.texts[place] == own

    def _take_names(self, names: list[Name]) -> None:
        for name in names:
            self._take(name.first, name.last)

    def _stands_alone(self, head: _Head, name: Name) -> bool:
        """Whether what is on the line above is a statement of its own, as `Q_OBJECT` above `Q_PROPERTY(…)`."""
        return (
            head.scope.kind in ("class", "space")
            and head.is_one_word
            and self.is_macro(head.before[0].own)
            and self.is_macro(name.own)
            and self.texts[name.last + 1] == b"("
            and self.has_line_end(head.before[0].last, name.first)
        )

    def _take_alone(self, head: _Head) -> None:
        """Words before what cannot follow a name: macros that stand for statements or for nothing."""
        if head.scope.kind != "list" and all(self.is_macro(name.own) for name in head.before):
            self._take_names(head.before)

    def _has_attribute(self, head: _Head) -> bool:
        """Whether the last name is a macro behind that of a variable."""
        return head.room > 0 and self.is_macro(head.names[-1].own) and not self.is_macro(head.names[-2].own)

    def _surplus(self, before: list[Name], behind: list[Name], *, is_typed: bool, is_maker: bool = False) -> None:
        """Takes what is too much for one type and one name. `is_maker`: a constructor, which has no type."""
        types = before if behind else before[:-1]
        if is_typed or is_maker:
            self._take_names(types)
        elif len(types) > 1:
            kept = next((name for name in reversed(types) if not self.is_macro(name.own)), types[-1])
            self._take_names([name for name in types if name is not kept])
        self._take_names(behind[:-1])

    # ---- brackets

    def _brackets(self, at: int, head: _Head) -> int:
        """What stands before them is a macro, a function or a variable."""
        closed = self.partner.get(at, -1)
        if head.before and not head.behind and self.texts[at - 1] == b"*" and self.texts[at + 1] == b"*":  # `T *(*name)(…)`
            self._surplus(head.before, [head.before[-1]], is_typed=head.is_typed)
        if closed < 0 or not head.names or head.names[-1].last != at - 1:
            return -1
        name = head.names[-1]
        makes = self._makes(name, head.scope)
        if head.is_one_word and not makes and name.first == name.own:
            return self._called(at, closed, head)
        if not makes and self._has_attribute(head):  # `T x GUARDED_BY(lock);`
            self._take(name.first, closed)
            head.names.pop()
            return closed + 1
        self._surplus(head.before, head.behind, is_typed=head.is_typed, is_maker=makes)
        if head.behind and self.texts[closed + 1] == b";" and self._is_value(at, closed):
            self._give(at, at, b"=")  # `T *x(1);`, which the grammar knows of no pointer
            self._take(closed, closed)
            return -1
        if makes or head.is_typed or len(head.before) + len(head.behind) > 1:
            self._parameters(at, closed)
        self._trailing(closed + 1, head.scope)
        return -1

    def _called(self, at: int, closed: int, head: _Head) -> int:
        """`NAME(…)` where a statement begins."""
        name, then, kind = head.first, closed + 1, head.scope.kind
        text, is_word = self.texts[then], self.kinds[then] == WORD
        if text == b";":
            if self.is_macro(name) and (kind == "class" or self.is_one(at + 1, SPECIFIERS | TYPES | CLASSES)):
                self._take(name, closed)
            return -1
        if text == b"{":
            self.opened[then] = _Scope("body")
            if kind == "body":  # a macro that begins a loop
                self._take(name, closed)
            elif not all(self.names_at(place) or self.texts[place] in (b",", b"*", b"&", b"::") for place in range(at + 1, closed)):
                self._take(at + 1, closed - 1)
            return -1
        if kind == "body" and self.texts[name] in _LOOPS:
            self._take(name, closed)
            self.fresh.add(then)
            return -1
        if text == b":" or (is_word and self.is_one(then, QUALIFIERS)):
            self._trailing(then, head.scope)
            return -1
        if is_word and kind == "space" and (body := self._old_parameters(then)) > 0:
            self.opened[body] = _Scope("body")
            return -1
        if kind == "list" or (is_word and self.is_one(then, OPERATORS)) or not self._may_stand(name, closed):
            return -1
        self._take(name, closed)
        head.begin(then)
        return then

    def _may_stand(self, name: int, closed: int) -> bool:
        """Whether a call with nothing behind it is a macro's."""
        then = closed + 1
        text, kind = self.texts[then], self.kinds[then]
        if kind == WORD or text in (b"~", b"::") or (text == b"[" and self.texts[then + 1] == b"["):
            return self.is_macro(name) or self.has_line_end(closed, then)
        return self.is_macro(name) and (text == b"}" or kind in (LINE, END))

    def _is_value(self, opened: int, closed: int) -> bool:
        """Whether what is in brackets is one value, and no parameter."""
        inner = range(opened + 1, closed)
        return self.commas(opened, closed) == [closed] and (
            any(self.texts[place] in (b"?", b".", b"->") or self.kinds[place] == TEXT for place in inner)
            or self.texts[opened + 1] in (b"*", b"&", b"!")
        )

    def _parameters(self, opened: int, closed: int) -> None:
        self.declared.add(opened)
        first = opened + 1
        for place in self.commas(opened, closed):
            self._parameter(first, place)
            first = place + 1

    def _parameter(self, at: int, end: int) -> None:
        """Takes macros beside one type and one name."""
        before: list[Name] = []
        behind: list[Name] = []
        is_typed = is_pointed = False
        while at < end:
            text = self.texts[at]
            if self.kinds[at] == WORD and not self.is_name(text):
                if text in CLASSES and self.kinds[at + 1] == WORD:
                    is_typed = True
                    at += 1
                elif text in TYPES:
                    is_typed = True
                elif text not in SPECIFIERS:
                    return
                at += 1
            elif self.kinds[at] == WORD or (text == b"::" and self.kinds[at + 1] == WORD):
                name = self.name(at)
                at = name.last + 1
                if self.texts[at] == b"(":
                    if not self.is_macro(name.own):
                        return
                    name = name._replace(last=self.partner.get(at, at))
                    at = name.last + 1
                (behind if is_pointed else before).append(name)
            elif text in (b"*", b"&", b"&&"):
                self._take_names(behind)  # `T FAR * FAR *`
                behind.clear()
                is_pointed = True
                at += 1
            elif text == b"[":
                at = self.behind(at)
            elif text == b"=":
                if self.texts[at + 1] == b"{" and self.behind(at + 1) == end:  # the grammar wants an expression
                    self._give(at + 1, end - 1, b"0")
                break
            elif text == b"...":
                break
            else:
                return
        room = len(before) - (0 if is_typed else 1) - (0 if is_pointed else 1)
        macros = [name for name in before if self.is_macro(name.own)]
        self._take_names((macros + [name for name in before if name not in macros])[: max(0, room)])
        self._take_names([name for name in behind if self.is_macro(name.own)][: max(0, len(behind) - 1)])

    def _template_parameters(self, opened: int, closed: int) -> None:
        """`MACRO(…)` is none of them that a grammar knows; with it goes the comma."""
        for place in range(opened + 1, closed):
            if self.texts[place - 1] not in (b"<", b",") or not self.names_at(place) or self.texts[place + 1] != b"(":
                continue
            end = self.partner.get(place + 1, closed)
            if self.texts[end + 1] not in (b",", b">"):
                continue
            self._take(place, end)
            if self.texts[place - 1] == b",":
                self.blank.add(place - 1)
            elif self.texts[end + 1] == b",":
                self.blank.add(end + 1)

    def _operator(self, at: int, head: _Head) -> None:
        """`operator` stands here, and what it is called by follows."""
        converts = self.kinds[at + 1] == WORD and self.texts[at + 1] not in (b"new", b"delete", b"co_await")
        own = Name(at, at, at)
        names = ([*head.before], [*head.behind, own]) if head.is_pointed else ([*head.before, own], [])
        self._surplus(*names, is_typed=head.is_typed, is_maker=converts)
        place = at + 3 if self.texts[at + 1 : at + 3] == [b"(", b")"] else at + 1
        while place < at + MOST_TOKENS and self.texts[place] not in (b"(", b";", b"{", b""):
            place += 1
        if self.texts[place] == b"(" and place in self.partner:
            self._parameters(place, self.partner[place])
            self._trailing(self.behind(place), head.scope)

    # ---- behind parameters

    def _trailing(self, at: int, scope: _Scope) -> None:
        """Takes macros between the brackets of parameters and the body, and finds that."""
        texts = self.texts
        end = at + MOST_TOKENS
        while at < end:
            text = texts[at]
            if self.kinds[at] == WORD:
                if self.is_one(at, QUALIFIERS) or (text in ATTRIBUTES and texts[at + 1] == b"("):
                    at = self.behind(at + 1) if texts[at + 1] == b"(" else at + 1
                    continue
                if (body := self._old_parameters(at)) > 0:
                    self.opened[body] = _Scope("body")
                    return
                if not self.is_name(text) or not (self.is_macro(at) or scope.kind != "body"):
                    return
                then = self.behind(at + 1) if texts[at + 1] == b"(" else at + 1
                is_last = texts[then] in (b";", b"{", b":", b"=", b",", b"->") or self.kinds[then] == LINE
                if not is_last and not (self.kinds[then] == WORD and (self.is_one(then, QUALIFIERS) or self.is_macro(then))):
                    return
                self._take(at, then - 1)
                at = then
            elif text in (b"&", b"&&"):
                at += 1
            elif text == b"[" and texts[at + 1] == b"[":
                at = self.behind(at)
            elif text == b"{":
                self.opened[at] = _Scope("body")
                return
            elif text == b":":
                self._initializers(at + 1)
                return
            elif text == b"=":
                if scope.kind == "space" and texts[at + 1] == b"delete" and texts[at + 2] == b";":
                    self._take(at, at + 1)  # the grammar knows it of members
                return
            elif self.kinds[at] == LINE:
                behind = self._attributes(at)
                if behind < 0:
                    return
                at = behind
            elif text == b"->":
                at = self.until(at + 1, lambda place: texts[place] in (b"{", b";", b"=", b""))
                if texts[at] == b"{":
                    self.opened[at] = _Scope("body")
                return
            else:
                return

    def _attributes(self, at: int) -> int:
        """Takes `#if` to `#endif` with attributes and macros only; returns what is behind, below 0 where there is more."""
        place = at + 1
        while place < at + 30:
            if self.kinds[place] == LINE:
                if _END_OF_GROUP.match(self.texts[place]):
                    self.blank.update(range(at, place + 1))
                    return place + 1
                place += 1
            elif self.kinds[place] == WORD and (self.texts[place] in ATTRIBUTES | QUALIFIERS or self.is_macro(place)):
                place = self.behind(place + 1) if self.texts[place + 1] == b"(" else place + 1
            else:
                return -1
        return -1

    def _initializers(self, at: int) -> None:
        """Finds the body behind `: a(1), b{2}`."""
        while self.kinds[at] == WORD or self.texts[at] == b"::":
            at = self.name(at).last + 1
            if self.texts[at] not in (b"(", b"{") or at not in self.partner:
                return
            at = self.behind(at)
            if self.texts[at] == b"...":
                at += 1
            if self.texts[at] == b"{":
                self.opened[at] = _Scope("body")
                return
            if self.texts[at] != b",":
                return
            at += 1

    def _old_parameters(self, at: int) -> int:
        """The brace behind declarations that follow the brackets: `int f(a) int a; {`; below 0 where that is none."""
        if self.is_cpp:
            return -1
        place, declared = at, 0
        while place < at + MOST_TOKENS:
            text = self.texts[place]
            if text == b"{" and declared and self.texts[place - 1] == b";":
                return place
            if text == b";":
                declared += 1
            elif self.kinds[place] != WORD and text not in (b"*", b",", b"[", b"]", b"(", b")") and self.kinds[place] != NUMBER:
                return -1
            place += 1
        return -1

    # ---- classes

    def _class(self, at: int, scope: _Scope) -> int:
        """Takes macros beside the name of a class; returns where the head goes on where the class is only named, below 0 at its text."""
        texts, kinds = self.texts, self.kinds
        is_enum, key = texts[at] == b"enum", texts[at]
        at += 1
        if is_enum and texts[at] in (b"class", b"struct"):
            at += 1
        names: list[Name] = []
        while True:
            if texts[at] == b"[" and texts[at + 1] == b"[":
                at = self.behind(at)
            elif self.is_one(at, ATTRIBUTES) and texts[at + 1] == b"(":
                at = self.behind(at + 1)
            elif texts[at] == b"final" and names and texts[at + 1] in (b"{", b":"):
                at += 1
            elif self.names_at(at):
                name = self.name(at)
                at = name.last + 1
                if texts[at] == b"(" and kinds[self.behind(at)] == WORD:
                    at = self.behind(at)
                    name = name._replace(last=at - 1)
                names.append(name)
            else:
                break
        body = at
        if texts[at] == b":":
            body = self.until(at + 1, lambda place: texts[place] in (b"{", b";", b"=", b""))
        own = texts[names[-1].own] if names else b""
        if texts[body] == b"{" and (
            len(names) < 2 or body != at or self._has_members(body) or self._is_marked(names[0], body, is_enum, scope)
        ):
            self._take_names(names[:-1])
            self.opened[body] = _Scope("enum") if is_enum else _Scope("class", own)
            return -1
        if texts[at] == b";" and len(names) == 2 and self.is_macro(names[0].own) and names[1].first == names[1].own:
            if key == b"class" or texts[names[0].own].endswith(_EXPORTS):
                self._take_names(names[:-1])
            return -1
        return names[0].last + 1 if names else -1

    def _is_marked(self, name: Name, body: int, is_enum: bool, scope: _Scope) -> bool:
        """Of two names, one is a macro, though what the brace opens might be a value: a list of names, or nothing."""
        is_empty = self.texts[body + 1] == b"}"
        return (is_enum or (is_empty and scope.kind != "body")) and self.is_macro(name.own)

    def _has_members(self, body: int) -> bool:
        """Whether a brace opens the text of a class or a function, and no value."""
        closed = self.partner.get(body, -1)
        place = body + 1
        while body < place < closed:
            text = self.texts[place]
            if text == b";" or (text in ACCESS and self.texts[place + 1] == b":"):
                return True
            place = self.behind(place) if text in CLOSES else place + 1
        return False

    # ---- within expressions

    def _joined(self, number: int) -> None:
        """A macro behind a text is one (`"%" PRIu64`)."""
        then = number + 1
        while self.names_at(then) and self.starts[then] > self.ends[then - 1]:
            if not (self.is_macro(then) or self.texts[then].startswith((b"PRI", b"SCN"))) or self.texts[number - 1] == b"extern":
                return
            self._take(then, then)
            then += 1

    def _new(self, number: int) -> None:
        """`new T*[n]` makes as many as `new T[n]`, and the grammar knows the second only; it knows no `new const T`."""
        if self.texts[number + 1] == b"const":
            number += 1
            self._take(number, number)
        if self.names_at(number + 1):
            place = star = self.name(number + 1).last + 1
            while self.texts[place] == b"*":
                place += 1
            if place > star and self.texts[place] == b"[":
                self._take(star, place - 1)

    def _through_pointer(self, number: int) -> None:
        """`x->*member`, which the grammar does not know: to it, a member of that name; of a value, two expressions."""
        if self.texts[number - 1] == b"operator":
            return
        if self.kinds[number + 1] == WORD:
            self._give(number, number, self.texts[number][:-1])
        else:
            self._give(number, number, b",")

    def _expressions(self, opened: int, scope: _Scope) -> None:
        """What stands in brackets: a type of a cast, arguments that are types, for a macro, or begin a statement."""
        closed = self.partner.get(opened, -1)
        if closed < 0 or opened in self.declared:
            return
        texts = self.texts
        if not self.names_at(opened - 1):
            if texts[opened + 2] == b"*" and texts[opened + 4 : opened + 6] == [b")", b"("] and self.names_at(opened + 1):
                self._take(opened + 1, opened + 1)  # `void (CALL *name)(…)`
            elif self.kinds[opened + 1] == WORD:
                self._parameters(opened, closed)
            return
        first = opened + 1
        takes_types = texts[opened - 1] == b"offsetof"  # the grammar's own
        for place in self.commas(opened, closed):
            if texts[first] in (b"throw", b"return") and place > first + 1:
                self._take(first, first)
            elif scope.kind == "body" and not takes_types and texts[opened - 2] != b"<" and self._is_type(first, place):
                self._give(first, place - 1, b"0")
            first = place + 1

    def _is_type(self, first: int, end: int) -> bool:
        """Whether an argument can be nothing but a type."""
        if first == end or self.kinds[first] != WORD:
            return False
        at, is_type = first, False
        while at < end:
            text = self.texts[at]
            if self.is_one(at, TYPES | SPECIFIERS | CLASSES):
                is_type = True
                at += 1
            elif self.names_at(at):
                at = self.name(at).last + 1
                is_type = is_type or self.texts[at - 1] == b">"
            elif text in (b"*", b"&", b"&&"):
                at += 1
                is_type = is_type or at == end
            else:
                return False
        return is_type

    def _pointer_to_member(self, number: int) -> None:
        """`(T::*)`: a pointer, whatever it points into."""
        first = number - 1
        while first > 0 and (self.kinds[first] == WORD or self.texts[first] == b"::"):
            first -= 1
        if self.texts[first] == b"(" and first < number - 1:
            self._take(first + 1, number)
