"""What is called without being named: a function under a decorator that keeps it, a hook of a base outside, a framework's entry point."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from indexer.languages import record_of
from indexer.model import SymbolFlag
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.documents import documents
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.registration import Registered, is_called_by_name, registered
from query.facts.scopes import scopes
from query.facts.test_functions import fixtures_by_name

CODE = "registered"


_SHOWN = 3


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """Nobody who registers a symbol hides a place that names it, so a list of references lacks nothing for it."""
    return of_symbols(index, uses.ids) if uses.question == "callers" else []


def of_symbols(index: Index, ids: Collection[int]) -> list[Reason]:
    """One reason for all of these symbols that are called without being named."""
    found = [item for _, item in sorted(_but_by_runners(index, registered(index, ids)).items())]
    if not found:
        return []
    said = list(dict.fromkeys(item.words for item in found))  # of members of a name often the same
    words = "; ".join(said[:_SHOWN])
    if len(found) > 1:
        words = f"{len(found)} of {len(ids)} symbols are called without being named: {words}{'; …' if len(said) > _SHOWN else ''}"
    return [of_paths(CODE, words, sorted({item.path for item in found}), len(found))]


def which(index: Index, ids: Collection[int]) -> set[int]:
    """Those of the symbols that something calls without naming them."""
    return {*_but_by_runners(index, registered(index, ids))}


def _but_by_runners(index: Index, found: Mapping[int, Registered]) -> dict[int, Registered]:
    """Without what a test runner calls or hands over: tests, what prepares them, and fixtures, whose uses are parameters."""
    known = scopes(index, found)
    docs = documents(index, {known[sym_id].doc_id for sym_id in found})
    kept: dict[int, Registered] = {}
    for sym_id, item in found.items():
        scope, document = known[sym_id], docs[known[sym_id].doc_id]
        runners = record_of(document.language).hooks.runners
        is_test = scope.name.startswith("test") or any(fnmatchcase(item.base, runner) for runner in runners)
        is_run = bool(item.base) and document.is_test and is_test and is_called_by_name(scope.name, document.language, is_test=True)
        is_fixture = bool(scope.flags & SymbolFlag.FIXTURE) and sym_id in fixtures_by_name(index)
        if not is_run and not is_fixture:
            kept[sym_id] = item
    return kept
