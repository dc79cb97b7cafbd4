"""A move by the rules of its language."""

from __future__ import annotations

from indexer.languages import record_of
from indexer.servers.registry import language_of
from query.edits.scope import Scope
from query.facts.index import Index
from query.facts.symbols import Symbol
from query.refactor.positional.texts import is_of_types
from query.refactor.relocate import ecmascript_moving, go_moving
from query.refactor.relocate.around import Relocated


def moved(index: Index, scope: Scope, symbol: Symbol, to: str, *, keeps: bool) -> Relocated:
    """The texts after a move.

    Raises:
        UsageError, EditRefused: it cannot be moved so, or is not there.
    """
    rules = go_moving if is_of_types(record_of(language_of(symbol.record.path) or "")) else ecmascript_moving
    return rules.moved(index, scope, symbol, to, keeps=keeps)
