"""The words of the index: kinds, roles, evidence, gaps. No IO, imports nothing of ours.

Each module has the words that change together; who uses them takes them from here.
"""

from __future__ import annotations

from indexer.model.flows import BEFORE, Flow, Handed
from indexer.model.gaps import BORDERS, BY_WORDS, CUT, FOREIGN, QUESTIONS_CUT, TREE_KNOWN, CoverageStatus, LossReason, Skipped, SkipReason
from indexer.model.operations import IN_PLACE, REFLECTED, SIGNS, Basis, Operation, Unwritten
from indexer.model.symbols import (
    CALLABLE_KINDS,
    SCOPE_KINDS,
    TYPE_KINDS,
    VALUE_KINDS,
    Evidence,
    NameUse,
    Role,
    Severity,
    SymbolFlag,
    SymbolKind,
    TargetSymbol,
    Via,
)
from indexer.model.trust import Trust

__all__ = [
    "BEFORE",
    "BORDERS",
    "BY_WORDS",
    "CALLABLE_KINDS",
    "CUT",
    "FOREIGN",
    "IN_PLACE",
    "QUESTIONS_CUT",
    "REFLECTED",
    "SCOPE_KINDS",
    "SIGNS",
    "TREE_KNOWN",
    "TYPE_KINDS",
    "VALUE_KINDS",
    "Basis",
    "CoverageStatus",
    "Evidence",
    "Flow",
    "Handed",
    "LossReason",
    "NameUse",
    "Operation",
    "Role",
    "Severity",
    "SkipReason",
    "Skipped",
    "SymbolFlag",
    "SymbolKind",
    "TargetSymbol",
    "Trust",
    "Unwritten",
    "Via",
]
