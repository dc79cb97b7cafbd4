"""Uses of a name of the language's library that a script of the workspace declares, too: where both are loaded, the script's own is meant.

Which files a page loads together stands in none that is read, so a server leads other files' uses to the library, modules' too, which see
what a script declares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from indexer.languages import LANGUAGES, record_of
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.answers.style import count
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index

_OF_LIBRARIES = """
    SELECT s.name, s.moniker, d.language, d.path, r.line
    FROM symbol s JOIN refs r USING (sym_id) JOIN document d ON d.doc_id = r.doc_id
    WHERE has_flag(s.flags, 'external') AND d.status <> 'external' AND d.language IN (SELECT unnest($languages::VARCHAR[]))
      AND s.name IN (SELECT unnest($names::VARCHAR[]))
    ORDER BY ALL
"""


class _Use(NamedTuple):
    """`line` is 0-based."""

    name: str
    path: str
    line: int


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One reason for all of the symbols that scripts declare under names of the library."""
    names = sorted(
        {
            symbol.record.name
            for symbol in uses.symbols
            if record_of(languages_of(index).get(symbol.record.path, "")).library_names and uses.scope.is_script(symbol)
        }
    )
    if not names:
        return []
    found = [use for use in _uses(index, names) if use.path not in uses.scope.own_paths and uses.scope.is_visible(use.path)]
    if not found:
        return []
    where = listed([f"{path}:{line + 1}" for _, path, line in found])
    quoted = listed([f"'{name}'" for name in names])
    detail = (
        f"{quoted} is a name of the language's library, too: {count(len(found), 'use')} in other files "
        f"may be of the one here, where a page loads both: {where}"
    )
    return [of_paths("library_name", detail, list(dict.fromkeys(use.path for use in found)), len(found))]


def concerned(index: Index, names: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Of pairs of a language and a name of a symbol those that may be meant where the library's is named."""
    asked = sorted({name for language, name in names if record_of(language).library_names})
    used = {use.name for use in _uses(index, asked)} if asked else set[str]()
    return {(language, name) for language, name in names if name in used and record_of(language).library_names}


def _uses(index: Index, names: list[str]) -> list[_Use]:
    patterns = {name: re.compile(record.library_names) for record in LANGUAGES if record.library_names for name in record.names}
    rows = index.rows(_OF_LIBRARIES, {"languages": sorted(patterns), "names": names})
    return [_Use(name, path, line) for name, moniker, language, path, line in rows if patterns[language].match(moniker)]
