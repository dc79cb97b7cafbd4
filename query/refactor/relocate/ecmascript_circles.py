"""Circles of modules that a move makes: what a module's top level runs may then meet what is not there yet."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from query.answers.paths import listed
from query.facts.gaps.words import Texts
from query.refactor.positional.source import Code
from query.refactor.relocate import modules
from query.refactor.relocate.around import Around

_FROM = re.compile(r"^\s*(?:import|export)\b(?!\s+type\b)[^'\"`;]{0,4000}?['\"](\.[^'\"]+)['\"]", re.MULTILINE)
_MOST = 3_000


def circles(around: Around, paths: Collection[str], after: Mapping[str, Code], source: str) -> list[str]:
    """Doubts about modules that would import each other.

    Args:
        after: the texts that change, as they would be. source: the old module, where it goes on using the definition.
    """
    known = {*paths, *after}
    texts = Texts(around.index.root)

    def read(path: str, *, is_after: bool) -> set[str]:
        if is_after and path in after:
            text = after[path].text
        else:
            text = (texts.read(path) or b"").decode("utf-8", "replace")
        return {found for said in _FROM.findall(text) if (found := modules.file_of(known, path, said))}

    def reaches(start: str, end: str, *, is_after: bool) -> bool:
        seen, waiting = {start}, [start]
        while waiting and len(seen) < _MOST:
            here = waiting.pop()
            if here == end:
                return True
            more = read(here, is_after=is_after) - seen
            seen |= more
            waiting += more
        return len(seen) >= _MOST

    found: list[str] = []
    for path, code in sorted(after.items()):
        before = read(path, is_after=False)
        for other in sorted(read(code.path, is_after=True) - before - {path}):
            if reaches(other, path, is_after=True) and not (reaches(other, path, is_after=False) and reaches(path, other, is_after=False)):
                low, high = sorted((path, other))
                found.append(f"'{low}' and '{high}'")
    return (
        [f"modules would import each other, and what one needs as it is loaded may not be there yet: {listed(list(dict.fromkeys(found)))}"]
        if found
        else []
    )
