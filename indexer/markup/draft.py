"""The text that is made of a component: as wide as its file, line by line, and blank where nothing was put."""

from __future__ import annotations

import html
import re

from indexer.markup.skim import is_closed, is_statement

CALLED = "\v"
"""Stands before or behind a name that the markup calls: a blank for every parser, a sign for `indexer.syntax.tree.markup`."""

_NO_BREAK = re.compile(r"[^\r\n]")
_ENTITIES = re.compile(r"(?:&(?:amp|lt|gt|quot|apos|#39);)+")
_WORD = re.compile(r"[^\W\d]\w*")
_HYPHEN = re.compile(r"-(\w?)")
_PATH = re.compile(r"\s*[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[[\w$'\"]+\])*\s*\Z")
NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")


class Draft:
    """What is put is written over blanks; `words` are names that the markup uses and that no code stands for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.signs = ["  " if sign > "\uffff" else sign if sign in "\r\n" else " " for sign in text]
        self.words: set[str] = set()
        self.properties: set[str] = set()

    def put(self, at: int, code: str) -> bool:
        """Writes signs of a made text; not where the file ends a line or has a sign of two units."""
        if at < 0 or any(sign not in (" ", ";") for sign in self.signs[at : at + len(code)]) or at + len(code) > len(self.signs):
            return False
        self.signs[at : at + len(code)] = code
        return True

    def copy(self, start: int, end: int) -> None:
        self.signs[start:end] = self.text[start:end]

    def name(self, code: str) -> None:
        """Words of a text that is not read as code."""
        self.words.update(_WORD.findall(code))

    def name_as(self, name: str) -> None:
        """A name of markup, in the ways in which code may write it: `my-child` is `MyChild` or `myChild`."""
        camel = camel_of(name)
        self.words.update(word for word in (camel, camel[:1].upper() + camel[1:]) if NAME.match(word))

    def wrap(self, start: int, end: int, before: str, after: str, *, escaped: bool = False) -> bool:
        """Puts an expression between made signs, or only its words where that would break what is around it."""
        code = self.text[start:end]
        if escaped and "&" in code:
            code = _ENTITIES.sub(lambda match: html.unescape(match[0]).ljust(len(match[0])), code)
        if CALLED in code or not code.strip() or not is_closed(code):
            self.name(code)
            return False
        at, signs = start - len(before), self.signs[start - len(before) : end + len(after)]
        if not self.put(at, before) or not self.put(end, after):
            self.signs[at : at + len(signs)] = signs
            self.name(code)
            return False
        self.signs[start:end] = code
        return True

    def give(self, name: str) -> None:
        """A property that a component gets: names what it declares, and no function of that name elsewhere."""
        if NAME.match(camel := camel_of(name)):
            self.properties.add(camel)

    # ---- values of attributes: a sign of assignment and a quote stand before them, a quote behind

    def value(self, start: int, end: int) -> None:
        """What is shown, tested or handed over."""
        self.wrap(start, end, ";(", ")", escaped=True)

    def handler(self, start: int, end: int) -> None:
        """What an event runs: the function that it names, or statements."""
        code = self.text[start:end]
        if NAME.match(code.strip()):
            self.called(start, end)
        elif is_statement(code):
            self.wrap(start, end, ";{", "}", escaped=True)
        else:
            self.value(start, end)

    def called(self, start: int, end: int) -> None:
        """A function or a component that is run for having been named."""
        code = self.text[start:end]
        blanks = len(code) - len(code.lstrip())
        if NAME.match(code.strip()) is None or not self.wrap(start + blanks, end, ";" + CALLED, ";"):
            self.value(start, end)

    def model(self, start: int, end: int) -> None:
        """What is read and written."""
        if _PATH.match(self.text[start:end]) is None or not self.wrap(start, end, ";++", ";"):
            self.value(start, end)

    def code(self) -> str:
        return "".join(self.signs)

    def gaps(self, spans: list[tuple[int, int]]) -> str:
        """The text without what stands in these spans, for looking at what was made."""
        shown = list(self.signs)
        for start, end in spans:
            shown[start:end] = " " * (end - start)
        return "".join(shown)


def camel_of(name: str) -> str:
    return _HYPHEN.sub(lambda match: match[1].upper(), name)


def spans_line(code: str, spans: list[tuple[int, int]]) -> str:
    """A comment behind the text that says in bytes where its scripts stand: there, names of the component's options mean nothing."""
    return f"//{CALLED}" + ",".join(f"{len(code[:start].encode())}-{len(code[:end].encode())}" for start, end in spans)


def spans_in(source: bytes) -> list[tuple[int, int]] | None:
    """The scripts by that comment; None where the text has none."""
    _, found, said = source[source[:-1].rfind(b"\n") + 1 :].rstrip().partition(f"//{CALLED}".encode())
    if not found:
        return None
    pairs = [pair.partition(b"-") for pair in said.split(b",") if pair]
    return [(int(start), int(end)) for start, _, end in pairs]
