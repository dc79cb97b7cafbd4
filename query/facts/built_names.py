"""Names that stand in strings of Python, or that are made from them and looked up: by `getattr`, `mock.patch` and the like."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from query.facts.documents import held_now
from query.facts.index import Index

_LITERAL = re.compile(r"""['"]([A-Za-z_][\w%{}.]{2,60}|[%{][\w%{}.]{3,60})['"]""")
_HOLE = re.compile(r"%\(\w+\)s|%s|\{[\w.]*\}")
_LOOKUPS = (
    *("getattr", "setattr", "hasattr", "delattr", "methodcaller", "attrgetter", "globals", "vars", "patch", "monkeypatch"),
    *("import_string", "import_module"),
)
"""A document of Python that uses one of these may take a string for a name, the parts of a dotted one too."""

_MIN_LITERAL = 3
_MIN_PREFIX = 3
_MIN_FAMILY = 3


class Literals(NamedTuple):
    """Strings of documents: whole names, and what fits a string with holes or one that ends in `_` where names are looked up.

    A whole name counts wherever it stands: who is given it may look it up, as `self.call_method("_render")` of a library does.
    """

    exact: frozenset[str]
    pattern: re.Pattern[str] | None

    def fit(self, name: str) -> bool:
        """Whether a string is this name, or may be made into it."""
        return name in self.exact or (self.pattern is not None and self.pattern.fullmatch(name) is not None)


def literals(index: Index) -> Literals:
    """From the text of the documents as the work tree has them now; read once per index."""
    found: Literals = index.keep("built names", lambda: _read(index))
    return found


def _read(index: Index) -> Literals:
    rows = index.rows(
        """
        SELECT d.path, d.doc_id IN (SELECT o.doc_id FROM occ o WHERE list_contains($lookups, o.name))
        FROM document d WHERE d.status <> 'external' AND language_has(d.language, 'looks_up_names') ORDER BY 1
        """,
        {"lookups": list(_LOOKUPS)},
    )
    exact: set[str] = set()
    patterns: set[str] = set()
    for path, looks_up in rows:
        text = (held_now(index, path) or b"").decode("utf-8", "replace")
        found = set(_LITERAL.findall(text))
        exact.update(part for literal in found for part in literal.split("."))
        for literal in found if looks_up else ():
            parts = _HOLE.split(literal)
            if len(parts) > 1 and max(map(len, parts)) >= _MIN_LITERAL:
                patterns.add(r"\w+".join(re.escape(part) for part in parts))
            elif literal.endswith("_") and len(parts) == 1:
                patterns.add(re.escape(literal) + r"\w+")
    return Literals(frozenset(exact), re.compile("|".join(sorted(patterns))) if patterns else None)


def families(names: Iterable[str]) -> frozenset[str]:
    """Beginnings that three or more of the names share, as `visit_` does: something builds the rest."""
    members: dict[str, set[str]] = {}
    for name in names:
        for prefix in _prefixes(name):
            members.setdefault(prefix, set()).add(name)
    return frozenset(prefix for prefix, found in members.items() if len(found) >= _MIN_FAMILY)


def is_of(name: str, known: Collection[str]) -> bool:
    """Whether the name begins as one of these families does."""
    return any(prefix in known for prefix in _prefixes(name))


def _prefixes(name: str) -> list[str]:
    return [name[: at + 1] for at, char in enumerate(name) if char == "_" and at >= _MIN_PREFIX]
