"""Which of the tests that reach a change are worth running first: those that hold nearly all of the likelihood. Pure.

A suite of integration tests is reached as a whole, most of it by ways that everything goes: measured, the tests that hold 99.8 % of the
likelihood of each changed symbol are less than half of those that reach it, and nearly always one that fails is among them (ADR 0012).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from query.changes.model import AffectedTest

LIKELY_SHARE = 0.998
"""Of the summed scores of the tests that are nearest to one changed symbol."""

LIKELY_AT_LEAST = 50
"""Fewer are run in no time, and what is small has little to go by."""


def with_likely(tests: Sequence[AffectedTest]) -> list[AffectedTest]:
    """The same tests, the likely ones first and marked, each part in its order before.

    Each changed symbol has a share of its own, so that those which are reached by much take nothing from the others. A test that is
    changed itself is likely; one that only an import leads to is not, unless there are few.

    Args:
        tests: ranked.
    """
    totals: dict[str, float] = {}
    for test in tests:
        if not test.import_only:
            totals[test.via] = totals.get(test.via, 0.0) + test.score
    reached = dict.fromkeys(totals, 0.0)
    chosen: list[AffectedTest] = []
    for test in tests:
        if test.distance == 0 or (not test.import_only and reached[test.via] < LIKELY_SHARE * totals[test.via]):
            chosen.append(test)
        if not test.import_only:
            reached[test.via] += test.score
    marked = {id(test) for test in chosen}
    rest = [test for test in tests if id(test) not in marked]
    marked |= {id(test) for test in rest[: max(0, LIKELY_AT_LEAST - len(chosen))]}
    first = [msgspec.structs.replace(test, likely=True) for test in tests if id(test) in marked]
    return [*first, *(test for test in tests if id(test) not in marked)]
