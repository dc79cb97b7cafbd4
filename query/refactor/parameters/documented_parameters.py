"""Parameters in the documentation of a function: `:param x:`, the entries below `Args:` and `Parameters`, names in backquotes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

_HEADING = re.compile(r"(?P<margin>[ \t]*)(?:Args|Arguments|Parameters|Params|Other Parameters|Keyword Args|Keyword Arguments):?[ \t]*$")
_UNDERLINE = re.compile(r"[ \t]*[-=~]{3,}[ \t]*$")
_ENTRY = re.compile(r"(?P<margin>[ \t]*)(?P<stars>\\?\*{0,2}\\?\*?)(?P<word>[^\W\d]\w*)(?=[ \t]*(?:\([^)]*\))?[ \t]*(?::|$)|,)")
_FIELD = re.compile(
    r"(?P<margin>[ \t]*):(?:param|parameter|arg|argument|key|keyword|kwarg|type)[ \t]+(?:[^:\n]*[ \t])?\\?\*{0,2}(?P<word>\w+):"
)
_QUOTED = re.compile(r"(?P<mark>``?)(?P<word>[^\W\d]\w*)(?P=mark)(?!`)")


def documented(text: str, new_names: Mapping[str, str], removed: Collection[str]) -> str:
    """The documentation with parameters under their new names, and without those that are gone."""
    lines = text.split("\n")
    entries = dict(_entries(lines))
    kept: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        found = entries.get(number)
        if found is not None and found["word"] in removed and number > 0:
            last = _last_of(lines, number, len(found["margin"].expandtabs()))
            tail = lines[last]
            if last + 1 == len(lines):  # the closing quotes stand behind it
                kept[-1] += tail[len(tail.rstrip("'\"")) :]
            number = last + 1
            continue
        if found is not None and found["word"] in new_names:
            line = line[: found.start("word")] + new_names[found["word"]] + line[found.end("word") :]
        kept.append(_QUOTED.sub(lambda one: f"{one['mark']}{new_names.get(one['word'], one['word'])}{one['mark']}", line))
        number += 1
    return "\n".join(kept)


def _entries(lines: list[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Lines that say a parameter, by number."""
    indent, inside, underlined = 0, False, False
    of_entries: int | None = None
    for number, line in enumerate(lines):
        if field := _FIELD.match(line):
            yield number, field
            continue
        if heading := _HEADING.match(line.rstrip("\r")):
            indent, inside, of_entries = len(heading["margin"].expandtabs()), True, None
            underlined = number + 1 < len(lines) and _UNDERLINE.match(lines[number + 1]) is not None
            continue
        if not inside or not line.strip() or _UNDERLINE.match(line):
            continue
        own = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        is_next = number + 1 < len(lines) and _UNDERLINE.match(lines[number + 1]) is not None
        if (underlined and is_next) or own < indent or (not underlined and own == indent):
            inside = False
            continue
        of_entries = own if of_entries is None else of_entries
        if own == of_entries and (entry := _ENTRY.match(line)):
            yield number, entry


def _last_of(lines: list[str], first: int, indent: int) -> int:
    """The last line of an entry: those behind it that are indented more, blank ones between them too."""
    last = first
    for number in range(first + 1, len(lines)):
        line = lines[number].expandtabs()
        if not line.strip():
            continue
        if len(line) - len(line.lstrip()) <= indent or not line.strip("'\" \t"):
            break
        last = number
    return last
