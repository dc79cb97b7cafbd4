"""Templates of Vue: interpolations, directives, scopes of `v-for` and of slots, components.

Names of a template mean what `<script setup>` binds, or, where there is none, members of the component's options.
"""

from __future__ import annotations

import re

from indexer.markup.draft import CALLED, NAME, Draft, camel_of
from indexer.markup.skim import MAX_DEPTH
from indexer.markup.templates import Attribute, Element, elements, masked

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FOR = re.compile(r"\s(in|of)\s")
_FILTER = re.compile(r"(?<!\|)\|\s*?([ \t])(?=[A-Za-z_$])")
_CSS = re.compile(r"\bv-bind\(\s*+(['\"]?)([\w$.\[\]]++)\1\s*+\)")
_SLOT = re.compile(r"v-slot\b|#|slot-scope\Z|scope\Z")
_DIRECTIVE = re.compile(r"v-([\w-]+)")
_OWN = frozenset(
    {"bind", "cloak", "else", "else-if", "for", "html", "if", "is", "memo", "model", "on", "once", "pre", "show", "slot", "text"}
)
_NO_PROPS = frozenset({"", "class", "is", "key", "ref", "slot", "slot-scope", "style"})
_CALLED_BY_VUE = frozenset({":is", "v-bind:is"})


def write(draft: Draft, scripts: list[tuple[int, int]], *, is_setup: bool, is_typed: bool) -> bool:
    """Puts a template's code into the draft; False where not all of it was understood, and its words have to count.

    Args:
        scripts: where contents of scripts stand. is_typed: a bar between names is a type's, and no filter.
    """
    text = draft.text
    comments = [(one.start() + 4, max(one.start() + 4, one.end() - 3)) for one in _COMMENT.finditer(text)]
    raw = sorted([*scripts, *comments])
    held = _interpolations(_without(text, raw))
    found, whole = elements(text, masked(text, sorted([*raw, *held])))
    if not found:
        return whole
    return _Template(draft, found, is_setup=is_setup, is_typed=is_typed).write(held) and whole


