"""The scripts of a component (Vue, Svelte, Astro) as one text with the lines and columns of its file; its markup is blank.

A server of TypeScript, which takes JavaScript too, is told that text under the component's own path and a further ending, `Card.vue.ts`:
it then reads it as a module, and `import Card from './Card.vue'` leads there by TypeScript's own rules.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from indexer.languages import JAVASCRIPT, TYPESCRIPT

EXTENSIONS = (".vue", ".svelte", ".astro")

_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_END = re.compile(r"</script\s*>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_LANGUAGE = re.compile(r"""\blang\s*=\s*["']?(\w+)""")
_LANGUAGES = ("ts", "js", TYPESCRIPT.name, JAVASCRIPT.name)
_ELSEWHERE = re.compile(r"\bsrc\s*=")
_DEFAULT = re.compile(r"\bexport\s+default\b|\bexport\s*\{[^{}]*\bdefault\b")
_NO_BREAK = re.compile(r"[^\r\n]")
_WIDE = re.compile("[\U00010000-\U0010ffff]")


def scripts_of(path: str, text: str) -> str | None:
    """The scripts, and a default export behind the file's last line where none of them has one; None where there are no scripts."""
    spans = _spans(path, text)
    if not spans:
        return None
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += [_blank(text[done:start]), text[start:end]]
        done = end
    code = "".join([*parts, _blank(text[done:])])
    return code if _DEFAULT.search(code) else f"{code}\nexport default {{\n}}\n"


def markup_of(path: str, text: str) -> str:
    """What is left of a component without its scripts."""
    parts: list[str] = []
    done = 0
    for start, end in _spans(path, text):
        parts.append(text[done:start])
        done = end
    return "".join([*parts, text[done:]])


def _spans(path: str, text: str) -> list[tuple[int, int]]:
    """Where code stands; not what is commented out, lies in another file or is in another language."""
    covered = [match.span() for match in _COMMENT.finditer(text)]
    comments = [start for start, _ in covered]
    found: list[tuple[int, int]] = []
    if path.lower().endswith(".astro") and (front := _FRONT.match(text)):
        found.append(front.span(1))
    for place, attributes, start, end in _elements(text):
        language = _LANGUAGE.search(attributes)
        if _ELSEWHERE.search(attributes) or (language and language[1].lower() not in _LANGUAGES):
            continue
        before = bisect_right(comments, place) - 1
        if text[start:end].strip() and not (before >= 0 and place < covered[before][1]):
            found.append((start, end))
    return found


def _elements(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Of each script its place, its attributes, and where its content begins and ends. One step after the other: no text is read twice."""
    at = 0
    while (tag := _SCRIPT.search(text, at)) and (inner := text.find(">", tag.end()) + 1) and (end := _END.search(text, inner)):
        yield tag.start(), text[tag.end() : inner - 1], inner, end.start()
        at = end.end()


def _blank(text: str) -> str:
    """As many blanks as the text has UTF-16 units, and its line ends."""
    return _NO_BREAK.sub(" ", _WIDE.sub("  ", text))
