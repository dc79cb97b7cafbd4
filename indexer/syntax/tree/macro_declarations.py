"""Declarations: which name of a head is the type, which is declared, and which are too many; what is in front of brackets; classes.

Where a head goes and where it ends is told by `macros`, which calls this; parameters and what stands behind them are read by
`macro_parts`.
"""

from __future__ import annotations

from indexer.syntax.c_tokens import (
    ACCESS,
    ATTRIBUTES,
    CLASSES,
    CLOSES,
    END,
    LINE,
    MOST_TOKENS,
    OPERATORS,
    QUALIFIERS,
    SPECIFIERS,
    TEXT,
    TYPES,
    WORD,
    Name,
    words,
)
from indexer.syntax.tree.macro_parts import BraceScope, Parts

_LOOPS = words("foreach forever")
_EXPORTS = (b"EXPORT", b"API", b"DLL", b"PUBLIC", b"LIB")


class Head:
    """What was read of a declaration: names `before` a `*` or `&` and `behind` it. `first`: the token it begins with."""

    __slots__ = ("before", "behind", "first", "is_array", "is_pointed", "is_typed", "scope")

    def __init__(self, first: int, scope: BraceScope) -> None:
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


class Declarations(Parts):
    """Takes from one text the names that its declarations have too many."""

    # ---- names

    def _makes(self, name: Name, scope: BraceScope) -> bool:
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

    def stands_alone(self, head: Head, name: Name) -> bool:
        """Whether what is in front is a statement of its own: `Q_OBJECT` above `Q_PROPERTY(…)`, `BEGIN` above `CHECK(a, b);`."""
        if not head.is_one_word or not self.is_macro(head.before[0].own):
            return False
        is_above = self.has_line_end(head.before[0].last, name.first)
        calls_macro = self.is_macro(name.own) and self.texts[name.last + 1] == b"("
        if head.scope.kind == "body":  # a type stands there on the line of its variable, and no variable is spelt like a macro
            return is_above or calls_macro
        return head.scope.kind in ("class", "space") and is_above and calls_macro

    def take_alone(self, head: Head) -> None:
        """Words before what cannot follow a name: macros that stand for statements or for nothing."""
        if head.scope.kind != "list" and all(self.is_macro(name.own) for name in head.before):
            self.take_names(head.before)

    def has_attribute(self, head: Head) -> bool:
        """Whether the last name is a macro behind that of a variable."""
        return head.room > 0 and self.is_macro(head.names[-1].own) and not self.is_macro(head.names[-2].own)

    def surplus(self, before: list[Name], behind: list[Name], *, is_typed: bool, is_maker: bool = False) -> None:
        """Takes what is too much for one type and one name. `is_maker`: a constructor, which has no type."""
        types = before if behind else before[:-1]
        if is_typed or is_maker:
            self.take_names(types)
        elif len(types) > 1:
            kept = next((name for name in reversed(types) if not self.is_macro(name.own)), types[-1])
            self.take_names([name for name in types if name is not kept])
        self.take_names(behind[:-1])

    # ---- brackets

    def brackets(self, at: int, head: Head) -> int:
        """What stands before them is a macro, a function or a variable."""
        closed = self.partner.get(at, -1)
        if head.before and not head.behind and self.texts[at - 1] == b"*" and self.texts[at + 1] == b"*":  # `T *(*name)(…)`
            self.surplus(head.before, [head.before[-1]], is_typed=head.is_typed)
        elif head.is_typed and not head.behind and self.texts[at + 1] == b"*" and closed > 0 and self.texts[closed + 1] == b"(":
            self.take_names(head.before)  # `typedef API void (*name)(…)`
        if (own := self._in_brackets(at, closed, head)) is not None:  # `API int (name)(…)`
            self.surplus(head.before, [own], is_typed=head.is_typed)
            self.take(at, at)
            self.take(closed, closed)
            self.parameters(closed + 1, self.partner[closed + 1])
            self.trailing(self.behind(closed + 1), head.scope)
            return -1
        if closed < 0 or not head.names or head.names[-1].last != at - 1:
            return -1
        name = head.names[-1]
        makes = self._makes(name, head.scope)
        if not makes and self._is_made_type(closed, head):  # `static LIST_HEAD(jobs, job) all_jobs;`
            self.take(at, closed)
            return closed + 1
        if head.is_one_word and not makes and name.first == name.own:
            return self._called(at, closed, head)
        if not makes and (self.has_attribute(head) or self._is_in_front(at, closed, head)):  # `T x GUARDED_BY(lock);`
            self.take(name.first, closed)
            head.names.pop()
            return closed + 1
        self.surplus(head.before, head.behind, is_typed=head.is_typed, is_maker=makes)
        if head.behind and self.texts[closed + 1] == b";" and self._is_value(at, closed):
            self.give(at, at, b"=")  # `T *x(1);`, which the grammar knows of no pointer
            self.take(closed, closed)
            return -1
        if makes or head.is_typed or len(head.before) + len(head.behind) > 1:
            self.parameters(at, closed)
        self.trailing(closed + 1, head.scope)
        return -1

    def _is_in_front(self, at: int, closed: int, head: Head) -> bool:
        """Whether it is an attribute before what is declared: `void printflike(2, 3) log(…)`. No parameter begins with a number."""
        then, name = closed + 1, head.names[-1]
        if not (head.is_typed or head.is_pointed or len(head.before) > 1) or head.scope.kind not in ("space", "class"):
            return False
        if self.names_at(then):
            behind = self.name(then).last + 1
            if (self.is_macro(then) and not self.is_macro(name.own)) or not (self.texts[behind] in (b"(", b"*") or self.names_at(behind)):
                return False
        elif not self.is_one(then, TYPES | SPECIFIERS | CLASSES):
            return False
        begins = [at + 1, *(comma + 1 for comma in self.commas(at, closed)[:-1])]
        return any(self.texts[place][:1].isdigit() for place in begins)

    def _is_made_type(self, closed: int, head: Head) -> bool:
        """Whether a macro in brackets makes the type of the variable behind it."""
        then = closed + 1
        if head.is_typed or head.is_pointed or len(head.before) != 1 or not self.is_macro(head.before[0].own) or not self.names_at(then):
            return False
        is_alone = head.is_one_word
        behind = self.texts[self.name(then).last + 1]
        return behind in (b";", b"=", b"[") and not self.has_line_end(closed, then) and (not is_alone or head.scope.kind == "space")

    def _in_brackets(self, at: int, closed: int, head: Head) -> Name | None:
        """The name of a function that stands in brackets itself, so that no macro of that name is meant."""
        has_type = head.is_typed or head.is_pointed or len(head.before) > 1
        if closed < 0 or not has_type or head.behind or not self.names_at(at + 1) or closed + 1 not in self.partner:
            return None
        own = self.name(at + 1)
        return own if own.last == closed - 1 and self.texts[closed + 1] == b"(" else None

    def _called(self, at: int, closed: int, head: Head) -> int:
        """`NAME(…)` where a statement begins."""
        name, then, kind = head.first, closed + 1, head.scope.kind
        text, is_word = self.texts[then], self.kinds[then] == WORD
        if text == b";":
            if self.is_macro(name) and (kind == "class" or self.is_one(at + 1, SPECIFIERS | TYPES | CLASSES)):
                self.take(name, closed)
            return -1
        if text == b"{":
            self.opened[then] = BraceScope("body")
            if kind == "body":  # a macro that begins a loop
                self.take(name, closed)
            elif not all(self.names_at(place) or self.texts[place] in (b",", b"*", b"&", b"::") for place in range(at + 1, closed)):
                self.take(at + 1, closed - 1)
            return -1
        if kind == "body" and self.texts[name] in _LOOPS:
            self.take(name, closed)
            self.fresh.add(then)
            return -1
        if text == b":" or (is_word and self.is_one(then, QUALIFIERS)):
            self.trailing(then, head.scope)
            return -1
        if is_word and kind == "space" and (body := self.old_parameters(then)) > 0:
            self.opened[body] = BraceScope("body")
            return -1
        if kind == "list" or (is_word and self.is_one(then, OPERATORS)) or not self._may_stand(name, closed):
            return -1
        self.take(name, closed)
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

    def operator(self, at: int, head: Head) -> None:
        """`operator` stands here, and what it is called by follows."""
        converts = self.kinds[at + 1] == WORD and self.texts[at + 1] not in (b"new", b"delete", b"co_await")
        own = Name(at, at, at)
        names = ([*head.before], [*head.behind, own]) if head.is_pointed else ([*head.before, own], [])
        self.surplus(*names, is_typed=head.is_typed, is_maker=converts)
        place = at + 3 if self.texts[at + 1 : at + 3] == [b"(", b")"] else at + 1
        while place < at + MOST_TOKENS and self.texts[place] not in (b"(", b";", b"{", b""):
            place += 1
        if self.texts[place] == b"(" and place in self.partner:
            self.parameters(place, self.partner[place])
            self.trailing(self.behind(place), head.scope)

    # ---- classes

    def class_at(self, at: int, scope: BraceScope) -> int:
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
            len(names) < 2 or body != at or self.has_members(body) or self._is_marked(names[0], body, is_enum, scope)
        ):
            self.take_names(names[:-1])
            self.opened[body] = BraceScope("enum") if is_enum else BraceScope("class", own)
            return -1
        if texts[at] == b";" and len(names) == 2 and self.is_macro(names[0].own) and names[1].first == names[1].own:
            if key == b"class" or texts[names[0].own].endswith(_EXPORTS):
                self.take_names(names[:-1])
            return -1
        return names[0].last + 1 if names else -1

    def _is_marked(self, name: Name, body: int, is_enum: bool, scope: BraceScope) -> bool:
        """Of two names, one is a macro, though what the brace opens might be a value: a list of names, or nothing."""
        is_empty = self.texts[body + 1] == b"}"
        return (is_enum or (is_empty and scope.kind != "body")) and self.is_macro(name.own)

    def has_members(self, body: int) -> bool:
        """Whether a brace opens the text of a class or a function, and no value."""
        closed = self.partner.get(body, -1)
        place = body + 1
        while body < place < closed:
            text = self.texts[place]
            if text == b";" or (text in ACCESS and self.texts[place + 1] == b":"):
                return True
            place = self.behind(place) if text in CLOSES else place + 1
        return False