def _interpolations(text: str) -> list[tuple[int, int]]:
    """What stands in double braces, braces included."""
    found: list[tuple[int, int]] = []
    at = 0
    while (at := text.find("{{", at)) >= 0 and (end := text.find("}}", at + 2)) >= 0:
        found.append((at, end + 2))
        at = end + 2
    return found


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with blanks in these spans."""
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            parts += [text[done:start], " " * (end - start)]
            done = end
    return "".join([*parts, text[done:]])


class _Template:
    def __init__(self, draft: Draft, found: list[Element], *, is_setup: bool, is_typed: bool) -> None:
        self.draft = draft
        self.text = draft.text
        self.elements = found
        self.is_setup = is_setup
        self.is_typed = is_typed
        self.whole = True

    def write(self, mustaches: list[tuple[int, int]]) -> bool:
        live: list[tuple[int, int]] = []
        dead: list[tuple[int, int]] = []
        scopes: list[int] = []
        end = 0  # of the template around
        for one in self.elements:
            if one.depth == 0:
                end = 0
                if one.name == "style":
                    self._style(one)
                elif one.name == "template" and self._is_html(one):
                    end = one.end
                    live.append((one.start, one.end))
                continue
            if one.start >= end or (dead and one.start < dead[-1][1]):
                continue
            if any(attribute.name == "v-pre" for attribute in one.attributes):
                dead.append((one.start, one.end))
                continue
            while scopes and scopes[-1] <= one.start:
                scopes.pop()
            if self._element(one):
                scopes.append(one.end)
            if len(scopes) > MAX_DEPTH:
                return False
        self._mustaches(mustaches, live, dead)
        return self.whole

    def _is_html(self, one: Element) -> bool:
        """A template in another language, or in another file, counts by its words."""
        given = {attribute.name: self._value_of(attribute) for attribute in one.attributes}
        if given.get("lang", "html").lower() == "html" and "src" not in given:
            return True
        self.whole = False
        return False

    def _mustaches(self, held: list[tuple[int, int]], live: list[tuple[int, int]], dead: list[tuple[int, int]]) -> None:
        """`live` and `dead` are in order, and so are the interpolations."""
        at = out = 0
        for opened, closed in held:
            start, end = opened + 2, closed - 2
            while at < len(live) and live[at][1] <= start:
                at += 1
            while out < len(dead) and dead[out][1] <= start:
                out += 1
            is_live = at < len(live) and live[at][0] <= start and not (out < len(dead) and dead[out][0] <= start)
            if is_live and self.draft.wrap(start, end, ";(", ");", escaped=True):
                self._filters(start, end)

    def _filters(self, start: int, end: int) -> None:
        if self.is_typed:
            return
        for match in _FILTER.finditer(self.text, start, end):
            self.draft.signs[match.start(1)] = CALLED if match[1] == " " else match[1]

    def _style(self, one: Element) -> None:
        """`v-bind(color)`: a variable of the script."""
        for match in _CSS.finditer(self.text, one.head_end, max(one.head_end, one.tail)):
            self.draft.wrap(match.start(2), match.end(2), ";(", ")")

    # ---- elements

    def _element(self, one: Element) -> bool:
        """Whether it opens a scope."""
        scoped = [item for item in one.attributes if item.value_start >= 0 and (item.name == "v-for" or _SLOT.match(item.name))]
        is_component = one.name[:1].isupper() or "." in one.name
        at, behind = one.start, one.start + 1 + len(one.name)
        opens = bool(scoped) and self._scope(one, behind, is_component=is_component)
        if is_component:
            self._component(one, at, behind, opens=opens)
        elif "-" in one.name:
            self.draft.name_as(one.name)
        is_known = is_component or "-" in one.name
        for attribute in one.attributes:
            self._attribute(attribute, is_known=is_known)
        self.draft.put(one.head_end - 2 if self.text[one.head_end - 2] == "/" else one.head_end - 1, ";")
        return opens

    def _component(self, one: Element, at: int, behind: int, *, opens: bool) -> None:
        self.draft.copy(at + 1, behind)
        called = behind if opens and self.draft.signs[at] == "{" else at
        if NAME.match(one.name):
            self.draft.put(called, CALLED)
        elif called == at:
            self.draft.put(at, ";")
        if one.tail >= 0 and self.text[one.tail + 2 : one.tail + 2 + len(one.name)] == one.name:
            self.draft.put(one.tail + 1, ";")
            self.draft.copy(one.tail + 2, one.tail + 2 + len(one.name))
            self.draft.put(one.tail + 2 + len(one.name), ";")

    def _scope(self, one: Element, behind: int, *, is_component: bool) -> bool:
        """Opens a block for what the element binds, and closes it."""
        closing = one.tail if one.tail >= 0 else one.end - 1 if one.closes else self._end_around(one.end)
        opening = one.start
        if is_component and self.text[behind : behind + 1] in ("\n", "\r"):  # no room for the sign behind the name
            opening = behind + 2 if self.text[behind : behind + 2] == "\r\n" else behind + 1
        if closing < 0 or not self.draft.put(opening, "{"):
            self.whole = False
            return False
        if not self.draft.put(closing, "}"):
            self.draft.signs[opening] = " "
            self.whole = False
            return False
        return True

    def _end_around(self, end: int) -> int:
        """A free sign of the end tag that closes an element with those in it which have none."""
        if not self.text.startswith("</", end):
            return -1
        return next((at for at in range(end, end + 4) if self.draft.signs[at : at + 1] in ([" "], [";"])), -1)

    # ---- attributes

    def _value_of(self, item: Attribute) -> str:
        return self.text[item.value_start : item.value_end] if item.value_start >= 0 else ""

    def _attribute(self, item: Attribute, *, is_known: bool) -> None:
        name, start, end = item.name, item.value_start, item.value_end
        kind = name[0]
        plain = name.lstrip(":@#").partition(".")[0]
        argument = self._argument(item, is_bound=_SLOT.match(name) is not None and start >= 0)
        if is_known and plain not in _NO_PROPS and not plain.startswith("v-"):
            self.draft.give(f"on-{plain}" if kind == "@" else plain)
        custom = _DIRECTIVE.match(name)
        if custom and custom[1] not in _OWN:
            self.draft.name_as(custom[0])
            self.draft.name_as(custom[1])
        if start < 0:
            self._shorthand(item, argument)
        elif not item.quoted and not argument:
            if kind in ":@#" or name.startswith("v-"):
                self.draft.wrap(start, end, ";", "")
        elif name == "v-for":
            self._for(start, end)
        elif _SLOT.match(name):
            pattern = self._value_of(item)
            if argument:
                self.whole &= self.draft.wrap(start, end, "", ";")
                return
            before = ";let" if pattern[:1] in ("{", "[") else ";let "
            if pattern.strip() and not self.draft.wrap(start, end, before, ";"):
                self.whole = False
        elif kind == "@" or name.startswith("v-on:"):
            self.draft.handler(start, end)
        elif name in _CALLED_BY_VUE:
            self.draft.called(start, end)
        elif name == "v-model" or name.startswith(("v-model:", "v-model.")):
            self.draft.model(start, end)
        elif kind == ":" or name.startswith("v-"):
            if self._has_filters(name):
                self._filtered(start, end)
            else:
                self.draft.value(start, end)
        elif name == "ref" and self.is_setup and NAME.match(self._value_of(item)):
            self.draft.wrap(start, end, ";", ";")
        elif name == "is":
            self.draft.name_as(self._value_of(item))

    def _has_filters(self, name: str) -> bool:
        return name[0] == ":" or name.startswith("v-bind")

    def _filtered(self, start: int, end: int) -> None:
        self.draft.value(start, end)
        if self.draft.signs[start - 1] == "(":
            self._filters(start, end)

    def _argument(self, item: Attribute, *, is_bound: bool) -> bool:
        """`:[name]`: an expression between brackets. `is_bound`: a pattern follows, which the same statement then declares."""
        opened, closed = item.name.find("["), item.name.rfind("]")
        if opened < 1 or closed < opened:
            return False
        start, end = item.start + opened + 1, item.start + closed
        if is_bound:
            self.whole &= self.draft.wrap(start, end, "let[]=", ",")
            return True
        return self.draft.wrap(start, end, ";(", ")")

    def _shorthand(self, item: Attribute, argument: bool) -> None:
        """`:title` stands for `:title="title"`."""
        name = item.name.partition(".")[0]
        plain = name[1:] if name[0] == ":" else name.removeprefix("v-bind:")
        if plain == name or not plain or argument:
            return
        if not NAME.match(plain) or not self.draft.put(item.start, "~".rjust(len(name) - len(plain), ";")):
            self.draft.name_as(camel_of(plain))
            return
        if name[0] == ":":
            self.draft.put(item.start - 1, ";")
        self.draft.copy(item.start + len(name) - len(plain), item.start + len(name))

    def _for(self, start: int, end: int) -> None:
        """`(item, index) in items` binds the first of what the last holds."""
        match = _FOR.search(self.text, start, end)
        bound = "" if match is None else self.text[start : match.start()]
        first, last = start + len(bound) - len(bound.lstrip()), start + len(bound.rstrip())
        in_brackets = self.text[first : first + 1] == "(" and self.text[last - 1 : last] == ")"
        if in_brackets:
            first, last = first + 1, last - 1
        names = self.text[first:last].rstrip(" ,")
        if match is None or not names.strip():
            self._unread(start, end)
            return
        before, after = (";let{0:", "}") if in_brackets or (names[0] not in "{[" and "," in names) else (";let[", "]")
        done = (
            self.draft.wrap(first, first + len(names), before, "")
            and self.draft.put(last, after)
            and self.draft.put(match.start(1), "=")
            and self.draft.wrap(match.end(), end, "", ";", escaped=True)
        )
        if not done:
            self._unread(start, end)

    def _unread(self, start: int, end: int) -> None:
        """What could not be read binds names: all that stands in its scope may mean them."""
        self.whole = False
        self.draft.name(self.text[start:end])
