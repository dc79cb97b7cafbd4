"""What is found of a text with macros, and the parts that need no head to be read: parameters, what is behind them, expressions.

`macro_declarations` and `macros` add to what is found here, and call these where a part begins.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from indexer.syntax.c_tokens import (
    ATTRIBUTES,
    CLASSES,
    LINE,
    MOST_TOKENS,
    NUMBER,
    QUALIFIERS,
    SPECIFIERS,
    TYPES,
    WORD,
    Name,
    Tokens,
    words,
)

END_OF_GROUP = re.compile(rb"[ \t]*#[ \t]*endif\b")
"""A directive that ends an `#if`."""


class BraceScope(NamedTuple):
    """What a brace opens: a `class`, an `enum`, a `space` (a namespace, or the file), a `body` of statements, or a `list` of values."""

    kind: str
    name: bytes = b""


_SIGNS = words("< > <= >= == != + - * / % & | ^ && || << >>")


class Parts(Tokens):
    """The tokens of one text, and what is found of them: those that the parser does not see, and what brackets and braces are."""

    def __init__(self, source: bytes, *, is_cpp: bool) -> None:
        super().__init__(source, is_cpp=is_cpp)
        self.opened: dict[int, BraceScope] = {}
        """By the number of a brace: what it opens, where its statement tells."""
        self.declared: set[int] = set()
        """Brackets of parameters."""
        self.fresh: set[int] = set()
        """Where statements begin, besides behind `;` and braces."""
        self.blank: set[int] = set()
        """What the parser does not see."""

    # ---- what the parser sees

    def take(self, first: int, last: int) -> None:
        """These tokens are not for the parser; directives between them are."""
        self.blank.update(number for number in range(first, last + 1) if self.kinds[number] != LINE)

    def give(self, first: int, last: int, other: bytes) -> None:
        """In place of these tokens, which are no shorter, other text."""
        self.take(first, last)
        self.instead.append((self.starts[first], other))

    def take_names(self, names: list[Name]) -> None:
        """Names are taken as a whole, with what qualifies them."""
        for name in names:
            self.take(name.first, name.last)

    # ---- parameters

    def parameters(self, opened: int, closed: int) -> None:
        """Reads brackets of parameters, each of them by itself."""
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
                self.take_names(behind)  # `T FAR * FAR *`
                behind.clear()
                is_pointed = True
                at += 1
            elif text == b"[":
                at = self.behind(at)
            elif text == b"=":
                if self.texts[at + 1] == b"{" and self.behind(at + 1) == end:  # the grammar wants an expression
                    self.give(at + 1, end - 1, b"0")
                break
            elif text == b"...":
                break
            else:
                return
        room = len(before) - (0 if is_typed else 1) - (0 if is_pointed else 1)
        macros = [name for name in before if self.is_macro(name.own)]
        self.take_names((macros + [name for name in before if name not in macros])[: max(0, room)])
        self.take_names([name for name in behind if self.is_macro(name.own)][: max(0, len(behind) - 1)])

    def template_parameters(self, opened: int, closed: int) -> None:
        """`MACRO(…)` is none of them that a grammar knows; with it goes the comma."""
        for place in range(opened + 1, closed):
            if self.texts[place - 1] not in (b"<", b",") or not self.names_at(place) or self.texts[place + 1] != b"(":
                continue
            end = self.partner.get(place + 1, closed)
            if self.texts[end + 1] not in (b",", b">"):
                continue
            self.take(place, end)
            if self.texts[place - 1] == b",":
                self.blank.add(place - 1)
            elif self.texts[end + 1] == b",":
                self.blank.add(end + 1)

    # ---- behind parameters

    def trailing(self, at: int, scope: BraceScope) -> None:
        """Takes macros between the brackets of parameters and the body, and finds that."""
        texts = self.texts
        end = at + MOST_TOKENS
        while at < end:
            text = texts[at]
            if self.kinds[at] == WORD:
                if self.is_one(at, QUALIFIERS) or (text in ATTRIBUTES and texts[at + 1] == b"("):
                    at = self.behind(at + 1) if texts[at + 1] == b"(" else at + 1
                    continue
                if (body := self.old_parameters(at)) > 0:
                    self.opened[body] = BraceScope("body")
                    return
                if not self.is_name(text) or not (self.is_macro(at) or scope.kind != "body"):
                    return
                then = self.behind(at + 1) if texts[at + 1] == b"(" else at + 1
                is_last = texts[then] in (b";", b"{", b":", b"=", b",", b"->") or self.kinds[then] == LINE
                if not is_last and not self._is_trailing(then):
                    return
                self.take(at, then - 1)
                at = then
            elif text in (b"&", b"&&"):
                at += 1
            elif text == b"[" and texts[at + 1] == b"[":
                at = self.behind(at)
            elif text == b"{":
                self.opened[at] = BraceScope("body")
                return
            elif text == b":":
                self._initializers(at + 1)
                return
            elif text == b"=":
                if scope.kind == "space" and texts[at + 1] == b"delete" and texts[at + 2] == b";":
                    self.take(at, at + 1)  # the grammar knows it of members
                return
            elif self.kinds[at] == LINE:
                behind = self._attributes(at)
                if behind < 0:
                    return
                at = behind
            elif text == b"->":
                at = self.until(at + 1, lambda place: texts[place] in (b"{", b";", b"=", b""))
                if texts[at] == b"{":
                    self.opened[at] = BraceScope("body")
                return
            else:
                return

    def _is_trailing(self, at: int) -> bool:
        """Whether a word may stand behind parameters: a macro by its spelling, or a name of the compiler's, as in system headers."""
        return self.kinds[at] == WORD and (self.is_one(at, QUALIFIERS) or self.is_macro(at) or self.texts[at].startswith(b"__"))

    def _attributes(self, at: int) -> int:
        """Takes `#if` to `#endif` with attributes and macros only; returns what is behind, below 0 where there is more."""
        place = at + 1
        while place < at + 30:
            if self.kinds[place] == LINE:
                if END_OF_GROUP.match(self.texts[place]):
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
                self.opened[at] = BraceScope("body")
                return
            if self.texts[at] != b",":
                return
            at += 1

    def old_parameters(self, at: int) -> int:
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

    # ---- within expressions

    def joined(self, number: int) -> None:
        """A macro behind a text is one (`"%" PRIu64`, `"a" NAMED(b)`)."""
        then = number + 1
        while self.names_at(then) and self.starts[then] > self.ends[then - 1]:
            if not (self.is_macro(then) or self.texts[then].startswith((b"PRI", b"SCN"))) or self.texts[number - 1] == b"extern":
                return
            behind = self.behind(then + 1) if self.texts[then + 1] == b"(" else then + 1
            if behind <= then:
                return
            self.take(then, behind - 1)
            then = behind

    def new(self, number: int) -> None:
        """`new T*[n]` makes as many as `new T[n]`, and the grammar knows the second only; it knows no `new const T`."""
        if self.texts[number + 1] == b"const":
            number += 1
            self.take(number, number)
        if self.names_at(number + 1):
            place = star = self.name(number + 1).last + 1
            while self.texts[place] == b"*":
                place += 1
            if place > star and self.texts[place] == b"[":
                self.take(star, place - 1)

    def through_pointer(self, number: int) -> None:
        """`x->*member`, which the grammar does not know: to it, a member of that name; of a value, two expressions."""
        if self.texts[number - 1] == b"operator":
            return
        if self.kinds[number + 1] == WORD:
            self.give(number, number, self.texts[number][:-1])
        else:
            self.give(number, number, b",")

    def expressions(self, opened: int, scope: BraceScope) -> None:
        """What stands in brackets: a type of a cast, arguments that are types, for a macro, or begin a statement."""
        closed = self.partner.get(opened, -1)
        if closed < 0 or opened in self.declared:
            return
        texts = self.texts
        if not self.names_at(opened - 1):
            if texts[opened + 2] == b"*" and texts[opened + 4 : opened + 6] == [b")", b"("] and self.names_at(opened + 1):
                self.take(opened + 1, opened + 1)  # `void (CALL *name)(…)`
            elif self.kinds[opened + 1] == WORD:
                self.parameters(opened, closed)
            return
        first = opened + 1
        takes_types = texts[opened - 1] == b"offsetof"  # the grammar's own
        for place in self.commas(opened, closed):
            if closed > opened + 1 and (place == first or (place == first + 1 and texts[first] in _SIGNS)):
                ends = (first, place) if texts[place] == b"," else (first - 1, place - 1)  # `NEXT(a, , b)`, `compare(a, b, <)`
                self.take(*ends)
            elif texts[first] in (b"throw", b"return") and place > first + 1:
                self.take(first, first)
            elif scope.kind == "body" and not takes_types and texts[opened - 2] != b"<" and self._is_type(first, place):
                self.give(first, place - 1, b"0")
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

    def pointer_to_member(self, number: int) -> None:
        """`(T::*)`: a pointer, whatever it points into."""
        first = number - 1
        while first > 0 and (self.kinds[first] == WORD or self.texts[first] == b"::"):
            first -= 1
        if self.texts[first] == b"(" and first < number - 1:
            self.take(first + 1, number)
