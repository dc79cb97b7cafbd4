"""What an answer advises, in the words of who reads it: a command line becomes the call of a tool, which an agent can make."""

from __future__ import annotations

import functools
import json
import re
import shlex
from typing import Any, get_type_hints

from query.surface.registry import ALIASES, load, names

_COMMAND = re.compile(r"lspidx query (?P<name>[a-z_]+)(?P<words>(?: (?:'[^']*'|\"[^\"]*\"|[^\s'\"(;,])+)*)")


@functools.lru_cache(1_000)
def in_calls(text: str) -> str:
    """`list: lspidx query references Box.put --possible` → `list: find_references {"symbol": "Box.put", "possible": true}`."""
    return _COMMAND.sub(lambda match: _call(match["name"], match["words"]) or match[0], text) if "lspidx query " in text else text


def _call(said: str, words: str) -> str:
    name, preset = ALIASES.get(said, (said, {}))
    if name not in names():
        return ""
    try:
        given = _arguments(name, shlex.split(words))
    except ValueError:
        return ""
    if given is None:
        return f'search_tools {{"query": "select:{name}"}}'
    arguments = {**preset, **given}
    return f"{name} {json.dumps(arguments, ensure_ascii=False)}" if arguments else name


def _arguments(name: str, words: list[str]) -> dict[str, Any] | None:
    """None where the command asks for its help."""
    tool, _ = load(name)
    given: dict[str, Any] = {}
    positional = tool.positional.split()
    while words:
        word = words.pop(0)
        if word == "--help":
            return None
        if not word.startswith("--"):
            if not positional:
                raise ValueError(word)
            given[positional.pop(0)] = word
            continue
        field = word.removeprefix("--").replace("-", "_")
        if field not in tool.parameters.__struct_fields__:
            raise ValueError(word)
        given[field] = True if get_type_hints(tool.parameters)[field] is bool else words.pop(0) if words else True
    return given
