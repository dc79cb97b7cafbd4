"""Templates of Svelte 4 and 5: what stands in braces, blocks and their scopes, directives, components, subscriptions of stores."""

from __future__ import annotations

import re

from indexer.markup.draft import CALLED, NAME, Draft
from indexer.markup.skim import end_of, parts
from indexer.markup.templates import Attribute, Element, elements, masked

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style", re.DOTALL | re.IGNORECASE)
_BLOCK = re.compile(r"\{\s*([#:/@])\s*(else[ \t\r\n]+if|[A-Za-z]+)\s*")
_AS = re.compile(r"\s(as)\s")
_THEN = re.compile(r"\s(then|catch)\s")
_OPENS = frozenset({"if", "each", "await", "key", "snippet"})
_RUNES = "state|derived|effect|props|bindable|inspect|host"
_STORE = re.compile(rf"(?<![\w$'\"`\\])(?:(?<!\.)|(?<=\.\.\.))\$(?!(?:{_RUNES})\b)([A-Za-z_]\w*)")
_REACTIVE = re.compile(r"^([ \t]*\$:[ \t]*)([A-Za-z_]\w*)[ \t]*=(?![=>])", re.MULTILINE)
_DECLARED = r"(?:(?:let|const|var|import)\b[^;=\n]*?|(?:function|class)\s+)(?<![\w$.]){}(?![\w$])"


def write(draft: Draft, scripts: list[tuple[int, int]]) -> bool:
    """Puts a template's code into the draft; False where not all of it was understood, and its words have to count.

    Args:
        scripts: where contents of scripts stand.
    """
    text = draft.text
    raw = sorted([*scripts, *(match.span(1) for match in _STYLE.finditer(text))])
    comments = [(one.start() + 4, max(one.start() + 4, one.end() - 3)) for one in _COMMENT.finditer(text)]
    raw = sorted([*raw, *comments])
    held = _braces(text, raw)
    if held is None:
        return False
    found, whole = elements(text, masked(text, sorted([*raw, *held])))
    if not whole:
        return False
    return _Template(draft, found, held).write()


