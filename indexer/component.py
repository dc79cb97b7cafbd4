"""The code of a component (Vue, Svelte, Astro) as one text with the lines and columns of its file.

Scripts stand in it as they are, and expressions of the markup of Vue and Svelte as `indexer.markup` writes them; all else is blank.

A server of TypeScript, which takes JavaScript too, is told that text under the component's own path and a further ending, `Card.vue.ts`:
it then reads it as a module, and `import Card from './Card.vue'` leads there by TypeScript's own rules.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from indexer.languages import JAVASCRIPT, TYPESCRIPT
from indexer.markup import svelte, vue
from indexer.markup.draft import CALLED, Draft, spans_line
from indexer.markup.skim import is_closed

_SCRIPT = re.compile(r"<script\b((?:[^>\"']|\"[^\"]*+\"|'[^']*+'){0,500}+)>", re.IGNORECASE)
_END = re.compile(r"</script\s*>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_LANGUAGE = re.compile(r"""\blang\s*=\s*["']?(\w+)""")
_LANGUAGES = ("ts", "js", TYPESCRIPT.name, JAVASCRIPT.name)
_ELSEWHERE = re.compile(r"\bsrc\s*=")
_DEFAULT = re.compile(r"\bexport\s+default\b|\bexport\s*\{[^{}]*\bdefault\b")
_SETUP = re.compile(r"(?<![\w-])setup(?![\w-])")


def scripts_of(path: str, text: str) -> str | None:
    """The scripts and what the markup runs and names, and a default export behind the file's last line where no script has one.

    None where there is neither a script nor any code in the markup.
    """
    return _made(path, text)[0]


def markup_of(path: str, text: str) -> str:
    """What is left of a component without what `scripts_of` gives: names that its markup uses in ways that are not read as code."""
    return _made(path, text)[1]


@functools.lru_cache(maxsize=2)
def _made(path: str, text: str) -> tuple[str | None, str]:
    """Both of one component, since who asks for the one asks for the other."""
    scripts = list(_spans(path, text))
    spans = [(one.start, one.end) for one in scripts]
    draft = Draft(text)
    is_options = False
    if path.lower().endswith(".vue"):
        is_setup = any(one.is_setup for one in scripts)
        is_options = not is_setup
        is_whole = vue.write(draft, _raw(text), is_setup=is_setup, is_typed=any(one.is_typed for one in scripts))
    elif path.lower().endswith(".svelte"):
        is_whole = svelte.write(draft, _raw(text))
    else:
        is_whole = False
    if not is_whole or not is_closed(draft.code()):
        draft, is_whole = Draft(text), False
    rest = _named(draft) if is_whole else _without(text, spans)
    if not spans and not draft.code().strip(" \r\n;"):
        return None, rest
    has_markup = bool(draft.code().strip(" \r\n;"))
    for start, end in spans:
        draft.copy(start, end)
        if has_markup:
            draft.put(start - 1, ";")
    code = draft.code()
    if path.lower().endswith(".svelte"):
        code = svelte.with_stores(code, spans)
    if any(CALLED in text[start:end] for start, end in spans):
        code = _plain(code, spans)
    if not _DEFAULT.search(code):
        return f"{code}\nexport default {{\n}}\n", rest
    return f"{code}\n{spans_line(code, spans)}\n" if is_options and has_markup else code, rest


def _named(draft: Draft) -> str:
    """Names that `indexer.unread` finds again."""
    return "\n".join([*(f"{{{word}}}" for word in sorted(draft.words)), *(f"{CALLED}={name}" for name in sorted(draft.properties)), ""])


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts.append(text[done:start])
        done = end
    return "".join([*parts, text[done:]])


def _plain(code: str, spans: list[tuple[int, int]]) -> str:
    """Signs of ours that a script has are blanks."""
    for start, end in spans:
        code = f"{code[:start]}{code[start:end].replace(CALLED, ' ')}{code[end:]}"
    return code


def _raw(text: str) -> list[tuple[int, int]]:
    """Contents of all scripts, also of those that are not read."""
    return [(start, end) for _, _, start, end in _elements(text)]


class _Script(NamedTuple):
    start: int
    end: int
    is_setup: bool
    is_typed: bool


def _spans(path: str, text: str) -> list[_Script]:
    """Where code stands; not what is commented out, lies in another file or is in another language."""
    covered = [match.span() for match in _COMMENT.finditer(text)]
    comments = [start for start, _ in covered]
    found: list[_Script] = []
    if path.lower().endswith(".astro") and (front := _FRONT.match(text)):
        found.append(_Script(*front.span(1), is_setup=False, is_typed=True))
    for place, attributes, start, end in _elements(text):
        language = _LANGUAGE.search(attributes)
        if _ELSEWHERE.search(attributes) or (language and language[1].lower() not in _LANGUAGES):
            continue
        before = bisect_right(comments, place) - 1
        if text[start:end].strip() and not (before >= 0 and place < covered[before][1]):
            is_typed = language is not None and language[1].lower() in ("ts", TYPESCRIPT.name)
            found.append(_Script(start, end, is_setup=_SETUP.search(attributes) is not None, is_typed=is_typed))
    return found


def _elements(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Of each script its place, its attributes, and where its content begins and ends. One step after the other: no text is read twice."""
    at = 0
    while (tag := _SCRIPT.search(text, at)) and (end := _END.search(text, tag.end())):
        yield tag.start(), tag[1], tag.end(), end.start()
        at = end.end()
