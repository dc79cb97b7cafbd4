"""What a snippet inserts where nobody is there to fill in its placeholders: `${1:name}` is `name`, `$0` nothing."""

from __future__ import annotations

import re

_SIGN = re.compile(r"\\[\\$}]|\$(?:\d+|[A-Za-z_]\w*)|\$\{(?:\d+|[A-Za-z_]\w*)(?:\|(?P<choices>(?:\\.|[^|\\])*)\|\}|(?P<body>[:/}]))|\}")


def plain(snippet: str) -> str:
    """The text with placeholders' defaults, choices' first, and nothing for tab stops and variables."""
    out: list[str] = []
    depth: list[bool] = []  # whether the text inside of this placeholder is inserted: a transformation (`${1/a/b/}`) is not
    done = 0
    for match in _SIGN.finditer(snippet):
        if all(depth):
            out.append(snippet[done : match.start()])
        done = match.end()
        sign = match.group()
        if match["body"]:
            if match["body"] != "}":
                depth.append(match["body"] == ":")
        elif sign == "}":
            if depth:
                depth.pop()
            else:
                out.append(sign)
        elif not all(depth):
            continue
        elif match["choices"] is not None:
            first = re.split(r"(?<!\\),", match["choices"], maxsplit=1)[0]
            out.append(re.sub(r"\\(.)", r"\1", first))
        elif sign.startswith("\\"):
            out.append(sign[1:])
    if all(depth):
        out.append(snippet[done:])
    return "".join(out)