def _braces(text: str, raw: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """What stands in braces outside of these spans, braces included; None where one is not closed."""
    found: list[tuple[int, int]] = []
    at, index = 0, 0
    while (at := text.find("{", at)) >= 0:
        while index < len(raw) and raw[index][1] <= at:
            index += 1
        if index < len(raw) and raw[index][0] <= at:
            at = raw[index][1]
            continue
        end = end_of(text, at)
        if end < 0:
            return None
        found.append((at, end))
        at = end
    return found


def with_stores(code: str, scripts: list[tuple[int, int]]) -> str:
    """`$count` reads the store that `count` holds, and `$: twice = …` declares what no other place does: as TypeScript writes it."""
    said = "\n".join(code[start:end] for start, end in scripts)
    names = {match[1] for match in _STORE.finditer(code)}
    bound = {name for name in names if re.search(_DECLARED.format(name), said) and not re.search(_DECLARED.format(rf"\${name}"), said)}
    code = _STORE.sub(lambda match: f" {match[1]}" if match[1] in bound else match[0], code)
    made: set[str] = set()

    def declare(match: re.Match[str]) -> str:
        name = match[2]
        if len(match[1]) < 4 or name in made or re.search(_DECLARED.format(name), said):
            return match[0]
        made.add(name)
        return f"{'let '.rjust(len(match[1]))}{match[0][len(match[1]) :]}"

    return _REACTIVE.sub(declare, code)


class _Template:
    def __init__(self, draft: Draft, found: list[Element], held: list[tuple[int, int]]) -> None:
        self.draft = draft
        self.text = draft.text
        self.elements = found
        self.held = dict(held)
        self.blocks: list[str] = []

    def write(self) -> bool:
        for one in self.elements:
            if one.name not in ("script", "style") and not self._element(one):
                return False
        for start in sorted(self.held):
            if not self._mustache(start, self.held[start]):
                return False
        return not self.blocks

    # ---- braces in text

    def _mustache(self, start: int, end: int) -> bool:
        match = _BLOCK.match(self.text, start, end)
        if match is None:
            return self._expression(start + 1, end - 1)
        sign, word, inner = match[1], match[2].split()[0], match.end()
        if sign == "@":
            return self._tag(word, start, inner, end)
        if sign == "/":
            return bool(self.blocks) and self.blocks.pop() == word and self.draft.put(start, "}") and self.draft.put(end - 1, ";")
        if sign == ":":
            if not self.blocks:
                return False
            return self.draft.put(start, "}{") and self._clause(word, inner if match[2] == word else match.end(), end)
        if word not in _OPENS:
            return False
        self.blocks.append(word)
        if len(self.blocks) > 100:
            return False
        return self._open(word, start, inner, end)

    def _expression(self, start: int, end: int) -> bool:
        code = self.text[start:end]
        if not code.strip() or code.lstrip()[:2] in ("//", "/*"):
            return True
        self.draft.wrap(start, end, ";", ";")
        return True

    def _tag(self, word: str, start: int, inner: int, end: int) -> bool:
        """`{@html x}`, `{@render row(x)}`, `{@const twice = 2 * x}`."""
        if word == "const":
            return self.draft.wrap(inner, end - 1, ";const ", ";")
        self.draft.wrap(inner, end - 1, ";", ";")
        return True

    def _clause(self, word: str, inner: int, end: int) -> bool:
        """`{:else if x}`, `{:then value}`, behind the braces that end one scope and begin the next."""
        code = self.text[inner : end - 1]
        if not code.strip():
            return self.draft.put(end - 1, ";")
        if word in ("then", "catch"):
            return self.draft.wrap(inner, end - 1, "let ", ";")
        self.draft.wrap(inner, end - 1, ";", ";")
        return True

    def _open(self, word: str, start: int, inner: int, end: int) -> bool:
        if word == "snippet":
            return self.draft.wrap(inner, end - 1, ";function ", "{")
        if not self.draft.put(start, "{"):
            return False
        if word == "each":
            return self._each(start, inner, end)
        if word == "await" and (match := _outside(_THEN, self.text, inner, end - 1)):
            return self._bind(start, inner, match, end - 1)
        self.draft.wrap(inner, end - 1, ";", ";")
        return True

    def _each(self, start: int, inner: int, end: int) -> bool:
        """`{#each items as item, index (key)}`: what binds stands behind what is gone through, so the types of elements are lost."""
        match = _outside(_AS, self.text, inner, end - 1)
        if match is None:
            code = self.text[inner : end - 1]
            commas = parts(code, ",")
            if not commas:
                self.draft.wrap(inner, end - 1, ";", ";")
                return True
            return self._let(inner, inner + commas[0]) and self.draft.wrap(inner + commas[0] + 1, end - 1, ",", ";")
        head = self.text[match.end() : end - 1]
        key = next((match.end() + at for at in _openings(head)), end - 1)
        if key == end - 1:
            return self._bind(start, inner, match, end - 1)
        closed = end_of(self.text, key)
        if closed < 0 or self.text[closed : end - 1].strip() or not self._bind(start, inner, match, key):
            return False
        return self.draft.wrap(key + 1, closed - 1, "", ";") if self.text[key + 1 : closed - 1].strip() else True

    def _let(self, start: int, end: int) -> bool:
        """A declaration that binds nothing goes on with the names that stand behind it."""
        return self.draft.wrap(start, end, "let[]=", "")

    def _bind(self, start: int, inner: int, match: re.Match[str], end: int) -> bool:
        if not self._let(inner, match.start()):
            return False
        names = self.text[match.end() : end].rstrip()
        return (
            bool(names.strip()) and self.draft.put(match.start(1), ",") and self.draft.wrap(match.end(), match.end() + len(names), "", ";")
        )

    # ---- elements

    def _element(self, one: Element) -> bool:
        name = one.name
        is_component = name[:1].isupper() or "." in name
        opens = any(item.name.startswith("let:") for item in one.attributes)
        behind = one.start + 1 + len(name)
        if opens:
            closing = one.tail if one.tail >= 0 else one.end - 1 if one.closes else -1
            if closing < 0 or not self.draft.put(one.start, "{") or not self.draft.put(closing, "}"):
                return False
        if is_component:
            self.draft.copy(one.start + 1, behind)
            if NAME.match(name):
                self.draft.put(behind if opens else one.start, CALLED)
            elif not opens:
                self.draft.put(one.start, ";")
            if one.tail >= 0:
                self.draft.put(one.tail + 1, ";")
                self.draft.copy(one.tail + 2, one.tail + 2 + len(name))
                self.draft.put(one.tail + 2 + len(name), ";")
        is_known = is_component or name.startswith("svelte:")
        for item in one.attributes:
            if not self._attribute(item, is_known=is_known, is_component=is_component):
                return False
        self.draft.put(one.head_end - 2 if self.text[one.head_end - 2] == "/" else one.head_end - 1, ";")
        return True

    def _attribute(self, item: Attribute, *, is_known: bool, is_component: bool) -> bool:
        if item.name[:1] == "{" and item.start in self.held:
            self._braced(item.start, self.held.pop(item.start))
            return True
        head, _, rest = item.name.partition(":")
        directive, argument = (head, rest.partition("|")[0]) if rest else ("", head.partition("|")[0])
        if is_known and argument:
            self.draft.give(argument)
        if directive == "let":
            return self._slot(item, argument)
        if directive in ("use", "transition", "in", "out", "animate"):
            self._action(item, directive, argument)
        if item.value_start < 0:
            if directive == "bind" and NAME.match(argument):
                self.draft.wrap(item.start + 5, item.start + 5 + len(argument), ";++", "")
            elif directive in ("class", "style") and NAME.match(argument):
                self.draft.wrap(item.start + len(directive) + 1, item.start + len(directive) + 1 + len(argument), ";", "")
            return True
        is_event = directive == "on" or (not directive and argument.startswith("on") and not is_component)
        self._value(item, directive, is_called=is_event or (is_known and not directive and argument == "this"))
        return True

    def _value(self, item: Attribute, directive: str, *, is_called: bool) -> None:
        start, end = item.value_start, item.value_end
        whole = self.held.get(start) == end
        for at in [at for at in range(start, end) if at in self.held]:
            closed = self.held.pop(at)
            if not whole:
                self.draft.wrap(at + 1, closed - 1, ";", ";")
            elif directive == "bind":
                self.draft.model(at + 1, closed - 1)
            elif is_called:
                self.draft.called(at + 1, closed - 1)
            else:
                self.draft.value(at + 1, closed - 1)

    def _braced(self, start: int, end: int) -> None:
        """`{title}`, `{...rest}`, `{@attach action}` among attributes."""
        match = _BLOCK.match(self.text, start, end)
        code = self.text[start + 1 : end - 1]
        if match is not None:
            self.draft.wrap(match.end(), end - 1, ";(", ")")
        elif code.strip().startswith("..."):
            self.draft.wrap(start + 1 + code.index("...") + 3, end - 1, ";(", ")")
        elif NAME.match(code.strip()):
            self.draft.wrap(start + 1, end - 1, "~", ";")
            self.draft.put(start - 1, ";")

    def _action(self, item: Attribute, directive: str, argument: str) -> None:
        """A function that is called for being named: `use:tooltip={…}`."""
        at = item.start + len(directive) + 1
        if NAME.match(argument):
            self.draft.wrap(at, at + len(argument), ";" + CALLED, "")
        elif argument:
            self.draft.wrap(at, at + len(argument), ";", "")

    def _slot(self, item: Attribute, argument: str) -> bool:
        """`let:item` binds what a slot gives, under its name or another."""
        at = item.start + 4
        if item.value_start < 0:
            return self.draft.wrap(at, at + len(argument), "let ", "")
        start, end = item.value_start, item.value_end
        if self.held.pop(start, -1) != end:
            return False
        return self.draft.wrap(start + 1, end - 1, ";let ", ";")


def _outside(regex: re.Pattern[str], text: str, start: int, end: int) -> re.Match[str] | None:
    """The last place where it fits outside of brackets and strings."""
    code = text[start:end]
    blanks = {at for sign in " \n\t" for at in parts(code, sign)}
    found = None
    for match in regex.finditer(text, start, end):
        if match.start() - start in blanks:
            found = match
    return found


def _openings(code: str) -> list[int]:
    """Where a key begins: a bracket outside of others."""
    found: list[int] = []
    at = 0
    while at < len(code):
        if code[at] == "(":
            return [at]
        end = end_of(code, at) if code[at] in "[{" else -1
        at = end if end > 0 else at + 1
    return found
