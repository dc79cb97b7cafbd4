"""Globs as manifests have them, as regular expressions that take bounded time: their stars are a stranger's. Pure.

`*a*a*a*…` against a name of 255 letters keeps an ordinary translation busy for ever. Here each star but the last takes the least that fits
and never gives it back: what follows may start as early as can be, and nothing is missed. That holds where `**` stands alone between
slashes, so that stars of one kind follow upon each other; `query.edits.globs` has globs in which they do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

_MOST = 1_000
"""Globs of one manifest that are read."""

_MOST_CHARS = 4_096
_MOST_ALTERNATIVES = 64
"""That the braces of one glob may stand for."""


def part(text: str) -> str:
    """The regular expression of what stands between two slashes: `*` and `?` mean anything but a slash."""
    first, *others = re.split(r"\*+", text)
    shown = _literal(first)
    for number, other in enumerate(others):
        is_last = number == len(others) - 1
        shown += f"[^/]*{_literal(other)}" if is_last else f"(?>[^/]*?{_literal(other)})"
    return shown


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\?", "[^/]")


def regex(parts: Sequence[str], *, end: str = "", folder: str = "[^/]+/") -> str:
    """The regular expression of a glob that was cut at its slashes, each part of which is `**` or the expression of one part.

    Args:
        end: the expression of what follows upon the last part.
        folder: what one folder of a `**` is.
    """
    runs: list[list[str]] = [[]]
    for item in parts:
        if item == "**":
            runs.append([])
        else:
            runs[-1].append(item)
    text = ""
    for number, run in enumerate(runs):
        is_last = number == len(runs) - 1
        inner = "/".join(run) + ("" if is_last or not run else "/")
        if number and not run and not is_last:
            continue  # `**/**` is one
        if not number:
            text += inner
        elif is_last:
            text += f"(?:{folder})*{inner}"
        else:
            text += f"(?>(?:{folder})*?{inner})"
    return text + end


def alternatives(text: str) -> list[str]:
    """What a glob with braces stands for, `{a,b}` for `a` and `b`; nothing where that is more than any manifest means."""
    found = [""]
    at = 0
    for match in re.finditer(r"\{([^{}]*)\}", text):
        fixed, choices = text[at : match.start()], match[1].split(",")
        if len(found) * len(choices) > _MOST_ALTERNATIVES:
            return []
        found = [before + fixed + choice for before in found for choice in choices]
        at = match.end()
    return [before + text[at:] for before in found]


def readable(value: object) -> list[str]:
    """The globs of what should be a list in a manifest: texts, not longer than a path may be, the first thousand."""
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [item for item in found if isinstance(item, str) and len(item) <= _MOST_CHARS][:_MOST]
