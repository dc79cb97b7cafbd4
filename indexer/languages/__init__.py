"""What is known of each language: one record a language, and no other place that knows.

To add a language: its record here, in a module of its family; its queries in `indexer/syntax/tree/queries/`, if there is a grammar; its
files and its server in `indexer/servers/servers.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from indexer.languages.bridges import Bridge, Offer
from indexer.languages.c import ARDUINO, CPP, OBJECTIVE_C, C
from indexer.languages.ecmascript import JAVASCRIPT, JAVASCRIPT_REACT, TYPESCRIPT, TYPESCRIPT_REACT
from indexer.languages.go import GO
from indexer.languages.jvm import CSHARP, JAVA, KOTLIN, SCALA
from indexer.languages.php import PHP
from indexer.languages.python import PYTHON
from indexer.languages.record import ANNOTATED_PLACES, Grammar, Language, Locks, Lookup, Parameters
from indexer.languages.rust import RUST
from indexer.languages.scripts import AT_BORDERS, BASH, RUBY, SWIFT, ZIG

__all__ = [
    "ANNOTATED_PLACES", "CPP", "GO", "JAVASCRIPT", "PHP", "PYTHON", "RUST", "TYPESCRIPT", "Bridge", "C",
    "Grammar", "Language", "Locks", "Lookup", "Offer", "Parameters", "names_of", "record_of",
]  # fmt: skip

LANGUAGES = (
    *(PYTHON, TYPESCRIPT, TYPESCRIPT_REACT, JAVASCRIPT, JAVASCRIPT_REACT, GO, C, CPP, ARDUINO, OBJECTIVE_C, RUST, JAVA, KOTLIN, SCALA),
    *(CSHARP, BASH, PHP, RUBY, SWIFT, ZIG),
)
_BY_NAME = {name: record for record in (*LANGUAGES, *AT_BORDERS) for name in record.names}


@cache
def record_of(name: str) -> Language:
    """The record of a language by one of its names; of one that is not listed, a record in which nothing is claimed."""
    return _BY_NAME.get(name) or Language(names=(name,), family=name)


def names_of(fits: Callable[[Language], bool]) -> list[str]:
    """Names that an index has for the languages that fit, in the order of the table."""
    return [record.name for record in LANGUAGES if fits(record)]
